//! Removes old conversations, where the person has set limits.
//!
//! Invariants: without a limit nothing goes; one that is open, or in which something is written and not sent, stays, and a
//! journal goes only with all that is in it.

use super::{Known, State, index, journals, list};
use crate::store::drafts;
use crate::store::lines;
use crate::store::lock::Lock;
use crate::store::replace;
use std::collections::HashMap;
use std::fs::TryLockError;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How much is kept; without a number of a sort there is no limit of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    pub count: Option<u64>,
    /// Since it was used last.
    pub age: Option<Duration>,
    pub bytes: Option<u64>,
}

/// What went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    pub sessions: u64,
    pub bytes: u64,
}

impl Limits {
    fn has_any(self) -> bool {
        self != Self::default()
    }

    /// Whether one stays that was used so long ago, as the `count`-th of all, which have so many bytes together with it.
    fn keeps(self, count: u64, age: Duration, bytes: u64) -> bool {
        self.count.is_none_or(|max| count <= max)
            && self.age.is_none_or(|max| age <= max)
            && self.bytes.is_none_or(|max| bytes <= max)
    }
}

/// Removes conversations beyond the limits, the oldest first, but not the one of this id, which is about to go on. `now` is
/// counted from 1970.
pub fn prune(state: &Path, limits: Limits, now: Duration, goes_on: Option<&str>) -> io::Result<Pruned> {
    take_left_behind(state);
    if !limits.has_any() {
        return Ok(Pruned::default());
    }
    let (mut count, mut bytes, mut is_full) = (0, 0, false);
    let unsent = drafts::unsent(state);
    let is_unsent = |known: &Known| {
        known.commands().any(|command| unsent.contains(&(command.to_owned(), known.session_id.clone())))
    };
    let all: Vec<Known> = list(state)?.sessions.into_iter().filter(|known| !known.journals.is_empty()).collect();
    let stays = all.iter().map(|known| {
        if known.state == State::Open || goes_on == Some(known.session_id.as_str()) || is_unsent(known) {
            return true;
        }
        (count, bytes) = (count + 1, bytes + known.bytes);
        // From where a limit is reached everything older goes.
        is_full = is_full || !limits.keeps(count, now.saturating_sub(known.updated), bytes);
        !is_full
    });
    let stays = with_sharers(&all.iter().collect::<Vec<_>>(), stays.collect());
    let gone = all.into_iter().zip(stays).filter(|(_, stays)| !stays).map(|(known, _)| known);
    let mut pruned = Pruned::default();
    for known in gone {
        let removed = known.journals.iter().map(|journal| remove(journal)).collect::<io::Result<Vec<bool>>>()?;
        if removed.contains(&true) {
            known.commands().try_for_each(|command| drafts::forget(state, command, &known.session_id))?;
            pruned.sessions += 1;
            pruned.bytes += known.bytes;
        }
    }
    index::refresh(&journals(state))?;
    Ok(pruned)
}

/// Which stay where these do: what shares a journal with one that stays does so too, and then what shares one with that.
pub fn with_sharers(all: &[&Known], mut stays: Vec<bool>) -> Vec<bool> {
    let mut sharers: HashMap<&Path, Vec<usize>> = HashMap::new();
    for (at, known) in all.iter().enumerate() {
        known.journals.iter().for_each(|journal| sharers.entry(journal).or_default().push(at));
    }
    let mut new: Vec<usize> = (0..all.len()).filter(|at| stays.get(*at) == Some(&true)).collect();
    while let Some(by) = new.pop() {
        for at in all[by].journals.iter().filter_map(|journal| sharers.remove(journal.as_path())).flatten() {
            if !std::mem::replace(&mut stays[at], true) {
                new.push(at);
            }
        }
    }
    stays
}

/// Removes what a process has left that was killed when it wrote a journal anew: it holds what was said.
pub fn take_left_behind(state: &Path) {
    replace::take_left_behind(&journals(state));
}

/// Removes every journal but these and those that are being written, also those that hold no session that is listed, and
/// what the index remembers of them. How many went.
pub fn remove_all_but(state: &Path, kept: &[PathBuf]) -> io::Result<u64> {
    let dir = journals(state);
    replace::take_left_behind(&dir);
    let files = match std::fs::read_dir(&dir) {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    let mut removed = 0;
    for path in files.flatten().map(|file| file.path()) {
        let is_journal = path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(index::ENDING));
        if is_journal && !kept.contains(&path) {
            removed += u64::from(remove(&path)?);
        }
    }
    index::refresh(&dir)?;
    Ok(removed)
}

/// False when it stays: a link and what belongs to another user is no journal of ours, and one that is open is held.
fn remove(journal: &Path) -> io::Result<bool> {
    let Ok(file) = lines::open(journal) else { return Ok(false) };
    // Held until it is gone.
    let lock = Lock::take(file);
    if matches!(lock, Err(TryLockError::WouldBlock)) {
        return Ok(false);
    }
    std::fs::remove_file(journal)?;
    Ok(true)
}
