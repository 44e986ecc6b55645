//! Prompts that wait to be sent: their order, and which of them stay until the person says so.
//!
//! Sends nothing. Invariants: they stand in the order of their places; one that was taken out to be edited can go back to
//! where it was, whatever has been sent or added meanwhile.

use super::event::{Link, Words};
use std::collections::VecDeque;
use std::ops::Deref;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldPrompt {
    pub kind: PromptKind,
    pub text: String,
    pub links: Vec<Link>,
    /// It is not sent before the person says so: a turn has failed since it was written, or was stopped.
    pub stays: bool,
    /// Where it stands among the others.
    place: i64,
}

/// Who wrote a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptKind {
    Person,
    /// Why the person has refused something that the agent has asked for, in the person's words.
    Reason,
    /// We did: why something was refused without the person.
    Explained,
    /// We did: how writes that the person has changed differ from what the agent proposed.
    ChangedWrites,
}

/// Oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    prompts: VecDeque<HeldPrompt>,
    /// Where the one was that the person edits.
    taken_from: Option<i64>,
    /// Where what comes next goes.
    goes_to: Option<i64>,
}

impl Deref for Queue {
    type Target = VecDeque<HeldPrompt>;

    fn deref(&self) -> &Self::Target {
        &self.prompts
    }
}

impl Queue {
    /// How many are not sent before the person says so.
    pub fn staying(&self) -> usize {
        self.prompts.iter().filter(|prompt| prompt.stays).count()
    }

    /// Whether any of them is sent by itself.
    pub fn flows(&self) -> bool {
        self.prompts.iter().any(|prompt| !prompt.stays)
    }

    pub(super) fn add_first(&mut self, kind: PromptKind, text: String, links: Vec<Link>) {
        let first = self.prompts.front().map(|prompt| prompt.place).into_iter().chain(self.taken_from).min();
        let place = first.map_or(0, |first| first.saturating_sub(1));
        self.prompts.push_front(HeldPrompt { kind, text, links, stays: false, place });
    }

    /// Behind all others, or where one was that is put back.
    pub(super) fn add(&mut self, kind: PromptKind, text: String, links: Vec<Link>) {
        let last = self.prompts.back().map(|prompt| prompt.place).into_iter().chain(self.taken_from).max();
        let place = self.goes_to.take().unwrap_or_else(|| last.map_or(0, |last| last.saturating_add(1)));
        let at = self.prompts.partition_point(|prompt| prompt.place < place);
        self.prompts.insert(at, HeldPrompt { kind, text, links, stays: false, place });
    }

    /// More is to be said with the last one, if it is of this kind and will be sent. False: it is not.
    pub(super) fn add_to_last(&mut self, kind: PromptKind, text: &str) -> bool {
        let last = self.prompts.back_mut().filter(|prompt| prompt.kind == kind && !prompt.stays);
        last.map(|prompt| prompt.text = format!("{}\n\n{text}", prompt.text)).is_some()
    }

    /// These waited when an earlier run ended: before all others, and held.
    pub(super) fn restore(&mut self, all: Vec<Words>) {
        for Words { text, links } in all.into_iter().rev().filter(|words| !words.text.trim().is_empty()) {
            self.add_first(PromptKind::Person, text, links);
            if let Some(prompt) = self.prompts.front_mut() {
                prompt.stays = true;
            }
        }
    }

    /// The next one that may be sent.
    pub(super) fn next(&mut self) -> Option<HeldPrompt> {
        self.remove(self.prompts.iter().position(|prompt| !prompt.stays)?)
    }

    pub(super) fn remove(&mut self, at: usize) -> Option<HeldPrompt> {
        self.prompts.remove(at)
    }

    /// All of them.
    pub(super) fn empty(&mut self) -> impl Iterator<Item = HeldPrompt> {
        self.prompts.drain(..)
    }

    /// Only these are left; returns the others.
    pub(super) fn retain(&mut self, stays: impl Fn(&HeldPrompt) -> bool) -> VecDeque<HeldPrompt> {
        let (kept, gone) = std::mem::take(&mut self.prompts).into_iter().partition(stays);
        self.prompts = kept;
        gone
    }

    /// Each is held for which this is so.
    pub(super) fn hold(&mut self, stays: impl Fn(&HeldPrompt) -> bool) {
        for prompt in &mut self.prompts {
            prompt.stays = stays(prompt);
        }
    }

    /// The person edits it.
    pub(super) fn take_out(&mut self, at: usize) -> Option<HeldPrompt> {
        let prompt = self.remove(at)?;
        (self.taken_from, self.goes_to) = (Some(prompt.place), None);
        Some(prompt)
    }

    /// What is added next is the one that was taken out.
    pub(super) fn put_back(&mut self) {
        self.goes_to = self.taken_from.take();
    }

    pub(super) fn swap(&mut self, above: usize, below: usize) {
        let place = |at: usize| self.prompts.get(at).map(|prompt| prompt.place);
        let (Some(high), Some(low)) = (place(above), place(below)) else { return };
        self.prompts.swap(above, below);
        for (at, place) in [(above, high), (below, low)] {
            if let Some(prompt) = self.prompts.get_mut(at) {
                prompt.place = place;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(texts: &[&str]) -> Queue {
        let mut queue = Queue::default();
        for text in texts {
            queue.add(PromptKind::Person, (*text).into(), Vec::new());
        }
        queue
    }

    fn texts(queue: &Queue) -> Vec<&str> {
        queue.iter().map(|prompt| prompt.text.as_str()).collect()
    }

    fn add(queue: &mut Queue, text: &str) {
        queue.add(PromptKind::Person, text.into(), Vec::new());
    }

    #[test]
    fn one_that_was_edited_goes_back_to_its_place() {
        for at in 0..3 {
            let mut queue = of(&["0", "1", "2"]);
            let taken = queue.take_out(at).unwrap();
            add(&mut queue, "new");
            queue.add_first(PromptKind::Reason, "why".into(), Vec::new());
            queue.put_back();
            add(&mut queue, &taken.text);
            assert_eq!(texts(&queue), ["why", "0", "1", "2", "new"], "{at}");
            add(&mut queue, "last");
            assert_eq!(texts(&queue).last(), Some(&"last"));
        }
    }

    #[test]
    fn its_place_moves_with_what_is_sent_and_moved() {
        let mut queue = of(&["0", "1", "2", "3"]);
        queue.take_out(2);
        assert_eq!(queue.next().unwrap().text, "0");
        queue.swap(0, 1);
        queue.put_back();
        add(&mut queue, "2");
        assert_eq!(texts(&queue), ["3", "2", "1"]);
    }

    #[test]
    fn those_that_stay_are_passed_over() {
        let mut queue = of(&["0", "1"]);
        queue.hold(|_| true);
        add(&mut queue, "2");
        assert_eq!((queue.staying(), queue.next().unwrap().text.as_str()), (2, "2"));
        assert_eq!(queue.next(), None);
        let words = |text: &str| Words { text: text.into(), links: Vec::new() };
        queue.restore(vec![words("a"), words(" "), words("b")]);
        assert_eq!((texts(&queue), queue.staying()), (vec!["a", "b", "0", "1"], 4));
        queue.hold(|_| false);
        assert_eq!(queue.next().unwrap().text, "a");
    }
}
