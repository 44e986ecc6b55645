//! Permission requests (R-325–R-342).

use crate::support::{Rig, SESSION, exit_code, options};
use acp_tui::model::event::{Intent, PermissionKind};
use acp_tui::model::ids::ReqId;
use acp_tui::model::session::{Allow, Policy};
use serde_json::{Value, json};

fn ask(rig: &mut Rig, id: u64, tool: Value, options: Value) {
    rig.request(id, "session/request_permission", json!({ "toolCall": tool, "options": options }));
}

fn call(kind: &str) -> Value {
    json!({ "toolCallId": "t", "title": "T", "kind": kind })
}

fn option(id: &str, kind: &str) -> Value {
    json!({ "optionId": id, "name": id, "kind": kind })
}

#[test]
fn r_325_it_is_served_whatever_was_negotiated() {
    for policy in [Policy::Ask, Policy::Auto(Allow::All), Policy::Auto(Allow::Reads), Policy::Auto(Allow::None)] {
        let mut rig = Rig::ready_as(policy, json!({}));
        rig.prompt("hi");
        rig.ask(1, "t");
        assert!(!rig.sent_briefly().contains(&"1:-32601".to_owned()));
    }
}

#[test]
fn r_326_r_327_fact_12_options_as_given_in_their_order() {
    let mut rig = Rig::prompted("hi");
    let list = json!([
        option("always", "allow_always"),
        option("no", "reject_once"),
        option("once", "allow_once"),
        option("also", "allow_always"),
        option("never", "reject_always")
    ]);
    ask(&mut rig, 1, call("edit"), list);
    let ids: Vec<&str> = rig.model().first().session().questions()[0].options.iter().map(|o| o.id.as_str()).collect();
    assert_eq!(ids, ["always", "no", "once", "also", "never"]);
    let req = rig.pending()[0];
    rig.intent(Intent::Answer { req, option: "invented".into() });
    rig.intent(Intent::Answer { req, option: "allow_once".into() });
    assert!(rig.sent().is_empty(), "no id is invented");
    rig.choose("also");
    assert_eq!(rig.sent_briefly(), ["1:selected also"]);
}

#[test]
fn r_328_strange_options_stay() {
    let mut rig = Rig::prompted("hi");
    ask(
        &mut rig,
        1,
        call("edit"),
        json!([
            { "optionId": "a", "name": "A", "kind": "allow_for_lunch" }, { "optionId": "b" },
            { "name": "no id", "kind": "allow_once" }, 4, { "optionId": "c", "name": 3, "kind": null }
        ]),
    );
    let options = &rig.model().first().session().questions()[0].options;
    let shown: Vec<(&str, &str)> = options.iter().map(|o| (o.id.as_str(), o.name.as_str())).collect();
    assert_eq!(shown, [("a", "A"), ("b", "b"), ("c", "c")]);
    assert!(options.iter().all(|o| o.kind == PermissionKind::Unknown));
}

#[test]
fn r_329_without_options_it_is_cancelled_and_shown() {
    for list in [json!([]), json!(null), json!("x"), json!([{ "name": "no id" }])] {
        let mut rig = Rig::prompted("hi");
        ask(&mut rig, 1, call("edit"), list);
        assert_eq!(rig.sent_briefly(), ["1:cancelled"]);
        assert!(rig.has_entry("told no: T"));
    }
}

#[test]
fn r_330_fact_13_the_call_is_merged_before_it_is_asked_about() {
    let mut rig = Rig::prompted("hi");
    rig.tool(
        json!({ "toolCallId": "t", "title": "Edit", "content": [{ "type": "diff", "path": "/a", "newText": "n" }] }),
    );
    ask(
        &mut rig,
        1,
        json!({ "toolCallId": "t", "rawInput": { "cmd": "x" }, "locations": [{ "path": "/a" }] }),
        options(),
    );
    let entry = rig.model().first().session().questions()[0].entry;
    assert_eq!(
        crate::support::tool_line(rig.model().first().session().tool(entry).unwrap()),
        "tool Edit pending {diff /a (new) > n} @/a"
    );
    assert_eq!(rig.model().first().session().tool(entry).unwrap().raw_input, Some(json!({ "cmd": "x" })));
    ask(&mut rig, 2, json!({ "toolCallId": "new", "title": "New" }), options());
    let entry = rig.model().first().session().questions()[1].entry;
    assert_eq!(rig.model().first().session().tool(entry).unwrap().title, "New");
}

