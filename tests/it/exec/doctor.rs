//! `doctor`, and a run that is played again.

use super::support::{Lab, PROGRAM};
use serde_json::Value;
use std::process::Output;

fn run(lab: &Lab, args: &[&str]) -> Output {
    lab.program().args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn doctor_finds_what_is_wrong_and_says_where() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("home/.local")).unwrap();
    let fine = run(&lab, &["doctor"]);
    let said = text(&fine.stdout);
    assert!(said.ends_with("nothing is wrong\n") && fine.status.code() == Some(0), "{said}");

    lab.write("config/acp-tui/config.toml", "theme = \"dark\"\nbogus = 1\n");
    lab.write("config/acp-tui/rules.toml", "allow = [\"Bash(git\"]\n");
    let wrong = run(&lab, &["doctor"]);
    let said = text(&wrong.stdout);
    assert!(said.contains("theme") && said.contains("dark (config.toml)"), "{said}");
    assert!(said.contains("config.toml:2: unknown key \"bogus\"") && said.contains("rules.toml:1: "), "{said}");
    assert_eq!(wrong.status.code(), Some(1));

    let json = run(&lab, &["doctor", "--json", "--redact"]);
    let said = text(&json.stdout);
    let all: Value = serde_json::from_str(&said).unwrap();
    let faults = all.as_object().unwrap().values().flat_map(|rows| rows.as_array().unwrap());
    assert_eq!(faults.filter(|row| !row["wrong"].is_null()).count(), 2, "{said}");
    assert!(!said.contains(lab.path("home").to_str().unwrap()), "{said}");
    let started = run(&lab, &["doctor", "--redact", "--", "no-such-agent-anywhere", "--token=abcdef123456"]);
    let said = format!("{}{}", text(&started.stdout), text(&started.stderr));
    assert!(said.contains("starting `no-such-agent-anywhere") && !said.contains("abcdef123456"), "{said}");
}

#[test]
fn doctor_leaves_out_the_home_directory_however_an_agent_writes_it() {
    let lab = Lab::new();
    let real = lab.path("real/me ü");
    std::fs::create_dir_all(&real).unwrap();
    std::os::unix::fs::symlink(&real, lab.path("linked home")).unwrap();
    let said = "echo \"$HOME/a\" \"$(cd -P \"$HOME\" && pwd)/b\" >&2; echo 'ROOT/linked\\ home/c' >&2\n\
                echo 'file://ROOT/linked%20home/d' >&2; echo 'file://ROOT/real/me%20%C3%BC/e' >&2; exit 3";
    let said = said.replace("ROOT", lab.path("").to_str().unwrap().trim_end_matches('/'));
    let agent = lab.shell_agent(&said);
    let mut program = lab.program();
    program.env("HOME", lab.path("linked home")).args(["doctor", "--redact", "--"]).args(&agent);
    let said = text(&program.output().unwrap().stdout);
    assert!(["~/a", "~/b", "~/c", "~/d", "~/e"].iter().all(|way| said.contains(way)), "{said}");
    assert!(!said.contains("real/me") && !said.contains("linked"), "{said}");
}

#[test]
fn doctor_leaves_out_what_variables_hold_that_are_called_secrets() {
    let lab = Lab::new();
    lab.write(
        "config/acp-tui/config.toml",
        "[agents.mine]\ncommand = \"sh\"\nargs = [\"-c\", \"echo A $MY_SECRET B $OTHER_KEY C $PLAIN >&2; exit 3\"]\n\
         env = { OTHER_KEY = \"abcd1234\" }\n",
    );
    let mut program = lab.program();
    program.env("MY_SECRET", "hunter2hunter2").env("PLAIN", "as it is");
    let said = text(&program.args(["doctor", "--redact", "--agent", "mine"]).output().unwrap().stdout);
    assert!(said.contains("A [redacted] B [redacted] C as it is"), "{said}");

    let added = "[agents.other]\ncommand = \"sh\"\nargs = [\"x\", \"--key\", \"corgi99x\"]\n";
    lab.write("config/acp-tui/config.toml", added);
    let said = text(&run(&lab, &["doctor", "--redact", "--", "sh", "-c", "exit 3", "--key", "lynx4242"]).stdout);
    assert!(said.contains("--key [redacted]") && !said.contains("corgi99x") && !said.contains("lynx4242"), "{said}");
}

