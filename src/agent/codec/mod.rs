//! The codec of a connection: between frames of the wire and the model's events, calls and answers.
//!
//! One object a connection. All that is peculiar to a version or a dialect of the protocol is in here: names of methods
//! and members, numbers of errors, what the two sides agree on at first, and what a request without an answer
//! gets at the end. Keeps no state of a session. Invariant: a message that cannot be used becomes a value that says so.

pub mod d0;
pub mod d3;
pub mod d4;
pub mod rendition;
pub mod stored;
pub mod v1;
pub mod v2;
pub mod versionless;
pub mod watch;

use crate::base::transport::Reached;
use crate::mcp::Server;
use crate::model::auth_status::AuthStatus;
use crate::model::effect::{Answer, Call};
use crate::model::entry::ChunkKind;
use crate::model::event::{
    AgentRequest, AuthMethod, CallError, Dialect, InitResult, Opening, PromptAnswer, Protocol, SessionPage,
    SessionResult, Steered, Update,
};
use crate::model::ids::SessionId;
use crate::model::login::Secret;
use crate::model::options::ConfigOption;
use crate::model::refusal::{Reason, Refusal};
use crate::wire::frame::RawId;
use crate::wire::rpc_error::RpcError;
use serde_json::Value;
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use stored::{Called, Depth, Heard, Introduced, Look};

/// Shared with the thread that decodes large updates.
pub type SharedCodec = Arc<dyn Codec>;

