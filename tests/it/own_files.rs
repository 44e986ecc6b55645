//! The program started in the directory that holds its own state, and with its own files in the tree.

use crate::exec::support::{Done, Lab, Running};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const STATE: &str = ".local/state/acp-tui";

/// Three files changed by one command.
const COMMAND: &str = r#"{ do = "terminal", tool = "t", command = "sh", args = ["-c", "for i in 1 2 3; do echo changed >> f$i; done"] },"#;

struct Place {
    lab: Lab,
}

impl Place {
    fn new() -> Self {
        let lab = Lab::new();
        for name in ["f1", "f2", "f3"] {
            lab.write(&format!("work/{name}"), &format!("{name} of the person\n"));
        }
        Self { lab }
    }

    /// At home in the directory of the session, and nothing says where the state belongs.
    fn at_home(&self, mut command: Command) -> Done {
        command.env("HOME", self.lab.cwd()).env_remove("XDG_STATE_HOME");
        Running::start(command, Stdio::null()).finish()
    }

    fn run(&self, args: &[&str]) -> Done {
        let mut command = self.lab.program();
        command.args(args);
        self.at_home(command)
    }

    fn exec(&self, steps: &str, more: &[&str]) -> Done {
        let args = [&["go", "--allow", "all", "--json"], more].concat();
        self.at_home(self.lab.exec_command(&args, &self.lab.turn(steps)))
    }

    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        ["f1", "f2", "f3"].map(|name| (name.into(), std::fs::read(self.lab.cwd().join(name)).unwrap())).into()
    }

    /// What is kept of the session, apart from what an undo is to write; to the history of prompts each run adds its own.
    fn kept(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut all = BTreeMap::new();
        let mut open = vec![self.lab.cwd().join(STATE)];
        while let Some(dir) = open.pop() {
            for path in std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
                let is_pack = path.extension().is_some_and(|e| e == "pack" || e == "idx" || e == "jsonl");
                if path.is_dir() {
                    open.push(path);
                } else if is_pack && !["ledger.jsonl", "prompts.jsonl"].iter().any(|name| path.ends_with(name)) {
                    all.insert(path.clone(), std::fs::read(path).unwrap());
                }
            }
        }
        all
    }

    fn report(file: &Path) -> (Vec<String>, Vec<String>) {
        let report: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let words = |value: &Value| value.as_str().unwrap().to_owned();
        let files = report["files"].as_array().unwrap().iter().map(|file| words(&file["path"])).collect();
        (files, report["not_covered"].as_array().unwrap().iter().map(words).collect())
    }
}

#[test]
fn at_home_in_the_sessions_directory_undo_and_redo_are_exact_and_touch_no_state() {
    let place = Place::new();
    let before = place.files();
    let out = place.lab.path("r.json");
    place.exec(COMMAND, &["--review", out.to_str().unwrap()]).assert_code(0);
    let changed = place.files();
    assert_ne!(changed, before);
    let (files, not_covered) = Place::report(&out);
    assert_eq!(files, ["f1", "f2", "f3"]);
    assert!(not_covered.len() == 1 && not_covered[0].contains(STATE), "{not_covered:?}");
    let kept = place.kept();
    for (want, args) in [(&before, ["undo", "last"]), (&changed, ["redo", "last"]), (&before, ["undo", "last"])] {
        let done = place.run(&args);
        done.assert_code(0);
        assert!(!done.out().contains(".local"), "{}", done.out());
        assert!(!done.out().contains("not kept"), "{}", done.out());
        assert_eq!(place.files(), *want, "{args:?}");
        let now = place.kept();
        assert!(kept.iter().all(|(path, bytes)| now.get(path) == Some(bytes)), "{args:?} changed what is kept");
    }
}

