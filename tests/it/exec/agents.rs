//! `acp-tui agents`: what a registry would have run here, and what is done of it.

use super::support::{Done, Lab, PROGRAM, Running};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;

fn agents(lab: &Lab, args: &[&str]) -> Done {
    let mut command = lab.program();
    command.arg("agents").args(args);
    Running::start(command, Stdio::null()).finish()
}

fn platform() -> String {
    let os = if std::env::consts::OS == "macos" { "darwin" } else { std::env::consts::OS };
    format!("{os}-{}", std::env::consts::ARCH)
}

/// An archive with an agent in it; its address and its digest.
fn archive(lab: &Lab, name: &str) -> (String, String) {
    let text = format!("#!/bin/sh\nexec '{PROGRAM}' demo-agent --fast \"$@\"\n");
    let mut header = tar::Header::new_gnu();
    header.set_size(text.len() as u64);
    header.set_mode(0o755);
    let mut tar = tar::Builder::new(Vec::new());
    tar.append_data(&mut header, "bin/tested", text.as_bytes()).unwrap();
    let bytes = tar.into_inner().unwrap();
    let path = lab.path(name);
    std::fs::write(&path, &bytes).unwrap();
    let sum = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    (format!("file://{}", path.display()), sum)
}

/// A registry with one agent, which has a binary.
fn registry(lab: &Lab, version: &str, archive: &str, sha256: &str) -> String {
    let target =
        json!({ "archive": archive, "cmd": "./bin/tested", "args": [], "env": { "NO_UPDATE": "1" }, "sha256": sha256 });
    let entry = json!({
        "id": "tested", "name": "Tested Agent", "version": version, "description": "for tests", "license": "MIT",
        "distribution": { "binary": { platform(): target } },
    });
    lab.write("registry.json", &json!({ "version": "1.0.0", "agents": [entry] }).to_string()).display().to_string()
}

/// What is in the directory of agents, but for the lock and the copies of registries.
fn left(lab: &Lab) -> Vec<String> {
    let home = lab.path("home/.local/share/acp-tui/agents");
    let mut names: Vec<String> = std::fs::read_dir(home)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !["lock", "registries"].contains(&name.as_str()))
        .collect();
    names.sort();
    names
}

