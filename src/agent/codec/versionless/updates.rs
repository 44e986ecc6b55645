//! Updates that all versions say in the same way, and the quick way for pieces of text.
//!
//! Text chunks, of which there are many, take a borrowed path; all else is salvaged from a generic value.

use super::bounded::Read;
use super::content::{block, list_of, message_id, need_id, short_id, str_of, u64_of, words_of};
use crate::base::limits::{self, MAX_COMMANDS, MAX_ID, MAX_NAME, MAX_PATH, MAX_STEP, MAX_STEPS, MAX_WORDS};
use crate::base::{human, outline};
use crate::model::entry::{Block, ChunkKind, Level, PlanEntry, PlanStatus, Priority};
use crate::model::event::{CompactionPatch, Update};
use crate::model::ids::SessionId;
use crate::model::options::Command;
use crate::model::patch::Patch;
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::HashSet;

pub const UPDATE: &str = "session/update";
/// Bytes and lines that are kept of an update of a kind that is not known.
const MAX_HELD: usize = 16 << 10;
const MAX_HELD_LINES: usize = 200;

#[derive(Deserialize)]
struct FastFrame<'a> {
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    params: FastNotification<'a>,
}

#[derive(Deserialize)]
struct FastNotification<'a> {
    #[serde(rename = "sessionId", borrow)]
    session: Cow<'a, str>,
    #[serde(borrow)]
    update: FastChunk<'a>,
}

#[derive(Deserialize)]
struct FastChunk<'a> {
    #[serde(rename = "sessionUpdate", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    content: FastText<'a>,
    #[serde(rename = "messageId", default, borrow)]
    message_id: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct FastText<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    text: String,
}

pub fn chunk_kind(name: &str) -> Option<ChunkKind> {
    match name {
        "agent_message_chunk" => Some(ChunkKind::Agent),
        "agent_thought_chunk" => Some(ChunkKind::Thought),
        "user_message_chunk" => Some(ChunkKind::User),
        _ => None,
    }
}

/// The parameters of an update with a piece of a message.
pub fn piece(session: &SessionId, kind: ChunkKind, message: Option<&str>, text: &str) -> Value {
    let name = match kind {
        ChunkKind::Agent => "agent_message_chunk",
        ChunkKind::Thought => "agent_thought_chunk",
        ChunkKind::User => "user_message_chunk",
    };
    let mut update = json!({ "sessionUpdate": name, "content": { "type": "text", "text": text } });
    if let Some(id) = message {
        update["messageId"] = id.into();
    }
    json!({ "sessionId": session.as_str(), "update": update })
}

/// The parameters of an update with a piece of text. Nothing: they are to be read in full.
pub fn quick(params: &str) -> Option<Result<(SessionId, Update), String>> {
    piece_of(serde_json::from_str(params).ok()?)
}

/// The same of a whole frame.
pub fn quick_frame(frame: &str) -> Option<Result<(SessionId, Update), String>> {
    let fast = serde_json::from_str::<FastFrame<'_>>(frame).ok()?;
    piece_of(fast.params).filter(|_| fast.method == UPDATE)
}

fn piece_of(fast: FastNotification<'_>) -> Option<Result<(SessionId, Update), String>> {
    let kind = chunk_kind(&fast.update.kind).filter(|_| fast.update.content.kind == "text")?;
    let read = || {
        let session = SessionId::from(short_id(&fast.session, "sessionId")?);
        Ok((session, fast.update.message_id.as_deref().map(message_id).transpose()?))
    };
    let block = Block::Text(fast.update.content.text);
    Some(read().map(|(session, message_id)| (session, Update::Chunk { kind, message_id, block })))
}

/// A piece of a message that is not text, or is said in an odd way.
pub fn chunk(kind: ChunkKind, value: &Value) -> Result<Update, String> {
    let message_id = str_of(value, "messageId").map(message_id).transpose()?;
    let block = value.get("content").map_or_else(|| Block::Text(String::new()), block);
    Ok(Update::Chunk { kind, message_id, block })
}

