//! A session in a worktree of its own, and what becomes of it.

use super::support::{Lab, Running, git, repository, run};
use serde_json::Value;
use std::process::Stdio;

fn listed(lab: &Lab) -> Value {
    serde_json::from_str(run(lab, &["worktrees", "--json"]).assert_code(0).out()).unwrap()
}

const WRITES: &str = r#"{ do = "write", tool = "w", path = "f", text = "one\ntwo\n" }, { do = "say", text = "done" }"#;

#[test]
fn a_session_in_a_worktree_leaves_the_origin_alone_until_it_is_merged() {
    let lab = Lab::new();
    repository(&lab);
    lab.write("work/new", "untracked\n");
    let args = ["change it", "--allow", "all", "--worktree=try", "--with-changes"];
    let done = lab.exec(&args, &lab.turn(WRITES));
    done.assert_says(0, &["worktree try on branch acp-tui/try", "+1 −0 in 1 file", "worktrees merge try"]);
    let read = |name: &str| std::fs::read_to_string(lab.path("work").join(name)).unwrap();
    assert_eq!(read("f"), "one\n");
    let all = listed(&lab);
    let one = &all["worktrees"][0];
    assert_eq!(
        (&one["name"], &one["changes"]["files"], &one["changes"]["added"]),
        (&"try".into(), &1.into(), &1.into())
    );
    let path = one["path"].as_str().unwrap();
    assert!(path.starts_with(lab.path("state/acp-tui/worktrees").to_str().unwrap()), "{path}");
    // The session's changes can be looked at and decided there.
    let sessions: Value = serde_json::from_str(run(&lab, &["sessions", "--json"]).assert_code(0).out()).unwrap();
    assert_eq!(
        (&sessions["sessions"][0]["cwd"], &sessions["sessions"][0]["changes"]["pending"]),
        (&path.into(), &1.into())
    );
    assert_eq!(run(&lab, &["worktrees", "merge", "try"]).assert_code(0).out(), "merged f\n");
    assert_eq!(read("f"), "one\ntwo\n");
    assert_eq!(run(&lab, &["worktrees", "merge", "try"]).assert_code(0).out(), "nothing to merge\n");
    run(&lab, &["worktrees", "discard", "try"]).assert_says(2, &["--yes"]);
    let discarded = run(&lab, &["worktrees", "discard", "try", "--yes"]);
    assert!(discarded.assert_code(0).out().contains("refs/acp-tui/recovery/try-"), "{}", discarded.out());
    assert!(!std::path::Path::new(path).exists());
    assert_eq!(listed(&lab)["worktrees"].as_array().unwrap().len(), 0);
    // It stands where it stood, and says what to do.
    assert!(run(&lab, &["sessions"]).assert_code(0).out().contains("change it"));
    let says = ["its worktree was discarded; `git -C ", &format!("worktree add {path} refs/acp-tui/recovery/try-")];
    lab.exec(&["go on", "--continue"], &[]).assert_says(2, &says);
}

