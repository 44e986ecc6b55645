//! Git's own directories that are not called `.git`, and which paths in them are git's.
//!
//! Goes by names and by the system's numbers, reads no content and does not say which directories they are. Invariants:
//! git's is only a file that git knows, at the place where it belongs, so that no directory is passed over as a whole; and
//! a directory in which something of git's has changed, has gone or cannot be seen is named, however many there are.

use super::walk::{self, Kind, Reader, RelPath, Stat, Time, Top};
use crate::base::human::thousands;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Names that are given of one kind.
const NAMED: usize = 8;
/// Names of all directories together that are compared.
const ENTRIES: usize = 200_000;
/// What a directory of git's must have.
pub(crate) const PARTS: [&str; 4] = ["HEAD", "config", "objects", "refs"];
/// Files right in it, beside those of [`is_head`]. `.lock` may stand behind each.
const FILES: &[&[u8]] = &[
    b"HEAD",
    b"config",
    b"config.worktree",
    b"description",
    b"index",
    b"packed-refs",
    b"packed-refs.new",
    b"shallow",
    b"commondir",
    b"gitdir",
    b"locked",
    b"git-daemon-export-ok",
    b"gc.log",
    b"gc.pid",
    b"AUTO_MERGE",
    b"COMMIT_EDITMSG",
    b"MERGE_MODE",
    b"MERGE_MSG",
    b"MERGE_RR",
    b"SQUASH_MSG",
    b"TAG_EDITMSG",
    b"NOTES_EDITMSG",
    b"NOTES_MERGE_PARTIAL",
    b"NOTES_MERGE_REF",
    b"EDIT_DESCRIPTION",
    b"BISECT_ANCESTORS_OK",
    b"BISECT_EXPECTED_REV",
    b"BISECT_LOG",
    b"BISECT_NAMES",
    b"BISECT_RUN",
    b"BISECT_START",
    b"BISECT_TERMS",
];
/// Directories in it of which only some files are git's.
const SOME: &[&[u8]] = &[b"objects", b"refs", b"logs", b"hooks", b"info", b"branches", b"remotes", b"worktrees"];
/// Directories in it in which everything is.
const WHOLE: &[&[u8]] = &[
    b"annex",
    b"fsmonitor--daemon",
    b"lfs",
    b"rebase-apply",
    b"rebase-merge",
    b"reftable",
    b"rr-cache",
    b"sequencer",
    b"svn",
];
const INFO: &[&[u8]] = &[b"exclude", b"attributes", b"refs", b"grafts", b"sparse-checkout"];

// ---- which files are git's

/// Whether a file of this path in a directory of git's is git's own.
fn is_gits(below: &[u8]) -> bool {
    let parts: Vec<&[u8]> = below.split(|byte| *byte == b'/').collect();
    let name = below.strip_suffix(b".lock").unwrap_or(below);
    match *parts {
        [_] => FILES.contains(&name) || is_head(name) || name.starts_with(b"sharedindex."),
        [b"worktrees", _, ..] => parts.get(2..).is_some_and(|rest| is_of_worktree(&rest.join(&b'/'))),
        [b"objects", ..] => is_object(parts.get(1..).unwrap_or_default()),
        [b"refs", name] => name.strip_suffix(b".lock").unwrap_or(name) == b"stash",
        [b"logs", b"HEAD"] | [b"refs" | b"logs", _, _, ..] | [b"hooks" | b"branches" | b"remotes", _] => true,
        [b"info", name] => INFO.contains(&name.strip_suffix(b".lock").unwrap_or(name)),
        [first, _, ..] => WHOLE.contains(&first),
        [] => false,
    }
}

/// The same of a path from the root, and the directory.
pub(crate) fn is_gits_in(dir: &[u8], key: &[u8]) -> bool {
    key.strip_prefix(dir).and_then(|rest| rest.strip_prefix(b"/")).is_some_and(is_gits)
}

/// `ORIG_HEAD` and its like.
fn is_head(name: &[u8]) -> bool {
    name.strip_suffix(b"_HEAD")
        .is_some_and(|of| !of.is_empty() && of.iter().all(|b| b.is_ascii_uppercase() || *b == b'_'))
}

/// The same of what git keeps of a worktree.
fn is_of_worktree(below: &[u8]) -> bool {
    !below.starts_with(b"worktrees/") && !below.starts_with(b"objects/") && is_gits(below)
}

