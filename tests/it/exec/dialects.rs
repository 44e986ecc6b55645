//! The whole program with agents of the older renditions, which share no code with it: a turn with a question, a file that
//! is read and one that is written, and a command.

use super::support::Lab;
use serde_json::{Value, json};

/// Answers the calls of the client, and keeps in `answers` what its own requests got.
const AGENT: &str = r#"
RECEIVED='"result":{"received":true}'
say() { printf '%s\n' "$1"; }
ask() {
  say "$1"
  while read -r got; do
    case $got in
      *'"method":"terminal/output"'*)
        printf '%s\n' "$got" >> pushed; n=${got#*'"id":'}; n=${n%%[,\}]*}
        say '{"jsonrpc":"2.0","id":'"$n"','"${PUSHED-$RECEIVED}"'}' ;;
      *) break ;;
    esac
  done
  printf '%s\n' "$got" >> answers
}
ok() { say '{"jsonrpc":"2.0","id":'"$id"',"result":'"$1"'}'; }
while read -r line; do
  id=${line#*'"id":'}; id=${id%%[,\}]*}
  case $line in
    *'"initialize"'*) ok "$HELLO" ;;
    *'"session/new"'*) ok '{"sessionId":"s"}' ;;
    *'"session/prompt"'*) turn "$id" ;;
  esac
done
"#;

