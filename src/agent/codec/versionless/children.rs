//! Sessions that an agent begins itself, and messages between them and others.
//!
//! States of early drafts are words and say nothing.

use super::content::{id_of, list_of, message_id, need_id, str_of, words_of};
use super::updates::words_patch;
use crate::base::limits::{self, MAX_DIRECTORIES, MAX_ID, MAX_PARTS, MAX_PATH, MAX_TEXT};
use crate::model::child::{ChildPatch, Passed};
use crate::model::event::Update;
use crate::model::ids::SessionId;
use crate::model::patch::Patch;
use crate::model::tool::ToolStatus;
use serde_json::Value;

pub fn child(value: &Value) -> Result<Update, String> {
    let status = match value.get("state") {
        Some(Value::Null) => Patch::Reset,
        Some(state) => Patch::of(str_of(state, "state").map(|word| match word {
            "running" => ToolStatus::InProgress,
            "requires_action" => ToolStatus::Paused,
            "idle" if state.get("error").is_some_and(|error| !error.is_null()) => ToolStatus::Failed,
            "idle" if str_of(state, "stopReason") == Some("cancelled") => ToolStatus::Cancelled,
            "idle" => ToolStatus::Completed,
            word => ToolStatus::Other(limits::cut(word, MAX_ID).into()),
        })),
        None => Patch::Keep,
    };
    let stops = match value.get("capabilities") {
        Some(Value::Null) => Patch::Reset,
        Some(can) => Patch::Set(can.get("cancel").is_some_and(Value::is_object)),
        None => Patch::Keep,
    };
    let cwd = match value.get("cwd") {
        Some(Value::Null) => Patch::Reset,
        Some(cwd) => Patch::Set(directory(cwd)?),
        None => Patch::Keep,
    };
    let directories = match value.get("additionalDirectories") {
        Some(Value::Null) => Patch::Reset,
        Some(Value::Array(all)) if all.len() > MAX_DIRECTORIES => return Err("too many directories".to_owned()),
        Some(Value::Array(all)) => Patch::Set(all.iter().map(directory).collect::<Result<_, _>>()?),
        Some(_) => return Err("additionalDirectories is no list".to_owned()),
        None => Patch::Keep,
    };
    Ok(Update::Child(Box::new(ChildPatch {
        id: SessionId::from(need_id(value, "sessionId")?),
        title: words_patch(value, "title"),
        description: words_patch(value, "description"),
        cwd,
        directories,
        stops,
        status,
    })))
}

/// Whole or not at all: a part of it is another one.
fn directory(value: &Value) -> Result<String, String> {
    let dir = value.as_str().filter(|dir| dir.starts_with('/') && dir.len() <= MAX_PATH);
    dir.map(str::to_owned).ok_or_else(|| "a directory is no absolute path".to_owned())
}

/// A whole message.
pub fn passed(value: &Value) -> Result<Update, String> {
    message(value, list_of(value, "content"), false)
}

/// More of one.
pub fn more(value: &Value) -> Result<Update, String> {
    message(value, value.get("content").map(std::slice::from_ref).unwrap_or_default(), true)
}

fn message(value: &Value, content: &[Value], is_more: bool) -> Result<Update, String> {
    let texts = content.iter().take(MAX_PARTS).filter_map(|part| words_of(part, "text", MAX_TEXT));
    let texts: Vec<String> = texts.collect();
    Ok(Update::Passed(Passed {
        id: message_id(str_of(value, "messageId").ok_or("messageId is missing")?)?,
        between: ["senderSessionId", "recipientSessionId"].map(|name| id_of(value, name).map(SessionId::from)),
        text: value.get("content").map(|_| texts.join("\n")),
        is_more,
    }))
}