/// Whether a path below `objects` is one of git's.
fn is_object(parts: &[&[u8]]) -> bool {
    let is_hex = |name: &[u8]| name.iter().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(b));
    let is_passing = |name: &[u8]| name.starts_with(b"tmp_") || name.starts_with(b".tmp-");
    match *parts {
        [b"info", b"packs" | b"alternates" | b"http-alternates" | b"commit-graph" | b"commit-graph.lock"]
        | [b"info", b"commit-graphs", _] => true,
        [b"pack", name] => name.starts_with(b"pack-") || name.starts_with(b"multi-pack-index") || is_passing(name),
        [b"pack", b"multi-pack-index.d", _] => true,
        // Objects that are just received.
        [first, ref rest @ ..] if first.starts_with(b"tmp_objdir-") || first.starts_with(b"incoming-") => {
            is_object(rest)
        }
        [dir, name] if dir.len() == 2 && is_hex(dir) => {
            matches!(name.len(), 38 | 62) && is_hex(name) || is_passing(name)
        }
        _ => false,
    }
}

// ---- which directories there are

/// What is known of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Print {
    /// What git's files in it were at the first look: how many, and a hash of their names and numbers.
    Was(String),
    /// That could not be told.
    Unknown,
    /// It has come in the session when another one was moved away: it may be what that has become.
    Come,
}

/// Git's own directories in a tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct GitDirs {
    pub dirs: BTreeMap<RelPath, Print>,
    /// When the first look began.
    pub began: Time,
    /// Directories of git's, `.git` too, and the numbers that they had.
    pub places: Vec<(PathBuf, u64)>,
}

impl GitDirs {
    pub(crate) fn has(&self, key: &[u8]) -> bool {
        let slashes = || (0..key.len()).filter(|at| key[*at] == b'/');
        !self.dirs.is_empty() && slashes().any(|at| self.dirs.contains_key(&key[..at]) && is_gits(&key[at + 1..]))
    }

    /// Takes note of where a directory of git's is.
    pub(crate) fn place(&mut self, path: PathBuf) {
        for path in [path.join("objects"), path] {
            self.places.extend(number(&path).map(|number| (path, number)));
        }
    }

    /// Whether one of them is no longer where it was: then what looks like one elsewhere may be it.
    pub(crate) fn are_moved(&self) -> bool {
        self.places.iter().any(|(path, was)| number(path) != Some(*was))
    }

    /// What has to be said of them.
    pub(crate) fn words(&self, root: &Path) -> Vec<String> {
        let (mut lines, mut left) = (Vec::new(), ENTRIES);
        let mut gone: BTreeSet<RelPath> = BTreeSet::new();
        for (dir, print) in &self.dirs {
            if walk::parents(dir).any(|above| gone.contains(above)) {
                continue;
            }
            let name = walk::show(dir);
            let listing = Listing::of(root, dir, &mut left);
            if !listing.is_there {
                lines.push(format!("{name}/: was git's own directory and is gone, which cannot be taken back"));
                gone.insert(dir.clone());
                continue;
            }
            let missing = listing.missing();
            if !missing.is_empty() {
                let names = missing.join(", ");
                lines.push(format!("{name}/: of git's own {names} is gone, which cannot be taken back"));
            }
            for closed in &listing.closed {
                lines.push(format!("{}/: cannot be read: what git has there may have changed", walk::show(closed)));
            }
            let come =
                "took the place of a directory of git's in this session, and an undo leaves what git has in it alone";
            match print {
                Print::Come => lines.push(format!("{name}/: {come}")),
                Print::Was(was) if listing.is_whole && listing.print() == *was => continue,
                _ => {}
            }
            let changed = listing.changed(self.began);
            let what = if listing.is_whole { "has changed" } else { "has changed, as far as it was looked at" };
            if !changed.is_empty() {
                let names = some(changed.iter().map(|key| walk::show(key)), NAMED);
                lines.push(format!("{name}/: git's own {what}, which an undo leaves alone: {names}"));
            } else if missing.is_empty() {
                lines.push(format!("{name}/: something of git's own may have changed, which an undo leaves alone"));
            }
        }
        let is_top =
            |dir: &&RelPath| !walk::parents(dir).any(|above| self.dirs.contains_key(above)) && !gone.contains(*dir);
        let tops: Vec<String> = self.dirs.keys().filter(is_top).map(|dir| walk::show(dir)).collect();
        if !tops.is_empty() {
            let names = some(tops.into_iter(), NAMED);
            lines.push(format!("git's own files in these directories, which an undo leaves alone: {names}"));
        }
        lines
    }
}

