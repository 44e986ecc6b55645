//! The state of the agents, their sessions and the transcripts. Pure data and one reducer; no IO, no clock, no
//! channels. The same events give the same model.
//!
//! Invariant: each session's agent is in the model; keys are never used twice.

pub mod account;
pub mod agent;
pub mod attached;
pub mod audit;
pub mod auth_status;
pub mod budget;
pub mod changes;
pub mod child;
pub mod claims;
pub mod compaction;
pub mod confined;
pub mod draft;
pub mod effect;
pub mod effort;
pub mod entries;
pub mod entry;
pub mod event;
#[cfg(test)]
pub mod fixture;
pub mod form;
pub mod frames;
pub mod history;
pub mod ids;
pub mod judge;
pub mod login;
pub mod options;
pub mod past;
pub mod patch;
pub mod permission_mode;
pub mod policy;
pub mod question;
pub mod queue;
pub mod reduce;
pub mod refusal;
pub mod retold;
pub mod ruling;
pub mod servers;
pub mod session;
pub mod session_ref;
pub mod setup;
pub mod spent;
pub mod terminal;
pub mod tool;
pub mod write;

use agent::Agent;
use budget::{Budget, Left};
use changes::Gate;
use entries::Slot;
use event::Event;
use history::Away;
use ids::{Address, Addressed, AgentKey, EntryId, Now, SessionId, SessionKey, TermId, TurnId};
use login::LogIn;
use session::{Closed, Policy, Session, SessionState};
use setup::{Setup, Unrecorded};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use terminal::TerminalOrigin;

/// Everything that is known. Changed by [`reduce::reduce`] only.
#[derive(Debug)]
pub struct Model {
    agents: BTreeMap<AgentKey, Agent>,
    sessions: BTreeMap<SessionKey, Session>,
    /// What further sessions begin with.
    policy: Policy,
    gate: Gate,
    /// There are rules to be asked about what agents want.
    has_rules: bool,
    /// What is decided is told, to be logged.
    is_audited: bool,
    /// There is a review of every session.
    has_review: bool,
    has_journal: bool,
    /// What happens is not on the disk.
    unrecorded: Option<Unrecorded>,
    /// Old entries leave memory.
    has_history: bool,
    /// Nothing of what is said gives way.
    is_whole: bool,
    /// What earlier journals have of a session is read before its agent is asked for it.
    has_earlier: bool,
    /// Parts of the protocol are used that may still change.
    has_unstable: bool,
    budget: Option<Box<Budget>>,
    /// Those that sessions of the first one's directory may use, too.
    directories: Vec<String>,
    /// The last turn of any session.
    last_turn: TurnId,
    /// When the program was started, counted from 1970, where that is known.
    began: Option<Duration>,
}

impl Default for Model {
    fn default() -> Self {
        Self::new(String::new(), String::new(), Policy::default())
    }
}

impl Model {
    /// One agent with one session, neither of them started. `command` is the agent's command line for display, `cwd`
    /// the session's absolute directory.
    pub fn new(command: String, cwd: String, policy: Policy) -> Self {
        let mut model = Self {
            agents: BTreeMap::new(),
            sessions: BTreeMap::new(),
            policy,
            gate: Gate::default(),
            has_rules: false,
            is_audited: false,
            has_review: false,
            has_journal: false,
            unrecorded: None,
            has_history: false,
            is_whole: false,
            has_earlier: false,
            has_unstable: false,
            budget: None,
            directories: Vec::new(),
            last_turn: TurnId::default(),
            began: None,
        };
        let agent = model.add_agent(command);
        model.add_session(agent, cwd);
        model
    }

    /// The key of the agent that is added next.
    pub fn next_agent(&self) -> AgentKey {
        self.agents.last_key_value().map_or(AgentKey::FIRST, |(last, _)| AgentKey(last.0 + 1))
    }

    /// A further agent, which is not started.
    fn add_agent(&mut self, command: String) -> AgentKey {
        let key = self.next_agent();
        self.agents.insert(key, Agent { command, ..Agent::default() });
        key
    }

    /// Names a command to try when the agent's does not speak the protocol.
    pub fn with_suggestion(mut self, suggestion: Option<String>) -> Self {
        for agent in self.agents.values_mut() {
            agent.suggestion.clone_from(&suggestion);
        }
        self
    }

    /// There is a review: prompts wait for the snapshot.
    pub fn with_review(mut self, is_on: bool) -> Self {
        self.has_review = is_on;
        for session in self.sessions.values_mut() {
            session.changes.is_on = is_on;
        }
        self
    }

