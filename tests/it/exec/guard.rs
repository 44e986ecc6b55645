//! The client is killed: what it had started ends all the same, and its session is one that was interrupted.
#![cfg(target_os = "linux")]

use super::support::{Lab, Running, is_alive, kill, wait_until, words};
use rustix::process::Signal;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::Ordering;
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

#[test]
fn who_listens_is_asked_to_end_and_gone_within_three_seconds() {
    let lab = Lab::new();
    let script = lab.turn(ENDLESS).join(" ");
    let asked = lab.path("asked");
    // It stays when its input ends, as the agent in it does not.
    let trap = format!("trap 'echo asked > {}; exit' TERM\nexec 3<&0\n{script} <&3 &\n", asked.display());
    let trap = trap + "wait\nwhile :; do sleep 1000 & wait; done\n";
    let mut running = lab.start(&["x", "--json"], &lab.shell_agent(&trap));
    running.until_line("on it");
    kill(running.pid, Signal::KILL);
    let killed = Instant::now();
    wait_until("nothing runs", || lab.left().is_empty());
    assert!(killed.elapsed() < Duration::from_secs(3), "{:?}", killed.elapsed());
    assert_eq!(std::fs::read_to_string(asked).unwrap(), "asked\n", "it was not killed at once");
    drop(running);
}

/// A turn that does not end.
const ENDLESS: &str = r#"{ do = "say", text = "on it\n" }, { do = "hang", ignore_cancel = true }"#;

/// The child of the client that calls itself so.
fn guard_of(client: i32) -> i32 {
    let mut found = None;
    wait_until("there is a guard", || {
        found = find_guard(client);
        found.is_some()
    });
    found.unwrap()
}

fn find_guard(client: i32) -> Option<i32> {
    let of = |pid: i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
        let parent: i32 = rest.split_whitespace().nth(1)?.parse().ok()?;
        (name == "acp-guard" && parent == client).then_some(pid)
    };
    let all = std::fs::read_dir("/proc").unwrap();
    let mut numbers = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    numbers.find_map(of)
}

/// As `pkill -f` of an agent does it: the guard has the command line of the client.
#[test]
fn scenario_36_who_ends_everything_by_the_clients_name_leaves_nothing() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let lab = Lab::new();
        let script = lab.turn(ENDLESS);
        let agent = lab.shell_agent(&format!("{STUBBORN}{}\nwhile :; do sleep 1000; done\n", script.join(" ")));
        let mut running = lab.start(&["x", "--json"], &agent);
        running.until_line("on it");
        kill(guard_of(running.pid), signal);
        kill(running.pid, Signal::KILL);
        wait_until("nothing runs", || lab.left().is_empty());
        drop(running);
    }
}

#[test]
fn the_guard_shares_its_memory_with_the_client() {
    let lab = Lab::new();
    let mut running = lab.start(&["x", "--json"], &lab.turn(ENDLESS));
    running.until_line("on it");
    let memory = std::fs::read_to_string(format!("/proc/{}/smaps_rollup", guard_of(running.pid))).unwrap();
    let line = memory.lines().find_map(|line| line.strip_prefix("Private_Dirty:")).unwrap();
    let own: u32 = line.trim().trim_end_matches(" kB").parse().unwrap();
    // A program that is started anew writes that much before it does anything.
    assert!((1..=512).contains(&own), "{own} kB");
}

#[test]
fn the_guard_of_a_client_that_an_agent_runs_is_none_of_the_agents_processes() {
    let lab = Lab::new();
    let mut command = lab.exec_command(&["x", "--json"], &lab.turn(ENDLESS));
    command.env("ACP_TUI_RUN", "1-1");
    let mut running = Running::start(command, Stdio::null());
    running.until_line("on it");
    assert!(guard_of(running.pid) > 1);
    let all = lines(&lab, &["ps", "--json"]);
    let outer: Vec<_> = all.iter().filter(|one| one["client"] == 1).map(|one| one["pid"].as_i64()).collect();
    assert_eq!(outer, [Some(i64::from(running.pid))], "{all:?}");
}

