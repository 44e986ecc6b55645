//! What stands at the end of the terminal's own screen: what is not printed yet, what is asked, the composer, the status.
//!
//! Prints nothing. Regions are those of the screen, but for the rule, which stands below the composer: with nothing else
//! there, the cursor has a blank row above it alone. Invariant: what covers the conversation is not drawn here, but on the
//! alternate screen (see [`needs_screen`]).

use super::{ViewCx, asked, chrome, composer, is_tiny, motion, paint, sessions, split_bottom, status, tiny};
use crate::text::run::StyledText;
use crate::text::token::Token;
use crate::text::width;
use crate::ui::msg::FrameInfo;
use crate::ui::state::scroll::{Scroll, SeenEnd};
use crate::ui::status_line::Busy;
use crate::ui::transcript::Transcript;
use crate::ui::transcript::print::{Mark, Page, line};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;

/// What is not printed yet has at most such a part of the screen: wrapped anew for a terminal of half the width, all that
/// is drawn again is still on it, and can be erased.
const TAIL: u16 = 4;
/// And so many rows in any case.
const LEAST_TAIL: u16 = 3;
/// Rows of the screen that the rule, the line of sessions and the row above the composer are left out below.
const ROOMY: u16 = 8;

/// Whether something is shown that takes the whole screen.
pub fn needs_screen(cx: &ViewCx<'_>) -> bool {
    let state = cx.state;
    !state.is_inline
        || state.help.is_some()
        || state.list.is_some()
        || state.picker.is_some()
        || state.inspector.is_some()
        || state.view.review_here().is_some()
        || state.view.reading.is_some()
        || state.view.scroll != Scroll::Follow
        || super::typed_log_in(cx).is_some()
}

/// The most rows that what is not printed yet has.
pub fn tail_rows(height: u16) -> u16 {
    (height / TAIL).max(LEAST_TAIL)
}

/// Draws into the last rows of a buffer of the terminal's size; returns the first of them.
pub fn draw(cx: &ViewCx<'_>, transcript: &mut Transcript, mark: &Mark, buf: &mut Buffer) -> (FrameInfo, u16) {
    let area = buf.area;
    let shell = super::waiting::seen_of_shell(area);
    let mut info = FrameInfo { scroll: cx.state.view.scroll, shell, ..FrameInfo::default() };
    info.seen_end = Some(SeenEnd::now(cx.session.entries()));
    // What a page is when the person scrolls, which shows the whole screen.
    info.transcript = Rect { height: area.height.saturating_sub(4), ..area };
    if area.width < super::MIN.0 || area.height < super::MIN.1 {
        let words = width::truncate("too small for acp-tui", usize::from(area.width));
        let last = area.height.saturating_sub(1);
        paint::put(buf, area.x, last, area.width, &StyledText::of(words, Token::Dim), cx.theme);
        return (info, last);
    }
    let status = status(cx, area, None);
    let is_busy = status.busy == Busy::Yes;
    let mut rest = chrome::status(cx, &status, area, buf);
    if is_tiny(area) {
        tiny(cx, transcript, rest, &mut info, buf);
        info.motion = motion(cx, is_busy);
        return (info, first_row(buf));
    }
    if area.height >= ROOMY {
        let (above, rule) = split_bottom(rest, 1);
        chrome::rule(cx, rule, &chrome::Below::default(), buf);
        rest = above;
        if cx.state.has_several() {
            let (above, row) = split_bottom(rest, 1);
            // It draws the first of two rows.
            let _ = sessions::line(cx, Rect { height: 2, ..row }, &mut info, buf);
            rest = above;
        }
    }
    rest = composer(cx, rest, (area.height / 3).max(1), &mut info, buf);
    rest = asked(cx, transcript, rest, 0, &mut info, buf);
    if area.height >= ROOMY {
        rest = split_bottom(rest, 1).0;
    }
    let room = rest.height.min(tail_rows(area.height));
    let (_, at) = split_bottom(rest, room);
    let (rows, viewport) = transcript.draw_tail(&cx.draw_ctx(), at, mark, buf);
    info.links = viewport.links;
    info.motion = motion(cx, is_busy || viewport.animated);
    (info, rest.bottom() - rows)
}

/// What stands above the first row that is printed of a conversation: which it is, and a blank row.
pub fn heading(cx: &ViewCx<'_>, width: u16) -> Page {
    let mut buf = Buffer::empty(Rect::new(0, 0, width, 2));
    chrome::header(cx, Rect::new(0, 0, width, 1), &mut buf);
    Page { buf, ..Page::default() }
}

/// That there is more, which is not printed.
pub fn left_out(cx: &ViewCx<'_>, width: u16) -> Page {
    let words = "⋯ what was said before is in the full screen, and in `acp-tui export`";
    let mut page = line(&cx.draw_ctx(), width, StyledText::of(words, Token::Dim));
    page.append(Page { buf: Buffer::empty(Rect::new(0, 0, width, 1)), ..Page::default() });
    page
}

/// The first row that has something in it.
fn first_row(buf: &Buffer) -> u16 {
    let blank = Cell::default();
    let cells = buf.content.iter().position(|cell| *cell != blank).unwrap_or_default();
    u16::try_from(cells / usize::from(buf.area.width).max(1)).unwrap_or_default()
}
