//! Entries that are not in memory, read for as long as they are looked at.
//!
//! Knows no file. Of a large one its long texts are only read to be laid out. Invariants: what no drawing has looked at
//! since goes first, and beside what the last one has looked at at most [`READ_BYTES`] are kept; of those with long texts
//! one is there as a whole at a time, while it is drawn.

use super::DrawCtx;
use crate::base::weighted::Weighted;
use crate::model::entries::{Slot, size_of_entry};
use crate::model::entry::Entry;
use crate::model::ids::{EntryId, SessionKey};
use crate::model::tool::light::lightened;
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

type At = (SessionKey, EntryId);

#[derive(Debug, Default)]
pub(super) struct Reading {
    kept: Weighted<At, Kept>,
    /// As a whole, what was read last of those that are kept light.
    whole: Option<(At, Rc<Entry>)>,
}

#[derive(Debug)]
struct Kept {
    entry: Rc<Entry>,
    /// It is without its long texts.
    is_light: bool,
}

impl Reading {
    /// The entry at this place; a large one without its long texts.
    pub(super) fn entry<'a>(&mut self, cx: &DrawCtx<'a>, index: usize) -> Option<Shown<'a>> {
        let entries = cx.session.session().entries();
        let away = match entries.slot(index)? {
            Slot::Here(entry) => return Some(Shown::Here(entry)),
            Slot::Away(away) => away,
        };
        let id = entries.id_at(index);
        let key = (cx.session.key(), id);
        if let Some(known) = self.kept.get(&key).filter(|known| away.is_like(&known.entry)) {
            return Some(Shown::Read(Rc::clone(&known.entry)));
        }
        self.whole = None;
        let whole = Rc::new(away.read(id, cx.history));
        let light = lightened(&whole).map(Rc::new);
        let is_light = light.is_some();
        if is_light {
            self.whole = Some((key, Rc::clone(&whole)));
        }
        let entry = light.unwrap_or(whole);
        self.kept.put(key, Kept { entry: Rc::clone(&entry), is_light }, size_of_entry(&entry.body));
        Some(Shown::Read(entry))
    }

    /// All of an entry that was read without its long texts; nothing when it is whole.
    pub(super) fn whole(&mut self, cx: &DrawCtx<'_>, entry: &Entry) -> Option<Rc<Entry>> {
        let entries = cx.session.session().entries();
        let Slot::Away(away) = entries.slot(entries.index_of(entry.id)?)? else { return None };
        let key = (cx.session.key(), entry.id);
        self.kept.peek(&key).filter(|known| known.is_light)?;
        if let Some((_, whole)) = self.whole.as_ref().filter(|(at, whole)| *at == key && away.is_like(whole)) {
            return Some(Rc::clone(whole));
        }
        self.whole = None;
        let whole = Rc::new(away.read(entry.id, cx.history));
        self.whole = Some((key, Rc::clone(&whole)));
        Some(whole)
    }

    #[cfg(test)]
    pub(super) const fn bytes(&self) -> usize {
        self.kept.bytes()
    }

    /// Keeps the bound after a drawing.
    pub(super) fn finish(&mut self) {
        if self.kept.bytes() > READ_BYTES {
            self.kept.shrink(usize::MAX, READ_BYTES / 2);
        }
        self.whole = None;
        self.kept.mark();
    }
}
