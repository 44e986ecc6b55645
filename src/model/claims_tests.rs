//! Tests of what agents say they are about to do. The inputs have the shapes that agents were seen to send.

use super::*;
use crate::model::ids::ToolId;
use crate::model::tool::Location;
use serde_json::json;
use std::time::Duration;

fn call(kind: ToolKind, title: &str, input: Value) -> ToolCall {
    let mut tool = ToolCall::new(ToolId::from("t"), Duration::ZERO);
    (tool.kind, tool.title, tool.raw_input) = (kind, title.to_owned(), Some(input));
    tool
}

fn claims(kind: ToolKind, title: &str, input: Value) -> Vec<Claim> {
    Claims::of_tool(&call(kind, title, input), &[]).all
}

fn line(text: &str) -> Claim {
    Claim::new(BASH, Claimed::Line(text.into()))
}

fn paths(tool: &str, paths: &[&str]) -> Claim {
    Claim::new(tool, Claimed::Paths(paths.iter().map(|path| (*path).to_owned()).collect()))
}

fn narrow(claim: Claim) -> Claim {
    Claim { only_narrows: true, ..claim }
}

#[test]
fn a_question_of_no_kind_that_names_only_files_of_its_call_is_about_what_the_call_does_with_them() {
    let asked = |before, title: &str, input: Value| {
        let mut tool = call(ToolKind::Other, title, input);
        tool.kind_before = before;
        Claims::of_tool(&tool, &[])
    };
    let input = || json!({ "filepath": "/out/a.txt", "parentDir": "/out" });
    let guess = |claim| Claim { is_guess: true, ..narrow(claim) };
    for (kind, name) in [(ToolKind::Read, "read"), (ToolKind::Edit, "edit"), (ToolKind::Search, "search")] {
        for title in ["/out", "/out/*", "/out/a.txt"] {
            let claims = asked(Some(kind), title, input());
            let expected = vec![guess(paths("read", &["/out"])), paths(name, &["/out/a.txt"])];
            assert_eq!((claims.all, claims.files), (expected, vec!["/out/a.txt".to_owned()]), "{title}");
        }
    }
    // One directory is what it is about.
    let dir = asked(Some(ToolKind::Read), "/out", json!({ "filepath": "/out", "parentDir": "/out" }));
    assert_eq!(dir.all, [paths("read", &["/out"])]);
    let others = [
        (None, "/out", input()),
        (Some(ToolKind::Execute), "/out", input()),
        (Some(ToolKind::Delete), "/out", input()),
        (Some(ToolKind::Read), "Send it away", input()),
        (Some(ToolKind::Read), "/other", input()),
        (Some(ToolKind::Read), "/out", json!({ "filepath": "/out/a.txt", "parentDir": "/out", "to_host": "x" })),
        (Some(ToolKind::Read), "/out", json!({ "filepath": ["/out"], "parentDir": "/out" })),
        (Some(ToolKind::Read), "/out", json!({})),
    ];
    for (before, title, input) in others {
        let claims = asked(before, title, input);
        assert!(claims.all.iter().any(|claim| claim.tool == "other" && !claim.only_narrows), "{title} {claims:?}");
    }
}

#[test]
fn a_question_of_no_kind_about_a_command_and_where_it_leads_is_about_the_command() {
    let asked = |before, title: &str, input: Value| {
        let mut tool = call(ToolKind::Other, title, input);
        tool.kind_before = before;
        Claims::of_tool(&tool, &[])
    };
    let input = || json!({ "command": "cat /out/a", "directories": ["/out"], "patterns": ["/out/*"] });
    let mut claims = asked(Some(ToolKind::Execute), "cat /out/a", input());
    claims.all.retain(|claim| !claim.is_guess);
    assert_eq!(claims.all, [Claim::new(BASH, Claimed::Line("cat /out/a".to_owned()))]);
    let others = [
        (None, "cat /out/a", input()),
        (Some(ToolKind::Edit), "cat /out/a", input()),
        (Some(ToolKind::Execute), "Look at it", input()),
        (Some(ToolKind::Execute), "ls", json!({ "command": "ls", "directories": ["/out"], "then": "rm x" })),
        (Some(ToolKind::Execute), "ls", json!({ "command": "ls", "directories": { "then": "rm x" } })),
        (Some(ToolKind::Execute), "ls", json!({ "directories": ["/out"] })),
    ];
    for (before, title, input) in others {
        let claims = asked(before, title, input);
        assert!(claims.all.iter().any(|claim| claim.tool == "other"), "{title} {claims:?}");
    }
}

