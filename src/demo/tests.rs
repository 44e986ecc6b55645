//! The scripted agent seen from a client: a tiny one, over pipes in memory, that writes files and pretends terminals.

use agent_client_protocol_schema::v1 as acp;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::path::PathBuf;
use std::thread::JoinHandle;

use super::{ExitKind, Pace, Place, Script, run_script};

/// What the tiny client says when it is asked for permission.
#[derive(Clone, Copy, PartialEq)]
enum Says {
    Allow,
    Reject,
    /// `session/cancel`, then the outcome `cancelled`.
    Cancel,
}

struct Client {
    to: Option<PipeWriter>,
    from: BufReader<PipeReader>,
    agent: Option<JoinHandle<ExitKind>>,
    cwd: tempfile::TempDir,
    says: Says,
    session: String,
    /// Everything the agent sent that is JSON.
    seen: Vec<Value>,
    noise: usize,
}

impl Client {
    fn start(script: Script) -> Self {
        let (agent_in, to) = std::io::pipe().unwrap();
        let (from, agent_out) = std::io::pipe().unwrap();
        let agent =
            std::thread::spawn(move || run_script(script, Pace::Fast, Place::Memory, agent_in, agent_out).unwrap());
        Self {
            to: Some(to),
            from: BufReader::new(from),
            agent: Some(agent),
            cwd: tempfile::tempdir().unwrap(),
            says: Says::Allow,
            session: String::new(),
            seen: Vec::new(),
            noise: 0,
        }
    }

    fn with_session(script: Script) -> Self {
        let mut client = Self::start(script);
        client.initialize();
        client.new_session();
        client
    }

    fn builtin(name: &str) -> Self {
        Self::with_session(Script::builtin(name).unwrap())
    }

    fn steps(steps: &str) -> Self {
        Self::with_session(Script::parse(&format!("[[turn]]\ndefault = true\nstep = [\n{steps}\n]\n")).unwrap())
    }

    fn send(&mut self, message: &Value) {
        // The agent may be gone already; the test then sees the end of its output.
        drop(writeln!(self.to.as_ref().unwrap(), "{message}"));
    }

