//! How two trees differ, and the files of one as a checkout would write them.
//!
//! Decides nothing and writes into no working tree.

use super::trees::Index;
use super::{Outcome, io_at, refused};
use crate::host::process::Git;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// How two trees differ at a path.
pub(super) struct Differs {
    pub path: PathBuf,
    pub was: Kind,
    /// The name of its content.
    pub oid: String,
    pub is: Kind,
    /// Whether it may be executed is other than it was.
    pub mode: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Nothing,
    File,
    Link,
    Repository,
}

impl Kind {
    pub const fn has_content(self) -> bool {
        matches!(self, Self::File | Self::Link)
    }
}

/// Files of a tree as a checkout would write them, in a new directory.
pub(super) fn checked_out<'a>(
    git: &Git,
    tree: &str,
    paths: impl Iterator<Item = &'a Path>,
    place: &Path,
) -> Outcome<()> {
    fs::create_dir(place).map_err(io_at(place))?;
    let wanted: Vec<u8> = paths.flat_map(|path| [path.as_os_str().as_bytes(), b"\0"].concat()).collect();
    if !wanted.is_empty() {
        let prefix = format!("--prefix={}/", place.display());
        Index::of(git, tree)?.run(&["checkout-index", "-z", "--stdin", &prefix], &wanted)?;
    }
    Ok(())
}

pub(super) fn differences(git: &Git, was: &str, is: &str) -> Outcome<Vec<Differs>> {
    let listed = git.run(&["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", was, is])?;
    let mut parts = listed.split(|byte| *byte == 0);
    let mut found = Vec::new();
    while let (Some(head), Some(path)) = (parts.next().filter(|head| !head.is_empty()), parts.next()) {
        let head = String::from_utf8_lossy(head);
        let words: Vec<&str> = head.trim_start_matches(':').split(' ').collect();
        let &[was, is, oid, ..] = &words[..] else { return refused("git lists differences in an unknown way") };
        let path = PathBuf::from(OsStr::from_bytes(path));
        found.push(Differs { path, was: kind(was), oid: oid.to_owned(), is: kind(is), mode: was != is });
    }
    Ok(found)
}

fn kind(mode: &str) -> Kind {
    match mode {
        "000000" => Kind::Nothing,
        "120000" => Kind::Link,
        "160000" => Kind::Repository,
        _ => Kind::File,
    }
}
