//! The session's directory itself: which one it was, what stands in its place, and how it is made anew.
//!
//! Looks at nothing in it. Invariants: what is not that directory, such as a link in its place, is never written
//! through; while it is gone, everything that was in it counts as removed and can be had back.

use super::Snapshot;
use crate::base::paths::{file_uri, from_file_uri, visible};
use crate::review::dir::{read_json, write_json};
use crate::review::error::ReviewError;
use crate::review::worktree::walk::{self, Top as Stands};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Holds it, in the directory of a store.
const FILE: &str = "root";

/// The root as it was when the session began, or when an undo made it anew.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Top {
    /// A `file:` URI: JSON has no bytes.
    path: String,
    number: u64,
    mode: u32,
    /// Another one after the next start of the system, maybe.
    #[serde(skip)]
    device: Option<u64>,
}

impl Top {
    /// Takes note of it in `dir`, the directory of a store.
    pub(crate) fn note(dir: &Path, root: &Path) -> Result<Self, ReviewError> {
        let Stands::Dir(device, number, mode) = walk::top(root).map_err(|e| ReviewError::io(root, e))? else {
            return Err(ReviewError::io(root, std::io::Error::from(std::io::ErrorKind::NotADirectory)));
        };
        let top = Self { path: file_uri(root), number, mode, device: Some(device) };
        write_json(&dir.join(FILE), &top)?;
        Ok(top)
    }

    /// Of a session that was begun by a version that did not note it: nothing.
    pub(crate) fn read(dir: &Path) -> Option<Self> {
        read_json(&dir.join(FILE)).ok()
    }

    fn is(&self, device: u64, number: u64) -> bool {
        self.path.is_empty() || self.number == number && self.device.is_none_or(|known| known == device)
    }
}

/// The root of the session with this store, whether it is there or not, and never behind a link that has come in its
/// place. Fails when what was noted of it twice does not agree: then nobody knows where to write.
pub(crate) fn of(store: &Path, cwd: &Path) -> Result<PathBuf, ReviewError> {
    let real = cwd.canonicalize();
    let Ok(top) = read_json::<Top>(&store.join(FILE)) else {
        return real.map_err(|e| ReviewError::io(cwd, e));
    };
    let is_it = |path: &Path| file_uri(path) == top.path;
    if !is_it(cwd) && !real.is_ok_and(|real| is_it(&real)) {
        return Err(ReviewError::Store("its directory is noted in two ways".to_owned()));
    }
    let path = from_file_uri(&top.path).unwrap_or_else(|| cwd.to_owned());
    let above = path.parent().and_then(|above| above.canonicalize().ok());
    Ok(above.zip(path.file_name()).map_or_else(|| path.clone(), |(above, name)| above.join(name)))
}

impl Snapshot {
    /// What stands where the root was; nothing when the system does not say.
    fn stands(&self) -> Option<Stands> {
        walk::top(&self.root).ok()
    }

    /// Whether there is something else than a directory, or nothing.
    pub(crate) fn is_root_lost(&self) -> bool {
        matches!(self.stands(), Some(Stands::Gone | Stands::Link | Stands::Other))
    }

    /// What has become of the root, in words; nothing when it is what it was.
    pub(crate) fn root_words(&self) -> Option<String> {
        let what = match self.stands()? {
            Stands::Dir(device, number, _) if self.top.is(device, number) => return None,
            Stands::Dir(..) => "was replaced by another directory: what was in it before counts as changed",
            Stands::Gone => {
                "is gone (removed or moved away): everything in it counts as removed; an undo makes it anew"
            }
            Stands::Link => "was replaced by a link: nothing behind it is looked at, everything counts as removed",
            Stands::Other => "was replaced by something that is no directory: everything in it counts as removed",
        };
        Some(format!("the session's directory {} {what}", visible(self.root.as_os_str())))
    }

    /// Refuses when something stands in the way of a root that is to be there.
    pub(crate) fn free_root(&self) -> Result<(), ReviewError> {
        let what = match self.stands() {
            Some(Stands::Link) => "is a link",
            Some(Stands::Other) => "is no directory",
            _ => return Ok(()),
        };
        let root = visible(self.root.as_os_str());
        Err(ReviewError::Refused(format!(
            "{root} {what} now; move it away, and the same again makes the directory anew"
        )))
    }

    /// Makes the root anew where it is gone.
    pub(crate) fn make_root(&mut self) -> Result<(), ReviewError> {
        self.free_root()?;
        if self.stands() == Some(Stands::Gone) {
            let mode = if self.top.path.is_empty() { 0o755 } else { self.top.mode };
            walk::make_top(&self.root, mode).map_err(|e| ReviewError::io(&self.root, e))?;
            self.top = Top::note(&self.dir, &self.root)?;
        }
        Ok(())
    }
}
