//! Entries that are not in memory, read for as long as they are looked at.
//!
//! Knows no file. Invariant: what no drawing has looked at since goes first, and beside what the last one has looked at
//! at most [`READ_BYTES`] are kept.

use super::DrawCtx;
use crate::base::weighted::Weighted;
use crate::model::entries::{Slot, size_of_entry};
use crate::model::entry::Entry;
use crate::model::ids::{EntryId, SessionKey};
use std::ops::Deref;
use std::rc::Rc;

/// Above this what was not looked at is dropped, down to half of it.
pub(super) const READ_BYTES: usize = 2 << 20;

/// An entry, wherever it is.
#[derive(Debug)]
pub(super) enum Shown<'a> {
    Here(&'a Entry),
    Read(Rc<Entry>),
}

impl Deref for Shown<'_> {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        match self {
            Self::Here(entry) => entry,
            Self::Read(entry) => entry,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Reading(Weighted<(SessionKey, EntryId), Rc<Entry>>);

impl Reading {
    /// The entry at this place.
    pub(super) fn entry<'a>(&mut self, cx: &DrawCtx<'a>, index: usize) -> Option<Shown<'a>> {
        let entries = cx.session.session().entries();
        let away = match entries.slot(index)? {
            Slot::Here(entry) => return Some(Shown::Here(entry)),
            Slot::Away(away) => away,
        };
        let id = entries.id_at(index);
        let key = (cx.session.key(), id);
        if let Some(known) = self.0.get(&key).filter(|known| away.is_like(known)) {
            return Some(Shown::Read(Rc::clone(known)));
        }
        let entry = Rc::new(away.read(id, cx.history));
        self.0.put(key, Rc::clone(&entry), size_of_entry(&entry.body));
        Some(Shown::Read(entry))
    }

    #[cfg(test)]
    pub(super) const fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// Keeps the bound after a drawing.
    pub(super) fn finish(&mut self) {
        if self.0.bytes() > READ_BYTES {
            self.0.shrink(usize::MAX, READ_BYTES / 2);
        }
        self.0.mark();
    }
}
