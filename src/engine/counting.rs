//! How many turns the sessions of a run had before it: a conversation counts all of its turns, a run only its own.
//!
//! Knows what journals tell and opens no review. Invariant: of what no journal tells nothing is counted.

use crate::review::protocol::AgentSession;
use crate::store::sessions::{self, Part};
use std::collections::HashMap;
use std::path::Path;

/// What a session had before a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Before {
    pub turns: u64,
    /// Its runs, the oldest first, and how many turns it had before each.
    pub runs: Vec<(String, u64)>,
}

/// What the journals have of a session before the run whose review is in this directory.
pub fn before(dir: &Path, session: &AgentSession) -> Option<Before> {
    let (parts, stem) = (parts(dir)?, dir.file_name()?.to_str()?);
    let this = of_run(&parts, stem, &session.id)?;
    let is_before = |part: &&Part| {
        (&part.session_id, &part.command) == (&this.session_id, &this.command) && part.turns_before < this.turns_before
    };
    let run = |part: &Part| (sessions::stem(&part.journal).to_owned(), part.turns_before);
    let mut runs: Vec<(String, u64)> = parts.iter().filter(is_before).map(run).collect();
    runs.sort_by_key(|(_, first)| *first);
    Some(Before { turns: this.turns_before, runs })
}

/// How many turns the sessions had before the run whose review is in this directory, by their ids; those that had some.
pub fn turns_before(dir: &Path, sessions: &[AgentSession]) -> HashMap<String, u64> {
    let (Some(parts), Some(stem)) = (parts(dir), dir.file_name().and_then(|name| name.to_str())) else {
        return HashMap::new();
    };
    let its = |session: &AgentSession| {
        let turns = of_run(&parts, stem, &session.id)?.turns_before;
        (turns > 0).then(|| (session.id.clone(), turns))
    };
    sessions.iter().filter_map(its).collect()
}

fn parts(dir: &Path) -> Option<Vec<Part>> {
    let state = dir.parent()?.parent()?;
    Some(sessions::parts(state).ok()?.0)
}

/// Reviews of further directories have a number behind the run's name.
fn of_run<'a>(parts: &'a [Part], stem: &str, id: &str) -> Option<&'a Part> {
    let is_of_run = |part: &&Part| {
        let further = stem.strip_prefix(sessions::stem(&part.journal));
        further.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    parts.iter().filter(|part| part.session_id == id).find(is_of_run)
}
