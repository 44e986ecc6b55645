//! The whole program in both versions of the protocol: one table of scenarios, and what is agreed on at first.

use super::support::{Lab, demo};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The same script in this version.
fn run(version: &str, prompt: &str, script: &str, more: &[&str]) -> (Lab, super::support::Done) {
    let lab = Lab::new();
    lab.write("work/a.txt", "one\ntwo\n");
    let args = [&[prompt, "--json", "--protocol", version], more].concat();
    let done = lab.exec(&args, &lab.script(script));
    (lab, done)
}

const EDIT: &str = r#"
[[turn]]
[[turn.step]]
do = "thought"
text = "I think."
[[turn.step]]
do = "plan"
entries = [{ content = "change it", status = "in_progress" }]
[[turn.step]]
do = "edit"
tool = "edit"
path = "a.txt"
replace = [{ old = "two", new = "three" }]
[[turn.step]]
do = "say"
text = "Done."
"#;

const SHELL: &str = r#"
[[turn]]
[[turn.step]]
do = "terminal"
tool = "run"
command = "make"
via = "meta"
text = "all good\n"
[[turn.step]]
do = "say"
text = "It builds."
"#;

const ASK: &str = r#"
[[turn]]
[[turn.step]]
do = "tool"
name = "t"
title = "Delete a.txt"
kind = "delete"
status = "pending"
[[turn.step]]
do = "permission"
tool = "t"
[turn.step.call]
title = "Delete a.txt"
kind = "delete"
[[turn.step]]
do = "tool_update"
name = "t"
status = "failed"
[[turn.step]]
do = "say"
text = "As you like."
"#;

const STOPS: &str = r#"
[[turn]]
[[turn.step]]
do = "say"
text = "I have had"
[[turn.step]]
do = "stop"
reason = "max_tokens"
"#;

const FAILS: &str = r#"
[[turn]]
[[turn.step]]
do = "error"
code = -32603
message = "out of luck"
"#;

/// What a program sees of a run, without what is another thing in each.
fn seen(done: &super::support::Done) -> Value {
    let lines = done.json();
    let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).cloned().collect::<Vec<_>>();
    // How often a state between is seen depends on who was faster.
    let mut tools: BTreeMap<String, Value> = BTreeMap::new();
    for tool in of("tool") {
        tools.insert(tool["title"].to_string(), json!([tool["kind"], tool["status"]]));
    }
    let plans = of("plan").last().map(|plan| plan["entries"].clone());
    let result = done.result();
    json!({ "text": done.json_text("text"), "thought": done.json_text("thought"), "tools": tools, "plans": plans,
        "stop": result["stop_reason"], "code": result["exit_code"], "error": result["error"]["message"] })
}

#[test]
fn v2_139_the_same_script_is_the_same_in_both_versions() {
    for (name, script, allow, code) in [
        ("edit", EDIT, "all", 0),
        ("shell", SHELL, "all", 0),
        ("ask", ASK, "none", 0),
        ("stops", STOPS, "all", 3),
        ("fails", FAILS, "all", 3),
    ] {
        let (one, first) = run("1", "go", script, &["--allow", allow]);
        let (two, second) = run("2", "go", script, &["--allow", allow]);
        first.assert_code(code);
        second.assert_code(code);
        assert_eq!(seen(&first), seen(&second), "{name}");
        let text = |lab: &Lab| std::fs::read_to_string(lab.path("work/a.txt")).unwrap();
        assert_eq!(text(&one), text(&two), "{name}");
        let protocol = |done: &super::support::Done| {
            done.json().iter().find(|line| line["type"] == "session").map(|line| line["protocol"].clone())
        };
        assert_eq!((protocol(&first), protocol(&second)), (Some(json!(1)), Some(json!(2))), "{name}");
    }
}

#[test]
fn v2_135_output_of_a_terminal_of_the_agents_own_is_an_event_of_its_own() {
    let script = "[[turn]]\n[[turn.step]]\ndo = \"update\"\nupdate = { sessionUpdate = \"terminal_update\", terminalId = \"x\", \
                  command = \"make\", exitStatus = { exitCode = 3 } }\n";
    let (_lab, done) = run("2", "go", script, &[]);
    let terminal = done.json().into_iter().find(|line| line["type"] == "terminal").expect("a terminal");
    assert_eq!((&terminal["command"], &terminal["exit"]["code"]), (&json!("make"), &json!(3)));
}

#[test]
fn v2_001_an_agent_of_the_second_version_only_is_started_once_more() {
    let script = "[agent]\nspeaks = [2]\n[[turn]]\n[[turn.step]]\ndo = \"say\"\ntext = \"Hello.\"\n";
    let lab = Lab::new();
    let done = lab.exec(&["go", "--json"], &lab.script(script));
    done.assert_code(0);
    let lines = done.json();
    assert!(lines.iter().any(|line| line["type"] == "session" && line["protocol"] == 2), "{lines:?}");
    let told =
        |line: &Value| line["title"].as_str().is_some_and(|title| title.contains("speaks version 2 of the protocol"));
    assert!(lines.iter().any(|line| line["type"] == "notice" && told(line)), "{lines:?}");
    assert_eq!(done.json_text("text"), "Hello.");
}

#[test]
fn v2_007_what_is_asked_for_is_final() {
    let first = "[agent]\nspeaks = [1]\n";
    let second = "[agent]\nspeaks = [2]\n";
    let lab = Lab::new();
    lab.exec(&["go", "--protocol", "2"], &lab.script(first))
        .assert_says(5, &["speaks version 1", "version 2 was asked for"]);
    let lab = Lab::new();
    lab.exec(&["go", "--protocol", "1"], &lab.script(second)).assert_says(5, &["refuses version 1", "it speaks 2"]);
    let lab = Lab::new();
    lab.write("config/acp-tui/config.toml", "protocol = \"1\"\n");
    lab.exec(&["go"], &lab.script(second)).assert_says(5, &["refuses version 1"]);
    // For one agent it may be another one.
    let lab = Lab::new();
    let agent = lab.script("[[turn]]\n[[turn.step]]\ndo = \"say\"\ntext = \"Hello.\"\n");
    let (command, args) = agent.split_first().unwrap();
    let config = format!("protocol = \"1\"\n[agents.mine]\ncommand = {command:?}\nargs = {args:?}\nprotocol = \"2\"\n");
    lab.write("config/acp-tui/config.toml", &config);
    let done = lab.exec(&["go", "--json", "--agent", "mine"], &[]);
    assert!(done.assert_code(0).json().iter().any(|line| line["protocol"] == 2));
    let lab = Lab::new();
    lab.exec(&["go", "--protocol", "3"], &demo("demo")).assert_says(2, &["--protocol is 1 or 2, not `3`"]);
}
