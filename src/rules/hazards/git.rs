//! What is known of git: the subcommands and options that neither run nor write what they are given. All that is not in
//! these tables has to stand in the pattern itself.
//!
//! Knows nothing of patterns. Invariants: a short option is only passed over where every letter before it is known, a
//! long one only when it is written in full; options end at a `--` only where no option could take it for its value.

use super::{Hit, ends_options, git_editing, git_settings, unknown_letter};
use crate::rules::word::Word;

pub(super) struct Row {
    /// Subcommands, with blanks between them.
    pub(super) names: &'static str,
    /// Letters of options without a value, and of those with one.
    flags: &'static str,
    pub(super) valued: &'static str,
    /// Long options that only these have.
    longs: &'static str,
    /// What the first word after the subcommand may be; empty for anything.
    verbs: &'static str,
    /// Its first word is a remote.
    has_remote: bool,
    /// Its words may be files that it writes or removes.
    pub(super) writes: bool,
    /// Is in a pattern itself: what it writes or removes is not among its words.
    is_spelled: bool,
    /// Options that take something away here, though they are harmless elsewhere.
    taking: &'static str,
    /// Its first words that do.
    taking_verbs: &'static str,
}

const ROW: Row = Row {
    names: "",
    flags: "",
    valued: "",
    longs: "",
    verbs: "",
    has_remote: false,
    writes: false,
    is_spelled: false,
    taking: "",
    taking_verbs: "",
};

/// Names of remotes that need not be in the pattern: any other word may be a directory here, whose hooks run.
pub(super) const REMOTES: &[&str] = &["origin", "upstream"];

/// Usual names of branches, also of remotes.
const BRANCHES: &str = "main master develop dev trunk";

/// Options before the subcommand.
const BEFORE: &str = "--no-pager -P -p --paginate --no-optional-locks --no-replace-objects --no-lazy-fetch \
    --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --version -v";
/// Those that take the next word, though only a pattern that has them allows them.
pub(super) const BEFORE_VALUED: &str =
    "-C -c --git-dir --work-tree --namespace --config-env --super-prefix --attr-source";

/// Left out with reason: what runs a program (`interactive`, `exec`, `textconv`, `strategy`), names a file that is
/// written or a repository (`output`, `directory`, `template`, `repo`), or takes the next word where a remote could stand.
const LONGS: &str = "--abbrev --abbrev-commit --abort --after --ahead-behind --all --allow-empty \
    --allow-empty-message --allow-unrelated-histories --always --amend --ancestry-path --and --annotate --append --apply \
    --atomic --author --author-date-order --autosquash --autostash --basic-regexp --before --binary --boundary --branch \
    --branches --break-rewrites --broken --cached --candidates --cc --check --cherry --cherry-mark --cherry-pick --chmod \
    --cleanup --color --color-moved --color-words --column --combined-all-paths --commit --committer --compact-summary \
    --conflict --contains --continue --copy --count --create --create-reflog --cumulative --date --date-order --decorate \
    --decorate-refs --decorate-refs-exclude --default-prefix --delete --deleted --dense --detach --diff-algorithm \
    --diff-filter --diff-merges --dirstat --dirty --discard-changes --dry-run --email --eol --error-unmatch \
    --exact-match --exclude --exclude-standard --exit-code --extended-regexp --ff --ff-only --files-with-matches \
    --files-without-match --find-copies --find-copies-harder --find-renames --first-parent --fixed-strings --fixup \
    --follow --follow-tags --force --force-create --force-if-includes --force-rebase --force-with-lease --fork-point \
    --format --full-history --full-index --full-name --full-tree --function-context --graph --grep --group --guess --hard \
    --heads --help --histogram --ignore-all-space --ignore-blank-lines --ignore-case --ignore-cr-at-eol --ignore-date \
    --ignore-errors --ignore-missing --ignore-rev --ignore-space-at-eol --ignore-space-change --ignore-submodules \
    --ignore-unmatch --ignore-whitespace --ignored --include --include-untracked --index --intent-to-add \
    --inter-hunk-context --invert-grep --invert-match --ipv4 --ipv6 --is-ancestor --keep --keep-base --keep-empty \
    --keep-index --left-only --left-right --line-number --line-porcelain --list --long --mainline --max-count --max-depth \
    --max-parents --merge --merged --merges --message --min-parents --minimal --mixed --modified --move --name-only \
    --name-rev --name-status --not --null --numbered --numstat --object-only --octopus --oneline --only --only-matching \
    --onto --or --orphan --others --ours --overlay --parents --patch --patch-with-raw --patch-with-stat --patience \
    --perl-regexp --pickaxe-all --pickaxe-regex --points-at --porcelain --pretty --progress --prune --prune-tags --quiet \
    --quit --raw --rebase --rebase-merges --recount --recursive --reference --refs --reflog --relative --relative-date \
    --remotes --remove-empty --rename-empty --renames --renormalize --reset-author --reset-author-date --reuse-message \
    --reverse --right-only --root --set-upstream --set-upstream-to --short --shortstat --show-current --show-function \
    --show-notes --show-pulls --show-stash --signoff --simplify-by-decoration --simplify-merges --since \
    --skip --soft --sort --source --sparse --squash --stage --staged --stat --stat-count --stat-graph-width \
    --stat-name-width --stat-width --summary --symbolic --tags --text --theirs --thin --threads --topo-order --track \
    --trailer --unified --unmerged --unset-upstream --unshallow --until --untracked --untracked-files --update \
    --update-refs --use-mailmap --verbose --verify --walk-reflogs --word-diff --word-diff-regex --word-regexp --worktree \
    --ws-error-highlight";
