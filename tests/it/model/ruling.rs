//! Requests that rules are asked about before anything else is done with them.

use crate::support::{Rig, render};
use acp_tui::engine::replay::replay;
use acp_tui::model::Model;
use acp_tui::model::audit::By;
use acp_tui::model::changes::{Gate, ReviewCommand};
use acp_tui::model::effect::Effect;
use acp_tui::model::event::{HostEvent, Intent, WriteFact};
use acp_tui::model::ids::{EntryId, ReqId};
use acp_tui::model::question::Outside;
use acp_tui::model::refusal::{Reason, Refusal};
use acp_tui::model::ruling::{MadeRule, RuleWish, Ruled, Ruling, Scope};
use acp_tui::model::session::{Allow, Policy};
use acp_tui::model::setup::Setup;
use serde_json::{Value, json};
use std::path::PathBuf;

const HEADER: &str = r#"{"v":2,"review":false,"gate":"off","rules":true}"#;

fn ruled(policy: Policy) -> Rig {
    let mut rig = Rig::with_policy(policy);
    rig.core.set_up(Setup::Sessions { review: false, gate: Gate::Off, rules: true });
    rig.opens();
    rig.prompt("hi");
    rig.sent();
    rig
}

fn ruling(verdict: Ruled) -> Ruling {
    let rule = (verdict != Ruled::Open).then(|| "Bash(git *)".to_owned());
    let reason = (verdict == Ruled::Deny).then(|| "not here".to_owned());
    Ruling { rule, reason, ..Ruling { verdict, ..Ruling::OPEN } }
}

/// The request that the rules were asked about last.
fn asked(rig: &Rig) -> ReqId {
    rig.wished(|e| if let Effect::AskRules { req, .. } = e { Some(*req) } else { None })
}

fn say(rig: &mut Rig, verdict: Ruled) {
    let req = asked(rig);
    rig.host(HostEvent::Ruled { req, ruling: ruling(verdict) });
}

fn option(id: &str, kind: &str) -> Value {
    json!({ "optionId": id, "name": id, "kind": kind })
}

fn ask(rig: &mut Rig, id: u64, options: &[Value]) {
    let tool = json!({ "toolCallId": "t", "title": "git log", "kind": "execute" });
    rig.request(id, "session/request_permission", json!({ "toolCall": tool, "options": options }));
}

fn usual() -> Vec<Value> {
    vec![option("always", "allow_always"), option("once", "allow_once"), option("no", "reject_once")]
}

/// A replay shows the same without any rules.
fn assert_replayed(rig: &Rig) {
    let lines = std::iter::once(HEADER).chain(rig.journal.iter().map(String::as_str));
    let fresh = Model::new("agent --acp".into(), "/project".into(), Policy::Ask);
    let (again, skipped) = replay(fresh, PathBuf::from("/project"), lines);
    assert_eq!(skipped, 0);
    assert_eq!(again.first().session(), rig.model().first().session());
}

#[test]
fn a_rule_answers_in_place_of_the_person_and_says_so() {
    let mut rig = ruled(Policy::Ask);
    ask(&mut rig, 1, &usual());
    assert!(rig.sent().is_empty() && rig.pending().is_empty(), "nothing before the rules have spoken");
    say(&mut rig, Ruled::Allow);
    let entries = rig.entries().join("\n");
    assert!(entries.contains("allowed by rule Bash(git *): git log"), "{entries}");
    ask(&mut rig, 2, &usual());
    say(&mut rig, Ruled::Deny);
    assert_eq!(rig.sent_briefly(), ["1:selected once", "2:selected no"]);
    let entries = rig.entries().join("\n");
    assert!(entries.contains("refused by rule Bash(git *): not here: git log"), "{entries}");
    for verdict in [Ruled::Open, Ruled::Ask] {
        ask(&mut rig, 3, &usual());
        say(&mut rig, verdict);
        assert_eq!(rig.pending().len(), 1, "{verdict:?}");
        rig.choose("once");
        assert_eq!(rig.sent_briefly(), ["3:selected once"]);
        let entries = rig.entries().join("\n");
        assert!(!entries.contains("by rule"), "the person has decided now: {entries}");
    }
    assert_replayed(&rig);
}

