//! What can be configured, as data. Every field has a value also when no file says anything.
//!
//! Reads nothing and checks nothing (see `load`); whether a theme or an agent of that name exists is decided where
//! it is used.

use super::installed::Installed;
use crate::base::inherited::Inherited;
use std::collections::BTreeMap;

/// The keys of the configuration file, for warnings and for the documentation.
pub const KEYS: [&str; 19] = [
    "default_agent",
    "theme",
    "screen",
    "on_exit",
    "ambiguous_width",
    "gate",
    "decision_hook",
    "env_only",
    "env_without",
    "protocol",
    "dialect",
    "unstable",
    "keep_form_answers",
    "budget",
    "notify",
    "status_command",
    "sessions",
    "agents",
    "mcp",
];
/// How the person can be told of something while they look elsewhere.
pub const NOTIFY: [&str; 6] = ["auto", "off", "bell", "osc9", "osc99", "osc777"];
/// Where the conversation stands, and what is left of it in the terminal after the full screen.
pub const SCREENS: [&str; 2] = ["full", "inline"];
pub const ON_EXIT: [&str; 2] = ["nothing", "print"];
/// How many columns ambiguous characters have.
pub const AMBIGUOUS: [&str; 3] = ["auto", "1", "2"];
/// How writes and commands of the agent can be let through.
pub const GATES: [&str; 3] = ["off", "ask", "hold"];
/// Which versions of the protocol agents can be spoken to in.
pub const PROTOCOLS: [&str; 3] = ["auto", "1", "2"];
/// In which renditions of version 1 agents can be spoken to.
pub const DIALECTS: [&str; 5] = ["auto", "canonical", "d0", "d3", "d4"];
/// How messages of an agent can be told apart.
pub const FRAMINGS: [&str; 3] = ["ndjson", "content-length", "auto"];
/// Over what an agent behind an address can be reached.
pub const TRANSPORTS: [&str; 4] = ["unix", "websocket", "http", "sse"];
/// The keys about sessions, and the limits of what is kept of them.
pub const SESSIONS_KEYS: [&str; 1] = ["keep"];
pub const KEEP_KEYS: [&str; 3] = ["count", "days", "mib"];
/// The keys of one agent.
pub const AGENT_KEYS: [&str; 19] = [
    "command",
    "args",
    "env",
    "env_only",
    "env_without",
    "protocol",
    "dialect",
    "framing",
    "url",
    "transport",
    "headers",
    "files",
    "terminals",
    "sandbox",
    "sandbox_write",
    "sandbox_read",
    "sandbox_connect",
    "sandbox_listen",
    "mcp",
];

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Config {
    /// The agent that is started when none is named.
    pub default_agent: Option<String>,
    /// Name of a theme.
    pub theme: Option<String>,
    /// In the terminal's own scrollback.
    pub is_inline: bool,
    /// After the full screen.
    pub prints_on_exit: bool,
    /// Whether ambiguous characters have two columns, where it is said.
    pub ambiguous_is_wide: Option<bool>,
    /// One of [`GATES`].
    pub gate: Option<String>,
    /// A program and its arguments, asked about what agents want.
    pub decision_hook: Option<Vec<String>>,
    /// Which variables of the environment agents and their commands get.
    pub inherited: Inherited,
    /// Parts of the protocol that may still change are used, too.
    pub unstable: bool,
    /// What is filled into forms stands in journal and transcript.
    pub keeps_form_answers: bool,
    /// For agents that say nothing else.
    pub spoken: Spoken,
    /// See [`super::budget`].
    pub budget: Option<String>,
    /// How the person is told of something while they look elsewhere.
    pub notify: Option<Notify>,
    /// A program and its arguments, whose first line stands on the status line.
    pub status_command: Option<Vec<String>>,
    pub keep: Keep,
    /// The person's own agents by name.
    pub agents: BTreeMap<String, AgentConfig>,
    /// Those that were added from a registry, which stand in a file of their own.
    pub installed: Vec<Installed>,
    /// Servers of tools by name, each as in `.mcp.json`.
    pub mcp: BTreeMap<String, serde_json::Value>,
    /// The only ones of them that these agents are given.
    pub only_mcp: BTreeMap<String, Vec<String>>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Notify {
    /// One of [`NOTIFY`].
    By(String),
    /// A program and its arguments, which a title and a text follow.
    Program(Vec<String>),
}

/// How many conversations are kept; without a number there is no limit of the sort.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Keep {
    pub count: Option<u64>,
    /// Since they were used last.
    pub days: Option<u64>,
    /// Of all together.
    pub mib: Option<u64>,
}

/// How an agent is started.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AgentConfig {
    pub command: String,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub inherited: Inherited,
    pub spoken: Spoken,
    pub reach: ReachConfig,
    pub sandbox: SandboxConfig,
}

/// Whether an agent is confined, and what it may do besides writing in the session's directory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SandboxConfig {
    pub is_on: bool,
    /// Absolute, or below the home directory by `~/`.
    pub writable: Vec<String>,
    /// The same; everything without it.
    pub readable: Option<Vec<String>>,
    /// Ports of TCP; all without it.
    pub connects: Option<Vec<u16>>,
    pub listens: Option<Vec<u16>>,
}

/// How an agent is spoken to, as far as it is said.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Spoken {
    /// One of [`PROTOCOLS`].
    pub protocol: Option<String>,
    /// One of [`DIALECTS`].
    pub dialect: Option<String>,
}

impl Spoken {
    /// What is not said here is as it is said there.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        Self {
            protocol: self.protocol.clone().or_else(|| other.protocol.clone()),
            dialect: self.dialect.clone().or_else(|| other.dialect.clone()),
        }
    }
}

/// How messages get to an agent and back.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReachConfig {
    /// One of [`FRAMINGS`].
    pub framing: Option<String>,
    /// The address of an agent that is not started; its command is that, too.
    pub url: Option<String>,
    /// One of [`TRANSPORTS`].
    pub transport: Option<String>,
    pub headers: BTreeMap<String, String>,
    /// What of this machine is for an agent behind an address.
    pub files: bool,
    pub terminals: bool,
}
