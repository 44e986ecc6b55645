//! What is selected of the lines of a file with the mouse: from a character of it to another one.
//!
//! Invariants: it is of the file that was drawn, and goes when that is another one; where old and new stand side by side it
//! has lines of one side only; numbers, signs and margins are no part of it.

use super::super::selection::{Character, Selection};
use crate::model::changes::{FileDoc, ReviewDoc};
use crate::text::copied::Copied;
use crate::text::diff::Kind;
use crate::text::width;
use ratatui::layout::{Position, Rect};
use std::ops::Range;
use std::sync::Arc;

/// A line of a file's change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LineAt {
    pub hunk: usize,
    pub line: usize,
}

/// Which lines stand below each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    Both,
    Old,
    New,
}

impl Side {
    const fn has(self, kind: Kind) -> bool {
        match self {
            Self::Both => true,
            Self::Old => !matches!(kind, Kind::Add),
            Self::New => !matches!(kind, Kind::Del),
        }
    }
}

/// A line on the screen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShownLine {
    pub at: LineAt,
    pub side: Side,
    /// With its numbers.
    pub area: Rect,
    /// Column of the screen where its text begins, and of the text the one that stands there.
    pub x: u16,
    pub column: usize,
}

/// What was selected, and of which file.
#[derive(Clone, Debug)]
struct Held {
    file: Arc<FileDoc>,
    side: Side,
    selection: Selection<LineAt>,
}

#[derive(Clone, Debug, Default)]
pub struct Grip {
    held: Option<Held>,
    /// The button is down, and was pressed there.
    pressed: Option<Position>,
    /// It was moved: what is held is selected.
    is_moved: bool,
}

impl Grip {
    /// A button was pressed on what was drawn of a file.
    pub fn press(&mut self, file: &Arc<FileDoc>, lines: &[ShownLine], at: Position) {
        let beside = lines.iter().filter(|line| line.area.x <= at.x).max_by_key(|line| line.area.x);
        let Some(side) = beside.or(lines.first()).map(|line| line.side) else { return };
        let held = spot(file, lines, side, at).map(|from| Held {
            file: Arc::clone(file),
            side,
            selection: Selection { to: from.clone(), from },
        });
        *self = Self { held, pressed: Some(at), is_moved: false };
    }

    pub const fn is_pressed(&self) -> bool {
        self.pressed.is_some()
    }

    /// It was moved to there, on what was drawn of a file.
    pub fn drag(&mut self, file: &Arc<FileDoc>, lines: &[ShownLine], at: Position) {
        self.is_moved |= self.pressed.is_some_and(|from| from != at);
        if let Some(held) = self.held.as_mut().filter(|held| Arc::ptr_eq(&held.file, file))
            && let Some(to) = spot(file, lines, held.side, at)
        {
            held.selection.to = to;
        }
    }

    /// It was let go; true when something is selected then.
    pub fn release(&mut self) -> bool {
        self.pressed.take().is_some() && self.is_selected()
    }

    pub const fn is_selected(&self) -> bool {
        self.is_moved && self.held.is_some()
    }

    /// Another document is shown.
    pub fn sync(&mut self, doc: Option<&ReviewDoc>) {
        let Some(held) = &mut self.held else { return };
        match doc.and_then(|doc| doc.files.iter().find(|file| ***file == *held.file)) {
            Some(same) => held.file = Arc::clone(same),
            None => *self = Self::default(),
        }
    }

    /// What is selected of a line that is drawn, in columns of its text.
    pub fn columns(&self, file: &Arc<FileDoc>, (at, side): (LineAt, Side), text: &str) -> Option<Range<usize>> {
        let held =
            self.held.as_ref().filter(|held| self.is_moved && held.side == side && Arc::ptr_eq(&held.file, file))?;
        let bytes = held.selection.of_line(at, text.len() as u32)?;
        let is_in = |of: &Range<usize>| of.start >= bytes.start as usize && of.end <= bytes.end as usize;
        let mut columns = width::cells(text).filter(|(of, _)| is_in(of)).map(|(_, columns)| columns);
        let first = columns.next()?;
        Some(first.start..columns.last().map_or(first.end, |last| last.end))
    }

    /// The lines, without those of hunks that are folded.
    pub fn text(&self, is_folded: impl Fn(usize) -> bool) -> Option<String> {
        let Held { file, side, selection } = self.held.as_ref().filter(|_| self.is_moved)?;
        let mut copied = Copied::default();
        let [first, last] = selection.lines();
        let hunks = file.hunks.iter().enumerate().take(last.hunk + 1).skip(first.hunk);
        for (hunk, shown) in hunks.filter(|(hunk, _)| !is_folded(*hunk)) {
            for (line, of) in shown.lines.iter().enumerate().filter(|(_, of)| side.has(of.kind)) {
                let bytes = selection.of_line(LineAt { hunk, line }, of.text.len() as u32);
                let words = bytes.and_then(|bytes| of.text.get(bytes.start as usize..bytes.end as usize));
                if let Some(words) = words {
                    copied.push("\n", words, Some(of.kind));
                }
            }
        }
        Some(copied.text()).filter(|text| !text.is_empty())
    }
}

/// The character at a position of the screen, or the one that it is nearest to.
fn spot(file: &FileDoc, lines: &[ShownLine], side: Side, at: Position) -> Option<Character<LineAt>> {
    let mut of_side = lines.iter().filter(|line| line.side == side);
    let above = of_side.clone().rfind(|line| line.area.y <= at.y);
    let line = above.or_else(|| of_side.next())?;
    let text = &file.hunks.get(line.at.hunk)?.lines.get(line.at.line)?.text;
    let end = text.len()..text.len();
    let bytes = match at.y.cmp(&line.area.y) {
        std::cmp::Ordering::Less => 0..0,
        std::cmp::Ordering::Greater => end,
        std::cmp::Ordering::Equal => match at.x.checked_sub(line.x) {
            None => 0..0,
            Some(right) => {
                let column = line.column + usize::from(right);
                width::cells(text).find(|(_, columns)| columns.contains(&column)).map_or(end, |(bytes, _)| bytes)
            }
        },
    };
    Some(Character { at: line.at, bytes: bytes.start as u32..bytes.end as u32 })
}
