//! Walks a tree as git would see it, in a few threads.
//!
//! Reads names, rules and the system's numbers, no content. Invariant: every directory is opened relative to the handle of
//! the one that it is in, and never through a link.

use super::{RelPath, Stat, bytes, descend, in_git, path};
use crate::base::threads;
use crate::review::worktree::own_files::OwnFiles;
use crate::review::worktree::plain::{self, Links};
use crate::review::worktree::rules::{self, Budget, Rules};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, open, openat, statat};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ops::Bound;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

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
/// Repositories below the root that are remembered.
const REPOS: usize = 10_000;
/// Names that git's rules hide that are remembered.
pub(crate) const HIDDEN: usize = 20_000;
/// Directories that cannot be looked into and are remembered, and bytes of their names.
const MAX_UNREADABLE: usize = 10_000;
const UNREADABLE_NAMES: usize = 4 << 20;
/// Bytes of all names that are found. Each is in memory several times, and may have 4,096.
pub(crate) const NAMES: usize = 32 << 20;

/// File systems that are no files of anybody's, by the numbers that the kernel gives them (`linux/magic.h`): what they show is
/// made while it is read, and some of it has no end.
#[cfg(any(target_os = "linux", target_os = "android"))]
const OF_THE_SYSTEM: [(&str, i64); 15] = [
    ("proc", 0x9fa0),
    ("sysfs", 0x6265_6572),
    ("cgroup", 0x27_e0eb),
    ("cgroup2", 0x6367_7270),
    ("debugfs", 0x6462_6720),
    ("tracefs", 0x7472_6163),
    ("securityfs", 0x7363_6673),
    ("bpf", 0xcafe_4a11),
    ("devpts", 0x1cd1),
    ("pstore", 0x6165_676c),
    ("configfs", 0x6265_6570),
    ("efivarfs", 0xde5e_81e4),
    ("selinuxfs", 0xf97c_ff8c),
    ("binfmt_misc", 0x4249_4e4d),
    ("mqueue", 0x1980_0202),
];

/// Whether a directory is one of the system's own: mounted below the root it is not looked into.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_of_the_system(dir: &OwnedFd) -> bool {
    rustix::fs::fstatfs(dir)
        .is_ok_and(|of| OF_THE_SYSTEM.iter().any(|(_, number)| i128::from(*number) == of.f_type.into()))
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
const fn is_of_the_system(_: &OwnedFd) -> bool {
    false
}

/// What a walk has found.
#[derive(Default)]
pub(crate) struct Walked {
    /// Regular files and links.
    pub files: Vec<(RelPath, Stat)>,
    pub dirs: BTreeSet<RelPath>,
    /// Directories that hold a `.git`.
    pub repos: Vec<PathBuf>,
    /// Directories that could not be listed, or in which nothing can be reached; none below another.
    pub unreadable: Vec<RelPath>,
    /// What git's rules hide, and nothing of what is in it; only of a walk through the whole tree.
    pub hidden: Vec<RelPath>,
    /// One of those that the disk did not give, and why.
    pub failed: Option<(RelPath, Errno)>,
    /// There is more than was asked for.
    pub cut: bool,
    /// That is so since the names are too long.
    pub has_long_names: bool,
    /// There are more rules than are applied in one look.
    pub has_many_rules: bool,
}

impl Walked {
    /// Whether it could not look into that directory.
    pub(crate) fn has_closed(&self, dir: &[u8]) -> bool {
        self.unreadable.binary_search_by(|key| (**key).cmp(dir)).is_ok()
    }
}

/// A part of the tree: these paths, and everything below these directories.
#[derive(Default)]
pub(crate) struct Part {
    pub paths: BTreeSet<RelPath>,
    pub below: BTreeSet<RelPath>,
}

