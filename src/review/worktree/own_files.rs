//! Which paths of a tree are the client's own: its state and the files that it was asked to write; and git's own.
//!
//! The one place of the review that tells them apart; everything that looks at files asks here. Invariant: what is
//! hidden is in no snapshot, no change and no decision, so that an undo never touches it.

use super::git_dirs::{GitDirs, some};
use super::git_history::Histories;
use super::git_settings::Settings;
use super::walk::{self, RelPath};
use crate::host::fs::{Private, is_in_use, is_swap, is_temporary};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Names that are given of one kind.
const NAMED: usize = 50;
/// Names that are remembered of those that another acp-tui was writing.
const MOST: usize = 10_000;

#[derive(Clone, Default)]
pub(crate) struct OwnFiles {
    root: PathBuf,
    private: Private,
    /// Below the root.
    keys: Vec<RelPath>,
    /// Git's own files, which are the person's.
    git: GitDirs,
    histories: Arc<Histories>,
    settings: Arc<Settings>,
    /// The root itself is one of them or lies below one.
    all: bool,
    /// Another acp-tui works in the same tree: names of what is being written may be its.
    is_shared: Arc<AtomicBool>,
    /// Some of those that were passed over for that.
    passed_over: Arc<Mutex<BTreeSet<RelPath>>>,
}

impl OwnFiles {
    /// `root` is a real path.
    pub(crate) fn new(root: &Path, private: &Private) -> Self {
        let below = |path: &PathBuf| path.strip_prefix(root).ok().map(|below| walk::bytes(below).into());
        Self {
            root: root.to_owned(),
            keys: private.paths().iter().filter_map(below).collect(),
            all: private.holds(root),
            private: private.clone(),
            git: GitDirs::default(),
            histories: Arc::default(),
            settings: Arc::default(),
            is_shared: Arc::default(),
            passed_over: Arc::default(),
        }
    }

    /// Whether another acp-tui works in the same tree, until it is told otherwise. What it is just writing is no file of the
    /// tree; what it leaves is one once it is gone.
    pub(crate) fn shared(&self, is_shared: bool) {
        self.is_shared.store(is_shared, Ordering::Relaxed);
    }

    /// The same and git's own files.
    pub(crate) fn and(mut self, git: GitDirs) -> Self {
        self.git = git;
        self
    }

    /// The same and what the person's repositories have.
    pub(crate) fn with(mut self, histories: Histories, settings: Settings) -> Self {
        (self.histories, self.settings) = (Arc::new(histories), Arc::new(settings));
        self
    }

    /// What the person's repositories held when they were seen first.
    pub(crate) fn histories(&self) -> &Histories {
        &self.histories
    }

    /// What they were set to at the first look.
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) const fn git(&self) -> &GitDirs {
        &self.git
    }

    /// By its name alone, at this moment: what the client is just writing has such a name until it is in its place.
    pub(crate) fn has(&self, key: &[u8]) -> bool {
        self.has_own(key) || self.is_gits(key)
    }

    /// The same without what is git's.
    pub(crate) fn has_own(&self, key: &[u8]) -> bool {
        let is_below = |own: &RelPath| key.strip_prefix(&**own).is_some_and(|rest| rest.is_empty() || rest[0] == b'/');
        walk::path(key).file_name().is_some_and(is_in_use) || self.all || self.keys.iter().any(is_below)
    }

    /// Whether it is named as what another acp-tui is writing, which works in the same tree. Only for what is not known
    /// yet: what was seen as a file of the tree stays one.
    pub(crate) fn is_of_others(&self, key: &[u8]) -> bool {
        let is_theirs = |name: &OsStr| is_temporary(name) || is_swap(name);
        if !self.is_shared.load(Ordering::Relaxed) || !walk::path(key).file_name().is_some_and(is_theirs) {
            return false;
        }
        let mut passed_over = self.passed_over.lock().unwrap_or_else(PoisonError::into_inner);
        if passed_over.len() < MOST {
            passed_over.insert(key.into());
        }
        true
    }

    /// The same, or a directory that holds nothing else.
    pub(crate) fn has_all_of(&self, key: &[u8]) -> bool {
        let leads_there = |own: &RelPath| own.strip_prefix(key).is_some_and(|rest| rest.first() == Some(&b'/'));
        if self.has(key) || !self.keys.iter().any(leads_there) {
            return self.has(key);
        }
        let Ok(entries) = self.root.join(walk::path(key)).read_dir() else { return false };
        entries.flatten().all(|entry| {
            let name = entry.file_name();
            self.has_all_of(&[key, b"/", walk::bytes(Path::new(&name))].concat())
        })
    }

    /// What a walk has to be told, right before it begins.
    pub(crate) fn numbers(&self) -> BTreeSet<u64> {
        self.private.numbers()
    }

    /// The same as [`OwnFiles::has`] for what a walk has come to from above, also under another name.
    pub(crate) fn stands_at(&self, path: &Path, number: Option<u64>, numbers: &BTreeSet<u64>) -> bool {
        let named =
            || path.strip_prefix(&self.root).is_ok_and(|below| self.keys.iter().any(|k| **k == *walk::bytes(below)));
        self.all || named() || number.is_some_and(|n| numbers.contains(&n)) && self.private.holds(path)
    }

    /// Whether it was passed over for that.
    pub(crate) fn was_of_others(&self, key: &[u8]) -> bool {
        self.passed_over.lock().unwrap_or_else(PoisonError::into_inner).contains(key)
    }

    /// Whether a file that a walk has come to is git's.
    pub(crate) fn is_gits(&self, key: &[u8]) -> bool {
        self.git.has(&self.root, key)
    }

    /// Those that are there, in words; of git's also what has become of them. `tops` are the directories with a `.git`.
    pub(crate) fn words(&self, tops: &[PathBuf]) -> Vec<String> {
        if self.all {
            return vec!["the session's directory belongs to acp-tui itself: nothing in it is covered".to_owned()];
        }
        let is_there = |key: &&RelPath| self.root.join(walk::path(key)).symlink_metadata().is_ok();
        let named = |what: &str, keys: &mut dyn Iterator<Item = &RelPath>| {
            let names: Vec<String> = keys.filter(is_there).map(|key| walk::show(key)).collect();
            (!names.is_empty())
                .then(|| format!("{what}, which an undo leaves alone: {}", some(names.into_iter(), NAMED)))
        };
        let own = named("acp-tui's own files", &mut self.keys.iter());
        let passed_over = self.passed_over.lock().unwrap_or_else(PoisonError::into_inner);
        let others = named("named as what another acp-tui was writing", &mut passed_over.iter());
        // Of directories with nothing else in them only the walk knows.
        let walked = self.histories.tops.iter().filter(|top| top.join(".git").symlink_metadata().is_ok());
        let tops: Vec<PathBuf> = tops.iter().chain(walked).cloned().collect();
        let of_git = self.git.words(&self.root).into_iter().chain(self.settings.words(&self.root, &tops));
        own.into_iter().chain(of_git).chain(others).collect()
    }
}

#[cfg(test)]
#[path = "own_files_tests.rs"]
mod tests;
