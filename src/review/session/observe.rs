//! Changes that a look has found, put down to who made them and taken into the ledger.
//!
//! The part of [`ReviewSession`] that decides nothing: whose a change is, [`Attribution`](super::Attribution) knows. Invariant: first
//! it is recorded what has become of the files, then that they were seen.

use super::{MAX_CLAIMED, ReviewSession};
use crate::model::changes::Cause;
use crate::review::error::ReviewError;
use crate::review::history::file_history::{FileHistory, adopt, carry, readopt};
use crate::review::history::ledger::{ChangeRecord, Record};
use crate::review::session::attribution::{Attributed, When, before_claims};
use crate::review::state::content;
use crate::review::state::{Change, Oid, State};
use crate::review::text::diff::edits;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

impl ReviewSession {
    pub(crate) fn observe(&mut self, changes: Vec<Change>) -> Result<(), ReviewError> {
        if !changes.is_empty() {
            self.files.snapshot.clock.ask();
            self.is_clock_set();
        }
        self.files.snapshot.gather();
        self.steps = Some(Vec::new());
        let observed = self.observe_each(changes);
        let steps = self.steps.take().unwrap_or_default();
        // What they name is in the store first.
        let written = self.files.snapshot.gathered().and_then(|()| self.ledger.add_all(&steps));
        observed.and(written)
    }

    pub(super) fn observe_each(&mut self, changes: Vec<Change>) -> Result<(), ReviewError> {
        let is_loss = |change: &Change| change.after.is_absent() && content(&change.before).is_some();
        let copied: HashSet<Oid> = if changes.iter().any(is_loss) {
            self.histories.values().filter_map(|history| content(&history.last())).collect()
        } else {
            HashSet::new()
        };
        for mut change in changes {
            // After a crash the ledger may be ahead of the store.
            let seen = change.before;
            change.before = self.histories.get(&change.path).map_or(change.before, FileHistory::last);
            if change.before == change.after {
                continue;
            }
            let blamed = match self.held.wanting(&change.path, &change.after) {
                // Some agents write the file themselves as well.
                Some(entry) => Attributed::new(Cause::Tool, Some(entry.0)),
                // The client's own write, seen before it is told that it is done; or the agent was faster with the same.
                None if change.after.oid().is_some()
                    && self.under_way.get(&change.path).copied() == change.after.oid() =>
                {
                    Attributed::new(Cause::Write, None)
                }
                None => self.blame(&change.path),
            };
            let last = self.histories.get(&change.path).and_then(|history| history.steps.last());
            let blamed = match last {
                // Nobody need have changed what only cannot be read.
                Some(_) if blamed.cause == Cause::Person && self.files.snapshot.unread(&change.path).is_some() => {
                    continue;
                }
                // Nobody has changed what only can be read again: it is still what was made of it.
                Some(last) if last.after == seen && self.files.snapshot.is_opened(&change.path) => {
                    Attributed { cause: last.cause, doubt: last.doubt, entry: last.entry, turn: None }
                }
                _ => blamed,
            };
            if let Some(apart) = self.somebody_else(&change, blamed)? {
                let doubt = Attributed { doubt: true, ..Attributed::new(Cause::Unknown, None) };
                self.record(&change.path, change.before, apart, doubt)?;
                // Nothing when what it says has not happened yet.
                self.record(&change.path, apart, change.after, blamed)?;
            } else if blamed.cause == Cause::Person
                && is_loss(&change)
                && !self.histories.contains_key(&change.path)
                && content(&change.before).is_some_and(|oid| copied.contains(&oid))
            {
                // What the agent has put elsewhere is now the only copy of what the person had here.
                let Change { path, before, after } = change;
                let (turn, cause) = (self.newest_turn(), Cause::Person);
                let step = ChangeRecord { turn, cause, doubt: false, decided: false, entry: None, before, after };
                self.take(&path, step, after)?;
            } else {
                self.record(&change.path, change.before, change.after, blamed)?;
            }
        }
        Ok(())
    }

