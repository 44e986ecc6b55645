//! What is waited for: a time that is over is an event like any other.
//!
//! Data only; who waits is not known here.

use super::{AGENT, SESSION};
use crate::model::ids::{Address, ReqId, TurnId};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// Terminals of a cancelled turn that the agent has not killed.
    KillTerminals(TurnId),
    /// A program printed text and has still not answered `initialize`.
    ExplainStray,
    /// A request has come before the session that it names, and that was not opened since.
    EarlyRequest(ReqId),
    /// A request has waited long enough for the exit of a command.
    Wait(ReqId),
    /// The command that was started for this request has had its time.
    Command(ReqId),
    /// The snapshot before this turn takes too long.
    Coverage(TurnId),
    /// An agent that has ended is started again by itself.
    Revive,
    /// The agent may have told the rest of a history that was not complete when it said so.
    History,
    /// The session is old enough to be loaded.
    OldEnough,
    /// A permission mode of the session has had its time.
    PermissionMode,
    /// What was typed to log in is worth nothing any more.
    Credentials,
}

impl Timer {
    /// Where it belongs while there is one agent with one session.
    pub fn home(self) -> Address {
        match self {
            Self::ExplainStray | Self::EarlyRequest(_) | Self::Revive | Self::Credentials => AGENT,
            Self::KillTerminals(_)
            | Self::Wait(_)
            | Self::Command(_)
            | Self::Coverage(_)
            | Self::History
            | Self::OldEnough
            | Self::PermissionMode => SESSION,
        }
    }
}
