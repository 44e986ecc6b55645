//! `fs/write_text_file`: replaces the content of a file as one step.
//!
//! The new content goes to a temporary file beside the old one, with whose attributes it then takes its place; links are
//! already followed, so they stay links. Invariant: a failure at any point leaves the old file and no temporary one.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use rustix::fs::{
    Access, AtFlags, Gid, Mode, OFlags, RawMode, Stat, Uid, accessat, fchmod, fchown, fstat, openat, statat, symlinkat,
};
use rustix::io::Errno;

use super::beneath::{Missing, open_parent, open_regular, stat_regular};
use super::moments::{Moment, at};
use super::steps::{self, READ};
use super::swap::{Refusal, Was, or_gone, put_in_place, temporary};
use super::{FsError, Resolved, spelling};

/// The largest previous text that is handed back for the diff on screen.
pub const MAX_OLD_BYTES: u64 = 1024 * 1024;
/// The most that is copied of one extended attribute.
const MAX_XATTR_BYTES: usize = 64 * 1024;

/// So many bytes are written before it is asked again whether they are wanted.
const CHUNK: usize = 1 << 20;

/// What a write did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// There was no file before.
    pub created: bool,
    pub bytes: u64,
    /// The previous text, if it was text and not too long.
    pub old: Option<String>,
    /// Other names (hard links) that the file had, and that keep what it was.
    pub apart: u64,
}

/// Refuses what is to be written only where its directory is, or only where nothing is.
pub fn may_write(at: &Resolved, needs_directory: bool, only_new: bool) -> Result<(), FsError> {
    if !needs_directory && !only_new {
        return Ok(());
    }
    let there = open_parent(at, Missing::Refuse).and_then(|(dir, name)| stat_regular(at, &dir, &name));
    match there {
        Ok(Some(_)) if only_new => Err(FsError::Exists(at.asked.clone())),
        Err(FsError::NotFound(_)) if !needs_directory => Ok(()),
        other => other.map(|_| ()),
    }
}

/// Writes `content`, byte for byte, creating missing parent directories inside the roots. Only over what was expected.
/// What is not wanted any more before it is in its place does not get there.
pub fn write_text(
    at: &Resolved,
    content: &str,
    was: &Was<'_>,
    is_wanted: &dyn Fn() -> bool,
) -> Result<Written, FsError> {
    let unwanted = || FsError::Ending(at.asked.clone());
    if !is_wanted() {
        return Err(unwanted());
    }
    let (dir, name) = open_parent(at, Missing::Create)?;
    let stat = stat_regular(at, &dir, &name)?;
    let name = if stat.is_some() { as_listed(&dir, name) } else { name };
    let mut old = None;
    if let Some(stat) = &stat {
        writable(&dir, &name, stat).map_err(|e| FsError::os(&at.asked, e))?;
        if u64::try_from(stat.st_size).unwrap_or(0) <= MAX_OLD_BYTES {
            old = open_regular(at, &dir, &name).ok().and_then(|(file, _)| previous(file));
        }
    }
    let go_on = || if is_wanted() { Ok(()) } else { Err(io::Error::from(io::ErrorKind::Interrupted)) };
    let fill = |file: &mut File| {
        content.as_bytes().chunks(CHUNK).try_for_each(|part| go_on().and_then(|()| file.write_all(part)))?;
        sync(file)?;
        go_on()
    };
    replace(&dir, &name, stat.as_ref(), None, was, fill)
        .map_err(|e| if is_wanted() { e.about(&at.asked) } else { unwanted() })?;
    let apart = stat.as_ref().map_or(0, |stat| u64::from(stat.st_nlink as u32).saturating_sub(1));
    Ok(Written { created: stat.is_none(), bytes: content.len() as u64, old, apart })
}

/// A file keeps its name, by whatever spelling it is found.
fn as_listed(dir: &OwnedFd, name: OsString) -> OsString {
    let finds = |name: &[u8]| statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).is_ok();
    spelling::listed(name.as_bytes(), &finds, || steps::names(dir)).map_or(name, |is| OsString::from_vec(is.into_vec()))
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

