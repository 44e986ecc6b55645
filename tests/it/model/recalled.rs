//! What earlier journals have of a session is in it before its agent is asked for it, and is shown where the agent cannot
//! go on with it.

use crate::support::{Rig, chunk, plain_init, with};
use acp_tui::model::effect::Effect;
use acp_tui::model::entry::{Block, Body, Entry, Message, UserMessage, UserState};
use acp_tui::model::event::{Before, HostEvent, Intent, Opening, Timer};
use acp_tui::model::ids::{AgentKey, EntryId, SessionKey, TurnId};
use acp_tui::model::past::{Past, Recalled};
use acp_tui::model::reduce::Found;
use acp_tui::model::session::{Allow, Phase, Policy, ReadOnly, SessionState};
use acp_tui::model::setup::Setup;
use acp_tui::model::tool::{Mark, ToolCall, ToolContent};
use serde_json::{Value, json};
use std::time::Duration;

fn entry(turn: u64, body: Body) -> Entry {
    Entry { id: EntryId(0), rev: 0, finished: true, turn: TurnId(turn), at: Duration::ZERO, body }
}

fn past() -> Past {
    let user = |text: &str| {
        let (text, links, state, message_id) = (text.to_owned(), Vec::new(), UserState::Sent, None);
        Body::User(UserMessage { text, links, state, message_id, sent: None })
    };
    let agent = |text: &str| Body::Agent(Message { text: text.to_owned(), ..Message::default() });
    let entries =
        vec![entry(1, user("one")), entry(1, agent("Hello.")), entry(2, user("two")), entry(2, agent("Done."))];
    Past { entries, ..Past::default() }
}

fn recall(rig: &mut Rig, past: Past) {
    for part in past.parts(None) {
        rig.host(HostEvent::Recalled(part));
    }
}

/// Asked for a session of an agent that offers this, before anything has been read.
fn asked(load: bool, more: &Value) -> Rig {
    let caps = json!({ "agentCapabilities": { "loadSession": load, "sessionCapabilities": more } });
    asked_of(caps)
}

/// The same, of an agent that begins with this.
fn asked_of(init: Value) -> Rig {
    let mut rig = Rig::with_policy(Policy::Ask);
    rig.core.set_up(Setup::Asking { earlier: true, policy: Policy::Ask });
    rig.intent(Intent::OpenAs(Opening::Continue("s".into())));
    rig.intent(Intent::Start);
    rig.host(HostEvent::AgentSpawned { pid: 7 });
    rig.answer("initialize", with(plain_init(), init));
    rig
}

fn wants_recall(effect: &Effect) -> bool {
    matches!(effect, Effect::Recall { id, is_copy: false } if id.as_str() == "s")
}

const SAID: [&str; 4] = ["you: one", "agent: Hello.", "you: two", "agent: Done."];

fn said(rig: &Rig) -> Vec<String> {
    let session = rig.model().first().session();
    let text = |entry: &Entry| match &entry.body {
        Body::User(user) => Some(format!("you: {}", user.text)),
        Body::Agent(message) => Some(format!("agent: {}", message.text)),
        _ => None,
    };
    session.entries().iter().filter_map(text).collect()
}

#[test]
fn an_agent_is_asked_for_a_session_when_its_journals_have_been_read() {
    let mut rig = asked(false, &json!({ "resume": {} }));
    assert!(rig.wishes.iter().any(wants_recall));
    rig.sent();
    assert_eq!(rig.model().first().session().state, SessionState::Waiting);
    recall(&mut rig, past());
    assert_eq!(rig.sent_briefly(), ["session/resume"]);
    rig.answer("session/resume", json!({}));
    assert_eq!(said(&rig), SAID);
    assert!(rig.has_entry("the session goes on"));
    rig.prompt("three");
    rig.update_in("s", chunk("agent_message_chunk", "Yes."));
    assert_eq!(said(&rig)[4..], ["you: three", "agent: Yes."]);
}

/// An agent that must not be asked too soon is up.
fn minds_the_minute(rig: &mut Rig) {
    rig.intent(Intent::OpenAs(Opening::Continue("s".into())));
    rig.intent(Intent::Start);
    rig.host(HostEvent::AgentSpawned { pid: 7 });
    let info = json!({ "agentInfo": { "name": "gemini-cli" }, "agentCapabilities": { "loadSession": true } });
    rig.sent();
    rig.answer("initialize", with(plain_init(), info));
}

