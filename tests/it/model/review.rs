//! The review beside the turns: what waits for the snapshot, what is kept of a turn, what questions show.

use crate::support::{Rig, exit_code, options, render};
use acp_tui::engine::replay::replay;
use acp_tui::model::Model;
use acp_tui::model::changes::{
    ReviewAction, ReviewCommand, ReviewEvent, RewindOutcome, Rewound, Scope, Totals, WritePreview,
};
use acp_tui::model::effect::{Effect, Ended, FrontEnd};
use acp_tui::model::event::{HostEvent, Intent, PromptResult, Stop, Timer};
use acp_tui::model::ids::{ReqId, SessionId, TermId, TurnId};
use acp_tui::model::session::Policy;
use serde_json::json;
use std::path::PathBuf;

const ONE: TurnId = TurnId(1);

fn wants(rig: &mut Rig) -> Vec<ReviewCommand> {
    let of = |e: Effect| if let Effect::Review(e) = e { Some(e) } else { None };
    rig.wants().into_iter().filter_map(of).collect()
}

fn covered(rig: &mut Rig, turn: u64) {
    rig.host(HostEvent::Review(ReviewEvent::TurnCovered { turn: TurnId(turn), covered: Ok(()) }));
}

fn sums(added: u64, pending: u64) -> Totals {
    Totals { added, removed: 1, files: 2, pending }
}

fn reviewed(rig: &mut Rig, turn: u64, totals: Totals) {
    rig.host(HostEvent::Review(ReviewEvent::TurnReviewed {
        turn: TurnId(turn),
        totals,
        session: totals,
        after: false,
    }));
}

#[test]
fn a_prompt_goes_out_when_the_snapshot_is_there() {
    let mut rig = Rig::reviewed();
    let first_turn = ONE;
    let agent = "probe".to_owned();
    assert_eq!(
        wants(&mut rig),
        [ReviewCommand::Session { id: SessionId::from("s1"), first_turn, agent, goes_on: false, is_aside: false }]
    );
    rig.prompt("hi");
    assert!(rig.sent().is_empty());
    assert_eq!(rig.entries(), ["you: hi"], "it is in sight at once");
    assert_eq!(wants(&mut rig), [ReviewCommand::BeginTurn(ONE)]);
    covered(&mut rig, 2);
    assert!(rig.sent().is_empty(), "the snapshot of another turn");
    covered(&mut rig, 1);
    let sent = rig.sent();
    assert_eq!(sent[0]["params"]["prompt"][0]["text"], "hi");
    covered(&mut rig, 1);
    rig.timer(Timer::Coverage(ONE));
    assert!(rig.sent().is_empty(), "once");
    assert_eq!(rig.entries(), ["you: hi"], "nothing is said of a snapshot in time");
    assert!(rig.model().first().session().changes().uncovered_turns.is_empty());
}

#[test]
fn a_snapshot_that_takes_too_long_is_not_waited_for() {
    let mut rig = Rig::reviewed();
    rig.prompt("hi");
    let after = rig.wished(|e| match e {
        Effect::StartTimer { timer: Timer::Coverage(turn), after } if *turn == ONE => Some(*after),
        _ => None,
    });
    assert_eq!(after, acp_tui::model::reduce::COVERAGE_PATIENCE);
    rig.timer(Timer::Coverage(TurnId(7)));
    assert!(rig.sent().is_empty());
    rig.timer(Timer::Coverage(ONE));
    assert_eq!(rig.sent_briefly(), ["session/prompt"]);
    assert!(wants(&mut rig).contains(&ReviewCommand::SentEarly(ONE)));
    assert!(rig.has_entry("Warn: the snapshot is not finished"));
    assert!(rig.model().first().session().changes().uncovered_turns.contains(&1));
    covered(&mut rig, 1);
    assert!(rig.sent().is_empty());
}

