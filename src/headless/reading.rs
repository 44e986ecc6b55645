//! Says once that earlier journals are being read, where that takes its time: nothing else is to be seen by then.

use std::time::{Duration, Instant};

/// How long nothing is said.
const PATIENCE: Duration = Duration::from_secs(1);

/// Until when nothing is said, for as long as nothing was.
pub(super) struct Reading(Option<Instant>);

impl Reading {
    /// `is_asked`: an earlier session goes on.
    pub fn begins(now: Instant, is_asked: bool) -> Self {
        Self(is_asked.then(|| now + PATIENCE))
    }

    pub const fn until(&self) -> Option<Instant> {
        self.0
    }

    /// Whether it is to be said now. Nothing else has passed by then.
    pub fn passed(&mut self, now: Instant) -> bool {
        self.0.take_if(|until| *until <= now).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_once_and_not_at_once() {
        let began = Instant::now();
        let mut reading = Reading::begins(began, true);
        assert_eq!(reading.until(), Some(began + PATIENCE));
        assert!(!reading.passed(began + PATIENCE / 2));
        assert!(reading.passed(began + PATIENCE));
        assert!(!reading.passed(began + PATIENCE * 2));
        assert_eq!(reading.until(), None);
        assert!(!Reading::begins(began, false).passed(began + PATIENCE));
    }
}
