//! What a command printed: the emulator's screen when there is one, else the text with its colours.
//!
//! Runs nothing and keeps nothing. Invariant: of a long output only the end is parsed.

use super::diffs::{INDENT, indented};
use super::head::{Clock, FOLDED, head, pad_verb};
use super::lines::{dim, more_lines};
use super::{CellCtx, SPINNER, gutter};
use crate::model::ids::TermId;
use crate::model::terminal::{Terminal, TerminalOrigin};
use crate::text::ansi;
use crate::text::line::{LogicalLine, WrapMode};
use crate::text::run::StyledText;
use crate::text::token::Token;
use crate::text::width;
use crate::ui::labels::clock;
use crate::ui::state::folds::Fold;
use crate::ui::state::timing::QUIET;

/// Rows of what runs.
pub(super) const PREVIEW: usize = 8;
/// Rows of what has finished.
pub(super) const TAIL: usize = 3;
/// Rows of what was opened.
pub(super) const OPENED: usize = 2000;
/// Rows of the emulator that a line has more than are shown, to be shown from its beginning on.
const LONG_LINE: usize = 16;
/// Bytes that a preview parses for each row that it shows.
const BYTES_A_ROW: usize = 2048;

pub(super) fn failed(t: &Terminal) -> bool {
    t.exit.as_ref().is_some_and(|e| !e.is_success())
}

/// A terminal that no tool call shows.
pub(super) fn own(id: &TermId, ctx: &CellCtx<'_>) -> Vec<LogicalLine> {
    let Some(t) = ctx.session.terminal(id) else { return Vec::new() };
    let (glyph, token) = if t.is_running() {
        (SPINNER, Token::SignRun)
    } else if failed(t) {
        ("✗", Token::SignBad)
    } else {
        ("✓", Token::SignGood)
    };
    let time = if t.is_running() {
        Clock::Running(ctx.now.saturating_sub(t.started))
    } else {
        t.ended.map_or(Clock::None, |ended| Clock::Took(ended.saturating_sub(t.started)))
    };
    let object = StyledText::from(super::message::label(&t.command).as_str());
    let exit = t.exit.as_ref().filter(|exit| exit.is_known() && !exit.is_success());
    let exit = exit.map_or_else(StyledText::new, |exit| StyledText::of(exit.to_string(), Token::Bad));
    let mut lines = vec![head(gutter(glyph, token), pad_verb("run", ctx.width), object, exit, time, ctx)];
    let rows = match ctx.fold {
        Some(Fold::Open) => OPENED,
        Some(Fold::Closed) => 0,
        _ if t.is_running() || failed(t) => PREVIEW,
        _ => 0,
    };
    let is_tail = ctx.fold.is_none() && rows == 0;
    lines.extend(if is_tail { tail(t, TAIL) } else { body(t, rows) });
    lines.extend(quiet(t, ctx));
    lines
}

