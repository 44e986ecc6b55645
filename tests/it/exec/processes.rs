//! What is left when `exec` has ended: nothing but what moved into a session of its own, and that is named.
#![cfg(target_os = "linux")]

use super::support::{Lab, kill, wait_until};
use acp_tui::host::process::{end_marked, marked};
use rustix::process::Signal;
use std::process::Stdio;
use std::time::Duration;

const CREATE: &str = r#"{ do = "request", method = "terminal/create", params = { sessionId = "{session}", command = "sh", args = ["-c", "COMMAND"] } },"#;

fn turn_with(command: &str, rest: &str) -> String {
    format!("{}\n{rest}", CREATE.replace("COMMAND", command))
}

#[test]
fn a_family_of_the_agent_is_gone() {
    let lab = Lab::new();
    let agent = lab.script("");
    let line = agent.join(" ");
    let text =
        format!("sleep 1000 &\n(sleep 1000 & sleep 1000) &\n(trap '' HUP TERM; sleep 1000; sleep 1000) &\n{line}\n");
    let done = lab.exec(&["hello"], &lab.shell_agent(&text));
    assert_eq!(done.assert_code(0).out(), "You said: hello\n");
    lab.assert_nothing_left();
}

#[test]
fn commands_of_terminals_are_gone_however_it_ends() {
    for (rest, code) in [
        (r#"{ do = "stop", reason = "end_turn" }"#, 0),
        (r#"{ do = "die", code = 3 }"#, 5),
        (r#"{ do = "error", code = 1, message = "m" }"#, 3),
        (r#"{ do = "hang", ignore_cancel = true }"#, 124),
    ] {
        let lab = Lab::new();
        let steps = turn_with("trap '' HUP TERM; sleep 1000 & sleep 1000", rest);
        let done = lab.exec(&["x", "--allow", "all", "--timeout", "2"], &lab.turn(&steps));
        done.assert_code(code);
        assert_eq!(lab.left(), [], "{rest}");
    }
}

#[test]
fn an_agent_that_starts_more_floods_than_may_run_is_refused_and_its_run_ends_with_a_report() {
    let lab = Lab::new();
    let flood =
        CREATE.replace("COMMAND", "echo x >> made; exec yes").replace("\"request\"", "\"request\", wait = false");
    let steps = format!(
        "{{ do = \"repeat\", times = 300, step = [{flood}] }}, {{ do = \"await_answers\" }}, {{ do = \"stop\", reason = \"end_turn\" }}"
    );
    let report = lab.path("r.json");
    let done = lab.exec(&["x", "--allow", "all", "--review", report.to_str().unwrap()], &lab.turn(&steps));
    let refused = "256 terminals are running already; kill or release one first";
    assert_eq!(done.assert_code(0).err().matches(refused).count(), 44);
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    assert_eq!(report["files"][0]["path"], "made", "{report}");
    lab.assert_nothing_left();
}

#[test]
fn a_process_of_the_agent_in_a_session_of_its_own_is_named_and_not_killed() {
    let lab = Lab::new();
    let text = format!("setsid sleep 1001 <&- >&- 2>&- &\nexec {}\n", lab.script("").join(" "));
    let report = lab.path("r.json");
    let done = lab.exec(&["hello", "--review", report.to_str().unwrap()], &lab.shell_agent(&text));
    done.assert_code(0);
    let left = lab.left();
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(left[0].1.contains("sleep 1001"), "{left:?}");
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    let wanted = format!("still runs: {} sleep 1001; what it changes later is not covered", left[0].0);
    assert!(report["not_covered"].as_array().unwrap().contains(&wanted.into()), "{report}");
    let wanted = format!("still running in a session of its own: {} sleep 1001", left[0].0);
    assert!(done.err().contains(&wanted), "{}", done.err());
    kill(left[0].0, Signal::KILL);
    lab.assert_nothing_left();
}

#[test]
fn a_process_of_a_terminal_in_a_session_of_its_own_is_named_and_not_killed() {
    let lab = Lab::new();
    let steps = turn_with("setsid sleep 1002 & sleep 1000", r#"{ do = "wait", ms = 300, firm = true }"#);
    let done = lab.exec(&["x", "--allow", "all"], &lab.turn(&steps));
    done.assert_code(0);
    let left = lab.left();
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(left[0].1.contains("sleep 1002"), "{left:?}");
    kill(left[0].0, Signal::KILL);
    assert!(done.err().contains("still running in a session of its own"), "{}", done.err());
}

#[test]
fn an_agent_that_is_deaf_to_everything_is_killed_after_four_seconds() {
    let lab = Lab::new();
    let done = lab.exec(&["hello"], &lab.script("[agent]\nignore_eof = true\nignore_term = true\n"));
    assert_eq!(done.assert_code(0).out(), "You said: hello\n");
    assert!(done.took > Duration::from_secs(4) && done.took < Duration::from_secs(20), "{:?}", done.took);
    lab.assert_nothing_left();
}

#[test]
fn an_agent_that_is_deaf_to_the_end_of_input_gets_a_signal() {
    let lab = Lab::new();
    let done = lab.exec(&["hello"], &lab.script("[agent]\nignore_eof = true\n"));
    done.assert_code(0);
    assert!(done.took > Duration::from_secs(2) && done.took < Duration::from_secs(4), "{:?}", done.took);
    lab.assert_nothing_left();
}

#[test]
fn questions_that_are_open_at_the_end_are_answered() {
    let lab = Lab::new();
    let steps = r#"
        { do = "request", method = "terminal/create", params = { sessionId = "{session}", command = "sleep", args = ["1000"] } },
        { do = "say", text = "{answer}" },
    "#;
    // The terminal's name is what the answer says; it is needed for a question that stays open.
    let (done, record) = lab.record(&["x", "--allow", "all", "--json"], &lab.turn(steps));
    let answer: serde_json::Value = serde_json::from_str(&done.assert_code(0).json_text("text")).unwrap();
    let terminal = answer["result"]["terminalId"].as_str().unwrap().to_owned();
    assert_eq!(record.questions().len(), 1);
    let steps = format!(
        r#"{{ do = "request", method = "terminal/create", params = {{ sessionId = "{{session}}", command = "sleep", args = ["1000"] }} }},
        {{ do = "request", method = "terminal/wait_for_exit", id = "open-1", params = {{ sessionId = "{{session}}", terminalId = "{terminal}" }} }},
        {{ do = "request", method = "terminal/wait_for_exit", id = "open-2", params = {{ sessionId = "{{session}}", terminalId = "{terminal}" }} }},"#
    );
    let (done, record) = lab.record(&["x", "--allow", "all"], &lab.turn(&steps));
    done.assert_code(0);
    let answers = record.answers();
    for id in ["\"open-1\"", "\"open-2\""] {
        let mine: Vec<_> = answers.iter().filter(|(answered, _)| answered == id).collect();
        assert_eq!(mine.len(), 1, "{answers:?}");
        assert!(mine[0].1["error"]["message"].as_str().unwrap().contains("cancelled"), "{answers:?}");
    }
    lab.assert_nothing_left();
}

#[test]
fn a_wait_returns_though_a_grandchild_holds_the_terminal() {
    let lab = Lab::new();
    let steps = r#"{ do = "terminal", tool = "t", command = "sh", args = ["-c", "trap '' HUP; sleep 1000 & echo started"], succeeded = [{ do = "say", text = "exit {exit}" }] },"#;
    let done = lab.exec(&["x", "--allow", "all", "--timeout", "60"], &lab.turn(steps));
    assert_eq!(done.assert_code(0).out(), "exit 0\n");
    wait_until("nothing is left", || lab.left().is_empty());
}

#[test]
fn the_end_of_a_command_is_told_however_soon_it_comes() {
    let lab = Lab::new();
    // A command that ends at once races with the news of its start.
    let steps = r#"{ do = "repeat", times = 300, step = [{ do = "terminal", tool = "t{n}", command = "true" }] }, { do = "say", text = "all ended" }"#;
    let done = lab.exec(&["x", "--allow", "all", "--timeout", "60"], &lab.turn(steps));
    assert_eq!(done.assert_code(0).out(), "all ended\n");
}

#[test]
fn a_job_that_was_here_before_is_not_ours_to_name() {
    let lab = Lab::new();
    let mut command = lab.command("sh");
    command.args(["-c", "sleep 1003 <&- >&- 2>&- & exec \"$@\"", "sh", super::support::PROGRAM, "exec", "x", "--"]);
    command.args(lab.script(""));
    let done = super::support::Running::start(command, std::process::Stdio::null()).finish();
    assert_eq!((done.assert_code(0).out(), done.err()), ("You said: x\n", ""));
    assert_eq!(lab.left().len(), 1);
}

#[test]
fn a_daemon_whose_parents_are_gone_is_named_whoever_started_it() {
    let daemon = "setsid sh -c 'sleep 1004 <&- >&- 2>&- &'";
    let lab = Lab::new();
    let lives = format!("{daemon}\nexec {}\n", lab.script("").join(" "));
    assert_named(&lab, &lab.exec(&["x"], &lab.shell_agent(&lives)), 0);
    // One that outlives the command that has started it; before it has moved it would be ended with the terminal.
    let steps = r#"{ do = "terminal", tool = "t", command = "sh", args = ["-c", "(setsid sh -c 'echo > moved; exec sleep 1004 <&- >&- 2>&-' &); until test -s moved; do sleep 0.01; done"], succeeded = [{ do = "say", text = "exit {exit}" }] },"#;
    let done = lab.exec(&["x", "--allow", "all"], &lab.turn(steps));
    assert_eq!(done.out(), "exit 0\n");
    assert_named(&lab, &done, 0);
}

/// It had no chance to end it.
#[test]
fn what_an_agent_has_started_that_dies_ends_with_it_wherever_it_has_moved() {
    let lab = Lab::new();
    for (traps, end) in [("", "exit 3"), ("trap \"\" TERM; ", "kill -KILL $$")] {
        // Nobody descends from the agent any more who leads there.
        let daemon = format!("setsid sh -c '{traps}(echo > moved; sleep 1006; sleep 1006) <&- >&- 2>&- &'");
        let text = format!("rm -f moved; {daemon}\nuntil test -e moved; do sleep 0.01; done; {end}\n");
        let done = lab.exec(&["x"], &lab.shell_agent(&text));
        let said = done.assert_code(5).err();
        assert!(said.contains("the agent had left something running, which was ended: "), "{said}");
        assert!(said.contains("sleep 1006") && !said.contains("still running"), "{said}");
        lab.assert_nothing_left();
    }
}

#[track_caller]
fn assert_named(lab: &Lab, done: &super::support::Done, code: i32) {
    done.assert_code(code);
    let left = lab.left();
    assert_eq!(left.len(), 1, "{left:?}");
    let wanted = format!("still running in a session of its own: {} sleep 1004\n", left[0].0);
    assert_eq!(done.err().matches(&wanted).count(), 1, "{}", done.err());
    kill(left[0].0, Signal::KILL);
    lab.assert_nothing_left();
}

#[test]
fn what_outlives_the_agent_and_writes_once_more_is_in_the_report_or_named_in_it() {
    for rounds in (0..12).map(|n| n * 400) {
        let lab = Lab::new();
        let late = format!(
            "until ! kill -0 $PPID; do :; done; i=0; while [ $i -lt {rounds} ]; do i=$((i + 1)); done; echo > late"
        );
        let late = late.replace("$PPID", "$1");
        let text = format!("(setsid sh -c '{late}' sh $$ <&- >&- 2>&- &)\nexec {}\n", lab.script("").join(" "));
        let report = lab.path("r.json");
        let done = lab.exec(&["hello", "--review", report.to_str().unwrap()], &lab.shell_agent(&text));
        done.assert_code(0);
        wait_until("it has ended", || lab.left().is_empty());
        let report: serde_json::Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
        let has =
            |list: &str, text: &str| report[list].as_array().unwrap().iter().any(|one| one.to_string().contains(text));
        assert!(has("files", "late") || has("not_covered", "echo > late"), "{rounds}: {report}");
    }
}

#[test]
fn what_a_run_has_left_behind_is_listed_and_can_be_ended() {
    let lab = Lab::new();
    // The mark of a run whose process is there no more.
    let mut left = lab.command("sleep").arg("1000").env("ACP_TUI_RUN", "7777777-1").spawn().unwrap();
    let pid = i32::try_from(left.id()).unwrap();
    let ps = |args: &[&str]| lab.program().arg("ps").args(args).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8(ps(&[]).stdout).unwrap();
    assert!(said.contains(&format!("{pid}  left behind by run 7777777  sleep 1000")), "{said}");
    let said = String::from_utf8(ps(&["--json"]).stdout).unwrap();
    let lines = said.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let one = lines.into_iter().find(|line| line["pid"] == pid).unwrap();
    assert_eq!((&one["client"], &one["left"]), (&7_777_777.into(), &true.into()), "{one}");
    assert!(left.try_wait().unwrap().is_none(), "nothing ends without a yes");
    let own: Vec<_> = marked().into_iter().filter(|one| one.pid == pid).collect();
    assert_eq!((own.len(), end_marked(own)), (1, Vec::new()));
    left.wait().unwrap();
}

#[test]
fn what_a_run_has_started_that_is_still_there_is_not_left_behind() {
    let lab = Lab::new();
    let agent = lab.turn(r#"{ do = "say", text = "on it\n" }, { do = "hang", ignore_cancel = true }"#);
    let mut running = lab.start(&["x", "--json"], &agent);
    running.until_line("on it");
    let of_run = || marked().into_iter().filter(|one| one.client == running.pid).collect::<Vec<_>>();
    let all = of_run();
    assert!(!all.is_empty() && all.iter().all(|one| !one.is_left), "{all:?}");
}
