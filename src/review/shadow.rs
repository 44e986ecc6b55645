//! The shadow of a workspace: what every file was when it was last looked at, and its content.
//!
//! Lives outside of the workspace, blocks, and never writes to a repository of the person's. Invariant: the content of
//! what a look reports is durable before it is reported; that it was seen is so after [`Shadow::save`], and what was
//! not saved when all ended is reported again.

use super::earlier::Before;
use super::error::ReviewError;
use super::index::{self, Index, Repo};
use super::keeping::Keeping;
use super::manifest::{Book, Entries, Entry, Head};
use super::objects::Theirs;
use super::settle::{Job, Seen, Stores, lost, mark, now, order, racy, settle, unkept, unknown};
use super::state::{Change, State};
use super::store::{self, Own};
use super::walk::{self, Found, Key, Kind, OldRules, Part, Reader, Stat, Walked};
use super::words;
use std::cell::Cell;
use std::collections::{BTreeSet, HashSet};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

/// How much is taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Paths.
    pub files: usize,
    /// Bytes of content that no git store has.
    pub kept_bytes: u64,
    /// Bytes of one file; the content of a larger one is not kept.
    pub file_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { files: 200_000, kept_bytes: 200 << 20, file_bytes: 64 << 20 }
    }
}

const RULES: &[u8] = b".gitignore";

/// A snapshot of a workspace that is brought up to date by looking.
pub struct Shadow {
    pub(super) dir: PathBuf,
    root: PathBuf,
    limits: Limits,
    pub(super) own: Own,
    pub(super) theirs: Theirs,
    pub(super) keeping: Keeping,
    /// The directories of `theirs`.
    pub(super) stores: Vec<PathBuf>,
    /// Directories with a `.git` that were asked for their objects.
    repos: BTreeSet<PathBuf>,
    book: Book,
    head: Head,
    seen: Entries,
    /// What is in `seen` and not in `book`.
    unsaved: Vec<(Key, Option<Entry>)>,
    /// There was a look at the whole tree.
    looked: bool,
    scans: u32,
    /// The person's index as it was read last.
    index: Option<Stat>,
    dirs: BTreeSet<Key>,
    barred: Vec<Key>,
    /// There are more files than are looked at.
    full: bool,
    pub(super) missing: Cell<bool>,
    /// How many of `stores` were gone when it was last looked after what they had.
    gone: usize,
    /// Files of rules that have changed since the last look at everything, as they were then.
    ruled: Vec<(Key, State)>,
}

impl Shadow {
    /// A new store in `dir`, which must not exist, for the tree at `root`, an absolute and real path. Looks at nothing.
    pub fn create(dir: &Path, root: &Path, limits: Limits) -> Result<Self, ReviewError> {
        walk::private_dir(dir)?;
        let (own, book) = (Own::create(dir)?, Book::create(dir)?);
        Ok(Self::new(dir, root, limits, own, book))
    }

    /// Goes on with a store after a restart or a crash. Does not look at the tree.
    pub fn open(dir: &Path, root: &Path, limits: Limits) -> Result<Self, ReviewError> {
        if !dir.is_dir() {
            return Err(ReviewError::Store(format!("nothing at {}", dir.display())));
        }
        let own = Own::open(dir)?;
        let (book, read) = Book::open(dir)?;
        let mut shadow = Self::new(dir, root, limits, own, book);
        if let Some((head, seen)) = read {
            (shadow.head, shadow.seen, shadow.looked) = (head, seen, true);
        }
        let named = shadow.seen.values().filter_map(|entry| entry.state.oid());
        shadow.keeping.need(named.filter(|oid| !shadow.own.has(oid)));
        shadow.stores = store::alternates(dir);
        shadow.theirs = shadow.open_theirs();
        Ok(shadow)
    }

