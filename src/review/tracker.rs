//! The review of one session: who changed what, what was decided of it, and how to take it back.
//!
//! Blocking; one thread owns it. Invariant: the disk is the truth, and what is recorded can be read again after a
//! crash at any point.

use super::error::ReviewError;
use super::state::State;
use crate::model::changes::{Cause, ReviewAction, ReviewDoc, Rewound, Scope, Totals, Truth};
use crate::model::ids::{EntryId, ReqId};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a session's review begins with.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Head {
    /// Names its directory below the home of all reviews, as its journal is named.
    pub stem: String,
    /// The session's directory, absolute.
    pub cwd: PathBuf,
    /// The agent's command line.
    pub command: String,
    /// Seconds since 1970.
    pub started: u64,
}

/// A session of the agent: turns from `first_turn` on belong to it, up to the next one's.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct AgentSession {
    pub id: String,
    pub first_turn: u64,
    /// The agent's name.
    pub agent: String,
}

/// What a tool call says it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Reads, thinks, searches: changes nothing.
    Nothing,
    /// Edits, moves or deletes what it names.
    Edits,
    /// May do anything.
    Runs,
}

/// A piece that a tool call says it puts in the place of another. The texts may be fragments, hunks or whole files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub path: PathBuf,
    pub old: Option<Arc<str>>,
    pub new: Arc<str>,
}

/// News of a tool call, or of a command that runs in a terminal of the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolNote {
    pub entry: EntryId,
    pub doing: Doing,
    /// It has its final status, or the command has ended.
    pub settled: bool,
    /// Absolute paths that it names.
    pub paths: Vec<PathBuf>,
    pub claims: Vec<Claim>,
}

/// What came of an action.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// One line for the person.
    pub words: String,
    /// For a rewind or its preview.
    pub rewound: Vec<Rewound>,
    /// Held writes that are decided now.
    pub released: Vec<ReqId>,
}

/// What became of a held write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Released {
    /// All of it is on the disk.
    Whole { created: bool, bytes: u64 },
    /// Something else is on the disk; how that differs from what the agent wanted, as a unified diff.
    Partly { differs: String },
    /// Nothing was written.
    Refused,
}

/// A file of the session from before the agent until now, for patches and reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    pub path: PathBuf,
    pub before: State,
    pub after: State,
    /// All there were, in the order of their first appearance.
    pub causes: Vec<Cause>,
    pub turns: Vec<u64>,
}

pub struct Tracker {
    head: Head,
}

impl Tracker {
    /// Takes up a new session below `home`, the directory of all reviews. Nothing is read yet.
    pub fn create(_home: &Path, head: Head) -> Result<Self, ReviewError> {
        Ok(Self { head })
    }

    /// Goes on with an earlier session; `dir` is its own directory.
    pub fn open(dir: &Path) -> Result<Self, ReviewError> {
        Err(ReviewError::NoSession(dir.display().to_string()))
    }

    pub fn head(&self) -> &Head {
        &self.head
    }

    pub fn sessions(&self) -> &[AgentSession] {
        &[]
    }

    /// A session of the agent was opened; turns from `first_turn` on are its.
    pub fn session(&mut self, _id: &str, _first_turn: u64, _agent: &str) -> Result<(), ReviewError> {
        Ok(())
    }

    /// Looks at the whole tree before a prompt goes out: what has changed since the last look is the person's.
    pub fn begin_turn(&mut self, _turn: u64) -> Result<(), ReviewError> {
        Ok(())
    }

    /// Looks at the whole tree after a turn: what has changed is of the turn. Its sums.
    pub fn end_turn(&mut self, _turn: u64) -> Result<Totals, ReviewError> {
        Ok(Totals::default())
    }

    /// News of a tool call or command; looks at what it names. Whether the ledger has changed.
    pub fn tool(&mut self, _note: &ToolNote) -> Result<bool, ReviewError> {
        Ok(false)
    }

    /// Right before a write through the client: what is there now is not its doing. `path` is absolute.
    pub fn before_write(&mut self, _path: &Path) -> Result<(), ReviewError> {
        Ok(())
    }

    /// Right after a write through the client.
    pub fn wrote(&mut self, _path: &Path, _entry: Option<EntryId>) -> Result<(), ReviewError> {
        Ok(())
    }

    /// Sums of the whole session, against the last accepted state.
    pub fn totals(&self) -> Totals {
        Totals::default()
    }

    /// Whether a change of the agent has appeared that did not come through the client.
    pub fn is_after(&self) -> bool {
        false
    }

    /// What could not be covered, in words.
    pub fn uncovered(&self) -> Vec<String> {
        Vec::new()
    }

    /// What there is to look at; reads the files in question again.
    pub fn doc(&mut self, _scope: Scope) -> Result<ReviewDoc, ReviewError> {
        Ok(ReviewDoc::default())
    }

    /// Carries out what the person wants (all but `Show`, `Close` and `Export`).
    pub fn act(&mut self, _action: &ReviewAction) -> Result<Done, ReviewError> {
        Ok(Done::default())
    }

    /// What a write or the diff of a permission request would really do.
    pub fn truth(&mut self, path: &Path, _old: Option<&str>, new: &str) -> Result<Truth, ReviewError> {
        Ok(Truth { path: path.to_owned(), old: None, new: new.into(), differs: None })
    }

    /// Takes a write that is not to happen before it is decided; it is part of every [`Tracker::doc`] from now on.
    /// False when there is nothing to decide, since the file has that content.
    pub fn hold(&mut self, _req: ReqId, _path: &Path, _content: &str, _entry: EntryId) -> Result<bool, ReviewError> {
        Ok(false)
    }

    /// What became of a held write, once; nothing while it is undecided.
    pub fn released(&mut self, _req: ReqId) -> Result<Option<Released>, ReviewError> {
        Ok(None)
    }

    /// Forgets a held write (the turn was cancelled, the agent is gone).
    pub fn let_go(&mut self, _req: ReqId) {}

    /// Every file that the agent has changed, for patches and reports, sorted by path.
    pub fn changed(&mut self, _scope: Scope) -> Result<Vec<Changed>, ReviewError> {
        Ok(Vec::new())
    }

    /// The content behind a state; empty for nothing.
    pub fn content(&self, _state: &State) -> Result<Vec<u8>, ReviewError> {
        Ok(Vec::new())
    }
}
