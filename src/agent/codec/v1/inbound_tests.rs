//! What is kept of messages that are larger than anybody needs.

use super::*;
use crate::base::limits::*;
use crate::model::entry::{Block, PlanStatus};
use crate::model::tool::{ToolContent, ToolPatch};
use serde_json::json;

fn updated(update: &Value) -> Result<Update, String> {
    super::update(&json!({ "sessionId": "s", "update": update }).to_string()).map(|(_, update)| update)
}

fn call(members: &Value) -> ToolPatch {
    let mut update = json!({ "sessionUpdate": "tool_call", "toolCallId": "t" });
    update.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    match updated(&update).unwrap() {
        Update::ToolCall(patch) => *patch,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_plan_of_a_hundred_thousand_entries_keeps_a_thousand_and_says_how_many_are_missing() {
    for count in [1_200, 100_000] {
        let entries: Vec<Value> = (0..count).map(|n| json!({ "content": format!("step {n}") })).collect();
        let Update::Plan { entries: plan, .. } =
            updated(&json!({ "sessionUpdate": "plan", "entries": entries })).unwrap()
        else {
            panic!("no plan")
        };
        assert_eq!(plan.len(), MAX_STEPS + 1);
        let last = plan.last().unwrap();
        assert_eq!(last.content, format!("{} entries more of the plan left out", count - MAX_STEPS));
        assert_eq!(last.status, PlanStatus::Unreadable);
    }
}

#[test]
fn a_call_says_in_words_alone_that_its_command_runs_elsewhere() {
    let says = |text: &str| {
        let content = json!([{ "type": "content", "content": { "type": "text", "text": text } }]);
        call(&json!({ "kind": "execute", "title": "git status", "content": content })).runs_elsewhere
    };
    assert!(says("[in sub] (Shows it)"));
    assert!(says(" [in /p]"));
    assert!(!says("[current working directory /p] (Shows what is [in sub])"));
}

#[test]
fn a_title_of_ten_megabytes_is_cut_and_says_so() {
    let patch = call(&json!({ "title": "x".repeat(10 << 20) }));
    let title = patch.title.as_set().unwrap();
    assert!(title.len() < MAX_TITLE + 100 && patch.cut, "{}", title.len());
    assert!(title.ends_with(&format!("… [{} bytes left out]", (10 << 20) - MAX_TITLE)), "{}", &title[MAX_TITLE..]);
    assert!(!call(&json!({ "title": "x".repeat(MAX_TITLE) })).cut);
}

#[test]
fn texts_and_lists_of_a_call_are_bounded_and_say_what_is_missing() {
    let block = |text: String| json!({ "type": "content", "content": { "type": "text", "text": text } });
    let many: Vec<Value> = (0..3 * MAX_PARTS).map(|_| block("a".into())).collect();
    let large: Vec<Value> = (0..12).map(|_| block("x".repeat(MAX_TEXT + 10))).collect();
    for (content, left) in [(many, 2 * MAX_PARTS), (large, 5)] {
        let patch = call(&json!({ "content": content }));
        let content = patch.content.as_set().unwrap();
        assert!(content.iter().map(ToolContent::size).sum::<usize>() <= MAX_CONTENT + 1000 && patch.cut);
        let said = format!("{left} more parts left out");
        assert!(matches!(content.last(), Some(ToolContent::Block(Block::Other { label, .. })) if *label == said));
    }
    let places: Vec<Value> = (0..MAX_PARTS + 7).map(|n| json!({ "path": format!("/f{n}") })).collect();
    let patch = call(&json!({ "locations": places }));
    assert_eq!((patch.locations.as_set().unwrap().len(), patch.more_locations), (MAX_PARTS, 7));
    let patch = call(&json!({ "rawInput": { "command": "x".repeat(MAX_CONTENT) } }));
    assert!(patch.cut && patch.raw_input.as_set().unwrap().as_str().unwrap().ends_with("bytes left out]"));
    let patch = call(&json!({ "rawInput": vec![0; 300_000] }));
    assert!(patch.cut && patch.raw_input.as_set().unwrap().as_array().unwrap().len() <= 200_000);
}

#[test]
fn a_long_id_of_a_message_is_kept_as_its_digest_and_told_apart() {
    let chunk = |id: &str, text: Value| {
        let update = json!({ "sessionUpdate": "agent_message_chunk", "content": text, "messageId": id });
        match updated(&update) {
            Ok(Update::Chunk { message_id: Some(id), .. }) => id,
            other => panic!("{other:?}"),
        }
    };
    let text = || json!({ "type": "text", "text": "a" });
    let long = |last: char| format!("{}{last}", "x".repeat(MAX_ID - 1));
    assert_eq!(&*chunk("short", text()), "short");
    assert!(chunk(&long('a'), text()).len() <= 64);
    assert_ne!(chunk(&long('a'), text()), chunk(&long('b'), text()));
    // However the piece is spelt.
    assert_eq!(chunk(&long('a'), text()), chunk(&long('a'), json!([1])));
    assert_eq!(chunk(&chunk(&long('a'), text()), text()), chunk(&long('a'), text()), "also when it is told again");
}

#[test]
fn an_id_that_is_too_long_is_refused_and_never_cut() {
    let long = "x".repeat(MAX_ID + 1);
    let chunk = json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "a" } });
    let mut named = chunk.clone();
    named["messageId"] = json!(long);
    for update in [
        json!({ "sessionUpdate": "tool_call", "toolCallId": long }),
        json!({ "sessionUpdate": "current_mode_update", "currentModeId": long }),
        named,
    ] {
        assert!(updated(&update).unwrap_err().contains("1025 bytes, more than 1024"), "{update}");
    }
    for update in [chunk, json!({ "sessionUpdate": "plan", "entries": [] })] {
        let text = json!({ "sessionId": long, "update": update }).to_string();
        assert!(super::update(&text).unwrap_err().contains("sessionId has 1025 bytes"));
    }
    let (session, _) = request("terminal/kill", &json!({ "sessionId": long, "terminalId": "t" }).to_string(), 0);
    assert_eq!(session, None);
}

