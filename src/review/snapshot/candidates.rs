//! Which paths of a tree have to be looked at more closely, and which of those that are new to us were there before.
//!
//! Compares what a walk and the person's index say with what is known; reads no content but
//! that of rules. Invariant: but for the first look, nothing is passed over because the index already names it.

use super::objects::Objects;
use super::preserve::Share;
use super::{Point, RULES, Snapshot, packs, staged};
use crate::base::human::thousands;
use crate::review::snapshot::capture::{Job, racy};
use crate::review::snapshot::clock::TICK;
use crate::review::snapshot::manifest::Entry;
use crate::review::snapshot::prior::PriorLook;
use crate::review::state::{Oid, State};
use crate::review::worktree::git_index::Index;
use crate::review::worktree::repo::{self, Repo};
use crate::review::worktree::walk::{self, Found, Kind, Part, Reader, RelPath, Stat, Time, Walked};
use std::collections::{BTreeMap, HashSet};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// Repositories below the root whose index is read.
pub(super) const NESTED: usize = 64;
/// Of the others so many are named.
const NAMED: usize = 50;

/// The person's indexes as they were read last.
#[derive(Default)]
pub(super) struct LastRead {
    own: Option<Stat>,
    /// What `own` was when it was read first.
    first: Option<Stat>,
    /// Of which paths it says something else than then, in words, and when it was `own`: documents ask often.
    otherwise: Mutex<Option<(Stat, Option<String>)>>,
    /// Of the repositories below the root, by their directories.
    nested: BTreeMap<RelPath, Stat>,
    /// Of those whose index is not read, the first ones, and how many there are.
    left_out: (Vec<RelPath>, usize),
}

impl LastRead {
    /// Of which paths the index of the repository of `root` says something else than at first, in words.
    pub(super) fn otherwise(&self, dir: &Path, root: &Path) -> Option<String> {
        if self.own.is_some() && self.own == self.first {
            return None;
        }
        let mut last = self.otherwise.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, words)) = last.as_ref().filter(|(of, _)| Some(*of) == self.own) {
            return words.clone();
        }
        let words = staged::otherwise(dir, root);
        *last = self.own.map(|own| (own, words.clone()));
        words
    }

    /// Which indexes are not read, in words.
    pub(super) fn left_out(&self) -> Option<String> {
        let (first, count) = &self.left_out;
        let mut names: Vec<String> = first.iter().map(|dir| format!("{}/", walk::show(dir))).collect();
        let more = count.saturating_sub(names.len());
        names.extend((more > 0).then(|| format!("{} more", thousands(more as u64))));
        let why = "what git tracks there although its rules hide it is not looked at";
        (*count > 0).then(|| format!("more than {NESTED} repositories below: {}: {why}", names.join(", ")))
    }
}

/// What the indexes of the person's repositories have.
pub(super) struct Named<'a> {
    pub own: Option<&'a Index>,
    /// Of those below the root, by their directories.
    pub nested: &'a BTreeMap<RelPath, Index>,
}

impl Named<'_> {
    /// Paths from the root, of files and links that are not known yet.
    fn paths<'b>(&'b self, is_unknown: &'b dyn Fn(&[u8]) -> bool) -> impl Iterator<Item = RelPath> + 'b {
        let own = self.own.into_iter().flat_map(Index::tracked).filter(|key| is_unknown(key)).map(RelPath::from);
        let nested = self
            .nested
            .iter()
            .flat_map(|(dir, index)| index.tracked().map(move |key| RelPath::from([dir, &b"/"[..], key].concat())));
        own.chain(nested.filter(|key| is_unknown(key)))
    }

    /// Whether one of a repository below the root has a path.
    pub(super) fn has_nested(&self, key: &[u8]) -> bool {
        Named { own: None, ..*self }.blob(key).is_some()
    }

    /// Says of paths what the indexes have there.
    pub(super) fn mark(&self, jobs: &mut [Job]) {
        for job in jobs {
            job.indexed = self.blob(&job.key);
            job.untracked = self.own.is_some() && job.indexed.is_none();
        }
    }

    /// The content that the index of the nearest repository has for a path.
    fn blob(&self, key: &[u8]) -> Option<Oid> {
        let nearest = walk::parents(key).filter_map(|dir| Some((dir, self.nested.get(dir)?))).last();
        match nearest {
            Some((dir, index)) => index.named(walk::below(key, dir)),
            None => self.own?.named(key),
        }
    }
}

