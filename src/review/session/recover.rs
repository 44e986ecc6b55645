//! Taking a session up again: what its ledger says, and what a crash came in the way of.
//!
//! The part of [`ReviewSession`] that opening needs. Invariants: a file is what was meant for it or what it was, and what
//! happened after the last sign of the program is never put down to the agent for certain.

use super::ReviewSession;
use crate::review::dir::{self, AFTERMATH, SIGN_LAG};
use crate::review::error::ReviewError;
use crate::review::history::ledger::Record;
use std::time::{Instant, SystemTime};

impl ReviewSession {
    /// What the ledger says; an act that a crash has cut short is looked for on the disk. A turn that never ended is
    /// looked at now: what changed up to its last sign is taken for its, what changed right after that is
    /// in doubt, and what changed later is the person's.
    pub(crate) fn replay(&mut self, records: Vec<Record>, last_sign: SystemTime) -> Result<(), ReviewError> {
        let open = self.take_in(records);
        self.forget_lost();
        if !open.is_empty() || self.undo_log.unfinished().is_some() {
            self.sweep();
        }
        self.finish_act()?;
        if let Err(error) = self.finish_turns(&open, last_sign) {
            // What is known so far can be looked at all the same.
            for turn in open {
                self.activity.end(turn);
            }
            dir::note_trouble(&self.dir, &error);
        }
        Ok(())
    }

    /// What the ledger says, and nothing else. The turns that have not ended, the newest last.
    pub(crate) fn take_in(&mut self, records: Vec<Record>) -> Vec<u64> {
        let mut open: Vec<u64> = Vec::new();
        for record in records {
            match record {
                Record::Turn { turn, begins, early } => {
                    self.turns.insert(turn);
                    self.early.extend(early.then_some(turn));
                    open.retain(|other| *other != turn);
                    open.extend(begins.then_some(turn));
                    self.undo_log.turn_began();
                }
                Record::Told { turn } => drop(self.told.insert(turn)),
                // Versions before this one took their own files for the agent's work.
                Record::Step { path, .. } if self.files.snapshot.hides(&path) => {}
                Record::Step { path, step, accepted } => self.put_step(&path, step, accepted),
                Record::Untaken { path } => self.take_off(&path),
                Record::Act(ref act) => {
                    self.order.acts(act.id, self.rev);
                    self.undo_log.take(record);
                }
                Record::Done { act, .. } => {
                    self.undo_log.take(record);
                    self.put_done(act);
                }
            }
        }
        open
    }

    /// Turns that a crash has cut short; what they have left behind is of the newest one.
    fn finish_turns(&mut self, open: &[u64], last_sign: SystemTime) -> Result<(), ReviewError> {
        let Some(newest) = open.last().copied() else { return Ok(()) };
        let (mut turns, mut aftermath, mut later) = (Vec::new(), Vec::new(), Vec::new());
        let changes = self.files.snapshot.scan()?;
        let snapshot = &mut self.files.snapshot;
        let root_is_lost = snapshot.is_root_lost();
        // A clock that was set back since tells of what it has dated after that only that it may have been anybody.
        let now = snapshot.clock.date(Instant::now());
        let is_set_back = now + SIGN_LAG < last_sign;
        for change in changes {
            // With the directory itself, whenever that was.
            if root_is_lost {
                turns.push(change);
                continue;
            }
            // The date of the content can be set by anybody, that of the change by nobody.
            match snapshot.changed_at(&change.path) {
                at if is_set_back && at <= now => aftermath.push(change),
                at if at <= last_sign + SIGN_LAG => turns.push(change),
                at if at <= last_sign + AFTERMATH => aftermath.push(change),
                // Since when it is gone nobody knows.
                _ if change.after.is_absent() => aftermath.push(change),
                _ => later.push(change),
            }
        }
        self.activity.begin(newest);
        // Which calls ran is gone with the client. Where the agent said what it did, what nobody has looked at yet may
        // be the person's, who went on saving in the turn; not when the directory itself is gone.
        if open.iter().any(|turn| self.told.contains(turn)) && !root_is_lost {
            self.activity.presume_told();
        }
        self.observe(turns)?;
        // The agent may have gone on, the person may have begun again.
        self.activity.presume_told();
        self.observe(aftermath)?;
        self.activity.end(newest);
        self.observe(later)?;
        self.save()?;
        self.activity.looked(true);
        for turn in open {
            self.ledger.add(&Record::Turn { turn: *turn, begins: false, early: false })?;
        }
        Ok(())
    }

    /// After a crash: which files of the last act have the state that was meant for them.
    fn finish_act(&mut self) -> Result<(), ReviewError> {
        let Some(act) = self.undo_log.unfinished().cloned() else { return Ok(()) };
        let mut done = Vec::new();
        for (at, file) in act.files.iter().enumerate() {
            // What cannot be read was not written.
            if self.files.on_disk(&file.path).is_ok_and(|disk| disk == file.disk.1) {
                done.push(at);
                self.files.snapshot.set(&file.path, file.disk.1)?;
            }
        }
        let cut = done.len() < act.files.len();
        self.finished(act.id, done, cut)?;
        self.save()
    }
}
