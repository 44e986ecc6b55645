//! Programs that look through directories for a pattern, and which of their options take the next word: data, and whether
//! a command names where it looks.
//!
//! Knows nothing of rules. Invariant: where an option is not known, or a word may be its value, the search is taken for one
//! of the whole directory.

use super::{by_name, listed};
use crate::rules::word::Word;
use std::collections::HashMap;
use std::sync::LazyLock;

struct Row {
    programs: &'static str,
    /// Letters of options without a value, and of those with one.
    flags: &'static str,
    valued: &'static str,
    /// Long options likewise.
    longs: &'static str,
    valued_longs: &'static str,
    /// Options that bring the pattern, so that no word of its own is one.
    patterns: &'static str,
    /// Options with which the names of files are shown, and nothing of what is in them.
    listing: &'static str,
}

const GREP: Row = Row {
    programs: "grep egrep fgrep rgrep",
    flags: "EFGPivywxcLlqsbHhnTZzaIrRUVo0123456789",
    valued: "efABCDdm",
    longs: "--extended-regexp --fixed-strings --basic-regexp --perl-regexp --ignore-case --no-ignore-case --invert-match \
        --word-regexp --line-regexp --count --color --colour --files-without-match --files-with-matches --only-matching \
        --quiet --silent --no-messages --byte-offset --with-filename --no-filename --line-number --initial-tab --null \
        --null-data --text --recursive --dereference-recursive --line-buffered --binary",
    valued_longs: "--regexp --file --max-count --label --after-context --before-context --context --binary-files --devices \
        --directories --exclude --exclude-from --exclude-dir --include",
    patterns: "-e -f --regexp --file",
    listing: "",
};

const TABLE: &[Row] = &[
    GREP,
    Row {
        programs: "git-grep",
        flags: "aIivwhHEGPFnlLzocqWrp0123456789",
        valued: "efABCm",
        longs: "--cached --untracked --text --ignore-case --word-regexp --invert-match --full-name --extended-regexp \
            --basic-regexp --perl-regexp --fixed-strings --line-number --column --files-with-matches --name-only \
            --files-without-match --null --only-matching --count --all-match --quiet --color --no-color --break \
            --heading --show-function --function-context --recursive --no-recursive --and --or --not --exclude-standard",
        valued_longs: "--max-depth --max-count --threads --after-context --before-context --context",
        patterns: "-e -f",
        listing: "",
    },
    Row {
        programs: "rg",
        flags: ".0FHILNPSUVabchilnopqsuvwxz",
        valued: "ABCEMTdefgjmrt",
        longs: "--hidden --no-hidden --no-ignore --no-ignore-vcs --no-ignore-parent --no-ignore-global --no-ignore-dot \
            --no-ignore-exclude --no-ignore-files --no-heading --heading --line-number --no-line-number --column \
            --no-column --count --count-matches --include-zero --files-with-matches --files-without-match --fixed-strings \
            --follow --ignore-case --smart-case --case-sensitive --invert-match --json --multiline --multiline-dotall \
            --no-filename --with-filename --no-messages --null --null-data --one-file-system --only-matching --passthru \
            --pcre2 --no-pcre2 --pretty --quiet --search-zip --stats --text --trim --unrestricted --vimgrep --word-regexp \
            --line-regexp --no-config --no-unicode --crlf --debug --binary --byte-offset --line-buffered \
            --block-buffered --glob-case-insensitive --max-columns-preview --mmap --no-mmap",
        valued_longs: "--after-context --before-context --color --colors --context --context-separator --dfa-size-limit \
            --encoding --engine --field-context-separator --field-match-separator --file --glob --hyperlink-format --iglob \
            --ignore-file --max-columns --max-count --max-depth --maxdepth --max-filesize --path-separator --pre-glob \
            --regex-size-limit --regexp --replace --sort --sortr --threads --type --type-add --type-clear --type-not",
        patterns: "-e -f --regexp --file --files --type-list",
        listing: "--files --type-list",
    },
    Row {
        programs: "ag",
        flags: "acDfHhilLnoQRrsStuUvVwz0",
        valued: "ABCGgmpW",
        longs: "--ackmate --all-text --all-types --case-sensitive --color --nocolor --column --count --files-with-matches \
            --files-without-matches --filename --nofilename --follow --group --nogroup --heading --noheading --hidden \
            --ignore-case --invert-match --literal --fixed-strings --numbers --nonumbers --only-matching --smart-case \
            --stats --unrestricted --vimgrep --word-regexp --skip-vcs-ignores --silent --null --passthrough --multiline \
            --nomultiline",
        valued_longs: "--after --before --context --depth --file-search-regex --ignore --ignore-dir --max-count \
            --path-to-ignore --width --workers --color-line-number --color-match --color-path",
        patterns: "-g",
        listing: "-g",
    },
    Row {
        programs: "ack",
        flags: "hHilLnoQrRsSvwxc1",
        valued: "ABm",
        longs: "--color --nocolor --column --count --files-with-matches --files-without-matches --group --nogroup \
            --heading --noheading --ignore-case --invert-match --literal --passthru --smart-case --word-regexp --sort-files \
            --with-filename --no-filename --nofilter --noenv --show-types",
        valued_longs: "--after-context --before-context --ignore-dir --ignore-directory --ignore-file --match \
            --max-count --type",
        patterns: "--match",
        listing: "",
    },
    Row {
        programs: "ugrep ug pcregrep pcre2grep",
        flags: "rRinlwxcoHhqsv",
        valued: "eABm",
        longs: "",
        patterns: "-e",
        ..GREP
    },
    Row {
        programs: "tokei",
        flags: "fCV",
        valued: "ceostn",
        longs: "--files --compact --hidden --no-ignore --no-ignore-parent --no-ignore-vcs --verbose",
        valued_longs: "--columns --exclude --output --sort --type --types --num-format --input",
        // It looks for nothing: all of its words are places.
        patterns: "tokei",
        listing: "",
    },
];

