//! Gives each effect to the part of the engine that it is for, and what the person types for a log-in to its terminal
//! alone; holds agents back as long as much of what they have led to is under way.
//!
//! Blocks nowhere: what may block is the parts' own threads' business and comes back as a fact.

use super::Engine;
use crate::agent::quirks;
use crate::engine::attach;
use crate::engine::core::{Line, Out};
use crate::engine::fact::Fact;
use crate::engine::file_job::{FileJob, ReadJob, WriteJob};
use crate::engine::frames::Frames;
use crate::engine::making;
use crate::engine::merging::Wanted;
use crate::engine::rulebook;
use crate::engine::terminals::Start;
use crate::engine::{AgentSetup, Reach};
use crate::host::keyring::Kept;
use crate::host::process;
use crate::mcp::{Found, Remote};
use crate::model::budget::Budget;
use crate::model::effect::{Effect, FrontEnd};
use crate::model::event::{AuthKind, Event, HostEvent, Intent, Link, TerminalSpec, Timer};
use crate::model::form::Reply;
use crate::model::ids::{Address, Addressed, AgentKey, ReqId, SessionKey, TermId};
use crate::model::judge::Request;
use crate::model::login::{Keep, Secret};
use crate::wire::pump::Room;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

/// Nothing that was typed to log in is kept for longer.
const A_YEAR: Duration = Duration::from_hours(365 * 24);

impl Engine {
    /// Merges a worktree in the review of what it came from, where a session works there. What came of it is told, in
    /// words, to who waits for that.
    pub fn merge(&mut self, wanted: Wanted) -> Option<Receiver<Result<String, String>>> {
        let (merged, told) = self.reviews.merge(wanted);
        self.apply_all(told);
        merged
    }

    pub(super) fn carry_out(&mut self, out: Vec<Out>) {
        for out in out {
            match out {
                Out::Line(line) => self.open_or_send(line),
                Out::Do(Addressed { at, what: Effect::FrontEnd(what) }) => self.news.push(Addressed { at, what }),
                Out::Do(effect) => self.execute(effect),
            }
        }
    }

    /// A batch of lines was applied, and what it takes of what may be under way is kept as long as there is much: texts on
    /// their way to the disk, writes that are not done or that no review has looked at yet, and lines that the journal has not
    /// written.
    pub(super) fn hold_back(&mut self, room: Option<Room>) {
        let Self { files, moving, reviews, recorder, rooms, .. } = self;
        if let Some(room) = room {
            rooms.keep(room, || files.bytes() + moving.bytes() + reviews.bytes(), || recorder.waiting());
        }
    }

    pub(super) fn let_on(&mut self) {
        let Self { files, moving, reviews, recorder, rooms, .. } = self;
        rooms.give_back(|| files.bytes() + moving.bytes() + reviews.bytes(), || recorder.waiting());
    }

    pub(super) fn send(&mut self, line: Line) {
        let now = self.now();
        let Some(running) = self.links.running_mut(line.agent).filter(|r| r.tx.is_some()) else { return };
        let text: Arc<str> = line.text.as_str().into();
        let full = running.outbox.push(Arc::clone(&text)).is_err();
        self.recorder.outgoing(&line, &text.into(), now);
        if full {
            let why = "the agent has stopped reading; 64 MiB were waiting for it".to_owned();
            self.apply(line.agent, HostEvent::ConnectionDropped { why });
        }
    }

    /// The newest lines of all connections.
    pub fn seen(&mut self) -> &mut Frames {
        &mut self.recorder.frames
    }

    /// A call that opens a session waits for the servers that the agent is given with it.
    fn open_or_send(&mut self, line: Line) {
        let Self { core, ruler, servers, .. } = self;
        let agent = ruler.name_of(line.agent).cloned();
        if core.model().agent_of(line.agent).is_some_and(|agent| agent.reached.is_some()) {
            // Commands and their variables are of this machine.
            return self.send(line);
        }
        let line = servers.hold(line, |at| (core.directory(at.into()).to_owned(), agent));
        if let Some(line) = line {
            self.send(line);
        }
    }

