//! A session in the second version of the protocol, from lines to lines and to the transcript.

use crate::support::second::{running, state, stops, tool};
use crate::support::{Rig, SESSION, chunk, options, plain_init, second_init, with};
use acp_tui::engine::replay::replay;
use acp_tui::model::Model;
use acp_tui::model::agent::DeathKind;
use acp_tui::model::effect::Effect;
use acp_tui::model::event::{HostEvent, Intent, Item, Opening, Protocol, Stop};
use acp_tui::model::ids::{AgentKey, Owner, SessionKey, TermId};
use acp_tui::model::session::{Allow, Phase, Policy};
use acp_tui::model::tool::ToolStatus;
use serde_json::{Value, json};
use std::path::PathBuf;

fn idle(rig: &mut Rig) {
    state(rig, "idle", json!({ "stopReason": "end_turn" }));
}

fn piece(rig: &mut Rig, id: &str, text: &str) {
    rig.update(with(chunk("agent_message_chunk", text), json!({ "messageId": id })));
}

fn unsupported(supported: Value) -> Value {
    json!({ "code": -32022, "message": "Unsupported protocol version", "data": { "requested": 1, "supported": supported } })
}

#[test]
fn v2_001_v2_009_the_second_version_is_spoken_only_after_the_first_is_refused_for_it() {
    let mut rig = Rig::starting(Policy::Ask);
    assert_eq!(rig.sent()[0]["params"]["protocolVersion"], 1);
    rig.wants();
    rig.fail("initialize", unsupported(json!([2])));
    assert!(matches!(rig.wants()[..], [Effect::SpawnAgent]), "one new process");
    assert!(rig.has_entry("speaks version 2 of the protocol"), "{:?}", rig.entries());
    rig.host(HostEvent::AgentSpawned { pid: 8 });
    let hello = rig.sent().pop().unwrap();
    assert_eq!(hello["params"]["protocolVersion"], 2);
    assert!(
        hello["params"]["info"]["name"].is_string() && hello["params"].get("clientCapabilities").is_none(),
        "v2_005"
    );
    assert_eq!(
        hello["params"]["capabilities"],
        json!({ "auth": { "terminal": {} }, "elicitation": { "form": {}, "url": {} } }),
        "v2_006, v2_110, v2_114"
    );
    rig.answer("initialize", second_init());
    rig.answer("session/new", json!({ "sessionId": SESSION }));
    assert_eq!(rig.model().first().phase(), Phase::Ready);
    assert_eq!(rig.model().first().agent().protocol, 2);
    // A journal of it is read in the same way; an older one, which does not say so, never changes the version.
    for (protocol, name) in [(json!("auto"), "Ready"), (json!(null), "Dead")] {
        let header = json!({ "client": "acp-tui", "codec": "acp-1", "protocol": protocol }).to_string();
        let lines = std::iter::once(header.as_str()).chain(rig.journal.iter().map(String::as_str));
        let fresh = Model::new("agent --acp".into(), "/project".into(), Policy::Ask);
        let (again, _) = replay(fresh, PathBuf::from("/project"), lines);
        assert!(format!("{:?}", again.first().phase()).starts_with(name), "{protocol}: {:?}", again.first().phase());
    }
}

#[test]
fn v2_002_a_version_is_changed_once_and_not_to_one_that_nobody_speaks() {
    for supported in [json!([3, 4]), json!([]), json!(null), json!("2")] {
        let mut rig = Rig::starting(Policy::Ask);
        rig.fail("initialize", unsupported(supported.clone()));
        let Phase::Dead(death) = rig.model().first().phase() else { panic!("{supported}") };
        assert_eq!(death.kind, DeathKind::Version);
        assert!(death.message.contains("refuses version 1"), "{}", death.message);
    }
    let mut rig = Rig::starting(Policy::Ask);
    rig.fail("initialize", unsupported(json!([2])));
    rig.host(HostEvent::AgentSpawned { pid: 8 });
    rig.wants();
    rig.fail("initialize", json!({ "code": -32022, "message": "no", "data": { "supported": [1] } }));
    assert!(rig.is_dead() && !rig.wants().contains(&Effect::SpawnAgent));
}

