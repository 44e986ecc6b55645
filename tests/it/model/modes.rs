//! The client's own permission modes, in a session.

use crate::support::Rig;
use acp_tui::engine::replay::replay;
use acp_tui::model::Model;
use acp_tui::model::audit::{By, Matter, Outcome};
use acp_tui::model::changes::Gate;
use acp_tui::model::effect::Effect;
use acp_tui::model::entry::{Body, UserState};
use acp_tui::model::event::{HostEvent, Intent, Opening, Timer};
use acp_tui::model::ids::{AgentKey, SessionKey};
use acp_tui::model::permission_mode::{BYPASS_LASTS, ModeChoice, PermissionMode};
use acp_tui::model::ruling::{Extent, Ruled, Ruling};
use acp_tui::model::session::Policy;
use acp_tui::model::setup::Setup;
use acp_tui::model::tool::Exit;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

const EDITS: Extent = Extent { is_plain: true, changes: true, leaves: false, reaches: false, edits: true };
const RUNS: Extent = Extent { is_plain: false, changes: true, leaves: false, reaches: false, edits: false };

fn begun() -> Rig {
    let mut rig = Rig::with_policy(Policy::Ask);
    rig.core.set_up(Setup::Sessions { review: false, gate: Gate::Off, rules: true });
    rig.opens();
    rig.prompt("hi");
    rig.sent();
    rig
}

fn choose(rig: &mut Rig, text: &str) {
    rig.intent(Intent::SetPermissionMode(ModeChoice::read(text).unwrap()));
}

fn mode(rig: &Rig) -> PermissionMode {
    rig.model().first().session().permission_mode(rig.now)
}

fn ask(rig: &mut Rig, id: u64) {
    let option = |id: &str, kind: &str| json!({ "optionId": id, "name": id, "kind": kind });
    let options = [option("always", "allow_always"), option("once", "allow_once"), option("no", "reject_once")];
    let tool = json!({ "toolCallId": format!("t{id}"), "title": "change it", "kind": "edit" });
    rig.request(id, "session/request_permission", json!({ "toolCall": tool, "options": options }));
}

/// No rule is for what was asked last.
fn open(rig: &mut Rig, extent: Extent) {
    let req = rig.wished(|e| if let Effect::AskRules { req, .. } = e { Some(*req) } else { None });
    let ruling = Ruling { verdict: Ruled::Open, extent: Some(extent), ..Ruling::OPEN };
    rig.host(HostEvent::Ruled { req, ruling });
}

#[test]
fn s_110_a_mode_answers_for_the_person_and_says_so() {
    let mut rig = begun();
    choose(&mut rig, "acceptEdits");
    ask(&mut rig, 1);
    open(&mut rig, EDITS);
    assert_eq!(rig.sent_briefly(), ["1:selected once"], "never an answer for good");
    ask(&mut rig, 2);
    open(&mut rig, RUNS);
    assert_eq!(rig.pending().len(), 1);
    let entries = rig.entries().join("\n");
    assert!(entries.contains("allowed by permission mode acceptEdits: change it"), "{entries}");
    assert!(rig.model().first().session().modes.is_none(), "the agent's own are others");
    // What waits is decided once the mode is another one.
    choose(&mut rig, "bypassPermissions");
    open(&mut rig, RUNS);
    assert_eq!(rig.sent_briefly(), ["2:selected once"]);
}

