//! What tells sessions of one name apart.
//!
//! Found once for each list that is read. Invariant: only words that another session of the name has not are taken.

use super::PastSession;
use std::collections::HashMap;

/// Finds it for all: what was said last, else what was said first. Words that no other one has go before those that some
/// have.
pub fn tell_apart(all: &mut [PastSession]) {
    let mut alike: HashMap<&str, usize> = HashMap::new();
    let mut said: HashMap<(&str, &str), usize> = HashMap::new();
    for one in &*all {
        let Some(name) = one.name() else { continue };
        *alike.entry(name).or_default() += 1;
        for words in words(one) {
            *said.entry((name, words)).or_default() += 1;
        }
    }
    let apart = |one: &PastSession| {
        let name = one.name()?;
        let count = |words: &&str| said.get(&(name, *words)).copied().unwrap_or_default();
        let alike = alike.get(name).copied().filter(|alike| *alike > 1)?;
        let fewest = words(one).min_by_key(count).filter(|words| count(words) < alike)?;
        Some(fewest.to_owned())
    };
    let found: Vec<Option<String>> = all.iter().map(apart).collect();
    for (one, apart) in all.iter_mut().zip(found) {
        one.apart = apart;
    }
}

/// What is known of what was said besides the name.
fn words(one: &PastSession) -> impl Iterator<Item = &str> {
    let said = [&one.last_prompt, &one.first_prompt].into_iter().filter_map(Option::as_deref);
    said.filter(|words| Some(*words) != one.name())
}

#[cfg(test)]
mod tests {
    use super::super::Starts;
    use super::*;

    #[test]
    fn what_only_one_of_a_name_has_tells_it_apart() {
        let one = |title, first, last| {
            PastSession::clean("a".into(), "A", "a".into(), Starts::Unknown, "/shop".into()).about(title, first, last)
        };
        let mut all = [
            one(Some("shop"), Some("mend the cart"), Some("go on")),
            one(Some("shop"), Some("write a test"), Some("go on")),
            one(Some("shop"), Some("write a test"), Some("and docs")),
            one(Some("mill"), Some("only one"), None),
            one(None, Some("hello"), Some("what now?")),
            one(None, Some("hello"), None),
            one(Some("same"), Some("same words"), None),
            one(Some("same"), Some("same words"), None),
            one(None, None, None),
        ];
        tell_apart(&mut all);
        let apart: Vec<Option<&str>> = all.iter().map(|one| one.apart.as_deref()).collect();
        let shop = [Some("mend the cart"), Some("go on"), Some("and docs")];
        assert_eq!(apart[..3], shop);
        assert_eq!(apart[3..], [None, Some("what now?"), None, None, None, None]);
    }
}
