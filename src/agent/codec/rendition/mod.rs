//! Version 1 in another rendition: what a codec of one has to say, and how such a codec is chosen.
//!
//! All that a rendition does not say itself is as in version 1. An agent is understood by the shape of each message, also
//! where another rendition is spoken to it; a shape of the protocol as it is documented comes first. Invariant: nothing
//! is decided by the number of an error or by the name of an agent.

mod auto;
mod errors;
pub mod shape;

use super::stored::{Called, Depth, Heard, Introduced, Look};
use super::v1::{self, V1};
use super::versionless::bounded;
use super::versionless::results::value_of;
use super::versionless::updates::{self, UPDATE};
use super::{Codec, Decoded, Handshake, Said, SharedCodec, Told, Updated, d0, d3, d4};
use crate::mcp::Server;
use crate::model::effect::{Answer, Call};
use crate::model::entry::ChunkKind;
use crate::model::event::{
    AgentRequest, AuthMethod, CallError, Dialect, InitResult, Opening, PromptAnswer, SessionPage, SessionResult, Update,
};
use crate::model::ids::SessionId;
use crate::model::login::Secret;
use crate::model::options::ConfigOption;
use crate::model::refusal::{Reason, Refusal};
use crate::wire::rpc_error::RpcError;
pub use auto::{Auto, Brief};
pub use errors::{Numbers, Table};
use serde_json::Value;
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

/// Of the codec that is spoken unless something else is asked for.
pub const NAME: &str = "acp-1";

/// What is peculiar to a rendition.
pub trait Rendition: Debug + Send + Sync + 'static {
    /// As the header of a journal says it.
    const NAME: &'static str;
    const DIALECT: Dialect;
    const ERRORS: Table;

    fn call(&self, call: &Call, cwd: &Path) -> Result<Said, serde_json::Error> {
        V1.call(call, cwd)
    }

    fn give(&self, servers: &[&Server], params: &mut Value) {
        V1.give(servers, params);
    }

    fn reach(&self, directories: &[String], params: &mut Value) {
        V1.reach(directories, params);
    }

    fn cancel_turn(&self, session: &SessionId) -> Option<Said> {
        V1.cancel_turn(session)
    }

    fn answer(&self, method: &str, answer: &Answer) -> Result<Value, RpcError> {
        V1.answer(method, answer)
    }

    fn dismissed(&self, _method: &str, _no: Option<&str>) -> Answer {
        Answer::Cancelled
    }

    fn request(&self, method: &str, params: &str, number: u64) -> (Option<SessionId>, AgentRequest) {
        V1.request(method, params, number)
    }

    fn handshake(&self, result: &str) -> Handshake;

    fn other_version(&self, _error: &CallError) -> Option<SharedCodec> {
        None
    }

    fn locked(&self, _dialect: Dialect) -> Option<SharedCodec> {
        None
    }

    fn opened(&self, how: &Opening, result: &str) -> Result<SessionResult, CallError> {
        V1.opened(how, result)
    }

    fn prompt(&self, result: &str) -> Result<PromptAnswer, CallError> {
        V1.prompt(result)
    }

    fn set_option(&self, result: &str) -> Option<Vec<ConfigOption>> {
        V1.set_option(result)
    }

    fn authenticated(&self, result: &str) -> Result<Option<i64>, CallError> {
        V1.authenticated(result)
    }

    fn present(&self, typed: &[(String, Secret)], params: &mut Value) {
        V1.present(typed, params);
    }

    fn printed(&self, term: &str, text: &str) -> Option<Said> {
        V1.printed(term, text)
    }

    /// The ways to log in of an agent that wants one and names none.
    fn ways() -> Vec<AuthMethod> {
        Vec::new()
    }
}

