//! What makes a harmless-looking program run or write something else: how the rows of `table` are found.
//! What is known of git stands in `git` and `git_settings`, of the scripts of sed in `sed`, of awk and databases in `queries`; `options` is about
//! programs of which nothing is known.
//!
//! Rules with a `*` do not cover these; only a pattern that has the word itself does. Knows nothing of patterns.
//! Invariant: long options are known by any beginning of theirs, as the programs themselves do.

mod addresses;
mod builds;
mod clients;
mod converters;
mod followers;
mod formatters;
mod git;
mod git_editing;
mod git_files;
mod git_settings;
mod languages;
mod linkers;
mod loaders;
mod machine;
mod options;
mod outputs;
mod packages;
mod queries;
mod readers;
mod searches;
mod sed;
mod services;
mod sign;
mod subcommands;
mod table;
mod texts;
mod tools;
mod variables;
mod writers;

use super::steering::may_steer;
use super::word::{Rest, Word};
use super::wrappers;
use builds::BUILDS;
pub(super) use clients::Client;
use converters::CONVERTERS;
pub(super) use formatters::Formats;
pub(super) use git_files::Shown;
use languages::LANGUAGES;
pub(super) use linkers::{Makes, makes};
use loaders::LOADERS;
use machine::MACHINE;
use packages::PACKAGES;
pub(super) use readers::Reads;
pub(super) use sed::{in_place, is_plain};
use services::SERVICES;
use sign::{Sign, any_of, by_name, listed};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;
use table::{STEADY, TABLE};
pub(super) use texts::{Text, texts};
use tools::TOOLS;
pub(super) use variables::is_harmless;

/// Modules of Python, and packages of JavaScript, that test and look through a project.
const MODULES: &str = "pytest unittest mypy flake8 pylint ruff black isort";
const MODULES_OF_NODE: &str = "tsc eslint prettier vitest jest mocha";
/// The same of Ruby.
const MODULES_OF_RUBY: &str = "rspec rubocop rake rails";
/// Programs that say something of others, or of words, and run none.
const SPEAKERS: &[&str] = &[
    "whereis", "whatis", "apropos", "tldr", "help", "locate", "pkill", "killall", "seq", "yes", "expr", "bc", "sum",
    "lscpu",
];
/// Programs of which rows know options and nothing more: what they do with files that they are given is not known.
const STRANGERS: &str = "prove cloc busted bats shellspec cucumber cucumber-js lcov geninfo genhtml gcovr grcov fastcov tc atlas migrate \
    mikro-orm ansible-lint ansible-vault ansible-navigator ansible-runner pandoc-lua texlua";
/// Programs of which something is known, and the words behind which stands what they run.
const STARTS: &[(&[&str], &[&str])] = &[
    (&["nyc", "c8"], &[]),
    (&["npm", "pnpm", "yarn", "bun"], &["run run-script rum urn", "env"]),
    (&["yarn"], &["env"]),
    // A package's program of that name, where the project has no script of it.
    (&["bun"], &[]),
    (&["python", "python2", "python3", "pypy", "pypy3"], &["-m"]),
    (&["npm", "pnpm", "yarn", "bun"], &["exec x dlx create"]),
    (&["git"], &["bisect", "run"]),
    (&["git"], &["submodule", "foreach"]),
    (&["git"], &["rebase", "-x --exec"]),
    (&["zig"], &["--test-cmd"]),
    (&["go"], &["-exec --exec -toolexec --toolexec"]),
    (&["sops"], &["exec-env exec-file"]),
    (&["stack", "cabal", "opam", "dune", "composer", "yarn", "tox"], &["exec"]),
    (&["docker", "podman", "nerdctl"], &["exec run"]),
    (&["docker-compose", "podman-compose"], &["exec run"]),
    (&["kubectl", "oc"], &["exec"]),
];
/// Programs that search, and the options behind which stands what they run for each file.
const FOR_EACH: &[(&[&str], &str)] =
    &[(&["find"], "-exec -execdir -ok -okdir"), (&["fd", "fdfind"], "-x -X --exec --exec-batch")];
/// What runs what a package has brought, by the word behind it.
const RUNNERS: &[(&str, &str)] =
    &[("uv", "run"), ("poetry", "run"), ("pdm", "run"), ("pipenv", "run"), ("rye", "run"), ("hatch", "run")];
