//! Two agents in one engine, one of them with two sessions: each is answered and written down under its own address.

use super::config;
use crate::support::between::memory;
use crate::support::{chunk, options};
use acp_tui::agent::codec;
use acp_tui::base::exit::Exit;
use acp_tui::engine::link::{Agent, Link};
use acp_tui::engine::replay::replay;
use acp_tui::engine::{AgentSetup, Engine, Further, ReviewConfig};
use acp_tui::model::Model;
use acp_tui::model::changes::Gate;
use acp_tui::model::entry::Body;
use acp_tui::model::event::{Intent, Opening};
use acp_tui::model::ids::{AgentKey, ReqId, SessionKey};
use acp_tui::model::question::About;
use acp_tui::model::session::{Policy, Session, SessionState, Write};
use acp_tui::store::recording;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::oneshot;

const A: AgentKey = AgentKey::FIRST;
const B: AgentKey = AgentKey(1);
const A1: SessionKey = SessionKey::FIRST;
const B1: SessionKey = SessionKey(1);
const A2: SessionKey = SessionKey(2);

pub async fn reply(agent: &mut Agent, call: &Value, result: Value) {
    send_plain(agent, json!({ "jsonrpc": "2.0", "id": call["id"], "result": result })).await;
}

pub async fn send_plain(agent: &mut Agent, message: Value) {
    agent.lines.send_line(&message.to_string()).await.unwrap();
}

/// Opens two sessions. In the first it writes a file, in the second it asks; says what it was answered in the session
/// that it concerns and ends that turn. Later prompts it answers at once.
async fn asks(mut agent: Agent, file: String) {
    let mut prompts: BTreeMap<u64, (&str, Value)> = BTreeMap::new();
    let mut opened = ["one", "two"].into_iter();
    while let Some(line) = agent.lines.next_line().await.unwrap() {
        let got: Value = serde_json::from_str(&line).unwrap();
        let asked = prompts.len() as u64;
        match got["method"].as_str() {
            Some("initialize") => reply(&mut agent, &got, json!({ "protocolVersion": 1 })).await,
            Some("session/new") => reply(&mut agent, &got, json!({ "sessionId": opened.next().unwrap() })).await,
            Some("session/prompt") if asked < 2 => {
                let (at, method, params) = if got["params"]["sessionId"] == "one" {
                    let params = json!({ "sessionId": "one", "path": file, "content": "held text" });
                    ("one", "fs/write_text_file", params)
                } else {
                    let tool = json!({ "toolCallId": "t", "title": "Make it" });
                    let params = json!({ "sessionId": "two", "toolCall": tool, "options": options() });
                    ("two", "session/request_permission", params)
                };
                prompts.insert(asked, (at, got));
                send_plain(&mut agent, json!({ "jsonrpc": "2.0", "id": asked, "method": method, "params": params }))
                    .await;
            }
            Some("session/prompt") => reply(&mut agent, &got, json!({ "stopReason": "end_turn" })).await,
            Some(_) => {}
            None => {
                let (at, prompt) = prompts[&got["id"].as_u64().unwrap()].clone();
                let what = if got["error"].is_null() { got["result"].to_string() } else { "refused".into() };
                let update = chunk("agent_message_chunk", &format!("{at} got {what}"));
                let params = json!({ "sessionId": at, "update": update });
                send_plain(&mut agent, json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })).await;
                reply(&mut agent, &prompt, json!({ "stopReason": "end_turn" })).await;
            }
        }
    }
}

/// Opens a session that has the name of one of the other agent, and talks in its turn until it is told to die.
async fn floods(mut agent: Agent, mut die: oneshot::Receiver<()>) {
    for result in [json!({ "protocolVersion": 1 }), json!({ "sessionId": "one" })] {
        let call: Value = serde_json::from_str(&agent.lines.next_line().await.unwrap().unwrap()).unwrap();
        reply(&mut agent, &call, result).await;
    }
    agent.lines.next_line().await.unwrap().expect("a prompt");
    let params = json!({ "sessionId": "one", "update": chunk("agent_message_chunk", "flood ") });
    let line = json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }).to_string();
    while die.try_recv().is_err() {
        agent.lines.send_line(&line).await.unwrap();
    }
    agent.exit(Exit { code: Some(3), signal: None });
}

pub fn session(model: &Model, key: SessionKey) -> &Session {
    model.session_of(key).unwrap()
}

