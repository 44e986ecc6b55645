//! Transcript entries: the data from which everything on the screen is derived.
//!
//! Texts are kept as the agent sent them; the reader that shows one sanitises it. Invariant: `rev` grows with every
//! change, and a finished entry stays finished.

use super::changes::Totals;
use super::effort::Effort;
use super::ids::{EntryId, Now, TermId, TurnId};
use super::spent::Spent;
use super::tool::ToolCall;
use crate::base::picture::Picture;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub id: EntryId,
    pub rev: u64,
    /// Nothing more is expected; late updates may still come.
    pub finished: bool,
    pub turn: TurnId,
    pub at: Now,
    pub body: Body,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Body {
    User(UserMessage),
    Agent(Message),
    Thought(Thought),
    /// A block that is no text, or an embedded resource.
    Attachment(Attachment),
    Tool(Box<ToolCall>),
    Plan(Vec<PlanEntry>),
    /// A terminal of ours. Draws nothing once a tool call embeds it.
    Terminal(TermId),
    File(FileOp),
    Notice(Notice),
    /// The end of a turn, and what it changed on the disk.
    Changes(TurnChanges),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnChanges {
    pub turn: TurnId,
    pub totals: Totals,
    /// The files were not looked at since, or not yet.
    #[serde(default)]
    pub is_unknown: bool,
    #[serde(default)]
    pub spent: Option<Spent>,
    /// Calls and files outside.
    #[serde(default)]
    pub effort: Effort,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserMessage {
    pub text: String,
    /// Names of the files that went along.
    pub links: Vec<String>,
    pub state: UserState,
    pub message_id: Option<Arc<str>>,
    /// When it was sent from here, counted from 1970, where that is known.
    #[serde(default)]
    pub sent: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UserState {
    Sent,
    /// By the client itself, which says why it has refused something.
    OfClient,
    /// Seen in a `user_message_chunk` that is no echo of a prompt of ours.
    FromElsewhere,
    /// The agent refused: it and what followed are not part of the conversation.
    Dropped,
}

#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Message {
    pub text: String,
    pub message_id: Option<Arc<str>>,
    /// Bytes left out because the message was longer than we keep.
    pub dropped: u64,
    /// How often it was replaced by something that does not begin with it.
    pub replaced: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Thought {
    pub message: Message,
    /// When the last chunk came.
    pub until: Now,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    pub from: ChunkKind,
    /// Of the message that it is a part of.
    pub message_id: Option<Arc<str>>,
    pub block: Block,
}

/// A content block as far as the screen needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Block {
    Text(String),
    /// `label` says what it is ("image image/png, 2.1 kB"), `text` is the body of an embedded text resource.
    Other {
        label: String,
        uri: Option<String>,
        text: Option<String>,
        /// Where it is one that is small enough to be kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        picture: Option<Arc<Picture>>,
    },
}

impl Body {
    /// Whether it has nothing to show, as far as that is seen without anything else.
    pub fn is_blank(&self) -> bool {
        match self {
            Self::User(m) => m.text.is_empty() && m.links.is_empty(),
            Self::Agent(m) => m.dropped == 0 && starts_blank(&m.text),
            Self::Thought(t) => starts_blank(&t.message.text),
            Self::Plan(entries) => entries.is_empty(),
            _ => false,
        }
    }
}

/// Nothing but white space; looks at the beginning only, so that it costs nothing.
fn starts_blank(text: &str) -> bool {
    text.len() < 256 && text.trim().is_empty()
}

impl Block {
    /// Words that stand for what cannot be shown.
    pub fn label(label: impl Into<String>) -> Self {
        Self::Other { label: label.into(), uri: None, text: None, picture: None }
    }

    pub fn picture(&self) -> Option<&Arc<Picture>> {
        if let Self::Other { picture, .. } = self { picture.as_ref() } else { None }
    }

    /// About how many bytes it keeps alive, beside its own.
    pub fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Other { label, uri, text, picture } => {
                let more = [uri, text].into_iter().flatten().map(String::len);
                label.len() + more.sum::<usize>() + picture.as_ref().map_or(0, |picture| picture.size())
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ChunkKind {
    User,
    Agent,
    Thought,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanEntry {
    pub content: String,
    pub priority: Priority,
    pub status: PlanStatus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Priority {
    High,
    Medium,
    Low,
    /// None, or one that is not known here.
    None,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlanStatus {
    Pending,
    InProgress,
    Completed,
    /// The agent's word for a state that is not known here.
    Other(Arc<str>),
    /// Stands for entries that cannot be read; its content says how many.
    Unreadable,
}

/// A file served for the agent: every write, and what was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileOp {
    pub verb: FileVerb,
    /// As the agent names it; of what was written outside of the session's directories, where it really is.
    pub path: String,
    pub outcome: FileOutcome,
    #[serde(default)]
    pub is_outside: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileVerb {
    Read,
    Write,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileOutcome {
    /// On its way.
    Pending,
    /// `old` is the text before, where it was known and small. Of a long text only the begin is in `new`.
    Written {
        created: bool,
        bytes: u64,
        old: Option<Arc<str>>,
        new: Arc<str>,
    },
    /// On the disk is something else than the agent proposed: the person has changed it.
    Altered,
    Refused(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    pub level: Level,
    pub title: String,
    /// Lines below the title, in the words of the agent or the system.
    pub detail: Vec<String>,
    /// The agent says it, and not the client.
    #[serde(default)]
    pub by_agent: bool,
    #[serde(default)]
    pub fold: DetailFold,
    /// The detail is prose of the agent's, as its answers are.
    #[serde(default)]
    pub is_prose: bool,
}

impl Notice {
    /// A word of the client's, with all of its detail shown.
    pub fn new(level: Level, title: impl Into<String>, detail: Vec<String>) -> Self {
        Self { level, title: title.into(), detail, by_agent: false, fold: DetailFold::All, is_prose: false }
    }
}

/// How much of a notice's detail is shown before the person asks for all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum DetailFold {
    #[default]
    All,
    Nothing,
    /// The last lines, as of what a program has printed before its end.
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Level {
    Info,
    Warn,
    Error,
}
