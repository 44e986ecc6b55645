//! A question that is answered beside the conversation: in a session of its own that is no part of anything unless it is
//! kept.
//!
//! What is asked and answered is the session's; here is only which it is and how far its answer has been scrolled.

use crate::model::event::Intent;
use crate::model::ids::{SessionId, SessionKey};

#[derive(Clone, PartialEq, Debug)]
pub struct Aside {
    /// Where it is answered.
    pub key: SessionKey,
    /// The conversation that it is asked beside.
    pub beside: SessionKey,
    pub question: String,
    /// Rows of the answer above what is shown.
    pub scroll: usize,
    pub unsent: Option<Unsent>,
    /// Leads back to the mode that its agent had opened it in, where it was given another.
    pub mode_before: Option<Intent>,
}

/// The question as its agent gets it, until it is sent.
#[derive(Clone, PartialEq, Debug)]
pub struct Unsent {
    pub text: String,
    /// The mode was chosen; the agent may not have answered yet.
    pub has_chosen: bool,
}

/// What is open beside the conversations, and what was thrown away and is being deleted.
#[derive(Debug, Default)]
pub struct Asides {
    pub open: Option<Aside>,
    /// What was asked beside a session before that was open.
    pub waiting: Option<(SessionKey, String)>,
    pub thrown_away: Option<SessionId>,
}

impl Asides {
    /// The one beside this conversation.
    pub fn beside(&self, shown: SessionKey) -> Option<&Aside> {
        self.open.as_ref().filter(|aside| aside.beside == shown)
    }

    pub fn beside_mut(&mut self, shown: SessionKey) -> Option<&mut Aside> {
        self.open.as_mut().filter(|aside| aside.beside == shown)
    }
}
