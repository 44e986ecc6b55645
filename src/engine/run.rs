//! The engine itself: waits for what happens and applies it.
//!
//! `next` waits and may be dropped at any time; `step` applies without waiting. Times are whole microseconds since the
//! start, as the journal writes them.

mod clock;
mod execute;
mod shutdown;
mod terminals;

pub use shutdown::{Goodbye, Unwritten};

use super::attach;
use super::audit::Audit;
use super::config::EngineConfig;
use super::core::{Core, login_line};
use super::decoding::Decoding;
use super::earlier::Earlier;
use super::fact::{Fact, Facts, Told};
use super::filing::FileQueue;
use super::journaling::Recorder;
use super::link::Connect;
use super::links::{AgentSetup, Further, LinkWake, Links};
use super::moving::Moving;
use super::pushing::Pushing;
use super::recalling::Recalling;
use super::reviews::Reviews;
use super::rooms::Rooms;
use super::ruling::Ruler;
use super::run_name::RunName;
use super::secrets::Hearing;
use super::servers::Servers;
use super::terminals::Terminals;
use super::timers::Timers;
use super::wait::sleep_until;
use crate::agent::codec::{self, SharedCodec};
use crate::host::fs::Private;
use crate::host::keyring::Keyring;
use crate::model::Model;
use crate::model::changes::ReviewEvent;
use crate::model::effect::FrontEnd;
use crate::model::event::{Dialect, Event, HostEvent, Intent, QueueAct, Timer, Words};
use crate::model::history::History;
use crate::model::ids::{Address, Addressed, AgentKey, Now, SessionKey, TermId};
use crate::model::setup::Setup;
use crate::store::branch;
use crate::store::claims::Holder;
use crate::wire::pump::{Batch, Incoming};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Notify, mpsc};

/// Facts under way from files and terminals.
const FACTS: usize = 256;

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
    /// Of the runtime's clock, which stands still in tests.
    start: tokio::time::Instant,
    stem: RunName,
    facts: mpsc::Receiver<Fact>,
    /// For what is done on a thread.
    teller: Facts,
    hint: Arc<Notify>,
    /// Agents that can be added.
    further: Further,
    pub(super) links: Links,
    terminals: Terminals,
    pushing: Pushing,
    pub(super) files: FileQueue,
    reviews: Reviews,
    recorder: Recorder,
    rooms: Rooms,
    moving: Moving,
    recalling: Recalling,
    ruler: Ruler,
    audit: Audit,
    servers: Servers,
    keyring: Keyring,
    pub(super) timers: Timers,
    news: Vec<Addressed<FrontEnd>>,
    /// What was typed to log in, and must not be shown or written down.
    hearing: Hearing,
    /// What has begun to end.
    ending: Option<shutdown::Ending>,
    /// What the person fills into forms stands in journal and transcript.
    keeps_form_answers: bool,
    /// When the clock is looked at next, unless the person does something before.
    clock_due: Now,
}

impl Engine {
    /// Pulls new screens of terminals into the model, before a frame is drawn: for a moment, in turn. What is left over
    /// asks for another frame.
    pub fn refresh_terminals(&mut self) {
        terminals::refresh_all(self);
    }

    /// Must be called inside the runtime. Nothing is started before [`Intent::Start`].
    pub fn new(config: EngineConfig) -> Self {
        let codec = codec::first(config.protocol);
        Self::connected(config, codec, None)
    }

