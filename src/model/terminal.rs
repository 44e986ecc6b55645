//! A command that runs in a terminal: of ours, or as the agent tells of it.
//!
//! What there is to read of it; processes and emulators are the host's. Changed by `reduce` only. Invariant: the text that
//! is kept is bounded.

use super::ids::{EntryId, Now, TermId, TurnId};
use super::tool::Exit;
use super::write::Waiter;
use crate::base::tail::TailBuffer;
use crate::base::utf8::Utf8Stream;
use crate::text::ansi;
use crate::text::grid::ScreenSnapshot;
use std::sync::Arc;

/// Bytes of a terminal's text that are kept for the screen.
const TERMINAL_TEXT: usize = 1 << 20;

#[derive(Clone, Debug, PartialEq)]
pub struct Terminal {
    pub id: TermId,
    pub origin: TerminalOrigin,
    pub command: String,
    pub cwd: String,
    pub turn: TurnId,
    pub started: Now,
    /// When its screen last changed; terminals of ours only.
    pub moved: Now,
    pub ended: Option<Now>,
    pub exit: Option<Exit>,
    /// What the emulator shows; terminals of ours only.
    pub screen: Option<Arc<ScreenSnapshot>>,
    /// Text with colours: what the agent fed through `_meta`, or the kept end after a replay.
    pub text: TailBuffer,
    /// Of what the agent prints into a terminal of its own: a character may come in two pieces.
    pub utf8: Utf8Stream,
    /// It belongs to the agent, who lets the person end it alone.
    pub can_cancel: bool,
    pub released: bool,
    /// Requests that wait for the exit.
    pub waiters: Vec<Waiter>,
    /// The entry of its own.
    pub entry: Option<EntryId>,
    /// Tool calls that show it.
    pub embedded: Vec<EntryId>,
}

impl Terminal {
    /// As it was when its journal ended; no process runs it.
    #[must_use]
    pub fn over(self) -> Self {
        let ended = self.ended.or(Some(self.moved));
        Self { entry: None, embedded: Vec::new(), waiters: Vec::new(), released: true, screen: None, ended, ..self }
    }

    /// Bytes that count against what an agent may feed.
    pub fn fed(&self) -> usize {
        if self.origin == TerminalOrigin::Told { self.text.len() } else { 0 }
    }

    pub fn new(id: TermId, origin: TerminalOrigin, turn: TurnId, started: Now) -> Self {
        Self {
            id,
            origin,
            command: String::new(),
            cwd: String::new(),
            turn,
            started,
            moved: started,
            ended: None,
            exit: None,
            screen: None,
            text: TailBuffer::new(TERMINAL_TEXT),
            utf8: Utf8Stream::new(),
            can_cancel: false,
            released: false,
            waiters: Vec::new(),
            entry: None,
            embedded: Vec::new(),
        }
    }

    /// All that is kept of what it has printed, in lines without colours and control characters.
    pub fn printed(&self) -> String {
        match &self.screen {
            Some(screen) => screen.text(),
            None => {
                let rows = ansi::parse(self.text.as_str());
                let mut lines = rows.iter().map(|row| row.as_str().trim_end()).collect::<Vec<_>>().join("\n");
                lines.truncate(lines.trim_end().len());
                lines
            }
        }
    }

    /// A command of ours that has not ended. What the agent runs itself is not ours to know.
    pub fn is_running(&self) -> bool {
        self.origin == TerminalOrigin::Ours && self.exit.is_none() && self.ended.is_none()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalOrigin {
    Ours,
    /// The agent's own, of which it tells.
    Told,
    /// Named in a tool call and never fed.
    Unknown,
}