#[test]
fn r_332_two_options_with_one_id_are_both_shown() {
    let mut rig = Rig::prompted("hi");
    let list = json!([{ "optionId": "x", "name": "One", "kind": "allow_once" },
        { "optionId": "x", "name": "Two", "kind": "reject_once" }]);
    ask(&mut rig, 1, call("edit"), list);
    assert_eq!(rig.model().first().session().questions()[0].options.len(), 2);
    rig.choose("x");
    assert_eq!(rig.sent_briefly(), ["1:selected x"]);
}

/// Issue 3: allowing takes allow_once, else allow_always; refusing takes reject_once, else `cancelled`, never
/// reject_always; no or unknown options never allow.
#[test]
fn r_333_the_table_of_allow() {
    let once = || {
        json!([
            option("A", "allow_always"),
            option("a", "allow_once"),
            option("R", "reject_always"),
            option("r", "reject_once")
        ])
    };
    let always = || json!([option("R", "reject_always"), option("A", "allow_always")]);
    let unknown = || json!([option("u", "allow_everything")]);
    let table: [(Allow, &str, Value, &str); 14] = [
        (Allow::All, "execute", once(), "selected a"),
        (Allow::All, "execute", always(), "selected A"),
        (Allow::All, "execute", unknown(), "cancelled"),
        (Allow::All, "execute", json!([]), "cancelled"),
        (Allow::Reads, "read", once(), "selected a"),
        (Allow::Reads, "search", once(), "selected a"),
        (Allow::Reads, "think", always(), "selected A"),
        (Allow::Reads, "edit", once(), "selected r"),
        (Allow::Reads, "fetch", once(), "selected r"),
        (Allow::Reads, "no_such_kind", once(), "selected r"),
        (Allow::Reads, "edit", always(), "cancelled"),
        (Allow::Reads, "read", unknown(), "cancelled"),
        (Allow::None, "read", once(), "selected r"),
        (Allow::None, "read", always(), "cancelled"),
    ];
    for (allow, kind, list, expected) in table {
        let mut rig = Rig::ready_as(Policy::Auto(allow), json!({}));
        rig.prompt("hi");
        rig.sent();
        ask(&mut rig, 1, call(kind), list.clone());
        assert_eq!(rig.sent_briefly(), [format!("1:{expected}")], "{allow:?} {kind} {list}");
    }
}

#[test]
fn r_334_decisions_by_rule_are_in_the_transcript() {
    let mut rig = Rig::ready_as(Policy::Auto(Allow::Reads), json!({}));
    rig.prompt("hi");
    ask(&mut rig, 1, call("read"), options());
    ask(&mut rig, 2, json!({ "toolCallId": "u", "title": "U", "kind": "edit" }), options());
    assert!(rig.has_entry("Info: allowed by --allow reads: T"), "{:?}", rig.entries());
    assert!(rig.has_entry("Info: refused by --allow reads: U"));
}

/// Issue 3: a dialog is left without an answer; only an option, a withdrawal or a cancel answers it.
#[test]
fn r_335_r_339_r_341_one_answer_and_only_the_persons() {
    let mut rig = Rig::prompted("hi");
    ask(&mut rig, 1, call("edit"), json!([option("y", "allow_once"), option("R", "reject_always")]));
    rig.now += std::time::Duration::from_hours(24);
    rig.say("time passes");
    rig.tool_update(json!({ "toolCallId": "t", "status": "in_progress" }));
    assert!(rig.sent().is_empty(), "time, text and updates answer nothing");
    let req = rig.pending()[0];
    rig.choose("y");
    rig.intent(Intent::Answer { req, option: "R".into() });
    rig.intent(Intent::Answer { req: ReqId(99), option: "y".into() });
    rig.stop("end_turn");
    assert_eq!(rig.sent_briefly(), ["1:selected y"]);
}

