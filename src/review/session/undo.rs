//! Decisions taken back and done again, and all of the agent's work since a turn.
//!
//! What is to be written is computed here and carried out in `apply`. Invariant: what somebody has changed since stays,
//! or the file is left alone.

use super::ReviewSession;
use super::apply::{Mode, Why};
use super::only_copies::For;
use crate::model::changes::{RewindOutcome, Rewound};
use crate::review::decide::hold::HeldWrite;
use crate::review::decide::rewind;
use crate::review::error::ReviewError;
use crate::review::history::file_history::FileHistory;
use crate::review::history::ledger::{ChangeRecord, DecisionKey, FileDecision};
use crate::review::protocol::Done;
use crate::review::state::State;

impl ReviewSession {
    pub(super) fn undo(&mut self) -> Result<Done, ReviewError> {
        if let Some(held) = self.held.iter_mut().rev().find(|h| h.is_touched()) {
            held.undo();
            self.rev += 1;
            return Ok(Done { words: "undone: a decision on a held write".to_owned(), ..Done::default() });
        }
        let nothing = || ReviewError::Refused("nothing to undo".to_owned());
        let act = self.undo_log.undoable().cloned().ok_or_else(nothing)?;
        let files = self.undo_log.all_files(act.id);
        self.flip(format!("undone: {}", act.words), act.id, &files)
    }

    pub(super) fn redo(&mut self) -> Result<Done, ReviewError> {
        if self.held.iter_mut().rev().any(HeldWrite::redo) {
            self.rev += 1;
            return Ok(Done { words: "done again: a decision on a held write".to_owned(), ..Done::default() });
        }
        let nothing = || ReviewError::Refused("nothing to do again".to_owned());
        let act = self.undo_log.redoable().cloned().ok_or_else(nothing)?;
        let mut files = self.undo_log.all_files(act.id);
        for file in &mut files {
            std::mem::swap(&mut file.disk.0, &mut file.disk.1);
            std::mem::swap(&mut file.accepted.0, &mut file.accepted.1);
        }
        self.flip(format!("done again: {}", act.words), act.id, &files)
    }

    /// Takes back what was done of a decision, with whatever has been changed since; where that cannot be, the file is
    /// left alone.
    fn flip(&mut self, words: String, act: u64, done: &[FileDecision]) -> Result<Done, ReviewError> {
        let (mut out, mut left) = (Vec::new(), Vec::new());
        for file in done {
            let Some(history) = self.histories.get(&file.path) else { continue };
            let (disk, accepted) = (history.last(), history.accepted);
            let conflict = |why: &str| ReviewError::Conflict { path: file.path.clone(), why: why.to_owned() };
            let Some(back) = self.files.joined(&file.disk.1, &disk, &file.disk.0)? else {
                left.push(conflict("these lines were changed since").to_string());
                continue;
            };
            if rewind::is_mode_of_three(&file.disk.1, &disk, &file.disk.0) {
                left.push(conflict(rewind::MODE_OF_BOTH).to_string());
            }
            let then = self.files.joined(&file.accepted.1, &accepted, &file.accepted.0)?.unwrap_or(file.accepted.0);
            out.push(FileDecision {
                path: file.path.clone(),
                disk: (disk, back),
                accepted: (accepted, then),
                by_hand: false,
            });
        }
        let first = self.undo_log.first_part(act);
        self.carry_out(words, Why::Toggles(act), For::Toggle(done, first), out, left)
    }

    pub(super) fn rewind(&mut self, turn: u64, mode: Mode) -> Result<Done, ReviewError> {
        let (mut files, mut rewound) = (Vec::new(), Vec::new());
        for (path, history) in &self.histories {
            let disk = history.last();
            let is_of_it = |s: &ChangeRecord| s.is_agents() && s.turn >= turn;
            if let Some(source) = self.files.snapshot.unread(path)
                && history.steps.iter().any(is_of_it)
            {
                let remark = Some(ReviewError::Unread { path: path.clone(), source }.why());
                rewound.push((Rewound { path: path.clone(), outcome: RewindOutcome::Failed, remark }, None));
                continue;
            }
            let rewind = rewind::rewind(history, &disk, |t| t >= turn, &mut self.files)?;
            let outcome = match &rewind {
                None if history.has_doubtful(turn) => RewindOutcome::Doubtful,
                None => continue,
                Some(rewind) => rewind.outcome,
            };
            let to = rewind.and_then(|rewind| rewind.to);
            if let Some((to, accepted)) = to {
                let accepted = (history.accepted, accepted);
                files.push(FileDecision { path: path.clone(), disk: (disk, to), accepted, by_hand: false });
            }
            let by_both = outcome == RewindOutcome::Conflict && rewind::is_mode_of_both(history, &disk, |t| t >= turn);
            let stays = mode == Mode::Preview && to.is_some() && self.files.snapshot.peeks().is_only(path);
            let remark = match (by_both, stays) {
                (true, _) => Some(rewind::MODE_OF_BOTH.to_owned()),
                (_, true) => Some("what is there now stays beside it".to_owned()),
                _ => None,
            };
            rewound.push((Rewound { path: path.clone(), outcome, remark }, to.map(|(to, _)| to)));
        }
        let only = self.only_copies(&files, For::Rewind(turn));
        files.retain(|file| !only.contains_key(&file.path));
        for (one, to) in &mut rewound {
            if let Some(why) = only.get(&one.path) {
                (one.outcome, one.remark, *to) = (RewindOutcome::Failed, Some(why.clone()), None);
            }
        }
        self.look_at_root(&files)?;
        let mut done = Done::default();
        if mode == Mode::Apply {
            done = match self.carry_out_all(
                rewound_words(turn),
                Why::Asked(Some(DecisionKey::Rewind { turn })),
                files,
                Vec::new(),
            ) {
                Err(ReviewError::Refused(words)) => Done { words, ..Done::default() },
                done => done?,
            };
            let is_missing = |(one, to): &(Rewound, Option<State>)| {
                let is = self.histories.get(&one.path).map(FileHistory::last);
                to.is_some() && is != *to
            };
            if done.stopped.is_some() {
                // It is still to be done.
                rewound.retain(|one| !is_missing(one));
            }
            for one in &mut rewound {
                if is_missing(one) {
                    one.0.outcome = RewindOutcome::Failed;
                }
                let stays = self.histories.get(&one.0.path).is_some_and(|h| h.has_doubtful(turn));
                let in_part = one.1.is_some() && stays && one.0.outcome == RewindOutcome::Restored;
                let in_part = in_part.then(|| "but for what nobody accounted for".to_owned());
                one.0.remark = one.0.remark.take().or_else(|| self.writing.remark(&one.0.path)).or(in_part);
            }
        }
        Ok(Done { rewound: rewound.into_iter().map(|(one, _)| one).collect(), ..done })
    }
}

fn rewound_words(turn: u64) -> String {
    if turn == 0 { "rewound to before the session".to_owned() } else { format!("rewound to before turn {turn}") }
}
