//! What a session is called, and what it was made of.
//!
//! Changes nothing. Invariant: words of ours that stand above the person's are no name.

use super::Session;
use crate::model::account;
use crate::model::entry::Body;
use crate::model::event::Opening;
use crate::model::ids::SessionId;

impl Session {
    /// What it is called, where that is known. A side question that was kept is called by its words: agents give copies the
    /// title of the original.
    pub fn called(&self) -> Option<&str> {
        let kept = self.beside.filter(|beside| beside.is_kept);
        let asked = kept.and_then(|_| self.first_words()?.lines().next()).filter(|asked| !asked.is_empty());
        asked.or(self.title.as_deref()).or(self.known_title.as_deref())
    }

    /// What the person asked first, in their own words as far as there are any; nothing where it is not in memory.
    pub fn first_words(&self) -> Option<&str> {
        let Body::User(message) = &self.entries.get(self.first_prompt()?)?.body else { return None };
        Some(account::own_words(&message.text)).filter(|own| !own.is_empty()).or(Some(&message.text))
    }

    /// The session of which it is about to be a copy.
    pub fn will_copy(&self) -> Option<&SessionId> {
        if let Opening::Fork(from) = &self.opening { Some(from) } else { None }
    }
}
