//! Earlier runs of the sessions of a run: what they changed is kept in reviews of their own.
//!
//! Opens those for a moment, and takes nothing back. Invariant: one that is open elsewhere is left alone.

use super::ReviewSession;
use crate::base::human;
use crate::base::sanitize;
use crate::model::changes::ReviewAction;
use crate::review::archive::{self, Listed};
use crate::review::error::ReviewError;
use crate::review::protocol::AgentSession;
use std::path::Path;

/// Runs that are looked into.
const MAX_RUNS: usize = 20;

/// A run before the one that was asked about, in which something is left.
#[derive(Debug)]
pub struct EarlierRun {
    pub listed: Listed,
    /// Its session that has gone on.
    pub session: AgentSession,
    /// Files that an undo of the run would take back, and hunks that are to be decided; or why nobody knows.
    pub left: Result<(u64, u64), ReviewError>,
}

impl EarlierRun {
    /// What is left of it and how that is had, in words.
    pub fn words(&self) -> String {
        let stem = &self.listed.stem;
        match &self.left {
            Ok((files, pending)) => format!(
                "an earlier run of the session has changed {}, {}: acp-tui review {stem} · acp-tui undo {stem}",
                human::count(*files, "file"),
                match pending {
                    0 => "all decided".to_owned(),
                    pending => format!("{} to review", human::count(*pending, "hunk")),
                },
            ),
            Err(error) => {
                sanitize::line(&format!("an earlier run of the session, {stem}, cannot be looked at: {error}"))
                    .into_owned()
            }
        }
    }
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
        left: left(&one.dir),
    };
    runs.take(MAX_RUNS).map(run).filter(|run| !matches!(run.left, Ok((0, 0)))).collect()
}

fn left(dir: &Path) -> Result<(u64, u64), ReviewError> {
    let mut review = ReviewSession::open(dir)?;
    let preview = review.act(&ReviewAction::PreviewRewind { turn: 0 })?;
    Ok((preview.rewound.len() as u64, review.totals()?.pending))
}
