//! Carrying out what was decided.
//!
//! What is to be written is computed elsewhere. Invariants: each file is written as a whole or not at all, only when it
//! still is what was decided about, and only after the ledger has it; what would be lost with a decision stays.

use super::session_dir::SessionDir;
use super::shown;
use super::write::{Carried, Writing};
use crate::model::changes::{Cause, HeldOutcome, MAX_DIFFERENCE};
use crate::review::decide::hold::HeldWrite;
use crate::review::decide::only_copies::{For, only_copies};
use crate::review::error::ReviewError;
use crate::review::history::change_log::ChangeLog;
use crate::review::history::contents::Contents;
use crate::review::history::file_history::Pair;
use crate::review::history::ledger::{ChangeRecord, Decision, DecisionKey, FileDecision};
use crate::review::protocol::Done;
use crate::review::snapshot::Snapshot;
use crate::review::state::{Change, State};
use crate::text::unified;
use std::path::PathBuf;
use std::time::Duration;

/// Time for finding a difference; after that it is coarse.
const DIFFERENCE_TIME: Duration = Duration::from_secs(2);

/// What a decision is: asked for by the person, or one that takes another back or does it again.
pub enum Why {
    Asked(Option<DecisionKey>),
    Toggles(u64),
}

/// The parts of a review that a decision goes through when it is carried out.
pub struct Execution<'a> {
    pub dir: &'a SessionDir,
    pub files: &'a mut Contents,
    pub log: &'a mut ChangeLog,
    pub writing: &'a mut Writing,
    /// The turn that runs, or the last one.
    pub turn: u64,
}

