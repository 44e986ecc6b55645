//! Whether links lead a program that goes through them out of the directories that it is given.
//!
//! Invariants: what cannot be told leads out; the number of names that are looked at is bounded.

use super::files::Files;
use super::globs;
use crate::base::paths::is_of_process;
use crate::rules::Request;
use crate::rules::hazards::{self, Reads};
use crate::rules::word::Word;
use std::path::{Path, PathBuf};

/// Directories, and names in them, of one command: a search of more takes long, and this one is made before it.
const MAX_DIRS: usize = 500;
const MAX_NAMES: usize = 5000;

/// Whether a link below one of the directories that a command is given leads out of that directory, or may do so.
pub(super) fn leads_out(files: &Files<'_, '_>, program: &str, words: &[Word], is_moved: bool) -> bool {
    let request = files.against.request;
    let is_dir = |path: &PathBuf| (request.is_above)(&request.cwd.join(path));
    let mut places = if hazards::reads(program, words) == Reads::Around { vec![PathBuf::new()] } else { Vec::new() };
    for word in words.iter().skip(1) {
        match files.named(word) {
            Some(path) => places.push(path),
            None if word.is_glob && !word.is_split => match globs::files(request, word) {
                Some(paths) => places.extend(paths),
                None => return true,
            },
            None => return true,
        }
    }
    let mut left = (MAX_DIRS, MAX_NAMES);
    let mut dirs = places.into_iter().filter(is_dir);
    is_moved || dirs.any(|dir| files.may_be_linked(&dir) || has_link_out(request, &request.cwd.join(&dir), &mut left))
}

fn has_link_out(request: &Request<'_>, dir: &Path, left: &mut (usize, usize)) -> bool {
    let Some(top) = (request.links)(dir).filter(|top| !is_of_process(top)) else { return true };
    let mut open = vec![top.clone()];
    while let Some(dir) = open.pop() {
        let Some(names) = (request.names)(&dir) else { return true };
        let (Some(dirs), Some(rest)) = (left.0.checked_sub(1), left.1.checked_sub(names.len())) else { return true };
        *left = (dirs, rest);
        for path in names.iter().map(|name| dir.join(name)) {
            match (request.links)(&path) {
                Some(real) if real == path => open.extend((request.is_above)(&path).then_some(path)),
                // It is looked at there.
                Some(real) if real.starts_with(&top) => {}
                _ => return true,
            }
        }
    }
    false
}
