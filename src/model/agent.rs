//! An agent and the connection to it: what it has told of itself, and whether it can be asked for anything.
//!
//! Knows of no session but their names in what came too early. Read by the front ends and written by `reduce` only.
//! Invariant: messages that name a session that is not known yet are kept only while a `session/new` is unanswered.

use super::auth_status::AuthStatus;
use super::confined::Confined;
use super::entry::DetailFold;
use super::event::{AgentCaps, AgentRequest, AuthKind, AuthMethod, CallError, Can, Cans, Dialect, Listed, Odd, Update};
use super::ids::{Now, ReqId, SessionId};
use super::login::LogIn;
use crate::base::transport::{Reached, Transport};
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// Of an agent that cannot be told of directories besides the session's own.
pub const NO_DIRECTORIES: &str = "this agent takes no further directories (sessionCapabilities.additionalDirectories)";

/// Where the connection stands.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Connection {
    #[default]
    NotStarted,
    /// Spawned; `initialize` is on its way.
    Starting { since: Now },
    /// `initialize` was answered: sessions can be opened.
    Up,
    /// The agent is gone, or none of its sessions came about.
    Dead(Death),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Death {
    pub kind: DeathKind,
    /// One line: what happened, in whose words.
    pub message: String,
    /// One line: what to do; may be empty.
    pub hint: String,
    /// `data` of the error, or the agent's last lines on stderr.
    pub detail: Vec<String>,
    pub fold: DetailFold,
    pub at: Now,
    /// How long the agent lived.
    pub after: Now,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeathKind {
    /// Not found, not executable.
    NotStarted,
    /// Exited before it answered `initialize`.
    Early,
    /// Speaks another protocol version.
    Version,
    /// `initialize` or `session/new` was answered with an error.
    Refused,
    /// Exited, closed stdout, or was killed later.
    Gone,
    /// The connection to it broke.
    Lost,
}

impl DeathKind {
    /// It may be only the connection that is gone, and never came about again.
    pub const fn is_of_connection(self) -> bool {
        matches!(self, Self::Lost | Self::NotStarted)
    }
}

/// How often in a row an agent that keeps ending is started again by itself.
pub const REVIVALS: u8 = 5;
/// Bytes of titles in a list of sessions that is short.
const SHORT_LIST: usize = 16 << 10;

/// It has ended and is started again by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revival {
    pub at: Now,
    /// From 1.
    pub attempt: u8,
}

/// What is known of the agent behind the connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Agent {
    /// The command line as configured.
    pub command: String,
    /// Names of the variables that the configuration gives it besides.
    pub env: Vec<String>,
    /// Names of the variables that the system's keyring has for it.
    pub kept: Vec<String>,
    pub name: Option<String>,
    pub title: Option<String>,
    pub version: Option<String>,
    /// The version of the protocol that is spoken; 0 before that is agreed on.
    pub protocol: u16,
    /// The dialect of it, and what has shown that it is this one.
    pub dialect: Dialect,
    pub evidence: Option<&'static str>,
    pub caps: AgentCaps,
    pub auth_methods: Vec<AuthMethod>,
    /// It was not started but reached like this.
    pub reached: Option<Reached>,
    pub spawned_at: Now,
    /// Lines and messages that could not be used.
    pub odd: OddCounts,
    /// A line on stdout that looked like a text interface or an echo of ours, before `initialize` was answered.
    pub early_stray: Option<String>,
    /// The process is running as far as we know.
    pub alive: bool,
    pub connection: Connection,
    /// What it wants before all or some of its sessions go on.
    pub log_in: Option<LogIn>,
    /// Who it says is logged in, where it says so and is asked to.
    pub auth_status: Option<AuthStatus>,
    /// What the person may have meant when the agent's command speaks no ACP ("gemini --acp").
    pub suggestion: Option<String>,
    /// What the system keeps it to.
    pub confined: Option<Box<Confined>>,
    /// Its next start without a request of the person.
    pub revival: Option<Revival>,
    /// How often it was started again by itself since it was of use, or since the person started it.
    pub revivals: u8,
    /// Its server has said how long it is not to be asked.
    pub(super) retry_after: Option<Duration>,
    pub(super) is_ended_by_person: bool,
    /// Updates and requests that named a session before `session/new` was answered.
    pub(super) strays: Vec<Stray>,
    /// Attempts to log in so far.
    pub(super) log_ins: u64,
    /// What it has listed of its sessions, since it was last asked.
    pub(super) listing: Option<Listing>,
    /// How often it was asked for a list.
    pub(super) lists: u64,
    /// The method for which the person has typed something that is still good.
    pub(super) credentials: Option<String>,
}

/// The sessions that an agent says it has kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    /// Only those in this directory were asked for.
    pub cwd: Option<String>,
    /// Each once, with what was said last of it; when the list has ended, the newest first.
    pub sessions: Vec<Listed>,
    pub state: ListState,
    pub(super) attempt: u64,
    pub(super) pages: u32,
    /// When it was asked for, or told of last.
    pub(super) told: Now,
    /// Where each session stands.
    pub(super) places: HashMap<SessionId, usize>,
    /// Cursors that were followed.
    pub(super) cursors: HashSet<String>,
}

