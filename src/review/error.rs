//! What can go wrong in a review, in words for the person.

use crate::base::paths::visible;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

#[derive(Debug, Error)]
pub enum ReviewError {
    #[error("{}: {source}", visible(.path.as_os_str()))]
    Io { path: PathBuf, source: io::Error },
    #[error("the snapshot store: {0}")]
    Store(String),
    #[error("open in another acp-tui; close it there first")]
    Locked,
    #[error("no session is called {0}; `acp-tui sessions` lists them")]
    NoSession(String),
    #[error("{name} is the beginning of several sessions: {}", .found.join(", "))]
    Ambiguous { name: String, found: Vec<String> },
    #[error("{}: what it was before is not kept", visible(.0.as_os_str()))]
    NotKept(PathBuf),
    #[error("{}: changed meanwhile, nothing was written; look again", visible(.0.as_os_str()))]
    Moved(PathBuf),
    #[error("{}: {why}", visible(.path.as_os_str()))]
    Conflict { path: PathBuf, why: String },
    #[error("{0}")]
    Refused(String),
}

impl ReviewError {
    /// The same, about a certain file.
    pub fn of(self, path: &Path) -> Self {
        match self {
            Self::NotKept(_) => Self::NotKept(path.to_owned()),
            other => other,
        }
    }

    pub fn io(path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Io { path: path.to_owned(), source: source.into() }
    }
}
