//! What the worker is asked, in its order, and what of it is still to come.
//!
//! Knows nothing of the files. Invariants: nothing is lost and nothing overtakes anything; no more is held here than the
//! queue holds.

use super::super::{Asked, Job, QUEUE};
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvError, RecvTimeoutError, TryRecvError};
use std::time::Instant;

pub(super) struct Inbox<'a> {
    queue: &'a Receiver<Asked>,
    ahead: VecDeque<Asked>,
}

impl<'a> Inbox<'a> {
    pub const fn new(queue: &'a Receiver<Asked>) -> Self {
        Self { queue, ahead: VecDeque::new() }
    }

    /// What is there.
    pub fn next_now(&mut self) -> Result<Asked, TryRecvError> {
        self.fill();
        self.ahead.pop_front().map_or_else(|| self.queue.try_recv(), Ok)
    }

    /// What comes next, whenever it comes.
    pub fn next(&mut self) -> Result<Asked, RecvError> {
        self.next_now().or_else(|_| self.queue.recv())
    }

    /// The same, up to then.
    pub fn next_until(&mut self, at: Instant) -> Result<Asked, RecvTimeoutError> {
        self.next_now().or_else(|_| self.queue.recv_timeout(at.saturating_duration_since(Instant::now())))
    }

    /// Whether calls are still to be told of: what they have done is on the disk already.
    pub fn has_notes(&mut self) -> bool {
        self.fill();
        self.ahead.iter().any(|asked| matches!(asked.job, Job::Note(_) | Job::Started { .. }))
    }

    fn fill(&mut self) {
        let room = QUEUE.saturating_sub(self.ahead.len());
        self.ahead.extend(self.queue.try_iter().take(room));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::{ReqId, SessionKey};
    use std::sync::mpsc::sync_channel;

    #[test]
    fn everything_comes_in_its_order_and_what_is_still_to_come_is_known() {
        let (jobs, queue) = sync_channel(4);
        let ask = |at: u32, job| jobs.send(Asked::of(SessionKey(at), job)).unwrap();
        let started = || Job::Started { req: ReqId(7), note: None };
        ask(1, Job::Join);
        ask(2, started());
        let mut inbox = Inbox::new(&queue);
        assert!(inbox.has_notes());
        ask(3, Job::Join);
        let order = [inbox.next().unwrap(), inbox.next_until(Instant::now()).unwrap(), inbox.next_now().unwrap()];
        assert_eq!(order.map(|asked| asked.at), [1, 2, 3].map(SessionKey));
        assert!(!inbox.has_notes());
        ask(4, started());
        drop(jobs);
        assert!(inbox.has_notes(), "asked again each time");
        assert!(inbox.next().is_ok() && inbox.next().is_err());
    }
}