/// How a search says where it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Where {
    /// In places that it names, or of which it shows only names.
    Named,
    /// In all of the directory, as far as can be told.
    Everywhere,
    Listing,
}

/// The row of each program.
static BY_NAME: LazyLock<HashMap<&str, &Row>> = LazyLock::new(|| by_name(TABLE, |row| row.programs));

/// Where a command looks; nothing of a program that is none of these.
pub(super) fn looks(program: &str, words: &[Word]) -> Option<Where> {
    let row = BY_NAME.get(program)?;
    let Some(search) = row.read(words) else { return Some(Where::Everywhere) };
    let wanted = usize::from(!search.has_pattern);
    Some(match search.names.len() > wanted {
        _ if search.lists => Where::Listing,
        true => Where::Named,
        false => Where::Everywhere,
    })
}

/// What `git grep` looks in beside the tree, before a `--`; nothing where an option is not known.
pub(super) fn objects_of_git(words: &[Word]) -> Option<Vec<&str>> {
    let row = TABLE.iter().find(|row| row.programs == "git-grep")?;
    let search = row.read(words)?;
    let objects = search.names.iter().skip(usize::from(!search.has_pattern));
    Some(objects.filter_map(|at| Some(words.get(*at)?.text.as_str())).collect())
}

/// Whether a program shows what is in files below the directory, whatever its words say.
pub(super) fn shows_all(program: &str) -> bool {
    listed("ast-grep semgrep ctags etags comby codespell typos").any(|name| name == program)
}

#[derive(Default)]
struct Search {
    names: Vec<usize>,
    has_pattern: bool,
    lists: bool,
}

impl Row {
    /// The words behind the first; nothing where it is not certain which of them are values.
    fn read(&self, words: &[Word]) -> Option<Search> {
        let mut search = Search { has_pattern: self.patterns == self.programs, ..Search::default() };
        let (mut at, mut is_over) = (1, false);
        while let Some(word) = words.get(at) {
            let text = word.text.as_str();
            if is_over || text.len() < 2 || !text.starts_with('-') {
                // What becomes of it may be an option.
                if word.could_be_option() && !is_over {
                    return None;
                }
                search.names.push(at);
            } else if text == "--" {
                is_over = true;
            } else {
                at += usize::from(self.takes_next(word, &mut search)?);
            }
            at += 1;
        }
        Some(search)
    }

    /// Whether an option takes the next word; nothing of one that is not known.
    fn takes_next(&self, word: &Word, search: &mut Search) -> Option<bool> {
        // Of `--include=*.rs` it is known which option it is.
        let text = Some(word.text.as_str()).filter(|_| !word.could_be_another_option())?;
        let is_in = |list: &'static str, name: &str| listed(list).any(|one| one == name);
        let mut notice = |name: &str| {
            search.has_pattern |= is_in(self.patterns, name);
            search.lists |= is_in(self.listing, name);
        };
        if text.starts_with("--") {
            let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
            let is_valued = is_in(self.valued_longs, name);
            if !is_valued && !is_in(self.longs, name) && !is_in(self.listing, name) {
                return None;
            }
            notice(name);
            return Some(is_valued && value.is_none());
        }
        for (at, letter) in text.char_indices().skip(1) {
            if self.valued.contains(letter) {
                notice(&format!("-{letter}"));
                return Some(at + letter.len_utf8() == text.len());
            }
            if !self.flags.contains(letter) {
                return None;
            }
            notice(&format!("-{letter}"));
        }
        Some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, wanted: Where) {
        let words: Vec<Word> = line.split(' ').map(|text| Word { text: text.to_owned(), ..Word::default() }).collect();
        assert_eq!(looks(&words[0].text, &words), Some(wanted), "{line}");
    }

    use Where::{Everywhere, Listing, Named};

    cases! {
        check {
            a_pattern_and_a_place: "grep -rn x src", Named;
            a_pattern_alone: "grep -rn x", Everywhere;
            a_value_is_no_place: "grep -r -A 3 x", Everywhere;
            a_value_of_a_bundle_is_no_place: "grep -rnA 3 x", Everywhere;
            a_value_in_one_word: "grep -r -A3 x src", Named;
            a_long_value: "grep -r --max-count 3 x", Everywhere;
            a_long_value_in_one_word: "grep -r --max-count=3 x src", Named;
            the_pattern_of_an_option: "grep -r -e x src", Named;
            the_pattern_of_an_option_alone: "grep -r -e x -e y", Everywhere;
            the_pattern_behind_the_options: "grep -r -- -x src", Named;
            an_option_that_is_not_known: "grep -r --quite x src", Everywhere;
            a_letter_that_is_not_known: "rg -k x src", Everywhere;
            an_option_as_a_value: "rg -g -e x", Everywhere;
            names_of_files: "rg --files", Listing;
            names_of_files_as_a_value: "rg -g --files x", Everywhere;
            all_words_are_places: "tokei src", Named;
            no_place_at_all: "tokei", Everywhere;
        }
    }

    #[test]
    fn what_is_no_search_has_no_place() {
        assert_eq!(looks("cp", &[]), None);
    }
}
