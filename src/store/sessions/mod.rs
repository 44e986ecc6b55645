//! What is known of every session of every agent, from the journals and from what agents have told: one list, which one
//! is meant, which one is open.
//!
//! Knows nothing of reviews and starts no agent. Invariants: a session that was taken up again is one session, however
//! many journals it is in and with whichever command line of its agent; what was imported is part of one of our own only
//! where that went on from it, and names no command; whether one is open is decided by the lock of its journal.

mod begins;
mod choosing;
mod figures;
mod forgotten;
mod found;
mod gathering;
/// Its reader is what `fuzz/` calls.
pub mod index;
mod keyed;
mod merging;
mod naming;
mod prune;
mod said;
mod scan;
mod told;

use crate::agent::codec::SharedCodec;
pub use crate::agent::codec::stored::{Can, Origin};
use crate::base::origins::Origins;
use crate::base::threads;
use crate::model::account;
use crate::model::agent::Told;
use crate::model::changes::Totals;
use crate::store::lines;
use crate::store::lock::is_locked;
pub use choosing::{by_id, choose};
pub use figures::{Day, Figures};
pub use forgotten::Forgotten;
use gathering::{OfJournal, gather};
pub use index::{ENDING, IMPORTED, Problem, in_parallel};
use merging::{asides, merge};
pub use prune::{Limits, Pruned, prune, remove_all_but, take_left_behind, with_sharers};
pub use said::Said;
use scan::Scan;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

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
    /// Its command line, quoted as for a shell; see [`Known::argv`]. None is taken from what was imported.
    pub command: String,
    /// Other command lines of the same agent, with which it was had before or that list it, the newest first.
    pub also: Vec<String>,
    pub cwd: PathBuf,
    pub branch: Option<String>,
    pub title: Option<String>,
    /// When its agent gave it that title, where it did.
    pub titled: Option<Duration>,
    pub first_prompt: Option<String>,
    pub last_prompt: Option<String>,
    pub created: Duration,
    /// When its agent opened it last for one of us.
    pub opened: Duration,
    pub updated: Duration,
    pub turns: u64,
    /// When something was asked in it first.
    pub asked: Option<Duration>,
    pub state: State,
    pub can: Can,
    /// What its agent has told of its use.
    pub figures: Figures,
    /// What the sums of the review were when they were last told in the newest journal.
    pub totals: Option<Totals>,
    /// What it has changed by itself, where others have a part in these.
    pub own_totals: Option<Totals>,
    /// The newest one that it is in.
    pub journal: PathBuf,
    /// All, the oldest first.
    pub journals: Vec<PathBuf>,
    /// Of all journals.
    pub bytes: u64,
    /// The agent had it before the oldest journal began.
    pub is_older: bool,
    /// The session that it continues, and the first of the thread that both are of.
    pub follows: Option<String>,
    pub thread: Option<String>,
    /// It was imported: nothing that it says is run.
    pub is_imported: bool,
    /// It was new, and nothing was asked in it.
    pub is_untouched: bool,
    /// A journal that it is in is being written.
    pub is_held: bool,
    /// Its agent has listed it, when it was asked last.
    pub is_listed: bool,
    /// The title is the person's own name for it.
    pub is_named: bool,
    /// The session that it was made of.
    pub copy_of: Option<String>,
    /// It was a side question, and is called by what was asked.
    pub is_question: bool,
    /// When it was used last in the agent's words, where that is all that is known and it is no time.
    pub used_as_told: Option<String>,
}

/// How long ago that was. A clock that was set back makes nothing older.
pub fn age(opened: Duration) -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().saturating_sub(opened)
}

impl Known {
    /// Nothing was ever said in it.
    pub fn is_empty(&self) -> bool {
        self.is_untouched || self.turns == 0 && self.title.is_none() && !self.is_older
    }

    /// What it is called, else what was asked first.
    pub fn name(&self) -> Option<&str> {
        self.title.as_deref().or_else(|| self.first_prompt.as_deref()?.lines().next())
    }

