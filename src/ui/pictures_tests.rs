//! Pictures of whole screens with their colours, compared with those in `tests/pictures`: a file for a state and a size, and
//! in it the colours of every ground.
//!
//! A picture that is missing or differs fails its test and is written beside the old one as `*.snap.new`;
//! `INSTA_UPDATE=always cargo test --lib pictures` takes the new ones over. Look at what `git diff` says of them.

use super::agent_picker::{AgentPicker, PickItem};
use super::fixtures::{Scene, review_doc, text};
use super::keys::layer::LAYERS;
use super::keys::{Action, Code, Key, Keymap};
use super::state::review::Pane;
use super::state::review::index::Spot;
use super::state::session_list::{End, Past, PastSession, Starts};
use super::state::standing::Standing;
use crate::model::changes::{ReviewEvent, Totals};
use crate::model::entry::{ChunkKind, Level, PlanEntry, PlanStatus, Priority};
use crate::model::event::{
    AgentEvent, AuthKind, AuthMethod, CallError, ErrorKind, Event, HostEvent, InitResult, Intent, Stop, Update,
};
use crate::model::ids::SessionKey;
use crate::model::patch::Patch;
use crate::model::tool::{Change, Exit, ToolContent, ToolKind, ToolPatch, ToolStatus};
use crate::theme::color::Depth;
use crate::theme::looks::{Ground, Looks, Shade};
use crate::theme::resolve::Theme;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const PICTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pictures");

type Size = (u16, u16);

const SMALL: Size = (40, 10);
const USUAL: Size = (80, 24);
const WIDE: Size = (120, 40);
const WIDEST: Size = (160, 45);

/// A test for each row, and their names.
macro_rules! pictures {
    ($($name:ident: $state:ident $size:ident;)+) => {
        const NAMES: &[&str] = &[$(stringify!($name)),+];
        $(#[test]
        fn $name() {
            compare(stringify!($name), |theme| $state($size).drawn(theme));
        })+
    };
}

pictures! {
    picker_40x10: picker SMALL;
    picker_80x24: picker USUAL;
    picker_120x40: picker WIDE;
    picker_160x45: picker WIDEST;
    ready_40x10: ready SMALL;
    ready_80x24: ready USUAL;
    ready_120x40: ready WIDE;
    ready_160x45: ready WIDEST;
    working_40x10: working SMALL;
    working_80x24: working USUAL;
    working_120x40: working WIDE;
    working_160x45: working WIDEST;
    question_40x10: question SMALL;
    question_80x24: question USUAL;
    question_120x40: question WIDE;
    question_160x45: question WIDEST;
    dangerous_question_40x10: dangerous_question SMALL;
    dangerous_question_80x24: dangerous_question USUAL;
    dangerous_question_120x40: dangerous_question WIDE;
    dangerous_question_160x45: dangerous_question WIDEST;
    review_40x10: review SMALL;
    review_80x24: review USUAL;
    review_120x40: review WIDE;
    review_160x45: review WIDEST;
    sessions_40x10: sessions SMALL;
    sessions_80x24: sessions USUAL;
    sessions_120x40: sessions WIDE;
    sessions_160x45: sessions WIDEST;
    panel_40x10: panel SMALL;
    panel_80x24: panel USUAL;
    panel_120x40: panel WIDE;
    panel_160x45: panel WIDEST;
    died_40x10: died SMALL;
    died_80x24: died USUAL;
    died_120x40: died WIDE;
    died_160x45: died WIDEST;
    failed_40x10: failed SMALL;
    failed_80x24: failed USUAL;
    failed_120x40: failed WIDE;
    failed_160x45: failed WIDEST;
    log_in_40x10: log_in SMALL;
    log_in_80x24: log_in USUAL;
    log_in_120x40: log_in WIDE;
    log_in_160x45: log_in WIDEST;
    help_40x10: help SMALL;
    help_80x24: help USUAL;
    help_120x40: help WIDE;
    help_160x45: help WIDEST;
    palette_40x10: palette SMALL;
    palette_80x24: palette USUAL;
    palette_120x40: palette WIDE;
    palette_160x45: palette WIDEST;
}

