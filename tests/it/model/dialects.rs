//! Agents of the older renditions, message by message: what they say is understood, what they are told has their names.

use crate::support::{CWD, Rig, killed, plain_init};
use acp_tui::agent::codec;
use acp_tui::model::effect::{Answer, Call, Effect};
use acp_tui::model::entry::Body;
use acp_tui::model::event::{HostEvent, Intent, Opening, Protocol, Timer, WriteFact};
use acp_tui::model::ids::{AgentKey, TermId};
use acp_tui::model::refusal::{Reason, Refusal};
use acp_tui::model::session::Policy;
use acp_tui::model::tool::ToolStatus;
use serde_json::{Value, json};

fn d0_init() -> Value {
    json!({ "protocolVersion": 1, "agentInfo": { "name": "older", "version": "0.1" }, "capabilities": {
        "loadSession": true,
        "mcpCapabilities": { "servers": true, "transport": ["stdio", "http"] },
        "promptCapabilities": { "streaming": true, "cancellation": true },
        "sessionCapabilities": { "modes": ["code", "plan"], "configOptions": ["depth"], "persistence": true },
    } })
}

fn d3_init() -> Value {
    json!({ "protocolVersion": 1, "agentCapabilities": {
        "loadSession": true,
        "mcpCapabilities": { "supportedTransports": ["stdio", "http"] },
        "sessionModes": [{ "modeId": "ask", "title": "Ask" }, { "modeId": "code", "title": "Code" }],
    }, "authenticationMethods": [{ "methodId": "key", "title": "Key" }] })
}

fn d4_init() -> Value {
    json!({ "protocolVersion": 1, "agentCapabilities": {
        "promptCapabilities": { "content": ["text", "image"] }, "mcp": { "httpTransport": true, "sseTransport": false },
    } })
}

/// The answer to the first call is this, and the agent is started once more where that shows that it has to be.
fn met(init: &Value) -> Rig {
    let mut rig = Rig::starting(Policy::Ask);
    rig.answer("initialize", init.clone());
    if rig.wants().iter().filter(|wish| **wish == Effect::SpawnAgent).count() == 2 {
        rig.host(HostEvent::AgentSpawned { pid: 8 });
        rig.answer("initialize", init.clone());
    }
    rig
}

fn ready(init: &Value) -> Rig {
    let mut rig = met(init);
    rig.answer("session/new", json!({ "sessionId": "s1" }));
    rig.sent();
    rig
}

fn word(rig: &Rig) -> &'static str {
    rig.model().first().agent().dialect.word()
}

/// The parameters of the newest call of this method.
fn told(rig: &Rig, method: &str) -> Value {
    rig.lines.iter().rev().find(|line| line["method"] == method).expect(method)["params"].clone()
}

/// What the request with this id has got.
fn got(rig: &Rig, id: i64) -> Value {
    let line = rig.lines.iter().find(|line| line["id"] == id && line.get("method").is_none());
    let line = line.unwrap_or_else(|| panic!("no answer to {id}: {:#?}", rig.lines));
    line.get("result").or(line.get("error")).cloned().unwrap()
}

fn update(rig: &mut Rig, name: &str, data: Value) {
    rig.agent(json!({ "jsonrpc": "2.0", "method": "session/update",
        "params": { "sessionId": "s1", "type": name, "data": data } }));
}

