//! What has happened to each file since the session began, and the bytes behind it.
//!
//! Looks at no disk but its own store and ledger. Invariant: what was announced is on the disk before it is done.

pub mod cache;
pub mod change_log;
pub mod contents;
pub mod file_history;
pub mod ignored_copies;
pub mod json_path;
pub mod ledger;
pub mod order;
pub mod origins;
pub mod pending_writes;
pub mod ran;
pub mod undo_log;
