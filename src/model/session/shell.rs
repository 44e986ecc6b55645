//! Commands that the person runs beside the conversation, in terminals of ours: what there is to read of them.
//!
//! They are kept apart from the terminals of agents: no request and no call of an agent finds one by its name. Changed by
//! `reduce::shell` only.

use super::Session;
use crate::model::ids::TermId;
use crate::model::terminal::Terminal;

/// Commands of one session that run or wait to go along with a prompt.
pub const MAX_SHELL: usize = 8;
/// Bytes of the output of one that go along: its end.
pub const MAX_SHELL_OUTPUT: u64 = 16 << 10;

impl Session {
    /// The person's own, the newest last.
    pub fn shell(&self) -> &[Terminal] {
        &self.shell
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
