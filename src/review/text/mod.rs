//! What a text is in a review: its lines, what differs between two of them, and the merging of two changes.
//!
//! Knows no files and no snapshot. Invariant: bytes that are not understood come out as they went in.

pub mod diff;
pub mod lines;
pub mod merge;
