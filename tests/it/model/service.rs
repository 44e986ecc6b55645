//! Files for the agent, methods we do not have, and errors.

use crate::support::{Rig, SESSION, brief, options, plain_init, with};
use acp_tui::agent::quirks::{MissingFile, missing_file};
use acp_tui::model::effect::{Effect, Ended};
use acp_tui::model::event::{HostEvent, Intent, WriteFact};
use acp_tui::model::ids::ReqId;
use acp_tui::model::refusal::{Reason, Refusal, Subject};
use acp_tui::model::session::{Allow, Phase, Policy};
use serde_json::json;

fn reading(rig: &Rig) -> ReqId {
    rig.wished(|e| if let Effect::FsRead { req, .. } = e { Some(*req) } else { None })
}

fn writing(rig: &Rig) -> ReqId {
    rig.wished(|e| if let Effect::FsWrite { req, .. } = e { Some(*req) } else { None })
}

#[test]
fn r_343_r_346_r_347_what_the_host_says_is_what_the_agent_reads() {
    let errors = [
        (Reason::BadParams, "a", -32602, json!({ "path": "a" })),
        (Reason::NotFound, "/project/a", -32002, json!({ "uri": "file:///project/a" })),
        (Reason::Outside, "/etc/passwd", -32602, json!({ "reason": "outside_workspace", "path": "/etc/passwd" })),
    ];
    for (why, path, code, data) in errors {
        let error = Refusal::new(why, "no").about(Subject::Path(path.into()));
        let mut rig = Rig::prompted("hi");
        rig.request(1, "fs/read_text_file", json!({ "path": "a" }));
        let req = reading(&rig);
        rig.host(HostEvent::FileRead { req, path: "a".into(), result: Err(error) });
        let sent = rig.sent();
        assert_eq!(sent[0]["error"], json!({ "code": code, "message": "no", "data": data }));
        assert_eq!(rig.has_entry("Read a refused"), why != Reason::NotFound, "a missing file is an everyday answer");
    }
}

#[test]
fn r_348_the_session_comes_first() {
    let mut rig = Rig::ready_as(Policy::Auto(Allow::None), json!({}));
    rig.request(1, "fs/read_text_file", json!({ "sessionId": "x", "path": "relative" }));
    rig.request(2, "fs/write_text_file", json!({ "sessionId": "x", "path": "relative", "content": "" }));
    assert_eq!(rig.sent_briefly(), ["1:-32002", "2:-32002"]);
    assert!(rig.entries().is_empty());
}

#[test]
fn r_071_r_350_contents_cross_unchanged_and_empty_results_are_objects() {
    let content = "\u{feff}a\r\nb\nc\u{2028}\u{0}é";
    let mut rig = Rig::prompted("hi");
    rig.request(1, "fs/read_text_file", json!({ "path": "/project/a", "line": 2, "limit": 3 }));
    let asked = rig.wished(|e| match e {
        Effect::FsRead { request, line, limit, .. } => Some((request.path().map(str::to_owned), *line, *limit)),
        _ => None,
    });
    assert_eq!(asked, (Some("/project/a".into()), Some(2), Some(3)));
    let req = reading(&rig);
    rig.host(HostEvent::FileRead { req, path: "/project/a".into(), result: Ok(content.into()) });
    assert_eq!(rig.sent()[0]["result"], json!({ "content": content }));
    rig.request(2, "fs/write_text_file", json!({ "path": "/project/a", "content": content }));
    let text = rig.wished(|e| if let Effect::FsWrite { content, .. } = e { Some(content.clone()) } else { None });
    assert_eq!(&*text, content);
    let req = writing(&rig);
    let fact = WriteFact { created: false, bytes: 9, old: Some("x".into()), outside: None };
    rig.host(HostEvent::FileWritten { req, path: "/project/a".into(), result: Ok(fact) });
    assert_eq!(rig.sent()[0]["result"], json!({}));
}

