//! The connection to one agent, without its bytes: what a frame means, what is called, and who waits for an answer.
//!
//! No IO, no clock and no model: it tells what is to be applied. Invariants: our ids are matched only against our own
//! requests over this connection; every request of the agent is answered exactly once or dies with the connection.

use super::calls::{ReqIds, Tag};
use crate::agent::codec::{Decoded, Handshake, Said, SharedCodec, Told, Updated};
use crate::base::limits::{self, MAX_NAME};
use crate::base::transport::Reached;
use crate::mcp::{ResolvedServer, Server};
use crate::model::effect::{Answer, Call};
use crate::model::event::{
    AgentEvent, AgentRequest, CallError, Dialect, ErrorKind, InitResult, Odd, PermissionKind, PermissionOption,
};
use crate::model::ids::{Address, Addressed, AgentKey, ReqId, SessionId, SessionKey};
use crate::model::login::Secret;
use crate::model::options::{OLDER_MODELS, OptionValue};
use crate::model::refusal::{Reason, Refusal};
use crate::wire::frame::{self, Frame, RawId};
use crate::wire::head;
use crate::wire::peer::Peer;
use crate::wire::rpc_error::{INVALID_REQUEST, RpcError};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Requests of the agent that may wait for an answer at once; more are refused.
const MAX_OPEN: usize = 4096;
/// Bytes of these requests; one more is taken while there are fewer.
const MAX_OPEN_BYTES: usize = 64 << 20;
/// Answers that may be missing to what an agent is told of its commands' output.
const MAX_TOLD: usize = 4;
/// Characters of a message that cannot be used that are kept for display.
pub(super) const HEAD: usize = 300;

#[derive(Debug)]
struct Open {
    id: RawId,
    method: String,
    bytes: usize,
    /// The call of ours that it is made for.
    call: Option<u64>,
    /// The dialect that it is made in, where that is another than the agent is spoken to in.
    codec: Option<SharedCodec>,
    /// The option that refuses once, or for good.
    no: Option<String>,
}

/// A line for an agent, and what the journal shall hold instead where the line carries bulk.
#[derive(Debug)]
pub struct Line {
    pub agent: AgentKey,
    pub text: String,
    /// What the journal holds instead.
    pub journal: Option<String>,
    /// What a recording holds instead, and the list of messages: there are secrets in the line.
    pub recorded: Option<String>,
    /// It opens a session, and can still be given servers.
    pub opens: Option<Box<Opens>>,
}

/// A call that opens a session, before it is known which servers the agent is given.
#[derive(Debug)]
pub struct Opens {
    pub at: SessionKey,
    id: u64,
    method: Cow<'static, str>,
    params: Value,
}

/// What follows from a frame, in its order.
#[derive(Debug)]
pub(super) enum Heard {
    Event(Addressed<AgentEvent>),
    Line(Line),
    /// The agent has to be started once more, to be spoken to in another way.
    Reconnect(AgentEvent),
}

/// What follows from one frame: no list of its own for each of the very many.
pub(super) type Heards = [Option<Heard>; 3];

#[derive(Debug)]
pub(super) struct Connection {
    agent: AgentKey,
    codec: SharedCodec,
    /// What every process begins with.
    first: SharedCodec,
    /// Another version may be spoken where the agent refuses the first.
    may_change: bool,
    /// The agent was started once more to be spoken to in another way; that is done once.
    reconnected: bool,
    /// Our requests that wait for an answer.
    pub(super) peer: Peer<Tag>,
    open: BTreeMap<ReqId, Open>,
    /// Attempt and id of the `authenticate` that is on its way and that a log-in waits for.
    authenticate: Option<(u64, u64)>,
    /// What the person has typed to log in. It is in memory only, and outlives a process of the agent.
    pub(super) credentials: Vec<(String, Secret)>,
    /// How often it was told what commands have printed without having answered yet.
    told: usize,
    /// It does not know what that is.
    wants_no_output: bool,
}

impl Connection {
    pub fn new(agent: AgentKey, codec: SharedCodec, may_change: bool) -> Self {
        let first = Arc::clone(&codec);
        let (peer, open) = (Peer::new(), BTreeMap::new());
        let (authenticate, credentials) = (None, Vec::new());
        let (reconnected, told, wants_no_output) = (false, 0, false);
        Self {
            agent,
            codec,
            first,
            may_change,
            reconnected,
            peer,
            open,
            authenticate,
            credentials,
            told,
            wants_no_output,
        }
    }

