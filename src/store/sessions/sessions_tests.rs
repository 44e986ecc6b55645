//! Journals of every sort become one list, and what is damaged costs only itself.

use super::gathering::began;
use super::*;
use crate::base::origins::Origin;
use crate::model::account;
use crate::model::draft::{Draft, Place};
use crate::model::event::{Cans, Listed};
use crate::model::login::quote;
use crate::model::past::Past;
use crate::model::patch::Patch;
use crate::store::drafts::{self, Drafts};
use crate::store::journal::Journal;
use crate::store::replace::{Durability, Replacement};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;

const STARTED: u64 = 1_790_000_000;

/// A journal as text: what is sent and heard, a second apart.
struct Text {
    lines: Vec<String>,
    ids: u64,
}

impl Text {
    fn new(v: u32) -> Self {
        Self::with(json!({ "v": v, "started": STARTED, "cwd": "/work", "command": "agent '--a b'", "codec": "acp-1" }))
    }

    /// One whose end is written.
    fn ending() -> Self {
        Self::with(json!({
            "v": 2, "ends": true, "started": STARTED, "cwd": "/work", "command": "agent", "branch": "main"
        }))
    }

    fn with(head: Value) -> Self {
        Self { lines: vec![head.to_string()], ids: 0 }
    }

    fn line(mut self, mut line: Value) -> Self {
        line["t"] = json!(self.lines.len());
        self.lines.push(line.to_string());
        self
    }

    fn call(mut self, method: &str, params: Value, answer: Value) -> Self {
        let id = self.ids;
        self = self.ask(method, params);
        let mut frame = json!({ "jsonrpc": "2.0", "id": id });
        frame.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
        self.line(json!({ "dir": "agent->client", "frame": frame }))
    }

    fn ask(mut self, method: &str, params: Value) -> Self {
        let id = self.ids;
        self.ids += 1;
        self.line(json!({ "dir": "client->agent", "frame": { "id": id, "method": method, "params": params } }))
    }

    fn update(self, session: &str, update: Value) -> Self {
        let params = json!({ "sessionId": session, "update": update });
        self.line(json!({ "dir": "agent->client", "frame": { "method": "session/update", "params": params } }))
    }

    fn hello(self) -> Self {
        let result = json!({ "protocolVersion": 1, "agentInfo": { "name": "a", "title": "Agent A" },
            "agentCapabilities": { "loadSession": true, "sessionCapabilities": { "fork": {}, "close": {} } } });
        self.call("initialize", json!({}), json!({ "result": result }))
    }

    fn open(self, id: &str) -> Self {
        self.call("session/new", json!({ "cwd": "/work" }), json!({ "result": { "sessionId": id } }))
    }

    fn turn(self, id: &str, text: &str) -> Self {
        self.call("session/prompt", prompt(id, text), json!({ "result": { "stopReason": "end_turn" } }))
    }

    fn end(self) -> Self {
        self.line(json!({ "dir": "host", "end": true }))
    }

    fn text(&self) -> String {
        self.lines.join("\n") + "\n"
    }
}

fn prompt(id: &str, text: &str) -> Value {
    json!({ "sessionId": id, "prompt": [{ "type": "text", "text": text }, { "type": "resource_link", "uri": "x" }] })
}

fn conversation(id: &str) -> Text {
    Text::ending().hello().open(id).turn(id, "hello").end()
}

struct Home {
    temp: tempfile::TempDir,
}

fn state() -> Home {
    let temp = tempfile::tempdir().unwrap();
    fs::create_dir(journals(temp.path())).unwrap();
    Home { temp }
}

impl Home {
    fn path(&self) -> &Path {
        self.temp.path()
    }

    fn file(&self, name: &str) -> PathBuf {
        journals(self.path()).join(name)
    }

    fn put(&self, name: &str, text: &Text) -> PathBuf {
        let path = self.file(&format!("{name}.jsonl"));
        fs::write(&path, text.text()).unwrap();
        path
    }

    fn list(&self) -> Listing {
        list(self.path()).unwrap()
    }

    fn ids(&self) -> Vec<String> {
        let mut ids: Vec<_> = self.list().sessions.into_iter().map(|known| known.session_id).collect();
        ids.sort();
        ids
    }
}

#[test]
fn a_draft_that_came_back_with_its_account_makes_one_thread_of_both_sessions() {
    let person = |key: u32, id: &str| {
        let follows = json!({ "Follows": { "session": key, "id": id, "agent": "Agent A" } });
        json!({ "dir": "person", "at": { "session": key }, "intent": follows })
    };
    let early = Text::ending().line(person(0, "old")).hello().open("new").turn("new", "go on").end();
    let late = Text::ending().hello().open("new").line(person(0, "old")).turn("new", "go on").end();
    let new = json!({ "cwd": "/work" });
    let between = Text::ending().hello().ask("session/new", new).line(person(0, "old"));
    let between =
        between.line(json!({ "dir": "agent->client", "frame": { "id": 1, "result": { "sessionId": "new" } } }));
    for text in [early, late, between.turn("new", "go on").end()] {
        let state = state();
        state.put("1", &conversation("old"));
        state.put("2", &text);
        let all = state.list().sessions;
        let new = all.iter().find(|one| one.session_id == "new").unwrap();
        assert_eq!(new.follows.as_deref(), Some("old"), "{new:?}");
        assert_eq!(all.iter().filter(|one| one.thread.is_some()).count(), 2, "{all:?}");
    }
}

/// What is opened, asked and kept by the person.
fn by_person(at: Value, intent: Value) -> Value {
    json!({ "dir": "person", "at": at, "intent": intent })
}

fn opens(how: Value) -> Value {
    by_person(json!({ "agent": 0 }), json!({ "OpenSession": { "cwd": "/work", "how": how } }))
}

#[test]
fn what_is_asked_aside_is_listed_once_it_is_kept_whenever_that_was() {
    let first = || Text::ending().hello().open("s").turn("s", "hello");
    let aside = || first().line(opens(json!({ "Aside": { "beside": 0, "from": "s" } })));
    let of = |text: Text, intent: Value| text.line(by_person(json!({ "session": 1 }), intent));
    let keep = |text: Text| of(text, json!("KeepAside"));
    let fork = json!({ "cwd": "/work", "sessionId": "s" });
    let asked = |text: Text| text.ask("session/fork", fork.clone());
    let answer = |text: Text, result: Value| {
        text.line(json!({ "dir": "agent->client", "frame": { "id": 3, "result": result } }))
    };
    let open = |text: Text| answer(text, json!({ "sessionId": "beside" }));
    let wants = |text: Text| of(text, json!({ "Prompt": { "text": "why?", "links": [] } }));
    let refused = |text: Text| {
        text.line(json!({ "dir": "agent->client", "frame": { "id": 3, "error": { "code": -32603, "message": "no" } } }))
    };
    let seen = |text: Text| {
        let state = state();
        state.put("1", &text.turn("beside", "why?").end());
        state.ids()
    };
    assert_eq!(seen(wants(open(asked(aside())))), ["s"]);
    assert_eq!(seen(wants(refused(asked(aside())).open("beside"))), ["s"], "in a new one: it was no copy");
    for (when, kept) in [
        ("before it was asked for", wants(open(asked(keep(aside()))))),
        ("before it was open", wants(open(keep(asked(aside()))))),
        ("before it was sent", wants(keep(open(asked(aside()))))),
        ("while it is sent", keep(wants(open(asked(aside()))))),
        ("before the copy was refused", wants(refused(keep(asked(aside()))).open("beside"))),
        ("after the copy was refused", wants(keep(refused(asked(aside()))).open("beside"))),
    ] {
        assert_eq!(seen(kept), ["beside", "s"], "{when}");
    }
    let away = of(asked(aside()), json!("CloseSession"));
    assert_eq!(seen(wants(open(away))), ["s"], "thrown away before it was open");
}

