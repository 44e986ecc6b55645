//! What was said in earlier sessions: the end of one beside the list, and where something was found in all of them.
//!
//! Plain data, made by a worker. Invariants: a text that is shown is harmless and bounded; few previews are remembered.

use super::{PastSession, Which};
use crate::base::sanitize;
use crate::text::width;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

/// Previews that are remembered.
const MAX_PREVIEWS: usize = 64;
/// Bytes of one message that are shown; of a long one the end.
const MAX_SAID: usize = 4 << 10;
/// Columns that are kept of what was found.
const FOUND: usize = 240;
/// Bytes of what was found that are looked for again.
const MAX_MARK: usize = 200;

/// Who said it, or that it was done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Who {
    Person,
    Agent,
    Thought,
    Tool,
}

/// A message, as it is shown beside the list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Said {
    pub who: Who,
    pub text: String,
}

impl Said {
    pub fn new(who: Who, text: &str) -> Self {
        let text = text.trim();
        let from = text.ceil_char_boundary(text.len().saturating_sub(MAX_SAID));
        let lines = text[from..].lines().map(|line| sanitize::line(line).into_owned());
        Self { who, text: lines.collect::<Vec<_>>().join("\n") }
    }
}

/// The end of a session as it was read; the error is for people.
type Read = Result<Arc<[Said]>, String>;

/// The ends of sessions that have been read, the newest first.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Previews {
    read: VecDeque<(Which, Read)>,
    /// What has been asked for last.
    asked: Option<Which>,
}

impl Previews {
    pub fn of(&self, which: &Which) -> Option<&Read> {
        self.read.iter().find(|(one, _)| one == which).map(|(_, read)| read)
    }

    /// Whether this is to be read now; asked for once.
    pub fn wants(&mut self, which: &Which) -> bool {
        if self.of(which).is_some() || self.asked.as_ref() == Some(which) {
            return false;
        }
        self.asked = Some(which.clone());
        true
    }

    pub fn told(&mut self, which: Which, read: Read) {
        self.read.retain(|(one, _)| *one != which);
        self.read.push_front((which, read));
        self.read.truncate(MAX_PREVIEWS);
    }
}

/// What is looked for in all that was said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Query {
    pub text: String,
    /// Only in sessions of this directory and below.
    pub below: Option<PathBuf>,
}

/// A place in a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    pub who: Who,
    /// From 1; 0 before the first.
    pub turn: u64,
    /// A part of a line of the message.
    pub mark: String,
}

/// A message in which something was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hit {
    pub session: Arc<PastSession>,
    pub place: Place,
    /// Seconds since it was said.
    pub age: u64,
    /// The line around what was found, harmless.
    pub line: String,
}

impl Hit {
    /// `line` has what was found at `at`.
    pub fn new(session: Arc<PastSession>, (who, turn): (Who, u64), age: u64, line: &str, at: usize) -> Self {
        let end = line.floor_char_boundary((at + MAX_MARK).min(line.len()));
        let mark = line.get(at..end).unwrap_or_default().to_owned();
        let from = line.ceil_char_boundary(at.saturating_sub(FOUND / 4));
        let shown = line.get(from..).unwrap_or_default();
        let head: String = shown.chars().take(FOUND * 2).collect();
        let cut = if from > 0 { "…" } else { "" };
        let line = width::truncate(&format!("{cut}{}", sanitize::line(&head).trim()), FOUND).into_owned();
        Self { session, place: Place { who, turn, mark }, age, line }
    }
}

/// How far looking for something has come.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Finding {
    /// It is being typed.
    Typed,
    Going,
    /// The newest first; whether there are more.
    Found(Arc<[Hit]>, bool),
    Failed(String),
}