#[test]
fn a_merge_is_undone_and_done_again_and_its_lines_are_the_sessions_of_the_worktree() {
    let lab = Lab::new();
    repository(&lab);
    let done = lab.exec(&["change it", "--allow", "all", "--worktree=try", "--json"], &lab.turn(WRITES));
    let session = done.assert_code(0).result()["session_id"].as_str().unwrap().to_owned();
    let read = || std::fs::read_to_string(lab.path("work/f")).unwrap();
    run(&lab, &["worktrees", "merge", "try"]).assert_says(0, &["`acp-tui undo last` takes it back"]);
    assert_eq!(read(), "one\ntwo\n");
    let blamed: Value =
        serde_json::from_str(run(&lab, &["blame", "f:2", "--json"]).assert_code(0).out().trim()).unwrap();
    assert_eq!(
        (&blamed["session_id"], &blamed["prompt"], &blamed["cause"]),
        (&session.as_str().into(), &"change it".into(), &"write".into())
    );
    let dry = run(&lab, &["undo", "last", "--dry-run"]);
    assert!(dry.assert_code(0).out().contains(&format!("merged 1 file of worktree try (session {session}")));
    assert_eq!(read(), "one\ntwo\n");
    assert!(run(&lab, &["undo", "last"]).assert_code(0).out().starts_with("undone: merged 1 file"));
    assert_eq!(read(), "one\n");
    assert!(run(&lab, &["redo"]).assert_code(0).out().starts_with("done again: merged 1 file"));
    assert_eq!(read(), "one\ntwo\n");
    // In a review that is there already, after what its session changed: one after the other.
    let more = r#"{ do = "write", tool = "w", path = "g", text = "g\n" }, { do = "say", text = "done" }"#;
    lab.exec(&["write g", "--allow", "all"], &lab.turn(more)).assert_code(0);
    let three = WRITES.replace("two", "two\\nthree");
    lab.exec(&["once more", "--allow", "all", "--worktree=more", "--with-changes"], &lab.turn(&three)).assert_code(0);
    run(&lab, &["worktrees", "merge", "more"]).assert_code(0);
    assert_eq!(read(), "one\ntwo\nthree\n");
    run(&lab, &["undo", "last"]).assert_says(0, &["one more `undo`"]);
    assert_eq!((read().as_str(), lab.path("work/g").exists()), ("one\ntwo\n", true));
    run(&lab, &["undo", "last"]).assert_code(0);
    assert_eq!((read().as_str(), lab.path("work/g").exists()), ("one\ntwo\n", false));
}

