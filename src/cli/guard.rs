//! The second process that is there for the case that this one is killed: when there is one, and what it does then.
//!
//! Knows nothing of sessions: theirs are interrupted ones because their journals have no end.

use super::args::Command;
use super::output::is_screen;
use crate::headless::code;
use crate::host::process::{self, become_guard, let_go_of_output, watch};
use crate::ui::tty;
use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd as _;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

/// Not typed by anybody, so it stands in no help.
const WORD: &str = "__guard";
/// A terminal whose output is stopped takes nothing, and is not waited for any longer.
const REPAIR_LIMIT: Duration = Duration::from_secs(1);

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
    let [word, mark] = args else { return None };
    if word != WORD {
        return None;
    }
    become_guard();
    if let Some(left) = watch(io::stdin().lock(), &mark.to_string_lossy()) {
        let (tell, repaired) = sync_channel(1);
        let terminal = left.terminal;
        let repair = move || {
            if terminal != 0 {
                let _ = tty::repair_after(io::stdout().as_fd(), terminal);
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
    Some(code::OK)
}
