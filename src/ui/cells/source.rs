//! What copying an entry yields: the text as it was sent, without layout; of what changes a file, the patch.
//!
//! Invariant: what is searched is what is copied, without a difference that has to be computed: of texts that are put in
//! place of others, the lines from a little above the first that differs to a little below the last, before and after.

use super::{named, patch};
use crate::base::sanitize;
use crate::model::entry::{Block, Body, Entry, FileOutcome, PlanStatus};
use crate::model::session_ref::SessionRef;
use crate::model::terminal::Terminal;
use crate::model::tool::{Change, ChangeBody, ToolCall, ToolContent, ToolKind, deed};
use crate::text::diff::CONTEXT;
use std::borrow::Cow;

/// What the text of an entry is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum For {
    Copying,
    Searching,
}

/// The text of an entry, without control characters (see `sanitize::copied`): it goes to the clipboard and into pagers.
pub fn source(entry: &Entry, session: SessionRef<'_>) -> String {
    text(entry, session, For::Copying)
}

/// What copying an entry by itself yields: of a call that changes files no more than that, else all of it.
pub fn copied(entry: &Entry, session: SessionRef<'_>) -> String {
    let Body::Tool(tool) = &entry.body else { return source(entry, session) };
    let changes: Vec<_> = changes(tool).filter(|(one, _)| one.body != ChangeBody::Nothing).collect();
    match changes.as_slice() {
        [] => deed::patch_of(tool).map_or_else(|| source(entry, session), of_file),
        [(one, line)] => change(one, *line, session, For::Copying),
        // Where one is of a new file, too: texts and patches would not tell where one ends.
        all => {
            let patches = all.iter().filter_map(|(one, line)| patch::of_change(one, *line, session));
            patches.map(|patch| clean(patch, sanitize::copied_file)).collect()
        }
    }
}

/// What a call changes, as it shows it, else as it was answered; and where that begins in the file, if it is known.
fn changes(tool: &ToolCall) -> impl Iterator<Item = (&Change, Option<u32>)> {
    let shown = || tool.content.iter().enumerate().filter_map(|(at, one)| Some((one.change()?, tool.line_of(at))));
    let answered = tool.changes().filter(move |_| shown().next().is_none()).map(|one| (one, tool.known_line(one)));
    shown().chain(answered)
}

/// The text in which words are looked for: what is removed is in it like what is added.
pub fn searched(entry: &Entry, session: SessionRef<'_>) -> String {
    text(entry, session, For::Searching)
}

fn text(entry: &Entry, session: SessionRef<'_>, purpose: For) -> String {
    match &entry.body {
        Body::User(m) => said(&m.text),
        Body::Agent(m) => said(&m.text),
        Body::Thought(t) => said(&t.message.text),
        Body::Attachment(a) => block(&a.block),
        Body::Tool(tool) => call(tool, session, purpose),
        Body::Plan(entries) => {
            let lines = entries.iter().map(|e| {
                let mark = match &e.status {
                    PlanStatus::Completed => "[x]",
                    PlanStatus::InProgress => "[>]",
                    PlanStatus::Pending => "[ ]",
                    PlanStatus::Other(word) => return format!("- [ ] {} ({word})", e.content),
                    PlanStatus::Unreadable => return e.content.clone(),
                };
                format!("- {mark} {}", e.content)
            });
            said(&lines.collect::<Vec<_>>().join("\n"))
        }
        Body::Terminal(id) => {
            session.terminal(id).map(|t| format!("$ {}\n{}", said(&t.command), t.printed())).unwrap_or_default()
        }
        Body::File(op) => match &op.outcome {
            FileOutcome::Written { old, new, .. } => texts(&op.path, (old.as_deref(), new), None, session, purpose),
            FileOutcome::Pending | FileOutcome::Altered | FileOutcome::Refused(_) => said(&op.path),
        },
        Body::Changes(c) => said(&super::changes::source(c)),
        Body::Notice(n) => {
            let mut text = n.title.clone();
            for line in &n.detail {
                text.push('\n');
                text.push_str(line);
            }
            clean(text, sanitize::copied)
        }
    }
}

