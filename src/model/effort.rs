//! What was done in a turn: calls, and files outside of the session's directory, where the review does not look.
//!
//! Counted as it happens, so work per change depends on that change alone, however long the turn is. Invariant: a file
//! counts once in a turn.

use super::ids::TurnId;
use super::tool::{ToolCall, ToolContent, ToolKind, ToolStatus};
use crate::base::paths;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

/// Files outside that are told apart in one turn; more count no more.
const MAX_OUTSIDE: usize = 100_000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effort {
    pub calls: u64,
    /// Files outside of the session's directory that were changed.
    pub outside: u64,
}

/// What was done so far in the newest turn that anything was done in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    turn: TurnId,
    calls: u64,
    /// Fingerprints of the files outside.
    outside: BTreeSet<u64>,
}

impl Tally {
    pub fn of(&self, turn: TurnId) -> Effort {
        if self.turn == turn {
            Effort { calls: self.calls, outside: self.outside.len() as u64 }
        } else {
            Effort::default()
        }
    }

    fn at(&mut self, turn: TurnId) -> &mut Self {
        if self.turn != turn {
            *self = Self { turn, ..Self::default() };
        }
        self
    }

    pub fn called(&mut self, turn: TurnId) {
        self.at(turn).calls += 1;
    }

    /// A file was changed, which may be outside of `cwd`.
    pub fn changed<'a>(&mut self, turn: TurnId, files: impl Iterator<Item = &'a str>, cwd: &str) {
        let cwd = paths::normalize(Path::new(cwd));
        for file in files {
            let file = paths::normalize(Path::new(file));
            let is_outside = file.is_absolute() && !file.starts_with(&cwd);
            if is_outside && self.at(turn).outside.len() < MAX_OUTSIDE {
                let mut hasher = DefaultHasher::new();
                file.hash(&mut hasher);
                self.outside.insert(hasher.finish());
            }
        }
    }
}

/// Files that a call has changed, as it says itself.
pub fn changed_by(call: &ToolCall) -> impl Iterator<Item = &str> {
    let changes = call.content.iter().filter_map(ToolContent::change).map(|change| change.path.as_str());
    let may_write = matches!(call.kind, ToolKind::Edit | ToolKind::Delete | ToolKind::Move);
    let named = call.locations.iter().filter(move |_| may_write).map(|location| location.path.as_str());
    changes.chain(named).filter(|_| call.status == ToolStatus::Completed)
}
