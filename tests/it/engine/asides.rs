//! What an agent changes while it answers a side question: in the review as that question's, also when the answer is
//! thrown away.

use super::config;
use super::many::{reply, send_plain, until};
use crate::support::between::memory;
use acp_tui::agent::codec;
use acp_tui::engine::blame::{Bounds, blame};
use acp_tui::engine::link::Agent;
use acp_tui::engine::{Engine, ReviewConfig};
use acp_tui::model::entry::{Body, Entry};
use acp_tui::model::event::{Intent, Opening};
use acp_tui::model::ids::{AgentKey, SessionKey};
use acp_tui::model::session::{Session, SessionState};
use acp_tui::review::archive;
use acp_tui::review::report::blame::File;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const ASIDE: SessionKey = SessionKey(1);

/// In the first session it works until it was asked beside it, and writes without a word. What it is asked there it
/// answers with a file that it tells of, and writes with its own hands; asked for nothing it changes nothing.
async fn writes(mut agent: Agent, root: PathBuf) {
    let (mut opened, mut work) = (0, None);
    while let Some(line) = agent.lines.next_line().await.unwrap() {
        let got: Value = serde_json::from_str(&line).unwrap();
        match got["method"].as_str() {
            Some("initialize") => reply(&mut agent, &got, json!({ "protocolVersion": 1 })).await,
            Some("session/new") => {
                opened += 1;
                reply(&mut agent, &got, json!({ "sessionId": format!("s{opened}") })).await;
            }
            Some("session/prompt") if got["params"]["sessionId"] == "s1" => work = Some(got),
            Some("session/prompt") => {
                let asked = got["params"]["prompt"].to_string();
                if asked.contains("quietly") {
                    std::fs::write(root.join("of-the-turn"), "quiet\n").unwrap();
                } else if asked.contains("write") {
                    let file = root.join("of-the-answer");
                    let diff = json!([{ "type": "diff", "path": file, "oldText": null, "newText": "told\n" }]);
                    let tool = json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": "Write", "kind": "edit", "status": "in_progress", "content": diff });
                    tell(&mut agent, tool).await;
                    std::fs::write(&file, "told\n").unwrap();
                    let done = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed" });
                    tell(&mut agent, done).await;
                }
                reply(&mut agent, &got, json!({ "stopReason": "end_turn" })).await;
                if let Some(work) = work.take() {
                    reply(&mut agent, &work, json!({ "stopReason": "end_turn" })).await;
                }
            }
            _ => {}
        }
    }
}

async fn tell(agent: &mut Agent, update: Value) {
    let params = json!({ "sessionId": "s2", "update": update });
    send_plain(agent, json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })).await;
}

fn prompt(text: &str) -> Intent {
    Intent::Prompt { text: text.into(), links: Vec::new() }
}

/// One turn, and a question beside it whose answer is thrown away. Gives how many files that answer changed.
async fn asked_beside(state: &Path, root: &Path, question: &str) -> u64 {
    asked(state, root, true, question).await
}

/// The same, also beside a session in which nothing was said.
async fn asked(state: &Path, root: &Path, works: bool, question: &str) -> u64 {
    let (link, far) = memory();
    let far = tokio::spawn(writes(far, root.to_owned()));
    let mut link = Some(link);
    let connect = Box::new(move |_| link.take().expect("started once"));
    let mut config = config(root);
    config.journals = Some(state.join("sessions"));
    config.review = Some(ReviewConfig::below(archive::below(state)));
    let mut engine = Engine::connected(config, codec::shipped(), Some(connect));
    engine.intent(Intent::Start);
    until(&mut engine, "a session", |e| e.model().first().session().state == SessionState::Ready).await;
    if works {
        engine.intent_in(SessionKey::FIRST, prompt("work"));
        let is_sent = |e: &Engine| e.model().first().turn.as_ref().is_some_and(|turn| !turn.is_unsent);
        until(&mut engine, "the turn", is_sent).await;
    }
    let how = Opening::Aside { beside: SessionKey::FIRST, from: None };
    engine.intent_to(AgentKey::FIRST.into(), Intent::OpenSession { cwd: root.to_string_lossy().into_owned(), how });
    engine.intent_in(ASIDE, prompt(question));
    let is_known = |entry: &Entry| matches!(&entry.body, Body::Changes(changes) if !changes.is_unknown);
    let is_over = |session: &Session| session.turn.is_none() && session.entries().iter().any(is_known);
    let are_over =
        |e: &Engine| e.model().sessions().all(|(at, session)| is_over(session) || !works && at == SessionKey::FIRST);
    until(&mut engine, "both turns", are_over).await;
    let files = engine.model().session_of(ASIDE).unwrap().changes().turns.values().map(|totals| totals.files).sum();
    engine.intent_in(ASIDE, Intent::CloseSession);
    engine.shutdown().await;
    far.await.unwrap();
    files
}