impl Snapshot {
    /// Known paths below a directory.
    pub(crate) fn within(&self, dir: &[u8]) -> Vec<RelPath> {
        let under = if dir.is_empty() { Vec::new() } else { [dir, b"/"].concat() };
        let from = self.seen.range::<[u8], _>((Bound::Included(&under[..]), Bound::Unbounded));
        from.take_while(|(key, _)| key.starts_with(&under)).map(|(key, _)| key.clone()).collect()
    }

    /// Whether what is at a path was written after the last look that could not come there began.
    pub(crate) fn is_written_after_closed(&self, path: &Path) -> bool {
        let key = walk::bytes(path);
        let closed = self.closed.was_around(key);
        let now = Reader::new(self.root()).stat(key).ok().flatten();
        closed.zip(now).is_some_and(|(dir, stat)| walk::dated(stat.mtime) > walk::dated(dir.until) + TICK)
    }

    /// The uppermost directories that could not be looked into, and how many known files below each cannot be reached.
    pub(crate) fn out_of_reach(&self) -> Vec<(RelPath, usize)> {
        let mut reader = Reader::new(self.root());
        let mut cannot_reach = |key: &RelPath| {
            self.seen.get(key).is_some_and(|entry| !entry.state.is_absent()) && reader.stat(key).is_err()
        };
        // One that was opened since is no longer closed, though no look has come into it yet.
        let is_closed = |key: &[u8]| {
            let dir = self.root().join(walk::path(key));
            dir.read_dir().is_err() || dir.join(".").metadata().is_err()
        };
        let is_below = |key: &[u8]| walk::parents(key).any(|dir| dir.len() < key.len() && self.closed.has(dir));
        let tops = self.closed.keys().filter(|key| !is_below(key) && is_closed(key));
        tops.map(|key| (key.clone(), self.within(key).iter().filter(|key| cannot_reach(key)).count())).collect()
    }

    /// Indexes of repositories below the root that are not those which were read last, by the directories of these.
    pub(super) fn new_nested(&mut self, repos: &[PathBuf]) -> BTreeMap<RelPath, Index> {
        let root = self.root.path();
        let below =
            repos.iter().filter_map(|dir| Some((dir, RelPath::from(walk::bytes(dir.strip_prefix(root).ok()?)))));
        let mut below = below.filter(|(_, key)| !key.is_empty());
        let mut nested = BTreeMap::new();
        for (dir, key) in below.by_ref().take(NESTED) {
            let stat = repo::index_stat(dir).filter(|stat| self.indexes.nested.get(&key) != Some(stat));
            if let Some((stat, index)) = stat.and_then(|stat| Some((stat, Repo::find(dir)?.index(dir)?))) {
                self.indexes.nested.insert(key.clone(), stat);
                nested.insert(key, index);
            }
        }
        let first: Vec<RelPath> = below.by_ref().map(|(_, key)| key).take(NAMED).collect();
        let count = first.len() + below.count();
        self.indexes.left_out = (first, count);
        nested
    }

    /// The person's index, when it is not the one that was read last.
    pub(super) fn new_index(&mut self, repo: Option<&Repo>) -> Option<Index> {
        let repo = repo?;
        let stat = repo.index_stat()?;
        if self.indexes.own == Some(stat) {
            return None;
        }
        self.indexes.own = Some(stat);
        if !self.looked {
            self.indexes.first = Some(stat);
        }
        self.at(Point::IndexSeen);
        repo.index(self.root())
    }

