//! What the loop does when an earlier session is to be forgotten: its agent deletes it first, where it can.
//!
//! Which one is meant was asked before. Invariant: what we have of it goes only when its agent has deleted it, cannot do
//! that, or was asked to in vain.

use super::Running;
use crate::model::agent::Agent;
use crate::model::event::{Can, Intent};
use crate::model::ids::{AgentKey, SessionId};
use crate::ui::screen::Device;
use crate::ui::state::session_list::PastSession;

/// Sessions that are on their way out, and as many are remembered.
const MAX_ASKED: usize = 100;

/// Sessions whose agents were asked to delete them, and have not done it.
#[derive(Default)]
pub struct Forgetting(Vec<(AgentKey, PastSession)>);

impl Forgetting {
    fn take(&mut self, is_it: impl Fn(AgentKey, &PastSession) -> bool) -> Option<PastSession> {
        let at = self.0.iter().position(|(agent, past)| is_it(*agent, past))?;
        Some(self.0.remove(at).1)
    }

    fn has(&self, is_it: impl Fn(&PastSession) -> bool) -> bool {
        self.0.iter().any(|(_, past)| is_it(past))
    }

    fn put(&mut self, agent: AgentKey, past: PastSession) {
        if self.0.len() >= MAX_ASKED {
            self.0.remove(0);
        }
        self.0.push((agent, past));
    }
}

/// Has it forgotten, or found out whether its agent can be asked to delete it first.
pub(super) fn forget<D: Device>(running: &mut Running<D>, past: PastSession) {
    let was_asked = running.forgetting.take(|_, one| is_same(one, &past)).is_some();
    if was_asked || deleter(running, &past).is_none() {
        // What keeps it is found out with that.
        running.app.kept_by_agents.retain(|one| *one != past.which());
        running.past.forget(past);
    } else {
        running.past.held(past);
    }
}

/// It is known whether something keeps it here: if nothing does, its agent is asked to delete it, once.
pub(super) fn may_go<D: Device>(running: &mut Running<D>, past: PastSession, held: Option<String>) {
    if let Some(why) = held {
        return running.refuse(format!("not forgotten: {why}"));
    }
    if running.forgetting.has(|one| is_same(one, &past)) {
        return;
    }
    running.app.kept_by_agents.retain(|one| *one != past.which());
    match deleter(running, &past) {
        Some(key) => {
            let id = SessionId::from(past.id.as_str());
            running.forgetting.put(key, past);
            running.refuse("its agent is asked to delete it".to_owned());
            let news = running.engine.intent_to(key.into(), Intent::DeleteSession { id });
            running.news(news);
        }
        None => running.past.forget(past),
    }
}

fn is_same(one: &PastSession, other: &PastSession) -> bool {
    (&one.id, &one.command) == (&other.id, &other.command)
}

/// An agent that runs and can delete it.
fn deleter<D: Device>(running: &Running<D>, past: &PastSession) -> Option<AgentKey> {
    let is_its = |agent: &Agent| agent.is_up() && past.is_of(&agent.command) && agent.can(Can::Delete);
    running.engine.model().agents().find(|(_, agent)| is_its(agent)).map(|(key, _)| key)
}

/// An agent has deleted a session, or has not.
pub(super) fn deleted<D: Device>(running: &mut Running<D>, agent: AgentKey, id: &SessionId, is_done: bool) {
    let is_it = |of: AgentKey, past: &PastSession| of == agent && past.id == id.as_str();
    let Some(past) = running.forgetting.take(is_it) else { return };
    if let Some(list) = &mut running.app.list {
        list.note = None;
    }
    if is_done {
        running.past.forget(past);
    } else {
        let kept = &mut running.app.kept_by_agents;
        kept.truncate(MAX_ASKED - 1);
        kept.insert(0, past.which());
        running.forgetting.put(agent, past);
    }
}
