//! Directories of git's that are not called `.git`, and which paths in them are passed over.
//!
//! Nothing but git's own directory is hidden: `.git` itself, and a directory to which a `.git` led at the first look of
//! the session and which has nothing but git's in it. In the latter only what git alone writes, by its name, its place
//! and its content; settings, hooks and all else are files. What looks like a repository and nothing leads to it is
//! ordinary files. Invariants: no index names what is hidden; what was once seen as a file of the tree stays one; nothing
//! becomes hidden later; and a directory in which something of git's has changed, has gone or cannot be seen is named.

use super::git_form::{is_dir, is_gits, is_written_by_git};
use super::walk::{self, Kind, Reader, RelPath, Stat, Time};
use crate::base::human::thousands;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Names that are given of one kind.
const NAMED: usize = 8;
/// Lines that are given.
const LINES: usize = 50;
/// Names of all directories together that are compared.
const ENTRIES: usize = 200_000;
/// What a directory of git's must have.
const PARTS: [&str; 3] = ["HEAD", "objects", "refs"];
// ---- which directories there are

/// What is known of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Print {
    /// What git's files in it were at the first look: how many, and a hash of their names and numbers.
    Was(String),
    /// That could not be told.
    Unknown,
}

/// The directories in a tree to which a `.git` led at the first look.
#[derive(Clone, Debug, Default)]
pub(crate) struct GitDirs {
    pub dirs: BTreeMap<RelPath, Print>,
    /// When the first look began.
    pub began: Time,
    /// What is git's by its form and was named by an index at the first look: files like any other.
    pub tracked: BTreeSet<RelPath>,
    /// What is called as git's files are, and is a file of the tree.
    ordinary: Arc<Mutex<BTreeSet<RelPath>>>,
}

impl GitDirs {
    /// None yet.
    pub(crate) fn new(began: Time) -> Self {
        Self { began, ..Self::default() }
    }

    /// The paths below those directories that lead to `key`, as far as git knows such a file there.
    fn named<'a>(&self, key: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        let slashes = (0..if self.dirs.is_empty() { 0 } else { key.len() }).filter(|at| key[*at] == b'/');
        slashes.filter(|at| self.dirs.contains_key(&key[..*at])).map(|at| &key[at + 1..]).filter(|below| is_gits(below))
    }

    /// Whether a path is one of git's now. Reads at most a little of a ref or log.
    pub(crate) fn has(&self, root: &Path, key: &[u8]) -> bool {
        let mut named = self.named(key).peekable();
        if named.peek().is_none() || self.ordinary().contains(key) {
            return false;
        }
        let path = root.join(walk::path(key));
        let has = named.any(|below| is_written_by_git(&path, below));
        if !has {
            self.ordinary().insert(key.into());
        }
        has
    }

    /// A path is a file of the tree from now on, whatever it is called.
    pub(crate) fn is_ordinary(&self, key: &[u8]) {
        if self.named(key).next().is_some() {
            self.ordinary().insert(key.into());
        }
    }

    fn ordinary(&self) -> std::sync::MutexGuard<'_, BTreeSet<RelPath>> {
        self.ordinary.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The uppermost ones.
    pub(crate) fn tops(&self) -> impl Iterator<Item = &RelPath> {
        self.dirs.keys().filter(|dir| !walk::parents(dir).any(|above| self.dirs.contains_key(above)))
    }

    /// What has to be said of them: so many lines at most.
    pub(crate) fn words(&self, root: &Path) -> Vec<String> {
        let (mut lines, mut names, mut left) = (Vec::new(), Vec::new(), ENTRIES);
        for dir in self.tops() {
            let name = walk::show(dir);
            let listing = Listing::of(root, dir, self, &mut left);
            if !listing.is_there {
                lines.push(format!("{name}/: was git's own directory and is gone, which cannot be taken back"));
                continue;
            }
            names.push(name.clone());
            let missing = listing.missing(root);
            if !missing.is_empty() {
                let names = missing.join(", ");
                lines.push(format!("{name}/: of git's own {names} is gone, which cannot be taken back"));
            }
            for closed in &listing.closed {
                lines.push(format!("{}/: cannot be read: what git has there may have changed", walk::show(closed)));
            }
            let mut changed = listing.changed(root, self.began);
            let is_same =
                matches!(self.dirs.get(dir), Some(Print::Was(was)) if listing.is_whole && listing.print() == *was);
            if is_same && changed.is_empty() {
                continue;
            }
            changed.extend(listing.touched_dirs(self.began));
            let what = if listing.is_whole { "has changed" } else { "has changed, as far as it was looked at" };
            if !changed.is_empty() {
                let names = some(changed.iter().map(|key| walk::show(key)), NAMED);
                lines.push(format!("{name}/: git's own {what}, which an undo leaves alone: {names}"));
            } else if missing.is_empty() {
                lines.push(format!("{name}/: something of git's own may have changed, which an undo leaves alone"));
            }
        }
        let more = lines.len().saturating_sub(LINES);
        if more > 0 {
            lines.truncate(LINES);
            lines.push(format!("and {} more lines of git's own directories", thousands(more as u64)));
        }
        if !names.is_empty() {
            let names = some(names.into_iter(), NAMED);
            lines.push(format!("git's own files in these directories, which an undo leaves alone: {names}"));
        }
        lines
    }
}

