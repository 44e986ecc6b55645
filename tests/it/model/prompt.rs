//! Turns and what waits for them.

use crate::support::{Rig, SESSION, brief};
use acp_tui::model::effect::Ended;
use acp_tui::model::event::{Intent, Link, Stop};
use serde_json::json;

#[test]
fn r_211_one_turn_at_a_time_and_the_rest_waits_in_sight() {
    let mut rig = Rig::prompted("one");
    rig.prompt("two");
    rig.prompt("three");
    assert!(rig.sent().is_empty());
    assert_eq!(rig.held(), ["two", "three"]);
    rig.stop("end_turn");
    assert_eq!(rig.sent_briefly(), ["session/prompt"]);
    assert_eq!(rig.held(), ["three"]);
    assert!(rig.has_entry("you: two"));
    rig.intent(Intent::TakeBack);
    assert_eq!(rig.returned(), ["three"]);
    rig.stop("end_turn");
    assert!(rig.sent().is_empty() && rig.held().is_empty());
}

#[test]
fn r_212_nothing_blank_is_ever_sent() {
    let mut rig = Rig::ready();
    for blank in ["", " ", "\n\t ", "\u{a0}\u{2003}"] {
        rig.prompt(blank);
        let link = Link::new("a".into(), "file:///project/a".into());
        rig.intent(Intent::Prompt { text: blank.into(), links: vec![link] });
    }
    assert!(rig.sent().is_empty() && rig.entries().is_empty() && rig.held().is_empty());
}

#[test]
fn r_213_r_215_text_and_links_only() {
    let mut rig = Rig::ready();
    let link = Link::new("a.rs".into(), "file:///project/a.rs".into());
    rig.intent(Intent::Prompt { text: "see @a.rs".into(), links: vec![link] });
    let sent = rig.sent();
    assert_eq!(
        sent[0]["params"],
        json!({ "sessionId": SESSION, "prompt": [
            { "type": "text", "text": "see @a.rs" },
            { "type": "resource_link", "name": "a.rs", "uri": "file:///project/a.rs" }
        ] })
    );
}

#[test]
fn r_216_only_the_answer_ends_a_turn() {
    let mut rig = Rig::prompted("hi");
    rig.say("done");
    rig.update(json!({ "sessionUpdate": "usage_update", "used": 1, "size": 2 }));
    rig.update(json!({ "sessionUpdate": "notice", "severity": "error", "title": "bad" }));
    rig.now += std::time::Duration::from_hours(24);
    rig.say("still here");
    assert!(rig.model().first().session().turn.is_some());
    rig.stop("end_turn");
    assert!(rig.model().first().session().turn.is_none());
}

#[test]
fn r_217_unfinished_calls_get_a_mark_and_still_take_updates() {
    let mut rig = Rig::prompted("hi");
    rig.tool(json!({ "toolCallId": "t", "title": "T", "status": "in_progress" }));
    rig.stop("end_turn");
    assert!(rig.has_entry("tool T NoFinalStatus"));
    rig.tool_update(json!({ "toolCallId": "t", "status": "completed" }));
    assert!(rig.has_entry("tool T done"));
}

#[test]
fn r_218_an_error_ends_the_turn_and_nothing_is_sent_by_itself() {
    let mut rig = Rig::prompted("hi");
    rig.prompt("next");
    let data = json!({ "details": "the model said no" });
    rig.fail("session/prompt", json!({ "code": 500, "message": "Internal error", "data": data }));
    assert!(rig.has_entry("Internal error") && rig.has_entry("the model said no"));
    assert!(rig.sent().is_empty());
    assert_eq!((rig.held(), rig.model().first().session().held.staying()), (vec!["next"], 1));
    assert!(rig.has_entry("you: hi"), "the prompt is still there to be recalled");
    rig.prompt("hi");
    assert_eq!(rig.sent_briefly(), ["session/prompt"]);
}

#[test]
fn an_error_whose_words_the_agent_has_said_already_is_one_row() {
    let message = "Internal error: API Error: 429 rate limit exceeded";
    let error = json!({ "code": -32603, "message": message, "data": { "errorKind": "rate_limit" } });
    let mut rig = Rig::prompted("hi");
    rig.say("I look.\n\nAPI Error: 429 rate limit exceeded\n");
    rig.fail("session/prompt", error.clone());
    assert!(rig.has_entry("error from the agent (-32603): what it said last"), "{:?}", rig.entries());
    assert!(!rig.has_entry("Internal error") && !rig.has_entry("errorKind"), "{:?}", rig.entries());
    // What was said in another turn, or something else, is none of it.
    rig.prompt("again");
    rig.fail("session/prompt", error.clone());
    let said = "API Error: 429 rate limit exceeded · error from the agent (-32603)";
    assert!(rig.has_entry(said) && rig.has_entry("errorKind"), "{:?}", rig.entries());
    let mut rig = Rig::prompted("hi");
    rig.say("API Error: 429 rate limit exceeded, so I wait.");
    rig.fail("session/prompt", error);
    assert!(rig.has_entry(said), "{:?}", rig.entries());
}

