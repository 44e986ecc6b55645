//! Which words of a command are patterns, programs and messages, and no names of files: data, and how they are found.
//!
//! Knows nothing of the patterns of rules. Invariant: where an option is not known, or a word may turn out to be one, every
//! word may be a file.

use super::{by_name, git, sed};
use crate::rules::word::{Rest, Word};
use std::collections::HashMap;
use std::sync::LazyLock;

/// What a word is that names no file itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rules) enum Text {
    /// It is compared with something, or said.
    Plain,
    /// What it has in quotes may be a file.
    Program,
}

struct Row {
    names: &'static str,
    /// Letters of options without a value, of those with one, and of those whose value stands in the same word if there is
    /// one.
    flags: &'static str,
    valued: &'static str,
    attached: &'static str,
    /// Letters of options whose value is such a text.
    texts: &'static str,
    /// Letters of options whose value is a file with such texts.
    files: &'static str,
    /// Long options without a value, with one in the next word, and with two.
    longs: &'static str,
    one: &'static str,
    two: &'static str,
    long_texts: &'static str,
    long_files: &'static str,
    /// The first word is such a text where no option gives one.
    takes_first: bool,
    text: Text,
}

const ROW: Row = Row {
    names: "",
    flags: "",
    valued: "",
    attached: "",
    texts: "",
    files: "",
    longs: "",
    one: "",
    two: "",
    long_texts: "",
    long_files: "",
    takes_first: false,
    text: Text::Plain,
};

const PROGRAMS: &[Row] = &[
    Row {
        names: "grep egrep fgrep",
        flags: "ivwxcnlLHhoqsrREFGPabzZUuyIT0123456789",
        valued: "mABCdD",
        texts: "e",
        files: "f",
        longs: "--recursive --dereference-recursive --ignore-case --no-ignore-case --invert-match --word-regexp \
            --line-regexp --count --line-number --files-with-matches --files-without-match --with-filename --no-filename \
            --only-matching --quiet --silent --no-messages --extended-regexp --fixed-strings --perl-regexp \
            --basic-regexp --text --null --null-data --byte-offset --color --colour",
        // Not `--context`: that of BSD takes no next word.
        one: "--max-count --after-context --before-context --include --exclude --exclude-dir",
        long_texts: "--regexp",
        long_files: "--file",
        takes_first: true,
        ..ROW
    },
    Row {
        names: "rg",
        flags: "isSvwxclLnNHIoqUuaFPz.0pb",
        valued: "gtTABCmMjrdE",
        texts: "e",
        files: "f",
        longs: "--ignore-case --smart-case --case-sensitive --line-number --no-line-number --hidden --no-ignore \
            --fixed-strings --word-regexp --line-regexp --count --count-matches --files-with-matches \
            --files-without-match --only-matching --multiline --pcre2 --no-heading --heading --with-filename \
            --no-filename --invert-match --vimgrep --column --json --stats --trim --follow --text --quiet --null \
            --no-messages --pretty --no-config --no-ignore-vcs --one-file-system",
        one: "--glob --iglob --type --type-not --max-count --max-depth --context --after-context --before-context \
            --color --sort --sortr --threads --max-columns --replace",
        long_texts: "--regexp",
        long_files: "--file",
        takes_first: true,
        ..ROW
    },
    Row {
        names: "jq",
        flags: "nrceRsSajCM",
        files: "fL",
        longs: "--null-input --raw-output --compact-output --exit-status --slurp --raw-input --sort-keys \
            --ascii-output --join-output --color-output --monochrome-output --tab --seq --stream --raw-output0 \
            --unbuffered --args --jsonargs",
        one: "--indent",
        two: "--arg --argjson --slurpfile --rawfile --argfile",
        takes_first: true,
        text: Text::Program,
        ..ROW
    },
    Row {
        names: "yq",
        flags: "nrPejCMN0",
        valued: "opIs",
        longs: "--null-input --unwrapScalar --prettyPrint --exit-status --colors --no-colors --no-doc",
        one: "--output-format --input-format --indent",
        takes_first: true,
        text: Text::Program,
        ..ROW
    },
    Row { names: "awk gawk mawk nawk", valued: "Fv", files: "f", takes_first: true, text: Text::Program, ..ROW },
];

