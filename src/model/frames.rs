//! A line of a connection as the inspector shows it: what it is, what it belongs to, and what is wrong with it.
//!
//! Plain data and the filter over it. Knows no method. Invariant: the text is the line itself, shared and not copied.

use super::ids::{AgentKey, Now};
use memchr::memchr2_iter;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameDir {
    ToAgent,
    FromAgent,
    Stderr,
    /// Nobody said it: what has happened to the agent.
    Note,
}

impl FrameDir {
    pub const fn arrow(self) -> &'static str {
        match self {
            Self::ToAgent => "->",
            Self::FromAgent => "<-",
            Self::Stderr => "!!",
            Self::Note => "--",
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::ToAgent => "to_agent",
            Self::FromAgent => "from_agent",
            Self::Stderr => "stderr",
            Self::Note => "note",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    Request,
    Notification,
    Answer,
    Error,
    /// No message.
    Other,
}

impl FrameKind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Notification => "notification",
            Self::Answer => "answer",
            Self::Error => "error",
            Self::Other => "other",
        }
    }
}

/// Where a message is not what the protocol says, and the number of what it says there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flaw {
    pub rule: &'static str,
    pub what: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct FrameRow {
    pub at: Now,
    pub dir: FrameDir,
    pub agent: AgentKey,
    pub kind: FrameKind,
    /// Of an answer that of its request.
    pub method: Arc<str>,
    pub id: Option<Arc<str>>,
    /// Of an answer: the time since its request.
    pub latency: Option<Now>,
    pub flaws: Vec<Flaw>,
    pub text: Arc<str>,
}

impl FrameRow {
    /// Each word stands in the direction, the kind, the method, the id, a number of a rule or the text. `!` is for those
    /// with flaws.
    pub fn fits(&self, words: &[String]) -> bool {
        words.iter().all(|word| self.has(word))
    }

    fn has(&self, word: &str) -> bool {
        if word == "!" {
            return !self.flaws.is_empty();
        }
        let ours = [self.dir.arrow(), self.kind.name(), self.dir.name()];
        ours.contains(&word)
            || contains(&self.method, word)
            || self.id.as_deref().is_some_and(|id| id.trim_matches('"') == word)
            || self.flaws.iter().any(|flaw| contains(flaw.rule, word))
            || contains(&self.text, word)
    }
}

/// The words of a filter, in small letters.
pub fn words(filter: &str) -> Vec<String> {
    filter.split_whitespace().map(str::to_ascii_lowercase).collect()
}

/// Letters of ASCII count in either case. `word` is in small ones.
fn contains(text: &str, word: &str) -> bool {
    let (text, word) = (text.as_bytes(), word.as_bytes());
    // The byte that is found least often by itself: very much text is looked through at each key.
    let rarest =
        word.iter().enumerate().max_by_key(|(_, byte)| COMMON.iter().position(|one| one == *byte).unwrap_or(99));
    let Some((before, rare)) = rarest else { return true };
    let starts = memchr2_iter(*rare, rare.to_ascii_uppercase(), text).filter_map(|at| at.checked_sub(before));
    starts.into_iter().any(|at| text.get(at..at + word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word)))
}

/// What messages consist of, the commonest first.
const COMMON: &[u8] = b"\"e,:ta{}oinsr_hdlcum-wfgypbvk/.jxqz";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_a_filter_has_to_fit() {
        let row = FrameRow {
            at: Now::ZERO,
            dir: FrameDir::FromAgent,
            agent: AgentKey::FIRST,
            kind: FrameKind::Notification,
            method: "session/update".into(),
            id: None,
            latency: None,
            flaws: vec![Flaw { rule: "R-068", what: "x".into() }],
            text: r#"{"params":{"Text":"Hello!"}}"#.into(),
        };
        for fits in ["", "update", "<- hello", "!", "r-068 notification", "from_agent"] {
            assert!(row.fits(&words(fits)), "{fits}");
        }
        for fails in ["-> hello", "update bye", "request"] {
            assert!(!row.fits(&words(fails)), "{fails}");
        }
        assert!(!FrameRow { flaws: Vec::new(), ..row }.fits(&words("!")));
    }

    #[test]
    fn a_word_is_found_wherever_it_stands_in_either_case() {
        let text = "ab ERROR \u{e9}xX\u{4e00}z-1";
        for word in ["", "a", "ab", "error", "r \u{e9}x", "xx\u{4e00}", "z-1", "1", "-1"] {
            assert!(contains(text, word), "{word}");
        }
        for word in ["abc", "1x", "ax", "zz", "z-12", "aab"] {
            assert!(!contains(text, word), "{word}");
        }
    }
}