    /// Has the images and sounds read that a prompt names; it is sent after that, with what was given along.
    pub(super) fn read_mentioned(&mut self, at: Address, text: String, given: Vec<Link>) {
        let Address::Session(key) = at else { return };
        let agent = self.core.agent_at(at).and_then(|agent| self.core.model().agent_of(agent));
        let caps = agent.map(|agent| agent.caps).unwrap_or_default();
        let (cwd, facts) = (self.core.directory(at).to_owned(), self.teller.clone());
        tokio::task::spawn_blocking(move || {
            let read = attach::read_mentioned(&text, &cwd, &caps).map(|mut found| {
                let others = given.into_iter().filter(|link| found.iter().all(|other| other.uri != link.uri));
                let others: Vec<Link> = others.collect();
                found.extend(others);
                found
            });
            facts.send(Fact::Attached(key, text, read));
        });
    }

    pub(super) fn attached(&mut self, at: SessionKey, text: String, read: Result<Vec<Link>, String>) {
        match read {
            Ok(links) => {
                let (now, at) = (self.now(), Address::Session(at));
                let intent = Intent::Prompt { text, links };
                self.recorder.intent(at, &intent, now);
                let out = self.core.event(Addressed { at, what: Event::User(intent) }, now);
                self.carry_out(out);
            }
            Err(message) => {
                self.apply(at, HostEvent::Warning { message });
                self.news.push(Addressed { at: at.into(), what: FrontEnd::Returned(text) });
            }
        }
    }

    pub(super) fn found_servers(&mut self, at: SessionKey, number: u64, mut found: Found) {
        let Some(line) = self.servers.found(at, number) else { return };
        let caps = self.core.model().agent_of(line.agent).map(|agent| agent.caps).unwrap_or_default();
        found.keep(|kind| match kind {
            None => !caps.no_mcp_stdio,
            Some(Remote::Http) => caps.mcp_http,
            Some(Remote::Sse) => caps.mcp_sse,
        });
        for message in found.remarks {
            self.apply(at, HostEvent::Warning { message });
        }
        let names: Vec<String> = found.servers.iter().map(|given| given.written.name.clone()).collect();
        if !names.is_empty() {
            self.apply(at, HostEvent::ServersFound(names));
        }
        if let Some(session) = self.core.model().session_of(at) {
            found.servers.retain(|given| session.servers.is_on(&given.written.name));
        }
        let line = self.core.give(line, &found.servers);
        self.send(line);
    }

    fn execute(&mut self, effect: Addressed<Effect>) {
        if let Effect::Audit(decision) = &effect.what {
            let Self { core, audit, ruler, hearing, .. } = self;
            let agent = core.agent_at(effect.at).and_then(|agent| ruler.name_of(agent));
            return audit.record(effect.at, decision, agent.map(String::as_str), core, &hearing.secrets);
        }
        match effect.at {
            Address::Agent(key) => self.execute_for_agent(key, effect.what),
            Address::Session(key) => self.execute_for_session(key, effect.what),
            Address::All => {}
        }
    }

