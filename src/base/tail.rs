//! The end of a text, within a limit.
//!
//! It neither decodes nor sanitises (see `utf8` and `sanitize`). Invariant: what can be read is never longer than the
//! limit and text is cut at a character boundary. Costs a constant per byte: what fell out is removed in batches.

/// Batches are at least this large, so a tiny limit does not mean moving bytes on every push.
const BATCH: usize = 1024;

/// Keeps the last `limit` bytes of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TailBuffer {
    buf: String,
    /// Where the part that counts begins.
    start: usize,
    limit: usize,
    truncated: bool,
    /// Bytes of all text that has come.
    pushed: u64,
}

impl TailBuffer {
    pub const fn new(limit: usize) -> Self {
        Self { buf: String::new(), start: 0, limit, truncated: false, pushed: 0 }
    }

    pub fn push(&mut self, text: &str) {
        self.pushed += text.len() as u64;
        if text.len() > self.limit {
            // Nothing before this text can stay, and of this text only the end.
            self.truncated = true;
            self.buf.clear();
            self.start = 0;
            self.buf.push_str(&text[text.ceil_char_boundary(text.len() - self.limit)..]);
            return;
        }
        self.buf.push_str(text);
        if self.len() > self.limit {
            self.truncated = true;
            self.start = self.buf.ceil_char_boundary(self.buf.len() - self.limit);
            if self.start >= self.limit.max(BATCH) {
                self.buf.drain(..self.start);
                self.start = 0;
            }
        }
    }

    /// Keeps no more than that from now on; what is dropped for it gives its memory back.
    pub fn confine(&mut self, limit: usize) {
        self.limit = limit;
        if self.len() > limit {
            self.truncated = true;
            self.start = self.buf.ceil_char_boundary(self.buf.len() - limit);
        }
        if self.buf.len() > limit {
            self.buf.drain(..self.start);
            self.start = 0;
            self.buf.shrink_to_fit();
        }
    }

    /// Whether anything was dropped, ever.
    pub const fn truncated(&self) -> bool {
        self.truncated
    }

    pub fn as_str(&self) -> &str {
        &self.buf[self.start..]
    }

    pub fn text(&self) -> String {
        self.as_str().to_owned()
    }

    /// What has come after the first so many bytes, as far as it is kept, and how much of it is not.
    pub fn after(&self, position: u64) -> (&str, u64) {
        let begin = self.pushed.saturating_sub(self.len() as u64);
        let text = self.as_str();
        let skip = text.ceil_char_boundary(position.saturating_sub(begin).min(text.len() as u64) as usize);
        (&text[skip..], begin.saturating_sub(position))
    }

    pub fn len(&self) -> usize {
        self.buf.len() - self.start
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub const fn limit(&self) -> usize {
        self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn r_377_keeps_the_end() {
        let mut tail = TailBuffer::new(5);
        tail.push("abc");
        assert!(!tail.truncated());
        tail.push("def");
        assert_eq!(tail.as_str(), "bcdef");
        assert!(tail.truncated());
    }

    #[test]
    fn s_036_what_comes_after_a_position_is_known_and_what_of_it_is_gone() {
        let mut tail = TailBuffer::new(6);
        tail.push("abc");
        assert_eq!(
            (tail.after(0), tail.after(2), tail.after(3), tail.after(9)),
            (("abc", 0), ("c", 0), ("", 0), ("", 0))
        );
        tail.push("défg");
        assert_eq!((tail.after(3), tail.after(0)), (("défg", 0), ("cdéfg", 2)));
        tail.push("0123456789");
        assert_eq!(tail.after(8), ("456789", 4));
    }

    #[test]
    fn r_378_cuts_at_a_character_boundary() {
        let mut tail = TailBuffer::new(4);
        tail.push("äöü");
        assert_eq!(tail.as_str(), "öü");
        tail.push("x");
        assert_eq!(tail.as_str(), "üx");
        let mut tail = TailBuffer::new(3);
        tail.push("🦀");
        assert_eq!(tail.as_str(), "");
        assert!(tail.truncated());
    }

    #[test]
    fn r_379_r_380_truncated_stays_true_and_zero_keeps_nothing() {
        let mut tail = TailBuffer::new(0);
        tail.push("");
        assert!(!tail.truncated());
        tail.push("x");
        tail.push("");
        assert!(tail.truncated());
        assert_eq!(tail.text(), "");
    }

    #[test]
    fn a_smaller_limit_holds_at_once_and_a_larger_one_from_then_on() {
        let mut tail = TailBuffer::new(8);
        tail.push("aäöü");
        tail.confine(5);
        assert_eq!((tail.as_str(), tail.truncated()), ("öü", true));
        tail.confine(8);
        tail.push("xyzw");
        assert_eq!(tail.as_str(), "öüxyzw");
        tail.confine(0);
        assert_eq!(tail.as_str(), "");
        let mut tail = TailBuffer::new(8);
        tail.push("abc");
        tail.confine(3);
        assert_eq!((tail.as_str(), tail.truncated()), ("abc", false));
    }

    #[test]
    fn many_small_pushes_do_not_keep_what_fell_out() {
        let mut tail = TailBuffer::new(100);
        for _ in 0..200_000 {
            tail.push("x");
        }
        assert_eq!(tail.len(), 100);
        assert!(tail.buf.len() <= 100 + BATCH);
    }

    proptest! {
        #[test]
        fn text_is_the_longest_suffix_that_fits(limit in 0usize..60, parts in proptest::collection::vec(".{0,30}", 0..20)) {
            let mut tail = TailBuffer::new(limit);
            let mut all = String::new();
            for part in &parts {
                tail.push(part);
                all.push_str(part);
                prop_assert!(tail.len() <= limit);
                prop_assert!(all.ends_with(tail.as_str()));
                prop_assert_eq!(tail.truncated(), all.len() > limit);
                if all.len() <= limit {
                    prop_assert_eq!(tail.as_str(), all.as_str());
                }
            }
        }
    }
}
