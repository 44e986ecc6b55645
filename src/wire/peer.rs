//! Our own open requests: hands out ids and finds the request an answer belongs to.
//!
//! No IO, no time, and nothing about the peer's requests to us: those ids are another space (R-003). Invariant: an id
//! is used once per connection (R-002), and a request leaves the table exactly once.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::frame::RawId;
use super::head;

#[derive(Debug)]
pub struct Peer<T> {
    next: u64,
    /// With the method that was called.
    open: BTreeMap<u64, (T, Arc<str>)>,
}

impl<T> Default for Peer<T> {
    fn default() -> Self {
        Self { next: 0, open: BTreeMap::new() }
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
        self.open.remove(&id)
    }

    /// The open request that the head of a discarded answer names (R-028).
    pub fn head_names(&self, head: &[u8]) -> Option<u64> {
        let facts = head::scan(&String::from_utf8_lossy(head));
        let id = facts.id.filter(|_| facts.is_response && facts.method.is_none())?.as_u64()?;
        self.open.contains_key(&id).then_some(id)
    }

    /// Closes all of them, oldest first: the connection is gone (R-026).
    pub fn drain(&mut self) -> Vec<T> {
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
