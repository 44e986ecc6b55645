//! The snapshot of a workspace: what every file was when it was last looked at, and its content.
//!
//! Lives outside of the workspace, blocks, and never writes to a repository of the person's. Invariant: the content of
//! what a look reports is durable before it is reported; that it was seen is so after [`Snapshot::save`], and what was
//! not saved when all ended is reported again.

pub mod alternates;
pub mod beyond;
pub mod candidates;
pub mod capture;
pub mod clock;
pub mod closed;
pub mod coverage;
pub mod fingerprints;
pub mod manifest;
pub mod mounts;
pub mod moves;
mod objects;
pub mod packs;
pub mod peek;
pub mod preserve;
pub mod prior;
mod record;
pub mod repositories;
pub mod root;
mod staged;
pub mod survey;
mod their_pack;
mod trust;
mod verified;
mod zlib;

use self::beyond::{Beyond, TooMuch};
use self::candidates::{LastRead, Named};
use self::capture::{Job, Seen, Stores, capture, lost, order, unknown};
use self::clock::FilesClock;
use self::closed::Closed;
use self::manifest::{Entries, Entry, Header, Manifest};
use self::mounts::Mounts;
use self::moves::Moves;
use self::objects::Objects;
use self::packs::PackStore;
use self::peek::Peek;
use self::prior::{First, Ignored, Moved, as_moved};
use self::root::Root;
use super::error::ReviewError;
use super::state::{Change, State};
use crate::base::paths::visible;
use crate::host::fs::Private;
use crate::review::worktree::own_files::OwnFiles;
use crate::review::worktree::repo::{self, Repo};
use crate::review::worktree::walk::{self, Kind, Part, Reader, RelPath, Time, Walked};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

/// How much is taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Paths.
    pub files: usize,
    /// Bytes of content that no git store has.
    pub kept_bytes: u64,
    /// Bytes of one file; the content of a larger one is not kept.
    pub file_bytes: u64,
    /// Bytes that one look, but for the first, reads of files that have come or have another size: some seconds of work.
    pub fresh_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { files: 200_000, kept_bytes: 200 << 20, file_bytes: 64 << 20, fresh_bytes: 2 << 30 }
    }
}

const RULES: &[u8] = b".gitignore";

/// A snapshot of a workspace that is brought up to date by looking.
pub struct Snapshot {
    dir: PathBuf,
    /// The workspace.
    pub(crate) root: Root,
    limits: Limits,
    /// Contents.
    pub(crate) objects: Objects,
    book: Manifest,
    head: Header,
    /// `last` of it in `book`.
    noted: i64,
    pub(crate) seen: Entries,
    /// What is in `seen` and not in `book`.
    unsaved: Vec<(RelPath, Option<Entry>)>,
    /// There was a look at the whole tree.
    looked: bool,
    /// When the last look at the whole tree began, by the clock of the files, and the one before it: what is moved about
    /// meanwhile can be missed by one of them.
    began: [Time; 2],
    /// What the last look reports has happened since.
    since: Time,
    scans: u32,
    indexes: LastRead,
    dirs: BTreeSet<RelPath>,
    /// Directories that could not be looked into.
    pub(crate) closed: Closed,
    /// What could not be looked at when it was asked for last, and the system's number for why.
    unread: BTreeMap<RelPath, i32>,
    pub(crate) clock: FilesClock,
    /// What could not be read before the last look and could be then, untouched in between.
    /// Whether nothing at all has happened to it, also to its rights.
    opened: BTreeMap<RelPath, bool>,
    /// What the last look has found new, and may have been elsewhere before the turn, where nobody looks.
    come: HashSet<RelPath>,
    beyond: Beyond,
    mounts: Mounts,
    /// How many of `stores` were gone when it was last looked after what they had.
    gone: usize,
    pub(crate) hidden: Arc<OwnFiles>,
    /// What the last look has found moved.
    pub(crate) moves: Moves,
    ignored: Ignored,
    verified: Option<verified::Verified>,
    /// A directory that the disk did not give at the last look.
    failed: Option<ReviewError>,
    /// Files that may be the only copy of their content, wherever they are moved to.
    only: BTreeSet<u64>,
    /// Files that were found gone since the last but one look at everything began: what was moved may turn up one look
    /// later than it is missed.
    vanished: [HashSet<Moved>; 2],
    /// Something that happens in the middle of a look.
    #[cfg(test)]
    meanwhile: Option<Box<dyn FnMut(Point)>>,
}

