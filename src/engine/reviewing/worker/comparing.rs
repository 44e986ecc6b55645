//! What agents say that they change, compared with the files as they are.
//!
//! Changes nothing. Invariant: what cannot be compared is shown as the agent told it.

use super::Worker;
use crate::model::changes::{ReviewEvent, WritePreview};
use crate::model::ids::{EntryId, ReqId, SessionKey};
use crate::review::protocol::ClaimedEdit;

impl Worker {
    /// Where in their files edits are, if any is found.
    pub(super) fn places(&mut self, at: SessionKey, entry: EntryId, claims: &[ClaimedEdit]) {
        let lines: Vec<_> = claims.iter().map(|claim| self.line_of(claim)).collect();
        if lines.iter().any(Option::is_some) {
            self.tell(at, ReviewEvent::PlacesFound { entry, lines });
        }
    }

    /// What an agent wants to change, as it would be on the disk.
    pub(super) fn previews(&mut self, req: ReqId, claims: &[ClaimedEdit]) -> Vec<WritePreview> {
        let held = self.review.preview_of_held(req);
        let held = self.trouble("preview", "the diff of a question could not be compared with the file", held);
        match held.flatten() {
            Some(preview) => vec![preview],
            None => claims.iter().map(|claim| self.preview(claim)).collect(),
        }
    }

    /// What cannot be compared is shown as the agent told it.
    fn preview(&mut self, claim: &ClaimedEdit) -> WritePreview {
        let path = self.real(&claim.path);
        let preview = self.review.preview(&path, claim.old.as_deref(), &claim.new);
        self.trouble("preview", "the diff of a question could not be compared with the file", preview)
            .unwrap_or_else(|| WritePreview { path, old: None, new: "".into(), differs: None })
    }

    /// Where a change stands that is only said to be done, it is not known either.
    fn line_of(&mut self, claim: &ClaimedEdit) -> Option<u32> {
        let path = self.real(&claim.path);
        self.review.line_of(&path, &claim.new).ok().flatten()
    }
}
