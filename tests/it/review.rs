//! The review from the outside: what `exec` leaves behind, and `undo`, `redo`, `review` and `sessions` after it.

use crate::exec::support::{Done, Lab, Running};
use rustix::process::Signal;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Through the client, and by a command of the client's.
const STEPS: &str = r#"
{ do = "write", tool = "w", path = "new.txt", text = "made\n" },
{ do = "terminal", tool = "t", command = "sh", args = ["-c", "printf 'two\n' >> kept.txt; rm gone.txt; printf '\\0\\1' > blob"] },
{ do = "say", text = "done" },
"#;

struct Place {
    lab: Lab,
}

impl Place {
    fn new() -> Self {
        let lab = Lab::new();
        lab.write("work/kept.txt", "one\n");
        lab.write("work/gone.txt", "bye\n");
        Self { lab }
    }

    fn run(&self, args: &[&str]) -> Done {
        let mut command = self.lab.program();
        command.args(args);
        Running::start(command, Stdio::null()).finish()
    }

    /// Lets the agent work; gives the session's id.
    fn work(&self, steps: &str) -> String {
        let done = self.lab.exec(&["go", "--allow", "all", "--json"], &self.lab.turn(steps));
        done.assert_code(0).result()["session_id"].as_str().unwrap().to_owned()
    }

    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let all = std::fs::read_dir(self.lab.cwd()).unwrap().map(|entry| entry.unwrap());
        all.map(|e| (e.file_name().into_string().unwrap(), std::fs::read(e.path()).unwrap())).collect()
    }

    fn sessions(&self) -> Vec<Value> {
        let done = self.run(&["sessions", "--all", "--json"]);
        let all: Value = serde_json::from_str(done.out()).unwrap();
        done.assert_code(if all["sessions"] == serde_json::json!([]) { 2 } else { 0 });
        all["sessions"].as_array().unwrap().clone()
    }

    fn report(&self, name: &str) -> Value {
        serde_json::from_slice(&std::fs::read(self.lab.path(name)).unwrap()).unwrap()
    }
}

fn lines(done: &Done) -> Vec<&str> {
    done.out().lines().collect()
}

#[test]
fn exec_leaves_a_report_and_a_patch_that_git_applies() {
    let place = Place::new();
    let before = place.files();
    let (report, patch) = (place.lab.path("r.json"), place.lab.path("p.patch"));
    let args = ["go", "--allow", "all", "--review", report.to_str().unwrap(), "--patch", patch.to_str().unwrap()];
    place.lab.exec(&args, &place.lab.turn(STEPS)).assert_code(0);
    let report = place.report("r.json");
    assert_eq!((&report["totals"]["files"], &report["reviewed_after"]), (&4.into(), &true.into()));
    assert_eq!(report["turns"][0]["turn"], 1);
    let file = |name: &str| report["files"].as_array().unwrap().iter().find(|f| f["path"] == name).unwrap().clone();
    assert_eq!((&file("gone.txt")["change"], &file("new.txt")["change"]), (&"deleted".into(), &"created".into()));
    assert_eq!((&file("new.txt")["causes"][0], &file("kept.txt")["causes"][0]), (&"write".into(), &"command".into()));
    assert_eq!((&file("blob")["binary"], &file("kept.txt")["binary"]), (&true.into(), &false.into()));
    let after = place.files();
    git(&place.lab.cwd(), &["apply", "-R"], &patch);
    assert_eq!(place.files(), before);
    git(&place.lab.cwd(), &["apply"], &patch);
    assert_eq!(place.files(), after);
}

fn git(dir: &Path, args: &[&str], patch: &Path) {
    let mut command = std::process::Command::new("git");
    command.current_dir(dir).args(args).arg(patch).env("GIT_CEILING_DIRECTORIES", "/");
    let status = command.status().expect("these tests need git");
    assert!(status.success(), "{}", std::fs::read_to_string(patch).unwrap());
}

