//! Columns of the screen to characters of what was laid out, and back.
//!
//! Lays out no more than what is selected. Invariant: a character is selected whole, in whichever of its columns the mouse is.

use super::cache::GUTTER;
use crate::text::line::LogicalLine;
use crate::text::token::Token;
use crate::text::width::{self, styled_width};
use crate::text::wrap::{Row, fit};
use crate::theme::resolve::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::ops::Range;

/// The most bytes that are selected at once.
pub(super) const MAX: usize = 8 << 20;

/// Where the words of a row begin.
fn start(line: &LogicalLine, row: &Row, width: u16, left: u16) -> u16 {
    let fit = fit(line, width);
    let (front, has_room) = if row.first { (&line.prefix, fit.prefix) } else { (&line.hang, fit.hang) };
    let front = if has_room { styled_width(front) } else { 0 };
    left.saturating_add(GUTTER).saturating_add(u16::try_from(front).unwrap_or(u16::MAX))
}

/// The characters of a row, with the bytes of the line and the columns that each has, from where the words begin.
fn cells<'a>(line: &'a LogicalLine, row: &Row) -> impl Iterator<Item = (Range<u32>, Range<usize>)> + use<'a> {
    let from = row.range.start;
    let words = line.text.as_str().get(from as usize..row.range.end as usize).unwrap_or_default();
    width::cells(words).map(move |(bytes, columns)| (from + bytes.start as u32..from + bytes.end as u32, columns))
}

/// The bytes of the character in a column; beside the words none, at their beginning or end.
pub(super) fn bytes_at(line: &LogicalLine, row: &Row, width: u16, left: u16, x: u16) -> Range<u32> {
    let Some(column) = x.checked_sub(start(line, row, width, left)).map(usize::from) else {
        return row.range.start..row.range.start;
    };
    let found = cells(line, row).find(|(_, columns)| columns.contains(&column));
    found.map_or(row.range.end..row.range.end, |(bytes, _)| bytes)
}

/// Marks what of a row is selected.
pub(super) fn mark(
    theme: &Theme,
    line: &LogicalLine,
    row: &Row,
    width: u16,
    bytes: Range<u32>,
    area: Rect,
    buf: &mut Buffer,
) {
    let is_marked = |at: &Range<u32>| at.start >= bytes.start && at.end <= bytes.end;
    let mut columns = cells(line, row).filter(|(at, _)| is_marked(at)).map(|(_, columns)| columns);
    let Some(first) = columns.next() else { return };
    let end = columns.last().map_or(first.end, |last| last.end);
    let start = start(line, row, width, area.x);
    let column = |n: usize| start.saturating_add(u16::try_from(n).unwrap_or(u16::MAX));
    let x = column(first.start);
    let marked = Rect { x, width: column(end).saturating_sub(x), ..area };
    buf.set_style(marked.intersection(area), theme.style(Token::Selected));
}