fn asks(rig: &mut Rig, id: i64, method: &str, params: Value) {
    rig.agent(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
}

#[test]
fn s_010_s_002_d0_is_recognised_by_its_answer_and_told_what_the_client_has() {
    let rig = met(&d0_init());
    let hellos: Vec<&Value> = rig.lines.iter().filter(|line| line["method"] == "initialize").collect();
    assert_eq!(hellos.len(), 2, "{hellos:?}");
    assert!(hellos[0]["params"]["clientCapabilities"].is_object());
    let second = &hellos[1]["params"];
    assert_eq!(second["capabilities"]["fs"], json!({ "read": true, "write": true, "watch": false }));
    assert_eq!(second["clientInfo"]["name"], "acp-tui");
    assert!(second.get("clientCapabilities").is_none(), "{second}");
    assert_eq!(told(&rig, "session/new"), json!({ "workingDirectory": CWD }));
    assert_eq!(word(&rig), "d0");
    assert!(rig.has_entry("speaks the dialect d0 of the protocol (its answer to initialize has `capabilities`)"));
}

#[test]
fn s_012_s_013_d3_is_started_again_and_d4_is_not() {
    let rig = met(&d3_init());
    let hellos: Vec<&Value> = rig.lines.iter().filter(|line| line["method"] == "initialize").collect();
    assert_eq!(hellos.len(), 2);
    let terminal = &hellos[1]["params"]["clientCapabilities"]["terminal"];
    assert_eq!(
        *terminal,
        json!({ "create": true, "output": true, "waitForExit": true, "kill": true, "release": true })
    );
    assert_eq!(word(&rig), "d3");
    let rig = met(&d4_init());
    assert_eq!(rig.lines.iter().filter(|line| line["method"] == "initialize").count(), 1);
    assert_eq!(word(&rig), "d4");
    assert!(
        rig.has_entry("speaks the dialect d4 of the protocol: its answer to initialize has `agentCapabilities.mcp`")
    );
    assert_eq!(word(&met(&plain_init())), "canonical");
}

#[test]
fn s_006_there_is_one_new_start_at_most() {
    let mut rig = Rig::starting(Policy::Ask);
    rig.fail("initialize", json!({ "code": -32602, "message": "capabilities is required" }));
    rig.host(HostEvent::AgentSpawned { pid: 8 });
    assert!(told(&rig, "initialize")["capabilities"].is_object(), "s_011");
    rig.fail("initialize", json!({ "code": -32602, "message": "still no good" }));
    assert!(rig.is_dead());
    assert_eq!(rig.wishes.iter().filter(|wish| **wish == Effect::SpawnAgent).count(), 2);
}

#[test]
fn s_044_an_agent_that_refuses_the_whole_first_call_gets_a_short_one() {
    let mut rig = Rig::starting(Policy::Ask);
    rig.fail("initialize", json!({ "code": -32602, "message": "unknown field clientInfo" }));
    rig.host(HostEvent::AgentSpawned { pid: 8 });
    let params = json!({ "protocolVersion": 1,
        "clientCapabilities": { "fs": { "readTextFile": true, "writeTextFile": true }, "terminal": true } });
    assert_eq!(told(&rig, "initialize"), params);
    rig.answer("initialize", plain_init());
    rig.answer("session/new", json!({ "sessionId": "s1" }));
    assert_eq!(word(&rig), "canonical");
    assert!(rig.has_entry("started again and told less"));
}

#[test]
fn s_017_what_d0_requires_and_is_not_there_is_named() {
    let mut init = d0_init();
    init["requiredClientCapabilities"] = json!({ "fs": { "watch": true }, "terminal": { "maxConcurrent": 100_000 } });
    let rig = met(&init);
    assert!(rig.is_dead());
    let words = format!("{:?}", rig.model().first().phase());
    assert!(words.contains("fs.watch, terminal.maxConcurrent"), "{words}");
}

#[test]
fn s_001_s_005_a_dialect_that_is_configured_is_spoken_at_once_and_no_other_is_understood() {
    let mut rig = Rig::with_policy(Policy::Ask);
    rig.core.speak(codec::first(Protocol::D0), false);
    rig.intent(Intent::Start);
    rig.host(HostEvent::AgentSpawned { pid: 7 });
    assert!(told(&rig, "initialize")["capabilities"].is_object());
    rig.answer("initialize", d0_init());
    assert_eq!(told(&rig, "session/new"), json!({ "workingDirectory": CWD }));

    let mut rig = Rig::with_policy(Policy::Ask);
    rig.core.speak(codec::first(Protocol::Canonical), true);
    rig.opens();
    update(&mut rig, "agent_message_chunk", json!({ "content": "no", "index": 0 }));
    assert_eq!((rig.odd(), word(&rig)), (1, "canonical"));
    asks(
        &mut rig,
        1,
        "session/request_permission",
        json!({ "sessionId": "s1", "operation": "file_write", "resource": "a" }),
    );
    assert_ne!(got(&rig, 1)["granted"], json!(true));
    rig.sent();
}

#[test]
fn s_003_s_004_by_its_first_message_an_agent_is_known_and_spoken_to() {
    let mut rig = Rig::ready();
    update(&mut rig, "agent_message_chunk", json!({ "content": "Hello", "index": 0 }));
    assert_eq!(word(&rig), "d0");
    assert!(rig.has_entry("speaks the dialect d0 of the protocol: its updates have that form"));
    assert!(rig.has_entry("Hello"), "{:?}", rig.entries());
    rig.prompt("go");
    assert_eq!(
        told(&rig, "session/prompt"),
        json!({ "sessionId": "s1", "content": [{ "type": "text", "text": "go" }] })
    );
    // A message in the documented form is understood all the same, and answered in it.
    rig.ask(5, "t1");
    rig.choose("yes");
    assert_eq!(got(&rig, 5), json!({ "outcome": { "outcome": "selected", "optionId": "yes" } }));
}

#[test]
fn s_021_what_an_agent_has_and_does_not_tell_again_is_said_to_be_missing() {
    for (replayed, words) in
        [(false, Some("2 earlier messages not shown: the agent does not tell them again")), (true, None)]
    {
        let mut rig = ready(&d0_init());
        rig.intent_at(AgentKey::FIRST, Intent::OpenSession { cwd: CWD.into(), how: Opening::Load("old".into()) });
        if replayed {
            rig.agent(json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": "old",
                "type": "agent_message_chunk", "data": { "content": "long ago", "index": 0, "final": true } } }));
        }
        rig.answer("session/load", json!({ "sessionId": "old", "messageCount": 2 }));
        let (_, loaded) = rig.model().sessions().nth(1).expect("it is open");
        let said: Vec<String> = loaded.entries().iter().filter_map(|entry| notice(&entry.body)).collect();
        let missing: Vec<&str> = said.iter().map(String::as_str).filter(|said| said.contains("earlier")).collect();
        assert_eq!(missing, words.into_iter().collect::<Vec<_>>(), "{said:?}");
    }
}

