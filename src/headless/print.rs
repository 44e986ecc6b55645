//! What has changed in the model, as lines for people or as JSON.
//!
//! Follows the transcript by revision; nothing is printed twice. Invariant: no control character of the agent gets
//! out, in either form.

use crate::base::{human, sanitize};
use crate::model::Model;
use crate::model::entry::{Block, Body, Entry, FileOutcome, FileVerb, PlanStatus};
use crate::model::tool::{Mark, ToolCall, ToolStatus};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write as _;

/// Version of the JSON lines.
const VERSION: u32 = 1;

/// What became printable.
#[derive(Debug, Default)]
pub struct Printed {
    pub stdout: String,
    pub stderr: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Text,
    Json,
}

#[derive(Debug)]
pub struct Follower {
    form: Form,
    generation: Option<u64>,
    /// Entries before this one will not change any more.
    settled: usize,
    seen: HashMap<u64, Seen>,
    said_session: bool,
    /// The entry whose text was printed last, so that messages stand apart.
    last_text: Option<u64>,
    /// With how many newlines the text so far ends; none has been printed yet counts as two.
    newlines: usize,
    /// What is said as the reason at the end, and therefore not as a notice before.
    reason: Option<String>,
}

#[derive(Debug, Default, Clone)]
struct Seen {
    rev: Option<u64>,
    bytes: usize,
    state: String,
}

impl Follower {
    pub fn new(form: Form) -> Self {
        Self {
            form,
            generation: None,
            settled: 0,
            seen: HashMap::new(),
            said_session: false,
            last_text: None,
            newlines: 2,
            reason: None,
        }
    }

    /// The reason of the end is known: a notice in the same words would say it twice.
    pub fn leave_to_the_end(&mut self, reason: &str) {
        self.reason = Some(reason.to_owned());
    }

