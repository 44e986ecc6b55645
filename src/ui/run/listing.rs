//! Agents are asked which sessions they keep, and what is wrong with their lists is said where these are looked at.
//!
//! Reads no journal. Invariant: a list is asked for once at a time, and a long one not again and again.

use super::Running;
use crate::model::Model;
use crate::model::agent::{Agent, ListState};
use crate::model::event::{Can, Intent};
use crate::model::ids::{AgentKey, Now, SessionKey};
use crate::model::session::{Session, SessionState};
use crate::ui::screen::Device;
use crate::ui::state::session_list::Reach;
use std::time::Duration;

/// After so long a long list is asked for again: all that is told stands in the journal.
const LIST_AGAIN: Duration = Duration::from_mins(1);

/// What is said of an agent that has not answered yet, and of one that has more to tell.
const AWAITED: &str = "has not told its sessions yet";
const GOES_ON: &str = "has not told all of its sessions yet";

/// Has the agents that are there tell which sessions they keep: of the directory that is listed, or of all.
pub(super) fn ask<D: Device>(running: &mut Running<D>) {
    let Some(shown) = running.engine.model().at(running.app.shown()) else { return };
    let is_wide = running.app.list.as_ref().is_some_and(|list| list.reach() == Reach::Everywhere);
    let cwd = (!is_wide).then(|| shown.cwd.clone());
    let (model, now) = (running.engine.model(), running.engine.now());
    let is_asked = |key: AgentKey, agent: &Agent| {
        let is_new = running.asked.get(&key).is_some_and(|(_, at)| now.saturating_sub(*at) < LIST_AGAIN);
        let listing = agent.listing().filter(|listing| listing.cwd == cwd);
        listing.is_some_and(|listing| listing.state == ListState::Going || listing.is_long() && is_new)
    };
    let there = model.agents().filter(|(key, agent)| tells(model, *key, agent));
    let (asked, others): (Vec<_>, Vec<_>) = there.partition(|(key, agent)| is_asked(*key, agent));
    // What was told before the list was opened is not told again.
    let trouble = asked.into_iter().find_map(|(_, agent)| trouble(agent));
    let others: Vec<_> = others.into_iter().map(|(key, agent)| (key, agent.spawned_at)).collect();
    if let (Some(trouble), Some(list)) = (trouble, &mut running.app.list) {
        list.note = Some(trouble);
    }
    for (key, process) in others {
        running.asked.insert(key, (process, now));
        let news = running.engine.intent_to(key.into(), Intent::ListSessions { cwd: cwd.clone() });
        running.news(news);
    }
}

/// Asks an agent once it is there, and again when it was started again.
pub(super) fn ask_new<D: Device>(running: &mut Running<D>) {
    if running.past.archive().is_none() {
        return;
    }
    let model = running.engine.model();
    let is_new = |(key, agent): &(AgentKey, &Agent)| {
        tells(model, *key, agent) && running.asked.get(key).is_none_or(|(process, _)| *process != agent.spawned_at)
    };
    let new: Vec<_> = model.agents().filter(is_new).map(|(key, agent)| (key, (agent.spawned_at, Now::ZERO))).collect();
    if !new.is_empty() {
        running.asked.extend(new);
        ask(running);
    }
}

/// An agent has told of its sessions, or of some of them: that is remembered, and said where it is not all.
pub(super) fn listed<D: Device>(running: &mut Running<D>, agent: AgentKey) {
    let Some(agent) = running.engine.model().agent_of(agent) else { return };
    if let Some(list) = &mut running.app.list {
        let waits = |note: &String| [AWAITED, GOES_ON].iter().any(|why| *note == words(agent, why));
        let said = list.note.take().filter(|note| !waits(note));
        let is_going = agent.listing().is_some_and(|listing| listing.state == ListState::Going);
        // What was said since of something else stands.
        list.note = if is_going { said.or_else(|| trouble(agent)) } else { trouble(agent).or(said) };
    }
    if let Some(told) = agent.told().filter(|_| running.past.archive().is_some()) {
        running.past.learn(told);
    }
}

/// Whether an agent can be asked for its sessions now. One that has opened none may want a log-in first.
fn tells(model: &Model, key: AgentKey, agent: &Agent) -> bool {
    let has_opened =
        |(_, session): (SessionKey, &Session)| session.id.is_some() && session.state == SessionState::Ready;
    agent.is_up() && agent.can(Can::List) && model.sessions_of(key).any(has_opened)
}

/// Why a list of its sessions is not whole.
fn trouble(agent: &Agent) -> Option<String> {
    let listing = agent.listing()?;
    match &listing.state {
        ListState::Going => Some(words(agent, if listing.has_begun() { GOES_ON } else { AWAITED })),
        ListState::Whole => None,
        ListState::Stopped(why) => Some(words(agent, why)),
        ListState::Failed(error) => Some(words(agent, &format!("its sessions are not listed: {}", error.as_answer()))),
    }
}

fn words(agent: &Agent, why: &str) -> String {
    format!("{}: {why}", agent.label())
}