#[test]
fn no_command_runs_what_the_repository_names() {
    let lab = Lab::new();
    repository(&lab);
    lab.write("work/.gitattributes", "* filter=x diff=x merge=x\n");
    git(&lab, &["add", "-A"]);
    git(&lab, &["commit", "-q", "-m", "attributes"]);
    let sign = lab.path("ran");
    let touches = format!("touch '{}'; cat", sign.display());
    for name in ["filter.x.clean", "filter.x.smudge", "diff.x.textconv", "diff.external", "core.fsmonitor"] {
        git(&lab, &["config", name, &touches]);
    }
    // Written by the shell: a file that this process has written may still be open in a child of another test.
    let hooks = r#"mkdir -p .git/hooks; for h in post-checkout post-index-change reference-transaction; do
        printf '#!/bin/sh\n%s\n' "$0" > .git/hooks/$h; chmod +x .git/hooks/$h; done"#;
    let mut shell = lab.command("sh");
    shell.args(["-c", hooks, &touches]);
    Running::start(shell, Stdio::null()).finish().assert_code(0);
    let patch = lab.path("patch");
    let steps = WRITES.replace(r#"path = "f""#, r#"path = "g""#);
    lab.exec(&["go", "--allow", "all", "--patch", patch.to_str().unwrap()], &lab.turn(&steps)).assert_code(0);
    lab.exec(&["go", "--allow", "all", "--worktree=try", "--with-changes"], &lab.turn(WRITES)).assert_code(0);
    for args in [
        &["worktrees"][..],
        &["worktrees", "merge", "try"],
        &["review", "last"],
        &["blame", "f:2"],
        &["undo", "last"],
        &["worktrees", "discard", "try", "--yes"],
    ] {
        run(&lab, args).assert_code(0);
        assert!(!sign.exists(), "{args:?}");
    }
    assert!(std::fs::read_to_string(patch).unwrap().contains("+two"));
    git(&lab, &["add", "-A"]);
    assert!(sign.exists(), "git by itself runs them");
}

#[test]
fn a_conflict_is_named_and_nothing_is_overwritten() {
    let lab = Lab::new();
    repository(&lab);
    lab.exec(&["change it", "--allow", "all", "--worktree"], &lab.turn(WRITES)).assert_code(0);
    lab.write("work/f", "one\nmine\n");
    let merged = run(&lab, &["worktrees", "merge", "w1"]);
    assert!(merged.assert_says(1, &["1 file left alone"]).out().contains("left alone f"), "{}", merged.out());
    assert_eq!(std::fs::read_to_string(lab.path("work/f")).unwrap(), "one\nmine\n");
}

#[test]
fn without_a_repository_or_with_a_wrong_name_no_agent_is_started() {
    let lab = Lab::new();
    let agent = lab.turn(WRITES);
    lab.exec(&["x", "--worktree"], &agent).assert_says(2, &["in no git repository"]);
    repository(&lab);
    lab.exec(&["--worktree", "two words", "x"], &agent).assert_says(2, &["is no name for a worktree"]);
    lab.exec(&["x", "--worktree", "--continue"], &agent).assert_says(2, &["leave out --worktree"]);
    run(&lab, &["worktrees", "merge", "nobody"]).assert_says(2, &["no worktree is called nobody"]);
    assert!(run(&lab, &["worktrees"]).assert_code(0).out().contains("no worktrees"));
    assert!(!lab.sessions().exists());
}

#[test]
fn one_prompt_goes_to_several_agents_each_in_a_worktree() {
    let lab = Lab::new();
    repository(&lab);
    let mut config = String::new();
    for (name, text) in [("alpha", "one\nalpha\n"), ("beta", "one\nbeta\nmore\n")] {
        // By a call of its own, and by a command, each outside of its worktree.
        let outside = lab.path("work").join(name);
        let steps = format!(
            r#"{{ do = "write", tool = "w", path = "f", text = {text:?} }},
               {{ do = "tool", id = "e", title = "Edit", kind = "edit", status = "pending", locations = [{outside:?}] }},
               {{ do = "tool_update", id = "e", status = "completed" }},
               {{ do = "terminal", tool = "t", command = "sh", args = ["-c", "echo > '{}'"] }},
               {{ do = "say", text = "done" }}"#,
            outside.display()
        );
        let agent = lab.script_named(name, &format!("[[turn]]\ndefault = true\nstep = [\n{steps}\n]\n"));
        config.push_str(&format!("[agents.{name}]\ncommand = {:?}\nargs = {:?}\n", agent[0], &agent[1..]));
    }
    lab.write("config/acp-tui/config.toml", &config);
    let args = ["change it", "--allow", "all", "--fan-out", "alpha,beta", "--json"];
    let done = lab.exec(&args, &[]);
    let table: Value = serde_json::from_str(done.assert_code(0).out()).unwrap();
    let rows: Vec<(&str, u64, &str, u64)> = table["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| {
            let text = |name: &str| run[name].as_str().unwrap();
            (text("agent"), run["exit"].as_u64().unwrap(), text("worktree"), run["changes"]["added"].as_u64().unwrap())
        })
        .collect();
    assert_eq!(rows, [("alpha", 0, "alpha-1", 1), ("beta", 0, "beta-1", 2)]);
    assert!(table["runs"][0]["session_id"].is_string());
    let seconds = table["runs"][0]["seconds"].to_string();
    assert!(seconds.split('.').nth(1).is_none_or(|digits| digits.len() <= 3), "{seconds}");
    let [alpha, beta] = ["alpha", "beta"].map(|name| lab.path("work").join(name).display().to_string());
    assert_eq!(table["runs"][0]["outside"], serde_json::json!([alpha]));
    assert_eq!(table["changed"], serde_json::json!([alpha, beta]));
    assert!(done.err().contains(&format!("beta-1 wrote outside of its worktree: {beta}")), "{}", done.err());
    assert_eq!(std::fs::read_to_string(lab.path("work/f")).unwrap(), "one\n");
    // Each has a journal and a review of its own.
    let sessions: Value =
        serde_json::from_str(run(&lab, &["sessions", "--all", "--json"]).assert_code(0).out()).unwrap();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 2);
    // One is taken; of the other what does not go with it is left alone.
    run(&lab, &["worktrees", "merge", "beta-1"]).assert_code(0);
    assert_eq!(std::fs::read_to_string(lab.path("work/f")).unwrap(), "one\nbeta\nmore\n");
    run(&lab, &["worktrees", "merge", "alpha-1"]).assert_code(1);
    lab.exec(&["x", "--fan-out", "alpha,nobody"], &[]).assert_code(2);
    // Outside of a repository it is said once why there is no worktree.
    let elsewhere = lab.path("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let done = lab.exec(&["x", "--fan-out", "alpha,beta", "-C", elsewhere.to_str().unwrap()], &[]);
    assert_eq!(done.assert_code(2).err().matches("repository").count(), 1, "{}", done.err());
    assert_eq!(listed(&lab)["worktrees"].as_array().unwrap().len(), 2);
}
