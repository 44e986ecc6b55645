//! Results of our own calls, as far as the client uses them.
//!
//! Missing and malformed optional members count as absent (section 3 of the checklist); a result without its
//! required members is an error of the call, never of the connection.

use super::bounded;
use super::content::{id_of, list_of, need_id, str_of, string_of, words_of};
use super::errors;
use super::outbound::{self, VERSION};
use super::tools::{env_map, login_command};
use crate::agent::quirks;
use crate::base::limits::{
    self, MAX_CHOICES, MAX_COMMAND, MAX_DIRECTORIES, MAX_ID, MAX_LISTED, MAX_NAME, MAX_PATH, MAX_USAGE, MAX_VALUES,
    MAX_VARIABLES, MAX_WORDS,
};
use crate::base::sanitize;
use crate::model::event::{
    AgentCaps, AuthKind, AuthMethod, CallError, Can, ErrorKind, InitResult, Listed, Opening, PromptResult, SessionPage,
    SessionResult, Stop,
};
use crate::model::ids::SessionId;
use crate::model::options::{Choice, ConfigOption, Mode, Modes, OLDER_MODELS, OptionKind};
use crate::model::tool::size_of_value;
use serde_json::Value;

fn value_of(result: &str) -> Value {
    bounded::read(result).map_or(Value::Null, |read| read.value)
}

fn malformed(method: &str, why: &str) -> CallError {
    errors::failed(format!("malformed response to {method}: {why}"))
}

/// the version is an integer in 0…65535, nothing else.
pub fn initialize(result: &str) -> Result<InitResult, CallError> {
    let value = value_of(result);
    let version = match value.get("protocolVersion") {
        Some(Value::Number(n)) if n.is_u64() => n.as_u64().and_then(|n| u16::try_from(n).ok()),
        _ => None,
    };
    let Some(version) = version else {
        let got = value.get("protocolVersion").map_or_else(|| "nothing".to_owned(), ToString::to_string);
        let got = limits::cut(got, MAX_ID);
        return Err(malformed("initialize", &format!("protocolVersion is {got}, not a whole number")));
    };
    if version != VERSION.as_u16() {
        let ours = VERSION.as_u16();
        let message = format!("the agent speaks protocol version {version}, this client speaks version {ours}");
        return Err(CallError::new(ErrorKind::WrongVersion, message));
    }
    let info = value.get("agentInfo").unwrap_or(&Value::Null);
    let caps = value.get("agentCapabilities").unwrap_or(&Value::Null);
    let prompt = caps.get("promptCapabilities").unwrap_or(&Value::Null);
    let name = words_of(info, "name", MAX_NAME);
    let youngest = quirks::youngest(name.as_deref());
    let mcp = caps.get("mcpCapabilities").unwrap_or(&Value::Null);
    Ok(InitResult {
        name,
        title: words_of(info, "title", MAX_NAME),
        version: words_of(info, "version", MAX_NAME),
        caps: AgentCaps {
            sessions: Can::ALL.into_iter().filter(|what| can(*what, caps)).collect(),
            youngest,
            image: flag(prompt, "image"),
            audio: flag(prompt, "audio"),
            embedded_context: flag(prompt, "embeddedContext"),
            mcp_http: flag(mcp, "http"),
            mcp_sse: flag(mcp, "sse"),
            log_out: caps.get("auth").and_then(|auth| auth.get("logout")).is_some_and(Value::is_object),
        },
        auth_methods: auth_methods(list_of(&value, "authMethods")),
    })
}

fn flag(of: &Value, member: &str) -> bool {
    of.get(member).and_then(Value::as_bool).unwrap_or(false)
}

fn can(what: Can, caps: &Value) -> bool {
    if what == Can::Load {
        return flag(caps, "loadSession");
    }
    caps.get("sessionCapabilities").and_then(|session| session.get(what.word())).is_some_and(Value::is_object)
}

/// Also found in the data of an error.
pub fn auth_methods(list: &[Value]) -> Vec<AuthMethod> {
    list.iter().take(MAX_CHOICES).filter_map(auth_method).collect()
}

