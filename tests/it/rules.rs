//! `acp-tui rules`: what scripts rely on, output and exit codes.

use acp_tui::engine::rule_files;
use std::path::Path;
use std::process::{Command, Output};

fn rules(home: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_acp-tui"));
    command.arg("rules").args(words).current_dir(home);
    command.env("HOME", home).env_remove("XDG_CONFIG_HOME").env_remove("XDG_STATE_HOME");
    command.output().unwrap()
}

fn said(output: &Output) -> (i32, String) {
    (output.status.code().unwrap(), String::from_utf8(output.stdout.clone()).unwrap())
}

#[test]
fn rules_test_prints_verdict_and_rule_and_its_exit_code_says_the_same() {
    let temp = tempfile::tempdir().unwrap();
    let home = temp.path();
    let text = "allow = [\"Bash(git *)\", \"Edit(src/**)\"]\ndeny = [{ pattern = \"Bash(rm *)\", reason = \"no\" }]\n\
                [agent.one]\nallow = [\"Bash(make)\"]\n";
    std::fs::write(home.join("r.toml"), text).unwrap();
    let test = |words: &[&str]| said(&rules(home, &[&["test", "--rules", "r.toml"], words].concat()));
    assert_eq!(test(&["Bash", "git status"]), (0, "allow Bash(git *) (r.toml:1)\n".to_owned()));
    assert_eq!(
        test(&["Bash", "git status > src/a"]),
        (0, "allow Edit(src/**) (r.toml:1), Bash(git *) (r.toml:1)\n".to_owned())
    );
    assert_eq!(test(&["Bash", "git status; rm x"]), (1, "deny Bash(rm *) (r.toml:2): no\n".to_owned()));
    assert_eq!(test(&["Bash", "git status; ls"]), (3, "ask\n".to_owned()));
    assert_eq!(test(&["Bash", "make"]), (3, "ask\n".to_owned()));
    assert_eq!(test(&["--agent", "one", "Bash", "make"]).0, 0);
    assert_eq!(test(&["--agent", "two", "Bash", "make"]).0, 3, "a rule of another agent is not for it");
    std::fs::create_dir_all(home.join(".config/acp-tui")).unwrap();
    let config = "[agents.one]\ncommand = \"sh\"\n[agents.two]\ncommand = \"ls\"\n";
    std::fs::write(home.join(".config/acp-tui/config.toml"), config).unwrap();
    assert_eq!(test(&["--agent", "one", "Bash", "make"]).0, 0, "one that is configured");
    assert_eq!(test(&["--agent", "two", "Bash", "make"]).0, 3);
    assert_eq!(test(&["Edit", "src/a"]).0, 0);
    assert_eq!(test(&["--cwd", "/", "Edit", "src/a"]).0, 0);
    assert_eq!(test(&["Edit", "/src/a"]).0, 3);
    for (line, code, wanted) in [
        ("git log x", 0, serde_json::json!({ "verdict": "allow", "rule": "Bash(git *)" })),
        ("ls", 3, serde_json::json!({ "verdict": "ask", "rule": null })),
        (
            "git log > src/a",
            0,
            serde_json::json!({ "verdict": "allow", "rule": "Edit(src/**)", "also": ["Bash(git *)"] }),
        ),
    ] {
        let (given, json) = test(&["--json", "Bash", line]);
        assert_eq!((given, serde_json::from_str::<serde_json::Value>(&json).unwrap()), (code, wanted));
    }
}

#[test]
fn a_rules_file_that_is_missing_or_none_and_a_wrong_word_are_usage() {
    let temp = tempfile::tempdir().unwrap();
    let home = temp.path();
    std::fs::write(home.join("r.toml"), "allow = []\ndeny = 1\n").unwrap();
    let wrong = rules(home, &["test", "--rules", "r.toml", "Bash", "ls"]);
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("r.toml:2: "), "{wrong:?}");
    assert_eq!(said(&wrong), (2, String::new()));
    for words in [
        &["test", "--rules", "none.toml", "Bash", "ls"][..],
        &["test", "Bash"],
        &["test", "B(sh", "ls"],
        &["add", "allow", "Bash(git"],
        &["add", "sometimes", "Bash(git *)"],
        &["list", "--agent", "one"],
        &["what"],
        &[],
    ] {
        assert_eq!(said(&rules(home, words)).0, 2, "{words:?}");
    }
    std::fs::write(home.join("r.toml"), "alow = []\ndeny = [\"Edit(../x)\"]\nallow = [\"Edit\", \"Bash(ls)\"]\n")
        .unwrap();
    let asked = rules(home, &["test", "--rules", "r.toml", "Edit", "a"]);
    let words = String::from_utf8_lossy(&asked.stderr);
    assert!(words.contains("r.toml:1: unknown key \"alow\"") && words.contains("r.toml:2: "), "{words}");
    assert_eq!(said(&asked), (3, "ask\n".to_owned()));
    assert_eq!(said(&rules(home, &["test", "--rules", "r.toml", "Bash", "ls"])).0, 0);
}

