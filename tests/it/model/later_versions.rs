//! The model has words for what the first version of the protocol does not say: a codec of a later one decodes into them.

use crate::support::second::{state, stops};
use crate::support::{Rig, SESSION, chunk, plain_init, with};
use acp_tui::model::event::{Intent, Stop};
use acp_tui::model::session::Phase;
use acp_tui::model::tool::{Mark, ToolKind};
use serde_json::{Value, json};

fn prompted() -> Rig {
    let mut rig = Rig::renamed();
    rig.intent(Intent::Start);
    rig.host(acp_tui::model::event::HostEvent::AgentSpawned { pid: 7 });
    rig.answer("initialize", plain_init());
    rig.answer("session/new", json!({ "sessionId": SESSION }));
    rig.prompt("hi");
    rig.sent();
    rig
}

fn whole(rig: &mut Rig, kind: &str, id: &str, content: Value) {
    rig.update(json!({ "sessionUpdate": kind, "messageId": id, "content": content }));
}

fn text(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

fn piece(rig: &mut Rig, id: &str, text: &str) {
    rig.update(with(chunk("agent_message_chunk", text), json!({ "messageId": id })));
}

#[test]
fn a_turn_ends_by_a_word_of_the_agents_where_the_answer_only_takes_the_prompt() {
    let mut rig = prompted();
    // Of before: it has not seen the prompt yet.
    state(&mut rig, "idle", json!({ "stopReason": "end_turn" }));
    rig.answer("session/prompt", json!({ "messageId": "u1" }));
    rig.prompt("and then");
    rig.say("well");
    assert_eq!((stops(&rig), rig.held()), (vec![], vec!["and then"]));
    state(&mut rig, "idle", json!({ "stopReason": "end_turn" }));
    assert_eq!(stops(&rig), [Some(Stop::EndTurn)]);
    assert_eq!(rig.sent_briefly(), ["session/prompt"], "the next one");
    // That it works may be said before the answer, and that it has ended, too.
    state(&mut rig, "running", json!({}));
    rig.say("yes");
    state(&mut rig, "idle", json!({ "stopReason": "end_turn" }));
    state(&mut rig, "idle", json!({ "stopReason": "end_turn" }));
    assert_eq!(stops(&rig), [Some(Stop::EndTurn), Some(Stop::EndTurn)]);
    rig.answer("session/prompt", json!({ "messageId": "u2" }));
    assert!(rig.model().first().session().turn.is_none());
    assert_eq!(rig.entries(), ["you: hi", "agent: well", "you: and then", "agent: yes"]);
}

#[test]
fn v2_046_an_agent_that_works_without_a_prompt_has_a_turn_of_its_own() {
    let mut rig = prompted();
    rig.answer("session/prompt", json!({}));
    state(&mut rig, "running", json!({}));
    state(&mut rig, "idle", json!({ "stopReason": "end_turn" }));
    state(&mut rig, "running", json!({}));
    let turn = rig.model().first().session().turn.as_ref().expect("a turn").id;
    assert!(rig.has_entry("works without a prompt"), "{:?}", rig.entries());
    piece(&mut rig, "by itself", "I looked again.");
    // A prompt waits for its end as for that of any other.
    rig.sent();
    rig.prompt("and now");
    assert_eq!(rig.sent_briefly(), [""; 0]);
    state(&mut rig, "idle", json!({ "stopReason": "end_turn" }));
    assert_eq!(rig.sent().len(), 1);
    assert!(rig.model().first().session().turn.as_ref().unwrap().id > turn);
    rig.intent(Intent::Cancel);
    assert!(stops(&rig).len() >= 2, "{:?}", stops(&rig));
}

#[test]
fn a_stop_and_an_error_are_told_by_the_state_as_well() {
    let mut rig = prompted();
    rig.answer("session/prompt", json!({ "messageId": "u1" }));
    rig.intent(Intent::Cancel);
    assert_eq!(rig.sent_briefly(), ["session/cancel"]);
    assert!(rig.model().first().session().turn.is_some());
    state(&mut rig, "idle", json!({ "stopReason": "cancelled" }));
    assert_eq!(stops(&rig), [Some(Stop::Cancelled)]);
    rig.prompt("again");
    state(&mut rig, "running", json!({}));
    state(&mut rig, "idle", json!({ "stopReason": "error", "error": { "code": 1, "message": "out of luck" } }));
    assert_eq!(stops(&rig), [Some(Stop::Cancelled), None]);
    assert!(rig.has_entry("out of luck"), "{:?}", rig.entries());
    rig.prompt("once more");
    rig.fail("session/prompt", json!({ "code": 1, "message": "of no use any more" }));
    rig.fail("session/prompt", json!({ "code": 1, "message": "not taken" }));
    assert_eq!(stops(&rig).len(), 3, "an error is an end");
    assert!(matches!(rig.model().first().phase(), Phase::Ready));
}

#[test]
fn a_message_is_replaced_where_it_stands() {
    let mut rig = prompted();
    whole(&mut rig, "agent_message", "m1", text("A"));
    piece(&mut rig, "m2", "other");
    piece(&mut rig, "m1", "B");
    whole(&mut rig, "agent_thought", "m1", text("a thought has ids of its own"));
    assert_eq!(rig.entries()[1..], ["agent: AB", "agent: other", "thought: a thought has ids of its own"]);
    for n in 0..300 {
        rig.tool(json!({ "toolCallId": format!("t{n}"), "title": "T" }));
    }
    whole(&mut rig, "agent_message", "m1", text("anew"));
    piece(&mut rig, "m1", "!");
    rig.update(json!({ "sessionUpdate": "agent_message", "messageId": "m1" }));
    assert_eq!(rig.entries()[1..3], ["agent: anew!", "agent: other"], "however far back");
    whole(&mut rig, "agent_message", "m1", Value::Null);
    assert_eq!(rig.entries()[1], "agent: ");
    // The first word of it has fixed its place, although it said nothing.
    rig.update(json!({ "sessionUpdate": "agent_message", "messageId": "m3" }));
    piece(&mut rig, "m4", "after");
    piece(&mut rig, "m3", "before");
    assert_eq!(rig.entries()[304..], ["agent: before", "agent: after"]);
}

#[test]
fn blocks_of_a_message_that_are_no_text_are_replaced_with_it() {
    let mut rig = prompted();
    let image = |label: &str| json!({ "type": label });
    whole(&mut rig, "agent_message", "m", json!([{ "type": "text", "text": "see" }, image("one"), image("two")]));
    rig.say("later");
    let entries = |rig: &Rig| rig.entries()[1..].to_vec();
    assert_eq!(entries(&rig), ["agent: see", "Agent: [one]", "Agent: [two]", "agent: later"]);
    whole(&mut rig, "agent_message", "m", json!([image("three"), { "type": "text", "text": "look" }]));
    let gone = "Agent: [taken back by the agent]";
    assert_eq!(entries(&rig), ["agent: look", "Agent: [three]", gone, "agent: later"]);
}

#[test]
fn a_prompt_that_is_told_back_is_not_shown_twice() {
    for answer_first in [true, false] {
        let mut rig = prompted();
        let answer = |rig: &mut Rig| rig.answer("session/prompt", json!({ "messageId": "u1" }));
        if answer_first {
            answer(&mut rig);
            // Under its id it may be worded as it likes.
            whole(&mut rig, "user_message", "u1", text("<hi>"));
        } else {
            whole(&mut rig, "user_message", "u1", text("hi"));
            answer(&mut rig);
        }
        rig.update(with(chunk("user_message_chunk", "hi"), json!({ "messageId": "u1" })));
        rig.say("ok");
        state(&mut rig, "idle", json!({ "stopReason": "end_turn" }));
        whole(&mut rig, "user_message", "u1", text("hi"));
        whole(&mut rig, "user_message", "u2", text("from afar"));
        whole(&mut rig, "user_message", "u2", text("from another window"));
        assert_eq!(rig.entries(), ["you: hi", "agent: ok", "elsewhere: from another window"]);
    }
}

#[test]
fn members_of_a_tool_call_are_kept_taken_back_or_changed() {
    let mut rig = prompted();
    let patch = |rig: &mut Rig, more: Value| {
        rig.update(with(json!({ "sessionUpdate": "tool_call_patch", "toolCallId": "t" }), more));
    };
    let members = json!({ "title": "T", "name": "n", "kind": "edit", "status": "completed", "rawInput": 1,
        "rawOutput": 2, "locations": [{ "path": "/a" }] });
    patch(&mut rig, members.clone());
    patch(&mut rig, json!({}));
    let call = rig.call("t").clone();
    assert_eq!((call.title.as_str(), call.kind, call.raw_output.as_ref()), ("T", ToolKind::Edit, Some(&json!(2))));
    assert!(call.ended.is_some() && call.locations.len() == 1);
    let reset: Value = members.as_object().unwrap().keys().map(|key| (key.clone(), Value::Null)).collect();
    patch(&mut rig, reset);
    let call = rig.call("t");
    assert_eq!((call.label(), call.kind), ("t", ToolKind::Other));
    assert!(call.raw_input.is_none() && call.raw_output.is_none() && call.locations.is_empty());
    assert!(call.ended.is_none() && !call.is_finished());
    for (status, shown, is_final) in [
        ("paused", "paused", false),
        ("dreaming", "(dreaming)", false),
        ("cancelled", "cancelled", true),
        ("in_progress", "running", false),
    ] {
        patch(&mut rig, json!({ "status": status }));
        assert_eq!(rig.entries()[1], format!("tool t {shown}"));
        assert_eq!((rig.call("t").is_finished(), rig.call("t").ended.is_some()), (is_final, is_final));
    }
    state(&mut rig, "running", json!({}));
    state(&mut rig, "idle", json!({ "stopReason": "end_turn" }));
    assert_eq!(rig.call("t").mark, Some(Mark::NoFinalStatus));
}

#[test]
fn plans_with_ids_are_kept_apart() {
    let mut rig = prompted();
    let plan = |rig: &mut Rig, id: &str, steps: &[&str]| {
        let entries: Vec<Value> = steps.iter().map(|step| json!({ "content": step })).collect();
        rig.update(json!({ "sessionUpdate": "plan_update", "planId": id, "entries": entries }));
    };
    plan(&mut rig, "a", &["one"]);
    plan(&mut rig, "b", &["two"]);
    plan(&mut rig, "a", &["one", "more"]);
    let plans: Vec<String> = rig.entries()[1..].iter().map(|e| e.replace(" None/Pending", "")).collect();
    assert_eq!(plans, ["plan: one; more", "plan: two"]);
}

/// An agent that gives plans and messages new names for ever.
#[test]
fn names_of_plans_are_forgotten_the_oldest_first() {
    let mut rig = prompted();
    let plan = |rig: &mut Rig, id: String| {
        let entries = json!([{ "content": id }]);
        rig.update(json!({ "sessionUpdate": "plan_update", "planId": id, "entries": entries }));
    };
    (0..257).for_each(|n| plan(&mut rig, n.to_string()));
    let before = rig.entries().len();
    plan(&mut rig, "256".into());
    plan(&mut rig, "1".into());
    assert_eq!(rig.entries().len(), before, "they are known");
    plan(&mut rig, "0".into());
    assert_eq!(rig.entries().len(), before + 1, "a new one");
}

#[test]
fn a_patch_of_several_files_is_a_change_of_each() {
    let mut rig = prompted();
    let patch = "diff --git /a /a\n--- /a\n+++ /a\n@@ -1 +1 @@\n-a\n+b\ndiff --git /c /c\nrest";
    let diff = json!({ "patch": { "format": "git_patch", "text": patch }, "changes": [
        { "operation": "modify", "path": "/a" },
        { "operation": "move", "oldPath": "/b", "path": "/c" },
        { "operation": "chmod", "path": "/d" },
    ] });
    rig.update(json!({ "sessionUpdate": "tool_call_patch", "toolCallId": "t", "content": [diff] }));
    let shown = &rig.entries()[1];
    for part in [
        "{Modify /a None Patch(\"/a /a\\n--- /a\\n+++ /a\\n@@ -1 +1 @@\\n-a\\n+b\\n\")}",
        "{Move /c Some(\"/b\") Patch(\"/c /c\\nrest\")}",
        "{Other(\"chmod\") /d None Nothing}",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
    // Nothing of it is a claim that the disk could be compared with.
    assert_eq!(rig.call("t").texts().count(), 0);
}
