//! JSON-RPC: ids, answers and errors, as seen by the agent (R-001–R-047).

use crate::support::{Rig, SESSION, brief, chunk, exit_code, options, plain_init, with};
use acp_tui::model::effect::{Effect, Ended};
use acp_tui::model::event::{HostEvent, Intent, Link, Timer};
use acp_tui::model::ids::TermId;
use acp_tui::model::options::OptionValue;
use acp_tui::model::session::Policy;
use serde_json::{Value, json};

/// A session in which nearly everything that we can send was sent.
fn busy() -> Rig {
    let mut rig = Rig::ready_with(json!({
        "modes": { "currentModeId": "a", "availableModes": [{ "id": "a", "name": "A" }, { "id": "b", "name": "B" }] },
        "configOptions": [
            { "id": "model", "name": "Model", "type": "select", "currentValue": "x",
              "options": [{ "value": "x", "name": "X" }, { "value": "y", "name": "Y" }] },
            { "id": "fast", "name": "Fast", "type": "boolean", "currentValue": false }
        ]
    }));
    rig.intent(Intent::SetMode { id: "b".into() });
    rig.intent(Intent::SetOption { id: "model".into(), value: OptionValue::Id("y".into()) });
    rig.intent(Intent::SetOption { id: "fast".into(), value: OptionValue::Bool(true) });
    let link = Link::new("a.rs".into(), "file:///project/a.rs".into());
    rig.intent(Intent::Prompt { text: "do @a.rs\nnow".into(), links: vec![link] });
    rig.ask(1, "t");
    rig.choose("yes");
    rig.terminal("two", "term-1");
    rig.request("wait", "terminal/wait_for_exit", json!({ "terminalId": "term-1" }));
    rig.terminal_ends("term-1", exit_code(3));
    rig.request(Value::Null, "fs/write_text_file", json!({ "path": "/project/x", "content": "x" }));
    let req = rig.wished(|e| if let Effect::FsWrite { req, .. } = e { Some(*req) } else { None });
    rig.host(HostEvent::FileWritten {
        req,
        path: "/project/x".into(),
        result: Ok(acp_tui::model::event::WriteFact { created: true, bytes: 1, old: None, outside: None }),
    });
    rig.request(9, "fs/read_text_file", json!({ "path": "/project/x" }));
    let req = rig.wished(|e| if let Effect::FsRead { req, .. } = e { Some(*req) } else { None });
    rig.host(HostEvent::FileRead { req, path: "/project/x".into(), result: Ok("x".into()) });
    rig.request(10, "terminal/kill", json!({ "terminalId": "term-1" }));
    rig.request(11, "terminal/release", json!({ "terminalId": "term-1" }));
    rig.request(12, "no/such", json!({}));
    rig.intent(Intent::Cancel);
    rig
}

#[test]
fn r_001_every_line_says_jsonrpc_2() {
    for line in busy().lines {
        assert_eq!(line["jsonrpc"], "2.0", "{line}");
    }
}

#[test]
fn r_002_our_ids_are_never_used_twice() {
    let mut rig = busy();
    rig.stop("cancelled");
    rig.prompt("more");
    rig.exited(exit_code(0), &[]);
    rig.intent(Intent::Restart);
    rig.host(HostEvent::AgentSpawned { pid: 8 });
    let mut ids: Vec<u64> =
        rig.lines.iter().filter(|l| l["method"].is_string()).filter_map(|l| l["id"].as_u64()).collect();
    assert!(ids.len() > 6, "{ids:?}");
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
}

#[test]
fn r_003_an_id_of_the_agent_is_not_one_of_ours() {
    let mut rig = Rig::prompted("hi");
    let ours = rig.open_call("session/prompt");
    rig.ask(ours, "t");
    assert_eq!(rig.pending().len(), 1);
    assert!(rig.model().first().session().turn.is_some(), "a request is no answer");
    rig.choose("yes");
    assert_eq!(rig.sent_briefly(), [format!("{ours}:selected yes")]);
    rig.stop("end_turn");
    assert!(rig.model().first().session().turn.is_none());
}

