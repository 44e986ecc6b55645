//! Rows of the composer: where each begins, what it shows, where the cursor is.
//!
//! Row starts are kept as far as they are known and found on demand: a change forgets those behind it, the window
//! that is shown asks only for its own. So a key in a paste of megabytes costs what is visible, not what is there.
//! Invariants: no row is wider than the width asked for; the cursor is inside; row starts are grapheme boundaries.

use super::chips::Chips;
use crate::base::width;
use std::ops::Range;
use unicode_segmentation::GraphemeCursor;

/// Tab stops, counted from the row's start.
const TAB: u16 = 4;
/// A grapheme longer than this is a joke or an attack; it is shown as one placeholder and kept as it is.
const MAX_GRAPHEME_BYTES: usize = 64;
const PLACEHOLDER: &str = "\u{fffd}";

/// What the composer shows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ComposerView {
    /// Never empty, never wider than asked for.
    pub rows: Vec<String>,
    /// Column and row inside `rows`.
    pub cursor: (u16, u16),
    /// Row of the text that `rows` begins with.
    pub first_row: usize,
    /// Whether there are rows below those shown.
    pub more_below: bool,
    /// Rows, and columns of them that stand for text that is folded.
    pub folded: Vec<(u16, Range<u16>)>,
}

/// Where a row begins.
#[derive(Clone, Copy, Debug, Default)]
struct Start {
    at: usize,
    /// The end of what was looked at to find it: behind the grapheme that did not fit into the row before, or before
    /// the newline that ended it. It never gets less from row to row.
    looked: usize,
}

/// Row starts of one text at one width.
#[derive(Clone, Debug, Default)]
pub(super) struct Wrap {
    inner: u16,
    /// The first begins at 0.
    starts: Vec<Start>,
    /// All rows are known.
    complete: bool,
    chips: Chips,
}

impl Wrap {
    /// Columns used for text: one is left free, so that the cursor behind a full row has its place and no row
    /// touches the edge.
    fn inner(width: u16) -> u16 {
        width.saturating_sub(1).max(1)
    }

    pub(super) fn set_width(&mut self, width: u16) {
        let inner = Self::inner(width);
        if inner != self.inner || self.starts.is_empty() {
            let chips = std::mem::take(&mut self.chips);
            *self = Self { inner, starts: vec![Start::default()], complete: false, chips };
        }
    }

    /// What is folded. Where that changes, the text has changed.
    pub(super) fn set_chips(&mut self, chips: &Chips) {
        if self.chips != *chips {
            self.chips = chips.clone();
        }
    }

    /// Columns of what begins in column `col`.
    fn cells(&self, (_, piece, label): (usize, &str, Option<&str>), col: u16) -> u16 {
        match label {
            Some(label) => u16::try_from(label.len()).unwrap_or(u16::MAX).min(self.inner),
            None => cells(piece, col, self.inner),
        }
    }

    /// The text has changed at and behind `at`. A grapheme that ends just there may have grown.
    pub(super) fn changed(&mut self, at: usize) {
        self.starts.truncate(self.starts.partition_point(|s| s.looked < at).max(1));
        self.complete = false;
    }

    fn extend(&mut self, text: &str) -> bool {
        if self.complete {
            return false;
        }
        let from = self.starts.last().map_or(0, |s| s.at);
        match self.next_row(text, from) {
            Some(start) => {
                self.starts.push(start);
                true
            }
            None => {
                self.complete = true;
                false
            }
        }
    }

    fn know_rows(&mut self, text: &str, rows: usize) {
        while self.starts.len() < rows && self.extend(text) {}
    }

    /// The row in which `at` is.
    pub(super) fn row_of(&mut self, text: &str, at: usize) -> usize {
        while self.starts.last().is_some_and(|s| s.at <= at) && self.extend(text) {}
        self.starts.partition_point(|s| s.at <= at).saturating_sub(1)
    }

    /// Bytes of a row without the newline at its end; `None` behind the last row.
    pub(super) fn row_span(&mut self, text: &str, row: usize) -> Option<(usize, usize)> {
        self.know_rows(text, row + 2);
        let start = self.starts.get(row)?.at;
        let end = self.starts.get(row + 1).map_or(text.len(), |s| s.at);
        let is_broken = text.get(start..end).is_some_and(|r| r.ends_with('\n')) && self.chips.ending_at(end).is_none();
        let end = if is_broken { end - 1 } else { end };
        Some((start, end))
    }

