//! Writes one row of a logical line into the buffer.
//!
//! Wraps nothing: it gets a row and must use the same columns as `text::wrap`. Invariants: nothing is written outside
//! the row's area, no control character is ever written, and no grapheme is cut in half.

use super::DrawCtx;
use super::cache::GUTTER;
use super::colours::Spans;
use crate::text::address;
use crate::text::line::{LogicalLine, WrapMode};
use crate::text::run::{RunStyle, StyledText};
use crate::text::token::Token;
use crate::text::width::{str_width, styled_width, truncate_styled};
use crate::text::wrap::{Row, fit};
use crate::theme::resolve::Theme;
use crate::ui::cells::SPINNER;
use crate::ui::paint::{Pen, Tabs, spinner};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::ops::Range;
use std::sync::Arc;

/// With less room than this beside it, the text wins over the figures.
const MIN_TEXT: usize = 12;

/// `spans` are the colours of the line, if they are known.
pub(super) fn row(
    cx: &DrawCtx<'_>,
    line: &LogicalLine,
    spans: Option<&Spans>,
    row: &Row,
    width: u16,
    area: Rect,
    buf: &mut Buffer,
) -> Vec<(Range<u16>, Arc<str>)> {
    let theme = cx.theme;
    if let Some(bg) = line.fill.and_then(|fill| theme.style(fill).bg) {
        // What stands beside the gutter; a row that has something in it is filled from there on.
        let from = if line.gutter.is_empty() { GUTTER } else { 0 };
        let width = area.width.saturating_sub(from + 1);
        buf.set_style(Rect { x: area.x + from, width, ..area }, Style::new().bg(bg));
    }
    let mut pen = Pen { buf, x: area.x, y: area.y, end: area.right() };
    if row.first || line.fill == Some(Token::User) {
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
        let room = room(right, (start, width), area);
        pen.styled(&truncate_styled(&line.text, room), theme, Tabs::From(start));
    } else {
        let mut at = row.range.start;
        for (text, style) in line.text.slice(row.range.start as usize..row.range.end as usize) {
            let spans = spans.filter(|_| is_colourable(style, theme)).map_or(&[][..], Vec::as_slice);
            for (piece, token) in coloured(text, at, spans) {
                let style = token.map_or(style, RunStyle::from);
                pen.text(piece, theme.style(style), Tabs::From(start));
            }
            at += text.len() as u32;
        }
    }
    let links = links(line, row, start..pen.x, &cx.session.cwd);
    if let Some(x) = right {
        pen.x = x;
        pen.styled(&line.right, theme, Tabs::From(x));
    }
    links
}

/// Columns of a row in which an address stands whose host is beyond doubt, or a file of the session with its line, also
/// one that begins or ends in another row, and where they lead.
fn links(line: &LogicalLine, row: &Row, columns: Range<u16>, cwd: &str) -> Vec<(Range<u16>, Arc<str>)> {
    let text = line.text.as_str();
    let bytes = row.range.start as usize..row.range.end as usize;
    let shown = text.get(bytes.clone()).unwrap_or_default();
    if shown.contains('\t') {
        return Vec::new();
    }
    let column = |byte: usize| {
        let before = text.get(bytes.start..byte.clamp(bytes.start, bytes.end)).unwrap_or_default();
        columns.start.saturating_add(u16::try_from(str_width(before)).unwrap_or(u16::MAX)).min(columns.end)
    };
    let pages = address::places_around(text, bytes.clone())
        .filter(|(_, address)| address::host(address).is_some())
        .map(|(at, address)| (column(at)..column(at + address.len()), Arc::from(address)));
    let files = address::files_around(text, bytes.clone()).into_iter();
    let files = files.map(|at| {
        let address = address::of_file(cwd, at.path, at.line);
        (column(at.bytes.start)..column(at.bytes.end), Arc::from(address))
    });
    pages.chain(files).filter(|(columns, _): &(Range<u16>, _)| !columns.is_empty()).collect()
}

/// How many bytes of the text of a line are drawn where it is one row that is cut at the edge; else all.
pub(super) fn seen(line: &LogicalLine, width: u16) -> usize {
    if line.wrap != WrapMode::Truncate {
        return line.text.len();
    }
    let area = Rect { x: 0, y: 0, width: width.saturating_add(GUTTER).saturating_add(1), height: 1 };
    let row = Row { line: 0, range: 0..0, first: true };
    let front = if fit(line, width).prefix { styled_width(&line.prefix) } else { 0 };
    let start = GUTTER.saturating_add(u16::try_from(front).unwrap_or(u16::MAX));
    let room = self::room(right_at(line, &row, start, area), (start, width), area);
    let drawn = truncate_styled(&line.text, room);
    // In place of what is cut off stands a sign.
    if drawn == line.text { line.text.len() } else { drawn.as_str().trim_end_matches('…').len() }
}

/// Columns of the text of a line that is one row.
fn room(right: Option<u16>, (start, width): (u16, u16), area: Rect) -> usize {
    let edge = right.map_or(area.x.saturating_add(GUTTER).saturating_add(width), |x| x.saturating_sub(2));
    usize::from(edge.min(area.right()).saturating_sub(start))
}

/// Where the figures at the right begin, if there is room for them.
fn right_at(line: &LogicalLine, row: &Row, start: u16, area: Rect) -> Option<u16> {
    let width = styled_width(&line.right);
    if width == 0 {
        return None;
    }
    let edge = area.right().saturating_sub(1);
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

/// Whether a piece may be drawn as what it is of a program: words that changed stay what they are, and without a tint
/// behind it a changed line has its colour.
fn is_colourable(style: RunStyle, theme: &Theme) -> bool {
    match style.token {
        Token::CodeBlock | Token::Text => style == RunStyle::from(style.token),
        Token::DiffAdd | Token::DiffDel => theme.style(style.token).bg.is_some(),
        _ => false,
    }
}

/// The text of a line with the colours of its program.
pub(super) fn recoloured(line: &StyledText, spans: &Spans, theme: &Theme) -> StyledText {
    let (mut out, mut at) = (StyledText::new(), 0);
    for (text, style) in line.iter() {
        let spans = if is_colourable(style, theme) { spans.as_slice() } else { &[] };
        for (piece, token) in coloured(text, at, spans) {
            out.push(piece, token.map_or(style, RunStyle::from));
        }
        at += text.len() as u32;
    }
    out
}

/// A piece of a line that begins at byte `at` of it, cut where its meaning changes.
fn coloured<'a>(text: &'a str, at: u32, spans: &[(Range<u32>, Token)]) -> Vec<(&'a str, Option<Token>)> {
    let end = at + text.len() as u32;
    let mut out = Vec::new();
    let mut from = at;
    let cut = |from: u32, to: u32| text.get((from - at) as usize..(to - at) as usize).filter(|piece| !piece.is_empty());
    let first = spans.partition_point(|(range, _)| range.end <= at);
    for (range, token) in spans.iter().skip(first).take_while(|(range, _)| range.start < end) {
        let (start, stop) = (range.start.max(from), range.end.min(end));
        let (Some(piece), before) = (cut(start, stop), cut(from, start)) else { continue };
        out.extend(before.map(|before| (before, None)));
        out.push((piece, Some(*token)));
        from = stop;
    }
    out.extend(cut(from, end).map(|rest| (rest, None)));
    out
}
