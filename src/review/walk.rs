//! Which paths of a workspace are covered, and looking at one of them without leaving it.
//!
//! The only file of the review that knows the system's numbers for files. Invariant: below the root every name is
//! opened relative to the handle of its directory and never through a link, and no opening waits.

use super::error::ReviewError;
use ignore::{DirEntry, WalkBuilder, WalkState};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, open, openat, readlinkat, statat};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{DirBuilder, File, Metadata};
use std::io::Read;
use std::ops::Bound;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// A path below the root, as bytes, with `/` between the names.
pub(super) type Key = Box<[u8]>;

/// A handle to walk from needs no permission to list.
#[cfg(any(target_os = "linux", target_os = "android"))]
const WALK: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const WALK: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// How often a file that changes while it is read is read again.
const ATTEMPTS: usize = 3;
/// Repositories found below the root whose content is made use of.
const REPOS: usize = 64;
/// Directories without permission that are named.
const BARRED: usize = 50;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    #[default]
    File,
    Link,
    Dir,
    /// A FIFO, a socket, a device.
    Other,
}

/// A moment in seconds and nanoseconds since 1970.
pub(super) type Time = (i64, u32);

/// What the system says of a path without reading it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stat {
    pub kind: Kind,
    pub size: u64,
    pub mtime: Time,
    pub ctime: Time,
    pub ino: u64,
    /// Permission bits, at most 0o7777.
    pub mode: u32,
}

impl Stat {
    fn of(stat: &rustix::fs::Stat) -> Self {
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Symlink => Kind::Link,
            FileType::Directory => Kind::Dir,
            _ => Kind::Other,
        };
        Self {
            kind,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            mtime: (stat.st_mtime, stat.st_mtime_nsec as u32),
            ctime: (stat.st_ctime, stat.st_ctime_nsec as u32),
            ino: stat.st_ino,
            mode: stat.st_mode & 0o7777,
        }
    }

    pub(super) fn of_meta(meta: &Metadata) -> Self {
        let kind = match meta.file_type() {
            t if t.is_file() => Kind::File,
            t if t.is_symlink() => Kind::Link,
            t if t.is_dir() => Kind::Dir,
            _ => Kind::Other,
        };
        Self {
            kind,
            size: meta.size(),
            mtime: (meta.mtime(), meta.mtime_nsec() as u32),
            ctime: (meta.ctime(), meta.ctime_nsec() as u32),
            ino: meta.ino(),
            mode: meta.mode() & 0o7777,
        }
    }

    /// The later of the two times: nothing about the file has changed since.
    pub(super) fn touched(&self) -> Time {
        self.mtime.max(self.ctime)
    }
}

/// The bytes of a path.
pub(super) fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// The path of bytes.
pub(super) fn path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// A new directory for the person alone.
pub(super) fn private_dir(dir: &Path) -> Result<(), ReviewError> {
    DirBuilder::new().mode(0o700).create(dir).map_err(|e| ReviewError::io(dir, e))
}

/// Names `path` below `root`; links in its parents are followed as long as they stay inside. `None` for what is
/// outside, for the root itself seen through `..`, and for everything in a `.git`.
pub(super) fn key(root: &Path, path: &Path) -> Option<Key> {
    if path.components().any(|part| part == Component::ParentDir) {
        return None;
    }
    let full = root.join(path);
    if full == root {
        return Some(Key::default());
    }
    let (parent, name) = (full.parent()?, full.file_name()?);
    let inside = real(parent)?.strip_prefix(root).ok()?.join(name);
    if inside.components().any(|part| part.as_os_str() == ".git") {
        return None;
    }
    Some(bytes(&inside).into())
}

/// The real path of a directory, of which the last names need not exist.
fn real(dir: &Path) -> Option<PathBuf> {
    let mut missing = Vec::new();
    let mut at = dir;
    loop {
        if let Ok(real) = at.canonicalize() {
            return Some(missing.iter().rev().fold(real, |path, name| path.join(name)));
        }
        // A link that leads nowhere may lead outside tomorrow.
        if at.symlink_metadata().is_ok() {
            return None;
        }
        missing.push(at.file_name()?);
        at = at.parent()?;
    }
}

