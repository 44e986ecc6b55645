//! Rules of files, read again when they change, before what the agent wants over memory.

use super::{answer, receive, send, until};
use crate::support::app::config;
use crate::support::renamed::renamed;
use crate::support::{options, render};
use acp_tui::engine::link::{Agent, memory};
use acp_tui::engine::replay::replay_by;
use acp_tui::engine::rulebook::Rulebook;
use acp_tui::engine::{Engine, EngineConfig, RulesConfig};
use acp_tui::model::Model;
use acp_tui::model::event::Intent;
use acp_tui::model::session::{Phase, Policy};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// Asks for permission to run this; gives the answer.
async fn asks(agent: &mut Agent, id: u64, line: &str) -> Value {
    let tool = json!({ "toolCallId": format!("t{id}"), "title": line, "kind": "execute" });
    let params = json!({ "sessionId": "s", "toolCall": tool, "options": options() });
    let request = json!({ "jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params });
    send(agent, request).await;
    receive(agent).await["result"]["outcome"]["optionId"].take()
}

/// What it was answered under the rules as they were and as it has changed them.
async fn agent(mut agent: Agent, rules: PathBuf) -> Vec<Value> {
    answer(&mut agent, "initialize", json!({ "protocolVersion": 1 })).await;
    answer(&mut agent, "session/new", json!({ "sessionId": "s" })).await;
    let prompt = receive(&mut agent).await;
    let mut answers = vec![asks(&mut agent, 1, "git log").await];
    std::fs::write(&rules, "deny = [\"Bash(git *)\"]\n").unwrap();
    answers.push(asks(&mut agent, 2, "git log").await);
    std::fs::write(&rules, "deny = [\n").unwrap();
    answers.push(asks(&mut agent, 3, "git log").await);
    send(&mut agent, json!({ "jsonrpc": "2.0", "id": prompt["id"], "result": { "stopReason": "end_turn" } })).await;
    while agent.lines.next_line().await.unwrap().is_some() {}
    answers
}

#[tokio::test]
async fn rules_that_change_hold_from_the_next_question_on_and_a_replay_needs_none() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let (root, journals, rules) = (dir.join("project"), dir.join("journals"), dir.join("rules.toml"));
    std::fs::create_dir(&root).unwrap();
    std::fs::write(&rules, "[agent.mine]\nallow = [\"Bash(git *)\"]\n").unwrap();
    let (link, far) = memory();
    let agent = tokio::spawn(agent(far, rules.clone()));
    let mut link = Some(link);
    let connect = Box::new(move |_| link.take().expect("started once"));
    let held = RulesConfig { book: Arc::new(Rulebook::new(Some(rules), None)), agent: Some("mine".into()) };
    let config = EngineConfig { journals: Some(journals.clone()), rules: Some(held), ..config(&root) };
    let mut engine = Engine::connected(config, renamed(), Some(connect));
    engine.intent(Intent::Start);
    until(&mut engine, "a session", |e| matches!(e.model().first().phase(), Phase::Ready)).await;
    engine.intent(Intent::Prompt { text: "hi".into(), links: Vec::new() });
    until(&mut engine, "a question", |e| !e.model().first().session().questions().is_empty()).await;
    let req = engine.model().first().session().questions()[0].req;
    engine.intent(Intent::Answer { req, option: "yes".into() });
    until(&mut engine, "the end of the turn", |e| e.model().first().session().turn.is_none()).await;
    let entries = render(engine.model());
    let text = entries.join("\n");
    assert!(text.contains("allowed by rule Bash(git *): git log"), "{text}");
    assert!(text.contains("refused by rule Bash(git *): git log"), "{text}");
    assert!(text.contains("rules.toml:"), "the mistake and its line: {text}");
    engine.shutdown().await;
    assert_eq!(agent.await.unwrap(), ["yes", "no", "yes"]);
    std::fs::remove_file(dir.join("rules.toml")).unwrap();
    let file = std::fs::read_dir(&journals).unwrap().next().unwrap().unwrap().path();
    let journal = std::fs::read_to_string(file).unwrap();
    let fresh = Model::new("nothing that could be started".into(), root.to_string_lossy().into_owned(), Policy::Ask);
    let named = |_: &str| Some(renamed());
    let (again, skipped) = replay_by(named, fresh, root, journal.lines());
    assert_eq!(skipped, 0);
    assert_eq!(render(&again)[..entries.len()], entries[..]);
}
