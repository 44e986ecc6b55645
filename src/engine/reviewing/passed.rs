//! Turns that go on without the thread of the review: a prompt that did not wait for the look before it, an end that is
//! still to be looked at. The loop notes when, the thread asks once it has looked.

use crate::model::ids::TurnId;
use crate::review::protocol::Passed;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

#[derive(Debug, Default)]
pub(super) struct PassedTurns(Mutex<HashMap<TurnId, Passed>>);

impl PassedTurns {
    fn turns(&self) -> MutexGuard<'_, HashMap<TurnId, Passed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The prompt of a turn goes out now, and the look before it is not finished.
    pub fn sent(&self, turn: TurnId) {
        self.turns().entry(turn).or_default().sent = Some(Instant::now());
    }

    /// A turn is over now.
    pub fn is_over(&self, turn: TurnId) {
        self.turns().entry(turn).or_default().over.get_or_insert_with(Instant::now);
    }

    /// What has happened to a turn so far.
    pub fn of(&self, turn: TurnId) -> Passed {
        self.turns().get(&turn).copied().unwrap_or_default()
    }

    /// The thread looks at the end of a turn: when that was.
    pub fn take_end(&self, turn: TurnId) -> Instant {
        self.turns().remove(&turn).and_then(|passed| passed.over).unwrap_or_else(Instant::now)
    }
}
