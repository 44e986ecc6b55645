//! The screen: from the model and the state of the person to cells of a buffer.
//!
//! Reads everything, changes nothing; what it learns comes back as a [`FrameInfo`]. Regions from top to bottom:
//! header, transcript, list, dock, held prompts, commands, rule, composer, status. Invariants: it draws into any
//! size without a panic; the composer and the status line are the last to go, and nothing covers them.

mod aside;
mod chrome;
mod dock;
mod help;
pub mod inline;
pub mod inspector;
mod letters;
mod lists;
mod log_in;
pub(super) mod paint;
mod panel;
mod review;
pub mod session_list;
pub mod sessions;
mod waiting;
mod welcome;

use super::cells::{self, CellCtx};
use super::frame::Motion;
use super::keys::Layer;
use super::msg::FrameInfo;
use super::state::dock::Dialog;
use super::state::folds::Fold;
use super::state::scroll::SeenEnd;
use super::state::session_list::SessionList;
use super::state::{App, Focus};
use super::status_line::{self, Leads, Setup, Status};
use super::transcript::{DrawCtx, Transcript};
use crate::base::sanitize;
use crate::model::Model;
use crate::model::entries::{Entries, Slot};
use crate::model::history::{History, Kind};
use crate::model::ids::{EntryId, Now, SessionKey, TermId};
use crate::model::login::LogIn;
use crate::model::session::{Phase, ReadOnly, Session};
use crate::model::session_ref::SessionRef;
use crate::text::grid::ScreenSnapshot;
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;
use crate::text::width;
use crate::theme::color::Depth;
use crate::theme::resolve::Theme;
use dock::{Dock, Room};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Below this it is only said that there is no room.
const MIN: (u16, u16) = (10, 3);
/// Up to this height, or below this width, there is only the state and the composer.
const TINY: (u16, u16) = (20, 4);
/// Up to this height the list of sessions takes all but the state.
const LIST_ALONE: u16 = 8;
const HEADER_FROM: u16 = 16;
/// Rows of what takes the keyboard, whatever else stands there; below so many rows of the screen, what is written has one.
const LISTED: u16 = 5;
const TIGHT: u16 = 16;
/// Rows of a question beside which the conversation is read on a small screen, and of one beside the review, whose own head
/// and foot take two.
const READ_BESIDE: u16 = 3;
const REVIEW_BESIDE: u16 = 2;
/// Up to so many rows a question may take those of the conversation.
const CRAMPED: u16 = 10;
const AIR_FROM: u16 = 20;
const MORE_AIR_FROM: u16 = 30;

/// Whether glyphs may move.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Animation {
    #[default]
    On,
    /// Reduced motion, or no colours.
    Off,
}

/// What a frame is drawn from.
#[derive(Clone, Copy)]
pub struct ViewCx<'a> {
    pub model: &'a Model,
    /// The one that is shown.
    pub session: SessionRef<'a>,
    /// What of it is not in memory.
    pub history: &'a dyn History,
    pub state: &'a App,
    pub theme: &'a Theme,
    pub now: Now,
    pub animation: Animation,
    pub home: Option<&'a Path>,
}

impl<'a> ViewCx<'a> {
    /// The same for the transcript and its cells.
    pub fn draw_ctx(&self) -> DrawCtx<'a> {
        DrawCtx {
            session: self.session,
            history: self.history,
            now: self.now,
            spinner_frame: self.spinner_frame(),
            folds: &self.state.view.folds,
            plan_beside: self.state.has_panel,
            selection: self.state.view.marked(),
            typing: self.typing(),
            theme: self.theme,
            home: self.home,
            pictures: (self.theme.depth() != Depth::None).then_some(&self.state.pictures),
            keys: Some(&self.state.keys),
        }
    }

    /// Words with the keys in them as they are bound now.
    fn say(&self, layer: Layer, words: &'static str) -> String {
        self.state.keys.say(layer, words)
    }

    /// The same, dim.
    fn dim(&self, layer: Layer, words: &'static str) -> StyledText {
        StyledText::of(self.say(layer, words), Token::Dim)
    }

    fn typing(&self) -> Option<&'a TermId> {
        match &self.state.view.focus {
            Focus::Terminal(id) => Some(id),
            _ => None,
        }
    }

    fn spinner_frame(&self) -> u8 {
        match self.animation {
            Animation::On => (self.now.as_millis() / 100 % 8) as u8,
            Animation::Off => 0,
        }
    }

    fn spinner(&self) -> &'static str {
        super::paint::spinner(self.spinner_frame())
    }

    /// The same for the cells of one entry.
    fn cell_ctx<'b>(&'b self, width: u16, roots: &'b [PathBuf]) -> CellCtx<'b> {
        let fold = Some(Fold::Open);
        let (session, now, typing, home) = (self.session, self.now, self.typing(), self.home);
        let keys = Some(&*self.state.keys);
        CellCtx { session, width, now, with: &[], fold, plan_beside: false, typing, roots, home, pictures: None, keys }
    }
}

