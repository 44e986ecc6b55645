//! Reads paths that may have changed, and stores content that is nowhere else.
//!
//! Two threads at most; records nothing. Invariant: what a state names is in a store when its pack is finished, and
//! the contents before and after a change are in ours,
//! or are said to be lost.

use super::alternates::{Alternates, Read};
use super::manifest::Entry;
use super::packs::{self, Pack, PackStore, encode, hash};
use crate::base::threads;
use crate::review::error::ReviewError;
use crate::review::state::{Oid, State};
use crate::review::worktree::walk::{Found, Kind, Reader, RelPath, Stat, Time};
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Fewer paths are not worth a second thread.
const ALONE: usize = 16;
/// A file from here on is read while no other thread reads one.
const LARGE: u64 = packs::LARGE as u64;
/// A file touched so shortly before it was read may be written again without a trace in its times: in seconds.
const RACY: i64 = 2;

/// What one thread has found, with its place among the jobs.
type Part = Result<Vec<(usize, Option<Seen>)>, ReviewError>;

/// A path to look at.
pub(crate) struct Job {
    pub key: RelPath,
    pub known: Option<Entry>,
    /// As the walk has found it; nothing when it was not there.
    pub stat: Option<Stat>,
    pub walked: bool,
    /// It was there when it was asked for, and the walk does not come past it: git's rules hide it.
    pub hidden: bool,
    /// It was not there a moment ago.
    pub fresh: bool,
    /// That it is new to us does not mean that it is new.
    pub silent: bool,
    /// It is new to us here, but was there before; its state then is unknown.
    pub was_there: bool,
    /// It was not here, and may have been elsewhere, where nobody looks, before the turn began.
    pub has_come: bool,
    /// What was known here was another file, or nothing.
    pub other: bool,
    /// The content that the person's index has for this path, at the first look.
    pub indexed: Option<Oid>,
    /// The same where by its times the file is unchanged since.
    pub believed: Option<Oid>,
    /// That index does not name it: no store of theirs has it, but by chance.
    pub untracked: bool,
}

impl Job {
    pub(crate) fn new(key: RelPath, known: Option<Entry>, stat: Option<Stat>) -> Self {
        let walked = known.is_some_and(|entry| entry.walked);
        Self {
            key,
            known,
            stat,
            walked,
            hidden: false,
            fresh: false,
            silent: false,
            was_there: false,
            has_come: false,
            other: false,
            indexed: None,
            believed: None,
            untracked: false,
        }
    }

    /// Whether the only copy may be what is there now: a file that has taken the place of another one.
    pub(crate) fn is_only(&self, state: &State, stat: &Stat) -> bool {
        let is_other = || match self.known {
            Some(entry) => self.other || entry.stat.ino != stat.ino,
            None => !self.silent,
        };
        match (state, self.known) {
            (State::Absent, _) => false,
            (State::Unkept { .. }, _) if is_other() => true,
            (_, Some(entry)) if !is_other() => entry.only,
            _ => self.was_there,
        }
    }

    /// Of a path that the walk has come past.
    pub(crate) fn walked(key: RelPath, known: Option<Entry>, stat: Stat) -> Self {
        Self { walked: true, ..Self::new(key, known, Some(stat)) }
    }
}

/// What a path was found to be.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub state: State,
    pub stat: Stat,
    pub racy: bool,
    /// It could not be read: the system's number for why.
    pub unreadable: Option<i32>,
    /// The content before it is in no store any more.
    pub lost: bool,
    /// It could not be read, though some store says to have it.
    pub owed: bool,
}

/// What became of the content before a change.
enum Rescued {
    Kept,
    /// It cannot be read now.
    Later,
    Lost,
}

/// Where content is found and kept.
pub(crate) struct Stores<'a> {
    pub root: &'a Path,
    pub own: &'a PackStore,
    /// Bytes of one file.
    pub file_bytes: u64,
    /// When the look began, by the clock of the files.
    pub started: Time,
    /// Bytes that may still be kept.
    pub left: AtomicU64,
    /// Bytes that may still be read of files that have come or have another size.
    pub fresh: AtomicU64,
    pub pack: Mutex<Option<Pack>>,
    /// Held by who reads a large one.
    pub large: Mutex<()>,
}

/// Whether a file with these numbers, looked at since `started`, may change without a trace.
pub(crate) fn racy(stat: &Stat, started: Time) -> bool {
    stat.touched() >= (started.0 - RACY, started.1)
}