/// For how long it is put off, which is said.
fn put_off(rig: &mut Rig) -> Duration {
    assert_eq!(rig.sent_briefly(), [] as [&str; 0]);
    assert!(rig.has_entry("Warn: its agent cannot load a session again so soon: asked for in"), "{:?}", rig.entries());
    rig.wished(|effect| match effect {
        Effect::StartTimer { timer: Timer::OldEnough, after } => Some(*after),
        _ => None,
    })
}

#[test]
fn a_session_is_loaded_when_it_is_old_enough_for_its_agent() {
    let mut rig = Rig::with_policy(Policy::Ask);
    rig.core.set_up(Setup::Asking { earlier: true, policy: Policy::Ask });
    minds_the_minute(&mut rig);
    let mut part = past().parts(None).remove(0);
    part.age = Some(Duration::from_secs(20));
    rig.sent();
    rig.host(HostEvent::Recalled(part));
    let after = put_off(&mut rig);
    assert!(after > Duration::from_secs(35) && after <= Duration::from_secs(40), "{after:?}");
    let Phase::PutOff { until } = rig.model().first().phase() else { panic!("{:?}", rig.model().first().phase()) };
    assert!(until <= rig.now + after && until + Duration::from_secs(1) > rig.now + after, "{until:?}");
    rig.prompt("held meanwhile");
    rig.now += after;
    rig.timer(Timer::OldEnough);
    assert_eq!(rig.sent_briefly(), ["session/load"]);
    assert!(matches!(rig.model().first().phase(), Phase::Opening { .. }));
    // A timer that comes late asks for nothing twice.
    rig.timer(Timer::OldEnough);
    assert_eq!(rig.sent_briefly(), [] as [&str; 0]);
}

#[test]
fn a_session_of_which_nothing_is_read_is_loaded_when_it_is_old_enough_too() {
    for age in [Duration::ZERO, Duration::from_secs(20), Duration::from_mins(2)] {
        let mut rig = Rig::with_policy(Policy::Auto(Allow::All));
        rig.host(HostEvent::OpenedBefore { age });
        minds_the_minute(&mut rig);
        if age < Duration::from_mins(1) {
            let (after, left) = (put_off(&mut rig), Duration::from_mins(1).saturating_sub(age));
            assert!(after > left.saturating_sub(Duration::from_secs(5)) && after <= left, "{after:?} of {left:?}");
            rig.now += after;
            rig.timer(Timer::OldEnough);
        }
        assert_eq!(rig.sent_briefly(), ["session/load"], "{age:?}");
        // What is said in it now is its first turn here.
        rig.answer("session/load", Value::Null);
        rig.prompt("one");
        assert_eq!(rig.model().first().session().entries().last().unwrap().turn, TurnId(1), "{age:?}");
    }
}

#[test]
fn what_the_agent_says_after_it_belongs_to_no_earlier_message() {
    let mut rig = asked(false, &json!({ "resume": {} }));
    recall(&mut rig, past());
    rig.answer("session/resume", json!({}));
    rig.update_in("s", chunk("agent_message_chunk", "By the way"));
    assert_eq!(said(&rig)[3..], ["agent: Done.", "agent: By the way"]);
}

#[test]
fn a_history_that_is_loaded_behind_it_is_not_doubled_and_what_is_new_in_it_is_kept() {
    let mut rig = asked(true, &json!({ "resume": {} }));
    rig.sent();
    recall(&mut rig, past());
    assert_eq!(rig.sent_briefly(), ["session/load"], "it may have gone on elsewhere");
    for (kind, text) in [
        ("user_message_chunk", "one"),
        ("agent_message_chunk", "Hel"),
        ("agent_message_chunk", "lo."),
        ("user_message_chunk", "two"),
        ("agent_message_chunk", "Done."),
        ("user_message_chunk", "elsewhere"),
        ("agent_message_chunk", "Said there."),
    ] {
        rig.update_in("s", chunk(kind, text));
    }
    rig.answer("session/load", Value::Null);
    assert_eq!(said(&rig)[..4], SAID);
    assert_eq!(said(&rig)[4..], ["you: elsewhere", "agent: Said there."]);
}

