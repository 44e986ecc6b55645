//! Directories of git's that are not called `.git`, and which paths in them are git's.
//!
//! Nothing but git's own directory is hidden: `.git` itself, and a directory to which a `.git` led at the first look of
//! the session. In the latter only what is git's by its name, its place and, of refs and logs, its content. What looks
//! like a repository and nothing leads to it is ordinary files. Invariants: no index names what is hidden; what was once
//! seen as a file of the tree stays one; nothing becomes hidden later; and a directory in which something of git's has
//! changed, has gone or cannot be seen is named.

use super::walk::{self, Kind, Reader, RelPath, Stat, Time};
use crate::base::human::thousands;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Names that are given of one kind.
const NAMED: usize = 8;
/// Lines that are given.
const LINES: usize = 50;
/// Names of all directories together that are compared.
const ENTRIES: usize = 200_000;
/// A ref is not longer.
const MAX_REF: u64 = 1 << 10;
/// So much of a log is looked at.
const MAX_LOG: u64 = 4 << 10;
/// What a directory of git's must have.
const PARTS: [&str; 4] = ["HEAD", "config", "objects", "refs"];
/// Files right in it. `.lock` may stand behind each.
const FILES: &[&[u8]] = &[
    b"HEAD",
    b"ORIG_HEAD",
    b"FETCH_HEAD",
    b"MERGE_HEAD",
    b"CHERRY_PICK_HEAD",
    b"REVERT_HEAD",
    b"REBASE_HEAD",
    b"BISECT_HEAD",
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
/// Directories in it of which some files are git's.
const DIRS: &[&[u8]] = &[
    b"objects",
    b"refs",
    b"logs",
    b"hooks",
    b"info",
    b"worktrees",
    b"modules",
    b"lfs",
    b"rebase-apply",
    b"rebase-merge",
    b"reftable",
    b"rr-cache",
    b"sequencer",
];
const INFO: &[&[u8]] = &[b"exclude", b"attributes", b"refs", b"grafts", b"sparse-checkout"];
/// `.sample` may stand behind each.
const HOOKS: &[&[u8]] = &[
    b"applypatch-msg",
    b"commit-msg",
    b"fsmonitor-watchman",
    b"post-applypatch",
    b"post-checkout",
    b"post-commit",
    b"post-index-change",
    b"post-merge",
    b"post-receive",
    b"post-rewrite",
    b"post-update",
    b"pre-applypatch",
    b"pre-auto-gc",
    b"pre-commit",
    b"pre-merge-commit",
    b"pre-push",
    b"pre-rebase",
    b"pre-receive",
    b"prepare-commit-msg",
    b"proc-receive",
    b"push-to-checkout",
    b"reference-transaction",
    b"sendemail-validate",
    b"update",
];
const PACKS: &[&[u8]] = &[b"pack", b"idx", b"rev", b"bitmap", b"mtimes", b"keep", b"promisor"];

// ---- which files are git's

fn is_hex(name: &[u8]) -> bool {
    name.iter().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(b))
}

/// The name of what is being written under that one.
fn unlocked(name: &[u8]) -> &[u8] {
    name.strip_suffix(b".lock").unwrap_or(name)
}

/// The name of an object.
fn is_oid(name: &[u8]) -> bool {
    matches!(name.len(), 40 | 64) && is_hex(name)
}

/// Whether a file of this path in a directory of git's may be git's own.
pub(crate) fn is_gits(below: &[u8]) -> bool {
    let parts: Vec<&[u8]> = below.split(|byte| *byte == b'/').collect();
    is_gits_of(&parts)
}