    /// The same, spoken in this way; with `connect` to an agent that is no process.
    pub fn connected(config: EngineConfig, codec: SharedCodec, connect: Option<Connect>) -> Self {
        let EngineConfig { command, args, env, start_in, install, further, cwd, policy, journals, record, .. } = config;
        let EngineConfig { suggestion, shell, graces, review, gate, rules, servers, private, audit, protocol, .. } =
            config;
        let EngineConfig { directories, budget, reach, sandbox, permission_mode, keyring, kept_as, unstable, .. } =
            config;
        let EngineConfig { inherited, keeps_form_answers, .. } = config;
        let (sender, facts) = mpsc::channel(FACTS);
        let (find, name) = servers.map(|servers| (servers.find, servers.agent)).unzip();
        let (sender, hint, stem) = (Facts(sender), Arc::new(Notify::new()), RunName::of_now());
        let names = env.iter().map(|(name, _)| name.clone()).collect();
        let first = AgentSetup { command, args, env, inherited, install, start_in, protocol, reach, sandbox, kept_as };
        let line = first.line();
        let reads_stored_history = journals.is_some();
        let header = journals.is_some().then(|| {
            serde_json::json!({
                "client": concat!("acp-tui ", env!("CARGO_PKG_VERSION")),
                "started": stem.started(),
                "cwd": cwd.to_string_lossy(),
                "command": line,
                "codec": codec.name(),
                "protocol": protocol,
                "dialect": protocol.dialect().map_or("auto", Dialect::word),
                "holder": Holder::me(),
                "branch": branch::of(&cwd),
                "review": review.is_some(),
                "gate": gate,
                "rules": rules.is_some(),
                "earlier": reads_stored_history,
                "policy": policy,
                "unstable": unstable,
            })
        });
        sender.keep_guard();
        let is_over = Arc::default();
        let earlier = audit.clone().map(|state| Earlier::new(state, stem.name()));
        let audit = Audit::new(audit, &stem.name(), &sender);
        let model = Model::new(line, cwd.to_string_lossy().into_owned(), policy)
            .with_suggestion(suggestion)
            .with_env(names)
            .with_review(review.is_some())
            .with_gate(gate)
            .with_rules(rules.is_some())
            .with_audit(audit.is_on())
            .with_stored_history(reads_stored_history)
            .with_unstable(unstable);
        let mut engine = Self {
            core: Core::new(model, cwd.clone(), codec),
            start: tokio::time::Instant::now(),
            stem,
            facts,
            teller: sender.clone(),
            further,
            links: Links::new(first, connect, graces),
            terminals: Terminals::new(shell, &sender, &hint, &is_over),
            pushing: Pushing::default(),
            files: FileQueue::new(&sender, &is_over),
            reviews: Reviews::new(review, stem, Private::new(private), &sender, &hint),
            recorder: Recorder::recording(record, &sender),
            rooms: Rooms::default(),
            moving: Moving::new(journals.clone(), stem, &sender),
            recalling: Recalling::new(journals.clone(), &sender),
            ruler: Ruler::new(rules, earlier, &sender),
            audit,
            servers: Servers::new(find, &sender),
            keyring,
            timers: Timers::default(),
            news: Vec::new(),
            hearing: Hearing::default(),
            ending: None,
            keeps_form_answers,
            clock_due: Now::ZERO,
            hint,
        };
        engine.hide_headers(AgentKey::FIRST);
        engine.core.set_up(Setup::Began(Duration::from_secs(stem.started())));
        let first = Arc::clone(engine.core.codec(AgentKey::FIRST));
        engine.core.speak(first, protocol.may_change());
        if let Some(name) = name {
            engine.ruler.name(AgentKey::FIRST, name);
        }
        match journals.zip(header).map(|(dir, header)| engine.recorder.open(&dir, stem, &header, &engine.teller)) {
            Some(Ok(())) => engine.core.set_up(Setup::Journal),
            Some(Err(message)) => engine.apply(Address::All, HostEvent::JournalFailed { message }),
            None => {}
        }
        engine.allow(&cwd, directories, budget, permission_mode);
        let told = engine.reviews.join(SessionKey::FIRST, &cwd, engine.core.model());
        engine.apply_all(told);
        engine
    }

    /// The name of the session's journal and review, without an ending.
    pub fn stem(&self) -> String {
        self.stem.name()
    }

    pub fn model(&self) -> &Model {
        self.core.model()
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
        self.links.stderr_tail(agent, lines).into_iter().map(|line| self.hearing.secrets.hide(line)).collect()
    }

    /// The last lines on stderr of an agent that may have ended; waits a moment for what is still on its way.
    pub fn last_words(&self, agent: AgentKey) -> impl Future<Output = Vec<String>> + use<> {
        let (words, secrets) = (self.links.last_words(agent), self.hearing.secrets.clone());
        async move { words.await.into_iter().map(|line| secrets.hide(line)).collect() }
    }

