//! Files that a decision leaves where they are, since what is in them would be nowhere else.
//!
//! Computes, writes nothing. Invariants: no decision takes away or writes over a content that was at a path which is
//! absent and stays so, or would be, but for the person's own text and what they force, and for what an earlier decision
//! has put there when that path was gone already. And none takes away a new file that looks like git's once git has lost
//! something that it had at the first look: it may be the person's history.

use crate::base::human;
use crate::base::paths::visible;
use crate::review::history::change_log::ChangeLog;
use crate::review::history::contents::Contents;
use crate::review::history::file_history::FileHistory;
use crate::review::history::ledger::{ChangeRecord, FileDecision};
use crate::review::state::{Oid, State, content};
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Files of one directory that are named.
const NAMED: usize = 8;
const OF_GIT: &str = "looks like git's, and your repository has lost something: it may hold your history";

/// Why files are to be written.
#[derive(Clone, Copy)]
pub enum For<'a> {
    Decision,
    /// What the agent has put there since this turn is no loss.
    Rewind(u64),
    /// To take back what a decision did, or do it again: what was written, and the first part of it.
    Toggle(&'a [FileDecision], u64),
}

/// Files that a decision leaves alone.
#[derive(Default)]
pub struct Left {
    files: BTreeSet<PathBuf>,
    /// Why, in words: of many of git's only of the first and how many more there are in a directory.
    pub words: Vec<(PathBuf, String)>,
}

impl Left {
    pub fn has(&self, path: &Path) -> bool {
        self.files.contains(path)
    }
}

/// Those of the files of a decision that are left alone.
pub fn only_copies(files: &[FileDecision], why: For<'_>, log: &ChangeLog, contents: &Contents) -> Left {
    let mut words = copies(files, why, log);
    let mut left = Left { files: words.keys().cloned().collect(), ..Left::default() };
    let mut many: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for path in of_git(files, why, log, contents) {
        let top = path.components().next().filter(|_| path.components().count() > 1);
        let count = many.entry(top.map_or(".".into(), |top| top.as_os_str().into())).or_default();
        *count += 1;
        if left.files.insert(path.clone()) && *count <= NAMED {
            words.insert(path, format!("it {OF_GIT}"));
        }
    }
    left.words.extend(words);
    for (dir, count) in many.into_iter().filter(|(_, count)| *count > NAMED) {
        let more = human::count((count - NAMED) as u64, "more file");
        left.words.push((dir, format!("{more} in it: each {OF_GIT}")));
    }
    left
}

/// New files that a decision would take away and that may be git's.
fn of_git(files: &[FileDecision], why: For<'_>, log: &ChangeLog, contents: &Contents) -> BTreeSet<PathBuf> {
    // What a decision has put there may go again.
    let done = if let For::Toggle(done, _) = why { done } else { &[] };
    let is_placed = |file: &FileDecision| done.iter().any(|one| one.path == file.path && one.disk.1 == file.disk.0);
    let goes = |file: &&FileDecision| !file.by_hand && file.disk.1.is_absent() && !file.disk.0.is_absent();
    let going: Vec<&FileDecision> = files.iter().filter(goes).collect();
    let comes: HashSet<&Path> = files.iter().filter(|f| !f.disk.1.is_absent()).map(|f| &*f.path).collect();
    let found = contents
        .snapshot
        .history_in(going.iter().map(|file| &*file.path), gone(log).filter(|path| !comes.contains(path)));
    let is_left = |file: &&&FileDecision| found.contains(&file.path) && !is_placed(file);
    going.iter().filter(is_left).map(|file| file.path.clone()).collect()
}

/// New files that an undo would leave alone since they may be git's.
pub fn new_of_git(log: &ChangeLog, contents: &Contents) -> BTreeSet<PathBuf> {
    let is_new = |history: &FileHistory| {
        !history.last().is_absent() && history.steps.first().is_some_and(|step| step.before.is_absent())
    };
    let new = log.histories().iter().filter(|(_, history)| is_new(history)).map(|(path, _)| &**path);
    let stays_gone = |path: &&Path| log.history(path).is_some_and(is_unkept);
    contents.snapshot.history_in(new, gone(log).filter(stays_gone))
}

/// Files that were there at the first look and are not.
fn gone(log: &ChangeLog) -> impl Iterator<Item = &Path> {
    // One that has come since from where nobody looks has no size before that.
    let was_there = |history: &FileHistory| {
        let first = history.steps.first().map(|step| step.before);
        first.is_some_and(|first| !first.is_absent() && !matches!(first, State::Unkept { size: 0, .. }))
    };
    let gone = log.histories().iter().filter(move |(_, history)| history.last().is_absent() && was_there(history));
    gone.map(|(path, _)| &**path)
}

