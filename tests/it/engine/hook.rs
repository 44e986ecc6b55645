//! The decision hook between rules and the person, before what the agent wants over memory.

use super::{answer, receive, send, until};
use crate::support::app::config;
use crate::support::options;
use crate::support::renamed::renamed;
use acp_tui::engine::link::{Agent, memory};
use acp_tui::engine::rulebook::Rulebook;
use acp_tui::engine::{Engine, EngineConfig, Hook, RulesConfig};
use acp_tui::model::event::Intent;
use acp_tui::model::session::Phase;
use serde_json::{Value, json};
use std::sync::Arc;

/// What its question was answered with, and its next prompt.
async fn agent(mut agent: Agent) -> (Value, Value) {
    answer(&mut agent, "initialize", json!({ "protocolVersion": 1 })).await;
    answer(&mut agent, "session/new", json!({ "sessionId": "s" })).await;
    let prompt = receive(&mut agent).await;
    let tool = json!({ "toolCallId": "t", "title": "make", "kind": "execute", "rawInput": { "command": "make" } });
    let params = json!({ "sessionId": "s", "toolCall": tool, "options": options() });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "session/request_permission", "params": params });
    send(&mut agent, request).await;
    let answered = receive(&mut agent).await["result"]["outcome"]["optionId"].take();
    send(&mut agent, json!({ "jsonrpc": "2.0", "id": prompt["id"], "result": { "stopReason": "end_turn" } })).await;
    let mut next = receive(&mut agent).await;
    send(&mut agent, json!({ "jsonrpc": "2.0", "id": next["id"], "result": { "stopReason": "end_turn" } })).await;
    while agent.lines.next_line().await.unwrap().is_some() {}
    (answered, next["params"]["prompt"][0]["text"].take())
}

#[tokio::test]
async fn the_question_stands_while_the_hook_is_asked_and_goes_with_its_answer() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let go = root.join("go");
    rustix::fs::mkfifoat(rustix::fs::CWD, &go, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
    let script = format!(r#"read x < '{}'; echo '{{"verdict":"deny","reason":"not today"}}'"#, go.display());
    let hook = Hook::new(["sh", "-c", &script].map(str::to_owned).to_vec());
    let book = Rulebook::new(None, None).with_hook(Some(hook));
    let (link, far) = memory();
    let agent = tokio::spawn(agent(far));
    let mut link = Some(link);
    let connect = Box::new(move |_| link.take().expect("started once"));
    let held = RulesConfig { book: Arc::new(book), agent: None };
    let config = EngineConfig { rules: Some(held), ..config(&root) };
    let mut engine = Engine::connected(config, renamed(), Some(connect));
    engine.intent(Intent::Start);
    until(&mut engine, "a session", |e| matches!(e.model().first().phase(), Phase::Ready)).await;
    engine.intent(Intent::Prompt { text: "hi".into(), links: Vec::new() });
    let is_asked = |e: &Engine| e.model().first().session().questions().iter().any(|q| q.is_hook_asked);
    until(&mut engine, "a question that says so", is_asked).await;
    let writer = tokio::task::spawn_blocking(move || std::fs::write(go, "go\n").unwrap());
    // The one in which the agent is told why is the last.
    until(&mut engine, "the end of both turns", |e| e.model().first().session().turn.is_none()).await;
    writer.await.unwrap();
    let text = crate::support::render(engine.model()).join("\n");
    assert!(text.contains("refused by the decision hook: not today: make"), "{text}");
    engine.shutdown().await;
    let (answered, next) = agent.await.unwrap();
    assert_eq!((answered, next), ("no".into(), "Refused by the decision hook: “make”\n\nnot today".into()));
}
