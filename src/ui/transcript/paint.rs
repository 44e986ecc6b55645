//! Writes one row of a logical line into the buffer.
//!
//! Wraps nothing: it gets a row and must use the same columns as `text::wrap`. Invariants: nothing is written outside
//! the row's area, no control character is ever written, and no grapheme is cut in half.

use super::DrawCtx;
use super::cache::GUTTER;
use crate::text::line::{LogicalLine, WrapMode};
use crate::text::run::RunStyle;
use crate::text::token::Token;
use crate::text::width::{styled_width, truncate_styled};
use crate::text::wrap::{Row, fit};
use crate::ui::cells::SPINNER;
use crate::ui::paint::{Pen, Tabs, spinner};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Figures at the right do not stand further right than this: the eye has to find them.
const RIGHT_EDGE: u16 = 110;
/// With less room than this beside it, the text wins over the figures.
const MIN_TEXT: usize = 12;

pub(super) fn row(cx: &DrawCtx<'_>, line: &LogicalLine, row: &Row, width: u16, area: Rect, buf: &mut Buffer) {
    let theme = cx.theme;
    let mut pen = Pen { buf, x: area.x, y: area.y, end: area.right() };
    if row.first {
        if line.gutter.as_str().starts_with(SPINNER) {
            let style = line.gutter.iter().next().map_or(RunStyle::from(Token::Accent), |(_, s)| s);
            pen.text(spinner(cx.spinner_frame), theme.style(style), Tabs::Nothing);
        } else {
            pen.styled(&line.gutter, theme, Tabs::From(area.x));
        }
    }
    pen.x = area.x.saturating_add(GUTTER).min(area.right());
    let fit = fit(line, width);
    if row.first && fit.prefix {
        pen.styled(&line.prefix, theme, Tabs::From(pen.x));
    } else if !row.first && fit.hang {
        pen.styled(&line.hang, theme, Tabs::From(pen.x));
    }
    let start = pen.x;
    let right = if row.first { right_at(line, row, start, area) } else { None };
    if line.wrap == WrapMode::Truncate {
        let edge = right.map_or(area.x.saturating_add(GUTTER).saturating_add(width), |x| x.saturating_sub(2));
        let room = usize::from(edge.min(area.right()).saturating_sub(start));
        pen.styled(&truncate_styled(&line.text, room), theme, Tabs::From(start));
    } else {
        for (text, style) in line.text.slice(row.range.start as usize..row.range.end as usize) {
            pen.text(text, theme.style(style), Tabs::From(start));
        }
    }
    if let Some(x) = right {
        pen.x = x;
        pen.styled(&line.right, theme, Tabs::From(x));
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
