//! Sessions that an agent has kept: how one is opened, what an agent can do with them, and what it lists.
//!
//! Data only. Knows nothing of calls. Invariant: the reader bounds what is listed.

use super::super::ids::{SessionId, SessionKey};
use super::super::login::quote;
use crate::base::origins::Discarded;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Duration;

/// How a session is opened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Opening {
    /// The agent gives it its id.
    #[default]
    New,
    /// One that the agent has kept; it tells its history before it answers.
    Load(SessionId),
    /// One that the agent has kept, without its history.
    Resume(SessionId),
    /// One that the agent has kept, by load or resume, as it offers: without its history where what was said
    /// is here or no person reads it.
    Continue(SessionId),
    /// A copy of one that the agent has kept; the agent gives it an id of its own.
    Fork(SessionId),
    /// The same, and it begins with what our journals have of that one.
    Copy(SessionId),
    /// It is only shown, as our journals have it.
    Show { id: SessionId, why: ReadOnly },
    /// A new one that continues another: its first prompt is to carry an account of that.
    After(Before),
    /// One in which a question is answered beside a conversation: a copy of that where it is named, else a new one.
    Aside { beside: SessionKey, from: Option<SessionId> },
}

/// What a session is that was opened for a question beside a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beside {
    /// It is a copy of that, or its agent is asked for one; else it gets an account.
    pub is_copy: bool,
    /// It is a session like any other.
    pub is_kept: bool,
}

/// The session that another one continues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Before {
    /// Where it is in the model.
    pub session: SessionKey,
    /// Its agent's name of it, where it has one.
    pub id: Option<SessionId>,
    /// Its agent, for people.
    pub agent: String,
    /// What the agent is called here that goes on with it, until it says that itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

impl Opening {
    /// The id, where it is known before the agent has answered.
    pub fn id(&self) -> Option<&SessionId> {
        match self {
            Self::New | Self::Fork(_) | Self::Copy(_) | Self::After(_) | Self::Aside { .. } => None,
            Self::Load(id) | Self::Resume(id) | Self::Continue(id) | Self::Show { id, .. } => Some(id),
        }
    }

    /// The session that the agent has to have kept.
    pub fn kept(&self) -> Option<&SessionId> {
        match self {
            Self::New | Self::Show { .. } | Self::After(_) | Self::Aside { .. } => None,
            Self::Load(id) | Self::Resume(id) | Self::Continue(id) | Self::Fork(id) | Self::Copy(id) => Some(id),
        }
    }
}

/// What an agent may be able to do with sessions that it has kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Can {
    Load,
    Resume,
    Fork,
    List,
    Close,
    Delete,
    /// It takes a title from the person.
    Title,
    /// It takes directories besides the session's own.
    Directories,
}

impl Can {
    pub const ALL: [Self; 8] =
        [Self::Load, Self::Resume, Self::Fork, Self::List, Self::Close, Self::Delete, Self::Title, Self::Directories];

    /// As part of a sentence, and as programs read it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Resume => "resume",
            Self::Fork => "fork",
            Self::List => "list",
            Self::Close => "close",
            Self::Delete => "delete",
            Self::Title => "title",
            Self::Directories => "additionalDirectories",
        }
    }
}

/// Several of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cans(u8);

impl Cans {
    pub fn has(self, what: Can) -> bool {
        self.0 & 1 << what as u8 != 0
    }
}

impl FromIterator<Can> for Cans {
    fn from_iter<I: IntoIterator<Item = Can>>(all: I) -> Self {
        Self(all.into_iter().fold(0, |bits, what| bits | 1 << what as u8))
    }
}

/// A session as the agent lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub id: SessionId,
    /// Absolute, where it is said at all.
    pub cwd: Option<String>,
    /// The agent's complete report.
    pub additional: Vec<String>,
    /// One line that can be shown.
    pub title: Option<String>,
    /// As it was sent; see [`crate::base::date`].
    pub updated: Option<String>,
}

/// One page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionPage {
    pub sessions: Vec<Listed>,
    /// It has more than are taken from one page.
    pub is_cut: bool,
    /// With what the next page is asked for; without it this is the last one.
    pub next: Option<String>,
    /// There is more, but with what it is asked for cannot be given back.
    pub is_broken_off: bool,
}

/// A rendition of version 1 of the protocol, with names, shapes and numbers of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// As the protocol is documented.
    #[default]
    Canonical,
    D0,
    D3,
    D4,
}

impl Dialect {
    /// As people and programs write it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Canonical => "canonical",
            Self::D0 => "d0",
            Self::D3 => "d3",
            Self::D4 => "d4",
        }
    }
}

