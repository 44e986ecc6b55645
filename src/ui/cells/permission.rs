//! What a person has to see before answering a permission request: the whole command, the paths, the diff, what was sent.
//!
//! Lists no options and draws no dock. Invariants: each front end gets the same; a command is never cut short here; if
//! anything is too long to keep, that is said.

use super::CellCtx;
use super::diffs;
use super::lines::dim;
use super::message::{block, capped, label};
use super::named::{asked_command, command, is_here, joined, kind_of, object, only_asks, place_named, verb, wish};
use super::tool::{locations, whole_diff};
use super::{unsaid, values};
use crate::base::limits::MAX_COMMAND_LINES;
use crate::base::paths::visible;
use crate::base::sanitize;
use crate::model::changes::WritePreview;
use crate::model::claims::{Claimed, Claims, files_in_input, files_named, has_settings, texts_in_input};
use crate::model::entry::{Body, Entry};
use crate::model::ids::TermId;
use crate::model::question::{About, Outside, Question};
use crate::model::tool::deed::moved_from;
use crate::model::tool::{Location, ToolCall, ToolContent, ToolKind};
use crate::text::diff::Budget;
use crate::text::line::{LogicalLine, WrapMode};
use crate::text::run::StyledText;
use crate::text::token::Token;
use std::ffi::OsStr;
use std::path::Path;

/// Lines of a text.
const MAX_LINES: usize = 500;
/// The verb of a command.
const RUNS: &str = "run";
/// Lines of a command: as many as one may have that the client runs.
const COMMAND_LINES: usize = MAX_COMMAND_LINES;

/// How much of the input of a call is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sent {
    /// The first lines of what it has besides, and as much of all of it as a call has in the conversation.
    Beginning,
    /// The same, and all of it at its end.
    Below,
    /// All of both.
    Whole,
}

/// All that a question is about, but for a form.
#[derive(Debug)]
pub struct Asked {
    pub verb: &'static str,
    /// What is asked about, first the command or the path; nothing is folded.
    pub lines: Vec<LogicalLine>,
    /// What the agent asks in words of its own.
    pub wording: Vec<LogicalLine>,
    /// The input, as it was sent.
    pub sent: Vec<LogicalLine>,
    /// That belongs to the question: nothing else says what the call does.
    pub is_bare: bool,
    /// The lines above have all of the input that nothing else shows, where it is not bare.
    pub is_set_out: bool,
    /// What was sent is all of the input.
    pub is_whole: bool,
    /// The client has kept all that the agent said of the call.
    pub is_kept: bool,
}

/// The same for each front end.
pub fn asked(pending: &Question, sent: Sent, ctx: &CellCtx<'_>) -> Asked {
    let tool = ctx.session.tool(pending.entry);
    let entry = ctx.session.entries().get(pending.entry);
    let is_call = pending.about == About::Permission;
    let verb = match &pending.about {
        About::Permission => tool.map_or("do", |tool| wish(tool, &pending.previews)),
        About::Write => "write",
        About::Read(_) => "read",
        About::Run(_) | About::Asked { .. } => "run",
    };
    let (lines, is_set_out) = match entry {
        Some(entry) if is_call => permission_body(entry, (&pending.previews, &pending.outside), sent, ctx),
        _ if is_call => (Vec::new(), true),
        _ => (gate_body(pending, ctx), true),
    };
    let input = tool.and_then(|tool| tool.raw_input.as_ref());
    let (sent, is_whole) = match (input, sent) {
        (None, _) => (Vec::new(), true),
        (Some(input), Sent::Beginning) => values::some("input", input),
        (Some(input), Sent::Below | Sent::Whole) => values::whole("input", input),
    };
    Asked {
        verb,
        lines,
        wording: entry.map(|entry| wording(pending, entry)).unwrap_or_default(),
        sent,
        is_bare: is_call && tool.is_some_and(says_nothing),
        is_set_out,
        is_whole,
        is_kept: !tool.is_some_and(|tool| is_call && tool.cut),
    }
}

