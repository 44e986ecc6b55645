//! Scenes for tests: a model brought about by events, a screen state, inputs and drawn frames.

use super::keys::{Code, Key};
use super::msg::{FrameInfo, Out, What};
use super::state::App;
use super::state::reading::{Looked, Reach, Way};
use super::state::selection::{Grip, Selection};
use super::transcript::Transcript;
use super::tty::{Click, Input};
use super::update::{self, Cx};
use super::view::{self, Animation, ViewCx};
use crate::model::Model;
use crate::model::changes::{
    Cause, FileChange, FileDoc, HunkDoc, HunkId, HunkKind, HunkState, ReviewAction, ReviewDoc, ReviewEvent, Totals,
};
use crate::model::effect::{Effect, FrontEnd};
use crate::model::entry::{Block, ChunkKind};
use crate::model::event::{
    AgentEvent, AgentRequest, Event, Hint, HostEvent, InitResult, Intent, PermissionKind, PermissionOption,
    PromptAnswer, PromptResult, SessionResult, Stop, TerminalSpec, Update,
};
use crate::model::history::fixture::Memory;
use crate::model::ids::{Addressed, EntryId, ReqId, SessionId, SessionKey, TermId};
use crate::model::options::{Command, Mode, Modes};
use crate::model::patch::Patch;
use crate::model::reduce::reduce;
use crate::model::session::Policy;
use crate::model::tool::{Change, Exit, ToolContent, ToolKind, ToolPatch, ToolStatus};
use crate::text::diff::{Hunk, Kind};
use crate::text::grid::ScreenSnapshot;
use crate::text::run::StyledText;
use crate::theme::resolve::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub struct Scene {
    pub model: Model,
    /// What has left memory, where a test lets some leave.
    pub history: Memory,
    pub ui: App,
    pub transcript: Transcript,
    pub info: FrameInfo,
    pub now: Duration,
    pub size: (u16, u16),
    /// Everything that inputs have led to, apart from scrolling.
    pub outs: Vec<Out>,
    pub shown: String,
    /// The frame that was drawn last.
    pub buf: Buffer,
    pub theme: Theme,
}

impl Scene {
    pub fn new(width: u16, height: u16) -> Self {
        Self::within("/home/me/src/shop", width, height)
    }

    fn within(cwd: &str, width: u16, height: u16) -> Self {
        Self {
            model: Model::new("gemini --acp".into(), cwd.into(), Policy::Ask),
            history: Memory::default(),
            ui: App::default(),
            transcript: Transcript::new(),
            info: FrameInfo::default(),
            now: Duration::from_secs(1),
            size: (width, height),
            outs: Vec::new(),
            shown: String::new(),
            buf: Buffer::default(),
            theme: Theme::default(),
        }
    }

    /// A session that is ready.
    pub fn ready(width: u16, height: u16) -> Self {
        Self::ready_within("/home/me/src/shop", width, height)
    }

    /// The same in another directory.
    pub fn ready_within(cwd: &str, width: u16, height: u16) -> Self {
        let mut scene = Self::within(cwd, width, height);
        scene.start();
        scene.agent(AgentEvent::Initialized(Ok(InitResult {
            name: Some("gemini-cli".into()),
            version: Some("0.61.0".into()),
            ..InitResult::default()
        })));
        let mode = |id: &str, name: &str| Mode { id: id.into(), name: name.into(), description: None };
        scene.agent(AgentEvent::SessionOpened(Ok(Box::new(SessionResult {
            id: session(),
            modes: Some(Modes {
                current: "default".into(),
                pending: None,
                available: vec![mode("default", "default"), mode("plan", "plan")],
            }),
            options: None,
            model: None,
            commands: None,
            earlier: 0,
        }))));
        scene
    }

    /// A turn is under way.
    pub fn working(width: u16, height: u16) -> Self {
        let mut scene = Self::ready(width, height);
        scene.intent(Intent::Prompt { text: "Fix the subtraction in add().".into(), links: Vec::new() });
        scene
    }

