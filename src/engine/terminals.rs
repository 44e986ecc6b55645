//! The terminals of all sessions: their host, those that have something new to show, and those that are being started.
//!
//! What may block runs on a blocking thread and comes back as a fact. Invariant: the end of a terminal is never told before its start, although the two come from
//! different threads.

use super::admitting::admit;
use super::fact::{Fact, Facts};
use super::refusing;
use super::reviews;
use crate::base::human;
use crate::base::inherited::Inherited;
use crate::host::fs::Roots;
use crate::host::process::{self, Sandbox};
use crate::host::pty::{self, Reader, Registry, SpawnError, TermSpec};
use crate::model::Model;
use crate::model::effect::Answer;
use crate::model::event::{Hint, HostEvent, TerminalSpec};
use crate::model::ids::{AgentKey, Now, ReqId, SessionKey, TermId};
use crate::model::judge::Request;
use crate::model::login::quote;
use crate::model::refusal::{Reason, Refusal};
use crate::model::session::shell::MAX_SHELL_OUTPUT;
use crate::model::tool::Exit;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// The width that tools of agents see; they cut their output at it and the agent reads that.
const COLUMNS: u16 = 120;
const ROWS: u16 = 30;
/// Between two facts that the screen of a terminal changes.
const MOVED: Duration = Duration::from_secs(1);

pub(super) type Variables = Vec<(String, String)>;
type Dirty = Arc<Mutex<BTreeSet<TermId>>>;

/// A command that an agent wants to run.
pub(super) struct Start {
    pub at: SessionKey,
    pub req: ReqId,
    pub request: Request,
    pub spec: Arc<TerminalSpec>,
    pub roots: Arc<Roots>,
    /// The session's directory, where one has come about.
    pub own: Option<PathBuf>,
    /// Told when the review has looked at what is there before the command changes it.
    pub looked: Option<Receiver<()>>,
    /// What it gets of this program's own environment.
    pub inherited: Inherited,
    /// What it may write, where that is confined.
    pub sandbox: Option<Sandbox>,
}

pub(super) struct Terminals {
    host: Arc<Registry>,
    facts: Facts,
    /// Those that have something new to show.
    dirty: Dirty,
    /// The one that was shown last.
    shown: TermId,
    /// How many are being started.
    starting: usize,
    /// Ends that were told before their starts.
    early_exits: BTreeMap<TermId, Exit>,
    /// Columns and rows that the person sees of a command of their own.
    shell_size: (u16, u16),
    /// The client ends: no command waits any more.
    is_over: Arc<AtomicBool>,
}

impl Terminals {
    /// What happens to them is told through `facts` and `hint`; `is_over` is set when the client ends.
    pub fn new(shell: Option<String>, facts: &Facts, hint: &Arc<Notify>, is_over: &Arc<AtomicBool>) -> Self {
        let dirty = Dirty::default();
        let (noted, hint, told) = (Arc::clone(&dirty), Arc::clone(hint), facts.clone());
        let on_hint = move |id: &pty::TermId| {
            noted.lock().unwrap_or_else(PoisonError::into_inner).insert(TermId::from(id.0.as_str()));
            hint.notify_one();
        };
        let on_exit = move |id: &pty::TermId, exit: Exit| {
            // Called on a thread of the terminal.
            told.send(Fact::TerminalExit(TermId::from(id.0.as_str()), exit));
        };
        let host = Arc::new(Registry::new(shell, Arc::new(on_hint), Arc::new(on_exit)));
        let facts = facts.clone();
        let is_over = Arc::clone(is_over);
        let (shown, early_exits) = (TermId::from(""), BTreeMap::new());
        Self { host, facts, dirty, shown, starting: 0, early_exits, shell_size: (COLUMNS, ROWS), is_over }
    }

    /// For threads that start and end them.
    pub fn host(&self) -> &Arc<Registry> {
        &self.host
    }

    /// One that has something new to show, in turn.
    pub fn next_dirty(&mut self) -> Option<TermId> {
        let mut dirty = self.dirty.lock().unwrap_or_else(PoisonError::into_inner);
        let behind = (Bound::Excluded(&self.shown), Bound::Unbounded);
        let next = dirty.range(behind).next().or_else(|| dirty.first())?.clone();
        dirty.remove(&next);
        self.shown = next.clone();
        Some(next)
    }

