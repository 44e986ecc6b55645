//! What the person is in the middle of in one session: what is written, where they look, what they answer.
//!
//! Knows no other session and nothing that lies over all of them. Changed by `ui::update` only, apart from what a frame
//! has measured. Invariant: the focus can be taken away by what happens, never given, but to the terminal that was just asked for.

use super::dock::{self, Dialog, DockState, Seen};
use super::folds::Folds;
use super::mention::Mentions;
use super::picker::{self, Completion};
use super::reading::Reading;
use super::review::bar::Bar;
use super::review::{Presence, ReviewState};
use super::scroll::{Scroll, SeenEnd};
use super::selection::{AskedGrip, Grip, Selection};
use super::session_list::Place;
use super::timing::{MODE_REST, STRAY};
use super::{AskedMode, ChosenMode, Focus, Holds, Refusal};
use crate::base::sanitize;
use crate::model::event::Intent;
use crate::model::ids::Now;
use crate::model::login::LogIn;
use crate::model::session_ref::SessionRef;
use crate::model::terminal::Terminal;
use crate::ui::composer::Composer;

#[derive(Debug, Default)]
pub struct SessionView {
    pub composer: Composer,
    /// Prompts that were put aside, the newest last.
    pub stash: Vec<String>,
    pub scroll: Scroll,
    /// While the person has scrolled away: how far the conversation had come before.
    pub seen_end: Option<SeenEnd>,
    pub folds: Folds,
    pub focus: Focus,
    pub dock: DockState,
    pub completion: Completion,
    pub mentions: Mentions,
    /// While one of the prompts that wait is selected: how many come after it.
    pub queued: Option<usize>,
    /// What is written was one of the prompts that wait, and goes back to its place.
    pub edits_queued: bool,
    /// More of what the person's commands have printed is shown.
    pub unfolds_shell: bool,
    /// While the conversation is read.
    pub reading: Option<Reading>,
    /// What of the conversation is selected with the mouse.
    pub grip: Grip,
    /// The same of what is asked.
    pub asked_grip: AskedGrip,
    pub asked_mode: Option<AskedMode>,
    pub chosen_mode: Option<ChosenMode>,
    /// Keys until then were meant for a command that has just ended.
    pub stray_until: Option<Now>,
    pub review: Option<ReviewState>,
    /// The person has chosen to log in in a terminal, which gets the keyboard as soon as it is there.
    pub enters_log_in: bool,
    /// A turn has ended while another session was shown.
    pub has_news: bool,
    /// Digits that no question took while nothing was written, and when: the beginning of a text, where one follows at once.
    pub untaken: Option<(String, Now)>,
    /// When the person left a question last: Esc soon after that stops nothing.
    pub left_dock: Option<Now>,
    /// A key of the review was too soon then: the letters that came with it decide nothing, and do nothing else.
    pub hasty_at: Option<Now>,
    /// A reason to refuse that was left and not sent.
    pub left_refusal: Option<Refusal>,
    /// The mode that it is to have again.
    pub mode_back: Option<ModeBack>,
    /// What the person calls the session.
    pub name: Option<String>,
    /// Where to go as soon as it is there.
    pub place: Option<Place>,
}

/// A session was given a mode that only reads for a side question. Its agent may have it in that mode once more when it goes
/// on, as long as nothing else was asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModeBack {
    pub id: String,
    /// Its agent was asked for it since it has opened the session.
    pub is_asked: bool,
}

/// What is to be said of a session, should it be the one that is shown.
pub struct Saying {
    pub text: String,
    pub holds: Holds,
}

impl SessionView {
    /// What is marked of the conversation: what the mouse has selected, else where what was looked for is.
    pub fn marked(&self) -> Option<&Selection> {
        self.grip.selection().or_else(|| self.reading.as_ref()?.hit.as_ref())
    }