#[test]
fn r_004_ids_come_back_as_they_were() {
    for id in ["1", "\"1\"", "9007199254740993", "null", "-4", "\"é\"", "1.5"] {
        let mut rig = Rig::ready();
        rig.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x/y"}}"#));
        let sent = rig.sent();
        assert_eq!(sent.len(), 1);
        let expected: Value = serde_json::from_str(id).unwrap();
        assert_eq!(sent[0]["id"], expected, "{id}");
        assert_eq!(sent[0]["id"].to_string(), expected.to_string());
    }
}

#[test]
fn r_005_every_request_is_answered_once_whatever_becomes_of_it() {
    let mut rig = busy();
    rig.stop("cancelled");
    rig.request(20, "session/request_permission", json!({ "toolCall": {}, "options": [] }));
    rig.ask(21, "u");
    rig.agent(json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": { "requestId": 21 } }));
    rig.ask(22, "v");
    rig.request(23, "terminal/wait_for_exit", json!({ "terminalId": "nope" }));
    let last = rig.core.answer_all();
    let mut ids: Vec<String> =
        rig.lines.iter().filter(|l| l["method"].is_null()).map(|l| l["id"].to_string()).collect();
    ids.extend(last.iter().map(|l| serde_json::from_str::<Value>(&l.text).unwrap()["id"].to_string()));
    ids.sort();
    assert_eq!(
        ids,
        ["\"two\"", "\"wait\"", "1", "10", "11", "12", "20", "21", "22", "23", "9", "null"].map(str::to_owned)
    );
    assert!(rig.core.answer_all().is_empty(), "nothing is left");
}

#[test]
fn r_006_notifications_are_never_answered() {
    let mut rig = Rig::ready();
    for method in ["x/y", "_x", "$/y", "session/update", "session/request_permission", "fs/read_text_file"] {
        rig.agent(json!({ "jsonrpc": "2.0", "method": method, "params": { "broken": [] } }));
        rig.agent(json!({ "jsonrpc": "2.0", "method": method }));
    }
    assert!(rig.sent().is_empty());
}

#[test]
fn r_007_unknown_methods_are_refused() {
    let mut rig = Rig::ready();
    rig.request(1, "x/y", json!({}));
    rig.line(r#"{"jsonrpc":"2.0","id":2,"method":"x/y","params":[1]}"#);
    rig.line(r#"{"jsonrpc":"2.0","id":3,"method":"","params":{}}"#);
    assert_eq!(rig.sent_briefly(), ["1:-32601", "2:-32601", "3:-32601"]);
}

#[test]
fn r_008_unknown_notifications_are_counted_only() {
    let mut rig = Rig::ready();
    for method in ["x/y", "_vendor/z", "$/progress"] {
        rig.agent(json!({ "jsonrpc": "2.0", "method": method, "params": {} }));
    }
    assert_eq!(rig.model().first().agent().odd.unknown, 3);
    rig.say("still here");
    assert_eq!(rig.entries(), ["agent: still here"]);
}

#[test]
fn r_009_parameters_that_cannot_be_read() {
    let mut rig = Rig::prompted("x");
    let cases = [
        ("session/request_permission", json!({ "options": options() })),
        ("session/request_permission", json!({ "toolCall": { "kind": "edit" }, "options": options() })),
        ("fs/read_text_file", json!({})),
        ("fs/read_text_file", json!({ "path": 3 })),
        ("fs/write_text_file", json!({ "path": "/project/a" })),
        ("terminal/create", json!({ "args": ["a"] })),
        ("terminal/output", json!({})),
        ("terminal/wait_for_exit", json!({ "terminalId": 4 })),
        ("terminal/kill", json!({ "terminalId": null })),
        ("terminal/release", json!({ "terminalId": [] })),
    ];
    for (n, (method, params)) in cases.into_iter().enumerate() {
        rig.request(n, method, params);
        assert_eq!(rig.sent_briefly(), [format!("{n}:-32602")], "{method}");
        let said = rig.entries().last().cloned().unwrap_or_default();
        assert!(said.contains(method) && said.contains("cannot be used") && said.contains("refused"), "{said}");
    }
    rig.agent(json!({ "jsonrpc": "2.0", "id": 99, "method": "fs/read_text_file", "params": { "path": "/project/a" } }));
    assert!(rig.has_entry("fs/read_text_file in a way that cannot be used (sessionId is missing); refused"));
    rig.sent();
    let before = rig.model().first().agent().odd.malformed;
    rig.agent(json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": SESSION } }));
    rig.agent(json!({ "jsonrpc": "2.0", "method": "session/update", "params": 4 }));
    assert_eq!(rig.model().first().agent().odd.malformed, before + 2);
    assert!(rig.sent().is_empty());
}

#[test]
fn r_010_a_torn_message_is_a_parse_error_and_no_more() {
    let mut rig = Rig::ready();
    rig.line(r#"{"jsonrpc":"2.0","id":4,"method":"x"#);
    let sent = rig.sent();
    assert_eq!((sent.len(), brief(&sent[0])), (1, "null:-32700".into()));
    rig.say("goes on");
    assert_eq!(rig.entries_without_odd(), ["agent: goes on"]);
}

#[test]
fn r_011_what_is_no_message_is_an_invalid_request() {
    let mut rig = Rig::ready();
    rig.line(r#"{"jsonrpc":"2.0"}"#);
    rig.line(r#"{"jsonrpc":"2.0","id":"q","method":7}"#);
    assert_eq!(rig.sent_briefly(), ["null:-32600", "\"q\":-32600"]);
}

/// Issue 3: an array is junk on stdout like any other, counted and not answered (R-052); its members are not processed.
#[test]
fn r_012_arrays_are_neither_sent_nor_processed() {
    let mut rig = busy();
    assert!(rig.lines.iter().all(Value::is_object));
    rig.sent();
    let before = rig.entries_without_odd();
    rig.agent(json!([{ "jsonrpc": "2.0", "id": 77, "method": "x" },
        { "jsonrpc": "2.0", "method": "session/update",
          "params": { "sessionId": SESSION, "update": chunk("agent_message_chunk", "no") } }]));
    rig.line("[]");
    assert!(rig.sent().is_empty());
    assert_eq!(rig.entries_without_odd(), before);
    assert_eq!(rig.model().first().agent().odd.stray, 2);
}

#[test]
fn r_013_a_null_result_is_success() {
    let mut rig = Rig::ready_with(json!({
        "modes": { "currentModeId": "a", "availableModes": [{ "id": "a", "name": "A" }, { "id": "b", "name": "B" }] }
    }));
    rig.intent(Intent::SetMode { id: "b".into() });
    rig.answer("session/set_mode", Value::Null);
    assert_eq!(rig.model().first().session().modes.as_ref().unwrap().current, "b");
    assert!(rig.entries().is_empty());
}

#[test]
fn r_014_a_malformed_answer_fails_its_request_and_is_not_answered() {
    for broken in [json!({}), json!({ "error": "boom" }), json!({ "error": 3, "result": {} })] {
        let mut rig = Rig::prompted("hi");
        let id = rig.open_call("session/prompt");
        rig.agent(with(json!({ "jsonrpc": "2.0", "id": id }), broken));
        assert!(rig.sent().is_empty());
        let ended = rig.ended();
        assert!(matches!(&ended[..], [Ended::Failed(e)] if e.message.contains("malformed response")), "{ended:?}");
        assert!(rig.model().first().session().turn.is_none());
    }
}

#[test]
fn r_015_an_answer_to_nothing_is_counted() {
    let mut rig = Rig::prompted("hi");
    let id = rig.open_call("session/prompt");
    rig.stop("end_turn");
    let before = rig.entries();
    rig.agent(json!({ "jsonrpc": "2.0", "id": id, "result": { "stopReason": "refusal" } }));
    rig.agent(json!({ "jsonrpc": "2.0", "id": 999, "result": {} }));
    rig.agent(json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32700, "message": "what?" } }));
    assert_eq!(rig.entries(), before);
    assert_eq!(rig.model().first().agent().odd.late, 3);
    assert!(rig.sent().is_empty());
}

#[test]
fn r_016_of_both_members_the_error_counts() {
    let mut rig = Rig::prompted("hi");
    let id = rig.open_call("session/prompt");
    let error = json!({ "code": 1, "message": "no" });
    rig.agent(json!({ "jsonrpc": "2.0", "id": id, "result": { "stopReason": "end_turn" }, "error": error }));
    assert!(matches!(&rig.ended()[..], [Ended::Failed(e)] if e.code == 1));
}

#[test]
fn r_017_unknown_members_are_ignored_at_every_level() {
    let mut rig = Rig::prompted("hi");
    rig.agent(
        json!({ "jsonrpc": "2.0", "x": [], "method": "session/update", "params": { "x": {}, "sessionId": SESSION,
        "update": { "x": 1, "sessionUpdate": "agent_message_chunk",
                    "content": { "type": "text", "text": "a", "x": { "y": 1 } } } } }),
    );
    rig.tool(json!({ "toolCallId": "t", "title": "T", "x": 1, "content":
        [{ "type": "content", "x": 1, "content": { "type": "text", "text": "c", "x": 2 } }],
        "locations": [{ "path": "/p", "x": 3 }] }));
    rig.request(
        1,
        "session/request_permission",
        json!({ "x": 1, "toolCall": { "toolCallId": "t", "x": 2 },
        "options": [{ "optionId": "o", "name": "O", "kind": "allow_once", "x": 3 }] }),
    );
    rig.request(2, "fs/read_text_file", json!({ "path": "/project/a", "x": {} }));
    rig.answer("session/prompt", json!({ "stopReason": "end_turn", "x": 1 }));
    assert_eq!(rig.entries()[..3], ["you: hi", "agent: a", "tool T NoFinalStatus {c} @/p"]);
    assert!(rig.wishes.iter().any(|e| matches!(e, Effect::FsRead { .. })));
    assert_eq!(rig.odd(), 0);
}

#[test]
fn r_018_reading_goes_on_while_a_person_thinks() {
    let mut rig = Rig::prompted("hi");
    rig.ask(1, "t");
    rig.terminal(2, "term-1");
    rig.request(3, "terminal/wait_for_exit", json!({ "terminalId": "term-1" }));
    rig.sent();
    rig.say("meanwhile");
    rig.request(4, "x/y", json!({}));
    assert_eq!(rig.sent_briefly(), ["4:-32601"]);
    assert!(rig.has_entry("agent: meanwhile"));
    assert_eq!(rig.pending().len(), 1);
}

#[test]
fn r_019_requests_are_answered_in_the_order_in_which_they_finish() {
    let mut rig = Rig::prompted("hi");
    rig.ask("first", "t");
    rig.terminal("second", "term-1");
    rig.request("third", "terminal/wait_for_exit", json!({ "terminalId": "term-1" }));
    rig.request("fourth", "terminal/kill", json!({ "terminalId": "term-1" }));
    rig.terminal_ends("term-1", exit_code(0));
    rig.choose("no");
    assert_eq!(rig.sent_briefly(), ["\"second\":ok", "\"fourth\":ok", "\"third\":ok", "\"first\":selected no"]);
}

#[test]
fn r_020_everything_is_applied_in_the_order_of_the_wire() {
    let mut rig = Rig::prompted("hi");
    rig.say("a");
    rig.tool(json!({ "toolCallId": "t", "title": "T", "status": "completed" }));
    rig.say("b");
    rig.stop("end_turn");
    assert_eq!(rig.entries(), ["you: hi", "agent: a", "tool T done", "agent: b"]);
}

#[test]
fn r_021_updates_count_outside_of_a_turn() {
    let mut rig = Rig::opening();
    rig.say("before");
    rig.answer("session/new", json!({ "sessionId": SESSION }));
    rig.say(" the session");
    rig.prompt("hi");
    rig.say("during");
    rig.stop("end_turn");
    rig.say(" and after");
    rig.update(json!({ "sessionUpdate": "session_info_update", "title": "T" }));
    assert_eq!(rig.entries(), ["agent: before the session", "you: hi", "agent: during and after"]);
    assert_eq!(rig.model().first().session().title.as_deref(), Some("T"));
}

#[test]
fn r_022_what_names_the_session_too_early_is_kept_and_bounded() {
    let mut rig = Rig::opening();
    rig.sent();
    rig.update(json!({ "sessionUpdate": "available_commands_update",
        "availableCommands": [{ "name": "go", "description": "d" }] }));
    rig.ask(1, "t");
    rig.say("hello");
    assert!(rig.sent().is_empty() && rig.entries().is_empty());
    rig.answer("session/new", json!({ "sessionId": SESSION }));
    assert_eq!(rig.model().first().session().commands.len(), 1);
    assert_eq!(rig.entries(), ["tool t NoFinalStatus", "agent: hello"]);
    assert_eq!(rig.pending().len(), 1);

    let mut rig = Rig::opening();
    for n in 0..1030 {
        rig.say(&format!("{n},"));
    }
    rig.answer("session/new", json!({ "sessionId": SESSION }));
    assert!(rig.entries()[0].ends_with("1023,"), "the first 1024 are kept");
    assert_eq!(rig.model().first().agent().odd.unknown, 6);
}

#[test]
fn what_an_agent_asks_before_it_opens_the_session_is_refused_when_it_does_not() {
    let mut rig = Rig::opening();
    rig.sent();
    rig.request(1, "fs/read_text_file", json!({ "sessionId": SESSION, "path": "/project/a" }));
    rig.request(2, "terminal/create", json!({ "sessionId": SESSION, "command": "ls" }));
    assert!(rig.sent().is_empty() && rig.entries().is_empty());
    let timers: Vec<Timer> = rig
        .wants()
        .iter()
        .filter_map(|wish| match wish {
            Effect::StartTimer { timer, .. } => Some(*timer),
            _ => None,
        })
        .collect();
    assert_eq!(timers.len(), 2);
    rig.timer(timers[0]);
    let sent = rig.sent();
    assert_eq!((sent.len(), &sent[0]["id"]), (1, &json!(1)));
    assert_eq!(sent[0]["error"]["message"], "The session is not open yet; open it, then ask");
    assert!(rig.has_entry("asked for something in a session that it has not opened yet; refused"));
    // What came with it and waits no longer than it may is served.
    rig.answer("session/new", json!({ "sessionId": SESSION }));
    assert!(matches!(rig.wants()[..], [Effect::TerminalCreate { .. }]));
    rig.timer(timers[1]);
    assert!(rig.sent().is_empty());
}

#[test]
fn r_023_what_nobody_claims_is_answered() {
    let mut rig = Rig::opening();
    rig.sent();
    rig.request(1, "fs/read_text_file", json!({ "sessionId": "other", "path": "/project/a" }));
    rig.update_in("other", chunk("agent_message_chunk", "lost"));
    rig.answer("session/new", json!({ "sessionId": SESSION }));
    let sent = rig.sent();
    assert_eq!(brief(&sent[0]), "1:-32002");
    assert_eq!(sent[0]["error"]["data"], json!({ "sessionId": "other" }));
    assert!(rig.entries().is_empty());

    // Neither does an error of session/new leave it open.
    for error in [json!({ "code": -32000, "message": "log in" }), json!({ "code": 5, "message": "no" })] {
        let mut rig = Rig::opening();
        rig.sent();
        rig.ask(1, "t");
        rig.fail("session/new", error);
        assert_eq!(rig.sent_briefly(), ["1:-32002"]);
    }
}

/// An outbox takes what nobody reads without waiting; the engine goes on reading.
#[test]
fn r_025_writing_never_waits_for_the_agent() {
    let mut outbox = acp_tui::wire::outbox::Outbox::new(acp_tui::wire::framing::Framing::Lines);
    for _ in 0..10_000 {
        outbox.push("{}").unwrap();
    }
    assert!(!outbox.is_empty());
}

/// The clocks in the model are for terminals of a cancelled turn, and for what is asked before there is a session.
#[test]
fn r_027_nothing_that_a_person_or_a_model_works_on_times_out() {
    let mut rig = Rig::prompted("hi");
    rig.ask(1, "t");
    rig.terminal(2, "term-1");
    rig.request(3, "terminal/wait_for_exit", json!({ "terminalId": "term-1" }));
    assert!(!rig.wishes.iter().any(|w| matches!(w, Effect::StartTimer { .. })));
    rig.sent();
    rig.now += std::time::Duration::from_secs(1_000_000);
    rig.line("");
    assert!(rig.sent().is_empty());
    assert_eq!(rig.pending().len(), 1);
}

#[test]
fn ids_that_come_twice_are_answered_twice() {
    let mut rig = Rig::prompted("hi");
    rig.ask(1, "a");
    rig.ask(1, "b");
    rig.request(1, "x/y", json!({}));
    rig.choose("yes");
    rig.choose("no");
    assert_eq!(rig.sent_briefly(), ["1:-32601", "1:selected yes", "1:selected no"]);
}

#[test]
fn r_026_nothing_is_answered_once_the_connection_is_gone() {
    let mut rig = Rig::prompted("hi");
    rig.ask(1, "t");
    rig.terminal(2, "term-1");
    rig.request(3, "terminal/wait_for_exit", json!({ "terminalId": "term-1" }));
    rig.request(4, "fs/read_text_file", json!({ "path": "/project/a" }));
    rig.sent();
    let read = rig.wished(|e| if let Effect::FsRead { req, .. } = e { Some(*req) } else { None });
    rig.exited(exit_code(1), &["boom"]);
    assert!(rig.is_dead() && rig.pending().is_empty());
    assert!(matches!(rig.ended()[..], [Ended::Gone]));
    assert!(rig.wishes.contains(&Effect::TerminalKill(TermId::from("term-1"))), "its terminals are stopped");
    rig.host(HostEvent::FileRead { req: read, path: "/project/a".into(), result: Ok("x".into()) });
    rig.terminal_ends("term-1", exit_code(0));
    assert!(rig.sent().is_empty());
    assert!(rig.core.answer_all().is_empty());
}

#[test]
fn r_029_any_error_code_is_a_failure_and_nothing_worse() {
    for code in [json!(400), json!(-31002), json!(-32022), json!(99_999_999_999_i64), json!("x"), json!(1.5)] {
        let mut rig = Rig::prompted("hi");
        rig.fail("session/prompt", json!({ "code": code, "message": "strange", "data": [1] }));
        assert!(rig.has_entry("strange"), "{:?}", rig.entries());
        rig.prompt("again");
        assert_eq!(rig.sent_briefly(), ["session/prompt"]);
    }
}

#[test]
fn r_032_only_codes_of_the_protocol_are_sent() {
    let known = [-32700, -32600, -32601, -32602, -32603, -32800, -32000, -32002];
    let mut rig = busy();
    rig.line("{\"jsonrpc\"");
    rig.line("{}");
    rig.ask(50, "t");
    rig.request(51, "terminal/output", json!({ "terminalId": "gone" }));
    let last = rig.core.answer_all();
    let last = last.iter().map(|l| serde_json::from_str::<Value>(&l.text).unwrap());
    let codes: Vec<i64> = rig.lines.iter().cloned().chain(last).filter_map(|l| l["error"]["code"].as_i64()).collect();
    assert!(codes.len() > 3);
    assert!(codes.iter().all(|c| known.contains(c)), "{codes:?}");
}

#[test]
fn r_033_requests_before_initialize_is_answered_are_refused() {
    let mut rig = Rig::starting(Policy::Ask);
    rig.sent();
    rig.request(1, "fs/read_text_file", json!({ "path": "/project/a" }));
    rig.ask(2, "t");
    assert_eq!(rig.sent_briefly(), ["1:-32600", "2:-32600"]);
}

#[test]
fn r_034_what_is_not_advertised_is_not_there() {
    let mut rig = Rig::ready();
    for (n, method) in ["mcp/message", "session/list", "session/load", "auth/status"].into_iter().enumerate() {
        rig.request(n, method, json!({ "message": "?", "mode": "form" }));
        assert_eq!(rig.sent_briefly(), [format!("{n}:-32601")], "{method}");
    }
}

#[test]
fn r_035_a_session_we_do_not_know() {
    let mut rig = Rig::ready();
    for (n, (method, params)) in [
        ("session/request_permission", json!({ "toolCall": { "toolCallId": "t" }, "options": options() })),
        ("fs/read_text_file", json!({ "path": "/project/a" })),
        ("fs/write_text_file", json!({ "path": "/project/a", "content": "" })),
        ("terminal/create", json!({ "command": "ls" })),
        ("terminal/output", json!({ "terminalId": "term-1" })),
    ]
    .into_iter()
    .enumerate()
    {
        rig.request(n, method, with(params, json!({ "sessionId": " odd\u{301} " })));
        let sent = rig.sent();
        assert_eq!(brief(&sent[0]), format!("{n}:-32002"), "{method}");
        assert_eq!(sent[0]["error"]["data"], json!({ "sessionId": " odd\u{301} " }));
    }
    assert!(rig.wants().iter().all(|w| matches!(w, Effect::SpawnAgent)), "nothing was done");
}

#[test]
fn r_038_a_withdrawal_names_an_open_request_of_its_sender() {
    let mut rig = Rig::prompted("hi");
    let ours = rig.open_call("session/prompt");
    rig.ask(1, "t");
    let withdraw = |id: Value| json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": { "requestId": id } });
    for other in [json!("1"), json!(2), json!(null), json!([1]), json!(1.0), json!(ours)] {
        rig.agent(withdraw(other));
    }
    rig.agent(json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": [] }));
    rig.agent(json!({ "jsonrpc": "2.0", "method": "$/cancel_request" }));
    assert_eq!(rig.pending().len(), 1);
    assert!(rig.sent().is_empty());
    rig.agent(withdraw(json!(1)));
    rig.agent(withdraw(json!(1)));
    assert_eq!(rig.sent_briefly(), ["1:cancelled"]);
}

#[test]
fn r_039_r_040_a_withdrawn_dialog_closes_with_cancelled() {
    let mut rig = Rig::prompted("hi");
    rig.ask("x", "t");
    rig.agent(json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": { "requestId": "x" } }));
    assert!(rig.pending().is_empty());
    assert_eq!(rig.sent_briefly(), ["\"x\":cancelled"]);
    assert!(rig.model().first().session().turn.is_some());
    assert!(rig.withdrawn()[0].contains("took it back"));
}

#[test]
fn r_042_a_withdrawn_wait_leaves_the_terminal_alone() {
    let mut rig = Rig::prompted("hi");
    rig.terminal(1, "term-1");
    rig.request(2, "terminal/wait_for_exit", json!({ "terminalId": "term-1" }));
    rig.request(3, "terminal/wait_for_exit", json!({ "terminalId": "term-1" }));
    rig.sent();
    rig.wants();
    rig.agent(json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": { "requestId": 2 } }));
    assert_eq!(rig.sent_briefly(), ["2:-32800"]);
    assert!(rig.wants().is_empty(), "it runs on");
    rig.terminal_ends("term-1", exit_code(0));
    assert_eq!(rig.sent_briefly(), ["3:ok"]);
}

#[test]
fn r_045_leaving_a_log_in_withdraws_it_and_its_answer_is_discarded() {
    let mut rig = Rig::initialized(with(plain_init(), json!({ "authMethods": [{ "id": "web", "name": "Web" }] })));
    rig.fail("session/new", json!({ "code": -32000, "message": "log in" }));
    rig.intent(Intent::Authenticate { method: "web".into() });
    let id = rig.open_call("authenticate");
    rig.intent(Intent::LeaveAuthentication);
    rig.sent();
    assert_eq!(rig.lines.last().unwrap()["params"], json!({ "requestId": id }));
    rig.answer("authenticate", json!({}));
    assert!(rig.sent().is_empty(), "the person has left");
}

#[test]
fn r_046_a_turn_is_cancelled_with_session_cancel() {
    let mut rig = Rig::prompted("hi");
    rig.intent(Intent::Cancel);
    let sent = rig.sent();
    assert_eq!(sent, [json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": SESSION } })]);
}

#[test]
fn r_047_on_the_way_out_everything_is_answered() {
    let mut rig = Rig::prompted("hi");
    rig.ask(1, "t");
    rig.request(2, "fs/read_text_file", json!({ "path": "/project/a" }));
    let last: Vec<Value> = rig.core.answer_all().iter().map(|l| serde_json::from_str(&l.text).unwrap()).collect();
    let mut briefly: Vec<String> = last.iter().map(brief).collect();
    briefly.sort();
    assert_eq!(briefly, ["1:cancelled", "2:-32800", "session/cancel"]);
}

#[test]
fn r_048_r_051_lines_are_json_objects_without_line_breaks() {
    // The rig checks each line as it is sent; here with every character that could break one.
    let mut rig = Rig::ready();
    rig.prompt("a\nb\r\nc\u{2028}d\u{0}\u{feff}");
    let sent = rig.sent();
    assert_eq!(sent[0]["params"]["prompt"][0]["text"], "a\nb\r\nc\u{2028}d\u{0}\u{feff}");
    rig.line("{\"jsonrpc\":\"2.0\",\"id\":\"a\\nb\",\"method\":\"x\"}");
    assert_eq!(rig.sent()[0]["id"], "a\nb");
}