fn rows(done: &Done) -> Vec<Value> {
    done.out().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn an_agent_is_added_after_a_yes_used_updated_and_removed() {
    let lab = Lab::new();
    let (address, sum) = archive(&lab, "tested-1.tar");
    let registry = registry(&lab, "1.0.0", &address, &sum);
    let asked = agents(&lab, &["add", "tested", "--registry", &registry]);
    asked.assert_says(2, &["`--yes` agrees"]);
    for part in [address.as_str(), sum.as_str(), "Tested Agent", "MIT", "/1.0.0/bin/tested", "NO_UPDATE=1"] {
        assert!(asked.out().contains(part), "{part}: {}", asked.out());
    }
    assert_eq!(left(&lab), Vec::<String>::new(), "nothing before a yes");

    // The registry is remembered.
    let added = agents(&lab, &["add", "tested", "--yes", "--json"]);
    let row = rows(added.assert_code(0)).remove(0);
    let program = row["command"].as_str().unwrap().to_owned();
    assert!(program.ends_with("/tested/1.0.0/bin/tested") && Path::new(&program).is_file(), "{row}");
    assert_eq!(Path::new(&program).metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!((&row["sha256"], &row["env"]), (&json!(sum), &json!(["NO_UPDATE"])));
    agents(&lab, &["check", "tested", "--json"]).assert_says(0, &["starting"]);
    lab.exec(&["--agent", "tested", "hello"], &[]).assert_code(0);
    agents(&lab, &["add", "tested", "--yes"]).assert_says(3, &["1.0.0 is there already"]);

    // A new version of the registry.
    let registry = self::registry(&lab, "1.1.0", &address, &sum);
    let listed = agents(&lab, &["list", "--json", "--registry", &registry]);
    let rows = rows(listed.assert_code(0));
    let row = rows.iter().find(|row| row["id"] == "tested").unwrap();
    assert_eq!(
        (&row["origin"], &row["version"], &row["update"]),
        (&json!("installed"), &json!("1.0.0"), &json!("1.1.0"))
    );
    agents(&lab, &["add", "tested", "--yes"]).assert_says(0, &["the version before stays"]);
    assert!(Path::new(&program).is_file());
    agents(&lab, &["remove", "tested"]).assert_says(2, &["`--yes` agrees"]);
    agents(&lab, &["remove", "tested", "--yes"]).assert_code(0);
    assert!(!Path::new(&program).exists());
    agents(&lab, &["remove", "tested", "--yes"]).assert_says(2, &["none was added"]);
    lab.exec(&["--agent", "tested", "hello"], &[]).assert_says(2, &["there is no agent \"tested\""]);
}

#[test]
fn what_is_not_what_the_registry_says_leaves_nothing() {
    let lab = Lab::new();
    let (address, sum) = archive(&lab, "tested.tar");
    let lie = "0".repeat(64);
    let torn = lab.write("torn.tar.gz", "no archive").display().to_string();
    let cases: &[(&str, &str, &str)] = &[
        (&address, &lie, &sum),
        (&format!("file://{torn}"), "", "not what its name says"),
        ("file:///nothing/there.tar", "", "No such file"),
        ("http://example.org/a.tar", "", "without encryption"),
        ("https://example.org/a.dmg", "", "only .tar, .tar.gz"),
    ];
    for (archive, sum, why) in cases {
        let mut registry = registry(&lab, "1.0.0", archive, sum);
        if sum.is_empty() {
            let text = std::fs::read_to_string(&registry).unwrap().replace(",\"sha256\":\"\"", "");
            registry = lab.write("registry.json", &text).display().to_string();
        }
        agents(&lab, &["add", "tested", "--yes", "--registry", &registry]).assert_says(3, &[why]);
        assert_eq!(left(&lab), Vec::<String>::new(), "{archive}");
    }
}

#[test]
fn an_address_is_read_by_curl_and_its_copy_serves_when_it_cannot_be() {
    let lab = Lab::new();
    let package = json!({ "package": "@scope/other@2.0.0", "args": ["--acp"] });
    let entry = json!({ "id": "other", "name": "Other", "version": "2.0.0", "distribution": { "npx": package } });
    lab.write("served", &json!({ "version": "1.0.0", "agents": [entry, "rubbish"] }).to_string());
    std::fs::create_dir(lab.path("bin")).unwrap();
    for (name, text) in [
        (
            "curl",
            format!(
                "#!/bin/sh\necho \"$*\" > '{0}'\ncat '{1}'\n",
                lab.path("asked").display(),
                lab.path("served").display()
            ),
        ),
        ("npx", "#!/bin/sh\n".to_owned()),
    ] {
        let path = lab.write(&format!("bin/{name}"), &text);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let agents = |args: &[&str]| {
        let path = std::env::join_paths([lab.path("bin"), "/usr/bin".into(), "/bin".into()]).unwrap();
        let mut command = lab.program();
        command.arg("agents").args(args).env("PATH", path);
        Running::start(command, Stdio::null()).finish()
    };
    let address = "https://registry.example/r.json";
    let listed = agents(&["list", "--registry", address]);
    listed.assert_says(0, &["entry number 2 is left out"]);
    assert!(listed.out().contains("`npx --yes @scope/other@2.0.0 --acp`"), "{}", listed.out());
    let asked = std::fs::read_to_string(lab.path("asked")).unwrap();
    assert!(asked.contains("--proto =https --proto-redir =https") && asked.trim_end().ends_with(address), "{asked}");
    // What it serves now is no registry.
    lab.write("served", "<html>");
    agents(&["list", "--registry", address]).assert_says(0, &["not JSON", "the copy that was kept just now"]);
    agents(&["list", "--registry", "https://other.example/"]).assert_says(3, &["not JSON"]);
    let added = agents(&["add", "@scope/other", "--yes"]);
    assert!(added.assert_code(0).out().contains("npx downloads the package when it is started"), "{}", added.out());
    agents(&["list", "--registry", "http://example.org/r.json"]).assert_says(3, &["without encryption"]);
}
