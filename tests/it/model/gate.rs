//! Gates: writes and commands of the client that the person is asked about first.

use crate::support::{Rig, exit_code, options, render};
use acp_tui::config::schema::GATES;
use acp_tui::engine::replay::replay;
use acp_tui::model::Model;
use acp_tui::model::changes::{Before, Gate, HeldOutcome, ReviewCommand, ReviewEvent, Totals, WritePreview};
use acp_tui::model::effect::Effect;
use acp_tui::model::event::{HostEvent, Intent, WriteFact};
use acp_tui::model::ids::ReqId;
use acp_tui::model::judge::Place;
use acp_tui::model::question::{About, Outside};
use acp_tui::model::refusal::{Reason, Refusal};
use acp_tui::model::ruling::{Ruled, Ruling};
use acp_tui::model::session::{Allow, Policy};
use acp_tui::model::setup::Setup;
use serde_json::{Value, json};
use std::path::PathBuf;

const PATH: &str = "/project/src/x.rs";
const OUTSIDE: &str = "/out/x";

/// A turn under a gate.
fn gated(gate: Gate) -> Rig {
    let mut rig = Rig::reviewed();
    rig.intent(Intent::SetGate(gate));
    rig.prompt("hi");
    rig.host(HostEvent::Review(ReviewEvent::TurnCovered {
        turn: rig.model().first().session().last_turn(),
        covered: Ok(()),
    }));
    rig.sent();
    rig
}

/// The agent wants to write, and that is possible.
fn write(rig: &mut Rig, id: u64) -> ReqId {
    rig.request(id, "fs/write_text_file", json!({ "path": PATH, "content": "new\n" }));
    let req = rig.wished(|e| if let Effect::CheckWrite { req, .. } = e { Some(*req) } else { None });
    assert!(!rig.pending().contains(&req), "nobody is asked before it is known to be possible");
    rig.host(HostEvent::WriteChecked { req, path: PATH.into(), real: None, outside: false, result: Ok(()) });
    req
}

fn written(rig: &mut Rig, req: ReqId) {
    let result = Ok(WriteFact { created: false, bytes: 4, old: None, outside: None });
    rig.host(HostEvent::FileWritten { req, path: PATH.into(), result });
}

/// A write that the review has.
fn hold(rig: &mut Rig, id: u64) -> ReqId {
    let req = write(rig, id);
    let held = rig.wished(|e| match e {
        Effect::Review(ReviewCommand::Hold { req, path, content, .. }) => {
            Some((*req, path.clone(), content.to_string()))
        }
        _ => None,
    });
    assert_eq!(held, (req, PATH.to_owned(), "new\n".to_owned()));
    rig.host(HostEvent::Review(ReviewEvent::WriteHeld { req }));
    req
}

/// What the question about a write shows is the write's own.
fn asks_to_write(rig: &Rig, req: ReqId, is_held: bool) {
    let session = rig.model().first().session();
    assert_eq!(session.question(req).map(|question| &question.about), Some(&About::Write));
    let write = session.write(req).unwrap();
    assert_eq!((&*write.path, &*write.content, write.is_held()), (PATH, "new\n", is_held));
}

/// How often the review was told to write.
fn decided(rig: &Rig, of: ReqId) -> usize {
    let wanted = Effect::Review(ReviewCommand::DecideHeld { req: of, write: true });
    rig.wishes.iter().filter(|e| **e == wanted).count()
}

fn writes(rig: &Rig) -> usize {
    rig.wishes.iter().filter(|e| matches!(e, Effect::FsWrite { .. })).count()
}

fn commands(rig: &Rig) -> usize {
    rig.wishes.iter().filter(|e| matches!(e, Effect::TerminalCreate { .. })).count()
}

fn let_go(rig: &Rig, req: ReqId) -> bool {
    rig.wishes.contains(&Effect::Review(ReviewCommand::LetGo(req)))
}

fn error(rig: &mut Rig) -> Value {
    let sent = rig.sent();
    assert_eq!(sent.len(), 1, "{sent:#?}");
    sent[0]["error"].clone()
}

