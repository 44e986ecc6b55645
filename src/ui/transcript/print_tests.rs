use super::*;
use crate::model::changes::ReviewEvent;
use crate::model::entry::{ChunkKind, PlanEntry, PlanStatus, Priority};
use crate::model::event::{AgentEvent, Event, HostEvent, Intent, Stop, Update};
use crate::model::history::NoHistory;
use crate::model::ids::ReqId;
use crate::model::patch::Patch;
use crate::model::permission_mode::ModeChoice;
use crate::model::tool::{Change, Location, ToolContent, ToolKind, ToolPatch, ToolStatus};
use crate::ui::fixtures::Scene;
use crate::ui::state::folds::Folds;
use crate::ui::state::scroll::Scroll;
use proptest::prelude::*;

const WIDTH: u16 = 60;
/// Nothing is pushed out of sight.
const ENDLESS: u32 = 100_000;

struct Printer {
    scene: Scene,
    folds: Folds,
    mark: Mark,
    printed: Vec<String>,
}

impl Printer {
    fn new() -> Self {
        Self { scene: Scene::ready(80, 24), folds: Folds::default(), mark: Mark::default(), printed: Vec::new() }
    }

    fn prompt(&mut self, text: &str) {
        self.scene.intent(Intent::Prompt { text: text.into(), links: Vec::new() });
    }

    fn plan(&mut self, words: &str, status: PlanStatus) {
        let entries = vec![PlanEntry { content: words.into(), priority: Priority::Medium, status }];
        self.scene.update(Update::Plan { id: None, entries });
    }

