//! Tests of rules that are read from files.

use super::outside::MAX_OUTSIDE;
use super::*;
use crate::engine::hook::combined;
use crate::model::entry::Block;
use crate::model::event::TerminalSpec;
use crate::model::ids::ToolId;
use crate::model::judge::{self, Deed};
use crate::model::permission_mode::PermissionMode;
use crate::model::policy::{Allow, Policy};
use crate::model::tool::{Location, ToolCall, ToolContent, ToolKind};
use crate::rules::RuleRef;
use proptest::prelude::*;
use serde_json::{Map, Value};
use std::fs::{create_dir, create_dir_all, write};
use std::os::unix::fs::symlink;
use std::sync::LazyLock;
use std::time::Duration;
use tempfile::TempDir;

#[test]
fn a_path_leads_where_its_links_lead_also_when_its_end_is_not_there() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().canonicalize().unwrap();
    std::fs::create_dir(dir.join("a")).unwrap();
    symlink("a", dir.join("link")).unwrap();
    symlink("gone", dir.join("dead")).unwrap();
    assert_eq!(real_path(&dir.join("link/x/y")), Some(dir.join("a/x/y")));
    assert_eq!(real_path(&dir.join("link/..")), Some(dir.clone()));
    assert_eq!(real_path(&dir.join("link/./x")), Some(dir.join("a/x")));
    // It is not known yet where these will be.
    assert_eq!(real_path(&dir.join("dead/x")), None);
    assert_eq!(real_path(&dir.join("x/../y")), None);
    std::fs::write(dir.join("file"), "").unwrap();
    assert_eq!(real_path(&dir.join("file/x")), None);
}

/// It is asked about another process than this one.
#[test]
fn a_link_to_what_is_of_the_process_leads_there_and_no_further() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().canonicalize().unwrap();
    std::fs::create_dir(dir.join("a")).unwrap();
    symlink("/proc/self/cwd/a", dir.join("own")).unwrap();
    symlink("../own", dir.join("a/again")).unwrap();
    symlink("/proc/./x/../thread-self/root", dir.join("root")).unwrap();
    symlink("round", dir.join("round")).unwrap();
    for (path, place) in
        [("own", "cwd/a"), ("own/x", "cwd/a/x"), ("a/again/../x", "cwd/a/../x"), ("a/../own/nowhere", "cwd/a/nowhere")]
    {
        assert_eq!(real_path(&dir.join(path)), Some(Path::new("/proc/self").join(place)), "{path}");
    }
    assert_eq!(real_path(&dir.join("root/etc")), Some("/proc/thread-self/root/etc".into()));
    assert_eq!(real_path(Path::new("/proc/self/cwd")), Some("/proc/self/cwd".into()));
    assert_eq!(real_path(Path::new("/proc/cpuinfo")), Some("/proc/cpuinfo".into()));
    assert_eq!(real_path(&dir.join("round")), None);
}

#[test]
fn what_is_named_by_such_a_link_is_judged_by_what_the_agents_command_would_find() {
    let (_temp, cwd) = with_files();
    symlink("/proc/self/cwd/src/secret/key", cwd.join("own")).unwrap();
    symlink("/proc/self/cwd/.env", cwd.join("values")).unwrap();
    symlink("/proc/self/root/etc", cwd.join("top")).unwrap();
    symlink("/proc/self/fd", cwd.join("open")).unwrap();
    let book = Rulebook::new(None, Some("/home/me".into()));
    let mut rules = Rules::default();
    let listed = [("allow", "Bash(cat *)"), ("allow", "Read"), ("deny", "Read(src/secret/**)")];
    for (list, pattern) in listed {
        let list = Verdict::named(list).unwrap();
        rules.add(RuleRef { list, pattern: pattern.to_owned(), ..RuleRef::default() }).unwrap();
    }
    let said = |line: &str| book.by(&rules, None, &cwd, &ran(line)).verdict;
    assert_eq!(said("cat docs/x.md"), Ruled::Allow);
    assert_eq!(said("cat own"), Ruled::Deny);
    assert_eq!(said("cat values"), Ruled::Ask);
    assert_eq!(said("cat open/3/x"), Ruled::Ask);
    let read = |path: &str| book.by(&rules, None, &cwd, &Claims::of_file("read", path)).verdict;
    assert_eq!(read("own"), Ruled::Deny);
    assert_eq!((read("values"), read("top/passwd"), read("open/3/x")), (Ruled::Ask, Ruled::Ask, Ruled::Ask));
}

fn ran(line: &str) -> Claims {
    let (args, env) = (Vec::new(), Vec::new());
    Claims::of_command(&TerminalSpec { command: line.to_owned(), args, env, cwd: None, limit: None, patience: None })
}

