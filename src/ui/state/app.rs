//! The whole screen: the views of all sessions, which of them is shown, and what lies over them.
//!
//! Knows nothing of what a session is about. Changed by `ui::update` only. Invariants: one session is always shown; a
//! session has one view, until the person has closed it.

use super::aside::Asides;
use super::dock::{Dialog, Neighbour};
use super::inspector::Inspector;
use super::near::Near;
use super::opener::Opener;
use super::picker::{self, Picker};
use super::pictures::Pictures;
use super::review::ReviewState;
use super::review::bar::Bar;
use super::secrets::Secrets;
use super::session_list::{Past, SessionList, Taste, Which};
use super::session_view::{Saying, SessionView};
use super::standing::Standings;
use super::timing::{BRIEF, TOAST, countdown_changes};
use super::trees::Trees;
use super::{Focus, Help, Holds, Refusal, Toast};
use crate::model::Model;
use crate::model::draft::Sent;
use crate::model::ids::{Now, SessionKey};
use crate::model::options::Command;
use crate::model::session::{Closed, Phase, Session, SessionState};
use crate::model::session_ref::SessionRef;
use crate::model::terminal::Terminal;
use crate::text::run::StyledText;
use crate::ui::composer::Vim;
use crate::ui::keys::{Action, Key, Keymap, Layer, Mouse};
use crate::ui::state::own_prompts::OwnPrompt;
use std::collections::BTreeMap;
use std::mem::take;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The beginning of several keys that mean something together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chord {
    pub layer: Layer,
    pub keys: Vec<Key>,
    pub until: Now,
}

#[derive(Debug)]
pub struct App {
    /// The session that is shown; keys go to it.
    shown: SessionKey,
    /// Of the session that is shown.
    pub view: SessionView,
    /// Of the others.
    others: BTreeMap<SessionKey, SessionView>,
    pub picker: Option<Picker>,
    /// Pictures that were decoded for the screen.
    pub pictures: Pictures,
    pub help: Option<Help>,
    pub toast: Option<Toast>,
    /// What the person's own program says on the status line.
    pub status_words: Option<StyledText>,
    /// Keys after which others are waited for.
    pub chord: Option<Chord>,
    /// Until then a digit goes on with an earlier session of the first screen.
    pub chooses_until: Option<Now>,
    pub quit_armed_until: Option<Now>,
    /// The key that quits until then.
    pub quit_asked_by: Option<Action>,
    /// The person has been asked whether the session is to be closed, and from when on the answer counts.
    pub close_armed: Option<Now>,
    /// Where a further session is to be opened.
    pub opener: Option<Opener>,
    /// Values that are typed to log in.
    pub secrets: Option<Secrets>,
    /// Why a question is refused, while that is written.
    pub refusal: Option<Refusal>,
    /// The list of all sessions, when it is open.
    pub list: Option<SessionList>,
    /// The messages of all connections, when they are shown.
    pub inspector: Option<Inspector>,
    /// Earlier sessions that their agents were asked to delete, and have not: they are forgotten here the next time.
    pub kept_by_agents: Vec<Which>,
    /// How the list was left.
    pub taste: Taste,
    /// The person's own prompts, listed behind `/`.
    pub own_prompts: Arc<[OwnPrompt]>,
    /// Prompts of all sessions, the newest first.
    pub prompts: Arc<[Sent]>,
    /// How many sessions were interrupted in which directory, as far as is known.
    pub interrupted: BTreeMap<PathBuf, usize>,
    /// The worktrees that were made for sessions, as far as is known.
    pub trees: Arc<Trees>,
    /// What Enter sends where nothing is written and nothing was said yet.
    pub tour: Option<String>,
    /// What of the person's files for the screen could not be used.
    pub remarks: Vec<String>,
    /// Agents are told how the person calls a session.
    pub tells_titles: bool,
    /// Earlier sessions as they were read last: the list shows them at once, and what has changed when it is read.
    pub past: Past,
    /// Those of them that the first screen names.
    pub near: Near,
    /// What is known of the repository that the session of the first screen works in.
    pub standing: Standings,
    /// The panel of wide screens is not wanted.
    pub hides_panel: bool,
    /// It was in the frame that was drawn last.
    pub has_panel: bool,
    /// The conversation goes into the terminal's own scrollback, as long as nothing needs the whole screen.
    pub is_inline: bool,
    pub mouse: Mouse,
    pub keys: Arc<Keymap>,
    /// It was said that Alt arrives as letters.
    pub told_of_alt: bool,
    /// Names of themes that can be chosen, and which of them was.
    pub themes: Vec<&'static str>,
    pub theme: Option<&'static str>,
    pub asides: Asides,
    /// Modes, registers and what is repeated of the person's writing, where Vim's keys are wanted.
    pub vim: Vim,
}

