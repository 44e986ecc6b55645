//! Contents that were in the person's own store and are gone with it.
//!
//! The part of [`ReviewSession`] that takes them for what is not kept. Invariant: one content that is gone takes no other
//! file along.

use super::ReviewSession;
use crate::base::paths;
use crate::review::dir;
use crate::review::error::ReviewError;
use crate::review::snapshot::Snapshot;
use crate::review::state::State;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

impl ReviewSession {
    /// After the ledger was read: states of which nobody has the content any more become such that are not kept.
    pub(crate) fn forget_lost(&mut self) {
        self.forget(|snapshot, state| snapshot.as_kept(state));
    }

    /// The same when a content was missed: each is read for certain, since more may be damaged.
    fn forget_damaged(&mut self) {
        self.sums.clear();
        self.rev += 1;
        // What cannot be read for want of memory or files is not lost.
        self.forget(|snapshot, state| snapshot.as_readable(state).unwrap_or(*state));
    }

    /// Does something that only reads contents. When one is in no store any more, it is taken for not kept and the same
    /// is done once more: it is about this one file only.
    pub(crate) fn without_missing<T>(
        &mut self,
        mut what: impl FnMut(&mut Self) -> Result<T, ReviewError>,
    ) -> Result<T, ReviewError> {
        self.files.snapshot.take_missing();
        let done = what(self);
        if matches!(done, Err(ReviewError::NotKept(_))) && self.files.snapshot.take_missing() {
            self.forget_damaged();
            return what(self);
        }
        done
    }

    fn forget(&mut self, found: impl Fn(&mut Snapshot, &State) -> State) {
        let newest: Vec<(PathBuf, State)> = self.histories.iter().map(|(path, h)| (path.clone(), h.last())).collect();
        for (path, state) in newest {
            if found(&mut self.files.snapshot, &state) != state {
                // What is still on the disk can still be had; where it cannot be read, it is lost as well.
                let _ = self.files.on_disk(&path);
            }
        }
        let snapshot = &mut self.files.snapshot;
        let mut known: BTreeMap<_, State> = BTreeMap::new();
        let mut forget = |state: &mut State| {
            if let Some(oid) = state.oid() {
                let (was, mode) = (*state, state.mode());
                *state = *known.entry((oid, mode)).or_insert_with(|| found(snapshot, &was));
            }
        };
        for history in self.histories.values_mut() {
            for step in &mut history.steps {
                forget(&mut step.before);
                forget(&mut step.after);
            }
            forget(&mut history.accepted);
        }
        self.undo_log.each_state(forget);
    }

    /// Goes on keeping what only the person's repositories have, until the time has come. Whether something is left.
    pub fn keep_theirs(&mut self, until: Instant) -> bool {
        self.files.snapshot.keep_theirs(until)
    }

    pub fn keeps_theirs(&self) -> bool {
        self.files.snapshot.keeping.waits()
    }

    /// Why what is known of the files may not be all, in words; nothing when it is.
    pub fn trouble(&self) -> Option<String> {
        dir::trouble(self.dir()).into_iter().chain(self.damage()).reduce(|one, other| format!("{one}; {other}"))
    }

    /// What is missing of the record itself, in words: what is taken back need not be all.
    pub fn damage(&self) -> Option<String> {
        self.ledger.damage()
    }

    /// The number of the newest turn; 0 before the first.
    pub fn last_turn(&self) -> u64 {
        self.newest_turn()
    }

    /// Whether the store has what a path was before some change.
    pub(crate) fn had_content(&self, path: &Path) -> bool {
        self.histories.get(path).is_some_and(|h| h.steps.iter().any(|step| step.before.oid().is_some()))
    }

    /// Files of which it is not known what they were before the agent changed them, in words. Those that `named` names
    /// already are left out.
    pub(crate) fn without_before<'a>(&self, named: &'a [String]) -> Vec<String> {
        let is_unkept = |state: &State| matches!(state, State::Unkept { .. });
        let files = self.histories.iter().filter(|(_, h)| h.steps.iter().any(|s| s.is_shown() && is_unkept(&s.before)));
        let lines = files.map(|(path, _)| format!("{}: ", shown(path)));
        // A name may have a colon in it.
        let colons = |one: &'a String| one.match_indices(": ").map(|(at, _)| &one[..at + 2]);
        let named: HashSet<&str> = named.iter().flat_map(colons).collect();
        let new = lines.filter(|line| !named.contains(&**line));
        new.map(|line| format!("{line}what it was before is not kept")).collect()
    }
}

fn shown(path: &Path) -> String {
    paths::visible(path.as_os_str())
}
