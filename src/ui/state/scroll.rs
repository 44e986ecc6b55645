//! Where the transcript stands: at its end, or held by an anchor that new output cannot move.

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

impl Scroll {
    /// The first words of an entry at the top.
    pub const fn at(entry: EntryId) -> Self {
        Self::Anchor { entry, piece: 0, line: 0, byte: 0, gap: 0 }
    }
}
