//! A history that is told again although it is shown: nothing is doubled, nothing is lost.

use crate::support::{Rig, chunk, exit_code, plain_init, with};
use acp_tui::engine::replay::replay;
use acp_tui::model::Model;
use acp_tui::model::event::{HostEvent, Intent, Opening, QueueAct, Timer};
use acp_tui::model::ids::TurnId;
use acp_tui::model::session::{Policy, SessionState};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

/// A session that was opened by an agent which says this of its sessions.
fn opened(session: Value) -> Rig {
    let mut rig = Rig::with_policy(Policy::Ask);
    rig.intent(Intent::Start);
    rig.host(HostEvent::AgentSpawned { pid: 7 });
    rig.answer("initialize", init(session));
    rig.answer("session/new", json!({ "sessionId": "s" }));
    rig
}

fn init(session: Value) -> Value {
    let load = session.is_null();
    with(plain_init(), json!({ "agentCapabilities": { "loadSession": load, "sessionCapabilities": session } }))
}

fn say(rig: &mut Rig, kind: &str, text: &str) {
    rig.update_in("s", chunk(kind, text));
}

fn tool(rig: &mut Rig, id: &str, status: &str) {
    rig.update_in("s", json!({ "sessionUpdate": "tool_call", "toolCallId": id, "title": id, "status": status }));
}

/// Two turns were had, the second one was cut off by the end of the agent, and the agent is started again.
fn again(session: Value) -> Rig {
    let mut rig = opened(session.clone());
    rig.prompt("one");
    say(&mut rig, "agent_thought_chunk", "thinking aloud");
    say(&mut rig, "agent_message_chunk", "Hel");
    say(&mut rig, "agent_message_chunk", "lo.\n");
    tool(&mut rig, "t1", "completed");
    say(&mut rig, "agent_message_chunk", "Done.");
    rig.stop("end_turn");
    rig.prompt("two");
    say(&mut rig, "agent_message_chunk", "Half of");
    rig.exited(exit_code(1), &[]);
    rig.intent(Intent::Restart);
    rig.host(HostEvent::AgentSpawned { pid: 8 });
    rig.sent();
    rig.answer("initialize", init(session));
    rig
}

/// The first turn, as other agents tell it: in other pieces, without what was thought.
fn tell_one(rig: &mut Rig) {
    say(rig, "user_message_chunk", "one");
    say(rig, "agent_message_chunk", "Hello.");
    tool(rig, "t1", "completed");
    say(rig, "agent_message_chunk", " Done.");
}

fn shown(rig: &Rig) -> Vec<String> {
    let all = rig.entries();
    all.into_iter().filter(|entry| !entry.starts_with("Info") && !entry.starts_with("Error")).collect()
}

#[test]
fn r_059_r_142_a_session_that_is_loaded_after_a_death_is_not_shown_twice() {
    let mut rig = again(Value::Null);
    assert_eq!(rig.sent_briefly(), ["session/load"]);
    let before = shown(&rig);
    tell_one(&mut rig);
    assert_eq!(shown(&rig), before, "the old one is shown until the new one is whole");
    say(&mut rig, "user_message_chunk", "two");
    say(&mut rig, "agent_message_chunk", "Half of it, and the rest.");
    tool(&mut rig, "t2", "completed");
    rig.answer("session/load", json!({}));
    let after = shown(&rig);
    assert_eq!(after[..before.len() - 1], before[..before.len() - 1]);
    assert!(after[before.len() - 1].contains("Half of it, and the rest."), "{after:?}");
    assert_eq!(after.len(), before.len() + 1, "{after:?}");
    assert!(after.last().unwrap().contains("t2"));
    rig.prompt("three");
    assert_eq!(rig.model().first().session().turn.as_ref().unwrap().id, TurnId(3), "no turn is counted twice");
}

#[test]
fn what_was_said_elsewhere_meanwhile_is_added_behind_what_is_shown() {
    let mut rig = again(Value::Null);
    let before = shown(&rig);
    tell_one(&mut rig);
    say(&mut rig, "user_message_chunk", "two");
    say(&mut rig, "agent_message_chunk", "Half of");
    say(&mut rig, "user_message_chunk", "from another window");
    say(&mut rig, "agent_message_chunk", "and its answer");
    rig.answer("session/load", json!({}));
    let after = shown(&rig);
    assert_eq!(after[..before.len()], before);
    assert!(after.len() == before.len() + 2 && after[before.len()].contains("another window"), "{after:?}");
}

/// Texts of the agent's own that come as prompts, and results of calls that do.
#[test]
fn what_an_agent_tells_besides_as_prompts_is_not_shown_when_it_brings_nothing_new() {
    let mut rig = again(Value::Null);
    let before = shown(&rig);
    say(&mut rig, "user_message_chunk", "<context> the rules of the house");
    say(&mut rig, "user_message_chunk", "\n");
    tell_one(&mut rig);
    say(&mut rig, "user_message_chunk", "[result of t1]");
    say(&mut rig, "agent_message_chunk", "Done.");
    say(&mut rig, "user_message_chunk", "two");
    say(&mut rig, "agent_message_chunk", "Half of");
    rig.answer("session/load", json!({}));
    assert_eq!(shown(&rig), before);
}

