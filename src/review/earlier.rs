//! Which of the paths that are new to us were there before.
//!
//! Judges by the times of a file and by what was ignored earlier; reads no content. Invariant: what may have been the
//! person's before is never taken for a new file, which an undo would remove.

use super::manifest::Entries;
use super::settle::Job;
use super::walk::{self, Key, OldRules, Reader, Stat, Time};
use std::collections::HashSet;
use std::path::Path;

/// What stays of a file that is only moved: its inode, its size, when it was written.
pub(super) type Moved = (u64, u64, Time);

pub(super) fn as_moved(stat: &Stat) -> Moved {
    (stat.ino, stat.size, stat.mtime)
}

/// What a look knows of the one before it.
pub(super) struct Before<'a> {
    pub root: &'a Path,
    /// When the last look at everything began, by the clock of the files.
    pub last: Time,
    /// It was the first: everything was there.
    pub first: bool,
    /// More may be looked at now than then.
    pub doubtful: bool,
    /// The same, and nobody knows for which paths.
    pub unclear: bool,
    /// Directories that nobody could look into then.
    pub barred: &'a [Key],
    /// What was ignored then, of rules that are others now.
    pub rules: &'a [OldRules],
    /// Everything that is known.
    pub seen: &'a Entries,
    /// Files that were found gone since.
    pub gone: &'a HashSet<Moved>,
}

impl Before<'_> {
    /// Says of which paths it is no news that they are there: of all at the first look; and of old ones when the
    /// rules have changed or hide them, unless they come from another place of the tree. Of such as were touched
    /// since, what they were is not known.
    pub(super) fn hush(&self, jobs: &mut [Job]) {
        let moved = if self.first { HashSet::new() } else { self.moved(jobs) };
        for job in jobs.iter_mut().filter(|job| job.known.is_none()) {
            job.silent |= self.first;
            let doubtful = self.doubtful || job.hidden;
            let is_old = |stat: &Stat| doubtful && !job.fresh && !moved.contains(&as_moved(stat));
            let Some(stat) = job.stat.filter(is_old) else { continue };
            job.silent |= self.is_untouched(&stat);
            job.there = !job.silent && (job.hidden || self.was_there(&job.key));
        }
    }

    /// Known files that are not where they were seen last. A directory that is moved leaves the times of its files as
    /// they are.
    fn moved(&self, jobs: &[Job]) -> HashSet<Moved> {
        let in_doubt = jobs.iter().filter(|job| job.known.is_none() && (self.doubtful || job.hidden));
        let new: HashSet<Moved> = in_doubt.filter_map(|job| job.stat.as_ref()).map(as_moved).collect();
        if new.is_empty() {
            return new;
        }
        let mut reader = Reader::new(self.root);
        let mut is_gone = |key: &[u8], ino| reader.stat(key).is_ok_and(|now| now.is_none_or(|now| now.ino != ino));
        let known =
            self.seen.iter().filter(|(_, entry)| !entry.state.is_absent() && new.contains(&as_moved(&entry.stat)));
        let known = known.filter(|(key, entry)| is_gone(key, entry.stat.ino)).map(|(_, entry)| as_moved(&entry.stat));
        known.chain(self.gone.iter().copied()).collect()
    }

    /// Whether nothing of a file has changed since the last look.
    fn is_untouched(&self, stat: &Stat) -> bool {
        // Some file systems know only seconds.
        if stat.ctime.1 == 0 { stat.ctime.0 < self.last.0 } else { stat.ctime < self.last }
    }

    fn was_there(&self, key: &[u8]) -> bool {
        let was_in = |dir: &Key| key.strip_prefix(&**dir).is_some_and(|rest| dir.is_empty() || rest.starts_with(b"/"));
        if self.barred.iter().any(was_in) {
            return true;
        }
        match walk::born(&self.root.join(walk::path(key))) {
            Some(born) if born < self.last.0 => true,
            None if self.unclear => true,
            // Many programs write a file anew: it is as young as they have left it.
            _ => self.rules.iter().any(|rules| rules.hide(key)),
        }
    }
}
