//! Terminals as the agent sees them, and those that it feeds itself.

use crate::support::{Rig, exit_code, killed, with};
use acp_tui::agent::codec::Codec as _;
use acp_tui::agent::codec::v1::V1;
use acp_tui::model::effect::{Answer, Effect};
use acp_tui::model::event::{HostEvent, Intent};
use acp_tui::model::ids::{Owner, ReqId, TermId};
use acp_tui::model::refusal::{Reason, Refusal};
use acp_tui::model::terminal::TerminalOrigin;
use serde_json::{Value, json};

fn creating(rig: &Rig) -> ReqId {
    rig.wished(|e| if let Effect::TerminalCreate { req, .. } = e { Some(*req) } else { None })
}

fn shows(id: &str, term: &str) -> Value {
    json!({ "toolCallId": id, "title": "Run", "content": [{ "type": "terminal", "terminalId": term }] })
}

fn on(rig: &mut Rig, id: u64, method: &str, term: &str) {
    rig.request(id, &format!("terminal/{method}"), json!({ "terminalId": term }));
}

#[test]
fn r_319_r_320_r_394_an_embedded_terminal_stays_after_release() {
    let mut rig = Rig::prompted("hi");
    rig.terminal(1, "term-1");
    rig.tool(shows("t", "term-1"));
    let entry = rig.model().first().session().entries().len() - 1;
    let rev = rig.model().first().session().entries().at(entry).unwrap().rev;
    rig.terminal_ends("term-1", exit_code(0));
    assert!(
        rig.model().first().session().entries().at(entry).unwrap().rev > rev,
        "the call that shows it is drawn again"
    );
    on(&mut rig, 2, "release", "term-1");
    let terminal = rig.model().first().session().terminal(&TermId::from("term-1")).unwrap();
    assert_eq!(terminal.text.text(), "end\n");
    assert_eq!(terminal.embedded.len(), 1);
    assert!(terminal.released);
}

#[test]
fn r_321_fact_04_an_unknown_terminal_is_fed_from_meta_and_never_an_error() {
    let mut rig = Rig::prompted("hi");
    rig.tool(shows("t", "call_7"));
    let terminal = |rig: &Rig| {
        let shown = rig.call("t").terminals().next().unwrap().clone();
        rig.model().first().session().terminal(&shown).unwrap().clone()
    };
    assert_eq!(terminal(&rig).origin, TerminalOrigin::Unknown);
    let meta = |meta: Value| json!({ "toolCallId": "t", "_meta": meta });
    rig.tool_update(meta(json!({ "terminal_info": { "terminal_id": "call_7", "cwd": "/project" } })));
    rig.tool_update(meta(json!({ "terminal_output": { "terminal_id": "call_7", "data": "a\n" } })));
    rig.tool_update(meta(json!({ "terminal_output_delta": { "terminal_id": "call_7", "data": "b\n" } })));
    rig.tool_update(with(
        meta(json!({ "terminal_exit": { "terminal_id": "call_7", "exit_code": 2, "signal": null } })),
        json!({ "status": "completed" }),
    ));
    let now = terminal(&rig);
    assert_eq!((now.origin, now.cwd.as_str(), now.text.text().as_str()), (TerminalOrigin::Told, "/project", "a\nb\n"));
    assert_eq!(now.exit, Some(exit_code(2)));
    assert_eq!(rig.odd(), 0);
    // It is not ours to be asked about.
    on(&mut rig, 9, "output", "call_7");
    assert_eq!(rig.sent_briefly(), ["9:-32002"]);
}

#[test]
fn what_meta_says_never_reaches_a_terminal_of_ours() {
    let mut rig = Rig::prompted("hi");
    rig.terminal(1, "term-1");
    rig.tool(with(
        shows("t", "term-1"),
        json!({ "_meta": {
        "terminal_info": { "terminal_id": "term-1", "cwd": "/evil" },
        "terminal_output": { "terminal_id": "term-1", "data": "forged" },
        "terminal_exit": { "terminal_id": "term-1", "exit_code": 0 } } }),
    ));
    let terminal = rig.model().first().session().terminal(&TermId::from("term-1")).unwrap();
    assert_eq!((terminal.cwd.as_str(), terminal.text.text().as_str(), &terminal.exit), ("/project", "", &None));
}