/// Agents give a copy the title of what it was made of.
#[test]
fn a_side_question_that_is_kept_is_called_by_what_was_asked() {
    let titled = |text: Text, id: &str, title: &str| {
        let info = json!({ "sessionUpdate": "session_info_update", "title": title });
        let update = json!({ "method": "session/update", "params": { "sessionId": id, "update": info } });
        text.line(json!({ "dir": "agent->client", "frame": update }))
    };
    for title in [None, Some("the roof"), Some("the roof (fork)")] {
        let first = titled(Text::ending().hello().open("s").turn("s", "hello"), "s", "the roof");
        let aside = first.line(opens(json!({ "Aside": { "beside": 0, "from": "s" } })));
        let text = aside.ask("session/fork", json!({ "cwd": "/work", "sessionId": "s" }));
        let text = text.line(json!({ "dir": "agent->client", "frame": { "id": 3, "result": { "sessionId": "q" } } }));
        let text = text.line(by_person(json!({ "session": 1 }), json!("KeepAside"))).turn("q", "why?");
        let text = if let Some(title) = title { titled(text, "q", title) } else { text };
        let state = state();
        state.put("1", &text.end());
        let names: Vec<_> = state.list().sessions.iter().map(|one| one.name().map(str::to_owned)).collect();
        assert_eq!(names, [Some("why?".to_owned()), Some("the roof".to_owned())], "{title:?}");
    }
}

#[test]
fn each_of_several_sessions_that_begin_at_once_is_what_it_was_opened_as() {
    let person = |key: u32, intent: Value| by_person(json!({ "session": key }), intent);
    let aside = || opens(json!({ "Aside": { "beside": 0, "from": null } }));
    let text = Text::ending().line(opens(json!("New"))).line(aside()).line(aside()).line(person(3, json!("KeepAside")));
    let before = json!({ "session": 0, "id": "a", "agent": "Agent A" });
    let text = text.hello().open("a").open("b").open("aside").open("kept");
    let text = text.line(person(1, json!({ "Follows": before })));
    let text = ["a", "b", "aside", "kept"].into_iter().fold(text, |text, id| text.turn(id, "hello"));
    let state = state();
    state.put("1", &text.end());
    let mut all: Vec<_> = state.list().sessions.into_iter().map(|one| (one.session_id, one.follows)).collect();
    all.sort();
    let one = |id: &str, follows: Option<&str>| (id.to_owned(), follows.map(str::to_owned));
    assert_eq!(all, [one("a", None), one("b", Some("a")), one("kept", None)]);
}

#[test]
fn a_journal_of_either_version_says_what_there_is_to_know_of_its_session() {
    for v in [1, 2] {
        let state = state();
        let text = Text::new(v)
            .hello()
            .open("s-1")
            .turn("s-1", "first")
            .update("s-1", json!({ "sessionUpdate": "session_info_update", "title": "A title" }))
            .update(
                "s-1",
                json!({ "sessionUpdate": "usage_update", "used": 10, "size": 100,
                "cost": { "amount": 0.5, "currency": "USD" } }),
            )
            .update(
                "s-1",
                json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "x" } }),
            )
            .turn("s-1", "second");
        let journal = state.put("1790000000-000-1", &text);
        let mut figures = Figures::default();
        figures.used(10, 100);
        figures.costs((STARTED / 86_400) as u32, Patch::Set((0.5, "USD".into())), false);
        let want = Known {
            session_id: "s-1".into(),
            agent: "Agent A".into(),
            command: "agent '--a b'".into(),
            cwd: "/work".into(),
            branch: None,
            title: Some("A title".into()),
            titled: Some(Duration::from_secs(STARTED + 7)),
            first_prompt: Some("first".into()),
            last_prompt: Some("second".into()),
            created: Duration::from_secs(STARTED + 4),
            opened: Duration::from_secs(STARTED + 4),
            updated: Duration::from_secs(STARTED + 11),
            turns: 2,
            asked: Some(Duration::from_secs(STARTED + 5)),
            state: State::Ended,
            can: Can { load: true, fork: true, close: true, ..Can::default() },
            figures,
            totals: None,
            own_totals: None,
            journals: vec![journal.clone()],
            bytes: journal.metadata().unwrap().len(),
            journal,
            is_older: false,
            follows: None,
            thread: None,
            is_imported: false,
            is_untouched: false,
            is_held: false,
            is_listed: false,
            is_named: false,
            copy_of: None,
            is_question: false,
            also: Vec::new(),
            used_as_told: None,
        };
        for _ in 0..2 {
            assert_eq!(
                state.list(),
                Listing { sessions: vec![want.clone()], problems: Vec::new(), asides: Vec::new() }
            );
        }
        assert_eq!(want.argv().unwrap(), ["agent", "--a b"]);
        assert_eq!(want.stem(), "1790000000-000-1");
    }
}

#[test]
fn one_journal_may_hold_sessions_of_several_agents() {
    let state = state();
    let frame = |dir: &str, frame: Value| json!({ "dir": dir, "at": { "agent": 1 }, "frame": frame });
    let totals = json!({ "added": 1, "removed": 2, "files": 3, "pending": 4 });
    let text = Text::ending()
        .hello()
        .open("same")
        .line(json!({ "dir": "person", "at": "all", "intent": { "AddAgent": { "command": "other", "cwd": "/else" } } }))
        .line(frame("client->agent", json!({ "id": 7, "method": "session/new", "params": { "cwd": "/else" } })))
        .line(frame("agent->client", json!({ "id": 7, "result": { "sessionId": "same" } })))
        .line(json!({ "dir": "person", "at": { "session": 1 }, "intent": { "Prompt": { "text": "of b", "links": [] } } }))
        .line(frame("client->agent", json!({ "id": 8, "method": "session/prompt", "params": prompt("same", "of b") })))
        .line(frame("agent->client", json!({ "id": 8, "result": {} })))
        .line(json!({ "dir": "host", "at": { "session": 1 }, "fact": { "ChangesSeen": { "session": totals, "after": false } } }))
        .turn("same", "of a")
        .end();
    state.put("a", &text);
    let sessions = state.list().sessions;
    let said: Vec<_> = sessions.iter().map(|k| (&*k.agent, &*k.command, k.first_prompt.as_deref().unwrap())).collect();
    assert_eq!(said, [("Agent A", "agent", "of a"), ("other", "other", "of b")]);
    assert_eq!(sessions.iter().map(|known| known.branch.as_deref()).collect::<Vec<_>>(), [Some("main"), None]);
    assert_eq!(sessions[1].cwd, Path::new("/else"));
    assert_eq!(sessions[1].totals.map(|totals| totals.pending), Some(4));
}

#[test]
fn a_session_in_another_directory_has_the_branch_that_this_was_on_when_it_began() {
    let state = state();
    let on =
        |cwd: &str, branch: &str| json!({ "dir": "host", "at": "all", "branch": { "cwd": cwd, "branch": branch } });
    let opened = |text: Text, cwd: &str, id: &str| {
        text.call("session/new", json!({ "cwd": cwd }), json!({ "result": { "sessionId": id } })).turn(id, "hello")
    };
    let text = Text::ending().hello().open("here").turn("here", "hello").line(on("/trees/w1", "acp-tui/w1"));
    let text = opened(opened(text, "/trees/w1", "in the tree"), "/trees/w2", "not told").line(on("/work", "other"));
    let text = opened(text, "/work", "later");
    state.put("a", &text.line(on("/trees/w1", "later")).end());
    // Again from the index.
    for _ in 0..2 {
        let all = state.list().sessions;
        let of = |id: &str| all.iter().find(|known| known.session_id == id).unwrap().branch.clone();
        let branches = ["here", "in the tree", "not told", "later"].map(of);
        assert_eq!(branches.each_ref().map(Option::as_deref), [Some("main"), Some("acp-tui/w1"), None, Some("other")]);
    }
}

