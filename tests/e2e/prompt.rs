//! Writing and sending: before the session is there, while a turn runs, and what becomes of what waits.

use super::session::{ALT_ENTER, CTRL_C, CTRL_D, CTRL_J, CTRL_Y, ENTER, ESC, Place, UP, composer};
use base64::Engine as _;

/// Two turns that take their time, then one that fails.
const STEADY: &str = r#"
[[turn]]
match = "slowly"
step = [{ do = "say", text = "begun " }, { do = "wait", ms = 500, firm = true }, { do = "say", text = "and done" }]

[[turn]]
match = "fail"
step = [
  { do = "say", text = "begun " },
  { do = "wait", ms = 500, firm = true },
  { do = "error", code = -32603, message = "No model", data = { details = "it is not at home" } },
]

[[turn]]
match = "mute"
step = [{ do = "stop", reason = "end_turn" }]

[[turn]]
default = true
step = [{ do = "say", text = "You said: {prompt}" }]
"#;

#[test]
fn the_composer_works_from_the_first_frame() {
    let place = Place::new();
    let mut s = place.play("[agent]\nsilent = \"initialize\"\n", (80, 24));
    s.see("❯");
    s.write("rsqk 1 are only text");
    eprintln!("first frame after {:?}", s.when("❯"));
    assert!(s.screen().contains("starting"), "{}", s.dump());
    s.send(ENTER);
    let screen = s.see("queued until the session is open: rsqk 1 are only text");
    assert_eq!(composer(&screen), "");
    s.quit(&place);
}

#[test]
fn r_211_a_prompt_before_the_session_goes_out_when_it_is_ready() {
    let place = Place::new();
    let script = format!("[agent]\ninit_delay_ms = 300\nsession_delay_ms = 300\n{STEADY}");
    let mut s = place.play(&script, (80, 24));
    s.see("❯");
    s.prompt("hello early bird");
    s.see("queued until the session is open: hello early bird");
    s.see("You said: hello early bird");
    s.see_no("waits for");
    s.quit(&place);
}

#[test]
fn r_211_a_prompt_during_a_turn_is_held_and_goes_out_after_it() {
    let place = Place::new();
    let mut s = place.play(STEADY, (80, 24));
    s.ready();
    s.prompt("slowly please");
    s.see("begun");
    s.prompt("and then this");
    s.see("queued: and then this");
    let screen = s.see("You said: and then this");
    assert!(screen.contains("begun and done"), "{screen}");
    s.quit(&place);
}

#[test]
fn what_waits_stays_after_a_cancel_until_it_is_sent() {
    let place = Place::new();
    let mut s = place.play("slow", (80, 24));
    s.see("❯");
    s.prompt("hang on");
    s.see("thinking");
    s.see("Esc stops the turn");
    s.prompt("the first");
    s.see("queued");
    s.prompt("the second");
    s.see("2 queued");
    s.write("unfinished");
    s.send(ESC);
    s.see("stopped");
    let screen = s.wait_for("all of it still there", |screen| screen.contains("2 held · 1. the first"));
    assert_eq!(composer(&screen), "unfinished");
    s.send(CTRL_C);
    s.see("cleared, Up brings it back");
    s.send(ENTER);
    s.wait_for("the first is sent", |screen| !screen.contains("1. the first") && screen.contains("the second"));
    s.send(ESC);
    s.see("held: the second");
    s.quit(&place);
}

#[test]
fn what_waits_stays_after_a_failure_and_the_error_is_shown_with_its_data() {
    let place = Place::new();
    let mut s = place.play(STEADY, (80, 24));
    s.ready();
    s.prompt("fail now");
    s.see("begun");
    s.prompt("later words");
    s.see("queued: later words");
    let screen = s.wait_for("words that are held", |screen| screen.contains("held: later words"));
    assert!(screen.contains("No model") && screen.contains("it is not at home"), "{screen}");
    s.quit(&place);
}

#[test]
fn a_held_prompt_can_be_taken_back() {
    let place = Place::new();
    let mut s = place.play("slow", (80, 24));
    s.see("❯");
    s.prompt("hang on");
    s.see("thinking");
    s.prompt("not this after all");
    s.see("queued: not this");
    s.see("Up selects it");
    s.send(UP);
    s.see("Enter edits");
    s.send(ENTER);
    let screen = s.wait_for("taken back", |screen| composer(screen) == "not this after all");
    assert!(!screen.contains("queued"), "{screen}");
    s.send(ESC);
    s.see("stopped");
    s.quit_with_text(&place);
}

