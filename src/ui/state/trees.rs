//! Git worktrees that were made for sessions, as the screen knows them.
//!
//! Plain data; makes none and looks at no disk.

use super::opener::Whose;
use crate::base::origins::Origins;
use std::path::{Path, PathBuf};

/// The worktrees that there are, and where all have come from that there ever were.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trees {
    pub all: Vec<Tree>,
    pub origins: Origins,
}

impl Trees {
    /// The one that a directory is in.
    pub fn around(&self, dir: &Path) -> Option<&Tree> {
        self.all.iter().find(|tree| dir.starts_with(&tree.path))
    }

    /// The branch of the worktree that a directory is or was in: the one that is `recorded`, where it was discarded.
    pub fn branch_of<'a>(&'a self, dir: &Path, recorded: Option<&'a str>) -> Option<&'a str> {
        let standing = self.around(dir).map(|tree| tree.branch.as_str());
        standing.or_else(|| recorded.filter(|_| self.origins.home_of(dir) != dir))
    }
}

/// A worktree of ours. Its name has letters, digits, `-`, `_` and `.` only.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tree {
    pub name: String,
    pub branch: String,
    /// The top of the working tree that it came from.
    pub origin: PathBuf,
    pub path: PathBuf,
}

/// What worktrees are to be made for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MadeFor {
    /// A further session.
    Session(Whose),
    /// One prompt to several agents: the names under which they are configured.
    Prompt { agents: Vec<String>, text: String },
}

/// Worktrees that are to be made, all with the same files to begin with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Making {
    /// The directory that the sessions were meant to be in.
    pub dir: PathBuf,
    pub with_changes: bool,
    pub made_for: MadeFor,
}

/// A worktree that was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Made {
    /// The directory that the session is to have.
    pub cwd: PathBuf,
    /// What the person should know, in words.
    pub remarks: Vec<String>,
}

/// What is to become of a worktree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fate {
    /// Its changes are put into the files that it came from.
    Merge,
    /// Those of one file are, whose path is below it.
    Take(PathBuf),
    /// It goes, once a recovery ref holds all of it.
    Discard,
}
