//! Lines of a program's text, so that their colours can be found again.
//!
//! Colours nothing. Invariant: two lines have the same key only if they and all lines before them are the same, in the
//! same language (but for a collision of 64 bits): what a line is depends on nothing else.

use super::diff::Kind;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

/// Later lines of one text stay plain.
pub const MAX_LINES: usize = 5000;

/// One line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Code {
    pub key: u64,
    /// A path or the name of a language. Lines of one text share it.
    pub lang: Arc<str>,
    pub kind: Kind,
}

/// Gives the lines of one text their keys, from the first on.
#[derive(Debug)]
pub struct Lines {
    lang: Arc<str>,
    so_far: DefaultHasher,
    count: usize,
}

impl Lines {
    pub fn of(lang: &str) -> Self {
        let mut so_far = DefaultHasher::new();
        lang.hash(&mut so_far);
        Self { lang: lang.into(), so_far, count: 0 }
    }

    /// The next line; nothing where the text stays plain.
    pub fn next(&mut self, kind: Kind, text: &str) -> Option<Code> {
        if self.lang.is_empty() || self.count == MAX_LINES {
            return None;
        }
        self.count += 1;
        (kind as u8, text).hash(&mut self.so_far);
        Some(Code { key: self.so_far.finish(), lang: Arc::clone(&self.lang), kind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(lang: &str, lines: &[&str]) -> Vec<u64> {
        let mut all = Lines::of(lang);
        lines.iter().filter_map(|line| all.next(Kind::Context, line)).map(|code| code.key).collect()
    }

    #[test]
    fn a_line_is_known_by_itself_and_all_before_it() {
        let first = keys("rust", &["a", "b", "c"]);
        assert_eq!(keys("rust", &["a", "b", "c", "d"])[..3], first, "a text that grows keeps its keys");
        assert_eq!(keys("rust", &["a", "x", "c"])[0], first[0]);
        assert_ne!(keys("rust", &["a", "x", "c"])[2], first[2]);
        assert_ne!(keys("c", &["a"])[0], first[0]);
    }

    #[test]
    fn without_a_language_and_beyond_the_bound_text_stays_plain() {
        assert!(keys("", &["a"]).is_empty());
        assert_eq!(keys("c", &vec!["a"; MAX_LINES + 9]).len(), MAX_LINES);
    }
}
