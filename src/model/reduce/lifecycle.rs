//! From the start of the agent to its end: what is agreed on, the session, log-in, death, a new start.

use super::super::Model;
use super::super::effect::{Answer, Call, Effect, Ended, FrontEnd, ReviewEffect};
use super::super::entry::{Body, Level};
use super::super::event::{AuthKind, CallError, ErrorKind, InitResult, SessionResult};
use super::super::ids::{Now, TurnId};
use super::super::session::{AgentState, Death, DeathKind, Phase, Session};
use super::super::tool::Mark;
use super::{Early, notice, permission, prompt, review, service, update};
use std::time::Duration;

/// How long a program that prints text may take to answer all the same; package runners print before they start one.
pub const EXPLAIN_AFTER: Duration = Duration::from_secs(3);

/// Lines printed during a log-in that are kept.
pub const LOGIN_LINES: usize = 50;

pub fn start(model: &mut Model, now: Now, out: &mut Vec<Effect>) {
    model.phase = Phase::Starting { since: now };
    model.agent.spawned_at = now;
    out.push(Effect::SpawnAgent);
}

/// It printed text and does not answer: probably its interface for people. It is not ended; the person decides.
pub fn explain_stray(model: &mut Model, now: Now) {
    let lines = model.stray_start();
    if !lines.is_empty() {
        let title = format!("`{}` prints text instead of answering", model.agent.command);
        notice(model, Level::Warn, title, lines, now);
    }
}

pub fn spawned(model: &mut Model, now: Now, out: &mut Vec<Effect>) {
    model.agent.alive = true;
    model.agent.spawned_at = now;
    out.push(Effect::Call(Call::Initialize));
}

/// A new agent and a new session; the transcript and what waits to be sent stay. Nothing negotiated carries over
///
pub fn restart(model: &mut Model, now: Now, out: &mut Vec<Effect>) {
    if matches!(model.phase, Phase::Starting { .. }) && model.agent.alive {
        return;
    }
    let held = std::mem::take(&mut model.session.held);
    // First, so that what it has asked is answered before its input is closed.
    if model.agent.alive {
        out.push(Effect::EndAgent);
    }
    end_everything(model, Mark::AgentGone, out);
    let old = std::mem::take(&mut model.session);
    if let Some(turn) = &old.turn {
        review::ended(model, turn.id, out);
    }
    model.session = Session { cwd: old.cwd, held, ..Session::default() };
    model.agent = AgentState { command: std::mem::take(&mut model.agent.command), ..AgentState::default() };
    model.plan = None;
    model.newest_tool.clear();
    model.noticed.clear();
    model.elsewhere = None;
    notice(model, Level::Info, "starting the agent again, with a new session", Vec::new(), now);
    model.session_from = model.entries.next_id();
    start(model, now, out);
}

pub fn kill(model: &mut Model, out: &mut Vec<Effect>) {
    if model.agent.alive {
        out.push(Effect::KillAgent);
    }
}

pub fn initialized(model: &mut Model, result: Result<InitResult, CallError>, now: Now, out: &mut Vec<Effect>) {
    match result {
        Ok(init) => {
            model.agent.name = init.name;
            model.agent.title = init.title;
            model.agent.version = init.version;
            model.agent.caps = init.caps;
            model.agent.auth_methods = init.auth_methods;
            open_session(model, now, out);
        }
        Err(error) if error.kind == ErrorKind::WrongVersion => {
            let hint = "Install matching versions of the agent and the client.".into();
            die(model, DeathKind::Version, error.message, hint, vec![], now, out);
        }
        Err(error) => refused(model, error, now, out),
    }
}

fn open_session(model: &mut Model, now: Now, out: &mut Vec<Effect>) {
    model.phase = Phase::Opening { since: now };
    out.push(Effect::Call(Call::NewSession));
}

pub fn session_opened(model: &mut Model, result: Result<SessionResult, CallError>, now: Now, out: &mut Vec<Effect>) {
    let opened = match result {
        Ok(opened) => opened,
        Err(error) => return refused(model, error, now, out),
    };
    model.phase = Phase::Ready;
    let id = opened.id;
    model.session.id = Some(id.clone());
    model.session.modes = opened.modes;
    model.session.options = opened.options;
    model.session.legacy_model = opened.model;
    if model.changes.is_on {
        let first_turn = TurnId(model.last_turn.0 + 1);
        let agent = model.agent.label().to_owned();
        out.push(Effect::Review(ReviewEffect::Session { id: id.clone(), first_turn, agent }));
    }
    for early in std::mem::take(&mut model.early) {
        match early {
            Early::Update(session, update) if session == id => update::apply(model, update, now, out),
            Early::Update(..) => model.agent.odd.unknown += 1,
            Early::Request(req, session, request) => service::request(model, req, Some(session), request, now, out),
        }
    }
    prompt::send_next(model, now, out);
}

/// An error from a call without which there is no session.
fn refused(model: &mut Model, error: CallError, now: Now, out: &mut Vec<Effect>) {
    if error.is_auth() {
        return auth_needed(model, error, now, out);
    }
    answer_early(model, out);
    let message = format!("{} failed: {}", error.call, error.message);
    die(model, DeathKind::Refused, message, String::new(), error.data_lines(), now, out);
}

