//! Rows for a terminal's scrollback: each once, in order, and not before it is known to stay as it is.
//!
//! Prints nothing itself; how far a conversation has been printed is a [`Mark`] that goes in and comes back. What is not
//! finished holds the mark, except where so much follows it that it would not be seen any more: it is passed over with a
//! line that says so, and printed when it is finished, between two entries and before what tells of it. A call that outlives
//! its turn is printed as it is, and so is one that was refused. Invariants: rows are those of the full screen; no finished
//! entry is printed twice or left out, and none within another one.

use super::reading::Shown;
use super::walk::{Paints, Point, Walk};
use super::{DrawCtx, Spot, Transcript, Viewport, paint};
use crate::model::entry::{Body, Entry, Level};
use crate::model::history::Kind;
use crate::model::ids::EntryId;
use crate::text::line::{LogicalLine, WrapMode};
use crate::text::run::StyledText;
use crate::text::token::Token;
use crate::text::wrap::wrap_lines;
use crate::theme::color::Depth;
use crate::ui::cells::{self, CellCtx};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// So many of the entries that were passed over wait; a further one holds the mark.
const MAX_LATE: usize = 64;
/// How long the lines at which a change stands in its file are waited for after its call: the review finds them.
const PLACED: Duration = Duration::from_secs(1);

/// How far a conversation has been printed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Mark {
    /// The first entry of which not all is printed; the last one where all is.
    entry: EntryId,
    /// Byte of its text where the first piece begins that is not, and how many rows of that are.
    piece: u32,
    row: u32,
    /// Entries before it that were passed over.
    late: Vec<EntryId>,
    /// What was written and is printed already, in the row of its call, with notices between them.
    shown: Option<EntryId>,
    /// All of the entry was printed as it was then; what comes for it afterwards is still to be printed.
    whole_at: Option<u64>,
}

impl Mark {
    /// Whether nothing has been printed.
    pub fn is_new(&self) -> bool {
        *self == Self::default()
    }
}

/// What is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// What stays as it is. Of what does not, so many rows at the end can be seen.
    Settled { seen: u32 },
    /// All there is, as it is now.
    All,
}

/// Rows that follow one another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    pub buf: Buffer,
    pub links: Vec<(u16, Range<u16>, Arc<str>)>,
    /// There is more to print at once.
    pub has_more: bool,
}

impl Page {
    fn of(width: u16) -> Self {
        Self { buf: Buffer::empty(Rect::new(0, 0, width, 0)), ..Self::default() }
    }

    pub fn rows(&self) -> u16 {
        self.buf.area.height
    }

    /// Rows of another one below.
    pub fn append(&mut self, other: Self) {
        let above = self.rows();
        self.buf.content.extend(other.buf.content);
        self.buf.area.height += other.buf.area.height;
        self.links.extend(other.links.into_iter().map(|(y, columns, to)| (y + above, columns, to)));
    }
}

impl Transcript {
    /// At most `most` rows that are to be printed next; moves the mark behind them.
    pub fn print(&mut self, cx: &DrawCtx<'_>, width: u16, most: u16, mark: &mut Mark, which: Which) -> Page {
        self.cache.begin(cx, width);
        self.plain = None;
        let mut page = Page::of(width);
        if width == 0 {
            return page;
        }
        while !page.has_more {
            self.put_off_next(cx, mark, which);
            if !self.is_within(cx, mark) {
                self.print_late(cx, most, mark, which, &mut page);
            }
            if page.has_more {
                break;
            }
            let Some(from) = start(cx, mark) else { break };
            let mut walk = Walk::from(cx, &mut self.cache, from);
            let Some((point, index)) = first(&mut walk, mark, which) else { break };
            if which != Which::All && tells_of_late(&mut walk, point, mark) {
                if !put_off(&mut walk, point, mark) {
                    break;
                }
            } else if which == Which::All || is_settled(&mut walk, point, which) {
                if page.rows() >= most {
                    page.has_more = true;
                    break;
                }
                let room = most - page.rows();
                if !self.print_piece(cx, (from, point), room, mark, which, &mut page) {
                    break;
                }
            } else if !pass_over(&mut walk, point, index, which, mark, &mut page) {
                break;
            }
        }
        self.cache.finish();
        page
    }

