//! Messages, plans, titles, usage and notices (R-236–R-288).

use crate::support::{Rig, SESSION, chunk, with};
use acp_tui::model::entry::{Body, DetailFold, Entry};
use serde_json::{Value, json};

fn id(kind: &str, text: &str, id: Value) -> Value {
    with(chunk(kind, text), json!({ "messageId": id }))
}

const AGENT: &str = "agent_message_chunk";
const THOUGHT: &str = "agent_thought_chunk";
const USER: &str = "user_message_chunk";

fn content(kind: &str, block: Value) -> Value {
    json!({ "sessionUpdate": kind, "content": block })
}

#[test]
fn r_062_r_068_r_246_one_bad_update_loses_itself_only() {
    let mut rig = Rig::prompted("hi");
    rig.say("a");
    for bad in [
        json!({ "sessionUpdate": "brand_new", "x": 1 }),
        json!({ "sessionUpdate": 4 }),
        json!({}),
        json!({ "sessionUpdate": "tool_call" }),
        json!({ "sessionUpdate": "usage_update", "used": -1, "size": "x" }),
        json!({ "sessionUpdate": "current_mode_update" }),
    ] {
        rig.update(bad);
    }
    rig.say("b");
    assert_eq!(rig.entries_without_odd(), ["you: hi", "agent: ab"]);
    assert_eq!((rig.model().first().agent().odd.unknown, rig.model().first().agent().odd.malformed), (1, 5));
}

#[test]
fn r_063_r_066_malformed_and_null_members_count_as_left_out() {
    let mut rig = Rig::prompted("hi");
    rig.update(id(AGENT, "a", json!(7)));
    rig.update(id(AGENT, "b", Value::Null));
    rig.tool(json!({ "toolCallId": "t", "title": "T", "name": 3, "kind": [], "status": 9, "content": "x",
        "locations": {}, "rawInput": null, "rawOutput": null }));
    rig.tool(json!({ "toolCallId": "u", "title": null, "name": "run", "locations": [{ "path": "/p", "line": "x" }] }));
    rig.update(json!({ "sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": "cheap" }));
    rig.update(json!({ "sessionUpdate": "available_commands_update",
        "availableCommands": [{ "name": "go", "description": "d", "input": "no" }] }));
    assert_eq!(rig.entries(), ["you: hi", "agent: ab", "tool T pending", "tool run pending @/p"]);
    assert_eq!(rig.call("t").kind, acp_tui::model::tool::ToolKind::Other);
    assert!(rig.call("t").raw_input.is_none());
    let session = rig.model().first().session();
    assert_eq!(session.usage.as_ref().unwrap().cost, None);
    assert_eq!(session.commands[0].hint, None);
    assert_eq!(rig.odd(), 0);
}

#[test]
fn r_064_elements_that_cannot_be_read_are_dropped_one_by_one() {
    let mut rig = Rig::ready_with(json!({
        "modes": { "currentModeId": "a", "availableModes":
            [{ "id": "a", "name": "A" }, { "name": "no id" }, 7, { "id": "b", "name": "B" }] },
        "configOptions": [3, { "id": "x", "name": "X", "type": "hologram" },
            { "id": "m", "name": "M", "type": "select", "currentValue": "1",
              "options": [{ "value": "1", "name": "One" }, { "name": "no value" }, { "value": "2", "name": "Two" }] }]
    }));
    rig.update(json!({ "sessionUpdate": "available_commands_update", "availableCommands":
        [{ "name": "a", "description": "" }, { "description": "no name" }, "x", { "name": "b", "description": "" }] }));
    rig.update(json!({ "sessionUpdate": "plan", "entries": [
        { "content": "one", "priority": "high", "status": "pending" },
        { "content": "bad", "priority": "urgent", "status": "pending" },
        { "content": "bad", "priority": "low", "status": "doing" }, null,
        { "content": "two", "priority": "low", "status": "completed" }] }));
    rig.tool(
        json!({ "toolCallId": "t", "title": "T", "locations": [{ "path": "/a" }, { "line": 3 }, { "path": "/b" }] }),
    );
    let session = rig.model().first().session();
    let ids: Vec<&str> = session.modes.as_ref().unwrap().available.iter().map(|m| m.id.as_str()).collect();
    assert_eq!(ids, ["a", "b"]);
    assert_eq!(session.options.len(), 1);
    let names: Vec<&str> = session.commands.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(
        rig.entries(),
        [
            "plan: one High/Pending; bad None/Pending; bad Low/Other(\"doing\"); two Low/Completed; \
             1 entry of the plan cannot be read None/Unreadable",
            "tool T NoFinalStatus @/a @/b"
        ]
    );
    // What is no list at all is an empty one where it is required, and left out where it is not.
    rig.tool_update(json!({ "toolCallId": "t", "locations": 4, "content": {} }));
    assert_eq!(rig.entries()[1], "tool T NoFinalStatus @/a @/b");
    rig.update(json!({ "sessionUpdate": "plan", "entries": "none" }));
    assert_eq!(rig.entries()[0], "plan: ");
}