#[test]
fn an_agent_that_is_started_by_the_command_of_a_configured_one_has_the_rules_of_both() {
    let text = "allow = [\"Bash(git *)\"]\n[agent.mine]\ndeny = [\"Bash(git log *)\"]\n[agent.python3]\ndeny = [\"Bash(git diff *)\"]\n\
                [agent.other]\ndeny = [\"Bash(git show *)\"]\n";
    let (_temp, book, cwd) = place(text);
    let said = |book: &Rulebook, agent: &str, line: &str| {
        book.ruling(Some(agent), &cwd, &Rules::default(), &ran(line)).0.verdict
    };
    assert_eq!(said(&book, "python3", "git log -1"), Ruled::Allow);
    let book = book.with_names("python3", vec!["mine".into()]);
    for (agent, line, verdict) in [
        ("python3", "git log -1", Ruled::Deny),
        ("python3", "git diff x", Ruled::Deny),
        ("python3", "git show x", Ruled::Allow),
        ("mine", "git log -1", Ruled::Deny),
        ("mine", "git diff x", Ruled::Allow),
        ("third", "git log -1", Ruled::Allow),
    ] {
        assert_eq!(said(&book, agent, line), verdict, "{agent} {line}");
    }
    assert_eq!(book.kept(Some("python3"), &cwd).len(), 3, "what can be taken back is among them, too");
    assert_eq!(book.agents(&cwd), ["mine", "other", "python3"]);
    let mut only = Rules::default();
    only.broken(None, Some("mine".into()));
    let only = Rulebook::only(only, None).with_names("python3", vec!["mine".into()]);
    assert_eq!(said(&only, "python3", "git log"), Ruled::Ask, "a deny that cannot be read");
    assert_eq!(said(&only, "mine", "git log"), Ruled::Ask);
    let (_temp, book, cwd) = place("allow = [\"Bash(git *)\"]\n[agent.mine]\ndeny = [\"Bash(\"]\n");
    let said = |agent: &str| book.ruling(Some(agent), &cwd, &Rules::default(), &ran("git log")).0.verdict;
    assert_eq!((said("mine"), said("other")), (Ruled::Ask, Ruled::Allow), "and is nobody else's");
}

/// A home, the person's rules in it, and a project.
fn place(own: &str) -> (TempDir, Rulebook, PathBuf) {
    let temp = TempDir::new().unwrap();
    let dir = temp.path().canonicalize().unwrap();
    create_dir_all(dir.join("project/.acp-tui")).unwrap();
    write(dir.join("rules.toml"), own).unwrap();
    let book = Rulebook::new(Some(dir.join("rules.toml")), Some(dir.clone()));
    (temp, book, dir.join("project"))
}

