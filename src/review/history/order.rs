//! What came first: that a path was gone, or a decision.
//!
//! Plain bookkeeping; its time is the number of changes so far.

use crate::review::state::State;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

#[derive(Default)]
pub struct Order {
    gone: HashMap<PathBuf, u64>,
    acts: HashMap<u64, u64>,
}

impl Order {
    /// A path has a new state, at the time `now`.
    pub fn changed(&mut self, path: &Path, state: &State, now: u64) {
        if state.is_absent() {
            self.gone.insert(path.to_owned(), now);
        }
    }

    pub fn acts(&mut self, id: u64, now: u64) {
        self.acts.insert(id, now);
    }

    /// Whether a path that is gone was so before that decision.
    pub fn is_older(&self, path: &Path, act: u64) -> bool {
        self.gone.get(path).zip(self.acts.get(&act)).is_some_and(|(gone, act)| gone <= act)
    }
}
