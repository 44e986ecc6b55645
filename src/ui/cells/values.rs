//! Raw input and output of a tool call as indented JSON, bounded before it is written out.
//!
//! Invariant: work and lines are bounded for any value.

use super::diffs::indented;
use super::lines::dim;
use super::message::capped;
use crate::base::limits::MAX_COMMAND_LINES;
use crate::base::outline;
use crate::text::line::LogicalLine;
use crate::text::run::StyledText;
use crate::text::token::Token;
use serde_json::Value;

/// Lines and bytes of a value where it is one of many, and where it is read as a whole.
const SOME: (usize, usize) = (200, 32 << 10);
const WHOLE: (usize, usize) = (MAX_COMMAND_LINES, 100 << 10);

pub(super) fn lines(title: &str, value: &Value) -> Vec<LogicalLine> {
    within(title, value, SOME).0
}

/// The same, and whether that is all.
pub(super) fn some(title: &str, value: &Value) -> (Vec<LogicalLine>, bool) {
    within(title, value, SOME)
}

/// As much of it as of a long command, and whether that is all.
pub(super) fn whole(title: &str, value: &Value) -> (Vec<LogicalLine>, bool) {
    within(title, value, WHOLE)
}

fn within(title: &str, value: &Value, (most, bytes): (usize, usize)) -> (Vec<LogicalLine>, bool) {
    if matches!(value, Value::Null) || value.as_object().is_some_and(serde_json::Map::is_empty) {
        return (Vec::new(), true);
    }
    let mut text = String::new();
    let is_written = outline::write(value, bytes, &mut text);
    let mut said = capped(&text, most, Token::Dim);
    let is_whole = is_written && said.len() <= most;
    if is_whole
        && said.len() == 1
        && let Some(line) = said.pop()
    {
        return (vec![indented(beside(title, line))], true);
    }
    let mut lines = vec![indented(dim(title))];
    lines.extend(said.into_iter().map(indented));
    if !is_written {
        lines.push(indented(dim("… more")));
    }
    (lines, is_whole)
}

/// One line has its title in front of it.
fn beside(title: &str, line: LogicalLine) -> LogicalLine {
    let front = format!("{title}  ");
    let hang = StyledText::from(" ".repeat(front.len()).as_str());
    LogicalLine { prefix: StyledText::of(front, Token::Dim), hang, ..line }
}
