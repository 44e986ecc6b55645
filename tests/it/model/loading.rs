//! Sessions that the agent has kept: they exist from the moment they are asked for, and what the agent tells of them
//! before it answers is their history.

use crate::support::{Rig, chunk, options, plain_init, with};
use acp_tui::engine::replay::replay;
use acp_tui::model::Model;
use acp_tui::model::changes::{Gate, ReviewCommand};
use acp_tui::model::effect::Effect;
use acp_tui::model::entry::{Body, UserState};
use acp_tui::model::event::{HostEvent, Intent, Opening};
use acp_tui::model::ids::{AgentKey, SessionKey, TurnId};
use acp_tui::model::session::{Closed, Phase, Policy, Session, SessionState};
use acp_tui::model::setup::Setup;
use acp_tui::model::tool::Mark;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

const SECOND: SessionKey = SessionKey(1);

fn offering(load: bool, resume: bool) -> Value {
    let session = if resume { json!({ "resume": {} }) } else { json!({}) };
    with(plain_init(), json!({ "agentCapabilities": { "loadSession": load, "sessionCapabilities": session } }))
}

/// The first session is open, and a second one is asked for in this way.
fn asked(rig: &mut Rig, init: Value, how: Opening) {
    rig.intent(Intent::Start);
    rig.host(HostEvent::AgentSpawned { pid: 7 });
    rig.answer("initialize", init);
    rig.answer("session/new", json!({ "sessionId": "first" }));
    rig.sent();
    open(rig, how);
}

fn open(rig: &mut Rig, how: Opening) {
    rig.intent_at(AgentKey::FIRST, Intent::OpenSession { cwd: "/old".into(), how });
}

fn load() -> Opening {
    Opening::Load("old".into())
}

fn loading() -> Rig {
    let mut rig = Rig::with_policy(Policy::Ask);
    asked(&mut rig, offering(true, true), load());
    rig
}

fn second(rig: &Rig) -> &Session {
    session(rig, SECOND)
}

fn session(rig: &Rig, key: SessionKey) -> &Session {
    rig.model().session_of(key).unwrap()
}

fn texts(session: &Session) -> Vec<String> {
    let text = |body: &Body| match body {
        Body::User(user) => format!("{:?} {}", user.state, user.text),
        Body::Agent(message) => message.text.clone(),
        Body::Tool(tool) => format!("tool {} {:?}", tool.id, tool.mark),
        Body::Plan(steps) => format!("plan of {}", steps.len()),
        Body::Notice(notice) => format!("! {} {}", notice.title, notice.detail.join(" ")).trim_end().to_owned(),
        other => format!("{other:?}"),
    };
    session.entries().iter().map(|entry| text(&entry.body)).collect()
}

fn tell(rig: &mut Rig, text: &str) {
    rig.update_in("old", chunk("agent_message_chunk", text));
}

#[test]
fn r_140_what_the_agent_does_not_offer_is_refused_with_words_and_not_asked_for() {
    for (how, words) in [(load(), "cannot load"), (Opening::Resume("old".into()), "cannot resume")] {
        let mut rig = Rig::with_policy(Policy::Ask);
        asked(&mut rig, offering(false, false), how);
        assert_eq!(rig.sent_briefly(), [""; 0]);
        assert!(matches!(second(&rig).state, SessionState::Closed(Closed::Refused(_))));
        let told = texts(second(&rig)).join("\n");
        assert!(told.contains(words) && told.contains("Open a new session"), "{told}");
        assert_eq!(rig.model().first().session().state, SessionState::Ready);
    }
}

#[test]
fn r_141_what_comes_before_the_answer_is_the_history_in_its_order() {
    let mut rig = loading();
    assert_eq!(rig.lines.last().unwrap()["method"], "session/load");
    let params = json!({ "sessionId": "old", "cwd": "/old", "mcpServers": [] });
    assert_eq!(rig.lines.last().unwrap()["params"], params);
    assert!(matches!(second(&rig).state, SessionState::Loading { .. }));
    for turn in 0..2 {
        rig.update_in("old", chunk("user_message_chunk", &format!("prompt {turn}")));
        rig.update_in("old", json!({ "sessionUpdate": "plan", "entries": [{ "content": "a" }] }));
        tell(&mut rig, &format!("answer {turn}"));
        // The id comes back in the second turn.
        rig.update_in("old", json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "status": "pending" }));
        if turn == 1 {
            rig.update_in(
                "old",
                json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed" }),
            );
        }
    }
    let history = ["prompt 0", "prompt 1"].map(|prompt| format!("{:?} {prompt}", UserState::FromElsewhere));
    let unfinished = format!("tool t {:?}", Some(Mark::NoFinalStatus));
    let told = [
        &history[0],
        "plan of 1",
        "answer 0",
        &unfinished, //
        &history[1],
        "plan of 1",
        "answer 1",
        "tool t None",
    ];
    assert_eq!(texts(second(&rig)), told, "it is there before the answer");
    rig.answer("session/load", Value::Null);
    assert_eq!(second(&rig).state, SessionState::Ready);
    assert_eq!(texts(second(&rig)), told);
    assert!(second(&rig).entries().iter().all(|entry| entry.finished), "nothing of the past goes on");
    assert_eq!(rig.odd(), 0);
    assert!(texts(rig.model().first().session()).is_empty());
}