#[test]
fn a_question_that_names_nothing_is_about_what_the_call_has_named_before() {
    let mut tool = call(ToolKind::Read, "read", json!({}));
    tool.named_before = vec!["/p/.env".into()];
    let of = |tool: &ToolCall| Claims::of_tool(tool, &[]);
    let expected = [Claim::new("read", Claimed::Unknown), narrow(paths("read", &["/p/.env"]))];
    assert_eq!((of(&tool).all, of(&tool).files), (expected.to_vec(), tool.named_before.clone()));
    assert_eq!(of(&tool).texts, ["read"]);
    tool.kind = ToolKind::Edit;
    assert_eq!(of(&tool).all.iter().filter(|claim| claim.only_narrows).count(), 2);
    // What it names now counts alone.
    tool.raw_input = Some(json!({ "path": "/p/a" }));
    assert_eq!(of(&tool).files, ["/p/a"]);
}

/// An agent was seen to name the directory in which a command runs as a place of the call, and not in the question.
#[test]
fn where_a_command_runs_is_no_file_that_it_changes() {
    let mut tool = call(ToolKind::Execute, "ls", json!({ "command": "ls" }));
    tool.named_before = vec!["/p".into()];
    let of = |tool: &ToolCall| Claims::of_tool(tool, &[]).all;
    assert_eq!(of(&tool), [line("ls")]);
    tool.raw_input = Some(json!({ "command": 1 }));
    assert_eq!(of(&tool).iter().filter(|claim| claim.only_narrows).count(), 2, "it may be about them");
}

#[test]
fn a_command_is_what_its_input_says_and_else_its_title() {
    use ToolKind::Execute;
    assert_eq!(claims(Execute, "List", json!({ "command": "git status" })), [line("git status")]);
    assert_eq!(claims(Execute, "git diff", Value::Null), [line("git diff")]);
    assert_eq!(claims(Execute, "`git diff`", json!({})), [line("git diff")]);
    let words = |words: &[&str]| Claim::new(BASH, Claimed::Words(words.iter().map(|w| (*w).to_owned()).collect()));
    let array = json!({ "command": ["bash", "-lc", "git log"], "workdir": "/p" });
    assert_eq!(claims(Execute, "x", array), [words(&["bash", "-lc", "git log"])]);
    let both = json!({ "command": "git", "args": ["log", "-p"] });
    assert_eq!(claims(Execute, "x", both), [words(&["git", "log", "-p"])]);
}

#[test]
fn what_cannot_be_told_is_unknown() {
    let unknown = Claim::new(BASH, Claimed::Unknown);
    for input in [json!({ "command": 1 }), json!({ "command": ["git", 1] }), json!({ "command": "a", "args": "b" })] {
        assert_eq!(claims(ToolKind::Execute, "git status", input.clone()), std::slice::from_ref(&unknown), "{input}");
    }
    // The end of a line may be what matters.
    for title in ["git status && …", "git status ...", ""] {
        assert_eq!(claims(ToolKind::Execute, title, Value::Null), std::slice::from_ref(&unknown), "{title}");
    }
    let set = json!({ "command": "git log", "env": { "GIT_PAGER": "sh" } });
    assert_eq!(claims(ToolKind::Execute, "x", set), [line("git log"), unknown]);
    assert_eq!(claims(ToolKind::Edit, "Edit files", Value::Null), [Claim::new("edit", Claimed::Unknown)]);
    assert_eq!(claims(ToolKind::Fetch, "Fetch", Value::Null), [Claim::new("fetch", Claimed::Unknown)]);
}

#[test]
fn a_file_is_named_by_input_and_locations() {
    let mut tool = call(ToolKind::Edit, "Edit", json!({ "file_path": "/p/a", "old_string": "b" }));
    tool.locations = vec![Location { path: "/p/c".into(), line: None }];
    assert_eq!(Claims::of_tool(&tool, &[]).all, [paths("edit", &["/p/a", "/p/c"])]);
    tool.kind = ToolKind::Other;
    let all = Claims::of_tool(&tool, &[]).all;
    assert_eq!(all[..2], [narrow(paths("read", &["/p/a", "/p/c"])), narrow(paths("edit", &["/p/a", "/p/c"]))]);
    assert_eq!(claims(ToolKind::Read, "R", json!({ "path": "a" })), [paths("read", &["a"])]);
}

