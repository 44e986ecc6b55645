//! The messages of a journal, one after the other: what was asked, said, thought and done.
//!
//! Reads frames without a model and keeps only what is not complete yet. Invariants: pieces of one message are one
//! message; what a call has done is one message, at the time when it began.

use crate::agent::codec::SharedCodec;
use crate::agent::codec::stored::{Called, Depth, Heard, Origin};
use crate::model::entry::{Block, ChunkKind};
use crate::model::event::Update;
use crate::model::ids::TermId;
use crate::model::patch::Patch;
use crate::model::tool::{Announced, ChangeBody, TerminalPatch, ToolCall, ToolContent, ToolPatch};
use crate::store::lines::{Row, What};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// Bytes of one message; what is more is not looked at.
const MAX_TEXT: usize = 64 << 20;
/// Messages and calls of a session that are not complete.
const MAX_OPEN: usize = 1000;
/// Seconds of silence that end a history which is told behind the answer.
const QUIET: f64 = 1.0;

/// Who said it, or that it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    User,
    Agent,
    Thought,
    Tool,
}

impl Role {
    pub const ALL: [Self; 4] = [Self::User, Self::Agent, Self::Thought, Self::Tool];

    pub const fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Agent => "agent",
            Self::Thought => "thought",
            Self::Tool => "tool",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The agent's key, and its name of the session.
    pub agent: u32,
    pub session: String,
    /// Counted from 1 in this journal; 0 before the first.
    pub turn: u64,
    pub role: Role,
    /// Seconds since the journal began.
    pub t: f64,
    pub text: String,
    /// The agent told it again while the session was loaded.
    pub is_told_again: bool,
    /// Of what was done: its sort and its title.
    pub tool: String,
    /// The files that it was done to.
    pub files: Vec<String>,
}

/// A message of which more may come.
struct Open {
    kind: ChunkKind,
    id: Option<Arc<str>>,
    message: Message,
}

struct Call {
    tool: ToolCall,
    /// What a terminal of the agent's own printed.
    printed: String,
    turn: u64,
    t: f64,
    is_told_again: bool,
}

/// A terminal of the agent's own that is told of by itself.
struct Terminal {
    id: TermId,
    command: String,
    printed: Vec<u8>,
    turn: u64,
    t: f64,
}

#[derive(Default)]
struct Session {
    agent: u32,
    id: String,
    turns: u64,
    /// The calls that load it, and its prompts without an answer.
    loads: Vec<u64>,
    prompts: Vec<u64>,
    /// A call to load it was answered, and nothing else has happened since: when something was told last. Some agents
    /// answer first, and tell then.
    told: Option<f64>,
    open: Vec<Open>,
    /// The last one goes on with the next piece that has no id.
    goes_on: bool,
    calls: Vec<Call>,
    terminals: Vec<Terminal>,
}

#[derive(Default)]
pub struct Reader {
    sessions: Vec<Session>,
}

impl Reader {
    /// Takes a line, and hands over the messages that are complete with it.
    pub fn take(&mut self, codec: &SharedCodec, row: &Row<'_>, out: &mut impl FnMut(Message)) {
        match row.what {
            What::Sent(agent, frame) => {
                if let Some((number, called)) = codec.called(frame) {
                    self.called(agent.0, number, called, row.t, out);
                }
            }
            What::Heard(agent, frame) => match codec.heard(frame, Depth::Everything) {
                Heard::Update(id, update) => {
                    let session = self.of(agent.0, id.as_str());
                    session.is_heard(row.t, out);
                    session.update(update, row.t);
                }
                Heard::Answer(number, _) => self.answered(agent.0, number, row.t, out),
                Heard::Nothing => {}
            },
            _ => {}
        }
    }

    /// Hands over what is left.
    pub fn finish(&mut self, out: &mut impl FnMut(Message)) {
        self.sessions.iter_mut().for_each(|session| session.flush(out));
    }

    fn of(&mut self, agent: u32, id: &str) -> &mut Session {
        let at = self.sessions.iter().position(|session| session.agent == agent && session.id == id);
        let at = at.unwrap_or_else(|| {
            self.sessions.push(Session { agent, id: id.to_owned(), ..Session::default() });
            self.sessions.len() - 1
        });
        &mut self.sessions[at]
    }

