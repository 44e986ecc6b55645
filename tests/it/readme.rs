//! README and manual (`docs/`) say what the program does: options, exit codes, keys, limits; and what they point to is there.

use acp_tui::review::archive::{MAX_AGE, MAX_BYTES, MAX_SESSIONS};
use acp_tui::ui::keys::{Keymap, Layer};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The README and each page of the manual: the path below the top of the repository, and the text.
fn pages() -> Vec<(PathBuf, String)> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let docs = std::fs::read_dir(top.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = docs.chain([top.join("README.md")]).collect();
    paths.sort();
    paths
        .into_iter()
        .map(|path| (path.strip_prefix(top).unwrap().into(), std::fs::read_to_string(&path).unwrap()))
        .collect()
}

fn manual() -> String {
    pages().into_iter().map(|(_, text)| text + "\n").collect()
}

fn program_help() -> String {
    let out = Command::new(env!("CARGO_BIN_EXE_acp-tui")).arg("--help").output().unwrap();
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn every_option_of_the_help_is_in_the_manual() {
    let help = program_help();
    let options: Vec<&str> = help
        .split(|c: char| c.is_whitespace() || c == ',' || c == '[' || c == ']')
        .filter(|w| w.starts_with("--") && w.len() > 2)
        .collect();
    assert!(options.len() > 8, "{options:?}");
    let manual = manual();
    for option in options.iter().filter(|o| !matches!(**o, "--help" | "--version")) {
        assert!(manual.contains(option), "{option} is not in the manual");
    }
}

#[test]
fn every_exit_code_of_the_help_is_in_the_manual() {
    let help = program_help();
    let codes = help.split("Exit codes of exec:").nth(1).unwrap().split("Configuration:").next().unwrap();
    let numbers: Vec<&str> = codes.split(|c: char| !c.is_ascii_digit()).filter(|w| !w.is_empty()).collect();
    assert_eq!(numbers, ["0", "1", "2", "3", "4", "5", "124", "129", "130", "131", "134", "141", "143"]);
    let manual = manual();
    for number in numbers {
        let row = manual.lines().filter_map(|l| l.strip_prefix("| ")?.split(" |").next());
        let mut words = row.flat_map(|cell| cell.split(", "));
        assert!(words.any(|w| w == number), "{number} is in no row of the manual");
    }
}

#[test]
fn every_key_is_in_the_manual() {
    let mut missing = Vec::new();
    let manual = manual();
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
                if !plain.contains(&key) && !manual.contains(key) {
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
    for text in [manual(), program_help()] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&words), "{words}");
    }
}

/// The names by which the headings of a page are pointed to.
fn anchors(page: &str) -> Vec<String> {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let name = line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
            name.chars().filter(|c| c.is_alphanumeric() || *c == '-').collect()
        })
        .collect()
}

/// Where pictures are taken from.
fn sources(text: &str) -> impl Iterator<Item = &str> {
    let after = |name: &'static str| text.split(name).skip(1).filter_map(|rest| rest.split('"').next());
    after(" src=\"").chain(after(" srcset=\""))
}

#[test]
fn every_picture_is_shown_on_its_ground_and_none_is_left_over() {
    let pages = pages();
    let shown: Vec<&str> = pages.iter().flat_map(|(_, text)| sources(text)).collect();
    let names: Vec<&str> = shown.iter().filter_map(|path| path.rsplit('/').next()).collect();
    assert!(names.len() > 10, "{names:?}");
    let pictures = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/pictures")).unwrap();
    for name in pictures.map(|file| file.unwrap().file_name().into_string().unwrap()) {
        assert!(names.contains(&name.as_str()), "{name} is shown nowhere");
        let dark = name.replace("-light.svg", ".svg");
        let light = dark.replace(".svg", "-light.svg");
        assert!(
            names.contains(&dark.as_str()) && names.contains(&light.as_str()),
            "{name} is there on one ground only"
        );
    }
}

#[test]
fn every_file_and_section_that_the_manual_points_to_is_there() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seen = 0;
    for (path, text) in pages() {
        let folder = top.join(&path).parent().unwrap().to_path_buf();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in links.chain(sources(&text)).filter(|t| !t.starts_with("https://")) {
            seen += 1;
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { top.join(&path) } else { folder.join(file) };
            assert!(file.exists(), "{}: no file {target}", path.display());
            let there = || anchors(&std::fs::read_to_string(&file).unwrap());
            assert!(
                anchor.is_empty() || there().iter().any(|a| a == anchor),
                "{}: no section {target}",
                path.display()
            );
        }
    }
    assert!(seen > 40, "{seen}");
}

#[test]
fn the_readme_points_to_each_page_of_the_manual() {
    let pages = pages();
    let readme = &pages.iter().find(|(path, _)| path == Path::new("README.md")).unwrap().1;
    for (path, _) in &pages {
        let link = format!("]({})", path.display());
        assert!(path == Path::new("README.md") || readme.contains(&link), "{link} is not in the README");
    }
}
