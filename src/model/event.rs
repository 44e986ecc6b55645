//! What can happen: decoded agent messages, host facts and what the person wants.
//!
//! Host facts and intents go into the journal as they are, hence `serde`; agent events are decoded anew from the
//! raw frames. Nothing here does anything.

mod auth;
mod host;
mod raw;
mod request;
mod said;
mod sessions;
mod timer;
mod update;

pub use super::attached::{Content, Link};
use super::auth_status::AuthStatus;
use super::changes::Gate;
use super::entry::{ChunkKind, Entry};
use super::form::Reply;
use super::history::Left;
use super::ids::{Address, Addressed, AgentKey, EntryId, ReqId, SessionId, SessionKey, TermId, ToolId, TurnId};
use super::options::{Command, ConfigOption, Modes, OptionValue};
use super::permission_mode::ModeChoice;
use super::ruling::RuleWish;
use super::setup::Setup;
use crate::text::grid::ScreenSnapshot;
pub use auth::{AuthKind, AuthMethod};
pub use host::{HostEvent, WriteFact};
pub use request::{AgentRequest, Asking, PermissionKind, PermissionOption, TerminalSpec, WriteHow};
pub use said::{Background, QueueAct, Steered, Words};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
pub use sessions::{AgentCaps, Before, Beside, Can, Cans, Dialect, Listed, Opening, Protocol, ReadOnly, SessionPage};
use std::sync::Arc;
pub use timer::Timer;
pub use update::{Activity, CompactionPatch, Update};

/// Answers to what was asked for a session are addressed to it; everything else of an agent, to the agent.
#[derive(Clone, Debug)]
pub enum Event {
    Agent(AgentEvent),
    Host(HostEvent),
    User(Intent),
    Timer(Timer),
    Hint(Hint),
    Setup(Setup),
}

/// Not in the journal: what is shown until the next of its sort comes, and what of the transcript is in memory. Nothing
/// but how it looks depends on them.
#[derive(Clone, Debug)]
pub enum Hint {
    /// What the emulator of a terminal of ours shows.
    Screen(TermId, Arc<ScreenSnapshot>),
    /// These entries were written and leave memory.
    Left(Vec<Left>),
    /// An entry that had left is wanted again.
    Back(Box<Entry>),
    /// Nothing can be written any more: what is in memory stays there.
    Stay,
}

impl Event {
    /// Addressed as it is while there is one agent with one session.
    pub fn at_home(self) -> Addressed<Self> {
        Addressed { at: self.home(), what: self }
    }

    /// Where it belongs while there is one agent with one session.
    pub fn home(&self) -> Address {
        match self {
            Self::Agent(event) => event.home(),
            Self::Host(event) => event.home(),
            Self::User(intent) => intent.home(),
            Self::Timer(timer) => timer.home(),
            Self::Hint(_) => SESSION,
            Self::Setup(_) => Address::All,
        }
    }
}

const AGENT: Address = Address::Agent(AgentKey::FIRST);
const SESSION: Address = Address::Session(SessionKey::FIRST);

/// A message that is shorter than this is not taken for what was said before.
const LEAST_SAID: usize = 12;
/// The member of an error's data that lists variables, and how many are named.
const ENV_VARS: &str = "envVars";
const MAX_ENV_VARS: usize = 8;

/// An error as the other side worded it, or a local failure of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallError {
    /// What it means; decides what is done.
    pub kind: ErrorKind,
    /// As it was sent, for people who look it up; 0 where there is none.
    pub code: i32,
    pub message: String,
    pub data: Option<Value>,
    /// The name of what had been called.
    pub call: Arc<str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The person has to log in.
    AuthRequired,
    /// The two sides have no version of the protocol in common.
    WrongVersion,
    /// What was asked for is not there.
    NotFound,
    /// The session is not there any more, or was never.
    SessionLost,
    PermissionDenied,
    RateLimited,
    Timeout,
    Cancelled,
    /// A method or a feature that the agent does not have.
    Unsupported,
    /// What was sent with the call is not as the agent wants it.
    BadParams,
    /// The connection is not in order.
    Disconnected,
    Other,
}

impl ErrorKind {
    /// Whether what was asked for does not exist.
    pub const fn is_gone(self) -> bool {
        matches!(self, Self::NotFound | Self::SessionLost)
    }

    /// What it means, for people who do not know the number.
    const fn words(self) -> Option<&'static str> {
        Some(match self {
            Self::SessionLost => "the session is lost",
            Self::PermissionDenied => "not permitted",
            Self::RateLimited => "too many requests",
            Self::Timeout => "it took too long",
            Self::Disconnected => "its connection is closed",
            _ => return None,
        })
    }
}