    /// A turn waits for the person.
    pub fn asked(width: u16, height: u16) -> Self {
        let mut scene = Self::working(width, height);
        scene.ask(1, "cargo test --all -- --ignored", &["Allow once", "Always allow cargo test", "Reject"]);
        scene
    }

    pub fn start(&mut self) {
        self.intent(Intent::Start);
        self.event(Event::Host(HostEvent::AgentSpawned { pid: 1 }));
    }

    /// Without the screen taking note of it.
    fn reduce(&mut self, event: Event) -> Vec<Effect> {
        let effects = reduce(&mut self.model, event.at_home(), self.now);
        effects.into_iter().map(|effect| effect.what).collect()
    }

    pub fn show_review(&mut self, doc: Arc<ReviewDoc>) {
        self.reduce(Event::Host(HostEvent::Review(ReviewEvent::ReviewShown { doc })));
    }

    pub fn close_review(&mut self) {
        self.reduce(Event::User(Intent::Review(ReviewAction::Close)));
    }

    pub fn show_screen(&mut self, term: TermId, screen: Arc<ScreenSnapshot>) {
        self.reduce(Event::Hint(Hint::Screen(term, screen)));
    }

    pub fn event(&mut self, event: Event) -> Vec<Effect> {
        let effects = self.reduce(event);
        for effect in &effects {
            if let Effect::FrontEnd(news) = effect {
                update::news(&mut self.ui, Addressed::new(SessionKey::FIRST, news.clone()), self.now);
            }
        }
        self.ui.sync(&self.model, self.now);
        effects
    }

    pub fn agent(&mut self, event: AgentEvent) -> Vec<Effect> {
        self.event(Event::Agent(event))
    }

    pub fn intent(&mut self, intent: Intent) -> Vec<Effect> {
        self.event(Event::User(intent))
    }

    pub fn update(&mut self, update: Update) {
        self.agent(AgentEvent::Update { session: session(), update });
    }

    pub fn say(&mut self, text: &str) {
        self.chunk(ChunkKind::Agent, text);
    }

    pub fn chunk(&mut self, kind: ChunkKind, text: &str) {
        self.update(Update::Chunk { kind, message_id: None, block: Block::Text(text.into()) });
    }

    pub fn tool(&mut self, id: &str, kind: ToolKind, title: &str, status: ToolStatus) {
        let mut patch = ToolPatch::new(id.into());
        patch.kind = Patch::Set(kind);
        patch.title = Patch::Set(title.into());
        patch.status = Patch::Set(status);
        self.update(Update::ToolCall(patch.into()));
    }

