//! The dock above the composer: what is asked or wrong, and the keys that help.
//!
//! Answers nothing. Invariants: choices stand in the order the agent gave them and with its whole names made harmless;
//! what is not shown of them or of the body can be scrolled to, and that there is more is said.

mod answers;
mod choices;
mod contents;
mod form;
mod hints;
mod kinds;
mod log_in;
mod place;
mod rule;
mod silence;

use super::ViewCx;
use super::paint::{self, Painted, Placed};
use crate::base::{human, sanitize};
use crate::model::agent::{DeathKind, REVIVALS};
use crate::model::entry::Body;
use crate::model::event::Can;
use crate::model::question::{About, Question};
use crate::model::session::{Closed, Phase, SessionState, Write};
use crate::model::tool::ToolKind;
use crate::text::line::{LogicalLine, WrapMode};
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;
use crate::text::width;
use crate::theme::resolve::Theme;
use crate::ui::cells::{self, Sent};
use crate::ui::keys::Layer;
use crate::ui::labels;
use crate::ui::state::Focus;
use crate::ui::state::dock::{Dialog, Raw, Seen, Unshown, seconds};
use crate::ui::state::selection::{AskedGrip, AskedRow};
use crate::ui::transcript::Transcript;
use answers::Answers;
use choices::{Bar, By, Choice, Look, Order, Row, Window};
use contents::{Contents, Place, RawLines, fields};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::path::PathBuf;

/// Entries at the end of the conversation that are in sight.
const NEAR: usize = 4;
/// Lines of an error or of the agent's messages that are shown before the person asks for more.
const DETAIL_LINES: usize = 4;
/// Rows up to which a question that does not fit begins with what is changed.
const CRAMPED: usize = 8;
/// Lines of what was sent where nothing else says what a call does.
const SENT_LINES: usize = 12;

/// Columns from which the agent stands before what it wants.
const AGENT_FROM: u16 = 72;
/// Columns of the first row that are neither what is asked nor the place: blanks, a dot, and enough of the rule.
const BESIDE_PLACE: usize = 10;
/// Columns of a path that are shown however little room there is.
const SHORT_PLACE: usize = 12;
/// Columns from which it is said how to refuse with a reason.
const REASON_FROM: u16 = 100;
/// Columns and rows from which they have a row of their own where nothing is left at the end of one.
const ROOMY: (u16, usize) = (60, 10);

/// Columns around what is asked: the bar and a blank on the left, and the margin that everything has on the right.
const FRAME: u16 = 3;

/// The dock laid out for a width and a height.
pub struct Dock {
    dialog: Dialog,
    body: Vec<Painted>,
    raw: RawLines,
    unnamed: String,
    /// Rows of the body that say what is asked, and those of them above what was sent.
    asked: usize,
    above: usize,
    unshown: Unshown,
    /// First row of the body that is shown, and how many.
    top: usize,
    shown: usize,
    fixed: Vec<Painted>,
    is_fixed_whole: bool,
    fields: (usize, usize),
    answers: Window,
    order: Order,
    /// Row of the body and column at which something is written.
    cursor: Option<(usize, u16)>,
    /// Below the answers: keys, and room for the hint.
    keys: Vec<Row>,
    /// What is asked for reaches outside, removes something or cannot be taken back.
    is_dangerous: bool,
}

impl Dock {
    pub fn height(&self) -> u16 {
        u16::try_from(self.shown + self.fixed.len() + self.answers.rows.len() + self.keys.len()).unwrap_or(u16::MAX)
    }

    /// Of the bar and the rule.
    pub const fn frame(&self, focused: bool) -> Token {
        match (self.is_dangerous, focused) {
            (true, _) => Token::Danger,
            (false, true) => Token::Accent,
            (false, false) => Token::Dock,
        }
    }

    pub fn dialog(&self) -> &Dialog {
        &self.dialog
    }

    /// The choices that can be read.
    pub fn options(&self) -> Vec<usize> {
        self.answers.options.clone()
    }

    /// Rows of the highlighted choice that are below what is shown.
    pub fn option_below(&self) -> usize {
        self.answers.below
    }

    /// Rows of the body that are above what is shown.
    pub fn top(&self) -> usize {
        self.top
    }

    pub fn seen(&self) -> Seen {
        let Self { top, shown: rows, asked, above, unshown, is_fixed_whole, fields, .. } = *self;
        Seen { top, rows, asked, above, unshown, is_fixed_whole, fields }
    }

