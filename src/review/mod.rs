//! What changed on disk, by whomever, and how to put parts of it back.
//!
//! Knows no protocol, no agent and no screen; runs on a thread that may wait. Invariant: nothing of the person's is
//! overwritten that has not been read right before.

mod activity;
mod acts;
mod decide;
mod deciding;
mod doc;
pub mod error;
mod files;
mod held;
mod history;
pub mod hunks;
mod ledger;
pub mod lines;
pub mod merge;
mod parts;
mod rel;
mod rewind;
mod shadow;
pub mod state;
pub mod tracker;
mod truth;
