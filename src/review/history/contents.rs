//! Contents behind states, and the merging of states.
//!
//! Wraps the snapshot store, and keeps what was read and compared, so that a text is split and compared once and not once
//! for every hunk. Decides nothing about who changed what. Invariants: a merge either has everything of both sides or
//! says that it has not; what is kept is bounded.

use super::cache::BoundedCache;
use crate::host::worktrees::Thing;
use crate::review::error::ReviewError;
use crate::review::snapshot::Snapshot;
use crate::review::state::{Oid, State};
use crate::review::text::diff::{self, Edit, HunkLines, edits_within, hunks};
use crate::review::text::lines::Lines;
use crate::review::text::merge::{Merged, merge};
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How much is kept of each kind, in entries and bytes.
const TEXTS: (usize, usize) = (1024, 32 << 20);
const EDITS: (usize, usize) = (4096, 8 << 20);
const HUNKS: (usize, usize) = (512, 16 << 20);
const JOINS: usize = 1024;
const SAME: usize = 16 << 10;
/// Time in one act for comparing texts that take long: each gets half of what is left of it, and at least this. Few files
/// take so long; texts of many lines that are alike may take any time.
const COMPARING: Duration = Duration::from_secs(4);
const ONE: Duration = Duration::from_millis(100);
/// How much of that stays when a turn is over, as a divisor: what the next turn changes is read and compared anew, and a
/// session that lasts for days does not fill all of it with what nobody looks at any more.
const AT_REST: usize = 16;

/// Names the lines of a state; nothing for a file that is not there.
type Text = Option<Oid>;
type Place = (Text, Range<usize>);

pub struct Contents {
    pub snapshot: Snapshot,
    texts: BoundedCache<Oid, Option<Lines>>,
    edits: BoundedCache<(Text, Text), Option<Arc<[Edit]>>>,
    hunks: BoundedCache<(Text, Text), Hunks>,
    joins: BoundedCache<(State, State, State), Joined>,
    same: BoundedCache<(Place, Place), bool>,
    /// What is left of the time for comparing.
    pub(crate) time: Duration,
    /// Whether comparing is to end; what it was for is not done then.
    pub(crate) stop: Option<Stop>,
    /// Moves with each file that is read or shown: a caller may wait for what is made of all of them.
    pub(crate) pulse: Arc<AtomicU64>,
    /// How often two texts were compared, and files made ready to be looked at.
    #[cfg(test)]
    pub(crate) compared: usize,
    #[cfg(test)]
    pub(crate) shown: usize,
}

/// Whether work is to end, asked often.
pub type Stop = Arc<dyn Fn() -> bool + Send + Sync>;

pub type Hunks = Arc<[Arc<HunkLines>]>;

/// What came of merging three states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Joined {
    Clean(State),
    /// Why not, in words.
    Conflict(String),
}

impl Contents {
    pub fn new(snapshot: Snapshot) -> Self {
        Self {
            snapshot,
            texts: BoundedCache::new(TEXTS.0, TEXTS.1),
            edits: BoundedCache::new(EDITS.0, EDITS.1),
            hunks: BoundedCache::new(HUNKS.0, HUNKS.1),
            joins: BoundedCache::new(JOINS, usize::MAX),
            same: BoundedCache::new(SAME, usize::MAX),
            time: COMPARING,
            stop: None,
            pulse: Arc::default(),
            #[cfg(test)]
            compared: 0,
            #[cfg(test)]
            shown: 0,
        }
    }

    /// An act begins: it has its time.
    pub const fn begin_comparing(&mut self) {
        self.time = COMPARING;
    }

    /// Fails when comparing is to end.
    pub fn go_on(&self) -> Result<(), ReviewError> {
        if self.stop.as_ref().is_some_and(|stop| stop()) { Err(ReviewError::Stopped) } else { Ok(()) }
    }

    /// Compares two texts in the time that there is; coarsely when that is up.
    fn told_apart(&mut self, was: &Lines, is: &Lines) -> Arc<[Edit]> {
        let began = Instant::now();
        let edits = edits_within(was, is, (self.time / 2).clamp(ONE, diff::TIME));
        let took = began.elapsed();
        if took > ONE {
            self.time = self.time.saturating_sub(took);
        }
        edits.into()
    }