/// The lines that describe a call that waits for permission, and whether they have all that nothing else shows.
///
/// `previews` are the diffs against the disk, in the order of the call's own; where there is none the call's is drawn.
pub(super) fn permission_body(
    entry: &Entry,
    (previews, outside): (&[WritePreview], &[Outside]),
    sent: Sent,
    ctx: &CellCtx<'_>,
) -> (Vec<LogicalLine>, bool) {
    let Body::Tool(tool) = &entry.body else { return (Vec::new(), true) };
    let mut out = Vec::new();
    let command = command(tool.raw_input.as_ref()).filter(|_| tool.kind == ToolKind::Execute);
    let asked = asked_command(tool).filter(|_| command.is_none() && kind_of(tool) == ToolKind::Execute);
    let what = command.as_deref().or(asked).map_or_else(|| object(tool, ctx).as_str().to_owned(), str::to_owned);
    let name = verb(tool.kind);
    out.extend(subject(name, &what));
    // A title may say more than the command does (why), or hide it: both are shown.
    let title = super::message::label(&tool.title);
    if command.is_some() && !title.is_empty() && !what.contains(title.trim_matches('`')) {
        out.push(dim(title));
    }
    out.extend(besides(tool, &what));
    let runs_in = tool.raw_input.as_ref().and_then(|v| v.get("cwd").or_else(|| v.get("workdir"))?.as_str());
    if let Some(cwd) = runs_in.filter(|cwd| !is_here(cwd, ctx)) {
        out.push(dim(format!("in {}", super::message::display(cwd, ctx))));
    }
    let has_diff = tool.content.iter().any(|c| c.change().is_some());
    // A path that is the object already, and whose lines the diff shows, need not take a row of its own.
    let said = |l: &Location| has_diff && what.contains(super::message::display(&l.path, ctx).as_str());
    let mut rest: Vec<Location> = tool.locations.iter().filter(|l| !said(l)).cloned().collect();
    // Some agents name a file in the input only.
    let mut in_input = files_in_input(tool);
    // Some leave out of a question what the call has named before.
    if rest.is_empty() && in_input.is_empty() && command.is_none() {
        in_input.clone_from(&tool.named_before);
    }
    let in_input = in_input.into_iter().map(|path| Location { path, line: None });
    rest.extend(in_input.filter(|l| !what.contains(super::message::display(&l.path, ctx).as_str())));
    // Of a directory and a file in it, what is said of the file is enough.
    let is_said = |of: &Outside| {
        let is_in = |other: &Outside| is_plain(other) && Path::new(&other.path).parent() == Some(Path::new(&of.path));
        is_plain(of) && outside.iter().any(is_in)
    };
    let outside: Vec<&Outside> = outside.iter().filter(|of| !is_said(of)).collect();
    // Where it is said to be outside, it is named.
    rest.retain(|l| l.line > Some(1) || outside.iter().all(|outside| outside.path != l.path));
    rest.retain(|l| tool.kind != ToolKind::Execute || !is_here(&l.path, ctx));
    out.extend(locations(&rest, ctx));
    out.extend(outside.into_iter().map(|outside| leads_out(outside, &what, ctx)));
    let (further, is_set_out) = further(tool, (&what, &out), sent, ctx);
    out.extend(further);
    let changes = tool.content.iter().filter_map(ToolContent::change);
    let several = changes.count() > 1;
    // The heading has the path already.
    let is_named =
        |path: &str| several || tool.locations.is_empty() && super::message::display(path, ctx).as_str() != what;
    let is_moved = moved_from(tool).is_some();
    let (mut previews, mut budget) = (previews.iter(), Budget::default());
    for (at, content) in tool.content.iter().enumerate() {
        match content {
            ToolContent::Change(change) => match change.texts() {
                Some((old, new)) => {
                    let claim = (old.map(|old| &**old), &**new);
                    out.extend(true_diff(
                        &change.path,
                        claim,
                        tool.line_of(at),
                        previews.next(),
                        is_named(&change.path),
                        is_moved,
                        (ctx, &mut budget),
                    ));
                }
                None => {
                    let diff = diffs::change(change, None, &mut budget);
                    out.extend(whole_diff(&change.path, &diff, is_named(&change.path), ctx));
                }
            },
            // It is the heading.
            _ if asked.is_some() && only_asks(tool, content) => {}
            // As any directory that a command names.
            _ if tool.kind == ToolKind::Execute && place_named(content).is_some() => {
                let elsewhere = place_named(content).filter(|cwd| !is_here(cwd, ctx));
                out.extend(elsewhere.map(|cwd| dim(format!("in {}", super::message::display(cwd, ctx)))));
            }
            ToolContent::Block(b) | ToolContent::Unread(b) => {
                out.extend(block(b, ctx, MAX_LINES).into_iter().map(diffs::indented));
            }
            ToolContent::Terminal(id) => out.extend(of_terminal(id, &what, ctx)),
        }
    }
    let patched = diffs::in_input(tool);
    let is_named = |path: &str| patched.len() > 1 || super::message::display(path, ctx).as_str() != what;
    out.extend(patched.iter().flat_map(|file| whole_diff(file.path, &file.diff, is_named(file.path), ctx)));
    (out, is_set_out)
}

/// An agent's own terminal may say of a command what the call does not; `what` is named above.
fn of_terminal(id: &TermId, what: &str, ctx: &CellCtx<'_>) -> Vec<LogicalLine> {
    let runs = ctx.session.terminal(id).filter(|t| !t.command.is_empty() && t.command != what);
    let Some(terminal) = runs else { return Vec::new() };
    let mut out = subject("runs", &terminal.command);
    if !terminal.cwd.is_empty() && !is_here(&terminal.cwd, ctx) {
        out.push(dim(format!("in {}", super::message::display(&terminal.cwd, ctx))));
    }
    out
}