#[test]
fn esc_stops_the_turn_and_says_that_it_is_stopping() {
    let place = Place::new();
    let mut s = place.play("slow", (80, 24));
    s.see("❯");
    s.prompt("ignore me");
    s.see("not listening");
    s.send("\x1b");
    s.see("stopping");
    // A second one does nothing, and words are still words.
    s.send(ESC);
    s.write("k is text");
    assert!(s.screen().contains("stopping"), "{}", s.dump());
    s.send(CTRL_C);
    s.see("cleared");
    s.quit(&place);
}

#[test]
fn new_lines_are_written_with_alt_enter_and_ctrl_j() {
    let place = Place::new();
    let mut s = place.play(STEADY, (80, 24));
    s.ready();
    s.write("one");
    s.send(ALT_ENTER);
    s.write("two");
    s.send(CTRL_J);
    s.write("three");
    // Kitty's way of saying Shift+Enter.
    s.send("\x1b[13;2u");
    s.write("four");
    s.wait_for("four rows", |screen| {
        let rows: Vec<&str> = screen.lines().map(str::trim).collect();
        rows.windows(4).any(|w| w == ["❯ one", "two", "three", "four"])
    });
    s.send("\x1b[200~five\rsix\x1b[201~");
    s.see("fourfive");
    s.send(ENTER);
    s.wait_for("sent as one prompt", |screen| screen.contains("You said: one") && screen.contains("six"));
    assert_eq!(composer(&s.screen()), "");
    s.quit(&place);
}

#[test]
fn a_blank_prompt_is_never_sent_and_a_silent_turn_is_said() {
    let place = Place::new();
    let mut s = place.play(STEADY, (80, 24));
    s.ready();
    s.send("   \r");
    s.send(CTRL_C);
    s.see("cleared");
    s.prompt("mute");
    let screen = s.see("the turn ended without a word");
    assert_eq!(screen.matches("the turn ended without a word").count(), 1, "{screen}");
    s.quit(&place);
}

#[test]
fn the_copy_key_copies_the_source_of_the_last_answer_and_says_so() {
    let place = Place::new();
    let source = "# Title\n\n- **bold** `code` ~~no~~\n\n| a | b |\n|---|---|\n| 1 | 日本 |\n";
    let script = format!("[[turn]]\ndefault = true\nstep = [{{ do = \"say\", text = {source:?} }}]\n");
    let mut s = place.play(&script, (80, 24));
    s.ready();
    s.send(CTRL_Y);
    s.see("no answer to copy yet");
    s.prompt("go");
    s.see("日本");
    s.ready();
    s.send(CTRL_Y);
    s.see(&format!("copied {} characters", source.chars().count()));
    let bytes = s.quit(&place);
    let clipboard = super::bytes::assert_harmless(&bytes);
    assert_eq!(clipboard.len(), 1);
    let copied = base64::engine::general_purpose::STANDARD.decode(&clipboard[0]).unwrap();
    assert_eq!(String::from_utf8(copied).unwrap(), source);
}

#[test]
fn ctrl_d_deletes_while_something_is_written() {
    let place = Place::new();
    let mut s = place.play(STEADY, (80, 24));
    s.ready();
    s.write("ab");
    s.send("\x1b[H");
    s.send(CTRL_D);
    s.wait_for("one deleted", |screen| composer(screen) == "b");
    s.send(CTRL_D);
    s.wait_for("all deleted", |screen| composer(screen).is_empty());
    s.quit(&place);
}

#[test]
fn an_end_mark_within_a_paste_sends_nothing_and_a_paste_without_one_gives_the_keys_back() {
    let place = Place::new();
    let mut s = place.play(STEADY, (80, 24));
    s.ready();
    let writes = |screen: &str, wanted: [&str; 2]| {
        let rows: Vec<&str> = screen.lines().map(str::trim).collect();
        rows.windows(2).any(|w| w == wanted)
    };
    s.send("\x1b[200~one\x1b[201~\rtwo\r\x04\x1b[201~");
    s.wait_for("all of it as text", |screen| writes(screen, ["❯ one", "two"]));
    assert!(!s.screen().contains("You said"), "{}", s.dump());
    s.send(ENTER);
    s.see("You said: one");
    // A slow link may bring a paste and the Enter behind it at once.
    s.send("\x1b[200~three\x1b[201~\r");
    s.see("You said: three");
    s.send("\x1b[200~four\rfive");
    s.wait_for("what has come of it", |screen| writes(screen, ["❯ four", "five"]));
    s.send(CTRL_C);
    s.see("cleared");
    s.quit(&place);
}
