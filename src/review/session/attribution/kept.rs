//! How much is kept of what calls say: texts that they put into files, and paths that they name.
//!
//! Invariants: all of it together is bounded in bytes; of more, the texts of the oldest calls that are over go first, the
//! paths of calls that run last; what a call has done whose texts are gone is in doubt.

use super::{Attribution, MAX_NAMED, Tool};
use std::path::PathBuf;

/// Bytes of texts and paths of all calls together.
pub(super) const MAX_KEPT: usize = 16 << 20;

impl Tool {
    /// Bytes that it keeps alive, about.
    pub(super) fn size(&self) -> usize {
        let path = |path: &PathBuf| size_of::<PathBuf>() + path.as_os_str().len();
        let claim = |(at, old, new): &super::Claim| {
            path(at) + size_of::<super::Claim>() + old.as_ref().map_or(0, |old| old.len()) + new.len()
        };
        self.paths.iter().map(path).sum::<usize>() + self.claims.iter().map(claim).sum::<usize>()
    }

    /// It still names where it puts them.
    fn drop_texts(&mut self) {
        for (path, ..) in std::mem::take(&mut self.claims) {
            self.name(path);
        }
        self.paths.shrink_to_fit();
    }

    fn lose_texts(&mut self) {
        self.lost |= !self.claims.is_empty();
        self.drop_texts();
    }

    fn lose_paths(&mut self) {
        self.paths = Vec::new();
    }

    pub(super) fn name(&mut self, path: PathBuf) {
        if self.paths.len() < MAX_NAMED && !self.paths.contains(&path) {
            self.paths.push(path);
        }
    }
}

impl Attribution {
    /// Lets go of what is too much, but not of what was told just now.
    pub(super) fn keep_less(&mut self, told: u64) {
        let mut size: usize = self.tools.values().map(|tool| tool.size).sum();
        for lose in [Tool::lose_texts, Tool::lose_paths] {
            for is_over in [true, false] {
                let others = self
                    .tools
                    .iter_mut()
                    .filter(|(entry, tool)| **entry != told && tool.size > 0 && tool.is_finished() == is_over);
                for (_, tool) in others {
                    if size <= MAX_KEPT {
                        return;
                    }
                    lose(tool);
                    size -= tool.size;
                    tool.size = tool.size();
                    size += tool.size;
                }
            }
        }
    }

    /// What a call says that was over before the last look at everything explains nothing any more.
    pub(super) fn drop_spent(&mut self) {
        let last = self.last_scan;
        let spent = |tool: &&mut Tool| !tool.claims.is_empty() && tool.is_finished() && tool.finished_at < last;
        for tool in self.tools.values_mut().filter(spent) {
            tool.drop_texts();
            tool.size = tool.size();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::EntryId;
    use crate::review::protocol::{ClaimedEdit, ToolEffect, ToolNote};
    use crate::review::session::attribution::LetGo;
    use crate::review::session::unexplained::When;
    use std::path::Path;
    use std::time::{Duration, Instant, SystemTime};

    const MIB: usize = 1 << 20;

    fn at() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000)
    }

    fn file(entry: u64) -> PathBuf {
        format!("f{entry}").into()
    }

    fn told(activity: &mut Attribution, entry: u64, bytes: usize, paths: Vec<PathBuf>, finished: bool) {
        let claim = ClaimedEdit { path: file(entry), old: Some("a".into()), new: "b".repeat(bytes).into() };
        let claims = if bytes > 0 { vec![claim] } else { Vec::new() };
        let (heard, waits, doing) = (Instant::now(), false, ToolEffect::Edits);
        let entry = EntryId(entry);
        let note = ToolNote { entry, turn: None, doing, at: heard, since: heard, finished, waits, paths, claims };
        activity.note(&note, LetGo::At(at()), at(), |path: &Path| vec![path.to_owned()]);
    }

    fn kept(activity: &Attribution) -> usize {
        activity.tools.values().map(Tool::size).sum()
    }

    fn with_texts(activity: &Attribution, entries: std::ops::Range<u64>) -> Vec<u64> {
        entries.filter(|entry| !activity.claims(*entry, &file(*entry)).is_empty()).collect()
    }

    fn in_doubt(activity: &Attribution, entry: u64) -> (Option<u64>, bool) {
        let by = activity.blame(&file(entry), When::At(at()));
        (by.entry, by.doubt)
    }

    #[test]
    fn however_much_calls_put_into_files_their_texts_are_bounded_and_what_is_lost_is_in_doubt() {
        for is_over in [false, true] {
            let mut activity = Attribution::default();
            activity.begin(1);
            for entry in 0..100 {
                told(&mut activity, entry, MIB, vec![file(entry)], is_over);
                assert!(kept(&activity) <= MAX_KEPT, "{entry}: {}", kept(&activity));
            }
            assert_eq!(with_texts(&activity, 0..100), (85..100).collect::<Vec<_>>(), "the newest");
            assert_eq!(
                [0, 84, 85, 99].map(|entry| in_doubt(&activity, entry)),
                [(Some(0), true), (Some(84), true), (Some(85), false), (Some(99), false)]
            );
            // Told once more, it says it again.
            told(&mut activity, 0, MIB, Vec::new(), is_over);
            assert_eq!(in_doubt(&activity, 0), (Some(0), false));
        }
    }

    #[test]
    fn texts_of_calls_that_are_over_go_before_those_of_calls_that_run() {
        let mut activity = Attribution::default();
        activity.begin(1);
        for entry in 0..10 {
            told(&mut activity, entry, MIB, Vec::new(), false);
        }
        for entry in 10..30 {
            told(&mut activity, entry, MIB, Vec::new(), true);
        }
        assert_eq!(with_texts(&activity, 0..30), (0..10).chain(25..30).collect::<Vec<_>>());
        assert_eq!(in_doubt(&activity, 12), (Some(12), true), "it is still known where");
    }

    #[test]
    fn what_was_over_before_the_last_look_keeps_no_texts() {
        let mut activity = Attribution::default();
        activity.begin(1);
        told(&mut activity, 1, MIB, Vec::new(), true);
        told(&mut activity, 2, MIB, Vec::new(), false);
        activity.looked_at_all();
        assert_eq!(with_texts(&activity, 1..3), [2]);
        told(&mut activity, 3, MIB, Vec::new(), true);
        assert_eq!(with_texts(&activity, 1..4), [2, 3]);
        assert!(kept(&activity) < 3 * MIB);
    }

    #[test]
    fn paths_are_bounded_as_well_and_go_last() {
        let long = |entry: u64| (0..250).map(|n| PathBuf::from(format!("{entry}-{n}{}", "x".repeat(4000)))).collect();
        let mut activity = Attribution::default();
        activity.begin(1);
        told(&mut activity, 0, MIB, Vec::new(), false);
        for entry in 1..100 {
            told(&mut activity, entry, 0, long(entry), true);
            assert!(kept(&activity) <= MAX_KEPT, "{entry}: {}", kept(&activity));
        }
        assert_eq!(in_doubt(&activity, 0), (Some(0), true), "of the call that runs it is known where");
        assert!(activity.is_told() && activity.tools.len() == 100);
    }
}