fn notice(body: &Body) -> Option<String> {
    if let Body::Notice(notice) = body { Some(notice.title.clone()) } else { None }
}

#[test]
fn s_023_pieces_are_joined_as_they_come() {
    let mut rig = ready(&d0_init());
    rig.prompt("go");
    for (text, index, last) in [("a", 0, false), ("c", 2, false), ("b", 1, true), ("d", 0, false), ("e", 0, false)] {
        update(&mut rig, "agent_message_chunk", json!({ "content": text, "index": index, "final": last }));
    }
    update(&mut rig, "thought_message_chunk", json!({ "content": "hm", "visible": false }));
    let entries = rig.entries();
    assert!(entries.iter().any(|e| e.contains("acb")) && entries.iter().any(|e| e.ends_with("de")), "{entries:?}");
    assert!(rig.has_entry("hm"));
}

#[test]
fn s_025_s_026_s_027_s_028_a_question_of_d0_has_four_scopes() {
    let question = |rig: &mut Rig, id: i64| {
        asks(
            rig,
            id,
            "session/request_permission",
            json!({ "sessionId": "s1", "operation": "file_write",
            "resource": "/project/a.ts", "reason": "Add error handling", "toolCallId": "tc_2" }),
        );
    };
    let mut rig = ready(&d0_init());
    rig.prompt("go");
    let chosen = [
        ("once", json!({ "granted": true, "remember": false, "scope": "once" })),
        ("session", json!({ "granted": true, "remember": true, "scope": "session" })),
        ("workspace", json!({ "granted": true, "remember": true, "scope": "workspace" })),
        ("always", json!({ "granted": true, "remember": true, "scope": "always" })),
        ("deny", json!({ "granted": false })),
        ("deny_session", json!({ "granted": false, "remember": true, "scope": "session" })),
        ("deny_workspace", json!({ "granted": false, "remember": true, "scope": "workspace" })),
        ("deny_always", json!({ "granted": false, "remember": true, "scope": "always" })),
    ];
    for (number, (option, answer)) in chosen.into_iter().enumerate() {
        let id = 10 + number as i64;
        question(&mut rig, id);
        rig.choose(option);
        assert_eq!(got(&rig, id), answer, "{option}");
    }
    question(&mut rig, 101);
    rig.intent(Intent::Cancel);
    assert_eq!(got(&rig, 101), json!({ "granted": false }));
    assert_eq!(told(&rig, "session/cancel"), json!({ "sessionId": "s1", "reason": "user_requested" }));
}

