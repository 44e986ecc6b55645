//! The processes of a terminal's session, and signals to all of them.
//!
//! A killed leader is not enough: shells with job control put children into groups of their own. What has moved
//! into another session (`setsid`) is not ours any more and is left alone. Invariant: a process id that may
//! belong to another process by now is never signalled.

use rustix::process::{Pid, Signal, kill_process_group};

#[cfg(any(target_os = "linux", target_os = "android"))]
use crate::host::process::table::{Stat, processes};

/// Whether the process that the session began with still holds its id.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Leader {
    /// Running, or dead and not yet waited for.
    Held,
    /// Waited for: the id may be given to a stranger.
    Reaped,
}

/// The processes of the machine at one moment; one look serves many sessions.
pub(super) struct Processes {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    all: Vec<Stat>,
}

impl Processes {
    pub(super) fn look() -> Self {
        Self {
            #[cfg(any(target_os = "linux", target_os = "android"))]
            all: processes(),
        }
    }

    /// Sends a signal to every process group of the session, but to the leader's only if that has not had it: programs take
    /// a second one as impatience.
    pub(super) fn signal(&self, session: Pid, leader: Leader, foreground: Option<Pid>, signal: Signal, had: bool) {
        let groups = self.groups(session, leader, foreground).into_iter();
        for group in groups.filter(|group| !had || *group != session) {
            let _ = kill_process_group(group, signal);
        }
    }

    /// The process groups of the session that have a living member.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn groups(&self, session: Pid, leader: Leader, _foreground: Option<Pid>) -> Vec<Pid> {
        let mut groups = Vec::new();
        if leader == Leader::Held {
            groups.push(session);
        }
        for stat in self.all.iter().filter(|stat| stat.session == session.as_raw_pid()) {
            // The id of a reaped leader names a process again: this session is a stranger's.
            if leader == Leader::Reaped && stat.pid == stat.session {
                return Vec::new();
            }
            if stat.is_dead() {
                continue;
            }
            if let Some(group) = Pid::from_raw(stat.group)
                && !groups.contains(&group)
            {
                groups.push(group);
            }
        }
        groups
    }

    /// Without a process table to read, the leader's group and the one in the foreground are known.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn groups(&self, session: Pid, leader: Leader, foreground: Option<Pid>) -> Vec<Pid> {
        if leader == Leader::Reaped {
            return Vec::new();
        }
        let mut groups = vec![session];
        groups.extend(foreground.filter(|group| *group != session));
        groups
    }
}

/// Sends a signal to the group that the session began with. False: its leader has been waited for, so it has not had it.
pub(super) fn signal_leader(session: Pid, leader: Leader, signal: Signal) -> bool {
    let is_held = leader == Leader::Held;
    if is_held {
        let _ = kill_process_group(session, signal);
    }
    is_held
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::host::process::table;

    #[test]
    fn a_reaped_leader_whose_id_lives_is_a_stranger() {
        // A session of its own: the one of this test may lie outside the container's process numbers.
        let mut leader = std::process::Command::new("setsid").args(["sleep", "60"]).spawn().unwrap();
        let session = Pid::from_child(&leader);
        let is_leader = || table::read(session.as_raw_pid()).is_some_and(|stat| stat.session == session.as_raw_pid());
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while !is_leader() {
            assert!(std::time::Instant::now() < deadline, "setsid did not happen");
            std::thread::yield_now();
        }
        let now = Processes::look();
        let (reaped, held) = (now.groups(session, Leader::Reaped, None), now.groups(session, Leader::Held, None));
        leader.kill().unwrap();
        leader.wait().unwrap();
        assert!(reaped.is_empty());
        assert_eq!(held, [session]);
    }
}
