//! Writing what was decided, file by file.
//!
//! The part of [`Tracker`] that changes the workspace; what to write is decided elsewhere. Invariants: only what was
//! decided about is replaced, also when it is saved by somebody else in the middle of the write; names of one file stay
//! names of one file where they are decided alike.

use super::error::ReviewError;
use super::expected::expected;
use super::ledger::ActFile;
use super::state::State;
use super::tracker::Tracker;
use crate::host::fs::{self, FsError, Inode, Put};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// What is known while one decision is carried out.
#[derive(Default)]
pub struct Writing {
    /// What there is to say about a file, in words.
    remarks: BTreeMap<PathBuf, String>,
    /// Files with several names of which some were replaced: one of those, what it is now, and how many names are left.
    twins: HashMap<Inode, (PathBuf, State, u64)>,
}

impl Writing {
    pub fn begin(&mut self) {
        *self = Self::default();
    }

    pub fn remark(&self, path: &Path) -> Option<String> {
        self.remarks.get(path).cloned().or_else(|| self.apart(path))
    }

    /// A file that has other names that are not part of the decision.
    fn apart(&self, path: &Path) -> Option<String> {
        let left = self.twins.values().find(|(first, ..)| first == path).map(|(.., left)| *left)?;
        (left > 0).then(|| format!("apart from {left} other hard link{} of it", if left == 1 { "" } else { "s" }))
    }

    /// What could not be kept of files that were written, for the end of a sentence.
    pub fn lost(&self) -> String {
        let names = self.remarks.keys().chain(self.twins.values().map(|(path, ..)| path));
        let words =
            names.filter_map(|path| Some(format!("; {}: {}", super::deciding::shown(path), self.remark(path)?)));
        words.collect()
    }
}

impl Tracker {
    /// Puts a file into its new state, if it still has the old one.
    pub(super) fn write(&mut self, file: &ActFile) -> Result<(), ReviewError> {
        let (before, after) = &file.disk;
        if before == after {
            return Ok(());
        }
        let bytes = self.files.content(after).map_err(|e| e.of(&file.path))?;
        let moved = |writing: &mut Writing| {
            writing.remarks.insert(file.path.clone(), "changed meanwhile, nothing was written".to_owned());
            ReviewError::Moved(file.path.clone())
        };
        let disk = self.files.shadow.peek(&file.path)?.0;
        if disk == *after {
            // Somebody else has done it.
            return self.files.shadow.set(&file.path, *after);
        }
        if disk != *before {
            return Err(moved(&mut self.writing));
        }
        let what = match after {
            State::Absent => Put::Absent,
            State::File { mode, .. } => Put::File { bytes: &bytes, mode: *mode },
            State::Link { .. } => Put::Link { target: &bytes },
            State::Unkept { .. } => return Err(ReviewError::NotKept(file.path.clone())),
        };
        // Compared once more right before and after it gets there: somebody may save it at any time.
        match self.put(&file.path, before, after, &what) {
            Ok(lost) if lost.is_empty() => {}
            Ok(lost) => {
                self.writing.remarks.insert(file.path.clone(), lost.join(", "));
            }
            Err(FsError::Changed(_)) => return Err(moved(&mut self.writing)),
            Err(FsError::ChangedTwice { beside, .. }) => {
                let why = format!("saved twice meanwhile, nothing was written; the first is in {}", beside.display());
                self.writing.remarks.insert(file.path.clone(), why.clone());
                return Err(ReviewError::Conflict { path: file.path.clone(), why });
            }
            Err(error) => return Err(ReviewError::Refused(error.to_string())),
        }
        self.files.shadow.set(&file.path, *after)
    }

    /// As another name of a file that was just written, when it was one before; else by itself.
    fn put(&mut self, path: &Path, before: &State, after: &State, what: &Put<'_>) -> Result<Vec<String>, FsError> {
        let root = self.files.shadow.root();
        let is_file = matches!(what, Put::File { .. });
        let inode = fs::inode(root, path).filter(|_| is_file);
        let twin = inode.and_then(|(inode, _)| self.writing.twins.get_mut(&inode));
        if let Some((first, state, left)) = twin
            && state == after
        {
            let linked = expected(after, |is| expected(before, |was| fs::link(root, path, first, is, was)));
            match linked {
                Ok(()) => {
                    *left = left.saturating_sub(1);
                    return Ok(Vec::new());
                }
                Err(error @ FsError::ChangedTwice { .. }) => return Err(error),
                // By itself, then; that says so when it has changed.
                Err(_) => {}
            }
        }
        let lost = expected(before, |was| fs::put(root, path, what, was))?;
        if let Some((inode, names)) = inode
            && names > 1
        {
            self.writing.twins.entry(inode).or_insert_with(|| (path.to_owned(), *after, names - 1));
        }
        Ok(lost)
    }
}

#[cfg(test)]
#[path = "writing_tests.rs"]
mod tests;
