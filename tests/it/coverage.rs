//! Numbers such as `R-247`, `V2-037` and `S-064` in code and in names of tests: each stands in `tests/requirements`, and
//! `tests/coverage.md`, which says which tests check which, is current.
//!
//! `ACP_TUI_UPDATE=1 cargo test --test it coverage` writes `tests/coverage.md` anew.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The requirements of one version of the protocol.
struct Family {
    /// Before a number in words, and in the name of a test.
    prefix: &'static str,
    of_tests: &'static str,
    file: &'static str,
    at_least: usize,
    owes: Owes,
}

/// Which requirements need a test, or a line in `tests/requirements/untested.md` that says why there is none.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owes {
    /// Those that are stable and must be met.
    Musts,
    All,
}

const FAMILIES: [Family; 3] = [
    Family { prefix: "R-", of_tests: "r_", file: "v1.md", at_least: 400, owes: Owes::Musts },
    Family { prefix: "V2-", of_tests: "v2_", file: "v2.md", at_least: 139, owes: Owes::All },
    Family { prefix: "S-", of_tests: "s_", file: "dialects.md", at_least: 49, owes: Owes::Musts },
];

struct Requirement {
    number: u16,
    /// Of a feature that the protocol's schema does not call unstable.
    is_stable: bool,
    is_must: bool,
    words: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn requirements(family: &Family) -> Vec<Requirement> {
    let text = std::fs::read_to_string(root().join("tests/requirements").join(family.file)).unwrap();
    let of = |line: &str| {
        let (head, words) = line.strip_prefix("- ")?.strip_prefix(family.prefix)?.split_once(": ")?;
        let (number, level) = head.split_once(' ')?;
        let (is_stable, is_must) = (!level.ends_with(" unstable"), level.starts_with("MUST"));
        Some(Requirement { number: number.parse().ok()?, is_stable, is_must, words: words.to_owned() })
    };
    text.lines().filter_map(of).collect()
}

fn sources() -> Vec<(PathBuf, String)> {
    fn below(dir: &Path, out: &mut Vec<(PathBuf, String)>) {
        for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                below(&path, out);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                out.push((path, text));
            }
        }
    }
    let mut out = Vec::new();
    for dir in ["src", "tests", "examples"] {
        below(&root().join(dir), &mut out);
    }
    out
}

/// The numbers in a text after a prefix, three digits each.
fn numbers<'a>(text: &'a str, prefix: &'a str) -> impl Iterator<Item = u16> + 'a {
    text.match_indices(prefix).filter_map(move |(at, _)| {
        let before = text[..at].chars().next_back();
        let digits: String = text[at + prefix.len()..].chars().take_while(char::is_ascii_digit).collect();
        let whole = digits.len() == 3 && before.is_none_or(|c| !c.is_ascii_alphanumeric());
        digits.parse().ok().filter(|_| whole)
    })
}

/// Names of functions that have numbers in them are names of tests; an assertion of a test names some in its message.
fn tests<'a>(text: &'a str, prefix: &'a str) -> impl Iterator<Item = (&'a str, Vec<u16>)> {
    let ends_as_test = |before: &str| {
        let last = before.rsplit_once('}').map_or(before, |(_, last)| last);
        last.contains("#[test]") || last.contains("#[tokio::test")
    };
    let mut is_test = text.split("fn ").next().is_some_and(ends_as_test);
    text.split("fn ").skip(1).filter_map(move |rest| {
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let cited = if is_test { rest } else { &rest[..end] };
        is_test = ends_as_test(rest);
        let (name, found) = (&rest[..end], numbers(cited, prefix).collect::<Vec<_>>());
        (!found.is_empty()).then_some((name, found))
    })
}

/// Why there is no test, by number.
fn reasons(family: &Family) -> BTreeMap<u16, String> {
    let text = std::fs::read_to_string(root().join("tests/requirements/untested.md")).unwrap();
    let of = |line: &str| {
        let (number, why) = line.strip_prefix("- ")?.strip_prefix(family.prefix)?.split_once(": ")?;
        Some((number.parse().ok()?, why.to_owned()))
    };
    text.lines().filter_map(of).collect()
}

fn report(family: &Family, known: &[Requirement], tests: &BTreeMap<u16, BTreeSet<String>>) -> String {
    let (prefix, file) = (family.prefix, family.file);
    let mut out = format!("\n## [requirements/{file}](requirements/{file})\n\n");
    let (reasons, owed) = (reasons(family), || known.iter().filter(|one| is_owed(family.owes, one)));
    let missing: Vec<&Requirement> = owed().filter(|one| !tests.contains_key(&one.number)).collect();
    let what = if family.owes == Owes::All { "numbers" } else { "stable MUSTs" };
    writeln!(out, "{} of {} {what} have a test.\n", owed().count() - missing.len(), owed().count()).unwrap();
    for (number, names) in tests {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        writeln!(out, "- {prefix}{number:03}: {}", names.join(", ")).unwrap();
    }
    writeln!(out, "\n### Without a test of their own\n").unwrap();
    for one in missing {
        let why = reasons.get(&one.number).map(|why| format!(" — {why}")).unwrap_or_default();
        writeln!(out, "- {prefix}{:03}: {}{why}", one.number, one.words).unwrap();
    }
    out
}

fn is_owed(owes: Owes, one: &Requirement) -> bool {
    owes == Owes::All || (one.is_stable && one.is_must)
}

