//! Results of our own calls in the dialect D0.

use super::D0;
use super::inbound::value_of_option;
use super::outbound::offered;
use crate::agent::codec::SharedCodec;
use crate::agent::codec::v1::results as first;
use crate::agent::codec::versionless::content::{id_of, list_of, need_id, str_of, u64_of, words_of};
use crate::agent::codec::versionless::results::{malformed, value_of, version};
use crate::agent::quirks;
use crate::base::date;
use crate::base::limits::{self, MAX_CHOICES, MAX_ID, MAX_NAME, MAX_WORDS};
use crate::model::event::{
    AgentCaps, CallError, Can, Dialect, ErrorKind, InitResult, Opening, PromptAnswer, SessionResult, Stop,
};
use crate::model::ids::SessionId;
use crate::model::options::{Choice, ConfigOption, Mode, Modes, OptionKind, OptionValue};
use serde_json::Value;
use std::sync::Arc;

/// What the answer to the first call says. An agent that requires what is not offered is refused (S-017).
pub fn met(result: &Value) -> Result<(SharedCodec, InitResult), CallError> {
    let protocol = version(result)?;
    let required = result.get("requiredClientCapabilities").unwrap_or(&Value::Null);
    let mut missing = Vec::new();
    not_offered(required, &offered(), "", &mut missing);
    if !missing.is_empty() {
        let message = format!("the agent requires of a client what this one does not have: {}", missing.join(", "));
        return Err(CallError::new(ErrorKind::Unsupported, message));
    }
    let info = result.get("agentInfo").unwrap_or(&Value::Null);
    let caps = result.get("capabilities").unwrap_or(&Value::Null);
    let flag = |pointer: &str| caps.pointer(pointer).and_then(Value::as_bool);
    let session = caps.get("sessionCapabilities").unwrap_or(&Value::Null);
    let ids = |member: &str| -> Vec<String> {
        let all = list_of(session, member).iter().take(MAX_CHOICES).filter_map(Value::as_str);
        all.filter(|id| id.len() <= MAX_ID).map(str::to_owned).collect()
    };
    let transports = caps.pointer("/mcpCapabilities/transport").and_then(Value::as_array);
    let takes_servers = flag("/mcpCapabilities/servers").unwrap_or(transports.is_some());
    let has =
        |word: &str| takes_servers && transports.is_some_and(|all| all.iter().any(|one| one.as_str() == Some(word)));
    let name = words_of(info, "name", MAX_NAME);
    let init = InitResult {
        caps: AgentCaps {
            sessions: [Can::Load].into_iter().filter(|_| flag("/loadSession") == Some(true)).collect(),
            youngest: quirks::youngest(name.as_deref()),
            against_loss: quirks::against_loss(name.as_deref()),
            // Nothing tells which blocks a prompt may have: all of them.
            image: true,
            audio: true,
            embedded_context: true,
            no_mcp_stdio: !has("stdio"),
            mcp_http: has("http"),
            mcp_sse: has("sse"),
            ..AgentCaps::default()
        },
        name,
        title: words_of(info, "title", MAX_NAME),
        version: words_of(info, "version", MAX_NAME),
        protocol,
        dialect: Dialect::D0,
        evidence: None,
        auth_methods: Vec::new(),
    };
    let mode = |id: String| Mode { name: id.clone(), id, description: None };
    let codec = D0 {
        modes: ids("modes").into_iter().map(mode).collect(),
        options: ids("configOptions"),
        takes_servers,
        never_stops: flag("/promptCapabilities/cancellation") == Some(false),
    };
    Ok((Arc::new(codec), init))
}

/// The names of all that is required and not offered. A number asks for at least as much.
fn not_offered(required: &Value, offered: &Value, at: &str, missing: &mut Vec<String>) {
    let is_there = match (required, offered) {
        (Value::Object(all), offered) => {
            for (name, wanted) in all.iter().take(MAX_CHOICES) {
                let at = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
                not_offered(wanted, offered.get(name).unwrap_or(&Value::Null), &at, missing);
            }
            true
        }
        (Value::Bool(true), offered) => *offered == Value::Bool(true) || offered.is_object(),
        (Value::Number(wanted), offered) => offered.as_f64() >= wanted.as_f64(),
        _ => true,
    };
    if !is_there {
        missing.push(limits::cut(at, MAX_NAME));
    }
}

pub fn opened(codec: &D0, how: &Opening, value: &Value) -> Result<SessionResult, CallError> {
    let id = match how.id() {
        Some(id) => id.clone(),
        None => SessionId::from(need_id(value, "sessionId").map_err(|why| malformed("session/new", &why))?),
    };
    let current = id_of(value, "mode").or_else(|| id_of(value, "currentMode"));
    let has_modes = !codec.modes.is_empty() || current.is_some();
    let modes = has_modes.then(|| Modes {
        current: current.unwrap_or_default(),
        pending: None,
        available: codec.modes.clone(),
    });
    let set = value.get("configOptions").unwrap_or(&Value::Null);
    let more = set.as_object().into_iter().flatten().map(|(key, _)| key).filter(|key| key.len() <= MAX_ID);
    let mut keys: Vec<&String> = codec.options.iter().collect();
    for key in more.take(MAX_CHOICES) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let options = keys.into_iter().map(|key| option(key, set.get(key))).collect();
    Ok(SessionResult {
        id,
        modes,
        options: Some(options),
        model: None,
        commands: None,
        earlier: u64_of(value, "messageCount").unwrap_or_default(),
    })
}

/// Of what kind its value is, only the value tells.
fn option(key: &str, value: Option<&Value>) -> ConfigOption {
    let kind = match value.map(value_of_option) {
        Some(OptionValue::Bool(current)) => OptionKind::Bool { current },
        Some(OptionValue::Id(current)) => {
            let name = current.clone();
            let known = Choice { value: current.clone(), name, description: None, group: None };
            OptionKind::Select { current, values: vec![known] }
        }
        None => OptionKind::Select { current: String::new(), values: Vec::new() },
    };
    ConfigOption { id: key.to_owned(), name: key.to_owned(), description: None, category: None, kind, pending: None }
}

pub fn prompt(result: &str) -> Result<PromptAnswer, CallError> {
    let ended = first::prompt(result);
    if ended.stop == Stop::Odd(Some("error".to_owned())) {
        let value = value_of(result);
        let why = words_of(&value, "error", MAX_WORDS).or_else(|| words_of(&value, "message", MAX_WORDS));
        let message = why.unwrap_or_else(|| "the turn has failed (stopReason error)".to_owned());
        return Err(CallError::new(ErrorKind::Other, message));
    }
    Ok(PromptAnswer::Ended(ended))
}

/// A moment as text, or as a number of seconds or milliseconds from 1970.
fn moment(value: &Value) -> Option<i64> {
    const MILLISECONDS: i64 = 100_000_000_000;
    match value {
        Value::String(text) => date::seconds(text),
        value => value.as_i64().map(|number| if number < MILLISECONDS { number } else { number / 1000 }),
    }
}

/// A result may say that it failed (S-020).
pub fn authenticated(result: &Value) -> Result<Option<i64>, CallError> {
    if result.get("success") != Some(&Value::Bool(false)) {
        return Ok(result.get("expiresAt").and_then(moment));
    }
    let why = str_of(result, "error").map(|why| limits::cut(why, MAX_WORDS));
    Err(CallError::new(ErrorKind::Other, why.unwrap_or_else(|| "the agent refuses it without a reason".to_owned())))
}
