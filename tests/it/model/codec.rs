//! Nothing above the codec knows a method, a member or a number: with all of them changed the same happens.

use crate::support::{Rig, SESSION, options, plain_init};
use acp_tui::engine::core::Out;
use acp_tui::engine::replay::{replay, replay_by};
use acp_tui::model::Model;
use acp_tui::model::effect::Effect;
use acp_tui::model::event::{Event, HostEvent, Intent, WriteFact};
use acp_tui::model::ids::AgentKey;
use acp_tui::model::session::{Phase, Policy};
use serde_json::json;
use std::path::PathBuf;

/// A session with a bit of everything, from the first message to the last.
fn session(rig: &mut Rig) {
    rig.intent(Intent::Start);
    rig.host(HostEvent::AgentSpawned { pid: 7 });
    rig.answer("initialize", plain_init());
    let data = json!({ "authMethods": [{ "id": "key", "name": "A key" }], "more": 1 });
    rig.fail("session/new", json!({ "code": -32000, "message": "log in", "data": data }));
    rig.intent(Intent::Authenticate { method: "key".into() });
    rig.intent(Intent::LeaveAuthentication);
    rig.intent(Intent::Authenticate { method: "key".into() });
    rig.agent(json!({ "id": 3, "result": {} }));
    rig.answer("session/new", json!({ "sessionId": SESSION, "configOptions": [
        { "id": "m", "name": "Model", "type": "select", "currentValue": "a", "options": [{ "value": "a", "name": "A" }] },
    ] }));
    rig.prompt("hi");
    rig.say("Let me ");
    rig.tool(json!({ "toolCallId": "t", "title": "Edit a", "kind": "edit", "status": "pending",
        "content": [{ "type": "diff", "path": "/project/a", "oldText": "a", "newText": "b" }] }));
    rig.ask(1, "t");
    rig.choose("yes");
    rig.request(2, "fs/read_text_file", json!({ "path": "/project/a" }));
    let req = rig.wished(|e| if let Effect::FsRead { req, .. } = e { Some(*req) } else { None });
    rig.host(HostEvent::FileRead { req, path: "/project/a".into(), result: Ok("a".into()) });
    rig.request(3, "fs/write_text_file", json!({ "path": "/project/a", "content": "b" }));
    let req = rig.wished(|e| if let Effect::FsWrite { req, .. } = e { Some(*req) } else { None });
    let fact = WriteFact { created: false, bytes: 1, old: Some("a".into()), outside: None };
    rig.host(HostEvent::FileWritten { req, path: "/project/a".into(), result: Ok(fact) });
    rig.terminal(4, "term-1");
    rig.request(5, "terminal/wait_for_exit", json!({ "terminalId": "term-1" }));
    rig.request(6, "terminal/kill", json!({ "terminalId": "nobody's" }));
    rig.request(7, "_next/year", json!({}));
    rig.request(8, "terminal/create", json!({ "command": "ls", "cwd": "src" }));
    rig.ask(9, "t");
    rig.agent(json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": { "requestId": 9 } }));
    rig.ask(10, "t");
    rig.intent(Intent::Cancel);
    rig.stop("cancelled");
    rig.request(11, "session/request_permission", json!({ "toolCall": { "toolCallId": "u" }, "options": options() }));
    rig.answer_all();
}

#[test]
fn a_session_with_every_name_and_number_changed_is_the_same_session() {
    let (mut one, mut other) = (Rig::with_policy(Policy::Ask), Rig::renamed());
    session(&mut one);
    session(&mut other);
    assert_eq!(one.lines, other.lines);
    assert_eq!(format!("{:?}", one.wishes), format!("{:?}", other.wishes));
    assert_eq!(one.entries(), other.entries());
    assert!(one.entries().len() > 8 && one.lines.len() > 15, "{:#?}", one.entries());
    // They did speak differently.
    for line in &other.raw {
        for name in ["session", "requestId", "-32", "initialize\""] {
            assert!(!line.contains(&format!("\"{name}")) && !line.contains(&format!(":{name}")), "{line}");
        }
    }
}

#[test]
fn a_journal_is_read_in_the_words_that_its_header_names() {
    let mut rig = Rig::renamed();
    session(&mut rig);
    let header = json!({ "client": "acp-tui", "codec": "renamed" }).to_string();
    let lines = || std::iter::once(header.as_str()).chain(rig.journal.iter().map(String::as_str));
    let fresh = || Model::new("agent --acp".into(), "/project".into(), Policy::Ask);
    let (again, skipped) = replay_by(crate::support::renamed::named, fresh(), PathBuf::from("/project"), lines());
    assert_eq!((crate::support::render(&again), skipped), (rig.entries(), 0));
    // Who does not know it reads nothing rather than something else.
    let (nothing, skipped) = replay(fresh(), PathBuf::from("/project"), lines());
    assert_eq!((crate::support::render(&nothing).len(), skipped), (0, 1 + rig.journal.len()));
}

#[test]
fn an_agent_that_speaks_another_version_is_started_once_more_and_spoken_to_in_that() {
    let mut rig = Rig::renamed();
    rig.intent(Intent::Start);
    rig.host(HostEvent::AgentSpawned { pid: 7 });
    rig.wants();
    let answer = |id: u64| json!({ "jsonrpc": "2.0", "id": id, "result": { "protocolVersion": 1 } }).to_string();
    rig.line(&answer(0));
    assert!(matches!(rig.wants()[..], [Effect::SpawnAgent]));
    assert_eq!(rig.core.codec(AgentKey::FIRST).name(), "acp-1");
    rig.host(HostEvent::AgentSpawned { pid: 8 });
    let first = rig.raw.last().unwrap();
    assert!(first.contains(r#""method":"initialize""#), "{first}");
    rig.line(&answer(1));
    assert!(matches!(rig.model().first().phase(), Phase::Opening { .. }), "{:?}", rig.model().first().phase());
    // The next start begins as the first one did.
    rig.intent(Intent::Restart);
    assert_eq!(rig.core.codec(AgentKey::FIRST).name(), "renamed");
}

/// The texts are on the disk; a journal is no copy of it.
#[test]
fn what_an_agent_reads_is_not_in_the_journal() {
    let mut rig = Rig::prompted("hi");
    rig.request(1, "fs/read_text_file", json!({ "path": "/project/a" }));
    let req = rig.wished(|e| if let Effect::FsRead { req, .. } = e { Some(*req) } else { None });
    let fact = HostEvent::FileRead { req, path: "/project/a".into(), result: Ok("a secret".into()) };
    let out = rig.core.event(Event::Host(fact).at_home(), rig.now);
    let [Out::Line(line)] = &out[..] else { panic!("{out:?}") };
    assert!(line.text.contains("a secret"));
    let kept = line.journal.as_deref().expect("the line as it was sent");
    assert_eq!(kept, r#"{"jsonrpc":"2.0","id":1,"result":{"content":"[8 bytes]"}}"#);
}