#[test]
fn v2_007_v2_010_v2_011_what_was_asked_for_is_final() {
    let begin = |protocol: Protocol| {
        let mut rig = Rig::with_policy(Policy::Ask);
        rig.core.speak(acp_tui::agent::codec::first(protocol), false);
        rig.intent(Intent::Start);
        rig.host(HostEvent::AgentSpawned { pid: 7 });
        rig
    };
    let mut rig = begin(Protocol::One);
    rig.fail("initialize", unsupported(json!([2])));
    let Phase::Dead(death) = rig.model().first().phase() else { panic!() };
    assert!(death.message.contains("refuses version 1 of the protocol; it speaks 2"), "{}", death.message);
    for (version, words) in
        [(json!(1), "speaks version 1"), (json!(3), "speaks version 3"), (json!("2"), "not a whole number")]
    {
        let mut rig = begin(Protocol::Two);
        rig.answer("initialize", json!({ "protocolVersion": version, "agentCapabilities": {} }));
        let Phase::Dead(death) = rig.model().first().phase() else { panic!() };
        assert!(death.message.contains(words), "{}", death.message);
    }
}

#[test]
fn v2_037_v2_038_v2_047_a_turn_runs_from_running_to_idle() {
    let mut rig = Rig::second();
    state(&mut rig, "idle", json!({}));
    rig.prompt("hi");
    rig.update(
        json!({ "sessionUpdate": "user_message", "messageId": "u1", "content": [{ "type": "text", "text": "hi" }] }),
    );
    rig.answer("session/prompt", json!({ "messageId": "u1" }));
    assert!(rig.model().first().session().turn.is_some(), "the answer is no end");
    state(&mut rig, "running", json!({ "background": [] }));
    piece(&mut rig, "m", "Hel");
    rig.update(
        json!({ "sessionUpdate": "agent_message", "messageId": "m", "content": [{ "type": "text", "text": "Hello" }] }),
    );
    state(&mut rig, "requires_action", json!({}));
    idle(&mut rig);
    idle(&mut rig);
    assert_eq!(stops(&rig), [Some(Stop::EndTurn)], "v2_050");
    assert_eq!(rig.entries(), ["you: hi", "agent: Hello"], "v2_040");
}

#[test]
fn v2_042_v2_045_v2_064_a_prompt_that_is_not_taken_comes_back() {
    let mut rig = Rig::second();
    rig.prompt("hi");
    rig.fail("session/prompt", json!({ "code": -32602, "message": "no images" }));
    assert_eq!((rig.returned(), stops(&rig)), (vec!["hi".to_owned()], vec![None]));
    assert!(rig.entries()[0].starts_with("dropped: hi"), "{:?}", rig.entries());
    // What the agent does besides goes on.
    let mut rig = Rig::second();
    rig.prompt("hi");
    state(&mut rig, "running", json!({}));
    rig.fail("session/prompt", json!({ "code": -32603, "message": "busy" }));
    assert_eq!((rig.returned(), stops(&rig)), (vec!["hi".to_owned()], vec![]));
    idle(&mut rig);
    assert_eq!(stops(&rig), [Some(Stop::EndTurn)]);
    // Withdrawn by a cancel.
    let mut rig = Rig::second();
    rig.prompt("hi");
    rig.sent();
    rig.intent(Intent::Cancel);
    assert_eq!(rig.sent_briefly(), ["session/cancel"]);
    rig.fail("session/prompt", json!({ "code": -32800, "message": "cancelled" }));
    assert!(rig.has_entry("stopped") && rig.model().first().session().turn.is_none(), "{:?}", rig.entries());
}

