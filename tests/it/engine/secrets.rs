//! What was typed to log in is done with as the agent says it, and neither shown nor written down.

use super::many::{reply, send_plain};
use super::{config, until};
use crate::support::between::memory;
use acp_tui::agent::codec;
use acp_tui::engine::link::Agent;
use acp_tui::engine::{Engine, EngineConfig};
use acp_tui::host::keyring::Keyring;
use acp_tui::model::effect::FrontEnd;
use acp_tui::model::entry::Body;
use acp_tui::model::event::Intent;
use acp_tui::model::ids::SessionKey;
use acp_tui::model::login::{Keep, Secret};
use acp_tui::model::session::Phase;
use acp_tui::store::recording;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const KEY: &str = "sk-ünïcode-12345678";
const REGION: &str = "eu-central-17";

/// Wants a log-in and is started again with it. Then it writes the key into a file, says it in two pieces and in escapes,
/// has a command print it, and writes back a file that it reads. Gives what the command and the file said.
async fn agent(mut agent: Agent, root: PathBuf, knows: bool) -> Vec<Value> {
    let mut answers = Vec::new();
    while let Some(line) = agent.lines.next_line().await.unwrap() {
        let got: Value = serde_json::from_str(&line).unwrap();
        match got["method"].as_str() {
            Some("initialize") => {
                let vars = json!([{ "name": "A_KEY" }, { "name": "A_REGION", "secret": false }]);
                let methods = json!([{ "id": "key", "name": "By key", "type": "env_var", "vars": vars }]);
                reply(&mut agent, &got, json!({ "protocolVersion": 1, "authMethods": methods })).await;
            }
            Some("session/new") if knows => reply(&mut agent, &got, json!({ "sessionId": "s" })).await,
            Some("session/new") => {
                let error = json!({ "code": -32000, "message": "Authentication required" });
                send_plain(&mut agent, json!({ "jsonrpc": "2.0", "id": got["id"], "error": error })).await;
            }
            Some("session/prompt") => {
                let path = |name: &str| root.join(name).to_string_lossy().into_owned();
                let content = format!("key = \"{KEY}\"\n");
                let params = json!({ "sessionId": "s", "path": path("main.tf"), "content": content });
                ask(&mut agent, "fs/write_text_file", params).await;
                let (one, two) = KEY.split_at(6);
                say(&mut agent, &json!(format!("A:{one}")).to_string()).await;
                say(&mut agent, &json!(format!("{two}:B in {REGION} ")).to_string()).await;
                let escapes: String = KEY.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
                say(&mut agent, &format!("\"C:{escapes}:D\"")).await;
                let params = json!({ "sessionId": "s", "command": "cat", "args": [path("main.tf")], "cwd": root });
                let id = ask(&mut agent, "terminal/create", params).await["terminalId"].take();
                let term = json!({ "sessionId": "s", "terminalId": id });
                ask(&mut agent, "terminal/wait_for_exit", term.clone()).await;
                answers.push(ask(&mut agent, "terminal/output", term).await["output"].take());
                let params = json!({ "sessionId": "s", "path": path("conf.txt") });
                let read = ask(&mut agent, "fs/read_text_file", params).await["content"].take();
                let more = format!("{}added\n", read.as_str().unwrap());
                let params = json!({ "sessionId": "s", "path": path("conf.txt"), "content": more });
                ask(&mut agent, "fs/write_text_file", params).await;
                answers.push(read);
                reply(&mut agent, &got, json!({ "stopReason": "end_turn" })).await;
            }
            _ => {}
        }
    }
    answers
}

async fn ask(agent: &mut Agent, method: &str, params: Value) -> Value {
    send_plain(agent, json!({ "jsonrpc": "2.0", "id": method, "method": method, "params": params })).await;
    loop {
        let line = agent.lines.next_line().await.unwrap().expect("the client has gone");
        let mut got: Value = serde_json::from_str(&line).unwrap();
        if got["id"] == method {
            assert_eq!(got["error"], Value::Null);
            return got["result"].take();
        }
    }
}

/// A piece of a message, spelt like this.
async fn say(agent: &mut Agent, text: &str) {
    let update = format!(r#"{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":{text}}}}}"#);
    let params = format!(r#"{{"sessionId":"s","update":{update}}}"#);
    let line = format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{params}}}"#);
    agent.lines.send_line(&line).await.unwrap();
}

