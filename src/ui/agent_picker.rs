//! "Which agent?": the screen of a bare `acp-tui`.
//!
//! State, update and drawing of one list; starts nothing itself. Invariants: agents that are not installed stand
//! last and cannot be started; the highlight begins on the first that can.

use super::keys::{Action, Layer, resolve};
use super::state::highlight::step;
use super::state::picker::ranked;
use super::state::session_list::{End, PastSession, Starts};
use super::state::trees::Trees;
use super::tty::{Click, Input};
use super::view::paint::{self, Painted};
use crate::base::{human, sanitize};
use crate::text::line::{LogicalLine, WrapMode};
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;
use crate::text::width;
use crate::theme::resolve::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::path::Path;

const MAX_FILTER: usize = 100;
/// Rows above the list: blank, question, blank.
const HEAD: u16 = 3;
/// Two more where there is room: what this is, and a blank.
const TITLE: u16 = 2;
/// Screens of so many rows have that room.
const TALL: u16 = 18;
/// More agents that are not installed share a row until they are asked for.
const MANY: usize = 5;
/// Agents that are not given less room for the sessions below them.
const MIN_AGENTS: usize = 8;
/// Earlier sessions that stand below the agents.
const MAX_PAST: usize = 5;

/// One agent to choose from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PickItem {
    pub id: String,
    pub name: String,
    /// The command line, or what it is in a few words.
    pub command: String,
    pub found: bool,
    /// Found: where ("found on PATH"), may be empty. Not found: how to install it.
    pub hint: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Picked {
    /// The id of the agent to start.
    Agent(String),
    /// The earlier sessions are to be listed.
    Sessions,
    /// This one goes on.
    Session(Box<PastSession>),
    Quit,
}

#[derive(Clone, Debug)]
pub struct AgentPicker {
    items: Vec<PickItem>,
    filter: String,
    selected: usize,
    /// Agents that are not installed have rows of their own, though they are many.
    is_unfolded: bool,
    /// How to install the agent that was asked for, or why a session cannot go on.
    pub note: Option<String>,
    /// Sessions of this directory that were interrupted, as far as is known.
    pub interrupted: usize,
    /// The sessions of this directory, those first that were interrupted, then the newest.
    past: Vec<PastSession>,
    /// How many of them stand on the screen.
    shown: usize,
}

impl AgentPicker {
    /// The order is kept, but for those that are not installed.
    pub fn new(mut items: Vec<PickItem>) -> Self {
        items.sort_by_key(|item| !item.found);
        Self {
            items,
            filter: String::new(),
            selected: 0,
            is_unfolded: false,
            note: None,
            interrupted: 0,
            past: Vec::new(),
            shown: 0,
        }
    }

    /// The earlier sessions of this directory, of all that have been read, the newest first.
    pub fn told(&mut self, all: &[PastSession], trees: &Trees, here: &Path) {
        let is_here = |one: &&PastSession| trees.origins.are_alike(&one.cwd, here) && one.end != End::Open;
        let mut past: Vec<&PastSession> = all.iter().filter(is_here).collect();
        self.interrupted = past.iter().filter(|one| one.end == End::Interrupted).count();
        past.sort_by_key(|one| one.end != End::Interrupted);
        self.past = past.into_iter().take(MAX_PAST).cloned().collect();
    }

    fn matching(&self) -> Vec<&PickItem> {
        let texts: Vec<String> = self.items.iter().map(|i| format!("{} {}", i.name, i.command)).collect();
        let mut found: Vec<&PickItem> =
            ranked(&self.filter, &texts).into_iter().filter_map(|i| self.items.get(i)).collect();
        found.sort_by_key(|item| !item.found);
        found.truncate(found.len() - self.folded());
        found
    }

    /// How many agents that are not installed share one row below the others.
    fn folded(&self) -> usize {
        let missing = self.items.iter().filter(|item| !item.found).count();
        if self.is_unfolded || !self.filter.is_empty() || missing < MANY { 0 } else { missing }
    }

