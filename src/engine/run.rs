//! The engine itself: waits for what happens and applies it.
//!
//! `next` waits and may be dropped at any time; `step` applies without waiting. Times are whole microseconds since the
//! start, as the journal writes them.

use super::attach;
use super::core::{Core, Line, Out, login_line};
use super::decoding::Decoding;
use super::fact::{Dirty, Fact, Facts, registry};
use super::filing::{FileJob, Filing};
use super::journaling::Books;
use super::link::Connect;
use super::reviewing::{self, Job, ReviewConfig, Reviewing};
use super::running::{Running, STDERR_LINES};
use super::wait::sleep_until;
use super::waiting::agent_wake;
use crate::agent::codec::{self, Decoded, SharedCodec};
use crate::host::fs::{Private, Roots};
use crate::host::process::{Graces, Survivor};
use crate::host::pty::Registry;
use crate::model::Model;
use crate::model::changes::Gate;
use crate::model::effect::{Effect, FrontEnd};
use crate::model::event::{Event, Hint, HostEvent, Intent, Timer};
use crate::model::ids::{Address, Addressed, AgentKey, EntryId, Now, SessionKey, TermId};
use crate::model::login::quote;
use crate::model::session::Policy;
use crate::model::tool::Exit;
use crate::store::journal::Journal;
use crate::wire::pump::{Batch, Incoming};
use crate::wire::stderr::StderrTail;
use crate::wire::trace::Recorder;
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

/// Facts under way from files and terminals.
const FACTS: usize = 256;
/// How long the error stream has to be silent, and how long that is waited for, before its end is shown.
const STDERR_QUIET: Duration = Duration::from_millis(50);
const STDERR_LIMIT: Duration = Duration::from_millis(250);
/// Between two facts that the screen of a terminal changes.
const MOVED: Duration = Duration::from_secs(1);

/// What an engine needs to know.
#[derive(Debug)]
pub struct EngineConfig {
    pub command: String,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    /// The session's directory, absolute.
    pub cwd: PathBuf,
    pub policy: Policy,
    /// Where journals go; none are written without it.
    pub journals: Option<PathBuf>,
    pub record: Option<Recorder>,
    /// A command that the person may have meant.
    pub suggestion: Option<String>,
    /// How to install the agent, where that is known.
    pub install: Option<String>,
    /// The person's `$SHELL`.
    pub shell: Option<String>,
    pub graces: Graces,
    /// Where changes of the agent are kept for the review; none is done without it.
    pub review: Option<ReviewConfig>,
    /// How writes and commands are let through, at first.
    pub gate: Gate,
    /// Absolute paths that are the client's own: the agent gets none of them, and the review leaves them out.
    pub private: Vec<PathBuf>,
}

/// Names what a session leaves behind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stem(Duration);

impl Stem {
    fn of_now() -> Self {
        Self(std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default())
    }

    /// Seconds since 1970.
    pub fn started(self) -> u64 {
        self.0.as_secs()
    }

    pub fn name(self) -> String {
        format!("{}-{:03}-{}", self.0.as_secs(), self.0.subsec_millis(), std::process::id())
    }
}

/// Something that `next` has waited for.
#[derive(Debug)]
pub enum Wake {
    Incoming(Incoming),
    /// A large update is ready to be applied.
    Decoded(Decoded),
    Stderr(Arc<str>),
    Fact(Fact),
    Exited(Exit),
    Deadline,
    InputClosed,
    Written,
    /// A terminal has something new to show.
    Hint,
}

pub struct Engine {
    pub(super) core: Core,
    pub(super) config: EngineConfig,
    /// Of the runtime's clock, which stands still in tests.
    pub(super) start: tokio::time::Instant,
    /// Makes the links to agents that are no processes.
    pub(super) connect: Option<Connect>,
    pub(super) running: Option<Running>,
    /// What the newest agent wrote to its error stream, also when it has ended.
    pub(super) stderr: Option<StderrTail>,
    pub(super) ending: Vec<JoinHandle<Vec<Survivor>>>,
    pub(super) facts: mpsc::Receiver<Fact>,
    pub(super) facts_tx: mpsc::Sender<Fact>,
    pub(super) terminals: Arc<Registry>,
    pub(super) dirty: Dirty,
    pub(super) hint: Arc<Notify>,
    pub(super) timers: Vec<(Instant, Addressed<Timer>)>,
    pub(super) roots: Arc<Roots>,
    pub(super) files: VecDeque<FileJob>,
    pub(super) filing: Filing,
    /// Terminals that are being started.
    pub(super) creating: usize,
    /// Told when the first look is over.
    first_look: Option<mpsc::Receiver<()>>,
    /// Ends of terminals that were told before their starts: the two come from different threads.
    early_exits: BTreeMap<TermId, Exit>,
    pub(super) reviewing: Option<Reviewing>,
    /// The entry of the write that is under way.
    pub(super) writing: Option<(EntryId, Arc<str>)>,
    stem: Stem,
    pub(super) books: Books,
    pub(super) news: Vec<Addressed<FrontEnd>>,
}

