//! An agent together with its sessions: what happens to the one that concerns the others, and which session a message
//! is for.
//!
//! The only reducer that sees more than one tenant of the model; what is done to each is done elsewhere. Invariants: the
//! end of an agent closes its own sessions only; a message is given to the session that it names or to none.

use super::agent::{self as one, End};
use super::login::log_in_needed;
use super::{
    Cx, beginning, child, far, in_agent, in_each, in_session, login, met, notice, notice_once, opening, options,
    permission_mode, prompt, queue, retold, revival, service, unnamed, update,
};
use crate::model::Model;
use crate::model::agent::{Agent, Connection, DeathKind, NO_DIRECTORIES, Stray};
use crate::model::effect::{Answer, Effect};
use crate::model::entry::Level;
use crate::model::event::{AgentRequest, CallError, Can, InitResult, Odd, Opening, SessionResult, Update, Words};
use crate::model::ids::{AgentKey, ReqId, SessionId, SessionKey};
use crate::model::refusal::{Reason, Refusal, Subject};
use crate::model::session::{Closed, PromptKind, ReadOnly, Session, SessionState};
use crate::model::tool::{Exit, Mark};

/// A further agent with a session of its own.
pub fn add(model: &mut Model, (command, env): (String, Vec<String>), cwd: String, how: Opening, cx: &mut Cx) {
    let key = model.add_agent(command);
    let at = model.add_session(key, cwd);
    let is_asked = !matches!(how, Opening::Show { .. });
    beginning::prepare(model, at, how, cx);
    in_agent(model, key, cx, |agent, cx| {
        agent.env = env;
        if is_asked {
            one::start(agent, cx);
        }
    });
}

/// A further session. It waits when its agent is not up.
pub fn open_further(model: &mut Model, key: AgentKey, cwd: String, how: Opening, cx: &mut Cx) {
    let Some(is_up) = model.agents.get(&key).map(Agent::is_up) else { return };
    let at = model.add_session(key, cwd);
    beginning::prepare(model, at, how, cx);
    if is_up && model.sessions.get(&at).is_some_and(|session| session.state == SessionState::Waiting) {
        open(model, key, at, cx);
    }
}

/// The agent is to have these words now.
pub fn steer(model: &mut Model, at: SessionKey, kind: PromptKind, words: Words, cx: &mut Cx) {
    let agent = model.sessions.get(&at).and_then(|session| model.agents.get(&session.agent));
    let is_taken = agent.is_some_and(|agent| agent.caps.steers);
    in_session(model, at, cx, |session, cx| prompt::steer(session, kind, words, is_taken, cx));
}

/// A prompt that waits goes into the turn that runs.
pub fn send_now(model: &mut Model, at: SessionKey, place: usize, cx: &mut Cx) {
    if let Some(Some(held)) = in_session(model, at, cx, |session, cx| queue::for_now(session, place, cx)) {
        steer(model, at, held.kind, Words { text: held.text, links: held.links }, cx);
    }
}

/// A session that is not open is asked for in this way.
pub fn open_as(model: &mut Model, at: SessionKey, how: Opening, cx: &mut Cx) {
    let Some(session) = model.sessions.get(&at) else { return };
    match session.state {
        SessionState::Waiting => beginning::prepare(model, at, how, cx),
        SessionState::Closed(Closed::Refused(_) | Closed::AgentGone) => {
            in_session(model, at, cx, opening::leave);
            beginning::prepare(model, at, how, cx);
            restart_of(model, at, cx);
        }
        SessionState::Opening { .. } | SessionState::Loading { .. } | SessionState::Ready | SessionState::Closed(_) => {
        }
    }
}