/// Subcommands of git.
const OF_GIT: &[Row] = &[
    Row {
        names: "commit",
        flags: "aqvsnoepzi",
        valued: "CcFt",
        attached: "uS",
        texts: "m",
        longs: "--all --amend --no-edit --edit --signoff --no-signoff --no-verify --quiet --verbose --allow-empty \
            --allow-empty-message --only --include --patch --dry-run --no-gpg-sign --reset-author",
        one: "--author --date --reuse-message --fixup --squash --file --template --cleanup --trailer",
        long_texts: "--message",
        ..ROW
    },
    Row {
        names: "tag",
        flags: "adsfl",
        valued: "Fu",
        attached: "n",
        texts: "m",
        longs: "--annotate --sign --no-sign --force --list --delete",
        one: "--sort --format --file --local-user",
        long_texts: "--message",
        ..ROW
    },
    Row {
        names: "merge",
        flags: "nqve",
        valued: "sXF",
        attached: "S",
        texts: "m",
        longs: "--no-ff --ff --ff-only --squash --no-commit --commit --no-edit --edit --stat --no-stat --quiet --verbose \
            --no-verify --signoff",
        ..ROW
    },
    Row {
        names: "stash",
        flags: "kuaqSp",
        texts: "m",
        longs: "--keep-index --no-keep-index --include-untracked --all --patch --staged --quiet",
        long_texts: "--message",
        ..ROW
    },
    Row {
        names: "log show diff whatchanged",
        flags: "psuwabzRtrcmgiEFPqW0123456789",
        valued: "nlIOL",
        attached: "UBMCX",
        texts: "SG",
        longs: "--oneline --all --stat --patch --graph --decorate --follow --name-only --name-status --no-merges \
            --merges --reverse --pickaxe-regex --pickaxe-all --shortstat --numstat --first-parent --no-patch --branches \
            --tags --remotes --extended-regexp --fixed-strings --perl-regexp --regexp-ignore-case --invert-grep \
            --all-match --cc --raw --summary --abbrev-commit --cached --staged",
        one: "--author --committer --since --until --after --before --max-count --skip --date",
        long_texts: "--grep",
        ..ROW
    },
    Row {
        names: "grep",
        flags: "aIiwvhHEGPFnlLzocqWrp0123456789",
        valued: "ABCm",
        attached: "O",
        texts: "e",
        files: "f",
        longs: "--cached --untracked --line-number --ignore-case --word-regexp --extended-regexp --basic-regexp \
            --fixed-strings --perl-regexp --files-with-matches --name-only --files-without-match --count \
            --only-matching --show-function --function-context --heading --break --recursive --text --column \
            --all-match --quiet --color --and --or --not --full-name --null --invert-match",
        one: "--max-depth --context --after-context --before-context --threads --max-count",
        takes_first: true,
        ..ROW
    },
];

/// The row of each program, and of each subcommand of git.
static BY_NAME: LazyLock<HashMap<&str, &Row>> = LazyLock::new(|| by_name(PROGRAMS, |row| row.names));
static OF_GIT_BY_NAME: LazyLock<HashMap<&str, &Row>> = LazyLock::new(|| by_name(OF_GIT, |row| row.names));

/// The words of a command that are texts: where they stand, and what they are.
pub(in crate::rules) fn texts(program: &str, words: &[Word]) -> Vec<(usize, Text)> {
    if matches!(program, "sed" | "gsed") {
        return sed::plain_scripts(words).into_iter().map(|at| (at, Text::Plain)).collect();
    }
    let (from, table) = if program == "git" { (git::before(words).1, &OF_GIT_BY_NAME) } else { (0, &BY_NAME) };
    let name = if program == "git" { words.get(from).map_or("", |word| &word.text) } else { program };
    let Some(row) = table.get(name) else { return Vec::new() };
    let found = row.texts(words.get(from..).unwrap_or_default()).unwrap_or_default();
    found.into_iter().map(|at| (from + at, row.text)).collect()
}

/// What the next word is, or the next ones are.
enum Next {
    Free,
    Values(usize),
    Text,
}

impl Row {
    /// The places of texts among the words behind the first; `None` where that is not known for certain.
    fn texts(&self, words: &[Word]) -> Option<Vec<usize>> {
        let (mut found, mut first, mut next, mut is_over, mut is_given) = (Vec::new(), None, Next::Free, false, false);
        for (at, word) in words.iter().enumerate().skip(1) {
            // What an option takes for its value is none, if it is one word.
            let is_value = !matches!(next, Next::Free) && word.rest == Rest::Text;
            if word.could_be_another_option() && !is_value {
                return None;
            }
            let text = word.text.as_str();
            let is_long = text.starts_with("--");
            match std::mem::replace(&mut next, Next::Free) {
                Next::Values(left) => {
                    if left > 1 {
                        next = Next::Values(left - 1);
                    }
                }
                Next::Text => found.push(at),
                Next::Free if is_over || text.len() < 2 || !text.starts_with('-') => {
                    first.get_or_insert(at);
                }
                Next::Free if text == "--" => is_over = true,
                Next::Free if !word.is_known() && !is_long => return None,
                Next::Free if is_long => {
                    let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
                    let begins = |names: &str| names.split_ascii_whitespace().any(|long| long.starts_with(name));
                    is_given |= begins(self.long_texts) || begins(self.long_files);
                    let is_text = git::has(self.long_texts, name);
                    match value {
                        Some(_) if is_text => found.push(at),
                        Some(_) => {}
                        None if is_text => next = Next::Text,
                        None if git::has(self.longs, name) => {}
                        None if git::has(self.one, name) => next = Next::Values(1),
                        None if git::has(self.two, name) => next = Next::Values(2),
                        None => return None,
                    }
                }
                Next::Free => {
                    let (letter, is_last) = self.valued_letter(text)?;
                    is_given |= letter.is_some_and(|letter| self.texts.contains(letter) || self.files.contains(letter));
                    match letter {
                        Some(letter) if self.texts.contains(letter) && is_last => next = Next::Text,
                        Some(letter) if self.texts.contains(letter) => found.push(at),
                        Some(letter) if !self.attached.contains(letter) && is_last => next = Next::Values(1),
                        _ => {}
                    }
                }
            }
        }
        found.extend(first.filter(|_| self.takes_first && !is_given));
        Some(found)
    }

    /// The first letter of a bundle that may have a value, and whether it is the last one; `None` where one before it is not
    /// known.
    fn valued_letter(&self, text: &str) -> Option<(Option<char>, bool)> {
        for (at, letter) in text.char_indices().skip(1) {
            let may_have_value = [self.valued, self.attached, self.texts, self.files].concat().contains(letter);
            if may_have_value {
                return Some((Some(letter), at + letter.len_utf8() == text.len()));
            }
            if !self.flags.contains(letter) {
                return None;
            }
        }
        Some((None, true))
    }
}
