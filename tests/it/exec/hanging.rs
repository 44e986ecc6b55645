//! What an agent leaves behind for the client to hang at: pipes in the place of files, locks that are held, a repository
//! that is led elsewhere.

use super::support::{Lab, Running, git, repository, run};
use rustix::process::Signal;
use serde_json::Value;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

fn pipe(path: &Path) {
    let _ = std::fs::remove_file(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RWXU).unwrap();
}

const WRITES: &str = r#"{ do = "write", tool = "w", path = "f", text = "one\ntwo\n" }, { do = "say", text = "done" }"#;
/// Git waits for whoever opens this.
const TRAPS: &str = r#"{ do = "terminal", tool = "t", command = "mkfifo", args = [".gitattributes"] }, { do = "say", text = "done\n" }"#;
const NOT_COUNTED: &str = "what was changed in it could not be counted in time; `acp-tui worktrees merge";

#[test]
fn git_that_waits_for_ever_holds_up_no_run_in_a_worktree() {
    let lab = Lab::new();
    repository(&lab);
    let review = lab.path("review.json");
    let args = ["x", "--allow", "all", "--worktree", "--timeout", "8", "--review", review.to_str().unwrap()];
    let done = lab.exec(&args, &lab.turn(TRAPS));
    done.assert_says(0, &[NOT_COUNTED]);
    assert!(done.took < Duration::from_secs(30), "{:?}", done.took);
    assert!(review.exists());
    lab.assert_nothing_left();
    // Without a time, a signal does it.
    let mut running = lab.start(&["x", "--allow", "all", "--worktree"], &lab.turn(TRAPS));
    running.until_line("done");
    running.signal(Signal::TERM);
    let done = running.finish();
    assert!(done.err().contains(NOT_COUNTED), "{}", done.err());
    lab.assert_nothing_left();
}

#[test]
fn of_several_agents_one_that_makes_git_wait_hides_no_other() {
    let lab = Lab::new();
    repository(&lab);
    let mut config = String::new();
    for (name, steps) in [("evil", TRAPS), ("honest", WRITES)] {
        let agent = lab.script_named(name, &format!("[[turn]]\ndefault = true\nstep = [\n{steps}\n]\n"));
        config.push_str(&format!("[agents.{name}]\ncommand = {:?}\nargs = {:?}\n", agent[0], &agent[1..]));
    }
    lab.write("config/acp-tui/config.toml", &config);
    let args = ["x", "--allow", "all", "--timeout", "10", "--fan-out", "evil,honest", "--json"];
    let table: Value = serde_json::from_str(lab.exec(&args, &[]).assert_code(0).out()).unwrap();
    assert_eq!((&table["runs"][0]["changes"], &table["runs"][1]["changes"]["added"]), (&Value::Null, &1.into()));
    lab.assert_nothing_left();
}

