//! Which paths of a workspace are covered, and looking at one of them without leaving it.
//!
//! The only file of the review that knows the system's numbers for files. Invariant: below the root every name is
//! opened relative to the handle of its directory and never through a link, and no opening waits.

use super::error::ReviewError;
use super::hidden::Hidden;
use super::plain::{self, Links};
pub(super) use super::rules::OldRules;
use super::rules::{self, Rules};
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
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// A path below the root, as bytes, with `/` between the names.
pub(super) type Key = Box<[u8]>;

/// A handle to walk from needs no permission to list.
#[cfg(any(target_os = "linux", target_os = "android"))]
const WALK: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const WALK: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A handle to list a directory.
const LIST: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Threads that walk.
const THREADS: usize = 2;
/// Directories that are held open at once to open what is in them; below others the way is gone from the root.
const HANDLES: usize = 100;
/// Longer paths cannot be named as a whole.
const LONGEST: usize = 4096;
/// Files that a thread hands over at once.
const HEAP: usize = 4096;
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
    pub(super) fn of(stat: &rustix::fs::Stat) -> Self {
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
    Keys::new(root).key(path)
}

/// Names many paths; of those of one directory, one after the other, the directory is looked up once.
pub(super) struct Keys<'a> {
    root: &'a Path,
    last: Option<(PathBuf, PathBuf)>,
}

impl<'a> Keys<'a> {
    pub(super) const fn new(root: &'a Path) -> Self {
        Self { root, last: None }
    }

