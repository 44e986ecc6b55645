//! Of several conversations in one journal each can be taken out, and the others are what they were.

use super::*;
use crate::agent::codec;
use crate::engine::core::{Core, Out};
use crate::engine::replay::{Replay, replay};
use crate::model::effect::Effect;
use crate::model::entry::{Body, Entry};
use crate::model::event::{Before, Event, HostEvent, WriteFact};
use crate::model::ids::{Addressed, ReqId};
use crate::model::past::Past;
use crate::model::setup::Setup;
use crate::model::tool::Exit;
use crate::store::sessions;
use crate::wire::frame::Frame as Wire;
use crate::wire::trace::{Dir, Form, append_record};
use std::time::Duration;

const A: AgentKey = AgentKey(0);
const B: AgentKey = AgentKey(1);

/// Agents and sessions, with all that the engine would put into the journal.
struct Play {
    core: Core,
    now: Duration,
    journal: Vec<String>,
    /// Calls that have not been answered.
    calls: Vec<(AgentKey, Value)>,
    wishes: Vec<Addressed<Effect>>,
}

fn model() -> Model {
    Model::new("one".to_owned(), "/work".to_owned(), Policy::Ask)
}

fn at(session: u32) -> Address {
    SessionKey(session).into()
}

impl Play {
    fn new() -> Self {
        let mut core = Core::new(model(), "/work".into(), codec::shipped());
        core.set_up(Setup::Journal);
        let head = json!({ "v": 2, "ends": true, "started": 1_700_000_000, "command": "one", "cwd": "/work" });
        let mut play = Self {
            core,
            now: Duration::from_secs(1),
            journal: vec![head.to_string()],
            calls: Vec::new(),
            wishes: Vec::new(),
        };
        play.wants(A.into(), Intent::Start);
        play.fact(A.into(), HostEvent::AgentSpawned { pid: 7 });
        play.begins(A);
        play.answers(A, "session/new", json!({ "sessionId": "a" }));
        play
    }

    /// The agent says what it can do.
    fn begins(&mut self, agent: AgentKey) {
        let caps = json!({ "loadSession": true, "sessionCapabilities": { "close": {}, "list": {} } });
        let result =
            json!({ "protocolVersion": 1, "agentInfo": { "name": "n", "version": "1" }, "agentCapabilities": caps });
        self.answers(agent, "initialize", result);
    }

    fn note(&mut self, at: Address, dir: &str, member: &str, body: &impl serde::Serialize) {
        let t = self.now.as_secs_f64();
        let mut line = json!({ "t": t, "dir": dir, "at": at });
        line[member] = json!(body);
        self.journal.push(line.to_string());
    }

    fn event(&mut self, at: Address, what: Event) {
        let out = self.core.event(Addressed::new(at, what), self.now);
        self.takes(out);
    }

    fn wants(&mut self, at: Address, intent: Intent) {
        self.note(at, "person", "intent", &intent);
        self.event(at, Event::User(intent));
    }

    fn fact(&mut self, at: Address, fact: HostEvent) {
        self.note(at, "host", "fact", &fact);
        self.event(at, Event::Host(fact));
    }