/// Draws the whole screen.
pub fn draw(cx: &ViewCx<'_>, transcript: &mut Transcript, buf: &mut Buffer) -> FrameInfo {
    let area = buf.area;
    let shell = waiting::seen_of_shell(area);
    let view = &cx.state.view;
    let mut info = FrameInfo { scroll: view.scroll, seen_end: view.seen_end, shell, ..FrameInfo::default() };
    if area.width < MIN.0 || area.height < MIN.1 {
        let words = width::truncate("too small for acp-tui", usize::from(area.width));
        paint::put(buf, area.x, area.y, area.width, &StyledText::of(words, Token::Dim), cx.theme);
        return info;
    }
    let log_in = typed_log_in(cx);
    let (rest, _) = split_bottom(area, 1);
    let mut moving = false;
    if let Some((id, screen)) = log_in.filter(|_| cx.state.help.is_none()) {
        log_in::draw(cx, screen, rest, buf);
        info.log_in = Some((id.clone(), log_in::size(rest)));
    } else if let Some(list) = alone(cx, area) {
        info.cursor = session_list::over(cx, list, rest, &mut info.list, buf);
    } else if is_tiny(area) {
        tiny(cx, transcript, rest, &mut info, buf);
    } else {
        moving = regular(cx, transcript, rest, &mut info, buf);
    }
    let mut status = status(cx, area, info.folding);
    if log_in.is_some() {
        status.left = status_line::typing(&cx.state.keys, "the log-in");
    }
    moving |= status.busy == status_line::Busy::Yes;
    chrome::status(cx, &status, area, buf);
    info.motion = motion(cx, moving);
    info
}

/// What goes on changing by itself.
fn motion(cx: &ViewCx<'_>, moving: bool) -> Motion {
    let is_waiting = |(_, session): (SessionKey, &Session)| session.is_waiting();
    match cx.animation {
        Animation::On if moving => Motion::Spinner,
        _ if moving || cx.session.is_waiting() => Motion::Clock,
        _ if cx.state.asides.open.is_some() && cx.model.sessions().any(is_waiting) => Motion::Clock,
        _ if cx.state.list.is_some() && cx.model.sessions().any(is_waiting) => Motion::Clock,
        _ => Motion::Still,
    }
}

fn status(cx: &ViewCx<'_>, area: Rect, folding: Option<Fold>) -> Status {
    let leads = Leads {
        keys: &cx.state.keys,
        in_dock: cx.state.view.focus == Focus::Dock,
        is_shared: cx.model.is_shared(cx.session.key()),
    };
    let setup = if is_tiny(area) { Setup::InStatus } else { Setup::OnRule };
    let mut status = status_line::status(cx.session, leads, &chrome::hint(cx, folding), setup, cx.now);
    if let Some(line) = cx.state.status_words.as_ref().filter(|line| !line.is_empty()) {
        status.set_own(line);
    }
    if let Some(command) = cx.typing().and_then(|id| cx.session.command(id)) {
        status.left = status_line::typing(&cx.state.keys, &command.command);
    }
    let layer = cx.state.layer();
    if let Some(words) = chrome::escape(cx, layer) {
        status.set_escape(cx.say(layer, words));
    }
    if chrome::queues(cx, layer) {
        let say = |words| cx.say(layer, words);
        if chrome::is_ours(cx) {
            status.set_sends(say(chrome::RUNS), say(chrome::RUNS));
        } else {
            status.set_sends(say("{Enter} queues it · {Alt+S} sends it now"), say("{Enter} queues it"));
        }
    }
    status
}

/// The place of the dock that the keyboard is in, or would be.
fn dock_layer(cx: &ViewCx<'_>) -> Layer {
    if cx.state.view.dock.form().is_some() { Layer::Form } else { Layer::Dock }
}

