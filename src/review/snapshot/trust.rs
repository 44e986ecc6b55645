//! What one run has learned of object stores that are not ours, and how much work they may still cause.
//!
//! Anybody may put packs beside those of a repository, as many as there is room for, each of which says to have whatever
//! it likes. Opens nothing. Invariants: work that gives nothing is bounded for each look, however many packs and files there
//! are; a pack that has been wrong more often than right is asked last; nothing is forgotten because of that.

use crate::review::state::Oid;
use crate::review::worktree::plain::FileId;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes that may be unpacked or read for nothing, for one look.
pub(super) const WASTE: u64 = 64 << 20;
/// The same for contents that are nowhere else, as it seems.
const RESERVE: u64 = 512 << 20;
/// Bytes of work that each content is worth: a fixed number, and so many for each of its own.
pub(super) const LEAST_WORTH: u64 = 64 << 10;
const WORTH: u64 = 8;
/// What work costs besides the bytes: opening a list, following a delta, an answer that is none.
pub(super) const OPENED: u64 = 1 << 10;
pub(super) const STEP: u64 = 256;
const WRONG: u64 = 4 << 10;
/// What is larger is made by one thread at a time.
const ALONE: u64 = 8 << 20;
/// So many wrong answers more than right ones, and a pack is asked last.
const FORGIVEN: i64 = 8;

/// How often a pack was right, and how often it was not.
#[derive(Default)]
pub(super) struct Record {
    right: AtomicU32,
    wrong: AtomicU32,
}

impl Record {
    /// How much more often it was wrong than right: those with the least are asked first.
    pub(super) fn faults(&self) -> i64 {
        i64::from(self.wrong.load(Ordering::Relaxed)) - i64::from(self.right.load(Ordering::Relaxed))
    }

    /// Whether it has been wrong so often that others come first.
    pub(super) fn is_bad(&self) -> bool {
        self.faults() > FORGIVEN
    }
}

pub(crate) struct Trust {
    /// Other names of a pack are the same pack.
    packs: Mutex<HashMap<FileId, Arc<Record>>>,
    /// In which file a content was read as it should be, until it is kept.
    whole: Mutex<HashMap<Oid, FileId>>,
    left: AtomicU64,
    reserve: AtomicU64,
    /// Held by who makes something large.
    large: Mutex<()>,
}

impl Default for Trust {
    fn default() -> Self {
        let (left, reserve) = (AtomicU64::new(WASTE), AtomicU64::new(RESERVE));
        Self { packs: Mutex::default(), whole: Mutex::default(), left, reserve, large: Mutex::default() }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Trust {
    /// Another look begins.
    pub(crate) fn renew(&self) {
        self.left.store(WASTE, Ordering::Relaxed);
        self.reserve.store(RESERVE, Ordering::Relaxed);
    }

    /// Something is to be read that is nowhere else, as it seems: when nothing is left, there is some more for that.
    pub(super) fn needs(&self) {
        let less = |reserve: u64| reserve.checked_sub(WASTE);
        if self.left() == 0 && self.reserve.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok() {
            self.left.fetch_add(WASTE, Ordering::Relaxed);
        }
    }

    /// So many bytes are to be made; when that is much nobody else does, until what is `alone` is dropped.
    pub(super) fn makes<'a>(&'a self, size: u64, alone: &mut Option<MutexGuard<'a, ()>>) {
        if size > ALONE && alone.is_none() {
            *alone = Some(locked(&self.large));
        }
    }

    /// Bytes of work that may still be for nothing.
    pub(super) fn left(&self) -> u64 {
        self.left.load(Ordering::Relaxed)
    }

    /// Whether there is something left after so much work.
    pub(super) fn spend(&self, work: u64) -> bool {
        let less = |left: u64| Some(left.saturating_sub(work));
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok_and(|before| before > work)
    }

    pub(super) fn record(&self, pack: FileId) -> Arc<Record> {
        locked(&self.packs).entry(pack).or_default().clone()
    }

    /// After so much work a content of `size` bytes was read.
    pub(super) fn was_right(&self, record: &Record, work: u64, size: u64) {
        record.right.fetch_add(1, Ordering::Relaxed);
        self.spend(work.saturating_sub(worth(size)));
    }

    /// After so much work it is not what it should be.
    pub(super) fn was_wrong(&self, record: &Record, work: u64) {
        record.wrong.fetch_add(1, Ordering::Relaxed);
        self.was_for_nothing(work);
    }

    /// So much work has given nothing.
    pub(super) fn was_for_nothing(&self, work: u64) {
        self.spend(work + WRONG);
    }

    pub(super) fn found(&self, oid: Oid, file: FileId) {
        locked(&self.whole).insert(oid, file);
    }

    /// The file in which that was read as it should be.
    pub(super) fn whole(&self, oid: &Oid) -> Option<FileId> {
        locked(&self.whole).get(oid).copied()
    }

    /// How often packs were asked for what they say to have.
    #[cfg(test)]
    pub(super) fn answers(&self) -> u32 {
        let packs = locked(&self.packs);
        packs.values().map(|one| one.right.load(Ordering::Relaxed) + one.wrong.load(Ordering::Relaxed)).sum()
    }

    /// That is kept, or cannot be.
    pub(super) fn done_with(&self, oid: &Oid) {
        let mut whole = locked(&self.whole);
        whole.remove(oid);
        if whole.is_empty() {
            *whole = HashMap::new();
        }
    }
}

/// Work that a content of so many bytes is worth.
pub(super) const fn worth(size: u64) -> u64 {
    size.saturating_mul(WORTH).saturating_add(LEAST_WORTH)
}
