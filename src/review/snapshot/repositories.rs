//! Git's own directories that are not called `.git`: bare repositories with worktrees beside them, separate ones, mirrors.
//!
//! Told by what is in them, at the first look and never again: what becomes such a directory later is the work of a
//! session, and is covered. Where other files stand beside git's own, only git's own are taken for it: a directory of
//! sources can be made to look like a repository. Invariant: what is git's is no change, and no undo touches it.

use crate::review::error::ReviewError;
use crate::review::worktree::own_files::OwnFiles;
use crate::review::worktree::walk::{self, RelPath, Walked};
use crate::store::replace::{Durability, Replacement};
use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::path::Path;

/// In the store.
pub(crate) const FILE: &str = "repositories";
/// More are not told apart.
const MOST: usize = 1000;
/// Of those that hold other files too; each further one is taken whole.
const MOST_MIXED: usize = 20;
/// What git writes into its directory, beside names in capital letters.
const NAMES: &[&str] = &[
    "HEAD",
    "FETCH_HEAD",
    "ORIG_HEAD",
    "COMMIT_EDITMSG",
    "config",
    "config.worktree",
    "description",
    "index",
    "packed-refs",
    "shallow",
    "objects",
    "refs",
    "reftable",
    "logs",
    "hooks",
    "info",
    "branches",
    "worktrees",
    "modules",
    "lfs",
    "annex",
    "svn",
    "sequencer",
    "rebase-merge",
    "rebase-apply",
];
const MAX_FILE: u64 = 8 << 20;
const MAX_HEAD: u64 = 1 << 10;

/// The uppermost directories of those that a walk has come past, or what is git's in them. The root is none: there is a
/// session in it.
fn found(root: &Path, walked: &Walked) -> Vec<RelPath> {
    let files: BTreeSet<&RelPath> = walked.files.iter().map(|(key, _)| key).collect();
    let below = |dir: &RelPath, name: &str| -> RelPath { [dir, &b"/"[..], name.as_bytes()].concat().into() };
    let is_git = |dir: &&RelPath| {
        !dir.is_empty()
            && ["objects", "refs"].iter().all(|name| walked.dirs.contains(&below(dir, name)))
            && ["HEAD", "config"].iter().all(|name| files.contains(&below(dir, name)))
            && has_head(&root.join(walk::path(dir)))
    };
    let mut all: Vec<RelPath> = Vec::new();
    for dir in walked.dirs.iter().filter(is_git).take(MOST) {
        let is_in = |above: &RelPath| dir.strip_prefix(&**above).is_some_and(|rest| rest.first() == Some(&b'/'));
        if !all.iter().any(is_in) {
            all.push(dir.clone());
        }
    }
    let entries = |dir: &RelPath| -> BTreeSet<RelPath> {
        let names = walked.files.iter().map(|(key, _)| key).chain(&walked.dirs);
        names.filter_map(|key| name_in(dir, key)).map(RelPath::from).collect()
    };
    let (mixed, mut found): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|dir| !entries(dir).iter().all(|name| is_gits(name)));
    for (at, dir) in mixed.into_iter().enumerate() {
        if at < MOST_MIXED {
            found.extend(NAMES.iter().map(|name| below(&dir, name)));
        } else {
            found.push(dir);
        }
    }
    found
}

/// The first name behind a directory in the path of something in it.
fn name_in<'a>(dir: &RelPath, key: &'a RelPath) -> Option<&'a [u8]> {
    key.strip_prefix(&**dir)?.strip_prefix(b"/")?.split(|byte| *byte == b'/').next()
}

/// Whether git may have written an entry of this name into its directory.
fn is_gits(name: &[u8]) -> bool {
    let is_capital = |byte: &u8| byte.is_ascii_uppercase() || *byte == b'_';
    let is_passing = name.ends_with(b".lock") || name.starts_with(b"gc.") || name.starts_with(b"sharedindex.");
    name.iter().all(is_capital) || is_passing || NAMES.iter().any(|known| known.as_bytes() == name)
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

/// Notes in a store those that the first walk has come past; what is hidden then. Nothing where there are none.
pub(crate) fn noted(
    store: &Path,
    root: &Path,
    walked: &Walked,
    hidden: &OwnFiles,
) -> Result<Option<OwnFiles>, ReviewError> {
    let all = found(root, walked);
    if all.is_empty() {
        return Ok(None);
    }
    note(store, &all)?;
    Ok(Some(hidden.clone().and(all)))
}

/// Notes them in a store.
fn note(store: &Path, all: &[RelPath]) -> Result<(), ReviewError> {
    let path = store.join(FILE);
    let bytes: Vec<u8> = all.iter().flat_map(|key| [key, &b"\0"[..]].concat()).collect();
    let written = Replacement::of(&path).and_then(|mut file| {
        file.write_all(&bytes)?;
        file.finish(Durability::Whole)
    });
    written.map_err(|e| ReviewError::io(&path, e))
}

/// Those that were noted.
pub(crate) fn read(store: &Path) -> Vec<RelPath> {
    let mut bytes = Vec::new();
    let Some(file) = walk::open_plain(&store.join(FILE)) else { return Vec::new() };
    if file.take(MAX_FILE).read_to_end(&mut bytes).is_err() {
        return Vec::new();
    }
    bytes.split(|byte| *byte == 0).filter(|key| !key.is_empty()).map(RelPath::from).collect()
}