/// The number of a directory.
fn number(path: &Path) -> Option<u64> {
    if let Ok(Top::Dir(_, number, _)) = walk::top(path) { Some(number) } else { None }
}

/// The first names, and how many more.
pub(crate) fn some(names: impl ExactSizeIterator<Item = String>, most: usize) -> String {
    let more = names.len().saturating_sub(most);
    let named = names.take(most).collect::<Vec<_>>().join(", ");
    if more == 0 { named } else { format!("{named} and {} more", thousands(more as u64)) }
}

/// What one looks like at a moment, for a later one.
pub(crate) fn print(root: &Path, dir: &RelPath, left: &mut usize) -> Print {
    let listing = Listing::of(root, dir, left);
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
    fn of(root: &Path, dir: &RelPath, left: &mut usize) -> Self {
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
                        if SOME.contains(&first) || WHOLE.contains(&first) {
                            open.push(key.clone());
                            listing.dirs.insert(key, stat);
                        }
                    }
                    Ok(Some(stat)) if is_gits(below) => drop(listing.files.insert(key, stat)),
                    Ok(_) => {}
                    Err(_) => listing.closed.push(at.clone()),
                }
            }
        }
        listing.closed.sort_unstable();
        listing.closed.dedup();
        listing
    }

    fn missing(&self) -> Vec<&'static str> {
        let key = |name: &str| [&*self.dir, b"/", name.as_bytes()].concat();
        let is_there = |name: &str| self.files.contains_key(&*key(name)) || self.dirs.contains_key(&*key(name));
        PARTS.into_iter().filter(|name| self.is_whole && self.closed.is_empty() && !is_there(name)).collect()
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

    /// When a file was changed last. An object is what its name says, and gets another time when it gets a second name, as
    /// from us.
    fn written(&self, key: &[u8], stat: &Stat) -> Time {
        let is_object = key.get(self.dir.len() + 1..).is_some_and(|below| below.starts_with(b"objects/"));
        if is_object { stat.mtime } else { stat.touched() }
    }

    /// What was written or came since, what is not an object or a log first; then the directories out of or into which
    /// something went.
    fn changed(&self, since: Time) -> Vec<RelPath> {
        let rank = |key: &RelPath| {
            let below = key.get(self.dir.len() + 1..).unwrap_or_default();
            [&b"refs/"[..], b"logs/", b"objects/"].iter().position(|dir| below.starts_with(dir)).map_or(0, |at| at + 1)
        };
        let files = self.files.iter().filter(|(key, stat)| self.written(key, stat) >= since);
        let files = files.map(|(key, _)| key.clone());
        let mut files: Vec<RelPath> = files.collect();
        files.sort_by_key(|key| (rank(key), key.clone()));
        let dirs =
            self.dirs.iter().filter(|(_, stat)| stat.touched() >= since).map(|(key, _)| [&**key, b"/"].concat().into());
        files.into_iter().chain(dirs).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_git_knows_are_gits_and_only_at_their_places() {
        let own = [
            "HEAD",
            "ORIG_HEAD",
            "index.lock",
            "config",
            "objects/aa/0123456789abcdef0123456789abcdef012345",
            "objects/aa/tmp_obj_x1",
            "objects/pack/pack-1.idx",
            "objects/info/commit-graphs/graph-1.graph",
            "refs/heads/main",
            "refs/stash",
            "logs/HEAD",
            "logs/refs/heads/a/b",
            "hooks/post-commit",
            "info/exclude",
            "worktrees/one/gitdir",
            "worktrees/one/logs/HEAD",
            "rebase-merge/done",
        ];
        for path in own {
            assert!(is_gits(path.as_bytes()), "{path}");
        }
        let others = [
            "",
            "main.rs",
            "README",
            "_HEAD",
            "evil_HEAD",
            "config/evil",
            "HEAD/x",
            "objects/e",
            "objects/aa/b",
            "objects/zz/0123456789abcdef0123456789abcdef012345",
            "objects/pack/evil.sh",
            "refs/keep",
            "hooks/deep/hook",
            "info/evil",
            "logs/x",
            "worktrees/one/src/main.rs",
            "worktrees/one/objects/pack/pack-1.idx",
            "modules/a/config",
            "sequencer",
        ];
        for path in others {
            assert!(!is_gits(path.as_bytes()), "{path}");
        }
    }
}
