//! The line of sessions: which there are, and what each of them wants of the person. Shown as soon as there are two.
//!
//! Reads the model and the views, keeps nothing. Invariant: what waits for the person is named at any width that has
//! room for it, even when its session is not.

use super::{ViewCx, log_in, paint, split_bottom};
use crate::base::{human, sanitize};
use crate::model::account;
use crate::model::ids::SessionKey;
use crate::model::session_ref::SessionRef;
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;
use crate::text::width;
use crate::ui::composer::Composer;
use crate::ui::keys::Layer;
use crate::ui::labels;
use crate::ui::msg::FrameInfo;
use crate::ui::state::attention::Attention;
use crate::ui::state::session_view::SessionView;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::path::Path;

/// Columns of a session's name where there is room.
const NAME: usize = 24;
/// Columns of a name where there is little room, and where there is very little.
const SHORT_NAME: usize = 14;
const SHORTEST_NAME: usize = 7;
/// Columns of a name that are looked at to tell it from others.
const MOST: usize = 200;

/// One session on the line.
struct Tab {
    key: SessionKey,
    number: usize,
    name: Name,
    attention: Attention,
}

/// What a session is called.
enum Name {
    /// By its agent: in quotes, so that a title never reads like the state or the number of a session.
    Title(String),
    /// Agent and directory.
    Ours(String),
}

impl Name {
    fn within(&self, columns: usize) -> String {
        match self {
            Self::Title(title) => format!("“{}”", width::truncate(title, columns.saturating_sub(2).max(1))),
            Self::Ours(name) => width::truncate(name, columns).into_owned(),
        }
    }
}

/// How much of each session is said. With words and signs: the columns of a name.
#[derive(Clone, Copy)]
enum Detail {
    Words(usize),
    Signs(usize),
    Numbers,
}

/// What is tried, the fullest first: names become shorter before they go.
const DETAILS: [Detail; 5] = [
    Detail::Words(NAME),
    Detail::Words(SHORT_NAME),
    Detail::Signs(SHORT_NAME),
    Detail::Signs(SHORTEST_NAME),
    Detail::Numbers,
];

