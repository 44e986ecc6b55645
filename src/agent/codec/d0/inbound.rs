//! Updates and requests of the dialect D0.

use super::{questions, tools};
use crate::agent::codec::Codec as _;
use crate::agent::codec::v1::V1;
use crate::agent::codec::v1::inbound::{decode, variant};
use crate::agent::codec::versionless::bounded::{self, Read};
use crate::agent::codec::versionless::content::{id_of, list_of, need_id, str_of, string_of, u32_of, u64_of, words_of};
use crate::agent::codec::versionless::requests::{PERMISSION, bad, too_large};
use crate::agent::codec::versionless::updates;
use crate::base::limits::{self, MAX_ID, MAX_PATH, MAX_STEP, MAX_STEPS, MAX_TEXT};
use crate::base::signal;
use crate::model::entry::{Block, ChunkKind, PlanEntry, PlanStatus, Priority};
use crate::model::event::{AgentRequest, Update, WriteHow};
use crate::model::ids::{SessionId, TermId};
use crate::model::options::OptionValue;
use serde_json::{Value, json};
use std::time::Duration;

/// The parameters of an update whose shape is of this dialect.
pub fn update(read: &Read) -> Result<(SessionId, Update), String> {
    let session = SessionId::from(need_id(&read.value, "sessionId")?);
    let name = str_of(&read.value, "type").ok_or("type is missing")?;
    let data = read.value.get("data").ok_or("data is missing")?;
    let update = match name {
        "agent_message_chunk" => piece(ChunkKind::Agent, data),
        "user_message_chunk" => piece(ChunkKind::User, data),
        "thought_message_chunk" | "agent_thought_chunk" => piece(ChunkKind::Thought, data),
        "plan" => plan(data, read.lost_of("steps")),
        "tool_call" => Update::ToolCall(tools::call(data, read)?.into()),
        "tool_call_update" => Update::ToolUpdate(tools::update(data, read)?.into()),
        "available_commands" => {
            let list =
                json!({ "sessionUpdate": "available_commands_update", "availableCommands": data.get("commands") });
            variant(&list, read)?
        }
        "current_mode_update" => Update::Mode(need_id(data, "currentMode")?),
        "config_option_update" => {
            let value = data.get("currentValue").ok_or("currentValue is missing")?;
            Update::OptionValue { id: need_id(data, "key")?, value: value_of_option(value) }
        }
        other => updates::unknown(other, data),
    };
    Ok((session, update))
}

/// A value of any kind, as text where it is no switch.
pub fn value_of_option(value: &Value) -> OptionValue {
    match value {
        Value::Bool(on) => OptionValue::Bool(*on),
        Value::String(text) => OptionValue::Id(limits::cut(text, MAX_ID)),
        other => OptionValue::Id(limits::cut(other.to_string(), MAX_ID)),
    }
}

fn piece(kind: ChunkKind, data: &Value) -> Update {
    let text = match data.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Object(_)) => return updates::chunk(kind, data).unwrap_or_else(|why| updates::unknown(&why, data)),
        _ => String::new(),
    };
    let is_last = data.get("final") == Some(&Value::Bool(true));
    Update::Part { kind, text: limits::cut(text, MAX_TEXT), index: u64_of(data, "index"), is_last }
}

fn plan(data: &Value, lost: usize) -> Update {
    let steps = list_of(data, "steps");
    let entry = |step: &Value| {
        let content = words_of(step, "description", MAX_STEP).or_else(|| words_of(step, "id", MAX_STEP));
        let status = match str_of(step, "status") {
            None | Some("pending") => PlanStatus::Pending,
            Some("in_progress") => PlanStatus::InProgress,
            Some("completed") => PlanStatus::Completed,
            Some(word) => PlanStatus::Other(limits::cut(word, MAX_ID).into()),
        };
        PlanEntry { content: content.unwrap_or_else(|| step.to_string()), priority: Priority::Medium, status }
    };
    let mut entries: Vec<PlanEntry> = steps.iter().take(MAX_STEPS).map(entry).collect();
    let more = steps.len().saturating_sub(MAX_STEPS) + lost;
    if more > 0 {
        let content = format!("{more} more of the plan left out");
        entries.push(PlanEntry { content, priority: Priority::None, status: PlanStatus::Unreadable });
    }
    Update::Plan { id: id_of(data, "planId").map(Into::into), entries }
}