#[test]
fn the_names_in_the_configuration_are_those_of_the_gates() {
    assert_eq!(Gate::ALL.map(Gate::name), GATES);
}

#[test]
fn a_write_is_asked_about_and_happens_when_allowed() {
    let mut rig = gated(Gate::Ask);
    let req = write(&mut rig, 1);
    assert!(rig.sent().is_empty());
    assert_eq!(writes(&rig), 0);
    assert_eq!(rig.entries()[1], format!("Write {PATH} pending"));
    let pending = &rig.model().first().session().questions()[0];
    assert_eq!(pending.about, About::Write);
    asks_to_write(&rig, req, false);
    let names: Vec<&str> = pending.options.iter().map(|o| o.name.as_str()).collect();
    assert_eq!(names, ["Write it", "Refuse"]);
    rig.intent(Intent::Answer { req, option: "invented".into() });
    assert_eq!((writes(&rig), rig.pending().len()), (0, 1));
    rig.choose("allow");
    rig.intent(Intent::Answer { req, option: "allow".into() });
    // The review writes it: it knows what was on the disk when the person was asked.
    assert_eq!((writes(&rig), decided(&rig, req)), (0, 1), "once");
    assert!(rig.sent().is_empty(), "it is not written yet");
    rig.host(HostEvent::Review(ReviewEvent::HeldDecided {
        req,
        outcome: HeldOutcome::Whole { created: false, bytes: 4 },
    }));
    assert_eq!(rig.sent_briefly(), ["1:ok"]);
    assert_eq!(rig.entries()[1], format!("Write {PATH} created=false 4"));
}

/// The agent asks whether it may change the file, and the person allows it as the review has compared it with the disk.
fn approved(rig: &mut Rig, differs: Option<&str>) {
    let diff = json!([{ "type": "diff", "path": PATH, "oldText": "old", "newText": "new" }]);
    let call = json!({ "toolCallId": "t", "content": diff });
    rig.request(90, "session/request_permission", json!({ "toolCall": call, "options": options() }));
    let req = rig.pending()[0];
    let preview = WritePreview {
        path: PATH.into(),
        old: Some("old\n".into()),
        new: "new\n".into(),
        differs: differs.map(str::to_owned),
    };
    rig.host(HostEvent::Review(ReviewEvent::Previews { req, asked: 1, previews: vec![preview] }));
    rig.choose("yes");
    rig.sent();
}

/// The agent writes, and it was looked up which file that really is.
fn write_for_real(rig: &mut Rig, id: u64, content: &str) -> ReqId {
    rig.request(id, "fs/write_text_file", json!({ "path": PATH, "content": content }));
    let req = rig.wished(|e| if let Effect::CheckWrite { req, .. } = e { Some(*req) } else { None });
    rig.host(HostEvent::WriteChecked {
        req,
        path: PATH.into(),
        real: Some(PATH.into()),
        outside: false,
        result: Ok(()),
    });
    req
}

/// What the review was asked to compare the file of this write with.
fn compared_with(rig: &Rig, of: ReqId) -> Option<Before> {
    rig.wishes.iter().find_map(|e| match e {
        Effect::Review(ReviewCommand::Hold { req, over, .. }) if *req == of => over.clone(),
        _ => None,
    })
}

#[test]
fn a_change_that_was_allowed_as_it_is_on_the_disk_is_not_asked_about_again() {
    let mut rig = gated(Gate::Ask);
    approved(&mut rig, None);
    let req = write_for_real(&mut rig, 1, "new\n");
    assert_eq!(compared_with(&rig, req), Some(Before(Some("old\n".into()))));
    assert!(rig.pending().is_empty() && decided(&rig, req) == 0, "not before the disk has been looked at");
    rig.host(HostEvent::Review(ReviewEvent::DiskCompared { req, same: true }));
    rig.host(HostEvent::Review(ReviewEvent::DiskCompared { req, same: true }));
    assert_eq!((rig.pending().len(), decided(&rig, req)), (0, 1));
    let whole = HeldOutcome::Whole { created: false, bytes: 4 };
    rig.host(HostEvent::Review(ReviewEvent::HeldDecided { req, outcome: whole }));
    assert_eq!(rig.sent_briefly(), ["1:ok"]);
    // Once.
    let again = write_for_real(&mut rig, 2, "new\n");
    asks_to_write(&rig, again, false);
    assert_eq!(compared_with(&rig, again), None);
}