#[test]
fn s_029_an_operation_that_is_not_known_is_never_allowed_without_the_person() {
    let mut rig = Rig::with_policy(Policy::Auto(acp_tui::model::session::Allow::All));
    rig.core.speak(codec::first(Protocol::D0), false);
    rig.intent(Intent::Start);
    rig.host(HostEvent::AgentSpawned { pid: 7 });
    rig.answer("initialize", d0_init());
    rig.answer("session/new", json!({ "sessionId": "s1" }));
    rig.prompt("go");
    asks(
        &mut rig,
        1,
        "session/request_permission",
        json!({ "sessionId": "s1", "operation": "file_write", "resource": "/project/a" }),
    );
    asks(
        &mut rig,
        2,
        "session/request_permission",
        json!({ "sessionId": "s1", "operation": "launch", "resource": "it" }),
    );
    assert_eq!(got(&rig, 1), json!({ "granted": true, "remember": false, "scope": "once" }));
    assert_eq!(got(&rig, 2)["granted"], json!(false), "{:?}", rig.entries());
}

#[test]
fn s_030_s_031_s_032_s_033_files_of_d0_name_no_session_and_count_lines() {
    let mut rig = ready(&d0_init());
    rig.prompt("go");
    asks(&mut rig, 1, "fs/read_text_file", json!({ "path": "src/a.rs", "startLine": 2, "endLine": 3 }));
    let req = rig.wished(|e| match e {
        Effect::FsRead { req, request, line: None, limit: None } => {
            assert_eq!(request.path(), Some("/project/src/a.rs"));
            Some(*req)
        }
        _ => None,
    });
    rig.host(HostEvent::FileRead { req, path: "/project/src/a.rs".into(), result: Ok("1\n2\n3\n4".into()) });
    let read = json!({ "content": "2\n3\n", "encoding": "utf-8", "totalLines": 4, "truncated": false });
    assert_eq!(got(&rig, 1), read);
    asks(&mut rig, 2, "fs/read_text_file", json!({ "path": "a", "encoding": "latin-1" }));
    assert_eq!(got(&rig, 2)["code"], json!(-32602), "s_033");
}

#[test]
fn s_034_a_write_of_d0_says_what_it_did() {
    let mut rig = ready(&d0_init());
    rig.prompt("go");
    asks(&mut rig, 1, "fs/write_text_file", json!({ "path": "new/é.txt", "content": "é", "overwrite": false }));
    let (req, how) = rig.wished(|e| if let Effect::FsWrite { req, how, .. } = e { Some((*req, *how)) } else { None });
    assert!(how.only_new && how.only_where_directories_are);
    let path = "/project/new/é.txt".to_owned();
    rig.host(HostEvent::FileWritten {
        req,
        path,
        result: Ok(WriteFact { created: true, bytes: 2, old: None, outside: None }),
    });
    assert_eq!(got(&rig, 1), json!({ "bytesWritten": 2, "created": true }));
}

