//! Two sessions of one agent in one directory, their turns at the same time: what each changes is put down to it, and
//! nothing to the person. A session elsewhere has files of its own.

use super::config;
use super::many::{is_ready, prompt, reply, send_plain, session, until};
use crate::support::between::memory;
use acp_tui::agent::codec;
use acp_tui::engine::link::Agent;
use acp_tui::engine::{Engine, ReviewConfig};
use acp_tui::model::changes::{Cause, FileDoc, ReviewAction, ReviewDoc, Scope};
use acp_tui::model::event::{Intent, Opening};
use acp_tui::model::ids::{AgentKey, SessionKey, TurnId};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const ONE: SessionKey = SessionKey::FIRST;
const TWO: SessionKey = SessionKey(1);

async fn receive(agent: &mut Agent) -> Value {
    serde_json::from_str(&agent.lines.next_line().await.unwrap().expect("the client has gone")).unwrap()
}

async fn asks(agent: &mut Agent, method: &str, params: Value) -> Value {
    send_plain(agent, json!({ "jsonrpc": "2.0", "id": "a", "method": method, "params": params })).await;
    loop {
        let answer = receive(agent).await;
        if answer["id"] == "a" {
            return answer;
        }
    }
}

async fn opens(agent: &mut Agent, sessions: &[&str]) {
    let call = receive(agent).await;
    reply(agent, &call, json!({ "protocolVersion": 1 })).await;
    for session in sessions {
        let call = receive(agent).await;
        assert_eq!(call["method"], "session/new");
        reply(agent, &call, json!({ "sessionId": session })).await;
    }
}

/// When both turns run: writes one file for the first session through the client, and for the second one by itself, in
/// a call that says so. Then both turns end.
async fn works_in_both(mut agent: Agent, root: PathBuf) {
    opens(&mut agent, &["one", "two"]).await;
    let (first, second) = (receive(&mut agent).await, receive(&mut agent).await);
    let path = |name: &str| root.join(name).to_string_lossy().into_owned();
    let params = json!({ "sessionId": "one", "path": path("a.txt"), "content": "of one\n" });
    assert!(asks(&mut agent, "fs/write_text_file", params).await["error"].is_null());
    let tool = |update: &str, status: &str| {
        let update = json!({
            "sessionUpdate": update, "toolCallId": "t", "title": "Edit", "kind": "edit", "status": status,
            "locations": [{ "path": path("b.txt") }],
        });
        json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": "two", "update": update } })
    };
    send_plain(&mut agent, tool("tool_call", "in_progress")).await;
    // Answered when the call has been heard of.
    asks(&mut agent, "fs/read_text_file", json!({ "sessionId": "two", "path": path("b.txt") })).await;
    std::fs::write(root.join("b.txt"), "of two\n").unwrap();
    send_plain(&mut agent, tool("tool_call_update", "completed")).await;
    for prompt in [first, second] {
        reply(&mut agent, &prompt, json!({ "stopReason": "end_turn" })).await;
    }
    while agent.lines.next_line().await.unwrap().is_some() {}
}

struct Place {
    _dir: tempfile::TempDir,
    root: PathBuf,
    home: PathBuf,
}

fn place() -> Place {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    let (root, home) = (base.join("project"), base.join("state"));
    std::fs::create_dir(&root).unwrap();
    Place { _dir: dir, root, home }
}

fn engine(place: &Place, agent: impl FnOnce(Agent) -> tokio::task::JoinHandle<()>) -> Engine {
    engine_in(place, &place.root, agent)
}

fn engine_in(place: &Place, cwd: &Path, agent: impl FnOnce(Agent) -> tokio::task::JoinHandle<()>) -> Engine {
    let (link, far) = memory();
    let mut link = Some(link);
    let mut config = config(cwd);
    config.review = Some(ReviewConfig::below(place.home.clone()));
    let engine = Engine::connected(config, codec::shipped(), Some(Box::new(move |_| link.take().unwrap())));
    agent(far);
    engine
}

fn open(engine: &mut Engine, cwd: &Path) {
    let cwd = cwd.to_string_lossy().into_owned();
    engine.intent_to(AgentKey::FIRST.into(), Intent::OpenSession { cwd, how: Opening::New });
}