// ---- looking at one path

/// What was found where a path points.
#[derive(Debug)]
pub(super) enum Found {
    Absent,
    Dir,
    /// There is something that has no content for us: a FIFO, a device.
    Other,
    File {
        stat: Stat,
        bytes: Vec<u8>,
        /// It was written to all the time.
        torn: bool,
    },
    Link {
        stat: Stat,
        target: Vec<u8>,
    },
    /// More bytes than wanted.
    Big(Stat),
    /// There, but not for us.
    Barred(Stat, std::io::Error),
}

/// Looks at paths below a root one after the other; remembers the directory of the last.
pub(super) struct Reader {
    root: PathBuf,
    dir: Option<(Key, OwnedFd)>,
}

impl Reader {
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), dir: None }
    }

    /// The handle of the directory of `key`, and the name in it. `None`: there is no such directory.
    fn parent<'a>(&mut self, key: &'a [u8]) -> Result<Option<(&OwnedFd, &'a [u8])>, Errno> {
        let (dir, name) = match key.iter().rposition(|byte| *byte == b'/') {
            Some(at) => (&key[..at], &key[at + 1..]),
            None => (&key[..0], key),
        };
        if self.dir.as_ref().is_none_or(|(held, _)| **held != *dir) {
            self.dir = None;
            let mut fd = open(&self.root, WALK, Mode::empty())?;
            for part in dir.split(|byte| *byte == b'/').filter(|part| !part.is_empty()) {
                fd = match openat(&fd, part, WALK, Mode::empty()) {
                    Ok(fd) => fd,
                    Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
                    Err(e) => return Err(e),
                };
            }
            self.dir = Some((dir.into(), fd));
        }
        Ok(self.dir.as_ref().map(|(_, fd)| (fd, name)))
    }

    /// What the system says of `key`; `None` when there is nothing.
    pub(super) fn stat(&mut self, key: &[u8]) -> std::io::Result<Option<Stat>> {
        let Some((dir, name)) = self.parent(key)? else { return Ok(None) };
        match statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Stat::of(&stat))),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    /// Reads what is at `key` now, at most `limit` bytes. Fails when not even the system's numbers can be had.
    pub(super) fn read(&mut self, key: &[u8], limit: u64) -> std::io::Result<Found> {
        for last in (0..ATTEMPTS).map(|n| n + 1 == ATTEMPTS) {
            let Some(stat) = self.stat(key)? else { return Ok(Found::Absent) };
            let read = match stat.kind {
                Kind::Dir => return Ok(Found::Dir),
                Kind::Other => return Ok(Found::Other),
                Kind::File if stat.size > limit => return Ok(Found::Big(stat)),
                Kind::Link => self.link(key).map(|target| Some(Found::Link { stat, target })),
                Kind::File => self.file(key, limit, last),
            };
            match read {
                Ok(Some(found)) => return Ok(found),
                Ok(None) | Err(Errno::NOENT | Errno::LOOP | Errno::INVAL) if !last => {}
                Ok(None) => return Ok(Found::Other),
                Err(e) => return Ok(Found::Barred(stat, e.into())),
            }
        }
        Ok(Found::Absent)
    }

    fn link(&mut self, key: &[u8]) -> Result<Vec<u8>, Errno> {
        let (dir, name) = self.parent(key)?.ok_or(Errno::NOENT)?;
        Ok(readlinkat(dir, name, Vec::new())?.into_bytes())
    }

    /// `None`: it was not the same at the end as at the beginning.
    fn file(&mut self, key: &[u8], limit: u64, last: bool) -> Result<Option<Found>, Errno> {
        let (dir, name) = self.parent(key)?.ok_or(Errno::NOENT)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = openat(dir, name, flags, Mode::empty())?;
        let before = Stat::of(&rustix::fs::fstat(&fd)?);
        if before.kind != Kind::File {
            return Ok(None);
        }
        let mut file = File::from(fd);
        let mut bytes = Vec::with_capacity(before.size.min(limit) as usize + 1);
        let broken = |e: std::io::Error| Errno::from_io_error(&e).unwrap_or(Errno::IO);
        (&mut file).take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(broken)?;
        let after = Stat::of(&rustix::fs::fstat(&file)?);
        let torn = before != after || bytes.len() as u64 != after.size;
        if bytes.len() as u64 > limit {
            return Ok(Some(Found::Big(after)));
        }
        Ok((!torn || last).then_some(Found::File { stat: after, bytes, torn }))
    }
}

