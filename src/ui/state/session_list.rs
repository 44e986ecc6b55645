//! The list of all sessions (F8): those that are open, and below them the earlier ones that there is a record of.
//!
//! Reads no disk and starts nothing: earlier sessions come in when they have been read, what is chosen goes out. The open
//! ones are taken once, when the list opens: none moves under the person's fingers. Invariants: what is matched is
//! matched when the filter changes, never for a frame; no command starts that the person has not seen, and nothing is
//! forgotten before the person has said so.

use crate::base::sanitize;
use crate::model::ids::SessionKey;
use crate::text::fuzzy;
use crate::text::width;
use crate::ui::keys::Action;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The longest filter that is kept.
const MAX_FILTER: usize = 200;
/// Columns that are kept of a title or a prompt, and of an agent's name.
const ABOUT: usize = 240;
const AGENT: usize = 40;

/// How an earlier session ended, as far as is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// An acp-tui has it open.
    Open,
    /// In the middle of a turn, or together with acp-tui.
    Interrupted,
    Ended,
}

/// How the agent of an earlier session is started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Starts {
    /// As the agent of this name, which is configured.
    Configured(String),
    /// By the words that were recorded.
    Recorded(Vec<String>),
    Unknown,
}

/// A session that there is a record of. What the screen shows of it is one harmless line each; see [`Earlier::clean`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Earlier {
    /// The agent's name of it.
    pub id: String,
    pub agent: String,
    /// The command line, as it is recorded.
    pub command: String,
    pub starts: Starts,
    pub cwd: PathBuf,
    /// The directory is not there.
    pub is_gone: bool,
    pub title: Option<String>,
    pub first_prompt: Option<String>,
    pub last_prompt: Option<String>,
    /// Seconds since it was last used.
    pub age: u64,
    pub turns: u64,
    pub end: End,
    /// The records that it is in, the newest last.
    pub journals: Vec<PathBuf>,
    /// What the filter looks at.
    text: String,
}

impl Earlier {
    /// What a record says, made harmless. For a worker: there may be many.
    pub fn clean(id: String, agent: &str, command: String, starts: Starts, cwd: PathBuf) -> Self {
        let agent = width::truncate(sanitize::line(agent).trim(), AGENT).into_owned();
        Self {
            id,
            agent,
            command,
            starts,
            cwd,
            is_gone: false,
            title: None,
            first_prompt: None,
            last_prompt: None,
            age: 0,
            turns: 0,
            end: End::Ended,
            journals: Vec::new(),
            text: String::new(),
        }
    }

    /// The same with what it is about.
    #[must_use]
    pub fn about(mut self, title: Option<&str>, first: Option<&str>, last: Option<&str>) -> Self {
        let clean = |text: &str| {
            // A prompt may be very long; what is beyond these columns is not looked at.
            let head: String = text.chars().take(ABOUT * 2).collect();
            let line = sanitize::line(&head).trim().replace(['“', '”'], "\"");
            Some(width::truncate(&line, ABOUT).into_owned()).filter(|line| !line.is_empty())
        };
        (self.title, self.first_prompt) = (title.and_then(clean), first.and_then(clean));
        self.last_prompt = last.and_then(clean).filter(|last| Some(last) != self.first_prompt.as_ref());
        let place = self.cwd.file_name().unwrap_or_default().to_string_lossy();
        let parts = [self.title.as_deref(), self.first_prompt.as_deref(), Some(&self.agent), Some(&place)];
        self.text = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
        self
    }

    /// The same with how it was used, `age` seconds ago at last, and whether its directory is gone.
    #[must_use]
    pub fn used(self, age: u64, turns: u64, end: End, journals: Vec<PathBuf>, is_gone: bool) -> Self {
        Self { is_gone, age, turns, end, journals, ..self }
    }

    /// The title, else the first prompt.
    pub fn name(&self) -> Option<&str> {
        self.title.as_deref().or(self.first_prompt.as_deref())
    }
}

/// Whose sessions are listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reach {
    /// Those of this directory.
    #[default]
    Here,
    Everywhere,
}

/// Earlier sessions, as far as they have been read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Past {
    /// There is no place where any are kept.
    None,
    Reading,
    /// The newest first.
    Read(Arc<[Earlier]>),
    Failed(String),
}

/// A session that is open here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Open {
    pub key: SessionKey,
    /// What the filter looks at.
    pub text: String,
}

/// What the person is asked before it is done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ask {
    /// The command of this session is to be started.
    Start(Earlier),
    /// This session is to be forgotten.
    Forget {
        earlier: Earlier,
        /// So many others are in the same record, and go with it.
        others: usize,
        /// Its agent is told too.
        at_agent: bool,
    },
}

