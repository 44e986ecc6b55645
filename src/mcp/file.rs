//! A file of servers as it is commonly written (`.mcp.json`): a map by names, or the protocol's own list.
//!
//! Invariants: bounded for any file; a server that cannot be read costs only itself, and is named.

use super::{How, MAX_SERVERS, Remote, Server};
use crate::base::limits;
use serde_json::{Map, Value};

/// Characters of a name, and bytes of any other text.
const MAX_NAME: usize = 128;
const MAX_TEXT: usize = 16 << 10;
/// Arguments, variables or headers of one server.
const MAX_PARTS: usize = 500;

/// What a file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Read {
    pub servers: Vec<Server>,
    /// What of it cannot be used, and why.
    pub remarks: Vec<String>,
}

/// Reads the text of a file; `Err` when it is none of servers.
pub fn read(text: &str) -> Result<Read, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let value: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    let expected = "it needs {\"mcpServers\": {\"NAME\": {\"command\": …}}}";
    let listed = match &value {
        Value::Object(members) => {
            members.get("mcpServers").ok_or_else(|| format!("it has no mcpServers; {expected}"))?
        }
        _ => return Err(format!("it is no object; {expected}")),
    };
    let mut read = Read::default();
    let named: Vec<(String, &Value)> = match listed {
        Value::Object(map) => map.iter().map(|(name, value)| (name.clone(), value)).collect(),
        Value::Array(list) => list.iter().map(|value| (text_of(value, "name"), value)).collect(),
        _ => return Err(format!("mcpServers is neither a map nor a list; {expected}")),
    };
    let beyond = named.len().saturating_sub(MAX_SERVERS);
    for (name, value) in named.into_iter().take(MAX_SERVERS) {
        match server(&name, value) {
            Ok(server) if read.servers.iter().any(|other| other.name == server.name) => {
                read.remarks.push(format!("{name:?} is there twice; the first one counts"));
            }
            Ok(server) => read.servers.push(server),
            Err(why) => read.remarks.push(format!("{:?} is left out: {why}", limits::cut(name, MAX_NAME))),
        }
    }
    if beyond > 0 {
        read.remarks.push(format!("{beyond} more servers are left out: at most {MAX_SERVERS} are read"));
    }
    Ok(read)
}

fn text_of(value: &Value, member: &str) -> String {
    value.get(member).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// One server of a file, or of the configuration.
pub fn server(name: &str, value: &Value) -> Result<Server, String> {
    if name.trim().is_empty() || name.chars().count() > MAX_NAME || name.chars().any(char::is_control) {
        return Err(format!("a name has 1 to {MAX_NAME} characters, none of them a control character"));
    }
    let members = value.as_object().ok_or("it is no object")?;
    let kind = optional(members, "type")?.map(|kind| kind.to_ascii_lowercase());
    let url = optional(members, "url")?;
    let how = match (kind.as_deref(), url) {
        (None | Some("stdio"), None) => stdio(members)?,
        (None | Some("http" | "streamable-http" | "streamablehttp" | "streamable_http"), Some(url)) => {
            remote(Remote::Http, url, members)?
        }
        (Some("sse"), Some(url)) => remote(Remote::Sse, url, members)?,
        (Some("stdio"), Some(_)) => return Err("a server of type stdio has a command, no url".into()),
        (Some("http" | "streamable-http" | "streamablehttp" | "streamable_http" | "sse"), None) => {
            return Err("it has no url".into());
        }
        (Some(other), _) => return Err(format!("its type is {other:?}; known: stdio, http, sse")),
    };
    let is_disabled = flag(members, "disabled")? || members.get("enabled") == Some(&Value::Bool(false));
    let agents = texts(members, "agents")?;
    Ok(Server { name: name.to_owned(), how, is_disabled, agents })
}

fn stdio(members: &Map<String, Value>) -> Result<How, String> {
    let command = optional(members, "command")?.filter(|command| !command.trim().is_empty());
    let command = command.ok_or("it has neither a command nor a url")?;
    Ok(How::Stdio { command, args: texts(members, "args")?, env: pairs(members, "env")? })
}

fn remote(kind: Remote, url: String, members: &Map<String, Value>) -> Result<How, String> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    if rest.is_none_or(|rest| rest.is_empty() || rest.starts_with('/')) || url.contains(char::is_whitespace) {
        return Err("its url does not begin with http:// or https:// and a host".into());
    }
    Ok(How::Remote { kind, url, headers: pairs(members, "headers")? })
}

fn flag(members: &Map<String, Value>, name: &str) -> Result<bool, String> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(is)) => Ok(*is),
        Some(_) => Err(format!("{name} is neither true nor false")),
    }
}

fn optional(members: &Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    members.get(name).filter(|value| !value.is_null()).map(|value| plain(value, name)).transpose()
}

/// A text without what ends it early elsewhere.
fn plain(value: &Value, name: &str) -> Result<String, String> {
    let text = value.as_str().ok_or_else(|| format!("{name} is not text"))?;
    match text {
        _ if text.len() > MAX_TEXT => Err(format!("{name} has more than 16 KiB")),
        _ if text.contains('\0') => Err(format!("{name} has a NUL in it")),
        _ => Ok(text.to_owned()),
    }
}

fn texts(members: &Map<String, Value>, name: &str) -> Result<Vec<String>, String> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(list)) if list.len() <= MAX_PARTS => list.iter().map(|value| plain(value, name)).collect(),
        Some(Value::Array(_)) => Err(format!("{name} has more than {MAX_PARTS} elements")),
        Some(_) => Err(format!("{name} is no list")),
    }
}

/// A map of texts, or a list of names and values.
fn pairs(members: &Map<String, Value>, name: &str) -> Result<Vec<(String, String)>, String> {
    let pairs: Vec<(String, String)> = match members.get(name) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Object(map)) if map.len() <= MAX_PARTS => {
            map.iter().map(|(key, value)| Ok((key.clone(), plain(value, name)?))).collect::<Result<_, String>>()?
        }
        Some(Value::Array(list)) if list.len() <= MAX_PARTS => {
            let pair =
                |value: &Value| Ok((text_of(value, "name"), plain(value.get("value").unwrap_or(&Value::Null), name)?));
            list.iter().map(pair).collect::<Result<_, String>>()?
        }
        Some(Value::Object(_) | Value::Array(_)) => return Err(format!("{name} has more than {MAX_PARTS} elements")),
        Some(_) => return Err(format!("{name} is no map")),
    };
    // Values are not named: they are what is to be kept secret.
    let is_bad = |key: &str| key.is_empty() || key.contains(['=', '\0', '\r', '\n', ':']);
    if pairs.iter().any(|(key, _)| is_bad(key)) {
        return Err(format!("{name} has a name that cannot be one"));
    }
    if name == "headers" && pairs.iter().any(|(_, value)| value.contains(['\r', '\n'])) {
        return Err("a header has more than one line".into());
    }
    Ok(pairs)
}