    /// From now on old entries leave memory. Who shows them reads them by [`Self::history`].
    pub fn keep_little_in_memory(&mut self) {
        self.core.set_up(Setup::History);
    }

    pub fn history(&self) -> &dyn History {
        self.moving.history()
    }

    /// Without a screen: ends when the first look at the files does, or after `patience`. Before that
    /// no agent should be started: what it has changed by then would be taken for what was there.
    pub async fn first_look(&mut self, patience: Duration) {
        self.reviews.first_look(patience).await;
    }

    /// Waits until something has happened. May be dropped and called again without a loss.
    pub async fn next(&mut self) -> Wake {
        let deadlines = [self.timers.deadline(), self.links.deadline(), self.files.deadline(), self.pushing.deadline()];
        let deadline = deadlines.into_iter().chain([self.rooms.deadline()]).flatten().min();
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
        self.flush()
    }

    fn take(&mut self, wake: Wake) {
        clock::look_at_times(self);
        match wake {
            Wake::Link(agent, wake) => self.heard(agent, wake),
            Wake::Fact(fact) => self.fact(fact),
            // What is due, and what there is to show, is looked for after each step.
            Wake::Deadline | Wake::Hint => {}
        }
        self.due_timers();
        self.look_for_ends();
    }

    fn heard(&mut self, agent: AgentKey, mut wake: LinkWake) {
        match wake {
            LinkWake::Incoming(Incoming::Frames(mut batch)) => {
                self.reviews.heard = Some(batch.since);
                batch.frames = self.hearing.all(agent, self.core.codec(agent).as_ref(), batch.frames);
                self.frames(agent, batch);
            }
            LinkWake::Decoded(decoded) => {
                if let Some(decoding) = self.links.running_mut(agent).and_then(|r| r.decoding.take()) {
                    self.reviews.heard = Some(decoding.rest.since);
                    let out = self.core.update(agent, decoded, &decoding.head, self.now());
                    self.carry_out(out);
                    self.frames(agent, decoding.rest);
                }
            }
            LinkWake::Incoming(Incoming::Closed { ref mut half_line, .. }) => {
                for (frame, line) in self.hearing.last(agent, self.core.codec(agent).as_ref(), half_line.take()) {
                    let now = self.now();
                    self.recorder.incoming(agent, self.core.codec(agent).as_ref(), &frame, &line, now);
                    let out = self.core.frame(agent, frame, &line, now);
                    self.carry_out(out);
                }
                self.links.note(agent, wake);
            }
            LinkWake::Stderr(line) => {
                let line = self.hearing.secrets.line(&line, false).map_or(line, Arc::from);
                let now = self.now();
                self.recorder.stderr(agent, &line, now);
                if self.core.model().hears_log_in(agent) {
                    let line = login_line(&line);
                    self.apply(agent, HostEvent::LogInPrinted { line });
                }
            }
            LinkWake::Told(told) => self.apply(agent, told.into()),
            // What has ended is told when it is certain.
            LinkWake::Ended(_) | LinkWake::InputClosed | LinkWake::Written => self.links.note(agent, wake),
        }
        self.reviews.heard = None;
    }

    fn frames(&mut self, agent: AgentKey, mut batch: Batch) {
        let now = self.now();
        let mut frames = std::mem::take(&mut batch.frames).into_iter();
        while let Some((frame, line)) = frames.next() {
            let codec = self.core.codec(agent);
            self.recorder.incoming(agent, codec.as_ref(), &frame, &line, now);
            if Decoding::is_worth_it(codec.as_ref(), &frame, &line)
                && let Some(running) = self.links.running_mut(agent)
            {
                batch.frames = frames.collect();
                running.decoding = Some(Decoding::begin(Arc::clone(codec), frame, &line, batch));
                return;
            }
            let out = self.core.frame(agent, frame, &line, now);
            self.carry_out(out);
        }
        self.hold_back(batch.room);
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
        self.flush()
    }

    /// The same with the first session, or its agent.
    pub fn intent(&mut self, intent: Intent) -> Vec<Addressed<FrontEnd>> {
        self.intent_in(SessionKey::FIRST, intent)
    }