impl Engine {
    /// Must be called inside the runtime. Nothing is started before [`Intent::Start`].
    pub fn new(config: EngineConfig) -> Self {
        Self::connected(config, codec::shipped(), None)
    }

    /// The same, spoken in this way; with `connect` to an agent that is no process.
    pub fn connected(mut config: EngineConfig, codec: SharedCodec, connect: Option<Connect>) -> Self {
        let (facts_tx, facts) = mpsc::channel(FACTS);
        let dirty = Dirty::default();
        let hint = Arc::new(Notify::new());
        let terminals = registry(config.shell.clone(), &facts_tx, &dirty, &hint);
        let words = std::iter::once(&config.command).chain(&config.args);
        let line = words.map(|w| quote(w)).collect::<Vec<_>>().join(" ");
        let cwd = config.cwd.to_string_lossy().into_owned();
        let model = Model::new(line, cwd, config.policy)
            .with_suggestion(config.suggestion.clone())
            .with_env(config.env.iter().map(|(name, _)| name.clone()).collect())
            .with_review(config.review.is_some())
            .with_gate(config.gate);
        let mut books = Books::new(AgentKey::FIRST);
        if let Some(recorder) = config.record.take() {
            books.trace.record_to(recorder);
        }
        let private = Private::new(std::mem::take(&mut config.private));
        let roots = Arc::new(Roots::new(vec![config.cwd.clone()]).without(private));
        let mut engine = Self {
            core: Core::new(model, config.cwd.clone(), codec),
            start: tokio::time::Instant::now(),
            connect,
            running: None,
            stderr: None,
            ending: Vec::new(),
            facts,
            facts_tx,
            terminals,
            dirty,
            hint,
            timers: Vec::new(),
            roots,
            files: VecDeque::new(),
            filing: Filing::default(),
            creating: 0,
            first_look: None,
            early_exits: BTreeMap::new(),
            reviewing: None,
            writing: None,
            stem: Stem::of_now(),
            books,
            news: Vec::new(),
            config,
        };
        engine.open_journal();
        engine.start_review();
        engine
    }

    fn open_journal(&mut self) {
        let Some(dir) = &self.config.journals else { return };
        let header = serde_json::json!({
            "client": concat!("acp-tui ", env!("CARGO_PKG_VERSION")),
            "started": self.stem.started(),
            "cwd": self.config.cwd.to_string_lossy(),
            "command": self.core.model.agent().command,
            "codec": self.core.codec().name(),
            "review": self.core.model.changes().is_on,
            "gate": self.core.model.gate(),
        });
        let name = format!("{}.jsonl", self.stem.name());
        match Journal::create(dir, &name, &header) {
            Ok(journal) => {
                self.books.journal = Some(journal);
                self.core.with_journal();
            }
            Err(error) => {
                let message = format!("{}: {error}", dir.display());
                self.apply(Address::All, HostEvent::JournalFailed { message });
            }
        }
    }

    /// Starts the thread of the review, with a first look at the tree: the first prompt shall not wait for it.
    fn start_review(&mut self) {
        let Some(config) = &self.config.review else { return };
        let head = reviewing::head(&self.stem, &self.config.cwd, &self.roots, &self.core.model.agent().command);
        let at = SessionKey::FIRST;
        let (facts, hint) = (Facts { at, tx: self.facts_tx.clone() }, Arc::clone(&self.hint));
        match Reviewing::start(config, head, Arc::clone(&self.roots), facts, hint) {
            Ok(reviewing) => {
                let is_new = config.earlier.is_none();
                self.reviewing = Some(reviewing);
                if is_new {
                    let is_alone = matches!(self.config.policy, Policy::Auto(_));
                    let (looked, over) = mpsc::channel(1);
                    self.first_look = is_alone.then_some(over);
                    self.give(Job::Look { alone: is_alone.then_some(looked) });
                }
            }
            Err(error) => self.apply(at, HostEvent::ReviewOff { message: error.to_string() }),
        }
    }

