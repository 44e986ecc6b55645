//! Sessions that an agent has kept: listed, continued, copied, closed and deleted, each only where the agent offers it.

use crate::support::{Rig, chunk, killed, plain_init, with};
use acp_tui::model::agent::{ListState, Listing};
use acp_tui::model::effect::{Effect, Ended, FrontEnd};
use acp_tui::model::event::{Can, HostEvent, Intent, Opening};
use acp_tui::model::ids::{AgentKey, SessionKey};
use acp_tui::model::session::{Closed, Phase, Policy, Session, SessionState};
use serde_json::{Value, json};

const A: AgentKey = AgentKey::FIRST;
const FIRST: SessionKey = SessionKey::FIRST;
const SECOND: SessionKey = SessionKey(1);

/// What an agent answers that offers these.
fn offering(all: &[Can]) -> Value {
    let session: serde_json::Map<String, Value> =
        all.iter().filter(|can| **can != Can::Load).map(|can| (can.word().to_owned(), json!({}))).collect();
    let caps = json!({ "loadSession": all.contains(&Can::Load), "sessionCapabilities": session });
    with(plain_init(), json!({ "agentCapabilities": caps }))
}

fn started(policy: Policy, all: &[Can], how: Opening) -> Rig {
    let mut rig = Rig::with_policy(policy);
    if how != Opening::New {
        rig.intent(Intent::OpenAs(how));
    }
    rig.intent(Intent::Start);
    rig.host(HostEvent::AgentSpawned { pid: 7 });
    rig.answer("initialize", offering(all));
    rig
}

/// One session is open.
fn open(all: &[Can]) -> Rig {
    let mut rig = started(Policy::Ask, all, Opening::New);
    rig.answer("session/new", json!({ "sessionId": "first" }));
    rig.sent();
    rig
}

fn old() -> Opening {
    Opening::Continue("old".into())
}

fn first(rig: &Rig) -> &Session {
    rig.model().first().session()
}

fn params(rig: &Rig) -> &Value {
    &rig.lines.last().unwrap()["params"]
}

fn listing(rig: &Rig) -> &Listing {
    rig.model().first().agent().listing().unwrap()
}

fn page(ids: &[&str], next: Value) -> Value {
    let sessions: Vec<Value> = ids.iter().map(|id| json!({ "sessionId": id, "cwd": "/p" })).collect();
    json!({ "sessions": sessions, "nextCursor": next })
}

fn ids(rig: &Rig) -> Vec<&str> {
    listing(rig).sessions.iter().map(|listed| listed.id.as_str()).collect()
}

// ---- opening

#[test]
fn r_150_a_first_session_goes_on_in_the_way_that_the_agent_offers() {
    for (policy, all, method) in [
        (Policy::Ask, &[Can::Load, Can::Resume][..], "session/load"),
        (Policy::Ask, &[Can::Resume], "session/resume"),
        (Policy::Ask, &[Can::Load], "session/load"),
        // Where nobody reads the history it is not asked for.
        (Policy::Auto(acp_tui::model::session::Allow::All), &[Can::Load, Can::Resume], "session/resume"),
        (Policy::Auto(acp_tui::model::session::Allow::All), &[Can::Load], "session/load"),
    ] {
        let mut rig = started(policy, all, old());
        assert_eq!(rig.sent_briefly(), ["initialize", method], "{all:?}");
        assert_eq!(params(&rig)["sessionId"], "old");
        assert!(matches!(first(&rig).state, SessionState::Loading { .. }), "it is there from the call on");
        rig.update_in("old", chunk("agent_message_chunk", "said before"));
        assert!(rig.has_entry("said before"));
        rig.answer(method, json!({}));
        assert_eq!(first(&rig).state, SessionState::Ready);
    }
}

#[test]
fn an_agent_that_cannot_go_on_is_asked_for_nothing_else_in_its_place() {
    let mut rig = started(Policy::Ask, &[Can::List, Can::Fork], old());
    assert_eq!(rig.sent_briefly(), ["initialize"]);
    assert!(rig.has_entry("can neither load nor resume"), "{:?}", rig.entries());
    assert!(matches!(rig.model().first().phase(), Phase::Dead(_)) && rig.model().first().agent().is_up());
    // The person may have a new one, and only the person.
    rig.intent(Intent::OpenAs(Opening::New));
    assert_eq!(rig.sent_briefly(), ["session/new"]);
    rig.answer("session/new", json!({ "sessionId": "other" }));
    assert_eq!(first(&rig).state, SessionState::Ready);
}