    /// See [`key`].
    pub(super) fn key(&mut self, path: &Path) -> Option<Key> {
        let root = self.root;
        if path.components().any(|part| part == Component::ParentDir) {
            return None;
        }
        let full = root.join(path);
        if full == root {
            return Some(Key::default());
        }
        let (parent, name) = (full.parent()?, full.file_name()?);
        if self.last.as_ref().is_none_or(|(asked, _)| asked.as_os_str() != parent.as_os_str()) {
            self.last = Some((parent.to_owned(), real(parent)?));
        }
        let (_, dir) = self.last.as_ref()?;
        let inside = dir.strip_prefix(root).ok()?.join(name);
        if inside.components().any(|part| part.as_os_str() == ".git") {
            return None;
        }
        Some(bytes(&inside).into())
    }
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

/// The directories above a path, the root as well.
pub(super) fn parents(key: &[u8]) -> impl Iterator<Item = &[u8]> {
    let slashes = (0..key.len()).filter(|at| key[*at] == b'/');
    std::iter::once(&key[..0]).chain(slashes.map(|at| &key[..at]))
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
            let Some(fd) = descend(&self.root, dir)? else { return Ok(None) };
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

/// The present as the system dates files, taken from one in `dir`: what was changed before is older, and what is changed
/// from now on is not. The ordinary clock may be some milliseconds ahead of it.
pub(super) fn files_now(dir: &Path) -> Time {
    let probe = tempfile::tempfile_in(dir).and_then(|file| {
        // Linux dates a change to the nanosecond only when somebody has looked at the date before it.
        file.set_permissions(file.metadata()?.permissions())?;
        file.metadata()
    });
    let ordinary = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    probe.map_or_else(|_| (ordinary().as_secs() as i64, ordinary().subsec_nanos()), |meta| Stat::of_meta(&meta).ctime)
}

/// The handle of a directory below the root, from one to the next; `None` when there is none.
fn descend(root: &Path, dir: &[u8]) -> Result<Option<OwnedFd>, Errno> {
    let mut fd = open(root, WALK, Mode::empty())?;
    for part in dir.split(|byte| *byte == b'/').filter(|part| !part.is_empty()) {
        fd = match openat(&fd, part, WALK, Mode::empty()) {
            Ok(fd) => fd,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
            Err(e) => return Err(e),
        };
    }
    Ok(Some(fd))
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

/// Whether there is a regular file or a link at `path`, of the same owner as `other`.
pub(super) fn is_file_of(path: &Path, other: &Path) -> bool {
    let (Ok(meta), Ok(other)) = (path.symlink_metadata(), other.symlink_metadata()) else { return false };
    (meta.is_file() || meta.is_symlink()) && meta.uid() == other.uid()
}

// ---- walking

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

/// Walks the tree as git would see it, at most `limit` files; all of it or a part, without what is hidden.
pub(super) fn walk(root: &Path, part: Option<Part>, limit: usize, hidden: &Hidden) -> Walked {
    let top = Dir { key: Key::default(), parent: None, rules: Rules::above(root, in_git(root)) };
    let walk = Walk {
        root,
        part,
        limit,
        hidden,
        numbers: hidden.numbers(),
        queue: Mutex::new(Queue { dirs: vec![top], busy: 0, over: false }),
        news: Condvar::new(),
        handles: Arc::default(),
        all: Mutex::new(Walked { dirs: BTreeSet::from([Key::default()]), ..Walked::default() }),
    };
    std::thread::scope(|scope| {
        for _ in 1..THREADS {
            // Without another thread it takes longer.
            let _ = std::thread::Builder::new().spawn_scoped(scope, || walk.work());
        }
        walk.work();
    });
    let mut all = walk.all.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.repos.sort();
    all.repos.truncate(REPOS);
    all.barred.truncate(BARRED);
    all.files.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    if all.files.len() > limit {
        all.files.truncate(limit);
        all.cut = true;
    }
    all
}

/// The handle of a directory, counted.
struct Handle {
    fd: OwnedFd,
    count: Arc<AtomicUsize>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A directory that is to be listed.
struct Dir {
    key: Key,
    /// Of the directory that it is in, unless too many are held.
    parent: Option<Arc<Handle>>,
    /// Those of the directory that it is in.
    rules: Arc<Rules>,
}

struct Queue {
    dirs: Vec<Dir>,
    /// Threads that list a directory.
    busy: usize,
    over: bool,
}

struct Walk<'a> {
    root: &'a Path,
    part: Option<Part>,
    limit: usize,
    hidden: &'a Hidden,
    /// What is needed to know it under another name.
    numbers: BTreeSet<u64>,
    queue: Mutex<Queue>,
    /// There may be something in the queue, or nothing comes any more.
    news: Condvar,
    handles: Arc<AtomicUsize>,
    all: Mutex<Walked>,
}

/// A directory is being listed. Also when that ends in a panic, the others are told.
struct Busy<'w, 'a>(&'w Walk<'a>);

impl Drop for Busy<'_, '_> {
    fn drop(&mut self) {
        self.0.queue().busy -= 1;
        self.0.news.notify_all();
    }
}

impl Walk<'_> {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let mut found = Walked::default();
        while let Some(dir) = self.next() {
            let _busy = Busy(self);
            let mut inside = Vec::new();
            match self.list(&dir, &mut found, &mut inside) {
                // Gone, or something else by now: what was in it is looked at by itself.
                Ok(()) | Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
                Err(_) => found.barred.push(dir.key),
            }
            let over = found.files.len() >= HEAP && self.hand_over(&mut found) > self.limit;
            let mut queue = self.queue();
            queue.dirs.append(&mut inside);
            queue.over |= over;
        }
        self.hand_over(&mut found);
    }

    /// The next directory; waits as long as there may be more.
    fn next(&self) -> Option<Dir> {
        let mut queue = self.queue();
        loop {
            if queue.over {
                return None;
            }
            if let Some(dir) = queue.dirs.pop() {
                queue.busy += 1;
                return Some(dir);
            }
            if queue.busy == 0 {
                return None;
            }
            queue = self.news.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn open(&self, dir: &Dir) -> Result<OwnedFd, Errno> {
        let name = dir.key.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        match &dir.parent {
            Some(parent) => openat(&parent.fd, name, LIST, Mode::empty()),
            None if dir.key.is_empty() => open(self.root, LIST, Mode::empty()),
            None => {
                let parent = &dir.key[..dir.key.len().saturating_sub(name.len() + 1)];
                openat(&descend(self.root, parent)?.ok_or(Errno::NOENT)?, name, LIST, Mode::empty())
            }
        }
    }

    /// What is in a directory: files, and directories to be listed.
    fn list(&self, dir: &Dir, found: &mut Walked, inside: &mut Vec<Dir>) -> Result<(), Errno> {
        // Others name such a path as a whole.
        if walk_len(self.root) + dir.key.len() >= LONGEST {
            return Err(Errno::NAMETOOLONG);
        }
        let fd = self.open(dir)?;
        let mut entries = Vec::new();
        let (mut has_rules, mut has_git) = (false, false);
        for entry in rustix::fs::Dir::read_from(&fd)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            match name {
                b"." | b".." => {}
                b".git" => has_git = true,
                name => {
                    has_rules |= name == rules::NAME.as_bytes();
                    entries.push((Box::<[u8]>::from(name), entry.file_type(), entry.ino()));
                }
            }
        }
        let mut full = [bytes(self.root), b"/", &dir.key].concat();
        let rules = if has_rules || has_git {
            let here = path(&full);
            if has_git {
                found.repos.push(path(full.strip_suffix(b"/").unwrap_or(&full)).to_owned());
            }
            let own = || plain::read_in(&fd, Path::new(rules::NAME), Links::Refused, rules::LARGEST).ok().flatten();
            let own = if has_rules { own() } else { None };
            Arc::clone(&dir.rules).with(here, own, has_git && rules::is_top(here))
        } else {
            Arc::clone(&dir.rules)
        };
        if !dir.key.is_empty() {
            full.push(b'/');
        }
        let len = full.len();
        let base = walk_len(self.root);
        let handle = self.keep(fd);
        for (name, kind, number) in entries {
            full.truncate(len);
            full.extend_from_slice(&name);
            if self.hidden.stands_at(path(&full), Some(number), &self.numbers) {
                continue;
            }
            let key = &full[base..];
            if self.part.as_ref().is_some_and(|part| !part.leads_to(key)) {
                continue;
            }
            let stat = || statat(&handle.fd, &*name, AtFlags::SYMLINK_NOFOLLOW).ok();
            let kind = match kind {
                FileType::Unknown => stat().map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
                kind => kind,
            };
            match kind {
                FileType::Directory if !rules.hide(&full, true) => {
                    found.dirs.insert(key.into());
                    let held = self.handles.load(Ordering::Relaxed) <= HANDLES;
                    let parent = held.then(|| Arc::clone(&handle));
                    inside.push(Dir { key: key.into(), parent, rules: Arc::clone(&rules) });
                }
                // Vanished since: the paths that are known are looked at one by one.
                FileType::RegularFile | FileType::Symlink if !rules.hide(&full, false) => {
                    found.files.extend(stat().map(|stat| (key.into(), Stat::of(&stat))));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn keep(&self, fd: OwnedFd) -> Arc<Handle> {
        self.handles.fetch_add(1, Ordering::Relaxed);
        Arc::new(Handle { fd, count: Arc::clone(&self.handles) })
    }

    fn hand_over(&self, found: &mut Walked) -> usize {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.files.append(&mut found.files);
        all.dirs.append(&mut found.dirs);
        all.repos.append(&mut found.repos);
        all.barred.append(&mut found.barred);
        all.files.len()
    }
}

/// Bytes of a full path before the path below the root.
fn walk_len(root: &Path) -> usize {
    bytes(root).len() + 1
}

/// When a path below `root` was changed last; for one that is not there any more, its directory. One that has come since
/// `since` with older times of its own was moved together with a directory: then that counts.
pub(super) fn changed_at(root: &Path, below: &Path, since: Time) -> SystemTime {
    let path = root.join(below);
    let there = path.ancestors().take_while(|dir| dir.starts_with(root)).filter_map(|dir| dir.symlink_metadata().ok());
    let mut times = there.map(|meta| Stat::of_meta(&meta).ctime).peekable();
    let own = times.peek().copied();
    let at = times.find(|at| *at >= since).or(own);
    let time = |(secs, nanos): Time| {
        let since = Duration::new(u64::try_from(secs).ok()?, nanos);
        SystemTime::UNIX_EPOCH.checked_add(since)
    };
    at.and_then(time).unwrap_or_else(SystemTime::now)
}
