//! Two agents, and two sessions of one of them: each sees its own updates, questions, turns and end.

use crate::support::{Rig, SESSION};
use acp_tui::model::Model;
use acp_tui::model::agent::DeathKind;
use acp_tui::model::changes::{ReviewCommand, ReviewEvent};
use acp_tui::model::effect::{Answer, Call, Effect, Ended, FrontEnd};
use acp_tui::model::entry::{Block, Body, ChunkKind};
use acp_tui::model::event::{
    AgentEvent, AgentRequest, AuthKind, AuthMethod, CallError, ErrorKind, Event, HostEvent, InitResult, Intent,
    Opening, PermissionKind, PermissionOption, PromptAnswer, PromptResult, SessionResult, Stop, TerminalSpec, Timer,
    Update,
};
use acp_tui::model::ids::{Address, Addressed, AgentKey, ReqId, SessionId, SessionKey, TermId, TurnId};
use acp_tui::model::reduce::reduce;
use acp_tui::model::session::{Closed, Phase, Policy, Session, SessionState};
use acp_tui::model::terminal::TerminalOrigin;
use acp_tui::model::tool::{Exit, ToolPatch};
use serde_json::json;
use std::time::Duration;

const A: AgentKey = AgentKey::FIRST;
const B: AgentKey = AgentKey(1);
const A1: SessionKey = SessionKey::FIRST;
const B1: SessionKey = SessionKey(1);
const A2: SessionKey = SessionKey(2);

/// A model by itself; what is to be done is kept with its address.
struct House {
    model: Model,
    done: Vec<Addressed<Effect>>,
}

impl House {
    fn event(&mut self, at: impl Into<Address>, what: Event) -> Vec<Addressed<Effect>> {
        let effects = reduce(&mut self.model, Addressed::new(at, what), Duration::from_secs(1));
        self.done.extend(effects.clone());
        effects
    }

    fn agent(&mut self, at: impl Into<Address>, event: AgentEvent) -> Vec<Addressed<Effect>> {
        self.event(at, Event::Agent(event))
    }

    fn wants(&mut self, at: impl Into<Address>, intent: Intent) -> Vec<Addressed<Effect>> {
        self.event(at, Event::User(intent))
    }

    fn host(&mut self, at: impl Into<Address>, fact: HostEvent) -> Vec<Addressed<Effect>> {
        self.event(at, Event::Host(fact))
    }

    fn spawn(&mut self, agent: AgentKey) {
        self.host(agent, HostEvent::AgentSpawned { pid: 1 });
        let init = InitResult::default();
        self.agent(agent, AgentEvent::Initialized(Ok(init)));
    }

    fn open(&mut self, at: SessionKey, id: &str) {
        self.agent(at, AgentEvent::SessionOpened(Ok(named(id).into())));
    }

    fn say(&mut self, agent: AgentKey, id: &str, text: &str) {
        let block = Block::Text(text.into());
        let update = Update::Chunk { kind: ChunkKind::Agent, message_id: None, block };
        self.agent(agent, AgentEvent::Update { session: SessionId::from(id), update });
    }

    fn ask(&mut self, agent: AgentKey, id: &str, req: u64) -> Vec<Addressed<Effect>> {
        let option = PermissionOption { id: "yes".into(), name: "Yes".into(), kind: PermissionKind::AllowOnce };
        let request = AgentRequest::Permission { tool: ToolPatch::new("t".into()), options: vec![option] };
        self.request(agent, id, req, request)
    }

    fn request(&mut self, agent: AgentKey, id: &str, req: u64, request: AgentRequest) -> Vec<Addressed<Effect>> {
        self.agent(
            agent,
            AgentEvent::Request { req: ReqId(req), session: Some(SessionId::from(id)), request: request.into() },
        )
    }

    fn prompt(&mut self, at: SessionKey, text: &str) -> Vec<Addressed<Effect>> {
        self.wants(at, Intent::Prompt { text: text.into(), links: Vec::new() })
    }

    fn session(&self, key: SessionKey) -> &Session {
        self.model.session_of(key).unwrap()
    }