    /// Where something is written, from the corner of the dock.
    pub fn cursor(&self) -> Option<(u16, u16)> {
        let (row, column) = self.cursor?;
        let row = row.checked_sub(self.top).filter(|row| *row < self.shown)?;
        Some((column.saturating_add(2), u16::try_from(row).ok()?))
    }

    pub fn scroll_max(&self) -> usize {
        self.body.len().saturating_sub(self.shown)
    }
}

/// Rows that a dock may take.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// As things are now.
    pub now: u16,
    /// While the person writes. The answers are laid out for these whoever has the keyboard: none moves under the mouse when
    /// a click or a key brings it here.
    pub still: u16,
    /// The most that all answers may take to be seen.
    pub most: u16,
}

impl Room {
    /// The same in all cases.
    pub const fn of(rows: u16) -> Self {
        Self { now: rows, still: rows, most: rows }
    }

    /// At most so many.
    pub fn within(self, rows: u16) -> Self {
        Self { now: self.now.min(rows), still: self.still.min(rows), most: self.most.min(rows) }
    }
}

/// Lays the dock out; `None` when there is nothing to show or no room at all.
pub fn layout(cx: &ViewCx<'_>, transcript: &mut Transcript, columns: u16, room: Room) -> Option<Dock> {
    let dialog = cx.state.view.dock.dialog.clone()?;
    let max = usize::from(Some(room.now).filter(|max| *max > 0)?);
    let inner = columns.checked_sub(FRAME).filter(|c| *c > 0)?;
    let mut contents = contents(cx, &dialog, columns)?;
    transcript.colour_asked(&mut contents.body, cx.theme);
    let mut fixed = paint::rows(&contents.fixed, inner);
    let is_fixed_whole = fixed.len() <= max;
    fixed.truncate(max);
    let left = |rows: u16| usize::from(rows).saturating_sub(fixed.len());
    let (still, most) = (left(room.still), left(room.most));
    let dock = &cx.state.view.dock;
    let look = Look {
        focused: takes_keys(cx),
        // While the reason of a refusal is written all keys are text.
        armed: dock.is_armed(cx.now) && cx.state.refusal.is_none(),
        letters: cx.state.view.focus == Focus::Dock,
        highlighted: dock.highlighted,
        columns,
    };
    let Answers { choices, window: answers, keys, rows: still } =
        answers::laid_out(cx, &mut contents, look, still, most);
    let max = left(room.now).max(still);
    let mut body = paint::rows(&contents.body, inner);
    let is_short = max <= CRAMPED && body.len() + answers.rows.len() + keys.len() > max;
    if is_short && contents.begin_with_change() {
        body = paint::rows(&contents.body, inner);
    }
    let shown = body.len().min(max.saturating_sub(answers.rows.len() + keys.len()));
    let mut top = dock.scroll.min(body.len() - shown);
    let mut cursor = None;
    if let Some(Place { from, to, line, cursor: column }) = contents.at {
        let row_of = |line| paint::rows(contents.body.get(..line).unwrap_or_default(), inner).len();
        let (from, to, row) = (row_of(from), row_of(to), row_of(line));
        // The whole field where there is room for it, else as far as the cursor.
        let end = if to - from <= shown { to } else { row_of(line + 1) };
        top = end.saturating_sub(shown);
        cursor = column.map(|column| (row, column));
    }
    let order = choices.order;
    let rows_to = |end: usize| match contents.body.get(..end) {
        Some(lines) if lines.len() < contents.body.len() => paint::rows(lines, inner).len(),
        _ => body.len(),
    };
    let (asked, above) = (rows_to(contents.asked), rows_to(contents.above));
    let (raw, unshown) = (contents.raw, contents.unshown);
    let unnamed = std::mem::take(&mut contents.unnamed);
    let fields = fields(&contents, inner, top..top + shown);
    let is_dangerous = contents.body.iter().any(is_dangerous);
    Some(Dock {
        dialog,
        body,
        raw,
        unnamed,
        asked,
        above,
        unshown,
        top,
        shown,
        fixed,
        is_fixed_whole,
        fields,
        answers,
        order,
        cursor,
        keys,
        is_dangerous,
    })
}

/// Whether a line says something in the colour of danger.
fn is_dangerous(line: &LogicalLine) -> bool {
    [&line.prefix, &line.text].iter().any(|text| text.iter().any(|(_, style)| style.token == Token::Danger))
}

