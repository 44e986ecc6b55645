//! What changed on disk, by whomever, and how to put parts of it back.
//!
//! Knows no protocol, no agent and no screen; runs on a thread that may wait. Invariant: nothing of the person's is
//! overwritten that has not been read right before.

mod activity;
mod acts;
mod clock;
mod decide;
mod deciding;
mod displaced;
mod doc;
mod earlier;
pub mod error;
pub mod expected;
mod files;
mod gitindex;
mod held;
mod hidden;
mod history;
pub mod home;
pub mod hunks;
mod keeping;
mod kept;
pub mod known;
mod ledger;
mod leftovers;
pub mod lines;
mod lost;
mod manifest;
pub mod merge;
mod notes;
mod objects;
mod parts;
pub mod patch;
mod peek;
mod place;
mod plain;
mod putting;
mod recover;
mod rel;

mod repo;
pub mod report;
mod rewind;
mod root;
mod rules;
mod settle;
mod shadow;
mod spare;
pub mod state;
mod store;
mod sums;
pub mod tracker;
mod truth;
mod walk;
mod words;
mod writing;
