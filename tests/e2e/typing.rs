//! A command of the agent waits for input: the person types into it, or kills it.

use super::session::Place;

const SCRIPT: &str = r#"
[[turn]]
match = "ask"
step = [
  { do = "terminal", tool = "ask", command = "sh", args = ["-c", "stty -echo; printf 'password: '; read x; stty echo; echo; echo \"got ${#x} letters\""] },
  { do = "say", text = "the command ended with {exit}: {answer}" },
]

[[turn]]
match = "hang"
step = [
  { do = "terminal", tool = "hang", command = "sh", args = ["-c", "echo sta''rted; sleep 600"] },
  { do = "say", text = "the command ended with {exit}" },
]
"#;

#[test]
fn scenario_32_a_password_is_typed_into_a_command() {
    let place = Place::new();
    let mut s = place.play(SCRIPT, (80, 24));
    s.ready();
    s.prompt("ask");
    s.see("password:");
    // R-369: after a while the card offers the keys.
    s.see("F6 types into it");
    s.send("\x1bi");
    s.see("typing into: sh -c");
    s.send("hunter2\r");
    s.see("got 7 letters");
    s.see("the command ended with 0");
    s.see_no("typing into");
    // What is typed after a pause is a prompt again.
    s.pass(std::time::Duration::from_millis(1200));
    s.write("next");
    assert!(!s.screen().contains("hunter2"), "{}", s.dump());
    assert!(super::session::find(&s.bytes(), b"hunter2").is_none());
    let written = journals(&place.path(""));
    assert!(written.contains("got 7 letters") && !written.contains("hunter2"), "{written}");
    s.send(super::session::CTRL_C);
    s.quit(&place);
}

#[test]
fn r_397_a_running_command_is_killed_and_the_agent_goes_on() {
    let place = Place::new();
    let mut s = place.play(SCRIPT, (80, 24));
    s.ready();
    s.prompt("hang");
    // Said by the command: its title has the word in two pieces.
    s.see("started");
    s.send("\x1bk");
    s.see("the command ended with");
    s.see("ready · F1");
    s.quit(&place);
}

/// Everything that the program has written below a directory.
fn journals(dir: &std::path::Path) -> String {
    let mut all = String::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.push_str(&journals(&path));
        } else if path.extension().is_some_and(|e| e == "jsonl") {
            all.push_str(&std::fs::read_to_string(&path).unwrap_or_default());
        }
    }
    all
}