    /// Whether the clock of the files was found to be set; then it no longer tells when calls have run.
    pub(super) fn is_clock_set(&mut self) -> bool {
        let was_set = self.files.snapshot.clock.was_set();
        if was_set {
            self.activity.clock_was_set();
        }
        was_set
    }

    /// What was moved is put down to one: both paths, as far as one of them tells.
    pub(super) fn blame(&mut self, path: &Path) -> Attributed {
        let own = self.blame_alone(path);
        let Some(twin) = self.files.snapshot.moves.twin(path).filter(|_| !is_certain(own)).map(Path::to_owned) else {
            return own;
        };
        let other = self.blame_alone(&twin);
        if is_certain(other) { other } else { own }
    }

    fn blame_alone(&mut self, path: &Path) -> Attributed {
        let snapshot = &mut self.files.snapshot;
        let when = match snapshot.changed_at(path) {
            at if snapshot.moves.is_gone(path) => When::By(at),
            at => When::At(at),
        };
        self.activity.blame(path, self.looked.get(path).copied(), when)
    }

    /// First what has become of the files, then that they were seen: the other way round, what a crash comes between
    /// would never be known.
    pub(crate) fn save(&mut self) -> Result<(), ReviewError> {
        if !self.files.snapshot.is_saved() {
            self.ledger.sync()?;
            self.files.snapshot.note_ledger(self.ledger.bytes());
            self.files.snapshot.save()?;
        }
        Ok(())
    }

    /// The state without what a tool call says it did, when there is more in the change than that.
    pub(super) fn somebody_else(&mut self, change: &Change, blamed: Attributed) -> Result<Option<State>, ReviewError> {
        let (Cause::Tool, Some(entry)) = (blamed.cause, blamed.entry) else { return Ok(None) };
        // A command that runs meanwhile may have done the rest.
        let claims = self.activity.claims(entry, &change.path);
        let (State::File { .. }, State::File { mode, .. }) = (change.before, change.after) else { return Ok(None) };
        if claims.is_empty() || self.activity.runs() {
            return Ok(None);
        }
        let (before, after) = match (self.files.content(&change.before), self.files.content(&change.after)) {
            (Err(ReviewError::NotKept(_)), _) | (_, Err(ReviewError::NotKept(_))) => return Ok(None),
            (before, after) => (before?, after?),
        };
        if before.len() + after.len() > MAX_CLAIMED {
            return Ok(None);
        }
        let (Ok(before), Ok(after)) = (String::from_utf8(before), String::from_utf8(after)) else { return Ok(None) };
        match before_claims(&before, &after, &claims) {
            Some(apart) if apart != before => Ok(Some(self.files.file(apart.as_bytes(), mode)?)),
            _ => Ok(None),
        }
    }

    /// Takes a change into the ledger. The person's are of interest only where the agent has been.
    pub(crate) fn record(
        &mut self,
        path: &Path,
        before: State,
        after: State,
        blamed: Attributed,
    ) -> Result<(), ReviewError> {
        if before == after {
            return Ok(());
        }
        let Attributed { cause, doubt, entry, turn } = blamed;
        let turn = turn.unwrap_or_else(|| self.newest_turn());
        let mut step = ChangeRecord { turn, cause, doubt, decided: false, entry, before, after };
        if !self.histories.contains_key(path) && !step.is_shown() {
            return Ok(());
        }
        let mut again = false;
        let accepted = self.without_missing(|review| {
            if std::mem::replace(&mut again, true) {
                for state in [&mut step.before, &mut step.after] {
                    *state = review.files.snapshot.as_readable(state)?;
                }
            }
            review.accepted_after(path, &step)
        })?;
        self.take(path, step, accepted)
    }

    pub(super) fn accepted_after(&mut self, path: &Path, step: &ChangeRecord) -> Result<State, ReviewError> {
        match self.histories.get(path).map(|h| h.accepted) {
            None => Ok(step.before),
            Some(accepted) if step.cause == Cause::Person => {
                carry(&mut self.files, &step.before, &accepted, &step.after)
            }
            Some(accepted) => self.adopted(path, step, accepted),
        }
    }

