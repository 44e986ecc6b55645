//! Looks that could not be taken when they should have been, or come late.
//!
//! Knows of turns and times only. Invariant: what was changed after a turn was over is never for certain the doing of an
//! agent that tells nothing.

use crate::review::session::unexplained::When;
use crate::review::snapshot::clock::TICK;
use std::time::SystemTime;

/// A turn of which the files could not be looked at when it began, or ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    pub turn: u64,
    /// When it began, by the clock of the files; nothing where that was looked at.
    pub since: Option<SystemTime>,
    /// When it ended; nothing while it runs.
    pub until: Option<SystemTime>,
}

impl Gap {
    pub fn has(&self, at: SystemTime) -> bool {
        self.since.is_none_or(|since| at >= since) && self.until.is_none_or(|until| at <= until)
    }
}

/// A turn that was over before the look at what it has changed.
#[derive(Clone, Copy, Debug)]
pub struct Over {
    pub turn: u64,
    /// When it was told to be over, by the clock of the files.
    pub at: SystemTime,
}

impl Over {
    /// Whether something that is put down to this turn was changed when it was over, or may have been: it may be the
    /// person's.
    pub fn was_before(self, turn: u64, when: When) -> bool {
        let (When::At(at) | When::By(at)) = when;
        self.turn == turn && at > self.at + TICK
    }
}