    fn called(&mut self, agent: u32, number: u64, called: Called, t: f64, out: &mut impl FnMut(Message)) {
        match called {
            Called::Open { origin: Origin::Loaded, id: Some(id), .. } => {
                self.of(agent, id.as_str()).loads.push(number);
            }
            Called::Prompt { session, text } => {
                let session = self.of(agent, session.as_str());
                session.flush(out);
                session.turns += 1;
                session.prompts.push(number);
                session.told = None;
                out(session.message(Role::User, text, t));
            }
            _ => {}
        }
    }

    fn answered(&mut self, agent: u32, number: u64, t: f64, out: &mut impl FnMut(Message)) {
        for session in self.sessions.iter_mut().filter(|session| session.agent == agent) {
            let is_load = session.loads.contains(&number);
            if is_load || session.prompts.contains(&number) {
                // A message may go on behind the answer.
                if !is_load {
                    session.flush(out);
                }
                session.told = is_load.then_some(t);
                session.loads.retain(|load| *load != number);
                session.prompts.retain(|prompt| *prompt != number);
            }
        }
    }
}

impl Terminal {
    fn text(&self) -> String {
        format!("{}\n{}", self.command, String::from_utf8_lossy(&self.printed))
    }
}

impl Session {
    fn message(&self, role: Role, text: String, t: f64) -> Message {
        let is_told_again = self.is_told_again();
        Message {
            agent: self.agent,
            session: self.id.clone(),
            turn: self.turns,
            role,
            t,
            text,
            is_told_again,
            tool: String::new(),
            files: Vec::new(),
        }
    }

    /// After a silence nothing of the history comes any more.
    fn is_heard(&mut self, t: f64, out: &mut impl FnMut(Message)) {
        if let Some(last) = self.told {
            self.told = (t - last < QUIET).then_some(t);
            if self.told.is_none() {
                self.flush(out);
            }
        }
    }

    /// What comes now is of a history that is told.
    fn is_told_again(&self) -> bool {
        !self.loads.is_empty() || self.told.is_some()
    }

    fn update(&mut self, update: Update, t: f64) {
        match update {
            // What was just sent comes back from some agents.
            Update::Chunk { kind: ChunkKind::User, .. } if !self.prompts.is_empty() => {}
            Update::Chunk { kind, message_id, block } => {
                let text = text_of(&block);
                if !text.is_empty() {
                    self.piece(kind, message_id, &text, t);
                }
            }
            Update::Message { kind, id, content } => {
                if let Some(open) = self.open.iter_mut().find(|o| o.kind == kind && o.id.as_ref() == Some(&id)) {
                    open.message.text.clear();
                }
                if let Patch::Set(blocks) = content {
                    let text: Vec<String> = blocks.iter().map(text_of).collect();
                    self.piece(kind, Some(id), &text.join("\n"), t);
                }
            }
            Update::ToolCall(patch) => self.call(*patch, true, t),
            Update::ToolUpdate(patch) => self.call(*patch, false, t),
            Update::Terminal(patch) => self.terminal(*patch, t),
            Update::Partly { update, .. } => self.update(*update, t),
            _ => {}
        }
    }

    fn piece(&mut self, kind: ChunkKind, id: Option<Arc<str>>, text: &str, t: f64) {
        let goes_on = std::mem::replace(&mut self.goes_on, true);
        let same = |open: &Open| open.kind == kind && open.id == id;
        let at = match &id {
            Some(_) => self.open.iter().rposition(same),
            None => self.open.len().checked_sub(1).filter(|at| goes_on && same(&self.open[*at])),
        };
        if let Some(at) = at {
            let whole = &mut self.open[at].message.text;
            let room = MAX_TEXT.saturating_sub(whole.len()).min(text.len());
            whole.push_str(&text[..text.floor_char_boundary(room)]);
        } else if self.open.len() < MAX_OPEN {
            let role = match kind {
                ChunkKind::Agent => Role::Agent,
                ChunkKind::Thought => Role::Thought,
                ChunkKind::User => Role::User,
            };
            let message = self.message(role, text.to_owned(), t);
            self.open.push(Open { kind, id, message });
        }
    }

    fn call(&mut self, mut patch: ToolPatch, is_announced: bool, t: f64) {
        self.goes_on = false;
        let now = Duration::try_from_secs_f64(t).unwrap_or_default();
        let printed = patch.terminal.output.take().map(|(_, text)| text).unwrap_or_default();
        let at = self.calls.iter().rposition(|call| call.tool.id == patch.id);
        let announced = if is_announced && at.is_some() { Announced::Again } else { Announced::No };
        let at = match at {
            Some(at) => at,
            None if self.calls.len() >= MAX_OPEN => return,
            None => {
                let tool = ToolCall::new(patch.id.clone(), now);
                let is_told_again = self.is_told_again();
                self.calls.push(Call { tool, printed: String::new(), turn: self.turns, t, is_told_again });
                self.calls.len() - 1
            }
        };
        let call = &mut self.calls[at];
        call.tool.apply(patch, announced, now);
        if call.printed.len() + printed.len() <= MAX_TEXT {
            call.printed.push_str(&printed);
        }
    }

