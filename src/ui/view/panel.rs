//! The panel at the right of wide screens: plan, changed files, what runs, prompts that wait, context and cost, and
//! other sessions.
//!
//! Sums up what stands elsewhere and is asked for nothing. Invariants: it looks at a bounded number of the newest
//! entries; it never covers the conversation, and gives way to the review.

use super::{ViewCx, paint, sessions};
use crate::base::{human, paths, sanitize};
use crate::model::budget::Budget;
use crate::model::changes::FileTotals;
use crate::model::entries::Slot;
use crate::model::entry::{Body, Entry, FileOutcome, PlanEntry, PlanStatus};
use crate::model::event::Background;
use crate::model::ids::{Owner, TermId};
use crate::model::options::Usage;
use crate::model::session_ref::SessionRef;
use crate::model::terminal::Terminal;
use crate::model::tool::{Change, Operation, ToolContent};
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;
use crate::text::width;
use crate::ui::cells::plan;
use crate::ui::keys::Layer;
use crate::ui::labels;
use crate::ui::state::PANEL_FROM;
use crate::ui::state::attention::Attention;
use crate::ui::status_line;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::path::{Path, PathBuf};

/// Its columns, the line at its left counted.
const COLUMNS: u16 = 40;
/// Entries that are looked at for the plan and the files.
const LOOK_BACK: usize = 1000;
/// Rows of one part.
const PLAN: usize = 12;
const FILES: usize = 8;
const FEW: usize = 4;
/// Said of a file that is in none of the session's directories, and in no sum.
const OUTSIDE: &str = "outside";

/// What the panel leaves to the conversation, and its own place where it is shown.
pub fn place(cx: &ViewCx<'_>, area: Rect) -> (Rect, Option<Rect>) {
    let has_begun = !cx.session.is_untouched();
    if cx.state.hides_panel || area.width < PANEL_FROM || !has_begun {
        return (area, None);
    }
    let left = Rect { width: area.width - COLUMNS, ..area };
    (left, Some(Rect { x: left.right(), width: COLUMNS, ..area }))
}

/// Rows of the panel: what stands at the left, and at the right end.
#[derive(Default)]
struct Rows {
    rows: Vec<(StyledText, StyledText)>,
}

impl Rows {
    fn head(&mut self, name: &str, right: impl Into<String>) {
        if !self.rows.is_empty() {
            self.rows.push((StyledText::new(), StyledText::new()));
        }
        let style = RunStyle::from(Token::Dim).with_mods(Mods::BOLD);
        self.rows.push((StyledText::of(name, style), StyledText::of(right, Token::Dim)));
    }

    fn row(&mut self, sign: (&str, Token), words: &str, token: impl Into<RunStyle>, right: StyledText) {
        let mut text = StyledText::of(format!(" {} ", sign.0), sign.1);
        text.push(&sanitize::line(words), token);
        self.rows.push((text, right));
    }

    fn hint(&mut self, cx: &ViewCx<'_>, words: &'static str) {
        let words = cx.say(Layer::Composer, words);
        if !words.is_empty() {
            self.rows.push((StyledText::of(format!("   {}", words.trim()), Token::Dim), StyledText::new()));
        }
    }

    fn step(&mut self, sign: (&str, Token), content: &str, style: RunStyle) {
        let mut text = StyledText::of(format!(" {} ", sign.0), sign.1);
        text.append(&plan::words(content, style));
        self.rows.push((text, StyledText::new()));
    }

    fn more(&mut self, all: usize, shown: usize) {
        if all > shown {
            self.rows.push((StyledText::of(format!("   … {} more", all - shown), Token::Dim), StyledText::new()));
        }
    }
}

