//! All writes that wait for the person, in the order in which they came.
//!
//! Touches no file. Invariants: of several writes of one file the first is decided first, and the next is about what is
//! there then; all of them are decided by one decision, or none; what another program has saved is never
//! part of one.

use super::hold::HeldWrite;
use super::verdict::Selection;
use crate::model::changes::{HunkId, Verdict};
use crate::model::ids::{EntryId, ReqId};
use crate::review::error::ReviewError;
use crate::review::history::contents::Contents;
use crate::review::state::State;
use std::path::{Path, PathBuf};

#[derive(Default)]
pub struct HeldWrites {
    writes: Vec<HeldWrite>,
    /// Those before which something else of their file was decided.
    followed: Vec<ReqId>,
    rev: u64,
}

impl HeldWrites {
    /// Moves with each change.
    pub const fn rev(&self) -> u64 {
        self.rev
    }

    pub fn add(&mut self, held: HeldWrite) {
        self.rev += 1;
        self.writes.push(held);
    }

    pub fn newest_first(&self) -> impl Iterator<Item = &HeldWrite> {
        self.writes.iter().rev()
    }

    /// The tool call of a write that waits to bring a file into this state.
    pub fn wanting(&self, path: &Path, state: &State) -> Option<EntryId> {
        let held = self.writes.iter().find(|h| h.path == path && h.wanted() == *state)?;
        Some(held.entry())
    }

    /// What a file would be after all that waits of it.
    pub fn newest_wanted(&self, path: &Path) -> Option<State> {
        self.newest_first().find(|h| h.path == path).map(HeldWrite::wanted)
    }

    /// How many parts wait for the person.
    pub fn pending(&self, files: &mut Contents) -> Result<u64, ReviewError> {
        let mut pending = 0;
        for held in &self.writes {
            pending += held.pending(files)? as u64;
        }
        Ok(pending)
    }

    /// Decides some parts of the first that waits of a file; false when none does.
    pub fn decide(
        &mut self,
        path: &Path,
        wanted: &Selection,
        verdict: Verdict,
        files: &mut Contents,
    ) -> Result<bool, ReviewError> {
        let Some(held) = self.writes.iter_mut().find(|h| h.path == path) else { return Ok(false) };
        held.decide(files, wanted, verdict)?;
        self.rev += 1;
        Ok(true)
    }

    /// Decides all that is pending, of all of them or of none. How many parts that were, and of which files.
    pub fn decide_all(&mut self, verdict: Verdict, files: &mut Contents) -> Result<(usize, Vec<PathBuf>), ReviewError> {
        let before = self.writes.clone();
        let (mut parts, mut paths) = (0, Vec::new());
        for held in &mut self.writes {
            match held.decide(files, &Selection::Pending { doubtful: true }, verdict) {
                Ok(count) => {
                    parts += count;
                    paths.push(held.path.clone());
                }
                Err(ReviewError::Refused(_)) => {}
                Err(error) => {
                    self.writes = before;
                    return Err(error);
                }
            }
        }
        self.rev += 1;
        Ok((parts, paths))
    }

    /// Decides all that waits of one of them, by an answer given outside of the review.
    pub fn answer(&mut self, req: ReqId, verdict: Verdict, files: &mut Contents) -> Result<(), ReviewError> {
        let Some(held) = self.writes.iter_mut().find(|h| h.req == req) else { return Ok(()) };
        held.decide_all(files, verdict)?;
        self.rev += 1;
        Ok(())
    }

    /// False when no write of that file waits.
    pub fn edit(&mut self, path: &Path, hunk: HunkId, text: &str, files: &mut Contents) -> Result<bool, ReviewError> {
        let Some(held) = self.writes.iter_mut().find(|h| h.path == path) else { return Ok(false) };
        held.edit(files, hunk, text)?;
        self.rev += 1;
        Ok(true)
    }

    /// The write whose newest decision an undo would take back.
    pub fn undoable(&self) -> Option<&HeldWrite> {
        self.newest_first().find(|h| h.is_touched())
    }

