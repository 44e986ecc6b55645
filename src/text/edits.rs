//! What turns old lines into new ones, for all who show or store a difference.
//!
//! Draws nothing and reads no files. Where equal lines above or below leave a choice, an edit is where it reads best: a
//! function that came begins at its first line, not at the brace that ends the one before. Invariants: the edits turn the
//! old lines into the new ones, also when the time is up or they are too many (then coarsely); there is an unchanged line
//! between two of them.

use similar::algorithms::{Capture, Compact, DiffHook, Replace, myers};
use similar::{DiffOp, group_diff_ops};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::convert::Infallible;
use std::hash::Hash;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Places that are weighed for one edit, up and down together.
const PLACES: usize = 100;
/// Blank lines that are passed over to find an indent.
const BLANKS: usize = 20;
/// Columns of an indent that count.
const COLUMNS: i32 = 80;
const TAB: i32 = 8;
/// Pieces, changed and unchanged ones, that are told apart; of more nobody reads, and they take more than the texts.
const PIECES: usize = 400_000;

/// Lines of a text by their number, from 0, with or without their ends.
pub struct Text<'a> {
    pub len: usize,
    pub line: &'a dyn Fn(usize) -> &'a [u8],
}

/// Changed lines, from 0; all of them up to the next unchanged ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    pub old: Range<usize>,
    pub new: Range<usize>,
}

/// What turns old lines into new ones, in order; coarsely when the time is up.
pub fn edits<'a>(old: &Text<'a>, new: &Text<'a>, time: Duration) -> Vec<Edit> {
    let shorter = old.len.min(new.len);
    let head = (0..shorter).take_while(|n| (old.line)(*n) == (new.line)(*n)).count();
    let same_tail = |n: &usize| (old.line)(old.len - 1 - n) == (new.line)(new.len - 1 - n);
    let tail = (0..shorter - head).take_while(same_tail).count();
    let (old_end, new_end) = (old.len - tail, new.len - tail);
    let ops = if head == old_end || head == new_end {
        Vec::new()
    } else {
        ops((head..old_end).map(old.line), (head..new_end).map(new.line), time)
    };
    let mut out = Vec::new();
    let (mut from_old, mut from_new) = (head, head);
    let mut until = |to_old: usize, to_new: usize, len: usize| {
        if from_old < to_old || from_new < to_new {
            out.push(Edit { old: from_old..to_old, new: from_new..to_new });
        }
        (from_old, from_new) = (to_old + len, to_new + len);
    };
    for op in ops {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            until(head + old_index, head + new_index, len);
        }
    }
    until(old_end, new_end, tail);
    slide(&mut out, old, new);
    out
}

/// The edits with what is unchanged around them, in groups with so many unchanged lines on each side.
pub fn groups(edits: &[Edit], old_len: usize, context: usize) -> Vec<Vec<DiffOp>> {
    let mut all = Vec::with_capacity(2 * edits.len() + 1);
    let (mut old_index, mut new_index) = (0, 0);
    for Edit { old, new } in edits {
        all.push(DiffOp::Equal { old_index, new_index, len: old.start - old_index });
        all.push(match (old.len(), new.len()) {
            (0, new_len) => DiffOp::Insert { old_index: old.start, new_index: new.start, new_len },
            (old_len, 0) => DiffOp::Delete { old_index: old.start, old_len, new_index: new.start },
            (old_len, new_len) => DiffOp::Replace { old_index: old.start, old_len, new_index: new.start, new_len },
        });
        (old_index, new_index) = (old.end, new.end);
    }
    all.push(DiffOp::Equal { old_index, new_index, len: old_len - old_index });
    all.retain(|op| !matches!(op, DiffOp::Equal { len: 0, .. }));
    group_diff_ops(all, context)
}

/// The same for values of any kind, as they are found.
pub(super) fn ops<T: Eq + Hash>(
    old: impl Iterator<Item = T>,
    new: impl Iterator<Item = T>,
    time: Duration,
) -> Vec<DiffOp> {
    // Comparing numbers instead of lines keeps the worst case independent of their length.
    let mut numbers = HashMap::new();
    let mut number = |line| {
        let next = numbers.len() as u32;
        *numbers.entry(line).or_insert(next)
    };
    let old: Vec<u32> = old.map(&mut number).collect();
    let new: Vec<u32> = new.map(number).collect();
    // Of many lines they take more than what is found.
    drop(numbers);
    differences(&old, &new, Instant::now() + time, PIECES)
}