#[test]
fn r_065_null_lists_are_empty() {
    use acp_tui::model::effect::Effect;
    let mut rig = Rig::ready();
    rig.request(1, "terminal/create", json!({ "command": "ls", "args": null, "env": null, "cwd": null }));
    let spec = rig.wished(|e| if let Effect::TerminalCreate { spec, .. } = e { Some(spec.clone()) } else { None });
    assert!(spec.args.is_empty() && spec.env.is_empty() && spec.cwd.is_none());
}

#[test]
fn required_lists_must_be_there() {
    let mut rig = Rig::ready();
    rig.update(
        json!({ "sessionUpdate": "plan", "entries": [{ "content": "a", "priority": "low", "status": "pending" }] }),
    );
    rig.update(json!({ "sessionUpdate": "available_commands_update",
        "availableCommands": [{ "name": "a", "description": "" }] }));
    rig.update(json!({ "sessionUpdate": "plan" }));
    rig.update(json!({ "sessionUpdate": "available_commands_update" }));
    rig.update(json!({ "sessionUpdate": "config_option_update" }));
    assert_eq!(rig.entries_without_odd(), ["plan: a Low/Pending"]);
    assert_eq!(rig.model().first().session().commands.len(), 1);
    assert_eq!(rig.model().first().agent().odd.malformed, 3);
}

#[test]
fn r_067_r_267_a_title_is_left_cleared_or_replaced() {
    let mut rig = Rig::ready();
    let title = |rig: &Rig| rig.model().first().session().title.clone();
    rig.update(json!({ "sessionUpdate": "session_info_update", "title": "One" }));
    rig.update(json!({ "sessionUpdate": "session_info_update", "updatedAt": "2026-01-01T00:00:00Z" }));
    assert_eq!(title(&rig).as_deref(), Some("One"));
    rig.update(json!({ "sessionUpdate": "session_info_update", "title": 4 }));
    assert_eq!(title(&rig).as_deref(), Some("One"), "malformed is unchanged, not cleared");
    rig.update(json!({ "sessionUpdate": "session_info_update", "title": null }));
    assert_eq!(title(&rig), None);
}

#[test]
fn r_069_blocks_that_we_do_not_know_are_placeholders() {
    let mut rig = Rig::prompted("hi");
    rig.update(content(AGENT, json!({ "type": "hologram", "uri": "x://y" })));
    rig.update(content(AGENT, json!({ "type": "text" })));
    rig.update(content(AGENT, json!(3)));
    assert_eq!(
        rig.entries()[1..],
        [
            "Agent: [unsupported content: hologram] <x://y>",
            "Agent: [unsupported content: text]",
            "Agent: [unsupported content: ?]"
        ]
    );
}

#[test]
fn r_072_counters_may_be_whole_floats() {
    let mut rig = Rig::ready();
    rig.line(&format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{SESSION}","update":{{"sessionUpdate":"usage_update","used":53000.0,"size":2e5}}}}}}"#
    ));
    let usage = rig.model().first().session().usage.clone().unwrap();
    assert_eq!((usage.used, usage.size), (53_000, 200_000));
}

