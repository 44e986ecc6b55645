//! Writes one row of a logical line into the buffer.
//!
//! Wraps nothing: it gets a row and must use the same columns as `text::wrap`. Invariants: nothing is written outside
//! the row's area, no control character is ever written, and no grapheme is cut in half.

use super::DrawCtx;
use super::cache::GUTTER;
use crate::text::line::{LogicalLine, WrapMode};
use crate::text::run::{RunStyle, StyledText};
use crate::text::token::Token;
use crate::text::width::{TAB, graphemes, styled_width, truncate_styled};
use crate::text::wrap::{Row, fit};
use crate::ui::cells::SPINNER;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

const FRAMES: [&str; 8] = ["⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// Figures at the right do not stand further right than this: the eye has to find them.
const RIGHT_EDGE: u16 = 110;
/// With less room than this beside it, the text wins over the figures.
const MIN_TEXT: usize = 12;

pub(super) fn row(cx: &DrawCtx<'_>, line: &LogicalLine, row: &Row, width: u16, area: Rect, buf: &mut Buffer) {
    let mut pen = Pen { cx, x: area.x, end: area.right(), y: area.y, buf };
    if row.first {
        if line.gutter.as_str().starts_with(SPINNER) {
            let frame = FRAMES[usize::from(cx.spinner_frame) % FRAMES.len()];
            let style = line.gutter.iter().next().map_or(RunStyle::from(Token::Accent), |(_, s)| s);
            pen.text(frame, cx.theme.style(style), 0);
        } else {
            pen.styled(&line.gutter);
        }
    }
    pen.x = area.x.saturating_add(GUTTER).min(area.right());
    let fit = fit(line, width);
    if row.first && fit.prefix {
        pen.styled(&line.prefix);
    } else if !row.first && fit.hang {
        pen.styled(&line.hang);
    }
    let start = pen.x;
    let right = if row.first { right_at(line, row, start, area) } else { None };
    if line.wrap == WrapMode::Truncate {
        let edge = right.map_or(area.x.saturating_add(GUTTER).saturating_add(width), |x| x.saturating_sub(2));
        let room = usize::from(edge.min(area.right()).saturating_sub(start));
        pen.styled(&truncate_styled(&line.text, room));
    } else {
        for (text, style) in line.text.slice(row.range.start as usize..row.range.end as usize) {
            let style = cx.theme.style(style);
            pen.text(text, style, start);
        }
    }
    if let Some(x) = right {
        pen.x = x;
        pen.styled(&line.right);
    }
}

/// Where the figures at the right begin, if there is room for them.
fn right_at(line: &LogicalLine, row: &Row, start: u16, area: Rect) -> Option<u16> {
    let width = styled_width(&line.right);
    if width == 0 {
        return None;
    }
    let edge = area.right().saturating_sub(1).min(area.x.saturating_add(RIGHT_EDGE));
    let x = edge.checked_sub(u16::try_from(width).ok()?)?;
    let text = match line.wrap {
        WrapMode::Truncate => styled_width(&line.text).min(MIN_TEXT),
        WrapMode::Words | WrapMode::Anywhere => {
            let shown = line.text.as_str().get(row.range.start as usize..row.range.end as usize).unwrap_or_default();
            crate::text::width::str_width(shown)
        }
    };
    (usize::from(start) + text + 2 <= usize::from(x)).then_some(x)
}

struct Pen<'a, 'b> {
    cx: &'a DrawCtx<'b>,
    buf: &'a mut Buffer,
    x: u16,
    y: u16,
    end: u16,
}

impl Pen<'_, '_> {
    fn styled(&mut self, text: &StyledText) {
        let origin = self.x;
        for (piece, style) in text.iter() {
            let style = self.cx.theme.style(style);
            self.text(piece, style, origin);
        }
    }

    /// `origin` is the column from which tab stops count.
    fn text(&mut self, text: &str, style: Style, origin: u16) {
        for (_, grapheme, width) in graphemes(text) {
            if grapheme == "\t" {
                let column = usize::from(self.x.saturating_sub(origin));
                for _ in 0..TAB - column % TAB {
                    self.put(" ", 1, style);
                }
            } else if width > 0 && !self.put(grapheme, width as u16, style) {
                return;
            }
        }
    }

    fn put(&mut self, grapheme: &str, width: u16, style: Style) -> bool {
        if self.x.saturating_add(width) > self.end {
            self.x = self.end;
            return false;
        }
        if let Some(cell) = self.buf.cell_mut((self.x, self.y)) {
            cell.set_symbol(grapheme);
            cell.set_style(style);
        }
        // The terminal draws nothing in the second half of a wide character.
        for half in 1..width {
            if let Some(cell) = self.buf.cell_mut((self.x + half, self.y)) {
                cell.reset();
            }
        }
        self.x += width;
        true
    }
}
