//! Putting something where something else is, and taking something away, without losing what is saved there meanwhile.
//!
//! What is new lies ready beside the old one. The two names are exchanged, and what came out is looked at: only what
//! was expected is removed, anything else goes back. Knows nothing of who decided what. Invariants: a reader sees
//! the old or the new, also when the process is killed at any point; what another program has saved is never removed. A
//! name that ends in [`SWAP`] may hold such a save after a kill, one that ends in [`TEMP`] never does.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rustix::fs::{
    AtFlags, FileType, Mode, RenameFlags, Stat, fstat, linkat, openat, readlinkat, renameat, renameat_with, statat,
    unlinkat,
};
use rustix::io::Errno;

use super::FsError;
use super::moments::{Moment, at, can_exchange, can_remove};
use super::steps::READ;

/// Begins every name of ours.
const OURS: &str = ".acp-tui-";
/// Ends the name of what is being prepared: it is ours, and of no use when we are killed.
const TEMP: &str = ".tmp";
/// Ends the name of what is exchanged: ours before, afterwards what was there.
pub const SWAP: &str = ".swap";
/// Names tried.
const TRIES: usize = 16;

/// What has to be at a path for it to be replaced or taken away.
#[derive(Clone, Copy)]
pub enum Was<'a> {
    /// Anything that may be replaced at all.
    Any,
    Absent,
    File {
        /// Permission bits.
        mode: u32,
        size: u64,
        is: &'a dyn Fn(&[u8]) -> bool,
    },
    /// Its target.
    Link {
        is: &'a dyn Fn(&[u8]) -> bool,
    },
    /// A file of which only the numbers are known. An exchange changes them, so that they are asked for before it.
    Unread {
        is: &'a dyn Fn(&Stat) -> bool,
    },
    /// What is there is an only copy: it is not removed but gets a name that everybody sees.
    Only(&'a Was<'a>),
}

/// Why something is as it was.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Something else is there than was expected.
    Changed,
    /// It was saved more than once meanwhile: what was saved first is beside it, under this name.
    Beside(OsString),
    Os(io::Error),
    /// The same, and what was prepared could not be removed again and has this name.
    Left(OsString, io::Error),
}

impl<E: Into<io::Error>> From<E> for Refusal {
    fn from(error: E) -> Self {
        Self::Os(error.into())
    }
}

impl Refusal {
    pub(super) fn meddled() -> Self {
        Self::Os(io::Error::other("another program changes it while it is written"))
    }

    pub(super) fn about(self, path: &Path) -> FsError {
        match self {
            Self::Changed => FsError::Changed(path.to_owned()),
            Self::Beside(name) => FsError::ChangedTwice { path: path.to_owned(), beside: path.with_file_name(name) },
            Self::Os(error) => FsError::os(path, error),
            Self::Left(name, source) => {
                FsError::Left { path: path.to_owned(), left: path.with_file_name(name), source }
            }
        }
    }

    /// The same when what was prepared could not be removed again, as where names may only be added.
    fn leaving(self, prepared: Option<OsString>) -> Self {
        match (self, prepared) {
            (Self::Os(error), Some(name)) => Self::Left(name, error),
            (Self::Changed, Some(name)) => Self::Left(name, io::Error::other("changed meanwhile, nothing was written")),
            (refusal, _) => refusal,
        }
    }
}

/// Names of ours that something has now.
static TAKEN: Mutex<BTreeSet<OsString>> = Mutex::new(BTreeSet::new());

/// A name of ours, from before something has it until nothing has it any more.
#[derive(Debug)]
struct Taken(OsString);

impl Taken {
    fn new(name: OsString) -> Self {
        TAKEN.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone());
        Self(name)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        TAKEN.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

/// Whether this program is just using that name for what it writes. A look that asks first takes nothing of it for
/// a file of the workspace, and no other program can hide something under such a name for longer than one write.
pub fn is_in_use(name: &OsStr) -> bool {
    name.as_bytes().starts_with(OURS.as_bytes()) && TAKEN.lock().unwrap_or_else(PoisonError::into_inner).contains(name)
}

/// Something under a name of ours that is gone again unless it is put somewhere.
#[derive(Debug)]
pub(super) struct Temp<'a> {
    dir: BorrowedFd<'a>,
    name: Option<OsString>,
    /// Names that it has had. They go last.
    taken: Vec<Taken>,
}