pub fn draw(cx: &ViewCx<'_>, area: Rect, buf: &mut Buffer) {
    let mut rows = Rows::default();
    let newest = || cx.session.session().entries().slots().rev().take(LOOK_BACK).filter_map(Slot::here);
    let plan = newest().find_map(|entry| if let Body::Plan(plan) = &entry.body { Some(plan) } else { None });
    if let Some(plan) = plan {
        steps(plan, &mut rows);
    }
    changed(cx, newest(), &mut rows);
    running(cx, &mut rows);
    background(cx, &mut rows);
    held(cx.session, &mut rows);
    if let Some(usage) = &cx.session.usage {
        context(usage, &mut rows);
    }
    if let Some(today) = cx.model.budget().and_then(Budget::today) {
        rows.rows.push((StyledText::of(format!(" {today}"), Token::Dim), StyledText::new()));
    }
    others(cx, &mut rows);
    if rows.rows.is_empty() {
        rows.rows.push((cx.dim(Layer::Composer, "plan, files, commands · {F5} hides"), StyledText::new()));
    }
    let line = StyledText::of("│", Token::Rule);
    for y in area.y..area.bottom() {
        paint::put(buf, area.x, y, 1, &line, cx.theme);
    }
    let inner = Rect { x: area.x + 2, width: area.width.saturating_sub(3), ..area };
    for ((left, right), y) in rows.rows.iter().zip(inner.y..inner.bottom()) {
        let figures = width::styled_width(right);
        let room = usize::from(inner.width).saturating_sub(if figures == 0 { 0 } else { figures + 1 });
        let left = width::truncate_styled(left, room);
        let at = Rect { y, height: 1, ..inner };
        let used = paint::put(buf, at.x, y, at.width, &left, cx.theme);
        paint::put_right(buf, at, used, right, cx.theme);
    }
}

fn steps(plan: &[PlanEntry], rows: &mut Rows) {
    let done = plan.iter().filter(|entry| entry.status == PlanStatus::Completed).count();
    rows.head("PLAN", format!("{done} of {}", plan.len()));
    // What is under way is in view, and a little of what is done.
    let now = plan.iter().position(|entry| entry.status != PlanStatus::Completed).unwrap_or(0);
    let from = now.saturating_sub(2).min(plan.len().saturating_sub(PLAN));
    for entry in plan.iter().skip(from).take(PLAN) {
        let (sign, token) = match entry.status {
            PlanStatus::Completed => (("✓", Token::SignGood), Token::Dim.into()),
            PlanStatus::InProgress => (("▸", Token::SignRun), RunStyle::from(Token::Text).with_mods(Mods::BOLD)),
            _ => (("·", Token::Dim), Token::Text.into()),
        };
        rows.step(sign, &entry.content, token);
    }
    rows.more(plan.len(), from + PLAN);
}

