//! From frames of the agent to typed events: `session/update` and the requests an agent may make.
//!
//! Text chunks, of which there are many, take a borrowed path; all else is typed with the schema crate and salvaged
//! from a generic value where the schema is stricter than a person would be. Invariant: a message that cannot be
//! used becomes a value that says so, and never harms another one.

use super::asked::{self, Asked, Refused};
use super::bounded::{self, Read};
use super::content::{block, id_of, list_of, need_id, short_id, str_of, string_of, u64_of, words_of};
use super::outbound;
use super::results;
use super::tools::{self, Form};
use crate::base::human;
use crate::base::limits::{
    self, MAX_ANSWERS, MAX_CHOICES, MAX_COMMAND, MAX_COMMAND_LINES, MAX_COMMANDS, MAX_ID, MAX_NAME, MAX_PARTS,
    MAX_PATH, MAX_STEP, MAX_STEPS, MAX_TEXT, MAX_TITLE, MAX_VARIABLES, MAX_WORDS,
};
use crate::model::child::{ChildPatch, Passed};
use crate::model::entry::{Block, ChunkKind, Level, PlanEntry, PlanStatus, Priority};
use crate::model::event::{AgentRequest, PermissionKind, PermissionOption, TerminalSpec, Update};
use crate::model::ids::{SessionId, TermId, ToolId};
use crate::model::options::Command;
use crate::model::patch::Patch;
use crate::model::tool::{ToolPatch, ToolStatus};
use crate::wire::frame::RawId;
use agent_client_protocol_schema::v1 as schema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;

pub const UPDATE: &str = "session/update";
pub const PERMISSION: &str = "session/request_permission";
pub const CANCEL_REQUEST: &str = "$/cancel_request";

/// Members of an update by which something is looked up or judged, or that are put beside files.
pub const USED: &[&str] = &[
    "sessionId",
    "sessionUpdate",
    "messageId",
    "toolCallId",
    "terminalId",
    "currentModeId",
    "modeId",
    "id",
    "value",
    "kind",
    "status",
    "type",
    "title",
    "name",
    "rawInput",
    "locations",
    "path",
    "oldText",
    "newText",
    "uri",
    "configOptions",
    "availableCommands",
    "senderSessionId",
    "recipientSessionId",
    "state",
    "stopReason",
];

#[derive(Deserialize)]
struct FastNotification<'a> {
    #[serde(rename = "sessionId", borrow)]
    session: Cow<'a, str>,
    #[serde(borrow)]
    update: FastChunk<'a>,
}

#[derive(Deserialize)]
struct FastChunk<'a> {
    #[serde(rename = "sessionUpdate", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    content: FastText<'a>,
    #[serde(rename = "messageId", default)]
    message_id: Option<Arc<str>>,
}

#[derive(Deserialize)]
struct FastText<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    text: String,
}

fn chunk_kind(name: &str) -> Option<ChunkKind> {
    match name {
        "agent_message_chunk" => Some(ChunkKind::Agent),
        "agent_thought_chunk" => Some(ChunkKind::Thought),
        "user_message_chunk" => Some(ChunkKind::User),
        _ => None,
    }
}

/// The parameters of an update with a piece of a message.
pub fn piece(session: &SessionId, kind: ChunkKind, message: Option<&str>, text: &str) -> Value {
    let name = match kind {
        ChunkKind::Agent => "agent_message_chunk",
        ChunkKind::Thought => "agent_thought_chunk",
        ChunkKind::User => "user_message_chunk",
    };
    let mut update = json!({ "sessionUpdate": name, "content": { "type": "text", "text": text } });
    if let Some(id) = message {
        update["messageId"] = id.into();
    }
    json!({ "sessionId": session.as_str(), "update": update })
}

/// The parameters of `session/update`. `Err` says what was wrong with them.
pub fn update(params: &str) -> Result<(SessionId, Update), String> {
    if let Ok(fast) = serde_json::from_str::<FastNotification<'_>>(params)
        && let Some(kind) = chunk_kind(&fast.update.kind)
        && fast.update.content.kind == "text"
    {
        short_id(&fast.session, "sessionId")?;
        short_id(fast.update.message_id.as_deref().unwrap_or_default(), "messageId")?;
        let block = Block::Text(fast.update.content.text);
        let update = Update::Chunk { kind, message_id: fast.update.message_id, block };
        return Ok((SessionId::from(&*fast.session), update));
    }
    let read = bounded::read(params).map_err(|e| e.to_string())?;
    let session = need_id(&read.value, "sessionId")?;
    let update = read.value.get("update").ok_or("update is missing")?;
    Ok((SessionId::from(session), variant(update, &read)?))
}

