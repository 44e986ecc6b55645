//! Tool calls: upserts from `tool_call`, `tool_call_update` and permission requests, in any order.
//!
//! Invariant: `content` and `locations` are replaced whole, never appended to.

pub mod asked;
pub mod deed;
pub mod light;
mod places;
mod standing;

use super::changes::WritePreview;
use super::entry::Block;
use super::ids::{Now, TermId, ToolId};
use super::patch::Patch;
pub use crate::base::exit::Exit;
use crate::base::limits::{MAX_CONTENT, MAX_PARTS};
use crate::base::sanitize::deceives;
pub use asked::{Asked, Wording};
use places::Places;
use serde::{Deserialize, Serialize};
use serde_json::Value;
pub use standing::{Answerer, Decided, ToolStatus};
use std::sync::Arc;

/// Files that a call has named earlier and that are remembered, and bytes of one.
const MAX_FORMER: usize = 16;
const MAX_FORMER_PATH: usize = 4096;
/// Names of its tool beside the first one.
pub const MAX_ALSO_NAMED: usize = 8;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: ToolId,
    pub title: String,
    pub name: Option<String>,
    /// What its tool is called besides, as adapters say it. What nobody has agreed on grants nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_named: Vec<String>,
    pub kind: ToolKind,
    pub status: ToolStatus,
    /// What the client knows beyond the reported status; a reported one overrides it.
    pub mark: Option<Mark>,
    pub content: Vec<ToolContent>,
    pub locations: Vec<Location>,
    /// Locations that are left out.
    pub more_locations: usize,
    /// Something that the agent said of it is left out here, for its size: what is stored is not enough to judge it.
    pub cut: bool,
    pub raw_input: Option<Value>,
    pub raw_output: Option<Value>,
    pub started: Now,
    pub ended: Option<Now>,
    /// The person's last answer about it was no, or yes.
    pub refused: bool,
    #[serde(default)]
    pub allowed: bool,
    /// Who gave that answer.
    #[serde(default)]
    pub answered_by: Answerer,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<Decided>,
    /// The person has stopped the turn while it was asked about.
    #[serde(default)]
    pub unanswered: bool,
    /// The call that it is a part of.
    #[serde(default)]
    pub parent: Option<ToolId>,
    /// It stands for a session that the agent has begun itself.
    #[serde(default)]
    pub is_agent: bool,
    /// The person has asked that session to stop.
    #[serde(default)]
    pub is_stopping: bool,
    /// The agent lets the person end it alone, without the turn.
    pub can_cancel: bool,
    /// It says that its command runs in another directory than the session's, in words that name none for certain.
    #[serde(default)]
    pub runs_elsewhere: bool,
    /// Files that it named before a message that left them out: what is asked about may be about them all the same.
    #[serde(default)]
    pub named_before: Vec<String>,
    /// Rules need not look at it when it is over: they were asked about it, or something of it was refused.
    #[serde(default)]
    pub is_judged: bool,
    /// What it showed in the question that was over last: some agents leave that out of what they say afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Box<Asked>>,
    /// What it was said to do before a message that says of no sort.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind_before: Option<ToolKind>,
    /// Where its changes belong, as found out when the person was asked.
    places: Places,
}

/// What a call does, as far as agents say it; `exec` writes it in these words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    Read,
    Edit,
    Delete,
    Move,
    Search,
    Execute,
    Think,
    Fetch,
    SwitchMode,
    #[default]
    Other,
}

impl ToolKind {
    /// As the protocol spells it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Delete => "delete",
            Self::Move => "move",
            Self::Search => "search",
            Self::Execute => "execute",
            Self::Think => "think",
            Self::Fetch => "fetch",
            Self::SwitchMode => "switch_mode",
            Self::Other => "other",
        }
    }
}

