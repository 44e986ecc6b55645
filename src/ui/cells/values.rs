//! Raw input and output of a tool call as indented JSON, bounded before it is written out.
//!
//! Invariant: work and lines are bounded for any value.

use super::diffs::indented;
use super::lines::dim;
use super::message::capped;
use crate::base::outline;
use crate::text::line::LogicalLine;
use crate::text::token::Token;
use serde_json::Value;

const MAX_LINES: usize = 200;
const MAX_BYTES: usize = 32 << 10;

pub(super) fn lines(title: &str, value: &Value) -> Vec<LogicalLine> {
    if matches!(value, Value::Null) || value.as_object().is_some_and(serde_json::Map::is_empty) {
        return Vec::new();
    }
    let mut text = String::new();
    let whole = outline::write(value, MAX_BYTES, &mut text);
    let mut lines = vec![indented(dim(title))];
    lines.extend(capped(&text, MAX_LINES, Token::Dim).into_iter().map(indented));
    if !whole {
        lines.push(indented(dim("… more")));
    }
    lines
}
