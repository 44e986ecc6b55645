//! One line of JSON-RPC as a value: what kind of message it is, with its id, parameters and outcome kept as raw text.
//! Also builds the lines we send.
//!
//! Does not decode parameters and knows no method. Invariant: every input line gives exactly one frame, reading never
//! fails or recurses, and the text is held once: frames point into the shared line.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;

use super::json::{Damage, clip, decode, members, mend_surrogates, trim};
use super::rpc_error::{INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, RpcError};
use crate::base::shared::SharedText;

/// A longer id is refused: it would be held as long as the request is open.
const MAX_ID: usize = 4096;
/// What is kept of a line that is no message.
const KEEP_STRAY: usize = 64 << 10;
const KEEP_WHY: usize = 300;

/// The id of a request exactly as the peer wrote it, so that it can be echoed digit by digit (R-004).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RawId(Arc<str>);

impl RawId {
    pub fn null() -> Self {
        Self("null".into())
    }

    pub fn number(id: u64) -> Self {
        Self(id.to_string().into())
    }

    /// From JSON text; `None` unless it is a string, a number or null of sane length.
    pub fn from_json(text: &str) -> Option<Self> {
        let first = text.bytes().next()?;
        let plausible = text == "null" || first == b'"' || first == b'-' || first.is_ascii_digit();
        let sane = plausible && text.len() <= MAX_ID;
        let good = sane && serde_json::from_str::<&RawValue>(text).is_ok_and(|raw| raw.get() == text);
        good.then(|| Self(text.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id as one of our own numbers; `"1"` and `1.0` are not `1`.
    pub fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok()
    }
}

impl std::fmt::Display for RawId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A piece of JSON inside a shared line.
#[derive(Clone)]
pub struct Params {
    line: SharedText,
    range: Range<usize>,
}

impl Params {
    pub fn as_str(&self) -> &str {
        self.line.get(self.range.clone()).unwrap_or("null")
    }

    /// A value that stands for itself, not inside a line: for tests and for messages we make up.
    pub fn whole(json: impl Into<SharedText>) -> Self {
        let line = json.into();
        Self { range: 0..line.len(), line }
    }

    pub fn parse<'a, T: serde::Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.as_str())
    }

    fn inside(line: &SharedText, raw: &RawValue) -> Self {
        let start = (raw.get().as_ptr() as usize).saturating_sub(line.as_ptr() as usize);
        Self { line: line.clone(), range: start..start.saturating_add(raw.get().len()) }
    }
}

impl PartialEq for Params {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl std::fmt::Debug for Params {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Params({})", clip(self.as_str(), 200))
    }
}

/// The name of a method; nearly always a piece of the line itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Name(Params);

impl Name {
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    fn read(line: &SharedText, raw: &RawValue) -> Option<Self> {
        let plain = raw.get().strip_prefix('"')?.strip_suffix('"')?;
        if plain.contains('\\') {
            let name: String = serde_json::from_str(raw.get()).ok()?;
            return Some(Self(Params::whole(name)));
        }
        let quoted = Params::inside(line, raw).range;
        Some(Self(Params { line: line.clone(), range: quoted.start + 1..quoted.end - 1 }))
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Frame {
    /// To be answered exactly once, with this id.
    Request { id: RawId, method: Name, params: Option<Params> },
    /// Never answered.
    Notification { method: Name, params: Option<Params> },
    /// `Ok` holds the result, which may be the text `null` (R-013).
    Response { id: RawId, outcome: Result<Params, RpcError> },
    /// Looks like an answer to us, but has no usable outcome or id. Never answered (R-014).
    MalformedResponse { id: Option<RawId>, why: String },
    /// To be answered with this code and with `id`, or null where there is none (R-010, R-011).
    Invalid { id: Option<RawId>, code: i64, why: String },
    /// Not an object: a banner, a log line, a number, an array (R-052). Counted and kept, never answered.
    Stray,
    /// The line was longer than the limit and was thrown away; only its head is kept as the line (R-028).
    TooLong { dropped: u64 },
}

impl Frame {
    pub fn parse(line: &[u8]) -> Self {
        Self::read(Cow::Borrowed(line), &[]).0
    }

    /// The frame and its text: trimmed, mended, shared. The text of a stray line is cut to a sane length. A request is
    /// not mended but refused when its method is one of `word_for_word`: what it would do is not what was asked for.
    pub fn read(line: Cow<'_, [u8]>, word_for_word: &[&str]) -> (Self, SharedText) {
        let (text, damage) = decode(line);
        let text = match damage {
            None => text,
            Some(Damage::Surrogates) => return Self::read_mended(text, word_for_word),
            Some(Damage::Bytes) => Cow::Owned(mend_surrogates(text.into_owned())),
        };
        let trimmed = trim(&text);
        if !trimmed.starts_with('{') {
            return (Self::Stray, clip(trimmed, KEEP_STRAY).into());
        }
        let (frame, line) = Self::from_line(trimmed_in_place(text));
        (if damage.is_some() { frame.refuse_damaged() } else { frame }, line)
    }

    /// A refused request keeps its text, so that it is refused again when it is replayed. A question with half an emoji
    /// in its title is still a question: only what would be written, read or run is taken word for word.
    fn read_mended(text: Cow<'_, str>, word_for_word: &[&str]) -> (Self, SharedText) {
        let trimmed = trim(&text);
        if !trimmed.starts_with('{') {
            return (Self::Stray, clip(trimmed, KEEP_STRAY).into());
        }
        if let Ok([Some(id), Some(method)]) = members(trimmed, ["id", "method"])
            && word_for_word.iter().any(|name| method.get().trim_matches('"') == *name)
            && let Some(id) = RawId::from_json(id.get())
        {
            let why = "half a surrogate pair in a string".to_owned();
            return (Self::Invalid { id: Some(id), code: INVALID_PARAMS, why }, trimmed.into());
        }
        Self::from_line(trimmed_in_place(Cow::Owned(mend_surrogates(text.into_owned()))))
    }

    /// What is left of a request with bytes that were no UTF-8: nothing is done for it.
    pub fn refuse_damaged(self) -> Self {
        match self {
            Self::Request { id, .. } => {
                let why = "the message is not valid UTF-8".to_owned();
                Self::Invalid { id: Some(id), code: PARSE_ERROR, why }
            }
            other => other,
        }
    }

    /// Whether the text of this frame may be embedded as it is into another JSON text.
    pub fn is_json(&self) -> bool {
        match self {
            Self::Request { .. } | Self::Notification { .. } | Self::Response { .. } => true,
            Self::MalformedResponse { .. } => true,
            Self::Invalid { code, .. } => *code != PARSE_ERROR,
            Self::Stray | Self::TooLong { .. } => false,
        }
    }

    fn from_line(line: SharedText) -> (Self, SharedText) {
        let found = members(&line, ["id", "method", "params", "result", "error"]);
        let frame = match found {
            Ok(found) => classify(&line, found),
            Err(error) if line.contains("\"jsonrpc\"") => {
                let why = clip(&error.to_string(), KEEP_WHY).to_owned();
                Self::Invalid { id: None, code: PARSE_ERROR, why }
            }
            Err(_) => return (Self::Stray, clip(&line, KEEP_STRAY).into()),
        };
        (frame, line)
    }
}

/// Without what is trimmed, and without a copy of a long text that has room of its own.
fn trimmed_in_place(text: Cow<'_, str>) -> SharedText {
    match text {
        Cow::Borrowed(text) => trim(text).into(),
        Cow::Owned(mut text) => {
            let all = trim(&text);
            let begin = (all.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
            let end = begin + all.len();
            text.truncate(end);
            text.drain(..begin);
            text.into()
        }
    }
}

fn classify(line: &SharedText, [id, method, params, result, error]: [Option<&RawValue>; 5]) -> Frame {
    let readable_id = id.and_then(|raw| RawId::from_json(raw.get()));
    if let Some(method) = method {
        let invalid =
            |why: &str| Frame::Invalid { id: readable_id.clone(), code: INVALID_REQUEST, why: why.to_owned() };
        let Some(method) = Name::read(line, method) else {
            return invalid("the method is not a string");
        };
        // Null parameters are how some writers spell absent ones.
        let params = params.filter(|raw| raw.get() != "null").map(|raw| Params::inside(line, raw));
        return match (id, readable_id.clone()) {
            (None, _) => Frame::Notification { method, params },
            (Some(_), Some(id)) => Frame::Request { id, method, params },
            (Some(_), None) => invalid("the id is not a string, a number or null"),
        };
    }
    let error = error.filter(|raw| raw.get() != "null");
    let malformed = |id, why: &str| Frame::MalformedResponse { id, why: why.to_owned() };
    match (id, readable_id) {
        (None, _) if result.is_none() && error.is_none() => Frame::Invalid {
            id: None,
            code: INVALID_REQUEST,
            why: "neither a request, a notification nor a response".to_owned(),
        },
        (None, _) => malformed(None, "a response without an id"),
        (Some(_), None) => malformed(None, "a response whose id is not a string, a number or null"),
        // Of both members the error counts (R-016).
        (Some(_), Some(id)) => match (error, result) {
            (Some(error), _) => match RpcError::parse(error.get()) {
                Some(error) => Frame::Response { id, outcome: Err(error) },
                None => malformed(Some(id), "a response whose error is not an object"),
            },
            (None, Some(result)) => Frame::Response { id, outcome: Ok(Params::inside(line, result)) },
            (None, None) => malformed(Some(id), "a response with neither result nor error"),
        },
    }
}

/// A request line. Parameters that serialise to null are left out.
pub fn request(id: u64, method: &str, params: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"#);
    line.push_str(&serde_json::to_string(method)?);
    close_with_params(line, params)
}

/// A notification line. Parameters that serialise to null are left out.
pub fn notification(method: &str, params: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut line = String::from(r#"{"jsonrpc":"2.0","method":"#);
    line.push_str(&serde_json::to_string(method)?);
    close_with_params(line, params)
}

pub fn response_ok(id: &RawId, result: &impl Serialize) -> Result<String, serde_json::Error> {
    let result = serde_json::to_string(result)?;
    Ok(one_line(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)))
}

pub fn response_err(id: &RawId, error: &RpcError) -> String {
    let body = serde_json::to_string(error).unwrap_or_else(|_| {
        // Unreachable for the values an error can hold, but an answer is owed in every case.
        format!(r#"{{"code":{},"message":"error"}}"#, error.code)
    });
    one_line(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{body}}}"#))
}

fn close_with_params(mut line: String, params: &impl Serialize) -> Result<String, serde_json::Error> {
    let params = serde_json::to_string(params)?;
    if params != "null" {
        line.reserve(params.len() + 12);
        line.push_str(r#","params":"#);
        line.push_str(&params);
    }
    line.push('}');
    Ok(one_line(line))
}

/// Raw values may carry line breaks between tokens; inside strings JSON has none, so a blank is the same text.
fn one_line(line: String) -> String {
    if line.contains(['\n', '\r']) { line.replace(['\n', '\r'], " ") } else { line }
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