#[test]
fn v2_060_v2_061_a_cancel_ends_with_idle_and_questions_are_answered() {
    let mut rig = running();
    let call = json!({ "toolCallId": "t", "title": "Run" });
    let params =
        json!({ "title": "May I?", "subject": { "type": "tool_call", "toolCall": call }, "options": options() });
    rig.request(9, "session/request_permission", params);
    rig.intent(Intent::Cancel);
    assert_eq!(rig.sent_briefly(), ["session/cancel", "9:cancelled"]);
    assert!(rig.model().first().session().turn.is_some());
    state(&mut rig, "idle", json!({ "stopReason": "cancelled" }));
    assert_eq!(stops(&rig), [Some(Stop::Cancelled)]);
}

#[test]
fn v2_025_v2_027_a_session_that_is_at_work_when_it_is_opened_is_shown_so() {
    let mut rig = Rig::second();
    rig.intent(Intent::OpenSession { cwd: "/project".into(), how: Opening::Load("old".into()) });
    let resumed = rig.sent().pop().unwrap();
    assert_eq!(
        (&resumed["method"], &resumed["params"]["replayFrom"]),
        (&json!("session/resume"), &json!({ "type": "start" }))
    );
    rig.update_in("old", json!({ "sessionUpdate": "user_message", "messageId": "u", "content": [{ "type": "text", "text": "long ago" }] }));
    rig.update_in(
        "old",
        json!({ "sessionUpdate": "agent_message", "messageId": "m", "content": [{ "type": "text", "text": "yes" }] }),
    );
    rig.update_in("old", json!({ "sessionUpdate": "state_update", "state": "running" }));
    rig.answer(
        "session/resume",
        json!({ "availableCommands": [{ "type": "command", "name": "web", "description": "d" }] }),
    );
    let (_, session) = rig.model().sessions().nth(1).unwrap();
    assert!(session.turn.is_some(), "it is at work");
    assert_eq!(session.commands.len(), 1, "v2_029");
    rig.update_in("old", json!({ "sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn" }));
    assert!(rig.model().sessions().nth(1).unwrap().1.turn.is_none());
}

#[test]
fn v2_025_an_agent_that_takes_up_a_session_and_says_no_state_is_not_taken_to_be_idle() {
    let unknown = |rig: &Rig| rig.model().at(SessionKey(1)).unwrap().is_of_unknown_state();
    let mut rig = Rig::second();
    assert!(!rig.model().first().is_of_unknown_state(), "v2_027: a new one is idle");
    rig.intent(Intent::OpenSession { cwd: "/project".into(), how: Opening::Resume("old".into()) });
    rig.answer("session/resume", json!({}));
    assert!(unknown(&rig));
    rig.update_in("old", json!({ "sessionUpdate": "state_update", "state": "idle" }));
    assert!(!unknown(&rig));
    // An agent of the first version has no word for it.
    let caps = json!({ "agentCapabilities": { "sessionCapabilities": { "resume": {} } } });
    let mut rig = Rig::initialized(with(plain_init(), caps));
    rig.answer("session/new", json!({ "sessionId": SESSION }));
    rig.intent(Intent::OpenSession { cwd: "/project".into(), how: Opening::Resume("old".into()) });
    rig.answer("session/resume", json!({}));
    assert!(!unknown(&rig));
}

#[test]
fn v2_048_a_turn_waits_for_the_person_while_the_agent_says_so() {
    let mut rig = running();
    let waits = |rig: &Rig| rig.model().first().waits_for_person();
    rig.request(
        9,
        "session/request_permission",
        json!({ "title": "Run?", "subject": { "type": "tool_call", "toolCall": { "toolCallId": "t" } }, "options": options() }),
    );
    assert!(!waits(&rig), "a question alone does not say it");
    state(&mut rig, "requires_action", json!({}));
    assert!(waits(&rig));
    rig.choose("yes");
    assert!(waits(&rig), "an answer does not take it back");
    state(&mut rig, "running", json!({}));
    assert!(!waits(&rig));
    state(&mut rig, "requires_action", json!({}));
    idle(&mut rig);
    assert!(!waits(&rig));
}

