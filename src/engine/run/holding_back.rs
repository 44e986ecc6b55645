//! What agents are held back for: texts on their way to the disk, writes that are not done or that no review has looked at
//! yet, and lines that the journal has not written.
//!
//! Counts only.

use super::Engine;
use crate::wire::pump::Room;

impl Engine {
    /// A batch of lines was applied, and what it takes of what may be under way is kept as long as there is much.
    pub(super) fn hold_back(&mut self, room: Option<Room>) {
        let Self { files, moving, reviews, recorder, rooms, .. } = self;
        if let Some(room) = room {
            rooms.keep(room, || files.bytes() + moving.bytes() + reviews.bytes(), || recorder.waiting());
        }
    }

    pub(super) fn let_on(&mut self) {
        let Self { files, moving, reviews, recorder, rooms, .. } = self;
        rooms.give_back(|| files.bytes() + moving.bytes() + reviews.bytes(), || recorder.waiting());
    }
}
