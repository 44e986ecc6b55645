//! An agent of the dialect D0 that wants to know who the person is, and four scopes of what it is granted.

use super::{config, until};
use crate::support::render;
use acp_tui::engine::rulebook::Rulebook;
use acp_tui::engine::{Engine, EngineConfig, RulesConfig};
use acp_tui::model::event::{AuthKind, Intent, Protocol};
use acp_tui::model::ids::SessionKey;
use acp_tui::model::login::{Keep, Secret};
use acp_tui::model::ruling::{Ruled, Scope};
use acp_tui::model::session::Phase;
use acp_tui::remote::Remote;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};

type Heard = Arc<Mutex<Vec<(usize, Value)>>>;

/// Lets in who has the right key, until then; ends a connection at the prompt `break`, and asks to write at others.
async fn serve(number: usize, stream: UnixStream, heard: Heard, until: Value) {
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read).lines();
    let mut is_in = false;
    let mut prompt = Value::Null;
    while let Ok(Some(line)) = lines.next_line().await {
        let got: Value = serde_json::from_str(&line).unwrap();
        heard.lock().unwrap().push((number, got.clone()));
        let answer = match got["method"].as_str() {
            Some("initialize") => Ok(json!({ "protocolVersion": 1, "agentInfo": { "name": "d0", "version": "1" },
                "capabilities": { "loadSession": true } })),
            Some("authenticate") if got["params"]["credentials"] == json!({ "apiKey": "right-key" }) => {
                is_in = true;
                Ok(json!({ "success": true, "expiresAt": until }))
            }
            Some("authenticate") => Ok(json!({ "success": false, "error": "no such key" })),
            _ if !is_in => Err(json!({ "code": -32001, "message": "who are you?" })),
            Some("session/new") => Ok(json!({ "sessionId": "s", "createdAt": "2026-01-01T00:00:00Z" })),
            Some("session/load") => Ok(json!({ "sessionId": "s", "messageCount": 2 })),
            Some("session/prompt") if got["params"]["content"][0]["text"] == "break" => return,
            Some("session/prompt") => {
                prompt = got["id"].clone();
                let text = got["params"]["content"][0]["text"].as_str().unwrap();
                let params = json!({ "sessionId": "s", "operation": "file_write", "resource": text, "reason": "why" });
                let ask =
                    json!({ "jsonrpc": "2.0", "id": 7, "method": "session/request_permission", "params": params });
                write.write_all(format!("{ask}\n").as_bytes()).await.unwrap();
                continue;
            }
            // What it has asked was answered.
            None => Ok(json!({ "stopReason": "end_turn" })),
            Some(_) => continue,
        };
        let id = if got["method"].is_null() { prompt.take() } else { got["id"].clone() };
        let mut message = json!({ "jsonrpc": "2.0", "id": id });
        match answer {
            Ok(result) => message["result"] = result,
            Err(error) => message["error"] = error,
        }
        write.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }
}

fn begun(dir: &TempDir, until: Value) -> (Engine, Heard) {
    begun_with(dir, until, None)
}

fn begun_with(dir: &TempDir, until: Value, rules: Option<RulesConfig>) -> (Engine, Heard) {
    let dir = dir.path().canonicalize().unwrap();
    let (root, socket) = (dir.join("project"), dir.join("agent.sock"));
    std::fs::create_dir(&root).unwrap();
    let listener = UnixListener::bind(&socket).unwrap();
    let heard = Heard::default();
    let all = Arc::clone(&heard);
    tokio::spawn(async move {
        for number in 0.. {
            let (stream, _) = listener.accept().await.unwrap();
            serve(number, stream, Arc::clone(&all), until.clone()).await;
        }
    });
    let mut config: EngineConfig = config(&root);
    config.command = format!("unix:{}", socket.display());
    config.reach.remote = Some(Remote::read(&config.command));
    config.protocol = Protocol::D0;
    config.rules = rules;
    config.journals = Some(dir.join("journals"));
    let mut engine = Engine::new(config);
    engine.intent(Intent::Start);
    (engine, heard)
}

