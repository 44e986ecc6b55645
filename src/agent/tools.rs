//! Tool calls from JSON: one reader for `tool_call`, `tool_call_update` and the `toolCall` of a permission request.
//!
//! The typed schema drops list elements that it does not know; a person shall see a placeholder instead, so
//! the lists are walked here and only their leaves are typed.

use super::content::{block, list_of, str_of, string_of, u32_of};
use crate::model::entry::Block;
use crate::model::event::AuthKind;
use crate::model::ids::{TermId, ToolId};
use crate::model::tool::{Exit, Location, TerminalMeta, ToolContent, ToolKind, ToolPatch, ToolStatus};
use serde_json::Value;

/// Which unknown statuses mean what: `pending` when a call is announced, no change in an update (section 3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    Announcement,
    Update,
}

/// `None` when there is no usable id.
pub fn patch(value: &Value, form: Form) -> Option<ToolPatch> {
    let id = match value.get("toolCallId")? {
        Value::String(id) => id.clone(),
        Value::Number(n) => n.to_string(),
        _ => return None,
    };
    let mut patch = ToolPatch::new(ToolId::from(id));
    patch.title = string_of(value, "title");
    patch.name = string_of(value, "name");
    patch.kind = str_of(value, "kind").map(kind);
    patch.status = value.get("status").and_then(|s| status(s, form));
    patch.content = value.get("content").and_then(Value::as_array).map(|c| c.iter().map(content).collect());
    patch.locations = value.get("locations").and_then(Value::as_array).map(|l| l.iter().filter_map(location).collect());
    patch.raw_input = value.get("rawInput").filter(|v| !v.is_null()).cloned();
    patch.raw_output = value.get("rawOutput").filter(|v| !v.is_null()).cloned();
    patch.terminal = value.get("_meta").map(terminal_meta).unwrap_or_default();
    Some(patch)
}

fn kind(name: &str) -> ToolKind {
    serde_json::from_value(Value::String(name.to_owned())).unwrap_or(ToolKind::Other)
}

fn status(value: &Value, form: Form) -> Option<ToolStatus> {
    match (value.as_str(), form) {
        (Some("pending"), _) => Some(ToolStatus::Pending),
        (Some("in_progress"), _) => Some(ToolStatus::InProgress),
        (Some("completed"), _) => Some(ToolStatus::Completed),
        (Some("failed"), _) => Some(ToolStatus::Failed),
        (Some(_), Form::Announcement) => Some(ToolStatus::Pending),
        _ => None,
    }
}

fn content(value: &Value) -> ToolContent {
    match str_of(value, "type") {
        Some("content") => ToolContent::Block(value.get("content").map_or_else(unreadable, block)),
        Some("diff") => match (str_of(value, "path"), str_of(value, "newText")) {
            (Some(path), Some(new)) => ToolContent::Diff {
                path: path.to_owned(),
                old: str_of(value, "oldText").map(Into::into),
                new: new.into(),
            },
            _ => ToolContent::Block(unreadable()),
        },
        Some("terminal") => match str_of(value, "terminalId") {
            Some(id) => ToolContent::Terminal(TermId::from(id)),
            None => ToolContent::Block(unreadable()),
        },
        // A bare block counts as wrapped; what is neither is labelled with its type.
        _ => ToolContent::Block(block(value)),
    }
}

fn unreadable() -> Block {
    Block::Other { label: "content that cannot be read".into(), uri: None, text: None }
}

fn location(value: &Value) -> Option<Location> {
    Some(Location { path: string_of(value, "path")?, line: u32_of(value, "line") })
}

/// shell output of Codex, Claude and pi comes this way.
fn terminal_meta(meta: &Value) -> TerminalMeta {
    let named = |member: &str| {
        let object = meta.get(member)?;
        Some((TermId::from(str_of(object, "terminal_id")?), object))
    };
    TerminalMeta {
        info: named("terminal_info").map(|(id, o)| (id, string_of(o, "cwd"))),
        output: named("terminal_output")
            .or_else(|| named("terminal_output_delta"))
            .and_then(|(id, o)| Some((id, string_of(o, "data")?))),
        exit: named("terminal_exit").map(|(id, o)| (id, exit(o))),
    }
}

fn exit(value: &Value) -> Exit {
    Exit { code: u32_of(value, "exit_code"), signal: string_of(value, "signal") }
}

/// `{command, args, env}` of `_meta["terminal-auth"]`.
pub fn login_command(value: &Value) -> Option<AuthKind> {
    let command = string_of(value, "command")?;
    let args = list_of(value, "args").iter().filter_map(|a| a.as_str().map(str::to_owned)).collect();
    Some(AuthKind::Command { command, args, env: env_map(value.get("env")) })
}

pub fn env_map(value: Option<&Value>) -> Vec<(String, String)> {
    let Some(Value::Object(map)) = value else { return Vec::new() };
    map.iter().filter_map(|(k, v)| Some((k.clone(), v.as_str()?.to_owned()))).collect()
}
