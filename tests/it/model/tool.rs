//! Tool calls.

use crate::support::{Rig, options};
use acp_tui::model::changes::{Gate, ReviewEvent};
use acp_tui::model::effect::Effect;
use acp_tui::model::event::{HostEvent, Intent};
use acp_tui::model::tool::ToolStatus;
use serde_json::{Value, json};
use std::time::Duration;

fn text(text: &str) -> Value {
    json!({ "type": "content", "content": { "type": "text", "text": text } })
}

#[test]
fn r_301_ids_come_back_in_later_turns() {
    let mut rig = Rig::prompted("one");
    rig.tool(json!({ "toolCallId": "call_1", "title": "first", "status": "completed" }));
    rig.stop("end_turn");
    rig.prompt("two");
    rig.tool(json!({ "toolCallId": "call_1", "title": "second" }));
    rig.tool_update(json!({ "toolCallId": "call_1", "status": "failed" }));
    assert_eq!(rig.entries(), ["you: one", "tool first done", "you: two", "tool second failed"]);
}

#[test]
fn r_302_only_what_is_there_changes() {
    let mut rig = Rig::prompted("hi");
    rig.tool(json!({ "toolCallId": "t", "title": "T", "name": "n", "kind": "edit", "status": "in_progress",
        "rawInput": { "a": 1 }, "locations": [{ "path": "/a", "line": 3 }] }));
    rig.tool_update(json!({ "toolCallId": "t", "title": null, "kind": null, "status": null, "rawInput": null,
        "locations": null, "name": null }));
    rig.tool_update(json!({ "toolCallId": "t", "status": "undreamt_of" }));
    let call = rig.call("t");
    assert_eq!((call.title.as_str(), call.name.as_deref()), ("T", Some("n")));
    assert_eq!(call.kind, acp_tui::model::tool::ToolKind::Edit);
    assert_eq!(call.status, ToolStatus::InProgress);
    assert_eq!(call.raw_input, Some(json!({ "a": 1 })));
    assert_eq!(call.locations[0].line, Some(3));
}

#[test]
fn r_303_content_replaces_never_appends() {
    let mut rig = Rig::prompted("hi");
    rig.tool(json!({ "toolCallId": "t", "title": "T", "content": [text("a")], "locations": [{ "path": "/a" }] }));
    rig.tool_update(json!({ "toolCallId": "t", "content": [text("b"), text("c")], "locations": [{ "path": "/b" }] }));
    assert_eq!(rig.entries()[1], "tool T pending {b} {c} @/b");
    rig.tool_update(json!({ "toolCallId": "t", "content": [], "locations": [] }));
    assert_eq!(rig.entries()[1], "tool T pending");
}

#[test]
fn r_304_null_content_changes_nothing() {
    let mut rig = Rig::prompted("hi");
    rig.tool(json!({ "toolCallId": "t", "title": "T", "content": [text("a")] }));
    rig.tool_update(json!({ "toolCallId": "t", "content": null }));
    assert_eq!(rig.entries()[1], "tool T pending {a}");
}

#[test]
fn r_305_an_update_may_come_first() {
    let mut rig = Rig::prompted("hi");
    rig.tool_update(json!({ "toolCallId": "t", "status": "in_progress" }));
    assert_eq!(rig.entries()[1], "tool t running");
    rig.tool_update(json!({ "toolCallId": "t", "name": "shell" }));
    assert_eq!(rig.entries()[1], "tool shell running");
    rig.tool(json!({ "toolCallId": "t", "title": "Run", "status": "pending", "kind": "execute" }));
    assert_eq!(rig.entries()[1..], ["tool Run running"]);
}

#[test]
fn r_306_a_second_announcement_is_merged_and_resets_nothing() {
    let mut rig = Rig::prompted("one");
    rig.tool(json!({ "toolCallId": "t", "title": "T", "status": "completed", "content": [text("a")] }));
    rig.tool(json!({ "toolCallId": "t", "status": "pending", "kind": "read" }));
    rig.tool(json!({ "toolCallId": "t" }));
    assert_eq!(rig.entries()[1..], ["tool T done {a}"]);
    rig.stop("end_turn");
    rig.prompt("two");
    rig.ask(1, "t");
    assert_eq!(rig.entries()[2..], ["you: two", "tool t pending"]);
}

#[test]
fn r_307_a_call_keeps_its_place() {
    let mut rig = Rig::prompted("hi");
    rig.tool(json!({ "toolCallId": "t", "title": "T" }));
    rig.say("after");
    rig.tool_update(json!({ "toolCallId": "t", "status": "completed", "title": "U" }));
    assert_eq!(rig.entries()[1..], ["tool U done", "agent: after"]);
}

