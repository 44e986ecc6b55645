//! What other runs write in the same tree while this one looks: to its looks it is like what its own agent did.
//!
//! Reads the ends of their ledgers and opens none of them. No clock is asked: what has come into a ledger between two
//! looks was written between them, and what this run found there when it began came before it. Invariants: a file that
//! another run writes is known here before the look that finds it changed is told whose that may be, and until a look at
//! everything has begun after that write; runs of which one ends before the other begins never count.

use crate::model::changes::Cause;
use crate::review::archive::Listed;
use crate::review::dir::LEDGER;
use crate::review::history::ledger::{Ledger, Record};
use crate::review::history::pending_writes::PendingWrites;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Bytes of one ledger that are read at a time; of more the end counts.
const MOST: u64 = 16 << 20;
/// Files that are remembered; of more, others count as if nobody else had written them.
const MAX_FILES: usize = 200_000;

#[derive(Debug, Default)]
pub struct Beside {
    /// By the directories of the runs; nothing before they are looked at first.
    ledgers: Option<BTreeMap<PathBuf, Followed>>,
    /// Below the root.
    files: BTreeMap<PathBuf, Written>,
    /// Looks at everything that have begun.
    looks: u64,
}

/// The ledger of another run.
#[derive(Debug, Default)]
struct Followed {
    /// Bytes that were read.
    at: u64,
    /// What it is writing, by paths of this run.
    pending: PendingWrites,
    /// The files of decisions that it is carrying out, by their numbers.
    decided: BTreeMap<u64, BTreeSet<PathBuf>>,
}

/// A file that another run writes, or has written.
#[derive(Debug)]
struct Written {
    run: String,
    /// The number of the look before or in which it was still being written.
    look: u64,
}

impl Beside {
    /// Reads what has come into the ledgers of `runs`, which work in the same tree. The first time, of those that are open, it
    /// is all of it, since something may still be being written; the look that begins then sees what is over.
    pub fn follow(&mut self, runs: &[Listed], root: &Path) {
        let is_first = self.ledgers.is_none();
        let mut ledgers = self.ledgers.take().unwrap_or_default();
        self.keep_open(&ledgers);
        ledgers.retain(|dir, _| runs.iter().any(|run| run.dir == *dir));
        for run in runs {
            let Some(head) = &run.head else { continue };
            let path = run.dir.join(LEDGER);
            let ledger = ledgers.entry(run.dir.clone()).or_insert_with(|| {
                let is_over = is_first && !run.locked;
                let at = path.metadata().ok().filter(|_| is_over).map_or(0, |meta| meta.len());
                Followed { at, ..Followed::default() }
            });
            if !run.locked && ledger.has_all_of(&path) {
                continue;
            }
            let Ok((records, at)) = Ledger::since(&path, ledger.at, MOST) else { continue };
            ledger.at = at;
            let cwd = head.cwd.canonicalize().unwrap_or_else(|_| head.cwd.clone());
            let here = |path: &Path| Some(cwd.join(path).strip_prefix(root).ok()?.to_owned());
            for path in records.into_iter().flat_map(|record| ledger.take(record, here)) {
                self.note(path, &run.stem);
            }
            if !run.locked {
                // Nobody goes on with it.
                (ledger.pending, ledger.decided) = Default::default();
            }
        }
        self.ledgers = Some(ledgers);
    }

    /// A look at everything begins.
    pub fn begin_look(&mut self, runs: &[Listed], root: &Path) {
        self.follow(runs, root);
        self.looks += 1;
    }

    /// It is over, and what it found is taken in: it has seen all that was written before it began.
    pub fn end_look(&mut self) {
        let open = self.ledgers.as_ref().map(open).unwrap_or_default();
        let looks = self.looks;
        self.files.retain(|path, written| written.look >= looks || open.contains(&**path));
    }

    /// The run that writes that file, or has written it since the last look at everything began.
    pub fn run_of(&self, path: &Path) -> Option<&str> {
        self.files.get(path).map(|written| written.run.as_str())
    }

    /// What was being written up to now may have been done at any time since.
    fn keep_open(&mut self, ledgers: &BTreeMap<PathBuf, Followed>) {
        for path in open(ledgers) {
            if let Some(written) = self.files.get_mut(path) {
                written.look = self.looks;
            }
        }
    }

    fn note(&mut self, path: PathBuf, run: &str) {
        if self.files.len() < MAX_FILES || self.files.contains_key(&path) {
            self.files.insert(path, Written { run: run.to_owned(), look: self.looks });
        }
    }
}

/// What is still being written.
fn open(ledgers: &BTreeMap<PathBuf, Followed>) -> BTreeSet<&Path> {
    let pending = ledgers.values().flat_map(|ledger| ledger.pending.iter().map(|(path, _)| path));
    let decided = ledgers.values().flat_map(|ledger| ledger.decided.values().flatten().map(PathBuf::as_path));
    pending.chain(decided).collect()
}

impl Followed {
    /// Nothing has come into it since, and nothing was open.
    fn has_all_of(&self, path: &Path) -> bool {
        let is_read = path.metadata().is_ok_and(|meta| meta.len() == self.at);
        is_read && self.pending.is_empty() && self.decided.is_empty()
    }

    /// The files that a record says are written; `here` is a path of the other run as this one names it.
    fn take(&mut self, record: Record, here: impl Fn(&Path) -> Option<PathBuf>) -> Vec<PathBuf> {
        match record {
            Record::Writes { path, write } => {
                let path = here(&path);
                if let Some(path) = &path {
                    self.pending.begins(path, write);
                }
                path.into_iter().collect()
            }
            Record::WritesEnd { content, entry } => {
                self.pending.end(content, entry);
                Vec::new()
            }
            Record::Step { path, step, .. } => {
                let path = here(&path);
                if let Some(path) = &path {
                    self.pending.seen(path, &step.after);
                }
                // A write that was held is not told of before it is done.
                path.filter(|_| step.cause == Cause::Write).into_iter().collect()
            }
            Record::Act(act) => {
                let written = act.files.iter().filter(|file| file.disk.0 != file.disk.1);
                let paths: BTreeSet<PathBuf> = written.filter_map(|file| here(&file.path)).collect();
                self.decided.insert(act.id, paths.clone());
                paths.into_iter().collect()
            }
            Record::Done { act, .. } => {
                self.decided.remove(&act);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
#[path = "beside_tests.rs"]
mod tests;