/// The screen of a log-in that the person types into.
fn typed_log_in<'a>(cx: &ViewCx<'a>) -> Option<(&'a TermId, &'a Arc<ScreenSnapshot>)> {
    cx.session.log_in().and_then(LogIn::terminal).filter(|(id, _)| cx.typing() == Some(*id))
}

const fn is_tiny(area: Rect) -> bool {
    area.height <= TINY.1 || area.width < TINY.0
}

/// The list, when there is no room for anything beside it.
fn alone<'a>(cx: &ViewCx<'a>, area: Rect) -> Option<&'a SessionList> {
    let is_alone = area.height <= LIST_ALONE && cx.state.help.is_none() && !cx.state.answers_from_list();
    cx.state.list.as_ref().filter(|_| is_alone)
}

/// The state and the composer; the dock instead of the composer while the person has gone there.
fn tiny(cx: &ViewCx<'_>, transcript: &mut Transcript, area: Rect, info: &mut FrameInfo, buf: &mut Buffer) {
    if cx.state.types_a_line() {
        sessions::opener(cx, area, info, buf);
    } else if cx.state.picker.is_some() {
        lists::picker(cx, area, info, buf);
    } else if cx.state.view.focus == Focus::Dock
        && let Some(laid) = dock::layout(cx, transcript, area.width, Room::of(area.height))
    {
        let (_, at) = split_bottom(area, laid.height());
        show_dock(cx, &laid, at, info, buf);
    } else {
        composer(cx, area, area.height, info, buf);
    }
}

/// Returns whether something in it moves.
fn regular(cx: &ViewCx<'_>, transcript: &mut Transcript, area: Rect, info: &mut FrameInfo, buf: &mut Buffer) -> bool {
    let mut rest = sessions::line(cx, area, info, buf);
    let review = cx.state.view.review_here();
    let covered = review.is_some_and(|r| review::place(cx, r, area).0.is_none()) && cx.state.help.is_none();
    if buf.area.height >= HEADER_FROM && !covered {
        let (header, below) = split_top(rest, 1);
        chrome::header(cx, header, buf);
        rest = split_top(below, 1).1;
    }
    // Nobody is there to write to.
    if !cx.session.is_only_reviewed() {
        if buf.area.height >= MORE_AIR_FROM {
            let (above, line) = split_bottom(rest, 1);
            chrome::line(cx, line, buf);
            rest = above;
        }
        let is_tight = takes_keyboard(cx) && buf.area.height < TIGHT;
        let most = if is_tight { 1 } else { (buf.area.height / 3).max(1) };
        rest = composer(cx, rest, most, info, buf);
    }
    let (rest, rule) = split_bottom(rest, 1);
    let blank = blank_rows(cx, transcript, rest);
    let mut rest = asked(cx, transcript, rest, blank, info, buf);
    if buf.area.height >= AIR_FROM && rest.height > 4 {
        rest = split_bottom(rest, 1).0;
    }
    let moving = if let Some(shown) = &cx.state.help {
        help::draw(cx, rest, shown, info, buf);
        false
    } else if let Some(list) = &cx.state.list {
        info.cursor = session_list::over(cx, list, rest, &mut info.list, buf);
        false
    } else if let Some(inspector) = &cx.state.inspector {
        let look = inspector::Look {
            theme: cx.theme,
            keys: &cx.state.keys,
            has_several: cx.state.has_several(),
            is_file: false,
        };
        let drawn = inspector::draw(look, inspector, rest, buf);
        info.inspected = drawn.rows;
        info.cursor = drawn.cursor.or(info.cursor);
        false
    } else if let Some(review) = review {
        let (left, right) = review::place(cx, review, rest);
        let moving = left.is_some_and(|left| show_conversation(cx, transcript, left, false, info, buf));
        review::draw(cx, review, right, info, buf);
        moving
    } else {
        let (rest, panel) = panel::place(cx, rest);
        if let Some(at) = panel {
            panel::draw(cx, at, buf);
            info.panel = at;
        }
        show_conversation(cx, transcript, rest, panel.is_some(), info, buf)
    };
    if cx.session.is_only_reviewed() {
        chrome::line(cx, rule, buf);
    } else {
        let (rows, height) = (info.rows_below.unwrap_or(0), info.transcript.height);
        chrome::rule(cx, rule, &chrome::Below { rows, height, prompt: info.prompt, news: info.news }, buf);
    }
    moving
}