#[test]
fn a_load_that_fails_half_way_keeps_what_is_known_and_is_told_in_one_line() {
    let mut rig = asked(true, &json!({}));
    recall(&mut rig, past());
    rig.update_in("s", chunk("user_message_chunk", "one"));
    rig.update_in("s", chunk("agent_message_chunk", "Hello."));
    rig.fail("session/load", json!({ "code": -32603, "message": "broken" }));
    assert_eq!(said(&rig), SAID);
    assert_eq!(rig.entries().iter().filter(|entry| entry.contains("broken")).count(), 1, "{:?}", rig.entries());
    rig.sent();
    rig.intent(Intent::Restart);
    assert_eq!(rig.sent_briefly(), ["session/load"], "it is not lost");
}

#[test]
fn a_session_that_its_agent_cannot_go_on_with_is_shown_and_nothing_is_asked_of_the_agent() {
    let mut rig = asked(false, &json!({}));
    rig.sent();
    recall(&mut rig, past());
    assert_eq!(rig.sent_briefly(), [""; 0]);
    assert_eq!(rig.model().first().read_only(), Some(&ReadOnly::NoWay));
    assert_eq!(said(&rig), SAID);
    assert_eq!(rig.model().first().known_id().map(|id| id.as_str()), Some("s"));
    rig.prompt("three");
    assert_eq!(rig.sent_briefly(), [""; 0]);
}

#[test]
fn a_session_that_its_agent_has_forgotten_is_shown() {
    let mut rig = asked(true, &json!({}));
    recall(&mut rig, past());
    rig.fail("session/load", json!({ "code": -32002, "message": "gone" }));
    assert_eq!(rig.model().first().read_only(), Some(&ReadOnly::Forgotten));
    assert_eq!(said(&rig), SAID);
    assert!(rig.has_entry("the agent has forgotten this session: gone"));
}

/// Recording `gemini/load-now.jsonl`: only its words tell such an error from any other.
#[test]
fn one_that_is_gone_in_words_alone_is_forgotten_and_what_helps_is_named() {
    let gone = json!({ "code": -32603, "message": "Internal error",
        "data": { "details": "No previous sessions found for this project." } });
    for (agent, is_named) in [("gemini-cli", true), ("another", false)] {
        let init =
            json!({ "agentCapabilities": { "loadSession": true }, "agentInfo": { "name": agent, "version": "1" } });
        let mut rig = asked_of(init);
        recall(&mut rig, past());
        rig.fail("session/load", gone.clone());
        assert_eq!(rig.model().first().read_only(), Some(&ReadOnly::Forgotten), "{agent}");
        assert!(rig.has_entry("the agent has forgotten this session"));
        assert_eq!(rig.has_entry("\"sessionRetention\": { \"enabled\": false }"), is_named, "{agent}");
    }
    let mut rig = asked(true, &json!({}));
    recall(&mut rig, past());
    rig.fail("session/load", json!({ "code": -32603, "message": "Internal error", "data": { "details": "busy" } }));
    assert_eq!(rig.model().first().read_only(), None, "it may be there the next time");
}

#[test]
fn a_session_that_is_open_elsewhere_is_shown_without_an_agent() {
    let mut rig = Rig::with_policy(Policy::Ask);
    rig.core.set_up(Setup::Asking { earlier: true, policy: Policy::Ask });
    let why = ReadOnly::Elsewhere("another window".into());
    rig.intent(Intent::OpenAs(Opening::Show { id: "s".into(), why: why.clone() }));
    recall(&mut rig, past());
    assert_eq!(rig.model().first().read_only(), Some(&why));
    assert_eq!(said(&rig), SAID);
    // Its agent starts for another session, and is not asked for this one.
    rig.intent_at(AgentKey::FIRST, Intent::OpenSession { cwd: "/project".into(), how: Opening::New });
    rig.intent(Intent::Start);
    rig.host(HostEvent::AgentSpawned { pid: 7 });
    rig.answer("initialize", plain_init());
    assert_eq!(rig.sent_briefly(), ["initialize", "session/new"]);
}

#[test]
fn a_call_below_another_one_stays_below_it() {
    let mut rig = asked(false, &json!({ "resume": {} }));
    let call = |id: &str, parent: Option<&str>| {
        let mut tool = ToolCall::new(id.into(), Duration::ZERO);
        tool.parent = parent.map(Into::into);
        entry(1, Body::Tool(Box::new(tool)))
    };
    let entries = vec![call("above", None), call("other", None), call("below", Some("above"))];
    recall(&mut rig, Past { entries, ..Past::default() });
    let session = rig.model().first().session();
    assert_eq!(session.call_named(&"above".into()).map(|call| call.id.clone()), Some("above".into()));
    assert!(session.call_named(&"other".into()).is_none(), "what the agent says next is of a call of its own");
}