#[test]
fn a_rule_that_is_added_is_listed_and_decides_until_it_is_removed() {
    let temp = tempfile::tempdir().unwrap();
    let home = temp.path();
    assert_eq!(said(&rules(home, &["list"])), (0, String::new()));
    let file = home.join(".config/acp-tui/rules.toml");
    let told = |done: &str| (0, format!("{done} {}\n", file.display()));
    assert_eq!(said(&rules(home, &["add", "allow", "Bash(git *)"])), told("added allow Bash(git *) to"));
    let of_one = said(&rules(home, &["add", "deny", "Bash(git push *)", "--agent", "one"]));
    assert_eq!(of_one, told("added deny Bash(git push *) of agent one to"));
    assert_eq!(said(&rules(home, &["add", "allow", "Bash(git *)"])).0, 2);
    let (code, list) = said(&rules(home, &["list"]));
    assert!(code == 0 && list.contains("allow Bash(git *) (") && list.contains("of agent one)"), "{list}");
    assert_eq!(said(&rules(home, &["test", "Bash", "git push"])).0, 0);
    assert_eq!(said(&rules(home, &["test", "--agent", "one", "Bash", "git push"])).0, 1);
    assert_eq!(said(&rules(home, &["remove", "allow", "Bash(git *)"])).0, 0);
    assert_eq!(said(&rules(home, &["remove", "allow", "Bash(git *)"])).0, 2);
    assert_eq!(said(&rules(home, &["test", "Bash", "git push"])).0, 3);
    let (_, json) = said(&rules(home, &["list", "--json"]));
    assert_eq!(json.lines().count(), 1);
    let row: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((row["list"].as_str(), row["agent"].as_str()), (Some("deny"), Some("one")));
    let of_one = said(&rules(home, &["remove", "deny", "Bash(git push *)", "--agent", "one"]));
    assert_eq!(of_one, told("removed deny Bash(git push *) of agent one from"));
    let left = std::fs::read_to_string(&file).unwrap();
    assert!(!left.contains('[') && !left.contains("allow") && !left.contains("deny"), "{left}");
}

