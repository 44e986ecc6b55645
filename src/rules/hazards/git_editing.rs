//! Commands of git that open the person's editor, or ask by keys: what is read from standard input then says what to do, and an
//! editor runs programs.
//!
//! Knows nothing of patterns. Invariant: a command that may open one does, as far as its words say.

use super::listed;
use crate::rules::word::Word;

struct Row {
    names: &'static str,
    /// Options, long ones and letters, with which it does.
    with: &'static str,
    /// The same without any of these; nothing where it does not otherwise.
    without: &'static str,
}

const TABLE: &[Row] = &[
    Row {
        names: "commit",
        with: "-p --patch -e --edit -c --reedit-message",
        without: "-m --message -F --file -C --reuse-message --no-edit --dry-run --fixup",
    },
    Row { names: "add checkout restore reset stash", with: "-p --patch", without: "" },
    Row { names: "merge pull revert cherry-pick", with: "-e --edit --continue", without: "" },
    Row { names: "rebase", with: "--continue", without: "" },
    Row { names: "tag", with: "--edit", without: "" },
];
/// Options of a tag with a message, and those that say it.
const OF_TAG: &str = "-a -s -u --annotate";
const MESSAGES: &str = "-m --message -F --file";
/// Words behind `notes` that write one.
const OF_NOTES: &str = "add append";
const TEXTS: &str = "-m --message -F --file -C --reuse-message";

/// `at`: where the subcommand stands.
pub(super) fn may_edit(words: &[Word], at: usize) -> bool {
    let Some(name) = words.get(at).map(|word| word.text.as_str()) else { return false };
    let rest = words.get(at + 1..).unwrap_or_default();
    let has_any = |options: &'static str| rest.iter().any(|word| is_one(&word.text, options));
    match name {
        "tag" if has_any(OF_TAG) => !has_any(MESSAGES) || has_any("--edit"),
        "notes" => rest.iter().any(|word| has(OF_NOTES, &word.text)) && !has_any(TEXTS),
        _ => TABLE
            .iter()
            .any(|row| has(row.names, name) && (has_any(row.with) || !row.without.is_empty() && !has_any(row.without))),
    }
}

fn has(words: &'static str, word: &str) -> bool {
    listed(words).any(|one| one == word)
}

/// Whether a word is one of these options, or a bundle of letters with one.
fn is_one(text: &str, options: &'static str) -> bool {
    if text.starts_with("--") {
        return has(options, text.split('=').next().unwrap_or_default());
    }
    let letters = text.strip_prefix('-').unwrap_or_default();
    letters.chars().take_while(char::is_ascii_alphanumeric).any(|letter| has(options, &format!("-{letter}")))
}
