//! Names of files from which later commands take programs: rules let nobody edit them that do not spell them out.
//!
//! Knows no rules. Invariant: names are compared in small letters.

use super::marks::may_be;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Component, Path};
use std::sync::LazyLock;

/// Names of files and directories, a line each.
const NAMES: &str = include_str!("../../assets/steering.txt");
static STEERING: LazyLock<BTreeSet<&str>> =
    LazyLock::new(|| NAMES.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).collect());

/// Of these the names that only mean something in a bare repository.
const BARE: &[&str] = &["head", "commondir"];

/// Names of files, not of directories: the settings of a bare repository of any name.
const SETTINGS: &[&str] = &["config", "config.worktree"];

/// Whether later commands run what stands in a file of this name, or in one of this directory unless it `is_file`.
pub(super) fn steers(name: &str, is_file: bool) -> bool {
    let name = name.to_lowercase();
    let name = name.as_str();
    STEERING.contains(name) || name.strip_suffix(".git").is_some() || (is_file && SETTINGS.contains(&name))
}

/// Whether a name with the marks of a shell in it may become one that steers, whatever stands before it.
pub(super) fn may_steer(name: &str) -> bool {
    let name = name.to_lowercase();
    let mut all = STEERING.iter().copied().chain(SETTINGS.iter().copied()).chain(["x.git"]);
    all.any(|one| may_be(&name, one))
}

/// The names in the path of a file, each with whether it is the file's own.
pub(super) fn names(path: &Path) -> impl Iterator<Item = (&OsStr, bool)> {
    let parts = path.components().rev().enumerate();
    parts.filter_map(|(at, part)| if let Component::Normal(name) = part { Some((name, at == 0)) } else { None })
}

/// Whether the file at this path names what later commands run.
pub(super) fn is_steering(path: &Path) -> bool {
    names(path).any(|(name, is_file)| steers(&name.to_string_lossy(), is_file))
}

/// The same by names that mean nothing else: what is called `config` or `HEAD` alone may be anybody's.
pub(super) fn is_surely_steering(path: &Path) -> bool {
    names_steering(path) || names(path).any(|(name, _)| name.to_string_lossy().to_lowercase().ends_with(".git"))
}

/// Whether a path says wherever it leads that later commands run what stands there.
pub(super) fn names_steering(path: &Path) -> bool {
    let is_one = |name: &str| STEERING.contains(name) && !BARE.contains(&name);
    names(path).any(|(name, _)| is_one(&name.to_string_lossy().to_lowercase()))
}