    pub fn redoable(&self) -> Option<&HeldWrite> {
        self.newest_first().find(|h| h.is_undone())
    }

    /// False when there is nothing to undo.
    pub fn undo(&mut self) -> bool {
        let Some(held) = self.writes.iter_mut().rev().find(|h| h.is_touched()) else { return false };
        held.undo();
        self.rev += 1;
        true
    }

    /// False when there is nothing to do again.
    pub fn redo(&mut self) -> bool {
        let redone = self.writes.iter_mut().rev().any(HeldWrite::redo);
        self.rev += u64::from(redone);
        redone
    }

    /// The write of this number, when all of it is decided and it is the first of its file.
    pub fn decided(&mut self, req: ReqId, files: &mut Contents) -> Result<Option<HeldWrite>, ReviewError> {
        let Some(at) = self.writes.iter().position(|h| h.req == req) else { return Ok(None) };
        let (earlier, rest) = self.writes.split_at(at);
        let Some(held) = rest.first() else { return Ok(None) };
        if held.pending(files)? > 0 || earlier.iter().any(|h| h.path == held.path) {
            return Ok(None);
        }
        self.rev += 1;
        Ok(Some(held.clone()))
    }

    /// It is about what is on the disk now; what was decided of it is forgotten. Whether something waits for the person.
    pub fn start_over(&mut self, req: ReqId, disk: State, files: &mut Contents) -> Result<bool, ReviewError> {
        let Some(held) = self.writes.iter_mut().find(|h| h.req == req) else { return Ok(false) };
        *held = held.over(disk);
        Ok(held.pending(files)? > 0)
    }

    /// It is over, and this is what it alone would have left.
    pub fn close(&mut self, req: ReqId, left: State) {
        let Some(at) = self.writes.iter().position(|h| h.req == req) else { return };
        self.rev += 1;
        let held = self.writes.remove(at);
        let Some(next) = self.writes.iter_mut().skip(at).find(|h| h.path == held.path) else { return };
        // Not over what is on the disk: what another program has saved meanwhile is merged, as with any write that
        // waited.
        if left != next.disk() {
            *next = next.over(left);
        }
        self.followed.push(next.req);
    }

    /// Those that still wait although what was before them has been decided, each once: what they would do is another
    /// thing than when they were asked about.
    pub fn take_followed(&mut self) -> Vec<ReqId> {
        let followed = std::mem::take(&mut self.followed);
        followed.into_iter().filter(|req| self.writes.iter().any(|h| h.req == *req)).collect()
    }

    /// Whether no other of its file waits before it.
    pub fn is_first(&self, req: ReqId) -> bool {
        self.get(req).is_some_and(|held| self.writes.iter().find(|h| h.path == held.path).is_some_and(|h| h.req == req))
    }

    pub fn get(&self, req: ReqId) -> Option<&HeldWrite> {
        self.writes.iter().find(|h| h.req == req)
    }

    /// What waits for a decision, in the order in which it came, and what the transcript tells of it.
    pub fn waiting(&self) -> Vec<(ReqId, EntryId)> {
        self.writes.iter().map(|held| (held.req, held.entry())).collect()
    }

    /// Forgets one: it leaves what it was about.
    pub fn let_go(&mut self, req: ReqId) {
        if let Some(left) = self.get(req).map(HeldWrite::disk) {
            self.close(req, left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    impl HeldWrites {
        /// `begun` are the turns that the log knows.
        pub fn verify_invariants(&self, begun: &BTreeSet<u64>) {
            let numbers: BTreeSet<u64> = self.writes.iter().map(|held| held.req.0).collect();
            assert_eq!(numbers.len(), self.writes.len(), "two of one number");
            for held in &self.writes {
                assert!(held.path.is_relative(), "{held:?}");
                assert!(held.turn() == 0 || begun.contains(&held.turn()), "{held:?} is of no turn");
            }
        }
    }
}