/// Whether the person is in a list or a page above what is asked, and not in the question.
fn takes_keyboard(cx: &ViewCx<'_>) -> bool {
    let state = cx.state;
    let lists = state.list.is_some() && !state.answers_from_list();
    let reads = state.help.is_some() || state.inspector.is_some() || lists;
    state.picker.is_some() || reads && state.view.focus != Focus::Dock
}

fn has_question(cx: &ViewCx<'_>) -> bool {
    matches!(cx.state.view.dock.dialog, Some(Dialog::Permission(_)))
}

/// A list is open, or the conversation is being read.
fn looks_elsewhere(cx: &ViewCx<'_>) -> bool {
    let view = &cx.state.view;
    cx.state.list.is_some() || view.reading.is_some() && view.focus != Focus::Dock
}

/// The rows that a small screen leaves to a question while what stands above it is read, the conversation or the review.
fn reads(cx: &ViewCx<'_>) -> Option<u16> {
    let view = &cx.state.view;
    match view.focus {
        _ if cx.state.list.is_some() => None,
        Focus::Dock => None,
        Focus::Review => Some(REVIEW_BESIDE),
        Focus::Composer | Focus::Terminal(_) => view.reading.as_ref().map(|_| READ_BESIDE),
    }
}

/// Rows that nothing would be said in; none where something else than a conversation is shown.
fn blank_rows(cx: &ViewCx<'_>, transcript: &mut Transcript, area: Rect) -> u16 {
    let view = &cx.state.view;
    let shows_another = cx.state.help.is_some() || cx.state.list.is_some() || cx.state.inspector.is_some();
    if view.dock.dialog.is_none() || shows_another || view.review_here().is_some() || cx.session.is_untouched() {
        return 0;
    }
    transcript.blank_rows(&cx.draw_ctx(), panel::place(cx, area).0, view.scroll)
}

/// Lists, questions and lines that are written, from the bottom of an area; returns what is left above them. So many rows
/// of the area nothing else needs.
fn asked(
    cx: &ViewCx<'_>,
    transcript: &mut Transcript,
    mut rest: Rect,
    blank: u16,
    info: &mut FrameInfo,
    buf: &mut Buffer,
) -> Rect {
    // The list says itself who waits; a question stands below it only while it is answered.
    let lists = cx.state.list.is_some() && cx.state.help.is_none() && !cx.state.answers_from_list();
    let is_covered = cx.state.picker.is_some() || cx.state.opener.is_some() || cx.state.secrets.is_some();
    let is_behind = cx.state.help.is_some() || cx.state.inspector.is_some();
    let beside = reads(cx).filter(|_| buf.area.height < TIGHT).unwrap_or_default();
    // Of the conversation nothing that there is room for is covered; a blank row stands between.
    let still = (rest.height * 3 / 5).max(rest.height.saturating_sub(2).min(5)).max(blank.saturating_sub(1));
    let most = rest.height.saturating_sub(1).max(2);
    let dock_room = match (is_covered, &cx.state.view.focus) {
        (true, _) => Room::of(rest.height.min(3)),
        // What the person reads is the other.
        (false, focus) if is_behind && *focus != Focus::Dock => Room::of((rest.height / 4).max(3).min(rest.height)),
        (false, _) if beside > 0 => Room::of((rest.height / 4).max(beside).min(rest.height)),
        // There is room for one of them: of what is decided more than its name is to be seen.
        (false, _) if buf.area.height <= CRAMPED && has_question(cx) && !looks_elsewhere(cx) => Room::of(rest.height),
        // The list stays in view.
        (false, Focus::Dock) if cx.state.list.is_some() => Room::of(rest.height * 3 / 5),
        (false, Focus::Dock) => Room { now: most, still, most },
        (false, _) => Room { now: still, still, most },
    };
    let kept = if takes_keyboard(cx) { LISTED } else { 1 };
    let dock_room = if kept > 1 { dock_room.within(rest.height.saturating_sub(kept).max(1)) } else { dock_room };
    // Why the question is refused stands right below its answers.
    let reason = if cx.state.refusal.is_some() { sessions::LINE.min(rest.height / 2) } else { 0 };
    let dock_room = dock_room.within(rest.height.saturating_sub(reason));
    let laid = if lists { None } else { dock::layout(cx, transcript, rest.width, dock_room) };
    let dock_height = laid.as_ref().map_or(0, Dock::height) + reason;
    // The dock is reserved first: the lists share what it leaves, and stand below it, nearest to the words.
    let free = rest.height.saturating_sub(dock_height);
    rest = lists::commands(cx, rest, free.saturating_sub(1), buf);
    let free = rest.height.saturating_sub(dock_height);
    rest = waiting::shell(cx, rest, (free / 2).max(1).min(free.saturating_sub(kept)), info, buf);
    let free = rest.height.saturating_sub(dock_height);
    rest = waiting::held(cx, rest, free.saturating_sub(kept), buf);
    if !lists && rest.height > dock_height + 4 {
        rest = aside::draw(cx, rest, info, buf);
    }
    if reason > 0 {
        let (above, at) = split_bottom(rest, reason);
        let frame = laid.as_ref().map_or(Token::Accent, |laid| laid.frame(true));
        sessions::reason(cx, at, frame, info, buf);
        rest = above;
    }
    if let Some(laid) = laid {
        let (above, at) = split_bottom(rest, laid.height());
        show_dock(cx, &laid, at, info, buf);
        rest = above;
    }
    if reason == 0 && cx.state.types_a_line() {
        rest = sessions::opener(cx, rest, info, buf);
    } else if cx.state.picker.is_some() {
        rest = lists::picker(cx, rest, info, buf);
    }
    rest
}

