//! Programs that may put links where there were none: data, and of which of their words.
//!
//! Knows nothing of patterns. Invariant: a program that is in no list may put them where it is told to.

use super::readers::{Reads, reads};
use super::{git_files, writers};
use crate::rules::word::Word;

/// Where a command may put links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::rules) enum Makes {
    Nothing,
    /// At and below the files that it writes.
    Written,
    /// At and below what it names.
    Named,
    Anything,
}

/// Programs that unpack or link what stands in no word of theirs.
const ANYWHERE: &[&str] =
    &["ln", "link", "unzip", "7z", "7za", "cpio", "pax", "patch", "ditto", "stow", "jj", "fossil", "darcs", "eval"];
/// Of these the subcommands that do.
const UPDATERS: &[(&str, &[&str])] = &[
    ("hg", &["update", "up", "checkout", "co", "merge", "pull", "graft", "rebase", "unshelve", "revert", "import"]),
    ("svn", &["update", "up", "switch", "sw", "checkout", "co", "merge", "revert", "patch"]),
];
/// Programs that are in no other list and make none.
const LINKLESS: &[&str] = &[
    "curl", "wget", "gh", "glab", "install", "kubectl", "uname", "whoami", "id", "hostname", "ps", "wait", "seq",
    "export", "unset", "set", "read",
];

pub(in crate::rules) fn makes(program: &str, words: &[Word]) -> Makes {
    let mut options = words.iter().skip(1).map(|word| word.text.as_str()).filter(|text| text.starts_with('-'));
    let is_short = |text: &str, letters: &str| !text.starts_with("--") && text.contains(|c| letters.contains(c));
    let is_long = |text: &str, names: &[&str]| names.iter().any(|name| text.starts_with(name));
    let subcommands = UPDATERS.iter().find(|(name, _)| *name == program).map(|(_, subcommands)| subcommands);
    let goes_on = |is_it: bool, makes: Makes| if is_it { makes } else { Makes::Nothing };
    match program {
        "git" if words.get(1).is_some_and(|word| word.text == "mv") => Makes::Written,
        "git" => goes_on(git_files::changes_tree(words), Makes::Anything),
        "mv" | "rsync" => Makes::Written,
        "cp" if options.clone().any(|text| is_short(text, "ls") || is_long(text, &["--l", "--s"])) => Makes::Anything,
        // Those that go down copy links as links.
        "cp" => {
            let is_it = |text: &str| is_short(text, "adPrRH") || is_long(text, &["--a", "--no-d", "--r", "--pr"]);
            goes_on(options.any(is_it), Makes::Written)
        }
        "tar" | "bsdtar" | "gtar" => {
            let takes_out = |text: &str| is_short(text, "x") || is_long(text, &["--ex", "--g"]);
            let is_bare = words.get(1).is_some_and(|word| !word.text.starts_with('-') && word.text.contains('x'));
            goes_on(is_bare || options.any(takes_out), Makes::Anything)
        }
        _ if ANYWHERE.contains(&program) => Makes::Anything,
        _ if subcommands.is_some() => {
            let is_it = |word: &Word| subcommands.is_some_and(|names| names.contains(&word.text.as_str()));
            goes_on(words.iter().skip(1).any(is_it), Makes::Anything)
        }
        _ if LINKLESS.contains(&program) || writers::written(program, words).is_some() => Makes::Nothing,
        _ => goes_on(reads(program, words) == Reads::Unknown, Makes::Named),
    }
}
