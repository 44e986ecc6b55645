//! Results of our own calls, as far as the client uses them, and the end of a turn.
//!
//! Missing and malformed optional members count as absent; a result without its required members is an error of the
//! call, never of the connection.

use super::VERSION;
use super::outbound;
use crate::agent::codec::versionless::content::{i64_of, id_of, list_of, message_id, need_id, str_of, words_of};
use crate::agent::codec::versionless::results::{self, Names, is_short, malformed, value_of};
use crate::agent::codec::versionless::updates;
use crate::agent::codec::versionless::{auth_status, bounded};
use crate::agent::quirks;
use crate::base::limits::{MAX_CHOICES, MAX_NAME, MAX_WORDS};
use crate::model::event::{
    AgentCaps, AuthKind, AuthMethod, CallError, Can, Dialect, ErrorKind, InitResult, Opening, PromptAnswer,
    PromptResult, SessionResult, Stop,
};
use crate::model::ids::SessionId;
use serde_json::Value;
use std::collections::BTreeSet;

pub const OPTIONS: Names = Names { option: "configId", group: "groupId" };

pub fn initialize(result: &str) -> Result<InitResult, CallError> {
    let value = value_of(result);
    let version = results::version(&value)?;
    if version != VERSION {
        // One that answers with less was told nothing of what it would need in that version (V2-007).
        let message = format!("the agent speaks version {version} of the protocol, version {VERSION} was asked for");
        return Err(CallError::new(ErrorKind::WrongVersion, message));
    }
    let info = value.get("info").unwrap_or(&Value::Null);
    let caps = value.get("capabilities").unwrap_or(&Value::Null);
    // Without it nothing is offered (V2-015).
    let session = caps.get("session").filter(|session| session.is_object()).unwrap_or(&Value::Null);
    let has = |of: &Value, member: &str| of.get(member).is_some_and(Value::is_object);
    let prompt = session.get("prompt").unwrap_or(&Value::Null);
    let mcp = session.get("mcp").unwrap_or(&Value::Null);
    let can = |what: &Can| match what {
        Can::Load | Can::Resume | Can::List | Can::Close => session.is_object(),
        Can::Fork | Can::Delete | Can::Title | Can::Directories => has(session, what.word()),
    };
    let name = words_of(info, "name", MAX_NAME);
    let auth_methods = auth_methods(list_of(&value, "authMethods"));
    Ok(InitResult {
        title: words_of(info, "title", MAX_NAME),
        version: words_of(info, "version", MAX_NAME),
        protocol: version,
        caps: AgentCaps {
            sessions: Can::ALL.into_iter().filter(can).collect(),
            youngest: quirks::youngest(name.as_deref()),
            against_loss: quirks::against_loss(name.as_deref()),
            image: has(prompt, "image"),
            audio: has(prompt, "audio"),
            embedded_context: has(prompt, "embeddedContext"),
            no_mcp_stdio: !has(mcp, "stdio"),
            mcp_http: has(mcp, "http"),
            mcp_sse: false,
            works_alone: true,
            tells_state: true,
            steers: results::steers(&value),
            log_out: !auth_methods.is_empty(),
            auth_status: auth_status::is_offered(caps),
            tells_account: auth_status::is_told(caps),
        },
        name,
        auth_methods,
        dialect: Dialect::Canonical,
        evidence: None,
    })
}

/// Also found in the data of an error.
pub fn auth_methods(list: &[Value]) -> Vec<AuthMethod> {
    list.iter().take(MAX_CHOICES).filter_map(auth_method).collect()
}

/// One of a type that is not known here is no way to log in (V2-018).
fn auth_method(value: &Value) -> Option<AuthMethod> {
    let id = id_of(value, "methodId")?;
    let strings = |member: &str| -> Vec<String> {
        list_of(value, member).iter().filter_map(|a| a.as_str().map(str::to_owned)).collect()
    };
    let kind = match str_of(value, "type")? {
        "agent" => AuthKind::Agent,
        "terminal" => AuthKind::Terminal { args: strings("args"), env: variables(list_of(value, "env"))? },
        _ => return None,
    };
    let name = words_of(value, "name", MAX_NAME).unwrap_or_else(|| id.clone());
    let method = AuthMethod { id, name, description: words_of(value, "description", MAX_WORDS), kind };
    // A command is for a person to run: whole or not at all.
    is_short(&method.kind).then_some(method)
}

/// Nothing where a name comes twice (V2-019).
fn variables(list: &[Value]) -> Option<Vec<(String, String)>> {
    let pair = |one: &Value| Some((str_of(one, "name")?.to_owned(), str_of(one, "value")?.to_owned()));
    let pairs: Vec<(String, String)> = list.iter().filter_map(pair).collect();
    let names: BTreeSet<&str> = pairs.iter().map(|(name, _)| name.as_str()).collect();
    (names.len() == pairs.len()).then_some(pairs)
}

/// Of a session that is to go on the id is known.
pub fn opened(how: &Opening, result: &str) -> Result<SessionResult, CallError> {
    let read = bounded::read(result).ok();
    let value = read.as_ref().map_or(&Value::Null, |read| &read.value);
    let id = match how.id() {
        Some(id) => id.clone(),
        None => {
            let method = outbound::opening(how);
            SessionId::from(need_id(value, "sessionId").map_err(|why| malformed(method, &why))?)
        }
    };
    let has_commands = value.get("availableCommands").is_some_and(Value::is_array);
    Ok(SessionResult {
        id,
        modes: None,
        options: value.get("configOptions").and_then(Value::as_array).map(|list| results::options(list, &OPTIONS)),
        model: None,
        commands: has_commands.then(|| updates::commands(value)),
        earlier: 0,
    })
}

/// An older draft answers without the id (V2-041).
pub fn prompt(result: &str) -> PromptAnswer {
    PromptAnswer::Taken { message: str_of(&value_of(result), "messageId").and_then(|id| message_id(id).ok()) }
}

/// How the work ended that an idle state tells of. A reason that is no word is none (V2-054).
pub fn ended(value: &Value) -> Result<PromptResult, CallError> {
    let reason = value.get("stopReason").filter(|reason| reason.is_string());
    if reason.and_then(Value::as_str) == Some("error") {
        let error = value.get("error").unwrap_or(&Value::Null);
        let message = words_of(error, "message", MAX_WORDS).unwrap_or_else(|| "without a word".to_owned());
        let code = i64_of(error, "code").and_then(|code| i32::try_from(code).ok()).unwrap_or(0);
        return Err(CallError { code, ..CallError::new(ErrorKind::Other, message) });
    }
    // Some agents give a reason only where it is another one (V2-051).
    let stop = if reason.is_none() { Stop::EndTurn } else { results::stop(reason) };
    Ok(PromptResult { stop, usage: results::usage(value) })
}