/// Else a long history would look like an agent that does not answer.
#[test]
fn an_agent_that_tells_a_history_is_not_silent() {
    let mut rig = loading();
    for _ in 0..3 {
        rig.now += Duration::from_mins(1);
        tell(&mut rig, "more");
        let Phase::Opening { since } = rig.model().at(SECOND).unwrap().phase() else { panic!() };
        assert!(rig.now.saturating_sub(since) < Duration::from_secs(1));
    }
}

#[test]
fn r_145_a_prompt_waits_for_the_answer_and_is_a_turn_of_its_own() {
    let mut rig = loading();
    rig.update_in("old", chunk("user_message_chunk", "before"));
    tell(&mut rig, "answered");
    rig.sent();
    rig.intent_at(SECOND, Intent::Prompt { text: "now".into(), links: Vec::new() });
    assert_eq!(rig.sent_briefly(), [""; 0]);
    rig.answer("session/load", json!({}));
    assert_eq!(rig.sent_briefly(), ["session/prompt"]);
    assert_eq!(rig.lines.last().unwrap()["params"]["sessionId"], "old");
    assert_eq!(second(&rig).turn.as_ref().unwrap().id, TurnId(2));
}

#[test]
fn r_143_what_is_told_of_earlier_is_no_change_of_now() {
    let mut rig = Rig::with_policy(Policy::Ask);
    rig.core.set_up(Setup::Sessions { review: true, gate: Gate::Off, rules: false });
    // The first session is loaded in place of a new one, so that it has a review.
    asked(&mut rig, offering(true, false), load());
    let tool = json!({ "toolCallId": "t", "status": "completed", "kind": "edit",
        "content": [{ "type": "diff", "path": "/old/a", "oldText": "a", "newText": "b" }] });
    rig.wants();
    rig.update_in("first", with(json!({ "sessionUpdate": "tool_call" }), tool.clone()));
    let is_told = |e: &Effect| matches!(e, Effect::Review(ReviewCommand::ToolCall(_)));
    assert!(rig.wants().iter().any(is_told), "the review is told of the calls of now");
    rig.update_in("old", with(json!({ "sessionUpdate": "tool_call" }), tool));
    assert!(!rig.wants().iter().any(is_told));
}

#[test]
fn r_144_r_146_modes_and_options_are_those_of_the_answer_or_else_of_the_history() {
    let option = |value: &str| {
        json!([{ "id": "m", "name": "M", "type": "select", "currentValue": value,
            "options": [{ "value": "x", "name": "X" }, { "value": "y", "name": "Y" }] }])
    };
    let told = |rig: &Rig| (second(rig).options.len(), second(rig).modes.as_ref().map(|modes| modes.current.clone()));
    for (result, expected) in [
        (Value::Null, (1, Some("told".to_owned()))),
        (json!({}), (1, Some("told".into()))),
        (json!({ "configOptions": [] }), (0, Some("told".into()))),
        (
            json!({ "modes": { "currentModeId": "answered", "availableModes": [{ "id": "answered", "name": "A" }] } }),
            (1, Some("answered".into())),
        ),
    ] {
        let mut rig = loading();
        rig.update_in("old", json!({ "sessionUpdate": "config_option_update", "configOptions": option("y") }));
        rig.update_in("old", json!({ "sessionUpdate": "current_mode_update", "currentModeId": "told" }));
        rig.answer("session/load", result.clone());
        assert_eq!(told(&rig), expected, "{result}");
        assert_eq!(second(&rig).state, SessionState::Ready);
    }
}

#[test]
fn r_147_a_load_that_fails_says_what_to_do_loses_nothing_and_opens_no_other() {
    let mut rig = loading();
    tell(&mut rig, "a part of it");
    rig.request(
        5,
        "session/request_permission",
        json!({ "sessionId": "old",
        "toolCall": { "toolCallId": "t", "title": "t" }, "options": options() }),
    );
    rig.intent_at(SECOND, Intent::Prompt { text: "mine".into(), links: Vec::new() });
    rig.sent();
    rig.fail("session/load", json!({ "code": -32002, "message": "Resource not found" }));
    assert_eq!(rig.sent_briefly(), ["5:cancelled"]);
    assert_eq!(rig.returned(), ["mine"]);
    assert!(matches!(second(&rig).state, SessionState::Closed(Closed::Refused(_))));
    let told = texts(second(&rig));
    assert_eq!(told[0], "a part of it");
    let last = told.last().unwrap();
    let words = "the agent has forgotten this session: Resource not found";
    assert!(last.contains(words) && last.contains("opens a new session"), "{last}");
    assert!(!rig.is_dead() && rig.model().first().session().state == SessionState::Ready);
    // It can be asked for again; what comes late for the first try is for nobody.
    tell(&mut rig, "too late");
    assert_eq!(texts(second(&rig)), told);
    open(&mut rig, load());
    rig.answer("session/load", json!({}));
    assert_eq!(session(&rig, SessionKey(2)).state, SessionState::Ready);
}

