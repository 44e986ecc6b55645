//! Turns: one at a time, from the prompt to its answer, with cancelling and the prompts that wait.
//!
//! Invariant: after a turn that was stopped or has failed nothing that waits is sent before the person says so.

use super::super::effect::{Call, Effect, Ended, FrontEnd, Withdrawal};
use super::super::entry::{Block, Body, ChunkKind, DetailFold, Entry, Level, UserMessage, UserState};
use super::super::event::{
    Activity, CallError, Item, Link, Odd, PromptAnswer, PromptResult, Steered, Stop, Timer, Update, Words,
};
use super::super::ids::{EntryId, Now, Owner, TermId, TurnId};
use super::super::session::{HeldPrompt, Policy, PromptKind, Session, SessionState, Turn, TurnEnd, Write};
use super::super::spent::Waits;
use super::super::tool::{Mark, ToolCall};
use super::Cx;
use super::{fold_detail, host, late, notice, permission, review, ruling, update};
use std::collections::BTreeSet;
use std::time::Duration;

/// How long the agent has to kill its terminals after a cancel.
const KILL_TERMINALS_AFTER: Duration = Duration::from_secs(2);

/// The same by front end: without a screen, a cancel is the end of the run, and nothing is waited for.
pub fn grace_of_terminals(session: &Session) -> Duration {
    match session.policy {
        Policy::Auto(_) => Duration::ZERO,
        Policy::Ask => KILL_TERMINALS_AFTER,
    }
}

/// Sends a prompt, or holds it in sight while that is not possible. Blank ones are never sent.
pub fn prompt(session: &mut Session, text: String, links: Vec<Link>, cx: &mut Cx) {
    prompt_of(session, PromptKind::Person, text, links, cx);
}

fn prompt_of(session: &mut Session, kind: PromptKind, text: String, links: Vec<Link>, cx: &mut Cx) {
    if text.trim().is_empty() {
        return;
    }
    if let Some(why) = session.used_up.clone().filter(|_| may_send(session, cx)) {
        notice(session, Level::Warn, why, Vec::new(), cx.now);
        return cx.push(Effect::FrontEnd(FrontEnd::Returned(text)));
    }
    session.held.add(kind, text, links);
    send_next(session, cx);
}

/// Why something was refused, before all that wait; the person says it, or the client.
pub fn give_reason(session: &mut Session, kind: PromptKind, text: String, cx: &mut Cx) {
    if text.trim().is_empty() {
        return;
    }
    session.held.add_first(kind, text, Vec::new());
    send_next(session, cx);
}

/// The session is ready and idle.
fn may_send(session: &Session, cx: &Cx) -> bool {
    cx.is_up && !session.wants_log_in && session.state == SessionState::Ready && session.turn.is_none()
}

/// The next prompt that waits and is not held, if the session is ready and idle.
pub fn send_next(session: &mut Session, cx: &mut Cx) {
    if !may_send(session, cx) {
        return;
    }
    refuse_used_up(session, cx);
    let Some(HeldPrompt { kind, text, links, .. }) = session.held.next() else { return };
    late::asked(session, cx);
    let id = cx.next_turn();
    (cx.last_turn, session.last_turn) = (id, id);
    session.plans.clear();
    ruling::turn_over(session);
    let user = UserMessage {
        text: text.clone(),
        links: links.iter().map(Link::label).collect(),
        state: if kind == PromptKind::Explained { UserState::OfClient } else { UserState::Sent },
        message_id: None,
        sent: cx.date(),
    };
    let unechoed = links.iter().map(|link| link.uri.clone()).collect();
    let entry = session.entries.push(id, cx.now, Body::User(user));
    session.entries.finish(entry);
    session.ended = None;
    session.turn = Some(Turn {
        id,
        entry,
        is_taken: false,
        started: cx.now,
        waits: Waits::default(),
        heard: cx.now,
        cancelling: None,
        links,
        is_unsent: true,
        goes_on: false,
        spoke: false,
        prompt: text,
        echo: String::new(),
        unechoed,
    });
    if !review::begin(session, id, cx) {
        transmit(session, id, cx);
    }
}