fn is_unkept(history: &FileHistory) -> bool {
    history.steps.first().is_some_and(|step| matches!(step.before, State::Unkept { .. }))
}

/// Those of the files that hold the content of a file which is gone and does not come back with the decision, and why, in
/// words.
fn copies(files: &[FileDecision], why: For<'_>, log: &ChangeLog) -> BTreeMap<PathBuf, String> {
    let mut going: HashMap<Oid, Vec<&Path>> = HashMap::new();
    for file in files.iter().filter(|file| !file.by_hand) {
        if let Some(oid) = content(&file.disk.0).filter(|oid| file.disk.1.oid() != Some(*oid)) {
            going.entry(oid).or_default().push(&file.path);
        }
    }
    let mut out = BTreeMap::new();
    if going.is_empty() {
        return out;
    }
    let kept = LazyCell::new(|| kept(files, log));
    // What a decision has put there was as gone before it as it will be.
    let (done, act) = if let For::Toggle(done, act) = why { (done, act) } else { (&[][..], 0) };
    let placed: HashMap<&Path, Oid> = done.iter().filter_map(|f| Some((&*f.path, content(&f.disk.1)?))).collect();
    let is_placed =
        |path: &Path, oid: Oid, gone: &Path| placed.get(path) == Some(&oid) && log.order().is_older(gone, act);
    let from = if let For::Rewind(turn) = why { Some(turn) } else { None };
    for file in files.iter().filter(|file| !file.by_hand && file.disk.1.is_absent()) {
        let (Some(oid), Some(history)) = (content(&file.disk.0), log.history(&file.path)) else { continue };
        let came_back = || earlier_losses(history, from).contains(&oid) && !kept.contains(&oid);
        if placed.get(&*file.path) != Some(&oid) && came_back() {
            out.insert(file.path.clone(), "nothing else has what was in it before".to_owned());
        }
    }
    let is_there: HashMap<&Path, bool> = files.iter().map(|f| (&*f.path, !f.disk.1.is_absent())).collect();
    for (path, history) in log.histories() {
        let lost = match is_there.get(path.as_path()) {
            Some(true) => continue,
            Some(false) if !history.last().is_absent() => earlier_losses(history, from),
            _ if !history.last().is_absent() => continue,
            _ => losses(history, from),
        };
        for oid in lost {
            let is_other = |only: &&&Path| **only != path.as_path() && !is_placed(only, oid, path);
            for only in going.get(&oid).into_iter().flatten().filter(is_other) {
                let words = || format!("it has what was in {}, which stays gone", visible(path.as_os_str()));
                out.entry(only.to_path_buf()).or_insert_with(words);
            }
        }
    }
    out
}

/// Contents that a file which is gone had, and not only by the agent.
fn losses(history: &FileHistory, from: Option<u64>) -> Vec<Oid> {
    let accepted = from.is_none().then_some(history.accepted);
    theirs(&history.steps, from).chain(accepted).filter_map(|state| content(&state)).collect()
}

/// The same that a file had before it was gone for the last time, and came back.
fn earlier_losses(history: &FileHistory, from: Option<u64>) -> Vec<Oid> {
    let again = history.steps.iter().rposition(|step| step.before.is_absent());
    let earlier = history.steps.get(..again.unwrap_or_default()).unwrap_or_default();
    theirs(earlier, from).filter_map(|state| content(&state)).collect()
}

/// What was there at first, and what was made of it, but for the agent's.
fn theirs(steps: &[ChangeRecord], from: Option<u64>) -> impl Iterator<Item = State> {
    let is_theirs = move |s: &&ChangeRecord| s.doubt || s.cause.is_persons() || from.is_some_and(|turn| s.turn < turn);
    let first = steps.first().map(|step| step.before);
    first.into_iter().chain(steps.iter().filter(is_theirs).map(|step| step.after))
}

/// The contents that files have when those are written.
fn kept(files: &[FileDecision], log: &ChangeLog) -> HashSet<Oid> {
    let written: HashSet<&Path> = files.iter().map(|file| &*file.path).collect();
    let others = log.histories().iter().filter(|(path, _)| !written.contains(path.as_path()));
    let others = others.filter_map(|(_, history)| content(&history.last()));
    files.iter().filter_map(|file| content(&file.disk.1)).chain(others).collect()
}
