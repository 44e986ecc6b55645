//! Earlier runs of the sessions of a run: what they changed is kept in reviews of their own.
//!
//! Opens those for a moment, and takes nothing back. Invariant: one that is open elsewhere is left alone.

use super::ReviewSession;
use crate::model::changes::{Left, LeftRun, ReviewAction};
use crate::review::archive::{self, Listed};
use crate::review::error::ReviewError;
use crate::review::protocol::AgentSession;
use std::path::Path;

/// Runs that are looked into.
const MAX_RUNS: usize = 20;
const NOTHING: Left = Left { files: 0, pending: 0 };

/// A run before the one that was asked about, in which something is left.
#[derive(Debug)]
pub struct EarlierRun {
    pub listed: Listed,
    /// Its session that has gone on.
    pub session: AgentSession,
    pub run: LeftRun,
}

/// Those before the run in `dir` that had one of its sessions, or only this one, in the same directory; the newest
/// first. What has nothing left is left out.
pub fn earlier_runs(home: &Path, dir: &Path, only: Option<&AgentSession>) -> Vec<EarlierRun> {
    let all = archive::list(home);
    let Some(at) = all.iter().position(|one| one.dir == dir) else { return Vec::new() };
    let (this, before) = (all.get(at), all.get(at + 1..).unwrap_or_default());
    let Some(this) = this else { return Vec::new() };
    let sessions = || this.sessions.iter().filter(|session| only.is_none_or(|only| only.id == session.id));
    let cwd = |one: &Listed| one.head.as_ref().map(|head| head.cwd.clone());
    let goes_on = |one: &AgentSession| sessions().any(|session| (&session.id, &session.agent) == (&one.id, &one.agent));
    let its = before.iter().filter(|one| cwd(one) == cwd(this));
    let runs = its.filter_map(|one| Some((one, one.sessions.iter().find(|session| goes_on(session))?)));
    let run = |(one, session): (&Listed, &AgentSession)| EarlierRun {
        listed: one.clone(),
        session: session.clone(),
        run: LeftRun { stem: one.stem.clone(), left: left(&one.dir).map_err(|error| error.to_string()) },
    };
    runs.take(MAX_RUNS).map(run).filter(|run| run.run.left != Ok(NOTHING)).collect()
}

fn left(dir: &Path) -> Result<Left, ReviewError> {
    let mut review = ReviewSession::open(dir)?;
    let preview = review.act(&ReviewAction::PreviewRewind { turn: 0 })?;
    Ok(Left { files: preview.rewound.len() as u64, pending: review.totals()?.pending })
}
