//! Start, log-in, death and a new start.

use crate::support::{Rig, SESSION, chunk, exit_code, killed, plain_init, with};
use acp_tui::agent::codec::v1::outbound;
use acp_tui::model::agent::{Death, DeathKind};
use acp_tui::model::effect::{Call, Effect, Ended};
use acp_tui::model::entry::{Body, DetailFold};
use acp_tui::model::event::{AuthKind, Can, HostEvent, Intent, Opening};
use acp_tui::model::session::{Phase, Policy};
use agent_client_protocol_schema::v1 as schema;
use serde_json::{Value, json};
use std::path::Path;

fn death(rig: &Rig) -> &Death {
    match rig.model().first().phase() {
        Phase::Dead(death) => death,
        other => panic!("alive: {other:?}"),
    }
}

#[test]
fn r_052_junk_is_counted_and_kept_and_harms_nothing() {
    let mut rig = Rig::starting(Policy::Ask);
    rig.sent();
    let junk =
        ["Welcome to Probe 1.2", "[INFO] ready", "null", "17", "\"text\"", "[]", "true", "", "\u{1b}[2Jx", "{oops"];
    for line in junk {
        rig.line(line);
    }
    assert_eq!(rig.model().first().agent().odd.stray, junk.len() as u64);
    assert_eq!(rig.model().first().agent().early_stray.as_deref(), Some("Welcome to Probe 1.2"));
    assert!(rig.sent().is_empty());
    rig.answer("initialize", plain_init());
    assert_eq!(rig.sent_briefly(), ["session/new"]);
}

#[test]
fn r_053_bytes_that_are_no_utf_8_do_not_end_anything() {
    let mut rig = Rig::prompted("hi");
    rig.bytes(b"\xff\xfe garbage");
    rig.bytes(b"{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s1\",\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"a\xffb\"}}}}");
    rig.say("c");
    assert_eq!(rig.entries_without_odd(), ["you: hi", "agent: a\u{fffd}bc"]);
}

#[test]
fn r_055_the_last_words_are_shown_when_it_dies() {
    let mut rig = Rig::starting(Policy::Ask);
    rig.exited(exit_code(2), &["no key", "usage: agent"]);
    assert_eq!(death(&rig).kind, DeathKind::Early);
    assert_eq!(death(&rig).detail, ["no key", "usage: agent"]);
    assert!(rig.has_entry("exit 2") && rig.has_entry("no key"), "{:?}", rig.entries());
}

#[test]
fn r_055_of_one_that_has_worked_the_end_is_shown_and_nothing_where_it_could_say_nothing_of_it() {
    let fold = |exit, is_up: bool| {
        let mut rig = if is_up { Rig::prompted("hi") } else { Rig::starting(Policy::Ask) };
        rig.exited(exit, &["log", "log"]);
        let folds = |body: &Body| if let Body::Notice(notice) = body { Some(notice.fold) } else { None };
        rig.model().first().session().entries().iter().filter_map(|entry| folds(&entry.body)).next_back().unwrap()
    };
    assert_eq!(fold(exit_code(1), true), DetailFold::End);
    assert_eq!(fold(killed("SIGABRT"), true), DetailFold::End);
    assert_eq!(fold(killed("SIGKILL"), true), DetailFold::Nothing);
    assert_eq!(fold(exit_code(1), false), DetailFold::All, "why it did not start is all that there is");
}

/// Issue 3: one key starts it again with a new session (the protocol's `session/load` is a later issue).
#[test]
fn r_059_after_a_death_everything_is_kept_and_nothing_is_sent_again() {
    let mut rig = Rig::prompted("first");
    rig.tool(json!({ "toolCallId": "t", "title": "T", "status": "in_progress" }));
    rig.prompt("waits");
    rig.exited(killed("SIGSEGV"), &["segfault"]);
    assert_eq!(death(&rig).kind, DeathKind::Gone);
    assert!(rig.has_entry("killed by SIGSEGV | segfault"), "{:?}", rig.entries());
    assert!(rig.has_entry("tool T AgentGone"));
    assert_eq!((rig.held(), rig.model().first().session().held.staying()), (vec!["waits"], 1));
    assert!(rig.sent().is_empty());
    let before = rig.entries();
    rig.intent(Intent::Restart);
    assert!(matches!(rig.wishes.last(), Some(Effect::SpawnAgent)));
    rig.host(HostEvent::AgentSpawned { pid: 8 });
    rig.answer("initialize", plain_init());
    rig.answer("session/new", json!({ "sessionId": "s2" }));
    assert_eq!(rig.sent_briefly(), ["initialize", "session/new"], "no prompt goes out by itself");
    assert_eq!(rig.entries()[..before.len()], before);
}