#[test]
fn doctor_lists_what_is_said_of_variables_and_in_the_table_of_an_agent() {
    let lab = Lab::new();
    let mine = "[agents.mine]\ncommand = \"sh\"\nargs = [\"-c\"]\nenv = { TOKEN = \"hidden\" }\nenv_without = [\"AWS_*\"]\nsandbox = true\n\
                sandbox_write = [\"~/.mine\"]\nsandbox_connect = [443]\nprotocol = \"1\"\n";
    let both = format!("env_only = [\"PATH\", \"LC_*\"]\nenv_without = [\"*_KEY\"]\n{mine}");
    lab.write("config/acp-tui/config.toml", &both);
    let said = text(&run(&lab, &["doctor"]).stdout);
    let row = |name: &str, value: &str| {
        let is_it = |line: &&str| line.split_whitespace().next() == Some(name) && line.contains(value);
        assert_eq!(said.lines().filter(is_it).count(), 1, "{name} {value}: {said}");
    };
    row("env_only", "PATH, LC_* (config.toml)");
    row("env_without", "*_KEY (config.toml)");
    row("agents.mine.env", "TOKEN (config.toml)");
    row("agents.mine.env_without", "AWS_*");
    row("agents.mine.sandbox", "true");
    // The agent would not start.
    let is_lacking = |line: &str| line.contains("agents.mine.sandbox_write") && line.trim_start().starts_with('!');
    assert!(said.lines().any(is_lacking) && said.contains("/.mine is not there, or no absolute path"), "{said}");
    row("agents.mine.sandbox_connect", "443");
    row("agents.mine.protocol", "1 (config.toml)");
    assert!(!said.contains("hidden") && !said.contains("agents.mine.url"), "{said}");
}

#[test]
fn doctor_says_why_an_agent_does_not_start() {
    let lab = Lab::new();
    let missing = run(&lab, &["doctor", "--", "no-such-agent-anywhere"]);
    let said = text(&missing.stdout);
    assert!(said.contains("no-such-agent-anywhere was not found"), "{said}");
    assert_eq!(missing.status.code(), Some(5));
    let agent = lab.shell_agent("echo out of luck >&2; exit 3");
    let dies = run(&lab, &[&["doctor", "--"][..], &agent.iter().map(String::as_str).collect::<Vec<_>>()].concat());
    let said = text(&dies.stdout);
    assert!(said.contains("exit 3") && said.contains("out of luck"), "{said}");
    let starts = run(&lab, &["doctor", "--", PROGRAM, "demo-agent", "--fast"]);
    assert!(text(&starts.stdout).contains("it opens a session"));
    assert_eq!(starts.status.code(), Some(0));
}

#[test]
fn a_recording_and_its_journal_are_played_as_the_agent_again() {
    let lab = Lab::new();
    let agent = lab.turn(
        r#"{ do = "write", tool = "w", path = "a.txt", text = "new\n" }, { do = "say", text = "so it is done" }"#,
    );
    let (first, _) = lab.record(&["do it", "--allow", "all"], &agent);
    first.assert_code(0);
    let journal = lab.journal().0;
    for file in [lab.path("record.jsonl"), journal] {
        let _ = std::fs::remove_file(lab.cwd().join("a.txt"));
        let words = [PROGRAM, "replay", "--fast", file.to_str().unwrap()].map(str::to_owned);
        let again = lab.exec(&["something else", "--allow", "all"], &words);
        again.assert_code(0);
        assert_eq!(again.stdout, first.stdout);
        let lines = text(
            &run(&lab, &["inspect", "--json", "--filter", "session/prompt answer", file.to_str().unwrap()]).stdout,
        );
        let answer: Value = serde_json::from_str(&lines).unwrap();
        assert_eq!((&answer["method"], &answer["violations"]), (&"session/prompt".into(), &Value::Array(Vec::new())));
        assert!(answer["latency_ms"].as_f64().is_some(), "{answer}");
        // It is asked for again, and done again.
        assert_eq!(std::fs::read_to_string(lab.cwd().join("a.txt")).unwrap(), "new\n");
    }
    let nothing = run(&lab, &["replay", "none.jsonl"]);
    assert_eq!(nothing.status.code(), Some(2));
    assert!(text(&nothing.stderr).contains("none.jsonl: "));
}
