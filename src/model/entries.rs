//! The transcript: entries in the order they first appeared.
//!
//! Invariant: ids count up without gaps from `first`, so an id finds its entry by subtraction; the bytes kept stay
//! below a budget, beyond which the oldest bodies give way to a line that says so.

use super::entry::{Attachment, Block, Body, Entry, FileOutcome, Level, Notice, PlanEntry, PlanStatus};
use super::ids::{EntryId, Now, TurnId};
use super::tool::ToolContent;

/// Bytes of text that the transcript keeps in memory. What gives way is still in the journal.
pub const TRANSCRIPT_BUDGET: usize = 256 << 20;

#[derive(Debug, Default)]
pub struct Entries {
    list: Vec<Entry>,
    /// Changes with every change of any entry.
    generation: u64,
    bytes: usize,
    /// Entries before this one have been emptied for the budget.
    emptied: usize,
}

impl Entries {
    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn generation(&self) -> u64 {
        self.generation
    }

    pub fn get(&self, id: EntryId) -> Option<&Entry> {
        self.list.get(usize::try_from(id.0).ok()?)
    }

    pub fn at(&self, index: usize) -> Option<&Entry> {
        self.list.get(index)
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Entry> {
        self.list.iter()
    }

    pub fn last(&self) -> Option<&Entry> {
        self.list.last()
    }

    pub(super) fn push(&mut self, turn: TurnId, at: Now, body: Body) -> EntryId {
        let id = EntryId(self.list.len() as u64);
        self.bytes += size_of_body(&body);
        self.list.push(Entry { id, rev: 0, finished: false, turn, at, body });
        self.generation += 1;
        self.keep_budget();
        id
    }

    /// Changes an entry in place; its revision grows.
    pub(super) fn change<R>(&mut self, id: EntryId, f: impl FnOnce(&mut Entry) -> R) -> Option<R> {
        let entry = self.list.get_mut(usize::try_from(id.0).ok()?)?;
        let before = size_of_body(&entry.body);
        let r = f(entry);
        entry.rev += 1;
        self.bytes = (self.bytes + size_of_body(&entry.body)).saturating_sub(before);
        self.generation += 1;
        self.keep_budget();
        Some(r)
    }

    pub(super) fn touch(&mut self, id: EntryId) {
        if let Some(entry) = usize::try_from(id.0).ok().and_then(|i| self.list.get_mut(i)) {
            entry.rev += 1;
            self.generation += 1;
        }
    }

    pub(super) fn finish(&mut self, id: EntryId) {
        if self.get(id).is_some_and(|e| !e.finished) {
            self.change(id, |e| {
                e.finished = true;
                // Grown piece by piece, a text holds up to twice its length.
                match &mut e.body {
                    Body::Agent(message) => message.text.shrink_to_fit(),
                    Body::Thought(thought) => thought.message.text.shrink_to_fit(),
                    _ => {}
                }
            });
        }
    }

    fn keep_budget(&mut self) {
        while self.bytes > TRANSCRIPT_BUDGET && self.emptied + 1 < self.list.len() {
            let Some(entry) = self.list.get_mut(self.emptied) else { return };
            self.emptied += 1;
            let size = size_of_body(&entry.body);
            if size < 256 {
                continue;
            }
            self.bytes = self.bytes.saturating_sub(size);
            entry.rev += 1;
            entry.finished = true;
            entry.body = Body::Notice(Notice {
                level: Level::Info,
                title: "left out here to save memory; the journal has it".into(),
                detail: Vec::new(),
            });
        }
    }
}

impl<'a> IntoIterator for &'a Entries {
    type Item = &'a Entry;
    type IntoIter = std::slice::Iter<'a, Entry>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// About how many bytes a body keeps alive.
fn size_of_step(step: &PlanEntry) -> usize {
    step.content.len() + if let PlanStatus::Other(word) = &step.status { word.len() } else { 0 }
}

fn size_of_body(body: &Body) -> usize {
    match body {
        Body::User(m) => m.text.len(),
        Body::Agent(m) => m.text.len(),
        Body::Thought(t) => t.message.text.len(),
        Body::Attachment(Attachment { block, .. }) => size_of_block(block),
        Body::Tool(tool) => {
            let content: usize = tool
                .content
                .iter()
                .map(|c| match c {
                    ToolContent::Block(block) => size_of_block(block),
                    ToolContent::Diff { old, new, .. } => old.as_ref().map_or(0, |o| o.len()) + new.len(),
                    ToolContent::Terminal(_) => 0,
                })
                .sum();
            content
                + tool.raw_input.as_ref().map_or(0, size_of_value)
                + tool.raw_output.as_ref().map_or(0, size_of_value)
        }
        Body::Plan(entries) => entries.iter().map(size_of_step).sum(),
        Body::Terminal(_) | Body::Changes(_) => 0,
        Body::File(op) => match &op.outcome {
            FileOutcome::Written { old, new, .. } => old.as_ref().map_or(0, |o| o.len()) + new.len(),
            FileOutcome::Pending | FileOutcome::Altered | FileOutcome::Refused(_) => 0,
        },
        Body::Notice(n) => n.detail.iter().map(String::len).sum(),
    }
}

fn size_of_block(block: &Block) -> usize {
    match block {
        Block::Text(text) => text.len(),
        Block::Other { label, text, .. } => label.len() + text.as_ref().map_or(0, String::len),
    }
}

fn size_of_value(value: &serde_json::Value) -> usize {
    use serde_json::Value;
    match value {
        Value::String(s) => s.len() + 24,
        Value::Array(a) => a.iter().map(size_of_value).sum::<usize>() + 24,
        Value::Object(o) => o.iter().map(|(k, v)| k.len() + size_of_value(v) + 48).sum::<usize>() + 24,
        Value::Null | Value::Bool(_) | Value::Number(_) => 24,
    }
}