impl Default for App {
    fn default() -> Self {
        Self::showing(SessionKey::FIRST)
    }
}

impl App {
    pub fn showing(shown: SessionKey) -> Self {
        Self {
            shown,
            view: SessionView::default(),
            others: BTreeMap::new(),
            picker: None,
            pictures: Pictures::default(),
            help: None,
            toast: None,
            status_words: None,
            chord: None,
            chooses_until: None,
            quit_armed_until: None,
            quit_asked_by: None,
            close_armed: None,
            opener: None,
            secrets: None,
            refusal: None,
            list: None,
            inspector: None,
            kept_by_agents: Vec::new(),
            taste: Taste::default(),
            own_prompts: Arc::default(),
            prompts: Arc::default(),
            interrupted: BTreeMap::new(),
            trees: Arc::default(),
            tour: None,
            remarks: Vec::new(),
            tells_titles: false,
            past: Past::Reading,
            near: Near::default(),
            standing: Standings::default(),
            hides_panel: false,
            has_panel: false,
            is_inline: false,
            mouse: Mouse::default(),
            keys: Arc::default(),
            told_of_alt: false,
            themes: Vec::new(),
            theme: None,
            asides: Asides::default(),
            vim: Vim::default(),
        }
    }

    /// With the person's keys, and names of themes that can be chosen.
    pub fn with_keys(keys: Arc<Keymap>, themes: Vec<&'static str>, own_prompts: Arc<[OwnPrompt]>) -> Self {
        Self { own_prompts, keys, themes, ..Self::default() }
    }

    /// What Enter sends by itself now.
    pub fn offered_tour(&self, session: SessionRef<'_>) -> Option<&str> {
        let is_new = session.phase() == Phase::Ready && session.is_untouched() && session.turn.is_none();
        self.tour.as_deref().filter(|_| is_new && self.view.composer.is_empty())
    }

    pub const fn shown(&self) -> SessionKey {
        self.shown
    }

    pub fn view_of(&mut self, key: SessionKey) -> Option<&mut SessionView> {
        if key == self.shown { Some(&mut self.view) } else { self.others.get_mut(&key) }
    }

    /// What the person calls a session.
    pub fn name_of(&self, key: SessionKey) -> Option<&str> {
        let view = if key == self.shown { Some(&self.view) } else { self.others.get(&key) };
        view.and_then(|view| view.name.as_deref())
    }

    pub fn has_view(&self, key: SessionKey) -> bool {
        key == self.shown || self.others.contains_key(&key)
    }

    /// What is written in one session and not sent is written in another one from now on.
    pub fn carry_words(&mut self, from: SessionKey, to: SessionKey) {
        let Some(view) = self.view_of(from) else { return };
        let (composer, stash) = (take(&mut view.composer), take(&mut view.stash));
        if let Some(view) = self.view_of(to) {
            view.composer.bring(composer.prompt(), composer.command(), true);
            view.stash.splice(0..0, stash);
        }
    }

    /// What was sent in all sessions, the newest first: Up comes to it, what was sent in the same directory first.
    pub fn recall(&mut self, model: &Model, sent: Arc<[Sent]>) {
        self.prompts = sent;
        let sent = &self.prompts;
        for (key, view) in self.others.iter_mut().chain([(&self.shown, &mut self.view)]) {
            let Some(session) = model.session_of(*key) else { continue };
            let (own, others): (Vec<&Sent>, Vec<&Sent>) = sent.iter().rev().partition(|sent| sent.cwd == session.cwd);
            view.composer.recall_others(others.into_iter().chain(own).map(|sent| Arc::clone(&sent.text)).collect());
        }
        if self.picker.as_ref().is_some_and(Picker::is_untouched_list_of_prompts)
            && let Some(session) = model.session_of(self.shown)
        {
            self.picker = Picker::prompts(&self.prompts, &session.cwd);
        }
    }

