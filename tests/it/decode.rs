//! Decoding alone: the fast path and the slow one agree, and nothing that an agent could write makes it panic.

use acp_tui::agent::codec::v1::{inbound, results};
use acp_tui::agent::codec::v2;
use acp_tui::model::entry::{Block, ChunkKind};
use acp_tui::model::event::{AgentRequest, Opening, Update};
use acp_tui::wire::stderr::StderrTail;
use proptest::prelude::*;
use serde_json::{Value, json};

#[test]
fn r_062_the_fast_path_for_text_and_the_slow_one_agree() {
    for (kind, name) in [
        (ChunkKind::Agent, "agent_message_chunk"),
        (ChunkKind::Thought, "agent_thought_chunk"),
        (ChunkKind::User, "user_message_chunk"),
    ] {
        for text in ["", "plain", "esc \" \\ \n \u{0} \u{1b}[31m", "é😀\u{2028}"] {
            for id in [Value::Null, json!("m\"1")] {
                let update =
                    json!({ "sessionUpdate": name, "messageId": id, "content": { "type": "text", "text": text } });
                let fast = json!({ "sessionId": "s\n", "update": update });
                // A number of an unknown member, and annotations, do not matter; a malformed one sends it the slow way.
                let mut slow = fast.clone();
                slow["update"]["content"]["annotations"] = json!(4);
                let expected = Update::Chunk {
                    kind,
                    message_id: id.as_str().map(Into::into),
                    block: Block::Text(text.to_owned()),
                };
                for params in [fast, slow] {
                    let (session, update) = inbound::update(&params.to_string()).unwrap();
                    assert_eq!((session.as_str(), &update), ("s\n", &expected));
                }
            }
        }
    }
}

#[test]
fn what_cannot_be_used_says_why() {
    for params in
        ["", "null", "[]", "{}", "{\"sessionId\":1}", "{\"sessionId\":\"s\"}", "{\"sessionId\":\"s\",\"update\":[]}"]
    {
        assert!(inbound::update(params).is_err(), "{params}");
    }
    let (_, update) = inbound::update(r#"{"sessionId":"s","update":{"sessionUpdate":"next_year"}}"#).unwrap();
    assert!(matches!(update, Update::Unknown { name, .. } if name == "next_year"));
    let (_, request) = inbound::request("fs/read_text_file", "]", 0);
    assert!(matches!(request, AgentRequest::BadParams { .. }));
}

#[test]
fn fact_28_error_output_is_kept_by_its_end() {
    let tail = StderrTail::new(64 << 10);
    for n in 0..20_000 {
        tail.push(format!("line {n}\n").as_bytes());
    }
    let text = tail.text();
    assert!(text.len() <= 64 << 10 && text.len() > 32 << 10);
    assert!(text.ends_with("line 19999\n"));
}

/// Texts that mean something to one version or the other.
const WORDS: &[&str] = &[
    "tool_call",
    "tool_call_update",
    "plan",
    "text",
    "image",
    "diff",
    "terminal",
    "content",
    "resource",
    "agent_message_chunk",
    "usage_update",
    "config_option_update",
    "available_commands_update",
    "notice",
    "compaction_update",
    "compaction_summary_chunk",
    "plan_update",
    "plan_removed",
    "session_info_update",
    "current_mode_update",
    "select",
    "boolean",
    "terminal",
    "idle",
    "error",
    "items",
    "command",
    "git_patch",
    "diff --git /a /a\n--- /a\n+++ /a\n",
    "w6k=",
    "é\u{0}",
    "",
];

/// Names of members that are looked at.
const MEMBERS: &[&str] = &[
    "sessionUpdate",
    "content",
    "type",
    "text",
    "toolCallId",
    "entries",
    "toolCall",
    "options",
    "optionId",
    "availableCommands",
    "configOptions",
    "currentValue",
    "used",
    "size",
    "cost",
    "_meta",
    "terminal_output",
    "terminal_id",
    "data",
    "modes",
    "availableModes",
    "currentModeId",
    "sessionId",
    "path",
    "line",
    "locations",
    "id",
    "title",
    "args",
    "env",
    "command",
    "stopReason",
    "protocolVersion",
    "authMethods",
    "methodId",
    "messageId",
    "state",
    "error",
    "plan",
    "planId",
    "changes",
    "operation",
    "oldPath",
    "patch",
    "format",
    "terminalId",
    "output",
    "exitStatus",
    "exitCode",
    "capabilities",
    "cancel",
    "session",
    "subject",
    "cwd",
    "configId",
    "groupId",
    "rawInput",
];

/// JSON with the member names that matter, in shapes that do not.
fn strange() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        proptest::sample::select(WORDS).prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        let name = proptest::sample::select(MEMBERS);
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((name, inner), 0..8)
                .prop_map(|members| { Value::Object(members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()) }),
        ]
    })
}

