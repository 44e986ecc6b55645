//! What has been laid out, per piece of an entry.
//!
//! Knows nothing of scrolling. Invariants: nothing stale is ever returned, and after a drawing at most
//! [`CACHE_BYTES`] are kept, the least recently used go first.

use super::DrawCtx;
use super::reading::Reading;
use crate::base::weighted::Weighted;
use crate::base::{width, zone};
use crate::model::entry::{Body, Entry};
use crate::model::ids::{EntryId, SessionKey};
use crate::text::line::LogicalLine;
use crate::text::wrap::{Row, wrap_lines};
use crate::ui::cells::{self, CellCtx, group};
use crate::ui::md::split::{PieceKind, StablePrefix};
use crate::ui::state::folds::Fold;
use crate::ui::state::pictures::Pictures;
use std::path::PathBuf;

/// Above this the least recently used layouts are dropped, down to half of it.
pub(super) const CACHE_BYTES: usize = 3 << 20;
/// What a map takes for one of its values, about.
const OVERHEAD: usize = 128;
/// Entries of which more than their layout is known; beyond that those that were not drawn the longest are forgotten.
const MAX_SLOTS: usize = 4096;
/// Columns of glyphs left of the text.
pub(super) const GUTTER: u16 = 2;

/// Lines of a piece, cut to rows.
#[derive(Debug, Default)]
pub(super) struct Laid {
    pub lines: Vec<LogicalLine>,
    pub rows: Vec<Row>,
    pub live: bool,
    key: Option<Key>,
}

/// Everything that a layout depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Key {
    rev: u64,
    end: usize,
    kind: PieceKind,
    width: u16,
    fold: Option<Fold>,
    waiting: bool,
    typing: bool,
    beside: bool,
    second: u64,
    links: usize,
    /// Of those that share its row: how many, and the sum of their revisions, each of which only grows.
    calls: usize,
    with: u64,
    /// How much is known of pictures, for what has some.
    drawn: u64,
    ambiguous_is_wide: bool,
    /// The day, for what says a date.
    day: i64,
}

/// What is known of an entry.
#[derive(Debug)]
struct Slot {
    /// Names its pieces among all; another one when the text begins anew.
    number: u64,
    split: StablePrefix,
    flows: bool,
    rev: u64,
    /// How much text has been split, and its last bytes: text that did not merely grow is split anew.
    seen: usize,
    sample: Vec<u8>,
    /// The drawing in which text was split last.
    advanced: u64,
}

#[derive(Debug, Default)]
pub(super) struct Cache {
    slots: Weighted<(SessionKey, EntryId), Slot>,
    /// By the number of the slot and the byte where a piece begins.
    laid: Weighted<(u64, u32), Laid>,
    /// Numbers of slots that were given.
    numbers: u64,
    /// Of a piece that there is not.
    nothing: Laid,
    /// The session that is drawn, and its directory.
    session: SessionKey,
    roots: Vec<PathBuf>,
    width: u16,
    /// Counts drawings.
    clock: u64,
    laid_out: u32,
    /// What was read to be laid out.
    pub(super) reading: Reading,
    /// A text was split only in part in this drawing.
    behind: bool,
}

/// One column stays free at the right: terminals differ about what happens in the last one.
pub(super) fn text_width(width: u16) -> u16 {
    width.saturating_sub(GUTTER + 1).max(1)
}

/// Bytes of a text that are split in one drawing: the rest has to wait, so that a key has not.
pub(super) const STEP: usize = 4 << 20;
const SAMPLE: usize = 48;

impl Cache {
    pub(super) fn begin(&mut self, cx: &DrawCtx<'_>, width: u16) {
        self.clock += 1;
        self.laid_out = 0;
        self.behind = false;
        self.width = text_width(width);
        self.session = cx.session.key();
        let cwd = cx.session.cwd.as_str();
        if self.roots.first().and_then(|r| r.to_str()) != Some(cwd) {
            self.roots = vec![PathBuf::from(cwd)];
        }
    }

    pub(super) const fn is_behind(&self) -> bool {
        self.behind
    }

    #[cfg(test)]
    pub(super) const fn bytes(&self) -> usize {
        self.laid.bytes() + self.reading.bytes()
    }

    #[cfg(test)]
    pub(super) const fn laid_out(&self) -> u32 {
        self.laid_out
    }