#[test]
fn an_agent_is_told_once_why_plan_refuses_it() {
    let mut rig = begun();
    choose(&mut rig, "plan");
    for id in [1, 2] {
        ask(&mut rig, id);
        open(&mut rig, RUNS);
    }
    assert_eq!(rig.sent_briefly(), ["1:selected no", "2:selected no"]);
    let held: Vec<String> = rig.held().iter().map(|&text| text.to_owned()).collect();
    assert!(matches!(&held[..], [only] if only.contains("permission mode plan")), "{held:?}");
    rig.request(3, "terminal/create", json!({ "command": "ls" }));
    open(&mut rig, RUNS);
    let answers = rig.sent();
    let message = answers[0]["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("permission mode plan"), "{answers:?}");
    // What goes out then is no word of the person's.
    rig.answer("session/prompt", json!({ "stopReason": "end_turn" }));
    let session = rig.model().first();
    let said = session.entries().iter().filter_map(|entry| match &entry.body {
        Body::User(user) => Some((user.text.starts_with("Refused"), user.state)),
        _ => None,
    });
    let said: Vec<(bool, UserState)> = said.collect();
    assert_eq!(said, [(false, UserState::Sent), (true, UserState::OfClient)]);
}

#[test]
fn a_rules_reason_is_the_agents_next_prompt_once() {
    let mut rig = begun();
    for id in [1, 2] {
        ask(&mut rig, id);
        let req = rig.wished(|e| if let Effect::AskRules { req, .. } = e { Some(*req) } else { None });
        let reason = Some("ask Ann first".to_owned());
        rig.host(HostEvent::Ruled { req, ruling: Ruling { verdict: Ruled::Deny, reason, ..Ruling::OPEN } });
    }
    assert_eq!(rig.sent_briefly(), ["1:selected no", "2:selected no"]);
    assert_eq!(rig.held(), ["Refused by a rule: “change it”\n\nask Ann first"]);
}

/// Found with a real agent.
#[test]
fn a_reason_reaches_an_agent_that_stops_its_turn_when_it_is_refused() {
    for by_person in [false, true] {
        let mut rig = begun();
        ask(&mut rig, 1);
        let req = rig.wished(|e| if let Effect::AskRules { req, .. } = e { Some(*req) } else { None });
        let reason = Some("ask Ann first".to_owned());
        rig.host(HostEvent::Ruled { req, ruling: Ruling { verdict: Ruled::Deny, reason, ..Ruling::OPEN } });
        rig.prompt("and then this");
        rig.sent();
        if by_person {
            rig.intent(Intent::Cancel);
            rig.sent();
        }
        rig.answer("session/prompt", json!({ "stopReason": "cancelled" }));
        let sent = rig.sent();
        let texts: Vec<&str> = sent.iter().filter_map(|line| line["params"]["prompt"][0]["text"].as_str()).collect();
        if by_person {
            assert_eq!(texts, Vec::<&str>::new(), "the person has stopped all of it");
        } else {
            assert_eq!(texts, ["Refused by a rule: “change it”\n\nask Ann first"]);
            assert_eq!(rig.held(), ["and then this"]);
        }
    }
}

#[test]
fn s_112_the_mode_that_asks_nothing_ends_by_itself() {
    let mut rig = begun();
    choose(&mut rig, "bypassPermissions");
    let timer = rig.wished(|e| match e {
        Effect::StartTimer { timer: Timer::PermissionMode, after } => Some(*after),
        _ => None,
    });
    assert_eq!(timer, BYPASS_LASTS);
    rig.now += BYPASS_LASTS / 2;
    choose(&mut rig, "bypassPermissions");
    rig.now += BYPASS_LASTS / 2;
    rig.timer(Timer::PermissionMode);
    assert_eq!(mode(&rig), PermissionMode::BypassPermissions, "the time of the first choice is over, not its own");
    rig.now += BYPASS_LASTS / 2;
    assert_eq!(mode(&rig), PermissionMode::Default, "also before the timer says so");
    rig.timer(Timer::PermissionMode);
    assert_eq!(rig.model().first().session().chosen_permission_mode(), PermissionMode::Default);
    assert!(rig.has_entry("permission mode default again: its time is over"));
    ask(&mut rig, 1);
    open(&mut rig, EDITS);
    assert_eq!(rig.pending().len(), 1);
}

#[test]
fn s_112_no_session_takes_a_mode_over() {
    let mut rig = begun();
    choose(&mut rig, "bypassPermissions:2h");
    let cwd = "/project".to_owned();
    for how in [Opening::New, Opening::Fork("s1".into()), Opening::Continue("s9".into())] {
        rig.intent_at(AgentKey::FIRST, Intent::OpenSession { cwd: cwd.clone(), how });
    }
    for key in [SessionKey(1), SessionKey(2), SessionKey(3)] {
        assert_eq!(rig.model().session_of(key).unwrap().permission_mode(rig.now), PermissionMode::Default, "{key:?}");
    }
    assert_eq!(mode(&rig), PermissionMode::BypassPermissions);
    rig.exited(Exit::default(), &[]);
    rig.intent(Intent::Restart);
    assert_eq!(mode(&rig), PermissionMode::Default);
    assert!(rig.has_entry("permission mode default again: the agent is started again"));
}

#[test]
fn a_replay_has_the_same_modes() {
    let mut rig = begun();
    choose(&mut rig, "plan");
    choose(&mut rig, "bypassPermissions:90s");
    rig.now += Duration::from_secs(90);
    rig.timer(Timer::PermissionMode);
    choose(&mut rig, "acceptEdits");
    let header = r#"{"v":2,"review":false,"gate":"off","rules":true}"#;
    let lines = std::iter::once(header).chain(rig.journal.iter().map(String::as_str));
    let fresh = Model::new("agent --acp".into(), "/project".into(), Policy::Ask);
    let (again, skipped) = replay(fresh, PathBuf::from("/project"), lines);
    assert_eq!(skipped, 0);
    assert_eq!(again.first().session(), rig.model().first().session());
    let chosen = rig.journal.iter().filter_map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["intent"]["SetPermissionMode"]["mode"].as_str().map(str::to_owned)
    });
    assert_eq!(chosen.collect::<Vec<_>>(), ["plan", "bypassPermissions", "acceptEdits"]);
}

#[test]
fn a_mode_of_the_command_line_is_logged_with_its_session_and_as_a_flag() {
    let mut rig = Rig::of(Model::new("agent --acp".into(), "/project".into(), Policy::Ask).with_audit(true));
    rig.host(HostEvent::PermissionMode(ModeChoice::read("plan:2h").unwrap()));
    let modes = |wants: Vec<Effect>| -> Vec<(By, Outcome, Option<String>)> {
        let told = wants.into_iter().filter_map(|effect| match effect {
            Effect::Audit(decision) if decision.event == Matter::Mode => Some(*decision),
            _ => None,
        });
        told.map(|decision| (decision.by, decision.verdict, decision.scope)).collect()
    };
    assert_eq!(modes(rig.wants()), [], "there is no session yet");
    rig.opens();
    assert_eq!(modes(rig.wants()), [(By::Flag, Outcome::Set, Some("for 2 h".to_owned()))]);
    assert_eq!(mode(&rig), PermissionMode::Plan);
    choose(&mut rig, "acceptEdits");
    assert_eq!(modes(rig.wants()), [(By::Person, Outcome::Set, None)]);
    // The command line has chosen it once, and not for what comes after it.
    let mut rig = Rig::with_policy(Policy::Ask);
    rig.host(HostEvent::PermissionMode(ModeChoice::read("bypassPermissions").unwrap()));
    rig.opens();
    assert_eq!(mode(&rig), PermissionMode::BypassPermissions);
    rig.intent_at(AgentKey::FIRST, Intent::OpenSession { cwd: "/project".into(), how: Opening::New });
    assert_eq!(rig.model().session_of(SessionKey(1)).unwrap().permission_mode(rig.now), PermissionMode::Default);
    rig.exited(Exit::default(), &[]);
    rig.intent(Intent::Restart);
    assert_eq!(mode(&rig), PermissionMode::Default);
}