#[test]
fn s_047_a_write_of_d3_makes_the_directories_that_it_needs() {
    let mut rig = ready(&d3_init());
    rig.prompt("go");
    asks(&mut rig, 1, "fs/write_text_file", json!({ "sessionId": "s1", "path": "/project/new/a", "content": "a" }));
    let how = rig.wished(|e| if let Effect::FsWrite { how, .. } = e { Some(*how) } else { None });
    assert!(!how.only_where_directories_are && !how.only_new);
}

#[test]
fn s_037_an_agent_of_d0_that_asks_for_output_gets_it_as_it_is_documented() {
    let d0 = codec::first(Protocol::D0);
    let output = Answer::Output { text: "hi".into(), truncated: false, exit: None };
    let said = d0.answer("terminal/output", &output).unwrap();
    assert_eq!((&said["output"], &said["truncated"]), (&json!("hi"), &json!(false)));
}

#[test]
fn s_041_more_commands_than_were_announced_are_refused_with_the_number_for_it() {
    let d0 = codec::first(Protocol::D0);
    let (_, params) = d0.call(&Call::Initialize, std::path::Path::new("/")).unwrap();
    assert_eq!(params["capabilities"]["terminal"]["maxConcurrent"], json!(acp_tui::base::limits::MAX_TERMINALS));
    assert_eq!(d0.refuse(&Refusal::new(Reason::TooMany, "as many run already")).code, -32006);
}

fn d0_terminal(rig: &mut Rig, params: Value) {
    asks(rig, 50, "terminal/create", params);
    let req = rig.wished(|e| if let Effect::TerminalCreate { req, .. } = e { Some(*req) } else { None });
    rig.host(HostEvent::TerminalStarted { req, term: TermId::from("term-1") });
    assert_eq!(got(rig, 50), json!({ "terminalId": "term-1" }));
}

#[test]
fn s_038_s_039_s_040_commands_of_d0_have_times_signals_and_always_a_code() {
    let mut rig = ready(&d0_init());
    rig.prompt("go");
    d0_terminal(&mut rig, json!({ "command": "make", "env": { "A": "b" }, "cwd": "sub", "timeout": 5000 }));
    let spec = rig.wished(|e| if let Effect::TerminalCreate { spec, .. } = e { Some(spec.clone()) } else { None });
    assert_eq!((spec.cwd.as_deref(), &spec.env[..]), (Some("/project/sub"), &[("A".to_owned(), "b".to_owned())][..]));
    let timer = rig.wished(|e| match e {
        Effect::StartTimer { timer: timer @ Timer::Command(_), after } if after.as_secs() == 5 => Some(*timer),
        _ => None,
    });
    asks(&mut rig, 51, "terminal/wait_for_exit", json!({ "terminalId": "term-1", "timeout": 10 }));
    let wait = rig.wished(|e| match e {
        Effect::StartTimer { timer: timer @ Timer::Wait(_), .. } => Some(*timer),
        _ => None,
    });
    rig.timer(wait);
    assert_eq!(got(&rig, 51), json!({ "exitCode": -1, "timedOut": true }));
    asks(&mut rig, 52, "terminal/kill", json!({ "terminalId": "term-1", "signal": "SIGINT" }));
    assert_eq!(got(&rig, 52), json!({ "killed": true }));
    assert!(rig.wishes.contains(&Effect::TerminalSignal { term: TermId::from("term-1"), signal: 2 }));
    asks(&mut rig, 53, "terminal/kill", json!({ "terminalId": "term-1", "signal": "SIGNONE" }));
    assert_eq!(got(&rig, 53)["code"], json!(-32602));
    rig.timer(timer);
    assert!(rig.wishes.contains(&Effect::TerminalKill(TermId::from("term-1"))));
    asks(&mut rig, 54, "terminal/wait_for_exit", json!({ "terminalId": "term-1" }));
    rig.terminal_ends("term-1", killed("SIGTERM"));
    assert_eq!(got(&rig, 54), json!({ "exitCode": 143, "signal": "SIGTERM" }));
    asks(&mut rig, 55, "terminal/release", json!({ "terminalId": "term-1" }));
    assert_eq!(got(&rig, 55), json!({ "released": true }));
}