    /// Rows of agents, that of the folded ones with them.
    fn rows(&self) -> usize {
        self.matching().len() + usize::from(self.folded() > 0)
    }

    /// One input of the person; an answer ends the screen.
    pub fn input(&mut self, input: Input) -> Option<Picked> {
        let action = match input {
            // What is pasted types, and starts nothing.
            Input::Hasty(key) => resolve(Layer::Picker, key).filter(|action| *action != Action::Accept)?,
            Input::Key(key) => resolve(Layer::Picker, key)?,
            Input::Paste(text) => {
                self.type_text(&text);
                return None;
            }
            Input::Mouse { what: Click::WheelUp, .. } => Action::Up,
            Input::Mouse { what: Click::WheelDown, .. } => Action::Down,
            Input::Mouse { .. } | Input::Resize(..) | Input::Focus(_) | Input::Told(_) => return None,
        };
        self.note = None;
        match action {
            Action::Escape if !self.filter.is_empty() => self.clear_filter(),
            Action::Escape | Action::CtrlC => return Some(Picked::Quit),
            Action::Sessions => return Some(Picked::Sessions),
            Action::Accept => return self.accept(),
            Action::Up => self.step(-1),
            Action::Down => self.step(1),
            Action::PageUp | Action::Home => self.step(isize::MIN),
            Action::PageDown | Action::End => self.step(isize::MAX),
            Action::Backspace => {
                self.filter.pop();
                self.selected = 0;
            }
            Action::KillLine | Action::DeleteWordBack => self.clear_filter(),
            Action::Char(c) => self.type_text(c.encode_utf8(&mut [0; 4])),
            _ => {}
        }
        None
    }

    fn step(&mut self, by: isize) {
        self.selected = step(self.selected, by, self.rows() + self.shown);
    }

    fn clear_filter(&mut self) {
        self.filter.clear();
        self.selected = 0;
    }

    fn type_text(&mut self, text: &str) {
        for c in text.chars().filter(|c| !c.is_control()) {
            if self.filter.len() + c.len_utf8() <= MAX_FILTER {
                self.filter.push(c);
            }
        }
        self.selected = 0;
    }

    fn accept(&mut self) -> Option<Picked> {
        let agents = self.rows();
        let Some(item) = self.matching().get(self.selected).copied().cloned() else {
            if self.selected < agents {
                self.is_unfolded = true;
                return None;
            }
            let one = self.past.get(self.selected.checked_sub(agents)?)?;
            // What is to be started has to be shown before, and the list has room for it.
            let is_clear = matches!(one.starts, Starts::Configured(_)) && !one.is_gone;
            return Some(if is_clear { Picked::Session(Box::new(one.clone())) } else { Picked::Sessions });
        };
        if item.found {
            return Some(Picked::Agent(item.id));
        }
        self.note = Some(if item.hint.is_empty() {
            format!("{} is not installed", item.name)
        } else {
            format!("{} is not installed. {}", item.name, item.hint)
        });
        None
    }

