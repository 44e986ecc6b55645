//! One small function an effect. What may block runs on a blocking thread and comes back as a fact.

use super::admitting::admit;
use super::fact::Fact;
use super::filing::{FileJob, LOOK, ReadJob};
use super::refusing;
use super::reviewing::Job;
use super::run::Engine;
use crate::agent::quirks;
use crate::host::process;
use crate::host::pty::{MAX_RUNNING, SpawnError, TermSpec};
use crate::model::effect::{Answer, Effect};
use crate::model::event::{HostEvent, TerminalSpec};
use crate::model::ids::{Address, Addressed, AgentKey, ReqId, SessionKey, TermId};
use crate::model::judge::Request;
use crate::model::refusal::{Reason, Refusal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

/// The width that tools of agents see; they cut their output at it and the agent reads that.
const COLUMNS: u16 = 120;
const ROWS: u16 = 30;

impl Engine {
    pub(super) fn execute(&mut self, effect: Addressed<Effect>) {
        match effect.at {
            Address::Agent(key) => self.execute_for_agent(key, effect.what),
            Address::Session(key) => self.execute_for_session(key, effect.what),
            Address::All => {}
        }
    }

    fn execute_for_agent(&mut self, agent: AgentKey, effect: Effect) {
        let graces = self.config.graces;
        match effect {
            Effect::StartTimer { timer, after } => self.timers.start(agent.into(), timer, after),
            Effect::SpawnAgent => {
                let (cwd, words) =
                    (self.core.directory(agent.into()).to_owned(), self.core.codec(agent).word_for_word());
                let event = self.links.start(agent, cwd, words, graces);
                self.apply(agent, event);
            }
            Effect::EndAgent => self.links.end(agent, graces),
            Effect::KillAgent => self.links.kill(agent),
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
                self.queue_file(FileJob::Read(ReadJob { at, req, request, line, limit, missing, turn }));
            }
            Effect::CheckWrite { req, path } => {
                self.queue_file(FileJob::Check { at, req, path });
            }
            Effect::FsWrite { req, request, content, entry } => {
                self.queue_file(FileJob::Write { at, req, request, content, entry, tries: 0 });
            }
            Effect::TerminalCreate { req, request, spec } => self.create_terminal(at, req, *request, spec),
            Effect::TerminalOutput { req, term } => self.answer_output(req, &term),
            Effect::TerminalKill(term) => self.terminals.kill(&term),
            Effect::TerminalRelease(term) => self.terminals.release(&term),
            Effect::Review(effect) => self.review(at, effect),
            Effect::MoveOut(ids) => self.move_out(at, ids),
            Effect::StartTimer { timer, after } => self.timers.start(at.into(), timer, after),
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

    /// Has the review look at what is there before a command changes it.
    fn look_before_command(&mut self, at: SessionKey) -> Option<Receiver<()>> {
        self.workspaces.reviewing(at)?;
        let (done, looked) = sync_channel(1);
        self.give(at, Job::BeforeCommand { done });
        Some(looked)
    }

    fn create_terminal(&mut self, at: SessionKey, req: ReqId, request: Request, spec: Arc<TerminalSpec>) {
        if !self.terminals.begin_start() {
            let error = refusing::start(&SpawnError::TooMany(MAX_RUNNING));
            return self.apply(at, HostEvent::TerminalFailed { req, error });
        }
        let (roots, registry, facts) =
            (Arc::clone(self.workspaces.roots(at)), Arc::clone(self.terminals.host()), self.facts_tx.clone());
        let own = self.workspaces.directory(at).map(Path::to_owned);
        let looked = self.look_before_command(at);
        tokio::task::spawn_blocking(move || {
            if let Some(looked) = looked {
                // Late is better than never: the command starts all the same.
                let _ = looked.recv_timeout(LOOK);
            }
            // The session's own directory, too: what has its name now need not be what had it.
            let cwd = spec.cwd.as_ref().map(PathBuf::from).or(own);
            let cwd = cwd.ok_or_else(|| Refusal::new(Reason::Failed, "the session has no directory"));
            let result = cwd.and_then(|cwd| admit(&roots, request, cwd)).map(|dir| dir.real);
            let started = result.and_then(|cwd: PathBuf| {
                let TerminalSpec { command, args, env, limit, .. } = Arc::unwrap_or_clone(spec);
                let spec = TermSpec {
                    command,
                    args,
                    env: process::run_mark().into_iter().chain(env).collect(),
                    cwd,
                    cols: COLUMNS,
                    rows: ROWS,
                    output_limit: limit,
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
        let output = self.terminals.output(term);
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
