//! What could not be looked at when it should have been, for want of room: the beginning of a review, the end of a turn.
//!
//! Invariants: what was changed meanwhile is not taken for what was there before; it is tried again until there is room, and
//! what fails again is not told again.

use super::Worker;
use crate::engine::reviewing::Job;
use crate::engine::reviewing::rested;
use crate::engine::reviewing::waiting::{TRY_AGAIN, Waited, lacks_room};
use crate::model::changes::ReviewEvent;
use crate::model::ids::{SessionKey, TurnId};
use crate::review::error::ReviewError;
use std::time::Instant;

/// Turns that are over and could not be looked at, each with its session, and when it is tried again.
#[derive(Default)]
pub(super) struct Unseen {
    turns: Vec<(SessionKey, TurnId)>,
    pub due: Option<Instant>,
}

impl Unseen {
    pub fn has(&self, turn: TurnId) -> bool {
        self.turns.iter().any(|(_, unseen)| *unseen == turn)
    }
}

impl Worker {
    /// Looks at the files and says that it has begun.
    pub(in crate::engine::reviewing) fn begin_late(&mut self, first: SessionKey, waited: Waited) {
        let Waited { members, is_alone, since } = waited;
        (self.members, self.waited_since) = (members, Some(since));
        if is_alone {
            self.review.alone();
        }
        self.carry_out(first, Job::Look { alone: None });
        self.tell(first, ReviewEvent::ReviewBegun);
    }

    /// These turns had begun by then.
    pub(super) fn missed(&mut self, turns: &[TurnId], running: &[TurnId]) {
        let Some(since) = self.waited_since.take() else { return };
        let numbers = |turns: &[TurnId]| turns.iter().map(|turn| turn.0).collect::<Vec<_>>();
        let noted = self.review.had_turns(&numbers(turns), &numbers(running), since);
        self.trouble("missed", "the review could not take note of what was changed before it", noted);
        self.now();
    }

    /// The end of a turn could not be looked at.
    pub(super) fn not_seen(&mut self, at: SessionKey, turn: TurnId, error: &ReviewError) {
        if lacks_room(error) {
            if !self.unseen.has(turn) {
                self.unseen.turns.push((at, turn));
            }
            self.unseen.due = Some(Instant::now() + TRY_AGAIN);
        }
    }

    /// Tries it again.
    pub(super) fn look_at_unseen(&mut self) {
        let began = Instant::now();
        match self.review.look_late() {
            Ok(_) => self.seen_late(),
            Err(error) if lacks_room(&error) => self.unseen.due = Some(rested(began, Instant::now()) + TRY_AGAIN),
            Err(_) => self.unseen = Unseen::default(),
        }
    }

    /// Everything has been looked at: what the turns have changed is known.
    pub(super) fn seen_late(&mut self) {
        let Unseen { turns, .. } = std::mem::take(&mut self.unseen);
        if turns.is_empty() {
            return;
        }
        let (session, after) = self.sums();
        for (at, turn) in turns {
            if self.open.get(&at) == Some(&turn) {
                self.open.remove(&at);
            }
            let left = self.review.leave_turn(turn.0);
            self.trouble("turn", "the end of a turn could not be noted", left);
            if let Ok(totals) = self.review.turn_totals(turn.0) {
                self.tell(at, ReviewEvent::TurnReviewed { turn, totals, session, after });
            }
        }
        self.now();
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::engine::fact::{Fact, Facts};
    use crate::engine::reviewing::Asked;
    use crate::engine::reviewing::tests::{Place, place};
    use crate::host::fs::Roots;
    use crate::model::changes::Scope;
    use crate::model::event::HostEvent;
    use crate::review::protocol::SessionInfo;
    use crate::review::session::ReviewSession;
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc::sync_channel;
    use std::sync::{Arc, Mutex};
    use tokio::sync::{Notify, mpsc};

    const AT: SessionKey = SessionKey::FIRST;

    pub fn worker(place: &Place) -> (Worker, mpsc::Receiver<Fact>) {
        let head = SessionInfo {
            stem: "s".into(),
            cwd: place.root.clone(),
            command: "agent".into(),
            started: 0,
            private: Vec::new(),
            directories: Vec::new(),
        };
        let review = ReviewSession::create(&place.home, head).unwrap();
        let (facts, told) = mpsc::channel(64);
        let (roots, asker) = (Arc::new(Roots::new(vec![place.root.clone()])), Arc::new(Mutex::new(AT)));
        let shown = (Arc::default(), Arc::default());
        (Worker::new(review, roots, (AT, asker), Facts(facts), shown, Arc::new(Notify::new())), told)
    }

    /// Does what is asked, and ends.
    pub fn works(worker: &mut Worker, jobs: Vec<Job>) {
        let (queue, asked) = sync_channel(jobs.len() + 1);
        for job in jobs {
            queue.try_send(Asked::of(AT, job)).unwrap();
        }
        drop(queue);
        worker.work(&asked, &AtomicBool::new(false));
    }

    fn changed(worker: &mut Worker) -> Vec<(String, Vec<u64>)> {
        let changed = worker.review.changed(Scope::Session).unwrap();
        changed.into_iter().map(|one| (one.path.display().to_string(), one.turns)).collect()
    }

    #[test]
    fn what_was_changed_in_turns_that_were_had_while_it_waited_is_not_what_was_there_before() {
        let place = place();
        let (mut worker, _told) = worker(&place);
        let since = Instant::now();
        std::fs::write(place.root.join("a"), "agent\n").unwrap();
        worker.begin_late(AT, Waited { members: [AT].into(), is_alone: false, since });
        works(&mut worker, vec![Job::Missed { turns: vec![TurnId(1)], running: Vec::new() }]);
        assert_eq!(changed(&mut worker), [("a".to_owned(), vec![1])]);
        // Where no turn was had it was there before.
        let place = super::tests::place();
        let (mut worker, _told) = super::tests::worker(&place);
        std::fs::write(place.root.join("a"), "mine\n").unwrap();
        worker.begin_late(AT, Waited { members: [AT].into(), is_alone: false, since });
        works(&mut worker, vec![Job::Missed { turns: Vec::new(), running: Vec::new() }]);
        assert_eq!(changed(&mut worker), []);
    }

    #[test]
    fn the_end_of_a_turn_that_had_no_room_is_looked_at_later_and_told() {
        let place = place();
        let (mut worker, mut told) = worker(&place);
        worker.review.first_look().unwrap();
        worker.begin(AT, TurnId(1));
        std::fs::write(place.root.join("a"), "agent\n").unwrap();
        let full = ReviewError::io("x".as_ref(), std::io::ErrorKind::StorageFull);
        worker.not_seen(AT, TurnId(1), &full);
        worker.not_seen(AT, TurnId(1), &full);
        works(&mut worker, Vec::new());
        let mut reviewed = 0;
        while let Ok(fact) = told.try_recv() {
            if let Fact::Host(_, HostEvent::Review(ReviewEvent::TurnReviewed { turn, totals, .. })) = fact {
                assert_eq!((turn, totals.files), (TurnId(1), 1));
                reviewed += 1;
            }
        }
        assert_eq!((reviewed, worker.unseen.due, worker.open.len()), (1, None, 0));
    }
}