/// Programs that run what the project's own files have under a name, as `npm run` and `make` do: what their words name is
/// for that.
const TASKS: &[&str] =
    &["just", "task", "go-task", "mise", "turbo", "nx", "lerna", "moon", "invoke", "inv", "gulp", "grunt"];
/// Programs of which a word that begins with `//` is a name of their own, and no path.
const LABELS: &[&str] = &["bazel", "bazelisk", "buck", "buck2", "pants", "plz", "gn"];
/// What parts a name of a file from what stands before or behind it in a word.
const SEPARATORS: &[char] = &['|', ',', ';', '[', ']', '(', ')', '\'', '"', '<', '>', '@', '='];
/// Options of all of these that load nothing, run nothing and write nowhere but where the project's own settings say: what
/// is printed, which tests run and when they end. An option that is not here has to stand in the pattern.
const HARMLESS: &str = "-q -qq -v -vv -vvv -x -s -k -m -p -rA --quiet --verbose --exitfirst --lf --last-failed --ff --failed-first --noEmit \
    --strict --check --check-only --diff --pretty --color --no-color --silent --bail --run --coverage --watch --ci --list --failfast \
    --tb=short --tb=long --tb=no --tb=line --maxfail=1 --passWithNoTests --runInBand --max-warnings=0 --ext --fix --write -t \
    --testNamePattern";

#[derive(Debug)]
pub(super) struct Row {
    pub(super) programs: &'static [&'static str],
    pub(super) signs: &'static [Sign],
    /// For readers of the table, and for the question.
    pub(super) reason: &'static str,
}

/// A word that a pattern has to have itself: where, how many bytes of it, and why.
pub(super) type Hit = (usize, usize, &'static str);

/// `has_input`: the line says what the program reads from standard input.
pub(super) fn find(program: &str, words: &[Word], has_input: bool) -> Vec<Hit> {
    if program == "git" {
        return [git::find(words, has_input), git_files::find(words)].concat();
    }
    if says_version(program, words) || only_tells(program, words) {
        return Vec::new();
    }
    if let Some(at) = stands_for(program, words) {
        let named = words.get(at..).unwrap_or_default();
        let found = named.first().map(|name| find(&name.text, named, has_input)).unwrap_or_default();
        return found.into_iter().map(|(behind, bytes, reason)| (at + behind, bytes, reason)).collect();
    }
    let mut found = Vec::new();
    for row in rows(program) {
        for sign in row.signs {
            found.extend(sign.find(words, has_input).into_iter().map(|(at, bytes)| (at, bytes, row.reason)));
        }
    }
    if is_unknown(program) && !is_of_project(words) {
        found.extend(options::find(words));
    }
    // Their values are judged as files.
    let outputs = outputs::find(program, words);
    found.retain(|(at, ..)| outputs.iter().all(|output| output.option != *at));
    found
}

/// Where the name of a module or a package stands that does what the program of that name does.
pub(super) fn stands_for(program: &str, words: &[Word]) -> Option<usize> {
    let is_one = |at: usize, names: &'static str| {
        let name = words.get(at).and_then(Word::known);
        listed(names).any(|listed| name == Some(listed)).then_some(at)
    };
    let is_inside = |word: &Word| !values(&word.text).any(|text| text.starts_with('@') || leads_out(text));
    let is_plain = |word: &Word| match word.text.strip_prefix('-') {
        // A shell may read it once more.
        None => !word.could_be_option() && is_inside(word) && !word.text.contains(['$', '`']),
        Some(_) => word.known().is_some_and(|option| listed(HARMLESS).any(|listed| listed == option)),
    };
    let module = |at: usize| is_one(at, "-m").and_then(|_| is_one(at + 1, MODULES));
    let runner = RUNNERS.iter().find(|(name, _)| *name == program);
    let at = match program {
        "npx" | "pnpx" | "bunx" => is_one(1, MODULES_OF_NODE),
        "bundle" => is_one(1, "exec").and_then(|_| is_one(2, MODULES_OF_RUBY)),
        "coverage" => is_one(1, "run").and_then(|_| module(2)),
        _ if program.starts_with("python") => module(1),
        _ => runner.and_then(|(_, run)| is_one(1, run)).and_then(|_| {
            let is_python = is_one(2, "python python3").is_some();
            if is_python { module(3) } else { is_one(2, MODULES) }
        }),
    }?;
    words.iter().skip(at + 1).all(is_plain).then_some(at)
}

