//! What all versions tell of tool calls in the same way: kinds, parts, places, raw values.
//!
//! A schema drops list elements that it does not know; a person shall see a placeholder instead, so the lists are
//! walked here and only their leaves are typed. A diff is read in both shapes, whichever version is spoken.

use super::content::{block, id_of, list_of, str_of, u32_of, words_of};
use crate::agent::quirks;
use crate::base::human;
use crate::base::limits::{self, MAX_CONTENT, MAX_ID, MAX_NAME, MAX_PARTS, MAX_PATH, MAX_TEXT};
use crate::model::entry::Block;
use crate::model::ids::{Owner, TermId};
use crate::model::tool::{
    Change, ChangeBody, Location, MAX_ALSO_NAMED, Operation, ToolContent, ToolKind, size_of_value,
};
use serde_json::Value;

/// The parts of a call; what there is no room for is one last part that says so. Terminals that they name are of `owner`.
pub fn contents(list: &[Value], owner: Owner, lost: usize, cut: &mut bool) -> Vec<ToolContent> {
    let (mut out, mut bytes, mut read) = (Vec::new(), 0, 0);
    for value in list.iter().take(MAX_PARTS) {
        let parts = parts(value, owner, cut);
        let size: usize = parts.iter().map(ToolContent::size).sum();
        if bytes + size > MAX_CONTENT || out.len() + parts.len() > MAX_PARTS {
            break;
        }
        (bytes, read) = (bytes + size, read + 1);
        out.extend(parts);
    }
    let left = list.len() - read + lost;
    if left > 0 {
        *cut = true;
        out.push(said(format!("{left} more {} left out", human::plural(left as u64, "part"))));
    }
    // Most calls have one part, for which a list that grows has room for four: it stays as long as the call.
    out.shrink_to_fit();
    out
}

/// A raw value, unless it is too large to be kept.
pub fn raw(value: &Value, cut: &mut bool) -> Value {
    let size = size_of_value(value);
    if size <= MAX_CONTENT {
        return value.clone();
    }
    *cut = true;
    Value::String(limits::left_out(size))
}

fn said(label: String) -> ToolContent {
    ToolContent::Block(Block::label(label))
}

pub fn kind(name: &str) -> ToolKind {
    match name {
        "read" => ToolKind::Read,
        "edit" => ToolKind::Edit,
        "delete" => ToolKind::Delete,
        "move" => ToolKind::Move,
        "search" => ToolKind::Search,
        "execute" => ToolKind::Execute,
        "think" => ToolKind::Think,
        "fetch" => ToolKind::Fetch,
        "switch_mode" => ToolKind::SwitchMode,
        _ => ToolKind::Other,
    }
}

/// What a tool is called, where adapters say it: in `_meta`, in the object of their own.
pub fn names_in_meta(call: &Value) -> Vec<String> {
    let meta = call.get("_meta");
    let own = meta.and_then(Value::as_object).into_iter().flat_map(|meta| meta.values()).chain(meta).take(MAX_PARTS);
    let named = own.flat_map(|own| ["toolName", "tool_name"].map(|key| str_of(own, key))).flatten();
    let named = named.filter(|name| !name.is_empty());
    named.take(MAX_ALSO_NAMED).map(|name| limits::cut(quirks::tool_name(name), MAX_NAME)).collect()
}

/// One part as it is sent: a diff may be of several files.
pub fn parts(value: &Value, owner: Owner, cut: &mut bool) -> Vec<ToolContent> {
    vec![match str_of(value, "type") {
        Some("content") => ToolContent::Block(value.get("content").map_or_else(unreadable, |b| bounded(b, cut))),
        Some("diff") if value.get("changes").is_some() => return changes(value, cut),
        Some("diff") => match (str_of(value, "path"), str_of(value, "newText")) {
            (Some(path), _) if path.len() > MAX_PATH => too_long(path, cut),
            (Some(path), Some(new)) => {
                ToolContent::Change(Change::of_texts(path, str_of(value, "oldText").map(Into::into), new.into()))
            }
            _ => ToolContent::Unread(unreadable()),
        },
        Some("terminal") => match id_of(value, "terminalId") {
            Some(id) => ToolContent::Terminal(TermId::of(owner, id)),
            None => {
                // Of an id that is too long nothing can be shown.
                *cut |= str_of(value, "terminalId").is_some();
                ToolContent::Block(unreadable())
            }
        },
        // A bare block counts as wrapped; what is neither is labelled with its type.
        _ => ToolContent::Block(bounded(value, cut)),
    }]
}

