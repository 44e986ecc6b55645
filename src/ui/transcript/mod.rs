//! The transcript: many entries to the rows that are visible.
//!
//! Lays out what is in view and what changed there, nothing else; holds no state but bounded caches: of what was laid
//! out, and of what had to be read for it. Does not know keys. Invariant: a view that is anchored shows the same words
//! at its top while entries below it change.

mod cache;
mod colours;
mod paint;
pub mod print;
mod reading;
mod select;
mod walk;

use crate::model::history::History;
use crate::model::ids::{EntryId, Now, SessionKey, TermId};
use crate::model::session_ref::SessionRef;
use crate::text::code::Code;
use crate::text::diff::Kind;
use crate::text::line::LogicalLine;
use crate::theme::resolve::Theme;
use crate::ui::cells::{self, group};
use crate::ui::keys::Keymap;
use crate::ui::state::folds::{Fold, Folds};
use crate::ui::state::pictures::Pictures;
use crate::ui::state::reading::{Reach, Way};
use crate::ui::state::scroll::Scroll;
use crate::ui::state::selection::{Character, Selection};
use crate::ui::state::sought::Sought;
use cache::Cache;
use colours::{Colours, Spans};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use walk::{Paints, Walk};

/// Everything that drawing reads.
#[derive(Clone, Copy)]
pub struct DrawCtx<'a> {
    pub session: SessionRef<'a>,
    /// What of the session is not in memory.
    pub history: &'a dyn History,
    pub now: Now,
    /// Which picture of the spinner; stays 0 with reduced motion.
    pub spinner_frame: u8,
    pub folds: &'a Folds,
    /// The panel shows the plan.
    pub plan_beside: bool,
    /// What is marked as selected.
    pub selection: Option<&'a Selection>,
    /// The command that the person types into.
    pub typing: Option<&'a TermId>,
    pub theme: &'a Theme,
    pub home: Option<&'a Path>,
    /// What is known of pictures, where any are drawn.
    pub pictures: Option<&'a Pictures>,
    /// The keys as they are bound.
    pub keys: Option<&'a Keymap>,
}

/// What was drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Viewport {
    /// Row of the screen and the entry on it, from the top.
    pub hits: Vec<(u16, EntryId)>,
    /// Rows and columns of the screen, and where they lead.
    pub links: Vec<(u16, Range<u16>, Arc<str>)>,
    /// How much is below the view, about; `None` when the end is being followed.
    pub rows_below: Option<u64>,
    /// Pieces of entries that were laid out for this, for tests and the curious.
    pub entries_laid_out: u32,
    /// Something in view has a spinner or a running clock.
    pub animated: bool,
}

/// Owns the cache of laid-out entries.
#[derive(Debug, Default)]
pub struct Transcript {
    cache: Cache,
    colours: Colours,
    /// Where a line in view has no colours yet: the entry, where its piece begins, and the line.
    plain: Option<Spot>,
    /// The same of what is asked: the key of the line, and its text.
    asked: Option<(u64, Plain)>,
    /// What is not printed before its colours are known, and whether some have come since.
    awaited: Option<(Spot, bool)>,
    /// What folding does to an entry, as it was found out last.
    folding: Option<(Folded, Option<Fold>)>,
}

/// An entry, its revision, how far it is folded, and the columns that it has.
type Folded = (SessionKey, EntryId, u64, Option<Fold>, u16);

/// Lines of what is asked that are coloured: fewer than [`Colours`] remembers.
const MAX_ASKED: usize = 2000;

/// A line of what was laid out: the entry, where its piece begins, and which of its lines.
type Spot = (SessionKey, EntryId, u32, usize);

/// Program text that is to be coloured.
#[derive(Clone, Debug)]
pub struct Plain {
    /// A path or the name of a language.
    pub lang: Arc<str>,
    pub lines: Vec<(Kind, String)>,
    /// One for each line.
    pub keys: Vec<u64>,
}

/// The text that a line is of.
fn plain(lines: &[LogicalLine], of: &Code) -> Plain {
    let same = |line: &&LogicalLine| line.code.as_ref().is_some_and(|code| Arc::ptr_eq(&code.lang, &of.lang));
    let of_text: Vec<&LogicalLine> = lines.iter().filter(same).collect();
    let keys = of_text.iter().filter_map(|line| Some(line.code.as_ref()?.key)).collect();
    let lines = of_text.iter().filter_map(|l| Some((l.code.as_ref()?.kind, l.text.as_str().to_owned()))).collect();
    Plain { lang: Arc::clone(&of.lang), lines, keys }
}

