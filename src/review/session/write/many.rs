//! Puts the files of a decision into their new states, many at a time.
//!
//! Each file is made durable by itself, which is waiting for the
//! most part, so that a few threads do it side by side. Invariants: each file is written as a whole or not at all, and
//! only when it still is what was decided about; what was moved goes from its new place only when it is at the old one; it
//! is stopped between two files, never in one.

use super::spelling::{Spelled, comes, spell};
use super::{Unwritten, Writing, content_to_be, has_other_names, replace_alone};
use crate::base::threads;
use crate::host::fs;
use crate::review::error::ReviewError;
use crate::review::history::contents::Contents;
use crate::review::history::ledger::FileDecision;
use crate::review::protocol::Progress;
use crate::review::session::shown;
use crate::review::state::{Oid, State, content};
use crate::review::worktree::git_form;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Files that are written between two questions whether to go on, and bytes of them: what they hold and are to hold is in
/// memory at the same time.
const BATCH: (usize, usize) = (256, 16 << 20);
/// Files that are on their way to the disk at the same time.
const THREADS: usize = 8;
/// Fewer are not worth a thread.
const ALONE: usize = 4;

/// What has become of the files of a decision.
pub struct Carried {
    /// Numbers of those that have their new state.
    pub done: Vec<usize>,
    /// Why others have not, in words.
    pub left: Vec<String>,
    /// Of those left, what another program has changed while it was written.
    pub meddled: Vec<PathBuf>,
    /// It was stopped before all were tried.
    pub stopped: Option<Progress>,
}

impl Writing {
    /// Writes all of them, in such an order that what was moved is at its old place before it goes from the new one.
    pub fn write_all(&mut self, decided: &[FileDecision], files: &mut Contents) -> Carried {
        let mut all = Carried { done: Vec::new(), left: Vec::new(), meddled: Vec::new(), stopped: None };
        let Spelled { decided, stay, elsewhere } = spell(decided, files);
        let decided = &*decided;
        for path in elsewhere {
            all.left.extend(files.snapshot.set(&path, State::Absent).err().map(|error| error.to_string()));
        }
        // What could not be put where it was.
        let mut missing: HashMap<Oid, &Path> = HashMap::new();
        for stage in stages(decided) {
            let mut ready: Vec<(usize, &FileDecision)> = Vec::new();
            for (at, file) in stage.into_iter().filter_map(|at| Some((at, decided.get(at)?))) {
                if let Some(why) = stay.get(&at) {
                    all.left.push(format!("{}: {why}", shown(&file.path)));
                    self.note(&file.path, why.clone());
                    missing.extend(content(&file.disk.1).map(|oid| (oid, &*file.path)));
                    continue;
                }
                let kept = content(&file.disk.0).filter(|oid| file.disk.1.oid() != Some(*oid));
                match kept.and_then(|oid| missing.get(&oid)) {
                    Some(old) => {
                        let why = format!("left alone, since {} could not be written", shown(old));
                        all.left.push(format!("{}: {why}", shown(&file.path)));
                        if self.unwritten.contains(*old) {
                            self.unwritten.insert(file.path.clone());
                        }
                        self.note(&file.path, why);
                    }
                    None => ready.push((at, file)),
                }
            }
            make_dirs(files.snapshot.root(), &ready, &empty_dirs_of_git(&ready, files));
            let mut rest = ready.as_slice();
            while !rest.is_empty() {
                let far = Progress { done: all.done.len(), of: decided.len() };
                if self.watch.as_mut().is_some_and(|watch| !watch(far)) {
                    all.stopped = Some(far);
                    return all;
                }
                let tried = self.write_some(rest, &mut all, files);
                let (written, other) = rest.split_at_checked(tried).unwrap_or((rest, &[]));
                self.look_again(written, &mut all, files);
                rest = other;
            }
            let done: HashSet<usize> = all.done.iter().copied().collect();
            let failed = ready.iter().filter(|(at, _)| !done.contains(at));
            missing.extend(failed.filter_map(|(_, file)| Some((content(&file.disk.1)?, &*file.path))));
        }
        all
    }

