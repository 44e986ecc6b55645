//! What operators and commands do to a buffer.
//!
//! Functions of a buffer and a piece of its text; hold nothing. Invariant: each change is one edit of the buffer.

use super::command::Operator;
use super::motion::{Takes, Way, first_character, rest};
use super::object::{Piece, in_indent};
use super::registers::Held;
use crate::ui::composer::buffer::Buffer;
use crate::ui::composer::place::{after, before, line_end, line_start};
use unicode_segmentation::UnicodeSegmentation;

/// Bytes that a count may insert.
pub(super) const MAX_TYPED: usize = 1 << 20;
/// Columns that `>` moves a line by.
const INDENT: usize = 4;

/// A piece of the text that an operator is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Region {
    pub(super) from: usize,
    /// For lines before the last newline.
    pub(super) to: usize,
    pub(super) lines: bool,
    /// Where the cursor goes to before.
    pub(super) cursor: usize,
}

impl Region {
    pub(super) const fn characters(from: usize, to: usize) -> Self {
        Self { from, to, lines: false, cursor: from }
    }

    /// All lines from that of `first` to that of `last`.
    pub(super) fn lines(text: &str, first: usize, last: usize) -> Self {
        Self { from: line_start(text, first), to: line_end(text, last), lines: true, cursor: first }
    }

    /// What a motion or an object takes. What ends before the first character of a line ends with the line before it; where
    /// it then begins with a line, too, it is lines, as is what is deleted of several lines if only blanks remain.
    pub(super) fn of(text: &str, (first, last, takes): Piece, deletes: bool) -> Self {
        if takes == Takes::Lines {
            return Self::lines(text, first, last);
        }
        let mut to = match takes {
            Takes::Inclusive if last != line_end(text, last) => after(text, last),
            _ => last,
        };
        let broken = |to: usize| text.get(first..to).is_some_and(|piece| piece.contains('\n'));
        if takes == Takes::Exclusive && line_start(text, to) == to && broken(to) {
            to -= 1;
            if in_indent(text, first) {
                return Self::lines(text, first, to);
            }
        }
        let remains = text.get(to..line_end(text, to)).unwrap_or("");
        if deletes && broken(to) && remains.trim().is_empty() && in_indent(text, first) {
            return Self::lines(text, first, to);
        }
        Self::characters(first, to)
    }

    pub(super) fn held(&self, text: &str) -> Held {
        Held { text: text.get(self.from..self.to).unwrap_or("").to_owned(), lines: self.lines }
    }
}

/// Where `I` begins to write.
pub(super) fn first_line(text: &str, at: usize) -> usize {
    let (start, end) = (line_start(text, at), line_end(text, at));
    let line = text.get(start..end).unwrap_or("");
    start + line.find(|c: char| c != ' ' && c != '\t').unwrap_or(line.len())
}

pub(super) fn delete(buffer: &mut Buffer, region: &Region) {
    let text = buffer.text();
    let (mut from, mut to) = (region.from, region.to);
    if region.lines {
        if to < text.len() {
            to += 1;
        } else {
            from = from.saturating_sub(1);
        }
    }
    buffer.edit(from, to, "", from);
    let text = buffer.text();
    let at = if region.lines { first_character(text, region.from.min(text.len())) } else { rest(text, from) };
    buffer.go_to(at);
}

/// Moves lines by whole indents; empty ones stay.
pub(super) fn indent(buffer: &mut Buffer, region: &Region, deeper: bool, times: usize) {
    let (from, to) = (line_start(buffer.text(), region.from), line_end(buffer.text(), region.to));
    let columns = INDENT * times.min(MAX_TYPED / INDENT / region.to.saturating_sub(region.from).max(1)).max(1);
    let lines = buffer.text().get(from..to).unwrap_or("").split('\n').map(|line| {
        let rest = line.trim_start_matches([' ', '\t']);
        let blanks = line.get(..line.len() - rest.len()).unwrap_or("");
        let had: usize =
            blanks.bytes().fold(0, |at, b| if b == b'\t' { at / INDENT * INDENT + INDENT } else { at + 1 });
        let has = if deeper { had + columns } else { had.saturating_sub(columns) };
        if line.is_empty() { String::new() } else { format!("{}{rest}", " ".repeat(has)) }
    });
    let moved = lines.collect::<Vec<_>>().join("\n");
    buffer.edit(from, to, &moved, from);
    let at = first_character(buffer.text(), from);
    buffer.go_to(at);
}

