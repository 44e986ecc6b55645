//! Tool calls: one line that says what was done to what, and a body for what failed, runs, waits or was opened.
//!
//! Shows what the agent reports and does not judge it. Invariant: state, verb and object are on the first line
//! at any width; figures and times give way first.

use super::diffs::{self, indented};
use super::head::{BETWEEN_NAMES, Clock, FOLDED, head, is_path, names_in, pad_verb};
use super::lines::dim;
use super::message::{block, display, label};
use super::named::{
    arguments, asked_command, command, deed, is_here, kind_of, object, object_told, only_asks, own_command, place_named,
};
use super::terminal::{self, OPENED, PREVIEW, TAIL};
use super::{CellCtx, Places, SPINNER, group, gutter, is_waiting, moved, nested, values};
use crate::base::exit::Exit;
use crate::model::entry::{Block, Entry};
use crate::model::session_ref::SessionRef;
use crate::model::tool::{Location, Mark, ToolCall, ToolContent, ToolKind, ToolStatus};
use crate::text::diff::{Budget, FileDiff};
use crate::text::line::{LogicalLine, WrapMode};
use crate::text::run::StyledText;
use crate::text::token::Token;
use crate::text::width;
use crate::ui::state::folds::Fold;
use serde_json::Value;
use std::borrow::Cow;

/// Said of a call that the person has allowed.
const ALLOWED: &str = "you allowed it";
/// Columns that are left of what is done to, for what was answered.
const LEAST: usize = 16;
/// Columns of a path that is cut short beside others, at least.
const SHORT_NAME: usize = 6;
/// Columns of the first line that a command has not: the verb, and what was answered.
const BESIDE_COMMAND: usize = 28;
/// Lines of a diff that shows by itself.
const DIFF_PREVIEW: usize = 12;
/// Lines of text that were opened: as many as agents read of a file at once.
const TEXT_OPENED: usize = OPENED;
/// Locations that are listed.
const MAX_LOCATIONS: usize = 20;
/// Content blocks that are laid out.
const MAX_BLOCKS: usize = 200;

/// How much of a call is shown below its first line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Nothing,
    /// Diffs of a finished edit.
    Diffs,
    /// The end of what a finished command printed.
    Tail,
    /// What matters now: the end of the output, diffs.
    Preview,
    All,
}

pub(super) fn is_running(t: &ToolCall) -> bool {
    t.status.is_running() && t.mark.is_none()
}

pub(super) fn lines(entry: &Entry, t: &ToolCall, ctx: &CellCtx<'_>) -> Vec<LogicalLine> {
    let waiting = is_waiting(entry, ctx.session);
    let exit = bad_exit(t, ctx);
    let extent = extent(t, waiting, exit.is_some(), ctx);
    let diffs = diffs_of(t, ctx);
    let mut figures = sums(t, &diffs);
    if let Some(exit) = &exit {
        if !figures.is_empty() {
            figures.push("   ", Token::Dim);
        }
        figures.push(exit, Token::Bad);
    }
    let (mut glyph, mut token, word) = state(t, waiting);
    if exit.is_some() && t.status == ToolStatus::Completed {
        // Agents report such calls as completed.
        (glyph, token) = ("✗", Token::SignBad);
    }
    if let Some((word, token)) = word {
        if !figures.is_empty() {
            figures.push("   ", Token::Dim);
        }
        figures.push(&label(word), token);
    }
    let mut verb = nested::front(entry, t, ctx);
    verb.append(&if own_command(t, ctx.session).is_some() { pad_verb("run", ctx.width) } else { verb_of(t, ctx) });
    // How long the person thinks is no time of the call's.
    let clock = if waiting { Clock::None } else { clock(t, ctx) };
    let taken = width::styled_width(&verb);
    let mut first = head(gutter(glyph, token), verb, object(t, ctx), figures, clock, ctx);
    let has_more = || {
        let is_more = |content: &ToolContent| !is_place(t, content) && !only_asks(t, content);
        t.content.iter().any(is_more) || !diffs.is_empty()
    };
    if extent == Extent::Nothing && !waiting && has_more() {
        // At the edge, where the eye looks for it.
        first.right.push(if first.right.is_empty() { FOLDED.trim_start() } else { FOLDED }, Token::Dim);
    }
    let decided = t.decided.as_ref().filter(|_| !waiting).map(|decided| label(&decided.words()));
    let is_told = match &decided {
        // Else it stands below.
        Some(words) => say_answer(&mut first, words, (taken, usize::MAX), ctx.width),
        None if t.allowed && !t.refused && !waiting => say_answer(&mut first, ALLOWED, (taken, LEAST), ctx.width),
        None => false,
    };
    if matches!(kind_of(t), ToolKind::Read | ToolKind::Edit | ToolKind::Delete | ToolKind::Move) {
        keep_names(&mut first, moved::names(t, ctx.into()).as_ref(), ctx.width);
    }
    let mut lines = vec![first];
    // Which rule it was is said at any width.
    lines.extend(decided.filter(|_| !is_told).map(|words| indented(dim(words))));
    if extent != Extent::Nothing {
        lines.extend(body(t, &diffs, extent, ctx));
    }
    // What was folded says it too; what the agent calls done may run for hours, on purpose.
    if !waiting && (!t.is_finished() || extent == Extent::All) {
        let shown = t.terminals().filter_map(|id| ctx.session.terminal(id));
        lines.extend(shown.filter_map(|shown| terminal::quiet(shown, ctx)));
    }
    lines
}

