//! What a turn changed on the disk: one line of sums, and how to look at it.
//!
//! Draws the sums as they were at the end of the turn. Invariant: no more is said to be open than is open in the whole
//! session now.

use super::gutter;
use crate::base::human;
use crate::model::entry::{Entry, TurnChanges};
use crate::model::session_ref::SessionRef;
use crate::text::line::LogicalLine;
use crate::text::run::StyledText;
use crate::text::token::Token;
use crate::ui::labels;

pub(super) fn lines(entry: &Entry, changes: &TurnChanges, session: SessionRef<'_>) -> Vec<LogicalLine> {
    let mut totals = changes.totals;
    totals.pending = totals.pending.min(session.changes().totals.pending);
    let mut text = StyledText::new();
    // It was looked at for so long that the next prompt stands above.
    if entry.turn != changes.turn {
        text.push(&format!("turn {}: ", changes.turn.0), Token::Dim);
    }
    text.push(&format!("+{}", totals.added), Token::Good);
    text.push(&format!(" −{}", totals.removed), Token::Bad);
    text.push(&format!(" in {}", human::count(totals.files, "file")), Token::Dim);
    if let Some(open) = labels::to_review(totals) {
        text.push(&format!(" · {open}"), Token::Text);
    }
    text.push(" · Alt+R", Token::Dim);
    vec![LogicalLine { gutter: gutter("±", Token::Dim), ..LogicalLine::text(text) }]
}

/// As it is copied.
pub(super) fn source(changes: &TurnChanges) -> String {
    labels::sums(changes.totals)
}