    fn ask(&mut self, id: i64, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    fn initialize(&mut self) -> Value {
        self.ask(
            1,
            "initialize",
            json!({"protocolVersion": 1, "clientCapabilities": {
                "fs": {"readTextFile": true, "writeTextFile": true}, "terminal": true,
                "session": {"configOptions": {"boolean": {}}, "notices": {}},
            }}),
        );
        self.until_answer(1)
    }

    fn new_session(&mut self) -> Value {
        self.ask(2, "session/new", json!({"cwd": self.cwd.path(), "mcpServers": []}));
        let answer = self.until_answer(2);
        self.session = answer["result"]["sessionId"].as_str().unwrap_or_default().to_owned();
        answer
    }

    fn prompt(&mut self, text: &str) -> Value {
        self.start_prompt(text);
        self.until_answer(3)
    }

    fn start_prompt(&mut self, text: &str) {
        let params = json!({"sessionId": self.session, "prompt": [{"type": "text", "text": text}]});
        self.ask(3, "session/prompt", params);
    }

    fn cancel(&mut self) {
        let params = json!({"sessionId": self.session});
        self.send(&json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params}));
    }

    /// One message of the agent, served if it asks for something. `None` at its end.
    fn next(&mut self) -> Option<Value> {
        loop {
            let mut line = Vec::new();
            if self.from.read_until(b'\n', &mut line).unwrap() == 0 {
                return None;
            }
            let Ok(message) = serde_json::from_slice::<Value>(&line) else {
                self.noise += 1;
                continue;
            };
            self.serve(&message);
            self.seen.push(message.clone());
            return Some(message);
        }
    }

    fn until(&mut self, found: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.next().expect("the agent ended too early");
            if found(&message) {
                return message;
            }
        }
    }

    fn until_answer(&mut self, id: i64) -> Value {
        self.until(|m| m.get("method").is_none() && m["id"] == id)
    }

    fn until_end(&mut self) -> ExitKind {
        while self.next().is_some() {}
        self.agent.take().unwrap().join().unwrap()
    }

    fn serve(&mut self, message: &Value) {
        let (Some(method), Some(id)) = (message.get("method").and_then(Value::as_str), message.get("id")) else {
            return;
        };
        let params = &message["params"];
        let path = params["path"].as_str().map(PathBuf::from);
        let answer = match (method, path) {
            ("fs/write_text_file", Some(path)) => {
                assert!(path.starts_with(self.cwd.path()));
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, params["content"].as_str().unwrap()).unwrap();
                json!({"result": {}})
            }
            ("fs/read_text_file", Some(path)) => match std::fs::read_to_string(path) {
                Ok(text) => json!({"result": {"content": text}}),
                Err(_) => json!({"error": {"code": -32002, "message": "Resource not found"}}),
            },
            ("session/request_permission", _) => match self.says {
                Says::Cancel => {
                    self.cancel();
                    json!({"result": {"outcome": {"outcome": "cancelled"}}})
                }
                says => {
                    let wanted = if says == Says::Allow { "allow_once" } else { "reject_once" };
                    let all = params["options"].as_array().cloned().unwrap_or_default();
                    match all.iter().find(|option| option["kind"] == wanted) {
                        Some(o) => json!({"result": {"outcome": {"outcome": "selected", "optionId": o["optionId"]}}}),
                        None => json!({"result": {"outcome": {"outcome": "cancelled"}}}),
                    }
                }
            },
            ("terminal/create", _) => json!({"result": {"terminalId": "term-1"}}),
            ("terminal/wait_for_exit", _) if self.says == Says::Cancel => return,
            ("terminal/wait_for_exit", _) => json!({"result": {"exitCode": 0, "signal": null}}),
            ("terminal/output", _) => json!({"result": {"output": "x\n", "truncated": false}}),
            ("terminal/kill" | "terminal/release", _) => json!({"result": {}}),
            _ => json!({"error": {"code": -32601, "message": "Method not found"}}),
        };
        let mut reply = json!({"jsonrpc": "2.0", "id": id});
        reply.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
        self.send(&reply);
    }

    fn said(&self, kind: &str) -> String {
        let pieces = self.updates(kind).into_iter();
        pieces.filter_map(|update| update["content"]["text"].as_str().map(str::to_owned)).collect()
    }

    fn updates(&self, kind: &str) -> Vec<Value> {
        let all = self.seen.iter().map(|m| &m["params"]["update"]);
        all.filter(|update| update["sessionUpdate"] == kind).cloned().collect()
    }

    fn methods(&self) -> Vec<&str> {
        self.seen.iter().filter_map(|m| m["method"].as_str()).collect()
    }

    fn file(&self, path: &str) -> String {
        std::fs::read_to_string(self.cwd.path().join(path)).unwrap()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.to.take());
    }
}

/// Everything that was written must come back from the published types: nothing lost to a lenient default.
fn check<T: serde::de::DeserializeOwned + serde::Serialize>(value: &Value) {
    let typed: T = serde_json::from_value(value.clone()).unwrap_or_else(|e| panic!("{e}: {value}"));
    let back = serde_json::to_value(typed).unwrap();
    assert_contains(&back, value);
}

fn assert_contains(back: &Value, sent: &Value) {
    match (back, sent) {
        (Value::Object(back), Value::Object(sent)) => {
            for (key, value) in sent.iter().filter(|(_, value)| !value.is_null()) {
                // Empty lists and the default status are left out when the types are written again.
                match back.get(key) {
                    Some(found) => assert_contains(found, value),
                    None => assert!(
                        value.as_array().is_some_and(Vec::is_empty) || value == "pending",
                        "{key} was lost from {sent:?}"
                    ),
                }
            }
        }
        (Value::Array(back), Value::Array(sent)) => {
            assert_eq!(back.len(), sent.len());
            back.iter().zip(sent).for_each(|(back, sent)| assert_contains(back, sent));
        }
        _ => assert_eq!(back, sent),
    }
}

