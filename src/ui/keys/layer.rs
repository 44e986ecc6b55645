//! `Layer`: who has the focus, so that a key can mean something else there. Plain data.

use super::action::Action;

/// Who has the focus.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Layer {
    Composer,
    Dock,
    /// A form of the agent in the dock.
    Form,
    Picker,
    /// The list of sessions.
    Sessions,
    /// A command of the agent is typed into; all keys but one are its own.
    Terminal,
    /// The review: files and hunks.
    Review,
    /// Entries of the conversation are selected.
    Reading,
    /// One of the prompts that wait is selected.
    Queue,
    /// One line is written: a note, a search, a name of a file or directory.
    Line,
    /// A rule is made of a question.
    Rule,
    /// The lines of a hunk are changed in place.
    ReviewEdit,
    /// Yes or no.
    ReviewConfirm,
}

impl Layer {
    /// What it is called in a file of keys.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Composer => "composer",
            Self::Dock => "question",
            Self::Form => "form",
            Self::Picker => "list",
            Self::Sessions => "sessions",
            Self::Terminal => "command",
            Self::Review => "review",
            Self::Reading => "reading",
            Self::Queue => "queue",
            Self::Line => "line",
            Self::Rule => "rule",
            Self::ReviewEdit => "edit",
            Self::ReviewConfirm => "confirm",
        }
    }

    pub(super) fn called(word: &str) -> Option<Self> {
        LAYERS.into_iter().find(|layer| layer.word() == word)
    }

    /// Whether what a key means here answers or decides something: it has to be pressed for itself.
    pub const fn decides(self, action: Action) -> bool {
        match action {
            Action::Answer(_)
            | Action::Reply(_)
            | Action::AnswerBy(_)
            | Action::Refuse
            | Action::MakeRule
            | Action::Restart
            | Action::QuitDock
            | Action::KillAgent
            | Action::OpenPage
            | Action::CopyPage
            | Action::LeaveLogIn
            | Action::WaitOn
            | Action::SubmitAsked
            | Action::DeclineAsked
            | Action::CancelAsked => true,
            Action::TypeInto => matches!(self, Self::Dock),
            Action::Delete | Action::SendNow => matches!(self, Self::Queue),
            Action::Accept => matches!(
                self,
                Self::Dock | Self::Form | Self::Rule | Self::Line | Self::ReviewEdit | Self::ReviewConfirm
            ),
            Action::Review(key) => key.decides(),
            _ => false,
        }
    }
}

pub const LAYERS: [Layer; 13] = [
    Layer::Composer,
    Layer::Dock,
    Layer::Form,
    Layer::Picker,
    Layer::Sessions,
    Layer::Terminal,
    Layer::Review,
    Layer::Reading,
    Layer::Queue,
    Layer::Line,
    Layer::Rule,
    Layer::ReviewEdit,
    Layer::ReviewConfirm,
];
