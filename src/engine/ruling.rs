//! Has the rules asked what they think of requests: those of a session one after the other, off the thread that draws.
//!
//! Decides nothing. Invariants: every request that is asked about gets a ruling, in the order in which they came; the
//! rules of one session's slow request hold up no other session.

use super::core::Core;
use super::earlier::{Earlier, Requests};
use super::fact::{Fact, Facts};
use super::hook::Hook;
use super::rulebook::Rulebook;
use crate::model::claims::Claims;
use crate::model::event::HostEvent;
use crate::model::ids::{Address, AgentKey, EntryId, ReqId, SessionKey};
use crate::model::reduce::of_call_done;
use crate::model::ruling::{MadeRule, Ruled, Ruling};
use crate::rules::{RuleRef, Rules, Verdict};
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// For how long it is not asked again whether any rule denies: there are agents with hundreds of calls a second.
const NO_DENIES: Duration = Duration::from_secs(1);

/// The rules, and whose they are.
#[derive(Debug)]
pub struct RulesConfig {
    pub book: Arc<Rulebook>,
    /// The name under which the first agent is configured.
    pub agent: Option<String>,
}

impl RulesConfig {
    /// The same, where the first agent is also those that are configured by these names.
    #[must_use]
    pub fn also(self, names: Vec<String>) -> Self {
        let Some(agent) = self.agent.clone() else { return self };
        match Arc::try_unwrap(self.book) {
            Ok(book) => Self { book: Arc::new(book.with_names(&agent, names)), ..self },
            Err(book) => Self { book, ..self },
        }
    }
}

/// The rules that hold for one agent in one directory.
#[derive(Clone, Debug)]
pub struct RulesInForce {
    book: Arc<Rulebook>,
    agent: Option<String>,
    cwd: PathBuf,
    /// Made in the session, and in no file.
    made: Vec<MadeRule>,
}

impl RulesInForce {
    #[cfg(test)]
    pub fn new(book: Rulebook, cwd: PathBuf) -> Self {
        Self { book: Arc::new(book), agent: None, cwd, made: Vec::new() }
    }

    pub fn ruling(&self, claims: &Claims) -> (Ruling, Vec<String>) {
        let cwd = self.cwd();
        let asked = || self.book.ruling(self.agent.as_deref(), &cwd, &self.more(), claims);
        // What cannot be judged is asked about.
        let failed = || (Ruling { verdict: Ruled::Ask, ..Ruling::OPEN }, Vec::new());
        catch_unwind(AssertUnwindSafe(asked)).unwrap_or_else(|_| failed())
    }

    /// What they say of what was done; nothing where none denies anything.
    fn denied(&self, claims: &Claims) -> Option<Ruling> {
        let (rules, _) = self.book.with(&self.cwd(), &self.more());
        rules.denies().then(|| self.ruling(claims).0)
    }

    pub(super) fn cwd(&self) -> PathBuf {
        self.cwd.canonicalize().unwrap_or_else(|_| self.cwd.clone())
    }

    /// The rules that are in no file.
    pub(super) fn more(&self) -> Rules {
        let mut rules = Rules::default();
        for MadeRule { list, pattern, scope, agent } in &self.made {
            let (pattern, agent) = (pattern.clone(), agent.clone());
            let rule = RuleRef { list: list_of(*list), pattern, agent, ..RuleRef::default() };
            // It was looked at when it was made.
            let _ = rules.add(RuleRef { file: scope.words().into(), ..rule });
        }
        rules
    }

    pub(super) fn book(&self) -> &Rulebook {
        &self.book
    }

    pub(super) fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }
}

pub(super) fn list_of(list: Ruled) -> Verdict {
    match list {
        Ruled::Allow => Verdict::Allow,
        Ruled::Open | Ruled::Ask => Verdict::Ask,
        Ruled::Deny => Verdict::Deny,
    }
}

/// What came of it.
pub(super) struct Done {
    pub event: HostEvent,
    /// The rules of other sessions have changed with it.
    pub concerns_all: bool,
}

#[derive(Debug)]
struct Waiting {
    req: ReqId,
    claims: Box<Claims>,
    is_service_read: bool,
    in_force: Option<RulesInForce>,
}

#[derive(Debug, Default)]
struct Lane {
    waiting: VecDeque<Waiting>,
    is_busy: bool,
    /// No rule denies anything: until then calls that are over are not looked at.
    none_until: Arc<Mutex<Option<Instant>>>,
}

#[derive(Debug)]
pub(super) struct Ruler {
    book: Option<Arc<Rulebook>>,
    names: BTreeMap<AgentKey, String>,
    lanes: BTreeMap<SessionKey, Lane>,
    facts: Facts,
    /// What was asked before, where that is kept.
    earlier: Option<Arc<Earlier>>,
}

impl Ruler {
    pub fn new(config: Option<RulesConfig>, earlier: Option<Earlier>, facts: &Facts) -> Self {
        let (book, name) = config.map(|config| (config.book, config.agent)).unzip();
        let names = name.flatten().map(|name| (AgentKey::FIRST, name)).into_iter().collect();
        Self { book, names, lanes: BTreeMap::new(), facts: facts.clone(), earlier: earlier.map(Arc::new) }
    }

