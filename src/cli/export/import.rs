//! A file of ours, or a recording, as a journal.
//!
//! Invariant: a journal appears whole and under a name that its content decides, so that the same file gives none twice;
//! no journal is written over; each says in its first line that it was imported, also where the file says otherwise.

use super::super::conversations::state;
use super::super::output::{print, say};
use super::super::usage::Usage;
use super::reading::{self, Taken, marked, named};
use super::{Fault, ended};
use crate::base::human;
use crate::headless::code;
use crate::store::private::make_private_dir;
use crate::store::sessions::{self, IMPORTED, Known};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// `acp-tui import FILE`.
pub fn import(file: &Path) -> Result<u8, Usage> {
    ended(take_in(file))
}

fn take_in(file: &Path) -> Result<u8, Fault> {
    let state = state()?;
    let dir = sessions::journals(&state);
    make_private_dir(&dir)?;
    let journals = match reading::of_export(file, &dir)? {
        Some(journals) => journals,
        None => vec![of_recording(file, &dir)?],
    };
    let before = sessions::list(&state)?.sessions;
    let (mut known, mut new) = (0, BTreeSet::new());
    for Taken { name, temp, .. } in journals {
        // Ours, which it was exported from.
        let is_own = name.strip_prefix(IMPORTED).is_some_and(|own| dir.join(own).symlink_metadata().is_ok());
        let is_there = |error: &io::Error| error.kind() == io::ErrorKind::AlreadyExists;
        match temp.into_inner().map_err(io::IntoInnerError::into_error)? {
            _ if is_own => known += 1,
            temp => match temp.persist_noclobber(dir.join(&name)) {
                Ok(_) => drop(new.insert(name)),
                Err(error) if is_there(&error.error) => known += 1,
                Err(error) => return Err(error.error.into()),
            },
        }
    }
    for double in doubles(&state, &before, &new)? {
        // The same conversation, under another name.
        std::fs::remove_file(dir.join(&double))?;
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
    Ok(print(&format!("imported {}\n", human::count(taken, "journal")))?)
}

/// The journals of these names with which nothing has come that was not there before.
fn doubles(state: &Path, before: &[Known], names: &BTreeSet<String>) -> io::Result<Vec<String>> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let after = sessions::parts(state)?.0;
    let listed = sessions::list(state)?.sessions;
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

/// The members of a line that tell what it is.
#[derive(serde::Deserialize)]
struct Line<'a> {
    #[serde(borrow, default)]
    v: Option<&'a RawValue>,
    #[serde(borrow, default)]
    client: Option<&'a RawValue>,
    #[serde(borrow, default)]
    t: Option<&'a RawValue>,
    #[serde(borrow, default)]
    dir: Option<&'a RawValue>,
    #[serde(borrow, default)]
    frame: Option<&'a RawValue>,
    #[serde(borrow, default)]
    raw: Option<&'a RawValue>,
}

impl<'a> Line<'a> {
    fn of(line: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }

    fn has_frame(&self) -> bool {
        text(self.dir).is_some() && self.frame.is_some_and(|frame| frame.get().starts_with('{'))
    }

    fn is_record(&self) -> bool {
        self.has_frame() || text(self.dir).is_some() && text(self.raw).is_some()
    }

    /// Of a frame that we sent.
    fn params(&self) -> Value {
        let frame = self.frame.filter(|_| text(self.dir).is_some_and(|dir| dir == "client->agent"));
        let mut frame: Value = frame.and_then(|frame| serde_json::from_str(frame.get()).ok()).unwrap_or_default();
        frame.get_mut("params").map(Value::take).unwrap_or_default()
    }
}

fn text(value: Option<&RawValue>) -> Option<Cow<'_, str>> {
    serde_json::from_str(value?.get()).ok()
}

/// What a look at all of a recording tells.
#[derive(Default)]
struct Looked {
    is_recording: bool,
    /// The first line, where that is the head of a journal.
    head: Option<Value>,
    /// How many seconds it took.
    last: f64,
    cwd: Option<String>,
    sum: crc32fast::Hasher,
    bytes: usize,
}