/// The one place that runs the algorithm, for one type: each further one is some 100 KB of program.
fn differences(old: &[u32], new: &[u32], until: Instant, pieces: usize) -> Vec<DiffOp> {
    let compact = Compact::new(Replace::new(Capture::new()), old, new);
    let mut found = Bounded { inner: compact, left: pieces };
    match myers::diff_deadline(&mut found, old, 0..old.len(), new, 0..new.len(), Some(until)) {
        Ok(()) => found.inner.into_inner().into_inner().into_ops(),
        Err(TooMany) => vec![DiffOp::Replace { old_index: 0, old_len: old.len(), new_index: 0, new_len: new.len() }],
    }
}

/// Takes so many pieces and no more.
struct Bounded<D> {
    inner: D,
    left: usize,
}

struct TooMany;

impl<D> Bounded<D> {
    fn one_more(&mut self) -> Result<&mut D, TooMany> {
        self.left = self.left.checked_sub(1).ok_or(TooMany)?;
        Ok(&mut self.inner)
    }
}

impl<D: DiffHook<Error = Infallible>> DiffHook for Bounded<D> {
    type Error = TooMany;

    fn equal(&mut self, old_index: usize, new_index: usize, len: usize) -> Result<(), TooMany> {
        let Ok(()) = self.one_more()?.equal(old_index, new_index, len);
        Ok(())
    }

    fn delete(&mut self, old_index: usize, old_len: usize, new_index: usize) -> Result<(), TooMany> {
        let Ok(()) = self.one_more()?.delete(old_index, old_len, new_index);
        Ok(())
    }

    fn insert(&mut self, old_index: usize, new_index: usize, new_len: usize) -> Result<(), TooMany> {
        let Ok(()) = self.one_more()?.insert(old_index, new_index, new_len);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), TooMany> {
        let Ok(()) = self.inner.finish();
        Ok(())
    }
}

/// Moves each edit that only adds or only removes to the place where it reads best.
fn slide(edits: &mut [Edit], old: &Text<'_>, new: &Text<'_>) {
    for at in 0..edits.len() {
        let above = at.checked_sub(1).and_then(|n| edits.get(n)).map(|edit| (edit.old.end + 1, edit.new.end + 1));
        let below = edits.get(at + 1).map_or((old.len, new.len), |edit| (edit.old.start - 1, edit.new.start - 1));
        let Some(edit) = edits.get_mut(at) else { return };
        let above = above.unwrap_or_default();
        let (by, is_up) = match (edit.old.is_empty(), edit.new.is_empty()) {
            (true, false) => best(new, (edit.new.start, edit.new.end), (above.1, below.1)),
            (false, true) => best(old, (edit.old.start, edit.old.end), (above.0, below.0)),
            _ => continue,
        };
        for end in [&mut edit.old.start, &mut edit.old.end, &mut edit.new.start, &mut edit.new.end] {
            *end = if is_up { *end - by } else { *end + by };
        }
    }
}

/// How far the lines `start..end` are to be moved within `from..to`, and whether up.
fn best(text: &Text<'_>, (start, end): (usize, usize), (from, to): (usize, usize)) -> (usize, bool) {
    let line = |n: usize| (text.line)(n);
    let up =
        (1..=start.saturating_sub(from).min(PLACES / 2)).take_while(|by| line(start - by) == line(end - by)).count();
    let down = (0..to.saturating_sub(end).min(PLACES / 2)).take_while(|by| line(start + by) == line(end + by)).count();
    if up + down == 0 {
        return (0, false);
    }
    let cost = |first: usize| split(text, first) + split(text, first + (end - start));
    // Of places that read alike the lowest.
    let places = (start - up..=start + down).rev();
    let first = places.min_by_key(|first| cost(*first)).unwrap_or(start);
    (first.abs_diff(start), first < start)
}

/// How ill it reads when an edit begins or ends above this line.
fn split(text: &Text<'_>, at: usize) -> i32 {
    let indent = |n: usize| (n < text.len).then(|| columns((text.line)(n))).flatten();
    let below = (at..text.len.min(at + BLANKS)).find_map(indent);
    let above = (at.saturating_sub(BLANKS)..at).rev().find_map(indent);
    let is_after_blank = at > 0 && indent(at - 1).is_none();
    let is_before_blank = at < text.len && indent(at).is_none();
    let (below, above) = match (below, above) {
        // The beginning and the end of a text are good places.
        (None, _) | (_, None) => return -40,
        (Some(below), Some(above)) => (below, above),
    };
    let blank = match (is_after_blank, is_before_blank) {
        (true, false) => -30,
        (_, true) => -20,
        (false, false) => 0,
    };
    let inside = match below.cmp(&above) {
        // What is above would be ended by lines that are not with it.
        Ordering::Less if blank == 0 => 25,
        Ordering::Greater => 15,
        _ => 0,
    };
    10 * below + blank + inside
}