#[test]
fn r_147_a_session_that_the_agent_has_forgotten_is_called_so() {
    for policy in [Policy::Ask, Policy::Auto(acp_tui::model::session::Allow::All)] {
        let mut rig = started(policy, &[Can::Load], old());
        rig.update_in("old", chunk("agent_message_chunk", "half of it"));
        rig.fail("session/load", json!({ "code": -32002, "message": "Resource not found" }));
        assert!(
            rig.has_entry("half of it") && rig.has_entry("the agent has forgotten this session"),
            "{:?}",
            rig.entries()
        );
        assert!(rig.has_entry("Nothing was opened in its place"), "{:?}", rig.entries());
        assert_eq!(rig.sent_briefly(), ["initialize", "session/load"], "no new one is asked for");
        assert!(matches!(first(&rig).state, SessionState::Closed(Closed::Refused(_))));
        assert!(rig.model().first().agent().is_up());
    }
}

#[test]
fn an_agent_that_is_added_can_begin_with_a_session_that_it_has_kept() {
    let mut rig = open(&[]);
    let add = Intent::AddAgent { command: "b".into(), env: Vec::new(), cwd: "/q".into(), how: old(), protocol: None };
    rig.intent_at(acp_tui::model::ids::Address::All, add.clone());
    let session = rig.model().session_of(SECOND).unwrap();
    assert_eq!((session.cwd.as_str(), &session.state), ("/q", &SessionState::Waiting));
    let written = serde_json::to_string(&add).unwrap();
    assert_eq!(serde_json::from_str::<Intent>(&written).unwrap(), add);
    let before = r#"{"AddAgent":{"command":"b","cwd":"/q"}}"#;
    let Intent::AddAgent { how, .. } = serde_json::from_str(before).unwrap() else { panic!() };
    assert_eq!(how, Opening::New);
}

#[test]
fn a_session_that_is_open_is_not_asked_for_in_another_way() {
    let mut rig = open(&[Can::Load, Can::Resume]);
    rig.intent(Intent::OpenAs(old()));
    assert_eq!(rig.sent_briefly(), [""; 0]);
    assert_eq!(first(&rig).id.as_ref().unwrap().as_str(), "first");
}

// ---- copies

fn forked(rig: &mut Rig) {
    rig.intent_at(A, Intent::OpenSession { cwd: "/p".into(), how: Opening::Fork("first".into()) });
}

fn texts(rig: &Rig, at: SessionKey) -> Vec<String> {
    let session = rig.model().session_of(at).unwrap();
    let text = |body: &acp_tui::model::entry::Body| match body {
        acp_tui::model::entry::Body::User(user) => user.text.clone(),
        acp_tui::model::entry::Body::Agent(message) => message.text.clone(),
        acp_tui::model::entry::Body::Notice(notice) => format!("! {}", notice.title),
        other => format!("{other:?}"),
    };
    session.entries().iter().map(|entry| text(&entry.body)).collect()
}

#[test]
fn r_171_to_r_173_a_fork_is_asked_for_where_it_is_offered_and_is_open_at_once() {
    let mut rig = open(&[]);
    forked(&mut rig);
    assert_eq!(rig.sent_briefly(), [""; 0]);
    assert!(texts(&rig, SECOND).join("\n").contains("cannot fork"));
    let mut rig = open(&[Can::Fork]);
    forked(&mut rig);
    assert_eq!(rig.sent_briefly(), ["session/fork"]);
    assert_eq!(params(&rig), &json!({ "sessionId": "first", "cwd": "/p", "mcpServers": [] }));
    rig.answer("session/fork", json!({ "sessionId": "copy" }));
    rig.intent_at(SECOND, Intent::Prompt { text: "and now".into(), links: Vec::new() });
    assert_eq!(params(&rig)["sessionId"], "copy");
    assert_eq!(first(&rig).state, SessionState::Ready);
}

