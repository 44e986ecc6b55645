//! One agent by itself: its start, the handshake, the log-in, its end.
//!
//! Sees no session: what follows for those is for `lifecycle`. Invariant: a log-in ends only with the answer to the
//! call that began it.

use super::Cx;
use crate::model::agent::{Agent, Connection, Death, DeathKind, Stray};
use crate::model::effect::{Answer, Call, Effect};
use crate::model::entry::{Block, DetailFold};
use crate::model::event::{AuthKind, AuthMethod, CallError, ErrorKind, InitResult, Odd, Timer, Update};
use crate::model::ids::{ReqId, SessionId, TermId};
use crate::model::login::{Attempt, How, LogIn};
use crate::model::refusal::{Reason, Refusal, Subject};
use crate::model::tool::Exit;
use crate::text::grid::ScreenSnapshot;
use std::sync::Arc;
use std::time::Duration;

/// How long a program that prints text may take to answer all the same; package runners print before they start one.
const EXPLAIN_AFTER: Duration = Duration::from_secs(3);
/// How long a request waits for its session to be opened: an agent may wait for the answer before it opens one.
const EARLY_PATIENCE: Duration = Duration::from_secs(3);
/// Messages that are kept until `session/new` has named the session.
const MAX_STRAYS: usize = 1024;
/// Bytes of the texts in them.
const MAX_STRAY_BYTES: usize = 16 << 20;

/// Signals that end a program before it can say anything of it.
const FROM_OUTSIDE: [&str; 4] = ["SIGHUP", "SIGINT", "SIGKILL", "SIGTERM"];

/// How the agent ended, or why it is given up.
#[derive(Debug)]
pub struct End {
    pub kind: DeathKind,
    pub message: String,
    pub hint: String,
    pub detail: Vec<String>,
    pub fold: DetailFold,
}

impl End {
    pub fn new(kind: DeathKind, message: String) -> Self {
        Self { kind, message, hint: String::new(), detail: Vec::new(), fold: DetailFold::All }
    }

    /// Without this call there is no session.
    pub fn refused(error: &CallError) -> Self {
        if error.kind == ErrorKind::WrongVersion {
            let hint =
                "Install matching versions of the agent and the client, or ask for another one (`--protocol`, and \
                        `protocol` in the configuration)."
                    .into();
            return Self { hint, ..Self::new(DeathKind::Version, error.message.clone()) };
        }
        // An answer that could not be read says itself what it was to.
        let message = if error.call.is_empty() {
            error.message.clone()
        } else {
            format!("{} failed: {}", error.call, error.message)
        };
        Self { detail: error.data_lines(), ..Self::new(DeathKind::Refused, message) }
    }

    /// A session that the agent should have kept does not go on. `advice`: what keeps it from forgetting others.
    pub fn not_continued(error: &CallError, advice: Option<&str>) -> Self {
        if !error.kind.is_gone() {
            return Self::refused(error);
        }
        let message = format!("the agent has forgotten this session: {}", error.message);
        let detail = error.data_lines().into_iter().chain(advice.map(str::to_owned)).collect();
        Self { detail, ..Self::new(DeathKind::Refused, message) }
    }

    pub fn of(self, agent: &Agent, cx: &Cx) -> Death {
        let Self { kind, message, mut hint, detail, fold } = self;
        let reads_little = agent.confined.as_ref().is_some_and(|confined| confined.reads.is_some());
        let may_be =
            matches!(kind, DeathKind::Early | DeathKind::Refused) || kind == DeathKind::NotStarted && reads_little;
        if let Some(words) = agent.confinement().filter(|_| may_be && hint.is_empty()) {
            words.clone_into(&mut hint);
        }
        Death { kind, message, hint, detail, fold, at: cx.now, after: cx.now.saturating_sub(agent.spawned_at) }
    }
}

pub fn unknown_session(session: &SessionId) -> Refusal {
    Refusal::new(Reason::NotFound, "Session not found").about(Subject::Session(session.clone()))
}