/// Asks the agent for a session, unless there is nothing to ask for.
pub fn open(model: &mut Model, key: AgentKey, at: SessionKey, cx: &mut Cx) {
    let (Some(agent), Some(session)) = (model.agents.get(&key), model.sessions.get(&at)) else { return };
    if session.awaits_earlier() {
        return;
    }
    let how = way(agent, session);
    let hopeless = match &how {
        Opening::Load(_) if !agent.can(Can::Load) => Some("this agent cannot load sessions".to_owned()),
        Opening::Resume(_) if !agent.can(Can::Resume) => Some("this agent cannot resume sessions".to_owned()),
        Opening::Continue(_) => Some("this agent can neither load nor resume sessions".to_owned()),
        Opening::Fork(_) if !agent.can(Can::Fork) => Some("this agent cannot fork sessions".to_owned()),
        _ => how.id().filter(|id| model.session_named(key, id).is_some()).map(|id| format!("{id} is open already")),
    };
    if let (Opening::Load(_), None) = (&how, &hopeless)
        && let Some(left) = opening::is_too_young(session, agent.caps.youngest, cx.now)
    {
        in_session(model, at, cx, |session, cx| opening::put_off(session, left, cx));
        return;
    }
    let can_reach = agent.can(Can::Directories) || model.directories(at).is_empty();
    let in_vain = matches!(how, Opening::Continue(_)).then_some(ReadOnly::NoWay);
    in_session(model, at, cx, |session, _| session.opening = how);
    match hopeless {
        Some(why) => not_opened(model, key, at, End::new(DeathKind::Refused, why), in_vain, cx),
        None => {
            if !can_reach {
                let words = format!("--add-dir: {NO_DIRECTORIES}");
                in_session(model, at, cx, |session, cx| {
                    notice_once(session, NO_DIRECTORIES, words, Vec::new(), cx.now);
                });
            }
            // What is asked aside is shown alone.
            let is_aside = model.sessions.get(&at).is_some_and(Session::is_aside);
            let inherited = if is_aside { Vec::new() } else { beginning::inherited(model, key, at) };
            in_session(model, at, cx, |session, cx| {
                retold::append(session, inherited, cx);
                opening::open(session, cx);
            });
        }
    }
}

/// A session that was too new to be loaded is asked for, unless something else has become of it.
pub fn old_enough(model: &mut Model, at: SessionKey, cx: &mut Cx) {
    let Some(session) = model.sessions.get(&at).filter(|session| session.state == SessionState::Waiting) else {
        return;
    };
    let key = session.agent;
    if model.agents.get(&key).is_some_and(Agent::is_up) {
        open(model, key, at, cx);
    }
}

/// How a session is asked for, by what its agent offers.
fn way(agent: &Agent, session: &Session) -> Opening {
    let Opening::Continue(id) = &session.opening else { return session.opening.clone() };
    let (load, resume) = (agent.can(Can::Load), agent.can(Can::Resume));
    if resume && (!load || opening::needs_no_history(session)) {
        Opening::Resume(id.clone())
    } else if load {
        Opening::Load(id.clone())
    } else {
        session.opening.clone()
    }
}

/// The person has closed a session. An agent that has no other is let go.
pub fn closed_by_person(model: &mut Model, at: SessionKey, cx: &mut Cx) {
    close(model, at, cx);
    if let Some(key) = model.sessions.get(&at).map(|session| session.agent) {
        let_go_if_alone(model, key, cx);
    }
}

/// Closes a session, and tells its agent where that wants to know.
pub fn close(model: &mut Model, at: SessionKey, cx: &mut Cx) {
    let tells =
        model.sessions.get(&at).and_then(|session| model.agents.get(&session.agent)).is_some_and(tells_of_close);
    in_session(model, at, cx, |session, cx| opening::close(session, tells, cx));
}

fn tells_of_close(agent: &Agent) -> bool {
    agent.is_up() && agent.can(Can::Close)
}

pub fn let_go_if_alone(model: &mut Model, key: AgentKey, cx: &mut Cx) {
    if model.sessions_of(key).next().is_none() {
        in_agent(model, key, cx, |agent, cx| {
            one::void_strays(agent, cx);
            one::leave_authentication(agent, cx);
            if agent.alive {
                cx.push(Effect::EndAgent);
            }
            one::forget(agent);
        });
    }
}

