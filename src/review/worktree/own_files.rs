//! Which paths of a tree are the client's own: its state and the files that it was asked to write; and git's own.
//!
//! The one place of the review that tells them apart; everything that looks at files asks here. Invariant: what is
//! hidden is in no snapshot, no change and no decision, so that an undo never touches it.

use super::walk::{self, RelPath};
use crate::host::fs::{Private, is_in_use, is_swap, is_temporary};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Names of them that are given.
const NAMED: usize = 8;

#[derive(Clone, Default)]
pub(crate) struct OwnFiles {
    root: PathBuf,
    private: Private,
    /// Below the root.
    keys: Vec<RelPath>,
    /// Of these, git's own directories that are not called `.git`. They are the person's.
    repositories: Vec<RelPath>,
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
            repositories: Vec::new(),
            is_shared: Arc::default(),
            passed_over: Arc::default(),
        }
    }

    /// Whether another acp-tui works in the same tree, until it is told otherwise. What it is just writing is no file of the
    /// tree; what it leaves is one once it is gone.
    pub(crate) fn shared(&self, is_shared: bool) {
        self.is_shared.store(is_shared, Ordering::Relaxed);
    }

    /// The same and git's own directories.
    pub(crate) fn and(mut self, repositories: Vec<RelPath>) -> Self {
        self.keys.extend(repositories.iter().cloned());
        self.repositories = repositories;
        self
    }

    /// By its name alone, at this moment: what the client is just writing has such a name until it is in its place.
    pub(crate) fn has(&self, key: &[u8]) -> bool {
        let is_others = |name: &OsStr| self.is_shared.load(Ordering::Relaxed) && (is_temporary(name) || is_swap(name));
        let name = walk::path(key).file_name();
        if name.is_some_and(is_in_use) {
            return true;
        }
        if name.is_some_and(is_others) {
            let mut passed_over = self.passed_over.lock().unwrap_or_else(PoisonError::into_inner);
            if passed_over.len() < NAMED {
                passed_over.insert(key.into());
            }
            return true;
        }
        let is_below = |own: &RelPath| key.strip_prefix(&**own).is_some_and(|rest| rest.is_empty() || rest[0] == b'/');
        self.all || self.keys.iter().any(is_below)
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

    /// Those that are there, in words.
    pub(crate) fn words(&self) -> Vec<String> {
        if self.all {
            return vec!["the session's directory belongs to acp-tui itself: nothing in it is covered".to_owned()];
        }
        let is_there = |key: &&RelPath| self.root.join(walk::path(key)).symlink_metadata().is_ok();
        let named = |what: &str, keys: &mut dyn Iterator<Item = &RelPath>| {
            let names: Vec<String> = keys.filter(is_there).take(NAMED).map(|key| walk::show(key)).collect();
            (!names.is_empty()).then(|| format!("{what}, which an undo leaves alone: {}", names.join(", ")))
        };
        let own = named("acp-tui's own files", &mut self.keys.iter().filter(|key| !self.repositories.contains(key)));
        let passed_over = self.passed_over.lock().unwrap_or_else(PoisonError::into_inner);
        let others = named("named as what another acp-tui was writing", &mut passed_over.iter());
        own.into_iter().chain(named("git's own directories", &mut self.repositories.iter())).chain(others).collect()
    }
}

#[cfg(test)]
#[path = "own_files_tests.rs"]
mod tests;