    fn takes(&mut self, out: Vec<Out>) {
        self.now += Duration::from_millis(1);
        for out in out {
            match out {
                Out::Line(line) => {
                    let at = format!(r#""at":{{"agent":{}}},"#, line.agent.0);
                    let mut record = String::new();
                    append_record(&mut record, self.now, Dir::ToAgent, &at, &line.text, Form::Json);
                    self.journal.push(record);
                    let message: Value = serde_json::from_str(&line.text).unwrap();
                    if message.get("method").is_some() && message.get("id").is_some() {
                        self.calls.push((line.agent, message));
                    }
                }
                Out::Do(wish) => self.wishes.push(wish),
            }
        }
    }

    fn says(&mut self, agent: AgentKey, message: &Value) {
        let at = format!(r#""at":{{"agent":{}}},"#, agent.0);
        let (frame, line) = Wire::read(Cow::Owned(message.to_string().into_bytes()), &[]);
        let mut record = String::new();
        append_record(&mut record, self.now, Dir::FromAgent, &at, &line, Form::of(&frame));
        self.journal.push(record);
        let out = self.core.frame(agent, frame, &line, self.now);
        self.takes(out);
    }

    /// Answers the oldest call of this method.
    fn answers(&mut self, agent: AgentKey, method: &str, result: Value) {
        let of = |(to, call): &(AgentKey, Value)| *to == agent && call["method"] == method;
        let call = self.calls.iter().position(of).unwrap_or_else(|| panic!("{method} is not open: {:?}", self.calls));
        let (_, call) = self.calls.remove(call);
        self.says(agent, &json!({ "jsonrpc": "2.0", "id": call["id"], "result": result }));
    }

    /// It has no session of that name.
    fn refuses(&mut self, agent: AgentKey, method: &str) {
        let of = |(to, call): &(AgentKey, Value)| *to == agent && call["method"] == method;
        let call = self.calls.iter().position(of).unwrap_or_else(|| panic!("{method} is not open: {:?}", self.calls));
        let (_, call) = self.calls.remove(call);
        let error = json!({ "code": -32002, "message": "no such session" });
        self.says(agent, &json!({ "jsonrpc": "2.0", "id": call["id"], "error": error }));
    }

    fn update(&mut self, agent: AgentKey, id: &str, text: &str) {
        let update = json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } });
        let params = json!({ "sessionId": id, "update": update });
        self.says(agent, &json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }));
    }

    fn prompt(&mut self, session: u32, text: &str) {
        self.wants(at(session), Intent::Prompt { text: text.to_owned(), links: Vec::new() });
    }

    /// A turn in which the agent asks for a permission and writes a file.
    fn turn(&mut self, agent: AgentKey, session: u32, id: &str, text: &str) {
        self.prompt(session, &format!("{text} asked in {id}"));
        self.update(agent, id, &format!("{text} said in {id}, "));
        let tool = json!({ "toolCallId": format!("{id}-{text}"), "title": format!("{text} done in {id}") });
        let options = json!([{ "optionId": "yes", "name": "Allow", "kind": "allow_once" }]);
        let params = json!({ "sessionId": id, "toolCall": tool, "options": options });
        let wire = format!("{id}-{text}");
        let method = "session/request_permission";
        self.says(agent, &json!({ "jsonrpc": "2.0", "id": wire, "method": method, "params": params }));
        let req = self.core.model().session_of(SessionKey(session)).unwrap().questions()[0].req;
        self.wants(at(session), Intent::Answer { req, option: "yes".to_owned() });
        let params = json!({ "sessionId": id, "path": "/work/f", "content": format!("{text} written in {id}") });
        let method = "fs/write_text_file";
        self.says(agent, &json!({ "jsonrpc": "2.0", "id": format!("w{wire}"), "method": method, "params": params }));
        let wrote =
            |wish: &Addressed<Effect>| if let Effect::FsWrite { req, .. } = wish.what { Some(req) } else { None };
        let req: Option<ReqId> = self.wishes.drain(..).rev().find_map(|wish| wrote(&wish));
        if let Some(req) = req {
            let result = Ok(WriteFact { created: true, bytes: 9, old: None, outside: None });
            self.fact(at(session), HostEvent::FileWritten { req, path: "/work/f".to_owned(), result });
        }
        self.update(agent, id, "and more");
        self.answers(agent, "session/prompt", json!({ "stopReason": "end_turn" }));
    }

    fn opens(&mut self, agent: AgentKey, id: &str, how: Opening) {
        self.wants(agent.into(), Intent::OpenSession { cwd: "/work".to_owned(), how });
        self.answers(agent, "session/new", json!({ "sessionId": id }));
    }

    /// Three sessions of one agent, one of another, of which one continues another and one is closed; the first agent is
    /// started again in the middle.
    fn whole() -> Self {
        let mut play = Self::new();
        play.turn(A, 0, "a", "first");
        play.opens(A, "b", Opening::New);
        play.prompt(0, "long asked in a");
        play.turn_beside();
        let how =
            Opening::After(Before { session: SessionKey(0), id: Some("a".into()), agent: "n".to_owned(), to: None });
        let add = Intent::AddAgent {
            command: "two".to_owned(),
            env: Vec::new(),
            cwd: "/work".to_owned(),
            how,
            protocol: None,
        };
        play.wants(Address::All, add);
        play.fact(B.into(), HostEvent::AgentSpawned { pid: 8 });
        play.begins(B);
        play.answers(B, "session/new", json!({ "sessionId": "a" }));
        play.turn(B, 2, "a", "other");
        play.wants(at(1), Intent::CloseSession);
        play.answers(A, "session/close", json!({}));
        play.opens(A, "c", Opening::New);
        play.turn(A, 3, "c", "third");
        play.wants(A.into(), Intent::ListSessions { cwd: None });
        let listed = |id: &str| json!({ "sessionId": id, "cwd": "/work", "title": format!("title of {id}") });
        play.answers(A, "session/list", json!({ "sessions": [listed("a"), listed("b"), listed("c")] }));
        play.wants(at(3), Intent::Restart);
        play.fact(A.into(), HostEvent::AgentSpawned { pid: 9 });
        play.calls.retain(|(_, call)| call["method"] == "initialize");
        play.begins(A);
        play.answers(A, "session/load", json!({}));
        play.answers(A, "session/load", json!({}));
        play.turn(A, 3, "c", "again");
        play.turn(A, 0, "a", "again");
        play.turn(B, 2, "a", "last");
        play
    }

    /// What both say is mixed.
    fn turn_beside(&mut self) {
        self.prompt(1, "mixed asked in b");
        for n in 0..3 {
            self.update(A, "a", &format!("piece {n} said in a, "));
            self.update(A, "b", &format!("piece {n} said in b, "));
        }
        self.answers(A, "session/prompt", json!({ "stopReason": "end_turn" }));
        self.answers(A, "session/prompt", json!({ "stopReason": "end_turn" }));
    }
}

