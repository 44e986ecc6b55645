//! The end of a turn: time, calls, and where something was changed the sums and how to look at it.
//!
//! Draws the sums as they were at the end of the turn. Invariants: no more is said to be open than is open in the whole
//! session now; "nothing changed" is said of the session's directory alone.

use super::{CellCtx, gutter};
use crate::base::human;
use crate::model::effort::Effort;
use crate::model::entry::{Body, Entry, TurnChanges};
use crate::model::spent::Spent;
use crate::text::line::{LogicalLine, WrapMode};
use crate::text::run::StyledText;
use crate::text::token::Token;
use crate::text::width;
use crate::ui::labels;

/// Columns of a rule that is still one, with the blank before it.
const SHORTEST_RULE: usize = 4;

pub(super) fn lines(entry: &Entry, changes: &TurnChanges, ctx: &CellCtx<'_>) -> Vec<LogicalLine> {
    let session = ctx.session;
    let mut totals = changes.totals;
    totals.pending = totals.pending.min(session.changes().totals.pending);
    let mut sums = StyledText::new();
    // There is nothing to look at then.
    let opens = || ctx.say(" {F3}");
    let (glyph, key) = if totals.is_empty() { ("─", String::new()) } else { ("±", opens()) };
    let effort = changes.effort;
    if !totals.is_empty() {
        sums.push(&format!("+{}", totals.added), Token::Good);
        sums.push(&format!(" −{}", totals.removed), Token::Bad);
        sums.push(&format!(" in {}", human::count(totals.files, "file")), Token::Dim);
    } else if changes.is_unknown {
        // It is being looked for, or why it is not known stands in the transcript.
    } else if session.changes().is_on && (effort.calls > 0 || effort.outside > 0) {
        sums.push(if effort.outside > 0 { "nothing changed here" } else { "nothing changed" }, Token::Dim);
    }
    if let Some(open) = labels::to_review(totals) {
        sums.push(&format!(" · {open}"), Token::Text);
    }
    if let Some(words) = outside(effort.outside) {
        let dot = if sums.is_empty() { "" } else { " · " };
        sums.push(&format!("{dot}{words}"), Token::Warn);
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
    let dot = if sums.is_empty() { "" } else { " · " };
    let words = done(effort, changes.spent);
    if sums.is_empty() && words.is_empty() {
        text.push("the end of the turn", Token::Dim);
    }
    // The last of them gives way first.
    let all = (1..=words.len()).rev().filter_map(|upto| words.get(..upto));
    let fits = |words: &String| left(&text).is_some_and(|room| room >= width::str_width(words));
    if let Some(words) = all.map(|some| format!("{}{dot}", some.join(" · "))).find(fits) {
        text.push(&words, Token::Dim);
    }
    // A rule up to the key; without room for one, words that may need two rows.
    let room = left(&text);
    text.append(&sums);
    match room {
        Some(room) => text.push(&format!(" {}", "─".repeat(room + SHORTEST_RULE - 1)), Token::Rule),
        None if key.is_empty() => {}
        None => text.push(" ·", Token::Dim),
    }
    text.push(&key, Token::Dim);
    let wrap = if room.is_some() { WrapMode::Truncate } else { WrapMode::Words };
    vec![LogicalLine { gutter: gutter(glyph, Token::Dim), wrap, ..LogicalLine::text(text) }]
}

/// What a turn has changed, by the entry of its end, in words; nothing of the directory where that is not known.
pub fn changed(entry: &Entry) -> Vec<String> {
    let Body::Changes(changes) = &entry.body else { return Vec::new() };
    let here = match changes.totals {
        totals if !totals.is_empty() => Some(labels::lines_in_files(totals)),
        _ => (!changes.is_unknown).then(|| "nothing changed".to_owned()),
    };
    here.into_iter().chain(outside(changes.effort.outside)).collect()
}

fn outside(files: u64) -> Option<String> {
    (files > 0).then(|| format!("{} outside: not reviewed", human::count(files, "file")))
}

fn done(effort: Effort, spent: Option<Spent>) -> Vec<String> {
    let took = spent.map(|spent| human::precise(spent.agent));
    let calls = (effort.calls > 0).then(|| human::count(effort.calls, "call"));
    took.into_iter().chain(calls).chain(spent.and_then(labels::waited)).collect()
}

/// As it is copied.
pub(super) fn source(changes: &TurnChanges) -> String {
    if changes.totals.is_empty() { String::new() } else { labels::sums(changes.totals) }
}