/// Options of these whose value may have git do something else than they usually do, and the values with which they do not.
const VALUES: &[(&str, &str)] = &[("--rebase", "true false merges m")];
/// Of what can be switched off, too.
const NO_LONGS: &str = "--no-color-moved --no-commit --no-decorate --no-edit --no-ext-diff --no-ff --no-merges \
    --no-notes --no-patch --no-prefix --no-rebase --no-recurse-submodules --no-renames --no-tags --no-textconv --no-track \
    --no-verify --no-walk --no-color --no-abbrev --no-stat --no-keep-index --no-guess --no-merged --no-contains \
    --no-autostash --no-signoff --no-ahead-behind --no-commit-id";

const TABLE: &[Row] = &[
    Row { names: "status", flags: "sbvz", valued: "uM", ..ROW },
    Row {
        names: "diff show log whatchanged rev-list diff-tree diff-index diff-files range-diff",
        flags: "psuwabzRtrcmgiEFPqW",
        valued: "UBMCSGLInlX",
        ..ROW
    },
    Row { names: "shortlog", flags: "nsec", valued: "w", ..ROW },
    Row { names: "blame annotate", flags: "bclptsfnewMC", valued: "L", ..ROW },
    Row { names: "grep", flags: "aIiwvhHEGPFnlLzocqWrp", valued: "eABCm", ..ROW },
    Row {
        names: "rev-parse",
        flags: "q",
        longs: "--abbrev-ref --show-toplevel --git-dir --git-common-dir --absolute-git-dir --show-prefix --show-cdup \
            --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository \
            --symbolic-full-name --show-object-format --revs-only --no-revs --flags --no-flags --default",
        ..ROW
    },
    Row { names: "ls-files", flags: "cdmoistzukfvr", valued: "x", ..ROW },
    Row { names: "ls-tree", flags: "drltz", ..ROW },
    Row { names: "ls-remote", flags: "htq", has_remote: true, ..ROW },
    Row { names: "cat-file", flags: "tpes", ..ROW },
    Row { names: "show-ref", flags: "dsqh", ..ROW },
    Row { names: "merge-base cherry", flags: "av", ..ROW },
    Row { names: "describe for-each-ref name-rev show-branch var version write-tree merge-tree", ..ROW },
    Row { names: "help", flags: "ag", ..ROW },
    Row { names: "count-objects", flags: "vH", ..ROW },
    Row { names: "check-ignore check-attr", flags: "qvzna", ..ROW },
    Row { names: "reflog", flags: "q", valued: "n", verbs: "show list exists", ..ROW },
    Row { names: "worktree", verbs: "list", ..ROW },
    Row { names: "submodule", flags: "q", verbs: "status summary", ..ROW },
    Row { names: "remote", flags: "vnpa", verbs: "show get-url prune", ..ROW },
    Row { names: "bisect", verbs: "start good bad new old skip reset log terms", ..ROW },
    Row { names: "hash-object", flags: "w", valued: "t", longs: "--stdin", ..ROW },
    // What they change is the worktree, the index and the repository's own history.
    Row { names: "add", flags: "nvpufNA", ..ROW },
    Row { names: "commit", flags: "aqvsnoepz", valued: "mCcFuS", longs: "--file --reedit-message --edit", ..ROW },
    Row { names: "commit-tree", valued: "pmF", ..ROW },
    Row { names: "checkout", flags: "qfmltpd", valued: "bB", writes: true, taking: "-f --force -B", ..ROW },
    Row {
        names: "switch",
        flags: "qfmtd",
        valued: "cC",
        taking: "-f --force --discard-changes -C --force-create",
        ..ROW
    },
    Row { names: "restore", flags: "qWSmp", valued: "s", writes: true, ..ROW },
    Row { names: "reset", flags: "qpN", taking: "--hard --merge", ..ROW },
    // What was on a branch that is removed, or that another one takes the place of, is in no log any more.
    Row { names: "branch", flags: "vqtarlidDmMcCf", valued: "u", taking: "-D -M -C -f --force", ..ROW },
    Row { names: "tag", flags: "ladsfiv", valued: "mFun", longs: "--edit", taking: "-d --delete -f --force", ..ROW },
    Row { names: "notes", valued: "mC", verbs: "list show add append copy remove", ..ROW },
    Row { names: "merge", flags: "nqve", valued: "mSF", longs: "--edit", ..ROW },
    Row { names: "rebase", flags: "qvfnm", valued: "CS", ..ROW },
    Row { names: "cherry-pick revert", flags: "enxs", valued: "mS", longs: "--edit", ..ROW },
    Row {
        names: "stash",
        flags: "puakqS",
        valued: "m",
        verbs: "push pop apply list show drop branch save store create",
        writes: true,
        taking_verbs: "drop",
        ..ROW
    },
    Row { names: "rm", flags: "rfnq", writes: true, taking: "-f --force", ..ROW },
    Row { names: "mv", flags: "fknv", writes: true, taking: "-f --force", ..ROW },
    Row { names: "clean", flags: "ndfqxX", valued: "e", is_spelled: true, ..ROW },
    Row { names: "apply", flags: "vR3N", valued: "pC", is_spelled: true, ..ROW },
    // Tags of one's own that the other side does not have.
    Row { names: "fetch", flags: "qvaftnpPk46u", has_remote: true, taking: "-P --prune-tags", ..ROW },
    Row { names: "pull", flags: "qvnfr46kaet", longs: "--edit", has_remote: true, taking: "--prune-tags", ..ROW },
    Row {
        names: "push",
        flags: "qvnu46",
        has_remote: true,
        taking: "--force --force-with-lease --force-if-includes --delete --prune",
        ..ROW
    },
];