pub fn is_ready(engine: &Engine, key: SessionKey) -> bool {
    engine.model().session_of(key).is_some_and(|session| session.state == SessionState::Ready)
}

fn said(model: &Model, key: SessionKey) -> String {
    let texts = session(model, key).entries().iter().filter_map(|e| match &e.body {
        Body::Agent(m) => Some(m.text.clone()),
        _ => None,
    });
    texts.collect()
}

fn bodies(model: &Model, key: SessionKey) -> Vec<String> {
    session(model, key).entries().iter().map(|e| format!("{:?}", e.body)).collect()
}

pub async fn until(engine: &mut Engine, what: &str, is_so: impl Fn(&Engine) -> bool) {
    while !is_so(engine) {
        let wake = tokio::time::timeout(Duration::from_secs(30), engine.next()).await;
        let wake = wake.unwrap_or_else(|_| panic!("never: {what}"));
        engine.step(wake);
    }
}

/// Until it is so; the flood must have gone on meanwhile.
async fn while_flooded(engine: &mut Engine, what: &str, is_so: impl Fn(&Engine) -> bool) {
    let before = said(engine.model(), B1).len();
    until(engine, what, |e| is_so(e) && said(e.model(), B1).len() > before).await;
}

pub fn prompt(engine: &mut Engine, at: SessionKey) {
    engine.intent_to(at.into(), Intent::Prompt { text: "go".into(), links: Vec::new() });
}

fn ask(engine: &Engine, at: SessionKey) -> (ReqId, About) {
    let pending = &session(engine.model(), at).questions()[0];
    (pending.req, pending.about.clone())
}

struct Place {
    _dir: tempfile::TempDir,
    root: PathBuf,
    journals: PathBuf,
    record: PathBuf,
}

fn place() -> Place {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    let (root, journals, record) = (base.join("project"), base.join("journals"), base.join("record.jsonl"));
    std::fs::create_dir(&root).unwrap();
    Place { _dir: dir, root, journals, record }
}

fn two_agents(place: &Place, links: Vec<Link>) -> Engine {
    let mut links: BTreeMap<AgentKey, Link> = [A, B].into_iter().zip(links).collect();
    let connect = Box::new(move |agent| links.remove(&agent).expect("started once"));
    let mut config = config(&place.root);
    config.journals = Some(place.journals.clone());
    config.review = Some(ReviewConfig::below(place.root.with_file_name("review")));
    config.gate = Gate::Hold;
    config.record = Some(recording::Place::create(&place.record).unwrap());
    let setup = AgentSetup {
        start_in: None,
        protocol: acp_tui::model::event::Protocol::Auto,
        command: "b-acp".into(),
        args: vec!["two words".into()],
        env: vec![("B_KEY".into(), "secret".into())],
        install: None,
        reach: acp_tui::engine::Reach::default(),
        inherited: acp_tui::base::inherited::Inherited::default(),
        sandbox: None,
        kept_as: None,
    };
    config.further = Further::read_by(|| BTreeMap::from([("b".into(), setup)]));
    Engine::connected(config, codec::shipped(), Some(connect))
}

