//! Bytes that an agent may not send yet, since too much of what it has sent is still being dealt with: texts on their way
//! to the disk, writes that wait, lines that the journal has not written.
//!
//! Counts nothing itself. Invariant: what is held back is let go of as soon as there is room, and after a while in any
//! case: a disk that hangs does not silence an agent for good.

use crate::wire::pump::Room;
use std::time::{Duration, Instant};

/// Bytes of texts and writes beyond which an agent is held back.
const MANY: usize = 8 << 20;
/// The same for lines on their way to the journal: of small ones, more than this are under way in any flood.
const MANY_LINES: usize = 24 << 20;
/// How long an agent is held back for them.
const PATIENCE: Duration = Duration::from_mins(1);
/// How often it is looked for room: the journal says nothing when it has written.
const LOOK: Duration = Duration::from_millis(10);

/// What lines take of the bytes that may be under way, for as long as what they have led to is.
#[derive(Debug, Default)]
pub(super) struct Rooms {
    kept: Vec<Room>,
    since: Option<Instant>,
}

impl Rooms {
    /// A batch of lines was applied. `texts` and `lines` say how many bytes wait.
    pub fn keep(&mut self, room: Room, texts: impl FnOnce() -> usize, lines: impl FnOnce() -> usize) {
        if is_much(texts, lines) {
            self.kept.push(room);
            self.since.get_or_insert_with(Instant::now);
        }
    }

    pub fn give_back(&mut self, texts: impl FnOnce() -> usize, lines: impl FnOnce() -> usize) {
        let Some(since) = self.since else { return };
        if since.elapsed() >= PATIENCE || !is_much(texts, lines) {
            self.kept.clear();
            self.since = None;
        }
    }

    /// When to look again, if anything is held back.
    pub fn deadline(&self) -> Option<Instant> {
        self.since.map(|_| Instant::now() + LOOK)
    }
}

fn is_much(texts: impl FnOnce() -> usize, lines: impl FnOnce() -> usize) -> bool {
    texts() > MANY || lines() > MANY_LINES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::duplex;
    use crate::wire::framing::Framing;
    use crate::wire::pump::{INBOX, Incoming, LARGE, spawn_reader};
    use tokio::sync::mpsc;

    #[tokio::test]
    async fn a_large_line_waits_for_what_the_one_before_has_led_to() {
        let (ours, mut theirs) = duplex::pair(1 << 16);
        let (tx, mut rx) = mpsc::channel(INBOX);
        spawn_reader(ours.reader, tx, &[], Framing::Lines);
        let sent = tokio::spawn(async move {
            for _ in 0..2 {
                theirs.send_line(&"x".repeat(2 * LARGE)).await.unwrap();
            }
            theirs
        });
        let mut rooms = Rooms::default();
        let Some(Incoming::Frames(first)) = rx.recv().await else { panic!("no line") };
        assert_eq!(rooms.deadline(), None);
        rooms.keep(first.room.unwrap(), || MANY + 1, || 0);
        rooms.give_back(|| 0, || MANY_LINES + 1);
        assert!(rooms.deadline().is_some() && !sent.is_finished(), "it is still held back");
        rooms.give_back(|| MANY, || MANY_LINES);
        assert_eq!(rooms.deadline(), None);
        let Some(Incoming::Frames(second)) = rx.recv().await else { panic!("no second line") };
        rooms.keep(second.room.unwrap(), || MANY, || MANY_LINES);
        assert_eq!(rooms.deadline(), None, "nothing is held back for little");
        sent.await.unwrap();
    }
}
