//! Updates and requests of the dialect D3, with the names of version 1.

use crate::agent::codec::Codec as _;
use crate::agent::codec::v1::V1;
use crate::agent::codec::v1::inbound::{decode, variant};
use crate::agent::codec::v1::tools::{Form, patch_of};
use crate::agent::codec::versionless::bounded::Read;
use crate::agent::codec::versionless::content::{block, list_of, need_id, str_of, string_of, u64_of};
use crate::agent::codec::versionless::requests::{self, PERMISSION, too_large};
use crate::base::limits::{MAX_PARTS, MAX_TITLE, MAX_WORDS};
use crate::model::entry::{Block, ChunkKind};
use crate::model::event::{AgentRequest, Update};
use crate::model::ids::{SessionId, ToolId};
use crate::model::tool::Wording;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// The parameters of an update whose shape is of this dialect.
pub fn update(read: &Read) -> Result<(SessionId, Update), String> {
    let session = SessionId::from(need_id(&read.value, "sessionId")?);
    let update = read.value.get("update").ok_or("update is missing")?;
    let name = str_of(update, "type").ok_or("type is missing")?;
    let whole = |kind| Update::Whole { kind, content: blocks(update) };
    let update = match name {
        "message" => whole(if str_of(update, "role") == Some("user") { ChunkKind::User } else { ChunkKind::Agent }),
        "thought" => whole(ChunkKind::Thought),
        name => variant(&canonical(name, update), read)?,
    };
    Ok((session, update))
}

/// All that a message is; a single block or a bare text stands for a list of it.
fn blocks(update: &Value) -> Vec<Block> {
    match update.get("content") {
        Some(Value::String(text)) => vec![Block::Text(text.clone())],
        Some(Value::Array(list)) => list.iter().take(MAX_PARTS).map(block).collect(),
        Some(one) => vec![block(one)],
        None => Vec::new(),
    }
}

/// The same with the names of version 1; those that it has already count.
fn canonical(name: &str, update: &Value) -> Value {
    let mut named: Map<String, Value> = update.as_object().cloned().unwrap_or_default();
    named.remove("type");
    let name = match name {
        "commands" | "available_commands" => "available_commands_update",
        other => other,
    };
    named.insert("sessionUpdate".to_owned(), name.into());
    if let (Some(location), None) = (update.get("location"), update.get("locations")) {
        named.insert("locations".to_owned(), json!([location]));
    }
    if let Some(commands) = update.get("commands").filter(|_| update.get("availableCommands").is_none()) {
        named.insert("availableCommands".to_owned(), commands.clone());
    }
    let is_call = name.starts_with("tool_call");
    if let Some(one) = update.get("content").filter(|content| is_call && content.is_object()) {
        named.insert("content".to_owned(), json!([one]));
    }
    Value::Object(named)
}

/// A request whose shape is of this dialect, and the session it names.
pub fn request(method: &str, params: &str, number: u64) -> (Option<SessionId>, AgentRequest) {
    let is_service = method.starts_with("fs/") || method.starts_with("terminal/");
    if method != PERMISSION && !is_service {
        return V1.request(method, params, number);
    }
    requests::of_session(method, params, |value| match method {
        PERMISSION => question(&value, number),
        _ => service(method, value, number),
    })
}

fn question(value: &Value, number: u64) -> AgentRequest {
    let title = string_of(value, "title").unwrap_or_else(|| "asks for permission".to_owned());
    let description = string_of(value, "description").filter(|words| !words.trim().is_empty());
    if title.len() > MAX_TITLE || description.as_ref().is_some_and(|words| words.len() > MAX_WORDS) {
        return too_large(PERMISSION, "what is asked about cannot be shown whole".into());
    }
    let mut tool =
        patch_of(ToolId::from(format!("question {number}")), &json!({ "title": title }), Form::Update, |_| 0);
    tool.wording = Some(Box::new(Wording { title, description, ..Wording::default() }));
    let named = |option: &Value| {
        let mut option = option.clone();
        if let (Some(label), None) = (option.get("label").cloned(), option.get("name")) {
            option["name"] = label;
        }
        option
    };
    let options: Vec<Value> = list_of(value, "options").iter().map(named).collect();
    match requests::options(&json!({ "options": options })) {
        Ok(options) => AgentRequest::Permission { tool, options },
        Err(why) => too_large(PERMISSION, why),
    }
}

fn service(method: &str, mut value: Value, number: u64) -> AgentRequest {
    for (theirs, ours) in [("startLine", "line"), ("lineLimit", "limit")] {
        if let (Some(given), None) = (value.get(theirs).cloned(), value.get(ours)) {
            value[ours] = given;
        }
    }
    if let Some(Value::Object(env)) = value.get("env") {
        value["env"] = env.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
    }
    let patience = u64_of(&value, "timeout").map(Duration::from_millis);
    match decode(method, value, number) {
        AgentRequest::TerminalWait { term, .. } => AgentRequest::TerminalWait { term, patience, with_output: true },
        request => request,
    }
}
