//! Tool calls of the dialect D0: tools by name, hunks, output of commands beside their ids.

use super::inbound::text;
use crate::agent::codec::v1::tools::{Form, patch};
use crate::agent::codec::versionless::bounded::Read;
use crate::agent::codec::versionless::content::{i64_of, list_of, str_of, u64_of, words_of};
use crate::agent::codec::versionless::tools::parts;
use crate::base::limits::{self, MAX_PARTS, MAX_PATH, MAX_TEXT, MAX_TITLE};
use crate::model::ids::{Owner, TermId};
use crate::model::patch::Patch;
use crate::model::tool::{Change, ChangeBody, Operation, ToolContent, ToolPatch, ToolStatus};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// Members of an input that say most of what a tool is called for.
const MAIN: [&str; 8] = ["path", "command", "file", "file_path", "url", "query", "pattern", "name"];

/// Words in the name of a tool, and the kind that they stand for.
const KINDS: [(&str, &[&str]); 8] = [
    ("read", &["read"]),
    ("edit", &["write", "edit", "patch"]),
    ("delete", &["delete", "remove"]),
    ("move", &["move", "rename"]),
    ("search", &["search", "grep", "find", "glob"]),
    ("execute", &["terminal", "exec", "bash", "run"]),
    ("fetch", &["fetch", "http", "web"]),
    ("think", &["think"]),
];

pub fn call(data: &Value, read: &Read) -> Result<ToolPatch, String> {
    let tool = str_of(data, "tool").unwrap_or_default();
    let input = data.get("input").unwrap_or(&Value::Null);
    let mut call = Map::new();
    call.insert("toolCallId".to_owned(), data.get("id").cloned().unwrap_or_default());
    call.insert("name".to_owned(), tool.into());
    call.insert("title".to_owned(), title(tool, input).into());
    call.insert("kind".to_owned(), kind(tool).into());
    call.insert("rawInput".to_owned(), input.clone());
    if let Some(place) = data.get("location").filter(|place| place.is_object()) {
        call.insert("locations".to_owned(), json!([place]));
    }
    let mut patch = patch(&Value::Object(call), Form::Announcement, |list| read.lost_of(list)).map_err(named)?;
    patch.cut |= read.lost > 0;
    settle(&mut patch, data);
    Ok(patch)
}

pub fn update(data: &Value, read: &Read) -> Result<ToolPatch, String> {
    let call = json!({ "toolCallId": data.get("id") });
    let mut patch = patch(&call, Form::Update, |_| 0).map_err(named)?;
    let mut content = Vec::new();
    let listed = match data.get("output") {
        Some(Value::Array(list)) => list.as_slice(),
        Some(Value::Null) | None => &[],
        Some(one) => std::slice::from_ref(one),
    };
    for value in listed.iter().take(MAX_PARTS) {
        content.extend(output(value, &mut patch.cut));
    }
    patch.cut |= read.lost > 0 || listed.len() > MAX_PARTS;
    if let Some(error) = words_of(data, "error", MAX_TEXT) {
        content.push(ToolContent::Block(text(&error)));
        patch.status = Patch::Set(ToolStatus::Failed);
    }
    if !content.is_empty() {
        patch.content = Patch::Set(content);
    }
    if let Some(duration) = u64_of(data, "duration") {
        patch.raw_output = Patch::Set(json!({ "duration": duration }));
    }
    settle(&mut patch, data);
    Ok(patch)
}

fn named(why: String) -> String {
    why.replace("toolCallId", "id")
}

/// Its status; one that was denied says so.
fn settle(patch: &mut ToolPatch, data: &Value) {
    let status = match str_of(data, "status") {
        Some("pending" | "awaiting_permission") => ToolStatus::Pending,
        Some("in_progress") => ToolStatus::InProgress,
        Some("completed") if patch.status == Patch::Set(ToolStatus::Failed) => return,
        Some("completed") => ToolStatus::Completed,
        Some("failed") => ToolStatus::Failed,
        Some("cancelled") => ToolStatus::Cancelled,
        Some("denied") => {
            patch.append.push(ToolContent::Block(text("denied")));
            ToolStatus::Failed
        }
        _ => return,
    };
    patch.status = Patch::Set(status);
}

fn title(tool: &str, input: &Value) -> String {
    let main = MAIN.iter().find_map(|member| str_of(input, member));
    limits::cut(main.map_or_else(|| tool.to_owned(), |main| format!("{tool} {main}")), MAX_TITLE)
}

fn kind(tool: &str) -> &'static str {
    let tool = tool.to_ascii_lowercase();
    let is = |words: &[&str]| words.iter().any(|word| tool.contains(word));
    KINDS.iter().find(|(_, words)| is(words)).map_or("other", |(kind, _)| kind)
}

fn output(value: &Value, cut: &mut bool) -> Vec<ToolContent> {
    match str_of(value, "type") {
        Some("diff") if value.get("hunks").is_some() => vec![hunks(value, cut)],
        Some("terminal") => terminal(value),
        _ => match value.as_str() {
            Some(words) => vec![ToolContent::Block(text(words))],
            None => parts(value, Owner::Client, cut),
        },
    }
}

/// A terminal of ours is shown as it is; of another one what is told of it.
fn terminal(value: &Value) -> Vec<ToolContent> {
    let id = str_of(value, "terminalId").unwrap_or_default();
    let is_ours = id.strip_prefix("term-").is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()));
    if is_ours && !id.is_empty() && id.len() <= limits::MAX_ID {
        return vec![ToolContent::Terminal(TermId::of(Owner::Client, id.to_owned()))];
    }
    let mut said = String::new();
    if let Some(command) = str_of(value, "command") {
        let _ = writeln!(said, "$ {command}");
    }
    for stream in ["stdout", "stderr"] {
        said.push_str(str_of(value, stream).unwrap_or_default());
    }
    if let Some(code) = i64_of(value, "exitCode").filter(|code| *code != 0) {
        let _ = write!(said, "\nexit {code}");
    }
    vec![ToolContent::Block(text(&said))]
}

/// Hunks as a patch. Their counts are the agent's; where they repeat the line with the numbers, it stands once.
fn hunks(value: &Value, cut: &mut bool) -> ToolContent {
    let path = str_of(value, "path").unwrap_or_default();
    if path.is_empty() || path.len() > MAX_PATH {
        *cut |= !path.is_empty();
        return ToolContent::Unread(text("a diff without a usable path"));
    }
    let mut patch = format!("--- a/{path}\n+++ b/{path}\n");
    let list = list_of(value, "hunks");
    for hunk in list.iter().take(MAX_PARTS) {
        let content = str_of(hunk, "content").unwrap_or_default();
        if !content.starts_with("@@") {
            let number = |member: &str| u64_of(hunk, member).unwrap_or_default();
            let _ = writeln!(
                patch,
                "@@ -{},{} +{},{} @@",
                number("oldStart"),
                number("oldLines"),
                number("newStart"),
                number("newLines")
            );
        }
        patch.push_str(content);
        if !content.ends_with('\n') {
            patch.push('\n');
        }
    }
    *cut |= list.len() > MAX_PARTS || patch.len() > MAX_TEXT;
    let body = ChangeBody::Patch(limits::cut(patch, MAX_TEXT).into());
    ToolContent::Change(Change { operation: Operation::Modify, path: path.to_owned(), from: None, body })
}