fn typed(engine: &mut Engine, value: &str) {
    engine.log_in_with(
        SessionKey::FIRST,
        "api_key".into(),
        vec![("apiKey".into(), Secret(value.into()))],
        Keep::ThisRun,
    );
}

async fn until_asked(engine: &mut Engine, words: &str) {
    let asks = |engine: &Engine| {
        let log_in = engine.model().first().agent().log_in.clone();
        log_in.is_some_and(|log_in| log_in.attempt.is_none() && log_in.error.message.contains(words))
    };
    until(engine, words, asks).await;
}

async fn until_ready(engine: &mut Engine) {
    until(engine, "a session", |e| matches!(e.model().first().phase(), Phase::Ready)).await;
}

fn authenticated(heard: &Heard) -> Vec<(usize, Value)> {
    let heard = heard.lock().unwrap();
    let calls = heard.iter().filter(|(_, got)| got["method"] == "authenticate");
    calls.map(|(number, got)| (*number, got["params"].clone())).collect()
}

fn prompt(engine: &mut Engine, text: &str) {
    engine.intent(Intent::Prompt { text: text.into(), links: Vec::new() });
}

#[tokio::test]
async fn s_019_s_020_what_is_typed_to_log_in_is_sent_once_kept_in_memory_and_sent_again_to_a_new_connection() {
    let dir = tempfile::tempdir().unwrap();
    let (mut engine, heard) = begun(&dir, json!("2999-01-01T00:00:00Z"));
    until_asked(&mut engine, "who are you?").await;
    let ways = engine.model().first().agent().auth_methods.clone();
    assert_eq!(ways.iter().map(|way| way.id.as_str()).collect::<Vec<_>>(), ["api_key", "oauth2", "custom"]);
    assert_eq!(ways[0].kind, AuthKind::Typed { names: vec!["apiKey".into()] });
    // Nothing is sent before something was typed.
    engine.intent(Intent::Authenticate { method: "api_key".into() });
    typed(&mut engine, "wrong-key");
    until_asked(&mut engine, "no such key").await;
    typed(&mut engine, "right-key");
    until_ready(&mut engine).await;
    let sent = |key: &str| json!({ "method": "api_key", "credentials": { "apiKey": key } });
    assert_eq!(authenticated(&heard), [(0, sent("wrong-key")), (0, sent("right-key"))]);
    prompt(&mut engine, "break");
    until(&mut engine, "the loss", |e| matches!(e.model().first().phase(), Phase::Dead(_))).await;
    engine.intent(Intent::Restart);
    until_ready(&mut engine).await;
    assert_eq!(authenticated(&heard).last(), Some(&(1, sent("right-key"))), "it is not typed again");
    assert!(!format!("{:?}", engine.model()).contains("-key\""), "what was typed is not in the model");
    engine.shutdown().await;
    for entry in std::fs::read_dir(dir.path().join("journals")).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap_or_default();
        assert!(!text.contains("right-key") && !text.contains("wrong-key"), "{text}");
    }
}

#[tokio::test]
async fn s_019_what_was_typed_is_forgotten_when_it_has_expired() {
    let dir = tempfile::tempdir().unwrap();
    let (mut engine, heard) = begun(&dir, json!(1_577_836_800_000_i64));
    until_asked(&mut engine, "who are you?").await;
    typed(&mut engine, "right-key");
    until_ready(&mut engine).await;
    let is_told = |e: &Engine| render(e.model()).iter().any(|entry| entry.contains("has expired and is forgotten"));
    until(&mut engine, "the end of it", is_told).await;
    prompt(&mut engine, "break");
    until(&mut engine, "the loss", |e| matches!(e.model().first().phase(), Phase::Dead(_))).await;
    engine.intent(Intent::Restart);
    until_asked(&mut engine, "who are you?").await;
    assert_eq!(authenticated(&heard).len(), 1);
    engine.shutdown().await;
}

