//! Turns: one at a time, from the prompt to its answer, with cancelling and the prompts that wait.

use super::super::Model;
use super::super::effect::{Call, Effect, Ended, FrontEnd};
use super::super::entry::{Body, Entry, Level, UserMessage, UserState};
use super::super::event::{CallError, Link, PromptResult, Stop, Timer};
use super::super::ids::{EntryId, Now, TurnId};
use super::super::session::{HeldPrompt, Phase, Policy, Turn};
use super::super::tool::Mark;
use super::{host, lifecycle, notice, permission, review};
use std::time::Duration;

/// How long the agent has to kill its terminals after a cancel.
const KILL_TERMINALS_AFTER: Duration = Duration::from_secs(2);

/// The same by who is there: where nobody watches, a cancel is the end of the run, and nothing is waited for.
pub fn grace_of_terminals(model: &Model) -> Duration {
    match model.policy {
        Policy::Auto(_) => Duration::ZERO,
        Policy::Ask => KILL_TERMINALS_AFTER,
    }
}

/// Sends a prompt, or holds it in sight while that is not possible. Blank ones are never sent.
pub fn prompt(model: &mut Model, text: String, links: Vec<Link>, now: Now, out: &mut Vec<Effect>) {
    if text.trim().is_empty() {
        return;
    }
    model.session.held.push_back(HeldPrompt { text, links });
    send_next(model, now, out);
}

/// The next prompt that waits, if the session is ready and idle.
pub fn send_next(model: &mut Model, now: Now, out: &mut Vec<Effect>) {
    if model.phase != Phase::Ready || model.session.turn.is_some() {
        return;
    }
    if model.session.id.is_none() {
        return;
    }
    let Some(HeldPrompt { text, links }) = model.session.held.pop_front() else { return };
    let id = TurnId(model.last_turn.0 + 1);
    model.last_turn = id;
    model.plan = None;
    let user = UserMessage {
        text: text.clone(),
        links: links.iter().map(|l| l.name.clone()).collect(),
        state: UserState::Sent,
    };
    let entry = model.entries.push(id, now, Body::User(user));
    model.entries.finish(entry);
    model.session.turn = Some(Turn {
        id,
        started: now,
        heard: now,
        cancelling: None,
        unsent: Some(links),
        spoke: false,
        prompt: text,
        echo: String::new(),
    });
    if !review::begin(model, id, out) {
        transmit(model, id, now, out);
    }
}

/// Puts the prompt of a turn on the wire, once.
pub fn transmit(model: &mut Model, id: TurnId, now: Now, out: &mut Vec<Effect>) {
    let Some(session) = model.session.id.clone() else { return };
    let Some(turn) = model.session.turn.as_mut().filter(|t| t.id == id) else { return };
    let Some(links) = turn.unsent.take() else { return };
    turn.heard = now;
    out.push(Effect::Call(Call::Prompt { session, turn: id, text: turn.prompt.clone(), links }));
}

/// The answer to `session/prompt`: the end of the turn, whatever it says.
pub fn done(model: &mut Model, id: TurnId, result: Result<PromptResult, CallError>, now: Now, out: &mut Vec<Effect>) {
    if model.session.turn.as_ref().is_none_or(|t| t.id != id) {
        model.agent.odd.late += 1;
        return;
    }
    permission::close_all(model, "the turn ended", now, out);
    settle(model, Mark::NoFinalStatus, out);
    let Some(turn) = model.session.turn.take() else { return };
    let ended = match &result {
        Ok(result) => Ended::Stopped(result.clone()),
        Err(error) => Ended::Failed(error.clone()),
    };
    out.push(Effect::FrontEnd(FrontEnd::TurnEnded(id, ended)));
    review::ended(model, id, out);
    let cancelled = turn.cancelling.is_some();
    match result {
        Ok(PromptResult { stop: Stop::EndTurn, .. }) if !cancelled => {
            if !turn.spoke {
                notice(model, Level::Warn, "the turn ended without a word", Vec::new(), now);
            }
            return send_next(model, now, out);
        }
        Ok(result) => stopped(model, &turn, &result.stop, now),
        // whatever the agent calls it, the person stopped it; the journal has the words.
        Err(_) if cancelled => {
            notice(model, Level::Info, "stopped", Vec::new(), now);
        }
        Err(error) if error.is_auth() => {
            return_held(model, Some(turn.prompt), out);
            return lifecycle::auth_needed(model, error, now, out);
        }
        Err(error) => {
            let detail = error.data_lines();
            notice(model, Level::Error, error.as_answer(), detail, now);
        }
    }
    return_held(model, None, out);
}