fn replayed(text: &str) -> Model {
    let (model, skipped) = replay(model(), "/work".into(), text.lines());
    assert_eq!(skipped, 0, "{text}");
    model
}

fn named(model: &Model, agent: AgentKey, id: &str) -> Option<Session> {
    let is_it =
        |session: &Session| session.agent == agent && session.known_id().is_some_and(|known| known.as_str() == id);
    model.sessions().find(|(_, session)| is_it(session)).map(|(_, session)| session.clone())
}

/// A directory of state with this journal in it.
fn kept(text: &str) -> (tempfile::TempDir, PathBuf) {
    let state = tempfile::tempdir().unwrap();
    let dir = sessions::journals(state.path());
    std::fs::create_dir(&dir).unwrap();
    let path = dir.join("1700000000-000-1.jsonl");
    std::fs::write(&path, text).unwrap();
    (state, path)
}

/// What stands in a conversation, but for what is said of where it goes on.
fn told(session: &Session, words: impl Fn(&Entry) -> String) -> Vec<String> {
    session.entries().iter().map(words).filter(|body| !body.contains("handed over to a new session")).collect()
}

const ALL: [(AgentKey, &str, &str); 4] = [(A, "one", "a"), (A, "one", "b"), (B, "two", "a"), (A, "one", "c")];

/// Every text that was said in one of them.
fn said(text: &str, id: &str) -> usize {
    text.lines().filter(|line| line.contains(&format!(" in {id}")) || line.contains(&format!("title of {id}"))).count()
}

#[test]
fn each_conversation_can_be_taken_out_and_the_others_are_what_they_were() {
    let play = Play::whole();
    let whole = play.journal.join("\n") + "\n";
    let before = replayed(&whole);
    for (agent, command, id) in ALL {
        let (state, path) = kept(&whole);
        take_out(state.path(), &path, Whose { id, command: Some(command) }).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let after = replayed(&text);
        assert!(named(&after, agent, id).is_none(), "{command} {id}");
        for (other_agent, other, other_id) in ALL.into_iter().filter(|one| *one != (agent, command, id)) {
            let (now, then) = (named(&after, other_agent, other_id), named(&before, other_agent, other_id));
            let (now, then) = (now.expect(other_id), then.unwrap());
            let bodies = |session: &Session| told(session, |e| format!("{:?} {:?} {:?}", e.id, e.turn, e.body));
            // That another one continues it is not known any more.
            if (id, agent) == ("a", B) {
                assert_eq!(now.entries().len() + usize::from(other_id == "a"), then.entries().len());
            } else {
                assert_eq!(bodies(&now), bodies(&then), "{other} {other_id} without {command} {id}:\n{text}");
            }
            assert_eq!((now.last_turn(), &now.state), (then.last_turn(), &then.state), "{other_id} without {id}");
        }
        let left = said(&text, id);
        // The other agent has one of this name, too.
        assert_eq!(left > 0, id == "a", "{text}");
    }
}