    /// Draws the whole screen; `place` is the directory as it is shown. Returns where the cursor stands.
    pub fn draw(&mut self, theme: &Theme, place: &str, buf: &mut Buffer) -> Option<(u16, u16)> {
        let area = buf.area;
        if area.width < 10 || area.height < 3 {
            return None;
        }
        let head = if area.height >= 10 { HEAD } else { 1 };
        let title = if area.height >= TALL { TITLE } else { 0 };
        let question = area.y + u16::from(head > 1) + title;
        let head = head + title;
        if title > 0 {
            let mut name = StyledText::of("acp-tui", RunStyle::from(Token::Accent).with_mods(Mods::BOLD));
            name.push(concat!(" ", env!("CARGO_PKG_VERSION")), Token::Dim);
            name.push(" · the terminal for coding agents that speak ACP", Token::Dim);
            let name = width::truncate_styled(&name, usize::from(area.width.saturating_sub(3)));
            paint::put(buf, area.x + 2, area.y + 1, area.width.saturating_sub(3), &name, theme);
        }
        let mut title = StyledText::of("Which agent?", RunStyle::from(Token::Text).with_mods(Mods::BOLD));
        title.push(" ", Token::Text);
        title.push(&self.filter, Token::Accent);
        let used = paint::put(buf, area.x + 2, question, area.width.saturating_sub(3), &title, theme);
        let line = Rect { x: area.x + 2, y: question, width: area.width.saturating_sub(3), height: 1 };
        let place = StyledText::of(sanitize::line(place), Token::Dim);
        paint::put_right(buf, line, used + 2, &place, theme);
        let room = area.width.saturating_sub(3);
        // One row of the list stays below any message.
        let mut foot = self.foot(room);
        foot.truncate(usize::from(area.height.saturating_sub(head + 1).max(1)));
        let rows = u16::try_from(foot.len()).unwrap_or(1);
        let height = area.height.saturating_sub(head + rows + u16::from(head > 1)).max(1);
        let list = Rect { y: area.y + head, height, ..area };
        // A blank row and a heading stand between the agents and the sessions.
        let all = u16::try_from(self.rows()).unwrap_or(u16::MAX);
        let past = if self.filter.is_empty() { self.past.len() } else { 0 };
        // Agents that are not installed give way to them, and come when one goes down.
        let installed = self.items.iter().filter(|item| item.found).count().max(MIN_AGENTS);
        let for_past = u16::try_from(past + 2).unwrap_or(u16::MAX);
        let agents = all.min(height.saturating_sub(for_past).max(u16::try_from(installed).unwrap_or(u16::MAX)));
        self.shown = past.min(usize::from(height.saturating_sub(agents.saturating_add(2))));
        let agents = if self.shown > 0 { agents } else { height };
        self.draw_list(theme, Rect { height: agents.min(height), ..list }, buf);
        if self.shown > 0 {
            self.draw_earlier(theme, Rect { y: list.y + agents + 1, height: list.height - agents - 1, ..list }, buf);
        }
        for (row, y) in foot.iter().zip(area.bottom() - rows..) {
            paint::row(buf, Rect { x: area.x + 2, y, width: room, height: 1 }, row, theme);
        }
        Some(((area.x + 2 + used).min(area.right().saturating_sub(1)), question))
    }

    /// The last rows: the keys, or how to install what was asked for, all of it.
    fn foot(&self, columns: u16) -> Vec<Painted> {
        let line = match &self.note {
            Some(note) => LogicalLine::text(StyledText::of(sanitize::line(note), Token::Warn)),
            None => {
                let esc = if self.filter.is_empty() { "quits" } else { "clears the filter" };
                let keys = format!("type to filter · Enter starts · Esc {esc}");
                let words = match self.interrupted {
                    0 => format!("{keys} · F8 earlier sessions"),
                    1 => format!("1 was interrupted here: F8 · {keys}"),
                    n => format!("{n} were interrupted here: F8 · {keys}"),
                };
                let words = StyledText::of(width::truncate(&words, usize::from(columns)), Token::Dim);
                LogicalLine { wrap: WrapMode::Truncate, ..LogicalLine::text(words) }
            }
        };
        paint::rows(&[line], columns)
    }