fn written(dir: &Path) -> String {
    let files = std::fs::read_dir(dir).unwrap().map(|file| file.unwrap().path());
    files.filter(|path| path.is_file()).map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

#[tokio::test]
async fn what_was_typed_to_log_in_is_done_with_and_neither_shown_nor_written_down() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let (root, journals, record) = (dir.join("project"), dir.join("journals"), dir.join("record.jsonl"));
    std::fs::create_dir(&root).unwrap();
    let before = format!("the key is {KEY}\n");
    std::fs::write(root.join("conf.txt"), &before).unwrap();
    let (first, far) = memory();
    tokio::spawn(agent(far, root.clone(), false));
    let (second, far) = memory();
    let far = tokio::spawn(agent(far, root.clone(), true));
    let mut links = vec![second, first];
    let connect = Box::new(move |_| links.pop().expect("started twice"));
    let mut config = EngineConfig { journals: Some(journals.clone()), ..config(&root) };
    config.record = Some(recording::Place::create(&record).unwrap());
    let mut engine = Engine::connected(config, codec::shipped(), Some(connect));
    engine.intent(Intent::Start);
    until(&mut engine, "a log-in", |e| e.model().first().agent().log_in.is_some()).await;
    let values = [("A_KEY", KEY), ("A_REGION", REGION)].map(|(name, value)| (name.to_owned(), Secret(value.into())));
    engine.log_in_with(SessionKey::FIRST, "key".into(), values.to_vec(), Keep::ThisRun);
    until(&mut engine, "a session", |e| matches!(e.model().first().phase(), Phase::Ready)).await;
    engine.intent(Intent::Prompt { text: "hi".into(), links: Vec::new() });
    until(&mut engine, "a turn", |e| e.model().first().session().turn.is_some()).await;
    until(&mut engine, "the end of the turn", |e| e.model().first().session().turn.is_none()).await;
    engine.refresh_terminals();
    let session = engine.model().first().session();
    let said: String = session
        .entries()
        .iter()
        .filter_map(|entry| if let Body::Agent(message) = &entry.body { Some(message.text.clone()) } else { None })
        .collect();
    assert_eq!(said, format!("A:…:B in {REGION} C:…:D"));
    let screens = session.entries().iter().filter_map(|entry| match &entry.body {
        Body::Terminal(id) => session.terminal(id)?.screen.clone(),
        _ => None,
    });
    let printed: Vec<String> = screens.map(|screen| screen.rows[0].as_str().to_owned()).collect();
    assert_eq!(printed, [format!("key = \"{}\"", "•".repeat(KEY.chars().count()))]);
    engine.shutdown().await;
    let file = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let content = format!("key = \"{KEY}\"\n");
    assert_eq!((file("main.tf"), file("conf.txt")), (content.clone(), format!("{before}added\n")));
    let answers = far.await.unwrap();
    assert_eq!(answers[0].as_str().unwrap().replace("\r\n", "\n"), content);
    assert_eq!(answers[1], json!(before));
    for text in [written(&journals), std::fs::read_to_string(&record).unwrap()] {
        let text = text.to_lowercase();
        assert!(!text.contains("12345678") && text.contains(REGION), "{text}");
        assert!(!text.contains("\\u0031\\u0032\\u0033"), "{text}");
    }
}

/// Wants a log-in unless it is started with the variable; can be told of nothing.
async fn plain_agent(mut agent: Agent, knows: bool) {
    while let Some(line) = agent.lines.next_line().await.unwrap() {
        let got: Value = serde_json::from_str(&line).unwrap();
        match got["method"].as_str() {
            Some("initialize") => {
                let methods =
                    json!([{ "id": "key", "name": "By key", "type": "env_var", "vars": [{ "name": "A_KEY" }] }]);
                reply(&mut agent, &got, json!({ "protocolVersion": 1, "authMethods": methods })).await;
            }
            Some("session/new") if knows => {
                reply(&mut agent, &got, json!({ "sessionId": "s" })).await;
                say(&mut agent, &json!(format!("it is {KEY} ")).to_string()).await;
            }
            Some("session/new") => {
                let error = json!({ "code": -32000, "message": "Authentication required" });
                send_plain(&mut agent, json!({ "jsonrpc": "2.0", "id": got["id"], "error": error })).await;
            }
            _ => {}
        }
    }
}

