//! Agents are asked which sessions they keep, and what is wrong with their lists is said where these are looked at.
//!
//! Reads no journal. Invariants: a list is asked for once at a time, and a long one not again and again; an agent that ends
//! when it is asked is not asked again.

use super::Running;
use crate::model::Model;
use crate::model::agent::{Agent, Connection, ListState};
use crate::model::event::{Can, Intent};
use crate::model::ids::{AgentKey, Now, SessionKey};
use crate::model::session::{Session, SessionState};
use crate::ui::screen::Device;
use crate::ui::state::session_list::Reach;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// After so long a long list is asked for again: all that is told stands in the journal.
const LIST_AGAIN: Duration = Duration::from_mins(1);

/// What is said of an agent that has not answered yet, and of one that has more to tell.
const AWAITED: &str = "has not told its sessions yet";
const GOES_ON: &str = "has not told all of its sessions yet";

/// And of one that has ended when it was asked.
const DIED: &str = "it ended when it was asked for its sessions, and is not asked again";

/// The agents that were asked for their sessions.
#[derive(Default)]
pub(super) struct Asked {
    /// When the process was started that was asked, and when that was last.
    last: BTreeMap<AgentKey, (Now, Now)>,
    /// Those that have ended before they had told them.
    died: BTreeSet<AgentKey>,
}

impl Asked {
    /// Those that are not there any more, and had not answered.
    fn look(&mut self, model: &Model) {
        let has_died = |(key, (process, _)): (&AgentKey, &(Now, Now))| {
            let agent = model.agent_of(*key)?;
            let is_it = matches!(agent.connection, Connection::Dead(_)) && agent.spawned_at == *process;
            let is_open = !matches!(agent.listing()?.state, ListState::Whole | ListState::Stopped(_));
            (is_it && is_open).then_some(*key)
        };
        self.died.extend(self.last.iter().filter_map(has_died));
    }
}

/// Has the agents that are there tell which sessions they keep: of the directory that is listed, or of all.
pub(super) fn ask<D: Device>(running: &mut Running<D>) {
    let Some(shown) = running.engine.model().at(running.app.shown()) else { return };
    let is_wide = running.app.list.as_ref().is_some_and(|list| list.reach() == Reach::Everywhere);
    let cwd = (!is_wide).then(|| shown.cwd.clone());
    let (model, now) = (running.engine.model(), running.engine.now());
    let is_asked = |key: AgentKey, agent: &Agent| {
        let is_new = running.asked.last.get(&key).is_some_and(|(_, at)| now.saturating_sub(*at) < LIST_AGAIN);
        let listing = agent.listing().filter(|listing| listing.cwd == cwd);
        listing.is_some_and(|listing| listing.state == ListState::Going || listing.is_long() && is_new)
    };
    let there = model.agents().filter(|(key, agent)| tells(model, *key, agent));
    let (died, there): (Vec<_>, Vec<_>) = there.partition(|(key, _)| running.asked.died.contains(key));
    let died = died.first().map(|(_, agent)| words(agent, DIED));
    let (asked, others): (Vec<_>, Vec<_>) = there.into_iter().partition(|(key, agent)| is_asked(*key, agent));
    // What was told before the list was opened is not told again.
    let trouble = asked.into_iter().find_map(|(_, agent)| trouble(agent)).or(died);
    let others: Vec<_> = others.into_iter().map(|(key, agent)| (key, agent.spawned_at)).collect();
    if let (Some(trouble), Some(list)) = (trouble, &mut running.app.list) {
        list.note = Some(trouble);
    }
    for (key, process) in others {
        running.asked.last.insert(key, (process, now));
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
    running.asked.look(model);
    let asked = &running.asked;
    let is_new = |(key, agent): &(AgentKey, &Agent)| {
        let is_asked = asked.last.get(key).is_some_and(|(process, _)| *process == agent.spawned_at);
        tells(model, *key, agent) && !is_asked && !asked.died.contains(key)
    };
    let new: Vec<_> = model.agents().filter(is_new).map(|(key, agent)| (key, (agent.spawned_at, Now::ZERO))).collect();
    if !new.is_empty() {
        running.asked.last.extend(new);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::exit::Exit;
    use crate::model::event::{AgentCaps, AgentEvent, Event, HostEvent, InitResult, SessionResult};
    use crate::model::ids::{Address, Addressed};
    use crate::model::reduce::reduce;
    use crate::model::session::Policy;

    #[test]
    fn an_agent_that_ended_when_it_was_asked_is_known() {
        let mut model = Model::new("agent".into(), "/w".into(), Policy::Ask);
        let mut apply = |at: Option<Address>, event: Event| {
            let at = at.unwrap_or_else(|| event.home());
            drop(reduce(&mut model, Addressed::new(at, event), Now::ZERO));
        };
        let caps = AgentCaps { sessions: [Can::List].into_iter().collect(), ..AgentCaps::default() };
        let (modes, options, older, commands) = (None, None, None, None);
        let opened = SessionResult { id: "s".into(), modes, options, model: older, commands, earlier: 0 };
        apply(None, Event::User(Intent::Start));
        apply(None, Event::Agent(AgentEvent::Initialized(Ok(InitResult { caps, ..InitResult::default() }))));
        apply(None, Event::Agent(AgentEvent::SessionOpened(Ok(opened.into()))));
        apply(Some(AgentKey::FIRST.into()), Event::User(Intent::ListSessions { cwd: None }));
        let exit = Exit { code: Some(1), signal: None };
        apply(None, Event::Host(HostEvent::AgentExited { exit, stderr: Vec::new() }));
        let mut asked = Asked::default();
        asked.look(&model);
        assert_eq!(asked.died, BTreeSet::new(), "it was not asked by us");
        let process = model.agent_of(AgentKey::FIRST).unwrap().spawned_at;
        asked.last.insert(AgentKey::FIRST, (process, Now::ZERO));
        asked.look(&model);
        assert_eq!(asked.died, BTreeSet::from([AgentKey::FIRST]));
    }
}