    fn draw_earlier(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let agents = self.rows();
        let room = area.width.saturating_sub(3);
        let strong = RunStyle::from(Token::Text).with_mods(Mods::BOLD);
        paint::put(buf, area.x + 2, area.y, room, &StyledText::of("Or go on here", strong), theme);
        for ((n, one), y) in self.past.iter().take(self.shown).enumerate().zip(area.y + 1..area.bottom()) {
            let selected = agents + n == self.selected;
            let style = if selected { RunStyle::from(Token::Accent).with_mods(Mods::BOLD) } else { Token::Text.into() };
            let age = one.used_as_told.clone().unwrap_or_else(|| human::ago(one.age));
            let end = if one.end == End::Interrupted { "  interrupted" } else { "" };
            let right = format!("  {}  {age}{end}", one.agent);
            let columns = usize::from(room).saturating_sub(width::str_width(&right) + 3);
            let mut text = StyledText::of(if selected { "❯ " } else { "  " }, Token::Accent);
            let name = one.name().unwrap_or("without a word");
            let apart = one.apart_beside(width::str_width(name) + 2, columns);
            let columns = columns.saturating_sub(width::str_width(&apart) + 2).max(1);
            text.push(&format!("“{}”", width::truncate(name, columns)), style);
            text.push(&apart, Token::Dim);
            let line = Rect { x: area.x + 2, y, width: room, height: 1 };
            let used = paint::put(buf, line.x, y, line.width, &text, theme);
            paint::put_right(buf, line, used, &StyledText::of(right, Token::Dim), theme);
        }
    }

    fn draw_list(&self, theme: &Theme, list: Rect, buf: &mut Buffer) {
        let items = self.matching();
        let inner = usize::from(list.width.saturating_sub(3));
        let longest = items.iter().map(|i| width::str_width(&i.name)).max().unwrap_or(0);
        let name_columns = (longest + 2).min(inner.saturating_sub(2)).min(if inner >= 70 { 28 } else { 18 });
        if items.is_empty() {
            paint::put(buf, list.x + 4, list.y, list.width, &StyledText::of("nothing matches", Token::Dim), theme);
        }
        let first = (self.selected.min(self.rows().saturating_sub(1)) + 1).saturating_sub(usize::from(list.height));
        for ((n, item), y) in items.iter().enumerate().skip(first).zip(list.y..list.bottom()) {
            let selected = n == self.selected;
            let mut text = StyledText::of(if selected { "❯ " } else { "  " }, Token::Accent);
            let style = match (item.found, selected) {
                (false, _) => RunStyle::from(Token::Dim),
                (true, true) => RunStyle::from(Token::Accent).with_mods(Mods::BOLD),
                (true, false) => RunStyle::from(Token::Text),
            };
            let name = sanitize::line(&item.name);
            let name = width::truncate(&name, name_columns.saturating_sub(1));
            text.push(&name, style);
            text.push(&" ".repeat(name_columns.saturating_sub(width::str_width(&name))), Token::Text);
            let state = if item.found { item.hint.as_str() } else { "not installed" };
            let state = StyledText::of(sanitize::line(state), Token::Dim);
            let room = inner.saturating_sub(width::styled_width(&text) + width::styled_width(&state) + 2);
            if room >= 8 || item.found {
                text.push(&width::truncate(&sanitize::line(&item.command), room), Token::Dim);
            }
            let line = Rect { x: list.x + 2, y, width: list.width.saturating_sub(3), height: 1 };
            let used = paint::put(buf, line.x, y, line.width, &text, theme);
            paint::put_right(buf, line, used, &state, theme);
        }
        let y = usize::from(list.y) + items.len().saturating_sub(first);
        if self.folded() > 0 && y < usize::from(list.bottom()) {
            let selected = self.selected == items.len();
            let mut text = StyledText::of(if selected { "❯ " } else { "  " }, Token::Accent);
            let style = if selected { RunStyle::from(Token::Accent).with_mods(Mods::BOLD) } else { Token::Dim.into() };
            text.push(&format!("{} more, not installed", self.folded()), style);
            text.push(" · Enter lists them", Token::Dim);
            let y = u16::try_from(y).unwrap_or(list.y);
            paint::put(buf, list.x + 2, y, list.width.saturating_sub(3), &text, theme);
        }
    }
}

#[cfg(test)]
#[path = "agent_picker_tests.rs"]
mod tests;
