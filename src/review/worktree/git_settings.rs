//! Which `.git`s there are in a tree and what git runs and is set to by them, compared with the first look.
//!
//! Reads small files only. Invariants: what is said is bounded however much there is; what could not be noted is not said
//! to have changed.

use super::git_dirs::some;
use super::plain::{self, Links, Odd};
use super::walk::{self, Stat};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Files that are noted of all repositories.
const ENTRIES: usize = 2_000;
/// Directories of git's that are looked at.
const DIRS: usize = 500;
/// A larger one is known by its size.
const LARGEST: u64 = 1 << 20;
/// Names that are given of one kind.
const NAMED: usize = 10;
const FILES: [&str; 3] = ["config", "config.worktree", "info/attributes"];

/// What was there at the first look.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub is_known: bool,
    /// Directories in which there was a `.git`.
    pub tops: BTreeSet<PathBuf>,
    /// Directories of git's.
    pub dirs: BTreeSet<PathBuf>,
    /// Settings and hooks, each with what it was.
    pub files: BTreeMap<PathBuf, String>,
}

impl Settings {
    /// Those of these repositories and of their directories of git's.
    pub(crate) fn of(tops: BTreeSet<PathBuf>, dirs: impl Iterator<Item = PathBuf>) -> Self {
        let dirs: BTreeSet<PathBuf> = dirs.take(DIRS).collect();
        Self { is_known: true, tops, files: files(&dirs), dirs }
    }

    /// What has come or has changed since, in words. `tops` are the directories with a `.git` now.
    pub(crate) fn words(&self, root: &Path, tops: &[PathBuf]) -> Vec<String> {
        let shown = |path: &Path| walk::show(walk::bytes(path.strip_prefix(root).unwrap_or(path)));
        let mut lines = Vec::new();
        let mut say = |names: Vec<String>, what: &str, then: &str| {
            if !names.is_empty() {
                lines.push(format!("{what}: {}; {then}", some(names.into_iter(), NAMED)));
            }
        };
        let tops: BTreeSet<&PathBuf> = tops.iter().filter(|_| self.is_known).collect();
        let come = tops.iter().filter(|top| !self.tops.contains(**top)).map(|top| shown(&top.join(".git"))).collect();
        say(come, "git repositories that have come", "an undo leaves their .git alone");
        let now = files(&self.dirs);
        let names: BTreeSet<&PathBuf> = self.files.keys().chain(now.keys()).collect();
        let has_changed = |path: &&&PathBuf| self.files.get(**path) != now.get(**path);
        let is_said = |path: &&&PathBuf| self.dirs.iter().any(|dir| path.starts_with(dir) && dir.is_dir());
        let is_full = self.files.len() >= ENTRIES || now.len() >= ENTRIES;
        let changed = names.iter().filter(|_| !is_full).filter(has_changed).filter(is_said);
        let changed = changed.map(|path| shown(path)).collect();
        say(
            changed,
            "settings and hooks of git that have changed",
            "git goes by them, and an undo leaves those in .git alone",
        );
        lines
    }
}

/// The settings and hooks in directories of git's.
fn files(dirs: &BTreeSet<PathBuf>) -> BTreeMap<PathBuf, String> {
    let mut files = BTreeMap::new();
    for dir in dirs {
        let hooks = dir.join("hooks").read_dir().into_iter().flatten().take(ENTRIES).flatten();
        let is_hook = |path: &PathBuf| path.extension().is_none_or(|end| end != "sample");
        let hooks = hooks.map(|entry| entry.path()).filter(is_hook);
        for path in FILES.iter().map(|name| dir.join(name)).chain(hooks) {
            if files.len() < ENTRIES
                && let Some(sum) = sum(&path)
            {
                files.insert(path, sum);
            }
        }
    }
    files
}

/// What a file is known by, and of a link also where it leads. Nothing when it is not there.
fn sum(path: &Path) -> Option<String> {
    let meta = path.symlink_metadata().ok()?;
    let bytes = match plain::read(path, Links::Followed, LARGEST) {
        Ok(bytes) => bytes.unwrap_or_default(),
        Err(Odd::Large(_)) => path.metadata().ok()?.len().to_string().into_bytes(),
        Err(_) => Vec::new(),
    };
    let mut sum = Sha256::new();
    sum.update(format!("{:o}\0", Stat::of_meta(&meta).mode));
    sum.update(path.read_link().map(|to| walk::bytes(&to).to_vec()).unwrap_or_default());
    sum.update(bytes);
    let short = sum.finalize().iter().take(16).fold(0_u128, |short, byte| (short << 8) | u128::from(*byte));
    Some(format!("{short:032x}"))
}