#[test]
fn s_055_s_056_s_057_numbers_are_read_by_the_table_of_the_dialect() {
    let fails = |init: &Value, code: i64| {
        let mut rig = ready(init);
        rig.prompt("go");
        rig.fail("session/prompt", json!({ "code": code, "message": "its words" }));
        let is_log_in = rig.model().first().agent().log_in.is_some();
        (rig.entries().join("\n"), is_log_in)
    };
    assert!(fails(&plain_init(), -32000).1);
    assert!(fails(&d0_init(), -32001).1);
    let (said, is_log_in) = fails(&d0_init(), -32000);
    assert!(said.contains("its words · error from the agent (the session is lost, -32000)") && !is_log_in, "{said}");
    let (said, is_log_in) = fails(&d4_init(), -32000);
    assert!(
        said.contains("its words · error from the agent (its connection is closed, -32000)") && !is_log_in,
        "{said}"
    );
    let (said, _) = fails(&d3_init(), -32004);
    assert!(said.contains("its words · error from the agent (not permitted, -32004)"), "{said}");
}

#[test]
fn s_042_a_reason_says_more_than_a_number() {
    let mut rig = Rig::prompted("go");
    let data = json!({ "reason": "permission_denied", "scope": "x" });
    rig.fail("session/prompt", json!({ "code": -32002, "message": "no", "data": data }));
    assert!(rig.has_entry("permission_denied · error from the agent (not permitted, -32002)"), "{:?}", rig.entries());
    let mut rig = Rig::prompted("go");
    let data = json!({ "reason": "auth_required", "authMethods": [{ "id": "k", "name": "Key" }] });
    rig.fail("session/prompt", json!({ "code": -32050, "message": "log in", "data": data }));
    assert!(rig.model().first().agent().log_in.is_some());
    assert_eq!(rig.model().first().agent().auth_methods[0].id, "k");
}

#[test]
fn s_045_s_046_d3_asks_with_labels_and_has_no_cancelled_outcome() {
    let mut rig = ready(&d3_init());
    rig.prompt("go");
    let question = json!({ "sessionId": "s1", "title": "Delete test files?", "description": "5 files", "options": [
        { "optionId": "allow", "kind": "allow_once", "label": "Delete files" },
        { "optionId": "reject", "kind": "reject_once", "label": "Keep files" } ] });
    asks(&mut rig, 30, "session/request_permission", question.clone());
    let asked = &rig.model().first().session().questions()[0];
    assert_eq!(asked.options[0].name, "Delete files");
    assert_eq!(asked.wording.as_ref().unwrap().description.as_deref(), Some("5 files"));
    rig.choose("allow");
    assert_eq!(got(&rig, 30), json!({ "selectedOptionId": "allow" }));
    asks(&mut rig, 31, "session/request_permission", question);
    let no_way = json!([{ "optionId": "yes", "kind": "allow_once", "label": "Yes" }]);
    asks(&mut rig, 32, "session/request_permission", json!({ "sessionId": "s1", "title": "Well?", "options": no_way }));
    rig.intent(Intent::Cancel);
    assert_eq!(got(&rig, 31), json!({ "selectedOptionId": "reject" }));
    assert_eq!(got(&rig, 32)["code"], json!(-32800));
}

