//! Earlier runs of the sessions of a run: what they changed is kept in reviews of their own.
//!
//! Opens those for a moment, and takes nothing back. Invariant: one that is open elsewhere is left alone.

use super::{ReviewSession, Stop};
use crate::model::changes::{Left, LeftRun, ReviewAction};
use crate::review::archive::{self, Listed};
use crate::review::error::ReviewError;
use crate::review::protocol::AgentSession;
use std::path::{Path, PathBuf};

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
    earlier_runs_until(home, dir, only, None)
}

/// The same; what was not looked into when `stop` says so is left out.
pub fn earlier_runs_until(
    home: &Path,
    dir: &Path,
    only: Option<&AgentSession>,
    stop: Option<&Stop>,
) -> Vec<EarlierRun> {
    let run = |(listed, session): (Listed, AgentSession)| {
        let left = match left(&listed.dir, stop) {
            Err(ReviewError::Stopped) => return None,
            left => left.map_err(|error| error.to_string()),
        };
        Some(EarlierRun { run: LeftRun { stem: listed.stem.clone(), left }, listed, session })
    };
    runs_before(home, dir, only).into_iter().map_while(run).filter(|run| run.run.left != Ok(NOTHING)).collect()
}

/// The same, also those in which nothing is left. An agent may use the name of a session again: where one of that name
/// began, there is nothing before. Of another command line a session counts only where this one's had none of that name.
pub fn runs_before(home: &Path, dir: &Path, only: Option<&AgentSession>) -> Vec<(Listed, AgentSession)> {
    let mut all = archive::list(home).into_iter().skip_while(|one| one.dir != dir);
    let Some(this) = all.next() else { return Vec::new() };
    let cwd = |one: &Listed| one.head.as_ref().map(|head| head.cwd.clone());
    let mut goes_on: Vec<AgentSession> =
        openings(&this).filter(|one| one.goes_on && only.is_none_or(|only| is_same(one, only))).cloned().collect();
    let mut found = Vec::new();
    let all: Vec<Listed> = all.filter(|one| cwd(one) == cwd(&this)).collect();
    for (at, one) in all.iter().enumerate() {
        let before = all.get(at..).unwrap_or_default();
        let is_known = |session: &AgentSession| before.iter().flat_map(openings).any(|one| is_same(one, session));
        // It may have gone on with another command line of its agent.
        let is_it = |later: &AgentSession, session: &AgentSession| {
            is_same(later, session) || later.id == session.id && !is_known(later)
        };
        let mut its = openings(one).filter(|session| goes_on.iter().any(|later| is_it(later, session)));
        let Some(session) = its.next().cloned() else { continue };
        let ends: Vec<AgentSession> = its.chain([&session]).filter(|session| !session.goes_on).cloned().collect();
        goes_on.retain(|later| !ends.iter().any(|end| is_it(later, end)));
        found.push((one.clone(), session));
        if found.len() == MAX_RUNS || goes_on.is_empty() {
            break;
        }
    }
    found
}

/// Other sessions to which their agents have given the same id, by the runs that they began in; the newest first.
pub fn namesakes(home: &Path, dir: &Path, session: &AgentSession) -> Vec<String> {
    let own: Vec<PathBuf> = runs_before(home, dir, Some(session)).into_iter().map(|(run, _)| run.dir).collect();
    let begins = |run: &Listed| openings(run).any(|one| one.id == session.id && !one.goes_on);
    let others = archive::list(home).into_iter().filter(|run| run.dir != dir && !own.contains(&run.dir) && begins(run));
    others.map(|run| run.stem).collect()
}

/// How each session of a run was opened first.
fn openings(run: &Listed) -> impl Iterator<Item = &AgentSession> {
    let is_first = |(at, one): &(usize, &AgentSession)| !run.sessions.iter().take(*at).any(|other| is_same(other, one));
    run.sessions.iter().enumerate().filter(is_first).map(|(_, one)| one)
}

fn is_same(one: &AgentSession, other: &AgentSession) -> bool {
    (&one.id, &one.agent) == (&other.id, &other.agent)
}

fn left(dir: &Path, stop: Option<&Stop>) -> Result<Left, ReviewError> {
    if stop.is_some_and(|stop| stop()) {
        return Err(ReviewError::Stopped);
    }
    let mut review = ReviewSession::open(dir)?;
    review.stops(stop.cloned());
    let preview = review.act(&ReviewAction::PreviewRewind { turn: 0 })?;
    Ok(Left { files: preview.rewound.len() as u64, pending: review.totals()?.pending })
}
