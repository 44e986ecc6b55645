//! Puts the files of a decision into their new states, many at a time.
//!
//! The part of [`Tracker`] that writes in the workspace. Each file is made durable by itself, which is waiting for the
//! most part, so that a few threads do it side by side. Invariants: each file is written as a whole or not at all, and
//! only when it still is what was decided about; it is stopped between two files, never in one.

use super::error::ReviewError;
use super::ledger::ActFile;
use super::notes::{HowFar, Watch};
use super::tracker::Tracker;
use super::writing::{Unwritten, has_other_names, replace_alone};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Files that are written between two questions whether to go on, and bytes of them.
const BATCH: (usize, usize) = (256, 16 << 20);
/// Files that are on their way to the disk at the same time.
const THREADS: usize = 8;
/// Fewer are not worth a thread.
const ALONE: usize = 4;

/// What has become of the files of a decision.
pub(super) struct Carried {
    /// Numbers of those that have their new state.
    pub done: Vec<usize>,
    /// Why others have not, in words.
    pub left: Vec<String>,
    /// It was stopped before all were tried.
    pub stopped: Option<HowFar>,
}

impl Tracker {
    /// Who is told how far an action has come from now on, and can stop it.
    pub fn watched(&mut self, watch: Option<Watch>) {
        self.watch = watch;
    }

    /// Writes all of them.
    pub(super) fn write_all(&mut self, files: &[ActFile]) -> Carried {
        // What is to go goes first, from the inside out: a file may come where a directory is, and the reverse.
        let (mut order, there): (Vec<usize>, Vec<usize>) =
            (0..files.len()).partition(|at| files.get(*at).is_some_and(|f| f.disk.1.is_absent()));
        order.reverse();
        let gone = order.len();
        order.extend(there);
        let mut all = Carried { done: Vec::new(), left: Vec::new(), stopped: None };
        let mut at = 0;
        while at < order.len() {
            let far = HowFar { done: all.done.len(), of: files.len() };
            if self.watch.as_mut().is_some_and(|watch| !watch(far)) {
                all.stopped = Some(far);
                return all;
            }
            // Those that go are gone before the first of the others comes.
            let end = if at < gone { gone } else { order.len() };
            let batch: Vec<(usize, &ActFile)> =
                order[at..end].iter().filter_map(|at| Some((*at, files.get(*at)?))).collect();
            at += self.write_some(&batch, &mut all);
        }
        all
    }

    /// Writes the first of them. How many were tried, at least one.
    fn write_some(&mut self, files: &[(usize, &ActFile)], all: &mut Carried) -> usize {
        let root = self.files.shadow.root().to_owned();
        let (mut tasks, mut size, mut alone) = (Vec::new(), 0, Vec::new());
        for (number, file) in files.iter().take(BATCH.0) {
            if is_same(file) || has_other_names(&root, &file.path) {
                alone.push((*number, *file));
                continue;
            }
            let content = self.content_to_be(file);
            size += content.as_ref().map_or(0, Vec::len);
            tasks.push((*number, *file, content));
            if size >= BATCH.1 {
                break;
            }
        }
        let tried = tasks.len() + alone.len();
        let peek = self.files.shadow.peeks();
        let written = side_by_side(tasks, |(_, file, content)| replace_alone(peek, file, &content?));
        let mut all_of_them = Vec::new();
        for ((number, file), result) in written {
            all_of_them.push((number, self.written(file, result)));
        }
        // Names of one file are put back one after the other.
        for (number, file) in alone {
            all_of_them.push((number, self.write(file)));
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

fn is_same(file: &ActFile) -> bool {
    file.disk.0 == file.disk.1
}

/// A file of a decision with its number, and what it is to hold.
type Task<'a> = (usize, &'a ActFile, Result<Vec<u8>, ReviewError>);
/// The same file, and what has become of it.
type Tried<'a> = ((usize, &'a ActFile), Result<Vec<String>, Unwritten>);

/// Carries out tasks in a few threads; what came of each, in their order.
fn side_by_side<'a>(
    tasks: Vec<Task<'a>>,
    one: impl Fn(Task<'a>) -> Result<Vec<String>, Unwritten> + Sync,
) -> Vec<Tried<'a>> {
    let names: Vec<(usize, &ActFile)> = tasks.iter().map(|task| (task.0, task.1)).collect();
    if tasks.len() < ALONE {
        return names.into_iter().zip(tasks.into_iter().map(one)).collect();
    }
    let died = || Err(ReviewError::Store("a thread ended early".to_owned()).into());
    let mut results: Vec<Result<Vec<String>, Unwritten>> = tasks.iter().map(|_| died()).collect();
    let next = Mutex::new(tasks.into_iter().enumerate());
    let work = || {
        let mut mine = Vec::new();
        loop {
            let task = next.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((at, task)) = task else { return mine };
            mine.push((at, one(task)));
        }
    };
    let parts: Vec<Vec<_>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_default()).collect()
    });
    for (at, result) in parts.into_iter().flatten() {
        if let Some(slot) = results.get_mut(at) {
            *slot = result;
        }
    }
    names.into_iter().zip(results).collect()
}