/// What a terminal tells of itself, and the words for it.
const GROUNDS: [(&str, Depth, Ground); 7] = [
    ("dark", Depth::True, Ground::Shade(Shade::Dark)),
    ("light", Depth::True, Ground::Shade(Shade::Light)),
    ("16 dark", Depth::Ansi16, Ground::Shade(Shade::Dark)),
    ("16 light", Depth::Ansi16, Ground::Shade(Shade::Light)),
    ("16", Depth::Ansi16, Ground::Unknown),
    ("256", Depth::Ansi256, Ground::Unknown),
    // As with `NO_COLOR`.
    ("none", Depth::None, Ground::Unknown),
];

// ---- the states

/// A screen, and where its cursor stands.
type Picture = (Buffer, Option<Position>);

trait Drawn {
    /// What it looks like once the layout is known.
    fn drawn(self, theme: Theme) -> Picture;
}

impl Drawn for Scene {
    fn drawn(mut self, theme: Theme) -> Picture {
        self.theme = theme;
        self.draw();
        // As it is once keys count.
        self.after(900).draw();
        (self.buf, self.info.cursor)
    }
}

impl Drawn for (AgentPicker, Size) {
    fn drawn(self, theme: Theme) -> Picture {
        let (mut picker, (width, height)) = self;
        let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
        let cursor = picker.draw(&theme, "~/src/shop", &mut buf);
        (buf, cursor.map(Position::from))
    }
}

fn picker(size: Size) -> (AgentPicker, Size) {
    let item = |id: &str, name: &str, command: &str, found: bool, hint: &str| PickItem {
        id: id.into(),
        name: name.into(),
        command: command.into(),
        found,
        hint: hint.into(),
    };
    let picker = AgentPicker::new(vec![
        item("codex", "Codex", "codex-acp", false, "npm install -g codex-acp"),
        item("gemini", "Gemini CLI", "gemini --acp", true, "found on PATH"),
        item("claude", "Claude Code", "claude-agent-acp", true, "found on PATH"),
        item("demo", "Demo", "built in, no account, in a throw-away copy", true, ""),
    ]);
    (picker, size)
}

fn ready((width, height): Size) -> Scene {
    let mut s = Scene::ready(width, height);
    s.ui.past = Past::Read(earlier().into());
    s.ui.standing.wants(SessionKey::FIRST);
    s.ui.standing.told(SessionKey::FIRST, Some(Standing { branch: "main".into(), uncommitted: Some(2) }));
    s
}

/// Earlier sessions of the directory.
fn earlier() -> [PastSession; 3] {
    let one = |name: &str, about: &str, age, turns, end, is_gone| {
        PastSession::clean(name.into(), "Gemini", "gemini --acp".into(), Starts::Unknown, "/home/me/src/shop".into())
            .about(Some(about), Some("please"), Some("and the tests"))
            .used(age, turns, end, vec![PathBuf::from(name)], is_gone)
    };
    [
        one("a", "mend the cart", 60, 2, End::Ended, false),
        one("b", "a discount in summer", 7_200, 14, End::Interrupted, false),
        one("c", "what was in another place", 400_000, 1, End::Ended, true),
    ]
}

/// A turn with one of everything that an agent sends.
fn in_a_turn((width, height): Size) -> Scene {
    let mut s = Scene::working(width, height);
    s.chunk(ChunkKind::Thought, "Looking at how add is used");
    s.after(3000);
    s.say(
        "The function **subtracts**. I'll change it and run the tests:\n\n```rust\nfn add(a: i32) -> i32 { a }\n```\n",
    );
    let plan = |content: &str, status| PlanEntry { content: content.into(), priority: Priority::None, status };
    let entries = vec![plan("read it", PlanStatus::Completed), plan("mend it", PlanStatus::InProgress)];
    s.update(Update::Plan { id: None, entries });
    s.tool("r", ToolKind::Read, "src/main.rs", ToolStatus::Completed);
    s.tool("f", ToolKind::Search, "no such word", ToolStatus::Failed);
    let notice = Update::Notice { level: Level::Warn, title: "The quota is nearly used up".into(), description: None };
    s.update(notice);
    s.update(Update::Usage { used: 12_000, size: 200_000, cost: crate::model::patch::Patch::Keep });
    s.after(4000);
    s
}