pub fn explain_stray(model: &mut Model, key: AgentKey, cx: &mut Cx) {
    let Some(agent) = model.agents.get(&key) else { return };
    // It is not ended; the person decides.
    let (lines, command) = (agent.stray_start(), agent.command.clone());
    if !lines.is_empty() {
        in_each(model, key, cx, |session, cx| {
            let title = format!("`{command}` prints text instead of answering");
            notice(session, Level::Warn, title, lines.clone(), cx.now);
        });
    }
}

/// The person wants to begin again in this session. One that its agent has not opened is asked for once more, and what
/// others of the agent do goes on; else the agent is started anew.
pub fn restart_of(model: &mut Model, at: SessionKey, cx: &mut Cx) {
    let Some(session) = model.sessions.get(&at) else { return };
    let key = session.agent;
    let is_refused = matches!(session.state, SessionState::Closed(Closed::Refused(_)));
    if !is_refused || !model.agents.get(&key).is_some_and(Agent::is_up) {
        return restart(model, key, cx);
    }
    in_session(model, at, cx, |session, cx| {
        opening::wait(session);
        permission_mode::end(session, "the session is asked for again", cx);
        opening::say_what_is_asked_for(session, cx);
    });
    open(model, key, at, cx);
}

fn agent_keeps(model: &Model, key: AgentKey) -> bool {
    model.agents.get(&key).is_some_and(|agent| agent.can(Can::Load) || agent.can(Can::Resume))
}

/// A new process, and in it the sessions in which anything was said, where it can go on with them.
pub fn restart(model: &mut Model, key: AgentKey, cx: &mut Cx) {
    let Some(agent) = model.agents.get(&key) else { return };
    if matches!(agent.connection, Connection::Starting { .. }) && agent.alive && agent.log_in.is_none() {
        return;
    }
    in_agent(model, key, cx, |agent, cx| {
        one::leave_authentication(agent, cx);
        // First, so that what it has asked is answered before its input is closed.
        if agent.alive {
            cx.push(Effect::EndAgent);
        }
        one::void_strays(agent, cx);
    });
    let keeps_sessions = agent_keeps(model, key);
    in_each(model, key, cx, |session, cx| {
        if session.read_only().is_none() {
            opening::begin_anew(session, keeps_sessions, cx);
        }
    });
    in_agent(model, key, cx, |agent, cx| {
        one::forget(agent);
        one::start(agent, cx);
    });
}

pub fn initialized(model: &mut Model, key: AgentKey, result: Result<InitResult, CallError>, cx: &mut Cx) {
    match result {
        Ok(init) => {
            let (dialect, evidence) = (init.dialect, init.evidence);
            in_agent(model, key, cx, |agent, _| one::initialized(agent, init));
            met(model, key, dialect, evidence, cx);
            login::ask_status(model, key, cx);
            go_on(model, key, cx);
        }
        Err(error) if error.is_auth() => log_in_needed(model, key, None, error, cx),
        Err(error) => {
            in_agent(model, key, cx, one::drop_strays);
            die(model, key, End::refused(&error), cx);
        }
    }
}

/// The agent takes calls: sessions that wait are opened, prompts that wait are sent.
pub(super) fn go_on(model: &mut Model, key: AgentKey, cx: &mut Cx) {
    let sessions: Vec<(SessionKey, SessionState)> =
        model.sessions_of(key).map(|(at, session)| (at, session.state.clone())).collect();
    for (at, state) in sessions {
        match state {
            SessionState::Waiting => open(model, key, at, cx),
            SessionState::Ready => drop(in_session(model, at, cx, prompt::send_next)),
            SessionState::Opening { .. } | SessionState::Loading { .. } | SessionState::Closed(_) => {}
        }
    }
}

