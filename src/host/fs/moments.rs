//! The moments of a write between which another program may save the same file, so that tests can do just that.
//!
//! Outside of tests there is nothing here. Invariant: what a test sets holds for its own thread only.

/// Where a write has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Moment {
    /// Nothing is prepared yet.
    Begun,
    /// The new file lies ready and is durable.
    Prepared,
    /// What is there is what was expected.
    Compared,
    /// The new is in place, the old under another name.
    Exchanged,
    /// What came out is what was expected.
    Looked,
    /// What came out is something else, and is about to go back.
    GoesBack,
}

#[cfg(not(test))]
pub(super) const fn at(_: Moment) {}

#[cfg(not(test))]
pub(super) const fn can_exchange() -> bool {
    true
}

#[cfg(not(test))]
pub(super) const fn can_remove() -> bool {
    true
}

#[cfg(test)]
pub use tests::{at, can_exchange, can_remove, on, without_exchange, without_removal};

#[cfg(test)]
#[path = "moments_tests.rs"]
mod tests;