#[test]
fn every_other_word_and_list_of_an_update_is_bounded() {
    let long = "x".repeat(1 << 20);
    let many = |value: Value| vec![value; 10_000];
    for update in [
        json!({ "sessionUpdate": "session_info_update", "title": long }),
        json!({ "sessionUpdate": "notice", "title": long, "description": long }),
        json!({ "sessionUpdate": "compaction_update", "status": long, "error": long,
                "summary": many(json!({ "type": "text", "text": long[..1000] })) }),
        json!({ "sessionUpdate": "compaction_summary_chunk", "compactionId": "c", "content": { "type": "text", "text": long } }),
        json!({ "sessionUpdate": "plan_update", "plan": { "planId": "p", "type": "markdown", "content": long } }),
        json!({ "sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": { "amount": 1, "currency": long } }),
        json!({ "sessionUpdate": long }),
        json!({ "sessionUpdate": "plan", "entries": [{ "content": long, "status": long }, { "content": "a", "status": [long] }] }),
        json!({ "sessionUpdate": "available_commands_update",
                "availableCommands": many(json!({ "name": "a", "description": "b" })) }),
        json!({ "sessionUpdate": "available_commands_update",
                "availableCommands": [{ "name": "a", "description": long, "input": { "hint": long } }, { "name": long }] }),
        json!({ "sessionUpdate": "config_option_update", "configOptions": many(json!({ "id": "a", "type": "boolean", "currentValue": true })) }),
        json!({ "sessionUpdate": "config_option_update", "configOptions": [{ "id": "a", "name": long, "description": long, "category": long,
                "type": "select", "currentValue": "v", "options": many(json!({ "value": "v" })) }] }),
        json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "image", "mimeType": long, "data": "", "uri": long } }),
        json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": long } }),
    ] {
        let kept = format!("{:?}", updated(&update).unwrap());
        let what = update.to_string();
        assert!(kept.len() < 700_000, "{} bytes of {}", kept.len(), &what[..what.len().min(100)]);
        let lists = kept.matches("Command {").count().max(kept.matches("ConfigOption {").count());
        assert!(lists <= MAX_COMMANDS, "{lists}");
    }
}

fn asked(tool: &Value, options: &Value) -> AgentRequest {
    let params = json!({ "sessionId": "s", "toolCall": tool, "options": options });
    request("session/request_permission", &params.to_string(), 0).1
}