/// The agent is to have these words now. Without a turn, or before one has gone out, they are a prompt like any other.
pub fn steer(session: &mut Session, kind: PromptKind, words: Words, is_taken: bool, cx: &mut Cx) {
    let Words { text, links } = words;
    if text.trim().is_empty() {
        return;
    }
    let is_on_its_way = session.turn.as_ref().is_some_and(|turn| !turn.is_unsent && turn.cancelling.is_none());
    let Some(wire) = session.id.clone().filter(|_| is_on_its_way) else {
        return prompt_of(session, kind, text, links, cx);
    };
    if is_taken && session.used_up.is_none() {
        return cx.push(Effect::Call(Call::Steer { session: wire, words: Words { text, links } }));
    }
    session.held.add_first(kind, text, links);
    if let Some(turn) = &mut session.turn {
        turn.goes_on = true;
    }
    cancel(session, cx);
}

/// What the agent has done with them.
pub fn steered(session: &mut Session, words: Words, result: Result<Steered, CallError>, cx: &mut Cx) {
    let Words { text, links } = words;
    match result {
        Ok(Steered::PromptRequired) => {
            session.held.add_first(PromptKind::Person, text, links);
            send_next(session, cx);
        }
        Ok(done) => {
            let labels = links.iter().map(Link::label).collect();
            let user = UserMessage { text, links: labels, state: UserState::Sent, message_id: None, sent: cx.date() };
            let entry = session.entries.push(session.last_turn, cx.now, Body::User(user));
            session.entries.finish(entry);
            let words = match done {
                Steered::NewTurn => "the agent works on it in a turn of its own, whose end it does not tell",
                _ => "put into the running turn",
            };
            notice(session, Level::Info, words, Vec::new(), cx.now);
        }
        Err(error) => {
            let words = format!("not put into the running turn: {}", error.message);
            notice(session, Level::Warn, words, error.data_lines(), cx.now);
            cx.push(Effect::FrontEnd(FrontEnd::Returned(text)));
        }
    }
}

/// What waits is not sent once a budget is used up.
pub fn refuse_used_up(session: &mut Session, cx: &mut Cx) {
    if let Some(why) = session.used_up.clone().filter(|_| session.held.flows()) {
        notice(session, Level::Warn, why, Vec::new(), cx.now);
        hold(session, None, |_| false, cx);
    }
}

/// Puts the prompt of a turn on the wire, once.
pub fn transmit(session: &mut Session, id: TurnId, cx: &mut Cx) {
    let Some(wire) = session.id.clone() else { return };
    let Some(turn) = session.turn.as_mut().filter(|t| t.id == id) else { return };
    if !std::mem::take(&mut turn.is_unsent) {
        return;
    }
    turn.heard = cx.now;
    let (text, links) = (turn.prompt.clone(), turn.links.clone());
    cx.push(Effect::Call(Call::Prompt { session: wire, turn: id, text, links }));
}

/// The answer to a prompt: the end of its turn, unless it says that there will be another word of that.
pub fn answered(session: &mut Session, id: TurnId, result: Result<PromptAnswer, CallError>, cx: &mut Cx) {
    let Some(turn) = session.turn.as_mut().filter(|t| t.id == id) else { return cx.count(Odd::LateResponse) };
    match result {
        Ok(PromptAnswer::Taken { message }) => {
            turn.is_taken = true;
            if let Some(message) = message {
                session.messages.insert((ChunkKind::User, message), turn.entry);
            }
        }
        Ok(PromptAnswer::Ended(result)) => over(session, id, Ok(result), cx),
        Ok(PromptAnswer::Said { result, text }) => {
            let is_of_turn = |e: &&Entry| e.turn == id;
            let has_text =
                session.entries.iter().rev().take_while(is_of_turn).any(|e| matches!(e.body, Body::Agent(_)));
            if !has_text {
                update::apply(session, Update::Whole { kind: ChunkKind::Agent, content: vec![Block::Text(text)] }, cx);
            }
            over(session, id, Ok(result), cx);
        }
        Ok(PromptAnswer::NotTaken(error)) => not_taken(session, id, error, cx),
        Err(error) => over(session, id, Err(error), cx),
    }
}

