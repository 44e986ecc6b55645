//! Leaving: by key, by signal, with a stubborn agent; the terminal comes back as it was and nothing runs on.

use super::session::{BIN, CTRL_C, CTRL_D, CTRL_Z, ENTER, Place};
use rustix::process::Signal;
use std::time::{Duration, Instant};

const SIZE: (u16, u16) = (80, 24);
const LEAVE: &str = "\x1b[?1049l";

#[test]
fn ctrl_c_clears_then_quits() {
    let place = Place::new();
    let mut s = place.play("permissions", SIZE);
    s.ready();
    s.write("some words");
    s.send(CTRL_C);
    let screen = s.see("cleared, Up brings it back");
    assert!(!screen.contains("some words"), "{screen}");
    // What clears does not arm quitting.
    s.send(CTRL_C);
    s.see("again quits");
    s.send(CTRL_C);
    assert_eq!(s.end(), 0);
    s.assert_restored();
    assert!(super::processes::marked(&place.mark()).is_empty());
}

#[test]
fn ctrl_c_stops_a_turn_then_quits() {
    let place = Place::new();
    let mut s = place.play("slow", SIZE);
    s.see("❯");
    s.prompt("hang on");
    s.see("thinking");
    s.send(CTRL_C);
    s.see("Ctrl+C again quits");
    s.see("stopped");
    // Any other key takes it back.
    s.write("x");
    s.send(CTRL_C);
    s.see("cleared");
    s.send(CTRL_C);
    s.see("again quits");
    s.send(CTRL_C);
    assert_eq!(s.end(), 0);
    s.assert_restored();
}

/// What everybody presses in a shell; its terminal has the size of the screen, and follows it.
#[test]
fn ctrl_c_interrupts_a_command_of_the_persons_and_quits_nothing() {
    let place = Place::new();
    let mut s = place.play("permissions", SIZE);
    s.ready();
    s.send("!");
    s.see("shell: Enter runs it here");
    s.send("stty size; trap 'stty size' WINCH; while :; do sleep 0.1; done");
    s.send(ENTER);
    s.see("│ 24 75");
    s.resize(100, 30);
    s.see("│ 30 95");
    s.send(CTRL_C);
    s.see("✗");
    s.send(CTRL_C);
    s.see("Ctrl+C again quits");
    s.send(CTRL_C);
    assert_eq!(s.end(), 0);
    assert!(super::processes::marked(&place.mark()).is_empty());
}

#[test]
fn r_455_every_signal_gives_the_terminal_back() {
    let ends = [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130), (Signal::QUIT, 131), (Signal::ABORT, 134)];
    for (signal, code) in ends {
        let place = Place::new();
        let mut s = place.play("slow", SIZE);
        s.see("❯");
        s.prompt("run it");
        super::processes::wait_until(&place.mark(), |all| all.iter().any(|p| p.contains("sleep 600")));
        s.signal(signal);
        assert_eq!(s.end(), code, "{signal:?}\n{}", s.dump());
        s.assert_restored();
        let left = super::processes::marked(&place.mark());
        assert!(left.is_empty(), "{signal:?}: {left:?}");
    }
}

#[test]
fn the_terminal_is_back_at_once_although_the_agent_ignores_everything() {
    let place = Place::new();
    let mut s = place.play("[agent]\nignore_eof = true\nignore_term = true\n", SIZE);
    s.ready();
    let from = s.written();
    let pressed = Instant::now();
    s.send(CTRL_D);
    s.wait_for_bytes(from, LEAVE.as_bytes());
    let restored = s.arrival(LEAVE, from).unwrap() - pressed;
    eprintln!("terminal given back after {restored:?}");
    assert!(restored < Duration::from_secs(1), "{restored:?}");
    assert_eq!(s.end(), 0);
    let gone = pressed.elapsed();
    eprintln!("agent that ignores end of file and TERM: ended after {gone:?}");
    assert!(gone > Duration::from_secs(3), "it had its time: {gone:?}");
    s.assert_restored();
    assert!(super::processes::marked(&place.mark()).is_empty());
}

#[test]
fn quitting_ends_the_commands_of_the_agent() {
    let place = Place::new();
    let mut s = place.play("slow", SIZE);
    s.see("❯");
    s.prompt("run it");
    super::processes::wait_until(&place.mark(), |all| all.iter().any(|p| p.contains("sleep 600")));
    s.quit(&place);
}

#[test]
fn ctrl_z_stops_and_fg_brings_the_screen_back() {
    let place = Place::new();
    let shell = r#"set -m; "$@"; echo "paused here"; fg %1 >/dev/null; echo "ended with $?""#;
    let args = ["-c", shell, "sh", BIN, "--", BIN, "demo-agent", "--fast", "--script", "permissions"];
    let mut s = place.run("/bin/sh", &args, SIZE);
    s.ready();
    s.write("kept words");
    let from = s.written();
    s.send(CTRL_Z);
    s.wait_for_bytes(from, b"paused here");
    let paused = s.arrival("paused here", from).unwrap();
    assert!(s.arrival(LEAVE, from).unwrap() <= paused);
    let again = from + super::session::find(&s.bytes()[from..], b"paused here").unwrap();
    s.wait_for_bytes(again, b"\x1b[?1049h");
    s.see("❯ kept words");
    s.write(" and more");
    s.send(CTRL_C);
    s.see("cleared");
    s.send(CTRL_D);
    s.wait_for_bytes(again, b"ended with 0");
    s.end();
}

#[test]
fn a_decision_hook_whose_answer_is_waited_for_ends_with_the_program() {
    for signal in [Signal::HUP, Signal::KILL] {
        let place = Place::new();
        place.config("decision_hook = [\"sh\", \"-c\", \"read question; sleep 777 & wait\"]\n");
        let mut s = place.play("permissions", SIZE);
        s.ready();
        s.prompt("go");
        // It has its question, which it is given once the guard knows of it; the shell's own words name the sleep as well.
        let sleeps = |p: &String| p.split_once(' ').is_some_and(|(_, command)| command.starts_with("sleep 777"));
        super::processes::wait_until(&place.mark(), |all| all.iter().any(sleeps));
        s.signal(signal);
        s.end();
        super::processes::wait_until(&place.mark(), <[String]>::is_empty);
    }
}

/// The window is closed: nobody reads who is still there.
#[test]
fn at_a_hang_up_what_moved_to_a_session_of_its_own_ends_too() {
    for signal in [Signal::HUP, Signal::TERM] {
        let place = Place::new();
        let agent = format!("setsid sleep 1011 & exec {BIN} demo-agent --fast --script permissions");
        let mut s = place.run(BIN, &["--", "sh", "-c", &agent], SIZE);
        s.ready();
        super::processes::wait_until(&place.mark(), |all| all.iter().any(|p| p.ends_with(" sleep 1011 ")));
        s.signal(signal);
        s.end();
        let left = super::processes::marked(&place.mark());
        assert!(left.is_empty(), "{signal:?}: {left:?}");
    }
}