#[tokio::test]
async fn a_flood_a_question_a_held_write_and_a_death_side_by_side() {
    let place = place();
    let file = place.root.join("held.txt");
    let ((to_a, a), (to_b, b)) = (memory(), memory());
    let (die, told) = oneshot::channel();
    let a = tokio::spawn(asks(a, file.to_string_lossy().into_owned()));
    let b = tokio::spawn(floods(b, told));
    let mut engine = two_agents(&place, vec![to_a, to_b]);
    let cwd = place.root.to_string_lossy().into_owned();
    engine.intent(Intent::Start);
    engine.intent(Intent::AddAgent {
        command: "b".into(),
        env: Vec::new(),
        cwd: cwd.clone(),
        how: Opening::New,
        protocol: None,
    });
    until(&mut engine, "two sessions", |e| is_ready(e, A1) && is_ready(e, B1)).await;
    let added = engine.model().agent_of(B).unwrap();
    assert_eq!((added.command.as_str(), &added.env[..]), ("b-acp 'two words'", &["B_KEY".to_owned()][..]));
    engine.intent_to(A.into(), Intent::OpenSession { cwd, how: Opening::New });
    until(&mut engine, "a third session", |e| is_ready(e, A2)).await;

    prompt(&mut engine, B1);
    until(&mut engine, "a flood", |e| !said(e.model(), B1).is_empty()).await;
    prompt(&mut engine, A1);
    prompt(&mut engine, A2);
    let asked = |e: &Engine, at| !session(e.model(), at).questions().is_empty();
    while_flooded(&mut engine, "both questions", |e| asked(e, A1) && asked(e, A2)).await;
    let ((held, about), (question, tool)) = (ask(&engine, A1), ask(&engine, A2));
    let is_held = session(engine.model(), A1).write(held).is_some_and(Write::is_held);
    assert!(about == About::Write && is_held && tool == About::Permission && held != question);
    assert!(!file.exists() && session(engine.model(), B1).questions().is_empty());
    engine.intent_to(A2.into(), Intent::Answer { req: question, option: "yes".into() });
    while_flooded(&mut engine, "the end of the second turn", |e| session(e.model(), A2).turn.is_none()).await;
    assert!(session(engine.model(), A1).turn.is_some(), "its write is held");
    engine.intent_to(A1.into(), Intent::Answer { req: held, option: "allow".into() });
    while_flooded(&mut engine, "the end of the first turn", |e| session(e.model(), A1).turn.is_none()).await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "held text");
    assert!(said(engine.model(), A1).starts_with("one got ") && !said(engine.model(), A1).contains("refused"));
    assert!(said(engine.model(), A2).contains(r#""optionId":"yes""#), "{}", said(engine.model(), A2));

    die.send(()).unwrap();
    until(&mut engine, "a death", |e| e.model().agent_of(B).unwrap().is_dead()).await;
    assert!(session(engine.model(), B1).is_closed() && session(engine.model(), B1).turn.is_none());
    assert!(is_ready(&engine, A1) && is_ready(&engine, A2) && engine.model().agent_of(A).unwrap().is_up());
    for at in [A1, A2] {
        prompt(&mut engine, at);
        until(&mut engine, "another turn", |e| session(e.model(), at).turn.is_none()).await;
    }
    let live: Vec<_> = [B1, A2].map(|key| bodies(engine.model(), key)).into();
    let (count, command) =
        (session(engine.model(), A1).entries().len(), engine.model().first().agent().command.clone());
    engine.shutdown().await;
    a.await.unwrap();
    b.await.unwrap();
    journalled(&place, &command, &live, count);
    recorded(&place.record);
}

/// Each frame is under the agent that it is of, and what is played back is what was shown.
fn journalled(place: &Place, command: &str, live: &[Vec<String>], count: usize) {
    let file = std::fs::read_dir(&place.journals).unwrap().next().unwrap().unwrap().path();
    let journal = std::fs::read_to_string(file).unwrap();
    assert!(!journal.contains("secret"), "values of variables are not written down");
    let mut seen = BTreeMap::new();
    for line in journal.lines().skip(1) {
        let record: Value = serde_json::from_str(line).unwrap();
        let of = if line.contains("flood ") && !record["frame"].is_null() {
            json!({ "agent": 1 })
        } else if record["frame"]["method"].as_str().is_some_and(|m| m.starts_with("fs/") || m.contains("permission")) {
            json!({ "agent": 0 })
        } else if let Some(option) = record["intent"]["Answer"]["option"].as_str() {
            json!({ "session": if option == "allow" { 0 } else { 2 } })
        } else {
            continue;
        };
        assert_eq!(record["at"], of, "{line}");
        *seen.entry(of.to_string()).or_insert(0) += 1;
    }
    assert_eq!(seen.len(), 4, "{seen:?}");
    let model = Model::new(command.to_owned(), place.root.to_string_lossy().into_owned(), Policy::Ask);
    let (model, skipped) = replay(model, place.root.clone(), journal.lines());
    assert_eq!(skipped, 0);
    assert_eq!([B1, A2].map(|key| bodies(&model, key)), live[..]);
    assert_eq!(session(&model, A1).entries().len(), count);
    assert!(model.agent_of(B).unwrap().is_dead() && model.agent_of(A).unwrap().is_up());
}

/// The first agent's frames are recorded as they always were; those of the other one name it.
fn recorded(record: &Path) {
    let text = std::fs::read_to_string(record).unwrap();
    let (mut ours, mut others) = (0, 0);
    for line in text.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let is_flood = line.contains("flood ");
        match record.get("agent") {
            Some(agent) => {
                assert_eq!(agent, 1);
                others += 1;
            }
            None => {
                assert!(!is_flood, "{line}");
                ours += 1;
            }
        }
    }
    assert!(ours > 10 && others > 10, "{ours} {others}");
}
