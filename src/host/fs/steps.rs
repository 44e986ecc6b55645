//! Directories from one handle to the next: the one walk by which what is below a root is reached.
//!
//! Says nothing of what may be opened. Invariant: no step goes through a link, and no opening waits (a FIFO would).

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Dir, Mode, OFlags, Stat, lstat, open, openat};
use rustix::io::Errno;
use rustix::path::Arg;

/// A handle to walk from needs no permission to list.
#[cfg(any(target_os = "linux", target_os = "android"))]
const WALK: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const WALK: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// To read a file that stands where it is named.
pub const READ: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// Tells files apart by more than their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inode {
    device: u64,
    pub number: u64,
}

impl Inode {
    pub(super) fn of(stat: &Stat) -> Self {
        Self { device: stat.st_dev as _, number: stat.st_ino as _ }
    }

    /// What is at a path now; no link is followed at its end.
    pub(super) fn at(path: &Path) -> Option<Self> {
        lstat(path).ok().map(|stat| Self::of(&stat))
    }
}

/// The directory to begin at.
pub fn begin(root: &Path) -> Result<OwnedFd, Errno> {
    open(root, WALK, Mode::empty())
}

/// The directory of this name in another.
pub fn step(dir: impl AsFd, name: impl Arg) -> Result<OwnedFd, Errno> {
    openat(dir, name, WALK, Mode::empty())
}

/// The names in a directory; nothing where not all of them can be read.
pub fn names(dir: impl AsFd) -> Option<Vec<Box<[u8]>>> {
    // A handle to walk from is none to list.
    let dir = openat(dir, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut names = Vec::new();
    for entry in Dir::read_from(dir).ok()? {
        names.push(entry.ok()?.file_name().to_bytes().into());
    }
    Some(names)
}