    /// Looks once more at what was just written: a program that still runs may have changed it on its way there. It is
    /// not done, then, and what is there instead is nobody's.
    fn look_again(&mut self, written: &[(usize, &FileDecision)], all: &mut Carried, files: &mut Contents) {
        // What was just done is last.
        let done: HashSet<usize> = all.done.iter().rev().take(written.len()).copied().collect();
        let mut meddled = HashSet::new();
        for (number, file) in written.iter().filter(|(_, file)| !is_same(file)) {
            let is_there = || match files.snapshot.peeks().peek(&file.path) {
                Ok((is, _)) => is == file.disk.1,
                // It was written; the next look finds what is there.
                Err(error) => matches!(error, ReviewError::Unread { .. }),
            };
            if !done.contains(number) || is_there() {
                continue;
            }
            meddled.insert(*number);
            let why = "another program has changed it while it was written";
            self.failed.insert(file.path.clone(), why.to_owned());
            self.unwritten.insert(file.path.clone());
            all.left.push(format!("{}: {why}", shown(&file.path)));
            all.meddled.push(file.path.clone());
            if let Err(error) = files.snapshot.set(&file.path, file.disk.0) {
                all.left.push(error.to_string());
            }
        }
        if !meddled.is_empty() {
            all.done.retain(|number| !meddled.contains(number));
        }
    }

    /// Writes the first of them. How many were tried, at least one.
    fn write_some(&mut self, ready: &[(usize, &FileDecision)], all: &mut Carried, files: &mut Contents) -> usize {
        let root = files.snapshot.root().to_owned();
        let (mut tasks, mut size, mut alone) = (Vec::new(), 0_usize, Vec::new());
        for (number, file) in ready.iter().take(BATCH.0) {
            if is_same(file) || has_other_names(&root, &file.path) {
                alone.push((*number, *file));
                continue;
            }
            let content = content_to_be(file, files);
            let to_be = content.as_ref().map_or(0, Vec::len);
            size = size.saturating_add(size_of(&file.disk.0)).saturating_add(to_be);
            tasks.push((*number, *file, content));
            if size >= BATCH.1 {
                break;
            }
        }
        let tried = tasks.len() + alone.len();
        let peek = files.snapshot.peeks();
        let written = side_by_side(tasks, |(_, file, content)| replace_alone(peek, file, &content?));
        let mut all_of_them = Vec::new();
        for ((number, file), result) in written {
            all_of_them.push((number, self.written(file, result, files)));
        }
        // Names of one file are put back one after the other.
        for (number, file) in alone {
            all_of_them.push((number, self.write(file, files)));
        }
        for (number, result) in all_of_them {
            match result {
                Ok(()) => all.done.push(number),
                Err(error) => all.left.push(error.to_string()),
            }
        }
        tried
    }
}

/// Makes the directories that are missing for files that come back, each for no more people than the file in it
/// that is for the fewest; and `empty` ones.
fn make_dirs(root: &Path, files: &[(usize, &FileDecision)], empty: &[(PathBuf, u32)]) {
    let mut modes: BTreeMap<&Path, Option<u32>> = BTreeMap::new();
    let coming = files.iter().map(|(_, file)| *file).filter(|file| comes(file));
    let coming = coming.map(|file| (&*file.path, file.disk.1.mode().map_or(0o777, for_directory)));
    // As if something were in each.
    let inside: Vec<(PathBuf, u32)> = empty.iter().map(|(dir, mode)| (dir.join("x"), *mode)).collect();
    for (path, mode) in coming.chain(inside.iter().map(|(path, mode)| (&**path, *mode))) {
        for dir in path.ancestors().skip(1).filter(|dir| !dir.as_os_str().is_empty()) {
            let is_missing = || root.join(dir).symlink_metadata().is_err().then_some(0o777);
            if let Some(known) = modes.entry(dir).or_insert_with(is_missing) {
                *known &= mode;
            }
        }
    }
    for (dir, mode) in modes.into_iter().filter_map(|(dir, mode)| Some((dir, mode?))) {
        // Why it could not be made is said of the file.
        let _ = fs::make_dir(root, dir, mode);
    }
}