/// Whether the keyboard is here, or at least digits answer.
fn takes_keys(cx: &ViewCx<'_>) -> bool {
    cx.state.view.focus == Focus::Dock || digits_answer(cx)
}

/// Whether there are answers to choose from.
fn has_options(cx: &ViewCx<'_>, dialog: &Dialog) -> bool {
    matches!(dialog, Dialog::Permission(req) if cx.session.question(*req).is_some_and(|q| !q.options.is_empty()))
}

/// Whether digits answer although the person may write.
fn digits_answer(cx: &ViewCx<'_>) -> bool {
    let view = &cx.state.view;
    let asks = view.dock.dialog.as_ref().is_some_and(|dialog| has_options(cx, dialog));
    let is_free = view.focus == Focus::Composer && view.composer.is_empty() && !cx.state.commands();
    asks && is_free && view.dock.is_sticky(cx.now)
}

/// Returns where answers stand that can be highlighted.
pub fn draw(cx: &ViewCx<'_>, dock: &Dock, area: Rect, buf: &mut Buffer) -> Vec<(Rect, usize)> {
    let mut choices = Vec::new();
    let focused = takes_keys(cx);
    let frame = dock.frame(focused);
    let (corner, bar) = (StyledText::of("┏ ", frame), StyledText::of("┃ ", frame));
    let mut y = area.y;
    let line = |y: u16| Rect { x: area.x.saturating_add(2), y, width: area.width.saturating_sub(FRAME), height: 1 };
    for (at, row) in dock.body.iter().enumerate().skip(dock.top).take(dock.shown) {
        if y >= area.bottom() {
            return choices;
        }
        paint::put(buf, area.x, y, area.width, if at == 0 { &corner } else { &bar }, cx.theme);
        paint::row(buf, line(y), row, cx.theme);
        if at == 0 {
            heavy_rule(buf, line(y), row, frame, cx.theme);
        }
        y += 1;
    }
    for row in dock.fixed.iter().take(usize::from(area.bottom().saturating_sub(y))) {
        paint::put(buf, area.x, y, area.width, &bar, cx.theme);
        paint::row(buf, line(y), row, cx.theme);
        y += 1;
    }
    let mut rows = Vec::new();
    for row in dock.answers.rows.iter().chain(&dock.keys) {
        if y >= area.bottom() {
            break;
        }
        choices.extend(row.places(area, y));
        if row.bar == Bar::No {
            paint::put(buf, area.x, y, area.width, &row.text, cx.theme);
        } else {
            paint::put(buf, area.x, y, area.width, &bar, cx.theme);
            let used = paint::put(buf, area.x + 2, y, area.width.saturating_sub(FRAME), &row.text, cx.theme);
            rows.push((y, if used == 0 { 0 } else { used + 1 }));
        }
        y += 1;
    }
    if dock.order == Order::Below {
        rows = rows.split_off(rows.len().saturating_sub(1));
    }
    let token = if focused { Token::Accent } else { Token::Dim };
    for hint in hints::of(dock, cx) {
        let hint = StyledText::of(hint, token);
        let at =
            rows.iter().rev().find(|(y, used)| paint::put_right(buf, line(*y), *used, &hint, cx.theme) == Placed::Yes);
        if at.is_some() {
            break;
        }
    }
    choices
}

/// The words of the body and of what stands below it, row by row; what is selected of them is marked.
pub fn words(cx: &ViewCx<'_>, dock: &Dock, area: Rect, buf: &mut Buffer) -> Vec<AskedRow> {
    let grip = &cx.state.view.asked_grip;
    let view = dock.top..dock.top + dock.shown;
    let is_wanted = |at: &usize| view.contains(at) || *at >= dock.body.len() || *grip != AskedGrip::Nothing;
    let below =
        |row: usize| u16::try_from(row).ok().map(|row| area.y.saturating_add(row)).filter(|y| *y < area.bottom());
    let mut words = Vec::new();
    for (at, row) in dock.body.iter().chain(&dock.fixed).enumerate().filter(|(at, _)| is_wanted(at)) {
        let y = match at.checked_sub(dock.body.len()) {
            Some(fixed) => below(dock.shown + fixed),
            None => view.contains(&at).then(|| below(at - dock.top)).flatten(),
        };
        let front = u16::try_from(width::styled_width(&row.front)).unwrap_or(u16::MAX);
        let x = area.x.saturating_add(2).saturating_add(front);
        let words_of = AskedRow { at, y, x, text: row.text.as_str().into(), joint: row.joint, of_diff: row.of_diff };
        if let (Some(y), Some(columns)) = (y, grip.columns(&dock.dialog, &words_of)) {
            let marked = Rect { x: columns.start, y, width: columns.end - columns.start, height: 1 };
            let room = Rect { width: area.width.saturating_sub(1), ..area };
            buf.set_style(marked.intersection(room), cx.theme.style(Token::Selected));
        }
        words.push(words_of);
    }
    words
}