#[test]
fn an_agent_can_neither_read_nor_write_what_is_kept_of_a_session() {
    let place = Place::new();
    place.exec(COMMAND, &[]).assert_code(0);
    let kept = place.kept();
    let ledger = kept.keys().next().unwrap().parent().unwrap().join("forged");
    let journal = kept.keys().find(|path| path.extension().is_some_and(|e| e == "jsonl")).unwrap();
    std::os::unix::fs::symlink(place.lab.cwd().join(STATE), place.lab.cwd().join("door")).unwrap();
    let through = place.lab.cwd().join("door/sessions").join(journal.file_name().unwrap());
    for path in [&ledger, journal, &through] {
        let path = path.to_str().unwrap();
        let steps = format!(
            r#"{{ do = "request", method = "fs/write_text_file", params = {{ sessionId = "{{session}}", path = "{path}", content = "forged" }} }},
            {{ do = "request", method = "fs/read_text_file", params = {{ sessionId = "{{session}}", path = "{path}" }} }},"#
        );
        let done = place.exec(&steps, &[]);
        done.assert_code(0);
        let refused =
            done.out().lines().filter(|line| line.contains(r#""type":"file""#) && line.contains("acp-tui itself"));
        assert_eq!(refused.count(), 2, "{}", done.out());
    }
    assert!(!ledger.exists());
    assert!(kept.iter().all(|(path, bytes)| std::fs::read(path).unwrap() == *bytes));
}

#[test]
fn the_files_of_the_options_are_not_the_agents_work() {
    let place = Place::new();
    for name in ["rec", "r.json", "p.patch"] {
        place.lab.write(&format!("work/{name}"), "the person's\n");
    }
    let write = |name: &str| {
        format!(
            r#"{{ do = "request", method = "fs/write_text_file", params = {{ sessionId = "{{session}}", path = "{{cwd}}/{name}", content = "forged" }} }},"#
        )
    };
    let steps = [COMMAND.to_owned(), write("rec"), write("r.json"), write("p.patch")].concat();
    // Relative to where the program is started.
    place.exec(&steps, &["--record", "rec", "--review", "./r.json", "--patch", "../work/p.patch"]).assert_code(0);
    let at = |name: &str| place.lab.cwd().join(name);
    let (files, not_covered) = Place::report(&at("r.json"));
    assert_eq!(files, ["f1", "f2", "f3"]);
    assert!(not_covered.len() == 1 && not_covered[0].contains("r.json"), "{not_covered:?}");
    let patch = std::fs::read_to_string(at("p.patch")).unwrap();
    assert!(patch.contains("f1") && !patch.contains("r.json") && !patch.contains("rec"), "{patch}");
    let out = ["rec", "r.json", "p.patch"].map(|name| std::fs::read(at(name)).unwrap());
    let undone = place.run(&["undo", "last"]);
    undone.assert_code(0);
    assert_eq!(undone.out().lines().count(), 3, "{}", undone.out());
    assert_eq!(["rec", "r.json", "p.patch"].map(|name| std::fs::read(at(name)).unwrap()), out);
}

#[test]
fn a_state_directory_that_is_a_link_into_the_tree_is_the_same() {
    let place = Place::new();
    std::fs::create_dir_all(place.lab.cwd().join("st")).unwrap();
    std::os::unix::fs::symlink(place.lab.cwd().join("st"), place.lab.path("door")).unwrap();
    let out = place.lab.path("r.json");
    let started = |mut command: Command| {
        command.env("XDG_STATE_HOME", place.lab.path("door"));
        Running::start(command, Stdio::null()).finish()
    };
    let args = ["go", "--allow", "all", "--review", out.to_str().unwrap()];
    started(place.lab.exec_command(&args, &place.lab.turn(COMMAND))).assert_code(0);
    assert!(place.lab.cwd().join("st/acp-tui/review").is_dir());
    let (files, not_covered) = Place::report(&out);
    assert_eq!(files, ["f1", "f2", "f3"]);
    assert!(not_covered.len() == 1 && not_covered[0].contains("st/acp-tui/review"), "{not_covered:?}");
}
