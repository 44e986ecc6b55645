//! What an agent has this machine do: commands whose output the journal has beside the frames, and files that are written
//! through the client.
//!
//! Follows requests to their answers and decides nothing. Invariants: what was refused or failed says nothing; what a call
//! shows is a part of that call, and no message of its own.

use super::{Call, MAX_OPEN, MAX_TEXT, Message, Place, Role, Session};
use crate::agent::codec::stored::{Requested, Wanted, replied, requested};
use crate::model::event::HostEvent;
use crate::model::ids::TermId;
use crate::model::patch::Patch;
use crate::model::tool::{TerminalPatch, ToolKind, deed};
use std::path::Path;

/// How the fact begins that a command has ended; it has what that printed.
const EXITED: &str = r#"{"TerminalExited""#;
/// The word in the row of a file that is written.
const WRITES: &str = "write";

/// A terminal that is told of by itself: of the agent's own, or of ours.
pub(super) struct Terminal {
    pub id: TermId,
    pub command: String,
    pub printed: Vec<u8>,
    pub turn: u64,
    pub t: f64,
    pub place: Place,
}

impl Terminal {
    pub fn text(&self) -> String {
        let printed = String::from_utf8_lossy(&self.printed);
        if self.command.is_empty() { printed.into_owned() } else { format!("{}\n{printed}", self.command) }
    }
}

/// A file that was written.
pub(super) struct Write {
    path: String,
    content: String,
    turn: u64,
    t: f64,
    place: Place,
}

impl Write {
    /// Adds it to what the call has printed that is about this file. True when there is one.
    pub fn joins(&self, call: &mut Call, files: &[String]) -> bool {
        let ends_with = |one: &str, other: &str| Path::new(one).ends_with(other);
        let is_it = |file: &String| ends_with(&self.path, file) || ends_with(file, &self.path);
        if self.turn != call.turn || !files.iter().any(is_it) {
            return false;
        }
        let is_said = call.tool.texts().any(|(_, _, new)| **new == *self.content);
        if !is_said && call.printed.len() + self.content.len() < MAX_TEXT {
            call.printed.push('\n');
            call.printed.push_str(&self.content);
        }
        true
    }
}

/// A request without an answer.
struct Asked {
    agent: u32,
    request: Requested,
    turn: u64,
    t: f64,
    place: Place,
}

/// Which session a terminal of ours is of.
struct Started {
    term: String,
    agent: u32,
    session: String,
    command: String,
    turn: u64,
}

#[derive(Default)]
pub(super) struct Host {
    asked: Vec<Asked>,
    started: Vec<Started>,
}

impl Host {
    pub fn asks(&mut self, agent: u32, frame: &str, t: f64, at: impl FnOnce(&str) -> (u64, Place)) {
        if let Some(request) = requested(frame) {
            let (turn, place) = at(&request.session);
            add(&mut self.asked, Asked { agent, request, turn, t, place });
        }
    }

    /// Our answer to a request: the session of what was written with it.
    pub fn replies(&mut self, agent: u32, frame: &str) -> Option<(String, Write)> {
        if self.asked.is_empty() {
            return None;
        }
        let reply = replied(frame)?;
        let is_it = |asked: &Asked| asked.agent == agent && asked.request.id == reply.id;
        let at = self.asked.iter().rposition(is_it)?;
        let Asked { request, turn, t, place, .. } = self.asked.remove(at);
        match request.wanted {
            Wanted::Write { path, content } if reply.is_done => {
                Some((request.session, Write { path, content, turn, t, place }))
            }
            Wanted::Command(command) => {
                if let Some(term) = reply.terminal {
                    add(&mut self.started, Started { term, agent, session: request.session, command, turn });
                }
                None
            }
            Wanted::Write { .. } => None,
        }
    }

    /// Whether a fact says something here.
    pub fn tells(fact: &str) -> bool {
        fact.starts_with(EXITED)
    }

    /// A command has ended: of which session of which agent, and what it printed. What was run in an earlier turn stands
    /// there.
    pub fn ends(&mut self, fact: &str, turn: impl FnOnce(u32, &str) -> u64) -> Option<(u32, String, TerminalPatch)> {
        if !Self::tells(fact) {
            return None;
        }
        let HostEvent::TerminalExited { term, end, .. } = serde_json::from_str(fact).ok()? else { return None };
        let at = self.started.iter().rposition(|started| started.term == term.as_str())?;
        let Started { agent, session, command, turn: began, .. } = self.started.remove(at);
        let is_same = turn(agent, &session) == began;
        let command = if is_same { Patch::Set(command) } else { Patch::Keep };
        Some((agent, session, TerminalPatch { command, output: Patch::Set(end.into()), ..TerminalPatch::new(term) }))
    }
}

/// Of very many the oldest are given up.
fn add<T>(all: &mut Vec<T>, one: T) {
    if all.len() >= MAX_OPEN {
        all.remove(0);
    }
    all.push(one);
}

impl Session {
    pub(super) fn terminal(&mut self, patch: TerminalPatch, t: f64) {
        let at = self.terminals.iter().rposition(|terminal| terminal.id == patch.id);
        let at = match at {
            Some(at) => at,
            None if self.terminals.len() >= MAX_OPEN => return,
            None => {
                let (id, command, printed) = (patch.id.clone(), String::new(), Vec::new());
                self.terminals.push(Terminal { id, command, printed, turn: self.turns, t, place: self.place });
                self.terminals.len() - 1
            }
        };
        let terminal = &mut self.terminals[at];
        if let Patch::Set(command) = patch.command {
            terminal.command = command;
        }
        if let Patch::Set(output) = patch.output {
            terminal.printed = output;
        }
        if terminal.printed.len() + patch.append.len() <= MAX_TEXT {
            terminal.printed.extend(patch.append);
        }
    }

    /// What was run or written and no call shows.
    pub(super) fn by_themselves(&self, terminals: Vec<Terminal>, writes: Vec<Write>) -> Vec<(Place, Message)> {
        let ran = terminals.into_iter().map(|terminal| {
            let message = self.message(Role::Tool, terminal.text(), terminal.t);
            let deed = deed::verb(ToolKind::Execute);
            (terminal.place, Message { turn: terminal.turn, tool: terminal.command, deed, ..message })
        });
        let wrote = writes.into_iter().map(|write| {
            let message = self.message(Role::Tool, format!("{}\n{}", write.path, write.content), write.t);
            let (tool, files) = (format!("{} {}", ToolKind::Edit.word(), write.path), vec![write.path]);
            (write.place, Message { turn: write.turn, tool, deed: WRITES, files, ..message })
        });
        ran.chain(wrote).collect()
    }
}