#[test]
fn both_are_written_however_the_run_ends_and_the_code_stays() {
    let write = r#"{ do = "write", tool = "w", path = "new.txt", text = "made\n" },"#;
    for (end, more, code) in [
        (r#"{ do = "stop", reason = "refusal" }"#, vec![], 3),
        (r#"{ do = "die", code = 7 }"#, vec![], 5),
        (r#"{ do = "wait", ms = 600000, firm = true }"#, vec!["--timeout", "2"], 124),
    ] {
        let place = Place::new();
        let (report, patch) = (place.lab.path("r.json"), place.lab.path("p.patch"));
        let mut args = vec!["go", "--allow", "all", "--review", report.to_str().unwrap()];
        args.extend(["--patch", patch.to_str().unwrap()]);
        args.extend(more);
        place.lab.exec(&args, &place.lab.turn(&format!("{write} {end}"))).assert_code(code);
        assert_eq!(place.report("r.json")["files"][0]["path"], "new.txt", "exit code {code}");
        assert!(std::fs::read_to_string(&patch).unwrap().contains("+made\n"), "exit code {code}");
        place.run(&["undo", "last"]).assert_code(0);
        assert!(!place.files().contains_key("new.txt"), "exit code {code}");
    }
    // Nothing was ever started.
    let place = Place::new();
    let report = place.lab.path("r.json");
    place.lab.exec(&["x", "--review", report.to_str().unwrap()], &["/no/such/agent".into()]).assert_code(5);
    assert_eq!(place.report("r.json")["session_id"], Value::Null);
}

#[test]
fn what_cannot_be_written_is_said() {
    let place = Place::new();
    let done = place.lab.exec(&["x", "--review", "/no/such/dir/r.json"], &place.lab.turn(""));
    done.assert_says(2, &["--review /no/such/dir/r.json"]);
    // It was there at the start.
    std::fs::create_dir(place.lab.path("out")).unwrap();
    let file = place.lab.path("out/r.json");
    let remove =
        r#"{ do = "terminal", tool = "t", command = "rmdir", args = ["../out"] }, { do = "say", text = "gone" }"#;
    let args = ["x", "--allow", "all", "--review", file.to_str().unwrap()];
    place.lab.exec(&args, &place.lab.turn(remove)).assert_says(1, &["could not write", "r.json"]);
}

#[test]
fn undo_says_what_happens_to_each_file_and_redo_takes_it_back() {
    let place = Place::new();
    let before = place.files();
    let id = place.work(STEPS);
    let after = place.files();
    let would = place.run(&["undo", &id, "--dry-run"]);
    let wanted = ["would remove blob", "would restore gone.txt", "would restore kept.txt", "would remove new.txt"];
    assert_eq!(lines(would.assert_code(0)), wanted);
    assert_eq!(place.files(), after, "a dry run has changed something");
    let done = place.run(&["undo", &id]);
    assert_eq!(
        lines(done.assert_code(0)),
        ["removed blob", "restored gone.txt", "restored kept.txt", "removed new.txt"]
    );
    assert_eq!(place.files(), before);
    assert_eq!(place.run(&["undo", "last"]).assert_code(0).out(), "nothing to take back\n");
    assert_eq!(place.run(&["redo"]).assert_code(0).out(), "done again: what was changed from the beginning on\n");
    assert_eq!(place.files(), after);
    place.run(&["redo"]).assert_says(2, &["nothing to do again"]);
    // A beginning is enough, and there is no later turn.
    let done = place.run(&["undo", &id[..id.len() - 1], "--turn", "2"]);
    done.assert_says(2, &["the session has no turn 2, only 1"]);
    assert_eq!(place.files(), after);
}

#[test]
fn an_undo_with_nothing_to_take_back_says_how_much_it_does_not_cover() {
    let place = Place::new();
    let init = r#"{ do = "terminal", tool = "t", command = "git", args = ["init", "-q"] },"#;
    place.work(init);
    // What the files are stays as it was: only git knows another one.
    place.work(r#"{ do = "terminal", tool = "t", command = "git", args = ["add", "kept.txt"] },"#);
    let undone = place.run(&["undo", "last"]);
    undone.assert_says(0, &["not covered by an undo", "acp-tui review "]);
    assert_eq!(undone.out(), "nothing to take back\n");
}

#[test]
fn an_undo_of_what_could_not_be_looked_at_throughout_is_no_success() {
    let place = Place::new();
    let id = place.work(STEPS);
    // As the client has noted it when the disk was full.
    let mut words = b"the files could not be looked at: no space left".to_vec();
    words.resize(512, b' ');
    let mut reviews = std::fs::read_dir(place.lab.path("state/acp-tui/review")).unwrap().map(|e| e.unwrap().path());
    let trouble = reviews.find(|path| path.is_dir()).unwrap().join("trouble");
    std::fs::write(trouble, words).unwrap();
    let undone = place.run(&["undo", &id]);
    undone.assert_says(1, &["no space left"]);
    assert_eq!(lines(&undone), ["removed blob", "restored gone.txt", "restored kept.txt", "removed new.txt"]);
    assert_eq!(place.run(&["undo", &id]).assert_code(1).out(), "nothing that is known to take back\n");
}

#[test]
fn a_run_whose_head_is_gone_is_named_where_an_earlier_one_is_meant_instead() {
    let place = Place::new();
    place.work(STEPS);
    let later = place.work(r#"{ do = "write", tool = "w", path = "later.txt", text = "made\n" },"#);
    let reviews = std::fs::read_dir(place.lab.path("state/acp-tui/review")).unwrap().map(|e| e.unwrap().path());
    let is_later = |path: &PathBuf| {
        std::fs::read_to_string(path.join("sessions.json")).is_ok_and(|sessions| sessions.contains(&later))
    };
    let run = reviews.filter(|path| path.is_dir()).find(is_later).unwrap();
    std::fs::remove_file(run.join("head.json")).unwrap();
    let stem = run.file_name().unwrap().to_str().unwrap();
    let words = ["head.json in its record is gone or damaged", stem];
    place.run(&["undo", "last", "--dry-run"]).assert_says(0, &words);
    place.run(&["undo", &later]).assert_says(2, &words);
    place.run(&["review", "last"]).assert_says(0, &words);
}

#[test]
fn what_the_person_changed_stays() {
    let place = Place::new();
    let text: String = (1..=20).map(|n| format!("line {n}\n")).collect();
    place.lab.write("work/a", &text);
    place.lab.write("work/b", &text);
    let sed = r#"{ do = "terminal", tool = "t", command = "sh", args = ["-c", "sed 's/line 3$/agent/' a > x && mv x a; sed 's/line 3$/agent/' b > x && mv x b"] }, { do = "say", text = "ok" }"#;
    place.work(sed);
    let edit = |name: &str, from: &str, to: &str| {
        let old = std::fs::read_to_string(place.lab.cwd().join(name)).unwrap();
        assert!(old.contains(from), "{old}");
        place.lab.write(&format!("work/{name}"), &old.replace(from, to));
    };
    edit("a", "line 18\n", "mine\n");
    edit("b", "agent\n", "mine\n");
    let done = place.run(&["undo", "last"]);
    assert_eq!(
        lines(done.assert_code(0)),
        ["merged a (other changes stay)", "left alone b: these lines were changed since"]
    );
    let files = place.files();
    assert_eq!(String::from_utf8_lossy(&files["a"]), text.replace("line 18\n", "mine\n"));
    assert_eq!(String::from_utf8_lossy(&files["b"]), text.replace("line 3\n", "mine\n"));
}

#[test]
fn without_a_terminal_the_review_is_a_list() {
    let place = Place::new();
    place.run(&["review"]).assert_says(2, &["no sessions are kept yet"]);
    place.work(STEPS);
    let done = place.run(&["review"]);
    let said = done.assert_code(0).out();
    for part in ["in 4 files · 4 to review\n", "deleted gone.txt  +0 −1\n", "+1 −0  to review, write, turn 1\n", "blob"]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn sessions_are_listed_and_removed_but_not_while_they_are_open() {
    let place = Place::new();
    place.run(&["sessions"]).assert_says(2, &["no sessions are kept yet"]);
    let first = place.work(STEPS);
    let second =
        place.work(r#"{ do = "write", tool = "w", path = "more.txt", text = "x\n" }, { do = "say", text = "k" }"#);
    let all = place.sessions();
    let ids: Vec<&str> = all.iter().map(|s| s["session_id"].as_str().unwrap()).collect();
    assert_eq!(ids, [second.as_str(), first.as_str()]);
    assert_eq!((&all[0]["changes"]["files"], &all[1]["turns"]), (&1.into(), &1.into()));
    assert_eq!((&all[0]["state"], &all[0]["first_prompt"]), (&"ended".into(), &"go".into()));
    let table = place.run(&["sessions", "--all"]);
    assert!(table.out().contains(&first) && table.out().contains("+1 −0 in 1 file · 1 to review"), "{}", table.out());

    let reviews = std::fs::read_dir(place.lab.path("state/acp-tui/review")).unwrap().map(|e| e.unwrap().path());
    let has_second =
        |dir: &PathBuf| std::fs::read_to_string(dir.join("sessions.json")).is_ok_and(|t| t.contains(&second));
    let dir = reviews.filter(|dir| dir.is_dir()).find(has_second).unwrap();
    let lock = std::fs::File::open(dir.join("lock")).unwrap();
    lock.try_lock().unwrap();
    assert_eq!(place.sessions()[0]["state"], "open");
    for args in [
        vec!["undo", &second],
        vec!["review", &second],
        vec!["redo", &second],
        vec!["sessions", "--remove", &second, "-y"],
    ] {
        place.run(&args).assert_says(2, &["open in another acp-tui"]);
    }
    place.run(&["sessions", "--remove", "all", "-y"]).assert_says(0, &["is open in another acp-tui and stays"]);
    assert_eq!(place.sessions().len(), 1);
    lock.unlock().unwrap();
    place.run(&["sessions", "--remove", &second, "-y"]).assert_code(0);
    assert_eq!(place.sessions().len(), 0);
    assert!(place.files().contains_key("more.txt"), "the files stay as they are");
    place.run(&["undo", &second]).assert_says(2, &["no session is called"]);
    assert_eq!(
        place.run(&["sessions", "--prune"]).assert_code(0).out(),
        "removed 0 sessions, 0 B; what is kept for undo of 0 sessions, 0 B\n"
    );
}

/// SIGKILL at one point after another of an undo: every file is either as before or as after, and the next undo
/// finishes the work.
#[test]
fn a_kill_in_mid_undo_leaves_no_file_half_and_the_next_start_goes_on() {
    const FILES: usize = 48;
    let place = Place::new();
    let old = |n: usize| format!("{}\n", format!("old {n}\n").repeat(400));
    let new = |n: usize| old(n).replace("old", "new and longer");
    for n in 0..FILES {
        place.lab.write(&format!("work/f{n}"), &old(n));
    }
    place.work(
        r#"{ do = "terminal", tool = "t", command = "sh", args = ["-c", "sed -i 's/old/new and longer/' f*"] },"#,
    );
    let name = |n: usize| place.lab.cwd().join(format!("f{n}"));
    let count = |text: &dyn Fn(usize) -> String| {
        (0..FILES).filter(|n| std::fs::read_to_string(name(*n)).unwrap() == text(*n)).count()
    };
    assert_eq!(count(&new), FILES);
    let mut cut_short = 0;
    for after in [0, 1, 3, 8, 16, 24, 32, 40, FILES - 1] {
        let mut command = place.lab.program();
        command.args(["undo", "last"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Until so many files are back, or it has ended by itself.
        while count(&old) < after && child.try_wait().unwrap().is_none() {}
        child.kill().unwrap();
        child.wait().unwrap();
        let done = count(&old);
        assert_eq!(done + count(&new), FILES, "a file is neither old nor new");
        cut_short += usize::from(done < FILES);
        place.run(&["undo", "last"]).assert_code(0);
        assert_eq!(count(&old), FILES, "killed after {after}");
        // All of it again.
        place.run(&["redo", "last"]).assert_code(0);
        assert_eq!(count(&new), FILES, "one redo takes back all of it, killed after {after}");
        // The same for a redo.
        place.run(&["undo", "last"]).assert_code(0);
        let mut command = place.lab.program();
        let mut child = command.args(["redo", "last"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while count(&new) < after && child.try_wait().unwrap().is_none() {}
        child.kill().unwrap();
        child.wait().unwrap();
        if count(&new) < FILES {
            place.run(&["redo", "last"]).assert_code(0);
        }
        assert_eq!(count(&new), FILES, "killed after {after}");
    }
    assert!(cut_short > 0, "no kill came in time");
    let given = |n: &str| n.starts_with('f') || ["kept.txt", "gone.txt"].contains(&n);
    let stray: Vec<_> = place.files().into_keys().filter(|n| !given(n)).collect();
    assert!(stray.is_empty(), "a file that was being written stayed behind: {stray:?}");
}

/// SIGINT and SIGTERM in the middle of an undo and of a redo: it ends between two files and says how far it came, and
/// the same command does the rest.
#[test]
fn a_signal_ends_an_undo_between_two_files_and_the_same_command_goes_on() {
    const FILES: usize = 1500;
    let place = Place::new();
    let (old, new) = (|n: usize| format!("old {n}\n"), |n: usize| format!("new {n}\n"));
    for n in 0..FILES {
        place.lab.write(&format!("work/f{n}"), &old(n));
    }
    place.work(r#"{ do = "terminal", tool = "t", command = "sh", args = ["-c", "sed -i 's/old/new/' f*"] },"#);
    let read = |n: usize| std::fs::read_to_string(place.lab.cwd().join(format!("f{n}"))).unwrap();
    let count = |text: &dyn Fn(usize) -> String| (0..FILES).filter(|n| read(*n) == text(*n)).count();
    type Text<'a> = &'a dyn Fn(usize) -> String;
    let cases: [(&str, Signal, i32, Text, Text); 2] =
        [("undo", Signal::INT, 130, &old, &new), ("redo", Signal::TERM, 143, &new, &old)];
    for (what, signal, code, to, from) in cases {
        let back = if what == "undo" { "redo" } else { "undo" };
        let mut tries = 0..20;
        let (done, stopped) = loop {
            assert!(tries.next().is_some(), "no signal came in time");
            assert_eq!(count(from), FILES);
            let mut command = place.lab.program();
            command.args([what, "last"]);
            let running = Running::start(command, Stdio::null());
            // The first of them is done, many are not.
            while read(0) != to(0) {}
            running.signal(signal);
            let done = running.finish();
            let stopped = count(to);
            assert_eq!(stopped + count(from), FILES, "a file is neither old nor new");
            if stopped < FILES {
                break (done, stopped);
            }
            place.run(&[back, "last"]).assert_code(0);
        };
        done.assert_says(code, &["stopped: ", " of 1,500 files are done; the same command again does the rest"]);
        assert_eq!(lines(&done).len(), if what == "undo" { stopped } else { 0 });
        place.run(&[what, "last"]).assert_code(0);
        assert_eq!(count(to), FILES);
    }
    let stray = place.files().into_keys().filter(|n| n.contains("tmp")).count();
    assert_eq!(stray, 0, "a file that was being written stayed behind");
}

#[test]
fn what_the_agent_changes_at_its_start_is_in_the_report() {
    let place = Place::new();
    let report = place.lab.path("r.json");
    let mut agent: Vec<String> =
        ["sh", "-c", r#"echo early > early.txt; echo more >> a.txt; exec "$@""#, "sh"].map(str::to_owned).into();
    agent.extend(place.lab.turn(r#"{ do = "say", text = "done" },"#));
    place.lab.exec(&["go", "--allow", "all", "--review", report.to_str().unwrap()], &agent).assert_code(0);
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    let paths: Vec<&str> = report["files"].as_array().unwrap().iter().filter_map(|f| f["path"].as_str()).collect();
    assert_eq!(paths, ["a.txt", "early.txt"]);
}
