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
    let mut found = Vec::new();
    match subject {
        Subject::Line(line) => of_line(line, 0, &mut found),
        Subject::Words(words) => {
            let words: Vec<Word> = words.iter().map(|text| Word { text: text.clone(), ..Word::default() }).collect();
            of_words(&words, 0, &mut found);
        }
        Subject::Paths(_) | Subject::Text(_) => {}
    }
    found.truncate(MAX_WORDS);
    found
}

fn of_line(line: &str, depth: usize, found: &mut Vec<String>) {
    for segment in shell::read(line, State::default(), None).segments {
        match segment {
            Segment::Command(command) | Segment::Passed(command) => of_words(&command.words, depth, found),
            Segment::File { word, .. } => found.push(word.text),
        }
    }
}

fn of_words(words: &[Word], depth: usize, found: &mut Vec<String>) {
    if depth > MAX_DEPTH || found.len() > MAX_WORDS {
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
    let named = words.iter().flat_map(|word| hazards::values(&word.text));
    found.extend(named.filter(|text| !text.is_empty() && !text.starts_with('-')).map(str::to_owned));
}
