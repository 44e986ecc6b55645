//! What a decision has brought back of the agent's work: an undo that was taken back, a rejection that was undone.
//!
//! Computes states, writes nothing. Invariant: what may be another author's is no part of it.

use crate::review::error::ReviewError;
use crate::review::history::contents::Contents;
use crate::review::history::file_history::spliced;
use crate::review::history::ledger::ChangeRecord;
use crate::review::state::State;
use crate::review::text::diff::Edit;
use crate::review::text::lines::Lines;
use std::collections::HashSet;
use std::ops::Range;

/// The states without it and with it; nothing when the decision brought back nothing that one of the agent's earlier
/// steps has done.
pub fn brought_back(
    decision: &ChangeRecord,
    agents: &[&ChangeRecord],
    files: &mut Contents,
) -> Result<Option<(State, State)>, ReviewError> {
    let (before, after) = (decision.before, decision.after);
    let all = |is_it: bool| Ok(is_it.then_some((before, after)));
    let edits = files.edits(&before, &after)?;
    let (Some(edits), Some(was), Some(is)) = (edits, files.text(&before)?, files.text(&after)?) else {
        // Permissions may be the person's.
        let is_like = |state: &State| state.oid() == after.oid() && state.is_absent() == after.is_absent();
        return all(agents.iter().any(|step| is_like(&step.after)));
    };
    let mut own = Lists::default();
    for step in agents {
        own.add(step, files)?;
    }
    let (ours, others): (Vec<&Edit>, Vec<&Edit>) = edits.iter().partition(|edit| own.have(edit, &was, &is));
    if before.is_absent() != after.is_absent() {
        let is_so = |step: &ChangeRecord| (step.before.is_absent(), step.after.is_absent());
        return all(others.is_empty() && agents.iter().any(|step| is_so(step) == is_so(decision)));
    }
    let is_mode = before.mode() != after.mode() && agents.iter().any(|step| is_mode_of(step, &after));
    if ours.is_empty() && !is_mode {
        return Ok(None);
    }
    let places: Vec<(Range<usize>, Range<usize>)> = ours.iter().map(|e| (e.new.clone(), e.old.clone())).collect();
    let mode = if is_mode { before.mode() } else { after.mode() };
    let without = files.file(&spliced(&is, &places, &was), mode.unwrap_or(0o644))?;
    Ok(Some((without, after)))
}

/// Whether a step has given a file those permissions.
fn is_mode_of(step: &ChangeRecord, state: &State) -> bool {
    step.before.mode() != step.after.mode() && step.after.mode() == state.mode()
}

/// Lines that the agent has put there, and those that it has taken away.
#[derive(Default)]
struct Lists {
    put: HashSet<Vec<u8>>,
    taken: HashSet<Vec<u8>>,
}

impl Lists {
    fn add(&mut self, step: &ChangeRecord, files: &mut Contents) -> Result<(), ReviewError> {
        let edits = files.edits(&step.before, &step.after)?;
        if let (Some(edits), Some(was), Some(is)) = (edits, files.text(&step.before)?, files.text(&step.after)?) {
            for edit in edits.iter() {
                self.put.extend(edit.new.clone().map(|line| is.raw(line).to_vec()));
                self.taken.extend(edit.old.clone().map(|line| was.raw(line).to_vec()));
            }
        }
        Ok(())
    }

    fn have(&self, edit: &Edit, was: &Lines, is: &Lines) -> bool {
        edit.new.clone().all(|line| self.put.contains(is.raw(line)))
            && edit.old.clone().all(|line| self.taken.contains(was.raw(line)))
    }
}
