//! Remembers across runs.

pub mod journal;
pub mod log;
pub mod private;
