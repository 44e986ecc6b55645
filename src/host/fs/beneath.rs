//! Opening what a `Resolved` names: from the root, name by name, following no link.
//!
//! The check of the policy and the opening are two moments. Because every name is opened relative to the handle
//! of its directory and never through a link, a path swapped in between leads to an error, not outside.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, Mode, Stat, fstat, mkdirat, openat, statat};
use rustix::io::Errno;

use super::steps::{self, Inode, READ};
use super::{FsError, Resolved};

/// What to do with a directory that is not there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    Refuse,
    Create,
}

/// The handle of the directory that holds the file, and the file's name in it.
pub(super) fn open_parent(at: &Resolved, missing: Missing) -> Result<(OwnedFd, OsString), FsError> {
    let Some((name, parents)) = at.names.split_last() else {
        return Err(FsError::IsDirectory(at.asked.clone()));
    };
    let mut dir = begin(at)?;
    for parent in parents {
        dir = match steps::step(&dir, parent.as_os_str()) {
            Ok(next) => next,
            Err(Errno::NOENT) if missing == Missing::Create => {
                match mkdirat(&dir, parent.as_os_str(), Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(e) => return Err(FsError::os(&at.asked, e)),
                }
                steps::step(&dir, parent.as_os_str()).map_err(|e| swapped(at, &dir, parent, e))?
            }
            Err(e) => return Err(swapped(at, &dir, parent, e)),
        };
    }
    Ok((dir, name.clone()))
}

/// The root, as long as it is the directory that it was.
fn begin(at: &Resolved) -> Result<OwnedFd, FsError> {
    let open = steps::begin(&at.root).and_then(|dir| Ok((Inode::of(&fstat(&dir)?), dir)));
    let (is, dir) = open.map_err(|e| FsError::os(&at.asked, e))?;
    if at.pin.is_some_and(|pin| pin != is) {
        return Err(FsError::Replaced(at.root.clone()));
    }
    Ok(dir)
}

/// A link where the policy saw none was put there in between: that is a refusal, not an error of the system.
fn swapped(at: &Resolved, dir: &OwnedFd, name: &OsStr, error: Errno) -> FsError {
    match statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode).is_symlink() => FsError::Outside(at.asked.clone()),
        _ => FsError::os(&at.asked, error),
    }
}

/// What stands at `name`, if anything. Refuses all but regular files.
pub(super) fn stat_regular(at: &Resolved, dir: &OwnedFd, name: &OsStr) -> Result<Option<Stat>, FsError> {
    match statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => regular(at, &stat).map(|()| Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(e) => Err(FsError::os(&at.asked, e)),
    }
}

/// Opens a regular file for reading, and nothing else; never waits (a FIFO would).
pub(super) fn open_regular(at: &Resolved, dir: &OwnedFd, name: &OsStr) -> Result<(File, Stat), FsError> {
    let before = stat_regular(at, dir, name)?.ok_or_else(|| FsError::NotFound(at.asked.clone()))?;
    let fd = openat(dir, name, READ, Mode::empty()).map_err(|e| swapped(at, dir, name, e))?;
    let after = fstat(&fd).map_err(|e| FsError::os(&at.asked, e))?;
    regular(at, &after)?;
    if (before.st_dev, before.st_ino) != (after.st_dev, after.st_ino) {
        return Err(FsError::os(&at.asked, Errno::AGAIN));
    }
    Ok((File::from(fd), after))
}

pub(super) fn regular(at: &Resolved, stat: &Stat) -> Result<(), FsError> {
    let what = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => return Ok(()),
        FileType::Directory => return Err(FsError::IsDirectory(at.asked.clone())),
        FileType::Symlink => return Err(FsError::Outside(at.asked.clone())),
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "something unknown",
    };
    Err(FsError::NotRegular { path: at.asked.clone(), what })
}
