//! What has changed in the model, as lines for people or as JSON.
//!
//! Follows the transcript by what has changed in it, and keeps eight bytes an entry; nothing is printed twice.
//! Invariant: no control character of the agent gets out, in either form.

use crate::base::{human, sanitize};
use crate::model::entries::Changed;
use crate::model::entry::{Block, Body, Entry, FileOutcome, FileVerb, Level, Message, PlanStatus};
use crate::model::ids::EntryId;
use crate::model::options::{OptionKind, Usage};
use crate::model::session_ref::SessionRef;
use crate::model::tool::{Mark, ToolCall, ToolContent, ToolStatus};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::io;

/// Version of the JSON lines.
const VERSION: u32 = 1;
/// Entries behind a call that is still to be named, among which notices do not count.
const MAX_NOTICES: usize = 16;

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
    /// What was printed of each entry that is kept: the bytes of a text, else a fingerprint of what was said; nothing
    /// is 0.
    seen: VecDeque<u64>,
    /// The entry to which the first of them belongs.
    first: u64,
    /// A call without a name that waits for what comes next.
    unnamed: Option<EntryId>,
    prints: RandomState,
    /// Entries that were looked at, for tests.
    #[cfg(test)]
    looked: u64,
    said_session: bool,
    /// The entry whose text was printed last, so that messages stand apart.
    last_text: Option<u64>,
    /// With how many newlines the text so far ends; none has been printed yet counts as two.
    newlines: usize,
    /// What is said as the reason at the end, and therefore not as a notice before.
    reason: Option<String>,
    usage: Option<Usage>,
    /// What was said of each.
    compactions: BTreeMap<EntryId, u64>,
    /// What was said of the rules that have decided about calls.
    decided: BTreeMap<EntryId, u64>,
    /// Of the entries before this one only warnings and errors are printed: the rest was said before this run.
    begins: u64,
}

/// Of what was printed of a message: its bytes, and above them how often it had been replaced.
const REPLACED: u32 = 48;
const BYTES: u64 = (1 << REPLACED) - 1;
/// In the fingerprint of a call: it was finished.
const FINISHED: u64 = 1;
/// Of what is said once.
const SAID: u64 = 2;

impl Follower {
    pub fn new(form: Form) -> Self {
        Self {
            form,
            generation: None,
            seen: VecDeque::new(),
            first: 0,
            unnamed: None,
            prints: RandomState::new(),
            #[cfg(test)]
            looked: 0,
            said_session: false,
            last_text: None,
            newlines: 2,
            reason: None,
            usage: None,
            compactions: BTreeMap::new(),
            decided: BTreeMap::new(),
            begins: 0,
        }
    }

    /// The session is an earlier one, and what was said in it is not printed.
    pub fn leave_out_history(&mut self) {
        self.begins = u64::MAX;
    }