fn variant(value: &Value, read: &Read) -> Result<Update, String> {
    let name = str_of(value, "sessionUpdate").ok_or("sessionUpdate is missing")?;
    if let Some(kind) = chunk_kind(name) {
        let message_id = str_of(value, "messageId").map(|id| short_id(id, "messageId")).transpose()?.map(Into::into);
        let block = value.get("content").map_or_else(|| Block::Text(String::new()), block);
        return Ok(Update::Chunk { kind, message_id, block });
    }
    Ok(match name {
        "tool_call" => Update::ToolCall(patch(value, Form::Announcement, read)?),
        "tool_call_update" => Update::ToolUpdate(patch(value, Form::Update, read)?),
        "plan" => Update::Plan { id: None, entries: plan(has(value, "entries")?, read.lost_of("entries")) },
        "available_commands_update" => {
            let more = beyond(has(value, "availableCommands")?, "availableCommands", MAX_COMMANDS, read);
            partly(Update::Commands(commands(value)), "commands", more)
        }
        "current_mode_update" => {
            // A widely copied example says `modeId`.
            let member = if str_of(value, "currentModeId").is_some() { "currentModeId" } else { "modeId" };
            Update::Mode(need_id(value, member)?)
        }
        "config_option_update" => {
            let more = beyond(has(value, "configOptions")?, "configOptions", MAX_CHOICES, read);
            partly(Update::Options(results::options(list_of(value, "configOptions"))), "options", more)
        }
        "session_info_update" => {
            Update::Info { title: words_patch(value, "title"), updated: words_patch(value, "updatedAt") }
        }
        "usage_update" => Update::Usage {
            used: u64_of(value, "used").ok_or("used is missing")?,
            size: u64_of(value, "size").ok_or("size is missing")?,
            cost: value
                .get("cost")
                .and_then(|c| Some((c.get("amount")?.as_f64()?, words_of(c, "currency", MAX_NAME)?))),
        },
        "notice" => Update::Notice {
            level: match str_of(value, "severity") {
                Some("error") => Level::Error,
                Some("warning") => Level::Warn,
                _ => Level::Info,
            },
            title: words_of(value, "title", MAX_WORDS).unwrap_or_default(),
            description: words_of(value, "description", MAX_WORDS),
        },
        "compaction_update" => Update::Compaction {
            status: words_of(value, "status", MAX_NAME),
            text: words_of(value, "error", MAX_WORDS).unwrap_or_default(),
        },
        "subagent_update" => Update::Child(child(value)?),
        "session_message" => Update::Passed(passed(value, list_of(value, "content"), false)?),
        "session_message_chunk" => {
            Update::Passed(passed(value, value.get("content").map(std::slice::from_ref).unwrap_or_default(), true)?)
        }
        other => Update::Unknown { name: limits::cut(other, MAX_NAME) },
    })
}

/// A session that the agent has begun itself. States of early drafts are words and say nothing.
fn child(value: &Value) -> Result<ChildPatch, String> {
    let status = match value.get("state") {
        Some(Value::Null) => Patch::Reset,
        Some(state) => Patch::of(str_of(state, "state").map(|word| match word {
            "running" => ToolStatus::InProgress,
            "requires_action" => ToolStatus::Paused,
            "idle" if state.get("error").is_some_and(|error| !error.is_null()) => ToolStatus::Failed,
            "idle" if str_of(state, "stopReason") == Some("cancelled") => ToolStatus::Cancelled,
            "idle" => ToolStatus::Completed,
            word => ToolStatus::Other(limits::cut(word, MAX_ID).into()),
        })),
        None => Patch::Keep,
    };
    let stops = match value.get("capabilities") {
        Some(Value::Null) => Patch::Reset,
        Some(can) => Patch::Set(can.get("cancel").is_some_and(Value::is_object)),
        None => Patch::Keep,
    };
    Ok(ChildPatch {
        id: SessionId::from(need_id(value, "sessionId")?),
        title: words_patch(value, "title"),
        description: words_patch(value, "description"),
        stops,
        status,
    })
}

