//! What a call does and to what, in a few words: by its kind, its name, its input and what it shows.
//!
//! For being shown only: nothing is allowed by these words. Invariant: text of the agent is sanitised here.

use super::message::{display, label};
use super::{CellCtx, Places, diffs};
use crate::model::changes::WritePreview;
use crate::model::entry::Block;
use crate::model::tool::{Operation, ToolCall, ToolContent, ToolKind, ToolStatus};
use crate::text::patch::Done;
use crate::text::run::StyledText;
use crate::text::token::Token;
use crate::ui::labels;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::borrow::Cow;

/// In place of the verb where nothing says what is to be done with a file.
pub const ABOUT: &str = "about";
/// Names of tools, without their case and what joins their words.
const TOOLS: &[(ToolKind, &[&str])] = &[
    (ToolKind::Read, &["read", "readfile", "readmanyfiles", "readmediafile", "view", "viewfile"]),
    (
        ToolKind::Edit,
        &["edit", "editfile", "multiedit", "write", "writefile", "replace", "strreplace", "strreplacefile"],
    ),
    (ToolKind::Search, &["glob", "grep", "search", "searchfiles", "findfiles", "listdir", "listdirectory"]),
    (ToolKind::Execute, &["bash", "shell", "run", "runcommand", "runshellcommand", "execute"]),
    (ToolKind::Fetch, &["fetch", "fetchurl", "webfetch"]),
    (ToolKind::Think, &["think"]),
];
/// Files named on the first line.
const MAX_NAMED: usize = 3;
/// Where the input of a call names its file.
const PATHS: [&str; 5] = ["path", "file_path", "filePath", "filepath", "absolute_path"];
/// Bytes of arguments that are looked at.
const MAX_ARGUMENTS: usize = 4096;

/// The command of a terminal of ours that a call of no particular kind shows: its title may be cut short by the agent.
pub(super) fn own_command<'a>(t: &ToolCall, ctx: &CellCtx<'a>) -> Option<&'a str> {
    let shown =
        t.terminals().find_map(|id| ctx.session.session().terminal(id)).filter(|_| t.kind == ToolKind::Other)?;
    Some(shown.command.as_str()).filter(|c| !c.is_empty())
}

/// What a call does as it says itself, else by the name of its tool, where that is its title or stands in front of it.
/// Only for being shown: nothing is allowed by a name.
pub(super) fn kind_of(t: &ToolCall) -> ToolKind {
    if t.kind != ToolKind::Other {
        return t.kind;
    }
    let names = std::iter::once(t.named()).chain(t.name.as_deref()).chain(t.also_named.iter().map(String::as_str));
    let named = names.filter_map(tool_name).find_map(kind_named);
    // A question may leave out what the call was announced as.
    named.or(t.kind_before).unwrap_or_default()
}

/// The kind of the tools that are called so.
fn kind_named(name: &str) -> Option<ToolKind> {
    let name = name.chars().filter(|c| !matches!(c, '_' | '-')).collect::<String>().to_lowercase();
    TOOLS.iter().find(|(_, names)| names.contains(&name.as_str())).map(|(kind, _)| *kind)
}

/// What stands in front of a colon, if it is one word; else the title, if that is one.
fn tool_name(title: &str) -> Option<&str> {
    let name = title.split_once(": ").map_or(title, |(name, _)| name).trim();
    (!name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))).then_some(name)
}

/// What a call does, by what it shows and not by the agent's word: a call with a change changes a file.
pub(super) fn deed(t: &ToolCall) -> &'static str {
    if t.is_agent {
        return "agent";
    }
    let mut changes = t.changes().peekable();
    let patched = diffs::in_input(t);
    if changes.peek().is_none() && !patched.is_empty() {
        let all = |done: Done| patched.iter().all(|file| file.done == done);
        return match (all(Done::Added), all(Done::Removed)) {
            (true, _) => "create",
            (_, true) => "delete",
            _ => "edit",
        };
    }
    if changes.peek().is_none() || matches!(t.kind, ToolKind::Move | ToolKind::Execute) {
        return if writes_all(t) { "write" } else { verb(kind_of(t)) };
    }
    let (mut adds, mut deletes) = (true, true);
    for change in changes {
        // Some agents send an empty old text for a file that is not there.
        let was_empty = change.texts().is_some_and(|(old, _)| old.is_some_and(|old| old.is_empty()));
        adds &= change.operation == Operation::Add || was_empty;
        deletes &= change.operation == Operation::Delete;
    }
    match (adds, deletes) {
        (true, _) => "create",
        (_, true) => "delete",
        _ => "edit",
    }
}