#[test]
fn r_360_a_write_is_answered_when_it_is_done() {
    let mut rig = Rig::prompted("hi");
    rig.request(1, "fs/write_text_file", json!({ "path": "/project/a", "content": "x" }));
    assert!(rig.sent().is_empty());
    assert!(rig.has_entry("Write /project/a pending"));
    let req = writing(&rig);
    rig.host(HostEvent::FileWritten {
        req,
        path: "/project/a".into(),
        result: Ok(WriteFact { created: true, bytes: 1, old: None, outside: None }),
    });
    assert_eq!(rig.sent_briefly(), ["1:ok"]);
}

/// The client holds no unsaved edits: what a read sees is what is on the disk when its turn comes.
#[test]
fn r_351_a_read_comes_after_the_writes_before_it() {
    let mut rig = Rig::prompted("hi");
    rig.wants();
    rig.request(1, "fs/write_text_file", json!({ "path": "/project/a", "content": "x" }));
    rig.request(2, "fs/read_text_file", json!({ "path": "/project/a" }));
    let wants = rig.wants();
    assert!(matches!(wants[..], [Effect::FsWrite { .. }, Effect::FsRead { .. }]), "{wants:?}");
}

#[test]
fn r_362_writes_are_handed_on_in_their_order() {
    let mut rig = Rig::prompted("hi");
    for n in 0..5 {
        rig.request(n, "fs/write_text_file", json!({ "path": "/project/a", "content": n.to_string() }));
    }
    let contents: Vec<String> = rig
        .wishes
        .iter()
        .filter_map(|e| if let Effect::FsWrite { content, .. } = e { Some(content.to_string()) } else { None })
        .collect();
    assert_eq!(contents, ["0", "1", "2", "3", "4"]);
}

#[test]
fn r_363_every_write_and_every_refusal_is_an_entry() {
    let mut rig = Rig::ready_as(Policy::Auto(Allow::None), json!({}));
    rig.request(1, "fs/write_text_file", json!({ "path": "/project/a", "content": "x" }));
    rig.request(2, "fs/read_text_file", json!({ "path": "/project/b" }));
    rig.request(3, "terminal/create", json!({ "command": "ls", "args": ["a b"] }));
    let sent = rig.sent();
    assert_eq!(sent.iter().map(brief).collect::<Vec<_>>(), ["1:-32602", "2:-32602", "3:-32602"]);
    for line in &sent {
        assert_eq!(line["error"]["data"]["reason"], "denied_by_policy");
    }
    assert_eq!(
        rig.entries(),
        [
            "Write /project/a refused: --allow none",
            "Read /project/b refused: --allow none",
            "Warn: refused by --allow none: run ls 'a b'"
        ]
    );
}

#[test]
fn policies_of_the_clients_own_services() {
    for (allow, served) in
        [(Allow::All, [true, true, true]), (Allow::Reads, [true, false, false]), (Allow::None, [false; 3])]
    {
        let mut rig = Rig::ready_as(Policy::Auto(allow), json!({}));
        rig.wants();
        rig.request(1, "fs/read_text_file", json!({ "path": "/project/a" }));
        rig.request(2, "fs/write_text_file", json!({ "path": "/project/a", "content": "" }));
        rig.request(3, "terminal/create", json!({ "command": "ls" }));
        let wants = rig.wants();
        let done = [
            wants.iter().any(|w| matches!(w, Effect::FsRead { .. })),
            wants.iter().any(|w| matches!(w, Effect::FsWrite { .. })),
            wants.iter().any(|w| matches!(w, Effect::TerminalCreate { .. })),
        ];
        assert_eq!(done, served, "{allow:?}");
        assert_eq!(rig.sent().len(), served.iter().filter(|s| !**s).count());
    }
}

#[test]
fn fact_03_a_missing_file_is_empty_for_gemini_only() {
    assert_eq!(missing_file(Some("gemini-cli")), MissingFile::Empty);
    for name in [None, Some(""), Some("Gemini CLI"), Some("claude-agent-acp"), Some("gemini-cli-2")] {
        assert_eq!(missing_file(name), MissingFile::NotFound);
    }
}