/// Whether this agent is asked for a new session: then a name that we do not know may be that of the session.
fn is_opening(model: &Model, key: AgentKey) -> bool {
    model.sessions_of(key).any(|(_, s)| matches!(s.state, SessionState::Opening { .. }))
}

/// The answer to the call that opens a session.
pub fn session_opened(model: &mut Model, at: SessionKey, result: Result<SessionResult, CallError>, cx: &mut Cx) {
    let Some(session) = model.sessions.get(&at) else { return };
    let key = session.agent;
    let is_open = |id: &SessionId| model.session_named(key, id).is_some_and(|other| other != at);
    if !matches!(session.state, SessionState::Opening { .. } | SessionState::Loading { .. }) {
        if let Ok(opened) = result {
            let tells = model.agents.get(&key).is_some_and(tells_of_close);
            beginning::in_vain(model, at, opened.id, tells, cx);
        }
        return drop_hopeless_strays(model, key, cx);
    }
    match result {
        Ok(opened) if is_open(&opened.id) => {
            let why = format!("the agent gave the id of another session: {}", opened.id);
            refused(model, key, at, End::new(DeathKind::Refused, why), cx);
        }
        Ok(opened) => {
            if in_session(model, at, cx, |session, cx| opening::is_still_told(session, &opened, cx)) == Some(true) {
                return;
            }
            go_on_with(model, at, opened, cx);
        }
        Err(error) if error.is_auth() => {
            in_session(model, at, cx, |session, _| opening::wait(session));
            log_in_needed(model, key, Some(at), error, cx);
        }
        Err(error) => {
            if let Some(opened) = in_session(model, at, cx, beginning::untold).flatten() {
                return go_on_with(model, at, opened, cx);
            }
            if in_session(model, at, cx, beginning::needs_no_copy) == Some(true) {
                return open(model, key, at, cx);
            }
            let Some(session) = model.sessions.get(&at) else { return };
            let advice = model.agents.get(&key).and_then(|agent| agent.caps.against_loss);
            let (is_kept, end) = (session.opening.kept().is_some(), opening::failed(session, &error, advice));
            let in_vain = (is_kept && error.kind.is_gone()).then_some(ReadOnly::Forgotten);
            not_opened(model, key, at, end, in_vain, cx);
        }
    }
}

/// The agent may have told the rest of the history by now.
pub fn history_is_quiet(model: &mut Model, at: SessionKey, cx: &mut Cx) {
    if let Some(opened) = in_session(model, at, cx, opening::quiet).flatten() {
        go_on_with(model, at, opened, cx);
    }
}

/// A session is open: what came too early for it belongs to it, and what waits for it goes out.
fn go_on_with(model: &mut Model, at: SessionKey, opened: SessionResult, cx: &mut Cx) {
    let Some(key) = model.sessions.get(&at).map(|session| session.agent) else { return };
    let label = model.agents.get(&key).map(|agent| agent.label().to_owned()).unwrap_or_default();
    let id = opened.id.clone();
    let is_copy = in_session(model, at, cx, |session, cx| opening::is_named(session, &id, cx)) == Some(true);
    if !is_copy {
        in_session(model, at, cx, |session, cx| opening::opened(session, opened.clone(), &label, cx));
    }
    let strays = in_agent(model, key, cx, |agent, _| std::mem::take(&mut agent.strays)).unwrap_or_default();
    let others_open = is_opening(model, key);
    for stray in strays {
        match stray {
            Stray::Update(named, update) if named == id => {
                in_session(model, at, cx, |session, cx| update::apply(session, update, cx));
            }
            Stray::Request(req, named, request) if named == id => {
                in_session(model, at, cx, |session, cx| service::serve(session, req, request, cx));
            }
            other if others_open => drop(in_agent(model, key, cx, |agent, _| agent.strays.push(other))),
            other => drop(in_agent(model, key, cx, |agent, cx| one::drop_stray(agent, other, cx))),
        }
    }
    if is_copy {
        let inherited = beginning::inherited(model, key, at);
        in_session(model, at, cx, |session, cx| retold::append(session, inherited, cx));
        if beginning::is_to_be_told(model, at, &opened, cx) {
            return;
        }
        in_session(model, at, cx, |session, cx| opening::opened(session, opened, &label, cx));
    }
    in_session(model, at, cx, |session, cx| {
        options::ask_again(session, cx);
        prompt::send_next(session, cx);
    });
}

