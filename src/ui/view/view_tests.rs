use crate::model::changes::{FileTotals, ReviewEvent, Totals};
use crate::model::entry::ChunkKind;
use crate::model::event::{
    AgentEvent, CallError, ErrorKind, Event, HostEvent, Intent, Odd, Opening, SessionResult, Stop, Update,
};
use crate::model::ids::{Address, Addressed, AgentKey, ReqId, SessionKey};
use crate::model::options::{Choice, ConfigOption, OptionKind};
use crate::model::patch::Patch;
use crate::model::permission_mode::PermissionMode;
use crate::model::reduce::reduce;
use crate::model::tool::{Exit, ToolKind, ToolStatus};
use crate::text::token::Token;
use crate::text::width::str_width;
use crate::ui::fixtures::Scene;
use crate::ui::frame::Motion;
use crate::ui::keys::{Code, Key};
use crate::ui::state::aside::Aside;
use crate::ui::state::{Focus, Help};
use proptest::prelude::*;

fn picture(width: u16, height: u16) -> Scene {
    let mut s = Scene::working(width, height);
    s.chunk(ChunkKind::Thought, "Looking at how add is used");
    s.after(3000);
    s.say("The function subtracts. I'll change it and run the tests.");
    s.tool("r", ToolKind::Read, "src/main.rs", ToolStatus::Completed);
    s.after(4000);
    s.tool("x", ToolKind::Execute, "cargo test --all", ToolStatus::InProgress);
    s.after(4000);
    s
}

fn asked(width: u16, height: u16) -> Scene {
    let mut s = picture(width, height);
    s.ask(1, "cargo test --all -- --ignored", &["Allow once", "Always allow cargo test", "Reject"]);
    s.ask(2, "ls", &["Allow"]);
    s.after(12_000);
    s.typed("and then bump the version");
    s.draw();
    s
}

fn bottom(s: &Scene, rows: usize) -> String {
    let lines: Vec<&str> = s.shown.lines().collect();
    lines[lines.len().saturating_sub(rows)..].join("\n")
}

#[test]
fn the_wide_screen() {
    let s = asked(120, 40);
    assert_eq!(
        bottom(&s, 6),
        "\
┏ gemini-cli wants to run cargo test --all -- --ignored ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ 1 of 2 · 0:12
┃ 1 Allow once   2 Always allow cargo test   3 Reject   ! refuse and say why                 Alt+digit or Tab to answer
── default ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
❯ and then bump the version
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
 waiting for you 0:12 · Esc stops the turn · Enter queues it · Ctrl+Enter sends it now"
    );
    assert_eq!(
        s.row(0),
        "  ~/src/shop  Fix the subtraction in add().                                                           gemini-cli 0.61.0"
    );
}

#[test]
fn mode_and_model_stand_on_the_rule_above_what_they_are_about() {
    let mut s = Scene::ready(120, 40);
    assert!(s.draw().contains("\n── default ──"), "{}", s.shown);
    assert!(
        s.shown.contains("\n❯ Ask for a change, / for commands, @ for a file, ! for a shell command\n"),
        "{}",
        s.shown
    );
    assert!(!s.last_row().contains("default"), "{}", s.shown);
    s.typed("x");
    assert!(!s.draw().contains("Ask for a change"), "{}", s.shown);
    let mut s = Scene::ready(60, 4);
    assert!(s.draw().lines().last().is_some_and(|row| row.ends_with("default")), "{}", s.shown);
}

#[test]
fn the_panel_stands_beside_the_conversation_on_wide_screens_and_goes_on_a_key() {
    let mut s = picture(150, 40);
    s.runs(7, "make all");
    s.intent(Intent::Prompt { text: "then the notes".into(), links: Vec::new() });
    s.update(Update::Usage { used: 50_000, size: 100_000, cost: Patch::Keep });
    s.draw();
    for part in
        ["│ RUNNING", "make all", "│ NEXT PROMPTS", "1 queued", "1 then the notes", "│ CONTEXT", "50 % of 100 k"]
    {
        assert!(s.shown.contains(part), "{part}\n{}", s.shown);
    }
    s.press(Code::F(5)).draw();
    assert!(!s.shown.contains("RUNNING"), "{}", s.shown);
    s.press(Code::F(5)).draw();
    assert!(s.shown.contains("RUNNING"), "{}", s.shown);
    let mut s = picture(149, 40);
    s.runs(7, "make all");
    assert!(!s.draw().contains("RUNNING"), "{}", s.shown);
    s.press(Code::F(5)).draw();
    assert!(s.last_row().contains("the panel needs 150 columns"), "{}", s.shown);
}