#[test]
fn a_command_is_one_whatever_kind_it_is_said_to_be() {
    let read = claims(ToolKind::Read, "Read a", json!({ "command": "cat a", "path": "a" }));
    assert_eq!(read, [line("cat a"), paths("read", &["a"])], "both count");
    let search = claims(ToolKind::Search, "Search", json!({ "command": "touch a", "path": "/etc" }));
    assert_eq!(search, [line("touch a"), paths("search", &["/etc"])]);
    let only = claims(ToolKind::Read, "Read", json!({ "command": "cat a" }));
    assert_eq!((&only[0], only[1].only_narrows), (&line("cat a"), true), "nothing but the command says what is read");
    let other = claims(ToolKind::Other, "Think", json!({ "cmd": "rm a" }));
    assert_eq!(other[0], line("rm a"));
    assert!(!other[1].only_narrows, "it may be a command of another machine");
    let mut shell = call(ToolKind::Other, "Run", json!({ "cmd": "rm a" }));
    shell.name = Some("Bash".into());
    assert!(Claims::of_tool(&shell, &[]).all[1].only_narrows);
}

#[test]
fn tools_of_servers_are_known_by_server_and_name() {
    let mcp = |text: &str| Claim::new("mcp", Claimed::Text(text.into()));
    assert_eq!(claims(ToolKind::Other, "mcp__tracker__new_issue", json!({})), [mcp("tracker/new_issue")]);
    assert_eq!(claims(ToolKind::Other, "T", json!({ "server": "tracker", "tool": "list" })), [mcp("tracker/list")]);
    assert_eq!(
        claims(ToolKind::Other, "T", json!({ "server_name": "tracker", "toolName": "list" })),
        [mcp("tracker/list")]
    );
    assert_eq!(claims(ToolKind::Other, "T", json!({})), [Claim::new("other", Claimed::Text("T".into()))]);
    // What is left out of a title may be anything.
    for title in ["Shell: a...b", "Shell: a…b", "Shell: a‥b", "Shell: a⋯b", "Shell: a [Truncated]"] {
        let said = narrow(Claim::new("other", Claimed::Text(title.into())));
        assert_eq!(claims(ToolKind::Other, title, json!({})), [Claim::new("other", Claimed::Unknown), said]);
    }
}

/// By the protocol's own name it is one, where nothing else is asked for; what stands elsewhere grants nothing.
#[test]
fn a_search_of_the_web_is_one_whatever_kind_it_has() {
    let of = |kind: ToolKind, id: &str, names: (Option<&str>, &[&str]), input: Value| {
        let mut tool = call(kind, "Searching the web for: \"rust\"", input);
        (tool.id, tool.name) = (ToolId::from(id), names.0.map(str::to_owned));
        tool.also_named = names.1.iter().map(|name| (*name).to_owned()).collect();
        Claims::of_tool(&tool, &[]).all
    };
    let web = |name: &str| Claim::new(name, Claimed::Text("Searching the web for: \"rust\"".into()));
    let narrows = |claim: Claim| Claim { only_narrows: true, ..claim };
    for kind in [ToolKind::Search, ToolKind::Fetch] {
        let named = of(kind, "t", (Some("WebSearch"), &[]), json!({ "query": "rust" }));
        assert_eq!(named[0], web(names::WEB_SEARCH));
        assert!(named[1..].iter().all(|claim| claim.only_narrows), "{named:?}");
        let own = if kind == ToolKind::Search { "search" } else { "fetch" };
        for (id, also, name) in
            [("google_web_search__x1", [].as_slice(), "google_web_search"), ("t", &["WebSearch"], "WebSearch")]
        {
            let said = of(kind, id, (None, also), json!({ "query": "rust" }));
            assert_eq!(said, [Claim::new(own, Claimed::Unknown), narrows(web(name))]);
        }
        // Whoever names anything else is asked about that.
        for input in [json!({ "file_path": ".env" }), json!({ "query": "x", "code": "y" }), json!({ "program": "x" })] {
            let said = of(kind, "t", (Some("WebSearch"), &[]), input.clone());
            assert!(said.iter().any(|claim| claim.tool == own && !claim.only_narrows), "{input}: {said:?}");
        }
    }
    for id in ["toolu__x1", "google_web_search", "_web__x", "Web_search__x"] {
        let plain = of(ToolKind::Search, id, (None, &[]), json!({}));
        assert_eq!(plain, [Claim::new("search", Claimed::Unknown)], "{id}");
    }
}

