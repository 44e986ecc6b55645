//! The processes of a terminal's session, and signals to all of them.
//!
//! A killed leader is not enough: shells with job control put children into groups of their own. What has moved
//! into another session (`setsid`) is not ours any more and is left alone. Invariant: a process id that may
//! belong to somebody else by now is never signalled.

use rustix::process::{Pid, Signal, kill_process_group};

#[cfg(any(target_os = "linux", target_os = "android"))]
use crate::host::process::table::processes;

/// Whether the process that the session began with still holds its id.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Leader {
    /// Running, or dead and not yet waited for.
    Held,
    /// Waited for: the id may be given to a stranger.
    Reaped,
}

/// Sends a signal to every process group of the session.
pub(super) fn signal_session(session: Pid, leader: Leader, foreground: Option<Pid>, signal: Signal) {
    for group in groups(session, leader, foreground) {
        let _ = kill_process_group(group, signal);
    }
}

/// The process groups of the session that have a living member.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn groups(session: Pid, leader: Leader, _foreground: Option<Pid>) -> Vec<Pid> {
    let mut groups = Vec::new();
    if leader == Leader::Held {
        groups.push(session);
    }
    for stat in processes() {
        if stat.session != session.as_raw_pid() {
            continue;
        }
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
pub(super) fn groups(session: Pid, leader: Leader, foreground: Option<Pid>) -> Vec<Pid> {
    if leader == Leader::Reaped {
        return Vec::new();
    }
    let mut groups = vec![session];
    groups.extend(foreground.filter(|group| *group != session));
    groups
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
        let (reaped, held) = (groups(session, Leader::Reaped, None), groups(session, Leader::Held, None));
        leader.kill().unwrap();
        leader.wait().unwrap();
        assert!(reaped.is_empty());
        assert_eq!(held, [session]);
    }
}
