//! The program that has the person's terminal for a while, as the guard knows it.
//!
//! It stays in the client's group, in which a shell may have put others as well: it is known by its number and its start, and
//! what it has started by descending from it. Where the system does not tell, nothing is known. The client ends it in the same way
//! when it is asked to end itself. Invariant: no signal goes to
//! a process that is neither.

use super::family::Family;
use super::marked::{self, POLL, pause};
use rustix::process::Signal;
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lent {
    pub pid: i32,
    /// None of one that was gone when it was told of.
    pub started: Option<u64>,
}

impl Lent {
    pub fn of(pid: i32) -> Self {
        Self { pid, started: marked::started(pid) }
    }
}

/// How long they may take to end by themselves, and to be gone once they are killed.
pub(super) const GRACE: Duration = Duration::from_secs(2);
pub(super) const KILL_LIMIT: Duration = Duration::from_millis(800);

/// Ends a program that this one has lent the terminal, and all that it has started: asks first, and kills what does not listen.
/// To be called before it is told that the program has the terminal no longer.
pub fn end_borrower(program: u32) {
    let Ok(pid) = i32::try_from(program) else { return };
    let mut all = Borrowers::look(Some(Lent::of(pid)), GRACE + KILL_LIMIT);
    for (signal, limit) in [(Signal::TERM, GRACE), (Signal::KILL, KILL_LIMIT)] {
        all.limit = limit;
        all.signal(signal);
        all.wait();
    }
}

/// That program and all that it has started.
#[derive(Debug)]
pub struct Borrowers {
    program: Option<Lent>,
    all: Family,
    limit: Duration,
}

impl Borrowers {
    /// Those that there are, which are ended within so long.
    pub(super) fn look(program: Option<Lent>, limit: Duration) -> Self {
        let mut all = Self { program, all: Family::default(), limit };
        all.look_again();
        all
    }

    fn look_again(&mut self) {
        if let Some(Lent { pid, started: Some(started) }) = self.program {
            self.all.look_from(pid, started);
        }
    }

    pub(super) fn signal(&mut self, signal: Signal) {
        self.look_again();
        for one in self.all.alive() {
            one.signal(signal);
        }
    }

    pub(super) fn is_alive(&self) -> bool {
        !self.all.is_empty() && !self.all.alive().is_empty()
    }

    /// Waits until they have ended.
    pub fn wait(&self) {
        let until = Instant::now() + self.limit;
        while self.is_alive() {
            let Some(rest) = until.checked_duration_since(Instant::now()) else { break };
            pause(POLL.min(rest));
        }
    }
}
