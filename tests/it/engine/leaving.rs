//! What leaves memory is in the history file and comes back as it was, while the agent goes on.

use super::config;
use super::many::{is_ready, prompt, reply, send_plain, session, until};
use crate::support::between::memory;
use crate::support::chunk;
use acp_tui::agent::codec;
use acp_tui::engine::Engine;
use acp_tui::engine::link::Agent;
use acp_tui::model::entries::Slot;
use acp_tui::model::entry::Body;
use acp_tui::model::event::Intent;
use acp_tui::model::history::{HELD, LEAVE_STEP};
use acp_tui::model::ids::SessionKey;
use serde_json::{Value, json};

const AT: SessionKey = SessionKey::FIRST;
const MESSAGES: usize = 4000;
/// The newest 256 stay in any case; together they are less than what is held.
const MESSAGE: usize = 3 << 10;

fn text(n: usize) -> String {
    format!("{n}:{}", "x".repeat(MESSAGE))
}

/// Says many long messages in one turn.
async fn tells(mut agent: Agent) {
    for result in [json!({ "protocolVersion": 1 }), json!({ "sessionId": "s" })] {
        let call: Value = serde_json::from_str(&agent.lines.next_line().await.unwrap().unwrap()).unwrap();
        reply(&mut agent, &call, result).await;
    }
    let prompt: Value = serde_json::from_str(&agent.lines.next_line().await.unwrap().unwrap()).unwrap();
    for n in 0..MESSAGES {
        let mut update = chunk("agent_message_chunk", &text(n));
        update["messageId"] = json!(n.to_string());
        let params = json!({ "sessionId": "s", "update": update });
        send_plain(&mut agent, json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })).await;
    }
    reply(&mut agent, &prompt, json!({ "stopReason": "end_turn" })).await;
    while agent.lines.next_line().await.unwrap().is_some() {}
}

#[tokio::test]
async fn old_entries_are_in_the_file_and_come_back_as_they_were() {
    let dir = tempfile::tempdir().unwrap();
    let (link, agent) = memory();
    let agent = tokio::spawn(tells(agent));
    let mut link = Some(link);
    let mut config = config(dir.path());
    config.journals = Some(dir.path().join("journals"));
    let connect = Box::new(move |_| link.take().expect("started once"));
    let mut engine = Engine::connected(config, codec::shipped(), Some(connect));
    engine.keep_little_in_memory();
    engine.intent(Intent::Start);
    until(&mut engine, "a session", |e| is_ready(e, AT)).await;
    prompt(&mut engine, AT);
    until(&mut engine, "the end of the turn", |e| session(e.model(), AT).turn.is_none()).await;
    let little = HELD + 2 * LEAVE_STEP + MESSAGE;
    until(&mut engine, "little in memory", |e| session(e.model(), AT).entries().bytes() <= little).await;

    let entries = session(engine.model(), AT).entries();
    let (mut told, mut read) = (0, 0);
    for (index, slot) in entries.slots().enumerate() {
        let entry = match slot {
            Slot::Here(entry) => (**entry).clone(),
            Slot::Away(away) => {
                read += 1;
                away.read(entries.id_at(index), engine.history())
            }
        };
        if let Body::Agent(message) = entry.body {
            assert_eq!(message.text, text(told));
            told += 1;
        }
    }
    assert_eq!(told, MESSAGES);
    assert!(read > MESSAGES / 2, "{read} of them had left");
    engine.shutdown().await;
    agent.await.unwrap();
}
