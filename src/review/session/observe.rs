//! Changes that a look has found, put down to who made them and taken into the ledger.
//!
//! Decides nothing: whose a change is, [`Attribution`] knows. Invariant: each change that a look has found is put down to
//! one, and but for the person's where the agent has not been, it is in the ledger once.

use crate::model::changes::Cause;
use crate::model::ids::EntryId;
use crate::review::decide::held_writes::HeldWrites;
use crate::review::error::ReviewError;
use crate::review::history::change_log::ChangeLog;
use crate::review::history::contents::Contents;
use crate::review::history::ledger::{Author, ChangeRecord, ClosedBy};
use crate::review::session::attribution::{Attributed, Attribution, LetGo};
use crate::review::session::beside::Beside;
use crate::review::session::claimed::taken_out;
use crate::review::session::persons;
use crate::review::session::unexplained::{Found, When};
use crate::review::state::{Change, Oid, State, content};
use crate::review::worktree::walk::{self, RelPath};
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Larger texts are not searched for what a tool call says it has put there, bytes.
const MAX_CLAIMED: usize = 4 << 20;
/// So many looks may come while a file is written.
const MAX_UNSETTLED: usize = 8;

/// The parts of a review that what a look has found goes through.
pub struct Observer<'a> {
    pub files: &'a mut Contents,
    pub log: &'a mut ChangeLog,
    pub attribution: &'a mut Attribution,
    pub held: &'a HeldWrites,
    pub beside: &'a Beside,
}

/// What calls say of a change.
struct Said {
    /// What was there before each of them did its part, by its place among them; what happened last comes first.
    out: Vec<(usize, String)>,
    /// Nobody else has done anything.
    is_all: bool,
}

