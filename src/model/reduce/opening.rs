//! How a session begins and ends: the call that opens it and its answer, the end together with the agent, a new start,
//! closing.
//!
//! Invariant: at the end of a session, for any reason, every request in it is answered or void, exactly once.

use super::agent::End;
use super::{Cx, child, fold_detail, late, notice, permission, permission_mode, prompt, retold, review, shell};
use crate::base::human;
use crate::model::agent::Death;
use crate::model::changes::ReviewCommand;
use crate::model::effect::{Answer, Call, Effect, Ended, FrontEnd, Withdrawal};
use crate::model::entry::{Body, DetailFold, Level};
use crate::model::event::{CallError, ErrorKind, Opening, PromptResult, SessionResult, Stop, Timer};
use crate::model::history::Kind;
use crate::model::ids::{Now, SessionId};
use crate::model::login::LOGIN_LINES;
use crate::model::refusal::{Reason, Refusal};
use crate::model::session::{Closed, Policy, ReadOnly, Session, SessionState, StoredHistory, Waiter};
use crate::model::terminal::TerminalOrigin;
use crate::model::tool::Mark;
use std::time::Duration;

/// How long an agent is silent that has told a history to its end.
const HISTORY_QUIET: Duration = Duration::from_millis(300);
/// Servers that are named where one of them may be the reason.
const NAMED: usize = 5;

/// Why the session is not there. An agent that finds fault with what the call held may not take the servers in it (V2-123).
pub fn failed(session: &Session, error: &CallError, advice: Option<&str>) -> End {
    let is_kept = session.opening.kept().is_some();
    let end = if is_kept { End::not_continued(error, advice) } else { End::refused(error) };
    let given: Vec<&str> = session.servers.all().filter(|(_, is_on)| *is_on).map(|(name, _)| name).collect();
    if error.kind != ErrorKind::BadParams || given.is_empty() {
        return end;
    }
    let more = if given.len() > NAMED { ", …" } else { "" };
    let hint = format!(
        "It may not take the MCP servers that it was given ({}{more}): --no-mcp leaves them out, --no-mcp NAME one of them.",
        given[..given.len().min(NAMED)].join(", ")
    );
    End { hint, ..end }
}

/// Whether going on without the history loses nothing of it: it is here, or no person reads it. Where it is from a
/// journal, it may have gone on elsewhere since.
pub fn needs_no_history(session: &Session) -> bool {
    matches!(session.policy, Policy::Auto(_)) || session.has_talked() && session.stored_history != StoredHistory::Here
}

/// Whether anything is known of it from a journal, so that a person can read it although it does not go on.
pub fn is_worth_showing(session: &Session) -> bool {
    session.policy == Policy::Ask && session.stored_history == StoredHistory::Here && session.has_talked()
}

/// Whether the agent has said or done anything in it.
fn has_worked(session: &Session) -> bool {
    session.entries.slots().any(|slot| matches!(slot.kind(), Kind::Agent | Kind::Thought | Kind::Tool))
}

/// Of a copy the agent may have told the history before it told the name: what follows belongs to that. False of any
/// other session.
pub fn is_named(session: &mut Session, id: &SessionId, cx: &Cx) -> bool {
    if !matches!(session.opening, Opening::Fork(_)) {
        return false;
    }
    session.id = Some(id.clone());
    session.state = SessionState::Loading { heard: cx.now };
    true
}

/// From here on what the agent says of a session that it has kept belongs to this one.
pub fn open(session: &mut Session, cx: &mut Cx) {
    session.id = session.opening.id().cloned();
    session.put_off = None;
    session.state = match session.id {
        Some(_) => SessionState::Loading { heard: cx.now },
        None => SessionState::Opening { since: cx.now },
    };
    // What is shown already is not shown again.
    let is_retold = matches!(session.opening, Opening::Load(_) | Opening::Fork(_)) && session.has_talked();
    session.retold = is_retold.then(Box::default);
    session.answered = None;
    session.late = None;
    session.told_to_wait = None;
    session.background.clear();
    cx.push(Effect::Call(Call::OpenSession(session.opening.clone())));
}