/// The prompt is no part of the conversation: it goes back to the composer. Where the agent works all the same, its turn
/// goes on.
fn not_taken(session: &mut Session, id: TurnId, error: CallError, cx: &mut Cx) {
    let Some(turn) = session.turn.as_mut().filter(|_| !error.is_auth()) else {
        return over(session, id, Err(error), cx);
    };
    let prompt = std::mem::take(&mut turn.prompt);
    let is_at_work = turn.is_taken;
    session.entries.drop_prompts(id);
    if is_at_work {
        failed(session, &error, cx.now);
        return cx.push(Effect::FrontEnd(FrontEnd::Returned(prompt)));
    }
    over_with(session, id, Err(error), Some(prompt), cx);
}

/// The agent works, or has nothing to do. That it has nothing to do is no news of a prompt that it has not taken yet.
pub fn activity(session: &mut Session, activity: Activity, cx: &mut Cx) {
    session.told_to_wait = Some(activity == Activity::Waits);
    if session.turn.is_none() {
        let is_busy = matches!(activity, Activity::Busy | Activity::Waits);
        if session.state != SessionState::Ready {
            session.is_at_work = is_busy;
        } else if is_busy {
            of_its_own(session, cx);
        }
        return;
    }
    let Some(turn) = session.turn.as_mut().filter(|t| !t.is_unsent) else { return };
    match activity {
        Activity::Busy | Activity::Waits => turn.is_taken = true,
        Activity::Idle(result) if turn.is_taken => {
            let id = turn.id;
            over(session, id, result, cx);
        }
        Activity::Idle(_) => {}
    }
}

/// The agent works without a prompt of this client: a turn like any other, but that the files were not looked at before.
pub fn of_its_own(session: &mut Session, cx: &mut Cx) {
    let id = cx.next_turn();
    (cx.last_turn, session.last_turn) = (id, id);
    session.plans.clear();
    session.ended = None;
    let entry = notice(session, Level::Info, "the agent works without a prompt", Vec::new(), cx.now);
    session.turn = Some(Turn {
        id,
        entry,
        is_taken: true,
        started: cx.now,
        waits: Waits::default(),
        heard: cx.now,
        cancelling: None,
        links: Vec::new(),
        is_unsent: false,
        goes_on: false,
        spoke: false,
        prompt: String::new(),
        echo: String::new(),
        unechoed: Vec::new(),
    });
    review::begin_late(session, id, cx);
}

fn over(session: &mut Session, id: TurnId, result: Result<PromptResult, CallError>, cx: &mut Cx) {
    over_with(session, id, result, None, cx);
}

/// `back`: what goes back to the composer before what waits.
fn over_with(
    session: &mut Session,
    id: TurnId,
    result: Result<PromptResult, CallError>,
    back: Option<String>,
    cx: &mut Cx,
) {
    late::turn_over(session, cx);
    permission::close_all(session, Withdrawal::TurnEnded, cx);
    close_turn(session, Mark::NoFinalStatus, cx);
    ruling::turn_over(session);
    session.approved.clear();
    let Some(turn) = session.turn.take() else { return };
    let ended = match &result {
        Ok(result) => Ended::Stopped(result.clone()),
        Err(error) => Ended::Failed(error.clone()),
    };
    session.ended = Some(TurnEnd { ended: ended.clone(), by_person: turn.cancelling.is_some(), spoke: turn.spoke });
    cx.push(Effect::FrontEnd(FrontEnd::TurnEnded(id, ended, turn.spent(cx.now))));
    review::ended(session, id, cx);
    let cancelled = turn.cancelling.is_some();
    let has_stopped_itself = !cancelled && matches!(&result, Ok(PromptResult { stop: Stop::Cancelled, .. }));
    match result {
        Ok(PromptResult { stop: Stop::EndTurn, .. }) if !cancelled => {
            if !turn.spoke && !turn.prompt.is_empty() {
                notice(session, Level::Warn, "the turn ended without a word", Vec::new(), cx.now);
            }
            review::rule_off(session, &turn, cx);
            return send_next(session, cx);
        }
        Ok(result) => stopped(session, &turn, &result.stop, cx.now),
        // the agent's own word does not count, the person stopped it; the journal has the words.
        Err(_) if cancelled => {
            notice(session, Level::Info, "stopped", Vec::new(), cx.now);
        }
        Err(error) if error.is_auth() => {
            // It is sent again after the log-in, before all else that waits.
            if !turn.prompt.is_empty() {
                session.entries.drop_prompts(id);
                session.held.add_first(PromptKind::Person, turn.prompt, turn.links);
            }
            return cx.log_in_needed(error);
        }
        Err(error) => {
            let mut said = session.entries.iter().rev().take_while(|entry| entry.turn == id);
            let last =
                said.find_map(|entry| if let Body::Agent(message) = &entry.body { Some(&message.text) } else { None });
            // Once is enough: the journal has the rest.
            match last.and_then(|said| error.as_answer_after(said)) {
                Some(words) => notice(session, Level::Error, words, Vec::new(), cx.now),
                None => failed(session, &error, cx.now),
            };
        }
    }
    review::rule_off(session, &turn, cx);
    if turn.goes_on && cancelled && back.is_none() {
        return send_next(session, cx);
    }
    // Some agents stop when they are refused something: why is said all the same.
    let is_reason = |kind| matches!(kind, PromptKind::Reason | PromptKind::Explained);
    let is_said = |held: &HeldPrompt| has_stopped_itself && is_reason(held.kind);
    hold(session, back, is_said, cx);
    send_next(session, cx);
}

