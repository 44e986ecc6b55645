//! Questions beside a session between an agent and a person: how they are asked, kept, and what is shown of their end.

use crate::support::app::{Agent, Person, play};
use acp_tui::ui::keys::{Code, Key};
use serde_json::{Value, json};
use tokio::sync::oneshot;

const SIZE: (u16, u16) = (120, 40);
const KEEP: Key = Key::alt(Code::Char('s'));

fn modes(now: &str) -> Value {
    let mode = |id: &str| json!({ "id": id, "name": id });
    json!({ "currentModeId": now, "availableModes": [mode("agent"), mode("auto"), mode("read-only")] })
}

/// Opens a session; it can make copies of one.
async fn opens(agent: &mut Agent) {
    let call = agent.called("initialize").await;
    let capabilities = json!({ "sessionCapabilities": { "fork": {} } });
    agent.answer(&call, json!({ "protocolVersion": 1, "agentCapabilities": capabilities })).await;
    agent.opens_further("s").await;
}

async fn refuses(agent: &mut Agent, call: &Value) {
    let error = json!({ "code": -32603, "message": "no rollout found" });
    agent.send(json!({ "jsonrpc": "2.0", "id": call["id"], "error": error })).await;
}

fn text(prompt: &Value) -> &str {
    prompt["params"]["prompt"][0]["text"].as_str().unwrap()
}

#[tokio::test]
async fn a_question_that_is_kept_before_it_was_sent_is_answered_in_the_mode_that_only_reads() {
    let (kept, is_kept) = oneshot::channel();
    let (done, is_done) = oneshot::channel();
    let agent = async move |mut agent: Agent| {
        agent.opens().await;
        let call = agent.called("session/new").await;
        is_kept.await.unwrap();
        agent.answer(&call, json!({ "sessionId": "beside", "modes": modes("agent") })).await;
        let set = agent.called("session/set_mode").await;
        assert_eq!(set["params"], json!({ "sessionId": "beside", "modeId": "read-only" }));
        agent.answer(&set, json!({})).await;
        let prompt = agent.called("session/prompt").await;
        assert!(text(&prompt).contains("why is it so"), "{prompt}");
        agent.says_in("beside", "since it is").await;
        agent.ends(&prompt, "end_turn").await;
        let set = agent.called("session/set_mode").await;
        assert_eq!(set["params"], json!({ "sessionId": "beside", "modeId": "agent" }));
        agent.answer(&set, json!({})).await;
        done.send(()).unwrap();
        agent.stays().await;
    };
    let person = async move |person: Person| {
        person.sees("write a request, Enter sends it").await;
        person.prompts("/btw why is it so").await;
        person.sees("keeps it").await;
        person.press(KEEP).await;
        person.sees("kept as a session of its own").await;
        kept.send(()).unwrap();
        is_done.await.unwrap();
        person.press(Key::ctrl(Code::PageDown)).await;
        person.sees("since it is").await;
        person.quits().await;
    };
    play(SIZE, agent, person).await;
}

#[tokio::test]
async fn one_that_is_kept_while_it_is_answered_gets_its_own_mode_when_that_is_over() {
    let (kept, is_kept) = oneshot::channel();
    let (done, is_done) = oneshot::channel();
    let agent = async move |mut agent: Agent| {
        agent.opens().await;
        let call = agent.called("session/new").await;
        agent.answer(&call, json!({ "sessionId": "beside", "modes": modes("agent") })).await;
        let set = agent.called("session/set_mode").await;
        agent.answer(&set, json!({})).await;
        let prompt = agent.called("session/prompt").await;
        agent.says_in("beside", "since it").await;
        is_kept.await.unwrap();
        // Nothing was sent but the answer to this.
        agent.asks("_nothing", json!({})).await;
        agent.says_in("beside", " is").await;
        agent.ends(&prompt, "end_turn").await;
        let set = agent.called("session/set_mode").await;
        assert_eq!(set["params"], json!({ "sessionId": "beside", "modeId": "agent" }));
        agent.answer(&set, json!({})).await;
        done.send(()).unwrap();
        agent.stays().await;
    };
    let person = async move |person: Person| {
        person.sees("write a request, Enter sends it").await;
        person.prompts("/btw why is it so").await;
        person.sees("since it").await;
        person.press(KEEP).await;
        person.sees("kept as a session of its own").await;
        kept.send(()).unwrap();
        is_done.await.unwrap();
        person.quits().await;
    };
    play(SIZE, agent, person).await;
}

