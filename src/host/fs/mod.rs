//! fs: text files inside the session's roots, and the one error type for refusing the rest.
//!
//! It decides nothing about permissions of the person (the engine does) and keeps no state between calls.
//! Invariant: every file is reached by walking real directories from a root, never by following a link.

mod beneath;
pub mod moments;
mod policy;
mod private;
mod put;
mod read;
mod swap;
mod write;

pub use policy::{Resolved, Roots};
pub use private::Private;
pub use put::{Inode, Put, bring_back, inode, link, make_dir, put};
pub use read::{MAX_READ_BYTES, MAX_SKIPPED_BYTES, read_text};
pub use swap::{Was, is_swap, may_be_of};
pub use write::{MAX_OLD_BYTES, Written, write_text};

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use thiserror::Error;

use crate::base::paths::file_uri;

/// JSON-RPC "invalid params", also used for refusals by policy.
const INVALID_PARAMS: i64 = -32602;
/// JSON-RPC "internal error": what the operating system said.
const INTERNAL_ERROR: i64 = -32603;
/// ACP "resource not found".
const NOT_FOUND: i64 = -32002;

/// Why a file was not read or written.
#[derive(Debug, Error)]
pub enum FsError {
    #[error("the path must be absolute: {}", .0.display())]
    Relative(PathBuf),
    #[error("not a usable path: {0}")]
    BadPath(&'static str),
    #[error("outside the workspace: {}", .0.display())]
    Outside(PathBuf),
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
    #[error("not allowed by the client's policy: {}", .0.display())]
    DeniedByPolicy(PathBuf),
    #[error("refused by the user: {}", .0.display())]
    DeniedByUser(PathBuf),
    #[error("line {line} begins more than {limit} bytes into the file: {}; ask for an earlier line, or cut the file with a command", .path.display())]
    TooFar { path: PathBuf, line: u64, limit: u64 },
    #[error("not read to its end, since the turn is over: {}", .0.display())]
    NotWanted(PathBuf),
    #[error("changed meanwhile, nothing was written: {}", .0.display())]
    Changed(PathBuf),
    #[error("changed twice meanwhile, nothing was written: {}; what was saved first is in {}", .path.display(), .beside.display())]
    ChangedTwice { path: PathBuf, beside: PathBuf },
    #[error("no such file: {}", .0.display())]
    NotFound(PathBuf),
    #[error("{}: {source}", .path.display())]
    Os { path: PathBuf, source: io::Error },
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

    /// The JSON-RPC error: code, message and data.
    pub fn rpc(&self) -> (i64, String, Value) {
        let refused = |reason: &str, path: &Path| json!({ "reason": reason, "path": path.to_string_lossy() });
        let (code, data) = match self {
            Self::Relative(path) => (INVALID_PARAMS, json!({ "path": path.to_string_lossy() })),
            Self::BadPath(_) => (INVALID_PARAMS, Value::Null),
            Self::Outside(path) => (INVALID_PARAMS, refused("outside_workspace", path)),
            Self::NotText(path) => (INVALID_PARAMS, refused("not_text", path)),
            Self::IsDirectory(path) => (INVALID_PARAMS, refused("is_directory", path)),
            Self::NotRegular { path, .. } | Self::DeniedByPolicy(path) | Self::Private(path) => {
                (INVALID_PARAMS, refused("denied_by_policy", path))
            }
            Self::DeniedByUser(path) => (INVALID_PARAMS, refused("denied_by_user", path)),
            Self::NotWanted(path) => (INTERNAL_ERROR, refused("turn_over", path)),
            Self::Changed(path) | Self::ChangedTwice { path, .. } => (INTERNAL_ERROR, refused("changed", path)),
            Self::TooLarge { path, .. } | Self::TooFar { path, .. } => (INVALID_PARAMS, refused("too_large", path)),
            Self::NotFound(path) => (NOT_FOUND, json!({ "uri": file_uri(path) })),
            Self::Os { path, .. } => (INTERNAL_ERROR, json!({ "path": path.to_string_lossy() })),
        };
        (code, self.to_string(), data)
    }
}

#[cfg(test)]
mod fs_tests;
