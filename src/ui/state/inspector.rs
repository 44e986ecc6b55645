//! The inspector (F9, `acp-tui inspect`): every line of all connections, filtered by what is typed, and one of them opened.
//!
//! Follows the newest line until the person chooses one. Invariants: no more bytes of lines are kept than the engine keeps
//! of them, or than is asked for of a file; a new line costs one look at the filter; a key costs a bounded number of them,
//! the newest lines first, and the rest is looked at between keys.

use crate::base::{human, sanitize};
use crate::model::frames::{FrameRow, words};
use crate::ui::keys::Action;
use serde_json::Value;
use std::collections::VecDeque;

/// Bytes of lines that are kept, and what each costs besides.
const MAX_BYTES: usize = 4 << 20;
const COST: usize = 256;
/// Bytes of a filter.
const MAX_FILTER: usize = 200;
/// Bytes that a new filter looks at in one go; all that is kept of connections.
const AT_ONCE: usize = MAX_BYTES;
/// Lines of an opened message.
const MAX_LINES: usize = 20_000;
/// A longer message is opened as it is, and only its beginning.
const MAX_SET_OUT: usize = 1 << 20;
/// Bytes of a line of an opened message; a longer one is several.
const MAX_LINE: usize = 4 << 10;

#[derive(Debug)]
pub struct Inspector {
    rows: VecDeque<FrameRow>,
    bytes: usize,
    /// No more of them are kept.
    most: usize,
    /// The number of the first row.
    first: u64,
    /// How many came too fast to be taken.
    missed: u64,
    /// Numbers of the rows that fit the filter, of those that were looked at.
    fitting: VecDeque<u64>,
    /// All rows from this number on were looked at.
    sifted: u64,
    filter: String,
    words: Vec<String>,
    /// The chosen one; without it the newest.
    at: Option<u64>,
    pub opened: Option<Opened>,
}

impl Default for Inspector {
    fn default() -> Self {
        Self::keeping(MAX_BYTES)
    }
}

/// What a key is besides what it has done here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Keyed {
    Done,
    Close,
    /// The text of the opened message.
    Copy(String),
    Save(String),
    /// It means nothing here.
    Other,
}

/// A message as it is read.
#[derive(Debug)]
pub struct Opened {
    pub row: FrameRow,
    /// Set out over several lines where it is JSON.
    pub lines: Vec<String>,
    /// Lines above what is shown.
    pub top: usize,
}

impl Inspector {
    /// One that keeps so many bytes of lines, the newest ones.
    pub fn keeping(most: usize) -> Self {
        Self {
            rows: VecDeque::new(),
            bytes: 0,
            most,
            first: 0,
            missed: 0,
            fitting: VecDeque::new(),
            sifted: 0,
            filter: String::new(),
            words: Vec::new(),
            at: None,
            opened: None,
        }
    }

    /// What a key does; `page` is how far one of a page goes.
    pub fn act(&mut self, action: Action, page: isize) -> Keyed {
        match action {
            Action::Escape if self.opened.is_some() => self.opened = None,
            Action::Escape if !self.filter.is_empty() => self.clear(),
            Action::Escape | Action::CtrlC | Action::Inspect => return Keyed::Close,
            Action::Accept | Action::Submit => match self.opened {
                Some(_) => self.opened = None,
                None => self.open(),
            },
            Action::Up => self.step(-1),
            Action::Down => self.step(1),
            Action::PageUp => self.step(-page),
            Action::PageDown => self.step(page),
            Action::WheelUp => self.step(-3),
            Action::WheelDown => self.step(3),
            Action::Home => self.step(isize::MIN),
            Action::End => self.step(isize::MAX),
            Action::Char(c) => match &self.opened {
                Some(opened) if c == 'y' => return Keyed::Copy(opened.text()),
                Some(opened) if c == 's' => return Keyed::Save(opened.text()),
                Some(_) => {}
                // What begins with it is looked for like the rest.
                None if c == '/' && self.filter.is_empty() => {}
                None => self.type_text(c.encode_utf8(&mut [0; 4])),
            },
            Action::Backspace => self.backspace(),
            Action::KillLine | Action::DeleteWordBack => self.clear(),
            _ => return Keyed::Other,
        }
        Keyed::Done
    }

