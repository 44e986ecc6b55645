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
static STEERING: LazyLock<BTreeSet<&str>> =
    LazyLock::new(|| lines().filter(|name| !has_capitals(name) && !name.contains('/')).collect());
/// Names below another one.
static PAIRS: LazyLock<BTreeSet<(&str, &str)>> =
    LazyLock::new(|| lines().filter_map(|line| line.split_once('/')).collect());
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

/// A name in a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name<'a> {
    pub(super) text: &'a OsStr,
    /// The name before it.
    above: Option<&'a OsStr>,
    /// It is the file's own.
    is_file: bool,
}

impl Name<'_> {
    fn is_listed(self) -> bool {
        let is_below = || {
            let above = self.above.map(|above| above.to_string_lossy().to_lowercase());
            let text = self.text.to_string_lossy().to_lowercase();
            above.is_some_and(|above| PAIRS.contains(&(above.as_str(), text.as_str())))
        };
        is_listed(&self.text.to_string_lossy()) || is_below()
    }
}

/// Whether later commands run what stands in the file that has this name, or in one of the directory that has it.
pub(super) fn steers(name: Name<'_>) -> bool {
    let text = name.text.to_string_lossy().to_lowercase();
    name.is_listed()
        || text.rsplit_once('.').is_some_and(|(_, end)| end == "git")
        || name.is_file && SETTINGS.contains(&text.as_str())
}

/// Whether a name with the marks of a shell in it may become one that steers, whatever stands before it.
pub(super) fn may_steer(name: &str) -> bool {
    let name = name.to_lowercase();
    let capitals = CAPITALS.iter().map(String::as_str);
    let mut all = STEERING.iter().copied().chain(capitals).chain(SETTINGS.iter().copied()).chain(["x.git"]);
    all.any(|one| may_be(&name, one))
}

/// The names in the path of a file, the last one first.
pub(super) fn names(path: &Path) -> impl Iterator<Item = Name<'_>> {
    let parts = path.components().rev();
    let above = parts.clone().skip(1).map(Some).chain([None]);
    parts.zip(above).enumerate().filter_map(|(at, (part, above))| {
        Some(Name { text: normal(part)?, above: above.and_then(normal), is_file: at == 0 })
    })
}

fn normal(part: Component<'_>) -> Option<&OsStr> {
    if let Component::Normal(name) = part { Some(name) } else { None }
}

/// Whether the file at this path names what later commands run.
pub(super) fn is_steering(path: &Path) -> bool {
    names(path).any(steers)
}

/// The same by names that mean nothing else: what is called `config` or `HEAD` alone may be anybody's.
pub(super) fn is_surely_steering(path: &Path) -> bool {
    names_steering(path) || names(path).any(|name| name.text.to_string_lossy().to_lowercase().ends_with(".git"))
}

/// Whether a path says wherever it leads that later commands run what stands there.
pub(super) fn names_steering(path: &Path) -> bool {
    names(path).any(|name| name.is_listed() && !BARE.contains(&&*name.text.to_string_lossy().to_lowercase()))
}
