//! What there is to look at: as a document, in numbers, or file by file.
//!
//! Changes nothing but what stays in sight. Invariant: what is found missing while it is being made is taken for not kept,
//! and it is made once more.

use super::{ReviewSession, shown};
use crate::model::changes::{FileDoc, ReviewDoc, Scope, Totals};
use crate::review::decide::doc::Room;
use crate::review::error::ReviewError;
use crate::review::history::contents::Contents;

impl ReviewSession {
    /// What there is to look at; reads the files in question again.
    pub fn doc(&mut self, scope: Scope) -> Result<ReviewDoc, ReviewError> {
        self.refresh()?;
        self.without_missing(|review| review.doc_of(scope, Room::SHOWN))
    }

    /// The same without lines.
    pub fn outline(&mut self, scope: Scope) -> Result<ReviewDoc, ReviewError> {
        self.refresh()?;
        self.without_missing(|review| review.doc_of(scope, Room::OUTLINE))
    }

    /// The sums of what there is to look at, as the document has them.
    pub fn shown_totals(&mut self, scope: Scope) -> Result<Totals, ReviewError> {
        self.refresh()?;
        self.without_missing(|review| review.shown.totals(scope, &review.log, &review.held, &mut review.files))
    }

    /// Every file that there is to look at, one after another, with all its hunks and without their lines. When a content
    /// is found missing meanwhile all of it is `begun` anew.
    pub fn each_file<T>(
        &mut self,
        scope: Scope,
        begun: impl Fn(&Self) -> T,
        mut each: impl FnMut(&mut T, &FileDoc, &Contents) -> Result<(), ReviewError>,
    ) -> Result<T, ReviewError> {
        self.refresh()?;
        self.without_missing(|review| {
            let mut out = begun(review);
            let Self { shown, log, held, files, .. } = review;
            shown.each(scope, log, held, files, |doc, files| each(&mut out, doc, files))?;
            Ok(out)
        })
    }

    pub(super) fn doc_of(&mut self, scope: Scope, room: Room) -> Result<ReviewDoc, ReviewError> {
        let files = self.shown.files((scope, room), &self.log, &self.held, &mut self.files)?;
        let all = files.iter().flat_map(|f| &f.hunks).map(|hunk| u64::from(hunk.count)).sum();
        let pending = files.iter().map(|f| f.pending() as u64).sum();
        let mut totals = Totals { pending, files: files.len() as u64, ..Default::default() };
        for file in &files {
            totals.added += file.added;
            totals.removed += file.removed;
        }
        let turns = self.log.turns_that_changed();
        let mut names = self.turn_names();
        names.retain(|turn, _| scope == Scope::Turn(*turn) || turns.binary_search(turn).is_ok());
        Ok(ReviewDoc {
            rev: self.rev(),
            scope,
            turns,
            names,
            files,
            totals,
            decided: (all - pending, all),
            uncovered: self.uncovered(),
            is_partial: self.trouble().is_some(),
            left: Vec::new(),
            undo: match self.held.undoable() {
                Some(held) => Some(format!("a decision on the held write of {}", shown(&held.path))),
                None => self.log.undo_log().undoable().map(|act| self.log.undo_log().words(act)),
            },
            redo: match self.held.redoable() {
                Some(held) => Some(format!("a decision on the held write of {}", shown(&held.path))),
                None => self.log.undo_log().redoable().map(|act| self.log.undo_log().words(act)),
            },
        })
    }

    /// Turns in which something changed, oldest first.
    pub fn turns_that_changed(&self) -> Vec<u64> {
        self.log.turns_that_changed()
    }
}
