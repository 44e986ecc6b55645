//! Conversations of one run go out one by one, and come back whole where nothing is known of them.

use super::many::{reply, send_plain};
use super::{config, until};
use crate::exec::support::{Done, Running};
use crate::support::between::memory;
use acp_tui::agent::codec;
use acp_tui::engine::link::Agent;
use acp_tui::engine::{Engine, EngineConfig};
use acp_tui::model::event::{Intent, Opening};
use acp_tui::model::ids::{AgentKey, SessionKey};
use acp_tui::model::session::{Policy, SessionState};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};

/// Opens and copies sessions, says in each what it was asked, and asks before it says more.
async fn agent(mut agent: Agent, mut opened: usize) {
    let mut prompt = Value::Null;
    while let Some(line) = agent.lines.next_line().await.unwrap() {
        let got: Value = serde_json::from_str(&line).unwrap();
        let session = got["params"]["sessionId"].as_str().unwrap_or_default().to_owned();
        match got["method"].as_str() {
            Some("initialize") => {
                let caps = json!({ "loadSession": true, "sessionCapabilities": { "fork": {}, "list": {} } });
                let info = json!({ "name": "copier", "version": "1" });
                let result = json!({ "protocolVersion": 1, "agentInfo": info, "agentCapabilities": caps });
                reply(&mut agent, &got, result).await;
            }
            Some("session/new" | "session/fork") => {
                opened += 1;
                reply(&mut agent, &got, json!({ "sessionId": format!("s{opened}") })).await;
            }
            Some("session/load") => reply(&mut agent, &got, json!({})).await,
            Some("session/list") => {
                let listed = |n| json!({ "sessionId": format!("s{n}"), "cwd": "/", "title": format!("listed s{n}") });
                reply(&mut agent, &got, json!({ "sessions": (1..=opened).map(listed).collect::<Vec<_>>() })).await;
            }
            Some("session/prompt") => {
                prompt = got;
                let tool = json!({ "toolCallId": "t", "title": format!("done in {session}") });
                let option = json!({ "optionId": "yes", "name": "Allow", "kind": "allow_once" });
                let params = json!({ "sessionId": session, "toolCall": tool, "options": [option] });
                let method = "session/request_permission";
                send_plain(&mut agent, json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })).await;
            }
            None if got["id"] == 1 => {
                let asked = prompt["params"]["prompt"][0]["text"].as_str().unwrap();
                let session = &prompt["params"]["sessionId"];
                let text = json!({ "type": "text", "text": format!("answer to {asked}") });
                let update = json!({ "sessionUpdate": "agent_message_chunk", "content": text });
                let params = json!({ "sessionId": session, "update": update });
                send_plain(&mut agent, json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })).await;
                reply(&mut agent, &prompt, json!({ "stopReason": "end_turn" })).await;
            }
            _ => {}
        }
    }
}

/// Asks, and allows what the agent asks for.
async fn turn(engine: &mut Engine, at: u32, text: &str) {
    let at = SessionKey(at);
    let turns = engine.model().session_of(at).unwrap().last_turn();
    engine.intent_in(at, Intent::Prompt { text: text.into(), links: Vec::new() });
    let asks = |e: &Engine| e.model().session_of(at).is_some_and(|s| !s.questions().is_empty());
    until(engine, "a question", asks).await;
    let req = engine.model().session_of(at).unwrap().questions()[0].req;
    engine.intent_in(at, Intent::Answer { req, option: "yes".into() });
    let is_over = |e: &Engine| e.model().session_of(at).is_some_and(|s| s.turn.is_none() && s.last_turn() != turns);
    until(engine, "an answer", is_over).await;
}

/// A program that has its state in this directory.
fn run(state: &Path, args: &[&str]) -> Done {
    let mut command = Command::new(env!("CARGO_BIN_EXE_acp-tui"));
    command.env_clear().env("XDG_STATE_HOME", state).env("XDG_CONFIG_HOME", state.join("config"));
    command.args(args).current_dir("/");
    Running::start(command, Stdio::null()).finish()
}

fn listed(state: &Path) -> Vec<Value> {
    let done = run(state, &["sessions", "--all", "--json"]);
    let all: Value = serde_json::from_str(done.assert_code(0).out()).unwrap();
    let mut all = all["sessions"].as_array().unwrap().clone();
    all.sort_by_key(|one| one["session_id"].as_str().unwrap().to_owned());
    all
}

/// `s1` and `s2` are tabs, `s3` is a copy of `s1`, `s4` and `s5` are side questions, of which the first was kept before it
/// was open, and the second after it was answered; each is mixed with what goes on in `s1`. `s6` is a copy of `s1` that is
/// made when that goes on in another run.
async fn two_runs(state: &Path) {
    let root = state.join("project");
    std::fs::create_dir_all(&root).unwrap();
    let mut engine = begun(state, &root, Opening::New, 0).await;
    turn(&mut engine.0, 0, "one in s1").await;
    let aside = || Opening::Aside { beside: SessionKey::FIRST, from: Some("s1".into()) };
    for (at, how) in [(1, Opening::New), (2, Opening::Copy("s1".into())), (3, aside()), (4, aside())] {
        further(&mut engine.0, at, how, &root).await;
        let engine = &mut engine.0;
        if at == 4 {
            // Without a person to ask its call is refused, which the agent takes as an answer.
            let at = SessionKey(at);
            engine.intent_in(at, Intent::Prompt { text: "asked in s5".into(), links: Vec::new() });
            let is_over = |e: &Engine| e.model().session_of(at).is_some_and(|s| s.turn.is_none() && s.ended.is_some());
            until(engine, "an answer", is_over).await;
            engine.intent_in(at, Intent::KeepAside);
        } else {
            turn(engine, at, &format!("asked in s{}", at + 1)).await;
        }
        turn(engine, 0, &format!("later in s1, {at}")).await;
    }
    engine.0.intent_to(AgentKey::FIRST.into(), Intent::ListSessions { cwd: None });
    turn(&mut engine.0, 0, "last in s1").await;
    over(engine).await;
    let mut engine = begun(state, &root, Opening::Continue("s1".into()), 5).await;
    further(&mut engine.0, 1, Opening::Copy("s1".into()), &root).await;
    turn(&mut engine.0, 1, "asked in s6").await;
    turn(&mut engine.0, 0, "at the end of s1").await;
    over(engine).await;
}

