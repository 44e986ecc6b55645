//! Errors both ways: what a number of the agent means, and the number, words and data of what we refuse.
//!
//! Decides nothing. Invariant: every reason has a number, and no other file of this version has one.

use crate::agent::quirks;
use crate::base::paths::file_uri;
use crate::model::event::{AuthMethod, CallError, ErrorKind};
use crate::model::refusal::{Reason, Refusal, Subject};
use crate::wire::rpc_error::{INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, RpcError};
use serde_json::{Value, json};
use std::path::Path;

const METHOD_NOT_FOUND: i64 = -32601;
const AUTH_REQUIRED: i64 = -32000;
const NOT_FOUND: i64 = -32002;
const CANCELLED: i64 = -32800;
const UNSUPPORTED_VERSION: i64 = -32022;

/// Of a list of versions.
const MAX_VERSIONS: usize = 16;

/// A list of log-in methods in `data` is offered as methods, not shown as data.
pub fn read(error: &RpcError, methods: impl Fn(&[Value]) -> Vec<AuthMethod>) -> (CallError, Vec<AuthMethod>) {
    let reason = error.data.as_ref().and_then(|data| data.get("reason")).and_then(Value::as_str);
    let kind = match (reason, error.code) {
        // A reason says more than a number that implementations choose (S-042).
        (Some("auth_required"), _) | (_, AUTH_REQUIRED) => ErrorKind::AuthRequired,
        (Some("rate_limited"), _) => ErrorKind::RateLimited,
        (Some("permission_denied"), _) => ErrorKind::PermissionDenied,
        (_, NOT_FOUND) => ErrorKind::NotFound,
        (_, UNSUPPORTED_VERSION) => ErrorKind::WrongVersion,
        (_, CANCELLED) => ErrorKind::Cancelled,
        (_, METHOD_NOT_FOUND) => ErrorKind::Unsupported,
        _ if says_it_is_gone(error) => ErrorKind::SessionLost,
        (_, INVALID_PARAMS) => ErrorKind::BadParams,
        _ => ErrorKind::Other,
    };
    read_as(error, kind, methods)
}

fn says_it_is_gone(error: &RpcError) -> bool {
    let details = error.data.as_ref().and_then(|data| data.as_str().or_else(|| data.get("details")?.as_str()));
    details.into_iter().chain([&*error.message]).any(quirks::says_it_is_gone)
}

/// The same where it is known what the number means.
pub fn read_as(
    error: &RpcError,
    kind: ErrorKind,
    methods: impl Fn(&[Value]) -> Vec<AuthMethod>,
) -> (CallError, Vec<AuthMethod>) {
    let mut data = error.data.clone();
    let mut offered = Vec::new();
    if kind == ErrorKind::AuthRequired
        && let Some(Value::Object(map)) = &mut data
    {
        if let Some(Value::Array(list)) = map.remove("authMethods") {
            offered = methods(&list);
        }
        data = data.filter(|d| d.as_object().is_some_and(|m| !m.is_empty()));
    }
    (CallError { kind, code: number(error.code), message: error.message.clone(), data, call: "".into() }, offered)
}

/// One that does not fit was read as none.
fn number(code: i64) -> i32 {
    i32::try_from(code).unwrap_or(0)
}

/// A local failure of a call.
pub fn failed(message: String) -> CallError {
    CallError { code: number(INTERNAL_ERROR), ..CallError::new(ErrorKind::Other, message) }
}

/// The versions that an agent says it speaks, in the error that refuses ours.
pub fn supported(error: &CallError) -> Vec<u64> {
    if error.kind != ErrorKind::WrongVersion {
        return Vec::new();
    }
    let list = error.data.as_ref().and_then(|data| data.get("supported")).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_u64).take(MAX_VERSIONS).collect()
}

/// The same for people: nothing in common with what is spoken here.
pub fn no_version(offered: u16, supported: &[u64]) -> CallError {
    let theirs: Vec<String> = supported.iter().map(u64::to_string).collect();
    let theirs = if theirs.is_empty() { "another one".to_owned() } else { theirs.join(", ") };
    let message = format!("the agent refuses version {offered} of the protocol; it speaks {theirs}");
    CallError::new(ErrorKind::WrongVersion, message)
}

pub fn refuse(refusal: &Refusal) -> RpcError {
    let error = RpcError::new(code(refusal.why), refusal.message.clone());
    match data(refusal) {
        Some(data) => error.with_data(data),
        None => error,
    }
}

fn code(why: Reason) -> i64 {
    match why {
        Reason::UnknownMethod => METHOD_NOT_FOUND,
        Reason::NotReady | Reason::TooLong => INVALID_REQUEST,
        Reason::BadParams
        | Reason::TooLarge
        | Reason::DeniedByPolicy
        | Reason::DeniedByUser
        | Reason::Outside
        | Reason::NotText
        | Reason::Exists
        | Reason::IsDirectory => INVALID_PARAMS,
        Reason::NotFound => NOT_FOUND,
        Reason::Cancelled => CANCELLED,
        Reason::TurnOver | Reason::Changed | Reason::Failed | Reason::TooMany => INTERNAL_ERROR,
        Reason::Number(code) => code,
    }
}

/// What a program may want to tell apart.
fn word(why: Reason) -> Option<&'static str> {
    Some(match why {
        Reason::TooLarge => "too_large",
        Reason::DeniedByPolicy => "denied_by_policy",
        Reason::DeniedByUser => "denied_by_user",
        Reason::Outside => "outside_workspace",
        Reason::NotText => "not_text",
        Reason::Exists => "exists",
        Reason::IsDirectory => "is_directory",
        Reason::TurnOver => "turn_over",
        Reason::Changed => "changed",
        _ => return None,
    })
}

fn data(refusal: &Refusal) -> Option<Value> {
    let (member, value) = match &refusal.about {
        Subject::Nothing => return None,
        // the address of what is missing.
        Subject::Path(path) if refusal.why == Reason::NotFound => ("uri", file_uri(Path::new(path))),
        Subject::Path(path) => ("path", path.clone()),
        Subject::Command(line) => ("command", line.clone()),
        Subject::Method(method) => return Some(json!({ "method": method })),
        Subject::Session(id) => ("sessionId", id.as_str().to_owned()),
        Subject::Terminal(id) => ("terminalId", id.as_str().to_owned()),
    };
    Some(match word(refusal.why) {
        Some(word) => json!({ "reason": word, member: value }),
        None => json!({ member: value }),
    })
}

/// Of the numbers that an older journal holds, those that make a difference.
pub fn reason(code: i64) -> Reason {
    match code {
        NOT_FOUND => Reason::NotFound,
        CANCELLED => Reason::Cancelled,
        INVALID_PARAMS => Reason::BadParams,
        _ => Reason::Failed,
    }
}
