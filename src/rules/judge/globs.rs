//! Which files a shell would make of a word with marks, by what is there now.
//!
//! Invariant: what is found only speaks against a command, or says that nothing does; the number of names is bounded.

use crate::base::paths::is_of_process;
use crate::rules::Request;
use crate::rules::marks::{MARKS, expanded, may_be};
use crate::rules::word::Word;
use std::path::{Path, PathBuf};

/// Files of one word.
const MAX_FILES: usize = 5000;
/// Directories that are looked into for one word.
const MAX_DIRS: usize = 64;

/// The files; `None` where they are too many, or cannot be told.
pub(super) fn files(request: &Request<'_>, word: &Word) -> Option<Vec<PathBuf>> {
    if !word.is_glob {
        return Some(Vec::new());
    }
    let home = word.shape.strip_prefix("~/").filter(|_| word.is_tilde).zip(request.home);
    match home {
        Some((rest, home)) => of_shape(request, &home.join(rest).to_string_lossy()),
        None => of_shape(request, &word.shape),
    }
}

/// The same of a text that has the marks in it.
pub(super) fn of_shape(request: &Request<'_>, shape: &str) -> Option<Vec<PathBuf>> {
    let mut dirs = 0;
    let mut found = Vec::new();
    for one in expanded(shape).iter().filter(|one| one.contains(MARKS)) {
        let mut paths = vec![PathBuf::from(if one.starts_with('/') { "/" } else { "" })];
        for part in one.split('/').filter(|part| !part.is_empty()) {
            if !part.contains(MARKS) {
                for path in &mut paths {
                    path.push(part);
                }
                continue;
            }
            let mut next = Vec::new();
            for dir in paths {
                dirs += 1;
                next.extend(below(request, &dir, part, &mut dirs)?);
                if dirs > MAX_DIRS || next.len() > MAX_FILES {
                    return None;
                }
            }
            paths = next;
        }
        found.extend(paths);
    }
    (found.len() <= MAX_FILES).then_some(found)
}

/// The names in a directory that a part with marks stands for; of `**` all that is below it.
fn below(request: &Request<'_>, dir: &Path, part: &str, dirs: &mut usize) -> Option<Vec<PathBuf>> {
    // Which directory that is only the process knows.
    let at = request.cwd.join(dir);
    if (request.links)(&at).is_some_and(|at| is_of_process(&at)) {
        return None;
    }
    let names = (request.names)(&at)?;
    // Names with a dot before them are not meant where it is not written.
    let is_meant = |name: &&String| !name.starts_with('.') || part.starts_with(['.', '[']);
    let fits = |name: &&String| is_meant(name) && may_be(part, name);
    let mut found: Vec<PathBuf> = names.iter().filter(fits).map(|name| dir.join(name)).collect();
    if part != "**" {
        return Some(found);
    }
    let mut open = found.clone();
    found.push(dir.to_owned());
    while let Some(dir) = open.pop() {
        if !(request.is_above)(&request.cwd.join(&dir)) {
            continue;
        }
        *dirs += 1;
        if *dirs > MAX_DIRS || found.len() > MAX_FILES {
            return None;
        }
        let names = (request.names)(&request.cwd.join(&dir))?;
        let more: Vec<PathBuf> = names.iter().filter(is_meant).map(|name| dir.join(name)).collect();
        open.extend(more.iter().cloned());
        found.extend(more);
    }
    Some(found)
}
