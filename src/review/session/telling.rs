//! Which agents say what they change: in which turns what no call explains may be the person's.
//!
//! Plain numbers of turns; looks at no file. Invariant: a turn in which the agent is silent is never taken for one in
//! which it tells because of what another agent tells.

use crate::review::protocol::ToolEffect;
use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub struct Telling {
    /// Turns in which the agent told of an edit or a command, or had the client write.
    told: BTreeSet<u64>,
    /// Turns of agents that had done so before.
    after: BTreeSet<u64>,
    /// Those among them in which it tells of its calls, or is to hear from the client what the person has changed.
    tells: BTreeSet<u64>,
    /// Turns with a held write that was written otherwise than proposed; the prompt that says so is still to go out.
    altered: BTreeSet<u64>,
}

impl Telling {
    /// A turn begins; `is_same` says whether another is of the same agent.
    pub fn begin(&mut self, turn: u64, is_same: impl Fn(u64) -> bool) {
        if self.told.iter().any(|other| is_same(*other)) {
            self.after.insert(turn);
        }
        let waiting = self.altered.len();
        self.altered.retain(|other| !is_same(*other));
        if self.altered.len() < waiting {
            self.tells.insert(turn);
        }
    }

    /// The agent has told of a call in that turn. One that only reads says nothing of an agent that has never told of
    /// more.
    pub fn note(&mut self, turn: u64, doing: ToolEffect) {
        match doing {
            ToolEffect::Edits | ToolEffect::Runs => drop(self.told.insert(turn)),
            ToolEffect::ReadOnly if self.after.contains(&turn) => drop(self.tells.insert(turn)),
            ToolEffect::ReadOnly | ToolEffect::Thinks | ToolEffect::Persons => {}
        }
    }

    /// A held write of that turn was written otherwise than proposed.
    pub fn altered(&mut self, turn: u64) {
        self.altered.insert(turn);
    }

    /// Whether the agent, which had told before, tells of its calls in this turn as well.
    pub fn goes_on(&self, turn: u64) -> bool {
        self.tells.contains(&turn)
    }
}
