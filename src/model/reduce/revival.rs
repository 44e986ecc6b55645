//! An agent that ended by itself is started again by itself: some tries, later and later, until the person says no.
//!
//! Starts nothing without a screen (but for a connection that broke), or where something would be lost or done twice: in the
//! middle of a turn (but for such a connection: the agent behind it may live on, and is told nothing a second time), after the person has ended the agent, while the person logs in to it, or when it cannot take up what was said. Invariant: at
//! most [`TRIES`] in a row, and each has been announced before.

use super::{Cx, in_agent, lifecycle};
use crate::model::Model;
use crate::model::agent::{Agent, Connection, DeathKind, REVIVALS as TRIES, Revival};
use crate::model::effect::Effect;
use crate::model::event::{Can, Timer};
use crate::model::ids::AgentKey;
use crate::model::session::{Closed, Policy, Session, SessionState};
use std::time::Duration;

/// How long it is waited before each try.
const WAITS: [u64; TRIES as usize] = [1, 1, 2, 4, 8];
/// The same before an address is tried again (S-144).
const WAITS_FAR: [u64; TRIES as usize] = [1, 2, 4, 8, 16];
/// A server is asked again by itself only when it wants no longer a pause than this (S-146).
const LONGEST: Duration = Duration::from_mins(5);
/// Who has lived so long does not keep dying.
const LONG: Duration = Duration::from_mins(1);

/// Whether the agent has work: to be asked before its end is dealt with.
pub fn is_at_work(model: &Model, key: AgentKey) -> bool {
    model.sessions.values().any(|s| s.agent == key && (s.turn.is_some() || s.lingering.is_some()))
}

/// The agent has ended, at work or not: says when it is started again, if it is.
pub fn plan(model: &mut Model, key: AgentKey, was_at_work: bool, cx: &mut Cx) {
    let can_take_up = |agent: &Agent, session: &Session| {
        !session.has_talked() || session.is_to_go_on() || agent.can(Can::Load) || agent.can(Can::Resume)
    };
    let Some(agent) = model.agents.get(&key) else { return };
    let Connection::Dead(death) = &agent.connection else { return };
    let is_far = agent.reached.is_some();
    let is_watched = model.policy == Policy::Ask || (is_far && death.kind.is_of_connection());
    let tried = if death.after >= LONG { 0 } else { agent.revivals };
    let is_sudden = match death.kind {
        DeathKind::Gone | DeathKind::Lost => true,
        // It was up before.
        DeathKind::NotStarted | DeathKind::Early => tried > 0 || agent.retry_after.is_some(),
        DeathKind::Version | DeathKind::Refused => false,
    };
    let is_hurt = was_at_work && death.kind != DeathKind::Lost;
    let is_wanted = is_watched && is_sudden && !is_hurt && !agent.is_ended_by_person && agent.log_in.is_none();
    let sessions: Vec<&Session> = model.sessions_of(key).map(|(_, session)| session).collect();
    // For one that was forgotten alone nothing is started: there is nothing to take up.
    let is_lost = |session: &&Session| {
        matches!(session.state, SessionState::Closed(Closed::Refused(_)))
            && session.has_talked()
            && !session.is_to_go_on()
    };
    let kept: Vec<&Session> = sessions.into_iter().filter(|session| !is_lost(session)).collect();
    let is_worth_it = !kept.is_empty() && kept.iter().all(|session| can_take_up(agent, session));
    let waits = if is_far { WAITS_FAR } else { WAITS };
    let wait = waits.get(usize::from(tried)).map(|wait| Duration::from_secs(*wait));
    let wait = wait.map(|wait| agent.retry_after.unwrap_or(wait)).filter(|wait| *wait <= LONGEST);
    let wait = wait.filter(|_| is_wanted && is_worth_it).map(|wait| if is_far { spread(wait, cx.now) } else { wait });
    in_agent(model, key, cx, |agent, cx| {
        agent.revivals = if is_wanted { tried } else { 0 };
        if let Some(after) = wait {
            agent.revivals += 1;
            agent.revival = Some(Revival { at: cx.now.saturating_add(after), attempt: agent.revivals });
            cx.push(Effect::StartTimer { timer: Timer::Revive, after });
        }
    });
}

/// Up to a quarter longer, by when it happened: not all clients of a server come back at once (S-144).
fn spread(wait: Duration, now: Duration) -> Duration {
    wait.saturating_add(wait * (now.subsec_micros() % 250) / 1000)
}

/// The time has come, unless the person was faster.
pub fn begin(model: &mut Model, key: AgentKey, cx: &mut Cx) {
    let Some(agent) = model.agents.get(&key) else { return };
    let is_due = |revival: Revival| revival.at <= cx.now;
    if !agent.is_dead() || !agent.revival.is_some_and(is_due) {
        return;
    }
    let tried = agent.revivals;
    lifecycle::restart(model, key, cx);
    in_agent(model, key, cx, |agent, _| agent.revivals = tried);
}

/// The person says no.
pub fn give_up(agent: &mut Agent) {
    agent.revival = None;
    agent.revivals = 0;
}

#[cfg(test)]
#[path = "revival_tests.rs"]
mod tests;
