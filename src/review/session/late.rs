//! The beginning of a review that had to wait while turns were had: what was changed meanwhile is in doubt.
//!
//! Knows no more of it than its times. Invariant: what was changed since then is not taken for what was there before.

use super::ReviewSession;
use crate::model::changes::Cause;
use crate::review::error::ReviewError;
use crate::review::history::ledger::ChangeRecord;
use crate::review::snapshot::clock::TICK;
use crate::review::state::State;
use std::path::PathBuf;
use std::time::Instant;

impl ReviewSession {
    /// After the first look. These turns had begun by then, in the time `since` which it waited; what was changed is put down
    /// to the last. Those in `running` have not ended.
    pub fn had_turns(&mut self, turns: &[u64], running: &[u64], since: Instant) -> Result<(), ReviewError> {
        let Some(last) = turns.last().copied() else { return Ok(()) };
        let since = self.files.snapshot.clock.date(since) - TICK;
        for turn in turns {
            self.log.turn_begins(*turn, true)?;
        }
        let changed: Vec<(PathBuf, State)> = self.files.snapshot.changed_since(since).collect();
        self.files.snapshot.objects.gather();
        self.log.begin_batch();
        let recorded = changed.into_iter().try_for_each(|(path, after)| {
            // Whether it was there at all is not known either.
            let before = State::Unkept { mark: 0, mode: after.mode().unwrap_or(0o777), size: 0 };
            let step = ChangeRecord::new(last, Cause::Unknown, None, before, after);
            self.log.record(&path, ChangeRecord { doubt: true, ..step }, &mut self.files)
        });
        let written = self.log.write_batch(&mut self.files);
        recorded.and(written)?;
        self.log.save(&mut self.files)?;
        let mut ended = turns.iter().filter(|turn| !running.contains(turn));
        ended.try_for_each(|turn| self.log.turn_ends(*turn))
    }
}