/// The files that calls and writes name, the newest first, then others that the review has found changed; what it knows of
/// their lines.
fn changed<'a>(cx: &ViewCx<'a>, newest: impl Iterator<Item = &'a Entry>, rows: &mut Rows) {
    let changes = cx.session.session().changes();
    let (totals, known) = (changes.totals, &changes.newest);
    let cwd = [PathBuf::from(&cx.session.cwd)];
    let roots: Vec<PathBuf> =
        cwd.iter().cloned().chain(cx.model.directories(cx.session.key()).iter().map(PathBuf::from)).collect();
    let place = |path: &str| paths::normalize(&Path::new(&cx.session.cwd).join(path));
    let figures: Vec<(PathBuf, &FileTotals)> = known.iter().map(|file| (place(&file.path), file)).collect();
    let mut files: Vec<(&str, PathBuf, char)> = Vec::new();
    let seen = known.iter().map(|file| (file.path.as_str(), sign_of(file)));
    for (path, sign) in newest.flat_map(changes_of).chain(seen) {
        if files.iter().any(|(known, ..)| *known == path) {
            continue;
        }
        let place = place(path);
        // One file may be named in several ways.
        if !files.iter().any(|(_, known, _)| *known == place) {
            files.push((path, place, sign));
        }
    }
    if files.is_empty() && totals.is_empty() {
        return;
    }
    let open = labels::to_review(totals)
        .map(|open| format!("{open}{}", cx.say(Layer::Composer, " · {F3}")))
        .unwrap_or_default();
    rows.head("CHANGED", open);
    for (path, place, sign) in files.iter().take(FILES) {
        let shown = paths::display(Path::new(path), &cwd, cx.home);
        let known = figures.iter().find(|(known, _)| known == place);
        // A call need not say that the file was not there.
        let sign = known.map(|(_, file)| sign_of(file)).filter(|_| *sign == '~').unwrap_or(*sign);
        let right = match known {
            _ if is_outside(path, &roots) => StyledText::of(OUTSIDE, Token::Warn),
            Some((_, file)) => lines(file.added, file.removed),
            None => StyledText::new(),
        };
        let room = usize::from(COLUMNS) - 6 - if right.is_empty() { 0 } else { width::styled_width(&right) + 1 };
        let shown = width::truncate_start(&shown, room).into_owned();
        let token = match sign {
            '+' => Token::Good,
            '−' => Token::Danger,
            _ => Token::Dim,
        };
        rows.row((sign.encode_utf8(&mut [0; 4]), token), &shown, Token::Text, right);
    }
    // What a command has changed is summed up as well, and no call names it.
    let named = files.iter().filter(|(path, ..)| !is_outside(path, &roots)).count();
    let unnamed = usize::try_from(totals.files).unwrap_or(usize::MAX).saturating_sub(named);
    if files.is_empty() {
        rows.rows.push((StyledText::of("   named by no call", Token::Dim), StyledText::new()));
    }
    rows.more(if files.is_empty() { 0 } else { files.len().saturating_add(unnamed) }, files.len().min(FILES));
    let is_only =
        totals.files == 1 && files.iter().any(|(_, place, _)| figures.iter().any(|(known, _)| known == place));
    if !totals.is_empty() && !is_only {
        let mut sums = StyledText::of("   ", Token::Dim);
        sums.append(&lines(totals.added, totals.removed));
        sums.push(&format!(" in {}", human::count(totals.files, "file")), Token::Dim);
        rows.rows.push((sums, StyledText::new()));
    }
}

/// Whether the review has found it new, gone or another.
const fn sign_of(file: &FileTotals) -> char {
    match (file.is_new, file.is_gone) {
        (true, _) => '+',
        (_, true) => '−',
        _ => '~',
    }
}

fn lines(added: u64, removed: u64) -> StyledText {
    let mut lines = StyledText::of(format!("+{added}"), Token::Good);
    lines.push(&format!(" −{removed}"), Token::Bad);
    lines
}

/// Whether a path is in none of the session's directories, as it is written: the disk is not looked at here.
fn is_outside(path: &str, roots: &[PathBuf]) -> bool {
    let path = paths::normalize(Path::new(path));
    let is_below = |root: &PathBuf| path.starts_with(paths::normalize(root));
    if path.is_absolute() { !roots.iter().any(is_below) } else { path.starts_with("..") }
}