#[test]
fn a_snapshot_that_fails_is_said_once_and_holds_nothing_up() {
    let mut rig = Rig::reviewed();
    for turn in 1..=2 {
        rig.prompt("hi");
        rig.host(HostEvent::Review(ReviewEvent::TurnCovered { turn: TurnId(turn), covered: Err("disk full".into()) }));
        assert_eq!(rig.sent_briefly(), ["session/prompt"]);
        rig.stop("end_turn");
    }
    assert_eq!(rig.entries().iter().filter(|e| e.contains("disk full")).count(), 1);
    assert_eq!(rig.model().first().session().changes().uncovered_turns.len(), 2);
}

#[test]
fn a_cancel_before_the_snapshot_sends_nothing() {
    let mut rig = Rig::reviewed();
    rig.prompt("hi");
    rig.prompt("and then");
    wants(&mut rig);
    rig.intent(Intent::Cancel);
    assert!(rig.sent().is_empty());
    assert_eq!(rig.ended(), [Ended::Stopped(PromptResult { stop: Stop::Cancelled, usage: None })]);
    assert_eq!(rig.held(), ["and then"]);
    assert_eq!(rig.entries(), ["you: hi", "Info: stopped", "turn 1 changed +0 -0 in 0 files, 0 open"]);
    assert_eq!(wants(&mut rig), [ReviewCommand::EndTurn(ONE)]);
    covered(&mut rig, 1);
    rig.timer(Timer::Coverage(ONE));
    assert!(rig.sent().is_empty(), "it is over");
    rig.prompt("again");
    covered(&mut rig, 2);
    assert_eq!(rig.sent_briefly(), ["session/prompt"]);
}

#[test]
fn a_turn_is_looked_at_however_it_ends() {
    let ends: [fn(&mut Rig); 4] = [
        |rig| rig.stop("end_turn"),
        |rig| rig.fail("session/prompt", json!({ "code": -32603, "message": "no" })),
        |rig| rig.exited(exit_code(1), &[]),
        |rig| rig.intent(Intent::Restart),
    ];
    for end in ends {
        let mut rig = Rig::reviewed();
        rig.prompt("hi");
        covered(&mut rig, 1);
        wants(&mut rig);
        end(&mut rig);
        assert_eq!(wants(&mut rig), [ReviewCommand::EndTurn(ONE)]);
    }
}

#[test]
fn what_a_turn_changed_is_an_entry_and_news() {
    let mut rig = Rig::reviewed();
    rig.prompt("hi");
    covered(&mut rig, 1);
    rig.say("done");
    rig.stop("end_turn");
    reviewed(&mut rig, 1, sums(120, 3));
    assert_eq!(rig.entries()[2], "turn 1 changed +120 -1 in 2 files, 3 open");
    assert_eq!(rig.model().first().session().changes().totals, sums(120, 3));
    assert_eq!(rig.model().first().session().changes().turns[&1], sums(120, 3));
    assert!(rig.wishes.contains(&Effect::FrontEnd(FrontEnd::TurnReviewed(ONE))));
    rig.say(", really");
    assert_eq!(rig.entries()[1], "agent: done, really", "what comes late still belongs to the answer");
    let rev = rig.model().first().session().entries().at(2).unwrap().rev;
    rig.host(HostEvent::Review(ReviewEvent::ChangesSeen { session: sums(120, 0), after: true }));
    assert!(rig.model().first().session().entries().at(2).unwrap().rev > rev, "what is left to review has changed");
    assert!(rig.model().first().session().changes().after);
}

#[test]
fn a_turn_of_words_alone_ends_with_an_entry_too_and_so_does_one_without_a_word() {
    let mut rig = Rig::reviewed();
    rig.prompt("hi");
    covered(&mut rig, 1);
    rig.say("done");
    rig.stop("end_turn");
    reviewed(&mut rig, 1, Totals::default());
    assert_eq!(rig.entries(), ["you: hi", "agent: done", "turn 1 changed +0 -0 in 0 files, 0 open"]);
    assert!(rig.wishes.contains(&Effect::FrontEnd(FrontEnd::TurnReviewed(ONE))));
    rig.prompt("and?");
    covered(&mut rig, 2);
    rig.stop("end_turn");
    reviewed(&mut rig, 2, Totals::default());
    assert_eq!(rig.entries().last().unwrap(), "turn 2 changed +0 -0 in 0 files, 0 open");
}