/// A session does not come about. An agent that opens no new one and has no other is of no use.
fn refused(model: &mut Model, key: AgentKey, at: SessionKey, end: End, cx: &mut Cx) {
    not_opened(model, key, at, end, None, cx);
}

/// `in_vain`: why asking for it again would not help. Then what is known of it is shown, where that is anything.
fn not_opened(model: &mut Model, key: AgentKey, at: SessionKey, end: End, in_vain: Option<ReadOnly>, cx: &mut Cx) {
    let is_in_vain = in_vain.is_some();
    if let Some(why) = in_vain.filter(|_| model.sessions.get(&at).is_some_and(opening::is_worth_showing)) {
        in_session(model, at, cx, |session, cx| opening::only_shown(session, why, end.message, end.detail, cx));
        return drop_hopeless_strays(model, key, cx);
    }
    let has_others = model.sessions_of(key).any(|(other, s)| other != at && !s.is_closed());
    let is_new = model.sessions.get(&at).is_some_and(|session| session.opening == Opening::New);
    if is_new && !has_others {
        in_agent(model, key, cx, one::drop_strays);
        return die(model, key, end, cx);
    }
    let hint = if is_in_vain {
        "Nothing was opened in its place; starting again opens a new session."
    } else {
        "Open a new session, or try this one again later."
    };
    let hint = if is_new || !end.hint.is_empty() { end.hint } else { hint.to_owned() };
    let end = End { hint, ..end };
    if let Some(death) = model.agents.get(&key).map(|agent| end.of(agent, cx)) {
        in_session(model, at, cx, |session, cx| opening::refused(session, &death, is_in_vain, cx));
    }
    drop_hopeless_strays(model, key, cx);
}

pub(super) fn drop_hopeless_strays(model: &mut Model, key: AgentKey, cx: &mut Cx) {
    if !is_opening(model, key) {
        in_agent(model, key, cx, one::drop_strays);
    }
}

/// A message that we could not use.
pub fn odd(model: &mut Model, key: AgentKey, what: Odd, head: &str, cx: &mut Cx) {
    let is_named = model.agents.get(&key).is_some_and(|agent| agent.name.is_some());
    let has_session = model.sessions_of(key).any(|(_, session)| session.id.is_some());
    let sort = match what {
        // A banner before the first answer is explained only when no answer follows.
        Odd::Stray if is_named || has_session => Some("text that is no message"),
        Odd::Malformed => Some("a message that cannot be read"),
        Odd::TooLong => Some("a message that is too long and was left out"),
        // Extensions of agents are everyday; they and late answers are counted.
        Odd::Stray | Odd::Unknown | Odd::LateResponse => None,
    };
    let is_shown = what == Odd::Stray && login::line(model, key, head, cx);
    if let Some(sort) = sort.filter(|_| !is_shown) {
        in_each(model, key, cx, |session, cx| {
            notice_once(session, sort, format!("the agent sent {sort}"), vec![head.to_owned()], cx.now);
        });
    }
    in_agent(model, key, cx, |agent, cx| one::odd(agent, what, head, cx));
}

/// An update for the session that it names; kept for later while that may be one that is being opened, else
/// dropped and counted.
pub fn update(model: &mut Model, key: AgentKey, named: SessionId, update: Update, cx: &mut Cx) {
    if let Some(at) = model.session_named(key, &named) {
        in_session(model, at, cx, |session, cx| update::apply(session, update, cx));
        return;
    }
    if let Some(at) = model.parent_of(key, &named) {
        in_session(model, at, cx, |session, cx| child::heard(session, &named, update, cx));
        return;
    }
    let is_opening = is_opening(model, key);
    in_agent(model, key, cx, |agent, cx| {
        let stray = Stray::Update(named, update);
        if is_opening { one::keep_stray(agent, stray, cx) } else { one::drop_stray(agent, stray, cx) }
    });
}