#[test]
fn the_first_prompt_of_one_that_continues_another_is_what_the_person_wrote_below_the_account() {
    let state = state();
    let account = account::of_past(&Past::default(), "Other");
    state.put("a", &Text::ending().hello().open("s").turn("s", &format!("{account}\n\ngo on with it")).end());
    state.put("b", &Text::ending().hello().open("t").turn("t", &account).end());
    state.put("c", &Text::ending().hello().open("u").turn("u", &account).turn("u", "and the door").end());
    let all = state.list().sessions;
    let of = |id: &str| {
        let known = all.iter().find(|known| known.session_id == id).unwrap();
        (known.title.as_deref(), known.first_prompt.as_deref(), known.last_prompt.as_deref(), known.turns)
    };
    assert_eq!(of("s"), (None, Some("go on with it"), Some("go on with it"), 1));
    assert_eq!(of("t"), (Some("goes on from Other"), None, None, 1), "nothing else was written");
    assert_eq!(of("u"), (None, Some("and the door"), Some("and the door"), 2));
}

#[test]
fn what_a_session_has_changed_by_itself_is_known_beside_the_sums_of_all() {
    let state = state();
    let sums = |files: u64| json!({ "added": files, "removed": 0, "files": files, "pending": 0 });
    let fact = |fact: Value| json!({ "dir": "host", "at": { "session": 0 }, "fact": fact });
    let prompt =
        json!({ "dir": "person", "at": { "session": 0 }, "intent": { "Prompt": { "text": "hi", "links": [] } } });
    let text = Text::ending().hello().open("s").line(prompt).turn("s", "hi");
    let text = text.line(fact(json!({ "OwnChanges": { "totals": sums(2) } })));
    state.put("a", &text.line(fact(json!({ "ChangesSeen": { "session": sums(5), "after": false } }))).end());
    let known = &state.list().sessions[0];
    let files = |totals: Option<Totals>| totals.map(|totals| totals.files);
    assert_eq!((files(known.totals), files(known.own_totals)), (Some(5), Some(2)));
}

/// Agents make titles of the first words that are sent to them.
#[test]
fn a_title_that_is_made_of_our_own_words_says_less_than_what_was_asked() {
    let state = state();
    let account = account::of_past(&Past::default(), "Other");
    let titled = |title: &str| json!({ "sessionUpdate": "session_info_update", "title": title });
    let one = |name: &str, prompt: &str, title: &str| {
        state.put(name, &Text::ending().hello().open(name).turn(name, prompt).update(name, titled(title)).end());
    };
    let prompt = format!("{account}\n\ngo on with it");
    one("ours", &prompt, &prompt[..40]);
    one("theirs", &prompt, "Going on");
    let titles: Vec<_> = state.list().sessions.into_iter().map(|known| (known.session_id, known.title)).collect();
    let of = |id: &str| titles.iter().find(|(one, _)| one == id).unwrap().1.clone();
    assert_eq!((of("ours"), of("theirs").as_deref()), (None, Some("Going on")));
}

/// What is told before the session is known to be open is told of it all the same.
#[test]
fn a_title_that_comes_before_the_answer_is_the_sessions() {
    for (method, params) in
        [("session/new", json!({ "cwd": "/work" })), ("session/load", json!({ "cwd": "/work", "sessionId": "s" }))]
    {
        let state = state();
        let titled = |title: &str| json!({ "sessionUpdate": "session_info_update", "title": title });
        let answer = json!({ "id": 1, "result": { "sessionId": "s" } });
        let text =
            Text::ending().hello().ask(method, params).update("s", titled("Plums")).update("other", titled("Pears"));
        state.put("a", &text.line(json!({ "dir": "agent->client", "frame": answer })).turn("s", "hello").end());
        let all = state.list().sessions;
        assert_eq!((all.len(), all[0].title.as_deref()), (1, Some("Plums")), "{method}: {all:?}");
    }
}

#[test]
fn a_copy_that_has_no_title_of_its_own_is_called_by_what_it_was_made_of() {
    let state = state();
    let titled = |title: &str| json!({ "sessionUpdate": "session_info_update", "title": title });
    let copy = |of: &str, id: &str| {
        let params = json!({ "cwd": "/work", "sessionId": of });
        let text = Text::ending().hello().call("session/fork", params, json!({ "result": { "sessionId": id } }));
        text.turn(id, "and now")
    };
    state.put("a", &Text::ending().hello().open("s").turn("s", "mend the cart\nplease").end());
    state.put("b", &Text::ending().hello().open("t").turn("t", "hello").update("t", titled("Cart")).end());
    state.put("c", &copy("s", "of s").end());
    state.put("d", &copy("t", "of t").end());
    state.put("e", &copy("t", "like t").update("like t", titled("Cart")).end());
    state.put("f", &copy("t", "named").update("named", titled("Cart (fork)")).end());
    state.put("g", &copy("gone", "alone").end());
    for _ in 0..2 {
        let titles: Vec<_> = state.list().sessions.into_iter().map(|known| (known.session_id, known.title)).collect();
        let of = |id: &str| titles.iter().find(|(one, _)| one == id).unwrap().1.as_deref();
        assert_eq!(
            (of("of s"), of("of t"), of("like t")),
            (Some("copy of mend the cart"), Some("copy of Cart"), Some("copy of Cart"),)
        );
        assert_eq!((of("named"), of("alone"), of("t")), (Some("Cart (fork)"), None, Some("Cart")));
    }
}

#[test]
fn the_same_prompt_for_two_agents_is_told_apart() {
    let state = state();
    let person = |at: Value, intent: Value| json!({ "dir": "person", "at": at, "intent": intent });
    let adds = json!({ "AddAgent": { "command": "other", "env": [], "cwd": "/else", "how": "New" } });
    let prompts = json!({ "Prompt": { "text": "go", "links": [] } });
    let frame = |dir: &str, body: Value| json!({ "dir": dir, "at": { "agent": 1 }, "frame": body });
    let opened = |text: Text| {
        let new = json!({ "id": 7, "method": "session/new", "params": { "cwd": "/else" } });
        text.line(frame("client->agent", new))
            .line(frame("agent->client", json!({ "id": 7, "result": { "sessionId": "b" } })))
    };
    let text = opened(Text::ending().hello().open("a").line(person(json!("all"), adds)))
        .line(person(json!({ "session": 0 }), prompts.clone()))
        .line(person(json!({ "session": 1 }), prompts))
        // The second agent is the quicker one.
        .line(frame("client->agent", json!({ "id": 8, "method": "session/prompt", "params": prompt("b", "go") })))
        .ask("session/prompt", prompt("a", "go"))
        .line(person(json!({ "session": 1 }), json!("CloseSession")));
    state.put("a", &text);
    let sessions = state.list().sessions;
    let state_of = |id: &str| sessions.iter().find(|known| known.session_id == id).unwrap().state;
    assert_eq!((state_of("a"), state_of("b")), (State::Interrupted, State::Ended));
}

