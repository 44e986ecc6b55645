//! The words of commands that may name files, for who asks where they lead.
//!
//! Knows no rules. Invariant: a word that stands in a line of a shell in the line is one, too.

use super::shell::{self, Segment, State};
use super::word::Word;
use super::{Subject, hazards, wrappers};

/// Lines in lines.
const MAX_DEPTH: usize = 4;
/// Words of one request.
const MAX_WORDS: usize = 2_000;

/// What a command names, as far as it is known before it runs: each word, and what may be a value in it.
pub fn words(subject: Subject<'_>) -> Vec<String> {
    found(subject, true)
}

/// The same without the programs that are run.
pub fn named(subject: Subject<'_>) -> Vec<String> {
    found(subject, false)
}

fn found(subject: Subject<'_>, has_programs: bool) -> Vec<String> {
    let mut found = Found { words: Vec::new(), has_programs };
    match subject {
        Subject::Line(line) => of_line(line, 0, &mut found),
        Subject::Words(words) => {
            let words: Vec<Word> = words.iter().map(|text| Word { text: text.clone(), ..Word::default() }).collect();
            of_words(&words, 0, &mut found);
        }
        Subject::Paths(_) | Subject::Text(_) => {}
    }
    found.words.truncate(MAX_WORDS);
    found.words
}

struct Found {
    words: Vec<String>,
    has_programs: bool,
}

fn of_line(line: &str, depth: usize, found: &mut Found) {
    for segment in shell::read(line, State::default(), None).segments {
        match segment {
            Segment::Command(command) | Segment::Passed(command) => of_words(&command.words, depth, found),
            Segment::File { word, .. } => found.words.push(word.text),
        }
    }
}

fn of_words(words: &[Word], depth: usize, found: &mut Found) {
    if depth > MAX_DEPTH || found.words.len() > MAX_WORDS {
        return;
    }
    let starts = words.iter().enumerate().filter_map(|(at, word)| {
        let program = word.text.rsplit('/').next()?;
        let script = wrappers::script(program, words.get(at..)?)?;
        words.get(at + script.at)
    });
    for script in starts {
        of_line(&script.text, depth + 1, found);
    }
    let skipped = usize::from(!found.has_programs);
    let named = words.iter().skip(skipped).flat_map(|word| hazards::values(&word.text));
    // The value of an option may stand behind its letter: `-C/etc`.
    let behind = |text| {
        let Some(option) = str::strip_prefix(text, '-') else { return Some(text) };
        option.get(1..).filter(|value| value.starts_with(['/', '~', '.']))
    };
    found.words.extend(named.filter_map(behind).filter(|text| !text.is_empty()).map(str::to_owned));
}
