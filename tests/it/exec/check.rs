//! `check`: what agents do against the protocol.

use super::support::{Lab, PROGRAM, demo};
use serde_json::Value;
use std::process::Output;

fn check(lab: &Lab, options: &[&str], agent: &[String]) -> Output {
    let agent: Vec<&str> = agent.iter().map(String::as_str).collect();
    lab.program().args([&["check"], options, &["--"], &agent].concat()).output().unwrap()
}

fn report(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

/// The requirements that a step has found violated.
fn rules<'a>(report: &'a Value, step: &str) -> Vec<&'a str> {
    let step = report["steps"].as_array().unwrap().iter().find(|one| one["step"] == step).unwrap();
    step["violations"].as_array().unwrap().iter().map(|found| found["requirement"].as_str().unwrap()).collect()
}

#[test]
fn an_agent_that_keeps_to_the_protocol_has_no_violations() {
    let lab = Lab::new();
    let output = check(&lab, &["--json"], &[PROGRAM, "demo-agent", "--fast"].map(str::to_owned));
    let report = report(&output);
    assert_eq!((output.status.code(), &report["violations"]), (Some(0), &Value::from(0)), "{report}");
    assert_eq!(report["agent"], "Demo agent 0.1.0");
}

const BAD: &str = r#"
echo 'welcome'
say() { printf '%s\n' "$1"; }
while read -r line; do
    id=${line#*\"id\":}; id=${id%%,*}
    case $line in
    *'"initialize"'*) say '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":"yes"}}}' ;;
    *'"session/new"'*) say '{"jsonrpc":"2.0","id":'$id',"result":{"sessionId":"s"}}' ;;
    *no-such-session*) say '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32602,"message":""}}' ;;
    *'"session/prompt"'*)
        say '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"weather"}}}'
        say '{"jsonrpc":"2.0","id":9,"method":"terminal/kill","params":{"sessionId":"s","terminalId":"t"}}'
        turn=$id
        case $line in *first*) say '{"jsonrpc":"2.0","id":'$id',"result":{}}' ;; esac ;;
    *'"session/cancel"'*) say '{"jsonrpc":"2.0","id":'$turn',"error":{"code":-32603,"message":"aborted"}}' ;;
    *'$/'*) ;;
    *news*) say '{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":""}}' ;;
    *'"method"'*) say '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32603,"message":""}}' ;;
    esac
done
"#;

#[test]
fn each_violation_is_named_by_its_requirement_with_the_message_that_shows_it() {
    let lab = Lab::new();
    let options = ["--json", "--prompt", "first", "--prompt", "second"];
    let output = check(&lab, &options, &lab.shell_agent(BAD));
    let report = report(&output);
    assert_eq!(output.status.code(), Some(1), "{report}");
    assert_eq!(rules(&report, "initialize"), ["R-052", "R-084"]);
    assert_eq!(rules(&report, "session"), Vec::<&str>::new());
    assert_eq!(rules(&report, "prompt"), ["R-068", "R-392", "R-219"]);
    assert_eq!(rules(&report, "cancel"), ["R-229", "R-068", "R-392"]);
    assert_eq!(rules(&report, "unknown method"), ["R-007", "R-447"]);
    assert_eq!(rules(&report, "invalid params"), ["R-009"]);
    assert_eq!(rules(&report, "notifications"), ["R-006"]);
    assert_eq!(rules(&report, "shutdown"), Vec::<&str>::new());
    let stray = &report["steps"][0]["violations"][0];
    assert_eq!(stray["frame"], "welcome");
    let junit = check(&lab, &["--junit", "--prompt", "first"], &lab.shell_agent("exit 3"));
    let xml = String::from_utf8(junit.stdout).unwrap();
    assert!(xml.starts_with("<?xml") && xml.contains("exit 3"), "{xml}");
    assert_eq!(junit.status.code(), Some(5));
}