impl Transcript {
    pub fn new() -> Self {
        Self::default()
    }

    /// Columns that texts have where the transcript has so many.
    pub fn text_width(width: u16) -> u16 {
        cache::text_width(width)
    }

    /// Draws the visible rows.
    pub fn draw(&mut self, cx: &DrawCtx<'_>, area: Rect, scroll: &mut Scroll, buf: &mut Buffer) -> Viewport {
        let area = area.intersection(*buf.area());
        self.cache.begin(cx, area.width);
        let mut viewport = Viewport::default();
        if area.is_empty() {
            return viewport;
        }
        let height = u32::from(area.height);
        self.plain = None;
        let colours = &self.colours;
        let mut walk = Walk::new(cx, &mut self.cache);
        let anchored = walk.anchored(*scroll, height);
        let Some((top, lead)) = anchored.map(|top| (top, 0)).or_else(|| walk.top_of_end(height)) else {
            return viewport;
        };
        let mut paints = Paints { viewport: &mut viewport, colours, plain: &mut self.plain };
        let mut y = area.y + lead.min(height) as u16;
        let mut at = Some(top);
        while let Some(point) = at {
            if y >= area.bottom() {
                break;
            }
            let Some(index) = walk.index(point) else { break };
            walk.paint(point, index, area, &mut y, buf, &mut paints);
            at = walk.next_piece(point);
        }
        if matches!(scroll, Scroll::Anchor { .. }) {
            viewport.rows_below = Some(if anchored.is_some() { walk.rows_below(top, height) } else { 0 });
        }
        viewport.entries_laid_out = self.cache.finish();
        viewport
    }

    /// Rows of an area that stay empty above the conversation.
    pub fn blank_rows(&mut self, cx: &DrawCtx<'_>, area: Rect, scroll: Scroll) -> u16 {
        self.cache.begin(cx, area.width);
        let height = u32::from(area.height);
        let mut walk = Walk::new(cx, &mut self.cache);
        // What is held near the end is shown from the end as well.
        let is_held = walk.anchored(scroll, height).is_some();
        let lead = if is_held { Some(0) } else { walk.top_of_end(height).map(|(_, lead)| lead) };
        self.cache.finish();
        lead.map_or(area.height, |lead| u16::try_from(lead).unwrap_or(area.height))
    }

    /// Moves the view by rows; negative is up. At the end the view follows, but for one that moves by no row: it is held.
    pub fn scroll_by(&mut self, cx: &DrawCtx<'_>, area: Rect, scroll: &mut Scroll, rows: i32) {
        if area.is_empty() {
            return;
        }
        self.cache.begin(cx, area.width);
        let height = u32::from(area.height);
        let mut walk = Walk::new(cx, &mut self.cache);
        let end = walk.top_of_end(height);
        let now = walk.anchored(*scroll, height);
        *scroll = match (now, end) {
            // Nothing, or everything fits: there is nowhere to go.
            (_, None) | (None, Some((_, 1..))) => Scroll::Follow,
            (None, Some(_)) if rows > 0 => Scroll::Follow,
            (now, Some((end, _))) => {
                let from = now.unwrap_or(end);
                let to = walk.moved(from, rows);
                if rows > 0 && walk.rows_from(to, height + 1) <= height { Scroll::Follow } else { walk.anchor(to) }
            }
        };
        self.cache.finish();
    }

    /// Which entry is to be unfolded next where this one is shown, and how far. What the person has not touched shows as
    /// much as matters; the first time all there is, when that is more. Calls that share a row come apart first.
    pub fn next_fold(&mut self, cx: &DrawCtx<'_>, area: Rect, id: EntryId) -> Option<(EntryId, Fold)> {
        self.find_folding(cx, area, id).map(|(id, fold, _)| (id, fold))
    }