/// From the words of the first row to its figures.
fn heavy_rule(buf: &mut Buffer, area: Rect, row: &Painted, token: Token, theme: &Theme) {
    let columns = |text: &StyledText| u16::try_from(width::styled_width(text)).unwrap_or(u16::MAX);
    let from = columns(&row.front).saturating_add(columns(&row.text)).saturating_add(1);
    let figures = columns(&row.right);
    let free = area.width.saturating_sub(from).saturating_sub(if figures == 0 { 0 } else { figures + 1 });
    let rule = StyledText::of("━".repeat(usize::from(free)), token);
    paint::put(buf, area.x.saturating_add(from), area.y, free, &rule, theme);
}

fn contents(cx: &ViewCx<'_>, dialog: &Dialog, columns: u16) -> Option<Contents> {
    Some(match dialog {
        Dialog::Permission(req) => {
            let pending = cx.session.question(*req)?;
            let question = permission(cx, pending, columns);
            match &cx.state.view.dock.rule {
                Some(draft) if cx.state.view.focus == Focus::Dock => rule::contents(cx, draft, question),
                _ => question,
            }
        }
        Dialog::LogIn => log_in::wanted(cx, cx.session.log_in()?),
        Dialog::Authenticating(method) => {
            let attempt = cx.session.log_in()?.attempt.as_ref()?;
            log_in::under_way(cx, cx.session, method, attempt, cx.now.saturating_sub(attempt.since))
        }
        Dialog::Dead => {
            let Phase::Dead(death) = cx.session.phase() else { return None };
            // How it ended, and its last lines, stand in the transcript, right above.
            let is_gone = matches!(death.kind, DeathKind::Early | DeathKind::Gone | DeathKind::Lost);
            let is_said = is_gone
                && cx.session.entries().iter().rev().take(NEAR).any(|entry| match &entry.body {
                    Body::Notice(notice) => notice.title == death.message,
                    _ => false,
                });
            let words = if is_said { "No agent is running." } else { &death.message };
            let mut body = vec![strong(words, Token::Bad)];
            if !death.hint.is_empty() {
                body.push(plain(&death.hint, Token::Text));
            }
            dead(cx, body)
        }
        Dialog::Silent => silence::start(cx)?,
        Dialog::Quiet => silence::quiet(cx)?,
        Dialog::Unconfirmed => silence::unconfirmed(cx)?,
    })
}

/// What keys do that are no digits, named as they come; those that are bound to nothing are left out.
fn keys(cx: &ViewCx<'_>, layer: Layer, list: &[(&str, &str)]) -> Vec<Choice> {
    let choice = |(key, name): &(&str, &str)| {
        Some(Choice::new(cx.state.keys.now(layer, key)?, (*name).into(), By::Key, Vec::new()))
    };
    list.iter().filter_map(choice).collect()
}

fn plain(text: &str, token: Token) -> LogicalLine {
    LogicalLine::text(StyledText::of(sanitize::line(text).trim(), token))
}

fn strong(text: &str, token: Token) -> LogicalLine {
    let style = RunStyle::from(token).with_mods(Mods::BOLD);
    LogicalLine::text(StyledText::of(sanitize::line(text).trim(), style))
}

/// Words that are not ours.
fn quoted(text: &str) -> LogicalLine {
    LogicalLine {
        prefix: StyledText::of("  ", Token::Dim),
        hang: StyledText::of("  ", Token::Dim),
        text: StyledText::of(sanitize::line(text).trim_end(), Token::Quote),
        ..LogicalLine::default()
    }
}

