//! What holds of the program that has a model, or had it when the journal was written that is replayed.
//!
//! Data only. In a journal its header says it; it is no event there.

use super::changes::Gate;
use super::ids::TurnId;
use super::policy::Policy;
use std::time::Duration;

/// Why what happens is not on the disk, although it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unrecorded {
    /// The disk is full: it is kept until there is room.
    Waits,
    /// The journal cannot be written.
    Ended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setup {
    /// A journal is written of all that happens.
    Journal,
    /// There is a place for entries that leave memory.
    History,
    /// There is a review or none, what is held back for the person, and whether rules are asked.
    Sessions { review: bool, gate: Gate, rules: bool },
    /// What earlier journals have of a session is read or not, and how is decided what agents ask for. Older journals do
    /// not say it.
    Asking { earlier: bool, policy: Policy },
    /// Parts of the protocol are used that may still change. Older journals do not say it.
    Unstable(bool),
    /// It was started then, counted from 1970.
    Began(Duration),
    /// The last turn was this one: turns before it are not in the journal any more.
    Turn(TurnId),
}
