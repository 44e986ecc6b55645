//! The first line of a tool call or a terminal: what it is, its figures and its time.

use super::CellCtx;
use crate::base::human;
use crate::text::line::{LogicalLine, WrapMode};
use crate::text::run::{RunStyle, StyledText};
use crate::text::token::Token;
use crate::text::width::{str_width, truncate_start};
use std::time::Duration;

/// Says that there is more to be opened.
pub const FOLDED: &str = "   ▸";

pub(super) const BETWEEN_NAMES: &str = " · ";

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

/// Files and other names in one row of so many columns, as far as each path can have `least` of them. Of long paths the
/// beginning gives way, and of none more than needed: the name of the file tells them apart.
pub(super) fn names_in(names: &[&str], room: usize, least: usize, style: RunStyle) -> StyledText {
    let between = str_width(BETWEEN_NAMES) * names.len().saturating_sub(1);
    let widths: Vec<usize> = names.iter().map(|name| str_width(name)).collect();
    let fits = |most: &usize| widths.iter().map(|wide| wide.min(most)).sum::<usize>() + between <= room;
    let most = (least..=room).rev().find(fits).unwrap_or(least);
    let mut text = StyledText::new();
    for (at, name) in names.iter().enumerate() {
        text.push(if at == 0 { "" } else { BETWEEN_NAMES }, Token::Dim);
        text.push(&if is_path(name) { truncate_start(name, most) } else { (*name).into() }, style);
    }
    text
}

/// Whether the name of a file is at its end.
pub(super) fn is_path(name: &str) -> bool {
    name.contains('/') && !name.contains(char::is_whitespace)
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
