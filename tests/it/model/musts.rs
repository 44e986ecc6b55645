//! Requirements of version 1 that are small and stand alone: log-in, sessions, commands, histories.

use crate::support::{Rig, SESSION, chunk, exit_code, plain_init, second_init, with};
use acp_tui::agent::codec;
use acp_tui::model::auth_status::AuthState;
use acp_tui::model::entry::Body;
use acp_tui::model::event::{Can, HostEvent, Intent, Opening, Protocol};
use acp_tui::model::ids::{AgentKey, SessionKey};
use acp_tui::model::session::{Phase, Policy, SessionState};
use acp_tui::model::setup::Setup;
use serde_json::{Value, json};

const SECOND: SessionKey = SessionKey(1);

/// An agent with two ways to log in has refused a session.
fn refused() -> Rig {
    let methods = json!([{ "id": "web", "name": "Web" }, { "id": "key", "name": "Key" }]);
    let mut rig = Rig::initialized(with(plain_init(), json!({ "authMethods": methods })));
    rig.fail("session/new", json!({ "code": -32000, "message": "visit https://a.example, code 1234" }));
    rig.sent();
    rig
}

/// One session is open with an agent that offers what is kept.
fn open(more: Value) -> Rig {
    let offers = json!({ "loadSession": true, "sessionCapabilities": { "list": {}, "close": {}, "delete": {} } });
    let mut rig = Rig::initialized(with(plain_init(), json!({ "agentCapabilities": with(offers, more) })));
    rig.answer("session/new", json!({ "sessionId": SESSION }));
    rig.sent();
    rig
}

fn commands(list: Value) -> Value {
    json!({ "sessionUpdate": "available_commands_update", "availableCommands": list })
}

fn names(rig: &Rig) -> Vec<&str> {
    rig.model().first().session().commands.iter().map(|command| command.name.as_str()).collect()
}

#[test]
fn r_105_r_107_a_log_in_bears_no_secret_and_one_that_fails_leaves_the_others() {
    let mut rig = refused();
    rig.intent(Intent::Authenticate { method: "web".into() });
    assert_eq!(rig.sent()[0]["params"], json!({ "methodId": "web" }));
    rig.fail("authenticate", json!({ "code": -32603, "message": "the page was closed" }));
    assert!(rig.has_entry("the log-in did not work: the page was closed"), "{:?}", rig.entries());
    assert_eq!(rig.model().first().phase(), Phase::AuthNeeded);
    rig.intent(Intent::Authenticate { method: "key".into() });
    assert_eq!(rig.sent()[0]["params"], json!({ "methodId": "key" }));
    rig.answer("authenticate", json!({}));
    rig.answer("session/new", json!({ "sessionId": SESSION }));
    assert_eq!(rig.model().first().phase(), Phase::Ready);
}

/// One that offers this, with or without the setting.
fn telling(caps: Value, is_unstable: bool, version: u16) -> Rig {
    let mut rig = Rig::with_policy(Policy::Ask);
    rig.core.set_up(Setup::Unstable(is_unstable));
    if version == 2 {
        rig.core.speak(codec::first(Protocol::Two), false);
    }
    rig.intent(Intent::Start);
    rig.host(HostEvent::AgentSpawned { pid: 7 });
    let init = match version {
        1 => with(plain_init(), json!({ "agentCapabilities": caps })),
        _ => with(second_init(), json!({ "capabilities": with(json!({ "session": {} }), caps) })),
    };
    rig.answer("initialize", init);
    rig
}

fn status(rig: &Rig) -> Option<(AuthState, Vec<&str>)> {
    let status = rig.model().first().agent().auth_status.as_ref()?;
    Some((status.state, status.accounts.iter().map(|account| account.label.as_str()).collect()))
}