#[test]
fn of_a_call_that_runs_or_waits_where_a_journal_ends_no_end_is_known() {
    let mut rig = Rig::prompted("work");
    rig.tool(json!({ "toolCallId": "t", "title": "read a" }));
    let session = rig.model().first().session().clone();
    let mut entries = Found::of(session, Duration::from_secs(9)).past.entries.into_iter();
    let tool = entries.find_map(|entry| if let Body::Tool(tool) = entry.body { Some(tool) } else { None });
    assert_eq!(tool.unwrap().mark, Some(Mark::NoFinalStatus), "it may still run in another acp-tui");
}

#[test]
fn why_not_all_of_it_is_there_is_said_once_however_often_it_is_read() {
    let mut rig = Rig::with_policy(Policy::Ask);
    rig.core.set_up(Setup::Asking { earlier: true, policy: Policy::Ask });
    let troubled = || Recalled { is_last: true, trouble: Some("too large".into()), ..Recalled::default() };
    rig.intent(Intent::OpenAs(Opening::Show { id: "s".into(), why: ReadOnly::Elsewhere("there".into()) }));
    rig.host(HostEvent::Recalled(troubled()));
    rig.intent(Intent::OpenAs(Opening::Continue("s".into())));
    rig.host(HostEvent::Recalled(troubled()));
    assert_eq!(rig.entries().iter().filter(|entry| entry.contains("too large")).count(), 1, "{:?}", rig.entries());
}

#[test]
fn an_agent_that_is_not_started_has_the_name_that_its_journal_knows() {
    let mut rig = Rig::with_policy(Policy::Ask);
    rig.intent(Intent::OpenAs(Opening::Load("s".into())));
    let named = |name: &str| Recalled { is_last: true, agent: Some(name.into()), ..Recalled::default() };
    rig.host(HostEvent::Recalled(named("Old name")));
    assert_eq!(rig.model().first().agent().label(), "Old name");
    rig.host(HostEvent::Recalled(named("Another")));
    assert_eq!(rig.model().first().agent().label(), "Old name", "it is known already");
}

#[test]
fn a_session_that_continues_another_says_so_in_both() {
    let mut rig = asked(false, &json!({}));
    recall(&mut rig, past());
    let before = Before { session: SessionKey::FIRST, id: Some("s".into()), agent: "Old agent".into(), to: None };
    rig.intent_at(AgentKey::FIRST, Intent::OpenSession { cwd: "/project".into(), how: Opening::After(before) });
    assert_eq!(rig.sent_briefly().last().map(String::as_str), Some("session/new"));
    assert!(rig.has_entry("handed over to a new session of"), "{:?}", rig.entries());
    let new = rig.model().session_of(SessionKey(1)).unwrap();
    let Body::Notice(notice) = &new.entries().last().unwrap().body else { panic!("no notice") };
    assert!(notice.title.starts_with("continues session s of Old agent"), "{}", notice.title);
}

#[test]
fn an_agent_that_is_started_once_more_to_continue_another_is_called_by_its_name_at_once() {
    let mut rig = asked(false, &json!({}));
    recall(&mut rig, past());
    let before = Before { session: SessionKey::FIRST, id: Some("s".into()), agent: "Old agent".into(), to: None };
    let all = [("agent --acp", None, "probe"), ("another", None, "another"), ("another --acp", Some("mine"), "mine")];
    for (command, to, name) in all {
        let how = Opening::After(Before { to: to.map(str::to_owned), ..before.clone() });
        let (command, env, cwd) = (command.into(), Vec::new(), "/project".into());
        rig.intent(Intent::AddAgent { command, env, cwd, how, protocol: None });
        let words = format!("handed over to a new session of {name}");
        assert!(rig.has_entry(&words), "{words}: {:?}", rig.entries());
    }
}

