//! Taking back what the agent did in some turns, and leaving what the person did.
//!
//! Computes states, writes nothing. Invariant: where the two cannot be told apart, the file is left alone.

use super::error::ReviewError;
use super::files::{Files, Joined};
use super::history::History;
use super::ledger::Step;
use super::state::State;
use crate::model::changes::RewindOutcome;

/// What a file would be, or why it is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rewind {
    pub outcome: RewindOutcome,
    /// The states to be; nothing when the file is left alone.
    pub to: Option<(State, State)>,
}

/// Takes the agent's steps of the turns out of `disk`. Nothing when it has none there.
pub fn rewind(
    history: &History,
    disk: &State,
    turns: impl Fn(u64) -> bool,
    files: &mut Files,
) -> Result<Option<Rewind>, ReviewError> {
    let wanted = |s: &Step| s.is_agents() && turns(s.turn);
    let Some(first) = history.steps.iter().position(wanted) else { return Ok(None) };
    let steps = history.steps.get(first..).unwrap_or_default();
    if steps.iter().any(|s| wanted(s) && matches!(s.before, State::Unkept { .. })) {
        return Ok(Some(Rewind { outcome: RewindOutcome::NotKept, to: None }));
    }
    let Some(to) = without(steps, disk, &wanted, files)? else {
        return Ok(Some(Rewind { outcome: RewindOutcome::Conflict, to: None }));
    };
    if to == *disk {
        return Ok(None);
    }
    let earlier = history.steps.get(..first).unwrap_or_default().iter().any(Step::is_agents);
    let accepted = if earlier { without(steps, &history.accepted, &wanted, files)?.unwrap_or(to) } else { to };
    let before = history.steps.get(first).map_or(State::Absent, |s| s.before);
    let outcome = if to != before {
        RewindOutcome::Merged
    } else if to.is_absent() {
        RewindOutcome::Removed
    } else {
        RewindOutcome::Restored
    };
    Ok(Some(Rewind { outcome, to: Some((to, accepted)) }))
}

/// The steps wanted, newest first, taken out of a state; neighbours at once.
fn without(
    steps: &[Step],
    from: &State,
    wanted: &impl Fn(&Step) -> bool,
    files: &mut Files,
) -> Result<Option<State>, ReviewError> {
    let mut state = *from;
    let mut rest = steps;
    while let Some((last, before)) = rest.split_last() {
        rest = before;
        if !wanted(last) {
            continue;
        }
        let mut first = last;
        while let Some((step, before)) = rest.split_last().filter(|(step, _)| wanted(step)) {
            first = step;
            rest = before;
        }
        state = match files.join(&last.after, &state, &first.before)? {
            Joined::Clean(state) => state,
            Joined::Conflict(_) => return Ok(None),
        };
    }
    Ok(Some(state))
}
