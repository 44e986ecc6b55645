//! Programs that change the files below a directory which they are given, or run in: data.
//!
//! Knows nothing of patterns. Invariants: one that is here looks only where its words say so; a word that may be an option of
//! its is one.

use super::listed;
use crate::rules::word::Word;
use std::collections::HashMap;
use std::sync::LazyLock;

/// What a formatter does to files that it need not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rules) enum Formats {
    /// None of them is changed.
    Looks,
    /// Those below each place that it names.
    Named,
    /// Those below the directory that it runs in.
    Here,
}

struct Row {
    programs: &'static str,
    /// One of these words has to be there; nothing is needed where there are none.
    words: &'static str,
    /// Where there are any, one of these options has to be there.
    only: &'static str,
    /// With one of these it changes nothing.
    never: &'static str,
    place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Named,
    /// Its directory, where it names none.
    Default,
    Here,
}

const ROWS: &[Row] = &[
    row("black", "", "", "--check --diff", Place::Named),
    row("isort", "", "", "--check --check-only -c --diff", Place::Named),
    row("ruff", "format", "", "--check --diff", Place::Default),
    row("ruff", "check", "--fix --fix-only", "", Place::Default),
    row("prettier", "", "--write -w", "", Place::Named),
    row("eslint standard xo semistandard ts-standard stylelint", "", "--fix", "", Place::Default),
    row("gofmt goimports gofumpt golines shfmt", "", "-w --write", "", Place::Named),
    row("biome rome", "format check lint migrate", "--write --fix --apply --apply-unsafe", "", Place::Default),
    row("cargo", "fmt fix", "", "--check", Place::Here),
    row("cargo", "clippy", "--fix", "", Place::Here),
    row("go", "fmt fix generate", "", "", Place::Here),
    row("deno dprint taplo", "fmt format", "", "--check", Place::Default),
    row("terraform tofu", "fmt", "", "-check --check", Place::Default),
    row("mix", "format", "", "--check-formatted", Place::Default),
    row("dart", "format", "", "", Place::Named),
    row("dart", "fix", "--apply", "", Place::Default),
    row("zig", "fmt", "", "--check", Place::Named),
    row("buf", "format", "-w --write", "", Place::Default),
    row("nix crystal", "fmt format", "", "", Place::Default),
    row("sqlfluff php-cs-fixer", "fix format", "", "--dry-run", Place::Default),
    row("pre-commit", "run", "", "", Place::Here),
    row("treefmt phpcbf", "", "", "--fail-on-change", Place::Default),
    row("pint", "", "", "--test", Place::Default),
    row(
        "rubocop",
        "",
        "-a -A -x --autocorrect --autocorrect-all --auto-correct --auto-correct-all --fix-layout",
        "",
        Place::Default,
    ),
    row("swiftlint", "", "--fix --autocorrect", "", Place::Here),
    row("standardrb markdownlint markdownlint-cli2", "", "--fix --autocorrect -f", "", Place::Default),
    row("ktlint", "", "-F --format", "", Place::Default),
    row("swiftformat", "", "", "--lint --dryrun", Place::Named),
    row("stylua rustfmt", "", "", "--check", Place::Named),
    row(
        "clang-format autopep8 yapf autoflake docformatter ormolu fourmolu cmake-format",
        "",
        "-i --in-place",
        "",
        Place::Named,
    ),
    row("djlint", "", "--reformat", "", Place::Named),
];

const fn row(
    programs: &'static str,
    words: &'static str,
    only: &'static str,
    never: &'static str,
    place: Place,
) -> Row {
    Row { programs, words, only, never, place }
}

/// The rows of each program.
static BY_NAME: LazyLock<HashMap<&str, Vec<&Row>>> = LazyLock::new(|| {
    let mut rows: HashMap<&str, Vec<&Row>> = HashMap::new();
    for (name, row) in ROWS.iter().flat_map(|row| listed(row.programs).map(move |name| (name, row))) {
        rows.entry(name).or_default().push(row);
    }
    rows
});

/// What a program does to the files below directories; nothing where that is not known of it.
pub(super) fn formats(program: &str, words: &[Word]) -> Option<Formats> {
    let texts = || words.iter().skip(1).map(|word| word.text.as_str());
    let is_needed = |row: &&Row| row.words.is_empty() || texts().any(|text| listed(row.words).any(|word| word == text));
    let mut rows = BY_NAME.get(program)?.iter().copied().filter(is_needed).peekable();
    rows.peek()?;
    let writes = |row: &&Row| {
        let is_free = words.iter().skip(1).any(Word::could_be_option);
        let has_one = is_free || row.only.is_empty() || texts().any(|text| is_one(row.only, text));
        has_one && !texts().any(|text| listed(row.never).any(|option| option == text))
    };
    let Some(row) = rows.find(writes) else { return Some(Formats::Looks) };
    let is_here = match row.place {
        Place::Named => false,
        Place::Default => !has_place(row, words),
        Place::Here => true,
    };
    Some(if is_here { Formats::Here } else { Formats::Named })
}

/// Whether an option is one of a list: of a long one a beginning will do, a short one may stand among others.
fn is_one(list: &'static str, text: &str) -> bool {
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    let is_long = name.starts_with("--");
    listed(list).any(|option| match option.strip_prefix('-') {
        _ if name == option => true,
        Some(_) if is_long => name.len() > 2 && option.starts_with(name),
        Some(letter) => !letter.starts_with('-') && name.starts_with('-') && name.contains(letter),
        None => false,
    })
}

/// Whether a word names a place for certain: it is no option, nor the value of one, nor what the row needs.
fn has_place(row: &Row, words: &[Word]) -> bool {
    let is_free = |at: usize| words.get(at - 1).is_none_or(|before| at == 1 || !before.text.starts_with('-'));
    let mut names =
        words.iter().enumerate().skip(1).filter(|(at, word)| {
            word.is_known() && !word.text.is_empty() && !word.text.starts_with('-') && is_free(*at)
        });
    names.any(|(_, word)| !listed(row.words).any(|one| one == word.text))
}
