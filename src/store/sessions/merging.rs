//! What agents have told of their sessions, put together with what our journals have of them.
//!
//! Reads no file. Invariants: a session is of the agent with whose command line it was had; what tells the same id and
//! directory under another one, and calls itself the same, is the same agent. What an agent tells never decides what is
//! started for a session that we have a journal of.

use super::figures::Figures;
use super::found::Found;
use super::index::Entry;
use super::told::{self, AgentRecord, SessionRecord};
use super::{Asked, Known, State};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// An agent may note a new session a little later than it has opened it.
const UNTOUCHED: Duration = Duration::from_secs(10);

/// Sessions in which nothing was asked but a side question, which their agents may have kept: by commands, and by names.
#[derive(Default)]
pub(super) struct Asides {
    by_command: HashSet<(String, String)>,
    by_name: HashSet<(String, String)>,
}

pub(super) fn asides(entries: &[Entry]) -> Asides {
    let mut asides = Asides::default();
    for entry in entries {
        for found in entry.scan.sessions.iter().filter(|found| found.is_aside) {
            let Some(agent) = entry.scan.agents.get(found.agent) else { continue };
            asides.by_command.insert((agent.command.clone(), found.id.clone()));
            asides.by_name.extend(agent.name.clone().map(|name| (name, found.id.clone())));
        }
    }
    asides
}

/// The questions themselves.
pub(super) fn asked(dir: &Path, entries: &[Entry]) -> Vec<Asked> {
    let of = |entry: &Entry, found: &Found| {
        let question = found.first_prompt.clone().filter(|_| found.is_aside)?;
        Some(Asked { journal: dir.join(&entry.name), session_id: found.id.clone(), question })
    };
    entries.iter().flat_map(|entry| entry.scan.sessions.iter().filter_map(move |found| of(entry, found))).collect()
}

impl Asides {
    fn has(&self, kept: &SessionRecord, book: &AgentRecord) -> bool {
        let named = |whose: &String| (whose.clone(), kept.id.clone());
        self.by_command.contains(&named(&book.command)) || self.by_name.contains(&named(&book.agent))
    }
}

/// Where in a list the newest session of an id is: of a command, and of an agent of a name in a directory.
#[derive(Default)]
struct Places {
    by_command: HashMap<(String, String), usize>,
    by_name: HashMap<(String, String, PathBuf), usize>,
}

impl Places {
    fn add(&mut self, known: &Known, at: usize) {
        self.by_command.insert((known.command.clone(), known.session_id.clone()), at);
        for command in &known.also {
            self.by_command.entry((command.clone(), known.session_id.clone())).or_insert(at);
        }
        if let Some(name) = known.agents_name().filter(|_| !known.is_imported) {
            self.by_name.insert((name.to_owned(), known.session_id.clone(), known.cwd.clone()), at);
        }
    }

    fn of(&self, kept: &SessionRecord, book: &AgentRecord) -> Option<usize> {
        let by_command = self.by_command.get(&(book.command.clone(), kept.id.clone()));
        let by_name = || self.by_name.get(&(book.agent.clone(), kept.id.clone(), PathBuf::from(&kept.cwd)));
        by_command.or_else(by_name).copied()
    }
}

/// Adds what agents have told: of the newest session of an id, or as one of their own.
pub(super) fn merge(sessions: &mut Vec<Known>, mut books: Vec<AgentRecord>, asides: &Asides) {
    if books.is_empty() {
        return;
    }
    // What was told last counts.
    books.sort_by_key(|book| book.at);
    let told: HashSet<&str> = books.iter().flat_map(|book| &book.sessions).map(|kept| kept.id.as_str()).collect();
    let mut places = Places::default();
    for (at, known) in sessions.iter().enumerate().filter(|(_, known)| told.contains(known.session_id.as_str())) {
        places.add(known, at);
    }
    let hidden = hidden(&books);
    for book in &books {
        for kept in &book.sessions {
            match places.of(kept, book).and_then(|at| sessions.get_mut(at)) {
                Some(known) => known.is_told(kept, book),
                None if asides.has(kept, book) => {}
                None if kept.is_listed && !kept.is_hidden && !hidden.has(kept, book) => {
                    let known = Known::of_agent(kept, book);
                    places.add(&known, sessions.len());
                    sessions.push(known);
                }
                None => {}
            }
        }
    }
}