    /// Whether any has something new to show.
    pub fn is_dirty(&self) -> bool {
        !self.dirty.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Takes a place for one that is to be started, unless as many are being started as may run.
    pub fn begin_start(&mut self) -> Result<(), Refusal> {
        if self.starting >= pty::MAX_RUNNING {
            return Err(refusing::start(&SpawnError::TooMany(pty::MAX_RUNNING)));
        }
        self.starting += 1;
        Ok(())
    }

    /// Starts one that has its place; what comes of it is a fact.
    pub fn start(&self, start: Start) {
        let Start { at, req, request, spec, roots, own, looked, inherited, sandbox } = start;
        let (registry, facts, is_over) = (Arc::clone(&self.host), self.facts.clone(), Arc::clone(&self.is_over));
        tokio::task::spawn_blocking(move || {
            if let Some(looked) = looked {
                reviews::wait_for(&looked, &is_over);
            }
            // The session's own directory, too: what has its name now need not be what had it.
            let cwd = spec.cwd.as_ref().map(PathBuf::from).or(own);
            let cwd = cwd.ok_or_else(|| Refusal::new(Reason::Failed, "the session has no directory"));
            let result = cwd.and_then(|cwd| admit(&roots, None, request, cwd)).map(|dir| dir.real);
            let started = result.and_then(|cwd: PathBuf| {
                let TerminalSpec { command, args, env, limit, .. } = Arc::unwrap_or_clone(spec);
                let spec = TermSpec {
                    command,
                    args,
                    env: process::run_mark().into_iter().chain(env).collect(),
                    inherited,
                    cwd,
                    cols: COLUMNS,
                    rows: ROWS,
                    reader: Reader::Agent,
                    output_limit: limit,
                    sandbox,
                };
                registry.create(&spec).map_err(|e| refusing::start(&e))
            });
            let event = match started {
                Ok(term) => HostEvent::TerminalStarted { req, term: TermId::from(term.0) },
                Err(error) => HostEvent::TerminalFailed { req, error },
            };
            facts.tell(at, event);
        });
    }

    /// A start has come about, or not. Gives the end of the terminal if that is known already; the start is to be
    /// applied before it.
    pub fn end_start(&mut self, started: Option<&TermId>) -> Option<Exit> {
        self.starting = self.starting.saturating_sub(1);
        let exit = started.and_then(|id| self.early_exits.remove(id));
        if self.starting == 0 {
            self.early_exits.clear();
        }
        exit
    }

    /// The end of a terminal. Nothing when its start has to come first.
    pub fn exited(&mut self, id: TermId, exit: Exit, is_known: bool) -> Option<(TermId, Exit)> {
        if self.starting > 0 && !is_known {
            self.early_exits.insert(id, exit);
            return None;
        }
        Some((id, exit))
    }

    pub fn input(&self, id: &TermId, bytes: &[u8]) -> bool {
        self.host.input(&host_id(id), bytes)
    }

    fn output(&self, id: &TermId) -> Option<pty::Output> {
        self.host.output(&host_id(id))
    }

    /// What the screen of one shows now, for the session that it is of; and whether it is to be told that it has moved.
    pub fn refreshed(&self, id: &TermId, model: &Model, now: Now) -> Option<(SessionKey, Hint, bool)> {
        let screen = self.host.snapshot(&host_id(id))?;
        let at = model.session_of_terminal(id)?;
        let terminal = model.session_of(at).and_then(|session| session.command(id));
        let has_moved = terminal.is_some_and(|terminal| {
            let is_new = terminal.screen.as_ref().is_none_or(|old| old.generation != screen.generation);
            is_new && now.saturating_sub(terminal.moved) >= MOVED
        });
        Some((at, Hint::Screen(id.clone(), screen), has_moved))
    }

    /// What it has printed after the first so many bytes.
    pub fn output_after(&self, id: &TermId, position: u64, most: usize) -> Option<pty::More> {
        self.host.output_after(&host_id(id), position, most)
    }

    /// What an agent is told that asks for the output. The exit is told when the model knows of it, so that all answers
    /// agree on it.
    pub fn answer(&self, id: &TermId, model: &Model) -> Answer {
        let session = model.session_of_terminal(id).and_then(|at| model.session_of(at));
        let exit = session.and_then(|session| session.terminal(id)).and_then(|t| t.exit.clone());
        let (text, truncated) = self.output(id).map(|output| (output.text, output.truncated)).unwrap_or_default();
        Answer::Output { text, truncated, exit }
    }

    /// What it has printed: the kept output, else what its screen shows.
    pub fn end_of(&self, id: &TermId) -> String {
        let screen = || {
            let screen = self.host.snapshot(&host_id(id))?;
            Some(screen.rows.iter().map(|r| r.as_str()).collect::<Vec<_>>().join("\n"))
        };
        self.output(id).map(|o| o.text).or_else(screen).unwrap_or_default()
    }

    /// The same of a command of the person's, which says where that is not all.
    pub fn end_of_shell(&self, id: &TermId) -> String {
        let Some(output) = self.output(id) else { return String::new() };
        if !output.truncated {
            return output.text;
        }
        format!("[only the last {} of what it printed]\n{}", human::bytes(MAX_SHELL_OUTPUT), output.text)
    }

    /// Starts one for the person beside the conversation: no rule is asked, nothing confines it. What comes of it is a fact.
    pub fn start_shell(&mut self, at: SessionKey, line: String, cwd: PathBuf) -> Result<(), (String, String)> {
        if let Err(error) = self.begin_start() {
            return Err((line, error.message));
        }
        let (registry, facts) = (Arc::clone(&self.host), self.facts.clone());
        let (cols, rows) = self.shell_size;
        tokio::task::spawn_blocking(move || {
            let spec = TermSpec {
                command: line,
                args: Vec::new(),
                env: process::run_mark().into_iter().collect(),
                inherited: Inherited::default(),
                cwd,
                cols,
                rows,
                reader: Reader::Person,
                output_limit: Some(MAX_SHELL_OUTPUT),
                sandbox: None,
            };
            let started = registry.create(&spec);
            let line = spec.command;
            let event = match started {
                Ok(term) => HostEvent::ShellStarted { term: TermId::from(term.0), line },
                Err(error) => HostEvent::ShellFailed { line, message: refusing::start(&error).message },
            };
            facts.tell(at, event);
        });
        Ok(())
    }

    /// Starts one for the person, who logs in to an agent there; what comes of it is a fact.
    pub fn start_log_in(
        &mut self,
        agent: AgentKey,
        (command, args): (String, Vec<String>),
        (env, inherited): (Variables, Inherited),
        cwd: PathBuf,
        sandbox: Option<Sandbox>,
    ) {
        if let Err(error) = self.begin_start() {
            return self.facts.later(agent.into(), HostEvent::LogInFailed { message: error.message });
        }
        // Without arguments the host takes a command for a line of a shell.
        let command = if args.is_empty() { format!("exec {}", quote(&command)) } else { command };
        let env = process::run_mark().into_iter().chain(env).collect();
        let reader = Reader::Person;
        let spec = TermSpec {
            command,
            args,
            env,
            inherited,
            cwd,
            cols: COLUMNS,
            rows: ROWS,
            reader,
            output_limit: Some(0),
            sandbox,
        };
        let (registry, facts) = (Arc::clone(&self.host), self.facts.clone());
        tokio::task::spawn_blocking(move || {
            let event = match registry.create(&spec) {
                Ok(term) => HostEvent::LogInStarted { term: TermId::from(term.0) },
                Err(error) => HostEvent::LogInFailed { message: refusing::start(&error).message },
            };
            facts.send(Fact::Host(agent.into(), event));
        });
    }

    /// What the terminal of a log-in shows.
    pub fn shown(&self, id: &TermId) -> Option<Hint> {
        Some(Hint::Screen(id.clone(), self.host.snapshot(&host_id(id))?))
    }

    pub fn resize(&self, id: &TermId, (cols, rows): (u16, u16)) {
        self.host.resize(&host_id(id), cols, rows);
    }

    /// The person sees so much of commands of their own: true when that is new.
    pub fn fit_shell(&mut self, size: (u16, u16)) -> bool {
        std::mem::replace(&mut self.shell_size, size) != size
    }

    pub fn kill(&self, id: &TermId) {
        self.host.kill(&host_id(id));
    }

    pub fn signal(&self, id: &TermId, signal: i32) {
        self.host.signal(&host_id(id), signal);
    }

    pub fn release(&self, id: &TermId) {
        self.host.release(&host_id(id));
    }
}

/// The host's name of a terminal of ours.
fn host_id(id: &TermId) -> pty::TermId {
    pty::TermId(id.as_str().to_owned())
}