    fn texts(&self, key: SessionKey) -> Vec<String> {
        let text = |body: &Body| match body {
            Body::Agent(m) => m.text.clone(),
            Body::User(u) => format!("you: {}", u.text),
            Body::Notice(n) => format!("! {}", n.title),
            Body::Tool(t) => format!("tool {}", t.id),
            other => format!("{other:?}"),
        };
        self.session(key).entries().iter().map(|e| text(&e.body)).collect()
    }
}

fn named(id: &str) -> SessionResult {
    SessionResult { id: SessionId::from(id), modes: None, options: None, model: None, commands: None, earlier: 0 }
}

/// Two sessions of the first agent and one of the second; the ids of two of them are the same.
fn house() -> House {
    let mut house = House { model: Model::new("a".into(), "/p".into(), Policy::Ask), done: Vec::new() };
    house.wants(A, Intent::Start);
    house.spawn(A);
    house.open(A1, "one");
    let how = Opening::New;
    let effects = house.wants(
        Address::All,
        Intent::AddAgent { command: "b".into(), env: Vec::new(), cwd: "/q".into(), how, protocol: None },
    );
    assert_eq!(effects, [Addressed::new(B, Effect::SpawnAgent)]);
    house.spawn(B);
    house.open(B1, "one");
    let effects = house.wants(A, Intent::OpenSession { cwd: "/other".into(), how: Opening::New });
    assert_eq!(effects, [Addressed::new(A2, Effect::Call(Call::OpenSession(Opening::New)))]);
    house.open(A2, "two");
    for key in [A1, A2, B1] {
        assert_eq!(house.session(key).state, SessionState::Ready);
    }
    house
}

#[test]
fn each_session_has_its_own_directory_and_agent() {
    let house = house();
    let of = |key| (house.session(key).agent, house.session(key).cwd.as_str());
    assert_eq!([of(A1), of(B1), of(A2)], [(A, "/p"), (B, "/q"), (A, "/other")]);
}

#[test]
fn r_133_each_session_gets_its_own_updates() {
    let mut house = house();
    house.say(A, "one", "for a1");
    house.say(B, "one", "for b1");
    house.say(A, "two", "for a2");
    house.say(B, "two", "for nobody");
    assert_eq!(house.texts(A1), ["for a1"]);
    assert_eq!(house.texts(B1), ["for b1"]);
    assert_eq!(house.texts(A2), ["for a2"]);
    let odd = |key| house.model.agent_of(key).unwrap().odd.unknown;
    assert_eq!((odd(A), odd(B)), (0, 1));
}

#[test]
fn r_133_each_session_has_its_own_turns_no_number_comes_twice_and_entries_count_from_zero_in_each() {
    let mut house = house();
    let sent = house.prompt(A1, "x");
    assert!(
        matches!(&sent[..], [Addressed { at: Address::Session(A1), what: Effect::Call(Call::Prompt { session, .. }) }]
        if session.as_str() == "one")
    );
    let sent = house.prompt(A2, "y");
    assert!(
        matches!(&sent[..], [Addressed { at: Address::Session(A2), what: Effect::Call(Call::Prompt { session, .. }) }]
        if session.as_str() == "two")
    );
    assert!(house.session(B1).turn.is_none());
    let result = Ok(PromptAnswer::Ended(PromptResult { stop: Stop::EndTurn, usage: None }));
    let effects = house.agent(A2, AgentEvent::PromptAnswered { turn: TurnId(2), result });
    let ended = |e: &Addressed<Effect>| {
        matches!(&e.what, Effect::FrontEnd(FrontEnd::TurnEnded(TurnId(2), Ended::Stopped(_), _)))
    };
    assert!(effects.iter().any(|e| e.at == A2.into() && ended(e)), "{effects:?}");
    assert!(house.session(A2).turn.is_none() && house.session(A1).turn.is_some());
    for key in [A1, A2] {
        assert_eq!(house.session(key).entries().at(0).unwrap().id.0, 0);
    }
}

