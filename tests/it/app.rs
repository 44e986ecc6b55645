//! The whole client between an agent in this program and a person without a terminal, while the clock stands still.

use crate::support::app::{Agent, Person, play};
use crate::support::options;
use acp_tui::engine::wait::Signal;
use acp_tui::ui::keys::{Code, Key};
use acp_tui::ui::run::Exit;
use serde_json::json;
use std::time::Duration;

const SIZE: (u16, u16) = (80, 24);
/// Longer than keys are ignored after the dock got the focus.
const ARMED: Duration = Duration::from_millis(400);

/// Opens a session and waits.
async fn idle(mut agent: Agent) {
    agent.opens().await;
    agent.stays().await;
}

#[tokio::test(start_paused = true)]
async fn a_prompt_a_question_and_the_end() {
    let agent = async |mut agent: Agent| {
        agent.opens().await;
        let prompt = agent.called("session/prompt").await;
        assert_eq!(prompt["params"]["prompt"][0]["text"], "make it");
        agent.says("I shall ask first.").await;
        let call = json!({ "toolCallId": "t", "title": "Make it" });
        let params = json!({ "sessionId": "s", "toolCall": call, "options": options() });
        let answer = agent.asks("session/request_permission", params).await;
        assert_eq!(answer["result"]["outcome"], json!({ "outcome": "selected", "optionId": "no" }));
        agent.says(" Then not.").await;
        agent.ends(&prompt, "end_turn").await;
        agent.stays().await;
    };
    let person = async |person: Person| {
        person.sees("write a request, Enter sends it").await;
        person.prompts("make it").await;
        let screen = person.sees("2 Reject").await;
        assert!(screen.contains("I shall ask first.") && screen.contains("waiting for you"), "{screen}");
        assert!(person.glass.title().contains("waiting for you"), "{}", person.glass.title());
        person.types("2").await;
        person.sees("❯ 2").await;
        person.press(Key::plain(Code::Backspace)).await;
        person.press(Key::plain(Code::Tab)).await;
        person.pass(ARMED).await;
        person.types("2").await;
        let screen = person.waits_for("the end", |s| s.contains("Then not.") && s.contains("ready · F1 keys")).await;
        assert!(!screen.contains("2 Reject") && screen.contains("make it"), "{screen}");
        person.quits().await;
    };
    let (ended, first) = play(SIZE, agent, person).await;
    assert_eq!(ended.exit, Exit::Quit);
    assert!(first.contains('❯') && first.contains("starting"), "before anything of the agent:\n{first}");
}

#[tokio::test(start_paused = true)]
async fn an_idle_screen_is_never_drawn_again() {
    let person = async |person: Person| {
        person.sees("write a request, Enter sends it").await;
        let bytes = person.glass.bytes();
        person.pass(Duration::from_hours(1)).await;
        assert_eq!(person.glass.bytes(), bytes, "nothing has happened in an hour");
        person.resizes(60, 20).await;
        person.waits_for("a frame of the new size", |screen| screen.lines().count() == 20).await;
        person.quits().await;
    };
    let (ended, _) = play(SIZE, idle, person).await;
    assert_eq!(ended.exit, Exit::Quit);
}

#[tokio::test(start_paused = true)]
async fn a_signal_and_a_terminal_that_goes_away_end_the_client() {
    let person = async |person: Person| {
        person.sees("write a request").await;
        person.signals(Signal::Hangup).await;
    };
    assert_eq!(play(SIZE, idle, person).await.0.exit, Exit::Signal(Signal::Hangup));
    let person = async |person: Person| drop(person.sees("write a request").await);
    assert_eq!(play(SIZE, idle, person).await.0.exit, Exit::TerminalGone);
}