    /// How the agent is spoken to now.
    pub fn codec(&self) -> &SharedCodec {
        &self.codec
    }

    /// Every process from now on is spoken to like this at first.
    pub fn speak(&mut self, codec: SharedCodec, may_change: bool) {
        self.first = Arc::clone(&codec);
        self.may_change = may_change;
        self.codec = codec;
    }

    /// A process that is started because the person or the model wants it.
    pub fn begin_anew(&mut self) {
        self.forget();
        self.reconnected = false;
        self.codec = Arc::clone(&self.first);
    }

    /// Nothing negotiated and nothing open carries over to the next connection.
    pub fn forget(&mut self) {
        self.peer.drain();
        self.open.clear();
        self.authenticate = None;
        (self.told, self.wants_no_output) = (0, false);
    }

    /// Whether it is to be told what commands print (S-036).
    pub fn hears_output(&self) -> bool {
        !self.wants_no_output && self.codec.printed("", "").is_some()
    }

    /// Whether it has answered most of what it was told of that.
    pub fn keeps_up(&self) -> bool {
        self.told < MAX_TOLD
    }

    /// That a command has printed this. The journal has the end of what it prints once, at its exit.
    pub fn printed(&mut self, term: &str, text: &str) -> Option<Line> {
        if !self.hears_output() {
            return None;
        }
        let (method, params) = self.codec.printed(term, text)?;
        let (_, brief) = self.codec.printed(term, "")?;
        let id = self.peer.begin(Tag::Printed, &method);
        self.told += 1;
        let text = frame::request(id, &method, &params).ok()?;
        Some(Line { journal: frame::request(id, &method, &brief).ok(), ..self.line(text) })
    }

    /// It has answered to that, or cannot.
    fn has_heard_output(&mut self, is_unknown: bool) {
        self.told = self.told.saturating_sub(1);
        self.wants_no_output |= is_unknown;
    }

    /// Whether a request with this id waits here.
    pub fn waits(&self, req: ReqId) -> bool {
        self.open.contains_key(&req)
    }

    /// Forgets a request without an answer.
    pub fn void(&mut self, req: ReqId) {
        self.open.remove(&req);
    }

    /// Takes one frame of the agent. `line` is its text, of which `keep` characters are kept where it is of no use.
    pub fn hear(&mut self, frame: Frame, line: &str, keep: usize, ids: &mut ReqIds) -> Heards {
        let odd = |what| AgentEvent::Odd { what, head: line.chars().take(keep).collect() };
        let event = match frame {
            Frame::Notification { method, params } => {
                let params = params.as_ref().map_or("null", |p| p.as_str());
                match self.codec.told(method.as_str(), params) {
                    Told::Update(decoded) => return self.updated(decoded, line),
                    Told::Withdrawn(id) => match self.open.iter().find(|(_, open)| open.id == id) {
                        Some((req, _)) => AgentEvent::RequestWithdrawn(*req),
                        None => return [None, None, None],
                    },
                    Told::PageDone(page) => AgentEvent::PageDone(page),
                    Told::AuthStatus { status, is_extension } => AgentEvent::AuthStatusTold { status, is_extension },
                    Told::Unknown => odd(Odd::Unknown),
                }
            }
            Frame::Request { id, .. } if self.has_no_null_ids() && id == RawId::null() => {
                return self.refuse_frame(odd(Odd::Malformed), "the id is null");
            }
            Frame::Request { id, method, params } => {
                let params = params.as_ref().map_or("null", |p| p.as_str());
                // No method that is known is longer.
                return match self.request(id, limits::cut(method.as_str(), MAX_NAME), params, ids) {
                    Ok((event, speaks)) => [speaks, Some(self.said(event)), None],
                    Err(line) => [Some(Heard::Line(line)), None, None],
                };
            }
            Frame::Response { id, outcome } => match self.peer.resolve(&id) {
                Some((tag, call)) => {
                    let (outcome, offered) = match &outcome {
                        Ok(result) => (Ok(result.as_str()), Vec::new()),
                        Err(error) => {
                            let (error, offered) = self.codec.error(error);
                            (Err(CallError { call, ..error }), offered)
                        }
                    };
                    if let Tag::Printed = tag {
                        self.has_heard_output(outcome.is_err_and(|error| error.kind == ErrorKind::Unsupported));
                        return [None, None, None];
                    }
                    let offered = (!offered.is_empty()).then(|| self.said(AgentEvent::MethodsOffered(offered)));
                    return [offered, Some(self.response(tag, outcome)), self.moot(&id)];
                }
                None => odd(Odd::LateResponse),
            },
            Frame::MalformedResponse { id, why } => match id.and_then(|id| self.peer.resolve(&id)) {
                Some((tag, call)) => {
                    let error = CallError::new(ErrorKind::Other, format!("malformed response: {why}"));
                    return [Some(self.response(tag, Err(CallError { call, ..error }))), None, None];
                }
                None => odd(Odd::Malformed),
            },
            Frame::Invalid { id, code, why } => {
                let id = id.unwrap_or_else(RawId::null);
                let line = self.line(frame::response_err(&id, &RpcError::new(code, why)));
                return [Some(self.said(odd(Odd::Malformed))), Some(Heard::Line(line)), None];
            }
            Frame::Stray if self.has_no_null_ids() && is_array(line) => {
                return self.refuse_frame(odd(Odd::Malformed), "an array of messages");
            }
            Frame::Stray => odd(Odd::Stray),
            Frame::TooLong { dropped } => return self.too_long(line, dropped),
        };
        [Some(self.said(event)), None, None]
    }

