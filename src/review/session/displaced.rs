//! What a killed program has left under the name that it exchanges with a file's.
//!
//! Before the exchange that is what was to be written, afterwards what was there: most often what was decided about, and
//! sometimes what the person saved in that moment. Invariants: what had that name before stays as it is, and what belongs
//! to no file there; only what the store has is removed, and not what nobody else had. Anything else goes back to where it
//! came from, or gets a name that everybody sees.

use super::ReviewSession;
use super::expected::expected;
use crate::host::fs::{self, Put, Was, is_swap, may_be_of};
use crate::review::history::file_history::FileHistory;
use crate::review::history::ledger::FileDecision;
use std::ffi::OsString;
use std::path::Path;

impl ReviewSession {
    /// Looks at one of the names in a directory below the root.
    pub(crate) fn settle_swapped(&self, dir: &Path, swap: &OsString, names: &[OsString]) {
        let (root, path) = (self.files.snapshot.root(), dir.join(swap));
        if !is_swap(swap) || self.was_taken(&path) {
            return;
        }
        let Ok((state, _)) = self.files.snapshot.peek(&path) else { return };
        // A file that is to go is not there until what it was has gone, too.
        let going =
            self.acted().filter(|file| file.path.parent() == Some(dir)).filter_map(|file| file.path.file_name());
        let mut owners = names.iter().map(OsString::as_os_str).chain(going);
        let Some(owner) = owners.find(|name| may_be_of(swap, name)) else { return };
        let owner = dir.join(owner);
        // What was to be written is there, and this is not what it was to replace: it was saved in between.
        let disk = self.files.snapshot.peek(&owner).map(|(disk, _)| disk);
        let mut acted = self.acted();
        let written = acted.find(|file| file.path == owner && disk.as_ref().is_ok_and(|disk| *disk == file.disk.1));
        let is_kept = state.oid().is_some() && self.files.snapshot.as_kept(&state) == state;
        let is_only = written.is_some() && self.files.snapshot.peeks().is_only(&owner);
        if is_kept && !is_only {
            let mut decided =
                self.acted().filter(|file| file.path == owner).flat_map(|file| [file.disk.0, file.disk.1]);
            let known = self.histories.get(&owner).map(FileHistory::last);
            let is_of_it = [known, self.files.snapshot.known(&owner)].contains(&Some(state));
            if !is_of_it && !decided.any(|one| one == state) && !self.is_for_a_write(&state) {
                return;
            }
            // It does no harm; the next opening after a crash tries again.
            let _ = expected(&state, |was| fs::put(root, &path, &Put::Absent, was));
            return;
        }
        // Wherever it is in the end, everybody sees it there.
        let _ = match written.filter(|_| !is_only) {
            Some(file) => expected(&file.disk.1, |was: &Was<'_>| fs::bring_back(root, &owner, swap, Some(was))),
            None => fs::bring_back(root, &owner, swap, None),
        };
    }

    /// Files of a decision that a crash has cut short.
    pub(super) fn acted(&self) -> impl Iterator<Item = &FileDecision> {
        self.undo_log.unfinished().into_iter().flat_map(|act| &act.files)
    }
}
