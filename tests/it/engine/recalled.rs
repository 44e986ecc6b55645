//! A session goes on in one run of the program after the other: each shows what all before it have shown.

use super::many::{reply, send_plain};
use super::{config, until};
use crate::support::between::memory;
use crate::support::options;
use acp_tui::agent::codec;
use acp_tui::engine::link::Agent;
use acp_tui::engine::recalling::Bounds;
use acp_tui::engine::{Engine, EngineConfig, recalling};
use acp_tui::model::entry::{Body, Entry};
use acp_tui::model::event::{Before, Intent, Opening};
use acp_tui::model::ids::{AgentKey, SessionKey};
use acp_tui::model::session::{Allow, Policy, Session, SessionState};
use acp_tui::store::sessions;
use serde_json::{Value, json};
use std::path::Path;

/// Asks before it answers. What it tells when it loads is the same in other pieces, with a rest where there is one, and
/// what was said elsewhere; one that loads tells of a copy, too.
async fn agent(mut agent: Agent, offers: Value) {
    let rest = offers["_meta"]["rest"].as_str().unwrap_or_default().to_owned();
    let mut prompt = Value::Null;
    let tells = offers["loadSession"] == true;
    while let Some(line) = agent.lines.next_line().await.unwrap() {
        let got: Value = serde_json::from_str(&line).unwrap();
        match got["method"].as_str() {
            Some("initialize") => {
                let info = json!({ "name": "rememberer" });
                let caps = json!({ "protocolVersion": 1, "agentInfo": info, "agentCapabilities": offers });
                reply(&mut agent, &got, caps).await;
            }
            Some("session/new") => reply(&mut agent, &got, json!({ "sessionId": "s" })).await,
            Some("session/resume") => reply(&mut agent, &got, json!({})).await,
            Some("session/load") => {
                let first = format!("one{rest}");
                for (kind, text) in
                    [("user", "one"), ("agent", "I did "), ("agent", &first), ("user", "far"), ("agent", "away")]
                {
                    say(&mut agent, "s", kind, text).await;
                }
                reply(&mut agent, &got, Value::Null).await;
            }
            Some("session/fork") => {
                for (kind, text) in [("user", "one"), ("agent", "I did "), ("agent", "one")] {
                    if tells {
                        say(&mut agent, "c", kind, text).await;
                    }
                }
                reply(&mut agent, &got, json!({ "sessionId": "c" })).await;
            }
            Some("session/prompt") => {
                prompt = got;
                let tool = json!({ "toolCallId": "t", "title": "Make it" });
                let params =
                    json!({ "sessionId": prompt["params"]["sessionId"], "toolCall": tool, "options": options() });
                let ask =
                    json!({ "jsonrpc": "2.0", "id": 1, "method": "session/request_permission", "params": params });
                send_plain(&mut agent, ask).await;
            }
            None if prompt != Value::Null => {
                let text = format!("I did {}", prompt["params"]["prompt"][0]["text"].as_str().unwrap());
                say(&mut agent, prompt["params"]["sessionId"].as_str().unwrap(), "agent", &text).await;
                reply(&mut agent, &prompt.take(), json!({ "stopReason": "end_turn" })).await;
            }
            _ => {}
        }
    }
}

async fn say(agent: &mut Agent, at: &str, who: &str, text: &str) {
    let content = json!({ "type": "text", "text": text });
    let update = json!({ "sessionUpdate": format!("{who}_message_chunk"), "content": content });
    let params = json!({ "sessionId": at, "update": update });
    send_plain(agent, json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })).await;
}

/// One run: the session is asked for in this way and, unless it is only looked at, prompted; what it shows then.
async fn run(journals: &Path, root: &Path, how: Opening, offers: Value, prompt: Option<&str>) -> Vec<String> {
    run_as(Policy::Ask, (journals, root), how, offers, prompt).await
}

async fn run_as(
    policy: Policy,
    (journals, root): (&Path, &Path),
    how: Opening,
    offers: Value,
    prompt: Option<&str>,
) -> Vec<String> {
    let (link, far) = memory();
    let far = tokio::spawn(agent(far, offers));
    let mut link = Some(link);
    let connect = Box::new(move |_| link.take().expect("started once"));
    let config = EngineConfig { journals: Some(journals.to_owned()), policy, ..config(root) };
    let mut engine = Engine::connected(config, codec::shipped(), Some(connect));
    engine.intent(Intent::OpenAs(how));
    engine.intent(Intent::Start);
    let first = |engine: &Engine| engine.model().first().session().state.clone();
    until(&mut engine, "an end", |e| matches!(first(e), SessionState::Ready | SessionState::Closed(_))).await;
    if let Some(prompt) = prompt {
        engine.intent(Intent::Prompt { text: prompt.into(), links: Vec::new() });
        if policy == Policy::Ask {
            until(&mut engine, "a question", |e| !e.model().first().questions().is_empty()).await;
            let req = engine.model().first().questions()[0].req;
            engine.intent(Intent::Answer { req, option: "yes".into() });
        }
        until(&mut engine, "an end", |e| e.model().first().session().turn.is_none()).await;
    }
    let shown = shown(engine.model().first().session());
    engine.shutdown().await;
    far.await.unwrap();
    shown
}

