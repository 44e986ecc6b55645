//! Requirements of version 2 that are small and stand alone.

use crate::support::second::{running, state, stops, tool};
use crate::support::{Rig, SESSION, chunk, options, second_init, with};
use acp_tui::model::entry::Body;
use acp_tui::model::event::{HostEvent, Intent, Opening, Protocol, Stop};
use acp_tui::model::form::Reply;
use acp_tui::model::ids::{AgentKey, Owner, SessionKey, TermId};
use acp_tui::model::options::OptionValue;
use acp_tui::model::session::{Allow, Phase, Policy, SessionState};
use acp_tui::model::tool::{Mark, ToolStatus};
use serde_json::{Value, json};

const SECOND: SessionKey = SessionKey(1);
const A: AgentKey = AgentKey::FIRST;

fn message(id: &str, kind: &str, text: &str) -> Value {
    json!({ "sessionUpdate": kind, "messageId": id, "content": [{ "type": "text", "text": text }] })
}

/// A further session is asked for in this way.
fn open(rig: &mut Rig, how: Opening) -> Value {
    rig.intent_at(A, Intent::OpenSession { cwd: "/old".into(), how });
    rig.sent().pop().unwrap()
}

fn texts(rig: &Rig, key: SessionKey) -> Vec<String> {
    let text = |body: &Body| match body {
        Body::User(user) => format!("you: {}", user.text),
        Body::Agent(message) => message.text.clone(),
        other => format!("{other:?}"),
    };
    rig.model().session_of(key).unwrap().entries().iter().map(|entry| text(&entry.body)).collect()
}

#[test]
fn v2_005_who_we_are_is_said_in_the_names_of_the_second_version() {
    let mut rig = Rig::with_policy(Policy::Ask);
    rig.core.speak(acp_tui::agent::codec::first(Protocol::Two), false);
    rig.intent(Intent::Start);
    rig.host(HostEvent::AgentSpawned { pid: 7 });
    let params = rig.sent()[0]["params"].take();
    assert_eq!((&params["protocolVersion"], &params["info"]["name"]), (&json!(2), &json!("acp-tui")));
    assert!(params["capabilities"].is_object() && params.get("clientInfo").is_none());
}

#[test]
fn v2_013_an_id_is_never_null() {
    let mut rig = running();
    let params = json!({ "sessionId": SESSION, "title": "May I?", "options": options() });
    rig.agent(json!({ "jsonrpc": "2.0", "id": null, "method": "session/request_permission", "params": params }));
    assert_eq!(rig.sent_briefly(), ["null:-32600"]);
    assert!(rig.pending().is_empty());
    assert!(rig.lines.iter().all(|line| line.get("id").is_none_or(|id| id.is_u64() || line.get("error").is_some())));
}

#[test]
fn v2_014_an_array_is_refused_once_and_a_line_of_a_log_is_not() {
    let mut rig = running();
    let update = with(chunk("agent_message_chunk", "no"), json!({ "messageId": "m" }));
    let params = json!({ "sessionId": SESSION, "update": update });
    rig.agent(json!([{ "jsonrpc": "2.0", "method": "session/update", "params": params }, { "id": 1, "method": "x" }]));
    assert_eq!(rig.sent_briefly(), ["null:-32600"]);
    rig.line("[INFO] ready");
    assert!(rig.sent().is_empty() && !rig.has_entry("agent: no"), "{:?}", rig.entries());
}

#[test]
fn v2_016_the_version_is_told_by_its_number_and_not_by_names_of_members() {
    let mut rig = Rig::starting(Policy::Ask);
    rig.answer("initialize", with(second_init(), json!({ "protocolVersion": 1 })));
    assert_ne!(rig.model().first().agent().protocol, 2);
    assert!(!rig.model().first().agent().caps.works_alone, "it is another rendition of version 1");
}

