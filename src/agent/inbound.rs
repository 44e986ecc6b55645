//! From frames of the agent to typed events: `session/update` and the requests an agent may make.
//!
//! Text chunks, of which there are many, take a borrowed path; all else is typed with the schema crate and salvaged
//! from a generic value where the schema is stricter than a person would be. Invariant: a message that cannot be
//! used becomes a value that says so, and never harms another one.

use super::content::{self, block, list_of, str_of, string_of, u64_of};
use super::results;
use super::tools::{self, Form};
use crate::model::entry::{Block, ChunkKind, Level, PlanEntry, PlanStatus, Priority};
use crate::model::event::{AgentRequest, Patch, PermissionKind, PermissionOption, TerminalSpec, Update};
use crate::model::ids::{SessionId, TermId};
use crate::model::options::Command;
use agent_client_protocol_schema::v1 as schema;
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

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

/// The parameters of `session/update`. `Err` says what was wrong with them.
pub fn update(params: &str) -> Result<(SessionId, Update), String> {
    if let Ok(fast) = serde_json::from_str::<FastNotification<'_>>(params)
        && let Some(kind) = chunk_kind(&fast.update.kind)
        && fast.update.content.kind == "text"
    {
        let block = Block::Text(fast.update.content.text);
        let update = Update::Chunk { kind, message_id: fast.update.message_id, block };
        return Ok((SessionId::from(&*fast.session), update));
    }
    let value: Value = serde_json::from_str(params).map_err(|e| e.to_string())?;
    let session = str_of(&value, "sessionId").ok_or("sessionId is missing")?;
    let update = value.get("update").ok_or("update is missing")?;
    Ok((SessionId::from(session), variant(update)?))
}

fn variant(value: &Value) -> Result<Update, String> {
    let name = str_of(value, "sessionUpdate").ok_or("sessionUpdate is missing")?;
    if let Some(kind) = chunk_kind(name) {
        let message_id = str_of(value, "messageId").map(Into::into);
        let block = value.get("content").map_or_else(|| Block::Text(String::new()), block);
        return Ok(Update::Chunk { kind, message_id, block });
    }
    Ok(match name {
        "tool_call" => Update::ToolCall(tools::patch(value, Form::Announcement).ok_or("toolCallId is missing")?),
        "tool_call_update" => Update::ToolUpdate(tools::patch(value, Form::Update).ok_or("toolCallId is missing")?),
        "plan" => Update::Plan(plan(has(value, "entries")?)),
        "available_commands_update" => Update::Commands(commands(has(value, "availableCommands")?)),
        "current_mode_update" => {
            // A widely copied example says `modeId`.
            let id = string_of(value, "currentModeId").or_else(|| string_of(value, "modeId"));
            Update::Mode(id.ok_or("currentModeId is missing")?)
        }
        "config_option_update" => {
            Update::Options(results::options(list_of(has(value, "configOptions")?, "configOptions")))
        }
        "session_info_update" => Update::Info {
            title: match value.get("title") {
                Some(Value::Null) => Patch::Clear,
                Some(Value::String(title)) => Patch::Set(title.clone()),
                _ => Patch::Keep,
            },
        },
        "usage_update" => Update::Usage {
            used: u64_of(value, "used").ok_or("used is missing")?,
            size: u64_of(value, "size").ok_or("size is missing")?,
            cost: value.get("cost").and_then(|c| Some((c.get("amount")?.as_f64()?, string_of(c, "currency")?))),
        },
        "notice" => Update::Notice {
            level: match str_of(value, "severity") {
                Some("error") => Level::Error,
                Some("warning") => Level::Warn,
                _ => Level::Info,
            },
            title: string_of(value, "title").unwrap_or_default(),
            description: string_of(value, "description"),
        },
        "compaction_update" => Update::Compaction {
            status: string_of(value, "status"),
            text: string_of(value, "error").unwrap_or_default(),
        },
        other => Update::Unknown { name: other.to_owned() },
    })
}

/// A list that must be there, although it may be anything: without it nothing was said (section 3).
fn has<'a>(value: &'a Value, member: &str) -> Result<&'a Value, String> {
    if value.get(member).is_some() { Ok(value) } else { Err(format!("{member} is missing")) }
}

/// The schema closes states and priorities and drops an entry that it cannot read; a person shall see what there is.
fn plan(value: &Value) -> Vec<PlanEntry> {
    let list = list_of(value, "entries");
    let mut entries: Vec<PlanEntry> = list.iter().filter_map(plan_entry).collect();
    let unread = list.len() - entries.len();
    if unread > 0 {
        let noun = if unread == 1 { "entry" } else { "entries" };
        entries.push(PlanEntry {
            content: format!("{unread} {noun} of the plan cannot be read"),
            priority: Priority::None,
            status: PlanStatus::Unreadable,
        });
    }
    entries
}

fn plan_entry(value: &Value) -> Option<PlanEntry> {
    Some(PlanEntry {
        content: string_of(value, "content")?,
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
                word => PlanStatus::Other(word.into()),
            },
            Some(other) => PlanStatus::Other(other.to_string().into()),
        },
    })
}

fn commands(value: &Value) -> Vec<Command> {
    let list = list_of(value, "availableCommands");
    let command = |c: &Value| {
        let name = str_of(c, "name")?;
        Some(Command {
            name: name.strip_prefix('/').unwrap_or(name).to_owned(),
            description: string_of(c, "description").unwrap_or_default(),
            hint: c.get("input").and_then(|i| string_of(i, "hint")),
        })
    };
    list.iter().filter_map(command).collect()
}

/// A request of the agent, and the session it names.
pub fn request(method: &str, params: &str) -> (Option<SessionId>, AgentRequest) {
    let value: Value = match serde_json::from_str(params) {
        Ok(value) => value,
        Err(error) if is_known(method) => return (None, bad(method, &error.to_string())),
        Err(_) => Value::Null,
    };
    let session = str_of(&value, "sessionId").map(SessionId::from);
    (session, decode(method, value))
}

fn is_known(method: &str) -> bool {
    method == "session/request_permission" || method.starts_with("fs/") || method.starts_with("terminal/")
}

fn bad(method: &str, why: &str) -> AgentRequest {
    AgentRequest::BadParams { method: method.to_owned(), why: why.to_owned() }
}

fn decode(method: &str, value: Value) -> AgentRequest {
    match method {
        "session/request_permission" => permission(&value),
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
            AgentRequest::TerminalCreate(TerminalSpec {
                command: r.command,
                args: r.args,
                env: r.env.into_iter().map(|e| (e.name, e.value)).collect(),
                cwd: r.cwd.map(|c| c.to_string_lossy().into_owned()),
                limit: r.output_byte_limit,
            })
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
        other => AgentRequest::UnknownMethod(other.to_owned()),
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

fn term(id: &schema::TerminalId) -> TermId {
    TermId::from(&*id.0)
}

/// The schema closes the kinds of options; a person shall be asked all the same.
fn permission(value: &Value) -> AgentRequest {
    let method = "session/request_permission";
    let Some(tool) = value.get("toolCall").and_then(|t| tools::patch(t, Form::Update)) else {
        return bad(method, "toolCall.toolCallId is missing");
    };
    let option = |o: &Value| {
        let id = content::string_of(o, "optionId")?;
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
    AgentRequest::Permission { tool, options: list_of(value, "options").iter().filter_map(option).collect() }
}
