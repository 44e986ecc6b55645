//! Which first words of a command are none of those that are known.
//!
//! Knows no table. Invariant: an option before them that is not known has to be in the pattern, with what may be its value.

use super::{listed, may_take_next};

/// Options that take no value, of every program here which has them before its subcommand.
const PLAIN_OPTIONS: &[&str] =
    &["-q", "--quiet", "-v", "--verbose", "-s", "--silent", "--locked", "--offline", "--frozen"];

/// Options before the first word that is none, with the values of those which may take one; and how many words that are.
fn options_before(all: &[(usize, &str)], is_known: impl Fn(&str) -> bool) -> (Vec<(usize, usize)>, usize) {
    let (mut found, mut from) = (Vec::new(), 0);
    while let Some((at, text)) = all.get(from).filter(|(_, text)| text.starts_with(['-', '+']) && !is_known(text)) {
        found.push((*at, text.len()));
        from += 1;
        let value = all.get(from).filter(|(_, next)| !next.starts_with('-') && may_take_next(text));
        if let Some((at, value)) = value.filter(|_| !PLAIN_OPTIONS.contains(text)) {
            found.push((*at, value.len().max(1)));
            from += 1;
        }
    }
    (found, from)
}

/// The first word, unless it is one of these, or with the second one of those written as `one/two`, and the options before it.
pub(super) fn others_than_one<'a>(
    names: &'static str,
    arguments: impl Iterator<Item = (usize, &'a str)>,
) -> Vec<(usize, usize)> {
    let all: Vec<(usize, &str)> = arguments.collect();
    let is_known = |text: &str| listed(names).any(|name| name == text);
    let (mut found, from) = options_before(&all, is_known);
    let second = all.get(from + 1).map_or("", |(_, text)| *text);
    let is_pair = |text: &str| listed(names).any(|name| name.split_once('/') == Some((text, second)));
    let first = all.get(from).filter(|(_, text)| !is_known(text) && !is_pair(text));
    found.extend(first.map(|(at, text)| (*at, text.len().max(1))));
    found
}

/// The same behind options, some of which have a value: then of the last words.
pub(super) fn others_behind<'a>(
    options: &'static str,
    names: &'static str,
    named: &'static str,
    arguments: impl Iterator<Item = (usize, &'a str)>,
) -> Vec<(usize, usize)> {
    let takes_next = |text: &str| listed(options).any(|option| option.strip_suffix('=') == Some(text));
    let has_value = |text: &str| listed(options).any(|option| option.ends_with('=') && text.starts_with(option));
    let is_one = |text: &str| listed(options).any(|option| option == text);
    let (mut is_value, mut is_named) = (false, false);
    let behind: Vec<(usize, &str)> = arguments
        .skip_while(|(_, text)| {
            let is_of_it = std::mem::replace(&mut is_value, takes_next(text)) && !text.starts_with('-');
            is_named |= is_value || has_value(text);
            is_of_it || is_value || has_value(text) || is_one(text)
        })
        .collect();
    others_than_one(if is_named { named } else { names }, behind.into_iter())
}

/// Behind a first word that is this one: the next one, unless it is one of these, and the options before that which are none
/// of the last.
pub(super) fn others_within<'a>(
    first: &str,
    names: &'static str,
    options: &'static str,
    arguments: impl Iterator<Item = (usize, &'a str)>,
) -> Vec<(usize, usize)> {
    let mut behind = arguments.skip_while(|(_, text)| text.starts_with('-')).peekable();
    let mut found = Vec::new();
    if behind.next_if(|(_, text)| *text == first).is_none() {
        return found;
    }
    while let Some((at, text)) = behind.next() {
        if !text.starts_with('-') {
            found.extend((!listed(names).any(|name| name == text)).then_some((at, text.len().max(1))));
            break;
        }
        let takes_next = listed(options).any(|option| option.strip_suffix('=') == Some(text));
        let is_known = |option: &str| option == text || option.ends_with('=') && text.starts_with(option);
        if takes_next {
            behind.next();
        } else if !listed(options).any(is_known) {
            found.push((at, text.find('=').map_or(text.len(), |end| end + 1)));
        }
    }
    found
}

/// The first two words, unless they are one of these pairs, and the options before them.
pub(super) fn others_behind_options<'a>(
    names: &'static str,
    arguments: impl Iterator<Item = (usize, &'a str)>,
) -> Vec<(usize, usize)> {
    let all: Vec<(usize, &str)> = arguments.collect();
    let (mut found, from) = options_before(&all, |text| listed(names).any(|name| name.split('/').next() == Some(text)));
    found.extend(others_than_two(names, all.into_iter().skip(from)));
    found
}

/// The first two words, unless these or more are among those written as `one/two`.
fn others_than_two<'a>(names: &'static str, arguments: impl Iterator<Item = (usize, &'a str)>) -> Vec<(usize, usize)> {
    let first: Vec<(usize, &str)> = arguments.take(3).collect();
    let text = |at: usize| first.get(at).map_or("", |(_, text)| *text);
    let is_it =
        |known: &str| known.split('/').enumerate().all(|(at, part)| text(at) == part || at == 1 && part.is_empty());
    let is_known = listed(names).filter(|known| known.contains('/')).any(is_it);
    if is_known { Vec::new() } else { first.iter().take(2).map(|(at, text)| (*at, text.len().max(1))).collect() }
}