/// Method and parameters of a call or a notification.
pub type Said = (Cow<'static, str>, Value);

/// An update; `Err` says what was wrong with it.
pub type Decoded = Result<Updated, String>;

/// An update, the session that it is for, and the dialect that its shape is of.
#[derive(Debug, PartialEq)]
pub struct Updated {
    pub session: SessionId,
    pub update: Update,
    pub dialect: Dialect,
}

impl From<(SessionId, Update)> for Updated {
    fn from((session, update): (SessionId, Update)) -> Self {
        Self { session, update, dialect: Dialect::Canonical }
    }
}

/// What the answer to the first call decides.
#[derive(Debug)]
pub enum Handshake {
    Accepted(InitResult),
    /// From now on it is spoken to in this way, which needs no new start.
    Locked(SharedCodec, InitResult),
    /// The agent is to be started once more and spoken to in this way. Where that was done already it goes on like this.
    Reconnect(SharedCodec, InitResult),
    Refused(CallError),
}

/// A notification of the agent.
#[derive(Debug)]
pub enum Told {
    Update(Decoded),
    /// It waits no longer for the answer to this request of its own.
    Withdrawn(RawId),
    /// What the person was sent to this page for is done.
    PageDone(Arc<str>),
    /// Who is logged in; by an extension or by the protocol.
    AuthStatus {
        status: AuthStatus,
        is_extension: bool,
    },
    Unknown,
}

pub trait Codec: std::fmt::Debug + Send + Sync {
    /// Stands in the header of a journal, so that it is read again in the same way.
    fn name(&self) -> &'static str;

    /// Of the protocol.
    fn version(&self) -> u16;

    fn dialect(&self) -> Dialect {
        Dialect::Canonical
    }

    /// Requests whose strings name or become files and commands: one with a broken string is refused, not mended.
    fn word_for_word(&self) -> &'static [&'static str];

    /// Whether nothing in such a message belongs to the environment of a process, under any name.
    fn bears_no_environment(&self, method: &str) -> bool;

    // ---- what we say

    /// A call. `cwd` is the session's directory.
    fn call(&self, call: &Call, cwd: &Path) -> Result<Said, serde_json::Error>;

    /// The parameters of a call that opens a session, with the servers that the agent is given.
    fn give(&self, servers: &[&Server], params: &mut Value);

    /// The same with directories besides the session's own; all of them, each time.
    fn reach(&self, directories: &[String], params: &mut Value) {
        params["additionalDirectories"] = directories.into();
    }

    /// The first call, to an agent behind an address: nothing of this machine is offered that is not for it.
    fn withhold(&self, reached: Reached, params: &mut Value) {
        for capabilities in ["clientCapabilities", "capabilities"] {
            let Some(offered) = params.get_mut(capabilities).and_then(Value::as_object_mut) else { continue };
            if !reached.files {
                offered.remove("fs");
            }
            if !reached.terminals {
                offered.remove("terminal");
            }
            // Its log-in cannot be run here (S-061).
            for (place, member) in [("auth", "terminal"), ("_meta", "terminal-auth")] {
                if let Some(offered) = offered.get_mut(place).and_then(Value::as_object_mut) {
                    offered.remove(member);
                }
            }
        }
    }

    /// A log-in, with what the person has typed for it.
    fn present(&self, _typed: &[(String, Secret)], _params: &mut Value) {}

    /// What a command has printed, for an agent that is told of it and does not ask.
    fn printed(&self, _term: &str, _text: &str) -> Option<Said> {
        None
    }

    /// That the turn of this session is to end; nothing where the agent cannot end one.
    fn cancel_turn(&self, session: &SessionId) -> Option<Said>;

    /// That our own call with this id is given up.
    fn withdraw(&self, call: u64) -> Said;

    /// The result, or the error, of a request of the agent.
    fn answer(&self, method: &str, answer: &Answer) -> Result<Value, RpcError>;

    fn refuse(&self, refusal: &Refusal) -> RpcError;

    /// What a request gets that is still open when the connection is let go.
    fn unanswered(&self, method: &str) -> Answer;

    // ---- what the agent says

    fn told(&self, method: &str, params: &str) -> Told;

    /// Whether this notification is an update: a large one is decoded by another thread.
    fn is_update(&self, method: &str) -> bool;

    fn update(&self, params: &str) -> Decoded;

    /// A piece of a message as the agent says it.
    fn piece(&self, session: &SessionId, kind: ChunkKind, message: Option<&str>, text: &str) -> Said;

    /// Whether something is done with what is in a member of this name of an update: it is looked up, judged or compared,
    /// and not only shown.
    fn is_used(&self, member: &str) -> bool;

    /// A request of the agent, and the session it names. `number` is another one for each request.
    fn request(&self, method: &str, params: &str, number: u64) -> (Option<SessionId>, AgentRequest);

    /// The codec of the dialect that a request is made in, where that is another one: it reads and answers it.
    fn asked_in(&self, _method: &str, _params: &str) -> Option<SharedCodec> {
        None
    }

    /// How an agent is spoken to that has said something in this dialect, where that is not decided yet.
    fn locked(&self, _dialect: Dialect) -> Option<SharedCodec> {
        None
    }

    /// What a dialog gets that the person has not answered. `no` is the option that refuses, where one is offered.
    fn dismissed(&self, _method: &str, _no: Option<&str>) -> Answer {
        Answer::Cancelled
    }

    fn handshake(&self, result: &str) -> Handshake;

    /// How an agent can be spoken to that has refused our first call with this error.
    fn other_version(&self, _error: &CallError) -> Option<SharedCodec> {
        None
    }

    /// That error, where it is about the version and nothing can be done about it.
    fn no_version(&self, error: &CallError) -> CallError {
        error.clone()
    }

    /// The answer to the call that opens a session in this way.
    fn opened(&self, how: &Opening, result: &str) -> Result<SessionResult, CallError>;

    /// The title that the agent has kept.
    fn titled(&self, result: &str) -> Option<String>;

    /// A page of a list of sessions.
    fn listed(&self, result: &str) -> Result<SessionPage, CallError>;

    fn prompt(&self, result: &str) -> Result<PromptAnswer, CallError>;

    /// What has become of words for the running turn.
    fn steered(&self, result: &str) -> Steered {
        versionless::results::steered(result)
    }

    /// The agent has answered a prompt with this error.
    fn prompt_refused(&self, error: CallError) -> Result<PromptAnswer, CallError> {
        Err(error)
    }

    /// Whether a log-in by a call has come about, and until when it is good, in seconds from 1970.
    fn authenticated(&self, _result: &str) -> Result<Option<i64>, CallError> {
        Ok(None)
    }

    /// Who is logged in.
    fn auth_status(&self, result: &str) -> AuthStatus {
        versionless::auth_status::read(result)
    }

    /// `None` when the agent sent no list at all.
    fn set_option(&self, result: &str) -> Option<Vec<ConfigOption>>;

    /// What an error means, and the ways to log in that it offers.
    fn error(&self, error: &RpcError) -> (CallError, Vec<AuthMethod>);

    /// What a number of ours stands for that an older journal holds.
    fn reason(&self, code: i64) -> Reason;

    // ---- what a journal holds, read without a model

    /// A call of ours and its number, when it is one that a conversation is known by.
    fn called(&self, _frame: &str) -> Option<(u64, Called)> {
        None
    }

    /// A frame of the agent.
    fn heard<'a>(&self, _frame: &'a str, _depth: Depth) -> Heard<'a> {
        Heard::Nothing
    }

    /// What errs here errs towards reading.
    fn look<'a>(&self, _frame: &'a str) -> Look<'a> {
        Look::Unclear
    }

    /// The answer to the first call, of any version.
    fn introduced(&self, _result: &str) -> Introduced {
        Introduced::default()
    }
}

/// What is spoken unless something else is asked for.
pub fn shipped() -> SharedCodec {
    Arc::new(rendition::Auto)
}

/// How an agent is spoken to at first.
pub fn first(protocol: Protocol) -> SharedCodec {
    match protocol {
        Protocol::Auto | Protocol::One => shipped(),
        Protocol::Two => Arc::new(v2::V2),
        Protocol::Canonical | Protocol::CanonicalOne => Arc::new(v1::V1),
        Protocol::D0 => rendition::of(Dialect::D0),
        Protocol::D3 => rendition::of(Dialect::D3),
        Protocol::D4 => rendition::of(Dialect::D4),
    }
}

/// The codec that the header of a journal names.
pub fn named(name: &str) -> Option<SharedCodec> {
    match name {
        rendition::NAME => Some(first(Protocol::One)),
        v1::NAME => Some(first(Protocol::Canonical)),
        v2::NAME => Some(first(Protocol::Two)),
        d0::NAME => Some(first(Protocol::D0)),
        d3::NAME => Some(first(Protocol::D3)),
        d4::NAME => Some(first(Protocol::D4)),
        _ => None,
    }
}