    /// Its title, unless that is the person's.
    pub fn own_title(&self) -> Option<String> {
        self.title.clone().filter(|_| !self.is_named)
    }

    /// The name that its newest journal and the review have in common.
    pub fn stem(&self) -> &str {
        stem(&self.journal)
    }

    /// Who knows of it: we, its agent, both, or the file that it came in.
    pub fn source(&self) -> &'static str {
        match (self.is_imported, self.is_listed) {
            (true, _) => "imported",
            (false, false) => "ours",
            (false, true) if self.journals.is_empty() => "agent",
            (false, true) => "both",
        }
    }

    /// Nothing of it is kept here: all that is known is its agent's word.
    pub fn is_only_told(&self) -> bool {
        self.source() == "agent"
    }

    /// Whether it is a copy that was made while the other was open beside it. What it begins with is in the journals of
    /// that one only.
    pub fn builds_on(&self, other: &Self) -> bool {
        let is_copy = self.copy_of.as_deref() == Some(&*other.session_id) && !self.is_empty();
        let began = self.journals.first();
        is_copy && other.is_of(&self.command) && began.is_some_and(|journal| other.journals.contains(journal))
    }

    /// Whether it is of the agent of this command line.
    pub fn is_of(&self, command: &str) -> bool {
        self.command == command || self.also.iter().any(|also| also == command)
    }

    /// The name that its agent gives itself; nothing where only its command is known.
    fn agents_name(&self) -> Option<&str> {
        Some(&*self.agent).filter(|name| !name.is_empty() && *name != self.command)
    }

    /// The command lines of its agent.
    pub fn commands(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&*self.command).chain(self.also.iter().map(String::as_str))
    }

    /// What it has changed, as was told last: by itself, where others have had the run, too.
    pub fn changed(&self) -> Option<Totals> {
        self.own_totals.or(self.totals)
    }

    /// The names of those of its journals that were imported.
    pub fn imported_names(&self) -> Vec<String> {
        let imported = self.journals.iter().filter(|journal| was_imported(journal));
        imported.filter_map(|journal| Some(journal.file_name()?.to_str()?.to_owned())).collect()
    }

    /// The words of the command line; nothing when it cannot be taken apart.
    pub fn argv(&self) -> Option<Vec<String>> {
        words(&self.command)
    }
}

/// Whether a journal was imported.
pub fn was_imported(journal: &Path) -> bool {
    journal.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(IMPORTED))
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
    /// What was asked aside and not kept.
    pub asides: Vec<Asked>,
}

/// A side question, of a session that is not listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    pub journal: PathBuf,
    pub session_id: String,
    pub question: String,
}

/// Why there is no session of a name.
#[derive(Debug, thiserror::Error)]
pub enum NotFound {
    #[error("no session `{0}`; `acp-tui sessions --all` lists them")]
    None(String),
    #[error("`{name}` could be several sessions: {}", .ids.join(", "))]
    Several { name: String, ids: Vec<String> },
    /// Two agents may give one id: which command is meant decides which program is started.
    #[error(
        "session `{name}` is one of several agents: {}; name it as it is stored, or with --resume also its agent: \
         --agent NAME, or its command after `--`",
        .known.join(", ")
    )]
    SeveralAgents { name: String, known: Vec<String> },
    #[error("the journals cannot be read: {0}")]
    Io(#[from] io::Error),
}

/// Where the journals are, below acp-tui's directory for state.
pub fn journals(state: &Path) -> PathBuf {
    state.join("sessions")
}

/// Every session that there is a journal of, or that an agent has told of. `state` is acp-tui's directory for state.
pub fn list(state: &Path) -> io::Result<Listing> {
    list_in(&journals(state))
}