#[test]
fn v2_056_v2_057_background_work_stays_until_it_is_told_anew() {
    let mut rig = running();
    let count = |rig: &Rig| rig.model().first().background.len();
    let two = json!([{ "type": "terminal", "terminalId": "a" }, { "type": "dream" }]);
    state(&mut rig, "idle", json!({ "stopReason": "end_turn", "background": two }));
    assert_eq!(count(&rig), 2);
    for says_nothing in [json!({}), json!({ "background": null }), json!({ "background": [{ "type": "terminal" }] })] {
        state(&mut rig, "idle", says_nothing);
        assert_eq!(count(&rig), 2);
    }
    state(&mut rig, "idle", json!({ "background": [] }));
    assert_eq!(count(&rig), 0);
}

#[test]
fn v2_071_v2_072_v2_073_words_without_an_id_are_a_message_of_their_own() {
    let mut rig = running();
    piece(&mut rig, "m", "one ");
    rig.say("alone ");
    rig.say("again");
    piece(&mut rig, "m", "two");
    assert!(rig.has_entry("agent: one two") && rig.has_entry("agent: alone again"), "{:?}", rig.entries());
}

#[test]
fn v2_065_v2_066_v2_067_one_call_is_ended_alone_where_that_is_offered() {
    let mut rig = running();
    tool(&mut rig, json!({ "title": "Build", "status": "in_progress" }));
    let cancel = |rig: &mut Rig| {
        rig.intent(Intent::CancelItem(Item::Tool("t".into())));
        rig.sent()
    };
    assert_eq!(cancel(&mut rig).len(), 0, "it is not offered");
    tool(&mut rig, json!({ "capabilities": { "cancel": {} } }));
    assert_eq!(rig.model().first().session().cancellable(), Some(Item::Tool("t".into())));
    let sent = cancel(&mut rig);
    assert_eq!((&sent[0]["method"], &sent[0]["params"]["toolCallId"]), (&json!("tool_call/cancel"), &json!("t")));
    rig.answer("tool_call/cancel", json!({}));
    assert_eq!(rig.call("t").status, ToolStatus::InProgress, "that is no end");
    tool(&mut rig, json!({ "status": "cancelled", "capabilities": null }));
    assert_eq!(cancel(&mut rig).len(), 0);
    rig.update(json!({ "sessionUpdate": "terminal_update", "terminalId": "x", "command": "make", "capabilities": { "cancel": {} } }));
    rig.intent(Intent::CancelItem(Item::Terminal("x".into())));
    assert_eq!(rig.sent_briefly(), ["terminal/cancel"]);
    rig.fail("terminal/cancel", json!({ "code": -32602, "message": "it has ended" }));
    assert!(rig.has_entry("could not be ended alone: it has ended"), "{:?}", rig.entries());
    assert!(rig.model().first().session().turn.is_some(), "v2_068");
    // The same again from the journal: no call of ours is numbered otherwise.
    idle(&mut rig);
    let header = json!({ "client": "acp-tui", "codec": "acp-2" }).to_string();
    let lines = std::iter::once(header.as_str()).chain(rig.journal.iter().map(String::as_str));
    let fresh = Model::new("agent --acp".into(), "/project".into(), Policy::Ask);
    let (again, skipped) = replay(fresh, PathBuf::from("/project"), lines);
    assert_eq!((crate::support::render(&again), skipped), (rig.entries(), 0));
}

