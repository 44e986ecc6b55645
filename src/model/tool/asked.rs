//! How a call is asked about: in words of its agent's that are not the call's own, or with the command in such words.
//!
//! For being shown and copied only: nothing is allowed by these words.

use super::deed::kind_of;
use super::{Change, ToolCall, ToolContent, ToolKind};
use crate::base::sanitize::deceives;
use crate::model::ruling::Scope;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What a call showed when it was asked about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Where they were answered, yes or no.
    pub changes: Vec<Change>,
    /// In words of the agent's.
    pub command: Option<Arc<str>>,
}

impl Asked {
    /// Of a call as it is now; nothing where there is nothing to keep.
    pub fn of(t: &ToolCall, is_answered: bool) -> Option<Box<Self>> {
        let changes = t.content.iter().filter_map(ToolContent::change).filter(|_| is_answered).cloned().collect();
        let asked = Self { changes, command: command_shown(t).map(Into::into) };
        (asked != Self::default()).then(|| asked.into())
    }

    /// About how many bytes it keeps alive.
    pub fn size(&self) -> usize {
        let changes: usize = self.changes.iter().map(Change::size).sum();
        size_of::<Self>() + changes + self.command.as_ref().map_or(0, |command| command.len())
    }
}

/// The words in which agents ask for a command, and no others.
const ASKING: [&str; 14] = [
    "request",
    "requesting",
    "approval",
    "permission",
    "to",
    "for",
    "perform",
    "run",
    "running",
    "execute",
    "the",
    "a",
    "command",
    "shell",
];

/// A question about a call that is not worded by the call itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Wording {
    pub title: String,
    pub description: Option<String>,
    /// What it is about is of a kind that is not known here: only the person may allow it.
    pub is_unknown: bool,
    /// Answers that hold for a while, by their ids; so long they hold here, too.
    pub scopes: Vec<(String, Scope)>,
}

impl Wording {
    pub fn scope_of(&self, option: &str) -> Option<Scope> {
        self.scopes.iter().find(|(id, _)| id == option).map(|(_, scope)| *scope)
    }

    /// The answers that hold for so long.
    pub fn options_of(&self, scope: Scope) -> impl Iterator<Item = &str> {
        self.scopes.iter().filter(move |(_, of)| *of == scope).map(|(id, _)| id.as_str())
    }

    /// Whether it holds something that is not seen as it is.
    pub fn deceives(&self) -> bool {
        deceives(&self.title) || self.description.as_deref().is_some_and(deceives)
    }
}

/// The command that an agent asks about in words of its own, or has asked about when that was answered last. What it does
/// not say any more is known all the same.
pub fn command_of(t: &ToolCall) -> Option<&str> {
    command_shown(t).or_else(|| t.asked.as_ref()?.command.as_deref())
}

/// The command in what a call shows now, where the title has it too, whole or with a gap.
fn command_shown(t: &ToolCall) -> Option<&str> {
    let title = without_name(t.named());
    t.content.iter().filter_map(ToolContent::text).filter_map(asked).find(|command| is_titled(title, command))
}

/// Whether a part of a call says no more than which command is asked about.
pub fn only_asks(t: &ToolCall, content: &ToolContent) -> bool {
    let command = command_of(t).filter(|_| kind_of(t) == ToolKind::Execute);
    command.is_some() && content.text().and_then(asked) == command
}

/// Marks of what is left out of a title.
const GAPS: [&str; 9] = ["...", "…", "‥", "⋯", "[truncated]", "(truncated)", "<truncated>", "[snip]", "[cut]"];

/// Whether a title says that something is left out of it.
pub fn leaves_out(title: &str) -> bool {
    let small = title.to_lowercase();
    GAPS.iter().any(|gap| small.contains(gap))
}

/// The command that is asked about beside a call of which neither the title nor one of these lines is that command.
pub fn contradiction<'a>(t: &'a ToolCall, lines: &[String]) -> Option<&'a str> {
    let title = t.title.trim();
    let quoted = title.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')).unwrap_or(title);
    let titles = [title, quoted, without_name(title), without_name(t.named())];
    // More than one line is none with blanks between them.
    let is_it = |text: &str, command: &str| {
        let is_same = text.trim() == command.trim() || leaves_out(text);
        is_same || !command.trim().contains(['\n', '\r']) && is_titled(text, command)
    };
    let is_known = |command: &&str| {
        let mut all = titles.into_iter().chain(lines.iter().map(String::as_str)).filter(|text| !text.is_empty());
        all.any(|text| is_it(text, command))
    };
    t.content.iter().filter_map(ToolContent::text).filter_map(named_in).find(|command| !is_known(command))
}

/// What is asked about behind the words in which agents ask for a command, whatever else stands there.
fn named_in(text: &str) -> Option<&str> {
    let (words, rest) = text.trim().split_once('`')?;
    let is_asking = !words.trim().is_empty() && words.split_whitespace().all(is_of_asking);
    is_asking.then(|| rest.strip_suffix('`').unwrap_or(rest))
}

fn is_of_asking(word: &str) -> bool {
    ASKING.contains(&word.trim_end_matches(':').to_ascii_lowercase().as_str())
}

/// ``Requesting approval to perform: Run command `ls` `` → `ls`; nothing where it says anything else.
fn asked(text: &str) -> Option<&str> {
    let (words, command) = text.trim().strip_suffix('`')?.split_once('`')?;
    (words.split_whitespace().all(is_of_asking) && !command.trim().is_empty()).then_some(command)
}

/// Whether a title is this command, or leaves out a piece of it.
fn is_titled(title: &str, command: &str) -> bool {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (title, command) = (plain(title), plain(command));
    let leaves_out = |gap: &str| {
        title.match_indices(gap).any(|(at, _)| {
            let (head, tail) = (title.get(..at).unwrap_or_default(), title.get(at + gap.len()..).unwrap_or_default());
            let rest = command.strip_prefix(head.trim_end()).filter(|_| !head.trim().is_empty());
            rest.is_some_and(|rest| rest.ends_with(tail.trim_start()))
        })
    };
    title == command || GAPS.iter().any(|gap| leaves_out(gap))
}

/// `ReadFile: src/main.rs` → `src/main.rs`.
pub fn without_name(title: &str) -> &str {
    title.split_once(": ").map_or("", |(_, rest)| rest.trim())
}
