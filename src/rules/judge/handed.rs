//! Names of files that one command of a line gives to another one: as its input, or as what it finds.
//!
//! Knows no rules. Invariant: a word that may be such a name is one; what is left out, or looked for in files, is none.

use crate::rules::hazards;
use crate::rules::pattern::base_name;
use crate::rules::secrets;
use crate::rules::shell::{Command, Line, Segment};
use crate::rules::word::Word;

/// Programs that take names of files from what they are given as their input, and options of any with which they do.
const TAKERS: [&str; 4] = ["xargs", "parallel", "cpio", "pax"];
const TAKING: [&str; 5] = ["--files-from", "--files0-from", "--pathspec-from-file", "--from-file", "-@"];
/// Programs of which this option does.
const ARCHIVERS: [&str; 3] = ["tar", "gtar", "bsdtar"];
const OF_ARCHIVERS: char = 'T';
/// What stands before a name that is left out: itself, or a test.
const EXCEPT: [&str; 5] = ["!", "-not", "-E", "--exclude", "--exclude-dir"];

/// Whether a command of the line takes names of files, or a program, from what another one prints or the line gives to it.
pub(super) fn takes(line: &Line) -> bool {
    line.segments.iter().any(|segment| match segment {
        Segment::Command(command) => is_taker(command),
        Segment::Passed(_) | Segment::File { .. } => false,
    })
}

fn is_taker(command: &Command) -> bool {
    let program = command.words.first().map(|word| base_name(word).text).unwrap_or_default();
    let is_name = |text: &str| TAKERS.iter().any(|name| text.ends_with(name));
    let lists = |text: &str| {
        let is_letter = ARCHIVERS.contains(&&*program) && !text.starts_with("--") && text.contains(OF_ARCHIVERS);
        is_letter || TAKING.iter().any(|option| text.starts_with(option))
    };
    let takes = |word: &Word| word.text.split_whitespace().any(is_name) || lists(&word.text);
    command.words.iter().any(takes) || command.state.has_input && hazards::is_interpreter(&program)
}

/// The words of a command that may say such names, where something in the line takes them, or it finds them itself for what
/// it runs.
pub(super) fn words(command: &Command, all: &[Word], is_handed: bool) -> Vec<usize> {
    let program = all.first().map(|word| base_name(word).text).unwrap_or_default();
    let is_left_out = |at: &usize| {
        let is_one = |before: usize| {
            at.checked_sub(before).and_then(|at| all.get(at)).is_some_and(|word| EXCEPT.contains(&&*word.text))
        };
        is_one(1) || is_one(2)
    };
    if let Some(end) = hazards::runs_for_each(&program, all).first() {
        return (1..*end).filter(|at| !is_left_out(at)).collect();
    }
    if !is_handed || is_taker(command) {
        return Vec::new();
    }
    // What a search looks for in files is no name; in what it is given, which may be names, it is.
    let texts = hazards::texts(&program, all);
    let is_other = |word: &Word| {
        word.text == "--invert-match"
            || word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains('v')
    };
    let chooses = command.state.has_input && !all.iter().any(is_other);
    let is_name = |at: &usize| chooses || !texts.iter().any(|(text, _)| text == at);
    (1..all.len()).filter(is_name).filter(|at| !is_left_out(at)).collect()
}

/// Why what is handed on is asked about: names stand in it as they are, in the format of a printer, or as a pattern.
pub(super) fn secret(text: &str) -> Option<&'static str> {
    let mut plain = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => plain.extend(chars.next().map(|c| if matches!(c, 'n' | 't' | 'r' | '0') { ' ' } else { c })),
            '^' | '$' => plain.push(' '),
            c => plain.push(c),
        }
    }
    let of_words = || plain.split_whitespace().find_map(secrets::of_word);
    secrets::of_line(&plain).or_else(of_words).map(|secret| secret.why)
}

/// The same of what the line gives to groups of commands as their input.
pub(super) fn of_inputs(line: &Line) -> Option<&'static str> {
    line.inputs.iter().find_map(|text| secret(text))
}
