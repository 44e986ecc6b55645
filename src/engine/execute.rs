//! One small function an effect. What may block runs on a blocking thread and comes back as a fact.

use super::filing::{FileJob, LOOK, ReadJob};
use super::link::Link;
use super::refusing;
use super::reviewing::Job;
use super::run::{Engine, Fact, host_id};
use super::running::Running;
use crate::agent::quirks;
use crate::host::process::{self, AgentSpec};
use crate::host::pty::TermSpec;
use crate::model::effect::{Answer, Effect};
use crate::model::event::{HostEvent, TerminalSpec, Timer};
use crate::model::ids::{Address, Addressed, AgentKey, ReqId, SessionKey, TermId};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

/// The width that tools of agents see; they cut their output at it and the agent reads that.
const COLUMNS: u16 = 120;
const ROWS: u16 = 30;
/// How long what waits for a dying agent may take to be written.
const LAST_WORDS: Duration = Duration::from_millis(200);

impl Engine {
    pub(super) fn execute(&mut self, effect: Addressed<Effect>) {
        match effect.at {
            Address::Agent(key) => self.execute_for_agent(key, effect.what),
            Address::Session(key) => self.execute_for_session(key, effect.what),
            Address::All => {}
        }
    }

    fn execute_for_agent(&mut self, key: AgentKey, effect: Effect) {
        let is_ours = key == self.core.agent();
        match effect {
            Effect::StartTimer { timer, after } => self.start_timer(key.into(), timer, after),
            Effect::SpawnAgent if is_ours => self.spawn_agent(),
            // There is one connection.
            Effect::SpawnAgent => {
                let message = "a second agent cannot be started beside the first one".to_owned();
                self.apply(key, HostEvent::SpawnFailed { message, hint: String::new() });
            }
            Effect::EndAgent if is_ours => {
                if let Some(running) = self.running.take() {
                    self.end(running);
                }
            }
            Effect::KillAgent if is_ours => {
                if let Some(running) = &mut self.running {
                    running.far.kill();
                }
            }
            _ => {}
        }
    }

    fn execute_for_session(&mut self, at: SessionKey, effect: Effect) {
        match effect {
            Effect::FsRead { req, path, line, limit } => {
                let missing = quirks::missing_file(self.model().agent().name.as_deref());
                let turn = self.model().session_of(at).and_then(|session| session.turn.as_ref()).map(|turn| turn.id);
                self.files.push_back(FileJob::Read(ReadJob { at, req, path, line, limit, missing, turn }));
                self.next_file();
            }
            Effect::CheckWrite { req, path } => {
                self.files.push_back(FileJob::Check { at, req, path });
                self.next_file();
            }
            Effect::FsWrite { req, path, content, entry } => {
                self.files.push_back(FileJob::Write { at, req, path, content, entry, tries: 0 });
                self.next_file();
            }
            Effect::TerminalCreate { req, spec } => self.create_terminal(at, req, spec),
            Effect::TerminalOutput { req, term } => self.answer_output(req, &term),
            Effect::TerminalKill(term) => {
                self.terminals.kill(&host_id(&term));
            }
            Effect::TerminalRelease(term) => {
                self.terminals.release(&host_id(&term));
            }
            Effect::Review(effect) => self.review(at, effect),
            Effect::StartTimer { timer, after } => self.start_timer(at.into(), timer, after),
            // Of the agent, or turned into lines or news before they get here.
            Effect::SpawnAgent
            | Effect::EndAgent
            | Effect::KillAgent
            | Effect::Call(_)
            | Effect::CancelTurn(_)
            | Effect::WithdrawAuthenticate
            | Effect::Respond { .. }
            | Effect::Void(_)
            | Effect::FrontEnd(_) => {}
        }
    }

    fn start_timer(&mut self, at: Address, what: Timer, after: Duration) {
        self.timers.push((Instant::now() + after, Addressed { at, what }));
    }