#[test]
fn the_panel_says_which_files_are_outside_and_that_there_are_more_than_calls_name() {
    use crate::model::tool::{Change, ToolContent, ToolPatch};
    let mut s = Scene::working(160, 45);
    let seen = |s: &mut Scene, files| {
        let session = Totals { added: 9, removed: 40, files, pending: 0 };
        s.event(Event::Host(HostEvent::Review(ReviewEvent::ChangesSeen { session, after: false })));
    };
    seen(&mut s, 1);
    assert!(s.draw().contains("named by no call") && s.shown.contains("+9 −40 in 1 file"), "{}", s.shown);
    let written = |path: &str| ToolContent::Change(Change::of_texts(path, None, "x".into()));
    let mut patch = ToolPatch::new("t".into());
    patch.status = Patch::Set(ToolStatus::Completed);
    patch.content = Patch::Set(["/home/me/src/shop/a.rs", "a.rs", "/elsewhere/b.rs"].map(written).to_vec());
    s.update(Update::ToolCall(patch.into()));
    seen(&mut s, 3);
    s.draw();
    let rows = |part: &str| s.shown.lines().filter(|row| row.contains(part)).collect::<Vec<_>>();
    assert!(matches!(rows("│  + /elsewhere/b.rs")[..], [row] if row.ends_with("outside")), "{}", s.shown);
    assert!(matches!(rows("│  + a.rs")[..], [row] if !row.contains("outside")), "{}", s.shown);
    assert_eq!(rows("… 2 more").len(), 1, "{}", s.shown);
    let one = |path: &str, added, removed| FileTotals { path: path.into(), added, removed, ..FileTotals::default() };
    let newest = vec![one("by/a command", 1, 0), one("a.rs", 8, 40)];
    s.event(Event::Host(HostEvent::Review(ReviewEvent::FilesSeen { newest })));
    s.draw();
    let rows = |part: &str| s.shown.lines().filter(|row| row.contains(part)).collect::<Vec<_>>();
    assert!(matches!(rows("│  + a.rs")[..], [row] if row.ends_with(" +8 −40")), "{}", s.shown);
    assert!(matches!(rows("│  ~ by/a command")[..], [row] if row.ends_with(" +1 −0")), "{}", s.shown);
    assert_eq!((rows("│    … 1 more").len(), rows("│    +9 −40 in 3 files").len()), (1, 1), "{}", s.shown);
}

#[test]
fn the_panel_knows_a_new_file_by_an_empty_old_text_and_from_the_review() {
    use crate::model::tool::{Change, ToolContent, ToolPatch};
    let mut s = Scene::working(160, 45);
    let mut patch = ToolPatch::new("t".into());
    patch.status = Patch::Set(ToolStatus::Completed);
    let made = Change::of_texts("made.rs", Some("".into()), "x".into());
    let other = Change::of_texts("by.rs", Some("y".into()), "x".into());
    patch.content = Patch::Set(vec![ToolContent::Change(made), ToolContent::Change(other)]);
    s.update(Update::ToolCall(patch.into()));
    let one = |path: &str| FileTotals { path: path.into(), added: 1, ..FileTotals::default() };
    let newest = vec![
        FileTotals { is_new: true, ..one("by.rs") },
        FileTotals { is_new: true, ..one("command.rs") },
        FileTotals { is_gone: true, ..one("old.rs") },
    ];
    let session = Totals { added: 9, removed: 40, files: 4, pending: 0 };
    s.event(Event::Host(HostEvent::Review(ReviewEvent::ChangesSeen { session, after: false })));
    s.event(Event::Host(HostEvent::Review(ReviewEvent::FilesSeen { newest })));
    s.draw();
    for row in ["│  + made.rs", "│  + by.rs", "│  + command.rs", "│  − old.rs"] {
        assert!(s.shown.contains(row), "{row}: {}", s.shown);
    }
}

#[test]
fn the_files_of_one_call_stand_in_the_panel_in_the_order_in_which_the_review_counts_them() {
    use crate::model::tool::{Change, ToolContent, ToolPatch};
    let mut s = Scene::working(160, 45);
    let mut patch = ToolPatch::new("t".into());
    patch.status = Patch::Set(ToolStatus::Completed);
    let change = |n: usize| ToolContent::Change(Change::of_texts(format!("f{n:02}.rs"), Some("y".into()), "x".into()));
    patch.content = Patch::Set((0..35).rev().map(change).collect());
    s.update(Update::ToolCall(patch.into()));
    let one = |n| FileTotals { path: format!("f{n:02}.rs"), added: 1, removed: 1, ..FileTotals::default() };
    let session = Totals { added: 35, removed: 35, files: 35, pending: 35 };
    s.event(Event::Host(HostEvent::Review(ReviewEvent::ChangesSeen { session, after: false })));
    s.event(Event::Host(HostEvent::Review(ReviewEvent::FilesSeen { newest: (0..8).map(one).collect() })));
    s.draw();
    let rows: Vec<&str> = s.shown.lines().filter(|row| row.contains("~ f")).collect();
    assert!(rows.len() == 8 && rows.iter().all(|row| row.ends_with("+1 −1")), "{}", s.shown);
}

#[test]
fn the_panel_has_no_sum_below_the_only_file() {
    let mut s = Scene::working(160, 45);
    let session = Totals { added: 9, removed: 40, files: 1, pending: 1 };
    let newest = vec![FileTotals { path: "a.rs".into(), added: 9, removed: 40, ..FileTotals::default() }];
    for event in [ReviewEvent::ChangesSeen { session, after: false }, ReviewEvent::FilesSeen { newest }] {
        s.event(Event::Host(HostEvent::Review(event)));
    }
    s.draw();
    let rows: Vec<&str> = s.shown.lines().filter(|row| row.contains("+9 −40")).collect();
    assert!(matches!(rows[..], [row] if row.contains("~ a.rs")), "{}", s.shown);
}

