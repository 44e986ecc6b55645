//! The rules of one list, and which of them may be for a request: by the kind of their tool, for commands by their first two
//! words, for files by the names with which their paths begin.
//!
//! Judges nothing. Invariants: a rule that is left out for a request cannot be for it; the order is that of the list; what is
//! there already is shared by copies of a list.

use super::Rule;
use super::pattern::Spec;
use super::tool::Kind;
use super::tree::{Found, Tree};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

#[derive(Clone, Debug, Default)]
pub(super) struct List {
    parts: Vec<Arc<Part>>,
    /// Nothing is left out: for tests that compare.
    pub(super) is_whole: bool,
}

#[derive(Clone, Debug, Default)]
struct Part {
    rules: Vec<Rule>,
    kinds: [OfKind; Kind::COUNT],
}

/// Places in the part.
#[derive(Clone, Debug, Default)]
struct OfKind {
    all: Vec<usize>,
    /// Those that name nothing but the tool.
    whole: Vec<usize>,
    /// By the first word of a command where that is written out.
    programs: HashMap<String, OfProgram>,
    paths: Tree,
    /// All others, those that name nothing but the tool among them.
    others: Vec<usize>,
}

/// Of those that begin with one word.
#[derive(Clone, Debug, Default)]
struct OfProgram {
    /// By the second word where that is written out.
    named: HashMap<String, Vec<usize>>,
    others: Vec<usize>,
}

/// Where a rule stands in its list.
pub(super) type Place = (usize, usize);

/// Which rules may be for a request.
#[derive(Clone, Copy, Debug)]
pub(super) enum Among<'a> {
    All,
    /// Only those that name nothing but the tool.
    Whole,
    Command(&'a Said<'a>),
}

/// What is known of the words of a command.
#[derive(Debug)]
pub(super) struct Said<'a> {
    /// What its first word may be called.
    pub(super) firsts: Vec<&'a str>,
    /// Each word that it has; nothing where one is not known.
    pub(super) words: Option<Vec<&'a str>>,
}

/// Which rules of a part may be for a file.
pub(super) struct At<'s> {
    part: usize,
    of: &'s Part,
    near: Vec<usize>,
    below: Vec<&'s [usize]>,
}

impl List {
    pub(super) fn push(&mut self, rule: Rule) {
        match self.parts.last_mut().and_then(Arc::get_mut) {
            Some(part) => part.push(rule),
            None => {
                let mut part = Part::default();
                part.push(rule);
                self.parts.push(Arc::new(part));
            }
        }
    }

    pub(super) fn extend(&mut self, other: Self) {
        self.parts.extend(other.parts);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.parts.iter().flat_map(|part| &part.rules)
    }

    pub(super) fn of<'s>(&'s self, kind: Kind, among: Among<'_>) -> impl Iterator<Item = &'s Rule> + use<'s> {
        let among = if self.is_whole { among.or_all() } else { among };
        let places: Vec<(&Part, Cow<'s, [usize]>)> = match among {
            _ if self.parts.is_empty() => Vec::new(),
            among => self.parts.iter().map(|part| (&**part, part.of(kind).among(among))).collect(),
        };
        places
            .into_iter()
            .flat_map(|(part, places)| (0..places.len()).filter_map(move |at| part.rules.get(*places.get(at)?)))
    }

    /// Those that may be for files; `look` finds them among those for paths.
    pub(super) fn at<'s>(
        &'s self,
        kind: Kind,
        look: impl Fn(&'s Tree, &mut Found<'s>),
    ) -> impl Iterator<Item = At<'s>> {
        self.parts.iter().enumerate().map(move |(at, part)| {
            let of = part.of(kind);
            if self.is_whole {
                return At { part: at, of: part, near: of.all.clone(), below: Vec::new() };
            }
            let mut found = Found { near: of.others.clone(), below: Vec::new() };
            look(&of.paths, &mut found);
            found.near.sort_unstable();
            found.near.dedup();
            At { part: at, of: part, near: found.near, below: found.below }
        })
    }
}

impl Part {
    fn push(&mut self, rule: Rule) {
        let at = self.rules.len();
        if let Some(of) = self.kinds.get_mut(rule.pattern.tool.kind as usize) {
            of.push(&rule.pattern.spec, at);
        }
        self.rules.push(rule);
    }

    fn of(&self, kind: Kind) -> &OfKind {
        &self.kinds[kind as usize]
    }
}

