//! From frames of the agent to typed events: `session/update` and the requests an agent may make.
//!
//! What is carried out is typed with the schema crate; all else is salvaged from a generic value where the schema is
//! stricter than a person would be. Invariant: a message that cannot be used becomes a value that says so, and never
//! harms another one.

use super::results::OPTIONS;
use super::tools::{self, Form};
use crate::agent::codec::versionless::asked;
use crate::agent::codec::versionless::bounded::{self, Read};
use crate::agent::codec::versionless::content::{need_id, str_of};
use crate::agent::codec::versionless::requests::{self, PERMISSION, bad, too_large};
use crate::agent::codec::versionless::{children, results, updates};
use crate::base::limits::{self, MAX_COMMAND, MAX_COMMAND_LINES, MAX_ID, MAX_NAME, MAX_PATH, MAX_VARIABLES};
use crate::model::event::{AgentRequest, TerminalSpec, Update, WriteHow};
use crate::model::ids::{SessionId, TermId, ToolId};
use crate::model::patch::Patch;
use crate::model::tool::ToolPatch;
use agent_client_protocol_schema::v1 as schema;
use serde_json::Value;

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

/// The parameters of `session/update`. `Err` says what was wrong with them.
pub fn update(params: &str) -> Result<(SessionId, Update), String> {
    if let Some(quick) = updates::quick(params) {
        return quick;
    }
    update_of(&bounded::read(params).map_err(|e| e.to_string())?)
}

/// The same, when they were read.
pub fn update_of(read: &Read) -> Result<(SessionId, Update), String> {
    let session = need_id(&read.value, "sessionId")?;
    let update = read.value.get("update").ok_or("update is missing")?;
    Ok((SessionId::from(session), variant(update, read)?))
}

/// The update itself.
pub fn variant(value: &Value, read: &Read) -> Result<Update, String> {
    let name = str_of(value, "sessionUpdate").ok_or("sessionUpdate is missing")?;
    if let Some(kind) = updates::chunk_kind(name) {
        return updates::chunk(kind, value);
    }
    Ok(match name {
        "tool_call" => Update::ToolCall(patch(value, Form::Announcement, read)?.into()),
        "tool_call_update" => Update::ToolUpdate(patch(value, Form::Update, read)?.into()),
        "plan" => {
            let entries = updates::plan(updates::has(value, "entries")?, read.lost_of("entries"));
            Update::Plan { id: None, entries }
        }
        "plan_update" => updates::plan_of(value.get("plan").ok_or("plan is missing")?, read)?,
        "plan_removed" => updates::plan_removed(value)?,
        "available_commands_update" => updates::available_commands(value, read)?,
        "current_mode_update" => {
            // A widely copied example says `modeId`.
            let member = if str_of(value, "currentModeId").is_some() { "currentModeId" } else { "modeId" };
            Update::Mode(need_id(value, member)?)
        }
        "config_option_update" => results::config_options(value, read, &OPTIONS)?,
        "session_info_update" => updates::info(value),
        "usage_update" => updates::usage(value, Patch::Keep)?,
        "notice" => updates::notice(value),
        "compaction_update" => updates::compaction(value)?,
        "compaction_summary_chunk" => updates::more_summary(value)?,
        "subagent_update" => children::child(value)?,
        "session_message" => children::passed(value)?,
        "session_message_chunk" => children::more(value)?,
        other => updates::unknown(other, value),
    })
}

/// What a list lost may have been part of the raw values, too: then what is stored is not enough to judge the call.
fn patch(value: &Value, form: Form, read: &Read) -> Result<ToolPatch, String> {
    let mut patch = tools::patch(value, form, |list| read.lost_of(list))?;
    patch.cut |= read.lost > 0;
    Ok(patch)
}

/// A request of the agent, and the session it names.
pub fn request(method: &str, params: &str, number: u64) -> (Option<SessionId>, AgentRequest) {
    if method == asked::CREATE {
        return requests::ask(params);
    }
    if !is_known(method) {
        // Nothing but the session is of interest, and not even that is certain to be there.
        return (None, requests::not_offered(method));
    }
    requests::of_session(method, params, |value| decode(method, value, number))
}

fn is_known(method: &str) -> bool {
    method == PERMISSION || method.starts_with("fs/") || method.starts_with("terminal/")
}

/// A request whose parameters were read whole.
pub fn decode(method: &str, value: Value, number: u64) -> AgentRequest {
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
            counts: false,
        }),
        "fs/write_text_file" => typed(method, value, |r: schema::WriteTextFileRequest| AgentRequest::WriteFile {
            path: r.path.to_string_lossy().into_owned(),
            content: r.content.into(),
            how: WriteHow::default(),
        }),
        "terminal/create" => typed(method, value, |r: schema::CreateTerminalRequest| {
            let spec = TerminalSpec {
                command: r.command,
                args: r.args,
                env: r.env.into_iter().map(|e| (e.name, e.value)).collect(),
                cwd: r.cwd.map(|c| c.to_string_lossy().into_owned()),
                limit: r.output_byte_limit,
                patience: None,
            };
            command_to_run(method, spec)
        }),
        "terminal/output" => {
            typed(method, value, |r: schema::TerminalOutputRequest| AgentRequest::TerminalOutput(term(&r.terminal_id)))
        }
        "terminal/wait_for_exit" => typed(method, value, |r: schema::WaitForTerminalExitRequest| {
            AgentRequest::TerminalWait { term: term(&r.terminal_id), patience: None, with_output: false }
        }),
        "terminal/kill" => typed(method, value, |r: schema::KillTerminalRequest| AgentRequest::TerminalKill {
            term: term(&r.terminal_id),
            signal: None,
        }),
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
    match requests::options(value) {
        Ok(options) => AgentRequest::Permission { tool, options },
        Err(why) => too_large(method, why),
    }
}

#[cfg(test)]
#[path = "inbound_tests.rs"]
mod tests;