fn blocks() -> Vec<(Value, &'static str)> {
    vec![
        (json!({ "type": "text", "text": "words" }), "words"),
        (
            json!({ "type": "image", "mimeType": "image/png", "data": "aGVsbG8=", "uri": "file:///i.png" }),
            "[image image/png, 5 B] <file:///i.png>",
        ),
        (json!({ "type": "audio", "mimeType": "audio/wav", "data": "aGVsbG8=" }), "[audio audio/wav, 5 B]"),
        (
            json!({ "type": "resource_link", "name": "a.rs", "title": "A", "uri": "file:///a.rs", "size": 5 }),
            "[link A, 5 B] <file:///a.rs>",
        ),
        (
            json!({ "type": "resource", "resource": { "uri": "file:///t", "mimeType": "text/x", "text": "body" } }),
            "[resource text/x, 4 B] <file:///t> <body>",
        ),
        (
            json!({ "type": "resource", "resource": { "uri": "file:///b", "blob": "aGVsbG8=" } }),
            "[resource, 5 B] <file:///b>",
        ),
    ]
}

#[test]
fn r_236_r_238_r_239_r_240_r_241_all_blocks_everywhere() {
    for (block, shown) in blocks() {
        for (kind, who) in [(AGENT, "Agent"), (THOUGHT, "Thought"), (USER, "User")] {
            let mut rig = Rig::ready();
            rig.update(content(kind, block.clone()));
            let expected = match (who, shown.starts_with('[')) {
                (who, true) => format!("{who}: {shown}"),
                ("User", false) => format!("elsewhere: {shown}"),
                (who, false) => format!("{}: {shown}", who.to_lowercase()),
            };
            assert_eq!(rig.entries(), [expected]);
        }
        let mut rig = Rig::prompted("hi");
        rig.tool(json!({ "toolCallId": "t", "title": "T", "content": [{ "type": "content", "content": block }] }));
        assert_eq!(rig.entries()[1], format!("tool T pending {{{shown}}}"));
    }
}

#[test]
fn r_242_base64_that_is_none_is_a_placeholder() {
    let mut rig = Rig::prompted("hi");
    rig.update(content(AGENT, json!({ "type": "image", "mimeType": "image/png", "data": "§§§" })));
    rig.update(content(AGENT, json!({ "type": "resource", "resource": { "uri": "f:///b", "blob": "!" } })));
    assert_eq!(
        rig.entries()[1..],
        ["Agent: [image image/png, not valid base64]", "Agent: [resource, not valid base64] <f:///b>"]
    );
}

#[test]
fn r_247_other_sessions_are_dropped_and_counted() {
    let mut rig = Rig::ready();
    rig.update_in("child", chunk(AGENT, "x"));
    assert!(rig.entries().is_empty());
    assert_eq!(rig.model().first().agent().odd.unknown, 1);
}

#[test]
fn r_249_chunks_are_joined_without_anything_between() {
    let mut rig = Rig::prompted("hi");
    for text in ["a", " ", "", "b\n", "\n", "c"] {
        rig.say(text);
    }
    assert_eq!(rig.entries(), ["you: hi", "agent: a b\n\nc"]);
}

#[test]
fn r_250_ids_tell_messages_apart_and_together() {
    let mut rig = Rig::prompted("hi");
    rig.update(id(AGENT, "a", json!("m1")));
    rig.tool(json!({ "toolCallId": "t", "title": "T" }));
    rig.update(id(AGENT, "b", json!("m1")));
    rig.update(id(AGENT, "c", json!("m2")));
    rig.update(id(AGENT, "d", json!("m1")));
    assert_eq!(rig.entries()[1..], ["agent: abd", "tool T pending", "agent: c"]);
    let mut rig = Rig::ready();
    rig.update(id(USER, "a", json!("u1")));
    rig.update(id(USER, "b", json!("u1")));
    rig.update(id(USER, "c", json!("u2")));
    assert_eq!(rig.entries(), ["elsewhere: ab", "elsewhere: c"]);
}

