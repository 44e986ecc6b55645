//! The end of a turn that changed something: time, calls, sums, and how to look at it.
//!
//! Draws the sums as they were at the end of the turn. Invariants: no more is said to be open than is open in the whole
//! session now; "nothing changed" is said of the session's directory alone.

use super::{CellCtx, gutter};
use crate::base::{human, paths};
use crate::model::entry::{Body, Entry, TurnChanges};
use crate::model::session_ref::SessionRef;
use crate::model::tool::{ToolCall, ToolContent, ToolKind, ToolStatus};
use crate::text::line::{LogicalLine, WrapMode};
use crate::text::run::StyledText;
use crate::text::token::Token;
use crate::text::width;
use crate::ui::labels;
use std::collections::BTreeSet;
use std::path::Path;

/// Entries of a turn that are looked at.
const LOOK_BACK: usize = 2000;
/// Opens the review.
const KEY: &str = " F3";
/// Columns of a rule that is still one, with the blank before it.
const SHORTEST_RULE: usize = 4;

pub(super) fn lines(entry: &Entry, changes: &TurnChanges, ctx: &CellCtx<'_>) -> Vec<LogicalLine> {
    let session = ctx.session;
    let mut totals = changes.totals;
    totals.pending = totals.pending.min(session.changes().totals.pending);
    let mut sums = StyledText::new();
    // There is nothing to look at then.
    let (glyph, key) = if totals.is_empty() { ("─", "") } else { ("±", KEY) };
    let (effort, outside) = effort(entry, changes, session);
    if totals.is_empty() {
        sums.push("nothing changed here", Token::Dim);
    } else {
        sums.push(&format!("+{}", totals.added), Token::Good);
        sums.push(&format!(" −{}", totals.removed), Token::Bad);
        sums.push(&format!(" in {}", human::count(totals.files, "file")), Token::Dim);
    }
    if let Some(open) = labels::to_review(totals) {
        sums.push(&format!(" · {open}"), Token::Text);
    }
    if outside > 0 {
        sums.push(&format!(" · {} outside: not reviewed", human::count(outside, "file")), Token::Warn);
    }
    let mut text = StyledText::new();
    // It was looked at for so long that the next prompt stands above.
    if entry.turn != changes.turn {
        text.push(&format!("turn {}: ", changes.turn.0), Token::Dim);
    }
    let left = |text: &StyledText| {
        let said = width::styled_width(text) + width::styled_width(&sums) + key.len() + SHORTEST_RULE;
        usize::from(ctx.width).checked_sub(said)
    };
    if let Some(effort) = effort.map(|effort| format!("{effort} · "))
        && left(&text).is_some_and(|room| room >= width::str_width(&effort))
    {
        text.push(&effort, Token::Dim);
    }
    // A rule up to the key; without room for one, words that may need two rows.
    let room = left(&text);
    text.append(&sums);
    match room {
        Some(room) => text.push(&format!(" {}", "─".repeat(room + SHORTEST_RULE - 1)), Token::Rule),
        None if key.is_empty() => {}
        None => text.push(" ·", Token::Dim),
    }
    text.push(key, Token::Dim);
    let wrap = if room.is_some() { WrapMode::Truncate } else { WrapMode::Words };
    vec![LogicalLine { gutter: gutter(glyph, Token::Dim), wrap, ..LogicalLine::text(text) }]
}

/// How long the turn took and how many calls it made, as far as that is in memory, and how many files outside of the
/// session's directory its calls changed: the review does not look there.
fn effort(entry: &Entry, changes: &TurnChanges, session: SessionRef<'_>) -> (Option<String>, u64) {
    let entries = session.entries();
    let cwd = paths::normalize(Path::new(&session.cwd));
    let mut outside = BTreeSet::new();
    let mut calls = 0;
    let mut took = None;
    let index = entries.index_of(entry.id).unwrap_or(0);
    for at in (index.saturating_sub(LOOK_BACK)..index).rev() {
        let Some(before) = entries.at(at) else { break };
        match &before.body {
            Body::User(_) if before.turn == changes.turn => {
                took = Some(human::duration(entry.at.saturating_sub(before.at)));
                break;
            }
            Body::Tool(call) if before.turn == changes.turn => {
                calls += 1;
                outside.extend(written(call).map(|path| paths::normalize(Path::new(path))));
            }
            Body::File(file) if file.is_outside && before.turn == changes.turn => {
                outside.insert(paths::normalize(Path::new(&file.path)));
            }
            _ => {}
        }
    }
    outside.retain(|path| path.is_absolute() && !path.starts_with(&cwd));
    let effort = took.map(|took| match calls {
        0 => took,
        calls => format!("{took} · {}", human::count(calls, "call")),
    });
    (effort, outside.len() as u64)
}

/// Files that a call changed, as it says itself.
fn written(call: &ToolCall) -> impl Iterator<Item = &str> {
    let changes = call.content.iter().filter_map(ToolContent::change).map(|change| change.path.as_str());
    let may_write = matches!(call.kind, ToolKind::Edit | ToolKind::Delete | ToolKind::Move);
    let named = call.locations.iter().filter(move |_| may_write).map(|location| location.path.as_str());
    changes.chain(named).filter(|_| call.status == ToolStatus::Completed)
}

/// As it is copied.
pub(super) fn source(changes: &TurnChanges) -> String {
    labels::sums(changes.totals)
}