    /// All sessions that have a view, in the order in which they were opened.
    pub fn views(&self) -> Vec<(SessionKey, &SessionView)> {
        let mut views: Vec<_> = self.others.iter().map(|(key, view)| (*key, view)).collect();
        let at = views.partition_point(|(key, _)| *key < self.shown);
        views.insert(at, (self.shown, &self.view));
        views
    }

    pub fn has_several(&self) -> bool {
        !self.others.is_empty()
    }

    /// Shows another session, with all that the person has left there. False when it has no view.
    pub fn show(&mut self, key: SessionKey) -> bool {
        let has_moved = key != self.shown;
        if has_moved {
            self.leave_refusal();
        }
        let is_there = self.go_below(key);
        if is_there && has_moved {
            self.clear_overlays();
        }
        is_there
    }

    /// The same below lists and questions that lie over it.
    pub fn go_below(&mut self, key: SessionKey) -> bool {
        let Some(view) = self.others.remove(&key) else { return key == self.shown };
        self.view.leave();
        let left = std::mem::replace(&mut self.view, view);
        self.others.insert(std::mem::replace(&mut self.shown, key), left);
        self.view.enter();
        self.vim.begin_anew();
        true
    }

    /// Keys in the composer are commands and write nothing.
    pub fn commands(&self) -> bool {
        self.keys.is_modal() && self.vim.commands()
    }

    /// A question is answered from the list of sessions, which stays open above it.
    pub fn answers_from_list(&self) -> bool {
        self.list.is_some() && self.help.is_none() && self.view.focus == Focus::Dock
    }

    /// The focus goes to what the session that is shown asks; false when it asks nothing.
    pub fn to_question(&mut self) -> bool {
        let asks = self.view.dock.dialog.is_some();
        if asks {
            self.view.focus = Focus::Dock;
            self.view.dock.unmark();
        }
        asks
    }

    /// The sessions in worktrees of the same files, with the one that is shown among them, also where that is in the
    /// directory that they came from; none where there is no other.
    pub fn in_trees_beside(&self, model: &Model) -> Vec<SessionKey> {
        let dir = |key: SessionKey| model.session_of(key).map(|session| Path::new(&session.cwd));
        let Some(here) = dir(self.shown) else { return Vec::new() };
        let own = self.trees.around(here);
        let is_beside = |key: &SessionKey| match (own, dir(*key).and_then(|dir| self.trees.around(dir))) {
            (Some(own), Some(tree)) => own.origin == tree.origin,
            (None, Some(tree)) => here.starts_with(&tree.origin),
            (_, None) => *key == self.shown,
        };
        let all: Vec<SessionKey> = self.views().into_iter().map(|(key, _)| key).filter(is_beside).collect();
        if all.len() > 1 { all } else { Vec::new() }
    }

    /// The session that is shown after this one, or before it; the first follows the last.
    pub fn neighbour(&self, to: Neighbour) -> Option<SessionKey> {
        let around = match to {
            Neighbour::Next => self.others.range(self.shown..).next().or_else(|| self.others.first_key_value()),
            Neighbour::Previous => self.others.range(..self.shown).next_back().or_else(|| self.others.last_key_value()),
        };
        around.map(|(key, _)| *key)
    }

    /// What was said or listed was about the session that is not shown any more.
    fn clear_overlays(&mut self) {
        self.picker = None;
        self.help = None;
        self.toast = None;
        self.chooses_until = None;
        self.quit_armed_until = None;
        self.close_armed = None;
        self.opener = None;
        self.secrets = None;
        self.list = None;
        self.inspector = None;
    }

    /// The question is not refused now; what was written of the reason is there when it is.
    pub fn leave_refusal(&mut self) {
        self.view.left_refusal = self.refusal.take().filter(|refusal| !refusal.line.is_empty());
    }

    /// What is looked for is typed, in the conversation or in the review.
    pub fn is_searching(&self) -> bool {
        let in_review = self.view.review_here().and_then(|review| review.bar.as_ref());
        let in_review = self.view.focus == Focus::Review && matches!(in_review, Some(Bar::Search(_)));
        in_review || self.view.reading.as_ref().is_some_and(|reading| reading.search.is_some())
    }