#[test]
fn how_a_session_ended_is_told_by_its_journal() {
    let started = Text::ending().hello().open("s").turn("s", "one");
    let in_turn = |text: Text| text.ask("session/prompt", prompt("s", "two"));
    let closes = json!({ "dir": "person", "at": { "session": 0 }, "intent": "CloseSession" });
    let wants =
        json!({ "dir": "person", "at": { "session": 0 }, "intent": { "Prompt": { "text": "one", "links": [] } } });
    for (what, text, want) in [
        ("ended", conversation("s"), State::Ended),
        ("killed between turns", started, State::Interrupted),
        ("an older one, which has no end", Text::new(1).hello().open("s").turn("s", "one"), State::Ended),
        ("an older one in a turn", in_turn(Text::new(1).hello().open("s")), State::Interrupted),
        (
            "its agent died in a turn, and was started again",
            in_turn(Text::ending().hello().open("s")).hello().open("s").turn("s", "three").end(),
            State::Ended,
        ),
        ("quit in a turn", in_turn(Text::ending().hello().open("s")).end(), State::Interrupted),
        (
            "closed before the others were killed",
            Text::ending().hello().open("s").line(wants).turn("s", "one").line(closes),
            State::Ended,
        ),
        (
            "closed at the agent",
            Text::ending().open("s").turn("s", "x").call(
                "session/close",
                json!({ "sessionId": "s" }),
                json!({ "result": {} }),
            ),
            State::Ended,
        ),
    ] {
        let state = state();
        state.put("a", &text);
        assert_eq!(state.list().sessions[0].state, want, "{what}");
    }
}

/// Agents that cannot close a session are not told that it was closed; nothing else names it by its id.
#[test]
fn one_that_was_asked_for_by_its_id_is_closed_although_nothing_was_sent_in_it() {
    let person = |key: u32, intent: Value| json!({ "dir": "person", "at": { "session": key }, "intent": intent });
    let asked = |text: Text, id: &str| {
        text.call("session/load", json!({ "sessionId": id, "cwd": "/work" }), json!({ "result": {} }))
    };
    let further = |id: &str| {
        let open = json!({ "OpenSession": { "cwd": "/work", "how": { "Continue": id } } });
        json!({ "dir": "person", "at": { "agent": 0 }, "intent": open })
    };
    let states = |text: &Text| {
        let state = state();
        state.put("1", text);
        let mut all: Vec<_> = state.list().sessions.into_iter().map(|one| (one.session_id, one.state)).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    };
    let both = |first: State, second: State| vec![("a".to_owned(), first), ("b".to_owned(), second)];
    let text = || {
        let text = Text::ending().line(person(0, json!({ "OpenAs": { "Continue": "a" } }))).hello();
        asked(asked(text, "a").line(further("b")), "b")
    };
    let closed = |key: u32| text().line(person(key, json!("CloseSession")));
    assert_eq!(states(&closed(0)), both(State::Ended, State::Interrupted));
    assert_eq!(states(&closed(1)), both(State::Interrupted, State::Ended));
    let again = asked(closed(0).line(further("a")), "a");
    assert_eq!(states(&again), both(State::Interrupted, State::Interrupted), "it was opened once more");
    let third = again.line(person(2, json!("CloseSession")));
    assert_eq!(states(&third), both(State::Ended, State::Interrupted), "under the key that it has now");
    let early = Text::ending().line(person(0, json!({ "OpenAs": { "Load": "a" } }))).hello();
    let early = asked(early.line(person(0, json!("CloseSession"))), "a");
    assert_eq!(states(&early), [("a".to_owned(), State::Ended)], "closed before it was open");
}

#[test]
fn a_session_is_open_as_long_as_its_journal_is_locked() {
    let temp = tempfile::tempdir().unwrap();
    let head = json!({ "started": STARTED, "cwd": "/work", "command": "agent" });
    let mut journal = Journal::create(&journals(temp.path()), "a.jsonl", &head).unwrap();
    for line in conversation("s").lines.iter().skip(1).filter(|line| !line.contains("\"end\":true")) {
        journal.record(|text| text.push_str(line));
    }
    assert_eq!(journal.hand_over(), None);
    // The thread that writes takes its time.
    while list(temp.path()).unwrap().sessions.first().is_none_or(|known| known.turns == 0) {
        std::thread::yield_now();
    }
    let open = newest(temp.path(), Path::new("/work"), &Origins::default()).unwrap().unwrap();
    assert_eq!(open.state, State::Open);
    assert!(is_open(&open.journal));
    journal.close(Duration::from_mins(1));
    assert_eq!(newest(temp.path(), Path::new("/work"), &Origins::default()).unwrap().unwrap().state, State::Ended);
}

#[test]
fn a_session_that_was_taken_up_again_is_one_and_an_id_given_twice_is_two() {
    let state = state();
    let later = |id: &str, method: &str, answer: Value| {
        let head = json!({ "v": 2, "ends": true, "started": STARTED + 1000, "cwd": "/work", "command": "agent" });
        Text::with(head).hello().call(method, json!({ "sessionId": id, "cwd": "/work" }), answer)
    };
    state.put("1", &conversation("kept"));
    state.put("2", &later("kept", "session/load", json!({ "result": null })).turn("kept", "again").end());
    state.put("3", &conversation("twice"));
    state.put(
        "4",
        &later("twice", "session/new", json!({ "result": { "sessionId": "twice" } })).turn("twice", "x").end(),
    );
    state
        .put("5", &later("forgotten", "session/load", json!({ "error": { "code": -32002, "message": "gone" } })).end());
    state
        .put("6", &later("kept", "session/fork", json!({ "result": { "sessionId": "copy" } })).turn("copy", "y").end());
    assert_eq!(state.ids(), ["copy", "kept", "twice", "twice"]);
    let kept = by_id(state.path(), "kept", None).unwrap();
    assert_eq!(
        (kept.turns, kept.first_prompt.as_deref(), kept.last_prompt.as_deref()),
        (2, Some("hello"), Some("again"))
    );
    assert_eq!((kept.created, kept.journals.len(), kept.stem()), (Duration::from_secs(STARTED + 4), 2, "2"));
    assert_eq!(by_id(state.path(), "twice", None).unwrap().stem(), "4");
}

/// By the clock it was taken up again before it began, and once more after that.
#[test]
fn a_session_that_was_taken_up_again_with_the_clock_set_back_is_one() {
    let state = state();
    let head = |started: u64| json!({ "v": 2, "ends": true, "started": started, "cwd": "/work", "command": "agent" });
    let goes_on = |started: u64, text: &str| {
        let load = json!({ "sessionId": "s", "cwd": "/work" });
        Text::with(head(started)).hello().call("session/load", load, json!({ "result": null })).turn("s", text).end()
    };
    state.put("3", &conversation("s"));
    state.put("2", &goes_on(STARTED - 120, "set back"));
    state.put("1", &goes_on(STARTED - 60, "a minute later"));
    state.put("4", &goes_on(STARTED + 60, "set right"));
    let all = state.list().sessions;
    let one = &all[0];
    assert_eq!((all.len(), one.turns, one.first_prompt.as_deref()), (1, 4, Some("hello")), "{all:?}");
    assert_eq!(one.last_prompt.as_deref(), Some("set right"));
    assert_eq!(one.journals.iter().map(|path| stem(path)).collect::<Vec<_>>(), ["3", "2", "1", "4"]);
    let (parts, _) = parts(state.path()).unwrap();
    assert_eq!(parts.iter().map(|part| part.turns_before).collect::<Vec<_>>(), [0, 1, 2, 3]);
    // Its own beginning is not known: a new one of the same id is another.
    fs::remove_file(state.file("3.jsonl")).unwrap();
    let later = Text::with(head(STARTED + 10 * 24 * 60 * 60)).hello().open("s").turn("s", "anew").end();
    state.put("5", &later);
    assert_eq!(state.list().sessions.len(), 2);
}

