//! The thread of the review, with what the tracker does not need to know.
