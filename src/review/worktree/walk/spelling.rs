//! Which spelling of a name a directory has: many file systems (macOS, Windows, USB sticks) find a file by any of them.
//!
//! Reads names. Invariant: a name is one that its directory lists; another spelling that finds the same file is none.

use super::{RelPath, Stat, Time};
use crate::host::fs::spelling::{in_other_case, listed};
use crate::host::fs::steps;
use rustix::fs::{AtFlags, statat};
use rustix::io::Errno;
use std::collections::HashSet;
use std::os::fd::OwnedFd;
use std::path::Path;

/// What the system finds by a name, however it is spelled.
pub(super) fn find(dir: &OwnedFd, name: &[u8]) -> Result<Stat, Errno> {
    #[cfg(test)]
    let name = &*super::faults::spelled(dir, name);
    statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).map(|stat| Stat::of(&stat))
}

/// What is known of the names of one directory.
#[derive(Default)]
pub(super) struct Names {
    /// The file system tells spellings apart there.
    is_exact: bool,
    /// As they were when the directory was changed at that time.
    listed: Option<(Time, HashSet<RelPath>)>,
}

impl Names {
    /// Whether a name that finds something there is only another spelling of one that the directory has.
    pub(super) fn lack(&mut self, dir: &OwnedFd, name: &[u8]) -> bool {
        if self.is_exact && name.is_ascii() {
            return false;
        }
        let changed = rustix::fs::fstat(dir).ok().map(|stat| Stat::of(&stat).ctime);
        let listed = self.listed.as_ref().filter(|(at, _)| Some(*at) == changed);
        if listed.is_some_and(|(_, names)| names.contains(name)) {
            return false;
        }
        let names = || steps::names(dir).map(HashSet::from_iter);
        let Spelling { is_exact, lacks, names } = judge(name, &|name| find(dir, name).is_ok(), names);
        self.is_exact = is_exact;
        if names.is_some() {
            self.listed = changed.zip(names);
        }
        lacks
    }
}

/// What a name was found to be.
struct Spelling {
    /// Spellings are told apart.
    is_exact: bool,
    lacks: bool,
    /// Where they had to be asked for.
    names: Option<HashSet<RelPath>>,
}

/// Judges a name that finds something. Where another spelling of plain letters finds nothing, the names need not be listed;
/// where they cannot be, nothing is lacking.
fn judge(name: &[u8], finds: &dyn Fn(&[u8]) -> bool, names: impl Fn() -> Option<HashSet<RelPath>>) -> Spelling {
    let as_it_is = |is_exact, names| Spelling { is_exact, lacks: false, names };
    let other = in_other_case(name);
    // The same letters may also be composed in two ways, of which no other case tells.
    if name.is_ascii() {
        match &other {
            Some(other) if finds(other) => {}
            other => return as_it_is(other.is_some(), None),
        }
    }
    let Some(names) = names() else { return as_it_is(false, None) };
    let lacks = !names.contains(name);
    let is_exact = name.is_ascii() && !lacks && other.is_some_and(|other| names.contains(&*other));
    Spelling { is_exact, lacks, names: Some(names) }
}

/// A path that is found below the root as its directories list the names in it; nothing where it is spelled so itself.
pub(crate) fn spelled(root: &Path, key: &[u8]) -> Option<RelPath> {
    let mut dir = steps::begin(root).ok();
    let mut names: Vec<RelPath> = Vec::new();
    for name in key.split(|byte| *byte == b'/') {
        let is = dir.as_ref().and_then(|dir| listed_as(dir, name)).unwrap_or_else(|| name.into());
        dir = dir.and_then(|dir| steps::step(&dir, &*is).ok());
        names.push(is);
    }
    let is = names.join(&b'/');
    (is != key).then(|| is.into())
}

/// The name that a directory has for what is found by another spelling of it.
fn listed_as(dir: &OwnedFd, name: &[u8]) -> Option<RelPath> {
    let finds = |name: &[u8]| find(dir, name).is_ok();
    if finds(name) { listed(name, &finds, || steps::names(dir)) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::fs::spelling::folded;

    /// In a directory with these names of which the file system does or does not mind the spelling.
    fn in_a_directory(has: &[&str], minds: bool, name: &str) -> (bool, bool) {
        let names: HashSet<RelPath> = has.iter().map(|name| name.as_bytes().into()).collect();
        let finds = |asked: &[u8]| names.iter().any(|is| **is == *asked || !minds && folded(is) == folded(asked));
        let Spelling { is_exact, lacks, .. } = judge(name.as_bytes(), &finds, || Some(names.clone()));
        (is_exact, lacks)
    }

    #[test]
    fn only_what_a_directory_lists_is_a_name_in_it() {
        assert_eq!(in_a_directory(&["a.txt"], true, "a.txt"), (true, false));
        // Two files, or two names of one.
        assert_eq!(in_a_directory(&["a.txt", "A.TXT"], true, "a.txt"), (true, false));
        for (has, name, lacks) in [
            ("a.txt", "a.txt", false),
            ("A.txt", "a.txt", true),
            ("A.txt", "A.TXT", true),
            ("ÄRGER", "ärger", true),
            ("ärger", "ärger", false),
            ("Ä", "ä", true),
            ("ΟΔΟΣ", "οδος", true),
            ("οδος", "ΟΔΟΣ", true),
            ("1", "1", false),
        ] {
            assert_eq!(in_a_directory(&[has, "other"], false, name), (false, lacks), "{name} where {has} is");
        }
        // One name, composed in two ways.
        for (has, name, lacks) in [("한", "한", false), ("한", "\u{1112}\u{1161}\u{11ab}", true)] {
            let names = || Some(HashSet::from([has.as_bytes().into()]));
            let is = judge(name.as_bytes(), &|_| true, names);
            assert_eq!((is.is_exact, is.lacks), (false, lacks), "{name}");
        }
        // Without the right to list it.
        assert!(!judge(b"a", &|_| true, || None).lacks);
    }
}