pub fn start(agent: &mut Agent, cx: &mut Cx) {
    agent.connection = Connection::Starting { since: cx.now };
    agent.spawned_at = cx.now;
    cx.push(Effect::SpawnAgent);
}

pub fn spawned(agent: &mut Agent, cx: &mut Cx) {
    agent.alive = true;
    agent.spawned_at = cx.now;
    cx.push(Effect::Call(Call::Initialize));
}

pub fn kill(agent: &mut Agent, cx: &mut Cx) {
    if agent.alive {
        agent.is_ended_by_person = true;
        cx.push(Effect::KillAgent);
    }
}

/// Nothing negotiated carries over to the next process.
pub fn forget(agent: &mut Agent) {
    let (command, env) = (std::mem::take(&mut agent.command), std::mem::take(&mut agent.env));
    let kept = std::mem::take(&mut agent.kept);
    let suggestion = agent.suggestion.take();
    let credentials = agent.credentials.take();
    let (log_ins, confined) = (agent.log_ins, agent.confined.take());
    *agent = Agent { command, env, kept, suggestion, confined, log_ins, credentials, ..Agent::default() };
}

pub fn initialized(agent: &mut Agent, init: InitResult) {
    agent.name = init.name;
    agent.title = init.title;
    agent.version = init.version;
    agent.protocol = init.protocol;
    (agent.dialect, agent.evidence) = (init.dialect, init.evidence.or(agent.evidence));
    agent.caps = init.caps;
    agent.offer(init.auth_methods);
    agent.connection = Connection::Up;
}

/// The agent wants a log-in; a way that is being gone is not left for that.
pub fn wants_log_in(agent: &mut Agent, error: CallError, is_of_agent: bool) {
    let log_in = agent.log_in.get_or_insert_with(|| LogIn {
        error: error.clone(),
        is_wanted: false,
        attempt: None,
        is_of_agent,
    });
    log_in.is_wanted = false;
    log_in.is_of_agent |= is_of_agent;
    if log_in.attempt.is_none() {
        log_in.error = error;
    }
}

/// False when there is nothing to log in to, or not by this method; `is_typed` where the person has typed what it asks for.
pub fn authenticate(agent: &mut Agent, method: String, is_typed: bool, cx: &mut Cx) -> bool {
    let Some(log_in) = agent.log_in.as_mut().filter(|log_in| log_in.attempt.is_none()) else { return false };
    let Some(chosen) = agent.auth_methods.iter().find(|m| m.id == method) else { return false };
    let how = match &chosen.kind {
        kind if agent.alive && (*kind == AuthKind::Agent || (is_typed && matches!(kind, AuthKind::Typed { .. }))) => {
            agent.log_ins += 1;
            cx.push(Effect::Call(Call::Authenticate { method: method.clone(), attempt: agent.log_ins }));
            How::Call(agent.log_ins)
        }
        // A terminal method is never passed to `authenticate`.
        AuthKind::Terminal { .. } | AuthKind::Command { .. } => {
            cx.push(Effect::LogIn(chosen.kind.clone()));
            How::Terminal { id: None, screen: Arc::default() }
        }
        // Values go to the link that starts the agent, and are in no event.
        AuthKind::Agent | AuthKind::Env { .. } | AuthKind::Typed { .. } => return false,
    };
    log_in.attempt = Some(Attempt { method, since: cx.now, how });
    true
}

/// Leaves the way that is being gone; another one can be chosen.
pub fn leave_authentication(agent: &mut Agent, cx: &mut Cx) {
    match agent.log_in.as_mut().and_then(|log_in| log_in.attempt.take()).map(|attempt| attempt.how) {
        Some(How::Call(_)) => cx.push(Effect::WithdrawAuthenticate),
        Some(How::Terminal { id: Some(id), .. }) => cx.push(Effect::EndLogIn(id)),
        // One that is being started is ended as soon as it has been.
        Some(How::Terminal { id: None, .. } | How::Restart) | None => {}
    }
}

