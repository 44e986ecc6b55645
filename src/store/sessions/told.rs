//! What agents have told of the sessions that they keep, and what the person calls them: a file for each agent.
//!
//! Knows no journal and asks no agent. Invariants: a file is for its owner only, bounded, and replaced whole or not at
//! all; a line of it that cannot be read costs only itself.

use super::{Can, Known};
use crate::base::date;
use crate::base::limits::{MAX_COMMAND, MAX_ID, MAX_LISTED, MAX_NAME, MAX_PATH, cut};
use crate::model::account;
use crate::model::agent::Told;
use crate::store::lines;
use crate::store::private::make_private_dir;
use crate::store::replace::{Durability, Replacement};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The directory, beside the journals.
const DIR: &str = "listed";
/// Of the first line of a file.
const VERSION: u32 = 1;
/// A larger file is none of ours.
const MAX_BYTES: u64 = 128 << 20;
/// Agents that are remembered; of more, those that have told something last.
const MAX_AGENTS: usize = 100;
/// Sessions of one agent.
const MAX_KEPT: usize = 2 * MAX_LISTED;

/// What is remembered of one agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentRecord {
    v: u32,
    pub command: String,
    pub agent: String,
    pub can: Can,
    /// When it has told something last, in seconds since 1970.
    pub at: u64,
    #[serde(skip)]
    pub sessions: Vec<SessionRecord>,
}

/// What is remembered of one session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionRecord {
    pub id: String,
    pub cwd: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// As it was told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated: Option<String>,
    /// When that was told first, where it lies in times to come, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ahead: Option<u64>,
    /// When its agent has listed it last, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub told: Option<u64>,
    /// Its agent has listed it when it was asked last.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_listed: bool,
    /// The person wants to see it no more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_hidden: bool,
    /// What its agent called itself when it was forgotten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What the person calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl AgentRecord {
    /// Those of its scope that are not told of any more are not listed any more.
    fn take(&mut self, told: &Told, at: Duration) {
        let (now, millis) = (at.as_secs(), u64::try_from(at.as_millis()).ok());
        self.agent = cut(&*told.agent, MAX_NAME);
        (self.can, self.at) = (told.can.into(), now);
        if told.is_whole {
            let is_in_scope = |kept: &&mut SessionRecord| told.cwd.as_ref().is_none_or(|cwd| kept.cwd == *cwd);
            self.sessions.iter_mut().filter(is_in_scope).for_each(|kept| kept.is_listed = false);
        }
        let mut places = self.places();
        for listed in &told.sessions {
            let Some(cwd) = listed.cwd.as_ref().or(told.cwd.as_ref()) else { continue };
            let kept = self.record(&mut places, listed.id.as_str());
            (kept.cwd, kept.is_listed) = (cwd.clone(), true);
            if kept.is_hidden {
                continue;
            }
            kept.told = millis;
            let title = listed.title.as_deref().filter(|title| !account::is_placeholder(title));
            kept.title = title.map(|title| cut(title, MAX_NAME));
            let updated = listed.updated.as_deref().map(|updated| cut(updated, MAX_NAME));
            let is_ahead = updated.as_deref().and_then(seconds).is_some_and(|seconds| seconds > now);
            let known = kept.ahead.filter(|_| kept.updated == updated);
            kept.ahead = is_ahead.then(|| known.unwrap_or(now));
            kept.updated = updated;
        }
    }

    /// Of a session, a new one where nothing is remembered of it.
    fn record(&mut self, places: &mut HashMap<String, usize>, id: &str) -> &mut SessionRecord {
        let at = *places.entry(id.to_owned()).or_insert_with(|| {
            self.sessions.push(SessionRecord { id: id.to_owned(), ..SessionRecord::default() });
            self.sessions.len() - 1
        });
        &mut self.sessions[at]
    }

    fn places(&self) -> HashMap<String, usize> {
        self.sessions.iter().enumerate().map(|(at, kept)| (kept.id.clone(), at)).collect()
    }
}

impl SessionRecord {
    /// Its agent has told of it, or the person has named or forgotten it: it may be told of again.
    fn is_worth_it(&self) -> bool {
        self.is_listed || self.name.is_some() || self.is_hidden
    }

    /// Nothing is remembered but that it was forgotten, and what its agent calls itself.
    pub fn forget(&mut self, agent: &str) {
        self.agent = Some(cut(agent, MAX_NAME));
        (self.name, self.title, self.updated, self.ahead, self.told) = (None, None, None, None, None);
        self.is_hidden = true;
    }

    fn is_sound(&self) -> bool {
        let is_place = self.cwd.is_empty() || Path::new(&self.cwd).is_absolute();
        !self.id.is_empty() && self.id.len() <= MAX_ID && is_place && self.cwd.len() <= MAX_PATH
    }
}

/// Remembers what an agent has told. `journals` is the directory that they are in.
pub fn remember(journals: &Path, told: &Told) -> io::Result<()> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    change(journals, &told.command, |book| book.take(told, now))
}

