//! Where the lines of a file came from, asked from the outside.

use super::support::{Done, Lab, run};
use serde_json::{Value, json};

fn lines(done: &Done) -> Vec<Value> {
    done.out().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// One prompt whose answer is to write a file through the client; the session's id.
fn writes(lab: &Lab, prompt: &str, text: &str) -> String {
    let steps =
        format!(r#"{{ do = "write", tool = "w", path = "f", text = {text:?} }}, {{ do = "say", text = "done" }}"#);
    let done = lab.exec(&[prompt, "--json", "--allow", "all"], &lab.turn(&steps));
    done.assert_code(0).result()["session_id"].as_str().unwrap().to_owned()
}

#[test]
fn each_line_is_put_down_to_session_turn_and_prompt_and_the_persons_are_unknown() {
    let lab = Lab::new();
    lab.write("work/f", "old\nold too\n");
    let first = writes(&lab, "write the first line", "first\nold\nold too\n");
    lab.write("work/f", "first\nold\nmine\nold too\n");
    let second = writes(&lab, "and a last one", "first\nold\nmine\nold too\nlast\n");
    let blamed = lines(run(&lab, &["blame", "f", "--json"]).assert_code(0));
    let agent = blamed[0]["agent"].clone();
    let known = |line: u64, id: &str, prompt: &str| json!({ "line": line, "session_id": id, "agent": agent, "turn": 1, "prompt": prompt, "cause": "write" });
    let unknown = |line: u64| json!({ "line": line, "session_id": null, "agent": null, "turn": null, "prompt": null, "cause": null });
    let want = [
        known(1, &first, "write the first line"),
        unknown(2),
        unknown(3),
        unknown(4),
        known(5, &second, "and a last one"),
    ];
    assert_eq!(blamed, want);
    assert!(agent.is_string());
    // One line by itself, for programs and for people.
    assert_eq!(lines(run(&lab, &["blame", "f:5", "--json"]).assert_code(0)), [want[4].clone()]);
    let shown = run(&lab, &["blame", "f"]);
    for part in ["unknown", "1  first", "5  last", "write the first line", "and a last one", &first] {
        assert!(shown.assert_code(0).out().contains(part), "{part}: {}", shown.out());
    }
    assert!(run(&lab, &["blame", "f:1"]).assert_code(0).out().contains("write the first line"));
    // A file without lines has none; one whose name ends like a line is a file.
    lab.write("work/empty", "");
    assert_eq!(run(&lab, &["blame", "empty"]).assert_code(0).out(), "");
    lab.write("work/f:7", "x\n");
    assert_eq!(lines(run(&lab, &["blame", "f:7", "--json"]).assert_code(0)), [unknown(1)]);
    // When a session is forgotten its lines are unknown, and so is that there was one.
    run(&lab, &["sessions", "--remove", &first, "--yes"]).assert_code(0);
    assert_eq!(lines(run(&lab, &["blame", "f:1", "--json"]).assert_code(0)), [unknown(1)]);
}

#[test]
fn what_is_not_kept_any_more_is_said() {
    let lab = Lab::new();
    let first = writes(&lab, "one", "one\n");
    let reviews = lab.path("state/acp-tui/review");
    let review = std::fs::read_dir(&reviews).unwrap().flatten().find(|dir| dir.path().join("ledger.jsonl").exists());
    let review = review.unwrap().path();
    writes(&lab, "two", "one\ntwo\n");
    // What a session called itself, not what it changed, is lost with its journal.
    let stem = review.file_name().unwrap().to_str().unwrap().to_owned();
    std::fs::rename(lab.sessions().join(format!("{stem}.jsonl")), lab.path("away")).unwrap();
    let line = lines(run(&lab, &["blame", "f:1", "--json"]).assert_code(0)).remove(0);
    assert_eq!((&line["session_id"], &line["turn"], &line["prompt"]), (&json!(first), &json!(1), &json!(null)));
    std::fs::rename(lab.path("away"), lab.sessions().join(format!("{stem}.jsonl"))).unwrap();
    // The record is damaged, then gone.
    let ledger = review.join("ledger.jsonl");
    let text = std::fs::read_to_string(&ledger).unwrap();
    std::fs::write(&ledger, text.replacen("\"step\"", "\"stop\"", 1)).unwrap();
    run(&lab, &["blame", "f"]).assert_says(0, &["the record of this session is damaged"]);
    std::fs::remove_dir_all(&review).unwrap();
    run(&lab, &["blame", "f"]).assert_says(0, &["1 session here are not kept"]);
    std::fs::remove_dir_all(&reviews).unwrap();
    run(&lab, &["blame", "f"]).assert_says(2, &["nothing is known of", "2 sessions"]);
}

#[test]
fn what_cannot_be_asked_about_is_said_with_what_to_do() {
    let lab = Lab::new();
    lab.write("work/f", "x\n");
    run(&lab, &["blame", "f"]).assert_says(2, &["no session has worked in a directory above", "sessions --all"]);
    writes(&lab, "x", "y\n");
    run(&lab, &["blame", "nothing"]).assert_says(2, &["there is no such file"]);
    run(&lab, &["blame", "."]).assert_says(2, &["a directory; name a file in it"]);
    run(&lab, &["blame", "f:9"]).assert_says(2, &["has no line 9, only 1 line"]);
    run(&lab, &["blame", "f:0"]).assert_says(2, &["counted from 1"]);
    run(&lab, &["blame", "f:99999999999999999999999"]).assert_says(2, &["no line"]);
    std::fs::write(lab.path("work/binary"), [0_u8; 16]).unwrap();
    run(&lab, &["blame", "binary"]).assert_says(2, &["no text"]);
    let outside = lab.write("outside", "x\n");
    run(&lab, &["blame", outside.to_str().unwrap()]).assert_says(2, &["no session has worked"]);
}
