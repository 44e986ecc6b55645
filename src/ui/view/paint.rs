//! Styled text into rows: left, right, wrapped. Knows columns and styles, not what is said.
//!
//! Invariant: nothing is written beyond the columns given.

use crate::text::diff::Kind;
use crate::text::line::LogicalLine;
use crate::text::run::StyledText;
use crate::text::token::Token;
use crate::text::{width, wrap};
use crate::theme::resolve::Theme;
use crate::ui::paint::{Pen, Tabs};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// Columns that the words of a line get before a figure stands beside them.
const ROOM: usize = 12;

/// Writes text from `x` on and returns the columns it took.
pub fn put(buf: &mut Buffer, x: u16, y: u16, columns: u16, text: &StyledText, theme: &Theme) -> u16 {
    let end = x.saturating_add(columns).min(buf.area.right());
    let mut pen = Pen { buf, x, y, end };
    pen.styled(text, theme, Tabs::Nothing);
    pen.x - x
}

/// Writes text so that it ends at the right edge of `area`, one column from it; false when it has no room behind
/// `used` columns.
pub fn put_right(buf: &mut Buffer, area: Rect, used: u16, text: &StyledText, theme: &Theme) -> Placed {
    let wide = u16::try_from(width::styled_width(text)).unwrap_or(u16::MAX);
    if wide == 0 || used.saturating_add(wide).saturating_add(1) > area.width {
        return Placed::No;
    }
    put(buf, area.right() - wide, area.y, wide, text, theme);
    Placed::Yes
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placed {
    Yes,
    No,
}

/// A row of a wrapped line, ready to be written.
#[derive(Clone, Debug, Default)]
pub struct Painted {
    pub front: StyledText,
    pub text: StyledText,
    pub right: StyledText,
    /// Whose background the row has.
    pub fill: Option<Token>,
    /// What became of its line, where it begins one of a diff.
    pub of_diff: Option<Kind>,
    /// What of its line was left out between the row above and this one; nothing of the first row of a line.
    pub joint: Option<&'static str>,
}

/// Gives an area the background of a token, where the theme has one for it.
pub fn fill(buf: &mut Buffer, area: Rect, token: Token, theme: &Theme) {
    if let Some(bg) = theme.style(token).bg {
        buf.set_style(area, Style::new().bg(bg));
    }
}

/// Wraps lines for `columns`. Gutters count as part of the front.
pub fn rows(lines: &[LogicalLine], columns: u16) -> Vec<Painted> {
    let mut out = Vec::new();
    let mut ranges = Vec::new();
    for line in lines {
        let gutter = u16::try_from(width::styled_width(&line.gutter)).unwrap_or(0).min(columns / 2);
        let inner = columns.saturating_sub(gutter).max(1);
        let fit = wrap::fit(line, inner);
        // The figure at the right end keeps its columns on the first row as long as the words have enough of it.
        let figure = width::styled_width(&line.right);
        let roomy = figure > 0 && width::styled_width(&line.prefix) + figure + 2 + ROOM <= usize::from(inner);
        ranges.clear();
        if roomy {
            let mut padded = line.clone();
            padded.prefix.push(&" ".repeat(figure + 2), Token::Text);
            wrap::wrap_line(&padded, inner, &mut ranges);
        } else {
            wrap::wrap_line(line, inner, &mut ranges);
        }
        for (n, range) in ranges.iter().enumerate() {
            let mut front = StyledText::new();
            if n == 0 {
                front.append(&line.gutter);
                if fit.prefix {
                    front.append(&line.prefix);
                }
            } else {
                front.push(&" ".repeat(usize::from(gutter)), Token::Text);
                if fit.hang {
                    front.append(&line.hang);
                }
            }
            let mut text = StyledText::new();
            for (piece, style) in line.text.slice(range.start as usize..range.end as usize) {
                text.push(piece, style);
            }
            let right = if n == 0 && roomy { line.right.clone() } else { StyledText::new() };
            let above = n.checked_sub(1).and_then(|above| ranges.get(above));
            let joint = above.map(|above| if above.end < range.start { " " } else { "" });
            let of_diff = line.of_diff.filter(|_| n == 0);
            out.push(Painted { front, text, right, fill: line.fill, of_diff, joint });
        }
    }
    out
}

/// Writes a row into the first line of `area`.
pub fn row(buf: &mut Buffer, area: Rect, row: &Painted, theme: &Theme) {
    if let Some(token) = row.fill {
        fill(buf, Rect { height: 1, ..area }, token, theme);
    }
    let used = put(buf, area.x, area.y, area.width, &row.front, theme);
    let left = area.width.saturating_sub(used);
    let text = width::truncate_styled(&row.text, usize::from(left));
    let used = used + put(buf, area.x + used, area.y, left, &text, theme);
    put_right(buf, area, used, &row.right, theme);
}
