//! A log-in, from what the agent refused to the same being done again.

use crate::support::{Rig, SESSION, exit_code, killed, plain_init, with};
use acp_tui::model::effect::{Effect, FrontEnd};
use acp_tui::model::event::{AuthKind, HostEvent, Intent, Opening};
use acp_tui::model::ids::{Address, AgentKey, SessionKey, TermId};
use acp_tui::model::login::How;
use acp_tui::model::session::{Phase, SessionState};
use serde_json::{Value, json};

const FURTHER: SessionKey = SessionKey(1);

fn methods() -> Value {
    json!({ "agentCapabilities": { "loadSession": true, "sessionCapabilities": { "resume": {} } }, "authMethods": [
        { "id": "web", "name": "Web" },
        { "id": "tty", "name": "By terminal", "type": "terminal", "args": ["login"] },
        { "id": "env", "name": "By key", "type": "env_var", "vars": ["A_KEY"] },
    ] })
}

fn refusal() -> Value {
    json!({ "code": -32000, "message": "who are you" })
}

fn ready() -> Rig {
    let mut rig = Rig::initialized(with(plain_init(), methods()));
    rig.answer(
        "session/new",
        json!({ "sessionId": SESSION, "modes": { "currentModeId": "a",
        "availableModes": [{ "id": "a", "name": "A" }, { "id": "b", "name": "B" }] } }),
    );
    rig.sent();
    rig.wants();
    rig
}

fn choose(rig: &mut Rig, method: &str) {
    rig.intent(Intent::Authenticate { method: method.into() });
}

fn phase(rig: &Rig, at: SessionKey) -> Phase<'_> {
    rig.model().at(at).unwrap().phase()
}

/// The command of the log-in runs.
fn in_terminal(rig: &mut Rig) {
    choose(rig, "tty");
    assert_eq!(
        rig.wished(|e| if let Effect::LogIn(kind) = e { Some(kind.clone()) } else { None }),
        AuthKind::Terminal { args: vec!["login".into()], env: Vec::new() }
    );
    rig.host(HostEvent::LogInStarted { term: "term-9".into() });
}

fn ends(rig: &mut Rig, code: u32) {
    rig.host(HostEvent::LogInEnded { term: "term-9".into(), exit: exit_code(code) });
}

#[test]
fn r_100_a_prompt_that_was_refused_is_sent_again_once_and_what_waits_after_it() {
    let mut rig = ready();
    rig.prompt("first");
    rig.prompt("second");
    rig.fail("session/prompt", refusal());
    assert_eq!((rig.held(), phase(&rig, SessionKey::FIRST)), (vec!["first", "second"], Phase::AuthNeeded));
    assert!(rig.returned().is_empty());
    choose(&mut rig, "web");
    rig.sent();
    rig.answer("authenticate", json!({}));
    let sent = rig.sent();
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert_eq!(sent[0]["params"]["prompt"][0]["text"], "first");
    rig.stop("end_turn");
    assert_eq!(rig.sent()[0]["params"]["prompt"][0]["text"], "second");
}

#[test]
fn r_100_a_mode_that_was_refused_is_asked_for_again() {
    let mut rig = ready();
    rig.intent(Intent::SetMode { id: "b".into() });
    rig.fail("session/set_mode", refusal());
    assert_eq!(phase(&rig, SessionKey::FIRST), Phase::AuthNeeded);
    choose(&mut rig, "web");
    rig.sent();
    rig.answer("authenticate", json!({}));
    assert_eq!(rig.sent_briefly(), ["session/set_mode"]);
}

