//! Programs that go down directories and there through links: data, and which option says so. What only shows names is none.
//!
//! Knows nothing of rules. Invariant: an option that may be one of these is one; only words that are known say the opposite.

use super::{by_name, listed};
use crate::rules::word::Word;
use std::collections::HashMap;
use std::sync::LazyLock;

struct Row {
    programs: &'static str,
    /// Letters of options that go through links, and whether they stand in a first word without a dash, too.
    letters: &'static str,
    is_bare: bool,
    /// Long options likewise.
    longs: &'static str,
    /// Words with which it goes through none.
    unless: &'static str,
}

const ROW: Row = Row { programs: "", letters: "", is_bare: false, longs: "", unless: "" };

const TABLE: &[Row] = &[
    Row {
        programs: "grep egrep fgrep rgrep ugrep ug",
        letters: "RS",
        longs: "--dereference-recursive --dereference",
        ..ROW
    },
    Row { programs: "rg", letters: "L", longs: "--follow", ..ROW },
    Row { programs: "ag", letters: "f", longs: "--follow", ..ROW },
    Row { programs: "ack", longs: "--follow", ..ROW },
    Row { programs: "diff", letters: "r", longs: "--recursive", unless: "--no-dereference", ..ROW },
    Row { programs: "cp", letters: "L", longs: "--dereference", ..ROW },
    Row { programs: "chmod chown chgrp", letters: "L", longs: "--dereference", ..ROW },
    Row { programs: "rsync", letters: "Lk", longs: "--copy-links --copy-dirlinks", ..ROW },
    Row { programs: "scp", letters: "r", ..ROW },
    Row { programs: "tar bsdtar gtar", letters: "hL", is_bare: true, longs: "--dereference", ..ROW },
    Row {
        programs: "zip",
        letters: "rR",
        longs: "--recurse-paths --recurse-patterns",
        unless: "-y -ry -yr -qry -qyr -rqy -ryq --symlinks",
        ..ROW
    },
    // Whatever its options are: the first word says what it does.
    Row { programs: "jar", letters: "cu", is_bare: true, longs: "--create --update", ..ROW },
    Row { programs: "7z 7za 7zr 7zz", letters: "", is_bare: true, unless: "-snl", ..ROW },
];

/// The row of each program.
static BY_NAME: LazyLock<HashMap<&str, &Row>> = LazyLock::new(|| by_name(TABLE, |row| row.programs));

/// Where the option stands with which a program goes through the links that it finds; nothing of one that goes through none.
pub(super) fn option(program: &str, words: &[Word]) -> Option<usize> {
    let row = BY_NAME.get(program)?;
    let has = |list: &'static str| words.iter().skip(1).any(|word| listed(list).any(|one| word.known() == Some(one)));
    if has(row.unless) {
        return None;
    }
    (1..words.len()).find(|at| row.follows(*at, words.get(*at).map_or("", |word| &word.text)))
}

impl Row {
    fn follows(&self, at: usize, text: &str) -> bool {
        let has_letter = |text: &str| text.contains(|c| self.letters.contains(c));
        match text.strip_prefix('-') {
            Some(rest) if rest.starts_with('-') => {
                let typed = text.split('=').next().unwrap_or_default();
                typed.len() > 2 && listed(self.longs).any(|long| long.starts_with(typed))
            }
            Some(rest) => has_letter(rest),
            None => at == 1 && self.is_bare && (self.letters.is_empty() || has_letter(text)),
        }
    }
}