/// One thing is to end that the agent lets the person end alone. What becomes of it, the agent tells.
pub fn cancel_item(session: &mut Session, item: Item, cx: &mut Cx) {
    let Some(wire) = session.id.clone() else { return };
    let is_offered = match &item {
        Item::Tool(id) => {
            let entry = session.newest_tool.get(id).copied();
            entry.and_then(|entry| session.tool(entry)).is_some_and(ToolCall::can_be_cancelled)
        }
        Item::Terminal(name) => {
            let terminal = session.terminals.get(&TermId::of(Owner::Agent, name.as_str()));
            terminal.is_some_and(|terminal| terminal.can_cancel && terminal.exit.is_none())
        }
    };
    if is_offered {
        cx.push(Effect::Call(Call::CancelItem { session: wire, item }));
    }
}

/// That it had ended already is no news (V2-067).
pub fn item_cancelled(session: &mut Session, result: Result<(), CallError>, cx: &mut Cx) {
    if let Err(error) = result {
        let words = format!("it could not be ended alone: {}", error.message);
        notice(session, Level::Info, words, Vec::new(), cx.now);
    }
}

/// What a service has answered in JSON is said in words, and opened by the person.
fn failed(session: &mut Session, error: &CallError, now: Now) -> EntryId {
    let id = notice(session, Level::Error, error.as_answer(), error.data_lines(), now);
    if error.is_raw() {
        fold_detail(session, id, DetailFold::Nothing);
    }
    id
}

fn stopped(session: &mut Session, turn: &Turn, stop: &Stop, now: Now) {
    let (level, words) = match stop {
        Stop::EndTurn => (Level::Info, "stopped; the agent had finished by itself".to_owned()),
        Stop::Cancelled if turn.cancelling.is_some() => (Level::Info, "stopped".to_owned()),
        Stop::Cancelled => (Level::Warn, "stopped by the agent".to_owned()),
        Stop::MaxTokens => (Level::Warn, "stopped at the token limit; the answer may be cut off".to_owned()),
        Stop::MaxTurnRequests => (Level::Warn, "stopped at the limit of model requests in one turn".to_owned()),
        Stop::Refusal => {
            // the person must not rely on a refused prompt.
            session.entries.drop_prompts(turn.id);
            let words = "refused: this prompt and what followed are not part of the conversation any more";
            (Level::Warn, words.to_owned())
        }
        Stop::Odd(None) => (Level::Warn, "the agent gave no stop reason".to_owned()),
        Stop::Odd(Some(raw)) => (Level::Warn, format!("stopped for a reason we do not know: {raw}")),
    };
    notice(session, level, words, Vec::new(), now);
}

/// The entries of the newest turn that are of a sort. Only the end of the transcript is looked at.
fn of_turn(session: &Session, turn: TurnId, is_wanted: impl Fn(&Entry) -> bool) -> Vec<EntryId> {
    session.entries.iter().rev().take_while(|e| e.turn == turn).filter(|e| is_wanted(e)).map(|e| e.id).collect()
}

