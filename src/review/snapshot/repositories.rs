//! Which directories are git's own though they are not called `.git`: bare repositories with worktrees beside them,
//! separate ones, mirrors.
//!
//! Told by what is in them, at the first look; later only when one of git's has been moved away, since what looks like
//! one then may be it. All else that becomes such a directory is the work of a session, and is covered; so is what git
//! tracks, and what is beyond a bound. Which of their files are git's says `git_dirs`. Invariant: no undo touches those.

use super::Snapshot;
use crate::review::error::ReviewError;
use crate::review::worktree::git_dirs::{self, GitDirs, PARTS, Print};
use crate::review::worktree::own_files::OwnFiles;
use crate::review::worktree::repo::Repo;
use crate::review::worktree::walk::{self, RelPath, Time, Walked};
use crate::store::replace::{Durability, Replacement};
use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// In the store.
pub(crate) const FILE: &str = "repositories";
/// More are not told apart: what is in them is covered.
const MOST: usize = 1000;
const MAX_FILE: u64 = 8 << 20;
const MAX_HEAD: u64 = 1 << 10;

/// Those that a walk has come past, and that no index says to be sources. The root is none: there is a session in it.
fn found(root: &Path, walked: &Walked) -> Vec<RelPath> {
    let below = |dir: &RelPath, name: &str| -> RelPath { [dir, &b"/"[..], name.as_bytes()].concat().into() };
    let [head, config, objects, refs] = PARTS;
    let is_file = |dir: &RelPath, name: &str| {
        root.join(walk::path(&below(dir, name))).symlink_metadata().is_ok_and(|meta| meta.is_file())
    };
    let is_git = |dir: &&RelPath| {
        !dir.is_empty()
            && [objects, refs].iter().all(|name| walked.dirs.contains(&below(dir, name)))
            && [head, config].iter().all(|name| is_file(dir, name))
            && has_head(&root.join(walk::path(dir)))
    };
    let all: BTreeSet<RelPath> = walked.dirs.iter().filter(is_git).take(MOST).cloned().collect();
    if all.is_empty() {
        return Vec::new();
    }
    if let Some(index) = Repo::find(root).and_then(|repo| repo.index(root)) {
        let mut none = BTreeSet::new();
        for key in index.tracked() {
            none.extend(walk::parents(key).filter(|dir| all.contains(*dir) && git_dirs::is_gits_in(dir, key)));
        }
        return all.iter().filter(|dir| !none.contains(&***dir)).cloned().collect();
    }
    all.into_iter().collect()
}

/// Whether its `HEAD` is one of git's: the name of a ref, or of a commit.
fn has_head(dir: &Path) -> bool {
    let Some(file) = walk::open_plain(&dir.join("HEAD")) else { return false };
    let mut text = String::new();
    let is_read = file.take(MAX_HEAD).read_to_string(&mut text).is_ok();
    let text = text.trim_end();
    let is_name = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_read && (text.starts_with("ref: refs/") || is_name)
}

impl Snapshot {
    /// Takes note of git's own directories that a walk has come past. Whether it has shown what is hidden from now on.
    pub(super) fn finds_git(&mut self, walked: &Walked, started: Time, first: bool) -> Result<bool, ReviewError> {
        if first {
            let (hidden, has_some) = noted(&self.dir, self.root.path(), walked, started, &self.hidden)?;
            self.hidden = Arc::new(hidden);
            return Ok(has_some);
        }
        let Some(hidden) = come(&self.dir, self.root.path(), walked, &self.hidden)? else {
            return Ok(false);
        };
        self.hidden = Arc::new(hidden);
        self.seen.retain(|key, _| !self.hidden.has(key));
        Ok(true)
    }
}

/// Notes in a store those that the first walk has come past, which `began` then; what is hidden from now on, and whether
/// the walk has shown something of it.
fn noted(
    store: &Path,
    root: &Path,
    walked: &Walked,
    began: Time,
    hidden: &OwnFiles,
) -> Result<(OwnFiles, bool), ReviewError> {
    let (mut git, mut left) = (GitDirs { began, ..GitDirs::default() }, git_dirs::room());
    for dir in found(root, walked) {
        git.place(root.join(walk::path(&dir)));
        git.dirs.insert(dir.clone(), git_dirs::print(root, &dir, &mut left));
    }
    let tops = walked.repos.iter().map(PathBuf::as_path).chain(root.ancestors());
    tops.collect::<BTreeSet<_>>().into_iter().for_each(|top| git.place(top.join(".git")));
    let has_some = !git.dirs.is_empty();
    if !git.places.is_empty() {
        note(store, &git)?;
    }
    Ok((hidden.clone().and(git), has_some))
}

