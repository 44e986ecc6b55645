//! A bare `acp-tui`: which agent?

use super::session::{DOWN, ENTER, ESC, Place};

const SIZE: (u16, u16) = (100, 30);

fn row_of(screen: &str, words: &str) -> usize {
    screen.lines().position(|l| l.contains(words)).unwrap_or_else(|| panic!("{words}\n{screen}"))
}

#[test]
fn agents_that_are_here_come_first_then_the_demo_then_the_others() {
    let place = Place::new();
    place.program("gemini", "#!/bin/sh\nexit 9\n");
    let mut s = place.start(&[], SIZE);
    let screen = s.see("Which agent?");
    let (gemini, demo, others) =
        (row_of(&screen, "Gemini CLI"), row_of(&screen, "Demo"), row_of(&screen, "more, not installed"));
    assert!(gemini < demo && demo < others && !screen.contains("Claude Code"), "{screen}");
    assert!(screen.lines().nth(gemini).unwrap().contains("❯"), "{screen}");
    assert!(screen.lines().nth(gemini).unwrap().contains("found on PATH"), "{screen}");
    s.send(DOWN);
    s.wait_for("the demo", |screen| screen.lines().any(|l| l.contains("❯ Demo")));
    // What is not installed cannot be started.
    s.send(DOWN);
    s.send(ENTER);
    let screen = s.see("Claude Code");
    assert!(screen.lines().nth(row_of(&screen, "Claude Code")).unwrap().contains("not installed"), "{screen}");
    s.send(ENTER);
    s.see("is not installed.");
    s.send("\x1b[A");
    s.wait_for("the demo", |screen| screen.lines().any(|l| l.contains("❯ Demo")));
    s.send(ENTER);
    s.ready();
    s.see("Demo agent");
    s.quit(&place);
}

#[test]
fn without_an_agent_the_highlight_starts_on_the_demo_and_esc_quits() {
    let place = Place::new();
    let mut s = place.start(&[], SIZE);
    s.wait_for("the demo", |screen| screen.lines().any(|l| l.contains("❯ Demo")));
    s.send("claud");
    s.wait_for("filtered", |screen| !screen.contains("Demo ") && screen.contains("Claude Code"));
    // First what was typed goes, then the list.
    s.send(ESC);
    s.see("Demo ");
    s.send(ESC);
    assert_eq!(s.end(), 0);
    s.assert_restored();
}

#[test]
fn the_agent_that_is_chosen_is_started() {
    let place = Place::new();
    place.program("gemini", "#!/bin/sh\necho \"started with $*\" >&2\nexit 9\n");
    let mut s = place.start(&[], SIZE);
    s.see("Which agent?");
    s.send(ENTER);
    let screen = s.see("started with --acp");
    assert!(screen.contains("exit 9"), "{screen}");
    s.quit(&place);
}

#[test]
fn the_default_agent_starts_without_asking() {
    let place = Place::new();
    place.config("default_agent = \"mine\"\n[agents.mine]\ncommand = \"my-agent\"\nargs = [\"--now\"]\nenv = { TONE = \"calm\" }\n");
    place.program("my-agent", "#!/bin/sh\necho \"hello $1 $TONE\" >&2\nexit 9\n");
    let s = place.start(&[], SIZE);
    let screen = s.see("hello --now calm");
    assert!(!screen.contains("Which agent?"), "{screen}");
    s.quit(&place);
    let place = Place::new();
    place.config("default_agent = \"demo\"\n");
    let s = place.start(&[], SIZE);
    s.ready();
    s.see("Demo agent");
    s.quit(&place);
}

#[test]
fn a_bad_value_warns_with_its_line_and_the_rest_applies() {
    let place = Place::new();
    place.config("default_agent = \"demo\"\n\ntheme = 3\n");
    let s = place.start(&[], SIZE);
    s.see("config.toml:3: theme");
    s.see("Demo agent");
    s.quit(&place);
}

#[test]
fn agent_by_name_and_an_unknown_name() {
    let place = Place::new();
    place.config("[agents.mine]\ncommand = \"my-agent\"\n");
    place.program("my-agent", "#!/bin/sh\necho hello there >&2\nexit 9\n");
    let s = place.start(&["--agent", "mine"], SIZE);
    s.see("hello there");
    s.quit(&place);
    let mut s = place.start(&["--agent", "nobody"], SIZE);
    assert_eq!(s.end(), 2);
    assert!(s.screen().contains("there is no agent"), "{}", s.dump());
}

#[test]
fn nothing_of_the_list_of_sessions_stays_on_the_screen() {
    let place = Place::new();
    let mut s = place.start(&["exec", "--agent", "demo", "--allow", "all", "hello there"], SIZE);
    assert_eq!(s.end(), 0, "{}", s.dump());
    let mut s = place.start(&["--resume"], SIZE);
    s.see("Repair the shop");
    s.send(ENTER);
    s.see("y starts it");
    s.send("y");
    let screen = s.wait_for("the session", |screen| !screen.contains("sessions:") && screen.contains(" read only:"));
    let rows: Vec<&str> = screen.lines().collect();
    assert!(rows[0].contains("Repair the shop") && !rows[1].contains("Demo"), "{screen}");
    s.quit(&place);
}
