//! Files that the person has had this program write into a workspace: exports of a conversation, patches.
//!
//! Writes nothing. Whoever is about to write such a file says so here first, and every review of this process takes it
//! for the person's, in a turn, too. Invariant: only what was told is the person's; what another program makes of such
//! a file later is looked at like anything else.

use crate::review::error::ReviewError;
use crate::review::snapshot::packs;
use crate::review::state::{Change, Oid};
use std::collections::BTreeMap;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Files that are remembered.
const MAX: usize = 1000;

/// By their real paths; without a content it is one that is there for as long as the writing takes, whatever is in it.
static WRITTEN: Mutex<BTreeMap<PathBuf, Option<Oid>>> = Mutex::new(BTreeMap::new());

/// This content, which is left at its beginning, is about to be written there.
pub fn write(path: &Path, content: &mut (impl Read + Seek)) -> Result<(), ReviewError> {
    let oid = packs::hash_of(content).map_err(|error| ReviewError::io(path, error))?;
    note(path, Some(oid))
}

/// Something is being written under this name until it gets its own.
pub fn prepare(path: &Path) -> Result<(), ReviewError> {
    note(path, None)
}

fn note(path: &Path, content: Option<Oid>) -> Result<(), ReviewError> {
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    let real = dir.canonicalize().map_err(|error| ReviewError::io(dir, error))?.join(name);
    let mut written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    if written.len() >= MAX {
        written.pop_first();
    }
    written.insert(real, content);
    Ok(())
}

/// Whether what a look has found below `root` was written so.
pub(super) fn has(root: &Path, change: &Change) -> bool {
    let written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    if written.is_empty() {
        return false;
    }
    written.get(&root.join(&change.path)).is_some_and(|content| content.is_none() || *content == change.after.oid())
}
