//! Tool calls from JSON: one reader for `tool_call`, `tool_call_update` and the `toolCall` of a permission request.
//!
//! In this version what is missing and what is null mean the same: nothing is said of it.

use crate::agent::codec::versionless::content::{i64_of, id_of, list_of, short_id, str_of, string_of, words_of};
use crate::agent::codec::versionless::tools::{contents, kind, location, names_in_meta, raw};
use crate::agent::quirks;
use crate::base::limits::{MAX_ID, MAX_NAME, MAX_PARTS, MAX_PATH, MAX_TITLE};
use crate::model::event::AuthKind;
use crate::model::ids::{Owner, TermId, ToolId};
use crate::model::patch::Patch;
use crate::model::tool::{Exit, TerminalMeta, ToolContent, ToolPatch, ToolStatus};
use serde_json::Value;

/// Which unknown statuses mean what: `pending` when a call is announced, no change in an update (section 3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    Announcement,
    Update,
}

/// `lost` says how many elements of a list of this name were not even read. `Err`: there is no usable id.
pub fn patch(value: &Value, form: Form, lost: impl Fn(&str) -> usize) -> Result<ToolPatch, String> {
    let id = match value.get("toolCallId") {
        Some(Value::String(id)) => short_id(id, "toolCallId")?.to_owned(),
        Some(Value::Number(n)) => n.to_string(),
        _ => return Err("toolCallId is missing".into()),
    };
    Ok(patch_of(ToolId::from(id), value, form, lost))
}

/// The same for a call whose id is known, or was made up.
pub fn patch_of(id: ToolId, value: &Value, form: Form, lost: impl Fn(&str) -> usize) -> ToolPatch {
    let is_long = |member: &str, max: usize| str_of(value, member).is_some_and(|text| text.len() > max);
    let list = |member: &str| value.get(member).and_then(Value::as_array);
    let mut patch = ToolPatch::new(id);
    let mut cut = is_long("title", MAX_TITLE) || is_long("name", MAX_NAME);
    // What is missing or null leaves what is known, and so does a title without a word.
    patch.title = Patch::of(words_of(value, "title", MAX_TITLE).filter(|title| !title.is_empty()));
    patch.name = Patch::of(words_of(value, "name", MAX_NAME));
    patch.also_named = names_in_meta(value);
    patch.kind = Patch::of(str_of(value, "kind").map(kind));
    patch.status = Patch::of(value.get("status").and_then(|s| status(s, form)));
    patch.content = Patch::of(list("content").map(|list| contents(list, Owner::Client, lost("content"), &mut cut)));
    if let Some(list) = list("locations") {
        patch.locations = Patch::Set(list.iter().take(MAX_PARTS).filter_map(location).collect());
        patch.more_locations = list.len().saturating_sub(MAX_PARTS) + lost("locations");
        cut |= patch.more_locations > 0 || list.iter().any(|l| str_of(l, "path").is_some_and(|p| p.len() > MAX_PATH));
    }
    patch.raw_input = Patch::of(value.get("rawInput").filter(|v| !v.is_null()).map(|v| raw(v, &mut cut)));
    patch.raw_output = Patch::of(value.get("rawOutput").filter(|v| !v.is_null()).map(|v| raw(v, &mut false)));
    patch.terminal = value.get("_meta").map(terminal_meta).unwrap_or_default();
    patch.parent = value.get("_meta").and_then(parent);
    let texts = || patch.content.as_set().into_iter().flatten().filter_map(ToolContent::text);
    patch.runs_elsewhere = texts().any(quirks::says_elsewhere);
    patch.cut = cut;
    patch
}

/// The call that a sub-agent works for, where adapters say it: in `_meta`, in the object of their own.
fn parent(meta: &Value) -> Option<ToolId> {
    let own = meta.as_object()?.values().chain([meta]).take(MAX_PARTS);
    let named = own.filter_map(|own| id_of(own, "parentToolUseId").or_else(|| id_of(own, "parentToolCallId")));
    named.map(ToolId::from).next()
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

/// shell output of Codex, Claude and pi comes this way.
fn terminal_meta(meta: &Value) -> TerminalMeta {
    let named = |member: &str| {
        let object = meta.get(member)?;
        Some((TermId::of(Owner::Agent, id_of(object, "terminal_id")?), object))
    };
    TerminalMeta {
        info: named("terminal_info").map(|(id, o)| (id, words_of(o, "cwd", MAX_PATH))),
        output: named("terminal_output")
            .or_else(|| named("terminal_output_delta"))
            .and_then(|(id, o)| Some((id, string_of(o, "data")?))),
        exit: named("terminal_exit").map(|(id, o)| (id, exit(o))),
    }
}

fn exit(value: &Value) -> Exit {
    Exit { code: i64_of(value, "exit_code"), signal: words_of(value, "signal", MAX_ID) }
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
