//! How a call stands: whether it goes on, and what the person's answer makes of it.
//!
//! Sends nothing and knows no questions. Invariant: what the agent says of a call after the answer counts again.

use super::{Mark, ToolCall};
use crate::model::ids::Now;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToolStatus {
    #[default]
    Pending,
    InProgress,
    Paused,
    Completed,
    Failed,
    Cancelled,
    /// The agent's word for one that is not known here; it goes on.
    Other(Arc<str>),
}

impl ToolStatus {
    pub const fn is_final(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// Something is being done.
    pub const fn is_running(&self) -> bool {
        matches!(self, Self::InProgress | Self::Other(_))
    }
}

/// Who has answered a question about a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answerer {
    #[default]
    Person,
    Rule,
    Hook,
    Mode,
}

impl Answerer {
    /// Of a refusal, for the person.
    pub const fn refused(self) -> &'static str {
        match self {
            Self::Person => "refused by you",
            Self::Rule => "refused by a rule",
            Self::Hook => "refused by the hook",
            Self::Mode => "refused by the mode",
        }
    }
}

/// What was answered in place of the person, by a rule or the decision hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    pub allows: bool,
    /// Which rule it was, and its reason.
    pub by: Arc<str>,
}

impl Decided {
    /// For the person.
    pub fn words(&self) -> String {
        format!("{} by {}", if self.allows { "allowed" } else { "refused" }, self.by)
    }
}

impl ToolCall {
    /// Nothing more is expected of it.
    pub fn is_finished(&self) -> bool {
        self.status.is_final() || self.mark.is_some()
    }

    /// It goes on, and the agent lets the person end it alone.
    pub fn can_be_cancelled(&self) -> bool {
        self.can_cancel && !self.is_finished()
    }

    /// It was refused, and the agent has said nothing of it since.
    pub fn is_turned_down(&self) -> bool {
        self.refused && self.status == ToolStatus::Pending
    }

    /// It was stopped. What has not been answered when its turn was stopped has not failed, whatever its agent calls it.
    pub fn is_cancelled(&self) -> bool {
        let is_given_up = self.unanswered && self.status == ToolStatus::Failed;
        self.mark == Some(Mark::Cancelled) || self.status == ToolStatus::Cancelled || is_given_up
    }

    /// Its question is over: how long the person has thought is not how long it takes.
    pub fn begin(&mut self, now: Now) {
        self.unanswered = false;
        if self.ended.is_none() {
            self.started = now;
        }
    }

    /// From then to then the person was asked about what the client is to do for it.
    pub fn wait(&mut self, from: Now, until: Now) {
        if self.ended.is_none() {
            self.started = self.started.saturating_add(until.saturating_sub(from.max(self.started)));
        }
    }

    /// What is refused has not begun, whatever was said of it before.
    pub fn turn_down(&mut self) {
        (self.refused, self.allowed) = (true, false);
        if !self.status.is_final() {
            self.status = ToolStatus::Pending;
        }
    }
}
