//! Writes that wait for the person: what is on the disk, what the agent wants, and what was decided so far.
//!
//! Touches no file. Invariant: nothing is decided that was not asked.

use super::error::ReviewError;
use super::files::Files;
use super::parts::{Chosen, Parts};
use super::state::State;
use crate::model::changes::{FileDoc, HunkId, Verdict};
use crate::model::ids::{EntryId, ReqId};
use std::path::PathBuf;

#[derive(Clone, Debug)]
pub struct Held {
    pub req: ReqId,
    pub entry: EntryId,
    pub path: PathBuf,
    /// What was on the disk when it came.
    pub disk: State,
    /// What the agent wants.
    pub wanted: State,
    /// What stays as it was, and what is to be written; decided once they are the same.
    pub old: State,
    pub new: State,
    /// Earlier `old` and `new`, to undo.
    pub past: Vec<(State, State)>,
}

impl Held {
    pub fn is_decided(&self) -> bool {
        self.old == self.new
    }

    pub fn parts(&self, files: &mut Files) -> Result<Parts, ReviewError> {
        Parts::of(files, &self.old, &self.new)
    }

    /// Decides some parts; without a choice all of them.
    pub fn decide(
        &mut self,
        files: &mut Files,
        chosen: Option<Vec<Chosen>>,
        verdict: Verdict,
    ) -> Result<(), ReviewError> {
        let parts = self.parts(files)?;
        let chosen = chosen.unwrap_or_else(|| parts.parts.iter().map(|p| Chosen::Part(p.id())).collect());
        let (old, new) = match verdict {
            Verdict::Accept => (parts.with(files, &chosen)?, self.new),
            Verdict::Reject => (self.old, parts.without(files, &chosen)?),
        };
        self.step(old, new);
        Ok(())
    }

    pub fn edit(&mut self, files: &mut Files, hunk: HunkId, text: &str) -> Result<(), ReviewError> {
        let (old, new) = self.parts(files)?.edited(files, hunk, text)?;
        self.step(old, new);
        Ok(())
    }

    fn step(&mut self, old: State, new: State) {
        self.past.push((self.old, self.new));
        (self.old, self.new) = (old, new);
    }

    pub fn undo(&mut self) -> bool {
        let Some((old, new)) = self.past.pop() else { return false };
        (self.old, self.new) = (old, new);
        true
    }

    /// As it is shown, among the changes that are on the disk.
    pub fn mark(&self, doc: &mut FileDoc) {
        doc.held = Some(self.req);
        for hunk in &mut doc.hunks {
            hunk.entry = Some(self.entry);
        }
    }
}