#[test]
fn v2_022_v2_023_v2_030_v2_032_a_session_is_taken_up_in_its_own_directory_by_resume_alone() {
    let mut rig = Rig::second();
    let loaded = open(&mut rig, Opening::Load("old".into()));
    assert_eq!(loaded["method"], "session/resume");
    let params = json!({ "sessionId": "old", "cwd": "/old", "replayFrom": { "type": "start" } });
    assert_eq!(loaded["params"], params, "no list of servers where there are none");
    rig.answer("session/resume", json!({}));
    let resumed = open(&mut rig, Opening::Resume("older".into()));
    assert_eq!(resumed["params"], json!({ "sessionId": "older", "cwd": "/old" }));
    rig.intent(Intent::SetMode { id: "code".into() });
    let gone = ["session/load", "session/set_mode", "session/set_model", "authenticate", "logout"];
    assert!(rig.lines.iter().all(|line| !gone.iter().any(|method| line["method"] == *method)), "{:#?}", rig.lines);
}

#[test]
fn v2_024_v2_026_v2_036_what_comes_before_the_answer_to_resume_is_the_history_and_ends_no_turn() {
    let mut rig = Rig::second();
    open(&mut rig, Opening::Load("old".into()));
    rig.update_in("old", message("u", "user_message", "long ago"));
    rig.update_in("old", with(chunk("agent_message_chunk", "ye"), json!({ "messageId": "m" })));
    rig.update_in("old", message("m", "agent_message", "yes"));
    let idle = json!({ "sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn" });
    rig.update_in("old", idle.clone());
    rig.answer("session/resume", json!({}));
    assert_eq!(texts(&rig, SECOND), ["you: long ago", "yes"]);
    rig.update_in("old", idle);
    // The same message under its id is the one that is there.
    rig.update_in("old", message("m", "agent_message", "yes!"));
    assert_eq!((texts(&rig, SECOND), stops(&rig)), (vec!["you: long ago".to_owned(), "yes!".to_owned()], vec![]));
}

#[test]
fn v2_028_what_comes_before_the_answer_to_new_is_kept() {
    let mut rig = Rig::second();
    open(&mut rig, Opening::New);
    rig.update_in("two", message("m", "agent_message", "early"));
    rig.answer("session/new", json!({ "sessionId": "two" }));
    assert_eq!(texts(&rig, SECOND), ["early"]);
}

#[test]
fn v2_029_commands_and_options_are_those_of_the_answer_until_they_are_told_anew() {
    let option = |value: &str| {
        json!([{ "configId": "m", "name": "M", "type": "select", "currentValue": value,
        "options": [{ "value": "x", "name": "X" }, { "value": "y", "name": "Y" }] }])
    };
    let command = |name: &str| json!([{ "type": "command", "name": name, "description": "" }]);
    let mut rig = Rig::second();
    open(&mut rig, Opening::New);
    let result = json!({ "sessionId": "two", "configOptions": option("x"), "availableCommands": command("a") });
    rig.answer("session/new", result);
    let shown = |rig: &Rig| {
        let session = rig.model().session_of(SECOND).unwrap();
        (session.commands[0].name.clone(), session.options[0].current_name().to_owned())
    };
    assert_eq!(shown(&rig), ("a".into(), "X".into()));
    rig.update_in("two", json!({ "sessionUpdate": "available_commands_update", "availableCommands": command("b") }));
    rig.update_in("two", json!({ "sessionUpdate": "config_option_update", "configOptions": option("y") }));
    assert_eq!(shown(&rig), ("b".into(), "Y".into()));
}

