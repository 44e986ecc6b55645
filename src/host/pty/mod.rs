//! pty: commands of agents in real pseudo-terminals: started, emulated, kept, killed.
//!
//! It draws nothing and answers no protocol. Two threads a terminal (one reads, one waits), none when idle wakes; of
//! those that read one at a time works. Invariant: each terminal posts exactly one exit fact, after its output has been
//! drained.

mod groups;
mod killer;
mod lane;
mod osc;
mod pace;
mod registry;
mod screen;
mod spawn;
mod terminal;

pub use registry::{ExitFn, HintFn, MAX_RUNNING, Output, Registry};
pub use screen::panic_is_contained;
pub use spawn::{MIN_COLS, Reader, SpawnError, TermSpec};
pub use terminal::{DRAIN_GRACE, KILL_GRACE, MAX_OUTPUT_BYTES, More, TermId};

#[cfg(test)]
mod pty_tests;
