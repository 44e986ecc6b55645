//! Every exit code, and the reason that goes with it.

use super::support::{Lab, Running, demo, words};
use rustix::process::Signal;
use std::process::Stdio;
use std::time::Duration;

#[test]
fn code_0_is_a_turn_that_ended() {
    let lab = Lab::new();
    let done = lab.exec(&["hello"], &lab.script(""));
    done.assert_code(0);
    assert_eq!((done.out(), done.err()), ("You said: hello\n", ""));
    let done = lab.program().arg("--version").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&done.stdout), concat!("acp-tui ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn code_1_is_our_own_fault() {
    let lab = Lab::new();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = lab.exec_command(&["hello"], &lab.script(""));
    let done = command.stdin(Stdio::null()).stdout(full).output().unwrap();
    assert_eq!(done.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&done.stderr).contains("writing the output failed"));
}

/// The JSON lines say the same code as the run ends with.
#[test]
fn a_directory_that_is_moved_away_is_code_1_also_where_another_one_has_taken_its_place() {
    for (also, says) in [("", "is gone"), ("; mkdir ../work", "replaced by another directory")] {
        let lab = Lab::new();
        std::fs::write(lab.cwd().join("f"), "text\n").unwrap();
        let moves = format!("mv ../work ../away{also}");
        let step = format!(r#"{{ do = "terminal", tool = "t", command = "sh", args = ["-c", "{moves}"] }},"#);
        let done = lab.exec(&["go", "--allow", "all", "--json"], &lab.turn(&step));
        done.assert_says(1, &["the session's directory is not what it was", says]);
        let result: serde_json::Value = serde_json::from_str(done.out().lines().last().unwrap()).unwrap();
        assert_eq!((&result["type"], &result["exit_code"]), (&"result".into(), &1.into()), "{result}");
        assert_eq!(result["stop_reason"], "end_turn");
        assert!(result["error"]["message"].as_str().unwrap().contains(says), "{result}");
    }
}

#[test]
fn lists_that_cannot_be_written_are_our_own_fault_and_a_reader_that_is_gone_is_none() {
    let lab = Lab::new();
    lab.exec(&["a needle"], &lab.script("")).assert_code(0);
    for args in [&["sessions", "--all"][..], &["sessions", "--all", "--json"], &["search", "needle"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let done = lab.program().args(args).stdin(Stdio::null()).stdout(full).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!((done.status.code(), said.contains("it cannot be written: ")), (Some(1), true), "{args:?}: {said}");
    }
}

#[test]
fn code_2_is_a_wrong_command_line() {
    let lab = Lab::new();
    let file = lab.write("a-file", "");
    let file = file.to_str().unwrap();
    let agent = lab.script("");
    let cases: &[(&[&str], bool, &str)] = &[
        (&["hello"], false, "no agent"),
        (&["hello", "--"], false, "no agent after"),
        (&["hello", "--agent", "nobody-knows-me"], false, "nobody-knows-me"),
        (&["hello", "--cwd", "/no/such/directory"], true, "/no/such/directory"),
        (&["hello", "--cwd", file], true, "not a directory"),
        (&[""], true, "empty"),
        (&[" \t\n "], true, "empty"),
        (&[], true, "no prompt"),
        (&["hello", "--allow", "some"], true, "all, reads or none"),
        (&["hello", "--config", "novalue"], true, "ID=VALUE"),
        (&["hello", "--timeout", "-1"], true, "--timeout"),
        (&["hello", "--timeout", "soon"], true, "--timeout"),
        (&["hello", "--wat"], true, "--wat"),
        (&["hello", "--record", "/no/such/dir/file"], true, "--record"),
        (&["-"], true, "empty"),
        (&["hello", "--mode", "flying"], true, "no mode `flying`; it offers ask, auto"),
        (&["hello", "--config", "colour=red"], true, "no option `colour`; it offers model, web"),
        (&["hello", "--config", "model=huge"], true, "demo-small, demo-large"),
        (&["hello", "--config", "web=maybe"], true, "true or false"),
    ];
    for (args, with_agent, part) in cases {
        let none = Vec::new();
        let done = lab.exec(args, if *with_agent { &agent } else { &none });
        done.assert_says(2, &[part]);
        assert_eq!(done.out().trim(), "", "{args:?}");
    }
    let mut running = Running::start(lab.exec_command(&["-"], &agent), Stdio::piped());
    running.give(b"\xff\xfe");
    running.finish().assert_says(2, &["UTF-8"]);
    let mut running = Running::start(lab.exec_command(&["-"], &agent), Stdio::piped());
    running.give(&vec![b'x'; (16 << 20) + 1]);
    running.finish().assert_says(2, &["16 MiB"]);
}

#[test]
fn code_3_is_a_turn_that_did_not_end_well() {
    let lab = Lab::new();
    let death = demo("death");
    for (prompt, parts) in [
        ("max", &["max_tokens"][..]),
        ("refusal", &["refusal"]),
        ("unknown", &["bored"]),
        ("missing", &["no stop reason"]),
        ("error", &["Internal error", "the model is not at home"]),
    ] {
        lab.exec(&[prompt], &death).assert_says(3, parts);
    }
    lab.exec(&["x"], &lab.turn(r#"{ do = "stop", reason = "cancelled" }"#)).assert_says(3, &["cancelled"]);
    lab.exec(&["x"], &lab.turn(r#"{ do = "stop", reason = "max_turn_requests" }"#))
        .assert_says(3, &["max_turn_requests"]);
    let done = lab.exec(&["max", "--json"], &death);
    done.assert_says(3, &["max_tokens"]);
    assert_eq!(
        (done.result()["stop_reason"].as_str(), done.json_text("text")),
        (Some("max_tokens"), "and then".into())
    );
    let done = lab.exec(&["error", "--json"], &death);
    let detail = done.assert_code(3).result()["error"]["detail"].to_string();
    assert!(detail.contains("the model is not at home"), "{detail}");
    // A reason is given once.
    let done = lab.exec(&["error"], &death);
    assert_eq!(done.err().matches("Internal error").count(), 1, "{}", done.err());
    assert_eq!(done.out(), "", "no answer, no empty line");
}

#[test]
fn code_4_is_a_login_that_is_needed() {
    let lab = Lab::new();
    let done = lab.exec(&["x"], &demo("auth"));
    // The methods, and for those of a terminal the whole command to type.
    done.assert_says(
        4,
        &["Authentication required", "demo-login --now 'with space'", "DEMO_LOGIN=1", "--script auth login"],
    );
    lab.exec(&["auth"], &demo("death")).assert_says(4, &["Authentication required", "the token has run out"]);
    for method in ["initialize", "session/new", "session/set_mode", "session/set_config_option"] {
        let script = format!("[agent]\nerror.\"{method}\" = {{ code = -32000, message = \"who are you\" }}\n");
        let done = lab.exec(&["x", "--mode", "auto", "--config", "web=true"], &lab.script(&script));
        done.assert_says(4, &["who are you"]);
    }
}

#[test]
fn code_5_is_an_agent_that_cannot_be_started() {
    let lab = Lab::new();
    lab.exec(&["x"], &words("no-such-agent-anywhere --acp")).assert_says(5, &["no-such-agent-anywhere", "not found"]);
    lab.exec(&["x"], &words("/no/such/agent")).assert_says(5, &["/no/such/agent"]);
    let file = lab.write("plain", "#!/bin/sh\n");
    lab.exec(&["x"], &[file.to_str().unwrap().into()]).assert_says(5, &["may not be executed"]);
    lab.exec(&["x"], &[lab.path("work").to_str().unwrap().into()]).assert_code(5);
    let bad = lab.write("bad", "#!/no/such/interpreter\n");
    let mut mode = bad.metadata().unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
    std::fs::set_permissions(&bad, mode).unwrap();
    lab.exec(&["x"], &[bad.to_str().unwrap().into()]).assert_says(5, &["interpreter"]);
}

#[test]
fn code_5_is_an_agent_that_opens_no_session() {
    let lab = Lab::new();
    let script = |text: &str| lab.script(&format!("[agent]\n{text}\n"));
    let done = lab.exec(&["x"], &script("exit_at_start = 9\nstderr = \"out of cheese\\n\""));
    done.assert_says(5, &["9", "\n  out of cheese\n"]);
    lab.exec(&["x"], &script("exit_at_start = 0")).assert_says(5, &["0"]);
    lab.exec(&["x"], &lab.shell_agent("kill -9 $$\n")).assert_says(5, &["KILL"]);
    for method in ["initialize", "session/new"] {
        let error =
            format!("error.\"{method}\" = {{ code = -32603, message = \"no luck\", data = {{ why = \"rain\" }} }}");
        lab.exec(&["x"], &script(&error)).assert_says(5, &[method, "no luck", "rain"]);
        let odd = format!("result.\"{method}\" = {{ nothing = \"useful\" }}");
        lab.exec(&["x"], &script(&odd)).assert_code(5);
    }
    lab.exec(&["x"], &script("protocol_version = 99")).assert_says(5, &["version 99"]);
    lab.exec(&["x"], &script("protocol_version = \"2024\"")).assert_says(5, &["2024"]);
    // A program that sends our own lines back is no agent.
    lab.exec(&["x", "--timeout", "30"], &words("cat")).assert_says(5, &["writes back"]);
    lab.exec(&["x", "--timeout", "30"], &script("echo_input = true")).assert_code(5);
}

#[test]
fn code_5_is_an_agent_that_dies_in_the_turn() {
    let lab = Lab::new();
    for (prompt, parts) in [
        ("exit 0", &["0"][..]),
        ("exit 7", &["7", "\n  demo: out of cheese\n  demo: redo from start\n"]),
        ("kill", &["KILL"]),
        ("term", &["TERM"]),
        ("segv", &["about to fault"]),
        ("close", &["closed its output"]),
        ("half", &["1"]),
        ("ask", &["3"]),
    ] {
        let done = lab.exec(&[prompt, "--json", "--allow", "all"], &demo("death"));
        done.assert_says(5, parts);
        assert_eq!(done.result()["exit_code"], 5);
        lab.assert_nothing_left();
    }
    // Dead after the answer is no failure.
    lab.exec(&["after"], &demo("death")).assert_code(0);
}

#[test]
fn code_124_is_a_timeout_counted_from_the_start() {
    let lab = Lab::new();
    for method in ["initialize", "session/new", "session/set_mode"] {
        let agent = lab.script(&format!("[agent]\nsilent = \"{method}\"\n"));
        let done = lab.exec(&["x", "--mode", "auto", "--timeout", "0.4", "--json"], &agent);
        done.assert_says(124, &["--timeout"]);
        assert!(done.took >= Duration::from_millis(400) && done.took < Duration::from_secs(4), "{:?}", done.took);
        assert_eq!(done.result()["exit_code"], 124);
    }
    // The start counts: it takes three of the four seconds, and were they not counted it would be seven.
    let steps = r#"{ do = "say", text = "thinking" }, { do = "hang" }"#;
    let delays = "[agent]\ninit_delay_ms = 1500\nsession_delay_ms = 1500\n";
    let agent = lab.script(&format!("{delays}[[turn]]\ndefault = true\nstep = [{steps}]\n"));
    let (done, record) = lab.record(&["hang", "--timeout", "4"], &agent);
    done.assert_says(124, &["--timeout"]);
    assert!(done.took >= Duration::from_secs(4) && done.took < Duration::from_millis(6900), "{:?}", done.took);
    assert_eq!(record.calls(true, "session/cancel").len(), 1);
    assert_eq!(done.out(), "thinking\n");
}

#[test]
fn code_124_even_when_the_cancel_is_ignored() {
    let lab = Lab::new();
    let (review, patch) = (lab.path("review.json"), lab.path("all.patch"));
    let files = ["--review", review.to_str().unwrap(), "--patch", patch.to_str().unwrap()];
    let done = lab.exec(&[&["ignore", "--timeout", "1"][..], &files].concat(), &demo("slow"));
    done.assert_says(124, &["--timeout"]);
    assert!(done.took < Duration::from_secs(4), "{:?}", done.took);
    assert!(review.is_file() && patch.is_file());
    lab.assert_nothing_left();
}

#[test]
fn commands_end_when_the_time_is_over_and_not_only_with_an_agent_that_does_not_listen() {
    let lab = Lab::new();
    let request = r#"{"jsonrpc":"2.0","id":900,"method":"terminal/create","params":{"sessionId":"s","command":"sh","args":["-c","trap : TERM; while :; do sleep 0.1; done"]}}"#;
    let agent = lab.shell_agent(&format!(
        r#"while read -r line; do
  id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *'"initialize"'*) echo '{{"jsonrpc":"2.0","id":'$id',"result":{{"protocolVersion":1,"agentCapabilities":{{}}}}}}' ;;
    *session/new*) echo '{{"jsonrpc":"2.0","id":'$id',"result":{{"sessionId":"s"}}}}' ;;
    *session/prompt*) echo '{request}' ;;
  esac
done"#
    ));
    let mut command = lab.exec_command(&["x", "--allow", "all", "--timeout", "3"], &agent);
    command.env("ACP_TUI_LOG", "debug");
    Running::start(command, Stdio::null()).finish().assert_says(124, &["--timeout"]);
    let log = std::fs::read_to_string(lab.path("state/acp-tui/log/acp-tui.log")).unwrap();
    let at = |words: &str| log.find(words).unwrap_or_else(|| panic!("no {words:?} in {log}"));
    assert!(at("a command is started") < at("cancels the turn"));
    assert!(at("the commands end") < at("did not confirm the cancel in time"), "{log}");
    lab.assert_nothing_left();
}

#[test]
fn code_1_says_that_nothing_was_recorded_although_the_turn_went_well() {
    let lab = Lab::new();
    std::fs::create_dir_all(lab.path("state/acp-tui")).unwrap();
    // A place that takes nothing, from nobody: like a disk that is full.
    std::os::unix::fs::symlink("/proc/self/task", lab.path("state/acp-tui/review")).unwrap();
    let done = lab.exec(&["hello"], &lab.turn(r#"{ do = "say", text = "hi" }"#));
    done.assert_says(1, &["no review of changes"]);
    assert!(!done.out().is_empty());
}

#[test]
fn code_1_says_that_the_last_look_has_failed() {
    let lab = Lab::new();
    // What the client keeps is gone before it is looked at the files for the last time, by a program that does not say so.
    let kept = lab.path("state/acp-tui/review");
    let script = format!("rm -rf {}/*/store; echo new > new", kept.display());
    std::fs::write(lab.cwd().join("gone"), script).unwrap();
    let steps = r#"{ do = "terminal", tool = "t", command = "sh", args = ["gone"], succeeded = [{ do = "say", text = "done" }] }"#;
    let done = lab.exec(&["x", "--allow", "all"], &lab.turn(steps));
    done.assert_says(1, &["could not be looked at"]);
}

#[test]
fn code_129_130_131_134_and_143_are_signals_after_a_cancel() {
    let all = [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129), (Signal::QUIT, 131), (Signal::ABORT, 134)];
    for (signal, code) in all {
        let lab = Lab::new();
        let file = lab.path("record.jsonl");
        let args = ["hang", "--json", "--record", file.to_str().unwrap()];
        let mut running = lab.start(&args, &demo("slow"));
        running.until_line("thinking");
        running.signal(signal);
        let done = running.finish();
        done.assert_says(code, &[]);
        assert_eq!(done.result()["exit_code"], code);
        let record = super::support::Recording::read(&file);
        assert_eq!(record.calls(true, "session/cancel").len(), 1);
        let stopped = record.records.iter().any(|r| r.value()["result"]["stopReason"] == "cancelled");
        assert!(stopped, "the agent confirmed the cancel before it was ended");
        lab.assert_nothing_left();
    }
}

#[test]
fn a_wrong_option_is_said_before_that_there_is_no_terminal() {
    let lab = Lab::new();
    let cases: &[(&[&str], &str)] = &[
        (&["--theme", "nope"], "--theme is one of auto, terminal, dark,"),
        (&["--theme", "nope", "--", "true"], "--theme is one of auto, terminal, dark,"),
        (&["demo", "--theme", "nope"], "--theme is one of auto, terminal, dark,"),
        (&["--cwd", "/no/such/directory"], "--cwd /no/such/directory: "),
        (&["--agent", "nobody-knows-me"], "nobody-knows-me"),
        (&["--", "true"], "needs a terminal"),
        (&["--cwd", "/"], "needs a terminal"),
        (&["--resume"], "needs a terminal"),
        (&["--worktree=a"], "needs a terminal"),
    ];
    for (args, words) in cases {
        let done = lab.program().args(*args).stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!((done.status.code(), said.lines().count(), done.stdout.len()), (Some(2), 1, 0), "{args:?}: {said}");
        assert!(said.starts_with("acp-tui: ") && said.contains(words), "{args:?}: {said}");
    }
}

#[test]
fn a_signal_before_the_turn_ends_at_once() {
    let lab = Lab::new();
    let file = lab.path("record.jsonl");
    let agent = lab.script("[agent]\nsilent = \"initialize\"\n");
    let running = lab.start(&["x", "--record", file.to_str().unwrap()], &agent);
    let sent = || std::fs::read_to_string(&file).is_ok_and(|text| text.contains("initialize"));
    super::support::wait_until("initialize was sent", sent);
    running.signal(Signal::INT);
    running.finish().assert_says(130, &["interrupted"]);
    lab.assert_nothing_left();
}

#[test]
fn a_signal_after_the_result_does_not_change_the_code() {
    let lab = Lab::new();
    let agent = lab.script("[agent]\nignore_eof = true\nignore_term = true\n");
    let mut running = lab.start(&["hello", "--json"], &agent);
    running.until_line("\"exit_code\":0");
    running.signal(Signal::TERM);
    running.finish().assert_code(0);
    lab.assert_nothing_left();
}

#[test]
fn code_141_is_a_reader_that_went_away() {
    let lab = Lab::new();
    let mut running = lab.start(&["flood", "--json"], &demo("slow"));
    running.until_line("word");
    running.close_stdout();
    running.finish().assert_says(141, &["reader"]);
    let steps = r#"{ do = "repeat", times = 20000, step = [{ do = "say", text = "line\n" }] }"#;
    let mut running = lab.start(&["x"], &lab.turn(steps));
    running.until_line("line");
    running.close_stdout();
    running.finish().assert_says(141, &["reader"]);
    lab.assert_nothing_left();
}

#[test]
fn a_reader_that_does_not_read_keeps_nobody_from_leaving() {
    for (prompt, timeout, signal, code) in
        [("flood", "60", Some(Signal::INT), 130), ("flood", "60", Some(Signal::TERM), 143), ("flood", "2", None, 124)]
    {
        let lab = Lab::new();
        let mut running = lab.start(&[prompt, "--json", "--timeout", timeout], &demo("slow"));
        running.until_line("word");
        // From here on nothing is read; the pipe and the queue behind it fill up.
        if let Some(signal) = signal {
            running.signal(signal);
        }
        let (code_seen, err) = running.finish_unread();
        assert_eq!(code_seen, Some(code), "{err}");
        assert!(err.contains("acp-tui: "), "{err}");
        lab.assert_nothing_left();
    }
}

#[test]
fn every_reason_has_the_last_lines_of_stderr_below_it() {
    let lab = Lab::new();
    let said = "\n  out of cheese\n  redo from start\n";
    let stderr = r#"stderr = "out of cheese\n\nredo from start\n""#;
    let script = |text: &str| lab.script(&format!("[agent]\n{stderr}\n{text}\n"));
    lab.exec(&["x", "--timeout", "1"], &script("silent = \"initialize\"")).assert_says(124, &["--timeout", said]);
    lab.exec(&["x"], &script("protocol_version = 99")).assert_says(5, &["version 99", said]);
    lab.exec(&["x"], &script("result.initialize = 7")).assert_says(5, &[said]);
    for method in ["initialize", "session/new"] {
        let plain = script(&format!("error.\"{method}\" = {{ code = -32603, message = \"no luck\" }}"));
        lab.exec(&["x"], &plain).assert_says(5, &["no luck", said]);
        let log_in = script(&format!("error.\"{method}\" = {{ code = -32000, message = \"who are you\" }}"));
        lab.exec(&["x"], &log_in).assert_says(4, &["who are you", said]);
        // `data` stands in its place.
        let error = format!("error.\"{method}\" = {{ code = -32603, message = \"no luck\", data = \"rain\" }}");
        let done = lab.exec(&["x"], &script(&error));
        done.assert_says(5, &["\n  rain\n"]);
        assert!(!done.err().contains("cheese"), "{}", done.err());
    }
    lab.exec(&["x", "--mode", "flying"], &script("")).assert_says(2, &["flying", said]);
    let turn = r#"[[turn]]
        default = true
        step = [{ do = "stop", reason = "refusal" }]"#;
    let done = lab.exec(&["x", "--json"], &script(turn));
    done.assert_says(3, &["refusal", said]);
    assert_eq!(done.result()["error"]["detail"], serde_json::json!(["out of cheese", "redo from start"]));
    let file = lab.path("record.jsonl");
    let running = lab.start(&["x", "--record", file.to_str().unwrap()], &script("silent = \"initialize\""));
    let sent = || std::fs::read_to_string(&file).is_ok_and(|text| text.contains("redo"));
    super::support::wait_until("the agent has complained", sent);
    running.signal(Signal::INT);
    running.finish().assert_says(130, &["interrupted", said]);
}

#[test]
fn a_reason_is_given_once() {
    let lab = Lab::new();
    let exits = lab.script("[agent]\nexit_at_start = 9\n");
    let refuses = lab.script_named("refuses", "[agent]\nerror.initialize = { code = -32603, message = \"no luck\" }\n");
    let cases = [
        ("x", words("no-such-agent-anywhere"), "was not found"),
        ("x", exits, "before it answered initialize"),
        ("x", refuses, "no luck"),
        ("exit 7", demo("death"), "the agent ended"),
        ("close", demo("death"), "closed its output"),
    ];
    for (prompt, agent, part) in cases {
        let done = lab.exec(&[prompt], &agent);
        done.assert_says(5, &[part]);
        assert_eq!(done.err().matches(part).count(), 1, "{}", done.err());
    }
}

#[test]
fn a_program_that_printed_text_until_the_time_was_over_is_explained_at_the_end() {
    let lab = Lab::new();
    // With the notice after three seconds and without it.
    for timeout in ["1", "4"] {
        let agent = lab.shell_agent("printf 'Welcome\\n> '; sleep 100\n");
        let done = lab.exec(&["x", "--timeout", timeout], &agent);
        done.assert_says(124, &["--timeout", "\n  Welcome\n", "\n  Start it with the option"]);
        assert_eq!(done.err().matches("Start it with").count(), 1, "{}", done.err());
    }
}

#[test]
fn r_030_an_error_without_a_code_is_an_unknown_one() {
    let lab = Lab::new();
    for error in [r#"{"code":"E1","message":"odd"}"#, r#"{"message":"odd"}"#] {
        let mut agent = String::new();
        for answer in [r#""result":{"protocolVersion":1}"#, r#""result":{"sessionId":"s"}"#] {
            agent += &format!("read -r line; {}\n", answer_to_line(answer));
        }
        agent += &format!("read -r line; {}\nread -r line\n", answer_to_line(&format!(r#""error":{error}"#)));
        let done = lab.exec(&["x"], &lab.shell_agent(&agent));
        done.assert_says(3, &["acp-tui: odd · error from the agent (no known code)"]);
    }
}

/// The words of a shell that answer the request in `$line`.
fn answer_to_line(outcome: &str) -> String {
    let id = r#"$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')"#;
    format!("printf '{{\"id\":%s,%s}}\\n' \"{id}\" '{outcome}'")
}

#[test]
fn code_1_says_so_too_where_there_can_be_no_state_directory() {
    let lab = Lab::new();
    std::fs::create_dir_all(lab.path("state")).unwrap();
    std::fs::write(lab.path("state/acp-tui"), "no directory").unwrap();
    let done = lab.exec(&["hello"], &lab.turn(r#"{ do = "say", text = "hi" }"#));
    done.assert_says(1, &["what the turn changed was not recorded"]);
    assert_eq!(done.out(), "hi\n");
}
