//! The name of what one run of the program leaves behind: journal, transcript file, reviews.
//!
//! Creates nothing. Invariant: two runs never have the same one.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Since 1970, to the millisecond.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunName(Duration);

impl RunName {
    pub fn of_now() -> Self {
        Self(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
    }

    /// Seconds since 1970.
    pub fn started(self) -> u64 {
        self.0.as_secs()
    }

    /// Of a further directory's review: the first is named like the session.
    pub fn of_review(self, number: usize) -> String {
        if number == 0 { self.name() } else { format!("{}-{}", self.name(), number + 1) }
    }

    pub fn name(self) -> String {
        format!("{}-{:03}-{}", self.0.as_secs(), self.0.subsec_millis(), std::process::id())
    }
}
