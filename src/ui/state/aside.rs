//! A question that is answered beside the conversation: in a session of its own that is no part of anything unless it is
//! kept.
//!
//! What is asked and answered is the session's; here is only which it is, what is to be done in it, and how far its answer
//! has been scrolled.

use crate::model::event::Intent;
use crate::model::ids::{SessionId, SessionKey, TurnId};

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
    /// In which it is answered.
    pub turn: Option<TurnId>,
    /// Leads back to the mode that its agent had opened it in, where it was given another.
    pub mode_before: Option<Intent>,
}

/// What is to be done before the question is sent.
#[derive(Clone, PartialEq, Debug)]
pub struct Unsent {
    /// Of the conversation, for an agent that makes no copy of it; nothing where nothing was said in it.
    pub account: Option<String>,
    /// The mode was chosen; the agent may not have answered yet.
    pub has_chosen: bool,
}

/// What is open beside the conversations, and what was thrown away and is to be deleted.
#[derive(Debug, Default)]
pub struct Asides {
    pub open: Option<Aside>,
    /// Sessions like any other, but for the mode that only reads: until the question is answered.
    pub kept: Vec<Aside>,
    /// What was asked beside a session before that was open.
    pub waiting: Option<(SessionKey, String)>,
    /// Sessions whose agents are to forget them.
    pub thrown_away: Vec<ThrownAway>,
}

/// A session that is closed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThrownAway {
    pub key: SessionKey,
    /// Its name, once its agent was asked to delete it. One that is closed before it is open has none yet.
    pub asked: Option<SessionId>,
}

impl Asides {
    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut Aside> {
        self.open.iter_mut().chain(&mut self.kept)
    }

    /// What was to be asked beside this conversation and was not sent yet.
    pub fn unsent_beside(&self, key: SessionKey) -> impl Iterator<Item = &str> {
        let unsent = self.open.iter().chain(&self.kept).filter(move |one| one.beside == key && one.unsent.is_some());
        let waiting = self.waiting.iter().filter(move |(beside, _)| *beside == key).map(|(_, question)| &**question);
        unsent.map(|aside| &*aside.question).chain(waiting)
    }

    /// An agent has deleted a session, or has not. True where that was one that was thrown away.
    pub fn is_gone(&mut self, id: &SessionId) -> bool {
        self.thrown_away.extract_if(.., |one| one.asked.as_ref() == Some(id)).next().is_some()
    }

    /// The one beside this conversation.
    pub fn beside(&self, shown: SessionKey) -> Option<&Aside> {
        self.open.as_ref().filter(|aside| aside.beside == shown)
    }

    pub fn beside_mut(&mut self, shown: SessionKey) -> Option<&mut Aside> {
        self.open.as_mut().filter(|aside| aside.beside == shown)
    }
}
