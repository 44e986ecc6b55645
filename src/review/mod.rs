//! What changed on disk, by whomever, and how to put parts of it back.
//!
//! Knows no protocol, no agent and no screen; runs on a thread that may wait. Invariant: nothing of the person's is
//! overwritten that has not been read right before.

pub mod archive;
mod decide;
mod dir;
pub mod error;
mod history;
pub mod protocol;
pub mod report;
pub mod session;
mod snapshot;
mod state;
mod text;
mod worktree;

/// For `fuzz/`.
#[doc(hidden)]
pub use crate::review::history::ledger::{Ledger, Record};
#[doc(hidden)]
pub use crate::review::history::undo_log::UndoLog;
