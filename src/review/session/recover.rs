//! Taking a session up again: what its ledger says, and what a crash came in the way of.
//!
//! The part of [`ReviewSession`] that opening needs. Invariants: a file is what was meant for it or what it was, and what
//! happened after the last sign of the program is never put down to the agent for certain.

use super::ReviewSession;
use super::attribution::Attributed;
use crate::model::changes::Cause;
use crate::review::dir::{self, AFTERMATH, SIGN_LAG};
use crate::review::error::ReviewError;
use crate::review::history::contents::Contents;
use crate::review::history::file_history::FileHistory;
use crate::review::history::ledger::{FileDecision, Record};
use crate::review::state::State;
use crate::review::text::merge::follow;
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

    /// After a crash: which files of the last act have got the state that was meant for them. What was changed in them
    /// since is somebody else's.
    fn finish_act(&mut self) -> Result<(), ReviewError> {
        let Some(act) = self.undo_log.unfinished().cloned() else { return Ok(()) };
        let (mut done, mut doubtful) = (Vec::new(), Vec::new());
        for (at, file) in act.files.iter().enumerate() {
            // What cannot be read was not written.
            let Ok(disk) = self.files.on_disk(&file.path) else { continue };
            match progress(file, &disk, &mut self.files)? {
                Progress::Nothing => {}
                Progress::Done => {
                    done.push(at);
                    if disk == file.disk.1 {
                        self.files.snapshot.set(&file.path, disk)?;
                    }
                }
                Progress::Unknown => doubtful.push((&file.path, disk)),
            }
        }
        let cut = done.len() < act.files.len();
        self.finished(act.id, done, cut)?;
        for (path, disk) in doubtful {
            let Some(last) = self.histories.get(path).map(FileHistory::last) else { continue };
            self.record(path, last, disk, Attributed { doubt: true, ..Attributed::new(Cause::Unknown, None) })?;
        }
        self.save()
    }
}

/// How far a decision came with a file.
enum Progress {
    Nothing,
    Done,
    Unknown,
}

fn progress(file: &FileDecision, disk: &State, files: &mut Contents) -> Result<Progress, ReviewError> {
    let (before, after) = &file.disk;
    if disk == after || before == after {
        return Ok(Progress::Done);
    }
    // What is gone has nothing of either.
    if disk == before || disk.is_absent() {
        return Ok(Progress::Nothing);
    }
    if before.is_absent() || after.is_absent() {
        let there = if after.is_absent() { before } else { after };
        return Ok(match shares(there, disk, files)? {
            None => Progress::Unknown,
            Some(is_of_it) if is_of_it == before.is_absent() => Progress::Done,
            Some(_) => Progress::Nothing,
        });
    }
    Ok(match (has(before, after, disk, files)?, has(after, before, disk, files)?) {
        (true, false) => Progress::Done,
        (false, true) => Progress::Nothing,
        _ => Progress::Unknown,
    })
}

/// Whether all that differs between one state and another is in a third as in the other.
fn has(one: &State, other: &State, third: &State, files: &mut Contents) -> Result<bool, ReviewError> {
    let (Some(made), Some(since)) = (files.edits(one, other)?, files.edits(other, third)?) else { return Ok(false) };
    let is_mode = one.mode() == other.mode() || other.mode() == third.mode();
    Ok(is_mode && made.iter().all(|e| follow(&since, &e.new).is_some()))
}

/// Whether a line of one text is in the other; nothing when they are none.
fn shares(one: &State, other: &State, files: &mut Contents) -> Result<Option<bool>, ReviewError> {
    let edits = files.edits(one, other)?;
    let both = edits.zip(files.text(one)?);
    Ok(both.map(|(edits, text)| edits.iter().map(|edit| edit.old.len()).sum::<usize>() < text.len()))
}
