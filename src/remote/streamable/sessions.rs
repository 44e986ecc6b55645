//! Which sessions have a stream, and which open requests name one.
//!
//! Sends nothing. Invariant: what an agent can make grow is bounded.

use crate::wire::frame::RawId;
use std::collections::HashMap;
use tokio::task::AbortHandle;

/// Open requests of the agent of which the session is remembered.
const MAX_ASKED: usize = 4096;

/// A request of ours that is not answered.
#[derive(Debug, Default)]
pub(super) struct Ours {
    /// This session gets its stream when the answer comes.
    pub opens: Option<String>,
    /// This one has no stream any more when the answer comes.
    pub ends: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct Sessions {
    /// By the sessions, what listens to their streams.
    streams: HashMap<String, Option<AbortHandle>>,
    ours: HashMap<RawId, Ours>,
    /// By requests of the agent, the sessions on whose streams they came.
    asked: HashMap<RawId, String>,
}

impl Sessions {
    /// Whether the session has no stream yet; it counts as having one from now on.
    pub fn attach(&mut self, session: &str) -> bool {
        let is_new = !self.streams.contains_key(session);
        if is_new {
            self.streams.insert(session.to_owned(), None);
        }
        is_new
    }

    pub fn detach(&mut self, session: &str) {
        self.streams.remove(session);
    }

    pub fn listens(&mut self, session: String, listening: AbortHandle) {
        self.streams.insert(session, Some(listening));
    }

    /// Whether the end of its stream is no loss.
    pub fn is_ending(&self, session: &str) -> bool {
        !self.streams.contains_key(session) || self.ours.values().any(|ours| ours.ends.as_deref() == Some(session))
    }

    pub fn is_sent(&mut self, id: RawId, ours: Ours) {
        self.ours.insert(id, ours);
    }

    /// An answer has come that names a session, perhaps. Gives the sessions that are to get their streams.
    pub fn is_answered(&mut self, id: &RawId, opened: Option<String>, is_error: bool) -> Vec<String> {
        // What was not asked opens nothing.
        let Some(ours) = self.ours.remove(id).filter(|_| !is_error) else { return Vec::new() };
        if let Some(Some(listening)) = ours.ends.and_then(|session| self.streams.remove(&session)) {
            listening.abort();
        }
        opened.into_iter().chain(ours.opens).collect()
    }

    pub fn is_asked(&mut self, id: RawId, session: Option<&str>) {
        if let Some(session) = session.filter(|_| self.asked.len() < MAX_ASKED) {
            self.asked.insert(id, session.to_owned());
        }
    }

    pub fn asked_by(&mut self, id: &RawId) -> Option<String> {
        self.asked.remove(id)
    }
}