#[tokio::test]
async fn s_002_the_dialect_that_was_asked_for_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let (mut engine, _) = begun(&dir, Value::Null);
    until_asked(&mut engine, "who are you?").await;
    let words = "the agent is spoken to in the dialect d0 of the protocol";
    assert!(render(engine.model()).iter().any(|entry| entry.contains(words)), "{:?}", render(engine.model()));
    engine.shutdown().await;
}

#[tokio::test]
async fn s_026_s_027_s_101_s_108_what_an_agent_keeps_for_a_while_is_a_rule_here_for_as_long() {
    for (option, scope) in [
        ("once", None),
        ("session", Some(Scope::Session)),
        ("workspace", Some(Scope::Workspace)),
        ("always", Some(Scope::Always)),
        ("deny_session", Some(Scope::Session)),
        ("deny_workspace", Some(Scope::Workspace)),
        ("deny_always", Some(Scope::Always)),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let rules = dir.path().canonicalize().unwrap().join("rules.toml");
        let made = dir.path().canonicalize().unwrap().join("made");
        let book = Rulebook::new(Some(rules.clone()), None).with_made(Some(made.clone()));
        let held = RulesConfig { book: Arc::new(book), agent: Some("mine".into()) };
        let (mut engine, heard) = begun_with(&dir, Value::Null, Some(held));
        until_asked(&mut engine, "who are you?").await;
        typed(&mut engine, "right-key");
        until_ready(&mut engine).await;
        let file = dir.path().canonicalize().unwrap().join("project/a.txt");
        let file = file.to_str().unwrap();
        prompt(&mut engine, file);
        until(&mut engine, "a question", |e| !e.model().first().session().questions().is_empty()).await;
        let req = engine.model().first().session().questions()[0].req;
        engine.intent(Intent::Answer { req, option: option.into() });
        let is_over = |e: &Engine| e.model().first().session().turn.is_none();
        until(&mut engine, "the end of the turn", is_over).await;
        let answers = |heard: &Heard| -> Vec<Value> {
            let heard = heard.lock().unwrap();
            heard.iter().filter(|(_, got)| got["id"] == 7).map(|(_, got)| got["result"].clone()).collect()
        };
        let denied = option.strip_prefix("deny_");
        let named = denied.unwrap_or(option);
        let given = json!({ "granted": denied.is_none(), "remember": scope.is_some(), "scope": named });
        assert_eq!(answers(&heard), std::slice::from_ref(&given), "{option}");
        if scope.is_some() {
            // Kept in a file, it holds from when that is written.
            let is_made = |e: &Engine| !e.model().first().session().rules.made().is_empty();
            until(&mut engine, "the rule", is_made).await;
        }
        prompt(&mut engine, file);
        match scope {
            None => until(&mut engine, "a question", |e| !e.model().first().session().questions().is_empty()).await,
            Some(scope) => {
                until(&mut engine, "the end of the turn", is_over).await;
                // A rule that allows is named for as long as it holds; one that denies says no more than no.
                let by_rule = if denied.is_some() { json!({ "granted": false }) } else { given.clone() };
                assert_eq!(answers(&heard), [given, by_rule], "{option}: it was answered without the person");
                let rules_made = engine.model().first().session().rules.made();
                let list = if denied.is_some() { Ruled::Deny } else { Ruled::Allow };
                assert_eq!(rules_made.iter().map(|rule| (rule.list, rule.scope)).collect::<Vec<_>>(), [(list, scope)]);
                let kept = std::fs::read_to_string(&rules).is_ok_and(|text| text.contains("a.txt"));
                let is_of_directory = std::fs::exists(&made).unwrap();
                let places = (kept, is_of_directory);
                assert_eq!(places, (scope == Scope::Always, scope == Scope::Workspace), "{option}");
            }
        }
        engine.shutdown().await;
    }
}
