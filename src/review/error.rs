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
    #[error("{}: could not be read: {}", visible(.path.as_os_str()), words(.source))]
    Unread { path: PathBuf, source: io::Error },
    #[error("{}: could not be written: {}", visible(.path.as_os_str()), words(.source))]
    Unwritten { path: PathBuf, source: io::Error },
    #[error("{0}")]
    Refused(String),
    #[error("stopped before anything was written; the same command again does all of it")]
    Stopped,
}

/// What the system says of a failure, without its number.
pub(crate) fn words(error: &io::Error) -> String {
    let words = error.to_string();
    words.split_once(" (os error").map_or(words.as_str(), |(words, _)| words).to_owned()
}

impl ReviewError {
    /// Whether trying once more would come to the same: nothing but what the person does changes it.
    pub const fn is_final(&self) -> bool {
        matches!(self, Self::NotKept(_) | Self::Conflict { .. })
    }

    /// The same, about a certain file.
    pub fn of(self, path: &Path) -> Self {
        match self {
            Self::NotKept(_) => Self::NotKept(path.to_owned()),
            other => other,
        }
    }

    /// What went wrong, without the name of the file that it is about.
    pub fn why(&self) -> String {
        match self {
            Self::Unread { source, .. } => format!("could not be read: {}", words(source)),
            Self::Unwritten { source, .. } => format!("could not be written: {}", words(source)),
            Self::NotKept(_) => "what it was before is not kept".to_owned(),
            Self::Moved(_) => "changed meanwhile, nothing was written".to_owned(),
            Self::Conflict { why, .. } => why.clone(),
            other => other.to_string(),
        }
    }

    pub fn io(path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Io { path: path.to_owned(), source: source.into() }
    }
}
