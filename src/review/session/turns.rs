//! Sessions of agents and their turns: what has changed before one begins is not its doing, what changes until it ends is.
//!
//! Turns of several sessions may overlap. Invariant: the ledger says of each turn when it begins, and when it ends unless
//! the client was killed in it.

use super::super::dir::{self, SESSIONS, write_json};
use super::super::error::ReviewError;
use super::super::state::Change;
use super::ReviewSession;
use crate::model::changes::{Scope, Totals};
use crate::review::history::ledger::Record;
use crate::review::protocol::AgentSession;
use crate::review::snapshot::clock::TICK;
use std::time::Instant;

impl ReviewSession {
    /// A session of the agent was opened; turns from `first_turn` on are its.
    pub fn session(&mut self, id: &str, first_turn: u64, agent: &str) -> Result<(), ReviewError> {
        self.sessions.push(AgentSession { id: id.to_owned(), first_turn, agent: agent.to_owned() });
        write_json(&self.dir.join(SESSIONS), &self.sessions)
    }

    /// Looks at the whole tree for the first time, while nothing else happens yet.
    pub fn first_look(&mut self) -> Result<(), ReviewError> {
        self.scan()
    }

    /// Nobody sits before a screen and edits: what changes while no turn runs may be the agent's, too, which may write
    /// before its first prompt.
    pub fn alone(&mut self) {
        self.alone = true;
    }

    /// Looks at the whole tree before a prompt goes out: what has changed since the last look is the person's.
    pub fn begin_turn(&mut self, turn: u64) -> Result<(), ReviewError> {
        self.begin_turn_unless(turn, || None)
    }

    /// The same; `sent` tells afterwards when the prompt went out if it did not wait. What has changed since then may
    /// be the agent's.
    pub fn begin_turn_unless(&mut self, turn: u64, sent: impl FnOnce() -> Option<Instant>) -> Result<(), ReviewError> {
        self.scan_and(|review, changes| {
            // In doubt it is the agent's: of two clocks that tick apart one is a little behind.
            let sent = sent().map(|at| review.files.snapshot.clock.date(at) - TICK);
            // What cannot be told apart any more may be the agent's.
            let since_any = review.is_clock_set() && sent.is_some();
            let snapshot = &mut review.files.snapshot;
            let is_since =
                |change: &Change| since_any || sent.is_some_and(|at| snapshot.changed_at(&change.path) >= at);
            let (since, before) = changes.into_iter().partition(is_since);
            if review.alone {
                review.activity.begin(turn);
                review.activity.presume_told();
            }
            review.observe(before)?;
            review.activity.begin(turn);
            review.undo_log.turn_began();
            review.looked.clear();
            review.turns.insert(turn);
            review.early.extend(sent.map(|_| turn));
            review.ledger.add(&Record::Turn { turn, begins: true, early: sent.is_some() })?;
            review.observe(since)
        })
    }

    /// Looks at the whole tree after a turn: what has changed is of the turn. Its sums.
    pub fn end_turn(&mut self, turn: u64) -> Result<Totals, ReviewError> {
        self.scan()?;
        self.note_root();
        self.activity.end(turn);
        let noted = self.ledger.add(&Record::Turn { turn, begins: false, early: false });
        noted.inspect_err(|error| dir::note_trouble(&self.dir, error))?;
        self.totals_of(Scope::Turn(turn))
    }

    /// A turn whose end could not be looked at is over all the same: its session has begun another.
    pub fn leave_turn(&mut self, turn: u64) -> Result<(), ReviewError> {
        self.activity.end(turn);
        self.ledger.add(&Record::Turn { turn, begins: false, early: false })
    }

    /// Looks at everything once more when the agent has ended: what has changed since the last turn may be its doing.
    pub fn last_look(&mut self) -> Result<(), ReviewError> {
        let Some(turn) = self.turns.last().copied() else { return Ok(()) };
        self.activity.begin(turn);
        self.activity.presume_told();
        let looked = self.scan();
        self.note_root();
        self.activity.end(turn);
        looked
    }
}