    /// What of the tree has to be looked at more closely.
    pub(super) fn jobs(&mut self, walked: &Walked, named: &Named<'_>) -> Vec<Job> {
        self.scans = self.scans.wrapping_add(1);
        let mut jobs = Vec::new();
        // What only a store had that is gone can still be had from the files that are unchanged yet.
        let gone = self.objects.stores.iter().filter(|dir| !dir.is_dir()).count();
        let store_gone = std::mem::replace(&mut self.gone, gone) < gone;
        let (own, theirs) = (&self.objects.own, &self.objects.theirs);
        let is_missing =
            |oid: &Oid| self.objects.preserved.is_unreadable(oid) || store_gone && theirs.size(oid).is_none();
        let is_lost = |e: &Entry| e.state.oid().is_some_and(|oid| !own.has(&oid) && is_missing(&oid));
        let mut room = self.limits.files.saturating_sub(self.seen.len());
        for (key, stat) in &walked.files {
            match self.seen.get_mut(key) {
                Some(entry) => {
                    entry.visit = self.scans;
                    entry.walked = true;
                    if entry.differs(Some(stat)) || is_lost(entry) {
                        jobs.push(Job::walked(key.clone(), Some(*entry), *stat));
                    }
                }
                None if room == 0 => self.beyond.now.files = true,
                None => {
                    room -= 1;
                    jobs.push(Job::walked(key.clone(), None, *stat));
                }
            }
        }
        let mut reader = Reader::new(self.root.path());
        for (key, entry) in self.seen.iter_mut().filter(|(_, entry)| entry.visit != self.scans) {
            // Without permission to look, what was seen last stays.
            let Ok(stat) = reader.stat(key) else { continue };
            if entry.differs(stat.as_ref()) {
                jobs.push(Job::new(key.clone(), Some(*entry), stat));
            }
        }
        if named.own.is_some() || !named.nested.is_empty() {
            jobs.extend(self.missed(walked, named, room));
        }
        jobs
    }

    /// What the person's indexes name and the walk has not found, at most `room` paths: git's rules hide it, or it has
    /// come since the walk, as when a command runs that puts new paths into the index. What is not there is taken note
    /// of, so that it is news when it comes.
    fn missed(&mut self, walked: &Walked, named: &Named<'_>, room: usize) -> Vec<Job> {
        let found: HashSet<&[u8]> = walked.files.iter().map(|(key, _)| &**key).collect();
        let mut reader = Reader::new(self.root.path());
        let is_unknown = |key: &[u8]| !found.contains(key) && !self.seen.contains_key(key);
        let unknown = named.paths(&is_unknown);
        let with_stat = unknown.filter_map(|key| {
            let stat = reader.stat(&key).ok()?;
            Some((key, stat))
        });
        let named: BTreeMap<RelPath, Option<Stat>> = with_stat.take(room).collect();
        let is_file = |stat: &Stat| matches!(stat.kind, Kind::File | Kind::Link);
        let (there, gone): (Vec<_>, Vec<_>) = named.into_iter().partition(|(_, stat)| stat.is_some());
        let gone = gone.into_iter().map(|(key, _)| Job { fresh: true, ..Job::new(key, None, None) });
        let there: BTreeMap<RelPath, Stat> =
            there.into_iter().filter_map(|(key, stat)| Some((key, stat.filter(is_file)?))).collect();
        if there.is_empty() {
            return gone.collect();
        }
        self.at(Point::Missed);
        let part = Part { paths: there.keys().cloned().collect(), ..Part::default() };
        let again = walk::walk(self.root.path(), Some(part), self.limits.files, &self.hidden).files.into_iter();
        let mut again: BTreeMap<RelPath, Stat> = again.collect();
        let job = |(key, stat)| match again.remove(&key) {
            Some(stat) => Job::walked(key, None, stat),
            None => Job { hidden: true, ..Job::new(key, None, Some(stat)) },
        };
        there.into_iter().map(job).chain(gone).collect()
    }

    /// A turn begins, and its prompt goes out now, or was sent then: what git's rules hide by now is not its doing.
    pub(crate) fn turn_begins(&mut self, sent: Option<SystemTime>) {
        let began = sent.map_or_else(|| self.clock.now(), walk::timed);
        let closed = self.closed.keys().cloned().collect();
        self.ignored.turn_begins(self.root.path(), began, closed, &|key| self.hidden.has(key));
    }

    /// No turn runs any more.
    pub(crate) fn turns_are_over(&mut self) {
        self.ignored.turns_are_over();
    }

