//! The first line of a tool call or a terminal: what it is, its figures and its time.

use super::CellCtx;
use crate::base::human;
use crate::text::line::{LogicalLine, WrapMode};
use crate::text::run::StyledText;
use crate::text::token::Token;
use std::time::Duration;

/// Says that there is more to be opened.
pub const FOLDED: &str = "   ▸";

/// The time at the right end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Clock {
    None,
    Running(Duration),
    Took(Duration),
}

/// The first line: glyph, verb, object; figures and time at the right.
pub(super) fn head(
    gutter: StyledText,
    prefix: StyledText,
    text: StyledText,
    figures: StyledText,
    clock: Clock,
    ctx: &CellCtx<'_>,
) -> LogicalLine {
    let mut right = figures;
    let time = match clock {
        Clock::Running(d) => human::duration(d),
        Clock::Took(d) if d.as_millis() >= 100 && ctx.width >= 90 => human::precise(d),
        Clock::Took(_) | Clock::None => String::new(),
    };
    if !time.is_empty() {
        if !right.is_empty() {
            right.push("   ", Token::Dim);
        }
        right.push(&time, Token::Dim);
    }
    LogicalLine { gutter, prefix, text, right, wrap: WrapMode::Truncate, ..LogicalLine::default() }
}

/// The verb in a column that shrinks with the width.
pub(super) fn pad_verb(verb: &str, width: u16) -> StyledText {
    let columns = match width {
        0..50 => 4,
        50..90 => 6,
        _ => 8,
    };
    StyledText::of(format!("{verb:<columns$} "), Token::Text)
}