/// None of its names hides another one from a rule that denies, and none but the first grants anything.
#[test]
fn a_call_is_denied_by_each_of_its_names() {
    for kind in [ToolKind::Other, ToolKind::Think, ToolKind::Read] {
        let mut tool = call(kind, "T", json!({}));
        tool.id = ToolId::from("google_web_search__1");
        tool.name = Some("TodoWrite".into());
        tool.also_named = ["Task", "mcp__srv__t"].map(str::to_owned).to_vec();
        let all = Claims::of_tool(&tool, &[]).all;
        for name in ["TodoWrite", "Task", "google_web_search", "mcp"] {
            assert!(all.iter().any(|claim| claim.tool == name), "{name}: {all:?}");
        }
        let grants: Vec<&str> =
            all.iter().filter(|claim| !claim.only_narrows).map(|claim| claim.tool.as_str()).collect();
        assert_eq!(grants, [if kind == ToolKind::Read { "read" } else { "TodoWrite" }]);
    }
}

#[test]
fn a_call_that_names_several_tools_of_servers_is_each_of_them() {
    let mcp = |text: &str| Claim::new("mcp", Claimed::Text(text.into()));
    let input = json!({ "server": "tracker", "tool": "delete" });
    assert_eq!(
        claims(ToolKind::Other, "mcp__tracker__list", input.clone()),
        [mcp("tracker/list"), mcp("tracker/delete")]
    );
    let mut named = call(ToolKind::Other, "mcp__tracker__delete", json!({}));
    named.name = Some("mcp__tracker__list".into());
    assert_eq!(Claims::of_tool(&named, &[]).all, [mcp("tracker/list"), mcp("tracker/delete")]);
    let narrowed = claims(ToolKind::Read, "mcp__tracker__list", input);
    let named = narrowed.iter().filter(|claim| claim.tool == "mcp");
    assert!(named.clone().all(|claim| claim.only_narrows) && named.count() == 2, "{narrowed:?}");
    let guess = Claim { only_narrows: true, is_guess: true, ..mcp("my__tracker/list") };
    assert_eq!(claims(ToolKind::Other, "mcp__my__tracker__list", json!({})), [mcp("my/tracker__list"), guess]);
}

#[test]
fn a_path_that_only_shows_later_where_it_leads_is_unknown_and_every_name_of_one_counts() {
    let unknown = |tool: &str| vec![Claim::new(tool, Claimed::Unknown)];
    for path in ["~/.ssh/id_rsa", "$HOME/.bashrc", "file:///etc/passwd"] {
        assert_eq!(claims(ToolKind::Read, "Read", json!({ "path": path })), unknown("read"), "{path}");
        assert_eq!(claims(ToolKind::Edit, "Edit", json!({ "path": "a", "target_file": path })), unknown("edit"));
    }
    for input in [
        json!({ "path": "a", "target_file": "/etc/passwd" }),
        json!({ "path": "a", "filename": "/etc/passwd" }),
        json!({ "path": "a", "changes": { "/etc/passwd": {} } }),
        json!({ "path": "a", "edits": [{ "file_path": "/etc/passwd" }] }),
    ] {
        assert_eq!(claims(ToolKind::Edit, "Edit", input), [paths("edit", &["/etc/passwd", "a"])]);
    }
    let both = claims(ToolKind::Fetch, "Fetch", json!({ "url": "https://docs.rs/", "uri": "https://evil.example/" }));
    let address = |text: &str| Claim::new("fetch", Claimed::Text(text.into()));
    assert_eq!(both, [address("https://docs.rs/"), address("https://evil.example/")]);
}

