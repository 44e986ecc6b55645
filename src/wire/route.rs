//! Which way a message takes over a transport that has a stream for each session: its kind, its id and the session that it
//! names, which headers of the transport repeat.
//!
//! Reads nothing else of the message and changes nothing of it. Invariant: what cannot be read names no session.

use super::frame::RawId;
use super::json::members;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Methods with this begin are of the connection, whatever they name.
const OF_THE_CONNECTION: &str = "$/";
/// After these the session has no stream any more.
const LAST: [&str; 2] = ["session/close", "session/delete"];

/// During this one an agent asks for what it needs.
const TURN: &str = "session/prompt";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kind {
    Request,
    Notification,
    Answer,
    /// It is no message.
    #[default]
    Other,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Route {
    pub kind: Kind,
    pub id: Option<RawId>,
    /// The session of a request or notification.
    pub session: Option<String>,
    /// The session that an answer names.
    pub opened: Option<String>,
    /// It is an answer that something failed.
    pub is_error: bool,
    /// The last request for its session.
    pub is_last: bool,
    /// It begins a turn.
    pub is_turn: bool,
}

impl Route {
    /// Of a message that goes out.
    pub fn of(message: &[u8]) -> Self {
        Self::read(message, true)
    }

    /// Of one that has come: on which stream it came says of which session it is.
    pub fn of_incoming(message: &[u8]) -> Self {
        Self::read(message, false)
    }

    fn read(message: &[u8], names_session: bool) -> Self {
        let text = String::from_utf8_lossy(message);
        let Ok([id, method, params, result, error]) = members(&text, ["id", "method", "params", "result", "error"])
        else {
            return Self::default();
        };
        let id = id.and_then(|id| RawId::from_json(id.get()));
        let Some(method) = method.and_then(string) else {
            let is_error = error.is_some_and(|error| error.get() != "null");
            let kind = if is_error || result.is_some() { Kind::Answer } else { Kind::Other };
            return Self { kind, id, opened: result.and_then(session), is_error, ..Self::default() };
        };
        let kind = if id.is_some() { Kind::Request } else { Kind::Notification };
        let is_of_session = names_session && !method.starts_with(OF_THE_CONNECTION);
        let session = if is_of_session { params.and_then(session) } else { None };
        let (is_last, is_turn) = (LAST.contains(&&*method), method == TURN);
        Self { kind, id, session, is_last, is_turn, ..Self::default() }
    }
}

fn session(object: &RawValue) -> Option<String> {
    let [session] = members(object.get(), ["sessionId"]).ok()?;
    session.and_then(string).map(Cow::into_owned)
}

fn string(value: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str::<String>(value.get()).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s_081_a_message_names_its_session_and_those_of_the_connection_name_none() {
        let request =
            Route::of(br#"{"id":7,"method":"session/prompt","params":{"sessionId":"s","x":{"sessionId":"t"}}}"#);
        assert_eq!((request.kind, request.id.unwrap().as_str()), (Kind::Request, "7"));
        assert_eq!((request.session.as_deref(), request.is_last, request.is_turn), (Some("s"), false, true));
        let last = Route::of(br#"{"id":8,"method":"session/close","params":{"sessionId":"s"}}"#);
        assert!(last.is_last && !last.is_turn);
        let told = Route::of(br#"{"method":"session/cancel","params":{"sessionId":"s\n"}}"#);
        assert_eq!((told.kind, told.session.as_deref()), (Kind::Notification, Some("s\n")));
        let of_the_connection = Route::of(br#"{"method":"$/cancel_request","params":{"sessionId":"s"}}"#);
        assert_eq!(of_the_connection.session, None);
        let answer = Route::of(br#"{"id":"a","result":{"sessionId":"new"}}"#);
        assert_eq!((answer.kind, answer.opened.as_deref(), answer.is_error), (Kind::Answer, Some("new"), false));
        assert!(Route::of(br#"{"id":"a","error":{"code":1}}"#).is_error);
        assert_eq!(Route::of(br#"{"id":1,"result":null}"#).kind, Kind::Answer);
        for text in ["", "[1]", "{}", "{\"id\":1}", "{\"id\":1,\"result\":{}} x", "\u{feff}x"] {
            assert_eq!(Route::of(text.as_bytes()).kind, Kind::Other, "{text}");
        }
    }
}