/// The second since 1970 in which a file was made; nothing where the system does not know.
pub(super) fn born(path: &Path) -> Option<i64> {
    let made = path.symlink_metadata().and_then(|meta| meta.created()).ok()?;
    made.duration_since(std::time::UNIX_EPOCH).ok().map(|since| since.as_secs() as i64)
}

/// Opens what is a plain file; nothing for all else, and without waiting.
pub(super) fn open_plain(path: &Path) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    file.metadata().is_ok_and(|meta| meta.is_file()).then_some(file)
}

/// What tells two names of one file: its device and number, and how many names it has.
pub(super) fn names_of(meta: &std::fs::Metadata) -> ((u64, u64), u64) {
    ((meta.dev(), meta.ino()), meta.nlink())
}

/// Whether there is a regular file at `path`, of the same owner as `other`.
pub(super) fn is_file_of(path: &Path, other: &Path) -> bool {
    let (Ok(meta), Ok(other)) = (path.symlink_metadata(), other.symlink_metadata()) else { return false };
    meta.is_file() && meta.uid() == other.uid()
}

// ---- walking

/// What a file of rules said earlier.
pub(super) struct OldRules {
    dir: Key,
    rules: ignore::gitignore::Gitignore,
}

impl OldRules {
    /// `key` is the file that said `text`. Nothing when that were no rules.
    pub(super) fn of(key: &[u8], text: &[u8]) -> Option<Self> {
        let dir = key.iter().rposition(|byte| *byte == b'/').map_or(&key[..0], |at| &key[..at]);
        let mut builder = ignore::gitignore::GitignoreBuilder::new("");
        for line in String::from_utf8_lossy(text).lines() {
            // A line that is no rule is none.
            let _ = builder.add_line(None, line);
        }
        Some(Self { dir: dir.into(), rules: builder.build().ok()? })
    }

    /// Whether they hide a file.
    pub(super) fn hide(&self, key: &[u8]) -> bool {
        let inside = if self.dir.is_empty() {
            Some(key)
        } else {
            key.strip_prefix(&*self.dir).and_then(|rest| rest.strip_prefix(b"/"))
        };
        inside.is_some_and(|inside| self.rules.matched_path_or_any_parents(path(inside), false).is_ignore())
    }
}

/// What a walk has found.
#[derive(Default)]
pub(super) struct Walked {
    /// Regular files and links.
    pub files: Vec<(Key, Stat)>,
    pub dirs: BTreeSet<Key>,
    /// Directories that hold a `.git`.
    pub repos: Vec<PathBuf>,
    /// Directories that could not be read.
    pub barred: Vec<Key>,
    /// There is more than was asked for.
    pub cut: bool,
}

/// A part of the tree: these paths, and everything below these directories.
#[derive(Default)]
pub(super) struct Part {
    pub paths: BTreeSet<Key>,
    pub below: BTreeSet<Key>,
}

impl Part {
    fn leads_to(&self, key: &[u8]) -> bool {
        let under = [key, b"/"].concat();
        let ahead = |set: &BTreeSet<Key>| {
            set.contains(key)
                || set
                    .range::<[u8], _>((Bound::Included(&under[..]), Bound::Unbounded))
                    .next()
                    .is_some_and(|next| next.starts_with(&under))
        };
        ahead(&self.paths)
            || ahead(&self.below)
            || self.below.contains(&b""[..])
            || (0..key.len()).any(|at| key[at] == b'/' && self.below.contains(&key[..at]))
    }
}

/// Whether git's rules apply at `root`: a repository is there or above.
pub(super) fn in_git(root: &Path) -> bool {
    root.ancestors().any(|dir| dir.join(".git").symlink_metadata().is_ok())
}

