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
