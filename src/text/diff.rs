//! The difference of two texts as hunks of lines.
//!
//! Draws nothing and reads no files. Line endings and the newline at the end are compared apart from the lines
//! so they give a note and not a screen full of changes; texts that both end without a newline may be pieces
//! of files, so nothing is said of their end. Invariants: the hunks turn the old lines into the
//! new ones, also when the time is up (then coarsely); lines are sanitised, single lines, with their tabs.

use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::time::{Duration, Instant};

use similar::DiffOp;
use unicode_segmentation::UnicodeSegmentation as _;

use super::edits::{Text, edits, groups, ops};
use crate::base::sanitize;

/// Unchanged lines on each side of what has changed.
pub const CONTEXT: usize = 3;
/// Above this, old and new together, lines are only counted; of several differences, from the one on that goes beyond it.
const MAX_BYTES: usize = 4 << 20;
/// Time for finding the changed lines; the same again for the changed words.
const TIME: Duration = Duration::from_millis(100);
/// Longer lines get no emphasis.
const MAX_WORDS_LINE: usize = 2000;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Kind {
    Context,
    Del,
    Add,
}

impl Kind {
    /// What a line begins with in a patch.
    pub const fn sign(self) -> char {
        match self {
            Self::Context => ' ',
            Self::Del => '-',
            Self::Add => '+',
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DiffLine {
    pub kind: Kind,
    /// Number of the line in the old text, from 1; `None` for added lines.
    pub old: Option<u32>,
    /// Number of the line in the new text, from 1; `None` for removed lines.
    pub new: Option<u32>,
    /// Sanitised, without its end.
    pub text: String,
    /// The bytes of `text` that differ from the line it is paired with.
    pub emphasis: Vec<Range<u32>>,
    /// The last line of its text, and no newline ends it, unlike in the other text.
    pub no_newline: bool,
    /// Something in `text` stands for a character that cannot be shown.
    pub has_stand_ins: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hunk {
    /// First line in the old text, from 1.
    pub old_start: u32,
    /// First line in the new text, from 1.
    pub new_start: u32,
    pub lines: Vec<DiffLine>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FileDiff {
    pub hunks: Vec<Hunk>,
    pub added: u32,
    pub removed: u32,
    /// What the hunks do not show: too large, line endings, the newline at the end.
    pub note: Option<String>,
}

/// What differences that are shown together may cost.
#[derive(Debug)]
pub struct Budget {
    bytes: usize,
    time: Duration,
}

impl Default for Budget {
    /// As much as one may cost.
    fn default() -> Self {
        Self { bytes: MAX_BYTES, time: 2 * TIME }
    }
}

/// The difference, with `context` unchanged lines around each change.
pub fn diff(old: &str, new: &str, context: usize) -> FileDiff {
    diff_within(&mut Budget::default(), old, new, context)
}

/// The same as far as the budget goes, of which it takes what it costs.
pub fn diff_within(budget: &mut Budget, old: &str, new: &str, context: usize) -> FileDiff {
    let mut old = Side::of(old);
    let mut new = Side::of(new);
    if old.no_newline && new.no_newline {
        (old.no_newline, new.no_newline) = (false, false);
    }
    let mut notes = Vec::new();
    if old.lines == new.lines {
        if old.ending != new.ending && old.ending != Ending::None && new.ending != Ending::None {
            notes.push(format!("only the line endings differ ({} → {})", old.ending.name(), new.ending.name()));
        } else if old.crlf != new.crlf {
            notes.push("only some line endings differ".to_owned());
        }
        if old.no_newline != new.no_newline {
            notes.push(final_newline("only the newline at the end was", new.no_newline));
        }
        return FileDiff { note: note(notes), ..FileDiff::default() };
    }
    if old.ending != new.ending && old.ending != Ending::None && new.ending != Ending::None {
        notes.push(format!("line endings differ ({} → {})", old.ending.name(), new.ending.name()));
    }
    if old.no_newline != new.no_newline && !old.lines.is_empty() && !new.lines.is_empty() {
        notes.push(final_newline("the newline at the end was", new.no_newline));
    }
    if old.bytes + new.bytes > budget.bytes {
        let (removed, added) = changed_middle(&old.lines, &new.lines);
        notes.push("too large to show line by line".to_owned());
        return FileDiff { hunks: Vec::new(), added, removed, note: note(notes) };
    }
    budget.bytes -= old.bytes + new.bytes;
    let began = Instant::now();
    let mut out = hunks(&old, &new, context, budget.time);
    budget.time = budget.time.saturating_sub(began.elapsed());
    out.note = note(notes);
    out
}

fn note(notes: Vec<String>) -> Option<String> {
    (!notes.is_empty()).then(|| notes.join("; "))
}

fn final_newline(start: &str, removed: bool) -> String {
    format!("{start} {}", if removed { "removed" } else { "added" })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// There is no line end at all.
    None,
    Lf,
    CrLf,
    Mixed,
}

impl Ending {
    const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Lf => "LF",
            Self::CrLf => "CRLF",
            Self::Mixed => "mixed",
        }
    }
}

/// A text as lines without their ends, and what is known about the ends.
struct Side<'a> {
    lines: Vec<&'a str>,
    ending: Ending,
    /// Lines that end with CR LF.
    crlf: usize,
    no_newline: bool,
    bytes: usize,
}

impl<'a> Side<'a> {
    fn of(text: &'a str) -> Self {
        let mut lines = Vec::new();
        let (mut crlf, mut lf) = (0, 0);
        for line in text.split_inclusive('\n') {
            if let Some(line) = line.strip_suffix("\r\n") {
                crlf += 1;
                lines.push(line);
            } else if let Some(line) = line.strip_suffix('\n') {
                lf += 1;
                lines.push(line);
            } else {
                lines.push(line);
            }
        }
        let ending = match (lf, crlf) {
            (0, 0) => Ending::None,
            (_, 0) => Ending::Lf,
            (0, _) => Ending::CrLf,
            _ => Ending::Mixed,
        };
        Self { lines, ending, crlf, no_newline: !text.is_empty() && !text.ends_with('\n'), bytes: text.len() }
    }

    fn line(&self, kind: Kind, index: usize, other: usize) -> DiffLine {
        let number = |n: usize| Some(u32::try_from(n + 1).unwrap_or(u32::MAX));
        let (old, new) = match kind {
            Kind::Context => (number(index), number(other)),
            Kind::Del => (number(index), None),
            Kind::Add => (None, number(index)),
        };
        DiffLine {
            kind,
            old,
            new,
            has_stand_ins: sanitize::has_stand_ins(self.lines[index]),
            text: sanitize::tabbed(self.lines[index]).into_owned(),
            emphasis: Vec::new(),
            no_newline: self.no_newline && index + 1 == self.lines.len(),
        }
    }
}

/// How many lines are between the common beginning and the common end: (old, new).
fn changed_middle(old: &[&str], new: &[&str]) -> (u32, u32) {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[head..], &new[head..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    (count(old.len() - tail), count(new.len() - tail))
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn hunks(old: &Side<'_>, new: &Side<'_>, context: usize, time: Duration) -> FileDiff {
    let until = Instant::now() + time;
    let (from, to) = (|n: usize| old.lines[n].as_bytes(), |n: usize| new.lines[n].as_bytes());
    let text = |lines: &[&str], line| Text { len: lines.len(), line };
    let edits = edits(&text(&old.lines, &from), &text(&new.lines, &to), time.min(TIME));
    let mut out = FileDiff::default();
    for edit in &edits {
        out.removed = out.removed.saturating_add(count(edit.old.len()));
        out.added = out.added.saturating_add(count(edit.new.len()));
    }
    let words_until = until.min(Instant::now() + TIME);
    for group in groups(&edits, old.lines.len(), context) {
        let (Some(first), mut lines) = (group.first(), Vec::new()) else { continue };
        let start = |range: Range<usize>| count(range.start + 1);
        let (old_start, new_start) = (start(first.old_range()), start(first.new_range()));
        for op in &group {
            push_op(op, old, new, words_until, &mut lines);
        }
        out.hunks.push(Hunk { old_start, new_start, lines });
    }
    out
}

fn push_op(op: &DiffOp, old: &Side<'_>, new: &Side<'_>, words_until: Instant, out: &mut Vec<DiffLine>) {
    let (was, is) = (op.old_range(), op.new_range());
    if let DiffOp::Equal { .. } = op {
        // The newline at the end belongs to the new text when both have the line.
        out.extend(was.zip(is).map(|(o, n)| DiffLine {
            no_newline: new.no_newline && n + 1 == new.lines.len(),
            ..old.line(Kind::Context, o, n)
        }));
        return;
    }
    let mut removed: Vec<DiffLine> = was.map(|o| old.line(Kind::Del, o, 0)).collect();
    let mut added: Vec<DiffLine> = is.map(|n| new.line(Kind::Add, n, 0)).collect();
    for (del, add) in removed.iter_mut().zip(&mut added) {
        (del.emphasis, add.emphasis) = emphasis_of(&del.text, &add.text, words_until);
    }
    out.append(&mut removed);
    out.append(&mut added);
}

/// The words that differ between two lines, as bytes of each, when the lines have enough in common for that to help.
pub fn emphasis_of(del: &str, add: &str, until: Instant) -> (Vec<Range<u32>>, Vec<Range<u32>>) {
    let (mut in_del, mut in_add) = (Vec::new(), Vec::new());
    if del.len().max(add.len()) > MAX_WORDS_LINE || Instant::now() >= until {
        return (in_del, in_add);
    }
    let was: Vec<&str> = del.split_word_bounds().collect();
    let is: Vec<&str> = add.split_word_bounds().collect();
    let ops = ops(was.iter(), is.iter(), until.saturating_duration_since(Instant::now()));
    let same: usize =
        ops.iter().filter(|op| matches!(op, DiffOp::Equal { .. })).map(|op| weight(&was, op.old_range())).sum();
    // Less than a third in common: the line was rewritten, marking nearly all of it says nothing.
    if same * 3 < weight(&was, 0..was.len()).max(weight(&is, 0..is.len())) {
        return (in_del, in_add);
    }
    for op in &ops {
        if !matches!(op, DiffOp::Equal { .. }) {
            mark(&was, op.old_range(), &mut in_del);
            mark(&is, op.new_range(), &mut in_add);
        }
    }
    (in_del, in_add)
}

/// Bytes that are not white space.
fn weight(words: &[&str], range: Range<usize>) -> usize {
    words[range].iter().filter(|w| !w.trim().is_empty()).map(|w| w.len()).sum()
}

fn mark(words: &[&str], range: Range<usize>, out: &mut Vec<Range<u32>>) {
    let length = |words: &[&str]| words.iter().map(|w| w.len()).sum::<usize>() as u32;
    let start = length(&words[..range.start]);
    let end = start + length(&words[range]);
    match out.last_mut() {
        _ if start == end => {}
        Some(last) if last.end == start => last.end = end,
        _ => out.push(start..end),
    }
}

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;
