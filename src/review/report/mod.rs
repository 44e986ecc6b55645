//! The review for scripts and for git: JSON and patches.
//!
//! Decides nothing and writes no files.

pub mod json;
pub mod patch;
