//! What the person allows besides: further directories, and what may be spent.

use crate::support::{Rig, SESSION, plain_init, with};
use acp_tui::engine::replay::replay;
use acp_tui::model::Model;
use acp_tui::model::budget::{Budget, Limit};
use acp_tui::model::event::{HostEvent, Intent, Opening};
use acp_tui::model::ids::{AgentKey, SessionKey};
use acp_tui::model::session::Policy;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

/// Two directories were named, and the agent has this in `sessionCapabilities`.
fn reaching(session: Value) -> Rig {
    let mut rig = Rig::with_policy(Policy::Ask);
    rig.host(HostEvent::Directories(vec!["/b".into(), "/a".into()]));
    rig.intent(Intent::Start);
    rig.host(HostEvent::AgentSpawned { pid: 7 });
    let caps = json!({ "agentCapabilities": { "loadSession": true, "sessionCapabilities": session } });
    rig.answer("initialize", with(plain_init(), caps));
    rig
}

#[test]
fn r_128_r_130_an_agent_that_takes_directories_is_told_all_of_them_each_time() {
    let mut rig = reaching(json!({ "additionalDirectories": {}, "resume": {} }));
    let of = |method: &str, rig: &mut Rig| {
        let sent = rig.sent().into_iter().rfind(|line| line["method"] == method);
        sent.unwrap_or_else(|| panic!("no {method}"))["params"]["additionalDirectories"].clone()
    };
    assert_eq!(of("session/new", &mut rig), json!(["/b", "/a"]));
    rig.answer("session/new", json!({ "sessionId": SESSION }));
    for (how, method) in [(Opening::Load("x".into()), "session/load"), (Opening::Resume("y".into()), "session/resume")]
    {
        rig.intent_at(AgentKey::FIRST, Intent::OpenSession { cwd: "/project".into(), how });
        assert_eq!(of(method, &mut rig), json!(["/b", "/a"]));
    }
}

#[test]
fn r_131_a_session_of_another_directory_gets_none_of_them() {
    let mut rig = reaching(json!({ "additionalDirectories": {} }));
    rig.answer("session/new", json!({ "sessionId": SESSION }));
    rig.sent();
    rig.intent_at(AgentKey::FIRST, Intent::OpenSession { cwd: "/other".into(), how: Opening::New });
    let sent = rig.sent();
    assert_eq!((&sent[0]["method"], sent[0]["params"].get("additionalDirectories")), (&json!("session/new"), None));
    assert!(rig.model().directories(SessionKey(1)).is_empty());
}

#[test]
fn r_128_an_agent_that_takes_none_is_told_none_and_the_person_is() {
    for caps in [json!({}), json!({ "additionalDirectories": null }), json!({ "additionalDirectories": true })] {
        let mut rig = reaching(caps);
        let sent = rig.sent();
        assert_eq!(sent.last().unwrap()["params"].get("additionalDirectories"), None, "{sent:?}");
        rig.answer("session/new", json!({ "sessionId": SESSION }));
        assert!(
            rig.entries().iter().any(|entry| entry.contains("takes no further directories")),
            "{:?}",
            rig.entries()
        );
    }
}

fn limit(amount: f64) -> Option<Limit> {
    Some(Limit { amount, unit: "USD".into() })
}

fn spending(budget: Budget) -> Rig {
    let mut rig = Rig::with_policy(Policy::Ask);
    rig.host(HostEvent::Budget(Box::new(Budget { ends: Duration::from_hours(2), ..budget })));
    rig.opens();
    rig
}

fn costs(rig: &mut Rig, amount: f64) {
    let cost = json!({ "amount": amount, "currency": "USD" });
    rig.update(json!({ "sessionUpdate": "usage_update", "used": 1, "size": 100, "cost": cost }));
}

#[test]
fn once_the_budget_of_a_day_is_used_up_what_waits_is_held_and_nothing_more_is_sent() {
    let mut rig = spending(Budget { day: limit(5.0), spent: 3.5, ..Budget::default() });
    rig.prompt("one");
    rig.prompt("two");
    rig.sent();
    costs(&mut rig, 0.75);
    assert!(rig.entries().iter().any(|e| e.contains("85 % of the budget of 5 USD a day")));
    assert_eq!(rig.held(), ["two"]);
    costs(&mut rig, 1.5);
    assert_eq!((rig.held(), rig.model().first().session().held.staying()), (vec!["two"], 1));
    assert!(rig.entries().iter().any(|e| e.contains("the budget of 5 USD a day is used up (5.00 USD")));
    rig.stop("end_turn");
    rig.prompt("three");
    assert!(rig.sent().is_empty());
    assert_eq!(rig.returned().last().unwrap(), "three");
    // A cost that falls gives nothing back, and a new day begins anew.
    costs(&mut rig, 0.0);
    rig.prompt("four");
    assert_eq!(rig.returned().last().unwrap(), "four");
    rig.now = Duration::from_hours(3);
    rig.prompt("five");
    assert_eq!(rig.sent_briefly(), ["session/prompt"]);
    let model = Model::new("agent --acp".into(), "/project".into(), Policy::Ask);
    let (again, skipped) = replay(model, PathBuf::from("/project"), rig.journal.iter().map(String::as_str));
    assert_eq!((again.budget(), skipped), (rig.model().budget(), 0));
}

#[test]
fn what_a_session_had_cost_before_does_not_count_for_the_day() {
    let known = [(SESSION.to_owned(), 4.0)].into();
    let mut rig = spending(Budget { day: limit(5.0), costs: known, ..Budget::default() });
    costs(&mut rig, 4.5);
    assert_eq!(rig.model().budget().unwrap().today().unwrap(), "0.50 of 5 USD today");
    // Another unit is another matter.
    let cost = json!({ "amount": 100, "currency": "EUR" });
    rig.update(json!({ "sessionUpdate": "usage_update", "used": 1, "size": 100, "cost": cost }));
    assert_eq!(rig.model().budget().unwrap().today().unwrap(), "0.50 of 5 USD today");
}

#[test]
fn the_budget_of_a_session_is_its_own() {
    let mut rig = spending(Budget { session: limit(1.0), ..Budget::default() });
    costs(&mut rig, 1.0);
    rig.prompt("one");
    assert_eq!(rig.returned(), ["one"]);
    assert!(rig.entries().iter().any(|e| e.contains("the budget of 1 USD a session is used up")));
    rig.intent_at(AgentKey::FIRST, Intent::OpenSession { cwd: "/project".into(), how: Opening::New });
    rig.answer("session/new", json!({ "sessionId": "other" }));
    rig.sent();
    rig.intent_at(SessionKey(1), Intent::Prompt { text: "two".into(), links: Vec::new() });
    assert_eq!(rig.sent_briefly(), ["session/prompt"]);
}

#[test]
fn what_other_programs_have_spent_holds_prompts_too() {
    let mut rig = Rig::ready();
    let day = Some(Limit { amount: 5.0, unit: "USD".into() });
    let ends = Duration::from_hours(20);
    rig.host(HostEvent::Budget(Box::new(Budget { day, spent: 1.0, ends, ..Budget::default() })));
    rig.host(HostEvent::Spent(4.0));
    rig.prompt("one");
    assert_eq!(rig.sent_briefly(), ["session/prompt"]);
    rig.host(HostEvent::Spent(0.5));
    assert_eq!(rig.model().budget().map(|budget| budget.spent), Some(4.0), "what is known here counts");
    rig.host(HostEvent::Spent(5.5));
    rig.stop("end_turn");
    rig.prompt("two");
    assert!(rig.sent().is_empty());
    assert_eq!(rig.returned(), ["two"]);
}