fn list_in(dir: &Path) -> io::Result<Listing> {
    let (books, refreshed) = threads::both(|| told::read_all(dir), || index::refresh(dir));
    let (books, unread) = books.unwrap_or_default();
    let (entries, mut problems) = refreshed?;
    problems.extend(unread.into_iter().map(|(path, why)| Problem { path, why }));
    let (asides, asked) = (asides(&entries), merging::asked(dir, &entries));
    let (all, places) = gather(dir, entries);
    let mut sessions: Vec<Known> = Vec::new();
    if places.iter().all(Option::is_none) {
        // They stay where they are in memory.
        sessions = all.into_iter().map(|part| part.known).collect();
    } else {
        sessions.reserve(all.len());
        for (part, place) in all.into_iter().zip(places) {
            match place.and_then(|at| sessions.get_mut(at)) {
                Some(earlier) => Known::goes_on(earlier, part.known),
                None => sessions.push(part.known),
            }
        }
    }
    naming::threads(&mut sessions);
    merge(&mut sessions, books, &asides);
    let has_title_of_ours =
        |known: &&mut Known| !known.is_named && known.title.as_deref().is_some_and(account::is_ours);
    for known in sessions.iter_mut().filter(has_title_of_ours) {
        // What the person has asked says more than what we have put above it.
        let title = known.title.take().filter(|_| known.first_prompt.is_none());
        known.title = title.map(|title| account::title_of(&title).into_owned());
    }
    naming::copies(&mut sessions);
    sessions.sort_by(|a, b| (b.updated, &b.journal, &b.session_id).cmp(&(a.updated, &a.journal, &a.session_id)));
    Ok(Listing { sessions, problems, asides: asked })
}

/// The session that the agent of this command calls like this; else one of another command, and at last one that was
/// imported. `journals` is where the journals are.
pub fn find(journals: &Path, id: &str, command: &str) -> io::Result<Option<Known>> {
    let mut found: Vec<Known> =
        list_in(journals)?.sessions.into_iter().filter(|known| known.session_id == id).collect();
    found.sort_by_key(|known| (known.is_imported, known.command != command));
    Ok(found.into_iter().next())
}

/// Remembers what an agent has told of its sessions.
pub fn remember(state: &Path, told: &Told) -> io::Result<()> {
    told::remember(&journals(state), told)
}

/// Calls a session as the person wants it; nothing gives it back the name that it had.
pub fn rename(state: &Path, known: &Known, name: Option<String>) -> io::Result<()> {
    known
        .commands()
        .try_for_each(|command| told::mark(&journals(state), command, &[known], |_, kept| kept.name.clone_from(&name)))
}

/// Leaves out from now on what agents tell of these sessions.
pub fn hide(state: &Path, all: &[&Known]) -> io::Result<()> {
    let mut by_command: BTreeMap<&str, Vec<&Known>> = BTreeMap::new();
    for known in all {
        known.commands().for_each(|command| by_command.entry(command).or_default().push(known));
    }
    by_command.into_iter().try_for_each(|(command, all)| {
        told::mark(&journals(state), command, &all, |known, kept| kept.forget(&known.agent))
    })
}

/// Those of which nothing is shown any more.
pub fn hidden(state: &Path) -> Forgotten {
    let (books, _) = told::read_all(&journals(state));
    let mut forgotten = Forgotten::default();
    for book in books {
        for kept in book.sessions.into_iter().filter(|kept| kept.is_hidden) {
            forgotten.add(kept.id, &book.command, kept.agent.as_deref().unwrap_or(&book.agent));
        }
    }
    forgotten
}

/// Leaves out from now on all that agents have told, but of the sessions that stay.
pub fn hide_all_but(state: &Path, stay: &[&Known]) -> io::Result<()> {
    let stays = |command: &str, id: &str| stay.iter().any(|known| known.session_id == id && known.is_of(command));
    told::forget_all(&journals(state), stays)
}

/// What one journal has of a session.
#[derive(Clone, Debug)]
pub struct Part {
    pub journal: PathBuf,
    /// How its frames are read.
    pub codec: SharedCodec,
    /// The agent's key in this journal.
    pub key: u32,
    pub session_id: String,
    /// The same for all parts of one session, with whichever command line of its agent.
    pub session: usize,
    pub agent: String,
    pub command: String,
    pub cwd: PathBuf,
    /// The session that it was made of, where that was in this journal.
    pub copy_of: Option<String>,
    /// When the journal began, and when its last line was written.
    pub began: Duration,
    pub last: Duration,
    /// Turns in earlier journals.
    pub turns_before: u64,
    /// There are earlier journals.
    pub goes_on: bool,
    /// No other session is in the journal.
    pub is_alone: bool,
}

