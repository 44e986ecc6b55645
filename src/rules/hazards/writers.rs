//! Programs that write or remove the files which they name: data, and which of their words those are.
//!
//! Knows nothing of patterns. Invariant: a word that may be the name of such a file is one.

use crate::rules::word::Word;

/// Which words are written or removed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    All,
    /// The last one, or the directory that an option names.
    Last,
    /// What stands behind `of=`.
    Output,
}

struct Row {
    programs: &'static [&'static str],
    which: Which,
    /// Letters of options that take the next word.
    valued: &'static str,
    /// Each of these words is a file that is written or removed, with what is in it.
    is_certain: bool,
}

const TABLE: &[Row] = &[
    Row { programs: &["cp", "ln", "install"], which: Which::Last, valued: "Sgmo", is_certain: true },
    Row { programs: &["rsync", "scp"], which: Which::Last, valued: "", is_certain: true },
    Row { programs: &["mv"], which: Which::All, valued: "S", is_certain: true },
    Row { programs: &["rm", "unlink", "tee", "sponge"], which: Which::All, valued: "", is_certain: true },
    Row { programs: &["shred", "truncate"], which: Which::All, valued: "nsr", is_certain: true },
    Row {
        programs: &["touch", "mkdir", "rmdir", "mkfifo", "chmod", "chown", "chgrp"],
        which: Which::All,
        valued: "",
        is_certain: false,
    },
    Row {
        programs: &["gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd"],
        which: Which::All,
        valued: "",
        is_certain: false,
    },
    Row { programs: &["dd"], which: Which::Output, valued: "", is_certain: true },
];

/// The names of files that a command writes or removes, and whether that is certain.
pub(super) fn written(program: &str, words: &[Word]) -> Vec<(Word, bool)> {
    let Some(row) = TABLE.iter().find(|row| row.programs.contains(&program)) else { return Vec::new() };
    let named = |text: &str| (Word { text: text.to_owned(), ..Word::default() }, row.is_certain);
    if row.which == Which::Output {
        return words.iter().skip(1).filter_map(|word| word.known()?.strip_prefix("of=").map(named)).collect();
    }
    let (mut found, mut names, mut is_over, mut takes) = (Vec::new(), Vec::new(), false, None);
    for word in words.iter().skip(1) {
        let text = word.text.as_str();
        match takes.take() {
            Some('t') => found.push((word.clone(), row.is_certain)),
            Some(_) => {}
            None if is_over || text.len() < 2 || !text.starts_with('-') => names.push((word.clone(), row.is_certain)),
            None if text.starts_with("--") => {
                is_over = text == "--";
                let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
                // A beginning of `--target-directory`, which no other option begins with.
                if row.which == Which::Last && name.len() > 2 && "--target-directory".starts_with(name) {
                    takes = value.is_none().then_some('t');
                    found.extend(value.map(named));
                }
            }
            None => {
                let is_target =
                    |c: char| row.which == Which::Last && c == 't' && program != "rsync" && program != "scp";
                let first = text.find(|c| row.valued.contains(c) || is_target(c));
                let letter = first.and_then(|at| text.get(at..)?.chars().next());
                let rest = first.and_then(|at| text.get(at + 1..)).filter(|rest| !rest.is_empty());
                match (letter, rest) {
                    (Some('t'), Some(rest)) => found.push(named(rest)),
                    (Some(_), Some(_)) | (None, _) => {}
                    (letter, None) => takes = letter,
                }
            }
        }
    }
    if row.which == Which::All {
        found.append(&mut names);
    } else if found.is_empty() {
        found.extend(names.pop());
    }
    found
}
