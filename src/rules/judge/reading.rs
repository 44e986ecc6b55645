//! What rules that are against reading files say of commands.
//!
//! Invariants: a rule that is against reading is so for commands that name the file, search above it or may show it without
//! its name; what is against reading never allows anything.

use super::Opinion;
use super::files::{EDIT, Files, READ};
use super::places::{is_like_file, may_name_one};
use crate::rules::hazards::{self, Reads, Shown, Written};
use crate::rules::pattern::Match;
use crate::rules::word::Word;
use crate::rules::{Doubt, Verdict};
use std::path::{Path, PathBuf};

/// What rules are against reading is not read by a command either, as far as it names it.
pub(super) fn read<'a>(files: &Files<'a, '_>, program: &str, words: &[Word], is_moved: bool) -> Opinion<'a> {
    let reads = hazards::reads(program, words);
    let is_broken = files.against.default(&READ) == Doubt::BrokenDeny;
    if reads == Reads::Nothing || files.against.narrow(&READ).next().is_none() && !is_broken {
        return Opinion::neither();
    }
    let perhaps = Opinion::ask(Doubt::PerhapsDenied);
    // Behind a `cd` it is not known which files its names are.
    if is_moved && reads != Reads::Unknown {
        return perhaps;
    }
    let is_stranger = hazards::is_unknown(program) && !hazards::is_of_project(words) && !hazards::is_checker(program);
    let mut opinion = Opinion::neither();
    for word in words.iter().skip(1).filter(|word| !word.text.is_empty() || !word.is_known()) {
        // It only says which of the files that are searched anyway.
        let is_filter = ["--include=", "--exclude=", "--exclude-dir="].iter().any(|name| word.text.starts_with(name));
        if !is_filter || word.is_split {
            opinion = opinion.and(files.open(&READ, word, reads != Reads::Files));
        }
        let is_option = word.text.starts_with('-') && word.is_known();
        let is_git = program == "git";
        if is_option || is_git || matches!(reads, Reads::Unknown | Reads::Named) {
            let texts = hazards::values(&word.text).flat_map(|text| text.split([':', '@', ',']).chain([text]));
            let texts = texts.chain(hazards::more_parts(&word.text));
            for text in texts {
                opinion = opinion.and(files.named_against(&READ, text));
            }
        }
        // Programs that read objects take further words from the file behind it, and say which of them are no files.
        if let Some(list) = word.text.strip_prefix('@') {
            opinion = opinion.and(files.named_against(&READ, list));
        }
        // All that is in a directory is given to a program of which nothing is known.
        let is_above = |text: &str| files.against.denied(&READ, Path::new(text), false) == Some(Match::Below);
        // Behind the letters of options only what looks like one is a path.
        let is_path = |text: &str| word.text.starts_with("--") || is_like_file(text) || text == word.text;
        let mut parts =
            hazards::values(&word.text).filter(|text| may_name_one(text) && !text.is_empty() && is_path(text));
        if is_stranger && word.is_known() && parts.any(is_above) {
            opinion = opinion.and(Opinion::ask(Doubt::DeniedBelow));
        }
        // What git and what builds run goes through no links, or runs what stands in the directory anyway.
        let may_follow =
            !is_git && !hazards::is_build(program) && (reads != Reads::Unknown || is_like_file(&word.text));
        if may_follow && !is_option && files.may_be_linked(Path::new(&word.text)) {
            opinion = opinion.and(files.linked(&READ));
        }
        if is_option || !matches!(reads, Reads::Files | Reads::Below | Reads::Around) {
            continue;
        }
        for path in files.named(word).map_or_else(|| files.globbed(word), |path| vec![path]) {
            let of_rules = files.path(&READ, &path);
            // Of what a shell makes of marks only the files that are there now are certain.
            let is_above = || (files.against.request.is_above)(&files.against.request.cwd.join(&path));
            let is_certain = word.is_known() || !word.is_free && !is_above();
            opinion = opinion.and(match of_rules.verdict {
                Verdict::Deny if reads == Reads::Files && !is_moved && is_certain => of_rules,
                Verdict::Deny => perhaps,
                Verdict::Ask if of_rules.rule.is_some() => of_rules,
                Verdict::Ask if matches!(of_rules.doubt, Some(Doubt::BrokenDeny)) => of_rules,
                Verdict::Ask if reads != Reads::Files && matches!(of_rules.doubt, Some(Doubt::DeniedBelow)) => of_rules,
                _ => Opinion::neither(),
            });
        }
    }
    // Which files its names are is not known then.
    if hazards::is_git_elsewhere(program, words) && files.against.is_any(&READ) {
        return opinion.and(perhaps);
    }
    // What git shows is all of the repository, also from a directory in it.
    let is_all = matches!(reads, Reads::Everything | Reads::Around) || hazards::shows_all(program);
    let shown = hazards::shown_by_git(program, words);
    let tops = if program == "git" && (is_all || !shown.is_empty()) { files.tops() } else { Vec::new() };
    for shown in shown {
        opinion = opinion.and(self::shown(files, &shown, &tops));
    }
    let mut places = std::iter::once(Path::new(".")).chain(tops.iter().map(PathBuf::as_path));
    if is_all && places.any(|place| files.against.denied(&READ, place, false).is_some()) {
        opinion = opinion.and(Opinion::ask(Doubt::DeniedBelow));
    }
    opinion
}

/// What is to be said of a file of which git shows what is in it. A word that may be a revision is a path as well.
fn shown<'a>(files: &Files<'a, '_>, shown: &Shown<'_>, tops: &[PathBuf]) -> Opinion<'a> {
    let path = Path::new(shown.path);
    // Behind the colon of a revision it begins in the directory only where it says so.
    let is_here = |text: &str| text.starts_with("./") || text.starts_with("../");
    let from_top = tops.iter().filter(|_| shown.is_from_top && !is_here(shown.path)).map(|top| top.join(path));
    let only_named = shown.is_ambiguous && !is_like_file(shown.path);
    let is_against = |path: &PathBuf| files.against.denied(&READ, path, only_named) == Some(Match::Yes);
    let said = std::iter::once(path.to_owned()).chain(from_top).filter(is_against).map(|path| files.path(&READ, &path));
    said.filter(|said| said.rule.is_some_and(|rule| rule.source.list != Verdict::Allow))
        .reduce(Opinion::and)
        .unwrap_or(Opinion::neither())
}

/// What rules with paths are against is not given to a command by what runs it: words of which it is not known what they name.
pub(super) fn given<'a>(files: &Files<'a, '_>, program: &str, words: &[Word], given: &[Word]) -> Opinion<'a> {
    let all = [words, given].concat();
    let reads = hazards::reads(program, &all);
    let is_written = |written: Vec<Written>| written.iter().any(|file| file.at >= words.len());
    let writes = hazards::written(program, &all).map_or(reads == Reads::Unknown, is_written);
    let mut opinion = Opinion::neither();
    for word in given {
        if reads != Reads::Nothing {
            opinion = opinion.and(files.open(&READ, word, true));
        }
        if writes {
            opinion = opinion.and(files.open(&EDIT, word, true));
        }
    }
    opinion
}