fn auth_method(value: &Value) -> Option<AuthMethod> {
    let id = id_of(value, "id")?;
    let meta = value.get("_meta");
    let described = meta.and_then(|m| m.get("terminal-auth")).and_then(login_command);
    let in_terminal =
        str_of(value, "type") == Some("terminal") || meta.and_then(|m| str_of(m, "type")) == Some("terminal");
    let strings = |member: &str| -> Vec<String> {
        list_of(value, member).iter().filter_map(|a| a.as_str().map(str::to_owned)).collect()
    };
    let kind = if let Some(described) = described {
        described
    } else if in_terminal {
        AuthKind::Terminal { args: strings("args"), env: env_map(value.get("env")) }
    } else if str_of(value, "type") == Some("env_var") {
        let var = |v: &Value| v.as_str().map(str::to_owned).or_else(|| string_of(v, "name"));
        let vars: Vec<String> = list_of(value, "vars").iter().filter_map(var).collect();
        if vars.is_empty() {
            // There is nothing that a person could set.
            return None;
        }
        let is_open = |v: &&Value| v.get("secret") == Some(&Value::Bool(false));
        let open = list_of(value, "vars").iter().filter(is_open).filter_map(var).collect();
        AuthKind::Env { vars, open }
    } else {
        AuthKind::Agent
    };
    let name = words_of(value, "name", MAX_NAME).unwrap_or_else(|| id.clone());
    let method = AuthMethod { id, name, description: words_of(value, "description", MAX_WORDS), kind };
    // A command is for a person to run: whole or not at all.
    is_short(&method.kind).then_some(method)
}

fn is_short(kind: &AuthKind) -> bool {
    let bytes = |list: &[String]| list.iter().map(String::len).sum::<usize>();
    let pairs = |list: &[(String, String)]| list.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
    let (size, most) = match kind {
        AuthKind::Agent => (0, 0),
        AuthKind::Terminal { args, env } => (bytes(args) + pairs(env), args.len().max(env.len())),
        AuthKind::Command { command, args, env } => {
            (command.len() + bytes(args) + pairs(env), args.len().max(env.len()))
        }
        AuthKind::Env { vars, .. } => (bytes(vars), vars.len()),
    };
    size <= MAX_COMMAND && most <= MAX_VARIABLES
}

/// Of a session that is to go on the id is known; its result may be nothing at all.
pub fn opened(how: &Opening, result: &str) -> Result<SessionResult, CallError> {
    let value = value_of(result);
    let id = match how.id() {
        Some(id) => id.clone(),
        None => {
            let method = outbound::opening(how);
            SessionId::from(need_id(&value, "sessionId").map_err(|why| malformed(method, &why))?)
        }
    };
    Ok(SessionResult {
        id,
        modes: value.get("modes").and_then(modes),
        options: value.get("configOptions").and_then(Value::as_array).map(|list| options(list)),
        model: value.get("models").and_then(older_models),
    })
}

/// A session without a usable id is left out, and so is one whose directory cannot be used: it could not be opened.
pub fn titled(result: &str) -> Option<String> {
    words_of(&serde_json::from_str(result).ok()?, "title", MAX_NAME)
}

pub fn listed(result: &str) -> Result<SessionPage, CallError> {
    let value = value_of(result);
    let Some(list) = value.get("sessions").and_then(Value::as_array) else {
        return Err(malformed("session/list", "sessions is missing"));
    };
    let sessions = list.iter().take(MAX_LISTED).filter_map(one_listed).collect();
    let next = value.get("nextCursor").filter(|cursor| !cursor.is_null());
    let next = next.map(|cursor| match cursor.as_str() {
        Some(cursor) if cursor.len() <= MAX_WORDS => Ok(cursor.to_owned()),
        _ => Err(malformed("session/list", "nextCursor cannot be given back")),
    });
    Ok(SessionPage { sessions, next: next.transpose()? })
}

fn one_listed(value: &Value) -> Option<Listed> {
    let path = |value: &Value| {
        let path = value.as_str().filter(|path| path.len() <= MAX_PATH)?;
        path.starts_with('/').then(|| path.to_owned())
    };
    let further = list_of(value, "additionalDirectories").iter().filter_map(path);
    let title = words_of(value, "title", MAX_NAME).map(|title| sanitize::line(title.trim()).into_owned());
    Some(Listed {
        id: SessionId::from(id_of(value, "sessionId").filter(|id| !id.is_empty())?),
        cwd: value.get("cwd").and_then(path),
        additional: further.take(MAX_DIRECTORIES).collect(),
        title: title.filter(|title| !title.is_empty()),
        updated: words_of(value, "updatedAt", MAX_NAME),
    })
}

