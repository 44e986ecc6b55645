//! A log-in that an agent wants, from its refusal to what was refused being done again.
//!
//! Which way is gone, and how it ends, is done to the agent; what follows for its sessions, here. Invariants: a session of
//! which nothing was refused goes on meanwhile; what was refused is done again once, by a log-in that ended well.

use super::agent as one;
use super::lifecycle::{drop_hopeless_strays, go_on, restart};
use super::{Cx, in_agent, in_each, in_session, keyring, notice, opening, options, sessions};
use crate::model::Model;
use crate::model::agent::{Agent, Connection, ListState};
use crate::model::auth_status::AuthStatus;
use crate::model::effect::{Call, Effect, FrontEnd};
use crate::model::entry::Level;
use crate::model::event::{CallError, ErrorKind, Odd};
use crate::model::ids::{AgentKey, SessionKey, TermId};
use crate::model::login::{Attempt, How, LogIn};
use crate::model::session::{Session, SessionState};
use crate::model::tool::Exit;

/// A log-in is needed, as any call may find out: the methods are shown with the agent's own message. The
/// session of which something was refused waits for it; without one it concerns the agent.
pub fn log_in_needed(model: &mut Model, key: AgentKey, at: Option<SessionKey>, error: CallError, cx: &mut Cx) {
    drop_hopeless_strays(model, key, cx);
    let tell = |session: &mut Session, cx: &mut Cx| {
        notice(session, Level::Warn, format!("log-in needed: {}", error.message), error.data_lines(), cx.now);
    };
    match at {
        Some(at) => drop(in_session(model, at, cx, |session, cx| {
            session.wants_log_in = true;
            tell(session, cx);
        })),
        None => in_each(model, key, cx, |session, cx| {
            session.wants_log_in |= session.state == SessionState::Waiting;
            tell(session, cx);
        }),
    }
    in_agent(model, key, cx, |agent, _| one::wants_log_in(agent, error, at.is_none()));
    // What was typed before is good for a new connection too; once, and then only after it has worked.
    let kept = in_agent(model, key, cx, |agent, _| {
        let is_free = agent.log_in.as_ref().is_some_and(|log_in| log_in.attempt.is_none());
        if is_free { agent.credentials.take() } else { None }
    });
    if let Some(method) = kept.flatten() {
        typed(model, key, method, cx);
    }
}

/// The person has typed what a method asks for.
pub fn typed(model: &mut Model, key: AgentKey, method: String, cx: &mut Cx) {
    if in_agent(model, key, cx, |agent, cx| one::authenticate(agent, method, true, cx)) == Some(true) {
        in_each(model, key, cx, |session, _| session.login_said = None);
    }
}

/// What was typed is worth nothing any more, by the agent's word.
pub fn expired(model: &mut Model, key: AgentKey, cx: &mut Cx) {
    if in_agent(model, key, cx, one::forget_credentials) == Some(true) {
        in_each(model, key, cx, |session, cx| {
            let words = "what was typed to log in has expired and is forgotten";
            notice(session, Level::Info, words.to_owned(), Vec::new(), cx.now);
        });
    }
}

/// The person wants to log in by themselves.
pub fn wanted(model: &mut Model, key: AgentKey, cx: &mut Cx) {
    let is_asked = model.sessions_of(key).any(|(_, session)| !session.questions().is_empty());
    in_agent(model, key, cx, |agent, cx| {
        let words = match () {
            () if !agent.is_up() => "no agent runs that could be logged in to",
            () if agent.log_in.is_some() => "a log-in is asked for already",
            () if agent.auth_methods.is_empty() => "the agent offers no way to log in",
            () => {
                let error = CallError::new(ErrorKind::AuthRequired, "");
                agent.log_in = Some(LogIn { error, is_wanted: true, attempt: None, is_of_agent: true });
                if is_asked { "the log-in comes after the question that waits" } else { return }
            }
        };
        cx.push(Effect::FrontEnd(FrontEnd::LogInWaits(words)));
    });
}

pub fn authenticate(model: &mut Model, key: AgentKey, method: String, cx: &mut Cx) {
    if in_agent(model, key, cx, |agent, cx| one::authenticate(agent, method, false, cx)) == Some(true) {
        in_each(model, key, cx, |session, _| session.login_said = None);
    }
}

