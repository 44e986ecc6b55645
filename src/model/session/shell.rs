//! Commands that the person runs beside the conversation, in terminals of ours: what there is to read of them.
//!
//! They are kept apart from the terminals of agents: no request and no call of an agent finds one by its name. Changed by
//! `reduce::shell` only.

use super::Session;
use crate::base::sanitize;
use crate::model::account::QUOTE;
use crate::model::ids::TermId;
use crate::model::terminal::Terminal;
use std::fmt::Write as _;

/// Commands of one session that run or wait to go along with a prompt.
pub const MAX_SHELL: usize = 8;
/// Bytes of the output of one that go along: its end.
pub const MAX_SHELL_OUTPUT: u64 = 16 << 10;

impl Session {
    /// The person's own, the newest last.
    pub fn shell(&self) -> &[Terminal] {
        &self.shell
    }

    /// Those that have ended: what they have printed goes along with the next prompt.
    pub fn ended_shell(&self) -> impl Iterator<Item = &Terminal> + Clone {
        self.shell.iter().filter(|term| !term.is_running())
    }

    /// Whether a command is the person's.
    pub fn is_shell(&self, id: &TermId) -> bool {
        self.shell.iter().any(|term| term.id == *id)
    }

    /// The agent's and the person's.
    pub(super) fn commands_of_all(&self) -> impl Iterator<Item = &Terminal> {
        self.terminals.values().chain(&self.shell)
    }

    /// A command that can be typed into, the agent's or the person's.
    pub fn command(&self, id: &TermId) -> Option<&Terminal> {
        self.shell.iter().find(|term| term.id == *id).or_else(|| self.terminal(id))
    }
}

/// What a command printed, as it goes along with a prompt: quoted, so that no word of it names a file to be attached.
pub fn quoted(term: &Terminal) -> String {
    let how = term.exit.as_ref().map_or_else(|| "ended".to_owned(), ToString::to_string);
    let mut text = format!("\n\nI ran this here ({how}):\n{QUOTE}$ ");
    let lines = |text: &str| text.replace(['\r', '\u{85}', '\u{2028}', '\u{2029}'], "\n");
    text += &lines(term.command.trim_end()).replace('\n', &format!("\n{QUOTE}"));
    for line in lines(&sanitize::block(&term.text.text())).trim_end().lines() {
        // Nothing can go wrong where text is written to text.
        let _ = write!(text, "\n{QUOTE}{line}");
    }
    text
}
