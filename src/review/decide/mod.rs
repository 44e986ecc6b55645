//! What a decision, an undo or a write would do.
//!
//! Computes; writes nothing. Invariant: a change by another author is in the result, or there is no result.

pub mod brought_back;
pub mod doc;
pub mod held_writes;
pub mod hold;
pub mod only_copies;
pub mod parts;
pub mod preview;
pub mod rewind;
pub mod shown_docs;
pub mod toggle;
pub mod totals;
pub mod verdict;
