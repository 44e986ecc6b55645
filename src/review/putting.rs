//! Puts the files of a decision into their new states, many at a time.
//!
//! The part of [`Tracker`] that writes in the workspace. Each file is made durable by itself, which is waiting for the
//! most part, so that a few threads do it side by side. Invariants: each file is written as a whole or not at all, and
//! only when it still is what was decided about; it is stopped between two files, never in one.

use super::error::ReviewError;
use super::ledger::ActFile;
use super::notes::{HowFar, Watch};
use super::peek::Peek;
use super::state::State;
use super::tracker::Tracker;
use crate::host::fs::{Put, put};
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
        let (mut tasks, mut size) = (Vec::new(), 0);
        for (_, file) in files.iter().take(BATCH.0) {
            let content = if is_same(file) { Ok(Vec::new()) } else { self.content_to_be(file) };
            size += content.as_ref().map_or(0, Vec::len);
            tasks.push((*file, content));
            if size >= BATCH.1 {
                break;
            }
        }
        let peek = self.files.shadow.peeks();
        let written = side_by_side(tasks, |(file, content)| {
            let bytes = content?;
            if is_same(file) { Ok(()) } else { put_one(peek, file, &bytes) }
        });
        let tried = written.len();
        for ((at, file), result) in files.iter().zip(written) {
            match result.and_then(|()| self.noted(file)) {
                Ok(()) => all.done.push(*at),
                Err(error) => all.left.push(error.to_string()),
            }
        }
        tried
    }

    /// Puts a file into its new state, if it still has the old one.
    pub(super) fn write(&mut self, file: &ActFile) -> Result<(), ReviewError> {
        if !is_same(file) {
            let bytes = self.content_to_be(file)?;
            put_one(self.files.shadow.peeks(), file, &bytes)?;
        }
        self.noted(file)
    }

    fn content_to_be(&self, file: &ActFile) -> Result<Vec<u8>, ReviewError> {
        self.files.content(&file.disk.1).map_err(|e| e.of(&file.path))
    }

    fn noted(&mut self, file: &ActFile) -> Result<(), ReviewError> {
        if is_same(file) { Ok(()) } else { self.files.shadow.set(&file.path, file.disk.1) }
    }
}

fn is_same(file: &ActFile) -> bool {
    file.disk.0 == file.disk.1
}

/// Puts a file into its new state, of which `bytes` are the content, if it still has the old one.
fn put_one(peek: Peek, file: &ActFile, bytes: &[u8]) -> Result<(), ReviewError> {
    let (before, after) = &file.disk;
    if peek.peek(&file.path)?.0 != *before {
        return Err(ReviewError::Moved(file.path.clone()));
    }
    let what = match after {
        State::Absent => Put::Absent,
        State::File { mode, .. } => Put::File { bytes, mode: *mode },
        State::Link { .. } => Put::Link { target: bytes },
        State::Unkept { .. } => return Err(ReviewError::NotKept(file.path.clone())),
    };
    put(peek.root, &file.path, &what).map_err(|e| ReviewError::Refused(e.to_string()))
}

/// Carries out tasks in a few threads; what came of each, in their order.
fn side_by_side<T: Send>(
    tasks: Vec<T>,
    one: impl Fn(T) -> Result<(), ReviewError> + Sync,
) -> Vec<Result<(), ReviewError>> {
    if tasks.len() < ALONE {
        return tasks.into_iter().map(one).collect();
    }
    let died = || Err(ReviewError::Store("a thread ended early".to_owned()));
    let mut results: Vec<Result<(), ReviewError>> = tasks.iter().map(|_| died()).collect();
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
    results
}