async fn look(engine: &mut Engine, at: SessionKey, files: usize) -> Arc<ReviewDoc> {
    engine.intent_in(at, Intent::Review(ReviewAction::Show(Scope::Session)));
    let has = |e: &Engine| session(e.model(), at).review().is_some_and(|doc| doc.files.len() == files);
    until(engine, "the review", has).await;
    Arc::clone(session(engine.model(), at).review().unwrap())
}

fn facts(file: &FileDoc) -> (String, Cause, u64, bool) {
    let hunk = &file.hunks[0];
    (file.path.display().to_string(), hunk.cause, hunk.turn, hunk.entry.is_some() && hunk.elsewhere.is_none())
}

#[tokio::test]
async fn what_two_sessions_of_one_directory_change_at_the_same_time_is_put_down_to_each() {
    let place = place();
    std::fs::write(place.root.join("b.txt"), "before\n").unwrap();
    let root = place.root.clone();
    let mut engine = engine(&place, |far| tokio::spawn(works_in_both(far, root)));
    engine.intent(Intent::Start);
    open(&mut engine, &place.root);
    until(&mut engine, "both open", |e| is_ready(e, ONE) && is_ready(e, TWO)).await;
    prompt(&mut engine, ONE);
    prompt(&mut engine, TWO);
    let turn = |e: &Engine, at| session(e.model(), at).turn.as_ref().map(|turn| turn.id);
    assert_eq!((turn(&engine, ONE), turn(&engine, TWO)), (Some(TurnId(1)), Some(TurnId(2))), "no number twice");
    let reviewed = |e: &Engine, at, turn| session(e.model(), at).changes().turns.contains_key(&turn);
    until(&mut engine, "both looked at", |e| reviewed(e, ONE, 1) && reviewed(e, TWO, 2)).await;
    let sums = |at| session(engine.model(), at).changes().totals;
    assert_eq!((sums(ONE).files, sums(ONE)), (2, sums(TWO)), "the sums are those of the directory");
    // The person, after both.
    std::fs::write(place.root.join("c.txt"), "mine\n").unwrap();
    let doc = look(&mut engine, ONE, 2).await;
    let seen: Vec<_> = doc.files.iter().map(|file| facts(file)).collect();
    let of = |name: &str, cause, turn, is_here| (name.to_owned(), cause, turn, is_here);
    assert_eq!(seen, [of("a.txt", Cause::Write, 1, true), of("b.txt", Cause::Tool, 2, false)]);
    let doc = look(&mut engine, TWO, 2).await;
    let seen: Vec<_> = doc.files.iter().map(|file| facts(file)).collect();
    assert_eq!(seen, [of("a.txt", Cause::Write, 1, false), of("b.txt", Cause::Tool, 2, true)]);
    // Taking one turn back leaves the other's work.
    engine.intent_in(ONE, Intent::Review(ReviewAction::Rewind { turn: 2 }));
    let read = |name: &str| std::fs::read_to_string(place.root.join(name)).unwrap_or_default();
    until(&mut engine, "taken back", |_| read("b.txt") == "before\n").await;
    assert_eq!((read("a.txt"), read("c.txt")), ("of one\n".to_owned(), "mine\n".to_owned()));
    engine.shutdown().await;
}