fn working(size: Size) -> Scene {
    let mut s = in_a_turn(size);
    s.runs(7, "cargo test --all");
    s.prints(7, "running 2 tests\ntest adds ... ok");
    s.after(4000);
    s.typed("and then bump the version");
    s
}

/// The panel with all that it can have, beside calls that share a row and one that has written what it says.
fn panel(size: Size) -> Scene {
    let mut s = in_a_turn(size);
    for n in 0..4 {
        s.tool(&format!("look-{n}"), ToolKind::Read, &format!("src/file_{n}.rs"), ToolStatus::Completed);
    }
    let mut patch = ToolPatch::new("edit".into());
    (patch.kind, patch.status) = (Patch::Set(ToolKind::Edit), Patch::Set(ToolStatus::Completed));
    let change = Change::of_texts("/home/me/src/shop/src/main.rs", Some("old\n".into()), "new\n".into());
    patch.content = Patch::Set(vec![ToolContent::Change(change)]);
    s.update(Update::ToolCall(patch.into()));
    s.runs(7, "cargo test --all");
    s.prints(7, "running 2 tests");
    let session = Totals { added: 1, removed: 1, files: 1, pending: 1 };
    s.event(Event::Host(HostEvent::Review(ReviewEvent::ChangesSeen { session, after: false })));
    s.intent(Intent::Prompt { text: "and then bump the version".into(), links: Vec::new() });
    s.update(Update::Usage { used: 170_000, size: 200_000, cost: Patch::Set((0.125, "USD".into())) });
    s.after(4000);
    s
}

fn question(size: Size) -> Scene {
    let mut s = in_a_turn(size);
    s.ask_edit(
        1,
        "/home/me/src/shop/src/main.rs",
        "fn add(a: i32, b: i32) -> i32 { a - b }\n",
        "fn add(a: i32, b: i32) -> i32 { a + b }\n",
        &["Allow once", "Always allow edits", "Reject"],
    );
    s.ask(2, "ls", &["Allow"]);
    s.press(Code::Tab);
    s.after(12_000);
    s
}

/// It removes something, and the agent is in a mode that lets all pass.
fn dangerous_question(size: Size) -> Scene {
    let mut s = in_a_turn(size);
    s.update(Update::Mode("yolo".into()));
    let mut patch = ToolPatch::new("call-1".into());
    patch.kind = Patch::Set(ToolKind::Delete);
    patch.title = Patch::Set("rm -rf ~/src/shop/data\u{202e} # harmless".into());
    s.ask_patch(1, patch, &["Allow once", "Reject"]);
    s.after(12_000);
    s
}

fn review((width, height): Size) -> Scene {
    let mut s = Scene::working(width, height);
    s.model = std::mem::take(&mut s.model).with_review(true);
    s.say("Done.");
    s.end_turn(Stop::EndTurn);
    s.show_review(review_doc(1));
    s.draw();
    s.key(Key::alt(Code::Char('r'))).draw();
    s.draw();
    if let Some(review) = &mut s.ui.view.review {
        review.layout.pane = Pane::Hunks;
        review.go(3, Spot::default());
    }
    s
}

fn sessions((width, height): Size) -> Scene {
    let mut s = Scene::asked(width, height);
    s.press(Code::F(8));
    if let Some(list) = &mut s.ui.list {
        list.told(Past::Read(earlier().into()));
    }
    s.press(Code::Down).press(Code::Down);
    s
}