#[test]
fn fact_15_a_write_of_the_agents_own_may_follow() {
    // A second write to the same path, and a tool call that reports it, are entries of their own.
    let mut rig = Rig::prompted("hi");
    for id in 0..2 {
        rig.request(id, "fs/write_text_file", json!({ "path": "/project/a", "content": "x" }));
        let req = writing(&rig);
        rig.host(HostEvent::FileWritten {
            req,
            path: "/project/a".into(),
            result: Ok(WriteFact { created: id == 0, bytes: 1, old: None, outside: None }),
        });
    }
    rig.tool(json!({ "toolCallId": "t", "title": "write a", "status": "completed" }));
    assert_eq!(
        rig.entries()[1..],
        ["Write /project/a created=true 1", "Write /project/a created=false 1", "tool write a done"]
    );
}

#[test]
fn fact_16_an_agent_that_never_asks_is_nothing_special() {
    let mut rig = Rig::ready_with(json!({ "modes": { "currentModeId": "yolo",
        "availableModes": [{ "id": "yolo", "name": "YOLO" }] } }));
    rig.prompt("hi");
    rig.tool(json!({ "toolCallId": "t", "title": "rm", "kind": "execute", "status": "completed" }));
    rig.stop("end_turn");
    assert_eq!(rig.entries()[1], "tool rm done");
    let modes = rig.model().first().session().modes.clone().unwrap();
    assert_eq!(modes.name_of(&modes.current), "YOLO", "the mode is there to be shown");
}

#[test]
fn fact_19_message_and_data_of_any_shape_are_shown() {
    for data in [
        json!("plain words"),
        json!({ "details": "plain words" }),
        json!([["plain words"]]),
        json!({ "message": "plain words" }),
    ] {
        let mut rig = Rig::prompted("hi");
        rig.fail("session/prompt", json!({ "code": 401, "message": "Internal error", "data": data }));
        assert!(
            rig.has_entry("Internal error") && rig.has_entry("(401)") && rig.has_entry("plain words"),
            "{:?}",
            rig.entries()
        );
        assert!(matches!(rig.ended()[..], [Ended::Failed(_)]));
    }
    // -32000 may come from session/new, session/prompt, authenticate.
    let auth = json!({ "code": -32000, "message": "log in first", "data": { "why": "expired" } });
    let mut rig = Rig::initialized(with(plain_init(), json!({ "authMethods": [{ "id": "web", "name": "Web" }] })));
    rig.prompt("kept");
    rig.fail("session/new", auth.clone());
    assert!(matches!(rig.model().first().phase(), Phase::AuthNeeded));
    assert!(rig.has_entry("log in first") && rig.has_entry("expired"));
    rig.intent(Intent::Authenticate { method: "web".into() });
    rig.fail("authenticate", auth.clone());
    assert!(matches!(rig.model().first().phase(), Phase::AuthNeeded));
    rig.intent(Intent::Authenticate { method: "web".into() });
    rig.answer("authenticate", json!(null));
    rig.answer("session/new", json!({ "sessionId": SESSION }));
    assert!(rig.sent_briefly().contains(&"session/prompt".to_owned()), "what waited goes out");
    rig.fail("session/prompt", auth);
    assert!(matches!(rig.model().first().phase(), Phase::AuthNeeded));
    assert_eq!(rig.held(), ["kept"]);
}

#[test]
fn fact_22_unknown_requests_and_notifications_of_today() {
    let mut rig = Rig::ready();
    for (n, method) in ["craft/drainMidTurnQueue", "_qwencode/x", "_session/retrying"].into_iter().enumerate() {
        rig.agent(json!({ "jsonrpc": "2.0", "id": n, "method": method, "params": {} }));
        assert_eq!(rig.sent_briefly(), [format!("{n}:-32601")]);
    }
    for method in ["qwen/notify/x", "_auth/status_update", "_session/retrying"] {
        rig.agent(json!({ "jsonrpc": "2.0", "method": method, "params": {} }));
    }
    rig.agent(json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32700, "message": "Parse error" } }));
    assert!(rig.sent().is_empty());
}

