//! Which spelling of a name a directory has: many file systems (macOS, Windows, USB sticks) find a file by any of them.
//!
//! Reads names. Invariant: a name is one that its directory lists; another spelling that finds the same file is none.

use super::{RelPath, Stat, Time};
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
        if self.is_exact {
            return false;
        }
        let changed = rustix::fs::fstat(dir).ok().map(|stat| Stat::of(&stat).ctime);
        let listed = self.listed.as_ref().filter(|(at, _)| Some(*at) == changed);
        if listed.is_some_and(|(_, names)| names.contains(name)) {
            return false;
        }
        let names = || list(dir);
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

/// Judges a name that finds something. Where another spelling finds nothing, the names need not be listed; where they cannot
/// be, nothing is lacking.
fn judge(name: &[u8], finds: &dyn Fn(&[u8]) -> bool, names: impl Fn() -> Option<HashSet<RelPath>>) -> Spelling {
    let as_it_is = |is_exact, names| Spelling { is_exact, lacks: false, names };
    let Some(other) = in_other_case(name) else { return as_it_is(false, None) };
    if !finds(&other) {
        return as_it_is(true, None);
    }
    let Some(names) = names() else { return as_it_is(false, None) };
    let lacks = !names.contains(name);
    let is_exact = !lacks && names.contains(&*other);
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
    let lacks = find(dir, name).is_ok() && Names::default().lack(dir, name);
    lacks.then(|| list(dir)?.into_iter().find(|listed| folded(listed) == folded(name))).flatten()
}

fn list(dir: &OwnedFd) -> Option<HashSet<RelPath>> {
    let entries = steps::list(dir).ok()?;
    entries.map(|entry| Some(entry.ok()?.file_name().to_bytes().into())).collect()
}

/// What all spellings of a name have in common.
fn folded(name: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(name) {
        Ok(text) => text.chars().flat_map(char::to_lowercase).collect::<String>().into_bytes(),
        Err(_) => name.to_ascii_lowercase(),
    }
}

/// Another spelling of a name; nothing where it has no letters of two cases.
fn in_other_case(name: &[u8]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(name);
    let of_text = [text.to_uppercase(), text.to_lowercase()].map(String::into_bytes);
    let others = [name.to_ascii_uppercase(), name.to_ascii_lowercase()].into_iter().chain(of_text);
    let is_other = |other: &Vec<u8>| other != name && folded(other) == folded(name);
    others.into_iter().find(is_other)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("1", "1", false),
        ] {
            assert_eq!(in_a_directory(&[has, "other"], false, name), (false, lacks), "{name} where {has} is");
        }
        // Without the right to list it.
        assert!(!judge(b"a", &|_| true, || None).lacks);
    }

    #[test]
    fn bytes_that_are_no_text_have_another_spelling_when_they_have_letters() {
        assert_eq!(in_other_case(b"a\xff"), Some(b"A\xff".to_vec()));
        assert_eq!(in_other_case(b"\xff1"), None);
        assert_eq!(in_other_case(b""), None);
    }
}