#[test]
fn a_rule_is_told_once_for_a_call_and_what_is_then_written_for_it() {
    for verdict in [Ruled::Allow, Ruled::Deny] {
        let mut rig = ruled(Policy::Ask);
        let change = json!({ "type": "diff", "path": "/project/a", "oldText": "x", "newText": "y" });
        let tool = json!({ "toolCallId": "t", "title": "Edit a", "kind": "edit", "content": [change] });
        rig.request(1, "session/request_permission", json!({ "toolCall": tool, "options": usual() }));
        say(&mut rig, verdict);
        let told = |rig: &Rig| rig.entries().join("\n").matches("rule Bash(git *)").count();
        assert_eq!(told(&rig), 1, "{:?}", rig.entries());
        rig.request(2, "fs/write_text_file", json!({ "path": "/project/a", "content": "y" }));
        say(&mut rig, verdict);
        assert_eq!(told(&rig), 1, "{:?}", rig.entries());
        // No call says it of another file.
        rig.request(3, "fs/write_text_file", json!({ "path": "/project/b", "content": "y" }));
        say(&mut rig, verdict);
        assert_eq!(told(&rig), 2, "{:?}", rig.entries());
        assert_replayed(&rig);
    }
}

#[test]
fn an_answer_for_good_is_never_given_by_a_rule() {
    let mut rig = ruled(Policy::Ask);
    ask(&mut rig, 1, &[option("always", "allow_always"), option("never", "reject_always")]);
    say(&mut rig, Ruled::Allow);
    assert_eq!(rig.pending().len(), 1, "the person may");
    rig.choose("always");
    ask(&mut rig, 2, &[option("always", "allow_always"), option("never", "reject_always")]);
    say(&mut rig, Ruled::Deny);
    assert_eq!(rig.sent_briefly(), ["1:selected always", "2:cancelled"]);
}

/// `allow_always` of the agent is not taken for ours, whatever it is called.
#[test]
fn an_answer_that_may_last_is_the_persons_to_give() {
    let named = |id: &str, name: &str, kind: &str| json!({ "optionId": id, "name": name, "kind": kind });
    let no = || option("no", "reject_once");
    let lasting = [
        vec![named("same", "Allow", "allow_once"), named("same", "Allow for good", "allow_always"), no()],
        vec![named("x", "Always allow everything for this session", "allow_once"), no()],
        vec![named("x", "Yes, and don’t ask again", "allow_once"), no()],
        vec![named("x", "Allow from now on", "allow_once"), no()],
        vec![named("x", "Remember and allow", "allow_once"), no()],
    ];
    for options in lasting {
        let mut rig = ruled(Policy::Ask);
        ask(&mut rig, 1, &options);
        say(&mut rig, Ruled::Allow);
        assert_eq!((rig.pending().len(), rig.sent_briefly().len()), (1, 0), "{options:?}");
        say(&mut rig, Ruled::Allow);
        assert_eq!(rig.pending().len(), 1, "nor once it waits: {options:?}");
    }
    // Where there is another one that does not say so, that one is taken.
    let mut rig = ruled(Policy::Ask);
    let once = [named("ever", "Allow always", "allow_once"), named("ok", "Yes, once", "allow_once"), no()];
    ask(&mut rig, 1, &once);
    say(&mut rig, Ruled::Allow);
    // Nor is a refusal given that is an answer of another kind, too.
    ask(&mut rig, 2, &[named("same", "Allow", "allow_once"), named("same", "No", "reject_once")]);
    say(&mut rig, Ruled::Deny);
    assert_eq!(rig.sent_briefly(), ["1:selected ok", "2:cancelled"]);
    assert_replayed(&rig);
}

