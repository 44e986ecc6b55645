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
    let mut stay: HashSet<PathBuf> = words.keys().chain(of_git_all).cloned().collect();
    words.extend(copies(files, &mut stay, why, log).0);
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

/// Files that hold contents of which some are nowhere else, by what they hold.
#[derive(Default)]
struct Holders<'a> {
    /// Those that a decision writes or takes away, and that it does not leave what they have.
    going: HashMap<Oid, Vec<&'a Path>>,
    /// Those of them that were gone in between: nothing else has what was in it before.
    came_back: HashSet<&'a Path>,
    /// What a decision has put there, as it was before and as it will be again.
    placed: HashSet<&'a Path>,
    /// Files that are gone and had it, and those of them that were there when the decision was made; of each two, since no
    /// file is its own copy.
    lost: HashMap<Oid, [Vec<&'a Path>; 2]>,
}

impl<'a> Holders<'a> {
    fn of(files: &'a [FileDecision], why: For<'a>, log: &'a ChangeLog) -> Self {
        let mut all = Self::default();
        for file in files.iter().filter(|file| !file.by_hand) {
            if let Some(oid) = content(&file.disk.0).filter(|oid| file.disk.1.oid() != Some(*oid)) {
                all.going.entry(oid).or_default().push(&file.path);
            }
        }
        if all.going.is_empty() {
            return all;
        }
        let (done, act) = if let For::Toggle(done, act) = why { (done, act) } else { (&[][..], 0) };
        let put: HashMap<&Path, Oid> = done.iter().filter_map(|f| Some((&*f.path, content(&f.disk.1)?))).collect();
        let from = if let For::Rewind(turn) = why { Some(turn) } else { None };
        for file in files.iter().filter(|file| !file.by_hand) {
            let Some(oid) = content(&file.disk.0) else { continue };
            let is_placed = put.get(&*file.path) == Some(&oid);
            all.placed.extend(is_placed.then_some(&*file.path));
            let history = log.history(&file.path).filter(|_| file.disk.1.is_absent() && !is_placed);
            if history.is_some_and(|history| earlier_losses(history, from).contains(&oid)) {
                all.came_back.insert(&file.path);
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
            for oid in lost.into_iter().filter(|oid| all.going.contains_key(oid)) {
                let [any, later] = all.lost.entry(oid).or_default();
                // What a decision has put there was as gone before it as it will be.
                let is_older = log.order().is_older(path, act);
                for list in std::iter::once(any).chain((!is_older).then_some(later)) {
                    if list.len() < 2 && !list.contains(&path.as_path()) {
                        list.push(path);
                    }
                }
            }
        }
        all
    }

    /// Those that hold this content, which is nowhere else, and why they stay, in words.
    fn of_only(&self, oid: Oid) -> impl Iterator<Item = (&'a Path, String)> {
        self.going.get(&oid).into_iter().flatten().filter_map(move |path| {
            if self.came_back.contains(path) {
                return Some((*path, "nothing else has what was in it before".to_owned()));
            }
            let [any, later] = self.lost.get(&oid)?;
            let gone = if self.placed.contains(path) { later } else { any };
            let gone = gone.iter().find(|gone| *gone != path)?;
            Some((*path, format!("it has what was in {}, which stays gone", visible(gone.as_os_str()))))
        })
    }
}

/// Those of the files that hold the content of a file which is gone and does not come back with the decision, as nothing
/// else will, and why, in words; they come to those that `stay` anyway. And how many contents were looked at for that.
fn copies(
    files: &[FileDecision],
    stay: &mut HashSet<PathBuf>,
    why: For<'_>,
    log: &ChangeLog,
) -> (BTreeMap<PathBuf, String>, usize) {
    let (mut out, mut looked) = (BTreeMap::new(), 0);
    let holders = Holders::of(files, why, log);
    let mut open: Vec<Oid> = holders.going.keys().copied().collect();
    if open.is_empty() {
        return (out, looked);
    }
    let mut kept = kept(files, stay, log);
    let decisions: HashMap<&Path, &FileDecision> = files.iter().map(|file| (&*file.path, file)).collect();
    // What stays does not get what it was to have: the only copy of that may be another file, which then stays, too.
    while !open.is_empty() {
        looked += open.len();
        let mut more: Vec<&FileDecision> = Vec::new();
        for oid in open.drain(..).filter(|oid| !kept.contains_key(oid)) {
            for (path, words) in holders.of_only(oid) {
                more.extend(stay.insert(path.to_owned()).then(|| decisions.get(path)).flatten().copied());
                out.insert(path.to_owned(), words);
            }
        }
        for file in more {
            if let Some(oid) = content(&file.disk.0) {
                *kept.entry(oid).or_default() += 1;
            }
            let Some(oid) = content(&file.disk.1) else { continue };
            if let Some(count) = kept.get_mut(&oid) {
                *count -= 1;
                if *count == 0 {
                    kept.remove(&oid);
                    open.push(oid);
                }
            }
        }
    }
    (out, looked)
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

/// The contents that files have when those are written, but for what stays, and how many files each.
fn kept(files: &[FileDecision], stay: &HashSet<PathBuf>, log: &ChangeLog) -> HashMap<Oid, usize> {
    let written: HashSet<&Path> = files.iter().map(|file| &*file.path).collect();
    let others = log.histories().iter().filter(|(path, _)| !written.contains(path.as_path()));
    let others = others.filter_map(|(_, history)| content(&history.last()));
    let to_be = |file: &FileDecision| content(if stay.contains(&file.path) { &file.disk.0 } else { &file.disk.1 });
    let mut kept = HashMap::new();
    for oid in files.iter().filter_map(to_be).chain(others) {
        *kept.entry(oid).or_default() += 1;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::changes::Cause;
    use crate::review::history::ledger::{Ledger, Record};

    /// Each file is to get what the next one has, and of all of it another copy is gone: when the first stays, all do.
    #[test]
    fn of_files_that_stay_one_because_of_the_other_each_is_looked_at_once() {
        const FILES: usize = 5000;
        let temp = tempfile::tempdir().unwrap();
        let mut log = ChangeLog::new(Ledger::create(&temp.path().join("ledger")).unwrap());
        let state = |at: usize| {
            let mut bytes = [0; 20];
            bytes[..8].copy_from_slice(&(at as u64 + 1).to_le_bytes());
            State::File { oid: Oid(bytes), mode: 0o644, size: 1 }
        };
        let record = |path: PathBuf, before, after| {
            let step = ChangeRecord::new(1, Cause::Command, None, before, after);
            Record::Step { path, step, accepted: before, run: None }
        };
        let file = |at: usize| PathBuf::from(format!("file-{at}"));
        let gone = (0..FILES).map(|at| record(format!("gone-{at}").into(), state(at), State::Absent));
        let taken = (0..FILES).map(|at| record(file(at), state(at + 1), state(at)));
        log.replay(gone.chain(taken).collect(), |_| false);
        let decision = |at: usize| FileDecision {
            path: file(at),
            disk: (state(at), state(at + 1)),
            accepted: (state(at), state(at + 1)),
            by_hand: false,
        };
        let files: Vec<FileDecision> = (0..FILES).map(decision).collect();
        let mut stay = HashSet::new();
        let (words, looked) = copies(&files, &mut stay, For::Decision, &log);
        assert_eq!((words.len(), stay.len()), (FILES, FILES));
        assert_eq!(words[&file(7)], "it has what was in gone-7, which stays gone");
        assert!(looked <= 2 * FILES + 1, "{looked}");
    }
}
