//! Forms and pages by which an agent asks for more than yes or no (R-414–R-439).

use crate::support::{Rig, SESSION, exit_code};
use acp_tui::model::entry::Body;
use acp_tui::model::event::{Asking, Intent};
use acp_tui::model::form::{FieldValue, Filled, Reply};
use acp_tui::model::ids::ReqId;
use acp_tui::model::login::Secret;
use acp_tui::model::question::About;
use acp_tui::model::session::Policy;
use serde_json::{Value, json};

const CREATE: &str = "elicitation/create";

fn form(more: Value) -> Value {
    let mut params = json!({ "mode": "form", "message": "Which one?", "requestedSchema": {
        "properties": { "b": { "type": "string" }, "a": { "type": "boolean" } }, "required": ["b"] } });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    params
}

fn page(id: &str) -> Value {
    json!({ "mode": "url", "message": "Log in there", "elicitationId": id, "url": "https://a.example/x" })
}

fn asked(rig: &Rig) -> Vec<(ReqId, Asking)> {
    let questions = rig.model().first().session().questions();
    let asking = |about: &About| if let About::Asked { asking, .. } = about { Some(asking.clone()) } else { None };
    questions.iter().filter_map(|q| Some((q.req, asking(&q.about)?))).collect()
}

fn reply(rig: &mut Rig, reply: Reply) {
    let req = asked(rig)[0].0;
    rig.intent(Intent::AnswerAsked { req, reply });
}

/// A request of the agent that names no session.
fn request(rig: &mut Rig, id: u64, params: Value) {
    rig.agent(json!({ "jsonrpc": "2.0", "id": id, "method": CREATE, "params": params }));
}

fn results(rig: &mut Rig) -> Vec<Value> {
    rig.sent().into_iter().filter_map(|sent| sent.get("result").cloned()).collect()
}

#[test]
fn r_095_both_modes_are_advertised() {
    let mut rig = Rig::starting(Policy::Ask);
    let sent = rig.sent();
    assert_eq!(sent[0]["params"]["clientCapabilities"]["elicitation"], json!({ "form": {}, "url": {} }));
}

#[test]
fn r_414_an_unknown_mode_gets_invalid_params() {
    let mut rig = Rig::prompted("hi");
    rig.request(1, CREATE, json!({ "mode": "hologram", "message": "m" }));
    rig.request(2, CREATE, json!({ "message": "m", "requestedSchema": {} }));
    assert_eq!(rig.sent_briefly(), ["1:-32602", "2:-32602"]);
    assert!(asked(&rig).is_empty());
}

#[test]
fn r_417_accept_decline_and_cancel_are_three_answers() {
    let values = vec![("b".to_owned(), FieldValue::Text("x".into())), ("a".to_owned(), FieldValue::Bool(true))];
    let filled = Reply::Filled(values.into());
    for (said, sent, told) in [
        (filled, json!({ "action": "accept", "content": { "a": true, "b": "x" } }), "answered: Which one?"),
        (Reply::Decline, json!({ "action": "decline" }), "declined: Which one?"),
        (Reply::Cancel, json!({ "action": "cancel" }), "left unanswered: Which one?"),
    ] {
        let mut rig = Rig::prompted("hi");
        rig.request(1, CREATE, form(json!({})));
        assert!(rig.has_entry("asks: Which one?"));
        reply(&mut rig, said);
        assert_eq!(results(&mut rig), [sent]);
        assert!(rig.has_entry(told), "{:?}", rig.entries());
        assert!(asked(&rig).is_empty());
    }
}

#[test]
fn r_418_each_is_answered_once_and_in_any_order() {
    let mut rig = Rig::prompted("hi");
    for id in 1..=3 {
        rig.request(id, CREATE, form(json!({ "message": format!("number {id}") })));
    }
    let all = asked(&rig);
    for at in [1, 0, 1, 2] {
        rig.intent(Intent::AnswerAsked { req: all[at].0, reply: Reply::Decline });
    }
    let answered: Vec<Value> = rig.sent().into_iter().map(|sent| sent["id"].clone()).collect();
    assert_eq!(answered, [2, 1, 3]);
}

#[test]
fn an_answer_of_the_other_sort_changes_nothing() {
    let mut rig = Rig::prompted("hi");
    rig.request(1, CREATE, form(json!({})));
    reply(&mut rig, Reply::Visits);
    let req = asked(&rig)[0].0;
    rig.intent(Intent::Answer { req, option: "allow".into() });
    assert!(rig.sent().is_empty());
    reply(&mut rig, Reply::Cancel);
    rig.request(2, CREATE, page("p"));
    reply(&mut rig, Reply::Filled(Filled::default()));
    assert_eq!((rig.sent().len(), asked(&rig).len()), (1, 1));
}