fn told(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

#[test]
fn r_120_v2_020_who_is_logged_in_is_asked_where_that_is_offered_and_wanted() {
    for version in [1, 2] {
        for (offered, is_unstable, asks) in [
            (json!({ "status": {} }), true, true),
            (json!({ "status": {} }), false, false),
            (json!({ "status": true }), true, false),
            (json!({}), true, false),
        ] {
            let mut rig = telling(json!({ "auth": offered }), is_unstable, version);
            let asked = rig.sent_briefly().iter().any(|line| line == "auth/status");
            assert_eq!(asked, asks, "{version} {offered} {is_unstable}");
            rig.intent(Intent::AskAuthStatus);
            assert_eq!(!rig.sent().is_empty(), asks);
        }
        // An error is no log-in that is wanted.
        let mut rig = telling(json!({ "auth": { "status": {} } }), true, version);
        rig.fail("auth/status", json!({ "code": -32000, "message": "log in" }));
        assert!(rig.model().first().agent().log_in.is_none() && status(&rig).is_none());
        rig.answer("session/new", json!({ "sessionId": SESSION }));
        assert_eq!(rig.model().first().phase(), Phase::Ready);
    }
}

#[test]
fn r_123_what_is_told_replaces_what_was_shown_at_any_time() {
    for version in [1, 2] {
        let mut rig = telling(json!({ "auth": { "status": {} } }), true, version);
        let one = |label: &str| json!({ "state": "authenticated", "accounts": [{ "label": label }] });
        rig.agent(told("auth/status_update", one("early")));
        assert_eq!(status(&rig), Some((AuthState::Authenticated, vec!["early"])));
        rig.answer("auth/status", one("asked"));
        rig.answer("session/new", json!({ "sessionId": SESSION }));
        assert_eq!(status(&rig), Some((AuthState::Authenticated, vec!["asked"])));
        rig.prompt("go");
        rig.agent(told("auth/status_update", json!({ "state": "unauthenticated" })));
        assert_eq!(status(&rig), Some((AuthState::Unauthenticated, vec![])));
        rig.agent(told("auth/status_update", json!({ "state": 7 })));
        assert_eq!(status(&rig), Some((AuthState::Unknown, vec![])));
        assert!(rig.model().first().session().turn.is_some());
        assert!(!rig.entries().iter().any(|entry| entry.contains("early") || entry.contains("asked")));
    }
}

#[test]
fn r_124_from_an_agent_that_did_not_say_so_it_is_ignored() {
    let update = json!({ "state": "authenticated", "accounts": [{ "label": "a" }] });
    let extension = json!({ "authStatus": { "kind": "api_key", "label": "a" } });
    let (auth, meta) = (json!({ "auth": { "status": {} } }), json!({ "_meta": { "authStatus": {} } }));
    for (caps, is_unstable, taken) in [
        (json!({}), true, [false, false]),
        (auth.clone(), true, [true, false]),
        (meta.clone(), true, [false, true]),
        (with(auth, meta), false, [false, false]),
    ] {
        for (at, (method, params)) in
            [("auth/status_update", &update), ("_auth/status_update", &extension)].into_iter().enumerate()
        {
            let mut rig = telling(caps.clone(), is_unstable, 1);
            rig.sent();
            rig.agent(told(method, params.clone()));
            assert_eq!(status(&rig).is_some(), taken[at], "{caps} {method}");
            assert!(rig.sent().is_empty());
            rig.answer("session/new", json!({ "sessionId": SESSION }));
            assert_eq!(rig.model().first().phase(), Phase::Ready);
        }
    }
}

#[test]
fn after_a_log_in_and_a_logout_it_is_asked_again() {
    let caps = json!({ "auth": { "status": {}, "logout": {} } });
    let mut rig = telling(caps, true, 1);
    rig.answer("auth/status", json!({ "state": "authenticated" }));
    rig.answer("session/new", json!({ "sessionId": SESSION }));
    rig.sent();
    rig.intent(Intent::LogOut);
    rig.answer("logout", json!({}));
    assert_eq!(rig.sent_briefly(), ["logout", "auth/status"]);
    rig.answer("auth/status", json!({ "state": "unauthenticated" }));
    rig.exited(exit_code(1), &[]);
    rig.intent(Intent::Restart);
    assert!(status(&rig).is_none());
}

#[test]
fn r_119_after_a_logout_a_session_is_what_it_was_until_the_agent_says_otherwise() {
    let mut rig = open(json!({ "auth": { "logout": {} } }));
    rig.intent(Intent::LogOut);
    rig.answer("logout", json!({}));
    rig.sent();
    assert_eq!(rig.model().first().phase(), Phase::Ready);
    rig.prompt("still there?");
    assert_eq!(rig.sent_briefly(), ["session/prompt"]);
    rig.fail("session/prompt", json!({ "code": -32000, "message": "log in" }));
    assert_eq!(rig.model().first().phase(), Phase::AuthNeeded);
}

#[test]
fn r_133_modes_and_prompts_that_wait_are_those_of_their_session() {
    let modes =
        json!({ "currentModeId": "a", "availableModes": [{ "id": "a", "name": "A" }, { "id": "b", "name": "B" }] });
    let mut rig = open(json!({}));
    rig.intent_at(AgentKey::FIRST, Intent::OpenSession { cwd: "/other".into(), how: Opening::New });
    rig.answer("session/new", json!({ "sessionId": "two", "modes": modes }));
    rig.update_in("two", json!({ "sessionUpdate": "current_mode_update", "currentModeId": "b" }));
    rig.update_in(
        "two",
        json!({ "sessionUpdate": "plan", "entries": [{ "content": "c", "priority": "low", "status": "pending" }] }),
    );
    rig.update_in("two", commands(json!([{ "name": "go", "description": "" }])));
    for text in ["one", "waits"] {
        rig.intent_at(SECOND, Intent::Prompt { text: text.into(), links: Vec::new() });
    }
    let (first, second) = (rig.model().first().session(), rig.model().session_of(SECOND).unwrap());
    assert_eq!(second.modes.as_ref().map(|modes| modes.current.as_str()), Some("b"));
    assert_eq!((second.held.len(), second.commands.len(), second.turn.is_some()), (1, 1, true));
    assert!(first.modes.is_none() && first.held.is_empty() && first.commands.is_empty() && first.turn.is_none());
    assert!(!first.entries().iter().any(|entry| matches!(entry.body, Body::Plan(_))));
}

#[test]
fn r_165_a_session_that_is_closed_is_not_deleted_and_its_transcript_stays() {
    let mut rig = open(json!({}));
    rig.say("kept");
    rig.intent_at(AgentKey::FIRST, Intent::OpenSession { cwd: "/p".into(), how: Opening::New });
    rig.answer("session/new", json!({ "sessionId": "two" }));
    rig.sent();
    rig.intent_at(SessionKey::FIRST, Intent::CloseSession);
    rig.answer("session/close", json!({}));
    assert_eq!(rig.sent_briefly(), ["session/close"], "nothing is deleted");
    assert!(matches!(rig.model().first().session().state, SessionState::Closed(_)));
    assert!(rig.journal.iter().any(|line| line.contains("kept")), "it can be read again from its journal");
}

#[test]
fn r_170_what_is_deleted_has_left_the_list_and_no_more_is_said_of_it() {
    let mut rig = open(json!({}));
    assert!(rig.model().first().agent().can(Can::Delete));
    rig.intent_at(AgentKey::FIRST, Intent::ListSessions { cwd: None });
    let sessions = json!([{ "sessionId": "a", "cwd": "/p" }, { "sessionId": "b", "cwd": "/p" }]);
    rig.answer("session/list", json!({ "sessions": sessions }));
    rig.intent_at(AgentKey::FIRST, Intent::DeleteSession { id: "a".into() });
    let before = rig.entries();
    rig.answer("session/delete", json!({}));
    let left: Vec<&str> =
        rig.model().first().agent().listing().unwrap().sessions.iter().map(|one| one.id.as_str()).collect();
    assert_eq!((left, rig.entries()), (vec!["b"], before));
}

#[test]
fn r_210_nothing_has_to_be_chosen_before_a_prompt() {
    let option = json!({ "id": "m", "name": "M", "type": "select", "category": "model", "currentValue": "x",
        "options": [{ "value": "x", "name": "X" }, { "value": "y", "name": "Y" }] });
    let modes =
        json!({ "currentModeId": "a", "availableModes": [{ "id": "a", "name": "A" }, { "id": "b", "name": "B" }] });
    let mut rig = Rig::ready_with(json!({ "modes": modes, "configOptions": [option] }));
    rig.prompt("hi");
    assert_eq!(rig.sent_briefly(), ["session/prompt"]);
    assert!(rig.pending().is_empty());
}

#[test]
fn r_256_the_prompts_of_a_session_that_is_loaded_are_those_that_the_agent_tells() {
    let mut rig = open(json!({}));
    rig.intent_at(AgentKey::FIRST, Intent::OpenSession { cwd: "/p".into(), how: Opening::Load("old".into()) });
    for (kind, text) in
        [("user_message_chunk", "first"), ("agent_message_chunk", "yes"), ("user_message_chunk", "second")]
    {
        rig.update_in("old", chunk(kind, text));
    }
    rig.answer("session/load", json!({}));
    let said = |body: &Body| if let Body::User(user) = body { Some(user.text.clone()) } else { None };
    let session = rig.model().session_of(SECOND).unwrap();
    assert_eq!(session.entries().iter().filter_map(|entry| said(&entry.body)).collect::<Vec<_>>(), ["first", "second"]);
}

#[test]
fn r_261_a_list_of_commands_takes_the_place_of_the_one_before() {
    let mut rig = Rig::prompted("hi");
    rig.update(commands(json!([{ "name": "a", "description": "" }, { "name": "b", "description": "" }])));
    rig.update(commands(json!([{ "name": "c", "description": "" }])));
    assert_eq!(names(&rig), ["c"]);
    rig.stop("end_turn");
    rig.update(commands(json!([])));
    assert!(names(&rig).is_empty(), "between turns too");
}

#[test]
fn r_262_r_265_a_command_is_a_prompt_like_any_other_and_so_is_what_is_none() {
    let mut rig = Rig::ready();
    rig.update(commands(json!([{ "name": "web", "description": "", "input": { "hint": "what" } }])));
    for text in ["/web rust tui", "/nothing of the sort"] {
        rig.prompt(text);
        assert_eq!(rig.sent()[0]["params"]["prompt"], json!([{ "type": "text", "text": text }]));
        rig.stop("end_turn");
    }
}

#[test]
fn r_263_v2_107_names_of_commands_are_without_a_slash_without_blanks_and_once() {
    for mut rig in [Rig::ready(), Rig::second()] {
        let list = json!([{ "name": "/web", "description": "1" }, { "name": "web", "description": "2" },
            { "name": "two words", "description": "" }, { "name": "", "description": "" }, { "name": "go", "description": "" }]);
        rig.update(commands(list));
        assert_eq!(names(&rig), ["web", "go"]);
        assert_eq!(rig.model().first().session().commands[0].description, "1");
    }
}
