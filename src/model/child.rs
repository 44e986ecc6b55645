//! Sessions that an agent has begun itself for a part of its work: what is known of each beside its entry in the
//! transcript.
//!
//! Plain data. Invariant: what is kept of one is bounded, whatever it says.

use super::entry::{Block, ChunkKind, PlanEntry, PlanStatus};
use super::event::Update;
use super::ids::{EntryId, SessionId, ToolId};
use super::patch::Patch;
use super::tool::{ToolContent, ToolStatus};
use crate::base::limits;
use std::sync::Arc;

/// Bytes and pieces of what one says that are kept.
const MAX_TEXT: usize = 64 << 10;
const MAX_PIECES: usize = 64;

/// What an agent says of one.
#[derive(Clone, Debug, PartialEq)]
pub struct ChildPatch {
    pub id: SessionId,
    pub title: Patch<String>,
    pub description: Patch<String>,
    /// Where it works, and further directories of it.
    pub cwd: Patch<String>,
    pub directories: Patch<Vec<String>>,
    /// Whether it can be stopped by itself.
    pub stops: Patch<bool>,
    pub status: Patch<ToolStatus>,
}

/// A message between a session and one that it has begun.
#[derive(Clone, Debug, PartialEq)]
pub struct Passed {
    pub id: Arc<str>,
    /// Who says it and to whom, as far as that is said.
    pub between: [Option<SessionId>; 2],
    /// Nothing leaves what is known of it.
    pub text: Option<String>,
    /// More of the same message.
    pub is_more: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Child {
    /// Stands for it in the transcript, under this id.
    pub entry: EntryId,
    pub(super) tool: ToolId,
    pub stops: bool,
    /// It is known from earlier: until it is announced again it asks for nothing.
    pub(super) is_past: bool,
    /// The one that has begun it, unless the session itself has.
    pub(super) parent: Option<SessionId>,
    /// As far as that is said.
    pub(super) cwd: Option<String>,
    pub(super) directories: Option<Vec<String>>,
    pub(super) sayings: Sayings,
}

/// What one says, and what it is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sayings(Vec<Said>);

/// A message of one, or something else that it has said.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Said {
    /// Under which more of it comes.
    id: Option<Arc<str>>,
    what: What,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Message(ChunkKind),
    Plan,
    Notice,
    Compaction,
    /// A part of a message that is no text.
    Attachment,
    /// An update of a kind that is not known here.
    Unknown,
}

/// In other words than a message of the agent.
const LABELLED: [What; 7] = [
    What::Message(ChunkKind::Thought),
    What::Message(ChunkKind::User),
    What::Plan,
    What::Notice,
    What::Compaction,
    What::Attachment,
    What::Unknown,
];

impl What {
    const fn label(self) -> Option<&'static str> {
        Some(match self {
            Self::Message(ChunkKind::Agent) => return None,
            Self::Message(ChunkKind::Thought) => "thought",
            Self::Message(ChunkKind::User) => "was asked",
            Self::Plan => "plan",
            Self::Notice => "notice",
            Self::Compaction => "context compaction",
            Self::Attachment => "has sent",
            Self::Unknown => "update of a kind that is not known here",
        })
    }
}

/// The name of the call that stands for one.
pub fn row_of(id: &SessionId) -> ToolId {
    ToolId::from(format!("{id}/"))
}

/// The one for which such a call stands.
pub(super) fn id_of(row: &ToolId) -> Option<SessionId> {
    row.as_str().strip_suffix('/').map(SessionId::from)
}

/// A call of one has a name of its own.
pub fn call_of(row: &ToolId, call: &ToolId) -> ToolId {
    ToolId::from(format!("{}{}", row.as_str(), call.as_str()))
}

impl Child {
    pub(super) fn new(entry: EntryId, tool: ToolId, parent: Option<SessionId>) -> Self {
        let sayings = Sayings::default();
        Self { entry, tool, stops: false, is_past: false, parent, cwd: None, directories: None, sayings }
    }
}

