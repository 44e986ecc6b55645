//! Files under a name of ours that a killed program has left beside those that it was writing.
//!
//! Removes them when the review is opened again after a crash, and at each look what could not be removed when it was of no
//! use any more. Invariant: nothing goes that is not named exactly like
//! that, of the same owner as the review, and of no process that still works in the same tree; nor what was there
//! before, or is not what was being written. Of what could not be removed the ledger has the name and the content.

use super::displaced::{acted, is_for_a_write, recover_swapped, was_taken};
use super::expected::expected;
use super::session_dir::SessionDir;
use crate::host::fs::{Put, Was, is_temporary, put};
use crate::review::dir::LOCK;
use crate::review::error::ReviewError;
use crate::review::history::change_log::ChangeLog;
use crate::review::history::contents::Contents;
use crate::review::history::pending_writes::PendingWrite;
use crate::review::snapshot::Snapshot;
use crate::review::state::State;
use crate::review::worktree::walk;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

/// Looks beside the files of the last act and those that the ledger knows.
pub fn sweep(own: &SessionDir, log: &ChangeLog, snapshot: &Snapshot) {
    let root = snapshot.root();
    if SessionDir::is_shared(&own.others()) {
        return;
    }
    let acted = log.undo_log().unfinished().into_iter().flat_map(|act| &act.files).map(|file| &file.path);
    let known = log.histories().keys().chain(acted).map(PathBuf::as_path);
    let dirs: BTreeSet<&Path> =
        known.chain(log.pending().iter().map(|(path, _)| path)).filter_map(Path::parent).collect();
    for dir in dirs {
        let Ok(entries) = root.join(dir).read_dir() else { continue };
        let entries: Vec<_> = entries.flatten().collect();
        let names: Vec<OsString> = entries.iter().map(DirEntry::file_name).collect();
        for name in &names {
            recover_swapped(dir, name, &names, log, snapshot);
        }
        let ours = entries.into_iter().filter(|e| is_temporary(&e.file_name())).map(|e| e.file_name());
        for path in ours.map(|name| dir.join(name)) {
            let is_ours = walk::is_file_of(&root.join(&path), &own.path().join(LOCK));
            if is_ours && is_being_written(dir, &path, log, snapshot) {
                // It does no harm; the next opening after a crash tries again.
                let _ = put(root, &path, &Put::Absent, &Was::Any);
            }
        }
    }
}

/// Removes what the ledger says is left of a write that could not be done. What is there instead by now is not ours.
pub fn take_left_away(log: &mut ChangeLog, files: &mut Contents) -> Result<(), ReviewError> {
    for (path, to_be) in log.left().clone() {
        // What cannot be read cannot be told, and the next look tries again.
        let Ok((is, bytes)) = files.snapshot.peek(&path) else { continue };
        let is_begun = |bytes: &Vec<u8>| files.content(&to_be).is_ok_and(|content| content.starts_with(bytes));
        let are_files = matches!((is, to_be), (State::File { .. }, State::File { .. }));
        let is_ours = is == to_be || are_files && bytes.as_ref().is_some_and(is_begun);
        if is_ours {
            if expected(&is, |was| put(files.snapshot.root(), &path, &Put::Absent, was)).is_err() {
                continue;
            }
            // It was a file of nobody's.
            files.snapshot.set(&path, State::Absent)?;
        }
        log.note_left(path, State::Absent)?;
    }
    Ok(())
}

/// Whether what is there is the beginning of what a decision that was cut short was to write in that directory, or what
/// the client was to write, which is nowhere else.
fn is_being_written(dir: &Path, path: &Path, log: &ChangeLog, snapshot: &Snapshot) -> bool {
    let Ok((state, Some(bytes))) = snapshot.peek(path) else { return false };
    if was_taken(path, log, snapshot) {
        return false;
    }
    let is_link = |state: &State| matches!(state, State::Link { .. });
    let beside = acted(log).filter(|file| file.path.parent() == Some(dir)).map(|file| file.disk.1);
    let mut alike = beside.filter(|to| !to.is_absent() && is_link(to) == is_link(&state));
    let begins = |to: State| snapshot.objects.content(&to).is_ok_and(|content| content.starts_with(&bytes));
    let mut writes = log.pending().iter().filter(|(path, _)| path.parent() == Some(dir)).map(|(_, write)| *write);
    let is_begun = |write: PendingWrite| {
        let PendingWrite { content: oid, size, .. } = write;
        !is_link(&state) && begins(State::File { oid, mode: 0, size })
    };
    alike.any(begins) || writes.any(is_begun) || is_for_a_write(&state, log, snapshot)
}