    /// Whether files are listed for what is typed behind `@`.
    pub fn lists_files(&self) -> bool {
        !self.commands() && !self.view.mentions.listed(&self.view.composer).is_empty()
    }

    /// The names that are listed for what is typed behind `/`.
    pub fn names<'a>(&'a self, session: SessionRef<'a>) -> Vec<&'a Command> {
        if self.commands() || self.view.composer.is_shell() {
            return Vec::new();
        }
        self.view.completion.matching(session, &self.own_prompts, self.view.composer.text())
    }

    /// The one of them that is marked.
    pub fn marked_name<'a>(&'a self, session: SessionRef<'a>) -> Option<&'a Command> {
        let names = self.names(session);
        names.get(self.view.completion.selected.min(names.len().saturating_sub(1))).copied()
    }

    /// Whether a list stands over what is written, of which Enter takes the marked row.
    pub fn lists(&self, session: SessionRef<'_>) -> bool {
        self.lists_files() || !self.names(session).is_empty()
    }

    /// Where a key goes. The order of the lines is the order of precedence.
    pub fn layer(&self) -> Layer {
        if self.types_a_line() {
            return Layer::Line;
        }
        if self.help.is_some() || self.picker.is_some() {
            return Layer::Picker;
        }
        self.place()
    }

    /// Where a key goes that no help and no list in front of it takes.
    pub fn place(&self) -> Layer {
        if let Some(list) = self.list.as_ref().filter(|_| !self.answers_from_list()) {
            return if list.wants_a_yes() { Layer::ReviewConfirm } else { Layer::Sessions };
        }
        if self.inspector.is_some() && self.view.focus == Focus::Composer {
            return Layer::Picker;
        }
        match &self.view.reading {
            Some(reading) if reading.search.is_some() || reading.has_letters => return Layer::Line,
            Some(_) if self.view.focus == Focus::Composer => return Layer::Reading,
            _ if self.view.queued.is_some() && self.view.focus == Focus::Composer => return Layer::Queue,
            _ => {}
        }
        match self.view.focus {
            Focus::Dock if self.view.dock.form().is_some() => Layer::Form,
            Focus::Dock if self.view.dock.rule.is_some() => Layer::Rule,
            Focus::Dock => Layer::Dock,
            Focus::Composer => Layer::Composer,
            Focus::Terminal(_) => Layer::Terminal,
            Focus::Review => self.view.review.as_ref().map_or(Layer::Review, ReviewState::layer),
        }
    }

    /// One line is typed that is no prompt.
    pub fn types_a_line(&self) -> bool {
        let searches = self.view.reading.as_ref().is_some_and(|reading| reading.search.is_some());
        self.opener.is_some() || self.secrets.is_some() || self.refusal.is_some() || searches
    }

    pub fn say(&mut self, text: impl Into<String>, now: Now) {
        self.say_while(Holds::Always, text, now);
    }

    /// A message about a key that was missed.
    pub fn say_briefly(&mut self, text: impl Into<String>, now: Now) {
        self.say(text, now);
        if let Some(toast) = &mut self.toast {
            toast.until = Some(now.saturating_add(BRIEF));
        }
    }

    /// A message that goes as soon as it is not true any more.
    pub fn say_while(&mut self, holds: Holds, text: impl Into<String>, now: Now) {
        let text = text.into();
        // Nothing said must not stand where the state is.
        self.toast = (!text.trim().is_empty()).then(|| Toast { text, until: Some(now.saturating_add(TOAST)), holds });
    }

    /// A message about what the dock shows: it goes with that.
    pub fn say_of_question(&mut self, text: impl Into<String>, now: Now) {
        self.say_while(Holds::Asked(self.view.dock.dialog.clone()), text, now);
    }

    /// One that asks to read it: it goes once that was done.
    pub fn say_unread(&mut self, text: impl Into<String>, now: Now) {
        self.say_while(Holds::Unread(self.view.dock.dialog.clone(), self.view.focus.clone()), text, now);
    }

    /// One that names a key of the place in which the keyboard is: it goes when that is left.
    pub fn say_here(&mut self, text: impl Into<String>, now: Now) {
        self.say_while(Holds::In(self.layer()), text, now);
    }