    pub fn with_gate(mut self, gate: Gate) -> Self {
        self.gate = gate;
        for session in self.sessions.values_mut() {
            session.gate = gate;
        }
        self
    }

    /// Rules are asked before anything is decided.
    pub fn with_rules(mut self, has_rules: bool) -> Self {
        self.has_rules = has_rules;
        for session in self.sessions.values_mut() {
            session.rules.are_there = has_rules;
        }
        self
    }

    /// What is decided is told, to be logged.
    pub fn with_audit(mut self, is_audited: bool) -> Self {
        self.is_audited = is_audited;
        self
    }

    /// A front end reads what earlier journals have of a session.
    pub fn with_stored_history(mut self, is_read: bool) -> Self {
        self.has_earlier = is_read;
        self
    }

    /// Parts of the protocol are used that may still change.
    pub fn with_unstable(mut self, is_on: bool) -> Self {
        self.has_unstable = is_on;
        self
    }

    /// How what agents ask for is decided.
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        for session in self.sessions.values_mut() {
            session.policy = policy;
        }
        self
    }

    /// Names the variables that the configuration gives the agent.
    pub fn with_env(mut self, names: Vec<String>) -> Self {
        for agent in self.agents.values_mut() {
            agent.env.clone_from(&names);
        }
        self
    }

    /// Holds all that is said, however much: for what is written out at once.
    #[must_use]
    pub fn whole(mut self) -> Self {
        self.is_whole = true;
        self.sessions.values_mut().for_each(|session| session.entries.is_whole = true);
        self
    }

    /// A further session, which is not opened. Agents and sessions are never taken out, so keys stay unique.
    fn add_session(&mut self, agent: AgentKey, cwd: String) -> SessionKey {
        let key = self.sessions.last_key_value().map_or(SessionKey::FIRST, |(last, _)| SessionKey(last.0 + 1));
        let (policy, gate) = (self.policy, self.gate);
        let mut session = Session { agent, cwd, policy, gate, ..Session::default() };
        session.rules.are_there = self.has_rules;
        if let Some(Left::Nothing(why)) = self.budget.as_deref().map(Budget::of_day) {
            session.used_up = Some(why);
        }
        session.entries.has_journal = self.has_journal;
        session.entries.leaving.is_on = self.has_history;
        session.entries.is_whole = self.is_whole;
        session.changes.is_on = self.has_review;
        self.sessions.insert(key, session);
        key
    }

    /// A journal is written, or is not written any more.
    fn set_journal(&mut self, has_journal: bool) {
        self.has_journal = has_journal;
        for session in self.sessions.values_mut() {
            session.entries.has_journal = has_journal;
        }
    }

    fn set_up(&mut self, setup: Setup) {
        match setup {
            Setup::Journal => self.set_journal(true),
            Setup::History => {
                self.has_history = true;
                for session in self.sessions.values_mut() {
                    session.entries.leaving.is_on = true;
                }
            }
            Setup::Sessions { review, gate, rules } => {
                *self = std::mem::take(self).with_review(review).with_gate(gate).with_rules(rules);
            }
            Setup::Began(began) => self.began = Some(began),
            Setup::Turn(last) => self.last_turn = last,
            Setup::Unstable(is_on) => self.has_unstable = is_on,
            Setup::Asking { earlier, policy } => {
                *self = std::mem::take(self).with_stored_history(earlier).with_policy(policy);
            }
        }
    }

    /// The date of a moment, counted from 1970, where that is known.
    pub fn date(&self, at: Now) -> Option<Duration> {
        self.began.map(|began| began.saturating_add(at))
    }

    /// One session, without the rest.
    pub fn into_session(mut self, key: SessionKey) -> Option<Session> {
        self.sessions.remove(&key)
    }

    /// The entry outside of memory that this event would change.
    pub fn away(&self, event: &Addressed<Event>) -> Option<(SessionKey, EntryId, Away)> {
        let (Address::Agent(agent), Event::Agent(event)) = (event.at, &event.what) else { return None };
        let (named, message) = (event.session()?, event.message());
        let own = self.session_named(agent, named);
        let key = own.or_else(|| self.parent_of(agent, named))?;
        let session = self.sessions.get(&key)?;
        let call = || match (event.tool(), own) {
            (call, Some(_)) => call.cloned(),
            (Some(call), None) => Some(child::call_of(&child::row_of(named), call)),
            // What one says that the session has begun is in its row.
            (None, None) => Some(child::row_of(named)),
        };
        let child = event.others().find(|id| session.children.contains_key(*id)).map(child::row_of);
        let tool = child.or_else(call);
        if tool.is_none() && message.is_none() {
            return None;
        }
        let of_tool = tool.and_then(|id| session.newest_tool.get(&id));
        let of_message = || session.messages.get(&message.map(|(kind, id)| (kind, Arc::clone(id)))?);
        let entry = *of_tool.or_else(of_message)?;
        match session.entries.slot(session.entries.index_of(entry)?)? {
            Slot::Away(away) => Some((key, entry, *away)),
            Slot::Here(_) => None,
        }
    }

    pub fn agent_of(&self, key: AgentKey) -> Option<&Agent> {
        self.agents.get(&key)
    }

    pub fn session_of(&self, key: SessionKey) -> Option<&Session> {
        self.sessions.get(&key)
    }

    pub fn agents(&self) -> impl Iterator<Item = (AgentKey, &Agent)> {
        self.agents.iter().map(|(key, agent)| (*key, agent))
    }

    pub fn sessions(&self) -> impl Iterator<Item = (SessionKey, &Session)> {
        self.sessions.iter().map(|(key, session)| (*key, session))
    }

    /// The sessions of an agent that the person has not closed.
    pub fn sessions_of(&self, agent: AgentKey) -> impl Iterator<Item = (SessionKey, &Session)> {
        let is_here = |s: &Session| s.state != SessionState::Closed(Closed::ByPerson);
        self.sessions().filter(move |(_, s)| s.agent == agent && is_here(s))
    }

    /// The session that the agent calls like this.
    pub fn session_named(&self, agent: AgentKey, id: &SessionId) -> Option<SessionKey> {
        self.sessions_of(agent).find(|(_, s)| s.id.as_ref() == Some(id)).map(|(key, _)| key)
    }

    /// The session to which one belongs that the agent has begun itself.
    pub fn parent_of(&self, agent: AgentKey, id: &SessionId) -> Option<SessionKey> {
        let is_of_it = |s: &Session| s.children.get(id).is_some_and(|child| !child.is_past);
        self.sessions_of(agent).find(|(_, s)| is_of_it(s)).map(|(key, _)| key)
    }

    /// The session in which this terminal of ours was started.
    pub fn session_of_terminal(&self, id: &TermId) -> Option<SessionKey> {
        let has = |s: &Session| s.command(id).is_some_and(|t| t.origin == TerminalOrigin::Ours);
        self.sessions().find(|(_, s)| has(s)).map(|(key, _)| key)
    }

    /// Whether what this agent prints now is shown: the person logs in, and not too much has come yet.
    pub fn hears_log_in(&self, agent: AgentKey) -> bool {
        self.agents.get(&agent).and_then(|agent| agent.log_in.as_ref()).is_some_and(LogIn::is_called)
            && self.sessions_of(agent).any(|(_, session)| session.has_room_for_log_in())
    }

    /// The agent for which the person logs in in this terminal.
    pub fn agent_of_log_in(&self, id: &TermId) -> Option<AgentKey> {
        let is_its = |agent: &Agent| agent.log_in.as_ref().and_then(LogIn::terminal).is_some_and(|(its, _)| its == id);
        self.agents().find(|(_, agent)| is_its(agent)).map(|(key, _)| key)
    }

    /// The directories besides its own that a session may use.
    pub fn directories(&self, at: SessionKey) -> &[String] {
        let cwd = |at| self.sessions.get(&at).map(|session: &Session| &session.cwd);
        if cwd(at) == cwd(SessionKey::FIRST) { &self.directories } else { &[] }
    }

    /// Whether other sessions work in the directory of this one, or in one that holds it or is in it: they may have one
    /// review, and one count of what is open.
    pub fn is_shared(&self, at: SessionKey) -> bool {
        let Some(cwd) = self.sessions.get(&at).map(|session| Path::new(&session.cwd)) else { return false };
        let is_around = |other: &Session| cwd.starts_with(&other.cwd) || Path::new(&other.cwd).starts_with(cwd);
        self.sessions.iter().any(|(key, other)| *key != at && !other.is_aside() && is_around(other))
    }

    /// What may be spent, where that is limited.
    pub fn budget(&self) -> Option<&Budget> {
        self.budget.as_deref()
    }

    /// The last turn of any session.
    pub fn last_turn(&self) -> TurnId {
        self.last_turn
    }

    pub fn policy(&self) -> Policy {
        self.policy
    }
}
