//! Which paths of a workspace are covered, and looking at one of them without leaving it.
//!
//! The only file of the review that knows the system's numbers for files. Invariant: below the root every name is
//! opened relative to the handle of its directory and never through a link, and no opening waits.

#[cfg(test)]
#[path = "faults_tests.rs"]
pub(crate) mod faults;
mod spelling;
mod tree;

pub(crate) use self::spelling::spelled;
use self::spelling::{Names, find};
#[cfg(test)]
pub(crate) use self::tree::walk_within;
pub(crate) use self::tree::{HIDDEN, NAMES, Part, Walked, walk};
pub(crate) use super::rules::{Budget, OldRules};
use crate::host::fs::steps::{self, READ};
use crate::review::error::ReviewError;
use rustix::fs::{FileType, Mode, OFlags, open, openat, readlinkat};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{DirBuilder, File, Metadata, Permissions};
use std::io::{ErrorKind, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A path below the root, as bytes, with `/` between the names.
pub(crate) type RelPath = Box<[u8]>;

/// How often a file that changes while it is read is read again.
const ATTEMPTS: usize = 3;
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    #[default]
    File,
    Link,
    Dir,
    /// A FIFO, a socket, a device.
    Other,
}

/// A moment in seconds and nanoseconds since 1970.
pub(crate) type Time = (i64, u32);

/// What the system says of a path without reading it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stat {
    pub kind: Kind,
    pub size: u64,
    pub mtime: Time,
    pub ctime: Time,
    pub ino: u64,
    /// Permission bits, at most 0o7777.
    pub mode: u32,
}

impl Stat {
    pub(crate) fn of(stat: &rustix::fs::Stat) -> Self {
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

    pub(crate) fn of_meta(meta: &Metadata) -> Self {
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
    pub(crate) fn touched(&self) -> Time {
        self.mtime.max(self.ctime)
    }
}

/// The bytes of a path.
pub(crate) fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// A key for the person: what cannot be seen in it is spelled out.
pub(crate) fn show(key: &[u8]) -> String {
    crate::base::paths::visible(path(key).as_os_str())
}

/// The path of bytes.
pub(crate) fn path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// A new directory for the person alone.
pub(crate) fn private_dir(dir: &Path) -> Result<(), ReviewError> {
    DirBuilder::new().mode(0o700).create(dir).map_err(|e| ReviewError::io(dir, e))
}

/// Names `path` below `root`. In the parents of an absolute path links are followed as long as they stay inside; one
/// below the root is what it says, also after a part of it has become a link. `None` for what is outside, for the root
/// itself seen through `..`, and for everything in a `.git`.
pub(crate) fn key(root: &Path, path: &Path) -> Option<RelPath> {
    Keys::new(root).key(path)
}

/// Names many paths; of those of one directory, one after the other, the directory is looked up once.
pub(crate) struct Keys<'a> {
    root: &'a Path,
    last: Option<(PathBuf, PathBuf)>,
}

impl<'a> Keys<'a> {
    pub(crate) const fn new(root: &'a Path) -> Self {
        Self { root, last: None }
    }

    /// What all of them are known by. What is asked for by another spelling than its directory has is known by that one, too.
    pub(crate) fn all(mut self, paths: &[PathBuf]) -> BTreeSet<RelPath> {
        let root = self.root;
        let (mut keys, mut reader) = (BTreeSet::new(), Reader::new(root));
        for key in paths.iter().filter_map(|path| self.key(path)) {
            let is_lacking = matches!(reader.stat(&key), Ok(None));
            let is = is_lacking.then(|| spelled(root, &key)).flatten();
            keys.extend(is.filter(|is| !is.split(|byte| *byte == b'/').any(|name| name == b".git")));
            keys.insert(key);
        }
        keys
    }

