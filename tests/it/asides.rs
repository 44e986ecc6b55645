//! Questions beside a session between an agent and a person: how they are asked, kept, and what is shown of their end.

use crate::support::app::{Agent, Person, play, play_keeping};
use acp_tui::model::draft::{Draft, Place, Sent};
use acp_tui::ui::autosave::DraftStore;
use acp_tui::ui::keys::{Code, Key};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
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

/// Asks beside the session whether it may write, and is told no.
async fn asks_to_write(agent: &mut Agent) {
    let tool = json!({ "toolCallId": "t", "title": "Write notes", "kind": "edit", "status": "pending" });
    let options = [("y", "Yes", "allow_once"), ("n", "No", "reject_once")];
    let options = options.map(|(id, name, kind)| json!({ "optionId": id, "name": name, "kind": kind }));
    let asked = json!({ "sessionId": "beside", "toolCall": tool, "options": options });
    let answer = agent.asks("session/request_permission", asked).await;
    assert_eq!(answer["result"]["outcome"]["optionId"], "n", "{answer}");
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
        asks_to_write(&mut agent).await;
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

/// What is not kept stays nowhere, also where the person leaves before it is thrown away.
#[tokio::test]
async fn what_is_not_kept_is_closed_and_deleted_at_the_end() {
    for is_open in [true, false] {
        let (quit, has_quit) = oneshot::channel();
        let agent = async move |mut agent: Agent| {
            let call = agent.called("initialize").await;
            let capabilities = json!({ "sessionCapabilities": { "close": {}, "delete": {} } });
            agent.answer(&call, json!({ "protocolVersion": 1, "agentCapabilities": capabilities })).await;
            agent.opens_further("s").await;
            let call = agent.called("session/new").await;
            if is_open {
                agent.answer(&call, json!({ "sessionId": "beside" })).await;
                let prompt = agent.called("session/prompt").await;
                agent.says_in("beside", "since it is").await;
                agent.ends(&prompt, "end_turn").await;
            } else {
                has_quit.await.unwrap();
                agent.answer(&call, json!({ "sessionId": "beside" })).await;
            }
            for method in ["session/close", "session/delete"] {
                let call = agent.called(method).await;
                assert_eq!(call["params"]["sessionId"], "beside");
                agent.answer(&call, json!({})).await;
            }
            agent.stays().await;
        };
        let person = async move |person: Person| {
            person.sees("write a request, Enter sends it").await;
            person.prompts("/btw why is it so").await;
            person.sees(if is_open { "since it is" } else { "keeps it" }).await;
            person.quits().await;
            // Where the client has gone nobody waits.
            let _ = quit.send(());
        };
        play(SIZE, agent, person).await;
    }
}

#[tokio::test]
async fn an_answer_that_goes_on_after_something_was_refused_says_that_it_was() {
    let agent = async |mut agent: Agent| {
        agent.opens().await;
        agent.opens_further("beside").await;
        let prompt = agent.called("session/prompt").await;
        asks_to_write(&mut agent).await;
        agent.says_in("beside", "All is written down.").await;
        agent.ends(&prompt, "end_turn").await;
        agent.stays().await;
    };
    let person = async |person: Person| {
        person.sees("write a request, Enter sends it").await;
        person.prompts("/btw why is it so").await;
        person.sees("All is written down.").await;
        let screen = person.sees("Write notes").await;
        assert!(screen.contains("refused"), "{screen}");
        assert!(screen.contains("Esc throws it away · Ctrl+Enter or Alt+S keeps it"), "{screen}");
        person.quits().await;
    };
    play(SIZE, agent, person).await;
}

#[tokio::test]
async fn questions_that_are_kept_are_told_from_one_another_by_what_was_asked() {
    let agent = async |mut agent: Agent| {
        opens(&mut agent).await;
        let prompt = agent.called("session/prompt").await;
        agent.says("it is green").await;
        agent.ends(&prompt, "end_turn").await;
        for id in ["one", "two"] {
            let fork = agent.called("session/fork").await;
            agent.answer(&fork, json!({ "sessionId": id })).await;
            let prompt = agent.called("session/prompt").await;
            let info = json!({ "sessionUpdate": "session_info_update", "title": "what is it like (fork)" });
            let params = json!({ "sessionId": id, "update": info });
            agent.send(json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })).await;
            agent.says_in(id, &format!("answer {id}")).await;
            agent.ends(&prompt, "end_turn").await;
        }
        agent.stays().await;
    };
    let person = async |person: Person| {
        person.sees("write a request, Enter sends it").await;
        person.prompts("what is it like").await;
        person.sees("it is green").await;
        for (question, answer) in [("why is it so", "answer one"), ("whose is it", "answer two")] {
            person.prompts(&format!("/btw {question}")).await;
            person.sees(answer).await;
            person.press(KEEP).await;
            person.sees("kept as a session of its own").await;
        }
        let tabs = |screen: &str| {
            screen.lines().next().is_some_and(|row| row.contains("why is it so") && row.contains("whose is it"))
        };
        person.waits_for("both questions on the line of sessions", tabs).await;
        person.press(Key::plain(Code::F(8))).await;
        person
            .waits_for("both in the list", |screen| {
                screen.contains("“why is it so”") && screen.contains("“whose is it”") && !screen.contains("(fork)")
            })
            .await;
        person.press(Key::plain(Code::Esc)).await;
        person.quits().await;
    };
    play(SIZE, agent, person).await;
}

/// Of sessions by their names, of a directory by the key of the session that it is written in.
#[derive(Default)]
struct Drafts {
    kept: Mutex<BTreeMap<String, Draft>>,
    sent: Mutex<Vec<String>>,
}

