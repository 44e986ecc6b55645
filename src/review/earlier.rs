//! Which of the paths that are new to us were there before.
//!
//! Judges by the times of a file and by what was ignored earlier; reads no content. Invariant: what may have been the
//! person's before is never taken for a new file, which an undo would remove.

use super::settle::Job;
use super::walk::{self, Key, OldRules};
use std::collections::HashSet;
use std::path::Path;

/// What a look knows of the one before it.
pub(super) struct Before<'a> {
    pub root: &'a Path,
    /// The second in which the last look at everything began.
    pub last: i64,
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
}

impl Before<'_> {
    /// Says of which paths it is no news that they are there: of all at the first look; and of old ones when the
    /// rules have changed, unless they come from another place of the tree. Of such as were touched since, what they
    /// were is not known.
    pub(super) fn hush(&self, jobs: &mut [Job]) {
        let moved: HashSet<u64> =
            jobs.iter().filter(|job| job.stat.is_none()).filter_map(|job| job.known).map(|e| e.stat.ino).collect();
        for job in jobs.iter_mut().filter(|job| job.known.is_none()) {
            job.silent |= self.first;
            let Some(stat) = job.stat.filter(|stat| self.doubtful && !moved.contains(&stat.ino)) else { continue };
            job.silent |= stat.ctime.0 < self.last;
            job.there = !job.silent && self.was_there(&job.key);
        }
    }

    fn was_there(&self, key: &[u8]) -> bool {
        let was_in = |dir: &Key| key.strip_prefix(&**dir).is_some_and(|rest| dir.is_empty() || rest.starts_with(b"/"));
        if self.barred.iter().any(was_in) {
            return true;
        }
        match walk::born(&self.root.join(walk::path(key))) {
            Some(born) if born < self.last => true,
            None if self.unclear => true,
            // Many programs write a file anew: it is as young as they have left it.
            _ => self.rules.iter().any(|rules| rules.hide(key)),
        }
    }
}