#[test]
fn a_side_question_goes_to_a_copy_changes_nothing_and_leaves_the_turn_alone() {
    let mut rig = Rig::with_policy(Policy::Ask);
    rig.intent(Intent::Start);
    rig.host(HostEvent::AgentSpawned { pid: 7 });
    let offers = json!({ "sessionCapabilities": { "fork": {}, "close": {} } });
    rig.answer("initialize", with(plain_init(), json!({ "agentCapabilities": offers })));
    rig.answer("session/new", json!({ "sessionId": "s" }));
    rig.prompt("work");
    rig.sent();
    let how = Opening::Aside { beside: SessionKey::FIRST, from: Some("s".into()) };
    rig.intent_at(AgentKey::FIRST, Intent::OpenSession { cwd: "/project".into(), how });
    assert_eq!(rig.sent_briefly(), ["session/fork"]);
    let aside = SessionKey(1);
    rig.intent_at(aside, Intent::Prompt { text: "why?".into(), links: Vec::new() });
    rig.answer("session/fork", json!({ "sessionId": "copy" }));
    assert_eq!(rig.sent_briefly(), ["session/prompt"]);
    let session = rig.model().session_of(aside).unwrap();
    assert!(session.is_aside() && !session.changes().is_on);
    // Nobody is asked: what would change something is refused.
    let tool = json!({ "toolCallId": "t", "title": "Write it", "kind": "edit" });
    rig.request(
        9,
        "session/request_permission",
        json!({ "sessionId": "copy", "toolCall": tool, "options": crate::support::options() }),
    );
    assert!(rig.model().session_of(aside).unwrap().questions().is_empty());
    assert!(rig.sent_briefly()[0].contains("no"), "{:?}", rig.lines.last());
    assert!(rig.model().first().turn.is_some());
    rig.intent_at(aside, Intent::CloseSession);
    assert_eq!(rig.sent_briefly(), ["session/cancel", "session/close"]);
    assert!(rig.model().first().turn.is_some(), "it goes on");
}

#[test]
fn the_answer_to_a_side_question_that_is_kept_is_a_session_like_any_other() {
    let mut rig = Rig::ready();
    let how = Opening::Aside { beside: SessionKey::FIRST, from: None };
    rig.intent_at(AgentKey::FIRST, Intent::OpenSession { cwd: "/project".into(), how });
    rig.answer("session/new", json!({ "sessionId": "new" }));
    rig.intent_at(SessionKey(1), Intent::KeepAside);
    assert!(!rig.model().session_of(SessionKey(1)).unwrap().is_aside());
    let tool = json!({ "toolCallId": "t", "title": "Write it", "kind": "edit" });
    rig.request(
        9,
        "session/request_permission",
        json!({ "sessionId": "new", "toolCall": tool, "options": crate::support::options() }),
    );
    assert_eq!(rig.model().session_of(SessionKey(1)).unwrap().questions().len(), 1);
}

/// An agent may say once more how one stands that it had begun, without its name.
#[test]
fn a_sub_agent_that_a_journal_tells_of_is_known_by_its_row() {
    let mut rig = asked(true, &json!({}));
    let mut kid = ToolCall::new("kid/".into(), Duration::ZERO);
    kid.title = "Kid one".to_owned();
    kid.is_agent = true;
    kid.mark = Some(Mark::NoFinalStatus);
    kid.content = vec![ToolContent::Block(Block::Text("I said".to_owned()))];
    let mut past = past();
    past.entries.push(entry(2, Body::Tool(kid.into())));
    rig.sent();
    recall(&mut rig, past);
    rig.answer("session/load", Value::Null);
    rig.sent();
    let asks = |rig: &mut Rig, id: u64| {
        let call = json!({ "toolCallId": "t", "title": "rm" });
        let params = json!({ "sessionId": "kid", "toolCall": call, "options": crate::support::options() });
        rig.request(id, "session/request_permission", params);
    };
    asks(&mut rig, 8);
    assert!(rig.sent_briefly()[0].starts_with("8:-"), "it is history");
    let idle = json!({ "sessionUpdate": "subagent_update", "sessionId": "kid", "state": { "state": "idle" } });
    rig.update_in("s", idle);
    let rows = |rig: &Rig| rig.entries().into_iter().filter(|one| one.starts_with("tool")).collect::<Vec<_>>();
    assert_eq!(rows(&rig), ["tool Kid one done {I said}"]);
    rig.update_in("kid", chunk("agent_message_chunk", ", and say"));
    assert_eq!(rows(&rig).len(), 1);
    assert_eq!(rig.call("kid/").content, [ToolContent::Block(Block::Text("I said, and say".to_owned()))]);
    rig.prompt("go on");
    rig.sent();
    asks(&mut rig, 9);
    assert!(rig.sent().is_empty(), "it is announced: the person is asked");
}