/// Paths, and whether the file is new, gone or another.
fn changes_of(entry: &Entry) -> Vec<(&str, char)> {
    match &entry.body {
        Body::Tool(tool) if !tool.refused && tool.is_finished() => {
            let changes = tool.content.iter().filter_map(ToolContent::change);
            // Some agents send an empty old text for a file that is not there.
            let was_empty = |change: &Change| {
                change.texts().is_some_and(|(old, new)| old.is_some_and(|old| old.is_empty()) && !new.is_empty())
            };
            let sign = |change: &Change| match change.operation {
                Operation::Add => '+',
                Operation::Delete => '−',
                _ if was_empty(change) => '+',
                _ => '~',
            };
            let mut files: Vec<(&str, char)> = changes.map(|change| (change.path.as_str(), sign(change))).collect();
            // As the review counts those of one call.
            files.sort_by_key(|(path, _)| Path::new(*path));
            files.truncate(FILES + 1);
            files
        }
        Body::File(op) => match &op.outcome {
            FileOutcome::Written { created, .. } => vec![(op.path.as_str(), if *created { '+' } else { '~' })],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn running(cx: &ViewCx<'_>, rows: &mut Rows) {
    let mut commands: Vec<&Terminal> = cx.session.session().terminals().filter(|term| term.is_running()).collect();
    if commands.is_empty() {
        return;
    }
    commands.sort_by_key(|term| std::cmp::Reverse((term.started, term.entry)));
    rows.head("RUNNING", "");
    for term in commands.iter().take(FEW) {
        let time = human::duration(cx.now.saturating_sub(term.started));
        rows.row((cx.spinner(), Token::SignRun), &term.command, Token::Text, StyledText::of(time, Token::Dim));
    }
    rows.more(commands.len(), FEW);
    if cx.session.running_terminal().is_some() {
        rows.hint(cx, "   {F6} types into it · {F7} kills it");
    }
}

/// What the agent does beside its turns, as it tells it (V2-057).
fn background(cx: &ViewCx<'_>, rows: &mut Rows) {
    let (session, all) = (cx.session.session(), cx.session.background.len());
    if all == 0 {
        return;
    }
    rows.head("BACKGROUND", all.to_string());
    for item in session.background.iter().take(FEW) {
        let (kind, words) = match item {
            Background::Tool(id) => ("call", session.call_named(id).map(|tool| tool.title.as_str())),
            Background::Terminal(name) => {
                let id = TermId::of(Owner::Agent, name.as_str());
                ("command", session.terminal(&id).map(|term| term.command.as_str()))
            }
            Background::Child(_) => ("sub-agent", None),
            Background::Other(kind) => (kind.as_str(), None),
        };
        rows.row(("·", Token::SignRun), words.unwrap_or(kind), Token::Text, StyledText::new());
    }
    rows.more(all, FEW);
    if session.cancellable().is_some() {
        rows.hint(cx, "   {F7} ends the newest alone");
    }
}

fn held(session: SessionRef<'_>, rows: &mut Rows) {
    let prompts = session.held.iter();
    let all = prompts.len();
    if all == 0 {
        return;
    }
    let how = if session.held.flows() { "queued" } else { "held" };
    rows.head("NEXT PROMPTS", format!("{all} {how}"));
    for (at, prompt) in prompts.take(FEW).enumerate() {
        let number = (at + 1).to_string();
        let words = prompt.text.get(..prompt.text.floor_char_boundary(200)).unwrap_or_default();
        rows.row((&number, Token::Dim), words, Token::Text, StyledText::new());
    }
    rows.more(all, FEW);
}

fn context(usage: &Usage, rows: &mut Rows) {
    if usage.size > 0 {
        let percent = status_line::percent(usage);
        rows.head("CONTEXT", format!("{percent} % of {}", human::tokens(usage.size)));
        let bar = status_line::gauge(percent, usize::from(COLUMNS) - 5);
        let token = if percent >= status_line::NEARLY_FULL { Token::Warn } else { Token::Dim };
        rows.rows.push((StyledText::of(format!(" {bar}"), token), StyledText::new()));
    } else if usage.used > 0 {
        rows.head("CONTEXT", format!("{} tokens", human::tokens(usage.used)));
    }
    if let Some(cost) = usage.cost.as_ref().and_then(labels::cost) {
        rows.rows.push((StyledText::of(format!(" {cost}"), Token::Dim), StyledText::new()));
    }
}

fn others(cx: &ViewCx<'_>, rows: &mut Rows) {
    let others: Vec<_> = cx.state.views().into_iter().filter(|(key, _)| *key != cx.session.key()).collect();
    if others.is_empty() {
        return;
    }
    rows.head("OTHER SESSIONS", cx.say(Layer::Composer, "{F8}"));
    for (key, view) in others.iter().take(FEW) {
        let Some(session) = cx.model.at(*key) else { continue };
        let attention = Attention::of(session, view);
        let sign = Some(attention.sign()).filter(|sign| !sign.is_empty()).unwrap_or("·");
        let name = sessions::label(cx, session, usize::from(COLUMNS) - 22);
        rows.row((sign, attention.token()), &name, Token::Text, StyledText::of(attention.words(), attention.token()));
    }
    rows.more(others.len(), FEW);
}