impl CallError {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, code: 0, message: message.into(), data: None, call: "".into() }
    }

    pub fn is_auth(&self) -> bool {
        self.kind == ErrorKind::AuthRequired
    }

    /// What is wrong, then that the agent gave this as its answer. Code 0: one that could not be read.
    pub fn as_answer(&self) -> String {
        let words = self.reason();
        if words.is_empty() { self.answered() } else { format!("{words} · {}", self.answered()) }
    }

    /// The same where its message stands already in what the agent has `said` last.
    pub fn as_answer_after(&self, said: &str) -> Option<String> {
        let (said, message) = (said.trim_end(), self.message.trim());
        // Some put a word of their own before what they have said.
        let after = message.split_once(": ").map_or("", |(_, after)| after);
        let is_said = [message, after].into_iter().any(|words| words.len() >= LEAST_SAID && said.ends_with(words));
        is_said.then(|| format!("{}: what it said last", self.answered()))
    }

    fn answered(&self) -> String {
        let code = if self.code == 0 { "no known code".to_owned() } else { self.code.to_string() };
        match self.kind.words() {
            Some(words) => format!("error from the agent ({words}, {code})"),
            None => format!("error from the agent ({code})"),
        }
    }

    /// `data` as lines for a person: a string as it is, variables that it asks for in words, anything else as indented
    /// JSON; below it a message that was JSON.
    pub fn data_lines(&self) -> Vec<String> {
        [self.lines_of_data(), self.raw_lines()].concat()
    }

    fn lines_of_data(&self) -> Vec<String> {
        match &self.data {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::String(s)) => s.lines().map(str::to_owned).collect(),
            Some(other) => {
                let (wanted, rest) = wanted_variables(other);
                let rest = rest.map(|rest| serde_json::to_string_pretty(&rest).unwrap_or_default());
                wanted.into_iter().chain(rest.iter().flat_map(|rest| rest.lines().map(str::to_owned))).collect()
            }
        }
    }
}

/// What to do where `envVars` lists variables of which one has to be set, and what else there is.
fn wanted_variables(data: &Value) -> (Option<String>, Option<Value>) {
    let names = data.get(ENV_VARS).and_then(Value::as_array).filter(|names| (1..=MAX_ENV_VARS).contains(&names.len()));
    let names =
        names.and_then(|names| names.iter().map(|name| name.as_str().filter(|name| is_variable(name))).collect());
    let Some(names): Option<Vec<&str>> = names else { return (None, Some(data.clone())) };
    let rest: Map<String, Value> = data
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, _)| *key != ENV_VARS)
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let words = format!("set {} in the environment, then start the agent again", names.join(" or "));
    (Some(words), (!rest.is_empty()).then_some(Value::Object(rest)))
}

fn is_variable(name: &str) -> bool {
    let is_word = |c: u8| c == b'_' || c.is_ascii_alphanumeric();
    !name.is_empty() && name.len() <= 64 && name.bytes().all(is_word) && !name.starts_with(|c: char| c.is_ascii_digit())
}

#[derive(Clone, Debug)]
pub enum AgentEvent {
    Initialized(Result<InitResult, CallError>),
    SessionOpened(Result<Box<SessionResult>, CallError>),
    PromptAnswered {
        turn: TurnId,
        result: Result<PromptAnswer, CallError>,
    },
    ModeSet {
        mode: String,
        result: Result<(), CallError>,
    },
    /// The answer to ending one call or terminal alone: what becomes of it is told by updates.
    ItemCancelled(Result<(), CallError>),
    /// What became of words for the running turn.
    Steered {
        words: Words,
        result: Result<Steered, CallError>,
    },
    OptionSet {
        option: String,
        /// What the request asked for.
        value: OptionValue,
        result: Result<Option<Vec<ConfigOption>>, CallError>,
    },
    /// A page of the list that was asked for in this attempt.
    SessionsListed {
        attempt: u64,
        result: Result<SessionPage, CallError>,
    },
    /// The answer to closing a session that the person has closed.
    SessionClosed(Result<(), CallError>),
    /// The title that the agent has kept; nothing when it does not say.
    TitleSet(Result<Option<String>, CallError>),
    SessionDeleted {
        id: SessionId,
        result: Result<(), CallError>,
    },
    Authenticated {
        /// Of which call: a person may leave one and begin another.
        attempt: u64,
        /// When what was typed for it is worth nothing any more, in seconds from 1970, where the agent says so.
        result: Result<Option<i64>, CallError>,
    },
    LoggedOut(Result<(), CallError>),
    /// Who is logged in, by the answer to our call.
    AuthStatus(Result<AuthStatus, CallError>),
    /// The same, by its own word.
    AuthStatusTold {
        status: AuthStatus,
        /// By an extension, and not by the protocol.
        is_extension: bool,
    },
    Update {
        session: SessionId,
        update: Update,
    },
    Request {
        req: ReqId,
        session: Option<SessionId>,
        request: Box<AgentRequest>,
    },
    /// Found in an error that asks for a log-in; counts when `initialize` named none.
    MethodsOffered(Vec<AuthMethod>),
    /// It speaks another version of the protocol, and is started once more to be spoken to in that.
    Reconnecting {
        version: u16,
        dialect: Dialect,
        /// What has shown that it is this dialect.
        evidence: Option<&'static str>,
    },
    /// By the shape of a message it is clear now which dialect the agent speaks.
    Speaks {
        dialect: Dialect,
        evidence: &'static str,
    },
    /// `$/cancel_request` for a request that is still open.
    RequestWithdrawn(ReqId),
    /// The call of ours that these requests were made for has been answered.
    RequestsMoot(Vec<ReqId>),
    /// What the person was sent to a page for is done.
    PageDone(Arc<str>),
    /// A message that we could not use; counted and shown, never fatal.
    Odd {
        what: Odd,
        head: String,
    },
}

