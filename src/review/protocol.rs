//! What a [`ReviewSession`](super::session::ReviewSession) is told and tells: plain data.

use super::state::State;
use crate::model::changes::{Cause, HeldOutcome, Rewound};
use crate::model::ids::{EntryId, ReqId};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// What a session's review begins with.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SessionInfo {
    /// Names its directory below the home of all reviews, as its journal is named.
    pub stem: String,
    /// The session's directory, absolute.
    pub cwd: PathBuf,
    /// The agent's command line.
    pub command: String,
    /// Seconds since 1970.
    pub started: u64,
    /// Absolute paths that are the client's own, apart from the place of all reviews.
    #[serde(default, with = "uris", skip_serializing_if = "Vec::is_empty")]
    pub private: Vec<PathBuf>,
    /// Further directories that the agent works in, absolute. They are not looked at.
    #[serde(default, with = "uris", skip_serializing_if = "Vec::is_empty")]
    pub directories: Vec<PathBuf>,
}

/// What has happened to a turn by the time its beginning is looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passed {
    /// When its prompt went out, where that did not wait for the look.
    pub sent: Option<Instant>,
    /// When it was over.
    pub over: Option<Instant>,
}

/// Paths as `file:` URIs: JSON has no bytes.
mod uris {
    use crate::base::paths::{file_uri, from_file_uri};
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};
    use std::path::PathBuf;

    pub fn serialize<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
        paths.iter().map(|path| file_uri(path)).collect::<Vec<String>>().serialize(to)
    }

    /// One that cannot be understood is left out: the others still count.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PathBuf>, D::Error> {
        Ok(Vec::<String>::deserialize(from)?.iter().filter_map(|uri| from_file_uri(uri)).collect())
    }
}

/// A session of the agent: turns from `first_turn` on belong to it, up to the next one's.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct AgentSession {
    pub id: String,
    pub first_turn: u64,
    /// The agent's name.
    pub agent: String,
    /// It did not begin here: what it had changed before is kept in the reviews of earlier runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub goes_on: bool,
    /// It answers a question beside another session, and was not kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_aside: bool,
    /// Known only of one that was asked aside.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_changed: bool,
}

impl AgentSession {
    /// One that begins here.
    pub fn new(id: &str, first_turn: u64, agent: &str) -> Self {
        let (id, agent) = (id.to_owned(), agent.to_owned());
        Self { id, first_turn, agent, goes_on: false, is_aside: false, has_changed: false }
    }

    /// Whether it is one of the sessions of a run for the person. The answer to a side question that changed nothing is
    /// none: it has turns, and that is all.
    pub const fn counts(&self) -> bool {
        !self.is_aside || self.has_changed
    }

    /// Of the sessions of a run the one that is meant where none is named: the answer to a side question only where no
    /// other is there.
    pub fn newest(all: &[Self]) -> Option<&Self> {
        all.iter().rfind(|one| !one.is_aside).or_else(|| all.iter().rfind(|one| one.counts()))
    }
}

/// What a tool call says it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolEffect {
    /// Reads, searches: changes nothing.
    ReadOnly,
    /// The same, but it may have others work for it, of whose calls nothing is told.
    Thinks,
    /// Edits, moves or deletes what it names.
    Edits,
    /// May do anything.
    Runs,
    /// The same, and it is the person who runs it.
    Persons,
}

/// A piece that a tool call says it puts in the place of another. The texts may be fragments, hunks or whole files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedEdit {
    pub path: PathBuf,
    pub old: Option<Arc<str>>,
    pub new: Arc<str>,
}

/// News of a tool call, or of a command that runs in a terminal of the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolNote {
    pub entry: EntryId,
    /// The turn in which it was told; nothing outside of turns.
    pub turn: Option<u64>,
    pub doing: ToolEffect,
    /// When it was heard.
    pub at: Instant,
    /// It was told no earlier: lines before it may have kept it from being heard.
    pub since: Instant,
    /// It has its final status, or the command has ended.
    pub finished: bool,
    /// Nothing happens before the person has answered.
    pub waits: bool,
    /// Absolute paths that it names.
    pub paths: Vec<PathBuf>,
    pub claims: Vec<ClaimedEdit>,
}

/// What came of an action.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// One line for the person.
    pub words: String,
    /// For a rewind or its preview.
    pub rewound: Vec<Rewound>,
    /// It was stopped before its end; the same again goes on with it.
    pub stopped: Option<Progress>,
    /// What the system did not let be read or written: a full disk, a file that may not be changed.
    pub unwritten: Vec<PathBuf>,
}

/// How many of the files of an action have their new state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub done: usize,
    pub of: usize,
}

/// Is told how far an action has come, often; whether to go on.
pub type Watch = Box<dyn FnMut(Progress) -> bool + Send>;

/// What became of a held write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Released {
    Decided(HeldOutcome),
    /// The file was changed in the same lines while the write was held; it is to be decided anew.
    Again {
        path: PathBuf,
    },
}

/// A write that waits for the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    pub req: ReqId,
    pub entry: EntryId,
    /// The turn in which it was asked for; the newest one when nothing is said.
    pub turn: Option<u64>,
    /// Absolute.
    pub path: PathBuf,
    /// Decided by a plain answer: what is written then is still to be reviewed.
    pub asked: bool,
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

/// What a write through the client may replace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaceable {
    /// What is there, as the review has it.
    pub state: State,
    /// Below the root.
    pub path: PathBuf,
    /// Other names of the same file, below the root.
    pub links: Vec<PathBuf>,
}
