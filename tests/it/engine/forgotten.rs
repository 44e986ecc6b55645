//! An agent that forgets a session, or ends without having kept it: what was said in it is in its journals, and what was
//! said under the same key afterwards is of another conversation.

use super::many::{reply, send_plain};
use super::{config, until};
use crate::support::between::memory;
use acp_tui::agent::codec;
use acp_tui::base::exit::Exit;
use acp_tui::engine::link::Agent;
use acp_tui::engine::recalling::Bounds;
use acp_tui::engine::{Engine, EngineConfig, recalling};
use acp_tui::model::entry::{Body, Entry};
use acp_tui::model::event::{Intent, Opening};
use acp_tui::model::session::{Phase, SessionState};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Answers every prompt but `die`, at which it ends. It tells of every session once, and has forgotten it then.
async fn forgets(mut agent: Agent, caps: Value, opened: Arc<AtomicU32>, loads: Arc<AtomicU32>) {
    while let Some(line) = agent.lines.next_line().await.unwrap() {
        let got: Value = serde_json::from_str(&line).unwrap();
        match got["method"].as_str() {
            Some("initialize") => {
                reply(&mut agent, &got, json!({ "protocolVersion": 1, "agentCapabilities": caps })).await;
            }
            Some("session/new") => {
                let id = format!("s{}", opened.fetch_add(1, Ordering::Relaxed) + 1);
                reply(&mut agent, &got, json!({ "sessionId": id })).await;
            }
            Some("session/load")
                if loads.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok() =>
            {
                reply(&mut agent, &got, Value::Null).await;
            }
            Some("session/load") => {
                let error = json!({ "code": -32002, "message": "No such session" });
                send_plain(&mut agent, json!({ "jsonrpc": "2.0", "id": got["id"], "error": error })).await;
            }
            Some("session/prompt") => {
                let text = got["params"]["prompt"][0]["text"].as_str().unwrap().to_owned();
                if text == "die" {
                    return agent.exit(Exit { code: Some(7), signal: None });
                }
                let update = json!({ "sessionUpdate": "agent_message_chunk",
                    "content": { "type": "text", "text": format!("I did {text}") } });
                let params = json!({ "sessionId": got["params"]["sessionId"], "update": update });
                send_plain(&mut agent, json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })).await;
                reply(&mut agent, &got, json!({ "stopReason": "end_turn" })).await;
            }
            _ => {}
        }
    }
}

/// Where journals are, and an agent that can do this.
struct Place {
    journals: PathBuf,
    root: PathBuf,
    caps: Value,
    opened: Arc<AtomicU32>,
    /// How often it loads a session before it has forgotten all.
    loads: Arc<AtomicU32>,
}

impl Place {
    fn new(dir: &Path, caps: Value) -> Self {
        let (journals, root) = (dir.join("sessions"), dir.join("project"));
        std::fs::create_dir(&root).unwrap();
        Self { journals, root, caps, opened: Arc::default(), loads: Arc::default() }
    }

    fn engine(&self) -> Engine {
        let (caps, opened, loads) = (self.caps.clone(), Arc::clone(&self.opened), Arc::clone(&self.loads));
        let connect = Box::new(move |_| {
            let (link, far) = memory();
            tokio::spawn(forgets(far, caps.clone(), Arc::clone(&opened), Arc::clone(&loads)));
            link
        });
        let config = EngineConfig { journals: Some(self.journals.clone()), ..config(&self.root) };
        Engine::connected(config, codec::shipped(), Some(connect))
    }

    fn recalled(&self, id: &str) -> Vec<String> {
        said(recalling::recall(&self.journals, &id.into(), "", Bounds::default()).unwrap().0.entries.iter())
    }
}

fn said<'a>(entries: impl Iterator<Item = &'a Entry>) -> Vec<String> {
    let text = |entry: &Entry| match &entry.body {
        Body::User(user) => Some(format!("{} you: {}", entry.turn.0, user.text)),
        Body::Agent(message) => Some(format!("{} agent: {}", entry.turn.0, message.text)),
        _ => None,
    };
    entries.filter_map(text).collect()
}

async fn ready(engine: &mut Engine) {
    until(engine, "a session", |e| e.model().first().session().state == SessionState::Ready).await;
}

async fn prompted(engine: &mut Engine, text: &str) {
    engine.intent(Intent::Prompt { text: text.into(), links: Vec::new() });
    let over = |e: &Engine| e.model().first().session().turn.is_none() && e.model().first().session().ended.is_some();
    until(engine, "an answer", over).await;
}

async fn dies(engine: &mut Engine) {
    engine.intent(Intent::Prompt { text: "die".into(), links: Vec::new() });
    until(engine, "its end", |e| matches!(e.model().first().phase(), Phase::Dead(_))).await;
}

#[tokio::test]
async fn what_was_said_in_a_session_that_was_forgotten_while_it_was_open_is_of_that_session() {
    for (caps, goes_on) in
        [(json!({ "loadSession": true }), false), (json!({ "loadSession": true }), true), (json!({}), true)]
    {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::new(dir.path(), caps.clone());
        let mut engine = place.engine();
        engine.intent(Intent::Start);
        ready(&mut engine).await;
        prompted(&mut engine, "one").await;
        dies(&mut engine).await;
        engine.intent(Intent::Restart);
        if caps["loadSession"] == true {
            until(&mut engine, "what it says", |e| e.model().first().session().is_closed()).await;
        }
        if goes_on {
            engine.intent(Intent::Restart);
            ready(&mut engine).await;
            prompted(&mut engine, "two").await;
        }
        engine.shutdown().await;
        assert_eq!(place.recalled("s1"), ["1 you: one", "1 agent: I did one", "2 you: die"], "{caps} {goes_on}");
        let second: &[&str] = if goes_on { &["1 you: two", "1 agent: I did two"] } else { &[] };
        assert_eq!(place.recalled("s2"), second, "{caps} {goes_on}");
    }
}

#[tokio::test]
async fn the_same_of_one_that_goes_on_from_earlier_journals() {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::new(dir.path(), json!({ "loadSession": true }));
    let mut engine = place.engine();
    engine.intent(Intent::Start);
    ready(&mut engine).await;
    prompted(&mut engine, "one").await;
    engine.shutdown().await;
    place.loads.store(1, Ordering::Relaxed);
    let mut engine = place.engine();
    engine.intent(Intent::OpenAs(Opening::Continue("s1".into())));
    engine.intent(Intent::Start);
    ready(&mut engine).await;
    prompted(&mut engine, "two").await;
    dies(&mut engine).await;
    engine.intent(Intent::Restart);
    until(&mut engine, "what it says", |e| e.model().first().session().is_closed()).await;
    engine.intent(Intent::Restart);
    ready(&mut engine).await;
    prompted(&mut engine, "three").await;
    engine.shutdown().await;
    // Where it goes on is a turn, too.
    let all = ["1 you: one", "1 agent: I did one", "3 you: two", "3 agent: I did two", "4 you: die"];
    assert_eq!(place.recalled("s1"), all);
    assert_eq!(place.recalled("s2"), ["1 you: three", "1 agent: I did three"]);
    // It is read once more behind that, and shown.
    let mut engine = place.engine();
    engine.intent(Intent::OpenAs(Opening::Continue("s1".into())));
    engine.intent(Intent::Start);
    until(&mut engine, "what it says", |e| e.model().first().session().is_closed()).await;
    assert_eq!(said(engine.model().first().session().entries().iter()), all);
    engine.shutdown().await;
    assert_eq!(place.recalled("s1"), all);
}
