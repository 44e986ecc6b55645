//! Which `.git`s there are in a tree, what git runs and is set to by them, and what it ignores, compared with the first
//! look.
//!
//! Reads small files only. Invariants: what is said is bounded however much there is; what could not be noted is not said
//! to have changed, but that it was not compared.

use super::git_dirs::some;
use super::git_form::HOOKS;
use super::git_refs;
use super::plain::{self, Links, Odd};
use super::walk::{self, Stat};
use super::{repo, rules};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Files beside the hooks that git knows, of all repositories.
const ENTRIES: usize = 2_000;
/// Directories of git's that are looked at.
const DIRS: usize = 500;
/// A larger file is known by its size.
const LARGEST: u64 = 1 << 20;
/// Names that are given of one kind.
const NAMED: usize = 10;
const FILES: [&str; 8] = [
    "config",
    "config.worktree",
    "commondir",
    "info/attributes",
    "info/grafts",
    "info/sparse-checkout",
    "objects/info/alternates",
    "shallow",
];
const HOOKS_DIR: &str = "hooks";
/// What git has begun and is to go on with: what stands in there is run, or decides what is.
const OPERATIONS: [&str; 3] = ["rebase-merge", "rebase-apply", "sequencer"];
/// The same in a file: the next commit is another by it.
const BEGUN: [&str; 5] = ["MERGE_HEAD", "MERGE_AUTOSTASH", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG"];
/// Remotes that stand in no file of settings.
const REMOTES: [&str; 2] = ["remotes", "branches"];
/// Files that are looked at of one of these directories.
const INSIDE: usize = 200;
/// Objects that git takes for others.
const REPLACED: &str = "refs/replace";

/// What was there at the first look.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub is_known: bool,
    /// There were more files beside the hooks than are noted.
    pub is_full: bool,
    /// Directories in which there was a `.git`.
    pub tops: BTreeSet<PathBuf>,
    /// Directories of git's.
    pub dirs: BTreeSet<PathBuf>,
    /// Settings and hooks, each with what it was.
    pub files: BTreeMap<PathBuf, String>,
    /// Files of rules that are not in the tree, with what they said.
    pub rules: BTreeMap<PathBuf, String>,
}

impl Settings {
    /// Those of these repositories and of their directories of git's.
    pub(crate) fn of(root: &Path, tops: BTreeSet<PathBuf>, dirs: BTreeSet<PathBuf>) -> Self {
        let dirs = dirs.into_iter().flat_map(|dir| beside(&dir).chain([dir])).take(DIRS).collect();
        let (files, is_full) = files(&dirs);
        let rules = ignored(root, &dirs, tops.iter());
        Self { is_known: true, is_full, tops, files, rules, dirs }
    }

    /// What has come or has changed since, in words. `tops` are the directories with a `.git` now.
    pub(crate) fn words(&self, root: &Path, tops: &[PathBuf]) -> Vec<String> {
        if !self.is_known {
            return Vec::new();
        }
        let shown = |path: &PathBuf| walk::show(walk::bytes(&from_root(root, path)));
        let mut lines = Vec::new();
        let mut say = |names: Vec<String>, what: &str, then: &str| {
            if !names.is_empty() {
                lines.push(format!("{what}: {}; {then}", some(names.into_iter(), NAMED)));
            }
        };
        let tops: BTreeSet<&PathBuf> = tops.iter().collect();
        let come = tops.iter().filter(|top| !self.tops.contains(**top)).map(|top| shown(&top.join(".git"))).collect();
        say(come, "git repositories that have come", "an undo leaves their .git alone");
        // What is lost with a repository is said as such.
        let is_said = |path: &&PathBuf| {
            let dir = self.dirs.iter().rev().find(|dir| path.starts_with(dir));
            dir.is_none_or(|dir| dir.is_dir())
        };
        let (now, is_full) = files(&self.dirs);
        let is_full = is_full || self.is_full;
        let mut changed: Vec<&PathBuf> = differing(&self.files, &now).filter(is_said).collect();
        changed.retain(|path| !is_full || rank(path) < Rank::Other);
        changed.sort_by_key(|path| (rank(path), (*path).clone()));
        let (begun, changed): (Vec<_>, Vec<_>) = changed.into_iter().partition(|path| is_operation(path));
        say(
            begun.into_iter().map(shown).collect(),
            "begun, changed or ended in git",
            "a `--continue` there runs what stands in it, and an undo leaves it alone",
        );
        say(
            changed.into_iter().map(shown).collect(),
            "settings and hooks of git that have changed",
            "git goes by them, and an undo leaves those in .git alone",
        );
        if is_full {
            lines.push(format!("files beside the hooks that git knows: more than {ENTRIES}, too many to compare"));
        }
        let rules = ignored(root, &self.dirs, tops.into_iter());
        let changed = differing(&self.rules, &rules).filter(is_said).map(shown).collect();
        let mut say = |names: Vec<String>| {
            if !names.is_empty() {
                let names = some(names.into_iter(), NAMED);
                lines.push(format!("what is ignored has changed: {names}; what new rules hide is not shown"));
            }
        };
        say(changed);
        lines
    }
}