    /// Takes note of a changed session and of the time.
    pub fn sync(&mut self, session: SessionRef<'_>, now: Now) -> Option<Saying> {
        let mut saying = None;
        self.queued = self.queued.filter(|_| !session.held.is_empty()).map(|at| at.min(session.held.len() - 1));
        self.unfolds_shell &= !session.shell().is_empty();
        let log_in = session.log_in().and_then(LogIn::terminal).map(|(id, _)| id);
        if self.enters_log_in && session.log_in().is_none_or(|log_in| log_in.attempt.is_none()) {
            self.enters_log_in = false;
        }
        if let Some(id) = log_in.filter(|_| std::mem::take(&mut self.enters_log_in)) {
            self.focus = Focus::Terminal(id.clone());
        }
        if let Focus::Terminal(id) = &self.focus
            && log_in != Some(id)
            && !session.command(id).is_some_and(Terminal::is_running)
        {
            self.focus = Focus::Composer;
            self.stray_until = Some(now.saturating_add(STRAY));
            let text = "the command has ended · back to writing".to_owned();
            saying = Some(Saying { text, holds: Holds::Always });
        }
        if let Some(review) = &mut self.review {
            review.sync(session.review());
            let empty = session.rewind_preview().filter(|(_, files)| files.is_empty()).map(|(turn, _)| *turn);
            if review.bar.take_if(|bar| matches!(bar, Bar::Rewind { turn, .. } if Some(*turn) == empty)).is_some() {
                saying = Some(Saying { text: "nothing to take back".to_owned(), holds: Holds::Always });
            }
        }
        if self.focus == Focus::Review && self.review_here().is_none() {
            self.focus = Focus::Composer;
        }
        let asked = matches!(self.dock.dialog, Some(Dialog::Permission(_)));
        let is_gone = self.dock.is_form_gone(session);
        if self.dock.sync(session, now) {
            let text = "the call has changed, no rule is made: look at it again".to_owned();
            saying = Some(Saying { text, holds: Holds::Always });
        }
        for left in std::mem::take(&mut self.dock.left) {
            self.composer.prepend(&left);
            let text = "the form is not asked any more · what you wrote into it stands in the prompt".to_owned();
            saying = Some(Saying { text, holds: Holds::Always });
        }
        // What is typed into a form that has gone was meant for it: it neither answers nor is sent.
        if self.focus == Focus::Dock && is_gone {
            self.focus = Focus::Composer;
            self.stray_until = Some(now.saturating_add(STRAY));
        }
        // The focus stays for the next question of the same sort only.
        let asks = matches!(self.dock.dialog, Some(Dialog::Permission(_)));
        if self.focus == Focus::Dock && (self.dock.dialog.is_none() || asked != asks) {
            self.left_dock = Some(now);
            self.focus = Focus::Composer;
        }
        self.tell_mode(session).or(saying)
    }

    /// Another session is shown from now on. What is typed then must not go to a command that is out of sight.
    pub fn leave(&mut self) {
        if matches!(self.focus, Focus::Terminal(_)) {
            self.focus = Focus::Composer;
        }
        self.enters_log_in = false;
    }

    /// This session is shown from now on. A question takes no key before it could be read.
    pub fn enter(&mut self) {
        self.has_news = false;
        self.dock.enter();
    }

    /// A frame was drawn, with the transcript at this place and this dialog in the dock.
    pub fn note_frame(&mut self, at: (Scroll, Option<SeenEnd>), (shown, seen): (Option<&Dialog>, Seen), now: Now) {
        (self.scroll, self.seen_end) = at;
        self.dock.note_frame(shown, seen, now);
    }

    /// What is to be asked for of a mode that was chosen.
    pub fn take_chosen_mode(&mut self) -> Option<Intent> {
        let ChosenMode { intent, id, name, .. } = self.chosen_mode.take()?;
        self.asked_mode = Some(AskedMode { id, name });
        Some(intent)
    }

    /// The same once the key has rested.
    pub fn rested_mode(&mut self, now: Now) -> Option<Intent> {
        let rests = self.chosen_mode.as_ref().is_some_and(|chosen| now >= chosen.at.saturating_add(MODE_REST));
        rests.then(|| self.take_chosen_mode()).flatten()
    }

    /// Says what became of the mode that was asked for, once nothing is on its way any more.
    fn tell_mode(&mut self, session: SessionRef<'_>) -> Option<Saying> {
        let Some(mode) = picker::mode_now(session).filter(|_| self.asked_mode.is_some()) else {
            self.asked_mode = None;
            return None;
        };
        let asked = self.asked_mode.take_if(|_| !mode.is_pending)?;
        Some(if mode.id == asked.id {
            Saying { text: format!("mode: {}", asked.name), holds: Holds::Mode(asked.id) }
        } else {
            let why = session.refused_modes.iter().find(|(id, _)| *id == asked.id);
            let why = why.map(|(_, why)| format!(": {}", sanitize::line(why))).unwrap_or_default();
            Saying { text: format!("mode {} was not set{why}", asked.name), holds: Holds::Always }
        })
    }

    /// The review, when it is on the screen.
    pub fn review_here(&self) -> Option<&ReviewState> {
        self.review.as_ref().filter(|r| r.layout.presence == Presence::Here)
    }

    /// When something here changes by the passing of time alone.
    pub fn next_change(&self, session: SessionRef<'_>, now: Now) -> Option<Now> {
        let mode = self.chosen_mode.as_ref().map(|chosen| chosen.at.saturating_add(MODE_REST));
        [dock::next_by_time(&self.dock, session, now), mode].into_iter().flatten().min()
    }
}
