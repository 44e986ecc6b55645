//! The dialect D3: whole messages, modes of the connection, questions with labels, commands whose output comes with their
//! exit.
//!
//! Knows no session and no screen. Holds what the two sides have agreed on: the modes of every session.

pub mod inbound;
mod outbound;

use super::rendition::{Numbers, Rendition, Table, locked};
use super::v1::{V1, results};
use super::versionless::content::{id_of, list_of, words_of};
use super::versionless::requests::PERMISSION;
use super::versionless::results::value_of;
use super::{Codec as _, Handshake, Said, SharedCodec};
use crate::base::limits::{MAX_CHOICES, MAX_NAME};
use crate::mcp::Server;
use crate::model::effect::{Answer, Call};
use crate::model::event::{AgentRequest, CallError, Dialect, ErrorKind, InitResult, Opening, SessionResult};
use crate::model::ids::SessionId;
use crate::model::options::{Mode, Modes};
use crate::model::refusal::{Reason, Refusal};
use crate::wire::rpc_error::RpcError;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// As the header of a journal says it.
pub const NAME: &str = "acp-1-d3";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct D3 {
    /// Of every session.
    modes: Vec<Mode>,
}

impl Rendition for D3 {
    const NAME: &'static str = NAME;
    const DIALECT: Dialect = Dialect::D3;
    const ERRORS: Table = Table {
        heard: Some(meant),
        said: Some(Numbers {
            no_session: -32005,
            not_found: -32003,
            outside: -32004,
            refused: -32004,
            not_offered: -32007,
            cancelled: -32800,
            too_many: -32603,
        }),
    };

    fn call(&self, call: &Call, cwd: &Path) -> Result<Said, serde_json::Error> {
        outbound::call(call, cwd)
    }

    fn give(&self, servers: &[&Server], params: &mut Value) {
        params["mcpServers"] = servers.iter().map(|server| outbound::entry(server)).collect();
    }

    fn answer(&self, method: &str, answer: &Answer) -> Result<Value, RpcError> {
        outbound::answer(method, answer)
    }

    /// There is no cancelled outcome (S-045).
    fn dismissed(&self, method: &str, no: Option<&str>) -> Answer {
        match no {
            _ if method != PERMISSION => Answer::Cancelled,
            Some(no) => Answer::Selected(no.to_owned()),
            None => Answer::Error(Refusal::new(Reason::Cancelled, "The question was not answered")),
        }
    }

    fn request(&self, method: &str, params: &str, number: u64) -> (Option<SessionId>, AgentRequest) {
        inbound::request(method, params, number)
    }

    fn handshake(&self, result: &str) -> Handshake {
        locked(met(&value_of(result)))
    }

    /// Which mode is in force the agent does not say at first.
    fn opened(&self, how: &Opening, result: &str) -> Result<SessionResult, CallError> {
        let opened = V1.opened(how, result)?;
        let modes = || Modes { current: String::new(), pending: None, available: self.modes.clone() };
        let own = opened.modes.or_else(|| (!self.modes.is_empty()).then(modes));
        Ok(SessionResult { modes: own, ..opened })
    }
}

/// What the answer to the first call says, with the members of version 1.
pub fn met(result: &Value) -> Result<(SharedCodec, InitResult), CallError> {
    let mut value = result.clone();
    if value.get("authMethods").is_none()
        && let Some(methods) = result.get("authenticationMethods").and_then(Value::as_array)
    {
        let method =
            |one: &Value| json!({ "id": one["methodId"], "name": one["title"], "description": one["description"] });
        value["authMethods"] = methods.iter().map(method).collect();
    }
    let transports = result.pointer("/agentCapabilities/mcpCapabilities/supportedTransports").and_then(Value::as_array);
    if let Some(transports) = transports {
        let has = |word: &str| transports.iter().any(|one| one.as_str() == Some(word));
        value["agentCapabilities"]["mcpCapabilities"] = json!({ "http": has("http"), "sse": has("sse") });
    }
    let mode = |one: &Value| {
        let id = id_of(one, "modeId")?;
        let name = words_of(one, "title", MAX_NAME).unwrap_or_else(|| id.clone());
        Some(Mode { id, name, description: words_of(one, "description", MAX_NAME) })
    };
    let caps = result.get("agentCapabilities").unwrap_or(&Value::Null);
    let modes = list_of(caps, "sessionModes").iter().take(MAX_CHOICES).filter_map(mode).collect();
    let init = results::initialize_of(&value)?;
    Ok((Arc::new(D3 { modes }), InitResult { dialect: Dialect::D3, ..init }))
}

/// Numbers as this rendition gives them (section 7).
fn meant(code: i64) -> ErrorKind {
    match code {
        -32002..=-32000 => ErrorKind::AuthRequired,
        -32003 => ErrorKind::NotFound,
        -32004 => ErrorKind::PermissionDenied,
        -32005 => ErrorKind::SessionLost,
        -32007 | -32601 => ErrorKind::Unsupported,
        _ => ErrorKind::Other,
    }
}
