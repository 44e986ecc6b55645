//! What goes to standard output and what to standard error, as text and as JSON lines.

use super::support::{Lab, PROGRAM, Running, demo, wait_until};
use serde_json::{Value, json};
use std::process::Stdio;

#[test]
fn the_demo_as_text_has_the_answer_on_stdout_and_the_rest_on_stderr() {
    let lab = Lab::new();
    let done = lab.exec(&["fix it", "--allow", "all"], &demo("demo"));
    done.assert_code(0);
    assert!(done.out().contains("All twelve pass."), "{}", done.out());
    assert!(!done.out().contains("Looked at how add is used"), "thoughts are not the answer");
    // One line for each tool call.
    assert!(done.err().lines().any(|line| line.starts_with("completed  ")), "{}", done.err());
    for line in done.err().lines() {
        assert!(!done.out().contains(line), "{line}");
    }
    assert!(std::fs::read_to_string(lab.cwd().join("src/main.rs")).unwrap().contains("a + b"));
}

#[test]
fn the_demo_as_json_is_complete() {
    let lab = Lab::new();
    let done = lab.exec(&["fix it", "--allow", "all", "--json"], &demo("demo"));
    done.assert_code(0);
    assert_eq!(done.err(), "");
    let lines = done.json();
    let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).collect::<Vec<_>>();
    assert_eq!(of("session").len(), 1);
    assert_eq!(of("session")[0]["agent"]["name"], "acp-tui-demo");
    assert!(of("plan").len() >= 4);
    assert!(of("tool").iter().any(|tool| tool["status"] == "completed" && tool["kind"] == "edit"));
    assert!(of("file").iter().any(|file| file["verb"] == "write"));
    assert!(of("terminal").iter().any(|terminal| terminal["exit"]["code"] == 0), "{:?}", of("terminal"));
    assert!(done.json_text("thought").contains("Looked at how add is used"));
    assert!(done.json_text("text").contains("All twelve pass."));
    let result = done.result();
    assert_eq!((result["stop_reason"].as_str(), result["exit_code"].as_i64()), (Some("end_turn"), Some(0)));
    assert_eq!(result["session_id"], of("session")[0]["session_id"]);
    assert_eq!((result["context"]["used"].as_u64(), result["error"].is_null()), (Some(38000), true));
}

#[test]
fn the_usage_of_the_turn_is_in_the_result() {
    let lab = Lab::new();
    let steps = r#"{ do = "result", result = { stopReason = "end_turn",
        usage = { totalTokens = 12, inputTokens = 5, outputTokens = 7 } } }"#
        .replace('\n', " ");
    let done = lab.exec(&["x", "--json"], &lab.turn(&steps));
    assert_eq!(done.assert_code(0).result()["usage"]["totalTokens"], 12);
}