/// The result of a log-in by a call. Nothing when no log-in waits for this answer.
pub fn authenticated(
    agent: &mut Agent,
    answered: u64,
    result: Result<Option<i64>, CallError>,
    cx: &mut Cx,
) -> Option<Result<String, CallError>> {
    let log_in = agent.log_in.as_mut()?;
    let attempt = log_in.attempt.take_if(|attempt| attempt.how == How::Call(answered))?;
    let is_it = |m: &AuthMethod| m.id == attempt.method && matches!(m.kind, AuthKind::Typed { .. });
    if agent.auth_methods.iter().any(is_it) {
        agent.credentials = result.is_ok().then(|| attempt.method.clone());
        cx.push(result.as_ref().map_or(Effect::ForgetCredentials, |until| Effect::KeepCredentials(*until)));
    }
    Some(result.map(|_| name_of(agent, &attempt.method)))
}

/// What was typed is worth nothing any more; false where nothing is kept.
pub fn forget_credentials(agent: &mut Agent, cx: &mut Cx) -> bool {
    let was_kept = agent.credentials.take().is_some();
    cx.push(Effect::ForgetCredentials);
    was_kept
}

/// What a method is called.
pub fn name_of(agent: &Agent, method: &str) -> String {
    let name = agent.auth_methods.iter().find(|m| m.id == method).map(|m| m.name.clone());
    name.filter(|n| !n.trim().is_empty()).unwrap_or_else(|| method.to_owned())
}

/// The terminal of the log-in is there.
pub fn log_in_started(agent: &mut Agent, term: TermId, cx: &mut Cx) {
    let how = agent.log_in.as_mut().and_then(|log_in| log_in.attempt.as_mut()).map(|attempt| &mut attempt.how);
    match how {
        Some(How::Terminal { id, .. }) if id.is_none() => *id = Some(term),
        // The person has left it meanwhile.
        _ => cx.push(Effect::EndLogIn(term)),
    }
}

/// The name of the method whose command has ended in this terminal, or did not start.
pub fn log_in_ended(agent: &mut Agent, term: Option<&TermId>) -> Option<String> {
    let log_in = agent.log_in.as_mut()?;
    let is_it = |attempt: &mut Attempt| matches!(&attempt.how, How::Terminal { id, .. } if id.as_ref() == term);
    let attempt = log_in.attempt.take_if(is_it)?;
    Some(attempt.method)
}

/// What the terminal of the log-in shows.
pub fn log_in_screen(agent: &mut Agent, term: &TermId, shown: Arc<ScreenSnapshot>) {
    let how = agent.log_in.as_mut().and_then(|log_in| log_in.attempt.as_mut()).map(|attempt| &mut attempt.how);
    if let Some(How::Terminal { id, screen }) = how
        && id.as_ref() == Some(term)
    {
        *screen = shown;
    }
}

/// Counts a message that could not be used. A banner before the first answer is explained when no answer follows.
pub fn odd(agent: &mut Agent, what: Odd, head: &str, cx: &mut Cx) {
    agent.odd.count(what);
    let starting = matches!(agent.connection, Connection::Starting { .. });
    if what == Odd::Stray && starting && agent.early_stray.is_none() && !head.trim().is_empty() {
        agent.early_stray = Some(head.to_owned());
        cx.push(Effect::StartTimer { timer: Timer::ExplainStray, after: EXPLAIN_AFTER });
    }
}