#[test]
fn what_differs_from_what_was_allowed_is_asked_about() {
    for (differs, content, gate) in
        [(Some("it moved"), "new\n", Gate::Ask), (None, "new", Gate::Ask), (None, "new", Gate::Hold)]
    {
        let mut rig = gated(gate);
        approved(&mut rig, differs);
        let req = write_for_real(&mut rig, 1, content);
        if gate == Gate::Hold {
            rig.host(HostEvent::Review(ReviewEvent::WriteHeld { req }));
        }
        assert_eq!((rig.pending(), compared_with(&rig, req)), (vec![req], None), "{differs:?} {content:?}");
        assert_eq!((writes(&rig), decided(&rig, req)), (0, 0));
    }
    // The disk is another one; the review cannot tell; another write of the file came first.
    let told = |what: fn(ReqId) -> ReviewEvent| {
        let mut rig = gated(Gate::Ask);
        approved(&mut rig, None);
        let req = write_for_real(&mut rig, 1, "new\n");
        rig.host(HostEvent::Review(what(req)));
        asks_for(&rig, req);
        rig.choose("reject");
        assert_eq!((writes(&rig), decided(&rig, req)), (0, 0));
        assert_eq!(error(&mut rig)["data"]["reason"], "denied_by_user");
    };
    told(|req| ReviewEvent::DiskCompared { req, same: false });
    told(|req| ReviewEvent::NotKept { req });
    told(|req| ReviewEvent::WriteAgain { req });
}

#[test]
fn what_was_allowed_is_held_for_the_review_only_where_the_disk_has_changed() {
    for same in [true, false] {
        let mut rig = gated(Gate::Hold);
        approved(&mut rig, None);
        let req = write_for_real(&mut rig, 1, "new\n");
        assert_eq!(compared_with(&rig, req), Some(Before(Some("old\n".into()))));
        assert!(rig.pending().is_empty() && decided(&rig, req) == 0, "not before the disk has been looked at");
        rig.host(HostEvent::Review(ReviewEvent::DiskCompared { req, same }));
        rig.host(HostEvent::Review(ReviewEvent::WriteHeld { req }));
        let asked = if same { vec![] } else { vec![req] };
        assert_eq!((rig.pending(), decided(&rig, req)), (asked, usize::from(same)));
    }
}

fn asks_for(rig: &Rig, req: ReqId) {
    assert_eq!(rig.pending(), [req]);
    asks_to_write(rig, req, false);
}

/// The same of a file outside of the session's directories, which is really there.
fn approved_outside(gate: Gate, call: &Value, preview: Option<&str>) -> Rig {
    let mut rig = gated(gate);
    rig.request(90, "session/request_permission", json!({ "toolCall": call, "options": options() }));
    let req = rig.pending()[0];
    let preview = preview.map(|path| WritePreview {
        path: path.into(),
        old: Some("old\n".into()),
        new: "new\n".into(),
        differs: None,
    });
    let previews = preview.into_iter().collect();
    rig.host(HostEvent::Review(ReviewEvent::Previews { req, asked: 1, previews }));
    rig.choose("yes");
    rig.sent();
    rig
}

fn write_outside(rig: &mut Rig, real: &str, content: &str) -> ReqId {
    rig.request(1, "fs/write_text_file", json!({ "path": OUTSIDE, "content": content }));
    let req = rig.wished(|e| if let Effect::CheckWrite { req, .. } = e { Some(*req) } else { None });
    let real = Some(real.to_owned());
    rig.host(HostEvent::WriteChecked { req, path: OUTSIDE.into(), real, outside: true, result: Ok(()) });
    req
}