#[test]
fn variables_that_an_error_asks_for_are_named_in_words() {
    let fail = |data| {
        let mut rig = Rig::prompted("hi");
        rig.fail("session/prompt", json!({ "code": -32603, "message": "not set", "data": data }));
        rig
    };
    let rig = fail(json!({ "envVars": ["A_KEY", "B_KEY"], "more": 1 }));
    assert!(rig.has_entry("set A_KEY or B_KEY in the environment, then start the agent again"), "{:?}", rig.entries());
    assert!(rig.has_entry("\"more\": 1") && !rig.has_entry("envVars"), "{:?}", rig.entries());
    for odd in [json!([]), json!("A"), json!(["A", 1]), json!(["rm -rf /"]), json!([""]), json!(vec!["A"; 9])] {
        let rig = fail(json!({ "envVars": odd }));
        assert!(rig.has_entry("envVars") && !rig.has_entry("in the environment"), "{:?}", rig.entries());
    }
}

#[test]
fn r_219_a_strange_stop_reason_ends_the_turn_and_is_shown() {
    for (result, stop, shown) in [
        (json!({ "stopReason": "tired" }), Stop::Odd(Some("tired".into())), "tired"),
        (json!({ "stopReason": 7 }), Stop::Odd(Some("7".into())), "7"),
        (json!({ "stopReason": null }), Stop::Odd(None), "no stop reason"),
        (json!({}), Stop::Odd(None), "no stop reason"),
        (json!(null), Stop::Odd(None), "no stop reason"),
        (json!("end_turn"), Stop::Odd(None), "no stop reason"),
    ] {
        let mut rig = Rig::prompted("hi");
        rig.answer("session/prompt", result.clone());
        assert!(matches!(&rig.ended()[..], [Ended::Stopped(r)] if r.stop == stop), "{result}");
        assert!(rig.has_entry(shown), "{:?}", rig.entries());
    }
}

#[test]
fn r_221_a_refused_prompt_is_marked() {
    let mut rig = Rig::prompted("first");
    rig.say("fine");
    rig.stop("end_turn");
    rig.prompt("second");
    rig.say("I begin");
    rig.prompt("third");
    rig.sent();
    rig.stop("refusal");
    let entries = rig.entries();
    assert_eq!(entries[0], "you: first", "only the refused turn is dropped");
    assert!(entries.contains(&"dropped: second".to_owned()), "{entries:?}");
    assert!(rig.has_entry("not part of the conversation"));
    assert_eq!(rig.held(), ["third"]);
    assert!(rig.sent().is_empty());
}

#[test]
fn r_222_stopped_without_being_asked_to() {
    let mut rig = Rig::prompted("hi");
    rig.stop("cancelled");
    assert!(rig.has_entry("stopped by the agent"));
}

#[test]
fn limits_are_said() {
    for (reason, words) in [("max_tokens", "token limit"), ("max_turn_requests", "limit of model requests")] {
        let mut rig = Rig::prompted("hi");
        rig.stop(reason);
        assert!(rig.has_entry(words), "{:?}", rig.entries());
    }
}

#[test]
fn fact_08_permission_requests_and_text_come_outside_of_any_prompt() {
    let mut rig = Rig::ready();
    rig.say("[MODE_UPDATE] plan");
    rig.ask(1, "t");
    assert_eq!(rig.entries(), ["agent: [MODE_UPDATE] plan", "tool t NoFinalStatus"]);
    let pending = &rig.model().first().session().questions();
    assert_eq!(pending[0].note.as_deref(), Some("asked outside of a turn"));
    rig.choose("yes");
    assert_eq!(rig.sent_briefly(), ["1:selected yes"]);
    // And text after the answer of a prompt.
    rig.prompt("hi");
    rig.say("a");
    rig.stop("end_turn");
    rig.say("b");
    assert_eq!(rig.entries()[2..], ["you: hi", "agent: ab"]);
}

#[test]
fn fact_09_a_second_prompt_waits_for_the_first() {
    let mut rig = Rig::prompted("one");
    rig.prompt("two");
    rig.intent(Intent::Cancel);
    rig.prompt("three");
    assert_eq!(rig.sent_briefly(), ["session/cancel"]);
    rig.stop("cancelled");
    assert!(rig.sent().is_empty());
    assert_eq!((rig.held(), rig.returned().is_empty()), (vec!["two", "three"], true));
}

#[test]
fn fact_10_no_empty_prompt_and_no_batch() {
    let mut rig = Rig::ready();
    rig.prompt("  \n ");
    rig.prompt("x");
    rig.intent(Intent::Cancel);
    assert_eq!(rig.sent().iter().map(brief).collect::<Vec<_>>(), ["session/prompt", "session/cancel"]);
}

#[test]
fn fact_20_a_turn_without_a_word_says_so() {
    let mut rig = Rig::prompted("hi");
    rig.update(json!({ "sessionUpdate": "usage_update", "used": 1, "size": 2 }));
    rig.say("  \n");
    rig.stop("end_turn");
    assert!(rig.has_entry("without a word"), "{:?}", rig.entries());
    let mut rig = Rig::prompted("hi");
    rig.tool(json!({ "toolCallId": "t" }));
    rig.stop("end_turn");
    assert!(!rig.has_entry("without a word"));
    // Silent retries: the clock of the turn runs and cancelling works.
    let mut rig = Rig::prompted("hi");
    rig.now += std::time::Duration::from_secs(40);
    assert!(rig.model().first().is_waiting());
    rig.intent(Intent::Cancel);
    assert_eq!(rig.sent_briefly(), ["session/cancel"]);
}
