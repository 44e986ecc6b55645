//! The list of sessions: the filter, what is open, what was earlier, and what is asked before something is done.
//!
//! Reads the list, keeps nothing. Needs no session, so that it can be chosen from before there is one. Invariants: the
//! work for a frame is that of the rows that are seen; a command that is to be started is shown whole, or it is said that
//! it is not.

use super::paint;
use super::{ViewCx, split_bottom, split_top};
use crate::base::{human, paths, sanitize};
use crate::model::ids::SessionKey;
use crate::model::question::{About, Question};
use crate::model::session_ref::SessionRef;
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;
use crate::text::width;
use crate::theme::resolve::Theme;
use crate::ui::cells;
use crate::ui::keys::{Keymap, Layer};
use crate::ui::labels;
use crate::ui::state::attention::Attention;
use crate::ui::state::session_list::{
    Density, End, Finding, Hit, ListFrame, Past, PastSession, Reach, Row, Said, SessionList, Sort, Who,
};
use crate::ui::status_line;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::path::Path;

mod asking;
mod preview;

/// Rows from which headings, a row about what is chosen, and a row of keys are worth their room.
const HEADS_FROM: u16 = 9;
const DETAIL_FROM: u16 = 12;
const FOOT_FROM: u16 = 4;
/// Rows from which what can be done with a session stands in a row of its own.
const ACTS_FROM: u16 = 14;
/// Columns from which it is said how many turns there were, and which agent it was.
const WIDE: u16 = 70;
const NAMES_AGENT: u16 = 48;
const MEDIUM: u16 = 34;
/// Columns from which the end of what was said stands beside the list.
const PREVIEW_FROM: u16 = 100;
/// Columns of an agent's name.
const AGENT: usize = 16;
/// Columns of what a session is called, at the least.
const NAME: usize = 12;
/// Columns that the name of an open session keeps beside its agent.
const LONG_NAME: usize = 16;

/// Said of a session that its agent can neither load nor resume.
pub(super) const READ_ONLY: &str = "read only";

/// What it is drawn with.
#[derive(Clone, Copy)]
pub struct Look<'a> {
    pub theme: &'a Theme,
    pub home: Option<&'a Path>,
    pub keys: &'a Keymap,
    /// What is said of a session that is open, in so many columns.
    pub open: &'a dyn Fn(SessionKey, usize) -> Option<OpenRow>,
    /// The end of what was said in it.
    pub said: &'a dyn Fn(SessionKey) -> Vec<Said>,
    /// What Enter does besides going there, and what Esc does.
    pub escape: &'static str,
}

/// A session that is open.
pub struct OpenRow {
    /// Number, name, what it does.
    row: StyledText,
    /// Its agent and where it is.
    place: String,
    /// Something can be answered.
    can_answer: bool,
}

