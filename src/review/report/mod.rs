//! The review for scripts and for git: JSON and patches.
//!
//! Decides nothing and writes no files.

pub mod blame;
pub mod json;
pub mod patch;
