//! Tool calls and terminals of the agent's own from JSON.
//!
//! What is missing is left, what is null is taken back, what is there replaces (V2-077): the three are told apart here.

use crate::agent::codec::versionless::content::{i64_of, need_id, str_of, words_of};
use crate::agent::codec::versionless::tools::{contents, kind, location, names_in_meta, parts, raw};
use crate::base::limits::{self, MAX_COMMAND, MAX_CONTENT, MAX_ID, MAX_NAME, MAX_PARTS, MAX_PATH, MAX_TITLE};
use crate::model::ids::{Owner, TermId, ToolId};
use crate::model::patch::Patch;
use crate::model::tool::{Exit, Location, TerminalPatch, ToolPatch, ToolStatus};
use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use serde_json::Value;

/// With or without padding at the end.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A member that may leave, take back or change. What cannot be read leaves.
fn patch_of<T>(value: &Value, member: &str, read: impl FnOnce(&Value) -> Option<T>) -> Patch<T> {
    match value.get(member) {
        None => Patch::Keep,
        Some(Value::Null) => Patch::Reset,
        Some(value) => Patch::of(read(value)),
    }
}

fn words(value: &Value, member: &str, max: usize) -> Patch<String> {
    patch_of(value, member, |words| words.as_str().map(|words| limits::cut(words, max)))
}

/// `lost` says how many elements of a list of this name were not even read. `Err`: there is no usable id.
pub fn patch(value: &Value, lost: impl Fn(&str) -> usize) -> Result<ToolPatch, String> {
    let id = need_id(value, "toolCallId")?;
    let is_long = |member: &str, max: usize| str_of(value, member).is_some_and(|text| text.len() > max);
    let mut cut = is_long("title", MAX_TITLE) || is_long("name", MAX_NAME);
    let mut patch = ToolPatch::new(ToolId::from(id));
    patch.title = words(value, "title", MAX_TITLE);
    patch.name = words(value, "name", MAX_NAME);
    patch.also_named = names_in_meta(value);
    patch.kind = patch_of(value, "kind", |word| word.as_str().map(kind));
    patch.status = patch_of(value, "status", |word| word.as_str().map(status));
    patch.content =
        patch_of(value, "content", |list| Some(contents(list.as_array()?, Owner::Agent, lost("content"), &mut cut)));
    patch.locations = patch_of(value, "locations", |list| {
        let list = list.as_array()?;
        patch.more_locations = list.len().saturating_sub(MAX_PARTS) + lost("locations");
        cut |= patch.more_locations > 0 || list.iter().any(|l| str_of(l, "path").is_some_and(|p| p.len() > MAX_PATH));
        Some(list.iter().take(MAX_PARTS).filter_map(place).collect())
    });
    patch.raw_input = patch_of(value, "rawInput", |value| Some(raw(value, &mut cut)));
    patch.raw_output = patch_of(value, "rawOutput", |value| Some(raw(value, &mut false)));
    patch.can_cancel = can_cancel(value);
    patch.cut = cut;
    Ok(patch)
}

/// One more part of a call.
pub fn part(value: &Value) -> Result<ToolPatch, String> {
    let mut patch = ToolPatch::new(ToolId::from(need_id(value, "toolCallId")?));
    let part = value.get("content").ok_or("content is missing")?;
    patch.append = parts(part, Owner::Agent, &mut patch.cut);
    Ok(patch)
}

/// A line 0 is none, and the place stays (V2-082).
fn place(value: &Value) -> Option<Location> {
    location(value).map(|place| Location { line: place.line.filter(|line| *line > 0), ..place })
}

/// What is said in a way that cannot be read offers nothing (V2-081).
fn can_cancel(value: &Value) -> Patch<bool> {
    match value.get("capabilities") {
        None => Patch::Keep,
        Some(can) => Patch::Set(can.get("cancel").is_some_and(Value::is_object)),
    }
}

fn status(word: &str) -> ToolStatus {
    match word {
        "pending" => ToolStatus::Pending,
        "in_progress" => ToolStatus::InProgress,
        "paused" => ToolStatus::Paused,
        "completed" => ToolStatus::Completed,
        "failed" => ToolStatus::Failed,
        "cancelled" => ToolStatus::Cancelled,
        word => ToolStatus::Other(limits::cut(word, MAX_ID).into()),
    }
}

/// The id of a terminal of the agent's own.
pub fn terminal_id(value: &Value) -> Result<TermId, String> {
    need_id(value, "terminalId").map(|id| TermId::of(Owner::Agent, id))
}

pub fn terminal(value: &Value) -> Result<TerminalPatch, String> {
    let mut patch = TerminalPatch::new(terminal_id(value)?);
    patch.command = words(value, "command", MAX_COMMAND);
    patch.cwd = words(value, "cwd", MAX_PATH);
    let mut is_broken = false;
    patch.output = patch_of(value, "output", |output| {
        let bytes = bytes(output);
        is_broken = bytes.is_none();
        bytes
    });
    patch.is_broken = is_broken;
    patch.exit = patch_of(value, "exitStatus", |status| {
        let exit = || Exit { code: i64_of(status, "exitCode"), signal: words_of(status, "signal", MAX_ID) };
        status.is_object().then(exit)
    });
    patch.can_cancel = can_cancel(value);
    Ok(patch)
}

/// What a terminal has printed since.
pub fn output(value: &Value) -> Result<TerminalPatch, String> {
    let mut patch = TerminalPatch::new(terminal_id(value)?);
    match bytes(value) {
        Some(bytes) => patch.append = bytes,
        None => patch.is_broken = true,
    }
    Ok(patch)
}

/// Each piece is encoded by itself (V2-085); of a long one the end is what a screen shows.
fn bytes(value: &Value) -> Option<Vec<u8>> {
    let mut bytes = BASE64.decode(str_of(value, "data")?).ok()?;
    if bytes.len() > MAX_CONTENT {
        bytes.drain(..bytes.len() - MAX_CONTENT);
    }
    Some(bytes)
}
