//! What changed on disk, by whomever, and how to put parts of it back.
//!
//! Knows no protocol, no agent and no screen; runs on a thread that may wait. Invariant: nothing of the person's is
//! overwritten that has not been read right before.

pub mod error;
pub mod home;
pub mod patch;
pub mod report;
pub mod state;
pub mod tracker;