#[test]
fn r_174_a_copy_shows_what_was_said_once_whether_or_not_the_agent_tells_it() {
    for tells in [false, true] {
        let mut rig = open(&[Can::Fork]);
        rig.prompt("question");
        rig.update_in("first", chunk("agent_message_chunk", "answer"));
        rig.stop("end_turn");
        forked(&mut rig);
        if tells {
            rig.update_in("copy", chunk("user_message_chunk", "question"));
            rig.update_in("copy", chunk("agent_message_chunk", "answer"));
        }
        rig.answer("session/fork", json!({ "sessionId": "copy" }));
        let said = texts(&rig, SECOND);
        assert_eq!(said[..2], ["question", "answer"], "{tells}");
        assert!(said[2].contains("a copy of session first") && said.len() == 3, "{said:?}");
        let entries = rig.model().session_of(SECOND).unwrap().entries();
        assert!(entries.iter().all(|entry| entry.finished && entry.turn.0 > 1), "its turns are its own");
    }
}

#[test]
fn r_174_a_copy_of_what_only_its_agent_knows_is_told_by_loading_the_copy() {
    let copy = |tells: &dyn Fn(&mut Rig)| {
        let mut rig = open(&[Can::Fork, Can::Load]);
        rig.intent_at(A, Intent::OpenSession { cwd: "/p".into(), how: Opening::Copy("old".into()) });
        rig.answer("session/fork", json!({ "sessionId": "copy" }));
        assert_eq!(rig.sent_briefly(), ["session/fork", "session/load"]);
        assert_eq!(params(&rig)["sessionId"], "copy");
        tells(&mut rig);
        assert_eq!(rig.model().session_of(SECOND).unwrap().state, SessionState::Ready);
        rig.intent_at(SECOND, Intent::Prompt { text: "and now".into(), links: Vec::new() });
        assert_eq!(params(&rig)["sessionId"], "copy");
        texts(&rig, SECOND)
    };
    let told = copy(&|rig| {
        rig.update_in("copy", chunk("user_message_chunk", "question"));
        rig.update_in("copy", chunk("agent_message_chunk", "answer"));
        rig.answer("session/load", json!({}));
    });
    assert!(told[0].contains("a copy of session old"), "{told:?}");
    assert_eq!(told[1..], ["question", "answer", "and now"]);
    let untold = copy(&|rig| rig.fail("session/load", json!({ "code": -32603, "message": "no" })));
    assert!(untold[1].contains("its agent does not tell it") && untold[2] == "and now", "{untold:?}");
}

// ---- what they are called

fn called(rig: &Rig, at: SessionKey) -> Option<&str> {
    rig.model().session_of(at).unwrap().called()
}

/// A page that names these sessions.
fn titled(all: &[(&str, &str)]) -> Value {
    let session = |(id, title): &(&str, &str)| json!({ "sessionId": id, "cwd": "/p", "title": title });
    json!({ "sessions": all.iter().map(session).collect::<Vec<_>>() })
}

#[test]
fn r_267_a_session_is_called_as_in_its_agents_list_unless_that_is_older_than_what_was_said() {
    let mut rig = open(&[Can::List]);
    list(&mut rig, None);
    rig.answer("session/list", titled(&[("first", "New session")]));
    assert_eq!(called(&rig, FIRST), None, "nothing was said in it");
    rig.prompt("mend the cart");
    rig.stop("end_turn");
    list(&mut rig, None);
    rig.answer("session/list", titled(&[("first", "The cart")]));
    assert_eq!(called(&rig, FIRST), Some("The cart"));
    rig.update_in("first", json!({ "sessionUpdate": "session_info_update", "title": "Cart, mended" }));
    list(&mut rig, None);
    rig.answer("session/list", titled(&[("first", "The cart")]));
    assert_eq!(called(&rig, FIRST), Some("Cart, mended"), "what it says of the session itself counts more");
}

#[test]
fn r_088_a_session_keeps_its_title_when_its_agent_is_started_again_and_goes_on_with_it() {
    for (can, kept) in [(&[Can::Load][..], Some("The cart")), (&[], None)] {
        let mut rig = open(can);
        rig.prompt("mend the cart");
        rig.update_in("first", json!({ "sessionUpdate": "session_info_update", "title": "The cart" }));
        rig.stop("end_turn");
        rig.exited(killed("SIGKILL"), &[]);
        rig.intent(Intent::Restart);
        assert_eq!(called(&rig, FIRST), kept);
    }
}

