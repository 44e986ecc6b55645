//! Ranks names against what the person types.
//!
//! Holds no list and no state; the caller bounds how many items there are. Invariant: no item is named twice.

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use std::cmp::Reverse;

/// Longer items are matched by their beginning only.
const MAX_CHARS: usize = 1024;

/// The indices of the items that match, best first. Words of the query may match in any order; an empty query keeps all
/// items in their order.
pub fn rank(query: &str, items: &[&str]) -> Vec<usize> {
    let pattern = Pattern::new(query, CaseMatching::Smart, Normalization::Smart, AtomKind::Fuzzy);
    if pattern.atoms.is_empty() {
        return (0..items.len()).collect();
    }
    let mut matcher = Matcher::new(Config::DEFAULT);
    let mut chars: Vec<char> = Vec::new();
    let mut found = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let (haystack, len) = if item.is_ascii() {
            let bytes = item.as_bytes().get(..MAX_CHARS).unwrap_or(item.as_bytes());
            (Utf32Str::Ascii(bytes), bytes.len())
        } else {
            chars.clear();
            chars.extend(item.chars().take(MAX_CHARS));
            (Utf32Str::Unicode(&chars), chars.len())
        };
        if let Some(score) = pattern.score(haystack, &mut matcher) {
            found.push((Reverse(score), len, index));
        }
    }
    found.sort_unstable();
    found.into_iter().map(|(_, _, index)| index).collect()
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
            prop_assert!(found.len() == rank(&query, &items).len() && found.iter().all(|at| *at < items.len()));
        }
    }
}
