//! `Action`: what a key press means, before anyone has decided what to do about it.
//!
//! An action names the wish, not the outcome: `CtrlC` clears, cancels or quits depending on state that only
//! `ui/update` knows. Text is an action too, so that nothing outside this room looks at key codes.

use serde::Deserialize;
use serde::de::value::{Error, StrDeserializer};

/// Whether the wheel and clicks come to us, or the terminal selects text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mouse {
    #[default]
    Ours,
    Free,
}

/// Which entries a key goes to while the conversation is read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    Any,
    /// What the person said.
    Prompt,
    /// Calls that failed.
    Failure,
    /// Calls that change a file.
    Edit,
    /// What has the words that were looked for.
    Found,
}

/// What an answer does: whether it allows, and for how long.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sort {
    AllowOnce,
    AllowAlways,
    RejectOnce,
    RejectAlways,
}

/// What can be asked for in the review and nowhere else.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReviewKey {
    NextHunk,
    PreviousHunk,
    NextFile,
    PreviousFile,
    /// From the files to the hunks; on a directory folds it.
    Into,
    Back,
    /// The hunk, the chosen lines, or in the list of files the file.
    Accept,
    Reject,
    AcceptFile,
    RejectFile,
    AcceptAll,
    RejectAll,
    /// Accept, with a note for the agent.
    AcceptNote,
    RejectNote,
    SelectLines,
    /// The hunk as a patch, the chosen lines, or in the list of files the file's patch.
    Copy,
    Edit,
    EditOutside,
    OpenFile,
    TakeFile,
    TakePart,
    /// The same file as the agent of the next worktree has it, or the one before.
    NextTree,
    PreviousTree,
    Blame,
    Undo,
    Redo,
    ToolCall,
    Export,
    Search,
    SearchNext,
    SearchPrevious,
    Fold,
    FoldAll,
    Sides,
    ScrollLeft,
    ScrollRight,
    ScopePending,
    ScopeTurn,
    ScopeSession,
    TurnBack,
    TurnForward,
    Wide,
    Rewind,
    /// On a conflict: reject all the same.
    Force,
    Close,
}

impl ReviewKey {
    /// Whether it changes a file, or what was decided, or begins to.
    pub(super) const fn decides(self) -> bool {
        matches!(
            self,
            Self::Accept
                | Self::Reject
                | Self::AcceptFile
                | Self::RejectFile
                | Self::AcceptAll
                | Self::RejectAll
                | Self::AcceptNote
                | Self::RejectNote
                | Self::Edit
                | Self::EditOutside
                | Self::OpenFile
                | Self::TakeFile
                | Self::TakePart
                | Self::Undo
                | Self::Redo
                | Self::Export
                | Self::Rewind
                | Self::Force
        )
    }
}