#[test]
fn r_251_without_ids_anything_between_starts_a_new_message() {
    let between: [(Value, usize); 4] = [
        (json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": "T" }), 1),
        (chunk(THOUGHT, "hm"), 1),
        (
            json!({ "sessionUpdate": "plan", "entries": [{ "content": "a", "priority": "low", "status": "pending" }] }),
            1,
        ),
        (json!({ "sessionUpdate": "usage_update", "used": 1, "size": 2 }), 0),
    ];
    for (update, entries) in between {
        let mut rig = Rig::prompted("hi");
        rig.say("a");
        rig.update(update.clone());
        rig.say("b");
        let expected = if entries == 0 { vec!["agent: ab"] } else { vec!["agent: a", "agent: b"] };
        let agent: Vec<String> = rig.entries().into_iter().filter(|e| e.starts_with("agent")).collect();
        assert_eq!(agent, expected, "{update}");
    }
    // A prompt in between.
    let mut rig = Rig::prompted("one");
    rig.say("a");
    rig.stop("end_turn");
    rig.prompt("two");
    rig.say("b");
    assert_eq!(rig.entries(), ["you: one", "agent: a", "you: two", "agent: b"]);
}

#[test]
fn r_252_r_253_ids_are_opaque_and_kinds_stay_apart() {
    let mut rig = Rig::prompted("hi");
    rig.update(id(AGENT, "a", json!("1")));
    rig.update(id(AGENT, "b", json!("01")));
    rig.update(id(THOUGHT, "t", json!("1")));
    rig.update(id(USER, "u", json!("1")));
    rig.update(id(AGENT, "c", json!("1")));
    assert_eq!(rig.entries()[1..], ["agent: ac", "agent: b", "thought: t", "elsewhere: u"]);
}

#[test]
fn r_255_fact_26_an_echo_is_not_shown_twice() {
    let mut rig = Rig::ready();
    let link = acp_tui::model::event::Link::new("a".into(), "file:///a".into());
    rig.intent(acp_tui::model::event::Intent::Prompt { text: "do it now".into(), links: vec![link] });
    rig.update(chunk(USER, "do it"));
    rig.update(chunk(USER, " now"));
    rig.update(content(USER, json!({ "type": "resource_link", "name": "a", "uri": "file:///a" })));
    rig.say("ok");
    assert_eq!(rig.entries(), ["you: do it now", "agent: ok"]);
    // Anything else is a message from elsewhere, and nothing of it is lost.
    let mut rig = Rig::ready();
    let link = acp_tui::model::event::Link::new("a".into(), "file:///a".into());
    rig.intent(acp_tui::model::event::Intent::Prompt { text: "do it now".into(), links: vec![link] });
    rig.update(chunk(USER, "do it"));
    rig.update(chunk(USER, " later"));
    assert_eq!(rig.entries(), ["you: do it now", "elsewhere: do it later"]);
    let mut rig = Rig::prompted("do it");
    rig.update(chunk(USER, "do it"));
    rig.update(chunk(USER, "also that"));
    assert_eq!(rig.entries(), ["you: do it", "elsewhere: also that"]);
}

#[test]
fn r_257_r_258_r_259_a_plan_is_replaced_whole_in_its_place() {
    let plan = |list: Value| json!({ "sessionUpdate": "plan", "entries": list });
    let item = |c: &str, s: &str| json!({ "content": c, "priority": "medium", "status": s });
    let mut rig = Rig::prompted("hi");
    rig.update(plan(json!([item("a", "pending"), item("b", "pending")])));
    rig.say("x");
    rig.update(plan(json!([item("b", "completed"), item("reworded", "in_progress")])));
    assert_eq!(rig.entries()[1], "plan: b Medium/Completed; reworded Medium/InProgress");
    rig.update(plan(json!([item("b", "pending")])));
    assert_eq!(rig.entries()[1], "plan: b Medium/Pending", "a status may go back");
    rig.update(plan(json!([])));
    assert_eq!(rig.entries()[1], "plan: ");
    assert_eq!(rig.entries().len(), 3, "changed in its place");
}

#[test]
fn r_260_the_plan_stays_after_the_turn() {
    let mut rig = Rig::prompted("hi");
    let entries = json!([{ "content": "a", "priority": "high", "status": "in_progress" }]);
    rig.update(json!({ "sessionUpdate": "plan", "entries": entries }));
    rig.stop("end_turn");
    rig.prompt("next");
    assert!(rig.has_entry("plan: a High/InProgress"));
    rig.update(json!({ "sessionUpdate": "plan",
        "entries": [{ "content": "b", "priority": "low", "status": "pending" }] }));
    assert!(rig.has_entry("plan: a") && rig.has_entry("plan: b"), "a plan belongs to its turn");
}

#[test]
fn r_268_a_title_may_come_between_turns() {
    let mut rig = Rig::prompted("hi");
    rig.stop("end_turn");
    rig.update(json!({ "sessionUpdate": "session_info_update", "title": "Later" }));
    assert_eq!(rig.model().first().session().title.as_deref(), Some("Later"));
}

#[test]
fn r_269_r_270_r_271_r_272_usage_is_what_was_last_said() {
    let mut rig = Rig::ready();
    let usage = |used: u64, size: u64, more: Value| {
        with(json!({ "sessionUpdate": "usage_update", "used": used, "size": size }), more)
    };
    let cost = |amount: f64, unit: &str| json!({ "cost": { "amount": amount, "currency": unit } });
    rig.update(usage(10, 100, cost(0.5, "USD")));
    rig.update(usage(30, 100, cost(0.75, "USD")));
    let now = rig.model().first().session().usage.clone().unwrap();
    assert_eq!((now.used, now.size, now.cost), (30, 100, Some((0.75, "USD".into()))));
    rig.update(usage(5, 0, json!({})));
    let now = rig.model().first().session().usage.clone().unwrap();
    assert_eq!((now.used, now.size, now.cost), (5, 0, Some((0.75, "USD".into()))));
    rig.update(usage(u64::MAX, 1, cost(3.0, "credits")));
    let now = rig.model().first().session().usage.clone().unwrap();
    assert_eq!((now.used, now.size, now.cost), (u64::MAX, 1, Some((3.0, "credits".into()))));
}

fn compaction(more: Value) -> Value {
    with(json!({ "sessionUpdate": "compaction_update", "compactionId": "c" }), more)
}

fn titles(rig: &Rig) -> Vec<(String, String)> {
    let notice = |entry: &Entry| match &entry.body {
        Body::Notice(notice) => Some((notice.title.clone(), notice.detail.join("/"))),
        _ => None,
    };
    rig.model().first().entries().iter().filter_map(notice).collect()
}

#[test]
fn r_279_r_280_r_281_r_283_a_compaction_is_one_entry_that_changes_until_it_is_over() {
    let mut rig = Rig::prompted("hi");
    let chunk = |text: &str| {
        let content = json!({ "type": "text", "text": text });
        json!({ "sessionUpdate": "compaction_summary_chunk", "compactionId": "c", "content": content })
    };
    rig.update(chunk("first "));
    rig.update(chunk("second"));
    let now = titles(&rig);
    assert_eq!(now.len(), 1, "{now:?}");
    assert!(now[0].0.contains("puts a summary") && now[0].1 == "first second", "{now:?}");
    rig.update(compaction(json!({ "status": "failed", "error": "no room", "summary": [] })));
    assert!(titles(&rig)[0].0.contains("could not") && titles(&rig)[0].1 == "no room", "{:?}", titles(&rig));
    let summary = json!([{ "type": "text", "text": "whole" }]);
    rig.update(compaction(json!({ "status": "completed", "error": null, "summary": summary })));
    let now = titles(&rig);
    assert!(now.len() == 1 && now[0].0.contains("goes on with a summary") && now[0].1 == "whole", "{now:?}");
    let said =
        rig.model().first().entries().iter().any(|entry| matches!(&entry.body, Body::User(user) if user.text == "hi"));
    assert!(said, "what was said before stays");
}

#[test]
fn r_282_an_unknown_status_of_a_compaction_is_shown() {
    let mut rig = Rig::prompted("hi");
    rig.update(compaction(json!({ "status": "pondering" })));
    assert_eq!(titles(&rig), [("context compaction pondering".to_owned(), String::new())]);
    // A long run of them.
    for n in 0..300 {
        rig.update(
            json!({ "sessionUpdate": "compaction_update", "compactionId": format!("c{n}"), "status": "completed" }),
        );
    }
    assert_eq!(rig.model().first().session().compactions.len(), 100);
}

#[test]
fn r_285_r_286_r_288_plans_of_the_first_version_are_told_apart_by_their_ids() {
    let mut rig = Rig::prompted("hi");
    let items = |id: &str, word: &str| {
        let plan = json!({ "planId": id, "type": "items", "entries": [{ "content": word, "status": "pending" }] });
        json!({ "sessionUpdate": "plan_update", "plan": plan })
    };
    let plans = |rig: &Rig| -> Vec<String> {
        let words = |entry: &Entry| match &entry.body {
            Body::Plan(steps) => Some(steps.iter().map(|step| step.content.clone()).collect::<Vec<_>>().join("/")),
            _ => None,
        };
        rig.model().first().entries().iter().filter_map(words).collect()
    };
    rig.update(items("a", "one"));
    rig.update(items("b", "two"));
    rig.update(json!({ "sessionUpdate": "plan", "entries": [{ "content": "plain" }] }));
    assert_eq!(plans(&rig), ["one", "two", "plain"]);
    let markdown = json!({ "planId": "a", "type": "markdown", "content": "# Plan\nfirst" });
    rig.update(json!({ "sessionUpdate": "plan_update", "plan": markdown }));
    rig.update(json!({ "sessionUpdate": "plan_removed", "planId": "b" }));
    rig.update(json!({ "sessionUpdate": "plan_removed", "planId": "unknown" }));
    assert_eq!(plans(&rig), ["# Plan/first", "", "plain"]);
}

#[test]
fn r_284_a_context_that_is_nearly_full_is_said_once_until_it_was_emptied() {
    let mut rig = Rig::prompted("hi");
    for used in [79, 80, 95, 59, 81] {
        rig.update(json!({ "sessionUpdate": "usage_update", "used": used, "size": 100 }));
    }
    let said: Vec<String> = titles(&rig).into_iter().map(|(title, _)| title).collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].starts_with("80 % of the agent's context") && said[1].starts_with("81 %"), "{said:?}");
}

