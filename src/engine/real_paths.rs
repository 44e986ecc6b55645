//! Where paths that agents name really lead, for rules and for the decision hook.
//!
//! Looks at the file system and changes nothing. Invariant: a link that leads nowhere has no real path.

use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Where a path leads, also when its end is not there yet: links of what is there are followed.
pub fn real_path(path: &Path) -> Option<PathBuf> {
    let mut missing: Vec<&OsStr> = Vec::new();
    let mut there = path;
    loop {
        match there.canonicalize() {
            Ok(real) => return Some(missing.iter().rev().fold(real, |path, name| path.join(name))),
            // A link that leads nowhere may lead somewhere by the time it is used.
            Err(error) if error.kind() == io::ErrorKind::NotFound && there.symlink_metadata().is_err() => {}
            Err(_) => return None,
        }
        match there.components().next_back()? {
            Component::Normal(name) => missing.push(name),
            _ => return None,
        }
        there = there.parent()?;
    }
}

/// Whether there may be files below a path.
pub fn is_above(path: &Path) -> bool {
    match path.metadata() {
        Ok(meta) => meta.is_dir(),
        Err(error) => !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
    }
}