    fn execute_for_agent(&mut self, agent: AgentKey, effect: Effect) {
        match effect {
            Effect::StartTimer { timer, after } => self.timers.start(agent.into(), timer, after),
            Effect::SpawnAgent => {
                self.servers.forget(agent);
                self.pushing.forget(agent);
                let (cwd, words) =
                    (self.core.directory(agent.into()).to_owned(), self.core.codec(agent).word_for_word());
                self.give_kept(agent);
                if let Some(confined) = self.links.confined(agent, &cwd) {
                    self.apply(agent, HostEvent::AgentConfined(confined.into()));
                }
                let event = self.links.start(agent, cwd, words);
                self.apply(agent, event);
            }
            Effect::EndAgent => self.links.end(agent),
            Effect::KillAgent => self.links.kill(agent),
            Effect::LogIn(kind) => self.log_in(agent, kind),
            Effect::EndLogIn(term) => self.terminals.release(&term),
            Effect::KeepCredentials(until) => {
                self.timers.stop(agent.into(), Timer::Credentials);
                if let Some(until) = until {
                    let left = u64::try_from(until.saturating_sub(rulebook::now())).unwrap_or_default();
                    self.timers.start(agent.into(), Timer::Credentials, Duration::from_secs(left).min(A_YEAR));
                }
            }
            Effect::ForgetCredentials => {
                self.timers.stop(agent.into(), Timer::Credentials);
                self.core.forget_credentials(agent);
            }
            Effect::ForgetKept => self.forget_kept(agent),
            _ => {}
        }
    }

    fn execute_for_session(&mut self, at: SessionKey, effect: Effect) {
        match effect {
            Effect::FsRead { req, request, line, limit } => {
                let session = self.model().session_of(at);
                let agent = session.and_then(|session| self.model().agent_of(session.agent));
                let missing = quirks::missing_file(agent.and_then(|agent| agent.name.as_deref()));
                let turn = session.and_then(|session| session.turn.as_ref()).map(|turn| turn.id);
                let rules = self.ruler.in_force(at, &self.core);
                self.queue_file(FileJob::Read(ReadJob { at, req, request, line, limit, missing, turn, rules }));
            }
            Effect::AskRules { req, claims, is_service_read } => {
                self.ruler.ask(at, (req, claims, is_service_read), &self.core);
            }
            Effect::LookBack(entry) => self.ruler.look_back(at, entry, &self.core),
            Effect::WeighRules { req, list, text, waiting, past } => {
                let earlier = self.ruler.earlier(at, &self.core);
                self.ruler.apart(at, &self.core, move |in_force, _| {
                    let earlier = earlier(text.is_none());
                    making::weigh(in_force, making::RuleQuery { req, list, text, waiting, past, earlier })
                });
            }
            Effect::MakeRules(rules) => {
                self.ruler.apart(at, &self.core, move |in_force, tell| making::make(in_force, &rules, tell));
            }
            Effect::KeepAnswer { claims, list, scope } => {
                self.ruler.apart(at, &self.core, move |in_force, tell| {
                    making::keep_answer(in_force, &claims, (list, scope), tell)
                });
            }
            Effect::ListRules => {
                self.ruler.apart(at, &self.core, |in_force, _| making::kept(in_force));
            }
            Effect::DropRule(rule) => {
                self.ruler.apart(at, &self.core, move |in_force, _| making::remove(in_force, rule));
            }
            Effect::CheckWrite { req, path } => {
                self.queue_file(FileJob::Check { at, req, path });
            }
            Effect::FsWrite { req, request, content, how, entry } => {
                let rules = self.ruler.in_force(at, &self.core);
                self.queue_file(FileJob::Write(WriteJob { at, req, request, content, how, entry, tries: 0, rules }));
            }
            Effect::TerminalCreate { req, request, spec } => self.create_terminal(at, req, *request, spec),
            Effect::Shell(line) => {
                let own = self.reviews.directory(at).map(Path::to_owned);
                let cwd = own.unwrap_or_else(|| self.core.directory(at.into()).to_owned());
                if let Err((line, message)) = self.terminals.start_shell(at, line, cwd) {
                    self.apply(at, HostEvent::ShellFailed { line, message });
                }
            }
            Effect::TerminalOutput { req, term } => self.answer_output(req, &term),
            Effect::TerminalKill(term) => self.terminals.kill(&term),
            Effect::TerminalSignal { term, signal } => self.terminals.signal(&term, signal),
            Effect::TerminalRelease(term) => self.terminals.release(&term),
            Effect::Review(command) => {
                let told = self.reviews.command(at, command, self.core.model());
                self.apply_all(told);
            }
            Effect::Recall { id, is_copy } => {
                let agent = self.core.agent_at(at.into()).and_then(|agent| self.core.model().agent_of(agent));
                let command = agent.map(|agent| agent.command.clone()).unwrap_or_default();
                self.recalling.begin(at, id, command, is_copy);
            }
            Effect::MoveOut(ids) => {
                let now = self.now();
                self.moving.move_out(at, ids, &mut self.core, now);
            }
            Effect::StartTimer { timer, after } => self.timers.start(at.into(), timer, after),
            // Of the agent, or turned into lines or news before they get here.
            Effect::SpawnAgent
            | Effect::EndAgent
            | Effect::KillAgent
            | Effect::Call(_)
            | Effect::CancelTurn(_)
            | Effect::WithdrawAuthenticate
            | Effect::LogIn(_)
            | Effect::EndLogIn(_)
            | Effect::KeepCredentials(_)
            | Effect::ForgetCredentials
            | Effect::ForgetKept
            | Effect::Respond { .. }
            | Effect::Audit(_)
            | Effect::Void(_)
            | Effect::FrontEnd(_) => {}
        }
    }