/// Points of a look between which the tree may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Point {
    Began,
    Walked,
    IndexSeen,
    IndexRead,
    Missed,
    Compared,
    Judged,
    Asked,
    AskedAgain,
}

impl Snapshot {
    /// A new store in `dir`, which must not exist, for the tree at `root`, an absolute and real path. Looks at nothing.
    pub fn create(dir: &Path, root: &Path, limits: Limits) -> Result<Self, ReviewError> {
        walk::private_dir(dir)?;
        let (own, book) = (PackStore::create(dir)?, Manifest::create(dir)?);
        Ok(Self::new(dir, Root::note(dir, root)?, limits, own, book))
    }

    /// Goes on with a store after a restart or a crash. Does not look at the tree.
    pub fn open(dir: &Path, root: &Path, limits: Limits) -> Result<Self, ReviewError> {
        record::check(dir)?;
        let own = PackStore::open(dir)?;
        let (book, read) = Manifest::open(dir)?;
        let mut snapshot = Self::new(dir, Root::read(dir, root), limits, own, book);
        if let Some((head, seen)) = read {
            (snapshot.head, snapshot.seen, snapshot.looked) = (head, seen, true);
            (snapshot.began, snapshot.noted) = ([(snapshot.head.last, 0); 2], snapshot.head.last);
        }
        // Also where somebody has removed what all files were: then only they tell of what a first look came past.
        (snapshot.ignored, snapshot.closed) = (Ignored::read(dir), Closed::read(dir));
        (snapshot.beyond, snapshot.mounts) = (Beyond::read(dir), Mounts::read(dir));
        snapshot.only = snapshot.seen.values().filter(|entry| entry.only).map(|entry| entry.stat.ino).collect();
        snapshot.objects.reopen(snapshot.seen.values().filter_map(|entry| entry.state.oid()));
        Ok(snapshot)
    }

    fn new(dir: &Path, root: Root, limits: Limits, own: PackStore, book: Manifest) -> Self {
        Self {
            dir: dir.to_owned(),
            clock: FilesClock::new(root.path(), dir),
            root,
            limits,
            objects: Objects::new(dir, own),
            book,
            head: Header::default(),
            noted: 0,
            seen: Entries::new(),
            unsaved: Vec::new(),
            looked: false,
            began: Default::default(),
            since: Time::default(),
            scans: 0,
            indexes: LastRead::default(),
            dirs: BTreeSet::new(),
            closed: Closed::new(dir),
            unread: BTreeMap::new(),
            opened: BTreeMap::new(),
            come: HashSet::new(),
            beyond: Beyond::new(dir),
            mounts: Mounts::new(dir),
            gone: 0,
            hidden: Arc::default(),
            moves: Moves::default(),
            ignored: Ignored::default(),
            verified: None,
            failed: None,
            only: BTreeSet::new(),
            vanished: Default::default(),
            #[cfg(test)]
            meanwhile: None,
        }
    }

    /// Nothing happens here but what a test wants.
    #[cfg_attr(not(test), expect(clippy::unused_self, reason = "only tests have something that happens meanwhile"))]
    fn at(&mut self, point: Point) {
        #[cfg(test)]
        if let Some(meanwhile) = &mut self.meanwhile {
            meanwhile(point);
        }
        #[cfg(not(test))]
        let _ = point;
    }

