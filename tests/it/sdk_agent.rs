//! `exec` against an agent that was built on the SDK crate (`examples/sdk_agent.rs`), so that both ends of the
//! connection do not come from the same hands.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::exec::support::{Lab, PROGRAM};
use std::path::Path;

/// Cargo builds examples before it runs tests, beside the program.
fn agent() -> Vec<String> {
    let path = Path::new(PROGRAM).with_file_name("examples").join("sdk_agent");
    assert!(
        path.exists(),
        "{} is missing: `cargo test --test it` builds it, `cargo build --examples` too",
        path.display()
    );
    vec![path.to_str().unwrap().into()]
}

#[test]
fn a_turn_with_every_service_of_the_client() {
    let lab = Lab::new();
    std::fs::write(lab.cwd().join("in.txt"), "grüße\n").unwrap();
    let done = lab.exec(&["copy it", "--allow", "all", "--json"], &agent());
    done.assert_code(0);
    assert_eq!(std::fs::read_to_string(lab.cwd().join("out.txt")).unwrap(), "GRÜSSE\n");
    let said = done.json_text("text");
    assert_eq!(said, "You asked: copy it\nexit Some(0), output GRÜSSE");
    let lines = done.json();
    let tool = lines.iter().rfind(|line| line["type"] == "tool").unwrap();
    assert_eq!((tool["title"].as_str(), tool["status"].as_str()), (Some("Copy a file"), Some("completed")));
    let result = done.result();
    assert_eq!(
        (result["stop_reason"].as_str(), result["session_id"].as_str()),
        (Some("end_turn"), Some("sdk-session"))
    );
    lab.assert_nothing_left();
}

#[test]
fn a_refusal_is_understood() {
    let lab = Lab::new();
    std::fs::write(lab.cwd().join("in.txt"), "text\n").unwrap();
    let done = lab.exec(&["copy it"], &agent());
    done.assert_code(0);
    assert_eq!(done.out(), "You asked: copy it\n\nThen not.\n");
    assert!(!lab.cwd().join("out.txt").exists());
}