/// A line of the list, which is longer than the screen.
#[derive(Clone, Copy)]
enum Line {
    Head(&'static str),
    Past,
    Row(usize),
    /// The second row of one.
    More(usize),
    /// What is to be said where nothing is listed.
    Empty,
}

/// Draws the list into the whole area; returns where the cursor stands.
pub fn draw(
    list: &SessionList,
    look: Look<'_>,
    area: Rect,
    frame: &mut ListFrame,
    buf: &mut Buffer,
) -> Option<Position> {
    if area.is_empty() {
        return None;
    }
    if list.asks.is_some() && area.height < FOOT_FROM {
        return asking::question(list, look, area, frame, buf);
    }
    let (head, rest) = split_top(area, u16::from(area.height > 1));
    let cursor = if head.is_empty() { None } else { Some(filter(list, look, head, buf)) };
    let foot = foot_rows(list, look, rest);
    let (body, foot) = split_bottom(rest, foot);
    let has_detail = rest.height >= DETAIL_FROM && list.asks.is_none();
    let (body, detail) = split_bottom(body, u16::from(has_detail));
    frame.has_preview = area.width >= PREVIEW_FROM && body.height >= FOOT_FROM;
    let (body, beside) = if frame.has_preview { preview::split(body) } else { (body, Rect::ZERO) };
    rows(list, look, body, frame, buf);
    preview::draw(list, look, beside, buf);
    if has_detail {
        self::detail(list, look, detail, buf);
    }
    if list.asks.is_some() {
        return asking::question(list, look, foot, frame, buf);
    }
    self::foot(list, look, foot, buf);
    cursor
}

/// The same over the screen of a session.
pub fn over(
    cx: &ViewCx<'_>,
    list: &SessionList,
    area: Rect,
    frame: &mut ListFrame,
    buf: &mut Buffer,
) -> Option<Position> {
    let open = |key, columns| about_open(cx, key, columns);
    let said = |key| preview::of_open(cx, key);
    let look =
        Look { theme: cx.theme, home: cx.home, open: &open, said: &said, keys: &cx.state.keys, escape: "{Esc} closes" };
    let cursor = draw(list, look, area, frame, buf);
    cursor.filter(|_| !cx.state.answers_from_list())
}

fn filter(list: &SessionList, look: Look<'_>, area: Rect, buf: &mut Buffer) -> Position {
    let mut line = StyledText::of("  ", Token::Accent);
    if area.width >= MEDIUM {
        line.push(if list.finding().is_some() { "search: " } else { "sessions: " }, Token::Dim);
    }
    // The end of what is typed is what is being typed.
    let room = usize::from(area.width).saturating_sub(width::styled_width(&line) + 1);
    line.push(&width::truncate_start(&sanitize::line(list.filter()), room), Token::Text);
    let used = paint::put(buf, area.x, area.y, area.width, &line, look.theme);
    let count = match list.past() {
        Past::Reading => "reading…".to_owned(),
        Past::Read(_) | Past::None | Past::Failed(_) => {
            format!("{} of {}", (list.selected() + 1).min(list.len()), human::thousands(list.len() as u64))
        }
    };
    let line = Rect { width: area.width.saturating_sub(1), ..area };
    paint::put_right(buf, line, used + 2, &StyledText::of(count, Token::Dim), look.theme);
    Position { x: (area.x + used).min(area.right().saturating_sub(1)), y: area.y }
}

/// How many lines there are, and which the n-th is: with headings where there is room for them.
struct Lines {
    open: usize,
    past: usize,
    heads: bool,
    /// Rows of each session.
    each: usize,
}

impl Lines {
    fn of(list: &SessionList, area: Rect) -> Self {
        let open = list.open_len();
        let heads = area.height >= HEADS_FROM;
        let each = if heads && list.taste().density == Density::TwoRows { 2 } else { 1 };
        Self { open, past: list.len() - open, heads, each }
    }

    const fn heads_before_past(&self) -> usize {
        if !self.heads {
            0
        } else if self.open > 0 {
            // Both headings, and a blank row between them.
            3
        } else {
            1
        }
    }

    fn len(&self) -> usize {
        self.heads_before_past() + self.open * self.each + (self.past * self.each).max(1)
    }

    fn place(&self, row: usize) -> usize {
        let heads = if row < self.open { usize::from(self.heads) } else { self.heads_before_past() };
        heads + row * self.each
    }

    fn row(&self, line: usize) -> Line {
        if line.is_multiple_of(self.each) { Line::Row(line / self.each) } else { Line::More(line / self.each) }
    }