impl<R: Rendition> Codec for R {
    fn name(&self) -> &'static str {
        R::NAME
    }

    fn version(&self) -> u16 {
        V1.version()
    }

    fn dialect(&self) -> Dialect {
        R::DIALECT
    }

    fn word_for_word(&self) -> &'static [&'static str] {
        V1.word_for_word()
    }

    fn bears_no_environment(&self, method: &str) -> bool {
        V1.bears_no_environment(method)
    }

    fn call(&self, call: &Call, cwd: &Path) -> Result<Said, serde_json::Error> {
        Rendition::call(self, call, cwd)
    }

    fn give(&self, servers: &[&Server], params: &mut Value) {
        Rendition::give(self, servers, params);
    }

    fn reach(&self, directories: &[String], params: &mut Value) {
        Rendition::reach(self, directories, params);
    }

    fn cancel_turn(&self, session: &SessionId) -> Option<Said> {
        Rendition::cancel_turn(self, session)
    }

    fn withdraw(&self, call: u64) -> Said {
        V1.withdraw(call)
    }

    fn answer(&self, method: &str, answer: &Answer) -> Result<Value, RpcError> {
        match answer {
            Answer::Error(refusal) => Err(R::ERRORS.refuse(refusal)),
            answer => Rendition::answer(self, method, answer),
        }
    }

    fn dismissed(&self, method: &str, no: Option<&str>) -> Answer {
        Rendition::dismissed(self, method, no)
    }

    fn refuse(&self, refusal: &Refusal) -> RpcError {
        R::ERRORS.refuse(refusal)
    }

    fn unanswered(&self, method: &str) -> Answer {
        V1.unanswered(method)
    }

    fn told(&self, method: &str, params: &str) -> Told {
        if method == UPDATE { Told::Update(update(params)) } else { V1.told(method, params) }
    }

    fn is_update(&self, method: &str) -> bool {
        V1.is_update(method)
    }

    fn update(&self, params: &str) -> Decoded {
        update(params)
    }

    fn piece(&self, session: &SessionId, kind: ChunkKind, message: Option<&str>, text: &str) -> Said {
        V1.piece(session, kind, message, text)
    }

    fn is_used(&self, member: &str) -> bool {
        V1.is_used(member) || shape::USED.contains(&member)
    }

    fn request(&self, method: &str, params: &str, number: u64) -> (Option<SessionId>, AgentRequest) {
        Rendition::request(self, method, params, number)
    }

    fn asked_in(&self, method: &str, params: &str) -> Option<SharedCodec> {
        let shape = shape::of_request(method, params, R::DIALECT);
        (shape != R::DIALECT).then(|| of(shape))
    }

    fn locked(&self, dialect: Dialect) -> Option<SharedCodec> {
        Rendition::locked(self, dialect)
    }

    fn handshake(&self, result: &str) -> Handshake {
        Rendition::handshake(self, result)
    }

    fn other_version(&self, error: &CallError) -> Option<SharedCodec> {
        Rendition::other_version(self, error)
    }

    fn no_version(&self, error: &CallError) -> CallError {
        V1.no_version(error)
    }

    fn opened(&self, how: &Opening, result: &str) -> Result<SessionResult, CallError> {
        Rendition::opened(self, how, result)
    }

    fn titled(&self, result: &str) -> Option<String> {
        V1.titled(result)
    }

    fn listed(&self, result: &str) -> Result<SessionPage, CallError> {
        V1.listed(result)
    }

    fn prompt(&self, result: &str) -> Result<PromptAnswer, CallError> {
        Rendition::prompt(self, result)
    }

    fn set_option(&self, result: &str) -> Option<Vec<ConfigOption>> {
        Rendition::set_option(self, result)
    }

    fn authenticated(&self, result: &str) -> Result<Option<i64>, CallError> {
        Rendition::authenticated(self, result)
    }

    fn present(&self, typed: &[(String, Secret)], params: &mut Value) {
        Rendition::present(self, typed, params);
    }

    fn printed(&self, term: &str, text: &str) -> Option<Said> {
        Rendition::printed(self, term, text)
    }

    fn error(&self, error: &RpcError) -> (CallError, Vec<AuthMethod>) {
        let (error, offered) = R::ERRORS.read(error);
        let has_none = error.is_auth() && offered.is_empty();
        (error, if has_none { R::ways() } else { offered })
    }

    fn reason(&self, code: i64) -> Reason {
        V1.reason(code)
    }

    fn called(&self, frame: &str) -> Option<(u64, Called)> {
        V1.called(frame)
    }

    fn heard<'a>(&self, frame: &'a str, depth: Depth) -> Heard<'a> {
        V1.heard(frame, depth)
    }

    fn look<'a>(&self, frame: &'a str) -> Look<'a> {
        V1.look(frame)
    }

    fn introduced(&self, result: &str) -> Introduced {
        V1.introduced(result)
    }
}

/// The codec of a dialect, before anything is agreed on.
pub fn of(dialect: Dialect) -> SharedCodec {
    match dialect {
        Dialect::Canonical => Arc::new(V1),
        Dialect::D0 => Arc::new(d0::D0::default()),
        Dialect::D3 => Arc::new(d3::D3::default()),
        Dialect::D4 => Arc::new(d4::D4),
    }
}

/// An update in whichever dialect its shape is of (S-003).
pub fn update(params: &str) -> Decoded {
    if let Some(quick) = updates::quick(params) {
        return quick.map(Updated::from);
    }
    let read = bounded::read(params).map_err(|error| error.to_string())?;
    let dialect = shape::of_update(&read.value);
    let (session, update): (SessionId, Update) = match dialect {
        Dialect::Canonical => v1::inbound::update_of(&read),
        Dialect::D0 => d0::inbound::update(&read),
        Dialect::D3 => d3::inbound::update(&read),
        Dialect::D4 => d4::inbound::update(&read),
    }?;
    Ok(Updated { session, update, dialect })
}

/// What an agent has said of itself in a dialect.
type Met = Result<(SharedCodec, InitResult), CallError>;

/// What the answer to the first call decides, where the dialect is left to it.
fn recognised(result: &str) -> Option<Handshake> {
    let value = value_of(result);
    let (dialect, evidence) = shape::of_handshake(&value)?;
    let met: Met = match dialect {
        Dialect::Canonical => return None,
        Dialect::D0 => d0::met(&value),
        Dialect::D3 => d3::met(&value),
        Dialect::D4 => d4::met(&value),
    };
    Some(match met.map(|(codec, init)| (codec, InitResult { evidence: Some(evidence), ..init })) {
        // What it is told of the client is the same in this one (S-013).
        Ok((codec, init)) if dialect == Dialect::D4 => Handshake::Locked(codec, init),
        Ok((codec, init)) => Handshake::Reconnect(codec, init),
        Err(error) => Handshake::Refused(error),
    })
}

/// The same where the dialect is settled.
pub fn locked(met: Met) -> Handshake {
    match met {
        Ok((codec, init)) => Handshake::Locked(codec, init),
        Err(error) => Handshake::Refused(error),
    }
}

#[cfg(test)]
#[path = "rendition_tests.rs"]
mod tests;