#[test]
fn where_the_directory_of_a_call_cannot_be_told_its_places_are_unknown() {
    for (key, of) in [
        ("cwd", json!("~")),
        ("cwd", json!("$HOME")),
        ("workdir", json!("file:///etc")),
        ("directory", json!("~root")),
        ("dir_path", json!(["/etc"])),
        ("working_directory", json!({"path": "/etc"})),
        ("cwd", json!("/p/{a,b}")),
    ] {
        for (kind, tool) in [(ToolKind::Read, "read"), (ToolKind::Edit, "edit"), (ToolKind::Delete, "delete")] {
            let mut input = json!({"path": ".bashrc"});
            input[key] = of.clone();
            let claims = Claims::of_tool(&call(kind, "t", input), &[]);
            assert_eq!(claims.all, [Claim::new(tool, Claimed::Unknown)], "{key} {of}");
            assert_eq!(claims.cwd, None);
        }
        let mut input = json!({"command": "ls"});
        input[key] = of.clone();
        let claims = Claims::of_tool(&call(ToolKind::Execute, "t", input), &[]);
        assert!(claims.all.contains(&Claim::new("bash", Claimed::Unknown)), "{key} {of}");
    }
    let two = json!({"path": "a", "cwd": "/p", "workdir": "/etc"});
    assert_eq!(Claims::of_tool(&call(ToolKind::Read, "t", two), &[]).all, [Claim::new("read", Claimed::Unknown)]);
    let plain = Claims::of_tool(&call(ToolKind::Read, "t", json!({"path": "a", "cwd": "/p/b", "workdir": null})), &[]);
    assert_eq!((plain.cwd.as_deref(), plain.all), (Some("/p/b"), vec![paths("read", &["a"])]));
}

#[test]
fn paths_are_found_however_deep_and_by_every_word_for_them() {
    for input in [
        json!({"path": "x", "to": "y"}),
        json!({"from": "x", "dest": "y"}),
        json!({"src": "x", "dst": "y"}),
        json!({"root": "x", "target": "y"}),
        json!({"path": "x", "paths": [["y"]]}),
        json!({"path": "x", "input": {"path": "y"}}),
        json!({"path": "x", "parts": [{"in": {"file_path": "y"}}]}),
        json!({"file_path": "x", "new_file_path": "y"}),
    ] {
        let claims = Claims::of_tool(&call(ToolKind::Read, "t", input.clone()), &[]);
        let (first, others) = claims.all.split_first().unwrap();
        // Where to it goes is an edit besides.
        let edited = if claims.outputs.is_empty() { vec![] } else { vec![paths("edit", &["y"])] };
        assert_eq!((first, others), (&paths("read", &["x", "y"]), &*edited), "{input}");
    }
    for path in ["secrets/*", "/p/x*", "{x,secrets/a}", "[s]ecrets/a"] {
        let claims = Claims::of_tool(&call(ToolKind::Read, "t", json!({"path": path})), &[]);
        assert_eq!(claims.all, [Claim::new("read", Claimed::Unknown)], "{path}");
    }
    let edited = Claims::of_tool(&call(ToolKind::Edit, "t", json!({"path": "app/[id]/page.tsx"})), &[]);
    assert_eq!(edited.all, [paths("edit", &["app/[id]/page.tsx"])]);
}

#[test]
fn a_command_in_a_terminal_of_the_agents_counts_before_the_title_and_beside_the_input() {
    let of = |input: Value, running: &[(&str, &str)]| {
        let running: Vec<Running<'_>> = running.iter().map(|(command, cwd)| Running { command, cwd }).collect();
        Claims::of_tool(&call(ToolKind::Execute, "ls", input), &running)
    };
    assert_eq!(of(Value::Null, &[("rm -rf /", "")]).all, [line("rm -rf /")]);
    assert_eq!(of(json!({ "command": "ls" }), &[("rm a", "")]).all, [line("ls"), line("rm a")]);
    assert_eq!(of(json!({ "command": "ls" }), &[("ls", "")]).all, [line("ls")]);
    assert_eq!(of(Value::Null, &[("ls", "/p/a")]).cwd.as_deref(), Some("/p/a"));
    let other = of(json!({ "command": "ls", "cwd": "/p" }), &[("ls", "/p/a")]);
    assert_eq!(other.all, [line("ls"), Claim::new(BASH, Claimed::Unknown)], "it runs in two places");
    let long = "x".repeat(MAX_COMMAND + 1);
    assert_eq!(of(Value::Null, &[(&long, "")]).all, [Claim::new(BASH, Claimed::Unknown)]);
}