/// A request of the agent: who may ask what, before anything is done. Each leads to exactly one answer.
pub fn request(
    model: &mut Model,
    key: AgentKey,
    req: ReqId,
    named: Option<SessionId>,
    request: AgentRequest,
    cx: &mut Cx,
) {
    let Some(agent) = model.agents.get(&key) else { return };
    let is_starting = matches!(agent.connection, Connection::Starting { .. });
    if agent.is_dead() {
        // Read before the end was known; its requests need no answer.
        in_agent(model, key, cx, |_, cx| cx.push(Effect::Void(req)));
        return;
    }
    let at = named.as_ref().and_then(|id| model.session_named(key, id));
    let refusal = match request {
        request if far::is_withheld(agent, &request) => far::refusal(model, key, at, &request, cx),
        AgentRequest::Echoed(_) if is_starting => return echoed(model, key, req, cx),
        AgentRequest::UnknownMethod(method) | AgentRequest::Echoed(method) => {
            in_agent(model, key, cx, |agent, _| agent.odd.count(Odd::Unknown));
            let title = format!("the agent asked for {method}, which this client does not offer; refused");
            tell_once(model, key, at, &method, &title, cx);
            Refusal::new(Reason::UnknownMethod, "Method not found").about(Subject::Method(method))
        }
        AgentRequest::TooLarge { method, why } => {
            let title = format!("the agent asked for more than is shown or done ({method}: {why}); refused");
            tell_once(model, key, at, &title, &title, cx);
            Refusal::new(Reason::TooLarge, format!("Too large: {why}")).about(Subject::Method(method))
        }
        AgentRequest::BadParams { method, why } => {
            in_agent(model, key, cx, |agent, _| agent.odd.count(Odd::Malformed));
            let title = format!("the agent asked for {method} in a way that cannot be used ({why}); refused");
            tell_once(model, key, at, &title, &title, cx);
            Refusal::new(Reason::BadParams, format!("Invalid params: {why}")).about(Subject::Method(method))
        }
        _ if is_starting => Refusal::new(Reason::NotReady, "Not initialized"),
        request => match (at, named) {
            (None, Some(child)) if let Some(at) = model.parent_of(key, &child) => {
                in_session(model, at, cx, |session, cx| match child::asked(session, &child, request) {
                    Ok(request) => service::serve(session, req, request, cx),
                    Err(error) => cx.push(Effect::Respond { req, answer: Answer::Error(error) }),
                });
                return;
            }
            (Some(at), _) => {
                in_session(model, at, cx, |session, cx| service::serve(session, req, request, cx));
                return;
            }
            (None, Some(id)) if is_opening(model, key) => {
                in_agent(model, key, cx, |agent, cx| {
                    one::keep_stray(agent, Stray::Request(req, id, request), cx);
                });
                return;
            }
            (None, Some(id)) => one::unknown_session(&id),
            (None, None) => match unnamed::session_of(model, key, &request) {
                Ok(at) => {
                    in_session(model, at, cx, |session, cx| {
                        let request = request.from_directory(&session.cwd);
                        service::serve(session, req, request, cx);
                    });
                    return;
                }
                Err(refusal) => refusal,
            },
        },
    };
    in_agent(model, key, cx, |_, cx| cx.push(Effect::Respond { req, answer: Answer::Error(refusal) }));
}

/// A request has waited for its session; the agent may be waiting for the answer before it opens it.
pub fn too_early(model: &mut Model, key: AgentKey, req: ReqId, cx: &mut Cx) {
    if in_agent(model, key, cx, |agent, cx| one::refuse_early(agent, req, cx)) == Some(true) {
        let title = "the agent asked for something in a session that it has not opened yet; refused";
        tell_once(model, key, None, title, title, cx);
    }
}

