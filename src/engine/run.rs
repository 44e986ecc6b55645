//! The engine itself: waits for what happens and applies it.
//!
//! `next` waits and may be dropped at any time; `step` applies without waiting. Times are whole microseconds since the
//! start, as the journal writes them.

use super::attach;
use super::core::{Core, Line, Out, login_line};
use super::decoding::Decoding;
use super::fact::Fact;
use super::filing::FileQueue;
use super::journaling::Books;
use super::link::Connect;
use super::links::{AgentSetup, Further, LinkWake, Links};
use super::moving::Moving;
use super::reviewing::ReviewConfig;
use super::ruling::{Ruler, RulesConfig};
use super::terminals::{Terminals, host_id};
use super::timers::Timers;
use super::wait::sleep_until;
use super::workspaces::Workspaces;
use crate::agent::codec::{self, SharedCodec};
use crate::host::fs::Private;
use crate::host::process::Graces;
use crate::model::Model;
use crate::model::changes::{Gate, ReviewEvent};
use crate::model::effect::{Effect, FrontEnd};
use crate::model::event::{Event, Hint, HostEvent, Intent, Timer};
use crate::model::ids::{Address, Addressed, AgentKey, Now, SessionKey, TermId};
use crate::model::session::Policy;
use crate::model::tool::Exit;
use crate::store::branch;
use crate::store::journal::Journal;
use crate::store::recording::Recording;
use crate::wire::pump::{Batch, Incoming};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Notify, mpsc};

/// Facts under way from files and terminals.
const FACTS: usize = 256;
/// How long screens of terminals are fetched for one frame; one is fetched at least.
const SCREENS: Duration = Duration::from_millis(4);
/// Between two facts that the screen of a terminal changes.
const MOVED: Duration = Duration::from_secs(1);

/// What an engine needs to know. The command and what belongs to it are of the first agent.
#[derive(Debug)]
pub struct EngineConfig {
    pub command: String,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub further: Further,
    /// The session's directory, absolute.
    pub cwd: PathBuf,
    pub policy: Policy,
    /// Where journals go; none are written without it.
    pub journals: Option<PathBuf>,
    pub record: Option<Recording>,
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
    /// What agents are held to; without it there are no rules.
    pub rules: Option<RulesConfig>,
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

    /// Of a further directory's review: the first is named like the session.
    pub fn of_review(self, number: usize) -> String {
        if number == 0 { self.name() } else { format!("{}-{}", self.name(), number + 1) }
    }

    pub fn name(self) -> String {
        format!("{}-{:03}-{}", self.0.as_secs(), self.0.subsec_millis(), std::process::id())
    }
}

/// Something that `next` has waited for.
#[derive(Debug)]
pub enum Wake {
    /// An agent has done something.
    Link(AgentKey, LinkWake),
    Fact(Fact),
    Deadline,
    /// A terminal has something new to show.
    Hint,
}

