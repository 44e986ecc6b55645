//! What stands on the status line and beside the screen: words of the person's own program, the shape of the cursor.

use super::session::{CTRL_D, ESC, Place, find};

const SCRIPT: &str = r#"
[[turn]]
default = true
step = [ { do = "say", text = "all done" } ]
"#;

#[test]
fn a_program_of_the_persons_is_told_of_the_session_and_its_first_line_stands_there() {
    let place = Place::new();
    let words =
        r#"read -r told; case $told in *'"state":"ready"'*) printf '\033[32mthe %s\033[2J\nmore\n' first;; esac"#;
    place.config(&format!("status_command = [\"sh\", \"-c\", '''{words}''']\n"));
    let mut s = place.play(SCRIPT, (80, 24));
    s.ready();
    let screen = s.see("the first");
    assert!(!screen.contains("more"), "{screen}");
    s.prompt("go");
    s.see("all done");
    s.see("the first");
    s.quit(&place);
}

#[test]
fn a_program_that_fails_is_told_once() {
    let place = Place::new();
    place.config("status_command = [\"/no/such/program\"]\n");
    let s = place.play(SCRIPT, (100, 24));
    s.see("the status command: /no/such/program was not found");
    s.quit(&place);
}

#[test]
fn vims_modes_have_shapes_of_the_cursor_and_the_terminal_gets_its_own_back() {
    let place = Place::new();
    std::fs::write(place.path("config/acp-tui/keys.toml"), "preset = \"vim\"\n").unwrap();
    let mut s = place.play(SCRIPT, (80, 24));
    s.ready();
    s.wait_for_bytes(0, b"\x1b[6 q");
    let from = s.written();
    s.send(ESC);
    s.wait_for_bytes(from, b"\x1b[2 q");
    let from = s.written();
    s.send("i");
    s.wait_for_bytes(from, b"\x1b[6 q");
    s.send(CTRL_D);
    assert_eq!(s.end(), 0, "{}", s.dump());
    assert!(find(&s.bytes(), b"\x1b[0 q").is_some());
    let plain = Place::new();
    let s = plain.play(SCRIPT, (80, 24));
    s.ready();
    assert!(find(&s.bytes(), b" q").is_none(), "without Vim's keys the cursor is the person's");
    s.quit(&plain);
}