    /// Does what the person wants with a session, or with its agent.
    pub fn intent_in(&mut self, session: SessionKey, intent: Intent) -> Vec<Addressed<FrontEnd>> {
        let agent = self.core.model().session_of(session).map_or(AgentKey::FIRST, |session| session.agent);
        self.intent_to(intent.at(session, agent), intent)
    }

    /// Does what the person wants. `@path` in a prompt becomes a link here, so that the model need not look at files.
    /// A further agent is named as it is configured.
    pub fn intent_to(&mut self, at: Address, intent: Intent) -> Vec<Addressed<FrontEnd>> {
        clock::look(self);
        let (mut setup, mut name) = (None, None);
        let intent = match self.filled_in(intent) {
            Intent::Prompt { text, .. } if self.is_crowded(at) => {
                return vec![Addressed { at, what: FrontEnd::Returned(text) }];
            }
            Intent::Prompt { text, links }
                if attach::may_have_media(&text) && links.iter().all(|link| link.content.is_link()) =>
            {
                self.read_mentioned(at, text, links);
                return Vec::new();
            }
            Intent::Prompt { text, links } => {
                Intent::Prompt { links: attach::joined(links, &text, self.core.directory(at)), text }
            }
            Intent::Steer { text, links } => {
                Intent::Steer { links: attach::joined(links, &text, self.core.directory(at)), text }
            }
            Intent::Queue(QueueAct::Restore(mut all)) => {
                for Words { text, links } in &mut all {
                    *links = attach::joined(std::mem::take(links), text, self.core.directory(at));
                }
                Intent::Queue(QueueAct::Restore(all))
            }
            Intent::AddAgent { command, cwd, how, .. } => {
                setup = self.further.get(&command).cloned();
                name = setup.is_some().then(|| command.clone());
                let command = setup.as_ref().map_or(command, AgentSetup::line);
                let env = setup.iter().flat_map(|setup| &setup.env).map(|(name, _)| name.clone()).collect();
                let protocol = setup.as_ref().map(|setup| setup.protocol);
                Intent::AddAgent { command, env, cwd, how, protocol }
            }
            other => other,
        };
        let now = self.now();
        if let Intent::OpenSession { cwd, .. } | Intent::AddAgent { cwd, .. } = &intent {
            self.recorder.branch(cwd, now);
        }
        self.recorder.intent(at, &intent, now);
        let adds = matches!(intent, Intent::AddAgent { .. });
        let leaves = matches!(intent, Intent::CloseSession);
        let before = self.core.model().sessions().count();
        let out = self.core.event(Addressed { at, what: Event::User(intent) }, now);
        if adds && let Some((agent, _)) = self.core.model().agents().last() {
            self.links.add(agent, setup);
            self.hide_headers(agent);
            if let Some(name) = name {
                self.ruler.name(agent, name);
            }
        }
        // Before anything is done for them.
        let new: Vec<SessionKey> = self.core.model().sessions().skip(before).map(|(key, _)| key).collect();
        for key in new {
            self.join_workspace(key);
        }
        self.carry_out(out);
        if let Address::Session(at) = at
            && leaves
        {
            let told = self.reviews.leave(at);
            self.apply_all(told);
        }
        self.flush()
    }

    /// From now on an agent of this name can be added, as if it were configured.
    pub fn offer(&mut self, name: String, setup: AgentSetup) {
        self.further.add(name, setup.confined_as(self.links.setup(AgentKey::FIRST)));
    }

    /// Too much waits for the agent for a new prompt to make sense.
    fn is_crowded(&self, at: Address) -> bool {
        let running = self.core.agent_at(at).and_then(|agent| self.links.running(agent));
        running.is_some_and(|running| running.outbox.is_crowded())
    }

    /// Types into a running command of the agent, for the person. Not an intent: what is typed may be a secret, so it
    /// is in no journal. False when no terminal takes it.
    pub fn type_into(&mut self, term: &TermId, bytes: &[u8]) -> bool {
        self.terminals.input(term, bytes)
    }