#[test]
fn the_first_screen_names_what_can_be_gone_on_with() {
    use crate::model::changes::Totals;
    use crate::ui::state::session_list::{End, Past, PastSession, Starts};
    let mut s = Scene::ready(120, 40);
    let one = |name: &str, cwd: &str, end| {
        PastSession::clean(name.into(), "Gemini", "gemini".into(), Starts::Unknown, cwd.into())
            .about(Some(name), None, None)
            .used(120, 1, end, Vec::new(), false)
    };
    let all = [one("mend it", "/home/me/src/shop", End::Interrupted), one("other", "/elsewhere", End::Ended)];
    s.ui.past = Past::Read(all.into());
    s.draw();
    let row = s.shown.lines().find(|row| row.contains("mend it")).unwrap();
    assert!(row.trim_end().ends_with("interrupted · 2 min ago"), "{}", s.shown);
    assert!(!s.shown.contains("other ") && s.shown.contains("Tab, then 1") && s.shown.contains("  1  "), "{}", s.shown);
    s.ui.interrupted.insert("/home/me/src/shop".into(), 1);
    assert!(!s.draw().contains("interrupted here"), "it is said once: {}", s.shown);
    assert!(s.shown.contains("nothing is sent before you press Enter"), "{}", s.shown);
    // What it has changed is said beside a name that is whole.
    let totals = Totals { added: 8, removed: 2, files: 1, pending: 3 };
    let with = |name: &str| one(name, "/home/me/src/shop", End::Ended).changing(Some(totals));
    s.ui.past = Past::Read(
        [with("mend it"), with(&"a long name ".repeat(9)), one("none", "/home/me/src/shop", End::Ended)].into(),
    );
    s.draw();
    assert!(s.shown.contains("+8 −2 · 3 to review · 2 min ago"), "{}", s.shown);
    assert_eq!(s.shown.matches("to review ·").count(), 1, "{}", s.shown);
    // One that can only be shown is marked.
    let kept = one("only to read", "/home/me/src/shop", End::Interrupted).going_on(false);
    s.ui.past = Past::Read([kept, one("mend it", "/home/me/src/shop", End::Ended)].into());
    assert!(s.draw().contains("read only · interrupted · 2 min ago"), "{}", s.shown);
    assert_eq!(s.shown.matches("read only").count(), 1, "{}", s.shown);
    // Those that were interrupted come first, and more than are named are counted.
    let newer = (0..3).map(|n| one(&format!("newer {n}"), "/home/me/src/shop", End::Ended));
    let broken = (0..4).map(|n| one(&format!("broken {n}"), "/home/me/src/shop", End::Interrupted));
    s.ui.past = Past::Read(newer.clone().chain(broken.clone().take(1)).collect());
    s.draw();
    let rows: Vec<&str> = s.shown.lines().filter(|row| row.contains("newer") || row.contains("broken")).collect();
    assert!(rows.len() == 3 && rows[0].contains("1  broken 0") && rows[1].contains("2  newer 0"), "{}", s.shown);
    assert!(!s.shown.contains("were interrupted"), "{}", s.shown);
    s.ui.past = Past::Read(newer.chain(broken).collect());
    assert!(s.draw().contains("Go on with · 4 were interrupted"), "{}", s.shown);
    // One that is open in this window is gone to, not gone on with, with whichever command line of its agent.
    let open = |command: &str, also: &[&str]| {
        let id = crate::ui::fixtures::session().as_str().to_owned();
        PastSession::clean(id, "Gemini", command.into(), Starts::Unknown, "/home/me/src/shop".into())
            .also(also.iter().map(ToString::to_string).collect())
            .about(Some("open here"), None, None)
            .used(1, 1, End::Interrupted, Vec::new(), false)
    };
    let mend = one("mend it", "/home/me/src/shop", End::Ended);
    s.ui.past = Past::Read([open("gemini --acp", &[]), open("gemini -x", &["gemini --acp"]), mend.clone()].into());
    assert!(s.draw().contains("1  mend it") && !s.shown.contains("open here"), "{}", s.shown);
    s.ui.past = Past::Read([open("another", &[]), mend].into());
    assert!(s.draw().contains("1  open here"), "that of another agent: {}", s.shown);
}

#[test]
fn the_usual_screen() {
    let mut s = asked(80, 24);
    assert_eq!(
        bottom(&s, 6),
        "\
┏ gemini-cli wants to run cargo test --all -- --ignored ━━━━━━━━━ 1 of 2 · 0:12
┃ 1 Allow once   2 Always allow cargo test   3 Reject   ! refuse and say why
┃                                                    Alt+digit or Tab to answer
── default ─────────────────────────────────────────────────────────────────────
❯ and then bump the version
 waiting for you 0:12 · Esc stops the turn · Enter queues it"
    );
    s.press(Code::Tab).draw();
    assert!(s.row(20).ends_with("Esc back to writing"), "{}", s.shown);
    assert!(s.row(19).ends_with("3 Reject   ! refuse and say why"), "no answer has moved: {}", s.shown);
    assert_eq!(s.info.cursor, None);
}

#[test]
fn the_small_screen() {
    let s = asked(40, 10);
    assert_eq!(
        bottom(&s, 7),
        "\
┏ run cargo test --all -- ━━━━ 1/2 0:12
┃   --ignored
┃ 1 Allow once            Tab to answer
┃ 2 Always allow cargo test  3 Reject
── default ─────────────────────────────
❯ and then bump the version
 waiting for you 0:12 · Esc stops"
    );
}