    /// Version 2 knows neither ids that are null nor several messages in an array (V2-013, V2-014).
    fn has_no_null_ids(&self) -> bool {
        self.codec.version() > 1
    }

    fn refuse_frame(&self, odd: AgentEvent, why: &str) -> Heards {
        let error = RpcError::new(INVALID_REQUEST, why);
        let line = self.line(frame::response_err(&RawId::null(), &error));
        [Some(self.said(odd)), Some(Heard::Line(line)), None]
    }

    /// What the agent asked for the sake of this call of ours, which is answered now.
    fn moot(&self, answered: &RawId) -> Option<Heard> {
        let number = answered.as_u64()?;
        let moot: Vec<ReqId> =
            self.open.iter().filter(|(_, open)| open.call == Some(number)).map(|(req, _)| *req).collect();
        (!moot.is_empty()).then(|| self.said(AgentEvent::RequestsMoot(moot)))
    }

    /// An update that has been decoded. `line` is its text.
    pub fn updated(&mut self, decoded: Decoded, line: &str) -> Heards {
        match decoded {
            Ok(Updated { session, update, dialect }) => {
                let speaks = self.speaks(dialect, "its updates have that form");
                [speaks, Some(self.said(AgentEvent::Update { session, update })), None]
            }
            Err(_) => {
                let head = line.chars().take(HEAD).collect();
                [Some(self.said(AgentEvent::Odd { what: Odd::Malformed, head })), None, None]
            }
        }
    }

    /// From its first message in a dialect on an agent is spoken to in that, where it is not decided yet (S-002).
    fn speaks(&mut self, dialect: Dialect, evidence: &'static str) -> Option<Heard> {
        self.codec = self.codec.locked(dialect)?;
        Some(self.said(AgentEvent::Speaks { dialect, evidence }))
    }

    /// What the agent itself has said.
    fn said(&self, event: AgentEvent) -> Heard {
        Heard::Event(Addressed::new(self.agent, event))
    }

    /// A line above the limit: if its head names a request of ours, that fails; if it was a request, it is refused
    ///
    fn too_long(&mut self, head: &str, dropped: u64) -> Heards {
        let facts = head::scan(head);
        let why = format!("a message of more than {dropped} bytes was discarded");
        let odd = AgentEvent::Odd { what: Odd::TooLong, head: head.chars().take(HEAD).collect() };
        let odd = self.said(odd);
        let answer = if let Some((tag, call)) = self.peer.head_names(head.as_bytes()).and_then(|id| self.peer.close(id))
        {
            let error = CallError::new(ErrorKind::Other, why);
            Some(self.response(tag, Err(CallError { call, ..error })))
        } else if let (Some(id), Some(_)) = (facts.id, facts.method) {
            Some(Heard::Line(self.refusal(&id, Reason::TooLong, why)))
        } else {
            None
        };
        [Some(odd), answer, None]
    }

