//! Writes that wait for the person: what is on the disk, what the agent wants, and what was decided so far.
//!
//! A history of its own stands for the file as it would be, so that a held write is decided like any other change.
//! Touches no file. Invariant: nothing is decided that was not asked.

use super::doc::{self, Of};
use super::parts::Parts;
use super::verdict::{FileCase, OnConflict, Selection};
use crate::model::changes::{Cause, FileDoc, HunkId, HunkState, Verdict};
use crate::model::ids::{EntryId, ReqId};
use crate::review::error::ReviewError;
use crate::review::history::contents::Contents;
use crate::review::history::file_history::{FileHistory, Pair};
use crate::review::history::ledger::{ChangeRecord, FileDecision};
use crate::review::protocol::Proposal;
use crate::review::state::State;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub struct HeldWrite {
    pub req: ReqId,
    pub path: PathBuf,
    /// Decided by a plain answer, unless the person goes to the review for it.
    pub asked: bool,
    turn: u64,
    entry: EntryId,
    /// From what was on the disk when it came to what the agent wants.
    pair: Pair,
    /// As if it had been written, with what was decided since.
    history: FileHistory,
    /// Earlier histories, to undo.
    past: Vec<FileHistory>,
    /// Histories that were undone.
    undone: Vec<FileHistory>,
}

impl HeldWrite {
    /// `path` is below the root.
    pub fn new(proposal: &Proposal, turn: u64, path: &Path, disk: State, wanted: State) -> Self {
        let Proposal { req, entry, asked, .. } = *proposal;
        let pair = Pair { old: disk, new: wanted, upto: 1 };
        let history = FileHistory::new(step(turn, Cause::Write, entry, (disk, wanted)));
        Self { req, path: path.to_owned(), asked, turn, entry, pair, history, past: Vec::new(), undone: Vec::new() }
    }

    /// The same write over what is on the disk now; what was decided of it is forgotten.
    pub fn over(&self, disk: State) -> Self {
        let history = FileHistory::new(step(self.turn, Cause::Write, self.entry, (disk, self.pair.new)));
        let pair = Pair { old: disk, ..self.pair.clone() };
        Self { pair, history, past: Vec::new(), undone: Vec::new(), ..self.clone() }
    }

    /// What was on the disk when it came.
    pub const fn disk(&self) -> State {
        self.pair.old
    }

    /// What the agent wants.
    pub const fn wanted(&self) -> State {
        self.pair.new
    }

    /// What is to be written once it is decided.
    pub fn chosen(&self) -> State {
        self.history.last()
    }

    /// The turn in which it was asked for.
    pub const fn turn(&self) -> u64 {
        self.turn
    }

    pub fn entry(&self) -> EntryId {
        self.entry
    }

    /// How many parts wait for the person.
    pub fn pending(&self, files: &mut Contents) -> Result<usize, ReviewError> {
        if self.history.last() == self.history.accepted {
            return Ok(0);
        }
        let parts = Parts::of(files, &self.pair.old, &self.pair.new)?;
        let mut pending = 0;
        for part in &parts.parts {
            let state = doc::state_of(part, &parts, &self.history, &self.pair, files)?;
            pending += usize::from(state == HunkState::Pending);
        }
        Ok(pending)
    }

    /// Decides some parts, and says how many.
    pub fn decide(&mut self, files: &mut Contents, wanted: &Selection, verdict: Verdict) -> Result<usize, ReviewError> {
        let (file, count) = self.case().decide(wanted, verdict, OnConflict::Refuse, files)?;
        self.take(&file);
        Ok(count)
    }

    /// Decides all that waits, by an answer given outside of the review: nothing to undo there, unless parts of it were
    /// decided there before.
    pub fn decide_all(&mut self, files: &mut Contents, verdict: Verdict) -> Result<(), ReviewError> {
        let was_touched = self.is_touched();
        self.decide(files, &Selection::Pending { doubtful: true }, verdict)?;
        if !was_touched {
            self.past.clear();
        }
        Ok(())
    }

    pub fn edit(&mut self, files: &mut Contents, hunk: HunkId, text: &str) -> Result<(), ReviewError> {
        let file = self.case().edit(hunk, text, files)?;
        self.take(&file);
        Ok(())
    }

    fn case(&self) -> FileCase<'_> {
        FileCase { path: &self.path, history: &self.history, pair: &self.pair }
    }

    fn take(&mut self, file: &FileDecision) {
        self.past.push(self.history.clone());
        self.undone.clear();
        if file.disk.0 != file.disk.1 {
            let cause = if file.by_hand { Cause::Person } else { Cause::Review };
            self.history.steps.push(ChangeRecord { decided: true, ..step(self.turn, cause, self.entry, file.disk) });
        }
        self.history.accepted = file.accepted.1;
    }

    pub fn is_touched(&self) -> bool {
        !self.past.is_empty()
    }

    pub fn undo(&mut self) {
        if let Some(history) = self.past.pop() {
            self.undone.push(std::mem::replace(&mut self.history, history));
        }
    }

    /// False when nothing was undone.
    pub fn redo(&mut self) -> bool {
        let Some(history) = self.undone.pop() else { return false };
        self.past.push(std::mem::replace(&mut self.history, history));
        true
    }

    pub fn is_undone(&self) -> bool {
        !self.undone.is_empty()
    }

    /// What is shown of it, among the changes that are on the disk.
    pub fn shown(&self) -> Of<'_> {
        Of { path: &self.path, history: &self.history, pair: self.pair.clone() }
    }

    /// A document of that, as what waits.
    pub fn marked(&self, mut doc: FileDoc) -> FileDoc {
        doc.held = Some(self.req);
        for hunk in &mut doc.hunks {
            hunk.entry = Some(self.entry);
        }
        doc
    }
}

fn step(turn: u64, cause: Cause, entry: EntryId, (before, after): (State, State)) -> ChangeRecord {
    ChangeRecord::new(turn, cause, Some(entry.0), before, after)
}