/// What is left of what was sent, and the key that shows it.
fn more_sent(cx: &ViewCx<'_>, all: usize) -> Option<LogicalLine> {
    let more = all.checked_sub(SENT_LINES).filter(|more| *more > 0)?;
    let shows = cx.say(Layer::Dock, " · {v} shows all that was sent");
    Some(plain(&format!("  … {} more{shows}", human::count(more as u64, "line")), Token::Dim))
}

/// The keys that stand behind the answers: one makes a rule, one refuses with a reason.
fn further(cx: &ViewCx<'_>, rule: &str, reason: &str) -> Vec<Choice> {
    let rule = cx.session.rules.are_there().then_some(("a", rule));
    keys(cx, Layer::Dock, &rule.into_iter().chain([("!", reason)]).collect::<Vec<_>>())
}

/// The verb before what is asked, and what of both stands out: of a file its path, in which questions differ, unless it is to
/// be removed; a long command is no easier to read in bold.
fn set_verb(first: &mut LogicalLine, before: StyledText, verb: &str, removes: bool) {
    let bold = |style: RunStyle| style.with_mods(style.mods.with(Mods::BOLD));
    let token = RunStyle::from(if removes { Token::Danger } else { Token::Text });
    let is_of_file = matches!(verb, "create" | "edit" | "write" | "read") && !removes;
    let mut prefix = before;
    prefix.push(verb, if is_of_file { token } else { bold(token) });
    prefix.push(" ", Token::Text);
    first.prefix = prefix;
    if is_of_file {
        let path = std::mem::take(&mut first.text);
        path.iter().for_each(|(text, style)| first.text.push(text, bold(style)));
    }
}

fn permission(cx: &ViewCx<'_>, pending: &Question, columns: u16) -> Contents {
    let mut body = Vec::new();
    let waiting = cx.session.questions().len();
    let at = 1 + cx.session.questions().iter().position(|p| p.req == pending.req).unwrap_or(0);
    let waited = labels::clock(cx.now.saturating_sub(pending.at));
    let count = match (waiting, columns) {
        (0 | 1, _) => String::new(),
        (n, 0..60) => format!("{at}/{n} "),
        (n, _) => format!("{at} of {n} · "),
    };
    let right = StyledText::of(format!("{count}{waited}"), Token::Dim);
    if let About::Asked { asking, .. } = &pending.about {
        return form::contents(cx, pending, asking, right, columns);
    }
    let agent = labels::agent(cx.session);
    let tool = cx.session.tool(pending.entry);
    let roots = [PathBuf::from(&cx.session.cwd)];
    let ctx = cx.cell_ctx(columns.saturating_sub(FRAME), &roots);
    let is_opened = cx.state.view.dock.raw == Raw::Shown;
    let about = cells::asked(pending, if is_opened { Sent::Below } else { Sent::Beginning }, &ctx);
    let unshown = unshown(&about, is_opened);
    let cells::Asked { verb, lines, wording, sent, is_bare, is_set_out, .. } = about;
    // What is asked comes first: verb and the whole command or path. The place follows it.
    let indent = " ".repeat(lines.first().map_or(0, |l| l.prefix.len()));
    let what = 1 + lines.iter().skip(1).take_while(|l| !indent.is_empty() && l.prefix.as_str() == indent).count();
    let mut lines = lines.into_iter();
    let mut first = lines.next().unwrap_or_default();
    let wide = columns >= AGENT_FROM;
    let mut prefix = StyledText::new();
    if wide {
        let wants = if verb == cells::ABOUT { "asks" } else { "wants to" };
        prefix.push(&format!("{agent} {wants} "), Token::Text);
    }
    let removes = verb == "delete" || tool.is_some_and(|tool| tool.kind == ToolKind::Delete);
    set_verb(&mut first, prefix, verb, removes);
    first.hang = StyledText::of("  ", Token::Text);
    first.wrap = WrapMode::Words;
    let place = place::of(cx);
    let notes = place::notes(cx, pending);
    let inner = usize::from(columns.saturating_sub(FRAME));
    let said = [&first.prefix, &first.text, &right].map(width::styled_width).iter().sum::<usize>();
    let room = inner.saturating_sub(said + BESIDE_PLACE);
    // A row more would be taken from what is asked: a long path is cut at its start, unless files elsewhere are meant.
    let least = if pending.outside.is_empty() { SHORT_PLACE } else { usize::MAX };
    let fits = |place: &&String| what == 1 && notes.is_empty() && width::str_width(place).min(least) <= room;
    let beside = place.as_ref().filter(|_| wide).filter(fits);
    first.right = right;
    if let Some(place) = beside {
        let place = width::truncate_start(place, room);
        let beside = StyledText::of(format!("{place} · "), Token::Dim);
        let figures = std::mem::replace(&mut first.right, beside);
        first.right.append(&figures);
    }
    body.push(first);
    body.extend(lines.by_ref().take(what - 1));
    body.extend(wording);
    let below = place.as_deref().filter(|_| beside.is_none());
    let named = Some(&*agent).filter(|_| !wide && cx.state.has_several());
    let below = place::below(named, below, &notes, inner);
    body.extend(below.map(|words| LogicalLine { wrap: WrapMode::Words, ..plain(&words, Token::Dim) }));
    // The review shows the same, and there it can be decided piece by piece.
    let is_shown = cx.state.view.review.is_some() && cx.session.write(pending.req).is_some_and(Write::is_held);
    if !is_shown {
        body.extend(lines);
    }
    let above = body.len();
    if is_bare && !is_opened {
        body.extend(sent.iter().take(SENT_LINES).cloned());
        body.extend(more_sent(cx, sent.len()));
    }
    let raw = match cx.state.view.dock.raw {
        _ if sent.is_empty() => RawLines::None,
        Raw::Shown => RawLines::Shown,
        Raw::Hidden => RawLines::Hidden,
    };
    let is_needed = is_bare || !is_set_out;
    let mut asked = body.len();
    if raw == RawLines::Shown {
        body.extend(sent);
        asked = if is_needed { body.len() } else { asked };
    }
    let mut choices = kinds::answers(cx, pending, columns);
    let further = |rule, reason| further(cx, rule, reason);
    let mut unnamed = String::new();
    if columns >= REASON_FROM {
        choices.extend(further("make a rule", "refuse and say why"));
    } else {
        let short = further("rule", "why").iter().map(|key| format!("{} {}", key.key, key.name)).collect::<Vec<_>>();
        unnamed = short.join(" · ");
    }
    let beside = if unnamed.is_empty() { Vec::new() } else { further("make a rule", "refuse and say why") };
    Contents { raw, asked, above, unshown, unnamed, further: beside, ..Contents::of(body, choices) }
}

