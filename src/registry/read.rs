//! Reads the text of a registry, entry by entry.
//!
//! Invariant: one bad entry takes away no other.

use super::{Entry, Package, Registry, Target};
use crate::base::sanitize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a registry; a larger one is refused.
pub const MAX_BYTES: u64 = 8 << 20;
/// Entries, and remarks about those that are left out.
const MAX_AGENTS: usize = 2000;
const MAX_REMARKS: usize = 20;
/// Bytes of an id or version, of a text, of an address or argument.
const MAX_ID: usize = 64;
const MAX_TEXT: usize = 300;
const MAX_WORD: usize = 4 << 10;
/// Arguments and variables of one command, and platforms.
const MAX_WORDS: usize = 100;
/// The format that is known.
const MAJOR: u64 = 1;

/// What a registry says.
///
/// # Errors
/// Says why it is none.
pub fn read(text: &str) -> Result<Registry, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    let Some(agents) = value.get("agents").and_then(Value::as_array) else {
        return Err("it is no registry: it has no list `agents`".into());
    };
    let major = match value.get("version").and_then(Value::as_str) {
        Some(version) => version.split('.').next().and_then(|major| major.parse().ok()).unwrap_or(0),
        None => MAJOR,
    };
    if major < MAJOR {
        return Err("its format has a version that is not known".into());
    }
    let mut registry = Registry { is_later: major > MAJOR, ..Registry::default() };
    let (mut seen, mut left_out) = (BTreeSet::new(), 0usize);
    for (at, agent) in agents.iter().take(MAX_AGENTS).enumerate() {
        let read = entry(agent).and_then(|entry| {
            if seen.insert(entry.id.clone()) { Ok(entry) } else { Err("an earlier entry has its id".into()) }
        });
        match read {
            Ok(entry) => registry.agents.push(entry),
            Err(why) => {
                left_out += 1;
                if left_out <= MAX_REMARKS {
                    let name =
                        agent.get("id").and_then(Value::as_str).map_or_else(|| format!("number {}", at + 1), text_of);
                    registry.remarks.push(format!("entry {name} is left out: {why}"));
                }
            }
        }
    }
    if left_out > MAX_REMARKS {
        registry.remarks.push(format!("{} more entries are left out", left_out - MAX_REMARKS));
    }
    if agents.len() > MAX_AGENTS {
        registry.remarks.push(format!("only the first {MAX_AGENTS} of {} entries are read", agents.len()));
    }
    Ok(registry)
}

fn entry(value: &Value) -> Result<Entry, String> {
    let members = value.as_object().ok_or("it is no object")?;
    let id = member(members, "id")?;
    if !is_id(id) {
        return Err("its id is not made of small letters, digits and `-`".into());
    }
    let version = member(members, "version")?;
    if !is_version(version) {
        return Err("its version cannot be the name of a directory".into());
    }
    let ways = members.get("distribution").and_then(Value::as_object).ok_or("it has no `distribution`")?;
    let mut binary = BTreeMap::new();
    // A way that cannot be used takes no other away; the reason counts when none is left.
    let mut why = None;
    for (platform, target) in ways.get("binary").and_then(Value::as_object).into_iter().flatten().take(MAX_WORDS) {
        match self::target(target) {
            Ok(target) => drop(binary.insert(text_of(platform), target)),
            Err(error) => why = Some(error),
        }
    }
    let mut runner = |name: &str| match ways.get(name).map(package) {
        Some(Ok(package)) => Some(package),
        Some(Err(error)) => {
            why = Some(error);
            None
        }
        None => None,
    };
    let (npx, uvx) = (runner("npx"), runner("uvx"));
    if binary.is_empty() && npx.is_none() && uvx.is_none() {
        return Err(why.unwrap_or_else(|| "it has no distribution that is known here".into()));
    }
    let told = |name: &str| members.get(name).and_then(Value::as_str).map(text_of).filter(|text| !text.is_empty());
    Ok(Entry {
        id: id.to_owned(),
        name: told("name").unwrap_or_else(|| id.to_owned()),
        version: version.to_owned(),
        description: told("description").unwrap_or_default(),
        license: told("license"),
        page: told("website").or_else(|| told("repository")),
        binary,
        npx,
        uvx,
    })
}

