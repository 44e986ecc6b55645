//! What a call does and to what, in a few words: by its kind, its name, its input and what it shows.
//!
//! For being shown only: nothing is allowed by these words. Invariant: text of the agent is sanitised here.

use super::head::BETWEEN_NAMES;
use super::message::{display, label};
use super::{CellCtx, Places, diffs, moved};
use crate::base::paths::normalize;
use crate::model::changes::WritePreview;
use crate::model::entry::Block;
use crate::model::ids::Now;
use crate::model::session_ref::SessionRef;
use crate::model::tool::asked::without_name;
pub(super) use crate::model::tool::asked::{command_of as asked_command, only_asks};
use crate::model::tool::deed::{PATHS, input, kind_named, tool_name};
pub(super) use crate::model::tool::deed::{arguments, deed, kind_of, verb};
use crate::model::tool::{ToolCall, ToolContent, ToolKind, ToolStatus};
use crate::text::run::StyledText;
use crate::text::token::Token;
use crate::ui::labels;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// In place of the verb where nothing says what is to be done with a file.
pub const ABOUT: &str = "about";
/// Files named on the first line.
const MAX_NAMED: usize = 3;
/// Bytes in front of a directory that is named in brackets, and of what is looked at of why a call has failed.
const PLACE: usize = 40;
const MAX_FAILURE: usize = 1024;

/// The command of a terminal of ours that a call of no particular kind shows: its title may be cut short by the agent.
pub(super) fn own_command<'a>(t: &ToolCall, session: SessionRef<'a>) -> Option<&'a str> {
    let shown = t.terminals().find_map(|id| session.session().terminal(id)).filter(|_| t.kind == ToolKind::Other)?;
    Some(shown.command.as_str()).filter(|c| !c.is_empty())
}

/// What a call is asked to do; "create" only where the disk has no such file.
pub fn wish(t: &ToolCall, previews: &[WritePreview]) -> &'static str {
    match deed(t) {
        "create" if previews.iter().any(|preview| preview.old.is_some()) => "edit",
        verb @ ("create" | "edit" | "delete" | "write" | "move") => verb,
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

/// What a call does and to what, as its row says it, for places without a row: paths of the session's directory are short.
pub fn in_words(t: &ToolCall, session: SessionRef<'_>) -> String {
    let verb = if own_command(t, session).is_some() { labels::verb(ToolKind::Execute) } else { wish(t, &[]) };
    format!("{verb} {}", object_in_words(t, session)).trim_end().to_owned()
}

/// To what alone.
pub fn object_in_words(t: &ToolCall, session: SessionRef<'_>) -> String {
    let roots = [PathBuf::from(&session.cwd)];
    object_of(t, session, Places { roots: &roots, home: None }).as_str().to_owned()
}

/// What an agent is at of which nothing is heard, as far as it is known.
pub fn waits_for(session: SessionRef<'_>, now: Now) -> String {
    match session.running_tool() {
        Some(tool) => {
            let time = labels::clock(now.saturating_sub(tool.started));
            format!("it has run for {time}: {}", in_words(tool, session))
        }
        None => "it waits for its model, as far as it says".to_owned(),
    }
}

/// What a call is given by the name that fits its kind.
fn given(t: &ToolCall) -> Option<String> {
    match kind_of(t) {
        ToolKind::Search => given_as(t, &["pattern", "query"]),
        ToolKind::Fetch => given_as(t, &["url"]),
        ToolKind::Execute => command(input(t).as_deref()).or_else(|| asked_command(t).map(str::to_owned)),
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

/// The directory of a text that says nothing else, in brackets: `[current working directory /shop]`.
pub(super) fn place_named(content: &ToolContent) -> Option<&str> {
    let (ToolContent::Block(Block::Text(text)) | ToolContent::Unread(Block::Text(text))) = content else { return None };
    let inner = text.trim().strip_prefix('[')?.strip_suffix(']')?;
    let (words, path) = inner.split_at(inner.find('/')?);
    let names_one = |word: &str| matches!(word.trim_end_matches(':'), "cwd" | "directory" | "in" | "dir");
    let is_said =
        words.len() <= PLACE && words.to_ascii_lowercase().split_whitespace().next_back().is_some_and(names_one);
    (is_said && !path.contains(['\n', '[', ']'])).then_some(path)
}

/// The session's own directory, which the dock names.
pub(super) fn is_here(path: &str, ctx: &CellCtx<'_>) -> bool {
    let root = Path::new(&ctx.session.cwd);
    normalize(&root.join(path)) == normalize(root)
}

/// The path that the agent's words about a failure name first, where the call itself names none.
fn path_of_failure(t: &ToolCall) -> Option<&str> {
    let [ToolContent::Block(Block::Text(text)) | ToolContent::Unread(Block::Text(text))] = t.content.as_slice() else {
        return None;
    };
    let is_of_files =
        matches!(kind_of(t), ToolKind::Read | ToolKind::Edit | ToolKind::Delete | ToolKind::Move | ToolKind::Search);
    if t.status != ToolStatus::Failed || !is_of_files {
        return None;
    }
    let head = text.get(..text.floor_char_boundary(MAX_FAILURE)).unwrap_or_default();
    let around = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '(' | ')' | '<' | '>' | ',');
    let paths = head.split(around).map(|word| word.trim_end_matches(['.', ':', ';']));
    paths.filter(|word| word.starts_with('/') && !word.starts_with("//")).find(|word| word.len() > 1)
}

/// What is done to: the command, the path, else the title without the verb.
pub(super) fn object(t: &ToolCall, ctx: &CellCtx<'_>) -> StyledText {
    object_of(t, ctx.session, ctx.into())
}

fn object_of(t: &ToolCall, session: SessionRef<'_>, places: Places<'_>) -> StyledText {
    match own_command(t, session) {
        // What a call is given says more than what its terminal was started with.
        Some(command) if !(kind_of(t) == ToolKind::Execute && given(t).is_some()) => {
            StyledText::from(label(command).as_str())
        }
        _ => object_told(t, places),
    }
}

/// The same by what the call says of itself.
pub(super) fn object_told(t: &ToolCall, places: Places<'_>) -> StyledText {
    if kind_of(t) == ToolKind::Execute
        && let Some(command) = given(t)
    {
        return StyledText::from(label(&command).as_str());
    }
    if let Some(names) = moved::names(t, places) {
        return StyledText::from(moved::joined(&names).as_str());
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
    // A question may leave out what the call has named before.
    let before = t.named_before.first().filter(|_| is_unnamed && bare.is_empty()).map(|path| display(path, places));
    let target = target.or(before);
    if let Some(path) = target.filter(|p| !p.is_empty()) {
        let name = path.rsplit('/').next().unwrap_or(&path);
        if is_unnamed {
            text = StyledText::from(path.as_str());
        } else if !bare.contains(name) && matches!(kind, ToolKind::Read | ToolKind::Edit | ToolKind::Delete) {
            text.push(&format!("  {path}"), Token::Dim);
        }
    }
    match path_of_failure(t).filter(|_| text.is_empty()) {
        Some(path) => StyledText::from(display(path, places).as_str()),
        None => text,
    }
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
    Some(names.join(BETWEEN_NAMES))
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