fn tabs(cx: &ViewCx<'_>) -> Vec<Tab> {
    let found = cx.state.views().into_iter().filter_map(|(key, view)| Some((cx.model.at(key)?, view)));
    let tab = |(at, (session, view)): (usize, (SessionRef<'_>, &SessionView))| Tab {
        key: session.key(),
        number: at + 1,
        name: name(cx, session),
        attention: Attention::of(session, view),
    };
    let mut tabs: Vec<Tab> = found.enumerate().map(tab).collect();
    let names: Vec<String> = tabs.iter().map(|tab| tab.name.within(MOST)).collect();
    for (tab, name) in tabs.iter_mut().zip(&names) {
        let is_alike = names.iter().filter(|other| *other == name).count() > 1;
        if let Some(asked) = is_alike.then(|| asked(cx.model.at(tab.key)?)).flatten() {
            tab.name = asked;
        }
    }
    tabs
}

/// What was asked first.
fn asked(session: SessionRef<'_>) -> Option<Name> {
    session.first_words().map(clean).filter(|words| !words.is_empty()).map(Name::Title)
}

/// Whether another session that is open would read the same.
fn is_alike(cx: &ViewCx<'_>, session: SessionRef<'_>, name: &Name) -> bool {
    let name = name.within(MOST);
    let others = cx.state.views().into_iter().filter(|(key, _)| *key != session.key());
    others.filter_map(|(key, _)| cx.model.at(key)).any(|other| self::name(cx, other).within(MOST) == name)
}

/// A title or a prompt in one line, without the quotes that it is shown in.
fn clean(words: &str) -> String {
    sanitize::line(&account::title_of(words)).trim().replace(['“', '”'], "\"")
}

/// What the person calls it, else the title that the agent gave it, else the agent and the directory. A title that is
/// made of what we have put above the first words says less than those.
fn name(cx: &ViewCx<'_>, session: SessionRef<'_>) -> Name {
    let told = session.called();
    let told = if told.is_some_and(account::is_ours) { session.first_words().or(told) } else { told };
    let title = cx.state.name_of(session.key()).or(told).map(clean);
    match title.filter(|title| !title.is_empty()) {
        Some(title) => Name::Title(title),
        None => {
            let agent = labels::agent(session);
            let directory = Path::new(&session.cwd).file_name().unwrap_or_default().to_string_lossy();
            Name::Ours(format!("{agent} {}", sanitize::line(&directory)))
        }
    }
}

/// What a session is called, in so many columns.
pub(super) fn label(cx: &ViewCx<'_>, session: SessionRef<'_>, columns: usize) -> String {
    name(cx, session).within(columns)
}

/// The same; where it has no title, or one that others have, with what was asked first as far as there is room for it.
pub(super) fn label_with_words(cx: &ViewCx<'_>, session: SessionRef<'_>, columns: usize) -> String {
    let name = name(cx, session);
    let is_alike = is_alike(cx, session, &name);
    let is_told = is_alike || matches!(name, Name::Ours(_));
    let asked = asked(session).filter(|_| is_told).filter(|asked| asked.within(MOST) != name.within(MOST));
    // What two have in common gives way to what they have not.
    let gives_way = is_alike && asked.is_some() && columns > 2 * SHORT_NAME;
    let mut label = name.within(if gives_way { columns - SHORT_NAME - 1 } else { columns });
    let room = columns.saturating_sub(width::str_width(&label) + 1);
    if let (Some(asked), true) = (asked, room >= SHORT_NAME) {
        label.push(' ');
        label.push_str(&asked.within(room));
    }
    label
}

/// How many prompts wait in a session that does nothing, if any.
pub(super) fn held(session: SessionRef<'_>) -> StyledText {
    let waiting = session.held.len() as u64;
    let words = if waiting > 0 { format!("{} held", human::count(waiting, "prompt")) } else { String::new() };
    StyledText::of(words, Token::Warn)
}

/// Whether a session that is not shown waits for the person.
pub fn others_wait(cx: &ViewCx<'_>) -> bool {
    let waits = |(key, view): &(SessionKey, &SessionView)| {
        *key != cx.session.key() && cx.model.at(*key).is_some_and(|s| Attention::of(s, view) == Attention::Waits)
    };
    cx.state.views().iter().any(waits)
}

/// The first row of the area; returns what is below it.
pub fn line(cx: &ViewCx<'_>, area: Rect, info: &mut FrameInfo, buf: &mut Buffer) -> Rect {
    if !cx.state.has_several() || area.height < 2 {
        return area;
    }
    let (row, below) = super::split_top(area, 1);
    let room = usize::from(row.width.saturating_sub(3));
    let tabs = tabs(cx);
    let laid = DETAILS.into_iter().map(|detail| pieces(cx, &tabs, detail)).find(|pieces| columns(pieces) <= room);
    let Some(pieces) = laid else {
        paint::put(buf, row.x + 2, row.y, row.width.saturating_sub(3), &in_short(cx, &tabs), cx.theme);
        return below;
    };
    let mut x = row.x + 2;
    for (key, text) in pieces {
        let used = paint::put(buf, x, row.y, row.right().saturating_sub(x + 1), &text, cx.theme);
        info.sessions.push((x..x + used, key));
        x += used + 2;
    }
    below
}

fn columns(pieces: &[(SessionKey, StyledText)]) -> usize {
    pieces.iter().map(|(_, text)| width::styled_width(text) + 2).sum::<usize>().saturating_sub(2)
}

fn pieces(cx: &ViewCx<'_>, tabs: &[Tab], detail: Detail) -> Vec<(SessionKey, StyledText)> {
    tabs.iter().map(|tab| (tab.key, piece(tab, tab.key == cx.session.key(), detail))).collect()
}

fn piece(tab: &Tab, is_shown: bool, detail: Detail) -> StyledText {
    let style = if is_shown { RunStyle::from(Token::Accent).with_mods(Mods::BOLD) } else { RunStyle::from(Token::Dim) };
    // Without colours too it can be told which is shown.
    let mut text = StyledText::of(if is_shown { "▸" } else { " " }, Token::Accent);
    text.push(&tab.number.to_string(), style);
    let (columns, state) = match detail {
        Detail::Words(columns) => (columns, tab.attention.words()),
        Detail::Signs(columns) => (columns, tab.attention.sign()),
        Detail::Numbers if is_shown => (NAME, tab.attention.sign()),
        Detail::Numbers => (0, tab.attention.sign()),
    };
    if columns > 0 {
        text.push(" ", style);
        text.push(&tab.name.within(columns), style);
    }
    if !state.is_empty() {
        text.push(" ", style);
        text.push(state, tab.attention.token());
    }
    text
}

/// Too many for the width: which is shown, and which one wants something most.
fn in_short(cx: &ViewCx<'_>, tabs: &[Tab]) -> StyledText {
    let shown = tabs.iter().find(|tab| tab.key == cx.session.key()).map_or(0, |tab| tab.number);
    let mut text = StyledText::of(format!("{shown} of {}", tabs.len()), Token::Dim);
    let others = tabs.iter().filter(|tab| tab.key != cx.session.key());
    if let Some(tab) = others.min_by_key(|tab| tab.attention).filter(|tab| tab.attention <= Attention::Done) {
        text.push(" · ", Token::Dim);
        text.push(&format!("{} {}", tab.number, tab.attention.words()), tab.attention.token());
    }
    text
}

/// Rows of a line that is typed and of the words below it.
pub(super) const LINE: u16 = 2;

/// The line in which it is written why a question is refused, in the frame of the question.
pub(super) fn reason(cx: &ViewCx<'_>, area: Rect, frame: Token, info: &mut FrameInfo, buf: &mut Buffer) {
    paint::fill(buf, area, Token::Question, cx.theme);
    opener(cx, area, info, buf);
    for y in area.top()..area.bottom() {
        paint::put(buf, area.x, y, area.width, &StyledText::of("┃ ", frame), cx.theme);
    }
}

/// What Enter and Esc do there, as far as there is room for it.
fn refuses(cx: &ViewCx<'_>, columns: u16) -> StyledText {
    let words = cx.say(Layer::Line, "{Enter} refuses, and sends this when the turn is over · {Esc} leaves");
    let is_short = width::str_width(&words) > usize::from(columns.saturating_sub(3));
    let words = if is_short { cx.say(Layer::Line, "{Enter} refuses with this · {Esc} leaves") } else { words };
    StyledText::of(words, Token::Dim)
}

/// The line in which the directory of a further session is typed, why a question is refused, or what is looked for;
/// returns what is above it.
pub fn opener(cx: &ViewCx<'_>, area: Rect, info: &mut FrameInfo, buf: &mut Buffer) -> Rect {
    let search = cx.state.view.reading.as_ref().and_then(|reading| reading.search.as_ref());
    match (&cx.state.opener, &cx.state.refusal, search) {
        (Some(opener), ..) => {
            let label = format!("{} in: ", width::truncate(&opener.name, NAME));
            let words = match &opener.trouble {
                Some(trouble) => StyledText::of(sanitize::line(trouble), Token::Warn),
                None if opener.is_making => StyledText::of("making a worktree…", Token::Dim),
                None => {
                    let mut words = StyledText::of(opener.files.words(), Token::Text);
                    words.push(
                        &cx.say(Layer::Line, " · {Tab} changes that · {Enter} opens it · {Esc} leaves"),
                        Token::Dim,
                    );
                    words
                }
            };
            typed(cx, area, &label, &opener.line, words, info, buf)
        }
        (None, Some(refusal), _) => {
            let words = refuses(cx, area.width);
            typed(cx, area, "refuse, because: ", &refusal.line, words, info, buf)
        }
        (None, None, Some(search)) => {
            let words = cx.dim(Layer::Line, "{Enter} searches upwards · {Esc} leaves");
            typed(cx, area, "search: ", search, words, info, buf)
        }
        (None, None, None) => log_in::form(cx, area, info, buf),
    }
}

/// A line that is typed, with a label and a few words below it; returns what is above it.
fn typed(
    cx: &ViewCx<'_>,
    area: Rect,
    label: &str,
    written: &Composer,
    words: StyledText,
    info: &mut FrameInfo,
    buf: &mut Buffer,
) -> Rect {
    let (above, at) = split_bottom(area, LINE.min(area.height));
    let (line, foot) = if at.height > 1 { super::split_top(at, 1) } else { (at, Rect { height: 0, ..at }) };
    let label = if line.width >= 40 { label } else { "" };
    let used =
        paint::put(buf, line.x + 2, line.y, line.width.saturating_sub(3), &StyledText::of(label, Token::Dim), cx.theme);
    let (x, room) = (line.x + 2 + used, line.width.saturating_sub(used + 4).max(1));
    let (shown, column) = scrolled(written.text(), written.buffer().cursor(), usize::from(room));
    paint::put(buf, x, line.y, room, &StyledText::of(shown, Token::Text), cx.theme);
    let cursor = x.saturating_add(column).min(line.right().saturating_sub(1));
    info.cursor = Some(Position { x: cursor, y: line.y });
    if foot.height > 0 {
        let words = width::truncate_styled(&words, usize::from(foot.width.saturating_sub(3)));
        paint::put(buf, foot.x + 2, foot.y, foot.width.saturating_sub(3), &words, cx.theme);
    }
    above
}

/// One row of `room` columns of a text that may be longer, with the cursor in it; and the column of the cursor.
fn scrolled(text: &str, cursor: usize, room: usize) -> (String, u16) {
    let (before, after) = text.split_at_checked(cursor).unwrap_or((text, ""));
    let (before, after) = (sanitize::line(before), sanitize::line(after));
    // The cursor has a column of its own.
    let before = width::truncate_start(&before, room.saturating_sub(1).max(1));
    let column = width::str_width(&before);
    let after = width::truncate(&after, room.saturating_sub(column));
    (format!("{before}{after}"), u16::try_from(column).unwrap_or(u16::MAX))
}

#[cfg(test)]
#[path = "sessions_tests.rs"]
mod tests;