/// As Gemini CLI tells a history: its own text and the first prompt are pieces of one message without an id, calls have
/// other ids, and joiners are lost.
#[test]
fn a_prompt_behind_a_text_of_the_agent_other_ids_and_lost_joiners_make_no_second_copy() {
    let mut rig = opened(Value::Null);
    rig.prompt("one");
    say(&mut rig, "agent_message_chunk", "A family: \u{1f468}\u{200d}\u{1f469}.");
    tool(&mut rig, "call", "completed");
    rig.update_in("s", json!({ "sessionUpdate": "tool_call_update", "toolCallId": "call", "title": "Read a" }));
    rig.stop("end_turn");
    let before = shown(&rig);
    for pid in [8, 9] {
        rig.exited(exit_code(1), &[]);
        rig.intent(Intent::Restart);
        rig.host(HostEvent::AgentSpawned { pid });
        rig.answer("initialize", init(Value::Null));
        say(&mut rig, "user_message_chunk", "<session_context>\nToday is Monday.\n</session_context>");
        say(&mut rig, "user_message_chunk", "one");
        say(&mut rig, "agent_message_chunk", "A family: \u{1f468}\u{1f469}.");
        tool(&mut rig, &format!("other-{pid}"), "completed");
        rig.update_in(
            "s",
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": format!("other-{pid}"), "title": "Read a" }),
        );
        rig.answer("session/load", json!({}));
        assert_eq!(shown(&rig), before, "{pid}");
    }
    assert!(!rig.has_entry("differently"));
}

#[test]
fn a_prompt_that_a_longer_one_holds_is_known_again() {
    for told in ["<rules>do this</rules>\ntwo", "<query>please mend the roof</query><env>linux</env>"] {
        let mut rig = opened(Value::Null);
        rig.prompt(if told.contains("roof") { "please mend the roof" } else { "two" });
        say(&mut rig, "agent_message_chunk", "It is done.");
        rig.stop("end_turn");
        rig.exited(exit_code(1), &[]);
        rig.intent(Intent::Restart);
        rig.host(HostEvent::AgentSpawned { pid: 8 });
        rig.answer("initialize", init(Value::Null));
        let before = shown(&rig);
        say(&mut rig, "user_message_chunk", told);
        say(&mut rig, "agent_message_chunk", "It is done.");
        rig.answer("session/load", json!({}));
        assert_eq!(shown(&rig), before, "{told}");
    }
}

/// In doubt it is one line, however often it is told, and never a second copy.
#[test]
fn what_is_told_in_other_words_is_one_line() {
    let mut rig = again(Value::Null);
    let before = shown(&rig);
    for pid in [9, 10] {
        say(&mut rig, "user_message_chunk", "<context> of the house");
        say(&mut rig, "agent_message_chunk", "I have read the context.");
        tell_one(&mut rig);
        say(&mut rig, "user_message_chunk", "two");
        say(&mut rig, "agent_message_chunk", "Half of");
        rig.answer("session/load", json!({}));
        assert_eq!(shown(&rig), before);
        let lines = rig.entries();
        let told: Vec<&String> =
            lines.iter().filter(|line| line.contains("tells 2 earlier messages differently")).collect();
        assert_eq!(told.len(), 1, "{lines:?}");
        rig.exited(exit_code(1), &[]);
        rig.intent(Intent::Restart);
        rig.host(HostEvent::AgentSpawned { pid });
        rig.answer("initialize", init(Value::Null));
    }
}

#[test]
fn an_answer_told_in_other_words_is_no_second_answer() {
    let mut rig = opened(Value::Null);
    rig.prompt("one");
    say(&mut rig, "agent_message_chunk", "The roof was mended with ten new tiles today.");
    rig.stop("end_turn");
    rig.exited(exit_code(1), &[]);
    rig.intent(Intent::Restart);
    rig.host(HostEvent::AgentSpawned { pid: 8 });
    rig.answer("initialize", init(Value::Null));
    let before = shown(&rig);
    say(&mut rig, "user_message_chunk", "one");
    say(&mut rig, "agent_message_chunk", "The roof was mended with 10 new tiles today.");
    rig.answer("session/load", json!({}));
    assert_eq!(shown(&rig), before);
    assert!(rig.has_entry("tells 1 earlier message differently"), "{:?}", rig.entries());
}

#[test]
fn a_load_that_breaks_off_keeps_what_is_shown_and_what_came() {
    for fails in [true, false] {
        let mut rig = again(Value::Null);
        let before = shown(&rig);
        tell_one(&mut rig);
        say(&mut rig, "user_message_chunk", "from another window");
        say(&mut rig, "agent_message_chunk", "and its ans");
        if fails {
            rig.fail("session/load", json!({ "code": -32603, "message": "no" }));
        } else {
            rig.exited(exit_code(1), &[]);
        }
        let after = shown(&rig);
        assert_eq!(after[..before.len()], before);
        assert!(after.last().unwrap().contains("and its ans"), "{after:?}");
    }
}