/// Whether a word that is the name of a program that runs others is a subcommand of this one.
pub(super) fn is_subcommand(program: &str, words: &[Word], at: usize) -> bool {
    let has_it = ["conda", "mamba", "micromamba"].contains(&program);
    has_it && at == 1 && words.get(at).and_then(Word::known) == Some("env")
}

/// Whether an interpreter only says its version.
fn says_version(program: &str, words: &[Word]) -> bool {
    let [_, option] = words else { return false };
    let short = match program {
        "node" | "nodejs" | "bun" | "ruby" | "perl" | "php" => "-v",
        _ if program.starts_with("python") || program == "deno" => "-V",
        _ => "--version",
    };
    is_interpreter(program) && option.known().is_some_and(|text| text == "--version" || text == short)
}

/// What only tells something, of programs whose other words do more: the whole command.
const TELLING: &[(&str, &str)] = &[("psql", "-l --list --version -V"), ("tmux", "ls list-sessions -V")];
/// The same with files behind it: the first words, and which of its options need not be there.
const LOOKING: &[(&str, &[&str], &str)] = &[
    // Whether files are written as it would write them.
    ("deno", &["fmt", "--check"], "-q --quiet"),
    // Whether a file can be read as a program.
    ("node", &["--check"], ""),
    ("node", &["-c"], ""),
    // The tests of the project.
    ("node", &["--test"], ""),
];

fn only_tells(program: &str, words: &[Word]) -> bool {
    let has = |list: &'static str, word: &Word| listed(list).any(|one| word.known() == Some(one));
    let is_file = |word: &Word| word.is_known() && !word.text.starts_with('-') && !word.text.contains(':');
    let looks = |(name, needed, options): &(&str, &[&str], &'static str)| {
        let is_needed = |word: &Word| needed.iter().any(|one| word.known() == Some(one));
        let rest = words.get(1..).unwrap_or_default();
        *name == program
            && rest.first().and_then(Word::known) == needed.first().copied()
            && needed.iter().all(|one| rest.iter().any(|word| word.known() == Some(one)))
            && rest.iter().all(|word| is_needed(word) || has(options, word) || is_file(word))
    };
    let is_alone = |word: &Word| TELLING.iter().any(|(name, all)| *name == program && has(all, word));
    matches!(words, [_, word] if is_alone(word)) || LOOKING.iter().any(looks)
}

static OF_STRANGERS: LazyLock<HashSet<&str>> = LazyLock::new(|| listed(STRANGERS).collect());
static OF_STEADY: LazyLock<HashSet<&str>> = LazyLock::new(|| STEADY.iter().copied().collect());
/// Programs that only say something, or do the same in every directory, and those of the tables.
static KNOWN: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let of_tables = ROWS.keys().copied().chain(["git"]).filter(|name| !OF_STRANGERS.contains(name));
    STEADY.iter().chain(SPEAKERS).copied().chain(of_tables).collect()
});

/// Whether nothing is known of a program, so that it may run what it is given.
pub(super) fn is_unknown(program: &str) -> bool {
    !(KNOWN.contains(program)
        || is_listed(program) && !OF_STRANGERS.contains(program)
        || readers::reads(program, &[]) != Reads::Unknown
        || writers::written(program, &[]).is_some()
        || wrappers::find(program).is_some())
}

/// Whether it is known to check and format the texts of programs below a directory that it is given.
pub(super) fn is_checker(program: &str) -> bool {
    listed(MODULES).any(|name| name == program)
}

/// What a formatter does to files below directories; nothing of a program of which that is not known.
pub(super) fn formats(program: &str, words: &[Word]) -> Option<Formats> {
    formatters::formats(program, words)
}

/// How a program takes words that may name machines to connect to; nothing of one that is not known for that.
pub(super) fn client(program: &str, words: &[Word]) -> Option<Client> {
    clients::client(program, words)
}

