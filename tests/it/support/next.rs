//! Messages as a later version of the protocol has them, decoded into the same events: the end of a turn apart from the
//! answer to the prompt, whole messages, members of a tool call that are taken back, plans with ids, changes as patches.

use acp_tui::model::entry::{Block, ChunkKind, PlanEntry, PlanStatus, Priority};
use acp_tui::model::event::{Activity, CallError, ErrorKind, PromptAnswer, PromptResult, Stop, Update};
use acp_tui::model::ids::{SessionId, ToolId};
use acp_tui::model::patch::Patch;
use acp_tui::model::tool::{Change, ChangeBody, Location, Operation, ToolContent, ToolKind, ToolPatch, ToolStatus};
use serde_json::Value;

/// Nothing: it is as the first version has it.
pub fn update(params: &str) -> Option<(SessionId, Update)> {
    let params: Value = serde_json::from_str(params).ok()?;
    let update = &params["update"];
    let id = |member: &str| update[member].as_str().map(Into::into);
    let message =
        |kind| Some(Update::Message { kind, id: id("messageId")?, content: patch(update, "content", blocks) });
    let update = match update["sessionUpdate"].as_str()? {
        "state_update" => Update::Activity(activity(update), None),
        "agent_message" => message(ChunkKind::Agent)?,
        "agent_thought" => message(ChunkKind::Thought)?,
        "user_message" => message(ChunkKind::User)?,
        "tool_call_patch" => Update::ToolUpdate(tool(update)?.into()),
        "plan_update" => {
            Update::Plan { id: Some(id("planId")?), entries: list(&update["entries"]).map(step).collect() }
        }
        _ => return None,
    };
    Some((SessionId::from(params["sessionId"].as_str()?), update))
}

/// The prompt is taken.
pub fn prompt(result: &str) -> Option<PromptAnswer> {
    let result: Value = serde_json::from_str(result).ok()?;
    let message = result.get("messageId")?.as_str().map(Into::into);
    Some(PromptAnswer::Taken { message })
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn patch<T>(value: &Value, member: &str, read: impl Fn(&Value) -> T) -> Patch<T> {
    match value.get(member) {
        None => Patch::Keep,
        Some(Value::Null) => Patch::Reset,
        Some(value) => Patch::Set(read(value)),
    }
}

fn activity(update: &Value) -> Activity {
    if update["state"] != "idle" {
        return Activity::Busy;
    }
    Activity::Idle(match update["stopReason"].as_str() {
        Some("error") => Err(CallError::new(ErrorKind::Other, text(&update["error"]["message"]))),
        Some("end_turn") => Ok(PromptResult { stop: Stop::EndTurn, usage: None }),
        Some("cancelled") => Ok(PromptResult { stop: Stop::Cancelled, usage: None }),
        other => Ok(PromptResult { stop: Stop::Odd(other.map(str::to_owned)), usage: None }),
    })
}

fn blocks(content: &Value) -> Vec<Block> {
    let block = |block: &Value| match block["type"].as_str() {
        Some("text") => Block::Text(text(&block["text"])),
        other => Block::label(other.unwrap_or_default()),
    };
    list(content).map(block).collect()
}

fn step(step: &Value) -> PlanEntry {
    PlanEntry { content: text(&step["content"]), priority: Priority::None, status: PlanStatus::Pending }
}

fn tool(update: &Value) -> Option<ToolPatch> {
    let kind = |kind: &Value| if kind == "edit" { ToolKind::Edit } else { ToolKind::Other };
    let location = |l: &Value| Location { path: text(&l["path"]), line: None };
    Some(ToolPatch {
        title: patch(update, "title", text),
        name: patch(update, "name", text),
        kind: patch(update, "kind", kind),
        status: patch(update, "status", status),
        content: patch(update, "content", |content| list(content).flat_map(changes).collect()),
        locations: patch(update, "locations", |places| list(places).map(location).collect()),
        raw_input: patch(update, "rawInput", Clone::clone),
        raw_output: patch(update, "rawOutput", Clone::clone),
        ..ToolPatch::new(ToolId::from(update["toolCallId"].as_str()?))
    })
}

fn status(status: &Value) -> ToolStatus {
    match status.as_str().unwrap_or_default() {
        "pending" => ToolStatus::Pending,
        "in_progress" => ToolStatus::InProgress,
        "paused" => ToolStatus::Paused,
        "completed" => ToolStatus::Completed,
        "failed" => ToolStatus::Failed,
        "cancelled" => ToolStatus::Cancelled,
        word => ToolStatus::Other(word.into()),
    }
}

/// One patch is for all the files: each gets what is of it.
fn changes(diff: &Value) -> Vec<ToolContent> {
    let patch = text(&diff["patch"]["text"]);
    let of = |path: &str| patch.split("diff --git ").find(|part| part.starts_with(&format!("{path} ")));
    let change = |change: &Value| {
        let path = text(&change["path"]);
        let operation = match change["operation"].as_str().unwrap_or_default() {
            "add" => Operation::Add,
            "modify" => Operation::Modify,
            "delete" => Operation::Delete,
            "move" => Operation::Move,
            "copy" => Operation::Copy,
            word => Operation::Other(word.into()),
        };
        let body = of(&path).map_or(ChangeBody::Nothing, |part| ChangeBody::Patch(part.into()));
        let from = change["oldPath"].as_str().map(str::to_owned);
        ToolContent::Change(Change { operation, path, from, body })
    };
    list(&diff["changes"]).map(change).collect()
}
