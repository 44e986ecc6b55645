//! The words of commands that may name files, for who asks where they lead.
//!
//! Knows no rules. Invariant: a word that stands in a line of a shell in the line is one, too.

use super::judge::may_be_files;
use super::shell::{self, Line, Segment, State};
use super::word::Word;
use super::{Subject, hazards, wrappers};

/// Lines in lines.
const MAX_DEPTH: usize = 4;
/// Words of one request.
const MAX_WORDS: usize = 2_000;
/// What changes the directory.
const MOVERS: [&str; 4] = ["cd", "pushd", "popd", "chdir"];

/// What a command names without the programs that it runs.
#[derive(Debug, Default)]
pub struct Named {
    /// As [`words`] gives them, and what those are made of.
    pub words: Vec<String>,
    /// Directories that it goes to.
    pub dirs: Vec<String>,
    /// A file or a directory of it only shows when it runs.
    pub is_open: bool,
}

/// What a command names, as far as it is known before it runs: each word, and what may be a value in it.
pub fn words(subject: Subject<'_>) -> Vec<String> {
    found(subject, true).named.words
}

/// The same without the programs that are run.
pub fn named(subject: Subject<'_>) -> Named {
    found(subject, false).named
}

fn found(subject: Subject<'_>, has_programs: bool) -> Found {
    let mut found = Found { named: Named::default(), has_programs };
    match subject {
        Subject::Line(line) => of_line(line, 0, &mut found),
        Subject::Words(words) => {
            let words: Vec<Word> = words.iter().map(|text| Word { text: text.clone(), ..Word::default() }).collect();
            of_words(&words, &Line::default(), 0, &mut found);
        }
        Subject::Paths(_) | Subject::Text(_) => {}
    }
    found.named.words.truncate(MAX_WORDS);
    found
}

struct Found {
    named: Named,
    has_programs: bool,
}

fn of_line(line: &str, depth: usize, found: &mut Found) {
    let line = shell::read(line, State::default(), None);
    for segment in &line.segments {
        match segment {
            Segment::Command(command) | Segment::Passed(command) => of_words(&command.words, &line, depth, found),
            Segment::File { word, .. } => {
                found.named.words.push(word.text.clone());
                made_of(word, &line, &mut found.named);
            }
        }
    }
}

fn of_words(words: &[Word], line: &Line, depth: usize, found: &mut Found) {
    if depth > MAX_DEPTH || found.named.words.len() > MAX_WORDS {
        found.named.is_open = true;
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
    goes(words, line, &mut found.named);
    for word in may_be_files(words) {
        made_of(word, line, &mut found.named);
    }
    let skipped = usize::from(!found.has_programs);
    let named = words.iter().skip(skipped).flat_map(|word| hazards::values(&word.text));
    // The value of an option may stand behind its letter: `-C/etc`.
    let behind = |text| {
        let Some(option) = str::strip_prefix(text, '-') else { return Some(text) };
        option.get(1..).filter(|value| value.starts_with(['/', '~', '.']))
    };
    found.named.words.extend(named.filter_map(behind).filter(|text| !text.is_empty()).map(str::to_owned));
}

/// Where a command goes that changes the directory: home without a word for it, and back by one that says so.
fn goes(words: &[Word], line: &Line, named: &mut Named) {
    let Some((program, rest)) = words.split_first().filter(|(program, _)| MOVERS.contains(&&*program.text)) else {
        return;
    };
    let is_option = |word: &&Word| word.text.len() > 1 && word.text.starts_with('-') && word.is_known();
    let mut dirs = rest.iter().filter(|word| !is_option(word)).peekable();
    named.is_open |= program.text == "popd" || dirs.peek().is_none();
    for dir in dirs {
        named.is_open |= dir.text == "-";
        made_of(dir, line, named);
        named.dirs.push(dir.text.clone());
    }
}

/// What a word that may be a file is made of: the values that the line gives to its variables are named by it too.
fn made_of(word: &Word, line: &Line, named: &mut Named) {
    let goes_up = word.shape.split('/').any(|part| part == "..");
    for name in word.made_of.iter().filter(|name| *name != "@") {
        let values = line.variables.iter().filter(|(variable, _)| variable == name).map(|(_, value)| value);
        let values: Vec<&Word> = values.collect();
        let is_plain = |value: &&Word| {
            value.is_known() && value.text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
        };
        // As the first names of a path.
        let is_whole = word.made_of.len() == 1 && (word.shape == "*" || word.shape.starts_with("*/"));
        let is_known = |value: &&Word| value.made_of.is_empty() && !value.is_free;
        // The directory that the line is in.
        let is_here = name == "PWD" && is_whole && !goes_up;
        let is_told = values.iter().all(is_plain) || is_whole && !goes_up && values.iter().all(is_known);
        named.is_open |= if values.is_empty() { !is_here } else { !is_told };
        named.words.extend(values.iter().map(|value| value.text.clone()).filter(|text| !text.is_empty()));
    }
}
