//! What a call does in one word, whatever its agent calls it: by its kind, the name of its tool, its input and what it shows.
//!
//! For being shown and searched only: nothing is allowed by these words.

use super::{Change, Location, Operation, ToolCall, ToolContent, ToolKind, ToolStatus};
use crate::model::entry::Block;
use crate::text::patch::{self, Done, OfFile};
use serde::de::IgnoredAny;
use serde_json::Value;
use std::borrow::Cow;
use std::path::Path;

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
/// Where the input of a call names its file.
pub const PATHS: [&str; 5] = ["path", "file_path", "filePath", "filepath", "absolute_path"];
/// Bytes of arguments that are looked at.
const MAX_ARGUMENTS: usize = 4096;

/// What a call does, by what it shows and not by the agent's word: a call with a change changes a file.
pub fn deed(t: &ToolCall) -> &'static str {
    if t.is_agent {
        return "agent";
    }
    let mut changes = t.changes().peekable();
    let patched = patched(t);
    if changes.peek().is_none() && !patched.is_empty() {
        let all = |done: Done| patched.iter().all(|file| file.done == done);
        return match (all(Done::Added), all(Done::Removed)) {
            (true, _) => "create",
            (_, true) => "delete",
            _ => "edit",
        };
    }
    if moved_from(t).is_some() {
        return "move";
    }
    if changes.peek().is_none() || matches!(t.kind, ToolKind::Move | ToolKind::Execute) {
        return if writes_all(t) { "write" } else { verb(kind_of(t)) };
    }
    let (mut adds, mut deletes, mut moves) = (true, true, true);
    for change in changes {
        // Some agents send an empty old text for a file that is not there.
        let was_empty = change.texts().is_some_and(|(old, _)| old.is_some_and(|old| old.is_empty()));
        adds &= change.operation == Operation::Add || was_empty;
        deletes &= change.operation == Operation::Delete;
        moves &= change.operation == Operation::Move;
    }
    match (adds, deletes, moves) {
        (true, ..) => "create",
        (_, true, _) => "delete",
        (.., true) => "move",
        _ => "edit",
    }
}

/// Where the one file was that a call changes, where its only place is another one: agents that show a change at the new name
/// say so where they ask. One path that ends as the other does may be the same file by another way.
pub fn moved_from(t: &ToolCall) -> Option<(&str, &str)> {
    let [Location { path: from, line: None }] = t.locations.as_slice() else { return None };
    let mut changes = t.changes();
    let to = changes.next().filter(|change| is_of_old_text(change))?.path.as_str();
    let is_one = changes.all(|change| change.path == to && is_of_old_text(change));
    let ends_as = |path: &str, other: &str| Path::new(path).ends_with(other.trim_start_matches('/'));
    let is_other = !from.trim().is_empty() && !ends_as(from, to) && !ends_as(to, from);
    (is_one && is_other && t.kind == ToolKind::Edit).then_some((from, to))
}

fn is_of_old_text(change: &Change) -> bool {
    change.operation == Operation::Modify && change.texts().is_some()
}

/// What stands in front of a call: a verb, or what it is where nothing says what it does.
pub const fn verb(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::SwitchMode => "mode",
        ToolKind::Other => "tool",
        ToolKind::Read => "read",
        ToolKind::Edit => "edit",
        ToolKind::Delete => "delete",
        ToolKind::Move => "move",
        ToolKind::Search => "search",
        ToolKind::Execute => "run",
        ToolKind::Think => "think",
        ToolKind::Fetch => "fetch",
    }
}

/// What a call does as it says itself, else by the name of its tool, where that is its title or stands in front of it.
/// Only for being shown: nothing is allowed by a name.
pub fn kind_of(t: &ToolCall) -> ToolKind {
    if t.kind != ToolKind::Other {
        return t.kind;
    }
    let names = std::iter::once(t.named()).chain(t.name.as_deref()).chain(t.also_named.iter().map(String::as_str));
    let named = names.filter_map(tool_name).find_map(kind_named);
    // A question may leave out what the call was announced as.
    named.or(t.kind_before).unwrap_or_default()
}

/// The kind of the tools that are called so.
pub fn kind_named(name: &str) -> Option<ToolKind> {
    let name = name.chars().filter(|c| !matches!(c, '_' | '-')).collect::<String>().to_lowercase();
    TOOLS.iter().find(|(_, names)| names.contains(&name.as_str())).map(|(kind, _)| *kind)
}

/// What stands in front of a colon, if it is one word; else the title, if that is one.
pub fn tool_name(title: &str) -> Option<&str> {
    let name = title.split_once(": ").map_or(title, |(name, _)| name).trim();
    (!name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))).then_some(name)
}

/// What a call of no kind that is not done shows in place of output: its own arguments, as far as they have come. An object
/// of JSON that ends where the text does is whole, or one that is still being written.
pub fn arguments(t: &ToolCall) -> Option<&str> {
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
pub fn input(t: &ToolCall) -> Option<Cow<'_, Value>> {
    let written = || serde_json::from_str(arguments(t).filter(|text| text.len() <= MAX_ARGUMENTS)?).ok();
    t.raw_input.as_ref().map(Cow::Borrowed).or_else(|| written().map(Cow::Owned))
}

/// Whether a call is given the whole text of a file.
fn writes_all(t: &ToolCall) -> bool {
    let has = |input: &Value, name: &str| input.get(name).is_some_and(Value::is_string);
    let has_text = |input: &Value| has(input, "content") && PATHS.iter().any(|name| has(input, name));
    kind_of(t) == ToolKind::Edit && input(t).is_some_and(|input| has_text(&input))
}

/// Files that a call is to patch, where it says so only in its input, and nothing else there.
pub fn patched(call: &ToolCall) -> Vec<OfFile<'_>> {
    patch_of(call).and_then(patch::of_files).unwrap_or_default()
}

/// The patch of those files, as it was sent.
pub fn patch_of(call: &ToolCall) -> Option<&str> {
    let input = call.raw_input.as_ref().filter(|_| call.content.is_empty());
    let text = match input {
        Some(Value::String(text)) => Some(text),
        Some(Value::Object(members)) if members.len() == 1 => members.values().next().and_then(|member| match member {
            Value::String(text) => Some(text),
            _ => None,
        }),
        _ => None,
    };
    text.map(String::as_str).filter(|text| patch::is_of_files(text))
}

/// Whether a call is called so, in small letters: by the word that stands in its row, its title, or its tool's name.
pub fn is_called(call: &ToolCall, name: &str) -> bool {
    let names = [deed(call), call.kind.word(), call.label(), call.name.as_deref().unwrap_or_default()];
    names.iter().any(|of| of.to_lowercase().contains(name))
}