type Run = (Engine, tokio::task::JoinHandle<()>);

async fn begun(state: &Path, root: &Path, how: Opening, opened: usize) -> Run {
    let (link, far) = memory();
    let far = tokio::spawn(agent(far, opened));
    let mut link = Some(link);
    let connect = Box::new(move |_| link.take().expect("started once"));
    let journals = Some(state.join("acp-tui/sessions"));
    let config = EngineConfig { journals, policy: Policy::Ask, ..config(root) };
    let mut engine = Engine::connected(config, codec::shipped(), Some(connect));
    engine.intent(Intent::OpenAs(how));
    engine.intent(Intent::Start);
    until(&mut engine, "a session", |e| e.model().first().session().state == SessionState::Ready).await;
    (engine, far)
}

/// One more session; a side question is kept before it is open when it is the first.
async fn further(engine: &mut Engine, at: u32, how: Opening, root: &Path) {
    let cwd = root.to_string_lossy().into_owned();
    engine.intent_to(AgentKey::FIRST.into(), Intent::OpenSession { cwd, how });
    if at == 3 {
        engine.intent_in(SessionKey(at), Intent::KeepAside);
    }
    let is_open = |e: &Engine| e.model().session_of(SessionKey(at)).is_some_and(|s| s.state == SessionState::Ready);
    until(engine, "a session", is_open).await;
}

async fn over((engine, far): Run) {
    engine.shutdown().await;
    far.await.unwrap();
}

#[tokio::test]
async fn each_session_of_a_run_goes_out_alone_and_comes_back_whole() {
    let dir = tempfile::tempdir().unwrap();
    let (state, fresh) = (dir.path().join("state"), dir.path().join("fresh"));
    two_runs(&state).await;
    let before = listed(&state);
    assert_eq!(before.len(), 6, "{before:?}");
    for one in &before {
        let id = one["session_id"].as_str().unwrap();
        let (file, file_name) = (dir.path().join(format!("{id}.json")), format!("{id}.json"));
        run(&state, &["export", id, "--format", "json", "-o", file.to_str().unwrap()]).assert_code(0);
        let text = std::fs::read_to_string(&file).unwrap();
        for n in 1..=6 {
            let others = [format!("asked in s{n}"), format!("listed s{n}"), format!("done in s{n}")];
            for words in others.iter().filter(|_| n != 1 && id != format!("s{n}")) {
                assert!(!text.contains(words.as_str()), "{words} in {file_name}");
            }
        }
        // A copy begins with what was said before, and has nothing of what came later.
        assert_eq!(text.contains("at the end of s1"), id == "s1", "{file_name}");
        assert_eq!(text.contains("last in s1"), ["s1", "s6"].contains(&id), "{file_name}");
        assert_eq!(text.contains("one in s1"), id != "s2", "{file_name}");
        let file = file.to_str().unwrap();
        // What is there already stays, and that is said.
        run(&state, &["import", file]).assert_says(0, &["there already"]);
        run(&fresh, &["import", file]).assert_code(0);
        run(&fresh, &["import", file]).assert_says(0, &["there already"]);
        // So it does alone.
        let alone = dir.path().join(format!("alone-{id}"));
        run(&alone, &["import", file]).assert_code(0);
        let known = &listed(&alone)[..];
        assert_eq!(known.len(), 1, "{id}: {known:?}");
        for member in ["session_id", "title", "first_prompt", "last_prompt", "turns", "cwd", "agent"] {
            assert_eq!(known[0][member], one[member], "{id}: {member}");
        }
        let markdown = run(&state, &["export", id]);
        assert_eq!(run(&alone, &["export", id]).assert_code(0).out(), markdown.out(), "{id}");
        assert!(markdown.out().contains("you allowed it"), "{id}: {}", markdown.out());
        // It can go on from there to another one.
        let again = dir.path().join(format!("again-{id}.json"));
        run(&alone, &["export", id, "--format", "json", "-o", again.to_str().unwrap()]).assert_code(0);
        for state in [&state, &fresh, &alone] {
            run(state, &["import", again.to_str().unwrap()]).assert_says(0, &["there already"]);
        }
    }
    assert_eq!(listed(&state), before);
    let all = listed(&fresh);
    let ids: Vec<&str> = all.iter().map(|one| one["session_id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["s1", "s2", "s3", "s4", "s5", "s6"]);
    for (one, own) in all.iter().zip(&before) {
        assert_eq!((&one["title"], &one["turns"]), (&own["title"], &own["turns"]), "{one}");
        let id = one["session_id"].as_str().unwrap();
        assert_eq!(run(&fresh, &["export", id]).out(), run(&state, &["export", id]).out(), "{id}");
    }
}
