//! fs: text files inside the session's roots, and the one error type for refusing the rest.
//!
//! It decides nothing about permissions of the person (the engine does) and keeps no state between calls.
//! Invariant: every file is reached by walking real directories from a root, never by following a link.

mod beneath;
pub mod moments;
pub mod output;
mod policy;
mod private;
mod put;
mod read;
mod regular;
pub mod spelling;
pub mod steps;
mod swap;
mod write;

pub use policy::{Resolved, Roots};
pub use private::Private;
pub use put::{Done, Put, bring_beside, inode, link, make_dir, put, respell};
pub use read::{MAX_READ_BYTES, MAX_SKIPPED_BYTES, read_text};
pub use regular::{open_regular, open_regular_as, read_regular, read_written};
pub use steps::Inode;
pub use swap::{Was, is_in_use, is_swap, is_temporary, may_be_of};
pub use write::{MAX_OLD_BYTES, Written, may_write, write_text};

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a file was not read or written.
#[derive(Debug, Error)]
pub enum FsError {
    #[error("the path must be absolute: {}", .0.display())]
    Relative(PathBuf),
    #[error("not a usable path: {0}")]
    BadPath(&'static str),
    #[error("outside the workspace: {}", .0.display())]
    Outside(PathBuf),
    #[error("the directory {} is another one than at the start of the session and is not served; a new session would be", .0.display())]
    Replaced(PathBuf),
    #[error("a file of acp-tui itself, which agents may neither read nor write: {}", .0.display())]
    Private(PathBuf),
    #[error("not a text file (no valid UTF-8): {}", .0.display())]
    NotText(PathBuf),
    #[error("a directory, not a file: {}", .0.display())]
    IsDirectory(PathBuf),
    #[error("{what}, not a regular file: {}", .path.display())]
    NotRegular { path: PathBuf, what: &'static str },
    #[error("more than {limit} bytes: {}; ask for a part with `line` and `limit`", .path.display())]
    TooLarge { path: PathBuf, limit: u64 },
    #[error("line {line} begins more than {limit} bytes into the file: {}; ask for an earlier line, or cut the file with a command", .path.display())]
    TooFar { path: PathBuf, line: u64, limit: u64 },
    #[error("not read to its end, since the turn is over: {}", .0.display())]
    NotWanted(PathBuf),
    #[error("not written, since acp-tui is ending: {}", .0.display())]
    Ending(PathBuf),
    #[error("changed meanwhile, nothing was written: {}", .0.display())]
    Changed(PathBuf),
    #[error("changed twice meanwhile, nothing was written: {}; what was saved first is in {}", .path.display(), .beside.display())]
    ChangedTwice { path: PathBuf, beside: PathBuf },
    #[error("there already, and not to be replaced: {}", .0.display())]
    Exists(PathBuf),
    #[error("no such file: {}", .0.display())]
    NotFound(PathBuf),
    #[error("{}: {source}", .path.display())]
    Os { path: PathBuf, source: io::Error },
    #[error("{}: {source}; what was prepared stays as {} and can be removed", .path.display(), .left.display())]
    Left { path: PathBuf, left: PathBuf, source: io::Error },
}

impl FsError {
    /// What the operating system said about `path`; a missing file has its own variant.
    fn os(path: &Path, error: impl Into<io::Error>) -> Self {
        let source = error.into();
        match source.kind() {
            io::ErrorKind::NotFound => Self::NotFound(path.to_owned()),
            io::ErrorKind::IsADirectory => Self::IsDirectory(path.to_owned()),
            _ => Self::Os { path: path.to_owned(), source },
        }
    }
}

#[cfg(test)]
mod fs_tests;