impl Listing {
    /// A part of it is here.
    pub fn has_begun(&self) -> bool {
        self.pages > 0
    }

    /// It has come in several pages, or has much text.
    pub fn is_long(&self) -> bool {
        let title = |one: &Listed| one.title.as_ref().map_or(0, String::len);
        self.pages > 1 || self.sessions.iter().map(title).sum::<usize>() > SHORT_LIST
    }
}

/// What an agent has told of its stored sessions, for the record of agents.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// Its command line.
    pub command: String,
    /// What it calls itself.
    pub agent: String,
    pub can: Cans,
    /// Only those in this directory were asked for.
    pub cwd: Option<String>,
    /// What it did not tell of, it does not keep.
    pub is_whole: bool,
    pub sessions: Vec<Listed>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ListState {
    /// There are more pages.
    Going,
    Whole,
    /// There may be more: what was listed is kept, and why no more is asked for.
    Stopped(&'static str),
    Failed(CallError),
}

/// Something that named a session whose id we do not know yet.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stray {
    Update(SessionId, Update),
    Request(ReqId, SessionId, AgentRequest),
}

/// What may be the matter with an agent that does not get far in a sandbox.
const CONFINED: &str = "It can write only where the sandbox lets it: name the directory of its state (and /tmp, if it wants that) \
                        in sandbox_write of its [agents.NAME] in config.toml, or leave the sandbox out.";
/// The same where reading is limited, too.
const CONFINED_READING: &str = "It can read only what sandbox_read of its [agents.NAME] in config.toml names: the directory of its program, that of \
     its interpreter and often /proc have to be among it; and write only what sandbox_write names.";

impl Agent {
    /// What may keep it from getting on, where the system keeps it to some directories.
    pub fn confinement(&self) -> Option<&'static str> {
        self.confined.as_ref().map(|confined| if confined.reads.is_some() { CONFINED_READING } else { CONFINED })
    }

    /// Title, else name, else command.
    pub fn label(&self) -> &str {
        [&self.title, &self.name].into_iter().flatten().find(|s| !s.is_empty()).map_or(&self.command, |s| s)
    }

    /// What messages to it and from it go over.
    pub fn transport(&self) -> Transport {
        self.reached.map_or(Transport::Stdio, |reached| reached.transport)
    }

    /// The ways to log in that it has. One behind an address has no command of this machine (S-061).
    pub(super) fn offer(&mut self, methods: Vec<AuthMethod>) {
        self.auth_methods = methods;
        if self.reached.is_some() {
            self.auth_methods.retain(|method| matches!(method.kind, AuthKind::Agent | AuthKind::Typed { .. }));
        }
    }

    /// Whether it can do this with sessions that it has kept. Nothing is asked of one that cannot.
    pub fn can(&self, what: Can) -> bool {
        self.caps.sessions.has(what)
    }

    /// What it has listed of its sessions, since it was last asked.
    pub fn listing(&self) -> Option<&Listing> {
        self.listing.as_ref()
    }

    /// What it has told, once a page of it has come.
    pub fn told(&self) -> Option<Told> {
        let listing =
            self.listing.as_ref().filter(|listing| listing.has_begun() || listing.state != ListState::Going)?;
        Some(Told {
            command: self.command.clone(),
            agent: self.label().to_owned(),
            can: self.caps.sessions,
            cwd: listing.cwd.clone(),
            is_whole: listing.state == ListState::Whole,
            sessions: listing.sessions.clone(),
        })
    }

    pub fn is_up(&self) -> bool {
        self.connection == Connection::Up
    }

    pub fn is_dead(&self) -> bool {
        matches!(self.connection, Connection::Dead(_))
    }

    /// What a program has printed instead of answering `initialize`, and what to try with it. Empty once it answered.
    pub fn stray_start(&self) -> Vec<String> {
        let (Connection::Starting { .. }, Some(stray)) = (&self.connection, &self.early_stray) else {
            return Vec::new();
        };
        vec![stray.clone(), self.interface_hint()]
    }

    /// What to try with a program that speaks to people instead of the protocol.
    pub fn interface_hint(&self) -> String {
        self.suggestion.as_ref().map_or_else(
            || "Start it with the option that makes it speak the Agent Client Protocol.".to_owned(),
            |command| format!("Did you mean `{command}`?"),
        )
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OddCounts {
    pub stray: u64,
    pub malformed: u64,
    pub unknown: u64,
    pub too_long: u64,
    pub late: u64,
}

impl OddCounts {
    pub const fn total(self) -> u64 {
        self.stray + self.malformed + self.unknown + self.too_long + self.late
    }

    pub(super) const fn add(&mut self, more: Self) {
        self.stray += more.stray;
        self.malformed += more.malformed;
        self.unknown += more.unknown;
        self.too_long += more.too_long;
        self.late += more.late;
    }

    /// One more of this sort.
    pub(super) const fn count(&mut self, what: Odd) {
        let count = match what {
            Odd::Stray => &mut self.stray,
            Odd::Malformed => &mut self.malformed,
            Odd::Unknown => &mut self.unknown,
            Odd::TooLong => &mut self.too_long,
            Odd::LateResponse => &mut self.late,
        };
        *count += 1;
    }
}