/// Whether a word of such a program is the value of an option that is no address.
pub(super) fn is_sent(words: &[Word], at: usize) -> bool {
    clients::is_sent(words, at)
}

/// Whether git may write any file of its tree, not only those that are named.
pub(super) fn writes_tree(program: &str, words: &[Word]) -> bool {
    program == "git" && git_files::writes_tree(words)
}

/// Where the commands begin that a search runs for each file which it finds.
pub(super) fn runs_for_each(program: &str, words: &[Word]) -> Vec<usize> {
    let row = FOR_EACH.iter().find(|(programs, _)| programs.contains(&program));
    let options = row.map_or("", |(_, options)| options);
    any_of(options, words).into_iter().map(|(at, _)| at + 1).collect()
}

/// What is known of the names of files that a search gives to what it runs: the places where it looks.
pub(super) fn found(program: &str, words: &[Word]) -> Vec<Word> {
    let is_place = |word: &&Word| !word.text.starts_with(['-', '(', '!']);
    let places = words.iter().skip(1).skip_while(|word| ["-H", "-L", "-P"].contains(&&*word.text));
    let places: Vec<&Word> = places.take_while(is_place).collect();
    if program != "find" || places.is_empty() || !places.iter().all(|word| word.is_known()) {
        return vec![Word::any()];
    }
    let below = |word: &&Word| Word { text: format!("{}/", word.text), rest: Rest::Words, ..(*word).clone() };
    places.iter().map(below).collect()
}

/// `black@23`, `npm:black`, `black==23`: the program that a package brings.
pub(super) fn of_package(text: &str) -> &str {
    let text = text.strip_prefix("npm:").or_else(|| text.strip_prefix("jsr:")).unwrap_or(text);
    let end = text.find(['@', '=']).filter(|end| *end > 0).unwrap_or(text.len());
    text.get(..end).unwrap_or(text)
}

/// With those words that git itself makes names of as words that are not known.
pub(super) fn with_pathspecs<'a>(program: &str, words: Cow<'a, [Word]>) -> Cow<'a, [Word]> {
    if program != "git" || !git_files::has_pathspecs(&words) {
        return words;
    }
    words.iter().map(|word| git_files::pathspec(word).unwrap_or_else(|| word.clone())).collect::<Vec<_>>().into()
}

/// Whether it is a program of the project's own, which may do anything with its words.
pub(super) fn is_of_project(words: &[Word]) -> bool {
    let path = words.first().map_or("", |word| &word.text);
    path.contains('/') && !path.starts_with(['/', '~']) && !path.split('/').any(|part| part == "..")
}

/// Where the words begin that a program of which something is known runs: behind these words of its own.
pub(super) fn starts(program: &str, words: &[Word]) -> Option<usize> {
    let row = STARTS.iter().filter(|row| row.0.contains(&program));
    row.filter_map(|(_, before)| {
        let mut at = 0;
        for name in *before {
            let is_it = |word: &Word| listed(name).any(|one| one == word.text);
            at += 1 + words.get(at + 1..)?.iter().position(is_it)?;
        }
        Some(at + 1)
    })
    .min()
}

/// Why an option with which links are gone through has to be in a pattern.
pub(super) const FOLLOWS: &str = "goes through links, of which one may lead to any file";

/// Where the option stands with which a program goes through the links that it finds below a directory.
pub(super) fn follows(program: &str, words: &[Word]) -> Option<usize> {
    followers::option(program, words)
}

/// The files that are the values of options which only write, or build, them.
pub(super) fn outputs(program: &str, words: &[Word]) -> Vec<Written> {
    outputs::find(program, words).into_iter().map(|output| output.file).collect()
}

/// Names of remotes that a command of git has: it takes a directory of that name, where no remote is called so.
pub(super) fn remotes(words: &[Word]) -> impl Iterator<Item = &str> {
    let is_git = words.first().is_some_and(|program| program.text.rsplit('/').next() == Some("git"));
    let named = words.iter().skip(1).map(|word| word.text.as_str()).filter(|text| git::REMOTES.contains(text));
    named.filter(move |_| is_git)
}