/// What is listed, and said when the program is left, is about that one.
#[test]
fn a_session_in_the_place_of_another_is_called_by_its_own_first_words() {
    let mut rig = Rig::prompted("first");
    let words = |rig: &Rig| rig.model().first().session().first_words().map(str::to_owned);
    rig.exited(killed("SIGSEGV"), &[]);
    assert_eq!(words(&rig).as_deref(), Some("first"));
    rig.intent(Intent::Restart);
    rig.host(HostEvent::AgentSpawned { pid: 8 });
    rig.answer("initialize", plain_init());
    rig.answer("session/new", json!({ "sessionId": "s2" }));
    assert_eq!(words(&rig), None, "nothing was said in it");
    rig.prompt("second");
    assert_eq!(words(&rig).as_deref(), Some("second"));
}

#[test]
fn r_060_an_exit_with_0_is_a_death_too() {
    let mut rig = Rig::ready();
    rig.exited(exit_code(0), &[]);
    assert_eq!(death(&rig).kind, DeathKind::Gone);
    assert!(rig.has_entry("exit 0"));
}

#[test]
fn a_death_is_told_once_whatever_its_signs() {
    let mut rig = Rig::prompted("hi");
    rig.host(HostEvent::StdoutClosed { stderr: vec!["last".into()] });
    rig.exited(exit_code(0), &["last"]);
    rig.host(HostEvent::ConnectionDropped { why: "x".into() });
    assert_eq!(rig.entries().iter().filter(|e| e.starts_with("Error")).count(), 1);
    assert!(matches!(rig.ended()[..], [Ended::Gone]));
}

#[test]
fn an_answer_that_cannot_be_read_says_to_what_it_was() {
    let mut rig = Rig::opening();
    rig.answer("session/new", json!({ "sessionId": 12 }));
    let message = &death(&rig).message;
    assert!(message.starts_with("malformed response to session/new: "), "{message}");
}

#[test]
fn r_070_results_without_required_members_may_be_anything() {
    for result in [json!(null), json!({}), json!({ "x": 1 })] {
        let mut rig = Rig::initialized(with(plain_init(), json!({ "authMethods": [{ "id": "web", "name": "Web" }] })));
        rig.fail("session/new", json!({ "code": -32000, "message": "log in" }));
        rig.intent(Intent::Authenticate { method: "web".into() });
        rig.sent();
        rig.answer("authenticate", result.clone());
        assert_eq!(rig.sent_briefly(), ["session/new"], "{result}");
    }
}

