//! Two agents and three sessions on one screen: a flood in one, a question in another, a write that is held in the
//! third, a death, and a person who types. Each is drawn, answered and written down where it belongs.

use crate::support::app::{Agent, Person, config, goes_on_with_the_disk, play_two};
use crate::support::options;
use acp_tui::engine::ReviewConfig;
use acp_tui::engine::replay::replay;
use acp_tui::model::Model;
use acp_tui::model::changes::Gate;
use acp_tui::model::entry::Body;
use acp_tui::model::ids::{AgentKey, SessionKey};
use acp_tui::model::session::Policy;
use acp_tui::ui::keys::{Code, Key};
use acp_tui::ui::run::Exit;
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::Instant;

/// From a key to the frame that shows it.
const ANSWERED: Duration = Duration::from_millis(50);

/// Types letter by letter, and looks how long each takes to be on the screen.
async fn is_answered(person: &Person, text: &str) {
    let mut written = String::from("❯ ");
    for letter in text.chars() {
        let before = Instant::now();
        person.types(&letter.to_string()).await;
        written.push(letter);
        person.sees(&written).await;
        assert!(before.elapsed() <= ANSWERED, "{letter:?} took {:?}", before.elapsed());
    }
    person.press(Key::ctrl(Code::Char('u'))).await;
    person.waits_for("an empty line", |screen| !screen.contains(&written)).await;
}

/// Opens a session with the agent of the session that is shown, or with the one that the key leads to.
async fn opens(person: &Person, to: Option<Code>, tab: &str) {
    person.press(Key::ctrl(Code::Char('t'))).await;
    person.sees("a further session of:").await;
    if let Some(to) = to {
        person.press(Key::plain(to)).await;
    }
    person.press(Key::plain(Code::Enter)).await;
    person.sees("Enter opens it").await;
    person.press(Key::plain(Code::Enter)).await;
    person.waits_for("the session", |s| s.contains(tab) && s.contains("write a request")).await;
}

/// Answers the question of the session that is shown by the key of a choice.
async fn chooses(person: &Person, key: &str) {
    person.press(Key::plain(Code::Tab)).await;
    // A key that was meant for the line is no answer.
    person.pass(Duration::from_millis(800)).await;
    person.types(key).await;
}

/// Writes a file in one session, and asks in another one while that is held.
async fn writes_and_asks(mut agent: Agent) {
    let call = agent.called("initialize").await;
    agent.answer(&call, json!({ "protocolVersion": 1 })).await;
    let call = agent.opens_further("s").await;
    let file = Path::new(call["params"]["cwd"].as_str().unwrap()).join("held.txt");
    let first = agent.called("session/prompt").await;
    assert_eq!(first["params"]["sessionId"], "s");
    let params = json!({ "sessionId": "s", "path": file, "content": "held text\n" });
    agent.send(json!({ "jsonrpc": "2.0", "id": "w", "method": "fs/write_text_file", "params": params })).await;
    agent.opens_further("t").await;
    let second = agent.called("session/prompt").await;
    assert_eq!(second["params"]["sessionId"], "t");
    let tool = json!({ "toolCallId": "c", "title": "Dangerous" });
    let params = json!({ "sessionId": "t", "toolCall": tool, "options": options() });
    let answer = agent.asks("session/request_permission", params).await;
    assert_eq!(answer["result"]["outcome"], json!({ "outcome": "selected", "optionId": "no" }));
    assert!(!file.exists(), "the write is still held");
    agent.says_in("t", "so not").await;
    agent.ends(&second, "end_turn").await;
    let answer = agent.receive().await;
    assert_eq!((&answer["id"], answer.get("error")), (&json!("w"), None), "{answer}");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "held text\n");
    agent.says_in("s", "so written").await;
    agent.ends(&first, "end_turn").await;
    agent.stays().await;
}

