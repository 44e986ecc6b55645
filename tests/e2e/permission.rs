//! Permission requests: nothing but a deliberate key in the dock answers one.

use super::session::{
    ALT_P, CTRL_C, CTRL_O, DOWN, ENTER, ESC, PAGE_DOWN, PAGE_UP, Place, Session, TAB, composer, in_dock,
};
use std::time::Duration;

const SIZE: (u16, u16) = (80, 24);

/// A session in which one question waits.
fn asked(place: &Place, size: (u16, u16)) -> Session {
    let mut s = place.play("permissions", size);
    s.ready();
    s.prompt("go");
    s.asks();
    s.see("waiting for you");
    s
}

#[test]
fn the_demo_asks_edits_runs_and_reports() {
    let place = Place::new();
    let mut s = place.start(&["demo"], (100, 40));
    s.ready();
    s.prompt("repair it");
    let screen = s.see("Tab to answer");
    for words in
        ["src/main.rs", "a - b", "a + b", "1 y Allow once", "2 A Always allow", "3 n Reject", "waiting for you"]
    {
        assert!(screen.contains(words), "{words}\n{screen}");
    }
    s.wait_for_bytes(0, "\x1b]2;acp-tui · waiting for you — ".as_bytes());
    s.focus();
    s.send("1");
    let screen = s.wait_for("the report", |screen| screen.contains("38 %") && screen.contains("ready · F1"));
    assert!(screen.contains("Rust book") && screen.contains("doc.rust-lang.org"), "{screen}");
    // The project was there before the agent, so that what it did to one file stands out.
    s.see("+8 −2 in 1 file · 3 to review ──");
    // The newest call is the command; what it printed is folded now, not lost.
    s.send(CTRL_O);
    let mut all = String::new();
    for _ in 0..6 {
        s.send(PAGE_UP);
        s.quiet(Duration::from_millis(60));
        all.push_str(&s.screen());
    }
    for words in ["12 passed", "≡ plan  4 of 4", "Looked at how add is used", "a + b"] {
        assert!(all.contains(words), "{words}\n{all}");
    }
    let bytes = s.quit(&place);
    assert!(super::bytes::assert_harmless(&bytes).is_empty());
    let left: Vec<_> = std::fs::read_dir(place.path("tmp")).unwrap().flatten().map(|e| e.path()).collect();
    assert!(left.is_empty(), "the directory of the demo is removed: {left:?}");
}

#[test]
fn keys_within_300_ms_of_the_focus_are_ignored() {
    let place = Place::new();
    let mut s = asked(&place, SIZE);
    s.send(&format!("{ALT_P}1\r"));
    s.wait_for("focus in the dock", in_dock);
    s.pass(Duration::from_millis(450));
    assert!(s.screen().contains("waiting for you"), "{}", s.dump());
    // Nothing is highlighted, so Enter answers nothing; letters are nothing here.
    s.send(&format!("{ENTER}yn {TAB}"));
    s.see("Tab to answer");
    s.write("still asked");
    assert!(s.screen().contains("waiting for you"), "{}", s.dump());
    s.send(CTRL_C);
    s.focus();
    s.send("1");
    s.see("allowed");
    let screen = s.see("ready · F1");
    assert!(!screen.contains("not allowed"), "{screen}");
    // The focus came back by itself.
    s.write("letters are text again");
    s.quit_with_text(&place);
}

#[test]
fn arrows_highlight_and_enter_answers_the_highlighted_option() {
    let place = Place::new();
    let mut s = asked(&place, SIZE);
    s.focus();
    s.send(DOWN);
    s.send(DOWN);
    s.send(DOWN);
    s.send(ENTER);
    s.see("not allowed");
    s.quit(&place);
}

#[test]
fn scenario_38_what_is_written_answers_nothing() {
    let place = Place::new();
    let mut s = asked(&place, SIZE);
    s.write("yes please 1 2 y n");
    s.send(ENTER);
    s.see("queued: yes please 1 2 y n");
    s.send("\x1b[200~1\r2\ry\n\x1b[201~");
    s.wait_for("the paste as text", |screen| {
        let rows: Vec<&str> = screen.lines().map(str::trim).collect();
        rows.windows(3).any(|w| w == ["❯ 1", "2", "y"])
    });
    let rows = s.screen();
    for (y, row) in rows.lines().enumerate() {
        // Into each word of every row, pressed and released.
        for (x, _) in row.char_indices().filter(|(_, c)| c.is_ascii_digit() || c.is_ascii_uppercase()) {
            let x = row[..x].chars().count();
            s.send(&format!("\x1b[<0;{};{}M\x1b[<0;{};{}m", x + 1, y + 1, x + 1, y + 1));
        }
    }
    // A click goes to the question and answers nothing.
    s.wait_for("the question has the focus", in_dock);
    s.send(ESC);
    s.wait_for("writing again", |screen| !in_dock(screen));
    s.write("after all clicks");
    let screen = s.screen();
    assert!(screen.contains("waiting for you") && screen.contains("Allow once"), "{screen}");
    assert!(!screen.contains("allowed") && !in_dock(&screen), "{screen}");
    assert!(screen.contains("queued"), "{screen}");
    s.send(CTRL_C);
    s.see("cleared");
    // A paste while the dock has the focus is text as well.
    s.focus();
    s.send("\x1b[200~1\r\x1b[201~");
    s.send(TAB);
    s.see("Tab to answer");
    s.pass(Duration::from_millis(350));
    assert!(s.screen().contains("waiting for you"), "{}", s.dump());
    s.send(CTRL_C);
    // The answer lets the held prompt go out, which asks again.
    s.focus();
    s.send("3");
    let screen = s.wait_for("the held prompt went out", |screen| {
        screen.contains("not allowed") && screen.contains("yes please") && screen.contains("Allow once")
    });
    assert!(!screen.contains("queued"), "{screen}");
    s.quit(&place);
}