/// A path as it is named from `root`, also from one of the directories above it.
fn from_root(root: &Path, path: &Path) -> PathBuf {
    let is_rules = path.file_name().is_some_and(|name| name == rules::NAME);
    let up = path.parent().filter(|_| is_rules).and_then(|dir| root.ancestors().position(|above| above == dir));
    match up {
        Some(up) => std::iter::repeat_n("..", up).collect::<PathBuf>().join(rules::NAME),
        None => path.strip_prefix(root).unwrap_or(path).to_owned(),
    }
}

/// Paths at which there is something else, or nothing any more.
fn differing<'a>(
    was: &'a BTreeMap<PathBuf, String>,
    now: &'a BTreeMap<PathBuf, String>,
) -> impl Iterator<Item = &'a PathBuf> {
    let names: BTreeSet<&PathBuf> = was.keys().chain(now.keys()).collect();
    names.into_iter().filter(|path| was.get(*path) != now.get(*path))
}

/// What is named first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Setting,
    Hook,
    Other,
}

fn rank(path: &Path) -> Rank {
    let is_in_hooks = path.parent().and_then(Path::file_name).is_some_and(|dir| dir == HOOKS_DIR);
    let name = walk::bytes(Path::new(path.file_name().unwrap_or_default()));
    match (is_in_hooks, HOOKS.contains(&name)) {
        (false, _) => Rank::Setting,
        (true, true) => Rank::Hook,
        (true, false) => Rank::Other,
    }
}

fn is_operation(path: &Path) -> bool {
    OPERATIONS.iter().chain(&BEGUN).any(|name| path.file_name().is_some_and(|is| is == *name))
}

/// What stands in the files of a directory.
fn inside(dir: &Path) -> Option<Vec<u8>> {
    let paths: BTreeSet<PathBuf> = dir.read_dir().ok()?.flatten().take(INSIDE).map(|entry| entry.path()).collect();
    let one = |path: PathBuf| [walk::bytes(&path), b"\0", sum(&path).unwrap_or_default().as_bytes(), b"\0"].concat();
    Some(paths.into_iter().flat_map(one).collect())
}

/// The directories that git has for other working trees.
fn beside(dir: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = dir.join("worktrees").read_dir().into_iter().flatten().take(DIRS).flatten();
    entries.map(|entry| entry.path())
}