fn help((width, height): Size) -> Scene {
    let mut s = Scene::ready(width, height);
    s.press(Code::F(1));
    s
}

/// What can be done by name.
fn palette((width, height): Size) -> Scene {
    let mut s = Scene::ready(width, height);
    s.commands(&["plan", "review"]);
    s.ctrl('p').press(Code::Down);
    s
}

fn died(size: Size) -> Scene {
    let mut s = in_a_turn(size);
    let exit = Exit { code: Some(1), signal: None };
    let words = format!("listening {}", "on every address that it has ".repeat(5));
    let stack = (1..=5).map(|n| format!("    at main.js:{n}:1"));
    let error = "Error: the socket is gone".to_owned();
    let stderr = [words, "connected".to_owned(), error].into_iter().chain(stack).collect();
    s.event(Event::Host(HostEvent::AgentExited { exit, stderr }));
    s
}

/// The agent has answered with an error.
fn failed(size: Size) -> Scene {
    let mut s = in_a_turn(size);
    let turn = s.model.first().session().last_turn();
    let mut error = CallError::new(ErrorKind::Other, "Internal error: API Error: 429 Rate limit exceeded");
    error.data = Some(serde_json::json!({ "details": "try again in 20 s" }));
    s.agent(AgentEvent::PromptAnswered { turn, result: Err(error) });
    s
}

fn log_in((width, height): Size) -> Scene {
    let mut s = Scene::new(width, height);
    s.start();
    let method = |id: &str, name: &str, description: &str, kind| AuthMethod {
        id: id.into(),
        name: name.into(),
        description: Some(description.into()),
        kind,
    };
    let args = vec!["login".to_owned(), "--with-browser".to_owned()];
    s.agent(AgentEvent::Initialized(Ok(InitResult {
        auth_methods: vec![
            method("web", "Browser", "Opens a page.", AuthKind::Agent),
            method("tty", "Terminal", "Asks there.", AuthKind::Terminal { args, env: Vec::new() }),
        ],
        ..InitResult::default()
    })));
    s.agent(AgentEvent::SessionOpened(Err(CallError::new(ErrorKind::AuthRequired, "Please log in"))));
    s
}

// ---- what is compared

fn compare(name: &str, draw: impl Fn(Theme) -> Picture) {
    let pictures = GROUNDS.map(|(_, depth, ground)| draw(Looks::auto(depth, ground).theme().clone()));
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(PICTURES);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, written(&pictures)));
}

/// The rows; below them the styles of each row in runs, letters for a style and how many columns have it; below these what
/// the letters stand for on each ground. Plain rows have no line of styles. Rows that are others elsewhere stand at the end.
fn written(pictures: &[Picture; GROUNDS.len()]) -> String {
    let (first, cursor) = &pictures[0];
    let mut letters: Vec<String> = Vec::new();
    let mut runs = String::new();
    for y in first.area.top()..first.area.bottom() {
        let look = |x| styles(pictures.each_ref().map(|(buf, _)| style(&buf[(x, y)])));
        let row: Vec<String> = (first.area.left()..first.area.right()).map(look).collect();
        if row.iter().all(|style| style == PLAIN) {
            continue;
        }
        write!(runs, "{y:>3}:").unwrap();
        for same in row.chunk_by(|a, b| a == b) {
            let letter = letters.iter().position(|known| *known == same[0]).unwrap_or_else(|| {
                letters.push(same[0].clone());
                letters.len() - 1
            });
            write!(runs, " {}{}", name_of(letter), same.len()).unwrap();
        }
        runs.push('\n');
    }
    let cursor = cursor.map_or("no cursor".to_owned(), |at| format!("cursor at column {}, row {}", at.x, at.y));
    let styles = letters.iter().enumerate().fold(String::new(), |mut all, (n, style)| {
        writeln!(all, "  {} {style}", name_of(n)).unwrap();
        all
    });
    let rule = "═".repeat(usize::from(first.area.width));
    format!("{}{rule}\n{cursor}\n{runs}{styles}{}", text(first), otherwise(pictures))
}

