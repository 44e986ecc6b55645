//! The dialect D0: updates of a type with data, questions about an operation on a resource, files and terminals that
//! belong to no session.
//!
//! Knows no session and no screen. Holds what the two sides have agreed on.

pub mod inbound;
mod login;
mod outbound;
mod questions;
mod results;
mod tools;

use super::rendition::{Numbers, Rendition, Table, locked};
use super::versionless::results::value_of;
use super::{Handshake, Said};
use crate::mcp::Server;
use crate::model::effect::{Answer, Call};
use crate::model::event::{
    AgentRequest, AuthMethod, CallError, Dialect, ErrorKind, Opening, PromptAnswer, SessionResult,
};
use crate::model::ids::SessionId;
use crate::model::login::Secret;
use crate::model::options::{ConfigOption, Mode};
use crate::wire::rpc_error::RpcError;
pub use results::met;
use serde_json::{Value, json};
use std::path::Path;

/// As the header of a journal says it.
pub const NAME: &str = "acp-1-d0";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct D0 {
    /// Of every session.
    modes: Vec<Mode>,
    /// Names of what can be set in every session.
    options: Vec<String>,
    /// It takes servers of tools.
    takes_servers: bool,
    /// Its turns cannot be stopped.
    never_stops: bool,
}

impl Rendition for D0 {
    const NAME: &'static str = NAME;
    const DIALECT: Dialect = Dialect::D0;
    const ERRORS: Table = Table {
        heard: Some(meant),
        said: Some(Numbers {
            no_session: -32000,
            not_found: -32004,
            outside: -32005,
            refused: -32002,
            not_offered: -32007,
            cancelled: -32003,
            too_many: -32006,
        }),
    };

    fn call(&self, call: &Call, cwd: &Path) -> Result<Said, serde_json::Error> {
        outbound::call(call, cwd)
    }

    fn give(&self, servers: &[&Server], params: &mut Value) {
        if self.takes_servers && params.get("workingDirectory").is_some() {
            params["mcpServers"] = servers.iter().map(|server| outbound::entry(server)).collect();
        }
    }

    /// It has no place for them.
    fn reach(&self, _directories: &[String], _params: &mut Value) {}

    fn cancel_turn(&self, session: &SessionId) -> Option<Said> {
        let params = json!({ "sessionId": session.as_str(), "reason": "user_requested" });
        (!self.never_stops).then(|| ("session/cancel".into(), params))
    }

    fn answer(&self, method: &str, answer: &Answer) -> Result<Value, RpcError> {
        outbound::answer(method, answer)
    }

    fn request(&self, method: &str, params: &str, number: u64) -> (Option<SessionId>, AgentRequest) {
        inbound::request(method, params, number)
    }

    fn handshake(&self, result: &str) -> Handshake {
        locked(met(&value_of(result)))
    }

    fn opened(&self, how: &Opening, result: &str) -> Result<SessionResult, CallError> {
        results::opened(self, how, &value_of(result))
    }

    fn prompt(&self, result: &str) -> Result<PromptAnswer, CallError> {
        results::prompt(result)
    }

    /// One option is told of, and it has the value that was asked for.
    fn set_option(&self, _result: &str) -> Option<Vec<ConfigOption>> {
        None
    }

    fn authenticated(&self, result: &str) -> Result<Option<i64>, CallError> {
        results::authenticated(&value_of(result))
    }

    fn present(&self, typed: &[(String, Secret)], params: &mut Value) {
        params["credentials"] = login::credentials(typed);
    }

    fn printed(&self, term: &str, text: &str) -> Option<Said> {
        Some(("terminal/output".into(), json!({ "terminalId": term, "data": text, "stream": "stdout" })))
    }

    fn ways() -> Vec<AuthMethod> {
        login::ways()
    }
}

/// Numbers as this rendition gives them (section 7).
fn meant(code: i64) -> ErrorKind {
    match code {
        -32000 => ErrorKind::SessionLost,
        -32001 => ErrorKind::AuthRequired,
        -32002 | -32005 => ErrorKind::PermissionDenied,
        -32003 => ErrorKind::Cancelled,
        -32004 => ErrorKind::NotFound,
        -32007 | -32601 => ErrorKind::Unsupported,
        -32008 => ErrorKind::RateLimited,
        -32009 => ErrorKind::Timeout,
        _ => ErrorKind::Other,
    }
}
