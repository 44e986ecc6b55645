//! What of the conversation is selected with the mouse: from a character of it to another one.
//!
//! Knows no columns. Invariant: it is of the text that was laid out, so that scrolling and what comes later do not move it.

use crate::model::ids::EntryId;
use ratatui::layout::Position;
use std::ops::Range;

/// A line of what was laid out: the entry, the byte of its text where the piece begins, and which line of that.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LineAt {
    pub entry: EntryId,
    pub piece: u32,
    pub line: u32,
}

/// A character of a line, by its bytes; none of them beside the words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Character {
    pub at: LineAt,
    pub bytes: Range<u32>,
}

/// What the mouse is about in the conversation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Grip {
    #[default]
    Nothing,
    /// A button is held down there, and has not been moved.
    Pressed(Position),
    /// It was moved.
    Moves(Selection),
    /// It was let go, and what was selected stays marked.
    Marked(Selection),
}

impl Grip {
    pub const fn selection(&self) -> Option<&Selection> {
        match self {
            Self::Moves(selection) | Self::Marked(selection) => Some(selection),
            Self::Nothing | Self::Pressed(_) => None,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Selection {
    /// Where it was begun.
    pub from: Character,
    pub to: Character,
}

impl Selection {
    /// The first and the last character.
    fn ends(&self) -> [&Character; 2] {
        let order = |spot: &Character| (spot.at, spot.bytes.start);
        if order(&self.from) <= order(&self.to) { [&self.from, &self.to] } else { [&self.to, &self.from] }
    }

    /// The first line and the last.
    pub fn lines(&self) -> [LineAt; 2] {
        self.ends().map(|end| end.at)
    }

    /// What of a line is selected; `len` is how long it is.
    pub fn of_line(&self, at: LineAt, len: u32) -> Option<Range<u32>> {
        let [first, last] = self.ends();
        if at < first.at || at > last.at {
            return None;
        }
        let from = if at == first.at { first.bytes.start } else { 0 };
        let to = if at == last.at { last.bytes.end } else { len };
        let from = from.min(len);
        Some(from..to.min(len).max(from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spot(line: u32, bytes: Range<u32>) -> Character {
        Character { at: LineAt { entry: EntryId(1), piece: 0, line }, bytes }
    }

    #[test]
    fn it_is_the_same_from_both_ends_and_has_both_characters() {
        for (from, to) in [(spot(1, 3..6), spot(3, 0..2)), (spot(3, 0..2), spot(1, 3..6))] {
            let selection = Selection { from, to };
            let of = |line| selection.of_line(spot(line, 0..0).at, 9);
            assert_eq!([of(0), of(1), of(2), of(3), of(4)], [None, Some(3..9), Some(0..9), Some(0..2), None]);
        }
        let one = Selection { from: spot(1, 3..6), to: spot(1, 3..6) };
        assert_eq!(one.of_line(spot(1, 0..0).at, 9), Some(3..6), "one character is one");
    }
}