    pub(super) fn mark_known(&self, jobs: &mut [Job], first: bool) {
        let rules = jobs.iter().filter(|job| names_rules(&job.key));
        let rules: Vec<(RelPath, State)> = rules.filter_map(|job| Some((job.key.clone(), job.known?.state))).collect();
        // A file that may have changed without a trace in its times need not have; where a link leads are no rules.
        let is_changed = |key: &RelPath, state: &State| {
            matches!(state, State::File { .. }) && self.peek(walk::path(key)).map_or(true, |(now, _)| now != *state)
        };
        let text = |key: &RelPath, state: &State| {
            is_changed(key, state).then(|| self.objects.content(state).unwrap_or_default())
        };
        let gone = self.vanished.iter().flatten().copied().collect();
        PriorLook {
            root: self.root.path(),
            last: self.began[1],
            first,
            ignored: &self.ignored,
            dirs: &self.dirs,
            closed: &self.closed,
            rules: &rules,
            old_text: &text,
            seen: &self.seen,
            gone: &gone,
            was_cut: self.beyond.had_more(),
        }
        .mark_known(jobs);
    }

    /// Puts down what this look has found true, for later sessions.
    pub(super) fn note_verified(&self, first: bool) {
        let record = self.verified.as_ref().filter(|_| self.indexes.own.is_some());
        record.inspect(|record| record.note(&self.seen, first, &|oid| self.objects.own.has(oid)));
    }

    /// Takes from the person's index what it knows for sure, so that it need not be read.
    pub(super) fn believe(&self, index: &Index, started: Time, jobs: &mut Vec<Job>, news: &mut Vec<(RelPath, Entry)>) {
        jobs.retain_mut(|job| {
            if self.hidden.has(&job.key) || self.hidden.is_of_others(&job.key) {
                return false;
            }
            let Some((stat, oid)) = job.stat.and_then(|stat| Some((stat, index.blob(&job.key, &stat)?))) else {
                return true;
            };
            if self.verified.as_ref().is_some_and(|record| !record.has(&job.key, &stat, oid)) {
                job.believed = Some(oid).filter(|_| stat.kind == Kind::File);
                return true;
            }
            if stat.size > self.limits.file_bytes || self.objects.theirs.size(&oid) != Some(stat.size) {
                return true;
            }
            let state = match stat.kind {
                Kind::Link => State::Link { oid, size: stat.size },
                _ => State::File { oid, mode: stat.mode, size: stat.size },
            };
            let racy = racy(&stat, started);
            news.push((job.key.clone(), Entry { state, stat, racy, walked: job.walked, ..Entry::default() }));
            false
        });
    }

    /// Goes on keeping what only the person's repositories have. Of what they only say to have the files have the only copy,
    /// and may not have it for long. Whether something is left.
    pub(crate) fn keep_theirs(&mut self, share: Share) -> bool {
        let Objects { own, theirs, preserved, .. } = &mut self.objects;
        preserved.go_on(own, theirs, share);
        let wanted = preserved.take_fresh();
        if !wanted.is_empty() {
            self.keep_from_files(wanted);
            if self.objects.preserved.is_done() {
                self.objects.seal();
            }
        }
        self.objects.preserved.waits()
    }

    /// From files that are what they were when they were looked at. What changes is found by the next look.
    fn keep_from_files(&mut self, mut wanted: HashSet<Oid>) {
        let mut reader = Reader::new(self.root.path());
        let Objects { own, preserved, .. } = &mut self.objects;
        for (key, entry) in &self.seen {
            let Some(oid) = entry.state.oid().filter(|oid| wanted.contains(oid)) else { continue };
            let bytes = match reader.read(key, self.limits.file_bytes) {
                Ok(Found::File { bytes, .. }) => bytes,
                Ok(Found::Link { target, .. }) => target,
                _ => continue,
            };
            let kept = self.head.kept.saturating_add(bytes.len() as u64);
            if kept > self.limits.kept_bytes || packs::hash(&bytes).ok() != Some(oid) {
                continue;
            }
            if preserved.found(oid, &bytes, own).is_err() {
                // The disk is full, most likely: the next look tries again.
                return;
            }
            self.head.kept = kept;
            wanted.remove(&oid);
        }
    }

    /// What was found becomes what is known.
    pub(super) fn accept(&mut self, updates: Vec<(RelPath, Option<Entry>)>) {
        self.objects.need(updates.iter().filter_map(|(_, entry)| entry.as_ref()?.state.oid()));
        for (key, entry) in updates {
            match entry {
                Some(entry) => self.seen.insert(key, entry),
                None => self.seen.remove(&key),
            };
        }
    }
}

fn names_rules(key: &[u8]) -> bool {
    key.rsplit(|byte| *byte == b'/').next() == Some(RULES)
}
