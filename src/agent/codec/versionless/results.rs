//! Results of our own calls that are the same in all versions, or differ in the names of a few members only.
//!
//! Missing and malformed optional members count as absent (section 3 of the checklist); a result without its
//! required members is an error of the call, never of the connection.

use super::bounded::{self, Read};
use super::content::{id_of, list_of, str_of, words_of};
use super::{errors, updates};
use crate::base::limits::{
    self, MAX_CHOICES, MAX_COMMAND, MAX_DIRECTORIES, MAX_LISTED, MAX_NAME, MAX_PATH, MAX_USAGE, MAX_VALUES,
    MAX_VARIABLES, MAX_WORDS,
};
use crate::base::{paths, sanitize};
use crate::model::event::{AuthKind, CallError, Listed, SessionPage, Steered, Stop, Update};
use crate::model::ids::SessionId;
use crate::model::options::{Choice, ConfigOption, OptionKind};
use crate::model::tool::size_of_value;
use serde_json::Value;
use std::path::Path;

pub fn value_of(result: &str) -> Value {
    bounded::read(result).map_or(Value::Null, |read| read.value)
}

pub fn malformed(method: &str, why: &str) -> CallError {
    errors::failed(format!("malformed response to {method}: {why}"))
}

/// The version of a handshake's result: a whole number in 0…65535, nothing else.
pub fn version(value: &Value) -> Result<u16, CallError> {
    let version = value.get("protocolVersion").and_then(Value::as_u64).and_then(|n| u16::try_from(n).ok());
    version.ok_or_else(|| {
        let got = value.get("protocolVersion").map_or_else(|| "nothing".to_owned(), ToString::to_string);
        let got = limits::cut(got, limits::MAX_ID);
        malformed("initialize", &format!("protocolVersion is {got}, not a whole number"))
    })
}

/// Whether a command to log in is one that a person can be shown whole.
pub fn is_short(kind: &AuthKind) -> bool {
    let bytes = |list: &[String]| list.iter().map(String::len).sum::<usize>();
    let pairs = |list: &[(String, String)]| list.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
    let (size, most) = match kind {
        AuthKind::Agent => (0, 0),
        AuthKind::Terminal { args, env } => (bytes(args) + pairs(env), args.len().max(env.len())),
        AuthKind::Command { command, args, env } => {
            (command.len() + bytes(args) + pairs(env), args.len().max(env.len()))
        }
        AuthKind::Env { vars: names, .. } | AuthKind::Typed { names } => (bytes(names), names.len()),
    };
    size <= MAX_COMMAND && most <= MAX_VARIABLES
}

/// The title that the agent has given a session when it was asked to.
pub fn titled(result: &str) -> Option<String> {
    words_of(&serde_json::from_str(result).ok()?, "title", MAX_NAME)
}

/// A session without a usable id is left out, and so is one whose directory cannot be used: it could not be opened.
pub fn listed(result: &str) -> Result<SessionPage, CallError> {
    let value = value_of(result);
    let Some(list) = value.get("sessions").and_then(Value::as_array) else {
        return Err(malformed("session/list", "sessions is missing"));
    };
    let sessions = list.iter().take(MAX_LISTED).filter_map(one_listed).collect();
    let cursor = value.get("nextCursor").filter(|cursor| !cursor.is_null());
    let next = cursor.and_then(Value::as_str).filter(|cursor| cursor.len() <= MAX_WORDS).map(str::to_owned);
    let is_broken_off = cursor.is_some() && next.is_none();
    Ok(SessionPage { sessions, is_cut: list.len() > MAX_LISTED, next, is_broken_off })
}

fn one_listed(value: &Value) -> Option<Listed> {
    let path = |value: &Value| {
        let path = value.as_str().filter(|path| path.len() <= MAX_PATH)?;
        path.starts_with('/').then(|| paths::normalize(Path::new(path)).to_string_lossy().into_owned())
    };
    let cwd = match value.get("cwd").filter(|cwd| !cwd.is_null()) {
        Some(cwd) => Some(path(cwd)?),
        None => None,
    };
    let further = list_of(value, "additionalDirectories").iter().filter_map(path);
    let title = words_of(value, "title", MAX_NAME).map(|title| sanitize::line(title.trim()).into_owned());
    Some(Listed {
        id: SessionId::from(id_of(value, "sessionId").filter(|id| !id.is_empty())?),
        cwd,
        additional: further.take(MAX_DIRECTORIES).collect(),
        title: title.filter(|title| !title.is_empty()),
        updated: words_of(value, "updatedAt", MAX_NAME),
    })
}

/// How a version names the ids of options and of groups of values.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    pub option: &'static str,
    pub group: &'static str,
}

/// Flat and grouped lists; bad values are dropped one by one, an option of unknown type as a whole.
pub fn options(list: &[Value], names: &Names) -> Vec<ConfigOption> {
    list.iter().take(MAX_CHOICES).filter_map(|one| option(one, names)).collect()
}

fn option(value: &Value, names: &Names) -> Option<ConfigOption> {
    let id = id_of(value, names.option)?;
    let kind = match str_of(value, "type")? {
        "select" => {
            let mut values = Vec::new();
            for item in list_of(value, "options") {
                if let Some(group) = str_of(item, names.group) {
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

/// An update with the whole list.
pub fn config_options(value: &Value, read: &Read, names: &Names) -> Result<Update, String> {
    let more = updates::beyond(updates::has(value, "configOptions")?, "configOptions", MAX_CHOICES, read);
    Ok(updates::partly(Update::Options(options(list_of(value, "configOptions"), names)), "options", more))
}

/// `None` when the agent sent no list at all (fact 18).
pub fn set_option(result: &str, names: &Names) -> Option<Vec<ConfigOption>> {
    let value = value_of(result);
    value.get("configOptions").and_then(Value::as_array).map(|list| options(list, names))
}

/// Why a turn ended.
pub fn stop(reason: Option<&Value>) -> Stop {
    match reason {
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
    }
}

/// As reported, unless that is very long.
pub fn usage(value: &Value) -> Option<Value> {
    let usage = value.get("usage").filter(|usage| usage.is_object())?;
    Some(match size_of_value(usage) {
        size if size > MAX_USAGE => serde_json::json!({ "left_out": limits::left_out(size) }),
        _ => usage.clone(),
    })
}

/// Whether the agent takes words for a turn that runs: an extension that adapters of today agree on.
pub fn steers(init: &Value) -> bool {
    init.pointer("/_meta/steering/supported").and_then(Value::as_bool).unwrap_or(false)
}

/// What it has done with them; a word that is not known here stands for what needs nothing more of us.
pub fn steered(result: &str) -> Steered {
    let value = value_of(result);
    match str_of(&value, "outcome") {
        Some("promptRequired") => Steered::PromptRequired,
        Some("startedNewTurn") => Steered::NewTurn,
        _ => Steered::Injected,
    }
}
