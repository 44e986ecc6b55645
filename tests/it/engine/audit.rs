//! What an agent over memory asks for, and what the audit log says of it.

use super::{answer, receive, send, until};
use crate::support::app::config;
use crate::support::options;
use crate::support::renamed::renamed;
use acp_tui::engine::link::{Agent, memory};
use acp_tui::engine::rulebook::Rulebook;
use acp_tui::engine::{Engine, EngineConfig, RulesConfig};
use acp_tui::model::changes::Gate;
use acp_tui::model::event::Intent;
use acp_tui::model::session::Phase;
use acp_tui::store::audit;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

async fn ask(agent: &mut Agent, id: u64, method: &str, params: Value) {
    let mut params = params;
    params["sessionId"] = "s".into();
    send(agent, json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
    receive(agent).await;
}

async fn agent(mut agent: Agent, root: PathBuf) {
    answer(&mut agent, "initialize", json!({ "protocolVersion": 1 })).await;
    answer(&mut agent, "session/new", json!({ "sessionId": "s" })).await;
    let prompt = receive(&mut agent).await;
    for (id, line) in [(1, "git log"), (2, "deploy --token=abcdef123456")] {
        let tool = json!({ "toolCallId": format!("t{id}"), "title": line, "kind": "execute", "rawInput": { "command": line } });
        ask(&mut agent, id, "session/request_permission", json!({ "toolCall": tool, "options": options() })).await;
    }
    ask(&mut agent, 3, "fs/read_text_file", json!({ "path": root.join("way-out") })).await;
    ask(&mut agent, 4, "fs/write_text_file", json!({ "path": root.join("new"), "content": "told to nobody" })).await;
    let env = json!([{ "name": "KEY", "value": "value of a variable" }]);
    let run = json!({ "command": "rm", "args": ["-rf", "/"], "env": env });
    ask(&mut agent, 5, "terminal/create", run).await;
    send(&mut agent, json!({ "jsonrpc": "2.0", "id": prompt["id"], "result": { "stopReason": "end_turn" } })).await;
    while agent.lines.next_line().await.unwrap().is_some() {}
}

#[tokio::test]
async fn every_decision_is_logged_with_who_took_it_and_no_secret() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let (root, rules, state) = (dir.join("project"), dir.join("rules.toml"), dir.join("state"));
    std::fs::create_dir(&root).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", root.join("way-out")).unwrap();
    std::fs::write(&rules, "allow = [\"Bash(git *)\"]\ndeny = [\"Bash(rm *)\"]\n").unwrap();
    let (link, far) = memory();
    let agent = tokio::spawn(agent(far, root.clone()));
    let mut link = Some(link);
    let connect = Box::new(move |_| link.take().expect("started once"));
    let held = RulesConfig { book: Arc::new(Rulebook::new(Some(rules), None)), agent: Some("mine".into()) };
    let config = EngineConfig { rules: Some(held), audit: Some(state.clone()), ..config(&root) };
    let mut engine = Engine::connected(config, renamed(), Some(connect));
    engine.intent(Intent::Start);
    until(&mut engine, "a session", |e| matches!(e.model().first().phase(), Phase::Ready)).await;
    engine.intent(Intent::SetGate(Gate::Ask));
    engine.intent(Intent::Prompt { text: "hi".into(), links: Vec::new() });
    for option in ["yes", "allow", "allow"] {
        until(&mut engine, "a question", |e| !e.model().first().session().questions().is_empty()).await;
        let req = engine.model().first().session().questions()[0].req;
        engine.intent(Intent::Answer { req, option: option.into() });
    }
    until(&mut engine, "the end of the turn", |e| e.model().first().session().turn.is_none()).await;
    engine.shutdown().await;
    agent.await.unwrap();
    let files = audit::files(&state).unwrap();
    assert_eq!(files.len(), 1);
    let text = std::fs::read_to_string(&files[0]).unwrap();
    for secret in ["abcdef123456", "told to nobody", "value of a variable"] {
        assert!(!text.contains(secret), "{text}");
    }
    let records: Vec<Value> = audit::records(&files[0]).unwrap().collect();
    let of = |key: &'static str| records.iter().map(move |r| r[key].as_str().unwrap_or_default());
    let told: Vec<(&str, &str, &str)> =
        of("event").zip(of("verdict")).zip(of("by")).map(|((event, verdict), by)| (event, verdict, by)).collect();
    let wanted = [
        ("gate", "ask", "person"),
        ("permission", "allow", "rule"),
        ("permission", "allow", "person"),
        ("read", "allow", "person"),
        ("write", "allow", "person"),
        ("run", "deny", "rule"),
    ];
    assert_eq!(told, wanted, "{text}");
    assert_eq!((&records[1]["rule"], &records[1]["what"]), (&json!("Bash(git *)"), &json!("git log")));
    assert_eq!(records[2]["claims"]["all"][0]["what"]["line"], "deploy --token=[redacted]");
    assert_eq!(records[2]["options"].as_array().map(Vec::len), Some(2), "{text}");
    assert!(records[2]["waited_ms"].is_u64(), "{text}");
    assert!(records.iter().skip(1).all(|r| r["session"] == "s" && r["agent"] == "mine"), "{text}");
    assert!(audit::verify(&state).unwrap().iter().all(|file| file.fault.is_none()));
}
