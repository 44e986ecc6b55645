//! Two agents and three sessions on one screen: a flood in one, a question in another, a death, and a person who types.

use crate::support::app::{Agent, Person, play_two};
use crate::support::options;
use acp_tui::ui::keys::{Code, Key};
use acp_tui::ui::run::Exit;
use serde_json::json;
use std::cell::Cell;
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

#[tokio::test(start_paused = true)]
async fn a_flood_a_question_and_a_death_are_drawn_where_they_are_and_keys_are_answered() {
    let (dies, said) = (Rc::new(Cell::new(false)), Rc::new(Cell::new(0)));
    let asks = async |mut agent: Agent| {
        agent.opens().await;
        agent.opens_further("t").await;
        let prompt = agent.called("session/prompt").await;
        assert_eq!(prompt["params"]["sessionId"], "t");
        let tool = json!({ "toolCallId": "c", "title": "Dangerous" });
        let params = json!({ "sessionId": "t", "toolCall": tool, "options": options() });
        let answer = agent.asks("session/request_permission", params).await;
        assert_eq!(answer["result"]["outcome"], json!({ "outcome": "selected", "optionId": "no" }));
        agent.says_in("t", "so not").await;
        agent.ends(&prompt, "end_turn").await;
        agent.stays().await;
    };
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
        opens(&person, None, "▸3").await;
        let before = said.get();
        is_answered(&person, "beside").await;
        person.prompts("and you").await;
        let screen = person.sees("Dangerous").await;
        assert!(!screen.contains("flood"), "the third session's own:\n{screen}");
        person.press(Key::ctrl(Code::PageDown)).await;
        let screen = person.waits_for("the first session", |s| s.contains("▸1")).await;
        let tabs = screen.lines().next().unwrap();
        assert!(tabs.contains("waits for you") && tabs.contains("works") && !screen.contains("Dangerous"), "{screen}");
        is_answered(&person, "asking").await;
        person.press(Key::ctrl(Code::PageUp)).await;
        person.sees("2 n Reject").await;
        person.press(Key::plain(Code::Tab)).await;
        person.pass(Duration::from_millis(800)).await;
        person.types("2").await;
        person.sees("so not").await;
        assert!(said.get() > before, "the flood goes on");
        dies.set(true);
        person.waits_for("the death, in the line of sessions", |s| s.lines().next().unwrap().contains("died")).await;
        is_answered(&person, "alone").await;
        person.quits().await;
        person.quits().await;
    };
    let ended = play_two((100, 30), asks, floods, person).await;
    assert_eq!(ended.exit, Exit::Quit);
}