impl Part {
    fn leads_to(&self, key: &[u8]) -> bool {
        let under = [key, b"/"].concat();
        let ahead = |set: &BTreeSet<RelPath>| {
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

/// Walks the tree as git would see it, at most `limit` files; all of it or a part, without what is hidden.
pub(crate) fn walk(root: &Path, part: Option<Part>, limit: usize, hidden: &OwnFiles) -> Walked {
    walk_within(root, part, (limit, NAMES), hidden)
}

/// The same with so many bytes of names.
pub(crate) fn walk_within(
    root: &Path,
    part: Option<Part>,
    (limit, names): (usize, usize),
    hidden: &OwnFiles,
) -> Walked {
    let top = Dir { key: RelPath::default(), parent: None, rules: Rules::above(root, in_git(root)) };
    let walk = Walk {
        root,
        part,
        limit,
        names: AtomicUsize::new(names),
        budget: Budget::default(),
        hidden,
        numbers: hidden.numbers(),
        queue: Mutex::new(Queue { dirs: vec![top], busy: 0, over: false }),
        news: Condvar::new(),
        handles: Arc::default(),
        all: Mutex::new(Walked { dirs: BTreeSet::from([RelPath::default()]), ..Walked::default() }),
    };
    threads::share(THREADS, || walk.work());
    let mut all = walk.all.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.repos.sort();
    all.repos.truncate(REPOS);
    all.unreadable.sort_unstable();
    let mut room = UNREADABLE_NAMES;
    let fit = all.unreadable.iter().take(MAX_UNREADABLE).take_while(|key| {
        let left = room.checked_sub(key.len());
        room = left.unwrap_or(0);
        left.is_some()
    });
    let fit = fit.count();
    all.has_long_names |= fit < all.unreadable.len().min(MAX_UNREADABLE);
    all.cut |= all.has_long_names;
    all.unreadable.truncate(fit);
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
    key: RelPath,
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
    /// Bytes of names that may still be found.
    names: AtomicUsize,
    /// For rules.
    budget: Budget,
    hidden: &'a OwnFiles,
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
                Err(error) => {
                    if !matches!(error, Errno::ACCESS | Errno::PERM | Errno::NAMETOOLONG) {
                        found.failed = Some((dir.key.clone(), error));
                    }
                    found.unreadable.push(dir.key);
                }
            }
            let is_full = found.files.len() >= HEAP && self.hand_over(&mut found) > self.limit;
            let over = is_full || found.has_long_names;
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
        if !dir.key.is_empty() && is_of_the_system(&fd) {
            return Err(Errno::ACCESS);
        }
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
        if !entries.is_empty() {
            // Without the right to search a directory its names can be had, and nothing of what they are.
            statat(&fd, c".", AtFlags::empty())?;
        }
        let mut full = [bytes(self.root), b"/", &dir.key].concat();
        let rules = if has_rules || has_git {
            let here = path(&full);
            if has_git {
                found.repos.push(path(full.strip_suffix(b"/").unwrap_or(&full)).to_owned());
            }
            let own = || plain::read_in(&fd, Path::new(rules::NAME), Links::Refused, rules::LARGEST).ok().flatten();
            let own = if has_rules { own() } else { None };
            let is_top = has_git && rules::is_top(here);
            let (rules, is_enough) = Arc::clone(&dir.rules).with(here, own, is_top, &self.budget);
            found.has_many_rules |= !is_enough;
            rules
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
            // A directory in the place of a file of git's is none of git's.
            if kind != FileType::Directory && self.hidden.is_gits(key) {
                continue;
            }
            // A directory is named once more as long as it waits to be listed.
            if !self.takes(if kind == FileType::Directory { 2 * key.len() } else { key.len() }) {
                found.has_long_names = true;
                return Ok(());
            }
            let is_covered = matches!(kind, FileType::Directory | FileType::RegularFile | FileType::Symlink);
            if is_covered && rules.hide(&full, kind == FileType::Directory) {
                if self.part.is_none() && found.hidden.len() <= HIDDEN {
                    found.hidden.push(key.into());
                }
                continue;
            }
            match kind {
                FileType::Directory => {
                    found.dirs.insert(key.into());
                    let held = self.handles.load(Ordering::Relaxed) <= HANDLES;
                    let parent = held.then(|| Arc::clone(&handle));
                    inside.push(Dir { key: key.into(), parent, rules: Arc::clone(&rules) });
                }
                // Vanished since: the paths that are known are looked at one by one.
                FileType::RegularFile | FileType::Symlink => {
                    found.files.extend(stat().map(|stat| (key.into(), Stat::of(&stat))));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether there is room for so many more bytes of names.
    fn takes(&self, bytes: usize) -> bool {
        let less = |left: usize| left.checked_sub(bytes);
        self.names.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
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
        all.unreadable.append(&mut found.unreadable);
        all.failed = found.failed.take().or(all.failed.take());
        all.hidden.append(&mut found.hidden);
        all.has_long_names |= found.has_long_names;
        all.has_many_rules |= found.has_many_rules;
        all.files.len()
    }
}

/// Bytes of a full path before the path below the root.
fn walk_len(root: &Path) -> usize {
    bytes(root).len() + 1
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_makes_while_it_is_read_is_known_by_its_kind() {
        let of = |dir: &Path| is_of_the_system(&open(dir, LIST, Mode::empty()).unwrap());
        let temp = tempfile::tempdir().unwrap();
        assert!(of(Path::new("/proc/sys")) && !of(temp.path()));
    }
}
