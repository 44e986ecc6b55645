//! Puts a path beneath a root into a given state: a file, a link, or nothing.
//!
//! Decides nothing about what may be written (the review does) and keeps no state. Invariants: whoever looks sees the
//! old or the new, also when the process is killed halfway; no link is followed, neither on the way nor at the end.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, openat, statat, unlinkat};
use rustix::io::Errno;

use super::beneath::{Missing, open_parent, regular};
use super::write::{replace, replace_by_link};
use super::{FsError, Resolved};

/// Directories in directories that are taken away for a file.
const MAX_DEPTH: usize = 100;

/// What is to be at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put<'a> {
    Absent,
    File {
        bytes: &'a [u8],
        /// Permission bits, at most 0o7777; set as they are, whatever the mask of the process.
        mode: u32,
    },
    Link {
        target: &'a [u8],
    },
}

/// Replaces what is at `below` (names only, no `..`) beneath `root`, a real path. Missing parents are created for a
/// file or link, and empty ones stay, but for one at the path itself, which gives way. A regular file that is replaced hands on its group and extended attributes. That
/// it may not be written protects a file from agents and not from the person's decision: it is replaced.
///
/// # Errors
/// Outside: `below` has other things than names, or a link is on the way. Something that is neither a regular file nor
/// a link is in the way, such as a directory that holds something. What the operating system says.
pub fn put(root: &Path, below: &Path, what: &Put<'_>) -> Result<(), FsError> {
    let at = beneath(root, below)?;
    let missing = if *what == Put::Absent { Missing::Refuse } else { Missing::Create };
    let (dir, name) = match open_parent(&at, missing) {
        Ok(found) => found,
        Err(error) if *what == Put::Absent && is_nowhere(&error) => return Ok(()),
        Err(error) => return Err(error),
    };
    if *what != Put::Absent {
        clear(&dir, &name);
    }
    let old = standing(&at, &dir, &name)?;
    let done = match what {
        Put::Absent => match unlinkat(&dir, name.as_os_str(), AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(e) => Err(e.into()),
        },
        Put::File { bytes, mode } => {
            let file = old.filter(|stat| FileType::from_raw_mode(stat.st_mode).is_file());
            let mode = Mode::from_raw_mode((mode & 0o7777) as _);
            replace(&dir, &name, file.as_ref(), Some(mode), |file| file.write_all(bytes))
        }
        Put::Link { target } => replace_by_link(&dir, &name, OsStr::from_bytes(target)),
    };
    done.map_err(|e| FsError::os(&at.asked, e))
}

fn beneath(root: &Path, below: &Path) -> Result<Resolved, FsError> {
    let asked = root.join(below);
    let mut names = Vec::new();
    for component in below.components() {
        match component {
            Component::Normal(name) => names.push(name.to_owned()),
            _ => return Err(FsError::Outside(asked)),
        }
    }
    Ok(Resolved { real: asked.clone(), asked, root: root.to_owned(), names })
}

/// A parent is missing, or is no directory: then there is nothing at the path.
fn is_nowhere(error: &FsError) -> bool {
    match error {
        FsError::NotFound(_) => true,
        FsError::Os { source, .. } => source.kind() == std::io::ErrorKind::NotADirectory,
        _ => false,
    }
}

/// Takes a directory away that holds nothing but empty directories; any other stays as it is, and is in the way.
fn clear(dir: &OwnedFd, name: &OsStr) {
    if let Some(inner) = hollow(dir, name, MAX_DEPTH) {
        for below in inner.iter().chain([&Vec::new()]) {
            let path: PathBuf = std::iter::once(name).chain(below.iter().map(OsString::as_os_str)).collect();
            // It fails when something has come into it meanwhile.
            let _ = unlinkat(dir, &path, AtFlags::REMOVEDIR);
        }
    }
}

/// The directories below a directory, the innermost first; nothing when there is anything else.
fn hollow(dir: &OwnedFd, name: &OsStr, depth: usize) -> Option<Vec<Vec<OsString>>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let inner = openat(dir, name, flags, Mode::empty()).ok()?;
    let mut out = Vec::new();
    for entry in Dir::read_from(&inner).ok()? {
        let entry = entry.ok()?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        let below = hollow(&inner, name, depth.checked_sub(1)?)?;
        let under = |path: Vec<OsString>| [vec![name.to_owned()], path].concat();
        out.extend(below.into_iter().map(under));
        out.push(vec![name.to_owned()]);
    }
    Some(out)
}

/// What is at the path now, if anything. Refuses all but regular files and links.
fn standing(at: &Resolved, dir: &OwnedFd, name: &OsStr) -> Result<Option<Stat>, FsError> {
    match statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode).is_symlink() => Ok(Some(stat)),
        Ok(stat) => regular(at, &stat).map(|()| Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(e) => Err(FsError::os(&at.asked, e)),
    }
}

#[cfg(test)]
#[path = "put_tests.rs"]
mod tests;