/// A row of the list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Row<'a> {
    Open(&'a Open),
    Earlier(&'a Earlier),
}

/// What came of a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// It was for the list.
    Stay,
    Close,
    Go(SessionKey),
    GoOn(Box<Earlier>),
    Forget(Box<Earlier>),
    /// It means nothing to the list.
    Other,
}

/// What the agents of these commands can do now.
#[derive(Clone, Copy)]
pub struct Offers<'a> {
    /// One runs, or for another reason nobody need be asked whether it is to be started.
    pub runs: &'a dyn Fn(&str) -> bool,
    /// One runs that forgets sessions when it is told to.
    pub deletes: &'a dyn Fn(&str) -> bool,
}

/// What of the list was on the screen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ListFrame {
    /// Rows of the screen, and the rows of the list that stood there.
    pub rows: Vec<(u16, usize)>,
    /// Rows of one page.
    pub page: usize,
    /// All of the command that is to be started could be read.
    pub is_whole: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub struct SessionList {
    here: PathBuf,
    reach: Reach,
    open: Vec<Open>,
    past: Past,
    filter: String,
    /// Places in `open` and in what has been read.
    shown_open: Vec<usize>,
    shown_past: Vec<usize>,
    /// Among all that is shown.
    selected: usize,
    pub asks: Option<Ask>,
    /// Why something cannot be done.
    pub note: Option<String>,
}

impl SessionList {
    /// `open` in the order in which they are shown.
    pub fn new(here: PathBuf, open: Vec<Open>, past: Past) -> Self {
        let mut list = Self {
            here,
            reach: Reach::Here,
            open,
            past,
            filter: String::new(),
            shown_open: Vec::new(),
            shown_past: Vec::new(),
            selected: 0,
            asks: None,
            note: None,
        };
        list.matched();
        list
    }

    pub fn here(&self) -> &Path {
        &self.here
    }

    pub fn reach(&self) -> Reach {
        self.reach
    }

    pub fn past(&self) -> &Past {
        &self.past
    }

    pub fn filter(&self) -> &str {
        &self.filter
    }

    pub fn selected(&self) -> usize {
        self.selected
    }

    /// How many sessions that are open here are shown; they come first.
    pub fn open_len(&self) -> usize {
        self.shown_open.len()
    }

    pub fn len(&self) -> usize {
        self.shown_open.len() + self.shown_past.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn row(&self, at: usize) -> Option<Row<'_>> {
        if let Some(open) = self.shown_open.get(at) {
            return self.open.get(*open).map(Row::Open);
        }
        let Past::Read(all) = &self.past else { return None };
        let place = self.shown_past.get(at - self.shown_open.len())?;
        all.get(*place).map(Row::Earlier)
    }

