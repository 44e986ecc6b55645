//! `--allow`: which requests for permission and which services are granted.

use super::support::{Lab, Recording, demo};
use serde_json::{Value, json};

const USUAL: &str = r#"{ id = "once", name = "Allow", kind = "allow_once" }, { id = "always", name = "Always", kind = "allow_always" }, { id = "no", name = "Reject", kind = "reject_once" }, { id = "never", name = "Never", kind = "reject_always" }"#;

fn ask(kind: &str, options: &str) -> String {
    let kind = if kind.is_empty() { String::new() } else { format!(", kind = \"{kind}\"") };
    format!(r#"{{ do = "permission", tool = "t-{{n}}", call = {{ title = "T"{kind} }}, options = [{options}] }},"#)
}

fn outcomes(allow: &str, asks: &str) -> Vec<String> {
    let lab = Lab::new();
    let (done, record) = lab.record(&["x", "--allow", allow], &lab.turn(asks));
    done.assert_code(0);
    record.outcomes().iter().map(name).collect()
}

fn name(outcome: &Value) -> String {
    let chosen = outcome["optionId"].as_str().or(outcome["outcome"].as_str());
    chosen.unwrap_or("?").to_owned()
}

#[test]
fn kinds_decide_what_reads_allows() {
    let kinds =
        ["read", "search", "think", "edit", "delete", "move", "execute", "fetch", "switch_mode", "other", "dig", ""];
    let asks: String = kinds.iter().map(|kind| ask(kind, USUAL)).collect();
    let mut expected = vec!["once"; 3];
    expected.extend(["no"; 9]);
    assert_eq!(outcomes("reads", &asks), expected);
    assert_eq!(outcomes("all", &asks), ["once"; 12]);
    assert_eq!(outcomes("none", &asks), ["no"; 12]);
}

#[test]
fn the_options_decide_how_it_is_said() {
    let option = |id: &str, kind: &str| format!(r#"{{ id = "{id}", name = "N", kind = "{kind}" }}"#);
    let offered = [
        option("always", "allow_always") + "," + &option("never", "reject_always"),
        option("never", "reject_always"),
        option("no", "reject_once") + "," + &option("never", "reject_always"),
        option("maybe", "allow_tomorrow") + "," + &option("no", "reject_once"),
        option("maybe", "allow_tomorrow"),
        String::new(),
        option("no", "reject_once") + "," + &option("yes", "allow_once"),
    ];
    let asks: String = offered.iter().map(|options| ask("read", options)).collect();
    // What cannot be allowed is refused, never for good.
    assert_eq!(outcomes("all", &asks), ["always", "cancelled", "no", "no", "cancelled", "cancelled", "yes"]);
    assert_eq!(outcomes("none", &asks), ["cancelled", "cancelled", "no", "no", "cancelled", "cancelled", "no"]);
}

/// Each may mean something else.
#[test]
fn of_several_answers_that_allow_the_plain_one_is_given_or_none() {
    let option = |id: &str, name: &str, kind: &str| format!(r#"{{ id = "{id}", name = "{name}", kind = "{kind}" }}"#);
    let no = option("no", "No", "reject_once");
    let once = |id: &str, name: &str| option(id, name, "allow_once");
    let offered = [
        [once("yolo", "Allow and enable YOLO mode"), once("hooks", "Allow and run the hooks"), no.clone()].join(","),
        [once("net", "Allow with network"), once("hooks", "Allow and run the hooks"), no.clone()].join(","),
        [once("net", "Allow with network"), once("yes", "Allow"), no.clone()].join(","),
        [once("a", "Postgres"), once("b", "SQLite")].join(","),
        [option("this", "Always this", "allow_always"), option("all", "Always all", "allow_always"), no].join(","),
    ];
    let lab = Lab::new();
    let asks: String = offered.iter().map(|options| ask("edit", options)).collect();
    let (done, record) = lab.record(&["x", "--allow", "all"], &lab.turn(&asks));
    let said = done.assert_code(0).err();
    let given: Vec<String> = record.outcomes().iter().map(name).collect();
    assert_eq!(given, ["hooks", "no", "yes", "cancelled", "no"], "{said}");
    assert_eq!(said.matches("none of its answers is known to allow it and nothing more").count(), 3, "{said}");
}

/// Outside of the session's directories, by its own hand.
#[test]
fn a_call_that_names_a_file_outside_to_change_it_is_refused_whatever_it_says_that_it_does() {
    let lab = Lab::new();
    let other = lab.path("other").to_str().unwrap().to_owned();
    std::fs::create_dir(&other).unwrap();
    let call = |kind: &str, input: &str| {
        let kind = if kind.is_empty() { String::new() } else { format!(", kind = \"{kind}\"") };
        format!(
            r#"{{ do = "permission", tool = "t-{{n}}", call = {{ title = "T"{kind}, raw_input = {{ {input} }} }}, options = [{USUAL}] }},"#
        )
    };
    let at = |path: &str| {
        [
            call("fetch", &format!(r#"url = "https://x.com", output = "{path}""#)),
            call("fetch", &format!(r#"url = "https://x.com", save_to = {{ file = "{path}" }}"#)),
            call("read", &format!(r#"path = "{{cwd}}/a", output_file = "{path}""#)),
            call("other", &format!(r#"n = 1, output = "{path}""#)),
            call("", &format!(r#"from = "{{cwd}}/a", destination = "{path}""#)),
            call("edit", &format!(r#"path = "{path}""#)),
            call("delete", &format!(r#"path = "{path}""#)),
        ]
        .concat()
    };
    let outcomes = |steps: &str, more: &[&str]| {
        let (done, record) = lab.record(&[&["x", "--allow", "all"], more].concat(), &lab.turn(steps));
        (record.outcomes().iter().map(name).collect::<Vec<_>>(), done.assert_code(0).err().to_owned())
    };
    let (given, said) = outcomes(&at("/etc/x"), &[]);
    assert_eq!(given, ["no"; 7], "{said}");
    assert_eq!(said.matches("refused, as outside the workspace: /etc/x").count(), 7, "{said}");
    assert_eq!(outcomes(&at("{cwd}/out/x"), &[]).0, ["once"; 7]);
    let takes = "[agent.capabilities]\nsessionCapabilities = { additionalDirectories = {} }\n";
    let inside = at(&format!("{other}/x"));
    let agent = lab.script(&format!("{takes}[[turn]]\ndefault = true\nstep = [\n{inside}\n]\n"));
    let (done, record) = lab.record(&["x", "--allow", "all", "--add-dir", &other], &agent);
    done.assert_code(0);
    assert_eq!(record.outcomes().iter().map(name).collect::<Vec<_>>(), ["once"; 7]);
    // What is read there, a form that is no file, and what a command does, the flag is for.
    let more = [
        call("read", r#"path = "/etc/x""#),
        call("fetch", r#"url = "https://x.com", output = "markdown""#),
        call("other", r#"path = "/etc/x""#),
        call("execute", r#"command = "cp a /etc/x""#),
    ];
    assert_eq!(outcomes(&more.concat(), &[]).0, ["once"; 4]);
}

#[test]
fn the_scenario_of_permissions_is_answered_whatever_it_asks() {
    let lab = Lab::new();
    for (prompt, answer) in [
        ("several", "all answered"),
        ("empty", "not allowed"),
        ("unknown", "not allowed"),
        ("only always", "allowed"),
        ("withdraw", "taken back"),
        ("huge", "done"),
        ("twice", "done"),
    ] {
        let (done, record) = lab.record(&[prompt, "--allow", "all"], &demo("permissions"));
        assert_eq!(done.assert_code(0).out().trim_end(), answer, "{prompt}");
        record.outcomes();
    }
}

#[test]
fn a_call_that_was_announced_gives_its_kind() {
    let steps = format!(
        r#"{{ do = "tool", id = "e", title = "Edit", kind = "edit", status = "pending" }},
        {{ do = "tool", id = "r", title = "Read", kind = "read", status = "pending" }},
        {{ do = "permission", tool = "e", options = [{USUAL}] }}, {{ do = "permission", tool = "r", options = [{USUAL}] }},"#
    );
    assert_eq!(outcomes("reads", &steps), ["no", "once"]);
}

/// The answers to a read, a write and a command, as error codes; 0 is a result.
fn services(allow: &str) -> (Vec<i64>, Lab, Recording) {
    let lab = Lab::new();
    std::fs::write(lab.cwd().join("there.txt"), "text\n").unwrap();
    let steps = r#"
        { do = "request", method = "fs/read_text_file", params = { sessionId = "{session}", path = "{cwd}/there.txt" } },
        { do = "request", method = "fs/write_text_file", params = { sessionId = "{session}", path = "{cwd}/new.txt", content = "new" } },
        { do = "request", method = "terminal/create", params = { sessionId = "{session}", command = "touch", args = ["{cwd}/made"] } },
        { do = "wait", ms = 100, firm = true },"#;
    let (done, record) = lab.record(&["x", "--allow", allow], &lab.turn(steps));
    done.assert_code(0);
    let answers = record.answers();
    let codes = record.questions().into_iter().map(|(id, _)| {
        let answer = answers.iter().find(|(answered, _)| *answered == id).unwrap();
        answer.1["error"]["code"].as_i64().unwrap_or(0)
    });
    (codes.collect(), lab, record)
}

#[test]
fn services_are_governed_too_and_stay_advertised() {
    for (allow, granted) in
        [("all", [true, true, true]), ("reads", [true, false, false]), ("none", [false, false, false])]
    {
        let (codes, lab, record) = services(allow);
        assert_eq!(codes.iter().map(|code| *code == 0).collect::<Vec<_>>(), granted, "{allow}: {codes:?}");
        assert_eq!(lab.cwd().join("new.txt").exists(), granted[1]);
        if !granted[2] {
            assert!(!lab.cwd().join("made").exists());
        }
        let offered = &record.calls(true, "initialize")[0]["params"]["clientCapabilities"];
        assert_eq!(offered["fs"], json!({"readTextFile": true, "writeTextFile": true}), "{allow}");
        assert_eq!(offered["terminal"], true, "{allow}");
    }
}

#[test]
fn nothing_outside_the_directory_is_read_or_written() {
    let lab = Lab::new();
    lab.write("outside.txt", "secret");
    std::os::unix::fs::symlink(lab.path("outside.txt"), lab.cwd().join("link")).unwrap();
    let made = lab.command("mkfifo").arg(lab.cwd().join("fifo")).status().unwrap();
    assert!(made.success());
    let mut steps = String::new();
    for path in [
        "{cwd}/../outside.txt",
        "/etc/passwd",
        "{cwd}/link",
        "{cwd}/fifo",
        "/dev/zero",
        "{cwd}",
        "relative.txt",
        "/proc/self/environ",
    ] {
        for (method, content) in [("fs/read_text_file", ""), ("fs/write_text_file", ", content = \"x\"")] {
            steps += &format!(
                "{{ do = \"request\", method = \"{method}\", params = {{ sessionId = \"{{session}}\", path = \"{path}\"{content} }} }},\n"
            );
        }
    }
    let (done, record) = lab.record(&["x", "--allow", "all"], &lab.turn(&steps));
    done.assert_code(0);
    let answers = record.answers();
    assert_eq!(answers.len(), 16);
    for (_, answer) in &answers {
        assert!(answer["error"]["code"].is_i64(), "{answer}");
    }
    assert_eq!(std::fs::read_to_string(lab.path("outside.txt")).unwrap(), "secret");
}

#[test]
fn outside_only_a_rule_that_names_it_or_a_further_directory_opens_a_file_where_nobody_is_asked() {
    let lab = Lab::new();
    for name in ["docs", "other"] {
        std::fs::create_dir(lab.path(name)).unwrap();
        lab.write(&format!("{name}/kept"), "old\n");
    }
    // By a link, so that it is the real place that counts.
    std::os::unix::fs::symlink(lab.path("docs"), lab.cwd().join("docs")).unwrap();
    let steps: String = ["{cwd}/docs", "{cwd}/../other"]
        .iter()
        .flat_map(|dir| {
            let ask = move |method: &str, name: &str, more: &str| {
                format!("{{ do = \"request\", method = \"fs/{method}_text_file\", params = {{ sessionId = \"{{session}}\", path = \"{dir}/{name}\"{more} }} }},\n")
            };
            [ask("read", "kept", ""), ask("write", "new", ", content = \"new\"")]
        })
        .collect();
    let docs = lab.path("docs").canonicalize().unwrap();
    let rules = lab.write("r.toml", &format!("allow = [\"Read({0}/**)\", \"Edit({0}/**)\"]\n", docs.display()));
    let rules = rules.to_str().unwrap().to_owned();
    let other = lab.path("other").to_str().unwrap().to_owned();
    let none = [false; 4];
    let takes = "[agent.capabilities]\nsessionCapabilities = { additionalDirectories = {} }\n";
    let agent = lab.script(&format!("{takes}[[turn]]\ndefault = true\nstep = [\n{steps}\n]\n"));
    for (args, granted) in [
        (vec!["--allow", "all"], none),
        (vec!["--allow", "all", "--permission-mode", "bypassPermissions"], none),
        (vec!["--rules", &rules], [true, true, false, false]),
        (vec!["--rules", &rules, "--permission-mode", "bypassPermissions"], [true, true, false, false]),
        (vec!["--allow", "all", "--add-dir", &other], [false, false, true, true]),
    ] {
        let (done, record) = lab.record(&[&["x"], &args[..]].concat(), &agent);
        done.assert_code(0);
        let answers = record.answers();
        let is_done = |(id, _): &(String, String)| {
            let answer = answers.iter().find(|(answered, _)| answered == id).unwrap();
            answer.1["error"].is_null()
        };
        let done: Vec<bool> = record.questions().iter().map(is_done).collect();
        assert_eq!(done, granted, "{args:?} {answers:?}");
        for (dir, is_written) in [("docs", granted[1]), ("other", granted[3])] {
            assert_eq!(lab.path(dir).join("new").exists(), is_written, "{args:?}");
            let _ = std::fs::remove_file(lab.path(dir).join("new"));
        }
    }
}

#[test]
fn r_053_a_write_that_would_have_to_be_mended_is_refused_and_nothing_is_written() {
    let lab = Lab::new();
    let begin = |id: &str| {
        format!(
            r#"{{ do = "raw", newline = false, text = '{{"jsonrpc":"2.0","id":"{id}","method":"fs/write_text_file","params":{{"sessionId":"{{session}}","path":"{{cwd}}/' }},"#
        )
    };
    let steps = [
        begin("bytes"),
        r#"{ do = "raw", newline = false, text = 'a.txt","content":"a' }, { do = "raw_bytes", hex = "ff" }, { do = "raw", text = 'b"}}' },"#.to_owned(),
        begin("content"),
        r#"{ do = "raw", text = 'b.txt","content":"a\ud800b"}}' },"#.to_owned(),
        begin("path"),
        r#"{ do = "raw", text = 'c\udc00.txt","content":"x"}}' },"#.to_owned(),
        begin("good"),
        r#"{ do = "raw", text = 'd.txt","content":"a\ud83d\ude00b"}}' },"#.to_owned(),
        r#"{ do = "wait", ms = 100, firm = true }, { do = "say", text = "a\uFFFDb" }"#.to_owned(),
    ];
    let (done, record) = lab.record(&["x", "--allow", "all"], &lab.turn(&steps.join("\n")));
    done.assert_code(0);
    let codes: Vec<_> =
        record.answers().into_iter().map(|(id, answer)| (id, answer["error"]["code"].as_i64())).collect();
    for (id, code) in [("bytes", Some(-32700)), ("content", Some(-32602)), ("path", Some(-32602)), ("good", None)] {
        let mine: Vec<_> = codes.iter().filter(|(answered, _)| *answered == format!("\"{id}\"")).collect();
        assert_eq!(mine, [&(format!("\"{id}\""), code)]);
    }
    assert!(done.err().contains("a message that cannot be read"), "{}", done.err());
    let files: Vec<_> = std::fs::read_dir(lab.cwd()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files, ["d.txt"]);
    assert_eq!(std::fs::read_to_string(lab.cwd().join("d.txt")).unwrap(), "a\u{1f600}b");
}

#[test]
fn what_may_be_secret_is_refused_whatever_is_allowed_unless_a_rule_names_it() {
    let lab = Lab::new();
    lab.write("work/.env", "KEY=1\n");
    let read = r#"{ do = "request", method = "fs/read_text_file", params = { sessionId = "{session}", path = "{cwd}/.env" } },"#;
    let write = r#"{ do = "request", method = "fs/write_text_file", params = { sessionId = "{session}", path = "{cwd}/.env", content = "" } },"#;
    let run = r#"{ do = "request", method = "terminal/create", params = { sessionId = "{session}", command = "cat", args = [".env"] } },"#;
    let call = format!(
        r#"{{ do = "permission", tool = "t", call = {{ title = "T", kind = "read", locations = ["{{cwd}}/.env"] }}, options = [{USUAL}] }},"#
    );
    let steps = format!("{read}\n{write}\n{run}\n{call}");
    let (done, record) = lab.record(&["x", "--allow", "all"], &lab.turn(&steps));
    let said = done.assert_code(0).err();
    for rule in ["Read(.env)", "Edit(.env)", "Bash(cat .env)"] {
        assert!(said.contains(&format!("the rule {rule} would allow it")), "{said}");
    }
    assert!(said.contains("passwords and keys"), "{said}");
    assert_eq!(record.outcomes().iter().map(name).collect::<Vec<_>>(), ["no"]);
    assert_eq!(std::fs::read_to_string(lab.path("work/.env")).unwrap(), "KEY=1\n");

    // The question itself names nothing; the call has, right before it.
    let update = r#"{ do = "update", update = { sessionUpdate = "tool_call_update", toolCallId = "u", kind = "read", title = "read", locations = [{ path = "{cwd}/.env" }], rawInput = { filePath = "{cwd}/.env" } } },"#;
    let unnamed = format!(
        r#"{{ do = "permission", tool = "u", call = {{ title = "read", kind = "read", locations = [], raw_input = {{}} }}, options = [{USUAL}] }},"#
    );
    let (done, record) = lab.record(&["x", "--allow", "all"], &lab.turn(&format!("{update}\n{unnamed}")));
    assert!(done.assert_code(0).err().contains("passwords and keys"), "{}", done.err());
    assert_eq!(record.outcomes().iter().map(name).collect::<Vec<_>>(), ["no"]);

    let rules = lab.write("rules.toml", "allow = [\"Read(.env)\"]\n");
    let rules = rules.to_str().unwrap().to_owned();
    let (done, record) = lab.record(&["x", "--rules", &rules], &lab.turn(&format!("{read}\n{call}")));
    assert!(!done.assert_code(0).err().contains("refused"), "{}", done.err());
    assert_eq!(record.outcomes().iter().map(name).collect::<Vec<_>>(), ["once"]);
}

#[test]
fn what_steers_later_commands_is_not_written_whatever_is_allowed_unless_a_rule_names_it() {
    let lab = Lab::new();
    std::fs::create_dir_all(lab.cwd().join(".husky")).unwrap();
    let write = |path: &str| {
        format!(
            r#"{{ do = "request", method = "fs/write_text_file", params = {{ sessionId = "{{session}}", path = "{{cwd}}/{path}", content = "x" }} }},"#
        )
    };
    let steps = [write(".husky/pre-commit"), write("package.json")].concat();
    for more in [&["--allow", "all"][..], &["--allow", "all", "--permission-mode", "bypassPermissions"]] {
        let (done, _) = lab.record(&[&["x"], more].concat(), &lab.turn(&steps));
        let said = done.assert_code(0).err();
        assert!(said.contains("the rule Edit(.husky/pre-commit) would allow it"), "{said}");
        assert!(!lab.cwd().join(".husky/pre-commit").exists(), "{more:?}");
        assert!(lab.cwd().join("package.json").exists(), "what people write every day is written");
    }
    let rules = lab.write("rules.toml", "allow = [\"Edit(.husky/*)\"]\n");
    lab.record(&["x", "--rules", rules.to_str().unwrap()], &lab.turn(&steps)).0.assert_code(0);
    assert!(lab.cwd().join(".husky/pre-commit").exists());
}

#[test]
fn a_permission_mode_of_the_command_line_is_in_the_audit_log_and_a_session_without_decisions_is_told() {
    let lab = Lab::new();
    let agent = lab.turn(r#"{ do = "say", text = "here" }"#);
    lab.exec(&["x", "--permission-mode", "plan"], &agent).assert_code(0);
    let audit = |more: &[&str]| lab.program().args([&["audit"], more].concat()).output().unwrap();
    let text = String::from_utf8(audit(&["--json"]).stdout).unwrap();
    let modes: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [mode] = &modes[..] else { panic!("{text}") };
    assert_eq!([&mode["event"], &mode["what"], &mode["by"]].map(Value::as_str), ["mode", "plan", "flag"].map(Some));
    let session = mode["session"].as_str().expect("its session");
    let of = audit(&["--session", session]);
    assert!(String::from_utf8_lossy(&of.stdout).contains("(by --permission-mode)") && of.stderr.is_empty(), "{of:?}");
    let none = audit(&["--session", "no-such"]);
    let said = String::from_utf8_lossy(&none.stderr);
    assert!(none.stdout.is_empty() && said.contains("no decision of a session whose id begins with no-such"), "{said}");
}