    /// Looks at the whole tree: what differs from the last look, sorted by path. The first look of a store has no
    /// changes. Content that is new is durable before this returns.
    pub fn scan(&mut self) -> Result<Vec<Change>, ReviewError> {
        let started = self.clock.now();
        let first = !self.looked;
        self.objects.begin_look()?;
        self.at(Point::Began);
        let mut walked = walk::walk(self.root.path(), None, self.limits.files.saturating_mul(2), &self.hidden);
        if first && self.finds_git(&walked, started)? {
            walked = walk::walk(self.root.path(), None, self.limits.files.saturating_mul(2), &self.hidden);
        }
        self.at(Point::Walked);
        let repo = Repo::find(self.root.path());
        self.objects.find(self.root.path(), repo.as_ref(), &walked.repos)?;
        let (index, nested) = (self.new_index(repo.as_ref()), self.new_nested(&walked.repos));
        let named = Named { own: index.as_ref(), nested: &nested };
        self.at(Point::IndexRead);
        self.beyond.now = TooMuch {
            files: walked.cut && !walked.has_long_names,
            names: walked.has_long_names,
            rules: walked.has_many_rules,
        };
        let mut jobs = self.jobs(&walked, &named);
        self.at(Point::Compared);
        self.mark_known(&mut jobs, first);
        self.at(Point::Judged);
        self.dirs = std::mem::take(&mut walked.dirs);
        let before = (self.head, self.began);
        self.since = self.began[0];
        self.head.last = started.0;
        self.began = [started, if first { started } else { self.began[0] }];
        let mut news = Vec::new();
        let tracked: HashSet<&[u8]> = index.iter().filter(|_| first).flat_map(|index| index.tracked()).collect();
        if first {
            named.mark(&mut jobs);
        }
        if let (true, Some(repo), Some(index)) = (first, &repo, &index) {
            let files = walked.files.iter().map(|(key, _)| key);
            let attributes = files.filter(|key| repo::is_attributes(key)).cloned().collect();
            if !repo.converts(self.root.path(), index, &attributes) {
                self.believe(index, started, &mut jobs, &mut news);
            }
        }
        // There may be very many.
        walked.files = Vec::new();
        let changes = self.capture(jobs, news, first);
        if changes.is_err() {
            (self.head.last, self.began) = (before.0.last, before.1);
        } else {
            self.failed = walked.failed.as_ref().map(|(key, error)| {
                ReviewError::io(&self.root.path().join(walk::path(key)), std::io::Error::from(*error))
            });
            let (root, is_tracked) = (self.root.path(), &|key: &[u8]| tracked.contains(key) || named.has_nested(key));
            let of_first = First { store: &self.dir, root, began: started, hidden: &self.hidden, is_tracked };
            // What another first look has found, whose manifest is gone, stays.
            let is_new = first && self.ignored.began == Time::default();
            self.ignored.passed(&walked, is_new.then_some(of_first))?;
            self.notes_histories(&walked, is_new)?;
            self.closed.passed((&walked, self.root.path()), started, (!first).then_some(before.1[0]))?;
            self.beyond.passed()?;
            if is_new {
                self.mounts.note(self.root.path())?;
                staged::note(&self.dir, repo.as_ref(), index.as_ref())?;
            }
            self.vanished[0] = std::mem::take(&mut self.vanished[1]);
            self.note_verified(first);
            let shut = if first { self.shut() } else { Vec::new() };
            if !shut.is_empty() {
                // Nobody has done anything yet: what can be read now is no news.
                self.look(&shut)?;
            }
        }
        changes
    }