#[test]
fn s_046_whole_messages_of_d3_are_not_joined() {
    let mut rig = ready(&d3_init());
    rig.prompt("go");
    for (role, text) in [("agent", "one"), ("assistant", "two")] {
        rig.agent(json!({ "method": "session/update", "params": { "sessionId": "s1", "update": {
            "type": "message", "role": role, "content": [{ "type": "text", "text": text }, { "type": "text", "text": "!" }] } } }));
    }
    let said: Vec<String> = rig.entries().into_iter().filter(|e| e.contains("one!") || e.contains("two!")).collect();
    assert_eq!(said.len(), 2, "{:?}", rig.entries());
    rig.agent(json!({ "method": "session/update", "params": { "sessionId": "s1", "update": { "type": "tool_call",
        "toolCallId": "t", "title": "Edit", "kind": "edit", "status": "in_progress",
        "location": { "path": "/project/a", "line": 3 },
        "content": [{ "type": "diff", "path": "/project/a", "oldText": "x", "newText": "y", "mimeType": "text/plain" },
            { "type": "text", "text": "done" }] } } }));
    let call = rig.call("t");
    assert_eq!((call.locations[0].line, call.content.len()), (Some(3), 2));
    rig.agent(json!({ "method": "session/update", "params": { "sessionId": "s1",
        "update": { "type": "current_mode_update", "modeId": "code" } } }));
    assert_eq!(rig.model().first().session().modes.as_ref().unwrap().current, "code");
    assert!(rig.model().first().session().modes.as_ref().unwrap().lists("ask"));
}

