//! Writes through the client that have begun, as far as it is not known yet what has become of them.
//!
//! Looks at no file. Invariant: a write is in here before its file is touched, and until what it did is recorded or it
//! is known to have done nothing.

use crate::review::state::{Oid, State};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What is to be written, and for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingWrite {
    pub turn: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<u64>,
    /// What is there.
    pub before: State,
    pub content: Oid,
    pub size: u64,
}

#[derive(Debug, Default)]
pub struct PendingWrites(BTreeMap<(PathBuf, Oid), PendingWrite>);

impl PendingWrites {
    pub fn begins(&mut self, path: &Path, write: PendingWrite) {
        self.0.insert((path.to_owned(), write.content), write);
    }

    /// A file has come to be that: when it is what was to be written, there is nothing to be found out any more.
    pub fn seen(&mut self, path: &Path, state: &State) {
        if let Some(content) = state.oid() {
            self.0.remove(&(path.to_owned(), content));
        }
    }

    /// The write of that content for an entry is over, under all names of the file. Whether any was left.
    pub fn end(&mut self, content: Oid, entry: Option<u64>) -> bool {
        let before = self.0.len();
        self.0.retain(|_, write| write.content != content || write.entry != entry);
        self.0.len() < before
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All there are, sorted by path.
    pub fn iter(&self) -> impl Iterator<Item = (&Path, &PendingWrite)> {
        self.0.iter().map(|((path, _), write)| (path.as_path(), write))
    }
}
