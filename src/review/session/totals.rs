//! How much was changed and how much is to be decided, in numbers.
//!
//! The counting part of [`ReviewSession`]. Invariant: a file is counted anew only when its history has changed.

use super::ReviewSession;
use crate::model::changes::{Cause, HunkState, Scope, Totals};
use crate::review::decide::doc;
use crate::review::decide::parts::Parts;
use crate::review::error::ReviewError;
use crate::review::history::file_history::carry;
use std::path::{Path, PathBuf};

impl ReviewSession {
    /// Sums of the whole session, against what was there before the agent; what is pending, against the last accepted
    /// state.
    pub fn totals(&mut self) -> Result<Totals, ReviewError> {
        self.without_missing(Self::count)
    }

    fn count(&mut self) -> Result<Totals, ReviewError> {
        let mut sum = Totals::default();
        let paths: Vec<PathBuf> = self.histories.keys().cloned().collect();
        for path in paths {
            let one = self.sums_of(&path)?;
            sum.added += one.added;
            sum.removed += one.removed;
            sum.files += one.files;
            sum.pending += one.pending;
        }
        sum.pending += self.held.pending(&mut self.files)?;
        Ok(sum)
    }

    fn sums_of(&mut self, path: &Path) -> Result<Totals, ReviewError> {
        let Some(history) = self.histories.get(path) else { return Ok(Totals::default()) };
        if let Some((steps, accepted, sums)) = self.sums.get(path)
            && *steps == history.steps.len()
            && *accepted == history.accepted
        {
            return Ok(*sums);
        }
        let mut sums = Totals::default();
        if let Some(pair) = history.pair(Scope::Session, &mut self.files)? {
            let mut old = pair.old;
            // What the person did after the agent is not the agent's.
            let later = history.steps.get(pair.upto..).unwrap_or_default();
            for step in later.iter().filter(|s| s.cause == Cause::Person && !s.decided) {
                old = carry(&mut self.files, &step.before, &old, &step.after)?;
            }
            if old != history.last() {
                let parts = Parts::of(&mut self.files, &old, &history.last())?;
                (sums.added, sums.removed, sums.files) = (doc::added(&parts), doc::removed(&parts), 1);
            }
        }
        if let Some(pair) = history.pair(Scope::Pending, &mut self.files)? {
            sums.pending = Parts::of(&mut self.files, &pair.old, &pair.new)?.parts.len() as u64;
        }
        self.sums.insert(path.to_owned(), (history.steps.len(), history.accepted, sums));
        Ok(sums)
    }

    pub(crate) fn totals_of(&mut self, scope: Scope) -> Result<Totals, ReviewError> {
        self.without_missing(|review| review.count_of(scope))
    }

    fn count_of(&mut self, scope: Scope) -> Result<Totals, ReviewError> {
        let mut sum = Totals::default();
        for history in self.histories.values() {
            let Some(pair) = history.pair(scope, &mut self.files)? else { continue };
            let parts = Parts::of(&mut self.files, &pair.old, &pair.new)?;
            sum.files += 1;
            sum.added += doc::added(&parts);
            sum.removed += doc::removed(&parts);
            for part in &parts.parts {
                let state = doc::state_of(part, &parts, history, &pair, &mut self.files)?;
                sum.pending += u64::from(state == HunkState::Pending);
            }
        }
        Ok(sum)
    }
}