impl Looked {
    fn at(file: &Path) -> Result<Self, Fault> {
        let (mut looked, mut is_first) = (Self::default(), true);
        super::each_line(file, |line| {
            looked.sum.update(line);
            looked.sum.update(b"\n");
            looked.bytes += line.len() + 1;
            let Some(told) = Line::of(line) else { return };
            looked.is_recording |= told.has_frame();
            looked.last = told.t.and_then(|t| t.get().parse().ok()).unwrap_or(0.0_f64).max(looked.last);
            let is_number = |v: &RawValue| v.get().bytes().all(|byte| byte.is_ascii_digit());
            if std::mem::take(&mut is_first) && told.v.is_some_and(is_number) && text(told.client).is_some() {
                looked.head = serde_json::from_slice(line).ok();
            }
            if looked.cwd.is_none() && looked.head.is_none() {
                looked.cwd = told.params()["cwd"].as_str().map(str::to_owned);
            }
        })?;
        Ok(looked)
    }
}

/// A recording has the frames; what the person wanted is told by them.
fn of_recording(file: &Path, dir: &Path) -> Result<Taken, Fault> {
    let nothing = || Usage("it is neither a conversation that acp-tui has exported nor a recording".into());
    let looked = Looked::at(file)?;
    if !looked.is_recording {
        return Err(nothing().into());
    }
    let mut taken = Taken::new(dir)?;
    if let Some(head) = looked.head {
        // A journal itself.
        let text = head.to_string();
        taken.name = named(crc32fast::hash(text.as_bytes()), text.len());
        taken.line(marked(&head).ok_or_else(nothing)?.to_string().as_bytes())?;
        let mut is_head = true;
        taken.each(file, |taken, line| {
            if is_head {
                is_head = Line::of(line).is_none();
                return Ok(());
            }
            taken.line(line)
        })?;
        return Ok(taken);
    }
    taken.name = named(looked.sum.finalize(), looked.bytes);
    let written = file.metadata().and_then(|meta| meta.modified()).ok();
    let written = written.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map_or(0, |time| time.as_secs());
    let cwd = looked.cwd.unwrap_or_default();
    let head = json!({ "v": 2, "ends": true, "client": concat!("acp-tui ", env!("CARGO_PKG_VERSION")), "imported": true,
        "started": written.saturating_sub(looked.last as u64), "cwd": cwd, "command": "", "codec": "acp-1" });
    taken.line(head.to_string().as_bytes())?;
    let start = json!({ "t": 0.0, "dir": "person", "at": { "agent": 0 }, "intent": "Start" });
    taken.line(start.to_string().as_bytes())?;
    taken.each(file, |taken, line| {
        let Some(told) = Line::of(line).filter(Line::is_record) else { return Ok(()) };
        if let Some(blocks) = told.params()["prompt"].as_array() {
            let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
            let intent = json!({ "Prompt": { "text": texts.join("\n"), "links": [] } });
            let prompt = json!({ "t": told.t, "dir": "person", "at": { "session": 0 }, "intent": intent });
            taken.line(prompt.to_string().as_bytes())?;
        }
        taken.line(line)
    })?;
    taken.line(json!({ "dir": "host", "end": true }).to_string().as_bytes())?;
    Ok(taken)
}

/// Whether a line of a journal is of other sessions of it: their prompts, and what their agent said there.
pub fn is_of_another(line: &str, own: &str, all: &[&str]) -> bool {
    #[derive(serde::Deserialize)]
    struct Framed<'a> {
        #[serde(borrow, default)]
        frame: Option<&'a RawValue>,
    }
    #[derive(serde::Deserialize)]
    struct Frame<'a> {
        #[serde(borrow, default)]
        params: Option<&'a RawValue>,
    }
    let frame = serde_json::from_str::<Framed<'_>>(line).ok().and_then(|line| line.frame);
    let params = frame.and_then(|frame| serde_json::from_str::<Frame<'_>>(frame.get()).ok()?.params);
    let params: HashMap<Cow<'_, str>, &RawValue> =
        params.and_then(|params| serde_json::from_str(params.get()).ok()).unwrap_or_default();
    // A name is short, what is said may be long.
    let mut texts = params.into_values().filter(|value| value.get().starts_with('"'));
    texts.any(|value| text(Some(value)).is_some_and(|text| text != own && all.contains(&&*text)))
}