    fn new(dir: &Path, root: &Path, limits: Limits, own: Own, book: Book) -> Self {
        Self {
            dir: dir.to_owned(),
            root: root.to_owned(),
            limits,
            own,
            theirs: Theirs::default(),
            keeping: Keeping::new(dir),
            stores: Vec::new(),
            repos: BTreeSet::new(),
            book,
            head: Head::default(),
            seen: Entries::new(),
            unsaved: Vec::new(),
            looked: false,
            scans: 0,
            index: None,
            dirs: BTreeSet::new(),
            barred: Vec::new(),
            full: false,
            missing: Cell::new(false),
            gone: 0,
            ruled: Vec::new(),
        }
    }

    /// Looks at the whole tree: what differs from the last look, sorted by path. The first look of a store has no
    /// changes. Content that is new is durable before this returns.
    pub fn scan(&mut self) -> Result<Vec<Change>, ReviewError> {
        let started = now();
        let first = !self.looked;
        let walked = walk::walk(&self.root, None, self.limits.files.saturating_mul(2));
        let repo = Repo::find(&self.root);
        self.find_stores(repo.as_ref(), &walked.repos)?;
        let index = self.new_index(repo.as_ref());
        let rules = self.rules(repo.as_ref(), &walked);
        let unclear = self.full || !self.barred.is_empty() || rules != self.head.rules;
        self.full = walked.cut;
        let mut jobs = self.jobs(&walked, index.as_ref());
        self.hush(&mut jobs, first, unclear);
        (self.dirs, self.barred) = (walked.dirs.clone(), walked.barred.clone());
        let before = self.head;
        (self.head.last, self.head.rules) = (started.0, rules);
        let mut news = Vec::new();
        if let (true, Some(repo), Some(index)) = (first, &repo, &index) {
            let files = walked.files.iter().map(|(key, _)| key);
            let attributes = files.filter(|key| index::is_attributes(key)).cloned().collect();
            if !repo.converts(&self.root, index, &attributes) {
                self.believe(index, &mut jobs, &mut news);
            }
        }
        let changes = self.settle(jobs, news, first);
        if changes.is_err() {
            (self.head.last, self.head.rules) = (before.last, before.rules);
        } else {
            self.ruled.clear();
        }
        changes
    }