#[test]
fn a_change_outside_that_was_allowed_is_not_asked_about_again() {
    let call = json!({ "toolCallId": "t", "kind": "edit",
        "content": [{ "type": "diff", "path": OUTSIDE, "oldText": "old\n", "newText": "new\n" }] });
    let compares =
        |rig: &Rig| rig.wishes.iter().any(|e| matches!(e, Effect::Review(ReviewCommand::CompareOutside { .. })));
    // With the gate off, where a write goes is asked only where there are rules.
    for gate in [Gate::Ask, Gate::Hold] {
        let mut rig = approved_outside(gate, &call, Some(OUTSIDE));
        let req = write_outside(&mut rig, OUTSIDE, "new\n");
        let over = Before(Some("old\n".into()));
        let wanted = Effect::Review(ReviewCommand::CompareOutside { req, path: OUTSIDE.into(), over });
        assert!(rig.wishes.contains(&wanted), "{gate:?}");
        assert!(rig.pending().is_empty() && writes(&rig) == 0, "not before the disk has been looked at");
        rig.host(HostEvent::Review(ReviewEvent::DiskCompared { req, same: true }));
        rig.host(HostEvent::Review(ReviewEvent::DiskCompared { req, same: true }));
        assert_eq!((rig.pending().len(), writes(&rig)), (0, 1), "{gate:?}");
        let served = rig.wishes.iter().find_map(|e| match e {
            Effect::FsWrite { request, .. } => Some((request.is_granted, request.place.clone())),
            _ => None,
        });
        assert_eq!(served, Some((true, Place::Outside(OUTSIDE.into()))), "that very file");
    }
    // Another text, another file, a diff of another file, and a file that has changed since.
    for (real, content, shown) in
        [(OUTSIDE, "new", OUTSIDE), ("/out/y", "new\n", OUTSIDE), (OUTSIDE, "new\n", "/out/y")]
    {
        let mut rig = approved_outside(Gate::Ask, &call, Some(shown));
        let req = write_outside(&mut rig, real, content);
        assert_eq!((rig.pending(), compares(&rig), writes(&rig)), (vec![req], false, 0), "{real} {content} {shown}");
    }
    let mut rig = approved_outside(Gate::Ask, &call, Some(OUTSIDE));
    let req = write_outside(&mut rig, OUTSIDE, "new\n");
    rig.host(HostEvent::Review(ReviewEvent::DiskCompared { req, same: false }));
    assert_eq!((rig.pending(), writes(&rig)), (vec![req], 0));
    let outside = &rig.model().first().session().questions()[0].outside;
    assert_eq!(outside.iter().map(|outside| outside.real.as_deref()).collect::<Vec<_>>(), [Some(OUTSIDE)]);
}

fn reads(rig: &Rig) -> Vec<(bool, Place)> {
    let read = |e: &Effect| match e {
        Effect::FsRead { request, .. } => Some((request.is_granted, request.place.clone())),
        _ => None,
    };
    rig.wishes.iter().filter_map(read).collect()
}

/// The agent asks to read a file that lies outside, and the person answers; then it reads one that is really there.
fn read_outside(call: &Value, answer: &str, (real, verdict): (&str, Ruled)) -> Rig {
    let mut rig = Rig::with_policy(Policy::Ask);
    rig.core.set_up(Setup::Sessions { review: false, gate: Gate::Off, rules: true });
    rig.opens();
    rig.prompt("hi");
    rig.sent();
    let ruled = |rig: &mut Rig, verdict, real: &str| {
        let req = rig.wished(|e| if let Effect::AskRules { req, .. } = e { Some(*req) } else { None });
        let outside = vec![Outside { path: OUTSIDE.into(), real: Some(real.into()) }];
        rig.host(HostEvent::Ruled { req, ruling: Ruling { verdict, outside, ..Ruling::OPEN } });
    };
    rig.request(90, "session/request_permission", json!({ "toolCall": call, "options": options() }));
    ruled(&mut rig, Ruled::Open, OUTSIDE);
    rig.choose(answer);
    rig.sent();
    rig.request(1, "fs/read_text_file", json!({ "path": OUTSIDE }));
    ruled(&mut rig, verdict, real);
    rig
}

