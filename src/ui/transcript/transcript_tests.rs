use super::*;
use crate::model::Model;
use crate::model::child::ChildPatch;
use crate::model::entry::{Block, ChunkKind, PlanEntry, PlanStatus, Priority};
use crate::model::event::{AgentEvent, Event, Intent, Update};
use crate::model::fixture;
use crate::model::history::fixture::Memory;
use crate::model::ids::{SessionId, ToolId, TurnId};
use crate::model::patch::Patch;
use crate::model::session::Policy;
use crate::model::setup::Setup;
use crate::model::tool::{Change, ToolContent, ToolKind, ToolPatch, ToolStatus};
use crate::text::token::Token;
use crate::ui::state::folds::Fold;
use std::time::Duration;

struct Stage {
    model: Model,
    folds: Folds,
    theme: Theme,
    now: Duration,
    transcript: Transcript,
    /// Where entries are that leave memory.
    history: Memory,
    scroll: Scroll,
}

impl Stage {
    fn new() -> Self {
        let mut stage = Self {
            model: Model::new("agent".into(), "/proj".into(), Policy::Ask),
            folds: Folds::default(),
            theme: Theme::builtin("terminal").or_else(|| Theme::builtin("default")).unwrap_or_else(first_theme),
            now: Duration::from_secs(10),
            transcript: Transcript::new(),
            history: Memory::default(),
            scroll: Scroll::Follow,
        };
        for event in fixture::opening() {
            stage.event(event);
        }
        stage
    }

    fn event(&mut self, event: Event) {
        self.history.reduce(&mut self.model, event.at_home(), self.now);
    }

    fn update(&mut self, update: Update) {
        self.event(Event::Agent(AgentEvent::Update { session: SessionId::from("s"), update }));
    }

    fn prompt(&mut self, text: &str) {
        self.event(Event::User(Intent::Prompt { text: text.into(), links: Vec::new() }));
    }

    fn chunk(&mut self, kind: ChunkKind, text: &str) {
        self.update(Update::Chunk { kind, message_id: None, block: Block::Text(text.into()) });
    }

    fn done(&mut self) {
        use crate::model::event::{PromptAnswer, PromptResult, Stop};
        let turn = self.model.first().session().last_turn();
        let result = Ok(PromptAnswer::Ended(PromptResult { stop: Stop::EndTurn, usage: None }));
        self.event(Event::Agent(AgentEvent::PromptAnswered { turn, result }));
    }

    fn tool(&mut self, id: &str, title: &str, kind: ToolKind, status: ToolStatus, content: Vec<ToolContent>) {
        let patch = ToolPatch {
            title: Patch::Set(title.into()),
            kind: Patch::Set(kind),
            status: Patch::Set(status),
            content: Patch::Set(content),
            ..ToolPatch::new(ToolId::from(id))
        };
        self.update(Update::ToolCall(patch.into()));
    }

