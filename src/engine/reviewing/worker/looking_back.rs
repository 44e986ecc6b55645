//! What was before this run: what earlier runs of its sessions have left to decide, and how many turns they had.
//!
//! Decides nothing. Reading that takes its time: what this run has is to be shown first.

use crate::engine::counting::turns_before;
use crate::model::changes::{LeftRun, ReviewEvent};
use crate::review::session::{ReviewSession, earlier_runs};

/// As of when a session went on, or the person began to look.
#[derive(Default)]
pub(super) struct LeftBefore {
    pub runs: Vec<LeftRun>,
    /// It is to be looked at again.
    pub is_asked: bool,
}

impl LeftBefore {
    /// Whether turns are counted otherwise now, and whether something else is left than before.
    pub fn look(&mut self, review: &mut ReviewSession) -> (bool, bool) {
        let counted = review.count_on(turns_before(review.dir(), review.sessions()));
        let runs = review.dir().parent().map(|home| earlier_runs(home, review.dir(), None)).unwrap_or_default();
        let runs: Vec<LeftRun> = runs.into_iter().map(|run| run.run).collect();
        let is_new = runs != self.runs;
        self.runs = runs;
        (counted, is_new)
    }

    pub fn event(&self) -> ReviewEvent {
        let left = self.runs.iter().filter_map(|run| run.left.as_ref().ok());
        ReviewEvent::LeftBefore(left.map(|left| left.pending).sum())
    }
}
