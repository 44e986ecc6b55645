//! `Buffer`: text with a cursor, motions over graphemes and words, cutting, undo.
//!
//! Knows nothing of earlier prompts or of keys. Invariants: the cursor is on a grapheme boundary, and never inside of what is
//! folded; the text holds no control character but newline and tab, and all that is folded; undoing everything gives back
//! the text it began with.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::chips::Chips;
use super::place;
use super::undo::{Kind, Step, Undo};
use super::wrap::{ComposerView, Wrap};

/// Rows before the first layout are counted at this width.
const DEFAULT_WIDTH: u16 = 80;

#[derive(Clone, Debug, Default)]
pub struct Buffer {
    text: String,
    cursor: usize,
    /// Column that Up and Down aim at, from the first of a series.
    goal: Option<u16>,
    undo: Undo,
    /// Pieces that were pasted and are shown as one word.
    chips: Chips,
    cut: String,
    /// The last change was a cut, and the next one belongs to it.
    cutting: bool,
    /// A cache of `text` at the width last drawn; holds nothing of its own.
    wrap: RefCell<Wrap>,
    width: std::cell::Cell<u16>,
}

/// Where a cut goes in the text kept for putting back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cut {
    Before,
    Behind,
}

impl Buffer {
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Byte offset, always a grapheme boundary.
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    pub fn before_cursor(&self) -> &str {
        self.text.get(..self.cursor).unwrap_or("")
    }

    /// The rows to show and the cursor among them. `width` counts all columns there are; one stays free.
    pub fn layout(&self, width: u16, max_rows: u16) -> ComposerView {
        self.width.set(width);
        self.wrapped(|wrap, text| wrap.view(text, self.cursor, max_rows))
    }

    fn wrapped<R>(&self, f: impl FnOnce(&mut Wrap, &str) -> R) -> R {
        let mut wrap = self.wrap.borrow_mut();
        wrap.set_width(if self.width.get() == 0 { DEFAULT_WIDTH } else { self.width.get() });
        wrap.set_chips(&self.chips);
        f(&mut wrap, &self.text)
    }

    // Changes.

    pub fn insert_char(&mut self, c: char) {
        if c == '\n' || c == '\t' || !c.is_control() {
            let mut bytes = [0; 4];
            self.replace(self.cursor, self.cursor, c.encode_utf8(&mut bytes), Kind::Typing);
        }
    }

    /// Inserts exactly what was pasted, with line ends as LF and without control characters.
    pub fn paste(&mut self, pasted: &str) {
        let clean = clean(pasted);
        if !clean.is_empty() {
            self.undo.close();
            self.replace(self.cursor, self.cursor, &clean, Kind::Whole);
        }
    }

    /// The same; what is long is shown as one word until it is unfolded.
    pub fn paste_folded(&mut self, pasted: &str) {
        let (before, end) = (self.text.len(), self.cursor);
        self.paste(pasted);
        let piece = end..end + (self.text.len() - before);
        let is_whole = |at| place::boundary_at_or_after(&self.text, at) == at;
        if self.chips.is_worth_it(&self.text, &piece) && is_whole(piece.start) && is_whole(piece.end) {
            self.undo.fold_last(0..piece.len());
            self.wrap.get_mut().changed(piece.start);
            self.chips.add(&self.text, piece);
        }
    }

    /// Shows all that is folded. False: nothing is.
    pub fn unfold(&mut self) -> bool {
        let first = self.chips.first();
        self.chips.clear();
        first.inspect(|at| self.wrap.get_mut().changed(*at)).is_some()
    }

