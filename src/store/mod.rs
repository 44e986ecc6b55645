//! Remembers across runs.

pub mod journal;
