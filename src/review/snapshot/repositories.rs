//! What of git's is noted at the first look: its own directories that are not called `.git`, and where its histories are.
//!
//! A directory is git's own where a `.git` that is a file or a link leads there, and where that one's `commondir` leads.
//! Nothing becomes one later. Which of their files are git's says `git_dirs`. Invariants: no index of a repository here
//! names what is hidden; an index that cannot be read hides nothing where it may name something.

use super::Snapshot;
use crate::review::error::ReviewError;
use crate::review::worktree::git_dirs::{self, GitDirs, Print};
use crate::review::worktree::git_history::{self, Histories};
use crate::review::worktree::repo;
use crate::review::worktree::walk::{self, RelPath, Time, Walked};
use crate::store::replace::{Durability, Replacement};
use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// In the store.
pub(crate) const FILE: &str = "repositories";
const MAX_FILE: u64 = 64 << 20;

impl Snapshot {
    /// Takes note of what git has where the first walk, which `began` then, has come past. Whether it has shown what is
    /// hidden from now on.
    pub(super) fn finds_git(&mut self, walked: &Walked, began: Time) -> Result<bool, ReviewError> {
        let root = self.root.path();
        let tops: BTreeSet<&Path> = walked.repos.iter().map(PathBuf::as_path).chain(root.ancestors()).collect();
        let (mut git, mut histories) = (GitDirs::new(began), Histories::default());
        let mut all = BTreeSet::new();
        for top in &tops {
            let own = repo::own_dirs(top);
            if !own.is_empty() {
                let (pointer, kind) =
                    (top.join(".git"), if own.contains(&top.join(".git")) { "dir" } else { "object" });
                histories.mark(&pointer, kind);
            }
            all.extend(own);
        }
        for dir in &all {
            histories.note(dir, root);
            let below = dir.strip_prefix(root).ok().filter(|below| !below.as_os_str().is_empty());
            let is_named = |below: &&Path| below.components().any(|part| part.as_os_str() == ".git");
            if let Some(below) = below.filter(|below| !is_named(below) && git_dirs::is_git_dir(dir)) {
                git.dirs.insert(walk::bytes(below).into(), Print::Unknown);
            }
        }
        if !git.dirs.is_empty() {
            for top in &tops {
                let mut is_tracked = |path: &Path| {
                    if let Ok(below) = path.strip_prefix(root) {
                        git.is_ordinary(walk::bytes(below));
                    }
                };
                let unknown = repo::tracked(top, &mut is_tracked);
                git.dirs.retain(|dir, _| !unknown.iter().any(|top| root.join(walk::path(dir)).starts_with(top)));
            }
        }
        let (mut left, names) = (git_dirs::room(), git.tops().cloned().collect::<Vec<RelPath>>());
        for dir in names {
            let print = git_dirs::print(root, &dir, &git, &mut left);
            git.dirs.insert(dir, print);
        }
        let has_some = !git.dirs.is_empty();
        if !histories.parts.is_empty() {
            note(&self.dir, &git, &histories)?;
        }
        self.hidden = Arc::new((*self.hidden).clone().and((git, histories)));
        Ok(has_some)
    }

    /// A file that was seen is no file of git's, whatever it is called.
    pub(super) fn keeps_seen(&mut self) {
        self.seen.retain(|key, _| !self.hidden.has_own(key));
        self.seen.keys().for_each(|key| self.hidden.git().is_ordinary(key));
    }

    /// Those of the paths `going` below the root that may hold a history of the person's, if git has lost something since
    /// the first look, or one of those that are `gone` is an object of git's.
    pub(crate) fn history_in<'a>(
        &self,
        going: impl Iterator<Item = &'a Path>,
        mut gone: impl Iterator<Item = &'a Path>,
    ) -> BTreeSet<PathBuf> {
        let found = git_history::may_be_history(self.root.path(), going.map(walk::bytes));
        let is_object = |path: &Path| git_history::is_object_by_name(walk::bytes(path));
        let mut is_whole = || !gone.any(is_object) && self.hidden.histories().are_whole();
        if found.is_empty() || is_whole() {
            return BTreeSet::new();
        }
        found.iter().map(|key| walk::path(key).to_owned()).collect()
    }
}

/// In the store: what each is, which begins like no path below the root, and its name, with a zero byte behind each.
fn note(store: &Path, git: &GitDirs, histories: &Histories) -> Result<(), ReviewError> {
    let path = store.join(FILE);
    let (secs, nanos) = git.began;
    let mut bytes = format!("/began\0{secs} {nanos}\0").into_bytes();
    let mut add = |head: String, name: &[u8]| bytes.extend([head.as_bytes(), b"\0", name, b"\0"].concat());
    for (place, mark) in &histories.parts {
        add(format!("/place {mark}"), walk::bytes(place));
    }
    for (dir, print) in &git.dirs {
        add(format!("/dir {}", if let Print::Was(print) = print { print } else { "unknown" }), dir);
    }
    let written = Replacement::of(&path).and_then(|mut file| {
        file.write_all(&bytes)?;
        file.finish(Durability::Whole)
    });
    written.map_err(|e| ReviewError::io(&path, e))
}

/// What was noted.
pub(crate) fn read(store: &Path) -> (GitDirs, Histories) {
    let (mut bytes, mut git, mut histories) = (Vec::new(), GitDirs::default(), Histories::default());
    let Some(file) = walk::open_plain(&store.join(FILE)) else { return (git, histories) };
    if file.take(MAX_FILE).read_to_end(&mut bytes).is_err() {
        return (git, histories);
    }
    let mut parts = bytes.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    while let (Some(head), Some(name)) = (parts.next(), parts.next()) {
        let Ok(head) = std::str::from_utf8(head) else { break };
        match head.split_once(' ') {
            None => {
                let said = std::str::from_utf8(name).unwrap_or_default().split_once(' ');
                let times = said.and_then(|(secs, nanos)| Some((secs.parse().ok()?, nanos.parse().ok()?)));
                git.began = times.unwrap_or_default();
            }
            Some(("/place", mark)) => histories.parts.push((walk::path(name).to_owned(), mark.to_owned())),
            Some((_, "unknown")) => drop(git.dirs.insert(name.into(), Print::Unknown)),
            Some((_, print)) => drop(git.dirs.insert(name.into(), Print::Was(print.to_owned()))),
        }
    }
    (git, histories)
}