/// without a current id or without a list there are no modes.
fn modes(value: &Value) -> Option<Modes> {
    let available = value.get("availableModes")?.as_array()?;
    let mode = |m: &Value| {
        let id = id_of(m, "id")?;
        let name = words_of(m, "name", MAX_NAME).unwrap_or_else(|| id.clone());
        Some(Mode { id, name, description: words_of(m, "description", MAX_NAME) })
    };
    Some(Modes {
        current: id_of(value, "currentModeId")?,
        pending: None,
        available: available.iter().take(MAX_CHOICES).filter_map(mode).collect(),
    })
}

fn older_models(value: &Value) -> Option<ConfigOption> {
    let model = |m: &Value| {
        let id = id_of(m, "modelId")?;
        Some(Choice {
            name: words_of(m, "name", MAX_NAME).unwrap_or_else(|| id.clone()),
            description: words_of(m, "description", MAX_NAME),
            group: None,
            value: id,
        })
    };
    let values = list_of(value, "availableModels").iter().take(MAX_VALUES).filter_map(model).collect();
    Some(ConfigOption {
        id: OLDER_MODELS.to_owned(),
        name: "model".to_owned(),
        description: None,
        category: Some("model".to_owned()),
        kind: OptionKind::Select { current: id_of(value, "currentModelId")?, values },
        pending: None,
    })
}

/// Flat and grouped lists; bad values are dropped one by one, an option of unknown type as a whole.
pub fn options(list: &[Value]) -> Vec<ConfigOption> {
    list.iter().take(MAX_CHOICES).filter_map(option).collect()
}

fn option(value: &Value) -> Option<ConfigOption> {
    let id = id_of(value, "id")?;
    let kind = match str_of(value, "type")? {
        "select" => {
            let mut values = Vec::new();
            for item in list_of(value, "options") {
                if let Some(group) = str_of(item, "group") {
                    let name = str_of(item, "name").unwrap_or(group);
                    values.extend(list_of(item, "options").iter().filter_map(|v| choice(v, Some(name))));
                } else {
                    values.extend(choice(item, None));
                }
            }
            values.truncate(MAX_VALUES);
            OptionKind::Select { current: id_of(value, "currentValue")?, values }
        }
        "boolean" => OptionKind::Bool { current: value.get("currentValue")?.as_bool()? },
        _ => return None,
    };
    Some(ConfigOption {
        name: words_of(value, "name", MAX_NAME).unwrap_or_else(|| id.clone()),
        description: words_of(value, "description", MAX_NAME),
        category: id_of(value, "category"),
        pending: None,
        kind,
        id,
    })
}

fn choice(value: &Value, group: Option<&str>) -> Option<Choice> {
    let id = id_of(value, "value")?;
    Some(Choice {
        name: words_of(value, "name", MAX_NAME).unwrap_or_else(|| id.clone()),
        description: words_of(value, "description", MAX_NAME),
        group: group.map(|group| limits::cut(group, MAX_NAME)),
        value: id,
    })
}

/// a missing or unknown reason ends the turn all the same.
pub fn prompt(result: &str) -> PromptResult {
    let value = value_of(result);
    let stop = match value.get("stopReason") {
        None | Some(Value::Null) => Stop::Odd(None),
        Some(Value::String(reason)) => match reason.as_str() {
            "end_turn" => Stop::EndTurn,
            "max_tokens" => Stop::MaxTokens,
            "max_turn_requests" => Stop::MaxTurnRequests,
            "refusal" => Stop::Refusal,
            "cancelled" => Stop::Cancelled,
            other => Stop::Odd(Some(limits::cut(other, MAX_NAME))),
        },
        Some(other) => Stop::Odd(Some(limits::cut(other.to_string(), MAX_NAME))),
    };
    PromptResult { stop, usage: value.get("usage").filter(|u| u.is_object()).map(usage) }
}

fn usage(value: &Value) -> Value {
    match size_of_value(value) {
        size if size > MAX_USAGE => serde_json::json!({ "left_out": limits::left_out(size) }),
        _ => value.clone(),
    }
}

/// `None` when the agent sent no list at all (fact 18).
pub fn set_option(result: &str) -> Option<Vec<ConfigOption>> {
    let value = value_of(result);
    value.get("configOptions").and_then(Value::as_array).map(|list| options(list))
}