#[test]
fn v2_033_v2_034_closing_ends_what_runs_whatever_the_agent_answers() {
    for order in [["session/close", "session/prompt"], ["session/prompt", "session/close"]] {
        let mut rig = Rig::second();
        open(&mut rig, Opening::New);
        rig.answer("session/new", json!({ "sessionId": "two" }));
        rig.intent_at(SECOND, Intent::Prompt { text: "work".into(), links: Vec::new() });
        rig.intent_at(SECOND, Intent::CloseSession);
        for method in order {
            let code = if method == "session/close" { -32002 } else { -32800 };
            rig.fail(method, json!({ "code": code, "message": "gone" }));
        }
        let session = rig.model().session_of(SECOND).unwrap();
        assert!(session.unended_turn().is_none() && matches!(session.state, SessionState::Closed(_)));
        assert_eq!(rig.model().first().session().state, SessionState::Ready);
        assert!(!rig.has_entry("gone"), "{:?}", rig.entries());
    }
}

#[test]
fn v2_035_an_empty_cursor_leads_to_a_page() {
    let mut rig = Rig::second();
    rig.intent_at(A, Intent::ListSessions { cwd: None });
    rig.sent();
    let page = |id: &str, next: Value| json!({ "sessions": [{ "sessionId": id, "cwd": "/p" }], "nextCursor": next });
    rig.answer("session/list", page("a", json!("")));
    assert_eq!(rig.sent()[0]["params"]["cursor"], "");
    rig.answer("session/list", page("b", Value::Null));
    assert!(rig.sent().is_empty());
    assert_eq!(rig.model().first().agent().listing().unwrap().sessions.len(), 2);
}

#[test]
fn v2_039_v2_040_the_prompt_its_echo_and_its_answer_come_in_any_order() {
    let echo = message("u1", "user_message", "hi");
    let piece = with(chunk("user_message_chunk", "hi"), json!({ "messageId": "u1" }));
    for (number, told) in [&echo, &piece].into_iter().enumerate() {
        for before in [true, false] {
            let mut rig = Rig::second();
            rig.prompt("hi");
            assert_eq!(rig.entries(), ["you: hi"], "at once");
            state(&mut rig, "running", json!({}));
            if before {
                rig.update(told.clone());
            }
            rig.answer("session/prompt", json!({ "messageId": "u1" }));
            if !before {
                rig.update(told.clone());
            }
            assert_eq!(rig.entries(), ["you: hi"], "{number} {before}");
            assert!(rig.model().first().session().turn.is_some());
        }
    }
}

#[test]
fn v2_043_an_empty_prompt_is_not_sent() {
    let mut rig = Rig::second();
    rig.prompt(" \n ");
    assert!(rig.sent().is_empty());
}

#[test]
fn v2_050_v2_051_v2_052_v2_053_v2_054_v2_055_a_turn_ends_as_it_is_told_and_once() {
    for (more, words) in [
        (json!({ "stopReason": "bored" }), Some("bored")),
        (json!({ "stopReason": "error", "error": { "code": -1, "message": "no luck" } }), Some("no luck")),
        (json!({ "stopReason": "refusal" }), Some("refused: ")),
        (json!({}), None),
        (json!({ "stopReason": null }), None),
        (json!({ "stopReason": 7 }), None),
    ] {
        let mut rig = running();
        rig.update(message("m", "agent_message", "done"));
        state(&mut rig, "idle", more.clone());
        let entries = rig.entries();
        state(&mut rig, "idle", more.clone());
        assert_eq!(rig.entries(), entries, "{more}");
        assert_eq!(rig.ended().len(), 1, "{more}");
        match words {
            Some(words) => assert!(rig.has_entry(words), "{more}: {entries:?}"),
            None => assert_eq!(entries, ["you: hi", "agent: done"], "{more}"),
        }
    }
}

#[test]
fn v2_058_what_a_turn_used_is_not_counted_twice() {
    let mut rig = running();
    let usage =
        json!({ "stopReason": "end_turn", "usage": { "inputTokens": 5, "outputTokens": 7, "totalTokens": 12 } });
    state(&mut rig, "idle", usage.clone());
    state(&mut rig, "idle", usage);
    assert_eq!(stops(&rig), [Some(Stop::EndTurn)]);
}