fn too_long(path: &str, cut: &mut bool) -> ToolContent {
    *cut = true;
    said(format!("diff of a path of {} bytes left out", path.len()))
}

/// A change of each file, with what the patch says of it. A patch that is of none of them is shown as it is (V2-096).
fn changes(diff: &Value, cut: &mut bool) -> Vec<ToolContent> {
    let patch = diff.get("patch").and_then(|patch| str_of(patch, "text")).unwrap_or_default();
    *cut |= patch.len() > MAX_TEXT;
    let patch = limits::cut(patch, MAX_TEXT);
    let format = diff.get("patch").and_then(|patch| str_of(patch, "format"));
    let mut sections = if format == Some("git_patch") { sections(&patch) } else { Vec::new() };
    let list = list_of(diff, "changes");
    let mut out = Vec::new();
    for value in list.iter().take(MAX_PARTS) {
        let (path, from) = (str_of(value, "path"), str_of(value, "oldPath"));
        let Some(path) = path.or(from) else {
            out.push(ToolContent::Unread(unreadable()));
            continue;
        };
        if let Some(long) = [Some(path), from].into_iter().flatten().find(|path| path.len() > MAX_PATH) {
            out.push(too_long(long, cut));
            continue;
        }
        let at = sections.iter().position(|section| section.is_of(path) && section.is_of_no_other(path, from));
        let body = at.map_or(ChangeBody::Nothing, |at| ChangeBody::Patch(sections.remove(at).text.into()));
        let from = from.filter(|from| *from != path).map(str::to_owned);
        out.push(ToolContent::Change(Change { operation: operation(value), path: path.to_owned(), from, body }));
    }
    if list.len() > MAX_PARTS {
        *cut = true;
        out.push(said(format!("{} more files left out", list.len() - MAX_PARTS)));
    }
    let rest: String = sections.iter().map(|section| section.text).collect();
    let rest = if format == Some("git_patch") && out.iter().any(has_patch) { rest } else { patch.clone() };
    if !rest.trim().is_empty() {
        out.push(ToolContent::Unread(Block::Text(rest)));
    }
    out
}

fn has_patch(part: &ToolContent) -> bool {
    part.change().is_some_and(|change| matches!(change.body, ChangeBody::Patch(_)))
}

fn operation(value: &Value) -> Operation {
    match str_of(value, "operation") {
        Some("add") => Operation::Add,
        Some("modify") => Operation::Modify,
        Some("delete") => Operation::Delete,
        Some("move") => Operation::Move,
        Some("copy") => Operation::Copy,
        word => Operation::Other(limits::cut(word.unwrap_or("change"), MAX_ID).into()),
    }
}

/// What a patch says of one file.
struct Section<'a> {
    text: &'a str,
    /// As the lines before its first hunk name it.
    paths: Vec<String>,
}

impl Section<'_> {
    fn is_of(&self, path: &str) -> bool {
        self.paths.iter().any(|named| named == path)
    }

    fn is_of_no_other(&self, path: &str, from: Option<&str>) -> bool {
        self.paths.iter().all(|named| named == path || from == Some(named))
    }
}

/// Lines before the first hunk that name a file.
const NAMING: [&str; 6] = ["--- ", "+++ ", "rename from ", "rename to ", "copy from ", "copy to "];

