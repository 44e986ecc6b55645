//! What of blocks and calls is text, to be found.
//!
//! Knows no session and no order. Invariant: what a call says twice is there once.

use crate::model::entry::Block;
use crate::model::tool::{ChangeBody, ToolCall, ToolContent};
use serde_json::Value;

pub(super) fn text_of(block: &Block) -> String {
    match block {
        Block::Text(text) => text.clone(),
        Block::Other { label, uri, text, .. } => {
            let parts = [Some(label), uri.as_ref(), text.as_ref()];
            parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join("\n")
        }
    }
}

/// The files that a call is about.
pub(super) fn files(tool: &ToolCall) -> Vec<String> {
    let changed = tool.content.iter().filter_map(|content| match content {
        ToolContent::Change(change) => Some(change.path.clone()),
        _ => None,
    });
    tool.locations.iter().map(|location| location.path.clone()).chain(changed).collect()
}

/// Everything of a call that is text, a part a line.
pub(super) fn text_of_call(tool: &ToolCall, printed: &str) -> String {
    let mut parts: Vec<String> = vec![tool.title.clone()];
    parts.extend(tool.locations.iter().map(|location| location.path.clone()));
    if let Some(input) = &tool.raw_input {
        strings(input, &mut parts);
    }
    for content in &tool.content {
        match content {
            ToolContent::Block(block) | ToolContent::Unread(block) => parts.push(text_of(block)),
            ToolContent::Change(change) => {
                parts.push(change.path.clone());
                parts.extend(change.from.clone());
                match &change.body {
                    ChangeBody::Texts { old, new } => {
                        parts.extend(old.as_deref().map(str::to_owned));
                        parts.push(new.to_string());
                    }
                    ChangeBody::Patch(patch) => parts.push(patch.to_string()),
                    ChangeBody::Nothing => {}
                }
            }
            ToolContent::Terminal(_) => {}
        }
    }
    // It says the same once more where there is content.
    if let Some(output) = tool.raw_output.as_ref().filter(|_| tool.content.is_empty()) {
        strings(output, &mut parts);
    }
    parts.push(printed.to_owned());
    let mut seen = std::collections::HashSet::new();
    parts.retain(|part| !part.is_empty() && seen.insert(part.clone()));
    parts.join("\n")
}

fn strings(value: &Value, parts: &mut Vec<String>) {
    match value {
        Value::String(text) => parts.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|value| strings(value, parts)),
        Value::Object(map) => map.values().for_each(|value| strings(value, parts)),
        _ => {}
    }
}
