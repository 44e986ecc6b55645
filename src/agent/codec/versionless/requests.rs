//! Requests that an agent makes in the same way in all versions, and how one is refused that cannot be used.

use super::asked::{self, Asked, Refused};
use super::bounded::{self, Read};
use super::content::{id_of, list_of, str_of, string_of};
use crate::base::limits::{self, MAX_ANSWERS, MAX_ID, MAX_NAME, MAX_TITLE, MAX_WORDS};
use crate::model::event::{AgentRequest, PermissionKind, PermissionOption};
use crate::model::ids::SessionId;
use crate::wire::frame::RawId;
use serde::Deserialize;
use serde_json::{Value, json};

pub const PERMISSION: &str = "session/request_permission";
pub const CANCEL_REQUEST: &str = "$/cancel_request";
pub const INITIALIZE: &str = "initialize";
pub const STEER: &str = "_session/steering";

#[derive(Deserialize)]
struct CancelParams<'a> {
    #[serde(rename = "requestId", borrow)]
    request_id: &'a serde_json::value::RawValue,
}

/// The request that `$/cancel_request` names, with its JSON type.
pub fn withdrawn(params: &str) -> Option<RawId> {
    let named = serde_json::from_str::<CancelParams<'_>>(params).ok()?.request_id;
    RawId::from_json(named.get())
}

/// A form or a page.
pub fn ask(params: &str) -> (Option<SessionId>, AgentRequest) {
    match asked::read(params) {
        Ok(Asked { session, asking, call, of }) => {
            (session.map(SessionId::from), AgentRequest::Ask { asking, call, of })
        }
        Err(Refused::Bad(why)) => (None, bad(asked::CREATE, &why)),
        Err(Refused::TooLarge(why)) => (None, too_large(asked::CREATE, why)),
    }
}

/// One about a session, and which that is; `decode` reads its parameters where they are whole.
pub fn of_session(
    method: &str,
    params: &str,
    decode: impl FnOnce(Value) -> AgentRequest,
) -> (Option<SessionId>, AgentRequest) {
    let Read { value, lost, .. } = match bounded::read(params) {
        Ok(read) => read,
        Err(error) => return (None, bad(method, &error.to_string())),
    };
    let Some(session) = id_of(&value, "sessionId").map(SessionId::from) else {
        return (None, bad(method, "sessionId is missing"));
    };
    if lost > 0 {
        // Half of a command or of a question is another one.
        return (Some(session), too_large(method, format!("{lost} of its values are too many")));
    }
    (Some(session), decode(value))
}

/// One that is not offered.
pub fn not_offered(method: &str) -> AgentRequest {
    let name = limits::cut(method, MAX_NAME);
    if method == INITIALIZE { AgentRequest::Echoed(name) } else { AgentRequest::UnknownMethod(name) }
}

pub fn too_large(method: &str, why: String) -> AgentRequest {
    AgentRequest::TooLarge { method: limits::cut(method, MAX_NAME), why }
}

pub fn bad(method: &str, why: &str) -> AgentRequest {
    AgentRequest::BadParams { method: limits::cut(method, MAX_NAME), why: limits::cut(why, MAX_WORDS) }
}

/// The answers that a permission request offers. A schema closes their kinds; a person shall be asked all the same
/// . `Err`: what cannot be shown whole.
pub fn options(value: &Value) -> Result<Vec<PermissionOption>, String> {
    let list = list_of(value, "options");
    if list.len() > MAX_ANSWERS {
        return Err(format!("{} options, at most {MAX_ANSWERS} are shown", list.len()));
    }
    let is_long = |o: &Value| {
        str_of(o, "optionId").is_some_and(|id| id.len() > MAX_ID)
            || str_of(o, "name").is_some_and(|name| name.len() > MAX_TITLE)
    };
    if list.iter().any(is_long) {
        return Err("an option that cannot be shown whole".to_owned());
    }
    let option = |o: &Value| {
        let id = string_of(o, "optionId")?;
        Some(PermissionOption {
            name: string_of(o, "name").unwrap_or_else(|| id.clone()),
            kind: match str_of(o, "kind") {
                Some("allow_once") => PermissionKind::AllowOnce,
                Some("allow_always") => PermissionKind::AllowAlways,
                Some("reject_once") => PermissionKind::RejectOnce,
                Some("reject_always") => PermissionKind::RejectAlways,
                _ => PermissionKind::Unknown,
            },
            id,
        })
    };
    Ok(list.iter().filter_map(option).collect())
}

/// The parameters of words for the running turn. Where none runs any more the agent is to begin none by itself: whose
/// turn it is would not be known.
pub fn steer(session: &SessionId, prompt: &Value) -> Value {
    let meta = json!({ "steering": { "idleBehavior": "promptRequired" } });
    json!({ "sessionId": session.as_str(), "prompt": prompt, "_meta": meta })
}