const D0: &str = r#"
HELLO='{"protocolVersion":1,"agentInfo":{"name":"older","version":"1"},"capabilities":{"loadSession":false}}'
turn() {
  ask '{"jsonrpc":"2.0","id":101,"method":"session/request_permission","params":{"sessionId":"s","operation":"file_write","resource":"'"$PWD"'/b.txt","reason":"Copy it"}}'
  ask '{"jsonrpc":"2.0","id":102,"method":"fs/read_text_file","params":{"path":"a.txt","startLine":2,"endLine":2}}'
  ask '{"jsonrpc":"2.0","id":103,"method":"fs/write_text_file","params":{"path":"b.txt","content":"two\n"}}'
  ask '{"jsonrpc":"2.0","id":104,"method":"terminal/create","params":{"command":"echo","args":["hi"],"env":{}}}'
  term=${got#*terminalId\":\"}; term=${term%%\"*}
  ask '{"jsonrpc":"2.0","id":105,"method":"terminal/wait_for_exit","params":{"terminalId":"'"$term"'"}}'
  say '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","type":"agent_message_chunk","data":{"content":"Done.","index":0,"final":true}}}'
  ok '{"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":2}}'
}
"#;

const D3: &str = r#"
HELLO='{"protocolVersion":1,"agentCapabilities":{"sessionModes":[]},"authenticationMethods":[]}'
turn() {
  ask '{"jsonrpc":"2.0","id":101,"method":"session/request_permission","params":{"sessionId":"s","title":"Copy it?","options":[{"optionId":"y","kind":"allow_once","label":"Yes"},{"optionId":"n","kind":"reject_once","label":"No"}]}}'
  ask '{"jsonrpc":"2.0","id":102,"method":"fs/read_text_file","params":{"sessionId":"s","path":"'"$PWD"'/a.txt","startLine":2,"lineLimit":1}}'
  ask '{"jsonrpc":"2.0","id":103,"method":"fs/write_text_file","params":{"sessionId":"s","path":"'"$PWD"'/b.txt","content":"two\n"}}'
  ask '{"jsonrpc":"2.0","id":104,"method":"terminal/create","params":{"sessionId":"s","command":"echo","args":["hi"],"env":{}}}'
  term=${got#*terminalId\":\"}; term=${term%%\"*}
  ask '{"jsonrpc":"2.0","id":105,"method":"terminal/wait_for_exit","params":{"sessionId":"s","terminalId":"'"$term"'"}}'
  say '{"method":"session/update","params":{"sessionId":"s","update":{"type":"message","role":"agent","content":[{"type":"text","text":"Done."}]}}}'
  ok '{"stopReason":"end_turn"}'
}
"#;

const D4: &str = r#"
HELLO='{"protocolVersion":1,"agentCapabilities":{"promptCapabilities":{"content":["text"]},"mcp":{}}}'
turn() {
  say '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"kind":"tool_call","toolCallId":"t","title":"Copy","toolKind":"edit","status":"pending"}}}'
  ask '{"jsonrpc":"2.0","id":101,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t","title":"Copy","kind":"edit"},"options":[{"optionId":"y","kind":"allow_once","name":"Yes"}]}}'
  ask '{"jsonrpc":"2.0","id":102,"method":"fs/read_text_file","params":{"sessionId":"s","path":"'"$PWD"'/a.txt","line":2,"limit":1}}'
  ask '{"jsonrpc":"2.0","id":103,"method":"fs/write_text_file","params":{"sessionId":"s","path":"'"$PWD"'/b.txt","content":"two\n"}}'
  ask '{"jsonrpc":"2.0","id":104,"method":"terminal/create","params":{"sessionId":"s","command":"echo","args":["hi"],"env":[]}}'
  term=${got#*terminalId\":\"}; term=${term%%\"*}
  ask '{"jsonrpc":"2.0","id":105,"method":"terminal/wait_for_exit","params":{"sessionId":"s","terminalId":"'"$term"'"}}'
  ok '{"sessionId":"s","stopReason":"end_turn","messages":[{"role":"assistant","content":"Done."}]}'
}
"#;

/// What the agent's five requests got, of a turn that is done through `exec`.
fn run(agent: &str, dialect: &str, flags: &[&str]) -> Vec<Value> {
    let lab = Lab::new();
    lab.write("work/a.txt", "one\ntwo\nthree\n");
    let script = lab.write("agent.sh", &format!("{agent}{AGENT}"));
    let command = ["sh".to_owned(), script.to_str().unwrap().to_owned()];
    let args = [&["go", "--json", "--allow", "all"], flags].concat();
    let done = lab.exec(&args, &command);
    done.assert_code(0);
    let session = done.json().into_iter().find(|line| line["type"] == "session").expect("a session");
    assert_eq!((&session["dialect"], &session["protocol"]), (&json!(dialect), &json!(1)));
    assert_eq!(done.json_text("text"), "Done.");
    assert_eq!(std::fs::read_to_string(lab.path("work/b.txt")).unwrap(), "two\n");
    let answers = std::fs::read_to_string(lab.path("work/answers")).unwrap();
    answers.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["result"].clone()).collect()
}

#[test]
fn s_010_a_turn_of_d0_is_done() {
    for flags in [&[][..], &["--dialect", "d0"]] {
        let got = run(D0, "d0", flags);
        assert_eq!(got[0], json!({ "granted": true, "remember": false, "scope": "once" }));
        assert_eq!(got[1], json!({ "content": "two\n", "encoding": "utf-8", "totalLines": 3, "truncated": false }));
        assert_eq!(got[2], json!({ "bytesWritten": 4, "created": true }));
        assert_eq!(got[4], json!({ "exitCode": 0 }));
    }
}

/// Runs two commands, one after the other, and says what it was told of their output: the data, and how often.
fn pushed(more: &str) -> (String, usize) {
    let lab = Lab::new();
    let command = |line: &str| {
        format!(
            r#"
  ask '{{"jsonrpc":"2.0","id":104,"method":"terminal/create","params":{{"command":"{line}"}}}}'
  term=${{got#*terminalId\":\"}}; term=${{term%%\"*}}
  ask '{{"jsonrpc":"2.0","id":105,"method":"terminal/wait_for_exit","params":{{"terminalId":"'"$term"'"}}}}'
"#
        )
    };
    let hello = r#"HELLO='{"protocolVersion":1,"agentInfo":{"name":"older","version":"1"},"capabilities":{}}'"#;
    let (first, second) = (command("seq 1 30000"), command("echo second"));
    let agent = format!("{hello}\n{more}\nturn() {{{first}{second}  ok '{{\"stopReason\":\"end_turn\"}}'\n}}\n{AGENT}");
    let script = lab.write("agent.sh", &agent);
    let agent = ["sh".to_owned(), script.to_str().unwrap().to_owned()];
    lab.exec(&["go", "--allow", "all"], &agent).assert_code(0);
    let told = std::fs::read_to_string(lab.path("work/pushed")).unwrap_or_default();
    let told: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let data: String = told.iter().filter_map(|told| told["params"]["data"].as_str()).collect();
    (data.replace('\r', ""), told.len())
}

#[test]
fn s_036_an_agent_of_d0_is_told_what_its_commands_print_before_it_is_told_of_their_end() {
    use std::fmt::Write as _;
    let mut all = String::new();
    for number in 1..=30_000 {
        writeln!(all, "{number}").unwrap();
    }
    let (data, times) = pushed("");
    assert!(data == all + "second\n", "{} bytes, {:?}", data.len(), data.get(data.len().saturating_sub(40)..));
    assert!(times < 100, "in pieces: {times}");
}

#[test]
fn s_036_an_agent_that_does_not_know_that_is_told_no_more() {
    let (data, times) = pushed(r#"PUSHED='"error":{"code":-32601,"message":"what is that?"}'"#);
    // What was under way by then has come.
    assert!((1..=5).contains(&times) && !data.contains("second"), "{times}");
}

#[test]
fn s_012_a_turn_of_d3_is_done() {
    let got = run(D3, "d3", &[]);
    assert_eq!(got[..3], [json!({ "selectedOptionId": "y" }), json!({ "content": "two\n" }), Value::Null]);
    assert_eq!(got[4], json!({ "output": "hi\n", "exitCode": 0 }));
}

#[test]
fn s_013_a_turn_of_d4_is_done() {
    let got = run(D4, "d4", &[]);
    assert_eq!(got[0], json!({ "outcome": { "outcome": "selected", "optionId": "y" } }));
    assert_eq!(got[4], json!({ "exitCode": 0, "signal": null }));
}

#[test]
fn s_001_a_dialect_that_is_not_known_is_a_usage_error() {
    let lab = Lab::new();
    let agent = ["true".to_owned()];
    lab.exec(&["x", "--dialect", "d9"], &agent).assert_says(2, &["--dialect is one of auto, canonical, d0, d3, d4"]);
    let done = lab.exec(&["x", "--dialect", "d0", "--protocol", "2"], &agent);
    done.assert_says(2, &["there is no dialect d0 of version 2"]);
}
