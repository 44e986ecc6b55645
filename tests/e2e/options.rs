//! Modes, options and the mouse.

use super::session::{ENTER, ESC, F2, F12, Place, SHIFT_TAB, Session, composer};

const SIZE: (u16, u16) = (100, 24);

/// The mode and the model stand on the rule above the composer.
fn shows(screen: &str, mode: &str, model: &str) -> bool {
    let is_it = |line: &str| line.starts_with(&format!("── {mode} ─")) && line.contains(&format!(" {model} ──"));
    screen.lines().any(is_it)
}

#[test]
fn shift_tab_passes_over_a_mode_that_asks_nothing_and_f2_sets_it() {
    for keys in [SHIFT_TAB, "\x1b[9;2u"] {
        let place = Place::new();
        let mut s = place.play("permissions", SIZE);
        s.ready();
        s.wait_for("the mode", |screen| shows(screen, "Ask", "Demo small"));
        s.send(keys);
        s.see("Auto asks nothing, so it is left out: F2 sets it");
        set_auto(&mut s);
        // The row that was chosen says the same words for a moment more.
        s.wait_for("on the rule", |screen| {
            !screen.contains("modes and options") && shows(screen, "Auto", "Demo small")
        });
        s.send(keys);
        s.see("mode: Ask");
        s.quit(&place);
    }
}

fn set_auto(s: &mut Session) {
    s.send(F2);
    s.see("modes and options:");
    s.send("auto");
    s.wait_for("one row", |screen| !screen.contains("Demo large"));
    s.send(ENTER);
}

#[test]
fn f2_filters_and_sets() {
    let place = Place::new();
    let mut s = place.play("permissions", SIZE);
    s.ready();
    s.write("words");
    s.send(F2);
    let screen = s.see("modes and options:");
    for words in ["Ask", "Auto", "Demo small", "Demo large"] {
        assert!(screen.contains(words), "{words}\n{screen}");
    }
    s.send("large");
    let screen = s.wait_for("filtered", |screen| !screen.contains("Auto") && screen.contains("Demo large"));
    assert_eq!(composer(&screen), "words", "nothing is typed into the composer");
    s.send(ENTER);
    s.wait_for("set", |screen| !screen.contains("modes and options") && shows(screen, "Ask", "Demo large"));
    s.send(F2);
    s.send("auto");
    s.wait_for("the mode", |screen| screen.lines().any(|row| row.contains("mode:") && row.contains("Auto")));
    s.send(ENTER);
    s.wait_for("the other mode", |screen| shows(screen, "Auto", "Demo large"));
    s.send(F2);
    s.see("modes and options");
    s.send(ESC);
    s.see_no("modes and options");
    s.send(F2);
    s.send("zzzz");
    s.see("nothing matches");
    s.send(ENTER);
    s.send(ESC);
    s.see_no("nothing matches");
    s.see_no("modes and options");
    s.quit_with_text(&place);
}

#[test]
fn a_mode_that_is_refused_is_told() {
    let place = Place::new();
    let script = "[agent.error.\"session/set_mode\"]\ncode = -32602\nmessage = \"not now\"\n";
    let mut s = place.play(script, SIZE);
    s.ready();
    set_auto(&mut s);
    s.see("was not set: not now");
    s.wait_for("the old mode stays", |screen| shows(screen, "Ask", "Demo small"));
    s.quit(&place);
}

#[test]
fn f12_frees_the_mouse_and_takes_it_back() {
    let place = Place::new();
    let mut s = place.play("permissions", SIZE);
    s.ready();
    let from = s.written();
    s.send(F12);
    s.wait_for_bytes(from, b"\x1b[?1000l");
    s.see("the mouse is the terminal's now");
    let from = s.written();
    s.send(F12);
    s.wait_for_bytes(from, b"\x1b[?1000h\x1b[?1002h\x1b[?1006h");
    s.send(F12);
    s.see("the mouse is the terminal's now");
    s.quit(&place);
}

#[test]
fn commands_are_completed() {
    let place = Place::new();
    let mut s = place.play("permissions", SIZE);
    s.ready();
    s.write("/pl");
    s.see("/plan");
    s.send("\t");
    s.wait_for("completed", |screen| composer(screen) == "/plan");
    s.quit_with_text(&place);
}

#[test]
fn without_colours_no_colour_is_written() {
    let place = Place::new();
    let args = ["-c", "NO_COLOR=1 exec \"$@\"", "sh", super::session::BIN, "demo"];
    let mut s = place.run("/bin/sh", &args, SIZE);
    s.ready();
    s.prompt("go");
    s.see("Tab to answer");
    let bytes = s.quit(&place);
    for token in super::bytes::tokens(&bytes) {
        let super::bytes::Token::Csi(sequence) = token else { continue };
        let Some(styles) = sequence.strip_suffix('m') else { continue };
        let colour = |n: &str| n.parse::<u16>().is_ok_and(|n| (30..=49).contains(&n) && n != 39 && n != 49 || n >= 90);
        assert!(!styles.split(';').any(colour), "{sequence}");
    }
}
