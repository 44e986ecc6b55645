//! What of an entry can be copied by itself: a code block, a command, what it printed, a patch, a path, an address.
//!
//! Copies nothing. Invariant: each is as it was sent, without layout, and there are at most `MAX`.

use super::{named, source};
use crate::base::human;
use crate::model::entry::{Block, Body, Entry, FileOutcome};
use crate::model::session_ref::SessionRef;
use crate::model::terminal::Terminal;
use crate::model::tool::{Change, ChangeBody, ToolCall, ToolContent};
use crate::text::{address, unified};
use crate::ui::md;
use std::collections::BTreeSet;
use std::time::Duration;

const MAX: usize = 100;
/// For the changed lines of a patch.
const TIME: Duration = Duration::from_millis(50);

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// What it is.
    pub what: String,
    pub text: String,
}

/// The whole entry first.
pub fn parts(entry: &Entry, session: SessionRef<'_>) -> Vec<Part> {
    let mut out = Parts::default();
    out.add("all of it", source(entry, session));
    match &entry.body {
        Body::User(m) => out.markdown(&m.text),
        Body::Agent(m) => out.markdown(&m.text),
        Body::Thought(t) => out.markdown(&t.message.text),
        Body::Tool(call) => out.call(call, session),
        Body::Terminal(id) => out.terminal(session.terminal(id)),
        Body::File(op) => {
            out.add("path", op.path.clone());
            if let FileOutcome::Written { old, new, .. } = &op.outcome {
                out.patch(&op.path, old.as_deref(), new);
            }
        }
        Body::Attachment(_) | Body::Plan(_) | Body::Notice(_) | Body::Changes(_) => {}
    }
    out.0
}

#[derive(Default)]
struct Parts(Vec<Part>);

impl Parts {
    fn add(&mut self, what: impl Into<String>, text: impl Into<String>) {
        let (what, text) = (what.into(), text.into());
        if !text.is_empty() && self.0.len() < MAX {
            self.0.push(Part { what, text });
        }
    }

    fn markdown(&mut self, text: &str) {
        for (language, code) in md::blocks(text) {
            let lines = human::count(code.lines().count() as u64, "line");
            self.add(if language.is_empty() { format!("code, {lines}") } else { format!("{language}, {lines}") }, code);
        }
        self.addresses(text);
    }

    fn addresses(&mut self, text: &str) {
        let pages: BTreeSet<&str> = address::all(text).take(MAX).collect();
        for page in pages {
            self.add("address", page);
        }
    }

    fn call(&mut self, call: &ToolCall, session: SessionRef<'_>) {
        self.add("command", named::command(call.raw_input.as_ref()).unwrap_or_default());
        let mut paths: BTreeSet<&str> = call.locations.iter().map(|at| at.path.as_str()).collect();
        for content in &call.content {
            match content {
                ToolContent::Block(Block::Text(text)) | ToolContent::Unread(Block::Text(text)) => {
                    self.add("output", text.as_str());
                    self.addresses(text);
                }
                ToolContent::Block(_) | ToolContent::Unread(_) => {}
                ToolContent::Change(change) => {
                    paths.insert(&change.path);
                    self.change(change);
                }
                ToolContent::Terminal(id) => self.terminal(session.terminal(id)),
            }
        }
        for path in paths {
            self.add("path", path);
        }
    }

    fn change(&mut self, change: &Change) {
        match &change.body {
            ChangeBody::Texts { old, new } => {
                self.patch(&change.path, old.as_deref(), new);
                self.add("new text", new.to_string());
            }
            ChangeBody::Patch(patch) => self.add("patch", patch.to_string()),
            ChangeBody::Nothing => {}
        }
    }

    fn patch(&mut self, path: &str, old: Option<&str>, new: &str) {
        let name = path.trim_start_matches('/');
        let from = if old.is_some() { format!("a/{name}") } else { "/dev/null".to_owned() };
        let mut patch = format!("--- {from}\n+++ b/{name}\n").into_bytes();
        unified::hunks(old.unwrap_or_default().as_bytes(), new.as_bytes(), TIME, &mut patch);
        self.add("patch", String::from_utf8_lossy(&patch));
    }

    fn terminal(&mut self, terminal: Option<&Terminal>) {
        let Some(terminal) = terminal else { return };
        if self.0.iter().all(|part| part.text != terminal.command) {
            self.add("command", terminal.command.as_str());
        }
        self.add("output", terminal.text.text());
    }
}