#[test]
fn r_174_a_copy_is_told_from_its_original_by_its_title() {
    let mut rig = open(&[Can::Fork, Can::List]);
    rig.prompt("mend the cart\nplease");
    rig.stop("end_turn");
    let copies = |rig: &mut Rig, id: &str| {
        rig.intent_at(A, Intent::OpenSession { cwd: "/p".into(), how: Opening::Copy("first".into()) });
        rig.answer("session/fork", json!({ "sessionId": id }));
    };
    copies(&mut rig, "one");
    assert_eq!(called(&rig, SECOND), Some("copy of mend the cart"));
    rig.update_in("first", json!({ "sessionUpdate": "session_info_update", "title": "The cart" }));
    copies(&mut rig, "two");
    assert_eq!(called(&rig, SessionKey(2)), Some("copy of The cart"));
    list(&mut rig, None);
    rig.answer("session/list", titled(&[("one", "The cart (fork)"), ("two", "The cart")]));
    assert_eq!(called(&rig, SECOND), Some("The cart (fork)"), "its agent has named it");
    assert_eq!(called(&rig, SessionKey(2)), Some("copy of The cart"), "the name of the original tells nothing");
}

// ---- lists

fn list(rig: &mut Rig, cwd: Option<&str>) {
    rig.intent_at(A, Intent::ListSessions { cwd: cwd.map(str::to_owned) });
}

#[test]
fn r_151_nothing_is_listed_that_is_not_offered() {
    let mut rig = open(&[Can::Load]);
    list(&mut rig, None);
    assert_eq!(rig.sent_briefly(), [""; 0]);
    assert!(rig.model().first().agent().listing().is_none());
}

#[test]
fn r_152_r_153_r_154_r_155_pages_follow_until_there_is_no_cursor_with_the_same_directory() {
    let mut rig = open(&[Can::List]);
    list(&mut rig, Some("/p"));
    assert_eq!(params(&rig), &json!({ "cwd": "/p" }));
    rig.answer("session/list", page(&["a"], json!("next page")));
    assert_eq!(params(&rig), &json!({ "cwd": "/p", "cursor": "next page" }));
    // An empty page is not the end.
    rig.answer("session/list", page(&[], json!("another")));
    assert_eq!(listing(&rig).state, ListState::Going);
    rig.answer("session/list", page(&["b"], Value::Null));
    assert_eq!((ids(&rig), &listing(&rig).state), (vec!["a", "b"], &ListState::Whole));
    assert_eq!(rig.sent_briefly(), ["session/list"; 3]);
}

