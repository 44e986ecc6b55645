//! From a decision to the states that it asks for.
//!
//! Computes, writes nothing to the project. Invariant: a change after the hunk is in the result, or the
//! decision is refused as a conflict.

use super::doc;
use super::parts::{Chosen, Part, Parts};
use crate::model::changes::{HunkId, HunkState, Verdict};
use crate::review::error::ReviewError;
use crate::review::history::contents::{Contents, Joined};
use crate::review::history::file_history::{FileHistory, Pair};
use crate::review::history::ledger::FileDecision;
use crate::review::state::State;
use std::collections::HashSet;
use std::path::Path;

/// What is to be decided of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All that is pending; what is in doubt only when the file was named.
    Pending {
        doubtful: bool,
    },
    Exactly(Chosen),
    /// As a whole, without regard to its parts.
    Whole,
}

/// Later edits of the person in the same lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnConflict {
    Refuse,
    /// They go as well.
    Force,
}

pub struct FileCase<'a> {
    pub path: &'a Path,
    pub history: &'a FileHistory,
    pub pair: &'a Pair,
}

impl FileCase<'_> {
    /// What a verdict would make of the file, and how many parts it is about.
    pub fn decide(
        &self,
        wanted: &Selection,
        verdict: Verdict,
        on_conflict: OnConflict,
        files: &mut Contents,
    ) -> Result<(FileDecision, usize), ReviewError> {
        let parts = Parts::of(files, &self.pair.old, &self.pair.new)?;
        let mut states = Vec::new();
        for part in &parts.parts {
            states.push(doc::state_of(part, &parts, self.history, self.pair, files)?);
        }
        let chosen = self.chosen(wanted, &parts, &states, files)?;
        if chosen.is_empty() {
            return Err(self.refused("nothing of it is left to decide"));
        }
        let file = match verdict {
            Verdict::Accept => self.accept(&parts, &states, &chosen, files)?,
            Verdict::Reject => {
                if on_conflict == OnConflict::Refuse {
                    self.look_for_conflict(&parts, &chosen, files)?;
                }
                self.reject(&parts, &chosen, files)?
            }
        };
        Ok((file, chosen.len()))
    }

    fn chosen(
        &self,
        wanted: &Selection,
        parts: &Parts,
        states: &[HunkState],
        files: &mut Contents,
    ) -> Result<Vec<Chosen>, ReviewError> {
        match wanted {
            Selection::Exactly(Chosen::Part(doc::TOGETHER)) => {
                self.chosen(&Selection::Pending { doubtful: true }, parts, states, files)
            }
            Selection::Whole => Ok(parts.parts.iter().map(|p| Chosen::Part(p.id())).collect()),
            Selection::Exactly(chosen) => {
                let id = match chosen {
                    Chosen::Part(id) | Chosen::Lines(id, _) => *id,
                };
                let Some(at) = parts.parts.iter().position(|part| part.id() == id) else {
                    return Err(ReviewError::Moved(self.path.to_owned()));
                };
                // What is shown of it are other lines.
                if matches!(chosen, Chosen::Lines(..)) && states.get(at) == Some(&HunkState::Edited) {
                    return Err(self.refused("it was edited; decide it as a whole or edit it again"));
                }
                Ok(vec![chosen.clone()])
            }
            Selection::Pending { doubtful } => {
                let blame = doc::blame_of(self.history, self.pair, files)?;
                let authors = doc::authors(parts, self.history, self.pair, &blame);
                let mut out = Vec::new();
                for ((part, state), authors) in parts.parts.iter().zip(states).zip(authors) {
                    let doubt = authors.iter().any(|step| step.doubt);
                    if *state == HunkState::Pending && (*doubtful || !doubt) {
                        out.push(Chosen::Part(part.id()));
                    }
                }
                Ok(out)
            }
        }
    }

    fn look_for_conflict(&self, parts: &Parts, chosen: &[Chosen], files: &mut Contents) -> Result<(), ReviewError> {
        let blame = doc::blame_of(self.history, self.pair, files)?;
        let in_conflict = doc::conflicts(parts, self.history, self.pair, &blame, files)?;
        let chosen: HashSet<HunkId> = chosen.iter().map(Chosen::id).collect();
        let is_chosen = |at: &usize| parts.parts.get(*at).is_some_and(|part| chosen.contains(&part.id()));
        if in_conflict.iter().any(is_chosen) {
            return Err(ReviewError::Conflict { path: self.path.to_owned(), why: doc::CONFLICT.to_owned() });
        }
        Ok(())
    }

    fn reject(&self, parts: &Parts, chosen: &[Chosen], files: &mut Contents) -> Result<FileDecision, ReviewError> {
        let without = parts.without(files, chosen)?;
        let (disk, accepted) = (self.history.last(), self.history.accepted);
        let after = self.clean(&self.pair.new, &disk, &without, files)?;
        let then = files.joined(&self.pair.new, &accepted, &without)?.unwrap_or(accepted);
        Ok(self.file((disk, after), (accepted, then)))
    }

    fn accept(
        &self,
        parts: &Parts,
        states: &[HunkState],
        chosen: &[Chosen],
        files: &mut Contents,
    ) -> Result<FileDecision, ReviewError> {
        let with = parts.with(files, chosen)?;
        let (disk, accepted) = (self.history.last(), self.history.accepted);
        let then = self.clean(&self.pair.old, &accepted, &with, files)?;
        // What was rejected and is accepted now goes back to the disk.
        let back: Vec<Chosen> = parts
            .parts
            .iter()
            .zip(states)
            .filter(|(_, state)| **state == HunkState::Rejected)
            .filter_map(|(part, _)| chosen.iter().find(|c| matches!(c, Chosen::Part(id) if *id == part.id())).cloned())
            .collect();
        let mut after = disk;
        if !back.is_empty() {
            let with = parts.with(files, &back)?;
            after = self.clean(&self.pair.old, &disk, &with, files)?;
        }
        Ok(self.file((disk, after), (accepted, then)))
    }

    /// The person's lines instead of a hunk's.
    pub fn edit(&self, hunk: HunkId, text: &str, files: &mut Contents) -> Result<FileDecision, ReviewError> {
        let parts = Parts::of(files, &self.pair.old, &self.pair.new)?;
        let Some(part) = parts.part(hunk) else { return Err(ReviewError::Moved(self.path.to_owned())) };
        let (disk, accepted) = (self.history.last(), self.history.accepted);
        if doc::state_of(part, &parts, self.history, self.pair, files)? == HunkState::Edited
            && let Part::Lines(lines) = part
            && let [there] = &*doc::now(lines, self.history, self.pair, files)?
        {
            // In the place of what was put there.
            let (_, after) = Parts::of(files, &self.pair.old, &disk)?.edited(files, there.id, text)?;
            let then = self.clean(&disk, &accepted, &after, files)?;
            return Ok(FileDecision { by_hand: true, ..self.file((disk, after), (accepted, then)) });
        }
        let (was, is) = parts.edited(files, hunk, text)?;
        let after = self.clean(&self.pair.new, &disk, &is, files)?;
        let then = files.joined(&self.pair.old, &accepted, &was)?.unwrap_or(after);
        Ok(FileDecision { by_hand: true, ..self.file((disk, after), (accepted, then)) })
    }

    fn clean(&self, base: &State, ours: &State, theirs: &State, files: &mut Contents) -> Result<State, ReviewError> {
        match files.join(base, ours, theirs)? {
            Joined::Clean(state) => Ok(state),
            Joined::Conflict(why) => Err(ReviewError::Conflict { path: self.path.to_owned(), why }),
        }
    }

    fn file(&self, disk: (State, State), accepted: (State, State)) -> FileDecision {
        FileDecision { path: self.path.to_owned(), disk, accepted, by_hand: false }
    }

    fn refused(&self, why: &str) -> ReviewError {
        let path = crate::base::paths::display(self.path, &[], None);
        ReviewError::Refused(format!("{path}: {why}"))
    }
}
