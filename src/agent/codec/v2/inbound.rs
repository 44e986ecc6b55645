//! From frames of the agent to typed events: `session/update` and the requests an agent may make.
//!
//! Invariant: a message that cannot be used becomes a value that says so, and never harms another one. The draft
//! says to drop pieces of which it is not said to which message they belong (V2-073); words of an agent are not lost here:
//! those that follow one another are a message of their own, and never a part of one with an id.

use super::results::{self, OPTIONS};
use super::tools;
use crate::agent::codec::versionless::asked;
use crate::agent::codec::versionless::bounded::{self, Read};
use crate::agent::codec::versionless::content::{
    block, list_of, message_id, need_id, short_id, str_of, string_of, words_of,
};
use crate::agent::codec::versionless::requests::{self, PERMISSION, bad, too_large};
use crate::agent::codec::versionless::tools::raw;
use crate::agent::codec::versionless::{children, results as same, updates};
use crate::base::limits::{
    self, MAX_COMMAND, MAX_COMMAND_LINES, MAX_ID, MAX_PARTS, MAX_PATH, MAX_TEXT, MAX_TITLE, MAX_WORDS,
};
use crate::model::entry::{Block, ChunkKind};
use crate::model::event::{Activity, AgentRequest, Background, Update};
use crate::model::ids::{SessionId, ToolId};
use crate::model::patch::Patch;
use crate::model::tool::{ToolContent, ToolKind, ToolPatch, Wording};
use serde_json::{Value, json};

/// Members of an update by which something is looked up or judged, or that are put beside files.
pub const USED: &[&str] = &[
    "sessionId",
    "sessionUpdate",
    "messageId",
    "toolCallId",
    "terminalId",
    "planId",
    "compactionId",
    "configId",
    "groupId",
    "value",
    "kind",
    "status",
    "state",
    "stopReason",
    "type",
    "title",
    "name",
    "rawInput",
    "locations",
    "path",
    "oldPath",
    "operation",
    "patch",
    "data",
    "uri",
    "configOptions",
    "availableCommands",
];

/// The parameters of `session/update`. `Err` says what was wrong with them.
pub fn update(params: &str) -> Result<(SessionId, Update), String> {
    if let Some(quick) = updates::quick(params) {
        return quick;
    }
    let read = bounded::read(params).map_err(|e| e.to_string())?;
    let session = need_id(&read.value, "sessionId")?;
    let update = read.value.get("update").ok_or("update is missing")?;
    Ok((SessionId::from(session), variant(update, &read)?))
}

fn variant(value: &Value, read: &Read) -> Result<Update, String> {
    let name = str_of(value, "sessionUpdate").ok_or("sessionUpdate is missing")?;
    if let Some(kind) = updates::chunk_kind(name) {
        return updates::chunk(kind, value);
    }
    Ok(match name {
        "user_message" => message(ChunkKind::User, value)?,
        "agent_message" => message(ChunkKind::Agent, value)?,
        "agent_thought" => message(ChunkKind::Thought, value)?,
        "state_update" => Update::Activity(activity(value)?, background(value)),
        "tool_call_update" => {
            let mut patch = tools::patch(value, |list| read.lost_of(list))?;
            // What a list lost may have been part of the raw values, too.
            patch.cut |= read.lost > 0;
            Update::ToolUpdate(patch.into())
        }
        "tool_call_content_chunk" => {
            let mut patch = tools::part(value)?;
            patch.cut |= read.lost > 0;
            Update::ToolUpdate(patch.into())
        }
        "terminal_update" => Update::Terminal(tools::terminal(value)?.into()),
        "terminal_output_chunk" => Update::Terminal(tools::output(value)?.into()),
        "plan_update" => updates::plan_of(value.get("plan").ok_or("plan is missing")?, read)?,
        "plan_removed" => updates::plan_removed(value)?,
        "available_commands_update" => updates::available_commands(value, read)?,
        "config_option_update" => same::config_options(value, read, &OPTIONS)?,
        "session_info_update" => updates::info(value),
        "usage_update" => updates::usage(value, Patch::Reset)?,
        "notice" => updates::notice(value),
        "compaction_update" => updates::compaction(value)?,
        "compaction_summary_chunk" => updates::more_summary(value)?,
        "subagent_update" => children::child(value)?,
        "session_message" => children::passed(value)?,
        "session_message_chunk" => children::more(value)?,
        other => updates::unknown(other, value),
    })
}

/// A whole message. Of one with very many blocks, and of a very long text, the rest is left out, and says so.
fn message(kind: ChunkKind, value: &Value) -> Result<Update, String> {
    let Some(id) = str_of(value, "messageId") else {
        // See above.
        let words = |part: &Value| words_of(part, "text", MAX_TEXT);
        let texts = list_of(value, "content").iter().take(MAX_PARTS).filter_map(words);
        return Ok(Update::Chunk { kind, message_id: None, block: Block::Text(texts.collect()) });
    };
    let id = message_id(id)?;
    let content = match value.get("content") {
        None => Patch::Keep,
        Some(Value::Array(list)) => {
            let mut blocks: Vec<Block> = list.iter().take(MAX_PARTS).map(block).collect();
            if list.len() > MAX_PARTS {
                let label = format!("{} more blocks left out", list.len() - MAX_PARTS);
                blocks.push(Block::label(label));
            }
            Patch::Set(blocks)
        }
        Some(_) => Patch::Reset,
    };
    Ok(Update::Message { kind, id, content })
}