    pub(super) fn column_of(&mut self, text: &str, at: usize) -> u16 {
        let row = self.row_of(text, at);
        let start = self.starts.get(row).map_or(0, |s| s.at);
        self.columns(text, start, at)
    }

    fn columns(&self, text: &str, start: usize, at: usize) -> u16 {
        self.chips.atoms(text, start, at).fold(0, |col, atom| col + self.cells(atom, col))
    }

    /// The place in `row` that is nearest to column `col` without being behind it.
    pub(super) fn at_column(&mut self, text: &str, row: usize, col: u16) -> Option<usize> {
        let (start, end) = self.row_span(text, row)?;
        let last_row = self.starts.len() == row + 1;
        let is_newline = text.as_bytes().get(end) == Some(&b'\n') && self.chips.beginning_at(end).is_none();
        let hard = last_row || is_newline;
        let (mut x, mut last) = (0, start);
        for atom in self.chips.atoms(text, start, end) {
            last = atom.0;
            let w = self.cells(atom, x);
            if x + w > col {
                return Some(last);
            }
            x += w;
        }
        // Behind the last grapheme of a soft row is the next row's start already.
        Some(if hard { end } else { last })
    }

    pub(super) fn view(&mut self, text: &str, cursor: usize, max_rows: u16) -> ComposerView {
        let max = usize::from(max_rows.max(1));
        let row = self.row_of(text, cursor);
        self.know_rows(text, row + max + 1);
        let total = self.starts.len();
        // The cursor's row with up to a third of the window below it.
        let below = (total - 1 - row).min((max - 1) / 3);
        let last = if total <= max { total } else { (row + below + 1).max(max) };
        let first = last.saturating_sub(max);
        let spans: Vec<_> = (first..last).filter_map(|r| self.row_span(text, r)).collect();
        let mut folded = Vec::new();
        let rows = spans.into_iter().zip(0..).map(|((start, end), y)| self.show(text, start, end, y, &mut folded));
        let rows = rows.collect();
        // With one column there is no free place behind the text; the cursor stands on it.
        let x = self.column_of(text, cursor).min(self.inner);
        ComposerView { rows, cursor: (x, (row - first) as u16), first_row: first, more_below: last < total, folded }
    }

    /// See [`super::Buffer::marks`]. An empty line that is wholly inside has one column.
    pub(super) fn marks(&mut self, text: &str, view: &ComposerView, piece: &Range<usize>) -> Vec<(u16, Range<u16>)> {
        let mut marks = Vec::new();
        for (row, y) in (view.first_row..).take(view.rows.len()).zip(0..) {
            let Some((start, end)) = self.row_span(text, row) else { break };
            let (from, to) = (piece.start.max(start), piece.end.min(end));
            if piece.start <= end && piece.end > start && from <= to {
                let column = |at: usize| self.columns(text, start, at);
                let left = column(from);
                marks.push((y, left..column(to).max(left + u16::from(piece.end > to))));
            }
        }
        marks
    }

    fn show(&self, text: &str, start: usize, end: usize, y: u16, folded: &mut Vec<(u16, Range<u16>)>) -> String {
        let mut out = String::with_capacity(end.saturating_sub(start).min(1 << 10));
        let mut col = 0;
        for atom in self.chips.atoms(text, start, end) {
            let w = self.cells(atom, col);
            match atom {
                (_, _, Some(label)) => {
                    // It has a column for each byte.
                    let room = usize::from(w);
                    let cut = if label.len() > room { room.saturating_sub(1) } else { room };
                    out.push_str(label.get(..cut).unwrap_or_default());
                    out.push_str(if cut < room { "…" } else { "" });
                    folded.push((y, col..col + w));
                }
                (_, "\t", _) => out.extend(std::iter::repeat_n(' ', w.into())),
                (_, g, _) if is_odd(g, self.inner) => out.push_str(PLACEHOLDER),
                (_, g, _) => out.push_str(g),
            }
            col += w;
        }
        out
    }

