//! The pure part of the engine: frames in, lines out, the model in between.
//!
//! No IO and no clock, so a journal can be replayed through it. Invariants: our ids are matched only against our own
//! requests, and every request of the agent is answered exactly once or dies with the connection.

use crate::agent::codec::{Decoded, Handshake, Said, SharedCodec, Told};
use crate::base::limits::{self, MAX_NAME};
use crate::model::Model;
use crate::model::agent::Agent;
use crate::model::changes::Gate;
use crate::model::effect::{Answer, Call, Effect};
use crate::model::event::{AgentEvent, CallError, ErrorKind, Event, Hint, InitResult, Odd};
use crate::model::ids::{Address, Addressed, AgentKey, Now, ReqId, SessionKey, TurnId};
use crate::model::options::OptionValue;
use crate::model::reduce::reduce;
use crate::model::refusal::{Reason, Refusal};
use crate::wire::frame::{self, Frame, RawId};
use crate::wire::head;
use crate::wire::peer::Peer;
use crate::wire::rpc_error::RpcError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Requests of the agent that may wait for an answer at once; more are refused.
const MAX_OPEN: usize = 4096;
/// Bytes of these requests; one more is taken while there are fewer.
const MAX_OPEN_BYTES: usize = 64 << 20;
/// Characters of a message that cannot be used that are kept for display.
const HEAD: usize = 300;
/// The same while somebody logs in.
const LOGIN_HEAD: usize = 4000;

/// What is kept of a line that is printed while somebody logs in.
pub fn login_line(line: &str) -> String {
    line.chars().take(LOGIN_HEAD).collect()
}

/// What one of our requests was for.
#[derive(Debug, Clone)]
enum Tag {
    Initialize,
    NewSession(SessionKey),
    Prompt(SessionKey, TurnId),
    SetMode(SessionKey, String),
    SetOption(SessionKey, String, OptionValue),
    Authenticate(String),
}

#[derive(Debug)]
struct Open {
    id: RawId,
    method: String,
    bytes: usize,
}

/// What is to be done outside.
#[derive(Debug)]
pub enum Out {
    Line(Line),
    Do(Addressed<Effect>),
}

/// A line for the agent, and what the journal shall hold instead where the line carries bulk.
#[derive(Debug)]
pub struct Line {
    pub text: String,
    pub journal: Option<String>,
}

impl Line {
    fn plain(text: String) -> Self {
        Self { text, journal: None }
    }
}

#[derive(Debug)]
pub struct Core {
    pub model: Model,
    codec: SharedCodec,
    /// What every connection begins with.
    first: SharedCodec,
    /// The agent was started once more to be spoken to in another way; that is done once.
    reconnected: bool,
    /// The agent whose connection this is.
    agent: AgentKey,
    cwd: PathBuf,
    peer: Peer<Tag>,
    open: BTreeMap<ReqId, Open>,
    next_req: u64,
    /// Id of the `authenticate` that is on its way.
    authenticate: Option<u64>,
    /// Events applied so far.
    version: u64,
}

impl Core {
    pub fn new(model: Model, cwd: PathBuf, codec: SharedCodec) -> Self {
        let first = Arc::clone(&codec);
        Self {
            model,
            codec,
            first,
            reconnected: false,
            agent: AgentKey::FIRST,
            cwd,
            peer: Peer::new(),
            open: BTreeMap::new(),
            next_req: 0,
            authenticate: None,
            version: 0,
        }
    }

    /// How the agent is spoken to now.
    pub fn codec(&self) -> &SharedCodec {
        &self.codec
    }

    /// Every connection from now on begins with this codec.
    pub fn speak(&mut self, codec: SharedCodec) {
        self.first = Arc::clone(&codec);
        self.codec = codec;
    }

    pub fn agent(&self) -> AgentKey {
        self.agent
    }

    /// Changes whenever anything has been applied to the model.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// What the header of a journal says of the session that is replayed.
    pub fn begin_as(&mut self, review: bool, gate: Gate) {
        self.model = std::mem::take(&mut self.model).with_review(review).with_gate(gate);
    }

