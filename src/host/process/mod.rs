//! process: agent processes, from their start to their end. The only place that spawns agents, and git.
//!
//! An agent is run as a list of arguments, never through a shell, and leads a process group of its own. Reads and
//! writes nothing on its pipes. Invariant: an agent and its group do not outlive the `AgentProcess`; what cannot be
//! ended because it moved away is named, and no signal ever goes to a group that is not the agent's. When this program is
//! killed, the guard ends them; another one takes its place when it is ended itself.

mod family;
mod git;
pub(super) mod guard;
mod here;
mod hook;
mod keeper;
mod lent;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod limits;
mod marked;
mod open;
pub(super) mod sandbox;
mod shutdown;
mod spawn;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) mod table;
mod tool;
mod waited;

pub use family::{Household, Survivor, run_mark};
pub use git::{Git, GitError};
pub use guard::{
    Left, Post, end_guard, end_run, kill_held, let_go_of_output, start_guard, tell_guard_of_program,
    tell_guard_of_terminal,
};
pub use here::run_here;
pub use hook::{HookError, ask_hook};
pub use keeper::{Again, guards_are_started_so, keep_guard};
pub use lent::end_borrower;
pub use marked::{Marked, end_marked, marked};
pub use open::open_page;
pub use sandbox::{Sandbox, Unconfined, check as check_sandbox, check_ports, keeps_apart};
pub use shutdown::{AgentProcess, Graces, Needed, ShutdownReport};
pub use spawn::{AgentSpec, SpawnError, kept_back, spawn};
pub use tool::{ask_tool, run_tool};
pub use waited::end_helpers;

#[cfg(test)]
mod process_tests;
