//! A file of ours, or a recording, as a journal.
//!
//! Invariants: a journal appears whole and under a name that its content decides, so that the same file gives none twice;
//! one that was imported gives way only to what has all of it, and none of our own does; each says in its first line that it
//! was imported, also where the file says otherwise.

use super::super::conversations::state;
use super::super::output::{print, say};
use super::super::usage::Usage;
use super::reading::{self, Taken, marked, named};
use super::{Fault, MAX_LINE, ended};
use crate::base::human;
use crate::headless::code;
use crate::store::private::make_private_dir;
use crate::store::sessions::{self, IMPORTED, Known, Said};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// `acp-tui import FILE`.
pub fn import(file: &Path) -> Result<u8, Usage> {
    ended(take_in(&state()?, file))
}

/// `state` is acp-tui's directory for state.
pub(super) fn take_in(state: &Path, file: &Path) -> Result<u8, Fault> {
    let dir = sessions::journals(state);
    make_private_dir(&dir)?;
    let journals = match reading::of_export(file, &dir)? {
        Some(journals) => journals,
        None => vec![of_recording(file, &dir)?],
    };
    let (mut known, mut new, mut newer) = (0, Vec::new(), Vec::new());
    let names: Vec<String> = journals.iter().map(|taken| taken.name.clone()).collect();
    let sessions = sessions::list(state)?.sessions;
    if let Some(other) = other_way(&sessions, &names) {
        return Err(went_on(&other));
    }
    let went_on_here =
        |journal: &PathBuf| sessions.iter().find(|one| !one.is_imported && one.journals.contains(journal));
    // Nothing is written before it is known that all can be.
    for Taken { name, run, temp, .. } in journals {
        let temp = temp.into_inner().map_err(io::IntoInnerError::into_error)?;
        let said = Said::lines_of(temp.path(), MAX_LINE)?;
        let there = dir.join(&name);
        if is_of_own(&dir, &name, run.as_deref(), &said, temp.path())? {
            known += 1;
        } else if there.symlink_metadata().is_err() {
            new.push((name, temp));
        } else {
            let before = Said::lines_of(&there, MAX_LINE)?;
            if before.has(&said) {
                known += 1;
            } else if let Some(own) = went_on_here(&there) {
                return Err(went_on(own.stem()));
            } else if said.has(&before) {
                newer.push((name, temp));
            } else {
                return Err(went_on(sessions::stem(&there)));
            }
        }
    }
    let mut taken = (new.len() + newer.len()) as u64;
    for (name, temp) in newer {
        temp.persist(dir.join(name)).map_err(|error| error.error)?;
    }
    let mut names = BTreeSet::new();
    for (name, temp) in new {
        temp.persist_noclobber(dir.join(&name)).map_err(|error| error.error)?;
        names.insert(name);
    }
    for double in doubles(state, &names)?.into_iter().filter(|double| went_on_here(&double.journal).is_none()) {
        std::fs::remove_file(&double.journal)?;
        if double.is_new {
            known += 1;
            taken -= 1;
        } else {
            say(&format!("what was imported as {} before is part of it", sessions::stem(&double.journal)));
        }
    }
    if known > 0 {
        say(&format!("{} there already", if known == 1 { "1 journal is" } else { "its journals are" }));
    }
    if taken == 0 {
        return Ok(code::OK);
    }
    Ok(print(&format!("imported {}\n", human::count(taken, "journal")))?)
}

/// Whether our own journal, which it was exported from, has all of it. Of a part of that (`run`) the frames are told: it says
/// besides where counting goes on.
fn is_of_own(dir: &Path, name: &str, run: Option<&str>, said: &Said, temp: &Path) -> Result<bool, Fault> {
    let Some(own) = run.or_else(|| name.strip_prefix(IMPORTED)).map(|own| dir.join(own)) else { return Ok(false) };
    if own.symlink_metadata().is_err() {
        return Ok(false);
    }
    if run.is_none() {
        return Ok(Said::lines_of(&own, MAX_LINE)?.has(said));
    }
    Ok(Said::messages_of(&own, MAX_LINE)?.has(&Said::messages_of(temp, MAX_LINE)?))
}

fn went_on(stem: &str) -> Fault {
    Fault::Asked(Usage(format!(
        "{stem} was imported before and went on in another way, so neither has all of the other; nothing was imported. To \
         have this one, give up that one: acp-tui sessions --remove {stem}"
    )))
}

/// The conversation that was imported before, where it goes on behind a journal which is in this file, too, and the file
/// goes on otherwise behind that. `names`: of the journals of the file, the oldest first.
fn other_way(sessions: &[Known], names: &[String]) -> Option<String> {
    let place = |journal: &Path| {
        let name = journal.file_name().and_then(|name| name.to_str())?;
        names.iter().position(|one| one == name)
    };
    for known in sessions {
        let Some(last) = known.journals.iter().rposition(|journal| place(journal).is_some()) else { continue };
        let is_more = known.journals.iter().filter_map(|journal| place(journal)).max() < names.len().checked_sub(1);
        let mut later = known.journals.iter().skip(last + 1);
        if is_more && later.any(|journal| Said::messages_of(journal, MAX_LINE).is_ok_and(|said| !said.is_empty())) {
            return Some(known.stem().to_owned());
        }
    }
    None
}

/// A journal of which another one has all.
struct Double {
    journal: PathBuf,
    is_new: bool,
}

/// Which of the journals of these names, which are new, have nothing that another one does not have, under whatever name;
/// and which that were imported before have nothing that these do not have.
fn doubles(state: &Path, names: &BTreeSet<String>) -> Result<Vec<Double>, Fault> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let mut journals: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
    for part in sessions::parts(state)?.0 {
        journals.entry(part.journal).or_default().insert(part.session_id);
    }
    let name = |journal: &Path| journal.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    let (new, before): (Vec<_>, Vec<_>) = journals.iter().partition(|(journal, _)| names.contains(&name(journal)));
    let mut doubles = Vec::new();
    for (journal, ids) in new {
        let said = Said::messages_of(journal, MAX_LINE)?;
        for (other, others) in before.iter().filter(|(_, others)| !others.is_disjoint(ids)) {
            let told = Said::messages_of(other, MAX_LINE)?;
            if said.is_empty() || told.is_empty() {
                continue;
            }
            if ids.is_subset(others) && told.has(&said) {
                doubles.push(Double { journal: journal.clone(), is_new: true });
                break;
            }
            if others.is_subset(ids) && sessions::was_imported(other) && said.has(&told) {
                doubles.push(Double { journal: (*other).clone(), is_new: false });
            }
        }
    }
    Ok(doubles)
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
    // What an agent says is its only while it runs.
    let runs = json!({ "t": 0.0, "dir": "host", "at": { "agent": 0 }, "fact": { "AgentSpawned": { "pid": 1 } } });
    taken.line(runs.to_string().as_bytes())?;
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