    /// What is still missing for the answer to end with a newline.
    pub fn last_newline(&self) -> &'static str {
        if self.newlines == 0 { "\n" } else { "" }
    }

    /// Prints what is new. `last` also flushes lines that have no end yet.
    pub fn follow(&mut self, model: &Model, last: Last) -> Printed {
        let mut out = Printed::default();
        self.session(model, &mut out);
        if self.generation == Some(model.entries().generation()) && last == Last::No {
            return out;
        }
        self.generation = Some(model.entries().generation());
        for entry in model.entries().iter().skip(self.settled) {
            let mut seen = self.seen.remove(&entry.id.0).unwrap_or_default();
            let is_text = matches!(entry.body, Body::Agent(_) | Body::Thought(_));
            if seen.rev != Some(entry.rev) || (last == Last::Yes && is_text) {
                seen.rev = Some(entry.rev);
                self.entry(entry, model, &mut seen, last, &mut out);
            }
            self.seen.insert(entry.id.0, seen);
        }
        // Late changes come to entries of the newest turns only.
        while model.entries().at(self.settled).is_some_and(|e| e.finished && e.turn < model.last_turn()) {
            self.seen.remove(&(self.settled as u64));
            self.settled += 1;
        }
        out
    }

    fn session(&mut self, model: &Model, out: &mut Printed) {
        let (Some(id), false) = (model.session_id(), self.said_session) else { return };
        self.said_session = true;
        let agent = model.agent();
        let mode = model.session().modes.as_ref().map(|m| m.current.clone());
        self.json(
            out,
            json!({ "type": "session", "session_id": id.as_str(), "mode": mode,
                    "agent": { "name": agent.name, "title": agent.title, "version": agent.version } }),
        );
    }

    fn entry(&mut self, entry: &Entry, model: &Model, seen: &mut Seen, last: Last, out: &mut Printed) {
        match &entry.body {
            Body::Agent(message) => self.text(entry, "text", &message.text, seen, last, out),
            Body::Thought(thought) => {
                if self.form == Form::Json {
                    self.text(entry, "thought", &thought.message.text, seen, last, out);
                }
            }
            Body::Tool(tool) => {
                // Some agents name a call after it has ended: its line waits for what comes next.
                let newest = model.entries().last().is_some_and(|e| e.id == entry.id);
                if self.form == Form::Text && tool.title.is_empty() && newest && last == Last::No {
                    seen.rev = None;
                } else {
                    self.tool(tool, seen, out);
                }
            }
            Body::Plan(plan) => {
                let entries: Vec<Value> =
                    plan.iter().map(|e| json!({ "content": e.content, "status": plan_status(&e.status) })).collect();
                self.json(out, json!({ "type": "plan", "entries": entries }));
            }
            Body::Attachment(attachment) => {
                if let Block::Other { label, uri, text } = &attachment.block {
                    self.json(out, json!({ "type": "content", "label": label, "uri": uri, "text": text }));
                    self.line(out, &format!("[{label}] {}", uri.as_deref().unwrap_or("")));
                }
            }
            Body::Terminal(id) => {
                let Some(terminal) = model.terminal(id) else { return };
                let state = terminal.exit.as_ref().map_or_else(|| "running".to_owned(), ToString::to_string);
                if seen.state != state {
                    self.json(
                        out,
                        json!({ "type": "terminal", "id": id.as_str(), "command": terminal.command,
                                "exit": terminal.exit }),
                    );
                    if terminal.exit.is_some() {
                        self.line(out, &format!("$ {}  {state}", terminal.command));
                    }
                    seen.state = state;
                }
            }
            Body::File(op) => {
                let verb = if op.verb == FileVerb::Write { "write" } else { "read" };
                let state = match &op.outcome {
                    FileOutcome::Pending => return,
                    FileOutcome::Written { bytes, .. } => human::bytes(*bytes),
                    FileOutcome::Altered => "changed by the user".to_owned(),
                    FileOutcome::Refused(why) => format!("refused: {why}"),
                };
                if seen.state != state {
                    self.json(out, json!({ "type": "file", "verb": verb, "path": op.path, "outcome": state }));
                    self.line(out, &format!("{verb} {}  {state}", op.path));
                    seen.state = state;
                }
            }
            Body::Notice(notice) => {
                self.json(out, json!({ "type": "notice", "title": notice.title, "detail": notice.detail }));
                if self.reason.as_ref() != Some(&notice.title) {
                    self.line(out, &notice.title);
                }
            }
            Body::User(_) | Body::Changes(_) => {}
        }
    }

    /// Text goes out in whole lines, so that an escape sequence cannot slip through in two pieces.
    fn text(&mut self, entry: &Entry, kind: &str, text: &str, seen: &mut Seen, last: Last, out: &mut Printed) {
        let fresh = text.get(seen.bytes..).unwrap_or("");
        if self.form == Form::Json {
            if !fresh.is_empty() {
                seen.bytes = text.len();
                self.json(out, json!({ "type": kind, "text": fresh }));
            }
            return;
        }
        let end = match last {
            Last::Yes => fresh.len(),
            Last::No => fresh.rfind('\n').map_or(0, |at| at + 1),
        };
        let piece = fresh.get(..end).unwrap_or("");
        if piece.is_empty() {
            return;
        }
        seen.bytes += end;
        if self.last_text.is_some_and(|last| last != entry.id.0) {
            out.stdout.push_str("\n\n".get(self.newlines..).unwrap_or(""));
            self.newlines = 2;
        }
        self.last_text = Some(entry.id.0);
        let clean = sanitize::block(piece);
        let at_end = clean.bytes().rev().take(2).take_while(|b| *b == b'\n').count();
        self.newlines = if at_end == clean.len() { (self.newlines + at_end).min(2) } else { at_end };
        out.stdout.push_str(&clean);
    }

    /// One line a tool call, when it is settled; with JSON an object for each change of its state.
    fn tool(&self, tool: &ToolCall, seen: &mut Seen, out: &mut Printed) {
        let state = state_of(tool);
        let key = format!("{state}|{}", tool.label());
        if seen.state == key {
            return;
        }
        let was_settled = seen.state.starts_with("completed") || seen.state.starts_with("failed");
        seen.state = key;
        let locations: Vec<Value> = tool.locations.iter().map(|l| json!({ "path": l.path, "line": l.line })).collect();
        self.json(
            out,
            json!({ "type": "tool", "id": tool.id.as_str(), "title": tool.label(), "kind": tool.kind,
                    "status": state, "locations": locations }),
        );
        if tool.is_settled() && !was_settled {
            self.line(out, &format!("{state}  {}", tool.label()));
        }
    }

    fn line(&self, out: &mut Printed, text: &str) {
        if self.form == Form::Text {
            out.stderr.push_str(&sanitize::line(text));
            out.stderr.push('\n');
        }
    }

    fn json(&self, out: &mut Printed, value: Value) {
        if self.form == Form::Json {
            out.stdout.push_str(&json_line(value));
        }
    }
}

/// Whether more will follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Last {
    Yes,
    No,
}

/// One object with `v`, on one line, with everything escaped that a terminal could obey.
pub fn json_line(mut value: Value) -> String {
    if let Value::Object(map) = &mut value {
        map.insert("v".into(), json!(VERSION));
    }
    let mut line = String::new();
    for c in value.to_string().chars() {
        let harmless = c.is_ascii() && c != '\u{7f}' || !(c.is_control() || sanitize::is_deceptive(c));
        if harmless {
            line.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(line, "\\u{unit:04x}");
            }
        }
    }
    line.push('\n');
    line
}

pub fn state_of(tool: &ToolCall) -> &'static str {
    match (tool.status, tool.mark) {
        (ToolStatus::Completed, _) => "completed",
        (ToolStatus::Failed, _) => "failed",
        (_, Some(Mark::Cancelled)) => "cancelled",
        (_, Some(Mark::NoFinalStatus)) => "no final status",
        (_, Some(Mark::AgentGone)) => "agent gone",
        (ToolStatus::InProgress, None) => "in_progress",
        (ToolStatus::Pending, None) => "pending",
    }
}

fn plan_status(status: &PlanStatus) -> &str {
    match status {
        PlanStatus::Other(word) => word,
        PlanStatus::Unreadable => "unreadable",
        PlanStatus::Pending => "pending",
        PlanStatus::InProgress => "in_progress",
        PlanStatus::Completed => "completed",
    }
}