/// The person leaves it. One that they wanted themselves is over with that.
pub fn leave(model: &mut Model, key: AgentKey, cx: &mut Cx) {
    in_agent(model, key, cx, |agent, cx| {
        one::leave_authentication(agent, cx);
        agent.log_in.take_if(|log_in| log_in.is_wanted);
    });
}

pub fn authenticated(
    model: &mut Model,
    key: AgentKey,
    attempt: u64,
    result: Result<Option<i64>, CallError>,
    cx: &mut Cx,
) {
    match in_agent(model, key, cx, |agent, cx| one::authenticated(agent, attempt, result, cx)).flatten() {
        Some(Ok(name)) => logged_in(model, key, &name, cx),
        Some(Err(error)) => failed(model, key, error, cx),
        None => {}
    }
}

/// The agent itself knows the person now.
fn logged_in(model: &mut Model, key: AgentKey, name: &str, cx: &mut Cx) {
    let mut ask = None;
    in_concerned(model, key, cx, |session, cx| {
        notice(session, Level::Info, format!("logged in: {name}"), Vec::new(), cx.now);
    });
    in_agent(model, key, cx, |agent, cx| {
        agent.log_in = None;
        if matches!(agent.connection, Connection::Starting { .. }) {
            // Its greeting was what it had refused.
            cx.push(Effect::Call(Call::Initialize));
        }
        let listing = agent.listing.as_ref().filter(|l| matches!(&l.state, ListState::Failed(e) if e.is_auth()));
        ask = listing.map(|listing| listing.cwd.clone());
    });
    in_each(model, key, cx, |session, cx| {
        session.wants_log_in = false;
        if session.state == SessionState::Ready {
            options::ask_again(session, cx);
        }
    });
    if model.agents.get(&key).is_some_and(Agent::is_up) {
        ask_status(model, key, cx);
        if let Some(cwd) = ask {
            in_agent(model, key, cx, |agent, cx| sessions::list(agent, cwd, cx));
        }
        go_on(model, key, cx);
    }
}

/// Only an agent that says it can is told to.
pub fn log_out(model: &mut Model, key: AgentKey, cx: &mut Cx) {
    in_agent(model, key, cx, |agent, cx| {
        keyring::forget(agent, cx);
        if agent.is_up() && agent.caps.log_out {
            cx.push(Effect::Call(Call::LogOut));
        }
    });
}

/// Sessions are left as they are: whether they go on is the agent's to say.
pub fn logged_out(model: &mut Model, key: AgentKey, result: Result<(), CallError>, cx: &mut Cx) {
    let (level, words, detail) = match &result {
        Ok(()) => (Level::Info, "logged out".to_owned(), Vec::new()),
        Err(error) => (Level::Warn, format!("not logged out: {}", error.message), error.data_lines()),
    };
    in_each(model, key, cx, |session, cx| {
        notice(session, level, words.as_str(), detail.clone(), cx.now);
    });
    if result.is_ok() {
        ask_status(model, key, cx);
    }
    let news = FrontEnd::LoggedOut(result.map_err(|error| error.message));
    in_agent(model, key, cx, |_, cx| cx.push(Effect::FrontEnd(news)));
}

/// Asks who is logged in, where that is offered. What comes of it is shown, and nothing else.
pub fn ask_status(model: &mut Model, key: AgentKey, cx: &mut Cx) {
    let is_wanted = model.has_unstable;
    in_agent(model, key, cx, |agent, cx| {
        if is_wanted && agent.is_up() && agent.caps.auth_status {
            cx.push(Effect::Call(Call::AuthStatus));
        }
    });
}

/// An agent that does not say it is as good as one that cannot.
pub fn status(model: &mut Model, key: AgentKey, result: Result<AuthStatus, CallError>, cx: &mut Cx) {
    in_agent(model, key, cx, |agent, _| agent.auth_status = result.ok());
}

/// Replaces what was shown, unless the agent has not said that it does so.
pub fn status_told(model: &mut Model, key: AgentKey, status: AuthStatus, is_extension: bool, cx: &mut Cx) {
    let is_wanted = model.has_unstable;
    in_agent(model, key, cx, |agent, _| {
        let is_said = if is_extension { agent.caps.tells_account } else { agent.caps.auth_status };
        if is_wanted && is_said {
            agent.auth_status = Some(status);
        } else {
            agent.odd.count(Odd::Unknown);
        }
    });
}

