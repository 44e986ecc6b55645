//! A conforming agent is never taken for one of another rendition, however damaged its messages are; those of the
//! renditions' own examples are known.

use super::*;
use crate::agent::codec::shipped;
use crate::agent::codec::versionless::requests::PERMISSION;
use crate::random;
use proptest::prelude::*;
use serde_json::json;

/// What an agent of the documented protocol says: method and parameters.
fn conforming() -> Vec<(&'static str, Value)> {
    let update = |update: Value| (UPDATE, json!({ "sessionId": "s", "update": update }));
    let text = json!({ "type": "text", "text": "it is {\"type\":\"message\"}" });
    let tool = json!({ "toolCallId": "t", "title": "Edit a", "kind": "edit", "status": "pending",
        "rawInput": { "type": "message", "data": {}, "plan": { "steps": [] } },
        "locations": [{ "path": "/a", "line": 3 }],
        "content": [{ "type": "content", "content": text }, { "type": "diff", "path": "/a", "oldText": "x", "newText": "y" }] });
    let call = |name: &str| {
        let mut call = tool.clone();
        call["sessionUpdate"] = json!(name);
        update(call)
    };
    vec![
        update(json!({ "sessionUpdate": "agent_message_chunk", "content": text, "messageId": "m" })),
        update(
            json!({ "sessionUpdate": "agent_thought_chunk", "content": { "type": "image", "data": "", "mimeType": "a/b" } }),
        ),
        call("tool_call"),
        call("tool_call_update"),
        update(
            json!({ "sessionUpdate": "plan", "entries": [{ "content": "a", "priority": "high", "status": "pending" }] }),
        ),
        update(json!({ "sessionUpdate": "plan_update", "plan": { "type": "items", "planId": "p", "entries": [] } })),
        update(
            json!({ "sessionUpdate": "available_commands_update", "availableCommands": [{ "name": "a", "description": "" }] }),
        ),
        update(json!({ "sessionUpdate": "current_mode_update", "currentModeId": "code" })),
        update(json!({ "sessionUpdate": "config_option_update", "configOptions": [
            { "id": "m", "name": "M", "type": "select", "currentValue": "a", "options": [{ "value": "a", "name": "A" }] }] })),
        update(json!({ "sessionUpdate": "session_info_update", "title": "T" })),
        update(json!({ "sessionUpdate": "usage_update", "used": 1, "size": 2 })),
        (
            PERMISSION,
            json!({ "sessionId": "s", "toolCall": tool, "options": [
            { "optionId": "y", "name": "Yes", "kind": "allow_once" }, { "optionId": "n", "name": "No", "kind": "reject_once" }] }),
        ),
        ("fs/read_text_file", json!({ "sessionId": "s", "path": "/a", "line": 1, "limit": 2 })),
        ("fs/write_text_file", json!({ "sessionId": "s", "path": "/a", "content": "x" })),
        ("terminal/create", json!({ "sessionId": "s", "command": "x", "env": [{ "name": "a", "value": "b" }] })),
        ("terminal/wait_for_exit", json!({ "sessionId": "s", "terminalId": "term-1" })),
    ]
}

/// Whether an agent that says this is spoken to in another way from now on.
fn flips(method: &str, params: &str) -> bool {
    if method == UPDATE {
        return shipped().update(params).is_ok_and(|told| told.dialect != Dialect::Canonical);
    }
    method == PERMISSION && shipped().asked_in(method, params).is_some()
}

/// All objects and lists in a value, counted as they are met.
fn change(value: &mut Value, at: &mut usize, how: &mut dyn FnMut(&mut Value)) {
    if *at == 0 {
        how(value);
    }
    *at = at.wrapping_sub(1);
    match value {
        Value::Object(map) => map.values_mut().for_each(|one| change(one, at, how)),
        Value::Array(list) => list.iter_mut().for_each(|one| change(one, at, how)),
        _ => {}
    }
}

