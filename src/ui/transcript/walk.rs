//! Moves over rows of entries, laying out no more than it steps on.
//!
//! Paints nothing by itself. Invariant: a [`Point`] that a function returns is a row that exists.

use super::cache::{Cache, Laid};
use super::colours::Colours;
use super::reading::Shown;
use super::{DrawCtx, Viewport, paint, select};
use crate::model::entries::Slot;
use crate::model::entry::Entry;
use crate::model::history::Kind;
use crate::text::copied::Copied;
use crate::text::line::LogicalLine;
use crate::text::wrap::Row;
use crate::ui::cells::{self, group};
use crate::ui::state::reading::{Reach, Way};
use crate::ui::state::scroll::Scroll;
use crate::ui::state::selection::{Character, LineAt, Selection};
use crate::ui::state::sought::Sought;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Entries below the view that are looked at for the estimate of their rows.
const LOOK_BELOW: usize = 128;

/// A row of a piece of an entry. Rows of the gap above an entry count as rows of its first piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Point {
    pub entry: usize,
    pub piece: usize,
    pub row: u32,
}

pub(super) struct Walk<'a, 'b> {
    pub cx: &'a DrawCtx<'b>,
    pub cache: &'a mut Cache,
    /// No entry from here on shares the row of one before it.
    from: usize,
    /// None shares the row of any other.
    is_apart: bool,
}

impl<'a, 'b> Walk<'a, 'b> {
    pub(super) fn new(cx: &'a DrawCtx<'b>, cache: &'a mut Cache) -> Self {
        Self { cx, cache, from: 0, is_apart: false }
    }

    /// As if rows began with this entry.
    pub(super) fn from(cx: &'a DrawCtx<'b>, cache: &'a mut Cache, from: usize) -> Self {
        Self { from, ..Self::new(cx, cache) }
    }

    /// As if each entry had a row of its own.
    pub(super) fn apart(cx: &'a DrawCtx<'b>, cache: &'a mut Cache) -> Self {
        Self { is_apart: true, ..Self::new(cx, cache) }
    }