/// Says that a command may wait for input, and the keys that help. They act on the newest
/// command, so only that one names them.
pub(super) fn quiet(t: &Terminal, ctx: &CellCtx<'_>) -> Option<LogicalLine> {
    let since = ctx.now.saturating_sub(t.moved);
    if since < QUIET || !t.is_running() || t.released {
        return None;
    }
    let time = clock(since);
    let newest = ctx.session.running_terminal().is_some_and(|n| n.id == t.id);
    let hints: &[(&str, &'static str)] = if ctx.typing == Some(&t.id) {
        &[("nothing for ", " · {command Ctrl+]} back to writing"), ("quiet ", " · {command Ctrl+]} back")]
    } else if newest {
        &[
            ("nothing for ", " · {F6} types into it · {F7} kills it"),
            ("nothing for ", " · {F6} types · {F7} kills"),
            ("quiet ", " · {F6} type {F7} kill"),
        ]
    } else {
        &[("nothing for ", "")]
    };
    let room = usize::from(ctx.width).saturating_sub(INDENT.len());
    let texts = hints.iter().map(|(what, keys)| {
        let mut text = StyledText::of(format!("{what}{time}"), Token::Warn);
        text.push(&ctx.say(keys), Token::Dim);
        text
    });
    let mut last = None;
    for text in texts {
        let fits = width::styled_width(&text) <= room;
        last = Some(text);
        if fits {
            break;
        }
    }
    last.map(LogicalLine::text).map(indented)
}

/// The end of the output.
pub(super) fn body(t: &Terminal, max: usize) -> Vec<LogicalLine> {
    let mut lines = Vec::new();
    if max > 0 {
        let (rows, more) = output(t, max);
        if more && max <= PREVIEW && !t.is_running() {
            return end_of(rows, more);
        }
        if t.origin == TerminalOrigin::Unknown && rows.is_empty() {
            lines.push(indented(dim("terminal output not available")));
        }
        if more && max > PREVIEW {
            lines.push(indented(dim("… earlier output is left out")));
        }
        lines.extend(
            rows.into_iter()
                .map(|text| indented(LogicalLine { text, wrap: WrapMode::Anywhere, ..LogicalLine::default() })),
        );
    }
    lines
}

/// The last rows of what a finished command printed.
pub(super) fn tail(t: &Terminal, max: usize) -> Vec<LogicalLine> {
    let (rows, more) = output(t, max);
    end_of(rows, more)
}

/// The last rows of what a command printed, as the emulator has them, for what stands outside of the transcript; whether
/// there are more above.
pub fn printed(t: &Terminal, max: usize) -> (Vec<StyledText>, bool) {
    let Some(screen) = &t.screen else { return output(t, max) };
    let used = screen.rows.iter().rposition(|row| !row.as_str().trim().is_empty()).map_or(0, |last| last + 1);
    let from = used.saturating_sub(max);
    let rows = screen.rows.get(from..used).unwrap_or_default().to_vec();
    (rows, from > 0 || screen.dropped_rows > 0)
}

/// Rows below each other, and a sign above them that there were more.
pub(super) fn end_of(rows: Vec<StyledText>, more: bool) -> Vec<LogicalLine> {
    let above = more.then(|| LogicalLine {
        prefix: StyledText::of(format!("{INDENT}⋯"), Token::Dim),
        right: StyledText::of(FOLDED.trim_start(), Token::Dim),
        wrap: WrapMode::Truncate,
        ..LogicalLine::default()
    });
    let rows = rows.into_iter().map(|text| LogicalLine { text, wrap: WrapMode::Anywhere, ..LogicalLine::default() });
    above.into_iter().chain(rows.map(indented)).collect()
}

/// The last lines, whatever width the emulator has broken them at, and whether there are more above.
fn output(t: &Terminal, max: usize) -> (Vec<StyledText>, bool) {
    if let Some(screen) = &t.screen {
        return screen.last_lines(max, LONG_LINE);
    }
    let (rows, more) = last_rows(t.text.as_str(), max);
    (rows, more || t.text.truncated())
}

/// The last rows of a text with colours.
pub(super) fn last_rows(text: &str, max: usize) -> (Vec<StyledText>, bool) {
    let budget = max.saturating_mul(BYTES_A_ROW);
    let mut from = text.ceil_char_boundary(text.len().saturating_sub(budget));
    if from > 0 {
        from += text.get(from..).and_then(|t| t.find('\n')).map_or(0, |n| n + 1);
    }
    let mut rows = ansi::parse(text.get(from..).unwrap_or_default());
    while rows.last().is_some_and(|r| r.as_str().trim().is_empty()) {
        rows.pop();
    }
    let skip = rows.len().saturating_sub(max);
    (rows.split_off(skip), skip > 0 || from > 0)
}

/// The first rows of a text with colours, and a line that says that there are more.
pub(super) fn first_rows(text: &str, max: usize) -> Vec<LogicalLine> {
    let cut = text.floor_char_boundary(max.saturating_mul(BYTES_A_ROW));
    let mut rows = ansi::parse(text.get(..cut).unwrap_or_default());
    while rows.last().is_some_and(|r| r.as_str().trim().is_empty()) {
        rows.pop();
    }
    let more = rows.len().saturating_sub(max);
    rows.truncate(max);
    let mut lines: Vec<LogicalLine> = rows
        .into_iter()
        .map(|text| indented(LogicalLine { text, wrap: WrapMode::Anywhere, ..LogicalLine::default() }))
        .collect();
    if more > 0 || cut < text.len() {
        lines.push(indented(more_lines(more, cut < text.len())));
    }
    lines
}