#[test]
fn fact_24_only_absolute_paths_leave_us() {
    let rig = Rig::opening();
    let cwd = rig.lines.last().unwrap()["params"]["cwd"].as_str().unwrap().to_owned();
    assert!(cwd.starts_with('/'));
}

#[test]
fn fact_29_the_agents_version_is_kept_to_be_shown() {
    assert_eq!(Rig::ready().model().first().agent().version.as_deref(), Some("1.2"));
}

#[test]
fn r_445_custom_data_stays_in_meta() {
    let mut rig = Rig::ready();
    rig.prompt("hi");
    for line in &rig.lines {
        assert!(!line["params"].to_string().contains("traceparent"));
    }
    let init = &rig.lines[0]["params"];
    let mut members: Vec<&String> = init.as_object().unwrap().keys().collect();
    members.sort();
    assert_eq!(members, ["clientCapabilities", "clientInfo", "protocolVersion"]);
}

#[test]
fn r_446_a_malformed_meta_is_ignored() {
    for meta in [
        json!(4),
        json!("x"),
        json!([]),
        json!(null),
        json!({ "terminal_output": 7 }),
        json!({ "terminal_exit": { "terminal_id": 4 } }),
        json!({ "terminal_info": [] }),
    ] {
        let mut rig = Rig::prompted("hi");
        rig.tool(json!({ "toolCallId": "t", "title": "T", "_meta": meta }));
        rig.update(json!({ "sessionUpdate": "agent_message_chunk", "_meta": meta,
            "content": { "type": "text", "text": "a", "_meta": meta } }));
        rig.request(
            1,
            "session/request_permission",
            json!({ "_meta": meta, "toolCall": { "toolCallId": "t", "_meta": meta }, "options": options() }),
        );
        assert_eq!(rig.entries()[1..], ["tool T pending", "agent: a"], "{meta}");
        assert_eq!(rig.pending().len(), 1);
    }
}

#[test]
fn r_447_r_449_r_450_extensions_proxies_and_what_is_gone() {
    let mut rig = Rig::ready();
    let methods = [
        "_vendor/x",
        "_",
        "proxy/initialize",
        "proxy/successor",
        "nes/start",
        "document/didOpen",
        "session/set_model",
        "mcp/connect",
        "mcp/disconnect",
    ];
    for (n, method) in methods.into_iter().enumerate() {
        rig.request(n, method, json!({}));
        rig.agent(json!({ "jsonrpc": "2.0", "method": method, "params": {} }));
        assert_eq!(rig.sent_briefly(), [format!("{n}:-32601")], "{method}");
    }
}

/// The recording holds payloads: it is asked for, and for its owner's eyes only.
#[cfg(unix)]
#[test]
fn r_454_a_recording_is_readable_by_its_owner_only() {
    use acp_tui::store::recording;
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("r.jsonl");
    std::fs::write(&path, "old").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    drop(recording::Place::create(&path).unwrap());
    let meta = std::fs::metadata(&path).unwrap();
    assert_eq!((meta.permissions().mode() & 0o777, meta.len()), (0o600, 0));
}

/// What the agent says of other clients' capabilities or of itself is data, never an order.
#[test]
fn r_456_text_of_the_agent_asks_for_nothing() {
    let mut rig = Rig::prompted("hi");
    rig.wants();
    let words = "\u{1b}]52;c;aGVsbG8=\u{7}\u{1b}]0;title\u{7} https://x.example";
    rig.say(words);
    rig.tool(json!({ "toolCallId": "t", "title": words, "content": [{ "type": "content",
        "content": { "type": "resource_link", "name": words, "uri": "https://x.example" } }] }));
    rig.update(json!({ "sessionUpdate": "session_info_update", "title": words }));
    assert!(rig.wants().is_empty() && rig.sent().is_empty());
}
