//! Who may use a worktree right now: sessions that are just opening in one, or who is about to remove it.
//!
//! Told by a lock on its record. Invariant: nobody removes a worktree while a session opens in it, and no session begins
//! to open in one that is being removed.

use super::{Outcome, RECORD, Worktree, below, io_at, refused};
use crate::host::fs::open_regular;
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::path::{Component, Path, PathBuf};

/// A session opens in a worktree. To be held until that can be seen otherwise, by the lock of its review.
#[derive(Debug)]
pub struct Opening(File);

/// A worktree is being removed.
#[derive(Debug)]
pub struct Removal(File);

impl Opening {
    /// Of a session in `dir`, a real path; nothing when that is in no worktree of ours.
    pub fn at(state: &Path, dir: &Path) -> Outcome<Option<Self>> {
        let Some(record) = record_of(state, dir) else { return Ok(None) };
        let file = match open_regular(&record) {
            Ok(file) => file,
            // It is none of ours, or has just been removed.
            Err(_) if dir.is_dir() => return Ok(None),
            Err(error) => return Err(io_at(dir)(error)),
        };
        let opening = Self::of(file, &record)?;
        // It may have been removed before.
        if dir.is_dir() { Ok(Some(opening)) } else { refused(format!("{} has just been discarded", dir.display())) }
    }

    pub(super) fn of(record: File, path: &Path) -> Outcome<Self> {
        match record.try_lock_shared() {
            Ok(()) => Ok(Self(record)),
            Err(TryLockError::WouldBlock) => refused(format!(
                "{} is just being discarded; nothing can be opened in it",
                path.with_extension("").display()
            )),
            Err(TryLockError::Error(error)) => Err(io_at(path)(error)),
        }
    }
}

impl Removal {
    /// Refused while a session opens in it.
    pub fn of(worktree: &Worktree) -> Outcome<Self> {
        let path = worktree.path.with_file_name(format!("{}.{RECORD}", worktree.name));
        let record = open_regular(&path).map_err(io_at(&path))?;
        match record.try_lock() {
            Ok(()) => Ok(Self(record)),
            Err(TryLockError::WouldBlock) => {
                refused(format!("a session is just opening in worktree {}; close it first", worktree.name))
            }
            Err(TryLockError::Error(error)) => Err(io_at(&path)(error)),
        }
    }
}

// A copy of the descriptor may be open for a moment, in a child that another thread starts.
impl Drop for Opening {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl Drop for Removal {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// The record of the worktree that a directory is in.
fn record_of(state: &Path, dir: &Path) -> Option<PathBuf> {
    let all = fs::canonicalize(below(state)).ok()?;
    let mut names = dir.strip_prefix(&all).ok()?.components();
    let (Component::Normal(place), Component::Normal(name)) = (names.next()?, names.next()?) else { return None };
    let mut record = OsString::from(name);
    record.push(format!(".{RECORD}"));
    Some(all.join(place).join(record))
}
