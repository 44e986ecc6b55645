//! Sessions that an agent has begun itself for a part of its work: what is known of each beside its entry in the
//! transcript.
//!
//! Plain data. Invariant: what is kept of one is bounded, whatever it says.

use super::entry::{Block, ChunkKind};
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
    /// The one that has begun it, unless the session itself has.
    pub(super) parent: Option<SessionId>,
    /// As far as that is said.
    pub(super) cwd: Option<String>,
    pub(super) directories: Option<Vec<String>>,
    said: Vec<Said>,
}

/// A message of one, or something else that it has said.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Said {
    /// Under which more of it comes.
    id: Option<Arc<str>>,
    what: What,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Message(ChunkKind),
    Plan,
    Notice,
    Compaction,
    /// A part of a message that is no text.
    Attachment,
    /// An update of a kind that is not known here.
    Unknown,
}

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

impl Child {
    pub(super) fn new(entry: EntryId, tool: ToolId, parent: Option<SessionId>) -> Self {
        Self { entry, tool, stops: false, parent, cwd: None, directories: None, said: Vec::new() }
    }

    /// Takes in a piece of a message, or in place of what is known of a message all of it.
    pub(super) fn hear(&mut self, kind: ChunkKind, message: Option<Arc<str>>, text: &str, is_more: bool) {
        let what = What::Message(kind);
        let is_it = |said: &Said| said.what == what && said.id == message;
        let at = match &message {
            Some(_) => self.said.iter().position(is_it),
            None => self.said.last().filter(|said| is_it(said)).map(|_| self.said.len() - 1),
        };
        let room = self.room();
        match at.and_then(|at| self.said.get_mut(at)) {
            Some(said) if is_more => said.text.push_str(&limits::cut(text, room)),
            Some(said) => said.text = limits::cut(text, room + said.text.len()),
            None => self.push(Said { id: message, what, text: limits::cut(text, room) }),
        }
    }

    /// Takes in what is no message.
    pub(super) fn note(&mut self, what: What, text: &str) {
        let text = limits::cut(text, self.room());
        self.push(Said { id: None, what, text });
    }

    /// Takes in a plan in place of the one of its id.
    pub(super) fn plan(&mut self, id: Option<Arc<str>>, text: &str) {
        self.said.retain(|said| said.what != What::Plan || said.id != id);
        let text = limits::cut(text, self.room());
        self.push(Said { id, what: What::Plan, text });
    }

    fn room(&self) -> usize {
        MAX_TEXT.saturating_sub(self.said.iter().map(|said| said.text.len()).sum())
    }

    fn push(&mut self, said: Said) {
        if self.said.len() < MAX_PIECES && !said.text.is_empty() {
            self.said.push(said);
        }
    }

    pub(super) fn content(&self) -> Vec<ToolContent> {
        let said = self.said.iter().filter(|said| !said.text.trim().is_empty());
        let block = |said: &Said| match said.what.label() {
            Some(label) => {
                Block::Other { label: label.to_owned(), uri: None, text: Some(said.text.clone()), picture: None }
            }
            None => Block::Text(said.text.clone()),
        };
        said.map(|said| ToolContent::Block(block(said))).collect()
    }
}