fn shown(session: &Session) -> Vec<String> {
    said(session.entries().iter())
}

fn said<'a>(entries: impl Iterator<Item = &'a Entry>) -> Vec<String> {
    let text = |body: &Body| match body {
        Body::User(user) => format!("you: {}", user.text),
        Body::Agent(message) => format!("agent: {}", message.text),
        Body::Tool(tool) => format!("tool: {} {:?}", tool.title, tool.mark),
        Body::Notice(notice) => format!("! {}", notice.title),
        other => format!("{other:?}"),
    };
    entries.map(|entry| text(&entry.body)).collect()
}

#[tokio::test]
async fn each_run_shows_what_all_before_it_have_shown() {
    let dir = tempfile::tempdir().unwrap();
    let (journals, root) = (dir.path().join("sessions"), dir.path().join("project"));
    std::fs::create_dir(&root).unwrap();
    let again = || Opening::Continue("s".into());
    let resume = || json!({ "sessionCapabilities": { "resume": {} } });
    let one = run(&journals, &root, Opening::New, resume(), Some("one")).await;
    let two = run(&journals, &root, again(), resume(), Some("two")).await;
    assert_eq!(two[..one.len()], one);
    assert_eq!(two[one.len()], "! the session goes on");
    assert_eq!(two[one.len() + 1], "you: two");
    let loaded = run(&journals, &root, again(), json!({ "loadSession": true }), Some("three")).await;
    assert_eq!(loaded[..two.len()], two);
    assert_eq!(loaded[two.len()..two.len() + 3], ["you: far", "agent: away", "! the session goes on"]);
    let none = run(&journals, &root, again(), json!({}), None).await;
    assert_eq!(none[..loaded.len()], loaded);
    assert_eq!(none[loaded.len()..], ["! this agent can neither load nor resume sessions"]);
    // What is put down in an account is the same.
    let (past, trouble) = recalling::recall(&journals, &"s".into(), "", Bounds::default()).unwrap();
    assert_eq!((past.entries.len(), trouble), (loaded.len(), None));
}

#[tokio::test]
async fn what_only_the_agent_knew_is_at_its_place_also_without_a_person() {
    let dir = tempfile::tempdir().unwrap();
    let (journals, root) = (dir.path().join("sessions"), dir.path().join("project"));
    std::fs::create_dir(&root).unwrap();
    let again = || Opening::Continue("s".into());
    let loads = || json!({ "loadSession": true, "_meta": { "rest": ", and the rest" } });
    let mut all = run(&journals, &root, Opening::New, json!({}), Some("one")).await;
    let alone = |prompt| run_as(Policy::Auto(Allow::All), (&journals, &root), again(), loads(), Some(prompt));
    alone("two").await;
    alone("three").await;
    assert_eq!(all.pop().unwrap(), "agent: I did one");
    let tool = all.pop().unwrap();
    let recalled = || said(recalling::recall(&journals, &"s".into(), "", Bounds::default()).unwrap().0.entries.iter());
    all.extend([tool.clone(), "agent: I did one, and the rest".into()]);
    all.extend(["you: far", "agent: away"].map(String::from));
    for prompt in ["two", "three"] {
        let allowed = "! allowed by --allow all: Make it".to_owned();
        all.extend([format!("you: {prompt}"), tool.clone(), allowed, format!("agent: I did {prompt}")]);
    }
    assert_eq!(recalled(), all);
    // Nothing of it is told differently to the next that reads it.
    let next = run(&journals, &root, again(), loads(), None).await;
    assert_eq!(next[..all.len()], all);
    assert_eq!(next[all.len()..], ["! the session goes on"]);
}