#[test]
fn what_is_said_of_changes_and_of_no_file_is_unknown() {
    let unread = ToolContent::Unread(crate::model::entry::Block::Text("1d".into()));
    for kind in [ToolKind::Edit, ToolKind::Execute, ToolKind::Read] {
        let mut tool = call(kind, "ls", json!({ "path": "/p/a" }));
        tool.content = vec![unread.clone()];
        let all = Claims::of_tool(&tool, &[]).all;
        assert!(all.contains(&Claim::new("edit", Claimed::Unknown)), "{kind:?} {all:?}");
    }
}

#[test]
fn a_command_does_not_speak_for_what_is_changed_fetched_or_done_by_a_server() {
    let with = |kind, title, mut input: Value| {
        input["command"] = json!("git status");
        claims(kind, title, input)
    };
    let edits = with(ToolKind::Edit, "E", json!({ "path": "/etc/passwd" }));
    assert_eq!(edits, [line("git status"), paths("edit", &["/etc/passwd"])]);
    let deletes = with(ToolKind::Delete, "D", json!({ "path": "a" }));
    assert_eq!(deletes, [line("git status"), paths("delete", &["a"])]);
    let fetches = with(ToolKind::Fetch, "F", json!({ "url": "https://e.x" }));
    assert_eq!(fetches, [line("git status"), Claim::new("fetch", Claimed::Text("https://e.x".into()))]);
    let server = with(ToolKind::Other, "mcp__ssh__exec", json!({ "host": "prod" }));
    assert_eq!(server, [line("git status"), Claim::new("mcp", Claimed::Text("ssh/exec".into()))]);
}

/// What is not known to be none may be a command.
#[test]
fn what_stands_beside_a_command_counts_unless_it_is_known_to_be_none() {
    for (key, value) in [
        ("then", json!({ "command": "rm x" })),
        ("then", json!("rm x")),
        ("code", json!("rm x")),
        ("run", json!(["rm", "x"])),
        ("steps", json!([{ "do": "rm x" }])),
        ("sudo", json!(true)),
        ("options", json!({ "uid": 0 })),
    ] {
        let mut all = claims(ToolKind::Execute, "x", json!({ "command": "git status", (key): value }));
        all.retain(|claim| !claim.only_narrows);
        assert_eq!(all, [line("git status"), Claim::new(BASH, Claimed::Unknown)], "{key}");
    }
    for (key, value) in [
        ("description", json!("Shows it")),
        ("run_in_background", json!(true)),
        ("timeout", json!("5s")),
        ("then", json!("")),
        ("then", json!(null)),
        ("justification", json!("to see it")),
        ("parsed_cmd", json!([{ "type": "unknown", "cmd": "git status" }])),
    ] {
        let all = claims(ToolKind::Execute, "x", json!({ "command": "git status", (key): value }));
        assert_eq!(all, [line("git status")], "{key}");
    }
}