/// Sessions that the person has forgotten, by the names of their agents and their ids: in which directories, where that is known.
struct Hidden<'a>(HashMap<(&'a str, &'a str), Vec<&'a str>>);

fn hidden(books: &[AgentRecord]) -> Hidden<'_> {
    let mut hidden: HashMap<_, Vec<&str>> = HashMap::new();
    for book in books {
        for kept in book.sessions.iter().filter(|kept| kept.is_hidden) {
            let name = kept.agent.as_deref().unwrap_or(&book.agent);
            if !name.is_empty() && name != book.command {
                hidden.entry((name, &*kept.id)).or_default().push(&kept.cwd);
            }
        }
    }
    Hidden(hidden)
}

impl Hidden<'_> {
    /// Also where it is listed under another command line.
    fn has(&self, kept: &SessionRecord, book: &AgentRecord) -> bool {
        let dirs = self.0.get(&(&*book.agent, &*kept.id));
        dirs.is_some_and(|dirs| dirs.iter().any(|cwd| cwd.is_empty() || Path::new(cwd) == Path::new(&kept.cwd)))
    }
}

impl Known {
    /// One that only its agent knows of.
    fn of_agent(kept: &SessionRecord, book: &AgentRecord) -> Self {
        let used = told::used(kept, book);
        Self {
            follows: None,
            thread: None,
            session_id: kept.id.clone(),
            agent: if book.agent.is_empty() { book.command.clone() } else { book.agent.clone() },
            command: book.command.clone(),
            also: Vec::new(),
            cwd: PathBuf::from(&kept.cwd),
            branch: None,
            title: kept.name.clone().or_else(|| kept.title.clone()),
            titled: kept.title.as_ref().map(|_| told::at(kept, book)),
            first_prompt: None,
            last_prompt: None,
            // No agent tells that.
            created: Duration::ZERO,
            opened: used.unwrap_or_default(),
            updated: used.unwrap_or_default(),
            turns: 0,
            asked: None,
            state: State::Ended,
            can: book.can,
            figures: Figures::default(),
            totals: None,
            own_totals: None,
            journal: PathBuf::new(),
            journals: Vec::new(),
            bytes: 0,
            is_older: true,
            is_imported: false,
            is_untouched: false,
            is_held: false,
            is_listed: true,
            is_named: kept.name.is_some(),
            copy_of: None,
            is_question: false,
            used_as_told: kept.updated.clone().filter(|_| used.is_none()),
        }
    }

    /// Its agent has told of it too, or the person has given it a name. What was told later counts.
    fn is_told(&mut self, kept: &SessionRecord, book: &AgentRecord) {
        self.is_listed = kept.is_listed;
        if kept.is_listed && book.command != self.command {
            self.is_listed_by(&book.command);
        }
        let used = told::used(kept, book).unwrap_or_default();
        // A title alone is no conversation.
        let is_used = kept.is_listed && used > self.updated.saturating_add(UNTOUCHED);
        self.is_untouched &= !is_used && kept.name.is_none();
        if kept.is_listed {
            let told = told::at(kept, book);
            let is_later = told >= self.updated;
            // What it was called before anything was said in it says nothing; one that its agent had before has said something.
            let was_asked = self.asked.is_some_and(|asked| told >= asked);
            let says_something = was_asked || self.is_older || used > self.created.saturating_add(UNTOUCHED);
            let is_newer = self.titled.is_none_or(|titled| told >= titled);
            let counts = !self.is_named && (is_later || is_newer && says_something);
            if let Some(title) = kept.title.as_ref().filter(|_| counts) {
                (self.title, self.titled) = (Some(title.clone()), Some(told));
            }
            if is_later {
                self.can = book.can;
            }
            self.updated = self.updated.max(used);
        }
        if let Some(name) = &kept.name {
            (self.title, self.is_named) = (Some(name.clone()), true);
        }
    }

    /// Of one that we have no journal of, what told of it last is the command.
    fn is_listed_by(&mut self, command: &str) {
        self.also.retain(|also| also != command);
        let other = if self.journals.is_empty() {
            std::mem::replace(&mut self.command, command.to_owned())
        } else {
            command.to_owned()
        };
        self.also.insert(0, other);
    }
}