    /// A command of ours that no call shows.
    pub fn starts(&mut self, req: u64, command: &str) -> TermId {
        let spec = TerminalSpec {
            command: command.into(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: None,
            limit: None,
            patience: None,
        };
        let request = AgentRequest::TerminalCreate(spec);
        self.agent(AgentEvent::Request { req: ReqId(req), session: Some(session()), request: request.into() });
        let term: TermId = format!("term-{req}").as_str().into();
        self.event(Event::Host(HostEvent::TerminalStarted { req: ReqId(req), term: term.clone() }));
        term
    }

    /// A tool call that shows a running command of ours.
    pub fn runs(&mut self, req: u64, command: &str) {
        let term = self.starts(req, command);
        let mut patch = ToolPatch::new(format!("run-{req}").into());
        patch.kind = Patch::Set(ToolKind::Execute);
        patch.title = Patch::Set(command.into());
        patch.status = Patch::Set(ToolStatus::InProgress);
        patch.content = Patch::Set(vec![ToolContent::Terminal(term)]);
        self.update(Update::ToolCall(patch.into()));
    }

    /// The command of [`Scene::runs`] prints.
    pub fn prints(&mut self, req: u64, text: &str) {
        let term: TermId = format!("term-{req}").as_str().into();
        let generation =
            self.model.first().session().terminal(&term).and_then(|t| t.screen.as_ref()).map_or(0, |s| s.generation)
                + 1;
        let rows = text.lines().map(StyledText::from).collect();
        let screen = ScreenSnapshot { rows, cols: 100, generation, ..ScreenSnapshot::default() };
        self.reduce(Event::Host(HostEvent::TerminalMoved { term: term.clone() }));
        self.show_screen(term, Arc::new(screen));
    }

    /// The command of [`Scene::runs`] ends.
    pub fn exits(&mut self, req: u64, code: u32) {
        let term: TermId = format!("term-{req}").as_str().into();
        let exit = Exit { code: Some(code.into()), signal: None };
        self.event(Event::Host(HostEvent::TerminalExited { term, exit, end: String::new() }));
    }

    pub fn commands(&mut self, names: &[&str]) {
        let command = |n: &&str| Command { name: (*n).into(), description: format!("does {n}"), hint: None };
        self.update(Update::Commands(names.iter().map(command).collect()));
    }

    pub fn ask(&mut self, req: u64, title: &str, options: &[&str]) {
        let mut patch = ToolPatch::new(format!("call-{req}").into());
        patch.kind = Patch::Set(ToolKind::Execute);
        patch.title = Patch::Set(title.into());
        self.ask_patch(req, patch, options);
    }

    pub fn ask_edit(&mut self, req: u64, path: &str, old: &str, new: &str, options: &[&str]) {
        let mut patch = ToolPatch::new(format!("call-{req}").into());
        patch.kind = Patch::Set(ToolKind::Edit);
        patch.title = Patch::Set(path.into());
        patch.content = Patch::Set(vec![ToolContent::Change(Change::of_texts(path, Some(old.into()), new.into()))]);
        self.ask_patch(req, patch, options);
    }

    pub fn ask_patch(&mut self, req: u64, tool: ToolPatch, options: &[&str]) {
        let options = options
            .iter()
            .enumerate()
            .map(|(n, name)| PermissionOption {
                id: format!("opt-{}", n + 1),
                name: (*name).into(),
                kind: PermissionKind::Unknown,
            })
            .collect();
        let request = AgentRequest::Permission { tool, options };
        self.agent(AgentEvent::Request { req: ReqId(req), session: Some(session()), request: request.into() });
        self.draw();
    }

    pub fn end_turn(&mut self, stop: Stop) {
        let turn = self.model.first().session().last_turn();
        let result = Ok(PromptAnswer::Ended(PromptResult { stop, usage: None }));
        self.agent(AgentEvent::PromptAnswered { turn, result });
    }

    pub fn after(&mut self, ms: u64) -> &mut Self {
        self.now += Duration::from_millis(ms);
        if let Some(intent) = self.ui.view.rested_mode(self.now) {
            self.intent(intent.clone());
            self.outs.push(Out::Intent(intent));
        }
        self.ui.sync(&self.model, self.now);
        self
    }

    /// Feeds an input as the loop does: what it leads to is carried out at once.
    pub fn input(&mut self, input: Input) {
        let cx = cx_of(&self.model, &self.history, &self.info, self.now);
        for out in update::input(&mut self.ui, cx, input) {
            match &out {
                Out::Intent(intent) | Out::Send { intent, .. } => drop(self.intent(intent.clone())),
                Out::Seek(way) => self.seek(*way),
                Out::Fold(entry) => self.fold(*entry),
                Out::FoldInPlace(entry) => self.fold_in_place(*entry),
                Out::Select(from, to) => self.select(*from, *to),
                Out::CopySelected => self.copy_selected(),
                _ => {}
            }
            if !matches!(out, Out::Scroll(_) | Out::Seek(_) | Out::Select(..) | Out::CopySelected)
                && !matches!(out, Out::Fold(_) | Out::FoldInPlace(_))
            {
                self.outs.push(out);
            }
        }
    }

    fn view_cx(&self) -> ViewCx<'_> {
        ViewCx {
            model: &self.model,
            session: self.model.first(),
            history: &self.history,
            state: &self.ui,
            theme: &self.theme,
            now: self.now,
            animation: Animation::On,
            home: Some(Path::new("/home/me")),
        }
    }

