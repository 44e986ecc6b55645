//! A file written in one step: a reader finds the old one or the new one, whole.
//!
//! For the owner alone, in directories that are the person's or the program's own; what lies in a workspace is for
//! `host::fs`. Invariant: one that is dropped before its end leaves the old file as it was and nothing beside it.

use std::fs::{File, Metadata};
use std::io::{self, BufWriter, IntoInnerError, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

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

#[derive(Debug)]
pub struct Replacement {
    out: BufWriter<NamedTempFile>,
    path: PathBuf,
}

impl Replacement {
    /// Begins what is to take the place of `path`, in a directory that is there.
    pub fn of(path: &Path) -> io::Result<Self> {
        let out = BufWriter::new(NamedTempFile::new_in(directory(path))?);
        Ok(Self { out, path: path.to_owned() })
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
            file.as_file().sync_all()?;
        }
        file.persist(&self.path).map_err(|error| error.error)?;
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

/// Makes the names in a directory durable.
pub fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
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
}
