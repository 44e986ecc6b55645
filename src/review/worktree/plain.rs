//! Opening what has to be a plain file before anything is read of it: rules, and git's own files.
//!
//! Knows nothing of what is in them. Such files lie where anybody may have put something else under their name.
//! Invariant: nothing is opened that is no plain file, no opening and no reading waits, and no more is read than was
//! asked for.

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, openat, statat};
use rustix::io::Errno;
use std::fmt;
use std::fs::{File, Metadata};
use std::io::Read as _;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;

/// Whether a link at the end of a path leads on. Git itself follows none to the rules of a working tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Links {
    Refused,
    Followed,
}

/// A file by its device and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileId(u64, u64);

impl FileId {
    pub(crate) fn of(meta: &Metadata) -> Self {
        Self(meta.dev(), meta.ino())
    }
}

/// Why a file is of no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Odd {
    /// A FIFO, a device, a directory, a socket, a link that leads nowhere.
    NotPlain,
    Link,
    /// It has more bytes than this.
    Large(u64),
    /// It cannot be read.
    Unreadable,
    /// It is not what it should be.
    Broken,
    /// So many bytes of it are more patterns than are applied.
    Patterns(usize),
}

impl fmt::Display for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPlain => f.write_str("no plain file"),
            Self::Link => f.write_str("a link"),
            Self::Large(limit) if *limit < 1 << 20 => write!(f, "larger than {} KiB", limit >> 10),
            Self::Large(limit) => write!(f, "larger than {} MiB", limit >> 20),
            Self::Unreadable => f.write_str("cannot be read"),
            Self::Broken => f.write_str("cannot be understood"),
            Self::Patterns(limit) => write!(f, "has more than {} KiB of patterns", limit >> 10),
        }
    }
}

impl From<Errno> for Odd {
    fn from(error: Errno) -> Self {
        match error {
            // What was looked at has become something else.
            Errno::LOOP | Errno::NXIO | Errno::NODEV | Errno::ISDIR => Self::NotPlain,
            _ => Self::Unreadable,
        }
    }
}

/// Opens a plain file of at most `limit` bytes; `None` when there is nothing.
fn open(dir: BorrowedFd<'_>, path: &Path, links: Links, limit: u64) -> Result<Option<(File, u64)>, Odd> {
    let (at, follow) = match links {
        Links::Refused => (AtFlags::SYMLINK_NOFOLLOW, OFlags::NOFOLLOW),
        Links::Followed => (AtFlags::empty(), OFlags::empty()),
    };
    // To open a device may do something already.
    let stat = match statat(dir, path, at) {
        Ok(stat) => stat,
        Err(Errno::NOENT) if links == Links::Followed => {
            let dangling = statat(dir, path, AtFlags::SYMLINK_NOFOLLOW).is_ok();
            return if dangling { Err(Odd::NotPlain) } else { Ok(None) };
        }
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(e) => return Err(e.into()),
    };
    usable(&stat, limit)?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | follow;
    let fd = match openat(dir, path, flags, Mode::empty()) {
        Ok(fd) => fd,
        Err(Errno::NOENT) => return Ok(None),
        Err(e) => return Err(e.into()),
    };
    let size = usable(&fstat(&fd)?, limit)?;
    Ok(Some((File::from(fd), size)))
}

fn usable(stat: &rustix::fs::Stat, limit: u64) -> Result<u64, Odd> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        FileType::Symlink => return Err(Odd::Link),
        _ => return Err(Odd::NotPlain),
    }
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    if size > limit { Err(Odd::Large(limit)) } else { Ok(size) }
}

/// A plain file that is read in pieces, however large it is; `None` when there is nothing.
pub(crate) fn open_file(path: &Path, links: Links) -> Result<Option<File>, Odd> {
    Ok(open(CWD, path, links, u64::MAX)?.map(|(file, _)| file))
}

/// Bytes from a place in a file on, as many as there is room for or it has; where it is read otherwise does not change.
pub(crate) fn read_at(file: &File, bytes: &mut [u8], at: u64) -> Option<usize> {
    let mut length = 0;
    while length < bytes.len() {
        match file.read_at(bytes.get_mut(length..)?, at.checked_add(length as u64)?).ok()? {
            0 => break,
            read => length += read,
        }
    }
    Some(length)
}

/// The bytes of a plain file; `None` when there is nothing.
pub(crate) fn read_in(dir: impl AsFd, path: &Path, links: Links, limit: u64) -> Result<Option<Vec<u8>>, Odd> {
    let Some((file, size)) = open(dir.as_fd(), path, links, limit)? else { return Ok(None) };
    let mut bytes = Vec::with_capacity(size as usize + 1);
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|_| Odd::Unreadable)?;
    if bytes.len() as u64 > limit { Err(Odd::Large(limit)) } else { Ok(Some(bytes)) }
}

/// The same, for a path by itself.
pub(crate) fn read(path: &Path, links: Links, limit: u64) -> Result<Option<Vec<u8>>, Odd> {
    read_in(CWD, path, links, limit)
}

#[cfg(test)]
#[path = "plain_tests.rs"]
mod tests;
