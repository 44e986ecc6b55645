//! What an agent tells of accounts is shown, and is in no file.

use super::many::reply;
use super::{config, until};
use crate::support::between::memory;
use acp_tui::agent::codec;
use acp_tui::engine::link::Agent;
use acp_tui::engine::replay::replay;
use acp_tui::engine::{Engine, EngineConfig};
use acp_tui::model::Model;
use acp_tui::model::auth_status::AuthState;
use acp_tui::model::event::Intent;
use acp_tui::model::session::Policy;
use acp_tui::store::recording;
use serde_json::{Value, json};

async fn agent(mut agent: Agent) {
    while let Some(line) = agent.lines.next_line().await.unwrap() {
        let got: Value = serde_json::from_str(&line).unwrap();
        match got["method"].as_str() {
            Some("initialize") => {
                let caps = json!({ "auth": { "status": {} }, "_meta": { "authStatus": {} } });
                reply(&mut agent, &got, json!({ "protocolVersion": 1, "agentCapabilities": caps })).await;
            }
            Some("auth/status") => {
                let accounts = json!([{ "label": "asked hunter2", "email": "hunter2@example.org", "active": true }]);
                let answer = json!({ "state": "authenticated", "accounts": accounts });
                let again = answer.to_string().replace("asked", "late");
                reply(&mut agent, &got, answer).await;
                // Once more to the same call, and by the extension.
                let late = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{again}}}"#, got["id"]);
                agent.lines.send_line(&late).await.unwrap();
                let extension = r#"{"kind":"api_key","label":"a hunter2 key","detail":"hunter2"}"#;
                let line = r#"{"jsonrpc":"2.0","method":"_auth/status_update","params":{"authStatus":"#;
                agent.lines.send_line(&format!("{line}{extension}}}}}")).await.unwrap();
            }
            Some("session/new") => reply(&mut agent, &got, json!({ "sessionId": "s" })).await,
            _ => {}
        }
    }
}

#[tokio::test]
async fn r_122_accounts_are_shown_and_are_in_no_journal_and_no_recording() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (journals, record) = (root.join("journals"), root.join("record.jsonl"));
    let (link, far) = memory();
    tokio::spawn(agent(far));
    let mut link = Some(link);
    let connect = Box::new(move |_| link.take().expect("started twice"));
    let mut config = EngineConfig { journals: Some(journals.clone()), unstable: true, ..config(&root) };
    config.record = Some(recording::Place::create(&record).unwrap());
    let mut engine = Engine::connected(config, codec::shipped(), Some(connect));
    engine.intent(Intent::Start);
    let label = |model: &Model| {
        let status = model.first().agent().auth_status.clone()?;
        Some((status.state, status.accounts.first()?.label.clone()))
    };
    until(&mut engine, "the extension", |e| {
        label(e.model()) == Some((AuthState::Authenticated, "a hunter2 key".to_owned()))
    })
    .await;
    let odd = engine.model().first().agent().odd;
    engine.shutdown().await;
    let journal = std::fs::read_dir(&journals).unwrap().map(|file| file.unwrap().path()).find(|path| path.is_file());
    let journal = std::fs::read_to_string(journal.unwrap()).unwrap();
    for text in [&journal, &std::fs::read_to_string(&record).unwrap()] {
        assert!(!text.contains("hunter2"), "{text}");
        assert_eq!(text.matches(r#""state":"authenticated""#).count(), 2, "{text}");
        assert!(text.contains(r#""kind":"api_key","label":"…""#), "{text}");
    }
    let model = Model::new(String::new(), root.to_string_lossy().into_owned(), Policy::Ask);
    let (model, skipped) = replay(model, root.clone(), journal.lines());
    assert_eq!(skipped, 0);
    assert_eq!(label(&model), Some((AuthState::Authenticated, "…".to_owned())));
    assert_eq!(model.first().agent().odd, odd);
}
