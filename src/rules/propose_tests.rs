use super::super::{RuleRef, Rules, Verdict, judge};
use super::*;
use std::path::PathBuf;

fn request<'a>(tool: &'a Tool, subject: Subject<'a>, roots: &'a [PathBuf]) -> Request<'a> {
    Request {
        tool,
        subject,
        cwd: Path::new("/p"),
        roots,
        ours: &[],
        state: None,
        home: None,
        agent: None,
        now: 0,
        links: &|path| Some(normalize(path)),
        is_above: &|_| false,
        names: &|_| Some(Vec::new()),
        holds_key: &|_| false,
    }
}

fn proposed(tool: &str, subject: Subject<'_>) -> Vec<Vec<String>> {
    let (tool, roots) = (Tool::named(tool).unwrap(), [PathBuf::from("/p")]);
    propose(&request(&tool, subject, &roots))
}

fn line(text: &str, wanted: &[&str]) {
    let sets: Vec<String> = proposed("bash", Subject::Line(text)).iter().map(|set| set.join(", ")).collect();
    assert_eq!(sets, wanted, "{text}");
}

cases! { line {
    a_command_its_subcommand_its_program: "git log -1", &["Bash(git log -1)", "Bash(git log *)", "Bash(git *)"];
    a_program_with_a_file: "cat src/a", &["Bash(cat src/a)", "Bash(cat *)"];
    both_sides_of_a_pipe: "git diff | head -3", &[
        "Bash(git diff), Bash(head -3)",
        "Bash(git diff *), Bash(head *)",
        "Bash(git *), Bash(head *)",
    ];
    the_line_of_a_shell: "bash -lc 'cargo test'", &["Bash(cargo test)", "Bash(cargo test *)", "Bash(cargo *)"];
    a_time_limit: "timeout 5 make", &["Bash(make)", "Bash(make *)"];
    a_redirection: "echo x > sub/a", &["Edit(sub/a), Bash(echo x)", "Edit(sub/**), Bash(echo x *)", "Edit, Bash(echo *)"];
    quotes: "git commit -m 'a; b'", &["Bash(git commit -m 'a; b')", "Bash(git commit *)", "Bash(git *)"];
    a_star_stands_for_any_text: "grep 'a*' f", &["Bash(grep a* f)", "Bash(grep *)"];
    a_star_that_is_a_word: "expr 2 '*' 3", &["Bash(expr *)"];
    a_star_behind_a_colon: "make 'a:*'", &["Bash(make *)"];
    nothing_to_see: "$x y", &[];
}}

#[test]
fn a_file_of_a_further_root_is_that_file_alone() {
    let (tool, roots) = (Tool::named("edit").unwrap(), ["/p", "/q"].map(PathBuf::from));
    let path = Path::new("/q/src/a.rs");
    let proposed = propose(&request(&tool, Subject::Paths(&[path]), &roots));
    assert_eq!(proposed.concat(), ["Edit(/q/src/a.rs)", "Edit(/q/src/**)", "Edit"]);
    let verdict = |text: &str, path: &str| {
        let mut rules = Rules::default();
        rules.add(RuleRef { list: Verdict::Allow, pattern: text.to_owned(), ..RuleRef::default() }).unwrap();
        judge(&rules, &request(&tool, Subject::Paths(&[Path::new(path)]), &roots)).verdict
    };
    for pattern in proposed.concat() {
        assert_eq!(verdict(&pattern, "/q/src/a.rs"), Verdict::Allow, "{pattern}");
    }
    assert_eq!(verdict("Edit(/q/src/a.rs)", "/p/src/a.rs"), Verdict::Ask);
}

#[test]
fn files_addresses_and_tools_of_servers() {
    let path = |path: &str| proposed("edit", Subject::Paths(&[Path::new(path)])).concat();
    assert_eq!(path("src/a.rs"), ["Edit(src/a.rs)", "Edit(src/**)", "Edit"]);
    assert_eq!(path("/p/a"), ["Edit(a)", "Edit"]);
    // Found by the fuzz target `patterns`.
    assert_eq!(path("[agent.x]\nallow=[\"Bash(ls)\"]\n"), Vec::<String>::new());
    assert_eq!(path("/etc/x/hosts"), ["Edit(/etc/x/hosts)", "Edit(/etc/x/**)"]);
    let text = |tool: &str, text: &str| proposed(tool, Subject::Text(text)).concat();
    assert_eq!(text("fetch", "https://docs.rs/x"), ["Fetch(https://docs.rs/x)", "Fetch(domain:docs.rs)"]);
    for of_host in ["http://docs.rs:8080/x", "https://docs.rs:8443/x", "http://docs.rs"] {
        assert_eq!(text("fetch", of_host), ["Fetch(domain:docs.rs)"], "it may be denied: {of_host}");
    }
    assert_eq!(text("fetch", "http://[::1]:80/x"), Vec::<String>::new());
    assert_eq!(text("mcp", "tracker/list"), ["Mcp(tracker/list)", "Mcp(tracker)"]);
    assert_eq!(text("Think", "Ponder"), ["think(Ponder)", "think"]);
}

#[test]
fn what_is_proposed_first_is_read_back_and_allows_just_that() {
    let (tool, roots) = (Tool::named("bash").unwrap(), [PathBuf::from("/p")]);
    for line in ["git status", "echo 'a, b' \"it's\"", "cargo test -- x && ls", "printf '' x", "echo a) , Bash(x"] {
        let request = request(&tool, Subject::Line(line), &roots);
        let Some(set) = propose(&request).into_iter().next() else { continue };
        assert_eq!(patterns(&set.join(", ")), Ok(set.clone()));
        let mut rules = Rules::default();
        for pattern in set {
            let rule = RuleRef { list: Verdict::Allow, pattern, ..RuleRef::default() };
            rules.add(rule).unwrap();
        }
        assert_eq!(judge(&rules, &request).verdict, Verdict::Allow, "{line}");
        let longer = format!("{line} more");
        let more = Request { subject: Subject::Line(&longer), ..request };
        assert_eq!(judge(&rules, &more).verdict, Verdict::Ask, "{longer}");
    }
    assert!(patterns("Bash(git *), Bash(").is_err() && patterns(" ").is_err());
}

#[test]
fn a_call_that_names_no_tool_has_no_wider_pattern_than_its_title() {
    let of = |tool: &str| proposed(tool, Subject::Text("Shell: rm x"));
    assert_eq!(of("other"), [["other(Shell: rm x)"]]);
    assert_eq!(of("my_lint"), [["my_lint(Shell: rm x)"], ["my_lint"]]);
}
