//! What every reducer is given beside the one agent or session that it may change.
//!
//! Collects effects under the address of the session or agent that is being changed. Invariant: a session's reducer
//! leaves word here for its agent and cannot reach it.

use crate::model::agent::OddCounts;
use crate::model::effect::Effect;
use crate::model::event::{CallError, Odd};
use crate::model::ids::{Address, Addressed, Now, SessionKey, TurnId};

#[derive(Debug)]
pub struct Cx {
    pub now: Now,
    pub(super) out: Vec<Addressed<Effect>>,
    /// No fact, and nothing is to be done for it.
    pub(super) is_hint: bool,
    /// What is decided is told, to be logged.
    pub(super) is_audited: bool,
    /// The date of this moment, where it is known.
    pub(super) date: Option<Now>,
    /// Who is being changed.
    pub(super) at: Address,
    /// Whether the agent of the session that is being changed takes calls.
    pub(super) is_up: bool,
    /// The last turn of any session.
    pub(super) last_turn: TurnId,
    /// Messages of its agent that the session could not use.
    pub(super) odd: OddCounts,
    /// The agent wants the person to log in; it has told so in answer to a call of the session.
    pub(super) log_in: Option<CallError>,
}

impl Cx {
    pub(super) fn new(now: Now) -> Self {
        Self {
            now,
            out: Vec::new(),
            is_hint: false,
            is_audited: false,
            date: None,
            at: Address::All,
            is_up: false,
            last_turn: TurnId::default(),
            odd: OddCounts::default(),
            log_in: None,
        }
    }

    pub fn push(&mut self, what: Effect) {
        self.out.push(Addressed { at: self.at, what });
    }

    /// The date of this moment in whole seconds, counted from 1970, where that is known.
    pub fn date(&self) -> Option<Now> {
        self.date.map(|date| Now::from_secs(date.as_secs()))
    }

    /// The session that is being changed.
    pub fn session(&self) -> SessionKey {
        if let Address::Session(key) = self.at { key } else { SessionKey::FIRST }
    }

    /// The turn that the next prompt of any session begins.
    pub fn next_turn(&self) -> TurnId {
        TurnId(self.last_turn.0 + 1)
    }

    /// Counted for the agent of the session.
    pub fn count(&mut self, what: Odd) {
        self.odd.count(what);
    }

    pub fn log_in_needed(&mut self, error: CallError) {
        self.log_in = Some(error);
    }
}
