//! What a command would run: where in its words that begins, and in which of them a line stands.
//!
//! Knows no rules. Invariant: a command that a program may run is one of these, and none is certain that only may be run.

use super::MAX_DEPTH;
use super::named::Named;
use crate::rules::pattern::base_name;
use crate::rules::word::Word;
use crate::rules::{hazards, wrappers};

/// Programs that programs run in one command.
const MAX_RUNS: usize = 4;
/// Words of a wrapper where another command could begin.
const MAX_STARTS: usize = 64;
/// Of a program of which nothing is known: words where one could begin, and words that may be lines.
const MAX_GIVEN: usize = 256;
const MAX_LINES: usize = 32;
/// Letters of options that such a line may stand behind in one word.
const MAX_LETTERS: usize = 4;

/// What a command would run: from where on, and whether that is certain.
#[derive(Default)]
pub(super) struct Inside {
    pub(super) commands: Vec<(usize, bool)>,
    pub(super) lines: Vec<(String, bool)>,
    /// They get further words that are not known.
    pub(super) is_fed: bool,
    /// Names of files that are given to the commands which begin behind a place.
    pub(super) given: Vec<(usize, Vec<Word>)>,
    /// The line says what is read from standard input.
    pub(super) has_input: bool,
    /// Words that a pattern has to have itself: where, and how many bytes.
    pub(super) spelled: Vec<(usize, usize)>,
    /// The same of the command that a wrapper runs, unless that is allowed by itself.
    pub(super) passed: Vec<(usize, usize)>,
    /// Words that name what may hold secrets, each with how many words stand before its command.
    pub(super) secrets: Vec<(usize, Named)>,
    /// Why one of them has to be there, where that is known.
    pub(super) reason: Option<&'static str>,
    /// It may run what it is given as its input.
    pub(super) takes_input: bool,
    /// It is given more than is looked at.
    pub(super) is_too_long: bool,
}