/// An engine whose agent is started over again as often as there are answers to whether it knows the person.
fn started(root: &Path, keyring: &Keyring, kept_as: &str, mut knows: Vec<bool>, journals: &Path) -> Engine {
    knows.reverse();
    let connect = Box::new(move |_| {
        let (link, far) = memory();
        tokio::spawn(plain_agent(far, knows.pop().expect("started too often")));
        link
    });
    let config = EngineConfig {
        keyring: keyring.clone(),
        kept_as: Some(kept_as.to_owned()),
        journals: Some(journals.to_owned()),
        ..config(root)
    };
    let mut engine = Engine::connected(config, codec::shipped(), Some(connect));
    engine.intent(Intent::Start);
    engine
}

fn notices(engine: &Engine) -> Vec<String> {
    let entries = engine.model().first().session().entries().iter();
    entries.filter_map(|entry| if let Body::Notice(it) = &entry.body { Some(it.title.clone()) } else { None }).collect()
}

#[tokio::test]
async fn a_value_in_the_keyring_is_for_later_starts_of_its_agent_alone_until_the_person_logs_out() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let (root, journals) = (dir.join("project"), dir.join("journals"));
    std::fs::create_dir(&root).unwrap();
    let keyring = Keyring::Memory(Arc::default());
    let mut engine = started(&root, &keyring, "agent a", vec![false, true], &journals);
    until(&mut engine, "a log-in", |e| e.model().first().agent().log_in.is_some()).await;
    engine.log_in_with(SessionKey::FIRST, "key".into(), vec![("A_KEY".into(), Secret(KEY.into()))], Keep::InKeyring);
    until(&mut engine, "a session", |e| matches!(e.model().first().phase(), Phase::Ready)).await;
    assert!(notices(&engine).contains(&"kept in the keyring: A_KEY".to_owned()), "{:?}", notices(&engine));
    assert_eq!(engine.model().first().agent().kept, ["A_KEY"]);
    engine.shutdown().await;

    let mut other = started(&root, &keyring, "agent b", vec![false], &journals);
    until(&mut other, "a log-in", |e| e.model().first().agent().log_in.is_some()).await;
    assert!(other.model().first().agent().env.is_empty() && !notices(&other).iter().any(|one| one.contains("keyring")));
    other.shutdown().await;

    let mut later = started(&root, &keyring, "agent a", vec![true], &journals);
    assert_eq!(notices(&later), ["A_KEY from the keyring"]);
    assert_eq!(later.model().first().agent().env, ["A_KEY"]);
    let said = |e: &Engine| format!("{:?}", e.model().first().session().entries().iter().collect::<Vec<_>>());
    until(&mut later, "a message", |e| said(e).contains("it is")).await;
    assert!(said(&later).contains("it is …") && !said(&later).contains(KEY), "{}", said(&later));
    let news = later.intent(Intent::LogOut);
    assert!(news.iter().any(|one| matches!(one.what, FrontEnd::LoggedOut(Ok(())))), "{news:?}");
    assert!(later.model().first().agent().kept.is_empty() && later.model().first().agent().env.is_empty());
    assert_eq!(keyring.read("agent a"), Ok(Vec::new()));
    later.shutdown().await;
    assert!(!written(&journals).contains("12345678") && written(&journals).contains("KeyringGave"));
}

#[tokio::test]
async fn without_a_keyring_it_is_said_and_the_value_is_for_this_run() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let journals = root.join("journals");
    let mut engine = started(&root, &Keyring::Missing, "agent a", vec![false, true], &journals);
    until(&mut engine, "a log-in", |e| e.model().first().agent().log_in.is_some()).await;
    engine.log_in_with(SessionKey::FIRST, "key".into(), vec![("A_KEY".into(), Secret(KEY.into()))], Keep::InKeyring);
    until(&mut engine, "a session", |e| matches!(e.model().first().phase(), Phase::Ready)).await;
    let said = "not kept in the keyring (there is no keyring); for this run only: A_KEY";
    assert!(notices(&engine).iter().any(|one| one == said), "{:?}", notices(&engine));
    assert!(engine.model().first().agent().kept.is_empty());
    engine.shutdown().await;
}
