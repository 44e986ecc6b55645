//! What a journal has under keys of its own: nearly always one thing, or none.
//!
//! In memory and in the index it is a list: a map would take a page of memory for each thing of thousands of journals.
//! Invariant: no key is there twice, but where the index says so.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Keyed<T>(Vec<(u32, T)>);

impl<T> Default for Keyed<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Keyed<T> {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn last_key(&self) -> Option<u32> {
        self.0.iter().map(|(key, _)| *key).max()
    }

    fn place(&self, key: u32) -> Option<usize> {
        self.0.iter().position(|(one, _)| *one == key)
    }

    pub fn get(&self, key: u32) -> Option<&T> {
        self.0.get(self.place(key)?).map(|(_, value)| value)
    }

    pub fn insert(&mut self, key: u32, value: T) {
        match self.place(key).and_then(|at| self.0.get_mut(at)) {
            Some((_, old)) => *old = value,
            None => self.0.push((key, value)),
        }
    }

    pub fn remove(&mut self, key: u32) -> Option<T> {
        self.place(key).map(|at| self.0.swap_remove(at).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn it_is_written_as_a_map_is_and_holds_each_key_once() {
        let mut keyed = Keyed::default();
        for (key, value) in [(0, "a"), (7, "b"), (9, "c"), (7, "d")] {
            keyed.insert(key, value.to_owned());
        }
        assert_eq!((keyed.len(), keyed.last_key(), keyed.get(7).map(String::as_str)), (3, Some(9), Some("d")));
        let map: BTreeMap<u32, String> = [(0, "a"), (7, "d"), (9, "c")].map(|(k, v)| (k, v.to_owned())).into();
        let bytes = postcard::to_allocvec(&map).unwrap();
        assert_eq!(postcard::to_allocvec(&keyed).unwrap(), bytes);
        assert_eq!(postcard::from_bytes::<Keyed<String>>(&bytes).unwrap(), keyed);
        assert_eq!((keyed.remove(0), keyed.remove(0)), (Some("a".to_owned()), None));
    }
}
