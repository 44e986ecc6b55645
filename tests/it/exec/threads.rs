//! The system gives no more threads, as where an account has as many as it may.

use super::support::{Done, Lab, Running};
use std::process::Stdio;

/// No thread can have a stack of this size, whoever starts it.
const TOO_MUCH: &str = "70368744177664";

fn without_threads(lab: &Lab, args: &[&str]) -> Done {
    let mut command = lab.program();
    command.args(args).env("RUST_MIN_STACK", TOO_MUCH);
    Running::start(command, Stdio::null()).finish()
}

#[test]
fn what_only_reads_and_takes_back_does_without_further_threads() {
    let lab = Lab::new();
    let agent = lab.turn(r#"{ do = "write", path = "f", text = "one\n" }, { do = "say", text = "done" }"#);
    lab.exec(&["x", "--allow", "all"], &agent).assert_code(0);
    for (args, shows) in [
        (&["sessions"][..], "x"),
        (&["sessions", "--json"], "\"title\""),
        (&["review", "last"], "created f"),
        (&["blame", "f"], "one"),
        (&["search", "done"], "done"),
        (&["undo", "last", "--yes"], "removed f"),
    ] {
        let done = without_threads(&lab, args);
        done.assert_code(0);
        assert!(
            done.out().contains(shows) && !done.err().contains("panicked"),
            "{args:?}: {} {}",
            done.out(),
            done.err()
        );
    }
    assert!(!lab.cwd().join("f").exists());
}

#[test]
fn a_run_that_cannot_have_its_threads_says_what_to_do_and_touches_nothing() {
    let lab = Lab::new();
    let agent = lab.turn(r#"{ do = "write", path = "f", text = "one\n" }"#);
    let report = lab.path("report.json");
    let mut args = vec!["exec", "x", "--allow", "all", "--review", report.to_str().unwrap(), "--"];
    args.extend(agent.iter().map(String::as_str));
    let done = without_threads(&lab, &args);
    done.assert_says(1, &["nothing was begun", "no more threads", "ulimit -u"]);
    assert_eq!(done.err().lines().count(), 1, "{}", done.err());
    assert!(report.exists() && !lab.cwd().join("f").exists() && !lab.sessions().exists());
    let done = without_threads(&lab, &["--plain", "--", "true"]);
    done.assert_says(1, &["nothing was begun", "no more threads"]);
}