#[test]
fn r_308_unknown_kinds_are_other() {
    let mut rig = Rig::prompted("hi");
    rig.tool(json!({ "toolCallId": "t", "kind": "teleport" }));
    rig.tool(json!({ "toolCallId": "u", "kind": "switch_mode", "status": "weird" }));
    assert_eq!(rig.call("t").kind, acp_tui::model::tool::ToolKind::Other);
    assert_eq!(rig.call("u").kind, acp_tui::model::tool::ToolKind::SwitchMode);
    assert_eq!(rig.call("u").status, ToolStatus::Pending);
}

#[test]
fn r_311_any_change_of_status_is_accepted() {
    let mut rig = Rig::prompted("hi");
    rig.tool(json!({ "toolCallId": "t", "title": "T" }));
    for (status, shown) in [
        ("completed", "done"),
        ("in_progress", "running"),
        ("failed", "failed"),
        ("pending", "pending"),
        ("completed", "done"),
    ] {
        rig.tool_update(json!({ "toolCallId": "t", "status": status }));
        assert_eq!(rig.entries()[1], format!("tool T {shown}"));
    }
    assert!(rig.call("t").ended.is_some());
}

#[test]
fn r_312_raw_input_may_be_anything() {
    for raw in [json!("text"), json!(0), json!(false), json!([1, null]), json!({ "a": {} })] {
        let mut rig = Rig::prompted("hi");
        rig.tool(json!({ "toolCallId": "t", "rawInput": raw, "rawOutput": raw }));
        assert_eq!(rig.call("t").raw_input.as_ref(), Some(&raw));
        assert_eq!(rig.call("t").raw_output.as_ref(), Some(&raw));
    }
}

#[test]
fn r_313_updates_reach_earlier_and_cancelled_turns() {
    let mut rig = Rig::prompted("one");
    rig.tool(json!({ "toolCallId": "a", "title": "A", "status": "in_progress" }));
    rig.stop("end_turn");
    rig.prompt("two");
    rig.tool(json!({ "toolCallId": "b", "title": "B" }));
    rig.intent(acp_tui::model::event::Intent::Cancel);
    rig.stop("cancelled");
    rig.prompt("three");
    rig.tool_update(json!({ "toolCallId": "a", "status": "completed" }));
    rig.tool_update(json!({ "toolCallId": "b", "status": "failed", "content": [text("why")] }));
    let tools: Vec<String> = rig.entries().into_iter().filter(|e| e.starts_with("tool")).collect();
    assert_eq!(tools, ["tool A done", "tool B failed {why}"]);
}

#[test]
fn r_314_r_315_strange_content_is_shown_and_bare_blocks_count() {
    let mut rig = Rig::prompted("hi");
    rig.tool(json!({ "toolCallId": "t", "title": "T", "content": [
        { "type": "chart", "data": [] }, { "type": "text", "text": "bare" }, 7, { "type": "diff", "path": "/a" },
        { "type": "terminal" }, { "type": "content" }, text("ok")] }));
    assert_eq!(
        rig.entries()[1],
        "tool T pending {[unsupported content: chart]} {bare} {[unsupported content: ?]} \
         {[content that cannot be read]} {[content that cannot be read]} {[content that cannot be read]} {ok}"
    );
}

#[test]
fn r_316_fact_14_a_diff_may_have_no_old_text() {
    let mut rig = Rig::prompted("hi");
    rig.tool(json!({ "toolCallId": "t", "title": "T", "content": [
        { "type": "diff", "path": "/a", "newText": "n" },
        { "type": "diff", "path": "/b", "oldText": null, "newText": "n" },
        { "type": "diff", "path": "/c", "oldText": "", "newText": "n" },
        { "type": "diff", "path": "/d", "oldText": 5, "newText": "n" },
        { "type": "diff", "path": "/e", "oldText": "o", "newText": "" }] }));
    assert_eq!(
        rig.entries()[1],
        "tool T pending {diff /a (new) > n} {diff /b (new) > n} {diff /c  > n} {diff /d (new) > n} {diff /e o > }"
    );
    // The content of the finished edit replaces it, and may be smaller.
    rig.tool_update(json!({ "toolCallId": "t", "status": "completed",
        "content": [{ "type": "diff", "path": "/a", "oldText": "x", "newText": "y" }] }));
    assert_eq!(rig.entries()[1], "tool T done {diff /a x > y}");
}

