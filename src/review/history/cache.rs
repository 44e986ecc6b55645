//! Results that are kept for as long as there is room for them.
//!
//! Knows nothing of what they are. Invariant: never more entries or bytes than it was made for, but for the newest
//! entry, which is always kept; what was not asked for the longest goes first.

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

struct Entry<V> {
    value: V,
    bytes: usize,
    used: u64,
}

/// A bounded map; its values should be cheap to clone.
pub struct Kept<K, V> {
    entries: HashMap<K, Entry<V>>,
    /// From when each was used last; no two at the same time.
    used: BTreeMap<u64, K>,
    clock: u64,
    bytes: usize,
    max_entries: usize,
    max_bytes: usize,
}

impl<K: Clone + Eq + Hash, V: Clone> Kept<K, V> {
    pub fn new(max_entries: usize, max_bytes: usize) -> Self {
        Self { entries: HashMap::new(), used: BTreeMap::new(), clock: 0, bytes: 0, max_entries, max_bytes }
    }

    pub fn get<Q: ?Sized + Eq + Hash>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let entry = self.entries.get_mut(key)?;
        self.clock += 1;
        if let Some(key) = self.used.remove(&entry.used) {
            self.used.insert(self.clock, key);
        }
        entry.used = self.clock;
        Some(entry.value.clone())
    }

    /// Keeps a value that takes about so many bytes.
    pub fn put(&mut self, key: K, value: V, bytes: usize) {
        self.clock += 1;
        self.used.insert(self.clock, key.clone());
        self.bytes += bytes;
        if let Some(before) = self.entries.insert(key, Entry { value, bytes, used: self.clock }) {
            self.used.remove(&before.used);
            self.bytes -= before.bytes;
        }
        while self.entries.len() > 1 && (self.entries.len() > self.max_entries || self.bytes > self.max_bytes) {
            let Some((_, oldest)) = self.used.pop_first() else { break };
            if let Some(gone) = self.entries.remove(&oldest) {
                self.bytes -= gone.bytes;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there(kept: &mut Kept<u32, u32>) -> Vec<u32> {
        (0..10).filter(|n| kept.entries.contains_key(n)).collect()
    }

    #[test]
    fn what_was_not_asked_for_the_longest_goes_first() {
        let mut kept = Kept::new(3, 100);
        (0..3).for_each(|n| kept.put(n, n * 10, 1));
        assert_eq!(kept.get(&0), Some(0));
        kept.put(3, 30, 1);
        assert_eq!(there(&mut kept), [0, 2, 3]);
        // Bytes count as well, and what is put again counts once.
        kept.put(2, 20, 99);
        assert_eq!((there(&mut kept), kept.bytes), (vec![2, 3], 100));
        kept.put(2, 21, 99);
        assert_eq!((there(&mut kept), kept.bytes, kept.get(&2)), (vec![2, 3], 100, Some(21)));
    }

    #[test]
    fn what_is_larger_than_all_of_it_is_kept_alone() {
        let mut kept = Kept::new(3, 100);
        (0..3).for_each(|n| kept.put(n, n, 1));
        kept.put(3, 3, 1000);
        assert_eq!(there(&mut kept), [3]);
        kept.put(4, 4, 1);
        assert_eq!((there(&mut kept), kept.bytes, kept.used.len()), (vec![4], 1, 1));
    }
}
