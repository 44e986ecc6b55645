//! Which files subcommands of git write and remove, which they show, and which of them change the tree.
//!
//! Knows nothing of patterns. Invariants: a word that may be the name of a file is one; what may show the content of a file
//! that the line does not name shows everything.

use super::git::{BEFORE_VALUED, OWN_FILES, TAKING, before, has, is_branch, row};
use super::readers::Reads;
use super::{Hit, ends_options, searches};
use crate::rules::steering::is_steering;
use crate::rules::word::{Rest, Word};
use std::path::Path;

/// Subcommands that leave the files of the tree as they are.
const STILL: &str = "status diff show log whatchanged rev-list diff-tree diff-index diff-files range-diff shortlog blame \
    annotate grep rev-parse ls-files ls-tree ls-remote cat-file show-ref merge-base cherry describe for-each-ref name-rev \
    show-branch var version write-tree merge-tree count-objects check-ignore check-attr reflog remote add commit \
    commit-tree branch tag notes fetch push config rm clean gc help init";
/// Further ones, of which it does not matter what they do to the repository.
const INNER: &str = "fsck hash-object update-ref symbolic-ref pack-refs prune repack maintenance verify-commit verify-tag \
    check-ref-format check-mailmap stripspace diagnose fetch-pack for-each-repo credential replace request-pull fast-export \
    verify-pack mktree mktag patch-id show-index get-tar-commit-id update-index";
/// Options of `apply` with which no file is changed.
const NOT_APPLIED: &str = "--check --stat --numstat --summary --cached";
/// Subcommands that change the files which they name, and no others.
const ONLY_NAMED: &str = "rm mv restore";
/// Subcommands that change the files behind a `--` alone, where there are some.
const LIMITED: &str = "checkout stash clean";

/// Subcommands that show the content of files.
const SHOWING: &str = "diff show range-diff grep cat-file";
/// Subcommands that show it where an option says so.
const PATCHING: &str = "log whatchanged reflog rev-list shortlog diff-tree diff-index diff-files";
/// Options of both that say so.
const PATCH: &str = "--patch --patch-with-stat --patch-with-raw --unified --binary --word-diff --color-words --cc \
    --function-context --diff-merges --text --full-index --check";
/// Options with which only the names of what differs are shown.
const SUMMARY: &str = "--stat --shortstat --numstat --name-only --name-status --summary --dirstat --no-patch -s --raw \
    --compact-summary --quiet -q";

/// Options of `notes` that name what is to be the note.
const NOTE_OF: &str = "--reuse-message --reedit-message";

/// Options that take no value in any of these.
const FLAGS: &str = "-p -u -w -i --patch --cached --staged --stat --word-diff --color-words --name-only --name-status \
    --shortstat --numstat --oneline --graph --follow --no-color --check";
/// Letters of options whose value is a number in the same word.
const NUMBERED: &[&str] = &["-", "-n", "-U"];

/// A subcommand and its words: those before a `--`, and behind it the paths.
struct Call<'a> {
    name: &'a str,
    before: &'a [Word],
    /// With the `--` itself.
    after: &'a [Word],
}

impl<'a> Call<'a> {
    /// `is_end` says of the place of an argument whether the paths begin there.
    fn of(words: &'a [Word], is_end: impl Fn(usize) -> bool) -> Option<Self> {
        let (_, start) = before(words);
        let name = words.get(start)?.text.as_str();
        let arguments = words.get(start + 1..).unwrap_or_default();
        let end = (0..arguments.len()).find(|at| is_end(start + 1 + at)).unwrap_or(arguments.len());
        let (before, after) = arguments.split_at(end);
        Some(Self { name, before, after })
    }

    fn options(&self) -> impl Iterator<Item = &'a str> {
        self.before.iter().map(|word| word.text.as_str()).filter(|text| text.starts_with('-'))
    }

    fn names(&self) -> impl Iterator<Item = &'a str> {
        self.before.iter().map(|word| word.text.as_str()).filter(|text| !text.starts_with('-'))
    }

    fn has_patch(&self) -> bool {
        self.options().any(|text| has(PATCH, long(text)) || has_letter(text, "puUcW"))
    }

    fn is_summary(&self) -> bool {
        self.options().any(|text| has(SUMMARY, long(text))) && !self.has_patch()
    }

    /// Of an object it says what that is, and not what is in it.
    fn is_about(&self) -> bool {
        self.options().any(|text| matches!(text, "-t" | "-s" | "-e"))
    }
}