    /// The same, and whether there is more or less of it then.
    fn find_folding(&mut self, cx: &DrawCtx<'_>, area: Rect, id: EntryId) -> Option<(EntryId, Fold, bool)> {
        let index = cx.session.entries().index_of(id)?;
        self.cache.begin(cx, area.width);
        let mut walk = Walk::new(cx, &mut self.cache);
        let index = walk.first_of_row(index);
        let with = walk.with(index);
        let with: Vec<_> = with.iter().map(|entry| &**entry).collect();
        let id = cx.session.entries().id_at(index);
        if group::is_of_calls(&with) {
            return Some((id, Fold::Apart, true));
        }
        let entry = self.cache.reading.entry(cx, index)?;
        let flows = |fold| cells::flow(&entry, fold).is_some();
        let (chosen, mut drawn) = (cx.folds.of(id), None);
        // As it was drawn, and as it will be: neither is laid out again for the next frame.
        let mut changes = |fold| match (flows(chosen), flows(Some(fold))) {
            (false, false) => {
                let mut folds = cx.folds.clone();
                folds.set(id, fold);
                self.cache.pieces(cx, &entry);
                let before = drawn.get_or_insert_with(|| self.cache.laid(cx, &entry, &with, 0).lines.clone());
                self.cache.laid(&DrawCtx { folds: &folds, ..*cx }, &entry, &with, 0).lines != *before
            }
            (before, after) => before != after,
        };
        let found = match chosen {
            Some(Fold::Open) => (id, Fold::Closed, changes(Fold::Closed)),
            Some(Fold::Closed) => (id, Fold::Open, changes(Fold::Open)),
            Some(Fold::Apart) | None if changes(Fold::Open) => (id, Fold::Open, true),
            Some(Fold::Apart) | None => (id, Fold::Closed, changes(Fold::Closed)),
        };
        self.cache.finish();
        Some(found)
    }

    /// The position that keeps what is in view where it is, whatever comes below.
    pub fn held(&mut self, cx: &DrawCtx<'_>, area: Rect, scroll: Scroll) -> Scroll {
        self.cache.begin(cx, area.width);
        let height = u32::from(area.height);
        let mut walk = Walk::new(cx, &mut self.cache);
        let top = walk.anchored(scroll, height).or_else(|| Some(walk.top_of_end(height)?.0));
        let held = top.map_or(scroll, |top| walk.anchor(top));
        self.cache.finish();
        held
    }

    /// A position that was held, or the end where that is in view.
    pub fn settled(&mut self, cx: &DrawCtx<'_>, area: Rect, held: Scroll) -> Scroll {
        self.cache.begin(cx, area.width);
        let height = u32::from(area.height);
        let mut walk = Walk::new(cx, &mut self.cache);
        let has_more = walk.resolve(held).is_some_and(|top| walk.rows_from(top, height + 1) > height);
        self.cache.finish();
        if has_more { held } else { Scroll::Follow }
    }

    /// What the next folding does to an entry: nothing where there is neither more of it nor less.
    pub fn folding(&mut self, cx: &DrawCtx<'_>, area: Rect, id: EntryId) -> Option<Fold> {
        let index = cx.session.entries().index_of(id)?;
        self.cache.begin(cx, area.width);
        let rev = self.cache.reading.entry(cx, index)?.rev;
        let key = (cx.session.key(), id, rev, cx.folds.of(id), area.width);
        if let Some((_, known)) = self.folding.filter(|(known, _)| *known == key) {
            return known;
        }
        // Both are laid out for that: not for each frame.
        let found = self.find_folding(cx, area, id).and_then(|(_, fold, changes)| changes.then_some(fold));
        self.folding = Some((key, found));
        found
    }

    /// The first row of the first entry.
    pub fn to_top(&mut self, cx: &DrawCtx<'_>, area: Rect, scroll: &mut Scroll) {
        self.cache.begin(cx, area.width);
        let height = u32::from(area.height);
        let mut walk = Walk::new(cx, &mut self.cache);
        let first = walk.first();
        *scroll = match first {
            Some(first) if walk.rows_from(first, height + 1) > height => walk.anchor(first),
            _ => Scroll::Follow,
        };
        self.cache.finish();
    }

    pub fn to_end(&mut self, _cx: &DrawCtx<'_>, _area: Rect, scroll: &mut Scroll) {
        *scroll = Scroll::Follow;
    }

    /// The character at a position of the screen, or the one that it is nearest to.
    pub fn spot(&mut self, cx: &DrawCtx<'_>, area: Rect, scroll: Scroll, at: Position) -> Option<Character> {
        self.cache.begin(cx, area.width);
        let height = u32::from(area.height);
        let mut walk = Walk::new(cx, &mut self.cache);
        let anchored = walk.anchored(scroll, height).map(|top| (top, 0));
        let spot = anchored.or_else(|| walk.top_of_end(height)).and_then(|(top, lead)| {
            let below = u32::from(at.y.saturating_sub(area.y)).checked_sub(lead);
            let point = walk.moved(top, i32::try_from(below.unwrap_or(0)).unwrap_or(0));
            walk.spot(point, area.x, below.map_or(0, |_| at.x))
        });
        self.cache.finish();
        spot
    }