/// Options of `fetch` and `pull` with which what comes takes the place of what is here, or takes away what is not there.
const FORCING: &str = "-f --force -u --update-head-ok -p --prune -P --prune-tags";

/// `git config NAME`.
const SETTING: Row = Row { flags: "l", longs: "--get --get-all --show-origin --global --local --list", ..ROW };

/// `git symbolic-ref NAME`.
const SYMBOLIC: Row = Row { flags: "q", taking: "--delete", ..ROW };

const OPTION: &str = "git's options name programs, files and other repositories; this one is not known to be harmless";
const SUBCOMMAND: &str = "not one of git's subcommands that are known to run nothing";
const UNNAMED: &str = "what it writes or removes does not stand in the line";
pub(super) const TAKING: &str = "takes away what cannot be brought back";
const EDITING: &str = "the editor that it opens, and its own questions, are answered by what stands in the line";
const HIDING: &str = "a tag that is called like a branch stands for what is none";
const REMOTE: &str = "an address names the program that speaks for the other side, or a repository whose hooks run";
pub(super) const OWN_FILES: &str = "git's own files name programs";

/// The words that a pattern has to have itself.
pub(super) fn find(words: &[Word], has_input: bool) -> Vec<Hit> {
    let mut hits = Vec::new();
    let (options, at) = before(words);
    if has_input && git_editing::may_edit(words, at) {
        // No pattern has it.
        hits.push((words.len(), 1, EDITING));
    }
    for (at, text) in options.iter().filter(|(_, text)| !has(BEFORE, text)) {
        let is_attached = ["-c", "-C"].iter().any(|name| text.starts_with(name));
        hits.push((*at, if is_attached { 2 } else { named(text) }, OPTION));
    }
    let Some(name) = words.get(at) else { return hits };
    let known = row(&name.text).or_else(|| is_shown(words, at));
    if known.is_none_or(|row| row.is_spelled) && !is_rehearsal(words, at) {
        hits.push((at, name.text.len().max(1), if known.is_none() { SUBCOMMAND } else { UNNAMED }));
    }
    if name.text == "config" && known.is_none() {
        hits.extend(git_settings::find(words, at));
    }
    let row = known.unwrap_or(&ROW);
    let (start, mut is_over, mut is_first) = (at + 1, false, true);
    let fetches = matches!(name.text.as_str(), "fetch" | "pull");
    let has_any = |options: &str| words.iter().skip(start).any(|word| row.has_any(&word.text, options));
    let (is_forced, is_overwriting) = (has_any(FORCING), has_any("-f --force"));
    for (at, word) in words.iter().enumerate().skip(start) {
        let text = word.text.as_str();
        // Where a name goes that only shows when it runs may be a directory of git's.
        let is_open = !word.is_known() && name.text == "mv";
        if is_open || text.split(['/', ':', '=']).any(|part| is_own(part, row.has_remote)) {
            hits.push((at, text.len().max(1), OWN_FILES));
        }
        if (row.has_remote || known.is_none()) && text.contains("::") {
            hits.push((at, text.len(), REMOTE));
        }
        if !is_over && text.len() > 1 && text.starts_with('-') {
            is_over = ends_options(words, at);
            hits.extend(row.unknown(text).filter(|_| text != "--").map(|bytes| (at, bytes, OPTION)));
            hits.extend(row.takes(text).map(|bytes| (at, bytes, TAKING)));
            if fetches && is_overwriting && row.has_any(text, "-t --tags") {
                hits.push((at, text.len(), TAKING));
            }
        } else {
            if is_first && !row.verbs.is_empty() && (at != start || !has(row.verbs, text)) {
                hits.push((at, text.len().max(1), SUBCOMMAND));
            }
            if is_first && has(row.taking_verbs, text) {
                hits.push((at, text.len(), TAKING));
            }
            let is_remote = if name.text == "remote" { !is_first } else { is_first && row.has_remote };
            // `:x` removes x there, `+x` takes away what was in it.
            if name.text == "push" && text.starts_with([':', '+']) {
                hits.push((at, text.len(), TAKING));
            }
            let is_followed = || words.iter().skip(at + 1).any(|word| !word.text.starts_with('-'));
            if name.text == "tag" && is_branch(text) && is_followed() {
                hits.push((at, text.len(), HIDING));
            }
            if fetches && !is_first && takes_place(word, is_forced) {
                hits.push((at, text.len().max(1), TAKING));
            }
            if is_remote && !REMOTES.contains(&text) {
                hits.push((at, text.len().max(1), REMOTE));
            }
            is_first = false;
        }
    }
    hits
}

