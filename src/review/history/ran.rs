//! Commands that ran, as the ledger keeps them: a later opening knows what was changed while one of them did.
//!
//! Plain data. Invariant: times are those of the clock of the files.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    pub entry: u64,
    /// In which it was heard of first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// A command of the person's own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_persons: bool,
    /// Microseconds since 1970; nothing where it may have run at any time before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<u64>,
    /// Nothing while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<u64>,
}

impl Ran {
    pub fn new(
        entry: u64,
        turn: Option<u64>,
        is_persons: bool,
        (from, until): (Option<SystemTime>, Option<SystemTime>),
    ) -> Self {
        Self { entry, turn, is_persons, from: from.map(micros), until: until.map(micros) }
    }

    pub fn from(&self) -> Option<SystemTime> {
        self.from.map(|at| UNIX_EPOCH + Duration::from_micros(at))
    }

    /// Of one that runs it is the end that is given.
    pub fn until(&self, end: SystemTime) -> SystemTime {
        self.until.map_or(end, |at| UNIX_EPOCH + Duration::from_micros(at))
    }
}

fn micros(at: SystemTime) -> u64 {
    at.duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
}

/// Those since the last turn began, and those that run still.
#[derive(Debug, Default)]
pub struct AllRan(BTreeMap<u64, Ran>);

impl AllRan {
    /// Takes one in, or more of it. What is to be put down; nothing where all of it is known.
    pub fn take(&mut self, mut ran: Ran) -> Option<Ran> {
        if let Some(known) = self.0.get(&ran.entry) {
            ran.from = known.from;
            ran.until = known.until.or(ran.until);
        }
        (self.0.insert(ran.entry, ran) != Some(ran)).then_some(ran)
    }

    /// The look before a turn has found what those did that were over.
    pub fn turn_begins(&mut self) {
        self.0.retain(|_, ran| ran.until.is_none());
    }

    pub fn iter(&self) -> impl Iterator<Item = &Ran> {
        self.0.values()
    }

    /// What does not run any more since the client ended at that time.
    pub fn end(&self, at: SystemTime) -> Vec<Ran> {
        let running = self.iter().filter(|ran| ran.until.is_none());
        running.map(|ran| Ran { until: Some(micros(at)), ..*ran }).collect()
    }
}