/// Every session of every journal, and what could not be read.
pub fn parts(state: &Path) -> io::Result<(Vec<Part>, Vec<Problem>)> {
    let dir = journals(state);
    let (entries, problems) = index::refresh(&dir)?;
    let (mut parts, mut turns) = (Vec::new(), Vec::new());
    let (all, places) = gather(&dir, entries);
    for (OfJournal { journal, agent, known, .. }, place) in all.into_iter().zip(places) {
        let turns_before = place.map_or(0, |at: usize| turns[at]);
        match place {
            Some(at) => turns[at] += known.turns,
            None => turns.push(known.turns),
        }
        let session = place.unwrap_or(turns.len() - 1);
        let Some(codec) = journal.codec.clone() else { continue };
        parts.push(Part {
            journal: known.journal,
            codec,
            key: agent,
            session_id: known.session_id,
            session,
            agent: known.agent,
            command: known.command,
            cwd: known.cwd,
            copy_of: known.copy_of,
            began: journal.began,
            last: journal.last,
            turns_before,
            goes_on: place.is_some(),
            is_alone: journal.is_alone,
        });
    }
    Ok((parts, problems))
}

/// The newest of our own of a directory or its worktrees in which something was said; in a worktree its own come first,
/// and anywhere those whose directory is still there.
pub fn newest(state: &Path, cwd: &Path, origins: &Origins) -> io::Result<Option<Known>> {
    let is_meant = |known: &Known| !known.is_empty() && !known.is_imported && !known.journals.is_empty();
    let mut all = list(state)?.sessions;
    all.retain(|known| is_meant(known) && origins.are_alike(&known.cwd, cwd));
    let own = all.iter().position(|known| known.cwd == cwd).filter(|_| origins.is_worktree(cwd));
    let at = own.or_else(|| all.iter().position(|known| known.cwd.is_dir()));
    Ok(all.into_iter().nth(at.unwrap_or(0)))
}

/// How the frames of a journal are read that begins with this line; nothing for an unknown version.
pub fn codec_of(first: &[u8]) -> Option<SharedCodec> {
    let mut scan = Scan::default();
    if scan.begin(first) { scan.codec() } else { None }
}

/// Whether an acp-tui writes this journal now.
pub fn is_open(journal: &Path) -> bool {
    lines::open(journal).is_ok_and(|file| is_locked(&file))
}

impl Known {
    /// It was taken up again: what is newer counts.
    fn goes_on(&mut self, later: Self) {
        let earlier = std::mem::replace(self, later);
        self.created = earlier.created;
        self.updated = self.updated.max(earlier.updated);
        self.first_prompt = earlier.first_prompt.or(self.first_prompt.take());
        self.last_prompt = self.last_prompt.take().or(earlier.last_prompt);
        if self.title.is_none() {
            (self.title, self.titled) = (earlier.title, earlier.titled);
        }
        self.asked = earlier.asked.or(self.asked);
        self.branch = self.branch.take().or(earlier.branch);
        self.figures.after(earlier.figures);
        self.follows = earlier.follows.or(self.follows.take());
        self.copy_of = earlier.copy_of.or(self.copy_of.take());
        self.is_question |= earlier.is_question;
        self.turns += earlier.turns;
        self.bytes += earlier.bytes;
        self.is_older = earlier.is_older;
        self.is_untouched &= earlier.is_untouched;
        self.is_held |= earlier.is_held;
        if earlier.state == State::Open {
            self.state = State::Open;
        }
        let mut journals = earlier.journals;
        journals.append(&mut self.journals);
        self.journals = journals;
        self.is_also(earlier.command);
        earlier.also.into_iter().for_each(|command| self.is_also(command));
    }
}

impl Known {
    /// It is of the agent of this command line too.
    fn is_also(&mut self, command: String) {
        if !command.is_empty() && !self.is_of(&command) {
            self.also.push(command);
        }
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