    /// The next place of what is sought in an entry, behind or before another one; it is brought into view.
    pub fn seek(
        &mut self,
        cx: &DrawCtx<'_>,
        area: Rect,
        scroll: &mut Scroll,
        (entry, from): (EntryId, Option<&Selection>),
        sought: (&Sought, Way, Reach),
    ) -> Option<Selection> {
        let index = cx.session.entries().index_of(entry).filter(|_| !area.is_empty())?;
        self.cache.begin(cx, area.width);
        let height = u32::from(area.height);
        let mut walk = Walk::new(cx, &mut self.cache);
        let found = walk.seek(index, sought, from).map(|(point, hit)| {
            let view = walk.anchored(*scroll, height).map(|top| (top, 0)).or_else(|| walk.top_of_end(height));
            if !view.is_some_and(|view| walk.is_in_view(view, height, point)) {
                let top = walk.moved(point, -i32::from(area.height / 3));
                *scroll = walk.anchor(top);
            }
            hit
        });
        self.cache.finish();
        found
    }

    /// All entries that are shown in the row of this one, from the first on.
    pub fn sharing(&mut self, cx: &DrawCtx<'_>, area: Rect, id: EntryId) -> Vec<EntryId> {
        let entries = cx.session.entries();
        let Some(index) = entries.index_of(id) else { return Vec::new() };
        self.cache.begin(cx, area.width);
        let mut walk = Walk::new(cx, &mut self.cache);
        let first = walk.first_of_row(index);
        let below = walk.with(first).into_iter().chain(walk.written_below(first));
        let all = std::iter::once(entries.id_at(first)).chain(below.map(|entry| entry.id)).collect();
        self.cache.finish();
        all
    }

    /// The words that are selected, as they were written; false when there are more than are taken.
    pub fn selected(&mut self, cx: &DrawCtx<'_>, area: Rect, selection: &Selection) -> (String, bool) {
        self.cache.begin(cx, area.width);
        let taken = Walk::new(cx, &mut self.cache).selected(selection);
        self.cache.finish();
        taken
    }

    /// Whether the last drawing showed a text only in part, because it is too large to be read at once: draw again
    /// soon.
    pub fn is_behind(&self) -> bool {
        self.cache.is_behind()
    }

    /// The program text in view whose colours are not known yet, if any; what is asked comes first.
    pub fn uncoloured(&self) -> Option<Plain> {
        if let Some((_, asked)) = self.asked.as_ref().filter(|(key, _)| self.colours.of(*key).is_none()) {
            return Some(asked.clone());
        }
        let (session, entry, start, line) = self.plain?;
        let lines = self.cache.lines(session, entry, start)?;
        Some(plain(lines, lines.get(line)?.code.as_ref()?))
    }

    /// Gives lines of a question the colours of their programs, as far as they are known.
    pub fn colour_asked(&mut self, lines: &mut [LogicalLine], theme: &Theme) {
        let mut missing = None;
        for at in (0..lines.len()).take(MAX_ASKED) {
            let Some(code) = lines.get(at).and_then(|line| line.code.clone()) else { continue };
            match (self.colours.of(code.key), lines.get_mut(at)) {
                (Some(spans), Some(line)) => line.text = paint::recoloured(&line.text, spans, theme),
                _ => missing = missing.or(Some(code)),
            }
        }
        let lines = lines.get(..MAX_ASKED).unwrap_or(lines);
        self.asked = missing.map(|code| (code.key, plain(lines, &code)));
    }

    /// What was found out about the first lines, by their keys; nothing at all when they stay plain.
    pub fn colour(&mut self, keys: &[u64], lines: Vec<Spans>) {
        let known = if lines.is_empty() { keys.len() } else { lines.len() };
        for (key, spans) in keys.iter().take(known).zip(lines.into_iter().chain(std::iter::repeat(Spans::new()))) {
            self.colours.learn(*key, spans);
        }
        if let Some((_, has_come)) = &mut self.awaited {
            *has_come = true;
        }
    }

    /// Pieces that were laid out by what was asked last.
    #[cfg(test)]
    pub(crate) const fn laid_out(&self) -> u32 {
        self.cache.laid_out()
    }

    /// Bytes that the cache holds.
    #[cfg(test)]
    pub(crate) const fn cached_bytes(&self) -> usize {
        self.cache.bytes()
    }
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
