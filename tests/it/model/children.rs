//! Sessions that an agent begins itself: told of below the session that they belong to.

use crate::support::{Rig, SESSION, exit_code, options, plain_init, with};
use acp_tui::model::effect::Effect;
use acp_tui::model::event::{HostEvent, Intent};
use acp_tui::model::ids::EntryId;
use acp_tui::model::tool::{Mark, ToolContent, ToolStatus};
use serde_json::{Value, json};

const CHILD: &str = "child-1";

fn told(rig: &mut Rig, more: &Value) {
    let mut update = json!({ "sessionUpdate": "subagent_update", "sessionId": CHILD });
    for (name, value) in more.as_object().unwrap() {
        update[name] = value.clone();
    }
    rig.update(update);
}

fn with_child() -> Rig {
    let mut rig = Rig::prompted("hi");
    told(
        &mut rig,
        &json!({ "title": "Tests", "description": "general", "capabilities": { "cancel": {} }, "state": { "state": "running" } }),
    );
    rig.sent();
    rig
}

fn asks(rig: &mut Rig, id: u64, tool: &str) {
    let call = json!({ "toolCallId": tool, "title": tool });
    let params = json!({ "sessionId": CHILD, "toolCall": call, "options": options() });
    rig.request(id, "session/request_permission", params);
}

fn text(rig: &Rig) -> Vec<String> {
    let content = &rig.call("child-1/").content;
    let text = |content: &ToolContent| {
        if let ToolContent::Block(block) = content { format!("{block:?}") } else { String::new() }
    };
    content.iter().map(text).collect()
}

#[test]
fn r_290_r_294_a_child_is_an_entry_of_its_parent_and_is_patched() {
    let mut rig = with_child();
    assert_eq!(rig.entries()[1..], ["tool Tests running"]);
    told(&mut rig, &json!({ "state": { "state": "requires_action" } }));
    assert_eq!(rig.call("child-1/").status, ToolStatus::Paused);
    told(&mut rig, &json!({ "state": { "state": "unheard-of" } }));
    assert_eq!(rig.call("child-1/").status, ToolStatus::Other("unheard-of".into()), "that is not idle");
    told(&mut rig, &json!({ "title": null, "state": { "state": "idle", "stopReason": "end_turn" } }));
    assert_eq!(rig.entries()[1..], ["tool Tests done"]);
    // It was idle and is no more.
    told(&mut rig, &json!({ "state": { "state": "running" } }));
    assert_eq!(rig.entries()[1..], ["tool Tests running"]);
    told(&mut rig, &json!({ "state": { "state": "idle", "error": { "code": 1, "message": "no" } } }));
    assert_eq!(rig.call("child-1/").status, ToolStatus::Failed);
    assert_eq!(rig.odd(), 0);
}

#[test]
fn r_291_nothing_that_a_child_says_is_passed_over() {
    let mut rig = with_child();
    let text = |text: &str| json!({ "type": "text", "text": text });
    let link = json!({ "type": "resource_link", "name": "notes", "uri": "file:///notes" });
    for update in [
        json!({ "sessionUpdate": "agent_thought_chunk", "content": text("why not") }),
        json!({ "sessionUpdate": "agent_message_chunk", "content": link }),
        json!({ "sessionUpdate": "plan", "entries": [{ "content": "one", "priority": "high", "status": "completed" }] }),
        json!({ "sessionUpdate": "plan", "entries": [{ "content": "two", "priority": "high", "status": "pending" }] }),
        json!({ "sessionUpdate": "unheard_of" }),
        json!({ "sessionUpdate": "agent_message_chunk", "content": text("done") }),
    ] {
        rig.update_in(CHILD, update);
    }
    let said = self::text(&rig).join(" | ");
    for words in ["why not", "notes", "file:///notes", "two", "unheard_of", "done"] {
        assert!(said.contains(words), "{words} in {said}");
    }
    assert!(!said.contains("[x] one"), "a plan takes the place of the one before: {said}");
    assert_eq!(rig.odd(), 1, "what is not known is counted");
}