/// What we send survives the typed schema unchanged, so nothing of it is unknown there.
#[test]
fn r_074_everything_we_send_is_valid_and_has_no_members_of_our_own() {
    fn same<T: serde::de::DeserializeOwned + serde::Serialize>(value: &Value) -> bool {
        serde_json::to_value(serde_json::from_value::<T>(value.clone()).unwrap()).unwrap() == *value
    }
    let caps = json!({ "loadSession": true, "sessionCapabilities": { "resume": {} } });
    let more = json!({ "authMethods": [{ "id": "web", "name": "Web" }], "agentCapabilities": caps });
    let mut rig = Rig::initialized(with(plain_init(), more));
    rig.fail("session/new", json!({ "code": -32000, "message": "log in" }));
    rig.intent(Intent::Authenticate { method: "web".into() });
    rig.answer("authenticate", json!({}));
    for how in [Opening::Load("old".into()), Opening::Resume("older".into())] {
        rig.intent(Intent::OpenSession { cwd: "/project".into(), how });
    }
    rig.answer(
        "session/new",
        json!({ "sessionId": SESSION,
        "modes": { "currentModeId": "a", "availableModes": [{ "id": "a", "name": "A" }] },
        "configOptions": [{ "id": "m", "name": "M", "type": "select", "currentValue": "x",
            "options": [{ "value": "x", "name": "X" }] },
            { "id": "b", "name": "B", "type": "boolean", "currentValue": true }] }),
    );
    rig.intent(Intent::SetMode { id: "a".into() });
    rig.intent(Intent::SetOption { id: "m".into(), value: acp_tui::model::options::OptionValue::Id("x".into()) });
    rig.intent(Intent::SetOption { id: "b".into(), value: acp_tui::model::options::OptionValue::Bool(false) });
    rig.prompt("hi");
    rig.intent(Intent::Cancel);
    let mut seen = Vec::new();
    for line in &rig.lines {
        let members: Vec<&String> = line.as_object().unwrap().keys().collect();
        assert!(members.iter().all(|m| ["jsonrpc", "id", "method", "params"].contains(&m.as_str())), "{line}");
        let (method, params) = (line["method"].as_str().unwrap(), &line["params"]);
        let ok = match method {
            "initialize" => {
                let mut stable = params.clone();
                // Unstable, and not among the types that are stable.
                let unstable = stable["clientCapabilities"].as_object_mut().unwrap().remove("subagents");
                unstable == Some(json!({})) && same::<schema::InitializeRequest>(&stable)
            }
            "session/new" => same::<schema::NewSessionRequest>(params),
            "session/load" => same::<schema::LoadSessionRequest>(params),
            "session/resume" => same::<schema::ResumeSessionRequest>(params),
            "authenticate" => same::<schema::AuthenticateRequest>(params),
            "session/set_mode" => same::<schema::SetSessionModeRequest>(params),
            "session/set_config_option" => same::<schema::SetSessionConfigOptionRequest>(params),
            "session/prompt" => same::<schema::PromptRequest>(params),
            "session/cancel" => same::<schema::CancelNotification>(params),
            other => panic!("{other}"),
        };
        assert!(ok, "{line}");
        seen.push(method.to_owned());
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 9);
}

#[test]
fn r_075_r_076_initialize_is_first_and_alone_and_once() {
    let mut rig = Rig::with_policy(Policy::Ask);
    rig.prompt("too early");
    rig.intent(Intent::SetMode { id: "x".into() });
    rig.intent(Intent::Cancel);
    rig.intent(Intent::Start);
    rig.host(HostEvent::AgentSpawned { pid: 1 });
    rig.intent(Intent::Cancel);
    rig.prompt("also");
    assert_eq!(rig.sent_briefly(), ["initialize"]);
    assert_eq!(rig.held(), ["too early", "also"]);
    rig.answer("initialize", plain_init());
    rig.answer("session/new", json!({ "sessionId": SESSION }));
    assert_eq!(rig.sent_briefly(), ["session/new", "session/prompt"]);
}

#[test]
fn r_077_the_version_is_an_integer() {
    let rig = Rig::starting(Policy::Ask);
    assert_eq!(rig.lines[0]["params"]["protocolVersion"], json!(1));
    assert_eq!(rig.lines[0]["params"]["protocolVersion"].to_string(), "1");
}

fn initialize() -> Value {
    outbound::call(&Call::Initialize, Path::new("/project")).unwrap().1
}