    /// See [`key`].
    pub(crate) fn key(&mut self, path: &Path) -> Option<RelPath> {
        let root = self.root;
        if path.components().any(|part| part == Component::ParentDir) {
            return None;
        }
        let is_git = |below: &Path| below.components().any(|part| part.as_os_str() == ".git");
        if path.is_relative() {
            let below: PathBuf = path.components().filter(|part| *part != Component::CurDir).collect();
            return (!is_git(&below)).then(|| bytes(&below).into());
        }
        let full = path.to_owned();
        if full == root {
            return Some(RelPath::default());
        }
        let (parent, name) = (full.parent()?, full.file_name()?);
        if self.last.as_ref().is_none_or(|(asked, _)| asked.as_os_str() != parent.as_os_str()) {
            self.last = Some((parent.to_owned(), real(parent)?));
        }
        let (_, dir) = self.last.as_ref()?;
        let inside = dir.strip_prefix(root).ok()?.join(name);
        (!is_git(&inside)).then(|| bytes(&inside).into())
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
pub(crate) fn parents(key: &[u8]) -> impl Iterator<Item = &[u8]> {
    let slashes = (0..key.len()).filter(|at| key[*at] == b'/');
    std::iter::once(&key[..0]).chain(slashes.map(|at| &key[..at]))
}

/// What is left of a path below one of its [`parents`].
pub(crate) fn below<'a>(key: &'a [u8], dir: &[u8]) -> &'a [u8] {
    key.get(if dir.is_empty() { 0 } else { dir.len() + 1 }..).unwrap_or_default()
}

// ---- looking at one path

/// What was found where a path points.
#[derive(Debug)]
pub(crate) enum Found {
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
    Unreadable(Stat, std::io::Error),
}

/// Looks at paths below a root one after the other; remembers the directory of the last. By another spelling than its
/// directory has nothing is found.
pub(crate) struct Reader {
    root: PathBuf,
    dir: Option<(RelPath, OwnedFd, Names)>,
}

/// The handle of the directory of a path, what is known of its names, and the path's name in it.
type Parent<'a, 'k> = (&'a OwnedFd, &'a mut Names, &'k [u8]);

impl Reader {
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), dir: None }
    }

    /// `None`: there is no such directory.
    fn parent<'k>(&mut self, key: &'k [u8]) -> Result<Option<Parent<'_, 'k>>, Errno> {
        let (dir, name) = match key.iter().rposition(|byte| *byte == b'/') {
            Some(at) => (&key[..at], &key[at + 1..]),
            None => (&key[..0], key),
        };
        if self.dir.as_ref().is_none_or(|(held, ..)| **held != *dir) {
            self.dir = None;
            let Some(fd) = descend(&self.root, dir)? else { return Ok(None) };
            self.dir = Some((dir.into(), fd, Names::default()));
        }
        Ok(self.dir.as_mut().map(|(_, fd, names)| (&*fd, names, name)))
    }

    /// What the system says of `key`; `None` when there is nothing.
    pub(crate) fn stat(&mut self, key: &[u8]) -> std::io::Result<Option<Stat>> {
        #[cfg(test)]
        faults::at(faults::Way::Stat, key)?;
        let Some((dir, names, name)) = self.parent(key)? else { return Ok(None) };
        match find(dir, name) {
            Ok(stat) => Ok(Some(stat).filter(|_| !names.lack(dir, name))),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    /// Reads what is at `key` now, at most `limit` bytes. Fails when not even the system's numbers can be had.
    pub(crate) fn read(&mut self, key: &[u8], limit: u64) -> std::io::Result<Found> {
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
                Err(e) => return Ok(Found::Unreadable(stat, e.into())),
            }
        }
        Ok(Found::Absent)
    }

    fn link(&mut self, key: &[u8]) -> Result<Vec<u8>, Errno> {
        let (dir, _, name) = self.parent(key)?.ok_or(Errno::NOENT)?;
        Ok(readlinkat(dir, name, Vec::new())?.into_bytes())
    }

    /// `None`: it was not the same at the end as at the beginning.
    fn file(&mut self, key: &[u8], limit: u64, last: bool) -> Result<Option<Found>, Errno> {
        #[cfg(test)]
        faults::at(faults::Way::Read, key)?;
        let (dir, _, name) = self.parent(key)?.ok_or(Errno::NOENT)?;
        let fd = openat(dir, name, READ, Mode::empty())?;
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

/// A file without a name that is dated like those below `root`; where there can be none, one in `ours`.
pub(crate) fn probe(root: &Path, ours: &Path) -> Option<File> {
    // Nothing is left or seen in the workspace, not even for a moment.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if device(root) != device(ours) {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        if let Ok(file) = open(root, flags, Mode::RUSR | Mode::WUSR) {
            return Some(File::from(file));
        }
    }
    tempfile::tempfile_in(ours).ok()
}

/// The file system that a directory is on; nothing when unknown.
pub(crate) fn device(dir: &Path) -> Option<u64> {
    dir.metadata().map(|meta| meta.dev()).ok()
}

/// The present as the system dates files, taken from `probe`: what was changed before is older, and what is changed
/// from now on is not. The ordinary clock may be some milliseconds ahead of it.
pub(crate) fn files_now(probe: Option<&File>) -> Time {
    let touched = |file: &File| {
        // Linux dates a change to the nanosecond only when a program has looked at the date before it.
        file.set_permissions(file.metadata()?.permissions())?;
        file.metadata()
    };
    let ordinary = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let dated = probe.and_then(|file| touched(file).ok());
    dated.map_or_else(|| (ordinary().as_secs() as i64, ordinary().subsec_nanos()), |meta| Stat::of_meta(&meta).ctime)
}

/// A time of a file.
pub(crate) fn dated((secs, nanos): Time) -> SystemTime {
    let since = Duration::new(u64::try_from(secs).unwrap_or(0), nanos);
    let at = SystemTime::UNIX_EPOCH.checked_add(since).unwrap_or(SystemTime::UNIX_EPOCH);
    #[cfg(test)]
    let at = faults::by_the_files_clock(at);
    at
}

