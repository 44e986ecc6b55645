//! Numbers of entries in a review that several sessions share, and back.
//!
//! Invariant: two sessions never have the same number.

use crate::model::changes::ReviewDoc;
use crate::model::ids::{EntryId, SessionKey};
use std::sync::Arc;

/// Bits of an entry's number; those above tell its session. No transcript has so many entries.
const OWN_BITS: u32 = 40;

/// The number of an entry among those of all sessions of the directory. Those of the first session are as they were.
pub fn shared(at: SessionKey, entry: EntryId) -> EntryId {
    EntryId((u64::from(at.0) << OWN_BITS) | (entry.0 & ((1 << OWN_BITS) - 1)))
}

/// The session of an entry.
pub fn session_of(entry: EntryId) -> SessionKey {
    SessionKey(u32::try_from(entry.0 >> OWN_BITS).unwrap_or_default())
}

/// Gives the entries their own numbers back, and says which are in the conversation of another session than this one.
pub fn own_entries(doc: &mut ReviewDoc, at: SessionKey) {
    let own = |entry: EntryId| EntryId(entry.0 & ((1 << OWN_BITS) - 1));
    let elsewhere = |entry: EntryId| Some(session_of(entry)).filter(|session| *session != at);
    let is_as_it_is = |entry: EntryId| own(entry) == entry && elsewhere(entry).is_none();
    for file in &mut doc.files {
        if !file.hunks.iter().filter_map(|hunk| hunk.entry).all(is_as_it_is) {
            for hunk in &mut Arc::make_mut(file).hunks {
                hunk.elsewhere = hunk.entry.and_then(elsewhere);
                hunk.entry = hunk.entry.map(own);
            }
        }
    }
}
