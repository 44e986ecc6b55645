//! Where the person logs in: a terminal over all but the status line, and the line in which values are typed.
//!
//! Keeps nothing. Invariants: of a value only its length is drawn; the address of a page is said with its host outside of
//! what the program draws.

use super::paint;
use super::{ViewCx, split_bottom, split_top};
use crate::base::sanitize;
use crate::model::login::Keep;
use crate::text::address;
use crate::text::grid::ScreenSnapshot;
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;
use crate::text::width;
use crate::ui::keys::Layer;
use crate::ui::labels;
use crate::ui::msg::FrameInfo;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// Columns of a variable's name.
const VARIABLE: usize = 40;
/// A longer value does not look longer.
const DOTS: usize = 24;

/// Columns and rows of the terminal in an area of the screen.
pub(super) fn size(area: Rect) -> (u16, u16) {
    (area.width.max(1), area.height.saturating_sub(1).max(1))
}

pub(super) fn draw(cx: &ViewCx<'_>, screen: &ScreenSnapshot, area: Rect, buf: &mut Buffer) {
    let (head, body) = split_top(area, 1);
    let mut line = StyledText::of("log-in to ", Token::Dim);
    line.push(&labels::agent(cx.session), RunStyle::from(Token::Text).with_mods(Mods::BOLD));
    if let Some(page) = labels::log_in_page(cx.session) {
        let host = address::host(&page).unwrap_or("a host that cannot be told for certain");
        line.push(&format!(" · page of {host}"), Token::Dim);
        let keys = "{command Ctrl+]}, {composer Tab}, then {question o} opens it, {question c} copies it";
        if let Some(keys) = cx.state.keys.hint(Layer::Terminal, keys) {
            line.push(&format!(": {keys}"), Token::Dim);
        }
    }
    let line = width::truncate_styled(&line, usize::from(head.width.saturating_sub(1)));
    paint::put(buf, head.x, head.y, head.width, &line, cx.theme);
    let from = screen.rows.len().saturating_sub(usize::from(body.height));
    for (row, y) in screen.rows.iter().skip(from).zip(body.y..body.bottom()) {
        paint::put(buf, body.x, y, body.width, row, cx.theme);
    }
}

fn keys(keep: Option<Keep>) -> &'static str {
    match keep {
        None => "{Enter} takes it, for this run only; it is written nowhere · {Esc} leaves",
        Some(Keep::ThisRun) => "{Enter} takes it, for this run only · {Tab}: in the system's keyring · {Esc} leaves",
        Some(Keep::InKeyring) => "{Enter} keeps it in the system's keyring · {Tab}: for this run only · {Esc} leaves",
    }
}

/// The line in which a value is typed; returns what is above it.
pub(super) fn form(cx: &ViewCx<'_>, area: Rect, info: &mut FrameInfo, buf: &mut Buffer) -> Rect {
    let Some(form) = &cx.state.secrets else { return area };
    let (above, at) = split_bottom(area, 2.min(area.height));
    let (line, foot) = split_top(at, 1);
    let (place, all) = form.place();
    let count = if all > 1 { format!(" ({place} of {all})") } else { String::new() };
    let name = sanitize::line(form.variable());
    let mut text = StyledText::of(format!("{}{count}: ", width::truncate(name.trim(), VARIABLE)), Token::Dim);
    text.push(&"•".repeat(form.typed().min(DOTS)), Token::Text);
    let used = paint::put(buf, line.x + 2, line.y, line.width.saturating_sub(3), &text, cx.theme);
    let cursor = (line.x + 2 + used).min(line.right().saturating_sub(1));
    info.cursor = Some(Position { x: cursor, y: line.y });
    if foot.height > 0 {
        let words = match form.trouble {
            Some(trouble) => StyledText::of(trouble, Token::Warn),
            None => cx.dim(Layer::Line, keys(form.keep)),
        };
        let words = width::truncate_styled(&words, usize::from(foot.width.saturating_sub(3)));
        paint::put(buf, foot.x + 2, foot.y, foot.width.saturating_sub(3), &words, cx.theme);
    }
    above
}