    /// Where the row after the one that begins at `from` begins; `None` if that one is the last.
    fn next_row(&self, text: &str, from: usize) -> Option<Start> {
        let mut col = 0u16;
        let mut break_at = None;
        // One iterator for the row: finding a boundary from nowhere in a long run of flags looks at the whole run.
        for atom in self.chips.atoms(text, from, text.len()) {
            let (at, g, label) = atom;
            let end = at + g.len();
            if g == "\n" && label.is_none() {
                return Some(Start { at: end, looked: at });
            }
            let w = self.cells(atom, col);
            if col + w > self.inner && at > from {
                // At a blank there is nothing to keep together.
                let blank = g.starts_with(char::is_whitespace) || label.is_some();
                return Some(Start { at: if blank { at } else { break_at.unwrap_or(at) }, looked: end });
            }
            col += w;
            // Behind a blank, and between ideographs, a row may end.
            if g.ends_with(char::is_whitespace) || w > 1 {
                break_at = Some(end);
            }
        }
        None
    }
}

fn columns(g: &str) -> u16 {
    u16::try_from(width::grapheme(g)).unwrap_or(u16::MAX)
}

/// Not shown as itself: invisible, absurdly long, or wider than a whole row.
fn is_odd(g: &str, inner: u16) -> bool {
    if g.len() == 1 {
        return false;
    }
    let w = columns(g);
    g.len() > MAX_GRAPHEME_BYTES || w == 0 || w > inner
}

/// Columns of a grapheme that begins in column `col`; 1 for what is shown as a placeholder.
pub(super) fn cells(g: &str, col: u16, inner: u16) -> u16 {
    match g.as_bytes() {
        b"\t" => (TAB - col % TAB).min(inner.saturating_sub(col).max(1)),
        [_] => 1,
        _ if is_odd(g, inner) => 1,
        // As the terminal is written to, or the cursor would stand beside its place.
        _ => columns(g),
    }
}

/// The end of the grapheme that begins at `at`.
pub(super) fn grapheme_end(text: &str, at: usize) -> usize {
    // Between two plain ASCII characters there is always a boundary; carriage returns are not in the text.
    if let Some([a, b]) = text.as_bytes().get(at..at + 2)
        && a.is_ascii()
        && b.is_ascii()
    {
        return at + 1;
    }
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    cursor.next_boundary(text, 0).ok().flatten().unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;

    fn view(text: &str, cursor: usize, width: u16, rows: u16) -> ComposerView {
        let mut wrap = Wrap::default();
        wrap.set_width(width);
        wrap.view(text, cursor, rows)
    }

    #[test]
    fn words_stay_together_and_the_cursor_has_its_place() {
        let v = view("one two three", 13, 9, 5);
        assert_eq!(v.rows, ["one two ", "three"]);
        assert_eq!(v.cursor, (5, 1));
        let full = view("12345678", 8, 9, 5);
        assert_eq!((full.rows.len(), full.cursor), (1, (8, 0)));
    }

    #[test]
    fn a_newline_at_the_end_is_a_row() {
        let v = view("a\n", 2, 9, 5);
        assert_eq!(v.rows, ["a", ""]);
        assert_eq!(v.cursor, (0, 1));
        assert_eq!(view("", 0, 9, 5).rows, [""]);
    }

    #[test]
    fn wide_and_joined_characters_wrap_whole() {
        let v = view("漢字漢字", 12, 6, 5);
        assert_eq!(v.rows, ["漢字", "漢字"]);
        assert_eq!(v.cursor, (4, 1));
        let family = "👩\u{200d}👩\u{200d}👧";
        let v = view(&family.repeat(3), family.len() * 3, 6, 5);
        assert!(v.rows.iter().all(|r| r.width() <= 5 && r.replace(family, "").is_empty()));
    }

    #[test]
    fn one_column_holds_on() {
        for text in ["漢字", "a\tb", "\u{301}", "e\u{301}e"] {
            let v = view(text, text.len(), 1, 3);
            assert!(v.rows.iter().all(|r| r.width() <= 1), "{v:?}");
        }
    }

    #[test]
    fn long_text_scrolls_inside_with_the_cursor_in_view() {
        let text = "x\n".repeat(50);
        for cursor in [0, 20, 50, 98, 100] {
            let v = view(&text, cursor, 20, 6);
            assert_eq!(v.rows.len(), 6);
            assert_eq!(v.first_row + usize::from(v.cursor.1), cursor / 2);
        }
        assert!(view(&text, 0, 20, 6).more_below);
        assert!(!view(&text, 100, 20, 6).more_below);
    }

    #[test]
    fn what_cannot_be_seen_gets_a_placeholder() {
        let zalgo = format!("a{}", "\u{301}".repeat(1000));
        let v = view(&format!("{zalgo}\u{200b}b"), 0, 20, 3);
        assert_eq!(v.rows, ["\u{fffd}\u{fffd}b"]);
    }
}