/// The directories without which git does not know a repository that comes back, though nothing may be in them: of a clone
/// all refs are in one file.
fn empty_dirs_of_git(files: &[(usize, &FileDecision)], contents: &Contents) -> Vec<(PathBuf, u32)> {
    let coming = || files.iter().map(|(_, file)| *file).filter(|file| comes(file));
    let configs: BTreeSet<&Path> = coming().map(|file| &*file.path).filter(|path| path.ends_with("config")).collect();
    let is_head = |file: &&FileDecision| {
        file.path.file_name().is_some_and(|name| name == "HEAD")
            && configs.contains(&*file.path.with_file_name("config"))
            && content_to_be(file, contents).is_ok_and(|text| git_form::is_head(&text))
    };
    let heads = coming().filter(is_head);
    let mode = |file: &FileDecision| file.disk.1.mode().map_or(0o700, for_directory);
    heads.flat_map(|head| ["objects", "refs"].map(|name| (head.path.with_file_name(name), mode(head)))).collect()
}

/// In which order: what is in the way of others, from the inside out; what is missing; what is another now; what else
/// is to go.
fn stages(files: &[FileDecision]) -> [Vec<usize>; 4] {
    let paths = |gone: bool| files.iter().filter(move |f| f.disk.1.is_absent() == gone).map(|f| &*f.path);
    let (going, coming): (BTreeSet<&Path>, BTreeSet<&Path>) = (paths(true).collect(), paths(false).collect());
    let above = |path: &Path, all: &BTreeSet<&Path>| path.ancestors().skip(1).any(|dir| all.contains(dir));
    let below = |path: &Path, all: &BTreeSet<&Path>| {
        let next = all.range::<Path, _>((Bound::Excluded(path), Bound::Unbounded)).next();
        next.is_some_and(|next| next.starts_with(path))
    };
    let mut stages: [Vec<usize>; 4] = Default::default();
    for (at, file) in files.iter().enumerate() {
        let stage = match (going.contains(&*file.path), file.disk.0.is_absent()) {
            (true, _) if above(&file.path, &coming) || below(&file.path, &coming) => 0,
            (true, _) => 3,
            (false, true) => 1,
            (false, false) => 2,
        };
        stages[stage].push(at);
    }
    stages[0].reverse();
    stages[3].reverse();
    stages
}

/// The permissions of a directory that are those of a file in it: who may read that may go in.
const fn for_directory(mode: u32) -> u32 {
    0o700 | (mode & 0o066) | (mode & 0o044) >> 2
}

fn is_same(file: &FileDecision) -> bool {
    file.disk.0 == file.disk.1
}

/// What is read of a file to compare it, in bytes.
fn size_of(state: &State) -> usize {
    if let State::File { size, .. } = state { usize::try_from(*size).unwrap_or(usize::MAX) } else { 0 }
}

/// A file of a decision with its number, and what it is to hold.
type Task<'a> = (usize, &'a FileDecision, Result<Vec<u8>, ReviewError>);
/// The same file, and what has become of it.
type Tried<'a> = ((usize, &'a FileDecision), Result<fs::Done, Unwritten>);

/// Carries out tasks in a few threads; what came of each, in their order.
fn side_by_side<'a>(
    tasks: Vec<Task<'a>>,
    one: impl Fn(Task<'a>) -> Result<fs::Done, Unwritten> + Sync,
) -> Vec<Tried<'a>> {
    let names: Vec<(usize, &FileDecision)> = tasks.iter().map(|task| (task.0, task.1)).collect();
    if tasks.len() < ALONE {
        return names.into_iter().zip(tasks.into_iter().map(one)).collect();
    }
    let died = || Err(ReviewError::Store("a thread ended early".to_owned()).into());
    let mut results: Vec<Result<fs::Done, Unwritten>> = tasks.iter().map(|_| died()).collect();
    let next = Mutex::new(tasks.into_iter().enumerate());
    let work = || {
        let mut mine = Vec::new();
        loop {
            let task = next.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((at, task)) = task else { return mine };
            mine.push((at, one(task)));
        }
    };
    let parts = threads::share(THREADS, work);
    for (at, result) in parts.into_iter().flatten().flatten() {
        if let Some(slot) = results.get_mut(at) {
            *slot = result;
        }
    }
    names.into_iter().zip(results).collect()
}
