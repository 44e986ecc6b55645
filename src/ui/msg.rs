//! What passes between the parts of the screen: what a frame has learnt, and what an input leads to.
//!
//! Data only. Keeps `view` and `update` from knowing each other.

use super::frame::Motion;
use super::keys::Mouse;
use super::state::dock::{Dialog, Seen};
use super::state::folds::Fold;
use super::state::opener::{NewSession, Whose};
use super::state::picker::Purpose;
use super::state::reading::Way;
use super::state::review::Measured;
use super::state::review::grip::ShownLine;
use super::state::review::index::Spot;
use super::state::scroll::{Scroll, SeenEnd};
use super::state::selection::AskedRow;
use super::state::session_list::{ListFrame, PastSession, Place, Query, Which};
use super::state::trees::{Fate, Tree};
use crate::base::picture::Picture;
use crate::model::changes::{FileDoc, HunkId, Scope, Target, Verdict};
use crate::model::event::Intent;
use crate::model::ids::{EntryId, SessionKey, TermId};
use crate::model::login::{Keep, Secret};
use ratatui::layout::{Position, Rect};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// What is to be done after an input, by the loop that holds the engine and the terminal.
#[derive(Clone, PartialEq, Debug)]
pub enum Out {
    /// Meant for the session that is shown, or for its agent.
    Intent(Intent),
    /// A prompt or words for the running turn; this of it was written by hand.
    Send {
        written: String,
        intent: Intent,
    },
    /// Shows another session.
    Show(SessionKey),
    /// Draws with this theme from now on.
    Theme(&'static str),
    /// Shows another session and goes to what it asks.
    Visit(SessionKey),
    /// The earlier sessions are to be read for the list.
    ReadSessions,
    /// The agents are to tell which sessions they keep.
    AskAgents,
    /// The prompts of all sessions are to be read for the list.
    ReadPrompts,
    /// An earlier session goes on, as one more.
    GoOn(Box<PastSession>),
    /// A copy of an earlier session is opened, or of one that is open.
    Fork(Box<PastSession>),
    ForkOpen(SessionKey),
    /// To this place of the session that is shown now, once that is there.
    GoTo(Place),
    /// Goes to what a session asks, below the list.
    AnswerBelow(SessionKey),
    /// What the person calls a session, or that it has its own name again.
    Rename(Which, Option<String>),
    Export(Which),
    /// This file of the session's worktree goes where that came from.
    TakeFile(PathBuf),
    /// The same of a hunk, or of lines of it.
    TakePart(Scope, Target),
    /// This becomes of a session's worktree.
    Tree(Tree, Fate),
    /// Looks for something in all that was said.
    Find(Query),
    /// What is kept of an earlier session is removed, and its agent is told to, where it can.
    Forget(Box<PastSession>),
    /// Lists the agents that a session can be opened with.
    ListAgents(Purpose),
    Open(NewSession),
    /// This prompt goes to the agents of these names, each in a worktree of its own.
    FanOut(Vec<String>, String),
    /// The conversation that is shown goes on as a new session of this agent, with an account of it to begin with.
    HandOver(Whose),
    /// A question is answered beside the conversation that is shown.
    Aside(String),
    /// Its answer is thrown away, or the session that it was given in is kept.
    ThrowAway,
    Keep,
    Scroll(ScrollBy),
    /// To the next place of what is looked for while the conversation is read.
    Seek(Way),
    /// Folds an entry of the session that is shown, or unfolds it.
    Fold(EntryId),
    /// The same of one that was pointed at: its row stays where it is.
    FoldInPlace(EntryId),
    Copy(What, String),
    /// The words between these two places of the screen are selected.
    Select(Position, Position),
    /// What is selected is copied.
    CopySelected,
    /// Into a file of its own.
    Save(What, String),
    /// Into a file of its own, too; and from there to what shows it.
    Picture(Arc<Picture>, Whither),
    /// Goes to a command of the agent as it is, and nowhere else.
    Type(TermId, Vec<u8>),
    /// Logs in by giving the agent these values of variables.
    LogInWith {
        method: String,
        values: Vec<(String, Secret)>,
        keep: Keep,
    },
    /// Shows a page to the person.
    OpenPage(String),
    Mouse(Mouse),
    /// The terminal is the editor's until it ends.
    Edit(EditorJob),
    Suspend,
    /// Forget what the terminal shows and draw it anew.
    Redraw,
    Quit,
}

/// What is copied, for saying so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    Characters(usize),
    /// There are more.
    First(usize),
    Address,
    Command,
    Patch,
    Picture(Whither),
}

/// What becomes of a picture once it is in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Whither {
    Stays,
    Opens,
}