/// The agent's own `term-1` and ours are two terminals; each call goes on to show the one that it has shown.
#[test]
fn a_terminal_of_the_agents_own_and_one_of_ours_may_have_the_same_name() {
    let mut rig = Rig::prompted("hi");
    let output = |data: &str| json!({ "_meta": { "terminal_output": { "terminal_id": "term-1", "data": data } } });
    rig.tool(with(shows("theirs", "term-1"), output("fed ")));
    rig.terminal(1, "term-1");
    rig.tool(shows("ours", "term-1"));
    rig.terminal_ends("term-1", exit_code(3));
    rig.tool_update(with(json!({ "toolCallId": "theirs" }), output("more")));
    let shown = |call: &str| {
        let id = rig.call(call).terminals().next().unwrap().clone();
        let terminal = rig.model().first().session().terminal(&id).unwrap();
        (terminal.origin, terminal.text.text(), terminal.exit.clone(), terminal.embedded.len())
    };
    assert_eq!(shown("theirs"), (TerminalOrigin::Told, "fed more".into(), None, 1));
    assert_eq!(shown("ours"), (TerminalOrigin::Ours, "end\n".into(), Some(exit_code(3)), 1));
    assert_eq!(rig.model().first().session().terminals().count(), 2);
    // Only ours can be killed.
    let theirs = TermId::of(Owner::Agent, "term-1");
    rig.wants();
    rig.intent(Intent::KillTerminal { term: theirs });
    assert_eq!(rig.wants(), []);
}

#[test]
fn a_call_that_shows_a_terminal_which_the_agent_has_told_of_before_shows_that_one() {
    let mut rig = Rig::prompted("hi");
    rig.tool(json!({ "toolCallId": "a", "title": "A",
        "_meta": { "terminal_output": { "terminal_id": "x", "data": "text" } } }));
    rig.tool(shows("b", "x"));
    let shown = rig.call("b").terminals().next().unwrap();
    assert_eq!(shown.owner(), Owner::Agent);
    assert_eq!(rig.model().first().session().terminal(shown).unwrap().text.text(), "text");
}

#[test]
fn r_364_create_is_answered_as_soon_as_it_runs() {
    let mut rig = Rig::prompted("hi");
    rig.terminal(1, "term-1");
    let sent = rig.sent();
    assert_eq!(sent[0]["result"], json!({ "terminalId": "term-1" }));
    assert!(rig.has_entry("terminal term-1: running"));
}

#[test]
fn r_366_the_sessions_directory_is_the_default() {
    let mut rig = Rig::prompted("hi");
    rig.request(1, "terminal/create", json!({ "command": "ls" }));
    let spec = rig.wished(|e| if let Effect::TerminalCreate { spec, .. } = e { Some(spec.clone()) } else { None });
    assert_eq!(spec.cwd, None, "the host takes the session's");
    let req = creating(&rig);
    rig.host(HostEvent::TerminalStarted { req, term: TermId::from("term-1") });
    assert_eq!(rig.model().first().session().terminal(&TermId::from("term-1")).unwrap().cwd, "/project");
    rig.request(2, "terminal/create", json!({ "command": "ls", "cwd": "./x" }));
    assert_eq!(rig.sent_briefly()[1], "2:-32602");
}

#[test]
fn r_371_what_cannot_start_is_told_and_has_no_id() {
    let mut rig = Rig::prompted("hi");
    rig.request(1, "terminal/create", json!({ "command": "nope" }));
    let req = creating(&rig);
    rig.host(HostEvent::TerminalFailed { req, error: Refusal::new(Reason::Failed, "No such file") });
    assert_eq!(rig.sent_briefly(), ["1:-32603"]);
    assert_eq!(rig.model().first().session().terminals().count(), 0);
    assert!(rig.has_entry("could not run nope: No such file"));
}

#[test]
fn r_375_r_376_output_is_asked_for_at_once_and_the_exit_is_told_when_there_is_one() {
    let mut rig = Rig::prompted("hi");
    rig.terminal(1, "term-1");
    rig.wants();
    on(&mut rig, 2, "output", "term-1");
    assert!(matches!(rig.wants()[..], [Effect::TerminalOutput { .. }]), "no waiting for the end");
    let output = |truncated, exit| V1.answer("", &Answer::Output { text: "a".into(), truncated, exit }).unwrap();
    assert_eq!(output(false, None), json!({ "output": "a", "truncated": false }));
    let ended = output(true, Some(acp_tui::model::tool::Exit::default()));
    assert_eq!(ended["exitStatus"], json!({ "exitCode": null, "signal": null }));
    assert_eq!(ended["truncated"], json!(true));
}