    pub fn current(&self) -> Option<Row<'_>> {
        self.row(self.selected)
    }

    /// How many there are in other directories, whatever is filtered.
    pub fn elsewhere(&self) -> usize {
        match &self.past {
            Past::Read(all) => all.iter().filter(|one| one.cwd != self.here).count(),
            _ => 0,
        }
    }

    /// What has been read; what is chosen stays chosen.
    pub fn told(&mut self, past: Past) {
        let chosen = match self.current() {
            Some(Row::Earlier(one)) => Some((one.id.clone(), one.journals.clone())),
            _ => None,
        };
        self.past = past;
        let at = self.selected;
        self.matched();
        let is_it = |row: usize| match (self.row(row), &chosen) {
            (Some(Row::Earlier(one)), Some((id, journals))) => one.id == *id && one.journals == *journals,
            _ => false,
        };
        self.selected = (0..self.len()).find(|row| is_it(*row)).unwrap_or(at).min(self.len().saturating_sub(1));
    }

    pub fn type_text(&mut self, text: &str) {
        if self.asks.is_some() {
            return;
        }
        for c in text.chars().filter(|c| !c.is_control()) {
            if self.filter.len() + c.len_utf8() <= MAX_FILTER {
                self.filter.push(c);
            }
        }
        self.refiltered();
    }

    fn refiltered(&mut self) {
        self.note = None;
        self.selected = 0;
        self.matched();
    }

    /// Finds what is shown: best first with a filter, else the newest first.
    fn matched(&mut self) {
        let open: Vec<&str> = self.open.iter().map(|one| one.text.as_str()).collect();
        self.shown_open = places(&self.filter, &open);
        self.shown_open.sort_unstable();
        self.shown_past.clear();
        if let Past::Read(all) = &self.past {
            let is_in_reach = |one: &Earlier| self.reach == Reach::Everywhere || one.cwd == self.here;
            let (at, texts): (Vec<usize>, Vec<&str>) =
                all.iter().enumerate().filter(|(_, one)| is_in_reach(one)).map(|(at, one)| (at, &*one.text)).unzip();
            self.shown_past = places(&self.filter, &texts).into_iter().filter_map(|i| at.get(i).copied()).collect();
        }
    }

    pub fn step(&mut self, by: isize) {
        self.note = None;
        self.selected = super::picker::step(self.selected, by, self.len());
    }

    /// The row that was clicked.
    pub fn select(&mut self, at: usize) {
        if at < self.len() && self.asks.is_none() {
            self.note = None;
            self.selected = at;
        }
    }

    /// What a key means here.
    pub fn act(&mut self, action: Action, frame: &ListFrame, offers: Offers<'_>) -> Step {
        if let Some(asks) = self.asks.take() {
            return self.answered(asks, action, frame);
        }
        let page = isize::try_from(frame.page.max(2) - 1).unwrap_or(1);
        match action {
            Action::Escape if !self.filter.is_empty() => {
                self.filter.clear();
                self.refiltered();
            }
            Action::Escape | Action::CtrlC | Action::Sessions => return Step::Close,
            Action::Accept | Action::Submit => return self.chosen(offers),
            Action::Delete => self.forget(offers),
            Action::Tab => {
                self.reach = if self.reach == Reach::Here { Reach::Everywhere } else { Reach::Here };
                self.refiltered();
            }
            Action::Up | Action::WheelUp => self.step(-1),
            Action::Down | Action::WheelDown => self.step(1),
            Action::PageUp => self.step(-page),
            Action::PageDown => self.step(page),
            Action::Home => self.step(isize::MIN),
            Action::End => self.step(isize::MAX),
            Action::Backspace => {
                self.filter.pop();
                self.refiltered();
            }
            Action::KillLine | Action::DeleteWordBack => {
                self.filter.clear();
                self.refiltered();
            }
            Action::Char(c) => self.type_text(c.encode_utf8(&mut [0; 4])),
            _ => return Step::Other,
        }
        Step::Stay
    }

    fn answered(&mut self, asks: Ask, action: Action, frame: &ListFrame) -> Step {
        match (action, asks) {
            (Action::Accept, Ask::Start(earlier)) if frame.is_whole => Step::GoOn(Box::new(earlier)),
            (Action::Accept, Ask::Forget { earlier, .. }) => Step::Forget(Box::new(earlier)),
            (Action::Escape | Action::CtrlC, _) => Step::Stay,
            (Action::Accept | Action::Up | Action::Down | Action::PageUp | Action::PageDown, asks) => {
                self.asks = Some(asks);
                Step::Stay
            }
            // Whatever else a key does, it must not leave a question behind that is out of sight.
            _ => Step::Other,
        }
    }

    fn chosen(&mut self, offers: Offers<'_>) -> Step {
        let earlier = match self.current() {
            None => return Step::Stay,
            Some(Row::Open(open)) => return Step::Go(open.key),
            Some(Row::Earlier(earlier)) => earlier.clone(),
        };
        if earlier.end == End::Open {
            self.note = Some("open in another acp-tui".to_owned());
        } else if earlier.is_gone {
            let place = crate::base::paths::visible(earlier.cwd.as_os_str());
            self.note = Some(format!("its directory is gone: {place}"));
        } else if (offers.runs)(&earlier.command) || matches!(earlier.starts, Starts::Configured(_)) {
            return Step::GoOn(Box::new(earlier));
        } else if earlier.starts == Starts::Unknown {
            self.note =
                Some("how its agent was started is not known; `acp-tui --resume ID -- COMMAND` goes on".to_owned());
        } else {
            self.asks = Some(Ask::Start(earlier));
        }
        Step::Stay
    }

    fn forget(&mut self, offers: Offers<'_>) {
        match self.current() {
            None => {}
            Some(Row::Open(_)) => self.note = Some("open here; Alt+W closes a session".to_owned()),
            Some(Row::Earlier(one)) if one.end == End::Open => self.note = Some("open in another acp-tui".to_owned()),
            Some(Row::Earlier(one)) => {
                let (others, at_agent) = (self.beside(one), (offers.deletes)(&one.command));
                self.asks = Some(Ask::Forget { earlier: one.clone(), others, at_agent });
            }
        }
    }

    /// How many other sessions are in the same records.
    fn beside(&self, one: &Earlier) -> usize {
        let Past::Read(all) = &self.past else { return 0 };
        let shares = |other: &&Earlier| {
            (&other.id, &other.journals) != (&one.id, &one.journals)
                && other.journals.iter().any(|journal| one.journals.contains(journal))
        };
        all.iter().filter(shares).count()
    }
}

/// Places of the texts that match, best first; all in their order without a query.
fn places(query: &str, texts: &[&str]) -> Vec<usize> {
    if query.trim().is_empty() {
        return (0..texts.len()).collect();
    }
    fuzzy::rank(query, texts).into_iter().map(|(at, _)| at).collect()
}

#[cfg(test)]
#[path = "session_list_tests.rs"]
mod tests;
