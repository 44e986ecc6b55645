//! Files that may be the only copy of what git ignored, or of what nobody could read at first: nothing else has kept it.
//!
//! Computes, writes nothing. Invariant: what a file holds is called such a copy as long as no file has it that stays.

use crate::base::paths::visible;
use crate::review::history::change_log::ChangeLog;
use crate::review::history::file_history::FileHistory;
use crate::review::history::ledger::{ChangeRecord, FileDecision};
use crate::review::snapshot::Snapshot;
use crate::review::snapshot::closed::Opened;
use crate::review::snapshot::coverage::directory;
use crate::review::snapshot::fingerprints::Fingerprints;
use crate::review::state::{Oid, State, content};
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// What is asked about the files of one decision.
pub struct IgnoredCopies<'a> {
    prints: OnceCell<Fingerprints>,
    snapshot: &'a Snapshot,
    log: &'a ChangeLog,
    /// What the files are to be.
    to_be: HashMap<&'a Path, State>,
    /// The contents that files of the record have then.
    stays: OnceCell<HashSet<Oid>>,
    /// What was ignored and is gone.
    gone: OnceCell<Vec<PathBuf>>,
    /// Directories that could not be read at first.
    opened: OnceCell<Vec<Opened>>,
}

impl<'a> IgnoredCopies<'a> {
    pub fn new(files: impl Iterator<Item = (&'a Path, State)>, log: &'a ChangeLog, snapshot: &'a Snapshot) -> Self {
        let (prints, stays, gone, opened) = (OnceCell::new(), OnceCell::new(), OnceCell::new(), OnceCell::new());
        Self { prints, snapshot, log, to_be: files.collect(), stays, gone, opened }
    }

    fn prints(&self) -> &Fingerprints {
        self.prints.get_or_init(|| self.snapshot.fingerprints())
    }

    /// Those of the files that are to be left, and why, in words.
    pub fn among(&self, files: &[FileDecision]) -> BTreeMap<PathBuf, String> {
        // What is moved over something gets a name beside it.
        let stays_beside = |file: &FileDecision| self.snapshot.peeks().is_only(&file.path);
        let going = files.iter().filter(|file| !file.by_hand && file.disk.0.oid() != file.disk.1.oid());
        let going = going.filter(|file| !stays_beside(file));
        going.filter_map(|file| Some((file.path.clone(), self.why(&file.path, &file.disk.0)?))).collect()
    }

    /// Why that file is to be left, in words, if what it is to be is something else.
    pub fn why(&self, path: &Path, is: &State) -> Option<String> {
        let goes = |path: &Path| self.to_be.contains_key(path);
        let stays = || self.stays.get_or_init(|| self.stay());
        let is_kept = |oid: Oid| stays().contains(&oid) || self.snapshot.has_beside(oid, &goes);
        let lost_with = |is: &State| {
            let is_kept = || is.oid().is_some_and(is_kept);
            self.prints().lost_with(path, is, &goes).filter(|_| !is_kept())
        };
        let is_removed = self.to_be.get(path).is_some_and(State::is_absent);
        // What began as a copy may have been changed since.
        let earlier = self.log.history(path).filter(|_| is_removed).into_iter();
        let earlier = earlier.flat_map(|history| history.steps.iter().rev().map(|step| &step.after));
        if let Some(lost) = std::iter::once(is).chain(earlier).find_map(lost_with) {
            let lost = visible(lost.as_os_str());
            return Some(format!("it may be the only copy of what was in {lost}, which git ignored"));
        }
        if !is_removed {
            return None;
        }
        if let Some(lost) = self.in_archive(path) {
            return Some(format!("it may have the only copy of {lost}, which git ignored, in it"));
        }
        let dir = self.closed_before(path, is).filter(|_| !is.oid().is_some_and(is_kept))?;
        Some(format!("it may be the only copy of what was in {dir} that could not be read when the session began"))
    }

    /// The directory that nobody could read at first of which a file may be that has come, or was changed, since somebody
    /// could.
    fn closed_before(&self, path: &Path, is: &State) -> Option<String> {
        if matches!(is, State::Absent | State::File { size: 0, .. }) {
            return None;
        }
        let opened = self.opened.get_or_init(|| self.snapshot.opened_since());
        let mut after = opened.iter().filter(|opened| self.snapshot.may_be_out_of(path, opened));
        let first = after.next()?;
        Some(directory(&first.dir) + if after.next().is_some() { " or other directories" } else { "" })
    }

    /// The contents that files of the record have when the decision is carried out.
    fn stay(&self) -> HashSet<Oid> {
        let others = self.log.histories().iter().filter(|(path, _)| !self.to_be.contains_key(path.as_path()));
        let others = others.filter_map(|(_, history)| content(&history.last()));
        self.to_be.values().filter_map(content).chain(others).collect()
    }

    /// What is gone and may be in the archive that is there.
    fn in_archive(&self, path: &Path) -> Option<String> {
        let gone = self.gone.get_or_init(|| self.prints().gone(&|path| self.log.had_content(path)));
        let first = visible(self.prints().in_archive(path, gone)?.as_os_str());
        Some(if gone.len() > 1 { format!("{first} or other files") } else { first })
    }
}

const fn is_unkept(state: &State) -> bool {
    matches!(state, State::Unkept { .. })
}

/// What of the agent's an undo would leave alone as such a copy, and why, in words.
pub fn left_of_ignored(log: &ChangeLog, snapshot: &Snapshot) -> BTreeMap<PathBuf, String> {
    let goes = |history: &FileHistory| {
        let is_agents = |step: &&ChangeRecord| step.is_agents() || step.doubt && step.before.is_absent();
        let first = history.steps.iter().find(is_agents)?;
        (first.before != history.last() && !history.last().is_absent() || !first.before.is_absent())
            .then_some(first.before)
    };
    let going = log.histories().iter().filter_map(|(path, history)| Some((path.as_path(), goes(history)?)));
    let copies = IgnoredCopies::new(going, log, snapshot);
    let files = copies.to_be.keys().filter_map(|path| Some((*path, log.last(path)?)));
    let is_same = |one: &State, other: &State| one == other || one.oid().is_some() && one.oid() == other.oid();
    let stays_beside = |path: &Path, to_be: &State| !is_unkept(to_be) && snapshot.peeks().is_only(path);
    let is_going = |path: &Path, is: &State| {
        copies.to_be.get(path).is_some_and(|to_be| !is_same(to_be, is) && !stays_beside(path, to_be))
    };
    let files = files.filter(|(path, is)| !is.is_absent() && is_going(path, is));
    files.filter_map(|(path, is)| Some((path.to_owned(), copies.why(path, &is)?))).collect()
}