    /// Looks at these paths only, absolute or below the root; others are ignored. What is ignored by git is covered
    /// from then on: its present state is no change. A directory stands for everything in it that is covered.
    pub fn look(&mut self, paths: &[PathBuf]) -> Result<Vec<Change>, ReviewError> {
        self.since = self.began[0];
        let keys = walk::Keys::new(self.root.path()).all(paths);
        let mut reader = Reader::new(self.root.path());
        let (mut jobs, mut part) = (Vec::new(), Part::default());
        let (mut asked, mut there, mut dirs) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        for key in keys {
            let stat = match reader.stat(&key) {
                Ok(stat) => stat,
                Err(error) => {
                    self.unread.insert(key, error.raw_os_error().unwrap_or(0));
                    continue;
                }
            };
            if stat.is_some() && !self.seen.contains_key(&key) {
                there.insert(key.clone());
            }
            let dir = key.is_empty() || stat.is_some_and(|stat| stat.kind == Kind::Dir);
            // What was in a directory that is gone counts as well.
            asked.extend(self.within(&key));
            if !self.seen.contains_key(&key) {
                // It may only be news that it is not ignored.
                let rules =
                    walk::parents(&key).map(|dir| [dir, if dir.is_empty() { &b""[..] } else { b"/" }, RULES].concat());
                asked.extend(rules.map(RelPath::from).filter(|rules| self.seen.contains_key(rules)));
            }
            if dir || self.closed.around(&key).is_some() {
                dirs.push(key.clone());
            }
            if dir {
                part.below.insert(key.clone());
            } else if !self.seen.contains_key(&key) {
                part.paths.insert(key.clone());
            }
            if !key.is_empty() && (!dir || self.seen.contains_key(&key)) {
                asked.insert(key);
            }
        }
        self.at(Point::Asked);
        let walked = if !part.below.is_empty() || part.paths.iter().any(|key| there.contains(key)) {
            walk::walk(self.root.path(), Some(part), self.limits.files, &self.hidden)
        } else {
            Walked::default()
        };
        self.at(Point::AskedAgain);
        let covered: BTreeSet<&RelPath> = walked.files.iter().map(|(key, _)| key).collect();
        asked.extend(walked.files.iter().map(|(key, _)| key.clone()));
        let mut room = self.limits.files.saturating_sub(self.seen.len());
        for key in asked {
            let Ok(stat) = reader.stat(&key) else { continue };
            self.unread.remove(&key);
            let known = self.seen.get(&key).copied();
            let walked = covered.contains(&key);
            match known {
                Some(entry) if !entry.differs(stat.as_ref()) => continue,
                None if room == 0 => {
                    self.beyond.now.files = true;
                    continue;
                }
                None => room -= 1,
                Some(_) => {}
            }
            let walked_before = known.is_some_and(|entry| entry.walked);
            let was_there = there.contains(&key);
            let (hidden, fresh) = (!walked && was_there, !walked && !was_there);
            jobs.push(Job { walked: walked || walked_before, hidden, fresh, ..Job::new(key, known, stat) });
        }
        self.mark_known(&mut jobs, !self.looked);
        self.at(Point::Judged);
        if !jobs.is_empty() {
            self.objects.refresh();
        }
        let changes = self.capture(jobs, Vec::new(), false)?;
        self.closed.looked_into(&dirs, &walked)?;
        Ok(changes)
    }

    /// The same with the record of what earlier sessions have found true, below `dir`.
    pub fn with_record(self, dir: &Path) -> Self {
        Self { verified: Some(verified::Verified::read(dir, self.root())), ..self }
    }

    /// The same without what the client keeps for itself, also where it has been seen before.
    pub fn without(mut self, private: &Private) -> Self {
        let own = OwnFiles::new(self.root.path(), private);
        self.hidden = Arc::new(repositories::read(&self.dir, own, self.looked));
        self.keeps_seen();
        self
    }

    /// What a path that is to be read or written is known by.
    pub(crate) fn key(&self, path: &Path) -> Option<RelPath> {
        walk::key(self.root.path(), path).filter(|key| !key.is_empty() && !self.hidden.has(key))
    }

    #[cfg(test)]
    pub(crate) fn saves(&self) -> usize {
        self.book.saves + self.objects.own.packs()
    }

    /// What `path` was when it was last looked at.
    #[cfg(test)]
    fn state(&self, path: &Path) -> State {
        let below = path.strip_prefix(self.root.path()).unwrap_or(path);
        let entry = self.seen.get(walk::bytes(below));
        let entry = entry.or_else(|| self.seen.get(&walk::key(self.root.path(), path)?));
        entry.map_or(State::Absent, |entry| entry.state)
    }