fn name(place: &Place) -> String {
    match place {
        Place::Session { id, .. } | Place::Beside { id, .. } => id.clone(),
        Place::Directory { key, .. } => key.0.to_string(),
    }
}

/// What an earlier run has left in the directory.
const LEFT: &str = "left";

impl Drafts {
    /// The run is over.
    fn leave(&self) {
        let mut kept = self.kept.lock().unwrap();
        if let Some(draft) = kept.remove("0") {
            kept.insert(LEFT.into(), draft);
        }
    }
}

impl DraftStore for Drafts {
    fn keep(&self, place: &Place, draft: &Draft) -> Result<(), String> {
        let mut kept = self.kept.lock().unwrap();
        if draft.is_empty() {
            kept.remove(&name(place));
        } else {
            kept.insert(name(place), draft.clone());
        }
        Ok(())
    }

    fn fetch(&self, place: &Place) -> Result<Option<Draft>, String> {
        let mut kept = self.kept.lock().unwrap();
        let left = if matches!(place, Place::Directory { .. }) { kept.remove(LEFT) } else { None };
        Ok(left.or_else(|| kept.get(&name(place)).cloned()))
    }

    fn remember(&self, sent: &Sent) -> Result<(), String> {
        self.sent.lock().unwrap().push(sent.text.to_string());
        Ok(())
    }

    fn prompts(&self) -> Result<Vec<Sent>, String> {
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn a_question_that_was_kept_and_not_sent_is_there_again_at_the_next_start() {
    let drafts = Arc::new(Drafts::default());
    let agent = async |mut agent: Agent| {
        agent.opens().await;
        agent.called("session/new").await;
        agent.stays().await;
    };
    let person = async |person: Person| {
        person.sees("write a request, Enter sends it").await;
        person.prompts("/btw why is it so").await;
        person.sees("keeps it").await;
        person.press(KEEP).await;
        person.sees("kept as a session of its own").await;
        person.quits().await;
    };
    play_keeping(SIZE, drafts.clone(), None, agent, person).await;
    assert_eq!(*drafts.sent.lock().unwrap(), ["/btw why is it so"], "Ctrl+R has it");
    drafts.leave();
    let agent = async |mut agent: Agent| {
        agent.opens().await;
        agent.opens_further("beside").await;
        let prompt = agent.called("session/prompt").await;
        assert!(text(&prompt).ends_with("why is it so"), "{prompt}");
        agent.says_in("beside", "since it is").await;
        agent.ends(&prompt, "end_turn").await;
        agent.stays().await;
    };
    let person = async |person: Person| {
        person.sees("/btw why is it so").await;
        person.press(Key::plain(Code::Enter)).await;
        person.sees("since it is").await;
        person.quits().await;
    };
    play_keeping(SIZE, drafts.clone(), None, agent, person).await;
    assert_eq!(*drafts.kept.lock().unwrap(), BTreeMap::new(), "it was sent");
}

/// The agent has a session in the mode in which the last thing was asked there.
#[tokio::test]
async fn a_question_that_was_kept_has_its_own_mode_again_when_it_goes_on() {
    let drafts = Arc::new(Drafts::default());
    let agent = async |mut agent: Agent| {
        agent.opens().await;
        let call = agent.called("session/new").await;
        agent.answer(&call, json!({ "sessionId": "beside", "modes": modes("agent") })).await;
        let set = agent.called("session/set_mode").await;
        agent.answer(&set, json!({})).await;
        let prompt = agent.called("session/prompt").await;
        agent.says_in("beside", "since it is").await;
        agent.ends(&prompt, "end_turn").await;
        let set = agent.called("session/set_mode").await;
        assert_eq!(set["params"]["modeId"], "agent");
        agent.answer(&set, json!({})).await;
        agent.stays().await;
    };
    let person = async |person: Person| {
        person.sees("write a request, Enter sends it").await;
        person.prompts("/btw why is it so").await;
        person.sees("since it is").await;
        person.press(KEEP).await;
        person.sees("kept as a session of its own").await;
        person.press(Key::ctrl(Code::PageDown)).await;
        person.sees("agent ─").await;
        person.quits().await;
    };
    play_keeping(SIZE, drafts.clone(), None, agent, person).await;
    assert_eq!(drafts.kept.lock().unwrap()["beside"], Draft { mode: "agent".into(), ..Draft::default() });
    for asks in [false, true] {
        let agent = async move |mut agent: Agent| {
            let call = agent.called("initialize").await;
            let capabilities = json!({ "loadSession": true });
            agent.answer(&call, json!({ "protocolVersion": 1, "agentCapabilities": capabilities })).await;
            let load = agent.called("session/load").await;
            agent.answer(&load, json!({ "modes": modes("read-only") })).await;
            let set = agent.called("session/set_mode").await;
            assert_eq!(set["params"], json!({ "sessionId": "beside", "modeId": "agent" }));
            agent.answer(&set, json!({})).await;
            if asks {
                let prompt = agent.called("session/prompt").await;
                agent.says_in("beside", "so it goes on").await;
                agent.ends(&prompt, "end_turn").await;
            }
            agent.stays().await;
        };
        let person = async move |person: Person| {
            let screen = person.sees("agent ─").await;
            assert!(!screen.contains("here again"), "nothing was written: {screen}");
            if asks {
                person.prompts("go on").await;
                person.sees("so it goes on").await;
            }
            person.quits().await;
        };
        play_keeping(SIZE, drafts.clone(), Some("beside"), agent, person).await;
        // From then on the agent has it in that one by itself.
        assert_eq!(drafts.kept.lock().unwrap().contains_key("beside"), !asks);
    }
}