    /// The same program with the same arguments and environment as the agent, and what the method adds; or the
    /// command that the agent describes.
    fn log_in(&mut self, agent: AgentKey, kind: AuthKind) {
        let Some(setup) = self.links.setup(agent).cloned() else { return };
        let sandbox = setup.sandbox_in(self.core.directory(agent.into()));
        let AgentSetup { command, args, env, inherited, start_in, .. } = setup;
        let (line, more) = match kind {
            AuthKind::Terminal { args: more, env } => ((command, args.into_iter().chain(more).collect()), env),
            AuthKind::Command { command, args, env } => ((command, args), env),
            AuthKind::Agent | AuthKind::Env { .. } | AuthKind::Typed { .. } => return,
        };
        let cwd = start_in.unwrap_or_else(|| self.core.directory(agent.into()).to_owned());
        let env = env.into_iter().chain(more).collect();
        self.terminals.start_log_in(agent, line, (env, inherited), cwd, sandbox);
    }

    /// Puts a warning into the transcript.
    pub fn warn(&mut self, message: String) {
        self.apply(Address::All, HostEvent::Warning { message });
    }

    /// What sessions of all programs have cost today, where that is known.
    pub fn spent(&mut self, amount: Option<f64>) {
        if let Some(amount) = amount.filter(|amount| amount.is_finite()) {
            self.apply(Address::All, HostEvent::Spent(amount));
        }
    }

    /// The directories besides its own that sessions of this one may use, and what may be spent.
    pub(super) fn allow(
        &mut self,
        cwd: &Path,
        directories: Vec<PathBuf>,
        budget: Option<Budget>,
        mode: Option<crate::model::permission_mode::ModeChoice>,
    ) {
        let directories: Vec<PathBuf> = directories.into_iter().filter(|dir| dir != cwd).collect();
        if !directories.is_empty() {
            let words = directories.iter().map(|dir| dir.to_string_lossy().into_owned()).collect();
            self.apply(Address::All, HostEvent::Directories(words));
            self.ruler.reach(cwd, &directories);
            self.reviews.reach(cwd, directories);
        }
        if let Some(budget) = budget {
            self.apply(Address::All, HostEvent::Budget(Box::new(budget)));
        }
        if let Some(choice) = mode {
            self.apply(SessionKey::FIRST, HostEvent::PermissionMode(choice));
        }
    }

    /// How long ago its agent has opened the first session, which is to go on and of which nothing is read.
    pub fn opened_before(&mut self, age: Duration) {
        self.apply(SessionKey::FIRST, HostEvent::OpenedBefore { age });
    }