    fn with<R>(&mut self, f: impl FnOnce(&mut Transcript, &DrawCtx<'_>, &mut Mark) -> R) -> R {
        let mut transcript = std::mem::take(&mut self.scene.transcript);
        let cx = DrawCtx {
            typing: None,
            plan_beside: false,
            selection: None,
            session: self.scene.model.first(),
            history: &NoHistory,
            now: self.scene.now,
            spinner_frame: 0,
            folds: &self.folds,
            theme: &self.scene.theme,
            home: None,
            pictures: None,
            keys: None,
        };
        let r = f(&mut transcript, &cx, &mut self.mark);
        self.scene.transcript = transcript;
        r
    }

    /// Prints what stays as it is, where no line of a program gets colours.
    fn print_uncoloured(&mut self) {
        self.print(100, settled());
        while let Some(asked) = self.scene.transcript.uncoloured() {
            self.scene.transcript.colour(&asked.keys, Vec::new());
            self.print(100, settled());
        }
    }

    /// Prints all that is to be printed now.
    fn print(&mut self, most: u16, which: Which) -> usize {
        let before = self.printed.len();
        loop {
            let page = self.with(|transcript, cx, mark| transcript.print(cx, WIDTH, most, mark, which));
            self.printed.extend(rows(&page.buf));
            if !page.has_more {
                return self.printed.len() - before;
            }
            assert!(page.rows() > 0, "what is not printed now is not more");
        }
    }

    fn tail(&mut self, height: u16) -> Vec<String> {
        let area = Rect::new(0, 0, WIDTH, height);
        let mut buf = Buffer::empty(area);
        let n = self.with(|transcript, cx, mark| transcript.draw_tail(cx, area, mark, &mut buf).0);
        rows(&buf).split_off(usize::from(height - n))
    }

    /// The rows of the full screen.
    fn whole(&mut self) -> Vec<String> {
        let area = Rect::new(0, 0, WIDTH, 4000);
        let mut buf = Buffer::empty(area);
        self.with(|transcript, cx, _| transcript.draw(cx, area, &mut Scroll::Follow, &mut buf));
        let rows = rows(&buf);
        let first = rows.iter().position(|row| !row.is_empty()).unwrap_or(rows.len());
        rows[first..].to_vec()
    }
}

fn rows(buf: &Buffer) -> Vec<String> {
    let width = usize::from(buf.area.width).max(1);
    let row = |cells: &[ratatui::buffer::Cell]| cells.iter().map(ratatui::buffer::Cell::symbol).collect::<String>();
    buf.content.chunks(width).map(|cells| row(cells).trim_end().to_owned()).collect()
}

fn settled() -> Which {
    Which::Settled { seen: ENDLESS }
}

#[test]
fn words_before_a_call_are_printed_while_it_runs() {
    let mut printer = Printer::new();
    printer.prompt("go");
    printer.scene.say("I will read it.");
    printer.scene.tool("r", ToolKind::Read, "notes.md", ToolStatus::InProgress);
    printer.print(100, settled());
    assert!(printer.printed.iter().any(|row| row.contains("I will read it.")), "{:?}", printer.printed);
    printer.scene.tool("r", ToolKind::Read, "notes.md", ToolStatus::Completed);
    printer.scene.say("Now I know.");
    printer.print(100, settled());
    assert!(printer.printed.iter().any(|row| row.contains("notes.md")), "{:?}", printer.printed);
}

#[test]
fn a_paragraph_is_printed_once_the_next_one_has_begun() {
    let mut printer = Printer::new();
    printer.prompt("go");
    printer.scene.say("first paragraph\n\nsecond para");
    printer.print(100, settled());
    assert!(printer.printed.iter().any(|row| row.contains("first paragraph")), "{:?}", printer.printed);
    assert!(!printer.printed.iter().any(|row| row.contains("second")), "{:?}", printer.printed);
    assert_eq!(printer.tail(10).last().unwrap().trim(), "second para");
    printer.scene.say("graph");
    printer.scene.end_turn(Stop::EndTurn);
    printer.print(100, settled());
    let whole = printer.whole();
    assert_eq!(printer.printed, whole);
    assert_eq!(printer.tail(10), Vec::<String>::new());
    assert_eq!(printer.print(100, Which::All), 0);
}

#[test]
fn a_call_that_runs_holds_the_mark_until_it_is_finished() {
    let mut printer = Printer::new();
    printer.prompt("go");
    printer.scene.tool("a", ToolKind::Execute, "cargo build", ToolStatus::InProgress);
    printer.scene.say("words that follow\n\nand more");
    printer.print(100, settled());
    assert!(!printer.printed.iter().any(|row| row.contains("cargo") || row.contains("words")));
    assert!(printer.tail(10).iter().any(|row| row.contains("cargo build")));
    printer.scene.tool("a", ToolKind::Execute, "cargo build", ToolStatus::Completed);
    printer.scene.end_turn(Stop::EndTurn);
    printer.print(100, settled());
    let whole = printer.whole();
    assert_eq!(printer.printed, whole);
}

#[test]
fn what_is_pushed_out_of_sight_is_said_there_and_printed_when_it_is_finished() {
    let mut printer = Printer::new();
    printer.prompt("go");
    printer.plan("the only step", PlanStatus::Pending);
    for n in 0..30 {
        printer.scene.say(&format!("paragraph {n}\n\n"));
    }
    printer.print(100, Which::Settled { seen: 8 });
    let signs =
        |rows: &[String]| rows.iter().filter(|row| row.contains("not finished, follows below: the plan")).count();
    assert_eq!(signs(&printer.printed), 1);
    assert!(printer.printed.iter().any(|row| row.contains("paragraph 20")));
    assert!(!printer.printed.iter().any(|row| row.contains("the only step")));
    printer.plan("the only step", PlanStatus::Completed);
    printer.scene.end_turn(Stop::EndTurn);
    printer.print(100, Which::Settled { seen: 8 });
    let steps = printer.printed.iter().filter(|row| row.contains("the only step")).count();
    assert_eq!((signs(&printer.printed), steps), (1, 1), "{:#?}", printer.printed);
}

#[test]
fn a_call_that_was_passed_over_is_called_as_in_its_row_and_stands_before_what_tells_of_it() {
    let mut printer = Printer::new();
    printer.prompt("go");
    let status = |status| {
        let mut patch = ToolPatch::new("a".into());
        (patch.kind, patch.status) = (Patch::Set(ToolKind::Edit), Patch::Set(status));
        patch.title = Patch::Set("src/main.rs: fn add(a: i32) ... => fn add(a: u32) ...".into());
        patch.locations = Patch::Set(vec![Location { path: "/home/me/src/shop/src/main.rs".into(), line: None }]);
        Update::ToolCall(patch.into())
    };
    printer.scene.update(status(ToolStatus::InProgress));
    let mode = ModeChoice::read("acceptEdits").unwrap();
    printer.scene.intent(Intent::SetPermissionMode(mode));
    let notice = printer.scene.model.first().entries().last().unwrap().clone();
    let Body::Notice(notice) = notice.body else { panic!("{notice:?}") };
    for n in 0..30 {
        printer.scene.say(&format!("paragraph {n}\n\n"));
    }
    printer.print(100, Which::Settled { seen: 8 });
    let at = |printer: &Printer, words: &str| printer.printed.iter().position(|row| row.contains(words));
    assert!(at(&printer, "not finished, follows below: edit src/main.rs").is_some(), "{:#?}", printer.printed);
    assert!(at(&printer, "paragraph 20").is_some());
    let title = notice.title.split(' ').take(3).collect::<Vec<_>>().join(" ");
    assert_eq!(at(&printer, &title), None, "it waits for the call: {:#?}", printer.printed);
    printer.scene.update(status(ToolStatus::Completed));
    printer.scene.end_turn(Stop::EndTurn);
    printer.print(100, Which::Settled { seen: 8 });
    let (call, told) = (at(&printer, "✓ edit"), at(&printer, &title));
    assert!(call.is_some() && call < told, "{:#?}", printer.printed);
}

#[test]
fn what_was_passed_over_is_printed_behind_the_answer_that_is_on_its_way() {
    let mut printer = Printer::new();
    printer.prompt("go");
    printer.plan("the only step", PlanStatus::InProgress);
    for n in 0..30 {
        printer.scene.say(&format!("paragraph {n}\n\n"));
        printer.print(100, Which::Settled { seen: 8 });
    }
    printer.plan("the only step", PlanStatus::Completed);
    printer.print(100, Which::Settled { seen: 8 });
    printer.scene.say("paragraph 30");
    printer.scene.end_turn(Stop::EndTurn);
    // A page at a time, too.
    while printer.print(4, Which::Settled { seen: 8 }) > 0 {}
    let at = |words: &str| printer.printed.iter().rposition(|row| row.contains(words));
    let (answer, plan, end) = (at("paragraph 30"), at("the only step"), printer.printed.len());
    assert!(answer.is_some() && answer < plan && plan < Some(end), "{:#?}", printer.printed);
}

#[test]
fn a_call_that_was_refused_is_printed_where_it_stands_though_its_agent_says_no_more_of_it() {
    let mut printer = Printer::new();
    printer.prompt("go");
    printer.scene.ask(1, "touch refused.rs", &["Yes"]);
    printer.scene.intent(Intent::Refuse { req: ReqId(1), reason: String::new() });
    let last = printer.scene.model.first().entries().last().unwrap().clone();
    assert!(matches!(&last.body, Body::Tool(call) if call.is_turned_down()), "{last:?}");
    printer.print(100, Which::Settled { seen: 8 });
    assert!(!printer.printed.iter().any(|row| row.contains("refused.rs")), "more may come: {:#?}", printer.printed);
    for n in 0..30 {
        printer.scene.say(&format!("paragraph {n}\n\n"));
        printer.print(100, Which::Settled { seen: 8 });
    }
    printer.scene.end_turn(Stop::EndTurn);
    printer.print(100, Which::Settled { seen: 8 });
    let whole = printer.whole();
    assert_eq!(printer.printed, whole);
}

#[test]
fn what_a_call_that_was_passed_over_has_written_has_no_row_of_its_own() {
    use crate::model::event::{AgentRequest, WriteFact, WriteHow};
    let mut printer = Printer::new();
    printer.prompt("go");
    let patch = |status| {
        let mut patch = ToolPatch::new("a".into());
        (patch.kind, patch.status) = (Patch::Set(ToolKind::Edit), Patch::Set(status));
        let change = Change::of_texts("src/main.rs", Some("old\n".into()), "new\n".into());
        patch.content = Patch::Set(vec![ToolContent::Change(change)]);
        Update::ToolCall(patch.into())
    };
    printer.scene.update(patch(ToolStatus::InProgress));
    let (req, path, how) = (ReqId(1), "/home/me/src/shop/src/main.rs", WriteHow::default());
    let request = AgentRequest::WriteFile { path: path.into(), content: "new\n".into(), how };
    let session = Some(crate::ui::fixtures::session());
    printer.scene.agent(AgentEvent::Request { req, session, request: request.into() });
    let (real, outside, result) = (None, false, Ok(()));
    printer.scene.event(Event::Host(HostEvent::WriteChecked { req, path: path.into(), real, outside, result }));
    let result = Ok(WriteFact { created: false, bytes: 4, old: Some("old\n".into()), outside: None });
    printer.scene.event(Event::Host(HostEvent::FileWritten { req, path: path.into(), result }));
    for n in 0..30 {
        printer.scene.say(&format!("paragraph {n}\n\n"));
    }
    printer.print(100, Which::Settled { seen: 8 });
    assert!(printer.printed.iter().any(|row| row.contains("not finished, follows below: edit src/main.rs")));
    printer.scene.update(patch(ToolStatus::Completed));
    printer.scene.end_turn(Stop::EndTurn);
    printer.print(100, Which::Settled { seen: 8 });
    let rows = |words: &str| printer.printed.iter().filter(|row| row.contains(words)).count();
    assert_eq!((rows("✓ edit   src/main.rs"), rows("wrote")), (1, 0), "{:#?}", printer.printed);
}

#[test]
fn an_edit_is_printed_once_it_is_known_where_it_stands_in_its_file() {
    let mut printer = Printer::new();
    printer.scene.model = std::mem::take(&mut printer.scene.model).with_review(true);
    printer.prompt("go");
    let mut patch = ToolPatch::new("a".into());
    (patch.kind, patch.status) = (Patch::Set(ToolKind::Edit), Patch::Set(ToolStatus::Completed));
    let change = Change::of_texts("src/main.rs", Some("old\n".into()), "new\n".into());
    patch.content = Patch::Set(vec![ToolContent::Change(change)]);
    printer.scene.update(Update::ToolCall(patch.into()));
    let entry = printer.scene.model.first().entries().last().unwrap().id;
    printer.scene.say("It is mended.\n\nAnd more");
    printer.print_uncoloured();
    assert!(!printer.printed.iter().any(|row| row.contains("src/main.rs")), "{:#?}", printer.printed);
    let found = ReviewEvent::PlacesFound { entry, lines: vec![Some(31)] };
    printer.scene.event(Event::Host(HostEvent::Review(found)));
    printer.print_uncoloured();
    assert!(printer.printed.iter().any(|row| row.contains("31 + new")), "{:#?}", printer.printed);
}

#[test]
fn calls_that_share_a_row_are_printed_when_no_further_one_can() {
    let mut printer = Printer::new();
    printer.prompt("go");
    for n in 0..3 {
        printer.scene.tool(&format!("r{n}"), ToolKind::Read, &format!("Read file{n}.rs"), ToolStatus::Completed);
        printer.print(100, settled());
    }
    assert!(!printer.printed.iter().any(|row| row.contains("read")), "{:?}", printer.printed);
    printer.scene.say("done");
    printer.scene.end_turn(Stop::EndTurn);
    printer.print(100, settled());
    let whole = printer.whole();
    assert_eq!(printer.printed, whole);
}

#[test]
fn a_call_whose_row_one_that_still_runs_could_share_waits_for_that_one() {
    let mut printer = Printer::new();
    printer.prompt("go");
    printer.scene.tool("a", ToolKind::Search, "Find it", ToolStatus::InProgress);
    printer.scene.tool("b", ToolKind::Read, "Read it.rs", ToolStatus::InProgress);
    printer.scene.tool("a", ToolKind::Search, "Find it", ToolStatus::Completed);
    printer.print(100, settled());
    assert!(!printer.printed.iter().any(|row| row.contains("Find it")), "{:#?}", printer.printed);
    printer.scene.tool("b", ToolKind::Read, "Read it.rs", ToolStatus::Completed);
    printer.scene.end_turn(Stop::EndTurn);
    printer.print(100, settled());
    let whole = printer.whole();
    assert_eq!(printer.printed, whole);
    assert!(whole.iter().any(|row| row.contains("2 calls")), "they share a row: {whole:#?}");
}

#[test]
fn a_finished_call_is_printed_before_it_is_pushed_out_of_sight() {
    let mut printer = Printer::new();
    printer.prompt("go");
    printer.scene.tool("a", ToolKind::Read, "Read a.rs", ToolStatus::InProgress);
    printer.scene.tool("b", ToolKind::Read, "Read b.rs", ToolStatus::InProgress);
    printer.scene.tool("a", ToolKind::Read, "Read a.rs", ToolStatus::Completed);
    for n in 0..20 {
        printer.scene.say(&format!("paragraph {n}\n\n"));
    }
    printer.print(100, Which::Settled { seen: 8 });
    let has = |words: &str| printer.printed.iter().any(|row| row.contains(words));
    assert!(has("✓ read   a.rs") && !has("follows below: Read a.rs"), "{:#?}", printer.printed);
    assert!(has("follows below") && has("b.rs"), "{:#?}", printer.printed);
}

#[test]
fn only_the_end_of_a_long_conversation_is_printed_when_that_is_wanted() {
    let mut printer = Printer::new();
    printer.prompt("go");
    for n in 0..300 {
        printer.scene.say(&format!("paragraph {n}\n\n"));
    }
    printer.scene.end_turn(Stop::EndTurn);
    let is_cut = printer.with(|transcript, cx, mark| transcript.skip_to_last(cx, WIDTH, 50, mark));
    printer.print(7, settled());
    let whole = printer.whole();
    assert!(is_cut);
    assert_eq!(printer.printed, whole[whole.len() - 50..]);
}

#[derive(Clone, Debug)]
enum Op {
    Prompt,
    Say(String),
    Think,
    Begin(u8, u8),
    End(u8),
    Plan(bool),
    Turn,
    Print(u16),
}

fn op() -> impl Strategy<Value = Op> {
    let text = prop_oneof![
        Just("some words ".to_owned()),
        Just("\n\n".to_owned()),
        Just("- a point\n- another\n".to_owned()),
        Just("```rust\nfn main() {}\n```\n".to_owned()),
        Just("| a | b |\n|---|---|\n| 1 | 2 |\n".to_owned()),
        "[a-z]{1,12}( [a-z]{1,12}){0,30}",
    ];
    prop_oneof![
        1 => Just(Op::Prompt),
        6 => text.prop_map(Op::Say),
        1 => Just(Op::Think),
        3 => (0..12u8, 0..4u8).prop_map(|(id, kind)| Op::Begin(id, kind)),
        4 => (0..12u8).prop_map(Op::End),
        1 => any::<bool>().prop_map(Op::Plan),
        1 => Just(Op::Turn),
        4 => (1..40u16).prop_map(Op::Print),
    ]
}

fn perform(printer: &mut Printer, ops: &[Op], seen: u32) -> u32 {
    let kinds = [ToolKind::Read, ToolKind::Execute, ToolKind::Search, ToolKind::Edit];
    let mut calls = std::collections::BTreeMap::new();
    let mut n = 0;
    for op in ops {
        let works = printer.scene.model.first().session().turn.is_some();
        match op {
            Op::Prompt if !works => printer.prompt("a prompt"),
            // What comes between turns changes what is finished, and what is printed stays.
            Op::Begin(..) | Op::End(_) | Op::Plan(_) | Op::Say(_) if !works => {}
            Op::Prompt => {}
            Op::Say(text) => printer.scene.say(text),
            Op::Think => printer.scene.chunk(ChunkKind::Thought, "a thought\n\nof several words"),
            Op::Begin(id, kind) => {
                n += 1;
                let (name, kind) = (format!("call-{n}"), kinds[usize::from(*kind)]);
                printer.scene.tool(&name, kind, &format!("title{n}x"), ToolStatus::InProgress);
                calls.insert(*id, (name, kind, n));
            }
            Op::End(id) => {
                if let Some((name, kind, n)) = calls.remove(id) {
                    printer.scene.tool(&name, kind, &format!("title{n}x"), ToolStatus::Completed);
                }
            }
            Op::Plan(done) => {
                let status = if *done { PlanStatus::Completed } else { PlanStatus::InProgress };
                printer.plan("a step", status);
            }
            Op::Turn => {
                printer.scene.end_turn(Stop::EndTurn);
                calls.clear();
            }
            Op::Print(most) => {
                printer.print(*most, Which::Settled { seen });
                printer.tail(10);
            }
        }
    }
    printer.scene.end_turn(Stop::EndTurn);
    n
}

#[test]
fn paragraphs_behind_what_draws_nothing_are_printed_once() {
    let mut printer = Printer::new();
    printer.prompt("the first prompt");
    printer.print(33, Which::Settled { seen: ENDLESS });
    printer.scene.chunk(ChunkKind::Thought, " ");
    printer.scene.say("one\n\ntwo\n\nthree\n\nfour");
    for _ in 0..3 {
        printer.print(33, Which::Settled { seen: ENDLESS });
    }
    printer.scene.end_turn(Stop::EndTurn);
    printer.print(33, Which::All);
    let whole = printer.whole();
    assert_eq!(printer.printed, whole);
}

#[test]
fn a_paragraph_that_comes_after_all_was_printed_is_printed_too() {
    let mut printer = Printer::new();
    printer.prompt("the first prompt");
    printer.scene.say("- a point\n- another\n");
    printer.scene.end_turn(Stop::EndTurn);
    printer.print(33, Which::Settled { seen: ENDLESS });
    printer.scene.say("\n\nwords that came late");
    printer.print(33, Which::All);
    assert_eq!(printer.printed.last().map(|row| row.trim()), Some("words that came late"), "{:#?}", printer.printed);
    let whole = printer.whole();
    assert_eq!(printer.printed, whole);
}

proptest! {
    #![proptest_config(crate::random(96))]

    /// Whatever happened in between, what was printed is what the full screen shows, row by row.
    #[test]
    fn all_is_printed_once_and_in_order(ops in prop::collection::vec(op(), 1..60)) {
        let mut printer = Printer::new();
        printer.prompt("the first prompt");
        perform(&mut printer, &ops, ENDLESS);
        printer.print(33, Which::All);
        let whole = printer.whole();
        prop_assert_eq!(&printer.printed, &whole);
    }

    /// Where what is not finished is passed over, the order differs, and still each is printed once.
    #[test]
    fn nothing_that_was_passed_over_is_lost_or_printed_twice(ops in prop::collection::vec(op(), 1..60), seen in 1..12u32) {
        let mut printer = Printer::new();
        printer.prompt("the first prompt");
        perform(&mut printer, &ops, seen);
        printer.print(33, Which::All);
        let is_sign = |row: &&String| !row.contains("not finished, follows below");
        let words = |rows: &[String]| {
            let mut words: Vec<String> = rows.iter().filter(is_sign).flat_map(|row| row.split_whitespace()).map(str::to_owned).collect();
            words.retain(|word| word.starts_with("title") || word.len() > 2 && word.bytes().all(|b| b.is_ascii_lowercase()));
            words.sort();
            words
        };
        let whole = printer.whole();
        let titles = |rows: &[String]| words(rows).into_iter().filter(|word| word.starts_with("title")).collect::<Vec<_>>();
        let once = |rows: &[String]| { let mut all = titles(rows); let n = all.len(); all.dedup(); n == all.len() };
        prop_assert!(once(&printer.printed), "{:#?}", printer.printed);
        for title in titles(&whole) {
            prop_assert!(titles(&printer.printed).contains(&title), "{title} is lost: {:#?}", printer.printed);
        }
    }
}
