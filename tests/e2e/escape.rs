//! Nothing that an agent sends may control the person's terminal: the whole corpus, every byte looked at.

use super::bytes::assert_harmless;
use super::session::{
    CTRL_C, CTRL_END, CTRL_HOME, CTRL_O, ENTER, ESC, F2, PAGE_DOWN, Place, SHIFT_TAB, Session, asset,
};
use std::time::Duration;

fn walk(s: &mut Session) {
    s.send(CTRL_HOME);
    for _ in 0..12 {
        s.send(PAGE_DOWN);
        s.quiet(Duration::from_millis(40));
    }
    s.send(CTRL_END);
    s.quiet(Duration::from_millis(40));
}

#[test]
fn the_corpus_in_a_whole_session() {
    for size in [(110, 40), (50, 14)] {
        let place = Place::new();
        let mut s = place.play("escape", size);
        s.ready();
        s.send(SHIFT_TAB);
        s.send(F2);
        s.quiet(Duration::from_millis(100));
        s.send("mode");
        s.send("mode");
        s.send("\x1b[B");
        // First what was typed goes, then the list.
        s.send(ESC);
        s.quiet(Duration::from_millis(100));
        s.send(ESC);
        s.quiet(Duration::from_millis(100));
        s.send("/");
        s.quiet(Duration::from_millis(100));
        s.send("\t");
        s.quiet(Duration::from_millis(100));
        s.send(CTRL_C);
        s.see("cleared");
        s.prompt("go");
        s.see("waiting for you");
        s.focus();
        s.send("v");
        s.quiet(Duration::from_millis(50));
        for _ in 0..8 {
            s.send(PAGE_DOWN);
            s.quiet(Duration::from_millis(30));
        }
        // A digit that comes together with other keys answers nothing.
        s.quiet(Duration::from_millis(150));
        s.send("1");
        s.quiet(Duration::from_millis(150));
        if size.1 < 20 {
            // There is room for one answer, the one that refuses: the digit has brought its own into sight.
            s.send("1");
        }
        s.see("corpus done");
        s.send(CTRL_O);
        walk(&mut s);
        s.prompt("error");
        s.see("ended with an error");
        s.quiet(Duration::from_millis(100));
        s.prompt("refused session");
        s.see("log-in needed ·");
        s.focus();
        s.quiet(Duration::from_millis(100));
        s.send(ESC);
        walk(&mut s);
        s.send(CTRL_C);
        s.quiet(Duration::from_millis(50));
        s.send(CTRL_C);
        assert_eq!(s.end(), 0);
        s.assert_restored();
        let bytes = s.bytes();
        let text = String::from_utf8_lossy(&bytes);
        for seen in ["message", "entry", "before", "owned", "meta", "link"] {
            assert!(text.contains(seen), "{seen} was never on the screen");
        }
        assert!(assert_harmless(&bytes).is_empty(), "nothing was copied");
    }
}

/// The text of the corpus that its agent writes to stderr.
fn nasty() -> String {
    let text = std::fs::read_to_string(asset("assets/scenarios/escape.toml")).unwrap();
    let table: toml::Table = toml::from_str(&text).unwrap();
    table["agent"]["stderr"].as_str().unwrap().trim_end().to_owned()
}

fn toml_string(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[test]
fn the_corpus_from_a_dying_agent_and_in_errors() {
    let nasty = nasty();
    assert!(nasty.contains("\x1b]52;") && nasty.contains('\u{9b}') && nasty.contains('\u{202e}'));
    let one = toml_string(&nasty);
    let line = toml_string(&format!("{nasty}\n"));
    let scripts = [
        format!("[agent]\nexit_at_start = 3\nstderr = {line}\nbanner = {line}\n"),
        format!("[agent]\nprotocol_version = {one}\n"),
        format!("[agent]\n[agent.error.initialize]\ncode = -32603\nmessage = {one}\ndata = {one}\n"),
        format!("[agent]\n[agent.error.\"session/new\"]\ncode = -32000\nmessage = {one}\ndata = {{ x = {one} }}\n"),
    ];
    for script in scripts {
        let place = Place::new();
        let mut s = place.play(&script, (100, 30));
        s.see("start it again");
        s.focus();
        s.send(PAGE_DOWN);
        s.quiet(Duration::from_millis(60));
        s.send(ESC);
        s.see("Tab to answer");
        assert_harmless(&s.quit(&place));
    }
    let place = Place::new();
    let script = format!(
        "[[turn]]\ndefault = true\nstep = [{{ do = \"stderr\", text = {line} }}, {{ do = \"wait\", ms = 100, firm = true }}, {{ do = \"die\", code = 3 }}]\n"
    );
    let mut s = place.play(&script, (100, 30));
    s.ready();
    s.prompt("go");
    s.see("exit 3");
    assert_harmless(&s.quit(&place));
}

#[test]
fn the_corpus_typed_and_pasted_by_the_person() {
    let place = Place::new();
    let mut s = place.play("permissions", (100, 30));
    s.ready();
    let nasty = nasty().replace('\x1b', "\u{9b}");
    s.send(&format!("\x1b[200~{nasty} last\x1b[201~"));
    s.see("last");
    s.send(ENTER);
    s.see("waiting for you");
    assert_harmless(&s.quit(&place));
}
