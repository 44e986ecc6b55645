//! What `exec` leaves behind as a conversation: `sessions` lists it, `search` finds what was said in it.

use super::support::{Done, Lab, Running, run};
use serde_json::Value;
use std::process::Stdio;
use std::time::SystemTime;

fn lines(done: &Done) -> Vec<Value> {
    done.out().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_conversation_is_listed_with_all_that_scripts_rely_on() {
    let lab = Lab::new();
    let done = lab.exec(&["mend it", "--json"], &lab.turn(r#"{ do = "say", text = "mended" }"#));
    let id = done.assert_code(0).result()["session_id"].as_str().unwrap().to_owned();
    let listed: Value = serde_json::from_str(run(&lab, &["sessions", "--json"]).assert_code(0).out()).unwrap();
    assert_eq!(listed["v"], 2);
    let one = &listed["sessions"][0];
    assert_eq!(
        (&one["session_id"], &one["first_prompt"], &one["last_prompt"]),
        (&id.into(), &"mend it".into(), &"mend it".into())
    );
    assert_eq!((&one["turns"], &one["state"], &one["source"]), (&1.into(), &"ended".into(), &"ours".into()));
    assert_eq!(one["cwd"], lab.cwd().to_str().unwrap());
    assert!(one["created"].as_str().unwrap().ends_with('Z') && one["bytes"].as_u64().unwrap() > 0);
    assert!(run(&lab, &["sessions", "MEND"]).assert_code(0).out().contains("mend it"));
    run(&lab, &["sessions", "nothing like it"]).assert_says(2, &["--all"]);
    let elsewhere = lab.path("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let mut command = lab.program();
    command.arg("sessions").current_dir(&elsewhere);
    Running::start(command, Stdio::null()).finish().assert_says(2, &["--all"]);
}

#[test]
fn what_was_said_is_found_with_its_place_and_where_it_is_not_the_exit_code_says_so() {
    let lab = Lab::new();
    let script =
        r#"{ do = "thought", text = "hm, a needle" }, { do = "say", text = "here is the needle you want", chunk = 3 }"#;
    lab.exec(&["find the needle"], &lab.turn(script)).assert_code(0);
    let hits = lines(run(&lab, &["search", "needle", "--json"]).assert_code(0));
    let said: Vec<_> = hits.iter().map(|hit| (hit["role"].as_str().unwrap(), hit["text"].as_str().unwrap())).collect();
    assert!(said.contains(&("user", "find the needle")), "{said:?}");
    assert!(said.contains(&("agent", "here is the needle you want")), "{said:?}");
    for hit in &hits {
        let mut members: Vec<&str> = hit.as_object().unwrap().keys().map(String::as_str).collect();
        members.sort_unstable();
        let mut want = ["session_id", "agent", "cwd", "turn", "role", "time", "text"];
        want.sort_unstable();
        assert_eq!(members, want);
        assert_eq!(hit["turn"], 1);
    }
    assert!(run(&lab, &["search", "the needle you"]).assert_code(0).out().contains("here is the needle you want"));
    assert_eq!(
        lines(run(&lab, &["search", "--regex", "n[e]+dle", "--role", "user", "--json"]).assert_code(0)).len(),
        1
    );
    assert_eq!(run(&lab, &["search", "haystack"]).assert_says(1, &["found nowhere"]).out(), "");
    run(&lab, &["search", "needle", "--agent", "nobody"]).assert_code(1);
    run(&lab, &["search", "needle", "--since", "2999-01-01"]).assert_code(1);
    run(&lab, &["search", "needle", "-C", "/"]).assert_code(0);
    run(&lab, &["search", "--regex", "(needle"]).assert_says(2, &["unclosed group"]);
}

#[test]
fn a_conversation_goes_out_in_each_format_and_comes_back_once() {
    let lab = Lab::new();
    let script = r#"{ do = "say", text = "the <b>answer</b> of the agent" }"#;
    let done =
        lab.exec(&["my question", "--json", "--record", lab.path("r.jsonl").to_str().unwrap()], &lab.turn(script));
    let id = done.assert_code(0).result()["session_id"].as_str().unwrap().to_owned();
    let markdown = run(&lab, &["export", "last"]);
    for part in ["## You", "my question", "## Agent", "the &lt;b>answer&lt;/b> of the agent"] {
        assert!(markdown.assert_code(0).out().contains(part), "{part}: {}", markdown.out());
    }
    let html = run(&lab, &["export", &id, "--format", "html"]);
    assert!(html.assert_code(0).out().contains("the &lt;b&gt;answer&lt;/b&gt; of the agent"), "{}", html.out());
    assert!(lines(run(&lab, &["export", &id, "--format", "cast"]).assert_code(0)).len() > 2);
    let file = lab.path("out.json");
    let export = ["export", &id, "--format", "json", "-o", file.to_str().unwrap()];
    run(&lab, &export).assert_code(0);
    run(&lab, &export).assert_says(2, &["not written over"]);
    run(&lab, &["export", &id, "--format", "json", "--redact"]).assert_says(2, &["`--redact`", "md, html or cast"]);
    run(&lab, &["export", "nobody"]).assert_says(2, &["no session `nobody`"]);

    let count = || {
        std::fs::read_dir(lab.sessions()).unwrap().filter(|e| e.as_ref().unwrap().path().extension().is_some()).count()
    };
    run(&lab, &["import", file.to_str().unwrap()]).assert_says(0, &["there already"]);
    run(&lab, &["import", lab.path("r.jsonl").to_str().unwrap()]).assert_says(0, &["there already"]);
    assert_eq!(count(), 1);
    run(&lab, &["sessions", "--remove", &id]).assert_says(2, &["Forget session", "asked on a terminal", "`--yes`"]);
    run(&lab, &["sessions", "--json"]).assert_code(0);
    let prompts = std::fs::read_to_string(lab.path("state/acp-tui/written/prompts.jsonl")).unwrap();
    assert!(prompts.contains("\"text\":"), "what exec has asked is in the history: {prompts}");
    run(&lab, &["sessions", "--remove", &id, "--yes"]).assert_code(0);
    assert_eq!(count(), 0);
    assert!(run(&lab, &["import", file.to_str().unwrap()]).assert_code(0).out().contains("imported 1 journal"));
    assert_eq!(run(&lab, &["export", &id]).out(), markdown.out());
    run(&lab, &["sessions", "--remove", &id, "-y"]).assert_code(0);
    for _ in 0..2 {
        run(&lab, &["import", lab.path("r.jsonl").to_str().unwrap()]).assert_code(0);
        assert_eq!(count(), 1);
    }
    assert_eq!(lines(run(&lab, &["search", "answer", "--json"]).assert_code(0))[0]["session_id"], id.as_str());
    let recorded = run(&lab, &["export", &id]);
    for part in ["my question", "the &lt;b>answer&lt;/b> of the agent"] {
        assert!(recorded.assert_code(0).out().contains(part), "{part}: {}", recorded.out());
    }
    run(&lab, &["import", lab.write("x", "no recording\n").to_str().unwrap()]).assert_says(2, &["neither"]);
}

#[test]
fn what_a_command_printed_and_a_file_was_given_is_found_once_and_exported_once() {
    let lab = Lab::new();
    let steps = r#"{ do = "terminal", tool = "t", command = "sh", args = ["-c", "echo seen-$((40+2))"] },
        { do = "write", tool = "w", path = "f", text = "written-line\n" }, { do = "say", text = "done" }"#;
    lab.exec(&["go", "--allow", "all"], &lab.turn(steps)).assert_code(0);
    let export = run(&lab, &["export", "last"]);
    assert_eq!(export.assert_code(0).out().matches("seen-42").count(), 1, "{}", export.out());
    for text in ["seen-42", "written-line"] {
        let found = lines(run(&lab, &["search", text, "--json"]).assert_code(0));
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert_eq!(found[0]["role"], "tool");
    }
}

#[test]
fn what_was_said_in_a_session_that_was_closed_goes_out_too() {
    let lab = Lab::new();
    let steps = r#"{ do = "say", text = "the answer" }, { do = "write", path = "f", text = "one\n", tool = "w" }"#;
    lab.exec(&["my question", "--allow", "all"], &lab.turn(steps)).assert_code(0);
    let said = || (run(&lab, &["export", "last"]), run(&lab, &["blame", "f"]));
    let (path, text) = lab.journal();
    let (export, blame) = said();
    assert!(export.assert_code(0).out().contains("the answer"), "{}", export.out());
    assert!(blame.assert_code(0).out().contains("my question"), "{}", blame.out());
    // As Alt+W does it, before the end of the program.
    let end = text.trim_end().rfind('\n').unwrap() + 1;
    let close = "{\"t\":99.0,\"dir\":\"person\",\"at\":{\"session\":0},\"intent\":\"CloseSession\"}\n";
    std::fs::write(path, format!("{}{close}{}", &text[..end], &text[end..])).unwrap();
    let again = said();
    assert_eq!((again.0.out(), again.1.out()), (export.out(), blame.out()));
}

#[test]
fn an_imported_recording_names_no_command_and_gets_into_no_session_of_ones_own() {
    imports_foreign("evil.jsonl");
}

#[test]
fn an_imported_export_names_no_command_and_gets_into_no_session_of_ones_own() {
    imports_foreign("evil.json");
}

#[track_caller]
fn imports_foreign(name: &str) {
    let lab = Lab::new();
    let said = lab.turn(r#"{ do = "say", text = "genuine" }"#);
    let id = lab.exec(&["mine", "--json"], &said).assert_code(0).result()["session_id"].as_str().unwrap().to_owned();
    let own = |lab: &Lab| -> Value {
        let listed: Value = serde_json::from_str(run(lab, &["sessions", "--json"]).assert_code(0).out()).unwrap();
        listed["sessions"].as_array().unwrap().iter().find(|one| one["source"] == "ours").unwrap().clone()
    };
    let before = own(&lab);
    // What somebody else wrote: it began in times to come, and goes on with the session of the person's own.
    let ran = lab.path("ran");
    let head = serde_json::json!({ "v": 2, "client": "acp-tui 9", "started": 9_000_000_000u64, "imported": false,
        "cwd": lab.cwd(), "command": format!("sh -c 'touch {}'", ran.display()), "codec": "acp-1" });
    let frame = |dir: &str, frame: Value| serde_json::json!({ "t": 1, "dir": dir, "frame": frame }).to_string();
    let ask = |id: u64, method: &str, params: Value| {
        frame("client->agent", serde_json::json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    };
    let answer = |id: u64, result: Value| {
        frame("agent->client", serde_json::json!({ "jsonrpc": "2.0", "id": id, "result": result }))
    };
    let agent = serde_json::json!({ "name": before["agent"], "title": before["agent"], "version": "1" });
    let lines = [
        head.to_string(),
        ask(0, "initialize", serde_json::json!({ "protocolVersion": 1 })),
        answer(
            0,
            serde_json::json!({ "protocolVersion": 1, "agentInfo": agent, "agentCapabilities": { "loadSession": true } }),
        ),
        ask(1, "session/load", serde_json::json!({ "sessionId": id, "cwd": lab.cwd(), "mcpServers": [] })),
        answer(1, serde_json::json!({})),
        ask(
            2,
            "session/prompt",
            serde_json::json!({ "sessionId": id, "prompt": [{ "type": "text", "text": "theirs" }] }),
        ),
        answer(2, serde_json::json!({ "stopReason": "end_turn" })),
    ];
    let values: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let export = serde_json::json!({ "v": 1, "kind": "acp-tui conversation", "journals": [{ "name": "9-9-9", "lines": values }] });
    let text = if name == "evil.json" { export.to_string() } else { lines.join("\n") + "\n" };
    let file = lab.write(name, &text);
    run(&lab, &["import", file.to_str().unwrap()]).assert_code(0);
    let listed: Value = serde_json::from_str(run(&lab, &["sessions", "--json"]).assert_code(0).out()).unwrap();
    let theirs = listed["sessions"].as_array().unwrap().iter().find(|one| one["source"] == "imported").unwrap();
    assert_eq!((&theirs["first_prompt"], &theirs["command"]), (&"theirs".into(), &"".into()), "{name}");
    assert!(theirs["updated"].as_str().unwrap() < "2200", "{name}: {theirs}");
    assert_eq!(own(&lab), before, "{name}");
    for how in [&["exec", "x", "--continue"][..], &["exec", "x", "--resume", &id]] {
        run(&lab, how);
        assert!(!ran.exists(), "{name}: {how:?}");
    }
    // What went on is the person's own.
    std::fs::remove_dir_all(lab.sessions()).unwrap();
    run(&lab, &["import", file.to_str().unwrap()]).assert_code(0);
    run(&lab, &["exec", "x", "--resume", &id]).assert_says(2, &["was imported", "after `--`"]);
    run(&lab, &["exec", "x", "--continue"]).assert_says(2, &["no session of"]);
    assert!(!ran.exists(), "{name}");
}

#[test]
fn remove_all_leaves_no_journal_but_those_that_are_open_and_nothing_in_the_index() {
    let lab = Lab::new();
    lab.exec(&["my question"], &lab.turn(r#"{ do = "say", text = "x" }"#)).assert_code(0);
    run(&lab, &["sessions"]).assert_code(0);
    // Of sessions that never came about.
    let (failed, open) = (lab.sessions().join("1-0-1.jsonl"), lab.sessions().join("2-0-1.jsonl"));
    for file in [&failed, &open] {
        std::fs::write(file, "{\"v\":2,\"started\":1,\"cwd\":\"/\",\"command\":\"x\",\"codec\":\"acp-1\"}\n").unwrap();
    }
    let held = std::fs::File::open(&open).unwrap();
    held.lock().unwrap();
    run(&lab, &["sessions", "--remove", "all", "--yes"]).assert_code(0);
    let left = std::fs::read_dir(lab.sessions()).unwrap().map(|file| file.unwrap().path());
    let left: Vec<_> = left.filter(|path| path.extension().is_some()).collect();
    assert_eq!(left, [open]);
    let index = std::fs::read(lab.sessions().join("index")).unwrap();
    assert!(!String::from_utf8_lossy(&index).contains("my question"));
}

/// What a limit has taken is a row only where something of it can be undone.
#[test]
fn what_was_pruned_leaves_no_row_but_that_of_its_changes() {
    let lab = Lab::new();
    lab.write("config/acp-tui/config.toml", "[sessions]\nkeep = { count = 1 }\n");
    let writes = r#"{ do = "write", path = "f", text = "one\n", tool = "w" }, { do = "say", text = "done" }"#;
    lab.exec(&["writes", "--allow", "all"], &lab.turn(writes)).assert_code(0);
    for prompt in ["says", "says more", "the last"] {
        lab.exec(&[prompt], &lab.script("")).assert_code(0);
    }
    run(&lab, &["sessions", "--prune"]).assert_code(0);
    let listed = run(&lab, &["sessions", "--all", "--json"]);
    let listed: Value = serde_json::from_str(listed.assert_code(0).out()).unwrap();
    let row = |one: &Value| (one["turns"].as_u64().unwrap(), one["changes"]["files"].as_u64().unwrap_or_default());
    let rows: Vec<_> = listed["sessions"].as_array().unwrap().iter().map(row).collect();
    assert_eq!(rows, [(1, 0), (0, 1)], "{listed}");
}

/// One start with a wrong clock must not take everything.
#[test]
fn by_age_conversations_go_only_when_the_clock_has_been_right_for_a_day_and_a_later_start_says_so() {
    let lab = Lab::new();
    lab.exec(&["long ago"], &lab.script("")).assert_code(0);
    let journals = || {
        let files = std::fs::read_dir(lab.sessions()).unwrap().map(|file| file.unwrap().path());
        files.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl")).collect::<Vec<_>>()
    };
    let [old] = &journals()[..] else { panic!("{:?}", journals()) };
    let text = std::fs::read_to_string(old).unwrap();
    let (head, rest) = text.split_once("\"started\":").unwrap();
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    std::fs::write(old, format!("{head}\"started\":1000000{rest}")).unwrap();
    lab.write("config/acp-tui/config.toml", "[sessions]\nkeep = { days = 30 }\n");
    for _ in 0..3 {
        lab.exec(&["today"], &lab.script("")).assert_code(0);
    }
    run(&lab, &["sessions", "--all"]).assert_code(0);
    assert!(old.exists(), "nobody knows whether the clock is right");

    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    let state = lab.sessions().parent().unwrap().to_owned();
    let steady = format!("[{}, {}]", now - 2 * 24 * 60 * 60, now - 60 * 60);
    std::fs::write(state.join(".clock"), steady).unwrap();
    // It is done beside the run, which may end before that.
    let said = (0..50).map(|_| lab.exec(&["today"], &lab.script("")).err().to_owned());
    let said = said.into_iter().find(|said| said.contains("removed, since the configuration"));
    assert!(said.is_some_and(|said| said.contains("1 conversation removed")));
    assert!(!old.exists() && journals().len() >= 4, "{:?}", journals());
}