#[test]
fn r_113_other_sessions_of_the_agent_go_on_while_one_waits_for_a_log_in() {
    let mut rig = ready();
    rig.intent(Intent::OpenSession { cwd: "/project".into(), how: Opening::New });
    rig.fail("session/new", refusal());
    assert_eq!((phase(&rig, SessionKey::FIRST), phase(&rig, FURTHER)), (Phase::Ready, Phase::AuthNeeded));
    rig.sent();
    rig.prompt("go on");
    assert_eq!(rig.sent_briefly(), ["session/prompt"]);
    assert!(rig.model().first().waiting().next().is_none(), "it is not asked there");
    // Logged in outside of the agent: it is started again when the other one rests.
    in_terminal(&mut rig);
    rig.wants();
    ends(&mut rig, 0);
    assert!(!rig.wants().contains(&Effect::SpawnAgent));
    let how = rig.model().first().agent().log_in.as_ref().and_then(|l| l.attempt.as_ref()).map(|a| a.how.clone());
    assert_eq!(how, Some(How::Restart));
    rig.say("done");
    rig.stop("end_turn");
    assert!(rig.wants().contains(&Effect::SpawnAgent));
    rig.host(HostEvent::AgentSpawned { pid: 2 });
    rig.sent();
    rig.answer("initialize", with(plain_init(), methods()));
    assert_eq!(rig.sent_briefly(), ["session/resume", "session/new"]);
}

#[test]
fn r_112_after_a_terminal_log_in_the_agent_is_started_again_and_the_refused_is_done_again() {
    let mut rig = ready();
    rig.prompt("first");
    rig.fail("session/prompt", refusal());
    in_terminal(&mut rig);
    rig.wants();
    ends(&mut rig, 0);
    let wants = rig.wants();
    assert!(wants.contains(&Effect::EndAgent) && wants.contains(&Effect::SpawnAgent), "{wants:?}");
    rig.host(HostEvent::AgentSpawned { pid: 2 });
    rig.sent();
    rig.answer("initialize", with(plain_init(), methods()));
    // The agent has said nothing in it: many do not keep such a session.
    assert_eq!(rig.sent_briefly(), ["session/new"]);
    rig.answer("session/new", json!({ "sessionId": "other" }));
    let sent = rig.sent();
    assert_eq!(sent[0]["params"]["prompt"][0]["text"], "first");
    assert!(rig.model().first().agent().log_in.is_none());
}

#[test]
fn r_098_r_111_only_exit_0_is_success_and_a_terminal_method_is_never_called() {
    let mut rig = ready();
    rig.prompt("first");
    rig.fail("session/prompt", refusal());
    for exit in [exit_code(1), killed("SIGTERM"), acp_tui::model::tool::Exit::default()] {
        in_terminal(&mut rig);
        rig.host(HostEvent::LogInEnded { term: "term-9".into(), exit });
        assert_eq!(phase(&rig, SessionKey::FIRST), Phase::AuthNeeded);
    }
    assert!(!rig.wants().contains(&Effect::SpawnAgent));
    assert!(rig.sent_briefly().iter().all(|line| line != "authenticate"));
    assert!(rig.has_entry("the log-in did not work: its command ended with exit 1"), "{:?}", rig.entries());
    choose(&mut rig, "tty");
    rig.host(HostEvent::LogInFailed { message: "no such program".into() });
    assert!(rig.has_entry("no such program"));
}

#[test]
fn a_log_in_that_was_left_ends_its_command_whenever_that_comes() {
    let mut rig = ready();
    rig.prompt("first");
    rig.fail("session/prompt", refusal());
    let end = Effect::EndLogIn(TermId::from("term-9"));
    in_terminal(&mut rig);
    rig.wants();
    rig.intent(Intent::LeaveAuthentication);
    assert!(rig.wants().contains(&end));
    ends(&mut rig, 0);
    assert_eq!(phase(&rig, SessionKey::FIRST), Phase::AuthNeeded, "one that was left logs nobody in");
    choose(&mut rig, "tty");
    rig.intent(Intent::LeaveAuthentication);
    rig.wants();
    rig.host(HostEvent::LogInStarted { term: "term-9".into() });
    assert!(rig.wants().contains(&end), "it came too late");
}