/// A message that is patched in something else than its content says what it said.
#[test]
fn r_291_a_message_of_a_child_stays_unless_its_content_is_told_anew() {
    let mut rig = Rig::second();
    rig.prompt("hi");
    told(&mut rig, &json!({ "title": "Tests", "state": { "state": "running" } }));
    let message = |more: Value| {
        let mut update = json!({ "sessionUpdate": "agent_message", "messageId": "m" });
        more.as_object().unwrap().iter().for_each(|(name, value)| update[name] = value.clone());
        update
    };
    rig.update_in(CHILD, message(json!({ "content": [{ "type": "text", "text": "said" }] })));
    rig.update_in(CHILD, message(json!({})));
    assert_eq!(text(&rig), ["Text(\"said\")"]);
    rig.update_in(CHILD, message(json!({ "content": null })));
    assert!(text(&rig).is_empty());
}

#[test]
fn r_291_what_a_child_says_does_and_asks_stands_below_it() {
    let mut rig = with_child();
    rig.update_in(CHILD, json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": "read a", "kind": "read" }));
    rig.tool(json!({ "toolCallId": "t", "title": "of the parent" }));
    rig.update_in(CHILD, json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed" }));
    assert_eq!(rig.entries()[1..], ["tool Tests running", "tool read a done", "tool of the parent pending"]);
    assert_eq!(rig.call("child-1/t").parent.as_ref().map(|id| id.as_str()), Some("child-1/"));
    rig.update_in(
        CHILD,
        json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "hel" } }),
    );
    rig.update_in(
        CHILD,
        json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "lo" } }),
    );
    assert_eq!(text(&rig), ["Text(\"hello\")"]);
    asks(&mut rig, 1, "t");
    assert!(rig.sent().is_empty());
    rig.choose("yes");
    assert_eq!(rig.sent_briefly(), ["1:selected yes"]);
    // What nobody has announced is not there.
    rig.request(
        2,
        "session/request_permission",
        json!({ "sessionId": "other", "toolCall": { "toolCallId": "t" }, "options": options() }),
    );
    assert!(rig.sent_briefly()[0].starts_with("2:-"));
}

#[test]
fn r_292_a_child_is_sent_nothing_but_that_it_is_to_stop_and_only_where_it_can() {
    let mut rig = with_child();
    let entry = EntryId(rig.model().first().session().entries().iter().next_back().unwrap().id.0);
    asks(&mut rig, 1, "t");
    rig.intent(Intent::StopChild { entry });
    let sent = rig.sent();
    assert_eq!((&sent[0]["method"], &sent[0]["params"]["sessionId"]), (&"session/cancel".into(), &CHILD.into()));
    assert_eq!(sent[1]["result"]["outcome"]["outcome"], "cancelled");
    assert_eq!(sent.len(), 2);
    // The session itself goes on.
    rig.stop("end_turn");
    told(&mut rig, &json!({ "capabilities": null }));
    rig.intent(Intent::StopChild { entry });
    assert!(rig.sent().is_empty());
}

