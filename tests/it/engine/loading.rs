//! A long history over a link: all of it arrives before the agent answers the call that asks for it.

use super::{config, until};
use crate::support::renamed::{message_in, message_out, renamed};
use acp_tui::agent::codec::{self, SharedCodec};
use acp_tui::engine::Engine;
use acp_tui::engine::link::{Agent, memory};
use acp_tui::model::entry::{Body, UserState};
use acp_tui::model::event::{Intent, Opening};
use acp_tui::model::ids::{AgentKey, SessionKey};
use acp_tui::model::session::{Session, SessionState};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const COUNT: usize = 20_000;
/// Updates that may be on their way: beyond these the agent has to wait.
const AHEAD: usize = 8_000;
const OLD: SessionKey = SessionKey(1);

/// Whether the words on the wire are others.
type Say = fn(Value) -> Value;

fn same(message: Value) -> Value {
    message
}

fn kind(n: usize) -> &'static str {
    if n.is_multiple_of(10) { "user_message_chunk" } else { "agent_message_chunk" }
}

/// Tells a history of so many messages, and answers then.
async fn remembers(mut agent: Agent, say: Say, hear: Say, sent: Arc<AtomicUsize>) {
    loop {
        let Some(line) = agent.lines.next_line().await.unwrap() else { return };
        let got = hear(serde_json::from_str(&line).unwrap());
        let result = match got["method"].as_str() {
            Some("initialize") => json!({ "protocolVersion": 1, "agentCapabilities": { "loadSession": true } }),
            Some("session/new") => json!({ "sessionId": "first" }),
            Some("session/load") => {
                for n in 0..COUNT {
                    let content = json!({ "type": "text", "text": format!("{n}.{}", "x".repeat(100)) });
                    let update = json!({ "sessionUpdate": kind(n), "messageId": format!("m{n}"), "content": content });
                    let params = json!({ "sessionId": "old", "update": update });
                    let message = json!({ "jsonrpc": "2.0", "method": "session/update", "params": params });
                    agent.lines.send_line(&say(message).to_string()).await.unwrap();
                    sent.store(n + 1, Ordering::Relaxed);
                }
                Value::Null
            }
            _ => continue,
        };
        let message = say(json!({ "jsonrpc": "2.0", "id": got["id"], "result": result }));
        agent.lines.send_line(&message.to_string()).await.unwrap();
    }
}

fn old(engine: &Engine) -> &Session {
    engine.model().session_of(OLD).unwrap()
}

async fn nothing_is_lost(codec: SharedCodec, say: Say, hear: Say) {
    let dir = tempfile::tempdir().unwrap();
    let (link, far) = memory();
    let sent = Arc::new(AtomicUsize::new(0));
    let agent = tokio::spawn(remembers(far, say, hear, Arc::clone(&sent)));
    let mut link = Some(link);
    let connect = Box::new(move |_| link.take().expect("started once"));
    let mut engine = Engine::connected(config(dir.path()), codec, Some(connect));
    engine.intent(Intent::Start);
    until(&mut engine, "a session", |e| e.model().first().session().state == SessionState::Ready).await;
    let cwd = dir.path().to_string_lossy().into_owned();
    engine.intent_to(AgentKey::FIRST.into(), Intent::OpenSession { cwd, how: Opening::Load("old".into()) });
    let mut ahead = 0;
    while old(&engine).state != SessionState::Ready {
        assert!(matches!(old(&engine).state, SessionState::Loading { .. }));
        let wake = engine.next().await;
        engine.step(wake);
        ahead = ahead.max(sent.load(Ordering::Relaxed) - old(&engine).entries().len());
    }
    let entries = old(&engine).entries();
    assert_eq!((entries.len(), entries.gone()), (COUNT, 0));
    for (n, entry) in entries.iter().enumerate() {
        let (text, is_right) = match &entry.body {
            Body::User(user) => (&user.text, kind(n).starts_with("user") && user.state == UserState::FromElsewhere),
            Body::Agent(message) => (&message.text, kind(n).starts_with("agent")),
            other => panic!("{other:?}"),
        };
        assert!(is_right && text.strip_suffix(&"x".repeat(100)) == Some(&format!("{n}.")), "{n}: {text}");
    }
    assert!(ahead < AHEAD, "the agent was {ahead} messages ahead");
    assert_eq!(engine.model().first().agent().odd.total(), 0);
    assert!(engine.model().first().session().entries().is_empty());
    engine.shutdown().await;
    agent.await.unwrap();
}

#[tokio::test]
async fn a_history_of_20_000_updates_before_the_answer_is_kept_whole() {
    nothing_is_lost(codec::shipped(), same, same).await;
}

#[tokio::test]
async fn a_history_of_20_000_updates_in_other_words_is_kept_whole() {
    nothing_is_lost(renamed(), message_out, message_in).await;
}