/// The first line of a call without its session: how it stands, what it does to what, the figures.
pub fn told(t: &ToolCall, places: Places<'_>) -> String {
    let (glyph, _, word) = state(t, false);
    let exit = reported_exit(t).filter(|exit| !exit.is_success()).map(|exit| exit.to_string());
    let glyph = match glyph {
        // Nothing moves here.
        SPINNER => "·",
        "✓" if exit.is_some() => "✗",
        glyph => glyph,
    };
    let diffs = diffs_told(t, &mut Budget::default());
    let figures = sums(t, &diffs);
    let object = object_told(t, places);
    let parts = [Some(deed(t)), Some(object.as_str()), Some(figures.as_str()), exit.as_deref()];
    let word = word.map(|(word, _)| label(word));
    let parts = parts.into_iter().flatten().chain(word.as_deref()).filter(|part| !part.is_empty());
    format!("{glyph} {}", parts.collect::<Vec<_>>().join(" "))
}

/// Lines that are added and removed. A file without any that is made or goes is changed all the same.
fn sums(t: &ToolCall, diffs: &[(&str, FileDiff)]) -> StyledText {
    diffs::sums(diffs.iter().map(|(_, diff)| diff), matches!(deed(t), "create" | "delete" | "move"))
}

/// What a call does to files: as it says itself, else as it was written.
fn diffs_of<'a>(t: &'a ToolCall, ctx: &CellCtx<'a>) -> Vec<(&'a str, FileDiff)> {
    let mut budget = Budget::default();
    let mut diffs = diffs_told(t, &mut budget);
    if diffs.is_empty() {
        diffs.extend(group::written(ctx.with).map(|(path, old, new)| (path, diffs::of(old, new, &mut budget))));
    }
    diffs
}

/// What a call says that it does to files: as it shows it, as it was answered, as its input has it.
fn diffs_told<'a>(t: &'a ToolCall, budget: &mut Budget) -> Vec<(&'a str, FileDiff)> {
    let own = t.content.iter().take(MAX_BLOCKS).enumerate();
    let mut diffs: Vec<(&str, FileDiff)> = own
        .filter_map(|(at, content)| {
            let change = content.change()?;
            Some((change.path.as_str(), diffs::change(change, t.line_of(at), budget)))
        })
        .collect();
    if diffs.is_empty() {
        let answered = t.changes().take(MAX_BLOCKS);
        diffs.extend(answered.map(|change| {
            let diff = diffs::change(change, t.known_line(change), budget);
            (change.path.as_str(), diff)
        }));
    }
    if diffs.is_empty() {
        diffs.extend(diffs::in_input(t).into_iter().map(|file| (file.path, file.diff)));
    }
    diffs
}

/// Of paths that are too long the beginning is left out: the name of the file tells rows apart. Of a file that is moved both
/// names stay, and the middle of their directories gives way.
fn keep_names(first: &mut LogicalLine, moved: Option<&(String, String)>, columns: u16) {
    let text = first.text.as_str().to_owned();
    let names: Vec<&str> = text.split(BETWEEN_NAMES).collect();
    let figures = width::styled_width(&first.right);
    let beside = width::styled_width(&first.prefix) + if figures > 0 { figures + 2 } else { 0 };
    let room = usize::from(columns).saturating_sub(beside);
    let style = first.text.iter().next().map(|(_, style)| style);
    let is_too_long = room >= LEAST && width::str_width(&text) > room && names.iter().any(|name| is_path(name));
    let Some(style) = style else { return };
    match moved.filter(|moved| text == moved::joined(moved)) {
        Some(moved) if room >= LEAST && width::str_width(&text) > room => {
            first.text = StyledText::of(moved::fitted(moved, room), style);
        }
        None if is_too_long => first.text = names_in(&names, room, SHORT_NAME, style),
        _ => {}
    }
}