pub(super) fn map(buffer: &mut Buffer, region: &Region, operator: Operator) {
    let piece = buffer.text().get(region.from..region.to).unwrap_or("");
    let mapped: String = match operator {
        Operator::Lower => piece.to_lowercase(),
        Operator::Upper => piece.to_uppercase(),
        Operator::Fill(with) => piece.graphemes(true).map(|g| if g == "\n" { '\n' } else { with }).collect(),
        _ => piece.chars().map(toggled).collect(),
    };
    // What has not changed is no step to undo.
    if mapped != piece {
        buffer.edit(region.from, region.to, &mapped, region.cursor);
    }
    let at = rest(buffer.text(), buffer.cursor());
    buffer.go_to(at);
}

fn toggled(c: char) -> String {
    if c.is_uppercase() { c.to_lowercase().collect() } else { c.to_uppercase().collect() }
}

/// `~`: so many characters of the line, and behind them.
pub(super) fn toggle(buffer: &mut Buffer, times: usize) {
    let at = buffer.cursor();
    let end = line_end(buffer.text(), at);
    let piece: String = buffer.text().get(at..end).unwrap_or("").graphemes(true).take(times).collect();
    let mapped: String = piece.chars().map(toggled).collect();
    if !piece.is_empty() {
        buffer.edit(at, at + piece.len(), &mapped, at + mapped.len());
        let at = rest(buffer.text(), buffer.cursor());
        buffer.go_to(at);
    }
}

/// `r`: so many characters of the line, or none where there are not as many.
pub(super) fn fill(buffer: &mut Buffer, with: char, times: usize) {
    let at = buffer.cursor();
    let end = line_end(buffer.text(), at);
    let there: Vec<&str> = buffer.text().get(at..end).unwrap_or("").graphemes(true).take(times).collect();
    let bytes: usize = there.iter().map(|g| g.len()).sum();
    if there.len() == times && !with.is_control() {
        let filled = with.to_string().repeat(times);
        buffer.edit(at, at + bytes, &filled, at + filled.len() - with.len_utf8());
    }
}

/// Makes one line of several, with a blank where each began.
pub(super) fn join(buffer: &mut Buffer, region: &Region) {
    let (from, mut to) = (region.from, region.to);
    if !buffer.text().get(from..to).is_some_and(|piece| piece.contains('\n')) {
        if to == buffer.text().len() {
            return;
        }
        to = line_end(buffer.text(), to + 1);
    }
    let mut joined = String::new();
    let mut seam = 0;
    for (i, line) in buffer.text().get(from..to).unwrap_or("").split('\n').enumerate() {
        let line = if i == 0 { line } else { line.trim_start_matches([' ', '\t']) };
        seam = joined.len();
        if i > 0 && !line.is_empty() && !line.starts_with(')') && !joined.is_empty() && !joined.ends_with([' ', '\t']) {
            joined.push(' ');
        }
        joined.push_str(line);
    }
    buffer.edit(from, to, &joined, from + seam);
    let at = rest(buffer.text(), buffer.cursor());
    buffer.go_to(at);
}

/// What a register holds, so many times.
fn repeated(held: &Held, times: usize) -> String {
    let times = times.min(MAX_TYPED / held.text.len().max(1)).max(1);
    if held.lines { vec![held.text.as_str(); times].join("\n") } else { held.text.repeat(times) }
}

/// Behind or before the cursor, or in lines of its own.
pub(super) fn put(buffer: &mut Buffer, held: &Held, way: Way, times: usize) {
    let (text, at) = (buffer.text(), buffer.cursor());
    let with = repeated(held, times);
    if held.lines {
        let end = line_end(text, at);
        let (place, with, first) = match way {
            Way::Forth => (end, format!("\n{with}"), end + 1),
            Way::Back => (line_start(text, at), format!("{with}\n"), line_start(text, at)),
        };
        buffer.edit(place, place, &with, first);
        let at = first_character(buffer.text(), first);
        return buffer.go_to(at);
    }
    if with.is_empty() {
        return;
    }
    let place = if way == Way::Forth && at != line_end(text, at) { after(text, at) } else { at };
    let cursor = if with.contains('\n') { place } else { place + with.len() };
    buffer.edit(place, place, &with, cursor);
    let at = if with.contains('\n') { cursor } else { before(buffer.text(), cursor) };
    buffer.go_to(rest(buffer.text(), at));
}

/// What a register holds takes the place of a selection.
pub(super) fn swap(buffer: &mut Buffer, region: &Region, held: &Held, times: usize) {
    let with = repeated(held, times);
    let alone = held.lines && !region.lines;
    let written = if alone { format!("\n{with}\n") } else { with.clone() };
    let start = region.from + usize::from(alone);
    buffer.edit(region.from, region.to, &written, start);
    let text = buffer.text();
    let at = if held.lines || region.lines {
        first_character(text, start)
    } else if with.contains('\n') || with.is_empty() {
        rest(text, start)
    } else {
        before(text, start + with.len())
    };
    buffer.go_to(at);
}
