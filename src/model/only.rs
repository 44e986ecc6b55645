//! The model as front ends see it that show one session: the first one and its agent.
//!
//! To be removed when the front ends name the session that they show.

use super::Model;
use super::agent::Agent;
use super::changes::{Changes, Gate, ReviewDoc, Rewound};
use super::entries::Entries;
use super::ids::{AgentKey, EntryId, SessionId, SessionKey, TermId, TurnId};
use super::session::{Phase, Session, Terminal};
use super::tool::ToolCall;
use std::sync::{Arc, LazyLock};

/// Stands for what is not there; a model always has a first agent and a first session.
static NOBODY: LazyLock<(Agent, Session)> = LazyLock::new(<(Agent, Session)>::default);

impl Model {
    pub fn agent(&self) -> &Agent {
        self.agents.get(&AgentKey::FIRST).unwrap_or(&NOBODY.0)
    }

    pub fn session(&self) -> &Session {
        self.sessions.get(&SessionKey::FIRST).unwrap_or(&NOBODY.1)
    }

    /// Names a command to try when this one does not speak the protocol.
    pub fn with_suggestion(mut self, suggestion: Option<String>) -> Self {
        if let Some(agent) = self.agents.get_mut(&AgentKey::FIRST) {
            agent.suggestion = suggestion;
        }
        self
    }

    /// Somebody looks at the files: prompts wait for the snapshot.
    pub fn with_review(mut self, is_on: bool) -> Self {
        if let Some(session) = self.sessions.get_mut(&SessionKey::FIRST) {
            session.changes.is_on = is_on;
        }
        self
    }

    pub fn with_gate(mut self, gate: Gate) -> Self {
        self.gate = gate;
        if let Some(session) = self.sessions.get_mut(&SessionKey::FIRST) {
            session.gate = gate;
        }
        self
    }

    pub fn phase(&self) -> Phase<'_> {
        Phase::of(self.agent(), self.session())
    }

    /// Whether anything moves by itself, so that a clock on the screen must run.
    pub fn is_waiting(&self) -> bool {
        let starts =
            matches!(self.phase(), Phase::Starting { .. } | Phase::Opening { .. } | Phase::Authenticating { .. });
        starts || self.session().is_waiting()
    }

    pub fn session_id(&self) -> Option<&SessionId> {
        self.session().id.as_ref()
    }

    pub fn entries(&self) -> &Entries {
        self.session().entries()
    }

    pub fn terminal(&self, id: &TermId) -> Option<&Terminal> {
        self.session().terminal(id)
    }

    pub fn terminals(&self) -> impl Iterator<Item = &Terminal> {
        self.session().terminals()
    }

    pub fn gate(&self) -> Gate {
        self.session().gate()
    }

    pub fn changes(&self) -> &Changes {
        self.session().changes()
    }

    pub fn last_turn(&self) -> TurnId {
        self.session().last_turn()
    }

    pub fn review(&self) -> Option<&Arc<ReviewDoc>> {
        self.session().review()
    }

    pub fn rewind_preview(&self) -> Option<&(u64, Vec<Rewound>)> {
        self.session().rewind_preview()
    }

    pub fn tool(&self, entry: EntryId) -> Option<&ToolCall> {
        self.session().tool(entry)
    }

    pub fn running_terminal(&self) -> Option<&Terminal> {
        self.session().running_terminal()
    }

    pub fn running_tool(&self) -> Option<&ToolCall> {
        self.session().running_tool()
    }

    pub fn last_answer(&self) -> Option<&str> {
        self.session().last_answer()
    }
}