    /// What is said from now on is printed.
    pub fn begin(&mut self, session: SessionRef<'_>) {
        self.begins = self.begins.min(session.entries().next_id().0);
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
    pub fn follow(&mut self, session: SessionRef<'_>, last: Last) -> Printed {
        let mut out = Printed::default();
        self.session(session, &mut out);
        self.figures(session, &mut out);
        if self.generation == Some(session.entries().generation()) && last == Last::No {
            return out;
        }
        let changed = match self.generation {
            Some(generation) if last == Last::No => session.entries().changed_since(generation),
            _ => Changed::Any,
        };
        self.generation = Some(session.entries().generation());
        while self.first < session.entries().gone() {
            self.seen.pop_front();
            self.first += 1;
        }
        match (changed, self.unnamed.take()) {
            (Changed::Any, _) => session.entries().iter().for_each(|entry| self.look(entry, session, last, &mut out)),
            (Changed::Only(mut ids), unnamed) => {
                ids.extend(unnamed);
                ids.sort_unstable();
                ids.dedup();
                for entry in ids.into_iter().filter_map(|id| session.entries().get(id)) {
                    self.look(entry, session, last, &mut out);
                }
            }
        }
        out
    }

    fn look(&mut self, entry: &Entry, session: SessionRef<'_>, last: Last, out: &mut Printed) {
        let is_trouble = matches!(&entry.body, Body::Notice(notice) if notice.level != Level::Info);
        if entry.id.0 < self.begins && (!is_trouble || session.session().is_of_earlier(entry.id)) {
            return;
        }
        #[cfg(test)]
        {
            self.looked += 1;
        }
        let Some(at) = entry.id.0.checked_sub(self.first).and_then(|at| usize::try_from(at).ok()) else { return };
        if at >= self.seen.len() {
            self.seen.resize(at + 1, 0);
        }
        let before = self.seen.get(at).copied().unwrap_or_default();
        let now = self.entry(entry, session, before, last, out);
        if let Some(seen) = self.seen.get_mut(at) {
            *seen = now;
        }
    }

    /// Of what was said about an entry; never 0.
    fn print_of(&self, said: impl Hash) -> u64 {
        self.prints.hash_one(said) & !FINISHED | 2
    }

    fn session(&mut self, session: SessionRef<'_>, out: &mut Printed) {
        // What is only asked for may not come about.
        let is_known = !self.said_session && !session.is_loading();
        let Some(id) = session.id.as_ref().filter(|_| is_known) else { return };
        self.said_session = true;
        let agent = session.agent();
        let current = session.mode_option().and_then(|option| match &option.kind {
            OptionKind::Select { current, .. } => Some(current.clone()),
            OptionKind::Bool { .. } => None,
        });
        // Some say which modes there are, and not which one counts.
        let mode = session.modes.as_ref().map(|m| m.current.clone()).filter(|mode| !mode.is_empty()).or(current);
        self.json(
            out,
            json!({ "type": "session", "session_id": id.as_str(), "mode": mode, "protocol": agent.protocol,
                    "dialect": agent.dialect.word(), "transport": agent.transport().word(),
                    "agent": { "name": agent.name, "title": agent.title, "version": agent.version } }),
        );
    }

    /// What the agent has told of its context and cost, and of compactions, where that has changed.
    fn figures(&mut self, session: SessionRef<'_>, out: &mut Printed) {
        if session.is_loading() {
            return;
        }
        if session.usage.is_some() && session.usage != self.usage {
            self.usage.clone_from(&session.usage);
            self.json(out, usage_line(session.usage.as_ref(), None));
        }
        for one in session.compactions.iter().filter(|one| one.entry.0 >= self.begins) {
            let said = self.print_of((&one.status, one.is_over().then_some(&one.summary)));
            if self.compactions.insert(one.entry, said) != Some(said) {
                self.json(
                    out,
                    json!({ "type": "compaction", "id": one.id, "status": one.status, "summary": one.summary,
                            "error": Some(&one.error).filter(|error| !error.is_empty()) }),
                );
            }
        }
    }

    /// Prints what is new of an entry; takes and gives what was printed of it.
    fn entry(&mut self, entry: &Entry, session: SessionRef<'_>, seen: u64, last: Last, out: &mut Printed) -> u64 {
        match &entry.body {
            Body::Agent(message) => self.message(entry, "text", message, seen, last, out),
            Body::Thought(thought) => {
                if self.form == Form::Text {
                    return seen;
                }
                self.message(entry, "thought", &thought.message, seen, last, out)
            }
            Body::Tool(tool) => {
                self.decided(entry.id, tool, out);
                // Some agents name a call after it has ended: its line waits for what comes next. A notice is no word of theirs.
                let mut told = session.entries().iter().rev().take(MAX_NOTICES);
                let newest = told.find(|e| !matches!(e.body, Body::Notice(_))).is_some_and(|e| e.id == entry.id);
                if self.form == Form::Text && tool.title.is_empty() && newest && last == Last::No {
                    self.unnamed = Some(entry.id);
                    return seen;
                }
                self.tool(tool, seen, out)
            }
            Body::Plan(plan) => {
                if seen == entry.rev + 1 {
                    return seen;
                }
                let entries: Vec<Value> =
                    plan.iter().map(|e| json!({ "content": e.content, "status": plan_status(&e.status) })).collect();
                let id = session.plan_id(entry.id);
                self.json(out, json!({ "type": "plan", "id": id, "entries": entries }));
                entry.rev + 1
            }
            Body::Attachment(attachment) => {
                if let (Block::Other { label, uri, text, .. }, 0) = (&attachment.block, seen) {
                    self.json(out, json!({ "type": "content", "label": label, "uri": uri, "text": text }));
                    self.line(out, &format!("[{label}] {}", uri.as_deref().unwrap_or("")));
                }
                SAID
            }
            Body::Terminal(id) => {
                let Some(terminal) = session.terminal(id) else { return seen };
                let state = terminal.exit.as_ref().map_or_else(|| "running".to_owned(), ToString::to_string);
                let now = self.print_of(&state);
                if seen != now {
                    self.json(
                        out,
                        json!({ "type": "terminal", "id": id.as_str(), "command": terminal.command,
                                "exit": terminal.exit }),
                    );
                    if terminal.exit.is_some() {
                        self.line(out, &format!("$ {}  {state}", terminal.command));
                    }
                }
                now
            }
            Body::File(op) => {
                let verb = if op.verb == FileVerb::Write { "write" } else { "read" };
                let state = match &op.outcome {
                    FileOutcome::Pending => return seen,
                    FileOutcome::Written { bytes, .. } => human::bytes(*bytes),
                    FileOutcome::Altered => "changed by the user".to_owned(),
                    FileOutcome::Refused(why) => format!("refused: {why}"),
                };
                let now = self.print_of(&state);
                if seen != now {
                    let mut told = json!({ "type": "file", "verb": verb, "path": op.path, "outcome": state });
                    if op.is_outside {
                        told["outside"] = true.into();
                    }
                    self.json(out, told);
                    let outside = if op.is_outside { ", outside: no undo" } else { "" };
                    self.line(out, &format!("{verb} {}  {state}{outside}", op.path));
                }
                now
            }
            Body::Notice(notice) => {
                // What has given way to a notice, to save memory, was printed as what it was.
                if seen == 0 {
                    self.json(out, json!({ "type": "notice", "title": notice.title, "detail": notice.detail }));
                    if self.reason.as_ref() != Some(&notice.title) {
                        let by = if notice.by_agent { "the agent says: " } else { "" };
                        self.line(out, &format!("{by}{}", notice.title));
                    }
                }
                SAID
            }
            Body::User(_) | Body::Changes(_) => SAID,
        }
    }

    /// A message that was replaced is said whole, once more. How often that was is in what was seen, above the bytes.
    fn message(
        &mut self,
        entry: &Entry,
        kind: &str,
        message: &Message,
        seen: u64,
        last: Last,
        out: &mut Printed,
    ) -> u64 {
        let replaced = u64::from(message.replaced) << REPLACED;
        if seen & !BYTES == replaced {
            return self.text(entry, kind, &message.text, seen & BYTES, last, out) | replaced;
        }
        let was_said = seen & BYTES > 0;
        if self.form == Form::Json && was_said {
            let id = message.message_id.as_deref();
            let line = json!({ "type": "replace", "of": kind, "message_id": id, "text": message.text });
            self.json(out, line);
            return message.text.len() as u64 | replaced;
        }
        if was_said {
            // What is said anew stands apart from what it replaces.
            self.last_text = Some(u64::MAX);
        }
        self.text(entry, kind, &message.text, 0, last, out) | replaced
    }

    /// Text goes out in whole lines, so that an escape sequence cannot slip through in two pieces.
    fn text(&mut self, entry: &Entry, kind: &str, text: &str, seen: u64, last: Last, out: &mut Printed) -> u64 {
        let from = usize::try_from(seen).unwrap_or(usize::MAX);
        let fresh = text.get(from..).unwrap_or("");
        if self.form == Form::Json {
            if !fresh.is_empty() {
                // It may be large: doubling would take as much once more.
                out.stdout.reserve(fresh.len() + 256);
                append_json(&mut out.stdout, &Said { kind, text: fresh, v: VERSION });
            }
            return text.len().max(from) as u64;
        }
        let end = match last {
            Last::Yes => fresh.len(),
            Last::No => fresh.rfind('\n').map_or(0, |at| at + 1),
        };
        let piece = fresh.get(..end).unwrap_or("");
        if piece.is_empty() {
            return seen;
        }
        if self.last_text.is_some_and(|last| last != entry.id.0) {
            out.stdout.push_str("\n\n".get(self.newlines..).unwrap_or(""));
            self.newlines = 2;
        }
        self.last_text = Some(entry.id.0);
        let clean = sanitize::block(piece);
        let at_end = clean.bytes().rev().take(2).take_while(|b| *b == b'\n').count();
        self.newlines = if at_end == clean.len() { (self.newlines + at_end).min(2) } else { at_end };
        out.stdout.push_str(&clean);
        (from + end) as u64
    }

    /// One line a tool call, when it is finished; with JSON an object for each change of its state.
    /// What a rule has said of a call, in a line of its own.
    fn decided(&mut self, entry: EntryId, tool: &ToolCall, out: &mut Printed) {
        let Some(decided) = &tool.decided else { return };
        let words = decided.words();
        let said = self.print_of(&words);
        if self.decided.insert(entry, said) != Some(said) {
            let title = format!("{words}: {}", tool.label());
            self.json(out, json!({ "type": "notice", "title": title, "detail": [] }));
            self.line(out, &title);
        }
    }

    fn tool(&self, tool: &ToolCall, seen: u64, out: &mut Printed) -> u64 {
        let state = state_of(tool);
        let print = self.print_of((state, tool.label()));
        let now = if tool.status.is_final() { print | FINISHED } else { print };
        if seen == now {
            return seen;
        }
        let was_finished = seen & FINISHED != 0;
        let locations: Vec<Value> = tool.locations.iter().map(|l| json!({ "path": l.path, "line": l.line })).collect();
        let mut object = json!({ "type": "tool", "id": tool.id.as_str(), "title": tool.label(), "kind": tool.kind,
                                 "status": state, "locations": locations });
        if let (true, Value::Object(members)) = (tool.more_locations > 0, &mut object) {
            members.insert("more_locations".into(), json!(tool.more_locations));
        }
        if let Value::Object(members) = &mut object {
            if let Some(parent) = &tool.parent {
                members.insert("parent".into(), json!(parent.as_str()));
            }
            if tool.is_agent && tool.is_finished() {
                members.insert("text".into(), json!(said_by(tool)));
            }
        }
        self.json(out, object);
        if tool.is_finished() && !was_finished {
            self.line(out, &format!("{state}  {}", tool.label()));
        }
        now
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

/// The line `usage`: what was told of the context and the cost, and of a turn's tokens.
pub fn usage_line(usage: Option<&Usage>, tokens: Option<&Value>) -> Value {
    let cost = usage.and_then(|usage| usage.cost.as_ref());
    json!({
        "type": "usage",
        "used": usage.map(|usage| usage.used),
        "size": usage.map(|usage| usage.size),
        "cost": cost.map(|(amount, unit)| json!({ "amount": amount, "currency": unit })),
        "tokens": tokens,
    })
}

/// Whether more will follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Last {
    Yes,
    No,
}

/// What was said, as `json_line` has it: its text may be as large as a line of the agent, and is not copied.
#[derive(Serialize)]
struct Said<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    text: &'a str,
    v: u32,
}

/// One object with `v`, on one line, with everything escaped that a terminal could obey.
pub fn json_line(mut value: Value) -> String {
    if let Value::Object(map) = &mut value {
        map.insert("v".into(), json!(VERSION));
    }
    let mut line = String::new();
    append_json(&mut line, &value);
    line
}

fn append_json(out: &mut String, value: &impl Serialize) {
    // Neither writing to a string nor values of ours can fail.
    let _ = serde_json::to_writer(Escaping(out), value);
    out.push('\n');
}

/// Escapes what a terminal could obey in JSON, which has such only in strings.
struct Escaping<'a>(&'a mut String);

