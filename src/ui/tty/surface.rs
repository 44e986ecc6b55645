//! `Surface`: turns one painted buffer after another into the fewest bytes that make the terminal show them.
//!
//! Each frame is one synchronized update in one write; a frame that changes nothing writes nothing. The screen is
//! never cleared: where its content is unknown (first frame, new size, after a suspend) every row is written and
//! erased to its end instead, which does not flicker. Invariants: nothing is written outside the update, and no
//! control character of a cell reaches the terminal from any cell.
//!
//! Terminals disagree about the width of some characters. After such a one the cursor is placed absolutely, so that
//! a disagreement spoils one cell and not the rest of the row.
//!
//! Cells that stand for pieces of pictures are drawn by `images`.
//!
//! What of a frame is left for a later one is decided by `room`.
//!
//! [`region`] does the same for the last rows of the terminal's own screen.

mod images;
pub mod region;
mod room;

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;

use super::ascii::Letters;
use super::pen::Pen;
use crate::base::graphics::Image;
use crate::base::sanitize::is_deceptive;
use crate::base::width;
use images::{Images, is_piece};

const BEGIN: &[u8] = b"\x1b[?2026h";
const END: &[u8] = b"\x1b[?2026l";
/// So many unchanged cells are rather written again than jumped over: a jump costs four bytes.
const SHORT_GAP: u16 = 3;

/// No cluster that is drawn apart is taken for wider.
const MAX_REACH: u16 = 32;

/// What the terminal shows, what it shall show, and the way from one to the other.
#[derive(Debug)]
pub struct Surface<W> {
    out: W,
    shown: Buffer,
    next: Buffer,
    bytes: Vec<u8>,
    content: Content,
    cursor: Cursor,
    visible: Option<bool>,
    pen: Pen,
    letters: Letters,
    places: Places,
    /// Where what is shown leads, and what is painted next.
    shown_links: Vec<Hyperlink>,
    links: Vec<Hyperlink>,
    /// The link that is open in the terminal; none between rows.
    leads_to: Option<Arc<str>>,
    images: Images,
    /// About so many bytes may be written in the next frame.
    most: Option<usize>,
    is_cut: bool,
    /// In all frames.
    written: u64,
}

/// Where some columns of a row lead (OSC 8). An address with anything but printable ASCII leads nowhere.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hyperlink {
    pub y: u16,
    pub columns: Range<u16>,
    pub address: Arc<str>,
}

impl Hyperlink {
    fn is_clean(&self) -> bool {
        !self.columns.is_empty() && self.address.bytes().all(|byte| byte.is_ascii_graphic())
    }
}

/// What rows are counted from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Places {
    /// The first row of the screen.
    Screen,
    /// A row that only its distance from the cursor is known of.
    Cursor,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Content {
    /// The terminal shows `shown`.
    Known,
    Unknown,
}

/// Where the terminal's cursor is, as far as we can know.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Cursor {
    row: Option<u16>,
    col: Col,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Col {
    Known(u16),
    /// Here if the terminal measures as we do.
    Perhaps(u16),
    #[default]
    Unknown,
}

/// How sure it is that the terminal gives a character the width we do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Width {
    Sure,
    /// A symbol that some fonts or East Asian settings draw wider.
    Symbol,
    /// Several code points in one cell, which terminals without cluster support draw apart; or a wide sign, which those with
    /// an old table of widths draw narrow.
    Cluster,
}

#[derive(Clone, Copy, Debug)]
struct Glyph<'a> {
    text: &'a str,
    cells: u16,
    width: Width,
}

impl<W: Write> Surface<W> {
    pub fn new(out: W, width: u16, height: u16) -> Self {
        let area = Rect::new(0, 0, width, height);
        Self {
            out,
            shown: Buffer::empty(area),
            next: Buffer::empty(area),
            bytes: Vec::new(),
            content: Content::Unknown,
            cursor: Cursor::default(),
            visible: None,
            pen: Pen::default(),
            letters: Letters::Unicode,
            places: Places::Screen,
            shown_links: Vec::new(),
            links: Vec::new(),
            leads_to: None,
            images: Images::default(),
            most: None,
            is_cut: false,
            written: 0,
        }
    }

    /// What may be written from now on.
    pub fn set_letters(&mut self, letters: Letters) {
        self.letters = letters;
        self.invalidate();
    }

