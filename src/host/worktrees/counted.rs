//! How much was changed in a worktree.
//!
//! Invariants: counting writes nothing into the repository, whatever lies in the worktree, and takes no longer than it
//! may.

use super::trees::{Index, entries};
use super::{Difference, Outcome, Worktree, there_until};
use std::time::{Duration, Instant};

/// How long figures are waited for that are only told.
const PATIENCE: Duration = Duration::from_secs(10);

/// What was changed in it since it began.
pub fn changes(worktree: &Worktree) -> Outcome<Difference> {
    changes_until(worktree, Instant::now() + PATIENCE)
}

/// The same where it is waited for until then.
pub fn changes_until(worktree: &Worktree, until: Instant) -> Outcome<Difference> {
    let git = there_until(worktree, Some(until))?;
    let index = Index::names_of(&git)?;
    let numbers = index.run(&[COUNTS, &[&worktree.start]].concat(), b"")?;
    let mut sum = Difference::default();
    for line in entries(&numbers) {
        let line = String::from_utf8_lossy(line);
        let mut columns = line.split('\t').map(|number| number.parse::<u64>().unwrap_or(0));
        sum.added += columns.next().unwrap_or(0);
        sum.removed += columns.next().unwrap_or(0);
        sum.files += 1;
    }
    Ok(sum)
}

/// Of the files on the disk. In repositories inside nothing is run.
const COUNTS: &[&str] = &["diff-index", "--numstat", "-z", "--no-renames", "--ignore-submodules=dirty"];
