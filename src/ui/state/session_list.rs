//! The list of all sessions (F8): those that are open, and below them the earlier ones that there is a record of.
//!
//! Reads no disk and starts nothing: earlier sessions come in when they have been read, what is chosen goes out. The open
//! ones are taken once, when the list opens: none moves under the person's fingers. Invariants: what is matched is
//! matched when the filter changes, never for a frame; no command starts that the person has not seen, and nothing is
//! forgotten before the person has said so.

mod apart;
mod finding;
mod matching;
mod naming;
mod past_session;
mod step;

use super::trees::{Fate, Tree, Trees};
use crate::base::human;
use crate::model::ids::SessionKey;
use crate::ui::keys::Action;
pub use apart::tell_apart;
pub use finding::{Finding, Hit, Place, Previews, Query, Said, Who};
pub use past_session::{End, PastSession, Starts, Which};
use std::path::{Path, PathBuf};
use std::sync::Arc;
pub use step::{Ask, How, ListFrame, Offers, Open, Row, Step};

/// The longest filter or name that is kept.
const MAX_FILTER: usize = 200;

/// Whose sessions are listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reach {
    /// Those of this directory.
    #[default]
    Here,
    Everywhere,
}

/// What comes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Sort {
    /// Who waits for the person; of the earlier ones those that were interrupted.
    #[default]
    Needs,
    /// What was used last.
    Used,
}

/// How much of each session is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Density {
    #[default]
    OneRow,
    TwoRows,
}

/// How the list was left, for the next time that it opens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Taste {
    pub sort: Sort,
    pub density: Density,
}

/// Earlier sessions, as far as they have been read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Past {
    /// There is no place where any are kept.
    None,
    Reading,
    /// The newest first.
    Read(Arc<[PastSession]>),
    Failed(String),
}

#[derive(Clone, PartialEq, Debug)]
pub struct SessionList {
    here: PathBuf,
    /// The session that was shown when it was opened.
    from: Option<SessionKey>,
    reach: Reach,
    open: Vec<Open>,
    past: Past,
    pub trees: Arc<Trees>,
    filter: String,
    /// Places in `open` and in what has been read.
    shown_open: Vec<usize>,
    shown_past: Vec<usize>,
    /// The row that matches the filter best.
    best: usize,
    taste: Taste,
    /// What is looked for in all that was said; what is typed is that and no filter.
    finding: Option<Finding>,
    /// Where in the session that was chosen something was found.
    place: Option<Place>,
    pub previews: Previews,
    /// Among all that is shown.
    selected: usize,
    pub asks: Option<Ask>,
    /// The agent of what is chosen is told the name that is typed.
    pub tells: bool,
    /// Why something cannot be done.
    pub note: Option<String>,
    /// Journals that cannot be read, as far as it was said.
    unread: usize,
}

impl SessionList {
    /// `open` in the order in which they are shown.
    pub fn new(here: PathBuf, open: Vec<Open>, past: Past, taste: Taste) -> Self {
        let mut list = Self {
            here,
            from: None,
            reach: Reach::Here,
            open,
            past,
            trees: Arc::default(),
            filter: String::new(),
            shown_open: Vec::new(),
            shown_past: Vec::new(),
            best: 0,
            taste,
            finding: None,
            place: None,
            previews: Previews::default(),
            selected: 0,
            asks: None,
            tells: false,
            note: None,
            unread: 0,
        };
        list.matched();
        list
    }

    /// The same, opened from this session. Another one that asks something is chosen, else this one.
    #[must_use]
    pub fn from(self, session: SessionKey) -> Self {
        let open = |row: &usize| self.shown_open.get(*row).and_then(|at| self.open.get(*at));
        let selected = (0..self.open_len()).min_by_key(|row| open(row).map(|open| open.rank(session))).unwrap_or(0);
        Self { from: Some(session), selected, ..self }
    }

    /// The same, with the worktrees that are known.
    #[must_use]
    pub fn with(mut self, trees: Arc<Trees>) -> Self {
        self.trees = trees;
        // What is in one of them is of the directory that it came from.
        self.matched();
        self
    }

    /// So many journals cannot be read; said once.
    pub fn says_unread(&mut self, journals: usize) {
        if std::mem::replace(&mut self.unread, journals) != journals && journals > 0 {
            let they = human::count(journals as u64, "journal");
            self.note = Some(format!("{they} cannot be read: acp-tui sessions says why"));
        }
    }

    pub fn opened_from(&self) -> Option<SessionKey> {
        self.from
    }

    pub fn here(&self) -> &Path {
        &self.here
    }

