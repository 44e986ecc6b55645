//! What makes a harmless-looking program run or write something else: how the rows of `table` are found.
//! What is known of git stands in `git`.
//!
//! Rules with a `*` do not cover these; only a pattern that has the word itself does. Knows nothing of patterns.
//! Invariant: long options are known by any beginning of theirs, as the programs themselves do.

mod git;
mod table;

use super::word::Word;
use table::{STEADY, TABLE};

/// What a row looks for in the words after the program.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sign {
    /// A long option or a beginning of it, with or without `=VALUE`; of one dash when it is written so.
    Long(&'static str),
    /// A short option, its value attached or not.
    Short(&'static str),
    /// A letter among short options.
    Letter(char),
    /// One of these letters in the first word, where it is a bundle of options without a dash.
    Bare(&'static str),
    /// A short option that is not among these: those without a value, and those with one.
    But(&'static str, &'static str),
    /// A first word that is not one of these.
    Only(&'static [&'static str]),
    /// Any word.
    Each,
    /// Words in this order, options between them not counted.
    Words(&'static [&'static str]),
    /// A word that begins so.
    Begins(&'static str),
    /// A word that has this text in it.
    Has(&'static str),
    /// No word that names a program to interpret: it comes from standard input.
    NoScript,
    /// A script that is more than plain lines to print, delete or replace.
    SedScript,
    /// A second name; `-` is one.
    SecondName,
    /// No second name: what it is to do comes from standard input.
    NoSecondName,
    /// All of it: commands come from standard input, too.
    Always,
    /// A word that leads to a device or to what the kernel tells of processes.
    Device,
    /// A word that is not known before it runs.
    Unknown,
}

#[derive(Debug)]
pub(super) struct Row {
    pub(super) programs: &'static [&'static str],
    pub(super) signs: &'static [Sign],
    /// For readers of the table, and for the question.
    pub(super) reason: &'static str,
}

/// A word that a pattern has to have itself: where, how many bytes of it, and why.
pub(super) type Hit = (usize, usize, &'static str);

pub(super) fn find(program: &str, words: &[Word]) -> Vec<Hit> {
    if program == "git" {
        return git::find(words);
    }
    let mut found = Vec::new();
    for row in rows(program) {
        for sign in row.signs {
            found.extend(sign.find(words).into_iter().map(|(at, bytes)| (at, bytes, row.reason)));
        }
    }
    found
}

/// Names of remotes that a command of git has: it takes a directory of that name, where no remote is called so.
pub(super) fn remotes(words: &[Word]) -> impl Iterator<Item = &str> {
    let is_git = words.first().is_some_and(|program| program.text.rsplit('/').next() == Some("git"));
    let named = words.iter().skip(1).map(|word| word.text.as_str()).filter(|text| git::REMOTES.contains(text));
    named.filter(move |_| is_git)
}

/// Whether the program has options that matter.
pub(super) fn is_listed(program: &str) -> bool {
    program == "git" || rows(program).next().is_some()
}

/// Whether the program does the same in every directory, but for the files that it is given.
pub(super) fn is_steady(program: &str) -> bool {
    STEADY.contains(&program)
}

/// How much of a bundle of short options there is up to the first that is not known.
pub(super) fn unknown_letter(text: &str, flags: &str, valued: &str) -> Option<usize> {
    for (at, letter) in text.char_indices().skip(1) {
        if valued.contains(letter) {
            return None;
        }
        if !letter.is_ascii_digit() && !flags.contains(letter) {
            return Some(at + letter.len_utf8());
        }
    }
    None
}

fn rows(program: &str) -> impl Iterator<Item = &'static Row> {
    // Versions: python3.12, clang-17.
    let bare = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-').to_owned();
    let program = program.to_owned();
    TABLE.iter().filter(move |row| row.programs.iter().any(|name| *name == program || *name == bare))
}

impl Sign {
    /// The words, counted from the program, and how much of each has to be in the pattern.
    fn find(self, words: &[Word]) -> Vec<(usize, usize)> {
        let arguments = || words.iter().enumerate().skip(1).map(|(at, word)| (at, word.text.as_str()));
        let options = || arguments().filter(|(_, text)| text.starts_with('-') && text.len() > 1);
        let letters = || options().filter(|(_, text)| !text.starts_with("--"));
        match self {
            Self::Long(name) => {
                let typed = |text: &str| text.find('=').unwrap_or(text.len());
                let found = options().filter(|(_, text)| {
                    let typed = &text[..typed(text)];
                    typed == name || is_beginning(typed, name)
                });
                found.map(|(at, text)| (at, text.len().min(typed(text) + 1))).collect()
            }
            Self::Short(name) => {
                options().filter(|(_, text)| text.starts_with(name)).map(|(at, _)| (at, name.len())).collect()
            }
            Self::Letter(letter) => {
                letters().filter(|(_, text)| text.contains(letter)).map(|(at, text)| (at, text.len())).collect()
            }
            Self::Bare(bundle) => arguments()
                .take(1)
                .filter(|(_, text)| !text.starts_with('-') && text.contains(|c| bundle.contains(c)))
                .map(|(at, text)| (at, text.len()))
                .collect(),
            Self::But(flags, valued) => {
                letters().filter_map(|(at, text)| Some((at, unknown_letter(text, flags, valued)?))).collect()
            }
            Self::Only(names) => arguments()
                .take(1)
                .filter(|(_, text)| !names.contains(text))
                .map(|(at, text)| (at, text.len().max(1)))
                .collect(),
            Self::Each => {
                arguments().map(|(at, text)| (at, text.find('=').map_or(text.len(), |end| end + 1))).collect()
            }
            Self::Words(names) => {
                let mut last = None;
                let mut rest = arguments();
                for name in names {
                    let is_it =
                        |(_, text): &(usize, &str)| text == name || name.starts_with('-') && text.starts_with(name);
                    last = rest.find(is_it);
                    if last.is_none() {
                        return Vec::new();
                    }
                }
                last.map(|(at, text)| (at, text.len())).into_iter().collect()
            }
            Self::Begins(start) => {
                arguments().filter(|(_, text)| text.starts_with(start)).map(|(at, _)| (at, start.len())).collect()
            }
            Self::Has(part) => {
                arguments().filter(|(_, text)| text.contains(part)).map(|(at, text)| (at, text.len())).collect()
            }
            Self::NoScript => {
                let has_script = arguments().any(|(_, text)| !text.starts_with('-'));
                let dash = arguments().find(|(_, text)| *text == "-");
                match dash {
                    Some((at, _)) => vec![(at, 1)],
                    None if has_script => Vec::new(),
                    // The last word, so that a pattern without `*` is the only one.
                    None => vec![(words.len(), 1)],
                }
            }
            Self::NoSecondName => {
                let names = arguments().filter(|(_, text)| !text.starts_with('-'));
                if names.count() < 2 { vec![(words.len(), 1)] } else { Vec::new() }
            }
            Self::Always => match words.split_last() {
                Some((last, [_, ..])) => vec![(words.len() - 1, last.text.len().max(1))],
                _ => vec![(words.len(), 1)],
            },
            Self::Device => {
                arguments().filter(|(_, text)| is_device(text)).map(|(at, text)| (at, text.len())).collect()
            }
            Self::SedScript => sed_scripts(words),
            Self::Unknown => {
                let unknown = words.iter().enumerate().skip(1).filter(|(_, word)| !word.is_known());
                unknown.map(|(at, word)| (at, word.text.len() + 1)).collect()
            }
            Self::SecondName => {
                let names = arguments().filter(|(_, text)| !text.starts_with('-') || *text == "-");
                names.skip(1).map(|(at, text)| (at, text.len())).collect()
            }
        }
    }
}

/// A beginning of an option of two dashes is the option, if there is no other.
fn is_beginning(typed: &str, name: &str) -> bool {
    typed.len() > 2 && typed.starts_with("--") && name.starts_with(typed)
}

/// Whether a path leads to `/dev` or `/proc`, however it is written.
fn is_device(text: &str) -> bool {
    let mut names: Vec<&str> = Vec::new();
    for name in text.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    let is_from_above = text.starts_with('/') || text.split('/').any(|name| name == "..");
    is_from_above && names.first().is_some_and(|name| ["dev", "proc"].contains(name))
}

fn sed_scripts(words: &[Word]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut takes_next = false;
    let mut is_given = false;
    for (at, word) in words.iter().enumerate().skip(1) {
        let text = word.text.as_str();
        let script = if takes_next {
            takes_next = false;
            Some(text)
        } else if let Some(script) = text.strip_prefix("--e") {
            script.split_once('=').map(|(_, script)| script).or_else(|| {
                takes_next = true;
                None
            })
        } else if text.starts_with("--") {
            None
        } else if let Some(letters) = text.strip_prefix('-') {
            match letters.split_once('e') {
                Some((_, "")) => {
                    takes_next = true;
                    None
                }
                Some((_, script)) => Some(script),
                None => None,
            }
        } else if is_given {
            None
        } else {
            Some(text)
        };
        is_given |= script.is_some() || takes_next;
        if script.is_some_and(|script| !is_plain_sed(script)) {
            found.push((at, text.len()));
        }
    }
    found
}

/// `5p`, `1,20p`, `$d`, `/text/d`, `s/a/b/g`, several of them with `;`.
fn is_plain_sed(script: &str) -> bool {
    script.split([';', '\n']).all(|command| {
        let command = command.trim();
        let address = |c: char| c.is_ascii_digit() || matches!(c, ',' | '$' | '!' | ' ' | '~' | '+');
        let mut command = command.trim_start_matches(address);
        if let Some((address_text, rest)) =
            command.strip_prefix('/').filter(|rest| !rest.contains('\\')).and_then(|r| r.split_once('/'))
        {
            // A mark in brackets does not end it.
            if address_text.contains('[') {
                return false;
            }
            command = rest.trim_start_matches(address);
        }
        let Some(rest) = command.strip_prefix('s') else { return matches!(command, "" | "p" | "d" | "q" | "=") };
        let Some(mark) = rest.chars().next().filter(|c| c.is_ascii_punctuation() && *c != '\\') else { return false };
        // A mark that is escaped, or stands in brackets, would shift what follows.
        if rest.contains(&format!("\\{mark}")) || rest.contains('[') {
            return false;
        }
        let parts: Vec<&str> = rest.split(mark).collect();
        parts.len() == 4 && parts[3].chars().all(|c| c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I' | ' '))
    })
}
