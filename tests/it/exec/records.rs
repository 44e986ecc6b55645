//! The recording and the journal: what is in them, who may read them, and that they tell the same as was printed.

use super::support::{Lab, Recording, Running, demo, is_alive, wait_until};
use crate::support::schema::check_journals;
use acp_tui::engine::replay::replay;
use acp_tui::model::Model;
use acp_tui::model::entry::Body;
use acp_tui::model::session::{Allow, Policy};
use rustix::process::Signal;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

/// The agent's messages of a journal or a recording, played back.
fn replayed(lab: &Lab, text: &str) -> String {
    let cwd = lab.cwd();
    let model = Model::new("agent".into(), cwd.to_str().unwrap().into(), Policy::Auto(Allow::All));
    let (model, _) = replay(model, cwd, text.lines());
    let said = model.first().session().entries().iter().filter_map(|entry| match &entry.body {
        Body::Agent(message) => Some(message.text.clone()),
        _ => None,
    });
    said.collect()
}

#[test]
fn the_recording_is_private_and_holds_every_line() {
    let lab = Lab::new();
    let file = lab.write("record.jsonl", "an older one\n");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let agent = lab.script("[agent]\nbanner = \"hello \\u001b[31mred\\n\"\nstderr = \"to stderr\\n\"\n");
    lab.exec(&["ping", "--record", file.to_str().unwrap()], &agent).assert_code(0);
    assert_eq!(mode(&file), 0o600);
    let text = std::fs::read_to_string(&file).unwrap();
    for line in text.lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        assert!(value["t"].is_f64() && value["v"].is_null(), "{line}");
        assert!(value["frame"].is_object() != value["raw"].is_string(), "{line}");
        assert_eq!(value.as_object().unwrap().len(), 3, "{line}");
    }
    let record = Recording::read(&file);
    let raw = |dir: &str| record.records.iter().filter(|r| r.dir == dir).find_map(|r| r.raw.clone());
    assert_eq!(raw("agent->client").as_deref(), Some("hello \u{1b}[31mred"));
    assert_eq!(raw("stderr").as_deref(), Some("to stderr"));
    let times: Vec<f64> = record.records.iter().map(|r| r.t).collect();
    assert!(times.is_sorted(), "{times:?}");
    assert_eq!(record.calls(true, "session/prompt")[0]["params"]["prompt"][0]["text"], "ping");
}