#[test]
fn a_restart_counts_turns_on_and_keeps_what_is_known() {
    let mut rig = Rig::reviewed();
    rig.prompt("hi");
    covered(&mut rig, 1);
    rig.stop("end_turn");
    reviewed(&mut rig, 1, sums(5, 1));
    rig.intent(Intent::Restart);
    rig.host(HostEvent::AgentSpawned { pid: 8 });
    rig.answer("initialize", crate::support::plain_init());
    wants(&mut rig);
    rig.answer("session/new", json!({ "sessionId": "s2" }));
    let session = ReviewCommand::Session {
        id: SessionId::from("s2"),
        first_turn: TurnId(2),
        agent: "probe".into(),
        goes_on: false,
        is_aside: false,
    };
    assert_eq!(wants(&mut rig), [session]);
    assert_eq!(rig.model().first().session().changes().turns.len(), 1);
    rig.prompt("more");
    assert_eq!(wants(&mut rig), [ReviewCommand::BeginTurn(TurnId(2))]);
}

#[test]
fn news_of_tool_calls_and_commands_are_told() {
    let mut rig = Rig::reviewed();
    rig.prompt("hi");
    covered(&mut rig, 1);
    wants(&mut rig);
    rig.tool(json!({ "toolCallId": "t", "kind": "edit" }));
    let call = rig.model().first().session().entries().last().unwrap().id;
    assert_eq!(wants(&mut rig), [ReviewCommand::ToolCall(call)]);
    rig.tool_update(json!({ "toolCallId": "t", "rawOutput": "x" }));
    assert_eq!(wants(&mut rig), [], "says nothing of files");
    rig.terminal(2, "term-1");
    let term = rig.model().first().session().terminal(&TermId::from("term-1")).unwrap().entry.unwrap();
    let told = wants(&mut rig);
    let [ReviewCommand::CommandAsked, ReviewCommand::CommandStarted { entry, .. }] = told[..] else {
        panic!("asked for before it is begun: {told:?}")
    };
    assert_eq!(entry, Some(term));
    rig.terminal_ends("term-1", exit_code(0));
    assert_eq!(wants(&mut rig), [ReviewCommand::CommandEnded(term)]);
    rig.stop("end_turn");
    assert_eq!(wants(&mut rig), [ReviewCommand::ToolCall(call), ReviewCommand::EndTurn(ONE)], "its mark settles it");
}

fn diff(new: &str) -> serde_json::Value {
    json!([{ "type": "diff", "path": "/project/a", "oldText": "a", "newText": new }])
}

fn preview(new: &str) -> WritePreview {
    WritePreview {
        path: "/project/a".into(),
        old: Some("old".into()),
        new: new.into(),
        differs: Some("it moved".into()),
    }
}

#[test]
fn the_diffs_of_a_question_are_compared_with_the_disk() {
    let mut rig = Rig::reviewed();
    rig.prompt("hi");
    covered(&mut rig, 1);
    wants(&mut rig);
    rig.request(
        1,
        "session/request_permission",
        json!({ "toolCall": { "toolCallId": "t", "content": diff("b") }, "options": options() }),
    );
    let req = rig.pending()[0];
    assert_eq!(wants(&mut rig).last(), Some(&ReviewCommand::Preview { req, asked: 1 }));
    let entry = rig.model().first().session().questions()[0].entry;
    let rev = rig.model().first().session().entries().get(entry).unwrap().rev;
    rig.host(HostEvent::Review(ReviewEvent::Previews { req, asked: 1, previews: vec![preview("b")] }));
    assert_eq!(rig.model().first().session().questions()[0].previews, [preview("b")]);
    assert!(rig.model().first().session().entries().get(entry).unwrap().rev > rev, "it is drawn again");
    rig.tool_update(json!({ "toolCallId": "t", "content": diff("c") }));
    assert!(rig.model().first().session().questions()[0].previews.is_empty(), "that was of another diff");
    assert_eq!(wants(&mut rig).last(), Some(&ReviewCommand::Preview { req, asked: 2 }));
    rig.host(HostEvent::Review(ReviewEvent::Previews { req, asked: 1, previews: vec![preview("b")] }));
    assert!(rig.model().first().session().questions()[0].previews.is_empty(), "an answer to the question before");
    rig.host(HostEvent::Review(ReviewEvent::Previews { req: ReqId(99), asked: 2, previews: vec![preview("c")] }));
    rig.host(HostEvent::Review(ReviewEvent::Previews { req, asked: 2, previews: vec![preview("c")] }));
    assert_eq!(rig.model().first().session().questions()[0].previews, [preview("c")]);
}

