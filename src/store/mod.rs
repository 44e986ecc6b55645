//! Remembers across runs.

pub mod journal;
pub mod private;
