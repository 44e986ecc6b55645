//! With nothing moving nothing happens: no bytes, no wake-ups.

use super::session::Place;
use std::time::Duration;

#[test]
fn an_idle_client_sleeps() {
    let place = Place::new();
    let script = r#"
[[turn]]
default = true
step = [
  { do = "tool", name = "t", title = "ls", kind = "execute", status = "completed" },
  { do = "terminal", tool = "run", command = "echo", args = ["printed"] },
  { do = "say", text = "all done" },
]
"#;
    let mut s = place.play(script, (80, 24));
    s.ready();
    s.prompt("go");
    s.see("all done");
    s.see("ready · F1");
    s.quiet(Duration::from_secs(1));
    let (bytes, wakeups) = (s.written(), super::processes::wakeups(s.pid));
    s.pass(Duration::from_secs(1));
    let after = super::processes::wakeups(s.pid);
    assert_eq!(s.written(), bytes, "{}", s.dump());
    assert_eq!(after, wakeups, "wake-ups in one second without anything to do");
    s.quit(&place);
}

/// A sub-agent that was done works again in a later turn, and its end is never told.
#[test]
fn a_sub_agent_whose_end_is_not_told_wakes_nobody_after_the_turn() {
    let place = Place::new();
    let script = r#"
[[turn]]
match = "again"
step = [
  { do = "update", update = { sessionUpdate = "subagent_update", sessionId = "kid", state = { state = "running" } } },
  { do = "say", text = "all of it said" },
]
[[turn]]
default = true
step = [
  { do = "update", update = { sessionUpdate = "subagent_update", sessionId = "kid", title = "Kid one", state = { state = "idle" } } },
  { do = "say", text = "all done" },
]
"#;
    let mut s = place.play(script, (80, 24));
    s.ready();
    s.prompt("go");
    s.see("all done");
    s.see("ready · F1");
    s.prompt("again");
    s.see("all of it said");
    s.see("no result reported");
    s.see("ready · F1");
    s.quiet(Duration::from_secs(1));
    let wakeups = super::processes::wakeups(s.pid);
    s.pass(Duration::from_secs(1));
    assert_eq!(super::processes::wakeups(s.pid), wakeups, "{}", s.dump());
    s.quit(&place);
}