#[test]
fn what_the_agent_tells_of_its_use_is_in_the_lines_and_in_the_account_of_days() {
    let lab = Lab::new();
    let steps = r#"
        { do = "usage", used = 10, size = 100, cost = 0.25 },
        { do = "update", update = { sessionUpdate = "compaction_update", compactionId = "c", status = "in_progress" } },
        { do = "say", text = "between" },
        { do = "update", update = { sessionUpdate = "compaction_update", compactionId = "c", status = "completed",
            summary = [{ type = "text", text = "short" }] } },
        { do = "usage", used = 85, size = 100, cost = 0.75 },
        { do = "result", result = { stopReason = "end_turn", usage = { totalTokens = 1200 } } }"#
        .replace("\n            ", " ");
    let done = lab.exec(&["x", "--json"], &lab.turn(&steps));
    let lines = done.assert_code(0).json();
    let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).cloned().collect::<Vec<_>>();
    let (usage, compactions) = (of("usage"), of("compaction"));
    let last = usage.last().unwrap();
    assert_eq!((&last["used"], &last["size"], &last["cost"]["amount"]), (&json!(85), &json!(100), &json!(0.75)));
    assert_eq!(last["tokens"]["totalTokens"], 1200);
    let last = compactions.last().unwrap();
    assert_eq!((&last["id"], &last["status"], &last["summary"]), (&json!("c"), &json!("completed"), &json!("short")));
    assert!(
        of("notice").iter().any(|notice| notice["title"].as_str().unwrap().contains("85 % of the agent's context"))
    );

    let account = |args: &[&str]| {
        let mut command = lab.program();
        command.arg("usage").args(args);
        Running::start(command, Stdio::null()).finish()
    };
    let rows = account(&["--json"]);
    let row: Value = serde_json::from_str(rows.assert_code(0).out().trim()).unwrap();
    assert_eq!(
        (&row["cost"]["amount"], &row["tokens"], &row["context"]["used"]),
        (&json!(0.75), &json!(1200), &json!(85))
    );
    assert_eq!(row["source"], "agent");
    let text = account(&[]);
    text.assert_says(0, &["as the agents told it"]);
    assert!(text.out().contains("0.75") && text.out().contains("1,200 tokens"), "{}", text.out());
    let unit = row["cost"]["currency"].as_str().unwrap();
    for (limit, code) in [("0.80", 0), ("0.75", 3)] {
        lab.write("config/acp-tui/config.toml", &format!("budget = \"{limit} {unit}/day\"\n"));
        let done = lab.exec(&["y"], &lab.script(""));
        assert_eq!(done.assert_code(code).err().contains("is used up (0.75"), code == 3, "{}", done.err());
    }
    lab.write("config/acp-tui/config.toml", &format!("budget = \"3 {unit}/day, 2 {unit}/session\"\n"));
    account(&[]).assert_says(0, &[&format!("the budget: 0.75 of 3 {unit} today, 2 {unit} a session")]);
}

#[test]
fn a_failed_start_has_a_result_too() {
    let lab = Lab::new();
    let done = lab.exec(&["x", "--json"], &["no-such-agent-anywhere".to_owned()]);
    done.assert_says(5, &["not found"]);
    let result = done.result();
    assert!(result["session_id"].is_null() && result["stop_reason"].is_null());
    assert!(result["error"]["message"].as_str().unwrap().contains("not found"));
}

#[test]
fn the_prompt_comes_from_stdin() {
    let lab = Lab::new();
    let mut running = Running::start(lab.exec_command(&["-"], &lab.script("")), Stdio::piped());
    running.give("two\nlines «日本»\n".as_bytes());
    let done = running.finish();
    assert_eq!(done.assert_code(0).out().trim_end(), "You said: two\nlines «日本»");
}

#[test]
fn text_between_the_junk_arrives_whole() {
    let lab = Lab::new();
    for version in ["1", "2"] {
        let start = "one two three four ";
        for (prompt, answer) in [("half", "joined\n"), ("id", "ids done\n")] {
            let done = lab.exec(&[prompt, "--protocol", version], &demo("corruption"));
            assert_eq!(done.assert_code(0).out(), answer, "version {version}");
        }
        let done = lab.exec(&["x", "--json", "--protocol", version], &demo("corruption"));
        done.assert_code(0);
        let said = done.json_text("text");
        assert!(said.starts_with(start) && said.ends_with("five"), "version {version}: {said}");
        assert!(!said.contains("astray"));
    }
}

#[test]
fn what_comes_before_the_session_and_after_the_answer_is_printed() {
    let lab = Lab::new();
    let done = lab.exec(&["late", "--json"], &demo("reorder"));
    done.assert_code(0);
    let said = done.json_text("text");
    assert_eq!(said, "before the session was answered first and after the answer");
    let lines = done.json();
    let last =
        |id: &str| lines.iter().rfind(|l| l["type"] == "tool" && l["id"].as_str().unwrap().ends_with(id)).unwrap();
    assert_eq!(
        (last("early")["status"].as_str(), last("left-open")["status"].as_str()),
        (Some("completed"), Some("completed"))
    );
    let done = lab.exec(&["late"], &demo("reorder"));
    assert!(done.assert_code(0).out().contains(" and after the answer"), "{}", done.out());
}