fn sections(patch: &str) -> Vec<Section<'_>> {
    let begins: Vec<usize> = std::iter::once(0)
        .filter(|_| patch.starts_with(FILE))
        .chain(patch.match_indices(&format!("\n{FILE}")).map(|(at, _)| at + 1))
        .collect();
    let ends = begins.iter().skip(1).copied().chain(std::iter::once(patch.len()));
    let whole = begins.iter().zip(ends).filter_map(|(begin, end)| patch.get(*begin..end));
    whole.take(MAX_PARTS).map(|text| Section { text, paths: paths(text) }).collect()
}

const FILE: &str = "diff --git ";

/// The last path of the first line first: it is that of the file as it is now.
fn paths(section: &str) -> Vec<String> {
    let mut lines = section.lines();
    let first = lines.next().and_then(|line| line.strip_prefix(FILE)).unwrap_or_default();
    let mut paths: Vec<String> = both(first).into_iter().collect();
    let path = |named: &str| unprefixed(&unquoted(named.trim_end_matches(['\t', '\r'])));
    for line in lines.by_ref().take_while(|line| !line.starts_with("@@")) {
        paths.extend(NAMING.iter().find_map(|word| line.strip_prefix(word)).map(path));
    }
    // Where a further file would begin without a line of its own.
    let rest: Vec<&str> = lines.collect();
    for three in rest.windows(3).filter(|three| three[2].starts_with("@@")) {
        let named = three[0].strip_prefix("--- ").zip(three[1].strip_prefix("+++ "));
        paths.extend(named.into_iter().flat_map(|(one, other)| [one, other]).map(path));
    }
    paths.retain(|path| path != "/dev/null");
    paths
}

/// Of two paths that are the same and nothing tells apart: the half.
fn both(line: &str) -> Option<String> {
    if let Some(rest) = line.strip_suffix('"') {
        let begin = rest.rfind(" \"")?;
        return Some(unprefixed(&unquoted(line.get(begin + 1..)?)));
    }
    let (one, other) = line.split_at_checked(line.len() / 2)?;
    let (one, other) = (unprefixed(one), unprefixed(other.strip_prefix(' ')?));
    (one == other).then_some(other)
}

/// An older habit: `a/` and `b/` before a path, which is absolute without them.
fn unprefixed(path: &str) -> String {
    let bare = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path);
    if bare.starts_with('/') { bare } else { path }.to_owned()
}

/// A path as Git quotes it.
fn unquoted(path: &str) -> String {
    let Some(inner) = path.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else { return path.to_owned() };
    let (mut out, mut bytes) = (Vec::new(), inner.bytes().peekable());
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match bytes.next() {
            Some(digit @ b'0'..=b'7') => {
                let mut code = u32::from(digit - b'0');
                for _ in 0..2 {
                    if let Some(next @ b'0'..=b'7') = bytes.peek().copied() {
                        code = code * 8 + u32::from(next - b'0');
                        bytes.next();
                    }
                }
                out.push(code as u8);
            }
            Some(b'n') => out.push(b'\n'),
            Some(b't') => out.push(b'\t'),
            Some(b'r') => out.push(b'\r'),
            Some(other) => out.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// A block whose text is not too long.
fn bounded(value: &Value, cut: &mut bool) -> Block {
    match block(value) {
        Block::Text(text) => {
            *cut |= text.len() > MAX_TEXT;
            Block::Text(limits::cut(text, MAX_TEXT))
        }
        Block::Other { label, uri, text, picture } => {
            // What was cut is longer than the bound, by the words that say so.
            let is_long = |text: &Option<String>, max: usize| text.as_ref().is_some_and(|text| text.len() > max);
            *cut |= label.len() > MAX_NAME || is_long(&uri, MAX_PATH) || is_long(&text, MAX_TEXT);
            Block::Other { label, uri, text, picture }
        }
    }
}

fn unreadable() -> Block {
    Block::label("content that cannot be read")
}

pub fn location(value: &Value) -> Option<Location> {
    Some(Location { path: words_of(value, "path", MAX_PATH)?, line: u32_of(value, "line") })
}

#[cfg(test)]
#[path = "tools_tests.rs"]
mod tests;
