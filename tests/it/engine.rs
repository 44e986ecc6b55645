//! The engine with an agent in this program: no process, no shell, and every name on the wire another one.

mod accounts;
mod asides;
mod audit;
mod beside;
mod d0;
mod exporting;
mod forgotten;
mod framing;
mod hook;
mod leaving;
mod loading;
mod many;
mod outside;
mod recalled;
mod remote;
mod rules;
mod secrets;
mod servers;

use crate::support::app::config;
use crate::support::renamed::{message_in, message_out, renamed};
use crate::support::{options, render};
use acp_tui::base::exit::Exit;
use acp_tui::engine::link::{Agent, memory};
use acp_tui::engine::{Engine, EngineConfig};
use acp_tui::model::event::Intent;
use acp_tui::model::session::Phase;
use serde_json::{Value, json};
use std::time::Duration;

async fn send(agent: &mut Agent, message: Value) {
    agent.lines.send_line(&message_out(message).to_string()).await.unwrap();
}

async fn receive(agent: &mut Agent) -> Value {
    let line = agent.lines.next_line().await.unwrap().expect("the client has gone");
    message_in(serde_json::from_str(&line).unwrap())
}

async fn answer(agent: &mut Agent, method: &str, result: Value) {
    let call = receive(agent).await;
    assert_eq!(call["method"], method);
    send(agent, json!({ "jsonrpc": "2.0", "id": call["id"], "result": result })).await;
}

/// Reads a file, asks, says what came of it, and waits to be stopped. Gives what it was answered.
async fn agent(mut agent: Agent, file: String) -> Vec<Value> {
    answer(&mut agent, "initialize", json!({ "protocolVersion": 1 })).await;
    answer(&mut agent, "session/new", json!({ "sessionId": "s" })).await;
    let prompt = receive(&mut agent).await;
    assert_eq!((&prompt["method"], &prompt["params"]["prompt"][0]["text"]), (&json!("session/prompt"), &json!("hi")));
    let mut answers = Vec::new();
    let requests = [
        ("fs/read_text_file", json!({ "sessionId": "s", "path": file })),
        ("fs/read_text_file", json!({ "sessionId": "s", "path": "/nowhere/outside" })),
        (
            "session/request_permission",
            json!({ "sessionId": "s", "toolCall": { "toolCallId": "t", "title": "Make it" }, "options": options() }),
        ),
    ];
    for (id, (method, params)) in requests.into_iter().enumerate() {
        send(&mut agent, json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        let mut got = receive(&mut agent).await;
        answers.push(got["result"].take());
        answers.push(got["error"]["code"].take());
    }
    let update =
        json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "done so far" } });
    let params = json!({ "sessionId": "s", "update": update });
    send(&mut agent, json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })).await;
    let cancel = receive(&mut agent).await;
    assert_eq!(cancel["method"], "session/cancel");
    send(&mut agent, json!({ "jsonrpc": "2.0", "id": prompt["id"], "result": { "stopReason": "cancelled" } })).await;
    // Until the client goes.
    while agent.lines.next_line().await.unwrap().is_some() {}
    agent.exit(Exit { code: Some(0), signal: None });
    answers
}

async fn until(engine: &mut Engine, what: &str, is_so: impl Fn(&Engine) -> bool) {
    while !is_so(engine) {
        let wake = tokio::time::timeout(Duration::from_secs(20), engine.next()).await;
        let wake = wake.unwrap_or_else(|_| panic!("never: {what}: {:?}", render(engine.model())));
        engine.step(wake);
    }
}

#[tokio::test]
async fn a_session_over_memory_with_every_name_changed() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let (root, journals) = (dir.join("project"), dir.join("journals"));
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("a.txt"), "only on the disk").unwrap();
    let (link, far) = memory();
    let agent = tokio::spawn(agent(far, root.join("a.txt").to_string_lossy().into_owned()));
    let mut link = Some(link);
    let connect = Box::new(move |_| link.take().expect("started once"));
    let config = EngineConfig { journals: Some(journals.clone()), ..config(&root) };
    let mut engine = Engine::connected(config, renamed(), Some(connect));
    engine.intent(Intent::Start);
    until(&mut engine, "a session", |e| matches!(e.model().first().phase(), Phase::Ready)).await;
    engine.intent(Intent::Prompt { text: "hi".into(), links: Vec::new() });
    until(&mut engine, "a question", |e| !e.model().first().session().questions().is_empty()).await;
    let req = engine.model().first().session().questions()[0].req;
    engine.intent(Intent::Answer { req, option: "yes".into() });
    let says = |e: &Engine, what: &str| render(e.model()).iter().any(|entry| entry.contains(what));
    until(&mut engine, "words", |e| says(e, "done so far")).await;
    engine.intent(Intent::Cancel);
    until(&mut engine, "the end of the turn", |e| e.model().first().session().turn.is_none()).await;
    assert!(says(&engine, "you: hi") && says(&engine, "Make it") && says(&engine, "outside"));
    engine.shutdown().await;
    let selected = json!({ "outcome": { "outcome": "selected", "optionId": "yes" } });
    let null = Value::Null;
    let read = json!({ "content": "only on the disk" });
    assert_eq!(agent.await.unwrap(), [read, null.clone(), null.clone(), json!(-32602), selected, null]);
    let file = std::fs::read_dir(&journals).unwrap().next().unwrap().unwrap().path();
    let journal = std::fs::read_to_string(file).unwrap();
    assert!(journal.contains(r#""codec":"renamed""#) && journal.contains("[16 bytes]"), "{journal}");
    assert!(!journal.contains("only on the disk"), "{journal}");
}