/// An agent without any other session is not ended for it: a new session can be opened.
#[test]
fn a_load_that_fails_leaves_the_agent_as_it_is() {
    let mut rig = loading();
    rig.intent_at(SessionKey::FIRST, Intent::CloseSession);
    rig.fail("session/load", json!({ "code": -32602, "message": "no" }));
    assert!(rig.model().first().agent().is_up());
    open(&mut rig, Opening::New);
    assert_eq!(rig.sent_briefly().last().unwrap(), "session/new");
}

#[test]
fn a_log_in_in_between_and_a_restart_ask_for_the_same_session_again() {
    let mut rig = loading();
    rig.intent_at(SessionKey::FIRST, Intent::CloseSession);
    rig.sent();
    rig.fail(
        "session/load",
        json!({ "code": -32000, "message": "log in",
        "data": { "authMethods": [{ "id": "web", "name": "Web" }] } }),
    );
    assert_eq!(second(&rig).state, SessionState::Waiting);
    rig.intent(Intent::Authenticate { method: "web".into() });
    rig.sent();
    rig.answer("authenticate", json!({}));
    assert_eq!(rig.sent_briefly(), ["session/load"]);
    tell(&mut rig, "so far");
    rig.intent_at(SessionKey(1), Intent::Restart);
    rig.host(HostEvent::AgentSpawned { pid: 8 });
    rig.answer("initialize", offering(true, true));
    assert_eq!(rig.sent_briefly(), ["initialize", "session/load"]);
    assert!(texts(second(&rig)).iter().any(|entry| entry == "so far"), "nothing is lost");
}

#[test]
fn a_session_that_is_open_already_is_not_opened_twice() {
    let mut rig = loading();
    rig.sent();
    for id in ["old", "first"] {
        open(&mut rig, Opening::Load(id.into()));
    }
    assert_eq!(rig.sent_briefly(), [""; 0]);
    for key in [2, 3] {
        let told = texts(session(&rig, SessionKey(key)));
        assert!(told[0].contains("is open already"), "{told:?}");
    }
    rig.answer("session/load", json!({}));
    assert_eq!(second(&rig).state, SessionState::Ready);
}

#[test]
fn requests_that_name_a_session_that_is_loaded_are_served_at_once() {
    let mut rig = loading();
    rig.request(
        5,
        "session/request_permission",
        json!({ "sessionId": "old",
        "toolCall": { "toolCallId": "t", "title": "t" }, "options": options() }),
    );
    let req = second(&rig).questions()[0].req;
    rig.sent();
    rig.intent_at(SECOND, Intent::Answer { req, option: "yes".into() });
    assert_eq!(rig.sent_briefly(), ["5:selected yes"]);
}

#[test]
fn r_148_r_149_a_resumed_session_says_that_earlier_messages_are_not_shown() {
    let mut rig = Rig::with_policy(Policy::Ask);
    asked(&mut rig, offering(false, true), Opening::Resume("old".into()));
    assert_eq!(rig.lines.last().unwrap()["method"], "session/resume");
    rig.answer("session/resume", Value::Null);
    assert_eq!(second(&rig).state, SessionState::Ready);
    let told = texts(second(&rig));
    assert!(told.len() == 1 && told[0].contains("said in it before is not shown"), "{told:?}");
}

#[test]
fn a_session_that_is_closed_while_it_is_loaded_stays_closed() {
    let mut rig = loading();
    tell(&mut rig, "one");
    rig.intent_at(SECOND, Intent::CloseSession);
    tell(&mut rig, "two");
    rig.answer("session/load", json!({}));
    assert_eq!(second(&rig).state, SessionState::Closed(Closed::ByPerson));
    assert!(second(&rig).entries().is_empty());
}

#[test]
fn a_history_is_the_same_when_the_journal_is_played_back_and_in_other_words() {
    let history = |rig: &mut Rig| {
        asked(rig, offering(true, false), load());
        for n in 0..2000 {
            tell(rig, &format!("{n} "));
        }
        rig.answer("session/load", json!({}));
    };
    let mut rig = Rig::with_policy(Policy::Ask);
    history(&mut rig);
    let expected: String = (0..2000).map(|n| format!("{n} ")).collect();
    assert_eq!(texts(second(&rig)), std::slice::from_ref(&expected));
    let fresh = Model::new("agent --acp".into(), "/project".into(), Policy::Ask);
    let (again, skipped) = replay(fresh, PathBuf::from("/project"), rig.journal.iter().map(String::as_str));
    assert_eq!((texts(again.session_of(SECOND).unwrap()), skipped), (vec![expected.clone()], 0));
    let mut renamed = Rig::renamed();
    history(&mut renamed);
    assert_eq!(texts(second(&renamed)), [expected]);
}

#[test]
fn a_journal_without_how_a_session_was_opened_is_of_a_new_one() {
    let old = r#"{"OpenSession":{"cwd":"/p"}}"#;
    let intent: Intent = serde_json::from_str(old).unwrap();
    assert_eq!(intent, Intent::OpenSession { cwd: "/p".into(), how: Opening::New });
}
