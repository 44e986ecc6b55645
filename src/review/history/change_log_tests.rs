//! What holds of every change log after any history.

use super::*;

impl ChangeLog {
    /// Of a log whose ledger is whole.
    pub fn verify_invariants(&self, files: &Contents) {
        assert_eq!(self.ledger.damage(), None);
        assert!(self.batch.is_none(), "steps were left behind");
        assert!(self.early.is_subset(&self.turns) && self.told.is_subset(&self.turns));
        for (path, history) in &self.histories {
            let FileHistory { steps, accepted, .. } = history;
            let shown = path.display();
            assert!(path.is_relative() && !files.snapshot.hides(path), "{shown} is not for the review");
            assert!(!steps.is_empty(), "{shown}: a history of nothing");
            for step in steps {
                self.verify_step(path, step);
            }
            for pair in steps.windows(2) {
                assert_eq!(pair[0].after, pair[1].before, "{shown}: something happened between two steps");
            }
            // The person's files are no business of ours before the agent has been there.
            let first = &steps[0];
            let is_merge = first.cause == Cause::Merge;
            assert!(
                first.is_shown() || first.after.is_absent() || is_merge,
                "{shown}: begins with the person's {first:?}"
            );
            for state in steps.iter().flat_map(|step| [&step.before, &step.after]).chain([accepted]) {
                assert_eq!(files.snapshot.objects.as_kept(state), *state, "{shown}: named, and in no store");
            }
        }
        self.undo_log.verify_invariants(|path| self.histories.contains_key(path));
    }

    /// Each change is put down to exactly one.
    fn verify_step(&self, path: &Path, step: &ChangeRecord) {
        assert_ne!(step.before, step.after, "{}: nothing happened", path.display());
        assert!(self.turns.contains(&step.turn) || step.turn == 0, "{step:?} is of no turn");
        assert!(!step.doubt || step.cause == Cause::Unknown, "{step:?} is explained, and in doubt");
        let by_hand = step.cause.is_persons();
        assert_eq!(step.decided && !by_hand, step.cause == Cause::Review, "{step:?}");
        let is_named = matches!(step.cause, Cause::Tool | Cause::Command | Cause::Write | Cause::Merge);
        assert!(step.entry.is_none() || is_named, "{step:?} is of a call, and of nobody's");
    }
}
