//! Contents that were in the person's own store and are gone with it.
//!
//! The part of [`Tracker`] that takes them for what is not kept. Invariant: one content that is gone takes no other
//! file along.

use super::place;
use super::state::State;
use super::tracker::Tracker;
use crate::base::paths;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

impl Tracker {
    /// After the ledger was read: states of which nobody has the content any more become such that are not kept.
    pub(super) fn forget_lost(&mut self) {
        let newest: Vec<(PathBuf, State)> = self.histories.iter().map(|(path, h)| (path.clone(), h.last())).collect();
        for (path, state) in newest {
            if self.files.shadow.as_kept(&state) != state {
                // What is still on the disk can still be had; where it cannot be read, it is lost as well.
                let _ = self.files.on_disk(&path);
            }
        }
        let shadow = &self.files.shadow;
        let mut known: BTreeMap<_, State> = BTreeMap::new();
        let mut forget = |state: &mut State| {
            if let Some(oid) = state.oid() {
                let (was, mode) = (*state, state.mode());
                *state = *known.entry((oid, mode)).or_insert_with(|| shadow.as_kept(&was));
            }
        };
        for history in self.histories.values_mut() {
            for step in &mut history.steps {
                forget(&mut step.before);
                forget(&mut step.after);
            }
            forget(&mut history.accepted);
        }
        self.acts.each_state(forget);
    }

    /// Why what is known of the files may not be all, in words; nothing when it is.
    pub fn trouble(&self) -> Option<String> {
        place::trouble(self.dir())
    }

    /// The number of the newest turn; 0 before the first.
    pub fn last_turn(&self) -> u64 {
        self.newest_turn()
    }

    /// Files of which it is not known what they were before the agent changed them, in words. Those that `named` names
    /// already are left out.
    pub(super) fn without_before<'a>(&self, named: &'a [String]) -> Vec<String> {
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
