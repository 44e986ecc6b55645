//! Git worktrees that were made for sessions, as the screen knows them.
//!
//! Plain data; makes none and looks at no disk.

use super::opener::Whose;
use std::path::{Path, PathBuf};

/// A worktree of ours. Its name has letters, digits, `-`, `_` and `.` only.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tree {
    pub name: String,
    pub branch: String,
    /// The top of the working tree that it came from.
    pub origin: PathBuf,
    pub path: PathBuf,
}

/// The one that a directory is in.
pub fn around<'a>(trees: &'a [Tree], dir: &Path) -> Option<&'a Tree> {
    trees.iter().find(|tree| dir.starts_with(&tree.path))
}

/// The directory that one in a worktree stands for: that of the same place in what the worktree came from.
pub fn home_of(trees: &[Tree], dir: &Path) -> PathBuf {
    match around(trees, dir) {
        // Joining nothing would leave a slash at its end.
        Some(tree) => {
            let below = dir.strip_prefix(&tree.path).unwrap_or(Path::new(""));
            tree.origin.components().chain(below.components()).collect()
        }
        None => dir.to_owned(),
    }
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
