//! Where the transcript stands: at its end, or held by an anchor that new output cannot move.

use crate::model::entries::{Entries, Slot};
use crate::model::ids::EntryId;

/// The anchor names words, not rows of the screen, so that neither new output nor another width moves the view.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scroll {
    /// The end is in view and stays in view.
    #[default]
    Follow,
    /// The row that holds these words is the top row of the view.
    Anchor {
        entry: EntryId,
        /// Byte of the entry's text where its piece starts; 0 where an entry is one piece.
        piece: u32,
        /// Logical line of the piece.
        line: u32,
        /// Byte of the line's text.
        byte: u32,
        /// Rows of the gap above the entry that are in view too.
        gap: u32,
    },
}

/// How far the conversation had come when its end was in view last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SeenEnd {
    /// The first entry that was not there yet.
    next: EntryId,
    /// Revision of the entry before it, where that is in memory.
    rev: Option<u64>,
}

impl SeenEnd {
    pub fn now(entries: &Entries) -> Self {
        Self { next: entries.next_id(), rev: entries.last().map(|entry| entry.rev) }
    }

    /// How many entries have come or grown since: those that `draws` says draw something, and the one that was last then.
    pub fn news(self, entries: &Entries, draws: impl Fn(&Slot) -> bool) -> usize {
        let last = self.next.0.checked_sub(1).and_then(|id| entries.get(EntryId(id)));
        let grown = self.rev.zip(last).is_some_and(|(rev, last)| last.rev != rev);
        let from = usize::try_from(self.next.0.saturating_sub(entries.gone())).unwrap_or(usize::MAX);
        usize::from(grown) + entries.slots().skip(from).filter(|slot| draws(slot)).count()
    }
}

impl Scroll {
    /// The first words of an entry at the top.
    pub const fn at(entry: EntryId) -> Self {
        Self::Anchor { entry, piece: 0, line: 0, byte: 0, gap: 0 }
    }
}
