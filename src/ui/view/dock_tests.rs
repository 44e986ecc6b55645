//! Questions of our own in the dock, and diffs as they are on the disk.

use crate::model::changes::{Gate, Totals, Truth};
use crate::model::event::{AgentEvent, AgentRequest, Event, HostEvent, Intent, TerminalSpec};
use crate::model::ids::{ReqId, TurnId};
use crate::ui::fixtures::{Scene, session};
use crate::ui::keys::{Code, Key};
use crate::ui::tty::Input;

const PATH: &str = "/home/me/src/shop/src/x.rs";

fn gated(gate: Gate, width: u16) -> Scene {
    let mut s = Scene::working(width, 24);
    s.model = std::mem::take(&mut s.model).with_review(true);
    s.intent(Intent::SetGate(gate));
    s
}

fn write(s: &mut Scene, req: u64) {
    let request = AgentRequest::WriteFile { path: PATH.into(), content: "one\nTWO\nthree\n".into() };
    let req = ReqId(req);
    s.agent(AgentEvent::Request { req, session: Some(session()), request });
    s.event(Event::Host(HostEvent::WriteChecked { req, path: PATH.into(), result: Ok(()) }));
    s.draw();
}

fn truth(s: &mut Scene, req: u64, old: &str, new: &str, differs: Option<&str>) {
    let truth =
        Truth { path: PATH.into(), old: Some(old.into()), new: new.into(), differs: differs.map(str::to_owned) };
    s.event(Event::Host(HostEvent::Truths { req: ReqId(req), asked: 1, truths: vec![truth] }));
    s.draw();
}

/// The row of the screen that contains this.
fn row<'a>(s: &'a Scene, part: &str) -> &'a str {
    s.shown.lines().find(|l| l.contains(part)).unwrap_or_else(|| panic!("no {part:?} in\n{}", s.shown))
}

#[test]
fn a_write_under_the_gate_is_a_question() {
    let mut s = gated(Gate::Ask, 110);
    write(&mut s, 5);
    assert!(row(&s, "wants to").contains("gemini-cli wants to write   src/x.rs"), "{}", s.shown);
    assert!(row(&s, "1 Write it").contains("2 Refuse"), "{}", s.shown);
    assert!(s.last_row().contains("waiting for you"), "{}", s.shown);
    truth(&mut s, 5, "one\ntwo\nthree\n", "one\nTWO\nthree\n", None);
    assert!(row(&s, "- two").contains('2') && row(&s, "+ TWO").contains('2'), "{}", s.shown);
    assert!(row(&s, "  one").contains("▌"), "what stays is no addition: {}", s.shown);
}

#[test]
fn a_command_under_the_gate_is_shown_whole() {
    let mut s = gated(Gate::Ask, 80);
    let spec = TerminalSpec {
        command: "make".into(),
        args: vec!["all".into()],
        env: vec![("LD_PRELOAD".into(), "x\u{1b}.so".into())],
        cwd: Some("/home/me/src/shop/sub".into()),
        limit: None,
    };
    let request = AgentRequest::TerminalCreate(spec);
    s.agent(AgentEvent::Request { req: ReqId(5), session: Some(session()), request });
    s.draw();
    assert!(row(&s, "▌ run  make all").contains("0:00"), "{}", s.shown);
    assert!(s.shown.contains("in sub") && s.shown.contains("LD_PRELOAD=x"), "{}", s.shown);
    assert!(row(&s, "1 Run it").contains("2 Refuse"), "{}", s.shown);
    assert!(!s.shown.contains('\u{1b}'));
}

#[test]
fn a_held_write_says_that_it_waits_and_where_it_is_reviewed() {
    let mut s = gated(Gate::Hold, 80);
    write(&mut s, 5);
    assert!(!s.shown.contains("1 Write it"), "the review does not have it yet: {}", s.shown);
    s.event(Event::Host(HostEvent::WriteHeld { req: ReqId(5) }));
    s.draw();
    assert!(s.shown.contains("nothing is written yet · Alt+R"), "{}", s.shown);
    assert!(row(&s, "1 Write it").contains("2 Refuse"), "{}", s.shown);
}

