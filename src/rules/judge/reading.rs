//! What rules that are against reading files say of commands.
//!
//! Invariants: a rule that is against reading is so for commands that name the file, search above it or may show it without
//! its name; what is against reading never allows anything.

use super::Opinion;
use super::files::{Files, READ};
use super::places::is_like_file;
use crate::rules::hazards::{self, Reads};
use crate::rules::word::Word;
use crate::rules::{Doubt, Verdict};
use std::path::Path;

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
    let mut opinion = Opinion::neither();
    let mut names = 0;
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
        // What git and what builds run goes through no links, or runs what stands in the directory anyway.
        let may_follow =
            !is_git && !hazards::is_build(program) && (reads != Reads::Unknown || is_like_file(&word.text));
        if may_follow && !is_option && files.may_be_linked(Path::new(&word.text)) {
            opinion = opinion.and(files.linked(&READ));
        }
        if is_option || !matches!(reads, Reads::Files | Reads::Below) {
            continue;
        }
        names += 1;
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
                Verdict::Ask if reads == Reads::Below && matches!(of_rules.doubt, Some(Doubt::DeniedBelow)) => of_rules,
                _ => Opinion::neither(),
            });
        }
    }
    // Without a name a search begins where it is; the first may be what it looks for.
    let is_all = reads == Reads::Everything || reads == Reads::Below && names < 2;
    if is_all && files.against.denied(&READ, Path::new("."), false).is_some() {
        opinion = opinion.and(Opinion::ask(Doubt::DeniedBelow));
    }
    opinion
}