#[test]
fn what_a_child_and_its_own_were_about_is_over_when_it_is_stopped() {
    let mut rig = with_child();
    let entry = EntryId(rig.model().first().session().entries().iter().next_back().unwrap().id.0);
    let call = json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": "read a", "status": "in_progress" });
    rig.update_in(CHILD, call);
    let begun = json!({ "sessionUpdate": "subagent_update", "sessionId": "child-2", "title": "Deep", "state": { "state": "running" } });
    rig.update_in(CHILD, begun);
    let params =
        json!({ "sessionId": "child-2", "toolCall": { "toolCallId": "d", "title": "rm" }, "options": options() });
    rig.request(1, "session/request_permission", params);
    rig.tool(json!({ "toolCallId": "t", "title": "of the parent", "status": "in_progress" }));
    rig.intent(Intent::StopChild { entry });
    assert_eq!(rig.sent_briefly(), ["session/cancel", "1:cancelled"], "what its own asks, too");
    assert!(rig.pending().is_empty());
    assert!(rig.entries().iter().any(|entry| entry.contains("its sub-agent was stopped")), "{:?}", rig.entries());
    told(&mut rig, &json!({ "state": { "state": "idle", "stopReason": "cancelled" } }));
    for id in ["child-1/t", "child-2/", "child-2/d"] {
        assert!(rig.call(id).is_finished(), "{id}");
    }
    assert_eq!(rig.call("child-1/t").mark, Some(Mark::Cancelled));
    assert!(!rig.call("t").is_finished(), "the session goes on");
    rig.update_in(CHILD, json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed" }));
    assert_eq!(rig.call("child-1/t").status, ToolStatus::Completed, "what is told later counts");
}

/// Its row may be of an earlier turn.
#[test]
fn r_294_r_295_what_is_taken_up_again_is_over_with_the_turn_that_does_so() {
    let running = json!({ "state": { "state": "running" } });
    let mark = |rig: &Rig| rig.call("child-1/").mark;
    let mut rig = with_child();
    rig.tool(json!({ "toolCallId": "t", "title": "T", "status": "completed" }));
    told(&mut rig, &json!({ "state": { "state": "idle" } }));
    rig.stop("end_turn");
    rig.prompt("more");
    told(&mut rig, &running);
    rig.tool_update(json!({ "toolCallId": "t", "status": "in_progress" }));
    assert_eq!((mark(&rig), rig.call("t").mark), (None, None));
    rig.stop("end_turn");
    let unknown = Some(Mark::NoFinalStatus);
    assert_eq!((mark(&rig), rig.call("t").mark), (unknown, unknown));
    // It works once more, and then again after it was told to stop.
    rig.prompt("more");
    told(&mut rig, &running);
    assert_eq!(mark(&rig), None);
    rig.intent(Intent::Cancel);
    assert_eq!(mark(&rig), Some(Mark::Cancelled));
    told(&mut rig, &running);
    assert_eq!(mark(&rig), Some(Mark::Cancelled));
    rig.stop("cancelled");
    assert_eq!(mark(&rig), Some(Mark::Cancelled));
    told(&mut rig, &json!({ "state": { "state": "idle" } }));
    assert_eq!((mark(&rig), rig.call("child-1/").status.clone()), (None, ToolStatus::Completed));
    // Outside of any turn nothing waits for it.
    told(&mut rig, &running);
    assert_eq!(mark(&rig), unknown);
}

/// What is known of one stays known when its agent is started again and asked for the session once more.
#[test]
fn r_295_after_a_restart_one_is_history_until_it_is_announced_again() {
    let init = || with(plain_init(), json!({ "agentCapabilities": { "loadSession": true } }));
    let mut rig = Rig::initialized(init());
    rig.answer("session/new", json!({ "sessionId": SESSION }));
    rig.prompt("hi");
    told(&mut rig, &json!({ "title": "Tests", "capabilities": { "cancel": {} }, "state": { "state": "running" } }));
    rig.exited(exit_code(1), &[]);
    rig.intent(Intent::Restart);
    rig.host(HostEvent::AgentSpawned { pid: 8 });
    rig.sent();
    rig.answer("initialize", init());
    rig.answer("session/load", Value::Null);
    rig.sent();
    asks(&mut rig, 9, "t");
    assert!(rig.sent_briefly()[0].starts_with("9:-"), "it is not announced");
    told(&mut rig, &json!({ "state": { "state": "idle" } }));
    let rows: Vec<String> = rig.entries().into_iter().filter(|entry| entry.starts_with("tool")).collect();
    assert_eq!(rows, ["tool Tests done"]);
    assert!(rig.model().first().session().running_child().is_none());
}

#[test]
fn r_293_stopping_the_parent_answers_what_its_children_ask() {
    let mut rig = with_child();
    asks(&mut rig, 1, "t");
    rig.intent(Intent::Cancel);
    assert_eq!(rig.sent_briefly(), ["session/cancel", "1:cancelled"]);
    assert!(rig.pending().is_empty());
}

#[test]
fn r_296_a_child_has_its_own_directories_and_those_of_its_parent_where_it_says_none() {
    let mut rig = with_child();
    let read = |rig: &mut Rig, id: u64, session: &str, path: &str| {
        rig.request(id, "fs/read_text_file", json!({ "sessionId": session, "path": path }));
        rig.wants().into_iter().any(|effect| matches!(effect, Effect::FsRead { .. }))
    };
    let cwd = rig.model().first().session().cwd.clone();
    let at = |path: &str| format!("{cwd}/{path}");
    assert!(read(&mut rig, 1, CHILD, &at("a")));
    told(&mut rig, &json!({ "cwd": at("one"), "additionalDirectories": [at("two")] }));
    let nested = json!({ "sessionUpdate": "subagent_update", "sessionId": "nested", "cwd": at("one/in") });
    rig.update_in(CHILD, nested);
    for (id, session, path, is_served) in [
        (2, CHILD, "one/a", true),
        (3, CHILD, "two/a", true),
        (4, CHILD, "a", false),
        (5, CHILD, "one/../a", false),
        (6, CHILD, "onea", false),
        (7, "nested", "one/in/a", true),
        (8, "nested", "two/a", true),
        (9, "nested", "one/a", false),
    ] {
        assert_eq!(read(&mut rig, id, session, &at(path)), is_served, "{path} of {session}");
    }
    assert!(read(&mut rig, 10, SESSION, &at("a")), "its parent has its own");
    rig.sent();
    rig.request(11, "fs/write_text_file", json!({ "sessionId": CHILD, "path": at("b"), "content": "" }));
    assert_eq!(rig.sent()[0]["error"]["data"]["reason"], "outside_workspace");
    rig.request(12, "terminal/create", json!({ "sessionId": "nested", "command": "true" }));
    let started = rig.wants().into_iter().find_map(|effect| match effect {
        Effect::TerminalCreate { spec, .. } => spec.cwd.clone(),
        _ => None,
    });
    assert_eq!(started, Some(at("one/in")));
    // What cannot be read changes nothing, what is taken back is taken back.
    told(&mut rig, &json!({ "cwd": "relative" }));
    assert!(!read(&mut rig, 13, CHILD, &at("a")));
    told(&mut rig, &json!({ "cwd": null, "additionalDirectories": null }));
    assert!(read(&mut rig, 14, CHILD, &at("a")));
}

#[test]
fn r_297_costs_modes_and_plans_of_a_child_are_not_those_of_its_parent() {
    let mut rig = with_child();
    rig.update(json!({ "sessionUpdate": "usage_update", "used": 10, "size": 100 }));
    rig.update_in(CHILD, json!({ "sessionUpdate": "usage_update", "used": 99, "size": 100 }));
    rig.update_in(CHILD, json!({ "sessionUpdate": "session_info_update", "title": "of the child" }));
    rig.update_in(CHILD, json!({ "sessionUpdate": "current_mode_update", "currentModeId": "x" }));
    let session = rig.model().first().session();
    assert_eq!((session.usage.as_ref().map(|usage| usage.used), session.title.as_deref()), (Some(10), None));
    assert_eq!(rig.entries().len(), 2);
}

#[test]
fn r_299_messages_between_sessions_are_upserted_by_their_ids() {
    let mut rig = with_child();
    let message = |at: &str, text: Value| {
        let content = json!([{ "type": "text", "text": text }]);
        let between = json!({ "senderSessionId": SESSION, "recipientSessionId": CHILD });
        let mut update = json!({ "sessionUpdate": "session_message", "messageId": at, "content": content });
        for (name, value) in between.as_object().unwrap() {
            update[name] = value.clone();
        }
        update
    };
    // On both sides of it.
    rig.update(message("m", "run".into()));
    rig.update_in(CHILD, message("m", "run the tests".into()));
    assert_eq!(text(&rig), ["Text(\"run the tests\")"]);
    let chunk = |text: &str| json!({ "sessionUpdate": "session_message_chunk", "messageId": "n", "content": { "type": "text", "text": text } });
    rig.update_in(CHILD, chunk("all "));
    rig.update_in(CHILD, chunk("well"));
    assert_eq!(text(&rig), ["Text(\"run the tests\")", "Text(\"all well\")"]);
    // However much it says.
    for _ in 0..200 {
        rig.update_in(CHILD, chunk(&"x".repeat(1000)));
    }
    assert!(text(&rig).concat().len() < 70_000);
}

#[test]
fn r_300_early_drafts_are_ignored() {
    let mut rig = with_child();
    told(&mut rig, &json!({ "state": "completed", "name": "x", "task": "y" }));
    rig.update(json!({ "sessionUpdate": "subagent_update", "subagentSessionId": "old" }));
    assert_eq!(rig.entries()[1], "tool Tests running");
    let params = &rig.lines[0]["params"]["clientCapabilities"];
    assert_eq!(params["subagents"], json!({}));
}