#[test]
fn r_133_each_question_waits_in_its_own_session_and_is_answered_there() {
    let mut house = house();
    let asked = house.ask(A, "two", 1);
    assert!(asked.contains(&Addressed::new(A2, Effect::FrontEnd(FrontEnd::Asked(ReqId(1))))), "{asked:?}");
    house.ask(B, "one", 2);
    let waiting = |house: &House, key| house.session(key).questions().iter().map(|p| p.req.0).collect::<Vec<_>>();
    assert_eq!([waiting(&house, A1), waiting(&house, A2), waiting(&house, B1)], [vec![], vec![1], vec![2]]);
    // An answer in another session changes nothing.
    assert!(house.wants(A1, Intent::Answer { req: ReqId(1), option: "yes".into() }).is_empty());
    let effects = house.wants(A2, Intent::Answer { req: ReqId(1), option: "yes".into() });
    let answer = Answer::Selected("yes".into());
    assert_eq!(effects, [Addressed::new(A2, Effect::Respond { req: ReqId(1), answer })]);
    // What the agent takes back is found in whichever of its sessions it is.
    house.agent(B, AgentEvent::RequestWithdrawn(ReqId(2)));
    assert!(house.session(B1).questions().is_empty());
}

#[test]
fn scenario_03_fifty_questions_of_three_sessions_are_each_answered_once_in_any_order() {
    let mut house = house();
    let places = [(A, "one", A1), (A, "two", A2), (B, "one", B1)];
    let of = |req: u64| places[req as usize % places.len()];
    for req in 0..50 {
        let (agent, session, _) = of(req);
        let option = |id: &str, kind| PermissionOption { id: id.into(), name: id.into(), kind };
        let options = vec![option("yes", PermissionKind::AllowOnce), option("no", PermissionKind::RejectOnce)];
        // The calls of all three sessions have the same names.
        let tool = ToolPatch::new(format!("call-{}", req / 3).into());
        house.request(agent, session, req, AgentRequest::Permission { tool, options });
    }
    let waiting = |house: &House| places.map(|(_, _, key)| house.session(key).questions().len());
    assert_eq!(waiting(&house), [17, 17, 16]);
    for req in (0..50).map(|turn| turn * 37 % 50) {
        let (_, _, key) = of(req);
        let option: &str = if req % 2 == 0 { "yes" } else { "no" };
        let answer = |at| Intent::Answer { req: ReqId(at), option: option.into() };
        let effects = house.wants(key, answer(req));
        let expected = Effect::Respond { req: ReqId(req), answer: Answer::Selected(option.into()) };
        let answers = |all: &[Addressed<Effect>]| {
            all.iter().filter(|e| matches!(e.what, Effect::Respond { .. })).cloned().collect::<Vec<_>>()
        };
        assert_eq!(answers(&effects), [Addressed::new(key, expected)], "{req}");
        assert!(answers(&house.wants(key, answer(req))).is_empty(), "{req} is answered twice");
    }
    assert_eq!(waiting(&house), [0, 0, 0]);
}

#[test]
fn the_end_of_one_agent_closes_its_own_sessions_only() {
    let mut house = house();
    house.prompt(A1, "x");
    house.prompt(A2, "y");
    house.prompt(B1, "z");
    house.ask(B, "one", 7);
    let exit = Exit { code: Some(1), signal: None };
    let effects = house.host(A, HostEvent::AgentExited { exit, stderr: Vec::new() });
    for (key, turn) in [(A1, TurnId(1)), (A2, TurnId(2))] {
        assert_eq!(house.session(key).state, SessionState::Closed(Closed::AgentGone));
        assert!(house.session(key).turn.is_none());
        let is_gone = |e: &Effect| matches!(e, Effect::FrontEnd(FrontEnd::TurnEnded(t, Ended::Gone, _)) if *t == turn);
        assert!(effects.iter().any(|e| e.at == key.into() && is_gone(&e.what)), "{effects:?}");
        assert_eq!(house.texts(key).last().unwrap(), "! the agent ended: exit 1");
    }
    assert!(effects.iter().all(|e| e.at != B.into() && e.at != B1.into()), "{effects:?}");
    assert!(house.model.agent_of(A).unwrap().is_dead() && house.model.agent_of(B).unwrap().is_up());
    assert_eq!(house.session(B1).questions().len(), 1);
    assert!(house.session(B1).turn.is_some());
    // A new start opens both again; the other agent does not notice.
    house.wants(A, Intent::Restart);
    house.spawn(A);
    for (key, id) in [(A1, "three"), (A2, "four")] {
        assert!(matches!(house.session(key).state, SessionState::Opening { .. }));
        house.open(key, id);
        assert_eq!(house.session(key).state, SessionState::Ready);
    }
    assert_eq!(house.session(B1).state, SessionState::Ready);
}

