//! Merges two changes of one file, and finds lines again in a changed file.
//!
//! Writes no conflict markers: what does not merge is left to the person. Invariant: what is merged has the changes of
//! both sides, byte for byte, and no two lines fused into one.

use std::cmp::Ordering;
use std::ops::Range;

use super::diff::Edit;
use super::lines::{LineEnd, Lines, end_of};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merged {
    Clean(Vec<u8>),
    Conflict {
        /// In words, with line numbers of `ours`, from 1.
        why: String,
    },
}

/// What `base` becomes with the changes of both sides, each with the edits that lead from `base` to it. Changes
/// conflict when they overlap in `base` or insert different lines at one place; changes of neighbouring lines do not.
pub fn merge(base: &Lines, (ours, mut a): (&Lines, &[Edit]), (theirs, mut b): (&Lines, &[Edit])) -> Merged {
    if base == ours {
        return Merged::Clean(theirs.bytes().to_vec());
    }
    if base == theirs || ours == theirs {
        return Merged::Clean(ours.bytes().to_vec());
    }
    let filled = |side: &&Lines| !side.is_empty();
    let sides = [base, ours, theirs];
    let mut encodings = sides.iter().copied().filter(filled).map(Lines::encoding);
    let first = encodings.next();
    if !encodings.all(|encoding| first.is_some_and(|first| first.mixes_with(encoding))) {
        return conflict("the encoding differs".to_owned());
    }
    let mut out = Pieces { bytes: Vec::with_capacity(ours.bytes().len()), fused: false };
    let mut done = 0;
    loop {
        let (side, edit) = match (a.split_first(), b.split_first()) {
            (None, None) => break,
            (Some((x, rest)), None) => {
                a = rest;
                (ours, x)
            }
            (None, Some((y, rest))) => {
                b = rest;
                (theirs, y)
            }
            (Some((x, rest_a)), Some((y, rest_b))) => {
                if x.old == y.old && same_lines(ours, &x.new, theirs, &y.new) {
                    (a, b) = (rest_a, rest_b);
                    (ours, x)
                } else if collide(&x.old, &y.old) {
                    return conflict(why(x, y));
                } else if order(&x.old, &y.old) == Ordering::Less {
                    a = rest_a;
                    (ours, x)
                } else {
                    b = rest_b;
                    (theirs, y)
                }
            }
        };
        out.push(base, done..edit.old.start);
        out.push(side, edit.new.clone());
        done = edit.old.end;
    }
    out.push(base, done..base.len());
    if out.fused {
        return conflict(format!("line {}: one side removes the newline at the end, the other adds lines", ours.len()));
    }
    Merged::Clean(out.bytes)
}

fn conflict(why: String) -> Merged {
    Merged::Conflict { why }
}

fn same_lines(a: &Lines, in_a: &Range<usize>, b: &Lines, in_b: &Range<usize>) -> bool {
    in_a.len() == in_b.len() && in_a.clone().zip(in_b.clone()).all(|(x, y)| a.raw(x) == b.raw(y))
}

/// Whether two ranges of base lines, each changed on one side, cannot both be changed.
fn collide(a: &Range<usize>, b: &Range<usize>) -> bool {
    if a.is_empty() && b.is_empty() { a.start == b.start } else { a.start < b.end && b.start < a.end }
}

fn order(a: &Range<usize>, b: &Range<usize>) -> Ordering {
    (a.start, a.end).cmp(&(b.start, b.end))
}

fn why(ours: &Edit, theirs: &Edit) -> String {
    let (first, last) = (ours.new.start + 1, ours.new.end);
    if ours.old.is_empty() && theirs.old.is_empty() {
        return format!("{}: both sides insert other lines here", lines(first, last));
    }
    if ours.new.is_empty() {
        return format!("line {first}: lines that one side removed above it were changed by the other");
    }
    format!("{}: changed on both sides", lines(first, last))
}

fn lines(first: usize, last: usize) -> String {
    if first >= last { format!("line {first}") } else { format!("lines {first} to {last}") }
}

/// A text that grows by lines.
struct Pieces {
    bytes: Vec<u8>,
    /// A line was added after one without an end.
    fused: bool,
}

impl Pieces {
    fn push(&mut self, from: &Lines, range: Range<usize>) {
        for n in range {
            let raw = from.raw(n);
            self.fused |= !self.bytes.is_empty() && end_of(&self.bytes, from.encoding()) == LineEnd::None;
            self.bytes.extend_from_slice(raw);
        }
    }
}

/// Where a range of old lines is in the new text now. None when an edit changes some of them; for an empty range, when
/// an edit lies around it or inserts lines at the same place.
pub fn follow(edits: &[Edit], range: &Range<usize>) -> Option<Range<usize>> {
    let above = edits.partition_point(|edit| edit.old.end <= range.start);
    let (last, next) = (above.checked_sub(1).and_then(|at| edits.get(at)), edits.get(above));
    if last.into_iter().chain(next).any(|edit| collide(&edit.old, range)) {
        return None;
    }
    let start = last.map_or(range.start, |edit| edit.new.end + (range.start - edit.old.end));
    Some(start..start + range.len())
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