/// A state that is not known here is not idle (V2-049).
fn activity(value: &Value) -> Result<Activity, String> {
    match str_of(value, "state").ok_or("state is missing")? {
        "idle" => Ok(Activity::Idle(results::ended(value))),
        "requires_action" => Ok(Activity::Waits),
        _ => Ok(Activity::Busy),
    }
}

/// What goes on beside the turn. A list with something in it that cannot be read says nothing (V2-056).
fn background(value: &Value) -> Option<Vec<Background>> {
    let list = value.get("background")?.as_array()?;
    let item = |item: &Value| {
        Some(match str_of(item, "type")? {
            "tool_call" => Background::Tool(ToolId::from(need_id(item, "toolCallId").ok()?)),
            "terminal" => Background::Terminal(need_id(item, "terminalId").ok()?),
            "subagent" => Background::Child(SessionId::from(need_id(item, "sessionId").ok()?)),
            other => Background::Other(limits::cut(other, MAX_ID)),
        })
    };
    // More of it is not shown, and no list is a half one.
    list.iter().take(MAX_PARTS).map(item).collect()
}

/// A request of the agent, and the session it names.
pub fn request(method: &str, params: &str, number: u64) -> (Option<SessionId>, AgentRequest) {
    if method == asked::CREATE {
        return requests::ask(params);
    }
    if method != PERMISSION {
        return (None, requests::not_offered(method));
    }
    requests::of_session(method, params, |value| permission(&value, number))
}

fn permission(value: &Value, number: u64) -> AgentRequest {
    let is_long = |member: &str, max: usize| str_of(value, member).is_some_and(|text| text.len() > max);
    if is_long("title", MAX_TITLE) || is_long("description", MAX_WORDS) {
        return too_large(PERMISSION, "a question that cannot be shown whole".into());
    }
    let subject = value.get("subject").unwrap_or(&Value::Null);
    let own = || ToolPatch::new(ToolId::from(format!("question {number}")));
    let (mut tool, is_unknown) = match str_of(subject, "type") {
        Some("tool_call") => match tools::patch(subject.get("toolCall").unwrap_or(&Value::Null), |_| 0) {
            Ok(tool) => (tool, false),
            Err(why) => return bad(PERMISSION, &format!("subject.toolCall.{why}")),
        },
        Some("command") => match command(subject, own()) {
            Ok(tool) => (tool, false),
            Err(refused) => return *refused,
        },
        _ => {
            let mut tool = own();
            tool.title = Patch::of(string_of(value, "title"));
            tool.raw_input = Patch::of((!subject.is_null()).then(|| raw(subject, &mut tool.cut)));
            (tool, true)
        }
    };
    if tool.cut {
        return too_large(PERMISSION, "what is asked about cannot be shown whole".into());
    }
    let title = string_of(value, "title").unwrap_or_default();
    tool.wording = Some(Box::new(Wording {
        title,
        description: string_of(value, "description"),
        is_unknown,
        ..Wording::default()
    }));
    match requests::options(value) {
        // V2-103.
        Ok(options) if options.is_empty() => bad(PERMISSION, "options is empty"),
        Ok(options) => AgentRequest::Permission { tool, options },
        Err(why) => too_large(PERMISSION, why),
    }
}

/// The command that the agent would run by itself, whole, as the input of a call: the one that it names, or one of its own.
fn command(subject: &Value, own: ToolPatch) -> Result<ToolPatch, Box<AgentRequest>> {
    let Some(command) = str_of(subject, "command") else {
        return Err(Box::new(bad(PERMISSION, "subject.command is missing")));
    };
    let Some(cwd) = str_of(subject, "cwd") else {
        return Err(Box::new(bad(PERMISSION, "subject.cwd is missing")));
    };
    let lines = 1 + command.matches('\n').count();
    if command.len() > MAX_COMMAND || lines > MAX_COMMAND_LINES || cwd.len() > MAX_PATH {
        let why = format!("a command of {} bytes in {lines} lines", command.len());
        return Err(Box::new(too_large(PERMISSION, why)));
    }
    let named = str_of(subject, "toolCallId").map(|id| short_id(id, "subject.toolCallId")).transpose();
    let mut tool = match named.map_err(|why| Box::new(bad(PERMISSION, &why)))? {
        Some(id) => ToolPatch::new(ToolId::from(id)),
        None => {
            let title = Patch::Set(limits::cut(command, MAX_TITLE));
            let shown = tools::terminal_id(subject).map(ToolContent::Terminal).into_iter().collect();
            ToolPatch { title, append: shown, ..own }
        }
    };
    tool.kind = Patch::Set(ToolKind::Execute);
    tool.raw_input = Patch::Set(json!({ "command": command, "cwd": cwd }));
    Ok(tool)
}

#[cfg(test)]
#[path = "inbound_tests.rs"]
mod tests;