fn passed(value: &Value, content: &[Value], is_more: bool) -> Result<Passed, String> {
    let texts = content.iter().take(MAX_PARTS).filter_map(|part| words_of(part, "text", MAX_TEXT));
    let texts: Vec<String> = texts.collect();
    Ok(Passed {
        id: need_id(value, "messageId")?.into(),
        between: ["senderSessionId", "recipientSessionId"].map(|name| id_of(value, name).map(SessionId::from)),
        text: value.get("content").map(|_| texts.join("\n")),
        is_more,
    })
}

/// How many elements of a list are more than `max`.
fn beyond(value: &Value, list: &str, max: usize, read: &Read) -> usize {
    list_of(value, list).len().saturating_sub(max) + read.lost_of(list)
}

fn partly(update: Update, what: &'static str, left_out: usize) -> Update {
    if left_out == 0 { update } else { Update::Partly { update: Box::new(update), what, left_out } }
}

fn words_patch(value: &Value, member: &str) -> Patch<String> {
    match value.get(member) {
        Some(Value::Null) => Patch::Reset,
        Some(Value::String(words)) => Patch::Set(limits::cut(words.as_str(), MAX_NAME)),
        _ => Patch::Keep,
    }
}

/// What a list lost may have been part of the raw values, too: then what is stored is not enough to judge the call.
fn patch(value: &Value, form: Form, read: &Read) -> Result<ToolPatch, String> {
    let mut patch = tools::patch(value, form, |list| read.lost_of(list))?;
    patch.cut |= read.lost > 0;
    Ok(patch)
}

/// A list that must be there, although it may be anything: without it nothing was said (section 3).
fn has<'a>(value: &'a Value, member: &str) -> Result<&'a Value, String> {
    if value.get(member).is_some() { Ok(value) } else { Err(format!("{member} is missing")) }
}

/// The schema closes states and priorities and drops an entry that it cannot read; a person shall see what there is.
fn plan(value: &Value, lost: usize) -> Vec<PlanEntry> {
    let list = list_of(value, "entries");
    let looked = list.len().min(MAX_STEPS);
    let mut entries: Vec<PlanEntry> = list.iter().take(looked).filter_map(plan_entry).collect();
    let unread = looked - entries.len();
    let more = list.len() - looked + lost;
    for (count, what) in [(unread, "of the plan cannot be read"), (more, "more of the plan left out")] {
        if count > 0 {
            let content = format!("{} {what}", human::count(count as u64, "entry"));
            entries.push(PlanEntry { content, priority: Priority::None, status: PlanStatus::Unreadable });
        }
    }
    entries
}

fn plan_entry(value: &Value) -> Option<PlanEntry> {
    Some(PlanEntry {
        content: words_of(value, "content", MAX_STEP)?,
        priority: match str_of(value, "priority") {
            Some("high") => Priority::High,
            Some("medium") => Priority::Medium,
            Some("low") => Priority::Low,
            _ => Priority::None,
        },
        status: match value.get("status") {
            None | Some(Value::Null) => PlanStatus::Pending,
            Some(Value::String(word)) => match word.as_str() {
                "pending" => PlanStatus::Pending,
                "in_progress" => PlanStatus::InProgress,
                "completed" => PlanStatus::Completed,
                word => PlanStatus::Other(limits::cut(word, MAX_ID).into()),
            },
            Some(other) => PlanStatus::Other(limits::cut(other.to_string(), MAX_ID).into()),
        },
    })
}

fn commands(value: &Value) -> Vec<Command> {
    let list = list_of(value, "availableCommands");
    let command = |c: &Value| {
        let name = str_of(c, "name").filter(|name| name.len() <= MAX_ID)?;
        Some(Command {
            name: name.strip_prefix('/').unwrap_or(name).to_owned(),
            description: words_of(c, "description", MAX_NAME).unwrap_or_default(),
            hint: c.get("input").and_then(|i| words_of(i, "hint", MAX_NAME)),
        })
    };
    list.iter().take(MAX_COMMANDS).filter_map(command).collect()
}