#[derive(Clone, Debug)]
enum Damage {
    /// A member or an element goes.
    Loses(usize, usize),
    /// A value becomes another one.
    Becomes(usize, usize),
    /// A byte of the text.
    Byte(usize, u8),
    Ends(usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        (0..40_usize, 0..8_usize).prop_map(|(at, which)| Damage::Loses(at, which)),
        (0..40_usize, 0..7_usize).prop_map(|(at, which)| Damage::Becomes(at, which)),
        (0..900_usize, any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        (0..900_usize).prop_map(Damage::Ends),
    ]
}

fn damaged(params: &Value, damages: &[Damage]) -> String {
    let mut value = params.clone();
    for damage in damages {
        match damage {
            Damage::Loses(at, which) => change(&mut value, &mut at.clone(), &mut |value| match value {
                Value::Object(map) if !map.is_empty() => {
                    let name = map.keys().nth(which % map.len()).cloned().unwrap();
                    map.remove(&name);
                }
                Value::Array(list) if !list.is_empty() => drop(list.remove(which % list.len())),
                _ => {}
            }),
            Damage::Becomes(at, which) => {
                let others =
                    [json!(null), json!(true), json!(-1), json!("x"), json!({}), json!([]), json!([{ "a": {} }])];
                change(&mut value, &mut at.clone(), &mut |value| *value = others[which % others.len()].clone());
            }
            Damage::Byte(..) | Damage::Ends(_) => {}
        }
    }
    let mut text = value.to_string().into_bytes();
    for damage in damages {
        match damage {
            Damage::Byte(at, byte) if *at < text.len() => text[*at] = *byte,
            Damage::Ends(at) => text.truncate(*at),
            _ => {}
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

proptest! {
    #![proptest_config(random(10_000))]

    #[test]
    fn s_015_s_016_no_damage_makes_another_rendition_of_a_message(
        which in 0..16_usize,
        damages in proptest::collection::vec(damage(), 1..5),
    ) {
        let (method, params) = conforming().swap_remove(which);
        let text = damaged(&params, &damages);
        prop_assert!(!flips(method, &text), "{method} {text}");
    }
}

#[test]
fn s_015_what_conforms_is_read_as_before() {
    for (method, params) in conforming() {
        let text = params.to_string();
        assert!(!flips(method, &text), "{method} {text}");
        assert!(shipped().asked_in(method, &text).is_none(), "{method} {text}");
        if method == UPDATE {
            assert_eq!(shipped().update(&text), V1.update(&text));
        }
    }
}

#[test]
fn s_016_members_of_the_documented_protocol_count_beside_others() {
    let both = json!({ "sessionId": "s", "type": "plan", "data": { "steps": [] },
        "update": { "sessionUpdate": "agent_message_chunk", "type": "message", "kind": "tool_call",
            "content": { "type": "text", "text": "a" } } });
    assert_eq!(update(&both.to_string()).unwrap().dialect, Dialect::Canonical);
    let both = json!({ "sessionId": "s", "toolCall": { "toolCallId": "t" }, "operation": "x", "resource": "y",
        "options": [{ "optionId": "y", "name": "Yes", "label": "Yes", "kind": "allow_once" }] });
    assert!(shipped().asked_in(PERMISSION, &both.to_string()).is_none());
    let both = json!({ "sessionId": "s", "path": "/a", "line": 1, "startLine": 2, "endLine": 3 });
    assert!(shipped().asked_in("fs/read_text_file", &both.to_string()).is_none());
    let d0 = json!({ "protocolVersion": 1, "capabilities": {}, "agentCapabilities": {} });
    assert_eq!(shape::of_handshake(&d0).unwrap().0, Dialect::Canonical);
    assert_eq!(shape::of_handshake(&json!({ "protocolVersion": 2, "info": {}, "capabilities": {} })), None);
}

#[test]
fn s_003_requests_are_read_by_the_shape_that_they_have() {
    let shape = |method: &str, params: Value, locked| shape::of_request(method, &params.to_string(), locked);
    use Dialect::{Canonical, D0, D3};
    for (method, params, shown) in [
        ("fs/read_text_file", json!({ "path": "a", "endLine": 3 }), D0),
        ("fs/read_text_file", json!({ "sessionId": "s", "path": "/a", "encoding": "utf-8" }), D0),
        ("fs/read_text_file", json!({ "sessionId": "s", "path": "/a", "lineLimit": 3 }), D3),
        ("fs/write_text_file", json!({ "sessionId": "s", "path": "/a", "content": "", "overwrite": true }), D0),
        ("terminal/create", json!({ "command": "x", "env": {} }), D0),
        ("terminal/create", json!({ "sessionId": "s", "command": "x", "env": {} }), D3),
        ("terminal/wait_for_exit", json!({ "sessionId": "s", "terminalId": "t", "timeout": 1 }), D3),
        (PERMISSION, json!({ "sessionId": "s", "operation": "file_write", "resource": "/a" }), D0),
        (PERMISSION, json!({ "sessionId": "s", "title": "?", "options": [{ "optionId": "a", "label": "A" }] }), D3),
        // It may have been forgotten.
        ("fs/read_text_file", json!({ "path": "/a" }), Canonical),
        ("terminal/kill", json!({ "terminalId": "t" }), Canonical),
    ] {
        assert_eq!(shape(method, params.clone(), Canonical), shown, "{method} {params}");
    }
    assert_eq!(shape("fs/read_text_file", json!({ "path": "/a" }), D0), D0);
    assert_eq!(shape("terminal/kill", json!({ "sessionId": "s", "terminalId": "t" }), D3), D3);
    assert_eq!(shape("elicitation/create", json!({ "sessionId": "s" }), D0), Canonical);
}

#[test]
fn every_codec_is_found_by_its_name() {
    use crate::model::event::Protocol;
    for (version, dialect) in [
        (None, None),
        (Some("1"), None),
        (Some("2"), None),
        (None, Some("canonical")),
        (Some("1"), Some("canonical")),
        (None, Some("d0")),
        (Some("1"), Some("d3")),
        (Some("auto"), Some("d4")),
    ] {
        let protocol = Protocol::named(version, dialect).unwrap();
        let codec = crate::agent::codec::first(protocol);
        assert_eq!(crate::agent::codec::named(codec.name()).unwrap().name(), codec.name());
        assert_eq!(protocol.dialect().unwrap_or_default(), codec.dialect(), "{protocol:?}");
    }
    assert_eq!(Protocol::named(Some("2"), Some("d0")), None);
}

#[test]
fn s_055_what_is_refused_has_the_number_of_the_dialect() {
    use crate::model::ids::TermId;
    use crate::model::refusal::Subject;
    let session = Refusal::new(Reason::NotFound, "no").about(Subject::Session("s".into()));
    let term = Refusal::new(Reason::NotFound, "no").about(Subject::Terminal(TermId::from("t")));
    let outside = Refusal::new(Reason::Outside, "no");
    let refused = Refusal::new(Reason::DeniedByUser, "no");
    let cancelled = Refusal::new(Reason::Cancelled, "no");
    let many = Refusal::new(Reason::TooMany, "no");
    let watch = Refusal::new(Reason::UnknownMethod, "no").about(Subject::Method("fs/watch".into()));
    let numbers = |dialect| {
        let all = [&session, &term, &outside, &refused, &cancelled, &many, &watch];
        all.map(|refusal| of(dialect).refuse(refusal).code)
    };
    assert_eq!(numbers(Dialect::Canonical), [-32002, -32002, -32602, -32602, -32800, -32603, -32601]);
    assert_eq!(numbers(Dialect::D0), [-32000, -32004, -32005, -32002, -32003, -32006, -32007]);
    assert_eq!(numbers(Dialect::D3), [-32005, -32003, -32004, -32004, -32800, -32603, -32007]);
    assert_eq!(numbers(Dialect::D4), numbers(Dialect::Canonical));
}