#[tokio::test]
async fn a_session_in_another_directory_has_files_and_a_review_of_its_own() {
    let place = place();
    let other = place.root.parent().unwrap().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("x.txt"), "of the other\n").unwrap();
    std::fs::write(place.root.join("y.txt"), "of the first\n").unwrap();
    let (root, there) = (place.root.clone(), other.clone());
    let mut engine = engine(&place, |far| {
        tokio::spawn(async move {
            let mut agent = far;
            opens(&mut agent, &["one", "two"]).await;
            let prompt = receive(&mut agent).await;
            let read = |at: &str, path: PathBuf| json!({ "sessionId": at, "path": path.to_string_lossy() });
            let own = asks(&mut agent, "fs/read_text_file", read("two", there.join("x.txt"))).await;
            assert_eq!(own["result"]["content"], "of the other\n", "{own}");
            for (at, path) in [("two", root.join("y.txt")), ("one", there.join("x.txt"))] {
                let refused = asks(&mut agent, "fs/read_text_file", read(at, path)).await;
                assert!(!refused["error"].is_null(), "{refused}");
            }
            let mut write = read("two", there.join("x.txt"));
            write["content"] = json!("changed\n");
            assert!(asks(&mut agent, "fs/write_text_file", write).await["error"].is_null());
            reply(&mut agent, &prompt, json!({ "stopReason": "end_turn" })).await;
            while agent.lines.next_line().await.unwrap().is_some() {}
        })
    });
    engine.intent(Intent::Start);
    open(&mut engine, &other);
    until(&mut engine, "both open", |e| is_ready(e, ONE) && is_ready(e, TWO)).await;
    prompt(&mut engine, TWO);
    until(&mut engine, "looked at", |e| session(e.model(), TWO).changes().turns.contains_key(&1)).await;
    assert!(session(engine.model(), ONE).changes().totals.is_empty(), "another directory");
    let doc = look(&mut engine, TWO, 1).await;
    assert_eq!(facts(&doc.files[0]), ("x.txt".to_owned(), Cause::Write, 1, true));
    engine.shutdown().await;
    assert_eq!(std::fs::read_dir(&place.home).unwrap().count(), 2, "a review for each directory");
}

/// One session works in a directory, another one then in the directory above: what the inner one changes is its doing in
/// both reviews, and what the outer one changes below is its doing in both, too.
#[tokio::test]
async fn a_directory_above_one_that_is_looked_at_puts_each_change_down_to_its_session() {
    let place = place();
    let inner = place.root.join("inner");
    std::fs::create_dir(&inner).unwrap();
    let (above, below) = (place.root.clone(), inner.clone());
    let mut engine = engine_in(&place, &inner, |far| {
        tokio::spawn(async move {
            let mut agent = far;
            opens(&mut agent, &["one", "two"]).await;
            for (at, file, by_itself) in [
                ("two", None, true),
                ("one", Some("a.txt"), true),
                ("one", Some("b.txt"), false),
                ("two", Some("c.txt"), false),
            ] {
                let prompt = receive(&mut agent).await;
                assert_eq!(prompt["params"]["sessionId"], at);
                match file.map(|name: &str| below.join(name)) {
                    None => {}
                    Some(file) if by_itself => std::fs::write(&file, "by itself\n").unwrap(),
                    Some(file) => {
                        let write =
                            json!({ "sessionId": at, "path": file.to_string_lossy(), "content": "asked for\n" });
                        assert!(asks(&mut agent, "fs/write_text_file", write).await["error"].is_null());
                    }
                }
                reply(&mut agent, &prompt, json!({ "stopReason": "end_turn" })).await;
            }
            while agent.lines.next_line().await.unwrap().is_some() {}
        })
    });
    engine.intent(Intent::Start);
    until(&mut engine, "the inner one", |e| is_ready(e, ONE)).await;
    open(&mut engine, &above);
    until(&mut engine, "both open", |e| is_ready(e, ONE) && is_ready(e, TWO)).await;
    // The outer one has looked at all files when its first turn is over: what is there by then is no change in it.
    prompt(&mut engine, TWO);
    until(&mut engine, "a turn", |e| session(e.model(), TWO).turn.is_some()).await;
    until(&mut engine, "its end", |e| session(e.model(), TWO).turn.is_none()).await;
    for (turn, at) in [(2, ONE), (3, ONE), (4, TWO)] {
        prompt(&mut engine, at);
        until(&mut engine, "looked at", |e| session(e.model(), at).changes().turns.contains_key(&turn)).await;
    }
    for (at, dir) in [(ONE, ""), (TWO, "inner/")] {
        let doc = look(&mut engine, at, 3).await;
        let seen: Vec<_> = doc.files.iter().map(|file| facts(file)).collect();
        let of = |name: &str, cause, turn, is_here| (format!("{dir}{name}"), cause, turn, is_here);
        let (first, second) = (at == ONE, at == TWO);
        let all = [
            of("a.txt", Cause::Unknown, 2, false),
            of("b.txt", Cause::Write, 3, first),
            of("c.txt", Cause::Write, 4, second),
        ];
        assert_eq!(seen, all, "{at:?}");
    }
    engine.shutdown().await;
}