/// In front of the figures, where that leaves so many columns of what is done to, or all of it; whether it does.
fn say_answer(first: &mut LogicalLine, words: &str, (taken, least): (usize, usize), columns: u16) -> bool {
    let mut right = StyledText::of(words, Token::Dim);
    right.push(if first.right.is_empty() { "" } else { "   " }, Token::Dim);
    right.append(&first.right);
    let needed = taken + width::styled_width(&first.text).min(least) + 2 + width::styled_width(&right);
    let fits = needed <= usize::from(columns);
    if fits {
        first.right = right;
    }
    fits
}

/// How a command of the call ended, when that was not well: agents report such calls as completed.
fn bad_exit(t: &ToolCall, ctx: &CellCtx<'_>) -> Option<String> {
    let exit = exit_of(t, ctx.session)?;
    match &t.status {
        _ if exit.is_success() => None,
        _ if exit.is_known() => Some(label(&exit.to_string())),
        ToolStatus::Failed if !t.refused => Some("failed".to_owned()),
        _ => None,
    }
}

/// How a command of a call has ended: by the terminals that it shows, of which the last that did not end well counts, else
/// by what the call gave back.
pub fn exit_of<'a>(t: &ToolCall, session: SessionRef<'a>) -> Option<Cow<'a, Exit>> {
    let exits = || t.terminals().filter_map(move |id| session.session().terminal(id)?.exit.as_ref());
    let shown = exits().filter(|exit| !exit.is_success()).last().or_else(|| exits().last());
    let is_told = |exit: &&Exit| exit.is_known();
    let told = || reported_exit(t).map(Cow::Owned);
    shown.filter(is_told).map(Cow::Borrowed).or_else(told).or(shown.map(Cow::Borrowed))
}

/// The same by what the call gave back.
fn reported_exit(t: &ToolCall) -> Option<Exit> {
    let output = t.raw_output.as_ref().filter(|_| t.kind == ToolKind::Execute && t.is_finished())?;
    Some(Exit { code: Some(code_in(output)?), signal: None })
}

/// The exit code in what a call gave back, where agents put it.
fn code_in(output: &Value) -> Option<i64> {
    let here = |value: &Value| ["exit_code", "exitCode", "exit"].iter().find_map(|key| value.get(*key)?.as_i64());
    here(output).or_else(|| here(output.get("metadata")?))
}

fn extent(t: &ToolCall, waiting: bool, went_wrong: bool, ctx: &CellCtx<'_>) -> Extent {
    match ctx.fold {
        Some(Fold::Open) => return Extent::All,
        Some(Fold::Closed) => return Extent::Nothing,
        Some(Fold::Apart) | None => {}
    }
    if waiting || t.parent.is_some() && !went_wrong {
        // The dock shows all of it, right below.
        Extent::Nothing
    } else if arguments(t).is_some() {
        // The first line says what they are for.
        Extent::Nothing
    } else if is_running(t) || went_wrong || t.status == ToolStatus::Failed || t.is_cancelled() {
        Extent::Preview
    } else if t.changes().next().is_some()
        || !diffs::in_input(t).is_empty()
        || group::written(ctx.with).next().is_some()
    {
        Extent::Diffs
    } else if t.kind == ToolKind::Execute || t.terminals().next().is_some() {
        Extent::Tail
    } else {
        Extent::Nothing
    }
}

type Word<'a> = Option<(&'a str, Token)>;