/// Walks the tree as git would see it, at most `limit` files; all of it or a part.
pub(super) fn walk(root: &Path, part: Option<Part>, limit: usize) -> Walked {
    let git = in_git(root);
    let repos = Arc::new(Mutex::new(Vec::new()));
    let found_repos = Arc::clone(&repos);
    let base = root.to_owned();
    let mut builder = WalkBuilder::new(root);
    builder
        .standard_filters(false)
        .git_ignore(true)
        .git_exclude(true)
        .git_global(true)
        // Rules above a tree that is in no repository are not meant for it.
        .parents(git)
        .require_git(git)
        .follow_links(false)
        .current_dir(root)
        .threads(2)
        .filter_entry(move |entry| {
            if entry.depth() == 0 {
                return true;
            }
            if entry.file_name() == ".git" {
                let mut repos = found_repos.lock().unwrap_or_else(PoisonError::into_inner);
                if let (true, Some(dir)) = (repos.len() < REPOS, entry.path().parent()) {
                    repos.push(dir.to_owned());
                }
                return false;
            }
            part.as_ref().is_none_or(|part| below(&base, entry.path()).is_some_and(|key| part.leads_to(key)))
        });
    let all = Mutex::new(Walked::default());
    builder.build_parallel().run(|| {
        let mut mine = Mine { all: &all, found: Walked::default() };
        Box::new(move |entry| mine.take(root, entry, limit))
    });
    let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.repos = std::mem::take(&mut *repos.lock().unwrap_or_else(PoisonError::into_inner));
    all.repos.sort();
    all.files.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    if all.files.len() > limit {
        all.files.truncate(limit);
        all.cut = true;
    }
    all
}

fn below<'a>(root: &Path, path: &'a Path) -> Option<&'a [u8]> {
    path.strip_prefix(root).ok().map(bytes)
}

/// What one thread of the walk has found; handed over in heaps, and when the thread ends.
struct Mine<'a> {
    all: &'a Mutex<Walked>,
    found: Walked,
}

impl Mine<'_> {
    fn take(&mut self, root: &Path, entry: Result<DirEntry, ignore::Error>, limit: usize) -> WalkState {
        match entry {
            Ok(entry) => self.entry(root, &entry),
            Err(error) => {
                if let Some(key) = place(&error).and_then(|path| below(root, path))
                    && self.found.barred.len() < BARRED
                {
                    self.found.barred.push(key.into());
                }
            }
        }
        if self.found.files.len() >= 4096 && self.hand_over() > limit {
            return WalkState::Quit;
        }
        WalkState::Continue
    }

    fn entry(&mut self, root: &Path, entry: &DirEntry) {
        let Some(key) = below(root, entry.path()) else { return };
        match entry.file_type() {
            Some(kind) if kind.is_dir() => {
                self.found.dirs.insert(key.into());
            }
            Some(kind) if kind.is_file() || kind.is_symlink() => {
                // Vanished since: the paths that are known are looked at one by one.
                if let Ok(meta) = entry.metadata() {
                    self.found.files.push((key.into(), Stat::of_meta(&meta)));
                }
            }
            _ => {}
        }
    }

    fn hand_over(&mut self) -> usize {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.files.append(&mut self.found.files);
        all.dirs.append(&mut self.found.dirs);
        all.barred.append(&mut self.found.barred);
        all.files.len()
    }
}

impl Drop for Mine<'_> {
    fn drop(&mut self) {
        self.hand_over();
    }
}

/// The path that an error of the walk is about, when it is one of permission.
fn place(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, err } if err.io_error().is_some() => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => place(err),
        _ => None,
    }
}
/// When a path was changed last; for one that is not there any more, its directory.
pub fn changed_at(path: &Path) -> SystemTime {
    let meta = path.ancestors().find_map(|p| p.symlink_metadata().ok());
    let since = |meta: std::fs::Metadata| {
        let seconds = Duration::from_secs(u64::try_from(meta.ctime()).ok()?);
        SystemTime::UNIX_EPOCH.checked_add(seconds + Duration::from_nanos(meta.ctime_nsec().try_into().ok()?))
    };
    meta.and_then(since).unwrap_or_else(SystemTime::now)
}