#[test]
fn v2_059_v2_063_a_cancel_marks_what_is_unfinished_goes_on_reading_and_ends_nothing_in_the_background() {
    let mut rig = running();
    tool(&mut rig, json!({ "title": "Build", "status": "in_progress" }));
    state(&mut rig, "running", json!({ "background": [{ "type": "terminal", "terminalId": "x" }] }));
    rig.intent(Intent::Cancel);
    assert_eq!(rig.sent_briefly(), ["session/cancel"]);
    assert_eq!(rig.call("t").mark, Some(Mark::Cancelled));
    assert_eq!(rig.model().first().background.len(), 1);
    tool(&mut rig, json!({ "status": "completed" }));
    assert_eq!((&rig.call("t").status, rig.call("t").mark), (&ToolStatus::Completed, None));
}

#[test]
fn v2_069_messages_thoughts_and_prompts_have_ids_of_their_own() {
    let mut rig = running();
    for (kind, text) in
        [("agent_message_chunk", "say"), ("agent_thought_chunk", "think"), ("agent_message_chunk", "ing")]
    {
        rig.update(with(chunk(kind, text), json!({ "messageId": "same" })));
    }
    let entries = rig.entries();
    assert!(
        entries.contains(&"agent: saying".to_owned()) && entries.iter().any(|e| e.contains("think")),
        "{entries:?}"
    );
}

#[test]
fn v2_091_a_terminal_is_one_of_its_session() {
    let mut rig = running();
    open(&mut rig, Opening::New);
    rig.answer("session/new", json!({ "sessionId": "two" }));
    let output = |data: &str| json!({ "sessionUpdate": "terminal_output_chunk", "terminalId": "x", "data": data });
    rig.update(output("YQ=="));
    rig.update_in("two", output("Yg=="));
    let id = TermId::of(Owner::Agent, "x");
    let text = |key| rig.model().session_of(key).unwrap().terminal(&id).unwrap().text.text();
    assert_eq!((text(SessionKey::FIRST), text(SECOND)), ("a".into(), "b".into()));
}

#[test]
fn v2_101_v2_102_an_answer_of_a_kind_that_is_not_known_is_the_persons_alone() {
    let odd = json!([{ "optionId": "yes", "name": "Perhaps", "kind": "hologram" }]);
    let params = json!({ "title": "Run?", "subject": { "type": "command", "command": "make", "cwd": "/project" }, "options": odd });
    let mut rig = Rig::second_as(Policy::Auto(Allow::All));
    rig.request(9, "session/request_permission", params.clone());
    assert_eq!(rig.sent_briefly(), ["9:cancelled"]);
    let mut rig = Rig::second();
    rig.request(9, "session/request_permission", params);
    assert!(rig.sent().is_empty());
    rig.choose("yes");
    assert_eq!(rig.sent_briefly(), ["9:selected yes"]);
}

#[test]
fn v2_105_v2_114_plans_notices_and_compactions_need_no_word_of_ours() {
    let mut rig = running();
    let plan = |more: Value| json!({ "sessionUpdate": "plan_update", "plan": more });
    rig.update(plan(json!({ "type": "markdown", "planId": "p", "content": "# Plan" })));
    assert!(rig.has_entry("plan: # Plan"), "{:?}", rig.entries());
    rig.update(json!({ "sessionUpdate": "plan_removed", "planId": "p" }));
    assert!(!rig.has_entry("plan: # Plan"), "{:?}", rig.entries());
    rig.update(json!({ "sessionUpdate": "notice", "noticeId": "n", "level": "warning", "title": "Slow today" }));
    rig.update(
        json!({ "sessionUpdate": "compaction_update", "compactionId": "c", "status": "completed", "summary": "short" }),
    );
    assert!(rig.has_entry("Slow today"), "{:?}", rig.entries());
    assert_eq!(rig.model().first().session().compactions.len(), 1);
    assert_eq!(rig.odd(), 0);
}