#[test]
fn what_asks_nobody_is_held_to_the_rules_too() {
    let mut rig = ruled(Policy::Ask);
    let file = json!({ "path": "/project/a", "content": "x" });
    rig.request(1, "fs/read_text_file", file.clone());
    say(&mut rig, Ruled::Deny);
    rig.request(2, "fs/write_text_file", file.clone());
    say(&mut rig, Ruled::Deny);
    rig.request(3, "terminal/create", json!({ "command": "ls" }));
    say(&mut rig, Ruled::Deny);
    let answers = rig.sent();
    for answer in &answers {
        assert_eq!(answer["error"]["message"], "Refused by a rule: not here", "{answer}");
    }
    assert_eq!(answers.len(), 3);
    // An ask of a rule asks, although no gate does.
    rig.request(4, "terminal/create", json!({ "command": "ls" }));
    say(&mut rig, Ruled::Ask);
    rig.choose("allow");
    rig.wished(|e| matches!(e, Effect::TerminalCreate { .. }).then_some(()));
    rig.request(5, "fs/write_text_file", file.clone());
    say(&mut rig, Ruled::Ask);
    let req = rig.wished(|e| if let Effect::CheckWrite { req, .. } = e { Some(*req) } else { None });
    rig.host(HostEvent::WriteChecked { req, path: "/project/a".into(), real: None, outside: false, result: Ok(()) });
    assert_eq!(rig.pending(), [req]);
    rig.choose("reject");
    rig.request(6, "fs/read_text_file", file.clone());
    say(&mut rig, Ruled::Ask);
    rig.choose("reject");
    assert_eq!(rig.sent_briefly().len(), 2);
    rig.request(7, "fs/read_text_file", file);
    say(&mut rig, Ruled::Ask);
    rig.choose("allow");
    rig.wished(|e| matches!(e, Effect::FsRead { request, .. } if request.is_granted).then_some(()));
    assert!(rig.entries().join("\n").contains("allowed by you: read /project/a"));
    assert_replayed(&rig);
}

#[test]
fn what_a_rule_allows_passes_the_gate() {
    let mut rig = ruled(Policy::Ask);
    rig.intent(Intent::SetGate(Gate::Ask));
    rig.request(1, "terminal/create", json!({ "command": "git log" }));
    say(&mut rig, Ruled::Allow);
    rig.wished(|e| matches!(e, Effect::TerminalCreate { .. }).then_some(()));
    rig.request(2, "fs/write_text_file", json!({ "path": "/project/a", "content": "x" }));
    say(&mut rig, Ruled::Allow);
    rig.wished(|e| matches!(e, Effect::FsWrite { .. }).then_some(()));
    assert!(rig.pending().is_empty());
    let entries = rig.entries().join("\n");
    assert!(entries.contains("allowed by rule Bash(git *): run git log"), "{entries}");
    assert!(entries.contains("allowed by rule Bash(git *): write /project/a"), "{entries}");
    rig.request(3, "terminal/create", json!({ "command": "ls" }));
    say(&mut rig, Ruled::Open);
    assert_eq!(rig.pending().len(), 1, "no rule is for it: the gate");
}

