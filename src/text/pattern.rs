//! Whether a text has in it what a pattern describes, also one of another party.
//!
//! Invariant: takes time that grows with the text alone, and bounded memory, for any pattern.

use regex_automata::meta::Regex;
use std::ops::Range;

/// Bytes that a compiled pattern may take.
const MAX: usize = 1 << 20;

/// A pattern that several texts are compared with.
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

impl Pattern {
    /// Nothing where the pattern is none, or is too large.
    pub fn new(pattern: &str) -> Option<Self> {
        let config = Regex::config().nfa_size_limit(Some(MAX));
        Regex::builder().configure(config).build(pattern).ok().map(Self)
    }

    pub fn is_in(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// Where it is, one place behind the other, without those that are empty.
    pub fn places(&self, text: &str) -> Vec<Range<usize>> {
        self.0.find_iter(text).map(|found| found.range()).filter(|range| !range.is_empty()).collect()
    }
}

/// Nothing where the pattern is none, or is too large.
pub fn is_in(pattern: &str, text: &str) -> Option<bool> {
    Pattern::new(pattern).map(|pattern| pattern.is_in(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_426_a_pattern_is_looked_for_anywhere_and_one_that_is_none_says_nothing() {
        assert_eq!(is_in("b+", "abbc"), Some(true));
        assert_eq!(is_in("^b+$", "abbc"), Some(false));
        assert_eq!(is_in("(a", "a"), None);
        assert_eq!(is_in("(a)\\1", "aa"), None, "no engine of linear time has it");
        assert_eq!(is_in("((a{1000}){1000}){1000}", "a"), None);
        assert_eq!(is_in("^(a+)+$", &format!("{}!", "a".repeat(50_000))), Some(false));
    }
}