#[derive(Deserialize)]
struct CancelParams<'a> {
    #[serde(rename = "requestId", borrow)]
    request_id: &'a serde_json::value::RawValue,
}

/// The request that `$/cancel_request` names, with its JSON type.
pub fn withdrawn(params: &str) -> Option<RawId> {
    let named = serde_json::from_str::<CancelParams<'_>>(params).ok()?.request_id;
    RawId::from_json(named.get())
}

/// A request of the agent, and the session it names.
pub fn request(method: &str, params: &str, number: u64) -> (Option<SessionId>, AgentRequest) {
    if method == asked::CREATE {
        return match asked::read(params) {
            Ok(Asked { session, asking, call }) => (session.map(SessionId::from), AgentRequest::Ask { asking, call }),
            Err(Refused::Bad(why)) => (None, bad(method, &why)),
            Err(Refused::TooLarge(why)) => (None, too_large(method, why)),
        };
    }
    if !is_known(method) {
        let name = limits::cut(method, MAX_NAME);
        // Nothing but the session is of interest, and not even that is certain to be there.
        let is_ours = method == outbound::INITIALIZE;
        return (None, if is_ours { AgentRequest::Echoed(name) } else { AgentRequest::UnknownMethod(name) });
    }
    let Read { value, lost, .. } = match bounded::read(params) {
        Ok(read) => read,
        Err(error) => return (None, bad(method, &error.to_string())),
    };
    let Some(session) = id_of(&value, "sessionId").map(SessionId::from) else {
        return (None, bad(method, "sessionId is missing"));
    };
    if lost > 0 {
        // Half of a command or of a question is another one.
        return (Some(session), too_large(method, format!("{lost} of its values are too many")));
    }
    (Some(session), decode(method, value, number))
}

fn too_large(method: &str, why: String) -> AgentRequest {
    AgentRequest::TooLarge { method: limits::cut(method, MAX_NAME), why }
}

fn is_known(method: &str) -> bool {
    method == PERMISSION || method.starts_with("fs/") || method.starts_with("terminal/")
}

fn bad(method: &str, why: &str) -> AgentRequest {
    AgentRequest::BadParams { method: limits::cut(method, MAX_NAME), why: limits::cut(why, MAX_WORDS) }
}

fn decode(method: &str, value: Value, number: u64) -> AgentRequest {
    // No file has a longer path, and no terminal of ours a longer id.
    for (member, max) in [("path", MAX_PATH), ("terminalId", MAX_ID)] {
        if let Some(text) = str_of(&value, member).filter(|text| text.len() > max) {
            return too_large(method, format!("{member} has {} bytes, more than {max}", text.len()));
        }
    }
    match method {
        PERMISSION => permission(&value, number),
        "fs/read_text_file" => typed(method, value, |r: schema::ReadTextFileRequest| AgentRequest::ReadFile {
            path: r.path.to_string_lossy().into_owned(),
            line: r.line,
            limit: r.limit,
        }),
        "fs/write_text_file" => typed(method, value, |r: schema::WriteTextFileRequest| AgentRequest::WriteFile {
            path: r.path.to_string_lossy().into_owned(),
            content: r.content.into(),
        }),
        "terminal/create" => typed(method, value, |r: schema::CreateTerminalRequest| {
            let spec = TerminalSpec {
                command: r.command,
                args: r.args,
                env: r.env.into_iter().map(|e| (e.name, e.value)).collect(),
                cwd: r.cwd.map(|c| c.to_string_lossy().into_owned()),
                limit: r.output_byte_limit,
            };
            command_to_run(method, spec)
        }),
        "terminal/output" => {
            typed(method, value, |r: schema::TerminalOutputRequest| AgentRequest::TerminalOutput(term(&r.terminal_id)))
        }
        "terminal/wait_for_exit" => typed(method, value, |r: schema::WaitForTerminalExitRequest| {
            AgentRequest::TerminalWait(term(&r.terminal_id))
        }),
        "terminal/kill" => {
            typed(method, value, |r: schema::KillTerminalRequest| AgentRequest::TerminalKill(term(&r.terminal_id)))
        }
        "terminal/release" => typed(method, value, |r: schema::ReleaseTerminalRequest| {
            AgentRequest::TerminalRelease(term(&r.terminal_id))
        }),
        other => AgentRequest::UnknownMethod(limits::cut(other, MAX_NAME)),
    }
}