#[test]
fn what_comes_before_the_answer_to_new_waits_for_the_session_that_it_names() {
    let mut house = house();
    house.wants(A, Intent::OpenSession { cwd: "/p".into(), how: Opening::New });
    house.wants(A, Intent::OpenSession { cwd: "/p".into(), how: Opening::New });
    let (third, fourth) = (SessionKey(3), SessionKey(4));
    house.say(A, "four", "early");
    house.say(A, "nobody", "lost");
    for (id, req) in [("three", 1), ("nobody", 2)] {
        let waits = Effect::StartTimer { timer: Timer::EarlyRequest(ReqId(req)), after: Duration::from_secs(3) };
        assert_eq!(house.ask(A, id, req), [Addressed::new(A, waits)]);
    }
    // The other agent opens nothing: it gets its answer at once.
    let refused = house.ask(B, "three", 3);
    assert!(matches!(&refused[..], [Addressed { what: Effect::Respond { answer: Answer::Error(_), .. }, .. }]));
    house.open(third, "three");
    assert_eq!(house.session(third).questions().len(), 1);
    assert!(house.texts(fourth).is_empty());
    let effects = house.agent(fourth, AgentEvent::SessionOpened(Ok(named("four").into())));
    assert_eq!(house.texts(fourth), ["early"]);
    let is_refused =
        |e: &Addressed<Effect>| matches!(&e.what, Effect::Respond { req: ReqId(2), answer: Answer::Error(_) });
    assert!(effects.iter().any(is_refused), "{effects:?}");
    assert_eq!(house.model.agent_of(A).unwrap().odd.unknown, 1);
    // Nothing is kept while no `new` is unanswered.
    house.say(A, "later", "lost");
    assert_eq!(house.model.agent_of(A).unwrap().odd.unknown, 2);
}

#[test]
fn a_further_session_that_is_refused_leaves_the_agent_alone() {
    let mut house = house();
    house.wants(A, Intent::OpenSession { cwd: "/p".into(), how: Opening::New });
    let third = SessionKey(3);
    house.prompt(third, "kept");
    let error = CallError::new(ErrorKind::Other, "no room");
    let effects = house.agent(third, AgentEvent::SessionOpened(Err(error)));
    assert!(
        effects.contains(&Addressed::new(third, Effect::FrontEnd(FrontEnd::Returned("kept".into())))),
        "{effects:?}"
    );
    let SessionState::Closed(Closed::Refused(death)) = &house.session(third).state else { panic!() };
    assert_eq!(death.kind, DeathKind::Refused);
    let agent = house.model.agent_of(A).unwrap();
    assert_eq!(Phase::of(agent, house.session(third)), Phase::Dead(death));
    assert!(agent.is_up() && house.session(A1).state == SessionState::Ready);
    assert!(house.texts(A1).is_empty());
}

/// The agent must give each session an id of its own.
#[test]
fn r_138_an_id_that_another_session_has_is_refused() {
    let mut house = house();
    house.wants(A, Intent::OpenSession { cwd: "/p".into(), how: Opening::New });
    house.open(SessionKey(3), "two");
    assert!(matches!(house.session(SessionKey(3)).state, SessionState::Closed(Closed::Refused(_))));
    house.say(A, "two", "mine");
    assert_eq!(house.texts(A2), ["mine"]);
}

#[test]
fn a_log_in_concerns_all_sessions_of_the_agent() {
    let mut house = House { model: Model::new("a".into(), "/p".into(), Policy::Ask), done: Vec::new() };
    house.wants(A, Intent::Start);
    house.host(A, HostEvent::AgentSpawned { pid: 1 });
    let method = AuthMethod { id: "web".into(), name: "Web".into(), description: None, kind: AuthKind::Agent };
    let init = InitResult { auth_methods: vec![method], ..InitResult::default() };
    house.agent(A, AgentEvent::Initialized(Ok(init)));
    house.wants(A, Intent::OpenSession { cwd: "/p".into(), how: Opening::New });
    let needed = || AgentEvent::SessionOpened(Err(CallError::new(ErrorKind::AuthRequired, "log in")));
    house.agent(A1, needed());
    assert!(house.model.agent_of(A).unwrap().log_in.is_some());
    house.agent(SessionKey(1), needed());
    house.wants(A, Intent::Authenticate { method: "web".into() });
    let call = house.done.iter().rev().find_map(|e| match &e.what {
        Effect::Call(call @ Call::Authenticate { .. }) => Some((e.at, call.clone())),
        _ => None,
    });
    assert!(matches!(call, Some((Address::Agent(A), _))));
    let opened = house.done.len();
    house.agent(A, logged_in());
    let calls: Vec<Address> = house.done[opened..].iter().map(|e| e.at).collect();
    assert_eq!(calls, [Address::Session(A1), Address::Session(SessionKey(1))], "both are opened");
}

