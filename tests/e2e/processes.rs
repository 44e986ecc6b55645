//! What `/proc` knows: which processes a test started, and how often they woke up.

use std::path::Path;
use std::time::{Duration, Instant};

/// Command lines of the processes whose environment contains `mark`.
pub fn marked(mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let pid = entry.file_name().to_string_lossy().into_owned();
        if !pid.bytes().all(|b| b.is_ascii_digit()) {
            continue;
        }
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        if super::session::find(&environment, mark.as_bytes()).is_some() {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push(format!("{pid} {}", String::from_utf8_lossy(&line).replace('\0', " ")));
        }
    }
    found
}

/// The processes, zombies too, that watch over this one.
pub fn guards(client: u32) -> Vec<i32> {
    having(client, |name| name == "acp-guard")
}

/// The processes, zombies too, that this one has started.
pub fn children(parent: u32) -> Vec<i32> {
    having(parent, |_| true)
}

fn having(parent: u32, is_name: impl Fn(&str) -> bool) -> Vec<i32> {
    let numbers = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_one = |pid: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let parts = stat.split_once('(').and_then(|(_, rest)| rest.rsplit_once(')'));
        parts.is_some_and(|(name, rest)| is_name(name) && rest.split_whitespace().nth(1) == Some(&parent.to_string()))
    };
    numbers.filter(is_one).collect()
}

/// Looks again and again, as nobody tells when a process of others comes or goes.
#[track_caller]
pub fn wait_until(mark: &str, done: impl Fn(&[String]) -> bool) {
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        let all = marked(mark);
        if done(&all) {
            return;
        }
        assert!(Instant::now() < until, "{all:?}");
        std::thread::yield_now();
    }
}

/// How often all threads of a process have gone to sleep and been woken.
pub fn wakeups(pid: u32) -> u64 {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let of = |task: &Path| -> u64 {
        let status = std::fs::read_to_string(task.join("status")).unwrap_or_default();
        let line = status.lines().find_map(|l| l.strip_prefix("voluntary_ctxt_switches:"));
        line.and_then(|n| n.trim().parse().ok()).unwrap_or(0)
    };
    tasks.flatten().map(|task| of(&task.path())).sum()
}