#[test]
fn one_after_the_other_can_be_taken_out_and_what_is_open_is_left_alone() {
    let whole = Play::whole().journal.join("\n") + "\n";
    let (state, path) = kept(&whole);
    let ids = || {
        let mut all = sessions::list(state.path()).unwrap().sessions;
        all.sort_by_key(|known| known.created);
        all.iter().map(|known| (known.command.clone(), known.session_id.clone(), known.turns)).collect::<Vec<_>>()
    };
    let row = |command: &str, id: &str, turns: u64| (command.to_owned(), id.to_owned(), turns);
    assert_eq!(ids(), [row("one", "a", 3), row("one", "b", 1), row("two", "a", 2), row("one", "c", 2)]);
    let lock = Lock::take(lines::open(&path).unwrap()).unwrap();
    assert!(take_out(state.path(), &path, Whose { id: "b", command: Some("one") }).is_err());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
    drop(lock);
    take_out(state.path(), &path, Whose { id: "b", command: Some("one") }).unwrap();
    assert_eq!(ids(), [row("one", "a", 3), row("two", "a", 2), row("one", "c", 2)]);
    take_out(state.path(), &path, Whose { id: "a", command: Some("one") }).unwrap();
    assert_eq!(ids(), [row("two", "a", 2), row("one", "c", 2)]);
    let text = std::fs::read_to_string(&path).unwrap();
    let (after, before) = (replayed(&text), replayed(&whole));
    for (agent, id) in [(B, "a"), (A, "c")] {
        let (now, then) = (named(&after, agent, id).unwrap(), named(&before, agent, id).unwrap());
        let turns =
            |session: &Session| session.entries().iter().map(|e| (e.turn, format!("{:?}", e.body))).collect::<Vec<_>>();
        assert_eq!(turns(&now), turns(&then), "{text}");
    }
    take_out(state.path(), &path, Whose { id: "c", command: Some("one") }).unwrap();
    assert_eq!(ids(), [row("two", "a", 2)]);
    let dir = sessions::journals(state.path());
    assert_eq!(dir.read_dir().unwrap().count(), 2, "the journal, and the index");
}

/// Its agent had forgotten it, and another one was opened in its place.
#[test]
fn one_that_took_the_place_of_another_stays_when_that_goes_and_the_other_way_round() {
    for dies in [false, true] {
        let mut play = Play::new();
        play.turn(A, 0, "a", "first");
        let info = json!({ "sessionUpdate": "session_info_update", "title": "title of a" });
        let params = json!({ "sessionId": "a", "update": info });
        play.says(A, &json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }));
        let called =
            |play: &Play| play.core.model().session_of(SessionKey(0)).and_then(Session::called).map(str::to_owned);
        assert_eq!(called(&play).as_deref(), Some("title of a"));
        let restart = |play: &mut Play| {
            play.wants(at(0), Intent::Restart);
            play.fact(A.into(), HostEvent::AgentSpawned { pid: 9 });
            play.calls.retain(|(_, call)| call["method"] == "initialize");
            play.begins(A);
        };
        restart(&mut play);
        play.refuses(A, "session/load");
        if dies {
            let exit = Exit { code: Some(1), signal: None };
            play.fact(A.into(), HostEvent::AgentExited { exit, stderr: Vec::new() });
            restart(&mut play);
        } else {
            play.wants(at(0), Intent::Restart);
        }
        play.answers(A, "session/new", json!({ "sessionId": "b" }));
        assert_eq!(called(&play), None, "it is another conversation");
        play.turn(A, 0, "b", "second");
        let whole = play.journal.join("\n") + "\n";
        for (id, other) in [("a", "b"), ("b", "a")] {
            let (state, path) = kept(&whole);
            take_out(state.path(), &path, Whose { id, command: Some("one") }).unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            assert_eq!((said(&text, id), said(&text, other)), (0, said(&whole, other)), "{text}");
            let left: Vec<_> = sessions::list(state.path()).unwrap().sessions;
            assert_eq!(left.iter().map(|one| (&*one.session_id, one.turns)).collect::<Vec<_>>(), [(other, 1)]);
            let texts = |text: &str| -> Vec<String> {
                let mut replay = Replay::new(model(), "/work".into()).of(other.into(), Past::default());
                text.lines().for_each(|line| replay.line(line));
                let is_said = |body: &Body| matches!(body, Body::User(_) | Body::Agent(_) | Body::Tool(_));
                let past = replay.past().entries;
                past.iter().filter(|e| is_said(&e.body)).map(|e| format!("{:?} {:?}", e.turn, e.body)).collect()
            };
            assert_eq!(texts(&text), texts(&whole), "{text}");
        }
    }
}

