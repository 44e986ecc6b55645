//! What agents say that they change, compared with the files as they are.
//!
//! Changes nothing. Invariant: what cannot be compared is shown as the agent told it.

use super::Worker;
use crate::model::changes::{ReviewEvent, WritePreview};
use crate::model::ids::{EntryId, ReqId, SessionKey};
use crate::review::protocol::ClaimedEdit;

/// Bytes of texts that the comparisons of one question may have, together.
const MAX_COMPARED: usize = 8 << 20;

fn size(preview: &WritePreview) -> usize {
    preview.new.len() + preview.old.as_ref().map_or(0, |old| old.len())
}

impl Worker {
    /// Where in their files edits are, if any is found.
    pub(super) fn places(&mut self, at: SessionKey, entry: EntryId, claims: &[ClaimedEdit]) {
        let lines: Vec<_> = claims.iter().map(|claim| self.line_of(claim)).collect();
        if lines.iter().any(Option::is_some) {
            self.tell(at, ReviewEvent::PlacesFound { entry, lines });
        }
    }

    /// What an agent wants to change, as it would be on the disk. Each has the texts of a whole file: what comes when there
    /// are too many bytes is not compared.
    pub(super) fn previews(&mut self, req: ReqId, claims: &[ClaimedEdit], is_too_much: bool) -> Vec<WritePreview> {
        let mut room = if is_too_much { 0 } else { MAX_COMPARED };
        let held = self.review.preview_of_held(req);
        let held = self.trouble("preview", "the diff of a question could not be compared with the file", held);
        match held.flatten() {
            Some(preview) => vec![preview],
            None => claims.iter().map(|claim| self.preview(claim, &mut room)).collect(),
        }
    }

    /// What cannot be compared is shown as the agent told it.
    fn preview(&mut self, claim: &ClaimedEdit, room: &mut usize) -> WritePreview {
        let path = self.real(&claim.path);
        let compared = (*room > 0).then(|| self.review.preview(&path, claim.old.as_deref(), &claim.new));
        let preview = compared.and_then(|compared| {
            self.trouble("preview", "the diff of a question could not be compared with the file", compared)
        });
        *room = room.saturating_sub(preview.as_ref().map_or(0, size));
        preview.unwrap_or_else(|| WritePreview { path, old: None, new: "".into(), differs: None })
    }

    /// Where a change stands that is only said to be done, it is not known either.
    fn line_of(&mut self, claim: &ClaimedEdit) -> Option<u32> {
        let path = self.real(&claim.path);
        self.review.line_of(&path, &claim.new).ok().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::super::late::tests::{worker, works};
    use super::*;
    use crate::engine::fact::Fact;
    use crate::engine::reviewing::Job;
    use crate::engine::reviewing::tests::place;
    use crate::model::event::HostEvent;

    #[test]
    fn what_of_a_question_is_compared_with_the_disk_is_bounded_and_each_of_its_changes_is_answered() {
        let place = place();
        let file = "line\n".repeat(1 << 18);
        std::fs::write(place.root.join("f"), format!("{file}a\n")).unwrap();
        let (mut worker, mut told) = worker(&place);
        let claim = ClaimedEdit { path: place.root.join("f"), old: Some("a\n".into()), new: "b\n".into() };
        for is_too_much in [false, true] {
            let claims = vec![claim.clone(); 30];
            works(&mut worker, vec![Job::Preview { req: ReqId(1), asked: 1, claims, is_too_much }]);
            let mut answered = None;
            while let Ok(Fact::Host(_, event)) = told.try_recv() {
                if let HostEvent::Review(ReviewEvent::Previews { previews, .. }) = event {
                    answered = Some(previews);
                }
            }
            let previews = answered.unwrap();
            let texts = previews.iter().map(|one| one.new.len() + one.old.as_ref().map_or(0, |old| old.len()));
            let bytes: usize = texts.sum();
            let bound = if is_too_much { 0..=0 } else { 8 << 20..=12 << 20 };
            assert!(bound.contains(&bytes) && previews.len() == 30, "{bytes} of {}", previews.len());
            assert!(previews.iter().all(|one| one.differs.is_none()));
        }
    }
}