fn logged_in() -> AgentEvent {
    AgentEvent::Authenticated { attempt: 1, result: Ok(None) }
}

#[test]
fn a_session_that_the_person_closes_answers_everything_and_is_not_served_any_more() {
    let mut house = house();
    house.prompt(A2, "y");
    house.ask(A, "two", 1);
    let spec = |line: &str| TerminalSpec {
        command: line.into(),
        args: vec![],
        env: vec![],
        cwd: None,
        limit: None,
        patience: None,
    };
    house.request(A, "two", 2, AgentRequest::TerminalCreate(spec("runs")));
    house.host(A2, HostEvent::TerminalStarted { req: ReqId(2), term: TermId::from("term-1") });
    house.request(
        A,
        "two",
        3,
        AgentRequest::TerminalWait { term: TermId::from("term-1"), patience: None, with_output: false },
    );
    house.request(A, "two", 4, AgentRequest::TerminalCreate(spec("starts")));
    house.request(A, "two", 5, AgentRequest::ReadFile { path: "/p/x".into(), line: None, limit: None, counts: false });
    house.prompt(A2, "waits");
    let effects = house.wants(A2, Intent::CloseSession);
    let answered = |effects: &[Addressed<Effect>]| -> Vec<u64> {
        let of = |e: &Addressed<Effect>| if let Effect::Respond { req, .. } = &e.what { Some(req.0) } else { None };
        effects.iter().filter_map(of).collect()
    };
    assert!(effects.contains(&Addressed::new(A2, Effect::CancelTurn(SessionId::from("two")))));
    assert!(effects.contains(&Addressed::new(A2, Effect::TerminalKill(TermId::from("term-1")))));
    assert!(effects.contains(&Addressed::new(A2, Effect::FrontEnd(FrontEnd::Returned("waits".into())))));
    assert_eq!(answered(&effects), [1, 4, 3]);
    let session = house.session(A2);
    assert!(session.turn.is_none() && session.entries().is_empty() && session.questions().is_empty());
    // What was on its way comes back, and nothing is answered twice.
    let effects = house.host(A2, HostEvent::FileRead { req: ReqId(5), path: "/p/x".into(), result: Ok("x".into()) });
    assert_eq!(answered(&effects), [5]);
    let effects = house.host(A2, HostEvent::TerminalStarted { req: ReqId(4), term: TermId::from("term-2") });
    assert_eq!(effects, [Addressed::new(A2, Effect::TerminalKill(TermId::from("term-2")))]);
    let effects = house.ask(A, "two", 6);
    assert!(matches!(&effects[..], [Addressed { what: Effect::Respond { answer: Answer::Error(_), .. }, .. }]));
    house.say(A, "two", "late");
    assert!(house.texts(A2).is_empty());
    let result = Ok(PromptAnswer::Ended(PromptResult { stop: Stop::Cancelled, usage: None }));
    let answer = AgentEvent::PromptAnswered { turn: TurnId(1), result };
    house.agent(A2, answer.clone());
    assert_eq!(house.model.agent_of(A).unwrap().odd.late, 0, "it was waited for");
    house.agent(A2, answer);
    assert_eq!(house.model.agent_of(A).unwrap().odd.late, 1);
    // The neighbour and the agent live on, and a new start leaves it closed.
    assert_eq!(house.session(A1).state, SessionState::Ready);
    house.wants(A, Intent::Restart);
    assert_eq!(house.session(A2).state, SessionState::Closed(Closed::ByPerson));
    assert!(house.session(A2).terminals().all(|t| t.origin == TerminalOrigin::Ours && t.released));
    assert!(house.wants(A2, Intent::CloseSession).is_empty());
}

