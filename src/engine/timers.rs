//! The timers of all agents and sessions.
//!
//! Does not wait. Invariant: a timer goes off once, with its address.

use crate::model::event::Timer;
use crate::model::ids::{Address, Addressed};
use std::time::{Duration, Instant};

#[derive(Debug, Default)]
pub(super) struct Timers(Vec<(Instant, Addressed<Timer>)>);

impl Timers {
    pub fn start(&mut self, at: Address, what: Timer, after: Duration) {
        self.0.push((Instant::now() + after, Addressed { at, what }));
    }

    /// It is cancelled.
    pub fn stop(&mut self, at: Address, what: Timer) {
        let timer = Addressed { at, what };
        self.0.retain(|(_, other)| *other != timer);
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.0.iter().map(|(at, _)| *at).min()
    }

    /// Takes those that go off now, in the order in which they were started.
    pub fn due(&mut self) -> Vec<Addressed<Timer>> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let now = Instant::now();
        self.0.extract_if(.., |(at, _)| *at <= now).map(|(_, timer)| timer).collect()
    }

    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