    pub(in crate::engine) fn queue_file(&mut self, job: FileJob) {
        let at = job.session();
        self.files.push(job);
        self.next_file(at);
    }

    /// Stops reads whose requests are void, and gives those up that do not come back.
    pub(in crate::engine) fn mind_reading(&mut self) {
        let (core, links) = (&self.core, &self.links);
        let is_running = |at: SessionKey| core.agent_at(at.into()).is_some_and(|agent| links.running(agent).is_some());
        self.files.stop_unwanted(core.model(), is_running);
        while let Some((at, event)) = self.files.give_up() {
            self.apply(at, event);
            self.next_file(at);
        }
    }

    /// Begins the next jobs of a session, up to one that takes its time.
    pub(in crate::engine) fn next_file(&mut self, at: SessionKey) {
        while let Some(job) = self.files.next(at) {
            let told = self.files.begin(job, self.core.model(), &mut self.reviews);
            self.apply_all(told);
        }
    }

    /// Gives a session that has just come about its place.
    pub(super) fn join_workspace(&mut self, at: SessionKey) {
        let Some(cwd) = self.core.model().session_of(at).map(|session| PathBuf::from(&session.cwd)) else { return };
        let told = self.reviews.join(at, &cwd, self.core.model());
        self.apply_all(told);
    }

    /// Gives the agent the values of a way to log in, and has it started again with them; variables may be kept, too. Not an
    /// intent: they are in no journal, and where an agent says one that its method calls a secret, it is neither shown nor
    /// written down.
    pub fn log_in_with(&mut self, at: SessionKey, method: String, values: Vec<(String, Secret)>, keep: Keep) {
        let Some(agent) = self.core.model().session_of(at).map(|session| session.agent) else { return };
        let vars: Vec<String> = values.iter().map(|(name, _)| name.clone()).collect();
        let model = self.core.model().agent_of(agent);
        let chosen = model.and_then(|agent| agent.auth_methods.iter().find(|known| known.id == method));
        let is_open =
            |name: &String| matches!(chosen.map(|m| &m.kind), Some(AuthKind::Env { open, .. }) if open.contains(name));
        for (_, value) in values.iter().filter(|(name, _)| !is_open(name)) {
            self.hearing.secrets.add(&value.0);
        }
        self.recorder.hide(self.hearing.secrets.clone());
        if matches!(chosen.map(|m| &m.kind), Some(AuthKind::Typed { .. })) {
            self.core.keep_credentials(agent, values);
            return self.apply(agent, HostEvent::LogInTyped { method });
        }
        if keep == Keep::InKeyring {
            let kept = |(name, value): &(String, Secret)| Kept {
                name: name.clone(),
                value: value.0.clone(),
                is_open: is_open(name),
            };
            let kept = values.iter().map(kept).collect();
            let kept_as = self.links.setup(agent).and_then(|setup| setup.kept_as.clone());
            let kept_as = kept_as.ok_or_else(|| "nothing is kept for such an agent".to_owned());
            let fault = kept_as.and_then(|name| self.keyring.keep(&name, kept)).err();
            self.apply(agent, HostEvent::KeyringTook { vars: Vec::clone(&vars), fault });
        }
        self.links.set_variables(agent, values.into_iter().map(|(name, value)| (name, value.0)).collect());
        self.apply(agent, HostEvent::LogInSet { method, vars });
    }

    /// Puts what the system's keyring has for an agent into its environment, before it is started for the first time.
    fn give_kept(&mut self, agent: AgentKey) {
        let Some(name) = self.links.kept_as_at_first(agent) else { return };
        let kept = match self.keyring.read(&name) {
            Ok(kept) if !kept.is_empty() => kept,
            // Where there is no keyring nothing was ever kept.
            _ => return,
        };
        for secret in kept.iter().filter(|one| !one.is_open) {
            self.hearing.secrets.add(&secret.value);
        }
        self.recorder.hide(self.hearing.secrets.clone());
        let vars = kept.iter().map(|one| one.name.clone()).collect();
        self.links.set_variables(agent, kept.into_iter().map(|one| (one.name, one.value)).collect());
        self.apply(agent, HostEvent::KeyringGave { vars });
    }

