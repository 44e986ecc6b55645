//! Gives each effect to the part of the engine that it is for.
//!
//! Blocks nowhere: what may block is the parts' own threads' business and comes back as a fact.

use super::Engine;
use crate::agent::quirks;
use crate::engine::filing::{FileJob, ReadJob, WriteJob};
use crate::engine::terminals::Start;
use crate::model::effect::Effect;
use crate::model::event::{HostEvent, TerminalSpec};
use crate::model::ids::{Address, Addressed, AgentKey, ReqId, SessionKey, TermId};
use crate::model::judge::Request;
use std::path::Path;
use std::sync::Arc;

impl Engine {
    pub(super) fn execute(&mut self, effect: Addressed<Effect>) {
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
                let (cwd, words) =
                    (self.core.directory(agent.into()).to_owned(), self.core.codec(agent).word_for_word());
                let event = self.links.start(agent, cwd, words);
                self.apply(agent, event);
            }
            Effect::EndAgent => self.links.end(agent),
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
                let held = self.ruler.held(at, &self.core);
                self.queue_file(FileJob::Read(ReadJob { at, req, request, line, limit, missing, turn, held }));
            }
            Effect::AskRules { req, claims } => self.ruler.ask(at, req, claims, &self.core),
            Effect::CheckWrite { req, path } => {
                self.queue_file(FileJob::Check { at, req, path });
            }
            Effect::FsWrite { req, request, content, entry } => {
                let held = self.ruler.held(at, &self.core);
                self.queue_file(FileJob::Write(WriteJob { at, req, request, content, entry, tries: 0, held }));
            }
            Effect::TerminalCreate { req, request, spec } => self.create_terminal(at, req, *request, spec),
            Effect::TerminalOutput { req, term } => self.answer_output(req, &term),
            Effect::TerminalKill(term) => self.terminals.kill(&term),
            Effect::TerminalRelease(term) => self.terminals.release(&term),
            Effect::Review(command) => {
                let told = self.reviews.command(at, command, &self.core.model);
                self.apply_all(told);
            }
            Effect::Recall(id) => {
                let agent = self.core.agent_at(at.into()).and_then(|agent| self.core.model.agent_of(agent));
                let command = agent.map(|agent| agent.command.clone()).unwrap_or_default();
                self.recalling.begin(at, id, command);
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
            | Effect::Respond { .. }
            | Effect::Void(_)
            | Effect::FrontEnd(_) => {}
        }
    }

    fn create_terminal(&mut self, at: SessionKey, req: ReqId, request: Request, spec: Arc<TerminalSpec>) {
        if let Err(error) = self.terminals.begin_start() {
            return self.apply(at, HostEvent::TerminalFailed { req, error });
        }
        let (looked, told) = self.reviews.before_command(at);
        self.apply_all(told);
        let (roots, own) = (Arc::clone(self.reviews.roots(at)), self.reviews.directory(at).map(Path::to_owned));
        self.terminals.start(Start { at, req, request, spec, roots, own, looked });
    }

    fn answer_output(&mut self, req: ReqId, term: &TermId) {
        let answer = self.terminals.answer(term, &self.core.model);
        if let Some(line) = self.core.respond(req, &answer) {
            self.send(line);
        }
    }
}