/// Notes something of sessions of an agent.
pub fn mark(
    journals: &Path,
    command: &str,
    sessions: &[&Known],
    mark: impl Fn(&Known, &mut SessionRecord),
) -> io::Result<()> {
    change(journals, command, |book| {
        let mut places = book.places();
        for known in sessions {
            let kept = book.record(&mut places, &known.session_id);
            kept.cwd = known.cwd.to_string_lossy().into_owned();
            mark(known, kept);
        }
    })
}

/// Forgets all that agents have told, but of sessions that stay. What was forgotten remains so.
pub fn forget_all(journals: &Path, stays: impl Fn(&str, &str) -> bool) -> io::Result<()> {
    let (books, problems) = read_all(journals);
    for AgentRecord { command, .. } in books {
        change(journals, &command, |book| {
            let AgentRecord { agent, sessions, .. } = book;
            for kept in sessions.iter_mut().filter(|kept| !kept.is_hidden && !stays(&command, &kept.id)) {
                kept.forget(agent);
            }
        })?;
    }
    let unread = problems.into_iter().map(|(path, why)| io::Error::other(format!("{}: {why}", path.display())));
    unread.map(Err).next().unwrap_or(Ok(()))
}

fn change(journals: &Path, command: &str, change: impl FnOnce(&mut AgentRecord)) -> io::Result<()> {
    // A command is known whole or not at all.
    if command.len() > MAX_COMMAND {
        return Ok(());
    }
    let dir = journals.join(DIR);
    make_private_dir(journals)?;
    make_private_dir(&dir)?;
    let path = dir.join(format!("{:08x}", crc32fast::hash(command.as_bytes())));
    let there = read(&path).ok().flatten().filter(|book| book.command == command);
    let mut book =
        there.unwrap_or_else(|| AgentRecord { v: VERSION, command: command.to_owned(), ..AgentRecord::default() });
    let before = book.clone();
    change(&mut book);
    book.sessions.retain(SessionRecord::is_worth_it);
    // What the person has said of a session stays longest.
    book.sessions.sort_by_key(|kept| kept.name.is_none() && !kept.is_hidden);
    book.sessions.truncate(MAX_KEPT);
    if book == before {
        return Ok(());
    }
    book.sessions.retain(SessionRecord::is_sound);
    let mut out = Replacement::of(&path)?;
    writeln!(out, "{}", serde_json::to_string(&book)?)?;
    for kept in &book.sessions {
        writeln!(out, "{}", serde_json::to_string(kept)?)?;
    }
    out.finish(Durability::Whole)?;
    for (_, old) in files(&dir)?.into_iter().skip(MAX_AGENTS) {
        fs::remove_file(old)?;
    }
    Ok(())
}

/// The files, that of the agent that told something last first.
fn files(dir: &Path) -> io::Result<Vec<(SystemTime, PathBuf)>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.len() == 8 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).filter(is_ours).collect();
    files.sort();
    let changed =
        |path: &PathBuf| path.symlink_metadata().and_then(|meta| meta.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let mut files: Vec<_> = files.into_iter().map(|path| (changed(&path), path)).collect();
    files.sort_by_key(|file| std::cmp::Reverse(file.0));
    Ok(files)
}

/// Everything that is remembered, and what cannot be read.
pub fn read_all(journals: &Path) -> (Vec<AgentRecord>, Vec<(PathBuf, String)>) {
    let dir = journals.join(DIR);
    let files = match files(&dir) {
        Ok(files) => files,
        Err(error) => return (Vec::new(), vec![(dir, error.to_string())]),
    };
    let (mut books, mut problems) = (Vec::new(), Vec::new());
    for (_, path) in files.into_iter().take(MAX_AGENTS) {
        match read(&path) {
            Ok(book) => books.extend(book),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => problems.push((path, error.to_string())),
        }
    }
    (books, problems)
}

/// Nothing when it is no file of ours.
fn read(path: &Path) -> io::Result<Option<AgentRecord>> {
    let mut file = lines::open(path)?;
    if file.metadata()?.len() > MAX_BYTES {
        return Err(io::Error::other("it is too large"));
    }
    let (mut book, mut begins): (Option<AgentRecord>, bool) = (None, true);
    lines::each(&mut file, 0, |line| {
        if std::mem::take(&mut begins) {
            book = serde_json::from_slice(line).ok().filter(|book: &AgentRecord| book.v == VERSION);
        } else if let Some(book) = &mut book
            && book.sessions.len() < MAX_KEPT
        {
            book.sessions.extend(serde_json::from_slice(line).ok().filter(SessionRecord::is_sound));
        }
    })?;
    Ok(book)
}

/// When it was used last, as its agent says: never later than it was told, and where that lies in times to come, than it
/// was told first.
pub fn used(kept: &SessionRecord, book: &AgentRecord) -> Option<Duration> {
    let seconds = seconds(kept.updated.as_deref()?)?;
    Some(Duration::from_secs(seconds.min(kept.ahead.unwrap_or(book.at))))
}

/// When its agent has listed it last.
pub fn at(kept: &SessionRecord, book: &AgentRecord) -> Duration {
    kept.told.map_or_else(|| Duration::from_secs(book.at), Duration::from_millis)
}

fn seconds(moment: &str) -> Option<u64> {
    u64::try_from(date::seconds(moment)?).ok()
}

#[cfg(test)]
#[path = "told_tests.rs"]
mod tests;
