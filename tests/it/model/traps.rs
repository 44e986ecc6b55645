//! Appendix E of the checklist: twenty places where a plausible implementation is wrong. One short test each; those
//! that belong to the screen, to files or to terminals are tested there under the same name.

use crate::support::{Rig, SESSION, chunk, exit_code, options, plain_init, with};
use acp_tui::agent::codec::Codec as _;
use acp_tui::agent::codec::v1::V1;
use acp_tui::model::effect::Answer;
use acp_tui::model::effect::Effect;
use acp_tui::model::event::Intent;
use acp_tui::model::options::OptionValue;
use acp_tui::model::tool::Exit;
use serde_json::json;

#[test]
fn trap_01_the_answer_does_not_overtake_the_last_chunks() {
    let mut rig = Rig::prompted("hi");
    for n in 0..1000 {
        rig.say(&format!("{n} "));
    }
    rig.stop("end_turn");
    assert!(rig.model().first().session().last_answer().unwrap().ends_with("998 999 "));
    assert_eq!(rig.entries().len(), 2);
}

#[test]
fn trap_02_a_dialog_does_not_block_what_the_agent_says() {
    let mut rig = Rig::prompted("hi");
    rig.ask(1, "t");
    rig.say("on");
    rig.agent(json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": { "requestId": 1 } }));
    assert!(rig.has_entry("agent: on") && rig.pending().is_empty());
}

#[test]
fn trap_03_cancel_answers_the_dialogs_behind_the_first_too() {
    let mut rig = Rig::prompted("hi");
    for id in 0..5 {
        rig.ask(id, &format!("t{id}"));
    }
    rig.intent(Intent::Cancel);
    assert_eq!(rig.sent_briefly().len(), 6);
}

#[test]
fn trap_04_no_prompt_before_the_cancelled_one_is_answered() {
    let mut rig = Rig::prompted("hi");
    rig.intent(Intent::Cancel);
    rig.prompt("next");
    assert_eq!(rig.sent_briefly(), ["session/cancel"]);
}

#[test]
fn trap_05_updates_after_a_cancel_and_after_the_turn_count() {
    let mut rig = Rig::prompted("hi");
    rig.tool(json!({ "toolCallId": "t", "title": "T" }));
    rig.intent(Intent::Cancel);
    rig.say("a");
    rig.stop("cancelled");
    rig.tool_update(json!({ "toolCallId": "t", "status": "failed" }));
    assert!(rig.has_entry("agent: a") && rig.has_entry("tool T failed"));
}

#[test]
fn trap_06_content_is_replaced_and_null_is_not_empty() {
    let block = |t: &str| json!([{ "type": "content", "content": { "type": "text", "text": t } }]);
    let mut rig = Rig::prompted("hi");
    rig.tool(json!({ "toolCallId": "t", "title": "T", "content": block("a") }));
    rig.tool_update(json!({ "toolCallId": "t", "content": block("b") }));
    rig.tool_update(json!({ "toolCallId": "t", "content": null }));
    assert_eq!(rig.entries()[1], "tool T pending {b}");
}

#[test]
fn trap_07_early_updates_are_not_lost() {
    let mut rig = Rig::opening();
    rig.say("early");
    rig.answer("session/new", json!({ "sessionId": SESSION }));
    assert_eq!(rig.entries(), ["agent: early"]);
}

#[test]
fn trap_08_one_bad_element_does_not_lose_the_message() {
    let mut rig = Rig::prompted("hi");
    let list = json!([{ "optionId": "a", "kind": "allow_for_ever" }, 3, { "optionId": "b", "kind": "reject_once" }]);
    rig.request(1, "session/request_permission", json!({ "toolCall": { "toolCallId": "t" }, "options": list }));
    assert_eq!(rig.model().first().session().questions()[0].options.len(), 2);
}

#[test]
fn trap_09_messages_are_split_and_joined_by_their_ids() {
    let mut rig = Rig::prompted("hi");
    let id = |text: &str, id: &str| with(chunk("agent_message_chunk", text), json!({ "messageId": id }));
    rig.update(id("a", "1"));
    rig.update(id("b", "2"));
    rig.update(id("c", "1"));
    assert_eq!(rig.entries()[1..], ["agent: ac", "agent: b"]);
    let mut rig = Rig::prompted("hi");
    rig.say("a");
    rig.tool(json!({ "toolCallId": "t", "title": "T" }));
    rig.say("b");
    assert_eq!(rig.entries()[1..], ["agent: a", "tool T pending", "agent: b"]);
}

#[test]
fn trap_10_an_echoed_prompt_is_shown_once() {
    let mut rig = Rig::prompted("hi there");
    rig.update(chunk("user_message_chunk", "hi there"));
    assert_eq!(rig.entries(), ["you: hi there"]);
}

#[test]
fn trap_11_output_is_cut_at_its_beginning_between_characters_in_bytes() {
    let mut tail = acp_tui::base::tail::TailBuffer::new(5);
    tail.push("abcdé");
    tail.push("é");
    assert_eq!(tail.text(), "déé");
    tail.push("é");
    assert_eq!(tail.text(), "éé", "half a character does not stay");
    assert!(tail.truncated());
}

#[test]
fn trap_12_a_signal_is_no_exit_code() {
    let exit = Exit { code: Some(137), signal: Some("SIGKILL".into()) };
    let value = V1.answer("", &Answer::Exit(exit)).unwrap();
    assert_eq!(value, json!({ "exitCode": null, "signal": "SIGKILL" }));
}

#[test]
fn trap_13_release_does_not_remove_the_view() {
    let mut rig = Rig::prompted("hi");
    rig.terminal(1, "term-1");
    rig.tool(json!({ "toolCallId": "t", "title": "T", "content": [{ "type": "terminal", "terminalId": "term-1" }] }));
    rig.terminal_ends("term-1", exit_code(0));
    rig.request(2, "terminal/release", json!({ "terminalId": "term-1" }));
    assert!(rig.has_entry("{terminal term-1}") && rig.has_entry("terminal term-1: exit 0"));
}

#[test]
fn trap_14_r_097_a_terminal_method_is_not_for_authenticate() {
    let mut rig = Rig::initialized(with(
        plain_init(),
        json!({ "authMethods": [
        { "id": "term", "name": "T", "type": "terminal" },
        { "id": "meta", "name": "M", "_meta": { "terminal-auth": { "command": "login" } } },
        { "id": "env", "name": "E", "type": "env_var", "vars": ["KEY"] },
        { "id": "bare", "name": "B", "type": "env_var" } ] }),
    ));
    rig.fail("session/new", json!({ "code": -32000, "message": "log in" }));
    rig.sent();
    let offered: Vec<&str> = rig.model().first().agent().auth_methods.iter().map(|m| m.id.as_str()).collect();
    assert_eq!(offered, ["term", "meta", "env"], "there is nothing to do for one without variables");
    for method in ["term", "meta", "env", "no such"] {
        rig.intent(Intent::Authenticate { method: method.into() });
    }
    assert!(rig.sent().is_empty());
    // After it the agent is started again.
    rig.intent(Intent::Restart);
    assert!(matches!(rig.wishes.last(), Some(Effect::SpawnAgent)));
    assert!(rig.wishes.contains(&Effect::EndAgent));
}

/// No object-marker capability is used yet, and `elicitation` is not offered at all.
#[test]
fn trap_15_markers_are_objects() {
    let caps = json!({ "sessionCapabilities": { "list": true, "close": true } });
    let mut rig = Rig::initialized(with(plain_init(), json!({ "agentCapabilities": caps })));
    rig.answer("session/new", json!({ "sessionId": SESSION }));
    rig.prompt("hi");
    rig.stop("end_turn");
    rig.core.answer_all();
    assert_eq!(rig.sent_briefly(), ["initialize", "session/new", "session/prompt"]);
    let offered = &rig.lines[0]["params"]["clientCapabilities"]["elicitation"];
    assert!(offered["form"].is_object() && offered["url"].is_object(), "{offered}");
}

#[test]
fn trap_16_a_type_goes_with_a_boolean_only() {
    let mut rig = Rig::ready_with(json!({ "configOptions": [
        { "id": "s", "name": "S", "type": "select", "currentValue": "a", "options": [{ "value": "a", "name": "A" }] },
        { "id": "b", "name": "B", "type": "boolean", "currentValue": true }] }));
    rig.intent(Intent::SetOption { id: "s".into(), value: OptionValue::Id("a".into()) });
    rig.intent(Intent::SetOption { id: "b".into(), value: OptionValue::Bool(false) });
    let sent = rig.sent();
    assert!(sent[0]["params"].get("type").is_none());
    assert_eq!(sent[1]["params"]["type"], "boolean");
}

#[cfg(unix)]
#[test]
fn trap_17_a_link_does_not_lead_outside() {
    use acp_tui::host::fs::Roots;
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(outside.path().join("secret"), "x").unwrap();
    std::os::unix::fs::symlink(outside.path(), inside.path().join("link")).unwrap();
    let roots = Roots::new(vec![inside.path().to_path_buf()]);
    assert!(roots.check(inside.path().join("link/secret").to_str().unwrap()).is_err());
    assert!(roots.check(inside.path().join("link/new").to_str().unwrap()).is_err());
    assert!(roots.check(inside.path().join("new").to_str().unwrap()).is_ok());
}

#[test]
fn trap_18_a_refused_prompt_is_marked() {
    let mut rig = Rig::prompted("bad");
    rig.stop("refusal");
    assert_eq!(rig.entries()[0], "dropped: bad");
}

#[test]
fn trap_19_usage_is_never_added_up() {
    let mut rig = Rig::ready();
    for _ in 0..2 {
        rig.update(json!({ "sessionUpdate": "usage_update", "used": 5, "size": 9,
            "cost": { "amount": 1.0, "currency": "USD" } }));
    }
    let usage = rig.model().first().session().usage.clone().unwrap();
    assert_eq!((usage.used, usage.cost.unwrap().0), (5, 1.0));
}

#[test]
fn trap_20_what_an_agent_writes_is_shown_without_its_control_characters() {
    let words = "\u{1b}]52;c;eA==\u{7}ok\u{1b}[2J\u{9b}31m\u{202e}";
    let shown = acp_tui::base::sanitize::line(words);
    assert!(shown.contains("ok") && !shown.chars().any(|c| c.is_control() || c == '\u{202e}'), "{shown:?}");
    // And only an offered option answers a request.
    let mut rig = Rig::prompted("hi");
    rig.request(1, "session/request_permission", json!({ "toolCall": { "toolCallId": "t" }, "options": options() }));
    let req = rig.pending()[0];
    for key in ["y", "\n", " ", "1"] {
        rig.intent(Intent::Answer { req, option: key.into() });
    }
    assert!(rig.sent().is_empty());
}
