//! The beginning of a review for which there was no room at first.
//!
//! Invariant: what has happened by then is what was there before.

use super::Worker;
use crate::engine::reviewing::Job;
use crate::engine::reviewing::waiting::Waited;
use crate::model::changes::ReviewEvent;
use crate::model::ids::SessionKey;

impl Worker {
    /// Looks at the files and says that it has begun.
    pub(in crate::engine::reviewing) fn begin_late(&mut self, first: SessionKey, Waited { members, is_alone }: Waited) {
        self.members = members;
        if is_alone {
            self.review.alone();
        }
        self.carry_out(first, Job::Look { alone: None });
        self.tell(first, ReviewEvent::ReviewBegun);
    }
}
