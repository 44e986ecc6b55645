//! What git's index named when the session began, to say of which paths it says something else since: an undo leaves an
//! index as it is, and a file that only came under git's care has not changed.
//!
//! Of the repository that the session's directory is in. Nothing is kept in memory: what was taken is in a file of the
//! store. Invariant: without that file, or where an index cannot be read, nothing is said.

use super::fingerprints::{read, write};
use super::zlib;
use crate::base::human;
use crate::review::error::ReviewError;
use crate::review::worktree::git_dirs::some;
use crate::review::worktree::git_index::{Index, Named};
use crate::review::worktree::repo::Repo;
use crate::review::worktree::walk::{self, RelPath};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const FILE: &str = "index-at-first";
/// Bytes that it unpacks to at most.
const LONGEST: usize = 256 << 20;
/// Paths that are named.
const PATHS: usize = 10;

/// Takes note of the index as the first look has read it. `dir` is the store's.
pub(super) fn note(dir: &Path, repo: Option<&Repo>, index: Option<&Index>) -> Result<(), ReviewError> {
    let has_none = repo.is_some_and(|repo| repo.index_stat().is_none());
    if index.is_none() && !has_none {
        return Ok(());
    }
    let mut packed = Vec::new();
    let bytes = to_bytes(index.iter().flat_map(|index| index.named_all()));
    zlib::pack(&bytes, &mut packed).map_err(|e| ReviewError::io(&dir.join(FILE), e))?;
    write(&dir.join(FILE), &packed)
}

/// Of which paths the index says something else now than in the note, in words.
pub(super) fn otherwise(dir: &Path, root: &Path) -> Option<String> {
    let (_, packed) = read(&dir.join(FILE))?;
    let first = zlib::unpack(&mut packed.as_slice(), LONGEST).ok()??;
    let index = Repo::find(root)?.index(root)?;
    let changed = differing(of_bytes(&first), index.named_all());
    let names = some(changed.iter().map(|path| walk::show(path)), PATHS);
    let paths = human::count(changed.len() as u64, "path");
    (!changed.is_empty())
        .then(|| format!("git's index has changed since the session began, which an undo leaves, for {paths}: {names}"))
}

/// Of each path, with the stage of a conflict, how it is and the name of its content.
type Entries<'a> = BTreeMap<(&'a [u8], u8), &'a [u8]>;

/// The stage, the mode and the name of the content, as many bytes as these take.
const HEAD: usize = 1 + 4 + 20;

fn to_bytes<'a>(named: impl Iterator<Item = Named<'a>>) -> Vec<u8> {
    let mut out = Vec::new();
    for Named { path, stage, mode, oid } in named {
        out.push(stage);
        out.extend_from_slice(&mode.to_le_bytes());
        out.extend_from_slice(&oid.0);
        out.extend_from_slice(path);
        out.push(0);
    }
    out
}

/// What is not whole is left out.
fn of_bytes(mut bytes: &[u8]) -> Entries<'_> {
    let mut entries = Entries::new();
    while let Some((head, rest)) = bytes.split_at_checked(HEAD)
        && let Some(end) = memchr::memchr(0, rest)
        && let (Some((stage, of)), Some((path, rest))) = (head.split_first(), rest.split_at_checked(end))
    {
        entries.insert((path, *stage), of);
        bytes = rest.get(1..).unwrap_or_default();
    }
    entries
}

fn differing<'a>(mut first: Entries<'a>, now: impl Iterator<Item = Named<'a>>) -> BTreeSet<RelPath> {
    let mut changed = BTreeSet::new();
    for Named { path, stage, mode, oid } in now {
        let is = [&mode.to_le_bytes()[..], &oid.0].concat();
        if first.remove(&(path, stage)) != Some(&is[..]) {
            changed.insert(RelPath::from(path));
        }
    }
    changed.extend(first.into_keys().map(|(path, _)| RelPath::from(path)));
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::state::Oid;

    #[test]
    fn what_was_noted_is_read_as_it_was_written() {
        let named = |path: &'static str, stage, mode, oid: u8| Named {
            path: path.as_bytes(),
            stage,
            mode,
            oid: Oid([oid; 20]),
        };
        let first = [named("a", 0, 0o100_644, 1), named("b/c", 1, 0o100_644, 0), named("b/c", 2, 0o120_000, 3)];
        let bytes = to_bytes(first.into_iter());
        let entries = of_bytes(&bytes);
        assert_eq!(entries.len(), 3);
        assert!(differing(entries.clone(), first.into_iter()).is_empty());
        let paths = |now: &[Named<'_>]| {
            differing(entries.clone(), now.iter().copied()).iter().map(|path| walk::show(path)).collect::<Vec<_>>()
        };
        assert_eq!(paths(&[first[0], first[1], named("b/c", 2, 0o120_000, 4)]), ["b/c"]);
        assert_eq!(paths(&[named("a", 0, 0o100_755, 1), named("new", 0, 0o100_644, 1)]), ["a", "b/c", "new"]);
        for end in 0..bytes.len() {
            assert!(of_bytes(&bytes[..end]).len() <= 2, "no cut stops it");
        }
    }
}
