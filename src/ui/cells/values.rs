//! Raw input and output of a tool call as indented JSON, bounded before it is written out.
//!
//! Invariant: work and lines are bounded for any value.

use super::diffs::indented;
use super::lines::dim;
use super::message::capped;
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
    let whole = write(value, 0, &mut text);
    let mut lines = vec![indented(dim(title))];
    lines.extend(capped(&text, MAX_LINES, Token::Dim).into_iter().map(indented));
    if !whole {
        lines.push(indented(dim("… more")));
    }
    lines
}

/// Whether everything was written.
fn write(value: &Value, depth: usize, out: &mut String) -> bool {
    if out.len() > MAX_BYTES || depth > 64 {
        return false;
    }
    let pad = "  ".repeat(depth + 1);
    match value {
        // A text of several lines is easier to read as such.
        Value::String(s) if s.contains('\n') => {
            let cut = s.floor_char_boundary(MAX_BYTES);
            for line in s.get(..cut).unwrap_or_default().lines() {
                out.push('\n');
                out.push_str(&pad);
                out.push_str(line);
            }
            cut == s.len()
        }
        Value::String(s) => {
            let cut = s.floor_char_boundary(MAX_BYTES);
            out.push_str(s.get(..cut).unwrap_or_default());
            cut == s.len()
        }
        Value::Array(items) if !items.is_empty() => items.iter().all(|item| {
            out.push('\n');
            out.push_str(&pad);
            out.push_str("- ");
            write(item, depth + 1, out)
        }),
        Value::Object(members) if !members.is_empty() => members.iter().enumerate().all(|(n, (key, item))| {
            if depth > 0 || n > 0 {
                out.push('\n');
            }
            out.push_str(&"  ".repeat(depth));
            out.push_str(key.get(..key.floor_char_boundary(200)).unwrap_or_default());
            out.push_str(": ");
            write(item, depth + 1, out)
        }),
        other => {
            out.push_str(&other.to_string());
            true
        }
    }
}
