//! What copying an entry yields: the text as it was sent, without layout.

use crate::model::entry::{Block, Body, Entry, FileOutcome, PlanStatus};
use crate::model::session_ref::SessionRef;
use crate::model::tool::{ChangeBody, ToolContent};

/// The raw text of an entry. Not sanitised: the caller that writes it to a terminal does that.
pub fn source(entry: &Entry, session: SessionRef<'_>) -> String {
    match &entry.body {
        Body::User(m) => m.text.clone(),
        Body::Agent(m) => m.text.clone(),
        Body::Thought(t) => t.message.text.clone(),
        Body::Attachment(a) => block(&a.block),
        Body::Tool(tool) => {
            let mut parts = vec![tool.label().to_owned()];
            for content in &tool.content {
                match content {
                    ToolContent::Block(b) | ToolContent::Unread(b) => parts.push(block(b)),
                    ToolContent::Change(change) => parts.push(match &change.body {
                        ChangeBody::Texts { new: text, .. } | ChangeBody::Patch(text) => text.to_string(),
                        ChangeBody::Nothing => change.path.clone(),
                    }),
                    ToolContent::Terminal(id) => parts.extend(session.terminal(id).map(|t| t.text.text())),
                }
            }
            parts.retain(|p| !p.is_empty());
            parts.join("\n")
        }
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
            FileOutcome::Written { new, .. } => new.to_string(),
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

fn block(block: &Block) -> String {
    match block {
        Block::Text(text) => text.clone(),
        Block::Other { label, uri, text, .. } => {
            text.clone().or_else(|| uri.clone()).unwrap_or_else(|| format!("[{label}]"))
        }
    }
}
