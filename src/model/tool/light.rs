//! Entries without their long texts, for those who only need to know what they are.
//!
//! Invariant: what can be told of an entry beside the words of its long texts is the same: its parts and what they are, and
//! which texts are alike.

use super::{Asked, Change, ChangeBody, ToolCall, ToolContent, size_of_value};
use crate::model::entries::size_of_entry;
use crate::model::entry::{Block, Body, Entry, FileOp, FileOutcome};
use serde_json::Value;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

/// Entries of fewer bytes are kept as they are.
const HEAVY: usize = 64 << 10;
/// Bytes of a text, and of a raw value, that is kept as it is.
const LONG: usize = 4 << 10;

/// An entry without its long texts; nothing where it has none, or is all text.
pub fn lightened(entry: &Entry) -> Option<Entry> {
    let body = match &entry.body {
        body if size_of_entry(body) < HEAVY => return None,
        Body::Tool(call) => Body::Tool(call.lightened().into()),
        Body::File(FileOp { verb, path, outcome: FileOutcome::Written { created, bytes, old, new }, is_outside }) => {
            let (old, new) = (old.as_ref().map(shared), shared(new));
            let outcome = FileOutcome::Written { created: *created, bytes: *bytes, old, new };
            Body::File(FileOp { verb: *verb, path: path.clone(), outcome, is_outside: *is_outside })
        }
        _ => return None,
    };
    let Entry { id, rev, finished, turn, at, .. } = *entry;
    Some(Entry { id, rev, finished, turn, at, body })
}

impl ToolCall {
    fn lightened(&self) -> Self {
        Self {
            id: self.id.clone(),
            title: self.title.clone(),
            name: self.name.clone(),
            also_named: self.also_named.clone(),
            kind: self.kind,
            status: self.status.clone(),
            mark: self.mark,
            content: self.content.iter().map(part).collect(),
            locations: self.locations.clone(),
            more_locations: self.more_locations,
            cut: self.cut,
            raw_input: self.raw_input.as_ref().map(value),
            raw_output: self.raw_output.as_ref().map(value),
            started: self.started,
            ended: self.ended,
            refused: self.refused,
            allowed: self.allowed,
            answered_by: self.answered_by,
            decided: self.decided.clone(),
            unanswered: self.unanswered,
            parent: self.parent.clone(),
            is_agent: self.is_agent,
            is_stopping: self.is_stopping,
            can_cancel: self.can_cancel,
            runs_elsewhere: self.runs_elsewhere,
            named_before: self.named_before.clone(),
            is_judged: self.is_judged,
            asked: self.asked.as_ref().map(|asked| {
                let Asked { changes, command } = &**asked;
                let changes = changes.iter().map(light_change).collect();
                Box::new(Asked { changes, command: command.as_ref().map(shared) })
            }),
            kind_before: self.kind_before,
            places: self.places.clone(),
        }
    }
}

fn part(part: &ToolContent) -> ToolContent {
    match part {
        ToolContent::Block(block) => ToolContent::Block(small(block)),
        ToolContent::Unread(block) => ToolContent::Unread(small(block)),
        ToolContent::Change(change) => ToolContent::Change(light_change(change)),
        ToolContent::Terminal(id) => ToolContent::Terminal(id.clone()),
    }
}

fn light_change(change: &Change) -> Change {
    let body = match &change.body {
        ChangeBody::Texts { old, new } => ChangeBody::Texts { old: old.as_ref().map(shared), new: shared(new) },
        ChangeBody::Patch(patch) => ChangeBody::Patch(shared(patch)),
        ChangeBody::Nothing => ChangeBody::Nothing,
    };
    let Change { operation, path, from, .. } = change;
    Change { operation: operation.clone(), path: path.clone(), from: from.clone(), body }
}

fn small(block: &Block) -> Block {
    match block {
        Block::Text(text) => Block::Text(owned(text)),
        Block::Other { label, uri, text, picture } => Block::Other {
            label: label.clone(),
            uri: uri.clone(),
            text: text.as_deref().map(owned),
            picture: picture.clone(),
        },
    }
}

/// Of a large value, the small members.
fn value(value: &Value) -> Value {
    let is_small = |value: &Value| size_of_value(value) <= LONG;
    match value {
        _ if is_small(value) => value.clone(),
        Value::Object(map) => {
            let small = map.iter().filter(|(name, value)| name.len() <= LONG && is_small(value));
            Value::Object(small.take(LONG / 64).map(|(name, value)| (name.clone(), value.clone())).collect())
        }
        Value::String(text) => Value::String(owned(text)),
        _ => Value::Null,
    }
}

fn shared(text: &Arc<str>) -> Arc<str> {
    if text.len() <= LONG { Arc::clone(text) } else { owned(text).into() }
}

/// A text, or what tells a long one from others.
fn owned(text: &str) -> String {
    if text.len() <= LONG {
        return text.to_owned();
    }
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("{} bytes, {:016x}", text.len(), hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::entry::FileVerb;
    use crate::model::ids::{EntryId, Now, ToolId, TurnId};
    use serde_json::json;

    fn entry(body: Body) -> Entry {
        Entry { id: EntryId(7), rev: 3, finished: true, turn: TurnId(1), at: Now::ZERO, body }
    }

    #[test]
    fn long_texts_go_and_all_else_stays() {
        let long = "x".repeat(HEAVY);
        let mut call = ToolCall::new(ToolId::from("t".to_owned()), Now::ZERO);
        call.content = vec![
            ToolContent::Block(Block::Text(long.clone())),
            ToolContent::Block(Block::Text("short".to_owned())),
            ToolContent::Change(Change::of_texts("f", None, long.as_str().into())),
        ];
        call.raw_input = Some(json!({ "command": "ls", "text": long }));
        call.raw_output = Some(json!([long]));
        let light = lightened(&entry(Body::Tool(call.clone().into()))).unwrap();
        assert!(size_of_entry(&light.body) < LONG);
        assert_eq!((light.id, light.rev, light.finished), (EntryId(7), 3, true));
        let Body::Tool(light) = light.body else { panic!("no call") };
        assert_eq!(light.content.len(), 3);
        assert_eq!(light.content[1], call.content[1]);
        assert_eq!(light.raw_input, Some(json!({ "command": "ls" })));
        // What was written belongs to the call that shows just that.
        let written = |new: &str| {
            let outcome = FileOutcome::Written { created: true, bytes: 1, old: None, new: new.into() };
            lightened(&entry(Body::File(FileOp {
                verb: FileVerb::Write,
                path: "f".to_owned(),
                outcome,
                is_outside: false,
            })))
            .unwrap()
        };
        let new = |entry: Entry| match entry.body {
            Body::File(FileOp { outcome: FileOutcome::Written { new, .. }, .. }) => new,
            _ => panic!("no file"),
        };
        let shown = light.content[2].change().unwrap().texts().unwrap().1.clone();
        assert_eq!(new(written(&long)), shown);
        assert_ne!(new(written(&format!("{long}y"))), shown);
    }

    #[test]
    fn what_is_small_or_all_text_is_left_as_it_is() {
        let mut call = ToolCall::new(ToolId::from("t".to_owned()), Now::ZERO);
        call.content = vec![ToolContent::Block(Block::Text("x".repeat(LONG + 1)))];
        assert_eq!(lightened(&entry(Body::Tool(call.into()))), None);
    }
}
