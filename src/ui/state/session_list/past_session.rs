//! An earlier session as the list shows it, and what names one.
//!
//! Plain data, made by a worker. Invariant: what is shown of a session is one harmless line each.

use crate::base::sanitize;
use crate::model::account;
use crate::model::changes::Totals;
use crate::model::session_ref::SessionRef;
use crate::text::width;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

/// Columns that are kept of a title or a prompt, and of an agent's name.
pub(super) const ABOUT: usize = 240;
const AGENT: usize = 40;

/// Columns around what tells one apart, and for it at the least.
const AROUND: usize = 5;
const LEAST: usize = 12;

/// Names a session to the archive that stores it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Which {
    /// Of its agent.
    pub command: String,
    pub id: String,
    /// The records that it is in; where they are not known, the newest session of this id is meant.
    pub journals: Option<Vec<PathBuf>>,
}

impl Which {
    /// One that is open here, once its agent's name of it is known.
    pub fn of(session: SessionRef<'_>) -> Option<Self> {
        let id = session.known_id()?.as_str().to_owned();
        Some(Self { command: session.agent().command.clone(), id, journals: None })
    }
}

/// How an earlier session ended, as far as is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// An acp-tui has it open.
    Open,
    /// In the middle of a turn, or together with acp-tui.
    Interrupted,
    Ended,
}

/// How the agent of an earlier session is started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Starts {
    /// As the agent of this name, which is configured.
    Configured(String),
    /// By the words that were recorded.
    Recorded(Vec<String>),
    Unknown,
}

/// A session that there is a record of. What the screen shows of it is one harmless line each; see
/// [`PastSession::clean`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PastSession {
    /// The agent's name of it.
    pub id: String,
    pub agent: String,
    /// The command line, as it is recorded.
    pub command: String,
    /// Others of the same agent, with which it was had before or that list it.
    pub also: Vec<String>,
    pub starts: Starts,
    pub cwd: PathBuf,
    /// The branch that the directory was on.
    pub branch: Option<String>,
    /// The directory is not there.
    pub is_gone: bool,
    pub title: Option<String>,
    pub first_prompt: Option<String>,
    pub last_prompt: Option<String>,
    /// Seconds since it was last used.
    pub age: u64,
    pub turns: u64,
    pub end: End,
    /// An acp-tui writes a record that it is in.
    pub is_held: bool,
    /// When it was used last in its agent's words, where that is no time that can be read.
    pub used_as_told: Option<String>,
    /// The agent can open a copy of it, as far as is known.
    pub forks: bool,
    /// Its agent can load or resume it, as far as is known; else it is only shown.
    pub goes_on: bool,
    /// What it has changed, and how much of that is to be decided, where it was reviewed.
    pub totals: Option<Totals>,
    /// The title is the person's own name for it.
    pub is_named: bool,
    /// What is the same for all sessions that continue one another.
    pub thread: Option<String>,
    /// When it began, counted from 1970: one of a thread before those that continue it.
    pub began: Duration,
    /// The records that it is in, the newest last; without any, only its agent knows of it.
    pub journals: Vec<PathBuf>,
    /// What was said in it and not in others of the same name.
    pub apart: Option<String>,
    /// What the filter looks at.
    pub(super) text: String,
}

impl PastSession {
    /// What a record says, made harmless. For a worker: there may be many.
    pub fn clean(id: String, agent: &str, command: String, starts: Starts, cwd: PathBuf) -> Self {
        let agent = width::truncate(sanitize::line(agent).trim(), AGENT).into_owned();
        Self {
            id,
            agent,
            command,
            also: Vec::new(),
            starts,
            cwd,
            branch: None,
            is_gone: false,
            title: None,
            first_prompt: None,
            last_prompt: None,
            age: 0,
            turns: 0,
            end: End::Ended,
            is_held: false,
            used_as_told: None,
            forks: false,
            goes_on: true,
            totals: None,
            is_named: false,
            thread: None,
            began: Duration::ZERO,
            journals: Vec::new(),
            apart: None,
            text: String::new(),
        }
    }

    /// The same with what it is about.
    #[must_use]
    pub fn about(mut self, title: Option<&str>, first: Option<&str>, last: Option<&str>) -> Self {
        let clean = |text: &str| {
            let text = &*account::title_of(text);
            // A prompt may be very long; what is beyond these columns is not looked at.
            let head: String = text.chars().take(ABOUT * 2).collect();
            let line = sanitize::line(&head).trim().replace(['“', '”'], "\"");
            Some(width::truncate(&line, ABOUT).into_owned()).filter(|line| !line.is_empty())
        };
        (self.title, self.first_prompt) = (title.and_then(clean), first.and_then(clean));
        self.last_prompt = last.and_then(clean).filter(|last| Some(last) != self.first_prompt.as_ref());
        let place = self.cwd.file_name().unwrap_or_default().to_string_lossy();
        let said = [&self.title, &self.first_prompt, &self.last_prompt].map(Option::as_deref);
        let parts = said.into_iter().chain([Some(&*self.agent), Some(&place)]);
        self.text = parts.flatten().collect::<Vec<_>>().join(" ");
        self
    }