/// What a call is asked to do; "create" only where the disk has no such file.
pub fn wish(t: &ToolCall, previews: &[WritePreview]) -> &'static str {
    match deed(t) {
        "create" if previews.iter().any(|preview| preview.old.is_some()) => "edit",
        verb @ ("create" | "edit" | "delete" | "write") => verb,
        _ if kind_of(t) == ToolKind::Other && is_only_path(t) => ABOUT,
        _ => labels::verb(kind_of(t)),
    }
}

/// Whether a call says no more than of which file it is.
fn is_only_path(t: &ToolCall) -> bool {
    let title = t.named();
    let is_path = title.starts_with('/') || t.locations.iter().any(|at| at.path == title);
    is_path && input(t).is_none_or(|input| command(Some(&input)).is_none())
}

/// What a call does, and to what.
pub fn in_words(t: &ToolCall, ctx: &CellCtx<'_>) -> String {
    format!("{} {}", wish(t, &[]), object(t, ctx).as_str())
}

/// What stands in front of a call: a verb, or what it is where nothing says what it does.
pub(super) const fn verb(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::SwitchMode => "mode",
        ToolKind::Other => "tool",
        kind => labels::verb(kind),
    }
}

/// What a call of no kind that is not done shows in place of output: its own arguments, as far as they have come. An object
/// of JSON that ends where the text does is whole, or one that is still being written.
pub(super) fn arguments(t: &ToolCall) -> Option<&str> {
    let [ToolContent::Block(Block::Text(text)) | ToolContent::Unread(Block::Text(text))] = t.content.as_slice() else {
        return None;
    };
    let is_done = matches!(t.status, ToolStatus::Completed | ToolStatus::Failed);
    if is_done || t.kind != ToolKind::Other || t.raw_input.is_some() || !text.trim_start().starts_with('{') {
        return None;
    }
    let head = text.get(..text.floor_char_boundary(MAX_ARGUMENTS)).unwrap_or_default();
    serde_json::from_str::<IgnoredAny>(head).map_or_else(|error| error.is_eof(), |_| true).then_some(text)
}

/// What a call is given, where that is told.
fn input(t: &ToolCall) -> Option<Cow<'_, Value>> {
    let written = || serde_json::from_str(arguments(t).filter(|text| text.len() <= MAX_ARGUMENTS)?).ok();
    t.raw_input.as_ref().map(Cow::Borrowed).or_else(|| written().map(Cow::Owned))
}

/// What a call is given by the name that fits its kind.
fn given(t: &ToolCall) -> Option<String> {
    match kind_of(t) {
        ToolKind::Search => given_as(t, &["pattern", "query"]),
        ToolKind::Fetch => given_as(t, &["url"]),
        ToolKind::Execute => command(input(t).as_deref()),
        ToolKind::Read | ToolKind::Edit | ToolKind::Delete | ToolKind::Other => path(t),
        ToolKind::Move | ToolKind::Think | ToolKind::SwitchMode => None,
    }
}

/// The file that the input of a call names.
pub(super) fn path(t: &ToolCall) -> Option<String> {
    given_as(t, &PATHS)
}

fn given_as(t: &ToolCall, names: &[&str]) -> Option<String> {
    let input = input(t)?;
    let given = names.iter().find_map(|name| input.get(*name)?.as_str())?;
    Some(given.to_owned()).filter(|given| !given.trim().is_empty())
}

/// Whether a call is given the whole text of a file.
fn writes_all(t: &ToolCall) -> bool {
    let has = |input: &Value, name: &str| input.get(name).is_some_and(Value::is_string);
    let has_text = |input: &Value| has(input, "content") && PATHS.iter().any(|name| has(input, name));
    kind_of(t) == ToolKind::Edit && input(t).is_some_and(|input| has_text(&input))
}

/// What is done to: the command, the path, else the title without the verb.
pub(super) fn object(t: &ToolCall, ctx: &CellCtx<'_>) -> StyledText {
    match own_command(t, ctx) {
        // What a call is given says more than what its terminal was started with.
        Some(command) if !(kind_of(t) == ToolKind::Execute && given(t).is_some()) => {
            StyledText::from(label(command).as_str())
        }
        _ => object_told(t, ctx.into()),
    }
}