impl Observer<'_> {
    /// Takes in what a look has found.
    pub fn observe(&mut self, changes: Vec<Change>) -> Result<(), ReviewError> {
        if !changes.is_empty() {
            self.files.snapshot.clock.ask();
            self.is_clock_set();
        }
        self.files.snapshot.objects.gather();
        self.log.begin_batch();
        let observed = self.observe_each(changes);
        let written = self.log.write_batch(self.files);
        observed.and(written)
    }

    fn observe_each(&mut self, changes: Vec<Change>) -> Result<(), ReviewError> {
        let is_loss = |change: &Change| change.after.is_absent() && content(&change.before).is_some();
        let copied: HashSet<Oid> = if changes.iter().any(is_loss) { self.log.contents() } else { HashSet::new() };
        for mut change in changes {
            // After a crash the ledger may be ahead of the store.
            let seen = change.before;
            change.before = self.log.last(&change.path).unwrap_or(change.before);
            // What is left of our own writes is nobody's change.
            if change.before == change.after || self.log.left().contains_key(&change.path) {
                continue;
            }
            // It is what was there all the time.
            if self.log.history(&change.path).is_none() && self.files.snapshot.is_opened_untouched(&change.path) {
                continue;
            }
            let is_persons = persons::has(self.files.snapshot.root(), &change);
            let blamed = match self.held.wanting(&change.path, &change.after) {
                _ if is_persons => Attributed::new(Cause::Person, None),
                // Some agents write the file themselves as well.
                Some(entry) => Attributed::new(Cause::Tool, Some(entry.0)),
                // The client's own write, seen before it is told that it is done; or the agent was faster with the same.
                None => match self.attribution.writing(&change.path, change.after.oid()) {
                    Some(by) => by,
                    None => self.blame_unseen(&change.path),
                },
            };
            let last = self.log.history(&change.path).and_then(|history| history.steps.last());
            let blamed = match last {
                // What only cannot be read need not have changed.
                Some(_) if blamed.cause == Cause::Person && self.files.snapshot.unread(&change.path).is_some() => {
                    continue;
                }
                // What only can be read again has not changed: it is still what was made of it.
                Some(last) if last.after == seen && self.files.snapshot.is_opened(&change.path) => {
                    let (doubt, beside_persons, beside_run) = (last.doubt, last.beside_persons, last.beside_run);
                    Attributed { doubt, beside_persons, beside_run, ..Attributed::new(last.cause, last.entry) }
                }
                _ => self.as_claimed(&change, blamed)?,
            };
            let has_come = blamed.cause != Cause::Person && self.files.snapshot.has_come(&change.path);
            let blamed = Attributed { doubt: blamed.doubt || has_come, ..blamed };
            self.join_unsettled(&mut change, blamed)?;
            let calls = self.calls(&change, blamed);
            if let Some(parts) = self.parts(&change, blamed, &calls)? {
                self.record_parts(&change, parts)?;
            } else if blamed.cause == Cause::Person
                && is_loss(&change)
                && self.log.history(&change.path).is_none()
                && content(&change.before).is_some_and(|oid| copied.contains(&oid))
            {
                // What the agent has put elsewhere is now the only copy of what the person had here.
                let Change { path, before, after } = change;
                let (turn, cause) = (self.newest_turn(), Cause::Person);
                let step = ChangeRecord::new(turn, cause, None, before, after);
                self.log.take(&path, step, after, self.files)?;
            } else {
                self.record(&change.path, change.before, change.after, blamed)?;
                // No news of a call tells that it was not the person's before.
                if !has_come {
                    let found = self.found(&change.path, change.after);
                    self.leave_unexplained(found, blamed);
                }
            }
        }
        Ok(())
    }

    /// What nobody accounts for yet is remembered until the end of the turn.
    fn leave_unexplained(&mut self, found: Found, by: Attributed) {
        let is_open = by.cause == Cause::Unknown && by.doubt && !by.beside_persons && !by.beside_run;
        if is_open && self.log.history(&found.path).is_some_and(|history| !history.steps.is_empty()) {
            self.attribution.leave_unexplained(found);
        }
    }

    /// The last step of a file, as a look has found it.
    fn found(&mut self, path: &Path, after: State) -> Found {
        let steps = self.log.history(path).map_or(0, |history| history.steps.len());
        let found = Found::new(path.to_owned(), steps.saturating_sub(1), after, self.when(path));
        Found { is_between: self.attribution.is_between, ..found }
    }

    /// Takes in a change in its parts. What no call says that it did may be told of later.
    fn record_parts(&mut self, change: &Change, parts: Vec<(Attributed, State)>) -> Result<(), ReviewError> {
        let mut before = change.before;
        for (by, after) in parts {
            self.record(&change.path, before, after, by)?;
            let found = Found { needs_claim: true, ..self.found(&change.path, after) };
            self.leave_unexplained(found, by);
            before = after;
        }
        Ok(())
    }

    /// What looks have found before the agent told of this call is its doing, as it would be had they come after that: in
    /// which order they come is chance. What it explains only together with a call of which nothing is told yet stays.
    pub fn explain(&mut self, entry: EntryId, since: LetGo) -> Result<(), ReviewError> {
        let Some((all, by)) = self.attribution.explains(entry, since) else { return Ok(()) };
        for (mut found, needs_claim) in all {
            let step = self.log.history(&found.path).and_then(|history| history.steps.get(found.step)).copied();
            let Some(step) = step.filter(|step| step.doubt && step.after == found.after) else { continue };
            let change = Change { path: found.path.clone(), before: step.before, after: found.after };
            let calls: Vec<Attributed> =
                std::iter::once(by).chain(self.attribution.others_ever(entry.0, &change.path, found.when)).collect();
            let said = self.said(&change, &calls)?.map(|said| said.is_all);
            // A command that runs meanwhile may have done the rest.
            let is_its = said.unwrap_or(!needs_claim) || !needs_claim && self.attribution.runs();
            if is_its || self.is_all_said(&found, &calls)? {
                let by = Author { turn: by.turn.unwrap_or(step.turn), cause: by.cause, entry: entry.0 };
                self.log.account(&change.path, found.step, by)?;
            } else if found.tries > 0 {
                found.tries -= 1;
                self.attribution.leave_unexplained(found);
            }
        }
        Ok(())
    }

    /// A call says only now what it puts into files that it was known to change: what has come there besides is somebody
    /// else's.
    pub fn tell_apart(&mut self, entry: EntryId) -> Result<(), ReviewError> {
        for path in self.attribution.claimed(entry) {
            let Some(history) = self.log.history(&path) else { continue };
            let is_its = |step: &&ChangeRecord| step.entry == Some(entry.0) && step.cause == Cause::Tool && !step.doubt;
            let Some(step) = history.steps.last().filter(is_its).filter(|step| step.after != history.accepted).copied()
            else {
                continue;
            };
            let by = Attributed::new(Cause::Tool, step.entry).of_turn(Some(step.turn));
            let when = self.when(&path);
            let calls: Vec<_> = std::iter::once(by).chain(self.attribution.others_ever(entry.0, &path, when)).collect();
            let change = Change { path, before: step.before, after: step.after };
            if let Some(parts) = self.parts(&change, by, &calls)? {
                self.log.untake(&change.path)?;
                self.record_parts(&change, parts)?;
                self.log.save(self.files)?;
            }
        }
        Ok(())
    }

    /// Whether calls say of all that has come to a file from a step on that it is theirs: what one of them did may stand in
    /// what another one has left, so that no step by itself is what any of them says.
    fn is_all_said(&mut self, found: &Found, calls: &[Attributed]) -> Result<bool, ReviewError> {
        let steps = self.log.history(&found.path).and_then(|history| history.steps.get(found.step..));
        let [first, .., last] = steps.unwrap_or_default() else { return Ok(false) };
        let is_open = |step: &ChangeRecord| {
            let may_be_its = step.cause == Cause::Tool || step.doubt && step.cause == Cause::Unknown;
            step.turn == first.turn && may_be_its && !step.beside_persons && !step.beside_run
        };
        let all = Change { path: found.path.clone(), before: first.before, after: last.after };
        let is_open = steps.unwrap_or_default().iter().all(is_open);
        Ok(is_open && self.said(&all, calls)?.is_some_and(|said| said.is_all))
    }

    /// Whether the clock of the files was found to be set; then it no longer tells when calls have run.
    pub fn is_clock_set(&mut self) -> bool {
        let was_set = self.files.snapshot.clock.was_set();
        if was_set {
            self.attribution.clock_was_set();
        }
        was_set
    }

    /// What no call explains and was changed where no look could come is of those who closed the directory; what was
    /// written after the last look that could not come there is in doubt.
    fn blame_unseen(&mut self, path: &Path) -> Attributed {
        let own = self.blame(path);
        let closed = self.log.closed_around(path).filter(|_| !own.is_certain());
        let Some(by) = closed else { return own };
        let is_later = self.files.snapshot.is_written_after_closed(path);
        if is_later && !self.attribution.turns().is_empty() {
            return own;
        }
        let doubt = by.doubt || is_later;
        Attributed { doubt, ..Attributed::new(by.cause, by.entry).of_turn(Some(by.turn)) }
    }

    /// Notes whose doing it is that directories can no longer be looked into, and which can again. What no look has ever
    /// come into was closed by the person.
    pub fn note_closed(&mut self) -> Result<(), ReviewError> {
        let closed = &self.files.snapshot.closed;
        let was_open = |key: &&RelPath| closed.around(key).is_some_and(|dir| dir.open.is_some());
        let dirs: BTreeSet<PathBuf> = closed.keys().filter(was_open).map(|key| walk::path(key).to_owned()).collect();
        for dir in &dirs {
            let by = self.log.closed_around(dir).unwrap_or_else(|| {
                let Attributed { cause, doubt, entry, turn, .. } = self.blame(dir).unclaimed();
                ClosedBy { turn: turn.unwrap_or_else(|| self.newest_turn()), cause, doubt, entry }
            });
            if by.cause != Cause::Person {
                self.log.note_closed(dir, by)?;
            }
        }
        let opened: Vec<PathBuf> = self.log.closed().keys().filter(|dir| !dirs.contains(*dir)).cloned().collect();
        opened.iter().try_for_each(|dir| self.log.note_opened(dir))
    }

    /// By what a path was changed; in doubt where another run wrote it then.
    pub fn blame(&mut self, path: &Path) -> Attributed {
        let by = self.blame_moved(path);
        if self.beside.run_of(path).is_some() { by.with_run() } else { by }
    }

    /// What was moved is put down to one: both paths, as far as one of them tells.
    fn blame_moved(&mut self, path: &Path) -> Attributed {
        let own = self.blame_alone(path);
        let Some(twin) = self.files.snapshot.moves.twin(path).filter(|_| !own.is_certain()).map(Path::to_owned) else {
            return own;
        };
        let other = self.blame_alone(&twin);
        if other.is_certain() { other } else { own }
    }

    fn blame_alone(&mut self, path: &Path) -> Attributed {
        let when = self.when(path);
        self.attribution.blame(path, when)
    }

    /// When a path was changed.
    fn when(&mut self, path: &Path) -> When {
        let snapshot = &mut self.files.snapshot;
        match snapshot.changed_at(path) {
            at if snapshot.moves.is_gone(path) => When::By(at),
            at => When::At(at),
        }
    }

    /// The parts of a change that calls say they did, the oldest first, and before them what is beyond that; nothing where
    /// one call did all of it, or they do not tell.
    fn parts(
        &mut self,
        change: &Change,
        blamed: Attributed,
        calls: &[Attributed],
    ) -> Result<Option<Vec<(Attributed, State)>>, ReviewError> {
        let State::File { mode, .. } = change.after else { return Ok(None) };
        // A command that runs meanwhile may have done the rest.
        if self.attribution.runs() {
            return Ok(None);
        }
        let Some(Said { out, is_all }) = self.said(change, calls)? else { return Ok(None) };
        if is_all && matches!(out[..], [(0, _)]) {
            return Ok(None);
        }
        let mut parts = Vec::new();
        let mut after = change.after;
        for (call, text) in out {
            parts.push((calls[call], after));
            after = self.files.file(text.as_bytes(), mode)?;
        }
        if !is_all {
            let beside_run = blamed.beside_run;
            parts.push((Attributed { beside_run, ..Attributed::in_doubt(blamed.beside_persons) }, after));
        }
        parts.reverse();
        Ok(Some(parts))
    }

    /// The call that a change is blamed on, and others that may have done their part of it before.
    fn calls(&mut self, change: &Change, blamed: Attributed) -> Vec<Attributed> {
        let (Cause::Tool, Some(entry)) = (blamed.cause, blamed.entry) else { return Vec::new() };
        let when = self.when(&change.path);
        let others = self.attribution.others(entry, &change.path, when).into_iter();
        let other = |by: Attributed| Attributed { entry: by.entry, turn: by.turn, ..blamed };
        std::iter::once(blamed).chain(others.map(other)).collect()
    }

    /// What calls say of a change of a file, the newest of them first; nothing where they do not tell.
    fn said(&mut self, change: &Change, calls: &[Attributed]) -> Result<Option<Said>, ReviewError> {
        let claims = |by: &Attributed| by.entry.map(|entry| self.attribution.claims(entry, &change.path));
        let claims: Vec<_> = calls.iter().map(|by| claims(by).unwrap_or_default()).collect();
        if claims.first().is_none_or(Vec::is_empty) || !matches!(change.before, State::File { .. }) {
            return Ok(None);
        }
        let Some((before, after)) = self.texts(change)? else { return Ok(None) };
        let out = taken_out(&before, &after, &claims);
        Ok(out.map(|out| Said { is_all: out.last().is_some_and(|(_, text)| *text == before), out }))
    }

    /// What happened while a command of the person's ran is a call's doing if it is what calls say that they put there; what
    /// is beyond that is somebody else's.
    fn as_claimed(&mut self, change: &Change, blamed: Attributed) -> Result<Attributed, ReviewError> {
        let Some(entry) = blamed.entry.filter(|_| blamed.needs_claim()) else { return Ok(blamed) };
        let claims = self.attribution.claims(entry, &change.path);
        if claims.is_empty() {
            return Ok(blamed.unclaimed());
        }
        let Some((before, after)) = self.texts(change)? else { return Ok(blamed.unclaimed()) };
        let is_all = |(old, new): &(Option<Arc<str>>, Arc<str>)| {
            **new == *after && old.as_ref().is_none_or(|old| **old == *before)
        };
        let calls = self.calls(change, blamed);
        let is_claimed = claims.iter().any(is_all)
            || match self.said(change, &calls)? {
                Some(said) => said.is_all || !said.out.is_empty() && !self.attribution.runs(),
                None => false,
            };
        Ok(if is_claimed { blamed } else { blamed.unclaimed() })
    }

    /// Both as texts, where they are not too large; a file that is not there has none.
    fn texts(&mut self, change: &Change) -> Result<Option<(String, String)>, ReviewError> {
        let mut texts = Vec::new();
        for state in [&change.before, &change.after] {
            let bytes = match state {
                State::Absent => Vec::new(),
                State::File { size, .. } if *size <= MAX_CLAIMED as u64 => match self.files.content(state) {
                    Err(ReviewError::NotKept(_)) => return Ok(None),
                    bytes => bytes?,
                },
                _ => return Ok(None),
            };
            let Ok(text) = String::from_utf8(bytes) else { return Ok(None) };
            texts.push(text);
        }
        let after =
            texts.pop().filter(|after| after.len() + texts.iter().map(String::len).sum::<usize>() <= MAX_CLAIMED);
        Ok(texts.pop().zip(after))
    }

    /// Takes in a change with its attribution.
    pub fn record(&mut self, path: &Path, before: State, after: State, by: Attributed) -> Result<(), ReviewError> {
        let Attributed { cause, doubt, beside_persons, beside_run, entry, turn, .. } = by;
        let turn = turn.unwrap_or_else(|| self.newest_turn());
        let (beside_persons, beside_run) = (doubt && beside_persons, doubt && beside_run);
        if let Some(run) = self.beside.run_of(path).filter(|_| beside_run) {
            self.log.note_run(path, run);
        }
        let step = ChangeRecord::new(turn, cause, entry, before, after);
        let step = ChangeRecord { doubt, beside_persons, beside_run, ..step };
        self.log.record(path, step, self.files)
    }

    /// A look may come while a file is written, and find it empty or a part of it: with what follows that is one change.
    /// Of a part that is so where what was there before and what follows begin with it, or calls say that all of it together is theirs.
    fn join_unsettled(&mut self, change: &mut Change, blamed: Attributed) -> Result<(), ReviewError> {
        if blamed.cause == Cause::Person || blamed.beside_persons || blamed.beside_run {
            return Ok(());
        }
        let turn = blamed.turn.unwrap_or_else(|| self.newest_turn());
        if let Some(before) = self.begun(change, turn)? {
            self.log.untake(&change.path)?;
            change.before = before;
            return Ok(());
        }
        if blamed.cause != Cause::Tool || blamed.doubt {
            return Ok(());
        }
        for (steps, before) in self.unsettled(&change.path, turn) {
            let all = Change { path: change.path.clone(), before, after: change.after };
            let calls = self.calls(&all, blamed);
            if self.said(&all, &calls)?.is_some_and(|said| said.is_all) {
                (0..steps).try_for_each(|_| self.log.untake(&change.path))?;
                change.before = before;
                break;
            }
        }
        Ok(())
    }

    /// What was there before the last step of a file, where that left only the beginning of it, with which begins what is there
    /// now: whoever wrote it had not come to the end by then.
    fn begun(&self, change: &Change, turn: u64) -> Result<Option<State>, ReviewError> {
        let Some(history) = self.log.history(&change.path) else { return Ok(None) };
        let is_begun = |step: &&ChangeRecord| {
            let may_be_its = matches!(step.cause, Cause::Tool | Cause::Command | Cause::Unknown);
            let is_open = step.turn == turn && step.after != history.accepted && step.after == change.before;
            let [was, left, is] = [step.before, step.after, change.after].map(|state| size(&state));
            let is_less = left.is_some() && left < was && left < is;
            may_be_its && is_open && is_less && !step.beside_persons && !step.beside_run
        };
        let Some(before) = history.steps.last().filter(is_begun).map(|step| step.before) else { return Ok(None) };
        let is_beginning = is_empty(&change.before)
            || match (self.bytes(&change.before)?, self.bytes(&before)?, self.bytes(&change.after)?) {
                (Some(begun), Some(was), Some(is)) => was.starts_with(&begun) && is.starts_with(&begun),
                _ => false,
            };
        Ok(is_beginning.then_some(before))
    }

    /// What a file has, where that is not too large and still kept.
    fn bytes(&self, state: &State) -> Result<Option<Vec<u8>>, ReviewError> {
        if size(state).is_none_or(|size| size > MAX_CLAIMED as u64) {
            return Ok(None);
        }
        match self.files.content(state) {
            Err(ReviewError::NotKept(_)) => Ok(None),
            bytes => bytes.map(Some),
        }
    }

    /// So many of the last steps of a file which somebody may still explain, and what was there before them; the most of them
    /// first.
    fn unsettled(&self, path: &Path, turn: u64) -> Vec<(usize, State)> {
        let Some(history) = self.log.history(path) else { return Vec::new() };
        let is_open = |step: &&ChangeRecord| {
            let is_its = step.doubt && step.cause == Cause::Unknown && !step.beside_persons && !step.beside_run;
            let is_emptied = step.cause == Cause::Tool && is_empty(&step.after);
            step.turn == turn && step.after != history.accepted && (is_its || is_emptied)
        };
        let last = history.steps.iter().rev().take(MAX_UNSETTLED).take_while(is_open);
        let mut all: Vec<_> = last.enumerate().map(|(at, step)| (at + 1, step.before)).collect();
        all.reverse();
        all
    }

    fn newest_turn(&self) -> u64 {
        self.attribution.turn().unwrap_or_else(|| self.log.newest_turn())
    }
}

const fn size(state: &State) -> Option<u64> {
    if let State::File { size, .. } = state { Some(*size) } else { None }
}

const fn is_empty(state: &State) -> bool {
    matches!(state, State::File { size: 0, .. })
}