fn is_gits_of(parts: &[&[u8]]) -> bool {
    let is_word = |name: &[u8]| name.iter().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(b));
    match *parts {
        [name] => FILES.contains(&unlocked(name)) || name.strip_prefix(b"sharedindex.").is_some_and(is_oid),
        [b"worktrees", _, ref rest @ ..] => {
            !matches!(rest.first(), Some(&(b"worktrees" | b"objects" | b"modules"))) && is_gits_of(rest)
        }
        // The name of a module may have slashes.
        [b"modules", _, ref rest @ ..] => (0..rest.len()).any(|at| is_gits_of(&rest[at..])),
        [b"objects", ref rest @ ..] => is_object(rest),
        [b"refs", name] => unlocked(name) == b"stash",
        [b"logs", b"HEAD"] | [b"refs" | b"logs", _, _, ..] => true,
        [b"hooks", name] => HOOKS.contains(&name.strip_suffix(b".sample").unwrap_or(name)),
        [b"info", name] => INFO.contains(&unlocked(name)),
        [b"lfs", b"objects", one, two, name] => one.len() == 2 && two.len() == 2 && name.len() == 64 && is_oid(name),
        [b"rebase-apply" | b"rebase-merge" | b"sequencer", name] => is_word(name) || name == b"git-rebase-todo.backup",
        [b"reftable", name] => {
            unlocked(name) == b"tables.list"
                || name.starts_with(b"0x") && (name.ends_with(b".ref") || name.ends_with(b".log"))
        }
        [b"rr-cache", of, name] => {
            is_oid(of) && [&b"preimage"[..], b"postimage", b"thisimage"].iter().any(|image| name.starts_with(image))
        }
        _ => false,
    }
}

/// Whether a path in a directory of objects is one of git's.
pub(crate) fn is_object(parts: &[&[u8]]) -> bool {
    let is_passing = |name: &[u8]| name.starts_with(b"tmp_") || name.starts_with(b".tmp-");
    match *parts {
        [b"info", b"packs" | b"alternates" | b"http-alternates" | b"commit-graph" | b"commit-graph.lock"]
        | [b"info", b"commit-graphs", _] => true,
        [b"pack", name] => is_pack(name) || name.starts_with(b"multi-pack-index") || is_passing(name),
        [b"pack", b"multi-pack-index.d", _] => true,
        // Objects that are just received.
        [first, ref rest @ ..] if first.starts_with(b"tmp_objdir-") || first.starts_with(b"incoming-") => {
            is_object(rest)
        }
        [dir, name] => is_loose(dir, name) || dir.len() == 2 && is_hex(dir) && is_passing(name),
        _ => false,
    }
}

/// Whether a pack has such a name, or what belongs to one.
pub(crate) fn is_pack(name: &[u8]) -> bool {
    let of = name.strip_prefix(b"pack-").and_then(|rest| {
        let at = rest.iter().position(|byte| *byte == b'.')?;
        Some((rest.get(..at)?, rest.get(at + 1..)?))
    });
    of.is_some_and(|(oid, end)| is_oid(oid) && PACKS.contains(&end))
}

/// Whether an object by itself has such a name in such a directory.
pub(crate) fn is_loose(dir: &[u8], name: &[u8]) -> bool {
    dir.len() == 2 && is_hex(dir) && matches!(name.len(), 38 | 62) && is_hex(name)
}

/// Whether what is at a path in a directory of git's has the form of it. What is not there has.
pub(crate) fn has_form(path: &Path, below: &[u8]) -> bool {
    let mut dirs = below.split(|byte| *byte == b'/').rev().skip(1).collect::<Vec<_>>().into_iter().rev();
    let is_log = match dirs.find(|dir| [&b"refs"[..], b"logs"].contains(dir)) {
        Some(dir) => dir == b"logs",
        None => return true,
    };
    let Ok(meta) = path.symlink_metadata() else { return true };
    let mut text = Vec::new();
    let most = if is_log { MAX_LOG } else { MAX_REF + 1 };
    let is_read =
        meta.is_file() && walk::open_plain(path).is_some_and(|file| file.take(most).read_to_end(&mut text).is_ok());
    let is_lock = text.is_empty() && below.ends_with(b".lock");
    is_read
        && if is_log { text.split_inclusive(|byte| *byte == b'\n').all(is_log_line) } else { is_lock || is_head(&text) }
}

/// Whether a line, or the beginning of one, is that of a log: two names of commits, then who.
fn is_log_line(line: &[u8]) -> bool {
    let mut words = line.splitn(3, |byte| *byte == b' ');
    let [old, new] = [words.next().unwrap_or_default(), words.next().unwrap_or_default()];
    let is_cut = !line.ends_with(b"\n") && is_hex(old) && is_hex(new);
    is_oid(old) && is_oid(new) && old.len() == new.len() && words.next().is_some() || is_cut
}

/// Whether that is in `HEAD` or in a ref: the name of another one, or of an object.
pub(crate) fn is_head(text: &[u8]) -> bool {
    let text = text.trim_ascii_end();
    let is_name = |name: &[u8]| !name.iter().any(|byte| byte.is_ascii_whitespace() || byte.is_ascii_control());
    text.len() as u64 <= MAX_REF && (is_oid(text) || text.strip_prefix(b"ref: refs/").is_some_and(is_name))
}

