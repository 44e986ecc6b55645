//! What rows look for in the words of a command, and where they find it.
//!
//! Knows nothing of patterns. Invariant: long options are known by any beginning of theirs, as the programs themselves do.

use super::subcommands::{others_behind, others_behind_options, others_than_one, others_within};
use super::{addresses, is_plain_glob, leads_out, may_take_next, queries, sed, unknown_letter, values};
use crate::base::percent::decoded;
use crate::rules::pattern::base_name;
use crate::rules::steering::is_steering;
use crate::rules::word::Word;
use std::collections::HashMap;
use std::path::Path;

/// What a row looks for in the words after the program.
#[derive(Clone, Copy, Debug)]
pub(in crate::rules) enum Sign {
    /// Any of these long options (blanks between them) or a beginning of it, with or without `=VALUE`; of one dash
    /// when it is written so.
    Longs(&'static str),
    /// A long option that is none of these, up to a `--` that no option takes for its value.
    OtherLongs(&'static str),
    /// What these find before a `--`, which no option of the program takes for its value.
    Before(&'static [Sign]),
    /// What these find up to the script that is run, behind options of these letters alone: what follows is the script's.
    BeforeScript(&'static str, &'static [Sign]),
    /// A word with a dash before it that is none of these, one or two dashes being the same: each up to its `=`, or the
    /// beginning of one where it ends with `*`.
    OtherDashes(&'static str),
    /// A short option, its value attached or not.
    Short(&'static str),
    /// Any of these letters among short options.
    Letters(&'static str),
    /// One of these letters in the first word, where it is a bundle of options without a dash.
    Bare(&'static str),
    /// A short option that is not among these: those without a value, and those with one.
    But(&'static str, &'static str),
    /// A first word that is not one of these, or not with the second one where both are written as `one/two`, and where that is
    /// an option the first behind it as well.
    Only(&'static str),
    /// The same behind any of the first words here, which are options without a value, or with one where a `=` ends them; behind
    /// such a value only those of the last are known.
    OnlyBehind(&'static str, &'static str, &'static str),
    /// The first two words are none of these, each written as `one/two`, or `one/` where it is for any second one; the
    /// first two behind options where it begins with some.
    OnlyTwo(&'static str),
    /// Behind a first word that is this one, the first word that is none of these, and options before it that are none of
    /// the last, of which those with a `=` take a value.
    Within(&'static str, &'static str, &'static str),
    /// After a first word that is this one, a word that leads out of the directory.
    Elsewhere(&'static str),
    /// A word with characters that a shell takes for its own.
    Marks,
    /// A word after a first one that is one of these, options not counted.
    After(&'static str),
    /// Any word.
    Each,
    /// None of its words is one of these.
    Unless(&'static str),
    /// A word that is one of these, at any place.
    Any(&'static str),
    /// What is put in by name: behind the first word, or the first two written as `one/two`, if that is one of these or
    /// nothing is, a word that is neither in the directory, beginning with `.`, nor the value of one of these letters and long
    /// options.
    Brought(&'static str, &'static str, &'static str),
    /// A word of letters alone that has one of these, unless it is the value of an option here: a letter at the end of a word,
    /// of which `u` and `g` take one only behind a dash, or a long option.
    Bundle(&'static str, &'static str),
    /// Words in this order, options between them not counted.
    Words(&'static [&'static str]),
    /// A word that begins so.
    Begins(&'static str),
    /// A word that has this text in it, in small letters or large ones.
    Has(&'static str),
    /// A word that has all of these texts in it.
    HasAll(&'static [&'static str]),
    /// No word that names a program to interpret: it comes from standard input.
    NoScript,
    /// The name of a device, or of what a process has open: standard input by another name.
    Device,
    /// The line says what is read from standard input.
    Input,
    /// All of it: commands come from standard input, too.
    Always,
    /// A script that is more than plain lines to print, delete or replace.
    SedScript,
    /// A name; these letters take the next word.
    Name(&'static str),
    /// A second name, `-` and `+1` being names too; these letters take the next word.
    SecondName(&'static str),
    /// A name, an address or the value of an option that ends where later commands take programs from.
    Steering,
    /// A word that is not known before it runs.
    Unknown,
    /// The same, but for names below a directory none of which can be one that later commands take programs from.
    Open,
    /// The same as of `Longs` or a short option, where the value looks like the name of a file.
    Paths(&'static str),
    /// The option of this letter and of this long name, where its value is none of these; the letters before are all that
    /// have a value.
    Value(&'static str, char, &'static str, &'static str),
    /// What a program takes for an address of anything but the web; these letters and long options have a value.
    Addresses(&'static str, &'static str),
    /// A word without a dash that has so many colons, and no comma.
    Colons(usize),
    /// What these find behind a `--`.
    Behind(&'static [Sign]),
    /// Behind a word that names a file so, any of these words.
    Of(&'static str, &'static str),
    /// A word that has this text as a name of its own, in these letters.
    Token(&'static str),
    /// A word without a dash that has one of these between commas and slashes, whatever stands behind a dot.
    Part(&'static str),
    /// A word after a first one that is one of these, which is no plain name of a package.
    Unplain(&'static str),
    /// A text that may put out what it makes elsewhere, as awk does with `>`.
    Redirects,
    /// A text with a backslash before any other character than these.
    Escapes(&'static str),
    /// A text that takes in what stands in another file, as jq does with `import`.
    Imports,
    /// All of it, unless it asks a database for something by a name and one plain `select`.
    Query,
    /// `NAME=VALUE`, but for a digit as the value of one of these names.
    Assignment(&'static str),
    /// `NAME=VALUE`, but for a plain value of one of these names.
    Set(&'static str),
}

/// Options that are no beginning of another one.
const WHOLE: &[&str] = &["--watch", "--strip"];
/// Interpreters, and the word behind which stands what they run of the project.
const OF_PROJECT: &[(&str, &str)] = &[("bun", "run"), ("deno", "run"), ("deno", "task")];
/// What a shell takes for its own, beside blanks.
const MARKS: &str = ";|&$<>()`'\"\\!*?[]{}#\n";

impl Sign {
    /// The words, counted from the program, and how much of each has to be in the pattern.
    pub(super) fn find(self, words: &[Word], has_input: bool) -> Vec<(usize, usize)> {
        let arguments = words.iter().enumerate().skip(1).map(|(at, word)| (at, word.text.as_str()));
        match self {
            Self::Input if has_input => vec![(words.len(), 1)],
            Self::Input => Vec::new(),
            Self::SedScript => sed::scripts(words),
            Self::Unknown => {
                let unknown = words.iter().enumerate().skip(1).filter(|(_, word)| !word.is_known());
                unknown.map(|(at, word)| (at, word.text.len() + 1)).collect()
            }
            Self::Open => {
                let names_plain = |at: usize, word: &Word| at + 1 < words.len() && is_plain_glob(word);
                let unknown = words.iter().enumerate().skip(1);
                let unknown = unknown.filter(|(at, word)| !word.is_known() && !names_plain(*at, word));
                unknown.map(|(at, word)| (at, word.text.len() + 1)).collect()
            }
            Self::Name(valued) => {
                let found = names(words, valued).into_iter().filter(|(_, text)| !text.starts_with('+'));
                found.map(|(at, text)| (at, text.len().max(1))).collect()
            }
            Self::SecondName(valued) => {
                names(words, valued).iter().skip(1).map(|(at, text)| (*at, text.len().max(1))).collect()
            }
            Self::Before(signs) => {
                let end = words.iter().position(|word| word.text == "--").unwrap_or(words.len());
                let before = words.get(..end).unwrap_or_default();
                signs.iter().flat_map(|sign| sign.find(before, has_input)).collect()
            }
            Self::BeforeScript(flags, signs) => {
                let end = script(words, flags).map_or(words.len(), |at| at + 1);
                let before = words.get(..end).unwrap_or_default();
                signs.iter().flat_map(|sign| sign.find(before, has_input)).collect()
            }
            Self::Behind(signs) => {
                let start = words.iter().position(|word| word.text == "--").unwrap_or(words.len());
                let behind = words.get(start..).unwrap_or_default();
                let found = signs.iter().flat_map(|sign| sign.find(behind, has_input));
                found.map(|(at, bytes)| (start + at, bytes)).collect()
            }
            Self::Query if queries::is_plain(words) && !has_input => Vec::new(),
            Self::Query => Self::Always.find(words, has_input),
            Self::Any(names) => any_of(names, words),
            Self::Unless(names) if any_of(names, words).is_empty() => {
                vec![(if words.len() > 1 { words.len() - 1 } else { words.len() }, 1)]
            }
            Self::Unless(_) => Vec::new(),
            Self::Brought(after, letters, longs) => brought(words, after, letters, longs),
            Self::Always => match words.split_last() {
                Some((last, [_, ..])) => vec![(words.len() - 1, last.text.len().max(1))],
                _ => vec![(words.len(), 1)],
            },
            _ => self.among(words.len(), arguments),
        }
    }

    /// Of those that look at the texts of the arguments, each with its place; `end` is that after the last.
    fn among<'a>(self, end: usize, arguments: impl Iterator<Item = (usize, &'a str)> + Clone) -> Vec<(usize, usize)> {
        let arguments = || arguments.clone();
        let options = || arguments().filter(|(_, text)| text.starts_with('-') && text.len() > 1);
        let letters = || options().filter(|(_, text)| !text.starts_with("--"));
        match self {
            Self::Longs(names) => {
                let is_it = |typed: &str| listed(names).any(|name| typed == name || is_beginning(typed, name));
                let found = options().filter(|(_, text)| is_it(name_of(text)));
                found.map(|(at, text)| (at, text.len().min(name_of(text).len() + 1))).collect()
            }
            Self::OtherLongs(names) => other_longs(names, arguments()),
            Self::OtherDashes(names) => {
                let is_number = |text: &str| text[1..].starts_with(|c: char| c.is_ascii_digit());
                let found = options().filter(|(_, text)| !is_number(text) && !is_listed_dash(names, text));
                found.map(|(at, text)| (at, text.len().min(name_of(text).len() + 1))).collect()
            }
            Self::Short(name) => {
                options().filter(|(_, text)| text.starts_with(name)).map(|(at, _)| (at, name.len())).collect()
            }
            Self::Letters(any) => {
                let found = letters().filter(|(_, text)| text.contains(|c| any.contains(c)));
                found.map(|(at, text)| (at, text.len())).collect()
            }
            Self::Bare(bundle) => arguments()
                .take(1)
                .filter(|(_, text)| !text.starts_with('-') && text.contains(|c| bundle.contains(c)))
                .map(|(at, text)| (at, text.len()))
                .collect(),
            Self::But(flags, valued) => {
                letters().filter_map(|(at, text)| Some((at, unknown_letter(text, flags, valued)?))).collect()
            }
            Self::Only(names) => others_than_one(names, arguments()),
            Self::OnlyBehind(options, names, named) => others_behind(options, names, named, arguments()),
            Self::Within(first, names, options) => others_within(first, names, options, arguments()),
            Self::OnlyTwo(names) => others_behind_options(names, arguments()),
            Self::Elsewhere(first) => elsewhere(first, arguments()),
            Self::Marks => {
                let found =
                    arguments().filter(|(_, text)| text.contains(|c: char| MARKS.contains(c) || c.is_whitespace()));
                found.map(|(at, text)| (at, text.len())).collect()
            }
            Self::After(names) => {
                let mut found = arguments().filter(|(_, text)| !text.starts_with('-'));
                let is_it = found.next().is_some_and(|(_, first)| listed(names).any(|name| name == first));
                found.filter(|_| is_it).map(|(at, text)| (at, text.len().max(1))).collect()
            }
            Self::Each => {
                arguments().map(|(at, text)| (at, text.find('=').map_or(text.len(), |end| end + 1))).collect()
            }
            Self::Words(names) => in_order(names, arguments()),
            Self::Begins(start) => {
                arguments().filter(|(_, text)| text.starts_with(start)).map(|(at, _)| (at, start.len())).collect()
            }
            Self::Assignment(names) => assignments(names, arguments()),
            Self::Set(names) => settings(names, arguments()),
            Self::Has(part) => {
                let has = |text: &str| text.to_ascii_lowercase().contains(part);
                arguments().filter(|(_, text)| has(text)).map(|(at, text)| (at, text.len())).collect()
            }
            Self::HasAll(texts) => {
                let has = |text: &str| texts.iter().all(|part| text.contains(part));
                arguments().filter(|(_, text)| has(text)).map(|(at, text)| (at, text.len())).collect()
            }
            Self::NoScript => {
                let has_script = arguments().any(|(_, text)| !text.starts_with('-'));
                let dash = arguments().find(|(_, text)| *text == "-");
                match dash {
                    Some((at, _)) => vec![(at, 1)],
                    None if has_script => Vec::new(),
                    // The last word, so that a pattern without `*` is the only one.
                    None => vec![(end, 1)],
                }
            }
            Self::Device => {
                arguments().filter(|(_, text)| is_device(text)).map(|(at, text)| (at, text.len())).collect()
            }
            Self::Steering => {
                // What is fetched is put where signs of an address are the characters that they stand for.
                let is_one = |value: &str| {
                    is_steering(Path::new(value)) || decoded(value).is_some_and(|value| is_steering(Path::new(&value)))
                };
                let found = arguments().filter(|(_, text)| values(text).any(is_one));
                found.map(|(at, text)| (at, text.len())).collect()
            }
            _ => self.of_parts(arguments()),
        }
    }

    /// Of those that look at values, names and letters in the texts; nothing of those that look at more than texts.
    fn of_parts<'a>(self, arguments: impl Iterator<Item = (usize, &'a str)> + Clone) -> Vec<(usize, usize)> {
        let no_dash = |(_, text): &(usize, &str)| !text.starts_with('-');
        let found: Vec<(usize, &str)> = match self {
            Self::Paths(names) => values_of(arguments, |typed| listed(names).any(|name| name == typed))
                .filter(|(.., value)| value.contains(['/', '.']))
                .map(|(at, text, _)| (at, text))
                .collect(),
            Self::Value(all, letter, long, allowed) => valued(arguments, all, letter, long)
                .filter(|(.., value)| !listed(allowed).any(|one| one == *value))
                .map(|(at, text, _)| (at, text))
                .collect(),
            Self::Colons(count) => {
                let is_it = |text: &str| !text.contains(',') && text.matches(':').count() >= count;
                arguments.filter(no_dash).filter(|(_, text)| is_it(text)).collect()
            }
            Self::Of(script, names) => {
                let behind = arguments.skip_while(|(_, text)| text.rsplit('/').next() != Some(script)).skip(1);
                behind.filter(|(_, text)| listed(names).any(|name| name == *text)).collect()
            }
            Self::Token(name) => arguments.filter(|(_, text)| has_token(text, name)).collect(),
            Self::Part(names) => {
                let is_one = |part: &str| {
                    let part = part.split('.').next().unwrap_or_default();
                    listed(names).any(|name| part.eq_ignore_ascii_case(name))
                };
                arguments.filter(no_dash).filter(|(_, text)| text.split([',', '/']).any(is_one)).collect()
            }
            Self::Unplain(names) => {
                let mut found = arguments.filter(no_dash);
                let is_it = found.next().is_some_and(|(_, first)| listed(names).any(|name| name == first));
                found.filter(|(_, text)| is_it && !is_package(text)).collect()
            }
            Self::Bundle(letters, valued) => bundles(arguments, letters, valued),
            Self::Addresses(letters, longs) => addresses::others(arguments, letters, longs),
            Self::Escapes(harmless) => arguments.filter(|(_, text)| queries::escapes(text, harmless)).collect(),
            Self::Imports => arguments.filter(|(_, text)| queries::imports(text)).collect(),
            Self::Redirects => arguments.filter(|(_, text)| queries::redirects(text)).collect(),
            _ => Vec::new(),
        };
        found.into_iter().map(|(at, text)| (at, text.len().max(1))).collect()
    }
}

/// Options, each with its value: behind its `=`, or the next word.
fn values_of<'a>(
    arguments: impl Iterator<Item = (usize, &'a str)> + Clone,
    is_it: impl Fn(&str) -> bool,
) -> impl Iterator<Item = (usize, &'a str, &'a str)> {
    let next = arguments.clone().map(|(_, text)| text).skip(1).chain([""]);
    let found = arguments.zip(next).filter(move |((_, text), _)| text.starts_with('-') && is_it(name_of(text)));
    found.map(|((at, text), next)| (at, text, text.split_once('=').map_or(next, |(_, value)| value)))
}

/// The values of one option, which may also stand behind its letter in one word.
fn valued<'a>(
    arguments: impl Iterator<Item = (usize, &'a str)> + Clone,
    all: &'static str,
    letter: char,
    long: &'static str,
) -> impl Iterator<Item = (usize, &'a str, &'a str)> {
    let longs = values_of(arguments.clone(), move |typed| typed == long || is_beginning(typed, long));
    let next = arguments.clone().map(|(_, text)| text).skip(1).chain([""]);
    let letters = arguments.zip(next).filter(|((_, text), _)| text.starts_with('-') && !text.starts_with("--"));
    let letters = letters.filter_map(move |((at, text), next)| {
        // Behind the first that has one all is its value.
        let at_first = text.find(|c| all.contains(c))?;
        let value = text.get(at_first..)?.strip_prefix(letter)?;
        Some((at, text, if value.is_empty() { next } else { value }))
    });
    longs.chain(letters)
}

/// Bundles of options without a dash.
fn bundles<'a>(
    arguments: impl Iterator<Item = (usize, &'a str)>,
    letters: &'static str,
    valued: &'static str,
) -> Vec<(usize, &'a str)> {
    let is_valued = |letter: char| listed(valued).any(|one| one.strip_prefix(letter) == Some(""));
    let takes_next = |text: &str| {
        let is_of_dash = text.starts_with('-');
        let first = text.find(|c| is_valued(c) && (is_of_dash || !"ug".contains(c)));
        if text.starts_with("--") { listed(valued).any(|one| one == text) } else { first == Some(text.len() - 1) }
    };
    // The name of a user whom nobody knows is read as such a bundle, too.
    let may_be_flags = |text: &str| text.chars().all(|c| "aefhjlmnrsuvwx".contains(c));
    let (mut found, mut before) = (Vec::new(), "");
    for (at, text) in arguments {
        let is_value = !(before.is_empty() || before.ends_with('u') && may_be_flags(text));
        let is_bundle = !is_value && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphabetic());
        if is_bundle && text.contains(|c| letters.contains(c)) {
            found.push((at, text));
        }
        before = if (is_bundle || !is_value && text.len() > 1 && text.starts_with('-')) && takes_next(text) {
            text
        } else {
            ""
        };
    }
    found
}

/// Whether a text has a name that is no part of a longer one, no field and no key.
fn has_token(text: &str, name: &str) -> bool {
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let behind = text.get(at + name.len()..).and_then(|behind| behind.chars().next());
        !before.is_some_and(|c| is_of_name(c) || ".\"".contains(c))
            && !behind.is_some_and(|c| is_of_name(c) || ":\"".contains(c))
    })
}

/// `react`, `@types/node@20`: a name that is asked for where packages are kept.
fn is_package(text: &str) -> bool {
    let name = text.strip_prefix('@').and_then(|scoped| Some(scoped.split_once('/')?.1)).unwrap_or(text);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-@^~".contains(c);
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(is_plain)
}

/// The words that are one of these.
pub(super) fn any_of(names: &'static str, words: &[Word]) -> Vec<(usize, usize)> {
    let found = words.iter().enumerate().skip(1);
    let found = found.filter(|(_, word)| listed(names).any(|name| name == word.text));
    found.map(|(at, word)| (at, word.text.len())).collect()
}

/// The last of these words, where all of them stand there in this order.
fn in_order<'a>(
    names: &'static [&'static str],
    mut arguments: impl Iterator<Item = (usize, &'a str)>,
) -> Vec<(usize, usize)> {
    let mut last = None;
    for name in names {
        let is_it = |(_, text): &(usize, &str)| text == name || name.starts_with('-') && text.starts_with(name);
        last = arguments.find(is_it);
        if last.is_none() {
            return Vec::new();
        }
    }
    last.map(|(at, text)| (at, text.len())).into_iter().collect()
}

/// `NAME=VALUE`, but for a digit as the value of one of these names.
fn assignments<'a>(names: &'static str, arguments: impl Iterator<Item = (usize, &'a str)>) -> Vec<(usize, usize)> {
    let is_digit = |value: &str| matches!(value.as_bytes(), [digit] if digit.is_ascii_digit());
    let is_plain = |text: &str| {
        text.split_once('=').is_some_and(|(name, value)| listed(names).any(|known| known == name) && is_digit(value))
    };
    let found = arguments.filter(|(_, text)| text.contains('=') && !is_plain(text));
    found.map(|(at, text)| (at, text.len())).collect()
}

/// `NAME=VALUE`, but for a plain value of one of these names.
fn settings<'a>(names: &'static str, arguments: impl Iterator<Item = (usize, &'a str)>) -> Vec<(usize, usize)> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./:-".contains(c);
    let is_known = |name: &str, value: &str| {
        listed(names).any(|known| known == name) && !value.starts_with('-') && value.chars().all(is_plain)
    };
    let found = arguments.filter(|(_, text)| !text.starts_with('-'));
    let found = found.filter_map(|(at, text)| Some((at, text, text.split_once('=')?)));
    found.filter(|(.., (name, value))| !is_known(name, value)).map(|(at, text, _)| (at, text.len())).collect()
}

/// Long options that are none of these, before the end of the options.
fn other_longs<'a>(names: &'static str, arguments: impl Iterator<Item = (usize, &'a str)>) -> Vec<(usize, usize)> {
    let mut before = "";
    let options = arguments.take_while(|(_, text)| {
        let is_over = *text == "--" && !may_take_next(before);
        before = text;
        !is_over
    });
    let is_other = |text: &str| text.len() > 2 && !listed(names).any(|name| name == name_of(text));
    let found = options.filter(|(_, text)| text.starts_with("--") && is_other(text));
    found.map(|(at, text)| (at, text.len().min(name_of(text).len() + 1))).collect()
}

/// After this first word those that lead out of the directory.
fn elsewhere<'a>(first: &str, arguments: impl Iterator<Item = (usize, &'a str)>) -> Vec<(usize, usize)> {
    let mut names = arguments.filter(|(_, text)| !text.starts_with('-'));
    let is_it = names.next().is_some_and(|(_, text)| text == first);
    names.filter(|(_, text)| is_it && leads_out(text)).map(|(at, text)| (at, text.len())).collect()
}

/// The row of each of the names that rows have: the first, where there are several.
pub(super) fn by_name<R>(rows: &'static [R], names: impl Fn(&R) -> &'static str) -> HashMap<&'static str, &'static R> {
    let mut found = HashMap::new();
    for row in rows {
        for name in listed(names(row)) {
            found.entry(name).or_insert(row);
        }
    }
    found
}

pub(super) fn listed(names: &'static str) -> impl Iterator<Item = &'static str> {
    names.split_ascii_whitespace()
}

/// An option without its value.
fn name_of(text: &str) -> &str {
    text.split_once('=').map_or(text, |(name, _)| name)
}

fn is_listed_dash(names: &'static str, text: &str) -> bool {
    let typed = text.trim_start_matches('-');
    listed(names).map(|name| name.trim_start_matches('-')).any(|name| match name.strip_suffix('*') {
        Some(start) => typed.starts_with(start),
        None => name_of(typed) == name,
    })
}

/// The words that are no options and no values of these letters.
fn names<'a>(words: &'a [Word], valued: &str) -> Vec<(usize, &'a str)> {
    let (mut found, mut is_over, mut is_value) = (Vec::new(), false, false);
    for (at, word) in words.iter().enumerate().skip(1) {
        let text = word.text.as_str();
        if std::mem::take(&mut is_value) {
            continue;
        }
        if is_over || text.len() < 2 || !text.starts_with('-') {
            found.push((at, text));
        } else {
            is_over = text == "--";
            let first = text.find(|c| valued.contains(c)).filter(|_| !text.starts_with("--"));
            is_value = first.is_some_and(|first| first + 1 == text.len());
        }
    }
    found
}

/// The names of what is put in and does not stand in the directory.
fn brought(words: &[Word], after: &'static str, letters: &str, longs: &'static str) -> Vec<(usize, usize)> {
    let is_long_value = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        before.is_some_and(|before| listed(longs).any(|long| long == before.text))
    };
    let named = names(words, letters).into_iter().filter(|(at, _)| !is_long_value(*at));
    let named: Vec<(usize, &str)> = named.collect();
    let text = |at: usize| named.get(at).map_or("", |(_, text)| *text);
    let begins = |known: &str| match known.split_once('/') {
        Some((one, two)) if text(0) == one && text(1) == two => Some(2),
        None if text(0) == known => Some(1),
        _ => None,
    };
    let from = if after.is_empty() { Some(0) } else { listed(after).find_map(begins) };
    let is_here = |text: &str| text.starts_with('.') && !leads_out(text);
    let found = named.iter().skip(from.unwrap_or(usize::MAX)).filter(|(_, text)| !is_here(text));
    found.map(|(at, text)| (*at, text.len().max(1))).collect()
}

/// Where the name of a script stands for certain: what looks like a file, behind options of these letters alone.
fn script(words: &[Word], flags: &str) -> Option<usize> {
    let is_flags = |word: &Word| {
        let letters = word.known().and_then(|text| text.strip_prefix('-')).unwrap_or_default();
        !letters.is_empty() && letters.chars().all(|letter| flags.contains(letter))
    };
    let at = 1 + words.iter().skip(1).take_while(|word| is_flags(word)).count();
    let text = words.get(at)?.known()?;
    let program = words.first().map(|word| base_name(word).text).unwrap_or_default();
    // What the project calls so, or a file of it: an option before that is one of the program's own.
    if at == 1 && OF_PROJECT.contains(&(program.as_str(), text)) {
        return words.get(2)?.known().filter(|name| !name.starts_with('-')).map(|_| 2);
    }
    (!text.starts_with('-') && text.contains(['/', '.'])).then_some(at)
}

/// Whether a path leads to devices or to what processes have open, as far as it says so itself.
fn is_device(text: &str) -> bool {
    let parts: Vec<&str> = text.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let is_one = |part: &&str| matches!(*part, "dev" | "proc");
    if parts.contains(&"..") {
        parts.iter().any(is_one)
    } else {
        text.starts_with('/') && parts.first().is_some_and(is_one)
    }
}

/// A beginning of an option of two dashes is the option, if there is no other.
fn is_beginning(typed: &str, name: &str) -> bool {
    typed.len() > 2 && typed.starts_with("--") && name.starts_with(typed) && !WHOLE.contains(&typed)
}
