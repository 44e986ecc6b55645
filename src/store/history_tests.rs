//! What was written is read as it was, under no name in the directory, and what cannot be read is an error.

use super::*;
use crate::model::entry::{
    Attachment, Block, Body, ChunkKind, DetailFold, FileOp, FileOutcome, FileVerb, Level, Message, Notice, PlanEntry,
    PlanStatus, Priority, Thought, UserMessage, UserState,
};
use crate::model::ids::{EntryId, Now, TurnId};
use crate::model::patch::Patch;
use crate::model::tool::{Announced, Change, Location, ToolCall, ToolContent, ToolPatch};
use serde_json::json;

fn entry(id: u64, body: Body) -> Entry {
    Entry { id: EntryId(id), rev: 3, finished: true, turn: TurnId(2), at: Now::from_nanos(1_234_567), body }
}

fn of_every_kind() -> Vec<Entry> {
    let text = "a\u{1b}[2J \"quoted\" \u{202e} 日本 \0\r\n".to_owned();
    let message = Message { text: text.clone(), message_id: Some("m".into()), dropped: 7, replaced: 0 };
    let mut tool = ToolCall::new("t".into(), Now::from_secs(1));
    let mut patch = ToolPatch::new("t".into());
    patch.content = Patch::Set(vec![
        ToolContent::Block(Block::Text(text.clone())),
        ToolContent::Block(Block::Other { label: "l".into(), uri: Some("u".into()), text: None, picture: None }),
        ToolContent::Change(Change::of_texts("/p", Some("old".into()), text.as_str().into())),
        ToolContent::Terminal("term-1".into()),
    ]);
    patch.locations = Patch::Set(vec![Location { path: "/p".into(), line: Some(3) }]);
    patch.raw_input = Patch::Set(json!({ "x": [0.1, 1e300, -0.0, 123_456_789.123_456_78, u64::MAX, null, "s"] }));
    tool.apply(patch, Announced::No, Now::from_secs(2));
    let outcome = FileOutcome::Written { created: true, bytes: 3, old: None, new: text.as_str().into() };
    let step = |status| PlanEntry { content: text.clone(), priority: Priority::High, status };
    let bodies = [
        Body::User(UserMessage {
            message_id: None,
            sent: None,
            text: text.clone(),
            links: vec!["a".into()],
            state: UserState::Dropped,
        }),
        Body::Agent(message.clone()),
        Body::Thought(Thought { message, until: Now::from_secs(9) }),
        Body::Attachment(Attachment { from: ChunkKind::User, message_id: None, block: Block::Text(text.clone()) }),
        Body::Tool(Box::new(tool)),
        Body::Plan(vec![step(PlanStatus::Completed), step(PlanStatus::Other("odd".into()))]),
        Body::File(FileOp { verb: FileVerb::Write, path: "/p".into(), outcome, is_outside: false }),
        Body::Notice(Notice {
            level: Level::Warn,
            title: text.clone(),
            detail: vec![text.clone()],
            by_agent: false,
            fold: DetailFold::All,
            is_prose: false,
        }),
    ];
    bodies.into_iter().zip(0..).map(|(body, id)| entry(id, body)).collect()
}

fn written(file: &HistoryFile, at: u64, entries: &[Entry]) -> Packed {
    let packed = file.pack(at, entries.iter()).unwrap();
    file.write(&packed).unwrap();
    packed
}

#[test]
fn entries_are_read_as_they_were_written() {
    let dir = tempfile::tempdir().unwrap();
    let file = HistoryFile::create(dir.path(), "name").unwrap();
    let entries = of_every_kind();
    let packed = written(&file, 0, &entries);
    let large = entry(99, Body::Agent(Message { text: "x".repeat(200_000), ..Message::default() }));
    let more = written(&file, packed.end(), std::slice::from_ref(&large));
    for (entry, span) in entries.iter().chain([&large]).zip(packed.spans().iter().chain(more.spans())) {
        assert_eq!(&file.read(*span).unwrap(), entry);
    }
}

#[test]
fn the_file_has_no_name_and_is_the_persons_own() {
    use std::os::unix::fs::MetadataExt as _;
    let dir = tempfile::tempdir().unwrap();
    let file = HistoryFile::create(dir.path(), "name").unwrap();
    written(&file, 0, &of_every_kind());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    let meta = file.file.metadata().unwrap();
    assert_eq!((meta.mode() & 0o777, meta.nlink()), (0o600, 0));
    assert!(HistoryFile::create(&dir.path().join("gone"), "name").is_err());
}

#[test]
fn what_is_not_there_or_is_something_else_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let file = HistoryFile::create(dir.path(), "name").unwrap();
    let packed = written(&file, 0, &of_every_kind());
    let spans = packed.spans();
    assert!(file.read(Span { at: packed.end(), len: 10 }).is_err());
    assert!(file.read(Span { at: spans[0].at + 1, len: spans[0].len }).is_err());
}

#[test]
fn the_file_is_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let file = HistoryFile { limit: 1000, ..HistoryFile::create(dir.path(), "name").unwrap() };
    let large = entry(1, Body::Agent(Message { text: "x".repeat(2000), ..Message::default() }));
    assert!(file.pack(0, std::iter::once(&large)).is_err());
}