    /// For reading what is at a path now, also in several threads.
    pub(crate) fn peeks(&self) -> Peek<'_> {
        Peek { root: self.root.path(), seen: &self.seen, hidden: &self.hidden, file_bytes: self.limits.file_bytes }
    }

    /// Reads what is at `path` now, and records nothing; see `Peek::peek`.
    pub fn peek(&self, path: &Path) -> Result<(State, Option<Vec<u8>>), ReviewError> {
        self.peeks().peek(path)
    }

    /// Records that we have just written `path` ourselves: the next look reports only what differs from `state`.
    /// [`Snapshot::save`] makes that durable, for many paths at once.
    pub fn set(&mut self, path: &Path, state: State) -> Result<(), ReviewError> {
        let key = self.key(path).ok_or_else(|| {
            ReviewError::Refused(format!(
                "{} is not covered: below .git, or not in the session's directory",
                visible(path.as_os_str())
            ))
        })?;
        let stat = Reader::new(self.root.path()).stat(&key).map_err(|e| ReviewError::io(path, e))?.unwrap_or_default();
        let known = self.seen.get(&key).copied();
        // What we have written over may only be in a store that is not ours.
        if let Some(before) = known.and_then(|entry| entry.state.oid()).filter(|oid| !self.objects.own.has(oid))
            && state.oid() != Some(before)
            && let Some(bytes) = self.objects.read_theirs(&before)
        {
            self.objects.keep(&bytes)?;
        }
        let walked = known.is_some_and(|entry| entry.walked);
        let entry = Entry { state, stat, racy: true, walked, ..Entry::default() };
        let stays = !state.is_absent() || known.is_some_and(|entry| !entry.walked);
        let update = (key, stays.then_some(entry));
        self.unsaved.push(update.clone());
        self.accept(vec![update]);
        Ok(())
    }

    /// What a file was when the record last told of it. Without a first look at everything nothing else says so, and what
    /// was changed since would be taken for what was always there.
    pub fn recall(&mut self, path: &Path, state: State) {
        let Some(key) = self.key(path).filter(|key| !self.looked && !self.seen.contains_key(key)) else { return };
        let entry = Entry { state, racy: true, ..Entry::default() };
        self.accept(vec![(key, Some(entry))]);
    }

    /// What `path`, below the root, was when it was last looked at; nothing when it is not covered, or never was there.
    pub(crate) fn known(&self, path: &Path) -> Option<State> {
        self.seen.get(walk::bytes(path)).filter(|entry| !entry.unreadable).map(|entry| entry.state)
    }

    #[cfg(test)]
    pub(crate) fn uncovered(&self) -> Vec<String> {
        self.uncovered_but(&|_| false, false).into_iter().map(|line| line.words).collect()
    }

    /// Why the last look at everything has not seen all, when the disk is to blame.
    pub fn take_failed(&mut self) -> Option<ReviewError> {
        self.failed.take()
    }

    /// Why a path could not be looked at when it was asked for last.
    pub fn unread(&self, path: &Path) -> Option<std::io::Error> {
        self.unread.get(walk::bytes(path)).map(|number| std::io::Error::from_raw_os_error(*number))
    }

    pub fn root(&self) -> &Path {
        self.root.path()
    }

    fn capture(
        &mut self,
        mut jobs: Vec<Job>,
        news: Vec<(RelPath, Entry)>,
        whole: bool,
    ) -> Result<Vec<Change>, ReviewError> {
        jobs.retain(|job| !self.hidden.has(&job.key) && (job.known.is_some() || !self.hidden.is_of_others(&job.key)));
        self.objects.seal();
        let started = self.clock.now();
        let left = self.limits.kept_bytes.saturating_sub(self.head.kept);
        order(&mut jobs, left);
        let stores = Stores {
            root: self.root.path(),
            own: &self.objects.own,
            file_bytes: self.limits.file_bytes,
            started,
            left: AtomicU64::new(left),
            fresh: AtomicU64::new(self.limits.fresh_bytes),
            pack: Mutex::new(None),
            large: Mutex::new(()),
        };
        let found = capture(&stores, &self.objects.theirs, &jobs)?;
        let kept = left.saturating_sub(stores.left.into_inner());
        if let Some(pack) = stores.pack.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
            self.objects.own.finish(pack)?;
        }
        self.head.kept += kept;
        self.objects.owe(capture::owed(&jobs, &found))?;
        self.opened.clear();
        self.come.clear();
        let mut changes = Vec::new();
        let mut moved = moves::Found::default();
        let mut updates: Vec<(RelPath, Option<Entry>)> =
            news.into_iter().map(|(key, entry)| (key, Some(entry))).collect();
        for (job, seen) in jobs.into_iter().zip(found) {
            let Some(Seen { state, stat, racy, unreadable, lost: is_lost, owed }) = seen else { continue };
            match unreadable {
                Some(why) => drop(self.unread.insert(job.key.clone(), why)),
                None => drop(self.unread.remove(&job.key)),
            }
            let was_shut = job.known.filter(|was| was.unreadable && as_moved(&was.stat) == as_moved(&stat));
            if let Some(was) = was_shut.filter(|_| unreadable.is_none()) {
                self.opened.insert(job.key.clone(), was.stat == stat && !was.racy);
            }
            // What was judged by its numbers is the same only as long as they are.
            let silent = job.silent && (!self.looked || job.stat == Some(stat));
            let new = if job.was_there || job.silent && !silent { unknown(&stat) } else { State::Absent };
            let before = job.known.map_or(new, |entry| entry.state);
            let before = if is_lost { lost(&before) } else { before };
            // There was no room for what a store had that is gone: the file is still the same.
            let same = (is_lost || owed) && job.known.is_some_and(|entry| entry.stat == stat);
            if before != state && !same && !(silent && job.known.is_none()) {
                if let Some(entry) = job.known.filter(|_| state.is_absent()) {
                    self.vanished[1].insert(as_moved(&entry.stat));
                }
                let change = Change { path: walk::path(&job.key).to_owned(), before, after: state };
                moved.take(&change, job.known.as_ref().map(|entry| &entry.stat), &stat);
                changes.push(change);
            }
            let is_new = job.known.is_none_or(|entry| entry.stat.ino != stat.ino);
            // One that has come into its place since the walk was not judged by that.
            let is_another = self.looked && job.stat.is_some_and(|was| was.ino != stat.ino);
            let has_come = is_another && self.is_from_elsewhere(&job.key, &stat);
            if job.known.is_none() && (job.has_come || has_come) {
                self.come.insert(job.key.clone());
            }
            let is_only = job.is_only(&state, &stat) || job.known.is_some() && has_come;
            let only = is_only || is_new && !state.is_absent() && self.only.contains(&stat.ino);
            if only {
                self.only.insert(stat.ino);
            }
            let entry =
                Entry { state, stat, racy, walked: job.walked, unreadable: unreadable.is_some(), only, visit: 0 };
            updates.push((job.key, (!state.is_absent() || !job.walked).then_some(entry)));
        }
        self.moves = moved.moves(|path, at| walk::was_there(&self.root.path().join(path), at));
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        if whole {
            // Lists of all of their packs are open by now; few are needed from here on.
            self.objects.refresh();
            self.accept(updates);
            self.book.rewrite(&self.head, &self.seen)?;
            (self.looked, self.noted) = (true, self.head.last);
            self.unsaved.clear();
        } else {
            self.unsaved.extend(updates.iter().cloned());
            self.accept(updates);
        }
        Ok(changes)
    }

    /// What a ledger has that is to be as long from now on.
    pub const fn note_ledger(&mut self, bytes: u64) {
        self.head.ledger = bytes;
    }

    /// Bytes that the ledger has at least.
    pub const fn noted_ledger(&self) -> u64 {
        self.head.ledger
    }

    /// Whether there was a look at everything, and what it saw is not on record any more. `had_turns`: one precedes each.
    pub fn has_lost_all(&self, had_turns: bool) -> bool {
        !self.looked && (had_turns || self.ignored.began != Time::default())
    }

    /// What was seen is written down once more where somebody has removed it, or written over it.
    pub fn restore(&mut self) -> Result<(), ReviewError> {
        if self.looked && self.is_saved() { self.book.restore(&self.head, &self.seen) } else { Ok(()) }
    }

    pub const fn is_saved(&self) -> bool {
        self.unsaved.is_empty()
    }

    /// Writes down what was seen since the last time. Who keeps a record of the changes writes that first: what is not
    /// saved here is found once more after a crash, and what is saved never again. Durable when it returns.
    pub fn save(&mut self) -> Result<(), ReviewError> {
        // Before the first look there is nothing to go on with.
        if !self.looked {
            return Ok(());
        }
        if self.unsaved.is_empty() {
            // What a look has come past is told by when it began, also of one that found nothing new.
            if self.head.last != self.noted && self.book.append(&self.head, &[]).is_ok() {
                self.noted = self.head.last;
            }
            return Ok(());
        }
        self.book.append(&self.head, &self.unsaved)?;
        self.noted = self.head.last;
        self.unsaved.clear();
        if self.book.outgrown() {
            self.book.rewrite(&self.head, &self.seen)?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "snapshot_tests.rs"]
mod tests;