/// The agent has answered a call to load. True when it looks as if there was more to come: the last that was told is a
/// prompt. By the protocol there is nothing more; there are agents that answer first.
pub fn is_still_told(session: &mut Session, opened: &SessionResult, cx: &mut Cx) -> bool {
    let told = session.retold.as_ref().map_or(&session.entries, |told| told.entries());
    let last = told.iter().rev().find(|entry| !matches!(entry.body, Body::Notice(_)));
    let is_open = last.is_some_and(|entry| matches!(entry.body, Body::User(_)));
    if is_open && matches!(session.opening, Opening::Load(_)) {
        session.answered = Some(Box::new(opened.clone()));
        cx.push(Effect::StartTimer { timer: Timer::History, after: HISTORY_QUIET });
        return true;
    }
    false
}

/// The answer, once the agent has been silent for long enough.
pub fn quiet(session: &mut Session, cx: &mut Cx) -> Option<SessionResult> {
    let SessionState::Loading { heard } = session.state else { return None };
    let silent = cx.now.saturating_sub(heard);
    if session.answered.is_some() && silent < HISTORY_QUIET {
        cx.push(Effect::StartTimer { timer: Timer::History, after: HISTORY_QUIET.saturating_sub(silent) });
        return None;
    }
    session.answered.take().map(|opened| *opened)
}

/// How long it is to be left alone before an agent can load it that loads none which is younger than this.
pub fn is_too_young(session: &Session, youngest: Duration, now: Now) -> Option<Duration> {
    let (at, age) = session.age?;
    let left = youngest.saturating_sub(age.saturating_add(now.saturating_sub(at)));
    (left > Duration::ZERO).then_some(left)
}

/// It is asked for when it is old enough.
pub fn put_off(session: &mut Session, left: Duration, cx: &mut Cx) {
    let words = format!("its agent cannot load a session again so soon: asked for in {}", human::duration(left));
    // Also without a person it is said why nothing happens.
    notice(session, Level::Warn, words, Vec::new(), cx.now);
    session.put_off = Some(cx.now.saturating_add(left));
    cx.push(Effect::StartTimer { timer: Timer::OldEnough, after: left });
}

/// It is asked for once more when the agent takes calls again.
pub fn wait(session: &mut Session) {
    session.state = SessionState::Waiting;
    session.put_off = None;
    session.id = None;
}

/// The one that did not come about is not asked for again: another is.
pub fn leave(session: &mut Session, cx: &mut Cx) {
    session.id = None;
    hold_for_another(session, cx);
}

/// The agent is up, and is asked once more.
pub fn say_what_is_asked_for(session: &mut Session, cx: &mut Cx) {
    let is_another = session.opening == Opening::New && session.has_talked();
    if is_another {
        (session.title, session.known_title) = (None, None);
    }
    let words = if is_another {
        "asking the agent for a new session, in which nothing of what is above is known"
    } else {
        "asking the agent for the session once more"
    };
    notice(session, Level::Info, words, Vec::new(), cx.now);
    if is_another {
        hold_for_another(session, cx);
    }
}

/// Another session is opened in its place: what waits was written for this one, and is not sent there by itself.
fn hold_for_another(session: &mut Session, cx: &mut Cx) {
    if session.has_talked() {
        session.begins = session.entries.next_id();
    }
    if session.has_talked() && session.held.flows() {
        prompt::hold(session, None, |_| false, cx);
        let words = "what waits to be sent was written for the session above: it is not sent in another by itself";
        notice(session, Level::Info, words, Vec::new(), cx.now);
    }
}

/// Whether the transcript ends with these words of ours: nothing came of the last time that it went on.
fn says_last(session: &Session, words: &str) -> bool {
    matches!(session.entries.last().map(|last| &last.body), Some(Body::Notice(last)) if !last.by_agent && last.title == words)
}