    pub fn take(&mut self, rows: Vec<FrameRow>) {
        for row in rows {
            let number = self.first + self.rows.len() as u64;
            if row.fits(&self.words) {
                self.fitting.push_back(number);
            }
            self.bytes += row.text.len() + COST;
            self.rows.push_back(row);
        }
        while self.bytes > self.most
            && let Some(row) = self.rows.pop_front()
        {
            self.bytes -= row.text.len() + COST;
            self.first += 1;
        }
        let first = self.first;
        while self.fitting.front().is_some_and(|number| *number < first) {
            self.fitting.pop_front();
        }
        self.sifted = self.sifted.max(first);
        if !self.is_sifting() && self.at.is_some_and(|at| at < first) {
            self.at = self.fitting.front().copied();
        }
    }

    pub fn filter(&self) -> &str {
        &self.filter
    }

    /// All rows, and those that fit.
    pub fn count(&self) -> (usize, usize) {
        (self.rows.len(), self.fitting.len())
    }

    /// So many came and went without being taken.
    pub fn miss(&mut self, rows: u64) {
        self.missed += rows;
    }

    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// How many were let go of since there was no room for them.
    pub fn left_out(&self) -> u64 {
        self.first
    }

    /// The place of the chosen one among those that fit, from 1.
    pub fn number(&self) -> usize {
        if self.fitting.is_empty() { 0 } else { self.place() + 1 }
    }

    pub fn follows(&self) -> bool {
        self.at.is_none()
    }

    pub fn type_text(&mut self, text: &str) {
        if self.opened.is_some() {
            return;
        }
        for c in text.chars().filter(|c| !c.is_control()) {
            if self.filter.len() + c.len_utf8() <= MAX_FILTER {
                self.filter.push(c);
            }
        }
        self.sift();
    }

    pub fn backspace(&mut self) {
        self.filter.pop();
        self.sift();
    }

    pub fn clear(&mut self) {
        self.filter.clear();
        self.sift();
    }

    fn sift(&mut self) {
        self.words = words(&self.filter);
        self.fitting.clear();
        self.sifted = self.first + self.rows.len() as u64;
        self.sift_on();
    }

    /// Whether there are rows that were not looked at since the filter has changed.
    pub fn is_sifting(&self) -> bool {
        self.sifted > self.first
    }

    /// Looks at some more of them, from the newest to the oldest.
    pub fn sift_on(&mut self) {
        let mut bytes = 0;
        while self.is_sifting() && bytes < AT_ONCE {
            let number = self.sifted - 1;
            let Some(row) = usize::try_from(number - self.first).ok().and_then(|at| self.rows.get(at)) else { break };
            bytes += row.text.len() + COST;
            if row.fits(&self.words) {
                self.fitting.push_front(number);
            }
            self.sifted = number;
        }
        if !self.is_sifting() {
            // What is chosen stays, or the next one that fits is.
            let next = self.at.and_then(|at| self.fitting.get(self.fitting.partition_point(|number| *number < at)));
            self.at = next.copied();
        }
    }

    /// The place of the chosen one among those that fit.
    fn place(&self) -> usize {
        let last = self.fitting.len().saturating_sub(1);
        self.at.map_or(last, |at| self.fitting.partition_point(|number| *number < at).min(last))
    }

    /// Goes up or down. Down from the newest follows it again.
    pub fn step(&mut self, by: isize) {
        if let Some(opened) = &mut self.opened {
            opened.top = opened.top.saturating_add_signed(by).min(opened.lines.len().saturating_sub(1));
            return;
        }
        let place = self.place().saturating_add_signed(by);
        self.at = if place + 1 >= self.fitting.len() { None } else { self.fitting.get(place).copied() };
    }