#[test]
fn the_files_of_a_patch_count_beside_the_file_of_the_call() {
    let own = "*** Begin Patch\n*** Update File: x\n+a\n*** End Patch";
    for (key, patch) in [
        ("patch", own),
        ("input", own),
        ("diff", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"),
        ("diff", "diff --git a/x b/x\nnew file mode 100644\n"),
        ("unified_diff", "--- /dev/null\n+++ b/x\t2026-01-01\n@@ -0,0 +1 @@\n+b\n"),
        ("patch", "--- src/a\n+++ src/a\n@@ -1 +1 @@\n-a\n+b\n--- x\n+++ x\n"),
        ("patch", "*** Begin Patch\n*** Update File: src/a\n*** Move to: x\n*** End Patch"),
    ] {
        for (kind, tool) in [(ToolKind::Edit, "edit"), (ToolKind::Delete, "delete")] {
            let all = claims(kind, "E", json!({ "file_path": "src/a", (key): patch }));
            assert_eq!(all[0], paths(tool, &["src/a", "x"]), "{patch}");
        }
    }
    let plain = claims(ToolKind::Edit, "E", json!({ "file_path": "src/a", "diff": "@@ -1 +1 @@\n--- x\n+b" }));
    assert_eq!(plain, [paths("edit", &["src/a"])]);
    let alone = claims(ToolKind::Edit, "E", json!({ "patch": own }));
    assert_eq!(alone, [Claim::new("edit", Claimed::Unknown)]);
}

#[test]
fn every_address_of_a_fetch_counts_wherever_it_stands() {
    let address = |text: &str| Claim::new("fetch", Claimed::Text(text.into()));
    for (key, value, found) in [
        ("proxy", json!("http://evil.com"), "http://evil.com"),
        ("proxy", json!("evil.com:8080"), "evil.com:8080"),
        ("options", json!({ "via": "socks5://evil.com" }), "socks5://evil.com"),
        ("then", json!(["https://evil.com"]), "https://evil.com"),
    ] {
        let all = claims(ToolKind::Fetch, "F", json!({ "url": "https://docs.rs/x", (key): value }));
        assert!(all.contains(&address("https://docs.rs/x")) && all.contains(&address(found)), "{key}: {all:?}");
    }
    let said = claims(ToolKind::Fetch, "F", json!({ "url": "https://docs.rs/x", "prompt": "as https://e.x says" }));
    assert_eq!(said, [address("https://docs.rs/x")]);
}

/// Of such an input it is not known what becomes of which word.
#[test]
fn an_input_without_names_takes_back_what_the_call_says() {
    let unknown = |tool: &str| Claim::new(tool, Claimed::Unknown);
    let words = ["rm", "-rf", "src"].map(str::to_owned).to_vec();
    let list = claims(ToolKind::Execute, "ls", json!(["rm", "-rf", "src"]));
    assert_eq!(list.iter().filter(|claim| !claim.only_narrows).collect::<Vec<_>>(), [&unknown(BASH)]);
    assert!(list.contains(&narrow(Claim::new(BASH, Claimed::Words(words)))), "a deny looks at it");
    let text = claims(ToolKind::Execute, "ls", json!("rm -rf src"));
    assert_eq!(text.iter().filter(|claim| !claim.only_narrows).collect::<Vec<_>>(), [&unknown(BASH)]);
    assert!(text.contains(&narrow(line("rm -rf src"))));
    for input in [json!([]), json!(""), json!(null), json!(1), json!(true), json!([[], 2]), json!(" ")] {
        assert_eq!(claims(ToolKind::Execute, "ls", input.clone()), [line("ls")], "{input}");
    }
    let mut edit = call(ToolKind::Edit, "e", json!(["/p/.git/config"]));
    edit.locations = vec![Location { path: "/p/a.txt".into(), line: None }];
    let mut edit = Claims::of_tool(&edit, &[]);
    edit.all.retain(|claim| !claim.is_guess);
    assert_eq!(edit.all, [narrow(paths("edit", &["/p/a.txt"])), unknown("edit")]);
    assert_eq!((edit.strays, edit.texts), (vec!["/p/.git/config".to_owned()], vec!["/p/.git/config".to_owned()]));
    let other = claims(ToolKind::Other, "ls", json!("rm -rf src"));
    assert!(other.iter().all(|claim| claim.only_narrows || claim.what == Claimed::Unknown), "{other:?}");
}

#[test]
fn words_beside_a_call_that_name_another_command_take_back_its_title() {
    let asked = |kind, title: &str, input: Value, text: &str| {
        let mut tool = call(kind, title, input);
        tool.content = vec![ToolContent::Block(crate::model::entry::Block::Text(text.into()))];
        Claims::of_tool(&tool, &[]).all.iter().any(|claim| !claim.only_narrows && claim.what != Claimed::Unknown)
    };
    let run = |command: &str| format!("Requesting approval to perform: Run command `{command}`");
    use ToolKind::{Execute, Other};
    for (title, command, is_told) in [
        ("Shell: ls", "ls", true),
        ("Shell: ls", "rm -rf src", false),
        ("Shell: ls", "ls\nrm", false),
        ("Shell: ls rm", "ls\nrm", false),
        ("Shell: ls -la", "ls  -la", true),
        ("ls", "ls` and `rm", false),
    ] {
        assert_eq!(asked(Other, title, Value::Null, &run(command)), is_told, "{title} {command:?}");
    }
    assert!(asked(Execute, "`ls`", Value::Null, &run("ls")));
    assert!(!asked(Execute, "ls", Value::Null, &run("rm x")));
    assert!(asked(Execute, "List files", json!({ "command": "ls" }), &run("ls")));
    assert!(asked(Execute, "x", json!({ "command": ["bash", "-lc", "ls"] }), &run("ls")));
    assert!(!asked(Execute, "ls", Value::Null, "Run command `ls`; then more"));
    assert!(asked(Execute, "ls", Value::Null, "It lists `src` and more"));
}

#[test]
fn what_a_call_writes_besides_is_an_edit_of_that_file() {
    let of = |kind, input: Value| {
        let claims = Claims::of_tool(&call(kind, "x", input), &[]);
        let edits = claims.all.into_iter().filter(|claim| claim.tool == "edit" && !claim.only_narrows);
        (edits.map(|claim| claim.what).collect::<Vec<_>>(), claims.outputs, claims.files)
    };
    let edit = |path: &str| vec![Claimed::Paths(vec![path.to_owned()])];
    for key in
        ["output", "out", "saveTo", "save-as", "output_file", "outputPath", "download_dir", "dest", "destination"]
    {
        let (edits, outputs, files) = of(ToolKind::Fetch, json!({ "url": "https://x.com", (key): "/etc/x" }));
        assert_eq!(
            (edits, outputs, files),
            (edit("/etc/x"), vec!["/etc/x".to_owned()], vec!["/etc/x".to_owned()]),
            "{key}"
        );
        for kind in [ToolKind::Read, ToolKind::Search, ToolKind::Delete] {
            let (edits, _, files) = of(kind, json!({ "path": "a", (key): "/etc/x" }));
            assert_eq!(edits.last(), edit("/etc/x").first(), "{kind:?} {key}");
            assert_eq!(files, ["/etc/x", "a"], "{kind:?} {key}");
        }
        // A rule for a tool of its own speaks for all of it, inside.
        let (edits, outputs, files) = of(ToolKind::Other, json!({ (key): "/etc/x" }));
        assert_eq!((edits, outputs.len(), files.len()), (vec![], 1, 1), "{key}");
    }
    assert_eq!(of(ToolKind::Fetch, json!({ "url": "https://x.com", "output": { "path": "b/c" } })).1, ["b/c"]);
    for form in ["markdown", "json", "https://x.com/a", "All of it. Then more.", "a\nb.c"] {
        assert_eq!(
            of(ToolKind::Fetch, json!({ "url": "https://x.com", "output": form })).1,
            Vec::<String>::new(),
            "{form}"
        );
    }
    assert_eq!(of(ToolKind::Execute, json!({ "command": "ls", "output": "/etc/x" })).1, Vec::<String>::new());
}

#[test]
fn texts_of_an_input_that_are_judged_otherwise_are_no_strays() {
    let strays = |kind, input: Value| Claims::of_tool(&call(kind, "x", input), &[]).strays;
    assert_eq!(strays(ToolKind::Read, json!({ "n": "/p/.env", "path": "/p/a" })), ["/p/.env"]);
    assert_eq!(strays(ToolKind::Fetch, json!({ "url": "https://x.com", "upload": "/p/x" })), ["/p/x"]);
    assert_eq!(strays(ToolKind::Other, json!({ "a": { "b": ["c", { "content": "d", "e": "f" }] } })), ["c", "f"]);
    let words: Vec<String> = (0..600).map(|n| format!("word{n}")).collect();
    let found = strays(ToolKind::Edit, json!({ "path": "a", "notes": words, "whatever": ["last", ".git/hooks/x"] }));
    assert!(found.len() < 600 && found.last().is_some_and(|last| last == ".git/hooks/x"), "{}", found.len());
    for input in [
        json!({ "path": "a", "old_string": ".env", "newText": "b", "content": "c" }),
        json!({ "query": "process.env", "pattern": "*.key", "text": "a" }),
        json!({ "a": "two\nlines", "b": "https://x/.env", "c": "" }),
    ] {
        assert!(strays(ToolKind::Other, input.clone()).is_empty(), "{input}");
    }
    assert!(
        strays(ToolKind::Execute, json!({ "command": "git", "args": ["add", "Makefile"], "description": "x" }))
            .is_empty()
    );
}
