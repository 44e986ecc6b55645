//! Remembers across runs.

pub mod history;
pub mod journal;
pub mod log;
pub mod private;
pub mod recording;
mod writer;