/// It did not work; another way can be chosen.
fn failed(model: &mut Model, key: AgentKey, error: CallError, cx: &mut Cx) {
    in_concerned(model, key, cx, |session, cx| {
        let words = format!("the log-in did not work: {}", error.message);
        notice(session, Level::Warn, words, error.data_lines(), cx.now);
    });
    in_agent(model, key, cx, |agent, _| {
        if let Some(log_in) = &mut agent.log_in {
            log_in.error = error;
        }
    });
}

/// A line that is no message. False when the agent was not called to log in.
pub fn line(model: &mut Model, key: AgentKey, line: &str, cx: &mut Cx) -> bool {
    let log_in = model.agents.get(&key).and_then(|agent| agent.log_in.as_ref());
    if !log_in.is_some_and(LogIn::is_called) {
        return false;
    }
    in_concerned(model, key, cx, |session, cx| opening::login_line(session, line, cx));
    true
}

pub fn command_failed(model: &mut Model, key: AgentKey, message: &str, cx: &mut Cx) {
    if in_agent(model, key, cx, |agent, _| one::log_in_ended(agent, None)).flatten().is_some() {
        failed(model, key, CallError::new(ErrorKind::Other, message), cx);
    }
}

/// Only exit status 0 is success.
pub fn command_ended(model: &mut Model, key: AgentKey, term: &TermId, exit: &Exit, cx: &mut Cx) {
    in_agent(model, key, cx, |_, cx| cx.push(Effect::EndLogIn(term.clone())));
    let method = in_agent(model, key, cx, |agent, _| one::log_in_ended(agent, Some(term))).flatten();
    match method {
        Some(method) if exit.is_success() => knows_outside(model, key, method, cx),
        Some(_) => failed(model, key, CallError::new(ErrorKind::Other, format!("its command ended with {exit}")), cx),
        None => {}
    }
}

/// Values of variables went to the link that starts the agent.
pub fn set(model: &mut Model, key: AgentKey, method: String, vars: Vec<String>, cx: &mut Cx) {
    in_agent(model, key, cx, |agent, _| {
        let new: Vec<String> = vars.into_iter().filter(|name| !agent.env.contains(name)).collect();
        agent.env.extend(new);
    });
    knows_outside(model, key, method, cx);
}

/// A log-in has succeeded, and the agent has to be started again to know it, once none of its sessions works
///
fn knows_outside(model: &mut Model, key: AgentKey, method: String, cx: &mut Cx) {
    let Some(agent) = model.agents.get(&key) else { return };
    let name = one::name_of(agent, &method);
    let waits = if works(model, key) { "; the agent is started again when its other sessions rest" } else { "" };
    in_concerned(model, key, cx, |session, cx| {
        notice(session, Level::Info, format!("logged in: {name}{waits}"), Vec::new(), cx.now);
    });
    in_agent(model, key, cx, |agent, cx| {
        if let Some(log_in) = &mut agent.log_in {
            log_in.attempt = Some(Attempt { method, since: cx.now, how: How::Restart });
        }
    });
    restart_rested(model, cx);
}

/// Starts agents again that wait for it and of which no session works.
pub fn restart_rested(model: &mut Model, cx: &mut Cx) {
    let waits = |log_in: &LogIn| log_in.attempt.as_ref().is_some_and(|attempt| attempt.how == How::Restart);
    let rested = |(key, agent): &(AgentKey, &Agent)| agent.log_in.as_ref().is_some_and(waits) && !works(model, *key);
    let keys: Vec<AgentKey> = model.agents().filter(rested).map(|(key, _)| key).collect();
    for key in keys {
        restart(model, key, cx);
    }
}

fn works(model: &Model, key: AgentKey) -> bool {
    model.sessions_of(key).any(|(_, session)| session.turn.is_some())
}

/// The agent has ended. A log-in in a terminal goes on: it is started again after that.
pub fn agent_ended(agent: &mut Agent) {
    let in_terminal = |log_in: &mut LogIn| {
        !log_in.attempt.as_ref().is_some_and(|attempt| matches!(attempt.how, How::Terminal { .. }))
    };
    agent.log_in.take_if(in_terminal);
}

/// The sessions that a log-in of their agent concerns.
fn in_concerned(model: &mut Model, key: AgentKey, cx: &mut Cx, mut f: impl FnMut(&mut Session, &mut Cx)) {
    let is_of_agent =
        model.agents.get(&key).and_then(|agent| agent.log_in.as_ref()).is_some_and(|log_in| log_in.is_of_agent);
    in_each(model, key, cx, |session, cx| {
        if is_of_agent || session.wants_log_in {
            f(session, cx);
        }
    });
}
