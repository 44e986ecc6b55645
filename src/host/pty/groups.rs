//! The processes of a terminal's session, and signals to all of them.
//!
//! A killed leader is not enough: shells with job control put children into groups of their own. What has moved
//! into another session (`setsid`) is not ours any more and is left alone. Invariant: a process id that may
//! belong to somebody else by now is never signalled.

use rustix::process::{Pid, Signal, kill_process_group};

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
    let Ok(entries) = std::fs::read_dir("/proc") else { return groups };
    for entry in entries.filter_map(Result::ok) {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        let Ok(stat) = std::fs::read(entry.path().join("stat")) else { continue };
        let Some((state, group, sid)) = parse_stat(&stat) else { continue };
        if sid != session.as_raw_pid() {
            continue;
        }
        // The id of a reaped leader names a process again: this session is a stranger's.
        if leader == Leader::Reaped && pid == sid {
            return Vec::new();
        }
        if state == b'Z' || state == b'X' {
            continue;
        }
        if let Some(group) = Pid::from_raw(group)
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

/// State, process group and session of a line of `/proc/PID/stat`; the name may hold anything, also `)`.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn parse_stat(stat: &[u8]) -> Option<(u8, i32, i32)> {
    let after = stat.iter().rposition(|&b| b == b')')? + 1;
    let rest = std::str::from_utf8(stat.get(after..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    let group = fields.nth(1)?.parse().ok()?;
    let session = fields.next()?.parse().ok()?;
    Some((state, group, session))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_confuse() {
        assert_eq!(parse_stat(b"12 (a) R 1 2 3) S 1 77 88 0 -1"), Some((b'S', 77, 88)));
        assert_eq!(parse_stat(b"12 (x"), None);
        assert_eq!(parse_stat(b""), None);
    }

    #[test]
    fn a_reaped_leader_whose_id_lives_is_a_stranger() {
        // A session of its own: the one of this test may lie outside the container's process numbers.
        let mut leader = std::process::Command::new("setsid").args(["sleep", "60"]).spawn().unwrap();
        let session = Pid::from_child(&leader);
        let is_leader = || {
            let stat = std::fs::read(format!("/proc/{}/stat", leader.id())).unwrap_or_default();
            parse_stat(&stat).is_some_and(|(_, _, sid)| sid == session.as_raw_pid())
        };
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