    fn fold(&mut self, entry: EntryId) {
        let mut transcript = std::mem::take(&mut self.transcript);
        let cx = self.view_cx();
        let fold = transcript.next_fold(&cx.draw_ctx(), self.info.transcript, entry);
        self.transcript = transcript;
        if let Some((entry, fold)) = fold {
            self.ui.view.folds.set(entry, fold);
        }
    }

    fn fold_in_place(&mut self, entry: EntryId) {
        let mut transcript = std::mem::take(&mut self.transcript);
        let held = transcript.held(&self.view_cx().draw_ctx(), self.info.transcript, self.ui.view.scroll);
        self.transcript = transcript;
        self.fold(entry);
        let mut transcript = std::mem::take(&mut self.transcript);
        let held = transcript.settled(&self.view_cx().draw_ctx(), self.info.transcript, held);
        self.transcript = transcript;
        self.ui.view.scroll = held;
    }

    fn seek(&mut self, way: Way) {
        if !self.seek_in(way) {
            let cx = cx_of(&self.model, &self.history, &self.info, self.now);
            if update::reading::seek_on(&mut self.ui, cx, way) != Looked::Found {
                return;
            }
            self.seek_in(way);
        }
        let cx = cx_of(&self.model, &self.history, &self.info, self.now);
        update::reading::tell_place(&mut self.ui, cx);
    }

    fn seek_in(&mut self, way: Way) -> bool {
        if self.seek_here(way, Reach::Seen) {
            return true;
        }
        let at = self.ui.view.reading.as_ref().expect("reading").at;
        let mut transcript = std::mem::take(&mut self.transcript);
        let row = transcript.sharing(&self.view_cx().draw_ctx(), self.info.transcript, at);
        self.transcript = transcript;
        let cx = cx_of(&self.model, &self.history, &self.info, self.now);
        let unfolded = update::reading::open_sought(&mut self.ui, cx, way, &row);
        if unfolded > 0 {
            if self.seek_here(way, Reach::Seen) {
                return true;
            }
            update::reading::fold_in_vain(&mut self.ui, at, unfolded);
        }
        self.ui.view.reading.as_ref().is_some_and(|one| one.opened.is_empty()) && self.seek_here(way, Reach::Laid)
    }

    fn seek_here(&mut self, way: Way, reach: Reach) -> bool {
        let mut transcript = std::mem::take(&mut self.transcript);
        let (cx, mut scroll) = (self.view_cx().draw_ctx(), self.ui.view.scroll);
        let reading = self.ui.view.reading.as_ref().expect("reading");
        let (at, sought) = ((reading.at, reading.hit.as_ref()), (&reading.sought, way, reach));
        let hit = transcript.seek(&cx, self.info.transcript, &mut scroll, at, sought);
        self.transcript = transcript;
        let found = hit.is_some();
        if found {
            self.ui.view.scroll = scroll;
            self.ui.view.reading.as_mut().expect("reading").hit = hit;
        }
        found
    }

    fn select(&mut self, from: Position, to: Position) {
        let mut transcript = std::mem::take(&mut self.transcript);
        let cx = self.view_cx().draw_ctx();
        let mut at = |at| transcript.spot(&cx, self.info.transcript, self.ui.view.scroll, at).unwrap();
        let begun = self.ui.view.grip.selection().map(|selection| selection.from.clone());
        let selection = Selection { from: begun.unwrap_or_else(|| at(from)), to: at(to) };
        self.transcript = transcript;
        self.ui.view.grip = Grip::Moves(selection);
    }

    fn copy_selected(&mut self) {
        let mut transcript = std::mem::take(&mut self.transcript);
        let cx = self.view_cx().draw_ctx();
        let text = cx.selection.map(|selection| transcript.selected(&cx, self.info.transcript, selection).0);
        self.transcript = transcript;
        self.outs.extend(text.map(|text| Out::Copy(What::Characters(text.chars().count()), text)));
    }