/// Session and prompt of the only line of a file.
fn cause(state: &Path, file: &Path) -> (String, Option<String>) {
    let bounds = Bounds { until: Instant::now() + Duration::from_mins(1), journal: 1 << 30 };
    let found = blame(state, &File::open(file).unwrap(), None, bounds).unwrap();
    let from = found.lines[0].from.as_ref().unwrap_or_else(|| panic!("{}: {found:?}", file.display()));
    let turn = &found.turns[from.turn];
    assert!(!turn.agent.is_empty() && turn.number == 1, "{turn:?}");
    (turn.session_id.clone(), turn.prompt.clone())
}

#[tokio::test]
async fn what_the_answer_to_a_side_question_changes_is_reviewed_as_its_own() {
    let temp = tempfile::tempdir().unwrap();
    let base = temp.path().canonicalize().unwrap();
    let (state, root) = (base.join("state"), base.join("project"));
    std::fs::create_dir(&root).unwrap();
    assert_eq!(asked_beside(&state, &root, "write it").await, 1);
    assert_eq!(cause(&state, &root.join("of-the-answer")), ("s2".to_owned(), Some("write it".to_owned())));
    let found = archive::find(&archive::below(&state), archive::LAST, Some(&root)).unwrap();
    assert_eq!(found.session.unwrap().id, "s1", "no side question is meant where none is named");
    let listed = archive::list(&archive::below(&state)).remove(0);
    assert!(listed.sessions.iter().filter(|one| one.id == "s2").all(|one| one.counts()), "{:?}", listed.sessions);
}

#[tokio::test]
async fn an_answer_that_changed_nothing_is_no_session_of_the_run() {
    let temp = tempfile::tempdir().unwrap();
    let base = temp.path().canonicalize().unwrap();
    let (state, root) = (base.join("state"), base.join("project"));
    std::fs::create_dir(&root).unwrap();
    assert_eq!(asked_beside(&state, &root, "what is it?").await, 0);
    let listed = archive::list(&archive::below(&state)).remove(0);
    let counted: Vec<&str> = listed.sessions.iter().filter(|one| one.counts()).map(|one| &*one.id).collect();
    assert!(counted.iter().all(|id| *id == "s1"), "{counted:?}");
}

/// The ids of the listed sessions, and what was asked in them.
fn listed(state: &Path) -> Vec<(Value, Value)> {
    let mut program = Command::new(env!("CARGO_BIN_EXE_acp-tui"));
    program.args(["sessions", "--all", "--json"]).env("HOME", state).env("XDG_STATE_HOME", state.parent().unwrap());
    let out = program.output().unwrap();
    let said: Value = serde_json::from_slice(&out.stdout).unwrap();
    let all = said["sessions"].as_array().unwrap().iter();
    all.map(|one| (one["session_id"].clone(), one["first_prompt"].clone())).collect()
}

#[tokio::test]
async fn a_session_in_which_nothing_was_said_is_not_listed_for_what_was_asked_beside_it() {
    let temp = tempfile::tempdir().unwrap();
    let base = temp.path().canonicalize().unwrap();
    let (state, root) = (base.join("acp-tui"), base.join("project"));
    std::fs::create_dir(&root).unwrap();
    assert_eq!(asked(&state, &root, false, "what is it?").await, 0);
    assert_eq!(listed(&state), []);
    // What the answer to one has changed is, with the question.
    assert_eq!(asked(&state, &root, false, "write it").await, 1);
    assert_eq!(listed(&state), [(json!("s2"), json!("write it"))]);
}

#[tokio::test]
async fn what_nobody_has_told_of_is_not_put_down_to_an_answer_while_others_work() {
    let temp = tempfile::tempdir().unwrap();
    let base = temp.path().canonicalize().unwrap();
    let (state, root) = (base.join("state"), base.join("project"));
    std::fs::create_dir(&root).unwrap();
    assert_eq!(asked_beside(&state, &root, "look, while something is done quietly").await, 0);
    assert_eq!(cause(&state, &root.join("of-the-turn")), ("s1".to_owned(), Some("work".to_owned())));
}
