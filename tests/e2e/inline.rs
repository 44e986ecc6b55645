//! `--inline`: what stands in the terminal's own scrollback, read by the emulator.

use super::session::{BIN, CTRL_D, CTRL_END, CTRL_Z, ESC, F1, PAGE_UP, Place, Session};
use alacritty_terminal::term::TermMode;
use rustix::process::Signal;
use std::time::Duration;

const TALK: &str = r#"
[[turn]]
match = "talk"
step = [
  { do = "tool", name = "look", title = "Read notes.md", kind = "read", status = "completed" },
  { do = "repeat", times = 60, step = [{ do = "say", text = "paragraph {n} of the answer\n\n" }] },
  { do = "say", text = "the very end" },
]
[[turn]]
match = "slow"
step = [
  { do = "repeat", times = 40, step = [{ do = "wait", ms = 20, firm = true }, { do = "say", text = "slow paragraph {n}\n\n" }] },
  { do = "say", text = "the slow end" },
]
[[turn]]
match = "ask"
step = [
  { do = "permission", tool = "t", call = { title = "touch a-file", kind = "execute" }, allowed = [{ do = "say", text = "it was allowed" }] },
]
"#;
const ALT_Z: &str = "\x1bz";

fn start(place: &Place, options: &[&str]) -> Session {
    let script = place.script(TALK);
    let script = script.to_str().unwrap();
    let mut args = options.to_vec();
    args.extend(["--", BIN, "demo-agent", "--fast", "--script", script]);
    place.start(&args, (80, 24))
}

/// The paragraphs of an answer, as they stand there.
fn paragraphs(rows: &[String], what: &str) -> Vec<usize> {
    let number = |row: &String| row.trim().strip_prefix(what)?.split(' ').next()?.parse().ok();
    rows.iter().filter_map(number).collect()
}

/// The rule or the composer.
fn is_of_dock(row: &str) -> bool {
    row.starts_with("── ") || row.starts_with('❯')
}

fn quit(mut s: Session, place: &Place) -> Vec<String> {
    s.send(CTRL_D);
    assert_eq!(s.end(), 0, "{}", s.dump());
    s.assert_usual();
    assert!(super::processes::marked(&place.mark()).is_empty());
    s.scrollback()
}

#[test]
fn each_paragraph_stands_in_the_scrollback_once_and_the_dock_goes_with_the_program() {
    let place = Place::new();
    let mut s = start(&place, &["--inline"]);
    s.ready();
    assert!(!s.modes().intersects(TermMode::ALT_SCREEN | TermMode::MOUSE_MODE), "{:?}", s.modes());
    s.prompt("talk");
    s.see("the very end");
    s.see("ready · F1");
    let all: Vec<usize> = (1..=60).collect();
    assert_eq!(paragraphs(&s.scrollback(), "paragraph "), all, "{}", s.dump());
    let rows = quit(s, &place);
    assert_eq!(paragraphs(&rows, "paragraph "), all);
    assert!(rows.iter().any(|row| row.contains("talk")), "the prompt: {rows:#?}");
    let end = rows.iter().position(|row| row.contains("the very end")).unwrap();
    assert!(!rows[end..].iter().any(|row| is_of_dock(row)), "{rows:#?}");
}

#[test]
fn twenty_sizes_while_it_answers_print_nothing_twice_and_leave_nothing_behind() {
    let place = Place::new();
    let mut s = start(&place, &["--inline"]);
    s.ready();
    s.prompt("slow");
    s.see("slow paragraph 2");
    for n in 0..20u16 {
        s.resize(40 + n * 37 % 80, 10 + n * 7 % 25);
        s.pass(Duration::from_millis(30));
    }
    s.resize(80, 24);
    s.see("the slow end");
    s.see("ready · F1");
    let rows = quit(s, &place);
    assert_eq!(paragraphs(&rows, "slow paragraph "), (1..=40).collect::<Vec<_>>(), "{rows:#?}");
    assert!(!rows.iter().any(|row| is_of_dock(row)), "{rows:#?}");
}

