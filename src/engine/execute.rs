//! One small function an effect. What may block runs on a blocking thread and comes back as a fact.

use super::filing::{FileJob, LOOK, ReadJob};
use super::refusing;
use super::reviewing::Job;
use super::run::{Engine, Fact, host_id};
use super::running::Running;
use crate::agent::quirks;
use crate::host::process::{self, AgentSpec};
use crate::host::pty::TermSpec;
use crate::model::effect::{Answer, Effect};
use crate::model::event::{Event, HostEvent, TerminalSpec};
use crate::model::ids::{ReqId, TermId};
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
    pub(super) fn execute(&mut self, effect: Effect) {
        match effect {
            Effect::SpawnAgent => self.spawn_agent(),
            Effect::EndAgent => {
                if let Some(running) = self.running.take() {
                    self.end(running);
                }
            }
            Effect::KillAgent => {
                if let Some(running) = &mut self.running {
                    running.process.kill_now();
                }
            }
            Effect::FsRead { req, path, line, limit } => {
                let missing = quirks::missing_file(self.model().agent().name.as_deref());
                let turn = self.model().session().turn.as_ref().map(|turn| turn.id);
                self.files.push_back(FileJob::Read(ReadJob { req, path, line, limit, missing, turn }));
                self.next_file();
            }
            Effect::CheckWrite { req, path } => {
                self.files.push_back(FileJob::Check { req, path });
                self.next_file();
            }
            Effect::FsWrite { req, path, content, entry } => {
                self.files.push_back(FileJob::Write { req, path, content, entry, tries: 0 });
                self.next_file();
            }
            Effect::TerminalCreate { req, spec } => self.create_terminal(req, spec),
            Effect::TerminalOutput { req, term } => self.answer_output(req, &term),
            Effect::TerminalKill(term) => {
                self.terminals.kill(&host_id(&term));
            }
            Effect::TerminalRelease(term) => {
                self.terminals.release(&host_id(&term));
            }
            Effect::Review(effect) => self.review(effect),
            Effect::StartTimer { timer, after } => self.timers.push((Instant::now() + after, timer)),
            // Turned into lines or news before they get here.
            Effect::Call(_)
            | Effect::CancelTurn(_)
            | Effect::WithdrawAuthenticate
            | Effect::Respond { .. }
            | Effect::Void(_)
            | Effect::FrontEnd(_) => {}
        }
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
        let event = match process::spawn(&spec) {
            Ok(process) => {
                let pid = u32::try_from(process.pid).unwrap_or(0);
                self.running = Running::new(process, self.core.codec().word_for_word());
                self.stderr = self.running.as_ref().map(|r| r.stderr.clone());
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
        self.apply(Event::Host(event));
    }

    /// Lets an agent go in the background: input closed, then asked, then killed.
    pub(super) fn end(&mut self, mut running: Running) {
        let graces = self.config.graces;
        running.process.look_around();
        self.ending.push(tokio::spawn(async move {
            running.close_input(LAST_WORDS).await;
            running.process.shutdown(graces).await
        }));
    }

    /// Has the review look at what is there before a command changes it.
    fn look_before_command(&mut self) -> Option<Receiver<()>> {
        self.reviewing.as_ref()?;
        let (done, looked) = sync_channel(1);
        self.give(Job::BeforeCommand { done });
        Some(looked)
    }

    fn create_terminal(&mut self, req: ReqId, spec: TerminalSpec) {
        self.creating += 1;
        let (roots, registry, facts) = (Arc::clone(&self.roots), Arc::clone(&self.terminals), self.facts_tx.clone());
        let session_cwd = self.config.cwd.clone();
        let looked = self.look_before_command();
        tokio::task::spawn_blocking(move || {
            if let Some(looked) = looked {
                // Late is better than never: the command starts all the same.
                let _ = looked.recv_timeout(LOOK);
            }
            let result = match spec.cwd {
                Some(cwd) => roots.check(&cwd).map(|r| r.real).map_err(|e| refusing::file(&e)),
                None => Ok(session_cwd),
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
            let _ = facts.blocking_send(Fact::Host(event));
        });
    }

    fn answer_output(&mut self, req: ReqId, term: &TermId) {
        let output = self.terminals.output(&host_id(term));
        let exit = self.model().terminal(term).and_then(|t| t.exit.clone());
        // The exit is told when the model knows of it, so that all answers agree on it.
        let (text, truncated) = output.map(|output| (output.text, output.truncated)).unwrap_or_default();
        if let Some(line) = self.core.respond(req, &Answer::Output { text, truncated, exit }) {
            self.send(line);
        }
    }
}