/// A request whose shape is of this dialect, and the session it names, if any.
pub fn request(method: &str, params: &str, number: u64) -> (Option<SessionId>, AgentRequest) {
    let is_service = method.starts_with("fs/") || method.starts_with("terminal/");
    if method != PERMISSION && !is_service {
        return V1.request(method, params, number);
    }
    let Read { value, lost, .. } = match bounded::read(params) {
        Ok(read) => read,
        Err(error) => return (None, bad(method, &error.to_string())),
    };
    let session = id_of(&value, "sessionId").map(SessionId::from);
    if lost > 0 {
        return (session, too_large(method, format!("{lost} of its values are too many")));
    }
    if method == PERMISSION {
        return match session {
            Some(session) => (Some(session), questions::read(&value, number)),
            None => (None, bad(method, "sessionId is missing")),
        };
    }
    (session, service(method, value, number).unwrap_or_else(|refused| *refused))
}

fn service(method: &str, mut value: Value, number: u64) -> Result<AgentRequest, Box<AgentRequest>> {
    let wrong = |why: &str| Box::new(bad(method, why));
    if str_of(&value, "path").is_some_and(|path| path.len() > MAX_PATH) {
        return Err(Box::new(too_large(method, format!("a path of more than {MAX_PATH} bytes"))));
    }
    let encoding = str_of(&value, "encoding").unwrap_or("utf-8");
    if !["utf-8", "utf8"].iter().any(|known| known.eq_ignore_ascii_case(encoding)) {
        return Err(wrong("only the encoding utf-8 is read and written"));
    }
    let patience = u64_of(&value, "timeout").map(Duration::from_millis);
    match method {
        "fs/read_text_file" => {
            let path = string_of(&value, "path").ok_or_else(|| wrong("path is missing"))?;
            let (first, last) = (u32_of(&value, "startLine"), u32_of(&value, "endLine"));
            let limit = match last {
                None if value.get("endLine").is_some_and(|last| !last.is_null()) => {
                    return Err(wrong("endLine is no line"));
                }
                None => None,
                Some(last) => match (last.saturating_add(1)).checked_sub(first.unwrap_or(1).max(1)) {
                    Some(lines) if last > 0 => Some(lines),
                    _ => return Err(wrong("endLine is before startLine")),
                },
            };
            Ok(AgentRequest::ReadFile { path, line: first, limit, counts: true })
        }
        "fs/write_text_file" => {
            let path = string_of(&value, "path").ok_or_else(|| wrong("path is missing"))?;
            let content = str_of(&value, "content").ok_or_else(|| wrong("content is missing"))?;
            let how = WriteHow {
                only_where_directories_are: value.get("createDirectories") != Some(&Value::Bool(true)),
                only_new: value.get("overwrite") == Some(&Value::Bool(false)),
            };
            Ok(AgentRequest::WriteFile { path, content: content.into(), how })
        }
        "terminal/create" => {
            // A directory may be named from the session's own.
            let cwd = string_of(&value, "cwd").filter(|cwd| !cwd.starts_with('/'));
            if let Some(map) = value.as_object_mut() {
                map.insert("sessionId".to_owned(), "".into());
                if cwd.is_some() {
                    map.remove("cwd");
                }
                if let Some(Value::Object(env)) = map.get("env") {
                    let pairs = env.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
                    map.insert("env".to_owned(), pairs);
                }
            }
            Ok(match decode(method, value, number) {
                AgentRequest::TerminalCreate(spec) if cwd.as_ref().is_none_or(|cwd| cwd.len() <= MAX_PATH) => {
                    let cwd = cwd.or(spec.cwd.clone());
                    AgentRequest::TerminalCreate(crate::model::event::TerminalSpec { cwd, patience, ..spec })
                }
                AgentRequest::TerminalCreate(_) => too_large(method, "its directory has a very long name".into()),
                refused => refused,
            })
        }
        _ => {
            let id = need_id(&value, "terminalId").map_err(|why| wrong(&why))?;
            let term = TermId::from(id.as_str());
            Ok(match method {
                "terminal/output" => AgentRequest::TerminalOutput(term),
                "terminal/wait_for_exit" => AgentRequest::TerminalWait { term, patience, with_output: false },
                "terminal/release" => AgentRequest::TerminalRelease(term),
                "terminal/kill" => {
                    let named = str_of(&value, "signal").unwrap_or("SIGTERM");
                    let is_forced = value.get("force") == Some(&Value::Bool(true));
                    let number = signal::number(if is_forced { "SIGKILL" } else { named });
                    let number = number.ok_or_else(|| wrong("there is no signal of this name"))?;
                    AgentRequest::TerminalKill { term, signal: Some(number) }
                }
                other => AgentRequest::UnknownMethod(limits::cut(other, limits::MAX_NAME)),
            })
        }
    }
}

/// A text as a block.
pub fn text(text: &str) -> Block {
    Block::Text(limits::cut(text, MAX_TEXT))
}
