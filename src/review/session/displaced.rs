//! What a killed program has left under the name that it exchanges with a file's.
//!
//! Before the exchange that is what was to be written, afterwards what was there: most often what was decided about, and
//! sometimes what the person saved in that moment. Invariant: only what the store has is removed, and not what nobody
//! else had. Anything else goes back to where it came from, or gets a name that everybody sees.

use super::expected::expected;
use crate::host::fs::{self, Put, Was, is_swap, may_be_of};
use crate::review::history::change_log::ChangeLog;
use crate::review::history::ledger::FileDecision;
use crate::review::snapshot::Snapshot;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Looks at one name in a directory below the root.
pub fn settle_swapped(dir: &Path, swap: &OsString, log: &ChangeLog, snapshot: &Snapshot) {
    if !is_swap(swap) {
        return;
    }
    let (root, path) = (snapshot.root(), dir.join(swap));
    let Ok((state, _)) = snapshot.peek(&path) else { return };
    let known = log.histories().keys().chain(acted(log).map(|file| &file.path));
    let mut owners = known.filter(|path| path.parent() == Some(dir));
    let owner = owners.find(|path| path.file_name().is_some_and(|name| may_be_of(swap, name)));
    let owner: PathBuf = owner.map_or_else(|| dir.join("file"), Clone::clone);
    // What was to be written is there, and this is not what it was to replace: it was saved in between.
    let disk = snapshot.peek(&owner).map(|(disk, _)| disk);
    let written = acted(log).find(|file| file.path == owner && disk.as_ref().is_ok_and(|disk| *disk == file.disk.1));
    let is_kept = state.oid().is_some() && snapshot.objects.as_kept(&state) == state;
    let is_only = written.is_some() && snapshot.peeks().is_only(&owner);
    if is_kept && !is_only {
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
fn acted(log: &ChangeLog) -> impl Iterator<Item = &FileDecision> {
    log.undo_log().unfinished().into_iter().flat_map(|act| &act.files)
}
