//! Updates of the dialect D4, with the names of version 1.

use crate::agent::codec::v1::tools::{self, Form};
use crate::agent::codec::versionless::bounded::Read;
use crate::agent::codec::versionless::content::{block, list_of, need_id, str_of, words_of};
use crate::base::limits::{self, MAX_PARTS, MAX_STEP, MAX_STEPS, MAX_TEXT};
use crate::model::entry::{Block, PlanEntry, PlanStatus, Priority};
use crate::model::event::Update;
use crate::model::ids::SessionId;
use crate::model::patch::Patch;
use crate::model::tool::ToolStatus;
use serde_json::{Map, Value, json};

/// The parameters of an update whose shape is of this dialect.
pub fn update(read: &Read) -> Result<(SessionId, Update), String> {
    let session = SessionId::from(need_id(&read.value, "sessionId")?);
    let update = read.value.get("update").ok_or("update is missing")?;
    if let Some(plan) = update.get("plan") {
        return Ok((session, Update::Plan { id: None, entries: plan_entries(plan, read.lost_of("steps")) }));
    }
    let is_call = str_of(update, "kind") == Some("tool_call");
    let form = if is_call { Form::Announcement } else { Form::Update };
    let mut patch = tools::patch(&canonical(update), form, |_| read.lost_of("output") + read.lost_of("content"))?;
    if str_of(update, "status") == Some("cancelled") {
        patch.status = Patch::Set(ToolStatus::Cancelled);
    }
    patch.cut |= read.lost > 0;
    Ok((session, if is_call { Update::ToolCall(patch.into()) } else { Update::ToolUpdate(patch.into()) }))
}

/// A call with the members of version 1; those that it has already count.
fn canonical(update: &Value) -> Value {
    let mut call: Map<String, Value> = update.as_object().cloned().unwrap_or_default();
    call.remove("kind");
    for (theirs, ours) in [("toolKind", "kind"), ("input", "rawInput")] {
        if let Some(value) = update.get(theirs)
            && !call.contains_key(ours)
        {
            call.insert(ours.to_owned(), value.clone());
        }
    }
    if !call.contains_key("content")
        && let Some(output) = update.get("output").filter(|output| !output.is_null())
    {
        call.insert("content".to_owned(), outputs(output));
    }
    Value::Object(call)
}

fn outputs(output: &Value) -> Value {
    match output {
        Value::Array(list) => list.iter().map(part).collect(),
        one => json!([part(one)]),
    }
}

fn part(value: &Value) -> Value {
    let text = |text: &str| json!({ "type": "content", "content": { "type": "text", "text": text } });
    match (value, str_of(value, "type")) {
        (Value::String(words), _) => text(words),
        (_, Some("diff")) => {
            let mut diff = value.clone();
            for (theirs, ours) in [("oldContent", "oldText"), ("newContent", "newText")] {
                if let (Some(value), None) = (value.get(theirs), value.get(ours)) {
                    diff[ours] = value.clone();
                }
            }
            diff
        }
        (_, Some("terminal")) if value.get("terminalId").is_none() => text("[a terminal of the agent]"),
        _ => value.clone(),
    }
}

/// The steps, below what the plan is for.
fn plan_entries(plan: &Value, lost: usize) -> Vec<PlanEntry> {
    let entry = |content: String, priority, status| PlanEntry { content, priority, status };
    let heading = words_of(plan, "description", MAX_STEP).filter(|words| !words.trim().is_empty());
    let steps = list_of(plan, "steps");
    let words = |step: &Value| {
        let words = step.as_str().map(|step| limits::cut(step, MAX_STEP));
        words.or_else(|| words_of(step, "description", MAX_STEP)).unwrap_or_else(|| step.to_string())
    };
    let mut entries: Vec<PlanEntry> = heading
        .map(|heading| entry(heading, Priority::None, PlanStatus::Other("plan".into())))
        .into_iter()
        .chain(steps.iter().take(MAX_STEPS).map(|step| entry(words(step), Priority::Medium, PlanStatus::Pending)))
        .collect();
    let more = steps.len().saturating_sub(MAX_STEPS) + lost;
    if more > 0 {
        entries.push(entry(format!("{more} more of the plan left out"), Priority::None, PlanStatus::Unreadable));
    }
    entries
}

/// What the agent says in the answer to a prompt (S-053).
pub fn messages(result: &Value) -> String {
    let said = list_of(result, "messages").iter().take(MAX_PARTS).filter(|m| str_of(m, "role") != Some("user"));
    let texts = said.map(|message| match message.get("content").unwrap_or(message) {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().map(text_of).collect::<Vec<_>>().concat(),
        one => text_of(one),
    });
    let texts: Vec<String> = texts.filter(|text| !text.trim().is_empty()).collect();
    limits::cut(texts.join("\n\n"), MAX_TEXT)
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => match block(value) {
            Block::Text(text) => text,
            Block::Other { label, .. } => format!("[{label}]"),
        },
    }
}