    fn fact(&mut self, fact: Fact) {
        match fact {
            Fact::TerminalExit(id, exit) => {
                // Agents can name an id before they have created its terminal.
                let model = self.model();
                let is_known = model.session_of_terminal(&id).is_some() || model.agent_of_log_in(&id).is_some();
                if let Some((id, exit)) = self.terminals.exited(id, exit, is_known) {
                    terminals::exited(self, id, exit);
                }
            }
            Fact::Moved(at, result) => {
                let now = self.now();
                self.moving.moved(at, result, &mut self.core, now);
            }
            Fact::Attached(at, text, read) => self.attached(at, text, read),
            Fact::Servers(at, number, found) => self.found_servers(at, number, found),
            Fact::WriteAgain(job) => {
                let at = job.at;
                self.files.again(job);
                self.next_file(at);
            }
            Fact::Written(at, event, links) => {
                let told = self.files.written(at, &event, links, &mut self.reviews);
                self.apply_all(told);
                self.apply(at, event);
                self.next_file(at);
            }
            Fact::Host(
                at,
                event @ (HostEvent::TerminalStarted { .. }
                | HostEvent::TerminalFailed { .. }
                | HostEvent::ShellStarted { .. }
                | HostEvent::ShellFailed { .. }
                | HostEvent::LogInStarted { .. }
                | HostEvent::LogInFailed { .. }),
            ) => {
                let started = match &event {
                    HostEvent::TerminalStarted { term, .. }
                    | HostEvent::ShellStarted { term, .. }
                    | HostEvent::LogInStarted { term } => Some(term.clone()),
                    _ => None,
                };
                let exit = self.terminals.end_start(started.as_ref());
                self.apply(at, event);
                if let Some(id) = started {
                    terminals::begin_to_push(self, &id);
                    // What it printed before its start was known here.
                    terminals::refresh(self, &id);
                    if let Some(exit) = exit {
                        terminals::exited(self, id, exit);
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
            Fact::Host(Address::Session(at), event @ HostEvent::Ruled { .. }) => {
                self.apply(at, event);
                self.ruler.has_spoken(at);
            }
            Fact::Host(at, event) => {
                if let Address::Session(at) = at
                    && let Some(told) = self.reviews.is_on_or_off(at, &event, self.core.model())
                {
                    return self.apply_all(told);
                }
                // Its waiter is gone, and an idle client shall not wake for it.
                if let HostEvent::Review(ReviewEvent::TurnCovered { turn, .. }) = &event {
                    self.timers.stop(at, Timer::Coverage(*turn));
                }
                self.apply(at, event);
            }
        }
    }

    fn due_timers(&mut self) {
        for Addressed { at, what: timer } in self.timers.due() {
            let now = self.now();
            self.recorder.timer(at, timer, now);
            let out = self.core.event(Addressed { at, what: Event::Timer(timer) }, now);
            self.carry_out(out);
        }
    }

    /// Tells the ends of agents once they are certain.
    fn look_for_ends(&mut self) {
        for (agent, event) in self.links.ended() {
            let has_died = matches!(&event, HostEvent::AgentExited { exit, .. } if exit.code != Some(0));
            let gone = matches!(event, HostEvent::AgentExited { .. } | HostEvent::ConnectionLost { .. });
            if event == HostEvent::NothingHeard {
                self.links.try_lengths(agent);
            }
            self.apply(agent, self.hearing.secrets.ending(event));
            if has_died {
                self.links.clear_up(agent, &self.teller);
            } else if gone {
                self.links.end(agent);
            }
        }
    }

    /// Applies a fact and writes it into the journal.
    pub(super) fn apply(&mut self, at: impl Into<Address>, fact: HostEvent) {
        let (at, now) = (at.into(), self.now());
        self.recorder.fact(at, &fact, now);
        let out = self.core.event(Addressed { at, what: Event::Host(fact) }, now);
        self.carry_out(out);
    }

    /// The same with what a part has to tell.
    fn apply_all(&mut self, told: Told) {
        for Addressed { at, what } in told {
            self.apply(at, what);
        }
    }

    fn flush(&mut self) -> Vec<Addressed<FrontEnd>> {
        self.mind_reading();
        terminals::push_all(self);
        let told = self.reviews.tend();
        self.apply_all(told);
        let told = self.recorder.flush();
        self.apply_all(told);
        self.let_on();
        if let Some(why) = self.audit.flush() {
            self.warn(format!("decisions are not logged any more: {why}"));
        }
        std::mem::take(&mut self.news)
    }
}
