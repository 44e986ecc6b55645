//! `Region`: the last rows of the terminal's own screen, and what is printed above them for good.
//!
//! Knows no entry. Rows get above by being written over the region's first ones, line feeds make room below: that is what
//! every terminal and multiplexer keeps in its scrollback. Nothing is placed absolutely. Between frames the cursor stands
//! in the region's first row, or has blank rows above it alone: a terminal that wraps its rows anew for another width keeps
//! the cursor with its words, so what is below it can be erased without knowing how the rows were wrapped. Where it could
//! not stand so, it is hidden, and a cell shows its place. Invariants: what was printed is never written again, and nothing
//! is below the region.

use super::{BEGIN, Col, Content, Cursor, END, Hyperlink, Places, Surface, written_end};
use crate::ui::tty::ascii::Letters;
use crate::ui::tty::pen::Pen;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use std::io::{self, Write};

/// From the cursor's row on. Not in one step from the first column: where that is the first of the screen, tmux puts what
/// is erased into its scrollback.
pub const ERASE: &[u8] = b"\r\x1b[2K\x1b[C\x1b[J\r";

/// Painted rows, and where they lead.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    pub buf: Buffer,
    pub links: Vec<Hyperlink>,
}

impl Sheet {
    /// The rows from `top` on.
    #[must_use]
    pub fn below(buf: &Buffer, top: u16, links: impl IntoIterator<Item = Hyperlink>) -> Self {
        let top = top.min(buf.area.height);
        let area = Rect::new(0, 0, buf.area.width, buf.area.height - top);
        let cells = usize::from(top) * usize::from(buf.area.width);
        let content = buf.content.get(cells..).unwrap_or_default().to_vec();
        let links = links.into_iter().filter_map(|link| Some(Hyperlink { y: link.y.checked_sub(top)?, ..link }));
        Self { buf: Buffer { area, content }, links: links.collect() }
    }
}

#[derive(Debug)]
pub struct Region<W> {
    surface: Surface<W>,
    /// Of the terminal when it was drawn last.
    size: (u16, u16),
}

impl<W: Write> Region<W> {
    pub fn new(out: W) -> Self {
        let mut surface = Surface::new(out, 0, 0);
        surface.places = Places::Cursor;
        Self { surface, size: (0, 0) }
    }

    pub fn set_letters(&mut self, letters: Letters) {
        self.surface.set_letters(letters);
    }

    /// How many bytes the next frame may have, about, and what came of it, as of a [`Surface`]; what is printed is printed.
    pub fn allow(&mut self, most: Option<usize>) {
        self.surface.allow(most);
    }

    pub fn is_cut(&self) -> bool {
        self.surface.is_cut()
    }

    pub fn written(&self) -> u64 {
        self.surface.written()
    }

    /// The next frame erases the region and draws it anew where it is.
    pub fn redraw(&mut self) {
        self.surface.content = Content::Unknown;
        self.surface.visible = None;
    }

    /// The region is gone: the next one begins in the row of the cursor.
    pub fn forget(&mut self) {
        self.surface.invalidate();
    }

    /// Prints `printed` above the region, and has the region show `live`, which is as wide and not higher than the terminal.
    /// Returns whether anything was written. An error means that the terminal is gone.
    pub fn draw(
        &mut self,
        size: (u16, u16),
        printed: Sheet,
        live: Sheet,
        cursor: Option<(u16, u16)>,
    ) -> io::Result<bool> {
        if self.size != size {
            self.size = size;
            self.redraw();
        }
        let (mut printed, mut live) = (printed, live);
        let surface = &mut self.surface;
        for sheet in [&mut printed, &mut live] {
            sheet.links.retain(Hyperlink::is_clean);
            surface.letters.reduce(&mut sheet.buf);
        }
        if live.buf.area.is_empty() {
            return Ok(false);
        }
        surface.bytes.clear();
        surface.bytes.extend_from_slice(BEGIN);
        if surface.content == Content::Unknown {
            self.begin(size.0);
        }
        let stands = cursor.filter(|(_, y)| (0..*y).all(|y| end_of(&live.buf, y) == 0));
        if stands.is_none()
            && let Some(cell) = cursor.and_then(|at| live.buf.cell_mut(at))
        {
            cell.modifier ^= Modifier::REVERSED;
        }
        let moves = printed.buf.area.height > 0 || live.buf.area.height != self.surface.shown.area.height;
        if moves {
            // What is left as it is would stand in the wrong place.
            self.surface.most = None;
        }
        self.print(printed);
        self.make_rows(live.buf.area.height);
        let surface = &mut self.surface;
        (surface.next, surface.links) = (live.buf, live.links);
        surface.rows(cursor.map(|(_, y)| y), Self::row);
        let (x, y) = stands.unwrap_or_default();
        surface.go(x.min(size.0.saturating_sub(1)), y);
        if surface.visible != Some(stands.is_some()) {
            surface.visible = Some(stands.is_some());
            surface.bytes.extend_from_slice(if stands.is_some() { b"\x1b[?25h" } else { b"\x1b[?25l" });
        }
        if surface.bytes.len() == BEGIN.len() {
            return Ok(false);
        }
        surface.bytes.extend_from_slice(END);
        self.write()?;
        let surface = &mut self.surface;
        surface.content = Content::Known;
        std::mem::swap(&mut surface.shown, &mut surface.next);
        std::mem::swap(&mut surface.shown_links, &mut surface.links);
        Ok(true)
    }