/// What the person asked for with one key press, click or turn of the wheel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    // Conversation.
    /// Send the composer's text.
    Submit,
    /// Esc: cancel the turn, leave the dock, close the picker.
    Escape,
    CtrlC,
    CtrlD,
    /// The list of prompts that were sent.
    Prompts,
    NextMode,
    /// The next gate for writes and commands.
    NextGate,
    OptionsList,
    /// Everything that can be done, in one list.
    Palette,
    /// What is written is put aside, or comes back.
    Stash,
    /// The prompt is written in the person's editor.
    EditPrompt,
    CopyAnswer,
    /// Fold or unfold the newest entry that can be folded (a click does it for the one clicked).
    ToggleFold,
    /// Entries of the conversation are selected.
    Read,
    /// From here on several of them are.
    SelectEntries,
    /// What is selected is read as a whole, in the person's pager.
    Pager,
    /// A part of what is selected is copied: the list of them.
    CopyPart,
    /// All that can be copied gets a letter.
    Letters,
    /// To the entry of this sort above, or below.
    #[serde(skip)]
    GoUp(Step),
    #[serde(skip)]
    GoDown(Step),
    Search,

    // Sessions.
    NewSession,
    NextSession,
    PreviousSession,
    CloseSession,
    /// The list of all sessions.
    Sessions,
    /// The conversation goes on with another agent.
    HandOver,
    /// A session that is only shown goes on as a new one.
    GoOnAnew,
    /// The answer to a side question is kept, as a session of its own.
    /// Send now, into the turn that runs; an answer to a side question that is open becomes a session of its own first.
    Steer,
    /// Of the prompts that wait, the selected one: sent now, or to another place.
    SendNow,
    MoveUp,
    MoveDown,
    /// Shows the session that needs the person most.
    NextWaiting,
    // In the list of sessions.
    RenameSession,
    /// Opens a copy.
    ForkSession,
    /// Writes the transcript to a file.
    ExportSession,
    SortSessions,
    /// What was changed in the session's worktree goes where that came from.
    MergeTree,
    /// The session's worktree is given up.
    DiscardTree,
    /// One row for each, or two.
    Density,

    // Screen.
    /// Shows or hides the panel of wide screens.
    Panel,
    /// From the full screen into the terminal's own scrollback, or back.
    Inline,
    /// The messages of all connections.
    Inspect,
    PageUp,
    PageDown,
    WheelUp,
    WheelDown,
    ToTop,
    ToEnd,
    MouseToggle,
    Suspend,
    Redraw,
    Help,

    // Focus, dock and picker.
    FocusDock,
    Tab,
    /// Enter where something is highlighted rather than written.
    Accept,
    /// Answer with the option of this number, from 1.
    #[serde(skip)]
    Answer(u8),
    /// The same with any focus.
    #[serde(skip)]
    Reply(u8),
    /// Answer with the only option of this sort.
    #[serde(skip)]
    AnswerBy(Sort),
    /// Refuse, and say why.
    Refuse,
    DockPageUp,
    DockPageDown,
    /// Of several waiting requests the next one.
    NextRequest,
    PreviousRequest,
    /// Show the request as the agent sent it.
    RawInput,
    /// Make a rule of the question; in it, whether it allows, asks or denies.
    MakeRule,
    NextList,
    Restart,
    ShowStderr,
    QuitDock,
    /// The page of a log-in.
    OpenPage,
    CopyPage,
    /// The picture that is read goes into a file.
    SavePicture,
    LeaveLogIn,
    /// An agent of which nothing is heard is waited for.
    WaitOn,
    // A form or page of the agent.
    SubmitAsked,
    DeclineAsked,
    CancelAsked,
    PreviousField,
    /// Show what is typed into a field that asks for a secret, or hide it.
    Reveal,
    KillAgent,

    // Review.
    /// Opens the review, goes to it, and from it back to writing.
    OpenReview,
    #[serde(skip)]
    Review(ReviewKey),

    // Commands that the agent runs.
    /// From now on keys go to the newest command that runs.
    TypeInto,
    LeaveTerminal,
    KillCommand,

    // Editing.
    #[serde(skip)]
    Char(char),
    Newline,
    Left,
    Right,
    WordLeft,
    WordRight,
    Home,
    End,
    BufferStart,
    BufferEnd,
    /// One row up, or the previous prompt from the first row; in a list the entry above.
    Up,
    Down,
    Backspace,
    Delete,
    DeleteWordBack,
    DeleteWordForward,
    KillToEnd,
    KillLine,
    Yank,
    Undo,
    Redo,
}

impl Action {
    /// What it is called in a file of keys: its name in the program, as words.
    pub fn name(self) -> String {
        let debug = format!("{self:?}");
        let bare = debug.split(['(', ')']).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("");
        let mut out = String::new();
        for c in bare.chars() {
            if c.is_uppercase() && !out.is_empty() {
                out.push('-');
            }
            out.extend(c.to_lowercase());
        }
        out
    }

    /// The action of that name. Which digit or character a key stands for is known when it is pressed.
    pub(super) fn called(name: &str) -> Option<Self> {
        fn of<'a, T: Deserialize<'a>>(name: &'a str) -> Option<T> {
            T::deserialize(StrDeserializer::<Error>::new(name)).ok()
        }
        let part = |of_what: &str| name.strip_prefix(of_what);
        match name {
            "answer" => Some(Self::Answer(0)),
            "reply" => Some(Self::Reply(0)),
            "write" => Some(Self::Char(' ')),
            // What is not found is told with all the names there are: the short lists are asked before the long one.
            _ => None
                .or_else(|| part("review-").and_then(of).map(Self::Review))
                .or_else(|| part("go-up-").and_then(of).map(Self::GoUp))
                .or_else(|| part("go-down-").and_then(of).map(Self::GoDown))
                .or_else(|| part("answer-by-").and_then(of).map(Self::AnswerBy))
                .or_else(|| of(name)),
        }
    }

    /// Changes a text or moves the cursor in it, and means nothing else anywhere where one writes.
    pub fn is_edit(self) -> bool {
        matches!(
            self,
            Self::Char(_)
                | Self::Newline
                | Self::Left
                | Self::Right
                | Self::WordLeft
                | Self::WordRight
                | Self::Home
                | Self::End
                | Self::BufferStart
                | Self::BufferEnd
                | Self::Backspace
                | Self::Delete
                | Self::DeleteWordBack
                | Self::DeleteWordForward
                | Self::KillToEnd
                | Self::KillLine
                | Self::Yank
                | Self::Undo
                | Self::Redo
        )
    }
}