    fn with<R>(&mut self, f: impl FnOnce(&mut Transcript, &DrawCtx<'_>, &mut Scroll) -> R) -> R {
        let cx = DrawCtx {
            typing: None,
            plan_beside: false,
            selection: None,
            session: self.model.first(),
            history: &self.history,
            now: self.now,
            spinner_frame: 0,
            folds: &self.folds,
            theme: &self.theme,
            home: None,
            pictures: None,
            keys: None,
        };
        f(&mut self.transcript, &cx, &mut self.scroll)
    }

    fn draw(&mut self, width: u16, height: u16) -> (Vec<String>, Viewport) {
        let area = Rect { x: 0, y: 0, width, height };
        let mut buf = Buffer::empty(area);
        let viewport = self.with(|t, cx, scroll| t.draw(cx, area, scroll, &mut buf));
        (rows(&buf), viewport)
    }

    fn scroll(&mut self, width: u16, height: u16, by: i32) {
        let area = Rect { x: 0, y: 0, width, height };
        self.with(|t, cx, scroll| t.scroll_by(cx, area, scroll, by));
    }

    fn top(&mut self, width: u16, height: u16) {
        let area = Rect { x: 0, y: 0, width, height };
        self.with(|t, cx, scroll| t.to_top(cx, area, scroll));
    }
}

fn first_theme() -> Theme {
    Theme::builtin_names().find_map(Theme::builtin).expect("a theme")
}

fn rows(buf: &Buffer) -> Vec<String> {
    use unicode_width::UnicodeWidthStr as _;
    let area = *buf.area();
    (area.y..area.bottom())
        .map(|y| {
            let mut row = String::new();
            let mut x = area.x;
            while x < area.right() {
                let symbol = buf[(x, y)].symbol();
                assert!(!symbol.chars().any(char::is_control), "{symbol:?}");
                row.push_str(symbol);
                x += (symbol.width() as u16).max(1);
            }
            row.trim_end().to_owned()
        })
        .collect()
}

fn story() -> Stage {
    let mut stage = Stage::new();
    stage.prompt("Fix the subtraction in add() and run the tests.");
    stage.chunk(ChunkKind::Thought, "**Looked at how add is used**\n\nmore");
    stage.now += Duration::from_secs(3);
    stage.chunk(ChunkKind::Thought, " words");
    stage.chunk(ChunkKind::Agent, "The function subtracts. I'll change it and run the *tests*.");
    stage.tool("1", "Read /proj/src/main.rs", ToolKind::Read, ToolStatus::Completed, Vec::new());
    stage.tool("2", "Edit src/main.rs", ToolKind::Edit, ToolStatus::InProgress, Vec::new());
    stage.now += Duration::from_millis(200);
    let (old, new) = ("use std::env;\n\nfn add() { a - b }\n", "use std::env;\n\n/// Adds.\nfn add() { a + b }\n");
    let diff = ToolContent::Change(Change::of_texts("/proj/src/main.rs", Some(old.into()), new.into()));
    stage.tool("2", "Edit src/main.rs", ToolKind::Edit, ToolStatus::Completed, vec![diff]);
    let text =
        Block::Text("Compiling shop v0.1.0\n\u{1b}[32mrunning\u{1b}[0m 12 tests\ntest cart::adds ... ok\n".into());
    stage.tool("3", "`cargo test --all`", ToolKind::Execute, ToolStatus::InProgress, vec![ToolContent::Block(text)]);
    let step = |content: &str, status| PlanEntry { content: content.into(), priority: Priority::Medium, status };
    let entries = vec![
        step("read the code", PlanStatus::Completed),
        step("fix add", PlanStatus::Completed),
        step("run the tests", PlanStatus::InProgress),
        step("write notes", PlanStatus::Pending),
    ];
    stage.update(Update::Plan { id: None, entries });
    stage.now += Duration::from_secs(4);
    stage
}

#[test]
fn a_turn_at_120_columns() {
    let (rows, viewport) = story().draw(120, 28);
    let expected = "\
▌ Fix the subtraction in add() and run the tests.

∴ Looked at how add is used  3 s                                                                                      ▸

  The function subtracts. I'll change it and run the tests.

✓ read     src/main.rs

✓ edit     src/main.rs                                                                              +2 −1   0.2 s
       use std::env;

     - fn add() { a - b }
     + /// Adds.
     + fn add() { a + b }

⠹ run      cargo test --all                                                                                   4 s
     Compiling shop v0.1.0
     running 12 tests
     test cart::adds ... ok

≡ plan  2 of 4
     ✓ read the code
     ✓ fix add
     ▸ run the tests
     · write notes";
    let shown = rows.join("\n");
    let shown = shown.trim_start_matches('\n');
    let squeeze = |s: &str| {
        s.lines().map(|l| l.split("    ").map(str::trim_end).collect::<Vec<_>>().join("    ")).collect::<Vec<_>>()
    };
    let normal = |s: &str| squeeze(s).iter().map(|l| squash(l)).collect::<Vec<_>>().join("\n");
    assert_eq!(normal(shown), normal(expected), "\n{shown}");
    assert!(viewport.animated && viewport.rows_below.is_none());
    let figures = rows.iter().filter(|r| r.ends_with(" s")).map(|r| r.chars().count());
    assert_eq!(figures.collect::<Vec<_>>(), [119, 119], "one right edge");
}

/// Runs of blanks beyond five count as five: the exact column of figures is not what is tested.
fn squash(line: &str) -> String {
    let mut out = String::new();
    let mut blanks = 0;
    for c in line.chars() {
        blanks = if c == ' ' { blanks + 1 } else { 0 };
        if blanks <= 5 {
            out.push(c);
        }
    }
    out
}

/// Reads of five files, then a search.
fn looks() -> Stage {
    let mut stage = Stage::new();
    stage.prompt("go");
    for n in 0..5 {
        stage.tool(
            &format!("r{n}"),
            &format!("Read /proj/src/f{n}.rs"),
            ToolKind::Read,
            ToolStatus::Completed,
            Vec::new(),
        );
    }
    stage.tool("s", "words", ToolKind::Search, ToolStatus::Completed, Vec::new());
    stage
}

#[test]
fn reads_and_searches_that_follow_one_another_share_a_row_until_it_is_opened() {
    let mut stage = looks();
    let area = Rect { x: 0, y: 0, width: 100, height: 20 };
    let shown = |stage: &mut Stage| {
        let rows = stage.draw(100, 20).0;
        rows.into_iter().filter(|row| row.starts_with('✓')).collect::<Vec<_>>()
    };
    let one = shown(&mut stage);
    assert_eq!(one.len(), 1, "{one:?}");
    assert!(one[0].starts_with("✓ look     src/f0.rs · src/f1.rs") && one[0].ends_with("6 calls   ▸"), "{one:?}");
    assert!(one[0].contains("src/f4.rs · words"), "{one:?}");
    // From any of them the row is found, and comes apart.
    let last = EntryId(6);
    let (first, fold) = stage.with(|t, cx, _| t.next_fold(cx, area, last)).unwrap();
    assert_eq!((first, fold), (EntryId(1), Fold::Apart));
    stage.folds.set(first, fold);
    let all = shown(&mut stage);
    assert_eq!(all.len(), 6, "{all:?}");
    assert!(all[5].starts_with("✓ search   words"), "{all:?}");
    for (n, row) in all[..5].iter().enumerate() {
        assert!(row.starts_with(&format!("✓ read     src/f{n}.rs")) && !row.contains("calls"), "{all:?}");
    }
    // What runs, failed or changed something has its own.
    let mut stage = looks();
    stage.tool("x", "src/g.rs", ToolKind::Read, ToolStatus::Failed, Vec::new());
    stage.tool("y", "src/h.rs", ToolKind::Read, ToolStatus::Completed, Vec::new());
    stage.tool("z", "src/i.rs", ToolKind::Read, ToolStatus::InProgress, Vec::new());
    let rows = shown(&mut stage);
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(rows[1].starts_with("✓ read     src/h.rs"), "{rows:?}");
}

#[test]
fn calls_that_share_a_row_are_drawn_alike_warm_and_cold() {
    let mut stage = looks();
    for n in 0..200 {
        stage.tool(&format!("m{n}"), &format!("f{n}"), ToolKind::Read, ToolStatus::InProgress, Vec::new());
        stage.draw(80, 12);
        stage.tool(&format!("m{n}"), &format!("f{n}"), ToolKind::Read, ToolStatus::Completed, Vec::new());
        if n % 7 == 0 {
            stage.scroll(80, 12, -3);
        }
        let warm = stage.draw(80, 12).0;
        stage.transcript = Transcript::new();
        assert_eq!(stage.draw(80, 12).0, warm, "{n}");
    }
    let (rows, viewport) = stage.draw(80, 40);
    assert!(viewport.entries_laid_out <= 16, "{viewport:?}");
    let rows: Vec<_> = rows.iter().filter(|row| row.starts_with('✓')).collect();
    assert!(rows.len() < 12, "few rows for 200 calls: {rows:?}");
}

#[test]
fn narrow_screens_keep_state_verb_and_object() {
    for (width, head) in [(80, "⠹ run    cargo test --all"), (40, "⠹ run  cargo test --all")] {
        let (rows, _) = story().draw(width, 30);
        let shown = rows.join("\n");
        assert!(rows.iter().any(|r| r.starts_with(head) && r.ends_with("4 s")), "{shown}");
        assert!(rows.iter().any(|r| r.contains("edit") && r.ends_with("+2 −1")), "{shown}");
        assert!(rows.iter().all(|r| r.chars().count() < usize::from(width)), "{shown}");
    }
    for width in 1..20 {
        story().draw(width, 5);
    }
}

#[test]
fn the_end_is_followed_and_an_anchor_holds() {
    let mut stage = Stage::new();
    stage.prompt("go");
    for n in 0..60 {
        stage.chunk(ChunkKind::Agent, &format!("line {n} of the answer\n\n"));
    }
    let (rows, viewport) = stage.draw(60, 10);
    assert!(rows.iter().any(|r| r.contains("line 59")), "{rows:?}");
    assert_eq!(viewport.rows_below, None);
    stage.scroll(60, 10, -7);
    let (before, viewport) = stage.draw(60, 10);
    assert!(viewport.rows_below.is_some_and(|n| (6..=9).contains(&n)), "{viewport:?}");
    for n in 60..200 {
        stage.chunk(ChunkKind::Agent, &format!("line {n} of the answer\n\n"));
        if n % 20 == 0 {
            assert_eq!(stage.draw(60, 10).0, before);
        }
    }
    stage.tool("t", "x", ToolKind::Read, ToolStatus::Completed, Vec::new());
    assert_eq!(stage.draw(60, 10).0, before);
    // The same words stay at the top in another width.
    let words = before.iter().find(|r| r.contains("line")).cloned().unwrap_or_default();
    assert!(stage.draw(30, 10).0.iter().take(2).any(|r| words.starts_with(r.trim_end())));
    assert_eq!(stage.draw(60, 10).0, before);
    stage.scroll(60, 10, 10_000);
    assert_eq!(stage.scroll, Scroll::Follow);
}

#[test]
fn a_view_that_is_held_at_the_end_does_not_follow_it() {
    let mut stage = Stage::new();
    stage.prompt("go");
    let say = |stage: &mut Stage, n: u32| stage.chunk(ChunkKind::Agent, &format!("line {n} of the answer\n\n"));
    (0..60).for_each(|n| say(&mut stage, n));
    let before = stage.draw(60, 10).0;
    stage.scroll(60, 10, 0);
    (60..80).for_each(|n| say(&mut stage, n));
    assert_eq!(stage.draw(60, 10).0[..9], before[..9]);
}

#[test]
fn scrolling_row_by_row_shows_every_row_once() {
    let mut stage = story();
    stage.done();
    for n in 0..12 {
        stage.prompt(&format!("prompt {n}"));
        stage.chunk(ChunkKind::Agent, crate::ui::md::tests::CORPUS);
        stage.done();
    }
    let (all, _) = stage.draw(70, 3000);
    let all: Vec<String> = all.into_iter().skip_while(String::is_empty).collect();
    let height = 7;
    stage.top(70, height);
    let mut seen = Vec::new();
    for _ in 0..all.len() {
        let (rows, _) = stage.draw(70, height);
        if stage.scroll == Scroll::Follow {
            seen.extend(rows);
            break;
        }
        seen.push(rows[0].clone());
        stage.scroll(70, height, 1);
    }
    assert_eq!(seen, all);
    // And back up, three rows at a time.
    let mut at = all.len() - usize::from(height);
    loop {
        stage.scroll(70, height, -3);
        at = at.saturating_sub(3);
        assert_eq!(stage.draw(70, height).0, all[at..at + usize::from(height)], "{at}");
        if at == 0 {
            break;
        }
    }
}

#[test]
fn only_what_is_visible_is_laid_out() {
    let mut stage = Stage::new();
    for n in 0..5000 {
        stage.prompt(&format!("prompt {n}"));
        stage.chunk(ChunkKind::Agent, &format!("answer {n}, with **words**"));
        stage.done();
    }
    let (_, viewport) = stage.draw(80, 40);
    assert!(viewport.entries_laid_out <= 42, "{viewport:?}");
    assert_eq!(stage.draw(80, 40).1.entries_laid_out, 0);
    stage.top(80, 40);
    let (rows, viewport) = stage.draw(80, 40);
    assert!(rows[0].contains("prompt 0") && viewport.entries_laid_out <= 84, "{rows:?}");
    assert!(viewport.rows_below.is_some_and(|n| n > 10_000), "{viewport:?}");
    assert!(viewport.hits.iter().any(|(row, id)| *row == 0 && *id == EntryId(0)));
}

#[test]
fn streaming_lays_out_a_bounded_number_of_pieces() {
    let mut stage = Stage::new();
    stage.prompt("go");
    let mut most = 0;
    let text = crate::ui::md::tests::CORPUS;
    for n in 0..20_000usize {
        let at = (n * 20) % (text.len() - 40);
        let at = text.floor_char_boundary(at);
        let end = text.ceil_char_boundary(at + 20);
        stage.chunk(ChunkKind::Agent, &text[at..end]);
        if n % 50 == 0 {
            most = most.max(stage.draw(100, 40).1.entries_laid_out);
        }
    }
    assert!(most <= 50, "{most}");
    assert!(stage.transcript.cached_bytes() <= cache::CACHE_BYTES);
}

#[test]
fn one_huge_message_costs_what_is_visible() {
    for unit in ["word ", "a line of text\n", "x"] {
        let mut stage = Stage::new();
        stage.prompt("go");
        stage.chunk(ChunkKind::Agent, &unit.repeat((4 << 20) / unit.len()));
        let (rows, viewport) = stage.draw(80, 40);
        assert!(rows.iter().all(|r| !r.is_empty()), "{unit:?}");
        assert!(viewport.entries_laid_out < 20, "{viewport:?}");
        stage.top(80, 40);
        let (_, viewport) = stage.draw(80, 40);
        assert!(viewport.entries_laid_out < 20, "{viewport:?}");
        assert!(viewport.rows_below.is_some_and(|n| n > 10_000), "{viewport:?}");
        for _ in 0..50 {
            stage.scroll(80, 40, 39);
            assert!(stage.draw(80, 40).1.entries_laid_out < 20);
        }
    }
}

#[test]
fn a_text_that_is_too_large_for_one_drawing_is_shown_step_by_step() {
    let mut stage = Stage::new();
    stage.prompt("go");
    let text = format!("{}\n\nthe end", "a line of text\n".repeat(5 * (cache::STEP / 2) / 15));
    stage.chunk(ChunkKind::Agent, &text);
    for _ in 0..2 {
        let (rows, viewport) = stage.draw(80, 40);
        assert!(stage.transcript.is_behind());
        assert!(rows.iter().all(|r| !r.is_empty()), "what is there is shown");
        assert!(viewport.entries_laid_out < 20, "{viewport:?}");
    }
    let (rows, _) = stage.draw(80, 40);
    assert!(!stage.transcript.is_behind());
    assert!(rows.last().is_some_and(|r| r.contains("the end")), "{rows:?}");
}

#[test]
fn the_cache_is_bounded() {
    let mut stage = Stage::new();
    for n in 0..300 {
        stage.prompt(&format!("prompt {n}"));
        stage.chunk(ChunkKind::Agent, &crate::ui::md::tests::CORPUS.repeat(8));
        stage.done();
    }
    stage.top(100, 50);
    while stage.scroll != Scroll::Follow {
        stage.draw(100, 50);
        stage.scroll(100, 50, 200);
        assert!(stage.transcript.cached_bytes() <= cache::CACHE_BYTES + (1 << 20));
    }
}

#[test]
fn folding_by_hand() {
    let mut stage = Stage::new();
    stage.prompt("go");
    stage.chunk(ChunkKind::Thought, "First words. Second\n\n- a point\n");
    stage.tool(
        "1",
        "ls",
        ToolKind::Execute,
        ToolStatus::Completed,
        vec![ToolContent::Block(Block::Text("out\nb\nc\nend\n".into()))],
    );
    let shown = |stage: &mut Stage| stage.draw(60, 20).0.join("\n");
    let closed = shown(&mut stage);
    assert!(!closed.contains("a point") && !closed.contains("out") && closed.contains("     end"), "{closed}");
    stage.folds.set(EntryId(1), Fold::Open);
    stage.folds.set(EntryId(2), Fold::Open);
    let open = shown(&mut stage);
    assert!(open.contains("∴ First words. Second\n\n  • a point") && open.contains("     out"), "{open}");
    stage.folds.set(EntryId(1), Fold::Closed);
    assert!(!shown(&mut stage).contains("a point"));
}

#[test]
fn nothing_is_drawn_outside_the_area() {
    let mut stage = story();
    let whole = Rect { x: 0, y: 0, width: 60, height: 20 };
    let area = Rect { x: 5, y: 4, width: 30, height: 9 };
    let mut buf = Buffer::empty(whole);
    stage.with(|t, cx, scroll| t.draw(cx, area, scroll, &mut buf));
    for y in 0..20 {
        for x in 0..60 {
            if !area.contains((x, y).into()) {
                assert_eq!(buf[(x, y)].symbol(), " ", "{x},{y}");
            }
        }
    }
    let _ = TurnId(0);
}

#[test]
fn hostile_text_never_reaches_the_cells() {
    let evil = "a\u{1b}[2Jb\u{7}\u{9b}31m\u{202e}c\r\nd\u{85}e\u{0}";
    let mut stage = Stage::new();
    stage.prompt(evil);
    stage.chunk(ChunkKind::Thought, evil);
    stage.chunk(ChunkKind::Agent, &format!("{evil}\n\n```{evil}\n{evil}\n```\n| {evil} |\n|--|\n"));
    stage.tool(evil, evil, ToolKind::Execute, ToolStatus::Failed, vec![ToolContent::Block(Block::Text(evil.into()))]);
    for width in [10, 40, 100] {
        let text = stage.draw(width, 40).0.join("");
        assert!(!text.contains('\u{202e}'));
    }
}

/// Turns with enough text that most of them leave memory, if any may.
fn long_story(leaves: bool) -> Stage {
    let mut stage = Stage::new();
    if leaves {
        Memory::default().reduce(&mut stage.model, Event::Setup(Setup::History).at_home(), Duration::ZERO);
    }
    for n in 0..400 {
        stage.prompt(&format!("prompt {n}"));
        stage.chunk(ChunkKind::Thought, &format!("Thinks of {n}. More\n\n- a point\n"));
        stage.chunk(ChunkKind::Agent, &format!("# Answer {n}\n\n{}", crate::ui::md::tests::CORPUS.repeat(4)));
        // Some are so large that they are kept without their texts.
        let bytes = if n % 20 == 0 { 100 << 10 } else { 12 << 10 };
        let text = ToolContent::Block(Block::Text(format!("out {n}\n{}", "x".repeat(bytes))));
        stage.tool(&format!("t{n}"), "ls", ToolKind::Execute, ToolStatus::Failed, vec![text]);
        stage.done();
    }
    stage
}

#[test]
fn what_has_left_memory_is_drawn_as_if_it_had_not() {
    let (mut lean, mut whole) = (long_story(true), long_story(false));
    let away = |stage: &Stage| stage.model.first().session().entries().slots().filter(|s| s.here().is_none()).count();
    assert!(away(&lean) > 400 && away(&whole) == 0, "{}", away(&lean));
    for stage in [&mut lean, &mut whole] {
        // A thought and a call of the beginning, both by hand.
        stage.folds.set(EntryId(1), Fold::Open);
        stage.folds.set(EntryId(3), Fold::Closed);
    }
    let mut step = |of: &dyn Fn(&mut Stage) -> (Vec<String>, Viewport)| {
        let (lean, whole) = (of(&mut lean), of(&mut whole));
        assert_eq!(lean.0, whole.0);
        assert_eq!((lean.1.hits, lean.1.rows_below), (whole.1.hits, whole.1.rows_below));
    };
    step(&|stage| stage.draw(100, 40));
    step(&|stage| {
        stage.top(100, 40);
        stage.draw(100, 40)
    });
    for by in [39, 39, 200, -60, 1000, -39] {
        step(&|stage| {
            stage.scroll(100, 40, by);
            stage.draw(100, 40)
        });
    }
    // Another width, and a fold that changes.
    step(&|stage| stage.draw(61, 23));
    step(&|stage| {
        stage.top(61, 23);
        stage.folds.set(EntryId(1), Fold::Closed);
        stage.folds.set(EntryId(3), Fold::Open);
        stage.draw(61, 23)
    });
}

#[test]
fn what_is_read_to_be_drawn_is_bounded() {
    let mut stage = long_story(true);
    stage.top(100, 50);
    while stage.scroll != Scroll::Follow {
        stage.draw(100, 50);
        stage.scroll(100, 50, 500);
        assert!(stage.transcript.cached_bytes() <= cache::CACHE_BYTES + reading::READ_BYTES + (1 << 20));
    }
}

#[test]
fn a_screen_full_of_large_calls_keeps_none_of_their_texts() {
    let mut stage = Stage::new();
    Memory::default().reduce(&mut stage.model, Event::Setup(Setup::History).at_home(), Duration::ZERO);
    stage.prompt("p");
    for n in 0..40 {
        let text = ToolContent::Block(Block::Text(format!("{n}\n{}", "x\n".repeat(200_000))));
        stage.tool(&format!("t{n}"), "ls", ToolKind::Execute, ToolStatus::Completed, vec![text]);
    }
    let away = stage.model.first().session().entries().slots().filter(|slot| slot.here().is_none()).count();
    assert!(away > 30, "{away}");
    for _ in 0..2 {
        let (rows, _) = stage.draw(100, 200);
        assert!(rows.iter().filter(|row| row.contains("ls")).count() > 30, "{rows:?}");
        assert!(stage.transcript.cached_bytes() <= cache::CACHE_BYTES + reading::READ_BYTES + (1 << 20));
    }
}

#[test]
fn what_cannot_be_read_back_says_so_in_its_place() {
    let mut stage = long_story(true);
    stage.history.is_broken = true;
    stage.top(100, 40);
    let (rows, _) = stage.draw(100, 40);
    assert!(rows.iter().any(|row| row.contains("cannot be read back: the disk is broken")), "{rows:?}");
}

/// Drawing knows no grammar (see the fences of `tests/arch.rs`): colours are asked for and awaited by nobody.
#[test]
fn a_frame_is_whole_without_colours_and_lays_nothing_out_again_when_they_come() {
    let mut stage = Stage::new();
    stage.prompt("write it");
    stage.chunk(ChunkKind::Agent, "```rust\n");
    let mut laid_out = 0;
    for n in 0..2000 {
        stage.chunk(ChunkKind::Agent, &format!("let a{n} = {n};\n"));
        if n % 100 == 0 {
            let (rows, viewport) = stage.draw(80, 24);
            assert!(rows.iter().any(|row| row.contains(&format!("let a{n} = {n};"))), "{rows:?}");
            laid_out += viewport.entries_laid_out;
        }
    }
    stage.draw(80, 24);
    assert!(laid_out <= 2 * 20 + 2, "a frame lays out what has grown, and no more: {laid_out}");
    let asked = stage.transcript.uncoloured().expect("the block");
    let spans = asked.lines.iter().map(|_| vec![(0..3, Token::CodeKeyword)]).collect();
    stage.transcript.colour(&asked.keys, spans);
    let coloured = stage.draw(80, 24).1;
    assert_eq!(coloured.entries_laid_out, 0, "colours are put over what was laid out");
    assert!(stage.transcript.uncoloured().is_none(), "and asked for once");
}

#[test]
fn program_text_is_plain_until_its_colours_are_known_and_keeps_them_while_it_grows() {
    let mut stage = Stage::new();
    stage.theme = Theme::builtin("dark").unwrap();
    stage.prompt("p");
    stage.chunk(ChunkKind::Agent, "```rust\nlet x = 1;\n");
    let draw = |stage: &mut Stage| {
        let area = Rect { x: 0, y: 0, width: 60, height: 12 };
        let mut buf = Buffer::empty(area);
        stage.with(|t, cx, scroll| t.draw(cx, area, scroll, &mut buf));
        let at = (0..12).find_map(|y| (0..50).find(|x| buf[(*x, y)].symbol() == "l").map(|x| (x, y))).unwrap();
        buf[at].fg
    };
    let plain = draw(&mut stage);
    assert_eq!(plain, stage.theme.style(Token::CodeBlock).fg.unwrap());
    let found = stage.transcript.uncoloured().expect("a text in view");
    assert_eq!((&*found.lang, found.lines.len(), found.keys.len()), ("rust", 1, 1));
    assert_eq!(found.lines[0].1, "let x = 1;");
    stage.transcript.colour(&found.keys, vec![vec![(0..3, Token::CodeKeyword)]]);
    let keyword = stage.theme.style(Token::CodeKeyword).fg.unwrap();
    assert_eq!(draw(&mut stage), keyword);
    assert!(stage.transcript.uncoloured().is_none(), "nothing is asked for twice");
    stage.chunk(ChunkKind::Agent, "let y = 2;\n");
    assert_eq!(draw(&mut stage), keyword, "what is known of the lines above stays");
    assert_eq!(stage.transcript.uncoloured().expect("the new line").keys[..1], found.keys);
}

#[test]
fn an_address_leads_there_from_each_of_its_rows() {
    let mut stage = Stage::new();
    stage.prompt("go");
    let address = format!("https://a.example/{}", "x".repeat(60));
    stage.chunk(ChunkKind::Agent, &format!("See {address} or https://good.example@evil.example/ now."));
    let (rows, viewport) = stage.draw(40, 10);
    assert!(viewport.links.len() >= 2, "{rows:?}");
    let mut joined = String::new();
    for (y, columns, to) in &viewport.links {
        assert_eq!(**to, address);
        let row: Vec<char> = rows[usize::from(*y)].chars().collect();
        joined.extend(&row[usize::from(columns.start)..usize::from(columns.end).min(row.len())]);
    }
    assert_eq!(joined, address, "{rows:?}");
}

#[test]
fn an_address_that_may_go_on_leads_nowhere_yet() {
    let mut stage = Stage::new();
    stage.prompt("go");
    stage.chunk(ChunkKind::Agent, "See https://good.example, and https://example.co");
    let to = |stage: &mut Stage| -> Vec<String> {
        let links = stage.draw(80, 10).1.links;
        links.iter().map(|(.., to)| to.to_string()).collect::<std::collections::BTreeSet<_>>().into_iter().collect()
    };
    assert_eq!(to(&mut stage), ["https://good.example"]);
    stage.chunk(ChunkKind::Agent, "m.example/x");
    assert_eq!(to(&mut stage), ["https://good.example"]);
    stage.done();
    assert_eq!(to(&mut stage), ["https://example.com.example/x", "https://good.example"]);
}

#[test]
fn a_file_with_a_line_leads_into_the_directory_of_the_session() {
    let mut stage = Stage::new();
    stage.prompt("go");
    stage.chunk(ChunkKind::Agent, "It is in src/main.rs:12, not in ../other.rs:3.");
    let (rows, viewport) = stage.draw(80, 10);
    let [(y, columns, to)] = &viewport.links[..] else { panic!("{:?}", viewport.links) };
    assert_eq!(&**to, "file:///proj/src/main.rs#12");
    assert_eq!(rows[usize::from(*y)].get(usize::from(columns.start)..usize::from(columns.end)), Some("src/main.rs:12"));
}

#[test]
fn what_a_call_has_written_has_no_row_of_its_own_where_the_call_shows_just_that() {
    use crate::model::event::{AgentRequest, HostEvent, WriteFact};
    use crate::model::ids::ReqId;
    let drawn = |(path, was, new): (&str, &str, &str), written: &str| {
        let mut stage = Stage::new();
        stage.prompt("go");
        let diff = ToolContent::Change(Change::of_texts(path, Some(was.into()), new.into()));
        stage.tool("e", "Edit a.rs", ToolKind::Edit, ToolStatus::InProgress, vec![diff]);
        let request = AgentRequest::WriteFile {
            path: "/proj/a.rs".into(),
            content: written.into(),
            how: crate::model::event::WriteHow::default(),
        };
        stage.event(Event::Agent(AgentEvent::Request {
            req: ReqId(1),
            session: Some(SessionId::from("s")),
            request: request.into(),
        }));
        let (req, path) = (ReqId(1), "/proj/a.rs");
        stage.event(Event::Host(HostEvent::WriteChecked {
            req,
            path: path.into(),
            real: None,
            outside: false,
            result: Ok(()),
        }));
        let result = Ok(WriteFact { created: false, bytes: 4, old: Some("top\none\n".into()), outside: None });
        stage.event(Event::Host(HostEvent::FileWritten { req, path: path.into(), result }));
        stage.draw(80, 20).0.join("\n")
    };
    let whole = "top\none\n";
    for (shown, written) in [
        (("/proj/a.rs", whole, "two\n"), "two\n"),
        (("a.rs", whole, "two"), "two\n"),
        (("/proj/a.rs", "one", "two"), "top\ntwo\n"),
        (("/proj/a.rs", "one", "two"), whole),
    ] {
        let same = drawn(shown, written);
        assert!(same.contains("edit   a.rs") && !same.contains("wrote"), "{shown:?} {same}");
    }
    for (shown, written) in [
        (("/proj/a.rs", whole, "two\n"), "three\n"),
        (("/proj/b.rs", "one", "two"), "top\ntwo\n"),
        (("/proj/a.rs", "one", "two"), "bottom\ntwo\n"),
        (("/proj/a.rs", "", "two"), "two, and more\n"),
    ] {
        let other = drawn(shown, written);
        assert!(other.contains("wrote a.rs"), "{shown:?} {other}");
    }
}

#[test]
fn what_a_call_has_written_stays_in_its_row_though_something_was_told_between_them() {
    use crate::model::event::{AgentRequest, HostEvent, WriteFact};
    use crate::model::ids::ReqId;
    use crate::model::permission_mode::ModeChoice;
    use crate::model::tool::Location;
    let drawn = |shows: bool| {
        let mut stage = Stage::new();
        stage.prompt("go");
        let diff = ToolContent::Change(Change::of_texts("a.rs", Some("one\n".into()), "two\n".into()));
        let patch = ToolPatch {
            title: Patch::Set("Edit a.rs".into()),
            kind: Patch::Set(ToolKind::Edit),
            status: Patch::Set(ToolStatus::InProgress),
            locations: Patch::Set(vec![Location { path: "/proj/a.rs".into(), line: None }]),
            content: if shows { Patch::Set(vec![diff]) } else { Patch::Keep },
            ..ToolPatch::new(ToolId::from("e"))
        };
        stage.update(Update::ToolCall(patch.into()));
        let mode = ModeChoice::read("acceptEdits").unwrap();
        stage.event(Event::User(Intent::SetPermissionMode(mode)));
        let how = crate::model::event::WriteHow::default();
        let request = AgentRequest::WriteFile { path: "/proj/a.rs".into(), content: "two\n".into(), how };
        let (req, session) = (ReqId(1), Some(SessionId::from("s")));
        stage.event(Event::Agent(AgentEvent::Request { req, session, request: request.into() }));
        let (path, real, outside) = ("/proj/a.rs".to_owned(), None, false);
        stage.event(Event::Host(HostEvent::WriteChecked { req, path: path.clone(), real, outside, result: Ok(()) }));
        let result = Ok(WriteFact { created: false, bytes: 4, old: Some("one\n".into()), outside: None });
        stage.event(Event::Host(HostEvent::FileWritten { req, path, result }));
        let patch = ToolPatch { status: Patch::Set(ToolStatus::Completed), ..ToolPatch::new(ToolId::from("e")) };
        stage.update(Update::ToolCall(patch.into()));
        stage
    };
    for shows in [true, false] {
        let mut stage = drawn(shows);
        let shown = stage.draw(80, 20).0.join("\n");
        let of = |words: &str| shown.matches(words).count();
        assert_eq!((of("edit   a.rs"), of("two"), of("wrote")), (1, 1, 0), "{shows} {shown}");
        assert!(shown.contains("edits are allowed") || shown.contains("accept"), "the notice: {shown}");
        // Printed from below the call, the diff of a call that shows none is not lost.
        let mut mark = print::Mark::default();
        let printed = |stage: &mut Stage, mark: &mut print::Mark| {
            let page = stage.with(|t, cx, _| t.print(cx, 80, 200, mark, print::Which::All));
            rows(&page.buf).join("\n")
        };
        let all = printed(&mut stage, &mut mark);
        assert_eq!((all.matches("two").count(), all.matches("wrote").count()), (1, 0), "{shows} {all}");
    }
}

/// Rows stay in the order in which they came: one that does not stand below its own says of whom it is.
#[test]
fn calls_of_two_sub_agents_at_once_say_whose_they_are() {
    let mut stage = Stage::new();
    stage.prompt("go");
    for kid in ["one", "two"] {
        let (cwd, directories, stops) = (Patch::Keep, Patch::Keep, Patch::Keep);
        let (title, status) = (Patch::Set(format!("Kid {kid}")), Patch::Set(ToolStatus::InProgress));
        let id = SessionId::from(kid);
        let patch = ChildPatch { id, title, description: Patch::Keep, cwd, directories, stops, status };
        stage.update(Update::Child(patch.into()));
    }
    for (kid, id) in [("one", "a"), ("one", "b"), ("two", "c"), ("one", "d")] {
        let patch = ToolPatch {
            title: Patch::Set(format!("make {id}")),
            kind: Patch::Set(ToolKind::Execute),
            status: Patch::Set(ToolStatus::Completed),
            ..ToolPatch::new(ToolId::from(id))
        };
        let (session, update) = (SessionId::from(kid), Update::ToolCall(patch.into()));
        stage.event(Event::Agent(AgentEvent::Update { session, update }));
    }
    let (rows, _) = stage.draw(100, 16);
    let rows: Vec<String> = rows.iter().filter(|row| row.contains('└')).cloned().collect();
    let rows: Vec<String> = rows.iter().map(|row| row.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let want = ["✓ └ Kid one: run make a", "✓ └ run make b", "✓ └ Kid two: run make c", "✓ └ Kid one: run make d"];
    assert_eq!(rows, want);
}