    /// In this directory these ones belong to the project, too.
    pub fn reach(&self, cwd: &Path, directories: &[PathBuf]) {
        if let Some(book) = &self.book {
            book.reach(cwd, directories);
        }
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
    pub fn in_force(&self, at: SessionKey, core: &Core) -> Option<RulesInForce> {
        let book = Arc::clone(self.book.as_ref()?);
        let agent = core.agent_at(at.into()).and_then(|agent| self.names.get(&agent)).cloned();
        let session = core.model().session_of(at);
        let made = session.map(|session| session.rules.in_no_file().cloned().collect()).unwrap_or_default();
        Some(RulesInForce { book, agent, cwd: core.directory(at.into()).to_owned(), made })
    }

    /// What the person wants of rules, off the thread that draws. `f` gives what happened, and tells what happens before.
    pub fn apart<F>(&self, at: SessionKey, core: &Core, f: F)
    where
        F: FnOnce(&RulesInForce, &dyn Fn(HostEvent)) -> Done + Send + 'static,
    {
        let Some(in_force) = self.in_force(at, core) else { return };
        let others: Vec<SessionKey> = core.model().sessions().map(|(key, _)| key).filter(|key| *key != at).collect();
        let facts = self.facts.clone();
        tokio::task::spawn_blocking(move || {
            let done = f(&in_force, &|event| facts.tell(at, event));
            facts.tell(at, done.event);
            for other in others.into_iter().filter(|_| done.concerns_all) {
                facts.tell(other, HostEvent::RulesChanged);
            }
        });
    }

    /// What was asked in earlier sessions of this directory; to be called on a thread that may wait, with whether it is to be
    /// read anew.
    pub fn earlier(&self, at: SessionKey, core: &Core) -> impl FnOnce(bool) -> Arc<Requests> + Send + use<> {
        let session = core.model().session_of(at).and_then(|session| session.id.as_ref()).map(ToString::to_string);
        let (earlier, cwd) = (self.earlier.clone(), core.directory(at.into()).to_owned());
        move |is_new| earlier.map(|earlier| earlier.of(&cwd, session.as_deref(), is_new)).unwrap_or_default()
    }

    pub fn ask(&mut self, at: SessionKey, (req, claims, is_service_read): (ReqId, Box<Claims>, bool), core: &Core) {
        let in_force = self.in_force(at, core);
        self.lanes.entry(at).or_default().waiting.push_back(Waiting { req, claims, is_service_read, in_force });
        self.next(at);
    }

    /// What a call has done without a question: told where a rule denies it.
    pub fn look_back(&mut self, at: SessionKey, entry: EntryId, core: &Core) {
        let none_until = Arc::clone(&self.lanes.entry(at).or_default().none_until);
        let is_free = none_until.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|at| Instant::now() < at);
        let claims = || of_call_done(core.model().session_of(at)?, entry);
        let Some(claims) = (if is_free { None } else { claims() }) else { return };
        let Some(in_force) = self.in_force(at, core) else { return };
        let facts = self.facts.clone();
        tokio::task::spawn_blocking(move || match in_force.denied(&claims) {
            None => *none_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + NO_DENIES),
            Some(ruling) if ruling.verdict == Ruled::Deny => facts.tell(at, HostEvent::RanDenied { entry, ruling }),
            Some(_) => {}
        });
    }

    /// One request is judged; the next one follows.
    pub fn has_spoken(&mut self, at: SessionKey) {
        self.lanes.entry(at).or_default().is_busy = false;
        self.next(at);
    }

    fn next(&mut self, at: SessionKey) {
        let lane = self.lanes.entry(at).or_default();
        let Some(Waiting { req, claims, is_service_read, in_force }) =
            (if lane.is_busy { None } else { lane.waiting.pop_front() })
        else {
            return;
        };
        lane.is_busy = true;
        let facts = self.facts.clone();
        tokio::task::spawn_blocking(move || {
            let asked = in_force.as_ref().map(|in_force| in_force.ruling(&claims));
            let (mut ruling, warnings) = asked.unwrap_or((Ruling::OPEN, Vec::new()));
            for message in warnings {
                facts.send(Fact::Host(Address::All, HostEvent::Warning { message }));
            }
            let hooked = in_force.as_ref().and_then(|in_force| Some((in_force, in_force.book.hook()?)));
            if let Some((in_force, hook)) = hooked.filter(|_| Hook::is_for(&ruling, is_service_read)) {
                facts.tell(at, HostEvent::HookAsked { req });
                let cwd = in_force.cwd();
                let held = in_force.book.held(in_force.agent(), &cwd, &claims, ruling);
                let (together, fault) = hook.ruling(in_force.agent(), &cwd, &claims, held);
                ruling = together;
                if let Some(message) = fault {
                    facts.tell(at, HostEvent::Warning { message });
                }
            }
            facts.tell(at, HostEvent::Ruled { req, ruling });
        });
    }
}
