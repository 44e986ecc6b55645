//! What can be configured, as data. Every field has a value also when no file says anything.
//!
//! Reads nothing and checks nothing (see `load`); whether a theme or an agent of that name exists is decided where
//! it is used.

use std::collections::BTreeMap;

/// The keys of the configuration file, for warnings and for the documentation.
pub const KEYS: [&str; 4] = ["default_agent", "theme", "gate", "agents"];
/// How writes and commands of the agent can be let through.
pub const GATES: [&str; 3] = ["off", "ask", "hold"];
/// The keys of one agent.
pub const AGENT_KEYS: [&str; 3] = ["command", "args", "env"];

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Config {
    /// The agent that is started when none is named.
    pub default_agent: Option<String>,
    /// Name of a theme.
    pub theme: Option<String>,
    /// One of [`GATES`].
    pub gate: Option<String>,
    /// The person's own agents by name.
    pub agents: BTreeMap<String, AgentConfig>,
}

/// How an agent is started.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AgentConfig {
    pub command: String,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
}