/// Where nothing else is said of its members than their values.
pub fn info(value: &Value) -> Update {
    Update::Info { title: words_patch(value, "title"), updated: words_patch(value, "updatedAt") }
}

pub fn notice(value: &Value) -> Update {
    Update::Notice {
        level: match str_of(value, "severity") {
            Some("error") => Level::Error,
            Some("warning") => Level::Warn,
            _ => Level::Info,
        },
        title: words_of(value, "title", MAX_WORDS).unwrap_or_default(),
        description: words_of(value, "description", MAX_WORDS),
    }
}

/// A `cost` that is left out is still the last one; whether null takes it back is the version's to say.
pub fn usage(value: &Value, null: Patch<(f64, String)>) -> Result<Update, String> {
    let cost = |cost: &Value| Some((cost.get("amount")?.as_f64()?, words_of(cost, "currency", MAX_NAME)?));
    Ok(Update::Usage {
        used: u64_of(value, "used").ok_or("used is missing")?,
        size: u64_of(value, "size").ok_or("size is missing")?,
        cost: match value.get("cost") {
            Some(Value::Null) => null,
            other => Patch::of(other.and_then(cost)),
        },
    })
}

pub fn available_commands(value: &Value, read: &Read) -> Result<Update, String> {
    let more = beyond(has(value, "availableCommands")?, "availableCommands", MAX_COMMANDS, read);
    Ok(partly(Update::Commands(commands(value)), "commands", more))
}

/// The whole state of a compaction; its summary replaces the one before.
pub fn compaction(value: &Value) -> Result<Update, String> {
    let id = str_of(value, "compactionId").map(|id| short_id(id, "compactionId")).transpose()?.map(Into::into);
    let summary = match value.get("summary") {
        None => Patch::Keep,
        Some(Value::Null) => Patch::Reset,
        Some(_) => {
            let text = list_of(value, "summary").iter().take(MAX_STEPS).map(words).collect::<String>();
            Patch::Set(limits::cut(text, MAX_WORDS))
        }
    };
    let error = match value.get("error") {
        Some(Value::Null) => Patch::Reset,
        _ => Patch::of(words_of(value, "error", MAX_WORDS)),
    };
    Ok(Update::Compaction(CompactionPatch {
        id,
        status: words_of(value, "status", MAX_NAME),
        summary,
        more: String::new(),
        error,
    }))
}

/// A further piece of a compaction's summary.
pub fn more_summary(value: &Value) -> Result<Update, String> {
    let id = Some(need_id(value, "compactionId")?.into());
    let more = limits::cut(value.get("content").map(words).unwrap_or_default(), MAX_WORDS);
    Ok(Update::Compaction(CompactionPatch { id, more, ..CompactionPatch::default() }))
}

/// A block as a text: what it is where it is none.
fn words(value: &Value) -> String {
    match block(value) {
        Block::Text(text) => text,
        Block::Other { label, .. } => format!("[{label}]"),
    }
}

/// A plan by its id. One of a kind that is not known here replaces the one of its id all the same (V2-104).
pub fn plan_of(plan: &Value, read: &Read) -> Result<Update, String> {
    // An earlier draft says `id`.
    let member = if plan.get("planId").is_some() || plan.get("id").is_none() { "planId" } else { "id" };
    let id = Some(need_id(plan, member)?.into());
    let entries = match str_of(plan, "type") {
        Some("items") | None => self::plan(plan, read.lost_of("entries")),
        Some(kind) => {
            let text = words_of(plan, "content", MAX_WORDS).or_else(|| words_of(plan, "uri", MAX_PATH));
            let text = text.unwrap_or_else(|| format!("a plan of a kind that is not shown here: {kind}"));
            let lines = text.lines().map(|line| json!({ "content": line })).collect::<Vec<_>>();
            self::plan(&json!({ "entries": lines }), 0)
        }
    };
    Ok(Update::Plan { id, entries })
}

pub fn plan_removed(value: &Value) -> Result<Update, String> {
    Ok(Update::Plan { id: Some(need_id(value, "planId")?.into()), entries: Vec::new() })
}