/// The same the other way; before 1970 is 1970.
pub(crate) fn timed(at: SystemTime) -> Time {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    (i64::try_from(since.as_secs()).unwrap_or(i64::MAX), since.subsec_nanos())
}

/// The handle of a directory below the root, from one to the next; `None` when there is none.
fn descend(root: &Path, dir: &[u8]) -> Result<Option<OwnedFd>, Errno> {
    let is_nowhere = |e: &Errno| matches!(*e, Errno::NOENT | Errno::NOTDIR | Errno::LOOP);
    let mut fd = match steps::begin(root) {
        Ok(fd) => fd,
        // What was in it is as gone as it is.
        Err(e) if is_nowhere(&e) => return Ok(None),
        Err(e) => return Err(e),
    };
    for part in dir.split(|byte| *byte == b'/').filter(|part| !part.is_empty()) {
        fd = match steps::step(&fd, part) {
            Ok(_) if Names::default().lack(&fd, part) => return Ok(None),
            Ok(fd) => fd,
            Err(e) if is_nowhere(&e) => return Ok(None),
            Err(e) => return Err(e),
        };
    }
    Ok(Some(fd))
}

/// What stands at a path that should be a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Top {
    /// Its device and number, and its permission bits.
    Dir(u64, u64, u32),
    Link,
    Other,
    Gone,
}

/// What stands at `root` itself, links not followed.
pub(crate) fn top(root: &Path) -> std::io::Result<Top> {
    match root.symlink_metadata() {
        Ok(meta) if meta.is_dir() => Ok(Top::Dir(meta.dev(), meta.ino(), meta.mode() & 0o7777)),
        Ok(meta) if meta.is_symlink() => Ok(Top::Link),
        Ok(_) => Ok(Top::Other),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(Top::Gone),
        Err(e) => Err(e),
    }
}

/// Makes a directory with just these permissions, and those above it as usual.
pub(crate) fn make_top(root: &Path, mode: u32) -> std::io::Result<()> {
    if let Some(above) = root.parent() {
        std::fs::create_dir_all(above)?;
    }
    DirBuilder::new().mode(mode).create(root)?;
    // Also with a mask of the process.
    std::fs::set_permissions(root, Permissions::from_mode(mode))
}

/// When a file was made; nothing where the system does not know.
pub(crate) fn born(path: &Path) -> Option<Time> {
    let made = path.symlink_metadata().and_then(|meta| meta.created()).ok()?;
    let since = made.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some((since.as_secs() as i64, since.subsec_nanos()))
}

/// Opens what is a plain file; nothing for all else, and without waiting.
pub(crate) fn open_plain(path: &Path) -> Option<File> {
    let file = File::from(rustix::fs::open(path, READ, Mode::empty()).ok()?);
    file.metadata().is_ok_and(|meta| meta.is_file()).then_some(file)
}

/// What tells two names of one file: its device and number, and how many names it has.
pub(crate) fn names_of(meta: &std::fs::Metadata) -> ((u64, u64), u64) {
    ((meta.dev(), meta.ino()), meta.nlink())
}

/// Whether what is at `path` belongs to whoever runs this program.
pub(crate) fn is_ours(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.uid() == rustix::process::geteuid().as_raw())
}

/// Whether there is a regular file or a link at `path`, of the same owner as `other`.
pub(crate) fn is_file_of(path: &Path, other: &Path) -> bool {
    let (Ok(meta), Ok(other)) = (path.symlink_metadata(), other.symlink_metadata()) else { return false };
    (meta.is_file() || meta.is_symlink()) && meta.uid() == other.uid()
}

/// When a path below `root` was changed last; for one that is not there any more, its directory. One that has come since
/// `since` with older times of its own was moved together with a directory: then that counts. Where the root is gone as well
/// the directory counts that it was in. Nothing when unknown.
pub(crate) fn changed_at(root: &Path, below: &Path, since: Time) -> Option<SystemTime> {
    let path = root.join(below);
    let there = path.ancestors().take_while(|dir| dir.starts_with(root)).filter_map(|dir| dir.symlink_metadata().ok());
    let mut times = there.map(|meta| Stat::of_meta(&meta).ctime).peekable();
    let above = || Some(Stat::of_meta(&root.parent()?.symlink_metadata().ok()?).ctime);
    let own = times.peek().copied().or_else(above);
    let at = times.find(|at| *at >= since).or(own);
    at.map(dated)
}

/// Whether the file at `path` may have been there at that time: it was made then or earlier, where the system knows.
pub(crate) fn was_there(path: &Path, at: Time) -> bool {
    let made = path.symlink_metadata().and_then(|meta| meta.created()).ok();
    let made = made.and_then(|made| made.duration_since(SystemTime::UNIX_EPOCH).ok());
    made.is_none_or(|made| (made.as_secs().cast_signed(), made.subsec_nanos()) <= at)
}

/// Whether git's rules apply at `root`: a repository is there or above.
pub(crate) fn in_git(root: &Path) -> bool {
    root.ancestors().any(|dir| dir.join(".git").symlink_metadata().is_ok())
}