    /// Where nobody sits before a screen: ends when the first look at the files does, or after `patience`. Before that
    /// no agent should be started: what it has changed by then would be taken for what was there.
    pub async fn first_look(&mut self, patience: Duration) {
        if let Some(mut over) = self.first_look.take() {
            // A review that has ended says so itself.
            let _ = tokio::time::timeout(patience, over.recv()).await;
        }
    }

    /// The name of the session's journal and review, without an ending.
    pub fn stem(&self) -> String {
        self.stem.name()
    }

    /// Puts a warning into the transcript.
    pub fn warn(&mut self, message: String) {
        self.apply(Address::All, HostEvent::Warning { message });
    }

    pub fn model(&self) -> &Model {
        &self.core.model
    }

    /// Changes whenever anything has been applied to the model: there may be something new to show.
    pub fn version(&self) -> u64 {
        self.core.version()
    }

    /// Monotonic time since the start, in whole microseconds.
    pub fn now(&self) -> Now {
        Duration::from_micros(self.start.elapsed().as_micros() as u64)
    }

    /// The agent's last lines on stderr.
    pub fn stderr_tail(&self, lines: usize) -> Vec<String> {
        self.running.as_ref().map(|r| r.stderr_tail(lines)).unwrap_or_default()
    }

    /// The last lines on stderr of an agent that may have ended; waits a moment for what is still on its way.
    pub fn last_words(&self) -> impl Future<Output = Vec<String>> + use<> {
        let tail = self.stderr.clone();
        async move {
            let Some(tail) = tail else { return Vec::new() };
            tail.settled(STDERR_QUIET, STDERR_LIMIT).await;
            tail.last_lines(STDERR_LINES)
        }
    }

    /// Waits until something has happened. May be dropped and called again without a loss.
    pub async fn next(&mut self) -> Wake {
        let timer = self.timers.iter().map(|(at, _)| *at).min();
        let end = self.running.as_ref().and_then(Running::deadline);
        let deadline = [timer, end, self.filing.deadline()].into_iter().flatten().min();
        let Self { running, facts, hint, .. } = self;
        tokio::select! {
            biased;
            Some(fact) = facts.recv() => Wake::Fact(fact),
            wake = agent_wake(running) => wake,
            () = sleep_until(deadline) => Wake::Deadline,
            () = hint.notified() => Wake::Hint,
        }
    }

    /// Applies what `next` returned.
    pub fn step(&mut self, wake: Wake) -> Vec<Addressed<FrontEnd>> {
        self.take(wake);
        self.settle()
    }

    fn take(&mut self, wake: Wake) {
        match wake {
            Wake::Incoming(Incoming::Frames(batch)) => self.frames(batch),
            Wake::Decoded(decoded) => {
                if let Some(decoding) = self.running.as_mut().and_then(|r| r.decoding.take()) {
                    let out = self.core.update(decoded, &decoding.line, self.now());
                    self.carry_out(out);
                    self.frames(decoding.rest);
                }
            }
            Wake::Incoming(Incoming::Closed { half_line, .. }) => {
                if let Some((frame, line)) = half_line {
                    let now = self.now();
                    self.books.incoming(self.core.codec().as_ref(), &frame, &line, now);
                    let out = self.core.frame(frame, &line, now);
                    self.carry_out(out);
                }
                if let Some(running) = &mut self.running {
                    running.note_closed();
                }
            }
            Wake::Stderr(line) => {
                let now = self.now();
                self.books.stderr(&line, now);
                if self.core.model.hears_log_in(self.core.agent()) {
                    let line = login_line(&line);
                    self.apply(self.core.agent(), HostEvent::LogInPrinted { line });
                }
            }
            Wake::Fact(fact) => self.fact(fact),
            Wake::Exited(exit) => {
                if let Some(running) = &mut self.running {
                    running.note_exit(exit);
                }
            }
            Wake::InputClosed => {
                if let Some(running) = &mut self.running {
                    running.note_input_closed();
                }
            }
            Wake::Deadline => self.due_timers(),
            // What there is to show is looked for after each step.
            Wake::Written | Wake::Hint => {}
        }
        self.look_for_end();
    }