    pub(super) const fn width(&self) -> u16 {
        self.width
    }

    /// Keeps the bound; says how many pieces have been laid out since `begin`.
    pub(super) fn finish(&mut self) -> u32 {
        self.reading.finish();
        if self.laid.bytes() > CACHE_BYTES {
            self.laid.shrink(usize::MAX, CACHE_BYTES / 2);
        }
        self.slots.shrink(MAX_SLOTS, usize::MAX);
        self.laid.mark();
        self.slots.mark();
        self.laid_out
    }

    fn ctx<'a>(&'a self, cx: &DrawCtx<'a>, entry: &Entry, with: &'a [&'a Entry]) -> CellCtx<'a> {
        CellCtx {
            session: cx.session,
            width: self.width,
            now: cx.now,
            with,
            fold: cx.folds.of(entry.id),
            typing: cx.typing,
            plan_beside: cx.plan_beside,
            roots: &self.roots,
            home: cx.home,
            pictures: cx.pictures,
            keys: cx.keys,
        }
    }

    /// How many pieces an entry has; brings the splitting up to date.
    pub(super) fn pieces(&mut self, cx: &DrawCtx<'_>, entry: &Entry) -> usize {
        if cells::is_blank(entry, cx.session) {
            return 0;
        }
        let flow = cells::flow(entry, cx.folds.of(entry.id));
        let (clock, at) = (self.clock, (self.session, entry.id));
        if self.slots.peek(&at).is_none() {
            self.numbers += 1;
            self.slots.put(at, Slot::new(self.numbers, flow.as_ref()), 0);
        }
        let Some(slot) = self.slots.get_mut(&at) else { return 0 };
        let begins_anew = match &flow {
            Some(flow) => !slot.flows || (slot.rev != entry.rev && !slot.grew(flow.text)),
            None => slot.flows,
        };
        if begins_anew {
            self.numbers += 1;
            *slot = Slot::new(self.numbers, flow.as_ref());
        }
        let Some(flow) = flow else { return 1 };
        if (slot.rev != entry.rev || slot.seen != flow.text.len()) && slot.advanced != clock {
            let text = flow.text.get(..flow.text.floor_char_boundary(slot.seen + STEP)).unwrap_or_default();
            slot.split.extend(text, flow.markdown);
            if entry.finished && text.len() == flow.text.len() {
                slot.split.finish(text);
            }
            slot.advanced = clock;
            slot.rev = entry.rev;
            slot.seen = text.len();
            slot.sample.clear();
            let from = text.len().saturating_sub(SAMPLE);
            slot.sample.extend_from_slice(text.as_bytes().get(from..).unwrap_or_default());
            self.behind |= slot.seen != flow.text.len();
        }
        slot.split.pieces().len()
    }

    /// Byte of the text where a piece starts.
    pub(super) fn start(&self, entry: EntryId, piece: usize) -> u32 {
        self.flowing(entry).and_then(|s| s.split.pieces().get(piece)).map_or(0, |p| p.start)
    }

    /// The piece that holds a byte of the text.
    pub(super) fn piece_at(&self, entry: EntryId, byte: u32) -> usize {
        let Some(slot) = self.flowing(entry) else { return 0 };
        slot.split.pieces().partition_point(|p| p.start <= byte).saturating_sub(1)
    }

    /// A piece of an entry, laid out, together with those that share its row. `pieces` must have been called in this
    /// drawing.
    pub(super) fn laid(&mut self, cx: &DrawCtx<'_>, entry: &Entry, with: &[&Entry], piece: usize) -> &Laid {
        let key =
            Key { with: with.iter().map(|entry| entry.rev).sum(), calls: with.len(), ..self.key(cx, entry, piece) };
        let number = self.slots.peek(&(self.session, entry.id)).map_or(0, |slot| slot.number);
        let at = (number, self.start(entry.id, piece));
        if self.laid.peek(&at).and_then(|laid| laid.key) != Some(key) {
            // What is said of several calls in one row is short.
            let of_calls = group::is_of_calls(with);
            let wholes: Vec<_> =
                if of_calls { Vec::new() } else { with.iter().map(|e| self.reading.whole(cx, e)).collect() };
            let whole = if of_calls { None } else { self.reading.whole(cx, entry) };
            let with: Vec<&Entry> = with
                .iter()
                .enumerate()
                .map(|(at, entry)| wholes.get(at).and_then(Option::as_deref).unwrap_or(entry))
                .collect();
            let (laid, bytes) = self.lay_out(cx, whole.as_deref().unwrap_or(entry), &with, piece, key);
            self.laid_out += 1;
            self.laid.put(at, laid, bytes);
        }
        self.laid.get(&at).unwrap_or(&self.nothing)
    }

    /// The lines of a piece that begins at `start`, as they were laid out last.
    pub(super) fn lines(&self, session: SessionKey, entry: EntryId, start: u32) -> Option<&[LogicalLine]> {
        let number = self.slots.peek(&(session, entry))?.number;
        self.laid.peek(&(number, start)).map(|laid| &*laid.lines)
    }

    /// An entry of the session that is drawn whose text is split.
    fn flowing(&self, entry: EntryId) -> Option<&Slot> {
        self.slots.peek(&(self.session, entry)).filter(|slot| slot.flows)
    }

    fn key(&self, cx: &DrawCtx<'_>, entry: &Entry, piece: usize) -> Key {
        let slot = self.flowing(entry.id);
        let pieces = slot.map_or(&[][..], |s| s.split.pieces());
        let last = piece + 1 >= pieces.len();
        let waiting = cells::is_waiting(entry, cx.session);
        let live = piece == 0 && cells::ticks(entry, cx.session);
        Key {
            rev: if last || piece == 0 && entry.finished { entry.rev } else { 0 },
            end: slot.and_then(|s| s.split.end_of(piece)).unwrap_or(usize::MAX),
            kind: pieces.get(piece).map_or(PieceKind::Plain, |p| p.kind),
            width: self.width,
            fold: cx.folds.of(entry.id),
            waiting,
            typing: live && cx.typing.is_some(),
            beside: cx.plan_beside && matches!(entry.body, Body::Plan(_)),
            second: if live { cx.now.as_secs() } else { 0 },
            links: slot.map_or(0, |s| s.split.links_seen()),
            calls: 0,
            with: 0,
            drawn: cx.pictures.filter(|_| cells::pictures::of(entry).next().is_some()).map_or(0, Pictures::generation),
            ambiguous_is_wide: width::ambiguous_is_wide(),
            day: if matches!(entry.body, Body::User(_)) { cx.session.date(cx.now).map_or(0, zone::day) } else { 0 },
        }
    }

    /// A layout, and about how many bytes it takes.
    fn lay_out(&self, cx: &DrawCtx<'_>, entry: &Entry, with: &[&Entry], piece: usize, key: Key) -> (Laid, usize) {
        let ctx = self.ctx(cx, entry, with);
        let mut lines = match self.flowing(entry.id) {
            Some(slot) => cells::piece(entry, &ctx, &slot.split, piece),
            None => cells::lines(entry, &ctx),
        };
        let mut rows = wrap_lines(&lines, self.width);
        lines.shrink_to_fit();
        rows.shrink_to_fit();
        let texts: usize = lines.iter().map(|l| l.text.len() + l.prefix.len() + l.hang.len() + l.right.len()).sum();
        let each = size_of::<Laid>() + OVERHEAD;
        let bytes = texts * 2 + size_of::<LogicalLine>() * lines.len() + size_of::<Row>() * rows.len() + each;
        (Laid { lines, rows, live: cells::is_live(entry, cx.session), key: Some(key) }, bytes)
    }
}

impl Slot {
    fn new(number: u64, flow: Option<&cells::Flow<'_>>) -> Self {
        Self {
            number,
            split: split_of(flow),
            flows: flow.is_some(),
            rev: u64::MAX,
            seen: 0,
            sample: Vec::new(),
            advanced: 0,
        }
    }

    /// Whether what was seen is still the beginning of the text.
    fn grew(&self, text: &str) -> bool {
        let from = self.seen.saturating_sub(self.sample.len());
        text.as_bytes().get(from..self.seen) == Some(&self.sample[..])
    }
}

fn split_of(flow: Option<&cells::Flow<'_>>) -> StablePrefix {
    use crate::ui::md::split::Markdown;
    match flow.map(|f| f.markdown) {
        Some(Markdown::No) => StablePrefix::plain(),
        _ => StablePrefix::new(),
    }
}