#[test]
fn a_replay_for_one_conversation_keeps_nothing_that_is_told_of_another() {
    let play = Play::whole();
    let text_of = |body: &Body| if let Body::Agent(message) = body { Some(message.text.clone()) } else { None };
    for (id, all) in [
        ("b", "piece 0 said in b, piece 1 said in b, piece 2 said in b, "),
        ("c", "third said in c, and moreagain said in c, and more"),
    ] {
        let mut replay = Replay::new(model(), "/work".into()).of(id.into(), Past::default());
        play.journal.iter().for_each(|line| replay.line(line));
        for (_, session) in replay.core().model().sessions().filter(|(_, s)| s.agent == A && !s.is_closed()) {
            let is_told = session.entries().iter().any(|entry| text_of(&entry.body).is_some());
            assert_eq!(is_told, session.known_id().is_some_and(|known| known.as_str() == id), "{id}: {session:?}");
        }
        let said: String = replay.past().entries.iter().filter_map(|entry| text_of(&entry.body)).collect();
        assert_eq!(said, all);
    }
}

/// What goes out of a journal for others has one conversation, as it was, and no word of another.
#[test]
fn each_conversation_can_be_had_alone_as_it_was() {
    let mut play = Play::whole();
    for id in ["a", "b", "c"] {
        let noise = json!({ "t": 1.0, "dir": "stderr", "at": { "agent": 0 }, "raw": format!("noise in {id}") });
        play.journal.push(noise.to_string());
    }
    let whole = play.journal.join("\n") + "\n";
    let before = replayed(&whole);
    for (agent, command, id) in ALL {
        let (state, path) = kept(&whole);
        let mut text = String::new();
        let put = |line: &str| {
            text.push_str(line);
            text.push('\n');
            Ok(())
        };
        only(state.path(), &path, Whose { id, command: Some(command) }, put).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), whole, "it stays as it is");
        let after = replayed(&text);
        let (now, then) = (named(&after, agent, id).expect(id), named(&before, agent, id).unwrap());
        let turns = |session: &Session| told(session, |e| format!("{:?} {:?}", e.turn, e.body));
        assert_eq!(turns(&now), turns(&then), "{command} {id}:\n{text}");
        for (other_agent, other, other_id) in ALL.into_iter().filter(|one| *one != (agent, command, id)) {
            assert!(other_id == id || said(&text, other_id) == 0, "{other} {other_id} in {id}:\n{text}");
            assert!(named(&after, other_agent, other_id).is_none(), "{other} {other_id} in {id}");
        }
        std::fs::write(&path, &text).unwrap();
        let left = sessions::list(state.path()).unwrap().sessions;
        let turns = before_turns(id, command);
        assert_eq!(left.iter().map(|one| (&*one.session_id, one.turns)).collect::<Vec<_>>(), [(id, turns)], "{text}");
    }
}

fn before_turns(id: &str, command: &str) -> u64 {
    match (id, command) {
        ("a", "one") => 3,
        ("b", _) => 1,
        _ => 2,
    }
}
