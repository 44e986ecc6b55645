//! Puts a path beneath a root into a given state: a file, a link, or nothing.
//!
//! Decides nothing about what may be written (the review does) and keeps no state. Invariants: a reader sees the
//! old or the new, also when the process is killed halfway; no link is followed, neither on the way nor at the end.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{
    AtFlags, Dir, FileType, Gid, Mode, OFlags, Stat, Uid, fchown, fstat, mkdirat, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;

use super::beneath::{Missing, open_parent, regular, stat_regular};
use super::steps::{self, Inode};
use super::swap::{Refusal, Was, beside, put_link, rename_by_way, take_away};
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
        /// Permission bits, at most 0o7777; set as they are, without the mask of the process.
        mode: u32,
    },
    Link {
        target: &'a [u8],
    },
}

/// What has become of the old.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// What of it could not be kept, in words.
    pub lost: Vec<String>,
    /// Where it is now, beneath the root, when it was not removed.
    pub stays: Option<PathBuf>,
}

/// Replaces what is at `below` (names only, no `..`) beneath `root`, a real path, when it is what was expected. Missing
/// parents are created for a file or link, and empty ones stay, but for one at the path itself, which gives way. A
/// regular file that is replaced hands on its owner, group and extended attributes. That it may not be written protects a file from agents and not from the person's
/// decision: it is replaced.
///
/// # Errors
/// Changed: something else is there than was expected, and stays. Outside: `below` has other things than names, or a
/// link is on the way. Something that is neither a regular file nor a link is in the way, such as a directory that
/// holds something. What the operating system says.
pub fn put(root: &Path, below: &Path, what: &Put<'_>, was: &Was<'_>) -> Result<Done, FsError> {
    let at = beneath(root, below)?;
    let missing = if *what == Put::Absent { Missing::Refuse } else { Missing::Create };
    let (dir, name) = match open_parent(&at, missing) {
        Ok(found) => found,
        Err(error) if *what == Put::Absent && is_nowhere(&error) => return Ok(Done::default()),
        Err(error) => return Err(error),
    };
    if *what != Put::Absent {
        clear(&dir, &name);
    }
    let old = standing(&at, &dir, &name)?;
    let done = match what {
        Put::Absent => take_away(&dir, &name, was).map(|stays| (Vec::new(), stays)),
        Put::File { bytes, mode } => {
            let file = old.filter(|stat| FileType::from_raw_mode(stat.st_mode).is_file());
            let mode = Mode::from_raw_mode((mode & 0o7777) as _);
            let mut given = Vec::new();
            let fill = |new: &mut File| {
                if file.is_none() {
                    given = give_to_owner(&dir, new)?;
                }
                new.write_all(bytes)
            };
            let done = replace(&dir, &name, file.as_ref(), Some(mode), was, fill);
            done.map(|(lost, stays)| ([given, lost].concat(), stays))
        }
        Put::Link { target } => {
            replace_by_link(&dir, &name, OsStr::from_bytes(target), was).map(|stays| (Vec::new(), stays))
        }
    };
    let (lost, stays) = done.map_err(|e| e.about(&at.asked))?;
    Ok(Done { lost, stays: stays.map(|name| below.with_file_name(name)) })
}

/// Makes a directory beneath a root where its parent is, with at most these permissions.
///
/// # Errors
/// There is something, or a link is on the way. What the operating system says.
pub fn make_dir(root: &Path, below: &Path, mode: u32) -> Result<(), FsError> {
    let at = beneath(root, below)?;
    let (dir, name) = open_parent(&at, Missing::Refuse)?;
    mkdirat(&dir, &name, Mode::from_raw_mode((mode & 0o777) as _)).map_err(|e| FsError::os(&at.asked, e))
}

/// Which regular file is at `below` beneath `root`, and how many names it has.
pub fn inode(root: &Path, below: &Path) -> Option<(Inode, u64)> {
    let at = beneath(root, below).ok()?;
    let (dir, name) = open_parent(&at, Missing::Refuse).ok()?;
    let stat = stat_regular(&at, &dir, &name).ok()??;
    Some((Inode::of(&stat), stat.st_nlink as _))
}

/// Makes `below` another name of the file at `first`, when both are what is expected.
pub fn link(root: &Path, below: &Path, first: &Path, is: &Was<'_>, was: &Was<'_>) -> Result<(), FsError> {
    let (at, first) = (beneath(root, below)?, beneath(root, first)?);
    let (dir, name) = open_parent(&at, Missing::Refuse)?;
    let (from, first_name) = open_parent(&first, Missing::Refuse)?;
    put_link(&dir, &name, (&from, &first_name), is, was).map_err(|e| e.about(&at.asked))
}

/// Gives what is at `from` beneath `root` another spelling of its name, where the file system finds the same by both.
///
/// # Errors
/// Changed: these are two places, or nothing is there. What the operating system says.
pub fn respell(root: &Path, from: &Path, to: &OsStr) -> Result<(), FsError> {
    let at = beneath(root, from)?;
    let (dir, name) = open_parent(&at, Missing::Refuse)?;
    let is_there = |name: &OsStr| statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW).is_ok();
    // What is found and not listed is found by another spelling.
    if !is_there(&name) || !is_there(to) || lists(&dir, to) {
        return Err(FsError::Changed(at.asked));
    }
    let renamed = renameat(&dir, &name, &dir, to).map_err(Refusal::from);
    // Some file systems take that for nothing to do.
    let renamed = renamed.and_then(|()| if lists(&dir, to) { Ok(()) } else { rename_by_way(&dir, &name, to) });
    renamed.map_err(|e| e.about(&at.asked))
}

fn lists(dir: &OwnedFd, name: &OsStr) -> bool {
    steps::names(dir).is_some_and(|names| names.iter().any(|is| **is == *name.as_bytes()))
}

/// Gives what a killed program has left under a name of ours one that everybody sees, beside `below`. The error says
/// which.
pub fn bring_beside(root: &Path, below: &Path, swap: &OsStr) -> Result<(), FsError> {
    let at = beneath(root, below)?;
    let (dir, name) = open_parent(&at, Missing::Refuse)?;
    Err(beside(&dir, swap, &name).about(&at.asked))
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
    Ok(Resolved { real: asked.clone(), asked, root: root.to_owned(), pin: None, names })
}

/// Whose a file was that is not there any more is not known: most probably that of its directory. In words, when that
/// is another user than the one that runs this.
fn give_to_owner(dir: &OwnedFd, file: &File) -> io::Result<Vec<String>> {
    let (ours, dir) = (fstat(file)?, statat(dir, ".", AtFlags::empty())?);
    if ours.st_uid == dir.st_uid {
        return Ok(Vec::new());
    }
    let given = fchown(file, Some(Uid::from_raw(dir.st_uid)), Some(Gid::from_raw(dir.st_gid)));
    let words = match given {
        Ok(()) => format!("owner {} and group {} as of its directory", dir.st_uid, dir.st_gid),
        Err(_) => format!("owner {} and group {}", ours.st_uid, ours.st_gid),
    };
    Ok(vec![words])
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