/// Local marks; never a wire status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mark {
    /// The turn was cancelled while it ran.
    Cancelled,
    /// The turn ended without a word about it.
    NoFinalStatus,
    /// The agent is gone.
    AgentGone,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToolContent {
    Block(Block),
    /// What it says of changes and no file can be found for: it is shown, and no rule allows a call that has it.
    Unread(Block),
    Change(Change),
    Terminal(TermId),
}

/// What a call does to one file, as the agent tells it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Change {
    pub operation: Operation,
    pub path: String,
    /// Where the file was, or what it is a copy of.
    pub from: Option<String>,
    pub body: ChangeBody,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Operation {
    Add,
    Modify,
    Delete,
    Move,
    Copy,
    /// The agent's word for one that is not known here.
    Other(Arc<str>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ChangeBody {
    /// `old` missing means a new file; it may be a fragment, a hunk or the whole file.
    Texts { old: Option<Arc<str>>, new: Arc<str> },
    /// What a unified patch says of this file. It need not be one that can be read.
    Patch(Arc<str>),
    /// Of a binary file, a directory, a move.
    Nothing,
}

impl Change {
    /// A file whose text is another one, or that is new.
    pub fn of_texts(path: impl Into<String>, old: Option<Arc<str>>, new: Arc<str>) -> Self {
        let operation = if old.is_some() { Operation::Modify } else { Operation::Add };
        Self { operation, path: path.into(), from: None, body: ChangeBody::Texts { old, new } }
    }

    /// The texts, which can be compared with what is on the disk.
    pub fn texts(&self) -> Option<(Option<&Arc<str>>, &Arc<str>)> {
        match &self.body {
            ChangeBody::Texts { old, new } => Some((old.as_ref(), new)),
            ChangeBody::Patch(_) | ChangeBody::Nothing => None,
        }
    }

    fn deceives(&self) -> bool {
        let is_in_body = match &self.body {
            ChangeBody::Texts { old, new } => old.as_ref().is_some_and(|old| deceives(old)) || deceives(new),
            ChangeBody::Patch(patch) => deceives(patch),
            ChangeBody::Nothing => false,
        };
        is_in_body || deceives(&self.path) || self.from.as_deref().is_some_and(deceives)
    }

    fn size(&self) -> usize {
        let body = match &self.body {
            ChangeBody::Texts { old, new } => old.as_ref().map_or(0, |o| o.len()) + new.len(),
            ChangeBody::Patch(patch) => patch.len(),
            ChangeBody::Nothing => 0,
        };
        self.path.len() + self.from.as_ref().map_or(0, String::len) + body
    }
}

impl ToolContent {
    pub fn change(&self) -> Option<&Change> {
        if let Self::Change(change) = self { Some(change) } else { None }
    }

    pub fn text(&self) -> Option<&str> {
        if let Self::Block(Block::Text(text)) = self { Some(text) } else { None }
    }

    /// About how many bytes it keeps alive.
    pub fn size(&self) -> usize {
        size_of::<Self>()
            + match self {
                Self::Block(block) | Self::Unread(block) => block.size(),
                Self::Change(change) => change.size(),
                Self::Terminal(id) => id.as_str().len(),
            }
    }
}

fn value_deceives(value: &Value) -> bool {
    match value {
        Value::String(text) => deceives(text),
        Value::Array(list) => list.iter().any(value_deceives),
        Value::Object(map) => map.iter().any(|(name, value)| deceives(name) || value_deceives(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// About how many bytes a value keeps alive.
pub fn size_of_value(value: &Value) -> usize {
    size_of::<Value>()
        + match value {
            Value::String(text) => text.len(),
            Value::Array(list) => list.iter().map(size_of_value).sum(),
            Value::Object(map) => map.iter().map(|(name, v)| name.len() + 64 + size_of_value(v)).sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    pub path: String,
    /// 1-based; 0 and beyond the end are clamped when it is opened.
    pub line: Option<u32>,
}

/// What one message does to the members of a tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolPatch {
    pub id: ToolId,
    pub title: Patch<String>,
    pub name: Patch<String>,
    /// Names are only added.
    pub also_named: Vec<String>,
    pub kind: Patch<ToolKind>,
    pub status: Patch<ToolStatus>,
    pub content: Patch<Vec<ToolContent>>,
    /// Parts that come after those that are there.
    pub append: Vec<ToolContent>,
    pub locations: Patch<Vec<Location>>,
    /// Goes with `locations`.
    pub more_locations: usize,
    pub cut: bool,
    pub raw_input: Patch<Value>,
    pub raw_output: Patch<Value>,
    /// What the message says of terminals in `_meta`.
    pub terminal: TerminalMeta,
    /// The call that it is a part of; nothing leaves what is known.
    pub parent: Option<ToolId>,
    pub is_agent: bool,
    pub runs_elsewhere: bool,
    pub wording: Option<Box<Wording>>,
    pub can_cancel: Patch<bool>,
}

impl ToolPatch {
    pub fn new(id: ToolId) -> Self {
        Self {
            id,
            title: Patch::Keep,
            name: Patch::Keep,
            also_named: Vec::new(),
            kind: Patch::Keep,
            status: Patch::Keep,
            content: Patch::Keep,
            append: Vec::new(),
            locations: Patch::Keep,
            more_locations: 0,
            cut: false,
            raw_input: Patch::Keep,
            raw_output: Patch::Keep,
            terminal: TerminalMeta::default(),
            parent: None,
            is_agent: false,
            runs_elsewhere: false,
            wording: None,
            can_cancel: Patch::Keep,
        }
    }

    /// About how many bytes it keeps alive.
    pub fn size(&self) -> usize {
        let content: usize =
            self.content.as_set().into_iter().flatten().chain(&self.append).map(ToolContent::size).sum();
        let raw = [&self.raw_input, &self.raw_output].into_iter().filter_map(Patch::as_set).map(size_of_value);
        let output = self.terminal.output.as_ref().map_or(0, |(_, text)| text.len());
        size_of::<Self>() + self.title.as_set().map_or(0, String::len) + content + raw.sum::<usize>() + output
    }
}

/// `_meta.terminal_info`, `terminal_output`, `terminal_output_delta`, `terminal_exit`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct TerminalMeta {
    pub info: Option<(TermId, Option<String>)>,
    /// Both dialects append; Claude sends the whole once, Codex and pi send pieces.
    pub output: Option<(TermId, String)>,
    pub exit: Option<(TermId, Exit)>,
}

/// What one message says of a terminal of the agent's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminalPatch {
    pub id: TermId,
    pub command: Patch<String>,
    pub cwd: Patch<String>,
    /// All that it has printed.
    pub output: Patch<Vec<u8>>,
    /// What it has printed since.
    pub append: Vec<u8>,
    /// Something that it has printed cannot be read.
    pub is_broken: bool,
    pub exit: Patch<Exit>,
    pub can_cancel: Patch<bool>,
}

impl TerminalPatch {
    pub fn new(id: TermId) -> Self {
        Self {
            id,
            command: Patch::Keep,
            cwd: Patch::Keep,
            output: Patch::Keep,
            append: Vec::new(),
            is_broken: false,
            exit: Patch::Keep,
            can_cancel: Patch::Keep,
        }
    }

    /// About how many bytes it keeps alive.
    pub fn size(&self) -> usize {
        size_of::<Self>() + self.output.as_set().map_or(0, Vec::len) + self.append.len()
    }
}

impl ToolCall {
    pub fn new(id: ToolId, now: Now) -> Self {
        Self {
            title: String::new(),
            name: None,
            also_named: Vec::new(),
            kind: ToolKind::Other,
            status: ToolStatus::Pending,
            mark: None,
            content: Vec::new(),
            locations: Vec::new(),
            more_locations: 0,
            cut: false,
            raw_input: None,
            raw_output: None,
            started: now,
            ended: None,
            refused: false,
            allowed: false,
            answered_by: Answerer::default(),
            decided: None,
            unanswered: false,
            parent: None,
            is_agent: false,
            is_stopping: false,
            can_cancel: false,
            runs_elsewhere: false,
            named_before: Vec::new(),
            is_judged: false,
            asked: None,
            kind_before: None,
            places: Places::default(),
            id,
        }
    }

    /// Merges what a message says. `announced` is a second `tool_call` for the id: it cannot take a finished call
    /// back to pending, an update may.
    pub fn apply(&mut self, patch: ToolPatch, announced: Announced, now: Now) {
        patch.title.put(&mut self.title);
        patch.name.put_option(&mut self.name);
        for name in patch.also_named {
            if self.also_named.len() < MAX_ALSO_NAMED && !self.also_named.contains(&name) {
                self.also_named.push(name);
            }
        }
        if patch.kind.as_set() == Some(&ToolKind::Other) && self.kind != ToolKind::Other {
            self.kind_before = Some(self.kind);
        }
        patch.kind.put(&mut self.kind);
        patch.content.put(&mut self.content);
        patch.append.into_iter().for_each(|part| self.append(part));
        patch.can_cancel.put(&mut self.can_cancel);
        if !patch.locations.is_keep() {
            self.more_locations = patch.more_locations;
        }
        patch.locations.put(&mut self.locations);
        self.cut |= patch.cut;
        patch.raw_input.put_option(&mut self.raw_input);
        patch.raw_output.put_option(&mut self.raw_output);
        if patch.parent.is_some() {
            self.parent = patch.parent;
        }
        self.is_agent |= patch.is_agent;
        self.runs_elsewhere |= patch.runs_elsewhere;
        let comes_late = |status: &ToolStatus| self.status.is_final() || *status == ToolStatus::Pending;
        let status = match patch.status {
            Patch::Keep => return,
            Patch::Reset => ToolStatus::default(),
            Patch::Set(status) if announced == Announced::Again && comes_late(&status) => return,
            Patch::Set(status) => status,
        };
        if status.is_final() {
            (self.mark, self.is_stopping) = (None, false);
            self.ended.get_or_insert(now);
        } else {
            self.ended = None;
        }
        self.status = status;
    }

    /// One part more; where there is no room for it, the last part says that there were more.
    fn append(&mut self, part: ToolContent) {
        let size: usize = self.content.iter().map(ToolContent::size).sum();
        if self.content.len() < MAX_PARTS && size + part.size() <= MAX_CONTENT {
            return self.content.push(part);
        }
        if !std::mem::replace(&mut self.cut, true) || self.content.len() <= MAX_PARTS {
            let label = "more parts left out".to_owned();
            let said = ToolContent::Block(Block::label(label));
            if self.content.last() != Some(&said) {
                self.content.push(said);
            }
        }
    }

    /// It has named these files, and does so no longer.
    pub fn remember(&mut self, files: impl Iterator<Item = String>) {
        for file in files.filter(|file| file.len() <= MAX_FORMER_PATH) {
            if self.named_before.len() < MAX_FORMER && !self.named_before.contains(&file) {
                self.named_before.push(file);
            }
        }
    }

    /// What a person reads as its name: title, else programmatic name, else id.
    pub fn label(&self) -> &str {
        if self.title.is_empty() { self.name.as_deref().unwrap_or_else(|| self.id.as_str()) } else { &self.title }
    }

    /// The same, but nothing where only the id is known.
    pub fn named(&self) -> &str {
        Some(self.label()).filter(|label| *label != self.id.as_str()).unwrap_or_default()
    }

    /// Whether what it says of itself holds something that is not seen as it is.
    pub fn deceives(&self) -> bool {
        let of_content = |content: &ToolContent| match content {
            ToolContent::Block(Block::Text(text)) | ToolContent::Unread(Block::Text(text)) => deceives(text),
            ToolContent::Block(_) | ToolContent::Unread(_) | ToolContent::Terminal(_) => false,
            ToolContent::Change(change) => change.deceives(),
        };
        deceives(self.label())
            || self.raw_input.as_ref().is_some_and(value_deceives)
            || self.locations.iter().any(|location| deceives(&location.path))
            || self.content.iter().any(of_content)
    }

    /// The changes of which the texts are told, in their order, with their paths.
    pub fn texts(&self) -> impl Iterator<Item = (&str, Option<&Arc<str>>, &Arc<str>)> {
        self.content.iter().filter_map(ToolContent::change).filter_map(|change| {
            let (old, new) = change.texts()?;
            Some((change.path.as_str(), old, new))
        })
    }

    /// The changes that it shows; where it shows none, those that were answered.
    pub fn changes(&self) -> impl Iterator<Item = &Change> {
        let has_own = self.content.iter().any(|content| content.change().is_some());
        let asked = self.asked.iter().flat_map(|asked| &asked.changes).filter(move |_| !has_own);
        self.content.iter().filter_map(ToolContent::change).chain(asked)
    }

    /// Takes note of where its changes belong; `previews` are in the order of [`ToolCall::texts`].
    pub fn learn(&mut self, previews: &[WritePreview]) {
        self.places = Places::of_previews(self.texts(), previews);
    }

    /// Takes note of the lines at which its changes stand, in the order of [`ToolCall::texts`].
    pub fn place(&mut self, lines: &[Option<u32>]) {
        let found = Places::of_lines(self.texts(), lines);
        self.places.extend(found);
    }

    /// Whether it is not known where some of its changes stand.
    pub fn lacks_places(&self) -> bool {
        let is_text = |content: &ToolContent| content.change().is_some_and(|change| change.texts().is_some());
        self.content.iter().enumerate().any(|(at, content)| is_text(content) && self.line_of(at).is_none())
    }

    /// The line of its file, from 1, at which the texts of the change at this place of `content` begin; `None` when
    /// it is unknown. One without an old text is a whole file.
    pub fn line_of(&self, at: usize) -> Option<u32> {
        let change = self.content.get(at)?.change()?;
        change.texts()?;
        let path = &change.path;
        if let Some(known) = self.known_line(change) {
            return Some(known);
        }
        let same = |c: &&ToolContent| c.change().is_some_and(|other| other.path == *path);
        let before = self.content.iter().take(at).filter(same).count();
        let lines = self.locations.iter().filter(|l| l.path == *path).filter_map(|l| l.line.filter(|n| *n > 0));
        // One place for several diffs, or several for one, says nothing about which.
        (lines.clone().count() == self.content.iter().filter(same).count()).then(|| lines.clone().nth(before))?
    }

    /// The same of any change, as far as it was found out.
    pub fn known_line(&self, change: &Change) -> Option<u32> {
        self.places.line_of(change)
    }

    /// About how many bytes it keeps alive.
    pub fn size(&self) -> usize {
        let asked = self.asked.as_ref().map_or(0, |asked| asked.size());
        let content = self.content.iter().map(ToolContent::size).sum::<usize>() + asked;
        let locations: usize = self.locations.iter().map(|l| l.path.len() + size_of::<Location>()).sum();
        let raw = [&self.raw_input, &self.raw_output].into_iter().flatten().map(size_of_value).sum::<usize>();
        let name = self.name.as_ref().map_or(0, String::len);
        size_of::<Self>() + self.id.as_str().len() + self.title.len() + name + content + locations + raw
    }

    pub fn terminals(&self) -> impl Iterator<Item = &TermId> {
        self.content.iter().filter_map(|c| if let ToolContent::Terminal(id) = c { Some(id) } else { None })
    }
}

/// Whether a patch is a `tool_call` for a call that is already there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Announced {
    Again,
    No,
}