/// What a subcommand reads of the files of the repository.
pub(super) fn reads(words: &[Word]) -> Reads {
    let is_flag = |at: usize| words.get(at).is_some_and(|word| has(FLAGS, &word.text) || is_numbered(&word.text));
    let is_end =
        |at: usize| ends_options(words, at) || words.get(at).is_some_and(|word| word.text == "--") && is_flag(at - 1);
    let Some(call) = Call::of(words, is_end) else { return Reads::Named };
    let names: Vec<&str> = call.names().collect();
    // Paths of which git makes no others.
    let is_plain = |word: &Word| word.is_known() && !word.text.is_empty() && is_plain(&word.text);
    let is_limited = call.after.len() > 1 && call.after.iter().skip(1).all(is_plain);
    let limited = if is_limited { Reads::Below } else { Reads::Everything };
    let arguments = || call.before.iter().chain(call.after).map(|word| word.text.as_str());
    match call.name {
        "mv" => Reads::Below,
        // They only say what the settings are for a name.
        "check-ignore" | "check-attr" => Reads::Nothing,
        "stash" if names.first() == Some(&"show") && !call.is_summary() => Reads::Everything,
        "cat-file" if call.is_about() => Reads::Named,
        "cat-file" => {
            let mut objects = names.iter().filter(|text| !matches!(**text, "blob" | "tree" | "commit" | "tag"));
            if objects.all(|text| names_file(text)) { Reads::Named } else { Reads::Everything }
        }
        // Of two sides and what they come from the differences, of two alone only names.
        "merge-tree" if names.len() > 2 => Reads::Everything,
        // What a ref leads to may be a file, or a directory of some.
        "for-each-ref" | "tag" | "branch" if arguments().any(|text| text.contains("%(") && text.contains("raw")) => {
            Reads::Everything
        }
        // A note may be made of any file by its number, and is shown by what shows notes.
        "notes" if arguments().any(|text| has(NOTE_OF, long(text)) || is_in_bundle(text, "cC", "mF")) => {
            Reads::Everything
        }
        // What is no commit is shown whatever the options and paths.
        "show" if !names.iter().all(|text| is_commit(text) || names_file(text)) => Reads::Everything,
        "show" if !names.is_empty() && names.iter().all(|text| names_file(text)) => Reads::Named,
        "diff" | "show" if call.is_summary() => Reads::Named,
        "diff" | "show" if names.iter().all(|text| is_commit(text) || text.contains("..")) => limited,
        "diff" if !call.after.is_empty() && names.iter().all(|text| is_commit(text) || is_branch(text)) => limited,
        "grep" => match objects(words, &call) {
            Some(objects) if objects.iter().all(|text| is_commit(text)) => limited,
            _ => Reads::Everything,
        },
        name if has(SHOWING, name) => Reads::Everything,
        name if has(PATCHING, name) && call.has_patch() => limited,
        // Before it asks, or beside what it says.
        "status" | "commit" | "add" | "checkout" | "reset" | "restore" | "stash"
            if call.options().any(|text| matches!(text, "--patch" | "--verbose") || has_letter(text, "pv")) =>
        {
            limited
        }
        _ => Reads::Named,
    }
}

/// What `git grep` searches besides its paths.
fn objects<'a>(words: &'a [Word], call: &Call<'a>) -> Option<Vec<&'a str>> {
    let end = words.len() - call.after.len();
    let start = end - call.before.len() - 1;
    searches::objects_of_git(words.get(start..end).unwrap_or_default())
}

/// Whether options before the subcommand have it work elsewhere: from another directory, or in another repository.
pub(super) fn is_elsewhere(words: &[Word]) -> bool {
    before(words).0.iter().any(|(_, text)| has(BEFORE_VALUED, long(text)))
}

/// What may name a file of which a subcommand shows what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rules) struct Shown<'a> {
    pub(in crate::rules) path: &'a str,
    /// It begins at the top of the repository, unless it begins with a dot.
    pub(in crate::rules) is_from_top: bool,
    /// It may be a revision instead.
    pub(in crate::rules) is_ambiguous: bool,
}