fn show_conversation(
    cx: &ViewCx<'_>,
    transcript: &mut Transcript,
    area: Rect,
    plan_beside: bool,
    info: &mut FrameInfo,
    buf: &mut Buffer,
) -> bool {
    if cx.session.entries().is_empty() {
        welcome::draw(cx, area, info, buf);
        info.transcript = area;
        return false;
    }
    let animated = show_transcript(cx, transcript, area, plan_beside, info, buf);
    if cx.session.is_untouched() && !matches!(cx.session.phase(), Phase::Dead(_) | Phase::ReadOnly(_)) {
        let top = info.hits.first().map_or(area.bottom(), |(y, _)| *y);
        let above = Rect { height: top.saturating_sub(area.y + 1), ..area };
        if above.height >= welcome::ROWS {
            welcome::draw(cx, above, info, buf);
        }
    }
    animated
}

/// Which of the prompts an entry follows or is, and how many there are. Before the first one it is of none.
fn prompt_of(entries: &Entries, at: EntryId) -> Option<(usize, usize)> {
    let index = entries.index_of(at)?;
    let prompts = || entries.slots().enumerate().filter(|(_, slot)| slot.kind() == Kind::User);
    let before = prompts().take_while(|(place, _)| *place <= index).count();
    (before > 0).then(|| (before, prompts().count()))
}

fn show_transcript(
    cx: &ViewCx<'_>,
    transcript: &mut Transcript,
    area: Rect,
    plan_beside: bool,
    info: &mut FrameInfo,
    buf: &mut Buffer,
) -> bool {
    info.transcript = area;
    if area.is_empty() {
        return false;
    }
    let viewport = transcript.draw(&DrawCtx { plan_beside, ..cx.draw_ctx() }, area, &mut info.scroll, buf);
    info.hits = viewport.hits;
    info.links = viewport.links;
    info.rows_below = viewport.rows_below;
    let entries = cx.session.entries();
    if matches!(info.rows_below, None | Some(0)) {
        info.seen_end = Some(SeenEnd::now(entries));
    }
    let draws = |slot: &Slot| slot.here().is_none_or(|entry| !cells::is_blank(entry, cx.session));
    info.news = info.seen_end.map_or(0, |end| end.news(entries, draws));
    let is_far = info.rows_below.is_some_and(|below| below >= u64::from(area.height));
    info.prompt = info.hits.first().filter(|_| is_far).and_then(|(_, top)| prompt_of(entries, *top));
    if let Some(reading) = &cx.state.view.reading {
        info.folding = transcript.folding(&DrawCtx { plan_beside, ..cx.draw_ctx() }, area, reading.at);
        let bar = StyledText::of("┃", Token::Accent);
        for (y, _) in info.hits.iter().filter(|(_, entry)| reading.has(*entry)) {
            paint::put(buf, area.x, *y, 1, &bar, cx.theme);
        }
        if reading.has_letters {
            letters::draw(cx, area, info, buf);
        }
    }
    viewport.animated
}

