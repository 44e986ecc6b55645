//! Terminals of agents, as the engine sees to them: their screens, their ends, and their output where the agent is told of
//! it.
//!
//! Invariant: an agent that is told of output has all of it that is kept before it is told of the exit.

use super::Engine;
use crate::engine::pushing::PIECE;
use crate::host::pty::MAX_OUTPUT_BYTES;
use crate::model::event::HostEvent;
use crate::model::ids::{AgentKey, TermId};
use crate::model::tool::Exit;
use std::time::{Duration, Instant};

/// How long screens of terminals are fetched for one frame; one is fetched at least.
const SCREENS: Duration = Duration::from_millis(4);

impl Engine {
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

    pub(super) fn refresh_terminal(&mut self, id: &TermId) {
        let now = self.now();
        if let Some(agent) = self.core.model.agent_of_log_in(id) {
            if let Some(screen) = self.terminals.shown(id) {
                self.core.hint(agent, screen, now);
            }
            return;
        }
        let Some((at, screen, has_moved)) = self.terminals.refreshed(id, &self.core.model, now) else { return };
        if has_moved {
            self.apply(at, HostEvent::TerminalMoved { term: id.clone() });
        }
        self.core.hint(at, self.hearing.secrets.screen(screen), now);
    }

    pub(super) fn terminal_exited(&mut self, id: TermId, exit: Exit) {
        // Before it is told that the command has ended.
        self.push_output(&id, true);
        self.pushing.end(&id);
        self.refresh_terminal(&id);
        if let Some(agent) = self.core.model.agent_of_log_in(&id) {
            return self.apply(agent, HostEvent::LogInEnded { term: id, exit });
        }
        let end = self.hearing.secrets.hide(self.terminals.end_of(&id));
        if let Some(at) = self.core.model.session_of_terminal(&id) {
            self.apply(at, HostEvent::TerminalExited { term: id, exit, end });
        }
    }

    /// A command has been started: its agent may want to be told what it prints.
    pub(super) fn begin_to_push(&mut self, id: &TermId) {
        let at = self.core.model.session_of_terminal(id);
        let agent = at.and_then(|at| self.core.agent_at(at.into()));
        if let Some(agent) = agent
            && self.core.connection(agent).is_some_and(|connection| connection.hears_output())
        {
            self.pushing.begin(id.clone(), agent);
        }
    }

    /// Tells what has been printed, not too often.
    pub(super) fn push_outputs(&mut self) {
        for id in self.pushing.due() {
            self.push_output(&id, false);
        }
    }

    /// The same of one, and at its end in one piece whatever the agent has not answered yet.
    pub(super) fn push_output(&mut self, id: &TermId, is_last: bool) {
        let most = if is_last { MAX_OUTPUT_BYTES as usize } else { PIECE };
        while let Some((agent, position)) = self.pushing.place(id)
            && (is_last || self.keeps_up(agent))
            && let Some(more) = self.terminals.output_after(id, position, most)
            && !more.text.is_empty()
        {
            let text =
                if more.lost > 0 { format!("\n[{} bytes left out]\n{}", more.lost, more.text) } else { more.text };
            let line = self.core.connection(agent).and_then(|connection| connection.printed(id.as_str(), &text));
            let Some(line) = line else { return self.pushing.end(id) };
            self.pushing.told(id, more.next);
            self.send(line);
        }
    }

    fn keeps_up(&mut self, agent: AgentKey) -> bool {
        self.core.connection(agent).is_some_and(|connection| connection.keeps_up())
    }
}