#[test]
fn a_session_that_is_loaded_after_a_death_says_that_it_goes_on() {
    let mut rig = again(Value::Null);
    assert_eq!(rig.sent_briefly(), ["session/load"]);
    tell_one(&mut rig);
    assert!(!rig.has_entry("the session goes on"));
    rig.answer("session/load", json!({}));
    assert!(rig.has_entry("the session goes on"), "{:?}", rig.entries());
}

#[test]
fn a_session_that_can_be_resumed_goes_on_without_its_history() {
    let mut rig = again(json!({ "resume": {} }));
    assert_eq!(rig.sent_briefly(), ["session/resume"]);
    let before = shown(&rig);
    rig.answer("session/resume", json!({}));
    assert_eq!(shown(&rig), before);
    assert!(rig.has_entry("the session goes on") && !rig.has_entry("is not shown"));
}

#[test]
fn an_agent_that_has_forgotten_the_session_is_asked_for_a_new_one_by_the_person_only() {
    let mut rig = again(Value::Null);
    rig.sent();
    rig.fail("session/load", json!({ "code": -32002, "message": "gone" }));
    assert_eq!(rig.sent_briefly(), [""; 0]);
    assert!(rig.has_entry("the agent has forgotten this session: gone"));
    rig.intent(Intent::Restart);
    assert_eq!(rig.sent_briefly(), ["session/new"]);
    assert!(rig.has_entry("nothing of what is above is known"), "{:?}", rig.entries());
}

/// What was written for one conversation is sent in no other by itself.
#[test]
fn a_prompt_that_waits_for_a_session_that_was_forgotten_is_not_sent_in_a_new_one() {
    for dies in [false, true] {
        let mut rig = again(Value::Null);
        rig.fail("session/load", json!({ "code": -32002, "message": "gone" }));
        rig.prompt("for the old one");
        rig.sent();
        if dies {
            rig.exited(exit_code(1), &[]);
            assert_eq!(rig.model().first().agent().revival, None, "it begins nothing by itself");
        }
        rig.intent(Intent::Restart);
        if dies {
            rig.host(HostEvent::AgentSpawned { pid: 9 });
            rig.answer("initialize", init(Value::Null));
        }
        rig.answer("session/new", json!({ "sessionId": "t" }));
        let session = rig.model().first().session();
        assert_eq!((session.state.clone(), session.held.staying()), (SessionState::Ready, 1), "{dies}");
        assert!(rig.has_entry("is not sent in another by itself"), "{:?}", rig.entries());
        rig.sent();
        rig.intent(Intent::Queue(QueueAct::LetGo));
        assert_eq!(rig.sent_briefly(), ["session/prompt"], "{dies}");
    }
}

#[test]
fn a_session_in_which_nothing_was_said_is_a_new_one_after_a_death() {
    let mut rig = opened(Value::Null);
    rig.exited(exit_code(1), &[]);
    rig.intent(Intent::Restart);
    rig.host(HostEvent::AgentSpawned { pid: 8 });
    rig.sent();
    rig.answer("initialize", init(Value::Null));
    assert_eq!(rig.sent_briefly(), ["session/new"]);
}

/// By the protocol the history is whole when the call is answered; there are agents that answer first.
#[test]
fn a_history_that_is_told_behind_the_answer_is_history_all_the_same() {
    let mut rig = Rig::with_policy(Policy::Ask);
    rig.intent(Intent::OpenAs(Opening::Load("s".into())));
    rig.intent(Intent::Start);
    rig.host(HostEvent::AgentSpawned { pid: 7 });
    rig.answer("initialize", init(Value::Null));
    rig.prompt("mine");
    rig.sent();
    say(&mut rig, "user_message_chunk", "<context>");
    rig.answer("session/load", json!({}));
    say(&mut rig, "user_message_chunk", " of it");
    say(&mut rig, "agent_message_chunk", "said before");
    rig.now += Duration::from_millis(200);
    say(&mut rig, "agent_message_chunk", ", all of it");
    rig.now += Duration::from_millis(200);
    rig.timer(Timer::History);
    assert_eq!(rig.sent_briefly(), [""; 0], "it was not silent for long enough");
    assert!(matches!(rig.model().first().session().state, SessionState::Loading { .. }));
    rig.now += Duration::from_millis(200);
    rig.timer(Timer::History);
    assert_eq!(rig.sent_briefly(), ["session/prompt"]);
    assert_eq!(shown(&rig).len(), 3, "{:?}", shown(&rig));
    rig.timer(Timer::History);
    assert_eq!(rig.sent_briefly(), [""; 0]);
}

#[test]
fn what_was_told_again_is_the_same_when_the_journal_is_played_back() {
    let mut rig = again(Value::Null);
    tell_one(&mut rig);
    say(&mut rig, "user_message_chunk", "new");
    say(&mut rig, "agent_message_chunk", "answer");
    rig.answer("session/load", json!({}));
    let fresh = Model::new("agent --acp".into(), "/project".into(), Policy::Ask);
    let (model, skipped) = replay(fresh, PathBuf::from("/project"), rig.journal.iter().map(String::as_str));
    assert_eq!((crate::support::render(&model), skipped), (rig.entries(), 0));
}