#[test]
fn a_read_outside_that_was_allowed_is_not_asked_about_again() {
    let call = |kind: &str| json!({ "toolCallId": "t", "kind": kind, "locations": [{ "path": OUTSIDE }] });
    let open = (OUTSIDE, Ruled::Open);
    let mut rig = read_outside(&call("read"), "yes", open);
    assert_eq!((rig.pending().len(), reads(&rig)), (0, vec![(true, Place::Outside(OUTSIDE.into()))]));
    // Once.
    rig.request(2, "fs/read_text_file", json!({ "path": OUTSIDE }));
    let req = rig.wished(|e| if let Effect::AskRules { req, .. } = e { Some(*req) } else { None });
    let outside = vec![Outside { path: OUTSIDE.into(), real: Some(OUTSIDE.into()) }];
    rig.host(HostEvent::Ruled { req, ruling: Ruling { outside, ..Ruling::OPEN } });
    assert_eq!((rig.pending().len(), reads(&rig).len()), (1, 1));
    for (kind, answer, then) in [
        ("read", "no", open),
        ("edit", "yes", open),
        ("other", "yes", open),
        ("read", "yes", ("/out/y", Ruled::Open)),
        ("read", "yes", (OUTSIDE, Ruled::Ask)),
    ] {
        let rig = read_outside(&call(kind), answer, then);
        assert_eq!((rig.pending().len(), reads(&rig).len()), (1, 0), "{kind} {answer} {then:?}");
    }
}

#[test]
fn what_was_allowed_holds_for_its_turn_alone() {
    let mut rig = gated(Gate::Ask);
    approved(&mut rig, None);
    rig.stop("end_turn");
    rig.host(HostEvent::Review(ReviewEvent::TurnReviewed {
        turn: rig.model().first().session().last_turn(),
        totals: Totals::default(),
        session: Totals::default(),
        after: false,
    }));
    rig.prompt("again");
    let turn = rig.model().first().session().last_turn();
    rig.host(HostEvent::Review(ReviewEvent::TurnCovered { turn, covered: Ok(()) }));
    rig.sent();
    let req = write_for_real(&mut rig, 1, "new\n");
    asks_for(&rig, req);
}

#[test]
fn a_write_that_the_review_cannot_keep_is_decided_by_the_answer_alone() {
    for answered_first in [false, true] {
        let mut rig = gated(Gate::Ask);
        let req = write(&mut rig, 1);
        if !answered_first {
            rig.host(HostEvent::Review(ReviewEvent::NotKept { req }));
        }
        rig.choose("allow");
        if answered_first {
            assert_eq!(writes(&rig), 0);
            rig.host(HostEvent::Review(ReviewEvent::NotKept { req }));
        }
        assert_eq!(writes(&rig), 1);
        written(&mut rig, req);
        assert_eq!(rig.sent_briefly(), ["1:ok"]);
    }
}

#[test]
fn a_write_of_lines_that_the_person_has_changed_meanwhile_is_asked_about_again() {
    for gate in [Gate::Ask, Gate::Hold] {
        let mut rig = gated(gate);
        let req = if gate == Gate::Hold { hold(&mut rig, 1) } else { write(&mut rig, 1) };
        let about = rig.model().first().session().questions()[0].about.clone();
        rig.choose("allow");
        assert!(rig.pending().is_empty());
        rig.host(HostEvent::Review(ReviewEvent::WriteAgain { req }));
        assert_eq!((rig.pending(), &rig.model().first().session().questions()[0].about), (vec![req], &about));
        assert!(rig.sent().is_empty());
        rig.choose("allow");
        assert_eq!(decided(&rig, req), 2);
        let differs = "-new\n+mine\n".to_owned();
        rig.host(HostEvent::Review(ReviewEvent::HeldDecided { req, outcome: HeldOutcome::Partly { differs } }));
        assert_eq!(rig.sent_briefly(), ["1:ok"]);
    }
}