    fn frames(&mut self, mut batch: Batch) {
        let now = self.now();
        let mut frames = std::mem::take(&mut batch.frames).into_iter();
        while let Some((frame, line)) = frames.next() {
            self.books.incoming(self.core.codec().as_ref(), &frame, &line, now);
            if Decoding::is_worth_it(self.core.codec().as_ref(), &frame, &line)
                && let Some(running) = &mut self.running
            {
                batch.frames = frames.collect();
                running.decoding = Some(Decoding::begin(Arc::clone(self.core.codec()), frame, line, batch));
                return;
            }
            let out = self.core.frame(frame, &line, now);
            self.carry_out(out);
        }
    }

    /// Applies what is there already, for at most `budget`. The journal gets it all at once: waking its thread for every
    /// batch would cost more than the batch.
    pub fn drain(&mut self, budget: Duration) -> Vec<Addressed<FrontEnd>> {
        let until = Instant::now() + budget;
        while Instant::now() < until {
            let wake = if let Ok(fact) = self.facts.try_recv() {
                Wake::Fact(fact)
            } else if let Some(incoming) = self.running.as_mut().and_then(Running::ready) {
                Wake::Incoming(incoming)
            } else {
                break;
            };
            self.take(wake);
        }
        self.settle()
    }

    /// The same for front ends that show one session.
    pub fn intent(&mut self, intent: Intent) -> Vec<Addressed<FrontEnd>> {
        self.intent_to(intent.home(), intent)
    }

    /// Does what the person wants. `@path` in a prompt becomes a link here, so that the model need not look at files.
    pub fn intent_to(&mut self, at: Address, intent: Intent) -> Vec<Addressed<FrontEnd>> {
        let intent = match intent {
            Intent::Prompt { text, .. } if self.running.as_ref().is_some_and(|r| r.outbox.is_crowded()) => {
                return vec![Addressed { at, what: FrontEnd::Returned(text) }];
            }
            Intent::Prompt { text, links } if links.is_empty() => {
                Intent::Prompt { links: attach::links(&text, &self.directory(at)), text }
            }
            other => other,
        };
        let now = self.now();
        self.books.intent(at, &intent, now);
        let out = self.core.event(Addressed { at, what: Event::User(intent) }, now);
        self.carry_out(out);
        self.settle()
    }

    /// The directory of a session. That of the first one may have a name that is no text.
    pub(super) fn directory(&self, at: Address) -> PathBuf {
        match at {
            Address::Session(key) if key != SessionKey::FIRST => {
                self.model().session_of(key).map_or_else(|| self.config.cwd.clone(), |s| PathBuf::from(&s.cwd))
            }
            _ => self.config.cwd.clone(),
        }
    }

    /// Types into a running command of the agent, for the person. Not an intent: what is typed may be a secret, so it
    /// is in no journal. False when nobody takes it.
    pub fn type_into(&mut self, term: &TermId, bytes: &[u8]) -> bool {
        self.terminals.input(&host_id(term), bytes)
    }

    /// Pulls new screens of terminals into the model, before a frame is drawn.
    pub fn refresh_terminals(&mut self) {
        let dirty = std::mem::take(&mut *self.dirty.lock().unwrap_or_else(PoisonError::into_inner));
        for id in dirty {
            self.refresh_terminal(&id);
        }
    }

    fn refresh_terminal(&mut self, id: &TermId) {
        let (Some(screen), Some(at)) = (self.terminals.snapshot(&host_id(id)), self.core.model.session_of_terminal(id))
        else {
            return;
        };
        let now = self.now();
        let terminal = self.core.model.session_of(at).and_then(|session| session.terminal(id));
        let has_moved = terminal.is_some_and(|terminal| {
            let is_new = terminal.screen.as_ref().is_none_or(|old| old.generation != screen.generation);
            is_new && now.saturating_sub(terminal.moved) >= MOVED
        });
        if has_moved {
            self.apply(at, HostEvent::TerminalMoved { term: id.clone() });
        }
        self.core.hint(at, Hint::Screen(id.clone(), screen), now);
    }