fn check_all(client: &Client) {
    for message in &client.seen {
        assert_eq!(message["jsonrpc"], "2.0");
        let (params, result) = (&message["params"], &message["result"]);
        match message.get("method").and_then(Value::as_str) {
            Some("session/update") => check::<acp::SessionNotification>(params),
            Some("session/request_permission") => check::<acp::RequestPermissionRequest>(params),
            Some("fs/read_text_file") => check::<acp::ReadTextFileRequest>(params),
            Some("fs/write_text_file") => check::<acp::WriteTextFileRequest>(params),
            Some("terminal/create") => check::<acp::CreateTerminalRequest>(params),
            Some("terminal/output") => check::<acp::TerminalOutputRequest>(params),
            Some("terminal/wait_for_exit") => check::<acp::WaitForTerminalExitRequest>(params),
            Some("terminal/release") => check::<acp::ReleaseTerminalRequest>(params),
            Some("terminal/kill") => check::<acp::KillTerminalRequest>(params),
            Some("$/cancel_request") => check::<acp::CancelRequestNotification>(params),
            Some(other) => panic!("{other} is no method of the protocol"),
            None if message["id"] == 1 => check::<acp::InitializeResponse>(result),
            None if message["id"] == 2 => check::<acp::NewSessionResponse>(result),
            None if message["id"] == 3 => check::<acp::PromptResponse>(result),
            None => {}
        }
    }
}

#[test]
fn the_demo_reaches_its_end_when_allowed() {
    let mut client = Client::builtin("demo");
    let answer = client.prompt("whatever the person types");
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    assert!(client.file("src/main.rs").contains("a + b"));
    assert!(client.file("src/main.rs").contains("fn adds()"));
    assert!(client.file("src/main.rs").contains("discount(total, 15)"), "there is something to reject");
    assert!(client.said("agent_message_chunk").contains("All twelve pass."));
    assert!(client.said("agent_thought_chunk").starts_with("Looked at how add is used"));
    let plans = client.updates("plan");
    assert!(plans.len() >= 4);
    assert!(plans.last().unwrap()["entries"].as_array().unwrap().iter().all(|e| e["status"] == "completed"));
    assert_eq!(client.updates("usage_update")[0]["used"], 38000);
    assert_eq!(client.updates("session_info_update").len(), 1);
    let methods = client.methods();
    assert_eq!(methods.iter().filter(|m| **m == "terminal/release").count(), 1);
    check_all(&client);

    client.seen.clear();
    let answer = client.prompt("and now explain it");
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    assert_eq!(client.methods().iter().filter(|m| **m == "session/request_permission").count(), 1);
    client.seen.clear();
    client.prompt("third {cwd}");
    assert!(client.said("agent_message_chunk").contains("> third {cwd}"), "a prompt is not filled in again");
    client.seen.clear();
    client.prompt("I rejected your change of src/main.rs at line 12, because: 5 % was agreed");
    assert!(client.said("agent_message_chunk").starts_with("Understood"));
    client.seen.clear();
    client.prompt("/tour");
    assert!(client.said("agent_message_chunk").contains("has that change already"));
    check_all(&client);
}

#[test]
fn the_demo_goes_on_when_rejected() {
    let mut client = Client::builtin("demo");
    client.says = Says::Reject;
    let answer = client.prompt("hello");
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    assert!(client.file("src/main.rs").contains("a - b"));
    assert!(client.said("agent_message_chunk").contains("stays as it is"));
    let failed = client.updates("tool_call_update");
    assert!(failed.iter().any(|u| u["toolCallId"] == "call-1-edit" && u["status"] == "failed"));
    check_all(&client);
}

#[test]
fn the_demo_ends_when_cancelled_and_takes_the_next_prompt() {
    let mut client = Client::builtin("demo");
    client.says = Says::Cancel;
    let answer = client.prompt("hello");
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    assert!(client.file("src/main.rs").contains("a - b"));
    client.says = Says::Allow;
    assert_eq!(client.prompt("/plan")["result"]["stopReason"], "end_turn");
    check_all(&client);
}

