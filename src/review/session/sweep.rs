//! Files under a name of ours that a killed program has left beside those that it was writing.
//!
//! Removes them when the review is opened again after a crash. Invariant: nothing goes that is not named exactly like
//! that, of the same owner as the review, and of nobody who still works in the same tree.

use super::displaced::settle_swapped;
use super::session_dir::SessionDir;
use crate::host::fs::{Put, Was, put};
use crate::review::dir::LOCK;
use crate::review::history::change_log::ChangeLog;
use crate::review::snapshot::Snapshot;
use crate::review::worktree::walk;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;

/// What stands between the two ends of such a name, in hexadecimal digits.
const DIGITS: usize = 16;

/// Looks beside the files of the last act and those that the ledger knows.
pub fn sweep(own: &SessionDir, log: &ChangeLog, snapshot: &Snapshot) {
    let root = snapshot.root();
    if own.is_shared() {
        return;
    }
    let acted = log.undo_log().unfinished().into_iter().flat_map(|act| &act.files).map(|file| &file.path);
    let dirs: BTreeSet<&Path> = log.histories().keys().chain(acted).filter_map(|path| path.parent()).collect();
    for dir in dirs {
        let Ok(entries) = root.join(dir).read_dir() else { continue };
        let entries: Vec<_> = entries.flatten().collect();
        for entry in &entries {
            settle_swapped(dir, &entry.file_name(), log, snapshot);
        }
        let ours = entries.into_iter().filter(|e| is_name(&e.file_name())).map(|e| e.file_name());
        for path in ours.map(|name| dir.join(name)) {
            if walk::is_file_of(&root.join(&path), &own.path().join(LOCK)) {
                // It does no harm; the next opening after a crash tries again.
                let _ = put(root, &path, &Put::Absent, &Was::Any);
            }
        }
    }
}

fn is_name(name: &OsStr) -> bool {
    let middle = name.to_str().and_then(|name| name.strip_prefix(".acp-tui-")?.strip_suffix(".tmp"));
    middle.is_some_and(|m| m.len() == DIGITS && m.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)))
}
