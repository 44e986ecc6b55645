//! Frames that were kept, read for what they say of a conversation.
//!
//! Most frames of a journal are pieces of text: they are passed over by a look at their bytes. Invariant: a frame that
//! cannot be read, or is none of these, says nothing.

use super::bounded;
use super::content::{str_of, words_of};
use super::requests::{INITIALIZE, PERMISSION};
use super::updates::{UPDATE, quick_frame};
use crate::agent::codec::Codec as _;
use crate::agent::codec::stored::{Called, Can, Depth, Heard, Introduced, Look, Origin};
use crate::agent::codec::v1::tools;
use crate::agent::codec::v2::V2;
use crate::agent::codec::{rendition, v2};
use crate::base::limits::{MAX_ID, MAX_NAME};
use crate::model::event::Update;
use crate::model::ids::SessionId;
use crate::wire::json::members;
use memchr::memmem::Finder;
use memchr::{memchr, memchr2};
use serde_json::Value;
use std::sync::LazyLock;

/// What a frame has in it that is more than a piece of text.
static RESULT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"result\""));
static ERROR: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"error\""));
static INFO: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("session_info_update"));
static USAGE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("usage_update"));
static CHUNK: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("_chunk\""));
static TEXT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"text\":\""));
static SESSION: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"sessionId\":\""));
static KIND: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"sessionUpdate\":\""));
static CALL: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"toolCallId\":\""));
static DATA: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"data\":\""));
static PRINTED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"terminal_output"));
static TERMINAL: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"terminal_update\""));
static URI: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"uri\""));
static MESSAGE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"messageId\":\""));

/// An unescaped quote ends a string, so that none of these can stand inside of one.
pub fn look(frame: &str) -> Look<'_> {
    let bytes = frame.as_bytes();
    // What is no text is shown in words of our own, and what a terminal printed is encoded.
    if URI.find(bytes).is_some() || TERMINAL.find(bytes).is_some() {
        return Look::Unclear;
    }
    if CHUNK.find(bytes).is_some() {
        return piece(frame).unwrap_or(Look::Unclear);
    }
    if PRINTED.find(bytes).is_some() {
        return printed(frame).unwrap_or(Look::Unclear);
    }
    Look::Other
}

fn piece(frame: &str) -> Option<Look<'_>> {
    let text = only(frame, &TEXT)?;
    let kind = member(frame, &KIND).filter(|kind| kind.ends_with("_chunk"))?;
    Some(Look::Piece { of: [member(frame, &SESSION)?, kind, member(frame, &MESSAGE).unwrap_or_default()], text })
}

fn printed(frame: &str) -> Option<Look<'_>> {
    Some(Look::Printed { of: [member(frame, &SESSION)?, "printed", member(frame, &CALL)?], text: only(frame, &DATA)? })
}

/// The string of a member, as it is spelt.
fn member<'a>(frame: &'a str, name: &Finder<'_>) -> Option<&'a str> {
    string_at(frame, name.find(frame.as_bytes())? + name.needle().len())
}

/// The same of a member that is there once: of two it is unknown which is meant.
fn only<'a>(frame: &'a str, name: &Finder<'_>) -> Option<&'a str> {
    let begin = name.find(frame.as_bytes())? + name.needle().len();
    let text = string_at(frame, begin)?;
    name.find(&frame.as_bytes()[begin + text.len()..]).is_none().then_some(text)
}

/// What stands before the end of the string that begins here.
fn string_at(text: &str, begin: usize) -> Option<&str> {
    let bytes = text.as_bytes();
    let quote = begin + memchr(b'"', bytes.get(begin..)?)?;
    let mut end = quote;
    if memchr(b'\\', &bytes[begin..quote]).is_some() {
        end = begin;
        loop {
            end += memchr2(b'"', b'\\', bytes.get(end..)?)?;
            if bytes[end] == b'"' {
                break;
            }
            end += 2;
        }
    }
    text.get(begin..end)
}

