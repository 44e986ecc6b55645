//! Directories that a look at the whole tree could not look into.
//!
//! Whose doing that is, the ledger knows. Invariants: one stays until a look has come into it again, also after a
//! restart; when that was the last time, and until when it was closed, is known by the clock of the files. One that no
//! look had come into before somebody could, or before it went, is remembered for good: what was in it is not known.

use crate::review::dir::{read_json, write_json};
use crate::review::error::ReviewError;
use crate::review::worktree::walk::{self, Reader, RelPath, Time, Walked};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const FILE: &str = "closed";
const LATE_FILE: &str = "closed-at-first";

/// When a directory could not be looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClosedDir {
    /// When the last look that came into it began; nothing when none has.
    pub open: Option<Time>,
    /// When the last look that did not come into it began.
    pub until: Time,
    /// Of one that no look has come into, when it was changed last before the first that did not; nothing when unknown.
    pub changed: Option<Time>,
}

/// One that nobody could look into at first and into which somebody may have come since, or that is gone.
pub(crate) struct Opened {
    pub dir: RelPath,
    /// Nobody had come into it until then.
    pub until: Time,
}

/// All of them.
#[derive(Default)]
pub(crate) struct Closed {
    store: PathBuf,
    dirs: BTreeMap<RelPath, ClosedDir>,
    /// Those before the last look.
    before: BTreeMap<RelPath, ClosedDir>,
    /// Those that were closed from the first look on and into which somebody may have come since, and until when nobody
    /// had.
    late: BTreeMap<RelPath, Time>,
}

impl Closed {
    pub(crate) fn new(store: &Path) -> Self {
        Self { store: store.to_owned(), ..Self::default() }
    }

    /// As it was written down in `store`.
    pub(crate) fn read(store: &Path) -> Self {
        let dirs: Vec<(Vec<u8>, ClosedDir)> = read_json(&store.join(FILE)).unwrap_or_default();
        let late: Vec<(Vec<u8>, Time)> = read_json(&store.join(LATE_FILE)).unwrap_or_default();
        Self {
            dirs: dirs.into_iter().map(|(key, dir)| (key.into(), dir)).collect(),
            late: late.into_iter().map(|(key, until)| (key.into(), until)).collect(),
            ..Self::new(store)
        }
    }

    /// Directories of which it is not known what was in them before somebody may have come into them, or before they
    /// went; and until when nobody had.
    pub(crate) const fn late(&self) -> &BTreeMap<RelPath, Time> {
        &self.late
    }

    /// The directories, sorted by name.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &RelPath> {
        self.dirs.keys()
    }

    pub(crate) fn has(&self, key: &[u8]) -> bool {
        self.dirs.contains_key(key)
    }

    /// The nearest one that a path is below, or is.
    pub(crate) fn around(&self, key: &[u8]) -> Option<ClosedDir> {
        nearest(&self.dirs, key)
    }

    /// The same before the last look.
    pub(crate) fn was_around(&self, key: &[u8]) -> Option<ClosedDir> {
        nearest(&self.before, key)
    }

    /// A look at the whole tree at `root` began at `began`; the one before it, if there was one, at `before`.
    pub(crate) fn passed(
        &mut self,
        (walked, root): (&Walked, &Path),
        began: Time,
        before: Option<Time>,
    ) -> Result<(), ReviewError> {
        let mut reader = Reader::new(root);
        let mut changed = |key: &[u8]| Some(reader.stat(key).ok()??.ctime);
        let is_closed = |key: &[u8]| walk::parents(key).chain([key]).any(|dir| walked.has_closed(dir));
        let mut dirs = self.dirs.clone();
        dirs.retain(|key, _| walked.cut || is_closed(key));
        for key in &walked.unreadable {
            // One below another that was closed was closed with it.
            let open = self.around(key).map_or(before, |dir| dir.open);
            let new = || ClosedDir { open, until: began, changed: changed(key).filter(|_| open.is_none()) };
            dirs.entry(key.clone()).or_insert_with(new);
        }
        let mut late = BTreeMap::new();
        for (key, dir) in &mut dirs {
            // Closed again, perhaps. Only its owner, or root, opens one.
            let now = dir.changed.and_then(|_| changed(key));
            if now.is_some() && now != dir.changed {
                if walk::is_ours(&root.join(walk::path(key))) {
                    late.insert(key.clone(), dir.until);
                }
                dir.changed = now;
            }
            dir.until = began;
        }
        self.put(dirs, late)
    }

    /// A look at everything in these directories is over.
    pub(crate) fn looked_into(&mut self, asked: &[RelPath], walked: &Walked) -> Result<(), ReviewError> {
        let is_in = |key: &[u8], dir: &RelPath| walk::parents(key).chain([key]).any(|above| *above == **dir);
        let is_closed = |key: &[u8]| walk::parents(key).chain([key]).any(|dir| walked.has_closed(dir));
        let mut dirs = self.dirs.clone();
        dirs.retain(|key, _| walked.cut || is_closed(key) || !asked.iter().any(|dir| is_in(key, dir)));
        for key in &walked.unreadable {
            if let Some(dir) = self.around(key) {
                dirs.entry(key.clone()).or_insert(dir);
            }
        }
        self.put(dirs, BTreeMap::new())
    }

    /// `late` are those that are closed, and may have been open meanwhile.
    fn put(
        &mut self,
        dirs: BTreeMap<RelPath, ClosedDir>,
        mut late: BTreeMap<RelPath, Time>,
    ) -> Result<(), ReviewError> {
        self.before.clone_from(&self.dirs);
        let is_late = |(key, dir): &(&RelPath, &ClosedDir)| dir.open.is_none() && !dirs.contains_key(*key);
        late.extend(self.dirs.iter().filter(is_late).map(|(key, dir)| (key.clone(), dir.until)));
        late.retain(|key, _| !self.late.contains_key(key));
        if !late.is_empty() {
            self.late.append(&mut late);
            let rows: Vec<(&[u8], Time)> = self.late.iter().map(|(key, until)| (&**key, *until)).collect();
            write_json(&self.store.join(LATE_FILE), &rows)?;
        }
        // Somebody may have removed it.
        let is_there = || dirs.is_empty() || self.store.join(FILE).symlink_metadata().is_ok();
        if dirs != self.dirs || !is_there() {
            let rows: Vec<(&[u8], &ClosedDir)> = dirs.iter().map(|(key, dir)| (&**key, dir)).collect();
            write_json(&self.store.join(FILE), &rows)?;
            self.dirs = dirs;
        }
        Ok(())
    }

    /// As without permission, also for root.
    #[cfg(test)]
    pub(crate) fn close(&mut self, key: &[u8]) {
        self.dirs.insert(key.into(), ClosedDir { open: None, until: Time::default(), changed: None });
    }
}

fn nearest(dirs: &BTreeMap<RelPath, ClosedDir>, key: &[u8]) -> Option<ClosedDir> {
    walk::parents(key).chain([key]).filter_map(|dir| dirs.get(dir)).last().copied()
}