fn state(t: &ToolCall, waiting: bool) -> (&'static str, Token, Word<'_>) {
    let refused = (t.refused && t.decided.is_none()).then_some((t.answered_by.refused(), Token::Dim));
    match (t.mark, &t.status) {
        _ if waiting => ("·", Token::SignWarn, Some(("asks you", Token::Warn))),
        _ if t.is_turned_down() => ("–", Token::Dim, refused),
        (None, status) if t.is_stopping && !status.is_final() => {
            (SPINNER, Token::SignRun, Some(("stopping", Token::Warn)))
        }
        // What was not to be done has not gone wrong.
        (None, ToolStatus::Failed) if t.refused => ("–", Token::Dim, refused),
        (None, ToolStatus::Failed) if !t.is_cancelled() => ("✗", Token::SignBad, None),
        (Some(Mark::Cancelled), _) | (None, ToolStatus::Cancelled | ToolStatus::Failed) => {
            ("–", Token::Dim, Some(("cancelled", Token::Dim)))
        }
        (Some(Mark::NoFinalStatus), _) if t.refused => ("–", Token::Dim, refused),
        (Some(Mark::NoFinalStatus), _) if t.allowed => ("–", Token::Dim, None),
        (Some(Mark::NoFinalStatus), _) => ("–", Token::Dim, Some(("no result reported", Token::Dim))),
        (Some(Mark::AgentGone), _) => ("–", Token::Dim, Some(("agent ended", Token::Dim))),
        (None, ToolStatus::Pending) => ("·", Token::Dim, None),
        (None, ToolStatus::Paused) => ("·", Token::SignWarn, Some(("paused", Token::Warn))),
        (None, ToolStatus::Other(word)) => (SPINNER, Token::SignRun, Some((word, Token::Dim))),
        (None, ToolStatus::InProgress) => (SPINNER, Token::SignRun, None),
        (None, ToolStatus::Completed) => ("✓", Token::SignGood, refused),
    }
}

fn clock(t: &ToolCall, ctx: &CellCtx<'_>) -> Clock {
    match t.ended {
        Some(ended) => Clock::Took(ended.saturating_sub(t.started)),
        None if is_running(t) => Clock::Running(ctx.now.saturating_sub(t.started)),
        None => Clock::None,
    }
}

/// The verb of a call; what removes has the colour of danger.
fn verb_of(t: &ToolCall, ctx: &CellCtx<'_>) -> StyledText {
    let deed = match deed(t) {
        "edit" | "write" if t.changes().next().is_none() && group::has_created(ctx.with) => "create",
        deed => deed,
    };
    let verb = pad_verb(deed, ctx.width);
    if deed == "delete" { verb.retoken(Token::Danger) } else { verb }
}

fn body(t: &ToolCall, diffs: &[(&str, FileDiff)], extent: Extent, ctx: &CellCtx<'_>) -> Vec<LogicalLine> {
    let mut out = Vec::new();
    if extent == Extent::All {
        if let Some(command) = whole_command(t, ctx) {
            out.extend(super::message::capped(&command, TEXT_OPENED, Token::Code).into_iter().map(indented));
        }
        out.extend(locations(&t.locations, ctx));
    }
    let mut next = diffs.iter();
    for content in t.content.iter().take(MAX_BLOCKS) {
        match content {
            ToolContent::Change(_) => {
                let Some((path, diff)) = next.next() else { continue };
                out.extend(file_diff(path, diff, diffs.len() > 1, extent, ctx));
            }
            _ if extent == Extent::Diffs => {}
            _ if is_place(t, content) => out.extend(place(content, ctx)),
            // It stands in the first line.
            _ if only_asks(t, content) => {}
            ToolContent::Block(Block::Text(text)) | ToolContent::Unread(Block::Text(text)) => {
                let rows = text_body(text, extent);
                out.extend(if t.status == ToolStatus::Failed { at_words(rows) } else { rows });
            }
            ToolContent::Block(other) | ToolContent::Unread(other) => {
                let max = if extent == Extent::All { TEXT_OPENED } else { PREVIEW };
                out.extend(block(other, ctx, max).into_iter().map(indented));
            }
            ToolContent::Terminal(id) => match ctx.session.terminal(id) {
                Some(term) if extent == Extent::Tail => out.extend(terminal::tail(term, TAIL)),
                Some(term) => out.extend(terminal::body(term, if extent == Extent::All { OPENED } else { PREVIEW })),
                None => out.push(indented(dim("terminal output not available"))),
            },
        }
    }
    // Those that are in no part of it.
    out.extend(next.flat_map(|(path, diff)| file_diff(path, diff, diffs.len() > 1, extent, ctx)));
    let left = t.content.len().saturating_sub(MAX_BLOCKS);
    if left > 0 {
        out.push(indented(dim(format!("… {left} more parts"))));
    }
    if extent == Extent::All {
        out.extend(t.raw_input.iter().flat_map(|v| values::lines("input", v)));
        if t.content.is_empty() {
            out.extend(t.raw_output.iter().flat_map(|v| values::lines("output", v)));
        }
    } else if extent != Extent::Tail && t.status == ToolStatus::Failed && t.content.is_empty() {
        // Nothing else says why.
        out.extend(t.raw_output.iter().flat_map(|v| values::lines("output", v).into_iter().take(PREVIEW + 1)));
    }
    out
}