/// Whether a path leads where it says.
fn is_plain(outside: &Outside) -> bool {
    outside.real.as_deref() == Some(&*outside.path)
}

/// A file that is not in the session's directory, and where it is; `what` is named above.
fn leads_out(outside: &Outside, what: &str, ctx: &CellCtx<'_>) -> LogicalLine {
    let named = super::message::display(&outside.path, ctx);
    let words = match &outside.real {
        Some(real) if *real == *named && named == what => "OUTSIDE of the session's directory".to_owned(),
        Some(real) if *real == *named => format!("{named}: outside of the session's directory"),
        Some(real) => {
            let real = visible(OsStr::new(real));
            format!("{named}: really {real}, outside of the session's directory")
        }
        None => format!("{named}: where it leads cannot be told"),
    };
    LogicalLine { wrap: WrapMode::Anywhere, ..LogicalLine::text(StyledText::of(words, Token::Danger)) }
}

/// What the agent asks in words of its own, where the call does not say it.
fn wording(pending: &Question, entry: &Entry) -> Vec<LogicalLine> {
    let Body::Tool(tool) = &entry.body else { return Vec::new() };
    let Some(wording) = pending.wording.as_deref() else { return Vec::new() };
    let title = Some(&wording.title).filter(|title| **title != tool.title);
    let texts = title.into_iter().chain(&wording.description);
    let mut out: Vec<LogicalLine> = texts.flat_map(|text| text.lines()).map(|line| dim(label(line))).collect();
    if wording.is_unknown {
        let words = "what it is about is of a kind that is not known here";
        out.push(LogicalLine { wrap: WrapMode::Words, ..LogicalLine::text(StyledText::of(words, Token::Warn)) });
    }
    out
}

/// Commands, addresses and tools of servers that a call has in its input, whatever the agent calls it; `what` is said
/// already. One that calls a command something else is told of in the colour of danger.
fn besides(tool: &ToolCall, what: &str) -> Vec<LogicalLine> {
    let mut out = Vec::new();
    let mut runs = false;
    for (verb, text) in deeds(tool) {
        runs |= verb == RUNS;
        // A word of a title may be the whole of a command.
        if text.trim() != what.trim() {
            out.extend(subject(verb, &text));
        }
    }
    if runs && !matches!(tool.kind, ToolKind::Execute | ToolKind::Other) {
        let words = format!("careful: its agent calls it “{}”, and it has a command", verb(tool.kind));
        let text = StyledText::of(words, Token::Danger);
        out.insert(0, LogicalLine { wrap: WrapMode::Words, ..LogicalLine::text(text) });
    }
    out
}

/// What its input has besides, where that is not shown as a whole, as it was sent or as the change that it is; and whether
/// these are all lines of it.
fn further(
    tool: &ToolCall,
    (what, above): (&str, &[LogicalLine]),
    sent: Sent,
    ctx: &CellCtx<'_>,
) -> (Vec<LogicalLine>, bool) {
    let is_shown = changes_nothing(tool) || says_nothing(tool) || !diffs::in_input(tool).is_empty();
    if is_shown { (Vec::new(), true) } else { unsaid::lines(tool, (what, above), sent == Sent::Whole, ctx) }
}

/// What a call does besides reading and writing files, as far as its input says it: how, and what.
fn deeds(tool: &ToolCall) -> impl Iterator<Item = (&'static str, String)> + use<> {
    Claims::of_tool(tool, &[]).all.into_iter().filter_map(|claim| match (claim.tool.as_str(), claim.what) {
        ("bash", Claimed::Line(line)) => Some((RUNS, line)),
        ("bash", Claimed::Words(words)) => Some((RUNS, joined(&words))),
        ("fetch", Claimed::Text(address)) => Some(("fetch", address)),
        ("mcp", Claimed::Text(named)) if !claim.is_guess => Some(("use", named)),
        _ => None,
    })
}

/// Whether what a call is about does not stand in the question, so that its input has to: one that may change something
/// and shows neither a change nor a command nor a text, and one that is said to change nothing and whose input has a text
/// or a number or a switch that stands nowhere else.
fn says_nothing(tool: &ToolCall) -> bool {
    if changes_nothing(tool) {
        let said: Vec<String> = files_named(tool).into_iter().chain(deeds(tool).map(|(_, text)| text)).collect();
        let is_said = |text: &String| tool.title.contains(text.as_str()) || said.contains(text);
        return has_settings(tool) || !texts_in_input(tool).iter().all(is_said);
    }
    let runs = tool.kind == ToolKind::Execute && command(tool.raw_input.as_ref()).is_some();
    !runs && tool.content.is_empty() && diffs::in_input(tool).is_empty()
}