/// In which versions and dialects of the protocol an agent is spoken to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Protocol {
    /// The first, and another one only where the agent refuses that and names it.
    #[default]
    #[serde(rename = "auto")]
    Auto,
    /// The first and no other.
    #[serde(rename = "1")]
    One,
    /// The second and no other.
    #[serde(rename = "2")]
    Two,
    /// No dialect; versions as by default.
    #[serde(rename = "canonical")]
    Canonical,
    /// The first version and no dialect of it.
    #[serde(rename = "canonical-1")]
    CanonicalOne,
    /// This dialect and no other.
    #[serde(rename = "d0")]
    D0,
    #[serde(rename = "d3")]
    D3,
    #[serde(rename = "d4")]
    D4,
}

impl Protocol {
    /// The words that a person has typed, for the version and the dialect; nothing where they do not go together.
    pub fn named(version: Option<&str>, dialect: Option<&str>) -> Option<Self> {
        Some(match (version.unwrap_or("auto"), dialect.unwrap_or("auto")) {
            ("auto", "auto") => Self::Auto,
            ("1", "auto") => Self::One,
            ("2", "auto" | "canonical") => Self::Two,
            ("auto", "canonical") => Self::Canonical,
            ("1", "canonical") => Self::CanonicalOne,
            ("auto" | "1", "d0") => Self::D0,
            ("auto" | "1", "d3") => Self::D3,
            ("auto" | "1", "d4") => Self::D4,
            _ => return None,
        })
    }

    /// Whether another version may be spoken where an agent refuses the first.
    pub const fn may_change(self) -> bool {
        matches!(self, Self::Auto | Self::Canonical)
    }

    /// The dialect, where it is not left to what the agent says.
    pub const fn dialect(self) -> Option<Dialect> {
        match self {
            Self::Auto | Self::One => None,
            Self::Two | Self::Canonical | Self::CanonicalOne => Some(Dialect::Canonical),
            Self::D0 => Some(Dialect::D0),
            Self::D3 => Some(Dialect::D3),
            Self::D4 => Some(Dialect::D4),
        }
    }
}

/// What an agent offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct AgentCaps {
    /// With sessions that it has kept.
    pub sessions: Cans,
    /// How long after it was opened a session can be loaded again.
    pub youngest: Duration,
    /// What keeps it from forgetting sessions, where it is known to.
    pub against_loss: Option<&'static str>,
    pub image: bool,
    pub audio: bool,
    pub embedded_context: bool,
    /// It starts no servers of tools that are programs.
    pub no_mcp_stdio: bool,
    /// Servers of tools that it reaches by these.
    pub mcp_http: bool,
    pub mcp_sse: bool,
    /// It reads and writes files and runs commands by itself only: nothing of that goes through this client.
    pub works_alone: bool,
    /// It takes words for a turn that runs.
    pub steers: bool,
    /// It says by itself whether it works.
    pub tells_state: bool,
    /// It can be told to forget who the person is.
    pub log_out: bool,
    /// It says who is logged in, when it is asked and when that changes.
    pub auth_status: bool,
    /// The same by an extension, in which it cannot be asked.
    pub tells_account: bool,
}

/// Why a session is only shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReadOnly {
    /// Its agent can neither load nor resume sessions.
    NoWay,
    /// Its agent does not know it any more.
    Forgotten,
    /// It is open there.
    Elsewhere(String),
    /// The directory that it was in is not there.
    Gone,
    /// The worktree that it was in was discarded; a ref of where that came from keeps it.
    Discarded { path: String, origin: String, kept: String },
}

impl ReadOnly {
    /// Why one is only shown whose directory is gone.
    pub fn gone(discarded: Option<Discarded>) -> Self {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        discarded.map_or(Self::Gone, |Discarded { path, origin, kept }| {
            let [path, origin] = [text(&path), text(&origin)];
            Self::Discarded { path, origin, kept }
        })
    }

    /// As a sentence about the session.
    pub fn words(&self) -> String {
        match self {
            Self::NoWay => "its agent cannot go on with it".to_owned(),
            Self::Forgotten => "its agent has forgotten it".to_owned(),
            Self::Elsewhere(place) => format!("it is open in {place}"),
            Self::Gone => "its directory is gone".to_owned(),
            Self::Discarded { .. } => "its worktree was discarded".to_owned(),
        }
    }

    /// What the person can do about it, as a sentence.
    pub fn advice(&self) -> Option<String> {
        let Self::Discarded { path, origin, kept } = self else { return None };
        let [path, origin] = [path, origin].map(|path| quote(path));
        Some(format!("`git -C {origin} worktree add {path} {kept}` brings it back"))
    }
}
