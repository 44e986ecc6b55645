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
    scored(query, items).into_iter().map(|(index, _)| index).collect()
}

/// The same with how well each matches: more is better.
pub fn scored(query: &str, items: &[&str]) -> Vec<(usize, u32)> {
    let mut ranking = Ranking::new(query, usize::MAX);
    for (index, item) in items.iter().enumerate() {
        ranking.add(index, item);
    }
    ranking.found.sort_unstable();
    ranking.found.iter().map(|(Reverse(score), _, index)| (*index, *score)).collect()
}

/// Whether what matches a longer query has matched a shorter one. A backslash may mean something else once more is there.
pub fn narrows(shorter: &str, longer: &str) -> bool {
    longer.starts_with(shorter) && !longer.contains('\\')
}

/// Which characters an item has, a bit for those that are alike in six bits, and as many bits for those that it has twice;
/// all of them where it is not ASCII.
pub fn letters(item: &str) -> u128 {
    if item.is_ascii() { of_bytes(item.bytes()) } else { u128::MAX }
}

fn of_bytes(bytes: impl Iterator<Item = u8>) -> u128 {
    bytes.fold(0, |all, byte| {
        let bit = 1 << (byte.to_ascii_lowercase() & 63);
        all | bit | (all & bit) << 64
    })
}

/// What an item lacks nothing of that matches; words may lie over each other in it.
fn needed(query: &str) -> u128 {
    let words = query.split(char::is_whitespace).map(|word| word.bytes().filter(u8::is_ascii_graphic));
    // A backslash may be no character of its own.
    words.map(|word| of_bytes(word.filter(|byte| *byte != b'\\'))).fold(0, |all, word| all | word)
}

/// The same of items that come one after the other, each with its index, of which only the best are wanted.
pub struct Ranking {
    pattern: Pattern,
    matcher: Matcher,
    chars: Vec<char>,
    /// Best first: score, length, index.
    found: Vec<(Reverse<u32>, usize, usize)>,
    most: usize,
    /// What an item lacks nothing of that matches.
    needs: u128,
}

impl Ranking {
    pub fn new(query: &str, most: usize) -> Self {
        Self {
            pattern: Pattern::new(query, CaseMatching::Smart, Normalization::Smart, AtomKind::Fuzzy),
            matcher: Matcher::new(Config::DEFAULT),
            chars: Vec::new(),
            found: Vec::new(),
            most,
            needs: needed(query),
        }
    }

    /// The same as [`Self::add`], of an item whose [`letters`] are known: most are not looked at.
    pub fn add_known(&mut self, index: usize, item: &str, letters: u128) -> bool {
        letters & self.needs == self.needs && self.add(index, item)
    }

    /// Whether it matches.
    pub fn add(&mut self, index: usize, item: &str) -> bool {
        if self.pattern.atoms.is_empty() {
            if self.found.len() < self.most {
                self.found.push((Reverse(0), index, index));
            }
            return true;
        }
        let (haystack, len) = if item.is_ascii() {
            let bytes = item.as_bytes().get(..MAX_CHARS).unwrap_or(item.as_bytes());
            (Utf32Str::Ascii(bytes), bytes.len())
        } else {
            self.chars.clear();
            self.chars.extend(item.chars().take(MAX_CHARS));
            (Utf32Str::Unicode(&self.chars), self.chars.len())
        };
        let Some(score) = self.pattern.score(haystack, &mut self.matcher) else { return false };
        self.found.push((Reverse(score), len, index));
        if self.found.len() / 8 > self.most {
            self.shrink();
        }
        true
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
        let scored = scored("mod", &["m_o_d", "mod"]);
        assert!(scored[0].0 == 1 && scored[0].1 > scored[1].1, "{scored:?}");
    }

    #[test]
    fn what_lacks_a_letter_is_not_looked_at_and_nothing_is_missed() {
        let items = ["src/Model.rs", "src/other.rs", "m\u{f6}del", "a b\\ c", "MODEL"];
        for query in ["model", "rs", "o d", "b\\ c", "\u{f6}", "M", "oo", "o o", "rsr", "s..r"] {
            let mut known = Ranking::new(query, 9);
            for (at, item) in items.iter().enumerate() {
                known.add_known(at, item, letters(item));
            }
            assert_eq!(known.best(), rank(query, &items), "{query}");
        }
        let mut ranking = Ranking::new("model", 9);
        assert!(!ranking.add_known(0, "model", letters("other")));
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
        fn what_is_typed_on_finds_nothing_new(query in "[ab\u{e9}eB_ \\\\]{0,6}", items in proptest::collection::vec("[aAbB\u{e9}e_ \\\\]{0,9}", 0..9)) {
            let items: Vec<&str> = items.iter().map(String::as_str).collect();
            let all = rank(&query, &items);
            for (end, _) in query.char_indices().filter(|(end, _)| narrows(&query[..*end], &query)) {
                let before = rank(&query[..end], &items);
                prop_assert!(all.iter().all(|at| before.contains(at)), "{:?} {:?}", &query[..end], query);
            }
        }

        #[test]
        fn each_item_is_named_once(query in "\\PC{0,6}", items in proptest::collection::vec("\\PC{0,20}", 0..8)) {
            let items: Vec<&str> = items.iter().map(String::as_str).collect();
            let mut found = rank(&query, &items);
            found.sort_unstable();
            found.dedup();
            let all = rank(&query, &items);
            let mut best = Ranking::new(&query, 2);
            for (at, item) in items.iter().enumerate() {
                best.add_known(at, item, letters(item));
            }
            prop_assert_eq!(best.best(), all.iter().copied().take(2).collect::<Vec<_>>());
            prop_assert!(found.len() == all.len() && found.iter().all(|at| *at < items.len()));
        }
    }
}
