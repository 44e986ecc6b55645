//! Our own open requests: hands out ids and finds the request an answer belongs to.
//!
//! No IO, no time, and nothing about the peer's requests to us: those ids are another space (R-003). Invariant: an id
//! is used once per connection (R-002), and a request leaves the table exactly once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::frame::RawId;
use super::head;

#[derive(Debug)]
pub struct Peer<T> {
    next: u64,
    /// With the method that was called.
    open: BTreeMap<u64, (T, Arc<str>)>,
    /// Open ones of which it was said which id they have.
    settled: BTreeSet<u64>,
}

impl<T> Default for Peer<T> {
    fn default() -> Self {
        Self { next: 0, open: BTreeMap::new(), settled: BTreeSet::new() }
    }
}

impl<T> Peer<T> {
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens a request and gives its id.
    pub fn begin(&mut self, tag: T, method: &str) -> u64 {
        let id = self.next;
        self.next = self.next.saturating_add(1);
        self.open.insert(id, (tag, method.into()));
        id
    }

    /// Closes the request this id names. `None` for an id that is unknown, late, repeated or not an integer (R-015).
    pub fn resolve(&mut self, id: &RawId) -> Option<(T, Arc<str>)> {
        self.close(id.as_u64()?)
    }

    pub fn close(&mut self, id: u64) -> Option<(T, Arc<str>)> {
        self.settled.remove(&id);
        self.open.remove(&id)
    }

    /// What waits under this id.
    pub fn of(&self, id: u64) -> Option<&T> {
        self.open.get(&id).map(|(tag, _)| tag)
    }

    /// Gives an id to the oldest of those requests that have none for certain: what was between them is not known any
    /// more, so that they cannot be counted.
    pub fn settle(&mut self, id: u64, method: &str, is_it: impl Fn(&T) -> bool) {
        let mut open = self.open.iter();
        let found = open.find(|(at, (tag, of))| !self.settled.contains(at) && **of == *method && is_it(tag));
        let Some(at) = found.map(|(at, _)| *at) else { return };
        let (found, other) = (self.open.remove(&at), self.open.remove(&id));
        // Where they are the same there is no other.
        self.open.extend(other.map(|request| (at, request)));
        self.open.extend(found.map(|request| (id, request)));
        self.settled.insert(id);
        self.next = self.next.max(id.saturating_add(1));
    }

    /// The open request that the head of a discarded answer names (R-028).
    pub fn head_names(&self, head: &[u8]) -> Option<u64> {
        let facts = head::scan(&String::from_utf8_lossy(head));
        let id = facts.id.filter(|_| facts.is_response && facts.method.is_none())?.as_u64()?;
        self.open.contains_key(&id).then_some(id)
    }

    /// Closes all of them, oldest first: the connection is gone (R-026).
    pub fn drain(&mut self) -> Vec<T> {
        self.settled.clear();
        std::mem::take(&mut self.open).into_values().map(|(tag, _)| tag).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id(text: &str) -> RawId {
        RawId::from_json(text).unwrap()
    }

    #[test]
    fn r_015_only_an_open_integer_id_matches_and_only_once() {
        let mut peer = Peer::new();
        peer.begin('a', "m");
        let b = peer.begin('b', "m");
        for other in ["\"1\"", "1.0", "null", "7", "-1", "1e0"] {
            assert_eq!(peer.resolve(&id(other)), None, "{other}");
        }
        assert_eq!(peer.resolve(&RawId::number(b)), Some(('b', "m".into())));
        assert_eq!(peer.resolve(&RawId::number(b)), None);
        assert_eq!(peer.drain(), vec!['a']);
        assert!(peer.drain().is_empty());
    }

    #[test]
    fn r_028_a_discarded_answer_names_its_request() {
        let mut peer = Peer::new();
        peer.begin((), "session/prompt");
        assert_eq!(peer.head_names(br#"{"jsonrpc":"2.0","id":0,"result":"aaaa"#), Some(0));
        assert_eq!(peer.head_names(br#"{"jsonrpc":"2.0","id":1,"result":"aaaa"#), None);
        assert_eq!(peer.head_names(br#"{"id":0,"method":"fs/read","params":"aaaa"#), None);
    }

    #[test]
    fn requests_that_cannot_be_counted_have_the_ids_that_are_said() {
        let mut peer = Peer::new();
        for tag in ['a', 'b', 'c'] {
            peer.begin(tag, "m");
        }
        peer.settle(1, "m", |tag| *tag == 'a');
        assert_eq!((peer.of(0), peer.of(1)), (Some(&'b'), Some(&'a')), "they change places");
        peer.settle(7, "m", |_| true);
        assert_eq!((peer.of(7), peer.of(0)), (Some(&'b'), None), "a is settled");
        peer.settle(8, "other", |_| true);
        assert_eq!(peer.begin('d', "m"), 8, "no id is used twice");
        assert_eq!(peer.resolve(&id("1")), Some(('a', "m".into())));
        assert_eq!(peer.drain(), ['c', 'b', 'd']);
    }

    proptest! {
        #[test]
        fn every_request_leaves_exactly_once(steps in proptest::collection::vec((any::<bool>(), 0u64..20), 0..200)) {
            let mut peer = Peer::new();
            let mut begun = Vec::new();
            let mut left = Vec::new();
            for (open, pick) in steps {
                if open {
                    let tag = begun.len() as u64;
                    let given = peer.begin(tag, "m");
                    prop_assert!(!begun.contains(&given));
                    begun.push(given);
                } else if let Some((tag, _)) = peer.resolve(&RawId::number(pick)) {
                    left.push(begun[tag as usize]);
                    prop_assert_eq!(begun[tag as usize], pick);
                }
            }
            left.extend(peer.drain().into_iter().map(|tag| begun[tag as usize]));
            left.sort_unstable();
            prop_assert_eq!(left, begun);
        }
    }
}
