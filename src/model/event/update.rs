//! What an agent tells of a session, as its codec has read it.
//!
//! Plain data. Does nothing.

use super::super::child::{ChildPatch, Passed};
use super::super::entry::{Block, ChunkKind, Level, PlanEntry};
use super::super::ids::{SessionId, ToolId};
use super::super::options::{Command, ConfigOption, OptionValue};
use super::super::patch::Patch;
use super::super::tool::{TerminalPatch, ToolPatch};
use super::{Background, CallError, PromptResult};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    Chunk {
        kind: ChunkKind,
        message_id: Option<Arc<str>>,
        block: Block,
    },
    /// A message as a whole: what was said under its id before gives way.
    Message {
        kind: ChunkKind,
        id: Arc<str>,
        content: Patch<Vec<Block>>,
    },
    /// A message as a whole, without a name.
    Whole {
        kind: ChunkKind,
        content: Vec<Block>,
    },
    /// A piece of a text that says which of its message it is: the first has 0.
    Part {
        kind: ChunkKind,
        text: String,
        index: Option<u64>,
        is_last: bool,
    },
    /// One option has this value now.
    OptionValue {
        id: String,
        value: OptionValue,
    },
    /// What the agent does now.
    /// With what goes on in the background, where the agent has said all of it.
    Activity(Activity, Option<Vec<Background>>),
    ToolCall(Box<ToolPatch>),
    ToolUpdate(Box<ToolPatch>),
    /// A terminal of the agent's own.
    Terminal(Box<TerminalPatch>),
    Plan {
        /// Which one; without it the plan of the turn.
        id: Option<Arc<str>>,
        entries: Vec<PlanEntry>,
    },
    Commands(Vec<Command>),
    Mode(String),
    Options(Vec<ConfigOption>),
    Info {
        title: Patch<String>,
        /// When the session last changed, in the agent's words.
        updated: Patch<String>,
    },
    Usage {
        used: u64,
        size: u64,
        cost: Patch<(f64, String)>,
    },
    Notice {
        level: Level,
        title: String,
        description: Option<String>,
    },
    Compaction(CompactionPatch),
    /// A session that the agent has begun itself.
    Child(Box<ChildPatch>),
    /// A message between that one and another.
    Passed(Passed),
    /// Of a kind that is not known here, and what it holds, as lines.
    Unknown {
        name: String,
        held: Vec<String>,
    },
    /// The same without so many elements of its list, which was too long.
    Partly {
        update: Box<Update>,
        what: &'static str,
        left_out: usize,
    },
}

/// What is new of a compaction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompactionPatch {
    pub id: Option<Arc<str>>,
    pub status: Option<String>,
    pub summary: Patch<String>,
    /// At the end of the summary.
    pub more: String,
    pub error: Patch<String>,
}

impl Update {
    pub(super) fn tool(&self) -> Option<&ToolId> {
        match self {
            Self::ToolCall(patch) | Self::ToolUpdate(patch) => Some(&patch.id),
            Self::Partly { update, .. } => update.tool(),
            _ => None,
        }
    }

    /// Sessions that it may tell of beside the one that it is of.
    pub(super) fn others(&self) -> [Option<&SessionId>; 2] {
        match self {
            Self::Child(patch) => [Some(&patch.id), None],
            Self::Passed(passed) => passed.between.each_ref().map(Option::as_ref),
            Self::Partly { update, .. } => update.others(),
            _ => [None, None],
        }
    }

    /// Whose words it brings, where it is a message or a piece of one.
    pub fn speaker(&self) -> Option<ChunkKind> {
        match self {
            Self::Chunk { kind, .. }
            | Self::Part { kind, .. }
            | Self::Message { kind, .. }
            | Self::Whole { kind, .. } => Some(*kind),
            _ => None,
        }
    }

    /// The message that it tells of by its id.
    pub(super) fn message(&self) -> Option<(ChunkKind, &Arc<str>)> {
        match self {
            Self::Chunk { kind, message_id: Some(id), .. } | Self::Message { kind, id, .. } => Some((*kind, id)),
            Self::Partly { update, .. } => update.message(),
            _ => None,
        }
    }
}

/// What an agent says of itself in a session.
#[derive(Clone, Debug, PartialEq)]
pub enum Activity {
    /// It works, or is in a state that is not known here.
    Busy,
    /// All of it waits for the person.
    Waits,
    /// The turn is over, if one ran.
    Idle(Result<PromptResult, CallError>),
}