#[tokio::test]
async fn a_mode_that_was_chosen_while_a_kept_question_was_answered_stays() {
    let (kept, is_kept) = oneshot::channel();
    let agent = async move |mut agent: Agent| {
        agent.opens().await;
        let call = agent.called("session/new").await;
        agent.answer(&call, json!({ "sessionId": "beside", "modes": modes("agent") })).await;
        let set = agent.called("session/set_mode").await;
        agent.answer(&set, json!({})).await;
        let prompt = agent.called("session/prompt").await;
        agent.says_in("beside", "since it is").await;
        is_kept.await.unwrap();
        let update = json!({ "sessionUpdate": "current_mode_update", "currentModeId": "auto" });
        let params = json!({ "sessionId": "beside", "update": update });
        agent.send(json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })).await;
        agent.ends(&prompt, "end_turn").await;
        let prompt = agent.called("session/prompt").await;
        assert_eq!((text(&prompt), &prompt["params"]["sessionId"]), ("go on", &json!("s")));
        agent.says("I go on").await;
        agent.ends(&prompt, "end_turn").await;
        agent.stays().await;
    };
    let person = async move |person: Person| {
        person.sees("write a request, Enter sends it").await;
        person.prompts("/btw why is it so").await;
        person.sees("since it is").await;
        person.press(KEEP).await;
        person.sees("kept as a session of its own").await;
        kept.send(()).unwrap();
        person.prompts("go on").await;
        person.sees("I go on").await;
        person.quits().await;
    };
    play(SIZE, agent, person).await;
}

#[tokio::test]
async fn of_a_conversation_in_which_nothing_was_said_no_copy_is_asked_for_and_no_account_given() {
    let agent = async |mut agent: Agent| {
        opens(&mut agent).await;
        agent.opens_further("beside").await;
        let prompt = agent.called("session/prompt").await;
        assert!(text(&prompt).starts_with("A side question"), "{prompt}");
        agent.says_in("beside", "since it is").await;
        agent.ends(&prompt, "end_turn").await;
        agent.stays().await;
    };
    let person = async |person: Person| {
        person.sees("write a request, Enter sends it").await;
        person.prompts("/btw why is it so").await;
        person.sees("since it is").await;
        person.quits().await;
    };
    play(SIZE, agent, person).await;
}

#[tokio::test]
async fn where_an_agent_makes_no_copy_the_question_goes_with_an_account_into_a_new_session() {
    let agent = async |mut agent: Agent| {
        opens(&mut agent).await;
        let prompt = agent.called("session/prompt").await;
        agent.says("it is green").await;
        agent.ends(&prompt, "end_turn").await;
        let fork = agent.called("session/fork").await;
        refuses(&mut agent, &fork).await;
        agent.opens_further("beside").await;
        let prompt = agent.called("session/prompt").await;
        let asked = text(&prompt);
        assert!(asked.contains("> it is green") && asked.ends_with("why is it so"), "{asked}");
        agent.says_in("beside", "since it is").await;
        agent.ends(&prompt, "end_turn").await;
        // It is asked once more, and refused for good.
        let fork = agent.called("session/fork").await;
        refuses(&mut agent, &fork).await;
        let new = agent.called("session/new").await;
        refuses(&mut agent, &new).await;
        agent.stays().await;
    };
    let person = async |person: Person| {
        person.sees("write a request, Enter sends it").await;
        person.prompts("what is it like").await;
        person.sees("it is green").await;
        person.prompts("/btw why is it so").await;
        let screen = person.sees("since it is").await;
        assert!(!screen.contains("rollout"), "{screen}");
        person.press(Key::plain(Code::Esc)).await;
        person.prompts("/btw why is it so").await;
        person.sees("session/new failed: no rollout found").await;
        person.quits().await;
    };
    play(SIZE, agent, person).await;
}

#[tokio::test]
async fn an_answer_says_how_it_ended_and_until_then_that_it_goes_on() {
    let (seen, is_seen) = oneshot::channel();
    let agent = async move |mut agent: Agent| {
        agent.opens().await;
        agent.opens_further("beside").await;
        let prompt = agent.called("session/prompt").await;
        agent.says_in("beside", "I write it down.").await;
        is_seen.await.unwrap();
        let tool = json!({ "toolCallId": "t", "title": "Write notes", "kind": "edit", "status": "pending" });
        let options = [("y", "Yes", "allow_once"), ("n", "No", "reject_once")];
        let options = options.map(|(id, name, kind)| json!({ "optionId": id, "name": name, "kind": kind }));
        let asked = json!({ "sessionId": "beside", "toolCall": tool, "options": options });
        let answer = agent.asks("session/request_permission", asked).await;
        assert_eq!(answer["result"]["outcome"]["optionId"], "n", "{answer}");
        agent.ends(&prompt, "cancelled").await;
        agent.stays().await;
    };
    let person = async move |person: Person| {
        person.sees("write a request, Enter sends it").await;
        person.prompts("/btw why is it so").await;
        let goes_on = |screen: &str| {
            let mut rows = screen.lines().skip_while(|row| !row.contains("I write it down."));
            rows.nth(1).is_some_and(|row| row.trim() == "…")
        };
        person.waits_for("that it goes on", goes_on).await;
        seen.send(()).unwrap();
        let screen = person.sees("stopped by the agent").await;
        assert!(screen.contains("Write notes"), "{screen}");
        assert!(!goes_on(&screen), "{screen}");
        person.quits().await;
    };
    play(SIZE, agent, person).await;
}