#[test]
fn a_huge_preview_keeps_its_words_only() {
    let mut rig = Rig::reviewed();
    rig.prompt("hi");
    covered(&mut rig, 1);
    rig.request(
        1,
        "session/request_permission",
        json!({ "toolCall": { "toolCallId": "t", "content": diff("b") }, "options": options() }),
    );
    let req = rig.pending()[0];
    rig.host(HostEvent::Review(ReviewEvent::Previews { req, asked: 1, previews: vec![preview(&"x".repeat(2 << 20))] }));
    let kept = &rig.model().first().session().questions()[0].previews[0];
    assert_eq!((kept.old.as_deref(), &*kept.new, kept.differs.as_deref()), (None, "", Some("it moved")));
}

#[test]
fn without_a_review_nothing_waits_and_nothing_is_asked() {
    let mut rig = Rig::ready();
    rig.prompt("hi");
    assert_eq!(rig.sent_briefly(), ["session/prompt"]);
    rig.tool(json!({ "toolCallId": "t", "kind": "edit", "content": diff("b") }));
    rig.ask(1, "t");
    rig.intent(Intent::Review(ReviewAction::Show(Scope::Session)));
    rig.stop("end_turn");
    assert_eq!(wants(&mut rig), []);
    assert!(rig.wishes.contains(&Effect::FrontEnd(FrontEnd::Said("there is no review in this session".into()))));
}

#[test]
fn a_review_that_ends_lets_go_of_everything() {
    let mut rig = Rig::reviewed();
    rig.prompt("hi");
    covered(&mut rig, 1);
    rig.stop("end_turn");
    rig.prompt("more");
    rig.sent();
    rig.host(HostEvent::Review(ReviewEvent::ReviewOff { message: "no room".into() }));
    rig.host(HostEvent::Review(ReviewEvent::ReviewOff { message: "no room".into() }));
    assert_eq!(rig.sent_briefly(), ["session/prompt"], "the prompt that waited");
    assert!(rig.wishes.contains(&Effect::FrontEnd(FrontEnd::TurnReviewed(ONE))), "who waits for it goes on");
    assert_eq!(rig.entries().iter().filter(|e| e.contains("no room")).count(), 1);
}

/// The disk was full when the session began.
#[test]
fn a_review_that_waits_for_room_begins_with_the_turn_that_runs_and_says_what_is_in_doubt() {
    let mut rig = Rig::reviewed();
    rig.host(HostEvent::Review(ReviewEvent::ReviewBegun));
    assert!(rig.entries().iter().all(|e| !e.contains("from now on")), "it was there from the beginning");
    rig.prompt("hi");
    rig.sent();
    for _ in 0..2 {
        rig.host(HostEvent::Review(ReviewEvent::ReviewWaits { message: "no room".into() }));
    }
    assert_eq!(rig.sent_briefly(), ["session/prompt"], "nothing waits for it");
    assert_eq!(rig.entries().iter().filter(|e| e.contains("it begins when there is room")).count(), 1);
    wants(&mut rig);
    rig.host(HostEvent::Review(ReviewEvent::ReviewBegun));
    assert_eq!(wants(&mut rig), [ReviewCommand::BeginTurn(ONE), ReviewCommand::SentEarly(ONE)]);
    assert!(rig.model().first().changes().uncovered_turns.contains(&ONE.0));
    assert_eq!(rig.entries().iter().filter(|e| e.contains("what was changed before is in doubt")).count(), 1);
    rig.stop("end_turn");
    assert_eq!(wants(&mut rig), [ReviewCommand::EndTurn(ONE)]);
    let begun = HostEvent::Review(ReviewEvent::ReviewBegun);
    let text = serde_json::to_string(&begun).unwrap();
    assert_eq!(serde_json::from_str::<HostEvent>(&text).unwrap(), begun, "{text}");
}

