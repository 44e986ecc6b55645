//! Messages of version 2 as they are read: three-state members, wholes and pieces, bounds.

use super::*;
use crate::agent::codec::Codec as _;
use crate::agent::codec::v2::V2;
use crate::base::limits::{MAX_ANSWERS, MAX_COMMANDS, MAX_CONTENT, MAX_ID, MAX_STEPS, MAX_TEXT};
use crate::model::event::{Background, PromptAnswer, Stop};
use crate::model::ids::{Owner, TermId};
use crate::model::tool::{ChangeBody, Exit, Operation, TerminalPatch, ToolStatus};

fn updated(update: &Value) -> Result<Update, String> {
    super::update(&json!({ "sessionId": "s", "update": update }).to_string()).map(|(_, update)| update)
}

fn call(members: Value) -> ToolPatch {
    let mut update = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t" });
    update.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    match updated(&update).unwrap() {
        Update::ToolUpdate(patch) => *patch,
        other => panic!("{other:?}"),
    }
}

fn terminal(kind: &str, members: Value) -> TerminalPatch {
    let mut update = json!({ "sessionUpdate": kind, "terminalId": "term" });
    update.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    match updated(&update).unwrap() {
        Update::Terminal(patch) => *patch,
        other => panic!("{other:?}"),
    }
}

#[test]
fn v2_003_v2_077_what_is_missing_stays_and_what_is_null_is_taken_back() {
    let members = json!({ "title": "T", "name": "n", "kind": "edit", "status": "paused", "rawInput": 1, "rawOutput": 2,
        "content": [], "locations": [{ "path": "/a", "line": 0 }], "capabilities": { "cancel": {} } });
    let set = call(members.clone());
    assert_eq!((set.title.as_set().unwrap().as_str(), set.status), ("T", Patch::Set(ToolStatus::Paused)));
    assert_eq!(set.can_cancel, Patch::Set(true));
    let kept = call(json!({}));
    assert_eq!(kept, ToolPatch::new("t".into()));
    let nulls = members.as_object().unwrap().keys().map(|key| (key.clone(), Value::Null)).collect();
    let reset = call(nulls);
    assert_eq!((&reset.title, &reset.name, &reset.kind), (&Patch::Reset, &Patch::Reset, &Patch::Reset));
    assert_eq!((&reset.status, &reset.content, &reset.locations), (&Patch::Reset, &Patch::Reset, &Patch::Reset));
    assert_eq!((&reset.raw_input, &reset.raw_output), (&Patch::Reset, &Patch::Reset));
    assert_eq!(reset.can_cancel, Patch::Set(false));
}

#[test]
fn v2_079_a_status_that_is_not_known_goes_on() {
    for (word, status) in [
        ("cancelled", ToolStatus::Cancelled),
        ("in_progress", ToolStatus::InProgress),
        ("dreaming", ToolStatus::Other("dreaming".into())),
    ] {
        assert_eq!(call(json!({ "status": word })).status, Patch::Set(status), "{word}");
    }
    assert_eq!(call(json!({ "status": 7, "title": [], "content": 3 })), ToolPatch::new("t".into()));
}

#[test]
fn v2_081_a_way_to_cancel_that_cannot_be_read_is_none() {
    for can in [json!(null), json!(true), json!({ "cancel": true }), json!({ "cancel": null }), json!([]), json!("yes")]
    {
        assert_eq!(call(json!({ "capabilities": can })).can_cancel, Patch::Set(false), "{can}");
    }
}

#[test]
fn v2_082_a_line_zero_is_none_and_its_place_stays() {
    let patch = call(json!({ "locations": [{ "path": "/a", "line": 0 }, { "path": "/b", "line": 3 }, { "line": 1 }] }));
    let places: Vec<_> = patch.locations.as_set().unwrap().iter().map(|l| (l.path.as_str(), l.line)).collect();
    assert_eq!(places, [("/a", None), ("/b", Some(3))]);
}

#[test]
fn v2_073_words_without_a_message_are_of_none_with_an_id() {
    let text = json!({ "type": "text", "text": "a" });
    for id in [json!(null), json!(7), json!({})] {
        for update in [
            json!({ "sessionUpdate": "agent_message_chunk", "messageId": id, "content": text }),
            json!({ "sessionUpdate": "agent_message", "messageId": id, "content": [text] }),
        ] {
            let of_none = |update| matches!(update, Ok(Update::Chunk { message_id: None, block: Block::Text(a), .. }) if a == "a");
            assert!(of_none(updated(&update)), "{update}");
        }
    }
    let long = "x".repeat(MAX_ID + 1);
    for name in ["agent_message_chunk", "agent_message"] {
        assert!(updated(&json!({ "sessionUpdate": name, "messageId": long, "content": text })).is_err(), "{name}");
    }
    let update = json!({ "sessionUpdate": "agent_thought_chunk", "messageId": "m", "content": text });
    assert!(matches!(updated(&update), Ok(Update::Chunk { kind: ChunkKind::Thought, message_id: Some(_), .. })));
}