#[test]
fn a_refused_write_is_told_as_denied_by_the_user() {
    let mut rig = gated(Gate::Ask);
    write(&mut rig, 1);
    rig.choose("reject");
    let error = error(&mut rig);
    assert_eq!(error["code"], -32602);
    assert_eq!(error["data"], json!({ "reason": "denied_by_user", "path": PATH }));
    assert_eq!(writes(&rig), 0);
    assert_eq!(rig.entries()[1], format!("Write {PATH} refused: refused by you"));
}

#[test]
fn a_write_that_is_impossible_is_refused_without_a_question() {
    let mut rig = gated(Gate::Hold);
    rig.request(1, "fs/write_text_file", json!({ "path": "/etc/x", "content": "" }));
    let req = rig.wished(|e| if let Effect::CheckWrite { req, .. } = e { Some(*req) } else { None });
    let result = Err(Refusal::new(Reason::Outside, "outside the workspace: /etc/x"));
    rig.host(HostEvent::WriteChecked { req, path: "/etc/x".into(), real: None, outside: false, result });
    assert!(rig.pending().is_empty());
    assert_eq!(rig.sent_briefly(), ["1:-32602"]);
    assert!(rig.has_entry("refused: outside the workspace"));
}

#[test]
fn a_command_is_asked_about() {
    for gate in [Gate::Ask, Gate::Hold] {
        let mut rig = gated(gate);
        rig.request(1, "terminal/create", json!({ "command": "make", "args": ["all"] }));
        assert_eq!(commands(&rig), 0);
        assert!(rig.has_entry("asks to run: make all"));
        rig.choose("allow");
        assert_eq!(commands(&rig), 1);
        assert!(rig.has_entry("allowed by you: make all"));
        rig.request(2, "terminal/create", json!({ "command": "rm" }));
        rig.choose("reject");
        let error = error(&mut rig);
        assert_eq!((&error["code"], &error["data"]["reason"]), (&json!(-32602), &json!("denied_by_user")));
        assert_eq!(commands(&rig), 1);
        assert!(rig.has_entry("Warn: refused by you: rm"));
    }
}

#[test]
fn a_cancel_answers_what_was_asked() {
    for gate in [Gate::Ask, Gate::Hold] {
        let mut rig = gated(gate);
        let asked = if gate == Gate::Hold { hold(&mut rig, 1) } else { write(&mut rig, 1) };
        rig.request(2, "terminal/create", json!({ "command": "make" }));
        // Still being looked up.
        rig.request(3, "fs/write_text_file", json!({ "path": PATH, "content": "" }));
        rig.intent(Intent::Cancel);
        assert_eq!(rig.sent_briefly(), ["session/cancel", "1:-32800", "2:-32800", "3:-32800"]);
        assert!(rig.pending().is_empty());
        assert!(let_go(&rig, asked));
        assert_eq!((writes(&rig), commands(&rig)), (0, 0));
        let late = rig.wished(|e| if let Effect::CheckWrite { req, .. } = e { Some(*req) } else { None });
        rig.host(HostEvent::WriteChecked { req: late, path: PATH.into(), real: None, outside: false, result: Ok(()) });
        rig.host(HostEvent::Review(ReviewEvent::HeldDecided { req: asked, outcome: HeldOutcome::Refused }));
        assert!(rig.sent().is_empty() && rig.pending().is_empty(), "each was answered");
        rig.request(4, "fs/write_text_file", json!({ "path": PATH, "content": "" }));
        rig.request(5, "terminal/create", json!({ "command": "make" }));
        assert_eq!(rig.sent_briefly(), ["4:-32800", "5:-32800"], "asked while the turn is being stopped");
    }
}