#[test]
fn v2_076_v2_078_a_call_is_made_by_whatever_names_it_first_and_parts_are_added() {
    let mut rig = running();
    let part = |text: &str| json!({ "type": "content", "content": { "type": "text", "text": text } });
    let add = |rig: &mut Rig, text: &str| {
        rig.update(json!({ "sessionUpdate": "tool_call_content_chunk", "toolCallId": "t", "content": part(text) }));
    };
    add(&mut rig, "one");
    assert_eq!((rig.call("t").label(), rig.call("t").content.len()), ("t", 1));
    add(&mut rig, "two");
    assert_eq!(rig.call("t").content.len(), 2);
    tool(&mut rig, json!({ "content": [part("three")] }));
    add(&mut rig, "four");
    assert_eq!(rig.call("t").content.len(), 2);
    for n in 0..3000 {
        add(&mut rig, &n.to_string());
    }
    assert!(rig.call("t").cut && rig.call("t").content.len() <= 1001, "{}", rig.call("t").content.len());
}

#[test]
fn v2_084_v2_086_a_terminal_of_the_agents_own_is_fed_in_any_order() {
    let mut rig = running();
    let id = TermId::of(Owner::Agent, "x");
    let chunk = |rig: &mut Rig, data: &str| {
        rig.update(json!({ "sessionUpdate": "terminal_output_chunk", "terminalId": "x", "data": data }));
    };
    let text = |rig: &Rig| rig.model().first().session().terminal(&id).unwrap().text.text();
    // "é" in two pieces.
    chunk(&mut rig, "w6k=");
    assert_eq!(text(&rig), "é");
    chunk(&mut rig, "YcM=");
    chunk(&mut rig, "qWI=");
    assert_eq!(text(&rig), "éaéb");
    assert_eq!(rig.entries()[1], "terminal x: running", "it stands by itself");
    tool(&mut rig, json!({ "content": [{ "type": "terminal", "terminalId": "x" }] }));
    assert_eq!(rig.model().first().session().terminal(&id).unwrap().embedded.len(), 1);
    chunk(&mut rig, "###");
    assert!(text(&rig).contains("cannot be read"), "v2_087: {}", text(&rig));
    rig.update(json!({ "sessionUpdate": "terminal_update", "terminalId": "x", "output": { "data": "bmV3" }, "exitStatus": { "exitCode": 3 } }));
    chunk(&mut rig, "IQ==");
    assert_eq!(text(&rig), "new!");
    assert_eq!(rig.entries()[1], "terminal x: exit 3");
    assert_eq!(rig.call("t").status, ToolStatus::Pending, "v2_088: the call is not over with it");
    rig.update(json!({ "sessionUpdate": "terminal_update", "terminalId": "x", "output": null, "exitStatus": null }));
    assert_eq!((text(&rig).as_str(), rig.entries()[1].as_str()), ("", "terminal x: running"));
    // The text of one terminal is bounded (v2_090).
    let megabyte = "QUFB".repeat(300_000);
    for _ in 0..4 {
        chunk(&mut rig, &megabyte);
    }
    assert_eq!(text(&rig).len(), 1 << 20);
}

#[test]
fn v2_100_what_is_not_known_is_never_allowed_without_the_person() {
    let ask = |rig: &mut Rig, subject: Value| {
        let params =
            json!({ "title": "Open a door?", "description": "to the world", "subject": subject, "options": options() });
        rig.request(9, "session/request_permission", params);
        rig.sent_briefly()
    };
    for subject in [Value::Null, json!({ "type": "network", "host": "example.com" })] {
        let mut rig = Rig::second_as(Policy::Auto(Allow::All));
        assert_eq!(ask(&mut rig, subject.clone()), ["9:selected no"]);
        assert!(rig.has_entry("refused, as it does not say what it is about"), "{:?}", rig.entries());
        let mut rig = Rig::second();
        assert!(ask(&mut rig, subject).is_empty(), "the person is asked");
        assert_eq!(rig.pending().len(), 1);
    }
    let mut rig = Rig::second_as(Policy::Auto(Allow::All));
    assert_eq!(ask(&mut rig, json!({ "type": "command", "command": "make", "cwd": "/project" })), ["9:selected yes"]);
}

