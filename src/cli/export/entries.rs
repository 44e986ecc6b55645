//! Entries of a transcript as a reader outside of the program gets them.
//!
//! Knows no format. Invariant: every text is cleaned of what a terminal could obey.

use crate::base::{human, sanitize};
use crate::model::entry::{Block, Body, Entry, FileOutcome, FileVerb, Message, PlanStatus, UserState};
use crate::model::ids::{TermId, ToolId};
use crate::model::past::Past;
use crate::model::tool::{ChangeBody, Decided, Mark, ToolCall, ToolContent, ToolStatus};
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// Who speaks, or what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    Person,
    /// What the client has told the agent by itself.
    Client,
    Agent,
    Thought,
    Tool,
    Plan,
    Notice,
}

impl Who {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Person => "You",
            Self::Client => "Client",
            Self::Agent => "Agent",
            Self::Thought => "Thought",
            Self::Tool => "Tool",
            Self::Plan => "Plan",
            Self::Notice => "Notice",
        }
    }
}

/// A part of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// In the agent's Markdown, or the person's words.
    Prose(String),
    /// As it stands, in this language of a highlighter.
    Code(&'static str, String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub who: Who,
    /// Since the session began.
    pub at: Duration,
    /// Beside the name, on one line.
    pub title: String,
    pub parts: Vec<Part>,
}

impl Item {
    /// Changes every text.
    pub fn change(&mut self, with: impl Fn(&str) -> String) {
        self.title = with(&self.title);
        for part in &mut self.parts {
            let (Part::Prose(text) | Part::Code(_, text)) = part;
            *text = with(text);
        }
    }
}

/// What is known of a session.
pub fn items(past: &Past) -> impl Iterator<Item = Item> {
    let calls = past.entries.iter().filter_map(|entry| match &entry.body {
        Body::Tool(tool) => Some(tool),
        _ => None,
    });
    let (mut above, shown) = (HashMap::new(), calls.flat_map(|tool| tool.terminals()).collect::<HashSet<_>>());
    let items = past.entries.iter().map(move |entry| item(past, entry, &shown, &mut above));
    items.filter(|item| !item.title.is_empty() || !item.parts.is_empty())
}

/// `above` has the calls that came before it, `shown` the terminals that any call shows.
fn item<'a>(past: &Past, entry: &'a Entry, shown: &HashSet<&TermId>, above: &mut HashMap<&'a ToolId, &'a str>) -> Item {
    let (who, title, parts) = match &entry.body {
        Body::User(message) => {
            let links = message.links.iter().map(|link| format!("@{link}")).collect::<Vec<_>>().join(" ");
            let who = if message.state == UserState::OfClient { Who::Client } else { Who::Person };
            (who, links, vec![prose(&message.text)])
        }
        Body::Agent(message) => (Who::Agent, String::new(), said(message)),
        Body::Thought(thought) => (Who::Thought, String::new(), said(&thought.message)),
        Body::Attachment(attachment) => (Who::Agent, String::new(), vec![block(&attachment.block)]),
        Body::Tool(tool) => {
            above.insert(&tool.id, tool.label());
            let part_of = tool.parent.as_ref().and_then(|parent| above.get(parent));
            let part_of = part_of.map(|parent| format!("{parent}: ")).unwrap_or_default();
            (Who::Tool, format!("{part_of}{} ({})", tool.title, status(tool)), tool_parts(past, tool))
        }
        Body::Plan(steps) => {
            let line = |step: &crate::model::entry::PlanEntry| {
                let done = if step.status == PlanStatus::Completed { 'x' } else { ' ' };
                format!("[{done}] {}", sanitize::line(&step.content))
            };
            let lines: Vec<String> = steps.iter().map(line).collect();
            (Who::Plan, String::new(), vec![code("", &lines.join("\n"))])
        }
        // It stands in the call that shows it.
        Body::Terminal(id) if shown.contains(id) => (Who::Tool, String::new(), Vec::new()),
        Body::Terminal(id) => {
            let terminal = past.terminals.get(id);
            let (command, output) = terminal.map(|one| (one.command.clone(), one.text.text())).unwrap_or_default();
            (Who::Tool, command, vec![code("", &output)])
        }
        Body::File(file) => {
            let verb = if file.verb == FileVerb::Read { "read" } else { "write" };
            let (outcome, text) = match &file.outcome {
                FileOutcome::Written { new, .. } => (String::new(), new.to_string()),
                FileOutcome::Refused(why) => (format!(": refused: {why}"), String::new()),
                FileOutcome::Pending | FileOutcome::Altered => (String::new(), String::new()),
            };
            (Who::Tool, format!("{verb} {}{outcome}", file.path), vec![code("", &text)])
        }
        Body::Notice(notice) => (Who::Notice, notice.title.clone(), vec![code("", &notice.detail.join("\n"))]),
        Body::Changes(changes) if changes.totals.is_empty() => (Who::Notice, String::new(), Vec::new()),
        Body::Changes(changes) => {
            let totals = changes.totals;
            let (added, removed) = (totals.added, totals.removed);
            let words = format!("the turn changed +{added} −{removed} in {}", human::count(totals.files, "file"));
            (Who::Notice, words, Vec::new())
        }
    };
    let is_blank = |part: &Part| matches!(part, Part::Prose(text) | Part::Code(_, text) if text.trim().is_empty());
    let parts = parts.into_iter().filter(|part| !is_blank(part)).collect();
    Item { who, at: entry.at, title: sanitize::line(&title).into_owned(), parts }
}

