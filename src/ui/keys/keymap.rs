//! The table from keys to actions as it comes, with what each does.
//!
//! One list per layer, tried before a list common to all. Whether a layer has the focus is not decided here; what the
//! person changes stands over these rows, in [`super::live`].

use super::action::{Action, Sort, Step};
use super::bind::{Bind, Keys, bind};
use super::key::{Code, Key};
use super::review::{CONFIRM, EDIT, LINE, REVIEW};

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

pub(super) const LAYERS: [Layer; 13] = [
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

const COMPOSER: &[Bind] = &[
    bind(&[Key::plain(Code::Enter)], Action::Submit, "send"),
    bind(&[Key::alt(Code::Enter), Key::ctrl(Code::Char('j')), Key::shift(Code::Enter)], Action::Newline, "new line"),
    bind(&[Key::plain(Code::Esc)], Action::Escape, "stop the turn; an answer to /btw goes first"),
    bind(&[Key::ctrl(Code::Char('d'))], Action::CtrlD, "quit when nothing is written"),
    bind(&[Key::plain(Code::Tab)], Action::Tab, "complete, else to the question"),
    bind(&[Key::plain(Code::PageUp)], Action::PageUp, "scroll up"),
    bind(&[Key::plain(Code::PageDown)], Action::PageDown, "scroll down"),
    bind(&[Key::plain(Code::Up)], Action::Up, "up, earlier prompt"),
    bind(&[Key::plain(Code::Down), Key::ctrl(Code::Char('n'))], Action::Down, "down, later prompt"),
    bind(
        &[Key::ctrl(Code::Enter), Key::alt(Code::Char('s'))],
        Action::Steer,
        "send into the running turn; Alt+S first keeps an answer to /btw",
    ),
    bind(&[Key::ctrl(Code::Char('r'))], Action::Prompts, "earlier prompts of all sessions"),
    bind(
        &[Key::plain(Code::F(6)), Key::alt(Code::Char('i'))],
        Action::TypeInto,
        "type into the newest command that runs",
    ),
    bind(
        &[Key::plain(Code::F(7)), Key::alt(Code::Char('k'))],
        Action::KillCommand,
        "kill the newest command that runs",
    ),
    bind(&[Key::ctrl(Code::Char('g'))], Action::EditPrompt, "write the prompt in $EDITOR"),
];

/// Wherever text is written.
const EDITING: &[Bind] = &[
    bind(&[Key::plain(Code::Left), Key::ctrl(Code::Char('b'))], Action::Left, "left"),
    bind(&[Key::plain(Code::Right), Key::ctrl(Code::Char('f'))], Action::Right, "right"),
    bind(
        &[Key::ctrl(Code::Left), Key::alt(Code::Left), Key::alt(Code::Char('b'))],
        Action::WordLeft,
        "word to the left",
    ),
    bind(
        &[Key::ctrl(Code::Right), Key::alt(Code::Right), Key::alt(Code::Char('f'))],
        Action::WordRight,
        "word to the right",
    ),
    bind(&[Key::plain(Code::Home), Key::ctrl(Code::Char('a'))], Action::Home, "start of the row"),
    bind(&[Key::plain(Code::End), Key::ctrl(Code::Char('e'))], Action::End, "end of the row"),
    bind(&[Key::alt(Code::Char('<')), Key::alt(Code::Home)], Action::BufferStart, "start of the text"),
    bind(&[Key::alt(Code::Char('>')), Key::alt(Code::End)], Action::BufferEnd, "end of the text"),
    bind(&[Key::plain(Code::Backspace), Key::shift(Code::Backspace)], Action::Backspace, "delete to the left"),
    bind(&[Key::plain(Code::Delete)], Action::Delete, "delete to the right"),
    bind(
        &[Key::ctrl(Code::Char('w')), Key::alt(Code::Backspace), Key::ctrl(Code::Backspace)],
        Action::DeleteWordBack,
        "delete the word to the left",
    ),
    bind(&[Key::alt(Code::Char('d')), Key::ctrl(Code::Delete)], Action::DeleteWordForward, "delete the next word"),
    bind(&[Key::ctrl(Code::Char('k'))], Action::KillToEnd, "cut to the end of the line"),
    bind(&[Key::ctrl(Code::Char('u'))], Action::KillLine, "cut to the start of the line"),
    bind(&[Key::alt(Code::Char('y'))], Action::Yank, "paste the cut"),
    bind(&[Key::ctrl(Code::Char('_'))], Action::Undo, "undo"),
    bind(&[Key::alt(Code::Char('_'))], Action::Redo, "redo"),
    Bind { keys: Keys::Text, action: Action::Char(' '), what: "text" },
];

const DOCK: &[Bind] = &[
    Bind { keys: Keys::Digits, action: Action::Answer(0), what: "answer with this option" },
    bind(&[Key::char('y')], Action::AnswerBy(Sort::AllowOnce), "allow this once"),
    bind(&[Key::char('n')], Action::AnswerBy(Sort::RejectOnce), "refuse this once"),
    bind(&[Key::char('A')], Action::AnswerBy(Sort::AllowAlways), "allow for good"),
    bind(&[Key::char('N')], Action::AnswerBy(Sort::RejectAlways), "refuse for good"),
    bind(&[Key::char('!')], Action::Refuse, "refuse and say why: that is the next prompt"),
    bind(&[Key::plain(Code::Enter)], Action::Accept, "answer with the highlighted option"),
    bind(&[Key::plain(Code::Up)], Action::Up, "highlight the option above"),
    bind(&[Key::plain(Code::Down)], Action::Down, "highlight the option below"),
    bind(&[Key::plain(Code::Esc)], Action::Escape, "back to writing, nothing answered"),
    bind(&[Key::plain(Code::Tab)], Action::Tab, "back to writing, nothing answered"),
    bind(&[Key::plain(Code::PageUp)], Action::DockPageUp, "scroll the question up"),
    bind(&[Key::plain(Code::PageDown)], Action::DockPageDown, "scroll the question down"),
    bind(&[Key::plain(Code::Right)], Action::NextRequest, "the next question that waits"),
    bind(&[Key::plain(Code::Left)], Action::PreviousRequest, "the question before"),
    bind(&[Key::char('v'), Key::ctrl(Code::Char('r'))], Action::RawInput, "show what the agent sent"),
    bind(&[Key::char('a')], Action::MakeRule, "make a rule that answers it; Enter keeps it for this directory"),
    bind(&[Key::char('r')], Action::Restart, "start the agent again"),
    bind(&[Key::char('s')], Action::ShowStderr, "show the agent's messages"),
    bind(&[Key::char('q')], Action::QuitDock, "quit"),
    bind(&[Key::ctrl(Code::Char('d'))], Action::CtrlD, "quit when nothing is written"),
    bind(&[Key::char('k')], Action::KillAgent, "end the agent"),
    bind(&[Key::char('t')], Action::TypeInto, "type into the log-in that runs"),
    bind(&[Key::char('o')], Action::OpenPage, "open the page of a log-in or question"),
    bind(&[Key::char('c')], Action::CopyPage, "copy its address, or the command of the log-in"),
    bind(&[Key::char('x')], Action::LeaveLogIn, "leave the log-in, or stop a turn in which nothing is heard"),
    bind(&[Key::char('w')], Action::WaitOn, "wait on for an agent of which nothing is heard"),
    bind(&[Key::ctrl(Code::Char('s'))], Action::SubmitAsked, "say yes to a page that you open elsewhere"),
    bind(&[Key::ctrl(Code::Char('n'))], Action::DeclineAsked, "decline to go to the page"),
    bind(&[Key::ctrl(Code::Char('g'))], Action::CancelAsked, "cancel the page"),
];

const FORM: &[Bind] = &[
    bind(&[Key::ctrl(Code::Char('s'))], Action::SubmitAsked, "submit the form"),
    bind(&[Key::ctrl(Code::Char('n'))], Action::DeclineAsked, "decline it; asks for the key once more"),
    bind(&[Key::ctrl(Code::Char('g'))], Action::CancelAsked, "cancel it"),
    bind(&[Key::plain(Code::Enter)], Action::Accept, "choose, and to the next field; behind the last one submit"),
    bind(&[Key::plain(Code::Tab)], Action::Tab, "the next field"),
    bind(&[Key::plain(Code::BackTab)], Action::PreviousField, "the field before"),
    bind(&[Key::ctrl(Code::Char('r'))], Action::Reveal, "show what is typed hidden, or hide it"),
    bind(&[Key::plain(Code::Up)], Action::Up, "up"),
    bind(&[Key::plain(Code::Down)], Action::Down, "down"),
    bind(&[Key::plain(Code::Esc)], Action::Escape, "back to writing, the form stays as it is"),
    bind(&[Key::plain(Code::PageUp)], Action::DockPageUp, "scroll the form up"),
    bind(&[Key::plain(Code::PageDown)], Action::DockPageDown, "scroll the form down"),
    bind(&[Key::ctrl(Code::Down)], Action::NextRequest, "the next question that waits"),
    bind(&[Key::ctrl(Code::Up)], Action::PreviousRequest, "the question before"),
    bind(&[Key::alt(Code::Enter), Key::ctrl(Code::Char('j'))], Action::Newline, "new line in a text"),
];

const PICKER: &[Bind] = &[
    bind(&[Key::plain(Code::Enter)], Action::Accept, "choose"),
    bind(&[Key::plain(Code::BackTab)], Action::Up, "up"),
    bind(&[Key::plain(Code::Tab)], Action::Down, "down"),
];

const SESSIONS: &[Bind] = &[
    bind(&[Key::plain(Code::Enter)], Action::Accept, "go there, or go on with an earlier one"),
    bind(
        &[Key::plain(Code::Tab)],
        Action::Tab,
        "answer what an open one asks, else earlier ones of all directories, or of this one",
    ),
    bind(&[Key::char('/')], Action::Char('/'), "search in all that was said, while nothing is typed"),
    bind(&[Key::ctrl(Code::Char('r'))], Action::RenameSession, "give it a name"),
    bind(&[Key::ctrl(Code::Char('f'))], Action::ForkSession, "open a copy, where its agent makes them"),
    bind(&[Key::ctrl(Code::Char('e'))], Action::ExportSession, "write it to a file, as Markdown"),
    bind(&[Key::plain(Code::Delete)], Action::Delete, "forget an earlier one; asks first"),
    bind(
        &[Key::ctrl(Code::Char('g'))],
        Action::MergeTree,
        "put what was changed in its worktree into your files; asks first",
    ),
    bind(&[Key::ctrl(Code::Char('x'))], Action::DiscardTree, "be rid of its worktree; asks first"),
    bind(&[Key::ctrl(Code::Char('s'))], Action::SortSessions, "by who needs you, or by last use"),
    bind(&[Key::ctrl(Code::Char('d'))], Action::Density, "one row for each, or two"),
];

/// In every list.
const LIST: &[Bind] = &[
    bind(&[Key::plain(Code::Esc)], Action::Escape, "close"),
    bind(&[Key::plain(Code::Up), Key::ctrl(Code::Char('p'))], Action::Up, "up"),
    bind(&[Key::plain(Code::Down), Key::ctrl(Code::Char('n'))], Action::Down, "down"),
    bind(&[Key::plain(Code::PageUp)], Action::PageUp, "page up"),
    bind(&[Key::plain(Code::PageDown)], Action::PageDown, "page down"),
    bind(&[Key::plain(Code::Home)], Action::Home, "first"),
    bind(&[Key::plain(Code::End)], Action::End, "last"),
    bind(&[Key::plain(Code::Backspace)], Action::Backspace, "delete to the left"),
    bind(&[Key::ctrl(Code::Char('w')), Key::alt(Code::Backspace)], Action::DeleteWordBack, "delete a word"),
    bind(&[Key::ctrl(Code::Char('u'))], Action::KillLine, "empty the filter"),
    Bind { keys: Keys::Text, action: Action::Char(' '), what: "filter" },
];

/// While a rule is made of a question.
const RULE: &[Bind] = &[
    bind(&[Key::plain(Code::Enter)], Action::Accept, "make the rule; what it answers is not asked any more"),
    bind(&[Key::plain(Code::Esc)], Action::Escape, "back to the question, no rule made"),
    bind(&[Key::plain(Code::Up)], Action::Up, "the narrower proposal"),
    bind(&[Key::plain(Code::Down)], Action::Down, "the wider proposal"),
    bind(&[Key::plain(Code::Tab)], Action::Tab, "turn, session, directory for a day, directory, everywhere"),
    bind(&[Key::plain(Code::BackTab)], Action::NextList, "allow, ask or deny"),
    bind(&[Key::plain(Code::PageUp)], Action::DockPageUp, "scroll the question up"),
    bind(&[Key::plain(Code::PageDown)], Action::DockPageDown, "scroll the question down"),
];

const READING: &[Bind] = &[
    bind(&[Key::plain(Code::Up), Key::char('k')], Action::Up, "the entry above"),
    bind(&[Key::plain(Code::Down), Key::char('j')], Action::Down, "the entry below"),
    bind(&[Key::plain(Code::Enter), Key::char(' ')], Action::ToggleFold, "unfold it, or fold it"),
    bind(&[Key::char('y')], Action::CopyAnswer, "copy it, as it was sent"),
    bind(&[Key::char('o')], Action::OpenPage, "open its picture, its file in $EDITOR, or its page"),
    bind(&[Key::char('s')], Action::SavePicture, "save its picture into a file"),
    bind(&[Key::char('[')], Action::GoUp(Step::Prompt), "the prompt before"),
    bind(&[Key::char(']')], Action::GoDown(Step::Prompt), "the next prompt"),
    bind(&[Key::char('F')], Action::GoUp(Step::Failure), "the failed call before"),
    bind(&[Key::char('f')], Action::GoDown(Step::Failure), "the next failed call"),
    bind(&[Key::char('E')], Action::GoUp(Step::Edit), "the edit before"),
    bind(&[Key::char('e')], Action::GoDown(Step::Edit), "the next edit"),
    bind(&[Key::char('/')], Action::Search, "search, upwards"),
    bind(&[Key::char('n')], Action::GoUp(Step::Found), "the place found before"),
    bind(&[Key::char('N')], Action::GoDown(Step::Found), "the next place found"),
    bind(&[Key::plain(Code::PageUp)], Action::PageUp, "page up"),
    bind(&[Key::plain(Code::PageDown)], Action::PageDown, "page down"),
    bind(&[Key::plain(Code::Esc), Key::char('q')], Action::Escape, "back to writing"),
];

const QUEUE: &[Bind] = &[
    bind(&[Key::plain(Code::Up)], Action::Up, "the prompt above"),
    bind(&[Key::plain(Code::Down)], Action::Down, "the prompt below; behind the last one back to writing"),
    bind(&[Key::plain(Code::Enter)], Action::Accept, "edit it: it goes back to where you write"),
    bind(&[Key::plain(Code::Delete)], Action::Delete, "delete it"),
    bind(&[Key::shift(Code::Up)], Action::MoveUp, "send it before the one above"),
    bind(&[Key::shift(Code::Down)], Action::MoveDown, "send it after the one below"),
    bind(&[Key::char('s')], Action::SendNow, "send it now, into the running turn"),
    bind(&[Key::plain(Code::Esc)], Action::Escape, "back to writing"),
    bind(&[Key::plain(Code::PageUp)], Action::PageUp, "scroll up"),
    bind(&[Key::plain(Code::PageDown)], Action::PageDown, "scroll down"),
    Bind { keys: Keys::Text, action: Action::Char(' '), what: "back to writing, with this" },
];

const TERMINAL: &[Bind] = &[bind(
    &[Key::ctrl(Code::Char(']'))],
    Action::LeaveTerminal,
    "back to writing; any other key goes to the command or log-in",
)];

const COMMON: &[Bind] = &[
    bind(&[Key::ctrl(Code::Char('c'))], Action::CtrlC, "clear, else stop the turn; twice quits"),
    bind(&[Key::plain(Code::BackTab)], Action::NextMode, "next mode"),
    bind(&[Key::ctrl(Code::Char('p'))], Action::Palette, "find an action, command, session or setting"),
    bind(
        &[Key::plain(Code::F(4)), Key::alt(Code::Char('g'))],
        Action::NextGate,
        "next gate: writes and commands off, ask, hold",
    ),
    bind(&[Key::plain(Code::F(5))], Action::Panel, "show or hide the panel at the right of wide screens"),
    bind(&[Key::plain(Code::F(2))], Action::OptionsList, "modes and options, log in and out"),
    bind(&[Key::alt(Code::Char('p'))], Action::FocusDock, "to the question"),
    Bind { keys: Keys::AltDigits, action: Action::Reply(0), what: "answer the question that is shown" },
    bind(&[Key::plain(Code::F(3)), Key::alt(Code::Char('r'))], Action::OpenReview, "review what was changed"),
    bind(&[Key::ctrl(Code::Char('t'))], Action::NewSession, "open a further session"),
    bind(&[Key::alt(Code::Char('h'))], Action::HandOver, "hand the conversation over to another agent"),
    bind(&[Key::alt(Code::Char('t'))], Action::GoOnAnew, "go on with the transcript of a session that is read-only"),
    bind(&[Key::ctrl(Code::PageDown)], Action::NextSession, "the next session"),
    bind(&[Key::ctrl(Code::PageUp)], Action::PreviousSession, "the session before"),
    bind(&[Key::alt(Code::Char('w'))], Action::CloseSession, "close the session; asks when it works"),
    bind(&[Key::plain(Code::F(8))], Action::Sessions, "all sessions, open and earlier"),
    bind(&[Key::plain(Code::F(9))], Action::Inspect, "every message to and from agents: filter, open, copy, save"),
    bind(&[Key::alt(Code::Char('j'))], Action::NextWaiting, "go to the session that needs you next"),
    bind(&[Key::ctrl(Code::Char('y'))], Action::CopyAnswer, "copy the last answer"),
    bind(&[Key::plain(Code::F(10)), Key::alt(Code::Up)], Action::Read, "read: select, unfold, copy, search"),
    bind(&[Key::ctrl(Code::Char('o'))], Action::ToggleFold, "fold or unfold the newest entry"),
    bind(&[Key::ctrl(Code::Home)], Action::ToTop, "start of the conversation"),
    bind(&[Key::ctrl(Code::End)], Action::ToEnd, "end of the conversation"),
    bind(
        &[Key::plain(Code::F(11)), Key::alt(Code::Char('z'))],
        Action::Inline,
        "inline, in the terminal's own scrollback, or the full screen",
    ),
    bind(&[Key::plain(Code::F(12))], Action::MouseToggle, "free the mouse for selecting, or take it back"),
    bind(&[Key::ctrl(Code::Char('z'))], Action::Suspend, "suspend"),
    bind(&[Key::ctrl(Code::Char('l'))], Action::Redraw, "redraw"),
    bind(&[Key::plain(Code::F(1))], Action::Help, "this help"),
];

fn own(layer: Layer) -> impl Iterator<Item = &'static Bind> {
    let (first, second): (&[Bind], &[Bind]) = match layer {
        Layer::Composer => (COMPOSER, EDITING),
        Layer::Dock => (DOCK, &[]),
        Layer::Form => (FORM, EDITING),
        Layer::Picker => (PICKER, LIST),
        Layer::Sessions => (SESSIONS, LIST),
        Layer::Terminal => (TERMINAL, &[]),
        Layer::Review => (REVIEW, &[]),
        Layer::Reading => (READING, &[]),
        Layer::Queue => (QUEUE, &[]),
        Layer::Line => (LINE, EDITING),
        Layer::Rule => (RULE, EDITING),
        Layer::ReviewEdit => (EDIT, EDITING),
        Layer::ReviewConfirm => (CONFIRM, &[]),
    };
    first.iter().chain(second)
}