#[test]
fn v2_083_no_file_and_no_terminal_is_served() {
    let mut rig = running();
    for (id, method) in ["fs/read_text_file", "fs/write_text_file", "terminal/create"].into_iter().enumerate() {
        rig.request(id as u64, method, json!({ "path": "/project/a", "content": "x", "command": "make" }));
    }
    assert_eq!(rig.sent_briefly(), ["0:-32601", "1:-32601", "2:-32601"]);
}

#[test]
fn v2_004_v2_015_v2_021_sessions_are_offered_by_one_member() {
    use acp_tui::model::event::Can;
    let rig = Rig::second();
    let agent = rig.model().first().agent();
    assert!([Can::Load, Can::Resume, Can::List, Can::Close].into_iter().all(|what| agent.can(what)));
    assert!(!agent.can(Can::Delete) && !agent.can(Can::Fork));
    assert!(agent.caps.works_alone && agent.caps.no_mcp_stdio);
}

#[test]
fn v2_017_v2_018_a_log_in_is_asked_for_by_its_own_name() {
    let mut rig = Rig::with_policy(Policy::Ask);
    rig.core.speak(acp_tui::agent::codec::first(Protocol::Two), false);
    rig.intent(Intent::Start);
    rig.host(HostEvent::AgentSpawned { pid: 7 });
    let methods = json!([
        { "type": "agent", "methodId": "web", "name": "Browser" },
        { "type": "hologram", "methodId": "x", "name": "X" },
        { "type": "terminal", "methodId": "t", "name": "T", "env": [{ "name": "A", "value": "b" }] },
        { "type": "terminal", "methodId": "u", "name": "U", "env": [{ "name": "A", "value": "b" }, { "name": "A", "value": "c" }] },
    ]);
    rig.answer("initialize", with(second_init(), json!({ "authMethods": methods })));
    rig.fail("session/new", json!({ "code": -32000, "message": "log in" }));
    let known: Vec<&str> = rig.model().first().agent().auth_methods.iter().map(|m| m.id.as_str()).collect();
    assert_eq!(known, ["web", "t"], "v2_019");
    rig.sent();
    rig.intent(Intent::Authenticate { method: "web".into() });
    assert_eq!(rig.sent_briefly(), ["auth/login"]);
    rig.answer("auth/login", json!({}));
    assert_eq!(rig.sent_briefly(), ["session/new"]);
    assert!(rig.model().first().agent().caps.log_out);
}

#[test]
fn v2_109_the_kind_of_a_value_goes_along() {
    let mut rig = Rig::second();
    rig.update(json!({ "sessionUpdate": "config_option_update", "configOptions": [
        { "configId": "mode", "name": "Mode", "category": "mode", "type": "select", "currentValue": "ask",
          "options": [{ "value": "ask", "name": "Ask" }, { "value": "code", "name": "Code" }] },
        { "configId": "web", "name": "Web", "type": "boolean", "currentValue": false },
    ] }));
    use acp_tui::model::options::OptionValue;
    rig.intent(Intent::SetOption { id: "mode".into(), value: OptionValue::Id("code".into()) });
    rig.intent(Intent::SetOption { id: "web".into(), value: OptionValue::Bool(true) });
    let kinds: Vec<Value> = rig.sent().iter().map(|line| line["params"]["type"].clone()).collect();
    assert_eq!(kinds, [json!("id"), json!("boolean")]);
}

#[test]
fn the_first_version_is_as_it_was() {
    let mut rig = Rig::starting(Policy::Ask);
    rig.answer("initialize", plain_init());
    assert_eq!(rig.model().first().agent().protocol, 1);
    assert_eq!(rig.core.codec(AgentKey::FIRST).name(), "acp-1");
    assert!(!rig.model().first().agent().caps.works_alone);
}