/// The same for those that a later walk has come past, once one of git's is no longer where it was: those that look like
/// one and are not known. Nothing where there are none.
fn come(store: &Path, root: &Path, walked: &Walked, hidden: &OwnFiles) -> Result<Option<OwnFiles>, ReviewError> {
    if !hidden.git().are_moved() {
        return Ok(None);
    }
    let mut git = hidden.git().clone();
    let room = MOST.saturating_sub(git.dirs.len());
    let new: Vec<RelPath> =
        found(root, walked).into_iter().filter(|dir| !git.dirs.contains_key(dir)).take(room).collect();
    if new.is_empty() {
        return Ok(None);
    }
    for dir in new {
        git.place(root.join(walk::path(&dir)));
        git.dirs.insert(dir, Print::Come);
    }
    note(store, &git)?;
    Ok(Some(hidden.clone().and(git)))
}

/// In the store: names with a zero byte behind each. Before them is what they are, which begins like no path below the
/// root.
fn note(store: &Path, git: &GitDirs) -> Result<(), ReviewError> {
    let path = store.join(FILE);
    let (secs, nanos) = git.began;
    let mut bytes = format!("/began\0{secs} {nanos}\0").into_bytes();
    let mut add = |head: String, name: &[u8]| bytes.extend([head.as_bytes(), b"\0", name, b"\0"].concat());
    for (place, number) in &git.places {
        add(format!("/place {number}"), walk::bytes(place));
    }
    for (dir, print) in &git.dirs {
        let print = match print {
            Print::Was(print) => print,
            Print::Unknown => "unknown",
            Print::Come => "come",
        };
        add(format!("/dir {print}"), dir);
    }
    let written = Replacement::of(&path).and_then(|mut file| {
        file.write_all(&bytes)?;
        file.finish(Durability::Whole)
    });
    written.map_err(|e| ReviewError::io(&path, e))
}

/// What was noted.
pub(crate) fn read(store: &Path) -> GitDirs {
    let (mut bytes, mut git, mut old) = (Vec::new(), GitDirs::default(), BTreeSet::new());
    let Some(file) = walk::open_plain(&store.join(FILE)) else { return git };
    if file.take(MAX_FILE).read_to_end(&mut bytes).is_err() {
        return git;
    }
    let mut parts = bytes.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    while let Some(head) = parts.next() {
        if !head.starts_with(b"/") {
            old.insert(RelPath::from(head));
            continue;
        }
        let (Ok(head), Some(name)) = (std::str::from_utf8(head), parts.next()) else { break };
        match head.split_once(' ') {
            None => {
                let said = std::str::from_utf8(name).unwrap_or_default().split_once(' ');
                let times = said.and_then(|(secs, nanos)| Some((secs.parse().ok()?, nanos.parse().ok()?)));
                git.began = times.unwrap_or_default();
            }
            Some(("/place", number)) => {
                git.places.extend(number.parse().ok().map(|number| (walk::path(name).to_owned(), number)));
            }
            Some((_, "unknown")) => drop(git.dirs.insert(name.into(), Print::Unknown)),
            Some((_, "come")) => drop(git.dirs.insert(name.into(), Print::Come)),
            Some((_, print)) => drop(git.dirs.insert(name.into(), Print::Was(print.to_owned()))),
        }
    }
    git.dirs.extend(of_old(&old).map(|dir| (dir, Print::Unknown)));
    git
}

/// The directories that an earlier version has noted: as they are, or by what git may have in them.
fn of_old(all: &BTreeSet<RelPath>) -> impl Iterator<Item = RelPath> {
    let above = |key: &RelPath| key.iter().rposition(|byte| *byte == b'/').map(|at| RelPath::from(&key[..at]));
    let is_mixed =
        move |dir: &RelPath| PARTS.iter().all(|name| all.contains(&*[&**dir, b"/", name.as_bytes()].concat()));
    let dirs = all.iter().map(move |key| above(key).filter(is_mixed).unwrap_or_else(|| key.clone()));
    dirs.collect::<BTreeSet<_>>().into_iter()
}
