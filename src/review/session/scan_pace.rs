//! How often the whole tree may be looked at.
//!
//! Looks at nothing itself. Invariants: looks that take long take a small part of the time; one that was put off for that is
//! due later.

use std::time::{Duration, Instant};

/// After a command the whole tree is looked at again, unless looking would take more than one of so many parts of the
/// time.
const SCAN_SHARE: u32 = 10;
/// A look that is shorter than this is always taken.
const CHEAP_SCAN: Duration = Duration::from_millis(100);
/// In a turn the whole tree is looked at so often though nobody tells of anything, so that what the person saves is not taken
/// for a part of what the agent does seconds later, unless that would take more than one of so many parts of the time.
const BETWEEN: Duration = Duration::from_secs(2);
const BETWEEN_SHARE: u32 = 50;

pub struct ScanPace {
    last: Instant,
    /// The last one could not be finished.
    has_failed: bool,
    pub(super) took: Duration,
    /// A look that is shorter than this is always taken.
    pub(super) cheap: Duration,
    /// A command came that the last look knows nothing of.
    owes: bool,
    /// More calls have run than are known here.
    pub(super) is_behind: bool,
}

impl ScanPace {
    pub fn new() -> Self {
        Self {
            last: Instant::now(),
            has_failed: false,
            took: Duration::ZERO,
            cheap: CHEAP_SCAN,
            owes: false,
            is_behind: false,
        }
    }

    pub fn is_affordable(&self) -> bool {
        self.took < self.cheap || self.last.elapsed() >= self.took * SCAN_SHARE
    }

    /// A look was not affordable.
    pub fn put_off(&mut self) {
        self.owes = true;
    }

    /// When the look that was put off is to be taken.
    pub fn due(&self) -> Option<Instant> {
        self.owes.then(|| self.last + self.took * SCAN_SHARE)
    }

    /// When the next one is to be taken in a turn though nobody tells of anything.
    pub fn between(&self) -> Option<Instant> {
        (!self.has_failed).then(|| self.last + BETWEEN.max(self.took * BETWEEN_SHARE))
    }

    /// A look begins. When.
    pub fn begin(&mut self) -> Instant {
        self.owes = false;
        self.has_failed = true;
        Instant::now()
    }

    /// A look is over that began then.
    pub fn scanned(&mut self, began: Instant) {
        self.has_failed = false;
        self.last = Instant::now();
        self.took = began.elapsed();
    }
}