/// Its journal says from which it went on; what somebody else imports under the same name says nothing of that.
#[test]
fn one_that_was_imported_and_went_on_here_is_one_and_takes_in_no_other() {
    let state = state();
    let head = |more: Value| {
        let mut head = json!({ "v": 2, "ends": true, "started": STARTED, "cwd": "/work", "command": "agent" });
        head.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Text::with(head)
    };
    let imported = || head(json!({ "imported": true })).hello().open("s");
    let load =
        |text: Text| text.call("session/load", json!({ "sessionId": "s", "cwd": "/work" }), json!({ "result": {} }));
    let goes_on = |started: u64, imported: &[&str]| {
        let known = json!({ "Recalled": { "turns": 1, "is_last": true, "trouble": "x", "imported": imported } });
        let at = json!({ "session": 0 });
        let text = head(json!({ "started": started, "command": "own agent" }));
        let text = text.line(json!({ "dir": "person", "at": at, "intent": { "OpenAs": { "Continue": "s" } } }));
        load(text.line(json!({ "dir": "host", "at": at, "fact": known })))
    };
    state.put("imported-1", &imported().turn("s", "theirs").end());
    state.put(
        "imported-2",
        &load(head(json!({ "imported": true, "started": STARTED + 20 })).hello()).turn("s", "more").end(),
    );
    assert_eq!(state.list().sessions.iter().map(Known::source).collect::<Vec<_>>(), ["imported"]);
    let names = ["imported-1.jsonl", "imported-2.jsonl"];
    state.put("1", &goes_on(STARTED + 60, &names).turn("s", "mine").end());
    state.put("2", &goes_on(STARTED + 120, &names).turn("s", "mine again").end());
    let all = state.list().sessions;
    let one = &all[0];
    assert_eq!((all.len(), one.turns, one.source(), &*one.command), (1, 4, "ours", "own agent"), "{all:?}");
    assert_eq!((one.first_prompt.as_deref(), one.last_prompt.as_deref()), (Some("theirs"), Some("mine again")));
    assert_eq!(one.journals.iter().map(|path| stem(path)).collect::<Vec<_>>(), ["imported-1", "imported-2", "1", "2"]);
    assert_eq!(one.imported_names(), names);
    let (parts, _) = parts(state.path()).unwrap();
    assert_eq!(
        parts.iter().map(|part| (part.session, part.turns_before)).collect::<Vec<_>>(),
        [(0, 0), (0, 1), (0, 2), (0, 3)]
    );
    state.put("imported-3", &load(head(json!({ "imported": true, "started": STARTED + 90 }))).turn("s", "evil").end());
    state.put("imported-4", &imported().turn("s", "evil").end());
    let ours: Vec<_> = state.list().sessions.into_iter().filter(|known| !known.is_imported).collect();
    assert_eq!((ours.len(), ours[0].turns, &ours[0].journals), (1, 4, &one.journals), "{ours:?}");
    // One of our own that does not say so is another.
    let other = self::state();
    other.put("imported-1", &imported().turn("s", "theirs").end());
    other.put("1", &goes_on(STARTED + 60, &[]).turn("s", "mine").end());
    assert_eq!(other.list().sessions.len(), 2);
}

/// Runs of one conversation, each with its clock set otherwise than that of the one before; in minutes.
fn clocks(offsets: &[i64], turns: &[u64]) -> Vec<String> {
    let state = state();
    let mut before = 0;
    for (run, (offset, turns)) in offsets.iter().zip(turns).enumerate() {
        let started = STARTED.checked_add_signed(run as i64 * 60 + offset * 60).unwrap();
        let head = json!({ "v": 2, "ends": true, "started": started, "cwd": "/work", "command": "agent" });
        let mut text = Text::with(head);
        if run == 0 {
            text = text.hello().open("s").turn("s", "begin");
        } else {
            let at = json!({ "session": 0 });
            let how = json!({ "OpenAs": { "Continue": "s" } });
            let known = json!({ "Recalled": { "turns": before, "is_last": true } });
            text = text
                .line(json!({ "dir": "person", "at": at, "intent": how }))
                .hello()
                .line(json!({ "dir": "host", "at": at, "fact": known }))
                .call("session/load", json!({ "sessionId": "s", "cwd": "/work" }), json!({ "result": null }));
            for turn in 0..*turns {
                text = text.turn("s", &format!("{run} {turn}"));
            }
        }
        before += if run == 0 { 1 } else { *turns };
        state.put(&format!("run{run}"), &text.end());
    }
    let all = state.list().sessions;
    assert_eq!((all.len(), all[0].turns), (1, before), "{all:?}");
    let mut counted = 0;
    for part in parts(state.path()).unwrap().0 {
        assert!(part.turns_before >= counted);
        counted = part.turns_before;
    }
    all[0].journals.iter().map(|path| stem(path).to_owned()).collect()
}

#[test]
fn runs_stand_in_their_order_whatever_the_clock_says() {
    let day = 24 * 60;
    let minutes = [vec![0, -120, -240], vec![0, 120, 0], vec![0, 0, -120, -60], vec![0, -60, -120, 60, 0, -30]];
    let days = [vec![0, -3 * day], vec![0, -3 * day, 0], vec![0, -900 * day, 40 * day, -2 * day, 0]];
    for offsets in minutes.into_iter().chain(days) {
        let turns: Vec<u64> = vec![1; offsets.len()];
        let wanted: Vec<String> = (0..offsets.len()).map(|run| format!("run{run}")).collect();
        assert_eq!(clocks(&offsets, &turns), wanted, "{offsets:?}");
    }
}

#[test]
fn a_session_is_named_by_its_id_or_a_beginning_that_only_one_has() {
    let state = state();
    for id in ["abc-1", "abc-2", "xyz"] {
        state.put(id, &conversation(id));
    }
    let id =
        |name: &str| by_id(state.path(), name, None).map(|known| known.session_id).map_err(|error| error.to_string());
    assert_eq!(id("abc-1").as_deref(), Ok("abc-1"));
    assert_eq!(id("x").as_deref(), Ok("xyz"));
    assert!(id("abc").unwrap_err().contains("abc-1, abc-2"));
    for none in ["", "nobody"] {
        assert!(id(none).unwrap_err().contains("sessions --all"), "{none}");
    }
}

#[test]
fn whose_a_session_is_its_command_says_and_not_the_name_that_an_agent_gives_itself() {
    let state = state();
    let of = |command: &str, started: u64| json!({ "v": 2, "ends": true, "started": started, "cwd": "/work", "command": command });
    state.put("1", &Text::with(of("good", STARTED)).hello().open("shared").turn("shared", "mine").end());
    let listed = Listed {
        id: "shared".into(),
        cwd: Some("/".into()),
        additional: Vec::new(),
        title: None,
        updated: Some("2099-01-01".into()),
    };
    let (command, agent) = ("bad".into(), "Agent A".into());
    let told = Told { command, agent, can: Cans::default(), cwd: None, is_whole: true, sessions: vec![listed] };
    remember(state.path(), &told).unwrap();
    let meant = |command| by_id(state.path(), "shared", command).map(|known| (known.command, known.journals.len()));
    assert_eq!(meant(None).unwrap(), ("good".into(), 1), "what is only told of comes last");
    assert_eq!(meant(Some("bad")).unwrap(), ("bad".into(), 0));
    // The other agent is asked for it where it says that it is.
    let loaded = json!({ "sessionId": "shared", "cwd": "/" });
    let later = Text::with(of("bad", STARTED + 9)).hello().call("session/load", loaded, json!({ "result": null }));
    state.put("2", &later.turn("shared", "theirs").end());
    assert_eq!(meant(Some("good")).unwrap(), ("good".into(), 1), "they are two");
    assert_eq!(meant(Some("bad")).unwrap(), ("bad".into(), 1));
    let why = meant(None).unwrap_err().to_string();
    assert!(why.contains("2 of Agent A (`bad`), 1 of Agent A (`good`)"), "{why}");
    assert!(why.contains("--agent NAME") && why.contains("after `--`"), "{why}");
    assert_eq!(by_id(state.path(), "1", None).unwrap().command, "good");
    assert_eq!(find(&journals(state.path()), "shared", "good").unwrap().unwrap().stem(), "1");
}