pub struct Engine {
    pub(super) core: Core,
    pub(super) config: EngineConfig,
    /// Of the runtime's clock, which stands still in tests.
    pub(super) start: tokio::time::Instant,
    pub(super) links: Links,
    pub(super) facts: mpsc::Receiver<Fact>,
    pub(super) facts_tx: mpsc::Sender<Fact>,
    pub(super) terminals: Terminals,
    pub(super) hint: Arc<Notify>,
    pub(super) timers: Timers,
    pub(super) workspaces: Workspaces,
    pub(super) files: FileQueue,
    pub(super) ruler: Ruler,
    /// Told when the first look is over.
    pub(super) first_look: Option<mpsc::Receiver<()>>,
    pub(super) stem: Stem,
    pub(super) books: Books,
    pub(super) moving: Moving,
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
        let hint = Arc::new(Notify::new());
        let terminals = Terminals::new(config.shell.clone(), &facts_tx, &hint);
        let first = AgentSetup {
            command: config.command.clone(),
            args: config.args.clone(),
            env: config.env.clone(),
            install: config.install.clone(),
        };
        let line = first.line();
        let cwd = config.cwd.to_string_lossy().into_owned();
        let model = Model::new(line, cwd, config.policy)
            .with_suggestion(config.suggestion.clone())
            .with_env(config.env.iter().map(|(name, _)| name.clone()).collect())
            .with_review(config.review.is_some())
            .with_gate(config.gate)
            .with_rules(config.rules.is_some());
        let books = Books::recording(config.record.take());
        let private = Private::new(std::mem::take(&mut config.private));
        let mut engine = Self {
            core: Core::new(model, config.cwd.clone(), codec),
            start: tokio::time::Instant::now(),
            links: Links::new(first, connect),
            facts,
            facts_tx,
            terminals,
            hint,
            timers: Timers::default(),
            workspaces: Workspaces::new(private),
            files: FileQueue::default(),
            ruler: Ruler::new(config.rules.take()),
            first_look: None,
            stem: Stem::of_now(),
            books,
            moving: Moving::default(),
            news: Vec::new(),
            config,
        };
        engine.open_journal();
        engine.workspaces.join(SessionKey::FIRST, &engine.config.cwd);
        engine.start_review(SessionKey::FIRST);
        engine
    }

    fn open_journal(&mut self) {
        let Some(dir) = &self.config.journals else { return };
        let header = serde_json::json!({
            "client": concat!("acp-tui ", env!("CARGO_PKG_VERSION")),
            "started": self.stem.started(),
            "cwd": self.config.cwd.to_string_lossy(),
            "command": self.core.model.agents().next().map_or("", |(_, agent)| agent.command.as_str()),
            "codec": self.core.codec(AgentKey::FIRST).name(),
            "branch": branch::of(&self.config.cwd),
            "review": self.config.review.is_some(),
            "gate": self.config.gate,
            "rules": self.ruler.has_rules(),
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

    /// An agent's last lines on stderr.
    pub fn stderr_tail(&self, agent: AgentKey, lines: usize) -> Vec<String> {
        self.links.stderr_tail(agent, lines)
    }

    /// The last lines on stderr of an agent that may have ended; waits a moment for what is still on its way.
    pub fn last_words(&self, agent: AgentKey) -> impl Future<Output = Vec<String>> + use<> {
        self.links.last_words(agent)
    }

    /// Waits until something has happened. May be dropped and called again without a loss.
    pub async fn next(&mut self) -> Wake {
        let deadlines = [self.timers.deadline(), self.links.deadline(), self.files.deadline()];
        let deadline = deadlines.into_iter().flatten().min();
        let Self { links, facts, hint, .. } = self;
        tokio::select! {
            biased;
            Some(fact) = facts.recv() => Wake::Fact(fact),
            (agent, wake) = links.next() => Wake::Link(agent, wake),
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
            Wake::Link(agent, wake) => self.heard(agent, wake),
            Wake::Fact(fact) => self.fact(fact),
            // What is due, and what there is to show, is looked for after each step.
            Wake::Deadline | Wake::Hint => {}
        }
        self.due_timers();
        self.look_for_ends();
    }

    fn heard(&mut self, agent: AgentKey, wake: LinkWake) {
        match wake {
            LinkWake::Incoming(Incoming::Frames(batch)) => self.frames(agent, batch),
            LinkWake::Decoded(decoded) => {
                if let Some(decoding) = self.links.running_mut(agent).and_then(|r| r.decoding.take()) {
                    let out = self.core.update(agent, decoded, &decoding.line, self.now());
                    self.carry_out(out);
                    self.frames(agent, decoding.rest);
                }
            }
            LinkWake::Incoming(Incoming::Closed { half_line, .. }) => {
                if let Some((frame, line)) = half_line {
                    let now = self.now();
                    self.books.incoming(agent, self.core.codec(agent).as_ref(), &frame, &line, now);
                    let out = self.core.frame(agent, frame, &line, now);
                    self.carry_out(out);
                }
                if let Some(running) = self.links.running_mut(agent) {
                    running.note_closed();
                }
            }
            LinkWake::Stderr(line) => {
                let now = self.now();
                self.books.stderr(agent, &line, now);
                if self.core.model.hears_log_in(agent) {
                    let line = login_line(&line);
                    self.apply(agent, HostEvent::LogInPrinted { line });
                }
            }
            LinkWake::Exited(exit) => {
                if let Some(running) = self.links.running_mut(agent) {
                    running.note_exit(exit);
                }
            }
            LinkWake::InputClosed => {
                if let Some(running) = self.links.running_mut(agent) {
                    running.note_input_closed();
                }
            }
            LinkWake::Written => {}
        }
    }

    fn frames(&mut self, agent: AgentKey, mut batch: Batch) {
        let now = self.now();
        let mut frames = std::mem::take(&mut batch.frames).into_iter();
        while let Some((frame, line)) = frames.next() {
            let codec = self.core.codec(agent);
            self.books.incoming(agent, codec.as_ref(), &frame, &line, now);
            if Decoding::is_worth_it(codec.as_ref(), &frame, &line)
                && let Some(running) = self.links.running_mut(agent)
            {
                batch.frames = frames.collect();
                running.decoding = Some(Decoding::begin(Arc::clone(codec), frame, line, batch));
                return;
            }
            let out = self.core.frame(agent, frame, &line, now);
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
            } else if let Some((agent, incoming)) = self.links.ready() {
                Wake::Link(agent, LinkWake::Incoming(incoming))
            } else {
                break;
            };
            self.take(wake);
        }
        self.settle()
    }

    /// The same with the first session, or its agent.
    pub fn intent(&mut self, intent: Intent) -> Vec<Addressed<FrontEnd>> {
        self.intent_in(SessionKey::FIRST, intent)
    }

    /// Does what the person wants with a session, or with its agent.
    pub fn intent_in(&mut self, session: SessionKey, intent: Intent) -> Vec<Addressed<FrontEnd>> {
        let agent = self.core.model.session_of(session).map_or(AgentKey::FIRST, |session| session.agent);
        self.intent_to(intent.at(session, agent), intent)
    }

    /// Does what the person wants. `@path` in a prompt becomes a link here, so that the model need not look at files.
    /// A further agent is named as it is configured.
    pub fn intent_to(&mut self, at: Address, intent: Intent) -> Vec<Addressed<FrontEnd>> {
        let (mut setup, mut name) = (None, None);
        let intent = match intent {
            Intent::Prompt { text, .. } if self.is_crowded(at) => {
                return vec![Addressed { at, what: FrontEnd::Returned(text) }];
            }
            Intent::Prompt { text, links } if links.is_empty() => {
                Intent::Prompt { links: attach::links(&text, self.core.directory(at)), text }
            }
            Intent::AddAgent { command, cwd, how, .. } => {
                setup = self.config.further.get(&command).cloned();
                name = setup.is_some().then(|| command.clone());
                let command = setup.as_ref().map_or(command, AgentSetup::line);
                let env = setup.iter().flat_map(|setup| &setup.env).map(|(name, _)| name.clone()).collect();
                Intent::AddAgent { command, env, cwd, how }
            }
            other => other,
        };
        let now = self.now();
        self.books.intent(at, &intent, now);
        let adds = matches!(intent, Intent::AddAgent { .. });
        let leaves = matches!(intent, Intent::CloseSession);
        let before = self.core.model.sessions().count();
        let out = self.core.event(Addressed { at, what: Event::User(intent) }, now);
        if adds && let Some((agent, _)) = self.core.model.agents().last() {
            self.links.add(agent, setup);
            if let Some(name) = name {
                self.ruler.name(agent, name);
            }
        }
        // Before anything is done for them.
        let new: Vec<SessionKey> = self.core.model.sessions().skip(before).map(|(key, _)| key).collect();
        for key in new {
            self.settle_in(key);
        }
        self.carry_out(out);
        if let Address::Session(at) = at
            && leaves
        {
            self.leave_review(at);
        }
        self.settle()
    }

    /// Too much waits for the agent for a new prompt to make sense.
    fn is_crowded(&self, at: Address) -> bool {
        let running = self.core.agent_at(at).and_then(|agent| self.links.running(agent));
        running.is_some_and(|running| running.outbox.is_crowded())
    }

    /// Types into a running command of the agent, for the person. Not an intent: what is typed may be a secret, so it
    /// is in no journal. False when nobody takes it.
    pub fn type_into(&mut self, term: &TermId, bytes: &[u8]) -> bool {
        self.terminals.input(term, bytes)
    }

    /// Pulls new screens of terminals into the model, before a frame is drawn: for a moment, in turn. What is left over
    /// asks for another frame.
    pub fn refresh_terminals(&mut self) {
        let until = Instant::now() + SCREENS;
        while let Some(id) = self.terminals.next_dirty() {
            self.refresh_terminal(&id);
            if Instant::now() >= until {
                break;
            }
        }
        if self.terminals.is_dirty() {
            self.hint.notify_one();
        }
    }

    fn refresh_terminal(&mut self, id: &TermId) {
        let (Some(screen), Some(at)) =
            (self.terminals.host().snapshot(&host_id(id)), self.core.model.session_of_terminal(id))
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
            Fact::TerminalExit(id, exit) => {
                // Agents can name an id before they have created its terminal.
                let is_known = self.model().session_of_terminal(&id).is_some();
                if let Some((id, exit)) = self.terminals.exited(id, exit, is_known) {
                    self.terminal_exited(id, exit);
                }
            }
            Fact::Moved(at, result) => self.moved(at, result),
            Fact::WriteAgain(job) => self.write_again(job),
            Fact::Written(at, event, links) => self.written(at, event, links),
            Fact::Host(at, event @ (HostEvent::TerminalStarted { .. } | HostEvent::TerminalFailed { .. })) => {
                let started =
                    if let HostEvent::TerminalStarted { term, .. } = &event { Some(term.clone()) } else { None };
                let exit = self.terminals.end_start(started.as_ref());
                self.apply(at, event);
                if let Some(id) = started {
                    // What it printed before its start was known here.
                    self.refresh_terminal(&id);
                    if let Some(exit) = exit {
                        self.terminal_exited(id, exit);
                    }
                }
            }
            Fact::Host(Address::Session(at), event @ HostEvent::FileRead { .. }) => {
                // A read that was given up was answered then.
                if let HostEvent::FileRead { req, .. } = &event
                    && self.files.has_read(at, *req)
                {
                    self.apply(at, event);
                }
                self.next_file(at);
            }
            Fact::Host(Address::Session(at), event @ HostEvent::WriteChecked { .. }) => {
                self.files.checked(at);
                self.apply(at, event);
                self.next_file(at);
            }
            Fact::Host(Address::Session(at), event @ HostEvent::Ruled { .. }) => self.ruled(at, event),
            Fact::Host(at, event) => {
                match &event {
                    HostEvent::Review(ReviewEvent::ReviewOff { .. }) => {
                        if let Address::Session(at) = at {
                            return self.review_is_off(at, &event);
                        }
                    }
                    // Nobody waits any more, and an idle client shall not wake for it.
                    HostEvent::Review(ReviewEvent::TurnCovered { turn, .. }) => {
                        self.timers.stop(at, Timer::Coverage(*turn));
                    }
                    _ => {}
                }
                self.apply(at, event);
            }
        }
    }

    fn terminal_exited(&mut self, id: TermId, exit: Exit) {
        self.refresh_terminal(&id);
        let end = self.terminals.end_of(&id);
        if let Some(at) = self.core.model.session_of_terminal(&id) {
            self.apply(at, HostEvent::TerminalExited { term: id, exit, end });
        }
    }

    fn due_timers(&mut self) {
        for Addressed { at, what: timer } in self.timers.due() {
            let now = self.now();
            self.books.timer(at, timer, now);
            let out = self.core.event(Addressed { at, what: Event::Timer(timer) }, now);
            self.carry_out(out);
        }
    }

    /// Tells the ends of agents once they are certain.
    fn look_for_ends(&mut self) {
        for (agent, event) in self.links.ended() {
            let gone = matches!(event, HostEvent::AgentExited { .. });
            self.apply(agent, event);
            if gone {
                self.links.end(agent, self.config.graces);
            }
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
        let Some(running) = self.links.running_mut(line.agent).filter(|r| r.tx.is_some()) else { return };
        let text: Arc<str> = line.text.as_str().into();
        let full = running.outbox.push(Arc::clone(&text)).is_err();
        self.books.outgoing(&line, &text, now);
        if full {
            let why = "the agent has stopped reading; 64 MiB were waiting for it".to_owned();
            self.apply(line.agent, HostEvent::ConnectionDropped { why });
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