/// The agent has opened it. `agent` is its label.
pub fn opened(session: &mut Session, opened: SessionResult, agent: &str, cx: &mut Cx) {
    session.age = Some((cx.now, Duration::ZERO));
    // A new one has nothing to do yet (V2-027).
    session.told_to_wait = session.told_to_wait.or(session.begins_anew().then_some(false));
    let opening = std::mem::take(&mut session.opening);
    let goes_on = matches!(opening, Opening::Load(_) | Opening::Resume(_) | Opening::Continue(_));
    match opening {
        Opening::New | Opening::After(_) | Opening::Aside { .. } | Opening::Show { .. } => {
            if let Some(beside) = &mut session.beside {
                beside.is_copy = false;
            }
        }
        Opening::Load(_) => {
            let was_shown = session.retold.is_some();
            let told = retold::merge(session, cx);
            session.late = was_shown.then(|| Box::new(late::after(session, told)));
            end_past_turn(session, cx);
            if opened.earlier > 0 && !session.has_talked() && session.policy == Policy::Ask {
                let words = format!(
                    "{} not shown: the agent does not tell them again",
                    human::count(opened.earlier, "earlier message")
                );
                notice(session, Level::Info, words, Vec::new(), cx.now);
            }
            if was_shown && session.policy == Policy::Ask && !says_last(session, "the session goes on") {
                notice(session, Level::Info, "the session goes on", Vec::new(), cx.now);
            }
        }
        Opening::Resume(_) | Opening::Continue(_) => {
            session.is_untold = !session.has_talked();
            let words = if session.has_talked() {
                "the session goes on"
            } else {
                "the session goes on; what was said in it before is not shown"
            };
            if session.policy == Policy::Ask && !says_last(session, words) {
                notice(session, Level::Info, words, Vec::new(), cx.now);
            }
        }
        Opening::Fork(from) | Opening::Copy(from) => {
            retold::merge(session, cx);
            end_past_turn(session, cx);
            if session.beside.is_some() {
                // What is above is of the conversation.
                session.begins = session.entries.next_id();
            }
            let words = if session.has_talked() {
                format!("a copy of session {from}; what is above was said in that one")
            } else {
                format!("a copy of session {from}; what was said in that one is not shown")
            };
            notice(session, Level::Info, words, Vec::new(), cx.now);
        }
    }
    if session.stored_history == StoredHistory::Here {
        session.stored_history = StoredHistory::Joined;
    }
    session.state = SessionState::Ready;
    session.id = Some(opened.id.clone());
    permission_mode::opened(session, cx);
    // Where the answer says nothing, what the agent has said before it stands.
    session.modes = opened.modes.or(session.modes.take());
    session.refused_modes.clear();
    session.older_models = opened.model.or(session.older_models.take());
    if let Some(list) = opened.options {
        session.options = list;
    }
    if let Some(commands) = opened.commands {
        session.commands = commands;
    }
    if session.changes.is_on {
        let (first_turn, agent, is_aside) = (cx.next_turn(), agent.to_owned(), session.is_aside());
        cx.push(Effect::Review(ReviewCommand::Session { id: opened.id, first_turn, agent, goes_on, is_aside }));
    }
    if std::mem::take(&mut session.is_at_work) {
        prompt::of_its_own(session, cx);
    }
}

/// A turn of the history that the agent tells is complete.
pub fn end_past_turn(session: &mut Session, cx: &mut Cx) {
    prompt::close_turn(session, Mark::NoFinalStatus, cx);
    session.plans.clear();
}

/// It does not come about; what the agent has told of it stays. When asking for it again would be in vain, the next try
/// is a new one.
pub fn refused(session: &mut Session, death: &Death, is_in_vain: bool, cx: &mut Cx) {
    answer_everything(session, "the session was not opened", cx);
    retold::merge(session, cx);
    prompt::return_held(session, cx);
    closed(session, death, Closed::Refused(death.clone()), cx);
    session.id = None;
    if is_in_vain {
        // It will not be asked for again.
        session.opening = Opening::New;
    }
}