#[test]
fn r_386_every_waiter_gets_the_answer_and_late_ones_at_once() {
    let mut rig = Rig::prompted("hi");
    rig.terminal(1, "term-1");
    on(&mut rig, 2, "wait_for_exit", "term-1");
    on(&mut rig, 3, "wait_for_exit", "term-1");
    rig.sent();
    rig.terminal_ends("term-1", exit_code(7));
    on(&mut rig, 4, "wait_for_exit", "term-1");
    let sent = rig.sent();
    assert_eq!(sent.len(), 3);
    for line in sent {
        assert_eq!(line["result"]["exitCode"], json!(7));
    }
}

#[test]
fn r_388_a_signal_is_a_name_and_no_code() {
    for (exit, expected) in [
        (exit_code(0), json!({ "exitCode": 0, "signal": null })),
        (exit_code(4_000_000_000), json!({ "exitCode": 4_000_000_000_u32, "signal": null })),
        (killed("SIGKILL"), json!({ "exitCode": null, "signal": "SIGKILL" })),
        (
            acp_tui::model::tool::Exit { code: Some(137), signal: Some("SIGKILL".into()) },
            json!({ "exitCode": null, "signal": "SIGKILL" }),
        ),
    ] {
        let mut rig = Rig::prompted("hi");
        rig.terminal(1, "term-1");
        on(&mut rig, 2, "wait_for_exit", "term-1");
        rig.sent();
        rig.terminal_ends("term-1", exit);
        assert_eq!(rig.sent()[0]["result"], expected);
    }
}

#[test]
fn r_389_r_390_r_397_kill_keeps_the_id() {
    let mut rig = Rig::prompted("hi");
    rig.terminal(1, "term-1");
    on(&mut rig, 2, "wait_for_exit", "term-1");
    rig.sent();
    rig.wants();
    on(&mut rig, 3, "kill", "term-1");
    assert_eq!(rig.wants(), [Effect::TerminalKill(TermId::from("term-1"))]);
    assert_eq!(rig.sent_briefly(), ["3:ok"]);
    rig.terminal_ends("term-1", killed("SIGTERM"));
    on(&mut rig, 4, "kill", "term-1");
    on(&mut rig, 5, "wait_for_exit", "term-1");
    assert_eq!(rig.sent_briefly(), ["2:ok", "4:ok", "5:ok"]);
    // The person can kill one too; the agent learns of it by the exit.
    rig.terminal(6, "term-2");
    rig.wants();
    rig.intent(Intent::KillTerminal { term: TermId::from("term-2") });
    assert_eq!(rig.wants(), [Effect::TerminalKill(TermId::from("term-2"))]);
}

#[test]
fn scenario_35_a_command_runs_on_after_the_turn_until_somebody_ends_it() {
    let mut rig = Rig::prompted("hi");
    rig.terminal(1, "term-1");
    rig.stop("end_turn");
    let wants = rig.wants();
    assert!(!wants.iter().any(|e| matches!(e, Effect::TerminalKill(_) | Effect::TerminalRelease(_))), "{wants:?}");
    assert!(rig.model().first().session().running_terminal().is_some());
    rig.sent();
    on(&mut rig, 2, "wait_for_exit", "term-1");
    assert!(rig.sent().is_empty());
    rig.terminal_ends("term-1", exit_code(0));
    assert_eq!(rig.sent_briefly(), ["2:ok"]);
    assert!(rig.model().first().session().running_terminal().is_none());
}

#[test]
fn r_392_after_release_the_id_is_dead() {
    let mut rig = Rig::prompted("hi");
    rig.terminal(1, "term-1");
    rig.sent();
    rig.wants();
    on(&mut rig, 2, "release", "term-1");
    assert_eq!(rig.wants(), [Effect::TerminalRelease(TermId::from("term-1"))]);
    for (n, method) in ["output", "wait_for_exit", "kill", "release"].into_iter().enumerate() {
        on(&mut rig, 3 + n as u64, method, "term-1");
    }
    let sent = rig.sent();
    assert_eq!(crate::support::brief(&sent[0]), "2:ok");
    for line in &sent[1..] {
        assert_eq!(
            line["error"],
            json!({ "code": -32002, "message": "Terminal not found", "data": { "terminalId": "term-1" } })
        );
    }
    assert_eq!(sent.len(), 5);
}

