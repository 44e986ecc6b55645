//! The runtime on which an engine and its front end run, and whether there is room for what they start.
//! Invariants: two threads on any machine; without room nothing is begun.

use super::output::say;
use super::usage::Usage;
use crate::base::threads;
use crate::headless::code;
use std::panic;
pub(super) use tokio::runtime::Runtime;

/// Threads that a run with one agent has at most, and some to spare.
const ROOM: usize = 16;
/// What the runtime and the standard library say where a thread cannot be started and they cannot do without.
const NO_THREAD: [&str; 2] = ["OS can't spawn worker thread", "failed to spawn thread"];

pub(super) fn start() -> Result<Runtime, Usage> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|e| Usage(format!("cannot start: {e}")))
}

/// The exit code where a run could not start its threads, once that is said.
pub(super) fn without_room() -> Option<u8> {
    let error = threads::room(ROOM).err()?;
    say(&format!("nothing was begun: {}", no_thread(&error.to_string())));
    Some(code::OWN_FAULT)
}

/// Has it told in words where a thread cannot be had later on, and not as a fault of the program.
pub(super) fn tell_of_threads() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let said = info.payload_as_str().filter(|said| NO_THREAD.iter().any(|words| said.contains(words)));
        match said {
            Some(said) => say(&no_thread(said)),
            None => before(info),
        }
    }));
}

fn no_thread(why: &str) -> String {
    format!(
        "the system gives no more threads ({why}): end other programs of this account, or raise the limit (`ulimit -u`, \
         `TasksMax=` of a service, `pids` of a container), then the same again"
    )
}