/// It was asked aside, and is kept: the person decides in it again.
pub fn keep(session: &mut Session, policy: Policy, agent: &str, cx: &mut Cx) {
    let Some(beside) = session.beside.as_mut().filter(|beside| !beside.is_kept) else { return };
    beside.is_kept = true;
    session.policy = policy;
    if let Some(id) = session.id.clone().filter(|_| session.changes.is_on) {
        let (first_turn, agent) = (cx.next_turn(), agent.to_owned());
        let named = ReviewCommand::Session { id, first_turn, agent, goes_on: false, is_aside: false };
        cx.push(Effect::Review(named));
    }
    notice(session, Level::Info, "kept as a session of its own", Vec::new(), cx.now);
}

/// It does not go on; what is known of it can be read.
pub fn only_shown(session: &mut Session, why: ReadOnly, words: String, detail: Vec<String>, cx: &mut Cx) {
    answer_everything(session, "the session was not opened", cx);
    retold::merge(session, cx);
    prompt::return_held(session, cx);
    notice(session, Level::Warn, words, detail, cx.now);
    session.id = None;
    session.ended = None;
    session.state = SessionState::Closed(Closed::ReadOnly(why));
}

/// A line that the agent prints while the person logs in. All of it belongs into one entry, in which it can be read
/// and copied: addresses to visit, codes to type.
pub fn login_line(session: &mut Session, line: &str, cx: &Cx) {
    if line.trim().is_empty() {
        return;
    }
    let Some(id) = session.login_said else {
        let title = "during the log-in the agent says";
        session.login_said = Some(notice(session, Level::Warn, title, vec![line.to_owned()], cx.now));
        return;
    };
    if session.has_room_for_log_in() {
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

/// The agent is gone: open requests are void, tool calls marked, terminals stopped, prompts that wait are held
///
pub fn end_everything(session: &mut Session, mark: Mark, cx: &mut Cx) {
    retold::merge(session, cx);
    late::over(session, cx);
    session.answered = None;
    permission::void_all(session, cx);
    session.creating.clear();
    for terminal in session.terminals.values_mut() {
        for Waiter { req, .. } in terminal.waiters.drain(..) {
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
    prompt::close_turn(session, mark, cx);
    // One that has not been opened does not go on.
    if session.id.is_some() {
        prompt::hold(session, None, |_| false, cx);
    } else {
        prompt::return_held(session, cx);
    }
}

/// Says why it has ended, and ends the turn that ran.
pub fn closed(session: &mut Session, death: &Death, why: Closed, cx: &mut Cx) {
    let mut lines = death.detail.clone();
    if !death.hint.is_empty() {
        lines.push(death.hint.clone());
    }
    let entry = notice(session, Level::Error, death.message.clone(), lines, cx.now);
    if death.fold != DetailFold::All {
        fold_detail(session, entry, death.fold);
    }
    session.state = SessionState::Closed(why);
    session.ended = None;
    if let Some(turn) = session.turn.take() {
        cx.push(Effect::FrontEnd(FrontEnd::TurnEnded(turn.id, Ended::Gone, turn.spent(cx.now))));
        review::ended(session, turn.id, cx);
        review::rule_off(session, &turn, cx);
    }
}

/// The agent is started again: the transcript and what waits to be sent stay. Nothing negotiated carries over.
pub fn begin_anew(session: &mut Session, keeps_sessions: bool, cx: &mut Cx) {
    let held = std::mem::take(&mut session.held);
    end_everything(session, Mark::AgentGone, cx);
    // One in which nothing was said is not worth to be asked for, and many agents do not keep it. A prompt that was
    // refused until the person logs in is nothing that was said.
    let was_refused = std::mem::take(&mut session.wants_log_in);
    let is_worth_it = if was_refused { has_worked(session) } else { session.has_talked() };
    if session.opening == Opening::New && keeps_sessions && is_worth_it {
        session.opening = session.id.take().map_or(Opening::New, Opening::Continue);
    }
    if let Some(turn) = session.turn.take() {
        review::ended(session, turn.id, cx);
        review::rule_off(session, &turn, cx);
    }
    wait(session);
    session.held = held;
    session.ended = None;
    // A conversation that goes on is the one that it was.
    let title = session.title.take().or(session.known_title.take());
    session.known_title = title.filter(|_| session.opening != Opening::New);
    session.modes = None;
    session.options.clear();
    session.older_models = None;
    session.commands.clear();
    session.usage = None;
    session.compactions.clear();
    session.wishes.clear();
    permission_mode::end(session, "the agent is started again", cx);
    session.plans.clear();
    child::leave(session, session.opening != Opening::New);
    session.noticed.clear();
    session.messages.clear();
    let words = match session.opening {
        Opening::New if !session.has_talked() => "starting the agent again, with a new session",
        Opening::New => "starting the agent again, with a new session: it does not remember what is above",
        _ => "starting the agent again, and asking it for the session once more",
    };
    notice(session, Level::Info, words, Vec::new(), cx.now);
    if session.opening == Opening::New && is_worth_it {
        hold_for_another(session, cx);
    }
}

/// The person closes it. The agent lives on, so everything is answered; what is on its way comes back and is answered
/// then.
pub fn close(session: &mut Session, tells_agent: bool, cx: &mut Cx) {
    if session.state == SessionState::Closed(Closed::ByPerson) {
        return;
    }
    let is_sent = session.turn.as_ref().is_some_and(|turn| !turn.is_unsent && turn.cancelling.is_none());
    if let Some(wire) = session.id.clone().filter(|_| is_sent) {
        cx.push(Effect::CancelTurn(wire));
    }
    shell::end_all(session, cx);
    answer_everything(session, "the session is closed", cx);
    // One that is being opened is closed when it is open.
    if let Some(id) = session.id.clone().filter(|_| tells_agent && session.state == SessionState::Ready) {
        cx.push(Effect::Call(Call::CloseSession(id)));
    }
    if let Some(turn) = session.turn.take() {
        let how = Ended::Stopped(PromptResult { stop: Stop::Cancelled, usage: None });
        cx.push(Effect::FrontEnd(FrontEnd::TurnEnded(turn.id, how, turn.spent(cx.now))));
        if turn.is_unsent {
            review::ended(session, turn.id, cx);
        } else {
            // Until it has answered, the agent may work on, and what it does is of this turn.
            session.lingering = Some(turn.id);
        }
    }
    prompt::return_held(session, cx);
    session.retold = None;
    session.late = None;
    session.answered = None;
    session.state = SessionState::Closed(Closed::ByPerson);
    session.review = None;
    session.rewind = None;
    session.newest_tool.clear();
    session.children.clear();
    session.messages.clear();
    session.entries.clear();
}

/// The agent has closed it too, as far as it knew it at all: nothing of it is under way.
pub fn agent_closed(session: &mut Session, result: &Result<(), CallError>, cx: &mut Cx) {
    if result.as_ref().err().is_none_or(|error| error.kind.is_gone()) {
        end_lingering(session, cx);
    }
}

/// The agent works no more in a session that was closed while it did.
pub fn end_lingering(session: &mut Session, cx: &mut Cx) {
    if let Some(turn) = session.lingering.take() {
        review::ended(session, turn, cx);
    }
}

/// The agent lives on and waits for what it has asked.
fn answer_everything(session: &mut Session, why: &str, cx: &mut Cx) {
    permission::cancel_all(session, Withdrawal::SessionClosed, cx);
    let cancelled = || Answer::Error(Refusal::new(Reason::Cancelled, format!("Request cancelled: {why}")));
    for req in std::mem::take(&mut session.creating).into_keys() {
        cx.push(Effect::Respond { req, answer: cancelled() });
    }
    for terminal in session.terminals.values_mut() {
        for Waiter { req, .. } in terminal.waiters.drain(..) {
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
    prompt::close_turn(session, Mark::Cancelled, cx);
}
