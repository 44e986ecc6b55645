//! What other runs in the same directory have written, while this one ran: to this one it looks like what its agent did.
//!
//! Reads their ledgers, also those of runs that are still open, and opens none of them. Invariants: what a ledger says of
//! its own writes counts more than what another one has only found changed; what this run has seen its own agent write
//! or announce stays its own.

use super::ReviewSession;
use super::recorded::{self, Written};
use crate::model::changes::{Cause, ReviewAction, Target, Verdict};
use crate::review::archive::{self, Listed};
use crate::review::dir::LEDGER;
use crate::review::history::ledger::ChangeRecord;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Runs whose ledgers are read, the newest.
const MAX_RUNS: usize = 20;

/// Files that another run has written, and which.
pub type Theirs = BTreeMap<PathBuf, String>;

impl ReviewSession {
    /// Before something is taken back together with others: what another run has written is in doubt here.
    pub(super) fn leave_theirs(&mut self, action: &ReviewAction) -> Theirs {
        let takes_back = match action {
            ReviewAction::Rewind { .. } | ReviewAction::PreviewRewind { .. } => true,
            ReviewAction::Decide { target, verdict, .. } => *target == Target::All && *verdict == Verdict::Reject,
            _ => false,
        };
        let mut theirs = Theirs::new();
        if !takes_back || self.is_copy() || self.log.histories().is_empty() {
            return theirs;
        }
        for run in self.runs_beside() {
            let Ok(written) = recorded::written(&run.dir) else { continue };
            for (path, states) in self.below_here(&run, written) {
                let is_theirs = |step: &ChangeRecord| {
                    matches!(step.cause, Cause::Command | Cause::Unknown)
                        && Written::of(&step.after).is_some_and(|after| states.contains(&after))
                };
                if self.log.leave(&path, is_theirs) {
                    theirs.entry(path).or_insert_with(|| run.stem.clone());
                }
            }
        }
        theirs
    }

    /// Those that were open when this one was, in the same directory or in one around or below it.
    fn runs_beside(&self) -> Vec<Listed> {
        let (dir, root) = (self.dir(), self.files.snapshot.root());
        let (started, last) = (self.head().started, last_line(dir));
        let is_beside = |run: &Listed| {
            let cwd = run.head.as_ref().map(|head| head.cwd.as_path());
            let is_near = cwd.is_some_and(|cwd| real(cwd).starts_with(root) || root.starts_with(real(cwd)));
            is_near && run.dir != dir && run.started <= last && last_line(&run.dir) >= started
        };
        let home = dir.parent().unwrap_or(dir);
        archive::list(home).into_iter().filter(is_beside).take(MAX_RUNS).collect()
    }

    /// Paths of another run as this one names them.
    fn below_here(
        &self,
        run: &Listed,
        written: BTreeMap<PathBuf, HashSet<Written>>,
    ) -> Vec<(PathBuf, HashSet<Written>)> {
        let Some(cwd) = run.head.as_ref().map(|head| real(&head.cwd)) else { return Vec::new() };
        let root = self.files.snapshot.root();
        let here = |path: PathBuf| Some(cwd.join(path).strip_prefix(root).ok()?.to_owned());
        written.into_iter().filter_map(|(path, states)| Some((here(path)?, states))).collect()
    }
}

fn real(dir: &Path) -> PathBuf {
    dir.canonicalize().unwrap_or_else(|_| dir.to_owned())
}

/// When the ledger of a run was written last, in seconds since 1970.
fn last_line(dir: &Path) -> u64 {
    let written = dir.join(LEDGER).metadata().and_then(|meta| meta.modified()).ok();
    written.and_then(|at| at.duration_since(UNIX_EPOCH).ok()).map_or(0, |at| at.as_secs())
}

#[cfg(test)]
#[path = "theirs_tests.rs"]
mod tests;
