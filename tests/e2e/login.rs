//! Agents that want a log-in first.

use super::session::{BIN, ESC, Place, in_dock};
use base64::Engine as _;

const SIZE: (u16, u16) = (160, 30);

#[test]
fn r_098_methods_are_listed_and_terminal_ones_are_commands() {
    let place = Place::new();
    let s = place.play("auth", SIZE);
    let screen = s.see("needs a log-in");
    assert!(screen.contains("Authentication required"), "{screen}");
    assert!(screen.contains("1 Demo key"), "{screen}");
    let exact = format!("DEMO_LOGIN=1 {BIN} demo-agent --fast --script auth --script auth login");
    // Rows end at blanks, and nothing of ours stands in them.
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    assert!(squeezed(&screen).contains(&squeezed(&exact)), "{exact}\n{screen}");
    assert!(screen.contains("DEMO_LOGIN=1 demo-login --now 'with space'"), "{screen}");
    s.quit(&place);
}

#[test]
fn an_agent_method_is_chosen_by_its_digit_and_the_held_prompt_goes_out() {
    let place = Place::new();
    let mut s = place.play("auth", SIZE);
    s.see("needs a log-in");
    s.prompt("are you there");
    s.see("1 prompt waits for the log-in: are you there");
    s.focus();
    s.send("1");
    s.see("signed in");
    s.see_no("needs a log-in");
    s.quit(&place);
}

#[test]
fn a_terminal_method_copies_its_command() {
    let place = Place::new();
    let mut s = place.play("auth", SIZE);
    s.see("needs a log-in");
    s.focus();
    s.send("3");
    s.see("copied the command");
    let bytes = s.bytes();
    let clipboard = super::bytes::assert_harmless(&bytes);
    let text = base64::engine::general_purpose::STANDARD.decode(&clipboard[0]).unwrap();
    assert_eq!(String::from_utf8(text).unwrap(), "DEMO_LOGIN=1 demo-login --now 'with space'");
    assert!(in_dock(&s.screen()), "{}", s.dump());
    s.send(ESC);
    s.see("Tab to answer");
    s.quit(&place);
}

#[test]
fn esc_leaves_a_log_in_that_takes_long_and_r_starts_again() {
    let place = Place::new();
    let script = r#"
[agent]
auth_required = true
silent = "authenticate"
auth_methods = [{ id = "browser", name = "By browser" }]
"#;
    let mut s = place.play(script, SIZE);
    s.see("needs a log-in");
    s.focus();
    s.send("1");
    s.see("logging in");
    s.see("By browser");
    s.send(ESC);
    s.see("needs a log-in");
    s.focus();
    s.send("r");
    s.see("starting the agent again");
    s.see("needs a log-in");
    s.quit(&place);
}

#[test]
fn a_log_in_asked_for_in_a_turn_gives_the_prompt_back() {
    let place = Place::new();
    let mut s = place.play("auth", SIZE);
    s.see("needs a log-in");
    s.focus();
    s.send("1");
    s.ready();
    s.prompt("do it again");
    let screen = s.see("needs a log-in");
    assert!(screen.contains("signed out meanwhile"), "{screen}");
    s.wait_for("the prompt is back", |screen| super::session::composer(screen) == "do it again");
    s.quit_with_text(&place);
}
