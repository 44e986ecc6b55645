//! Results of our own calls, as far as the client uses them.
//!
//! Missing and malformed optional members count as absent (section 3 of the checklist); a result without its
//! required members is an error of the call, never of the connection.

use super::outbound::{self, VERSION};
use super::tools::{env_map, login_command};
use crate::agent::codec::versionless::auth_status;
use crate::agent::codec::versionless::content::{id_of, list_of, need_id, str_of, string_of, words_of};
use crate::agent::codec::versionless::results::{self, Names, is_short, malformed, value_of};
use crate::agent::quirks;
use crate::base::limits::{MAX_CHOICES, MAX_NAME, MAX_VALUES, MAX_WORDS};
use crate::model::event::{
    AgentCaps, AuthKind, AuthMethod, CallError, Can, Dialect, ErrorKind, InitResult, Opening, PromptResult,
    SessionResult,
};
use crate::model::ids::SessionId;
use crate::model::options::{Choice, ConfigOption, Mode, Modes, OLDER_MODELS, OptionKind};
use serde_json::Value;

pub const OPTIONS: Names = Names { option: "id", group: "group" };

pub fn initialize(result: &str) -> Result<InitResult, CallError> {
    initialize_of(&value_of(result))
}

/// The same, when it was read.
pub fn initialize_of(value: &Value) -> Result<InitResult, CallError> {
    let version = results::version(value)?;
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
    let against_loss = quirks::against_loss(name.as_deref());
    let mcp = caps.get("mcpCapabilities").unwrap_or(&Value::Null);
    Ok(InitResult {
        name,
        title: words_of(info, "title", MAX_NAME),
        version: words_of(info, "version", MAX_NAME),
        protocol: version,
        caps: AgentCaps {
            sessions: Can::ALL.into_iter().filter(|what| can(*what, caps)).collect(),
            youngest,
            against_loss,
            image: flag(prompt, "image"),
            audio: flag(prompt, "audio"),
            embedded_context: flag(prompt, "embeddedContext"),
            mcp_http: flag(mcp, "http"),
            mcp_sse: flag(mcp, "sse"),
            no_mcp_stdio: false,
            works_alone: false,
            tells_state: false,
            steers: results::steers(value),
            log_out: caps.get("auth").and_then(|auth| auth.get("logout")).is_some_and(Value::is_object),
            auth_status: auth_status::is_offered(caps),
            tells_account: auth_status::is_told(caps),
        },
        auth_methods: auth_methods(list_of(value, "authMethods")),
        dialect: Dialect::Canonical,
        evidence: None,
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
        options: value.get("configOptions").and_then(Value::as_array).map(|list| results::options(list, &OPTIONS)),
        model: value.get("models").and_then(older_models),
        commands: None,
        earlier: 0,
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

/// a missing or unknown reason ends the turn all the same.
pub fn prompt(result: &str) -> PromptResult {
    let value = value_of(result);
    PromptResult { stop: results::stop(value.get("stopReason")), usage: results::usage(&value) }
}

/// `None` when the agent sent no list at all (fact 18).
pub fn set_option(result: &str) -> Option<Vec<ConfigOption>> {
    results::set_option(result, &OPTIONS)
}