/// A list of these sessions, by an agent of this command line and name.
fn tells(state: &Home, command: &str, agent: &str, ids: &[&str]) {
    let listed = |id: &&str| Listed {
        id: (*id).into(),
        cwd: Some("/work".into()),
        additional: Vec::new(),
        title: Some("told".into()),
        updated: Some("2026-10-01T00:00:00Z".into()),
    };
    let (command, agent, sessions) = (command.into(), agent.into(), ids.iter().map(listed).collect());
    let told = Told { command, agent, can: Cans::default(), cwd: None, is_whole: true, sessions };
    remember(state.path(), &told).unwrap();
}

/// All that was told so far was told a minute before.
fn told_earlier(state: &Home) {
    for file in fs::read_dir(state.file("listed")).unwrap() {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let (first, rest) = text.split_once('\n').unwrap();
        let mut book: Value = serde_json::from_str(first).unwrap();
        book["at"] = book["at"].as_u64().unwrap().saturating_sub(60).into();
        fs::write(path, format!("{book}\n{rest}")).unwrap();
    }
}

fn rows(state: &Home, id: &str) -> Vec<(String, &'static str)> {
    let all = state.list().sessions.into_iter().filter(|known| known.session_id == id);
    let mut rows: Vec<_> = all.map(|known| (known.command.clone(), known.source())).collect();
    rows.sort();
    rows
}

#[test]
fn what_an_agent_lists_under_another_command_line_is_the_session_that_it_was() {
    let state = state();
    state.put("1", &conversation("s"));
    let row = |command: &str, source| vec![(command.to_owned(), source)];
    tells(&state, "npx agent@2", "Agent A", &["s", "theirs"]);
    assert_eq!(rows(&state, "s"), row("agent", "both"), "what is started is what was recorded");
    let known = by_id(state.path(), "s", None).unwrap();
    assert_eq!((known.also.as_slice(), known.is_of("npx agent@2")), (&["npx agent@2".to_owned()][..], true));
    // What only the agent knows is started as that told of it last.
    tells(&state, "npx agent@3", "Agent A", &["s", "theirs"]);
    assert_eq!(rows(&state, "s"), row("agent", "both"));
    let theirs = rows(&state, "theirs");
    assert!(theirs.len() == 1 && theirs[0].1 == "agent", "{theirs:?}");
    // Another agent that gives the same id is another one, also in this directory.
    tells(&state, "other", "Agent B", &["s"]);
    assert_eq!(rows(&state, "s"), [("agent".to_owned(), "both"), ("other".to_owned(), "agent")]);
    // Of one that does not say what it is called only the command is known.
    tells(&state, "third", "third", &["s"]);
    assert_eq!(rows(&state, "s").len(), 3);
}

#[test]
fn a_name_of_the_persons_and_that_a_session_was_forgotten_hold_under_another_command_line() {
    let state = state();
    state.put("1", &conversation("s"));
    tells(&state, "agent --new", "Agent A", &["s"]);
    rename(state.path(), &by_id(state.path(), "s", None).unwrap(), Some("mine".into())).unwrap();
    told_earlier(&state);
    tells(&state, "agent --newer", "Agent A", &["s"]);
    let known = by_id(state.path(), "s", None).unwrap();
    assert_eq!(known.title.as_deref(), Some("mine"));
    rename(state.path(), &known, None).unwrap();
    assert_eq!(by_id(state.path(), "s", None).unwrap().title.as_deref(), Some("told"));
    fs::remove_file(state.file("1.jsonl")).unwrap();
    hide(state.path(), &[&by_id(state.path(), "s", None).unwrap()]).unwrap();
    assert_eq!(rows(&state, "s"), []);
    for command in ["agent", "agent --newest"] {
        tells(&state, command, "Agent A", &["s"]);
        assert_eq!(rows(&state, "s"), [], "{command}");
    }
    tells(&state, "agent --newest", "Agent B", &["s"]);
    assert_eq!(rows(&state, "s").len(), 1, "another agent's");
}

#[test]
fn a_session_that_goes_on_with_another_command_line_of_its_agent_is_one() {
    let state = state();
    let head = |command: &str, started: u64| json!({ "v": 2, "ends": true, "started": started, "cwd": "/work", "command": command });
    let goes_on = |command: &str, started: u64| {
        let load = json!({ "sessionId": "s", "cwd": "/work" });
        let text = Text::with(head(command, started)).hello();
        text.call("session/load", load, json!({ "result": null })).turn("s", command).end()
    };
    state.put("1", &conversation("s"));
    state.put("2", &goes_on("agent --new", STARTED + 100));
    state.put("3", &goes_on("agent --new", STARTED + 200));
    let all = state.list().sessions;
    let one = &all[0];
    assert_eq!((all.len(), one.turns, one.journals.len()), (1, 3, 3), "{all:?}");
    assert_eq!((&*one.command, one.also.as_slice()), ("agent --new", &["agent".to_owned()][..]));
    let (parts, _) = parts(state.path()).unwrap();
    assert_eq!(parts.iter().map(|part| part.turns_before).collect::<Vec<_>>(), [0, 1, 2]);
    // One that is new there is another one, whatever its id.
    state.put("4", &Text::with(head("agent --other", STARTED + 300)).hello().open("s").turn("s", "new").end());
    assert_eq!(state.list().sessions.len(), 2);
}

#[test]
fn the_newest_of_a_directory_is_one_in_which_something_was_said() {
    let state = state();
    state.put("1", &conversation("old"));
    let mut empty = Text::ending().hello().open("empty").end();
    empty.lines[0] = empty.lines[0].replace(&STARTED.to_string(), &(STARTED + 50).to_string());
    state.put("2", &empty);
    assert_eq!(newest(state.path(), Path::new("/work"), &Origins::default()).unwrap().unwrap().session_id, "old");
    assert_eq!(newest(state.path(), Path::new("/elsewhere"), &Origins::default()).unwrap(), None);
    assert_eq!(newest(&state.path().join("gone"), Path::new("/work"), &Origins::default()).unwrap(), None);
}

#[test]
fn a_session_of_a_worktree_is_the_newest_of_the_directory_that_the_worktree_came_from() {
    let state = state();
    state.put("1", &conversation("old"));
    let origins = |worktrees: &str, top: &str| {
        Origins::new(vec![Origin { worktrees: worktrees.into(), top: top.into(), ..Origin::default() }])
    };
    let newest = |cwd: &str, origins: &Origins| newest(state.path(), Path::new(cwd), origins).unwrap();
    // Its directory, `/work`, is a worktree of `/shop`.
    let made = origins("/", "/shop");
    assert_eq!(newest("/shop", &made).unwrap().session_id, "old");
    assert_eq!(newest("/other", &made).unwrap().session_id, "old", "from another worktree of the same");
    assert_eq!((newest("/shop/below", &made), newest("/shop", &origins("/elsewhere", "/shop"))), (None, None));
}