impl Sayings {
    /// Takes in what is a saying; of anything else nothing.
    pub fn take(&mut self, update: Update) {
        match update {
            Update::Chunk { kind, message_id, block: Block::Text(text) } => self.hear(kind, message_id, &text, true),
            Update::Chunk { block, .. } => self.attach(&block),
            Update::Part { kind, text, .. } => self.hear(kind, None, &text, true),
            Update::Whole { kind, content } => {
                for block in content {
                    self.take(Update::Chunk { kind, message_id: None, block });
                }
            }
            Update::Message { content: Patch::Keep, .. } => {}
            Update::Message { kind, id, content } => {
                let blocks = content.as_set().cloned().unwrap_or_default();
                let texts =
                    blocks.iter().filter_map(|block| if let Block::Text(t) = block { Some(t.as_str()) } else { None });
                let text = texts.collect::<Vec<_>>().join("\n");
                self.hear(kind, Some(id), &text, false);
                for block in &blocks {
                    self.attach(block);
                }
            }
            Update::Passed(Passed { id, text: Some(text), is_more, .. }) => {
                self.hear(ChunkKind::Agent, Some(id), &text, is_more);
            }
            Update::Plan { id, entries } => {
                let line = |entry: &PlanEntry| {
                    let done = if entry.status == PlanStatus::Completed { "x" } else { " " };
                    format!("[{done}] {}\n", entry.content)
                };
                self.plan(id, &entries.iter().map(line).collect::<String>());
            }
            Update::Notice { title, description, .. } => {
                let text = [Some(title), description].into_iter().flatten().collect::<Vec<_>>().join("\n");
                self.note(What::Notice, text.trim());
            }
            Update::Compaction(patch) => {
                let said = |text: Patch<String>| if let Patch::Set(text) = text { text } else { String::new() };
                let status = patch.status.as_deref().unwrap_or("in progress").to_owned();
                let text = format!("{status} {}{}{}", said(patch.error), said(patch.summary), patch.more);
                self.note(What::Compaction, &text);
            }
            Update::Unknown { name, .. } => self.note(What::Unknown, &name),
            _ => {}
        }
    }

    /// Takes in a piece of a message, or in place of what is known of a message all of it.
    fn hear(&mut self, kind: ChunkKind, message: Option<Arc<str>>, text: &str, is_more: bool) {
        let what = What::Message(kind);
        let is_it = |said: &Said| said.what == what && said.id == message;
        let at = match &message {
            Some(_) => self.0.iter().position(is_it),
            None => self.0.last().filter(|said| is_it(said)).map(|_| self.0.len() - 1),
        };
        let room = self.room();
        match at.and_then(|at| self.0.get_mut(at)) {
            Some(said) if is_more => said.text.push_str(&limits::cut(text, room)),
            Some(said) => said.text = limits::cut(text, room + said.text.len()),
            None => self.push(Said { id: message, what, text: limits::cut(text, room) }),
        }
    }

    /// Takes in what is no message.
    fn note(&mut self, what: What, text: &str) {
        let text = limits::cut(text, self.room());
        self.push(Said { id: None, what, text });
    }

    /// Takes in a plan in place of the one of its id.
    fn plan(&mut self, id: Option<Arc<str>>, text: &str) {
        self.0.retain(|said| said.what != What::Plan || said.id != id);
        let text = limits::cut(text, self.room());
        self.push(Said { id, what: What::Plan, text });
    }

    /// What is no text is named, with its text.
    fn attach(&mut self, block: &Block) {
        if let Block::Other { label, uri, text, .. } = block {
            let parts = [Some(label), uri.as_ref(), text.as_ref()];
            let text: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
            self.note(What::Attachment, &text.join("\n"));
        }
    }

    fn room(&self) -> usize {
        MAX_TEXT.saturating_sub(self.0.iter().map(|said| said.text.len()).sum())
    }

    fn push(&mut self, said: Said) {
        if self.0.len() < MAX_PIECES && !said.text.is_empty() {
            self.0.push(said);
        }
    }

    /// The words alone.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|said| said.text.as_str()).filter(|text| !text.trim().is_empty())
    }

    pub(super) fn content(&self) -> Vec<ToolContent> {
        let said = self.0.iter().filter(|said| !said.text.trim().is_empty());
        let block = |said: &Said| match said.what.label() {
            Some(label) => {
                Block::Other { label: label.to_owned(), uri: None, text: Some(said.text.clone()), picture: None }
            }
            None => Block::Text(said.text.clone()),
        };
        said.map(|said| ToolContent::Block(block(said))).collect()
    }

    /// The same from what it has become.
    pub(super) fn of_content(content: &[ToolContent]) -> Self {
        let mut sayings = Self::default();
        for part in content {
            let (what, text) = match part {
                ToolContent::Block(Block::Text(text)) => (What::Message(ChunkKind::Agent), text),
                ToolContent::Block(Block::Other { label, text: Some(text), .. }) => {
                    let is_it = |what: &&What| what.label() == Some(label.as_str());
                    (LABELLED.iter().find(is_it).copied().unwrap_or(What::Notice), text)
                }
                _ => continue,
            };
            sayings.note(what, text);
        }
        sayings
    }
}
