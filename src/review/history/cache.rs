//! What was read and compared, for as long as there is room for it.
//!
//! Invariant: never more entries or bytes than it was made for, but for the newest entry, which is always kept.

use crate::base::weighted::Weighted;
use std::borrow::Borrow;
use std::hash::Hash;

/// A bounded map; its values should be cheap to clone.
pub struct BoundedCache<K: Eq + Hash, V> {
    entries: Weighted<K, V>,
    max_entries: usize,
    max_bytes: usize,
}

impl<K: Eq + Hash, V: Clone> BoundedCache<K, V> {
    pub fn new(max_entries: usize, max_bytes: usize) -> Self {
        Self { entries: Weighted::default(), max_entries, max_bytes }
    }

    pub fn get<Q: ?Sized + Eq + Hash>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.entries.get(key).cloned()
    }

    /// Keeps a value that takes about so many bytes.
    pub fn put(&mut self, key: K, value: V, bytes: usize) {
        self.entries.mark();
        self.entries.put(key, value, bytes);
        self.entries.shrink(self.max_entries, self.max_bytes);
    }

    /// Drops what there would be no room for beside a value of so many bytes, before that is made.
    pub fn make_room(&mut self, bytes: usize) {
        self.shrink(self.max_entries, self.max_bytes.saturating_sub(bytes));
    }

    #[cfg(test)]
    pub const fn bytes(&self) -> usize {
        self.entries.bytes()
    }

    /// Drops what was not asked for the longest, until so many entries and bytes are left.
    pub fn shrink(&mut self, entries: usize, bytes: usize) {
        self.entries.mark();
        self.entries.shrink(entries, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_bounded_and_the_newest_is_kept() {
        let mut kept = BoundedCache::new(3, 100);
        (0..4).for_each(|n| kept.put(n, n, 1));
        assert_eq!((kept.get(&0), kept.get(&1)), (None, Some(1)));
        kept.put(4, 4, 1000);
        assert_eq!((kept.get(&1), kept.get(&3), kept.get(&4)), (None, None, Some(4)));
    }

    #[test]
    fn room_is_made_before_a_value_is_there() {
        let mut kept = BoundedCache::new(3, 100);
        (0..3).for_each(|n| kept.put(n, n, 30));
        kept.make_room(10);
        assert_eq!(kept.bytes(), 90, "there is room");
        kept.make_room(50);
        assert_eq!((kept.get(&1), kept.get(&2)), (None, Some(2)));
        kept.make_room(1000);
        assert_eq!(kept.bytes(), 0);
    }

    #[test]
    fn shrunk_it_keeps_what_was_asked_for_last_and_grows_again() {
        let mut kept = BoundedCache::new(3, 100);
        (0..3).for_each(|n| kept.put(n, n, 10));
        assert_eq!(kept.get(&0), Some(0));
        kept.shrink(3, 15);
        assert_eq!((kept.get(&0), kept.get(&1), kept.get(&2)), (Some(0), None, None));
        (1..3).for_each(|n| kept.put(n, n, 10));
        assert_eq!((kept.get(&0), kept.get(&1), kept.get(&2)), (Some(0), Some(1), Some(2)));
        kept.shrink(0, 0);
        assert_eq!(kept.get(&2), None);
    }
}
