//! What copying an entry yields: the text as it was sent, without layout; of what changes a file, the patch.
//!
//! Invariant: what is searched is what is copied, without a difference that has to be computed: of texts that are put in
//! place of others, the lines from a little above the first that differs to a little below the last, before and after.

use super::patch;
use crate::model::entry::{Block, Body, Entry, FileOutcome, PlanStatus};
use crate::model::session_ref::SessionRef;
use crate::model::tool::{Change, ChangeBody, ToolCall, ToolContent, deed};
use crate::text::diff::CONTEXT;

/// What the text of an entry is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum For {
    Copying,
    Searching,
}

/// The raw text of an entry. Not sanitised: the caller that writes it to a terminal does that.
pub fn source(entry: &Entry, session: SessionRef<'_>) -> String {
    text(entry, session, For::Copying)
}

/// The text in which words are looked for: what is removed is in it like what is added.
pub fn searched(entry: &Entry, session: SessionRef<'_>) -> String {
    text(entry, session, For::Searching)
}

fn text(entry: &Entry, session: SessionRef<'_>, purpose: For) -> String {
    match &entry.body {
        Body::User(m) => m.text.clone(),
        Body::Agent(m) => m.text.clone(),
        Body::Thought(t) => t.message.text.clone(),
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
            lines.collect::<Vec<_>>().join("\n")
        }
        Body::Terminal(id) => {
            session.terminal(id).map(|t| format!("$ {}\n{}", t.command, t.text.text())).unwrap_or_default()
        }
        Body::File(op) => match &op.outcome {
            FileOutcome::Written { old, new, .. } => texts(&op.path, (old.as_deref(), new), None, session, purpose),
            FileOutcome::Pending | FileOutcome::Altered | FileOutcome::Refused(_) => op.path.clone(),
        },
        Body::Changes(c) => super::changes::source(c),
        Body::Notice(n) => {
            let mut text = n.title.clone();
            for line in &n.detail {
                text.push('\n');
                text.push_str(line);
            }
            text
        }
    }
}

fn call(tool: &ToolCall, session: SessionRef<'_>, purpose: For) -> String {
    let mut parts = vec![tool.label().to_owned()];
    for (at, content) in tool.content.iter().enumerate() {
        match content {
            ToolContent::Block(b) | ToolContent::Unread(b) => parts.push(block(b)),
            ToolContent::Change(one) => parts.push(change(one, tool.line_of(at), session, purpose)),
            ToolContent::Terminal(id) => parts.extend(session.terminal(id).map(|t| t.text.text())),
        }
    }
    if tool.content.iter().all(|content| content.change().is_none()) {
        // Shown in its row as well: some agents leave it out of what they say after the answer.
        parts.extend(tool.changes().map(|one| change(one, tool.known_line(one), session, purpose)));
        parts.extend(deed::patch_of(tool).map(str::to_owned));
    }
    parts.retain(|p| !p.is_empty());
    parts.join("\n")
}

fn change(change: &Change, line: Option<u32>, session: SessionRef<'_>, purpose: For) -> String {
    match &change.body {
        ChangeBody::Texts { old, new } => texts(&change.path, (old.as_deref(), new), line, session, purpose),
        ChangeBody::Patch(patch) => patch.to_string(),
        ChangeBody::Nothing => change.path.clone(),
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
        (None, _) => new.to_owned(),
        (Some(old), _) if old == new => path.to_owned(),
        (Some(_), For::Copying) => patch::of_texts(path, (old, new), line, session),
        (Some(old), For::Searching) => {
            let (removed, added) = around_changes(old, new);
            format!("{path}\n{removed}\n{added}")
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

fn block(block: &Block) -> String {
    match block {
        Block::Text(text) => text.clone(),
        Block::Other { label, uri, text, .. } => {
            text.clone().or_else(|| uri.clone()).unwrap_or_else(|| format!("[{label}]"))
        }
    }
}
