//! Agents that are served in turn.

use super::*;
use crate::agent::codec;
use crate::engine::Engine;
use crate::engine::link::{Agent, memory};
use crate::engine::reviewing::tests::{Place, engine, place};
use crate::engine::run::Wake;
use crate::model::entry::Body;
use crate::model::event::{Intent, Opening, Timer};
use crate::model::ids::Address;
use crate::model::session::Phase;
use crate::wire::pump::INBOX;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const A: AgentKey = AgentKey::FIRST;
const B: AgentKey = AgentKey(1);

/// Sends without an end.
async fn flood(mut agent: Agent) {
    while agent.lines.send_line(r#"{"jsonrpc":"2.0","method":"_x"}"#).await.is_ok() {}
}

/// Two agents that have both filled what is read ahead of us.
async fn two_floods() -> Links {
    let connect = |_| {
        let (link, agent) = memory();
        tokio::spawn(flood(agent));
        link
    };
    let mut links = Links::new(AgentSetup::default(), Some(Box::new(connect)), Graces::default());
    links.add(B, None);
    let words = codec::shipped().word_for_word();
    for agent in [A, B] {
        links.start(agent, PathBuf::new(), words);
    }
    while [A, B].iter().any(|agent| links.running(*agent).unwrap().incoming.len() < INBOX) {
        tokio::task::yield_now().await;
    }
    links
}

#[tokio::test]
async fn where_a_further_session_begins_its_branch_is_in_the_journal() {
    let place = place();
    let (journals, tree) = (place.home.join("journals"), place.root.join("tree"));
    std::fs::create_dir_all(tree.join(".git")).unwrap();
    std::fs::write(tree.join(".git/HEAD"), "ref: refs/heads/side\n").unwrap();
    let mut engine = engine(&place, "read -r line", Some(journals.clone()));
    let stem = engine.stem();
    engine.intent(Intent::Start);
    let cwd = tree.to_string_lossy().into_owned();
    engine.intent_to(A.into(), Intent::OpenSession { cwd, how: Opening::New });
    engine.shutdown().await;
    let text = std::fs::read_to_string(journals.join(format!("{stem}.jsonl"))).unwrap();
    let line = text.lines().position(|line| line.contains(r#""branch":"side""#));
    let opens = text.lines().position(|line| line.contains("OpenSession"));
    assert!(line.is_some() && line < opens, "{text}");
}

#[tokio::test]
async fn a_flood_of_one_agent_keeps_no_other_waiting() {
    let mut links = two_floods().await;
    let mut served = Vec::new();
    for _ in 0..4 {
        let (agent, wake) = links.next().await;
        assert!(matches!(wake, LinkWake::Incoming(_)), "{wake:?}");
        served.push(agent);
    }
    for _ in 0..4 {
        served.push(links.ready().unwrap().0);
    }
    assert_eq!(served, [B, A, B, A, B, A, B, A]);
}

#[tokio::test]
async fn what_is_due_does_not_wait_for_the_end_of_a_flood() {
    let place = place();
    let mut engine = engine(&place, "", None);
    engine.links = two_floods().await;
    engine.timers.start(Address::Agent(A), Timer::ExplainStray, Duration::ZERO);
    loop {
        let wake = engine.next().await;
        let is_flood = matches!(wake, Wake::Link(..));
        engine.step(wake);
        if is_flood {
            break;
        }
    }
    assert!(engine.timers.is_empty());
    engine.shutdown().await;
}

#[tokio::test]
async fn an_agent_that_is_not_configured_is_not_started() {
    let mut links = Links::new(AgentSetup::default(), None, Graces::default());
    links.add(B, None);
    let words = codec::shipped().word_for_word();
    let told = links.start(B, PathBuf::new(), words);
    assert!(matches!(told, HostEvent::SpawnFailed { message, .. } if message.contains("configured")));
}

/// Reads one message in this framing and answers it, and nothing else.
async fn answer_one(agent: &mut Agent, has_length: bool) {
    let mut line = agent.lines.next_line().await.unwrap().unwrap();
    if has_length {
        let length: usize = line.trim().strip_prefix("Content-Length: ").unwrap().parse().unwrap();
        agent.lines.next_line().await.unwrap();
        let mut body = vec![0; length];
        agent.lines.reader.read_exact(&mut body).await.unwrap();
        line = String::from_utf8(body).unwrap();
    }
    let call: serde_json::Value = serde_json::from_str(&line).unwrap();
    let result = if call["method"] == "initialize" { r#"{"protocolVersion":1}"# } else { r#"{"sessionId":"s"}"# };
    let answer = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, call["id"]);
    let header = format!("Content-Length: {}\r\n\r\n", answer.len());
    agent.lines.writer.write_all(if has_length { header.as_bytes() } else { b"" }).await.unwrap();
    agent.lines.writer.write_all(answer.as_bytes()).await.unwrap();
    agent.lines.writer.write_all(if has_length { b"" } else { b"\n" }).await.unwrap();
}

/// An engine whose agent is told apart by what it says first, and how often that was started.
fn begun(place: &Place, reads_lines: bool) -> (Engine, Arc<AtomicU32>) {
    let starts = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&starts);
    let connect = move |_| {
        let (mut link, mut agent) = memory();
        link.framing = Framing::Auto;
        let is_first = count.fetch_add(1, Ordering::Relaxed) == 0;
        tokio::spawn(async move {
            if is_first && !reads_lines {
                while agent.lines.next_line().await.is_ok_and(|line| line.is_some()) {}
                return;
            }
            answer_one(&mut agent, !reads_lines).await;
            answer_one(&mut agent, !reads_lines).await;
            while agent.lines.next_line().await.is_ok_and(|line| line.is_some()) {}
        });
        link
    };
    let mut engine = engine(place, "", None);
    engine.links = Links::new(AgentSetup::default(), Some(Box::new(connect)), Graces::default());
    engine.intent(Intent::Start);
    if !reads_lines {
        engine.links.running_mut(A).unwrap().lose_patience();
    }
    (engine, starts)
}

async fn until_ready(engine: &mut Engine) {
    while engine.model().first().phase() != Phase::Ready {
        let wake = tokio::time::timeout(Duration::from_secs(20), engine.next()).await.expect("nothing happens");
        engine.step(wake);
    }
}

#[tokio::test]
async fn s_068_an_agent_that_says_nothing_to_a_line_is_started_once_more_with_lengths() {
    let place = place();
    let (mut engine, starts) = begun(&place, false);
    until_ready(&mut engine).await;
    assert_eq!(starts.load(Ordering::Relaxed), 2);
    assert!(engine.links.deadline().is_none(), "nothing is waited for any more");
    engine.shutdown().await;
}

#[tokio::test]
async fn s_068_one_that_answers_a_line_is_spoken_to_in_lines() {
    let place = place();
    let (mut engine, starts) = begun(&place, true);
    until_ready(&mut engine).await;
    assert_eq!(starts.load(Ordering::Relaxed), 1);
    engine.shutdown().await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn that_something_was_ended_which_a_dead_agent_had_left_stands_in_the_conversation() {
    let place = place();
    let agent = r#"
        answer() { read -r line; id=${line#*'"id":'}; printf '{"id":%s,"result":%s}\n' "${id%%[!0-9]*}" "$1"; }
        answer '{"protocolVersion":1}'; answer '{"sessionId":"s"}'
        setsid sh -c 'echo > moved; exec sleep 1000' <&- >&- 2>&- & until test -e moved; do sleep 0.01; done; kill -KILL $$
    "#;
    let mut engine = engine(&place, agent, None);
    engine.intent(Intent::Start);
    let is_said = |engine: &Engine| {
        engine.model().first().entries().iter().any(|entry| match &entry.body {
            Body::Notice(notice) => notice.title.contains("left something running, which was ended: "),
            _ => false,
        })
    };
    while !is_said(&engine) {
        let wake = tokio::time::timeout(Duration::from_secs(20), engine.next()).await.expect("nothing happens");
        engine.step(wake);
    }
    let goodbye = engine.shutdown().await;
    assert_eq!(goodbye.unheard, [""; 0], "it is said once");
}

#[test]
fn an_agent_of_which_only_the_command_is_known_is_confined_where_the_first_one_is() {
    let free = AgentSetup::default();
    let limits = Sandbox { readable: Some(vec!["/usr".into()]), connects: Some(vec![443]), ..Sandbox::default() };
    let sandbox =
        |writable: &[&str]| Some(Sandbox { writable: writable.iter().map(Into::into).collect(), ..limits.clone() });
    let confined = AgentSetup { sandbox: sandbox(&["/state"]), ..AgentSetup::default() };
    assert_eq!(AgentSetup::default().confined_as(Some(&free)).sandbox_in(Path::new("/p")), None);
    let again = AgentSetup::default().confined_as(Some(&confined)).sandbox_in(Path::new("/p"));
    assert_eq!(again, sandbox(&["/p"]));
    let own = confined.confined_as(Some(&free)).sandbox_in(Path::new("/p"));
    assert_eq!(own, sandbox(&["/p", "/state"]));
}

#[test]
fn an_agent_of_which_only_the_command_is_known_gets_of_the_environment_what_is_said_of_all() {
    let of = |only: &[&str]| Inherited {
        only: Some(only.iter().map(|name| (*name).to_owned()).collect()),
        ..Inherited::default()
    };
    let first = AgentSetup { inherited: of(&["KEY_OF_THE_FIRST"]), ..AgentSetup::default() };
    for all in [Inherited::default(), of(&["EDITOR"])] {
        let mut further = Further::default().inheriting(all.clone());
        further.add("x".into(), AgentSetup::recorded("x", &[], Path::new("/p")).confined_as(Some(&first)));
        assert_eq!(further.get("x").map(|setup| &setup.inherited), Some(&all));
    }
}

#[test]
fn an_agent_that_is_known_by_its_recorded_command_has_the_name_of_that_command_in_the_keyring() {
    let dir = tempfile::tempdir().unwrap();
    let here = dir.path();
    std::fs::write(here.join("agent"), "").unwrap();
    let name = |command: &str, cwd: &Path| AgentSetup::recorded(command, &["--acp".to_owned()], cwd).kept_as;
    assert_eq!(name("agent-of-the-system", here), name("agent-of-the-system", Path::new("/elsewhere")));
    assert_ne!(name("./agent", here), name("./agent", Path::new("/elsewhere")), "a file of the project");
    assert_eq!(name("./agent", here), Some(kept_by_command("./agent", &["--acp".to_owned()], here)));
    assert_eq!(AgentSetup::recorded("ws://127.0.0.1:1/", &[], here).kept_as, None, "it gets no variables");
}
