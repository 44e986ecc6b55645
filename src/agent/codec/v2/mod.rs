//! Version 2 of the Agent Client Protocol, a draft.
//!
//! A turn ends by a word of the agent's, not by the answer to the prompt; messages and calls are told as a whole or by
//! pieces under their ids; files and terminals are the agent's own. Knows no session and no screen.

pub mod inbound;
pub mod outbound;
pub mod results;
pub mod tools;

use super::stored::{Called, Depth, Heard, Introduced, Look};
use super::versionless::requests::{CANCEL_REQUEST, PERMISSION};
use super::versionless::updates::{self, UPDATE};
use super::versionless::{asked, auth_status, errors, frames, requests, results as same};
use super::{Codec, Decoded, Handshake, Said, Told, Updated};
use crate::mcp::{How, Server};
use crate::model::effect::{Answer, Call};
use crate::model::entry::ChunkKind;
use crate::model::event::{AgentRequest, AuthMethod, CallError, Opening, PromptAnswer, SessionPage, SessionResult};
use crate::model::form::Reply;
use crate::model::ids::SessionId;
use crate::model::options::ConfigOption;
use crate::model::refusal::{Reason, Refusal};
use crate::wire::rpc_error::RpcError;
use serde_json::{Value, json};
use std::path::Path;

/// As the header of a journal says it.
pub const NAME: &str = "acp-2";
pub const VERSION: u16 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct V2;

impl Codec for V2 {
    fn name(&self) -> &'static str {
        NAME
    }

    fn version(&self) -> u16 {
        VERSION
    }

    /// The agent asks for no file and no command of ours.
    fn word_for_word(&self) -> &'static [&'static str] {
        &[]
    }

    fn bears_no_environment(&self, method: &str) -> bool {
        method.starts_with("session/")
    }

    fn call(&self, call: &Call, cwd: &Path) -> Result<Said, serde_json::Error> {
        outbound::call(call, cwd).map(|(method, params)| (method.into(), params))
    }

    /// Every server says of which sort it is (V2-121).
    fn give(&self, servers: &[&Server], params: &mut Value) {
        let server = |server: &&Server| {
            let mut value = server.canonical();
            if let (How::Stdio { .. }, Some(members)) = (&server.how, value.as_object_mut()) {
                members.insert("type".to_owned(), json!("stdio"));
            }
            value
        };
        params["mcpServers"] = servers.iter().map(server).collect();
    }

    fn cancel_turn(&self, session: &SessionId) -> Option<Said> {
        Some(("session/cancel".into(), json!({ "sessionId": session.as_str() })))
    }

    fn withdraw(&self, call: u64) -> Said {
        (CANCEL_REQUEST.into(), json!({ "requestId": call }))
    }

    fn answer(&self, method: &str, answer: &Answer) -> Result<Value, RpcError> {
        if method == asked::CREATE && *answer == Answer::Cancelled {
            return Ok(asked::answer(&Reply::Cancel));
        }
        outbound::answer(answer)
    }

    fn refuse(&self, refusal: &Refusal) -> RpcError {
        errors::refuse(refusal)
    }

    fn unanswered(&self, method: &str) -> Answer {
        if method == PERMISSION || method == asked::CREATE {
            return Answer::Cancelled;
        }
        Answer::Error(Refusal::new(Reason::Cancelled, "Request cancelled: the client is closing"))
    }

    fn told(&self, method: &str, params: &str) -> Told {
        match method {
            UPDATE => Told::Update(self.update(params)),
            asked::COMPLETE => asked::completed(params).map_or(Told::Unknown, Told::PageDone),
            CANCEL_REQUEST => requests::withdrawn(params).map_or(Told::Unknown, Told::Withdrawn),
            _ => auth_status::told(method, params).unwrap_or(Told::Unknown),
        }
    }

    fn is_update(&self, method: &str) -> bool {
        method == UPDATE
    }

    fn update(&self, params: &str) -> Decoded {
        inbound::update(params).map(Updated::from)
    }

    fn piece(&self, session: &SessionId, kind: ChunkKind, message: Option<&str>, text: &str) -> Said {
        (UPDATE.into(), updates::piece(session, kind, message, text))
    }

    fn is_used(&self, member: &str) -> bool {
        inbound::USED.contains(&member)
    }

    fn request(&self, method: &str, params: &str, number: u64) -> (Option<SessionId>, AgentRequest) {
        inbound::request(method, params, number)
    }

    fn handshake(&self, result: &str) -> Handshake {
        results::initialize(result).map_or_else(Handshake::Refused, Handshake::Accepted)
    }

    fn no_version(&self, error: &CallError) -> CallError {
        errors::no_version(VERSION, &errors::supported(error))
    }

    fn opened(&self, how: &Opening, result: &str) -> Result<SessionResult, CallError> {
        results::opened(how, result)
    }

    fn titled(&self, result: &str) -> Option<String> {
        same::titled(result)
    }

    fn listed(&self, result: &str) -> Result<SessionPage, CallError> {
        same::listed(result)
    }

    fn prompt(&self, result: &str) -> Result<PromptAnswer, CallError> {
        Ok(results::prompt(result))
    }

    fn prompt_refused(&self, error: CallError) -> Result<PromptAnswer, CallError> {
        Ok(PromptAnswer::NotTaken(error))
    }

    fn set_option(&self, result: &str) -> Option<Vec<ConfigOption>> {
        same::set_option(result, &results::OPTIONS)
    }

    fn error(&self, error: &RpcError) -> (CallError, Vec<AuthMethod>) {
        errors::read(error, results::auth_methods)
    }

    fn reason(&self, code: i64) -> Reason {
        errors::reason(code)
    }

    fn called(&self, frame: &str) -> Option<(u64, Called)> {
        frames::called(frame)
    }

    fn heard<'a>(&self, frame: &'a str, depth: Depth) -> Heard<'a> {
        frames::heard(frame, depth)
    }

    fn look<'a>(&self, frame: &'a str) -> Look<'a> {
        frames::look(frame)
    }

    fn introduced(&self, result: &str) -> Introduced {
        frames::introduced(result)
    }
}