fn target(value: &Value) -> Result<Target, String> {
    let members = value.as_object().ok_or("a binary of it is no object")?;
    let cmd = member(members, "cmd")?;
    let cmd = cmd.strip_prefix("./").unwrap_or(cmd);
    let is_within = !cmd.starts_with('/') && cmd.split('/').all(|part| !matches!(part, "" | "." | ".."));
    if !is_within {
        return Err("its `cmd` leads out of the archive".into());
    }
    let sha256 = match members.get("sha256") {
        None | Some(Value::Null) => None,
        Some(value) => {
            let digits = value.as_str().unwrap_or_default().to_ascii_lowercase();
            let is_digest = digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            Some(is_digest.then_some(digits).ok_or("its `sha256` is not 64 hex digits")?)
        }
    };
    Ok(Target {
        archive: member(members, "archive")?.to_owned(),
        cmd: cmd.to_owned(),
        args: args(members)?,
        env: env(members)?,
        sha256,
    })
}

fn package(value: &Value) -> Result<Package, String> {
    let members = value.as_object().ok_or("a package of it is no object")?;
    let word = |name: &str| -> Result<String, String> {
        let word = member(members, name)?;
        // The runner would take it for one of its own options.
        if word.starts_with('-') { Err(format!("its `{name}` begins with `-`")) } else { Ok(word.to_owned()) }
    };
    let cmd = if members.get("cmd").is_some_and(|cmd| !cmd.is_null()) { Some(word("cmd")?) } else { None };
    Ok(Package { package: word("package")?, cmd, args: args(members)?, env: env(members)? })
}

/// A text that is needed as it is: it is refused where it cannot be.
fn member<'a>(members: &'a Map<String, Value>, name: &str) -> Result<&'a str, String> {
    let text = members.get(name).and_then(Value::as_str).ok_or_else(|| format!("its `{name}` is no text"))?;
    plain(text).map_err(|why| format!("its `{name}` {why}"))
}

fn plain(text: &str) -> Result<&str, &'static str> {
    match text {
        "" => Err("is empty"),
        _ if text.len() > MAX_WORD => Err("is too long"),
        // What is shown is what is run.
        _ if sanitize::line(text) != text => Err("has characters that cannot be shown"),
        _ => Ok(text),
    }
}

fn args(members: &Map<String, Value>) -> Result<Vec<String>, String> {
    let args = match members.get("args") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(args) => args.as_array().ok_or("its `args` are no list")?,
    };
    if args.len() > MAX_WORDS {
        return Err("it has too many `args`".into());
    }
    let word = |arg: &Value| {
        let arg = arg.as_str().ok_or("one of its `args` is no text")?;
        if arg.is_empty() { Ok(String::new()) } else { plain(arg).map(str::to_owned) }
    };
    args.iter().map(|arg| word(arg).map_err(|why: &str| format!("args: {why}"))).collect()
}

fn env(members: &Map<String, Value>) -> Result<BTreeMap<String, String>, String> {
    let env = match members.get("env") {
        None | Some(Value::Null) => return Ok(BTreeMap::new()),
        Some(env) => env.as_object().ok_or("its `env` is no object")?,
    };
    if env.len() > MAX_WORDS {
        return Err("it has too many variables".into());
    }
    let variable = |(name, value): (&String, &Value)| {
        let value = value.as_str().filter(|value| value.is_empty() || plain(value).is_ok());
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && !name.is_empty();
        match value {
            Some(value) if is_name => Ok((name.clone(), value.to_owned())),
            _ => Err(format!("its variable {} cannot be set", text_of(name))),
        }
    };
    env.iter().map(variable).collect()
}

fn is_id(id: &str) -> bool {
    let byte = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    id.len() <= MAX_ID && id.starts_with(|first: char| first.is_ascii_lowercase()) && id.bytes().all(byte)
}

fn is_version(version: &str) -> bool {
    let byte = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'_' | b'-');
    version.len() <= MAX_ID
        && version.starts_with(|first: char| first.is_ascii_alphanumeric())
        && version.bytes().all(byte)
}

fn text_of(text: impl AsRef<str>) -> String {
    sanitize::line(text.as_ref()).chars().take(MAX_TEXT).collect()
}
