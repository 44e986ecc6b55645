//! What the worker has found out about lines of program text, for painting.
//!
//! Bounded by two generations: what is not found again after twice [`LINES`] lines is forgotten, and asked for again if
//! it is in view.

use crate::text::token::Token;
use std::collections::HashMap;
use std::ops::Range;

/// Lines of one generation.
const LINES: usize = 2048;

/// Coloured pieces of a line: bytes and what they are, sorted.
pub type Spans = Vec<(Range<u32>, Token)>;

#[derive(Debug, Default)]
pub(super) struct Colours {
    young: HashMap<u64, Spans>,
    old: HashMap<u64, Spans>,
}

impl Colours {
    pub(super) fn of(&self, key: u64) -> Option<&Spans> {
        self.young.get(&key).or_else(|| self.old.get(&key))
    }

    pub(super) fn learn(&mut self, key: u64, spans: Spans) {
        if self.young.len() >= LINES {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, spans);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_learnt_last_is_known_and_the_rest_bounded() {
        let mut colours = Colours::default();
        for key in 0..100_000 {
            colours.learn(key, Spans::new());
        }
        assert!(colours.of(99_999).is_some() && colours.of(98_000).is_some());
        assert!(colours.of(1).is_none());
        assert!(colours.young.len() + colours.old.len() <= 2 * LINES);
    }
}