    /// The left button goes down and up again.
    pub fn click(&mut self, x: u16, y: u16) {
        self.input(Input::Mouse { what: Click::Left, x, y });
        self.input(Input::Mouse { what: Click::Up, x, y });
    }

    /// The same with a motion between, and a frame after it.
    pub fn drag(&mut self, from: (u16, u16), to: (u16, u16)) {
        self.input(Input::Mouse { what: Click::Left, x: from.0, y: from.1 });
        self.input(Input::Mouse { what: Click::Drag, x: to.0, y: to.1 });
        self.draw();
        self.input(Input::Mouse { what: Click::Up, x: to.0, y: to.1 });
    }

    pub fn press(&mut self, code: Code) -> &mut Self {
        self.key(Key::plain(code))
    }

    pub fn key(&mut self, key: Key) -> &mut Self {
        self.input(Input::Key(key));
        self
    }

    pub fn ctrl(&mut self, c: char) -> &mut Self {
        self.key(Key::ctrl(Code::Char(c)))
    }

    pub fn typed(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            self.key(Key::char(c));
        }
        self
    }

    /// Draws a frame; `shown` is its text without blanks at the end of rows.
    pub fn draw(&mut self) -> &str {
        let mut buf = Buffer::empty(Rect::new(0, 0, self.size.0, self.size.1));
        let mut transcript = std::mem::take(&mut self.transcript);
        let info = view::draw(&self.view_cx(), &mut transcript, &mut buf);
        (self.info, self.transcript) = (info, transcript);
        self.ui.has_panel = !self.info.panel.is_empty();
        self.ui.view.note_frame(
            (self.info.scroll, self.info.seen_end),
            (self.info.dialog.as_ref(), self.info.seen),
            self.now,
        );
        if let (Some(review), Some(frame)) = (&mut self.ui.view.review, &self.info.review) {
            review.measure(frame.measured);
        }
        self.shown = text(&buf);
        self.buf = buf;
        &self.shown
    }

    pub fn row(&self, y: usize) -> &str {
        self.shown.lines().nth(y).unwrap_or_default()
    }

    pub fn last_row(&self) -> &str {
        self.row(usize::from(self.size.1) - 1)
    }

    pub fn intents(&self) -> Vec<Intent> {
        self.outs
            .iter()
            .filter_map(|out| match out {
                Out::Intent(intent) | Out::Send { intent, .. } => Some(intent.clone()),
                _ => None,
            })
            .collect()
    }

    pub fn answers(&self) -> Vec<(u64, String)> {
        self.intents()
            .into_iter()
            .filter_map(|i| if let Intent::Answer { req, option } = i { Some((req.0, option)) } else { None })
            .collect()
    }
}

pub fn session() -> SessionId {
    "s1".into()
}

pub fn text(buf: &Buffer) -> String {
    let mut out = String::new();
    for y in buf.area.top()..buf.area.bottom() {
        let mut row = String::new();
        let mut skip = 0;
        for x in buf.area.left()..buf.area.right() {
            let symbol = buf[(x, y)].symbol();
            if skip == 0 {
                row.push_str(symbol);
                skip = crate::text::width::str_width(symbol).max(1);
            }
            skip -= 1;
        }
        out.push_str(row.trim_end());
        out.push('\n');
    }
    out
}

/// Only used where a scene needs news by hand.
pub fn returned(text: &str) -> Addressed<FrontEnd> {
    Addressed::new(SessionKey::FIRST, FrontEnd::Returned(text.into()))
}

