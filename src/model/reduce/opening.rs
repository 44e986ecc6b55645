//! How a session begins and ends: `session/new` and its answer, the end together with the agent, a new start, closing.
//!
//! Invariant: at the end of a session, whatever the reason, every request in it is answered or void, exactly once.

use super::{Cx, notice, permission, prompt, review};
use crate::model::agent::Death;
use crate::model::effect::{Answer, Call, Effect, Ended, FrontEnd, ReviewEffect};
use crate::model::entry::{Body, Level};
use crate::model::event::{PromptResult, SessionResult, Stop};
use crate::model::refusal::{Reason, Refusal};
use crate::model::session::{Closed, Session, SessionState, TerminalOrigin};
use crate::model::tool::Mark;

/// Lines printed during a log-in that are kept.
const LOGIN_LINES: usize = 50;

pub fn open(session: &mut Session, cx: &mut Cx) {
    session.state = SessionState::Opening { since: cx.now };
    cx.push(Effect::Call(Call::NewSession));
}

/// The agent has opened it. `agent` is its label.
pub fn opened(session: &mut Session, opened: SessionResult, agent: &str, cx: &mut Cx) {
    session.state = SessionState::Ready;
    session.id = Some(opened.id.clone());
    session.modes = opened.modes;
    session.options = opened.options;
    session.legacy_model = opened.model;
    if session.changes.is_on {
        let first_turn = cx.next_turn();
        cx.push(Effect::Review(ReviewEffect::Session { id: opened.id, first_turn, agent: agent.to_owned() }));
    }
}

/// A line that the agent prints while the person logs in. All of it belongs into one entry, in which it can be read
/// and copied: addresses to visit, codes to type.
pub fn login_line(session: &mut Session, line: &str, cx: &Cx) {
    if line.trim().is_empty() {
        return;
    }
    let Some(id) = session.login_said else {
        let title = "the agent prints during the log-in";
        session.login_said = Some(notice(session, Level::Warn, title, vec![line.to_owned()], cx.now));
        return;
    };
    if has_room_for_log_in(session) {
        let there = if session.entries.has_journal {
            "what follows is in the journal only"
        } else {
            "what follows is left out"
        };
        session.entries.change(id, |entry| {
            if let Body::Notice(said) = &mut entry.body {
                said.detail.push(line.to_owned());
                if said.detail.len() == LOGIN_LINES {
                    said.detail.push(format!("… {there}"));
                }
            }
        });
    }
}

pub fn has_room_for_log_in(session: &Session) -> bool {
    session.login_said.is_none_or(|id| match session.entries.get(id).map(|e| &e.body) {
        Some(Body::Notice(said)) => said.detail.len() < LOGIN_LINES,
        _ => false,
    })
}

/// The agent is gone: open requests are void, tool calls marked, terminals stopped, held prompts go back to the
/// composer.
pub fn end_everything(session: &mut Session, cx: &mut Cx) {
    permission::void_all(session, cx);
    session.creating.clear();
    for terminal in session.terminals.values_mut() {
        for req in terminal.waiters.drain(..) {
            cx.push(Effect::Void(req));
        }
        if terminal.origin == TerminalOrigin::Ours {
            // The next agent must not reach it.
            terminal.released = true;
            if terminal.exit.is_none() {
                cx.push(Effect::TerminalKill(terminal.id.clone()));
            }
        }
    }
    prompt::settle(session, Mark::AgentGone, cx);
    prompt::return_held(session, None, cx);
}

/// Says why it has ended, and ends the turn that ran.
pub fn closed(session: &mut Session, death: &Death, why: Closed, cx: &mut Cx) {
    let mut lines = death.detail.clone();
    if !death.hint.is_empty() {
        lines.push(death.hint.clone());
    }
    notice(session, Level::Error, death.message.clone(), lines, cx.now);
    session.state = SessionState::Closed(why);
    session.ended = None;
    if let Some(turn) = session.turn.take() {
        cx.push(Effect::FrontEnd(FrontEnd::TurnEnded(turn.id, Ended::Gone)));
        review::ended(session, turn.id, cx);
    }
}

/// The agent is started again: the transcript and what waits to be sent stay. Nothing negotiated carries over.
pub fn begin_anew(session: &mut Session, cx: &mut Cx) {
    let held = std::mem::take(&mut session.held);
    end_everything(session, cx);
    if let Some(turn) = session.turn.take() {
        review::ended(session, turn.id, cx);
    }
    session.state = SessionState::Waiting;
    session.held = held;
    session.ended = None;
    session.id = None;
    session.title = None;
    session.modes = None;
    session.options.clear();
    session.legacy_model = None;
    session.commands.clear();
    session.usage = None;
    session.wishes.clear();
    session.plan = None;
    session.newest_tool.clear();
    session.noticed.clear();
    session.elsewhere = None;
    notice(session, Level::Info, "starting the agent again, with a new session", Vec::new(), cx.now);
    session.first_entry = session.entries.next_id();
}

/// The person closes it. The agent lives on, so everything is answered; what is on its way comes back and is answered
/// then.
pub fn close(session: &mut Session, cx: &mut Cx) {
    if session.state == SessionState::Closed(Closed::ByPerson) {
        return;
    }
    let is_sent = session.turn.as_ref().is_some_and(|turn| turn.unsent.is_none() && turn.cancelling.is_none());
    if let Some(wire) = session.id.clone().filter(|_| is_sent) {
        cx.push(Effect::CancelTurn(wire));
    }
    permission::cancel_all(session, cx);
    let cancelled = || Answer::Error(Refusal::new(Reason::Cancelled, "Request cancelled: the session is closed"));
    for req in std::mem::take(&mut session.creating).into_keys() {
        cx.push(Effect::Respond { req, answer: cancelled() });
    }
    for terminal in session.terminals.values_mut() {
        for req in terminal.waiters.drain(..) {
            cx.push(Effect::Respond { req, answer: cancelled() });
        }
        if terminal.origin == TerminalOrigin::Ours {
            if terminal.exit.is_none() {
                cx.push(Effect::TerminalKill(terminal.id.clone()));
            }
            if !std::mem::replace(&mut terminal.released, true) {
                cx.push(Effect::TerminalRelease(terminal.id.clone()));
            }
        }
    }
    prompt::settle(session, Mark::Cancelled, cx);
    if let Some(turn) = session.turn.take() {
        let result = PromptResult { stop: Stop::Cancelled, usage: None };
        cx.push(Effect::FrontEnd(FrontEnd::TurnEnded(turn.id, Ended::Stopped(result))));
        review::ended(session, turn.id, cx);
    }
    prompt::return_held(session, None, cx);
    session.state = SessionState::Closed(Closed::ByPerson);
    session.review = None;
    session.rewind = None;
    session.newest_tool.clear();
    session.entries.clear();
}