    fn line(&self, text: String) -> Line {
        Line { agent: self.agent, text, journal: None, recorded: None, opens: None }
    }

    fn refusal(&self, id: &RawId, why: Reason, message: impl Into<String>) -> Line {
        self.line(frame::response_err(id, &self.codec.refuse(&Refusal::new(why, message))))
    }

    fn request(
        &mut self,
        id: RawId,
        method: String,
        params: &str,
        ids: &mut ReqIds,
    ) -> Result<(AgentEvent, Option<Heard>), Line> {
        if self.open.len() >= MAX_OPEN {
            let why = format!("{MAX_OPEN} requests are waiting for an answer already");
            return Err(self.refusal(&id, Reason::Failed, why));
        }
        if self.open.values().map(|open| open.bytes).sum::<usize>() > MAX_OPEN_BYTES {
            let why = "the requests that wait for an answer are too large already";
            return Err(self.refusal(&id, Reason::Failed, why));
        }
        let req = ids.next();
        let other = self.codec.asked_in(&method, params);
        let (session, request) = other.as_ref().unwrap_or(&self.codec).request(&method, params, req.0);
        let call = if let AgentRequest::Ask { call, .. } = &request { *call } else { None };
        let (no, dialect) = match &request {
            AgentRequest::Permission { options, .. } => (no(options), other.as_ref().map(|codec| codec.dialect())),
            // What is missing here may have been forgotten; it decides nothing.
            _ => (None, None),
        };
        self.open.insert(req, Open { id, method, bytes: params.len(), call, codec: other, no });
        let speaks = dialect.and_then(|dialect| self.speaks(dialect, "its questions have that form"));
        Ok((AgentEvent::Request { req, session, request: request.into() }, speaks))
    }

    /// The answer to a call of ours, addressed to the session or agent of the call.
    fn response(&mut self, tag: Tag, outcome: Result<&str, CallError>) -> Heard {
        let (at, event): (Address, _) = match tag {
            Tag::Initialize => {
                return match outcome.map(|result| self.codec.handshake(result)) {
                    Ok(Handshake::Accepted(init)) => self.initialized(Ok(init)),
                    // It is not started a third time: it goes on without what it would have been told then (S-006).
                    Ok(Handshake::Reconnect(codec, init)) if !self.reconnected => self.reconnect(codec, init.evidence),
                    Ok(Handshake::Locked(codec, init) | Handshake::Reconnect(codec, init)) => {
                        self.codec = codec;
                        self.initialized(Ok(init))
                    }
                    Ok(Handshake::Refused(error)) => self.initialized(Err(error)),
                    Err(error) => self.not_initialized(error),
                };
            }
            Tag::OpenSession(at, how) => {
                let result = outcome.and_then(|result| self.codec.opened(&how, result));
                (at.into(), AgentEvent::SessionOpened(result.map(Box::new)))
            }
            Tag::Prompt(at, turn) => {
                let result = match outcome {
                    Ok(result) => self.codec.prompt(result),
                    Err(error) => self.codec.prompt_refused(error),
                };
                (at.into(), AgentEvent::PromptAnswered { turn, result })
            }
            Tag::SetMode(at, mode) => (at.into(), AgentEvent::ModeSet { mode, result: outcome.map(|_| ()) }),
            Tag::SetOption(at, option, value) => {
                let result = outcome.map(|result| self.codec.set_option(result));
                (at.into(), AgentEvent::OptionSet { option, value, result })
            }
            Tag::ListSessions(attempt) => {
                let result = outcome.and_then(|result| self.codec.listed(result));
                (self.agent.into(), AgentEvent::SessionsListed { attempt, result })
            }
            Tag::CancelItem(at) => (at.into(), AgentEvent::ItemCancelled(outcome.map(|_| ()))),
            Tag::Steer(at, words) => {
                let result = outcome.map(|result| self.codec.steered(result));
                (at.into(), AgentEvent::Steered { words, result })
            }
            Tag::Printed => {
                self.has_heard_output(false);
                (self.agent.into(), AgentEvent::Odd { what: Odd::Malformed, head: String::new() })
            }
            Tag::AuthStatus => {
                let result = outcome.map(|result| self.codec.auth_status(result));
                (self.agent.into(), AgentEvent::AuthStatus(result))
            }
            Tag::LogOut => (self.agent.into(), AgentEvent::LoggedOut(outcome.map(|_| ()))),
            Tag::CloseSession(at) => (at.into(), AgentEvent::SessionClosed(outcome.map(|_| ()))),
            Tag::SetTitle(at) => (at.into(), AgentEvent::TitleSet(outcome.map(|result| self.codec.titled(result)))),
            Tag::DeleteSession(id) => {
                (self.agent.into(), AgentEvent::SessionDeleted { id, result: outcome.map(|_| ()) })
            }
            Tag::Authenticate(attempt) => {
                self.authenticate.take_if(|(newest, _)| *newest == attempt);
                let result = outcome.and_then(|result| self.codec.authenticated(result));
                (self.agent.into(), AgentEvent::Authenticated { attempt, result })
            }
        };
        Heard::Event(Addressed { at, what: event })
    }

