//! Has the rules asked what they think of requests: those of a session one after the other, off the thread that draws.
//!
//! Decides nothing. Invariants: every request that is asked about gets a ruling, in the order in which they came; the
//! rules of one session's slow request hold up no other session.

use super::core::Core;
use super::fact::{Fact, Facts};
use super::rulebook::Rulebook;
use crate::model::claims::Claims;
use crate::model::event::HostEvent;
use crate::model::ids::{Address, AgentKey, ReqId, SessionKey};
use crate::model::ruling::{Ruled, Ruling};
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

/// The rules, and whose they are.
#[derive(Debug)]
pub struct RulesConfig {
    pub book: Arc<Rulebook>,
    /// The name under which the first agent is configured.
    pub agent: Option<String>,
}

/// The rules of one agent in one directory, for whoever judges there.
#[derive(Clone, Debug)]
pub struct Held {
    book: Arc<Rulebook>,
    agent: Option<String>,
    cwd: PathBuf,
}

impl Held {
    #[cfg(test)]
    pub fn new(book: Rulebook, cwd: PathBuf) -> Self {
        Self { book: Arc::new(book), agent: None, cwd }
    }

    pub fn ruling(&self, claims: &Claims) -> (Ruling, Vec<String>) {
        let cwd = self.cwd.canonicalize().unwrap_or_else(|_| self.cwd.clone());
        let asked = || self.book.ruling(self.agent.as_deref(), &cwd, claims);
        // What cannot be judged is asked about.
        let failed = || (Ruling { verdict: Ruled::Ask, ..Ruling::OPEN }, Vec::new());
        catch_unwind(AssertUnwindSafe(asked)).unwrap_or_else(|_| failed())
    }
}

#[derive(Debug, Default)]
struct Lane {
    waiting: VecDeque<(ReqId, Box<Claims>, Option<Held>)>,
    is_busy: bool,
}

#[derive(Debug)]
pub(super) struct Ruler {
    book: Option<Arc<Rulebook>>,
    names: BTreeMap<AgentKey, String>,
    lanes: BTreeMap<SessionKey, Lane>,
    facts: Facts,
}

impl Ruler {
    pub fn new(config: Option<RulesConfig>, facts: &Facts) -> Self {
        let (book, name) = config.map(|config| (config.book, config.agent)).unzip();
        let names = name.flatten().map(|name| (AgentKey::FIRST, name)).into_iter().collect();
        Self { book, names, lanes: BTreeMap::new(), facts: facts.clone() }
    }

    /// A further agent is configured under this name.
    pub fn name(&mut self, agent: AgentKey, name: String) {
        self.names.insert(agent, name);
    }

    /// The name under which an agent is configured.
    pub fn name_of(&self, agent: AgentKey) -> Option<&String> {
        self.names.get(&agent)
    }

    /// The rules that hold in a session.
    pub fn held(&self, at: SessionKey, core: &Core) -> Option<Held> {
        let book = Arc::clone(self.book.as_ref()?);
        let agent = core.agent_at(at.into()).and_then(|agent| self.names.get(&agent)).cloned();
        Some(Held { book, agent, cwd: core.directory(at.into()).to_owned() })
    }

    pub fn ask(&mut self, at: SessionKey, req: ReqId, claims: Box<Claims>, core: &Core) {
        let held = self.held(at, core);
        self.lanes.entry(at).or_default().waiting.push_back((req, claims, held));
        self.next(at);
    }

    /// The rules have spoken; whoever waits is next.
    pub fn has_spoken(&mut self, at: SessionKey) {
        self.lanes.entry(at).or_default().is_busy = false;
        self.next(at);
    }

    fn next(&mut self, at: SessionKey) {
        let lane = self.lanes.entry(at).or_default();
        let Some((req, claims, held)) = (if lane.is_busy { None } else { lane.waiting.pop_front() }) else { return };
        lane.is_busy = true;
        let facts = self.facts.clone();
        tokio::task::spawn_blocking(move || {
            let (ruling, warnings) = held.map_or((Ruling::OPEN, Vec::new()), |held| held.ruling(&claims));
            for message in warnings {
                facts.send(Fact::Host(Address::All, HostEvent::Warning { message }));
            }
            facts.tell(at, HostEvent::Ruled { req, ruling });
        });
    }
}