/// A log-in is needed, as any call may find out: the methods are shown with the agent's own message.
pub fn auth_needed(model: &mut Model, error: CallError, now: Now, out: &mut Vec<Effect>) {
    answer_early(model, out);
    notice(model, Level::Warn, format!("log-in needed: {}", error.message), error.data_lines(), now);
    model.phase = Phase::AuthNeeded { error };
}

fn answer_early(model: &mut Model, out: &mut Vec<Effect>) {
    for early in std::mem::take(&mut model.early) {
        if let Early::Request(req, session, _) = early {
            out.push(Effect::Respond { req, answer: Answer::Error(service::unknown_session(&session)) });
        }
    }
}

pub fn authenticate(model: &mut Model, method: String, now: Now, out: &mut Vec<Effect>) {
    let Phase::AuthNeeded { error } = &model.phase else { return };
    // A terminal method is never passed to `authenticate`.
    if !model.agent.auth_methods.iter().any(|m| m.id == method && m.kind == AuthKind::Agent) {
        return;
    }
    model.phase = Phase::Authenticating { method: method.clone(), since: now, error: error.clone() };
    model.login_said = None;
    out.push(Effect::Call(Call::Authenticate { method }));
}

/// A line that is no message. Agents print the address to visit and the code to type while somebody logs in: all of
/// it belongs into one entry, in which it can be read and copied. False when nobody logs in.
pub fn login_line(model: &mut Model, line: &str, now: Now) -> bool {
    if !matches!(model.phase, Phase::Authenticating { .. }) {
        return false;
    }
    if line.trim().is_empty() {
        return true;
    }
    let Some(id) = model.login_said else {
        let title = "the agent prints during the log-in";
        model.login_said = Some(notice(model, Level::Warn, title, vec![line.to_owned()], now));
        return true;
    };
    if model.hears_log_in() {
        model.entries.change(id, |entry| {
            if let Body::Notice(said) = &mut entry.body {
                said.detail.push(line.to_owned());
                if said.detail.len() == LOGIN_LINES {
                    said.detail.push("… what follows is in the journal only".to_owned());
                }
            }
        });
    }
    true
}

pub fn leave_authentication(model: &mut Model, out: &mut Vec<Effect>) {
    if let Phase::Authenticating { error, .. } = &model.phase {
        model.phase = Phase::AuthNeeded { error: error.clone() };
        out.push(Effect::WithdrawAuthenticate);
    }
}

pub fn authenticated(model: &mut Model, method: &str, result: Result<(), CallError>, now: Now, out: &mut Vec<Effect>) {
    if !matches!(&model.phase, Phase::Authenticating { method: waiting, .. } if waiting == method) {
        return;
    }
    if result.is_ok() {
        let name = model.agent.auth_methods.iter().find(|m| m.id == method).map(|m| m.name.as_str());
        let name = name.filter(|n| !n.trim().is_empty()).unwrap_or(method).to_owned();
        notice(model, Level::Info, format!("logged in: {name}"), Vec::new(), now);
    }
    match result {
        Ok(()) if model.session.id.is_some() => {
            model.phase = Phase::Ready;
            prompt::send_next(model, now, out);
        }
        Ok(()) => open_session(model, now, out),
        Err(error) => auth_needed(model, error, now, out),
    }
}

/// The agent is gone, or no session came about. Shown once, whichever sign of it comes first.
pub fn die(
    model: &mut Model,
    kind: DeathKind,
    message: String,
    hint: String,
    detail: Vec<String>,
    now: Now,
    out: &mut Vec<Effect>,
) {
    if matches!(model.phase, Phase::Dead(_)) {
        return;
    }
    end_everything(model, Mark::AgentGone, out);
    if model.agent.alive {
        out.push(Effect::EndAgent);
    }
    let mut lines = detail.clone();
    if !hint.is_empty() {
        lines.push(hint.clone());
    }
    notice(model, Level::Error, message.clone(), lines, now);
    let after = now.saturating_sub(model.agent.spawned_at);
    model.phase = Phase::Dead(Death { kind, message, hint, detail, at: now, after });
    if let Some(turn) = model.session.turn.take() {
        out.push(Effect::FrontEnd(FrontEnd::TurnEnded(turn.id, Ended::Gone)));
        review::ended(model, turn.id, out);
    }
}

/// Open requests are void, tool calls marked, terminals stopped, held prompts go back to the composer.
fn end_everything(model: &mut Model, mark: Mark, out: &mut Vec<Effect>) {
    for early in std::mem::take(&mut model.early) {
        if let Early::Request(req, ..) = early {
            out.push(Effect::Void(req));
        }
    }
    permission::void_all(model, out);
    model.creating.clear();
    for terminal in model.terminals.values_mut() {
        out.extend(terminal.waiters.drain(..).map(Effect::Void));
        if terminal.origin == super::super::session::TerminalOrigin::Ours {
            // The next agent must not reach it.
            terminal.released = true;
            if terminal.exit.is_none() {
                out.push(Effect::TerminalKill(terminal.id.clone()));
            }
        }
    }
    prompt::settle(model, mark, out);
    prompt::return_held(model, None, out);
}