/// Keeps a message for a session whose id is not known yet, as long as there is room.
pub fn keep_stray(agent: &mut Agent, stray: Stray, cx: &mut Cx) {
    let size = |stray: &Stray| match stray {
        Stray::Update(_, Update::Chunk { block, .. }) => block.size(),
        Stray::Update(_, Update::Message { content, .. }) => {
            content.as_set().into_iter().flatten().map(Block::size).sum()
        }
        Stray::Update(_, Update::ToolCall(patch) | Update::ToolUpdate(patch)) => patch.size(),
        // Lists are short by themselves, and what waits for an answer is bounded where it is read.
        Stray::Update(..) | Stray::Request(..) => 0,
    };
    let kept: usize = agent.strays.iter().map(size).sum();
    if agent.strays.len() >= MAX_STRAYS || kept + size(&stray) > MAX_STRAY_BYTES {
        return drop_stray(agent, stray, cx);
    }
    if let Stray::Request(req, ..) = &stray {
        cx.push(Effect::StartTimer { timer: Timer::EarlyRequest(*req), after: EARLY_PATIENCE });
    }
    agent.strays.push(stray);
}

/// Refuses a request whose session has still not been opened. False: it was served or refused before.
pub fn refuse_early(agent: &mut Agent, req: ReqId, cx: &mut Cx) -> bool {
    let is_it = |stray: &Stray| matches!(stray, Stray::Request(waits, ..) if *waits == req);
    let Some(at) = agent.strays.iter().position(is_it) else { return false };
    agent.strays.remove(at);
    let error = Refusal::new(Reason::NotReady, "The session is not open yet; open it, then ask");
    cx.push(Effect::Respond { req, answer: Answer::Error(error) });
    true
}

/// No session that is being opened will have these names.
pub fn drop_strays(agent: &mut Agent, cx: &mut Cx) {
    for stray in std::mem::take(&mut agent.strays) {
        drop_stray(agent, stray, cx);
    }
}

pub fn drop_stray(agent: &mut Agent, stray: Stray, cx: &mut Cx) {
    match stray {
        Stray::Update(..) => agent.odd.count(Odd::Unknown),
        Stray::Request(req, session, _) => {
            cx.push(Effect::Respond { req, answer: Answer::Error(unknown_session(&session)) });
        }
    }
}

/// The connection is at its end: its requests need no answer.
pub fn void_strays(agent: &mut Agent, cx: &mut Cx) {
    for stray in std::mem::take(&mut agent.strays) {
        if let Stray::Request(req, ..) = stray {
            cx.push(Effect::Void(req));
        }
    }
}

pub fn kind_of_end(agent: &Agent) -> DeathKind {
    if matches!(agent.connection, Connection::Starting { .. }) { DeathKind::Early } else { DeathKind::Gone }
}

/// The agent `how`.
pub fn gone(agent: &Agent, how: &str, stderr: Vec<String>) -> End {
    let kind = kind_of_end(agent);
    let is_early = kind == DeathKind::Early;
    let message = if is_early {
        format!("`{}` {how} before it answered initialize", agent.command)
    } else {
        format!("the agent {how}")
    };
    let talks = agent.suggestion.is_some() || agent.early_stray.is_some();
    let hint = if is_early && talks { agent.interface_hint() } else { String::new() };
    // What one that has worked has printed is seldom about its end, and would cover what it has said.
    let fold = if is_early { DetailFold::All } else { DetailFold::End };
    End { hint, detail: stderr, fold, ..End::new(kind, message) }
}

pub fn exited(agent: &mut Agent, exit: &Exit, stderr: Vec<String>) -> End {
    agent.alive = false;
    let how = match (&exit.signal, exit.code) {
        (Some(signal), _) => format!("was killed by {signal}"),
        (None, Some(code)) => format!("ended: exit {code}"),
        (None, None) => "ended".to_owned(),
    };
    let mut end = gone(agent, &how, stderr);
    if end.detail.is_empty() && end.kind == DeathKind::Early {
        end.detail.extend(agent.early_stray.clone());
    }
    if end.fold == DetailFold::End && exit.signal.as_deref().is_some_and(|signal| FROM_OUTSIDE.contains(&signal)) {
        end.fold = DetailFold::Nothing;
    }
    end
}