#[test]
fn a_question_is_answered_below_what_was_printed() {
    let place = Place::new();
    let mut s = start(&place, &["--inline"]);
    s.ready();
    s.prompt("ask");
    s.focus();
    s.send("y");
    s.see("it was allowed");
    s.see("ready · F1");
    let rows = quit(s, &place);
    assert_eq!(rows.iter().filter(|row| row.contains("touch a-file")).count(), 1, "{rows:#?}");
}

#[test]
fn what_takes_the_whole_screen_goes_to_the_alternate_one_and_comes_back() {
    let place = Place::new();
    let mut s = start(&place, &["--inline"]);
    s.ready();
    s.prompt("talk");
    s.see("the very end");
    s.see("ready · F1");
    // The rule at the end of the turn comes when the files have been looked at.
    s.see("nothing changed");
    let before = s.scrollback();
    s.send(F1);
    s.see("Esc closes");
    assert!(s.modes().contains(TermMode::ALT_SCREEN) && s.modes().intersects(TermMode::MOUSE_MODE), "{:?}", s.modes());
    s.send(ESC);
    s.see("the very end");
    s.see("ready · F1");
    assert!(!s.modes().intersects(TermMode::ALT_SCREEN | TermMode::MOUSE_MODE));
    s.send(PAGE_UP);
    s.see("below · Ctrl+End");
    s.send(CTRL_END);
    s.see_no("below · Ctrl+End");
    s.see("ready · F1");
    assert_eq!(s.scrollback(), before);
    s.send(ALT_Z);
    s.wait_for("the full screen", |screen| screen.lines().next().is_some_and(|row| row.contains("work")));
    s.prompt("ask");
    s.asks();
    s.send(ALT_Z);
    s.see("the very end");
    s.focus();
    s.send("n");
    s.see("ready · F1");
    let rows = quit(s, &place);
    assert_eq!(paragraphs(&rows, "paragraph "), (1..=60).collect::<Vec<_>>());
}

#[test]
fn the_full_screen_can_leave_the_conversation_in_the_scrollback() {
    let place = Place::new();
    let mut s = start(&place, &["--print-on-exit"]);
    s.ready();
    s.prompt("talk");
    s.see("the very end");
    s.see("ready · F1");
    assert!(paragraphs(&s.scrollback(), "paragraph ").len() < 24);
    let rows = quit(s, &place);
    assert_eq!(paragraphs(&rows, "paragraph "), (1..=60).collect::<Vec<_>>(), "{rows:#?}");
}

#[test]
fn a_signal_and_a_pause_leave_what_was_printed_and_no_dock() {
    let place = Place::new();
    let shell = r#"set -m; "$@"; echo "paused here"; fg %1 >/dev/null; echo "ended with $?""#;
    let script = place.script(TALK);
    let script = script.to_str().unwrap();
    let args = ["-c", shell, "sh", BIN, "--inline", "--", BIN, "demo-agent", "--fast", "--script", script];
    let mut s = place.run("/bin/sh", &args, (80, 24));
    s.ready();
    s.prompt("talk");
    s.see("the very end");
    s.see("ready · F1");
    s.send(CTRL_Z);
    s.see("paused here");
    s.write("words after");
    let pids = super::processes::marked(&place.mark());
    let client = pids.iter().find(|p| p.contains("--inline") && !p.contains("set -m")).unwrap();
    let pid = client.split_whitespace().next().unwrap().parse().unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), Signal::TERM).unwrap();
    s.see("ended with 143");
    s.end();
    s.assert_usual();
    let rows = s.scrollback();
    assert_eq!(paragraphs(&rows, "paragraph "), (1..=60).collect::<Vec<_>>(), "{rows:#?}");
    assert!(!rows.iter().any(|row| is_of_dock(row)), "{rows:#?}");
}