impl OfKind {
    fn push(&mut self, spec: &Spec, at: usize) {
        self.all.push(at);
        if *spec == Spec::Any {
            self.whole.push(at);
        }
        match spec {
            Spec::Command(spec) if let Some(first) = spec.literal(0) => {
                let of = self.programs.entry(first.to_owned()).or_default();
                match spec.literal(1) {
                    Some(second) => of.named.entry(second.to_owned()).or_default().push(at),
                    None => of.others.push(at),
                }
            }
            Spec::Path(spec) => self.paths.push(spec, at),
            _ => self.others.push(at),
        }
    }

    fn among(&self, among: Among<'_>) -> Cow<'_, [usize]> {
        match among {
            Among::All => Cow::Borrowed(&self.all),
            Among::Whole => Cow::Borrowed(&self.whole),
            Among::Command(said) => self.for_command(said),
        }
    }

    fn for_command(&self, said: &Said<'_>) -> Cow<'_, [usize]> {
        let mut places: Vec<usize> = Vec::new();
        for of in said.firsts.iter().filter_map(|word| self.programs.get(*word)) {
            places.extend(&of.others);
            match &said.words {
                _ if of.named.is_empty() => {}
                Some(words) => places.extend(words.iter().filter_map(|word| of.named.get(*word)).flatten()),
                None => places.extend(of.named.values().flatten()),
            }
        }
        if places.is_empty() {
            return Cow::Borrowed(&self.others);
        }
        places.extend(&self.others);
        places.sort_unstable();
        places.dedup();
        Cow::Owned(places)
    }
}

impl Among<'_> {
    const fn or_all(self) -> Self {
        match self {
            Self::Whole => Self::Whole,
            _ => Self::All,
        }
    }
}

impl<'s> At<'s> {
    /// Those that have to be looked at, in their order.
    pub(super) fn near(&self) -> impl Iterator<Item = (Place, &'s Rule)> {
        self.those(&self.near)
    }

    /// Those that are for something below for certain, or for the file itself; several times in their order.
    pub(super) fn below(&self) -> impl Iterator<Item = impl Iterator<Item = (Place, &'s Rule)>> {
        self.below.iter().map(|places| self.those(places))
    }

    fn those(&self, places: &[usize]) -> impl Iterator<Item = (Place, &'s Rule)> {
        let (part, of) = (self.part, self.of);
        places.iter().filter_map(move |at| Some(((part, *at), of.rules.get(*at)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{RuleRef, pattern};
    use super::*;

    fn list(texts: &[&str]) -> List {
        let mut list = List::default();
        for text in texts {
            let source = RuleRef { pattern: (*text).to_owned(), ..RuleRef::default() };
            list.push(Rule { pattern: pattern::parse(text).unwrap(), source });
        }
        list
    }

    #[test]
    fn rules_come_in_their_order_and_only_those_that_may_be_for_a_command() {
        fn of<'l>(list: &'l List, among: Among<'_>) -> Vec<&'l str> {
            list.of(Kind::Bash, among).map(|rule| &*rule.source.pattern).collect()
        }
        let list = list(&[
            "Bash(git *)",
            "Bash",
            "Edit(a)",
            "Bash(g* x)",
            "Bash(ls)",
            "Bash(git log)",
            "Bash(*)",
            "Bash(npm:*)",
            "Bash(git push *)",
        ]);
        let said = |first: &'static str, words: Option<&[&'static str]>| {
            of(&list, Among::Command(&Said { firsts: vec![first], words: words.map(<[_]>::to_vec) }))
        };
        assert_eq!(
            said("git", Some(&["git", "log"])),
            ["Bash(git *)", "Bash", "Bash(g* x)", "Bash(git log)", "Bash(*)", "Bash(npm:*)"]
        );
        assert_eq!(said("git", None).len(), 7);
        assert_eq!(said("cat", Some(&["cat", "git"])), ["Bash", "Bash(g* x)", "Bash(*)", "Bash(npm:*)"]);
        assert_eq!((of(&list, Among::Whole), of(&list, Among::All).len()), (vec!["Bash"], 8));
        assert_eq!(list.of(Kind::Edit, Among::All).count(), 1);
    }

    #[test]
    fn a_copy_shares_what_was_there_and_keeps_the_order_of_what_comes_later() {
        let mut first = list(&["Bash(a)", "Bash(b)"]);
        let before = first.clone();
        first.push(list(&["Bash(c)"]).iter().next().unwrap().clone());
        first.extend(list(&["Bash(d)"]));
        assert!(Arc::ptr_eq(&first.parts[0], &before.parts[0]));
        let texts =
            |list: &List| list.of(Kind::Bash, Among::All).map(|rule| rule.source.pattern.clone()).collect::<Vec<_>>();
        assert_eq!(texts(&before), ["Bash(a)", "Bash(b)"]);
        assert_eq!(texts(&first), ["Bash(a)", "Bash(b)", "Bash(c)", "Bash(d)"]);
    }
}
