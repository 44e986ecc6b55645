//! Which dialect a message is in, by its shape.
//!
//! Reads no more than names and kinds of members. Invariants: where members of the documented protocol are there, they
//! count (S-016); what no test fits is in the documented protocol (S-015).

use crate::agent::codec::versionless::content::{list_of, str_of};
use crate::agent::codec::versionless::requests::PERMISSION;
use crate::model::event::Dialect;
use crate::wire::json::members;
use serde_json::Value;
use serde_json::value::RawValue;

/// Members of an update by which something is looked up or judged, beside those of version 1.
pub const USED: [&str; 12] = [
    "data",
    "tool",
    "input",
    "output",
    "location",
    "toolKind",
    "oldContent",
    "newContent",
    "hunks",
    "currentMode",
    "key",
    "currentValue",
];

/// The dialect of the answer to the first call, and what shows it (1.1). Nothing: another version.
pub fn of_handshake(result: &Value) -> Option<(Dialect, &'static str)> {
    if result.get("protocolVersion").and_then(Value::as_u64) != Some(1) {
        return None;
    }
    let caps = result.get("agentCapabilities").unwrap_or(&Value::Null);
    if result.get("agentCapabilities").is_none() && result.get("capabilities").is_some_and(Value::is_object) {
        return Some((Dialect::D0, "its answer to initialize has `capabilities`"));
    }
    if result.get("authenticationMethods").is_some() {
        return Some((Dialect::D3, "its answer to initialize has `authenticationMethods`"));
    }
    if caps.get("sessionModes").is_some() {
        return Some((Dialect::D3, "its answer to initialize has `sessionModes`"));
    }
    if caps.pointer("/mcpCapabilities/supportedTransports").is_some() {
        return Some((Dialect::D3, "its answer to initialize has `supportedTransports`"));
    }
    if caps.get("mcp").is_some() {
        return Some((Dialect::D4, "its answer to initialize has `agentCapabilities.mcp`"));
    }
    if caps.pointer("/promptCapabilities/content").is_some_and(Value::is_array) {
        return Some((Dialect::D4, "its answer to initialize lists `promptCapabilities.content`"));
    }
    Some((Dialect::Canonical, ""))
}

/// The dialect of the parameters of an update (1.2).
pub fn of_update(params: &Value) -> Dialect {
    let Some(update) = params.get("update") else {
        let is_d0 = str_of(params, "type").is_some() && params.get("data").is_some_and(Value::is_object);
        return if is_d0 { Dialect::D0 } else { Dialect::Canonical };
    };
    if update.get("sessionUpdate").is_some_and(Value::is_string) {
        return Dialect::Canonical;
    }
    if str_of(update, "type").is_some() {
        return Dialect::D3;
    }
    if matches!(str_of(update, "kind"), Some("tool_call" | "tool_call_update")) {
        return Dialect::D4;
    }
    let has_steps = update.get("plan").is_some_and(|plan| plan.get("steps").is_some_and(Value::is_array));
    if has_steps { Dialect::D4 } else { Dialect::Canonical }
}

/// The dialect of a request, over a connection on which `locked` is spoken. Without a session only what another member
/// shows is of D0: an agent that has left it out by mistake is told so.
pub fn of_request(method: &str, params: &str, locked: Dialect) -> Dialect {
    let Some(service) = method.strip_prefix("fs/").or_else(|| method.strip_prefix("terminal/")) else {
        return if method == PERMISSION { of_permission(params, locked) } else { Dialect::Canonical };
    };
    let there = there(params);
    let has = |names: &[&str]| names.iter().any(|name| there.iter().any(|(known, _)| known == name));
    let is_map = |name: &str| there.iter().any(|(known, value)| *known == name && value.starts_with('{'));
    let is_d0 = locked == Dialect::D0;
    if !has(&["sessionId"]) {
        let shows = match service {
            "read_text_file" => has(&["startLine", "endLine", "encoding"]),
            "write_text_file" => has(&["createDirectories", "overwrite", "encoding"]),
            "create" => is_map("env") || has(&["timeout"]),
            "wait_for_exit" => has(&["timeout"]),
            "kill" => has(&["signal"]),
            _ => false,
        };
        return if shows || is_d0 { Dialect::D0 } else { Dialect::Canonical };
    }
    // What version 1 has under another name settles it.
    let shown = match service {
        "read_text_file" if has(&["line", "limit"]) => Some(Dialect::Canonical),
        "read_text_file" if has(&["endLine", "encoding"]) => Some(Dialect::D0),
        "read_text_file" if has(&["lineLimit", "startLine"]) => Some(Dialect::D3),
        "write_text_file" if has(&["createDirectories", "overwrite", "encoding"]) => Some(Dialect::D0),
        "create" if is_map("env") => Some(Dialect::D3),
        "create" if has(&["outputByteLimit"]) => Some(Dialect::Canonical),
        "wait_for_exit" if has(&["timeout"]) => Some(Dialect::D3),
        _ => None,
    };
    shown.unwrap_or(if is_d0 { Dialect::Canonical } else { locked })
}

fn of_permission(params: &str, locked: Dialect) -> Dialect {
    let begins = |name: &str, with: char| member(params, name).is_some_and(|value| value.get().starts_with(with));
    if begins("toolCall", '{') && begins("options", '[') {
        return Dialect::Canonical;
    }
    let options = member(params, "options");
    if options.is_none() && begins("operation", '"') && member(params, "resource").is_some() {
        return Dialect::D0;
    }
    let labelled = options.is_some_and(|options| {
        let value: Value = serde_json::from_str(&format!("{{\"options\":{}}}", options.get())).unwrap_or_default();
        list_of(&value, "options").iter().any(|option| str_of(option, "label").is_some())
    });
    if labelled && member(params, "toolCall").is_none() { Dialect::D3 } else { locked }
}

/// A member that is there and not null.
fn member<'a>(params: &'a str, name: &str) -> Option<&'a RawValue> {
    let [value] = members(params, [name]).ok()?;
    value.filter(|value| value.get() != "null")
}

/// Members of requests for files and terminals by which dialects differ.
const TELLING: [&str; 13] = [
    "sessionId",
    "line",
    "limit",
    "startLine",
    "endLine",
    "lineLimit",
    "encoding",
    "createDirectories",
    "overwrite",
    "env",
    "timeout",
    "outputByteLimit",
    "signal",
];

/// Those of them that are there and not null, with their values.
fn there(params: &str) -> Vec<(&'static str, &str)> {
    let found = members(params, TELLING).unwrap_or_default();
    let pairs = TELLING.into_iter().zip(found).filter_map(|(name, value)| Some((name, value?.get())));
    pairs.filter(|(_, value)| *value != "null").collect()
}
