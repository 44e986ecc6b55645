//! Whether there is more in the tree than is looked at, and whether there ever was.
//!
//! Invariant: that there once was more is remembered, also after a restart: of what was never looked at nobody knows what
//! became of it.

use super::coverage::Uncovered;
use crate::base::human::{bytes, thousands};
use crate::review::dir::{read_json, write_json};
use crate::review::error::ReviewError;
use crate::review::worktree::walk::NAMES;
use std::path::{Path, PathBuf};

const FILES_FILE: &str = "was-full";
const NAMES_FILE: &str = "names-were-full";

/// What there is too much of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TooMuch {
    pub files: bool,
    /// Bytes of the names of files and directories.
    pub names: bool,
}

pub(crate) struct Beyond {
    store: PathBuf,
    /// At the last look.
    pub now: TooMuch,
    ever: TooMuch,
}

impl Beyond {
    pub(crate) fn new(store: &Path) -> Self {
        Self { store: store.to_owned(), now: TooMuch::default(), ever: TooMuch::default() }
    }

    /// As it was written down in `store`.
    pub(crate) fn read(store: &Path) -> Self {
        let was = |file: &str| read_json(&store.join(file)).unwrap_or(false);
        let ever = TooMuch { files: was(FILES_FILE), names: was(NAMES_FILE) };
        Self { ever, ..Self::new(store) }
    }

    /// A look is over.
    pub(crate) fn passed(&mut self) -> Result<(), ReviewError> {
        let Self { store, now, ever } = self;
        for (now, ever, file) in [(now.files, &mut ever.files, FILES_FILE), (now.names, &mut ever.names, NAMES_FILE)] {
            if now && !*ever {
                write_json(&store.join(file), &true)?;
                *ever = true;
            }
        }
        Ok(())
    }

    /// Whether there is more, or was.
    pub(crate) const fn had_more(&self) -> bool {
        let Self { now, ever, .. } = self;
        now.files || now.names || ever.files || ever.names
    }

    /// What is not looked at, in words; `files` are looked at.
    pub(crate) fn words(&self, files: usize) -> Option<Uncovered> {
        Some(format!("{}: the others are not looked at", self.now.more_than(files)?).into())
    }

    /// What there was more of and is no longer, in words.
    pub(crate) fn words_of_before(&self, files: usize) -> Option<Uncovered> {
        let Self { now, ever, .. } = self;
        let gone = TooMuch { files: ever.files && !now.files, names: ever.names && !now.names };
        let what = gone.more_than(files)?;
        Some(format!("there were {what}: what became of those that were not looked at is not known").into())
    }
}

impl TooMuch {
    fn more_than(self, files: usize) -> Option<String> {
        let files = self.files.then(|| format!("more than {} files", thousands(files as u64)));
        let names = self.names.then(|| format!("files whose paths are together longer than {}", bytes(NAMES as u64)));
        match (files, names) {
            (Some(files), Some(names)) => Some(format!("{files}, and {names}")),
            (one, other) => one.or(other),
        }
    }
}
