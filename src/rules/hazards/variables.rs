//! Variables that may be set for a command without a rule for them: data, each row with its reason.
//!
//! Invariant: none names a program that does more than show, a file, a directory or options; a value is one plain word.

/// Names, the values that they may have where only those are harmless, and why.
const TABLE: &[(&[&str], &[&str], &str)] = &[
    (&["RUST_BACKTRACE", "RUST_LIB_BACKTRACE"], &["0", "1", "full"], "how much of the stack is printed at a panic"),
    (
        &["NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CARGO_TERM_COLOR", "PY_COLORS"],
        &["0", "1", "2", "3", "auto", "always", "never"],
        "whether what is printed has colours",
    ),
    (&["RUST_LOG"], &[], "what is printed to the log"),
    (&["CI"], &["0", "1", "true", "false"], "that nobody looks on: what is printed, and that nothing is asked"),
    (&["RUST_TEST_THREADS", "PROPTEST_CASES", "QUICKCHECK_TESTS"], &[], "how many tests run, and beside each other"),
    (&["COLUMNS", "LINES"], &[], "how wide what is printed is"),
    (
        &["NODE_ENV", "RAILS_ENV", "RACK_ENV", "MIX_ENV", "APP_ENV"],
        // Not what is in use, with a database behind it.
        &["test", "development"],
        "which settings of the project hold",
    ),
    (&["PAGER", "GIT_PAGER", "MANPAGER", "GH_PAGER"], &["cat"], "that what is shown goes by at once"),
    (&["LC_ALL", "LANG"], &["C", "C.UTF-8", "POSIX", "en_US.UTF-8"], "the language of what is printed"),
    (&["TZ"], &["UTC"], "how times are printed"),
    (&["PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "GIT_TERMINAL_PROMPT"], &["0", "1"], "how a program runs"),
    (&["CGO_ENABLED"], &["0"], "that no compiler of C is run"),
];
/// Characters of a value, beside letters and digits.
const PLAIN: &str = "_.,:=-";

/// Whether `NAME=VALUE` is harmless.
pub(in crate::rules) fn is_harmless(setting: &str) -> bool {
    let Some((name, value)) = setting.split_once('=') else { return false };
    let is_plain = !value.is_empty() && value.chars().all(|c| c.is_ascii_alphanumeric() || PLAIN.contains(c));
    let row = TABLE.iter().find(|(names, ..)| names.contains(&name));
    is_plain && row.is_some_and(|(_, values, _)| values.is_empty() || values.contains(&value))
}