/// Whether a call is said to change nothing: what its input has besides is shown with all of it.
const fn changes_nothing(tool: &ToolCall) -> bool {
    matches!(tool.kind, ToolKind::Read | ToolKind::Search | ToolKind::Think | ToolKind::Fetch | ToolKind::SwitchMode)
}

/// The raw input of a call, as it was sent; nothing when there is none.
pub fn raw_input(entry: &Entry) -> Vec<LogicalLine> {
    let Body::Tool(tool) = &entry.body else { return Vec::new() };
    tool.raw_input.iter().flat_map(|v| values::lines("input", v)).collect()
}

/// The same for a write or a command of the client, which no tool call describes.
fn gate_body(pending: &Question, ctx: &CellCtx<'_>) -> Vec<LogicalLine> {
    let preview = pending.previews.first();
    match &pending.about {
        About::Permission | About::Asked { .. } => Vec::new(),
        About::Write => {
            let Some(write) = ctx.session.write(pending.req) else { return Vec::new() };
            let what = super::message::display(&write.path, ctx);
            let mut out = subject("write", &what);
            if write.is_held() {
                out.push(dim(ctx.say("not written yet · {F3} reviews it piece by piece")));
            }
            out.extend(pending.outside.iter().map(|outside| leads_out(outside, &what, ctx)));
            if !pending.outside.is_empty() {
                out.push(dim("not in the review: cannot be undone there"));
            }
            out.extend(true_diff(
                &write.path,
                (None, &write.content),
                Some(1),
                preview,
                false,
                false,
                (ctx, &mut Budget::default()),
            ));
            out
        }
        About::Read(read) => {
            let what = super::message::display(&read.path, ctx);
            let mut out = subject("read", &what);
            out.extend(pending.outside.iter().map(|outside| leads_out(outside, &what, ctx)));
            out
        }
        About::Run(spec) => {
            let mut out = subject("run", &spec.line());
            let elsewhere = spec.cwd.as_deref().filter(|cwd| !is_here(cwd, ctx));
            out.extend(elsewhere.map(|cwd| dim(format!("in {}", super::message::display(cwd, ctx)))));
            out.extend(spec.env.iter().map(|(name, value)| variable(name, value)));
            out
        }
    }
}

/// A variable with its whole value: the client takes no more than can be read here.
fn variable(name: &str, value: &str) -> LogicalLine {
    let text = StyledText::of(sanitize::line(&format!("{name}={value}")).trim(), Token::Dim);
    LogicalLine { wrap: WrapMode::Anywhere, ..LogicalLine::text(text) }
}

/// Verb and object: the whole command, the path.
fn subject(name: &str, what: &str) -> Vec<LogicalLine> {
    let lines = capped(what, COMMAND_LINES, Token::Text).into_iter().enumerate();
    lines
        .map(|(n, line)| {
            let indent = " ".repeat(name.len() + 2);
            let front = if n == 0 { format!("{name}  ") } else { indent.clone() };
            LogicalLine { hang: StyledText::from(indent.as_str()), prefix: StyledText::of(front, Token::Dim), ..line }
        })
        .collect()
}

/// The diff against the disk where that is known, and how it differs from what the agent sent.
fn true_diff(
    path: &str,
    (old, new): (Option<&str>, &str),
    from: Option<u32>,
    preview: Option<&WritePreview>,
    named: bool,
    is_moved: bool,
    (ctx, budget): (&CellCtx<'_>, &mut Budget),
) -> Vec<LogicalLine> {
    let differs = preview.and_then(|t| t.differs.as_deref());
    let warning = |words: &str| {
        let text = StyledText::of(label(&format!("careful, the agent thinks otherwise: {words}")), Token::Warn);
        LogicalLine { wrap: WrapMode::Words, ..LogicalLine::text(text) }
    };
    let mut out: Vec<LogicalLine> = differs.map(warning).into_iter().collect();
    // With words and without another text the disk gives no numbers either.
    let knows = |t: &&WritePreview| t.differs.is_none() || t.old.as_deref() != old;
    let mut diff = match preview.filter(|t| t.old.is_some() || !t.new.is_empty()).filter(knows) {
        Some(preview) => diffs::of(preview.old.as_deref(), &preview.new, budget),
        None => diffs::piece(old, new, from, budget),
    };
    if diff.hunks.is_empty() && diff.note.is_none() {
        let has_text = |old: Option<&str>| old.is_some_and(|old| !old.is_empty());
        let is_there = has_text(old) || preview.is_some_and(|preview| preview.old.is_some());
        let is_empty = new.is_empty() && !is_there && !is_moved;
        diff.note = Some(if is_empty { "empty" } else { "no change" }.to_owned());
    }
    out.extend(whole_diff(path, &diff, named, ctx));
    out
}