/// Whatever comes first answers, and the rules come too late.
#[test]
fn each_request_that_waits_for_the_rules_is_answered_once() {
    type End = fn(&mut Rig);
    let ends: [(End, &str); 3] = [
        (|rig| rig.intent(Intent::Cancel), "cancelled"),
        (|rig| rig.stop("end_turn"), "cancelled"),
        (
            |rig| {
                let params = json!({ "requestId": 1 });
                rig.agent(json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": params }));
            },
            "cancelled",
        ),
    ];
    for (end, outcome) in ends {
        let mut rig = ruled(Policy::Ask);
        ask(&mut rig, 1, &usual());
        end(&mut rig);
        say(&mut rig, Ruled::Allow);
        let sent = rig.sent_briefly();
        assert_eq!(sent.iter().filter(|line| line.starts_with("1:")).collect::<Vec<_>>(), [&format!("1:{outcome}")]);
        assert!(rig.pending().is_empty());
    }
    let mut rig = ruled(Policy::Ask);
    ask(&mut rig, 1, &usual());
    rig.exited(acp_tui::model::tool::Exit { code: Some(1), signal: None }, &[]);
    say(&mut rig, Ruled::Allow);
    assert!(rig.sent().is_empty());
}

#[test]
fn where_nobody_is_asked_rules_decide_before_the_flag() {
    let answers = |allow: Allow| {
        let mut rig = ruled(Policy::Auto(allow));
        for (id, verdict) in [(1, Ruled::Allow), (2, Ruled::Open), (3, Ruled::Ask), (4, Ruled::Deny)] {
            ask(&mut rig, id, &usual());
            say(&mut rig, verdict);
        }
        rig.sent_briefly()
    };
    assert_eq!(answers(Allow::None), ["1:selected once", "2:selected no", "3:selected no", "4:selected no"]);
    assert_eq!(answers(Allow::All), ["1:selected once", "2:selected once", "3:selected no", "4:selected no"]);
}

#[test]
fn a_rule_that_is_made_answers_what_waits_and_one_for_a_turn_ends_with_it() {
    let mut rig = ruled(Policy::Ask);
    for id in [1, 2] {
        ask(&mut rig, id, &usual());
        say(&mut rig, Ruled::Open);
    }
    let made = |scope| MadeRule { list: Ruled::Allow, pattern: "Bash(git *)".into(), scope, agent: None };
    let rules = vec![made(Scope::Turn), made(Scope::Session)];
    let asked = rig.pending().len();
    rig.host(HostEvent::RulesMade { made: rules, unkept: Vec::new(), fault: None });
    assert_eq!((asked, rig.model().first().rules.made().len()), (2, 2));
    rig.host(HostEvent::Ruled { req: ReqId(0), ruling: ruling(Ruled::Allow) });
    rig.host(HostEvent::Ruled { req: ReqId(1), ruling: ruling(Ruled::Ask) });
    assert_eq!(rig.sent_briefly(), ["1:selected once"], "the other one is still asked");
    assert_eq!(rig.pending().len(), 1);
    rig.host(HostEvent::RulesChanged);
    rig.host(HostEvent::Ruled { req: ReqId(1), ruling: ruling(Ruled::Deny) });
    assert_eq!(rig.sent_briefly(), ["2:selected no"]);
    rig.stop("end_turn");
    assert_eq!(rig.model().first().rules.made(), [made(Scope::Session)]);
    rig.intent(Intent::Rules(RuleWish::Drop(made(Scope::Session))));
    assert_eq!(rig.model().first().rules.made(), []);
    assert_replayed(&rig);
}

/// S-106, S-172.
#[test]
fn rules_of_earlier_runs_are_listed_when_asked_for_and_can_be_dropped() {
    let mut rig = ruled(Policy::Ask);
    let rule = |scope| MadeRule { list: Ruled::Allow, pattern: "Bash(git *)".into(), scope, agent: None };
    let (here, before) = (rule(Scope::Workspace), rule(Scope::Always));
    rig.host(HostEvent::RulesMade { made: vec![here.clone()], unkept: Vec::new(), fault: None });
    rig.intent(Intent::Rules(RuleWish::List));
    assert!(rig.wants().iter().any(|e| matches!(e, Effect::ListRules)));
    let listed = |rig: &Rig| rig.model().first().rules.kept_before().map(|kept| kept.cloned().collect::<Vec<_>>());
    assert_eq!(listed(&rig), None);
    rig.host(HostEvent::RulesKept(vec![here, before.clone()]));
    assert_eq!(listed(&rig), Some(vec![before.clone()]), "what was made here is not there twice");
    rig.intent(Intent::Rules(RuleWish::Drop(before.clone())));
    assert!(rig.wants().iter().any(|e| matches!(e, Effect::DropRule(rule) if *rule == before)));
    rig.host(HostEvent::RuleDropped { rule: before.clone(), fault: Some("no room".into()) });
    assert_eq!(listed(&rig), Some(vec![before.clone()]), "it still holds");
    assert!(render(rig.model()).iter().any(|entry| entry.contains("the rule still holds: no room")));
    rig.host(HostEvent::RuleDropped { rule: before, fault: None });
    assert_eq!(listed(&rig), Some(Vec::new()));
    assert_replayed(&rig);
}

#[test]
fn what_is_read_outside_is_asked_about_and_is_the_file_that_was_named_then() {
    let mut rig = ruled(Policy::Ask);
    let outside = Outside { path: "/project/link".into(), real: Some("/etc/really".into()) };
    let open = Ruling { outside: vec![outside.clone()], ..Ruling::OPEN };
    let read = |rig: &mut Rig, id: u64| {
        rig.request(id, "fs/read_text_file", json!({ "path": "/project/link" }));
        let req = asked(rig);
        rig.host(HostEvent::Ruled { req, ruling: open.clone() });
    };
    read(&mut rig, 1);
    assert_eq!(rig.model().first().questions()[0].outside, [outside]);
    rig.choose("allow");
    let path =
        rig.wished(|e| if let Effect::FsRead { request, .. } = e { request.path().map(str::to_owned) } else { None });
    assert_eq!(path, "/etc/really");
    read(&mut rig, 2);
    rig.choose("reject");
    assert!(rig.sent()[0]["error"].is_object());
    assert_replayed(&rig);
    // A relative path is none, whatever has been said.
    rig.request(4, "fs/read_text_file", json!({ "path": "~/.env" }));
    let req = asked(&rig);
    let outside = vec![Outside { path: "~/.env".into(), real: Some("/home/me/.env".into()) }];
    rig.host(HostEvent::Ruled { req, ruling: Ruling { outside, verdict: Ruled::Ask, ..Ruling::OPEN } });
    rig.choose("allow");
    let path =
        rig.wished(|e| if let Effect::FsRead { request, .. } = e { request.path().map(str::to_owned) } else { None });
    assert_eq!(path, "~/.env", "which the file system refuses");
    let mut alone = ruled(Policy::Auto(Allow::None));
    read(&mut alone, 3);
    assert!(alone.pending().is_empty() && alone.sent()[0]["error"].is_object());
}

/// The agent wants to write this, and the rules say where it is.
fn write_outside(rig: &mut Rig, id: u64, ruling: Ruling) -> ReqId {
    rig.request(id, "fs/write_text_file", json!({ "path": "/project/link", "content": "new\n" }));
    let req = asked(rig);
    rig.host(HostEvent::Ruled { req, ruling });
    req
}

/// It would go there.
fn checked(rig: &mut Rig, req: ReqId) {
    let real = Some("/etc/really".into());
    rig.host(HostEvent::WriteChecked { req, path: "/project/link".into(), real, outside: true, result: Ok(()) });
}

/// The path of the last write that is to be done.
fn on_its_way(rig: &Rig) -> String {
    rig.wished(|e| if let Effect::FsWrite { request, .. } = e { request.path().map(str::to_owned) } else { None })
}

#[test]
fn what_is_written_outside_is_asked_about_and_is_the_file_that_was_named_then() {
    let mut rig = ruled(Policy::Ask);
    let outside = Outside { path: "/project/link".into(), real: Some("/etc/really".into()) };
    let open = Ruling { outside: vec![outside.clone()], ..Ruling::OPEN };
    let req = write_outside(&mut rig, 1, open.clone());
    assert!(rig.pending().is_empty(), "not before it is known where it would go");
    checked(&mut rig, req);
    assert_eq!(rig.model().first().questions()[0].outside, [outside]);
    let is_write = |e: &&Effect| matches!(e, Effect::FsWrite { .. });
    assert_eq!(rig.wants().iter().filter(is_write).count(), 0);
    rig.choose("allow");
    assert_eq!(on_its_way(&rig), "/etc/really");
    let fact = WriteFact { created: true, bytes: 4, old: None, outside: Some("/etc/really".into()) };
    rig.host(HostEvent::FileWritten { req, path: "/etc/really".into(), result: Ok(fact) });
    assert!(rig.has_entry("Write /etc/really"), "{:?}", rig.entries());
    assert_eq!(rig.sent().len(), 1);
    let req = write_outside(&mut rig, 2, open.clone());
    checked(&mut rig, req);
    rig.choose("reject");
    assert!(rig.sent()[0]["error"].is_object());
    assert_replayed(&rig);
    let mut alone = ruled(Policy::Auto(Allow::All));
    write_outside(&mut alone, 3, open);
    assert!(alone.pending().is_empty());
    assert_eq!(alone.sent()[0]["error"]["data"]["reason"], "outside_workspace");
}

#[test]
fn a_write_outside_is_for_the_person_under_every_gate_and_by_a_rule_it_goes_its_way() {
    for gate in [Gate::Ask, Gate::Hold] {
        let mut rig = ruled(Policy::Ask);
        rig.intent(Intent::SetGate(gate));
        // The rules have not seen where it leads.
        let req = write_outside(&mut rig, 1, Ruling::OPEN);
        checked(&mut rig, req);
        assert_eq!(rig.pending().len(), 1, "{gate:?}");
        assert!(!rig.wants().iter().any(|e| matches!(e, Effect::Review(ReviewCommand::Hold { .. }))), "{gate:?}");
        rig.choose("allow");
        assert_eq!(on_its_way(&rig), "/etc/really");
    }
    let mut rig = ruled(Policy::Ask);
    let outside = vec![Outside { path: "/project/link".into(), real: Some("/etc/really".into()) }];
    let open = Ruling { outside, ..Ruling::OPEN };
    write_outside(&mut rig, 1, Ruling { verdict: Ruled::Allow, rule: Some("Edit(/etc/**)".into()), ..open.clone() });
    assert_eq!((rig.pending().len(), on_its_way(&rig).as_str()), (0, "/project/link"), "looked up when it is written");
    // A rule that is made while it is asked about answers it.
    let req = write_outside(&mut rig, 2, open.clone());
    checked(&mut rig, req);
    rig.host(HostEvent::RulesChanged);
    let allowed = Ruling { verdict: Ruled::Allow, rule: Some("Edit(/etc/really)".into()), ..open.clone() };
    rig.host(HostEvent::Ruled { req, ruling: allowed });
    assert_eq!((rig.pending().len(), on_its_way(&rig).as_str()), (0, "/etc/really"));
    // It leads inside by the time it is looked up.
    let req = write_outside(&mut rig, 3, open);
    let real = Some("/project/a".into());
    rig.host(HostEvent::WriteChecked { req, path: "/project/link".into(), real, outside: false, result: Ok(()) });
    assert_eq!((rig.pending().len(), on_its_way(&rig).as_str()), (0, "/project/link"));
}

#[test]
fn a_journal_from_before_writes_outside_were_asked_about_goes_on_as_it_did() {
    let mut rig = ruled(Policy::Ask);
    let outside = vec![Outside { path: "/project/link".into(), real: Some("/etc/really".into()) }];
    let req = write_outside(&mut rig, 1, Ruling { outside, ..Ruling::OPEN });
    let result = Err(Refusal::new(Reason::Outside, "it is outside"));
    rig.host(HostEvent::FileWritten { req, path: "/project/link".into(), result });
    assert_eq!((rig.pending().len(), rig.sent().len()), (0, 1));
    assert!(rig.has_entry("it is outside"));
    assert_replayed(&rig);
}

#[test]
fn a_journal_from_before_reads_outside_were_asked_about_leaves_no_question_open() {
    let mut rig = ruled(Policy::Ask);
    rig.request(1, "fs/read_text_file", json!({ "path": "/etc/x" }));
    let req = asked(&rig);
    let outside = vec![Outside { path: "/etc/x".into(), real: Some("/etc/x".into()) }];
    rig.host(HostEvent::Ruled { req, ruling: Ruling { outside, ..Ruling::OPEN } });
    assert_eq!(rig.pending().len(), 1);
    let result = Err(Refusal::new(Reason::Outside, "it is outside"));
    rig.host(HostEvent::FileRead { req, path: "/etc/x".into(), result });
    assert!(rig.pending().is_empty());
    assert_eq!(rig.sent().len(), 1, "one answer");
    let entries = rig.entries().join("\n");
    assert!(entries.contains("you were not asked: read /etc/x") && entries.contains("it is outside"), "{entries}");
    assert_replayed(&rig);
}

#[test]
fn a_rule_holds_before_it_is_written_also_for_what_is_being_judged() {
    let mut rig = ruled(Policy::Ask);
    let asked = |rig: &mut Rig| rig.wants().iter().filter(|e| matches!(e, Effect::AskRules { .. })).count();
    ask(&mut rig, 1, &usual());
    say(&mut rig, Ruled::Open);
    ask(&mut rig, 2, &usual());
    asked(&mut rig);
    let rule = MadeRule { list: Ruled::Allow, pattern: "Bash(git *)".into(), scope: Scope::Always, agent: None };
    rig.host(HostEvent::RulesHeld(vec![rule.clone()]));
    assert!(rig.model().first().rules.in_no_file().eq([&rule]));
    assert_eq!(asked(&mut rig), 1, "the question");
    rig.host(HostEvent::Ruled { req: ReqId(0), ruling: ruling(Ruled::Allow) });
    // Judged by the rules of before: asked once more, and no question.
    rig.host(HostEvent::Ruled { req: ReqId(1), ruling: ruling(Ruled::Open) });
    assert_eq!((asked(&mut rig), rig.pending().len()), (1, 0));
    rig.host(HostEvent::Ruled { req: ReqId(1), ruling: ruling(Ruled::Allow) });
    assert_eq!(rig.sent_briefly(), ["1:selected once", "2:selected once"]);
    rig.host(HostEvent::RulesMade { made: Vec::new(), unkept: vec![rule.clone()], fault: Some("full".into()) });
    let of_session = MadeRule { scope: Scope::Session, ..rule };
    assert_eq!(rig.model().first().rules.made(), std::slice::from_ref(&of_session));
    assert!(rig.model().first().rules.in_no_file().eq([&of_session]), "for the session alone");
    assert_replayed(&rig);
}

#[test]
fn a_question_that_nobody_is_there_for_is_refused_by_the_client() {
    for (intent, by) in [
        (Intent::RefuseLeft(ReqId(0)), (By::Client, Some("the input has ended"))),
        (Intent::Refuse { req: ReqId(0), reason: String::new() }, (By::Person, None)),
    ] {
        let mut rig = Rig::of(Model::new("agent --acp".into(), "/project".into(), Policy::Ask).with_audit(true));
        rig.core.set_up(Setup::Sessions { review: false, gate: Gate::Off, rules: true });
        rig.opens();
        rig.prompt("hi");
        rig.sent();
        ask(&mut rig, 1, &usual());
        say(&mut rig, Ruled::Open);
        rig.wants();
        rig.intent(intent);
        let told = |e: &Effect| if let Effect::Audit(decision) = e { Some(decision.clone()) } else { None };
        let decision = rig.wants().iter().find_map(told).unwrap();
        assert_eq!((decision.by, decision.reason.as_deref()), by);
        assert_eq!(rig.sent_briefly(), ["1:selected no"]);
    }
}

#[test]
fn what_the_rules_say_is_about_what_the_call_says_now() {
    let mut rig = ruled(Policy::Ask);
    let change = |title: &str| json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "title": title });
    let count = |rig: &mut Rig| rig.wants().iter().filter(|e| matches!(e, Effect::AskRules { .. })).count();
    // Before the question is shown.
    ask(&mut rig, 1, &usual());
    rig.update(change("rm -rf x"));
    say(&mut rig, Ruled::Allow);
    assert!(rig.sent().is_empty() && rig.pending().is_empty(), "that was about something else");
    say(&mut rig, Ruled::Open);
    assert_eq!(rig.pending().len(), 1);
    // While it is shown: asked once at a time, and once more for all that came meanwhile.
    count(&mut rig);
    for title in ["git a", "git b", "rm c"] {
        rig.update(change(title));
    }
    assert_eq!(count(&mut rig), 1);
    say(&mut rig, Ruled::Allow);
    assert_eq!((rig.sent().len(), rig.pending().len(), count(&mut rig)), (0, 1, 1));
    say(&mut rig, Ruled::Deny);
    assert_eq!(rig.sent_briefly(), ["1:selected no"]);
    assert_replayed(&rig);
}

