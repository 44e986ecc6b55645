//! How much was changed and how much is to be decided, in numbers.
//!
//! Reads contents, changes nothing. Invariant: a file is counted anew only when its history has changed.

use super::doc;
use super::parts::Parts;
use crate::model::changes::{FileTotals, HunkState, Scope, Totals};
use crate::review::error::ReviewError;
use crate::review::history::change_log::ChangeLog;
use crate::review::history::contents::Contents;
use crate::review::history::file_history::{FileHistory, Pair, Version, carry};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Sums of files, with what their histories were then.
type Sums = HashMap<PathBuf, (Version, Totals)>;

/// Sums of the whole session, and of the parts that others have in it.
#[derive(Default)]
pub struct TotalsCache {
    sums: Sums,
    /// By their ids.
    parts: HashMap<String, Sums>,
    /// As of when turns had these owners.
    as_of: (usize, Option<u64>),
    /// What the log had forgotten by then.
    forgotten: u64,
}

impl TotalsCache {
    /// Sums of the whole session, against what was there before the agent; what is pending, against the last accepted
    /// state.
    pub fn totals(&mut self, log: &ChangeLog, files: &mut Contents) -> Result<Totals, ReviewError> {
        self.forget(log);
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

    /// Sums of what was changed in the turns of one session of several. `as_of` is another one when turns have other
    /// owners.
    pub fn of_session(
        &mut self,
        (id, as_of): (&str, (usize, Option<u64>)),
        turns: impl Fn(u64) -> bool,
        log: &ChangeLog,
        files: &mut Contents,
    ) -> Result<Totals, ReviewError> {
        self.forget(log);
        if self.as_of != as_of {
            (self.parts, self.as_of) = (HashMap::new(), as_of);
        }
        let known = self.parts.entry(id.to_owned()).or_default();
        let mut sum = Totals::default();
        for (path, history) in log.histories() {
            let of_now = |(version, _): &&(Version, Totals)| *version == history.version();
            let mut one = Totals::default();
            if let Some((_, known)) = known.get(path).filter(of_now) {
                one = *known;
            } else if let Some(pair) = changed_in(&turns, history, files)? {
                add(&mut one, history, &pair, files)?;
                known.insert(path.to_owned(), (history.version(), one));
            } else {
                // Of a file that others have changed nothing is kept.
                known.remove(path);
            }
            sum.added += one.added;
            sum.removed += one.removed;
            sum.files += one.files;
            sum.pending += one.pending;
        }
        Ok(sum)
    }

    /// Of the files that were counted, so many of the newest turns, of each turn those of the newest calls first.
    pub fn newest(&self, count: usize, log: &ChangeLog) -> Vec<FileTotals> {
        let counted = log.histories().iter().filter_map(|(path, history)| {
            let (_, sums) = self.sums.get(path).filter(|(_, sums)| sums.files > 0)?;
            let own = || history.steps.iter().filter(|step| !step.cause.is_persons());
            let place = own().next_back().map(|step| (step.turn, step.entry));
            let is_new = own().next().is_some_and(|step| step.before.is_absent());
            let path_of = path.to_string_lossy().into_owned();
            let (added, removed, is_gone) = (sums.added, sums.removed, history.last().is_absent());
            Some((Reverse(place), path, FileTotals { path: path_of, added, removed, is_new, is_gone }))
        });
        let mut files: Vec<(Reverse<_>, &PathBuf, FileTotals)> = counted.collect();
        if files.len() > count {
            files.select_nth_unstable_by_key(count, |(place, path, _)| (*place, *path));
            files.truncate(count);
        }
        files.sort_unstable_by_key(|(place, path, _)| (*place, *path));
        files.into_iter().map(|(.., file)| file).collect()
    }

    fn forget(&mut self, log: &ChangeLog) {
        if self.forgotten != log.forgotten() {
            *self = Self { forgotten: log.forgotten(), ..Self::default() };
        }
    }

    fn of_file(&mut self, path: &Path, history: &FileHistory, files: &mut Contents) -> Result<Totals, ReviewError> {
        if let Some((version, sums)) = self.sums.get(path)
            && *version == history.version()
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
        self.sums.insert(path.to_owned(), (history.version(), sums));
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
    sums(log, files, |history, files| changed_in(&turns, history, files))
}

fn changed_in(
    turns: impl Fn(u64) -> bool,
    history: &FileHistory,
    files: &mut Contents,
) -> Result<Option<Pair>, ReviewError> {
    Ok(history.fold(files, turns)?.filter(|pair| pair.old != pair.new))
}

fn sums(
    log: &ChangeLog,
    files: &mut Contents,
    pair: impl Fn(&FileHistory, &mut Contents) -> Result<Option<Pair>, ReviewError>,
) -> Result<(Totals, Vec<PathBuf>), ReviewError> {
    let (mut sum, mut paths) = (Totals::default(), Vec::new());
    for (path, history) in log.histories() {
        let Some(pair) = pair(history, files)? else { continue };
        add(&mut sum, history, &pair, files)?;
        paths.push(path.clone());
    }
    Ok((sum, paths))
}

/// Adds what one file has been changed by, and how much of that is to be decided.
pub fn add(sum: &mut Totals, history: &FileHistory, pair: &Pair, files: &mut Contents) -> Result<(), ReviewError> {
    let parts = Parts::of(files, &pair.old, &pair.new)?;
    sum.files += 1;
    sum.added += doc::added(&parts);
    sum.removed += doc::removed(&parts);
    for part in &parts.parts {
        let state = doc::state_of(part, &parts, history, pair, files)?;
        sum.pending += u64::from(state == HunkState::Pending);
    }
    Ok(())
}