/// Of a kind that is not known here; what it holds is kept for the person as far as it is small.
pub fn unknown(name: &str, value: &Value) -> Update {
    let mut text = String::new();
    let is_whole = outline::write(value, MAX_HELD, &mut text);
    let text = limits::cut(text, MAX_HELD);
    let mut held: Vec<String> = text.lines().take(MAX_HELD_LINES).map(str::to_owned).collect();
    if !is_whole || text.lines().nth(MAX_HELD_LINES).is_some() {
        held.push("… more".to_owned());
    }
    Update::Unknown { name: limits::cut(name, MAX_NAME), held }
}

/// How many elements of a list are more than `max`.
pub fn beyond(value: &Value, list: &str, max: usize, read: &Read) -> usize {
    list_of(value, list).len().saturating_sub(max) + read.lost_of(list)
}

pub fn partly(update: Update, what: &'static str, left_out: usize) -> Update {
    if left_out == 0 { update } else { Update::Partly { update: Box::new(update), what, left_out } }
}

pub fn words_patch(value: &Value, member: &str) -> Patch<String> {
    match value.get(member) {
        Some(Value::Null) => Patch::Reset,
        Some(Value::String(words)) => Patch::Set(limits::cut(words.as_str(), MAX_NAME)),
        _ => Patch::Keep,
    }
}

/// A list that must be there, although it may be anything: without it nothing was said (section 3).
pub fn has<'a>(value: &'a Value, member: &str) -> Result<&'a Value, String> {
    if value.get(member).is_some() { Ok(value) } else { Err(format!("{member} is missing")) }
}

/// The schema closes states and priorities and drops an entry that it cannot read; a person shall see what there is.
pub fn plan(value: &Value, lost: usize) -> Vec<PlanEntry> {
    let list = list_of(value, "entries");
    let looked = list.len().min(MAX_STEPS);
    let mut entries: Vec<PlanEntry> = list.iter().take(looked).filter_map(plan_entry).collect();
    let unread = looked - entries.len();
    let more = list.len() - looked + lost;
    for (count, what) in [(unread, "of the plan cannot be read"), (more, "more of the plan left out")] {
        if count > 0 {
            let content = format!("{} {what}", human::count(count as u64, "entry"));
            entries.push(PlanEntry { content, priority: Priority::None, status: PlanStatus::Unreadable });
        }
    }
    entries
}

fn plan_entry(value: &Value) -> Option<PlanEntry> {
    Some(PlanEntry {
        content: words_of(value, "content", MAX_STEP)?,
        priority: match str_of(value, "priority") {
            Some("high") => Priority::High,
            Some("medium") => Priority::Medium,
            Some("low") => Priority::Low,
            _ => Priority::None,
        },
        status: match value.get("status") {
            None | Some(Value::Null) => PlanStatus::Pending,
            Some(Value::String(word)) => match word.as_str() {
                "pending" => PlanStatus::Pending,
                "in_progress" => PlanStatus::InProgress,
                "completed" => PlanStatus::Completed,
                word => PlanStatus::Other(limits::cut(word, MAX_ID).into()),
            },
            Some(other) => PlanStatus::Other(limits::cut(other.to_string(), MAX_ID).into()),
        },
    })
}

/// Names are without a slash in front; one with blanks could not be told from what follows it, and of two with one name the
/// first counts (R-263, V2-107).
pub fn commands(value: &Value) -> Vec<Command> {
    let list = list_of(value, "availableCommands");
    let command = |c: &Value| {
        let name = str_of(c, "name").filter(|name| name.len() <= MAX_ID)?;
        let name = name.strip_prefix('/').unwrap_or(name);
        (!name.is_empty() && !name.contains(char::is_whitespace)).then(|| Command {
            name: name.to_owned(),
            description: words_of(c, "description", MAX_NAME).unwrap_or_default(),
            hint: c.get("input").and_then(|i| words_of(i, "hint", MAX_NAME)),
        })
    };
    let mut known = HashSet::new();
    let is_new = |command: &Command| known.insert(command.name.clone());
    list.iter().take(MAX_COMMANDS).filter_map(command).filter(is_new).collect()
}