/// Says something once: in the session that it is about, or in each of the agent's.
pub(super) fn tell_once(
    model: &mut Model,
    key: AgentKey,
    at: Option<SessionKey>,
    sort: &str,
    title: &str,
    cx: &mut Cx,
) {
    let tell = |session: &mut _, cx: &mut Cx| notice_once(session, sort, title.to_owned(), Vec::new(), cx.now);
    match at {
        Some(at) => drop(in_session(model, at, cx, tell)),
        None => in_each(model, key, cx, tell),
    }
}

/// Our own `initialize` has come back: the program writes what it reads.
fn echoed(model: &mut Model, key: AgentKey, req: ReqId, cx: &mut Cx) {
    let Some(agent) = model.agents.get(&key) else { return };
    let message = format!("`{}` writes back what it is told; it does not speak the protocol", agent.command);
    let end = End { hint: agent.interface_hint(), ..End::new(DeathKind::Early, message) };
    in_agent(model, key, cx, |_, cx| cx.push(Effect::Void(req)));
    die(model, key, end, cx);
}

pub fn not_spawned(model: &mut Model, key: AgentKey, message: String, hint: String, cx: &mut Cx) {
    die(model, key, End { hint, ..End::new(DeathKind::NotStarted, message) }, cx);
}

pub fn exited(model: &mut Model, key: AgentKey, exit: Exit, stderr: Vec<String>, cx: &mut Cx) {
    if let Some(end) = in_agent(model, key, cx, |agent, _| one::exited(agent, &exit, stderr)) {
        die(model, key, end, cx);
    }
}

pub fn stdout_closed(model: &mut Model, key: AgentKey, stderr: Vec<String>, cx: &mut Cx) {
    let how = "closed its output while it was still running";
    if let Some(end) = model.agents.get(&key).map(|agent| one::gone(agent, how, stderr)) {
        die(model, key, end, cx);
    }
}

pub fn dropped(model: &mut Model, key: AgentKey, why: String, cx: &mut Cx) {
    if let Some(kind) = model.agents.get(&key).map(one::kind_of_end) {
        die(model, key, End::new(kind, why), cx);
    }
}

/// Turns of sessions that were closed while the agent worked in them: now it does so no more.
fn end_what_lingers(model: &mut Model, key: AgentKey, cx: &mut Cx) {
    let lingers = |(_, session): &(&SessionKey, &Session)| session.agent == key && session.lingering.is_some();
    let keys: Vec<SessionKey> = model.sessions.iter().filter(lingers).map(|(at, _)| *at).collect();
    for at in keys {
        in_session(model, at, cx, opening::end_lingering);
    }
}

/// The agent is gone, or none of its sessions came about. Shown once, at the first sign of it.
pub(super) fn die(model: &mut Model, key: AgentKey, end: End, cx: &mut Cx) {
    let Some(agent) = model.agents.get(&key).filter(|agent| !agent.is_dead()) else { return };
    let death = end.of(agent, cx);
    let was_at_work = revival::is_at_work(model, key);
    in_agent(model, key, cx, one::void_strays);
    end_what_lingers(model, key, cx);
    in_each(model, key, cx, |session, cx| {
        if !session.is_closed() {
            opening::end_everything(session, Mark::AgentGone, cx);
        }
    });
    in_agent(model, key, cx, |agent, cx| {
        if agent.alive {
            cx.push(Effect::EndAgent);
        }
        agent.connection = Connection::Dead(death.clone());
        login::agent_ended(agent);
    });
    in_each(model, key, cx, |session, cx| {
        if !session.is_closed() {
            opening::closed(session, &death, Closed::AgentGone, cx);
        }
    });
    revival::plan(model, key, was_at_work, cx);
}
