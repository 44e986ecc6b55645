//! The rules of one list, and which of them may be for a request: by the kind of their tool, and for commands by their first
//! word.
//!
//! Judges nothing. Invariants: a rule that is left out for a request cannot be for it; the order is that of the list.

use super::Rule;
use super::pattern::Spec;
use super::tool::Kind;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

#[derive(Clone, Debug, Default)]
pub(super) struct List {
    rules: Vec<Arc<Rule>>,
    kinds: [OfKind; Kind::COUNT],
}

/// Places in the list.
#[derive(Clone, Debug, Default)]
struct OfKind {
    all: Vec<usize>,
    /// Those that name nothing but the tool.
    whole: Vec<usize>,
    /// By the first word of a command where that is written out, and all others.
    named: HashMap<String, Vec<usize>>,
    others: Vec<usize>,
}

/// Which rules may be for a request.
#[derive(Clone, Copy, Debug)]
pub(super) enum Among<'a> {
    All,
    /// Only those that name nothing but the tool.
    Whole,
    /// Those for a command whose first word is one of these.
    First(&'a [&'a str]),
}

impl List {
    pub(super) fn push(&mut self, rule: Arc<Rule>) {
        let at = self.rules.len();
        let of = &mut self.kinds[rule.pattern.tool.kind as usize];
        of.all.push(at);
        if rule.pattern.spec == Spec::Any {
            of.whole.push(at);
        }
        match &rule.pattern.spec {
            Spec::Command(spec) if let Some(first) = spec.first() => {
                of.named.entry(first.to_owned()).or_default().push(at);
            }
            _ => of.others.push(at),
        }
        self.rules.push(rule);
    }

    pub(super) fn extend(&mut self, other: Self) {
        other.rules.into_iter().for_each(|rule| self.push(rule));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().map(AsRef::as_ref)
    }

    pub(super) fn of<'s>(&'s self, kind: Kind, among: Among<'_>) -> impl Iterator<Item = &'s Rule> + use<'s> {
        let of = &self.kinds[kind as usize];
        let places = match among {
            Among::All => Cow::Borrowed(&*of.all),
            Among::Whole => Cow::Borrowed(&*of.whole),
            Among::First(words) => of.first(words),
        };
        (0..places.len()).filter_map(move |at| self.rules.get(*places.get(at)?)).map(AsRef::as_ref)
    }
}

impl OfKind {
    fn first(&self, words: &[&str]) -> Cow<'_, [usize]> {
        let named = words.iter().filter_map(|word| self.named.get(*word)).flatten();
        let mut places: Vec<usize> = named.copied().collect();
        if places.is_empty() {
            return Cow::Borrowed(&self.others);
        }
        places.extend(&self.others);
        places.sort_unstable();
        places.dedup();
        Cow::Owned(places)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{RuleRef, pattern};
    use super::*;

    #[test]
    fn rules_come_in_their_order_and_only_those_that_may_be_for_a_command() {
        let mut list = List::default();
        for text in
            ["Bash(git *)", "Bash", "Edit(a)", "Bash(g* x)", "Bash(ls)", "Bash(git log)", "Bash(*)", "Bash(npm:*)"]
        {
            let source = RuleRef { pattern: text.to_owned(), ..RuleRef::default() };
            list.push(Arc::new(Rule { pattern: pattern::parse(text).unwrap(), source }));
        }
        let of = |among| -> Vec<&str> { list.of(Kind::Bash, among).map(|rule| &*rule.source.pattern).collect() };
        assert_eq!(
            of(Among::First(&["git", "git"])),
            ["Bash(git *)", "Bash", "Bash(g* x)", "Bash(git log)", "Bash(*)", "Bash(npm:*)"]
        );
        assert_eq!(of(Among::First(&["cat"])), ["Bash", "Bash(g* x)", "Bash(*)", "Bash(npm:*)"]);
        assert_eq!((of(Among::Whole), of(Among::All).len()), (vec!["Bash"], 7));
        assert_eq!(list.of(Kind::Edit, Among::All).count(), 1);
    }
}