#[test]
fn a_cancelled_command_is_killed_and_released() {
    let mut client = Client::builtin("slow");
    client.says = Says::Cancel;
    client.start_prompt("run");
    client.until(|m| m["method"] == "terminal/wait_for_exit");
    client.cancel();
    assert_eq!(client.until_answer(3)["result"]["stopReason"], "cancelled");
    let methods = client.methods();
    assert!(methods.contains(&"terminal/kill") && methods.contains(&"terminal/release"));
    check_all(&client);
}

#[test]
fn a_directory_that_is_not_empty_is_left_alone() {
    let mut client = Client::builtin("demo");
    std::fs::write(client.cwd.path().join("mine.txt"), "mine").unwrap();
    let answer = client.prompt("hello");
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    assert!(client.said("agent_message_chunk").contains("this directory is not empty"));
    assert_eq!(std::fs::read_dir(client.cwd.path()).unwrap().count(), 1);
    assert!(client.methods().iter().all(|method| *method == "session/update"));
}

#[test]
fn initialize_and_session_are_as_the_protocol_says() {
    let mut client = Client::start(Script::builtin("demo").unwrap());
    let result = client.initialize();
    assert_eq!(result["result"]["protocolVersion"], 1);
    assert_eq!(result["result"]["agentInfo"]["name"], "acp-tui-demo");
    let result = client.new_session();
    assert_eq!(result["result"]["modes"]["currentModeId"], "ask");
    assert_eq!(result["result"]["configOptions"].as_array().unwrap().len(), 2);
    let session = client.session.clone();
    client.ask(
        5,
        "session/set_config_option",
        json!({"sessionId": session, "configId": "model", "value": "demo-large"}),
    );
    let options = client.until_answer(5);
    assert_eq!(options["result"]["configOptions"][0]["currentValue"], "demo-large");
    check::<acp::SetSessionConfigOptionResponse>(&options["result"]);
    client.ask(6, "session/set_config_option", json!({"sessionId": session, "configId": "web", "value": "yes"}));
    assert_eq!(client.until_answer(6)["error"]["code"], -32602);
    client.ask(7, "session/set_mode", json!({"sessionId": session, "modeId": "auto"}));
    assert!(client.until_answer(7)["result"].is_object());
    client.ask(8, "session/set_mode", json!({"sessionId": session, "modeId": "no such mode"}));
    assert_eq!(client.until_answer(8)["error"]["code"], -32602);
    client.ask(9, "session/dance", json!({}));
    assert_eq!(client.until_answer(9)["error"]["code"], -32601);
    assert_eq!(client.updates("available_commands_update").len(), 1);
    client.prompt("in auto nothing is asked");
    assert!(!client.methods().contains(&"session/request_permission"));
    drop(client.to.take());
    assert_eq!(client.until_end(), ExitKind::Eof);
}

#[test]
fn a_boolean_option_needs_a_client_that_knows_it() {
    let mut client = Client::start(Script::default());
    client.ask(1, "initialize", json!({"protocolVersion": 1, "clientCapabilities": {}}));
    client.until_answer(1);
    assert_eq!(client.new_session()["result"]["configOptions"].as_array().unwrap().len(), 1);
    client.prompt("hello");
    assert_eq!(client.said("agent_message_chunk"), "You said: hello");
}