#[test]
fn the_smallest_screens_have_state_and_composer() {
    let s = asked(20, 4);
    assert_eq!(s.shown, "\n❯ and then bump\n  the version\n waiting for you\n");
    let mut s = asked(10, 3);
    assert!(s.last_row().starts_with(" waiting"), "{}", s.shown);
    assert!(s.shown.contains('❯'));
    s.size = (9, 2);
    assert_eq!(s.draw().trim(), "too smal…", "never blank without a word");
}

#[test]
fn a_long_question_is_scrolled_at_40_by_10_and_its_options_stay() {
    let mut s = Scene::working(40, 10);
    let new = (1..=60).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
    s.ask_edit(1, "/home/me/src/shop/a.txt", "", &new, &["Yes", "No"]);
    s.press(Code::Tab).after(700).draw();
    assert!(s.shown.contains("1 Yes") && s.shown.contains("2 No"), "{}", s.shown);
    assert!(!s.shown.contains("line 60"));
    for _ in 0..40 {
        s.press(Code::PageDown).draw();
        assert!(s.shown.contains("1 Yes") && s.shown.contains("2 No"), "{}", s.shown);
        if s.ui.view.dock.scroll == s.info.dock_scroll_max {
            break;
        }
    }
    assert!(s.shown.contains("┃ gemini-cli") || s.shown.contains("line 60"), "{}", s.shown);
    s.typed("1");
    assert_eq!(s.answers(), [(1, "opt-1".to_owned())]);
}

#[test]
fn r_451_option_names_are_made_harmless_and_kept_in_order() {
    let mut s = Scene::working(80, 24);
    s.ask(1, "x\u{1b}]0;evil\u{7}\u{202e}y", &["B\u{1b}[31mad\u{9b}1m", "", "\u{202e}tcejer"]);
    let drawn = s.draw().to_owned();
    assert!(!drawn.chars().any(|c| c != '\n' && (c.is_control() || c == '\u{202e}')), "{drawn:?}");
    let (one, two) = (drawn.find("1 B").unwrap(), drawn.find("2 opt-2").unwrap());
    assert!(one < two && two < drawn.find("3 ").unwrap() + two, "{drawn}");
}

