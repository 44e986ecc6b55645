//! Options whose value is a file that is judged as one: data. Without a row here an option that names a file has to be in the
//! pattern itself.
//!
//! Knows nothing of patterns. Invariant: the option of a row does nothing but write, or build, what its value names.

use super::Written;
use crate::rules::word::Word;

struct Row {
    programs: &'static [&'static str],
    /// The word behind the program; any where there is none.
    subcommands: &'static [&'static str],
    options: &'static [&'static str],
    /// From this word on the options are those of another program.
    end: &'static str,
}

const TABLE: &[Row] = &[
    Row { programs: &["go"], subcommands: &["build"], options: &["-o", "--o"], end: "--" },
    Row {
        programs: &["go"],
        subcommands: &["test"],
        options: &["-coverprofile", "--coverprofile", "-cpuprofile", "-memprofile", "-blockprofile", "-mutexprofile"],
        end: "-args",
    },
    Row {
        programs: &["cargo"],
        subcommands: &["build", "b", "check", "c", "test", "t", "run", "r", "bench", "clippy", "doc", "fmt"],
        options: &["--manifest-path"],
        end: "--",
    },
    Row { programs: &["gcc", "g++", "cc", "c++", "clang", "clang++"], subcommands: &[], options: &["-o"], end: "--" },
    Row { programs: &["pandoc"], subcommands: &[], options: &["-o", "--output"], end: "--" },
];

/// A value of one of these options.
#[derive(Debug)]
pub(super) struct Output {
    /// Where the option stands.
    pub(super) option: usize,
    pub(super) file: Written,
}

pub(super) fn find(program: &str, words: &[Word]) -> Vec<Output> {
    let Some(subcommand) = words.get(1) else { return Vec::new() };
    let is_of = |row: &Row| row.subcommands.is_empty() || row.subcommands.contains(&subcommand.text.as_str());
    let is_it = |row: &&Row| row.programs.contains(&program) && is_of(row);
    let Some(row) = TABLE.iter().find(is_it) else { return Vec::new() };
    let end = words.iter().position(|word| word.text.trim_start_matches('-') == row.end.trim_start_matches('-'));
    let words = words.get(..end.unwrap_or(words.len())).unwrap_or_default();
    let first = if row.subcommands.is_empty() { 1 } else { 2 };
    let options = words.iter().enumerate().skip(first).filter(|(_, word)| word.is_known());
    let found = options.filter_map(|(at, word)| {
        let (name, value) = word.text.split_once('=').map_or((word.text.as_str(), None), |(n, v)| (n, Some(v)));
        row.options.contains(&name).then_some(())?;
        let file = match value {
            Some(value) => Written {
                at,
                word: Word { text: value.to_owned(), ..Word::default() },
                is_certain: false,
                sources: Vec::new(),
            },
            None => Written { at: at + 1, word: words.get(at + 1)?.clone(), is_certain: false, sources: Vec::new() },
        };
        (!file.word.text.is_empty()).then_some(Output { option: at, file })
    });
    found.collect()
}