pub fn called(frame: &str) -> Option<(u64, Called)> {
    let [id, method, params] = members(frame, ["id", "method", "params"]).ok()?;
    let number = id?.get().parse().ok()?;
    let method: String = serde_json::from_str(method?.get()).ok()?;
    let params: Value = params.and_then(|params| serde_json::from_str(params.get()).ok()).unwrap_or_default();
    let session = || str_of(&params, "sessionId").filter(|id| id.len() <= MAX_ID).map(SessionId::from);
    // One of them in each dialect.
    let directory = str_of(&params, "cwd").or_else(|| str_of(&params, "workingDirectory"));
    let open = |origin, id| Called::Open { origin, id, cwd: directory.map(str::to_owned) };
    let called = match method.as_str() {
        INITIALIZE => Called::Hello,
        "session/new" => open(Origin::New, None),
        "session/load" => open(Origin::Loaded, Some(session()?)),
        "session/resume" => {
            let is_told = params.get("replayFrom").is_some_and(Value::is_object);
            open(if is_told { Origin::Loaded } else { Origin::Resumed }, Some(session()?))
        }
        "session/fork" => open(Origin::Forked, Some(session()?)),
        "session/prompt" => Called::Prompt { session: session()?, text: prompt(&params) },
        "session/close" => Called::Close(session()?),
        _ => return None,
    };
    Some((number, called))
}

/// The texts of a prompt; what goes along with it is no part of them.
fn prompt(params: &Value) -> String {
    let blocks = params
        .get("prompt")
        .or_else(|| params.get("content"))
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let texts = blocks.iter().filter(|block| str_of(block, "type") == Some("text"));
    texts.filter_map(|block| str_of(block, "text")).collect::<Vec<_>>().join("\n")
}

pub fn heard(frame: &str, depth: Depth) -> Heard<'_> {
    let bytes = frame.as_bytes();
    if (RESULT.find(bytes).is_some() || ERROR.find(bytes).is_some())
        && let Ok([id, method, result]) = members(frame, ["id", "method", "result"])
        && method.is_none()
    {
        let number = id.and_then(|id| id.get().parse().ok());
        return number.map_or(Heard::Nothing, |number| Heard::Answer(number, result.map(|result| result.get())));
    }
    if depth == Depth::Summary && INFO.find(bytes).is_none() && USAGE.find(bytes).is_none() {
        return Heard::Nothing;
    }
    let piece = || CHUNK.find(bytes).and_then(|_| quick_frame(frame));
    if let Some(piece) = piece() {
        return piece.map_or(Heard::Nothing, |(session, update)| Heard::Update(session, update));
    }
    let Ok([Some(method), Some(params)]) = members(frame, ["method", "params"]) else { return Heard::Nothing };
    let update = match method.get().trim_matches('"') {
        UPDATE => update(params.get()),
        PERMISSION if depth == Depth::Everything => asked_about(params.get()),
        _ => None,
    };
    update.map_or(Heard::Nothing, |(session, update)| Heard::Update(session, update))
}

/// An update in whichever version has it: an agent may have been started once more for another one.
fn update(params: &str) -> Option<(SessionId, Update)> {
    let told = rendition::update(params).ok()?;
    match told.update {
        Update::Unknown { .. } => v2::inbound::update(params).ok(),
        known => Some((told.session, known)),
    }
}

/// What a question says of its call: some agents tell nowhere else what it does.
fn asked_about(params: &str) -> Option<(SessionId, Update)> {
    let value = bounded::read(params).ok()?.value;
    let session = str_of(&value, "sessionId").filter(|id| id.len() <= MAX_ID).map(SessionId::from)?;
    let patch = tools::patch(value.get("toolCall")?, tools::Form::Update, |_| 0).ok()?;
    Some((session, Update::ToolUpdate(patch.into())))
}

pub fn introduced(result: &str) -> Introduced {
    let value = bounded::read(result).map_or(Value::Null, |read| read.value);
    let info = value.get("agentInfo").or_else(|| value.get("info")).unwrap_or(&Value::Null);
    let named = |member: &str| words_of(info, member, MAX_NAME).filter(|name| !name.is_empty());
    let name = named("title").or_else(|| named("name"));
    if value.get("protocolVersion").and_then(Value::as_u64) == Some(u64::from(V2.version())) {
        let can = v2::results::initialize(result).map(|init| init.caps.sessions.into()).unwrap_or_default();
        return Introduced { name, can };
    }
    let caps = value.get("agentCapabilities").or_else(|| value.get("capabilities")).unwrap_or(&Value::Null);
    let session = caps.get("sessionCapabilities").unwrap_or(&Value::Null);
    let offers = |member: &str| session.get(member).is_some_and(Value::is_object);
    Introduced {
        name,
        can: Can {
            load: caps.get("loadSession").and_then(Value::as_bool).unwrap_or(false),
            resume: offers("resume"),
            fork: offers("fork"),
            close: offers("close"),
            delete: offers("delete"),
        },
    }
}
