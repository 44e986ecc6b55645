//! Files that a decision leaves where they are, since what is in them would be nowhere else.
//!
//! Computes, writes nothing. Invariants: no decision takes away or writes over a content that was at a path which is
//! absent and stays so, or would be, but for the person's own text and what they force, and for what an earlier decision
//! has put there when that path was gone already; nor one that was noted where git ignores it, and is nowhere else. And
//! none takes a repository apart: files that are git's by their form stay, and once git has lost something, so do
//! archives, in which it may be; but for what the person forces, and for what an index named at the first look.

use crate::base::human;
use crate::base::paths::visible;
use crate::review::history::change_log::ChangeLog;
use crate::review::history::contents::Contents;
use crate::review::history::file_history::FileHistory;
use crate::review::history::ignored_copies::IgnoredCopies;
use crate::review::history::ledger::{ChangeRecord, FileDecision};
use crate::review::state::{Going, OfGit, Oid, State, content};
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Repositories, and files that may have lost history, that are named.
const NAMED: usize = 50;

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
    /// Why, in words: of a repository once for all files in it.
    pub words: Vec<(PathBuf, String)>,
}

impl Left {
    pub fn has(&self, path: &Path) -> bool {
        self.files.contains(path)
    }
}

/// Those of the files of a decision that are left alone.
///
/// `alone` are files that are left alone anyway: of those that are git's their repository is named instead.
pub fn only_copies(
    files: &[FileDecision],
    alone: &[&Path],
    why: For<'_>,
    log: &ChangeLog,
    contents: &Contents,
) -> Left {
    let to_be = files.iter().map(|file| (&*file.path, file.disk.1));
    let mut words = IgnoredCopies::new(to_be, log, &contents.snapshot).among(files);
    let of_git = of_git(files, log, contents);
    let of_git_all = of_git.parts.values().flatten().chain(&of_git.copies).chain(&of_git.alike);
    // What is left alone does not get what it was to have: that may be the only copy of something, too.
    let mut stay: HashSet<PathBuf> = words.keys().chain(of_git_all).cloned().collect();
    loop {
        let only = copies(files, &stay, why, log);
        let more = only.keys().filter(|path| stay.insert((*path).clone())).count();
        words.extend(only);
        if more == 0 {
            break;
        }
    }
    let OfGit { mut parts, changed, mut run, copies, alike } = of_git;
    let others = alone.iter().map(|path| Going { path, is_there: (true, false), stays: true });
    let others = contents.snapshot.of_git(others, std::iter::empty(), |path| has_come(log, path));
    for (dir, files) in others.parts {
        parts.entry(dir).or_default().extend(files);
    }
    run.extend(others.run);
    let all = words.keys().chain(parts.values().flatten()).chain(&copies).chain(&alike);
    let files = all.cloned().collect();
    // What was there before and is left otherwise is named however many others there are.
    let (dirs, mut come): (Vec<_>, Vec<_>) =
        parts.into_iter().partition(|(_, parts)| parts.iter().any(|path| changed.contains(path)));
    come.sort_by_key(|(dir, _)| !run.contains(dir));
    let more_dirs = come.len().saturating_sub(NAMED);
    let more_copies = copies.len().saturating_sub(NAMED) + alike.len().saturating_sub(NAMED);
    for (dir, parts) in dirs.into_iter().chain(come.into_iter().take(NAMED)) {
        let why = if parts.contains(&dir) {
            "it is a history of git's in one file: keep or remove it by hand".to_owned()
        } else {
            let count = human::count(parts.len() as u64, "file");
            let runs = if run.contains(&dir) { "; git there runs what its config and hooks say" } else { "" };
            let left = parts.iter().filter(|path| changed.contains(*path));
            let left: Vec<String> =
                left.map(|path| visible(path.strip_prefix(&dir).unwrap_or(path).as_os_str())).collect();
            let left =
                if left.is_empty() { String::new() } else { format!("; changed and left so: {}", left.join(", ")) };
            format!(
                "it is a git repository or a part of one, and what is git's in it stays ({count}{left}): keep or remove it by hand{runs}"
            )
        };
        words.insert(if dir.as_os_str().is_empty() { ".".into() } else { dir }, why);
    }
    for file in copies.into_iter().take(NAMED) {
        words.insert(file, "a repository has lost something, and it may be in this archive".to_owned());
    }
    for file in alike.into_iter().take(NAMED) {
        words.insert(file, "a repository has lost something, and this may be a copy of it".to_owned());
    }
    let mut words: Vec<(PathBuf, String)> = words.into_iter().collect();
    if more_dirs > 0 {
        words.push((
            ".".into(),
            format!("{} or parts of them stay, too", human::count(more_dirs as u64, "more git repository")),
        ));
    }
    if more_copies > 0 {
        words.push((".".into(), format!("{} stay, too", human::count(more_copies as u64, "more such file"))));
    }
    Left { files, words }
}