/// A number that differs when a file was touched.
pub(crate) fn mark(stat: &Stat) -> u64 {
    let numbers =
        [stat.size, stat.mtime.0 as u64, stat.mtime.1.into(), stat.ctime.0 as u64, stat.ctime.1.into(), stat.ino];
    numbers
        .iter()
        .flat_map(|n| n.to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

pub(crate) fn unkept(stat: &Stat) -> State {
    State::Unkept { mark: mark(stat), mode: stat.mode, size: stat.size }
}

/// A file that was there, with no more known of it than that it is another now.
pub(crate) fn unknown(stat: &Stat) -> State {
    State::Unkept { mark: !mark(stat), mode: stat.mode, size: 0 }
}

/// The same state, of which only the name of the content is left.
pub(crate) fn lost(state: &State) -> State {
    let mark = state.oid().map_or(0, |oid| oid.0.iter().take(8).fold(0, |all, byte| all << 8 | u64::from(*byte)));
    match *state {
        State::File { mode, size, .. } => State::Unkept { mark, mode, size },
        State::Link { size, .. } => State::Unkept { mark, mode: 0o777, size },
        other => other,
    }
}

/// The order to look in: when not everything can be kept, the small ones first.
pub(crate) fn order(jobs: &mut [Job], left: u64) {
    let size = |job: &Job| job.stat.map_or(0, |stat| stat.size);
    let all = jobs.iter().map(size).fold(0, u64::saturating_add);
    if all > left {
        jobs.sort_by_key(size);
    }
}

/// Looks at all of them. `None` for what not even the system's numbers can be had of.
pub(crate) fn capture(stores: &Stores, theirs: &Alternates, jobs: &[Job]) -> Result<Vec<Option<Seen>>, ReviewError> {
    let next = AtomicUsize::new(0);
    let work = |theirs: Alternates| {
        let mut reader = Reader::new(stores.root);
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(at) else { return Ok(done) };
            done.push((at, stores.one(&mut reader, &theirs, job)?));
        }
    };
    let parts: Vec<Part> = if jobs.len() < ALONE {
        vec![work(theirs.clone())]
    } else {
        let copy = theirs.clone();
        let (other, mine) = threads::both(|| work(copy), || work(theirs.clone()));
        vec![mine, other.unwrap_or_else(|| Err(ReviewError::Store("a thread ended early".to_owned())))]
    };
    let mut all = vec![None; jobs.len()];
    for part in parts {
        for (at, seen) in part? {
            all[at] = seen;
        }
    }
    Ok(all)
}

/// The contents that were there before and could not be read.
pub(crate) fn owed(jobs: &[Job], found: &[Option<Seen>]) -> impl Iterator<Item = Oid> {
    let both = jobs.iter().zip(found).filter(|(_, seen)| seen.is_some_and(|seen| seen.owed));
    both.filter_map(|(job, _)| job.known?.state.oid())
}

impl Stores<'_> {
    fn one(&self, reader: &mut Reader, theirs: &Alternates, job: &Job) -> Result<Option<Seen>, ReviewError> {
        let sizes = [job.stat.map(|stat| stat.size), job.known.map(|entry| entry.stat.size)];
        let is_large = sizes.iter().flatten().any(|size| *size >= LARGE);
        let _alone = is_large.then(|| self.large.lock().unwrap_or_else(PoisonError::into_inner));
        let mut seen = self.look(reader, theirs, job)?;
        // The content before a change may only be in a store that is not ours, and not for long.
        let before = job.known.and_then(|entry| entry.state.oid());
        if let (Some(before), Some(seen)) = (before, &mut seen)
            && seen.state.oid() != Some(before)
        {
            (seen.lost, seen.owed) = match self.rescue(theirs, before)? {
                Rescued::Kept => (false, false),
                Rescued::Later => (false, true),
                Rescued::Lost => (true, false),
            };
        }
        Ok(seen)
    }

    fn look(&self, reader: &mut Reader, theirs: &Alternates, job: &Job) -> Result<Option<Seen>, ReviewError> {
        let started = self.started;
        if let Some(stat) = job.stat.filter(|stat| stat.kind == Kind::File)
            && let Some(seen) = self.unread(theirs, job, &stat, started)
        {
            return Ok(Some(seen));
        }
        let Ok(found) = reader.read(&job.key, self.file_bytes) else { return Ok(None) };
        let (state, stat, again, unreadable) = match found {
            Found::Absent | Found::Dir | Found::Other => return Ok(Some(Seen::default())),
            Found::Big(stat) => (unkept(&stat), stat, false, None),
            Found::Unreadable(stat, error) => {
                // What git knows of it is better than nothing, as long as it can be read there.
                let is_there = |oid: &Oid| theirs.read(oid).is_some_and(|bytes| bytes.len() as u64 == stat.size);
                let known =
                    job.believed.filter(is_there).map(|oid| State::File { oid, mode: stat.mode, size: stat.size });
                let before = job.known.filter(|entry| entry.unreadable && entry.stat == stat).map(|entry| entry.state);
                let state = before.or(known).unwrap_or_else(|| unkept(&stat));
                (state, stat, false, Some(error.raw_os_error().unwrap_or(0)))
            }
            Found::Link { stat, target } => {
                let state = self.kept(theirs, &target, job)?.map(|oid| State::Link { oid, size: target.len() as u64 });
                (state.unwrap_or_else(|| unkept(&stat)), stat, false, None)
            }
            Found::File { stat, bytes, torn } => {
                let file = |oid| State::File { oid, mode: stat.mode, size: bytes.len() as u64 };
                let state = self.kept(theirs, &bytes, job)?.map(file);
                (state.unwrap_or_else(|| unkept(&stat)), stat, torn, None)
            }
        };
        Ok(Some(Seen { state, stat, racy: again || racy(&stat, started), unreadable, ..Seen::default() }))
    }

    /// What is known of a file without reading it: that its content will not be kept.
    fn unread(&self, theirs: &Alternates, job: &Job, stat: &Stat, started: Time) -> Option<Seen> {
        let state = match job.known {
            // What could not be read may be read now.
            Some(entry) if entry.unreadable => return None,
            Some(entry) if matches!(entry.state, State::Unkept { .. }) && entry.stat == *stat => entry.state,
            // It may have been touched and nothing more.
            Some(Entry { state: State::File { size, .. }, .. }) if size == stat.size => return None,
            _ => {
                let is_room = stat.size <= self.left.load(Ordering::Relaxed);
                let may_be_kept = is_room || !theirs.is_empty() && !job.untracked;
                if may_be_kept && (job.silent || self.may_read(stat.size)) {
                    return None;
                }
                unkept(stat)
            }
        };
        Some(Seen { state, stat: *stat, racy: racy(stat, started), ..Seen::default() })
    }

    /// Whether so much more is read of what has come or has another size.
    fn may_read(&self, size: u64) -> bool {
        let less = |fresh: u64| fresh.checked_sub(size);
        self.fresh.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }

    /// The name of this content, once some store has it: ours, if it is part of a change or if the person's index does not
    /// name it here, since nobody else may have it; else one of theirs from which it can be read.
    /// `None`: it is too much to keep, or made to collide.
    fn kept(&self, theirs: &Alternates, bytes: &[u8], job: &Job) -> Result<Option<Oid>, ReviewError> {
        let Ok(oid) = hash(bytes) else { return Ok(None) };
        if self.own.has(&oid) || self.begun(&oid) {
            return Ok(Some(oid));
        }
        let size = bytes.len() as u64;
        let is_same = job.known.is_some_and(|known| known.state.oid() == Some(oid));
        let is_news = !is_same && (job.known.is_some() || !job.silent);
        if is_news && theirs.size(&oid) == Some(size) {
            self.add(oid, bytes)?;
            return Ok(Some(oid));
        }
        let is_indexed = is_same || job.indexed == Some(oid);
        if !is_news && is_indexed && theirs.holds(&oid, bytes) {
            return Ok(Some(oid));
        }
        let less = |left: u64| left.checked_sub(size);
        if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_err() {
            // Better in a store that may go than in none.
            let is_there = !is_news
                && if is_indexed { theirs.is_spent() && theirs.claims(&oid) } else { theirs.holds(&oid, bytes) };
            return Ok(is_there.then_some(oid));
        }
        if !self.add(oid, bytes)? {
            self.left.fetch_add(size, Ordering::Relaxed);
        }
        Ok(Some(oid))
    }

    /// What was there before a change comes into ours.
    fn rescue(&self, theirs: &Alternates, oid: Oid) -> Result<Rescued, ReviewError> {
        if self.own.has(&oid) || self.begun(&oid) {
            return Ok(Rescued::Kept);
        }
        match theirs.try_read(&oid) {
            Read::Whole(bytes) => self.add(oid, &bytes).map(|_| Rescued::Kept),
            Read::Unreadable => Ok(Rescued::Later),
            Read::Nothing => Ok(Rescued::Lost),
        }
    }

    fn begun(&self, oid: &Oid) -> bool {
        self.pack.lock().unwrap_or_else(PoisonError::into_inner).as_ref().is_some_and(|pack| pack.has(oid))
    }

    /// Whether it was not there yet.
    fn add(&self, oid: Oid, bytes: &[u8]) -> Result<bool, ReviewError> {
        // Two threads pack side by side, but what is packed of a large one is not held.
        let blob = if bytes.len() as u64 >= LARGE { None } else { Some(encode(oid, bytes)?) };
        let mut pack = self.pack.lock().unwrap_or_else(PoisonError::into_inner);
        let pack = match pack.as_mut() {
            Some(pack) => pack,
            None => pack.insert(self.own.begin()?),
        };
        match blob {
            Some(blob) => pack.add(&blob),
            None => pack.write(oid, bytes),
        }
    }
}
