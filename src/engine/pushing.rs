//! Commands whose output their agent is told of, without asking: how far it has been told, and when it is told again.
//!
//! Reads and sends nothing. Invariant: while no such command runs there is nothing to wake for.

use crate::model::ids::{AgentKey, TermId};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Between two times at which it is told.
const PACE: Duration = Duration::from_millis(50);
/// Bytes that it is told at once.
pub(super) const PIECE: usize = 64 << 10;

#[derive(Debug, Default)]
pub(super) struct Pushing {
    /// Whose it is, and how many bytes of it were told.
    commands: BTreeMap<TermId, (AgentKey, u64)>,
    next: Option<Instant>,
}

impl Pushing {
    pub fn begin(&mut self, id: TermId, agent: AgentKey) {
        self.commands.insert(id, (agent, 0));
        self.next.get_or_insert_with(Instant::now);
    }

    pub fn end(&mut self, id: &TermId) {
        self.commands.remove(id);
        if self.commands.is_empty() {
            self.next = None;
        }
    }

    /// The agent is started anew.
    pub fn forget(&mut self, agent: AgentKey) {
        self.commands.retain(|_, (of, _)| *of != agent);
        if self.commands.is_empty() {
            self.next = None;
        }
    }

    pub fn place(&self, id: &TermId) -> Option<(AgentKey, u64)> {
        self.commands.get(id).copied()
    }

    pub fn told(&mut self, id: &TermId, next: u64) {
        if let Some((_, position)) = self.commands.get_mut(id) {
            *position = next;
        }
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.next
    }

    /// All of them, where it is time.
    pub fn due(&mut self) -> Vec<TermId> {
        let now = Instant::now();
        if self.next.is_none_or(|next| next > now) {
            return Vec::new();
        }
        self.next = Some(now + PACE);
        self.commands.keys().cloned().collect()
    }
}
