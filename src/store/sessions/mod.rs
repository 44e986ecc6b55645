//! What is known of every session of every agent, from the journals: one list, which one is meant, which one is open.
//!
//! Knows nothing of reviews and starts no agent. Invariants: a session that was taken up again is one session, however
//! many journals it is in; whether one is open is decided by the lock of its journal.

mod index;
mod scan;

pub use crate::agent::codec::kept::{Can, Origin};
use crate::model::changes::Totals;
use crate::store::lines;
use index::Entry;
pub use index::{ENDING, Problem, in_parallel};
use scan::Found;
use serde::Serialize;
use std::collections::HashMap;
use std::fs::TryLockError;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How many are named when a name is ambiguous.
const MAX_NAMED: usize = 8;

/// How a session ended, if it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// An acp-tui has it open.
    Open,
    /// A turn did not end, or acp-tui was killed while it was open.
    Interrupted,
    Ended,
}

/// A session of an agent. Times are counted from 1970.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    /// The agent's name of it; not unique.
    pub session_id: String,
    /// What the agent calls itself, else its command.
    pub agent: String,
    /// Its command line, quoted as for a shell; see [`Known::argv`].
    pub command: String,
    pub cwd: PathBuf,
    pub branch: Option<String>,
    pub title: Option<String>,
    pub first_prompt: Option<String>,
    pub last_prompt: Option<String>,
    pub created: Duration,
    pub updated: Duration,
    pub turns: u64,
    pub state: State,
    pub can: Can,
    /// Tokens of the context that are used, and how many there are.
    pub context: Option<(u64, u64)>,
    pub cost: Option<(f64, String)>,
    /// What the sums of the review were when they were last told.
    pub totals: Option<Totals>,
    /// The newest one that it is in.
    pub journal: PathBuf,
    /// All, the oldest first.
    pub journals: Vec<PathBuf>,
    /// Of all journals.
    pub bytes: u64,
    /// The agent had it before the oldest journal began.
    pub is_older: bool,
}

impl Known {
    /// Nothing was ever said in it.
    pub fn is_empty(&self) -> bool {
        self.turns == 0 && self.title.is_none() && !self.is_older
    }

    /// The name that its newest journal and the review have in common.
    pub fn stem(&self) -> &str {
        stem(&self.journal)
    }

    /// The words of the command line; nothing when it cannot be taken apart.
    pub fn argv(&self) -> Option<Vec<String>> {
        words(&self.command)
    }
}

/// The name of a journal without its ending.
pub fn stem(journal: &Path) -> &str {
    let name = journal.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.strip_suffix(ENDING).unwrap_or(name)
}

/// All sessions, the newest first, and what could not be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    pub sessions: Vec<Known>,
    pub problems: Vec<Problem>,
}