fn tool_parts(past: &Past, tool: &ToolCall) -> Vec<Part> {
    let part = |content: &ToolContent| match content {
        ToolContent::Block(Block::Text(text)) | ToolContent::Unread(Block::Text(text)) => code("", text),
        ToolContent::Block(other) | ToolContent::Unread(other) => block(other),
        ToolContent::Change(change) => {
            let head = format!("--- {}\n", sanitize::line(&change.path));
            let lines = |sign: &str, text: &str| text.lines().flat_map(|line| [sign, line, "\n"]).collect::<String>();
            let text = match &change.body {
                ChangeBody::Texts { old, new } => lines("-", old.as_deref().unwrap_or_default()) + &lines("+", new),
                ChangeBody::Patch(patch) => patch.to_string(),
                ChangeBody::Nothing => String::new(),
            };
            code("diff", &(head + &text))
        }
        ToolContent::Terminal(id) => {
            code("", &past.terminals.get(id).map(|terminal| terminal.text.text()).unwrap_or_default())
        }
    };
    tool.content.iter().map(part).collect()
}

fn block(block: &Block) -> Part {
    match block {
        Block::Text(text) => prose(text),
        Block::Other { label, uri, text, .. } => {
            let parts = [Some(label), uri.as_ref(), text.as_ref()];
            code("", &parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join("\n"))
        }
    }
}

/// A text, and how much of it is missing.
fn said(message: &Message) -> Vec<Part> {
    let missing =
        (message.dropped > 0).then(|| prose(&format!("… {} more are not kept", human::bytes(message.dropped))));
    std::iter::once(prose(&message.text)).chain(missing).collect()
}

fn prose(text: &str) -> Part {
    Part::Prose(sanitize::block(text).into_owned())
}

fn code(language: &'static str, text: &str) -> Part {
    Part::Code(language, sanitize::block(text).trim_end_matches('\n').to_owned())
}

/// How it stands, with what the person has said to it.
fn status(tool: &ToolCall) -> String {
    let status = match (tool.mark, &tool.status) {
        (Some(Mark::Cancelled), _) | (None, ToolStatus::Cancelled) => "cancelled",
        (Some(Mark::NoFinalStatus), _) if tool.refused => "",
        (Some(Mark::NoFinalStatus), _) => "no final status",
        (Some(Mark::AgentGone), _) => "agent ended",
        (None, ToolStatus::Pending) => "pending",
        (None, ToolStatus::InProgress) => "in progress",
        (None, ToolStatus::Paused) => "paused",
        (None, ToolStatus::Completed) => "completed",
        (None, ToolStatus::Failed) => "failed",
        (None, ToolStatus::Other(word)) => word,
    };
    let decided = tool.decided.as_ref().map(Decided::words);
    let answer = match (tool.refused, tool.allowed) {
        _ if decided.is_some() => decided.as_deref().unwrap_or_default(),
        (true, _) => tool.answered_by.refused(),
        (_, true) => "you allowed it",
        _ => "",
    };
    [status, answer].into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(", ")
}