/// What this command would run, the words before the first not counted.
pub(super) fn look_inside(words: &[Word], from: usize, before: usize, depth: usize, inside: &mut Inside) {
    inside.commands.push((from, true));
    let here = words.get(from..).unwrap_or_default();
    let Some(first) = here.first() else { return };
    let program = base_name(first).text;
    let at = |index: usize| before + from + index;
    let hazards = hazards::find(&program, here, inside.has_input);
    if depth > MAX_DEPTH {
        // Deeper than anybody writes: no pattern has this word.
        inside.spelled.push((usize::MAX, 1));
        return;
    }
    if let Some(script) = wrappers::script(&program, here) {
        if let Some(word) = here.get(script.at) {
            inside.spelled.push((at(script.at), word.text.len() + usize::from(!word.is_known())));
            inside.lines.push((word.text.clone(), word.is_known()));
        }
        // Shells do not agree on which word it is.
        let others = here.iter().enumerate().skip(1).filter(|(index, _)| !script.is_plain && *index != script.at);
        inside.lines.extend(others.take(MAX_STARTS).map(|(_, word)| (word.text.clone(), false)));
    }
    if program.starts_with(['-', '+']) {
        // An option of a word before it that a shell took for its own.
        inside.commands.extend((from + 1..words.len().min(from + MAX_STARTS)).map(|index| (index, false)));
    }
    inside.spelled.extend(hazards.iter().map(|(index, bytes, _)| (at(*index), *bytes)));
    inside.reason = inside.reason.or(hazards.first().map(|(.., reason)| *reason));
    // What stands behind `python -m` and `uv run` has the options that it has.
    let is_runner =
        program.starts_with("py") || wrappers::find(&program).is_some_and(|row| row.kind == wrappers::Kind::Opaque);
    let runs = |index: usize| here.get(index).is_some_and(|word| matches!(word.text.as_str(), "-m" | "run" | "exec"));
    for index in (2..here.len().min(MAX_STARTS)).filter(|index| is_runner && runs(index - 1)).take(MAX_RUNS) {
        let name = base_name(&here[index]).text;
        let found = hazards::find(&name, &here[index..], inside.has_input);
        inside.spelled.extend(found.iter().map(|(behind, bytes, _)| (at(index + behind), *bytes)));
    }
    let runs_for_each = hazards::runs_for_each(&program, here);
    for index in runs_for_each.iter().take(8) {
        inside.given.push((from, hazards::found(&program, here)));
        inside.commands.push((from + index, true));
    }
    if let Some(index) = hazards::starts(&program, here) {
        look_at_given(here, index, from, inside);
    }
    // Where the words themselves have to be in the pattern, one of them may be run.
    if let Some((index, ..)) = hazards.iter().min().filter(|(index, ..)| *index < here.len()) {
        look_at_given(here, *index, from, inside);
    }
    let Some(row) = wrappers::find(&program) else {
        if hazards::is_unknown(&program) {
            look_at_given(here, 1, from, inside);
        }
        return;
    };
    inside.takes_input = row.kind == wrappers::Kind::Opaque;
    if let Some(index) = hazards::stands_for(&program, here) {
        // It is known what of the packages that it runs this is.
        inside.spelled.push((at(0), first.text.len()));
        inside.commands.push((from + index, true));
        return;
    }
    let begins = wrappers::inner(row, here).filter(|index| !hazards::is_subcommand(&program, here, *index));
    let inner = begins.filter(|index| *index < here.len());
    match row.kind {
        wrappers::Kind::Joined => {
            inside.spelled.push((usize::MAX, 1));
            let line = here.iter().skip(1).map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
            inside.lines.push((line, here.iter().all(Word::is_known)));
            return;
        }
        wrappers::Kind::Plain => match inner.and_then(|index| Some((index, here.get(index)?))) {
            Some((index, word)) => inside.spelled.push((at(index), word.text.len())),
            None => inside.spelled.push((at(1), here.get(1).map_or(1, |word| word.text.len().max(1)))),
        },
        wrappers::Kind::Opaque => {
            inside.is_fed |= row.feeds;
            inside.given.extend(row.feeds.then(|| (from, vec![Word::any()])));
            inside.spelled.push((at(0), first.text.len()));
            let needed =
                wrappers::needed(row, here, begins, inside.has_input).into_iter().map(|index| (index, &here[index]));
            let bytes = |word: &Word| word.text.len() + usize::from(!word.is_known());
            inside.passed.extend(needed.map(|(index, word)| (at(index), bytes(word).max(1))));
            let lines = here.iter().skip(1).flat_map(|word| lines_in(&word.text)).filter(|line| !line.is_empty());
            inside.lines.extend(lines.take(MAX_LINES).map(|line| (line.to_owned(), false)));
        }
    }
    for index in (1..here.len().min(MAX_STARTS)).filter(|index| Some(*index) != inner) {
        inside.commands.push((from + index, false));
    }
    if let Some(index) = inner {
        look_inside(words, from + index, before, depth + 1, inside);
    }
}

/// What a program that may run anything is given: a command may begin with each of these words, and each may be a line.
fn look_at_given(words: &[Word], first: usize, from: usize, inside: &mut Inside) {
    let known = words.iter().enumerate().skip(first).filter(|(_, word)| word.is_known());
    inside.commands.extend(known.clone().take(MAX_GIVEN).map(|(index, _)| (from + index, false)));
    let mut lines = known.flat_map(|(_, word)| lines_in(&word.text)).filter(|line| !line.is_empty());
    inside.lines.extend(lines.by_ref().take(MAX_LINES).map(|line| (line.to_owned(), false)));
    inside.takes_input = true;
    inside.is_too_long |= words.len() > MAX_GIVEN || lines.next().is_some();
}

/// What of a word may be a line: all of it, and what stands behind a `=` or letters of options.
fn lines_in(text: &str) -> impl Iterator<Item = &str> {
    let has_blanks = text.contains(char::is_whitespace);
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let value = text.split_once('=').filter(|(name, _)| name.chars().all(is_of_name)).map(|(_, value)| value);
    let is_letter = text.starts_with('-') && !text.starts_with("--");
    let attached = (2..2 + MAX_LETTERS).filter_map(move |at| text.get(at..).filter(|_| has_blanks && is_letter));
    let whole = Some(text).filter(|_| has_blanks && !text.starts_with('-'));
    value.into_iter().chain(attached).chain(whole)
}