/// The rows that differ from those of the first ground.
fn otherwise(pictures: &[Picture; GROUNDS.len()]) -> String {
    let usual = text(&pictures[0].0);
    let mut out = String::new();
    for ((ground, ..), (buf, cursor)) in GROUNDS.iter().zip(pictures).skip(1) {
        assert_eq!(cursor, &pictures[0].1, "the cursor stands elsewhere: {ground}");
        for (y, (row, usual)) in text(buf).lines().zip(usual.lines()).enumerate() {
            if row != usual {
                writeln!(out, "{ground} {y:>3}: {row}").unwrap();
            }
        }
    }
    out
}

/// A style on all grounds; one that is the same on all of them once.
fn styles(all: [String; GROUNDS.len()]) -> String {
    if all.iter().all(|style| *style == all[0]) {
        let [style, ..] = all;
        return style;
    }
    let named = GROUNDS.iter().zip(all).map(|((ground, ..), style)| format!("{ground}: {style}"));
    named.collect::<Vec<_>>().join("; ")
}

fn name_of(letter: usize) -> String {
    let last = u8::try_from(letter % 26).expect("below 26");
    let first = if letter < 26 { String::new() } else { name_of(letter / 26 - 1) };
    format!("{first}{}", char::from(b'a' + last))
}

const PLAIN: &str = "plain";

fn style(cell: &Cell) -> String {
    let mut words = Vec::new();
    if cell.fg != Color::Reset {
        words.push(cell.fg.to_string());
    }
    if cell.bg != Color::Reset {
        words.push(format!("on {}", cell.bg));
    }
    words.extend(cell.modifier.iter_names().map(|(name, _): (&str, Modifier)| name.to_lowercase()));
    if words.is_empty() { PLAIN.to_owned() } else { words.join(" ") }
}

#[test]
fn no_picture_is_left_over() {
    let names: BTreeSet<String> = NAMES.iter().map(|name| format!("{name}.snap")).collect();
    let there = std::fs::read_dir(Path::new(PICTURES)).unwrap();
    let there: BTreeSet<String> = there.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    let is_picture = |file: &&String| Path::new(file).extension().is_some_and(|ending| ending == "snap");
    let left: Vec<_> = there.iter().filter(|file| is_picture(file) && !names.contains(*file)).collect();
    assert!(left.is_empty(), "in tests/pictures without a test: {left:?}");
}

type State = fn(Size) -> Scene;

/// The keys, each of which does in its place what another one did.
fn moved() -> Keymap {
    let (usual, mut file) = (Keymap::default(), String::new());
    for layer in LAYERS {
        for (at, row) in usual.help(layer).enumerate() {
            let mods = ["", "ctrl+", "alt+", "shift+", "ctrl+alt+", "ctrl+shift+", "alt+shift+"][at / 12];
            let bind =
                |on: &str, run: &str| format!("[[bind]]\non = {on:?}\nrun = {run:?}\nwhen = {:?}\n", layer.word());
            let bound: Vec<String> =
                row.keys.split(", ").map(str::to_lowercase).filter(|key| Key::parse(key).is_some()).collect();
            // A letter that is written stays where it is.
            if !matches!(row.action, Action::Char(_)) && !bound.is_empty() {
                bound.iter().filter(|key| key.len() > 1).for_each(|key| file.push_str(&bind(key, "none")));
                file.push_str(&bind(&format!("{mods}f{}", 13 + at % 12), &row.action.name()));
            }
        }
    }
    Keymap::read(&file, "keys.toml").0
}

