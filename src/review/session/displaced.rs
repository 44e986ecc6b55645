//! What a killed program has left under the name that it exchanges with a file's.
//!
//! Before the exchange that is what was to be written, afterwards what was there: most often what was decided about, and
//! sometimes what the person saved in that moment. Invariants: what had that name before stays as it is, and what belongs
//! to no file there; only what the store has is removed, and no only copy. Anything else gets a name that
//! everybody sees, beside the file, which stays as it is.

use super::expected::expected;
use crate::host::fs::{self, Put, is_swap, may_be_of};
use crate::review::history::change_log::ChangeLog;
use crate::review::history::ledger::FileDecision;
use crate::review::snapshot::Snapshot;
use crate::review::state::{Oid, State, content};
use std::ffi::OsString;
use std::path::Path;

/// Whether that path was there before the program was killed.
pub fn was_taken(path: &Path, log: &ChangeLog, snapshot: &Snapshot) -> bool {
    log.history(path).is_some() || snapshot.was_there(path)
}

/// Whether it is kept and of no file that was ever seen: as what the client was about to write for the agent.
pub fn is_for_a_write(state: &State, log: &ChangeLog, snapshot: &Snapshot) -> bool {
    let is_nobodys = |oid: Oid| {
        let mut steps = log.histories().values().flat_map(|history| &history.steps);
        let is_known = steps.any(|step| [step.before, step.after].iter().any(|state| state.oid() == Some(oid)));
        !is_known && !snapshot.has_file_with(oid)
    };
    snapshot.objects.as_kept(state) == *state && content(state).is_some_and(is_nobodys)
}

/// Looks at one of the names in a directory below the root.
pub fn recover_swapped(dir: &Path, swap: &OsString, names: &[OsString], log: &ChangeLog, snapshot: &Snapshot) {
    let (root, path) = (snapshot.root(), dir.join(swap));
    if !is_swap(swap) || was_taken(&path, log, snapshot) {
        return;
    }
    let kind = root.join(&path).symlink_metadata().map(|meta| meta.file_type());
    if !kind.is_ok_and(|kind| kind.is_file() || kind.is_symlink()) {
        return;
    }
    let Ok((state, _)) = snapshot.peek(&path) else { return };
    // A file that is to go is not there until what it was has gone, too.
    let going = acted(log).filter(|file| file.path.parent() == Some(dir)).filter_map(|file| file.path.file_name());
    let mut owners = names.iter().map(OsString::as_os_str).chain(going);
    let Some(owner) = owners.find(|name| may_be_of(swap, name)) else { return };
    let owner = dir.join(owner);
    // What was to be written is there, and this is not what it was to replace: it was saved in between.
    let disk = snapshot.peek(&owner).map(|(disk, _)| disk);
    let written = acted(log).find(|file| file.path == owner && disk.as_ref().is_ok_and(|disk| *disk == file.disk.1));
    let is_kept = state.oid().is_some() && snapshot.objects.as_kept(&state) == state;
    let is_only = written.is_some() && snapshot.peeks().is_only(&owner);
    if is_kept && !is_only {
        let mut decided = acted(log).filter(|file| file.path == owner).flat_map(|file| [file.disk.0, file.disk.1]);
        let is_of_it = [log.last(&owner), snapshot.known(&owner)].contains(&Some(state));
        if !is_of_it && !decided.any(|one| one == state) && !is_for_a_write(&state, log, snapshot) {
            return;
        }
        // It does no harm; the next opening after a crash tries again.
        let _ = expected(&state, |was| fs::put(root, &path, &Put::Absent, was));
        return;
    }
    if state.oid().is_some() && disk.is_ok_and(|disk| disk == state) {
        // The file has just that: as a copy beside it, it would only be in the way.
        let _ = expected(&state, |was| fs::put(root, &path, &Put::Absent, was));
        return;
    }
    // Not over what is there: anybody may have given it that name. Beside it, everybody sees it.
    let _ = fs::bring_beside(root, &owner, swap);
}

/// Files of a decision that a crash has cut short.
pub fn acted(log: &ChangeLog) -> impl Iterator<Item = &FileDecision> {
    log.undo_log().unfinished().into_iter().flat_map(|act| &act.files)
}
