//! Changes that a look has found and no call explains: the news of the one that made them may come right after.
//!
//! Plain data. Invariants: only what turns that run have changed stands here, and not much of it.

use crate::review::state::State;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::SystemTime;

/// Changes that are remembered; of more, the oldest are forgotten.
const MAX: usize = 4096;
/// Calls that may say something of one of them. An agent that goes on telling must not have its words compared for ever.
const MAX_TRIES: u8 = 64;
/// Of so many one call is asked at a time.
const MAX_ASKED: usize = 16;

/// When something was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    At(SystemTime),
    /// Not later; how much earlier is unknown.
    By(SystemTime),
}

/// A step in the history of a file.
#[derive(Clone, Debug)]
pub struct Found {
    pub path: PathBuf,
    /// Its number there, and what it led to.
    pub step: usize,
    pub after: State,
    pub when: When,
    /// A call that was known then says of other parts of the same change that it did them: this one is a call's doing only
    /// if it is just what the call says that it puts there.
    pub needs_claim: bool,
    /// A look has found it that nobody's news had set off.
    pub is_between: bool,
    /// So many calls are still asked.
    pub tries: u8,
}

impl Found {
    pub const fn new(path: PathBuf, step: usize, after: State, when: When) -> Self {
        Self { path, step, after, when, needs_claim: false, is_between: false, tries: MAX_TRIES }
    }
}

#[derive(Debug, Default)]
pub struct Unexplained(VecDeque<Found>);

impl Unexplained {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn add(&mut self, found: Found) {
        if self.0.len() >= MAX {
            self.0.pop_front();
        }
        self.0.push_back(found);
    }

    /// The oldest of those of which this is true; they are not kept any more.
    pub fn take(&mut self, is_its: impl Fn(&Found) -> bool) -> Vec<Found> {
        let mut room = MAX_ASKED;
        let (its, rest) = std::mem::take(&mut self.0).into_iter().partition(|found| {
            let is_taken = room > 0 && is_its(found);
            room -= usize::from(is_taken);
            is_taken
        });
        self.0 = rest;
        Vec::from(its)
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
#[path = "unexplained_tests.rs"]
mod tests;