/// The word with which git takes away what was changed in a file, where there is one of that name, and why it is asked about.
pub(super) fn taken_if_there(program: &str, words: &[Word]) -> Option<(usize, &'static str)> {
    git_files::branch_or_file(words).filter(|_| program == "git").map(|at| (at, git::TAKING))
}

/// A word that names a file which is written or removed.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) at: usize,
    /// The word, or the part of it that is the name.
    pub(super) word: Word,
    pub(super) is_certain: bool,
    /// What is put into it under its own name, where it is a directory; nothing where that is not known.
    pub(super) sources: Vec<Word>,
}

/// The names of files in a command which it writes or removes; `None` where that is not known of the program.
pub(super) fn written(program: &str, words: &[Word]) -> Option<Vec<Written>> {
    if program != "git" {
        return writers::written(program, words);
    }
    let found = git_files::written(words).into_iter();
    let named = found.filter_map(|file| {
        let git_files::Written { at, is_certain } = file;
        Some(Written { at, word: words.get(at)?.clone(), is_certain, sources: Vec::new() })
    });
    Some(named.collect())
}

/// Whether the options end at this word: a `--` behind an option may be the value of that.
pub(super) fn ends_options(words: &[Word], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| words.get(before));
    words.get(at).is_some_and(|word| word.text == "--") && !before.is_some_and(|word| may_take_next(&word.text))
}

/// Whether the next word may be the value of this one.
fn may_take_next(text: &str) -> bool {
    text.len() > 1 && text.starts_with('-') && !text.contains('=')
}

/// Whether one of its words is a program for it, which may come from standard input.
pub(super) fn is_interpreter(program: &str) -> bool {
    rows(program).any(|row| row.signs.iter().any(|sign| matches!(sign, Sign::Device)))
}

/// Whether it shows what is in files that it need not name, though it may write some too.
pub(super) fn shows_all(program: &str) -> bool {
    searches::shows_all(program)
}

/// Whether it builds, tests, puts packages in or runs tasks, and by that runs what stands in the directory.
pub(super) fn is_build(program: &str) -> bool {
    TASKS.contains(&program) || BUILDS.iter().any(|row| row.programs.contains(&program))
}

/// What a program does with the files that its words name.
pub(super) fn reads(program: &str, words: &[Word]) -> Reads {
    if program == "git" { git_files::reads(words) } else { readers::reads(program, words) }
}

/// The files of which git shows what is in them, as far as its words name those.
pub(super) fn shown_by_git<'a>(program: &str, words: &'a [Word]) -> Vec<Shown<'a>> {
    if program == "git" { git_files::shown(words) } else { Vec::new() }
}

/// Whether git shows what is in files from another directory than the one that it runs in, or of another repository.
pub(super) fn is_git_elsewhere(program: &str, words: &[Word]) -> bool {
    let shows = || git_files::reads(words) != Reads::Named || !git_files::shown(words).is_empty();
    is_git_from_elsewhere(program, words) && shows()
}

/// Whether git works from another directory than the one that it runs in, or on another repository.
pub(super) fn is_git_from_elsewhere(program: &str, words: &[Word]) -> bool {
    program == "git" && git_files::is_elsewhere(words)
}

/// Whether the program removes a link, or makes a directory, rather than what a link of that name leads to.
pub(super) fn is_remover(program: &str) -> bool {
    ["rm", "rmdir", "unlink", "mkdir"].contains(&program)
}

/// Whether the program has options that matter.
pub(super) fn is_listed(program: &str) -> bool {
    program == "git" || rows(program).next().is_some()
}

/// Whether the program does the same in every directory, but for the files that it is given.
pub(super) fn is_steady(program: &str) -> bool {
    OF_STEADY.contains(program)
}

/// Whether the program writes no file for certain, as far as its words say.
pub(super) fn only_reads(program: &str, words: &[Word]) -> bool {
    let writes = written(program, words).is_some_and(|files| !files.is_empty());
    let is_known = program != "git" && reads(program, words) != Reads::Unknown && words.iter().all(Word::is_known);
    is_known && !writes && find(program, words, false).is_empty()
}

/// How much of a bundle of short options there is up to the first that is not known.
pub(super) fn unknown_letter(text: &str, flags: &str, valued: &str) -> Option<usize> {
    for (at, letter) in text.char_indices().skip(1) {
        if valued.contains(letter) {
            return None;
        }
        if !letter.is_ascii_digit() && !flags.contains(letter) {
            return Some(at + letter.len_utf8());
        }
    }
    None
}