#[test]
fn the_question_of_a_gate_is_answered_like_any_other() {
    let mut s = gated(Gate::Ask, 80);
    write(&mut s, 5);
    s.typed("1 2 yes");
    s.input(Input::Paste("1\r".into()));
    assert_eq!(s.answers(), [], "typed, not answered");
    s.press(Code::Tab).typed("1");
    assert_eq!(s.answers(), [], "it has just got the focus");
    s.after(400).draw();
    truth(&mut s, 5, "a\n", "b\n", None);
    s.typed("1");
    assert_eq!(s.answers(), [], "what it shows has just changed");
    s.after(400).draw();
    s.typed("2");
    assert_eq!(s.answers(), [(5, "reject".to_owned())]);
}

#[test]
fn what_the_disk_says_takes_the_place_of_what_the_agent_says() {
    let mut s = gated(Gate::Off, 80);
    s.ask_edit(5, PATH, "two", "TWO", &["Yes", "No"]);
    s.draw();
    assert!(row(&s, "- two").contains("1 "), "as the agent tells it: {}", s.shown);
    truth(&mut s, 5, "one\ntwo\n", "one\nTWO\n", Some("line 2, not 1\u{1b}[31m"));
    assert!(row(&s, "- two").contains("2 "), "{}", s.shown);
    assert!(s.shown.contains("the agent's view differs: line 2, not 1"), "{}", s.shown);
    assert!(!s.shown.contains('\u{1b}'));
}

#[test]
fn words_without_texts_leave_the_diff_of_the_agent() {
    let mut s = gated(Gate::Off, 80);
    s.ask_edit(5, PATH, "two", "TWO", &["Yes", "No"]);
    let truth = Truth { path: PATH.into(), old: None, new: "".into(), differs: Some("it is gone".into()) };
    s.event(Event::Host(HostEvent::Truths { req: ReqId(5), asked: 1, truths: vec![truth] }));
    s.draw();
    assert!(s.shown.contains("- two") && s.shown.contains("+ TWO"), "{}", s.shown);
    assert!(s.shown.contains("view differs: it is gone"), "{}", s.shown);
}

#[test]
fn alt_g_goes_to_the_next_gate() {
    let mut s = gated(Gate::Off, 120);
    s.key(Key::alt(Code::Char('g')));
    assert_eq!(s.intents(), [Intent::SetGate(Gate::Ask)]);
    s.draw();
    assert!(s.last_row().contains("gate ask: each write and command is a question"), "{}", s.shown);
    s.intent(Intent::SetGate(Gate::Ask));
    s.after(10_000).draw();
    assert!(s.last_row().contains("gate ask"), "{}", s.shown);
}

#[test]
fn the_sums_of_a_turn_are_one_line() {
    let mut s = gated(Gate::Off, 100);
    let totals = Totals { added: 120, removed: 14, files: 6, pending: 3 };
    let turn = TurnId(1);
    s.event(Event::Host(HostEvent::TurnReviewed { turn, totals, session: totals, after: false }));
    s.draw();
    assert!(s.shown.contains("± +120 −14 in 6 files · 3 to review · Alt+R"), "{}", s.shown);
    let session = Totals { pending: 0, ..totals };
    s.event(Event::Host(HostEvent::ChangesSeen { session, after: false }));
    s.draw();
    assert!(s.shown.contains("± +120 −14 in 6 files · Alt+R"), "all is decided: {}", s.shown);
    let one = Totals { added: 1, removed: 0, files: 1, pending: 0 };
    s.event(Event::Host(HostEvent::TurnReviewed { turn: TurnId(2), totals: one, session, after: false }));
    s.draw();
    assert!(s.shown.contains("turn 2: +1 −0 in 1 file · Alt+R"), "it is not the turn above it: {}", s.shown);
}
