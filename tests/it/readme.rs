//! The README says what the program does: options, exit codes, keys, limits; and what it points to is there.

use acp_tui::review::archive::{MAX_AGE, MAX_BYTES, MAX_SESSIONS};
use acp_tui::ui::keys::{Keymap, Layer};
use std::path::Path;
use std::process::Command;

const README: &str = include_str!("../../README.md");

fn program_help() -> String {
    let out = Command::new(env!("CARGO_BIN_EXE_acp-tui")).arg("--help").output().unwrap();
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn every_option_of_the_help_is_in_the_readme() {
    let help = program_help();
    let options: Vec<&str> = help
        .split(|c: char| c.is_whitespace() || c == ',' || c == '[' || c == ']')
        .filter(|w| w.starts_with("--") && w.len() > 2)
        .collect();
    assert!(options.len() > 8, "{options:?}");
    for option in options.iter().filter(|o| !matches!(**o, "--help" | "--version")) {
        assert!(README.contains(option), "{option} is not in the README");
    }
}

#[test]
fn every_exit_code_of_the_help_is_in_the_readme() {
    let help = program_help();
    let codes = help.split("Exit codes of exec:").nth(1).unwrap().split("Configuration:").next().unwrap();
    let numbers: Vec<&str> = codes.split(|c: char| !c.is_ascii_digit()).filter(|w| !w.is_empty()).collect();
    assert_eq!(numbers, ["0", "1", "2", "3", "4", "5", "124", "129", "130", "131", "134", "141", "143"]);
    for number in numbers {
        let row = README.lines().filter_map(|l| l.strip_prefix("| ")?.split(" |").next());
        let mut words = row.flat_map(|cell| cell.split(", "));
        assert!(words.any(|w| w == number), "{number} is in no row of the README");
    }
}

#[test]
fn every_key_is_in_the_readme() {
    let mut missing = Vec::new();
    for layer in [
        Layer::Composer,
        Layer::Dock,
        Layer::Sessions,
        Layer::Review,
        Layer::Line,
        Layer::ReviewEdit,
        Layer::ReviewConfirm,
    ] {
        for row in Keymap::default().help(layer) {
            let what = row.what;
            for key in row.keys.split(", ") {
                // Plain editing keys are what everybody expects of them.
                let plain = [
                    "any text",
                    "Left",
                    "Right",
                    "Backspace",
                    "Delete",
                    "Home",
                    "End",
                    "text",
                    "Ctrl+B",
                    "Ctrl+F",
                    "Ctrl+H",
                ];
                if !plain.contains(&key) && !README.contains(key) {
                    missing.push(format!("{key}: {what}"));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn what_is_kept_of_reviews_is_as_the_readme_and_the_help_say() {
    let (gib, days) = (MAX_BYTES >> 30, MAX_AGE.as_secs() / 86_400);
    let words = format!("{MAX_SESSIONS} sessions, {gib} GiB and {days} days are kept");
    for text in [README, &program_help()] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&words), "{words}");
    }
}

#[test]
fn every_file_and_section_that_the_readme_points_to_is_there() {
    let anchors: Vec<String> = README
        .lines()
        .filter(|line| line.starts_with("##"))
        .map(|line| {
            let name = line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
            name.chars().filter(|c| c.is_alphanumeric() || *c == '-').collect()
        })
        .collect();
    let targets: Vec<&str> = README.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(targets.len() > 8, "{targets:?}");
    for target in targets.into_iter().filter(|t| !t.starts_with("https://")) {
        match target.strip_prefix('#') {
            Some(anchor) => assert!(anchors.iter().any(|a| a == anchor), "no section {anchor}: {anchors:?}"),
            None => assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(target).exists(), "no file {target}"),
        }
    }
}