/// The names of keys that take more than one letter, as they are shown.
fn names_of_keys(map: &Keymap) -> BTreeSet<String> {
    let rows = LAYERS.into_iter().flat_map(|layer| map.help(layer).map(|row| row.keys).collect::<Vec<_>>());
    let keys = rows.flat_map(|keys| keys.split(", ").map(str::to_owned).collect::<Vec<_>>());
    let short = |key: String| [key.replace("Ctrl+", "^"), key];
    keys.flat_map(short).filter(|key| key.chars().count() > 1).chain(["Del".to_owned()]).collect()
}

#[test]
fn every_key_that_the_screen_names_is_one_that_is_bound() {
    let moved = std::sync::Arc::new(moved());
    let (old, new) = (names_of_keys(&Keymap::default()), names_of_keys(&moved));
    let old: BTreeSet<_> = old.difference(&new).collect();
    let is_in_a_name = |c: char| c.is_alphanumeric() || "+^]".contains(c);
    let states: [(&str, State); 19] = [
        ("ready", ready),
        ("working", working),
        ("question", question),
        ("dangerous question", dangerous_question),
        ("review", review),
        ("sessions", sessions),
        ("panel", panel),
        ("died", died),
        ("failed", failed),
        ("log-in", log_in),
        ("help", help),
        ("options", |size| pressed(size, &[Key::plain(Code::F(2))])),
        ("reading", |size| pressed(size, &[Key::plain(Code::F(10))])),
        ("shell", |size| pressed(size, &[Key::char('!')])),
        ("written", |size| pressed(size, &[Key::char('a')])),
        ("queue", |size| held(size)),
        ("rule", |size| asked(size, 'a')),
        ("refusal", |size| asked(size, '!')),
        ("raw", |size| asked(size, 'v')),
    ];
    let mut wrong = Vec::new();
    for (name, state) in states {
        for size in [SMALL, USUAL, WIDE, WIDEST, (200, 60)] {
            let mut scene = state(size);
            scene.ui.keys = moved.clone();
            let screen = text(&scene.drawn(Theme::default()).0);
            let words = screen.split(|c| !is_in_a_name(c));
            wrong.extend(
                words
                    .filter(|word| old.contains(&(*word).to_owned()))
                    .map(|word| format!("{name} at {size:?}: {word}")),
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn pressed(size: Size, keys: &[Key]) -> Scene {
    let mut s = in_a_turn(size);
    s.draw();
    for key in keys {
        s.key(*key).draw();
    }
    s
}

fn held((width, height): Size) -> Scene {
    let mut s = Scene::working(width, height);
    s.intent(Intent::Prompt { text: "and then bump the version".into(), links: Vec::new() });
    s.intent(Intent::Prompt { text: "and the changelog".into(), links: Vec::new() });
    s.draw();
    s.press(Code::Up).draw();
    s
}

fn asked((width, height): Size, key: char) -> Scene {
    let mut s = Scene::asked(width, height);
    s.draw();
    s.after(1000).press(Code::Tab).draw();
    s.after(1000).key(Key::char(key)).draw();
    s
}

#[test]
fn what_has_no_key_is_not_promised() {
    let drawn = |file: &str, mut scene: Scene| {
        scene.ui.keys = std::sync::Arc::new(Keymap::read(file, "keys.toml").0);
        text(&scene.drawn(Theme::default()).0)
    };
    let screen = drawn("preset = \"emacs\"", ready(USUAL));
    assert!(screen.contains("all keys · Alt+X finds anything"), "{screen}");
    let none = "[[bind]]\non = [\"f1\", \"f2\", \"f3\", \"f4\", \"f8\", \"tab\", \"alt+p\", \"alt+r\"]\nrun = \"none\"";
    for screen in [drawn(none, ready(USUAL)), drawn(none, dangerous_question(USUAL)), drawn(none, died(USUAL))] {
        for key in ["F1", "F2", "F3", "F4", "F8", " Tab", "Alt+P", "Alt+R"] {
            assert!(!screen.contains(key), "{key}: {screen}");
        }
    }
    assert!(drawn(none, ready(USUAL)).contains("Ctrl+P    finds anything"), "{}", drawn(none, ready(USUAL)));
}