/// Why there is no session of a name.
#[derive(Debug, thiserror::Error)]
pub enum NotFound {
    #[error("no session `{0}`; `acp-tui sessions --all` lists them")]
    None(String),
    #[error("`{name}` could be several sessions: {}", .ids.join(", "))]
    Several { name: String, ids: Vec<String> },
    #[error("the journals cannot be read: {0}")]
    Io(#[from] io::Error),
}

/// Where the journals are, below acp-tui's directory for state.
pub fn journals(state: &Path) -> PathBuf {
    state.join("sessions")
}

/// Every session that there is a journal of. `state` is acp-tui's directory for state.
pub fn list(state: &Path) -> io::Result<Listing> {
    let dir = journals(state);
    let (entries, problems) = index::refresh(&dir)?;
    let mut parts: Vec<Known> = entries.iter().flat_map(|entry| parts(&dir, entry)).collect();
    parts.sort_by(|a, b| (a.created, &a.journal).cmp(&(b.created, &b.journal)));
    let mut sessions: Vec<Known> = Vec::with_capacity(parts.len());
    let mut places: HashMap<(String, String), usize> = HashMap::new();
    for part in parts {
        let key = (part.session_id.clone(), part.agent.clone());
        // An agent may give an id again: only one that it has kept is the same session.
        match places.get(&key).and_then(|at| sessions.get_mut(*at)).filter(|_| part.is_older) {
            Some(earlier) => earlier.goes_on(part),
            None => {
                places.insert(key, sessions.len());
                sessions.push(part);
            }
        }
    }
    sessions.sort_by(|a, b| (b.updated, &b.journal, &b.session_id).cmp(&(a.updated, &a.journal, &a.session_id)));
    Ok(Listing { sessions, problems })
}

/// The newest session of a directory in which something was said.
pub fn newest(state: &Path, cwd: &Path) -> io::Result<Option<Known>> {
    Ok(list(state)?.sessions.into_iter().find(|known| known.cwd == cwd && !known.is_empty()))
}

/// The session that a name means: its id (the newest that has it), or a beginning of it that only one has.
pub fn by_id(state: &Path, name: &str) -> Result<Known, NotFound> {
    choose(list(state)?.sessions, name)
}

/// The same among these, of which the newest comes first.
pub fn choose(mut sessions: Vec<Known>, name: &str) -> Result<Known, NotFound> {
    if let Some(at) = sessions.iter().position(|known| known.session_id == name) {
        return Ok(sessions.swap_remove(at));
    }
    let fits = |known: &Known| !name.is_empty() && known.session_id.starts_with(name);
    let mut ids: Vec<String> = sessions.iter().filter(|known| fits(known)).map(|k| k.session_id.clone()).collect();
    ids.sort();
    ids.dedup();
    if ids.len() > 1 {
        ids.truncate(MAX_NAMED);
        return Err(NotFound::Several { name: name.to_owned(), ids });
    }
    sessions.into_iter().find(fits).ok_or_else(|| NotFound::None(name.to_owned()))
}

/// Whether an acp-tui writes this journal now.
pub fn is_open(journal: &Path) -> bool {
    lines::open(journal).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// The sessions of one journal.
fn parts(dir: &Path, entry: &Entry) -> Vec<Known> {
    let (scan, path) = (&entry.scan, dir.join(&entry.name));
    let Some(head) = &scan.head else { return Vec::new() };
    let is_open = !scan.is_ended && !scan.sessions.is_empty() && is_open(&path);
    let was_killed = head.ends && !scan.is_ended;
    let state = |place: usize, found: &Found| match found {
        found if found.is_closed => State::Ended,
        _ if is_open => State::Open,
        _ if was_killed || scan.is_in_turn(place) => State::Interrupted,
        _ => State::Ended,
    };
    let moment = |t: f64| {
        let since = Duration::try_from_secs_f64(t).unwrap_or_default();
        Duration::from_secs(head.started).saturating_add(since)
    };
    let known = |(place, found): (usize, &Found)| {
        let agent = scan.agents.get(&found.agent).cloned().unwrap_or_default();
        let last = if scan.is_in_turn(place) { scan.last } else { found.updated };
        Known {
            session_id: found.id.clone(),
            agent: agent.name.unwrap_or_else(|| agent.command.clone()),
            command: agent.command,
            cwd: PathBuf::from(&found.cwd),
            branch: head.branch.clone().filter(|_| found.cwd == head.cwd),
            title: found.title.clone(),
            first_prompt: found.first_prompt.clone(),
            last_prompt: found.last_prompt.clone().or_else(|| found.first_prompt.clone()),
            created: moment(found.created),
            updated: moment(last),
            turns: found.turns,
            state: state(place, found),
            can: agent.can,
            context: found.context,
            cost: found.cost.clone(),
            totals: found.key.and_then(|key| scan.totals.get(&key)).copied(),
            journal: path.clone(),
            journals: vec![path.clone()],
            bytes: entry.size,
            is_older: matches!(found.origin, Origin::Loaded | Origin::Resumed),
        }
    };
    scan.sessions.iter().enumerate().map(known).collect()
}

impl Known {
    /// It was taken up again: what is newer counts.
    fn goes_on(&mut self, later: Self) {
        let earlier = std::mem::replace(self, later);
        self.created = earlier.created;
        self.updated = self.updated.max(earlier.updated);
        self.first_prompt = earlier.first_prompt.or(self.first_prompt.take());
        self.last_prompt = self.last_prompt.take().or(earlier.last_prompt);
        self.title = self.title.take().or(earlier.title);
        self.branch = self.branch.take().or(earlier.branch);
        self.context = self.context.or(earlier.context);
        self.cost = self.cost.take().or(earlier.cost);
        self.totals = self.totals.or(earlier.totals);
        self.turns += earlier.turns;
        self.bytes += earlier.bytes;
        self.is_older = earlier.is_older;
        if earlier.state == State::Open {
            self.state = State::Open;
        }
        let mut journals = earlier.journals;
        journals.append(&mut self.journals);
        self.journals = journals;
    }
}

/// The words of a command line as `quote` makes it.
fn words(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quoted, mut chars) = (Vec::new(), None::<String>, false, line.chars());
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            '\\' if !quoted => word.get_or_insert_default().push(chars.next()?),
            ' ' if !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    (!quoted && !words.is_empty()).then_some(words)
}

#[cfg(test)]
#[path = "sessions_tests.rs"]
mod tests;