    /// The text with blanks for the line breaks in what is folded: as long, and with the lines that are seen.
    pub(super) fn as_seen(&self) -> Cow<'_, str> {
        let mut seen = Cow::Borrowed(self.text.as_str());
        for chip in self.chips.within(0..self.text.len()) {
            let flat = self.text.get(chip.clone()).unwrap_or_default().replace('\n', " ");
            seen.to_mut().replace_range(chip, &flat);
        }
        seen
    }

    /// A piece of it, with all of what is folded and begins or ends in it.
    pub(super) fn whole(&self, from: usize, to: usize) -> (usize, usize) {
        let (first, last) = (self.chips.around(from), self.chips.around(to));
        (first.map_or(from, |chip| chip.start), last.map_or(to, |chip| chip.end))
    }

    pub fn is_folded(&self) -> bool {
        self.chips.first().is_some()
    }

    /// What is folded ends at the cursor.
    pub fn is_behind_chip(&self) -> bool {
        self.chips.ending_at(self.cursor).is_some()
    }

    /// Replaces everything; can be undone. The cursor goes to the end.
    pub fn set_text(&mut self, text: &str) {
        let clean = clean(text);
        self.replace(0, self.text.len(), &clean, Kind::Whole);
    }

    /// Replaces a piece of the text, such as a word by its completion; offsets that are no boundaries do nothing.
    pub fn replace_range(&mut self, from: usize, to: usize, with: &str) {
        let clean = clean(with);
        self.replace(from, to, &clean, Kind::Whole);
    }

    /// Puts a prompt that came back in front of what has been written since.
    pub fn prepend(&mut self, text: &str) {
        let mut clean = clean(text);
        if clean.is_empty() {
            return;
        }
        if !self.text.is_empty() {
            clean.push_str("\n\n");
        }
        let behind = self.text.len() - self.cursor;
        self.replace(0, 0, &clean, Kind::Whole);
        let at = self.text.len() - behind;
        // The person goes on where they were.
        self.cursor = self.boundary_at_or_after(at);
    }

    /// Hands over the text and begins anew. What was cut can still be put back.
    pub fn take(&mut self) -> String {
        let text = std::mem::take(&mut self.text);
        self.chips.clear();
        self.cursor = 0;
        self.goal = None;
        self.cutting = false;
        self.undo.forget();
        self.wrap.get_mut().changed(0);
        text
    }

    pub fn backspace(&mut self) {
        self.replace(self.before(self.cursor), self.cursor, "", Kind::Erasing);
    }

    pub fn delete(&mut self) {
        self.replace(self.cursor, self.after(self.cursor), "", Kind::Erasing);
    }

    pub fn delete_word_back(&mut self) {
        self.cut(self.word_before(self.cursor), self.cursor, Cut::Before);
    }

    pub fn delete_word_forward(&mut self) {
        self.cut(self.cursor, self.word_after(self.cursor), Cut::Behind);
    }

    /// To the end of the line; at its end, the line break.
    pub fn kill_to_end(&mut self) {
        let end = self.line_end();
        let to = if end == self.cursor { self.after(end) } else { end };
        self.cut(self.cursor, to, Cut::Behind);
    }

    /// From the start of the line; at its start, the line break before it.
    pub fn kill_line(&mut self) {
        let start = self.line_start();
        let from = if start == self.cursor { self.before(start) } else { start };
        self.cut(from, self.cursor, Cut::Before);
    }

    pub fn yank(&mut self) {
        let cut = self.cut.clone();
        if !cut.is_empty() {
            self.undo.close();
            self.replace(self.cursor, self.cursor, &cut, Kind::Whole);
        }
    }

    /// Takes back the last step, with all that belong to it.
    pub fn undo(&mut self) -> bool {
        let mut any = false;
        while let Some(step) = self.undo.undo() {
            let (at, len, back, cursor) = (step.at, step.inserted.len(), step.removed.clone(), step.cursor_before);
            let folded = step.removed_chips.clone();
            self.splice(at, at + len, &back);
            self.fold_again(at, folded);
            self.cursor = self.boundary_at_or_after(cursor);
            any = true;
            if !self.undo.goes_on_back() {
                break;
            }
        }
        any
    }

    pub fn redo(&mut self) -> bool {
        self.redo_from().is_some()
    }

    /// The same, and where the cursor was before.
    pub(super) fn redo_from(&mut self) -> Option<usize> {
        let mut from = None;
        while let Some(step) = self.undo.redo() {
            from.get_or_insert(step.cursor_before);
            let (at, len, again) = (step.at, step.removed.len(), step.inserted.clone());
            let folded = step.inserted_chips.clone();
            self.splice(at, at + len, &again);
            self.fold_again(at, folded);
            self.cursor = self.boundary_at_or_after(at + again.len());
            if !self.undo.goes_on_forth() {
                break;
            }
        }
        from
    }

    fn fold_again(&mut self, at: usize, folded: Vec<Range<usize>>) {
        for piece in folded {
            self.wrap.get_mut().changed(at + piece.start);
            self.chips.add(&self.text, at + piece.start..at + piece.end);
        }
    }

    /// Changes from now on are undone together, until the group is another one.
    pub(super) fn group(&mut self, group: Option<u64>) {
        self.undo.group(group);
    }

    /// Replaces a piece by text without control characters, and puts the cursor to `cursor`.
    pub(super) fn edit(&mut self, from: usize, to: usize, with: &str, cursor: usize) {
        self.undo.close();
        self.replace(from, to, with, Kind::Whole);
        self.go_to(cursor);
    }

    /// Nothing was done before.
    #[cfg(test)]
    pub(super) fn begin_at(&mut self, at: usize) {
        self.undo.forget();
        self.move_to(at);
    }

    /// The rows of `view` that show something of a piece of the text, and the columns of it.
    pub fn marks(&self, view: &ComposerView, piece: Range<usize>) -> Vec<(u16, Range<u16>)> {
        self.wrapped(|wrap, text| wrap.marks(text, view, &piece))
    }

    fn cut(&mut self, from: usize, to: usize, side: Cut) {
        let Some(piece) = self.text.get(from..to).filter(|p| !p.is_empty()).map(str::to_owned) else { return };
        let series = self.cutting;
        self.undo.close();
        self.replace(from, to, "", Kind::Whole);
        if !series {
            self.cut.clear();
        }
        match side {
            Cut::Before => self.cut.insert_str(0, &piece),
            Cut::Behind => self.cut.push_str(&piece),
        }
        self.cutting = true;
    }

    fn replace(&mut self, from: usize, to: usize, with: &str, kind: Kind) {
        let Some(removed) = self.text.get(from..to).map(str::to_owned) else { return };
        if removed.is_empty() && with.is_empty() {
            return;
        }
        let folded = self.chips.within(from..to);
        let has_folded = !folded.is_empty();
        if has_folded {
            self.undo.close();
        }
        let mut step = Step::new(from, removed, with.to_owned(), self.cursor, kind);
        step.removed_chips = folded;
        self.undo.record(step);
        if has_folded {
            self.undo.close();
        }
        self.splice(from, to, with);
        // What was typed may have joined the grapheme behind it.
        self.cursor = self.boundary_at_or_after(from + with.len());
    }

    fn splice(&mut self, from: usize, to: usize, with: &str) {
        self.text.replace_range(from..to, with);
        let first = self.chips.spliced(from..to, with.len());
        self.wrap.get_mut().changed(first.min(from));
        self.goal = None;
        self.cutting = false;
    }

    // Motions.

    pub fn left(&mut self) {
        self.move_to(self.before(self.cursor));
    }

    pub fn right(&mut self) {
        self.move_to(self.after(self.cursor));
    }

    pub fn word_left(&mut self) {
        self.move_to(self.word_before(self.cursor));
    }

    pub fn word_right(&mut self) {
        self.move_to(self.word_after(self.cursor));
    }

    /// The start of the row; pressed there, of the line.
    pub fn home(&mut self) {
        let start = self.wrapped(|wrap, text| {
            let row = wrap.row_of(text, self.cursor);
            wrap.row_span(text, row).map_or(0, |(start, _)| start)
        });
        self.move_to(if start == self.cursor { self.line_start() } else { start });
    }

    /// The end of the row; pressed there, of the line.
    pub fn end(&mut self) {
        let end = self.wrapped(|wrap, text| {
            let row = wrap.row_of(text, self.cursor);
            wrap.at_column(text, row, u16::MAX).unwrap_or(text.len())
        });
        self.move_to(if end == self.cursor { self.line_end() } else { end });
    }

    pub fn buffer_start(&mut self) {
        self.move_to(0);
    }

    pub fn buffer_end(&mut self) {
        self.move_to(self.text.len());
    }

    /// One row up; `false` on the first row, where nothing moves.
    pub fn up(&mut self) -> bool {
        let row = self.wrapped(|wrap, text| wrap.row_of(text, self.cursor));
        row.checked_sub(1).is_some_and(|to| self.go_row(to))
    }

    /// One row down; `false` on the last row, where nothing moves.
    pub fn down(&mut self) -> bool {
        let row = self.wrapped(|wrap, text| wrap.row_of(text, self.cursor));
        self.go_row(row + 1)
    }

    /// To the end of the first row, from where Up leaves the text.
    pub fn first_row_end(&mut self) {
        let at = self.wrapped(|wrap, text| wrap.at_column(text, 0, u16::MAX));
        self.move_to(at.unwrap_or(0));
    }

    fn go_row(&mut self, row: usize) -> bool {
        let cursor = self.cursor;
        let goal = self.goal.unwrap_or_else(|| self.wrapped(|wrap, text| wrap.column_of(text, cursor)));
        let Some(at) = self.wrapped(|wrap, text| wrap.at_column(text, row, goal)) else { return false };
        self.move_to(at);
        self.goal = Some(goal);
        true
    }

    /// Moves the cursor to a place, or behind the grapheme that is there.
    pub(super) fn go_to(&mut self, at: usize) {
        self.move_to(self.boundary_at_or_after(at));
    }

    fn move_to(&mut self, at: usize) {
        self.cursor = match self.chips.around(at) {
            Some(chip) if at < self.cursor => chip.start,
            Some(chip) => chip.end,
            None => at,
        };
        self.goal = None;
        self.cutting = false;
        self.undo.close();
    }

    fn before(&self, at: usize) -> usize {
        if let Some(chip) = self.chips.ending_at(at) {
            return chip.start;
        }
        let before = place::before(&self.text, at);
        self.chips.around(before).map_or(before, |chip| chip.start)
    }

    fn after(&self, at: usize) -> usize {
        if let Some(chip) = self.chips.beginning_at(at) {
            return chip.end;
        }
        let after = place::after(&self.text, at);
        self.chips.around(after).map_or(after, |chip| chip.end)
    }

    fn boundary_at_or_after(&self, at: usize) -> usize {
        let at = place::boundary_at_or_after(&self.text, at);
        self.chips.around(at).map_or(at, |chip| chip.end)
    }

    /// Line breaks in what is folded do not count.
    fn line_start(&self) -> usize {
        let mut start = place::line_start(&self.text, self.cursor);
        while let Some(chip) = self.chips.around(start).or_else(|| self.chips.ending_at(start)) {
            start = place::line_start(&self.text, chip.start);
        }
        start
    }

    fn line_end(&self) -> usize {
        let mut end = place::line_end(&self.text, self.cursor);
        while let Some(chip) = self.chips.around(end).or_else(|| self.chips.beginning_at(end)) {
            end = place::line_end(&self.text, chip.end);
        }
        end
    }

    /// The start of the word before `at`, over blanks and punctuation. Looks at the line only, then at the one before.
    fn word_before(&self, at: usize) -> usize {
        if self.chips.ending_at(at).is_some() {
            return self.before(at);
        }
        let word = self.plain_word_before(at);
        // Between two of them there are no words.
        self.chips.last_before(at).map_or(word, |chip| word.max(chip.end))
    }

    fn plain_word_before(&self, at: usize) -> usize {
        let head = self.text.get(..at).unwrap_or("");
        let line = head.rfind('\n').map_or(0, |i| i + 1);
        if line == at {
            return self.before(at);
        }
        let tail = head.get(line..).unwrap_or("");
        let start = tail.split_word_bound_indices().rev().find(|(_, w)| is_word(w)).map_or(0, |(i, _)| i);
        place::boundary_at_or_after(&self.text, line + start).min(self.before(at))
    }

    /// The end of the word after `at`.
    fn word_after(&self, at: usize) -> usize {
        if self.chips.beginning_at(at).is_some() {
            return self.after(at);
        }
        let word = self.plain_word_after(at);
        self.chips.next_after(at).map_or(word, |chip| word.min(chip.start))
    }

    fn plain_word_after(&self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or("");
        if rest.starts_with('\n') {
            return self.after(at);
        }
        let line = rest.split('\n').next().unwrap_or(rest);
        let word = line.split_word_bound_indices().find(|(_, w)| is_word(w));
        place::boundary_at_or_after(&self.text, at + word.map_or(line.len(), |(i, w)| i + w.len()))
    }
}

fn is_word(piece: &str) -> bool {
    piece.chars().any(|c| c.is_alphanumeric() || c == '_')
}

/// LF for every line end, no other control but the tab.
fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' => {
                chars.next_if_eq(&'\n');
                out.push('\n');
            }
            '\n' | '\t' => out.push(c),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
#[path = "buffer_tests.rs"]
mod tests;