impl io::Write for Escaping<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut text = str::from_utf8(bytes).map_err(io::Error::other)?;
        let is_harmful = |c: char| !c.is_ascii() && (c.is_control() || sanitize::is_deceptive(c)) || c == '\u{7f}';
        self.0.reserve(text.len());
        while let Some((at, c)) = text.char_indices().find(|(_, c)| is_harmful(*c)) {
            self.0.push_str(&text[..at]);
            sanitize::escape_json(c, self.0);
            text = &text[at + c.len_utf8()..];
        }
        self.0.push_str(text);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a sub-agent has said.
fn said_by(tool: &ToolCall) -> String {
    tool.content.iter().filter_map(ToolContent::text).collect::<Vec<_>>().join("\n")
}

pub fn state_of(tool: &ToolCall) -> &str {
    match (&tool.status, tool.mark) {
        (ToolStatus::Completed, _) => "completed",
        (ToolStatus::Failed, _) => "failed",
        (ToolStatus::Cancelled, _) | (_, Some(Mark::Cancelled)) => "cancelled",
        (_, Some(Mark::NoFinalStatus)) => "no final status",
        (_, Some(Mark::AgentGone)) => "agent gone",
        (ToolStatus::InProgress, None) => "in_progress",
        (ToolStatus::Pending, None) => "pending",
        (ToolStatus::Paused, None) => "paused",
        (ToolStatus::Other(word), None) => word,
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

#[cfg(test)]
#[path = "print_tests.rs"]
mod tests;