#[test]
fn r_273_r_275_notices_are_shown_and_change_nothing() {
    let mut rig = Rig::prompted("hi");
    for (severity, level) in [
        (json!("error"), "Error"),
        (json!("warning"), "Warn"),
        (json!("info"), "Info"),
        (json!("loud"), "Info"),
        (json!(3), "Info"),
    ] {
        rig.update(json!({ "sessionUpdate": "notice", "severity": severity, "title": "*T*", "description": "a\nb" }));
        assert_eq!(rig.entries().last().unwrap(), &format!("{level}: *T* | a | b"));
    }
    assert!(rig.model().first().session().turn.is_some() && !rig.is_dead());
}

#[test]
fn r_274_r_276_each_notice_stands_for_itself() {
    let mut rig = Rig::ready();
    for _ in 0..2 {
        rig.update(json!({ "sessionUpdate": "notice", "severity": "info", "title": "same" }));
    }
    assert_eq!(rig.entries(), ["Info: same", "Info: same"]);
    assert!(rig.model().first().session().last_answer().is_none(), "it is no message");
    assert!(rig.sent().is_empty());
}

#[test]
fn r_278_a_notice_without_a_title_shows_its_description() {
    let mut rig = Rig::ready();
    rig.update(json!({ "sessionUpdate": "notice", "severity": "info", "title": "", "description": "words" }));
    assert_eq!(rig.entries(), ["Info: words"]);
}

