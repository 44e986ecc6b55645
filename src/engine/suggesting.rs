//! Rules that would have answered what the person has answered by hand.
//!
//! Changes nothing. Invariants: a suggestion would have answered each question that it is counted for as the person has, and
//! none otherwise; what rules answer now is not suggested.

use super::earlier;
use super::making::{proposed, read};
use super::rulebook::Rulebook;
use crate::model::claims::Claims;
use crate::model::ruling::Ruled;
use std::collections::BTreeMap;
use std::path::Path;

/// Different things that were asked about; of more only the first are looked at.
const MAX_ASKED: usize = 2000;

/// Something that was asked, and what the person said.
#[derive(Clone, Debug)]
pub struct ByHand {
    pub claims: Claims,
    pub is_allowed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// Allow or deny.
    pub list: Ruled,
    /// One rule, or several with commas between.
    pub text: String,
    pub times: u64,
}

/// The most frequent first.
pub fn suggest(book: &Rulebook, cwd: &Path, all: impl IntoIterator<Item = ByHand>) -> Vec<Suggestion> {
    let mut asked: BTreeMap<(String, bool), (ByHand, u64)> = BTreeMap::new();
    for one in all {
        // No pattern is made of what was left out.
        let Some(key) = earlier::key(&one.claims) else { continue };
        let is_full = asked.len() >= MAX_ASKED;
        match asked.get_mut(&(key.clone(), one.is_allowed)) {
            Some((_, times)) => *times += 1,
            None if is_full => {}
            None => drop(asked.insert((key, one.is_allowed), (one, 1))),
        }
    }
    let now = book.with(cwd, &crate::rules::Rules::default()).0;
    let mut found: BTreeMap<(bool, String), u64> = BTreeMap::new();
    for (one, times) in asked.values() {
        let list = if one.is_allowed { Ruled::Allow } else { Ruled::Deny };
        if book.by(&now, None, cwd, &one.claims).verdict == list {
            continue;
        }
        let fits = |text: &String| {
            let Ok(more) = read(list, text) else { return false };
            let rules = book.with(cwd, &more).0;
            let says = |claims: &Claims| book.by(&rules, None, cwd, claims).verdict == list;
            // Against nothing that the person has said otherwise.
            let mut others = asked.values().filter(|(other, _)| other.is_allowed != one.is_allowed);
            says(&one.claims) && !others.any(|(other, _)| says(&other.claims))
        };
        if let Some(text) = proposed(book, None, cwd, &one.claims).into_iter().find(fits) {
            *found.entry((one.is_allowed, text)).or_default() += times;
        }
    }
    let list = |is_allowed| if is_allowed { Ruled::Allow } else { Ruled::Deny };
    let mut all: Vec<Suggestion> = found
        .into_iter()
        .map(|((is_allowed, text), times)| Suggestion { list: list(is_allowed), text, times })
        .collect();
    all.sort_by_key(|suggestion| std::cmp::Reverse(suggestion.times));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::event::TerminalSpec;
    use crate::rules::Rules;

    fn ran(line: &str, is_allowed: bool) -> ByHand {
        let (args, env) = (Vec::new(), Vec::new());
        let spec = TerminalSpec { command: line.to_owned(), args, env, cwd: None, limit: None, patience: None };
        ByHand { claims: Claims::of_command(&spec), is_allowed }
    }

    #[test]
    fn the_narrowest_rule_that_would_have_answered_is_suggested_with_how_often() {
        let dir = tempfile::tempdir().unwrap();
        let book = Rulebook::only(Rules::default(), None);
        let all = [ran("git status", true), ran("cargo test", true), ran("cargo test", true), ran("rm x", false)];
        let found = suggest(&book, dir.path(), all);
        let found: Vec<_> = found.iter().map(|one| (one.list, one.text.as_str(), one.times)).collect();
        assert_eq!(
            found,
            [
                (Ruled::Allow, "Bash(cargo test)", 2),
                (Ruled::Deny, "Bash(rm x)", 1),
                (Ruled::Allow, "Bash(git status)", 1)
            ]
        );
    }

    #[test]
    fn what_rules_answer_or_the_person_has_answered_both_ways_is_not_suggested() {
        let dir = tempfile::tempdir().unwrap();
        let book = Rulebook::only(read(Ruled::Allow, "Bash(git status)").unwrap(), None);
        let all = [ran("git status", true), ran("ls a", true), ran("ls a", false), ran("echo …", true)];
        assert_eq!(suggest(&book, dir.path(), all), []);
    }
}
