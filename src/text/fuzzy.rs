//! Ranks names against what the person types.
//!
//! Holds no items; the caller bounds how many there are. Invariant: no item is named twice.

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use std::cmp::Reverse;

/// Longer items are matched by their beginning only.
const MAX_CHARS: usize = 1024;

/// The indices of the items that match, best first. Words of the query may match in any order; an empty query keeps all
/// items in their order.
pub fn rank(query: &str, items: &[&str]) -> Vec<usize> {
    let mut ranking = Ranking::new(query, usize::MAX);
    for item in items {
        ranking.add(item);
    }
    ranking.best()
}

/// Which characters an item has, a bit for those that are alike in six bits; all of them where it is not ASCII.
pub fn letters(item: &str) -> u64 {
    if item.is_ascii() { item.bytes().fold(0, |all, byte| all | bit(byte)) } else { u64::MAX }
}

const fn bit(byte: u8) -> u64 {
    1 << (byte.to_ascii_lowercase() & 63)
}

/// The same of items that come one after the other, of which only the best are wanted.
pub struct Ranking {
    pattern: Pattern,
    matcher: Matcher,
    chars: Vec<char>,
    /// Best first: score, length, index.
    found: Vec<(Reverse<u32>, usize, usize)>,
    added: usize,
    most: usize,
    /// What an item lacks nothing of that matches.
    needs: u64,
}

impl Ranking {
    pub fn new(query: &str, most: usize) -> Self {
        Self {
            pattern: Pattern::new(query, CaseMatching::Smart, Normalization::Smart, AtomKind::Fuzzy),
            matcher: Matcher::new(Config::DEFAULT),
            chars: Vec::new(),
            found: Vec::new(),
            added: 0,
            most,
            needs: query
                .bytes()
                .filter(|byte| byte.is_ascii_graphic() && *byte != b'\\')
                .fold(0, |all, b| all | bit(b)),
        }
    }

    /// The same as [`Self::add`], of an item whose [`letters`] are known: most are not looked at.
    pub fn add_known(&mut self, item: &str, letters: u64) {
        if letters & self.needs == self.needs { self.add(item) } else { self.added += 1 }
    }

    pub fn add(&mut self, item: &str) {
        let index = self.added;
        self.added += 1;
        if self.pattern.atoms.is_empty() {
            if index < self.most {
                self.found.push((Reverse(0), index, index));
            }
            return;
        }
        let (haystack, len) = if item.is_ascii() {
            let bytes = item.as_bytes().get(..MAX_CHARS).unwrap_or(item.as_bytes());
            (Utf32Str::Ascii(bytes), bytes.len())
        } else {
            self.chars.clear();
            self.chars.extend(item.chars().take(MAX_CHARS));
            (Utf32Str::Unicode(&self.chars), self.chars.len())
        };
        if let Some(score) = self.pattern.score(haystack, &mut self.matcher) {
            self.found.push((Reverse(score), len, index));
            if self.found.len() / 8 > self.most {
                self.shrink();
            }
        }
    }

    /// What comes after the best is of no use any more.
    fn shrink(&mut self) {
        if self.found.len() > self.most {
            self.found.select_nth_unstable(self.most);
            self.found.truncate(self.most);
        }
    }

    /// The indices of the best so far, best first.
    pub fn best(&mut self) -> Vec<usize> {
        self.shrink();
        self.found.sort_unstable();
        self.found.iter().map(|(_, _, index)| *index).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn best_first() {
        assert_eq!(rank("mod", &["src/model.rs", "readme", "m_o_d", "mod"])[0], 3);
        assert_eq!(rank("xyz", &["abc"]), Vec::<usize>::new());
        assert_eq!(rank("log in", &["login", "in the log", "none"]).len(), 2);
    }

    #[test]
    fn what_lacks_a_letter_is_not_looked_at_and_nothing_is_missed() {
        let items = ["src/Model.rs", "src/other.rs", "m\u{f6}del", "a b\\ c", "MODEL"];
        for query in ["model", "rs", "o d", "b\\ c", "\u{f6}", "M"] {
            let mut known = Ranking::new(query, 9);
            for item in items {
                known.add_known(item, letters(item));
            }
            assert_eq!(known.best(), rank(query, &items), "{query}");
        }
        let mut ranking = Ranking::new("model", 9);
        ranking.add_known("model", letters("other"));
        assert_eq!(ranking.best(), Vec::<usize>::new());
    }

    #[test]
    fn an_empty_query_keeps_the_rank() {
        assert_eq!(rank("", &["b", "a"]), [0, 1]);
        assert_eq!(rank("  ", &["b", "a"]), [0, 1]);
    }

    #[test]
    fn other_letters_match_too() {
        assert_eq!(rank("wo", &["äe\u{301}ö wo", "w"]), [0]);
    }

    #[test]
    fn lower_case_matches_both_and_special_characters_are_text() {
        assert_eq!(rank("cl", &["Claude", "x"]), [0]);
        assert_eq!(rank("^a", &["ba", "^a"]), [1]);
    }

    proptest! {
        #[test]
        fn each_item_is_named_once(query in "\\PC{0,6}", items in proptest::collection::vec("\\PC{0,20}", 0..8)) {
            let items: Vec<&str> = items.iter().map(String::as_str).collect();
            let mut found = rank(&query, &items);
            found.sort_unstable();
            found.dedup();
            let all = rank(&query, &items);
            let mut best = Ranking::new(&query, 2);
            for item in &items {
                best.add_known(item, letters(item));
            }
            prop_assert_eq!(best.best(), all.iter().copied().take(2).collect::<Vec<_>>());
            prop_assert!(found.len() == all.len() && found.iter().all(|at| *at < items.len()));
        }
    }
}
