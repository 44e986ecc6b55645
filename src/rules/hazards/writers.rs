//! Programs that write or remove the files which they name: data, and which of their words those are.
//!
//! Knows nothing of patterns. Invariant: a word that may be the name of such a file is one.

use super::Written;
use crate::rules::word::Word;

/// Which words are written or removed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    All,
    /// The last one, or the directory that an option names.
    Last,
    /// What stands behind `of=`.
    Output,
    /// All but the script, where an option says that files are changed in place.
    InPlace,
    /// All, where the first word says that an archive is written.
    Packed,
}

/// Options of tar with which it writes its archive.
const CHANGES: &[&str] = &["--create", "--append", "--update", "--concatenate", "--catenate", "--delete"];

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
    Row { programs: &["sed", "gsed"], which: Which::InPlace, valued: "efl", is_certain: false },
    Row { programs: &["tar", "bsdtar", "gtar"], which: Which::Packed, valued: "", is_certain: false },
    Row { programs: &["zip"], which: Which::All, valued: "", is_certain: false },
];

/// The names of files that a command writes or removes; `None` of a program that is in no row, or writes nothing here.
pub(super) fn written(program: &str, words: &[Word]) -> Option<Vec<Written>> {
    let row = TABLE.iter().find(|row| row.programs.contains(&program))?;
    let part = |at: usize, text: &str| Written {
        at,
        word: Word { text: text.to_owned(), ..Word::default() },
        is_certain: row.is_certain,
        sources: Vec::new(),
    };
    let all = || words.iter().enumerate().skip(1);
    match row.which {
        Which::Output => {
            let found = all().filter_map(|(at, word)| Some(part(at, word.known()?.strip_prefix("of=")?)));
            return Some(found.collect());
        }
        Which::InPlace if !all().any(|(_, word)| is_in_place(&word.text)) => return None,
        Which::Packed if !all().any(|(at, word)| is_packed(at, &word.text)) => return None,
        _ => {}
    }
    let (mut found, mut names, mut is_over, mut takes, mut has_script) = (Vec::new(), Vec::new(), false, None, false);
    for (at, word) in all() {
        let text = word.text.as_str();
        let whole = || Written { at, word: word.clone(), is_certain: row.is_certain, sources: Vec::new() };
        match takes.take() {
            Some('t') => found.push(whole()),
            Some(_) => {}
            None if is_over || text.len() < 2 || !text.starts_with('-') => names.push(whole()),
            None if text.starts_with("--") => {
                is_over = text == "--";
                has_script |= text.starts_with("--e") || text.starts_with("--fi");
                let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
                // A beginning of `--target-directory`, which no other option begins with.
                if row.which == Which::Last && name.len() > 2 && "--target-directory".starts_with(name) {
                    takes = value.is_none().then_some('t');
                    found.extend(value.map(|value| part(at, value)));
                }
            }
            None => {
                let is_target =
                    |c: char| row.which == Which::Last && c == 't' && program != "rsync" && program != "scp";
                has_script |= text.contains(['e', 'f']);
                let first = text.find(|c| row.valued.contains(c) || is_target(c));
                let letter = first.and_then(|at| text.get(at..)?.chars().next());
                let rest = first.and_then(|at| text.get(at + 1..)).filter(|rest| !rest.is_empty());
                match (letter, rest) {
                    (Some('t'), Some(rest)) => found.push(part(at, rest)),
                    (Some(_), Some(_)) | (None, _) => {}
                    (letter, None) => takes = letter,
                }
            }
        }
    }
    match row.which {
        Which::InPlace if !has_script && !names.is_empty() => drop(names.remove(0)),
        // A bundle of options without a dash.
        Which::Packed if words.get(1).is_some_and(|word| !word.text.starts_with('-')) => drop(names.remove(0)),
        _ => {}
    }
    if ["cp", "mv", "install"].contains(&program) && found.is_empty() && !has_other_place(words) {
        let words: Vec<Word> = names.iter().map(|name| name.word.clone()).collect();
        let is_known = words.iter().all(|word| word.is_known() || word.is_glob && !word.is_split);
        if let Some(last) = names.last_mut().filter(|_| is_known) {
            last.sources = words.get(..words.len() - 1).unwrap_or_default().to_vec();
        }
    }
    if row.which != Which::Last {
        found.append(&mut names);
    } else if found.is_empty() {
        found.extend(names.pop());
    }
    Some(found)
}

/// Whether an option says that files are put elsewhere than under their own names into a directory.
fn has_other_place(words: &[Word]) -> bool {
    let is_one = |text: &str| {
        text.starts_with("--pa")
            || text.starts_with("--no-t")
            || text.starts_with('-') && !text.starts_with("--") && text.contains(['T', 'd'])
    };
    words.iter().any(|word| is_one(&word.text))
}

/// `cf`, `-rf`, `--delete`: an archive is made or changed.
fn is_packed(at: usize, text: &str) -> bool {
    let is_bundle = at == 1 || text.starts_with('-') && !text.starts_with("--");
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    let is_long = name.len() > 2 && CHANGES.iter().any(|change| change.starts_with(name));
    is_long || is_bundle && text.contains(['c', 'r', 'u', 'A'])
}

/// `-i`, `-i.bak`, `-ni`, `--in-place`: files of sed are changed.
fn is_in_place(text: &str) -> bool {
    let is_long = text.len() > 2 && ("--in-place".starts_with(text) || text.starts_with("--in-place"));
    is_long || !text.starts_with("--") && text.starts_with('-') && text.contains(['i', 'I'])
}