#[test]
fn s_048_s_049_s_050_commands_of_d3_give_their_output_with_their_exit() {
    let mut rig = ready(&d3_init());
    rig.prompt("go");
    let spec = json!({ "sessionId": "s1", "command": "make", "args": [], "env": { "A": "b" } });
    d0_terminal(&mut rig, spec);
    asks(&mut rig, 51, "terminal/wait_for_exit", json!({ "sessionId": "s1", "terminalId": "term-1", "timeout": 10 }));
    let wait = rig.wished(|e| match e {
        Effect::StartTimer { timer: timer @ Timer::Wait(_), .. } => Some(*timer),
        _ => None,
    });
    rig.timer(wait);
    let req = rig.wished(|e| if let Effect::TerminalOutput { req, .. } = e { Some(*req) } else { None });
    let output = |exit| acp_tui::model::effect::Answer::Output { text: "so far".into(), truncated: false, exit };
    let line = rig.core.respond(req, &output(None)).unwrap();
    assert!(line.text.contains(r#""result":{"output":"so far","exitCode":null}"#), "{}", line.text);
    asks(&mut rig, 52, "terminal/wait_for_exit", json!({ "sessionId": "s1", "terminalId": "term-1" }));
    rig.terminal_ends("term-1", killed("SIGKILL"));
    let req = rig.wished(|e| if let Effect::TerminalOutput { req, .. } = e { Some(*req) } else { None });
    let line = rig.core.respond(req, &output(Some(killed("SIGKILL")))).unwrap();
    assert!(line.text.contains(r#""exitCode":137"#), "{}", line.text);
    asks(&mut rig, 53, "terminal/release", json!({ "sessionId": "s1", "terminalId": "term-1" }));
    let released = rig.lines.iter().find(|line| line["id"] == 53 && line.get("method").is_none()).unwrap();
    assert_eq!(released["result"], Value::Null);
}

#[test]
fn s_052_s_054_tool_updates_and_plans_of_d4() {
    let mut rig = ready(&d4_init());
    rig.prompt("go");
    rig.update(
        json!({ "kind": "tool_call", "toolCallId": "t", "title": "Edit", "toolKind": "edit", "status": "pending",
        "input": { "path": "a" } }),
    );
    rig.update(json!({ "kind": "tool_call_update", "toolCallId": "t", "status": "cancelled", "output": [
        { "type": "diff", "path": "/project/a", "oldContent": "x", "newContent": "y" }, { "type": "terminal" } ] }));
    let call = rig.call("t");
    assert_eq!((call.kind.word(), &call.status), ("edit", &ToolStatus::Cancelled));
    assert_eq!(call.content[0].change().unwrap().texts().unwrap().1.as_ref(), "y");
    assert_eq!(call.raw_input, Some(json!({ "path": "a" })));
    // There it is the kind of the tool.
    rig.update(json!({ "sessionUpdate": "tool_call", "kind": "read", "toolCallId": "u", "title": "Read" }));
    assert_eq!(rig.call("u").kind.word(), "read");
    rig.update(json!({ "plan": { "description": "Do it", "steps": ["one", "two"] } }));
    rig.update(json!({ "plan": { "description": "Do it", "steps": ["three"] } }));
    let plan = rig.entries().join("\n");
    assert!(plan.contains("three") && !plan.contains("two"), "{plan}");
}

#[test]
fn s_053_what_d4_says_in_its_answer_counts_where_it_said_nothing_before() {
    let answer = json!({ "sessionId": "s1", "stopReason": "end_turn", "messages": [
        { "role": "user", "content": "go" }, { "role": "assistant", "content": [{ "type": "text", "text": "all of it" }] } ] });
    let mut rig = ready(&d4_init());
    rig.prompt("go");
    rig.answer("session/prompt", answer.clone());
    assert!(rig.has_entry("all of it"), "{:?}", rig.entries());
    let mut rig = ready(&d4_init());
    rig.prompt("go");
    rig.say("pieces");
    rig.answer("session/prompt", answer);
    assert!(!rig.has_entry("all of it"));
}

#[test]
fn s_018_d0_is_given_its_modes_and_options_in_its_words() {
    let mut rig = ready(&d0_init());
    rig.intent(Intent::SetMode { id: "plan".into() });
    assert_eq!(told(&rig, "session/set_mode"), json!({ "sessionId": "s1", "mode": "plan" }));
    rig.answer("session/set_mode", json!({ "previousMode": "code", "currentMode": "plan" }));
    update(&mut rig, "config_option_update", json!({ "key": "depth", "currentValue": 3 }));
    let session = rig.model().first().session();
    assert_eq!(session.modes.as_ref().unwrap().current, "plan");
    assert_eq!(session.options[0].current_name(), "3");
    rig.prompt("go");
    rig.answer("session/prompt", json!({ "stopReason": "error" }));
    assert!(rig.has_entry("the turn has failed"), "{:?}", rig.entries());
}

#[test]
fn tool_calls_of_d0_have_kinds_hunks_and_marks() {
    let mut rig = ready(&d0_init());
    rig.prompt("go");
    update(
        &mut rig,
        "tool_call",
        json!({ "id": "tc_1", "tool": "fs/write_text_file", "status": "awaiting_permission",
        "input": { "path": "/project/a" }, "location": { "path": "/project/a", "line": 4, "column": 2 } }),
    );
    let call = rig.call("tc_1");
    assert_eq!((call.title.as_str(), call.kind.word()), ("fs/write_text_file /project/a", "edit"));
    assert_eq!((&call.status, call.locations[0].line), (&ToolStatus::Pending, Some(4)));
    let hunk =
        json!({ "oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "content": "@@ -1,1 +1,1 @@\n-a\n+b\n" });
    let bare = json!({ "oldStart": 9, "oldLines": 1, "newStart": 9, "newLines": 1, "content": "-c\n+d" });
    update(
        &mut rig,
        "tool_call_update",
        json!({ "id": "tc_1", "status": "completed", "duration": 12, "output": [
        { "type": "diff", "path": "/project/a", "hunks": [hunk, bare] },
        { "type": "terminal", "terminalId": "theirs", "command": "make", "exitCode": 2, "stdout": "out", "stderr": "err" } ] }),
    );
    let call = rig.call("tc_1");
    let shown = format!("{:?}", call.content);
    assert!(shown.contains("@@ -1,1 +1,1 @@\\n-a\\n+b\\n@@ -9,1 +9,1 @@\\n-c\\n+d\\n"), "{shown}");
    assert!(shown.contains("outerr\\nexit 2"), "{shown}");
    update(&mut rig, "tool_call", json!({ "id": "tc_2", "tool": "bash", "status": "pending", "input": {} }));
    update(&mut rig, "tool_call_update", json!({ "id": "tc_2", "status": "denied", "error": "not allowed" }));
    assert_eq!(rig.call("tc_2").status, ToolStatus::Failed);
}