#[test]
fn a_damaged_journal_costs_only_itself_and_is_named() {
    let state = state();
    state.put("good", &conversation("good"));
    state.put("newer", &Text::with(json!({ "v": 3, "started": 1, "cwd": "/", "command": "x" })));
    state.put("other", &Text::with(json!({ "v": 2, "codec": "acp-9" })));
    fs::write(state.file("garbage.jsonl"), [0xff; 5000]).unwrap();
    fs::write(state.file("text.jsonl"), "hello\nworld\n").unwrap();
    fs::write(state.file("empty.jsonl"), "").unwrap();
    fs::create_dir(state.file("dir.jsonl")).unwrap();
    std::os::unix::fs::symlink(state.file("good.jsonl"), state.file("link.jsonl")).unwrap();
    let pipe = state.file("pipe.jsonl");
    let mode = rustix::fs::Mode::from_bits_truncate(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    fs::write(state.file("a note.txt"), "not looked at").unwrap();
    for _ in 0..2 {
        let listing = state.list();
        assert_eq!(listing.sessions.len(), 1);
        let said: Vec<_> = listing.problems.iter().map(|p| (stem(&p.path).to_owned(), p.why.clone())).collect();
        let why = |name: &str| said.iter().find(|(of, _)| of == name).map_or("", |(_, why)| why.as_str());
        assert!(why("newer").contains("newer acp-tui (version 3"), "{said:?}");
        assert!(why("other").contains("newer acp-tui"));
        assert!(why("garbage").contains("does not begin like a journal"));
        assert!(why("text").contains("does not begin like a journal"));
        assert!(why("link").contains("symbolic link"));
        assert!(why("pipe").contains("no plain file") && why("dir").contains("no plain file"));
        assert_eq!(said.len(), 7, "{said:?}");
    }
}

#[test]
fn a_journal_that_is_a_hole_is_named_and_what_stands_before_one_is_listed() {
    let state = state();
    state.put("1-a", &conversation("a"));
    state.put("2-b", &conversation("b"));
    fs::write(state.file("3-c.jsonl"), "").unwrap();
    for name in ["2-b.jsonl", "3-c.jsonl"] {
        fs::OpenOptions::new().write(true).open(state.file(name)).unwrap().set_len(1 << 40).unwrap();
    }
    // Again from the index.
    for _ in 0..2 {
        let listing = state.list();
        let ids: Vec<&str> = listing.sessions.iter().map(|known| &*known.session_id).collect();
        assert_eq!((ids.len(), ids.contains(&"a"), ids.contains(&"b")), (2, true, true), "{ids:?}");
        let why: Vec<&str> = listing.problems.iter().map(|problem| &*problem.why).collect();
        assert_eq!(why, ["damaged: lines with zero bytes are left out", "it does not begin like a journal"]);
    }
}

#[test]
fn wherever_a_journal_is_cut_the_others_are_listed_and_nothing_is_invented() {
    let whole = conversation("s").text();
    let state = state();
    state.put("other", &conversation("other"));
    for end in 0..whole.len() {
        fs::write(state.file("cut.jsonl"), &whole[..end]).unwrap();
        let listing = state.list();
        assert!(listing.sessions.iter().any(|known| known.session_id == "other"));
        let cut = listing.sessions.iter().find(|known| known.session_id != "other");
        assert!(cut.is_none_or(|known| known.session_id == "s" && known.turns <= 1), "{end}");
    }
}

#[test]
fn lines_that_cannot_be_read_are_left_out_and_the_rest_counts() {
    let state = state();
    let mut text = conversation("s");
    for (at, line) in [(1, "garbage"), (3, "{\"t\":1,\"dir\":"), (5, ""), (6, "[]"), (7, "{\"frame\":7}")] {
        text.lines.insert(at, line.to_owned());
    }
    state.put("a", &text);
    let listing = state.list();
    assert_eq!((listing.sessions[0].turns, listing.problems.len()), (1, 0));
}

#[test]
fn what_the_index_knows_is_not_read_again_and_what_has_grown_is_read_on() {
    let state = state();
    let text = Text::ending().hello().open("s").turn("s", "one");
    let path = state.put("a", &text);
    assert_eq!(state.list().sessions[0].turns, 1);
    // With the same size and times its content does not matter any more.
    let (meta, other) = (path.metadata().unwrap(), text.text().replace("one", "two"));
    fs::write(&path, other).unwrap();
    let times = fs::FileTimes::new().set_modified(meta.modified().unwrap());
    fs::File::options().write(true).open(&path).unwrap().set_times(times).unwrap();
    assert_eq!(state.list().sessions[0].first_prompt.as_deref(), Some("one"));
    // What was read stays read; only what is behind it is new.
    let more = text.turn("s", "three").end();
    fs::write(&path, more.text().replace("one", "two")).unwrap();
    let known = &state.list().sessions[0];
    assert_eq!(
        (known.turns, known.first_prompt.as_deref(), known.last_prompt.as_deref()),
        (2, Some("one"), Some("three"))
    );
    // Another file of that name is read from its beginning.
    fs::remove_file(&path).unwrap();
    state.put("a", &conversation("new"));
    assert_eq!(state.ids(), ["new"]);
}

#[test]
fn a_lost_or_damaged_index_is_made_anew_and_is_the_owners_alone() {
    use std::os::unix::fs::MetadataExt as _;
    let state = state();
    for id in ["a", "b", "c"] {
        state.put(id, &conversation(id));
    }
    let (want, index) = (state.list(), state.file(index::INDEX));
    assert_eq!(index.metadata().unwrap().mode() & 0o777, 0o600);
    let whole = fs::read(&index).unwrap();
    let mut damaged: Vec<Vec<u8>> = (0..whole.len()).step_by(7).map(|end| whole[..end].to_vec()).collect();
    damaged.extend([vec![0xff; 3000], b"{\"acp_tui_index\":99}\n{}\n".to_vec(), whole.repeat(2)]);
    damaged.extend((0..whole.len()).step_by(11).map(|at| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x15;
        bytes
    }));
    for bytes in damaged {
        fs::write(&index, &bytes).unwrap();
        assert_eq!(state.list(), want);
    }
    fs::remove_file(&index).unwrap();
    assert_eq!(state.list(), want);
    fs::remove_file(state.file("b.jsonl")).unwrap();
    assert_eq!(state.ids(), ["a", "c"]);
    assert!(!String::from_utf8_lossy(&fs::read(&index).unwrap()).contains("b.jsonl"));
}

#[test]
fn an_index_that_cannot_be_written_costs_time_only() {
    let state = state();
    state.put("a", &conversation("a"));
    // Nothing takes the place of a directory with something in it.
    fs::create_dir_all(state.file(index::INDEX).join("x")).unwrap();
    for _ in 0..2 {
        assert_eq!(state.ids(), ["a"]);
    }
    let left: Vec<_> = fs::read_dir(journals(state.path())).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "nothing half written stays: {left:?}");
}

#[test]
fn several_at_once_disturb_neither_each_other_nor_who_writes() {
    let state = state();
    std::thread::scope(|scope| {
        for n in 0..4 {
            let state = &state;
            scope.spawn(move || {
                for m in 0..10 {
                    state.put(&format!("{n}-{m}"), &conversation(&format!("{n}-{m}")));
                    let listing = state.list();
                    assert!(listing.sessions.iter().filter(|k| k.session_id.starts_with(&format!("{n}-"))).count() > m);
                    assert!(listing.sessions.iter().all(|known| known.session_id.len() == 3));
                }
            });
        }
    });
    assert_eq!(state.ids().len(), 40);
}

#[test]
fn more_journals_than_one_thread_takes_are_all_listed() {
    let state = state();
    for n in 0..300 {
        state.put(&format!("{n:03}"), &conversation(&format!("{n:03}")));
    }
    for _ in 0..2 {
        assert_eq!(state.ids().len(), 300);
    }
}