#[test]
fn v2_106_a_command_of_a_sort_that_is_not_known_is_a_plain_one() {
    let mut rig = running();
    let list = json!([{ "type": "hologram", "name": "a", "description": "d", "input": { "type": "form", "x": 1 } }]);
    rig.update(json!({ "sessionUpdate": "available_commands_update", "availableCommands": list }));
    let command = &rig.model().first().session().commands[0];
    assert_eq!((command.name.as_str(), &command.hint), ("a", &None));
}

#[test]
fn v2_110_v2_111_v2_112_options_are_set_one_by_one_and_an_error_leaves_them() {
    let mut rig = Rig::second();
    rig.update(json!({ "sessionUpdate": "config_option_update", "configOptions": [
        { "configId": "how", "name": "Mode", "category": "mode", "type": "select", "currentValue": "ask",
          "options": [{ "value": "ask", "name": "Ask" }, { "value": "code", "name": "Code" }] },
        { "configId": "web", "name": "Web", "type": "boolean", "currentValue": false } ] }));
    let session = rig.model().first().session();
    assert!(session.modes.is_none() && session.options.iter().any(|option| option.is_category("mode")));
    let names = |rig: &Rig| -> Vec<String> {
        rig.model().first().session().options.iter().map(|option| option.current_name().to_owned()).collect()
    };
    let before = names(&rig);
    for (id, value) in [("how", OptionValue::Id("code".into())), ("web", OptionValue::Bool(true))] {
        rig.intent(Intent::SetOption { id: id.into(), value });
        assert_eq!(rig.sent()[0]["params"]["configId"], id);
        rig.fail("session/set_config_option", json!({ "code": -32602, "message": "not now" }));
        assert_eq!(names(&rig), before);
    }
}

#[test]
fn v2_115_a_time_that_is_none_is_no_time() {
    let mut rig = Rig::second();
    rig.intent_at(A, Intent::ListSessions { cwd: None });
    let at = |id: &str, updated: &str| json!({ "sessionId": id, "cwd": "/p", "updatedAt": updated });
    let sessions =
        json!([at("odd", "lately"), at("old", "2026-08-20T10:00:00+02:00"), at("new", "2026-08-20T09:00:00Z")]);
    rig.answer("session/list", json!({ "sessions": sessions }));
    let sessions = &rig.model().first().agent().listing().unwrap().sessions;
    assert_eq!(sessions.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["new", "old", "odd"]);
}

