//! The session's directory itself: which one it was, what stands in its place, and how it is made anew.
//!
//! Looks at nothing in it. Invariants: what is not that directory, such as a link in its place, is never written
//! through; while it is gone, everything that was in it counts as removed and can be had back.

use crate::base::paths::{file_uri, from_file_uri, visible};
use crate::review::dir::{read_json, write_json};
use crate::review::error::ReviewError;
use crate::review::worktree::walk::{self, Top as Stands};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Holds it, in the directory of a store.
const FILE: &str = "root";

/// Where the session's directory is, and what is noted of it.
pub(crate) struct Root {
    path: PathBuf,
    /// The directory of the store.
    store: PathBuf,
    noted: Top,
}

/// The root as it was when the session began, or when an undo made it anew.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Top {
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
    fn note(dir: &Path, root: &Path) -> Result<Self, ReviewError> {
        let Stands::Dir(device, number, mode) = walk::top(root).map_err(|e| ReviewError::io(root, e))? else {
            return Err(ReviewError::io(root, std::io::Error::from(std::io::ErrorKind::NotADirectory)));
        };
        let top = Self { path: file_uri(root), number, mode, device: Some(device) };
        write_json(&dir.join(FILE), &top)?;
        Ok(top)
    }

    /// Of a session that was begun by a version that did not note it: nothing.
    fn read(dir: &Path) -> Option<Self> {
        read_json(&dir.join(FILE)).ok()
    }

    fn is(&self, device: u64, number: u64) -> bool {
        self.path.is_empty() || self.number == number && self.device.is_none_or(|known| known == device)
    }
}

/// The root of the session with this store, whether it is there or not, and never behind a link that has come in its
/// place. Fails when what was noted of it twice does not agree: then it is unknown where to write.
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

impl Root {
    /// That of a new store.
    pub(crate) fn note(store: &Path, path: &Path) -> Result<Self, ReviewError> {
        Ok(Self { path: path.to_owned(), store: store.to_owned(), noted: Top::note(store, path)? })
    }

    /// That of a store which is there.
    pub(crate) fn read(store: &Path, path: &Path) -> Self {
        Self { path: path.to_owned(), store: store.to_owned(), noted: Top::read(store).unwrap_or_default() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What stands where the root was; nothing when the system does not say.
    fn stands(&self) -> Option<Stands> {
        walk::top(&self.path).ok()
    }

    /// Whether there is something else than a directory, or nothing.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self.stands(), Some(Stands::Gone | Stands::Link | Stands::Other))
    }

    /// What has become of the root, in words; nothing when it is what it was.
    pub(crate) fn words(&self) -> Option<String> {
        let what = match self.stands()? {
            Stands::Dir(device, number, _) if self.noted.is(device, number) => return None,
            Stands::Dir(..) => "was replaced by another directory: what was in it before counts as changed",
            Stands::Gone => {
                "is gone (removed or moved away): everything in it counts as removed; an undo makes it anew"
            }
            Stands::Link => "was replaced by a link: nothing behind it is looked at, everything counts as removed",
            Stands::Other => "was replaced by something that is no directory: everything in it counts as removed",
        };
        Some(format!("the session's directory {} {what}", visible(self.path.as_os_str())))
    }

    /// Refuses when something stands in the way of a root that is to be there.
    pub(crate) fn free(&self) -> Result<(), ReviewError> {
        let what = match self.stands() {
            Some(Stands::Link) => "is a link",
            Some(Stands::Other) => "is no directory",
            _ => return Ok(()),
        };
        let root = visible(self.path.as_os_str());
        Err(ReviewError::Refused(format!(
            "{root} {what} now; move it away, and the same again makes the directory anew"
        )))
    }

    /// Makes the root anew where it is gone.
    pub(crate) fn make(&mut self) -> Result<(), ReviewError> {
        self.free()?;
        if self.stands() == Some(Stands::Gone) {
            let mode = if self.noted.path.is_empty() { 0o755 } else { self.noted.mode };
            walk::make_top(&self.path, mode).map_err(|e| ReviewError::io(&self.path, e))?;
            self.noted = Top::note(&self.store, &self.path)?;
        }
        Ok(())
    }
}