    fn fact(&mut self, fact: Fact) {
        match fact {
            Fact::TerminalExit(id, exit) if self.creating > 0 && !self.is_ours(&id) => {
                self.early_exits.insert(id, exit);
            }
            Fact::TerminalExit(id, exit) => self.terminal_exited(id, exit),
            Fact::WriteAgain(job) => self.write_again(job),
            Fact::Written(at, event, links) => self.written(at, event, links),
            Fact::Host(at, event @ (HostEvent::TerminalStarted { .. } | HostEvent::TerminalFailed { .. })) => {
                self.creating = self.creating.saturating_sub(1);
                let started =
                    if let HostEvent::TerminalStarted { term, .. } = &event { Some(term.clone()) } else { None };
                self.apply(at, event);
                if let Some(id) = started {
                    // What it printed before its start was known here.
                    self.refresh_terminal(&id);
                    if let Some((id, exit)) = self.early_exits.remove_entry(&id) {
                        self.terminal_exited(id, exit);
                    }
                }
                if self.creating == 0 {
                    self.early_exits.clear();
                }
            }
            Fact::Host(at, event) => {
                match &event {
                    // It was answered when it was given up.
                    HostEvent::FileRead { req, .. } if !self.has_read(*req) => return self.next_file(),
                    HostEvent::WriteChecked { .. } => self.checked(),
                    HostEvent::ReviewOff { .. } => self.reviewing = None,
                    // Nobody waits any more, and an idle client shall not wake for it.
                    HostEvent::TurnCovered { turn, .. } => {
                        let timer = Addressed { at, what: Timer::Coverage(*turn) };
                        self.timers.retain(|t| t.1 != timer);
                    }
                    _ => {}
                }
                self.apply(at, event);
                self.next_file();
            }
        }
    }

    /// Agents can name an id before they have created its terminal.
    fn is_ours(&self, id: &TermId) -> bool {
        self.model().session_of_terminal(id).is_some()
    }

    fn terminal_exited(&mut self, id: TermId, exit: Exit) {
        self.refresh_terminal(&id);
        let host_id = host_id(&id);
        let end = self.terminals.output(&host_id).map(|o| o.text).or_else(|| {
            let screen = self.terminals.snapshot(&host_id)?;
            Some(screen.rows.iter().map(|r| r.as_str()).collect::<Vec<_>>().join("\n"))
        });
        if let Some(at) = self.core.model.session_of_terminal(&id) {
            self.apply(at, HostEvent::TerminalExited { term: id, exit, end: end.unwrap_or_default() });
        }
    }

    fn due_timers(&mut self) {
        let now = Instant::now();
        let (due, later) = std::mem::take(&mut self.timers).into_iter().partition(|(at, _)| *at <= now);
        self.timers = later;
        let due: Vec<(Instant, Addressed<Timer>)> = due;
        for (_, Addressed { at, what: timer }) in due {
            let now = self.now();
            self.books.timer(at, timer, now);
            let out = self.core.event(Addressed { at, what: Event::Timer(timer) }, now);
            self.carry_out(out);
        }
    }

    /// Tells the end of the agent once it is certain.
    fn look_for_end(&mut self) {
        let Some(event) = self.running.as_ref().and_then(Running::end) else { return };
        let gone = matches!(event, HostEvent::AgentExited { .. });
        self.apply(self.core.agent(), event);
        if gone && let Some(running) = self.running.take() {
            self.end(running);
        }
    }

    /// Applies a fact and writes it into the journal.
    pub(super) fn apply(&mut self, at: impl Into<Address>, fact: HostEvent) {
        let (at, now) = (at.into(), self.now());
        self.books.fact(at, &fact, now);
        let out = self.core.event(Addressed { at, what: Event::Host(fact) }, now);
        self.carry_out(out);
    }

    pub(super) fn carry_out(&mut self, out: Vec<Out>) {
        for out in out {
            match out {
                Out::Line(line) => self.send(line),
                Out::Do(Addressed { at, what: Effect::FrontEnd(what) }) => self.news.push(Addressed { at, what }),
                Out::Do(effect) => self.execute(effect),
            }
        }
    }

    pub(super) fn send(&mut self, line: Line) {
        let now = self.now();
        let Some(running) = self.running.as_mut().filter(|r| r.tx.is_some()) else { return };
        let text: Arc<str> = line.text.as_str().into();
        let full = running.outbox.push(Arc::clone(&text)).is_err();
        self.books.outgoing(&line, &text, now);
        if full {
            let why = "the agent has stopped reading; 64 MiB were waiting for it".to_owned();
            self.apply(self.core.agent(), HostEvent::ConnectionDropped { why });
        }
    }

    fn settle(&mut self) -> Vec<Addressed<FrontEnd>> {
        self.mind_reading();
        self.tend_review();
        self.books.settle();
        for trouble in std::mem::take(&mut self.books.troubles) {
            self.apply(Address::All, trouble);
        }
        std::mem::take(&mut self.news)
    }
}

/// The host's name of a terminal of ours.
pub(super) fn host_id(id: &TermId) -> crate::host::pty::TermId {
    crate::host::pty::TermId(id.as_str().to_owned())
}
