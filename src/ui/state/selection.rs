//! What is selected with the mouse, of the conversation or of what is asked: from a character of it to another one.
//!
//! Knows no columns of the conversation. Invariant: it is of the text that was laid out, so that scrolling and what comes
//! later do not move it.

use super::dock::Dialog;
use crate::model::ids::EntryId;
use crate::text::copied::Copied;
use crate::text::diff::Kind;
use crate::text::width::{graphemes, str_width};
use ratatui::layout::Position;
use std::ops::Range;
use std::sync::Arc;

/// A line of what was laid out: the entry, the byte of its text where the piece begins, and which line of that.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LineAt {
    pub entry: EntryId,
    pub piece: u32,
    pub line: u32,
}

/// A character of a line, by its bytes; none of them beside the words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Character<At = LineAt> {
    pub at: At,
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
pub struct Selection<At = LineAt> {
    /// Where it was begun.
    pub from: Character<At>,
    pub to: Character<At>,
}

impl<At: Copy + Ord> Selection<At> {
    /// The first and the last character.
    fn ends(&self) -> [&Character<At>; 2] {
        let order = |spot: &Character<At>| (spot.at, spot.bytes.start);
        if order(&self.from) <= order(&self.to) { [&self.from, &self.to] } else { [&self.to, &self.from] }
    }

    /// The first line and the last.
    pub fn lines(&self) -> [At; 2] {
        self.ends().map(|end| end.at)
    }

    /// What of a line is selected; `len` is how long it is.
    pub fn of_line(&self, at: At, len: u32) -> Option<Range<u32>> {
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

/// A row of what is asked that has words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AskedRow {
    /// Which of all its rows.
    pub at: usize,
    /// Row of the screen; nothing where it is out of view.
    pub y: Option<u16>,
    /// Column of the screen where the words begin.
    pub x: u16,
    pub text: Arc<str>,
    /// What was left out between this row and the one above, where both are of one line.
    pub joint: Option<&'static str>,
    /// What became of the line that it begins, where that is one of a diff.
    pub of_diff: Option<Kind>,
}

/// A character of what is asked: its row, and its bytes there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AskedSpot {
    at: usize,
    bytes: Range<usize>,
}

/// What the mouse is about in what is asked.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum AskedGrip {
    #[default]
    Nothing,
    /// A button is held down there, and has not been moved.
    Pressed(Position),
    /// It was moved, from one to the other; it may have been let go since.
    Selected { of: Dialog, from: AskedSpot, to: AskedSpot, is_held: bool },
}

impl AskedRow {
    /// The character in a column; beside the words none, at their beginning or end.
    fn spot(&self, x: u16) -> AskedSpot {
        let mut column = usize::from(self.x);
        for (byte, grapheme, wide) in graphemes(&self.text) {
            column += wide;
            if usize::from(x) < column {
                let end = if x < self.x { byte } else { byte + grapheme.len() };
                return AskedSpot { at: self.at, bytes: byte..end };
            }
        }
        AskedSpot { at: self.at, bytes: self.text.len()..self.text.len() }
    }

    fn column(&self, byte: usize) -> u16 {
        let before = str_width(self.text.get(..byte).unwrap_or(&self.text));
        self.x.saturating_add(u16::try_from(before).unwrap_or(u16::MAX))
    }
}

/// The character at a position of the screen, or the one that it is nearest to.
pub fn asked_spot(rows: &[AskedRow], at: Position) -> Option<AskedSpot> {
    let seen = || rows.iter().filter(|row| row.y.is_some());
    let row = seen().rfind(|row| row.y.is_some_and(|y| y <= at.y)).or_else(|| seen().next())?;
    Some(row.spot(at.x))
}

impl AskedGrip {
    /// What is selected of a row.
    fn bytes(&self, of: &Dialog, row: &AskedRow) -> Option<Range<usize>> {
        let Self::Selected { of: asked, from, to, .. } = self else { return None };
        let order = |spot: &AskedSpot| (spot.at, spot.bytes.start);
        let (first, last) = if order(from) <= order(to) { (from, to) } else { (to, from) };
        if asked != of || !(first.at..=last.at).contains(&row.at) {
            return None;
        }
        let start = if row.at == first.at { first.bytes.start } else { 0 };
        let end = if row.at == last.at { last.bytes.end } else { row.text.len() };
        (start <= end && row.text.get(start..end).is_some()).then_some(start..end)
    }

    /// The same in columns of the screen.
    pub fn columns(&self, of: &Dialog, row: &AskedRow) -> Option<Range<u16>> {
        self.bytes(of, row).map(|bytes| row.column(bytes.start)..row.column(bytes.end))
    }

    /// The words that are selected of these rows, without what the width has put between them.
    pub fn text(&self, of: &Dialog, rows: &[AskedRow]) -> String {
        let mut copied = Copied::default();
        for (row, piece) in rows.iter().filter_map(|row| Some((row, row.text.get(self.bytes(of, row)?)?))) {
            copied.push(row.joint.unwrap_or("\n"), piece, row.of_diff);
        }
        copied.text()
    }

    pub const fn is_selected(&self) -> bool {
        matches!(self, Self::Selected { .. })
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
