//! Sessions that an agent has begun itself for a part of its work: what is known of each beside its entry in the
//! transcript.
//!
//! Plain data. Invariant: what is kept of one is bounded, whatever it says.

use super::entry::Block;
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
    said: Vec<(Option<Arc<str>>, String)>,
}

impl Child {
    pub(super) fn new(entry: EntryId, tool: ToolId) -> Self {
        Self { entry, tool, stops: false, said: Vec::new() }
    }

    /// Takes in a piece of a message, or in place of what is known of a message all of it.
    pub(super) fn hear(&mut self, message: Option<Arc<str>>, text: &str, is_more: bool) {
        let at = match &message {
            Some(_) => self.said.iter().position(|(id, _)| *id == message),
            None => self.said.last().filter(|(id, _)| id.is_none()).map(|_| self.said.len() - 1),
        };
        let known: usize = self.said.iter().map(|(_, text)| text.len()).sum();
        let (pieces, room) = (self.said.len(), MAX_TEXT.saturating_sub(known));
        if is_more && room == 0 {
            return;
        }
        match at.and_then(|at| self.said.get_mut(at)) {
            Some((_, said)) if is_more => said.push_str(&limits::cut(text, room)),
            Some((_, said)) => *said = limits::cut(text, room + said.len()),
            None if pieces < MAX_PIECES => self.said.push((message, limits::cut(text, room))),
            None => {}
        }
    }

    pub(super) fn content(&self) -> Vec<ToolContent> {
        let texts = self.said.iter().map(|(_, text)| text).filter(|text| !text.trim().is_empty());
        texts.map(|text| ToolContent::Block(Block::Text(text.clone()))).collect()
    }
}