    fn at(&self, line: usize) -> Line {
        let first = usize::from(self.heads && self.open > 0);
        if line < first {
            return Line::Head("open here");
        }
        if line < first + self.open * self.each {
            return self.row(line - first);
        }
        let past = self.heads_before_past() + self.open * self.each;
        match line {
            line if line >= past && self.past == 0 => Line::Empty,
            line if line >= past => self.row(line - self.heads_before_past()),
            line if line + 1 == past => Line::Past,
            _ => Line::Head(""),
        }
    }
}

fn rows(list: &SessionList, look: Look<'_>, area: Rect, frame: &mut ListFrame, buf: &mut Buffer) {
    let lines = Lines::of(list, area);
    let height = usize::from(area.height);
    frame.page = height / lines.each;
    let place = if list.is_empty() { 0 } else { lines.place(list.selected()) };
    let first = (place + lines.each).saturating_sub(height);
    for (n, y) in (first..lines.len()).zip(area.y..area.bottom()) {
        let line = Rect { y, height: 1, ..area };
        let strong = RunStyle::from(Token::Text).with_mods(Mods::BOLD);
        match lines.at(n) {
            Line::Head(words) => {
                paint::put(
                    buf,
                    line.x + 2,
                    y,
                    line.width.saturating_sub(2),
                    &StyledText::of(words, strong),
                    look.theme,
                );
            }
            Line::Past => {
                let room = usize::from(line.width.saturating_sub(3));
                let what = if list.finding().is_some() { "found" } else { "earlier" };
                let words = match list.reach() {
                    Reach::Everywhere => format!("{what}, in all directories"),
                    Reach::Here => format!("{what}, in {}", paths::display(&list.home(), &[], look.home)),
                };
                let words = StyledText::of(width::truncate(&words, room), strong);
                paint::put(buf, line.x + 2, y, line.width.saturating_sub(2), &words, look.theme);
            }
            Line::Empty => {
                let words =
                    width::truncate_styled(&nothing(list, look.keys), usize::from(line.width.saturating_sub(5)));
                paint::put(buf, line.x + 4, y, line.width.saturating_sub(5), &words, look.theme);
            }
            Line::Row(at) => {
                frame.rows.push((y, at));
                row(list, look, at, line, buf);
            }
            Line::More(at) => {
                frame.rows.push((y, at));
                let words = more(list, look, at, usize::from(line.width.saturating_sub(5)));
                paint::put(buf, line.x + 4, y, line.width.saturating_sub(5), &words, look.theme);
            }
        }
    }
}

/// Why no earlier session is listed.
fn nothing(list: &SessionList, keys: &Keymap) -> StyledText {
    let say = |words| keys.say(Layer::Sessions, words);
    match list.finding() {
        None => {}
        Some(Finding::Typed) => return StyledText::of(say("{Enter} looks for it in all that was said"), Token::Dim),
        Some(Finding::Going) => return StyledText::of("looking…", Token::Dim),
        Some(Finding::Found(..)) => return StyledText::of("found nowhere", Token::Dim),
        Some(Finding::Failed(why)) => return StyledText::of(sanitize::line(why), Token::Warn),
    }
    let words = match list.past() {
        Past::None => "no sessions are kept: there is no home directory".to_owned(),
        Past::Reading => "reading…".to_owned(),
        Past::Failed(why) => {
            return StyledText::of(format!("cannot be read: {}", sanitize::line(why)), Token::Warn);
        }
        Past::Read(_) if !list.filter().is_empty() => "nothing matches".to_owned(),
        Past::Read(_) => match (list.reach(), list.elsewhere()) {
            (Reach::Here, n) if n > 0 => {
                format!("none of this directory{}", say(" · {Tab} shows # of others").replace('#', &n.to_string()))
            }
            _ => "no earlier session yet".to_owned(),
        },
    };
    StyledText::of(words, Token::Dim)
}

fn row(list: &SessionList, look: Look<'_>, at: usize, line: Rect, buf: &mut Buffer) {
    let selected = at == list.selected();
    let mut text = StyledText::of(if selected { "▸ " } else { "  " }, Token::Accent);
    let columns = usize::from(line.width.saturating_sub(3));
    match list.row(at) {
        None => return,
        Some(Row::Open(open)) => match (look.open)(open.key, columns) {
            Some(about) => text.append(&about.row),
            None => text.push("closed", Token::Dim),
        },
        Some(Row::Hit(hit)) => text.append(&about_hit(hit, columns, selected)),
        Some(Row::Past(past)) => {
            let beneath = if list.is_beneath(at) { "└ " } else { "" };
            text.push(beneath, Token::Dim);
            let columns = columns.saturating_sub(width::str_width(beneath));
            text.append(&about_past(past, list, look, columns, selected));
        }
    }
    let room = line.width.saturating_sub(1);
    let text = width::truncate_styled(&text, usize::from(room));
    paint::put(buf, line.x, line.y, room, &text, look.theme);
}

/// What stands in the second row of a session.
fn more(list: &SessionList, look: Look<'_>, at: usize, columns: usize) -> StyledText {
    let words = match list.row(at) {
        None => String::new(),
        Some(Row::Open(open)) => (look.open)(open.key, columns).map(|open| open.place).unwrap_or_default(),
        Some(Row::Hit(hit)) => format!("{} · {}", hit.session.agent, paths::display(&hit.session.cwd, &[], look.home)),
        Some(Row::Past(one)) => {
            let mut words = format!("{} · {}", one.agent, paths::display(&one.cwd, &[], look.home));
            if let Some(last) = one.last_prompt.as_ref().or(one.first_prompt.as_ref()) {
                words.extend([" · “", last, "”"]);
            }
            words
        }
    };
    StyledText::of(width::truncate(&words, columns), Token::Dim)
}

/// What was found, in which session, and when.
fn about_hit(hit: &Hit, columns: usize, selected: bool) -> StyledText {
    let style = if selected { RunStyle::from(Token::Accent).with_mods(Mods::BOLD) } else { Token::Text.into() };
    let name = hit.session.name().unwrap_or(&hit.session.agent);
    let mut right = StyledText::of(format!("  “{}”", width::truncate(name, AGENT)), Token::Dim);
    right.push(&format!("  {}", human::ago(hit.age)), Token::Dim);
    if columns < width::styled_width(&right) + NAME * 2 {
        right = StyledText::new();
    }
    let who = match hit.place.who {
        Who::Person => "❯ ",
        Who::Agent => "",
        Who::Thought => "thought: ",
        Who::Tool => "· ",
    };
    let room = columns.saturating_sub(width::styled_width(&right) + width::str_width(who));
    let line = width::truncate(&hit.line, room);
    let mut text = StyledText::of(who, Token::Dim);
    text.push(&line, style);
    text.push(&" ".repeat(room.saturating_sub(width::str_width(&line))), Token::Dim);
    text.append(&right);
    text
}

/// The name gives way to what it waits for.
fn about_open(cx: &ViewCx<'_>, key: SessionKey, columns: usize) -> Option<OpenRow> {
    let views = cx.state.views();
    let number = views.iter().position(|(one, _)| *one == key)?;
    let (_, view) = views.get(number)?;
    let session = cx.model.at(key)?;
    let attention = Attention::of(session, view);
    let can_answer = view.dock.dialog.is_some();
    let place = format!("{} · {}", labels::agent(session), paths::display(Path::new(&session.cwd), &[], cx.home));
    let is_shown = key == cx.session.key();
    let style = if is_shown { RunStyle::from(Token::Accent).with_mods(Mods::BOLD) } else { Token::Text.into() };
    if columns < usize::from(MEDIUM) {
        let (sign, number) = (attention.sign(), format!("{} ", number + 1));
        let room = columns.saturating_sub(width::str_width(&number) + width::str_width(sign) + 1);
        let mut text = StyledText::of(number, style);
        text.push(&super::sessions::label(cx, session, room), style);
        text.push(" ", Token::Dim);
        text.push(sign, attention.token());
        return Some(OpenRow { row: text, place, can_answer });
    }
    let mut state = match attention {
        Attention::Works | Attention::Starts | Attention::Died | Attention::Refused | Attention::Waits => {
            status_line::brief(session, cx.now, columns)
        }
        Attention::Done => {
            let mut text = StyledText::of(attention.words(), attention.token());
            if let Some(last) = session.entries().iter().next_back() {
                let since = human::ago(cx.now.saturating_sub(last.at).as_secs());
                text.push(&format!(" {since}"), Token::Dim);
            }
            text
        }
        Attention::Nothing => super::sessions::held(session),
    };
    if let Some(title) = session.questions().first().and_then(|question| asks(session, question)) {
        state.push(": ", attention.token());
        state.push(&title, Token::Text);
    }
    if state.is_empty() {
        state.push(if is_shown { "shown" } else { "idle" }, Token::Dim);
    }
    if let Some(tree) = cx.state.trees.around(Path::new(&session.cwd)) {
        state.push(" · ", Token::Dim);
        state.push(&tree.branch, Token::Dim);
    }
    let number = format!("{} ", number + 1);
    let rest = columns.saturating_sub(width::str_width(&number) + 2);
    let room = rest.saturating_sub(width::styled_width(&state)).max(rest / 3).max(NAME);
    let agent = agent_among(cx, session).filter(|agent| room >= width::str_width(agent) + 1 + LONG_NAME);
    let room = room.saturating_sub(agent.as_ref().map_or(0, |agent| width::str_width(agent) + 1));
    let name = super::sessions::label_with_words(cx, session, room);
    let mut text = StyledText::of(number, style);
    text.push(&name, style);
    if let Some(agent) = agent.filter(|agent| !name.starts_with(agent.as_str())) {
        text.push(" ", Token::Dim);
        text.push(&agent, Token::Dim);
    }
    text.push("  ", Token::Dim);
    text.append(&state);
    Some(OpenRow { row: text, place, can_answer })
}

/// Its agent, where sessions of others are open too.
fn agent_among(cx: &ViewCx<'_>, session: SessionRef<'_>) -> Option<String> {
    let agent = labels::agent(session);
    let mut others = cx.state.views().into_iter().filter_map(|(key, _)| cx.model.at(key));
    others.any(|other| labels::agent(other) != agent).then(|| width::truncate(&agent, AGENT).into_owned())
}

/// What a question is about, in a few words.
fn asks(session: SessionRef<'_>, question: &Question) -> Option<String> {
    match &question.about {
        About::Permission => Some(cells::in_words(session.tool(question.entry)?, session)),
        About::Write => Some("write".to_owned()),
        About::Read(_) => Some("read".to_owned()),
        About::Run(spec) => Some(format!("run {}", sanitize::line(&spec.command))),
        About::Asked { asking, .. } => Some(sanitize::line(asking.message()).trim().to_owned()),
    }
}

fn about_past(one: &PastSession, list: &SessionList, look: Look<'_>, columns: usize, selected: bool) -> StyledText {
    let style = if selected { RunStyle::from(Token::Accent).with_mods(Mods::BOLD) } else { Token::Text.into() };
    let end = match one.end {
        End::Open => Some(("open elsewhere", Token::Warn)),
        End::Interrupted => Some(("interrupted", Token::Warn)),
        End::Ended => None,
    };
    let end = if one.is_gone { Some(("directory gone", Token::Bad)) } else { end };
    let kept = (!one.is_gone && !one.goes_on).then_some((READ_ONLY, Token::Dim));
    let age = one.used_as_told.clone().unwrap_or_else(|| human::ago(one.age));
    let age = if columns >= usize::from(MEDIUM) { age.as_str() } else { age.trim_end_matches(" ago") };
    // What gives way first stands first here, and in the middle of the row.
    let mut parts = Vec::new();
    if columns >= usize::from(WIDE) {
        if list.reach() == Reach::Everywhere {
            let place = paths::display(&one.cwd, &[], look.home);
            parts.push((width::truncate_start(&place, AGENT + AGENT / 2).into_owned(), Token::Dim));
        }
        if let Some(branch) = list.trees.branch_of(&one.cwd, one.branch.as_deref()) {
            parts.push((branch.to_owned(), Token::Dim));
        }
        // Of none that were had here it is not known how many there were.
        let turns = (one.turns > 0).then(|| human::count(one.turns, "turn"));
        let turns = if one.journals.is_empty() { Some("its agent's".to_owned()) } else { turns };
        parts.extend(turns.map(|turns| (turns, Token::Dim)));
    }
    if columns >= usize::from(NAMES_AGENT) {
        parts.push((width::truncate(&one.agent, AGENT).into_owned(), Token::Dim));
    }
    parts.push((age.to_owned(), Token::Dim));
    parts.extend(kept.into_iter().chain(end).map(|(words, token)| (words.to_owned(), token)));
    let room = |parts: &[(String, Token)]| {
        columns
            .checked_sub(parts.iter().map(|(words, _)| width::str_width(words) + 2).sum())
            .filter(|room| *room >= NAME)
    };
    while !parts.is_empty() && room(&parts).is_none() {
        parts.remove(0);
    }
    let room = room(&parts).unwrap_or(columns);
    let mut right = StyledText::new();
    for (words, token) in parts {
        right.push("  ", Token::Dim);
        right.push(&words, token);
    }
    let apart = one.apart_beside(one.name().map_or(0, |name| width::str_width(name) + 2), room);
    let room = room.saturating_sub(width::str_width(&apart));
    let name = match one.name() {
        Some(name) => format!("“{}”", width::truncate_middle(name, room.saturating_sub(2).max(1))),
        None => width::truncate(&format!("{} without a word", one.agent), room).into_owned(),
    };
    let mut text = StyledText::of(&*name, style);
    text.push(&apart, Token::Dim);
    text.push(&" ".repeat(room.saturating_sub(width::str_width(&name))), Token::Dim);
    text.append(&right);
    text
}

/// More of what is chosen: where it was, and what was said last.
fn detail(list: &SessionList, look: Look<'_>, area: Rect, buf: &mut Buffer) {
    let Some(Row::Past(one)) = list.current() else { return };
    let room = usize::from(area.width.saturating_sub(5));
    let mut words = paths::display(&one.cwd, &[], look.home);
    for (what, said) in
        [("first", one.title.as_ref().and(one.first_prompt.as_ref())), ("last", one.last_prompt.as_ref())]
    {
        if let Some(said) = said {
            let said = width::truncate(said, room / 3);
            words.extend([" · ", what, " “", &*said, "”"]);
        }
    }
    let words = StyledText::of(width::truncate(&words, room), Token::Dim);
    paint::put(buf, area.x + 4, area.y, area.width.saturating_sub(5), &words, look.theme);
}

/// Rows that the foot takes of an area.
fn foot_rows(list: &SessionList, look: Look<'_>, area: Rect) -> u16 {
    match &list.asks {
        Some(asks) => {
            let rows = u16::try_from(asking::asked(asks, area.width.saturating_sub(3)).len()).unwrap_or(u16::MAX);
            rows.saturating_add(1).min(area.height)
        }
        None if area.height >= ACTS_FROM => {
            let room = usize::from(area.width.saturating_sub(3));
            let rows = folded(&keys(list, look, room).1, room).len();
            u16::try_from(rows).unwrap_or(1).saturating_add(1)
        }
        None => u16::from(area.height >= FOOT_FROM || list.note.is_some() && area.height > 1),
    }
}

fn foot(list: &SessionList, look: Look<'_>, area: Rect, buf: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let room = area.width.saturating_sub(3);
    let (ways, acts) = keys(list, look, usize::from(room));
    let in_one = area.height == 1 && !acts.is_empty();
    let first = if in_one { format!("{ways} · {acts}") } else { ways };
    let mut rows = vec![StyledText::of(width::whole_parts(&first, " · ", usize::from(room)), Token::Dim)];
    if area.height > 1 {
        rows.extend(folded(&acts, usize::from(room)).into_iter().map(|row| StyledText::of(row, Token::Dim)));
    }
    if let Some(note) = &list.note {
        rows[0] = StyledText::of(sanitize::line(note), Token::Warn);
    }
    for (row, y) in rows.iter().zip(area.y..area.bottom()) {
        paint::put(buf, area.x + 2, y, room, &width::truncate_styled(row, usize::from(room)), look.theme);
    }
}

/// What keys do, in as many rows as they need.
fn folded(words: &str, room: usize) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for part in words.split(" · ").filter(|part| !part.is_empty()) {
        match rows.last_mut().filter(|row| width::str_width(row) + 3 + width::str_width(part) <= room) {
            Some(row) => row.extend([" · ", part]),
            None => rows.push(part.to_owned()),
        }
    }
    rows
}