fn value_text(members: &serde_json::Map<String, Value>) -> String {
    Value::Object(members.clone()).to_string()
}

/// The updates of the second version.
const SECOND: &[&str] = &[
    "agent_message_chunk",
    "agent_message",
    "user_message",
    "state_update",
    "tool_call_update",
    "tool_call_content_chunk",
    "terminal_update",
    "terminal_output_chunk",
    "plan_update",
    "config_option_update",
    "usage_update",
];

const METHODS: &[&str] = &[
    "session/request_permission",
    "fs/read_text_file",
    "fs/write_text_file",
    "terminal/create",
    "terminal/output",
    "terminal/wait_for_exit",
    "terminal/kill",
    "terminal/release",
    "x/y",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_shape_of_json_makes_decoding_panic(value in strange()) {
        for kind in ["tool_call", "tool_call_update", "plan", "agent_message_chunk", "usage_update", "notice",
            "config_option_update", "available_commands_update", "current_mode_update", "session_info_update"] {
            let mut update = value.clone();
            if let Some(update) = update.as_object_mut() {
                update.insert("sessionUpdate".into(), kind.into());
            }
            let _ = inbound::update(&json!({ "sessionId": "s", "update": update }).to_string());
        }
        for kind in SECOND {
            let mut update = value.clone();
            if let Some(update) = update.as_object_mut() {
                update.insert("sessionUpdate".into(), (*kind).into());
                // Without these nothing more is read.
                for id in ["messageId", "toolCallId", "terminalId"] {
                    update.entry(id).or_insert_with(|| "x".into());
                }
            }
            let _ = v2::inbound::update(&json!({ "sessionId": "s", "update": update }).to_string());
        }
        let text = value.to_string();
        for method in METHODS {
            let _ = inbound::request(method, &text, 0);
            let _ = v2::inbound::request(method, &text, 0);
        }
        let mut question = value.clone();
        if let Some(question) = question.as_object_mut() {
            question.insert("sessionId".into(), "s".into());
            let _ = v2::inbound::request("session/request_permission", &value_text(question), 0);
        }
        let _ = v2::results::initialize(&text);
        let _ = v2::results::initialize(&json!({ "protocolVersion": 2, "capabilities": value, "info": value,
            "authMethods": value }).to_string());
        let _ = v2::results::opened(&Opening::New, &text);
        let _ = v2::results::prompt(&text);
        let _ = results::initialize(&text);
        for how in [Opening::New, Opening::Load("s".into())] {
            let _ = results::opened(&how, &text);
        }
        let _ = results::prompt(&text);
        let _ = results::set_option(&text);
    }

    #[test]
    fn no_text_makes_decoding_panic(text in ".{0,200}") {
        let _ = inbound::update(&text);
        let _ = inbound::request("session/request_permission", &text, 0);
        let _ = results::initialize(&text);
        let _ = results::prompt(&text);
        let _ = v2::inbound::update(&text);
        let _ = v2::inbound::request("session/request_permission", &text, 0);
        let _ = v2::results::initialize(&text);
    }
}
