//! What makes a harmless-looking program run or write something else: how the rows of `hazard_table` are found.
//!
//! Rules with a `*` do not cover these; only a pattern that has the word itself does. Knows nothing of patterns.
//! Invariant: long options are known by any beginning of theirs, as the programs themselves do.

use super::hazard_table::TABLE;
use super::word::Word;

/// What a row looks for in the words after the program.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sign {
    /// A long option or a beginning of it, with or without `=VALUE`; of one dash when it is written so.
    Long(&'static str),
    /// A short option, its value attached or not.
    Short(&'static str),
    /// A letter among short options.
    Letter(char),
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
    /// A second name.
    SecondName,
    /// A word that is not known before it runs.
    Unknown,
}

#[derive(Debug)]
pub(super) struct Row {
    pub(super) programs: &'static [&'static str],
    pub(super) signs: &'static [Sign],
    /// For whoever reads the table, and for the question.
    pub(super) reason: &'static str,
}

/// The first words that a pattern has to have itself: where, how many bytes of it, and why.
pub(super) fn find(program: &str, words: &[Word]) -> Vec<(usize, usize, &'static str)> {
    let mut found = Vec::new();
    for row in rows(program) {
        for sign in row.signs {
            if let Some((at, bytes)) = sign.find(words) {
                found.push((at, bytes, row.reason));
            }
        }
    }
    found
}

/// Whether the program has options that matter.
pub(super) fn is_listed(program: &str) -> bool {
    rows(program).next().is_some()
}

fn rows(program: &str) -> impl Iterator<Item = &'static Row> {
    // Versions: python3.12, clang-17.
    let bare = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-').to_owned();
    let program = program.to_owned();
    TABLE.iter().filter(move |row| row.programs.iter().any(|name| *name == program || *name == bare))
}

impl Sign {
    /// The word, counted from the program, and how much of it has to be in the pattern.
    fn find(self, words: &[Word]) -> Option<(usize, usize)> {
        let arguments = || words.iter().enumerate().skip(1);
        let options = || arguments().filter(|(_, word)| word.text.starts_with('-') && word.text.len() > 1);
        match self {
            Self::Long(name) => options().find_map(|(at, word)| {
                let typed = word.text.split('=').next().unwrap_or_default();
                let is_it = typed == name || is_beginning(typed, name);
                is_it.then(|| (at, word.text.len().min(typed.len() + 1)))
            }),
            Self::Short(name) => {
                options().find(|(_, word)| word.text.starts_with(name)).map(|(at, _)| (at, name.len()))
            }
            Self::Letter(letter) => options().find_map(|(at, word)| {
                let letters = word.text.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
                letters.contains(letter).then_some((at, word.text.len()))
            }),
            Self::Words(names) => {
                let mut last = None;
                let mut rest = arguments();
                for name in names {
                    let is_it = |(_, word): &(usize, &Word)| {
                        word.text == *name || name.starts_with('-') && word.text.starts_with(name)
                    };
                    last = Some(rest.find(is_it)?.0);
                }
                last.and_then(|at| Some((at, words.get(at)?.text.len())))
            }
            Self::Begins(start) => {
                arguments().find(|(_, word)| word.text.starts_with(start)).map(|(at, _)| (at, start.len()))
            }
            Self::Has(part) => {
                arguments().find(|(_, word)| word.text.contains(part)).map(|(at, word)| (at, word.text.len()))
            }
            Self::NoScript => {
                let has_script = arguments().any(|(_, word)| !word.text.starts_with('-'));
                let dash = arguments().find(|(_, word)| word.text == "-");
                match dash {
                    Some((at, _)) => Some((at, 1)),
                    None if has_script => None,
                    // The last word, so that a pattern without `*` is the only one.
                    None => Some((words.len(), 1)),
                }
            }
            Self::SedScript => sed_script(words),
            Self::Unknown => arguments().find(|(_, word)| !word.is_known()).map(|(at, word)| (at, word.text.len() + 1)),
            Self::SecondName => {
                let mut names =
                    arguments().filter(|(_, word)| !word.text.starts_with('-') && !word.text.starts_with('+'));
                names.nth(1).map(|(at, word)| (at, word.text.len()))
            }
        }
    }
}

/// A beginning of an option of two dashes is the option, if there is no other.
fn is_beginning(typed: &str, name: &str) -> bool {
    typed.len() > 2 && typed.starts_with("--") && name.starts_with(typed)
}

fn sed_script(words: &[Word]) -> Option<(usize, usize)> {
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
            return Some((at, text.len()));
        }
    }
    None
}

/// `5p`, `1,20p`, `$d`, `/text/d`, `s/a/b/g`, several of them with `;`.
fn is_plain_sed(script: &str) -> bool {
    script.split([';', '\n']).all(|command| {
        let command = command.trim();
        let address = |c: char| c.is_ascii_digit() || matches!(c, ',' | '$' | '!' | ' ' | '~' | '+');
        let mut command = command.trim_start_matches(address);
        if let Some((_, rest)) =
            command.strip_prefix('/').filter(|rest| !rest.contains('\\')).and_then(|r| r.split_once('/'))
        {
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
