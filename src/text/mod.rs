//! Measures, wraps, diffs and marks up text, in tokens not colours. Pure; knows no terminal.

pub mod address;
pub mod ansi;
pub mod code;
pub mod copied;
pub mod diff;
pub mod edits;
pub mod fuzzy;
pub mod grid;
pub mod line;
pub mod patch;
pub mod pattern;
pub mod run;
pub mod token;
pub mod unified;
pub mod width;
pub mod wrap;
