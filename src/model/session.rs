//! The state of one agent and its session.
//!
//! Everything here is read by the front ends and written by `reduce` only. Invariant: at most one turn runs, and
//! prompts that wait are visible.

use super::changes::Truth;
use super::event::{AgentCaps, AuthMethod, CallError, Link, PermissionOption, TerminalSpec};
use super::ids::{EntryId, Now, ReqId, SessionId, TermId, TurnId};
use super::options::{Command, ConfigOption, LegacyModel, Modes, OptionValue, Usage};
use super::tool::Exit;
use crate::base::tail::TailBuffer;
use crate::text::grid::ScreenSnapshot;
use std::collections::VecDeque;
use std::sync::Arc;

/// Where the connection stands.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Phase {
    #[default]
    NotStarted,
    /// Spawned; `initialize` is on its way.
    Starting {
        since: Now,
    },
    /// `session/new` is on its way.
    Opening {
        since: Now,
    },
    Ready,
    /// The person has to log in.
    AuthNeeded {
        error: CallError,
    },
    Authenticating {
        method: String,
        since: Now,
        error: CallError,
    },
    /// No session came about, or the agent is gone.
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
}

/// What is known of the agent behind the connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentState {
    /// The command line as configured.
    pub command: String,
    /// Names of the variables that the configuration gives it besides.
    pub env: Vec<String>,
    pub name: Option<String>,
    pub title: Option<String>,
    pub version: Option<String>,
    pub caps: AgentCaps,
    pub auth_methods: Vec<AuthMethod>,
    pub spawned_at: Now,
    /// Lines and messages that could not be used.
    pub odd: OddCounts,
    /// A line on stdout that looked like a text interface or an echo of ours, before `initialize` was answered.
    pub early_stray: Option<String>,
    /// The process is running as far as we know.
    pub alive: bool,
}

impl AgentState {
    /// Title, else name, else command.
    pub fn label(&self) -> &str {
        [&self.title, &self.name].into_iter().flatten().find(|s| !s.is_empty()).map_or(&self.command, |s| s)
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
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Session {
    pub id: Option<SessionId>,
    pub cwd: String,
    pub title: Option<String>,
    pub modes: Option<Modes>,
    pub options: Vec<ConfigOption>,
    pub legacy_model: Option<LegacyModel>,
    pub commands: Vec<Command>,
    pub usage: Option<Usage>,
    pub turn: Option<Turn>,
    /// Prompts that wait, oldest first.
    pub held: VecDeque<HeldPrompt>,
    /// Permission requests that wait, in the order they came.
    pub pending: Vec<PendingPermission>,
    /// Changes of modes and options that the agent has not answered, in the order they were sent.
    pub(super) wishes: Vec<Wish>,
}

/// A mode or value that the agent was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wish {
    pub what: Wished,
    pub value: OptionValue,
    /// The agent has said that it is so; then its answer changes nothing any more.
    pub said: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wished {
    Mode,
    /// The option of this id.
    Option(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    pub id: TurnId,
    pub started: Now,
    /// When the agent was last heard.
    pub heard: Now,
    pub cancelling: Option<Now>,
    /// Links of a prompt that waits for the snapshot of the files; nothing once it is on its way.
    pub unsent: Option<Vec<Link>>,
    /// Something of the agent became visible.
    pub spoke: bool,
    pub prompt: String,
    /// What came as `user_message_chunk` and has matched the prompt so far.
    pub echo: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldPrompt {
    pub text: String,
    pub links: Vec<Link>,
}

/// A question that waits for the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingPermission {
    pub req: ReqId,
    /// The tool call it is about, or the entry that tells of the write or command.
    pub entry: EntryId,
    pub about: About,
    pub options: Vec<PermissionOption>,
    pub at: Now,
    /// A request for a session that we do not know, or outside a turn, says so.
    pub note: Option<String>,
    /// What its diffs would really do, in their order; empty until that is known.
    pub truths: Vec<Truth>,
    /// How often its diffs have changed.
    pub(super) asked: u64,
}

/// What a question is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// The agent asked, with options of its own.
    Tool,
    /// A write through the client (gate `ask`).
    Write { path: String, content: Arc<str> },
    /// A write that waits for the review (gate `hold`).
    Held { path: String, content: Arc<str> },
    /// A command in a terminal of the client.
    Run(TerminalSpec),
}

#[derive(Clone, Debug)]
pub struct Terminal {
    pub id: TermId,
    pub origin: TerminalOrigin,
    pub command: String,
    pub cwd: String,
    pub turn: TurnId,
    pub started: Now,
    /// When its screen last changed; terminals of ours only.
    pub moved: Now,
    pub ended: Option<Now>,
    pub exit: Option<Exit>,
    /// What the emulator shows; terminals of ours only.
    pub screen: Option<Arc<ScreenSnapshot>>,
    /// Text with colours: what the agent fed through `_meta`, or the kept end after a replay.
    pub text: TailBuffer,
    pub released: bool,
    /// Requests that wait for the exit.
    pub waiters: Vec<ReqId>,
    /// The entry of its own.
    pub entry: Option<EntryId>,
    /// Tool calls that show it.
    pub embedded: Vec<EntryId>,
}

/// Bytes of a terminal's text that are kept for the screen.
const TERMINAL_TEXT: usize = 1 << 20;

impl Terminal {
    pub fn new(id: TermId, origin: TerminalOrigin, turn: TurnId, started: Now) -> Self {
        Self {
            id,
            origin,
            command: String::new(),
            cwd: String::new(),
            turn,
            started,
            moved: started,
            ended: None,
            exit: None,
            screen: None,
            text: TailBuffer::new(TERMINAL_TEXT),
            released: false,
            waiters: Vec::new(),
            entry: None,
            embedded: Vec::new(),
        }
    }

    /// A command of ours that has not ended. What the agent runs itself is not ours to know.
    pub fn is_running(&self) -> bool {
        self.origin == TerminalOrigin::Ours && self.exit.is_none() && self.ended.is_none()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalOrigin {
    Ours,
    /// Fed from `_meta`.
    Meta,
    /// Named in a tool call and never fed.
    Unknown,
}

/// How permission requests and the client's own services are decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Policy {
    /// A person is asked; files and commands inside the roots are served.
    #[default]
    Ask,
    /// `exec --allow …`.
    Auto(Allow),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allow {
    All,
    Reads,
    None,
}

impl Allow {
    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Reads => "reads",
            Self::None => "none",
        }
    }
}