/// The command of a call that was opened, where the first line has not all of it and nothing else shows it.
fn whole_command(t: &ToolCall, ctx: &CellCtx<'_>) -> Option<String> {
    if let Some(command) = command(t.raw_input.as_ref()) {
        return Some(command).filter(|command| t.kind == ToolKind::Execute && command.contains('\n'));
    }
    let is_cut =
        |command: &&str| command.contains('\n') || width::str_width(command) + BESIDE_COMMAND > usize::from(ctx.width);
    let asked = asked_command(t).filter(|_| kind_of(t) == ToolKind::Execute);
    asked.or_else(|| own_command(t, ctx.session)).filter(is_cut).map(str::to_owned)
}

fn file_diff(path: &str, diff: &FileDiff, named: bool, extent: Extent, ctx: &CellCtx<'_>) -> Vec<LogicalLine> {
    let max = if extent == Extent::All { OPENED } else { DIFF_PREVIEW };
    let mut out = Vec::new();
    if named {
        let mut text = StyledText::of(display(path, ctx), Token::DiffMeta);
        text.push("  ", Token::Dim);
        text.append(&diffs::sums(std::iter::once(diff), false));
        out.push(indented(LogicalLine::text(text)));
    }
    out.extend(diffs::lines(path, diff, max));
    out
}

/// The whole diff of a call that was announced.
pub(super) fn whole_diff(path: &str, diff: &FileDiff, named: bool, ctx: &CellCtx<'_>) -> Vec<LogicalLine> {
    file_diff(path, diff, named, Extent::All, ctx)
}

fn text_body(text: &str, extent: Extent) -> Vec<LogicalLine> {
    let text = unfenced(text);
    if extent == Extent::All {
        return terminal::first_rows(text, TEXT_OPENED);
    }
    let (rows, more) = terminal::last_rows(text, if extent == Extent::Tail { TAIL } else { PREVIEW });
    terminal::end_of(rows, more)
}

/// Why a call has failed is said in words, which are not cut; what stands in columns is left as it is.
fn at_words(mut rows: Vec<LogicalLine>) -> Vec<LogicalLine> {
    let in_columns = |row: &LogicalLine| {
        row.text.as_str().trim_start().contains(['\t', '│']) || row.text.as_str().trim_start().contains("  ")
    };
    if !rows.iter().any(in_columns) {
        let anywhere = rows.iter_mut().filter(|row| row.wrap == WrapMode::Anywhere);
        anywhere.for_each(|row| row.wrap = WrapMode::Words);
    }
    rows
}

/// Whether a part of a call only says in which directory its command runs.
fn is_place(t: &ToolCall, content: &ToolContent) -> bool {
    t.kind == ToolKind::Execute && place_named(content).is_some()
}

/// The directory in which a command runs, where that is not the session's own.
fn place(content: &ToolContent, ctx: &CellCtx<'_>) -> Option<LogicalLine> {
    let cwd = place_named(content).filter(|cwd| !is_here(cwd, ctx))?;
    Some(indented(dim(format!("in {}", display(cwd, ctx)))))
}

/// Some agents put the whole output into a code fence; the fence is not output.
fn unfenced(text: &str) -> &str {
    let trimmed = text.trim();
    let marks = trimmed.bytes().take_while(|b| *b == b'`').count();
    if marks < 3 {
        return text;
    }
    let fence = trimmed.get(..marks).unwrap_or_default();
    let inner = trimmed.split_once('\n').and_then(|(_, rest)| rest.strip_suffix(fence));
    match inner {
        Some(inner) if (inner.is_empty() || inner.ends_with('\n')) && !inner.contains(&format!("\n{fence}")) => inner,
        _ => text,
    }
}

/// `src/main.rs:12`
pub(super) fn locations(list: &[Location], ctx: &CellCtx<'_>) -> Vec<LogicalLine> {
    let mut out: Vec<LogicalLine> = list
        .iter()
        .take(MAX_LOCATIONS)
        .map(|l| {
            let path = display(&l.path, ctx);
            let line = l.line.filter(|n| *n > 0).map(|n| format!(":{n}")).unwrap_or_default();
            indented(LogicalLine::text(StyledText::of(format!("{path}{line}"), Token::Dim)))
        })
        .collect();
    let more = list.len().saturating_sub(MAX_LOCATIONS);
    if more > 0 {
        out.push(indented(dim(format!("… {more} more places"))));
    }
    out
}