#[test]
fn r_156_a_list_that_never_ends_is_ended() {
    let mut rig = open(&[Can::List]);
    list(&mut rig, None);
    assert_eq!(params(&rig), &json!({}));
    rig.answer("session/list", page(&["a"], json!("same")));
    rig.answer("session/list", page(&["b"], json!("same")));
    assert!(matches!(listing(&rig).state, ListState::Stopped(why) if why.contains("again and again")));
    assert_eq!(ids(&rig), ["a", "b"]);
    assert_eq!(rig.sent().len(), 2);
    list(&mut rig, None);
    for n in 0..1_000 {
        rig.answer("session/list", page(&[], json!(format!("{n}"))));
    }
    assert!(matches!(listing(&rig).state, ListState::Stopped(why) if why.contains("1,000 pages")));
    assert_eq!(rig.sent().len(), 1_000);
    list(&mut rig, None);
    let many: Vec<String> = (0..10_001).map(|n| n.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    rig.answer("session/list", page(&many[..6_000], json!("more")));
    rig.answer("session/list", page(&many[6_000..], json!("and more")));
    assert!(matches!(listing(&rig).state, ListState::Stopped(why) if why.contains("10,000")));
    assert_eq!(listing(&rig).sessions.len(), 10_000);
    assert_eq!(rig.sent().len(), 2);
    // All on one page, which is the last one.
    list(&mut rig, None);
    rig.answer("session/list", page(&many, Value::Null));
    assert!(matches!(listing(&rig).state, ListState::Stopped(why) if why.contains("10,000")));
    assert_eq!((listing(&rig).sessions.len(), rig.sent().len()), (10_000, 1));
}

#[test]
fn r_157_r_159_r_160_what_is_listed_is_bounded_clean_and_the_last_word_counts() {
    let mut rig = open(&[Can::List]);
    list(&mut rig, None);
    let sessions = json!([
        { "sessionId": "a", "cwd": "/p", "title": "old", "additionalDirectories": ["/x", "y", 7] },
        { "cwd": "/no/id" },
        { "sessionId": "b", "title": "", "updatedAt": 5 },
        { "sessionId": "c", "cwd": "relative" },
        7,
        { "sessionId": "a", "cwd": "/p/../q", "title": " t\u{1b}[31m\nwo ", "updatedAt": "2026-08-20T10:00:00+02:00" },
    ]);
    rig.answer("session/list", json!({ "sessions": sessions }));
    let [a, b] = &listing(&rig).sessions[..] else { panic!("{:?}", listing(&rig).sessions) };
    assert_eq!((a.id.as_str(), a.cwd.as_deref(), a.additional.len()), ("a", Some("/q"), 0));
    assert_eq!(a.updated.as_deref(), Some("2026-08-20T10:00:00+02:00"));
    let title = a.title.as_deref().unwrap();
    assert!(!title.chars().any(char::is_control) && title.contains("wo"), "{title}");
    assert_eq!((b.cwd.as_deref(), b.title.as_deref(), b.updated.as_deref()), (None, None, None));
}

#[test]
fn r_159_the_newest_comes_first_and_what_has_no_time_last() {
    let mut rig = open(&[Can::List]);
    list(&mut rig, None);
    let at = |id: &str, updated: &str| json!({ "sessionId": id, "cwd": "/p", "updatedAt": updated });
    let sessions = json!([
        at("odd", "lately"),
        at("older", "2026-08-20T10:00:00+02:00"),
        { "sessionId": "none", "cwd": "/p" },
        at("newer", "2026-08-20T09:00:00Z"),
    ]);
    rig.answer("session/list", json!({ "sessions": sessions }));
    assert_eq!(ids(&rig), ["newer", "older", "odd", "none"]);
}

#[test]
fn a_list_that_fails_says_so_and_a_page_of_an_older_list_is_nobodys() {
    let mut rig = open(&[Can::List]);
    list(&mut rig, None);
    list(&mut rig, Some("/p"));
    rig.answer("session/list", page(&["stale"], Value::Null));
    assert!(ids(&rig).is_empty() && listing(&rig).state == ListState::Going);
    rig.answer("session/list", json!({}));
    assert!(matches!(&listing(&rig).state, ListState::Failed(error) if error.message.contains("session/list")));
    // What is there is kept, also where the rest cannot be asked for.
    for cursor in [json!(5), json!({}), json!("c".repeat(10 << 20))] {
        list(&mut rig, None);
        rig.answer("session/list", page(&["a"], cursor));
        assert!(matches!(listing(&rig).state, ListState::Stopped(why) if why.contains("cannot be given back")));
        assert_eq!(ids(&rig), ["a"]);
    }
    list(&mut rig, None);
    rig.fail("session/list", json!({ "code": -32603, "message": "no" }));
    assert!(matches!(&listing(&rig).state, ListState::Failed(error) if error.message == "no"));
}

#[test]
fn r_267_the_title_and_time_of_an_open_session_are_followed() {
    let mut rig = open(&[]);
    let info = |more: Value| with(json!({ "sessionUpdate": "session_info_update" }), more);
    rig.update_in("first", info(json!({ "title": "T", "updatedAt": "2026-08-20T10:02:11Z" })));
    rig.update_in("first", info(json!({ "title": null })));
    assert_eq!((first(&rig).title.as_deref(), first(&rig).updated.as_deref()), (None, Some("2026-08-20T10:02:11Z")));
}

// ---- closing

fn second(rig: &mut Rig) {
    rig.intent_at(A, Intent::OpenSession { cwd: "/p".into(), how: Opening::New });
    rig.answer("session/new", json!({ "sessionId": "second" }));
    rig.sent();
}

#[test]
fn r_161_r_162_closing_is_told_where_it_is_offered_behind_the_cancel() {
    let mut rig = open(&[]);
    second(&mut rig);
    rig.intent_at(SECOND, Intent::CloseSession);
    assert_eq!(rig.sent_briefly(), [""; 0]);
    let mut rig = open(&[Can::Close]);
    second(&mut rig);
    rig.intent_at(SECOND, Intent::Prompt { text: "work".into(), links: Vec::new() });
    rig.sent();
    rig.intent_at(SECOND, Intent::CloseSession);
    assert_eq!(rig.sent_briefly(), ["session/cancel", "session/close"]);
    assert_eq!(params(&rig), &json!({ "sessionId": "second" }));
    assert!(rig.model().session_of(SECOND).unwrap().unended_turn().is_some());
    rig.answer("session/close", json!({}));
    assert!(rig.model().session_of(SECOND).unwrap().unended_turn().is_none(), "nothing of it is under way");
    assert!(matches!(rig.ended()[..], [Ended::Stopped(_)]));
}

#[test]
fn r_163_r_164_what_names_a_closed_session_is_unknown_and_one_that_was_unknown_is_closed() {
    let mut rig = open(&[Can::Close]);
    second(&mut rig);
    rig.intent_at(SECOND, Intent::Prompt { text: "work".into(), links: Vec::new() });
    rig.intent_at(SECOND, Intent::CloseSession);
    rig.sent();
    rig.request(9, "fs/read_text_file", json!({ "sessionId": "second", "path": "/p/x" }));
    assert_eq!(rig.lines.last().unwrap()["error"]["code"], -32002);
    rig.fail("session/close", json!({ "code": -32002, "message": "unknown" }));
    assert!(rig.model().session_of(SECOND).unwrap().unended_turn().is_none());
    assert_eq!(first(&rig).state, SessionState::Ready);
}

#[test]
fn a_session_that_opens_after_the_person_has_closed_it_is_closed_then() {
    let mut rig = open(&[Can::Close]);
    rig.intent_at(A, Intent::OpenSession { cwd: "/p".into(), how: Opening::New });
    rig.intent_at(SECOND, Intent::CloseSession);
    rig.sent();
    rig.answer("session/new", json!({ "sessionId": "second" }));
    assert_eq!(rig.sent_briefly(), ["session/close"]);
    assert_eq!(params(&rig)["sessionId"], "second");
}

#[test]
fn the_last_session_of_an_agent_is_closed_before_the_agent_is_let_go() {
    let mut rig = open(&[Can::Close]);
    rig.wants();
    rig.intent_at(FIRST, Intent::CloseSession);
    assert_eq!(rig.sent_briefly(), ["session/close"]);
    assert!(rig.wants().contains(&Effect::EndAgent));
}

// ---- deleting

fn said(rig: &Rig) -> Vec<(String, Result<(), String>)> {
    let of = |effect: &Effect| match effect {
        Effect::FrontEnd(FrontEnd::Deleted(id, result)) => Some((id.to_string(), result.clone())),
        _ => None,
    };
    rig.wishes.iter().filter_map(of).collect()
}

fn delete(rig: &mut Rig, id: &str) {
    rig.intent_at(A, Intent::DeleteSession { id: id.into() });
}

#[test]
fn r_166_r_168_deleting_is_asked_for_where_it_is_offered_and_what_is_unknown_is_deleted() {
    let mut rig = open(&[Can::List]);
    delete(&mut rig, "a");
    assert_eq!(rig.sent_briefly(), [""; 0]);
    assert!(said(&rig)[0].1.as_ref().unwrap_err().contains("cannot delete"));
    let mut rig = open(&[Can::List, Can::Delete]);
    list(&mut rig, None);
    rig.answer("session/list", page(&["a", "b", "c"], Value::Null));
    for id in ["a", "b", "c"] {
        delete(&mut rig, id);
        assert_eq!(params(&rig), &json!({ "sessionId": id }));
        match id {
            "a" => rig.answer("session/delete", json!({})),
            "b" => rig.fail("session/delete", json!({ "code": -32002, "message": "unknown" })),
            _ => rig.fail("session/delete", json!({ "code": -32603, "message": "the disk is full" })),
        }
    }
    assert_eq!(ids(&rig), ["c"]);
    let said = said(&rig);
    assert_eq!((&said[0].1, &said[1].1), (&Ok(()), &Ok(())));
    assert!(said[2].1.as_ref().unwrap_err().contains("the disk is full"));
}

#[test]
fn r_169_an_open_session_is_closed_before_it_is_deleted_and_its_agent_is_let_go_after() {
    let mut rig = open(&[Can::Close, Can::Delete]);
    rig.wants();
    delete(&mut rig, "first");
    assert_eq!(rig.sent_briefly(), ["session/close", "session/delete"]);
    assert_eq!(first(&rig).state, SessionState::Closed(Closed::ByPerson));
    rig.answer("session/close", json!({}));
    assert!(!rig.wants().contains(&Effect::EndAgent), "the agent has still to answer");
    rig.answer("session/delete", json!({}));
    assert!(rig.wants().contains(&Effect::EndAgent));
}