/// A review of four files, made by hand.
pub fn review_doc(rev: u64) -> Arc<ReviewDoc> {
    let cart_old: Vec<String> = (1..=120).map(|n| format!("    let line_{n} = {n};")).collect();
    let mut cart_new = cart_old.clone();
    cart_new[42] = "    for item in items { sum += item.price; }".into();
    cart_new[43] = "    // What a discount takes off.".into();
    cart_new.insert(44, "    let rate = discount(\"summer\", 10);".into());
    cart_new.remove(90);
    cart_new[110] = "\tlet last = \"the end\"; ".to_owned() + &"// a long line ".repeat(12);
    let mut files = vec![
        file_doc(
            "Cargo.toml",
            "version = \"0.1.0\"\nedition = \"2024\"\n",
            "version = \"0.2.0\"\nedition = \"2024\"\n",
        ),
        file_doc("notes.md", "", "# Notes\n\nThe sum is right now."),
        file_doc("src/cart.rs", &cart_old.join("\n"), &cart_new.join("\n")),
        file_doc(
            "src/main.rs",
            "use std::env;\n\nfn add(a: i32, b: i32) -> i32 { a - b }\n",
            "use std::env;\n\n/// Adds two numbers.\nfn add(a: i32, b: i32) -> i32 { a + b }\n",
        ),
        file_doc("assets/logo.png", "", ""),
    ];
    files[0].hunks[0].state = HunkState::Accepted;
    files[1].change = FileChange::Created;
    files[2].hunks[0].heading = "fn total(items: &[Item]) -> u64 {".into();
    files[2].hunks[1].state = HunkState::Rejected;
    files[2].hunks[2].conflict = Some("you changed line 111 since".into());
    files[2].hunks[2].cause = Cause::Command;
    files[3].held = Some(ReqId(9));
    let whole = HunkKind::Whole("binary, 2.1 kB → 3.0 kB".into());
    files[4].hunks =
        vec![HunkDoc { what: whole, added: 0, removed: 0, lines: Arc::default(), ..files[3].hunks[0].clone() }];
    files[4].hunks[0].id = HunkId(900);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    doc_of(rev, files)
}

/// A document of these files, its sums counted.
pub fn doc_of(rev: u64, files: Vec<FileDoc>) -> Arc<ReviewDoc> {
    let sum = |count: fn(&FileDoc) -> u64| files.iter().map(count).sum();
    let hunks = files.iter().map(|f| f.hunks.len() as u64).sum();
    let totals = Totals {
        added: sum(|f| f.added),
        removed: sum(|f| f.removed),
        files: files.len() as u64,
        pending: sum(|f| f.pending() as u64),
    };
    let decided = (hunks - totals.pending, hunks);
    let files = files.into_iter().map(Arc::new).collect();
    Arc::new(ReviewDoc { rev, turns: vec![1, 2, 3], files, totals, decided, ..ReviewDoc::default() })
}

/// The change of one file, with its hunks as a diff finds them.
pub fn file_doc(path: &str, old: &str, new: &str) -> FileDoc {
    let diff = crate::text::diff::diff(old, new, 3);
    let seed = path.bytes().fold(7_u64, |sum, b| sum.wrapping_mul(31).wrapping_add(u64::from(b)));
    let count = |h: &Hunk, kind| h.lines.iter().filter(|line| line.kind == kind).count() as u32;
    let hunks = diff.hunks.into_iter().enumerate().map(|(n, h)| HunkDoc {
        id: HunkId(seed.wrapping_add(n as u64)),
        state: HunkState::Pending,
        cause: Cause::Tool,
        entry: None,
        elsewhere: None,
        turn: 3,
        old_start: h.old_start,
        new_start: h.new_start,
        heading: String::new(),
        what: HunkKind::Lines,
        count: 1,
        added: count(&h, Kind::Add),
        removed: count(&h, Kind::Del),
        lines: h.lines.into(),
        conflict: None,
    });
    FileDoc {
        path: path.into(),
        renamed_from: None,
        change: FileChange::Modified,
        added: diff.added.into(),
        removed: diff.removed.into(),
        cause: Cause::Tool,
        hunks: hunks.collect(),
        note: None,
        held: None,
    }
}

/// What update functions may read of a scene.
pub fn cx_of<'a>(model: &'a Model, history: &'a Memory, frame: &'a FrameInfo, now: Duration) -> Cx<'a> {
    Cx { model, session: model.first(), history, frame, now }
}