#[tokio::test(start_paused = true)]
async fn a_flood_a_question_a_held_write_and_a_death_are_drawn_where_they_are_and_keys_are_answered() {
    let (dies, said) = (Rc::new(Cell::new(false)), Rc::new(Cell::new(0)));
    let floods = async |mut agent: Agent| {
        agent.opens().await;
        agent.called("session/prompt").await;
        while !dies.get() {
            for _ in 0..100 {
                agent.says("flood ").await;
            }
            said.set(said.get() + 100);
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        agent.dies();
    };
    let person = async |person: Person| {
        person.sees("write a request, Enter sends it").await;
        opens(&person, Some(Code::Down), "▸2").await;
        person.prompts("go").await;
        person.waits_for("the flood", |s| s.matches("flood").count() > 100).await;
        is_answered(&person, "flooded").await;
        person.press(Key::ctrl(Code::PageUp)).await;
        person.sees("▸1").await;
        person.prompts("write").await;
        let screen = person.sees("not written yet").await;
        assert!(screen.contains("held.txt") && !screen.contains("flood"), "the first session's own:\n{screen}");
        is_answered(&person, "held").await;
        opens(&person, None, "▸3").await;
        let before = said.get();
        is_answered(&person, "beside").await;
        person.prompts("and you").await;
        let screen = person.sees("Dangerous").await;
        assert!(!screen.contains("flood") && !screen.contains("held.txt"), "the third session's own:\n{screen}");
        person.press(Key::ctrl(Code::PageUp)).await;
        let screen = person.waits_for("the second session", |s| s.contains("▸2")).await;
        let tabs = screen.lines().next().unwrap();
        assert!(tabs.matches("waits for you").count() == 2 && !screen.contains("Dangerous"), "{screen}");
        is_answered(&person, "asking").await;
        person.press(Key::ctrl(Code::PageDown)).await;
        person.sees("2 n Reject").await;
        chooses(&person, "2").await;
        person.sees("so not").await;
        person.press(Key::ctrl(Code::PageDown)).await;
        person.waits_for("the first session", |s| s.contains("▸1") && s.contains("not written yet")).await;
        chooses(&person, "1").await;
        let screen = person.sees("so written").await;
        assert!(!screen.contains("so not"), "{screen}");
        assert!(said.get() > before, "the flood goes on");
        dies.set(true);
        person.waits_for("the death, in the line of sessions", |s| s.lines().next().unwrap().contains("died")).await;
        is_answered(&person, "alone").await;
        person.quits().await;
        person.quits().await;
    };
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    let (root, journals) = (base.join("project"), base.join("journals"));
    std::fs::create_dir(&root).unwrap();
    let mut config = config(&root);
    config.journals = Some(journals.clone());
    config.review = Some(ReviewConfig::below(base.join("review")));
    config.gate = Gate::Hold;
    // Files are looked at by a thread.
    let beside = std::fs::File::create(base.join("written")).unwrap();
    let ended = tokio::select! {
        ended = play_two((100, 30), config, writes_and_asks, floods, person) => ended,
        () = goes_on_with_the_disk(&beside, Duration::from_millis(10)) => unreachable!("it has no end"),
    };
    assert_eq!(ended.exit, Exit::Quit);
    journalled(&root, &journals);
}

/// Each frame and each answer is under its own address, and what is played back tells the same.
fn journalled(root: &Path, journals: &Path) {
    let file = std::fs::read_dir(journals).unwrap().next().unwrap().unwrap().path();
    let journal = std::fs::read_to_string(file).unwrap();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for line in journal.lines().skip(1) {
        let record: Value = serde_json::from_str(line).unwrap();
        let (what, of) = match record["frame"]["method"].as_str() {
            Some("fs/write_text_file") => ("a write", json!({ "agent": 0 })),
            Some("session/request_permission") => ("a question", json!({ "agent": 0 })),
            Some("session/update") if line.contains("flood ") => ("a flood", json!({ "agent": 1 })),
            _ => match record["intent"]["Answer"]["option"].as_str() {
                Some("allow") => ("the write is let through", json!({ "session": 0 })),
                Some("no") => ("the question is answered", json!({ "session": 2 })),
                _ => continue,
            },
        };
        assert_eq!(record["at"], of, "{line}");
        *seen.entry(what).or_default() += 1;
    }
    assert!(seen.remove("a flood").is_some_and(|count| count > 100), "{seen:?}");
    assert_eq!(seen.into_values().collect::<Vec<_>>(), [1; 4]);
    let cwd = root.to_string_lossy().into_owned();
    let (model, skipped) = replay(Model::new(String::new(), cwd, Policy::Ask), root.to_owned(), journal.lines());
    assert_eq!(skipped, 0);
    let said = [0, 1, 2].map(|key| {
        let entries = model.session_of(SessionKey(key)).unwrap().entries().iter();
        let texts = entries.filter_map(|e| if let Body::Agent(m) = &e.body { Some(m.text.as_str()) } else { None });
        texts.collect::<String>()
    });
    assert!(said[1].starts_with("flood flood ") && !said[1].contains("so "));
    assert_eq!([said[0].as_str(), said[2].as_str()], ["so written", "so not"]);
    assert!(model.agent_of(AgentKey(1)).unwrap().is_dead() && model.agent_of(AgentKey(0)).unwrap().is_up());
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_is_handed_over_names_the_agent_that_has_it_as_it_is_known_here() {
    let first = async |mut agent: Agent| {
        agent.opens().await;
        let prompt = agent.called("session/prompt").await;
        agent.says("said here").await;
        agent.ends(&prompt, "end_turn").await;
        agent.stays().await;
    };
    let other = async |mut agent: Agent| {
        agent.opens().await;
        agent.stays().await;
    };
    let person = async |person: Person| {
        person.sees("write a request, Enter sends it").await;
        person.prompts("go").await;
        person.waits_for("the answer", |s| s.contains("said here") && s.contains(" ready ·")).await;
        person.press(Key::alt(Code::Char('h'))).await;
        person.sees("hand the conversation over to").await;
        person.press(Key::plain(Code::Down)).await;
        person.press(Key::plain(Code::Enter)).await;
        person.waits_for("the new session", |s| s.contains("▸2") && s.contains("continues session")).await;
        person.press(Key::ctrl(Code::PageUp)).await;
        let screen = person.sees("handed over to a new session of").await;
        assert!(screen.contains("handed over to a new session of b\n") || screen.contains("session of b "), "{screen}");
        person.quits().await;
        person.quits().await;
    };
    let dir = tempfile::tempdir().unwrap();
    let ended = play_two((100, 30), config(dir.path()), first, other, person).await;
    assert_eq!(ended.exit, Exit::Quit);
}
