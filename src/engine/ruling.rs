//! Has the rules asked what they think of requests: those of a session one after the other, off the thread that draws.
//!
//! Decides nothing. Invariants: every request that is asked about gets a ruling, in the order in which they came; the
//! rules of one session's slow request hold up no other session.

use super::fact::Fact;
use super::rulebook::Rulebook;
use super::run::Engine;
use crate::model::claims::Claims;
use crate::model::event::HostEvent;
use crate::model::ids::{Address, AgentKey, ReqId, SessionKey};
use crate::model::ruling::{Ruled, Ruling};
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
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
pub(super) struct Held {
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
    waiting: VecDeque<(ReqId, Box<Claims>)>,
    is_busy: bool,
}

#[derive(Debug, Default)]
pub(super) struct Ruler {
    book: Option<Arc<Rulebook>>,
    names: BTreeMap<AgentKey, String>,
    lanes: BTreeMap<SessionKey, Lane>,
}

impl Ruler {
    pub fn new(config: Option<RulesConfig>) -> Self {
        let (book, name) = config.map(|config| (config.book, config.agent)).unzip();
        let names = name.flatten().map(|name| (AgentKey::FIRST, name)).into_iter().collect();
        Self { book, names, lanes: BTreeMap::new() }
    }

    pub fn has_rules(&self) -> bool {
        self.book.is_some()
    }

    /// A further agent is configured under this name.
    pub fn name(&mut self, agent: AgentKey, name: String) {
        self.names.insert(agent, name);
    }

    fn held(&self, agent: Option<AgentKey>, cwd: &Path) -> Option<Held> {
        let agent = agent.and_then(|agent| self.names.get(&agent)).cloned();
        Some(Held { book: Arc::clone(self.book.as_ref()?), agent, cwd: cwd.to_owned() })
    }
}

impl Engine {
    /// The rules that hold in a session.
    pub(super) fn held(&self, at: SessionKey) -> Option<Held> {
        self.ruler.held(self.core.agent_at(at.into()), self.core.directory(at.into()))
    }

    pub(super) fn ask_rules(&mut self, at: SessionKey, req: ReqId, claims: Box<Claims>) {
        self.ruler.lanes.entry(at).or_default().waiting.push_back((req, claims));
        self.next_ruling(at);
    }

    /// The rules have spoken; whoever waits is next.
    pub(super) fn ruled(&mut self, at: SessionKey, event: HostEvent) {
        self.ruler.lanes.entry(at).or_default().is_busy = false;
        self.apply(at, event);
        self.next_ruling(at);
    }

    fn next_ruling(&mut self, at: SessionKey) {
        let lane = self.ruler.lanes.entry(at).or_default();
        let Some((req, claims)) = (if lane.is_busy { None } else { lane.waiting.pop_front() }) else { return };
        lane.is_busy = true;
        let (held, facts) = (self.held(at), self.facts_tx.clone());
        tokio::task::spawn_blocking(move || {
            let (ruling, warnings) = held.map_or((Ruling::OPEN, Vec::new()), |held| held.ruling(&claims));
            // When the engine is gone nobody needs to know.
            for message in warnings {
                let _ = facts.blocking_send(Fact::Host(Address::All, HostEvent::Warning { message }));
            }
            let _ = facts.blocking_send(Fact::Host(at.into(), HostEvent::Ruled { req, ruling }));
        });
    }
}
