//! What the person is in the middle of.
//!
//! Grouped in parts, so that update functions take only the part they need. Changed by `ui::update` only, apart
//! from what a frame has measured (scroll position, size).

pub mod dock;
pub mod folds;
pub mod picker;
pub mod review;
pub mod scroll;
pub mod timing;

use super::composer::Composer;
use crate::model::Model;
use crate::model::ids::{Now, TermId};
use crate::model::session::Terminal;
use crate::ui::keys::Mouse;
use dock::{Dialog, DockState};
use folds::Folds;
use picker::{Completion, Picker};
use review::{Presence, ReviewState};
use scroll::Scroll;
use timing::{STRAY, TOAST};

/// Where keys go when no list and no help is open.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Focus {
    #[default]
    Composer,
    /// Only ever reached by the person's own Tab or Alt+P.
    Dock,
    /// The person types into a command that the agent runs; only ever reached by Alt+I.
    Terminal(TermId),
    /// Only ever reached by the person's own Alt+R, Tab or click.
    Review,
}

/// One line of ours for a while.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Toast {
    pub text: String,
    pub until: Now,
    pub holds: Holds,
}

/// As long as what is true does a message of ours stand?
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Holds {
    /// It tells of what has happened.
    Always,
    /// No session has been opened.
    NoSession,
    /// Nothing waits in the dock.
    NothingWaits,
    /// The agent has not confirmed a cancel.
    Unconfirmed,
    /// A second Ctrl+C would quit.
    QuitArmed,
    /// The mode of this id is in force, and no other is asked for.
    Mode(String),
}

/// A mode that the person asked for by key; it is told of when the agent has answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AskedMode {
    pub id: String,
    pub name: String,
}

#[derive(Debug, Default)]
pub struct UiState {
    pub composer: Composer,
    pub scroll: Scroll,
    pub folds: Folds,
    pub focus: Focus,
    pub dock: DockState,
    pub picker: Option<Picker>,
    pub completion: Completion,
    /// Rows of the help above the view, when it is open.
    pub help: Option<usize>,
    pub toast: Option<Toast>,
    pub asked_mode: Option<AskedMode>,
    pub quit_armed_until: Option<Now>,
    /// Keys until then were meant for a command that has just ended.
    pub stray_until: Option<Now>,
    pub mouse: Mouse,
    pub review: Option<ReviewState>,
}

impl UiState {
    pub fn say(&mut self, text: impl Into<String>, now: Now) {
        self.say_while(Holds::Always, text, now);
    }

    /// A message that goes as soon as it is not true any more.
    pub fn say_while(&mut self, holds: Holds, text: impl Into<String>, now: Now) {
        let text = text.into();
        // Nothing said must not stand where the state is.
        self.toast = (!text.trim().is_empty()).then(|| Toast { text, until: now.saturating_add(TOAST), holds });
    }

    /// Takes away a message that is not true any more.
    pub fn check_toast(&mut self, model: &Model) {
        let holds = self.toast.as_ref().is_none_or(|toast| match &toast.holds {
            Holds::Always => true,
            Holds::NoSession => model.session_id().is_none(),
            Holds::NothingWaits => self.dock.dialog.is_none(),
            Holds::Unconfirmed => self.dock.dialog == Some(Dialog::Unconfirmed),
            Holds::QuitArmed => self.quit_armed_until.is_some(),
            Holds::Mode(id) => picker::mode_now(model).is_some_and(|now| !now.is_pending && now.id == *id),
        });
        if !holds {
            self.toast = None;
        }
    }

    /// Says what became of the mode that was asked for, once nothing is on its way any more.
    fn tell_mode(&mut self, model: &Model, now: Now) {
        let Some(mode) = picker::mode_now(model).filter(|_| self.asked_mode.is_some()) else {
            self.asked_mode = None;
            return;
        };
        let Some(asked) = self.asked_mode.take_if(|_| !mode.is_pending) else { return };
        if mode.id == asked.id {
            self.say_while(Holds::Mode(asked.id), format!("mode: {}", asked.name), now);
        } else {
            self.say(format!("mode {} was not set", asked.name), now);
        }
    }

    /// Takes note of a changed model and of the time. The focus can only be taken away here, never given.
    pub fn sync(&mut self, model: &Model, now: Now) {
        if let Focus::Terminal(id) = &self.focus
            && !model.terminal(id).is_some_and(Terminal::is_running)
        {
            self.focus = Focus::Composer;
            self.stray_until = Some(now.saturating_add(STRAY));
            self.say("the command has ended · back to writing", now);
        }
        if let Some(review) = &mut self.review {
            review.sync(model.review());
        }
        if self.focus == Focus::Review && self.review_here().is_none() {
            self.focus = Focus::Composer;
        }
        let asked = matches!(self.dock.dialog, Some(Dialog::Permission(_)));
        self.dock.sync(model, now);
        // The focus stays for the next question of the same sort, not for whatever else comes.
        let asks = matches!(self.dock.dialog, Some(Dialog::Permission(_)));
        if self.focus == Focus::Dock && (self.dock.dialog.is_none() || asked != asks) {
            self.focus = Focus::Composer;
        }
        self.tell_mode(model, now);
        self.toast.take_if(|t| t.until <= now);
        self.quit_armed_until.take_if(|until| *until <= now);
        self.check_toast(model);
    }

    /// The review, when it is on the screen.
    pub fn review_here(&self) -> Option<&ReviewState> {
        self.review.as_ref().filter(|r| r.presence == Presence::Here)
    }

    /// When something here changes by the passing of time alone.
    pub fn next_change(&self, model: &Model, now: Now) -> Option<Now> {
        [self.toast.as_ref().map(|t| t.until), dock::next_by_time(model, now)].into_iter().flatten().min()
    }
}