    /// The directory whose earlier sessions are listed: of a worktree the one that it stands for.
    pub fn home(&self) -> PathBuf {
        self.trees.origins.home_of(&self.here)
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

    pub fn taste(&self) -> Taste {
        self.taste
    }

    pub fn finding(&self) -> Option<&Finding> {
        self.finding.as_ref()
    }

    /// A yes is waited for, and nothing can be typed.
    pub fn wants_a_yes(&self) -> bool {
        matches!(self.asks, Some(Ask::Start(..) | Ask::Forget { .. } | Ask::Tree(..)))
    }

    /// How many sessions that are open here are shown; they come first.
    pub fn open_len(&self) -> usize {
        if self.finding.is_some() { 0 } else { self.shown_open.len() }
    }

    pub fn len(&self) -> usize {
        match &self.finding {
            None => self.shown_open.len() + self.shown_past.len(),
            Some(Finding::Found(hits, _)) => hits.len(),
            Some(_) => 0,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn row(&self, at: usize) -> Option<Row<'_>> {
        if let Some(finding) = &self.finding {
            let Finding::Found(hits, _) = finding else { return None };
            return hits.get(at).map(Row::Hit);
        }
        if let Some(open) = self.shown_open.get(at) {
            return self.open.get(*open).map(Row::Open);
        }
        let Past::Read(all) = &self.past else { return None };
        let place = self.shown_past.get(at - self.shown_open.len())?;
        all.get(*place).map(Row::Past)
    }

    /// It continues the same conversation as the row above, or is continued by it.
    pub fn is_beneath(&self, at: usize) -> bool {
        let thread = |at: usize| match self.row(at)? {
            Row::Past(one) => one.thread.as_ref(),
            Row::Open(_) | Row::Hit(_) => None,
        };
        at > 0 && thread(at).is_some() && thread(at) == thread(at - 1)
    }

    pub fn current(&self) -> Option<Row<'_>> {
        self.row(self.selected)
    }

    /// The session whose end is to be read now, if there is room for it; once each.
    pub fn wants_end(&mut self, has_room: bool) -> Option<PastSession> {
        let past = match self.current().filter(|_| has_room)? {
            Row::Open(_) => return None,
            Row::Past(one) => one.clone(),
            Row::Hit(hit) => PastSession::clone(&hit.session),
        };
        (!past.journals.is_empty() && self.previews.wants(&past.which())).then_some(past)
    }

    /// How many there are in other directories, before the filter.
    pub fn elsewhere(&self) -> usize {
        match &self.past {
            Past::Read(all) => all.iter().filter(|one| !self.is_near(one)).count(),
            _ => 0,
        }
    }

    /// Whether a session is of this directory, or of a worktree that stands for it.
    fn is_near(&self, one: &PastSession) -> bool {
        self.trees.origins.are_alike(&one.cwd, &self.here)
    }

    /// The worktree that a session works in.
    pub fn tree_of(&self, row: Row<'_>) -> Option<&Tree> {
        self.trees.around(row.cwd())
    }

    /// What has been read; what is chosen stays chosen.
    pub fn told(&mut self, past: Past) {
        let chosen = match self.current() {
            Some(Row::Past(one)) => Some((one.id.clone(), one.journals.clone())),
            _ => None,
        };
        self.past = past;
        let (at, is_best) = (self.selected, self.selected == self.best && !self.filter.trim().is_empty());
        self.matched();
        let at = if is_best { self.best } else { at };
        let is_it = |row: usize| match (self.row(row), &chosen) {
            (Some(Row::Past(one)), Some((id, journals))) => one.id == *id && one.journals == *journals,
            _ => false,
        };
        let same = (0..self.len()).find(|row| is_it(*row)).filter(|_| !is_best);
        self.selected = same.unwrap_or(at).min(self.len().saturating_sub(1));
    }

    /// What has been found for a text, unless something else is looked for by now.
    pub fn found(&mut self, query: &Query, found: Finding) {
        if self.finding == Some(Finding::Going) && query.text == self.filter {
            self.finding = Some(found);
            self.selected = 0;
        }
    }

    /// Where in the session that was just chosen something was found.
    pub fn take_place(&mut self) -> Option<Place> {
        self.place.take()
    }

    pub fn type_text(&mut self, text: &str) {
        let line = match &mut self.asks {
            None => &mut self.filter,
            Some(Ask::Name { line, .. }) => line,
            Some(_) => return,
        };
        for c in text.chars().filter(|c| !c.is_control()) {
            if line.len() + c.len_utf8() <= MAX_FILTER {
                line.push(c);
            }
        }
        if self.asks.is_none() {
            self.refiltered();
        }
    }

    fn refiltered(&mut self) {
        self.note = None;
        self.selected = 0;
        if self.finding.is_some() {
            self.finding = Some(Finding::Typed);
        } else {
            self.matched();
            self.selected = self.best;
        }
    }

    pub fn step(&mut self, by: isize) {
        self.note = None;
        self.selected = super::highlight::step(self.selected, by, self.len());
    }

    /// The row that was clicked.
    pub fn select(&mut self, at: usize) {
        if at < self.len() && self.asks.is_none() {
            self.note = None;
            self.selected = at;
        }
    }

    /// Selects an earlier session, unless it is not there any more.
    pub fn select_past(&mut self, which: &Which) -> bool {
        let is_it = |row: usize| matches!(self.row(row), Some(Row::Past(one)) if one.which() == *which);
        let found = (0..self.len()).find(|row| is_it(*row));
        self.selected = found.unwrap_or(self.selected);
        found.is_some()
    }

    /// What a key means here.
    pub fn act(&mut self, action: Action, frame: &ListFrame, offers: Offers<'_>) -> Step {
        if let Some(asks) = self.asks.take() {
            return self.answered(asks, action, frame);
        }
        let page = isize::try_from(frame.page.max(2) - 1).unwrap_or(1);
        match action {
            Action::Escape if self.finding.is_some() => self.leave_finding(),
            Action::Escape if !self.filter.is_empty() => {
                self.filter.clear();
                self.refiltered();
            }
            Action::Escape | Action::CtrlC | Action::Sessions => return Step::Close,
            Action::Accept | Action::Submit if matches!(self.finding, Some(Finding::Typed | Finding::Failed(_))) => {
                return self.find();
            }
            Action::Accept | Action::Submit => return self.chosen(offers, How::GoesOn),
            Action::Delete => self.forget(offers),
            Action::RenameSession => self.name(),
            Action::ForkSession => return self.fork(offers),
            Action::ExportSession => return self.current_which().map_or(Step::Stay, Step::Export),
            Action::MergeTree => self.ask_of_tree(Fate::Merge),
            Action::DiscardTree => self.ask_of_tree(Fate::Discard),
            Action::SortSessions => {
                self.taste.sort = if self.taste.sort == Sort::Needs { Sort::Used } else { Sort::Needs };
                self.refiltered();
            }
            Action::Density => {
                let is_one = self.taste.density == Density::OneRow;
                self.taste.density = if is_one { Density::TwoRows } else { Density::OneRow };
            }
            Action::Char('/') if self.finding.is_none() && self.filter.is_empty() => {
                self.note = None;
                self.finding = Some(Finding::Typed);
            }
            Action::Tab => {
                self.reach = if self.reach == Reach::Here { Reach::Everywhere } else { Reach::Here };
                self.refiltered();
                return Step::Reached;
            }
            Action::Up | Action::WheelUp => self.step(-1),
            Action::Down | Action::WheelDown => self.step(1),
            Action::PageUp => self.step(-page),
            Action::PageDown => self.step(page),
            Action::Home => self.step(isize::MIN),
            Action::End => self.step(isize::MAX),
            Action::Backspace if self.finding.is_some() && self.filter.is_empty() => self.leave_finding(),
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

    fn leave_finding(&mut self) {
        self.finding = None;
        self.filter.clear();
        self.refiltered();
    }

    fn find(&mut self) -> Step {
        if self.filter.trim().is_empty() {
            return Step::Stay;
        }
        self.finding = Some(Finding::Going);
        let below = (self.reach == Reach::Here).then(|| self.here.clone());
        Step::Find(Query { text: self.filter.clone(), below })
    }

    fn answered(&mut self, asks: Ask, action: Action, frame: &ListFrame) -> Step {
        match (action, asks) {
            (Action::Accept, Ask::Start(past, how)) if frame.is_whole => going(past, how),
            (Action::Accept, Ask::Tree(tree, fate)) => Step::Tree(tree, fate),
            (Action::Accept, Ask::Forget { past, .. }) => Step::Forget(Box::new(past)),
            (Action::Accept | Action::Submit, Ask::Name { which, line }) => {
                let name = line.trim();
                Step::Rename(which, (!name.is_empty()).then(|| name.to_owned()))
            }
            (Action::Escape | Action::CtrlC, _) => Step::Stay,
            (action, Ask::Name { which, mut line }) => {
                match action {
                    Action::Backspace => drop(line.pop()),
                    Action::KillLine | Action::DeleteWordBack => line.clear(),
                    Action::Char(c) if line.len() + c.len_utf8() <= MAX_FILTER => line.push(c),
                    _ => {}
                }
                self.asks = Some(Ask::Name { which, line });
                Step::Stay
            }
            (Action::Accept | Action::Up | Action::Down | Action::PageUp | Action::PageDown, asks) => {
                self.asks = Some(asks);
                Step::Stay
            }
            // No key may leave a question behind that is out of sight.
            _ => Step::Other,
        }
    }

    fn chosen(&mut self, offers: Offers<'_>, how: How) -> Step {
        self.place = None;
        let past = match self.current() {
            None => return Step::Stay,
            Some(Row::Open(open)) => return Step::Go(open.key),
            Some(Row::Past(past)) => past.clone(),
            Some(Row::Hit(hit)) => {
                let (session, place) = (PastSession::clone(&hit.session), hit.place.clone());
                let which = Which { journals: None, ..session.which() };
                self.place = Some(place);
                let is_it = |open: &&Open| open.which.as_ref() == Some(&which);
                if let Some(open) = self.open.iter().find(is_it) {
                    return Step::Go(open.key);
                }
                session
            }
        };
        // What is recorded of it can be read, and nothing is started for that.
        let is_shown = past.is_gone && how == How::GoesOn && !past.journals.is_empty();
        if is_shown {
            return going(past, how);
        } else if past.is_gone {
            let place = crate::base::paths::visible(past.cwd.as_os_str());
            self.note = Some(format!("its directory is gone: {place}"));
        } else if past.commands().any(offers.runs) || matches!(past.starts, Starts::Configured(_)) {
            return going(past, how);
        } else if past.starts == Starts::Unknown {
            self.note =
                Some("how its agent was started is not known; `acp-tui --resume ID -- COMMAND` goes on".to_owned());
        } else {
            self.asks = Some(Ask::Start(past, how));
        }
        Step::Stay
    }

    /// Opens a copy, where the agent is known to make them.
    fn fork(&mut self, offers: Offers<'_>) -> Step {
        let forks = match self.current() {
            None | Some(Row::Hit(_)) => return Step::Stay,
            Some(Row::Open(open)) => {
                let forks = open.which.as_ref().and_then(|which| (offers.forks)(&which.command));
                if forks == Some(true) {
                    return Step::ForkOpen(open.key);
                }
                false
            }
            Some(Row::Past(one)) => one.commands().find_map(offers.forks).unwrap_or(one.forks),
        };
        if forks {
            return self.chosen(offers, How::Forks);
        }
        self.note = Some("its agent opens no copies of sessions".to_owned());
        Step::Stay
    }

    /// Asks for a name, beginning with the one that it has.
    fn name(&mut self) {
        let (Some(which), current) = (self.current_which(), self.current()) else { return };
        let line = match current {
            Some(Row::Past(one)) => one.title.clone().unwrap_or_default(),
            _ => String::new(),
        };
        self.note = None;
        self.asks = Some(Ask::Name { which, line });
    }

    fn current_which(&self) -> Option<Which> {
        match self.current()? {
            Row::Open(open) => open.which.clone(),
            Row::Past(one) => Some(one.which()),
            Row::Hit(hit) => Some(hit.session.which()),
        }
    }

    /// Asks whether this is to become of the worktree that the session works in.
    fn ask_of_tree(&mut self, fate: Fate) {
        match self.current().and_then(|row| self.tree_of(row)).cloned() {
            Some(tree) => {
                self.note = None;
                self.asks = Some(Ask::Tree(tree, fate));
            }
            None => {
                let was_discarded = self.current().is_some_and(|row| self.trees.was_discarded(row.cwd()));
                let why = if was_discarded {
                    "its worktree was discarded; going on in it says what brings it back"
                } else {
                    "this session works in no worktree of its own"
                };
                self.note = Some(why.to_owned());
            }
        }
    }

    fn forget(&mut self, offers: Offers<'_>) {
        match self.current() {
            None | Some(Row::Hit(_)) => {}
            Some(Row::Open(_)) => self.note = Some("open here; close the session first".to_owned()),
            Some(Row::Past(one)) if one.end == End::Open => self.note = Some("open in another acp-tui".to_owned()),
            Some(Row::Past(one)) if one.is_held => {
                self.note =
                    Some("in the journal of an acp-tui that still runs; forget it once that has ended".to_owned());
            }
            Some(Row::Past(one)) => {
                let (others, at_agent) = (self.beside(one), (offers.deletes)(one));
                self.asks = Some(Ask::Forget { past: one.clone(), others, at_agent });
                self.note = None;
            }
        }
    }

    /// How many other sessions have their changes in the same record.
    fn beside(&self, one: &PastSession) -> usize {
        let Past::Read(all) = &self.past else { return 0 };
        all.iter().filter(|other| other.is_beside(one)).count()
    }
}

fn going(past: PastSession, how: How) -> Step {
    let past = Box::new(past);
    match how {
        How::GoesOn => Step::GoOn(past),
        How::Forks => Step::Fork(past),
    }
}

#[cfg(test)]
#[path = "session_list_tests.rs"]
mod tests;
