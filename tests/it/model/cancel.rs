//! Cancelling.

use crate::support::{Rig, SESSION, exit_code};
use acp_tui::model::effect::{Effect, Ended};
use acp_tui::model::event::{HostEvent, Intent, QueueAct, Timer};
use acp_tui::model::ids::TermId;
use acp_tui::model::session::{Allow, Policy};
use serde_json::json;

#[test]
fn r_224_every_permission_request_is_answered_also_those_that_come_after() {
    let mut rig = Rig::prompted("hi");
    rig.ask(1, "a");
    rig.ask(2, "b");
    rig.ask(3, "c");
    rig.intent(Intent::Cancel);
    assert_eq!(rig.sent_briefly(), ["session/cancel", "1:cancelled", "2:cancelled", "3:cancelled"]);
    rig.ask(4, "d");
    assert_eq!(rig.sent_briefly(), ["4:cancelled"]);
    assert!(rig.pending().is_empty());
    assert!(rig.has_entry("tool d"), "it is shown all the same");
}

#[test]
fn r_226_r_227_unfinished_calls_are_marked_and_a_status_overrides_the_mark() {
    let mut rig = Rig::prompted("hi");
    rig.tool(json!({ "toolCallId": "a", "title": "A", "status": "in_progress" }));
    rig.tool(json!({ "toolCallId": "b", "title": "B", "status": "completed" }));
    rig.intent(Intent::Cancel);
    assert_eq!(rig.entries()[1..], ["tool A Cancelled", "tool B done"]);
    rig.say("late");
    rig.tool_update(json!({ "toolCallId": "a", "status": "failed" }));
    assert_eq!(rig.entries()[1..], ["tool A failed", "tool B done", "agent: late"]);
}

#[test]
fn r_228_the_turn_is_open_until_it_is_answered() {
    let mut rig = Rig::prompted("hi");
    rig.intent(Intent::Cancel);
    rig.prompt("next");
    assert_eq!(rig.sent_briefly(), ["session/cancel"]);
    assert!(rig.model().first().session().turn.is_some());
    rig.stop("cancelled");
    assert!(rig.model().first().session().turn.is_none());
}

#[test]
fn r_229_an_error_after_a_cancel_is_a_cancelled_turn() {
    let mut rig = Rig::prompted("hi");
    rig.intent(Intent::Cancel);
    rig.fail("session/prompt", json!({ "code": -32800, "message": "aborted" }));
    assert_eq!(rig.entries(), ["you: hi", "Info: stopped"]);
    // Also when it is one that would ask for a log-in.
    let mut rig = Rig::prompted("hi");
    rig.intent(Intent::Cancel);
    rig.fail("session/prompt", json!({ "code": -32000, "message": "aborted" }));
    assert!(!rig.has_entry("Warn") && !rig.has_entry("Error"));
}

#[test]
fn r_230_any_stop_reason_is_good_after_a_cancel() {
    for reason in ["end_turn", "max_tokens", "refusal", "cancelled", "odd"] {
        let mut rig = Rig::prompted("hi");
        rig.intent(Intent::Cancel);
        rig.stop(reason);
        assert!(rig.model().first().session().turn.is_none());
        assert!(matches!(rig.ended()[..], [Ended::Stopped(_)]));
        assert!(!rig.has_entry("Error"), "{:?}", rig.entries());
    }
}

#[test]
fn r_231_a_second_cancel_is_not_sent() {
    let mut rig = Rig::prompted("hi");
    rig.intent(Intent::Cancel);
    rig.intent(Intent::Cancel);
    assert_eq!(rig.sent_briefly(), ["session/cancel"]);
}

#[test]
fn r_232_without_a_turn_there_is_nothing_to_cancel() {
    let mut rig = Rig::ready();
    rig.intent(Intent::Cancel);
    rig.prompt("hi");
    rig.stop("end_turn");
    rig.sent();
    rig.intent(Intent::Cancel);
    assert!(rig.sent().is_empty());
    // Something that waits outside of a turn can be cancelled.
    rig.ask(1, "t");
    rig.intent(Intent::Cancel);
    assert_eq!(rig.sent_briefly(), ["session/cancel", "1:cancelled"]);
}

#[test]
fn r_233_what_waits_is_held_until_the_person_says_so() {
    for reason in ["cancelled", "end_turn"] {
        let mut rig = Rig::prompted("one");
        rig.prompt("two");
        rig.intent(Intent::Cancel);
        rig.sent();
        rig.stop(reason);
        assert!(rig.sent().is_empty(), "{reason}");
        assert_eq!((rig.held(), rig.model().first().session().held.staying()), (vec!["two"], 1));
        rig.prompt("three");
        assert!(rig.sent()[0].to_string().contains("three"), "a new one goes before those that are held");
        rig.stop("end_turn");
        assert!(rig.sent().is_empty() && rig.returned().is_empty(), "and does not let them go");
        rig.intent(Intent::Queue(QueueAct::LetGo));
        assert!(rig.sent()[0].to_string().contains("two"));
        assert!(rig.held().is_empty());
    }
}

#[test]
fn r_234_terminals_of_a_cancelled_turn_are_killed_after_a_while() {
    let mut rig = Rig::prompted("hi");
    rig.terminal(1, "term-1");
    rig.terminal(2, "term-2");
    rig.request(3, "terminal/create", json!({ "command": "late" }));
    let late = rig.wished(|e| if let Effect::TerminalCreate { req, .. } = e { Some(*req) } else { None });
    rig.intent(Intent::Cancel);
    let (timer, after) =
        rig.wished(|e| if let Effect::StartTimer { timer, after } = e { Some((*timer, *after)) } else { None });
    assert_eq!(after.as_secs(), 2);
    rig.terminal_ends("term-2", exit_code(0));
    rig.wants();
    rig.now += after;
    rig.timer(timer);
    assert_eq!(rig.wants(), [Effect::TerminalKill(TermId::from("term-1"))], "only what still runs");
    // One that starts later than that is killed at once.
    rig.host(HostEvent::TerminalStarted { req: late, term: TermId::from("term-3") });
    assert_eq!(rig.wants(), [Effect::TerminalKill(TermId::from("term-3"))]);
    assert!(rig.has_entry("terminal term-3"), "it stays visible");
    rig.timer(Timer::KillTerminals(acp_tui::model::ids::TurnId(99)));
    assert!(rig.wants().is_empty());
}

#[test]
fn r_234_where_nobody_watches_they_are_killed_with_the_cancel() {
    let mut rig = Rig::ready_as(Policy::Auto(Allow::All), json!({}));
    rig.prompt("hi");
    rig.terminal(1, "term-1");
    rig.terminal(2, "term-2");
    rig.terminal_ends("term-2", exit_code(0));
    rig.request(3, "terminal/create", json!({ "command": "late" }));
    let late = rig.wished(|e| if let Effect::TerminalCreate { req, .. } = e { Some(*req) } else { None });
    rig.wants();
    rig.intent(Intent::Cancel);
    assert_eq!(rig.wants(), [Effect::TerminalKill(TermId::from("term-1"))]);
    rig.host(HostEvent::TerminalStarted { req: late, term: TermId::from("term-3") });
    assert_eq!(rig.wants(), [Effect::TerminalKill(TermId::from("term-3"))]);
}

/// There is one session a connection; another one's id in a message does not touch it.
#[test]
fn r_235_only_the_session_that_was_meant_is_cancelled() {
    let mut rig = Rig::prompted("hi");
    rig.intent(Intent::Cancel);
    assert_eq!(rig.sent()[0]["params"]["sessionId"], SESSION);
}