#[test]
fn v2_116_v2_117_v2_118_v2_119_v2_120_a_form_is_read_leniently_and_changes_no_state() {
    for schema in [
        json!({}),
        json!({ "properties": { "a": { "type": "string", "format": "hologram", "pattern": "(a+)+$" } } }),
        json!({ "type": "object", "properties": { "a": { "type": "string", "pattern": "(?<=x)y" } } }),
    ] {
        let mut rig = running();
        let params = json!({ "sessionId": SESSION, "mode": "form", "message": "Which?", "requestedSchema": schema });
        rig.request(5, "elicitation/create", params.clone());
        assert_eq!((rig.pending().len(), rig.model().first().waits_for_person()), (1, false), "{schema}");
        rig.agent(json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": { "requestId": 5 } }));
        let answer = rig.sent().pop().unwrap();
        assert_eq!(answer["result"], json!({ "action": "cancel" }), "{schema}");
        rig.request(6, "elicitation/create", params);
        let req = rig.pending()[0];
        rig.intent(Intent::AnswerAsked { req, reply: Reply::Decline });
        assert_eq!(rig.sent()[0]["result"], json!({ "action": "decline" }));
        assert!(rig.model().first().session().turn.is_some());
    }
}

#[test]
fn v2_126_v2_127_v2_128_a_child_is_registered_and_what_it_asks_is_answered() {
    let mut rig = running();
    rig.update(json!({ "sessionUpdate": "subagent_update", "sessionId": "child", "title": "Tests", "state": { "state": "running" } }));
    let subject = json!({ "type": "tool_call", "toolCall": { "toolCallId": "c", "title": "Run" } });
    rig.request(
        9,
        "session/request_permission",
        json!({ "sessionId": "child", "title": "May I?", "subject": subject, "options": options() }),
    );
    assert_eq!(rig.pending().len(), 1);
    rig.choose("yes");
    assert_eq!(rig.sent_briefly(), ["9:selected yes"]);
    // Its end is not the end of the turn.
    for _ in 0..2 {
        rig.update_in("child", json!({ "sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn" }));
    }
    assert!(rig.model().first().session().turn.is_some() && stops(&rig).is_empty());
}

#[test]
fn v2_131_null_means_what_it_means_in_each_version() {
    let told = |rig: &mut Rig, kind: &str| {
        rig.update(json!({ "sessionUpdate": kind, "toolCallId": "t", "title": "Build", "status": "in_progress",
            "locations": [{ "path": "/a" }] }));
        rig.update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "locations": null }));
        rig.call("t").locations.len()
    };
    assert_eq!(told(&mut Rig::prompted("hi"), "tool_call"), 1);
    assert_eq!(told(&mut running(), "tool_call_update"), 0);
}

#[test]
fn v2_132_in_the_first_version_the_answer_to_the_prompt_alone_ends_its_turn() {
    let mut rig = Rig::prompted("hi");
    state(&mut rig, "idle", json!({ "stopReason": "end_turn" }));
    assert!(rig.model().first().session().turn.is_some());
    rig.stop("end_turn");
    assert!(rig.model().first().session().turn.is_none());
}

#[test]
fn v2_133_v2_134_an_entry_stays_where_it_was_first_and_no_prompt_of_ours_is_one_of_the_agents() {
    let mut rig = running();
    rig.update(message("1", "agent_message", "first"));
    tool(&mut rig, json!({ "title": "Build" }));
    rig.update(message("1", "agent_message", "first again"));
    rig.update(message("1", "user_message", "from elsewhere"));
    tool(&mut rig, json!({ "title": "Build it", "status": "completed" }));
    let entries = rig.entries();
    assert_eq!(entries[..3], ["you: hi", "agent: first again", "tool Build it done"]);
    assert_eq!(entries.len(), 4, "{entries:?}");
}

#[test]
fn v2_123_a_session_that_is_refused_for_what_was_sent_with_it_names_the_servers_in_it() {
    let refused = |code: i32, names: &[&str]| {
        let mut rig = Rig::with_policy(Policy::Ask);
        rig.core.speak(acp_tui::agent::codec::first(Protocol::Two), false);
        rig.intent(Intent::Start);
        rig.host(HostEvent::AgentSpawned { pid: 7 });
        rig.answer("initialize", second_init());
        rig.host(HostEvent::ServersFound(names.iter().map(|name| (*name).to_owned()).collect()));
        rig.intent(Intent::SwitchServer { name: "off".into(), on: false });
        rig.fail("session/new", json!({ "code": code, "message": "no such transport" }));
        let Phase::Dead(death) = rig.model().first().phase() else { panic!("it is not open") };
        assert_eq!(death.message, "session/new failed: no such transport");
        death.hint.clone()
    };
    let hint = refused(-32602, &["db", "off", "docs"]);
    assert!(hint.starts_with("It may not take the MCP servers that it was given (db, docs): --no-mcp"), "{hint}");
    let many = refused(-32602, &["a", "b", "c", "d", "e", "f"]);
    assert!(many.contains("(a, b, c, d, e, …)"), "{many}");
    assert_eq!((refused(-32602, &["off"]), refused(-32603, &["db"])), (String::new(), String::new()));
}