/// The first names, and how many more.
pub(crate) fn some(names: impl ExactSizeIterator<Item = String>, most: usize) -> String {
    let more = names.len().saturating_sub(most);
    let named = names.take(most).collect::<Vec<_>>().join(", ");
    if more == 0 { named } else { format!("{named} and {} more", thousands(more as u64)) }
}

/// What one looks like at a moment, for a later one.
pub(crate) fn print(root: &Path, dir: &RelPath, git: &GitDirs, left: &mut usize) -> Print {
    let listing = Listing::of(root, dir, git, left);
    if listing.is_whole && listing.closed.is_empty() { Print::Was(listing.print()) } else { Print::Unknown }
}

/// Names that may be listed at once for [`print()`].
pub(crate) const fn room() -> usize {
    ENTRIES
}

/// What git has in a directory.
struct Listing {
    dir: RelPath,
    is_there: bool,
    /// Not more than could be listed.
    is_whole: bool,
    files: BTreeMap<RelPath, Stat>,
    dirs: BTreeMap<RelPath, Stat>,
    /// Directories that cannot be read.
    closed: Vec<RelPath>,
}

impl Listing {
    fn of(root: &Path, dir: &RelPath, git: &GitDirs, left: &mut usize) -> Self {
        let mut reader = Reader::new(root);
        let mut stat = |key: &[u8]| reader.stat(key);
        let is_there = stat(dir).map_or(true, |stat| stat.is_some_and(|stat| stat.kind == Kind::Dir));
        let (files, dirs) = (BTreeMap::new(), BTreeMap::new());
        let mut listing = Self { dir: dir.clone(), is_there, is_whole: true, files, dirs, closed: Vec::new() };
        let mut open = if is_there { vec![dir.clone()] } else { Vec::new() };
        while let Some(at) = open.pop() {
            let Ok(entries) = root.join(walk::path(&at)).read_dir() else {
                listing.closed.push(at);
                continue;
            };
            for entry in entries {
                let Ok(entry) = entry else {
                    listing.closed.push(at.clone());
                    break;
                };
                let Some(less) = left.checked_sub(1) else {
                    listing.is_whole = false;
                    return listing;
                };
                *left = less;
                let name = entry.file_name();
                let key: RelPath = [&*at, b"/", walk::bytes(Path::new(&name))].concat().into();
                let below = key.get(dir.len() + 1..).unwrap_or_default();
                match stat(&key) {
                    Ok(Some(stat)) if stat.kind == Kind::Dir => {
                        let first = below.split(|byte| *byte == b'/').next().unwrap_or_default();
                        if is_dir(first) {
                            open.push(key.clone());
                            listing.dirs.insert(key, stat);
                        }
                    }
                    Ok(Some(stat)) if git.has(root, &key) => drop(listing.files.insert(key, stat)),
                    Ok(_) => {}
                    Err(_) => listing.closed.push(at.clone()),
                }
            }
        }
        listing.closed.sort_unstable();
        listing.closed.dedup();
        listing
    }

    fn missing(&self, root: &Path) -> Vec<&'static str> {
        let dir = root.join(walk::path(&self.dir));
        let is_gone = |name: &str| dir.join(name).symlink_metadata().is_err();
        PARTS.into_iter().filter(|name| self.is_whole && self.closed.is_empty() && is_gone(name)).collect()
    }

    fn print(&self) -> String {
        let mut hash = Sha256::new();
        for (key, stat) in &self.files {
            hash.update(key);
            let (kind, at) = (stat.kind, self.written(key, stat));
            hash.update(format!("\0{:?}\n", (kind, stat.size, stat.mtime, at, stat.ino, stat.mode)));
        }
        let short = hash.finalize().iter().take(16).fold(0_u128, |short, byte| (short << 8) | u128::from(*byte));
        format!("{}-{short:032x}", self.files.len())
    }

    fn is_object(&self, key: &[u8]) -> bool {
        key.get(self.dir.len() + 1..).is_some_and(|below| below.starts_with(b"objects/"))
    }

    /// When a file was changed last, as far as that is its alone: an object gets another time when it gets a second name,
    /// as from us.
    fn written(&self, key: &[u8], stat: &Stat) -> Time {
        if self.is_object(key) { stat.mtime } else { stat.touched() }
    }

    /// What was written or came since, what is not an object or a log first.
    fn changed(&self, root: &Path, since: Time) -> Vec<RelPath> {
        let rank = |key: &RelPath| {
            let below = key.get(self.dir.len() + 1..).unwrap_or_default();
            [&b"refs/"[..], b"logs/", b"objects/"].iter().position(|dir| below.starts_with(dir)).map_or(0, |at| at + 1)
        };
        // The time when it was written can be put back. An object with one name has got none in between.
        let has_one_name =
            |key: &[u8]| root.join(walk::path(key)).symlink_metadata().is_ok_and(|meta| walk::names_of(&meta).1 == 1);
        let is_new =
            |key: &RelPath, stat: &Stat| self.written(key, stat) >= since || stat.ctime >= since && has_one_name(key);
        let files = self.files.iter().filter(|(key, stat)| is_new(key, stat));
        let mut files: Vec<RelPath> = files.map(|(key, _)| key.clone()).collect();
        files.sort_by_key(|key| (rank(key), key.clone()));
        files
    }

    /// Directories out of or into which something went since.
    fn touched_dirs(&self, since: Time) -> impl Iterator<Item = RelPath> {
        let touched = self.dirs.iter().filter(move |(_, stat)| stat.touched() >= since);
        touched.map(|(key, _)| [&**key, b"/"].concat().into())
    }
}