#[test]
fn a_rule_is_removed_from_the_list_and_the_agent_that_are_named_and_from_no_other() {
    let temp = tempfile::tempdir().unwrap();
    let home = temp.path();
    let file = home.join(".config/acp-tui/rules.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let text = "# mine\nallow = [\"Bash(ls)\"] # often\ndeny = [\"Bash(ls)\"]\n[agent.one]\nallow = [\"Bash(ls)\", \"Read\"]\n";
    std::fs::write(&file, text).unwrap();
    let now = || std::fs::read_to_string(&file).unwrap();
    assert_eq!(said(&rules(home, &["remove", "allow", "Bash(ls)", "--agent", "two"])).0, 2);
    assert_eq!(said(&rules(home, &["remove", "ask", "Bash(ls)"])).0, 2);
    assert_eq!(now(), text);
    assert_eq!(said(&rules(home, &["remove", "allow", "Bash(ls)", "--agent", "one"])).0, 0);
    let once = text.replace("\"Bash(ls)\", \"Read\"", "\"Read\"");
    assert_eq!(now(), once);
    assert_eq!(said(&rules(home, &["remove", "deny", "Bash(ls)"])).0, 0);
    assert_eq!(now(), once.replace("deny = [\"Bash(ls)\"]", "deny = []"));
    assert_eq!(said(&rules(home, &["test", "Bash", "ls"])).0, 0);
}

#[test]
fn files_of_rules_that_cannot_be_read_are_usage_and_are_named() {
    let temp = tempfile::tempdir().unwrap();
    let home = temp.path();
    let own = home.join(".config/acp-tui/rules.toml");
    for file in [own, home.join(".acp-tui/rules.toml")] {
        std::fs::create_dir_all(&file).unwrap();
        for words in [&["test", "Bash", "ls"][..], &["list"]] {
            let out = rules(home, words);
            let words = String::from_utf8_lossy(&out.stderr).into_owned();
            assert_eq!(said(&out), (2, String::new()), "{}", file.display());
            assert!(words.contains("rules.toml: "), "{words}");
        }
        std::fs::remove_dir(&file).unwrap();
        assert_eq!(said(&rules(home, &["test", "Bash", "ls"])), (3, "ask\n".to_owned()));
    }
    let named = rules(home, &["test", "--rules", ".acp-tui", "Bash", "ls"]);
    assert!(String::from_utf8_lossy(&named.stderr).contains(".acp-tui: "), "{named:?}");
    assert_eq!(said(&named), (2, String::new()));
}

/// S-106: those of questions are in a file of their directory.
#[test]
fn a_rule_of_a_directory_is_removed_there_and_one_that_is_elsewhere_is_named() {
    let temp = tempfile::tempdir().unwrap();
    let home = &temp.path().canonicalize().unwrap();
    let made = home.join(".local/state/acp-tui/rules");
    let (here, other) = (home.join("here"), home.join("other"));
    for dir in [&made, &here, &other] {
        std::fs::create_dir_all(dir).unwrap();
    }
    for dir in [&here, &other] {
        let text = format!("{}allow = [\"Bash(git *)\"]\n", rule_files::heading(dir));
        std::fs::write(rule_files::of_directory(&made, dir), text).unwrap();
    }
    let file = |dir: &Path| rule_files::of_directory(&made, dir).display().to_string();
    let remove = |words: &[&str]| rules(home, &[&["remove", "allow", "Bash(git *)"], words].concat());
    let (code, list) = said(&rules(home, &["list", "-C", "here"]));
    assert!(code == 0 && list.contains(&file(&here)), "{list}");
    let nowhere = remove(&[]);
    let words = String::from_utf8_lossy(&nowhere.stderr).into_owned();
    assert_eq!(said(&nowhere), (2, String::new()));
    assert!(
        words.contains(&format!("allow Bash(git *) ({}:2)", file(&here))) && words.contains(&file(&other)),
        "{words}"
    );
    assert!(!home.join(".config").exists(), "no file is made to remove something");
    let text = format!("removed allow Bash(git *) from {}\n", file(&here));
    assert_eq!(said(&remove(&["-C", "here"])), (0, text));
    assert_eq!(said(&rules(home, &["list", "-C", "here"])), (0, String::new()));
    rules(home, &["add", "allow", "Bash(git *)"]);
    let (code, text) = said(&remove(&["-C", "other"]));
    assert!(
        code == 0 && text.lines().count() == 2 && text.contains("rules.toml") && text.contains(&file(&other)),
        "{text}"
    );
    let refused = rules(home, &["add", "allow", "Bash(ls)", "-C", "here"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--cwd (-C) is not for `rules add`"), "{refused:?}");
}

#[test]
fn rules_that_are_added_at_the_same_time_are_all_there_afterwards() {
    let temp = tempfile::tempdir().unwrap();
    let home = temp.path();
    std::thread::scope(|scope| {
        for n in 0..12 {
            scope.spawn(move || assert_eq!(said(&rules(home, &["add", "allow", &format!("Bash(c{n} *)")])).0, 0));
        }
    });
    assert_eq!(said(&rules(home, &["list", "--json"])).1.lines().count(), 12);
}

#[test]
fn rules_test_says_of_files_and_agents_what_holds_in_a_session() {
    let temp = tempfile::tempdir().unwrap();
    let home = temp.path();
    std::fs::create_dir_all(home.join("src/secret")).unwrap();
    std::fs::create_dir_all(home.join(".config/acp-tui")).unwrap();
    std::fs::write(home.join(".config/acp-tui/config.toml"), "[agents.mine-own]\ncommand = \"x\"\n").unwrap();
    let text = "allow = [\"Read\", \"Edit\"]\ndeny = [\"Read(src/secret/**)\", \"Read(~/.ssh/**)\"]\n\
                [agent.mine-own]\ndeny = [\"Edit\"]\n";
    std::fs::write(home.join("r.toml"), text).unwrap();
    let test = |words: &[&str]| rules(home, &[&["test", "--rules", "r.toml"], words].concat());
    for (tool, path, code) in [
        ("Read", "src/a", 0),
        ("Read", "src/secret/a", 1),
        ("Grep", "src", 3),
        ("Glob", ".", 3),
        ("Read", "$HOME/src/a", 3),
        ("Read", "~/.ssh/id", 3),
        ("Read", "file:///etc/hosts", 3),
        ("Edit", "~/a", 3),
        ("Edit", "src/a", 0),
    ] {
        assert_eq!(test(&[tool, path]).status.code(), Some(code), "{tool} {path}");
    }
    assert!(String::from_utf8_lossy(&test(&["Read", "~/x"]).stderr).contains("the whole path is judged"));
    // Named as everywhere else.
    assert_eq!(test(&["--agent", "mine-own", "Edit", "a"]).status.code(), Some(1));
    assert_eq!(test(&["--agent", "mine", "Edit", "a"]).status.code(), Some(1));
    let unknown = test(&["--agent", "no-such-agent", "Edit", "a"]);
    assert_eq!(unknown.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("no-such-agent"), "{unknown:?}");
}

#[test]
fn names_that_agents_have_for_tools_mean_ours_and_others_are_named() {
    let temp = tempfile::tempdir().unwrap();
    let home = temp.path();
    let text = "allow = [\"Edit\", \"Fetch\"]\ndeny = [\"Write(src/**)\", \"WebFetch(domain:docs.rs)\", \"Bsah(rm *)\", \"mcp__tracker__delete\"]\n";
    std::fs::write(home.join("r.toml"), text).unwrap();
    let test = |words: &[&str]| rules(home, &[&["test", "--rules", "r.toml"], words].concat());
    for (tool, text, code) in [
        ("Edit", "src/a", 1),
        ("Write", "src/a", 1),
        ("NotebookEdit", "src/a", 1),
        ("Delete", "src/a", 1),
        ("Edit", "docs/a", 0),
        ("Fetch", "https://docs.rs/x", 1),
        ("Fetch", "https://example.com/x", 0),
        ("Mcp", "tracker/delete", 1),
        ("mcp__tracker__delete", "x", 1),
        ("Bash", "rm x", 3),
    ] {
        assert_eq!(test(&[tool, text]).status.code(), Some(code), "{tool} {text}");
    }
    let said = test(&["Edit", "src/a"]);
    let words = "r.toml:2: unknown tool Bsah: holds only for calls of that name; did you mean Bash?";
    assert!(String::from_utf8_lossy(&said.stderr).contains(words), "{said:?}");
}

#[test]
fn a_tool_that_is_not_known_is_named_where_a_rule_is_added_and_where_one_is_tested() {
    let temp = tempfile::tempdir().unwrap();
    let home = temp.path();
    let told = |words: &[&str]| {
        let out = rules(home, words);
        (out.status.code().unwrap(), String::from_utf8(out.stderr).unwrap())
    };
    let (code, err) = told(&["add", "allow", "Bsh(git *)"]);
    let wanted = "unknown tool Bsh: holds only for calls of that name; did you mean Bash? (`acp-tui rules remove allow \
                  'Bsh(git *)'` takes it back)";
    assert!(code == 0 && err.contains(wanted), "{err}");
    let known =
        ["WebFetch(domain:docs.rs)", "Shell(ls *)", "run_shell_command", "mcp__tracker__list", "Mcp(a/b)", "WebSearch"];
    for pattern in known {
        assert_eq!(told(&["add", "deny", pattern]), (0, String::new()), "{pattern}");
    }
    assert_eq!(told(&["remove", "allow", "Bsh(git *)"]).0, 0);
    for (tool, meant) in [("Foo", ""), ("Bsh", " (did you mean Bash?)")] {
        let (code, err) = told(&["test", tool, "x"]);
        assert!(code == 2 && err.contains(&format!("unknown tool {tool}{meant}, and no rule is for calls")), "{err}");
    }
    for tool in ["Bash", "Shell", "WebFetch", "mcp__a__b", "Mcp", "Other", "google_web_search"] {
        assert_ne!(told(&["test", tool, "x"]).0, 2, "{tool}");
    }
    // A rule for it makes it one that can be tested.
    assert_eq!(told(&["add", "deny", "Task"]).0, 0);
    assert_eq!(told(&["test", "Task", "x"]).0, 1);
}

#[test]
fn a_tool_of_a_server_with_an_empty_name_is_a_mistake_and_no_rule_allows_it() {
    let temp = tempfile::tempdir().unwrap();
    let home = temp.path();
    std::fs::write(home.join("r.toml"), "allow = [\"Mcp\", \"Mcp(tracker)\", \"Mcp(tracker/**)\"]\n").unwrap();
    let test = |words: &[&str]| rules(home, &[&["test", "--rules", "r.toml"], words].concat());
    for words in [["Mcp", "tracker/"], ["Mcp", "/x"], ["Mcp", "/"], ["Mcp", "tracker//x"], ["mcp__tracker__", "x"]] {
        let output = test(&words);
        let err = String::from_utf8(output.stderr.clone()).unwrap();
        assert!(said(&output) == (2, String::new()) && err.contains("names no tool of a server"), "{words:?}: {err}");
    }
    assert_eq!(said(&test(&["Mcp", "tracker/list"])).0, 0);
}