    fn terminal(&mut self, patch: TerminalPatch, t: f64) {
        let at = self.terminals.iter().rposition(|terminal| terminal.id == patch.id);
        let at = match at {
            Some(at) => at,
            None if self.terminals.len() >= MAX_OPEN => return,
            None => {
                let (id, command, printed) = (patch.id.clone(), String::new(), Vec::new());
                self.terminals.push(Terminal { id, command, printed, turn: self.turns, t });
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

    fn flush(&mut self, out: &mut impl FnMut(Message)) {
        self.goes_on = false;
        let mut messages: Vec<Message> = self.open.drain(..).map(|open| open.message).collect();
        let mut terminals = std::mem::take(&mut self.terminals);
        for call in std::mem::take(&mut self.calls) {
            let mut printed = call.printed;
            // Whose terminal a call means is not told by it in every version.
            let is_shown =
                |terminal: &mut Terminal| call.tool.terminals().any(|id| id.as_str() == terminal.id.as_str());
            for terminal in terminals.extract_if(.., is_shown) {
                printed.push_str(&terminal.text());
            }
            let text = text_of_call(&call.tool, &printed);
            let message = self.message(Role::Tool, text, call.t);
            let tool = format!("{} {}", call.tool.kind.word(), call.tool.title);
            let (turn, is_told_again, files) = (call.turn, call.is_told_again, files(&call.tool));
            messages.push(Message { turn, is_told_again, tool, files, ..message });
        }
        // Those that no call shows.
        for terminal in terminals {
            let message = self.message(Role::Tool, terminal.text(), terminal.t);
            messages.push(Message { turn: terminal.turn, tool: terminal.command, ..message });
        }
        messages.sort_by(|a, b| a.t.total_cmp(&b.t));
        messages.into_iter().for_each(out);
    }
}

fn text_of(block: &Block) -> String {
    match block {
        Block::Text(text) => text.clone(),
        Block::Other { label, uri, text, .. } => {
            let parts = [Some(label), uri.as_ref(), text.as_ref()];
            parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join("\n")
        }
    }
}

/// The files that a call is about.
fn files(tool: &ToolCall) -> Vec<String> {
    let changed = tool.content.iter().filter_map(|content| match content {
        ToolContent::Change(change) => Some(change.path.clone()),
        _ => None,
    });
    tool.locations.iter().map(|location| location.path.clone()).chain(changed).collect()
}

/// Everything of a call that is text, a part a line.
pub fn text_of_call(tool: &ToolCall, printed: &str) -> String {
    let mut parts: Vec<String> = vec![tool.title.clone()];
    parts.extend(tool.locations.iter().map(|location| location.path.clone()));
    if let Some(input) = &tool.raw_input {
        strings(input, &mut parts);
    }
    for content in &tool.content {
        match content {
            ToolContent::Block(block) | ToolContent::Unread(block) => parts.push(text_of(block)),
            ToolContent::Change(change) => {
                parts.push(change.path.clone());
                parts.extend(change.from.clone());
                match &change.body {
                    ChangeBody::Texts { old, new } => {
                        parts.extend(old.as_deref().map(str::to_owned));
                        parts.push(new.to_string());
                    }
                    ChangeBody::Patch(patch) => parts.push(patch.to_string()),
                    ChangeBody::Nothing => {}
                }
            }
            ToolContent::Terminal(_) => {}
        }
    }
    // It says the same once more where there is content.
    if let Some(output) = tool.raw_output.as_ref().filter(|_| tool.content.is_empty()) {
        strings(output, &mut parts);
    }
    parts.push(printed.to_owned());
    let mut seen = std::collections::HashSet::new();
    parts.retain(|part| !part.is_empty() && seen.insert(part.clone()));
    parts.join("\n")
}

fn strings(value: &Value, parts: &mut Vec<String>) {
    match value {
        Value::String(text) => parts.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|value| strings(value, parts)),
        Value::Object(map) => map.values().for_each(|value| strings(value, parts)),
        _ => {}
    }
}
