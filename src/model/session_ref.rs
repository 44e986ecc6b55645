//! A session and its agent, as who shows one session reads them.
//!
//! Read only. Knows no other session. Invariant: the agent is the session's own.

use super::Model;
use super::agent::Agent;
use super::ids::{AgentKey, Now, SessionKey};
use super::login::LogIn;
use super::question::Waiting;
use super::session::{Phase, Session};
use super::setup::Unrecorded;
use std::ops::Deref;
use std::sync::LazyLock;

/// One session of a model together with its agent. Reads like the session itself.
#[derive(Clone, Copy, Debug)]
pub struct SessionRef<'a> {
    key: SessionKey,
    agent: &'a Agent,
    session: &'a Session,
    /// When the program was started, counted from 1970, where that is known.
    began: Option<Now>,
    unrecorded: Option<Unrecorded>,
}

impl Deref for SessionRef<'_> {
    type Target = Session;

    fn deref(&self) -> &Session {
        self.session
    }
}

impl<'a> SessionRef<'a> {
    pub fn key(self) -> SessionKey {
        self.key
    }

    pub fn agent_key(self) -> AgentKey {
        self.session.agent
    }

    pub fn agent(self) -> &'a Agent {
        self.agent
    }

    /// For as long as the model is borrowed.
    pub fn session(self) -> &'a Session {
        self.session
    }

    /// The date of a moment, counted from 1970, where that is known.
    pub fn date(self, at: Now) -> Option<Now> {
        self.began.map(|began| began.saturating_add(at))
    }

    /// Why what happens in it is not on the disk, where that is so.
    pub fn unrecorded(self) -> Option<Unrecorded> {
        self.unrecorded
    }

    pub fn phase(self) -> Phase<'a> {
        Phase::of(self.agent, self.session)
    }

    /// What its agent wants of the person before this session goes on, or without holding it up.
    pub fn log_in(self) -> Option<&'a LogIn> {
        self.agent.log_in.as_ref().filter(|log_in| self.session.wants_log_in || log_in.is_of_agent)
    }

    /// It is looked at without an agent.
    pub fn is_only_reviewed(self) -> bool {
        self.phase() == Phase::NotStarted && self.session.review().is_some()
    }

    /// Its turn waits for the person, with or without a question.
    pub fn waits_for_person(self) -> bool {
        self.session.turn.is_some() && self.session.told_to_wait == Some(true)
    }

    /// Whether the agent works is not known: it has taken up an earlier session and not said (V2-025).
    pub fn is_of_unknown_state(self) -> bool {
        let is_idle = self.phase() == Phase::Ready && self.session.turn.is_none();
        is_idle && self.agent.caps.tells_state && self.session.told_to_wait.is_none()
    }

    /// What waits for the person, in the order in which it is shown.
    pub fn waiting(self) -> impl Iterator<Item = Waiting<'a>> {
        let log_in = self.log_in().filter(|log_in| log_in.attempt.is_none() && !self.agent.is_dead());
        let log_in = log_in.map(Waiting::LogIn);
        self.session.questions().iter().map(Waiting::Question).chain(log_in)
    }

    /// Whether anything moves by itself, so that a clock on the screen must run.
    pub fn is_waiting(self) -> bool {
        let starts = matches!(
            self.phase(),
            Phase::Starting { .. } | Phase::Opening { .. } | Phase::PutOff { .. } | Phase::Authenticating { .. }
        );
        starts || self.log_in().is_some_and(|log_in| log_in.attempt.is_some()) || self.session.is_waiting()
    }
}

/// Stands for what is not there; a model begins with an agent and a session and never loses one.
static NOBODY: LazyLock<(Agent, Session)> = LazyLock::new(<(Agent, Session)>::default);

impl Model {
    /// The session that the model began with: the only one of a front end that opens no further one.
    pub fn first(&self) -> SessionRef<'_> {
        let key = SessionKey::FIRST;
        self.at(key).unwrap_or_else(|| SessionRef {
            key,
            agent: &NOBODY.0,
            session: &NOBODY.1,
            began: None,
            unrecorded: None,
        })
    }

    /// The session with its agent; nothing for a key that was never given.
    pub fn at(&self, key: SessionKey) -> Option<SessionRef<'_>> {
        let session = self.sessions.get(&key)?;
        let agent = self.agents.get(&session.agent)?;
        Some(SessionRef { key, agent, session, began: self.date(Now::ZERO), unrecorded: self.unrecorded })
    }
}
