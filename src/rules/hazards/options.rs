//! Options whose names say that a program runs, loads or writes what they are given, of programs of which nothing is known.
//!
//! Knows no program. Invariant: a name is taken apart at its marks and at large letters, and each part counts.

use super::{Hit, listed};
use crate::rules::word::Word;

const REASON: &str = "an option whose name says that it runs, loads or writes something";
/// Parts of a name that say it.
const ACTS: &str = "exec execute command commands cmd program prog shell eval evaluate script scripts hook hooks pager \
    editor browser prepipe prepipex wrapper launcher interpreter plugin plugins require load preload \
    loader output outfile";
/// Parts of which one says it behind the other.
const PAIRS: &[(&str, &str)] = &[("out", "file")];
/// What such a name begins with where it says the opposite, or only tells something.
const NOT: &str = "no not non without disable skip ignore exclude list show print version help dry";
/// What it ends with where it says how something is done.
const HOW: &str = "format style type mode color colour level timeout width encoding limit";
/// Values that say how something is printed.
const FORMATS: &str = "json jsonl ndjson yaml yml text txt table csv tsv xml plain wide name pretty markdown md sarif human \
    short long";

/// The words that a pattern has to have itself.
pub(super) fn find(words: &[Word]) -> Vec<Hit> {
    let is_format = |value: Option<&str>| value.is_some_and(|value| listed(FORMATS).any(|one| one == value));
    let found = words.iter().enumerate().skip(1).filter_map(|(at, word)| {
        let name = word.text.strip_prefix('-').filter(|name| name.len() > 1)?;
        let (name, value) = name.split_once('=').map_or((name, None), |(name, value)| (name, Some(value)));
        let value = value.or_else(|| words.get(at + 1).and_then(Word::known));
        (acts(name) && !is_format(value))
            .then(|| (at, word.text.find('=').map_or(word.text.len(), |end| end + 1), REASON))
    });
    found.collect()
}

fn acts(name: &str) -> bool {
    let parts = parts(name);
    let is_in =
        |list: &'static str, part: Option<&String>| part.is_some_and(|part| listed(list).any(|one| one == *part));
    let says = parts.iter().any(|part| is_in(ACTS, Some(part)))
        || parts.windows(2).any(|two| PAIRS.iter().any(|(one, other)| two[0] == *one && two[1] == *other));
    says && !is_in(NOT, parts.first()) && !is_in(HOW, parts.last())
}

/// `diff-program`, `customProviderModule`, `a.plugin`: what each is made of, in small letters.
fn parts(name: &str) -> Vec<String> {
    let (mut parts, mut is_small) = (vec![String::new()], false);
    for c in name.chars() {
        let is_mark = !c.is_alphanumeric();
        if (is_mark || is_small && c.is_uppercase()) && parts.last().is_some_and(|part| !part.is_empty()) {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut().filter(|_| !is_mark) {
            part.extend(c.to_lowercase());
        }
        is_small = c.is_lowercase();
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_its_option_does() {
        for name in ["-exec", "-diff-program", "-hookScript", "-a.plugin", "plugin", "-outFile", "-use-shell"] {
            assert!(acts(name), "{name}");
        }
        for name in
            ["-execution-time", "-no-plugins", "-commander", "-output-format", "-in-place", "-list-plugins", "-"]
        {
            assert!(!acts(name), "{name}");
        }
    }
}
