//! What is told of a tool call.

use super::*;
use crate::model::entry::Block;
use crate::model::patch::Patch;
use crate::model::tool::{Announced, Change, ChangeBody, Location, Operation, ToolPatch, ToolStatus};

fn call(kind: Option<ToolKind>, content: Vec<ToolContent>) -> ToolCall {
    let mut tool = ToolCall::new("t".into(), std::time::Duration::ZERO);
    let patch = ToolPatch { kind: Patch::of(kind), content: Patch::Set(content), ..ToolPatch::new("t".into()) };
    tool.apply(patch, Announced::No, std::time::Duration::ZERO);
    tool
}

fn diff(path: &str, bytes: usize) -> ToolContent {
    ToolContent::Change(Change::of_texts(path, None, "x".repeat(bytes).into()))
}

fn told(tool: &ToolCall) -> ToolNote {
    note(EntryId(4), tool, Path::new("/project"))
}

#[test]
fn what_a_call_does_follows_from_its_kind_and_its_diffs() {
    for (kind, doing) in [
        (ToolKind::Edit, ToolEffect::Edits),
        (ToolKind::Delete, ToolEffect::Edits),
        (ToolKind::Move, ToolEffect::Edits),
        (ToolKind::Read, ToolEffect::ReadOnly),
        (ToolKind::Search, ToolEffect::ReadOnly),
        (ToolKind::Think, ToolEffect::Thinks),
        (ToolKind::Fetch, ToolEffect::ReadOnly),
        (ToolKind::Execute, ToolEffect::Runs),
        (ToolKind::SwitchMode, ToolEffect::Runs),
        (ToolKind::Other, ToolEffect::Runs),
    ] {
        assert_eq!(told(&call(Some(kind), Vec::new())).doing, doing, "{kind:?}");
        assert_eq!(told(&call(Some(kind), vec![diff("a", 1)])).doing, ToolEffect::Edits, "{kind:?} with a diff");
    }
    assert_eq!(told(&call(None, vec![ToolContent::Block(Block::Text("x".into()))])).doing, ToolEffect::Runs);
}

#[test]
fn paths_are_absolute_and_named_once() {
    let mut tool = call(None, vec![diff("src/../a.rs", 1), diff("/elsewhere/b", 1)]);
    tool.locations =
        vec![Location { path: "a.rs".into(), line: None }, Location { path: "/project/c".into(), line: None }];
    let paths = ["/elsewhere/b", "/project/a.rs", "/project/c"].map(PathBuf::from);
    assert_eq!(told(&tool).paths, paths);
    let claimed: Vec<PathBuf> = told(&tool).claims.into_iter().map(|c| c.path).collect();
    assert_eq!(claimed, ["/project/a.rs", "/elsewhere/b"].map(PathBuf::from), "in their own order");
}

#[test]
fn a_change_without_texts_is_an_edit_of_both_its_paths_and_claims_nothing() {
    let body = ChangeBody::Patch("@@ -1 +1 @@\n-a\n+b\n".into());
    let change = Change { operation: Operation::Move, path: "to".into(), from: Some("from".into()), body };
    let note = told(&call(Some(ToolKind::Other), vec![ToolContent::Change(change), diff("c", 1)]));
    assert_eq!(note.doing, ToolEffect::Edits);
    assert_eq!(note.paths, ["/project/c", "/project/from", "/project/to"].map(PathBuf::from));
    assert_eq!(note.claims.len(), 1);
}

#[test]
fn diffs_that_are_too_large_are_left_out_and_their_paths_stay() {
    let tool = call(None, vec![diff("a", MAX_CLAIMS / 2), diff("b", MAX_CLAIMS)]);
    let note = told(&tool);
    assert_eq!((note.claims.len(), note.paths.len(), note.doing), (0, 2, ToolEffect::Edits));
}

#[test]
fn a_final_status_finishes_a_call() {
    let mut tool = call(None, Vec::new());
    assert!(!told(&tool).finished);
    tool.status = ToolStatus::Failed;
    assert!(told(&tool).finished);
}
