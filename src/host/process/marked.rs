//! The processes that runs of this program have started, found by the mark that they carry.
//!
//! Where the system does not tell, there are none. Invariant: a signal goes only to the process that was found, never to
//! another one that has got its number.

use super::family::{AGENT_MARK, RUN_MARK};
use rustix::event::{Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use std::time::{Duration, Instant};

/// How long processes may take to end by themselves, and to be gone once they are killed.
const GRACE: Duration = Duration::from_secs(2);
pub(super) const POLL: Duration = Duration::from_millis(40);
/// How often it is looked for what those that ended have begun.
const ROUNDS: usize = 3;

/// A process that carries the mark of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    pub pid: i32,
    pub command: String,
    /// The process that the run is of.
    pub client: i32,
    /// That process is there no more.
    pub is_left: bool,
    started: u64,
}

impl Marked {
    pub fn is_alive(&self) -> bool {
        here::is_alive(self)
    }

    pub(super) fn signal(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid).filter(|_| self.is_alive()) {
            // It may end between the look and the signal, which is what was wanted.
            let _ = kill_process(pid, signal);
        }
    }
}

/// Those of every run of this user, in the order of their numbers.
pub fn marked() -> Vec<Marked> {
    here::marked(RUN_MARK, None)
}

/// Those of one run, by the value of its mark.
pub(super) fn of_run(mark: &str) -> Vec<Marked> {
    if mark.is_empty() { Vec::new() } else { here::marked(RUN_MARK, Some(mark)) }
}

/// Ends those of one agent, by the value of its mark, and what they have begun meanwhile. Those that have ended so.
pub(super) fn end_of_agent(mark: &str) -> Vec<Marked> {
    let mut ended = Vec::new();
    for _ in 0..ROUNDS {
        let all = here::marked(AGENT_MARK, Some(mark));
        let left = end_marked(all.clone());
        let is_over = all.is_empty() || !left.is_empty();
        ended.extend(all.into_iter().filter(|one| !left.contains(one)));
        if is_over {
            break;
        }
    }
    ended
}

/// Asks these to end, and kills those that have not within two seconds. Those that are still there.
pub fn end_marked(mut all: Vec<Marked>) -> Vec<Marked> {
    for signal in [Signal::TERM, Signal::KILL] {
        let until = Instant::now() + GRACE;
        for one in &all {
            one.signal(signal);
        }
        while let Some(rest) = until.checked_duration_since(Instant::now()) {
            all.retain(Marked::is_alive);
            if all.is_empty() {
                return all;
            }
            pause(POLL.min(rest));
        }
    }
    all
}

pub(super) fn pause(time: Duration) {
    let time = Timespec { tv_sec: 0, tv_nsec: time.subsec_nanos().into() };
    // A signal shortens it.
    let _ = poll(&mut [], Some(&time));
}

pub(super) use here::started;

#[cfg(any(target_os = "linux", target_os = "android"))]
mod here {
    use super::super::family::{command, is_guard, variable_of};
    use super::super::table::{self, processes};
    use super::Marked;

    /// Those that carry a mark of this name, with this value where one is wanted.
    pub fn marked(name: &str, wanted: Option<&str>) -> Vec<Marked> {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        // None that was there before its run is of it.
        let begin = wanted.and_then(of_mark).map_or(0, |(_, started)| started);
        let mut all: Vec<Marked> = processes()
            .iter()
            .filter(|stat| stat.pid != own && stat.started >= begin && !stat.is_dead() && !is_guard(stat))
            .filter_map(|stat| {
                let mark = variable_of(stat.pid, name)?;
                let (client, began) = of_mark(&mark).filter(|_| wanted.is_none_or(|wanted| wanted == mark))?;
                let is_left = table::read(client).is_none_or(|now| now.started != began || now.is_dead());
                Some(Marked { pid: stat.pid, command: command(stat), client, is_left, started: stat.started })
            })
            .collect();
        all.sort_by_key(|one| one.pid);
        all
    }

    /// The client that a mark is of, by its number and when it was started.
    fn of_mark(mark: &str) -> Option<(i32, u64)> {
        let mut parts = mark.split('-');
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    }

    pub fn is_alive(one: &Marked) -> bool {
        table::read(one.pid).is_some_and(|stat| stat.started == one.started && !stat.is_dead())
    }

    pub fn started(pid: i32) -> Option<u64> {
        table::read(pid).map(|stat| stat.started)
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod here {
    use super::Marked;

    pub fn marked(_name: &str, _wanted: Option<&str>) -> Vec<Marked> {
        Vec::new()
    }

    pub fn is_alive(_one: &Marked) -> bool {
        false
    }

    pub fn started(_pid: i32) -> Option<u64> {
        None
    }
}
