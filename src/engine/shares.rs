//! Whose the entries of a session are that is replayed. Its agent may forget it, or end without having kept it: then another
//! conversation is had under its key, and what stands above that is still of the first.
//!
//! Reads nothing. Invariants: an entry is of one conversation; a conversation that has lost its name keeps what was said in
//! it, until the session has another one or is closed.

use crate::model::Model;
use crate::model::entry::Entry;
use crate::model::ids::{EntryId, Now, SessionId, SessionKey};
use crate::model::reduce::Found;
use crate::model::session::Session;
use std::collections::BTreeMap;
use std::ops::{Bound, RangeBounds as _};

/// What a session has of one conversation.
#[derive(Clone, Debug)]
pub(super) struct Share {
    pub id: SessionId,
    first: Bound<EntryId>,
    end: Bound<EntryId>,
    /// It begins with what earlier journals have.
    is_recalled: bool,
}

impl Share {
    fn from(id: SessionId, first: EntryId) -> Self {
        Self { id, first: Bound::Included(first), end: Bound::Unbounded, is_recalled: false }
    }

    /// Its entries, of this session.
    pub fn entries<'a>(&self, session: &'a Session) -> impl Iterator<Item = &'a Entry> + use<'a> {
        let which = (self.first, self.end);
        session.entries().iter().filter(move |entry| which.contains(&entry.id))
    }

    pub fn found(&self, session: Session, now: Now) -> Found {
        let is_whole = self.is_recalled && session.is_recalled();
        Found::within(session, (self.first, self.end), is_whole, now)
    }
}

/// The conversation that each session is, or was last.
#[derive(Debug, Default)]
pub(super) struct Shares {
    now: BTreeMap<SessionKey, Share>,
    /// The entry that comes next in each session: before what happens now.
    next: Vec<(SessionKey, EntryId)>,
}

impl Shares {
    /// Something is about to happen by which sessions may get or lose their names.
    pub fn before(&mut self, model: &Model) {
        self.next.clear();
        self.next.extend(model.sessions().map(|(key, session)| (key, session.entries().next_id())));
    }

    /// It has happened. Gives those that have ended.
    pub fn after(&mut self, model: &Model) -> Vec<(SessionKey, Share)> {
        let mut ended = Vec::new();
        for (key, session) in model.sessions() {
            let Some(id) = session.known_id() else { continue };
            let next = || self.next.iter().find(|(of, _)| *of == key).map_or(EntryId(0), |(_, next)| *next);
            match self.now.get_mut(&key) {
                None => {
                    let share = Share { is_recalled: session.is_recalled(), ..Share::from(id.clone(), EntryId(0)) };
                    self.now.insert(key, share);
                }
                Some(share) if share.id != *id => {
                    let share = std::mem::replace(share, Share::from(id.clone(), next()));
                    ended.push((key, Share { end: Bound::Excluded(next()), ..share }));
                }
                Some(_) => {}
            }
        }
        ended
    }

    /// What earlier journals have of the conversation that this session is comes into it, and with it what other sessions
    /// of the agent have of that: gives these.
    pub fn recalled(&mut self, key: SessionKey, model: &Model) -> Vec<(SessionKey, Share)> {
        let (Some(share), Some(session)) = (self.now.get_mut(&key), model.session_of(key)) else { return Vec::new() };
        share.is_recalled = true;
        let id = share.id.clone();
        let mut ended = Vec::new();
        for (other, session) in model.sessions_of(session.agent).filter(|(other, _)| *other != key) {
            if let Some(share) = self.now.get_mut(&other).filter(|share| share.id == id) {
                let next = session.entries().next_id();
                let share = std::mem::replace(share, Share::from(id.clone(), next));
                ended.push((other, Share { end: Bound::Excluded(next), ..share }));
            }
        }
        ended
    }

    /// The session lets go of all that was said in it.
    pub fn close(&mut self, key: SessionKey) -> Option<Share> {
        self.now.remove(&key)
    }

    /// No more happens.
    pub fn end(self) -> impl Iterator<Item = (SessionKey, Share)> {
        self.now.into_iter()
    }
}
