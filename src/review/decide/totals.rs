//! How much was changed and how much is to be decided, in numbers.
//!
//! Reads contents, changes nothing. Invariant: a file is counted anew only when its history has changed.

use super::doc;
use super::parts::Parts;
use crate::model::changes::{HunkState, Scope, Totals};
use crate::review::error::ReviewError;
use crate::review::history::change_log::ChangeLog;
use crate::review::history::contents::Contents;
use crate::review::history::file_history::{FileHistory, Pair, carry};
use crate::review::state::State;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Sums of files, with how long their histories were and what was accepted of them.
#[derive(Default)]
pub struct TotalsCache {
    sums: HashMap<PathBuf, (usize, State, Totals)>,
    /// What the log had forgotten by then.
    forgotten: u64,
}

impl TotalsCache {
    /// Sums of the whole session, against what was there before the agent; what is pending, against the last accepted
    /// state.
    pub fn totals(&mut self, log: &ChangeLog, files: &mut Contents) -> Result<Totals, ReviewError> {
        if self.forgotten != log.forgotten() {
            (self.sums, self.forgotten) = (HashMap::new(), log.forgotten());
        }
        let mut sum = Totals::default();
        for (path, history) in log.histories() {
            let one = self.of_file(path, history, files)?;
            sum.added += one.added;
            sum.removed += one.removed;
            sum.files += one.files;
            sum.pending += one.pending;
        }
        Ok(sum)
    }

    fn of_file(&mut self, path: &Path, history: &FileHistory, files: &mut Contents) -> Result<Totals, ReviewError> {
        if let Some((steps, accepted, sums)) = self.sums.get(path)
            && *steps == history.steps.len()
            && *accepted == history.accepted
        {
            return Ok(*sums);
        }
        let mut sums = Totals::default();
        if let Some(pair) = history.pair(Scope::Session, files)? {
            let mut old = pair.old;
            // What the person did after the agent is not the agent's.
            let later = history.steps.get(pair.upto..).unwrap_or_default();
            for step in later.iter().filter(|s| s.cause.is_persons() && !s.decided) {
                old = carry(files, &step.before, &old, &step.after)?;
            }
            if old != history.last() {
                let parts = Parts::of(files, &old, &history.last())?;
                (sums.added, sums.removed, sums.files) = (doc::added(&parts), doc::removed(&parts), 1);
            }
        }
        if let Some(pair) = history.pair(Scope::Pending, files)? {
            sums.pending = Parts::of(files, &pair.old, &pair.new)?.parts.len() as u64;
        }
        self.sums.insert(path.to_owned(), (history.steps.len(), history.accepted, sums));
        Ok(sums)
    }
}

/// Sums of one scope, counted anew.
pub fn totals_of(scope: Scope, log: &ChangeLog, files: &mut Contents) -> Result<Totals, ReviewError> {
    Ok(sums(log, files, |history, files| history.pair(scope, files))?.0)
}

/// The same of what was changed in these turns, and in which files.
pub fn totals_where(
    turns: impl Fn(u64) -> bool,
    log: &ChangeLog,
    files: &mut Contents,
) -> Result<(Totals, Vec<PathBuf>), ReviewError> {
    sums(log, files, |history, files| Ok(history.fold(files, &turns)?.filter(|pair| pair.old != pair.new)))
}

fn sums(
    log: &ChangeLog,
    files: &mut Contents,
    pair: impl Fn(&FileHistory, &mut Contents) -> Result<Option<Pair>, ReviewError>,
) -> Result<(Totals, Vec<PathBuf>), ReviewError> {
    let (mut sum, mut paths) = (Totals::default(), Vec::new());
    for (path, history) in log.histories() {
        let Some(pair) = pair(history, files)? else { continue };
        let parts = Parts::of(files, &pair.old, &pair.new)?;
        sum.files += 1;
        sum.added += doc::added(&parts);
        sum.removed += doc::removed(&parts);
        for part in &parts.parts {
            let state = doc::state_of(part, &parts, history, &pair, files)?;
            sum.pending += u64::from(state == HunkState::Pending);
        }
        paths.push(path.clone());
    }
    Ok((sum, paths))
}
