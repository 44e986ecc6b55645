//! The answer to a side question, above the composer.
//!
//! Shows a session that has no view of its own. Invariant: the question and the keys are there as long as anything is.

use super::paint;
use super::{ViewCx, split_bottom, split_top};
use crate::base::{human, sanitize};
use crate::model::entry::{Body, Entry, FileOutcome, Level};
use crate::model::session::{Phase, Session};
use crate::model::session_ref::SessionRef;
use crate::model::tool::ToolStatus;
use crate::text::line::LogicalLine;
use crate::text::run::StyledText;
use crate::text::token::Token;
use crate::text::width;
use crate::text::wrap::laid_out;
use crate::ui::cells::{self, CellCtx, FOLDED};
use crate::ui::keys::{Action, Layer};
use crate::ui::md;
use crate::ui::msg::FrameInfo;
use crate::ui::state::aside::Aside;
use crate::ui::state::folds::Fold;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::path::PathBuf;

/// The most rows of an answer.
const ROWS: u16 = 12;
/// Entries that are told below an answer.
const MAX_TOLD: usize = 4;
/// Columns of a sign.
const GUTTER: u16 = 2;
/// Columns from which on all keys for one thing are named.
const WIDE: u16 = 72;
/// More of it is to come.
const GOES_ON: &str = "…";

/// At the bottom of `area`; returns what is left above it.
pub fn draw(cx: &ViewCx<'_>, area: Rect, info: &mut FrameInfo, buf: &mut Buffer) -> Rect {
    let Some(aside) = cx.state.asides.beside(cx.session.key()) else { return area };
    let Some(session) = cx.model.at(aside.key) else { return area };
    let room = area.width.saturating_sub(5).max(1);
    let lines = lines(cx, aside, session, room);
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
    let mut keys = cx.dim(Layer::Composer, "{Esc} throws it away");
    if let Some(keep) = keeps(cx, area.width) {
        keys.push(&format!(" · {keep} keeps it"), Token::Dim);
    }
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

/// The keys that keep it. Many terminals do not send all of them.
fn keeps(cx: &ViewCx<'_>, columns: u16) -> Option<String> {
    let keys = cx.state.keys.help(Layer::Composer).find(|row| row.action == Action::Steer)?.keys;
    let last = keys.rsplit(", ").next().unwrap_or_default();
    Some(if columns < WIDE { last.to_owned() } else { keys.replace(", ", " or ") })
}

/// An answer in Markdown, laid out for so many columns.
fn rows_of(answer: &str, columns: u16) -> Vec<StyledText> {
    laid_out(&md::lines(answer.trim_end(), columns), columns)
}

/// What has come of it: the answer, and below it that it goes on, or how it has ended.
fn lines(cx: &ViewCx<'_>, aside: &Aside, session: SessionRef<'_>, columns: u16) -> Vec<StyledText> {
    let words = |words: &str, token| laid_out(&[LogicalLine::text(StyledText::of(words, token))], columns);
    let phase = session.phase();
    let is_over =
        matches!(phase, Phase::Dead(_) | Phase::ReadOnly(_)) || phase == Phase::Ready && session.turn.is_none();
    // A copy may begin with what was said in the conversation.
    if aside.unsent.is_some() {
        return match phase {
            Phase::Dead(death) => words(&sanitize::line(&death.message), Token::Text),
            _ => words(GOES_ON, Token::Dim),
        };
    }
    let said = said(session.session());
    let mut all = if said.trim().is_empty() { Vec::new() } else { rows_of(&said, columns) };
    all.extend(if is_over { end(cx, session, columns) } else { words(GOES_ON, Token::Dim) });
    if all.is_empty() { words("no answer", Token::Text) } else { all }
}

/// What was told after the last words of the answer, as the transcript has it, and what was refused at any time.
fn end(cx: &ViewCx<'_>, session: SessionRef<'_>, columns: u16) -> Vec<StyledText> {
    let roots = [PathBuf::from(&session.cwd)];
    let columns = columns.saturating_sub(GUTTER);
    let ctx = CellCtx { session, fold: Some(Fold::Closed), ..cx.cell_ctx(columns, &roots) };
    let newest = session.entries().iter().rev().take_while(|entry| !matches!(entry.body, Body::User(_)));
    let mut is_behind = true;
    let told = newest.filter(|entry| {
        is_behind &= !matches!(entry.body, Body::Agent(_));
        is_behind && tells(entry) || refuses(entry)
    });
    let mut told: Vec<&Entry> = told.take(MAX_TOLD).collect();
    told.reverse();
    told.into_iter().flat_map(|entry| cells::lines(entry, &ctx)).flat_map(|line| rows(&line, columns)).collect()
}

/// A line of the transcript with its sign in front and its right end behind. Nothing can be unfolded here.
fn rows(line: &LogicalLine, columns: u16) -> Vec<StyledText> {
    let mut rows = laid_out(std::slice::from_ref(line), columns);
    let right = line.right.as_str();
    let right = right.strip_suffix(FOLDED.trim_start()).map_or(right, str::trim_end).len();
    if let Some(first) = rows.first_mut().filter(|_| right > 0) {
        first.push("   ", Token::Dim);
        for (piece, style) in line.right.slice(0..right) {
            first.push(piece, style);
        }
    }
    let sign = if line.gutter.is_empty() { StyledText::of("  ", Token::Dim) } else { line.gutter.clone() };
    let mut signs = std::iter::once(sign).chain(std::iter::repeat(StyledText::of("  ", Token::Dim)));
    for row in &mut rows {
        let mut whole = signs.next().unwrap_or_default();
        whole.append(row);
        *row = whole;
    }
    rows
}

/// Whether something was not allowed. Words that follow need not say so.
fn refuses(entry: &Entry) -> bool {
    match &entry.body {
        Body::Notice(notice) => notice.level == Level::Warn && !notice.by_agent,
        Body::Tool(call) => call.refused,
        Body::File(file) => matches!(file.outcome, FileOutcome::Refused(_)),
        _ => false,
    }
}

/// Whether it says how an answer has ended: words of ours, and calls that came to nothing.
fn tells(entry: &Entry) -> bool {
    match &entry.body {
        Body::Notice(_) => true,
        Body::Tool(call) => call.refused || call.status != ToolStatus::Completed,
        _ => false,
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