    fn initialized(&self, result: Result<InitResult, CallError>) -> Heard {
        self.said(AgentEvent::Initialized(result))
    }

    /// An agent that refuses this version may name one that is spoken here, too.
    fn not_initialized(&mut self, error: CallError) -> Heard {
        let is_this = |codec: &SharedCodec| self.may_change || codec.version() == self.codec.version();
        match self.codec.other_version(&error).filter(is_this) {
            Some(codec) if error.kind == ErrorKind::WrongVersion || !self.reconnected => self.reconnect(codec, None),
            _ if error.kind == ErrorKind::WrongVersion => self.initialized(Err(self.codec.no_version(&error))),
            _ => self.initialized(Err(error)),
        }
    }

    /// The agent is to be started once more and spoken to in another way.
    fn reconnect(&mut self, codec: SharedCodec, evidence: Option<&'static str>) -> Heard {
        if std::mem::replace(&mut self.reconnected, true) {
            let error = CallError::new(ErrorKind::WrongVersion, "the agent cannot agree on a version of the protocol");
            return self.initialized(Err(error));
        }
        self.forget();
        let (version, dialect) = (codec.version(), codec.dialect());
        self.codec = codec;
        Heard::Reconnect(AgentEvent::Reconnecting { version, dialect, evidence })
    }

    /// The line of a call. `cwd` is the directory of the session that it is for.
    pub fn call(
        &mut self,
        at: Address,
        call: Call,
        cwd: &Path,
        directories: &[String],
        reached: Option<Reached>,
    ) -> Option<Line> {
        let session = if let Address::Session(key) = at { Some(key) } else { None };
        let (method, mut params) = self.codec.call(&call, cwd).ok()?;
        if matches!(call, Call::OpenSession(_)) && !directories.is_empty() {
            self.codec.reach(directories, &mut params);
        }
        if let (Call::Initialize, Some(reached)) = (&call, reached) {
            self.codec.withhold(reached, &mut params);
        }
        let mut brief = call.without_bytes().and_then(|call| self.codec.call(&call, cwd).ok());
        let is_secret = matches!(call, Call::Authenticate { .. }) && !self.credentials.is_empty();
        if is_secret {
            brief = Some((method.clone(), params.clone()));
            self.codec.present(&self.credentials, &mut params);
        }
        let tag = match call {
            Call::Initialize => Tag::Initialize,
            Call::OpenSession(how) => Tag::OpenSession(session?, how),
            Call::Prompt { turn, .. } => Tag::Prompt(session?, turn),
            Call::SetMode { mode, .. } => Tag::SetMode(session?, mode),
            Call::SetModel { model, .. } => Tag::SetOption(session?, OLDER_MODELS.to_owned(), OptionValue::Id(model)),
            Call::SetOption { option, value, .. } => Tag::SetOption(session?, option, value),
            Call::Authenticate { attempt, .. } => Tag::Authenticate(attempt),
            Call::CancelItem { .. } => Tag::CancelItem(session?),
            Call::Steer { words, .. } => Tag::Steer(session?, words),
            Call::LogOut => Tag::LogOut,
            Call::AuthStatus => Tag::AuthStatus,
            Call::ListSessions { attempt, .. } => Tag::ListSessions(attempt),
            Call::CloseSession(_) => Tag::CloseSession(session?),
            Call::DeleteSession(id) => Tag::DeleteSession(id),
            Call::SetTitle { .. } => Tag::SetTitle(session?),
        };
        let attempt = if let Tag::Authenticate(attempt) = tag { Some(attempt) } else { None };
        let opened = if let Tag::OpenSession(at, _) = tag { Some(at) } else { None };
        let id = self.peer.begin(tag, &method);
        self.authenticate = attempt.map(|attempt| (attempt, id)).or(self.authenticate);
        let text = frame::request(id, &method, &params).ok()?;
        let opens = opened.map(|at| Box::new(Opens { at, id, method, params }));
        let journal = brief.and_then(|(method, params)| frame::request(id, &method, &params).ok());
        let recorded = journal.clone().filter(|_| is_secret);
        Some(Line { journal, recorded, opens, ..self.line(text) })
    }