/// The files of which a subcommand shows what is in them, as far as its words name those.
pub(super) fn shown(words: &[Word]) -> Vec<Shown<'_>> {
    let is_end = |at: usize| words.get(at).is_some_and(|word| word.text == "--");
    let Some(call) = Call::of(words, is_end) else { return Vec::new() };
    // `-L1,2:src/a` has the lines of a file shown, of which the name may stand in the next word.
    let of_lines = || call.before.iter().filter(|_| has(PATCHING, call.name) || call.name == "show");
    let has_lines = of_lines().any(|word| word.text.starts_with("-L"));
    let names: Vec<&str> = match call.name {
        "blame" | "annotate" => call.names().collect(),
        "grep" => objects(words, &call).unwrap_or_default(),
        "cat-file" if !call.is_about() => call.names().collect(),
        "diff" if !call.is_summary() => call.names().collect(),
        "show" => call.names().filter(|text| text.contains(':') || !call.is_summary()).collect(),
        name if has(PATCHING, name) && (call.has_patch() || has_lines) => call.names().collect(),
        _ => return Vec::new(),
    };
    let lines = of_lines().map(|word| word.text.as_str()).filter(|text| text.starts_with("-L"));
    let before = names.into_iter().chain(lines).flat_map(|text| {
        // `HEAD:src/a`, `:0:src/a`, `-L:name:src/a`: behind each colon a path may begin.
        let behind = text.match_indices(':').filter_map(|(at, _)| text.get(at + 1..));
        let behind = behind.map(|path| Shown { path, is_from_top: !text.starts_with("-L"), is_ambiguous: false });
        let whole = Shown { path: text, is_from_top: false, is_ambiguous: true };
        behind.chain([whole])
    });
    let is_showing = call.name != "show" || !call.is_summary();
    let after = call.after.iter().skip(1).filter(|_| is_showing).filter_map(Word::known);
    let after = after.map(|path| Shown { path, is_from_top: false, is_ambiguous: false });
    before.chain(after).filter(|shown| is_plain(shown.path)).collect()
}

/// Whether the subcommand may put other files, and links, into the tree.
pub(super) fn changes_tree(words: &[Word]) -> bool {
    let (_, start) = before(words);
    let text = |at: usize| words.get(start + at).map_or("", |word| word.text.as_str());
    let is_new_branch = matches!((text(0), text(1)), ("checkout", "-b") | ("switch", "-c")) && words.len() == start + 3;
    let is_list = matches!((text(0), text(1)), ("stash", "list" | "show" | "drop" | "clear") | ("worktree", "list"));
    let takes_along = |word: &Word| ["--h", "--m", "--k", "--p", "-p"].iter().any(|start| word.text.starts_with(start));
    let is_index = text(0) == "reset" && !words.iter().any(takes_along);
    !text(0).is_empty() && !has(STILL, text(0)) && !is_new_branch && !is_list && !is_index
}

/// Whether the subcommand may write any file of the tree, also one that it does not name.
pub(super) fn writes_tree(words: &[Word]) -> bool {
    let Some(call) = Call::of(words, |at| ends_options(words, at)) else { return false };
    let is_plain = |word: &Word| word.is_known() && !word.text.is_empty() && is_plain(&word.text);
    let is_limited = call.after.len() > 1 && call.after.iter().skip(1).all(is_plain);
    match call.name {
        name if has(ONLY_NAMED, name) || has(INNER, name) || has(LIMITED, name) && is_limited => false,
        "clean" => !call.options().any(|text| text == "--dry-run" || is_in_bundle(text, "n", "e")),
        "apply" if call.options().any(|text| has(NOT_APPLIED, text)) => call.options().any(|text| text == "--apply"),
        _ => changes_tree(words),
    }
}

/// Subcommands whose words are paths that git expands.
const EXPANDING: &str = "add rm checkout restore reset stash clean";

/// Whether a subcommand expands the paths that it is given.
pub(super) fn has_pathspecs(words: &[Word]) -> bool {
    let (_, start) = before(words);
    words.get(start).is_some_and(|name| has(EXPANDING, &name.text))
}

/// A word of which git makes names, as one of which only the beginning is known.
pub(super) fn pathspec(word: &Word) -> Option<Word> {
    let text = word.known()?;
    let end = text.find(['*', '?', '[', '\\']).or_else(|| text.starts_with(':').then_some(0))?;
    let text = text.get(..end)?.to_owned();
    Some(Word { shape: word.text.clone(), text, rest: Rest::Words, is_glob: true, ..Word::default() })
}

/// A commit for certain, and no content of a file that has a name: what steps are made from is one.
fn is_commit(text: &str) -> bool {
    let (name, steps) = text.split_at(text.find(['~', '^']).unwrap_or(text.len()));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._/-".contains(c);
    let is_name = matches!(name, "HEAD" | "@") || !steps.is_empty() && !name.is_empty() && name.chars().all(is_plain);
    is_name && steps.chars().all(|c| matches!(c, '~' | '^') || c.is_ascii_digit())
}