#[test]
fn what_came_of_an_action_is_said() {
    let mut rig = Rig::reviewed();
    wants(&mut rig);
    rig.intent(Intent::Review(ReviewAction::Undo));
    assert_eq!(wants(&mut rig), [ReviewCommand::Act(ReviewAction::Undo)]);
    rig.host(HostEvent::Review(ReviewEvent::ReviewDone { words: "took back 1 hunk".into(), rewound: Vec::new() }));
    rig.host(HostEvent::Review(ReviewEvent::ReviewFailed { message: "nothing to undo".into() }));
    let said = |e: &Effect| if let Effect::FrontEnd(FrontEnd::Said(words)) = e { Some(words.clone()) } else { None };
    let said: Vec<String> = rig.wishes.iter().filter_map(said).collect();
    assert_eq!(said, ["took back 1 hunk", "nothing to undo"]);
    assert!(rig.entries().is_empty());
    let rewound = vec![Rewound { path: "a".into(), outcome: RewindOutcome::Conflict, remark: None }];
    rig.host(HostEvent::Review(ReviewEvent::RewindPreviewed { turn: 3, rewound: rewound.clone() }));
    assert_eq!(rig.model().first().session().rewind_preview(), Some(&(3, rewound.clone())));
    rig.host(HostEvent::Review(ReviewEvent::ReviewDone { words: "rewound".into(), rewound }));
    assert_eq!(rig.model().first().session().rewind_preview(), None);
    assert_eq!(rig.entries(), ["Info: rewound | a: left alone: these lines were changed since"]);
}

#[test]
fn trouble_of_a_sort_is_said_once() {
    let mut rig = Rig::reviewed();
    for message in ["first", "second"] {
        rig.host(HostEvent::Review(ReviewEvent::ReviewTrouble { what: "tool".into(), message: message.into() }));
    }
    rig.host(HostEvent::Review(ReviewEvent::ReviewTrouble { what: "turn".into(), message: "third".into() }));
    assert_eq!(rig.entries(), ["Warn: first", "Warn: third"]);
}

fn replayed(lines: &[String]) -> Model {
    let fresh = Model::new("agent --acp".into(), "/project".into(), Policy::Ask);
    let (model, skipped) = replay(fresh, PathBuf::from("/project"), lines.iter().map(String::as_str));
    assert_eq!(skipped, 0);
    model
}

#[test]
fn a_journal_with_a_review_gives_the_same_model_again() {
    let mut rig = Rig::reviewed();
    rig.prompt("one");
    covered(&mut rig, 1);
    rig.say("done");
    rig.stop("end_turn");
    reviewed(&mut rig, 1, sums(7, 2));
    rig.prompt("two");
    rig.timer(Timer::Coverage(TurnId(2)));
    rig.stop("end_turn");
    rig.prompt("three");
    let mut lines = vec![r#"{"v":1,"review":true,"gate":"off"}"#.to_owned()];
    lines.extend(rig.journal.clone());
    let again = replayed(&lines);
    assert_eq!(render(&again), rig.entries());
    assert_eq!(again.first().session().changes(), rig.model().first().session().changes());
    assert_eq!(again.first().session(), rig.model().first().session(), "the third prompt still waits");
    assert!(again.first().session().turn.as_ref().unwrap().is_unsent);
}

#[test]
fn a_journal_of_a_time_without_reviews_still_replays() {
    let mut rig = Rig::ready();
    rig.prompt("one");
    rig.say("done");
    let mut lines = vec![r#"{"v":1,"command":"agent --acp"}"#.to_owned()];
    lines.extend(rig.journal.clone());
    let again = replayed(&lines);
    assert_eq!(again.first().session(), rig.model().first().session());
    assert!(!again.first().session().turn.as_ref().unwrap().is_unsent, "it went out at once");
}