/// A call of the agent's own.
fn call(rig: &mut Rig, id: &str, status: &str) {
    rig.update(json!({
        "sessionUpdate": "tool_call",
        "toolCallId": id,
        "title": "Run it",
        "kind": "execute",
        "status": status,
        "rawInput": { "command": "git push" },
    }));
}

/// The calls that the rules have looked at after they were over.
fn looked_back(rig: &Rig) -> Vec<EntryId> {
    let of = |e: &Effect| if let Effect::LookBack(entry) = e { Some(*entry) } else { None };
    rig.wishes.iter().filter_map(of).collect()
}

#[test]
fn what_a_call_has_done_without_asking_is_looked_at_once_and_told_where_a_rule_denies_it() {
    let mut rig = ruled(Policy::Ask);
    call(&mut rig, "a", "in_progress");
    assert!(looked_back(&rig).is_empty(), "it is not over");
    for _ in 0..2 {
        call(&mut rig, "a", "completed");
    }
    call(&mut rig, "b", "failed");
    let [entry] = looked_back(&rig)[..] else { panic!("{:?}", looked_back(&rig)) };
    rig.host(HostEvent::RanDenied { entry, ruling: ruling(Ruled::Deny) });
    assert!(rig.has_entry("ran without asking: git push, which Bash(git *) denies"), "{:?}", rig.entries());
    // What was asked about was judged before.
    ask(&mut rig, 1, &usual());
    say(&mut rig, Ruled::Allow);
    rig.update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed" }));
    // What a rule has refused to a call need not have been done, whatever the call says.
    call(&mut rig, "c", "in_progress");
    rig.request(2, "terminal/create", json!({ "command": "git push" }));
    say(&mut rig, Ruled::Deny);
    call(&mut rig, "c", "completed");
    assert_eq!(looked_back(&rig), [entry]);
    assert_replayed(&rig);
}

#[test]
fn without_rules_nothing_is_looked_at_afterwards() {
    let mut rig = Rig::with_policy(Policy::Ask);
    rig.opens();
    rig.prompt("hi");
    call(&mut rig, "a", "completed");
    assert!(looked_back(&rig).is_empty());
}