/// The indent of a line in columns; `None` when there is nothing else in it. Bytes of UTF-16 are taken as they come.
fn columns(line: &[u8]) -> Option<i32> {
    let mut indent = 0;
    for byte in line {
        match byte {
            b' ' => indent += 1,
            b'\t' => indent += TAB - indent % TAB,
            b'\r' | b'\n' | 0 => {}
            _ => return Some(indent.min(COLUMNS)),
        }
        if indent >= COLUMNS {
            return Some(COLUMNS);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    /// What came, as it is shown: lines of the new text with a mark.
    fn shown(old: &str, new: &str) -> String {
        let (old, new): (Vec<_>, Vec<_>) = (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
        let edits = of(&old, &new);
        let mark = |n: usize| if edits.iter().any(|edit| edit.new.contains(&n)) { '+' } else { ' ' };
        let lines: Vec<String> = new.iter().enumerate().map(|(n, line)| format!("{}{line}", mark(n))).collect();
        lines.concat()
    }

    fn of(old: &[&str], new: &[&str]) -> Vec<Edit> {
        let (from, to) = (|n: usize| old[n].as_bytes(), |n: usize| new[n].as_bytes());
        let (old, new) = (Text { len: old.len(), line: &from }, Text { len: new.len(), line: &to });
        edits(&old, &new, Duration::from_secs(5))
    }

    #[test]
    fn with_more_pieces_than_anybody_reads_all_of_it_is_one() {
        let (old, new) = ([1, 2, 3, 4, 5], [1, 9, 3, 8, 5]);
        let of = |pieces| differences(&old, &new, Instant::now() + Duration::from_secs(5), pieces).len();
        assert_eq!([of(100), of(3), of(0)], [5, 1, 1]);
    }

    #[test]
    fn a_function_that_came_begins_at_its_first_line() {
        let one = "fn a() {\n    1\n}\n";
        for (name, old, new, wanted) in [
            ("at the end", one.to_owned(), format!("{one}\nfn b() {{\n    1\n}}\n"), " fn a() {\n     1\n }\n+\n+fn b() {\n+    1\n+}\n"),
            (
                "between two",
                format!("{one}\nfn c() {{\n    1\n}}\n"),
                format!("{one}\nfn b() {{\n    1\n}}\n\nfn c() {{\n    1\n}}\n"),
                " fn a() {\n     1\n }\n \n+fn b() {\n+    1\n+}\n+\n fn c() {\n     1\n }\n",
            ),
            (
                "without a blank line",
                format!("{one}fn c() {{\n    1\n}}\n"),
                format!("{one}fn b() {{\n    1\n}}\nfn c() {{\n    1\n}}\n"),
                " fn a() {\n     1\n }\n+fn b() {\n+    1\n+}\n fn c() {\n     1\n }\n",
            ),
            (
                "a test with its attribute",
                "mod tests {\n    #[test]\n    fn a() {}\n}\n".to_owned(),
                "mod tests {\n    #[test]\n    fn b() {}\n\n    #[test]\n    fn a() {}\n}\n".to_owned(),
                " mod tests {\n+    #[test]\n+    fn b() {}\n+\n     #[test]\n     fn a() {}\n }\n",
            ),
            (
                "a method without braces",
                "class A:\n    def a(self):\n        return 1\n\n    def c(self):\n        return 1\n".to_owned(),
                "class A:\n    def a(self):\n        return 1\n\n    def b(self):\n        return 1\n\n    def c(self):\n        return 1\n".to_owned(),
                " class A:\n     def a(self):\n         return 1\n \n+    def b(self):\n+        return 1\n+\n     def c(self):\n         return 1\n",
            ),
        ] {
            assert_eq!(shown(&old, &new), wanted, "{name}");
        }
    }

    proptest! {
        #![proptest_config(crate::random(2000))]

        #[test]
        fn the_edits_turn_the_old_lines_into_the_new_ones_and_do_not_touch(
            old in prop::collection::vec(0..6usize, 0..40),
            new in prop::collection::vec(0..6usize, 0..40),
        ) {
            let kinds = ["}\n", "\n", "fn a() {\n", "    x\n", "\ty\n", "  \n"];
            let (old, new): (Vec<_>, Vec<_>) =
                (old.iter().map(|n| kinds[*n]).collect(), new.iter().map(|n| kinds[*n]).collect());
            let edits = of(&old, &new);
            let (mut made, mut from, mut at) = (Vec::new(), 0, 0);
            for edit in &edits {
                prop_assert!(edit.old.start >= from && (at == 0 || edit.old.start > from), "{edits:?}");
                prop_assert!(!edit.old.is_empty() || !edit.new.is_empty());
                made.extend_from_slice(&old[from..edit.old.start]);
                made.extend_from_slice(&new[edit.new.clone()]);
                (from, at) = (edit.old.end, at + 1);
            }
            made.extend_from_slice(&old[from..]);
            prop_assert_eq!(made, new);
        }
    }
}
