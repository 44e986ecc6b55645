//! Registries as they are, as they could be, and as they lie.

use super::*;
use serde_json::{Value, json};

fn agent(id: &str, distribution: Value) -> Value {
    json!({ "id": id, "name": "An Agent", "version": "1.2.3", "description": "does things",
            "distribution": distribution, "unknown": [1, 2] })
}

fn registry(agents: &[Value]) -> Registry {
    read(&json!({ "version": "1.0.0", "agents": agents, "odd": true }).to_string()).unwrap()
}

fn npx() -> Value {
    json!({ "npx": { "package": "@scope/an-agent@1.2.3", "args": ["--acp"], "env": { "NO_UPDATE": "1" } } })
}

#[test]
fn unknown_members_are_passed_over_and_bad_entries_are_left_out_one_by_one() {
    let bad = [
        json!("text"),
        agent("Upper", npx()),
        agent("no-way", json!({})),
        agent("other-way", json!({ "docker": { "image": "x" } })),
        json!({ "id": "no-version", "name": "n", "distribution": npx() }),
        agent(
            "leads-out",
            json!({ "binary": { "linux-x86_64": { "archive": "https://x/a.tar", "cmd": "../../bin/sh" } } }),
        ),
        agent("absolute", json!({ "binary": { "linux-x86_64": { "archive": "https://x/a.tar", "cmd": "/bin/sh" } } })),
        agent(
            "bad-sum",
            json!({ "binary": { "linux-x86_64": { "archive": "https://x/a.tar", "cmd": "a", "sha256": "abc" } } }),
        ),
        agent("option", json!({ "npx": { "package": "--call=evil" } })),
        agent("hidden", json!({ "npx": { "package": "a", "args": ["--x\u{202e}y"] } })),
        agent("control", json!({ "npx": { "package": "a\u{1b}[2J" } })),
        agent("variable", json!({ "npx": { "package": "a", "env": { "A=B": "c" } } })),
        json!({ "id": "deep", "name": "n", "version": "../1", "distribution": npx() }),
    ];
    let mut all = bad.to_vec();
    all.push(agent("good", npx()));
    // The first of an id counts.
    all.push(agent("good", json!({ "uvx": { "package": "other" } })));
    let read = registry(&all);
    let ids: Vec<&str> = read.agents.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(ids, ["good"], "{:?}", read.remarks);
    assert!(read.agents[0].npx.is_some());
    assert_eq!(read.remarks.len(), bad.len() + 1, "{:?}", read.remarks);
}

#[test]
fn a_later_format_is_only_shown() {
    let text = |version: &str| json!({ "version": version, "agents": [agent("a", npx())] }).to_string();
    assert!(!read(&text("1.9.0")).unwrap().is_later);
    assert!(read(&text("2.0.0")).unwrap().is_later);
    assert!(read(&text("0.1")).is_err());
}

#[test]
fn what_is_no_registry_is_refused_with_the_reason() {
    for (text, why) in
        [("", "not JSON"), ("<html>", "not JSON"), ("[]", "no list `agents`"), ("{\"agents\":3}", "agents")]
    {
        assert!(read(text).unwrap_err().contains(why), "{text}");
    }
    let deep = "[".repeat(100_000);
    assert!(read(&deep).is_err());
}

#[test]
fn a_huge_registry_is_read_to_a_bound() {
    let all: Vec<Value> = (0..3000).map(|n| agent(&format!("a{n}"), npx())).collect();
    let read = registry(&all);
    assert_eq!(read.agents.len(), 2000);
    assert!(read.remarks[0].contains("first 2000 of 3000"), "{:?}", read.remarks);
    let bad: Vec<Value> = (0..3000).map(|n| agent(&format!("A{n}"), npx())).collect();
    assert_eq!(registry(&bad).remarks.len(), 22);
}

#[test]
fn texts_are_cleaned_and_cut() {
    let mut one = agent("a", npx());
    one["name"] = json!("Red\u{1b}[31m\nAgent");
    one["description"] = json!("x".repeat(10_000));
    let entry = &registry(&[one]).agents[0];
    assert!(!entry.name.contains(['\u{1b}', '\n']), "{:?}", entry.name);
    assert_eq!(entry.description.len(), 300);
}

fn chosen(distribution: Value, has: &[&str]) -> Result<(String, Vec<String>), String> {
    let read = registry(&[agent("a", distribution)]);
    choose(&read.agents[0], &platform("linux", "x86_64"), &|name| has.contains(&name)).map(|choice| match choice {
        Choice::Binary(target) => (target.cmd.clone(), target.args.clone()),
        Choice::Runner { runner, args, .. } => (runner.to_owned(), args),
    })
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

#[test]
fn a_binary_comes_before_npx_and_npx_before_uvx() {
    let all = json!({
        "binary": { "linux-x86_64": { "archive": "https://x/a.tar.gz", "cmd": "./bin/a", "args": ["acp"] } },
        "npx": { "package": "a@1" }, "uvx": { "package": "a==1" },
    });
    assert_eq!(chosen(all, &["npx", "uvx"]), Ok(("bin/a".into(), words(&["acp"]))));
    let both = json!({ "npx": { "package": "a@1" }, "uvx": { "package": "a==1" } });
    assert_eq!(chosen(both.clone(), &["npx", "uvx"]), Ok(("npx".into(), words(&["--yes", "a@1"]))));
    assert_eq!(chosen(both.clone(), &["uvx"]), Ok(("uvx".into(), words(&["a==1"]))));
    let why = chosen(both, &[]).unwrap_err();
    assert!(why.contains("install Node.js") && why.contains("install uv"), "{why}");
    let named = json!({ "npx": { "package": "a@1", "cmd": "a-acp", "args": ["x y"] } });
    let args = words(&["--yes", "--package", "a@1", "a-acp", "x y"]);
    assert_eq!(chosen(named, &["npx"]), Ok(("npx".into(), args)));
    let named = json!({ "uvx": { "package": "a==1", "cmd": "a-acp" } });
    assert_eq!(chosen(named, &["uvx"]), Ok(("uvx".into(), words(&["--from", "a==1", "a-acp"]))));
}

#[test]
fn no_other_machines_binary_is_taken() {
    let other = json!({ "binary": { "linux-aarch64": { "archive": "https://x/a.tar.gz", "cmd": "a" } } });
    let why = chosen(other, &["npx"]).unwrap_err();
    assert!(why.contains("no binary for linux-x86_64, only for linux-aarch64"), "{why}");
    assert_eq!(platform("macos", "aarch64"), "darwin-aarch64");
}

#[test]
fn an_entry_is_found_by_id_package_suffix_and_a_beginning_that_is_one() {
    let uvx = json!({ "uvx": { "package": "fast-agent-acp==1.2" } });
    let read =
        registry(&[agent("one", npx()), agent("fast", uvx), agent("other-one", npx()), agent("other-two", npx())]);
    let found = |name: &str| read.find(name).map(|entry| entry.id.as_str());
    for (typed, id) in [
        ("one", "one"),
        ("@scope/an-agent@9", "one"),
        ("fast-agent-acp", "fast"),
        ("one-acp", "one"),
        ("other-t", "other-two"),
    ] {
        assert_eq!(found(typed), Ok(id), "{typed}");
    }
    assert!(found("other").unwrap_err().contains("other-one, other-two"));
    for typed in ["", "-acp", "nothing"] {
        assert!(found(typed).unwrap_err().contains("no agent"), "{typed}");
    }
}