impl Execution<'_> {
    /// Writes what was decided, but for what would be lost with it; `left` is said with what is left alone.
    pub fn carry_out(
        &mut self,
        words: String,
        why: Why,
        reason: For<'_>,
        mut files: Vec<FileDecision>,
        mut left: Vec<String>,
    ) -> Result<Done, ReviewError> {
        let only = only_copies(&files, &[], reason, self.log, self.files);
        files.retain(|file| !only.has(&file.path));
        left.extend(only.words.into_iter().map(|(path, why)| format!("{}: {why}", shown(&path))));
        self.carry_out_all(words, why, files, left)
    }

    /// Writes what was decided: first into the ledger, then file by file. `left` is said with what is left alone.
    pub fn carry_out_all(
        &mut self,
        words: String,
        why: Why,
        files: Vec<FileDecision>,
        left: Vec<String>,
    ) -> Result<Done, ReviewError> {
        let files: Vec<FileDecision> =
            files.into_iter().filter(|f| f.disk.0 != f.disk.1 || f.accepted.0 != f.accepted.1).collect();
        if files.is_empty() && !left.is_empty() {
            return Err(ReviewError::Refused(left.join("; ")));
        }
        if files.is_empty() {
            return Ok(Done { words, ..Done::default() });
        }
        // From here on it is stopped between two files only.
        self.files.go_on()?;
        let stop = self.files.stop.take();
        let done = self.write_down(words, why, &files, left);
        self.files.stop = stop;
        done
    }

    fn write_down(
        &mut self,
        words: String,
        why: Why,
        files: &[FileDecision],
        mut left: Vec<String>,
    ) -> Result<Done, ReviewError> {
        self.make_root(files)?;
        let id = self.log.undo_log().next_id();
        // What an undo of the same turns has left alone belongs to it.
        let (key, toggles) = match why {
            Why::Asked(key) => (key, None),
            Why::Toggles(id) => (None, Some(id)),
        };
        let continues = key.as_ref().and_then(|key| self.log.undo_log().goes_on_with(key));
        let decision = Decision {
            id,
            at: None,
            words: words.clone(),
            key,
            toggles,
            continues,
            merged: None,
            files: files.to_vec(),
        };
        self.log.announce(decision, self.files)?;
        self.writing.begin();
        let Carried { done, left: failed, meddled, stopped } = self.writing.write_all(files, self.files);
        let unwritten = self.writing.unwritten();
        left.extend(failed);
        let none = done.is_empty();
        // What could not be written of one that is taken back or done again is still to be done.
        let is_open = toggles.is_some() && !unwritten.is_empty();
        self.finished(id, done, stopped.is_some() || is_open)?;
        self.note_meddled(&meddled)?;
        self.log.save(self.files)?;
        if stopped.is_some() {
            return Ok(Done { words: format!("stopped: {words}"), stopped, unwritten, ..Done::default() });
        }
        match (none, left.is_empty()) {
            (true, false) => Err(ReviewError::Refused(left.join("; "))),
            (_, true) => Ok(Done { words: format!("{words}{}", self.writing.lost()), ..Done::default() }),
            (_, false) => {
                let words = format!("{words}{}; left alone: {}", self.writing.lost(), left.join("; "));
                Ok(Done { words, unwritten, ..Done::default() })
            }
        }
    }

    fn finished(&mut self, id: u64, done: Vec<usize>, cut: bool) -> Result<(), ReviewError> {
        self.writing.note_displaced(self.files)?;
        self.log.finished(id, done, cut, self.turn)?;
        self.writing.take_left().into_iter().try_for_each(|(path, state)| self.log.note_left(path, state))
    }

    /// What another program has made of files while they were written may be the person's: an editor saves at any moment.
    /// Nobody accounts for it, so that it is shown, and no undo takes it away.
    fn note_meddled(&mut self, paths: &[PathBuf]) -> Result<(), ReviewError> {
        if paths.is_empty() {
            return Ok(());
        }
        for Change { path, before, after } in self.files.snapshot.look(paths)? {
            let before = self.log.last(&path).unwrap_or(before);
            let step = ChangeRecord::new(self.turn, Cause::Unknown, None, before, after);
            self.log.record(&path, ChangeRecord { doubt: true, ..step }, self.files)?;
        }
        Ok(())
    }

    /// Makes the session's working directory anew when some of these files are to be in it.
    fn make_root(&mut self, files: &[FileDecision]) -> Result<(), ReviewError> {
        look_at_root(files, &self.files.snapshot)?;
        if files.iter().any(|f| f.disk.0 != f.disk.1 && !f.disk.1.is_absent()) {
            self.files.snapshot.root.make()?;
            self.dir.note_root(&self.files.snapshot);
        }
        Ok(())
    }

    /// Writes what was chosen of a held write. What the agent is told, and, when the person has decided it in the review,
    /// what is to stay in sight there.
    pub fn release(&mut self, held: &HeldWrite) -> Result<(HeldOutcome, Option<Pair>), ReviewError> {
        if held.disk() == held.wanted() {
            // An earlier write of the same content was decided meanwhile.
            return Ok((HeldOutcome::Whole { created: false, bytes: size_of(&held.wanted()) }, None));
        }
        if held.chosen() == held.disk() {
            return Ok((HeldOutcome::Refused, None));
        }
        let path = &held.path;
        let disk = self.files.on_disk(path)?;
        let Some(to) = self.files.joined(&held.disk(), &disk, &held.chosen())? else {
            let why = "it was changed on the disk while the write was held".to_owned();
            return Err(ReviewError::Conflict { path: path.clone(), why });
        };
        // What the agent wanted over what is there; undo of the decision goes back to it.
        let whole = self.files.joined(&held.disk(), &disk, &held.wanted())?.unwrap_or(to);
        if disk == whole && disk == to {
            // All of it has come there meanwhile, by another write of the same.
            return Ok((HeldOutcome::Whole { created: false, bytes: size_of(&disk) }, None));
        }
        let old = self.log.history(path).map_or(disk, |h| h.accepted);
        let act_file = |disk, accepted| FileDecision { path: path.clone(), disk, accepted, by_hand: false };
        let (turn, entry) = (held.turn(), Some(held.entry().0));
        let step = ChangeRecord::new(turn, Cause::Write, entry, disk, whole);
        let mut in_sight = None;
        if held.asked && !held.is_touched() {
            // Allowed, and still to be reviewed.
            let written = self.writing.write(&act_file((disk, to), (old, old)), self.files);
            for (path, state) in self.writing.take_left() {
                self.log.note_left(path, state)?;
            }
            written?;
            self.log.take(path, step, old, self.files)?;
            self.log.save(self.files)?;
        } else {
            // The person has decided it hunk by hunk; what was pending in the file before stays so.
            let accepted = self.files.joined(&disk, &old, &to)?.unwrap_or(old);
            let id = self.log.undo_log().next_id();
            let words = format!("decided the held write of {}", shown(path));
            if disk != whole {
                self.log.take(path, step, old, self.files)?;
            }
            let upto = self.log.history(path).map_or(0, |h| h.steps.len());
            let files = vec![act_file((whole, to), (old, accepted))];
            let decision =
                Decision { id, at: None, words, key: None, toggles: None, continues: None, merged: None, files };
            self.log.announce(decision, self.files)?;
            let written = self.writing.write(&act_file((disk, to), (old, accepted)), self.files);
            self.finished(id, if written.is_ok() { vec![0] } else { Vec::new() }, false)?;
            if written.is_err() && disk != whole {
                self.log.untake(path)?;
            }
            self.log.save(self.files)?;
            written?;
            in_sight = held.is_touched().then_some(Pair { old, new: whole, upto });
        }
        let released = if held.chosen() == held.wanted() && to == held.wanted() {
            HeldOutcome::Whole { created: disk.is_absent(), bytes: size_of(&to) }
        } else {
            HeldOutcome::Partly { differs: self.difference(&held.wanted(), &to)? }
        };
        Ok((released, in_sight))
    }

    /// How a text differs from what the agent wanted, for the agent to read.
    fn difference(&self, wanted: &State, is: &State) -> Result<String, ReviewError> {
        let (wanted, is) = (self.files.content(wanted)?, self.files.content(is)?);
        let mut text = b"--- proposed\n+++ written\n".to_vec();
        unified::hunks(&wanted, &is, DIFFERENCE_TIME, &mut text);
        let mut text = String::from_utf8_lossy(&text).into_owned();
        // One byte more says that there is more.
        text.truncate(text.ceil_char_boundary(MAX_DIFFERENCE + 1));
        Ok(text)
    }
}

/// Refuses what could not be carried out since something stands in the place of the session's working directory.
pub fn look_at_root(files: &[FileDecision], snapshot: &Snapshot) -> Result<(), ReviewError> {
    if files.iter().any(|f| f.disk.0 != f.disk.1) { snapshot.root.free() } else { Ok(()) }
}

const fn size_of(state: &State) -> u64 {
    if let State::File { size, .. } = state { *size } else { 0 }
}
