//! The servers of tools that an agent is given with a session: looked for when the session is opened, by a thread.
//!
//! Knows no file and no variable; the caller of the engine says how they are found. Invariant: a call that opens a
//! session waits for its servers and goes to the process that it was made for, or to none.

use super::core::Line;
use super::fact::{Fact, Facts};
use crate::mcp::Found;
use crate::model::ids::{AgentKey, SessionKey};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Finds the servers for a session in this directory, of the agent that is configured under this name.
pub type Find = Arc<dyn Fn(&Path, Option<&str>) -> Found + Send + Sync>;

/// How they are found, and under which name the first agent is configured.
#[derive(Clone)]
pub struct ServersConfig {
    pub find: Find,
    pub agent: String,
}

impl fmt::Debug for ServersConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServersConfig").field("agent", &self.agent).finish_non_exhaustive()
    }
}

pub(super) struct Servers {
    find: Option<Find>,
    /// Calls that wait, each with its number.
    held: BTreeMap<SessionKey, (u64, Line)>,
    last: u64,
    facts: Facts,
}

impl Servers {
    pub fn new(find: Option<Find>, facts: &Facts) -> Self {
        Self { find, held: BTreeMap::new(), last: 0, facts: facts.clone() }
    }

    /// Has the servers looked for that a call is to be made with, and holds it until they are found. Gives back the one
    /// that has not to wait.
    pub fn hold(&mut self, line: Line, place: impl FnOnce(SessionKey) -> (PathBuf, Option<String>)) -> Option<Line> {
        let (Some(find), Some(at)) = (self.find.clone(), line.opens.as_ref().map(|opens| opens.at)) else {
            return Some(line);
        };
        let (cwd, agent) = place(at);
        self.last += 1;
        let (number, facts) = (self.last, self.facts.clone());
        self.held.insert(at, (number, line));
        tokio::task::spawn_blocking(move || {
            facts.send(Fact::Servers(at, number, find(&cwd, agent.as_deref())));
        });
        None
    }

    /// The call for which these were looked for, if it still waits.
    pub fn found(&mut self, at: SessionKey, number: u64) -> Option<Line> {
        self.held.get(&at).filter(|(held, _)| *held == number)?;
        self.held.remove(&at).map(|(_, line)| line)
    }

    /// The process that they were for is no more.
    pub fn forget(&mut self, agent: AgentKey) {
        self.held.retain(|_, (_, line)| line.agent != agent);
    }
}