#[test]
fn a_session_that_is_closed_before_it_is_open_stays_closed() {
    let mut house = house();
    house.wants(A, Intent::OpenSession { cwd: "/p".into(), how: Opening::New });
    house.wants(SessionKey(3), Intent::CloseSession);
    house.open(SessionKey(3), "three");
    assert_eq!(house.session(SessionKey(3)).state, SessionState::Closed(Closed::ByPerson));
    house.prompt(SessionKey(3), "never");
    assert!(house.session(SessionKey(3)).turn.is_none());
}

#[test]
fn messages_for_whom_nobody_is_do_nothing() {
    let mut house = house();
    let before = house.done.len();
    house.prompt(SessionKey(9), "x");
    house.wants(AgentKey(9), Intent::Restart);
    house.wants(AgentKey(9), Intent::OpenSession { cwd: "/".into(), how: Opening::New });
    house.wants(Address::Agent(A), Intent::Prompt { text: "x".into(), links: Vec::new() });
    house.host(A1, HostEvent::AgentExited { exit: Exit::default(), stderr: Vec::new() });
    assert_eq!(house.done.len(), before);
    assert!(house.model.agent_of(A).unwrap().is_up());
}

/// Over one connection, from lines to lines.
#[test]
fn two_sessions_over_one_connection() {
    let mut rig = Rig::prompted("hi");
    rig.sent();
    rig.intent(Intent::OpenSession { cwd: "/other".into(), how: Opening::New });
    let new = rig.sent().remove(0);
    assert_eq!((&new["method"], &new["params"]["cwd"]), (&json!("session/new"), &json!("/other")));
    rig.update_in("s2", crate::support::chunk("agent_message_chunk", "early"));
    rig.agent(json!({ "jsonrpc": "2.0", "id": new["id"], "result": { "sessionId": "s2" } }));
    let second = rig.model().session_of(SessionKey(1)).unwrap();
    assert!(second.state == SessionState::Ready && second.entries().len() == 1);
    rig.intent_at(SessionKey(1), Intent::Prompt { text: "second".into(), links: Vec::new() });
    let sent = rig.sent().remove(0);
    assert_eq!((&sent["method"], &sent["params"]["sessionId"]), (&json!("session/prompt"), &json!("s2")));
    rig.agent(json!({ "jsonrpc": "2.0", "id": sent["id"], "result": { "stopReason": "end_turn" } }));
    assert!(rig.model().session_of(SessionKey(1)).unwrap().turn.is_none());
    assert!(rig.model().first().session().turn.is_some());
    assert_eq!(rig.model().first().session().id.as_ref().unwrap().as_str(), SESSION);
}

#[test]
fn what_the_agent_does_in_a_session_that_was_closed_is_of_its_turn_until_it_answers() {
    let ends = |effects: &[Addressed<Effect>]| {
        effects.iter().any(|e| matches!(e.what, Effect::Review(ReviewCommand::EndTurn(_))) && e.at == A2.into())
    };
    let answered = |house: &mut House| {
        let turn = house.session(A2).last_turn();
        let result = Ok(PromptAnswer::Ended(PromptResult { stop: Stop::Cancelled, usage: None }));
        house.agent(A2, AgentEvent::PromptAnswered { turn, result })
    };
    let exit = Exit { code: Some(1), signal: None };
    let gone = |house: &mut House| house.host(A, HostEvent::AgentExited { exit: exit.clone(), stderr: Vec::new() });
    for end in [&answered as &dyn Fn(&mut House) -> Vec<Addressed<Effect>>, &gone] {
        let mut house = house();
        house.model = std::mem::take(&mut house.model).with_review(true);
        house.prompt(A2, "y");
        let turn = house.session(A2).turn.as_ref().unwrap().id;
        house.host(A2, HostEvent::Review(ReviewEvent::TurnCovered { turn, covered: Ok(()) }));
        assert!(!ends(&house.wants(A2, Intent::CloseSession)), "it works on, as far as anybody knows");
        assert_eq!(house.session(A2).unended_turn(), Some(turn), "who quits now ends it too");
        assert!(ends(&end(&mut house)));
        assert_eq!(house.session(A2).unended_turn(), None);
        assert!(!ends(&answered(&mut house)), "once");
    }
}