#[test]
fn r_041_one_that_the_agent_withdraws_is_cancelled_and_says_so() {
    let mut rig = Rig::prompted("hi");
    rig.request(7, CREATE, form(json!({})));
    rig.agent(json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": { "requestId": 7 } }));
    assert_eq!(results(&mut rig), [json!({ "action": "cancel" })]);
    assert!(rig.has_entry("no longer asked, the agent took it back: Which one?"), "{:?}", rig.entries());
    assert_eq!(rig.withdrawn().len(), 1);
}

#[test]
fn r_225_a_stopped_turn_cancels_those_of_its_session() {
    let mut rig = Rig::prompted("hi");
    rig.request(1, CREATE, form(json!({})));
    request(&mut rig, 2, form(json!({ "requestId": 900 })));
    rig.intent(Intent::Cancel);
    assert_eq!(results(&mut rig), [json!({ "action": "cancel" })]);
    rig.request(3, CREATE, form(json!({})));
    assert_eq!(results(&mut rig), [json!({ "action": "cancel" })], "and those that come meanwhile");
    rig.stop("cancelled");
    assert_eq!(asked(&rig).len(), 1, "one that is asked for a call goes on");
    rig.exited(exit_code(1), &[]);
    assert!(asked(&rig).is_empty() && rig.sent().is_empty(), "nobody waits for an answer");
}

#[test]
fn r_419_r_420_one_without_a_session_is_for_a_call_and_goes_with_it() {
    let mut rig = Rig::opening();
    let call = rig.open_call("session/new");
    request(&mut rig, 5, form(json!({ "requestId": call })));
    request(&mut rig, 6, form(json!({ "requestId": call + 100, "message": "for nothing" })));
    assert_eq!(asked(&rig).len(), 2, "one that names no open call is shown all the same");
    rig.sent();
    rig.answer("session/new", json!({ "sessionId": SESSION }));
    assert_eq!(results(&mut rig), [json!({ "action": "cancel" })]);
    assert!(rig.has_entry("no longer asked, what it was for has been answered: Which one?"), "{:?}", rig.entries());
    assert_eq!(asked(&rig).len(), 1);
}

#[test]
fn r_106_a_log_in_that_is_under_way_can_ask() {
    let mut rig = Rig::initialized(json!({ "protocolVersion": 1, "authMethods": [{ "id": "k", "name": "K" }] }));
    rig.fail("session/new", json!({ "code": -32000, "message": "log in" }));
    rig.intent(Intent::Authenticate { method: "k".into() });
    let call = rig.open_call("authenticate");
    let mut params = page("oauth");
    params["requestId"] = json!(call);
    request(&mut rig, 1, params);
    rig.sent();
    reply(&mut rig, Reply::Visits);
    assert_eq!(results(&mut rig), [json!({ "action": "accept" })]);
}

#[test]
fn r_437_r_438_a_page_is_done_when_the_agent_says_so() {
    let mut rig = Rig::prompted("hi");
    let done =
        |id: Value| json!({ "jsonrpc": "2.0", "method": "elicitation/complete", "params": { "elicitationId": id } });
    rig.request(1, CREATE, page("one"));
    reply(&mut rig, Reply::Visits);
    assert_eq!(results(&mut rig), [json!({ "action": "accept" })]);
    assert!(rig.has_entry("sent to a page, which is not done yet: Log in there"));
    for other in [json!("two"), json!(1), json!(null)] {
        rig.agent(done(other));
    }
    assert!(rig.has_entry("not done yet"));
    rig.agent(done(json!("one")));
    rig.agent(done(json!("one")));
    assert!(rig.has_entry("done on its page: Log in there"), "{:?}", rig.entries());
    rig.request(2, CREATE, page("three"));
    rig.agent(done(json!("three")));
    assert_eq!(results(&mut rig), [json!({ "action": "cancel" })], "nobody needs to go there any more");
}

#[test]
fn r_431_what_was_filled_in_is_in_the_transcript_only_where_it_is_kept_and_no_secret() {
    let properties = json!({
        "b": { "type": "string", "title": "Why" }, "c": { "type": "string", "oneOf": [{ "const": "r", "title": "Red" }] },
        "t": { "type": "string", "title": "Token" }, "n": { "type": "integer" } });
    let values: Vec<(String, FieldValue)> = vec![
        ("b".into(), FieldValue::Text("my own words\nin two lines".into())),
        ("c".into(), FieldValue::Text("r".into())),
        ("t".into(), FieldValue::Secret(Secret("hunter2".into()))),
    ];
    for is_kept in [false, true] {
        let mut rig = Rig::prompted("hi");
        rig.request(1, CREATE, form(json!({ "requestedSchema": { "properties": properties } })));
        reply(&mut rig, Reply::Filled(Filled { values: values.clone(), is_kept }));
        let entry = rig.model().first().session().entries().last().unwrap();
        let Body::Notice(notice) = &entry.body else { panic!("{entry:?}") };
        assert_eq!(notice.title, "answered: Which one?");
        let kept = ["Why: my own words", "in two lines", "c: Red", "Token: …"];
        assert_eq!(notice.detail, if is_kept { &kept[..] } else { &["filled in: Why, c, Token"] });
    }
}

#[test]
fn one_of_a_session_that_is_not_known_is_refused() {
    let mut rig = Rig::prompted("hi");
    request(&mut rig, 1, form(json!({ "sessionId": "another" })));
    assert_eq!(rig.sent_briefly(), ["1:-32002"]);
}

#[test]
fn one_that_is_too_large_is_refused_with_what_is_too_much() {
    let mut rig = Rig::prompted("hi");
    let fields: serde_json::Map<String, Value> = (0..10_000).map(|n| (format!("f{n}"), json!({}))).collect();
    rig.request(1, CREATE, form(json!({ "requestedSchema": { "properties": fields } })));
    assert_eq!(rig.sent_briefly(), ["1:-32602"]);
    assert!(rig.has_entry("a form of 10000 fields, at most 200 are asked"), "{:?}", rig.entries());
}