/// Files that a decision would change and that are git's, or may have what git has lost.
fn of_git(files: &[FileDecision], log: &ChangeLog, contents: &Contents) -> OfGit {
    let going = files.iter().filter(|file| !file.by_hand && file.disk.0 != file.disk.1);
    let is_there = |file: &FileDecision| (!file.disk.0.is_absent(), !file.disk.1.is_absent());
    let going = going.map(|file| Going { path: &file.path, is_there: is_there(file), stays: false });
    let comes: HashSet<&Path> = files.iter().filter(|f| !f.disk.1.is_absent()).map(|f| &*f.path).collect();
    contents.snapshot.of_git(going, gone(log).filter(|path| !comes.contains(path)), |path| has_come(log, path))
}

/// What of the agent's an undo would leave alone since it is git's or may have what git has lost.
pub fn left_of_git(log: &ChangeLog, contents: &Contents) -> OfGit {
    let is_new = |history: &FileHistory| {
        let first = history.steps.iter().find(|step| step.is_agents());
        !history.last().is_absent() && first.is_some_and(|step| step.before != history.last())
    };
    let new = log.histories().iter().filter(|(_, history)| is_new(history));
    let was_there = |history: &FileHistory| history.steps.first().is_some_and(|step| !step.before.is_absent());
    let new = new.map(|(path, history)| Going { path, is_there: (true, was_there(history)), stays: false });
    let stays_gone = |path: &&Path| log.history(path).is_some_and(is_unkept);
    contents.snapshot.of_git(new, gone(log).filter(stays_gone), |path| has_come(log, path))
}

/// Whether a file came in the session.
fn has_come(log: &ChangeLog, path: &Path) -> bool {
    log.history(path).is_some_and(|history| history.steps.first().is_some_and(|step| step.before.is_absent()))
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

/// Those of the files that hold the content of a file which is gone and does not come back with the decision, as nothing
/// else will, and why, in words. `stay` are left alone anyway.
fn copies(files: &[FileDecision], stay: &HashSet<PathBuf>, why: For<'_>, log: &ChangeLog) -> BTreeMap<PathBuf, String> {
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
    let kept = LazyCell::new(|| kept(files, stay, log));
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
            let Some(going) = going.get(&oid).filter(|_| !kept.contains(&oid)) else { continue };
            let is_other = |only: &&&Path| **only != path.as_path() && !is_placed(only, oid, path);
            for only in going.iter().filter(is_other) {
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

/// The contents that files have when those are written, but for what stays.
fn kept(files: &[FileDecision], stay: &HashSet<PathBuf>, log: &ChangeLog) -> HashSet<Oid> {
    let written: HashSet<&Path> = files.iter().map(|file| &*file.path).collect();
    let others = log.histories().iter().filter(|(path, _)| !written.contains(path.as_path()));
    let others = others.filter_map(|(_, history)| content(&history.last()));
    let to_be = |file: &FileDecision| content(if stay.contains(&file.path) { &file.disk.0 } else { &file.disk.1 });
    files.iter().filter_map(to_be).chain(others).collect()
}
