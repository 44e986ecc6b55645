//! Remembers across runs.

pub mod branch;
pub mod history;
pub mod journal;
pub mod lines;
pub mod log;
pub mod private;
pub mod recording;
pub mod sessions;
mod writer;