/// `-3`, `-n3`, `-U3`.
fn is_numbered(text: &str) -> bool {
    let number = |letter: &&str| text.strip_prefix(*letter);
    NUMBERED.iter().filter_map(number).any(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A file by its name: `HEAD:src/a`, `:src/a`.
fn names_file(text: &str) -> bool {
    let named = text.split_once(':').filter(|(commit, _)| !commit.contains(['{', '}']));
    named.is_some_and(|(_, path)| !path.is_empty() && is_plain(path) && !path.starts_with('/'))
}

/// A path that git does not expand.
fn is_plain(path: &str) -> bool {
    !path.starts_with(':') && !path.contains(['*', '?', '[', '\\', '(', '!', '^'])
}

fn long(text: &str) -> &str {
    text.split_once('=').map_or(text, |(name, _)| name)
}

/// Whether one of these letters is among short options, before one that takes a value in what shows differences.
fn has_letter(text: &str, letters: &str) -> bool {
    is_in_bundle(text, letters, "SGnlXOLIM")
}

fn is_in_bundle(text: &str, letters: &str, valued: &str) -> bool {
    let bundle = text.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default();
    bundle.chars().take_while(|c| !valued.contains(*c)).any(|c| letters.contains(c))
}

/// The files that it writes or removes from which later commands take programs, or of which it takes away what was changed.
pub(super) fn find(words: &[Word]) -> Vec<Hit> {
    let hit = |file: Written| {
        let text = &words.get(file.at)?.text;
        // git itself expands these.
        let is_open = text.starts_with(':') || text.contains(['*', '?', '[']);
        let is_commit = text == "HEAD" && !file.is_certain;
        (is_open || !is_commit && is_steering(Path::new(text))).then_some((file.at, text.len().max(1), OWN_FILES))
    };
    written(words).into_iter().filter_map(hit).chain(discarded(words)).collect()
}

/// Options of `checkout` with which its words are files, and with which they are branches and commits.
const OF_FILES: &str = "--ours --theirs --overlay --no-overlay";
const OF_BRANCHES: &str = "-b -B --orphan -t --track --detach -d";

/// Where it says that what was changed in files is taken away: the subcommand, the `--` before them, or else the files.
fn discarded(words: &[Word]) -> Vec<Hit> {
    let (_, start) = before(words);
    let has_option = |names: &str, letters: &str| {
        let mut options = words.iter().skip(start + 1).map(|word| word.text.as_str());
        options.any(|text| has(names, text) || is_in_bundle(text, letters, "s"))
    };
    let is_path = |text: &str| {
        text.contains(['*', '?', '[']) || text.starts_with(':') || matches!(text.split('/').next(), Some("." | ".."))
    };
    let files = written(words).into_iter().enumerate();
    let taken = files.filter(|(place, file)| {
        let text = words.get(file.at).map_or("", |word| word.text.as_str());
        match words.get(start).map_or("", |name| name.text.as_str()) {
            // From the index alone nothing is taken away that is in no file.
            "restore" => !has_option("--staged", "S") || has_option("--worktree", "W"),
            "checkout" if has_option(OF_BRANCHES, "bB") => false,
            "checkout" => file.is_certain || is_path(text) || *place > 0 || has_option(OF_FILES, ""),
            _ => false,
        }
    });
    let length = |at: usize| words.get(at).map_or(1, |word| word.text.len().max(1));
    let said = |at: usize| match words.get(start).map_or("", |name| name.text.as_str()) {
        "restore" => start,
        _ => (start + 1..at).rev().find(|at| words.get(*at).is_some_and(|word| word.text == "--")).unwrap_or(at),
    };
    let mut places: Vec<usize> = taken.map(|(_, file)| said(file.at)).collect();
    places.dedup();
    places.into_iter().map(|at| (at, length(at), TAKING)).collect()
}

/// The word of `checkout` that is a branch, or a file where there is one of that name.
pub(super) fn branch_or_file(words: &[Word]) -> Option<usize> {
    let (_, start) = before(words);
    let is_checkout = words.get(start).is_some_and(|name| name.text == "checkout");
    let is_branch = words.iter().any(|word| has(OF_BRANCHES, &word.text) || is_in_bundle(&word.text, "bB", ""));
    written(words).first().filter(|file| is_checkout && !is_branch && !file.is_certain).map(|file| file.at)
}

/// A word that may name a file which is written or removed.
pub(super) struct Written {
    pub(super) at: usize,
    /// It is no branch, commit or stash.
    pub(super) is_certain: bool,
}

/// The files that the subcommand writes or removes, of those that it names.
pub(super) fn written(words: &[Word]) -> Vec<Written> {
    let (_, start) = before(words);
    let row = words.get(start).and_then(|name| row(&name.text));
    let Some(row) = row.filter(|row| row.writes) else { return Vec::new() };
    let mut is_certain = matches!(row.names, "mv" | "rm" | "restore");
    let (mut found, mut is_over, mut is_value) = (Vec::new(), false, false);
    for (at, word) in words.iter().enumerate().skip(start + 1) {
        let text = word.text.as_str();
        if std::mem::take(&mut is_value) {
            continue;
        }
        if !is_over && text.len() > 1 && text.starts_with('-') {
            is_over = text == "--";
            is_certain |= is_over;
            let first = text.find(|c| row.valued.contains(c)).filter(|_| !text.starts_with("--"));
            is_value = text == "--source" || first.is_some_and(|first| first + 1 == text.len());
        } else {
            found.push(Written { at, is_certain });
        }
    }
    found
}
