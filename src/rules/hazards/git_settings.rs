//! Settings of git with which later commands of git do more than they say: data, each row with its reason.
//!
//! Knows nothing of patterns. Invariant: the name of a setting is one in whatever letters it is written, and one that is
//! not known before the command runs is any.

use super::{Hit, listed};
use crate::rules::glob::Glob;
use crate::rules::word::Word;
use std::sync::LazyLock;

/// Names, `*` standing for any text, in small letters, and what such a setting does.
const TABLE: &[(&str, &str)] = &[
    // A program that shows, edits, asks, signs, compares, converts or speaks for another machine: run by `log`, `commit`,
    // `diff`, `status`, `fetch` and the like.
    (
        "core.pager core.editor sequence.editor core.hookspath core.fsmonitor core.sshcommand core.askpass core.gitproxy \
         core.alternaterefscommand alias.* pager.* diff.external diff.*.command diff.*.textconv difftool.* mergetool.* \
         merge.*.driver filter.* credential.* gpg.* interactive.difffilter man.* browser.* web.browser help.* instaweb.* \
         guitool.* trailer.*.command trailer.*.cmd uploadpack.packobjectshook sendemail.* imap.* submodule.*.update tar.* \
         gc.recentobjectshook hook.* gitcvs.* maintenance.*",
        "names a program that later commands of git run",
    ),
    ("include.path includeif.*", "takes settings from another file, which may name programs"),
    ("init.templatedir", "gives new repositories hooks, which git runs"),
    // An address may name a program, or send what is pushed elsewhere; what is fetched takes the place of what is here.
    (
        "url.* remote.* remote.pushdefault branch.*.remote branch.*.pushremote submodule.*.url http.* https.* protocol.*",
        "says from where and to where later commands of git go, and what may be run for that",
    ),
    ("core.worktree core.attributesfile extensions.* safe.* trace2.*", "leads later commands of git to other files"),
];

/// First words of `git config` that say what is done with the next one.
const VERBS: &str = "set unset get list";
/// Those that do more: what a section is called then may be any of the names above.
const MORE_VERBS: &str = "edit rename-section remove-section";

static SETTINGS: LazyLock<Vec<(Glob, &str)>> = LazyLock::new(|| {
    let row = |(names, reason): &(&'static str, &'static str)| {
        let reason = *reason;
        names.split_ascii_whitespace().map(move |name| (Glob::new(name), reason)).collect::<Vec<_>>()
    };
    TABLE.iter().flat_map(row).collect()
});

const UNKNOWN: &str = "which setting it is only shows when it runs";
const SECTIONS: &str = "edits settings, or calls a section otherwise, which may name programs";

/// The words of `git config`, which stands at a place, that a pattern has to have itself.
pub(super) fn find(words: &[Word], at: usize) -> Vec<Hit> {
    let names =
        words.iter().enumerate().skip(at + 1).filter(|(_, word)| !word.is_known() || !word.text.starts_with('-'));
    let names: Vec<(usize, &Word)> = names.collect();
    let is_verb = |word: &Word| word.known().is_some_and(|text| has(VERBS, text));
    let first = usize::from(names.first().is_some_and(|(_, word)| is_verb(word)));
    let unknown = names.iter().take(first + 1).find(|(_, word)| !word.is_known());
    let sections = names.first().filter(|(_, word)| has(MORE_VERBS, &word.text));
    // Whatever options of git's take a word: any that is called like such a setting may be one.
    let settings = names.iter().filter_map(|(at, word)| Some((*at, word.text.len(), why(&word.text)?)));
    let others = unknown.map(|(at, word)| (*at, word.text.len() + 1, UNKNOWN));
    let others = others.into_iter().chain(sections.map(|(at, word)| (*at, word.text.len(), SECTIONS)));
    settings.chain(others).collect()
}

fn has(words: &'static str, word: &str) -> bool {
    listed(words).any(|known| known == word)
}

fn why(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    SETTINGS.iter().find(|(glob, _)| glob.matches(&name)).map(|(_, reason)| *reason)
}