    /// The accepted state, with lines that may be the person's when the agent is about to take them away: without them
    /// nobody would ever see that.
    pub(super) fn adopted(&mut self, path: &Path, step: &ChangeRecord, accepted: State) -> Result<State, ReviewError> {
        let Some(history) = self.histories.get(path) else { return Ok(accepted) };
        let may_be_the_persons = |s: &ChangeRecord| s.doubt || s.cause == Cause::Person;
        if !step.is_agents() || !history.steps.iter().any(may_be_the_persons) {
            return Ok(accepted);
        }
        let (Some(before), Some(after)) = (self.files.text(&step.before)?, self.files.text(&step.after)?) else {
            return Ok(accepted);
        };
        let gone = edits(&before, &after);
        let blame = history.blame(&mut self.files)?;
        let mut lost: BTreeMap<usize, Vec<_>> = BTreeMap::new();
        for (range, who) in blame {
            let keeps = history.steps.get(who).is_some_and(may_be_the_persons);
            if keeps && gone.iter().any(|e| e.old.start < range.end && range.start < e.old.end) {
                lost.entry(who).or_default().push(range);
            }
        }
        let mut accepted = accepted;
        for (who, mut ranges) in lost {
            let Some(theirs) = history.steps.get(who) else { continue };
            ranges.sort_by_key(|range| range.start);
            let Some(text) = self.files.text(&accepted)? else { break };
            // What the accepted state has already need not be put there.
            let apart = edits(&before, &text);
            ranges.retain(|range| apart.iter().any(|e| e.old.start < range.end && range.start < e.old.end));
            let lines = ranges.iter().flat_map(|range| range.clone().map(|line| before.raw(line).to_vec())).collect();
            accepted = match readopt(&mut self.files, theirs, &accepted, &lines)? {
                Some(state) => state,
                None => adopt(&mut self.files, &step.before, &accepted, &ranges)?,
            };
        }
        Ok(accepted)
    }

    /// Takes a step into the ledger, and the state that is accepted after it.
    pub(crate) fn take(&mut self, path: &Path, step: ChangeRecord, accepted: State) -> Result<(), ReviewError> {
        let record = Record::Step { path: path.to_owned(), step, accepted };
        match &mut self.steps {
            Some(steps) => steps.push(record),
            None => {
                self.files.snapshot.gathered()?;
                self.ledger.add(&record)?;
            }
        }
        self.put_step(path, step, accepted);
        Ok(())
    }

    /// Takes back the last step of a file, which was put down before it was done and could not be done.
    pub(crate) fn untake(&mut self, path: &Path) -> Result<(), ReviewError> {
        self.ledger.add(&Record::Untaken { path: path.to_owned() })?;
        self.take_off(path);
        Ok(())
    }

    pub(crate) fn take_off(&mut self, path: &Path) {
        self.rev += 1;
        let Some(history) = self.histories.get_mut(path) else { return };
        history.steps.pop();
        if history.steps.is_empty() {
            self.histories.remove(path);
        }
    }

    /// The turn that runs, or the last one.
    pub(crate) fn newest_turn(&self) -> u64 {
        self.activity.turn().or(self.turns.last().copied()).unwrap_or(0)
    }

    pub(crate) fn put_step(&mut self, path: &Path, step: ChangeRecord, accepted: State) {
        self.rev += 1;
        self.order.changed(path, &step.after, self.rev);
        match self.histories.get_mut(path) {
            Some(history) => {
                history.steps.push(step);
                history.accepted = accepted;
            }
            None => {
                self.histories.insert(path.to_owned(), FileHistory { steps: vec![step], accepted });
            }
        }
    }
}

/// Whether the agent has said that it did it.
const fn is_certain(blamed: Attributed) -> bool {
    matches!(blamed.cause, Cause::Tool | Cause::Command)
}
