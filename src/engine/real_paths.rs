//! Where paths that agents name really lead, for rules and for the decision hook.
//!
//! Looks at the file system and changes nothing. Invariants: a link that leads nowhere has no real path; what is of the
//! process that looks is not taken for that of another one.

use crate::base::paths::is_of_process;
use crate::host::fs::read_regular;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

/// Names of a directory that are looked at.
const MAX_NAMES: usize = 20_000;
/// Bytes of a file that may be looked through for a key, and what stands before one.
const MAX_KEY: u64 = 1 << 20;
const KEY: &[u8] = b"PRIVATE KEY-----";

/// Links of one path that are followed.
const MAX_LINKS: usize = 40;

/// Where a path leads, also when its end is not there yet: links of what is there are followed, up to what is of the
/// process that uses it, which is another one than this.
pub fn real_path(path: &Path) -> Option<PathBuf> {
    let real = canonical(path);
    // Without a link in it nothing leads there.
    if real.as_deref() == Some(path) && !is_of_process(path) { real } else { place_of_process(path).or(real) }
}

/// Where a path comes to what is of the process that uses it, with what is left of the path there.
fn place_of_process(path: &Path) -> Option<PathBuf> {
    let parts =
        |path: &Path| path.components().rev().map(|part| part.as_os_str().to_owned()).collect::<Vec<OsString>>();
    let (mut left, mut at, mut links) = (parts(path), PathBuf::new(), 0);
    while let Some(part) = left.pop() {
        match Path::new(&part).components().next() {
            Some(Component::ParentDir) => drop(at.pop()),
            // The root takes the place of all before it.
            Some(_) => at.push(&part),
            None => {}
        }
        if is_of_process(&at) {
            return Some(left.iter().rev().fold(at, |path, part| path.join(part)));
        }
        if let Ok(target) = at.read_link() {
            links += 1;
            if links > MAX_LINKS {
                return None;
            }
            at.pop();
            left.extend(parts(&target));
        }
    }
    None
}

fn canonical(path: &Path) -> Option<PathBuf> {
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

/// The names in a directory, none where it is none; `None` when they are too many, or cannot be told.
pub fn names(dir: &Path) -> Option<Vec<String>> {
    let entries = match dir.read_dir() {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Some(Vec::new());
        }
        Err(_) => return None,
    };
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry.ok()?.file_name().to_string_lossy().into_owned());
        if names.len() > MAX_NAMES {
            return None;
        }
    }
    Some(names)
}

/// Whether a private key may stand in a file: as far as it is looked at, it does, or that cannot be told.
pub fn holds_key(path: &Path) -> bool {
    // Looked at before it is opened: opening a named pipe would wait for a writer.
    match path.metadata() {
        Ok(meta) if meta.is_file() && meta.len() <= MAX_KEY => {
            let bytes = read_regular(path, MAX_KEY).unwrap_or_else(|_| KEY.to_vec());
            bytes.windows(KEY.len()).any(|window| window == KEY)
        }
        Ok(meta) => !meta.is_dir(),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// Whether there may be files below a path.
pub fn is_above(path: &Path) -> bool {
    match path.metadata() {
        Ok(meta) => meta.is_dir(),
        Err(error) => !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
    }
}
