//! A session that went on: what its runs have changed, and how its turns are counted, asked from the outside.

use super::support::{Lab, Running, run};
use serde_json::Value;
use std::process::Stdio;

/// An agent that keeps its sessions, and writes a file when it is asked to.
fn writer(lab: &Lab, load: bool, more: &str) -> Vec<String> {
    let file = lab.path("kept.json");
    let writes = |name: &str| {
        format!(
            "[[turn]]\nmatch = \"write {name}\"\nstep = [{{ do = \"write\", tool = \"w\", path = \"{name}\", text = \"{name}\\n\" }}]\n"
        )
    };
    lab.script_named(
        "writer",
        &format!(
            "[agent]\nkeeps = {:?}\ncapabilities = {{ loadSession = {load}, sessionCapabilities = {{ {more} }} }}\n{}{}\
             [[turn]]\ndefault = true\nstep = [{{ do = \"say\", text = \"turn {{turn}}: {{prompt}}\" }}]\n",
            file.to_str().unwrap(),
            writes("a"),
            writes("b"),
        ),
    )
}

/// The session goes on as a person has it go on, who sees what was said before.
fn goes_on(lab: &Lab, prompts: &str) {
    let mut command = lab.program();
    command.args(["--plain", "--continue"]);
    let mut running = Running::start(command, Stdio::piped());
    running.give(prompts.as_bytes());
    running.finish().assert_code(0);
}

#[test]
fn each_line_is_put_down_to_the_prompt_of_its_turn_in_a_session_that_went_on() {
    for (load, more) in [(true, ""), (false, "resume = {}")] {
        let lab = Lab::new();
        lab.exec(&["hello", "--allow", "all"], &writer(&lab, load, more)).assert_code(0);
        lab.exec(&["hello again", "--continue"], &[]).assert_code(0);
        goes_on(&lab, "please write a\n");
        goes_on(&lab, "how are you\nnow write b\n");
        for (file, turn, prompt) in [("a", 3, "please write a"), ("b", 5, "now write b")] {
            let line: Value = serde_json::from_str(run(&lab, &["blame", file, "--json"]).assert_code(0).out()).unwrap();
            assert_eq!((&line["turn"], &line["prompt"]), (&turn.into(), &prompt.into()), "{load}");
        }
        // They are counted alike everywhere.
        let review = run(&lab, &["review", "last"]);
        assert!(review.assert_code(0).out().contains("write, turn 5"), "{}", review.out());
        let undo = |turn: &str| run(&lab, &["undo", "last", "--dry-run", "--turn", turn]);
        assert_eq!(undo("5").assert_code(0).out(), "would remove b\n");
        undo("6").assert_says(2, &["no turn 6, only 5"]);
        let elsewhere = undo("3");
        elsewhere.assert_says(2, &["an earlier run"]);
        // The command that it names takes back just that.
        let named = elsewhere.err().split("acp-tui ").last().unwrap().trim().to_owned();
        let args: Vec<&str> = named.split(' ').chain(["--dry-run"]).collect();
        assert_eq!(run(&lab, &args).assert_code(0).out(), "would remove a\n", "{named}");
        assert!(named.ends_with("--turn 3"), "{named}");
    }
}

#[test]
fn what_an_earlier_run_has_left_is_named_and_is_what_comes_next() {
    let lab = Lab::new();
    lab.exec(&["write a", "--allow", "all"], &writer(&lab, true, "")).assert_code(0);
    goes_on(&lab, "hello\n");
    let listed: Value = serde_json::from_str(run(&lab, &["sessions", "--json"]).assert_code(0).out()).unwrap();
    assert_eq!(listed["sessions"][0]["changes"]["pending"], 1);
    let review = run(&lab, &["review", "last"]);
    review.assert_says(0, &["an earlier run of the session has changed 1 file, 1 hunk to review", "acp-tui undo "]);
    assert_eq!(review.out(), "no changes in this run of the session\n");
    goes_on(&lab, "write b\n");
    run(&lab, &["undo", "last", "--yes"]).assert_says(0, &["an earlier run of the session has changed 1 file"]);
    assert!(lab.path("work/a").exists() && !lab.path("work/b").exists());
    let undone = run(&lab, &["undo", "last", "--yes"]);
    undone.assert_says(0, &["the last run of the session has nothing left to take back", "earlier run"]);
    assert_eq!((undone.out(), lab.path("work/a").exists()), ("removed a\n", false));
    assert_eq!(run(&lab, &["undo", "last", "--yes"]).assert_code(0).out(), "nothing to take back\n");
    // The last that was taken back is what comes again first.
    run(&lab, &["redo", "last"]).assert_says(0, &["an earlier run of the session"]);
    assert!(lab.path("work/a").exists() && !lab.path("work/b").exists());
    run(&lab, &["redo", "last"]).assert_code(0);
    assert!(lab.path("work/b").exists());
    run(&lab, &["redo", "last"]).assert_says(2, &["nothing to do again"]);
}
