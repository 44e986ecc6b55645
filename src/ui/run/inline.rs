//! The conversation in the terminal's own scrollback: what is printed is printed once, the rest is drawn below it.
//!
//! What is printed of which session is remembered for as long as the session is open, on whichever screen it is shown.
//! Invariant: a frame prints a bounded number of rows; with more to print the next frame follows at once.

use super::Running;
use super::context::view_cx;
use crate::model::ids::SessionKey;
use crate::ui::screen::{Below, Device};
use crate::ui::transcript::print::{Mark, Page, Which};
use crate::ui::tty::{Hyperlink, Sheet};
use crate::ui::view::ViewCx;
use crate::ui::view::inline;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::BTreeMap;
use std::io;

/// Rows that one frame prints.
const ROWS: u16 = 256;
/// Rows that are drawn anew below what is printed, about, and the least that are printed for it over a slow link.
const REDRAWN: usize = 10;
const LEAST: usize = 2;
/// Rows at the end of a conversation that are printed of what was there before.
const EARLIER: u32 = 1000;

/// Where the conversation is shown and what is left of it in the terminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Conversation {
    /// In the terminal's own scrollback, as long as nothing needs the whole screen.
    pub is_inline: bool,
    /// When the full screen is left, its end is printed.
    pub is_printed_at_end: bool,
}

/// What has been printed.
#[derive(Default)]
pub(super) struct Printed {
    marks: BTreeMap<SessionKey, Mark>,
    /// The session that the last row is of.
    last: Option<SessionKey>,
    /// There is more to print at once.
    pub(super) has_more: bool,
}

impl Printed {
    /// The next rows of the session that is shown.
    fn next(
        &mut self,
        cx: &ViewCx<'_>,
        transcript: &mut super::Transcript,
        width: u16,
        most: u16,
        which: Which,
    ) -> Page {
        let (key, draw) = (cx.session.key(), cx.draw_ctx());
        let mark = self.marks.entry(key).or_default();
        let is_cut = mark.is_new() && transcript.skip_to_last(&draw, width, EARLIER, mark);
        let rows = transcript.print(&draw, width, most, mark, which);
        if rows.rows() == 0 || self.last == Some(key) {
            return rows;
        }
        self.last = Some(key);
        let mut page = inline::heading(cx, width);
        if is_cut {
            page.append(inline::left_out(cx, width));
        }
        let has_more = rows.has_more;
        page.append(rows);
        Page { has_more, ..page }
    }
}

/// How many rows can be printed with so many bytes, and those below drawn anew.
fn rows_of(bytes: usize, width: u16) -> u16 {
    let rows = (bytes / usize::from(width.max(1))).saturating_sub(REDRAWN).max(LEAST);
    u16::try_from(rows).unwrap_or(ROWS).min(ROWS)
}

fn sheet(page: Page) -> Sheet {
    let links = page.links.into_iter().map(|(y, columns, address)| Hyperlink { y, columns, address });
    Sheet { links: links.collect(), buf: page.buf }
}

/// Draws the frame at the end of the terminal's own screen.
pub(super) fn draw<D: Device>(running: &mut Running<D>) -> io::Result<()> {
    let now = running.engine.now();
    let Running { screen, engine, app, transcript, info, options, printed, frames, most, .. } = running;
    let (presses, most) = (frames.presses(), *most);
    printed.marks.retain(|key, _| app.has_view(*key));
    let Some(cx) = view_cx(engine, app, options, now) else { return Ok(()) };
    screen.draw_below(|(width, height)| {
        let seen = u32::from(inline::tail_rows(height));
        // What the person did does not wait for what is printed.
        let page = match most.map_or(ROWS, |bytes| if presses { 0 } else { rows_of(bytes, width) }) {
            0 => Page { has_more: true, ..Page::default() },
            rows => printed.next(&cx, transcript, width, rows, Which::Settled { seen }),
        };
        printed.has_more = page.has_more;
        let mark = printed.marks.entry(cx.session.key()).or_default();
        let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
        let (frame, top) = inline::draw(&cx, transcript, mark, &mut buf);
        *info = frame;
        let link = |(y, columns, address)| Hyperlink { y, columns, address };
        let live = Sheet::below(&buf, top, info.links.drain(..).map(link));
        let cursor = info.cursor.and_then(|at| Some((at.x, at.y.checked_sub(top)?)));
        Below { printed: sheet(page), live, cursor }
    })
}

/// The terminal is given back: what was not printed is, as it is now, and nothing stands below it.
pub(super) fn leave<D: Device>(running: &mut Running<D>) -> io::Result<()> {
    if !running.app.is_inline && !running.options.conversation.is_printed_at_end {
        return Ok(());
    }
    let now = running.engine.now();
    let Running { screen, engine, app, transcript, options, printed, .. } = running;
    let Some(cx) = view_cx(engine, app, options, now) else { return Ok(()) };
    let mut has_more = true;
    while has_more {
        screen.draw_below(|(width, _)| {
            let page = printed.next(&cx, transcript, width, ROWS, Which::All);
            has_more = page.has_more;
            let live = Sheet { buf: Buffer::empty(Rect::new(0, 0, width, 1)), ..Sheet::default() };
            Below { printed: sheet(page), live, cursor: None }
        })?;
    }
    screen.erase_below()
}