#[test]
fn an_agent_that_ends_during_a_terminal_log_in_is_started_after_it() {
    let mut rig = Rig::initialized(with(plain_init(), methods()));
    rig.fail("session/new", refusal());
    in_terminal(&mut rig);
    rig.exited(exit_code(1), &["not logged in"]);
    assert!(matches!(phase(&rig, SessionKey::FIRST), Phase::Authenticating { .. }));
    rig.wants();
    ends(&mut rig, 0);
    assert!(rig.wants().contains(&Effect::SpawnAgent));
    assert_eq!(rig.model().first().state, SessionState::Waiting);
}

#[test]
fn an_agent_that_refuses_its_greeting_is_greeted_again() {
    let mut rig = Rig::starting(acp_tui::model::session::Policy::Ask);
    let error =
        json!({ "code": -32000, "message": "log in", "data": { "authMethods": [{ "id": "web", "name": "W" }] } });
    rig.fail("initialize", error);
    assert_eq!(phase(&rig, SessionKey::FIRST), Phase::AuthNeeded);
    choose(&mut rig, "web");
    rig.sent();
    rig.answer("authenticate", json!({}));
    assert_eq!(rig.sent_briefly(), ["initialize"]);
    rig.answer("initialize", plain_init());
    assert_eq!(rig.sent_briefly(), ["session/new"]);
}

#[test]
fn r_104_values_of_variables_are_in_no_event_and_the_agent_is_started_with_them() {
    let mut rig = Rig::initialized(with(plain_init(), methods()));
    rig.fail("session/new", refusal());
    choose(&mut rig, "env");
    assert_eq!(phase(&rig, SessionKey::FIRST), Phase::AuthNeeded, "it is no call");
    rig.wants();
    rig.host(HostEvent::LogInSet { method: "env".into(), vars: vec!["A_KEY".into()] });
    assert!(rig.wants().contains(&Effect::SpawnAgent));
    assert_eq!(rig.model().first().agent().env, ["A_KEY"]);
}

#[test]
fn a_method_that_is_not_there_after_the_restart_is_not_chosen() {
    let mut rig = Rig::initialized(with(plain_init(), methods()));
    rig.fail("session/new", refusal());
    in_terminal(&mut rig);
    ends(&mut rig, 0);
    rig.host(HostEvent::AgentSpawned { pid: 2 });
    rig.answer("initialize", with(plain_init(), json!({ "authMethods": [] })));
    rig.fail("session/new", refusal());
    rig.wants();
    rig.sent();
    for method in ["tty", "web"] {
        choose(&mut rig, method);
    }
    assert!(rig.wants().is_empty() && rig.sent().is_empty());
    assert_eq!(phase(&rig, SessionKey::FIRST), Phase::AuthNeeded);
}

#[test]
fn a_log_in_that_is_not_asked_for_at_once_is_told_why() {
    let mut rig = ready();
    let login = |rig: &mut Rig| {
        rig.wants();
        rig.intent_at(Address::Agent(AgentKey::FIRST), Intent::LogIn);
        let of = |effect| if let Effect::FrontEnd(FrontEnd::LogInWaits(words)) = effect { Some(words) } else { None };
        rig.wants().into_iter().find_map(of)
    };
    rig.prompt("go");
    rig.ask(1, "t");
    assert!(login(&mut rig).is_some_and(|words| words.contains("after the question")));
    assert!(login(&mut rig).is_some_and(|words| words.contains("already")));
    rig.exited(exit_code(1), &[]);
    assert!(login(&mut rig).is_some_and(|words| words.contains("no agent runs")));
}

#[test]
fn a_person_may_log_in_although_nothing_was_refused() {
    let mut rig = ready();
    rig.intent_at(Address::Agent(AgentKey::FIRST), Intent::LogIn);
    assert_eq!(phase(&rig, SessionKey::FIRST), Phase::Ready);
    assert!(rig.model().first().waiting().next().is_some());
    rig.prompt("goes out");
    assert_eq!(rig.sent_briefly(), ["session/prompt"]);
    choose(&mut rig, "tty");
    rig.host(HostEvent::LogInFailed { message: "no such program".into() });
    assert!(rig.model().first().waiting().next().is_some(), "another way may do");
    rig.intent(Intent::LeaveAuthentication);
    assert!(rig.model().first().waiting().next().is_none());
}