    /// Applies what the next one of its sort replaces, and what is in no journal.
    pub fn hint(&mut self, at: SessionKey, hint: Hint, now: Now) {
        // There is nothing to do for one.
        reduce(&mut self.model, Addressed::new(at, Event::Hint(hint)), now);
    }

    /// Applies an event that is no frame.
    pub fn event(&mut self, event: Addressed<Event>, now: Now) -> Vec<Out> {
        self.version += 1;
        let effects = reduce(&mut self.model, event, now);
        let dead = self.model.agent_of(self.agent).is_some_and(Agent::is_dead);
        let mut out = Vec::new();
        for effect in effects {
            // An agent that is let go, and not lost, still gets its answers.
            if effect.what == Effect::EndAgent && effect.at == Address::Agent(self.agent) && !dead {
                out.extend(self.answer_open().into_iter().map(Out::Line));
            }
            out.extend(self.effect(effect));
        }
        if dead {
            // Nothing is answered after the end of the connection.
            self.forget_connection();
        }
        out
    }

    /// Applies what the agent itself has said.
    fn said(&mut self, event: AgentEvent, now: Now) -> Vec<Out> {
        self.event(Addressed::new(self.agent, Event::Agent(event)), now)
    }

    /// Applies one frame of the agent. `line` is its text.
    pub fn frame(&mut self, frame: Frame, line: &str, now: Now) -> Vec<Out> {
        // Addresses to visit are long.
        let keep = if self.model.hears_log_in(self.agent) { LOGIN_HEAD } else { HEAD };
        let odd = |what| AgentEvent::Odd { what, head: line.chars().take(keep).collect() };
        let event = match frame {
            Frame::Notification { method, params } => {
                let params = params.as_ref().map_or("null", |p| p.as_str());
                match self.codec.told(method.as_str(), params) {
                    Told::Update(decoded) => return self.update(decoded, line, now),
                    Told::Withdrawn(id) => match self.open.iter().find(|(_, open)| open.id == id) {
                        Some((req, _)) => AgentEvent::RequestWithdrawn(*req),
                        None => return Vec::new(),
                    },
                    Told::Unknown => odd(Odd::Unknown),
                }
            }
            Frame::Request { id, method, params } => {
                let params = params.as_ref().map_or("null", |p| p.as_str());
                match self.request(id, method.as_str().to_owned(), params) {
                    Ok(event) => event,
                    Err(line) => return vec![Out::Line(line)],
                }
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
                    let mut out = Vec::new();
                    if !offered.is_empty() {
                        out = self.said(AgentEvent::MethodsOffered(offered), now);
                    }
                    out.extend(self.response(tag, outcome, now));
                    return out;
                }
                None => odd(Odd::LateResponse),
            },
            Frame::MalformedResponse { id, why } => match id.and_then(|id| self.peer.resolve(&id)) {
                Some((tag, call)) => {
                    let error = CallError::new(ErrorKind::Other, format!("malformed response: {why}"));
                    return self.response(tag, Err(CallError { call, ..error }), now);
                }
                None => odd(Odd::Malformed),
            },
            Frame::Invalid { id, code, why } => {
                let id = id.unwrap_or_else(RawId::null);
                let line = frame::response_err(&id, &RpcError::new(code, why));
                let mut out = self.said(odd(Odd::Malformed), now);
                out.push(Out::Line(Line::plain(line)));
                return out;
            }
            Frame::Stray => odd(Odd::Stray),
            Frame::TooLong { dropped } => return self.too_long(line, dropped, now),
        };
        self.said(event, now)
    }

    /// Applies an update that has been decoded. `line` is its text.
    pub fn update(&mut self, decoded: Decoded, line: &str, now: Now) -> Vec<Out> {
        let event = match decoded {
            Ok((session, update)) => AgentEvent::Update { session, update },
            Err(_) => AgentEvent::Odd { what: Odd::Malformed, head: line.chars().take(HEAD).collect() },
        };
        self.said(event, now)
    }

    /// A line above the limit: if its head names a request of ours, that fails; if it was a request, it is refused
    ///
    fn too_long(&mut self, head: &str, dropped: u64, now: Now) -> Vec<Out> {
        let facts = head::scan(head);
        let why = format!("a message of more than {dropped} bytes was discarded");
        let odd = AgentEvent::Odd { what: Odd::TooLong, head: head.chars().take(HEAD).collect() };
        let mut out = self.said(odd, now);
        if let Some((tag, call)) = self.peer.head_names(head.as_bytes()).and_then(|id| self.peer.close(id)) {
            let error = CallError::new(ErrorKind::Other, why);
            out.extend(self.response(tag, Err(CallError { call, ..error }), now));
        } else if let (Some(id), Some(_)) = (facts.id, facts.method) {
            out.push(Out::Line(self.refusal(&id, Reason::TooLong, why)));
        }
        out
    }

    fn refusal(&self, id: &RawId, why: Reason, message: impl Into<String>) -> Line {
        Line::plain(frame::response_err(id, &self.codec.refuse(&Refusal::new(why, message))))
    }

    fn request(&mut self, id: RawId, method: String, params: &str) -> Result<AgentEvent, Line> {
        if self.open.len() >= MAX_OPEN {
            let why = format!("{MAX_OPEN} requests are waiting for an answer already");
            return Err(self.refusal(&id, Reason::Failed, why));
        }
        if self.open.values().map(|open| open.bytes).sum::<usize>() > MAX_OPEN_BYTES {
            let why = "the requests that wait for an answer are too large already";
            return Err(self.refusal(&id, Reason::Failed, why));
        }
        let req = ReqId(self.next_req);
        self.next_req += 1;
        let (session, request) = self.codec.request(&method, params, req.0);
        let method = limits::cut(method, MAX_NAME);
        self.open.insert(req, Open { id, method, bytes: params.len() });
        Ok(AgentEvent::Request { req, session, request })
    }

    /// Applies the answer to a call of ours, addressed to whoever it was made for.
    fn response(&mut self, tag: Tag, outcome: Result<&str, CallError>, now: Now) -> Vec<Out> {
        let (at, event): (Address, _) = match tag {
            Tag::Initialize => {
                return match outcome.map(|result| self.codec.handshake(result)) {
                    Ok(Handshake::Accepted(init)) => self.initialized(Ok(init), now),
                    Ok(Handshake::Reconnect(codec)) => self.reconnect(codec, now),
                    Ok(Handshake::Refused(error)) | Err(error) => self.initialized(Err(error), now),
                };
            }
            Tag::NewSession(at) => {
                (at.into(), AgentEvent::SessionOpened(outcome.and_then(|result| self.codec.new_session(result))))
            }
            Tag::Prompt(at, turn) => {
                let result = outcome.map(|result| self.codec.prompt(result));
                (at.into(), AgentEvent::PromptDone { turn, result })
            }
            Tag::SetMode(at, mode) => (at.into(), AgentEvent::ModeSet { mode, result: outcome.map(|_| ()) }),
            Tag::SetOption(at, option, value) => {
                let result = outcome.map(|result| self.codec.set_option(result));
                (at.into(), AgentEvent::OptionSet { option, value, result })
            }
            Tag::Authenticate(method) => {
                self.authenticate = None;
                (self.agent.into(), AgentEvent::Authenticated { method, result: outcome.map(|_| ()) })
            }
        };
        self.event(Addressed { at, what: Event::Agent(event) }, now)
    }

    fn initialized(&mut self, result: Result<InitResult, CallError>, now: Now) -> Vec<Out> {
        self.said(AgentEvent::Initialized(result), now)
    }

    /// Has the agent started once more, to be spoken to in another way.
    fn reconnect(&mut self, codec: SharedCodec, now: Now) -> Vec<Out> {
        if std::mem::replace(&mut self.reconnected, true) {
            let error =
                CallError::new(ErrorKind::WrongVersion, "the agent cannot settle for a version of the protocol");
            return self.initialized(Err(error), now);
        }
        self.forget_connection();
        self.codec = codec;
        vec![Out::Do(Addressed::new(self.agent, Effect::SpawnAgent))]
    }

    /// Turns what concerns the wire into lines; the rest is handed on.
    fn effect(&mut self, effect: Addressed<Effect>) -> Option<Out> {
        if !self.is_ours(effect.at) {
            return Some(Out::Do(effect));
        }
        let at = effect.at;
        match effect.what {
            Effect::Call(call) => self.call(at, call),
            Effect::CancelTurn(session) => notification(self.codec.cancel_turn(&session)),
            Effect::WithdrawAuthenticate => {
                let id = self.authenticate.take()?;
                notification(self.codec.withdraw(id))
            }
            Effect::Respond { req, answer } => self.respond(req, &answer).map(Out::Line),
            Effect::Void(req) => {
                self.open.remove(&req);
                None
            }
            Effect::SpawnAgent => {
                self.forget_connection();
                self.reconnected = false;
                self.codec = Arc::clone(&self.first);
                Some(Out::Do(Addressed { at, what: Effect::SpawnAgent }))
            }
            what => Some(Out::Do(Addressed { at, what })),
        }
    }

    /// Whether what has this address goes over this connection.
    fn is_ours(&self, at: Address) -> bool {
        match at {
            Address::All => true,
            Address::Agent(key) => key == self.agent,
            Address::Session(key) => self.model.session_of(key).is_some_and(|session| session.agent == self.agent),
        }
    }

    /// Nothing negotiated and nothing open carries over to the next connection.
    fn forget_connection(&mut self) {
        self.peer.drain();
        self.open.clear();
        self.authenticate = None;
    }

    fn call(&mut self, at: Address, call: Call) -> Option<Out> {
        let session = if let Address::Session(key) = at { Some(key) } else { None };
        // The first session's directory may have a name that is no text.
        let further = session.filter(|key| *key != SessionKey::FIRST).and_then(|key| self.model.session_of(key));
        let cwd = further.map_or(self.cwd.as_path(), |session| Path::new(&session.cwd));
        let (method, params) = self.codec.call(&call, cwd).ok()?;
        let tag = match call {
            Call::Initialize => Tag::Initialize,
            Call::NewSession => Tag::NewSession(session?),
            Call::Prompt { turn, .. } => Tag::Prompt(session?, turn),
            Call::SetMode { mode, .. } => Tag::SetMode(session?, mode),
            Call::SetOption { option, value, .. } => Tag::SetOption(session?, option, value),
            Call::Authenticate { method } => Tag::Authenticate(method),
        };
        let is_authenticate = matches!(tag, Tag::Authenticate(_));
        let id = self.peer.begin(tag, &method);
        if is_authenticate {
            self.authenticate = Some(id);
        }
        frame::request(id, &method, &params).ok().map(Line::plain).map(Out::Line)
    }

    /// The journal does not hold what an agent reads: neither the text of files, nor that of terminals, of which it has
    /// the kept end once, at the exit.
    pub fn respond(&mut self, req: ReqId, answer: &Answer) -> Option<Line> {
        let Open { id, method, .. } = self.open.remove(&req)?;
        let line = |answer: &Answer| match self.codec.answer(&method, answer) {
            Ok(result) => frame::response_ok(&id, &result).ok(),
            Err(error) => Some(frame::response_err(&id, &error)),
        };
        let text = line(answer)?;
        Some(Line { text, journal: answer.without_texts().and_then(|brief| line(&brief)) })
    }

    /// On the way out every open request gets an answer.
    pub fn answer_all(&mut self) -> Vec<Line> {
        let mut lines = Vec::new();
        for (_, session) in self.model.sessions_of(self.agent).filter(|(_, session)| session.turn.is_some()) {
            let said = session.id.as_ref().map(|id| self.codec.cancel_turn(id));
            if let Some(Out::Line(line)) = said.and_then(notification) {
                lines.push(line);
            }
        }
        lines.extend(self.answer_open());
        lines
    }

    fn answer_open(&mut self) -> Vec<Line> {
        let open: Vec<(ReqId, Answer)> =
            self.open.iter().map(|(req, open)| (*req, self.codec.unanswered(&open.method))).collect();
        open.iter().filter_map(|(req, answer)| self.respond(*req, answer)).collect()
    }
}

fn notification((method, params): Said) -> Option<Out> {
    frame::notification(&method, &params).ok().map(Line::plain).map(Out::Line)
}
