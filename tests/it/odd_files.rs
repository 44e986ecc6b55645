//! Files that are none where rules or git's own files should be: `exec` ends, writes its report and names them, and
//! what the agent did can be taken back.

use crate::exec::support::{Done, Lab, Running};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// A repository with a file that the agent will change.
fn repository() -> Lab {
    let lab = Lab::new();
    lab.write("work/kept.txt", "one\n");
    std::fs::create_dir(lab.path("work/sub")).unwrap();
    lab.write("work/sub/b.txt", "two\n");
    for args in
        [&["init", "-q"][..], &["add", "-A"], &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]]
    {
        let status = lab.command("git").args(args).status().expect("git is needed here, and is not there");
        assert!(status.success());
    }
    lab
}

fn fifo(path: &Path) {
    let _ = std::fs::remove_file(path);
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn zero(path: &Path) {
    let _ = std::fs::remove_file(path);
    std::os::unix::fs::symlink("/dev/zero", path).unwrap();
}

/// A turn in which a command changes a file, and `more` happens.
fn steps(more: &str) -> String {
    let script = format!("printf 'changed\\\\n' > kept.txt; {more}");
    format!(
        r#"{{ do = "terminal", tool = "t", command = "sh", args = ["-c", "{script}"] }}, {{ do = "say", text = "done" }},"#
    )
}

/// Runs it; the report.
fn run(lab: &Lab, more: &str) -> Value {
    let report = lab.path("r.json");
    let args = ["go", "--allow", "all", "--timeout", "60", "--review", report.to_str().unwrap()];
    lab.exec(&args, &lab.turn(&steps(more))).assert_code(0);
    serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap()
}

fn undo(lab: &Lab) -> Done {
    let mut command = lab.program();
    command.args(["undo", "last", "--yes"]);
    Running::start(command, Stdio::null()).finish()
}

fn assert_covered(lab: &Lab, report: &Value, place: &str, case: &str) {
    let paths: Vec<_> = report["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert!(paths.contains(&"kept.txt"), "{case}: {paths:?}");
    let named = report["not_covered"].as_array().unwrap();
    assert!(named.iter().any(|line| line.as_str().unwrap().starts_with(place)), "{case}: {named:?}");
    undo(lab).assert_code(0);
    assert_eq!(std::fs::read_to_string(lab.path("work/kept.txt")).unwrap(), "one\n", "{case}");
}

#[test]
fn odd_files_that_are_there_before_the_start_are_named_and_all_is_taken_back() {
    type Put = fn(&Path);
    let odd: [(&str, Put); 2] = [("fifo", fifo), ("zero", zero)];
    for place in [".gitignore", "sub/.gitignore", ".git/info/exclude", ".git/index", ".git/config"] {
        for (kind, put) in odd {
            let lab = repository();
            put(&lab.path("work").join(place));
            let report = run(&lab, "true");
            assert_covered(&lab, &report, place, &format!("{place} as {kind}"));
        }
    }
}

#[test]
fn odd_files_that_a_command_makes_are_named_and_all_is_taken_back() {
    for more in ["mkfifo sub/.gitignore", "ln -s /dev/zero sub/.gitignore"] {
        let lab = repository();
        let report = run(&lab, more);
        assert_covered(&lab, &report, "sub/.gitignore", more);
    }
}

#[test]
fn a_timeout_writes_what_is_known() {
    let lab = repository();
    let report = lab.path("r.json");
    let args = ["go", "--allow", "all", "--timeout", "3", "--review", report.to_str().unwrap()];
    let steps = format!("{} {{ do = \"wait\", ms = 600000, firm = true }},", steps("mkfifo .gitignore"));
    lab.exec(&args, &lab.turn(&steps)).assert_code(124);
    let report: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    assert_eq!(report["files"][0]["path"], "kept.txt", "{report}");
    undo(&lab).assert_code(0);
    assert_eq!(std::fs::read_to_string(lab.path("work/kept.txt")).unwrap(), "one\n");
}

#[test]
fn settings_of_git_that_are_said_to_be_nothing_are_named_nowhere() {
    let lab = repository();
    let report = lab.path("r.json");
    let args = ["go", "--allow", "all", "--timeout", "60", "--review", report.to_str().unwrap()];
    let mut command = lab.exec_command(&args, &lab.turn(&steps("true")));
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    Running::start(command, Stdio::null()).finish().assert_code(0);
    let report: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    assert_eq!(report["not_covered"], serde_json::json!([]), "{report}");
    assert_eq!(report["files"][0]["path"], "kept.txt", "{report}");
}
