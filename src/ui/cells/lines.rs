//! Lines that several kinds of entries have.

use crate::base::human;
use crate::text::line::LogicalLine;
use crate::text::run::StyledText;
use crate::text::token::Token;

pub(super) fn dim(text: impl Into<String>) -> LogicalLine {
    LogicalLine::text(StyledText::of(text, Token::Dim))
}

/// `… 40 more lines`
pub(super) fn more_lines(count: usize, at_least: bool) -> LogicalLine {
    let noun = human::plural(count as u64, "line");
    dim(match (count, at_least) {
        (0, _) => "… more".to_owned(),
        (n, true) => format!("… more than {n} {noun} more"),
        (n, false) => format!("… {n} more {noun}"),
    })
}
