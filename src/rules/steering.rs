//! Names of files from which later commands take programs: rules let nobody edit them that do not spell them out.
//!
//! Knows no rules. Invariant: names are compared in small letters, but for those that are listed with capitals.

use super::marks::may_be;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Component, Path};
use std::sync::LazyLock;

/// Names of files and directories, a line each.
const NAMES: &str = include_str!("../../assets/steering.txt");
static STEERING: LazyLock<BTreeSet<&str>> = LazyLock::new(|| lines().filter(|name| !has_capitals(name)).collect());
/// Names that are written with capitals, here in small letters.
static CAPITALS: LazyLock<BTreeSet<String>> =
    LazyLock::new(|| lines().filter(|name| has_capitals(name)).map(str::to_lowercase).collect());

/// Of these the names that only mean something in a bare repository.
const BARE: &[&str] = &["head", "commondir"];

/// Names of files, not of directories: the settings of a bare repository of any name.
const SETTINGS: &[&str] = &["config", "config.worktree"];

fn lines() -> impl Iterator<Item = &'static str> {
    NAMES.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn has_capitals(name: &str) -> bool {
    name.chars().any(char::is_uppercase)
}

/// Whether it is in the list. A name that stands there with capitals is one in any letters but small ones, in which it may be
/// anybody's: `docs/agents.md` is no `AGENTS.md`.
fn is_listed(name: &str) -> bool {
    let small = name.to_lowercase();
    STEERING.contains(&*small) || has_capitals(name) && CAPITALS.contains(&small)
}

/// Whether later commands run what stands in a file of this name, or in one of this directory unless it `is_file`.
pub(super) fn steers(name: &str, is_file: bool) -> bool {
    let is_listed = is_listed(name);
    let name = name.to_lowercase();
    let name = name.as_str();
    is_listed || name.strip_suffix(".git").is_some() || (is_file && SETTINGS.contains(&name))
}

/// Whether a name with the marks of a shell in it may become one that steers, whatever stands before it.
pub(super) fn may_steer(name: &str) -> bool {
    let name = name.to_lowercase();
    let capitals = CAPITALS.iter().map(String::as_str);
    let mut all = STEERING.iter().copied().chain(capitals).chain(SETTINGS.iter().copied()).chain(["x.git"]);
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
    let is_one = |name: &str| is_listed(name) && !BARE.contains(&&*name.to_lowercase());
    names(path).any(|(name, _)| is_one(&name.to_string_lossy()))
}