#[test]
fn every_number_that_is_cited_is_in_the_list() {
    let mut unknown = Vec::new();
    for family in &FAMILIES {
        let known: BTreeSet<u16> = requirements(family).iter().map(|one| one.number).collect();
        assert!(known.len() >= family.at_least, "{}", known.len());
        for (path, text) in sources().into_iter().filter(|(path, _)| !path.ends_with("it/coverage.rs")) {
            let of_tests = tests(&text, family.of_tests).flat_map(|(_, found)| found).collect::<Vec<_>>();
            let cited = numbers(&text, family.prefix).chain(of_tests).filter(|number| !known.contains(number));
            unknown.extend(cited.map(|n| format!("{}: {}{n:03}", path.display(), family.prefix)));
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
}

#[test]
fn the_list_of_what_is_tested_is_current() {
    let mut report = "# Which tests check which requirement\n\nWritten by `ACP_TUI_UPDATE=1 cargo test --test it \
                      coverage`. What is not named here may be checked by tests that bear no number. Why there is none \
                      stands in `tests/requirements/untested.md`.\n"
        .to_owned();
    let mut without: Vec<String> = Vec::new();
    for family in &FAMILIES {
        let mut found: BTreeMap<u16, BTreeSet<String>> = BTreeMap::new();
        for (_, text) in sources().into_iter().filter(|(path, _)| !path.ends_with("it/coverage.rs")) {
            for (name, numbers) in tests(&text, family.of_tests) {
                for number in numbers {
                    found.entry(number).or_default().insert(name.to_owned());
                }
            }
        }
        let known = requirements(family);
        report.push_str(&self::report(family, &known, &found));
        let reasons = reasons(family);
        let has = |one: &&Requirement| found.contains_key(&one.number) || reasons.contains_key(&one.number);
        let owed = known.iter().filter(|one| is_owed(family.owes, one) && !has(one));
        without.extend(owed.map(|one| format!("{}{:03}", family.prefix, one.number)));
        let idle = reasons.keys().filter(|number| found.contains_key(number));
        without.extend(idle.map(|number| format!("{}{number:03} has a test and a reason why not", family.prefix)));
    }
    assert!(without.is_empty(), "neither a test nor a reason in tests/requirements/untested.md: {without:#?}");
    let file = root().join("tests/coverage.md");
    if std::env::var_os("ACP_TUI_UPDATE").is_some() {
        std::fs::write(&file, &report).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == report, "tests/coverage.md is not current: ACP_TUI_UPDATE=1 cargo test --test it coverage");
}

#[test]
fn tests_that_are_named_for_a_requirement_are_there() {
    let sources = sources();
    for (family, (number, words)) in
        FAMILIES.iter().flat_map(|family| reasons(family).into_iter().map(move |r| (family, r)))
    {
        for name in words.split('`').skip(1).step_by(2).filter(|name| name.contains('_') && !name.contains('.')) {
            let is_there = sources.iter().any(|(_, text)| text.contains(&format!("fn {name}(")));
            assert!(is_there || name.starts_with('_'), "{}{number:03}: there is no test {name}", family.prefix);
        }
    }
}

/// The numbers of robustness scenarios, and the tests in the line of each.
fn scenarios() -> BTreeMap<u16, Vec<String>> {
    let text = std::fs::read_to_string(root().join("tests/requirements/scenarios.md")).unwrap();
    let of = |line: &str| {
        let (number, rest) = line.strip_prefix("- ")?.split_once(": ")?;
        let names = rest.rsplit_once(": ")?.1.split('`').skip(1).step_by(2);
        Some((number.parse().ok()?, names.filter(|name| name.contains('_')).map(str::to_owned).collect()))
    };
    text.lines().filter_map(of).collect()
}

#[test]
fn every_scenario_has_tests_that_are_there() {
    let (known, sources) = (scenarios(), sources());
    assert_eq!(known.keys().copied().collect::<Vec<_>>(), (1..=54).collect::<Vec<u16>>());
    let is_there = |name: &str| {
        // A row of `cases!` is a test as well.
        let forms = [format!("fn {name}("), format!("    {name}: ")];
        sources.iter().any(|(_, text)| forms.iter().any(|form| text.contains(form)))
    };
    let mut wrong = Vec::new();
    for (number, names) in &known {
        wrong.extend(names.is_empty().then(|| format!("{number} has no test")));
        wrong.extend(names.iter().filter(|name| !is_there(name)).map(|name| format!("{number}: there is no {name}")));
    }
    for (_, text) in sources.iter().filter(|(path, _)| !path.ends_with("it/coverage.rs")) {
        for found in text.split("fn scenario_").skip(1) {
            let end = found.find('(').unwrap_or(found.len());
            let number = found.get(..2).and_then(|digits| digits.parse::<u16>().ok());
            let name = format!("scenario_{}", &found[..end]);
            let is_listed = number.and_then(|number| known.get(&number)).is_some_and(|names| names.contains(&name));
            wrong.extend((!is_listed).then(|| format!("{name} is not listed")));
        }
    }
    assert!(wrong.is_empty(), "tests/requirements/scenarios.md: {wrong:#?}");
}

#[test]
fn numbers_are_found_in_words_and_in_names() {
    assert_eq!(numbers("(R-031, R-1 and R-0456) xR-002 R-007.", "R-").collect::<Vec<_>>(), [31, 7]);
    let text = "#[test]\nfn r_125_r_136_the_session() {}\nfn other_12() {}\nasync fn a_r_003() {}";
    assert_eq!(
        tests(text, "r_").collect::<Vec<_>>(),
        [("r_125_r_136_the_session", vec![125, 136]), ("a_r_003", vec![3])]
    );
    let text = "#[test]\nfn said() { assert!(x, \"r_007\") }\nfn helper() { assert!(x, \"r_008\") }";
    assert_eq!(tests(text, "r_").collect::<Vec<_>>(), [("said", vec![7])]);
}
