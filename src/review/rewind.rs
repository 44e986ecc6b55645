//! Taking back what the agent did in some turns, and leaving what the person did.
//!
//! Computes states, writes nothing. Invariant: where the two cannot be told apart, the file is left alone.

use super::error::ReviewError;
use super::files::{Files, Joined};
use super::history::{History, carry};
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
    let mut to = *disk;
    let mut accepted = history.accepted;
    for (before, after) in groups(steps, &wanted) {
        match files.join(&after, &to, &before)? {
            Joined::Clean(state) => to = state,
            Joined::Conflict(_) => return Ok(Some(Rewind { outcome: RewindOutcome::Conflict, to: None })),
        }
        // What was accepted goes as well, as far as it is there; the rest was not accepted.
        accepted = carry(files, &after, &accepted, &before)?;
    }
    if to == *disk {
        return Ok(None);
    }
    let earlier = history.steps.get(..first).unwrap_or_default().iter().any(Step::is_agents);
    let accepted = if earlier { accepted } else { to };
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

/// States before and after the steps wanted, newest first; neighbours at once.
fn groups(steps: &[Step], wanted: &impl Fn(&Step) -> bool) -> Vec<(State, State)> {
    let mut groups: Vec<(State, State)> = Vec::new();
    let mut open = false;
    for step in steps {
        match groups.last_mut() {
            Some(group) if open && wanted(step) => group.1 = step.after,
            _ if wanted(step) => groups.push((step.before, step.after)),
            _ => {}
        }
        open = wanted(step);
    }
    groups.reverse();
    groups
}