    pub fn area(&self) -> Rect {
        self.next.area
    }

    /// Takes a new size; the next frame writes every row. No effect if it is the size already.
    pub fn resize(&mut self, width: u16, height: u16) {
        let area = Rect::new(0, 0, width, height);
        if area != self.area() {
            self.shown = Buffer::empty(area);
            self.next = Buffer::empty(area);
            self.invalidate();
        }
    }

    /// Another program has written to the terminal: the next frame writes every row.
    pub fn invalidate(&mut self) {
        self.content = Content::Unknown;
        self.cursor = Cursor::default();
        self.visible = None;
    }

    /// The pictures that cells stand for, each with its number.
    pub fn set_images(&mut self, images: impl Iterator<Item = (u8, Arc<Image>)>) {
        self.images.set(images);
    }

    /// The terminal has lost the pictures that it was sent.
    pub fn lose_images(&mut self) {
        self.images.lose();
    }

    /// Has the terminal forget all pictures that it was sent.
    pub fn take_images_back(&mut self) -> io::Result<()> {
        let mut bytes = Vec::new();
        self.images.take_back(&mut bytes);
        if bytes.is_empty() { Ok(()) } else { self.out.write_all(&bytes).and_then(|()| self.out.flush()) }
    }

    /// Lets `paint` fill an empty buffer and say where the cursor is shown, and brings the terminal there. Returns
    /// whether anything was written. An error means that the terminal is gone.
    pub fn draw(&mut self, paint: impl FnOnce(Rect, &mut Buffer) -> Option<(u16, u16)>) -> io::Result<bool> {
        self.draw_linked(|area, buf, _| paint(area, buf))
    }

    /// The same with links. A row whose links have changed is written whole.
    pub fn draw_linked(
        &mut self,
        paint: impl FnOnce(Rect, &mut Buffer, &mut Vec<Hyperlink>) -> Option<(u16, u16)>,
    ) -> io::Result<bool> {
        self.next.reset();
        self.links.clear();
        let area = self.next.area;
        let cursor = paint(area, &mut self.next, &mut self.links);
        self.links.retain(Hyperlink::is_clean);
        self.letters.reduce(&mut self.next);
        if self.next.area != area || area.is_empty() {
            self.next = Buffer::empty(area);
            return Ok(false);
        }
        self.bytes.clear();
        self.images.bring(&self.next, &mut self.bytes);
        let brought = self.bytes.len();
        self.bytes.extend_from_slice(BEGIN);
        if self.content == Content::Unknown {
            self.pen = Pen::default();
            self.bytes.extend_from_slice(b"\x1b[m");
        }
        self.rows(cursor.map(|(_, y)| y), Self::row);
        self.place_images();
        self.place_cursor(cursor);
        if self.bytes.len() == BEGIN.len() && brought == 0 {
            return Ok(false);
        }
        self.bytes.extend_from_slice(END);
        self.written += self.bytes.len() as u64;
        if let Err(e) = self.out.write_all(&self.bytes).and_then(|()| self.out.flush()) {
            self.invalidate();
            return Err(e);
        }
        // A storm of full frames must not pin its largest buffer.
        if self.bytes.capacity() > 1 << 20 {
            self.bytes = Vec::new();
        }
        self.content = Content::Known;
        std::mem::swap(&mut self.shown, &mut self.next);
        std::mem::swap(&mut self.shown_links, &mut self.links);
        Ok(true)
    }

    fn row(&mut self, y: u16) {
        // Moved out so that `self.put` can borrow the rest; both are put back below.
        let next = std::mem::take(&mut self.next);
        let shown = std::mem::take(&mut self.shown);
        let width = usize::from(next.area.width);
        let span = usize::from(y) * width..(usize::from(y) + 1) * width;
        if let (Some(new), Some(old)) = (next.content.get(span.clone()), shown.content.get(span)) {
            let is_whole = self.content == Content::Unknown || !self.leads_alike(y);
            let has_pieces = |row: &[Cell]| row.iter().any(is_piece);
            if is_whole || new != old && (has_pieces(new) || has_pieces(old)) {
                self.strips(y, new);
                self.row_cells(y, new, None);
            } else if new != old {
                self.row_cells(y, new, Some(old));
            }
        }
        self.next = next;
        self.shown = shown;
    }

