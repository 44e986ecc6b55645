//! The second process that is there for the case that this one is killed: when there is one, and what it does then.
//!
//! Knows nothing of sessions: theirs are interrupted ones because their journals have no end.

use super::args::Command;
use super::output::is_screen;
use crate::headless::code;
use crate::host::process::{self, become_guard, has_terminal, watch};
use crate::ui::tty::{self, Lines};
use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd as _;

/// Not typed by anybody, so it stands in no help.
const WORD: &str = "__guard";

/// For commands that start something or take the terminal.
pub(super) fn begin(command: &Command) {
    let takes_terminal = matches!(command, Command::Screen(_) | Command::Demo(_) | Command::Review(_)) && is_screen();
    let starts = matches!(command, Command::Exec(_) | Command::Login(_) | Command::Logout(_) | Command::Screen(_));
    if takes_terminal || starts {
        tty::tell_of(process::tell_guard_of_terminal);
        process::start_guard(WORD, takes_terminal);
    }
}

/// The guard itself, when that is what this process was started for.
pub(super) fn stand(args: &[OsString]) -> Option<u8> {
    let [word, mark, group, session] = args else { return None };
    if word != WORD {
        return None;
    }
    become_guard();
    if let Some(left) = watch(io::stdin().lock(), &mark.to_string_lossy()) {
        if left.is_taken {
            let number = |word: &OsString| word.to_str().and_then(|word| word.parse().ok()).unwrap_or(0);
            // A shell that has the terminal back has set its lines by itself.
            let lines = if has_terminal(number(group), number(session)) { Lines::Usual } else { Lines::Kept };
            let _ = tty::repair_at(io::stdout().as_fd(), lines);
        }
        left.end();
    }
    Some(code::OK)
}
