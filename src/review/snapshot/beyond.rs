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
    /// Rules of git's. What they do not hide is looked at, so that it need not be remembered.
    pub rules: bool,
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
        let ever = TooMuch { files: was(FILES_FILE), names: was(NAMES_FILE), rules: false };
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

    /// What is not looked at or not applied, in words; `files` are looked at.
    pub(crate) fn words(&self, files: usize) -> impl Iterator<Item = Uncovered> {
        let more = self.now.more_than(files).map(|more| format!("{more}: the others are not looked at"));
        let rules = "more rules in all files of them than are applied: some of what they ignore is looked at";
        more.into_iter().chain(self.now.rules.then(|| rules.to_owned())).map(Uncovered::from)
    }

    /// What there was more of and is no longer, in words.
    pub(crate) fn words_of_before(&self, files: usize) -> Option<Uncovered> {
        let Self { now, ever, .. } = self;
        let gone = TooMuch { files: ever.files && !now.files, names: ever.names && !now.names, rules: false };
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