    /// The same about a key that was missed.
    pub fn say_here_briefly(&mut self, text: impl Into<String>, now: Now) {
        self.say_briefly(text, now);
        let layer = self.layer();
        if let Some(toast) = &mut self.toast {
            toast.holds = Holds::In(layer);
        }
    }

    /// Takes away a message that is not true any more.
    pub fn check_toast(&mut self, session: SessionRef<'_>) {
        let holds = self.toast.as_ref().is_none_or(|toast| match &toast.holds {
            Holds::Always => true,
            Holds::NoSession => session.id.is_none(),
            Holds::NothingWaits => self.view.dock.dialog.is_none(),
            Holds::Asked(dialog) => self.view.dock.dialog == *dialog,
            Holds::Before(dialog) => self.view.dock.dialog == *dialog && self.view.focus != Focus::Dock,
            Holds::Unread(dialog, focus) => {
                self.view.dock.dialog == *dialog && !self.view.dock.is_read() && self.view.focus == *focus
            }
            Holds::In(layer) => self.layer() == *layer,
            Holds::Unconfirmed => self.view.dock.dialog == Some(Dialog::Unconfirmed),
            Holds::Begun => self.chord.is_some(),
            Holds::Written(text) => self.view.composer.text().trim() == text,
            Holds::Looks => self.view.reading.as_ref().is_some_and(|reading| reading.looks.is_some()),
            Holds::Chooses => self.chooses_until.is_some(),
            Holds::CloseArmed => self.close_armed.is_some(),
            Holds::QuitArmed => self.quit_armed_until.is_some(),
            Holds::Runs(entry) => session.tool(*entry).is_some_and(|call| !call.is_finished()),
            Holds::Command(id) => session.command(id).is_some_and(Terminal::is_running),
            Holds::Mode(id) => picker::mode_now(session).is_some_and(|now| !now.is_pending && now.id == *id),
        });
        if !holds {
            self.toast = None;
        }
    }

    /// Takes note of a changed model and of the time: sessions get their views, and lose them when they are closed.
    pub fn sync(&mut self, model: &Model, now: Now) {
        self.chord.take_if(|chord| chord.until <= now);
        self.chooses_until.take_if(|until| *until <= now);
        for (key, session) in model.sessions() {
            if key != self.shown && !is_closed(session) && !session.is_aside() {
                self.others.entry(key).or_default();
            }
        }
        if let Some(list) = &mut self.list {
            list.named(|key| Which::of(model.at(key)?));
        }
        self.others.retain(|key, _| model.session_of(*key).is_some_and(|session| !is_closed(session)));
        if model.session_of(self.shown).is_some_and(is_closed) {
            self.replace_closed();
        }
        for (key, view) in &mut self.others {
            if let Some(session) = model.at(*key) {
                // What is not looked at says nothing; it stands in the transcript.
                let _ = view.sync(session, now);
            }
        }
        if let Some(session) = model.at(self.shown) {
            if let Some(Saying { text, holds }) = self.view.sync(session, now) {
                self.say_while(holds, text, now);
            }
            if let Some(picker) = &mut self.picker {
                picker.bring_rules(session);
                picker.bring_options(session);
            }
            self.toast.take_if(|t| t.until.is_some_and(|until| until <= now));
            // What was written is kept, though there is nothing left to refuse.
            if let Some(left) = self.refusal.take_if(|refusal| session.question(refusal.req).is_none()) {
                self.view.composer.prepend(left.line.text());
            }
            self.quit_armed_until.take_if(|until| *until <= now);
            self.check_toast(session);
        }
    }

    /// The one that is shown is no more: the next takes its place. The last one stays, closed as it is.
    fn replace_closed(&mut self) {
        let gone = self.shown;
        if let Some(key) = self.neighbour(Neighbour::Next)
            && self.show(key)
        {
            self.others.remove(&gone);
        }
    }

    /// When something here changes by the passing of time alone.
    pub fn next_change(&self, session: SessionRef<'_>, now: Now) -> Option<Now> {
        let toast = self.toast.as_ref().and_then(|t| t.until);
        let mode = session.permission_mode_left(now).and_then(countdown_changes).map(|after| now.saturating_add(after));
        [toast, mode, self.view.next_change(session, now)].into_iter().flatten().min()
    }
}

pub fn is_closed(session: &Session) -> bool {
    session.state == SessionState::Closed(Closed::ByPerson)
}
