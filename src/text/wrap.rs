//! Cuts a logical line into rows for a width.
//!
//! Draws nothing and copies nothing: a row is a byte range of the line's text. Invariants: rows are in order and do
//! not overlap; between two rows only white space is left out (in `Words`), so nothing is lost; no row is wider than
//! its columns unless a single grapheme is. Linear in the length of the text.

use std::ops::Range;

use super::line::{LogicalLine, WrapMode};
use super::run::StyledText;
use super::width::{TAB, graphemes, styled_width};

/// With fewer columns than this left, a prefix is not drawn at all.
const MIN_TEXT: usize = 8;

/// One row of a wrapped line.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Row {
    /// Which of the lines of the entry.
    pub line: u32,
    /// Bytes of the line's text.
    pub range: Range<u32>,
    /// Whether it is the first row of its line (gutter, prefix, right).
    pub first: bool,
}

/// How the columns of a line are shared between what stands in front and the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fit {
    /// Columns for the text on the first row; at least 1.
    pub first: usize,
    /// Columns for the text on the rows that follow; at least 1.
    pub rest: usize,
    /// Whether there is room to draw the prefix.
    pub prefix: bool,
    /// Whether there is room to draw the hang.
    pub hang: bool,
}

/// The columns of a line; the painter must use the same answer as [`wrap_line`] does.
pub fn fit(line: &LogicalLine, width: u16) -> Fit {
    let width = usize::from(width).max(1);
    let share = |front: usize| match width.checked_sub(front) {
        Some(left) if front == 0 || left >= MIN_TEXT => (left, true),
        _ => (width, false),
    };
    let (first, prefix) = share(styled_width(&line.prefix));
    let (rest, hang) = share(styled_width(&line.hang));
    Fit { first, rest, prefix, hang }
}

/// The rows of a line that has `width` columns for prefix (or hang) and text. Adds at least one row to `out`.
pub fn wrap_line(line: &LogicalLine, width: u16, out: &mut Vec<Range<u32>>) {
    let text = line.text.as_str();
    let Fit { first, rest, .. } = fit(line, width);
    let end_of_row = match line.wrap {
        WrapMode::Truncate => {
            out.push(0..text.len() as u32);
            return;
        }
        WrapMode::Words => words_row,
        WrapMode::Anywhere => anywhere_row,
    };
    let mut start = 0;
    let mut cols = first;
    loop {
        let (end, next) = end_of_row(&text[start..], cols);
        out.push(start as u32..(start + end) as u32);
        start += next;
        if start >= text.len() {
            return;
        }
        cols = rest;
    }
}

/// Columns of prose that the eye follows without losing the line.
pub const MEASURE: u16 = 100;

/// The rows of all lines of an entry. Prose has at most [`MEASURE`] columns; code, output and tables have all.
pub fn wrap_lines(lines: &[LogicalLine], width: u16) -> Vec<Row> {
    let mut rows = Vec::with_capacity(lines.len());
    let mut ranges = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let width = if line.wrap == WrapMode::Words { width.min(MEASURE) } else { width };
        wrap_line(line, width, &mut ranges);
        let of_line = ranges.drain(..).enumerate();
        rows.extend(of_line.map(|(n, range)| Row { line: index as u32, range, first: n == 0 }));
    }
    rows
}

/// The rows of all lines as they are drawn, with what stands in front; gutters and right ends are left out.
pub fn laid_out(lines: &[LogicalLine], width: u16) -> Vec<StyledText> {
    let row = |row: Row| {
        let line = lines.get(row.line as usize)?;
        let fit = fit(line, width);
        let (front, has_room) = if row.first { (&line.prefix, fit.prefix) } else { (&line.hang, fit.hang) };
        let mut text = if has_room { front.clone() } else { StyledText::new() };
        for (piece, style) in line.text.slice(row.range.start as usize..row.range.end as usize) {
            text.push(piece, style);
        }
        Some(text)
    };
    wrap_lines(lines, width).into_iter().filter_map(row).collect()
}

const fn tab_width(column: usize) -> usize {
    TAB - column % TAB
}

/// Where a row ends and where the next one starts.
fn anywhere_row(text: &str, cols: usize) -> (usize, usize) {
    let ascii = text.as_bytes().get(..=cols);
    if ascii.is_some_and(|bytes| bytes.iter().all(|b| matches!(b, b' '..=b'~'))) {
        return (cols, cols);
    }
    let mut used = 0;
    for (at, grapheme, width) in graphemes(text) {
        used += if grapheme == "\t" { tab_width(used) } else { width };
        if used > cols && at > 0 {
            return (at, at);
        }
    }
    (text.len(), text.len())
}

/// What a grapheme means for breaking at words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    /// Two columns: a break is possible before and after it.
    Wide,
    /// Does not start a row.
    Closing,
    /// Does not start a row; a break is possible after it.
    WideClosing,
    /// Does not end a row.
    Opening,
    Other,
}

fn class(grapheme: &str, width: usize) -> Class {
    match grapheme.chars().next() {
        None => Class::Other,
        Some('\u{a0}' | '\u{2007}' | '\u{202f}') => Class::Other,
        Some(_) if grapheme.chars().all(char::is_whitespace) => Class::Space,
        Some('.' | ',' | ';' | ':' | '!' | '?' | ')' | ']' | '}' | '\'' | '"' | '%' | '…' | '’' | '”') => {
            Class::Closing
        }
        Some(
            '、' | '。' | '，' | '．' | '：' | '；' | '？' | '！' | '）' | '」' | '』' | '】' | '〕' | '》' | '〉',
        ) => Class::WideClosing,
        Some('(' | '[' | '{' | '‘' | '“' | '（' | '「' | '『' | '【' | '〔' | '《' | '〈') => Class::Opening,
        Some(_) if width == 2 => Class::Wide,
        Some(_) => Class::Other,
    }
}

/// Where a row ends and where the next one starts, past the white space of the break.
///
/// White space at the end of a row takes no columns; white space at the start of a line is text (indentation).
fn words_row(text: &str, cols: usize) -> (usize, usize) {
    let mut used = 0;
    // End of the last thing that is not white space.
    let mut content = 0;
    let mut best: Option<(usize, usize)> = None;
    let mut previous = Class::Other;
    for (at, grapheme, width) in graphemes(text) {
        let now = class(grapheme, width);
        if now == Class::Space && content > 0 {
            used += if grapheme == "\t" { tab_width(used) } else { width };
            previous = now;
            continue;
        }
        let between_wide = (matches!(previous, Class::Wide | Class::WideClosing) || now == Class::Wide)
            && !matches!(now, Class::Closing | Class::WideClosing)
            && previous != Class::Opening;
        if content > 0 && (previous == Class::Space || between_wide) {
            best = Some((content, at));
        }
        used += if grapheme == "\t" { tab_width(used) } else { width };
        if used > cols && at > 0 {
            return best.unwrap_or((at, at));
        }
        if now != Class::Space {
            content = at + grapheme.len();
        }
        previous = if now == Class::Space { Class::Other } else { now };
    }
    (if content > 0 { content } else { text.len() }, text.len())
}

#[cfg(test)]
#[path = "wrap_tests.rs"]
mod tests;
