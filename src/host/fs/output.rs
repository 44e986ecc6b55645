//! A file that the person has asked for, and that is written only when an agent has had its turn.
//!
//! Where it is and what stands there is resolved before anything is started. Knows nothing of what is written.
//! Invariants: afterwards no link is followed that was not followed then, no opening waits, nothing is overwritten but
//! what stood there, and what cannot go there lies beside it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Access, AtFlags, CWD, FileType, Mode, OFlags, Stat, accessat, fstat, open, openat, stat};
use rustix::io::Errno;
use thiserror::Error;

use super::steps;
use super::swap::{Refusal, Temp, Was, put_beside, put_in_place, temporary};

/// Links that are followed one after the other.
const MAX_LINKS: usize = 40;
/// Bytes that are read at once for what is no plain file.
const CHUNK: usize = 64 << 10;
/// How often the waiter is asked while a reader does not read.
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Why it is not where it should be.
#[derive(Debug, Error)]
pub enum NotWritten {
    #[error("{0}")]
    Os(#[from] io::Error),
    #[error("something else was put in its place meanwhile; it is in {}", .0.display())]
    Elsewhere(PathBuf),
    #[error("its directory was put somewhere else meanwhile, and it is there")]
    Moved,
    #[error("nobody reads it")]
    NoReader,
    #[error("whoever reads it does not read on")]
    Stuck,
}

#[derive(Debug)]
pub struct Output {
    /// As it was named.
    path: PathBuf,
    /// Where the links lead: a directory that is held, and a name in it.
    dir: OwnedFd,
    parent: PathBuf,
    name: OsString,
    /// What stood there; nothing when there was nothing.
    was: Option<Stat>,
}

impl Output {
    /// Follows the links of a path for the last time. Fails when nothing could be written there.
    pub fn resolve(path: &Path) -> io::Result<Self> {
        let this = Self::find(path)?;
        if let Some(was) = this.was.as_ref().filter(|was| !is_plain(was)) {
            if is_kind(was, FileType::Directory) {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            accessat(CWD, path, Access::WRITE_OK, AtFlags::empty())?;
        } else {
            // It is gone again at once.
            this.make(&mut io::empty())?;
        }
        Ok(this)
    }

    /// The same for a file that another program opens.
    pub fn find(path: &Path) -> io::Result<Self> {
        let was = match stat(path) {
            Ok(stat) => Some(stat),
            Err(Errno::NOENT) => None,
            Err(e) => return Err(e.into()),
        };
        let real = where_it_leads(path);
        let parent = real.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = real.file_name().ok_or(io::ErrorKind::IsADirectory)?.to_owned();
        let parent = parent.canonicalize()?;
        let dir = steps::begin(&parent)?;
        Ok(Self { path: path.to_owned(), dir, parent, name, was })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it was a file with something in it.
    pub fn has_content(&self) -> bool {
        self.was.as_ref().is_some_and(|was| is_plain(was) && was.st_size > 0)
    }

    /// Whether what is written to one replaces the other.
    pub fn is_same(&self, other: &Self) -> bool {
        let is_file = |output: &Self| output.was.as_ref().is_none_or(is_plain);
        is_file(self) && is_file(other) && (&self.parent, &self.name) == (&other.parent, &other.name)
    }

    /// See [`Output::write_from`].
    pub fn write(&self, text: &[u8], go_on: &mut dyn FnMut(u64) -> bool) -> Result<(), NotWritten> {
        self.write_from(&mut Cursor::new(text), go_on)
    }

    /// Writes a file as one step; what is no plain file (a pipe, a terminal) is written as it is, as long as `go_on`,
    /// which is told how many bytes went out. `from` is read from its beginning, and never held whole.
    pub fn write_from(
        &self,
        from: &mut (impl Read + Seek),
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<(), NotWritten> {
        from.rewind()?;
        match &self.was {
            Some(was) if !is_plain(was) => match self.open_again(was) {
                Ok(Some(file)) => pour(&file, from, go_on),
                Ok(None) => self.write_beside(from),
                Err(Errno::NXIO) if is_kind(was, FileType::Fifo) => Err(NotWritten::NoReader),
                Err(e) => Err(io::Error::from(e).into()),
            },
            was => self.replace(from, was.as_ref()),
        }
    }

    fn replace(&self, from: &mut (impl Read + Seek), was: Option<&Stat>) -> Result<(), NotWritten> {
        let is_it = |now: &Stat| was.is_some_and(|was| is_same(was, now));
        let expected = if was.is_some() { Was::Unread { is: &is_it } } else { Was::Absent };
        let (mut temp, made) = self.make(from)?;
        match put_in_place(&self.dir, &self.name, &mut temp, &made, &expected) {
            Ok(_) if self.is_where_it_was() => Ok(()),
            Ok(_) => Err(NotWritten::Moved),
            Err(Refusal::Changed | Refusal::Beside(_)) => self.write_beside(from),
            Err(Refusal::Os(e) | Refusal::Left(_, e)) => Err(e.into()),
        }
    }

    fn is_where_it_was(&self) -> bool {
        let (there, held) = (stat(&self.parent), fstat(&self.dir));
        there.is_ok_and(|there| held.is_ok_and(|held| is_same(&there, &held)))
    }

    /// It goes under a name that is free.
    fn write_beside(&self, from: &mut (impl Read + Seek)) -> Result<(), NotWritten> {
        from.rewind()?;
        let (temp, _) = self.make(from)?;
        let name = put_beside(&self.dir, temp, &self.name)?;
        Err(NotWritten::Elsewhere(self.parent.join(name)))
    }

    /// The whole file under a name of ours, and its numbers.
    fn make(&self, from: &mut impl Read) -> io::Result<(Temp<'_>, Stat)> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let private = Mode::RUSR | Mode::WUSR;
        let (temp, fd) = temporary(&self.dir, |name| openat(&self.dir, name, flags, private))?;
        let mut file = File::from(fd);
        if let Some(was) = self.was.as_ref().filter(|was| is_plain(was)) {
            rustix::fs::fchmod(&file, Mode::from_raw_mode(was.st_mode) & (Mode::RWXU | Mode::RWXG | Mode::RWXO))?;
        }
        io::copy(from, &mut file)?;
        file.sync_all()?;
        let made = fstat(&file)?;
        Ok((temp, made))
    }

    /// What is no plain file, when it is still the same.
    fn open_again(&self, was: &Stat) -> Result<Option<OwnedFd>, Errno> {
        // To open a device may do something already.
        if !stat(&self.path).is_ok_and(|now| is_same(was, &now)) {
            return Ok(None);
        }
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = open(&self.path, flags, Mode::empty())?;
        Ok(is_same(was, &fstat(&file)?).then_some(file))
    }
}

/// Writes to what may not take it.
fn pour(file: &OwnedFd, from: &mut impl Read, go_on: &mut dyn FnMut(u64) -> bool) -> Result<(), NotWritten> {
    let (mut chunk, mut gone) = (vec![0; CHUNK], 0);
    loop {
        let count = match from.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            count => count?,
        };
        let mut text = chunk.get(..count).unwrap_or_default();
        if gone > 0 && !go_on(gone) {
            return Err(NotWritten::Stuck);
        }
        while !text.is_empty() {
            match rustix::io::write(file, text) {
                Ok(0) => return Err(io::Error::from(io::ErrorKind::WriteZero).into()),
                Ok(count) => {
                    text = text.get(count..).unwrap_or_default();
                    gone += count as u64;
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    // When it cannot wait it asks the sooner.
                    let _ = poll(&mut [PollFd::new(file, PollFlags::OUT)], Some(&PAUSE));
                }
                Err(e) => return Err(io::Error::from(e).into()),
            }
            if !text.is_empty() && !go_on(gone) {
                return Err(NotWritten::Stuck);
            }
        }
    }
}

/// Where a link leads, also when nothing is there yet.
fn where_it_leads(path: &Path) -> PathBuf {
    let mut at = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(next) = at.read_link() else { break };
        at = at.parent().unwrap_or(Path::new("")).join(next);
    }
    at
}

fn is_kind(stat: &Stat, kind: FileType) -> bool {
    FileType::from_raw_mode(stat.st_mode) == kind
}

fn is_plain(stat: &Stat) -> bool {
    is_kind(stat, FileType::RegularFile)
}

/// The same file, not the same content.
fn is_same(one: &Stat, other: &Stat) -> bool {
    let what = |stat: &Stat| (stat.st_dev, stat.st_ino, stat.st_rdev, FileType::from_raw_mode(stat.st_mode));
    what(one) == what(other)
}