/// Fills a new file and puts it in the place of `name`, where there has to be what was expected; with a mode, or that of
/// the old file, or that of any new one. In words: what of the old file could not be kept; and where it stays as a whole.
pub(super) fn replace(
    dir: &OwnedFd,
    name: &OsStr,
    old: Option<&Stat>,
    mode: Option<Mode>,
    was: &Was<'_>,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(Vec<String>, Option<OsString>), Refusal> {
    at(Moment::Begun);
    // Until it has its mode, only its owner may read it; without one, the mask of the process applies.
    let first = if old.is_some() || mode.is_some() { Mode::RUSR | Mode::WUSR } else { Mode::from_raw_mode(0o666) };
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let (temp, fd) = temporary(dir, |from| openat(dir, from, flags, first))?;
    or_gone(temp, |temp| {
        let mut file = File::from(fd);
        fill(&mut file)?;
        let lost = match old {
            Some(old) => keep_attributes(dir, name, &file, old)?,
            None => Vec::new(),
        };
        // Last: a change of the owner takes bits away.
        if let Some(mode) = mode.or(old.map(|old| Mode::from_raw_mode(old.st_mode))) {
            fchmod(&file, mode)?;
        }
        // Otherwise a crash soon after the rename could leave an empty file on some file systems.
        sync(&file)?;
        let made = fstat(&file)?;
        let wanted = mode.map_or_else(|| old.map_or(0, |old| old.st_mode), Mode::as_raw_mode);
        if !is_all_ours(&made, wanted) {
            return Err(Refusal::meddled());
        }
        Ok((lost, put_in_place(dir, name, temp, &made, was)?))
    })
}

/// Whether a file that lies ready has no other name, and no bits by which it runs as its owner or group but those that
/// are `wanted`: another program may have found it already.
pub(super) fn is_all_ours(made: &Stat, wanted: RawMode) -> bool {
    let special = (Mode::SUID | Mode::SGID).as_raw_mode();
    made.st_nlink <= 1 && made.st_mode & special & !wanted == 0
}

/// Puts a new link in the place of `name`, where there has to be what was expected. The name of that, where it stays.
pub(super) fn replace_by_link(
    dir: &OwnedFd,
    name: &OsStr,
    target: &OsStr,
    was: &Was<'_>,
) -> Result<Option<OsString>, Refusal> {
    at(Moment::Begun);
    let (temp, made) = temporary(dir, |from| {
        symlinkat(target, dir, from)?;
        statat(dir, from, AtFlags::SYMLINK_NOFOLLOW)
    })?;
    or_gone(temp, |temp| put_in_place(dir, name, temp, &made, was))
}

/// See `store::private::sync_data`.
fn sync(file: &File) -> io::Result<()> {
    if cfg!(test) { Ok(()) } else { file.sync_data() }
}

/// Owner, group and extended attributes of the old file; in words, which of them could not be kept.
fn keep_attributes(dir: &OwnedFd, name: &OsStr, file: &File, old: &Stat) -> io::Result<Vec<String>> {
    let (owner, group) = (Some(Uid::from_raw(old.st_uid)), Some(Gid::from_raw(old.st_gid)));
    if fchown(file, owner, group).is_err() {
        // The group may be one of ours, where the owner is not.
        let _ = fchown(file, None, group);
    }
    let now = fstat(file)?;
    let mut lost = Vec::new();
    if now.st_uid != old.st_uid {
        lost.push(format!("owner {} instead of {}", now.st_uid, old.st_uid));
    }
    if now.st_gid != old.st_gid {
        lost.push(format!("group {} instead of {}", now.st_gid, old.st_gid));
    }
    if let Ok(from) = openat(dir, name, READ, Mode::empty()) {
        lost.extend(copy_xattrs(&from, file));
    }
    Ok(lost)
}

/// Also what is set for access by name and group. In words: what could not be copied.
fn copy_xattrs(from: &OwnedFd, to: &File) -> Vec<String> {
    let mut names = vec![0_u8; MAX_XATTR_BYTES];
    let used = match rustix::fs::flistxattr(from, &mut names[..]) {
        Ok(used) => used,
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => return Vec::new(),
        Err(_) => return vec!["without its extended attributes".to_owned()],
    };
    let mut lost = Vec::new();
    for name in names.get(..used).unwrap_or_default().split(|&b| b == 0).filter(|name| !name.is_empty()) {
        let mut value = vec![0_u8; MAX_XATTR_BYTES];
        let copied = rustix::fs::fgetxattr(from, name, &mut value[..]).and_then(|size| {
            let value = value.get(..size).unwrap_or_default();
            rustix::fs::fsetxattr(to, name, value, rustix::fs::XattrFlags::empty())
        });
        if copied.is_err() {
            lost.push(format!("without the attribute {}", String::from_utf8_lossy(name)));
        }
    }
    lost
}
