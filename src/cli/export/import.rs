//! A file of ours, or a recording, as a journal.
//!
//! Invariant: a journal appears whole and under a name that its content decides, so that the same file gives none twice;
//! no journal is written over; each says in its first line that it was imported, also where the file says otherwise.

use super::super::conversations::state;
use super::super::output::{print, say};
use super::super::usage::Usage;
use super::read;
use super::write::{KIND, VERSION};
use crate::base::human;
use crate::headless::code;
use crate::store::private::make_private_dir;
use crate::store::sessions::{self, IMPORTED, Known};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// `acp-tui import FILE`.
pub fn import(file: &Path) -> Result<u8, Usage> {
    let text = read(file)?;
    let state = state()?;
    let whole: Option<Value> = serde_json::from_str(&text).ok();
    let journals = match whole.as_ref().filter(|value| value["kind"] == KIND) {
        Some(value) => of_export(value)?,
        None => vec![of_recording(file, &text)?],
    };
    let dir = sessions::journals(&state);
    make_private_dir(&dir).map_err(|error| Usage(error.to_string()))?;
    let before = sessions::list(&state).map_err(|error| Usage(error.to_string()))?.sessions;
    let (mut known, mut new) = (0, BTreeSet::new());
    for (name, text) in journals {
        // Ours, which it was exported from.
        let is_own = name.strip_prefix(IMPORTED).is_some_and(|own| dir.join(own).symlink_metadata().is_ok());
        let is_new =
            !is_own && put(&dir, &name, &text).map_err(|error| Usage(format!("it cannot be written: {error}")))?;
        if is_new {
            new.insert(name);
        } else {
            known += 1;
        }
    }
    for double in doubles(&state, &before, &new)? {
        // The same conversation, under another name.
        std::fs::remove_file(dir.join(&double)).map_err(|error| Usage(error.to_string()))?;
        new.remove(&double);
        known += 1;
    }
    let taken = new.len() as u64;
    if known > 0 {
        say(&format!("{} there already", if known == 1 { "1 journal is" } else { "its journals are" }));
    }
    if taken == 0 {
        return Ok(code::OK);
    }
    print(&format!("imported {}\n", human::count(taken, "journal")))
}

/// The journals of these names with which nothing has come that was not there before.
fn doubles(state: &Path, before: &[Known], names: &BTreeSet<String>) -> Result<Vec<String>, Usage> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let fault = |error: io::Error| Usage(error.to_string());
    let after = sessions::parts(state).map_err(fault)?.0;
    let listed = sessions::list(state).map_err(fault)?.sessions;
    let (before, listed) = (by_session(before), by_session(&listed));
    let is_there = |part: &sessions::Part| {
        let id = part.session_id.as_str();
        let own = listed.get(id).into_iter().flatten().find(|known| known.journals.contains(&part.journal));
        own.is_some_and(|own| {
            let alike = |known: &Known| {
                known.turns == own.turns
                    && known.agent == own.agent
                    && known.first_prompt == own.first_prompt
                    && known.last_prompt == own.last_prompt
            };
            before.get(id).into_iter().flatten().copied().any(alike)
        })
    };
    let mut parts: HashMap<&str, bool> = HashMap::new();
    for part in &after {
        let name = part.journal.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if names.contains(name) {
            let all = parts.entry(name).or_insert(true);
            *all = *all && is_there(part);
        }
    }
    Ok(parts.into_iter().filter(|(_, all)| *all).map(|(name, _)| name.to_owned()).collect())
}

fn by_session(all: &[Known]) -> HashMap<&str, Vec<&Known>> {
    let mut by: HashMap<&str, Vec<&Known>> = HashMap::new();
    for known in all {
        by.entry(known.session_id.as_str()).or_default().push(known);
    }
    by
}

/// False when one of this name is there.
fn put(dir: &Path, name: &str, text: &str) -> io::Result<bool> {
    let mut temp = tempfile::NamedTempFile::new_in(dir)?;
    temp.write_all(text.as_bytes())?;
    match temp.persist_noclobber(dir.join(name)) {
        Ok(_) => Ok(true),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error.error),
    }
}

