//! What the person is in the middle of.
//!
//! Grouped in parts, so that update functions take only the part they need. Changed by `ui::update` only, apart
//! from what a frame has measured (scroll position, size).

mod app;
pub mod aside;
pub mod attention;
pub mod dock;
pub mod folds;
pub mod form;
pub mod highlight;
pub mod inspector;
pub mod mention;
pub mod modes;
pub mod names;
pub mod near;
pub mod opener;
pub mod own_prompts;
pub mod picker;
pub mod pictures;
pub mod reading;
pub mod review;
pub mod rule;
pub mod scroll;
pub mod secrets;
pub mod selection;
pub mod session_list;
pub mod session_view;
pub mod silence;
pub mod sought;
pub mod standing;
pub mod timing;
pub mod trees;

use crate::model::event::Intent;
use crate::model::ids::{EntryId, Now, ReqId, TermId};
use crate::ui::composer::Composer;
use crate::ui::keys::Layer;
pub use app::{App, Chord, is_closed};
use dock::Dialog;

/// Columns from which there is room for the panel beside the conversation.
pub const PANEL_FROM: u16 = 150;

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
    /// A question stands until it is answered: never.
    pub until: Option<Now>,
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
    /// The dock shows this.
    Asked(Option<Dialog>),
    /// The dock shows this, and the keyboard is elsewhere.
    Before(Option<Dialog>),
    /// The dock shows this, its end was not on the screen yet, and the keyboard is still here.
    Unread(Option<Dialog>, Focus),
    /// Keys are still of this place.
    In(Layer),
    /// The agent has not confirmed a cancel.
    Unconfirmed,
    /// Further keys are waited for.
    Begun,
    /// This is written.
    Written(String),
    /// An entry is looked for while the conversation is read.
    Looks,
    /// A digit is waited for that goes on with an earlier session.
    Chooses,
    /// A second Ctrl+C would quit.
    QuitArmed,
    /// A second Alt+W would close the session.
    CloseArmed,
    /// The call of this entry has not ended.
    Runs(EntryId),
    /// This command runs.
    Command(TermId),
    /// The mode of this id is in force, and no other is asked for.
    Mode(String),
}

/// The help, when it is open.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Help {
    /// Rows above the view.
    pub top: usize,
    /// Words that its rows must have.
    pub filter: String,
}

impl Help {
    /// Characters of the filter.
    const MAX: usize = 40;

    pub fn type_char(&mut self, c: char) {
        if self.filter.chars().count() < Self::MAX {
            self.filter.push(c);
            self.top = 0;
        }
    }

    pub fn backspace(&mut self) {
        self.filter.pop();
        self.top = 0;
    }

    /// Whether a row is one of those that are looked for.
    pub fn takes(&self, row: &str) -> bool {
        let row = row.to_lowercase();
        self.filter.to_lowercase().split_whitespace().all(|word| row.contains(word))
    }
}

/// A question that the person refuses, and why.
#[derive(Debug)]
pub struct Refusal {
    pub req: ReqId,
    pub line: Composer,
}

/// A mode that Shift+Tab has come to: it is asked for when the key rests.
#[derive(Clone, PartialEq, Debug)]
pub struct ChosenMode {
    pub intent: Intent,
    pub id: String,
    pub name: String,
    pub at: Now,
}

/// A mode that the person asked for by key; it is told of when the agent has answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AskedMode {
    pub id: String,
    pub name: String,
}