proptest! {
    #[test]
    fn a_command_line_is_taken_apart_as_it_was_put_together(args in proptest::collection::vec("[ -~é\\t\\n]{0,8}", 1..5)) {
        let line = args.iter().map(|arg| quote(arg)).collect::<Vec<_>>().join(" ");
        prop_assert_eq!(words(&line), Some(args));
    }

    #[test]
    fn runs_stand_in_their_order_with_any_clocks(runs in proptest::collection::vec((-60_000_i64..60_000, 1_u64..3), 1..7)) {
        let (offsets, turns): (Vec<i64>, Vec<u64>) = runs.iter().copied().unzip();
        let wanted: Vec<String> = (0..runs.len()).map(|run| format!("run{run}")).collect();
        prop_assert_eq!(clocks(&offsets, &turns), wanted);
    }

    #[test]
    fn whatever_stands_in_a_journal_or_the_index_nothing_breaks(
        bytes in proptest::collection::vec(any::<u8>(), 0..300), at in 0..2000usize, into_index in any::<bool>(),
    ) {
        let state = state();
        state.put("good", &conversation("good"));
        let mut text = conversation("s").text().into_bytes();
        if into_index {
            state.put("s", &conversation("s"));
            state.list();
            text = fs::read(state.file(index::INDEX)).unwrap();
        }
        let at = at.min(text.len());
        text.splice(at..(at + bytes.len()).min(text.len()), bytes.iter().copied());
        fs::write(state.file(if into_index { index::INDEX } else { "s.jsonl" }), text).unwrap();
        prop_assert!(state.ids().contains(&"good".to_owned()));
    }
}

#[test]
fn journals_of_one_second_are_told_apart_by_their_names() {
    assert_eq!(began(1_795_345_238, "1795345238-097-29590.jsonl"), Duration::from_millis(1_795_345_238_097));
    let imported = "imported-1795345238-097-29590.jsonl";
    assert_eq!(began(1_795_345_238, imported), Duration::from_millis(1_795_345_238_097));
    for other in ["imported-1.jsonl", "1795345237-097-1.jsonl", "1795345238-1000-1.jsonl", "1795345238.jsonl", ""] {
        assert_eq!(began(1_795_345_238, other), Duration::from_secs(1_795_345_238), "{other}");
    }
}

#[test]
fn only_what_is_beyond_a_limit_goes_and_never_what_is_open() {
    let old = |n: u64, id: &str| {
        Text::with(json!({ "v": 2, "ends": true, "started": STARTED - n, "cwd": "/w", "command": "agent" }))
            .hello()
            .open(id)
            .turn(id, "hello")
            .end()
    };
    let home = || {
        let home = state();
        for (n, id) in [(0, "new"), (86_400, "day"), (864_000, "ten days"), (8_640_000, "old")] {
            home.put(id, &old(n, id));
        }
        home
    };
    let left = |limits: Limits, goes_on: Option<&str>| {
        let home = home();
        let place = |id: &str| Place::Session { agent: "agent".into(), id: id.into() };
        let drafts = Drafts::new(drafts::dir(home.path()));
        let half = Draft { text: "half".into(), ..Draft::default() };
        drafts.keep(&place("old"), &half).unwrap();
        let mode = Draft { mode: "default".into(), ..Draft::default() };
        drafts.keep(&place("ten days"), &mode).unwrap();
        let pruned = prune(home.path(), limits, Duration::from_secs(STARTED + 100), goes_on).unwrap();
        let ids = home.ids();
        assert_eq!(pruned.sessions, 4 - ids.len() as u64);
        assert!(drafts.fetch(&place("old")).unwrap().is_some(), "what is not sent is the person's");
        assert_eq!(drafts.fetch(&place("ten days")).unwrap().is_some(), ids.contains(&"ten days".to_owned()));
        ids.join(",")
    };
    let none = Limits::default();
    assert_eq!(left(none, None), "day,new,old,ten days");
    assert_eq!(left(Limits { count: Some(2), ..none }, None), "day,new,old");
    assert_eq!(left(Limits { count: Some(2), ..none }, Some("ten days")), "day,new,old,ten days");
    assert_eq!(left(Limits { age: Some(Duration::from_secs(100_000)), ..none }, None), "day,new,old");
    assert_eq!(left(Limits { bytes: Some(1), ..none }, None), "old");
    let home = home();
    let file = fs::OpenOptions::new().append(true).open(home.file("old.jsonl")).unwrap();
    // As if it had not ended.
    fs::write(home.file("old.jsonl"), old(8_640_000, "old").text().replace("\"end\":true", "\"other\":1")).unwrap();
    file.try_lock().unwrap();
    home.put("two", &old(900_000, "x").open("y").turn("y", "z"));
    prune(home.path(), Limits { count: Some(1), ..none }, Duration::from_secs(STARTED + 100), None).unwrap();
    assert_eq!(home.ids(), ["new", "old"]);
}

/// A copy begins with what the journals have of what it was made of, and that with an earlier one.
#[test]
fn what_shares_a_journal_with_one_that_stays_does_so_too() {
    let state = state();
    let head = |started: u64| json!({ "v": 2, "ends": true, "started": started, "cwd": "/work", "command": "agent" });
    let load = |id: &str| json!({ "sessionId": id, "cwd": "/work" });
    let goes_on = |started: u64, id: &str| {
        let text = Text::with(head(started)).hello().call("session/load", load(id), json!({ "result": null }));
        text.turn(id, "again")
    };
    state.put("1", &Text::with(head(STARTED)).hello().open("first").turn("first", "a").end());
    state.put("2", &goes_on(STARTED + 100, "first").open("second").turn("second", "b").end());
    let copy = json!({ "result": { "sessionId": "copy" } });
    state
        .put("3", &goes_on(STARTED + 200, "second").call("session/fork", load("second"), copy).turn("copy", "c").end());
    state.put("4", &goes_on(STARTED + 300, "copy").end());
    state.put("0", &conversation("alone"));
    let limits = Limits { count: Some(1), ..Limits::default() };
    assert_eq!(prune(state.path(), limits, Duration::from_secs(STARTED + 999), None).unwrap().sessions, 1);
    assert_eq!(state.ids(), ["copy", "first", "second"]);
}

#[test]
fn what_was_left_of_a_journal_that_was_written_anew_goes_and_what_is_being_written_stays() {
    let ways: [fn(&Path); 3] = [
        |home| {
            prune(home, Limits::default(), Duration::from_secs(STARTED), None).unwrap();
        },
        |home| {
            remove_all_but(home, &[]).unwrap();
        },
        take_left_behind,
    ];
    for way in ways {
        let home = state();
        let journal = home.put("one", &conversation("one"));
        let left = journal.with_file_name(".tmpAbCdEf");
        fs::write(&left, "what was said").unwrap();
        let living = Replacement::of(&journal).unwrap();
        way(home.path());
        assert!(!left.exists());
        living.finish(Durability::None).unwrap();
    }
}

#[test]
fn a_first_line_says_how_the_others_are_read() {
    assert!(codec_of(Text::new(2).text().lines().next().unwrap().as_bytes()).is_some());
    for line in ["", "{}", "{\"v\":99}", "{\"v\":2,\"codec\":\"acp-9\"}", "\u{0}"] {
        assert!(codec_of(line.as_bytes()).is_none(), "{line}");
    }
}

#[test]
fn an_imported_journal_began_when_its_own_did() {
    let names = ["17-250-9.jsonl", "imported-17-250-9.jsonl", "imported-0badcafe-99.jsonl"];
    assert_eq!(names.map(|name| began(17, name).as_millis()), [17_250, 17_250, 17_000]);
}