/// What keys do now: where they lead, and what they do with a session. What is needed least stands last. Keys have short
/// names where they do not fit into one row.
fn keys(list: &SessionList, look: Look<'_>, room: usize) -> (String, String) {
    let say = |parts: &[&'static str]| {
        let parts = parts.iter().filter_map(|words| look.keys.hint(Layer::Sessions, words));
        parts.collect::<Vec<_>>().join(" · ")
    };
    if list.finding().is_some() {
        let enter = if list.is_empty() { "{Enter} looks for it" } else { "{Enter} goes there" };
        let tab = if list.reach() == Reach::Here { "{Tab} all directories" } else { "{Tab} this directory" };
        return (say(&[enter, "{Esc} back to the list", tab]), String::new());
    }
    let is_open = matches!(list.current(), Some(Row::Open(_)));
    let is_only_shown = matches!(list.current(), Some(Row::Past(one)) if one.is_gone || !one.goes_on);
    let enter = match (is_open, is_only_shown) {
        (true, _) => "{Enter} goes there",
        (_, true) => "{Enter} shows it",
        _ => "{Enter} goes on",
    };
    let escape = if list.filter().is_empty() { look.escape } else { "{Esc} clears" };
    let tab = match (list.current(), list.reach()) {
        (Some(Row::Open(one)), _) if (look.open)(one.key, 0).is_some_and(|open| open.can_answer) => {
            "{Tab} answers here"
        }
        (_, Reach::Here) => "{Tab} all directories",
        (_, Reach::Everywhere) => "{Tab} this directory",
    };
    let sort = if list.taste().sort == Sort::Needs { "{Ctrl+S} by last use" } else { "{Ctrl+S} by who needs you" };
    let tree = list.current().and_then(|row| list.tree_of(row));
    let tree: &[_] = if tree.is_some() { &["{Ctrl+G} merges its worktree", "{Ctrl+X} discards it"] } else { &[] };
    let acts = ["{Ctrl+R} name", "{Ctrl+F} copy", "{Ctrl+E} export", "{Delete} forgets", sort, "{Ctrl+D} rows"];
    let mut acts = say(&[tree, &acts].concat());
    if width::str_width(&acts) > room {
        acts = acts.replace("Ctrl+", "^").replace("Delete ", "Del ");
    }
    (say(&[enter, escape, tab, "/ searches"]), acts)
}

#[cfg(test)]
#[path = "session_list_tests.rs"]
mod tests;