#[test]
fn r_336_cancelling_answers_all() {
    let mut rig = Rig::prompted("hi");
    rig.ask(1, "a");
    rig.ask(2, "b");
    rig.intent(Intent::Cancel);
    assert_eq!(rig.sent_briefly(), ["session/cancel", "1:cancelled", "2:cancelled"]);
}

#[test]
fn r_337_requests_wait_in_their_order_and_any_can_be_answered() {
    let mut rig = Rig::prompted("hi");
    rig.ask(1, "a");
    rig.ask(2, "b");
    rig.ask(3, "c");
    let pending = rig.pending();
    assert!(pending.is_sorted());
    rig.intent(Intent::Answer { req: pending[1], option: "no".into() });
    rig.choose("yes");
    assert_eq!(rig.sent_briefly(), ["2:selected no", "1:selected yes"]);
    assert_eq!(rig.pending(), [pending[2]]);
}

#[test]
fn r_340_fact_11_what_is_overtaken_closes_and_says_so() {
    let mut rig = Rig::prompted("hi");
    rig.ask(1, "a");
    rig.stop("end_turn");
    assert_eq!(rig.sent_briefly(), ["1:cancelled"]);
    assert!(rig.pending().is_empty());
    assert!(rig.withdrawn()[0].contains("turn ended"));
    assert!(rig.has_entry("no longer asked, the turn ended: a"));
    let mut rig = Rig::prompted("hi");
    rig.ask(1, "a");
    rig.agent(json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": { "requestId": 1 } }));
    assert!(rig.has_entry("the agent took it back: a"));
    let mut rig = Rig::prompted("hi");
    rig.ask(1, "a");
    rig.exited(exit_code(1), &[]);
    assert!(rig.pending().is_empty() && rig.is_dead());
    assert!(rig.sent().is_empty(), "nobody is there to be answered");
}

#[test]
fn r_195_a_mode_of_the_agent_never_changes_what_is_allowed() {
    let modes =
        json!({ "modes": { "currentModeId": "yolo", "availableModes": [{ "id": "yolo", "name": "Allow all" }] } });
    let mut rig = Rig::ready_as(Policy::Auto(Allow::None), modes.clone());
    rig.prompt("hi");
    rig.sent();
    ask(&mut rig, 1, call("read"), options());
    assert_eq!(rig.sent_briefly(), ["1:selected no"]);
    let mut rig = Rig::ready_with(modes);
    rig.prompt("hi");
    rig.ask(1, "t");
    assert_eq!(rig.pending().len(), 1, "a person is asked");
}

#[test]
fn a_request_about_another_session_is_refused() {
    let mut rig = Rig::prompted("hi");
    rig.request(
        1,
        "session/request_permission",
        json!({ "sessionId": "child", "toolCall": { "toolCallId": "t" }, "options": options() }),
    );
    rig.request(
        2,
        "session/request_permission",
        json!({ "sessionId": SESSION, "toolCall": { "toolCallId": "t" }, "options": options() }),
    );
    assert_eq!(rig.sent_briefly(), ["1:-32002"]);
    assert_eq!(rig.pending().len(), 1);
}

/// Schema or not: what is asked can be read, so a person can answer it. Two such questions are two calls.
#[test]
fn a_question_about_a_call_without_an_id_is_asked_all_the_same() {
    let mut rig = Rig::prompted("hi");
    for (id, title) in [(1, "Run make"), (2, "Run tests")] {
        let params = json!({ "toolCall": { "title": title, "kind": "execute" }, "options": options() });
        rig.request(id, "session/request_permission", params);
    }
    assert_eq!(rig.pending().len(), 2);
    assert!(rig.has_entry("Run make") && rig.has_entry("Run tests"), "{:?}", rig.entries());
    rig.choose("no");
    rig.choose("yes");
    assert_eq!(rig.sent_briefly(), ["1:selected no", "2:selected yes"]);
}