    /// The line that opens a session, with servers; the journal has them as they are written, without secrets.
    pub fn give(&self, line: Line, servers: &[ResolvedServer]) -> Line {
        let Some(opens) = line.opens.as_deref().filter(|_| !servers.is_empty()) else { return line };
        let request = |servers: &[&Server]| {
            let mut params = opens.params.clone();
            self.codec.give(servers, &mut params);
            frame::request(opens.id, &opens.method, &params).ok()
        };
        let masked: Vec<Server> = servers.iter().map(|given| given.written.masked()).collect();
        let text = request(&servers.iter().map(|given| &given.filled).collect::<Vec<_>>());
        let journal = request(&masked.iter().collect::<Vec<_>>());
        match text.zip(journal) {
            Some((text, journal)) => {
                Line { agent: line.agent, text, recorded: Some(journal.clone()), journal: Some(journal), opens: None }
            }
            None => line,
        }
    }

    pub fn cancel_turn(&self, session: &SessionId) -> Option<Line> {
        self.notification(self.codec.cancel_turn(session)?)
    }

    pub fn withdraw_authenticate(&mut self) -> Option<Line> {
        let (_, id) = self.authenticate.take()?;
        self.notification(self.codec.withdraw(id))
    }

    fn notification(&self, (method, params): Said) -> Option<Line> {
        frame::notification(&method, &params).ok().map(|text| self.line(text))
    }

    /// The journal does not hold what an agent reads: neither the text of files, nor that of terminals, of which it has
    /// the kept end once, at the exit.
    pub fn respond(&mut self, req: ReqId, answer: &Answer) -> Option<Line> {
        let Open { id, method, codec, no, .. } = self.open.remove(&req)?;
        let codec = codec.as_ref().unwrap_or(&self.codec);
        let dismissed = (*answer == Answer::Cancelled).then(|| codec.dismissed(&method, no.as_deref()));
        let answer = dismissed.as_ref().unwrap_or(answer);
        let line = |answer: &Answer| match codec.answer(&method, answer) {
            Ok(result) => frame::response_ok(&id, &result).ok(),
            Err(error) => Some(frame::response_err(&id, &error)),
        };
        let text = line(answer)?;
        let journal = answer.without_texts().and_then(|brief| line(&brief));
        // The recording has what was read and filled in, but nothing that was typed as a secret.
        let recorded = answer.as_recorded().and_then(|brief| line(&brief));
        Some(Line { journal, recorded, ..self.line(text) })
    }

    /// Answers everything that waits.
    pub fn answer_open(&mut self) -> Vec<Line> {
        let open: Vec<(ReqId, Answer)> =
            self.open.iter().map(|(req, open)| (*req, self.codec.unanswered(&open.method))).collect();
        open.iter().filter_map(|(req, answer)| self.respond(*req, answer)).collect()
    }
}

/// The option that refuses once, else the one that refuses for good.
fn no(options: &[PermissionOption]) -> Option<String> {
    let of = |kind| options.iter().find(|option| option.kind == kind).map(|option| option.id.clone());
    of(PermissionKind::RejectOnce).or_else(|| of(PermissionKind::RejectAlways))
}

/// Whether a line that is no message is a JSON array, and no line of a log that begins like one.
fn is_array(line: &str) -> bool {
    line.starts_with('[') && serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok()
}