fn typed<T: serde::de::DeserializeOwned>(
    method: &str,
    value: Value,
    f: impl FnOnce(T) -> AgentRequest,
) -> AgentRequest {
    serde_json::from_value(value).map_or_else(|e| bad(method, &without_value(&e.to_string())), f)
}

/// What is wrong, without the value itself: it may be that of an environment variable, and this is written down.
fn without_value(why: &str) -> String {
    match why.rsplit_once(", expected ") {
        Some((found, expected)) => {
            let kind = found.find(['"', '`']).and_then(|at| found.get(..at)).map_or(found, str::trim_end);
            format!("{kind}, expected {expected}")
        }
        None => why.to_owned(),
    }
}

/// A command that a person can be shown whole, in a directory that means the same to everybody.
fn command_to_run(method: &str, spec: TerminalSpec) -> AgentRequest {
    if spec.cwd.as_deref().is_some_and(|cwd| !cwd.starts_with('/')) {
        return bad(method, "cwd must be absolute");
    }
    let line = spec.line();
    let variables: usize = spec.env.iter().map(|(name, value)| name.len() + value.len()).sum();
    let bytes = line.len() + variables + spec.cwd.as_ref().map_or(0, String::len);
    if bytes > MAX_COMMAND {
        return too_large(method, format!("a command of {bytes} bytes, at most {MAX_COMMAND} are run"));
    }
    let lines = 1 + line.matches('\n').count();
    if lines > MAX_COMMAND_LINES {
        return too_large(method, format!("a command of {lines} lines, at most {MAX_COMMAND_LINES} are run"));
    }
    let most = spec.env.len().max(spec.args.len());
    if most > MAX_VARIABLES {
        let (args, env) = (spec.args.len(), spec.env.len());
        return too_large(method, format!("{args} arguments and {env} variables, at most {MAX_VARIABLES} are taken"));
    }
    AgentRequest::TerminalCreate(spec)
}

fn term(id: &schema::TerminalId) -> TermId {
    TermId::from(&*id.0)
}

/// The schema closes the kinds of options; a person shall be asked all the same.
fn permission(value: &Value, number: u64) -> AgentRequest {
    let method = PERMISSION;
    let call = value.get("toolCall").unwrap_or(&Value::Null);
    // What a person can read can be asked, with an id of our own.
    let is_nameless = call.get("toolCallId").is_none_or(Value::is_null) && str_of(call, "title").is_some();
    let tool = if is_nameless {
        tools::patch_of(ToolId::from(format!("question {number}")), call, Form::Update, |_| 0)
    } else {
        match tools::patch(call, Form::Update, |_| 0) {
            Ok(tool) => tool,
            Err(why) => return bad(method, &format!("toolCall.{why}")),
        }
    };
    if tool.cut {
        return too_large(method, "what is asked about cannot be shown whole".into());
    }
    let list = list_of(value, "options");
    if list.len() > MAX_ANSWERS {
        return too_large(method, format!("{} options, at most {MAX_ANSWERS} are shown", list.len()));
    }
    let is_long = |o: &Value| {
        str_of(o, "optionId").is_some_and(|id| id.len() > MAX_ID)
            || str_of(o, "name").is_some_and(|name| name.len() > MAX_TITLE)
    };
    if list.iter().any(is_long) {
        return too_large(method, "an option that cannot be shown whole".into());
    }
    let option = |o: &Value| {
        let id = string_of(o, "optionId")?;
        Some(PermissionOption {
            name: string_of(o, "name").unwrap_or_else(|| id.clone()),
            kind: match str_of(o, "kind") {
                Some("allow_once") => PermissionKind::AllowOnce,
                Some("allow_always") => PermissionKind::AllowAlways,
                Some("reject_once") => PermissionKind::RejectOnce,
                Some("reject_always") => PermissionKind::RejectAlways,
                _ => PermissionKind::Unknown,
            },
            id,
        })
    };
    AgentRequest::Permission { tool, options: list.iter().filter_map(option).collect() }
}

#[cfg(test)]
#[path = "inbound_tests.rs"]
mod tests;