    /// Gives most of what is kept back: a turn is over.
    pub fn rest(&mut self) {
        self.texts.shrink(TEXTS.0 / AT_REST, TEXTS.1 / AT_REST);
        self.edits.shrink(EDITS.0 / AT_REST, EDITS.1 / AT_REST);
        self.hunks.shrink(HUNKS.0 / AT_REST, HUNKS.1 / AT_REST);
        self.joins.shrink(JOINS / AT_REST, usize::MAX);
        self.same.shrink(SAME / AT_REST, usize::MAX);
    }

    /// Bytes of texts and of what was made of them.
    #[cfg(test)]
    pub(crate) const fn kept(&self) -> usize {
        self.texts.bytes() + self.edits.bytes() + self.hunks.bytes()
    }

    pub fn content(&self, state: &State) -> Result<Vec<u8>, ReviewError> {
        self.pulse.fetch_add(1, Ordering::Relaxed);
        if state.is_absent() { Ok(Vec::new()) } else { self.snapshot.objects.content(state) }
    }

    /// The lines of a file; nothing for what is no text, a link, or not kept. An absent file has no lines.
    pub fn text(&mut self, state: &State) -> Result<Option<Lines>, ReviewError> {
        self.pulse.fetch_add(1, Ordering::Relaxed);
        match name(state) {
            None => Ok(None),
            Some(None) => Ok(Lines::of(Vec::new())),
            Some(Some(oid)) => match self.texts.get(&oid) {
                Some(lines) => Ok(lines),
                None => {
                    self.texts.make_room(usize::try_from(state.size()).unwrap_or(usize::MAX));
                    let bytes = self.snapshot.objects.content(state)?;
                    Ok(self.split(oid, bytes))
                }
            },
        }
    }

    fn split(&mut self, oid: Oid, bytes: Vec<u8>) -> Option<Lines> {
        let size = bytes.len();
        let lines = Lines::of(bytes);
        // With where each line begins.
        let size = lines.as_ref().map_or(0, |lines| size + lines.len() * size_of::<u32>());
        self.texts.put(oid, lines.clone(), size);
        lines
    }

    /// What turns one text into the other; nothing when one of them is none.
    pub fn edits(&mut self, old: &State, new: &State) -> Result<Option<Arc<[Edit]>>, ReviewError> {
        let Some(key) = name(old).zip(name(new)) else { return Ok(None) };
        if let Some(edits) = self.edits.get(&key) {
            return Ok(edits);
        }
        self.go_on()?;
        let (was, is) = (self.text(old)?, self.text(new)?);
        let found: Option<Arc<[Edit]>> = was.zip(is).map(|(was, is)| self.told_apart(&was, &is));
        #[cfg(test)]
        {
            self.compared += usize::from(key.0 != key.1);
        }
        let bytes = found.as_ref().map_or(0, |edits| size_of_val(&**edits));
        self.edits.put(key, found.clone(), bytes);
        Ok(found)
    }

    /// The same as hunks; none when one of them is no text.
    pub fn hunks(&mut self, old: &State, new: &State) -> Result<Hunks, ReviewError> {
        let (Some(key), Some(edits)) = (name(old).zip(name(new)), self.edits(old, new)?) else {
            return Ok(Arc::from([]));
        };
        if let Some(hunks) = self.hunks.get(&key) {
            return Ok(hunks);
        }
        let Some((was, is)) = self.text(old)?.zip(self.text(new)?) else { return Ok(Arc::from([])) };
        let found: Hunks = hunks(&was, &is, &edits).into_iter().map(Arc::new).collect();
        self.hunks.put(key, Arc::clone(&found), found.iter().map(|hunk| hunk.size()).sum());
        Ok(found)
    }

    /// Whether two ranges of lines, each of a state, are the same.
    pub fn same(&mut self, a: (&State, &Range<usize>), b: (&State, &Range<usize>)) -> Result<bool, ReviewError> {
        let (Some(one), Some(other)) = (name(a.0), name(b.0)) else { return Ok(false) };
        if a.1.len() != b.1.len() {
            return Ok(false);
        }
        // To be asked again for every document, of texts that are many by then.
        let key = ((one, a.1.clone()), (other, b.1.clone()));
        if let Some(same) = self.same.get(&key) {
            return Ok(same);
        }
        let Some((x, y)) = self.text(a.0)?.zip(self.text(b.0)?) else { return Ok(false) };
        let same =
            a.1.end <= x.len() && b.1.end <= y.len() && a.1.clone().zip(b.1.clone()).all(|(m, n)| x.raw(m) == y.raw(n));
        self.same.put(key, same, 0);
        Ok(same)
    }

