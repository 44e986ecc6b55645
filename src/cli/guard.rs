//! The second process that is there for the case that this one is killed: when there is one, and what it does then.
//!
//! Knows nothing of sessions: theirs are interrupted ones because their journals have no end.

use super::args::Command;
use super::output::is_screen;
use crate::headless::code;
use crate::host::process::{self, Again, Post, let_go_of_output};
use crate::ui::tty::{self, LineSettings, Listener};
use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd as _;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

/// A terminal whose output is stopped takes nothing, and is not waited for any longer.
const REPAIR_LIMIT: Duration = Duration::from_secs(1);
/// The first argument of a guard that is started anew, in the place of one that was ended; behind it stand the mark of the
/// client's run and the line settings of the terminal. Nobody types it.
const GUARD: &str = "--guard-of";
/// In the place of line settings: there is no terminal.
const NO_TERMINAL: &str = "-";
/// The same: there is one, and its settings could not be told.
const UNKNOWN: &str = "?";

/// For commands that start something or take the terminal. Returns in both processes: with an exit code in the guard, at its
/// end. To be called before there is a second thread.
pub(super) fn begin(command: &Command) -> Option<u8> {
    let takes_terminal = matches!(command, Command::Screen(_) | Command::Demo(_) | Command::Review(_)) && is_screen();
    let starts = matches!(
        command,
        Command::Exec(_)
            | Command::Login(_)
            | Command::Logout(_)
            | Command::Screen(_)
            | Command::Check(_)
            | Command::Worktrees(_)
    );
    if !takes_terminal && !starts {
        return None;
    }
    tty::tell_of(Listener {
        terminal: process::tell_guard_of_terminal,
        program: process::tell_guard_of_program,
        end: process::end_borrower,
    });
    let before = takes_terminal.then(tty::line_settings).flatten();
    let settings = before.as_ref().map(LineSettings::to_text);
    let settings = settings.unwrap_or_else(|| if takes_terminal { UNKNOWN } else { NO_TERMINAL }.to_owned());
    let mark = process::run_mark().map(|(_, value)| value).unwrap_or_default();
    process::guards_are_started_so(Again {
        args: vec![GUARD.to_owned(), mark, settings],
        has_terminal: takes_terminal,
    });
    stand(process::start_guard(takes_terminal)?, before);
    Some(code::OK)
}

/// For a program that was started as a guard: all that it does. Returns nothing in every other one.
pub(super) fn again(args: &[OsString]) -> Option<u8> {
    let [first, mark, settings] = args else { return None };
    let (mark, settings) = (mark.to_str()?, settings.to_str()?);
    if first != GUARD {
        return None;
    }
    let has_terminal = settings != NO_TERMINAL;
    // The terminal may be raw by now, which those settings are not.
    let now = has_terminal.then(tty::line_settings).flatten();
    let before = now.and_then(|now| now.with_text(settings));
    stand(Post::anew(has_terminal, mark.to_owned()).ok()?, before);
    Some(code::OK)
}

/// All that the guard does.
fn stand(post: Post, before: Option<LineSettings>) {
    let Some(left) = post.watch() else { return };
    let (tell, repaired) = sync_channel(1);
    let (terminal, borrowers) = (left.terminal, left.borrowers());
    let repair = move || {
        // What a program that has the terminal still does to it is done before.
        borrowers.wait();
        if terminal != 0 {
            let _ = tty::repair_after(io::stdout().as_fd(), terminal, before.as_ref());
        }
        let_go_of_output();
        let _ = tell.send(());
    };
    // Beside the rest: writing may wait.
    let is_repairing = thread::Builder::new().spawn(repair).is_ok();
    left.end();
    if is_repairing {
        let _ = repaired.recv_timeout(REPAIR_LIMIT);
    }
}
