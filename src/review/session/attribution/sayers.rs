//! Which calls say what they put into a file.
//!
//! Compares no texts. Invariant: a call is named only where it may have changed the file by then.

use super::{Attributed, Attribution, SLACK, Tool};
use crate::model::changes::Cause;
use crate::model::ids::EntryId;
use crate::review::protocol::ToolEffect;
use crate::review::session::claimed::Piece;
use crate::review::session::unexplained::When;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Calls whose words are taken out of one change.
const MAX_SAYERS: usize = 64;

impl Attribution {
    /// Whether a call is known that has not said yet what it puts anywhere.
    pub fn is_silent(&self, entry: EntryId) -> bool {
        self.tools.get(&entry.0).is_some_and(|tool| tool.claims.is_empty() && !tool.lost)
    }

    /// Where a call says that it puts something.
    pub fn claimed(&self, entry: EntryId) -> BTreeSet<PathBuf> {
        let claims = self.tools.get(&entry.0).map(|tool| tool.claims.as_slice()).unwrap_or_default();
        claims.iter().map(|claim| claim.0.clone()).collect()
    }

    /// The pieces that a tool call says it puts into a path.
    pub fn claims(&self, entry: u64, path: &Path) -> Vec<Piece> {
        let claims = self.tools.get(&entry).map(|tool| tool.claims.as_slice()).unwrap_or_default();
        claims.iter().filter(|c| c.0 == path).map(|(_, old, new)| (old.clone(), Arc::clone(new))).collect()
    }

    /// Other calls that say what they put into a path, the newest first, and may have done so since it was last looked at.
    /// `when` is the time of its last change: when each of them did its part is not known, so its words have to tell.
    pub fn others(&self, entry: u64, path: &Path, when: When) -> Vec<Attributed> {
        let since = self.last_look(path);
        self.sayers(entry, path, when, &|tool| Self::counts(tool, since))
    }

    /// The same, however long ago it was.
    pub fn others_ever(&self, entry: u64, path: &Path, when: When) -> Vec<Attributed> {
        self.sayers(entry, path, when, &|tool| !tool.waits)
    }

    fn sayers(&self, entry: u64, path: &Path, when: When, could: &dyn Fn(&Tool) -> bool) -> Vec<Attributed> {
        let (When::At(at) | When::By(at)) = when;
        let has_begun = |tool: &Tool| tool.adrift || tool.from.is_none_or(|from| at + SLACK >= from);
        let says = |tool: &Tool| {
            tool.doing == ToolEffect::Edits && tool.claims.iter().any(|claim| claim.0 == path) && tool.names(path)
        };
        let its = self.tools.iter().rev().filter(|(other, tool)| **other != entry && says(tool));
        its.filter(|(_, tool)| has_begun(tool) && could(tool))
            .take(MAX_SAYERS)
            .map(|(other, tool)| Attributed::new(Cause::Tool, Some(*other)).of_turn(self.known_turn(tool)))
            .collect()
    }
}