#[test]
fn the_quiet_after_the_answer_has_an_end() {
    let lab = Lab::new();
    let tail = r#"{ do = "say", text = "first" }, { do = "late", step = [{ do = "repeat", times = 1000, step =
        [{ do = "wait", ms = 50, firm = true }, { do = "say", text = "." }] }] }"#
        .replace('\n', " ");
    let done = lab.exec(&["x"], &lab.turn(&tail));
    done.assert_code(0);
    let dots = done.out().matches('.').count();
    assert!((10..=40).contains(&dots), "{dots} dots in 2 s");
    assert!(done.took.as_secs() < 7, "{:?}", done.took);
}

#[test]
fn disorder_gives_one_line_a_call() {
    let lab = Lab::new();
    let done = lab.exec(&["go", "--allow", "all"], &demo("reorder"));
    done.assert_code(0);
    for title in ["Announced afterwards", "Announced after its permission", "Only ever updated"] {
        assert_eq!(done.err().matches(title).count(), 1, "{title}: {}", done.err());
    }
    assert!(done.out().ends_with("done\n"), "{}", done.out());
}

#[test]
fn a_turn_without_a_word_says_so() {
    let lab = Lab::new();
    let done = lab.exec(&["silent"], &demo("death"));
    done.assert_code(0);
    assert_ne!(done.err(), "", "nothing was said about nothing");
}

#[test]
fn who_does_not_read_standard_error_holds_nothing_up() {
    let lab = Lab::new();
    let long = "x".repeat(100_000);
    let one = format!(r#"{{ do = "tool", name = "t", title = "{long}", kind = "read", status = "completed" }}"#);
    let many = r#"{ do = "repeat", times = 400, step = [{ do = "tool", title = "a title that is longer than most, and there are many such lines of it, which nobody reads", kind = "read", status = "completed" }] }"#;
    let hangs =
        r#"{ do = "tool", name = "w", title = "work", kind = "execute", status = "in_progress" }, { do = "hang" }"#;
    for (steps, code) in [(one.as_str(), 0), (many, 0), (&format!("{one}, {hangs}"), 124)] {
        let review = lab.path("review.json");
        let _ = std::fs::remove_file(&review);
        let timeout = if code == 0 { "60" } else { "2" };
        let args = ["x", "--timeout", timeout, "--allow", "all", "--review", review.to_str().unwrap()];
        let mut command = lab.exec_command(&args, &lab.turn(steps));
        let (unread, theirs) = std::io::pipe().unwrap();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(theirs);
        let mut child = command.spawn().unwrap();
        drop(command);
        let mut ended = None;
        wait_until("the program ends", || {
            ended = child.try_wait().unwrap();
            ended.is_some()
        });
        assert_eq!(ended.unwrap().code(), Some(code));
        assert!(review.is_file(), "no review of a run that ended with {code}");
        drop(unread);
    }
}

#[test]
fn a_limit_of_file_sizes_is_an_error_of_writing_and_not_the_end_of_the_program() {
    let lab = Lab::new();
    let review = lab.path("review.json");
    let text = "y".repeat(400);
    let agent = lab.turn(&format!(r#"{{ do = "repeat", times = 1000, step = [{{ do = "say", text = "{text}" }}] }}"#));
    let inner = lab.exec_command(&["x", "--review", review.to_str().unwrap()], &agent);
    let mut command = lab.command("sh");
    command.args(["-c", "ulimit -f 40; exec \"$@\"", "sh"]).arg(PROGRAM).args(inner.get_args());
    let done = Running::start(command, Stdio::null()).finish();
    assert!(done.code.is_some(), "a signal has ended it: {}", done.err());
    assert!(done.out().len() >= 400_000, "{}", done.err());
    assert!(review.is_file() && done.err().contains("File too large"), "{:?} {}", done.code, done.err());
}