fn show_dock(cx: &ViewCx<'_>, laid: &Dock, area: Rect, info: &mut FrameInfo, buf: &mut Buffer) {
    paint::fill(buf, area, Token::Question, cx.theme);
    info.choices = dock::draw(cx, laid, area, buf);
    info.dock_words = dock::words(cx, laid, area, buf);
    info.dock = area;
    info.dialog = Some(laid.dialog().clone());
    info.options = laid.options();
    info.dock_scroll_max = laid.scroll_max();
    info.dock_top = laid.top();
    info.seen = laid.seen();
    if let Some((x, y)) = laid.cursor().filter(|_| cx.state.view.focus == Focus::Dock) {
        info.cursor = Some(Position { x: area.x.saturating_add(x), y: area.y.saturating_add(y) });
    }
    info.option_below = laid.option_below();
}

/// The composer at the bottom of `area`, at most `max` rows high; returns what is left above it.
fn composer(cx: &ViewCx<'_>, area: Rect, max: u16, info: &mut FrameInfo, buf: &mut Buffer) -> Rect {
    let max = max.min(area.height).max(1);
    let layout = cx.state.view.composer.layout(area.width.saturating_sub(3).max(1), max);
    let height = u16::try_from(layout.rows.len()).unwrap_or(max).clamp(1, max);
    let (above, at) = split_bottom(area, height);
    let view = &cx.state.view;
    let focused = view.focus == Focus::Composer && view.reading.is_none() && view.queued.is_none();
    let (sign, token) = if view.composer.is_shell() { ("! ", Token::Warn) } else { ("❯ ", Token::Accent) };
    let prompt = StyledText::of(sign, if focused { token } else { Token::Dim });
    paint::put(buf, at.x, at.y, at.width, &prompt, cx.theme);
    for (row, y) in layout.rows.iter().zip(at.y..at.bottom()) {
        let row = StyledText::of(row.as_str(), Token::Text);
        paint::put(buf, at.x + 2, y, at.width.saturating_sub(2), &row, cx.theme);
    }
    if layout.first_row > 0 && at.width > 3 {
        // Rows above are not shown.
        paint::put(buf, at.right() - 1, at.y, 1, &StyledText::of("↑", Token::Accent), cx.theme);
    }
    let mark = |buf: &mut Buffer, (row, columns): (u16, Range<u16>), style: RunStyle| {
        let (x, y) = (at.x.saturating_add(2).saturating_add(columns.start), at.y.saturating_add(row));
        let mark = Rect { x, y, width: columns.end - columns.start, height: 1 };
        buf.set_style(mark.intersection(at), cx.theme.style(style));
    };
    for folded in &layout.folded {
        mark(buf, folded.clone(), RunStyle::from(Token::Accent).with_mods(Mods::REVERSE));
    }
    if cx.state.commands() {
        for piece in cx.state.view.composer.selected(&cx.state.vim, &layout) {
            mark(buf, piece, Token::Selected.into());
        }
    }
    if let Some(why) = cx.session.read_only().filter(|_| cx.state.view.composer.is_empty()) {
        let words = if matches!(why, ReadOnly::Elsewhere(_)) {
            " · {F8}, {sessions Enter}: once that has ended · {Alt+T} goes on with its transcript"
        } else {
            " · {Alt+T} goes on with its transcript"
        };
        let words = format!("read only, {}{}", sanitize::line(&why.words()), cx.say(Layer::Composer, words));
        let room = at.width.saturating_sub(3);
        let words = StyledText::of(width::truncate(&words, usize::from(room)), Token::Dim);
        paint::put(buf, at.x + 2, at.y, room, &words, cx.theme);
    }
    if focused && cx.state.view.composer.is_empty() && !is_tiny(buf.area) {
        chrome::placeholder(cx, Rect { x: at.x + 2, width: at.width.saturating_sub(3), ..at }, buf);
    }
    if focused && cx.state.picker.is_none() && !cx.state.types_a_line() && cx.state.list.is_none() {
        let (x, y) = layout.cursor;
        info.cursor = Some(Position {
            x: at.x.saturating_add(2).saturating_add(x).min(at.right().saturating_sub(1)),
            y: at.y.saturating_add(y).min(at.bottom().saturating_sub(1)),
        });
    }
    above
}

/// The first rows of an area, and the rest.
fn split_top(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    (Rect { height: rows, ..area }, Rect { y: area.y + rows, height: area.height - rows, ..area })
}

/// The area without its last rows, and those.
fn split_bottom(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    let above = area.height - rows;
    (Rect { height: above, ..area }, Rect { y: area.y + above, height: rows, ..area })
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
