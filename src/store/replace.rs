//! A file written in one step: a reader finds the old one or the new one, whole.
//!
//! For the owner alone, in directories that are the person's or the program's own; what lies in a workspace is for
//! `host::fs`. Invariants: one that is dropped before its end leaves the old file as it was and nothing beside it; what a
//! process that was killed has left there is told from what is being written by a lock.

use super::lines;
use super::lock::Lock;
use super::private::sync_all;
use std::fs::{File, Metadata, read_dir, remove_file};
use std::io::{self, BufWriter, IntoInnerError, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// What outlives the machine going down right afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Nothing is promised: what is lost can be made anew, or costs little.
    None,
    /// There is the old file or the new one, whole.
    Whole,
    /// There is the new file.
    New,
}

/// What names begin with until the file is whole, and how long they are.
const BEGUN: &str = ".tmp";
const RANDOM: usize = 6;

#[derive(Debug)]
pub struct Replacement {
    out: BufWriter<NamedTempFile>,
    path: PathBuf,
}

impl Replacement {
    /// Begins what is to take the place of `path`, in a directory that is there.
    pub fn of(path: &Path) -> io::Result<Self> {
        let out = loop {
            let out = Builder::new().prefix(BEGUN).rand_bytes(RANDOM).tempfile_in(directory(path))?;
            // On a disk without locks none is taken for one that was left behind.
            let _ = out.as_file().lock();
            // It was, before it was locked.
            if out.as_file().metadata()?.nlink() > 0 {
                break out;
            }
        };
        Ok(Self { out: BufWriter::new(out), path: path.to_owned() })
    }

    /// Puts what was written in its place.
    pub fn finish(self, durability: Durability) -> io::Result<()> {
        self.put(durability, |_| Ok(()))
    }

    /// The same, with the mode and the time of another file.
    pub fn finish_like(self, other: &Metadata, durability: Durability) -> io::Result<()> {
        self.put(durability, |file| {
            file.set_permissions(other.permissions())?;
            file.set_modified(other.modified()?)
        })
    }

    fn put(self, durability: Durability, prepare: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
        let file = self.out.into_inner().map_err(IntoInnerError::into_error)?;
        prepare(file.as_file())?;
        if durability != Durability::None {
            sync_all(file.as_file())?;
        }
        let file = file.persist(&self.path).map_err(|error| error.error)?;
        // A child that another thread starts now has a copy of the descriptor.
        let _ = file.unlock();
        if durability == Durability::New { sync_dir(directory(&self.path)) } else { Ok(()) }
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Removes what processes that were killed have left in a directory of files they had begun to write. Nothing is waited for;
/// what cannot be removed stays for the next time.
pub fn take_left_behind(dir: &Path) {
    for entry in read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_begun = name.to_str().is_some_and(|name| name.starts_with(BEGUN) && name.len() == BEGUN.len() + RANDOM);
        let file = is_begun.then(|| lines::open(&entry.path()).ok()).flatten();
        // Held until it is gone: one that is just being begun is begun anew.
        if let Some(_lock) = file.and_then(|file| Lock::take(file).ok()) {
            let _ = remove_file(entry.path());
        }
    }
}

/// Makes the names in a directory durable.
pub fn sync_dir(dir: &Path) -> io::Result<()> {
    sync_all(&File::open(dir)?)
}

fn directory(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_file_stays_until_the_new_one_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, "old").unwrap();
        for durability in [Durability::None, Durability::Whole, Durability::New] {
            let mut broken_off = Replacement::of(&path).unwrap();
            broken_off.write_all(b"half").unwrap();
            drop(broken_off);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
            let mut new = Replacement::of(&path).unwrap();
            new.write_all(format!("{durability:?}").as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
            new.finish(durability).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{durability:?}"));
            std::fs::write(&path, "old").unwrap();
        }
        assert_eq!(dir.path().read_dir().unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn what_a_killed_process_has_left_goes_and_what_is_being_written_stays() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in [".tmpAbCdEf", ".tmpAbCdEfG", "tmpAbCdEf1", "a.jsonl"] {
            std::fs::write(at(name), "text").unwrap();
        }
        std::fs::create_dir(at(".tmpFolder")).unwrap();
        std::os::unix::fs::symlink(at("a.jsonl"), at(".tmpLinked")).unwrap();
        let mut new = Replacement::of(&at("f")).unwrap();
        new.write_all(b"new").unwrap();
        take_left_behind(dir.path());
        new.finish(Durability::None).unwrap();
        let mut left: Vec<_> = dir.path().read_dir().unwrap().map(|e| e.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [".tmpAbCdEfG", ".tmpFolder", ".tmpLinked", "a.jsonl", "f", "tmpAbCdEf1"]);
        assert!(!crate::store::lock::is_locked(&File::open(at("f")).unwrap()));
    }
}