#[test]
fn every_well_behaved_step_is_valid() {
    let mut client = Client::steps(
        r#"
        { do = "thought", text = "t", chunk = 1 }, { do = "say", text = "日本", chunk = 1, message_id = "m-{turn}" },
        { do = "echo", text = "{prompt}" }, { do = "plan", entries = [{ content = "one" }] },
        { do = "tool", name = "a", title = "A", kind = "read", locations = ["x.rs:3", "y.rs"], text = "body", raw_input = { q = 1 }, meta = { k = "v" } },
        { do = "tool_update", name = "a", status = "completed", raw_output = "out", content = [{ type = "diff", path = "{cwd}/x", newText = "n" }] },
        { do = "duplicate", tool = "a" },
        { do = "permission", tool = "a", call = { title = "ask", kind = "edit" } },
        { do = "permission", tool = "a", wait = false }, { do = "withdraw" }, { do = "await_answers" },
        { do = "write", path = "w.txt", text = "one\ntwo\n", tool = "w" },
        { do = "read", path = "w.txt", line = 2, limit = 1, tool = "r" }, { do = "read", path = "none", tool = "n" },
        { do = "edit", tool = "e", path = "w.txt", replace = [{ old = "two", new = "three" }] },
        { do = "terminal", tool = "c", command = "echo hi", consent = "ask", env = { A = "b" }, output_byte_limit = 100, kill_after_ms = 1 },
        { do = "terminal", tool = "m", command = "echo", via = "meta", text = "a\nb\n" },
        { do = "usage", used = 1, size = 2, cost = 0.5 }, { do = "mode", id = "auto" },
        { do = "commands", commands = [{ name = "x", description = "y" }] }, { do = "title", title = "T" },
        { do = "notice", title = "N", description = "D", severity = "warning" },
        { do = "update", update = { sessionUpdate = "config_option_update", configOptions = [] } },
        { do = "wait", ms = 1, firm = true }, { do = "repeat", times = 2, step = [{ do = "say", text = "{n}" }] },
        { do = "flood", chunks = 3, text = "f" }, { do = "late", step = [{ do = "say", text = "late" }] },
        "#,
    );
    let answer = client.prompt("hello");
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    client.until(|m| m["params"]["update"]["content"]["text"] == "late");
    assert_eq!(client.said("agent_message_chunk"), "日本12ffflate");
    assert_eq!(client.said("user_message_chunk"), "hello");
    assert_eq!(client.file("w.txt"), "one\nthree\n");
    check_all(&client);
}

