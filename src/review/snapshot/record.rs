//! Whether the directories of a store are what they should be: an agent can reach them.
//!
//! Looks at nothing in them. Invariant: nothing of a store is read or written behind a link.

use super::preserve::KEPT;
use crate::base::paths::visible;
use crate::review::error::ReviewError;
use std::path::{Path, PathBuf};

/// Directories in a store.
const DIRS: [&str; 3] = ["objects", "objects/pack", "objects/info"];

/// Refuses a store that is not there, or of which a directory leads elsewhere.
pub(super) fn check(dir: &Path) -> Result<(), ReviewError> {
    if dir.symlink_metadata().is_err() {
        return Err(ReviewError::Store(format!("nothing at {}", visible(dir.as_os_str()))));
    }
    let kept = dir.join(KEPT);
    let kept = std::iter::once(kept.clone()).chain(kept.read_dir().into_iter().flatten().flatten().map(|e| e.path()));
    let odd = |path: &PathBuf| path.symlink_metadata().is_ok_and(|meta| !meta.is_dir());
    // The store itself without a slash behind it: with one a link is followed.
    let all = std::iter::once(dir.to_owned()).chain(DIRS.iter().map(|name| dir.join(name))).chain(kept);
    match { all }.find(odd) {
        Some(odd) => Err(ReviewError::Store(format!(
            "{} is a link or no directory, and nothing behind it is made use of",
            visible(odd.as_os_str())
        ))),
        None => Ok(()),
    }
}