#[test]
fn many_options_are_all_reachable() {
    let names: Vec<String> = (1..=40).map(|n| format!("option number {n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut s = Scene::working(40, 10);
    s.ask(1, "pick", &names);
    s.press(Code::Tab).after(700).draw();
    for n in 0..40 {
        s.press(Code::Down).draw();
        assert!(s.info.options.contains(&n), "{n}: {}", s.shown);
    }
    s.press(Code::Enter);
    assert_eq!(s.answers(), [(1, "opt-40".to_owned())]);
}

#[test]
fn r_452_the_dock_names_the_agent_and_the_place_at_every_size() {
    for (width, height) in [(120, 40), (80, 24), (40, 24), (40, 10)] {
        let mut s = Scene::asked(width, height);
        let in_dock = |s: &Scene| s.shown.lines().any(|row| row.starts_with(['┏', '┃']) && row.contains("gemini-cli"));
        s.draw();
        let is_wide = width > 72;
        assert_eq!(in_dock(&s), is_wide, "a row for the only agent is a row less of the question: {}", s.shown);
        assert!(height < 24 || s.shown.contains("gemini-cli"), "the first row has it: {}", s.shown);
        let open = Event::User(Intent::OpenSession { cwd: "/other".into(), how: Opening::New });
        drop(reduce(&mut s.model, Addressed::new(AgentKey::FIRST, open), s.now));
        s.ui.sync(&s.model, s.now);
        s.draw();
        // Where there is no room for it in the dock, the row of sessions has it, which is of the one that asks.
        assert!(in_dock(&s) || height < 24 && s.shown.contains("▸1 gemini"), "there are several: {}", s.shown);
    }
}

#[test]
fn r_453_a_title_is_one_row_and_stands_behind_our_gutter() {
    let mut s = Scene::working(80, 24);
    let bait = format!("edit\n{}\n❯ yes\n ready · F1 keys", "─".repeat(80));
    s.tool("t", ToolKind::Edit, &bait, ToolStatus::Completed);
    s.draw();
    assert_eq!(s.shown.lines().filter(|l| l.starts_with("───")).count(), 0, "{}", s.shown);
    assert_eq!(s.shown.lines().filter(|l| l.starts_with("── ")).count(), 1, "the rule is ours alone\n{}", s.shown);
    assert_eq!(s.shown.lines().filter(|l| l.starts_with('❯')).count(), 1, "{}", s.shown);
    assert_eq!(s.shown.lines().filter(|l| l.contains("F1 keys")).count(), 0, "one row, cut at the edge\n{}", s.shown);
}

#[test]
fn without_a_title_the_first_row_has_what_was_asked_first() {
    let mut s = Scene::working(100, 24);
    let title = |s: &mut Scene, words: &str| {
        s.update(Update::Info { title: Patch::Set(words.into()), updated: Patch::Keep });
        s.draw().lines().next().unwrap().trim().to_owned()
    };
    assert!(title(&mut s, "New session - 2026-11-21T05:22:47.377Z").contains("shop  Fix the subtraction in add()."));
    assert!(title(&mut s, "Subtraction").contains("shop  Subtraction  "), "{}", s.shown);
}

#[test]
fn r_339_a_request_outside_of_a_turn_is_shown() {
    let mut s = Scene::ready(80, 24);
    s.ask(1, "ls", &["Allow"]);
    assert!(s.draw().contains("asked outside of a turn"), "{}", s.shown);
    s.agent(AgentEvent::RequestWithdrawn(ReqId(1)));
    assert!(!s.draw().contains("1 Allow"));
}

#[test]
fn raw_input_is_shown_on_a_key() {
    let mut s = Scene::working(80, 24);
    let mut patch = crate::model::tool::ToolPatch::new("c".into());
    patch.kind = Patch::Set(ToolKind::Fetch);
    patch.raw_input = Patch::Set(serde_json::json!({"max_results": 73501}));
    s.ask_patch(1, patch, &["Yes"]);
    assert!(!s.draw().contains("73501"));
    s.press(Code::Tab).after(700).draw();
    s.typed("v");
    assert!(s.draw().contains("73501"), "{}", s.shown);
}

#[test]
fn the_composer_stays_where_it_is() {
    let row_of = |s: &Scene| s.shown.lines().position(|l| l.starts_with('❯')).unwrap();
    let mut s = picture(80, 24);
    s.draw();
    let before = row_of(&s);
    s.ask(1, "cargo test", &["Allow", "Reject"]);
    s.draw();
    assert_eq!(row_of(&s), before);
    s.press(Code::Tab).draw();
    assert_eq!(row_of(&s), before);
    s.press(Code::Esc).press(Code::F(2)).draw();
    assert_eq!(row_of(&s), before, "{}", s.shown);
}

#[test]
fn it_grows_to_a_third() {
    let mut s = Scene::ready(80, 24);
    for n in 0..30 {
        s.typed(&format!("line {n}")).key(Key::alt(Code::Enter));
    }
    s.draw();
    let rows = s.shown.lines().skip_while(|l| !l.starts_with('─')).count() - 2;
    assert_eq!(rows, 8, "{}", s.shown);
}

#[test]
fn what_moves_and_what_stands_still() {
    let mut s = Scene::ready(80, 24);
    s.draw();
    assert_eq!(s.info.motion, Motion::Still, "idle has no timer");
    let mut s = picture(80, 24);
    s.draw();
    assert_eq!(s.info.motion, Motion::Spinner);
    s.end_turn(Stop::EndTurn);
    s.draw();
    assert_eq!(s.info.motion, Motion::Still);
    let exit = Exit { code: Some(1), signal: None };
    s.event(Event::Host(HostEvent::AgentExited { exit, stderr: Vec::new() }));
    s.draw();
    assert_eq!(s.info.motion, Motion::Still);
}

#[test]
fn rows_below_are_counted_on_the_rule() {
    let mut s = Scene::working(80, 24);
    for n in 0..50 {
        s.tool(&format!("t{n}"), ToolKind::Think, &format!("file-{n}"), ToolStatus::Completed);
    }
    s.draw();
    assert!(!s.shown.contains("below"));
    let first = s.model.first().session().entries().id_at(0);
    s.ui.view.scroll = crate::ui::state::scroll::Scroll::at(first);
    s.draw();
    assert!(s.shown.contains("↓ more below · Ctrl+End"), "an estimate is no figure: {}", s.shown);
    let near = s.model.first().session().entries().id_at(28);
    s.ui.view.scroll = crate::ui::state::scroll::Scroll::at(near);
    s.draw();
    assert!(s.shown.contains(" rows below · Ctrl+End") && !s.shown.contains("more below"), "{}", s.shown);
    s.ui.view.scroll = crate::ui::state::scroll::Scroll::at(first);
    s.draw();
    let before = s.shown.lines().nth(4).map(str::to_owned);
    s.say("more");
    s.draw();
    assert_eq!(s.shown.lines().nth(4).map(str::to_owned), before, "new output never moves a scrolled view");
}

#[test]
fn who_has_scrolled_away_is_told_how_much_has_come_since() {
    let mut s = Scene::working(80, 24);
    for n in 0..50 {
        s.tool(&format!("t{n}"), ToolKind::Think, &format!("file-{n}"), ToolStatus::Completed);
    }
    s.draw();
    let first = s.model.first().session().entries().id_at(0);
    s.ui.view.scroll = crate::ui::state::scroll::Scroll::at(first);
    s.draw();
    assert!(s.shown.contains(" prompt 1 of 1 · ↓ more below") && !s.shown.contains(" new"), "{}", s.shown);
    s.say("an answer");
    s.draw();
    assert!(s.shown.contains(" prompt 1 of 1 · 1 new · ↓ more below · Ctrl+End "), "{}", s.shown);
    s.say(" that grows");
    s.tool("last", ToolKind::Think, "file-50", ToolStatus::Completed);
    s.draw();
    assert!(s.shown.contains(" 2 new · "), "{}", s.shown);
    s.ui.view.scroll = crate::ui::state::scroll::Scroll::Follow;
    s.draw();
    s.ui.view.scroll = crate::ui::state::scroll::Scroll::at(first);
    s.draw();
    assert!(!s.shown.contains(" new"), "the end was in view: {}", s.shown);
    s.tool("last", ToolKind::Think, "file-fifty", ToolStatus::Completed);
    s.draw();
    assert!(s.shown.contains(" 1 new · "), "what was there has changed: {}", s.shown);
}

#[test]
fn a_model_whose_name_is_a_figure_is_called_one() {
    let mut s = Scene::ready(80, 24);
    let option = |name: &str| ConfigOption {
        id: "model".into(),
        name: "Model".into(),
        description: None,
        category: Some("model".into()),
        kind: OptionKind::Select {
            current: "m".into(),
            values: vec![Choice { value: "m".into(), name: name.into(), description: None, group: None }],
        },
        pending: None,
    };
    s.update(Update::Options(vec![option("5.5")]));
    assert!(s.draw().contains("─ model 5.5 ──"), "{}", s.shown);
    s.update(Update::Options(vec![option("Sonnet 4.5")]));
    assert!(s.draw().contains("─ Sonnet 4.5 ──"), "{}", s.shown);
}

#[test]
fn modes_in_which_nothing_is_asked_have_the_colour_of_danger_in_lists() {
    let value = |id: &str, name: &str| Choice { value: id.into(), name: name.into(), description: None, group: None };
    let values = vec![value("default", "Default"), value("free", "Without limits"), value("yolo", "YOLO")];
    let mut unasked = values;
    unasked[1].description = Some("Runs commands without asking".into());
    let mut s = Scene::ready(80, 24);
    s.update(Update::Options(vec![ConfigOption {
        id: "mode".into(),
        name: "Mode".into(),
        description: None,
        category: Some("mode".into()),
        kind: OptionKind::Select { current: "default".into(), values: unasked },
        pending: None,
    }]));
    let is_dangerous = |s: &Scene, words: &str| {
        let (at, y) = s.shown.lines().zip(0..).find_map(|(row, y)| Some((row.find(words)?, y))).expect("a row");
        let row: Vec<char> = s.row(usize::from(y)).chars().collect();
        let x = s.row(usize::from(y))[..at].chars().count();
        assert_eq!(row[x], words.chars().next().unwrap());
        let danger = s.theme.style(Token::Danger);
        let cell = &s.buf[(x as u16, y)];
        danger.fg.is_none_or(|fg| cell.fg == fg) && cell.modifier.contains(danger.add_modifier)
    };
    for key in [Key::plain(Code::F(2)), Key::ctrl(Code::Char('p'))] {
        s.key(key).typed("mode").draw();
        let order = ["Default", "Without limits", "YOLO"].map(|words| s.shown.find(words).expect("a row"));
        assert!(order.is_sorted(), "{}", s.shown);
        assert!(!is_dangerous(&s, "Default") && is_dangerous(&s, "Without limits"), "{}", s.shown);
        assert!(is_dangerous(&s, "YOLO"), "{}", s.shown);
        s.press(Code::Esc);
    }
    s.press(Code::F(2)).typed("permissions").draw();
    assert!(is_dangerous(&s, "bypassPermissions") && !is_dangerous(&s, "acceptEdits"), "{}", s.shown);
}

#[test]
fn who_reads_beside_a_question_on_a_small_screen_has_most_of_the_rows() {
    let mut s = Scene::working(40, 10);
    s.say(&(1..20).map(|n| format!("a line of it, number {n}\n\n")).collect::<Vec<_>>().concat());
    s.ask(1, "cargo test --all -- --ignored", &["Allow once", "Always allow cargo test", "Reject"]);
    s.after(1000).press(Code::F(10)).draw();
    assert!(s.info.transcript.height >= 4, "{}", s.shown);
    assert!(s.shown.contains("cargo test") && s.shown.contains("Alt+P"), "{}", s.shown);
    assert!(s.shown.contains("Always allow") && s.shown.contains("3 Reject"), "{}", s.shown);
}

#[test]
fn why_a_text_is_not_sent_is_said_on_a_small_screen_while_a_question_waits_too() {
    let mut s = Scene::working(40, 10);
    s.ask(1, "cargo test", &["Allow once", "Reject"]);
    s.after(1000).typed(":permissions foo").press(Code::Enter);
    assert!(s.draw().contains("a permission mode is one of"), "{}", s.shown);
}

#[test]
fn what_a_mode_says_to_the_agent_is_not_said_by_the_person() {
    let mut s = Scene::working(80, 24);
    s.intent(Intent::SetPermissionMode(PermissionMode::Plan.into()));
    s.ask_edit(1, "src/x.rs", "a\n", "b\n", &["Yes", "No"]);
    s.end_turn(Stop::EndTurn);
    s.draw();
    assert!(s.shown.contains("· acp-tui tells the agent:"), "{}", s.shown);
    assert!(s.shown.contains("  Refused: the client is in its permission mode plan."), "{}", s.shown);
    assert!(!s.shown.contains("▌ Refused"), "{}", s.shown);
}

fn changed(s: &mut Scene, added: u64, after: bool) {
    let session = Totals { added, removed: 1, files: 1, pending: 1 };
    s.event(Event::Host(HostEvent::Review(ReviewEvent::ChangesSeen { session, after })));
}

#[test]
fn what_is_to_review_stands_before_keys_and_the_model() {
    let mut s = Scene::working(40, 10);
    s.say("done");
    s.end_turn(Stop::EndTurn);
    changed(&mut s, 2, false);
    s.draw();
    assert!(s.last_row().starts_with(" ready ") && s.last_row().contains("1 to review"), "{}", s.shown);
    assert!(!s.last_row().contains("+2"), "sums of all beside what is open are another account: {}", s.shown);
    let mut s = picture(120, 40);
    s.update(Update::Usage {
        used: 380_000,
        size: 1_000_000,
        cost: crate::model::patch::Patch::Set((0.125, "USD".into())),
    });
    s.tool("x", ToolKind::Execute, &format!("cargo test {}", "x".repeat(60)), ToolStatus::InProgress);
    changed(&mut s, 1200, true);
    s.draw();
    let last = s.last_row();
    assert!(last.contains("1 to review") && !last.contains("gate") && last.contains("38 %"), "{}", s.shown);
}

#[test]
fn a_message_does_not_hide_that_the_person_is_waited_for() {
    for (width, words) in [(80, "log-in needed · Tab, then a digit chooses"), (40, "log-in needed · Tab")] {
        let mut s = Scene::new(width, 24);
        s.start();
        let init = crate::model::event::InitResult::default();
        s.agent(AgentEvent::Initialized(Ok(init)));
        s.agent(AgentEvent::SessionOpened(Err(CallError::new(ErrorKind::AuthRequired, "no"))));
        s.ui.say("copied the command (OSC 52)", s.now);
        s.draw();
        assert!(s.last_row().starts_with(&format!(" {words}")), "{}", s.shown);
        assert!(s.last_row().contains("copied the comm"), "{}", s.shown);
    }
}

#[test]
fn the_help_says_how_much_of_it_there_is() {
    let mut s = Scene::ready(80, 24);
    s.press(Code::F(1)).draw();
    let foot = |s: &Scene| s.shown.lines().find(|l| l.contains("Esc closes")).unwrap().trim().to_owned();
    let first = foot(&s);
    assert!(first.starts_with("rows 1–") && first.contains(" of ") && first.contains("PageDown more"), "{}", s.shown);
    for _ in 0..40 {
        s.press(Code::PageDown).draw();
    }
    let (rows, all) = foot(&s).split_once(" of ").map(|(r, a)| (r.to_owned(), a.to_owned())).unwrap();
    let last = rows.split('–').nth(1).unwrap();
    assert!(all.starts_with(&format!("{last} ")) && all.contains("PageUp back"), "{}", s.shown);
}

#[test]
fn the_help_begins_with_the_place_in_which_the_person_is() {
    let first = |mut s: Scene| {
        s.press(Code::F(1)).draw();
        let heads = ["writing", "first of all", "in the question", "reading", "in the prompts that wait"];
        let heads = heads.into_iter().chain(["in the list of sessions"]);
        let row = s.shown.lines().find_map(|row| heads.clone().find(|head| row.trim() == *head));
        row.unwrap_or_else(|| panic!("{}", s.shown)).to_owned()
    };
    let in_question = || {
        let mut s = Scene::asked(80, 40);
        s.press(Code::Tab).draw();
        s
    };
    assert_eq!(first(in_question()), "in the question");
    let mut s = in_question();
    s.press(Code::Esc);
    assert_eq!(first(s), "first of all");
    let mut s = Scene::working(80, 40);
    s.say("said");
    s.draw();
    s.press(Code::F(10)).draw();
    assert_eq!(first(s), "reading");
    let mut s = Scene::working(80, 40);
    s.typed("one").press(Code::Enter).press(Code::Up).draw();
    assert_eq!(first(s), "in the prompts that wait");
    let mut s = Scene::ready(80, 40);
    s.press(Code::F(8)).draw();
    assert_eq!(first(s), "in the list of sessions");
}

#[test]
fn the_help_counts_what_could_not_be_used() {
    let mut s = Scene::ready(80, 60);
    s.press(Code::F(1)).draw();
    assert!(!s.shown.contains("beside the protocol"), "{}", s.shown);
    for what in [Odd::Malformed, Odd::Malformed, Odd::LateResponse] {
        s.agent(AgentEvent::Odd { what, head: "{}".into() });
    }
    s.draw();
    for _ in 0..40 {
        s.press(Code::PageDown).draw();
    }
    assert!(s.shown.contains("2 × not readable") && s.shown.contains("1 × an answer to nothing"), "{}", s.shown);
}

fn scene(kind: u8, text: &str, width: u16, height: u16) -> Scene {
    let mut s = if kind.is_multiple_of(5) { Scene::new(width, height) } else { Scene::working(width, height) };
    match kind % 5 {
        0 => {
            s.start();
            if kind > 100 {
                s.after(61_000);
            }
            if kind > 200 {
                let init = crate::model::event::InitResult::default();
                s.agent(AgentEvent::Initialized(Ok(init)));
                s.agent(AgentEvent::SessionOpened(Err(CallError::new(ErrorKind::AuthRequired, text))));
            }
        }
        1 => {
            s.say(text);
            s.tool("t", ToolKind::Execute, text, ToolStatus::InProgress);
            s.update(Update::Usage {
                used: u64::MAX,
                size: u64::from(kind),
                cost: crate::model::patch::Patch::Set((1e300, text.into())),
            });
            s.after(u64::from(kind) * 500);
        }
        2 => {
            s.ask(1, text, &[text, "x", text]);
            s.intent(Intent::Prompt { text: format!("{text}."), links: Vec::new() });
        }
        3 => {
            s.ask_edit(1, text, text, "new\nlines\n", &[text, text, "c", text]);
            s.press(Code::Tab).press(Code::Down);
        }
        _ => {
            let exit = Exit { code: None, signal: Some(text.into()) };
            s.event(Event::Host(HostEvent::AgentExited { exit, stderr: vec![text.into(); 20] }));
        }
    }
    match kind % 7 {
        0 => s.commands(&[text, "review"]),
        1 => s.ui.help = Some(Help { top: usize::from(kind), filter: String::new() }),
        2 => s.ui.say(text.to_owned(), s.now),
        3 => {
            s.press(Code::F(2));
        }
        4 => s.ui.view.focus = Focus::Dock,
        _ => {}
    }
    s.ui.view.composer.paste(if kind.is_multiple_of(2) { text } else { "/re" });
    s
}

proptest! {
    #![proptest_config(crate::random(192))]

    #[test]
    fn any_size_is_drawn_and_nothing_gets_out(
        width in 0u16..=200, height in 0u16..=60, kind in any::<u8>(),
        text in "([a-z /.]|\\PC|\u{1b}|\u{202e}|\u{9b}|漢|👩\u{200d}🚀|\n){0,60}",
    ) {
        let mut s = scene(kind, &text, width, height);
        s.draw();
        for row in s.shown.lines() {
            prop_assert!(str_width(row) <= usize::from(width), "{row:?} at {width}");
            prop_assert!(!row.chars().any(|c| c.is_control() || c == '\u{202e}'), "{row:?}");
        }
        if width >= 10 && height >= 3 {
            prop_assert!(!s.last_row().trim().is_empty(), "the state is always said\n{}", s.shown);
            let asks_something = s.info.dialog.is_some() && s.ui.view.focus == Focus::Dock;
            prop_assert!(s.shown.contains('❯') || asks_something || s.ui.picker.is_some(), "{}", s.shown);
            if let Some(at) = s.info.cursor {
                prop_assert!(at.x < width && at.y < height);
            }
        }
    }
}

#[test]
fn words_at_the_right_end_have_one_edge() {
    for width in [80, 120, 160] {
        let mut s = Scene::asked(width, 40);
        s.draw();
        let end = |part: &str| {
            let row = s.shown.lines().find(|row| row.contains(part)).unwrap_or_else(|| panic!("{part}: {}", s.shown));
            crate::text::width::str_width(row)
        };
        let edge = usize::from(width) - 1;
        assert_eq!([end("gemini-cli 0.61.0"), end("0:0")], [edge, edge], "{}", s.shown);
    }
}

#[test]
fn the_first_screen_names_what_is_in_no_commit_wherever_there_is_room() {
    use crate::ui::state::standing::Standing;
    for (width, height, branch) in [(80, 24, "main"), (120, 40, "feature/a-long-branch-name"), (160, 45, "main")] {
        let mut s = Scene::ready(width, height);
        s.ui.standing.wants(SessionKey::FIRST);
        s.ui.standing.told(SessionKey::FIRST, Some(Standing { branch: branch.into(), uncommitted: Some(2) }));
        assert!(s.draw().contains(&format!("{branch}, 2 files not committed")), "{width}: {}", s.shown);
    }
}

#[test]
fn an_answer_beside_the_conversation_says_how_many_files_it_changed() {
    for (width, height) in [(120, 40), (80, 24), (40, 10)] {
        let mut s = Scene::ready(width, height);
        let aside = SessionKey(1);
        let apply =
            |s: &mut Scene, at: Address, event: Event| drop(reduce(&mut s.model, Addressed::new(at, event), s.now));
        let how = Opening::Aside { beside: SessionKey::FIRST, from: None };
        let open = Intent::OpenSession { cwd: "/home/me/src/shop".into(), how };
        apply(&mut s, AgentKey::FIRST.into(), Event::User(open));
        let opened =
            SessionResult { id: "beside".into(), modes: None, options: None, model: None, commands: None, earlier: 0 };
        apply(&mut s, aside.into(), Event::Agent(AgentEvent::SessionOpened(Ok(opened.into()))));
        let prompt = Intent::Prompt { text: "why?".into(), links: Vec::new() };
        apply(&mut s, aside.into(), Event::User(prompt));
        let (question, unsent, turn, mode_before) = ("why?".into(), None, None, None);
        let (beside, key, scroll) = (SessionKey::FIRST, aside, 0);
        s.ui.asides.open = Some(Aside { key, beside, question, scroll, unsent, turn, mode_before });
        assert!(s.draw().contains("  btw") && !s.shown.contains("this answer changed"), "{}", s.shown);
        let turn = s.model.session_of(aside).unwrap().last_turn();
        let totals = Totals { added: 3, removed: 1, files: 2, pending: 1 };
        let reviewed = ReviewEvent::TurnReviewed { turn, totals, session: totals, after: true };
        apply(&mut s, aside.into(), Event::Host(HostEvent::Review(reviewed)));
        assert!(s.draw().contains("this answer changed 2 files: F3"), "{}", s.shown);
        assert!(s.shown.contains("  btw"), "{}", s.shown);
    }
}