/// The rows of each program.
static ROWS: LazyLock<HashMap<&str, Vec<&Row>>> = LazyLock::new(|| {
    let mut rows: HashMap<&str, Vec<&Row>> = HashMap::new();
    for row in [TABLE, BUILDS, LOADERS, LANGUAGES, PACKAGES, SERVICES, CONVERTERS, TOOLS, MACHINE].into_iter().flatten()
    {
        for program in row.programs {
            rows.entry(program).or_default().push(row);
        }
    }
    rows
});

fn rows(program: &str) -> impl Iterator<Item = &'static Row> {
    // Versions: python3.12, clang-17.
    let bare = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    let of = |name: &str| ROWS.get(name).map_or(&[][..], Vec::as_slice);
    let (own, others) = (of(program), if bare == program { &[][..] } else { of(bare) });
    let is_other = |row: &&&'static Row| !own.iter().any(|one| std::ptr::eq(*one, **row));
    own.iter().chain(others.iter().filter(is_other)).copied()
}

/// Whether a shell makes names below a directory of it, none of which later commands take programs from.
pub(super) fn is_plain_glob(word: &Word) -> bool {
    let name = word.shape.rsplit('/').next().unwrap_or_default();
    word.is_glob && !word.is_free && word.is_below() && !may_steer(name)
}

/// Whether a path leads out of the directory, as far as it says so itself.
fn leads_out(text: &str) -> bool {
    text.starts_with(['/', '~']) || text.split('/').any(|part| part == "..")
}

/// A word, and what may be a value in it: behind its `=`, and behind each letter of an option of one dash.
pub(super) fn values(text: &str) -> impl Iterator<Item = &str> {
    let is_bundle = text.starts_with('-') && !text.starts_with("--");
    let end = if is_bundle { text.find('/').unwrap_or(text.len()) } else { 0 };
    let behind = text.char_indices().map(|(at, _)| at).filter(move |at| (1..end).contains(at));
    let behind = behind.filter_map(|at| text.get(at..));
    std::iter::once(text).chain(text.split_once('=').map(|(_, value)| value)).chain(behind)
}

/// A path from the root that may stand behind letters of options: `-d/etc`. Of `-Isrc/x` nobody can tell.
pub(super) fn attached(text: &str) -> Option<&str> {
    let slash = text.find('/').filter(|_| text.starts_with('-'))?;
    let are_letters = text.get(1..slash)?.bytes().all(|byte| byte.is_ascii_alphanumeric());
    text.get(slash..).filter(|_| are_letters)
}

/// What may each be the name of a file in a word, whatever else stands there: no addresses but those of files.
pub(super) fn parts(text: &str) -> impl Iterator<Item = &str> {
    let is_one =
        |piece: &str, value: &str| !piece.starts_with('-') || value.contains('/') || value.starts_with(['~', '.']);
    // What stands in a bundle of letters is one of them, where it does not look like a path.
    let pieces = text.split(SEPARATORS);
    let named =
        pieces.flat_map(move |piece| values(piece).filter(move |value| is_one(piece, value)).chain(attached(piece)));
    named.flat_map(|value| match value.split_once("://") {
        Some((scheme, path)) if scheme.ends_with("file") => path.split('\0'),
        Some(_) => "".split('\0'),
        None => value.split(':'),
    })
}

/// The same of a word that is more than one name; nothing of a plain one.
pub(super) fn more_parts(text: &str) -> impl Iterator<Item = &str> {
    let is_plain = !text.contains(SEPARATORS) && !text.contains(':');
    let text = if is_plain { "" } else { text };
    parts(text).filter(|part| !part.is_empty())
}

/// Whether a word is a name of the program's own, though it looks like a path.
pub(super) fn is_label(program: &str, text: &str) -> bool {
    text.starts_with("//") && LABELS.contains(&program)
}

/// Whether it runs what stands in the directory, or what it is given, whatever its other words say: what those are for is
/// not its own.
pub(super) fn runs_others(program: &str) -> bool {
    is_build(program) || is_interpreter(program)
}