/// Whether what is fetched may take the place of a branch or a tag that is here, or take away one that is not there: by its
/// `+`, by an option, or, where the settings of the repository say that, by its mark. `x:y` alone only makes one, or leads it on.
fn takes_place(word: &Word, is_forced: bool) -> bool {
    let Some(text) = word.known() else { return true };
    let is_open = is_forced || text.starts_with('+') || text.contains('*');
    // What is there belongs to the other side.
    let is_ours = |place: &str| !place.is_empty() && !place.starts_with("refs/remotes/");
    let is_tag = text == "tag";
    is_open && (is_tag || text.split_once(':').is_some_and(|(_, place)| is_ours(place)))
}

/// A name that is usual for a branch, which is a commit: a tag may be of any object and goes before a branch, but none is
/// called so.
pub(super) fn is_branch(text: &str) -> bool {
    let name = REMOTES.iter().find_map(|remote| text.strip_prefix(remote)?.strip_prefix('/'));
    has(BRANCHES, name.unwrap_or(text))
}

/// The options before the subcommand, and where that stands.
pub(super) fn before(words: &[Word]) -> (Vec<(usize, &str)>, usize) {
    let (mut options, mut at) = (Vec::new(), 1);
    while let Some(text) = words.get(at).map(|word| word.text.as_str()).filter(|text| text.starts_with('-')) {
        options.push((at, text));
        at += 1 + usize::from(has(BEFORE_VALUED, text));
    }
    (options, at)
}

/// Whether a part of a path is a directory of git's. A remote may be called so.
fn is_own(part: &str, has_remote: bool) -> bool {
    let part = part.to_ascii_lowercase();
    part == ".git" || (!has_remote && part.strip_suffix(".git").is_some())
}