/// The settings and hooks in directories of git's, and whether there are more files among the latter.
fn files(dirs: &BTreeSet<PathBuf>) -> (BTreeMap<PathBuf, String>, bool) {
    let (mut files, mut others, mut is_full) = (BTreeMap::new(), 0, false);
    for dir in dirs {
        let mut add = |path: PathBuf| files.extend(sum(&path).map(|sum| (path, sum)));
        FILES.iter().chain(&BEGUN).map(|name| dir.join(name)).for_each(&mut add);
        // Where the settings name a directory of hooks, git runs none but those.
        let named = repo::hooks_named(dir).and_then(|hooks| hooks.read_dir().ok()).into_iter().flatten().flatten();
        let named: BTreeSet<PathBuf> = named.map(|entry| entry.path()).collect();
        named.into_iter().take(INSIDE).for_each(&mut add);
        ["config", "config.worktree"].iter().flat_map(|name| repo::included(&dir.join(name))).for_each(&mut add);
        // Those of remotes may always be there, with nothing in them.
        let dirs = OPERATIONS.iter().map(|name| (name, true)).chain(REMOTES.iter().map(|name| (name, false)));
        let known = dirs.filter_map(|(name, counts_empty)| {
            let dir = dir.join(name);
            let inside = inside(&dir).filter(|inside| counts_empty || !inside.is_empty())?;
            Some((dir, short(&inside)))
        });
        files.extend(known);
        let replaced = git_refs::below(dir, REPLACED);
        if !replaced.is_empty() {
            files.insert(dir.join(REPLACED), short(replaced.as_bytes()));
        }
        let hooks = dir.join(HOOKS_DIR);
        let mut add = |path: PathBuf| files.extend(sum(&path).map(|sum| (path, sum)));
        let Ok(entries) = hooks.read_dir() else { continue };
        HOOKS.iter().map(|name| hooks.join(walk::path(name))).for_each(&mut add);
        let is_other = |path: &PathBuf| path.extension().is_none_or(|end| end != "sample") && rank(path) == Rank::Other;
        for path in entries.flatten().map(|entry| entry.path()).filter(is_other) {
            if others == ENTRIES {
                is_full = true;
                break;
            }
            others += 1;
            add(path);
        }
    }
    (files, is_full)
}

/// What the files of rules say that are in directories of git's, in those of repositories and in the person's settings, and
/// in the directories above `root`.
fn ignored<'a>(
    root: &Path,
    dirs: &BTreeSet<PathBuf>,
    tops: impl Iterator<Item = &'a PathBuf>,
) -> BTreeMap<PathBuf, String> {
    let in_dirs = dirs.iter().map(|dir| dir.join("info/exclude"));
    let in_tops = tops.filter_map(|top| repo::exclude(top));
    let files: BTreeSet<PathBuf> =
        in_dirs.chain(in_tops).chain(repo::global_exclude()).chain(repo::rules_above(root)).collect();
    let said = |path: PathBuf| {
        let text = match plain::read(&path, Links::Followed, rules::LARGEST) {
            Ok(text) => text?,
            Err(odd) => odd.to_string().into_bytes(),
        };
        let is_rule = |line: &&[u8]| !line.trim_ascii().is_empty() && !line.starts_with(b"#");
        let rules: Vec<&[u8]> = text.split(|byte| *byte == b'\n').filter(is_rule).collect();
        (!rules.is_empty()).then(|| (path, short(&rules.join(&b'\n'))))
    };
    files.into_iter().filter_map(said).collect()
}

/// What a file is known by, and of a link also where it leads. Nothing when it is not there.
fn sum(path: &Path) -> Option<String> {
    let meta = path.symlink_metadata().ok()?;
    let bytes = match plain::read(path, Links::Followed, LARGEST) {
        Ok(bytes) => bytes.unwrap_or_default(),
        Err(Odd::Large(_)) => path.metadata().ok()?.len().to_string().into_bytes(),
        Err(_) => Vec::new(),
    };
    let mode = format!("{:o}\0", Stat::of_meta(&meta).mode);
    let to = path.read_link().map(|to| walk::bytes(&to).to_vec()).unwrap_or_default();
    Some(short(&[mode.as_bytes(), &to, &bytes].concat()))
}

pub(crate) fn short(bytes: &[u8]) -> String {
    let sum = Sha256::digest(bytes);
    let short = sum.iter().take(16).fold(0_u128, |short, byte| (short << 8) | u128::from(*byte));
    format!("{short:032x}")
}