#[test]
fn counting_leaves_nothing_in_the_repository() {
    let lab = Lab::new();
    repository(&lab);
    let objects = || {
        let mut command = lab.command("find");
        command.args([".git/objects", "-type", "f"]);
        let out = Running::start(command, Stdio::null()).finish();
        let mut all: Vec<String> = out.out().lines().map(str::to_owned).collect();
        all.sort();
        all
    };
    let before = objects();
    let steps = format!(r#"{{ do = "write", tool = "n", path = "new", text = "1\n2\n3\n" }}, {WRITES}"#);
    lab.exec(&["x", "--allow", "all", "--worktree"], &lab.turn(&steps)).assert_says(0, &["+4 −0 in 2 files"]);
    assert!(run(&lab, &["worktrees"]).assert_code(0).out().contains("+4 −0 in 2 files"));
    assert_eq!(objects(), before);
}

#[test]
fn a_lock_that_somebody_keeps_holds_up_no_prompt() {
    let lab = Lab::new();
    lab.exec(&["x", "--allow", "all"], &lab.turn(WRITES)).assert_code(0);
    let lock = std::fs::File::open(lab.path("state/acp-tui/written/prompts.lock")).unwrap();
    lock.lock().unwrap();
    lab.exec(&["y", "--allow", "all"], &lab.turn(WRITES)).assert_code(0);
}

#[test]
fn pipes_in_the_state_directory_hold_up_nothing() {
    let lab = Lab::new();
    repository(&lab);
    lab.exec(&["x", "--allow", "all", "--worktree=w"], &lab.turn(WRITES)).assert_code(0);
    lab.exec(&["x", "--allow", "all"], &lab.turn(WRITES)).assert_code(0);
    let homes = std::fs::read_dir(lab.path("state/acp-tui/worktrees")).unwrap();
    let home: PathBuf = homes.map(|entry| entry.unwrap().path()).next().unwrap();
    for name in ["x.json", ".x.json", "w.json", ".w.json", ".origin", "w.merge"] {
        pipe(&home.join(name));
    }
    pipe(&lab.path("state/acp-tui/worktrees/other-1/.origin"));
    for args in [&["sessions"][..], &["worktrees"], &["search", "x"], &["export", "last"]] {
        run(&lab, args).assert_code(0);
    }
    run(&lab, &["worktrees", "merge", "w"]).assert_code(2);
    lab.exec(&["y", "--allow", "all", "--continue", "--timeout", "60"], &[]);
    let kept = std::fs::read_dir(lab.path("state/acp-tui/review")).unwrap().map(|entry| entry.unwrap().path());
    // Locks stand beside them.
    for dir in kept.filter(|path| path.is_dir()) {
        for name in ["sessions.json", "trouble", "store/log", "store/manifest", "store/root", "store/repositories"] {
            if !dir.join(name).is_dir() {
                pipe(&dir.join(name));
            }
        }
        pipe(&dir.join("store/objects/info/alternates"));
    }
    run(&lab, &["blame", "f"]);
    run(&lab, &["review", "last"]);
    lab.assert_nothing_left();
}

#[test]
fn what_git_has_elsewhere_is_not_merged_for_a_worktree() {
    let lab = Lab::new();
    repository(&lab);
    lab.exec(&["x", "--allow", "all", "--worktree=w"], &lab.turn(WRITES)).assert_code(0);
    let listed: Value = serde_json::from_str(run(&lab, &["worktrees", "--json"]).assert_code(0).out()).unwrap();
    let path = listed["worktrees"][0]["path"].as_str().unwrap();
    let other = lab.path("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("f"), "never shown\n").unwrap();
    git(&lab, &["config", "extensions.worktreeConfig", "true"]);
    git(&lab, &["-C", path, "config", "--worktree", "core.worktree", other.to_str().unwrap()]);
    run(&lab, &["worktrees", "merge", "w"]).assert_says(2, &["somebody has changed `core.worktree`"]);
    assert_eq!(std::fs::read_to_string(lab.path("work/f")).unwrap(), "one\n");
    run(&lab, &["worktrees", "discard", "w", "--yes"]).assert_code(2);
    git(&lab, &["-C", path, "config", "--worktree", "--unset", "core.worktree"]);
    run(&lab, &["worktrees", "merge", "w"]).assert_code(0);
    assert_eq!(std::fs::read_to_string(lab.path("work/f")).unwrap(), "one\ntwo\n");
}

#[test]
fn in_a_directory_of_which_no_agent_can_be_told_nothing_is_started() {
    let lab = Lab::new();
    let dir = lab.cwd().join(OsStr::from_bytes(b"a\xff"));
    std::fs::create_dir(&dir).unwrap();
    let mut command = lab.exec_command(&["x", "--timeout", "20"], &lab.turn(WRITES));
    command.current_dir(&dir);
    Running::start(command, Stdio::null()).finish().assert_says(2, &["not UTF-8", "rename it"]);
    assert!(!lab.sessions().exists());
}
