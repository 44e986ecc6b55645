//! What a decision, an undo or a write would do.
//!
//! Computes; writes nothing. Invariant: what somebody else changed is in the result, or there is no result.

pub mod brought_back;
pub mod doc;
pub mod hold;
pub mod parts;
pub mod preview;
pub mod rewind;
pub mod verdict;
