//! Pictures on the surface: which cells stand for pieces of them, and what is to be written so that the terminal shows those
//! and no others.
//!
//! Invariants: what is sent once is sent once, and taken back when it is not known any more; a piece that stands where it
//! stood is not written again.

use crate::base::graphics::{Form, Image, piece};
use crate::ui::tty::graphics::{self, Placement};
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::Color;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Pieces beside each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Run {
    pub(super) x: u16,
    number: u8,
    row: u16,
    column: u16,
    pub(super) columns: u16,
}

/// Pictures that can be drawn.
#[derive(Debug, Default)]
pub(super) struct Images {
    known: BTreeMap<u8, Arc<Image>>,
    /// Those that the terminal has.
    sent: BTreeSet<u8>,
    /// What it is to forget.
    gone: Vec<u8>,
    /// What it shows, by row and column.
    placed: BTreeMap<(u16, u16), Placement>,
}

impl Images {
    pub(super) fn set(&mut self, images: impl Iterator<Item = (u8, Arc<Image>)>) {
        let known: BTreeMap<_, _> = images.collect();
        let is_same = |number: &u8| match (self.known.get(number), known.get(number)) {
            (Some(before), Some(now)) => Arc::ptr_eq(before, now),
            _ => false,
        };
        let gone: Vec<u8> = self.sent.iter().filter(|number| !is_same(number)).copied().collect();
        self.sent.retain(|number| !gone.contains(number));
        self.placed.retain(|_, placed| !gone.iter().any(|number| id(*number) == placed.id));
        self.gone.extend(gone);
        self.known = known;
    }

    /// The terminal has lost what it was sent.
    pub(super) fn lose(&mut self) {
        self.sent.clear();
        self.gone.clear();
        self.placed.clear();
    }

    /// What takes back all that was sent.
    pub(super) fn take_back(&mut self, out: &mut Vec<u8>) {
        let sent = std::mem::take(&mut self.sent);
        self.gone.drain(..).chain(sent).for_each(|number| graphics::forget(id(number), out));
        self.placed.clear();
    }

    /// Nothing of any picture is shown or is to be.
    pub(super) fn is_idle(&self) -> bool {
        self.known.is_empty() && self.gone.is_empty() && self.placed.is_empty()
    }

    /// What goes before a frame: pictures in it that the terminal has not, and none that it needs no more.
    pub(super) fn bring(&mut self, next: &Buffer, out: &mut Vec<u8>) {
        if self.is_idle() {
            return;
        }
        self.gone.drain(..).for_each(|number| graphics::forget(id(number), out));
        for number in next.content.iter().filter_map(|cell| Some(piece_of(cell)?.0)) {
            if let Some(Form::Whole(png)) = self.known.get(&number).map(|image| &image.form)
                && self.sent.insert(number)
            {
                graphics::send(id(number), png, out);
            }
        }
    }

    /// What is to be hidden, and what is to be put at which place, so that it is as in this frame; where the terminal's
    /// content is unknown, all of it.
    pub(super) fn place(&mut self, next: &Buffer, is_known: bool) -> (Vec<Placement>, Vec<(u16, u16, Placement)>) {
        if self.is_idle() {
            return <_>::default();
        }
        let mut wanted = BTreeMap::new();
        let width = usize::from(next.area.width.max(1));
        for (y, row) in (0..=u16::MAX).zip(next.content.chunks(width)) {
            for run in runs(row) {
                let Some(image) = self.known.get(&run.number) else { continue };
                if matches!(image.form, Form::Whole(_)) {
                    let place = u32::from(y) * u32::from(next.area.width) + u32::from(run.x) + 1;
                    let Run { row, column, columns, number, .. } = run;
                    let cell = image.cell;
                    let placement = Placement { id: id(number), place, row, column, columns, cell };
                    wanted.insert((y, run.x), placement);
                }
            }
        }
        let shown = std::mem::replace(&mut self.placed, wanted);
        let is_there = |old: &Placement| self.placed.values().any(|new| (new.id, new.place) == (old.id, old.place));
        let hidden = shown.values().filter(|old| !is_there(old)).copied().collect();
        let new = self.placed.iter().filter(|(at, new)| !is_known || shown.get(at) != Some(*new));
        let new = new.map(|((y, x), new)| (*x, *y, *new)).collect();
        (hidden, new)
    }

    /// What draws the pieces of a row from where each of them begins, where the terminal keeps no pictures.
    pub(super) fn strips(&self, row: &[Cell]) -> Vec<(Run, Arc<Image>)> {
        if self.known.is_empty() {
            return Vec::new();
        }
        let of_run = |run: Run| {
            let image = self.known.get(&run.number)?;
            matches!(image.form, Form::Rows(_)).then(|| (run, Arc::clone(image)))
        };
        runs(row).filter_map(of_run).collect()
    }

    /// Whether a row has pieces that are drawn into it.
    pub(super) fn has_strips(&self, row: &[Cell]) -> bool {
        !self.strips(row).is_empty()
    }
}

impl Run {
    /// Where the first column of the picture is.
    pub(super) fn origin(&self) -> u16 {
        self.x.saturating_sub(self.column)
    }

    pub(super) fn bytes<'a>(&self, image: &'a Image) -> &'a [u8] {
        let Form::Rows(rows) = &image.form else { return &[] };
        rows.get(usize::from(self.row)).map_or(&[], Vec::as_slice)
    }
}

/// The terminal's number of a picture: one that another program's will hardly have.
fn id(number: u8) -> u32 {
    (std::process::id() & 0xff_ffff | 0x80_0000) << 8 | u32::from(number)
}

/// The picture of which a cell shows a piece, and which.
fn piece_of(cell: &Cell) -> Option<(u8, u16, u16)> {
    let (row, column) = piece(cell.symbol())?;
    let Color::Indexed(number) = cell.fg else { return None };
    Some((number, row, column))
}

pub(super) fn is_piece(cell: &Cell) -> bool {
    piece(cell.symbol()).is_some()
}

fn runs(row: &[Cell]) -> impl Iterator<Item = Run> {
    let mut pieces = (0..=u16::MAX).zip(row).filter_map(|(x, cell)| Some((x, piece_of(cell)?))).peekable();
    std::iter::from_fn(move || {
        let (x, (number, row, column)) = pieces.next()?;
        let mut columns = 1;
        while pieces.next_if_eq(&(x + columns, (number, row, column + columns))).is_some() {
            columns += 1;
        }
        Some(Run { x, number, row, column, columns })
    })
}

#[cfg(test)]
#[path = "images_tests.rs"]
mod tests;