/// The same by what the call says of itself.
pub(super) fn object_told(t: &ToolCall, places: Places<'_>) -> StyledText {
    if kind_of(t) == ToolKind::Execute
        && let Some(command) = given(t)
    {
        return StyledText::from(label(&command).as_str());
    }
    let title = relative(&label(t.named()), places);
    let kind = kind_of(t);
    let is_by_name = kind != t.kind && tool_name(&title).and_then(kind_named).is_some();
    let bare = if is_by_name { without_name(&title) } else { without_verb(&title, kind) };
    // Of a title that is the directory, the file in it is what is meant.
    let is_below = |path: &String| path.strip_prefix(t.named()).is_some_and(|rest| rest.starts_with('/'));
    if let Some(path) = path(t).filter(|path| t.named().starts_with('/') && is_below(path)) {
        return StyledText::from(display(&path, places).as_str());
    }
    if let Some(files) = files(t, places) {
        // The title of a read may say which lines.
        let says_more = kind == ToolKind::Read && bare.starts_with(files.as_str());
        return StyledText::from(if says_more { bare } else { files.as_str() });
    }
    if (bare.is_empty() || kind_named(bare) == Some(kind))
        && let Some(given) = given(t)
    {
        return StyledText::from(relative(&label(&given), places).as_str());
    }
    let mut text = StyledText::from(bare);
    let target = t
        .locations
        .first()
        .map(|l| display(&l.path, places))
        .or_else(|| t.changes().next().map(|change| display(&change.path, places)));
    let is_unnamed =
        bare.is_empty() || matches!(bare.to_ascii_lowercase().as_str(), "file" | "files" | "a file" | "the file");
    if is_unnamed {
        text = StyledText::new();
    }
    if let Some(path) = target.filter(|p| !p.is_empty()) {
        let name = path.rsplit('/').next().unwrap_or(&path);
        if is_unnamed {
            text = StyledText::from(path.as_str());
        } else if !bare.contains(name) && matches!(kind, ToolKind::Read | ToolKind::Edit | ToolKind::Delete) {
            text.push(&format!("  {path}"), Token::Dim);
        }
    }
    text
}

/// The files that a call changes, or that it reads or deletes.
fn files(t: &ToolCall, places: Places<'_>) -> Option<String> {
    let mut paths: Vec<&str> = t.changes().map(|change| change.path.as_str()).collect();
    paths.extend(diffs::in_input(t).into_iter().map(|file| file.path));
    if paths.is_empty() && matches!(kind_of(t), ToolKind::Read | ToolKind::Edit | ToolKind::Delete) {
        paths = t.locations.iter().map(|l| l.path.as_str()).collect();
    }
    let mut seen = std::collections::HashSet::new();
    paths.retain(|path| !path.trim().is_empty() && seen.insert(*path));
    let more = paths.len().saturating_sub(MAX_NAMED) + t.more_locations;
    let mut names: Vec<String> = paths.iter().take(MAX_NAMED).map(|path| display(path, places)).collect();
    if names.is_empty() {
        return None;
    }
    if more > 0 {
        names.push(format!("{more} more"));
    }
    Some(names.join(" · "))
}

/// The command of an execute call, as agents name it: a text, or a list of arguments.
pub(super) fn command(input: Option<&Value>) -> Option<String> {
    match input?.get("command").or_else(|| input?.get("cmd"))? {
        Value::String(s) if !s.trim().is_empty() => Some(s.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().map(Value::as_str).collect::<Option<_>>()?;
            Some(joined(&words)).filter(|line| !line.is_empty())
        }
        _ => None,
    }
}

/// A program and its arguments on one line. A shell around a script says nothing.
pub(super) fn joined(words: &[impl AsRef<str>]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.as_slice() {
        [_, "-c" | "-lc", script] => (*script).to_owned(),
        words => words.join(" "),
    }
}

/// Absolute paths below the session's directory lose that part.
fn relative(title: &str, places: Places<'_>) -> String {
    let mut title = title.to_owned();
    for root in places.roots.iter().filter_map(|r| r.to_str()).filter(|r| r.len() > 1) {
        let prefix = format!("{}/", root.trim_end_matches('/'));
        title = title.replace(&prefix, "");
    }
    title
}

/// `ReadFile: src/main.rs` → `src/main.rs`.
fn without_name(title: &str) -> &str {
    title.split_once(": ").map_or("", |(_, rest)| rest.trim())
}

/// `Edit src/main.rs` → `src/main.rs`: the verb stands beside it already.
fn without_verb(title: &str, kind: ToolKind) -> &str {
    let words: &[&str] = match kind {
        ToolKind::Read => &["read", "reading", "view", "readfile", "read_file"],
        ToolKind::Edit => &["edit", "editing", "edit_file"],
        ToolKind::Delete => &["delete", "deleting"],
        ToolKind::Move => &["move", "moving"],
        ToolKind::Search => &["search", "searching"],
        ToolKind::Execute => &["run", "running", "execute", "executing"],
        ToolKind::Think => &["think", "thinking"],
        ToolKind::Fetch => &["fetch", "fetching"],
        _ => &[],
    };
    let title = title.trim();
    let (first, rest) = title.split_once([' ', ':']).unwrap_or((title, ""));
    let bare =
        if words.contains(&first.trim_end_matches(':').to_ascii_lowercase().as_str()) { rest.trim() } else { title };
    match bare.strip_prefix('`').and_then(|b| b.strip_suffix('`')) {
        Some(inner) if !inner.contains('`') => inner,
        _ => bare,
    }
}