#[tokio::test]
async fn of_a_journal_that_is_too_large_the_end_is_shown() {
    let dir = tempfile::tempdir().unwrap();
    let (journals, root) = (dir.path().join("sessions"), dir.path().join("project"));
    std::fs::create_dir(&root).unwrap();
    let whole = run(&journals, &root, Opening::New, json!({}), Some("one")).await;
    let journal = sessions::find(&journals, "s", "").unwrap().unwrap().journal;
    let text = std::fs::read_to_string(&journal).unwrap();
    for (first, shown) in [("\"Prompt\"", &*whole), ("I did one", &whole[whole.len() - 1..])] {
        let from = text.lines().take_while(|line| !line.contains(first)).map(|line| line.len() + 1).sum::<usize>();
        let bounds = Bounds { all: text.len() as u64 - 1, end: (text.len() - from) as u64 };
        let (past, trouble) = recalling::recall(&journals, &"s".into(), "", bounds).unwrap();
        assert_eq!(said(past.entries.iter()), shown, "{first}");
        assert!(trouble.is_some_and(|why| why.starts_with("only the last ")), "{first}");
    }
}

#[tokio::test]
async fn a_copy_begins_with_what_was_said_and_keeps_it_when_that_session_is_gone() {
    for tells in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let (journals, root) = (dir.path().join("sessions"), dir.path().join("project"));
        std::fs::create_dir(&root).unwrap();
        let offers = || json!({ "loadSession": tells, "sessionCapabilities": { "fork": {}, "resume": {} } });
        let first = run(&journals, &root, Opening::New, offers(), Some("one")).await;
        assert_eq!(first.len(), 3, "{first:?}");
        let copy = run(&journals, &root, Opening::Copy("s".into()), offers(), Some("two")).await;
        assert_eq!(copy[..3], first, "{tells}");
        assert_eq!(copy[3], "! a copy of session s; what is above was said in that one");
        assert_eq!(copy[4], "you: two");
        let known = sessions::list(dir.path()).unwrap().sessions;
        let known_as = |id: &str| known.iter().find(|known| known.session_id == id).unwrap();
        assert_eq!((known_as("c").turns, known_as("s").turns), (1, 1));
        std::fs::remove_file(&known_as("s").journal).unwrap();
        let again = run(&journals, &root, Opening::Resume("c".into()), offers(), None).await;
        assert_eq!(again[..copy.len()], copy, "{tells}");
    }
}

/// Goes on with what it is asked for, copies it as often as it is asked to, and answers every prompt.
async fn copies(mut agent: Agent) {
    let mut copies = 0;
    while let Some(line) = agent.lines.next_line().await.unwrap() {
        let got: Value = serde_json::from_str(&line).unwrap();
        match got["method"].as_str() {
            Some("initialize") => {
                let caps = json!({ "sessionCapabilities": { "fork": {}, "resume": {} } });
                reply(&mut agent, &got, json!({ "protocolVersion": 1, "agentCapabilities": caps })).await;
            }
            Some("session/new") => reply(&mut agent, &got, json!({ "sessionId": "s" })).await,
            Some("session/resume") => reply(&mut agent, &got, json!({})).await,
            Some("session/fork") => {
                copies += 1;
                reply(&mut agent, &got, json!({ "sessionId": format!("c{copies}") })).await;
            }
            Some("session/prompt") => {
                let text = format!("I did {}", got["params"]["prompt"][0]["text"].as_str().unwrap());
                say(&mut agent, got["params"]["sessionId"].as_str().unwrap(), "agent", &text).await;
                reply(&mut agent, &got, json!({ "stopReason": "end_turn" })).await;
            }
            _ => {}
        }
    }
}

#[tokio::test]
async fn a_copy_of_a_copy_keeps_what_was_said_in_one_that_was_gone_on_with() {
    copies_keep_what_was_said(&|from| Opening::Copy(from.into())).await;
}

#[tokio::test]
async fn so_does_a_side_question_that_is_kept() {
    copies_keep_what_was_said(&|from| Opening::Aside { beside: SessionKey::FIRST, from: Some(from.into()) }).await;
}