#[test]
fn v2_070_v2_075_a_message_is_left_cleared_or_replaced() {
    let message = |content: Value| {
        let mut update = json!({ "sessionUpdate": "user_message", "messageId": "m" });
        if content != json!("none") {
            update["content"] = content;
        }
        match updated(&update).unwrap() {
            Update::Message { kind: ChunkKind::User, content, .. } => content,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(message(json!("none")), Patch::Keep);
    assert_eq!(message(Value::Null), Patch::Reset);
    assert_eq!(message(json!([])), Patch::Set(Vec::new()));
    let blocks = message(json!([{ "type": "text", "text": "A" }, { "type": "hologram", "x": 1 }]));
    let blocks = blocks.as_set().unwrap();
    assert_eq!(blocks[0], Block::Text("A".into()));
    assert!(matches!(&blocks[1], Block::Other { label, .. } if label == "unsupported content: hologram"), "{blocks:?}");
}

#[test]
fn v2_047_v2_049_idle_ends_a_turn_and_a_state_that_is_not_known_does_not() {
    let state = |members: Value| {
        let mut update = json!({ "sessionUpdate": "state_update" });
        update.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        match updated(&update) {
            Ok(Update::Activity(activity, _)) => Some(activity),
            _ => None,
        }
    };
    assert_eq!(state(json!({ "state": "requires_action" })), Some(Activity::Waits), "v2_048");
    for busy in ["running", "unknown", "dancing"] {
        assert_eq!(state(json!({ "state": busy })), Some(Activity::Busy), "{busy}");
    }
    assert_eq!(state(json!({})), None);
    let stop = |reason: Value| match state(json!({ "state": "idle", "stopReason": reason })) {
        Some(Activity::Idle(Ok(result))) => result.stop,
        other => panic!("{other:?}"),
    };
    assert_eq!(stop(json!("end_turn")), Stop::EndTurn);
    assert_eq!(stop(json!("cancelled")), Stop::Cancelled);
    assert_eq!(stop(json!("bored")), Stop::Odd(Some("bored".into())));
    for none in [json!(null), json!(7), json!({ "a": 1 })] {
        assert_eq!(stop(none.clone()), Stop::EndTurn, "v2_051, v2_054: {none}");
    }
    let failed =
        state(json!({ "state": "idle", "stopReason": "error", "error": { "code": -1, "message": "no luck" } }));
    assert!(matches!(failed, Some(Activity::Idle(Err(error))) if error.message == "no luck" && error.code == -1));
}

#[test]
fn v2_056_background_is_all_of_it_or_nothing_is_said() {
    let told = |background: Value| {
        let update = json!({ "sessionUpdate": "state_update", "state": "idle", "background": background });
        if let Ok(Update::Activity(_, background)) = updated(&update) { background } else { panic!("{update}") }
    };
    let all = json!([{ "type": "terminal", "terminalId": "t" }, { "type": "tool_call", "toolCallId": "c" },
        { "type": "subagent", "sessionId": "s" }, { "type": "dream" }]);
    let (tool, child) = (Background::Tool("c".into()), Background::Child("s".into()));
    let read = [Background::Terminal("t".into()), tool, child, Background::Other("dream".into())];
    assert_eq!(told(all).unwrap(), read);
    assert_eq!(told(json!([])), Some(Vec::new()));
    for nothing in [json!(null), json!("x"), json!([{ "type": "terminal" }]), json!([{ "type": "dream" }, 7])] {
        assert_eq!(told(nothing.clone()), None, "{nothing}");
    }
}

#[test]
fn v2_085_v2_087_output_is_decoded_piece_by_piece() {
    let chunk = |data: Value| terminal("terminal_output_chunk", json!({ "data": data }));
    assert_eq!(chunk(json!("aGk=")).append, b"hi");
    assert_eq!(chunk(json!("aGk")).append, b"hi", "without padding");
    assert_eq!(chunk(json!("")).append, b"");
    for broken in [json!("%%%"), json!(7), json!(null), json!("aGk=aGk=")] {
        let patch = chunk(broken.clone());
        assert!(patch.is_broken && patch.append.is_empty(), "{broken}");
    }
    let patch = terminal(
        "terminal_update",
        json!({ "command": "make", "cwd": "/p", "output": { "data": "aGk=" },
        "exitStatus": { "exitCode": -5 }, "capabilities": { "cancel": {} } }),
    );
    assert_eq!(patch.id, TermId::of(Owner::Agent, "term"));
    assert_eq!((patch.command, patch.output), (Patch::Set("make".into()), Patch::Set(b"hi".to_vec())));
    assert_eq!(patch.exit, Patch::Set(Exit { code: Some(-5), signal: None }));
    assert_eq!(patch.can_cancel, Patch::Set(true));
    let exited = terminal("terminal_update", json!({ "exitStatus": {} }));
    assert_eq!(exited.exit, Patch::Set(Exit::default()), "v2_088");
    let reset = terminal("terminal_update", json!({ "output": null, "exitStatus": null }));
    assert_eq!((reset.output, reset.exit), (Patch::Reset, Patch::Reset));
}

#[test]
fn v2_092_v2_094_v2_095_a_diff_is_a_change_of_each_file() {
    let patch = "diff --git /a /a\n--- /a\n+++ /a\n@@ -1 +1 @@\n-a\n+b\ndiff --git /gone /gone\ndeleted file mode 100644\n\
                 --- /gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
    let diff = json!({ "type": "diff", "patch": { "format": "git_patch", "text": patch }, "changes": [
        { "operation": "modify", "path": "/a" },
        { "operation": "delete", "path": "/gone" },
        { "operation": "move", "oldPath": "/b", "path": "/c" },
        { "operation": "chmod", "path": "/d" },
        { "operation": "add" },
    ] });
    let content = call(json!({ "content": [diff.clone()] })).content;
    let shown: Vec<String> = content
        .as_set()
        .unwrap()
        .iter()
        .map(|part| match part {
            ToolContent::Change(change) => {
                let body = match &change.body {
                    ChangeBody::Patch(text) => format!("{} lines", text.lines().count()),
                    ChangeBody::Nothing => "nothing".to_owned(),
                    ChangeBody::Texts { .. } => "texts".to_owned(),
                };
                format!("{:?} {} {:?} {body}", change.operation, change.path, change.from)
            }
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(shown[0], "Modify /a None 6 lines");
    assert_eq!(shown[1], "Delete /gone None 6 lines");
    assert_eq!(shown[2], "Move /c Some(\"/b\") nothing");
    assert_eq!(shown[3], "Other(\"chmod\") /d None nothing");
    assert!(shown[4].contains("cannot be read"), "{}", shown[4]);
    let update = json!({ "sessionUpdate": "tool_call_content_chunk", "toolCallId": "t", "content": diff });
    match updated(&update).unwrap() {
        Update::ToolUpdate(patch) => assert_eq!(patch.append.len(), 5, "v2_078: a piece is the same"),
        other => panic!("{other:?}"),
    }
}

fn asked(members: Value) -> AgentRequest {
    let mut params = json!({ "sessionId": "s", "title": "May I?",
        "options": [{ "optionId": "y", "name": "Yes", "kind": "allow_once" }] });
    params.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    request("session/request_permission", &params.to_string(), 4).1
}

fn tool_of(request: AgentRequest) -> ToolPatch {
    match request {
        AgentRequest::Permission { tool, .. } => tool,
        other => panic!("{other:?}"),
    }
}

#[test]
fn v2_097_v2_098_a_question_is_worded_beside_its_call() {
    let call = json!({ "toolCallId": "t", "title": "Run tests", "status": null });
    let tool = tool_of(asked(json!({ "description": "why", "subject": { "type": "tool_call", "toolCall": call } })));
    assert_eq!((tool.title.as_set().map(String::as_str), &tool.status), (Some("Run tests"), &Patch::Reset));
    let wording = tool.wording.unwrap();
    assert_eq!((wording.title.as_str(), wording.description.as_deref()), ("May I?", Some("why")));
    assert!(!wording.is_unknown);
}

#[test]
fn v2_099_a_command_is_asked_about_whole() {
    let command = |more: Value| {
        let mut subject = json!({ "type": "command", "command": "rm -r x", "cwd": "/p" });
        subject.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        asked(json!({ "subject": subject }))
    };
    let tool = tool_of(command(json!({})));
    assert_eq!(tool.raw_input, Patch::Set(json!({ "command": "rm -r x", "cwd": "/p" })));
    assert_eq!((tool.kind, tool.id.as_str()), (Patch::Set(ToolKind::Execute), "question 4"));
    let named = tool_of(command(json!({ "toolCallId": "t" })));
    assert_eq!((named.id.as_str(), &named.title), ("t", &Patch::Keep));
    for (member, value) in [
        ("command", json!("x".repeat(MAX_COMMAND + 1))),
        ("command", json!("\n".repeat(MAX_COMMAND_LINES))),
        ("cwd", json!("x".repeat(MAX_PATH + 1))),
    ] {
        assert!(matches!(command(json!({ member: value })), AgentRequest::TooLarge { .. }), "{member}");
    }
    for (member, value) in [("command", json!(null)), ("cwd", json!(7)), ("toolCallId", json!("x".repeat(MAX_ID + 1)))]
    {
        assert!(matches!(command(json!({ member: value })), AgentRequest::BadParams { .. }), "{member}");
    }
}

#[test]
fn v2_100_v2_103_what_it_is_about_may_not_be_known_but_answers_there_must_be() {
    for subject in [json!(null), json!({ "type": "network", "host": "example.com" }), json!(7)] {
        let tool = tool_of(asked(json!({ "subject": subject })));
        assert!(tool.wording.unwrap().is_unknown, "{subject}");
        assert_eq!(tool.raw_input.as_set(), Some(&subject).filter(|subject| !subject.is_null()));
    }
    assert!(matches!(asked(json!({ "options": [] })), AgentRequest::BadParams { .. }));
    let odd = asked(json!({ "options": [{ "optionId": "x", "name": "Perhaps", "kind": "perhaps" }] }));
    assert!(matches!(odd, AgentRequest::Permission { .. }), "v2_101");
}

#[test]
fn v2_083_files_and_terminals_are_not_offered() {
    for method in ["fs/read_text_file", "fs/write_text_file", "terminal/create", "terminal/output", "terminal/kill"] {
        let (_, request) = request(method, r#"{"sessionId":"s","path":"/a","command":"a"}"#, 0);
        assert_eq!(request, AgentRequest::UnknownMethod(method.to_owned()));
    }
}

#[test]
fn v2_080_a_message_of_the_first_version_is_not_known() {
    for name in ["tool_call", "plan", "current_mode_update"] {
        let update = json!({ "sessionUpdate": name, "toolCallId": "t", "entries": [], "currentModeId": "m" });
        assert!(matches!(updated(&update), Ok(Update::Unknown { name: told, .. }) if told == name), "{name}");
    }
}

#[test]
fn v2_104_v2_108_v2_113_plans_options_and_costs_go_by_their_ids() {
    let plan = json!({ "sessionUpdate": "plan_update",
        "plan": { "type": "items", "planId": "p", "entries": [{ "content": "Fix", "status": "cancelled" }] } });
    assert!(matches!(updated(&plan), Ok(Update::Plan { id: Some(id), entries }) if &*id == "p" && entries.len() == 1));
    let other =
        json!({ "sessionUpdate": "plan_update", "plan": { "type": "markdown", "planId": "p", "content": "a\nb" } });
    assert!(matches!(updated(&other), Ok(Update::Plan { entries, .. }) if entries.len() == 2));
    let options = json!({ "sessionUpdate": "config_option_update", "configOptions": [{ "configId": "mode", "name": "Mode",
        "category": "mode", "type": "select", "currentValue": "ask",
        "options": [{ "groupId": "g", "name": "All", "options": [{ "value": "ask", "name": "Ask" }] }] }] });
    match updated(&options).unwrap() {
        Update::Options(list) => assert_eq!((list[0].id.as_str(), list.len()), ("mode", 1)),
        other => panic!("{other:?}"),
    }
    for (cost, read) in
        [(json!(null), Patch::Reset), (json!({ "amount": 1, "currency": "USD" }), Patch::Set((1.0, "USD".into())))]
    {
        let usage = json!({ "sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": cost });
        assert_eq!(updated(&usage), Ok(Update::Usage { used: 1, size: 2, cost: read }));
    }
    let usage = json!({ "sessionUpdate": "usage_update", "used": 1, "size": 2 });
    assert_eq!(updated(&usage), Ok(Update::Usage { used: 1, size: 2, cost: Patch::Keep }));
}

#[test]
fn v2_041_a_prompt_may_be_taken_without_an_id() {
    assert_eq!(V2.prompt(r#"{"messageId":"m"}"#), Ok(PromptAnswer::Taken { message: Some("m".into()) }));
    for result in ["{}", "null", r#"{"messageId":7}"#] {
        assert_eq!(V2.prompt(result), Ok(PromptAnswer::Taken { message: None }), "{result}");
    }
}

#[test]
fn what_is_larger_than_anybody_needs_is_bounded() {
    let long = "x".repeat(1 << 20);
    let id = "x".repeat(MAX_ID + 1);
    for update in [
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": id }),
        json!({ "sessionUpdate": "tool_call_content_chunk", "toolCallId": id, "content": {} }),
        json!({ "sessionUpdate": "terminal_update", "terminalId": id }),
        json!({ "sessionUpdate": "terminal_output_chunk", "terminalId": id, "data": "" }),
        json!({ "sessionUpdate": "agent_message", "messageId": id }),
        json!({ "sessionUpdate": "plan_update", "plan": { "type": "items", "planId": id, "entries": [] } }),
        json!({ "sessionUpdate": "plan_removed", "planId": id }),
    ] {
        assert!(updated(&update).unwrap_err().contains("1025 bytes, more than 1024"), "{update}");
    }
    let many = |value: Value| vec![value; 10_000];
    for update in [
        json!({ "sessionUpdate": "terminal_update", "terminalId": "t", "command": long, "cwd": long,
                "exitStatus": { "signal": long } }),
        json!({ "sessionUpdate": "state_update", "state": "idle", "stopReason": long, "usage": { "a": long } }),
        json!({ "sessionUpdate": "state_update", "state": "idle", "stopReason": "error", "error": { "message": long } }),
        json!({ "sessionUpdate": "plan_update", "plan": { "type": "items", "planId": "p", "entries": many(json!({ "content": "a" })) } }),
        json!({ "sessionUpdate": "plan_update", "plan": { "type": long, "planId": "p", "content": long } }),
        json!({ "sessionUpdate": "agent_message", "messageId": "m", "content": many(json!({ "type": "image", "mimeType": "a", "data": "" })) }),
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "title": long, "status": long, "name": long }),
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t",
                "content": [{ "type": "diff", "changes": many(json!({ "operation": long[..2000], "path": "/a" })) }] }),
        json!({ "sessionUpdate": "available_commands_update", "availableCommands": many(json!({ "name": "a" })) }),
    ] {
        let kept = format!("{:?}", updated(&update).unwrap());
        let what = update.to_string();
        assert!(kept.len() < 2_500_000, "{} bytes of {}", kept.len(), &what[..what.len().min(100)]);
        assert!(
            kept.matches("Command {").count() <= MAX_COMMANDS && kept.matches("PlanEntry {").count() <= MAX_STEPS + 1
        );
    }
    let data = "QUJD".repeat(MAX_CONTENT / 3 + 1000);
    let patch = terminal("terminal_output_chunk", json!({ "data": data }));
    assert_eq!(patch.append.len(), MAX_CONTENT);
    let patch = call(json!({ "content": [{ "type": "diff", "changes": [{ "operation": "modify", "path": "/a" }],
        "patch": { "format": "git_patch", "text": format!("diff --git /a /a\n{}", "x".repeat(MAX_TEXT)) } }] }));
    assert!(patch.cut);
}

#[test]
fn a_question_that_cannot_be_shown_whole_is_refused() {
    let long = "x".repeat(MAX_TITLE + 1);
    let option = json!({ "optionId": "o", "name": "Allow", "kind": "allow_once" });
    let call = |members: Value| {
        let mut call = json!({ "toolCallId": "t" });
        call.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        json!({ "subject": { "type": "tool_call", "toolCall": call } })
    };
    for members in [
        json!({ "title": long }),
        json!({ "description": long }),
        json!({ "options": vec![option.clone(); MAX_ANSWERS + 1] }),
        json!({ "subject": { "type": "network", "list": vec![0; 300_000] } }),
        json!({ "subject": { "type": "network", "text": "x".repeat(MAX_CONTENT + 1) } }),
        call(json!({ "title": long })),
        call(json!({ "rawInput": vec![0; 300_000] })),
        call(json!({ "content": vec![json!({}); MAX_PARTS + 1] })),
        call(
            json!({ "content": [{ "type": "diff", "changes": [{ "operation": "add", "path": "x".repeat(MAX_PATH + 1) }] }] }),
        ),
    ] {
        let request = asked(members.clone());
        assert!(matches!(request, AgentRequest::TooLarge { .. }), "{members:.80} {request:?}");
    }
}

#[test]
fn an_operation_is_worded_by_the_agent_where_it_is_not_known() {
    let content =
        call(json!({ "content": [{ "type": "diff", "changes": [{ "operation": 7, "path": "/a" }] }] })).content;
    let change = content.as_set().unwrap()[0].change().unwrap();
    assert_eq!(change.operation, Operation::Other("change".into()));
}
