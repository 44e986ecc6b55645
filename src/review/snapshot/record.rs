//! Whether what a snapshot has on the disk is there as it was written.
//!
//! An agent can reach it. Invariants: nothing is read or written through a link; what was removed while the snapshot is
//! open is written anew, and what was removed later is said to be gone.

use super::Snapshot;
use super::manifest::Manifest;
use super::preserve::KEPT;
use crate::base::paths::visible;
use crate::review::error::ReviewError;
use crate::review::worktree::walk::Time;
use std::path::{Path, PathBuf};

/// Directories in a store.
const DIRS: [&str; 3] = ["objects", "objects/pack", "objects/info"];

/// Refuses a store that is not there, or of which a directory leads elsewhere.
pub(super) fn check(dir: &Path) -> Result<(), ReviewError> {
    if dir.symlink_metadata().is_err() {
        return Err(ReviewError::Store(format!("nothing at {}", visible(dir.as_os_str()))));
    }
    let kept = dir.join(KEPT);
    let kept = std::iter::once(kept.clone()).chain(kept.read_dir().into_iter().flatten().flatten().map(|e| e.path()));
    let odd = |path: &PathBuf| path.symlink_metadata().is_ok_and(|meta| !meta.is_dir());
    // The store itself without a slash behind it: with one a link is followed.
    let all = std::iter::once(dir.to_owned()).chain(DIRS.iter().map(|name| dir.join(name))).chain(kept);
    match { all }.find(odd) {
        Some(odd) => Err(ReviewError::Store(format!(
            "{} is a link or no directory, and nothing behind it is made use of",
            visible(odd.as_os_str())
        ))),
        None => Ok(()),
    }
}

impl Snapshot {
    /// Whether there was a look at everything, and what it saw is not on record any more. `had_turns`: one precedes each.
    pub fn has_lost_all(&self, had_turns: bool) -> bool {
        !self.looked && (had_turns || self.ignored.began != Time::default())
    }

    /// What was seen is written down once more where somebody has removed it, or written over it.
    pub fn restore(&mut self) -> Result<(), ReviewError> {
        if !self.looked || !self.is_saved() || self.book.stands() {
            return Ok(());
        }
        self.book = Manifest::create(&self.dir)?;
        self.book.rewrite(&self.head, &self.seen)
    }
}