/// What the person's editor is to be started for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EditorJob {
    Open {
        /// Below the root.
        path: PathBuf,
        /// From 1.
        line: u32,
    },
    /// This is only to be read.
    Page { text: String },
    /// What is there then is the prompt that is written.
    Prompt {
        text: String,
        /// What the agent said last, to be read while it is written.
        answer: Option<String>,
    },
    /// What is there when the editor has ended takes the place of the hunk's new lines.
    Hunk { path: PathBuf, hunk: HunkId, scope: Scope, text: String },
}

/// How the transcript is to be scrolled; only the transcript knows how many rows that is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScrollBy {
    Rows(i32),
    Pages(i32),
    Top,
    End,
}

/// What is done next with what a command of the person's has printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ShellFold {
    /// All of it is drawn, and no more than what stays when it is folded.
    #[default]
    Nothing,
    /// There is more, and room for some of it.
    Unfolds,
    /// There is more than can be drawn here.
    Pages,
    Folds,
}

/// A letter that was drawn, and which part of which entry it copies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Letter {
    pub letter: char,
    pub entry: EntryId,
    pub part: usize,
}

/// What drawing a frame has learnt.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FrameInfo {
    /// Columns and rows that can be seen of a command of the person's.
    pub shell: (u16, u16),
    /// What the key that folds does with what the newest of them has printed.
    pub shell_fold: ShellFold,
    pub transcript: Rect,
    /// Rows of the screen whose entry a click folds.
    pub hits: Vec<(u16, EntryId)>,
    /// Rows of the screen with an earlier session that a digit goes on with, in their order.
    pub earlier: Vec<(u16, Which)>,
    /// It was the first screen of a session.
    pub is_first: bool,
    /// What can be copied with a letter, while one is waited for.
    pub letters: Vec<Letter>,
    /// Rows and columns of the screen, and where they lead.
    pub links: Vec<(u16, Range<u16>, Arc<str>)>,
    /// Columns of the first row whose session a click shows.
    pub sessions: Vec<(Range<u16>, SessionKey)>,
    /// The panel beside it, when it was drawn.
    pub panel: Rect,
    pub rows_below: Option<u64>,
    /// What folding does to the entry that is read.
    pub folding: Option<Fold>,
    /// Which prompt the view begins in, and of how many; where more than a screen is below it.
    pub prompt: Option<(usize, usize)>,
    /// The scroll position as clamped by the transcript.
    pub scroll: Scroll,
    /// How far the conversation had come when its end was in view last, and what has come since.
    pub seen_end: Option<SeenEnd>,
    pub news: usize,
    /// Where the cursor stands; none when nothing is written now.
    pub cursor: Option<Position>,
    pub dock: Rect,
    /// The dialog that the dock showed, so that nothing is answered that was not on the screen.
    pub dialog: Option<Dialog>,
    /// The options of the dialog that could be read.
    pub options: Vec<usize>,
    /// Where they stand.
    pub choices: Vec<(Rect, usize)>,
    /// What of the dialog it was.
    pub seen: Seen,
    /// How far the body of the dock can be scrolled.
    pub dock_scroll_max: usize,
    /// The words of it that can be selected, row by row: those in view, and all of them while some are.
    pub dock_words: Vec<AskedRow>,
    /// Rows of that body that are above what is shown.
    pub dock_top: usize,
    /// Rows of the highlighted option that are below what the dock shows of it.
    pub option_below: usize,
    /// The same for the help, and for the answer to a side question.
    pub help_scroll_max: usize,
    /// Rows of the help that were on the screen.
    pub help_page: usize,
    pub aside_scroll_max: usize,
    /// Rows that the inspector had.
    pub inspected: usize,
    /// The terminal of a log-in that was drawn, and how many columns and rows there were for it.
    pub log_in: Option<(TermId, (u16, u16))>,
    pub motion: Motion,
    /// The list of sessions, when it was drawn.
    pub list: ListFrame,
    /// The review, when it was drawn.
    pub review: Option<ReviewFrame>,
}

/// What of the review was on the screen, so that nothing is decided that was not.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ReviewFrame {
    pub area: Rect,
    pub files: Rect,
    pub hunks: Rect,
    /// Of the document.
    pub rev: u64,
    /// The file whose hunks were drawn, and those of them that were.
    pub file: Option<Arc<FileDoc>>,
    pub shown: Vec<HunkId>,
    /// Rows of the screen, and rows of the tree of files.
    pub file_rows: Vec<(u16, usize)>,
    pub hunk_rows: Vec<(u16, Spot)>,
    /// The lines of that file that can be selected.
    pub lines: Vec<ShownLine>,
    /// Words that can be clicked; they are about the cursor's hunk.
    pub buttons: Vec<(Rect, Verdict)>,
    /// The turn whose rewinding was shown.
    pub preview: Option<u64>,
    /// How far the list of that can be scrolled.
    pub preview_max: usize,
    pub measured: Measured,
    /// Rows that were laid out for this.
    pub laid_out: usize,
}