    /// Draws the pieces of pictures into a row whose other cells are all written afterwards.
    fn strips(&mut self, y: u16, row: &[Cell]) {
        let strips = self.images.strips(row);
        for (run, _) in &strips {
            self.go(run.x, y);
            self.pen.change(Pen::default(), &mut self.bytes);
            // Writing to a Vec cannot fail.
            let _ = write!(self.bytes, "\x1b[{}X", run.columns);
        }
        let mut drawn = None;
        for (run, image) in &strips {
            // What lies above a picture may leave several pieces of the same row of it.
            let (at, strip) = (run.origin(), run.bytes(image));
            if drawn.replace((at, strip.as_ptr())) != Some((at, strip.as_ptr())) {
                self.go(at, y);
                self.bytes.extend_from_slice(strip);
                self.cursor = Cursor::default();
            }
        }
    }

    /// Has the terminal show the pieces of the pictures that it keeps.
    fn place_images(&mut self) {
        let (hidden, new) = self.images.place(&self.next, self.content == Content::Known);
        for placement in hidden {
            placement.hide(&mut self.bytes);
        }
        for (x, y, placement) in new {
            self.go(x, y);
            placement.show(&mut self.bytes);
        }
    }

    /// What is written from now on leads there.
    fn lead(&mut self, to: Option<Arc<str>>) {
        if self.leads_to != to {
            // Writing to a Vec cannot fail.
            let _ = write!(self.bytes, "\x1b]8;;{}\x07", to.as_deref().unwrap_or_default());
            self.leads_to = to;
        }
    }

    /// Whether a row leads where it did.
    fn leads_alike(&self, y: u16) -> bool {
        let of_row = |links: &'_ [Hyperlink]| links.iter().filter(|link| link.y == y).cloned().collect::<Vec<_>>();
        self.links.is_empty() && self.shown_links.is_empty() || of_row(&self.links) == of_row(&self.shown_links)
    }

    /// The link that a cell is a part of.
    fn link_at(&self, x: u16, y: u16) -> Option<Arc<str>> {
        let link = self.links.iter().find(|link| link.y == y && link.columns.contains(&x))?;
        Some(Arc::clone(&link.address))
    }

    /// `old` is `None` where the terminal's content is unknown.
    fn row_cells(&mut self, y: u16, new: &[Cell], old: Option<&[Cell]>) {
        let width = new.len() as u16;
        let end = written_end(new);
        let has_strips = old.is_none() && self.images.has_strips(new);
        let (mut x, mut old_x) = (0, 0);
        // Up to where a terminal may have written over what was there.
        let mut spoilt = 0;
        while x < end {
            let glyph = glyph_at(new, x);
            let same = match old {
                None => has_strips && new.get(usize::from(x)).is_some_and(is_piece),
                Some(old) => {
                    while old_x < x {
                        old_x += glyph_at(old, old_x).cells;
                    }
                    old_x == x && same_cell(new, old, x)
                }
            };
            if !same || x < spoilt {
                self.put(y, x, glyph, new);
                if glyph.width == Width::Cluster {
                    spoilt = spoilt.max(x + reach(glyph));
                }
            }
            x += glyph.cells;
        }
        self.lead(None);
        let old_end = old.map_or(width, written_end);
        if end >= old_end && (spoilt <= end || end >= width) {
            return;
        }
        self.go(end, y);
        self.pen_for_blank(Pen::default());
        if old.is_some() && end < old_end && old_end - end <= SHORT_GAP && spoilt <= end {
            let blanks = old_end - end;
            self.bytes.extend(std::iter::repeat_n(b' ', blanks.into()));
            self.advance(end + blanks, width, Width::Sure);
        } else {
            self.bytes.extend_from_slice(b"\x1b[K");
        }
    }