    pub(super) fn slot(&self, index: usize) -> Option<&'b Slot> {
        self.cx.session.session().entries().slot(index)
    }

    pub(super) fn entry(&mut self, index: usize) -> Option<Shown<'b>> {
        self.cache.reading.entry(self.cx, index)
    }

    /// Whether the entry of a slot draws nothing. Those draw something that are not in memory.
    fn is_blank(&self, slot: &Slot) -> bool {
        slot.here().is_some_and(|entry| cells::is_blank(entry, self.cx.session))
    }

    /// Blank rows between an entry and the one above it that draws something. Calls stand close to each other as long as
    /// each has one row.
    pub(super) fn gap(&mut self, index: usize) -> u32 {
        let drawn = |i: &usize| self.slot(*i).is_some_and(|slot| !self.is_blank(slot));
        let above = (0..index).rev().find(drawn);
        let kind = |i: usize| self.slot(i).map(Slot::kind);
        let Some(above_at) = above else { return 0 };
        let (Some(above), Some(below)) = (kind(above_at), kind(index)) else { return 0 };
        u32::from(cells::gap_between(above, below)).max(u32::from(self.is_high(above_at) || self.is_high(index)))
    }

    /// Whether the row in which an entry of one piece is shown has others below it that belong to it.
    fn is_high(&mut self, index: usize) -> bool {
        let is_call =
            self.slot(index).is_some_and(|slot| matches!(slot.kind(), Kind::Tool | Kind::File | Kind::Terminal));
        if !is_call {
            return false;
        }
        // What is printed apart has the same distances.
        let from = std::mem::take(&mut self.from);
        let first = self.first_of_row(index);
        let high = self
            .entry(first)
            .is_some_and(|entry| self.cache.pieces(self.cx, &entry) > 0 && self.laid(first, &entry, 0).rows.len() > 1);
        self.from = from;
        high
    }

    pub(super) fn rows(&mut self, point: Point) -> u32 {
        let gap = if point.piece == 0 { self.gap(point.entry) } else { 0 };
        let Some(entry) = self.entry(point.entry) else { return 0 };
        gap + self.laid(point.entry, &entry, point.piece).rows.len() as u32
    }

    /// How many pieces an entry has of its own.
    pub(super) fn pieces(&mut self, index: usize, entry: &Entry) -> usize {
        if self.first_of_row(index) == index { self.cache.pieces(self.cx, entry) } else { 0 }
    }

    pub(super) fn laid(&mut self, index: usize, entry: &Entry, piece: usize) -> &Laid {
        let with = self.with(index);
        let far = self.written_below(index);
        let with: Vec<&Entry> = with.iter().chain(&far).map(|entry| &**entry).collect();
        self.cache.laid(self.cx, entry, &with, piece)
    }

    /// Whether an entry may share the row of the one above it.
    fn follows(&mut self, index: usize) -> bool {
        if index <= self.from || self.is_apart {
            return false;
        }
        let Some(above) = index.checked_sub(1) else { return false };
        let kind = |index| self.slot(index).map(Slot::kind);
        if kind(above) != Some(Kind::Tool) || !matches!(kind(index), Some(Kind::Tool | Kind::File)) {
            return false;
        }
        let (Some(above), Some(below)) = (self.entry(above), self.entry(index)) else { return false };
        group::follows(&above, &below, self.cx.session)
    }

    /// Whether an entry that follows the one above it does so even where that is opened.
    fn stays(&mut self, index: usize) -> bool {
        let above = index.checked_sub(1).and_then(|above| self.entry(above));
        let (Some(above), Some(below)) = (above, self.entry(index)) else { return false };
        group::stays(&above, &below, self.cx.session)
    }

    /// The call in whose row a write is shown though the client has told something between them. What has its rows begun
    /// below that call has it only where the call shows the change by itself.
    fn call_above_notices(&mut self, index: usize) -> Option<usize> {
        let kind = |index| self.slot(index).map(Slot::kind);
        let is_below_notice = kind(index) == Some(Kind::File) && kind(index.checked_sub(1)?) == Some(Kind::Notice);
        if self.is_apart || !is_below_notice {
            return None;
        }
        let (above, call) = group::call_above(index, |at| self.entry(at))?;
        let written = self.entry(index)?;
        let stays = group::stays(&call, &written, self.cx.session);
        let is_shown = if stays { above >= self.from } else { self.cx.folds.is_together(call.id) };
        (is_shown && group::follows(&call, &written, self.cx.session)).then_some(above)
    }

    /// What is shown in the row of a call from below the notices that follow it.
    pub(super) fn written_below(&mut self, index: usize) -> Option<Shown<'b>> {
        let kind = |index| self.slot(index).map(Slot::kind);
        if kind(index) != Some(Kind::Tool) || kind(index + 1) != Some(Kind::Notice) {
            return None;
        }
        let below = (index + 1..=index + 1 + group::BETWEEN).find(|at| kind(*at) != Some(Kind::Notice))?;
        if self.call_above_notices(below) == Some(index) { self.entry(below) } else { None }
    }

    /// Whether an entry that is not finished may come to share the row of the one above it.
    pub(super) fn may_follow(&mut self, index: usize) -> bool {
        if index <= self.from || self.is_apart {
            return false;
        }
        let above = index.checked_sub(1).and_then(|above| self.entry(above));
        let (Some(above), Some(below)) = (above, self.entry(index)) else { return false };
        group::may_follow(&above, &below, self.cx.session)
    }

    /// The entry whose row shows this one; itself where it has its own.
    pub(super) fn first_of_row(&mut self, index: usize) -> usize {
        if let Some(call) = self.call_above_notices(index) {
            return call;
        }
        let mut first = index;
        while self.follows(first) {
            first -= 1;
            if self.stays(first + 1) {
                return first;
            }
        }
        if self.cx.folds.is_together(self.cx.session.entries().id_at(first)) { first } else { index }
    }

    /// Those that share the row of an entry that is shown.
    pub(super) fn with(&mut self, index: usize) -> Vec<Shown<'b>> {
        let mut with = Vec::new();
        // Of those that came apart each has its own row.
        let is_first = !self.follows(index);
        if is_first && self.cx.folds.is_together(self.cx.session.entries().id_at(index)) {
            let mut next = index + 1;
            while self.follows(next) {
                with.extend(self.entry(next));
                next += 1;
            }
        } else if self.follows(index + 1) && self.stays(index + 1) {
            with.extend(self.entry(index + 1));
        }
        with
    }

    pub(super) fn index(&self, point: Point) -> Option<usize> {
        self.slot(point.entry).map(|_| point.entry)
    }

    pub(super) fn first(&mut self) -> Option<Point> {
        self.entry_from(0)
    }

    /// The first piece of the first entry at or after `index` that has any.
    fn entry_from(&mut self, mut index: usize) -> Option<Point> {
        loop {
            let entry = self.entry(index)?;
            if self.pieces(index, &entry) > 0 {
                return Some(Point { entry: index, piece: 0, row: 0 });
            }
            index += 1;
        }
    }

    /// The first row of the piece that follows.
    pub(super) fn next_piece(&mut self, point: Point) -> Option<Point> {
        let entry = self.entry(point.entry)?;
        if point.piece + 1 < self.pieces(point.entry, &entry) {
            return Some(Point { piece: point.piece + 1, row: 0, ..point });
        }
        self.entry_from(point.entry + 1)
    }

    /// The first row of the piece before.
    fn previous_piece(&mut self, point: Point) -> Option<Point> {
        if point.piece > 0 {
            return Some(Point { piece: point.piece - 1, row: 0, ..point });
        }
        self.entry_before(point.entry)
    }

    fn entry_before(&mut self, mut index: usize) -> Option<Point> {
        loop {
            index = index.checked_sub(1)?;
            let entry = self.entry(index)?;
            if let Some(last) = self.pieces(index, &entry).checked_sub(1) {
                return Some(Point { entry: index, piece: last, row: 0 });
            }
        }
    }

    /// The top row of a view that shows the end, and how many rows stay empty above it.
    pub(super) fn top_of_end(&mut self, height: u32) -> Option<(Point, u32)> {
        let mut point = self.entry_before(self.cx.session.entries().len())?;
        let mut left = height;
        loop {
            let rows = self.rows(point);
            if rows >= left {
                return Some((Point { row: rows - left, ..point }, 0));
            }
            left -= rows;
            match self.previous_piece(point) {
                Some(before) => point = before,
                None => return Some((Point { row: 0, ..point }, left)),
            }
        }
    }

    /// How many rows there are from a row on; stops counting at `enough`.
    pub(super) fn rows_from(&mut self, point: Point, enough: u32) -> u32 {
        let mut sum = self.rows(point).saturating_sub(point.row);
        let mut at = point;
        while sum < enough {
            match self.next_piece(at) {
                Some(next) => at = next,
                None => break,
            }
            sum += self.rows(at);
        }
        sum
    }

    /// The row so many rows away, or the first or the last one.
    pub(super) fn moved(&mut self, from: Point, by: i32) -> Point {
        let mut at = from;
        let mut left = by.unsigned_abs();
        while by < 0 && left > at.row {
            left -= at.row;
            let Some(before) = self.previous_piece(at) else { return Point { row: 0, ..at } };
            let rows = self.rows(before);
            at = Point { row: rows, ..before };
        }
        if by < 0 {
            return Point { row: at.row - left, ..at };
        }
        loop {
            let rows = self.rows(at);
            if at.row + left < rows {
                return Point { row: at.row + left, ..at };
            }
            left -= rows.saturating_sub(at.row).min(left);
            match self.next_piece(at) {
                Some(next) => at = next,
                None => return Point { row: rows.saturating_sub(1), ..at },
            }
        }
    }

    /// The words of a row.
    pub(super) fn anchor(&mut self, point: Point) -> Scroll {
        let gap = if point.piece == 0 { self.gap(point.entry) } else { 0 };
        let Some(entry) = self.entry(point.entry) else { return Scroll::Follow };
        let piece = self.cache.start(entry.id, point.piece);
        let laid = self.laid(point.entry, &entry, point.piece);
        let row = laid.rows.get(point.row.saturating_sub(gap) as usize);
        Scroll::Anchor {
            entry: entry.id,
            piece,
            line: row.map_or(0, |r| r.line),
            byte: row.map_or(0, |r| r.range.start),
            gap: gap.saturating_sub(point.row),
        }
    }

    /// The row that holds the words of an anchor now.
    pub(super) fn resolve(&mut self, scroll: Scroll) -> Option<Point> {
        let Scroll::Anchor { entry: id, piece, mut line, byte, gap: above } = scroll else { return None };
        let entries = self.cx.session.entries();
        if id.0 < entries.gone() {
            return self.entry_from(0);
        }
        let index = entries.index_of(id)?;
        let entry = self.entry(index)?;
        let pieces = self.pieces(index, &entry);
        if pieces == 0 {
            // One that shares the row of another is shown there.
            let first = self.first_of_row(index);
            return self.entry_from(first).or_else(|| self.entry_before(first));
        }
        let mut piece = self.cache.piece_at(id, piece).min(pieces - 1);
        // What was one open piece may have become several.
        loop {
            let lines = self.laid(index, &entry, piece).lines.len() as u32;
            if line < lines || piece + 1 >= pieces {
                break;
            }
            line -= lines;
            piece += 1;
        }
        let gap = if piece == 0 { self.gap(index) } else { 0 };
        let laid = self.laid(index, &entry, piece);
        let before = laid.rows.partition_point(|r| r.line < line || r.line == line && r.range.start <= byte);
        let row = (before.saturating_sub(1) as u32 + gap).saturating_sub(above.min(gap));
        Some(Point { entry: index, piece, row })
    }

    /// The top of a view that does not follow the end.
    pub(super) fn anchored(&mut self, scroll: Scroll, height: u32) -> Option<Point> {
        let anchor = Some(scroll).filter(|scroll| *scroll != Scroll::Follow)?;
        self.resolve(anchor).filter(|top| self.rows_from(*top, height) >= height)
    }

    /// How many rows are below a view that begins at `top`: counted for the next screen, estimated beyond.
    pub(super) fn rows_below(&mut self, top: Point, height: u32) -> u64 {
        let mut at = top;
        let mut rows = u64::from(self.rows(top).saturating_sub(top.row));
        while rows < 2 * u64::from(height) {
            match self.next_piece(at) {
                Some(next) => at = next,
                None => return rows.saturating_sub(u64::from(height)),
            }
            rows += u64::from(self.rows(at));
        }
        rows.saturating_sub(u64::from(height)) + self.rows_after(at)
    }

    /// About how many rows follow a piece.
    fn rows_after(&mut self, at: Point) -> u64 {
        let width = usize::from(self.cache.width());
        let Some(entry) = self.entry(at.entry) else { return 0 };
        let rest_of_entry = if self.pieces(at.entry, &entry) <= at.piece + 1 {
            0
        } else {
            let next = self.cache.start(entry.id, at.piece + 1) as usize;
            let flow = cells::flow(&entry, self.cx.folds.of(entry.id));
            flow.map_or(0, |f| estimate(f.text.len().saturating_sub(next), width))
        };
        let entries = self.cx.session.entries();
        let below = entries.len().saturating_sub(at.entry + 1);
        let looked = below.min(LOOK_BELOW);
        let sum: u64 = (at.entry + 1..).take(looked).map(|i| self.guess(i, width)).sum();
        let rest = if looked == 0 { 0 } else { sum * (below - looked) as u64 / looked as u64 };
        rest_of_entry + sum + rest
    }

    fn guess(&self, index: usize, width: usize) -> u64 {
        let (Some(slot), id) = (self.slot(index), self.cx.session.entries().id_at(index)) else { return 0 };
        let fold = self.cx.folds.of(id);
        let text = match slot {
            Slot::Here(entry) if cells::is_blank(entry, self.cx.session) => return 0,
            Slot::Here(entry) => cells::flow(entry, fold).map(|flow| flow.text.len()),
            Slot::Away(away) => cells::flows(away.kind(), fold).then(|| away.text_len()),
        };
        text.map_or(1, |len| 1 + estimate(len, width).max(1))
    }

    /// Draws the rows of a piece from `point` on.
    pub(super) fn paint(
        &mut self,
        point: Point,
        index: usize,
        area: Rect,
        y: &mut u16,
        buf: &mut Buffer,
        paints: &mut Paints<'_>,
    ) {
        let gap = if point.piece == 0 { self.gap(index) } else { 0 };
        let Some(entry) = self.entry(index) else { return };
        let width = self.cache.width();
        let cx = self.cx;
        let start = self.cache.start(entry.id, point.piece);
        let is_growing = !entry.finished && point.piece + 1 == self.pieces(index, &entry);
        let laid = self.laid(index, &entry, point.piece);
        for row in point.row..gap + laid.rows.len() as u32 {
            if *y >= area.bottom() {
                return;
            }
            if let Some(row) = row.checked_sub(gap).and_then(|r| laid.rows.get(r as usize))
                && let Some(line) = laid.lines.get(row.line as usize)
            {
                let spans = line.code.as_ref().and_then(|code| paints.colours.of(code.key));
                if spans.is_none() && line.code.is_some() && paints.plain.is_none() {
                    *paints.plain = Some((cx.session.key(), entry.id, start, row.line as usize));
                }
                let at = LineAt { entry: entry.id, piece: start, line: row.line };
                let marked = cx.selection.and_then(|all| all.of_line(at, line.text.len() as u32));
                let mut links = paint::row(cx, line, spans, row, width, Rect { y: *y, height: 1, ..area }, buf);
                // More of an address may be on its way, and it may lead elsewhere then.
                if is_growing && row.line as usize + 1 == laid.lines.len() {
                    links.retain(|(_, address)| !line.text.as_str().ends_with(&**address));
                }
                if let Some(bytes) = marked {
                    select::mark(cx.theme, line, row, width, bytes, Rect { y: *y, height: 1, ..area }, buf);
                }
                paints.viewport.links.extend(links.into_iter().map(|(columns, address)| (*y, columns, address)));
                paints.viewport.hits.push((*y, entry.id));
                paints.viewport.animated |= laid.live;
            }
            *y += 1;
        }
    }

    /// The character in column `x` of a row. Between entries it is the beginning of what stands below.
    pub(super) fn spot(&mut self, point: Point, left: u16, x: u16) -> Option<Character> {
        let gap = if point.piece == 0 { self.gap(point.entry) } else { 0 };
        let entry = self.entry(point.entry)?;
        let piece = self.cache.start(entry.id, point.piece);
        let width = self.cache.width();
        let laid = self.laid(point.entry, &entry, point.piece);
        let (row, x) = match point.row.checked_sub(gap) {
            Some(row) => (laid.rows.get(row as usize)?, x),
            None => (laid.rows.first()?, 0),
        };
        let bytes = select::bytes_at(laid.lines.get(row.line as usize)?, row, width, left, x);
        Some(Character { at: LineAt { entry: entry.id, piece, line: row.line }, bytes })
    }

    /// The next place of what is sought in an entry, behind or before another one, and its row.
    pub(super) fn seek(
        &mut self,
        index: usize,
        (sought, way, reach): (&Sought, Way, Reach),
        from: Option<&Selection>,
    ) -> Option<(Point, Selection)> {
        let entry = self.entry(index)?;
        let pieces = self.pieces(index, &entry);
        let from = from.and_then(|hit| self.now(&hit.from)).filter(|(point, _)| point.entry == index);
        let from = from.map(|(point, spot)| (point.piece, spot.at.line, spot.bytes.start));
        let first = from.map_or(if way == Way::Up { pieces } else { 0 }, |(piece, ..)| piece);
        let in_pieces: Vec<usize> = match way {
            Way::Up => (0..pieces.min(first + 1)).rev().collect(),
            Way::Down => (first..pieces).collect(),
        };
        for piece in in_pieces {
            let start = self.cache.start(entry.id, piece);
            let gap = if piece == 0 { self.gap(index) } else { 0 };
            let width = self.cache.width();
            let laid = self.laid(index, &entry, piece);
            let places = |(line, n): (&LogicalLine, u32)| {
                let seen = if reach == Reach::Seen { paint::seen(line, width) } else { line.text.len() };
                let places = sought.places(line.text.as_str()).into_iter().filter(move |bytes| bytes.end <= seen);
                places.map(move |bytes| (n, bytes.start as u32..bytes.end as u32))
            };
            let mut all = laid.lines.iter().zip(0..).flat_map(places).filter(|(n, bytes)| match (from, way) {
                (None, _) => true,
                (Some(from), Way::Up) => (piece, *n, bytes.start) < from,
                (Some(from), Way::Down) => (piece, *n, bytes.start) > from,
            });
            let found = if way == Way::Up { all.last() } else { all.next() };
            let Some((line, bytes)) = found else { continue };
            let is_before = |row: &Row| row.line < line || row.line == line && row.range.start <= bytes.start;
            let row = gap + laid.rows.partition_point(is_before).saturating_sub(1) as u32;
            let spot = Character { at: LineAt { entry: entry.id, piece: start, line }, bytes };
            return Some((Point { entry: index, piece, row }, Selection { from: spot.clone(), to: spot }));
        }
        None
    }

    /// Whether a row is in the view that begins at `top`, so many rows below its upper edge.
    pub(super) fn is_in_view(&mut self, (top, lead): (Point, u32), height: u32, point: Point) -> bool {
        let (mut at, mut above) = (top, lead);
        while above < height {
            if (at.entry, at.piece) == (point.entry, point.piece) {
                return point.row.checked_sub(at.row).is_some_and(|below| above + below < height);
            }
            above += self.rows(at).saturating_sub(at.row);
            match self.next_piece(at) {
                Some(next) => at = next,
                None => return false,
            }
        }
        false
    }

    /// The words that are selected; false when there are more.
    pub(super) fn selected(&mut self, selection: &Selection) -> (String, bool) {
        let (mut out, mut gap) = (Copied::default(), 0);
        // One open piece may have become several.
        let (Some((start, from)), Some((_, to))) = (self.now(&selection.from), self.now(&selection.to)) else {
            return (out.text(), true);
        };
        let selection = &Selection { from, to };
        let [first, last] = selection.lines();
        let mut at = if first == selection.from.at { Some(start) } else { self.now(&selection.to).map(|(at, _)| at) };
        while let Some(point) = at {
            let Some(entry) = self.entry(point.entry) else { break };
            let (entry_id, piece) = (entry.id, self.cache.start(entry.id, point.piece));
            if (entry_id, piece) > (last.entry, last.piece) {
                break;
            }
            if point.piece == 0 {
                gap = self.gap(point.entry);
            }
            for (line, n) in self.laid(point.entry, &entry, point.piece).lines.iter().zip(0..) {
                let at = LineAt { entry: entry_id, piece, line: n };
                let bytes = selection.of_line(at, line.text.len() as u32);
                let words = bytes.and_then(|bytes| line.copied(bytes.start as usize..bytes.end as usize));
                if let Some(words) = words {
                    out.push(&"\n".repeat(1 + gap as usize), &words, line.of_diff);
                    gap = 0;
                }
            }
            if out.bytes() > select::MAX {
                return (out.text(), false);
            }
            at = self.next_piece(point);
        }
        (out.text(), true)
    }

    /// The same character as it is laid out now, and the first row of its piece.
    fn now(&mut self, spot: &Character) -> Option<(Point, Character)> {
        let LineAt { entry, piece, line } = spot.at;
        let point = self.resolve(Scroll::Anchor { entry, piece, line, byte: spot.bytes.start, gap: 0 })?;
        let at = self.spot(point, 0, 0)?.at;
        Some((Point { row: 0, ..point }, Character { at, bytes: spot.bytes.clone() }))
    }
}

/// The colours that are known, the first line that has none, and what was drawn.
pub(super) struct Paints<'a> {
    pub viewport: &'a mut Viewport,
    pub colours: &'a Colours,
    pub plain: &'a mut Option<super::Spot>,
}

fn estimate(bytes: usize, width: usize) -> u64 {
    // Lines are rarely full.
    (bytes / (width * 2 / 3).max(1)) as u64
}
