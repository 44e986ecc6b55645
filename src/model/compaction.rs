//! The agent puts a summary in place of what was said before.
//!
//! What was said stays in the transcript. Invariant: a summary is bounded.

use super::ids::EntryId;
use std::sync::Arc;

/// Those of a session that are known by their ids.
pub const MAX_COMPACTIONS: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compaction {
    pub id: Option<Arc<str>>,
    /// In the agent's words.
    pub status: String,
    pub summary: String,
    /// Why it did not come about.
    pub error: String,
    pub entry: EntryId,
}

impl Compaction {
    /// No further word of it is expected.
    pub fn is_over(&self) -> bool {
        matches!(self.status.as_str(), "completed" | "failed" | "cancelled")
    }

    pub fn words(&self) -> String {
        match self.status.as_str() {
            "in_progress" => "the agent puts a summary in place of what was said before…".to_owned(),
            "completed" => "the agent goes on with a summary of what was said before".to_owned(),
            "failed" => "the agent could not make a summary of what was said before".to_owned(),
            "cancelled" => "no summary was made of what was said before".to_owned(),
            other => format!("context compaction {other}"),
        }
    }
}
