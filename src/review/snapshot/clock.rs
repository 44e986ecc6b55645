//! What the present is called by the file system of the workspace, which may have another clock than this machine.
//!
//! Times of files are compared with no others. Asks a file that no directory names, seldom; in between the time that
//! passes is added. Invariant: that the clock was set since it was asked before is noticed and told once.

use crate::review::worktree::walk::{self, Time};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// For so long the clock need not be asked again.
const FRESH: Duration = Duration::from_millis(50);
/// What it may be off by without having been set.
const STEADY: Duration = Duration::from_millis(150);
/// A change may be dated so much earlier than it happened.
pub(crate) const TICK: Duration = Duration::from_millis(10);
/// So often the two clocks are read where much time passes between them.
const TRIES: usize = 5;

pub(crate) struct FilesClock {
    root: PathBuf,
    /// A directory of ours, for where the workspace takes no file without a name.
    ours: PathBuf,
    probe: Option<File>,
    known: Option<(Instant, SystemTime)>,
    was_set: bool,
}

impl FilesClock {
    pub(crate) fn new(root: &Path, ours: &Path) -> Self {
        Self { root: root.to_owned(), ours: ours.to_owned(), probe: None, known: None, was_set: false }
    }

    /// The present: what was changed before is older, and what is changed from now on is not.
    pub(crate) fn now(&mut self) -> Time {
        if self.probe.is_none() {
            self.probe = walk::probe(&self.root, &self.ours);
        }
        walk::files_now(self.probe.as_ref())
    }

    /// What that moment is called.
    pub(crate) fn date(&mut self, when: Instant) -> SystemTime {
        let fresh = self.known.filter(|(at, _)| at.elapsed() < FRESH);
        let (at, files) = fresh.unwrap_or_else(|| self.ask());
        match when.checked_duration_since(at) {
            Some(later) => files + later,
            None => files.checked_sub(at.duration_since(when)).unwrap_or(UNIX_EPOCH),
        }
    }

    /// Whether the clock was found to be set since this was asked last; times from before then cannot be compared with
    /// later ones.
    pub(crate) fn was_set(&mut self) -> bool {
        std::mem::take(&mut self.was_set)
    }

    /// Asks the clock whether it was set.
    pub(crate) fn ask(&mut self) -> (Instant, SystemTime) {
        let (now, files) = self.together();
        if let Some((at, before)) = self.known {
            let awaited = before + now.duration_since(at);
            let off = files.duration_since(awaited).unwrap_or_else(|error| error.duration());
            self.was_set |= off > STEADY;
        }
        *self.known.insert((now, files))
    }

    /// One moment by both clocks. On a busy machine much time may pass between the two: then once more.
    fn together(&mut self) -> (Instant, SystemTime) {
        let mut read = || {
            let before = Instant::now();
            let files = walk::dated(self.now());
            let now = Instant::now();
            (now.duration_since(before), now, files)
        };
        let mut best = read();
        for _ in 1..TRIES {
            if best.0 < TICK / 4 {
                break;
            }
            let again = read();
            best = if again.0 < best.0 { again } else { best };
        }
        (best.1, best.2)
    }
}