/// The row of what only shows something as long as there is no further word.
fn is_shown(words: &[Word], at: usize) -> Option<&'static Row> {
    let names = words.iter().skip(at + 1).filter(|word| !word.text.starts_with('-')).count();
    match words.get(at)?.text.as_str() {
        "symbolic-ref" if names == 1 => Some(&SYMBOLIC),
        _ => is_shown_setting(words, at).then_some(&SETTING),
    }
}

/// Whether `git config` only shows one setting: with a value behind its name it would be set.
fn is_shown_setting(words: &[Word], at: usize) -> bool {
    let arguments = words.get(at + 1..).unwrap_or_default();
    let (options, names): (Vec<&Word>, Vec<&Word>) = arguments.iter().partition(|word| word.text.starts_with('-'));
    let is_name = |word: &&Word| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        word.is_known() && word.text.contains('.') && word.text.chars().all(is_plain)
    };
    let is_config = words.get(at).is_some_and(|word| word.text == "config");
    let is_list = options.iter().any(|word| matches!(word.text.as_str(), "--list" | "-l"));
    let is_shown = match *names {
        [] => is_list,
        [name] => !is_list && is_name(&name),
        _ => false,
    };
    is_config && is_shown && options.iter().all(|word| word.text == "-l" || has(SETTING.longs, &word.text))
}

/// Whether `git clean` only says what it would remove, or `git apply` what it would change.
fn is_rehearsal(words: &[Word], at: usize) -> bool {
    if words.get(at).is_some_and(|word| word.text == "apply") {
        let has_any = |names: &str| words.iter().skip(at + 1).any(|word| has(names, &word.text));
        return words.iter().all(Word::is_known)
            && has_any("--check --stat --numstat --summary")
            && !has_any("--apply");
    }
    let mut options = words.iter().skip(at + 1).filter(|word| word.text.starts_with('-'));
    let says = |word: &&Word| word.text == "--dry-run" || !word.text.starts_with("--") && word.text.contains('n');
    let is_plain = |word: &Word| match word.text.strip_prefix('-') {
        Some("-dry-run" | "-quiet") => true,
        Some(letters) => letters.chars().all(|letter| "ndxXq".contains(letter)),
        None => false,
    };
    let is_clean = words.get(at).is_some_and(|word| word.text == "clean") && words.iter().all(Word::is_known);
    is_clean && options.clone().any(|word| says(&word)) && options.all(is_plain)
}

/// The row of a subcommand.
pub(super) fn row(name: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| has(row.names, name))
}

impl Row {
    /// How much of an option a pattern has to have; nothing of one that is known.
    fn unknown(&self, text: &str) -> Option<usize> {
        if text.starts_with("--") {
            let (typed, value) = text.split_once('=').map_or((text, None), |(typed, value)| (typed, Some(value)));
            let values = VALUES.iter().find(|(name, _)| *name == typed).zip(value);
            if values.is_some_and(|((_, known), value)| !has(known, value)) {
                return Some(text.len());
            }
            return (!has(LONGS, typed) && !has(NO_LONGS, typed) && !has(self.longs, typed)).then(|| named(text));
        }
        unknown_letter(text, self.flags, self.valued)
    }

    /// How much of an option that takes something away a pattern has to have.
    fn takes(&self, text: &str) -> Option<usize> {
        self.first_of(text, self.taking)
    }

    fn has_any(&self, text: &str, options: &str) -> bool {
        text.starts_with('-') && self.first_of(text, options).is_some()
    }

    /// How much of a word there is up to the end of the first option in it that is one of these.
    fn first_of(&self, text: &str, options: &str) -> Option<usize> {
        if text.starts_with("--") {
            return has(options, text.split('=').next().unwrap_or_default()).then(|| named(text));
        }
        // What stands behind one that takes a value is the value.
        let mut is_value = false;
        let letters = text
            .char_indices()
            .skip(1)
            .take_while(|(_, letter)| !std::mem::replace(&mut is_value, self.valued.contains(*letter)));
        let mut found = letters.filter(|(_, letter)| has(options, &format!("-{letter}")));
        found.next().map(|(at, letter)| at + letter.len_utf8())
    }
}

/// The bytes of an option's name, with the `=` after it.
fn named(text: &str) -> usize {
    text.find('=').map_or(text.len(), |end| end + 1)
}

pub(super) fn has(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|known| known == word)
}
