//! Earlier prompts, those of this session last, and the draft one comes back to.
//!
//! Stepping through them loses nothing: the draft and every recalled prompt that was edited are kept until one of
//! them is sent, and come back byte for byte.

use std::collections::BTreeMap;
use std::sync::Arc;

const MAX_PROMPTS: usize = 500;

/// The prompts, and where in them the person is.
#[derive(Clone, Debug, Default)]
pub struct Recall {
    /// Of other sessions, oldest first.
    others: Arc<[Arc<str>]>,
    prompts: Vec<String>,
    /// Counts those of others first. `None`: at the draft.
    at: Option<usize>,
    /// Texts as they were left: by index of the prompt, the draft under `None`.
    left: BTreeMap<Option<usize>, String>,
}

impl Recall {
    /// What was sent in other sessions, oldest first. Where the person is, and what they left there, stays.
    pub fn set_others(&mut self, others: Arc<[Arc<str>]>) {
        let before = self.others.len();
        let moved = |i: usize| (i + others.len()).checked_sub(before);
        self.at = self.at.and_then(moved);
        self.left = std::mem::take(&mut self.left)
            .into_iter()
            .filter_map(|(at, text)| Some((at.map_or(Some(None), |i| moved(i).map(Some))?, text)))
            .collect();
        self.others = others;
    }

    fn len(&self) -> usize {
        self.others.len() + self.prompts.len()
    }

    fn get(&self, at: usize) -> Option<&str> {
        match at.checked_sub(self.others.len()) {
            Some(own) => self.prompts.get(own).map(String::as_str),
            None => self.others.get(at).map(|prompt| &**prompt),
        }
    }

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
        let to = self.at.unwrap_or(self.len()).checked_sub(1)?;
        self.go(Some(to), shown)
    }

    /// The prompt after the one shown, behind the last the draft; `None` at the draft.
    pub fn newer(&mut self, shown: &str) -> Option<String> {
        let to = self.at? + 1;
        self.go(Some(to).filter(|i| *i < self.len()), shown)
    }

    fn go(&mut self, to: Option<usize>, shown: &str) -> Option<String> {
        if self.at.and_then(|i| self.get(i)) == Some(shown) {
            self.left.remove(&self.at);
        } else {
            self.left.insert(self.at, shown.to_owned());
        }
        self.at = to;
        if let Some(text) = self.left.remove(&to) {
            return Some(text);
        }
        to.map_or_else(|| Some(String::new()), |i| self.get(i).map(str::to_owned))
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
    fn prompts_of_other_sessions_come_behind_those_of_this_one() {
        let mut r = Recall::default();
        r.remember("mine");
        assert_eq!(r.older("draft").as_deref(), Some("mine"));
        r.set_others(["far".into(), "near".into()].into());
        assert_eq!(r.older("mine, edited").as_deref(), Some("near"));
        assert_eq!(r.older("near").as_deref(), Some("far"));
        assert_eq!(r.older("far"), None);
        r.set_others(["far".into(), "between".into(), "near".into()].into());
        for want in ["near", "mine, edited", "draft"] {
            let shown = r.at.and_then(|at| r.get(at)).unwrap_or_default().to_owned();
            assert_eq!(r.newer(&shown).as_deref(), Some(want));
        }
        r.remember("sent");
        assert_eq!(r.older("").as_deref(), Some("sent"));
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