/// Until another one has taken its place and knows what it knew: then the first one is no zombie any more.
fn another_than(first: i32, client: i32) -> i32 {
    wait_until("another guard", || !Path::new(&format!("/proc/{first}")).exists());
    guard_of(client)
}

#[test]
fn another_guard_takes_the_place_of_one_that_was_ended_and_knows_what_runs() {
    let lab = Lab::new();
    let script = lab.turn(ENDLESS).join(" ");
    // Without the mark of the run only its group is known.
    let listens = "trap '' HUP TERM INT\nsleep 1000 &\n";
    let agent = lab.shell_agent(&format!("{listens}{script}\nwhile :; do sleep 1000; done\n"));
    let agent = [words("env -u ACP_TUI_RUN"), agent].concat();
    let mut running = lab.start(&["x", "--json"], &agent);
    running.until_line("on it");
    let first = guard_of(running.pid);
    kill(first, Signal::KILL);
    let second = another_than(first, running.pid);
    kill(second, Signal::KILL);
    assert_ne!(another_than(second, running.pid), second);

    kill(running.pid, Signal::KILL);
    wait_until("nothing runs", || lab.left().is_empty());
    let out = lab.program().args(["sessions", "--json"]).output().unwrap();
    let listed: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(listed["sessions"][0]["state"], "interrupted", "{listed}");
    drop(running);
}

#[test]
fn a_guard_that_has_taken_anothers_place_ends_with_a_client_that_ends_in_good_order() {
    let lab = Lab::new();
    let mut running = lab.start(&["x", "--json"], &lab.turn(ENDLESS));
    running.until_line("on it");
    let first = guard_of(running.pid);
    kill(first, Signal::KILL);
    let second = another_than(first, running.pid);
    kill(running.pid, Signal::TERM);
    let done = running.finish();
    assert!(!is_alive(second) && !done.out().contains("the guard"), "{}", done.out());
    lab.assert_nothing_left();
}

#[test]
fn guards_that_end_at_once_are_given_up_which_is_said_and_the_turn_goes_on() {
    let lab = Lab::new();
    // Were it not said, the output would end.
    let mut running = lab.start(&["x", "--json", "--timeout", "60"], &lab.turn(ENDLESS));
    running.until_line("on it");
    let client = running.pid;
    let said = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            wait_until("it is given up", || {
                if let Some(guard) = find_guard(client) {
                    kill(guard, Signal::KILL);
                }
                said.load(Ordering::Relaxed)
            });
        });
        running.until_line("the guard of this acp-tui was ended");
        said.store(true, Ordering::Relaxed);
    });
    assert!(is_alive(client));
    kill(client, Signal::TERM);
    drop(running);
}

/// Nobody reads names at a hang-up.
#[test]
fn what_moved_to_a_session_of_its_own_ends_with_a_client_that_is_hung_up() {
    for signal in [Signal::HUP, Signal::TERM] {
        let lab = Lab::new();
        let script = lab.turn(ENDLESS);
        let agent = lab.shell_agent(&format!(
            "{STUBBORN}setsid sh -c \"trap '' TERM; sleep 1000; sleep 1000\" &\n{}\n",
            script.join(" ")
        ));
        let mut running = lab.start(&["x", "--json"], &agent);
        running.until_line("on it");
        let begun = Instant::now();
        kill(running.pid, signal);
        let done = running.finish();
        assert_eq!(lab.left(), [], "{signal:?}");
        assert!(!done.err().contains("still running"), "{}", done.err());
        assert!(begun.elapsed() < Duration::from_secs(12), "{:?}", begun.elapsed());
    }
}

#[test]
fn what_moved_to_a_session_of_its_own_is_named_to_a_person_who_stops_the_client() {
    let lab = Lab::new();
    let agent = lab.shell_agent(&format!("setsid sleep 1000 &\nexec {}\n", lab.turn(ENDLESS).join(" ")));
    let mut running = lab.start(&["x", "--json"], &agent);
    running.until_line("on it");
    kill(running.pid, Signal::INT);
    let done = running.finish();
    let left = lab.left();
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(done.err().contains("still running in a session of its own"), "{}", done.err());
    kill(left[0].0, Signal::KILL);
    lab.assert_nothing_left();
}