    fn put(&mut self, y: u16, x: u16, glyph: Glyph<'_>, row: &[Cell]) {
        let width = row.len() as u16;
        let Some(cell) = row.get(usize::from(x)) else { return };
        match self.cursor {
            Cursor { row: Some(r), col: Col::Perhaps(c) } if r == y && c == x && glyph.width == Width::Symbol => {}
            Cursor { row: Some(r), col: Col::Known(c) } if r == y && c < x && x - c <= SHORT_GAP => {
                self.fill_gap(row, c, x, y);
            }
            // Blanks after a new line are fewer bytes than a place.
            Cursor { row: Some(r), .. } if r + 1 == y && 0 < x && x <= SHORT_GAP && self.is_gap(row, 0, x, y) => {
                self.go(0, y);
                self.fill_gap(row, 0, x, y);
            }
            _ => self.go(x, y),
        }
        let pen = Pen::of(cell);
        if glyph.text == " " {
            self.pen_for_blank(pen);
        } else {
            self.pen.change(pen, &mut self.bytes);
        }
        if glyph.width == Width::Cluster && glyph.cells > 1 {
            // A terminal that draws it narrower would leave the cells beside it as they were.
            self.bytes.extend(std::iter::repeat_n(b' ', glyph.cells.into()));
            self.advance(x + glyph.cells, width, Width::Sure);
            self.go(x, y);
        }
        self.lead(self.link_at(x, y));
        self.bytes.extend_from_slice(glyph.text.as_bytes());
        self.advance(x + glyph.cells, width, glyph.width);
    }

    /// Writes unchanged cells again if that is no longer than jumping over them.
    fn fill_gap(&mut self, row: &[Cell], from: u16, to: u16, y: u16) {
        if self.is_gap(row, from, to, y) {
            for x in from..to {
                if let Some(cell) = row.get(usize::from(x)) {
                    self.bytes.extend_from_slice(glyph_of(cell).text.as_bytes());
                }
            }
            self.cursor.col = Col::Known(to);
        } else {
            self.go(to, y);
        }
    }

    /// Whether these cells can be written as they are: a byte each, by the pen there is, and leading nowhere.
    fn is_gap(&self, row: &[Cell], from: u16, to: u16, y: u16) -> bool {
        let plain = |x: u16| {
            row.get(usize::from(x)).is_some_and(|cell| {
                let glyph = glyph_of(cell);
                let pen = Pen::of(cell);
                let pen_fits = if glyph.text == " " { pen.same_blank(self.pen) } else { pen == self.pen };
                glyph.text.len() == 1 && pen_fits && !is_piece(cell)
            })
        };
        // A cell covered by a wide character before it is blank in the buffer; writing it would cut that in two.
        let mut start = 0;
        while start < from {
            start += glyph_at(row, start).cells;
        }
        let leads = |link: &Hyperlink| link.y == y && link.columns.start < to && from < link.columns.end;
        start == from && self.leads_to.is_none() && (from..to).all(plain) && !self.links.iter().any(leads)
    }

    fn pen_for_blank(&mut self, pen: Pen) {
        if !self.pen.same_blank(pen) {
            self.pen.change(pen, &mut self.bytes);
        }
    }

    /// The cursor has moved right by writing. At the right edge terminals differ in where it stays.
    fn advance(&mut self, to: u16, row_width: u16, sure: Width) {
        self.cursor.col = match sure {
            _ if to >= row_width => Col::Unknown,
            Width::Sure => Col::Known(to),
            Width::Symbol => Col::Perhaps(to),
            Width::Cluster => Col::Unknown,
        };
    }

    fn go(&mut self, x: u16, y: u16) {
        let from = std::mem::replace(&mut self.cursor, Cursor { row: Some(y), col: Col::Known(x) });
        if from == self.cursor {
            return;
        }
        if self.places == Places::Cursor && from.row.is_some_and(|row| row < y) {
            // A line feed may make a row, which is filled by the pen.
            self.pen.change(Pen::default(), &mut self.bytes);
        }
        let out = &mut self.bytes;
        let (row, col) = (y.saturating_add(1), x.saturating_add(1));
        // Writing to a Vec cannot fail.
        let _ = match (from.row, from.col) {
            (Some(r), _) if r == y && x == 0 => out.write_all(b"\r"),
            (Some(r), Col::Known(c)) if r == y && c == x + 1 => out.write_all(b"\x08"),
            (Some(r), Col::Known(c)) if r == y && c + 1 == x => out.write_all(b"\x1b[C"),
            (Some(r), Col::Known(c)) if r == y && c < x && x - c < 10 => write!(out, "\x1b[{}C", x - c),
            (Some(r), _) if r == y => write!(out, "\x1b[{col}G"),
            (Some(r), Col::Known(c)) if r + 1 == y && c == x => out.write_all(b"\n"),
            (Some(r), _) if r + 1 == y && x == 0 => out.write_all(b"\r\n"),
            (Some(r), _) if self.places == Places::Cursor => {
                // Line feeds go as far down as the way up is, also where rows are gone that were there.
                let way: &[u8] = if r > y { b"\x1b[A" } else { b"\n" };
                (0..r.abs_diff(y)).for_each(|_| out.extend_from_slice(way));
                if x == 0 { out.write_all(b"\r") } else { write!(out, "\x1b[{col}G") }
            }
            (None, _) if self.places == Places::Cursor => out.write_all(b"\r"),
            _ if x == 0 && y == 0 => out.write_all(b"\x1b[H"),
            _ if x == 0 => write!(out, "\x1b[{row}H"),
            _ => write!(out, "\x1b[{row};{col}H"),
        };
    }

