//! Colours that follow what the terminal tells of itself, and terminals that can show less.

use super::session::{ESC, Place, composer, find};
use std::time::Duration;

const SCRIPT: &str = r#"
[[turn]]
default = true
step = [ { do = "say", text = "all done" } ]
"#;

/// The person's words are tinted: a background of the fixed palette.
fn is_tinted(bytes: &[u8]) -> bool {
    find(bytes, b"48;5;").is_some()
}

#[test]
fn the_background_is_asked_for_and_its_answer_changes_the_colours_and_types_nothing() {
    let place = Place::new();
    let mut s = place.play(SCRIPT, (80, 24));
    s.wait_for_bytes(0, b"\x1b]11;?\x07\x1b[c");
    s.ready();
    s.prompt("go");
    s.see("all done");
    s.see("ready · F1");
    assert!(!is_tinted(&s.bytes()), "nobody knows the background yet");
    // A late answer, torn.
    s.send("\x1b]11;rgb:ffff/ff");
    s.pass(Duration::from_millis(120));
    s.send("ff/eeee\x1b\\\x1b[?62c");
    s.wait_for_bytes(0, b"48;5;");
    assert_eq!(composer(&s.screen()), "");
    // The person switches to dark: asked again, and answered.
    let from = s.written();
    s.send("\x1b[?997;1n");
    s.wait_for_bytes(from, b"\x1b]11;?");
    s.send("\x1b]11;rgb:1010/1010/1010\x07\x1b[?62c");
    s.wait_for_bytes(from, b"48;5;");
    let from = s.written();
    s.send("\x1b[I");
    s.wait_for_bytes(from, b"\x1b]11;?");
    assert_eq!(composer(&s.screen()), "");
    s.quit(&place);
}

#[test]
fn how_wide_ambiguous_characters_are_is_asked_for_and_what_is_laid_out_fits() {
    let place = Place::new();
    let script = SCRIPT.replace("all done", "\u{a7}\u{2026}| all done");
    let mut s = place.play(&script, (80, 24));
    s.wait_for_bytes(0, "\x1b[8m\u{a7}\x1b[6n\x1b[m\r\x1b[K".as_bytes());
    s.ready();
    s.prompt("go");
    s.see("\u{a7}\u{2026}| all done");
    s.see("\u{2500}\u{2500}\u{2500}");
    // A late answer.
    s.send("\x1b[2;3R");
    s.see("-----");
    let screen = s.see("\u{a7} \u{2026} | all done");
    assert!(!screen.contains("\u{2500}"), "{screen}");
    assert_eq!(composer(&screen), "");
    s.quit(&place);
    place.config("ambiguous_width = 1\n");
    let mut s = place.play(&script, (80, 24));
    s.ready();
    s.send("\x1b[2;3R");
    s.prompt("go");
    s.see("\u{a7}\u{2026}| all done");
    assert!(find(&s.bytes(), b"\x1b[6n").is_none(), "said, and not asked");
    s.quit(&place);
}

#[test]
fn whether_what_was_drawn_has_arrived_is_asked_and_its_answer_types_and_decides_nothing() {
    let place = Place::new();
    let mut s = place.play("permissions", (80, 24));
    s.wait_for_bytes(0, b"\x1b[5n");
    s.ready();
    s.send("\x1b[0n");
    s.prompt("huge");
    s.asks();
    for torn in ["\x1b[0n", "\x1b[", "0n", "\x1b[0", "n"] {
        s.send(torn);
        s.pass(Duration::from_millis(150));
    }
    assert_eq!(composer(&s.screen()), "");
    s.asks();
    s.send(ESC);
    s.see("stopped");
    s.quit(&place);
}

#[test]
fn a_theme_that_was_named_asks_nothing() {
    let place = Place::new();
    place.config("theme = \"light\"\n");
    let mut s = place.play(SCRIPT, (80, 24));
    s.ready();
    s.prompt("go");
    s.see("all done");
    assert!(is_tinted(&s.bytes()));
    assert!(find(&s.bytes(), b"]11;?").is_none());
    s.quit(&place);
}

#[test]
fn where_the_locale_is_not_utf_8_every_sign_is_ascii() {
    let place = Place::new();
    let script = r#"
[[turn]]
default = true
step = [
  { do = "tool", name = "t", title = "ls", kind = "execute", status = "completed" },
  { do = "tool", name = "u", title = "rm", kind = "execute", status = "failed" },
  { do = "say", text = "all done — it's “fine” 漢" },
]
"#;
    let mut s = place.play_with(script, (80, 24), &[("LANG", "C")]);
    s.wait_for("the first screen", |screen| screen.contains("write a request"));
    s.prompt("go");
    let screen = s.see("all done - it's \"fine\" ?");
    assert!(screen.contains("v run") && screen.contains("x run"), "{screen}");
    let bytes = s.bytes();
    assert!(bytes.is_ascii(), "{:?}", bytes.iter().find(|b| !b.is_ascii()));
    s.send("\x04");
    assert_eq!(s.end(), 0);
}

#[test]
fn a_dumb_terminal_is_told_what_to_do_and_gets_no_escape() {
    let place = Place::new();
    let mut s = place.play_with(SCRIPT, (80, 24), &[("TERM", "dumb")]);
    s.see("use another one,");
    assert_eq!(s.end(), 2);
    assert!(!s.bytes().contains(&0x1b));
}