    fn spawn_agent(&mut self) {
        if let Some(running) = self.running.take() {
            self.end(running);
        }
        let spec = AgentSpec {
            command: self.config.command.clone().into(),
            args: self.config.args.iter().map(Into::into).collect(),
            env: self.config.env.iter().map(|(k, v)| (k.into(), v.into())).collect(),
            cwd: self.config.cwd.clone(),
        };
        let link = match &mut self.connect {
            Some(connect) => Ok(connect()),
            None => process::spawn(&spec).map(Link::process),
        };
        let event = match link {
            Ok(link) => {
                let pid = link.far.pid();
                let running = Running::new(link, self.core.codec().word_for_word());
                self.stderr = Some(running.stderr.clone());
                self.running = Some(running);
                HostEvent::AgentSpawned { pid }
            }
            Err(error) => {
                self.stderr = None;
                let missing = matches!(error, process::SpawnError::NotFound { .. });
                let install = self.config.install.as_ref().filter(|_| missing);
                let hint = install.map(|how| format!("To install it: {how}")).unwrap_or_default();
                HostEvent::SpawnFailed { message: error.to_string(), hint }
            }
        };
        self.apply(self.core.agent(), event);
    }

    /// Lets an agent go in the background: input closed, then asked, then killed.
    pub(super) fn end(&mut self, mut running: Running) {
        let graces = self.config.graces;
        running.far.look_around();
        self.ending.push(tokio::spawn(async move {
            running.close_input(LAST_WORDS).await;
            running.far.shutdown(graces).await
        }));
    }

    /// Has the review look at what is there before a command changes it.
    fn look_before_command(&mut self) -> Option<Receiver<()>> {
        self.reviewing.as_ref()?;
        let (done, looked) = sync_channel(1);
        self.give(Job::BeforeCommand { done });
        Some(looked)
    }

    fn create_terminal(&mut self, at: SessionKey, req: ReqId, spec: TerminalSpec) {
        self.creating += 1;
        let (roots, registry, facts) = (Arc::clone(&self.roots), Arc::clone(&self.terminals), self.facts_tx.clone());
        // The first session's directory is the root itself; another has to be below it.
        let (first_cwd, cwd) = (self.config.cwd.clone(), self.directory(at.into()));
        let looked = self.look_before_command();
        tokio::task::spawn_blocking(move || {
            if let Some(looked) = looked {
                // Late is better than never: the command starts all the same.
                let _ = looked.recv_timeout(LOOK);
            }
            let result = match spec.cwd {
                Some(cwd) => roots.check(&cwd).map(|r| r.real).map_err(|e| refusing::file(&e)),
                None if at == SessionKey::FIRST => Ok(first_cwd),
                None => roots.check(&cwd).map(|r| r.real).map_err(|e| refusing::file(&e)),
            };
            let started = result.and_then(|cwd: PathBuf| {
                let spec = TermSpec {
                    command: spec.command,
                    args: spec.args,
                    env: process::run_mark().into_iter().chain(spec.env).collect(),
                    cwd,
                    cols: COLUMNS,
                    rows: ROWS,
                    output_limit: spec.limit,
                };
                registry.create(&spec).map_err(|e| refusing::start(&e))
            });
            let event = match started {
                Ok(term) => HostEvent::TerminalStarted { req, term: TermId::from(term.0) },
                Err(error) => HostEvent::TerminalFailed { req, error },
            };
            let _ = facts.blocking_send(Fact::Host(at.into(), event));
        });
    }

    fn answer_output(&mut self, req: ReqId, term: &TermId) {
        let output = self.terminals.output(&host_id(term));
        let exit = {
            let session = self.model().session_of_terminal(term).and_then(|at| self.model().session_of(at));
            session.and_then(|session| session.terminal(term)).and_then(|t| t.exit.clone())
        };
        // The exit is told when the model knows of it, so that all answers agree on it.
        let (text, truncated) = output.map(|output| (output.text, output.truncated)).unwrap_or_default();
        if let Some(line) = self.core.respond(req, &Answer::Output { text, truncated, exit }) {
            self.send(line);
        }
    }
}
