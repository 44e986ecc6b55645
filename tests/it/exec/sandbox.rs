//! `--sandbox`: what the agent and its commands can write.
#![cfg(target_os = "linux")]

use super::support::Lab;
use acp_tui::host::process::check_sandbox;
use seccompiler::{apply_filter, sock_filter};
use serde_json::Value;

/// Runs this, and all that it starts, on a kernel that does not know Landlock.
fn without_landlock<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    const LOAD: u16 = 0x20;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    // `landlock_create_ruleset`, of every architecture, and `SECCOMP_RET_ERRNO` with `ENOSYS`.
    let filter =
        [(LOAD, 0, 0, 0), (JUMP_IF_EQUAL, 0, 1, 444), (RETURN, 0, 0, 0x0005_0026), (RETURN, 0, 0, 0x7fff_0000)];
    let filter = filter.map(|(code, jt, jf, k)| sock_filter { code, jt, jf, k });
    let confined = || {
        apply_filter(&filter).unwrap();
        run()
    };
    std::thread::scope(|scope| scope.spawn(confined).join().unwrap())
}

/// What doctor says of this, and what is wrong with it.
fn said_by_doctor(lab: &Lab, name: &str) -> (String, Option<String>) {
    let out = lab.program().args(["doctor", "--json"]).output().unwrap();
    let all: Value = serde_json::from_slice(&out.stdout).unwrap();
    let row = all["program"].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap();
    (row["value"].as_str().unwrap().to_owned(), row["wrong"].as_str().map(str::to_owned))
}

#[test]
fn where_the_kernel_cannot_confine_doctor_says_so_and_nothing_is_started() {
    let lab = Lab::new();
    let agent = lab.turn(r#"{ do = "say", text = "here" }"#);
    let all = ["what agents write", "what agents read", "what agents reach", "signals and abstract sockets"];
    let of_all = || all.map(|name| said_by_doctor(&lab, name));
    for (said, wrong) in without_landlock(of_all) {
        assert_eq!((said.as_str(), wrong), ("cannot be confined", None), "nobody wants it");
    }
    let (command, args) = agent.split_first().unwrap();
    let text = format!(
        "[agents.mine]\ncommand = {command:?}\nargs = {args:?}\nsandbox = true\nsandbox_connect = []\nsandbox_listen = []\n"
    );
    lab.write("config/acp-tui/config.toml", &text);
    let [(_, write), _, (_, reach), _] = without_landlock(of_all);
    assert!(write.is_some_and(|why| why.contains("Landlock") && why.contains("leave the sandbox out")));
    assert!(reach.is_some_and(|why| why.contains("Landlock")));
    let ran = |args: &[&str]| lab.program().args(args).output().unwrap();
    let out = without_landlock(|| ran(&["exec", "x", "--agent", "mine"]));
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.code() == Some(2) && out.stdout.is_empty() && said.contains("leave the sandbox out"), "{said}");
    if check_sandbox().is_ok() {
        assert!(of_all().iter().all(|(said, wrong)| said != "cannot be confined" && wrong.is_none()));
    }
}

/// The agent's own attempt, and that of a command in a terminal of the client.
fn steps() -> &'static str {
    r#"{ do = "request", method = "terminal/create", params = { sessionId = "{session}", command = "sh", args = ["-c", "echo x > in-terminal; echo x > ../from-terminal"] } },
    { do = "request", method = "fs/write_text_file", params = { sessionId = "{session}", path = "{cwd}/by-client", content = "x" } },"#
}

#[test]
fn an_agent_and_its_commands_write_in_the_directory_of_the_session_only() {
    let lab = Lab::new();
    let script = lab.turn(steps()).join(" ");
    let agent = lab.shell_agent(&format!("echo x > in-agent; echo x > ../from-agent\nexec {script}\n"));
    let done = lab.exec(&["x", "--sandbox", "--allow", "all"], &agent);
    if check_sandbox().is_err() {
        done.assert_says(2, &["--sandbox", "leave the sandbox out"]);
        return;
    }
    done.assert_code(0);
    let outside = lab.cwd().parent().unwrap().to_owned();
    for name in ["in-agent", "in-terminal", "by-client"] {
        assert!(lab.cwd().join(name).exists(), "{name}");
    }
    for name in ["from-agent", "from-terminal"] {
        assert!(!outside.join(name).exists(), "{name}");
    }
}

#[test]
fn an_agent_that_cannot_keep_its_state_is_told_with_what_to_do() {
    if check_sandbox().is_err() {
        // There is no sandbox that it could be in the way of.
        return;
    }
    let lab = Lab::new();
    let state = lab.path("state-of-agent");
    std::fs::create_dir(&state).unwrap();
    let line = format!("echo x > {}/file || exit 1\n", state.display());
    lab.exec(&["x", "--sandbox"], &lab.shell_agent(&line)).assert_says(5, &["sandbox_write", "ended: exit 1"]);
    let done = lab.exec(&["x"], &lab.shell_agent(&line));
    assert!(!done.err().contains("sandbox_write"), "{}", done.err());
}

#[test]
fn what_an_agent_is_configured_to_write_has_to_be_there() {
    let lab = Lab::new();
    let agent = lab.turn(r#"{ do = "say", text = "here" }"#);
    let (command, args) = agent.split_first().unwrap();
    let place = lab.path("state-of-agent");
    let text = format!(
        "[agents.mine]\ncommand = {command:?}\nargs = {args:?}\nsandbox = true\nsandbox_write = [{:?}]\n",
        place.to_str().unwrap()
    );
    lab.write("config/acp-tui/config.toml", &text);
    let run = || lab.program().args(["exec", "x", "--agent", "mine"]).output().unwrap();
    let out = run();
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    if check_sandbox().is_err() {
        assert!(out.status.code() == Some(2) && said.contains("leave the sandbox out"), "{said}");
        return;
    }
    assert!(out.status.code() == Some(2) && said.contains("state-of-agent is not there"), "{said}");
    std::fs::create_dir(&place).unwrap();
    let out = run();
    assert_eq!(String::from_utf8_lossy(&out.stdout).trim(), "here", "{}", String::from_utf8_lossy(&out.stderr));
}