    /// The same with the other command lines of its agent.
    #[must_use]
    pub fn also(self, also: Vec<String>) -> Self {
        Self { also, ..self }
    }

    /// The command lines of its agent, the one that is recorded first.
    pub fn commands(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&*self.command).chain(self.also.iter().map(String::as_str))
    }

    /// Whether it is of the agent of this command line.
    pub fn is_of(&self, command: &str) -> bool {
        self.commands().any(|one| one == command)
    }

    /// The same with the branch that its directory was on.
    #[must_use]
    pub fn on_branch(self, branch: Option<&str>) -> Self {
        let branch = branch.map(|branch| width::truncate(sanitize::line(branch).trim(), AGENT).into_owned());
        let text = [&*self.text, " ", branch.as_deref().unwrap_or_default()].concat();
        Self { branch, text, ..self }
    }

    /// The same with what it shares with those that it continues, or that continue it, and when it began.
    #[must_use]
    pub fn of_thread(self, thread: Option<String>, began: Duration) -> Self {
        Self { thread, began, ..self }
    }

    /// The same with how it was used, `age` seconds ago at last, and whether its directory is gone.
    #[must_use]
    pub fn used(self, age: u64, turns: u64, end: End, journals: Vec<PathBuf>, is_gone: bool) -> Self {
        Self { is_gone, age, turns, end, journals, ..self }
    }

    /// The same with the agent's words for when it was used, whether it can open a copy, and who gave it its title.
    #[must_use]
    pub fn told(self, used_as_told: Option<&str>, forks: bool, is_named: bool) -> Self {
        let used_as_told = used_as_told.map(|told| width::truncate(sanitize::line(told).trim(), AGENT).into_owned());
        Self { used_as_told, forks, is_named, ..self }
    }

    /// The same with what it has changed.
    #[must_use]
    pub fn changing(self, totals: Option<Totals>) -> Self {
        Self { totals, ..self }
    }

    /// The same with whether its agent can load or resume it.
    #[must_use]
    pub fn going_on(self, goes_on: bool) -> Self {
        Self { goes_on, ..self }
    }

    /// The same with whether a record that it is in is being written.
    #[must_use]
    pub fn held(self, is_held: bool) -> Self {
        Self { is_held, ..self }
    }

    /// Another one whose changes are kept together with its own.
    pub(super) fn is_beside(&self, one: &Self) -> bool {
        (&self.id, &self.journals) != (&one.id, &one.journals)
            && self.cwd == one.cwd
            && self.journals.iter().any(|journal| one.journals.contains(journal))
    }

    pub fn which(&self) -> Which {
        Which { command: self.command.clone(), id: self.id.clone(), journals: Some(self.journals.clone()) }
    }

    /// What tells it apart, in quotes, for what a name of so many columns leaves of a row: at least half of it. Nothing where
    /// that would be a piece of a word.
    pub fn apart_beside(&self, name: usize, columns: usize) -> String {
        let room = columns.saturating_sub(name.min(columns.div_ceil(2)) + AROUND);
        match &self.apart {
            Some(words) if room >= LEAST => format!(" · “{}”", width::truncate(words, room)),
            _ => String::new(),
        }
    }

    /// The title, else the first prompt.
    pub fn name(&self) -> Option<&str> {
        self.title.as_deref().or(self.first_prompt.as_deref())
    }
}

/// Those of one thread stand where the first of them does, each below the one that goes on from it.
pub(super) fn by_thread(all: &[PastSession], shown: &mut Vec<usize>) {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let thread = |at: usize| all.get(at).and_then(|one| one.thread.as_deref());
    for (place, at) in shown.iter().enumerate() {
        if let Some(thread) = thread(*at) {
            places.entry(thread).or_insert(place);
        }
    }
    let mut placed: Vec<(usize, usize)> = shown.iter().copied().enumerate().collect();
    placed.sort_by_key(|(place, at)| {
        let place = thread(*at).and_then(|thread| places.get(thread)).unwrap_or(place);
        (*place, Reverse(all.get(*at).map(|one| one.began)))
    });
    *shown = placed.into_iter().map(|(_, at)| at).collect();
}