/// In the journal of the copies nothing is of what was said in the first before.
async fn copies_keep_what_was_said(copy: &dyn Fn(&str) -> Opening) {
    let dir = tempfile::tempdir().unwrap();
    let (journals, root) = (dir.path().join("sessions"), dir.path().join("project"));
    std::fs::create_dir(&root).unwrap();
    let cwd = root.to_string_lossy().into_owned();
    let mut live = Vec::new();
    for how in [Opening::New, Opening::Continue("s".into())] {
        let (link, far) = memory();
        let far = tokio::spawn(copies(far));
        let mut link = Some(link);
        let connect = Box::new(move |_| link.take().expect("started once"));
        let config = EngineConfig { journals: Some(journals.clone()), ..config(&root) };
        let mut engine = Engine::connected(config, codec::shipped(), Some(connect));
        let is_new = how == Opening::New;
        engine.intent(Intent::OpenAs(how));
        engine.intent(Intent::Start);
        until(&mut engine, "a session", |e| e.model().first().session().state == SessionState::Ready).await;
        if is_new {
            prompted(&mut engine, SessionKey::FIRST, "one").await;
        } else {
            for (at, from) in [(1, "s"), (2, "c1"), (3, "c2")] {
                let how = copy(from);
                engine.intent_to(AgentKey::FIRST.into(), Intent::OpenSession { cwd: cwd.clone(), how });
                engine.intent_in(SessionKey(at), Intent::KeepAside);
                prompted(&mut engine, SessionKey(at), &format!("in c{at}")).await;
                live.push(shown(engine.model().session_of(SessionKey(at)).unwrap()));
            }
        }
        engine.shutdown().await;
        far.await.unwrap();
    }
    let said_in = ["you: one", "you: in c1", "you: in c2", "you: in c3"];
    for (at, live) in (1..).zip(&live) {
        let id = format!("c{at}");
        let (past, trouble) = recalling::recall(&journals, &id.as_str().into(), "", Bounds::default()).unwrap();
        assert_eq!((&said(past.entries.iter()), trouble), (live, None), "{id}");
        let yours: Vec<_> = live.iter().filter(|line| line.starts_with("you: ")).collect();
        assert_eq!(yours, said_in[..=at].iter().collect::<Vec<_>>());
    }
}

/// Opens as many sessions as it is asked for, and answers every prompt.
async fn opens_many(mut agent: Agent) {
    let mut opened = 0;
    while let Some(line) = agent.lines.next_line().await.unwrap() {
        let got: Value = serde_json::from_str(&line).unwrap();
        match got["method"].as_str() {
            Some("initialize") => reply(&mut agent, &got, json!({ "protocolVersion": 1 })).await,
            Some("session/new") => {
                opened += 1;
                reply(&mut agent, &got, json!({ "sessionId": format!("s{opened}") })).await;
            }
            Some("session/prompt") => reply(&mut agent, &got, json!({ "stopReason": "end_turn" })).await,
            _ => {}
        }
    }
}

async fn prompted(engine: &mut Engine, at: SessionKey, text: &str) {
    engine.intent_in(at, Intent::Prompt { text: text.into(), links: Vec::new() });
    let over = |e: &Engine| e.model().session_of(at).is_some_and(|s| s.turn.is_none() && s.ended.is_some());
    until(engine, "an answer", over).await;
}

#[tokio::test]
async fn what_is_asked_aside_is_listed_when_it_is_kept_and_what_continues_another_is_of_its_thread() {
    let dir = tempfile::tempdir().unwrap();
    let (journals, root) = (dir.path().join("sessions"), dir.path().join("project"));
    std::fs::create_dir(&root).unwrap();
    let (link, far) = memory();
    let far = tokio::spawn(opens_many(far));
    let mut link = Some(link);
    let connect = Box::new(move |_| link.take().expect("started once"));
    let config = EngineConfig { journals: Some(journals.clone()), ..config(&root) };
    let mut engine = Engine::connected(config, codec::shipped(), Some(connect));
    engine.intent(Intent::Start);
    until(&mut engine, "a session", |e| e.model().first().session().state == SessionState::Ready).await;
    prompted(&mut engine, SessionKey::FIRST, "first").await;
    let cwd = root.to_string_lossy().into_owned();
    let before = Before { session: SessionKey::FIRST, id: Some("s1".into()), agent: "agent".into(), to: None };
    let aside = || Opening::Aside { beside: SessionKey::FIRST, from: None };
    for how in [Opening::After(before), aside(), aside()] {
        engine.intent_to(AgentKey::FIRST.into(), Intent::OpenSession { cwd: cwd.clone(), how });
    }
    for (at, text) in [(1, "second"), (2, "aside"), (3, "kept")] {
        prompted(&mut engine, SessionKey(at), text).await;
    }
    engine.intent_in(SessionKey(3), Intent::KeepAside);
    engine.shutdown().await;
    far.await.unwrap();
    let mut listed: Vec<_> = sessions::list(dir.path()).unwrap().sessions;
    listed.sort_by_key(|known| known.session_id.clone());
    let seen: Vec<_> = listed.iter().map(|known| (&*known.session_id, known.thread.as_deref())).collect();
    assert_eq!(seen, [("s1", Some("s1")), ("s2", Some("s1")), ("s4", None)]);
}