/// What holds in every layer but one: a command gets even Ctrl+C.
fn common(layer: Layer) -> &'static [Bind] {
    match layer {
        Layer::Terminal => &[],
        _ => COMMON,
    }
}

/// What `key` means with the focus in `layer`; `None` if nothing.
pub fn resolve(layer: Layer, key: Key) -> Option<Action> {
    all(layer).find_map(|bind| bind.matches(key))
}

/// The rows of a layer: its own, then those that hold everywhere.
pub(super) fn all(layer: Layer) -> impl Iterator<Item = &'static Bind> {
    own(layer).chain(common(layer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::keys::Keymap;

    fn label(layer: Layer, action: Action) -> Option<String> {
        Keymap::default().label(layer, action)
    }

    #[test]
    fn every_row_of_help_does_what_it_says() {
        for layer in LAYERS {
            for bind in own(layer) {
                if let Keys::These(keys) = bind.keys {
                    for key in keys {
                        assert_eq!(resolve(layer, *key), Some(bind.action), "{layer:?} {key}");
                    }
                }
            }
            let map = Keymap::default();
            assert!(map.help(layer).all(|row| !row.keys.is_empty() && !row.what.is_empty()));
        }
    }

    #[test]
    fn dock_letters_are_text_in_the_composer() {
        for c in "rskqv159".chars() {
            assert_eq!(resolve(Layer::Composer, Key::char(c)), Some(Action::Char(c)));
        }
        assert_eq!(resolve(Layer::Dock, Key::char('r')), Some(Action::Restart));
        assert_eq!(resolve(Layer::Dock, Key::char('v')), Some(Action::RawInput));
    }

    #[test]
    fn digits_answer_only_in_the_dock() {
        assert_eq!(resolve(Layer::Dock, Key::char('3')), Some(Action::Answer(3)));
        assert_eq!(resolve(Layer::Dock, Key::char('0')), None);
        assert_eq!(resolve(Layer::Dock, Key::alt(Code::Char('3'))), Some(Action::Reply(3)));
        assert_eq!(resolve(Layer::Composer, Key::alt(Code::Char('3'))), Some(Action::Reply(3)));
        assert_eq!(resolve(Layer::Composer, Key::char('3')), Some(Action::Char('3')));
        assert_eq!(resolve(Layer::Picker, Key::char('3')), Some(Action::Char('3')));
    }

    #[test]
    fn other_text_in_the_dock_does_nothing() {
        assert_eq!(resolve(Layer::Dock, Key::char('m')), None);
        assert_eq!(resolve(Layer::Dock, Key::char(' ')), None);
    }

    #[test]
    fn a_command_that_is_typed_into_gets_every_key_but_one() {
        for key in [Key::ctrl(Code::Char('c')), Key::plain(Code::Esc), Key::plain(Code::F(1)), Key::char('k')] {
            assert_eq!(resolve(Layer::Terminal, key), None, "{key}");
        }
        assert_eq!(label(Layer::Terminal, Action::LeaveTerminal).as_deref(), Some("Ctrl+]"));
        assert_eq!(label(Layer::Composer, Action::TypeInto).as_deref(), Some("F6"));
        assert_eq!(label(Layer::Composer, Action::KillCommand).as_deref(), Some("F7"));
        assert_eq!(resolve(Layer::Dock, Key::alt(Code::Char('k'))), None, "k in the dock ends the agent");
    }

    #[test]
    fn keys_of_the_first_screen() {
        let c = Layer::Composer;
        assert_eq!(resolve(c, Key::plain(Code::Enter)), Some(Action::Submit));
        assert_eq!(resolve(c, Key::alt(Code::Enter)), Some(Action::Newline));
        assert_eq!(resolve(c, Key::ctrl(Code::Char('j'))), Some(Action::Newline));
        assert_eq!(resolve(c, Key::shift(Code::Enter)), Some(Action::Newline));
        assert_eq!(resolve(c, Key::plain(Code::Esc)), Some(Action::Escape));
        assert_eq!(resolve(c, Key::plain(Code::BackTab)), Some(Action::NextMode));
        assert_eq!(resolve(c, Key::plain(Code::F(2))), Some(Action::OptionsList));
        assert_eq!(resolve(c, Key::plain(Code::F(12))), Some(Action::MouseToggle));
        assert_eq!(resolve(c, Key::alt(Code::Char('p'))), Some(Action::FocusDock));
        assert_eq!(resolve(c, Key::ctrl(Code::Home)), Some(Action::ToTop));
        assert_eq!(resolve(c, Key::ctrl(Code::Char('x'))), None);
    }

    #[test]
    fn hints_name_a_key_that_works() {
        assert_eq!(label(Layer::Composer, Action::CopyAnswer).as_deref(), Some("Ctrl+Y"));
        assert_eq!(label(Layer::Picker, Action::NextMode), None);
        assert_eq!(label(Layer::Composer, Action::Newline).as_deref(), Some("Alt+Enter"));
    }
}