fn stopped(model: &mut Model, turn: &Turn, stop: &Stop, now: Now) {
    let (level, words) = match stop {
        Stop::EndTurn => (Level::Info, "stopped; the agent had finished by itself".to_owned()),
        Stop::Cancelled if turn.cancelling.is_some() => (Level::Info, "stopped".to_owned()),
        Stop::Cancelled => (Level::Warn, "stopped by the agent".to_owned()),
        Stop::MaxTokens => (Level::Warn, "stopped at the token limit; the answer may be cut off".to_owned()),
        Stop::MaxTurnRequests => (Level::Warn, "stopped at the limit of model requests in one turn".to_owned()),
        Stop::Refusal => {
            drop_prompt(model, turn.id);
            let words = "refused: this prompt and what followed are not part of the conversation any more";
            (Level::Warn, words.to_owned())
        }
        Stop::Odd(None) => (Level::Warn, "the agent gave no stop reason".to_owned()),
        Stop::Odd(Some(raw)) => (Level::Warn, format!("stopped for a reason we do not know: {raw}")),
    };
    notice(model, level, words, Vec::new(), now);
}

/// the person must not rely on a refused prompt.
fn drop_prompt(model: &mut Model, turn: TurnId) {
    for id in of_turn(model, turn, |e| matches!(e.body, Body::User(_))) {
        model.entries.change(id, |e| {
            if let Body::User(user) = &mut e.body {
                user.state = UserState::Dropped;
            }
        });
    }
}

/// The entries of the newest turn that are of a sort. Only the end of the transcript is looked at.
fn of_turn(model: &Model, turn: TurnId, is_wanted: impl Fn(&Entry) -> bool) -> Vec<EntryId> {
    model.entries.iter().rev().take_while(|e| e.turn == turn).filter(|e| is_wanted(e)).map(|e| e.id).collect()
}

/// Esc: the agent is asked to stop; the turn stays open until it has answered.
pub fn cancel(model: &mut Model, now: Now, out: &mut Vec<Effect>) {
    let Some(session) = model.session.id.clone() else { return };
    let running = match &mut model.session.turn {
        Some(turn) if turn.cancelling.is_some() => return,
        Some(turn) if turn.unsent.is_some() => return give_up(model, now, out),
        Some(turn) => {
            turn.cancelling = Some(now);
            Some(turn.id)
        }
        None if model.session.pending.is_empty() && model.gated.is_empty() => return,
        None => None,
    };
    out.push(Effect::CancelTurn(session));
    permission::cancel_all(model, out);
    if let Some(turn) = running {
        mark_unfinished(model, Mark::Cancelled, out);
        match grace_of_terminals(model) {
            Duration::ZERO => host::kill_terminals_of(model, turn, out),
            after => out.push(Effect::StartTimer { timer: Timer::KillTerminals(turn), after }),
        }
    }
}

/// The prompt never went out: there is nothing to stop.
fn give_up(model: &mut Model, now: Now, out: &mut Vec<Effect>) {
    permission::cancel_all(model, out);
    let Some(turn) = model.session.turn.take() else { return };
    let result = PromptResult { stop: Stop::Cancelled, usage: None };
    out.push(Effect::FrontEnd(FrontEnd::TurnEnded(turn.id, Ended::Stopped(result))));
    review::ended(model, turn.id, out);
    notice(model, Level::Info, "stopped", Vec::new(), now);
    return_held(model, None, out);
}

/// Nothing of the turn is expected any more: tool calls without a final status get a mark, open entries are closed.
pub fn settle(model: &mut Model, mark: Mark, out: &mut Vec<Effect>) {
    mark_unfinished(model, mark, out);
    let is_open = |e: &Entry| !e.finished && !matches!(e.body, Body::Terminal(_) | Body::File(_));
    for id in of_turn(model, model.last_turn, is_open) {
        model.entries.finish(id);
    }
}

fn mark_unfinished(model: &mut Model, mark: Mark, out: &mut Vec<Effect>) {
    for id in of_turn(model, model.last_turn, |e| matches!(&e.body, Body::Tool(t) if !t.is_settled())) {
        model.entries.change(id, |e| {
            if let Body::Tool(tool) = &mut e.body {
                tool.mark = Some(mark);
            }
        });
        review::tool(model, id, out);
    }
}

/// What waits goes back to the composer, oldest first, behind `first`.
pub fn return_held(model: &mut Model, first: Option<String>, out: &mut Vec<Effect>) {
    let texts: Vec<String> = first.into_iter().chain(model.session.held.drain(..).map(|h| h.text)).collect();
    if !texts.is_empty() {
        out.push(Effect::FrontEnd(FrontEnd::Returned(texts.join("\n\n"))));
    }
}