    /// Looks at these paths only, absolute or below the root; others are ignored. What is ignored by git is covered
    /// from then on: its present state is no change. A directory stands for everything in it that is covered.
    pub fn look(&mut self, paths: &[PathBuf]) -> Result<Vec<Change>, ReviewError> {
        let keys: BTreeSet<Key> = paths.iter().filter_map(|path| walk::key(&self.root, path)).collect();
        let mut reader = Reader::new(&self.root);
        let (mut jobs, mut part) = (Vec::new(), Part::default());
        let mut asked = BTreeSet::new();
        for key in keys {
            let Ok(stat) = reader.stat(&key) else { continue };
            let dir = key.is_empty() || stat.is_some_and(|stat| stat.kind == Kind::Dir);
            // What was in a directory that is gone counts as well.
            asked.extend(self.within(&key));
            if !self.seen.contains_key(&key) {
                // It may only be news that it is not ignored.
                let rules =
                    parents(&key).map(|dir| [dir, if dir.is_empty() { &b""[..] } else { b"/" }, RULES].concat());
                asked.extend(rules.map(Key::from).filter(|rules| self.seen.contains_key(rules)));
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
        let existing = part.paths.iter().any(|key| reader.stat(key).is_ok_and(|stat| stat.is_some()));
        let walked = if existing || !part.below.is_empty() {
            walk::walk(&self.root, Some(part), self.limits.files)
        } else {
            Walked::default()
        };
        let covered: BTreeSet<&Key> = walked.files.iter().map(|(key, _)| key).collect();
        asked.extend(walked.files.iter().map(|(key, _)| key.clone()));
        let mut room = self.limits.files.saturating_sub(self.seen.len());
        for key in asked {
            let Ok(stat) = reader.stat(&key) else { continue };
            let known = self.seen.get(&key).copied();
            let walked = covered.contains(&key);
            match known {
                Some(entry) if !differs(&entry, stat.as_ref()) => continue,
                None if room == 0 => {
                    self.full = true;
                    continue;
                }
                None => room -= 1,
                Some(_) => {}
            }
            let walked_before = known.is_some_and(|entry| entry.walked);
            jobs.push(Job { key, known, stat, walked: walked || walked_before, silent: !walked, there: false });
        }
        self.hush(&mut jobs, !self.looked, self.full || !self.barred.is_empty());
        if !jobs.is_empty() {
            self.theirs = self.open_theirs();
        }
        self.settle(jobs, Vec::new(), false)
    }

    /// What `path` was when it was last looked at.
    #[cfg(test)]
    fn state(&self, path: &Path) -> State {
        let below = path.strip_prefix(&self.root).unwrap_or(path);
        let entry = self.seen.get(walk::bytes(below));
        let entry = entry.or_else(|| self.seen.get(&walk::key(&self.root, path)?));
        entry.map_or(State::Absent, |entry| entry.state)
    }

    /// Reads what is at `path` now, and records nothing. The content is that of a file or the target of a link; `None`
    /// for nothing, and for what is too large. Where content was not kept, the state is the one last seen as long
    /// as the file was not touched. Refuses what is outside of the root, and what is neither file nor link.
    pub fn peek(&self, path: &Path) -> Result<(State, Option<Vec<u8>>), ReviewError> {
        let refused = |why| ReviewError::Refused(format!("{} {why}", path.display()));
        let key = walk::key(&self.root, path).filter(|key| !key.is_empty());
        let key = key.ok_or_else(|| refused("is not in the workspace"))?;
        let found = Reader::new(&self.root).read(&key, self.limits.file_bytes).map_err(|e| ReviewError::io(path, e))?;
        let before = |stat: &Stat| self.seen.get(&key).map(|entry| entry.state).filter(|state| *state == unkept(stat));
        Ok(match found {
            // What is in a directory is looked at by itself.
            Found::Absent | Found::Dir => (State::Absent, None),
            Found::Other => return Err(refused("is neither a file nor a link")),
            Found::Barred(_, e) => return Err(ReviewError::io(path, e)),
            Found::Big(stat) => (unkept(&stat), None),
            Found::Link { target, .. } => {
                (State::Link { oid: store::hash(&target)?, size: target.len() as u64 }, Some(target))
            }
            Found::File { stat, bytes, .. } => {
                let now = || Ok(State::File { oid: store::hash(&bytes)?, mode: stat.mode, size: bytes.len() as u64 });
                (before(&stat).map_or_else(now, Ok)?, Some(bytes))
            }
        })
    }

    /// Records that we have just written `path` ourselves: the next look reports only what differs from `state`.
    pub fn set(&mut self, path: &Path, state: State) -> Result<(), ReviewError> {
        let key = walk::key(&self.root, path).filter(|key| !key.is_empty());
        let key = key.ok_or_else(|| ReviewError::Refused(format!("{} is not in the workspace", path.display())))?;
        let stat = Reader::new(&self.root).stat(&key).map_err(|e| ReviewError::io(path, e))?.unwrap_or_default();
        let known = self.seen.get(&key).copied();
        // What we have written over may only be in a store that is not ours.
        if let Some(before) = known.and_then(|entry| entry.state.oid()).filter(|oid| !self.own.has(oid))
            && state.oid() != Some(before)
            && let Some(bytes) = self.theirs.read(&before).or_else(|| self.open_theirs().read(&before))
        {
            self.keep(&bytes)?;
        }
        let walked = known.is_some_and(|entry| entry.walked);
        let entry = Entry { state, stat, racy: true, walked, ..Entry::default() };
        let stays = !state.is_absent() || known.is_some_and(|entry| !entry.walked);
        let update = (key, stays.then_some(entry));
        self.unsaved.push(update.clone());
        self.accept(vec![update]);
        self.save()
    }

    /// What is not covered, in words: what is ignored, too large, unreadable, too much.
    pub fn uncovered(&self) -> Vec<String> {
        let mut dirs = self.dirs.clone();
        if dirs.is_empty() {
            dirs = self.seen.keys().flat_map(|key| parents(key)).map(Key::from).collect();
        }
        let mut named: Vec<String> = self.keeping.at_risk(&self.own, &self.theirs, &self.seen).into_iter().collect();
        named.extend(words::uncovered(
            &self.root,
            &dirs,
            &self.seen,
            &self.barred,
            self.head.last,
            self.full.then_some(self.limits.files),
        ));
        named
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    // ---- what there is to look at

    /// Known paths below a directory.
    fn within(&self, dir: &[u8]) -> Vec<Key> {
        let under = if dir.is_empty() { Vec::new() } else { [dir, b"/"].concat() };
        let from = self.seen.range::<[u8], _>((Bound::Included(&under[..]), Bound::Unbounded));
        from.take_while(|(key, _)| key.starts_with(&under)).map(|(key, _)| key.clone()).collect()
    }

    /// Opens the stores of the person's repositories, those of new ones as well.
    fn find_stores(&mut self, repo: Option<&Repo>, nested: &[PathBuf]) -> Result<(), ReviewError> {
        let mut dirs = self.stores.clone();
        dirs.extend(repo.map(Repo::objects));
        for dir in nested.iter().filter(|dir| **dir != self.root) {
            if self.repos.insert(dir.clone()) {
                dirs.extend(Repo::find(dir).map(|repo| repo.objects()));
            }
        }
        let mut known = HashSet::new();
        dirs.retain(|dir| known.insert(dir.clone()));
        if dirs != self.stores {
            store::set_alternates(&self.dir, &dirs)?;
            self.stores = dirs;
        }
        self.theirs = self.open_theirs();
        Ok(())
    }

    /// The person's index, when it is not the one that was read last.
    fn new_index(&mut self, repo: Option<&Repo>) -> Option<Index> {
        let repo = repo?;
        let stat = Stat::of_meta(&repo.index_path().metadata().ok()?);
        if self.index == Some(stat) {
            return None;
        }
        self.index = Some(stat);
        repo.index(&self.root)
    }

    /// A number that changes when other paths may be ignored than before.
    fn rules(&self, repo: Option<&Repo>, walked: &Walked) -> u64 {
        let mut files = index::rules(repo);
        if walk::in_git(&self.root) {
            files.extend(self.root.ancestors().skip(1).map(|dir| dir.join(".gitignore")));
        }
        let mut numbers = vec![0; 8];
        for file in files {
            let stat = file.metadata().map_or_else(|_| Stat::default(), |meta| Stat::of_meta(&meta));
            numbers.extend_from_slice(&mark(&stat).to_le_bytes());
        }
        walked.repos.iter().for_each(|dir| numbers.extend_from_slice(walk::bytes(dir)));
        store::sha1(&[&numbers]).map_or(0, |sum| sum.iter().take(8).fold(0, |all, byte| all << 8 | u64::from(*byte)))
    }

    /// What of the tree has to be looked at more closely.
    fn jobs(&mut self, walked: &Walked, index: Option<&Index>) -> Vec<Job> {
        self.scans = self.scans.wrapping_add(1);
        let mut jobs = Vec::new();
        // What only a store had that is gone can still be had from the files that nobody has changed yet.
        let gone = self.stores.iter().filter(|dir| !dir.is_dir()).count();
        let bereft = std::mem::replace(&mut self.gone, gone) < gone;
        let (own, theirs) = (&self.own, &self.theirs);
        let is_lost = |e: &Entry| bereft && e.state.oid().is_some_and(|o| !own.has(&o) && theirs.size(&o).is_none());
        let mut room = self.limits.files.saturating_sub(self.seen.len());
        for (key, stat) in &walked.files {
            match self.seen.get_mut(key) {
                Some(entry) => {
                    entry.visit = self.scans;
                    entry.walked = true;
                    if differs(entry, Some(stat)) || is_lost(entry) {
                        let known = Some(*entry);
                        jobs.push(Job {
                            key: key.clone(),
                            known,
                            stat: Some(*stat),
                            walked: true,
                            silent: false,
                            there: false,
                        });
                    }
                }
                None if room == 0 => self.full = true,
                None => {
                    room -= 1;
                    jobs.push(Job {
                        key: key.clone(),
                        known: None,
                        stat: Some(*stat),
                        walked: true,
                        silent: false,
                        there: false,
                    });
                }
            }
        }
        let mut reader = Reader::new(&self.root);
        for (key, entry) in self.seen.iter_mut().filter(|(_, entry)| entry.visit != self.scans) {
            // Without permission to look, what was seen last stays.
            let Ok(stat) = reader.stat(key) else { continue };
            if differs(entry, stat.as_ref()) {
                jobs.push(Job {
                    key: key.clone(),
                    known: Some(*entry),
                    stat,
                    walked: entry.walked,
                    silent: false,
                    there: false,
                });
            }
        }
        let found: HashSet<&[u8]> = match index {
            Some(_) => walked.files.iter().map(|(key, _)| &**key).collect(),
            None => HashSet::new(),
        };
        for key in index.into_iter().flat_map(Index::tracked) {
            if room == 0 || found.contains(key) || self.seen.contains_key(key) {
                continue;
            }
            if let Ok(Some(stat)) = reader.stat(key)
                && matches!(stat.kind, Kind::File | Kind::Link)
            {
                room -= 1;
                jobs.push(Job {
                    key: key.into(),
                    known: None,
                    stat: Some(stat),
                    walked: false,
                    silent: true,
                    there: false,
                });
            }
        }
        jobs
    }

    fn hush(&self, jobs: &mut [Job], first: bool, unclear: bool) {
        let mut ruled = self.ruled.clone();
        let now = jobs.iter().filter(|job| names_rules(&job.key));
        ruled.extend(now.map(|job| (job.key.clone(), job.known.map_or(State::Absent, |entry| entry.state))));
        let text = |state: &State| self.content(state).unwrap_or_default();
        let rules: Vec<OldRules> = ruled.iter().filter_map(|(key, state)| OldRules::of(key, &text(state))).collect();
        // Since we were here last, rules may have changed and been looked at.
        let doubtful = unclear || !ruled.is_empty() || (self.looked && self.scans <= 1);
        Before { root: &self.root, last: self.head.last, first, doubtful, unclear, rules: &rules }.hush(jobs);
    }

    /// Takes from the person's index what it knows for sure, so that it need not be read.
    fn believe(&self, index: &Index, jobs: &mut Vec<Job>, news: &mut Vec<(Key, Entry)>) {
        let started = now();
        jobs.retain(|job| {
            let Some((stat, oid)) = job.stat.and_then(|stat| Some((stat, index.blob(&job.key, &stat)?))) else {
                return true;
            };
            if stat.size > self.limits.file_bytes || self.theirs.size(&oid) != Some(stat.size) {
                return true;
            }
            let state = match stat.kind {
                Kind::Link => State::Link { oid, size: stat.size },
                _ => State::File { oid, mode: stat.mode, size: stat.size },
            };
            let racy = racy(&stat, started);
            news.push((job.key.clone(), Entry { state, stat, racy, walked: job.walked, barred: false, visit: 0 }));
            false
        });
    }

    // ---- what came of it

    fn settle(&mut self, mut jobs: Vec<Job>, news: Vec<(Key, Entry)>, whole: bool) -> Result<Vec<Change>, ReviewError> {
        self.keeping.seal(&mut self.own);
        let left = self.limits.kept_bytes.saturating_sub(self.head.kept);
        order(&mut jobs, left);
        let stores = Stores {
            root: &self.root,
            own: &self.own,
            file_bytes: self.limits.file_bytes,
            left: AtomicU64::new(left),
            pack: Mutex::new(None),
        };
        let found = settle(&stores, &self.theirs, &jobs)?;
        let kept = left.saturating_sub(stores.left.into_inner());
        if let Some(pack) = stores.pack.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
            self.own.finish(pack)?;
        }
        self.head.kept += kept;
        let mut changes = Vec::new();
        let mut updates: Vec<(Key, Option<Entry>)> = news.into_iter().map(|(key, entry)| (key, Some(entry))).collect();
        for (job, seen) in jobs.into_iter().zip(found) {
            let Some(Seen { state, stat, racy, barred, lost: is_lost }) = seen else { continue };
            let new = if job.there { unknown(&stat) } else { State::Absent };
            let before = job.known.map_or(new, |entry| entry.state);
            let before = if is_lost { lost(&before) } else { before };
            // There was no room for what a store had that is gone: the file is still the same.
            let same = is_lost && job.known.is_some_and(|entry| entry.stat == stat);
            if before != state && !same && !(job.silent && job.known.is_none()) {
                if names_rules(&job.key) && !self.ruled.iter().any(|(key, _)| *key == job.key) {
                    self.ruled.push((job.key.clone(), before));
                }
                changes.push(Change { path: walk::path(&job.key).to_owned(), before, after: state });
            }
            let entry = Entry { state, stat, racy, walked: job.walked, barred, visit: 0 };
            updates.push((job.key, (!state.is_absent() || !job.walked).then_some(entry)));
        }
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        if whole {
            // All of their packs are mapped by now; few are needed from here on.
            self.theirs = self.open_theirs();
            self.accept(updates);
            self.book.rewrite(&self.head, &self.seen)?;
            self.looked = true;
            self.unsaved.clear();
        } else {
            self.unsaved.extend(updates.iter().cloned());
            self.accept(updates);
        }
        Ok(changes)
    }

    pub const fn is_saved(&self) -> bool {
        self.unsaved.is_empty()
    }

    /// Writes down what was seen since the last time. Who keeps a record of the changes writes that first: what is not
    /// saved here is found once more after a crash, and what is saved never again. Durable when it returns.
    pub fn save(&mut self) -> Result<(), ReviewError> {
        // Before the first look there is nothing to go on with.
        if self.unsaved.is_empty() || !self.looked {
            return Ok(());
        }
        self.book.append(&self.head, &self.unsaved)?;
        self.unsaved.clear();
        if self.book.outgrown() {
            self.book.rewrite(&self.head, &self.seen)?;
        }
        Ok(())
    }

    fn accept(&mut self, updates: Vec<(Key, Option<Entry>)>) {
        let named = updates.iter().filter_map(|(_, entry)| entry.as_ref()?.state.oid());
        self.keeping.need(named.filter(|oid| !self.own.has(oid)));
        for (key, entry) in updates {
            match entry {
                Some(entry) => self.seen.insert(key, entry),
                None => self.seen.remove(&key),
            };
        }
    }
}

/// Whether a path has to be read again.
fn differs(entry: &Entry, stat: Option<&Stat>) -> bool {
    match stat {
        Some(stat) => entry.racy || entry.stat != *stat,
        None => !entry.state.is_absent(),
    }
}

fn names_rules(key: &[u8]) -> bool {
    key.rsplit(|byte| *byte == b'/').next() == Some(RULES)
}

/// The directories above a path, the root as well.
fn parents(key: &[u8]) -> impl Iterator<Item = &[u8]> {
    let slashes = (0..key.len()).filter(|at| key[*at] == b'/');
    std::iter::once(&key[..0]).chain(slashes.map(|at| &key[..at]))
}

#[cfg(test)]
#[path = "shadow_tests.rs"]
mod tests;