#[test]
fn a_question_that_cannot_be_shown_whole_is_refused() {
    let option = json!({ "optionId": "o", "name": "Allow", "kind": "allow_once" });
    let tool = json!({ "toolCallId": "t" });
    assert!(matches!(asked(&tool, &json!(vec![option.clone(); MAX_ANSWERS])), AgentRequest::Permission { .. }));
    let long = "x".repeat(MAX_TITLE + 1);
    let content = |block: Value| json!({ "toolCallId": "t", "content": [{ "type": "content", "content": block }] });
    let link = content(json!({ "type": "resource_link", "name": "a", "uri": "x".repeat(MAX_PATH) }));
    assert!(matches!(asked(&link, &json!([option])), AgentRequest::Permission { .. }));
    for (tool, options) in [
        (tool.clone(), json!(vec![option.clone(); MAX_ANSWERS + 1])),
        (tool.clone(), json!([{ "optionId": "o", "name": long }])),
        (tool.clone(), json!([{ "optionId": "o".repeat(MAX_ID + 1), "name": "Allow" }])),
        (json!({ "toolCallId": "t", "title": long }), json!([option])),
        (json!({ "toolCallId": "t", "rawInput": vec![0; 300_000] }), json!([option])),
        (json!({ "toolCallId": "t", "content": vec![json!({}); MAX_PARTS + 1] }), json!([option])),
        (
            content(json!({ "type": "resource_link", "name": "x".repeat(MAX_NAME), "uri": "file:///a" })),
            json!([option]),
        ),
        (content(json!({ "type": "resource_link", "name": "a", "uri": "x".repeat(MAX_PATH + 1) })), json!([option])),
        (
            content(json!({ "type": "resource", "resource": { "uri": "x".repeat(MAX_PATH + 1), "text": "" } })),
            json!([option]),
        ),
        (
            content(json!({ "type": "resource", "resource": { "uri": "a", "text": "", "mimeType": long } })),
            json!([option]),
        ),
        (
            content(json!({ "type": "resource", "resource": { "uri": "x".repeat(MAX_PATH + 1), "blob": "" } })),
            json!([option]),
        ),
        (
            json!({ "toolCallId": "t", "content": [{ "type": "terminal", "terminalId": "x".repeat(MAX_ID + 1) }] }),
            json!([option]),
        ),
    ] {
        let request = asked(&tool, &options);
        assert!(matches!(request, AgentRequest::TooLarge { .. }), "{tool:.60} {request:?}");
    }
}

#[test]
fn paths_and_terminals_with_absurd_names_are_refused_in_a_short_answer() {
    let long = "x".repeat(1 << 20);
    for (method, params) in [
        ("fs/read_text_file", json!({ "sessionId": "s", "path": long })),
        ("fs/write_text_file", json!({ "sessionId": "s", "path": long, "content": "" })),
        ("terminal/output", json!({ "sessionId": "s", "terminalId": long })),
        (&*format!("terminal/{long}"), json!({ "sessionId": "s" })),
        (&*long, json!({ "sessionId": "s" })),
        ("terminal/create", json!({ "sessionId": "s", "command": "a", "args": long })),
    ] {
        let request = format!("{:?}", request(method, &params.to_string(), 0).1);
        assert!(request.len() < 20_000, "{} bytes", request.len());
        assert!(!request.contains("TerminalOutput") && !request.contains("File {"));
    }
}

#[test]
fn a_command_is_taken_whole_or_refused() {
    let create = |members: Value| {
        let mut params = json!({ "sessionId": "s", "command": "make" });
        params.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        request("terminal/create", &params.to_string(), 0).1
    };
    let variables = |count: usize| vec![json!({ "name": "A", "value": "b" }); count];
    assert!(matches!(create(json!({ "env": variables(MAX_VARIABLES) })), AgentRequest::TerminalCreate(_)));
    for members in [
        json!({ "env": variables(MAX_VARIABLES + 1) }),
        json!({ "args": vec!["a"; MAX_VARIABLES + 1] }),
        json!({ "args": vec!["a"; 300_000] }),
        json!({ "command": "x".repeat(MAX_COMMAND + 1) }),
        json!({ "args": ["x".repeat(MAX_COMMAND)] }),
        json!({ "env": [{ "name": "A", "value": "x".repeat(MAX_COMMAND) }] }),
        json!({ "command": "\n".repeat(MAX_COMMAND_LINES) }),
    ] {
        assert!(matches!(create(members), AgentRequest::TooLarge { .. }));
    }
}