fn call(tool: &ToolCall, session: SessionRef<'_>, purpose: For) -> String {
    // A title may have lost the middle of it.
    let command = named::asked_command(tool).filter(|_| named::kind_of(tool) == ToolKind::Execute);
    let mut parts = vec![said(command.unwrap_or_else(|| tool.label()))];
    for (at, content) in tool.content.iter().enumerate() {
        match content {
            _ if named::only_asks(tool, content) => {}
            ToolContent::Block(b) | ToolContent::Unread(b) => parts.push(block(b)),
            ToolContent::Change(one) => parts.push(change(one, tool.line_of(at), session, purpose)),
            ToolContent::Terminal(id) => parts.extend(session.terminal(id).map(Terminal::printed)),
        }
    }
    if tool.content.iter().all(|content| content.change().is_none()) {
        // Shown in its row as well: some agents leave it out of what they say after the answer.
        parts.extend(changes(tool).map(|(one, line)| change(one, line, session, purpose)));
        parts.extend(deed::patch_of(tool).map(of_file));
    }
    parts.retain(|p| !p.is_empty());
    parts.join("\n")
}

fn change(change: &Change, line: Option<u32>, session: SessionRef<'_>, purpose: For) -> String {
    match &change.body {
        ChangeBody::Texts { old, new } => texts(&change.path, (old.as_deref(), new), line, session, purpose),
        ChangeBody::Patch(patch) => of_file(patch),
        ChangeBody::Nothing => said(&change.path),
    }
}

/// Of a new file its text; of a change the patch, or the lines around it; of what changes nothing the path.
fn texts(
    path: &str,
    (old, new): (Option<&str>, &str),
    line: Option<u32>,
    session: SessionRef<'_>,
    purpose: For,
) -> String {
    match (old.filter(|old| !old.is_empty()), purpose) {
        (None, _) => of_file(new),
        (Some(old), _) if old == new => said(path),
        (Some(_), For::Copying) => clean(patch::of_texts(path, (old, new), line, session), sanitize::copied_file),
        (Some(old), For::Searching) => {
            let (removed, added) = around_changes(old, new);
            of_file(&format!("{path}\n{removed}\n{added}"))
        }
    }
}

/// Both texts without the lines at the beginning and the end that are alike, but for a few.
fn around_changes<'a>(old: &'a str, new: &'a str) -> (&'a str, &'a str) {
    let alike = |(a, b): &(&str, &str)| a == b;
    let lines = || old.split_inclusive('\n').zip(new.split_inclusive('\n'));
    let above: Vec<usize> = lines().take_while(alike).map(|(line, _)| line.len()).collect();
    let before: usize = above.iter().take(above.len().saturating_sub(CONTEXT)).sum();
    let (old, new) = (old.get(before..).unwrap_or_default(), new.get(before..).unwrap_or_default());
    let ends = || old.split_inclusive('\n').rev().zip(new.split_inclusive('\n').rev());
    let below: usize = ends().take_while(alike).skip(CONTEXT).map(|(line, _)| line.len()).sum();
    let cut = |text: &'a str| text.get(..text.len().saturating_sub(below)).unwrap_or_default();
    (cut(old), cut(new))
}

/// What is not of a file.
fn said(text: &str) -> String {
    sanitize::copied(text).into_owned()
}

fn of_file(text: &str) -> String {
    sanitize::copied_file(text).into_owned()
}

/// The same of a text that need not be copied where it is clean.
pub(super) fn clean(text: String, cleaned: fn(&str) -> Cow<'_, str>) -> String {
    let changed = match cleaned(&text) {
        Cow::Owned(changed) => Some(changed),
        Cow::Borrowed(_) => None,
    };
    changed.unwrap_or(text)
}

fn block(block: &Block) -> String {
    said(&text_of(block))
}

fn text_of(block: &Block) -> Cow<'_, str> {
    match block {
        Block::Text(text) => text.as_str().into(),
        Block::Other { label, uri, text, .. } => {
            text.as_deref().or(uri.as_deref()).map_or_else(|| format!("[{label}]").into(), Cow::Borrowed)
        }
    }
}