#[test]
fn esc_and_tab_give_the_focus_back_and_answer_nothing() {
    let place = Place::new();
    let mut s = asked(&place, SIZE);
    for back in [ESC, TAB, ALT_P] {
        s.focus();
        s.send(DOWN);
        s.send(back);
        s.see("Tab to answer");
        assert!(s.screen().contains("waiting for you"), "{}", s.dump());
    }
    // In the composer it stops the turn, which answers with `cancelled`: not within 600 ms of leaving the question.
    s.pass(Duration::from_millis(700));
    s.send(ESC);
    s.see("stopped");
    s.see_no("Allow once");
    s.quit(&place);
}

#[test]
fn several_are_counted_and_digits_answer_until_the_last() {
    let place = Place::new();
    let mut s = place.play("permissions", SIZE);
    s.ready();
    s.prompt("several");
    s.see("1 of 3");
    s.focus();
    s.send("1");
    let screen = s.see("1 of 2");
    assert!(!in_dock(&screen), "digits answer what comes next, and nothing else does: {screen}");
    // What was meant for the question before is ignored.
    s.send("1");
    s.armed();
    assert!(s.screen().contains("1 of 2"), "{}", s.dump());
    s.send("1");
    s.wait_for("the last", |screen| screen.contains("rm -rf target") && !screen.contains("1 of 2"));
    s.armed();
    s.send("3");
    s.see("all answered");
    s.write("back");
    s.quit_with_text(&place);
}

#[test]
fn r_040_a_withdrawn_request_closes_with_a_word() {
    let place = Place::new();
    let mut s = place.play("permissions", SIZE);
    s.ready();
    s.prompt("withdraw");
    let screen = s.see("no longer asked, the agent took it back: Taken back");
    assert!(!screen.contains("Allow once"), "{screen}");
    s.see("taken back");
    s.quit(&place);
}

#[test]
fn at_40_by_10_everything_can_be_read_and_answered() {
    let place = Place::new();
    let mut s = place.play("permissions", (40, 10));
    s.ready();
    s.prompt("huge");
    let first = s.see("waiting for you");
    for option in ["1 Allow", "2 Always", "3 Reject"] {
        assert!(first.contains(option), "{option}\n{first}");
    }
    s.focus();
    // To the end of the command.
    loop {
        let screen = s.screen();
        for option in ["1 Al", "2 Al", "3 Re"] {
            assert!(screen.contains(option), "{option}\n{}", s.dump());
        }
        if screen.contains(".cache/example") {
            break;
        }
        s.send(PAGE_DOWN);
        s.wait_for("what is below", |shown| shown != screen);
    }
    s.send(PAGE_UP);
    // A digit that comes together with another key is no answer.
    s.quiet(Duration::from_millis(60));
    s.send("3");
    s.see("done");
    s.quit(&place);
}

#[test]
fn odd_options_are_shown_as_given_and_never_answered_unasked() {
    let place = Place::new();
    let mut s = place.play("permissions", SIZE);
    s.ready();
    s.prompt("unknown");
    let screen = s.see("Perhaps");
    assert!(screen.contains("1 Perhaps") && screen.contains("2 n Reject"), "{screen}");
    s.focus();
    // There is no third option.
    s.send("3");
    s.pass(Duration::from_millis(100));
    assert!(s.screen().contains("Perhaps"), "{}", s.dump());
    s.send("2");
    s.see("not allowed");
    s.prompt("empty");
    let screen = s.see("without offering an answer");
    assert_eq!(composer(&screen), "");
    s.quit(&place);
}

#[test]
fn a_key_shows_what_the_agent_sent() {
    let place = Place::new();
    let mut s = asked(&place, (80, 24));
    s.focus();
    s.send("v");
    s.see("command: touch a-file");
    s.send("v");
    s.see_no("command: touch a-file");
    s.send(ESC);
    s.see("Tab to answer");
    s.quit(&place);
}

#[test]
fn a_request_outside_a_turn_is_shown() {
    let place = Place::new();
    let script = r#"
[agent]
after_session = [
  { do = "permission", tool = "early", call = { title = "touch outside-a-turn", kind = "execute" }, allowed = [{ do = "notice", title = "fine, allowed" }] },
]
[[turn]]
default = true
step = [{ do = "say", text = "hello" }]
"#;
    let mut s = place.play(script, SIZE);
    let screen = s.see("Tab to answer");
    assert!(screen.contains("touch outside-a-turn"), "{screen}");
    s.focus();
    s.send("1");
    s.see_no("Allow once");
    s.quit(&place);
}
