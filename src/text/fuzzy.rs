//! Ranks names against what the person types.
//!
//! Holds no list and no state; the caller bounds how many items there are. Invariant: positions count characters
//! (`char`s) of the item, ascending, without duplicates.

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// Longer items are matched by their beginning only.
const MAX_CHARS: usize = 1024;

/// The items that match, best first, each with its index and the positions of the matched characters. Words of the
/// query may match in any order; an empty query keeps all items in their order.
pub fn rank(query: &str, items: &[&str]) -> Vec<(usize, Vec<u32>)> {
    let pattern = Pattern::new(query, CaseMatching::Smart, Normalization::Smart, AtomKind::Fuzzy);
    if pattern.atoms.is_empty() {
        return (0..items.len()).map(|index| (index, Vec::new())).collect();
    }
    let mut matcher = Matcher::new(Config::DEFAULT);
    let mut chars: Vec<char> = Vec::new();
    let mut found = Vec::new();
    for (index, item) in items.iter().enumerate() {
        chars.clear();
        chars.extend(item.chars().take(MAX_CHARS));
        let haystack = match item.as_bytes().get(..chars.len()) {
            Some(bytes) if bytes.is_ascii() => Utf32Str::Ascii(bytes),
            _ => Utf32Str::Unicode(&chars),
        };
        let mut positions = Vec::new();
        if let Some(score) = pattern.indices(haystack, &mut matcher, &mut positions) {
            positions.sort_unstable();
            positions.dedup();
            found.push((score, chars.len(), index, positions));
        }
    }
    found.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    found.into_iter().map(|(_, _, index, positions)| (index, positions)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn order(query: &str, items: &[&str]) -> Vec<usize> {
        rank(query, items).into_iter().map(|(index, _)| index).collect()
    }

    #[test]
    fn best_first() {
        assert_eq!(order("mod", &["src/model.rs", "readme", "m_o_d", "mod"])[0], 3);
        assert_eq!(order("xyz", &["abc"]), Vec::<usize>::new());
        assert_eq!(order("log in", &["login", "in the log", "none"]).len(), 2);
    }

    #[test]
    fn an_empty_query_keeps_the_order() {
        assert_eq!(order("", &["b", "a"]), [0, 1]);
        assert_eq!(order("  ", &["b", "a"]), [0, 1]);
    }

    #[test]
    fn positions_count_characters() {
        assert_eq!(rank("ab", &["xaxb"]), [(0, vec![1, 3])]);
        assert_eq!(rank("wo", &["äe\u{301}ö wo"]), [(0, vec![5, 6])]);
    }

    #[test]
    fn lower_case_matches_both_and_special_characters_are_text() {
        assert_eq!(order("cl", &["Claude", "x"]), [0]);
        assert_eq!(order("^a", &["ba", "^a"]), [1]);
    }

    proptest! {
        #[test]
        fn positions_are_in_the_item(query in "\\PC{0,6}", items in proptest::collection::vec("\\PC{0,20}", 0..8)) {
            let items: Vec<&str> = items.iter().map(String::as_str).collect();
            for (index, positions) in rank(&query, &items) {
                let len = items[index].chars().count() as u32;
                prop_assert!(positions.is_sorted() && positions.iter().all(|p| *p < len));
            }
        }
    }
}