/// What of the input belongs to a question and does not stand in the dock.
fn unshown(about: &cells::Asked, is_opened: bool) -> Unshown {
    let is_needed = about.is_bare || !about.is_set_out;
    let is_cut = !about.is_set_out || about.is_bare && (about.sent.len() > SENT_LINES || !about.is_whole);
    match is_opened {
        _ if !about.is_kept => Unshown::TooLong,
        true if is_needed && !about.is_whole => Unshown::TooLong,
        true if is_needed => Unshown::Opened,
        false if is_cut => Unshown::UntilOpened,
        _ => Unshown::Nothing,
    }
}

/// What becomes of an agent that has ended.
fn dead(cx: &ViewCx<'_>, mut body: Vec<LogicalLine>) -> Contents {
    let agent = cx.session.agent();
    let session = cx.session.session();
    if session.has_talked() && !session.is_to_go_on() && !agent.can(Can::Load) && !agent.can(Can::Resume) {
        let words = "It cannot take up a session: a new start begins a new one, in which nothing of this is known.";
        body.push(plain(words, Token::Text));
    }
    if matches!(session.state, SessionState::Closed(Closed::Refused(_))) && session.has_talked() {
        let words = cx.state.keys.hint(Layer::Dock, "{Alt+T} goes on with its transcript in a new session.");
        body.extend(words.map(|words| plain(&words, Token::Text)));
    }
    let Some(revival) = agent.revival else {
        if agent.revivals == REVIVALS {
            let words = format!("It has been started again {REVIVALS} times and has ended each time.");
            body.push(plain(&words, Token::Text));
        }
        return Contents::of(body, keys(cx, Layer::Dock, &[("r", "start it again"), ("q", "quit")]));
    };
    let left = seconds(revival.at.saturating_sub(cx.now));
    let attempt = revival.attempt;
    let words = format!("It is started again in {left} s, try {attempt} of {REVIVALS}.");
    body.push(plain(&words, Token::Text));
    Contents::of(
        body,
        keys(cx, Layer::Dock, &[("r", "start it again now"), ("Esc", "leave it as it is"), ("q", "quit")]),
    )
}

#[cfg(test)]
#[path = "dock_tests.rs"]
mod tests;
