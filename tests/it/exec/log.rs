//! The log: says what was decided, and nothing of what was said.

use super::support::*;
use std::fs;
use std::process::Stdio;

fn log(lab: &Lab) -> String {
    fs::read_to_string(lab.path("state/acp-tui/log/acp-tui.log")).unwrap_or_default()
}

#[test]
fn the_log_says_what_was_decided_and_holds_nothing_that_was_said() {
    let lab = Lab::new();
    lab.write("work/file-SECRET.txt", "content-SECRET\n");
    let agent = lab.turn(
        r#"{ do = "say", text = "answer-SECRET" },
{ do = "read", path = "file-SECRET.txt" },
{ do = "terminal", tool = "t", command = "sh", args = ["-c", "echo output-SECRET"] },"#,
    );
    let mut command = lab.exec_command(&["prompt-SECRET", "--allow", "all"], &agent);
    command.env("ACP_TUI_LOG", "trace").env("TOKEN", "environment-SECRET");
    let done = Running::start(command, Stdio::null()).finish();
    done.assert_code(0);
    let answer = String::from_utf8_lossy(&done.stdout);
    assert!(answer.contains("answer-SECRET"), "{answer}");
    let log = log(&lab);
    assert!(log.contains("cli::run: starts") && log.contains("code=0"), "{log}");
    for decided in [
        "the agent is started",
        "the handshake is done",
        "the session is open",
        "the agent asks",
        "done and answered",
        "a command has ended",
        "the turn has ended",
        "the last look",
        "agents and commands have ended",
    ] {
        assert!(log.contains(decided), "{decided}: {log}");
    }
    assert!(!log.contains("SECRET"), "{log}");
}

#[test]
fn without_anything_to_say_there_is_no_log() {
    let lab = Lab::new();
    lab.exec(&["hello"], &demo("demo")).assert_code(0);
    assert!(!lab.path("state/acp-tui/log").exists());
    let mut command = lab.exec_command(&["hello"], &demo("demo"));
    command.env("ACP_TUI_LOG", "loud-SECRET");
    Running::start(command, Stdio::null()).finish().assert_code(0);
    let log = log(&lab);
    assert!(log.contains("WARN cli::run: ACP_TUI_LOG is none of off") && !log.contains("SECRET"), "{log}");
}
