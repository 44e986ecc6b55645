//! The answer to a side question, above the composer.
//!
//! Shows a session that has no view of its own. Invariant: the question and the keys are there as long as anything is.

use super::paint;
use super::{ViewCx, split_bottom, split_top};
use crate::base::{human, sanitize};
use crate::model::entry::Body;
use crate::model::session::{Phase, Session};
use crate::model::session_ref::SessionRef;
use crate::text::run::StyledText;
use crate::text::token::Token;
use crate::text::width;
use crate::text::wrap::laid_out;
use crate::ui::keys::Layer;
use crate::ui::md;
use crate::ui::msg::FrameInfo;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The most rows of an answer.
const ROWS: u16 = 12;

/// At the bottom of `area`; returns what is left above it.
pub fn draw(cx: &ViewCx<'_>, area: Rect, info: &mut FrameInfo, buf: &mut Buffer) -> Rect {
    let Some(aside) = cx.state.asides.beside(cx.session.key()) else { return area };
    let Some(session) = cx.model.at(aside.key) else { return area };
    let room = area.width.saturating_sub(5).max(1);
    let lines = rows_of(&answer(session), room);
    let rows = u16::try_from(lines.len()).unwrap_or(ROWS).clamp(1, ROWS).min((area.height / 2).saturating_sub(1));
    let changed = changed(session);
    let (above, at) = split_bottom(area, rows + 1 + u16::from(changed.is_some()));
    if at.height == 0 {
        return area;
    }
    let (head, body) = split_top(at, 1);
    let (told, body) = split_top(body, u16::from(changed.is_some()).min(body.height.saturating_sub(1)));
    info.aside_scroll_max = lines.len().saturating_sub(usize::from(body.height));
    paint::fill(buf, at, Token::Question, cx.theme);
    let keys = cx.dim(Layer::Composer, "{Esc} throws it away · {Alt+S} keeps it");
    let spare = usize::from(head.width).saturating_sub(width::styled_width(&keys) + 4);
    let mut title = StyledText::of("btw ", Token::Accent);
    title.push(&width::truncate(&sanitize::line(&aside.question), spare.saturating_sub(4)), Token::User);
    let used = paint::put(buf, head.x + 2, head.y, head.width.saturating_sub(2), &title, cx.theme);
    paint::put_right(buf, Rect { width: head.width.saturating_sub(1), ..head }, used + 2, &keys, cx.theme);
    if let Some(files) = changed.filter(|_| told.height > 0) {
        let key = cx.say(Layer::Composer, ": {F3}");
        let words = format!("this answer changed {}{key}", human::count(files, "file"));
        paint::put(buf, told.x + 4, told.y, room, &StyledText::of(&words, Token::Warn), cx.theme);
    }
    let first = aside.scroll.min(info.aside_scroll_max);
    for (line, y) in lines.iter().skip(first).zip(body.y..body.bottom()) {
        paint::put(buf, body.x + 4, y, room, line, cx.theme);
    }
    above
}

/// An answer in Markdown, laid out for so many columns.
fn rows_of(answer: &str, columns: u16) -> Vec<StyledText> {
    laid_out(&md::lines(answer.trim_end(), columns), columns)
}

/// What has come of it.
fn answer(session: SessionRef<'_>) -> String {
    let said = said(session.session());
    match session.phase() {
        _ if !said.trim().is_empty() => said,
        Phase::Dead(death) => death.message.clone(),
        Phase::Ready if session.turn.is_none() && session.ended.is_some() => "no answer".to_owned(),
        _ => "…".to_owned(),
    }
}

/// How many files its agent has changed all the same, as far as they were looked at.
fn changed(session: SessionRef<'_>) -> Option<u64> {
    let files = session.changes().turns.values().map(|totals| totals.files).sum();
    (files > 0).then_some(files)
}

/// The agent's words since the question.
fn said(session: &Session) -> String {
    let newest = session.entries().iter().rev().take_while(|entry| !matches!(entry.body, Body::User(_)));
    let mut parts: Vec<&str> = newest
        .filter_map(|entry| match &entry.body {
            Body::Agent(message) => Some(message.text.as_str()),
            _ => None,
        })
        .collect();
    parts.reverse();
    parts.join("\n\n")
}