    fn forget_kept(&mut self, agent: AgentKey) {
        let Some(name) = self.links.setup(agent).and_then(|setup| setup.kept_as.clone()) else { return };
        let fault = match self.keyring.forget(&name) {
            Ok(names) => {
                self.links.unset_variables(agent, &names);
                None
            }
            Err(why) => Some(why),
        };
        self.apply(agent, HostEvent::KeyringForgot { fault });
    }

    /// What the person has filled in as a secret is neither shown nor written down from now on, whoever says it; the rest
    /// only where they want to keep it.
    pub(super) fn filled_in(&mut self, mut intent: Intent) -> Intent {
        let Intent::AnswerAsked { reply, .. } = &mut intent else { return intent };
        if let Reply::Filled(filled) = reply {
            filled.is_kept = self.keeps_form_answers;
        }
        let mut is_hiding = false;
        for (_, value) in reply.secrets() {
            self.hearing.secrets.add(&value.0);
            is_hiding = true;
        }
        if is_hiding {
            self.recorder.hide(self.hearing.secrets.clone());
        }
        intent
    }

    /// What is sent to an agent behind an address to be let in is neither shown nor written down, whoever says it.
    pub(super) fn hide_headers(&mut self, agent: AgentKey) {
        let reach = self.links.setup(agent).map(|setup| &setup.reach);
        let mut secrets = reach.into_iter().flat_map(Reach::secrets).peekable();
        if secrets.peek().is_some() {
            secrets.for_each(|secret| self.hearing.secrets.add(secret));
            self.recorder.hide(self.hearing.secrets.clone());
        }
    }

    /// The person sees so many columns and rows of the terminal in which they log in.
    pub fn resize(&self, term: &TermId, size: (u16, u16)) {
        self.terminals.resize(term, size);
    }

    /// The same of the terminals of their own commands, from now on.
    pub fn fit_shell(&mut self, size: (u16, u16)) {
        if self.terminals.fit_shell(size) {
            let all = self.core.model().sessions().flat_map(|(_, session)| session.shell());
            all.filter(|term| term.is_running()).for_each(|term| self.terminals.resize(&term.id, size));
        }
    }

    /// Shows a page to the person; that it cannot be shown is told in the session.
    pub fn open_page(&self, at: SessionKey, address: String) {
        let facts = self.teller.clone();
        tokio::task::spawn_blocking(move || {
            if let Err(error) = process::open_page(&address) {
                let message = format!("the page was not opened ({error}); copy its address instead");
                facts.tell(at, HostEvent::Warning { message });
            }
        });
    }

    fn create_terminal(&mut self, at: SessionKey, req: ReqId, request: Request, spec: Arc<TerminalSpec>) {
        if let Err(error) = self.terminals.begin_start() {
            return self.apply(at, HostEvent::TerminalFailed { req, error });
        }
        let (looked, told) = self.reviews.before_command(at, req);
        self.apply_all(told);
        let (roots, own) = (Arc::clone(self.reviews.roots(at)), self.reviews.directory(at).map(Path::to_owned));
        let setup = self.core.agent_at(at.into()).and_then(|agent| self.links.setup(agent));
        let sandbox = setup.and_then(|setup| setup.sandbox_in(self.core.directory(at.into())));
        let inherited = setup.map(|setup| setup.inherited.clone()).unwrap_or_default();
        self.terminals.start(Start { at, req, request, spec, roots, own, looked, inherited, sandbox });
    }

    fn answer_output(&mut self, req: ReqId, term: &TermId) {
        let answer = self.terminals.answer(term, self.core.model());
        if let Some(line) = self.core.respond(req, &answer) {
            self.send(line);
        }
    }
}
