//! Entries that are not in memory, read for as long as they are looked at.
//!
//! Knows no file. Invariant: what no drawing has looked at since goes first, and beside what the last one has looked at
//! at most [`READ_BYTES`] are kept.

use super::DrawCtx;
use crate::model::entries::{Slot, size_of_entry};
use crate::model::entry::Entry;
use crate::model::ids::{EntryId, SessionKey};
use std::collections::HashMap;
use std::ops::Deref;
use std::rc::Rc;

/// Above this what was not looked at is dropped, down to half of it.
pub(super) const READ_BYTES: usize = 4 << 20;

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

#[derive(Debug)]
struct Read {
    entry: Rc<Entry>,
    bytes: usize,
    used: u64,
}

#[derive(Debug, Default)]
pub(super) struct Reading {
    read: HashMap<(SessionKey, EntryId), Read>,
    bytes: usize,
    clock: u64,
}

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
        let clock = self.clock;
        if let Some(known) = self.read.get_mut(&key).filter(|known| away.is_like(&known.entry)) {
            known.used = clock;
            return Some(Shown::Read(Rc::clone(&known.entry)));
        }
        let entry = Rc::new(away.read(id, cx.history));
        let bytes = size_of_entry(&entry.body);
        self.bytes += bytes;
        if let Some(old) = self.read.insert(key, Read { entry: Rc::clone(&entry), bytes, used: clock }) {
            self.bytes = self.bytes.saturating_sub(old.bytes);
        }
        Some(Shown::Read(entry))
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Keeps the bound after a drawing.
    pub(super) fn finish(&mut self) {
        let now = self.clock;
        self.clock += 1;
        if self.bytes <= READ_BYTES {
            return;
        }
        let mut ages: Vec<(u64, usize)> = self.read.values().map(|read| (read.used, read.bytes)).collect();
        ages.sort_unstable();
        let mut excess = self.bytes - READ_BYTES / 2;
        let mut limit = None;
        for (used, bytes) in ages.into_iter().take_while(|(used, _)| *used < now) {
            if excess == 0 {
                break;
            }
            limit = Some(used);
            excess = excess.saturating_sub(bytes);
        }
        self.read.retain(|_, read| Some(read.used) > limit);
        self.bytes = self.read.values().map(|read| read.bytes).sum();
    }
}
