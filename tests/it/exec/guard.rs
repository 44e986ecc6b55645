//! The client is killed: what it had started ends all the same, and its session is one that was interrupted.
#![cfg(target_os = "linux")]

use super::support::{Lab, kill, wait_until};
use rustix::process::Signal;
use std::time::{Duration, Instant};

/// An agent that does not listen, with a child that does not either and one in a session of its own.
const STUBBORN: &str = "trap '' HUP TERM INT\n(trap '' HUP TERM; sleep 1000; sleep 1000) &\nsetsid sleep 1000 &\n";

fn lines(lab: &Lab, args: &[&str]) -> Vec<serde_json::Value> {
    let out = lab.program().args(args).output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn nothing_runs_on_after_the_client_was_killed_and_its_session_is_interrupted() {
    let lab = Lab::new();
    let script = lab.turn(r#"{ do = "say", text = "on it\n" }, { do = "hang", ignore_cancel = true }"#);
    let agent = lab.shell_agent(&format!("{STUBBORN}{}\nwhile :; do sleep 1000; done\n", script.join(" ")));
    let mut running = lab.start(&["x", "--json"], &agent);
    running.until_line("on it");
    let all = lines(&lab, &["ps", "--json"]);
    let own: Vec<_> = all.iter().filter(|one| one["client"] == running.pid).collect();
    assert!(own.len() >= 3 && own.iter().all(|one| one["left"] == false), "{all:?}");

    kill(running.pid, Signal::KILL);
    let killed = Instant::now();
    wait_until("nothing runs", || lab.left().is_empty());
    assert!(killed.elapsed() < Duration::from_secs(6), "{:?}", killed.elapsed());
    let out = lab.program().args(["sessions", "--json"]).output().unwrap();
    let listed: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(listed["sessions"][0]["state"], "interrupted", "{listed}");
    drop(running);
}
