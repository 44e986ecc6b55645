//! Messages that have a header with their length, from the first to the last of a session. Only the link says so.

use super::{config, until};
use crate::support::{chunk, render};
use acp_tui::agent::codec;
use acp_tui::engine::link::{Agent, memory};
use acp_tui::engine::{Engine, EngineConfig, Framing};
use acp_tui::model::event::Intent;
use acp_tui::model::session::Phase;
use serde_json::{Value, json};
use std::io::Write as _;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _};

const HEADER: &str = "Content-Length: ";

async fn send(agent: &mut Agent, message: Value) {
    // On several lines, as that is nobody's business here.
    let text = serde_json::to_string_pretty(&message).unwrap();
    let mut bytes = Vec::new();
    write!(bytes, "{HEADER}{}\r\n\r\n", text.len()).unwrap();
    bytes.extend_from_slice(text.as_bytes());
    // And in pieces.
    for piece in bytes.chunks(7) {
        agent.lines.writer.write_all(piece).await.unwrap();
    }
}

async fn receive(agent: &mut Agent) -> Option<Value> {
    let mut head = String::new();
    if agent.lines.reader.read_line(&mut head).await.unwrap() == 0 {
        return None;
    }
    let length: usize = head.strip_prefix(HEADER).expect(&head).trim_end().parse().unwrap();
    agent.lines.reader.read_line(&mut head).await.unwrap();
    let mut body = vec![0; length];
    agent.lines.reader.read_exact(&mut body).await.unwrap();
    Some(serde_json::from_slice(&body).unwrap())
}

/// Says how long each prompt is.
async fn agent(mut agent: Agent) {
    while let Some(got) = receive(&mut agent).await {
        let result = match got["method"].as_str() {
            Some("initialize") => json!({ "protocolVersion": 1 }),
            Some("session/new") => json!({ "sessionId": "s" }),
            Some("session/prompt") => {
                let length = got["params"]["prompt"][0]["text"].as_str().unwrap().len();
                let update = chunk("agent_message_chunk", &format!("{length} bytes\nin all"));
                let params = json!({ "sessionId": "s", "update": update });
                send(&mut agent, json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })).await;
                json!({ "stopReason": "end_turn" })
            }
            _ => continue,
        };
        send(&mut agent, json!({ "jsonrpc": "2.0", "id": got["id"], "result": result })).await;
    }
}

#[tokio::test]
async fn s_066_messages_with_a_length_in_front_are_understood_and_written_where_the_link_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let (root, journals) = (dir.join("project"), dir.join("journals"));
    std::fs::create_dir(&root).unwrap();
    let (mut link, far) = memory();
    link.framing = Framing::Lengths;
    let agent = tokio::spawn(agent(far));
    let mut link = Some(link);
    let connect = Box::new(move |_| link.take().expect("started once"));
    let config = EngineConfig { journals: Some(journals.clone()), ..config(&root) };
    let mut engine = Engine::connected(config, codec::shipped(), Some(connect));
    engine.intent(Intent::Start);
    until(&mut engine, "a session", |e| matches!(e.model().first().phase(), Phase::Ready)).await;
    // A short message is joined with others, a long one is not copied.
    for length in [2, 100_000] {
        engine.intent(Intent::Prompt { text: "x".repeat(length), links: Vec::new() });
        until(&mut engine, "an answer", |e| {
            let said = format!("agent: {length} bytes\nin all");
            e.model().first().session().turn.is_none() && render(e.model()).contains(&said)
        })
        .await;
    }
    engine.shutdown().await;
    agent.await.unwrap();
    let file = std::fs::read_dir(&journals).unwrap().next().unwrap().unwrap().path();
    let journal = std::fs::read_to_string(file).unwrap();
    assert!(journal.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "one message, one line");
}
