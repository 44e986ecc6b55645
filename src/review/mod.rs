//! What changed on disk, by whomever, and how to put parts of it back.
//!
//! Knows no protocol, no agent and no screen; runs on a thread that may wait. Invariant: nothing of the person's is
//! overwritten that has not been read right before.

pub mod archive;
pub mod decide;
pub mod dir;
pub mod error;
pub mod history;
pub mod protocol;
pub mod report;
pub mod session;
pub mod snapshot;
pub mod state;
pub mod text;
pub mod worktree;