    /// Keeps a text that is to be on the disk.
    pub fn file(&mut self, bytes: &[u8], mode: u32) -> Result<State, ReviewError> {
        let oid = self.snapshot.objects.keep(bytes)?;
        if self.texts.get(&oid).is_none() {
            self.texts.make_room(bytes.len());
            self.split(oid, bytes.to_vec());
        }
        Ok(State::File { oid, mode, size: bytes.len() as u64 })
    }

    /// One side of a merge, its content kept.
    pub fn of_merge(&mut self, thing: &Thing) -> Result<State, ReviewError> {
        match thing {
            Thing::Nothing => Ok(State::Absent),
            Thing::File { mode, bytes } => {
                let content = fs::read(bytes).map_err(|e| ReviewError::io(bytes, e))?;
                self.file(&content, *mode)
            }
            Thing::Link(target) => {
                Ok(State::Link { oid: self.snapshot.objects.keep(target)?, size: target.len() as u64 })
            }
        }
    }

    /// The state on the disk now, its content kept.
    pub fn on_disk(&mut self, path: &Path) -> Result<State, ReviewError> {
        let (state, content) = self.snapshot.peek(path)?;
        if state.oid().is_some()
            && let Some(content) = content
        {
            self.snapshot.objects.keep(&content)?;
        }
        Ok(state)
    }

    /// What differs between `base` and `theirs`, put into `ours`.
    pub fn join(&mut self, base: &State, ours: &State, theirs: &State) -> Result<Joined, ReviewError> {
        if ours == base || ours == theirs {
            return Ok(Joined::Clean(*theirs));
        }
        if theirs == base {
            return Ok(Joined::Clean(*ours));
        }
        let key = (*base, *ours, *theirs);
        if let Some(joined) = self.joins.get(&key) {
            return Ok(joined);
        }
        let joined = self.join_apart(base, ours, theirs)?;
        self.joins.put(key, joined.clone(), 0);
        Ok(joined)
    }

    fn join_apart(&mut self, base: &State, ours: &State, theirs: &State) -> Result<Joined, ReviewError> {
        let (
            State::File { oid: base_oid, mode: base_mode, .. },
            State::File { oid: our_oid, mode: our_mode, size: our_size },
            State::File { oid: their_oid, mode: their_mode, size: their_size },
        ) = (base, ours, theirs)
        else {
            return Ok(Joined::Conflict(unlike(base, ours, theirs).to_owned()));
        };
        let mode = if our_mode == base_mode { *their_mode } else { *our_mode };
        let with = |oid: &Oid, size: &u64| Joined::Clean(State::File { oid: *oid, mode, size: *size });
        if our_oid == base_oid || our_oid == their_oid {
            return Ok(with(their_oid, their_size));
        }
        if their_oid == base_oid {
            return Ok(with(our_oid, our_size));
        }
        let edits = self.edits(base, ours)?.zip(self.edits(base, theirs)?);
        let texts = (self.text(base)?, self.text(ours)?, self.text(theirs)?);
        let ((Some(base), Some(ours), Some(theirs)), Some((our_edits, their_edits))) = (texts, edits) else {
            return Ok(Joined::Conflict("changed by two, and not a text".to_owned()));
        };
        match merge(&base, (&ours, &our_edits), (&theirs, &their_edits)) {
            Merged::Clean(bytes) => Ok(Joined::Clean(self.file(&bytes, mode)?)),
            Merged::Conflict { why } => Ok(Joined::Conflict(why)),
        }
    }

    /// Like [`Contents::join`]; nothing when that is a conflict.
    pub fn joined(&mut self, base: &State, ours: &State, theirs: &State) -> Result<Option<State>, ReviewError> {
        Ok(match self.join(base, ours, theirs)? {
            Joined::Clean(state) => Some(state),
            Joined::Conflict(_) => None,
        })
    }
}

/// What a state's lines are known by; nothing when it has none that are kept.
const fn name(state: &State) -> Option<Text> {
    match state {
        State::Absent => Some(None),
        State::File { oid, .. } => Some(Some(*oid)),
        State::Link { .. } | State::Unkept { .. } => None,
    }
}

fn unlike(base: &State, ours: &State, theirs: &State) -> &'static str {
    if ours.is_absent() {
        "deleted meanwhile"
    } else if theirs.is_absent() {
        "changed after it was created"
    } else if base.is_absent() {
        "created by two"
    } else {
        "changed by two, and not a plain file"
    }
}