#[test]
fn fact_06_output_that_is_sent_again_is_replaced_and_kept_with_its_escapes() {
    let mut rig = Rig::prompted("hi");
    rig.tool(json!({ "toolCallId": "t", "title": "T" }));
    let block = |text: &str| json!([{ "type": "content", "content": { "type": "text", "text": text } }]);
    for text in ["\u{1b}[31mone\u{1b}[0m", "\u{1b}[31mone\u{1b}[0m\ntwo"] {
        rig.tool_update(json!({ "toolCallId": "t", "content": block(text) }));
    }
    assert_eq!(rig.entries()[1], "tool T pending {\u{1b}[31mone\u{1b}[0m\ntwo}");
    let before = rig.model().first().session().entries().at(1).unwrap().rev;
    rig.tool_update(json!({ "toolCallId": "t", "status": "completed" }));
    assert!(rig.model().first().session().entries().at(1).unwrap().rev > before);
}

#[test]
fn fact_07_lines_of_a_megabyte_are_ordinary() {
    let mut rig = Rig::prompted("hi");
    let text = "é".repeat(600_000);
    rig.say(&text);
    rig.tool(json!({ "toolCallId": "t", "title": "T", "rawOutput": { "text": text } }));
    assert_eq!(rig.entries()[1].len(), text.len() + "agent: ".len());
    assert_eq!(rig.odd(), 0);
}

