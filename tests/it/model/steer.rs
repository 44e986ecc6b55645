//! Words for a turn that runs (`_session/steering`), in both versions of the protocol.

use crate::support::{Rig, SESSION, plain_init, second_init, with};
use acp_tui::agent::codec;
use acp_tui::model::event::{Intent, Protocol};
use acp_tui::model::session::Policy;
use serde_json::{Value, json};

const STEER: &str = "_session/steering";

/// A turn runs of an agent that says of steering what is given.
fn running(second: bool, meta: Value) -> Rig {
    let mut rig = Rig::with_policy(Policy::Ask);
    if second {
        rig.core.speak(codec::first(Protocol::Two), false);
    }
    rig.intent(Intent::Start);
    rig.host(acp_tui::model::event::HostEvent::AgentSpawned { pid: 7 });
    rig.answer("initialize", with(if second { second_init() } else { plain_init() }, json!({ "_meta": meta })));
    rig.answer("session/new", json!({ "sessionId": SESSION }));
    rig.prompt("first");
    if second {
        rig.answer("session/prompt", json!({ "messageId": "u1" }));
        rig.update(json!({ "sessionUpdate": "state_update", "state": "running" }));
    }
    rig.sent();
    rig
}

fn steers() -> Value {
    json!({ "steering": { "supported": true } })
}

fn steer(rig: &mut Rig, text: &str) {
    rig.intent(Intent::Steer { text: text.into(), links: Vec::new() });
}

#[test]
fn words_go_into_the_running_turn_where_the_agent_takes_them() {
    for second in [false, true] {
        let mut rig = running(second, steers());
        steer(&mut rig, "more");
        let sent = rig.sent();
        assert_eq!((sent.len(), &sent[0]["method"]), (1, &json!(STEER)));
        assert_eq!(
            sent[0]["params"],
            json!({ "sessionId": SESSION, "prompt": [{ "type": "text", "text": "more" }],
                "_meta": { "steering": { "idleBehavior": "promptRequired" } } })
        );
        rig.answer(STEER, json!({ "outcome": "injected" }));
        assert!(rig.has_entry("you: more") && rig.has_entry("put into the running turn"), "{:?}", rig.entries());
        assert!(rig.sent().is_empty() && rig.model().first().turn.is_some());
    }
}

#[test]
fn words_that_came_too_late_are_a_prompt_and_those_that_are_refused_come_back() {
    let mut rig = running(false, steers());
    steer(&mut rig, "late");
    rig.stop("end_turn");
    rig.sent();
    rig.answer(STEER, json!({ "outcome": "promptRequired", "reason": "noRunningTurn" }));
    assert_eq!(rig.sent_briefly(), ["session/prompt"]);
    steer(&mut rig, "no");
    rig.fail(STEER, json!({ "code": -32603, "message": "closed" }));
    assert!(rig.has_entry("not put into the running turn: closed"), "{:?}", rig.entries());
    assert_eq!(rig.returned().last().unwrap(), "no");
    steer(&mut rig, "anew");
    rig.answer(STEER, json!({ "outcome": "startedNewTurn" }));
    assert!(rig.has_entry("a turn of its own"), "{:?}", rig.entries());
}

#[test]
fn of_an_agent_that_takes_none_the_turn_is_stopped_for_them() {
    for meta in [json!({}), json!({ "steering": { "supported": "yes" } })] {
        let mut rig = running(false, meta);
        rig.prompt("waits");
        steer(&mut rig, "now");
        assert_eq!(rig.sent_briefly(), ["session/cancel"]);
        assert_eq!(rig.held(), ["now", "waits"]);
        rig.stop("cancelled");
        let sent = rig.sent();
        assert_eq!(sent[0]["params"]["prompt"][0]["text"], "now");
        assert_eq!(rig.held(), ["waits"], "{:?}", rig.entries());
    }
}

#[test]
fn without_a_turn_they_are_a_prompt() {
    let mut rig = running(false, steers());
    rig.stop("end_turn");
    steer(&mut rig, "next");
    assert_eq!(rig.sent_briefly(), ["session/prompt"]);
}