    /// Whether the mark stands in the middle of an entry of which more follows: nothing else is printed there.
    fn is_within(&mut self, cx: &DrawCtx<'_>, mark: &Mark) -> bool {
        if mark.piece == 0 && mark.row == 0 {
            return false;
        }
        let Some(from) = start(cx, mark) else { return false };
        let mut walk = Walk::from(cx, &mut self.cache, from);
        // What the walk steps to from here is of the same entry, or all of that is printed.
        first(&mut walk, &mut mark.clone(), Which::All).is_some_and(|(_, index)| index == from)
    }

    /// What comes next and tells of one that was passed over waits with it.
    fn put_off_next(&mut self, cx: &DrawCtx<'_>, mark: &mut Mark, which: Which) {
        while which != Which::All
            && let Some(from) = start(cx, mark)
        {
            let mut walk = Walk::from(cx, &mut self.cache, from);
            let Some((point, _)) = first(&mut walk, mark, which) else { break };
            if !tells_of_late(&mut walk, point, mark) || !put_off(&mut walk, point, mark) {
                break;
            }
        }
    }

    /// Those that were passed over and are finished now. What shares the row of another one does so here, too, where it was
    /// passed over as well.
    fn print_late(&mut self, cx: &DrawCtx<'_>, most: u16, mark: &mut Mark, which: Which, page: &mut Page) {
        let waiting = std::mem::take(&mut mark.late);
        let mut rest = &*waiting;
        while let Some((id, behind)) = rest.split_first() {
            rest = behind;
            let Some(index) = cx.session.entries().index_of(*id) else { continue };
            let point = Point { entry: index, piece: 0, row: 0 };
            let mut walk = Walk::apart(cx, &mut self.cache);
            let kept = mark.late.last().copied();
            let waits = walk.entry(index).is_some_and(|entry| tells_of(&entry, kept, cx));
            if which != Which::All && (waits || !is_settled(&mut walk, point, which)) {
                mark.late.push(*id);
                continue;
            }
            if page.rows() >= most {
                page.has_more = true;
                mark.late.push(*id);
                continue;
            }
            let mut walk = Walk::from(cx, &mut self.cache, index);
            let is_shown = mark.shown == Some(*id);
            if is_shown || walk.entry(index).is_some_and(|entry| walk.pieces(index, &entry) == 0) {
                // It is shown in the row of its call.
                continue;
            }
            let with = walk.with(index);
            let is_late = |(entry, late): (&Shown<'_>, &EntryId)| entry.id == *late && is_done(entry, cx);
            let are_late = with.len() <= behind.len() && with.iter().zip(behind).all(is_late);
            // What shares its row is the newest yet: that goes along once something stands below it.
            let is_next = with.first().is_some_and(|next| next.id == mark.entry && mark.piece == 0 && mark.row == 0);
            if !are_late && is_next && which != Which::All && cx.session.turn.is_some() {
                mark.late.push(*id);
                continue;
            }
            let mut walk = if are_late {
                rest = behind.get(with.len()..).unwrap_or_default();
                Walk::from(cx, &mut self.cache, index)
            } else {
                Walk::apart(cx, &mut self.cache)
            };
            mark.shown = walk.written_below(index).map(|written| written.id).or(mark.shown);
            let pieces = walk.entry(index).map_or(0, |entry| walk.pieces(index, &entry));
            for piece in 0..pieces {
                let point = Point { piece, ..point };
                let rows = walk.rows(point);
                let room = u16::try_from(rows).unwrap_or(u16::MAX).min(u16::MAX - page.rows());
                let painted = painted(&mut walk, &self.colours, point, room, page.buf.area.width).0;
                page.append(painted);
            }
        }
    }

    /// Rows of one piece, where rows begin with the entry `from`; false when its colours are awaited.
    fn print_piece(
        &mut self,
        cx: &DrawCtx<'_>,
        (from, point): (usize, Point),
        room: u16,
        mark: &mut Mark,
        which: Which,
        page: &mut Page,
    ) -> bool {
        let mut walk = Walk::from(cx, &mut self.cache, from);
        let rows = walk.rows(point);
        let left = rows.saturating_sub(point.row);
        let height = u16::try_from(left).unwrap_or(u16::MAX).min(room);
        let (painted, plain) = painted(&mut walk, &self.colours, point, height, page.buf.area.width);
        if let Some(spot) = plain.filter(|_| which != Which::All && cx.theme.depth() != Depth::None) {
            match self.awaited {
                // They came, and this line has none.
                Some((awaited, true)) if awaited == spot => {}
                Some((awaited, false)) if awaited == spot => {
                    self.plain = Some(spot);
                    return false;
                }
                _ => {
                    self.awaited = Some((spot, false));
                    self.plain = Some(spot);
                    return false;
                }
            }
        }
        page.append(painted);
        mark.shown = walk.written_below(point.entry).map(|written| written.id).or(mark.shown);
        let id = cx.session.entries().id_at(point.entry);
        mark.whole_at = None;
        if u32::from(height) < left {
            (mark.entry, mark.piece) = (id, walk.cache.start(id, point.piece));
            mark.row = point.row + u32::from(height);
            page.has_more = true;
            return true;
        }
        let entry = walk.entry(point.entry);
        let pieces = entry.as_ref().map_or(0, |entry| walk.pieces(point.entry, entry));
        let with = walk.with(point.entry).len();
        mark.row = 0;
        if point.piece + 1 < pieces {
            (mark.entry, mark.piece) = (id, walk.cache.start(id, point.piece + 1));
        } else if walk.slot(point.entry + 1 + with).is_some() {
            (mark.entry, mark.piece) = (EntryId(id.0 + 1 + with as u64), 0);
        } else {
            (mark.entry, mark.piece, mark.row) = (id, walk.cache.start(id, point.piece), rows.max(1));
            mark.whole_at = entry.map(|entry| entry.rev);
        }
        true
    }

    /// Moves a mark so that about the last so many rows are to be printed; false when those are all.
    pub fn skip_to_last(&mut self, cx: &DrawCtx<'_>, width: u16, rows: u32, mark: &mut Mark) -> bool {
        self.cache.begin(cx, width);
        let from = start(cx, mark).unwrap_or_default();
        let mut walk = Walk::from(cx, &mut self.cache, from);
        let here = first(&mut walk, mark, Which::All).map(|(point, _)| point);
        let skips = here.is_some_and(|here| walk.rows_from(here, rows + 1) > rows);
        let to = if skips { walk.top_of_end(rows) } else { None };
        if let Some((top, _)) = to {
            let id = cx.session.entries().id_at(top.entry);
            *mark = Mark { entry: id, piece: walk.cache.start(id, top.piece), row: top.row, ..Mark::default() };
        }
        self.cache.finish();
        to.is_some()
    }

    /// Draws what is not printed yet at the end of `area`, as much of its end as there is room for. Returns how many rows
    /// that are.
    pub fn draw_tail(&mut self, cx: &DrawCtx<'_>, area: Rect, mark: &Mark, buf: &mut Buffer) -> (u16, Viewport) {
        let area = area.intersection(*buf.area());
        self.cache.begin(cx, area.width);
        let mut viewport = Viewport::default();
        let Some(from) = start(cx, mark).filter(|_| !area.is_empty()) else { return (0, viewport) };
        let height = u32::from(area.height);
        let mut walk = Walk::from(cx, &mut self.cache, from);
        let mut mark = mark.clone();
        let Some((point, _)) = first(&mut walk, &mut mark, Which::All) else { return (0, viewport) };
        let rows = walk.rows_from(point, height + 1);
        let top = if rows > height { walk.top_of_end(height).map(|(top, _)| top) } else { Some(point) };
        let rows = rows.min(height) as u16;
        let mut y = area.bottom() - rows;
        let mut paints = Paints { viewport: &mut viewport, colours: &self.colours, plain: &mut self.plain };
        let mut at = top;
        while let Some(point) = at {
            if y >= area.bottom() {
                break;
            }
            walk.paint(point, point.entry, area, &mut y, buf, &mut paints);
            at = walk.next_piece(point);
        }
        viewport.entries_laid_out = self.cache.finish();
        (rows, viewport)
    }
}

/// Where the mark is among the entries that are kept; nothing when all is printed.
fn start(cx: &DrawCtx<'_>, mark: &Mark) -> Option<usize> {
    let entries = cx.session.entries();
    let id = EntryId(mark.entry.0.max(entries.gone()));
    entries.index_of(id)
}

/// The first row behind the mark, and the entry of it. Entries that draw nothing are passed, as far as they will not.
fn first(walk: &mut Walk<'_, '_>, mark: &mut Mark, which: Which) -> Option<(Point, usize)> {
    let cx = walk.cx;
    let mut index = start(cx, mark)?;
    loop {
        let entry = walk.entry(index)?;
        let id = entry.id;
        let pieces = if mark.shown == Some(id) { 0 } else { walk.pieces(index, &entry) };
        if pieces == 0 {
            let stays = which == Which::All || is_done(&entry, cx);
            if !stays {
                return None;
            }
            index += 1;
            continue;
        }
        if id != mark.entry || mark.piece == 0 && mark.row == 0 {
            return Some((Point { entry: index, piece: 0, row: 0 }, index));
        }
        // A text that begins anew may have fewer pieces.
        let piece = walk.cache.piece_at(id, mark.piece).min(pieces - 1);
        let point = Point { entry: index, piece, row: mark.row };
        if mark.whole_at != Some(entry.rev) {
            if mark.row < walk.rows(point).max(1) {
                return Some((point, index));
            }
            if piece + 1 < pieces {
                return Some((Point { entry: index, piece: piece + 1, row: 0 }, index));
            }
        }
        index += 1 + walk.with(index).len();
        // The last one stays marked: more may come for it.
        let next = walk.entry(index)?.id;
        (mark.entry, mark.piece, mark.row, mark.whole_at) = (next, 0, 0, None);
    }
}

/// Whether a piece stays as it is; a finished row that a further call could share does once it would be out of sight.
fn is_settled(walk: &mut Walk<'_, '_>, point: Point, which: Which) -> bool {
    let cx = walk.cx;
    let Some(entry) = walk.entry(point.entry) else { return true };
    if point.piece + 1 < walk.pieces(point.entry, &entry) {
        return true;
    }
    let with = walk.with(point.entry);
    if !is_done(&entry, cx) {
        return is_left_so(walk, point, &entry, which);
    }
    if with.iter().any(|entry| !is_done(entry, cx)) {
        return false;
    }
    let below = point.entry + 1 + with.len();
    if walk.slot(below).is_none() {
        let is_tool = walk.slot(point.entry).is_some_and(|slot| slot.kind() == Kind::Tool);
        return !(is_tool && cx.session.turn.is_some());
    }
    let waits = walk.entry(below).is_some_and(|below| !is_done(&below, cx)) && walk.may_follow(below);
    let is_seen = |walk: &mut Walk<'_, '_>, seen: u32| walk.rows_from(point, seen + 1) <= seen;
    !(waits && matches!(which, Which::Settled { seen } if is_seen(walk, seen)))
}

/// Whether a call that was refused is about to go out of sight: its agent has gone on without a word of it.
fn is_left_so(walk: &mut Walk<'_, '_>, point: Point, entry: &Entry, which: Which) -> bool {
    let is_refused = matches!(&entry.body, Body::Tool(call) if call.is_turned_down());
    let Which::Settled { seen } = which else { return false };
    is_refused && !cells::is_waiting(entry, walk.cx.session) && walk.rows_from(point, seen + 1) > seen
}

/// Whether nothing more is expected of an entry in its turn.
fn is_done(entry: &Entry, cx: &DrawCtx<'_>) -> bool {
    let is_of_turn = entry.turn == cx.session.last_turn();
    let is_open = !entry.finished || cells::ticks(entry, cx.session);
    // Of the rule below a turn what has changed is waited for, though the next one may have begun.
    let is_looked_at = matches!(entry.body, Body::Changes(_)) && !entry.finished;
    let waits = is_looked_at || cells::is_waiting(entry, cx.session);
    !(is_of_turn && (is_open || is_being_placed(entry, cx)) || waits)
}

/// Whether the review may yet find where the changes of a call stand: what was printed has no numbers for good.
fn is_being_placed(entry: &Entry, cx: &DrawCtx<'_>) -> bool {
    let Body::Tool(call) = &entry.body else { return false };
    let is_recent = call.ended.is_some_and(|ended| cx.now < ended.saturating_add(PLACED));
    cx.session.turn.is_some() && cx.session.changes().is_on && is_recent && call.lacks_places()
}

/// Whether an entry tells of the one above it, which may be `above`, or goes on telling: what has allowed a call, what was
/// written by it.
fn tells_of(entry: &Entry, above: Option<EntryId>, cx: &DrawCtx<'_>) -> bool {
    let is_told = match &entry.body {
        Body::Notice(notice) => notice.level == Level::Info && !notice.by_agent,
        Body::File(_) => true,
        _ => false,
    };
    let is_next = above.is_some_and(|above| above.0 + 1 == entry.id.0);
    let of_same_turn = above.and_then(|above| cx.session.entries().get(above)).is_some_and(|a| a.turn == entry.turn);
    is_told && is_next && of_same_turn && is_done(entry, cx)
}

/// Whether a piece tells of an entry that was passed over and is not printed yet.
fn tells_of_late(walk: &mut Walk<'_, '_>, point: Point, mark: &Mark) -> bool {
    let cx = walk.cx;
    let last = mark.late.last().copied().filter(|_| point.row == 0 && mark.late.len() < MAX_LATE);
    walk.entry(point.entry).is_some_and(|entry| tells_of(&entry, last, cx))
}

/// Leaves it until that one is printed; false where nothing stands below it: it is seen there.
fn put_off(walk: &mut Walk<'_, '_>, point: Point, mark: &mut Mark) -> bool {
    if walk.slot(point.entry + 1).is_none() {
        return false;
    }
    let entries = walk.cx.session.entries();
    mark.late.push(entries.id_at(point.entry));
    (mark.entry, mark.piece, mark.row) = (entries.id_at(point.entry + 1), 0, 0);
    true
}

/// Leaves what is not finished for later when what follows pushes it out of sight; false when it holds the mark.
fn pass_over(
    walk: &mut Walk<'_, '_>,
    point: Point,
    index: usize,
    which: Which,
    mark: &mut Mark,
    page: &mut Page,
) -> bool {
    let Which::Settled { seen } = which else { return false };
    let cx = walk.cx;
    let Some(entry) = walk.entry(index) else { return false };
    let with = walk.with(index);
    let flows = cells::flow(&entry, cx.folds.of(entry.id)).is_some();
    let below = index + 1 + with.len();
    if flows || point.row > 0 || walk.slot(below).is_none() || mark.late.len() + with.len() >= MAX_LATE {
        return false;
    }
    if walk.rows_from(point, seen + 1) <= seen {
        return false;
    }
    let roots = [PathBuf::from(&cx.session.cwd)];
    let ctx = CellCtx {
        session: cx.session,
        width: page.buf.area.width,
        now: cx.now,
        with: &[],
        fold: None,
        plan_beside: false,
        typing: None,
        roots: &roots,
        home: cx.home,
        pictures: None,
        keys: None,
    };
    let words = format!("⋯ not finished, follows below: {}", cells::name(&entry, &ctx));
    page.append(line(cx, page.buf.area.width, StyledText::of(words, Token::Dim)));
    mark.late.push(entry.id);
    mark.late.extend(with.iter().map(|entry| entry.id));
    let next = cx.session.entries().id_at(below);
    (mark.entry, mark.piece, mark.row) = (next, 0, 0);
    true
}

/// A row of its own.
pub fn line(cx: &DrawCtx<'_>, width: u16, text: StyledText) -> Page {
    let mut page = Page::of(width);
    page.buf.resize(Rect::new(0, 0, width, 1));
    let line = LogicalLine { wrap: WrapMode::Truncate, text, ..LogicalLine::default() };
    let room = width.saturating_sub(super::cache::GUTTER + 1).max(1);
    if let Some(row) = wrap_lines(std::slice::from_ref(&line), room).first() {
        paint::row(cx, &line, None, row, room, page.buf.area, &mut page.buf);
    }
    page
}

/// Rows of a piece on a page of their own, and a line without colours.
fn painted(
    walk: &mut Walk<'_, '_>,
    colours: &super::Colours,
    point: Point,
    height: u16,
    width: u16,
) -> (Page, Option<Spot>) {
    let area = Rect::new(0, 0, width, height);
    let mut buf = Buffer::empty(area);
    let (mut viewport, mut plain) = (Viewport::default(), None);
    let mut paints = Paints { viewport: &mut viewport, colours, plain: &mut plain };
    let mut y = 0;
    walk.paint(point, point.entry, area, &mut y, &mut buf, &mut paints);
    (Page { buf, links: viewport.links, has_more: false }, plain)
}

#[cfg(test)]
#[path = "print_tests.rs"]
mod tests;