#[test]
fn how_an_agent_ended_by_itself_is_recorded_shown_and_played_again() {
    let lab = Lab::new();
    for (prompt, part, note) in [
        ("exit 7", "7", r#"{"event":"exit","code":7,"signal":null}"#),
        ("kill", "KILL", r#"{"event":"exit","code":null,"signal":"SIGKILL"}"#),
    ] {
        let (done, record) = lab.record(&[prompt], &demo("death"));
        done.assert_says(5, &[part]);
        let last = record.records.last().unwrap();
        assert_eq!((&*last.dir, last.text()), ("note", note));
        let file = lab.path("record.jsonl");
        let shown = lab.program().args(["inspect", "--plain", "--filter", "note"]).arg(&file).output().unwrap();
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        assert!(shown.contains(&format!("-- {note}")) && shown.lines().count() == 1, "{shown}");
        let replay = [demo("death")[0].clone(), "replay".into(), "--fast".into(), file.to_str().unwrap().into()];
        lab.exec(&[prompt], &replay).assert_says(5, &[part]);
    }
    // One that the client ends does not end by itself.
    let (done, record) = lab.record(&["hello"], &lab.script(""));
    done.assert_code(0);
    assert!(record.records.iter().all(|record| record.dir != "note"));
}

#[test]
fn the_journal_is_private_and_begins_with_its_version() {
    let lab = Lab::new();
    lab.exec(&["hello"], &lab.script("")).assert_code(0);
    let (path, text) = lab.journal();
    assert_eq!(mode(&path), 0o600);
    assert_eq!((mode(&lab.sessions()), mode(&lab.path("state/acp-tui"))), (0o700, 0o700));
    assert!(text.starts_with('{') && text.ends_with('\n'));
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(first["v"], 2);
    assert_eq!(text.lines().filter(|line| line.contains("\"v\":2")).count(), 1);
    for line in text.lines() {
        serde_json::from_str::<Value>(line).unwrap();
    }
}

#[test]
fn a_replay_tells_what_exec_printed() {
    for (script, prompt) in [
        ("demo", "fix it"),
        ("corruption", "x"),
        ("reorder", "late"),
        ("reorder", "go"),
        ("escape", "go"),
        ("death", "exit 7"),
        ("permissions", "several"),
    ] {
        let lab = Lab::new();
        let file = lab.path("record.jsonl");
        let args = [prompt, "--json", "--allow", "all", "--record", file.to_str().unwrap()];
        let done = lab.exec(&args, &demo(script));
        let printed = done.json_text("text");
        let (_, journal) = lab.journal();
        assert_eq!(replayed(&lab, &journal), printed, "the journal of {script} {prompt}");
        // A recording has no intents: ours are seen in what we sent. The agent's words must all be there.
        let record = Recording::read(&file);
        let chunks: String = record
            .calls(false, "session/update")
            .iter()
            .filter(|u| {
                u["params"]["update"]["sessionUpdate"] == "agent_message_chunk"
                    && u["params"]["sessionId"] != "another session"
            })
            .filter_map(|u| u["params"]["update"]["content"]["text"].as_str().map(str::to_owned))
            .collect();
        assert_eq!(chunks, printed, "the recording of {script} {prompt}");
    }
}

#[test]
fn no_secret_gets_into_the_journal() {
    let lab = Lab::new();
    let script = lab.write(
        "agent.toml",
        r#"[[turn]]
default = true
step = [{ do = "terminal", tool = "t", command = "sh", args = ["-c", "test ${#SECRET} -eq 15 && echo it was there"], env = { SECRET = "terminal-secret" }, succeeded = [{ do = "say", text = "well" }] }]
"#,
    );
    let text = format!(
        "[agents.mine]\ncommand = \"{}\"\nargs = [\"demo-agent\", \"--script\", \"{}\"]\nenv = {{ TOKEN = \"agent-secret\" }}\n",
        super::support::PROGRAM,
        script.display()
    );
    lab.write("config/acp-tui/config.toml", &text);
    let mut command = lab.exec_command(&["x", "--agent", "mine", "--allow", "all"], &[]);
    command.env("MY_KEY", "own-secret");
    let done = Running::start(command, Stdio::null()).finish();
    assert_eq!(done.assert_code(0).out(), "well\n");
    let (_, journal) = lab.journal();
    assert!(journal.contains("terminal/create") && journal.contains("it was there"));
    for secret in ["terminal-secret", "agent-secret", "own-secret"] {
        assert!(!journal.contains(secret), "{secret} is in the journal");
    }
}

/// The agent's own notes of what it wrote: `tee` stands between it and us.
fn noted_agent(lab: &Lab, script: &str) -> Vec<String> {
    let text = format!(
        "echo $$ > {pid}\n{program} demo-agent --script {script} | tee {log}\n",
        pid = lab.path("pid").display(),
        program = super::support::PROGRAM,
        log = lab.path("log").display()
    );
    lab.shell_agent(&text)
}

#[test]
fn a_kill_in_mid_turn_loses_at_most_the_last_moment() {
    let lab = Lab::new();
    let script = lab.write(
        "ticks.toml",
        "[[turn]]\ndefault = true\nstep = [{ do = \"repeat\", times = 100000, step = [{ do = \"wait\", ms = 5, firm = true }, { do = \"say\", text = \"n={n};\" }] }]\n",
    );
    let agent = noted_agent(&lab, script.to_str().unwrap());
    let mut running = lab.start(&["x", "--json"], &agent);
    running.until_line("n=200;");
    running.signal(Signal::KILL);
    assert_eq!(running.finish().code, None);
    // The agent honours the end of its input; nobody else could have ended it.
    let pid: i32 = std::fs::read_to_string(lab.path("pid")).unwrap().trim().parse().unwrap();
    wait_until("the agent is gone", || !is_alive(pid));
    lab.assert_nothing_left();
    let count = |text: &str| text.matches("\"n=").count();
    let written = count(&std::fs::read_to_string(lab.path("log")).unwrap());
    let (_, journal) = lab.journal();
    let kept = count(&journal);
    // Those that were sent more than 250 ms before the last one that was shown.
    assert!(kept >= 150, "{kept} of {written} chunks, 5 ms apart, are in the journal");
    // Whole lines up to the last.
    for line in journal.lines().take(journal.lines().count() - 1) {
        serde_json::from_str::<Value>(line).unwrap();
    }
    assert!(replayed(&lab, &journal).starts_with("n=1;n=2;n=3;"));
}

#[test]
fn a_journal_that_cannot_be_made_is_said_and_work_goes_on() {
    let lab = Lab::new();
    let state = lab.path("state");
    std::fs::remove_dir(&state).unwrap();
    std::fs::write(&state, "a file").unwrap();
    let done = lab.exec(&["hello"], &lab.script(""));
    // As for everything that is not recorded.
    assert_eq!(done.assert_code(1).out(), "You said: hello\n");
    assert!(done.err().contains("journal"), "{}", done.err());
    let done = lab.exec(&["hello", "--json"], &lab.script(""));
    done.assert_code(1);
    assert!(
        done.json().iter().any(|line| line["type"] == "notice" && line["title"].as_str().unwrap().contains("journal"))
    );
}

#[test]
fn a_full_disk_is_said_once_and_work_goes_on() {
    let lab = Lab::new();
    // A limit on the size of files is a full disk for everybody who writes one.
    let agent = lab.script(
        "[[turn]]\ndefault = true\nstep = [{ do = \"repeat\", times = 40, step = [{ do = \"wait\", ms = 5, firm = true }, { do = \"say\", text = \"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\" }] }, { do = \"say\", text = \"end\" }]\n",
    );
    let mut command = lab.command("sh");
    command
        .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$@\"", "sh", super::support::PROGRAM, "exec", "x", "--"])
        .args(&agent);
    let done = Running::start(command, Stdio::null()).finish();
    done.assert_code(0);
    assert!(done.out().ends_with("end\n"));
    assert_eq!(done.err().matches("journal").count(), 1, "{}", done.err());
    let (_, journal) = lab.journal();
    assert!(journal.len() <= 8192 && journal.len() > 2000, "{}", journal.len());
}

#[test]
fn a_recording_that_cannot_be_written_is_said_once_and_work_goes_on() {
    let lab = Lab::new();
    let done = lab.exec(&["hello", "--record", "/dev/full"], &lab.script(""));
    assert_eq!(done.assert_code(0).out(), "You said: hello\n");
    assert_eq!(done.err().matches("the recording waits for room").count(), 1, "{}", done.err());
    assert!(!done.err().contains("journal"), "{}", done.err());
}

/// Each test with a lab has its journals looked at when it ends.
#[test]
fn r_074_what_is_sent_is_found_in_the_journal_of_every_version() {
    for version in ["1", "2"] {
        let lab = Lab::new();
        lab.exec(&["hi", "--protocol", version], &lab.script("")).assert_code(0);
        assert!(check_journals(&lab.path("state")) >= 3, "initialize, session/new and session/prompt");
    }
}