    /// Takes the region off the terminal: the cursor stands below what was printed.
    pub fn erase(&mut self) -> io::Result<()> {
        self.surface.bytes.clear();
        self.surface.bytes.extend_from_slice(BEGIN);
        self.begin(self.size.0);
        self.surface.bytes.extend_from_slice(END);
        let written = self.write();
        self.forget();
        written
    }

    fn write(&mut self) -> io::Result<()> {
        let surface = &mut self.surface;
        surface.written += surface.bytes.len() as u64;
        let written = surface.out.write_all(&surface.bytes).and_then(|()| surface.out.flush());
        // A storm of rows must not pin its largest buffer.
        if surface.bytes.capacity() > 1 << 20 {
            surface.bytes = Vec::new();
        }
        written.inspect_err(|_| self.forget())
    }

    /// One blank row, with the cursor at its start.
    fn begin(&mut self, width: u16) {
        let surface = &mut self.surface;
        // Half of it would be blank.
        surface.most = None;
        surface.pen = Pen::default();
        surface.bytes.extend_from_slice(b"\x1b[m");
        if let Some(rows) = surface.cursor.row.filter(|rows| *rows > 0) {
            // Writing to a Vec cannot fail.
            let _ = write!(surface.bytes, "\x1b[{rows}A");
        }
        surface.bytes.extend_from_slice(ERASE);
        surface.cursor = Cursor { row: Some(0), col: Col::Known(0) };
        surface.shown = Buffer::empty(Rect::new(0, 0, width, 1));
        surface.shown_links.clear();
        surface.content = Content::Known;
        surface.visible = None;
    }

    /// The region begins below these rows then; what it showed stands in its first rows, as far as there were more.
    fn print(&mut self, sheet: Sheet) {
        let rows = sheet.buf.area.height;
        if sheet.buf.area.is_empty() || rows == 0 {
            return;
        }
        let surface = &mut self.surface;
        let width = usize::from(sheet.buf.area.width);
        surface.links = sheet.links;
        // A terminal that has become narrower meanwhile wraps what is printed; cut would be lost.
        surface.bytes.extend_from_slice(b"\x1b[?7h");
        for (y, row) in (0..rows).zip(sheet.buf.content.chunks(width)) {
            surface.go(0, y);
            surface.pen_for_blank(Pen::default());
            if y < surface.shown.area.height && end_of(&surface.shown, y) > 0 {
                surface.bytes.extend_from_slice(b"\x1b[2K");
            }
            surface.row_cells(y, row, None);
            surface.pen_for_blank(Pen::default());
            surface.bytes.extend_from_slice(b"\r\n");
            surface.cursor = Cursor { row: Some(y + 1), col: Col::Known(0) };
        }
        surface.bytes.extend_from_slice(b"\x1b[?7l");
        surface.cursor.row = Some(0);
        surface.shown = Sheet::below(&surface.shown, rows, []).buf;
        surface.shown_links.retain_mut(|link| {
            let above = link.y < rows;
            link.y = link.y.saturating_sub(rows);
            !above
        });
        if surface.shown.area.height == 0 {
            surface.shown = Buffer::empty(Rect::new(0, 0, sheet.buf.area.width, 1));
        }
    }

    /// Gives the region this height.
    fn make_rows(&mut self, height: u16) {
        let surface = &mut self.surface;
        let area = surface.shown.area;
        if height > area.height {
            surface.go(0, area.height.saturating_sub(1));
            surface.pen_for_blank(Pen::default());
            for _ in area.height..height {
                surface.bytes.extend_from_slice(b"\r\n");
            }
            surface.cursor = Cursor { row: Some(height - 1), col: Col::Known(0) };
        } else if height < area.height {
            surface.go(0, height);
            surface.pen_for_blank(Pen::default());
            surface.bytes.extend_from_slice(ERASE);
        }
        surface.shown.resize(Rect { height, ..area });
    }

    fn row(surface: &mut Surface<W>, y: u16) {
        let (next, shown) = (std::mem::take(&mut surface.next), std::mem::take(&mut surface.shown));
        let width = usize::from(next.area.width);
        let span = usize::from(y) * width..(usize::from(y) + 1) * width;
        if let (Some(new), Some(old)) = (next.content.get(span.clone()), shown.content.get(span)) {
            let leads_alike = surface.leads_alike(y);
            if written_end(new) < written_end(old) {
                // Whole, so that a terminal that wraps rows anew keeps nothing of the longer one.
                surface.go(0, y);
                surface.pen_for_blank(Pen::default());
                surface.bytes.extend_from_slice(b"\x1b[2K");
                surface.row_cells(y, new, None);
            } else if !leads_alike {
                surface.row_cells(y, new, None);
            } else if new != old {
                surface.row_cells(y, new, Some(old));
            }
        }
        surface.next = next;
        surface.shown = shown;
    }
}

/// The column behind the last cell of a row that differs from an erased one.
fn end_of(buf: &Buffer, y: u16) -> u16 {
    let width = usize::from(buf.area.width);
    let row = buf.content.get(usize::from(y) * width..(usize::from(y) + 1) * width);
    row.map_or(0, written_end)
}