#[test]
fn any_request_gets_its_answer_and_a_turn_may_end_in_any_way() {
    let mut client = Client::steps(r#"{ do = "request", method = "_x" }, { do = "say", text = "{answer}" }"#);
    client.prompt("a");
    assert!(client.said("agent_message_chunk").contains("-32601"));
    let ends = [
        (r#"{ do = "stop", reason = "refusal" }"#, json!({"result": {"stopReason": "refusal"}})),
        (r#"{ do = "result", result = {} }"#, json!({"result": {}})),
        (
            r#"{ do = "error", code = 7, message = "m", data = [1] }"#,
            json!({"error": {"code": 7, "message": "m", "data": [1]}}),
        ),
    ];
    for (step, wanted) in ends {
        let answer = Client::steps(step).prompt("a");
        assert_contains(&answer, &wanted);
    }
}

#[test]
fn raw_bytes_and_half_lines_go_out_as_written() {
    let mut client = Client::builtin("corruption");
    client.prompt("half");
    assert_eq!(client.said("agent_message_chunk"), "joined");
    client.prompt("all of it");
    assert!(client.noise > 5);
    let said = client.said("agent_message_chunk");
    assert!(said.contains("one two ") && said.ends_with("five"), "{said}");
    client.prompt("id");
    assert!(client.said("agent_message_chunk").ends_with("ids done"));
}

#[test]
fn deaths_are_as_the_script_says() {
    for (word, end) in [
        ("exit 7", ExitKind::Code(7)),
        ("kill", ExitKind::Signal("SIGKILL".to_owned())),
        ("half", ExitKind::Code(1)),
        ("after", ExitKind::Code(5)),
    ] {
        let mut client = Client::builtin("death");
        client.start_prompt(word);
        assert_eq!(client.until_end(), end, "{word}");
    }
    let client = Client::start(Script::parse("[agent]\nexit_at_start = 9\n").unwrap());
    assert_eq!({ client }.until_end(), ExitKind::Code(9));
}

#[test]
fn a_closed_stdout_is_no_end() {
    let mut client = Client::builtin("death");
    client.start_prompt("close");
    while client.next().is_some() {}
    assert!(!client.agent.as_ref().unwrap().is_finished());
    drop(client.to.take());
    assert_eq!(client.agent.take().unwrap().join().unwrap(), ExitKind::Eof);
}

#[test]
fn a_hang_ends_with_a_cancel_unless_it_is_ignored() {
    let mut client = Client::builtin("slow");
    client.start_prompt("hang");
    client.until(|m| m["params"]["update"]["content"]["text"] == "thinking");
    client.cancel();
    assert_eq!(client.until_answer(3)["result"]["stopReason"], "cancelled");
    client.start_prompt("ignore");
    client.until(|m| m["params"]["update"]["content"]["text"] == "not listening");
    client.cancel();
    let session = client.session.clone();
    client.ask(8, "session/set_mode", json!({"sessionId": session, "modeId": "auto"}));
    client.until(|m| {
        assert_ne!(m["id"], 3, "the cancel was answered");
        m["id"] == 8
    });
}

#[test]
fn no_session_before_authentication() {
    let mut client = Client::start(Script::builtin("auth").unwrap());
    let methods = client.initialize()["result"]["authMethods"].clone();
    check::<Vec<acp::AuthMethod>>(&methods);
    assert_eq!(client.new_session()["error"]["code"], -32000);
    client.ask(4, "authenticate", json!({"methodId": "demo-terminal"}));
    assert_eq!(client.until_answer(4)["error"]["code"], -32602);
    client.ask(4, "authenticate", json!({"methodId": "demo-key"}));
    assert!(client.until_answer(4)["result"].is_object());
    assert!(client.new_session()["result"]["sessionId"].is_string());
}

#[test]
fn permissions_only_ever_allow_what_was_offered() {
    for (word, said) in
        [("empty", "not allowed"), ("unknown", "not allowed"), ("only always", "not allowed"), ("x", "allowed")]
    {
        let mut client = Client::builtin("permissions");
        assert_eq!(client.prompt(word)["result"]["stopReason"], "end_turn");
        assert_eq!(client.said("agent_message_chunk"), said, "{word}");
    }
    let mut client = Client::builtin("permissions");
    client.prompt("several");
    client.prompt("withdraw");
    assert!(client.methods().contains(&"$/cancel_request"));
    check_all(&client);
}

#[test]
fn disorder_arrives_in_the_order_of_the_script() {
    let mut client = Client::builtin("reorder");
    let early = client.seen.iter().position(|m| m["params"]["update"]["toolCallId"] == "early").unwrap();
    let answered = client.seen.iter().position(|m| m["id"] == 2 && m.get("method").is_none()).unwrap();
    assert!(early < answered);
    client.prompt("go");
    client.start_prompt("late");
    client.until_answer(3);
    client.until(|m| m["method"] == "session/request_permission");
    check_all(&client);
}

#[test]
fn the_escape_corpus_reaches_the_client_untouched() {
    let mut client = Client::builtin("escape");
    client.says = Says::Reject;
    assert_eq!(client.prompt("go")["result"]["stopReason"], "end_turn");
    let all = client.said("agent_message_chunk");
    assert!(all.contains("\u{1b}]52;c;") && all.contains('\u{9b}') && all.contains('\u{202e}'));
    assert!(all.ends_with("corpus done"));
    assert_eq!(client.prompt("error")["error"]["code"], -32603);
}

#[test]
fn start_up_misbehaviour() {
    let script = "[agent]\nprotocol_version = \"2024\"\nbanner = \"hi\\n\"\nsilent = \"session/new\"\n\
        error = { \"session/set_mode\" = { code = 5, message = \"no\" } }\n";
    let mut client = Client::start(Script::parse(script).unwrap());
    assert_eq!(client.initialize()["result"]["protocolVersion"], "2024");
    assert_eq!(client.noise, 1);
    client.ask(2, "session/new", json!({"cwd": "/", "mcpServers": []}));
    client.ask(3, "session/set_mode", json!({}));
    assert_eq!(client.until(|m| m.get("id").is_some())["error"]["code"], 5);

    let mut client = Client::start(Script::parse("[agent]\necho_input = true\n").unwrap());
    client.ask(1, "initialize", json!({}));
    assert_eq!(client.next().unwrap()["method"], "initialize");
}
