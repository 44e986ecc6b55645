//! What of a workspace is not covered, in words.
//!
//! Looks only at names. Invariant: the list is short however much there is.

use super::manifest::Entries;
use super::state::State;
use super::walk::{self, Key, Kind, Stat};
use crate::base::{human, sanitize};
use std::collections::BTreeSet;
use std::path::Path;

/// Names of one kind that are given.
const NAMED: usize = 50;

/// A list that ends with how many more there would be.
struct List {
    lines: Vec<String>,
    more: usize,
}

impl List {
    fn new() -> Self {
        Self { lines: Vec::new(), more: 0 }
    }

    fn add(&mut self, line: impl FnOnce() -> String) {
        if self.lines.len() < NAMED {
            self.lines.push(line());
        } else {
            self.more += 1;
        }
    }

    fn end(mut self, what: &str) -> Vec<String> {
        if self.more > 0 {
            self.lines.push(format!("and {} more {what}", thousands(self.more as u64)));
        }
        self.lines
    }
}

/// `dirs` are the directories that are covered, `last` the second of the last look, `full` how many files are looked
/// at when there are more.
pub(super) fn uncovered(
    root: &Path,
    dirs: &BTreeSet<Key>,
    seen: &Entries,
    barred: &[Key],
    last: i64,
    full: Option<usize>,
) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(files) = full {
        out.push(format!("more than {} files: the others are not looked at", thousands(files as u64)));
    }
    let mut ignored = List::new();
    for dir in dirs {
        names(root, dir, dirs, seen, last, &mut ignored);
    }
    let mut unkept = List::new();
    for (key, entry) in seen {
        match entry.state {
            State::Unkept { .. } if entry.barred => unkept.add(|| format!("{}: cannot be read", show(key))),
            State::Unkept { size, .. } => {
                unkept.add(|| format!("{}: {}, content not kept", show(key), human::bytes(size)));
            }
            _ => {}
        }
    }
    let mut closed = List::new();
    for key in barred {
        closed.add(|| format!("{}/: cannot be read", show(key)));
    }
    out.extend(closed.end("directories that cannot be read"));
    out.extend(unkept.end("files whose content is not kept"));
    out.extend(ignored.end("ignored"));
    out
}

/// What in a directory is neither covered nor new.
fn names(root: &Path, dir: &[u8], dirs: &BTreeSet<Key>, seen: &Entries, last: i64, list: &mut List) {
    let Ok(entries) = std::fs::read_dir(root.join(walk::path(dir))) else { return };
    let mut found = BTreeSet::new();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = walk::bytes(Path::new(&name));
        let key = if dir.is_empty() { name.to_vec() } else { [dir, b"/", name].concat() };
        if name == b".git" || dirs.contains(&key[..]) || seen.contains_key(&key[..]) {
            continue;
        }
        let Ok(stat) = entry.metadata().map(|meta| Stat::of_meta(&meta)) else { continue };
        match stat.kind {
            Kind::Other => {}
            _ if stat.ctime.0 > last && stat.mtime.0 > last => {}
            kind => {
                found.insert((key, kind == Kind::Dir));
            }
        }
    }
    for (key, is_dir) in found {
        list.add(|| format!("{}{} (ignored)", show(&key), if is_dir { "/" } else { "" }));
    }
}

fn show(key: &[u8]) -> String {
    sanitize::line(&walk::path(key).to_string_lossy()).into_owned()
}

pub(super) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