#[test]
fn an_agent_that_does_not_answer_ends_the_step_and_not_the_check() {
    let lab = Lab::new();
    let silent = check(&lab, &["--timeout", "0.5"], &lab.shell_agent("echo thinking >&2; read line; exec sleep 60"));
    let said = String::from_utf8(silent.stdout).unwrap();
    assert!(said.contains("initialize is not answered within 0.5 s; it says: thinking"), "{said}");
    assert_eq!(silent.status.code(), Some(5));
    let hangs = BAD.replace("case $line in *first*", "case $line in *never*");
    let output = check(&lab, &["--json", "--timeout", "1", "--prompt", "first"], &lab.shell_agent(&hangs));
    let report = report(&output);
    assert!(rules(&report, "prompt").contains(&"R-216"), "{report}");
    // Tried with a fresh process.
    assert_eq!(rules(&report, "unknown method"), ["R-007", "R-447"]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn an_agent_that_keeps_to_version_2_has_no_violations() {
    let lab = Lab::new();
    let kept = lab.path("kept.json");
    let script = format!(
        "[agent]\nspeaks = [2]\nkeeps = {kept:?}\n[[turn]]\ndefault = true\nstep = [{{ do = \"say\", text = \"one two three\", chunk = 4 }}]\n"
    );
    let output = check(&lab, &["--json", "--protocol", "2"], &lab.script(&script));
    let report = report(&output);
    assert_eq!((output.status.code(), &report["violations"]), (Some(0), &Value::from(0)), "{report}");
    let steps: Vec<&str> =
        report["steps"].as_array().unwrap().iter().map(|step| step["step"].as_str().unwrap()).collect();
    for step in ["prompt", "cancel", "list", "close", "removed methods", "resume"] {
        assert!(steps.contains(&step), "{step}: {report}");
    }
    assert_eq!(report["steps"][0]["note"], "version 2");
}

const BAD_SECOND: &str = r#"
say() { printf '%s\n' "$1"; }
update() { say '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":'"$1"'}}'; }
while read -r line; do
    id=${line#*\"id\":}; id=${id%%,*}
    case $line in
    *'"initialize"'*) say '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":2,"capabilities":{"session":{}}}}' ;;
    *'"session/new"'*) say '{"jsonrpc":"2.0","id":'$id',"result":{"sessionId":"s"}}' ;;
    *no-such-session*) say '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32602,"message":""}}' ;;
    *'"session/prompt"'*)
        say '{"jsonrpc":"2.0","id":'$id',"result":{"messageId":"m'$id'"}}'
        update '{"sessionUpdate":"state_update","state":"running"}'
        update '{"sessionUpdate":"tool_call","toolCallId":"1"}'
        update '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}'
        case $line in *first*) update '{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}' ;; esac ;;
    *'"session/cancel"'*) sleep 1.2; update '{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}' ;;
    *'"session/close"'*)
        say '{"jsonrpc":"2.0","id":'$id',"result":{}}'
        update '{"sessionUpdate":"state_update","state":"idle"}' ;;
    *'"session/resume"'* | *'"session/set_mode"'*) say '{"jsonrpc":"2.0","id":'$id',"result":{}}' ;;
    *'"method"'*'"id"'* | *'"id"'*'"method"'*) say '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":""}}' ;;
    esac
done
"#;

#[test]
fn each_violation_of_version_2_is_named_by_its_requirement() {
    let lab = Lab::new();
    let options = ["--json", "--protocol", "2", "--prompt", "first", "--prompt", "second"];
    let output = check(&lab, &options, &lab.shell_agent(BAD_SECOND));
    let report = report(&output);
    assert_eq!(output.status.code(), Some(1), "{report}");
    assert_eq!(rules(&report, "initialize"), ["V2-005"]);
    assert_eq!(rules(&report, "prompt"), ["V2-039", "V2-080", "V2-073"]);
    assert_eq!(rules(&report, "cancel"), ["V2-060", "V2-080", "V2-073"]);
    assert_eq!(rules(&report, "list"), ["V2-021"]);
    assert_eq!(rules(&report, "close"), ["V2-033"]);
    assert_eq!(rules(&report, "removed methods"), ["V2-022"]);
    assert_eq!(rules(&report, "resume"), ["V2-025", "V2-024"]);
}

#[test]
fn an_agent_of_version_1_is_said_to_be_one() {
    let lab = Lab::new();
    let first = "read line; printf '%s\\n' '{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":1}}'; cat > /dev/null";
    let output = check(&lab, &["--protocol", "2"], &lab.shell_agent(first));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("it speaks version 1 only; check it without --protocol 2"), "{said}");
    assert_eq!(output.status.code(), Some(5));
    let refuses = "read line; printf '%s\\n' '{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":{\"code\":-32022,\"message\":\"no\",\"data\":{\"supported\":[3]}}}'; cat > /dev/null";
    let output = check(&lab, &["--protocol", "2"], &lab.shell_agent(refuses));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("it speaks [3]"), "{said}");
}

#[test]
fn of_a_recording_only_what_the_agent_did_then_is_told() {
    let lab = Lab::new();
    let file = lab.path("record.jsonl");
    let replay = [PROGRAM, "replay", "--fast", file.to_str().unwrap()].map(str::to_owned);
    for (protocol, steps) in [("1", ["cancel", "invalid params", "load"]), ("2", ["cancel", "list", "resume"])] {
        let agent = [PROGRAM, "demo-agent", "--fast"].map(str::to_owned);
        lab.record(&["hello", "--allow", "all", "--protocol", protocol], &agent).0.assert_code(0);
        let output = check(&lab, &["--json", "--protocol", protocol], &replay);
        let report = report(&output);
        assert_eq!((output.status.code(), &report["violations"]), (Some(0), &Value::from(0)), "{report}");
        for name in steps {
            let step = report["steps"].as_array().unwrap().iter().find(|one| one["step"] == name).unwrap();
            assert_eq!(step["note"], "a recording has no answer to this", "{step}");
        }
        std::fs::remove_file(&file).unwrap();
    }
    lab.record(&["kill", "--allow", "all"], &demo("death")).0.assert_code(5);
    let output = check(&lab, &["--json"], &replay);
    let report = report(&output);
    assert_eq!((output.status.code(), rules(&report, "prompt")), (Some(1), vec!["R-060"]), "{report}");
    assert_eq!(report["violations"], 1, "{report}");
}
