//! One lane for the output of all terminals: a reader waits for its turn to have its bytes emulated.
//!
//! Knows no terminal. While one waits nothing more is read from it, so its command blocks: many that flood cost as much
//! as one, and no other work waits behind a crowd of threads. Invariants: turns are given in the order in which they
//! were asked for; after `close` there are none.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::mpsc::{SyncSender, sync_channel};

use crate::host::lock;

#[derive(Default)]
struct State {
    taken: bool,
    closed: bool,
    /// At most one a terminal.
    waiting: VecDeque<SyncSender<()>>,
}

#[derive(Default)]
pub(super) struct Lane(Mutex<State>);

/// It ends when it is dropped.
pub(super) struct Turn<'a>(&'a Lane);

impl Lane {
    /// Waits for a turn. Nothing when the lane is closed.
    pub(super) fn enter(&self) -> Option<Turn<'_>> {
        let mut state = lock(&self.0);
        if state.closed {
            return None;
        }
        if std::mem::replace(&mut state.taken, true) {
            let (ready, turn) = sync_channel(1);
            state.waiting.push_back(ready);
            drop(state);
            turn.recv().ok()?;
        }
        Some(Turn(self))
    }

    /// No output is wanted any more.
    pub(super) fn close(&self) {
        let mut state = lock(&self.0);
        state.closed = true;
        state.waiting.clear();
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.0.0);
        state.taken = loop {
            match state.waiting.pop_front() {
                Some(next) if next.try_send(()).is_ok() => break true,
                Some(_) => {}
                None => break false,
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::mpsc::channel;

    fn waiting(lane: &Lane) -> usize {
        lock(&lane.0).waiting.len()
    }

    #[test]
    fn turns_are_given_one_at_a_time_in_the_order_in_which_they_were_asked_for() {
        let lane = Arc::new(Lane::default());
        let first = lane.enter().unwrap();
        let (tell, told) = channel();
        let threads: Vec<_> = (0..3)
            .map(|n| {
                let (theirs, tell) = (Arc::clone(&lane), tell.clone());
                let thread = std::thread::spawn(move || {
                    let _turn = theirs.enter().unwrap();
                    assert!(lock(&theirs.0).taken);
                    tell.send(n).unwrap();
                });
                while waiting(&lane) <= n {
                    std::thread::yield_now();
                }
                thread
            })
            .collect();
        assert!(told.try_recv().is_err());
        drop(first);
        assert_eq!((0..3).map(|_| told.recv().unwrap()).collect::<Vec<_>>(), [0, 1, 2]);
        for thread in threads {
            thread.join().unwrap();
        }
        assert!(lane.enter().is_some(), "it is free again");
    }

    #[test]
    fn a_closed_lane_sends_home_whoever_waits() {
        let lane = Arc::new(Lane::default());
        let first = lane.enter();
        let theirs = Arc::clone(&lane);
        let thread = std::thread::spawn(move || theirs.enter().is_none());
        while waiting(&lane) == 0 {
            std::thread::yield_now();
        }
        lane.close();
        assert!(thread.join().unwrap());
        drop(first);
        assert!(lane.enter().is_none());
    }
}
