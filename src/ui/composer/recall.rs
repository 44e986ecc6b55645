//! Earlier prompts of this session, and the draft one comes back to.
//!
//! Stepping through them loses nothing: the draft and every recalled prompt that was edited are kept until one of
//! them is sent, and come back byte for byte.

use std::collections::BTreeMap;

const MAX_PROMPTS: usize = 500;

/// The prompts, and where in them the person is.
#[derive(Clone, Debug, Default)]
pub struct Recall {
    prompts: Vec<String>,
    /// `None`: at the draft.
    at: Option<usize>,
    /// Texts as they were left: by index of the prompt, the draft under `None`.
    left: BTreeMap<Option<usize>, String>,
}

impl Recall {
    /// A prompt was sent: remember it and forget what was left behind.
    pub fn remember(&mut self, prompt: &str) {
        self.at = None;
        self.left.clear();
        if prompt.trim().is_empty() || self.prompts.last().is_some_and(|p| p == prompt) {
            return;
        }
        if self.prompts.len() == MAX_PROMPTS {
            self.prompts.remove(0);
        }
        self.prompts.push(prompt.to_owned());
    }

    /// The prompt before the one shown, if any; `shown` is kept.
    pub fn older(&mut self, shown: &str) -> Option<String> {
        let to = self.at.unwrap_or(self.prompts.len()).checked_sub(1)?;
        self.go(Some(to), shown)
    }

    /// The prompt after the one shown, behind the last the draft; `None` at the draft.
    pub fn newer(&mut self, shown: &str) -> Option<String> {
        let to = self.at? + 1;
        self.go(Some(to).filter(|i| *i < self.prompts.len()), shown)
    }

    fn go(&mut self, to: Option<usize>, shown: &str) -> Option<String> {
        let original = self.at.and_then(|i| self.prompts.get(i));
        if original.is_some_and(|p| p == shown) {
            self.left.remove(&self.at);
        } else {
            self.left.insert(self.at, shown.to_owned());
        }
        self.at = to;
        if let Some(text) = self.left.remove(&to) {
            return Some(text);
        }
        to.map_or_else(|| Some(String::new()), |i| self.prompts.get(i).cloned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_draft_comes_back_byte_for_byte() {
        let mut r = Recall::default();
        r.remember("one");
        r.remember("two");
        let draft = " half a\tthought\n\n";
        assert_eq!(r.older(draft).as_deref(), Some("two"));
        assert_eq!(r.older("two").as_deref(), Some("one"));
        assert_eq!(r.older("one"), None);
        assert_eq!(r.newer("one").as_deref(), Some("two"));
        assert_eq!(r.newer("two").as_deref(), Some(draft));
        assert_eq!(r.newer(draft), None);
    }

    #[test]
    fn an_edited_prompt_is_kept_until_something_is_sent() {
        let mut r = Recall::default();
        r.remember("one");
        r.remember("two");
        r.older("");
        assert_eq!(r.older("two, but better").as_deref(), Some("one"));
        assert_eq!(r.newer("one").as_deref(), Some("two, but better"));
        r.remember("two, but better");
        r.older("");
        assert_eq!(r.older("two, but better").as_deref(), Some("two"));
    }

    #[test]
    fn blanks_and_repeats_are_not_remembered() {
        let mut r = Recall::default();
        r.remember("one");
        r.remember("one");
        r.remember("  \n");
        assert_eq!(r.older("").as_deref(), Some("one"));
        assert_eq!(r.older("one"), None);
    }
}
