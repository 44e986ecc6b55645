//! `fs/write_text_file`: replaces the content of a file as one step.
//!
//! The new content goes to a temporary file beside the old one, which a rename then replaces; links are already
//! followed, so they stay links. Invariant: a failure at any point leaves the old file and no temporary one.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    Access, AtFlags, Gid, Mode, OFlags, Stat, accessat, fchmod, fchown, openat, renameat, symlinkat, unlinkat,
};
use rustix::io::Errno;

use super::beneath::{Missing, open_parent, open_regular, stat_regular};
use super::{FsError, Roots};

/// The largest previous text that is handed back for the diff on screen.
pub const MAX_OLD_BYTES: u64 = 1024 * 1024;
/// Names tried for the temporary file.
const NAME_TRIES: usize = 16;
/// The most that is copied of one extended attribute.
const MAX_XATTR_BYTES: usize = 64 * 1024;

/// What a write did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// There was no file before.
    pub created: bool,
    pub bytes: u64,
    /// The previous text, if it was text and not too long.
    pub old: Option<String>,
}

/// Writes `content`, byte for byte, creating missing parent directories inside the roots.
pub fn write_text(roots: &Roots, path: impl AsRef<Path>, content: &str) -> Result<Written, FsError> {
    let at = roots.check(path)?;
    let (dir, name) = open_parent(&at, Missing::Create)?;
    let stat = stat_regular(&at, &dir, &name)?;
    let mut old = None;
    if let Some(stat) = &stat {
        writable(&dir, &name, stat).map_err(|e| FsError::os(&at.asked, e))?;
        if u64::try_from(stat.st_size).unwrap_or(0) <= MAX_OLD_BYTES {
            old = open_regular(&at, &dir, &name).ok().and_then(|(file, _)| previous(file));
        }
    }
    replace(&dir, &name, stat.as_ref(), None, |file| file.write_all(content.as_bytes()))
        .map_err(|e| FsError::os(&at.asked, e))?;
    Ok(Written { created: stat.is_none(), bytes: content.len() as u64, old })
}

fn previous(file: File) -> Option<String> {
    let mut bytes = Vec::new();
    file.take(MAX_OLD_BYTES + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > MAX_OLD_BYTES { None } else { String::from_utf8(bytes).ok() }
}

/// A rename would replace a file that may not be written; its own permissions are respected, for root too.
fn writable(dir: &OwnedFd, name: &OsStr, stat: &Stat) -> Result<(), Errno> {
    if !Mode::from_raw_mode(stat.st_mode).intersects(Mode::WUSR | Mode::WGRP | Mode::WOTH) {
        return Err(Errno::ACCESS);
    }
    accessat(dir, name, Access::WRITE_OK, AtFlags::empty())
}

/// A temporary file that is gone again unless it has been renamed.
struct Temp<'a> {
    dir: BorrowedFd<'a>,
    name: Option<OsString>,
}

impl Temp<'_> {
    fn put_at(mut self, dir: &OwnedFd, name: &OsStr) -> io::Result<()> {
        if let Some(from) = self.name.take()
            && let Err(e) = renameat(dir, from.as_os_str(), dir, name)
        {
            self.name = Some(from);
            return Err(e.into());
        }
        Ok(())
    }
}

impl Drop for Temp<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = unlinkat(self.dir, name.as_os_str(), AtFlags::empty());
        }
    }
}

/// Fills a new file and puts it in the place of `name`, with a mode, or that of the old file, or that of any new one.
pub(super) fn replace(
    dir: &OwnedFd,
    name: &OsStr,
    old: Option<&Stat>,
    mode: Option<Mode>,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    // Until it has its mode, nobody else may read it; without one, the mask of the process applies.
    let first = if old.is_some() || mode.is_some() { Mode::RUSR | Mode::WUSR } else { Mode::from_raw_mode(0o666) };
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let (temp, fd) = temporary(dir, |from| openat(dir, from, flags, first))?;
    let mut file = File::from(fd);
    fill(&mut file)?;
    if let Some(old) = old {
        keep_attributes(dir, name, &file, old)?;
    }
    if let Some(mode) = mode {
        fchmod(&file, mode)?;
    }
    // Otherwise a crash soon after the rename could leave an empty file on some file systems.
    file.sync_data()?;
    temp.put_at(dir, name)
}

/// Puts a new link in the place of `name`.
pub(super) fn replace_by_link(dir: &OwnedFd, name: &OsStr, target: &OsStr) -> io::Result<()> {
    let (temp, ()) = temporary(dir, |from| symlinkat(target, dir, from))?;
    temp.put_at(dir, name)
}

/// Makes something under a name that is free.
fn temporary<T>(dir: &OwnedFd, make: impl Fn(&OsStr) -> Result<T, Errno>) -> io::Result<(Temp<'_>, T)> {
    for _ in 0..NAME_TRIES {
        let name = OsString::from(format!(".acp-tui-{:016x}.tmp", RandomState::new().build_hasher().finish()));
        match make(&name) {
            Ok(made) => return Ok((Temp { dir: dir.as_fd(), name: Some(name) }, made)),
            Err(Errno::EXIST) => {}
            Err(e) => return Err(e.into()),
        }
    }
    Err(Errno::EXIST.into())
}

/// Group, mode and extended attributes of the old file; only the mode must succeed.
fn keep_attributes(dir: &OwnedFd, name: &OsStr, file: &File, old: &Stat) -> io::Result<()> {
    let _ = fchown(file, None, Some(Gid::from_raw(old.st_gid)));
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    if let Ok(from) = openat(dir, name, flags, Mode::empty()) {
        copy_xattrs(&from, file);
    }
    fchmod(file, Mode::from_raw_mode(old.st_mode)).map_err(io::Error::from)
}

fn copy_xattrs(from: &OwnedFd, to: &File) {
    let mut names = vec![0_u8; MAX_XATTR_BYTES];
    let Ok(used) = rustix::fs::flistxattr(from, &mut names[..]) else { return };
    for name in names.get(..used).unwrap_or_default().split(|&b| b == 0).filter(|name| !name.is_empty()) {
        let mut value = vec![0_u8; MAX_XATTR_BYTES];
        if let Ok(size) = rustix::fs::fgetxattr(from, name, &mut value[..]) {
            let value = value.get(..size).unwrap_or_default();
            let _ = rustix::fs::fsetxattr(to, name, value, rustix::fs::XattrFlags::empty());
        }
    }
}