impl AgentEvent {
    /// The session that it names.
    pub fn session(&self) -> Option<&SessionId> {
        match self {
            Self::Update { session, .. } | Self::Request { session: Some(session), .. } => Some(session),
            _ => None,
        }
    }

    /// The tool call that it tells of.
    pub fn tool(&self) -> Option<&ToolId> {
        match self {
            Self::Update { update, .. } => update.tool(),
            Self::Request { request, .. } => match &**request {
                AgentRequest::Permission { tool, .. } => Some(&tool.id),
                _ => None,
            },
            _ => None,
        }
    }

    /// Sessions that it may tell of beside the one that it is of.
    pub fn others(&self) -> impl Iterator<Item = &SessionId> {
        let others = if let Self::Update { update, .. } = self { update.others() } else { [None, None] };
        others.into_iter().flatten()
    }

    /// The message that it tells of by its id.
    pub fn message(&self) -> Option<(ChunkKind, &Arc<str>)> {
        if let Self::Update { update, .. } = self { update.message() } else { None }
    }

    fn home(&self) -> Address {
        match self {
            Self::SessionOpened(_)
            | Self::SessionClosed(_)
            | Self::TitleSet(_)
            | Self::PromptAnswered { .. }
            | Self::ModeSet { .. }
            | Self::ItemCancelled(_)
            | Self::Steered { .. }
            | Self::OptionSet { .. } => SESSION,
            Self::Initialized(_)
            | Self::SessionsListed { .. }
            | Self::SessionDeleted { .. }
            | Self::Authenticated { .. }
            | Self::AuthStatus(_)
            | Self::AuthStatusTold { .. }
            | Self::LoggedOut(_)
            | Self::Update { .. }
            | Self::Request { .. }
            | Self::MethodsOffered(_)
            | Self::Reconnecting { .. }
            | Self::Speaks { .. }
            | Self::RequestWithdrawn(_)
            | Self::RequestsMoot(_)
            | Self::PageDone(_)
            | Self::Odd { .. } => AGENT,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Odd {
    /// A line that is no JSON object.
    Stray,
    /// JSON that is no JSON-RPC message, or a message whose parameters we cannot read.
    Malformed,
    /// A notification or update of a kind that we do not know.
    Unknown,
    /// A line above the limit.
    TooLong,
    /// A response to nothing.
    LateResponse,
}

#[derive(Clone, Debug, PartialEq, Default)]
pub struct InitResult {
    pub name: Option<String>,
    pub title: Option<String>,
    pub version: Option<String>,
    /// The version of the protocol that is spoken.
    pub protocol: u16,
    /// The dialect of it.
    pub dialect: Dialect,
    /// What has shown that; nothing where it was configured or is the documented one.
    pub evidence: Option<&'static str>,
    pub caps: AgentCaps,
    pub auth_methods: Vec<AuthMethod>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SessionResult {
    pub id: SessionId,
    /// This and what follows: `None` where the agent says nothing of it.
    pub modes: Option<Modes>,
    pub options: Option<Vec<ConfigOption>>,
    /// The older list of models, as an option.
    pub model: Option<ConfigOption>,
    pub commands: Option<Vec<Command>>,
    /// Messages that it has from before; an agent need not tell them again.
    pub earlier: u64,
}

/// What the answer to a prompt says.
#[derive(Clone, Debug, PartialEq)]
pub enum PromptAnswer {
    /// The turn is over.
    Ended(PromptResult),
    /// The same with all that was said in it, for an agent that did not say it before.
    Said { result: PromptResult, text: String },
    /// The prompt is a part of the conversation now, under this id; that the turn is over will be said by an update.
    Taken { message: Option<Arc<str>> },
    /// The prompt is no part of the conversation; what the agent does besides goes on.
    NotTaken(CallError),
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptResult {
    pub stop: Stop,
    /// As reported, unlabelled.
    pub usage: Option<Value>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    EndTurn,
    MaxTokens,
    MaxTurnRequests,
    Refusal,
    Cancelled,
    /// Missing (`None`) or unknown.
    Odd(Option<String>),
}

/// Something of the agent's that can be ended alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Item {
    Tool(ToolId),
    /// By the agent's name of it.
    Terminal(String),
}

/// What the person wants; the only thing a front end can ask for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Intent {
    /// A further agent, started with a session in this directory. Addressed to all. A front end gives the name under
    /// which it is configured and no variables; the engine puts in its command line and the names of its variables.
    AddAgent {
        command: String,
        #[serde(default)]
        env: Vec<String>,
        cwd: String,
        #[serde(default)]
        how: Opening,
        /// Put in by the engine, too; without it the agent is spoken to like the first one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        protocol: Option<Protocol>,
    },
    /// A further session of the agent that it is addressed to.
    OpenSession {
        cwd: String,
        #[serde(default)]
        how: Opening,
    },
    /// The session that is not open is asked for in this way: once its agent is started, or at once when the agent has
    /// refused it, or has ended.
    OpenAs(Opening),
    /// The session in which nothing was said continues another: an account of that is in its composer again.
    Follows(Before),
    /// What the session has under way is stopped, and everything is answered.
    CloseSession,
    /// What was asked aside becomes a session like any other.
    KeepAside,
    /// The agent is asked which sessions it has kept; with a directory, which of those in it.
    ListSessions {
        cwd: Option<String>,
    },
    /// The agent is to forget a session. The front end has asked the person.
    DeleteSession {
        id: SessionId,
    },
    Start,
    Prompt {
        text: String,
        links: Vec<Link>,
    },
    /// The agent is to have these words now: in the running turn where it takes that, else that turn is stopped for them.
    Steer {
        text: String,
        links: Vec<Link>,
    },
    Cancel,
    /// The session that the agent has begun, and that stands in this entry, is to stop.
    StopChild {
        entry: EntryId,
    },
    Answer {
        req: ReqId,
        option: String,
    },
    /// What the person says to a form, or to a page that they are to visit.
    AnswerAsked {
        req: ReqId,
        reply: Reply,
    },
    Rules(RuleWish),
    /// The question is refused, this once. Why is the next prompt, when the turn is over.
    Refuse {
        req: ReqId,
        reason: String,
    },
    /// The same of a question that nobody is there to answer any more: the input has ended.
    RefuseLeft(ReqId),
    /// How writes and commands are let through from now on.
    SetGate(Gate),
    /// What is allowed and refused without a question from now on.
    SetPermissionMode(ModeChoice),
    /// The session's agent is to call it so, where it takes that.
    SetTitle {
        title: String,
    },
    /// A server of tools is given to the agent, or not, when the session is opened the next time.
    SwitchServer {
        name: String,
        on: bool,
    },
    SetMode {
        id: String,
    },
    SetOption {
        id: String,
        value: OptionValue,
    },
    /// The person wants to log in, although nothing was refused.
    LogIn,
    /// By this method: a call, or a command in a terminal.
    Authenticate {
        method: String,
    },
    /// Stop waiting for the log-in: a call stays open on the wire, a command is ended.
    LeaveAuthentication,
    /// The agent is to forget who the person is, where it can.
    LogOut,
    /// Who the agent says is logged in, once more.
    AskAuthStatus,
    Restart,
    /// An agent that has ended is not started again by itself.
    LetRest,
    KillAgent,
    KillTerminal {
        term: TermId,
    },
    /// One thing that the agent does is to end, and not the turn.
    CancelItem(Item),
    /// Take the prompts that wait back into the composer.
    TakeBack,
    /// What becomes of one of them.
    Queue(QueueAct),
    /// A command of the person's own is run in the session's directory.
    Shell(String),
    /// It is not shown any more, and ended where it runs.
    ForgetShell(TermId),
    Review(super::changes::ReviewAction),
}

impl Intent {
    /// Whom it concerns when the person means this session of this agent.
    pub fn at(&self, session: SessionKey, agent: AgentKey) -> Address {
        match self {
            Self::AddAgent { .. } => Address::All,
            Self::OpenSession { .. }
            | Self::ListSessions { .. }
            | Self::DeleteSession { .. }
            | Self::Start
            | Self::KillAgent
            | Self::LogIn
            | Self::LogOut
            | Self::AskAuthStatus
            | Self::LetRest
            | Self::Authenticate { .. }
            | Self::LeaveAuthentication => agent.into(),
            _ => session.into(),
        }
    }

    /// Where it belongs while there is one agent with one session.
    pub fn home(&self) -> Address {
        self.at(SessionKey::FIRST, AgentKey::FIRST)
    }
}