    /// So many rows that fit, the chosen one among them, and which of them that is.
    pub fn window(&self, height: usize) -> (Vec<&FrameRow>, usize) {
        let place = self.place();
        let from = (place + 1).saturating_sub(height);
        let numbers = self.fitting.iter().skip(from).take(height);
        let index = |number: u64| usize::try_from(number - self.first).ok();
        (numbers.filter_map(|number| self.rows.get(index(*number)?)).collect(), place - from)
    }

    pub fn chosen(&self) -> Option<&FrameRow> {
        let number = self.fitting.get(self.place())?;
        self.rows.get(usize::try_from(number - self.first).ok()?)
    }

    /// Opens the chosen one.
    pub fn open(&mut self) {
        let Some(row) = self.chosen().cloned() else { return };
        let lines = set_out(&row.text);
        self.opened = Some(Opened { row, lines, top: 0 });
    }
}

impl Opened {
    /// As it is copied and saved.
    pub fn text(&self) -> String {
        pretty(&self.row.text).unwrap_or_else(|| self.row.text.to_string())
    }
}

fn pretty(text: &str) -> Option<String> {
    if text.len() > MAX_SET_OUT {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    serde_json::to_string_pretty(&value).ok()
}

fn set_out(text: &str) -> Vec<String> {
    let (shown, rest) = text.split_at(text.floor_char_boundary(MAX_SET_OUT));
    let set_out = pretty(text);
    let lines = set_out.as_deref().unwrap_or(shown).lines().flat_map(pieces).take(MAX_LINES);
    let mut lines: Vec<String> = lines.map(|line| sanitize::tabbed(line).into_owned()).collect();
    if !rest.is_empty() {
        lines.push(format!("… {} more: s saves all of it", human::bytes(rest.len() as u64)));
    }
    lines
}

/// A line in pieces that can each be laid out at once.
fn pieces(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let (piece, more) = rest.take().map(|rest| rest.split_at(rest.floor_char_boundary(MAX_LINE)))?;
        rest = Some(more).filter(|more| !more.is_empty());
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::frames::{FrameDir, FrameKind};
    use crate::model::ids::{AgentKey, Now};

    fn row(text: &str) -> FrameRow {
        FrameRow {
            at: Now::ZERO,
            dir: FrameDir::FromAgent,
            agent: AgentKey::FIRST,
            kind: FrameKind::Notification,
            method: "_x".into(),
            id: None,
            latency: None,
            flaws: Vec::new(),
            text: text.into(),
        }
    }

    fn chosen(inspector: &Inspector) -> &str {
        inspector.chosen().map_or("", |row| &row.text)
    }

    #[test]
    fn it_follows_the_newest_until_one_is_chosen() {
        let mut inspector = Inspector::default();
        inspector.take(vec![row("a1"), row("b2"), row("a3")]);
        assert_eq!(chosen(&inspector), "a3");
        inspector.step(-1);
        inspector.take(vec![row("b4")]);
        assert_eq!((chosen(&inspector), inspector.follows()), ("b2", false));
        inspector.type_text("A");
        assert_eq!((chosen(&inspector), inspector.count()), ("a3", (4, 2)));
        inspector.take(vec![row("a5"), row("b6")]);
        inspector.step(9);
        assert_eq!((chosen(&inspector), inspector.follows()), ("a5", true));
        let (rows, at) = inspector.window(2);
        assert_eq!((rows.iter().map(|row| &*row.text).collect::<Vec<_>>(), at), (vec!["a3", "a5"], 1));
        inspector.clear();
        assert_eq!(chosen(&inspector), "b6");
        inspector.type_text("nothing");
        assert_eq!((chosen(&inspector), inspector.window(5).0.len()), ("", 0));
        inspector.step(-1);
        inspector.open();
        assert!(inspector.opened.is_none());
    }

    #[test]
    fn what_is_kept_is_bounded_and_the_choice_moves_with_it() {
        let mut inspector = Inspector::default();
        inspector.take((0..100).map(|n| row(&n.to_string())).collect());
        inspector.step(-99);
        assert_eq!(chosen(&inspector), "0");
        inspector.take((0..20).map(|_| row(&"x".repeat(1 << 20))).collect());
        assert!(inspector.bytes <= MAX_BYTES && inspector.rows.len() < 10);
        assert_eq!(inspector.fitting.len(), inspector.rows.len());
        assert!(chosen(&inspector).starts_with('x'));
        inspector.miss(3);
        assert_eq!(inspector.missed(), 3);
    }

    #[test]
    fn an_opened_message_is_set_out_and_clean() {
        let mut inspector = Inspector::default();
        inspector.take(vec![row("{\"a\":{\"b\":\"\\u001b[2J\"}}"), row("no\u{1b}[2J json")]);
        inspector.open();
        let opened = inspector.opened.as_ref().unwrap();
        assert_eq!((opened.lines.len(), opened.lines[0].contains('\u{1b}')), (1, false));
        inspector.opened = None;
        inspector.step(-1);
        inspector.open();
        assert_eq!(inspector.opened.as_ref().unwrap().lines.len(), 5);
        inspector.step(100);
        assert_eq!(inspector.opened.as_ref().unwrap().top, 4);
    }

    #[test]
    fn a_filter_looks_at_a_bounded_part_at_a_time_and_finds_the_same() {
        let mut inspector = Inspector::keeping(64 << 20);
        let wide = "x".repeat(64 << 10);
        inspector
            .take((0..400).map(|n| row(&format!("{n} {wide} {}", if n % 7 == 0 { "rare" } else { "" }))).collect());
        inspector.step(-300);
        let before = chosen(&inspector).to_owned();
        inspector.type_text("rare");
        assert!(inspector.is_sifting(), "25 MiB are not looked at for one key");
        let seen = inspector.count().1;
        assert!(seen > 0 && seen < 58, "{seen}");
        inspector.take(vec![row("rare and new"), row("new")]);
        let mut steps = 0;
        while inspector.is_sifting() {
            inspector.sift_on();
            steps += 1;
        }
        assert_eq!(((4..8).contains(&steps), inspector.count()), (true, (402, 59)), "{steps}");
        let number = |text: &str| text.split(' ').next().and_then(|word| word.parse::<u32>().ok()).unwrap();
        let (was, is) = (number(&before), number(chosen(&inspector)));
        assert!(is >= was && is < was + 7 && is.is_multiple_of(7), "{was} {is}");
        inspector.type_text("!");
        inspector.clear();
        inspector.step(isize::MAX);
        assert_eq!((chosen(&inspector), inspector.follows()), ("new", true), "the newest are there at once");
    }

    #[test]
    fn what_is_let_go_of_while_a_filter_looks_is_not_looked_at() {
        let mut inspector = Inspector::keeping(8 << 20);
        let wide = "x".repeat(64 << 10);
        inspector.take((0..100).map(|n| row(&format!("{n} {wide}"))).collect());
        inspector.type_text("x");
        assert!(inspector.is_sifting());
        inspector.take((0..100).map(|n| row(&format!("{n} {wide}"))).collect());
        inspector.sift_on();
        let (all, fitting) = inspector.count();
        assert!(!inspector.is_sifting() && all == fitting && all < 130, "{all} {fitting}");
    }

    #[test]
    fn of_a_message_that_is_too_large_to_set_out_the_beginning_is_shown_and_all_of_it_saved() {
        let mut inspector = Inspector::keeping(64 << 20);
        let text = format!("[\"{}\"]", "é".repeat(2 << 20));
        inspector.take(vec![row(&text)]);
        inspector.open();
        let opened = inspector.opened.as_ref().unwrap();
        assert!(opened.lines.iter().all(|line| line.len() <= MAX_LINE) && opened.lines.len() > 200);
        assert!(opened.lines.last().unwrap().contains("more: s saves"), "{:?}", opened.lines.last());
        assert_eq!(opened.text(), text);
    }
}
