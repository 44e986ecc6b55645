//! Results that are kept for as long as there is room for them.
//!
//! Knows nothing of what they are. Invariants: what was not asked for the longest goes first; the bytes are the sum of
//! those of what is kept; what was put or asked for since the last [`Weighted::mark`] stays.

use lru::LruCache;
use std::borrow::Borrow;
use std::hash::Hash;

#[derive(Debug)]
struct Entry<V> {
    value: V,
    bytes: usize,
    /// Marks there were when it was used last.
    used: u64,
}

/// A map that knows about how many bytes its values take.
#[derive(Debug)]
pub struct Weighted<K: Eq + Hash, V> {
    entries: LruCache<K, Entry<V>>,
    bytes: usize,
    marks: u64,
}

impl<K: Eq + Hash, V> Default for Weighted<K, V> {
    fn default() -> Self {
        Self { entries: LruCache::unbounded(), bytes: 0, marks: 0 }
    }
}

impl<K: Eq + Hash, V> Weighted<K, V> {
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Without asking for it.
    pub fn peek(&self, key: &K) -> Option<&V> {
        self.entries.peek(key).map(|entry| &entry.value)
    }

    pub fn get<Q: ?Sized + Eq + Hash>(&mut self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.get_mut(key).map(|value| &*value)
    }

    /// The value may change, but not how many bytes it takes.
    pub fn get_mut<Q: ?Sized + Eq + Hash>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let entry = self.entries.get_mut(key)?;
        entry.used = self.marks;
        Some(&mut entry.value)
    }

    /// Keeps a value that takes about so many bytes, in the place of what was there.
    pub fn put(&mut self, key: K, value: V, bytes: usize) {
        let entry = Entry { value, bytes, used: self.marks };
        let before = self.entries.put(key, entry).map_or(0, |before| before.bytes);
        self.bytes = (self.bytes + bytes).saturating_sub(before);
    }

    /// From now on what was used before may go.
    pub const fn mark(&mut self) {
        self.marks += 1;
    }

    /// Drops what has to go for so many entries and bytes to be left.
    pub fn shrink(&mut self, entries: usize, bytes: usize) {
        while self.entries.len() > entries || self.bytes > bytes {
            if self.entries.peek_lru().is_none_or(|(_, oldest)| oldest.used == self.marks) {
                return;
            }
            let gone = self.entries.pop_lru();
            self.bytes = self.bytes.saturating_sub(gone.map_or(0, |(_, gone)| gone.bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there(kept: &Weighted<u32, u32>) -> Vec<u32> {
        (0..10).filter(|n| kept.peek(n).is_some()).collect()
    }

    fn full() -> Weighted<u32, u32> {
        let mut kept = Weighted::default();
        (0..3).for_each(|n| kept.put(n, n * 10, 1));
        kept
    }

    #[test]
    fn what_was_not_asked_for_the_longest_goes_first() {
        let mut kept = full();
        assert_eq!(kept.get(&0), Some(&0));
        kept.peek(&1);
        kept.mark();
        kept.shrink(2, 100);
        assert_eq!(there(&kept), [0, 2]);
        // Bytes count as well, and what is put again counts once.
        kept.put(2, 20, 99);
        kept.put(2, 21, 99);
        assert_eq!((kept.bytes(), kept.peek(&2)), (100, Some(&21)));
        kept.shrink(2, 99);
        assert_eq!((there(&kept), kept.bytes()), (vec![2], 99));
    }

    #[test]
    fn what_is_in_use_stays_however_large_it_is() {
        let mut kept = full();
        kept.shrink(0, 0);
        assert_eq!(there(&kept), [0, 1, 2]);
        kept.mark();
        kept.put(3, 3, 1000);
        assert_eq!(kept.get(&1), Some(&10));
        kept.shrink(0, 0);
        assert_eq!((there(&kept), kept.bytes()), (vec![1, 3], 1001));
        kept.mark();
        kept.shrink(0, 0);
        assert_eq!((there(&kept), kept.bytes()), (vec![], 0));
    }
}
