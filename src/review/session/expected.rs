//! A state as what has to be on the disk for a write, and the writes of an agent that go by it.
//!
//! Decides nothing about who may write. Invariants: what passes for a state would be found to be that state; an agent
//! never replaces what the review has not got.

use crate::host::fs::{self, FsError, Resolved, Roots, Was, Written};
use crate::review::error::ReviewError;
use crate::review::protocol::Replaceable;
use crate::review::snapshot::Snapshot;
use crate::review::snapshot::capture::unkept;
use crate::review::snapshot::packs;
use crate::review::state::{Oid, State};
use crate::review::worktree::walk::{self, Stat};
use std::path::{Path, PathBuf};

/// Does `write` with what has to be there.
pub fn expected<T>(state: &State, write: impl FnOnce(&Was<'_>) -> T) -> T {
    let names = |oid: &Oid| {
        let oid = *oid;
        move |bytes: &[u8]| packs::hash(bytes).is_ok_and(|hash| hash == oid)
    };
    match state {
        State::Absent => write(&Was::Absent),
        State::File { oid, mode, size } => write(&Was::File { mode: *mode, size: *size, is: &names(oid) }),
        State::Link { oid, .. } => write(&Was::Link { is: &names(oid) }),
        State::Unkept { .. } => write(&Was::Unread { is: &|stat| unkept(&Stat::of(stat)) == *state }),
    }
}

/// What a write of `path`, which was just looked at, may replace. Nothing when it is not covered.
pub fn replaceable(snapshot: &Snapshot, path: PathBuf) -> Result<Option<Replaceable>, ReviewError> {
    let state = match snapshot.known(&path) {
        Some(state) => state,
        // Only what is there is noted.
        None if snapshot.peek(&path)?.0.is_absent() => State::Absent,
        None => return Ok(None),
    };
    let links = match fs::inode(snapshot.root(), &path) {
        Some((inode, names)) if names > 1 => snapshot.named(inode.number).into_iter(),
        _ => Vec::new().into_iter(),
    };
    let links = links.filter(|link| *link != path).collect();
    Ok(Some(Replaceable { state, path, links }))
}

/// Writes for an agent, over what the review has and nothing else; under all names that the file has in the session's
/// directory. Which other names those were.
pub fn write_text(
    roots: &Roots,
    at: &Resolved,
    content: &str,
    known: Option<&Replaceable>,
    is_wanted: &dyn Fn() -> bool,
) -> Result<(Written, Vec<PathBuf>), FsError> {
    let Some(Replaceable { state, path: below, links }) = known else {
        return fs::write_text(at, content, &Was::Any, is_wanted).map(|written| (written, Vec::new()));
    };
    let mut written = expected(state, |was| fs::write_text(at, content, was, is_wanted))?;
    let Some(root) = roots.paths().first() else { return Ok((written, Vec::new())) };
    let is = |bytes: &[u8]| bytes == content.as_bytes();
    let new = Was::File { mode: state.mode().unwrap_or_default(), size: content.len() as u64, is: &is };
    let linked = |link: &&PathBuf| expected(state, |was| fs::link(root, link, below, &new, was)).is_ok();
    // Where it was saved meanwhile, or cannot be linked, the other name keeps what it has.
    let links: Vec<PathBuf> = links.iter().filter(linked).map(|link| root.join(link)).collect();
    written.apart = written.apart.saturating_sub(links.len() as u64);
    Ok((written, links))
}

/// What a real path of a place inside the root is below it; nothing for the root itself and what is outside.
pub fn below(roots: &Roots, root: &Path, path: &Path) -> Option<PathBuf> {
    let resolved = roots.check(path).ok()?.real;
    let below = resolved.strip_prefix(root).ok().filter(|p| !p.as_os_str().is_empty())?;
    // By its real name, also where the file system finds it by others.
    let is = walk::spelled(root, walk::bytes(below));
    Some(is.map_or_else(|| below.to_owned(), |is| walk::path(&is).to_owned()))
}