#[test]
fn r_393_who_waits_at_release_gets_the_exit() {
    let mut rig = Rig::prompted("hi");
    rig.terminal(1, "term-1");
    on(&mut rig, 2, "wait_for_exit", "term-1");
    on(&mut rig, 3, "release", "term-1");
    rig.sent();
    rig.terminal_ends("term-1", killed("SIGKILL"));
    let sent = rig.sent();
    assert_eq!(sent[0]["id"], 2);
    assert_eq!(sent[0]["result"]["signal"], "SIGKILL");
}

#[test]
fn r_395_an_id_of_nobody_or_with_another_session_is_unknown() {
    let mut rig = Rig::prompted("hi");
    rig.terminal(1, "term-1");
    rig.sent();
    for (n, method) in ["output", "wait_for_exit", "kill", "release"].into_iter().enumerate() {
        on(&mut rig, n as u64 + 2, method, "term-9");
        rig.request(n + 20, &format!("terminal/{method}"), json!({ "sessionId": "s9", "terminalId": "term-1" }));
        let sent = rig.sent_briefly();
        assert_eq!(sent, [format!("{}:-32002", n + 2), format!("{}:-32002", n + 20)]);
    }
    assert!(!rig.model().first().session().terminal(&TermId::from("term-1")).unwrap().released);
}

#[test]
fn r_396_the_terminals_of_an_agent_that_is_gone_are_killed() {
    let mut rig = Rig::prompted("hi");
    rig.terminal(1, "term-1");
    rig.terminal(2, "term-2");
    rig.terminal_ends("term-2", exit_code(0));
    rig.request(3, "terminal/create", json!({ "command": "late" }));
    let late = creating(&rig);
    rig.wants();
    rig.exited(exit_code(1), &[]);
    let kills: Vec<Effect> = rig.wants().into_iter().filter(|e| matches!(e, Effect::TerminalKill(_))).collect();
    assert_eq!(kills, [Effect::TerminalKill(TermId::from("term-1"))]);
    rig.intent(Intent::Restart);
    rig.host(HostEvent::AgentSpawned { pid: 2 });
    rig.wants();
    // One that was on its way starts only now: it belongs to nobody.
    rig.host(HostEvent::TerminalStarted { req: late, term: TermId::from("term-3") });
    assert_eq!(rig.wants(), [Effect::TerminalKill(TermId::from("term-3"))]);
}

#[test]
fn r_398_calls_on_one_terminal_do_not_wait_for_each_other() {
    let mut rig = Rig::prompted("hi");
    rig.terminal(1, "term-1");
    on(&mut rig, 2, "wait_for_exit", "term-1");
    rig.sent();
    rig.wants();
    on(&mut rig, 3, "output", "term-1");
    on(&mut rig, 4, "kill", "term-1");
    assert_eq!(rig.wants().len(), 2);
    assert_eq!(rig.sent_briefly(), ["4:ok"]);
}

#[test]
fn fact_05_how_agents_use_terminals() {
    let mut rig = Rig::prompted("hi");
    // A whole shell line and no directory.
    rig.request(1, "terminal/create", json!({ "command": "ls -l | wc" }));
    let spec = rig.wished(|e| if let Effect::TerminalCreate { spec, .. } = e { Some(spec.clone()) } else { None });
    assert_eq!((spec.command.as_str(), spec.args.len(), spec.cwd.clone()), ("ls -l | wc", 0, None));
    let req = creating(&rig);
    rig.host(HostEvent::TerminalStarted { req, term: TermId::from("term-1") });
    // Polling.
    for id in 2..5 {
        on(&mut rig, id, "output", "term-1");
    }
    let polls = rig.wishes.iter().filter(|e| matches!(e, Effect::TerminalOutput { .. })).count();
    assert_eq!(polls, 3);
    // Release before the last update, and while a wait is open.
    on(&mut rig, 5, "wait_for_exit", "term-1");
    on(&mut rig, 6, "release", "term-1");
    rig.tool(shows("t", "term-1"));
    rig.terminal_ends("term-1", exit_code(0));
    rig.tool_update(json!({ "toolCallId": "t", "status": "completed" }));
    assert!(rig.has_entry("tool Run done {terminal term-1}"));
    // Never released at all.
    rig.terminal(7, "term-2");
    rig.stop("cancelled");
    assert!(rig.model().first().session().terminal(&TermId::from("term-2")).is_some());
}