/// Esc: the agent is asked to stop; the turn stays open until it has answered.
pub fn cancel(session: &mut Session, cx: &mut Cx) {
    let Some(wire) = session.id.clone() else { return };
    let running = match &mut session.turn {
        Some(turn) if turn.cancelling.is_some() => return,
        Some(turn) if turn.is_unsent => return give_up(session, cx),
        Some(turn) => {
            turn.cancelling = Some(cx.now);
            Some(turn.id)
        }
        None if session.questions.is_empty() && !session.writes.values().any(Write::is_stopped) => return,
        None => None,
    };
    cx.push(Effect::CancelTurn(wire));
    permission::cancel_all(session, Withdrawal::TurnStopped, cx);
    if let Some(turn) = running {
        mark_unfinished(session, Mark::Cancelled, |_| true, cx);
        match grace_of_terminals(session) {
            Duration::ZERO => host::kill_terminals_of(session, turn, cx),
            after => cx.push(Effect::StartTimer { timer: Timer::KillTerminals(turn), after }),
        }
    }
}

/// The prompt never went out: there is nothing to stop.
fn give_up(session: &mut Session, cx: &mut Cx) {
    permission::cancel_all(session, Withdrawal::TurnStopped, cx);
    let Some(turn) = session.turn.take() else { return };
    let result = PromptResult { stop: Stop::Cancelled, usage: None };
    let ended = Ended::Stopped(result);
    session.ended = Some(TurnEnd { ended: ended.clone(), by_person: true, spoke: false });
    cx.push(Effect::FrontEnd(FrontEnd::TurnEnded(turn.id, ended, turn.spent(cx.now))));
    notice(session, Level::Info, "stopped", Vec::new(), cx.now);
    review::ended(session, turn.id, cx);
    review::rule_off(session, &turn, cx);
    hold(session, None, |_| false, cx);
}

/// Nothing of the turn is expected any more: tool calls without a final status get a mark, open entries are closed.
pub fn close_turn(session: &mut Session, mark: Mark, cx: &mut Cx) {
    mark_unfinished(session, mark, |_| true, cx);
    let is_open = |e: &Entry| !e.finished && !matches!(e.body, Body::Terminal(_) | Body::File(_));
    for id in of_turn(session, session.last_turn, is_open) {
        session.entries.finish(id);
    }
}

/// Calls of which this is so that the turn has begun or taken up, and that have no final status.
pub fn mark_unfinished(session: &mut Session, mark: Mark, is_one: impl Fn(&ToolCall) -> bool, cx: &mut Cx) {
    let goes_on = |e: &Entry| matches!(&e.body, Body::Tool(t) if !t.is_finished() && is_one(t));
    let mut all = of_turn(session, session.last_turn, goes_on);
    let taken_up = std::mem::take(&mut session.taken_up);
    let is_to_end = |id: &EntryId| session.entries.get(*id).is_none_or(&goes_on);
    let (ended, left): (BTreeSet<EntryId>, _) = taken_up.into_iter().partition(is_to_end);
    session.taken_up = left;
    all.extend(ended);
    for id in all {
        session.entries.change(id, |e| {
            if let Body::Tool(tool) = &mut e.body {
                tool.mark = Some(mark);
            }
        });
        review::tool(session, id, cx);
    }
}

/// What waits stays as it is, and is not sent before the person says so, but for what is `said` all the same; `first` goes
/// back to the composer. Where there is nobody to say so, all that is not said goes back.
pub fn hold(session: &mut Session, first: Option<String>, said: impl Fn(&HeldPrompt) -> bool, cx: &mut Cx) {
    if let Policy::Auto(_) = session.policy {
        let gone = session.held.retain(said);
        return give_back(first.into_iter().chain(gone.into_iter().map(|held| held.text)), cx);
    }
    session.held.hold(|prompt| prompt.stays || !said(prompt));
    if let Some(text) = first {
        cx.push(Effect::FrontEnd(FrontEnd::Returned(text)));
    }
}

/// The person says so.
pub fn let_go(session: &mut Session, cx: &mut Cx) {
    session.held.hold(|_| false);
    send_next(session, cx);
}

/// What waits goes back to the composer, oldest first.
pub fn return_held(session: &mut Session, cx: &mut Cx) {
    give_back(session.held.empty().map(|held| held.text), cx);
}

fn give_back(texts: impl Iterator<Item = String>, cx: &mut Cx) {
    let texts: Vec<String> = texts.collect();
    if !texts.is_empty() {
        cx.push(Effect::FrontEnd(FrontEnd::Returned(texts.join("\n\n"))));
    }
}