impl Drop for Temp<'_> {
    fn drop(&mut self) {
        // Where it could not be is told by who asks for that.
        let _ = self.remove();
    }
}

impl Temp<'_> {
    /// Its name where it is still there, since it can be removed no more.
    fn remove(&mut self) -> Option<OsString> {
        let name = self.name.take()?;
        match remove(self.dir, &name) {
            Ok(()) | Err(Errno::NOENT) => None,
            Err(_) => Some(name),
        }
    }
}

/// Does what puts something prepared somewhere; where that fails, what was prepared goes, or is named.
pub(super) fn or_gone<T>(
    mut temp: Temp<'_>,
    put: impl FnOnce(&mut Temp<'_>) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    put(&mut temp).map_err(|refusal| refusal.leaving(temp.remove()))
}

fn remove(dir: impl AsFd, name: &OsStr) -> Result<(), Errno> {
    if can_remove() { unlinkat(dir, name, AtFlags::empty()) } else { Err(Errno::IO) }
}

/// Makes something under a name that is free.
pub(super) fn temporary<T>(
    dir: &OwnedFd,
    make: impl Fn(&OsStr) -> Result<T, Errno>,
) -> Result<(Temp<'_>, T), io::Error> {
    let (name, made) = taken(|| format!("{OURS}{:016x}{TEMP}", random()).into(), make)?;
    Ok((Temp { dir: dir.as_fd(), name: Some(name.0.clone()), taken: vec![name] }, made))
}

/// As [`named`], for a name of ours.
fn taken<T>(name: impl Fn() -> OsString, make: impl Fn(&OsStr) -> Result<T, Errno>) -> Result<(Taken, T), Errno> {
    let (_, (taken, made)) = named(name, |name| {
        let taken = Taken::new(name.to_owned());
        make(name).map(|made| (taken, made))
    })?;
    Ok((taken, made))
}

fn named<T>(name: impl Fn() -> OsString, make: impl Fn(&OsStr) -> Result<T, Errno>) -> Result<(OsString, T), Errno> {
    for _ in 0..TRIES {
        let name = name();
        match make(&name) {
            Ok(made) => return Ok((name, made)),
            Err(Errno::EXIST) => {}
            Err(e) => return Err(e),
        }
    }
    Err(Errno::EXIST)
}

fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// A name for what is exchanged with `name`; tells by [`may_be_of`] what it belonged to.
fn swap_name(name: &OsStr) -> OsString {
    format!("{OURS}{:08x}{:08x}{SWAP}", mark(name), random() as u32).into()
}

/// Whether something is named as what was exchanged with `name`. Several names may be meant.
pub fn may_be_of(swap: &OsStr, name: &OsStr) -> bool {
    is_swap(swap) && swap.as_bytes().get(OURS.len()..OURS.len() + 8) == Some(format!("{:08x}", mark(name)).as_bytes())
}

/// Whether something is named as what is exchanged.
pub fn is_swap(name: &OsStr) -> bool {
    is_ours(name, SWAP)
}

/// Whether something is named as what is being prepared.
pub fn is_temporary(name: &OsStr) -> bool {
    is_ours(name, TEMP)
}

fn is_ours(name: &OsStr, end: &str) -> bool {
    let middle = name.to_str().and_then(|name| name.strip_prefix(OURS)?.strip_suffix(end));
    middle.is_some_and(|m| m.len() == 16 && m.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)))
}