#[test]
fn r_323_lines_of_locations_are_kept_as_given() {
    let mut rig = Rig::prompted("hi");
    rig.tool(json!({ "toolCallId": "t", "title": "T", "locations": [
        { "path": "/a", "line": 0 }, { "path": "/b", "line": 4_294_967_295_u32 }, { "path": "/c", "line": -1 },
        { "path": "/d", "line": 99_999_999_999_i64 }] }));
    assert_eq!(rig.entries()[1], "tool T pending @/a:0 @/b:4294967295 @/c @/d");
}

#[test]
fn fact_01_one_call_from_three_sources_in_any_order() {
    let announce = |rig: &mut Rig| {
        rig.tool(json!({ "toolCallId": "t", "title": "Edit", "kind": "edit", "locations": [{ "path": "/a" }] }));
    };
    let update = |rig: &mut Rig| {
        rig.tool_update(json!({ "toolCallId": "t", "content": [{ "type": "diff", "path": "/a", "newText": "n" }] }));
    };
    let ask = |rig: &mut Rig| {
        let tool = json!({ "toolCallId": "t", "rawInput": { "p": "/a" } });
        rig.request(1, "session/request_permission", json!({ "toolCall": tool, "options": options() }));
    };
    let steps: [&dyn Fn(&mut Rig); 3] = [&announce, &update, &ask];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let mut rig = Rig::prompted("hi");
        for step in order {
            steps[step](&mut rig);
        }
        assert_eq!(rig.entries(), ["you: hi", "tool Edit pending {diff /a (new) > n} @/a"], "{order:?}");
        assert_eq!(rig.call("t").raw_input, Some(json!({ "p": "/a" })));
        assert_eq!(rig.pending().len(), 1);
    }
}

/// Asks on behalf of the client and has the person think for so long; the name of what asks.
fn thought_over(rig: &mut Rig, id: u64, path: &str, seconds: u64) {
    rig.request(id, "fs/write_text_file", json!({ "path": path, "content": "new\n" }));
    let req = rig.wished(|e| if let Effect::CheckWrite { req, .. } = e { Some(*req) } else { None });
    rig.host(HostEvent::WriteChecked { req, path: path.into(), real: None, outside: false, result: Ok(()) });
    assert_eq!(rig.pending(), [req]);
    rig.now += Duration::from_secs(seconds);
    rig.choose("allow");
}

#[test]
fn how_long_the_person_thinks_about_what_the_client_does_is_no_time_of_the_call() {
    let mut rig = Rig::reviewed();
    rig.intent(Intent::SetGate(Gate::Ask));
    rig.prompt("hi");
    let turn = rig.model().first().session().last_turn();
    rig.host(HostEvent::Review(ReviewEvent::TurnCovered { turn, covered: Ok(()) }));
    rig.tool(json!({ "toolCallId": "other", "title": "sleep", "kind": "execute", "status": "in_progress" }));
    let at = [json!({ "path": "/project/a" })];
    rig.tool(json!({ "toolCallId": "a", "title": "Edit", "kind": "edit", "status": "in_progress", "locations": at }));
    thought_over(&mut rig, 1, "/project/a", 40);
    rig.tool_update(json!({ "toolCallId": "other", "status": "completed" }));
    let took = |rig: &Rig, id: &str| rig.call(id).ended.unwrap().checked_sub(rig.call(id).started).unwrap();
    assert!(took(&rig, "other") >= Duration::from_secs(40), "it has gone on meanwhile");
    // Of one that runs alone it need not name the file.
    thought_over(&mut rig, 2, "/project/b", 20);
    rig.now += Duration::from_secs(3);
    rig.tool_update(json!({ "toolCallId": "a", "status": "completed" }));
    assert_eq!(took(&rig, "a").as_secs(), 3);
}

#[test]
fn fact_02_nothing_spins_after_the_turn() {
    for cancel in [false, true] {
        let mut rig = Rig::prompted("hi");
        rig.tool(json!({ "toolCallId": "a", "title": "A" }));
        rig.tool(json!({ "toolCallId": "b", "title": "B", "status": "in_progress" }));
        if cancel {
            rig.intent(acp_tui::model::event::Intent::Cancel);
        }
        rig.stop(if cancel { "cancelled" } else { "end_turn" });
        assert!(rig.model().first().session().entries().iter().all(|e| e.finished), "{:?}", rig.entries());
        assert!(rig.model().first().session().running_tool().is_none() && !rig.model().first().is_waiting());
    }
}
