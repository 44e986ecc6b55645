//! What our calls are for, and the numbers of what agents ask.
//!
//! Knows no connection. Invariant: a call belongs to one session, or to its agent.

use crate::model::event::{Opening, Words};
use crate::model::ids::{Address, AgentKey, ReqId, SessionId, SessionKey, TurnId};
use crate::model::options::OptionValue;

/// What one of our requests was for.
#[derive(Debug, Clone)]
pub(super) enum Tag {
    Initialize,
    OpenSession(SessionKey, Opening),
    Prompt(SessionKey, TurnId),
    SetMode(SessionKey, String),
    SetOption(SessionKey, String, OptionValue),
    /// The attempt.
    Authenticate(u64),
    LogOut,
    AuthStatus,
    ListSessions(u64),
    CloseSession(SessionKey),
    DeleteSession(SessionId),
    SetTitle(SessionKey),
    CancelItem(SessionKey),
    Steer(SessionKey, Words),
    /// What a command has printed was told.
    Printed,
}

impl Tag {
    /// Whose call it is, of those to this agent.
    pub fn address(&self, agent: AgentKey) -> Address {
        match self {
            Self::OpenSession(at, _)
            | Self::Prompt(at, _)
            | Self::SetMode(at, _)
            | Self::SetOption(at, ..)
            | Self::CloseSession(at)
            | Self::SetTitle(at)
            | Self::CancelItem(at)
            | Self::Steer(at, _) => (*at).into(),
            Self::Initialize
            | Self::Authenticate(_)
            | Self::LogOut
            | Self::AuthStatus
            | Self::ListSessions(_)
            | Self::DeleteSession(_)
            | Self::Printed => agent.into(),
        }
    }
}

/// Hands out the ids of requests, over all connections.
#[derive(Debug, Default)]
pub(super) struct ReqIds(u64);

impl ReqIds {
    pub fn next(&mut self) -> ReqId {
        let id = ReqId(self.0);
        self.0 += 1;
        id
    }

    /// The one that is handed out next.
    pub fn coming(&self) -> ReqId {
        ReqId(self.0)
    }

    pub fn go_on_from(&mut self, id: ReqId) {
        self.0 = id.0;
    }
}
