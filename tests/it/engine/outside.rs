//! Files outside of the session's directories, wanted by an agent over memory: the person, the decision hook, the audit log.

use super::{answer, receive, send, until};
use crate::support::app::config;
use crate::support::renamed::renamed;
use acp_tui::engine::link::{Agent, Link, memory};
use acp_tui::engine::rulebook::Rulebook;
use acp_tui::engine::{Engine, EngineConfig, Hook, RulesConfig};
use acp_tui::model::event::Intent;
use acp_tui::model::session::Phase;
use acp_tui::store::audit;
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// Asks for these files, one after the other; whether each was done, or why not.
async fn agent(mut agent: Agent, wanted: Vec<(&'static str, PathBuf)>) -> Vec<Value> {
    answer(&mut agent, "initialize", json!({ "protocolVersion": 1 })).await;
    answer(&mut agent, "session/new", json!({ "sessionId": "s" })).await;
    let prompt = receive(&mut agent).await;
    let mut answers = Vec::new();
    for (id, (method, path)) in wanted.into_iter().enumerate() {
        let params = json!({ "sessionId": "s", "path": path, "content": format!("text {id}\n") });
        send(&mut agent, json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        let mut answered = receive(&mut agent).await;
        answers.push(answered["error"]["data"]["reason"].take());
    }
    send(&mut agent, json!({ "jsonrpc": "2.0", "id": prompt["id"], "result": { "stopReason": "end_turn" } })).await;
    while agent.lines.next_line().await.unwrap().is_some() {}
    answers
}

const WRITE: &str = "fs/write_text_file";
const READ: &str = "fs/read_text_file";

/// A project beside `x` and `z`, with `link` into `x`.
fn place() -> (TempDir, PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let base = temp.path().canonicalize().unwrap();
    for name in ["project", "x", "z"] {
        std::fs::create_dir(base.join(name)).unwrap();
    }
    symlink("../x", base.join("project/link")).unwrap();
    (temp, base)
}

fn engine(base: &Path, book: Rulebook, link: Link) -> Engine {
    let mut link = Some(link);
    let connect = Box::new(move |_| link.take().expect("started once"));
    let held = RulesConfig { book: Arc::new(book), agent: None };
    let usual = config(&base.join("project"));
    let config = EngineConfig { rules: Some(held), audit: Some(base.join("state")), ..usual };
    Engine::connected(config, renamed(), Some(connect))
}

async fn begin(engine: &mut Engine) {
    engine.intent(Intent::Start);
    until(engine, "a session", |e| matches!(e.model().first().phase(), Phase::Ready)).await;
    engine.intent(Intent::Prompt { text: "hi".into(), links: Vec::new() });
}

/// Event, verdict, who, and the real path, of every decision about a file.
fn logged(base: &Path) -> Vec<(String, String, String, String)> {
    let files = audit::files(&base.join("state")).unwrap();
    let records = files.iter().flat_map(|file| audit::records(file).unwrap());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let of = |r: Value| (text(&r["event"]), text(&r["verdict"]), text(&r["by"]), text(&r["outside"][0]["real"]));
    records.map(of).filter(|(event, ..)| event == "read" || event == "write").collect()
}

#[tokio::test]
async fn the_person_sees_where_a_write_outside_goes_and_a_link_that_is_swapped_leads_nowhere_else() {
    let (_temp, base) = place();
    let wanted = ["link/a", "link/b", "link/c", "link/d"].map(|name| (WRITE, base.join("project").join(name)));
    let (near, far) = memory();
    let agent = tokio::spawn(agent(far, wanted.to_vec()));
    let mut engine = engine(&base, Rulebook::new(None, None), near);
    begin(&mut engine).await;
    for (name, option) in [("a", "reject"), ("b", "allow"), ("c", "allow"), ("d", "allow")] {
        let is_asked = |e: &Engine| {
            let real = |q: &acp_tui::model::question::Question| q.outside.first().and_then(|o| o.real.clone());
            e.model().first().session().questions().iter().filter_map(real).any(|real| real.ends_with(name))
        };
        until(&mut engine, "a question", is_asked).await;
        let question = &engine.model().first().session().questions()[0];
        assert_eq!(question.outside[0].real.as_deref(), base.join("x").join(name).to_str());
        let req = question.req;
        match name {
            // What was named leads elsewhere now: it is the file that was seen.
            "c" => {
                std::fs::remove_file(base.join("project/link")).unwrap();
                symlink("../z", base.join("project/link")).unwrap();
            }
            // The file that was seen is one elsewhere now.
            "d" => {
                std::fs::rename(base.join("x"), base.join("was-x")).unwrap();
                symlink("z", base.join("x")).unwrap();
            }
            _ => {}
        }
        engine.intent(Intent::Answer { req, option: option.into() });
        if name == "c" {
            until(&mut engine, "the file", |_| base.join("x/c").exists()).await;
            std::fs::remove_file(base.join("project/link")).unwrap();
            symlink("../x", base.join("project/link")).unwrap();
        }
    }
    until(&mut engine, "the end of the turn", |e| e.model().first().session().turn.is_none()).await;
    let entries = crate::support::render(engine.model()).join("\n");
    engine.shutdown().await;
    assert_eq!(
        agent.await.unwrap(),
        [json!("denied_by_user"), Value::Null, Value::Null, json!("outside_workspace")],
        "{entries}"
    );
    assert_eq!(std::fs::read_dir(base.join("z")).unwrap().count(), 0, "nothing went elsewhere");
    let text = |name: &str| std::fs::read_to_string(base.join("was-x").join(name)).ok();
    assert_eq!(["a", "b", "c", "d"].map(text), [None, Some("text 1\n".into()), Some("text 2\n".into()), None]);
    let real = |name: &str| base.join("x").join(name).to_string_lossy().into_owned();
    let by = |verdict: &str, name: &str| ("write".to_owned(), verdict.to_owned(), "person".to_owned(), real(name));
    let mut told = logged(&base);
    let last = told.pop().unwrap();
    assert_eq!((last.1.as_str(), last.2.as_str()), ("deny", "client"), "it was another one by then");
    assert_eq!(told, [by("deny", "a"), by("allow", "b"), by("allow", "c"), by("allow", "d")]);
}

#[tokio::test]
async fn the_hook_is_asked_about_what_is_outside_and_allows_only_what_rules_leave_at_ask() {
    let (_temp, base) = place();
    let x = base.join("x");
    for name in ["kept", "denied"] {
        std::fs::write(x.join(name), "old\n").unwrap();
    }
    let rules = base.join("rules.toml");
    let x_is = x.display();
    std::fs::write(&rules, format!("deny = [\"Edit({x_is}/denied)\"]\nallow = [\"Edit({x_is}/narrowed)\"]\n")).unwrap();
    let script = r#"read line; case "$line" in *'/x/narrowed"'*|*'/x/refused"'*) v=deny;; *'/x/'*) v=allow;; *) v=ask;; esac; echo "{\"verdict\":\"$v\"}""#;
    let hook = Hook::new(["sh", "-c", script].map(str::to_owned).to_vec());
    let link = |name: &str| base.join("project/link").join(name);
    let wanted = vec![
        (WRITE, link("new")),
        (READ, x.join("kept")),
        (READ, x.join("refused")),
        (WRITE, x.join("denied")),
        (WRITE, x.join("narrowed")),
        (WRITE, base.join("state/own")),
    ];
    let (near, far) = memory();
    let agent = tokio::spawn(agent(far, wanted));
    let mut engine = engine(&base, Rulebook::new(Some(rules), None).with_hook(Some(hook)), near);
    begin(&mut engine).await;
    until(&mut engine, "a question", |e| !e.model().first().session().questions().is_empty()).await;
    // What the hook leaves to the person.
    let question = &engine.model().first().session().questions()[0];
    assert_eq!(question.outside[0].real.as_deref(), base.join("state/own").to_str());
    let req = question.req;
    engine.intent(Intent::Answer { req, option: "reject".into() });
    until(&mut engine, "the end of the turn", |e| e.model().first().session().turn.is_none()).await;
    engine.shutdown().await;
    let (done, by_policy) = (Value::Null, json!("denied_by_policy"));
    let refused = [by_policy.clone(), by_policy.clone(), by_policy, json!("denied_by_user")];
    assert_eq!(agent.await.unwrap(), [vec![done.clone(), done], refused.to_vec()].concat());
    assert_eq!(std::fs::read_to_string(x.join("new")).unwrap(), "text 0\n");
    assert_eq!(std::fs::read_to_string(x.join("denied")).unwrap(), "old\n");
    let told = |event: &str, verdict: &str, by: &str, name: &str| {
        (event.to_owned(), verdict.to_owned(), by.to_owned(), base.join(name).to_string_lossy().into_owned())
    };
    let wanted = [
        told("write", "allow", "hook", "x/new"),
        told("read", "allow", "hook", "x/kept"),
        told("read", "deny", "hook", "x/refused"),
        told("write", "deny", "rule", "x/denied"),
        told("write", "deny", "hook", "x/narrowed"),
        told("write", "deny", "person", "state/own"),
    ];
    assert_eq!(logged(&base), wanted);
}