#[test]
fn r_068_and_r_246_an_unknown_update_is_told_once_and_cuts_no_message() {
    let mut rig = Rig::prompted("hi");
    rig.say("one ");
    for _ in 0..3 {
        rig.update(json!({ "sessionUpdate": "hologram", "x": 1 }));
        rig.line("INFO something");
    }
    rig.say("two");
    assert_eq!(
        rig.entries()[1..],
        [
            "agent: one two",
            "Info: the agent sent an update of a kind that is not known here: hologram | sessionUpdate: hologram | x: 1",
            "Info: the agent sent text that is no message | INFO something",
        ]
    );
    assert_eq!((rig.model().first().agent().odd.unknown, rig.model().first().agent().odd.stray), (3, 3));
}

#[test]
fn r_068_what_an_unknown_update_holds_is_bounded_lines() {
    let mut rig = Rig::prompted("hi");
    let words = "word\n".repeat(100_000);
    rig.update(json!({ "sessionUpdate": "hologram", "words": words, "more": vec!["x"; 5_000] }));
    let entry = rig.model().first().session().entries().last().unwrap();
    let Body::Notice(notice) = &entry.body else { panic!("{entry:?}") };
    assert!(notice.fold == DetailFold::Nothing && notice.detail.len() <= 201, "{}", notice.detail.len());
    assert_eq!(notice.detail.last().unwrap(), "… more");
    assert!(notice.detail.iter().all(|line| !line.contains('\n')));
}

/// Issue 3, section 2: what is unknown is shown as such.
#[test]
fn an_entry_of_a_plan_with_words_is_kept_whatever_else_it_says() {
    let mut rig = Rig::ready();
    rig.update(json!({ "sessionUpdate": "plan", "entries": [
        { "content": "a", "status": "blocked", "priority": "critical" }, { "content": "b" },
        { "content": "c", "status": 7, "priority": null }, { "status": "pending" }, "x", null] }));
    let plan = "plan: a None/Other(\"blocked\"); b None/Pending; c None/Other(\"7\"); \
                3 entries of the plan cannot be read None/Unreadable";
    assert_eq!(rig.entries(), [plan]);
}

#[test]
fn a_users_message_that_is_no_text_is_shown_in_a_turn_unless_it_is_an_echo_of_a_link() {
    let mut rig = Rig::ready();
    let link = acp_tui::model::event::Link::new("a.rs".into(), "file:///project/a.rs".into());
    rig.intent(acp_tui::model::event::Intent::Prompt { text: "see".into(), links: vec![link] });
    let linked = |uri: &str| content(USER, json!({ "type": "resource_link", "name": "x", "uri": uri }));
    rig.update(chunk(USER, "see"));
    rig.update(linked("file:///project/a.rs"));
    assert_eq!(rig.entries(), ["you: see"]);
    // Said by somebody else, at another place of the same session.
    rig.update(content(USER, json!({ "type": "image", "mimeType": "image/png", "data": "AAAA" })));
    rig.update(linked("file:///project/b.rs"));
    assert_eq!(rig.entries().len(), 3, "{:?}", rig.entries());
    assert!(rig.entries()[1].starts_with("User: [image"), "{:?}", rig.entries());
    assert!(rig.entries()[2].contains("b.rs"), "{:?}", rig.entries());
    // One echo a link.
    rig.update(linked("file:///project/a.rs"));
    assert_eq!(rig.entries().len(), 4);
}

#[test]
fn a_picture_is_kept_where_it_is_small_enough_and_named_with_its_size_where_not() {
    for (bytes, is_kept) in [(3_000, true), (50 << 20, false)] {
        let mut rig = Rig::prompted("hi");
        let data = "AAAA".repeat(bytes / 3);
        rig.update(content(AGENT, json!({ "type": "image", "mimeType": "image/png", "data": data })));
        let Some(Body::Attachment(kept)) = rig.model().first().session().entries().last().map(|entry| &entry.body)
        else {
            panic!("{:?}", rig.entries())
        };
        assert_eq!(kept.block.picture().is_some(), is_kept, "{bytes}");
        assert!(rig.has_entry("[image image/png, "), "{:?}", rig.entries());
    }
    let mut rig = Rig::prompted("hi");
    let resource = json!({ "uri": "file:///a.png", "mimeType": "image/png", "blob": "AAAA" });
    rig.update(content(AGENT, json!({ "type": "resource", "resource": resource })));
    let last = rig.model().first().session().entries().last().map(|entry| &entry.body);
    assert!(matches!(last, Some(Body::Attachment(kept)) if kept.block.picture().is_some()), "{last:?}");
}
