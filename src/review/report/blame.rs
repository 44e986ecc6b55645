//! Which session, and which change in it, each line of a file came with.
//!
//! Reads copies of what is recorded, so that a review that is open elsewhere is not touched. Invariant: what cannot
//! be read costs only what it would have told, and is said.

use crate::host::fs::read_regular;
use crate::model::changes::Cause;
use crate::review::error::ReviewError;
use crate::review::session::recorded;
use crate::review::session::{Carried, Whose};
use crate::review::text::lines::{Lines, MAX_TEXT};
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Worktrees of worktrees that are followed.
const MAX_MERGES: usize = 4;

/// A review that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredReview {
    pub dir: PathBuf,
    /// The directory that it is of, every link followed.
    pub root: PathBuf,
    /// How it is named where something is said of it.
    pub name: String,
    pub is_open: bool,
}

/// Where a line came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Which of the reviews.
    pub review: usize,
    /// Of the run, as its record has it.
    pub turn: u64,
    pub cause: Cause,
    /// The entry of the call, in the session's transcript.
    pub entry: Option<u64>,
}

pub struct Blame {
    /// Of each line that was asked about, from 0, in their order; nothing where it is unknown.
    pub lines: Vec<(usize, Option<Origin>)>,
    /// Why something may be unknown that was known once, in words.
    pub remarks: Vec<String>,
    /// Which of the reviews are open, in words: what changes just now may be missing.
    pub open: Vec<String>,
}

/// A file as it is now.
pub struct File {
    /// Every link followed.
    pub path: PathBuf,
    text: Lines,
}

impl File {
    /// Reads it. The error says what to do; nothing but a plain file is waited for.
    pub fn open(path: &Path) -> Result<Self, String> {
        let real = path.canonicalize().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => "there is no such file; a file is named as from this directory".to_owned(),
            _ => error.to_string(),
        })?;
        let meta = real.metadata().map_err(|error| error.to_string())?;
        if meta.is_dir() {
            return Err("a directory; name a file in it".to_owned());
        }
        if !meta.is_file() {
            return Err("no plain file".to_owned());
        }
        let bytes = read_regular(&real, MAX_TEXT as u64).map_err(|error| error.to_string())?;
        let none = || "no text of at most 32 MiB and two million lines, so it has no lines".to_owned();
        Self::new(real, bytes).ok_or_else(none)
    }

    /// Nothing for what is no text, or too large.
    pub fn new(path: PathBuf, bytes: Vec<u8>) -> Option<Self> {
        Some(Self { path, text: Lines::of(bytes)? })
    }

    pub fn lines(&self) -> usize {
        self.text.len()
    }

    /// A line, from 0, as it can be shown.
    pub fn text(&self, line: usize) -> String {
        self.text.shown(line)
    }
}

/// Follows the lines of a file, or one of them, back through reviews, of which the newest comes first.
pub fn blame(reviews: &[StoredReview], file: &File, only: Option<usize>, until: Instant) -> Blame {
    let wanted = match only {
        Some(line) => line..(line + 1).min(file.lines()),
        None => 0..file.lines(),
    };
    let first = wanted.start;
    let mut lines: Vec<(usize, Option<Origin>)> = wanted.clone().map(|line| (line, None)).collect();
    let (mut remarks, mut in_use, mut is_unread, mut is_cut) = (Vec::new(), Vec::new(), false, false);
    let of = Whose::Before(file.text.clone());
    // With absolute paths.
    let mut open = vec![Carried { path: file.path.clone(), lines: wanted.map(|line| (line, line)).collect(), of }];
    // What came with the merge of a worktree is looked for in the reviews of that.
    for _ in 0..MAX_MERGES {
        let mut merged = Vec::new();
        for (review, kept) in reviews.iter().enumerate() {
            if open.iter().all(|carried| carried.lines.is_empty()) {
                break;
            }
            is_cut |= Instant::now() >= until;
            if is_cut {
                break;
            }
            let (below, mut rest): (Vec<Carried>, Vec<Carried>) =
                open.into_iter().partition(|carried| carried.path.starts_with(&kept.root));
            let found = look_into(kept, &below, until, (&mut remarks, &mut in_use));
            let Some(origins) = found.unwrap_or_else(|error| {
                remarks.push(format!("{}: {error}", kept.name));
                None
            }) else {
                rest.extend(below);
                open = rest;
                continue;
            };
            for (line, step) in origins.found {
                if let Some((_, origin)) = line.checked_sub(first).and_then(|at| lines.get_mut(at)) {
                    *origin = Some(Origin { review, turn: step.turn, cause: step.cause, entry: step.entry });
                }
            }
            is_unread |= origins.is_unread;
            is_cut |= origins.is_cut;
            merged.extend(origins.merged.into_iter().map(|(_, carried)| carried));
            rest.extend(origins.left.into_iter().map(|one| Carried { path: kept.root.join(&one.path), ..one }));
            open = rest;
        }
        open = merged;
    }
    if is_unread {
        remarks.push("an earlier version is not kept, or is no text: what is older is unknown".to_owned());
    }
    if is_cut {
        remarks.push("the history is long, and the time for it was up: what is older is unknown".to_owned());
    }
    for words in [&mut remarks, &mut in_use] {
        let mut said = HashSet::new();
        words.retain(|one| said.insert(one.clone()));
    }
    Blame { lines, remarks, open: in_use }
}

/// Nothing when the review has nothing of these files.
fn look_into(
    kept: &StoredReview,
    lines: &[Carried],
    until: Instant,
    (remarks, open): (&mut Vec<String>, &mut Vec<String>),
) -> Result<Option<crate::review::session::Origins>, ReviewError> {
    let below: Vec<Carried> = lines
        .iter()
        .filter_map(|one| Some(Carried { path: one.path.strip_prefix(&kept.root).ok()?.to_owned(), ..one.clone() }))
        .collect();
    let contents: Vec<_> = below.iter().filter_map(Carried::content).collect();
    let glance = recorded::glance(&kept.dir, |path: &Path, before| {
        below.iter().any(|one| one.path == path) || before.is_some_and(|oid| contents.contains(&oid))
    })?;
    let trouble = recorded::trouble(&kept.dir).into_iter().chain(glance.damage);
    remarks.extend(trouble.map(|words| format!("{}: {words}", kept.name)));
    if !glance.has_any {
        return Ok(None);
    }
    if kept.is_open {
        open.push(format!("{} is open: what it changes just now may be missing", kept.name));
    }
    recorded::open(&kept.dir)?.origins(below, until).map(Some)
}

#[cfg(test)]
#[path = "blame_tests.rs"]
mod tests;