/// Whether a directory is one of git's: it has a `HEAD`, and objects and refs or the way to those.
pub(crate) fn is_git_dir(dir: &Path) -> bool {
    let head = dir.join("HEAD");
    let is_link = || head.read_link().is_ok_and(|to| to.starts_with("refs"));
    let mut text = Vec::new();
    let mut is_file =
        || walk::open_plain(&head).is_some_and(|file| file.take(MAX_REF + 1).read_to_end(&mut text).is_ok());
    let has_head = is_link() || is_file() && is_head(&text);
    has_head && (dir.join("commondir").is_file() || ["objects", "refs"].iter().all(|name| dir.join(name).is_dir()))
}

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
        let has = named.any(|below| has_form(&path, below));
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
            let missing = listing.missing();
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
                        if DIRS.contains(&first) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_git_knows_are_gits_and_only_at_their_places() {
        let oid = "0123456789abcdef0123456789abcdef01234567";
        let own = [
            "HEAD",
            "ORIG_HEAD",
            "index.lock",
            "config",
            "objects/aa/0123456789abcdef0123456789abcdef012345",
            "objects/aa/tmp_obj_x1",
            &format!("objects/pack/pack-{oid}.idx"),
            &format!("sharedindex.{oid}"),
            "objects/info/commit-graphs/graph-1.graph",
            "refs/heads/main",
            "refs/stash",
            "logs/HEAD",
            "logs/refs/heads/a/b",
            "hooks/post-commit",
            "hooks/pre-push.sample",
            "info/exclude",
            "worktrees/one/gitdir",
            "worktrees/one/logs/HEAD",
            "modules/a/config",
            "modules/libs/a/objects/aa/0123456789abcdef0123456789abcdef012345",
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
            "EVIL_HEAD",
            "config/evil",
            "HEAD/x",
            "sharedindex.evil",
            "objects/e",
            "objects/aa/b",
            "objects/zz/0123456789abcdef0123456789abcdef012345",
            "objects/pack/evil.sh",
            "objects/pack/pack-lib.py",
            &format!("objects/pack/pack-{oid}.py"),
            "refs/keep",
            "hooks/useAuth.ts",
            "hooks/deep/pre-commit",
            "info/evil",
            "logs/x",
            "annex/x.py",
            "rebase-merge/evil.sh",
            "reftable/evil.py",
            "worktrees/one/src/main.rs",
            &format!("worktrees/one/objects/pack/pack-{oid}.idx"),
            "modules/config",
            "sequencer",
        ];
        for path in others {
            assert!(!is_gits(path.as_bytes()), "{path}");
        }
    }
    #[test]
    fn refs_and_logs_are_gits_by_what_is_in_them() {
        let oid = "0123456789abcdef0123456789abcdef01234567";
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let is = |below: &str, text: &str| {
            std::fs::write(&path, text).unwrap();
            has_form(&path, below.as_bytes())
        };
        let (line, log) = (format!("{oid}\n"), format!("{oid} {oid} A <a@b> 1 +0000\tcommit: one\n"));
        for (below, text) in [
            ("refs/heads/a", &*line),
            ("refs/remotes/o/HEAD", "ref: refs/remotes/o/main\n"),
            ("refs/heads/a.lock", ""),
            ("logs/HEAD", ""),
            ("logs/HEAD", &log),
            ("logs/refs/heads/a", &log.repeat(100)),
            ("worktrees/w/logs/HEAD", &log),
            ("config", "anything"),
        ] {
            assert!(is(below, text), "{below}: {text}");
        }
        for (below, text) in [
            ("refs/heads/a", ""),
            ("refs/heads/a.ts", "evil()\n"),
            ("refs/heads/a", &format!("{oid}\nevil\n")),
            ("modules/m/refs/heads/a", "ref: refs/heads/a b\n"),
            ("logs/HEAD", "evil\n"),
            ("logs/HEAD", &format!("{log}evil\n")),
            ("logs/HEAD", &format!("{log}{oid} {oid}\n")),
        ] {
            assert!(!is(below, text), "{below}: {text}");
        }
        std::fs::remove_file(&path).unwrap();
        assert!(has_form(&path, b"refs/heads/a"));
        std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
        assert!(!has_form(&path, b"refs/heads/a"));
    }
}
