//! Which programs read the files that they name, and write none: data.
//!
//! Knows nothing of patterns. Invariant: a program that is in no list may read and write whatever it names.

use super::searches::{self, Where};
use crate::rules::word::Word;

/// What a program does with the files that its words name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rules) enum Reads {
    /// Its words are no files, or it reads nothing of what is in them.
    Nothing,
    /// It reads each.
    Files,
    /// It reads each, and of a directory what is below it.
    Below,
    /// The same, and all of the directory that it runs in.
    Around,
    /// It reads some of what it names, and writes none of it.
    Named,
    /// It shows what is in files that it need not name.
    Everything,
    Unknown,
}

const NOTHING: &[&str] = &[
    "echo", "printf", "true", "false", ":", "pwd", "cd", "pushd", "popd", "date", "sleep", "basename", "dirname",
    "test", "[", "kill", "ls", "tree", "find", "fd", "fdfind", "stat", "file", "du", "df", "readlink", "realpath",
    "rm", "rmdir", "unlink", "touch", "mkdir", "mkfifo", "chmod", "chown", "chgrp", "tee", "truncate", "shred",
    "which", "type", "exit", "return", "break", "continue", "eza", "exa", "lsd", "pgrep", "ps", "lsof",
];
const FILES: &[&str] = &[
    "cat",
    "head",
    "tail",
    "less",
    "more",
    "wc",
    "diff",
    "cmp",
    "nl",
    "tac",
    "rev",
    "od",
    "xxd",
    "hexdump",
    "strings",
    "bat",
    "fold",
    "fmt",
    "column",
    "paste",
    "join",
    "comm",
    "base64",
    "cksum",
    "sum",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "shellcheck",
    "readelf",
    "nm",
    "size",
    "addr2line",
];
const BELOW: &[&str] = &[
    "rg",
    "ag",
    "ack",
    "ugrep",
    "ug",
    "rgrep",
    "pcregrep",
    "pcre2grep",
    "tokei",
    "cp",
    "mv",
    "tar",
    "bsdtar",
    "gtar",
    "zip",
    "rsync",
    "scp",
];
const GREP: &[&str] = &["grep", "egrep", "fgrep"];
const NAMED: &[&str] =
    &["sed", "gsed", "awk", "gawk", "mawk", "nawk", "jq", "yq", "sort", "uniq", "cut", "tr", "iconv"];

pub(in crate::rules) fn reads(program: &str, words: &[Word]) -> Reads {
    let kind = kind(program, words);
    // Where it looks only matters where it goes down.
    match (kind == Reads::Below).then(|| searches::looks(program, words)).flatten() {
        Some(Where::Everywhere) => Reads::Around,
        Some(Where::Listing) => Reads::Named,
        Some(Where::Named) | None => kind,
    }
}

fn kind(program: &str, words: &[Word]) -> Reads {
    let is_in = |list: &[&str]| list.contains(&program);
    let goes_down = |text: &str| text == "--recursive" || !text.starts_with("--") && text.contains(['r', 'R']);
    let options = || words.iter().skip(1).map(|word| word.text.as_str()).filter(|text| text.starts_with('-'));
    // `-d recurse`, `--directories=recurse`, and beginnings of long options.
    let may_go_down =
        |text: &str| goes_down(text) || text.starts_with("-d") || text.starts_with("--d") || text.starts_with("--r");
    let has_letter = |text: &str, letter: char| !text.starts_with("--") && text.contains(letter);
    let names_list = |text: &str| text.starts_with("--f") || text.starts_with("--ex") || has_letter(text, 'X');
    match () {
        // The names of what it counts, or leaves out, may stand in a file.
        () if program == "du" && options().any(names_list) => Reads::Files,
        // It shows what a file says, as if those were dates.
        () if program == "date" && options().any(|text| text.starts_with("--f") || has_letter(text, 'f')) => {
            Reads::Files
        }
        // As if those were names.
        () if program == "tree" && options().any(|text| text.starts_with("--from") || text.starts_with("--info")) => {
            Reads::Files
        }
        // It says which lines of a list of names to leave out it cannot read.
        () if ["fd", "fdfind"].contains(&program) && options().any(|text| text.starts_with("--ig")) => Reads::Named,
        () if is_in(NOTHING) => Reads::Nothing,
        () if program == "diff" && options().any(may_go_down) => Reads::Below,
        () if is_in(FILES) => Reads::Files,
        () if is_in(BELOW) || is_in(GREP) && options().any(may_go_down) => Reads::Below,
        () if is_in(NAMED) || is_in(GREP) => Reads::Named,
        () => Reads::Unknown,
    }
}