#[test]
fn r_078_we_say_who_we_are() {
    let info = &initialize()["clientInfo"];
    assert_eq!(info["name"], "acp-tui");
    assert_eq!(info["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn r_079_only_what_is_there_is_advertised() {
    let caps = &initialize()["clientCapabilities"];
    let mut members: Vec<&str> = caps.as_object().unwrap().keys().map(String::as_str).collect();
    members.sort_unstable();
    assert_eq!(members, ["_meta", "auth", "elicitation", "fs", "session", "subagents", "terminal"]);
    assert_eq!(caps["session"], json!({ "compaction": {}, "configOptions": { "boolean": {} }, "notices": {} }));
    // A read-only policy refuses, and advertises all the same.
    use acp_tui::model::session::Allow;
    let rig = Rig::starting(Policy::Auto(Allow::None));
    assert_eq!(&rig.lines[0]["params"]["clientCapabilities"], caps);
}

#[test]
fn r_080_another_version_ends_it_and_both_are_named() {
    let mut rig = Rig::starting(Policy::Ask);
    rig.answer("initialize", json!({ "protocolVersion": 2 }));
    assert_eq!(death(&rig).kind, DeathKind::Version);
    assert!(death(&rig).message.contains("version 2") && death(&rig).message.contains("version 1"));
    assert!(rig.wishes.contains(&Effect::EndAgent));
}

#[test]
fn r_081_the_agents_version_is_an_integer_and_nothing_else() {
    for version in [json!("1"), json!("2025-03-26"), json!(1.0), json!(-1), json!(65_536), json!(null), json!([1])] {
        let mut rig = Rig::starting(Policy::Ask);
        rig.answer("initialize", json!({ "protocolVersion": version }));
        assert_eq!(death(&rig).kind, DeathKind::Refused, "{version}");
        assert!(death(&rig).message.contains("protocolVersion"), "{}", death(&rig).message);
    }
}

#[test]
fn r_082_r_084_what_is_missing_or_odd_is_not_supported() {
    use acp_tui::model::event::AgentCaps;
    for caps in [
        json!(null),
        json!([]),
        json!("yes"),
        json!({ "loadSession": "true", "promptCapabilities": { "image": 1, "audio": {}, "embeddedContext": null } }),
        json!({ "promptCapabilities": true }),
    ] {
        let rig = Rig::initialized(with(plain_init(), json!({ "agentCapabilities": caps })));
        assert_eq!(rig.model().first().agent().caps, AgentCaps::default(), "{caps}");
    }
    let mut init = plain_init();
    init.as_object_mut().unwrap().remove("agentCapabilities");
    assert_eq!(Rig::initialized(init).model().first().agent().caps, AgentCaps::default());
    let rig = Rig::initialized(json!({ "protocolVersion": 1,
        "agentCapabilities": { "loadSession": true, "promptCapabilities": { "image": true } } }));
    assert!(rig.model().first().agent().can(Can::Load) && rig.model().first().agent().caps.image);
}

/// No method that an object-marker capability gates is called at all yet, whatever stands there.
#[test]
fn r_083_r_085_nothing_is_called_that_was_not_offered() {
    for marker in [json!({}), json!(true), json!([]), json!(1)] {
        let caps = json!({ "loadSession": true, "auth": { "logout": marker },
            "sessionCapabilities": { "list": marker, "resume": marker, "close": marker, "delete": marker } });
        let mut rig = Rig::initialized(with(plain_init(), json!({ "agentCapabilities": caps })));
        rig.answer("session/new", json!({ "sessionId": SESSION }));
        rig.prompt("hi");
        rig.stop("end_turn");
        rig.exited(exit_code(0), &[]);
        rig.intent(Intent::Restart);
        rig.host(HostEvent::AgentSpawned { pid: 2 });
        assert_eq!(rig.sent_briefly(), ["initialize", "session/new", "session/prompt", "initialize"]);
    }
}

#[test]
fn r_085_modes_and_options_that_were_not_reported_are_not_set() {
    let mut rig = Rig::ready();
    rig.intent(Intent::SetMode { id: "a".into() });
    rig.intent(Intent::SetOption { id: "m".into(), value: acp_tui::model::options::OptionValue::Bool(true) });
    rig.intent(Intent::Authenticate { method: "web".into() });
    assert!(rig.sent().is_empty());
}

#[test]
fn r_087_title_else_name_else_command() {
    let label = |info: Value| {
        Rig::initialized(json!({ "protocolVersion": 1, "agentInfo": info })).model().first().agent().label().to_owned()
    };
    assert_eq!(label(json!({ "name": "n", "title": "T", "version": "1" })), "T");
    assert_eq!(label(json!({ "name": "n", "title": "", "version": "1" })), "n");
    assert_eq!(label(json!({ "name": "n", "title": 4, "version": "1" })), "n");
    assert_eq!(label(json!(null)), "agent --acp");
}

#[test]
fn r_088_nothing_negotiated_survives_a_new_start() {
    let mut rig = Rig::initialized(json!({ "protocolVersion": 1,
        "agentInfo": { "name": "old", "title": "Old", "version": "9" },
        "agentCapabilities": { "loadSession": true, "promptCapabilities": { "image": true } },
        "authMethods": [{ "id": "web", "name": "Web" }] }));
    rig.answer(
        "session/new",
        json!({ "sessionId": SESSION,
        "modes": { "currentModeId": "a", "availableModes": [{ "id": "a", "name": "A" }] },
        "configOptions": [{ "id": "b", "name": "B", "type": "boolean", "currentValue": true }] }),
    );
    rig.prompt("one");
    rig.tool(json!({ "toolCallId": "t", "title": "old call" }));
    rig.update(with(chunk("agent_message_chunk", "old text"), json!({ "messageId": "m" })));
    rig.terminal(1, "term-1");
    rig.exited(exit_code(0), &[]);
    rig.intent(Intent::Restart);
    rig.host(HostEvent::AgentSpawned { pid: 2 });
    rig.answer("initialize", plain_init());
    // This one cannot go on with sessions any more: the person may have a new one.
    assert!(rig.has_entry("can neither load nor resume"));
    rig.intent(Intent::Restart);
    rig.answer("session/new", json!({ "sessionId": SESSION }));
    let agent = rig.model().first().agent();
    assert_eq!((agent.name.as_deref(), agent.title.as_deref()), (Some("probe"), None));
    assert!(!agent.can(Can::Load) && !agent.caps.image && agent.auth_methods.is_empty());
    let session = rig.model().first().session();
    assert!(session.modes.is_none() && session.options.is_empty() && session.commands.is_empty());
    // Ids of the old session mean nothing now.
    let before = rig.entries();
    rig.sent();
    rig.tool_update(json!({ "toolCallId": "t", "title": "new call" }));
    rig.update(with(chunk("agent_message_chunk", "new text"), json!({ "messageId": "m" })));
    rig.request(5, "terminal/output", json!({ "terminalId": "term-1" }));
    assert_eq!(rig.entries()[..before.len()], before);
    assert_eq!(rig.entries()[before.len()..], ["tool new call NoFinalStatus", "agent: new text"]);
    assert_eq!(rig.sent_briefly(), ["5:-32002"]);
}

#[test]
fn a_new_start_while_the_agent_lives_answers_what_it_asked() {
    let mut rig = Rig::prompted("hi");
    rig.ask(1, "t");
    rig.terminal(2, "term-1");
    rig.request(3, "terminal/wait_for_exit", json!({ "terminalId": "term-1" }));
    rig.sent();
    rig.intent(Intent::Restart);
    assert_eq!(rig.sent_briefly(), ["1:cancelled", "3:-32800"]);
    assert!(rig.wishes.contains(&Effect::EndAgent));
}

#[test]
fn r_089_an_error_to_initialize_is_shown_and_ends_it() {
    let mut rig = Rig::starting(Policy::Ask);
    rig.sent();
    rig.fail("initialize", json!({ "code": -32603, "message": "no licence", "data": { "details": "expired" } }));
    assert_eq!(death(&rig).kind, DeathKind::Refused);
    assert!(rig.has_entry("no licence") && rig.has_entry("expired"));
    assert!(rig.sent().is_empty());
}

#[test]
fn r_092_the_flags_that_agents_of_today_look_for() {
    let meta = &initialize()["clientCapabilities"]["_meta"];
    assert_eq!(meta, &json!({ "terminal_output": true, "terminal-auth": true }));
}

#[test]
fn r_093_r_094_files_and_terminals_are_offered_whole() {
    let caps = &initialize()["clientCapabilities"];
    assert_eq!(caps["fs"], json!({ "readTextFile": true, "writeTextFile": true }));
    assert_eq!(caps["terminal"], json!(true));
    // Each on its own merit: a policy that refuses writes serves reads.
    use acp_tui::model::session::Allow;
    let mut rig = Rig::ready_as(Policy::Auto(Allow::Reads), json!({}));
    rig.wants();
    rig.request(1, "fs/read_text_file", json!({ "path": "/project/a" }));
    rig.request(2, "fs/write_text_file", json!({ "path": "/project/a", "content": "" }));
    assert_eq!(rig.sent_briefly(), ["2:-32602"]);
    assert!(matches!(rig.wants()[..], [Effect::FsRead { .. }]));
    // All five terminal methods are known.
    let mut rig = Rig::ready();
    for (n, method) in ["output", "wait_for_exit", "kill", "release"].into_iter().enumerate() {
        rig.request(n, &format!("terminal/{method}"), json!({ "terminalId": "x" }));
        assert_eq!(rig.sent_briefly(), [format!("{n}:-32002")]);
    }
}

#[test]
fn r_095_forms_and_pages_are_offered() {
    assert_eq!(initialize()["clientCapabilities"]["elicitation"], json!({ "form": {}, "url": {} }));
}

#[test]
fn r_096_r_109_the_command_of_a_terminal_log_in_is_exact() {
    use acp_tui::model::login::command_line;
    assert_eq!(initialize()["clientCapabilities"]["auth"], json!({ "terminal": true }));
    let rig = Rig::initialized(with(
        plain_init(),
        json!({ "authMethods": [
        { "id": "a", "name": "A", "type": "terminal", "args": ["login", "two words"], "env": { "K": "v w" } },
        { "id": "b", "name": "B", "_meta": { "terminal-auth": { "command": "/bin/log in", "args": ["-x"] } } },
        { "id": "c", "name": "C" }, { "name": "no id" }, 5
    ] }),
    ));
    let methods = &rig.model().first().agent().auth_methods;
    let agent = rig.model().first().agent();
    let lines: Vec<Option<String>> = methods.iter().map(|m| command_line(agent, &m.kind)).collect();
    let [a, b] = ["K='v w' agent --acp login 'two words'", "'/bin/log in' -x"].map(|line| Some(line.to_owned()));
    assert_eq!(lines, [a, b, None]);
    assert_eq!(methods[2].kind, AuthKind::Agent);
}

#[test]
fn r_125_r_136_the_session_gets_an_absolute_directory_and_a_list_of_servers() {
    let rig = Rig::opening();
    let new = rig.lines.iter().find(|l| l["method"] == "session/new").unwrap();
    assert_eq!(new["params"], json!({ "cwd": "/project", "mcpServers": [] }));
}

#[test]
fn r_126_relative_directories_of_the_agent_are_invalid() {
    let mut rig = Rig::ready();
    rig.wants();
    rig.request(1, "terminal/create", json!({ "command": "ls", "cwd": "src" }));
    rig.request(2, "terminal/create", json!({ "command": "ls", "cwd": "" }));
    assert_eq!(rig.sent_briefly(), ["1:-32602", "2:-32602"]);
    assert!(rig.wants().is_empty());
}

#[test]
fn r_127_references_are_based_on_the_sessions_directory() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a b.rs"), "").unwrap();
    std::fs::write(dir.path().join("c.rs"), "").unwrap();
    let links = acp_tui::engine::attach::joined(Vec::new(), "see @c.rs, and @nowhere", dir.path());
    assert_eq!(links.len(), 1);
    assert_eq!(links[0].uri, format!("file://{}/c.rs", dir.path().display()));
}

#[test]
fn r_134_only_our_session_is_served() {
    let mut rig = Rig::prompted("hi");
    rig.update_in("child", chunk("agent_message_chunk", "not ours"));
    rig.update_in("", chunk("agent_message_chunk", "nor this"));
    rig.say("ours");
    assert_eq!(rig.entries(), ["you: hi", "agent: ours"]);
}

#[test]
fn r_135_r_139_no_session_before_initialize_and_none_after_a_failure() {
    let mut rig = Rig::starting(Policy::Ask);
    rig.prompt("kept");
    assert_eq!(rig.sent_briefly(), ["initialize"]);
    rig.answer("initialize", plain_init());
    rig.fail("session/new", json!({ "code": -32603, "message": "no room", "data": "disk" }));
    assert!(rig.model().first().session().id.as_ref().is_none());
    assert_eq!(death(&rig).kind, DeathKind::Refused);
    assert!(rig.has_entry("no room") && rig.has_entry("disk"));
    assert_eq!(rig.returned(), ["kept"], "what the person wrote is not lost");
    // A result that names no session is no session.
    let mut rig = Rig::opening();
    rig.answer("session/new", json!({ "sessionId": 4 }));
    assert!(rig.model().first().session().id.as_ref().is_none() && rig.is_dead());
}

#[test]
fn r_137_updates_may_come_before_the_session() {
    let mut rig = Rig::opening();
    rig.update(json!({ "sessionUpdate": "current_mode_update", "currentModeId": "b" }));
    rig.answer("session/new", json!({ "sessionId": SESSION,
        "modes": { "currentModeId": "a", "availableModes": [{ "id": "a", "name": "A" }, { "id": "b", "name": "B" }] } }));
    assert_eq!(rig.model().first().session().modes.as_ref().unwrap().current, "b");
}

fn logging_in() -> Rig {
    let mut rig = Rig::initialized(with(plain_init(), json!({ "authMethods": [{ "id": "web", "name": "Web" }] })));
    rig.fail("session/new", json!({ "code": -32000, "message": "log in" }));
    rig.intent(Intent::Authenticate { method: "web".into() });
    rig
}

#[test]
fn what_an_agent_prints_during_the_log_in_is_one_entry() {
    let mut rig = logging_in();
    let url = format!("https://example.org/login?state={}", "x".repeat(900));
    rig.line("Please visit the following URL:");
    rig.line("");
    rig.line(&url);
    rig.host(HostEvent::LogInPrinted { line: "and type the code 1234".into() });
    let said = format!(
        "Warn: during the log-in the agent says | Please visit the following URL: | {url} | and type the code 1234"
    );
    assert_eq!(rig.entries().last(), Some(&said));
    // After it the old rule goes on: the first line of a connection is told of, all are counted.
    rig.answer("authenticate", json!({}));
    rig.answer("session/new", json!({ "sessionId": SESSION }));
    rig.line("banner");
    rig.line("more banner");
    assert_eq!(rig.entries()[2..], ["Info: logged in: Web", "Info: the agent sent text that is no message | banner"]);
    assert_eq!(rig.model().first().agent().odd.stray, 5);
}

#[test]
fn what_an_agent_prints_during_the_log_in_is_bounded() {
    let mut rig = logging_in();
    for n in 0..10_000 {
        rig.line(&format!("{n} {}", "y".repeat(9000)));
    }
    let lines = match &rig.model().first().session().entries().last().unwrap().body {
        Body::Notice(notice) => notice.detail.clone(),
        other => panic!("{other:?}"),
    };
    assert!(lines[1].starts_with("1 yyy") && lines.len() < 100, "{}", lines.len());
    assert!(lines.iter().all(|l| l.len() < 5000));
    assert!(lines.last().unwrap().contains("journal"));
    // Another attempt has an entry of its own.
    rig.intent(Intent::LeaveAuthentication);
    rig.intent(Intent::Authenticate { method: "web".into() });
    rig.line("again");
    assert_eq!(rig.entries().last().unwrap(), "Warn: during the log-in the agent says | again");
}

#[test]
fn a_late_answer_to_a_log_in_that_was_left_does_not_end_the_next_one() {
    let mut rig = logging_in();
    let first = rig.open_call("authenticate");
    rig.intent(Intent::LeaveAuthentication);
    rig.intent(Intent::Authenticate { method: "web".into() });
    rig.agent(json!({ "jsonrpc": "2.0", "id": first, "error": { "code": -32800, "message": "cancelled" } }));
    assert!(matches!(rig.model().first().phase(), Phase::Authenticating { .. }), "{:?}", rig.entries());
    let second = rig.lines.iter().rev().find(|l| l["method"] == "authenticate").unwrap()["id"].clone();
    rig.sent();
    // The second one can still be left.
    rig.intent(Intent::LeaveAuthentication);
    let left = rig.sent();
    assert_eq!((&left[0]["method"], &left[0]["params"]["requestId"]), (&json!("$/cancel_request"), &second));
    rig.intent(Intent::Authenticate { method: "web".into() });
    rig.agent(json!({ "jsonrpc": "2.0", "id": second, "result": {} }));
    assert!(matches!(rig.model().first().phase(), Phase::Authenticating { .. }));
    let third = rig.lines.iter().rev().find(|l| l["method"] == "authenticate").unwrap()["id"].clone();
    rig.agent(json!({ "jsonrpc": "2.0", "id": third, "result": {} }));
    assert!(rig.has_entry("logged in: Web"));
}