fn of_export(value: &Value) -> Result<Vec<(String, String)>, Usage> {
    if value["v"].as_u64().is_none_or(|v| v > u64::from(VERSION)) {
        return Err(Usage("it was written by a newer acp-tui".into()));
    }
    let journals = value["journals"].as_array().ok_or_else(|| Usage("it has no journals".into()))?;
    Ok(journals
        .iter()
        .filter_map(|journal| {
            let lines = journal["lines"].as_array().map(Vec::as_slice).unwrap_or_default();
            let (head, lines) = lines.split_first()?;
            let mut text = format!("{}\n", marked(head)?);
            for line in lines {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{line}");
            }
            let name = journal["name"].as_str().unwrap_or_default();
            // A name is a file here: only one that we could have given is taken.
            let is_ours =
                !name.is_empty() && name.len() < 100 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
            let name = name.strip_prefix(IMPORTED).unwrap_or(name);
            Some((
                if is_ours { format!("{IMPORTED}{name}{}", sessions::ENDING) } else { named(&journal.to_string()) },
                text,
            ))
        })
        .collect())
}

/// The first line of a journal that came in a file: marked as such, and not begun in times to come.
fn marked(head: &Value) -> Option<Value> {
    let mut head = head.as_object()?.clone();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let started = head.get("started").and_then(Value::as_u64).unwrap_or(0).min(now);
    head.insert("imported".into(), true.into());
    head.insert("started".into(), started.into());
    Some(Value::Object(head))
}

fn named(text: &str) -> String {
    let sum = crc32fast::hash(text.as_bytes());
    format!("{IMPORTED}{sum:08x}-{}{}", text.len(), sessions::ENDING)
}

/// A recording has the frames; what the person wanted is told by them.
fn of_recording(file: &Path, text: &str) -> Result<(String, String), Usage> {
    let nothing = || Usage("it is neither a conversation that acp-tui has exported nor a recording".into());
    if text.trim_start().starts_with('{') && serde_json::from_str::<Value>(text).is_err_and(|error| error.is_eof()) {
        return Err(Usage("it is cut off: the JSON that it begins with has no end; export it once more".into()));
    }
    let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let is_record = |line: &Value| line["dir"].is_string() && (line["frame"].is_object() || line["raw"].is_string());
    if !lines.iter().any(|line| is_record(line) && line["frame"].is_object()) {
        return Err(nothing());
    }
    if let Some(head) = lines.first().filter(|line| line["v"].is_u64() && line["client"].is_string()) {
        // A journal itself.
        let rest = text.lines().skip_while(|line| serde_json::from_str::<Value>(line).is_err()).skip(1);
        let first = marked(head).ok_or_else(nothing)?.to_string();
        let journal = rest.fold(first + "\n", |text, line| text + line + "\n");
        return Ok((named(&head.to_string()), journal));
    }
    let last = lines.iter().filter_map(|line| line["t"].as_f64()).fold(0.0, f64::max);
    let written = file.metadata().and_then(|meta| meta.modified()).ok();
    let written = written.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map_or(0, |time| time.as_secs());
    let frames = || lines.iter().filter(|line| line["dir"] == "client->agent").map(|line| &line["frame"]);
    let cwd = frames().find_map(|frame| frame["params"]["cwd"].as_str()).unwrap_or_default();
    let head = json!({ "v": 2, "ends": true, "client": concat!("acp-tui ", env!("CARGO_PKG_VERSION")), "imported": true,
        "started": written.saturating_sub(last as u64), "cwd": cwd, "command": "", "codec": "acp-1" });
    let mut journal = format!("{head}\n");
    let mut push = |line: &Value| {
        // Writing to a string cannot fail.
        let _ = writeln!(journal, "{line}");
    };
    push(&json!({ "t": 0.0, "dir": "person", "at": { "agent": 0 }, "intent": "Start" }));
    for line in lines.iter().filter(|line| is_record(line)) {
        let prompt = line["frame"]["params"]["prompt"].as_array().filter(|_| line["dir"] == "client->agent");
        if let Some(blocks) = prompt {
            let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
            let intent = json!({ "Prompt": { "text": texts.join("\n"), "links": [] } });
            push(&json!({ "t": line["t"], "dir": "person", "at": { "session": 0 }, "intent": intent }));
        }
        push(line);
    }
    push(&json!({ "dir": "host", "end": true }));
    Ok((named(text), journal))
}

/// Whether a line of a journal is of other sessions of it: their prompts, and what their agent said there.
pub fn is_of_another(line: &Value, own: &str, all: &[&str]) -> bool {
    let others: HashSet<&str> = all.iter().copied().filter(|id| *id != own).collect();
    let named = line["frame"]["params"]
        .as_object()
        .and_then(|params| params.values().filter_map(Value::as_str).find(|text| others.contains(text)));
    named.is_some()
}
