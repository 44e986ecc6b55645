//! What lies in the person's directory, and the safe ways of looking at it.
//!
//! Knows nothing of what was there before. Invariant: below the root every name is opened without following a link,
//! and what is read has a bound.

pub mod git_dirs;
pub mod git_form;
pub mod git_history;
pub mod git_index;
pub mod git_objects;
pub mod git_refs;
pub mod git_settings;
pub mod own_files;
pub mod plain;
pub mod repo;
pub mod rules;
pub mod walk;