fn command(line: &str, args: &[&str], env: &[(&str, &str)]) -> Claims {
    let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Claims::of_command(&TerminalSpec {
        command: line.to_owned(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        env: env.iter().map(pair).collect(),
        cwd: None,
        limit: None,
        patience: None,
    })
}

fn line(line: &str) -> Claims {
    command(line, &[], &[])
}

#[test]
fn a_rule_is_for_every_part_of_a_command_and_tells_where_it_stands() {
    let text = "allow = [\"Bash(git *)\"]\ndeny = [{ pattern = \"Bash(rm *)\", reason = \"keep it\" }]\n";
    let (_temp, book, cwd) = place(text);
    let ruled = |claims: &Claims| book.ruling(None, &cwd, &Rules::default(), claims).0;
    let allowed = ruled(&line("git status"));
    assert_eq!((allowed.verdict, allowed.rule.as_deref()), (Ruled::Allow, Some("Bash(git *)")));
    let both = "allow = [\"Bash(echo *)\", \"Bash(git *)\", \"Edit(src/**)\"]\n";
    let (_temp, other, there) = place(both);
    let allowed = other.ruling(None, &there, &Rules::default(), &line("echo x > src/a && echo y")).0;
    assert_eq!((allowed.verdict, allowed.rule.as_deref()), (Ruled::Allow, Some("Edit(src/**), Bash(echo *)")));
    assert_eq!(allowed.place.unwrap().matches("rules.toml:1").count(), 2);
    let denied = ruled(&line("git status; rm x"));
    assert_eq!((denied.verdict, denied.reason.as_deref()), (Ruled::Deny, Some("keep it")));
    assert!(denied.place.unwrap().ends_with("rules.toml:2"));
    assert_eq!(ruled(&line("git status; ls")).verdict, Ruled::Open);
    assert_eq!(ruled(&line("$x -rf /")).verdict, Ruled::Ask, "it may be what is denied");
    assert_eq!(ruled(&command("git", &["log", "; rm x"], &[])).verdict, Ruled::Allow, "one word of a program");
    assert_eq!(ruled(&command("rm", &["x"], &[("A", "b")])).verdict, Ruled::Deny);
    // Another repository's settings name programs.
    create_dir_all(cwd.join("src/sub")).unwrap();
    let elsewhere = |dir: &str| Claims { cwd: Some(dir.to_owned()), ..line("git status") };
    assert_ne!(ruled(&elsewhere("src/sub")).verdict, Ruled::Allow);
    assert_eq!(ruled(&elsewhere("src/sub/../..")).verdict, Ruled::Allow);
    // What is set for a command may make it another one.
    assert_ne!(ruled(&command("git", &["log"], &[("GIT_PAGER", "sh")])).verdict, Ruled::Allow);
    assert_ne!(ruled(&command("git log", &[], &[("GIT_PAGER", "sh")])).verdict, Ruled::Allow);
}

#[test]
fn rules_of_one_agent_are_for_nobody_else() {
    let (_temp, book, cwd) = place("[agent.one]\nallow = [\"Bash(make)\"]\n");
    assert_eq!(book.ruling(Some("one"), &cwd, &Rules::default(), &line("make")).0.verdict, Ruled::Allow);
    assert_eq!(book.ruling(Some("two"), &cwd, &Rules::default(), &line("make")).0.verdict, Ruled::Open);
    assert_eq!(book.ruling(None, &cwd, &Rules::default(), &line("make")).0.verdict, Ruled::Open);
}

#[test]
fn files_that_have_changed_are_read_again_and_their_faults_are_told_once() {
    let (temp, book, cwd) = place("allow = [\"Bash(make)\"]\n");
    let (own, projects) = (temp.path().join("rules.toml"), cwd.join(PROJECT_FILE));
    let ruled = || {
        let (ruling, warnings) = book.ruling(None, &cwd, &Rules::default(), &line("make"));
        (ruling.verdict, warnings)
    };
    assert_eq!(ruled(), (Ruled::Allow, Vec::new()));
    write(&projects, "ask = [\"Bash(make)\"]\n").unwrap();
    assert_eq!(ruled(), (Ruled::Ask, Vec::new()));
    write(&projects, "allow = [\"Bash(make)\", \"Bash\"]\n").unwrap();
    let (verdict, warnings) = ruled();
    assert_eq!((verdict, warnings.len()), (Ruled::Allow, 1), "a project allows nothing, and says so: {warnings:?}");
    write(&own, "allow = [\"Bash(make)\"\n").unwrap();
    let (verdict, warnings) = ruled();
    assert_eq!(verdict, Ruled::Ask, "what cannot be read may have denied it");
    assert!(warnings[0].contains("rules.toml:"), "{warnings:?}");
    assert_eq!(ruled(), (Ruled::Ask, Vec::new()), "once");
    std::fs::remove_file(&own).unwrap();
    create_dir(&own).unwrap();
    assert_eq!(ruled().0, Ruled::Ask);
    std::fs::remove_dir(&own).unwrap();
    assert_eq!(ruled().0, Ruled::Open);
}

/// Whoever cannot read a file does not know what it denies.
#[test]
fn a_file_of_rules_that_cannot_be_read_has_everything_asked_wherever_it_stands_and_is_named() {
    let (temp, _, cwd) = place("");
    let top = temp.path().canonicalize().unwrap();
    let sub = cwd.join("sub");
    create_dir_all(sub.join(".acp-tui")).unwrap();
    create_dir(cwd.join(".git")).unwrap();
    let (own, made) = (top.join("rules.toml"), top.join("made"));
    let made_here = rule_files::of_directory(&made, &sub);
    create_dir(&made).unwrap();
    let ruled = || {
        let book = Rulebook::new(Some(own.clone()), None).with_made(Some(made.clone()));
        let (ruling, warnings) = book.ruling(None, &sub, &Rules::default(), &line("make"));
        (ruling.verdict, warnings.join("; "))
    };
    std::fs::remove_file(&own).unwrap();
    assert_eq!(ruled(), (Ruled::Open, String::new()));
    for file in [&own, &made_here, &sub.join(PROJECT_FILE), &cwd.join(PROJECT_FILE)] {
        let faults: [&dyn Fn(); 4] = [
            &|| create_dir(file).unwrap(),
            &|| write(file, "deny = [\"Bash(make)\"\n").unwrap(),
            &|| write(file, b"deny = [\"Bash(\xff)\"]\n").unwrap(),
            &|| write(file, "deny = [7]\n").unwrap(),
        ];
        for (at, fault) in faults.iter().enumerate() {
            fault();
            let (verdict, said) = ruled();
            assert_eq!(verdict, Ruled::Ask, "{at}: {}", file.display());
            assert!(said.contains(file.to_str().unwrap()), "{at}: {}: {said}", file.display());
            if file.is_dir() { std::fs::remove_dir(file) } else { std::fs::remove_file(file) }.unwrap();
        }
    }
    assert_eq!(ruled(), (Ruled::Open, String::new()));
}

#[test]
fn what_is_only_said_beside_can_be_denied_and_is_not_asked_about() {
    let (_temp, book, cwd) = place("allow = [\"Bash(cat *)\"]\ndeny = [\"Read(.env)\"]\n");
    let claims = |path: &str| {
        let read =
            Claim { tool: "read".into(), what: Claimed::Paths(vec![path.into()]), only_narrows: true, is_guess: false };
        Claims { all: vec![Claim { only_narrows: false, ..line("cat a").all.remove(0) }, read], ..Claims::default() }
    };
    assert_eq!(book.ruling(None, &cwd, &Rules::default(), &claims("a")).0.verdict, Ruled::Allow);
    assert_eq!(book.ruling(None, &cwd, &Rules::default(), &claims(".env")).0.verdict, Ruled::Deny);
    assert_eq!(book.ruling(None, &cwd, &Rules::default(), &Claims::default()).0, Ruling::OPEN);
}

#[test]
fn files_outside_of_the_directory_are_told_with_the_place_where_they_really_are() {
    let (temp, book, cwd) = place("");
    let dir = temp.path().canonicalize().unwrap();
    write(dir.join("secret"), "").unwrap();
    symlink("../secret", cwd.join("link")).unwrap();
    symlink("gone", cwd.join("dead")).unwrap();
    let files = ["a", "link", "../secret", "/etc/hosts", "~/secret", "sub/../../x", "dead"].map(str::to_owned).to_vec();
    let claims = Claims { files, ..Claims::default() };
    let outside = book.ruling(None, &cwd, &Rules::default(), &claims).0.outside;
    let at = |name: &str| Some(dir.join(name).display().to_string());
    let told: Vec<(&str, Option<String>)> = outside.iter().map(|out| (out.path.as_str(), out.real.clone())).collect();
    let expected = [
        ("link", at("secret")),
        ("../secret", at("secret")),
        ("/etc/hosts", Some("/etc/hosts".to_owned())),
        ("~/secret", at("secret")),
        ("sub/../../x", at("x")),
        ("dead", None),
    ];
    assert_eq!(told, expected);
    let many = Claims { files: (0..100).map(|n| format!("/x{n}")).collect(), ..Claims::default() };
    assert_eq!(book.ruling(None, &cwd, &Rules::default(), &many).0.outside.len(), MAX_OUTSIDE);
}

/// The heading of the question shows it as what is done to; some send no more than this where a file has that text already.
#[test]
fn a_file_outside_that_only_a_title_names_is_told_like_any_other() {
    let (temp, book, cwd) = place("");
    let dir = temp.path().canonicalize().unwrap();
    write(dir.join("secret"), "").unwrap();
    symlink("..", cwd.join("up")).unwrap();
    let told = |kind: ToolKind, title: &str| {
        let mut tool = ToolCall::new(ToolId::from("t"), Duration::ZERO);
        (tool.kind, tool.title) = (kind, title.to_owned());
        let outside = book.ruling(None, &cwd, &Rules::default(), &Claims::of_tool(&tool, &[])).0.outside;
        outside.into_iter().map(|out| (out.path, out.real)).collect::<Vec<_>>()
    };
    let at = |path: &str, real: std::path::PathBuf| vec![(path.to_owned(), Some(real.display().to_string()))];
    assert_eq!(told(ToolKind::Other, "WriteFile: /etc/a b"), at("/etc/a b", "/etc/a b".into()));
    assert_eq!(told(ToolKind::Edit, "Edit up/secret"), at("up/secret", dir.join("secret")));
    assert_eq!(told(ToolKind::Delete, "Delete /etc/passwd"), at("/etc/passwd", "/etc/passwd".into()));
    assert_eq!(told(ToolKind::Edit, "Writing to ../secret"), at("../secret", dir.join("secret")));
    assert_eq!(told(ToolKind::Move, "Move a.rs to /etc/b"), at("/etc/b", "/etc/b".into()));
    let long = "of ".repeat(200);
    for title in ["Edit src/a.rs", "Edit", "WriteFile: new.txt", "and/or a half (1 / 2)", long.as_str()] {
        assert_eq!(told(ToolKind::Edit, title), [], "{title}");
    }
}

#[test]
fn a_rule_for_a_file_outside_holds_for_a_call_that_says_its_tools_name_too() {
    let (temp, book, cwd) = place("");
    let dir = temp.path().canonicalize().unwrap();
    let (read, edit) = (format!("Read({}/**)", dir.display()), format!("Edit({}/**)", dir.display()));
    let ruled = |kind: ToolKind, name: &str, pattern: &str| {
        let mut tool = ToolCall::new(ToolId::from("t"), Duration::ZERO);
        let path = dir.join("notes.txt").display().to_string();
        (tool.kind, tool.name, tool.title) = (kind, Some(name.to_owned()), format!("{name} {path}"));
        tool.raw_input = Some(serde_json::json!({ "file_path": path }));
        let rules = crate::engine::making::read(Ruled::Allow, pattern).unwrap();
        book.ruling(None, &cwd, &rules, &Claims::of_tool(&tool, &[])).0.verdict
    };
    assert_eq!(ruled(ToolKind::Read, "Read", &read), Ruled::Allow);
    assert_eq!(ruled(ToolKind::Edit, "Edit", &edit), Ruled::Allow);
    assert_eq!(ruled(ToolKind::Read, "Read", &edit), Ruled::Open);
    // One that is called by what it does not say that it does.
    assert_ne!(ruled(ToolKind::Read, "Write", &read), Ruled::Allow);
    assert_ne!(ruled(ToolKind::Edit, "Read", &edit), Ruled::Allow);
}

/// Calls as agents were seen to word them, or might.
const CALLS: &str = include_str!("../../tests/rules/calls.txt");

/// The directory that they are about.
fn with_files() -> (TempDir, PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let cwd = temp.path().canonicalize().unwrap();
    for file in ["src/a.rs", "src/secret/key", "docs/x.md", ".env", "sub/deep/below/b.rs"] {
        create_dir_all(cwd.join(file).parent().unwrap()).unwrap();
        write(cwd.join(file), "text").unwrap();
    }
    symlink("src/secret", cwd.join("link")).unwrap();
    write(cwd.join("kept"), "text").unwrap();
    symlink("/etc", cwd.join("elsewhere")).unwrap();
    (temp, cwd)
}

/// What a line of the corpus wants, and the call.
fn call_of(line: &str, cwd: &Path) -> Option<(Ruled, ToolCall)> {
    let words: Vec<&str> = line.split('\t').collect();
    let (wanted, kind, input, more) = match words[..] {
        [wanted, kind, input] => (wanted, kind, input, "{}"),
        [wanted, kind, input, more] => (wanted, kind, input, more),
        _ => return None,
    };
    let mut tool = ToolCall::new(ToolId::from("t"), Duration::ZERO);
    tool.kind = serde_json::from_value(kind.into()).unwrap();
    tool.title = "a tool".to_owned();
    let input = input.replace("ROOT", cwd.to_str().unwrap());
    tool.raw_input = Some(serde_json::from_str(&input).unwrap()).filter(|input: &Value| !input.is_null());
    let more: Map<String, Value> = serde_json::from_str(&more.replace("ROOT", cwd.to_str().unwrap())).unwrap();
    let text = |key: &str| more.get(key).and_then(Value::as_str).map(str::to_owned);
    tool.title = text("title").unwrap_or(tool.title);
    tool.name = text("name");
    tool.locations.extend(text("location").map(|path| Location { path, line: None }));
    tool.content.extend(text("text").map(|text| ToolContent::Block(Block::Text(text))));
    tool.runs_elsewhere = more.get("elsewhere") == Some(&Value::Bool(true));
    Some((serde_json::from_value(wanted.into()).unwrap(), tool))
}

#[test]
fn no_call_of_the_corpus_gets_past_the_rules() {
    let (_temp, cwd) = with_files();
    let book = Rulebook::new(None, Some("/home/me".into()));
    let (mut rules, mut section, mut calls, mut wrong) = (Rules::default(), "", 0, Vec::new());
    for (at, line) in CALLS.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix("== ") {
            (rules, section) = (Rules::default(), name);
            continue;
        }
        match call_of(line, &cwd) {
            Some((wanted, tool)) => {
                let given = book.by(&rules, None, &cwd, &Claims::of_tool(&tool, &[])).verdict;
                if given != wanted {
                    wrong.push(format!("{} {section}: {line}\n    {wanted:?} is {given:?}", at + 1));
                }
                calls += 1;
            }
            None => {
                let (list, pattern) = line.split_once(' ').unwrap();
                let list = Verdict::named(list).unwrap();
                rules.add(RuleRef { list, pattern: pattern.to_owned(), ..RuleRef::default() }).unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {calls}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(calls >= 60, "{calls}");
}

/// Patterns that are for calls of the corpus.
const PATTERNS: &[&str] = &[
    "Read",
    "Edit",
    "Bash",
    "Read(src/**)",
    "Read(src/secret/**)",
    "Edit(src/**)",
    "Edit(docs/*)",
    "Bash(ls *)",
    "Bash(rm *)",
    "Read(~/.ssh/**)",
    "Grep(docs/**)",
    "Read(.env)",
    "Read(**/.env)",
    "Delete(src/**)",
    "Edit(../x)",
    "Bash(",
];
/// Lines of agents beside those calls.
const LINES: &[&str] = &[
    "ls src",
    "cat src/*.rs",
    "rm -r src",
    "touch $HOME/x",
    "cd; touch x",
    "cat .env",
    "mv docs/x.md src",
    "cp src/*.rs docs/",
];

/// A rule in a file: in a list of all, or in the table of an agent.
fn entry(agent: Option<&str>, list: usize, pattern: &str) -> String {
    let table = agent.map(|agent| format!("agent.{agent}.")).unwrap_or_default();
    format!("{table}{} = [{pattern:?}]\n", rules::LISTS[list].1)
}

fn allowed_so_far(of: &judge::Verdict) -> usize {
    match of {
        judge::Verdict::Allow(_) => 0,
        judge::Verdict::Ask => 1,
        judge::Verdict::Refuse(_) => 2,
    }
}

proptest! {
    #![proptest_config(crate::random(300))]

    #[test]
    fn adding_a_deny_never_allows_more_in_any_mode_with_any_hook_and_of_any_agent(
        at in any::<prop::sample::Index>(),
        given in prop::collection::vec((0..3_usize, 0..3_usize, prop::sample::select(PATTERNS)), 0..5),
        (more_of, more) in (0..3_usize, prop::sample::select(PATTERNS)),
        is_ask in any::<bool>(),
        who in 0..3_usize,
        mode in prop::sample::select(PermissionMode::ALL.to_vec()),
        hook in prop::option::of(prop::sample::select(&[Ruled::Allow, Ruled::Ask, Ruled::Deny][..])),
        policy in prop::sample::select(&[Policy::Ask, Policy::Auto(Allow::All), Policy::Auto(Allow::Reads)][..]),
    ) {
        static PLACE: LazyLock<(TempDir, PathBuf)> = LazyLock::new(with_files);
        let cwd = &PLACE.1;
        let lines = LINES.iter().map(|line| format!("Ask\texecute\t{}", serde_json::json!({ "command": line })));
        let lines: Vec<String> = CALLS.lines().map(str::to_owned).chain(lines).collect();
        let calls: Vec<ToolCall> = lines.iter().filter_map(|line| Some(call_of(line, cwd)?.1)).collect();
        let tool = at.get(&calls);
        let agent = |at: usize| [None, Some("one"), Some("two")][at];
        let book = Rulebook::new(None, Some("/home/me".into()));
        let verdict = |rules: &Rules| {
            let claims = Claims::of_tool(tool, &[]);
            let ruling = book.by(rules, agent(who), cwd, &claims);
            let ruling = Ruling { outside: book.outside(cwd, &claims), ..ruling };
            let ruling = match hook.filter(|_| Hook::is_for(&ruling, false)) {
                Some(said) => combined(book.held(agent(who), cwd, &claims, ruling), said, None),
                None => ruling,
            };
            let deed = Deed::Permission { kind: tool.kind, paths: Vec::new(), is_whole: true, is_known: true, has_choice: true, has_once: true, names_nothing: false };
            judge::judge(&judge::Request { mode, policy, ruling: Some(ruling), ..judge::Request::of(deed) })
        };
        let mut rules = Rules::default();
        for (list, of, pattern) in given {
            rules.extend(rules::load(&entry(agent(of), list, pattern), "r", Trust::Full).rules);
        }
        let before = verdict(&rules);
        rules.extend(rules::load(&entry(agent(more_of), if is_ask { 1 } else { 2 }, more), "r", Trust::Full).rules);
        let after = verdict(&rules);
        prop_assert!(
            allowed_so_far(&after) >= allowed_so_far(&before),
            "{before:?} {after:?} {mode:?} {hook:?} {:?} {:?}", tool.raw_input, rules.iter().collect::<Vec<_>>()
        );
    }
}

#[test]
fn this_programs_own_files_are_changed_by_no_rule_that_does_not_have_their_name() {
    let (temp, _, _) = place("allow = [\"Edit\", \"Edit(**)\", \"Bash(cp *)\"]\n");
    let home = temp.path().canonicalize().unwrap();
    create_dir_all(home.join("dotfiles")).unwrap();
    create_dir_all(home.join("config")).unwrap();
    write(home.join("dotfiles/r.toml"), "").unwrap();
    symlink("../dotfiles/r.toml", home.join("config/rules.toml")).unwrap();
    let book = || Rulebook::new(Some(home.join("rules.toml")), None);
    let ruled = |book: &Rulebook, path: &str| {
        book.ruling(None, &home, &Rules::default(), &Claims::of_file("write", path)).0.verdict
    };
    let (held, open) = (book().with_ours(vec![home.join("config")]), book());
    for path in ["config/config.toml", "config/new", "dotfiles/r.toml"] {
        assert_eq!(ruled(&open, path), Ruled::Allow, "{path}");
        assert_eq!(ruled(&held, path), Ruled::Ask, "{path}");
    }
    assert_eq!(ruled(&held, "dotfiles/other"), Ruled::Allow);
    let copied = held.ruling(None, &home, &Rules::default(), &line("cp a dotfiles/r.toml")).0;
    assert_eq!(copied.verdict, Ruled::Ask);
}

#[test]
fn a_projects_rules_allow_while_exactly_they_are_trusted() {
    let (temp, book, cwd) = place("");
    let state = temp.path().join("state");
    let book = book.with_state(Some(state.clone()));
    let verdict = || book.ruling(None, &cwd, &Rules::default(), &line("make")).0.verdict;
    let projects = cwd.join(PROJECT_FILE);
    let text = "allow = [\"Bash(make)\"]\n";
    write(&projects, text).unwrap();
    assert_eq!(verdict(), Ruled::Open);
    let trusted = Trusted::new(state, What::Rules);
    trusted.add(&projects, text).unwrap();
    assert_eq!(verdict(), Ruled::Allow, "also when it was read before");
    write(&projects, "allow = [\"Bash(make)\", \"Bash\"]\n").unwrap();
    assert_eq!(verdict(), Ruled::Open, "it was changed");
    trusted.add(&temp.path().join("elsewhere.toml"), "allow = [\"Bash(make)\", \"Bash\"]\n").unwrap();
    assert_eq!(verdict(), Ruled::Open, "it is another file");
}

#[test]
fn what_may_be_secret_is_asked_about_where_no_rule_is_and_says_which_one_would_allow_it() {
    let (_temp, book, cwd) = place("");
    let asked = |claims: &Claims| book.ruling(None, &cwd, &Rules::default(), claims).0;
    let rule = |ruling: Ruling| (ruling.verdict, ruling.secret.and_then(|secret| secret.rule));
    let named = |text: &str| (Ruled::Ask, Some(text.to_owned()));
    assert_eq!(rule(asked(&Claims::of_file("read", ".env"))), named("Read(.env)"));
    assert_eq!(rule(asked(&line("cat .env"))), named("Bash(cat .env)"));
    assert_eq!(rule(asked(&command("cat", &[".env"], &[]))), named("Bash(cat .env)"));
    // Where that leads is known to the agent alone.
    let unknown = Claims { files: vec!["~/.ssh/id_rsa".into()], ..Claims::default() };
    assert_eq!(rule(asked(&unknown)), (Ruled::Ask, None));
    assert_eq!(asked(&line("cat x")).verdict, Ruled::Open);
}

/// What the client writes for an agent and what an agent asks to edit are judged by the same claims.
#[test]
fn what_steers_later_commands_is_asked_about_before_it_is_written_whatever_the_mode_unless_a_rule_names_it() {
    let (_temp, book, cwd) = place("allow = [\"Edit\", \"Edit(.githooks/*)\", \"Edit(gradle/wrapper/*.jar)\"]\n");
    create_dir(cwd.join(".git")).unwrap();
    symlink(".git", cwd.join("way")).unwrap();
    let (_other, bare, _) = place("");
    let of = |book: &Rulebook, claims: &Claims| book.ruling(None, &cwd, &Rules::default(), claims).0;
    let writes = |path: &str| Claims::of_file("write", path);
    for path in [
        ".git/hooks/post-commit",
        ".git/config",
        "way/config",
        "mirror.git/config",
        "sub/.husky/pre-commit",
        ".vscode/tasks.json",
        ".gitattributes",
        ".cargo/config.toml",
        ".acp-tui/rules.toml",
        "AGENTS.md",
        "sub/Claude.md",
        ".github/copilot-instructions.md",
        ".github/instructions/x.instructions.md",
        ".agents/skills/x/SKILL.md",
        "AGENT.md",
        "sub/Agent.md",
        "gradlew",
        "app/gradlew.bat",
        "gradle/wrapper/gradle-wrapper.properties",
        "app/gradle/wrapper/x",
        "mvnw",
        ".mvn/jvm.config",
        ".direnv/bin/x",
        "shell.nix",
        "flake.nix",
        "devbox.json",
        ".devcontainer/devcontainer.json",
    ] {
        let ruling = of(&book, &writes(path));
        let secret = ruling.secret.clone().unwrap_or_else(|| panic!("{path}: {ruling:?}"));
        assert_eq!((ruling.verdict, secret.why.as_str()), (Ruled::Ask, rules::STEERS), "{path}");
        for mode in [PermissionMode::Default, PermissionMode::AcceptEdits, PermissionMode::BypassPermissions] {
            let request = judge::Request::of(Deed::Write(cwd.join(path).to_string_lossy().into()));
            let request = judge::Request { mode, ..request }.ruled(Some(ruling.clone()));
            assert_eq!(judge::judge(&request), judge::Verdict::Ask, "{path} {mode:?}");
            let policy = Policy::Auto(Allow::All);
            let told = judge::judge(&judge::Request { policy, ..request });
            assert!(matches!(told, judge::Verdict::Refuse(judge::Ground::Rule(_))), "{path}: {told:?}");
        }
    }
    assert_eq!(of(&book, &writes(".husky/x")).secret.unwrap().rule.as_deref(), Some("Edit(.husky/x)"));
    assert_eq!(of(&book, &writes(".githooks/x")).verdict, Ruled::Allow);
    assert_eq!(of(&book, &writes("gradle/wrapper/x.jar")).verdict, Ruled::Allow);
    // One of several.
    let both = Claim { what: Claimed::Paths(vec!["src/a.rs".into(), ".git/config".into()]), ..Claim::of_edit("x") };
    let both = Claims { all: vec![both], ..Claims::default() };
    assert_eq!(of(&bare, &both).verdict, Ruled::Ask);
    // What people have in every project, and what may be called so for another reason; and nothing is changed by reading.
    for path in [
        "package.json",
        "Makefile",
        "Cargo.toml",
        "build.rs",
        "src/config",
        "src/Head/index.tsx",
        "app/.x/y",
        "docs/agents.md",
        "docs/agent.md",
        "gradle/libs.versions.toml",
        "src/wrapper/a.rs",
        "nix/shell.rs",
        "build.gradle.kts",
        "pom.xml",
        ".github/workflows/ci.yml",
    ] {
        assert_eq!(of(&bare, &writes(path)).verdict, Ruled::Open, "{path}");
    }
    assert_eq!(of(&bare, &Claims::of_file("read", ".git/config")).verdict, Ruled::Open);
    assert_eq!(of(&bare, &line("echo x > .git/config")).verdict, Ruled::Open, "a command is left to the mode");
}

#[test]
fn what_a_project_denies_holds_also_below_its_directory_and_what_it_allows_does_not() {
    let temp = TempDir::new().unwrap();
    let top = temp.path().canonicalize().unwrap().join("top");
    let sub = top.join("a/b");
    create_dir_all(sub.join("gen")).unwrap();
    create_dir_all(top.join(".acp-tui")).unwrap();
    create_dir_all(temp.path().join(".acp-tui")).unwrap();
    write(temp.path().join(PROJECT_FILE), "deny = [\"Bash(make)\"]\n").unwrap();
    let text = "allow = [\"Bash(ls)\"]\nask = [\"Bash(git push)\"]\ndeny = [\"Bash(bar *)\", \"Edit(a/b/gen/**)\", \"Edit(gen/**)\"]\n";
    write(top.join(PROJECT_FILE), text).unwrap();
    let state = temp.path().join("state");
    Trusted::new(state.clone(), What::Rules).add(&top.join(PROJECT_FILE), text).unwrap();
    let new = || Rulebook::new(None, None).with_state(Some(state.clone()));
    let of = |book: &Rulebook, claims: &Claims| book.ruling(None, &sub, &Rules::default(), claims).0.verdict;
    assert_eq!(of(&new(), &line("bar x")), Ruled::Open, "no repository: each directory is by itself");
    create_dir(top.join(".git")).unwrap();
    let book = new();
    assert_eq!(book.read(&sub), Vec::<String>::new());
    assert_eq!(of(&book, &line("bar x")), Ruled::Deny);
    assert_eq!(of(&book, &line("git push")), Ruled::Ask);
    assert_eq!(of(&book, &line("ls")), Ruled::Open, "it was meant for another directory");
    assert_eq!(of(&book, &line("make")), Ruled::Open, "above the repository is another project");
    let edits = |path: &str| of(&book, &Claims::of_file("edit", path));
    assert_eq!(edits("gen/x"), Ruled::Deny);
    assert_eq!(edits("../gen/x"), Ruled::Open);
    assert_eq!(edits("../../gen/x"), Ruled::Deny);
    // Nothing that an agent makes later keeps them out.
    create_dir(sub.join(".git")).unwrap();
    assert_eq!(of(&book, &line("bar x")), Ruled::Deny);
    write(top.join(PROJECT_FILE), "deny = [\"Bash(baz)\"]\n").unwrap();
    assert_eq!((of(&book, &line("bar x")), of(&book, &line("baz"))), (Ruled::Open, Ruled::Deny));
    assert_eq!(of(&new(), &line("baz")), Ruled::Open, "a repository of its own");
}

#[test]
fn a_text_anywhere_in_an_input_that_is_a_file_to_be_asked_about_is_so_whatever_its_key_is() {
    let (temp, cwd) = with_files();
    symlink(".env", cwd.join("plain")).unwrap();
    create_dir_all(cwd.join("a b")).unwrap();
    write(cwd.join("a b/.env"), "").unwrap();
    let config = temp.path().canonicalize().unwrap().join("own-config");
    create_dir_all(&config).unwrap();
    let patterns = ["Read", "Edit", "Edit(**)", "Fetch", "my_lint", "Bash(ls)"];
    let list: Vec<String> = patterns.iter().map(|pattern| format!("{pattern:?}")).collect();
    let rules = rules::load(&format!("allow = [{}]", list.join(", ")), "r", Trust::Full).rules;
    let book = Rulebook::new(None, Some("/home/me".into())).with_ours(vec![config.clone()]);
    let said = |rules: &Rules, kind, input: Value| {
        let mut tool = ToolCall::new(ToolId::from("t"), Duration::ZERO);
        (tool.kind, tool.title, tool.raw_input) = (kind, "x".to_owned(), Some(input));
        tool.name = (kind == ToolKind::Other).then(|| "my_lint".into());
        let ruling = book.by(rules, None, &cwd, &Claims::of_tool(&tool, &[]));
        (ruling.verdict, ruling.secret.is_some())
    };
    use ToolKind::{Edit, Execute, Fetch, Other, Read};
    let own = config.join("rules.toml");
    for (kind, input) in [
        (Read, serde_json::json!({ "path": "docs/x.md", "n": ".env" })),
        (Read, serde_json::json!({ "path": "docs/x.md", "n": "plain" })),
        (Read, serde_json::json!({ "path": "docs/x.md", "n": "a b/.env" })),
        (Read, serde_json::json!([".env"])),
        (Edit, serde_json::json!({ "path": "docs/x.md", "n": { "m": [".git/config"] } })),
        (Edit, serde_json::json!({ "path": "docs/x.md", "n": own })),
        (Fetch, serde_json::json!({ "url": "https://x.com", "output": ".git/config" })),
        (Fetch, serde_json::json!({ "url": "https://x.com", "upload": "file:///p/.env" })),
        (Fetch, serde_json::json!({ "url": "https://x.com", "body": "@/p/.env" })),
        (Other, serde_json::json!({ "x": "~/.ssh/id_rsa" })),
        (Other, serde_json::json!({ "x": "%2Eenv" })),
        (Execute, serde_json::json!("cat .env")),
        (Execute, serde_json::json!(["cat", ".env"])),
        (Execute, serde_json::json!({ "command": "ls", "then": ".env" })),
    ] {
        for rules in [&rules, &Rules::default()] {
            assert_eq!(said(rules, kind, input.clone()), (Ruled::Ask, true), "{kind:?} {input}");
        }
    }
    for (kind, input) in [
        (Read, serde_json::json!({ "path": "docs/x.md", "mode": "fast", "n": ".git/config" })),
        (Edit, serde_json::json!({ "path": "docs/x.md", "old_string": ".env", "new_string": "a" })),
        (Edit, serde_json::json!({ "path": "docs/x.md", "why": "as it stands in .env" })),
        (Fetch, serde_json::json!({ "url": "https://x.com", "prompt": "process.env", "format": "markdown" })),
        (Other, serde_json::json!({ "x": "Makefile", "level": "strict" })),
        (Execute, serde_json::json!({ "command": "ls", "description": "List .env" })),
    ] {
        assert_eq!(said(&rules, kind, input.clone()), (Ruled::Allow, false), "{kind:?} {input}");
    }
}

#[test]
fn what_no_mode_allows_no_hook_allows_and_the_hook_itself_is_among_it() {
    let (temp, _, cwd) = place("");
    let program = temp.path().canonicalize().unwrap().join("hook.py");
    write(&program, "").unwrap();
    let hook = Hook::new(vec!["python3".into(), program.to_string_lossy().into_owned()]);
    let book = Rulebook::new(None, None).with_hook(Some(hook));
    for path in [program.to_str().unwrap(), ".git/hooks/pre-commit", ".env", ".acp-tui/rules.toml"] {
        for list in ["", "ask = [\"Edit\", \"Edit(**)\", \"Edit(/**)\"]"] {
            let rules = rules::load(list, "r", Trust::Full).rules;
            let claims = Claims::of_file("write", path);
            let ruling = book.held(None, &cwd, &claims, book.by(&rules, None, &cwd, &claims));
            assert_eq!(combined(ruling, Ruled::Allow, None).verdict, Ruled::Ask, "{path} {list}");
        }
    }
    let claims = Claims::of_file("write", "src/a.rs");
    let ruling = book.held(None, &cwd, &claims, book.by(&Rules::default(), None, &cwd, &claims));
    assert_eq!(combined(ruling, Ruled::Allow, None).verdict, Ruled::Allow);
}
