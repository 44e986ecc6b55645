//! The hunks of a unified diff, byte for byte.
//!
//! Reads no files and writes no names of them. Invariant: the hunks turn the old bytes into the new ones, also when the
//! time is up (then coarsely).

use super::diff::CONTEXT;
use super::edits::{Text, edits, groups};
use similar::DiffOp;
use std::ops::Range;
use std::time::Duration;

/// Appends the hunks; within `time` the changed lines are found exactly.
pub fn hunks(old: &[u8], new: &[u8], time: Duration, out: &mut Vec<u8>) {
    hunks_below(0, (old, new), time, out);
}

/// The same of pieces of a file, with so many lines above them.
pub fn hunks_below(above: usize, (old, new): (&[u8], &[u8]), time: Duration, out: &mut Vec<u8>) {
    let (old, new) = (lines(old), lines(new));
    let (from, to) = (|n: usize| old[n], |n: usize| new[n]);
    let edits = edits(&Text { len: old.len(), line: &from }, &Text { len: new.len(), line: &to }, time);
    for group in groups(&edits, old.len(), CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let (olds, news) =
            (first.old_range().start..last.old_range().end, first.new_range().start..last.new_range().end);
        out.extend_from_slice(format!("@@ -{} +{} @@\n", place(&olds, above), place(&news, above)).as_bytes());
        for op in &group {
            match op {
                DiffOp::Equal { .. } => marked(b' ', &old[op.old_range()], out),
                _ => {
                    marked(b'-', &old[op.old_range()], out);
                    marked(b'+', &new[op.new_range()], out);
                }
            }
        }
    }
}

/// Lines with their ends.
fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|b| *b == b'\n').collect()
}

/// `START,COUNT`; without lines the start is the line before.
fn place(range: &Range<usize>, above: usize) -> String {
    let start = above + if range.is_empty() { range.start } else { range.start + 1 };
    format!("{start},{}", range.len())
}

fn marked(mark: u8, lines: &[&[u8]], out: &mut Vec<u8>) {
    for line in lines {
        out.push(mark);
        out.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            out.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    }
}