fn mark(name: &OsStr) -> u32 {
    name.as_bytes().iter().fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// Puts what lies ready at `name`, where there has to be what was expected. The name of that, where it stays. What lies
/// ready has to be as it was `made`: another program may have found its name meanwhile.
pub(super) fn put_in_place(
    dir: &OwnedFd,
    name: &OsStr,
    temp: &mut Temp<'_>,
    made: &Stat,
    was: &Was<'_>,
) -> Result<Option<OsString>, Refusal> {
    let Some(from) = temp.name.clone() else { return Err(Refusal::Os(Errno::NOENT.into())) };
    at(Moment::Prepared);
    let before = was.at(dir, name)?;
    at(Moment::Compared);
    let ours = statat(dir, from.as_os_str(), AtFlags::SYMLINK_NOFOLLOW)?;
    if !is_untouched(made, &ours) || made.st_nlink != ours.st_nlink {
        return Err(Refusal::meddled());
    }
    let Expected::Something(before) = before else {
        return match rename_new(dir, &from, name) {
            Ok(()) => {
                temp.name = None;
                Ok(None)
            }
            Err(Errno::EXIST) => Err(Refusal::Changed),
            Err(e) => Err(e.into()),
        };
    };
    let (swapped, ()) = taken(|| swap_name(name), |to| rename_new(dir, &from, to))?;
    let swap = swapped.0.clone();
    temp.name = Some(swap.clone());
    temp.taken.push(swapped);
    match exchange(dir, &swap, name) {
        Ok(()) => temp.name = None,
        Err(Errno::NOENT) => return Err(Refusal::Changed),
        Err(e) if is_unable(e) => {
            // What is saved by another program between this look and the rename is lost here, and nowhere else: that
            // is a few microseconds, on file systems that cannot exchange two names.
            was.again(&before, dir, name)?;
            let stays = if let Was::Only(_) = was { Some(rename_beside(dir, name, name)?) } else { None };
            if let Err(e) = renameat(dir, swap.as_os_str(), dir, name) {
                return Err(stays.map_or_else(|| e.into(), Refusal::Beside));
            }
            temp.name = None;
            return Ok(stays);
        }
        Err(e) => return Err(e.into()),
    }
    at(Moment::Exchanged);
    let why = match removed(dir, &swap, name, was, &before) {
        Ok(Gone { stays }) => return Ok(stays),
        Err(why) => why,
    };
    at(Moment::GoesBack);
    if exchange(dir, &swap, name).is_err() {
        // Taken away or replaced by a directory since it was saved.
        return Err(beside(dir, &swap, name));
    }
    let out = statat(dir, swap.as_os_str(), AtFlags::SYMLINK_NOFOLLOW)?;
    if is_untouched(&ours, &out) {
        temp.name = Some(swap);
        return Err(why);
    }
    // Saved once more, over what was put there for a moment: that is the newest, and belongs there. When it does not
    // go there, it is what is kept beside.
    let _ = exchange(dir, &swap, name);
    Err(beside(dir, &swap, name))
}

/// Puts another name of a file, which has to be what it `is`, in the place of `name`.
pub(super) fn put_link(
    dir: &OwnedFd,
    name: &OsStr,
    (from, first): (&OwnedFd, &OsStr),
    is: &Was<'_>,
    was: &Was<'_>,
) -> Result<(), Refusal> {
    let (temp, ()) = temporary(dir, |to| linkat(from, first, dir, to, AtFlags::empty()))?;
    or_gone(temp, |temp| {
        let Some(Expected::Something(made)) = temp.name.as_deref().map(|made| is.at(dir, made)).transpose()? else {
            return Err(Refusal::Changed);
        };
        put_in_place(dir, name, temp, &made.stat, was).map(drop)
    })
}

/// Takes away what is at `name`, which has to be what was expected. Its new name, where it stays.
pub(super) fn take_away(dir: &OwnedFd, name: &OsStr, was: &Was<'_>) -> Result<Option<OsString>, Refusal> {
    let Expected::Something(before) = was.at(dir, name)? else { return Ok(None) };
    at(Moment::Compared);
    let swapped = match taken(|| swap_name(name), |to| rename_new(dir, name, to)) {
        Ok((swapped, ())) => swapped,
        Err(Errno::NOENT) => return Ok(None),
        Err(e) => return Err(e.into()),
    };
    let swap = &swapped.0;
    at(Moment::Exchanged);
    let why = match removed(dir, swap, name, was, &before) {
        Ok(Gone { stays }) => return Ok(stays),
        Err(why) => why,
    };
    at(Moment::GoesBack);
    match rename_new(dir, swap, name) {
        Ok(()) => Err(why),
        Err(_) => Err(beside(dir, swap, name)),
    }
}

/// It is not at its place any more.
struct Gone {
    /// Its new name, unless it was removed.
    stays: Option<OsString>,
}

/// Removes what came out, when it is what was expected and no program writes to it; or gives it a name that everybody
/// sees. Where it is not, or that cannot be told, it goes back.
fn removed(dir: &OwnedFd, swap: &OsStr, name: &OsStr, was: &Was<'_>, before: &Seen) -> Result<Gone, Refusal> {
    let seen = was.again(before, dir, swap)?;
    at(Moment::Looked);
    // An editor that has opened it by its old name writes to it all the same. Who does so after this line is not
    // noticed: such a program had the file open from before the exchange on, without having touched it.
    if !seen.is_still_so() {
        return Err(Refusal::Changed);
    }
    if let Was::Only(_) = was {
        return Ok(Gone { stays: Some(rename_beside(dir, swap, name)?) });
    }
    remove(dir, swap)?;
    Ok(Gone { stays: None })
}

/// Gives a file that was saved meanwhile a name in sight, under which it is never removed.
pub(super) fn beside(dir: &OwnedFd, swap: &OsStr, name: &OsStr) -> Refusal {
    Refusal::Beside(rename_beside(dir, swap, name).unwrap_or_else(|_| swap.to_owned()))
}

/// The same for what lies ready; gives the name.
pub(super) fn put_beside(dir: &OwnedFd, mut temp: Temp<'_>, name: &OsStr) -> io::Result<OsString> {
    let from = temp.name.as_deref().ok_or(Errno::NOENT)?;
    let to = rename_beside(dir, from, name)?;
    temp.name = None;
    Ok(to)
}

fn rename_beside(dir: &OwnedFd, from: &OsStr, name: &OsStr) -> Result<OsString, Errno> {
    let long = || OsString::from_vec([name.as_bytes(), format!(".saved-{:08x}", random() as u32).as_bytes()].concat());
    let short = || OsString::from(format!("acp-tui-saved-{:016x}", random()));
    let renamed = named(long, |to| rename_new(dir, from, to)).or_else(|_| named(short, |to| rename_new(dir, from, to)));
    renamed.map(|(name, ())| name)
}

fn exchange(dir: &OwnedFd, one: &OsStr, other: &OsStr) -> Result<(), Errno> {
    if can_exchange() { renameat_with(dir, one, dir, other, RenameFlags::EXCHANGE) } else { Err(Errno::INVAL) }
}

/// Renames to a name that has to be free.
pub(super) fn rename_new(dir: &OwnedFd, from: &OsStr, to: &OsStr) -> Result<(), Errno> {
    let renamed =
        if can_exchange() { renameat_with(dir, from, dir, to, RenameFlags::NOREPLACE) } else { Err(Errno::INVAL) };
    match renamed {
        Err(e) if is_unable(e) => {}
        done => return done,
    }
    match linkat(dir, from, dir, to, AtFlags::empty()) {
        Ok(()) => return unlinkat(dir, from, AtFlags::empty()),
        Err(e @ (Errno::EXIST | Errno::NOENT)) => return Err(e),
        Err(_) => {}
    }
    // Neither is known to this file system: what comes to be there after this look is lost.
    match statat(dir, to, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => renameat(dir, from, dir, to),
        Ok(_) => Err(Errno::EXIST),
        Err(e) => Err(e),
    }
}

/// Renames by a name of ours in between; what cannot get the new name has its old one.
pub(super) fn rename_by_way(dir: &OwnedFd, from: &OsStr, to: &OsStr) -> Result<(), Refusal> {
    let (by, ()) = taken(|| swap_name(from), |by| rename_new(dir, from, by))?;
    rename_new(dir, &by.0, to).map_err(|error| match rename_new(dir, &by.0, from) {
        Ok(()) => error.into(),
        Err(_) => Refusal::Left(by.0.clone(), error.into()),
    })
}

fn is_unable(error: Errno) -> bool {
    [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP, Errno::NOTSUP].contains(&error)
}

/// The same file, and unchanged. (A rename changes its other time.)
fn is_untouched(one: &Stat, other: &Stat) -> bool {
    let numbers = |s: &Stat| (s.st_dev, s.st_ino, s.st_mode, s.st_size, s.st_mtime, s.st_mtime_nsec);
    numbers(one) == numbers(other)
}

/// What was expected is there.
enum Expected {
    Nothing,
    Something(Seen),
}

/// What was looked at; the file is held open.
struct Seen {
    stat: Stat,
    file: Option<File>,
}

impl Seen {
    fn is_still_so(&self) -> bool {
        let now = self.file.as_ref().map(fstat);
        now.is_none_or(|now| now.is_ok_and(|now| is_untouched(&self.stat, &now) && self.stat.st_ctime == now.st_ctime))
    }
}

impl Was<'_> {
    fn at(&self, dir: &OwnedFd, name: &OsStr) -> Result<Expected, Refusal> {
        if let Self::Only(was) = self {
            return was.at(dir, name);
        }
        let stat = match statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) if matches!(self, Self::Any | Self::Absent) => return Ok(Expected::Nothing),
            Err(Errno::NOENT) => return Err(Refusal::Changed),
            Err(e) => return Err(e.into()),
        };
        match (self, FileType::from_raw_mode(stat.st_mode)) {
            (Self::Any, FileType::RegularFile | FileType::Symlink) => {
                Ok(Expected::Something(Seen { stat, file: None }))
            }
            (Self::Link { is }, FileType::Symlink) => {
                let target = readlinkat(dir, name, Vec::new())?;
                if is(target.as_bytes()) {
                    Ok(Expected::Something(Seen { stat, file: None }))
                } else {
                    Err(Refusal::Changed)
                }
            }
            (Self::File { mode, size, is }, FileType::RegularFile) => {
                let seen = open(dir, name)?;
                if seen.has(*mode, *size, is)? { Ok(Expected::Something(seen)) } else { Err(Refusal::Changed) }
            }
            (Self::Unread { is }, FileType::RegularFile) if is(&stat) => {
                Ok(Expected::Something(Seen { stat, file: None }))
            }
            _ => Err(Refusal::Changed),
        }
    }

    /// Whether it is so still, maybe under another name.
    fn again(&self, before: &Seen, dir: &OwnedFd, name: &OsStr) -> Result<Seen, Refusal> {
        if let Self::Only(was) = self {
            return was.again(before, dir, name);
        }
        if let Self::Unread { .. } = self {
            let seen = match open(dir, name) {
                // It may be written and not read.
                Err(_) => Seen { stat: statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?, file: None },
                Ok(seen) => seen,
            };
            return if is_untouched(&before.stat, &seen.stat) { Ok(seen) } else { Err(Refusal::Changed) };
        }
        match self.at(dir, name)? {
            Expected::Something(seen) => Ok(seen),
            Expected::Nothing => Err(Refusal::Changed),
        }
    }
}

fn open(dir: &OwnedFd, name: &OsStr) -> Result<Seen, Refusal> {
    let file = File::from(openat(dir, name, READ, Mode::empty())?);
    Ok(Seen { stat: fstat(&file)?, file: Some(file) })
}

impl Seen {
    fn has(&self, mode: u32, size: u64, is: &dyn Fn(&[u8]) -> bool) -> io::Result<bool> {
        let Some(file) = &self.file else { return Ok(false) };
        let there = u64::try_from(self.stat.st_size).unwrap_or(0);
        let kind = FileType::from_raw_mode(self.stat.st_mode);
        if !kind.is_file() || there != size || Mode::from_raw_mode(self.stat.st_mode) != Mode::from_raw_mode(mode as _)
        {
            return Ok(false);
        }
        let mut bytes = Vec::with_capacity(there as usize + 1);
        file.take(size.saturating_add(1)).read_to_end(&mut bytes)?;
        Ok(bytes.len() as u64 == size && is(&bytes) && self.is_still_so())
    }
}

#[cfg(test)]
#[path = "swap_tests.rs"]
mod tests;