    fn place_cursor(&mut self, at: Option<(u16, u16)>) {
        let area = self.next.area;
        if let Some((x, y)) = at {
            self.go(x.min(area.width.saturating_sub(1)), y.min(area.height.saturating_sub(1)));
        }
        if self.visible != Some(at.is_some()) {
            self.visible = Some(at.is_some());
            self.bytes.extend_from_slice(if at.is_some() { b"\x1b[?25h" } else { b"\x1b[?25l" });
        }
    }
}

/// The column behind the last cell that differs from an erased one.
fn written_end(row: &[Cell]) -> u16 {
    let width = row.len() as u16;
    let (mut x, mut end) = (0, 0);
    while x < width {
        let glyph = glyph_at(row, x);
        let is_blank = |cell: &Cell| Pen::of(cell).is_erased_blank() && !is_piece(cell);
        let blank = glyph.text == " " && row.get(usize::from(x)).is_some_and(is_blank);
        x += glyph.cells;
        if !blank {
            end = x;
        }
    }
    end
}

fn same_cell(new: &[Cell], old: &[Cell], x: u16) -> bool {
    let (Some(a), Some(b)) = (new.get(usize::from(x)), old.get(usize::from(x))) else { return false };
    if a == b {
        // A wide character that no longer fits is drawn as a blank; both rows have the same width, so both are.
        return true;
    }
    let (ga, gb) = (glyph_at(new, x), glyph_at(old, x));
    let (pa, pb) = (Pen::of(a), Pen::of(b));
    ga.text == gb.text && if ga.text == " " { pa.same_blank(pb) } else { pa == pb }
}

/// How far a terminal may draw that does not know that these characters belong together, and the next glyph.
fn reach(glyph: Glyph<'_>) -> u16 {
    u16::try_from(width::apart(glyph.text)).unwrap_or(u16::MAX).clamp(glyph.cells + 1, MAX_REACH.max(glyph.cells + 1))
}

fn glyph_at(row: &[Cell], x: u16) -> Glyph<'_> {
    const BLANK: Glyph<'static> = Glyph { text: " ", cells: 1, width: Width::Sure };
    let glyph = row.get(usize::from(x)).map_or(BLANK, glyph_of);
    if usize::from(x) + usize::from(glyph.cells) > row.len() { BLANK } else { glyph }
}

/// What is written for a cell. The last guard before the terminal: controls become a replacement character.
fn glyph_of(cell: &Cell) -> Glyph<'_> {
    let text = cell.symbol();
    if let [b' '..=b'~'] = text.as_bytes() {
        return Glyph { text, cells: 1, width: Width::Sure };
    }
    if is_piece(cell) {
        // What is drawn there is no text.
        return Glyph { text: " ", cells: 1, width: Width::Sure };
    }
    if text.chars().any(|c| c.is_control() || is_deceptive(c)) {
        return Glyph { text: "\u{fffd}", cells: 1, width: Width::Symbol };
    }
    let cells = u16::try_from(width::grapheme(text)).unwrap_or(u16::MAX);
    if cells == 0 {
        return Glyph { text: " ", cells: 1, width: Width::Sure };
    }
    let mut chars = text.chars();
    let width = match (chars.next(), chars.next()) {
        (Some(c), None) if c.is_ascii() || c.is_alphanumeric() => Width::Sure,
        (Some(_), None) if cells == 1 => Width::Symbol,
        _ => Width::Cluster,
    };
    Glyph { text, cells, width }
}

#[cfg(test)]
#[path = "surface_tests.rs"]
mod tests;