#[test]
fn a_withdrawn_write_or_command_closes() {
    let mut rig = gated(Gate::Ask);
    write(&mut rig, 1);
    rig.request(2, "terminal/create", json!({ "command": "make" }));
    for id in [1, 2] {
        rig.agent(json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": { "requestId": id } }));
    }
    assert_eq!(rig.sent_briefly(), ["1:-32800", "2:-32800"]);
    assert!(rig.pending().is_empty());
    assert!(rig.withdrawn().iter().any(|w| w.contains("run make")), "{:?}", rig.withdrawn());
}

#[test]
fn the_death_of_the_agent_voids_what_was_asked() {
    for gate in [Gate::Ask, Gate::Hold] {
        let mut rig = gated(gate);
        let req = if gate == Gate::Hold { hold(&mut rig, 1) } else { write(&mut rig, 1) };
        rig.request(2, "terminal/create", json!({ "command": "make" }));
        rig.exited(exit_code(1), &[]);
        assert!(rig.sent().is_empty() && rig.pending().is_empty());
        assert!(let_go(&rig, req));
        assert!(rig.has_entry("refused: the agent is gone") && rig.has_entry("not run, the agent is gone: make"));
        rig.intent(Intent::Answer { req, option: "allow".into() });
        assert_eq!((writes(&rig), commands(&rig)), (0, 0));
    }
}

#[test]
fn a_held_write_waits_in_the_dock() {
    let mut rig = gated(Gate::Hold);
    let req = hold(&mut rig, 1);
    assert_eq!(rig.pending(), [req]);
    assert_eq!(rig.model().first().session().questions()[0].about, About::Write);
    asks_to_write(&rig, req, true);
    assert!(rig.sent().is_empty());
    rig.choose("allow");
    assert!(rig.wishes.contains(&Effect::Review(ReviewCommand::DecideHeld { req, write: true })));
    assert_eq!(writes(&rig), 0, "the review writes it");
    assert!(rig.sent().is_empty() && rig.pending().is_empty());
    rig.host(HostEvent::Review(ReviewEvent::HeldDecided {
        req,
        outcome: HeldOutcome::Whole { created: true, bytes: 4 },
    }));
    assert_eq!(rig.sent_briefly(), ["1:ok"]);
    assert_eq!(rig.entries()[1], format!("Write {PATH} created=true 4"));
    rig.host(HostEvent::Review(ReviewEvent::HeldDecided { req, outcome: HeldOutcome::Refused }));
    assert!(rig.sent().is_empty());
}

#[test]
fn a_held_write_that_was_decided_in_the_review_leaves_the_dock() {
    let mut rig = gated(Gate::Hold);
    let req = hold(&mut rig, 1);
    let differs = "-new\n+other\n".to_owned();
    rig.host(HostEvent::Review(ReviewEvent::HeldDecided {
        req,
        outcome: HeldOutcome::Partly { differs: differs.clone() },
    }));
    assert!(rig.pending().is_empty());
    // Answered as done, and told with the next prompt: an error reaches some models as "[object Object]".
    assert_eq!(rig.sent_briefly(), ["1:ok"]);
    let [note] = rig.held()[..] else { panic!("{:?}", rig.held()) };
    assert!(note.contains("not as you proposed") && note.contains(PATH) && note.contains(differs.trim()), "{note}");
    assert_eq!(rig.entries()[1], format!("Write {PATH} altered"));
    // A second one goes along.
    let req = hold(&mut rig, 2);
    rig.host(HostEvent::Review(ReviewEvent::HeldDecided {
        req,
        outcome: HeldOutcome::Partly { differs: "-a ````\n".into() },
    }));
    let [note] = rig.held()[..] else { panic!("{:?}", rig.held()) };
    assert_eq!(note.matches(PATH).count(), 2);
    assert!(note.contains("`````diff"), "{note}");
}

#[test]
fn a_long_difference_is_cut() {
    let mut rig = gated(Gate::Hold);
    let req = hold(&mut rig, 1);
    rig.host(HostEvent::Review(ReviewEvent::HeldDecided {
        req,
        outcome: HeldOutcome::Partly { differs: "é".repeat(1 << 20) },
    }));
    let note = rig.held()[0];
    assert!(note.len() < 9 << 10 && note.contains("left out"), "{}", note.len());
}

#[test]
fn a_held_write_can_be_refused_or_fail() {
    let mut rig = gated(Gate::Hold);
    let req = hold(&mut rig, 1);
    rig.choose("reject");
    assert!(rig.wishes.contains(&Effect::Review(ReviewCommand::DecideHeld { req, write: false })));
    rig.host(HostEvent::Review(ReviewEvent::HeldDecided { req, outcome: HeldOutcome::Refused }));
    assert_eq!(error(&mut rig)["data"]["reason"], "denied_by_user");
    assert!(!let_go(&rig, req), "it has been decided");
    let req = hold(&mut rig, 2);
    rig.host(HostEvent::Review(ReviewEvent::HeldDecided {
        req,
        outcome: HeldOutcome::Failed { message: "no room".into() },
    }));
    let error = error(&mut rig);
    assert_eq!((&error["code"], &error["message"]), (&json!(-32603), &json!("no room")));
    assert!(rig.pending().is_empty());
}

#[test]
fn a_held_write_fails_when_the_review_ends() {
    let mut rig = gated(Gate::Hold);
    hold(&mut rig, 1);
    rig.host(HostEvent::Review(ReviewEvent::ReviewOff { message: "gone".into() }));
    assert_eq!(rig.sent_briefly(), ["1:-32603"]);
    assert!(rig.pending().is_empty());
    write(&mut rig, 2);
    assert!(matches!(rig.model().first().session().questions()[0].about, About::Write), "now it is a question");
}

#[test]
fn without_a_gate_nobody_is_asked() {
    let mut rig = gated(Gate::Off);
    rig.request(1, "fs/write_text_file", json!({ "path": PATH, "content": "" }));
    rig.request(2, "terminal/create", json!({ "command": "make" }));
    assert_eq!((writes(&rig), commands(&rig)), (1, 1));
    assert!(rig.pending().is_empty());
}

#[test]
fn exec_knows_no_gates() {
    let mut rig = Rig::ready_as(Policy::Auto(Allow::All), json!({}));
    rig.intent(Intent::SetGate(Gate::Hold));
    assert_eq!(rig.model().first().session().gate(), Gate::Off);
    rig.prompt("hi");
    rig.request(1, "fs/write_text_file", json!({ "path": PATH, "content": "" }));
    rig.request(2, "terminal/create", json!({ "command": "make" }));
    assert_eq!((writes(&rig), commands(&rig)), (1, 1));
    assert!(rig.pending().is_empty());
}

#[test]
fn a_journal_with_a_gate_gives_the_same_model_again() {
    let mut rig = gated(Gate::Ask);
    let req = write(&mut rig, 1);
    rig.choose("allow");
    written(&mut rig, req);
    rig.request(2, "terminal/create", json!({ "command": "make" }));
    let mut lines = vec![r#"{"v":1,"review":true,"gate":"hold"}"#.to_owned()];
    lines.extend(rig.journal.clone());
    let fresh = Model::new("agent --acp".into(), "/project".into(), Policy::Ask);
    let (again, skipped) = replay(fresh, PathBuf::from("/project"), lines.iter().map(String::as_str));
    assert_eq!(skipped, 0);
    assert_eq!(render(&again), rig.entries());
    assert_eq!(again.first().session(), rig.model().first().session());
    assert_eq!(again.first().session().gate(), Gate::Ask, "the person has changed it");
}

#[test]
fn a_prompt_of_the_person_is_never_taken_for_the_note_about_changed_writes() {
    let mut rig = gated(Gate::Hold);
    let req = hold(&mut rig, 1);
    rig.host(HostEvent::Review(ReviewEvent::HeldDecided {
        req,
        outcome: HeldOutcome::Partly { differs: "-a\n".into() },
    }));
    let theirs = rig.held()[0].to_owned();
    // The person has taken it back and sends it with words of their own.
    rig.intent(Intent::TakeBack);
    rig.prompt(&theirs);
    let req = hold(&mut rig, 2);
    rig.host(HostEvent::Review(ReviewEvent::HeldDecided {
        req,
        outcome: HeldOutcome::Partly { differs: "-b\n".into() },
    }));
    assert_eq!(rig.held().len(), 2, "{:?}", rig.held());
    assert_eq!(rig.held()[0], theirs);
}
