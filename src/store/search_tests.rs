//! What was said is found however it is spelt and cut into pieces, and nothing is found twice.

use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;

const STARTED: u64 = 1_790_000_000;

#[derive(Default)]
struct Journal {
    text: String,
    calls: u64,
    t: u64,
}

impl Journal {
    fn new(started: u64, command: &str, cwd: &str) -> Self {
        let head = json!({ "v": 2, "ends": true, "started": started, "cwd": cwd, "command": command });
        Self { text: format!("{head}\n"), ..Self::default() }
    }

    fn frame(mut self, dir: &str, frame: &str) -> Self {
        self.t += 1;
        let t = self.t;
        let line = format!("{{\"t\":{t}.000000,\"dir\":\"{dir}\",\"at\":{{\"agent\":0}},\"frame\":{frame}}}\n");
        self.text.push_str(&line);
        self
    }

    fn ask(mut self, method: &str, params: Value) -> Self {
        let frame = json!({ "id": self.calls, "method": method, "params": params }).to_string();
        self.calls += 1;
        self.frame("client->agent", &frame)
    }

    fn answer(self, result: Value) -> Self {
        let frame = json!({ "id": self.calls - 1, "result": result }).to_string();
        self.frame("agent->client", &frame)
    }

    fn open(self, id: &str) -> Self {
        self.ask("session/new", json!({ "cwd": "/work/a" })).answer(json!({ "sessionId": id }))
    }

    fn prompt(self, id: &str, text: &str) -> Self {
        self.ask("session/prompt", json!({ "sessionId": id, "prompt": [{ "type": "text", "text": text }] }))
    }

    fn update(self, id: &str, update: Value) -> Self {
        let params = json!({ "sessionId": id, "update": update });
        self.frame("agent->client", &json!({ "method": "session/update", "params": params }).to_string())
    }

    fn chunk(self, id: &str, kind: &str, text: &str) -> Self {
        self.update(
            id,
            json!({ "sessionUpdate": format!("{kind}_chunk"), "content": { "type": "text", "text": text } }),
        )
    }

    /// A request of the agent's.
    fn wants(self, number: u64, method: &str, params: Value) -> Self {
        let frame = json!({ "jsonrpc": "2.0", "id": number, "method": method, "params": params });
        self.frame("agent->client", &frame.to_string())
    }

    fn replies(self, number: u64, key: &str, what: Value) -> Self {
        self.frame("client->agent", &json!({ "id": number, key: what }).to_string())
    }

    fn fact(mut self, fact: Value) -> Self {
        self.t += 1;
        let line = json!({ "t": self.t, "dir": "host", "at": { "session": 0 }, "fact": fact });
        self.text.push_str(&line.to_string());
        self.text.push('\n');
        self
    }

    fn runs(self, number: u64, term: &str, command: &str) -> Self {
        let params = json!({ "sessionId": "s", "command": command, "args": ["--quick"] });
        self.wants(number, "terminal/create", params).replies(number, "result", json!({ "terminalId": term }))
    }

    fn printed(self, term: &str, text: &str) -> Self {
        self.fact(json!({ "TerminalExited": { "term": term, "exit": { "code": 0, "signal": null }, "end": text } }))
    }

    fn writes(self, number: u64, path: &str, content: &str) -> Self {
        let params = json!({ "sessionId": "s", "path": path, "content": content });
        self.wants(number, "fs/write_text_file", params)
    }

    fn say(self, id: &str, text: &str) -> Self {
        self.chunk(id, "agent_message", text)
    }

    fn end(self) -> Self {
        self.answer(json!({ "stopReason": "end_turn" }))
    }
}

struct Home(tempfile::TempDir);

impl Home {
    fn with(journals: &[(&str, Journal)]) -> Self {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir(sessions::journals(temp.path())).unwrap();
        for (name, journal) in journals {
            fs::write(sessions::journals(temp.path()).join(format!("{name}.jsonl")), &journal.text).unwrap();
        }
        Self(temp)
    }

    fn find(&self, query: &Query) -> Vec<Hit> {
        let mut all = Vec::new();
        let problems = search(self.0.path(), query, |hits| {
            all.extend(hits);
            true
        });
        assert_eq!(problems.unwrap(), []);
        all
    }

    fn said(&self, text: &str) -> Vec<(String, u64, Role, String)> {
        let hits = self.find(&literal(text));
        hits.into_iter().map(|hit| (hit.session_id, hit.turn, hit.role, hit.text)).collect()
    }
}

fn literal(text: &str) -> Query {
    of(Matcher::literal(text))
}

fn of(matcher: Matcher) -> Query {
    Query::of(matcher)
}

fn conversation() -> Journal {
    Journal::new(STARTED, "agent", "/work/a")
        .open("s")
        .prompt("s", "mend the roof")
        .chunk("s", "agent_thought", "a roof")
        .say("s", "The ro")
        .say("s", "of is ")
        .say("s", "\"mended\" \u{e9}\n")
        .update("s", json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": "Climb", "kind": "edit" }))
        .update(
            "s",
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed",
            "content": [{ "type": "diff", "path": "/work/a/roof.rs", "oldText": null, "newText": "let tile = 1;" }],
            "rawInput": { "command": "nail --all" } }),
        )
        .say("s", "Done")
        .end()
        .prompt("s", "again")
        .say("s", "the roof leaks")
        .end()
}

#[test]
fn a_hit_is_a_whole_message_of_whoever_said_or_did_it() {
    let home = Home::with(&[("a", conversation())]);
    let whole = "The roof is \"mended\" \u{e9}\n";
    let tool = "Climb\nnail --all\n/work/a/roof.rs\nlet tile = 1;";
    let hit = |turn: u64, role: Role, text: &str| ("s".to_owned(), turn, role, text.to_owned());
    assert_eq!(
        home.said("roof"),
        [
            hit(1, Role::User, "mend the roof"),
            hit(1, Role::Thought, "a roof"),
            hit(1, Role::Agent, whole),
            hit(1, Role::Tool, tool),
            hit(2, Role::Agent, "the roof leaks"),
        ]
    );
    for (text, want) in [
        ("The roof is \"m", whole),
        ("\"mended\" \u{e9}", whole),
        ("\u{e9}\n", whole),
        ("nail --all", tool),
        ("let tile", tool),
        ("Climb", tool),
        ("Done", "Done"),
    ] {
        let said = home.said(text);
        assert_eq!(said.iter().map(|hit| hit.3.as_str()).collect::<Vec<_>>(), [want], "{text}");
    }
    for text in ["the Roof", "mended\" \u{e9}Done", "agent_message", "sessionUpdate", "Doneagain"] {
        assert_eq!(home.said(text), [], "{text}");
    }
}

#[test]
fn the_time_is_that_of_the_beginning_and_the_place_that_in_the_text() {
    let hits = Home::with(&[("a", conversation())]).find(&literal("is"));
    assert_eq!(hits[0].time, Duration::from_secs(STARTED + 5));
    assert_eq!(
        (&hits[0].text[hits[0].at.clone()], hits[0].agent.as_str(), hits[0].cwd.as_path()),
        ("is", "agent", Path::new("/work/a"))
    );
}

#[test]
fn filters_leave_out_what_is_not_wanted() {
    let other = Journal::new(STARTED + 86_400, "Other --acp", "/work/b")
        .ask("session/new", json!({}))
        .answer(json!({ "sessionId": "o" }));
    let home = Home::with(&[("a", conversation()), ("b", other.prompt("o", "roof").end())]);
    let ids =
        |query: Query| home.find(&query).into_iter().map(|hit| (hit.session_id, hit.role.word())).collect::<Vec<_>>();
    let all = ids(literal("roof"));
    assert_eq!((all.len(), all[0].0.as_str()), (6, "o"), "the newest comes first");
    let only = |id: &str, query: Query| assert!(ids(query).iter().all(|hit| hit.0 == id));
    only("o", Query { agent: Some("other".into()), ..literal("roof") });
    only("s", Query { cwd: Some("/work/a".into()), ..literal("roof") });
    only("o", Query { since: Some(Duration::from_secs(STARTED + 86_400)), ..literal("roof") });
    assert_eq!(ids(Query { cwd: Some("/wor".into()), ..literal("roof") }), []);
    assert_eq!(ids(Query { cwd: Some("/work".into()), ..literal("roof") }).len(), 6);
    let tool = [("s".to_owned(), "tool")];
    assert_eq!(ids(Query { role: Some(Role::Tool), ..literal("roof") }), tool);
    only("s", Query { until: Some(Duration::from_secs(STARTED + 86_400)), ..literal("roof") });
    assert_eq!(ids(Query { until: Some(Duration::from_secs(STARTED)), ..literal("roof") }), []);
    let ran = json!({ "sessionUpdate": "tool_call", "toolCallId": "u", "title": "gutter", "kind": "execute" });
    let ran = conversation().prompt("s", "and the gutter").update("s", ran).end();
    for (name, hits) in [("run", 1), ("execute", 1), ("edit", 0)] {
        let query = Query { tool: Some(name.into()), ..literal("gutter") };
        let home = Home::with(&[("a", Journal { text: ran.text.clone(), ..Journal::default() })]);
        assert_eq!(home.find(&query).len(), hits, "by the word in its row, and the protocol's: {name}");
    }
    for (name, file) in [("climb", "roof.rs"), ("EDIT", "a/roof.rs"), ("edit climb", "/work/a/roof.rs")] {
        assert_eq!(ids(Query { tool: Some(name.into()), ..literal("roof") }), tool, "{name}");
        assert_eq!(ids(Query { file: Some(file.into()), ..literal("tile") }), tool, "{file}");
    }
    assert_eq!(ids(Query { tool: Some("read".into()), ..literal("roof") }), []);
    assert_eq!(ids(Query { file: Some("oof.rs".into()), ..literal("tile") }), [], "not a whole name");
}

/// All that is read at once has one moment.
#[test]
fn what_comes_at_one_moment_is_found_in_the_order_of_the_journal() {
    let call = |id: &str| json!({ "sessionUpdate": "tool_call", "toolCallId": id, "title": format!("sew {id}") });
    let print = json!({ "sessionUpdate": "terminal_update", "terminalId": "T", "command": "sew pie",
        "output": { "data": "c2V3" } });
    let at_once = |mut journal: Journal| {
        journal.t -= 1;
        journal
    };
    let journal = Journal::new(STARTED, "agent", "/work/a").open("s").prompt("s", "sew").update("s", call("one"));
    let journal = at_once(at_once(journal).say("s", "sewn")).update("s", call("two"));
    let journal = at_once(at_once(journal).update("s", print)).chunk("s", "agent_thought", "sewing");
    let journal = at_once(journal).update("s", json!({ "sessionUpdate": "tool_call_update", "toolCallId": "one" }));
    let home = Home::with(&[("a", at_once(journal).say("s", "all sewn").end())]);
    let found: Vec<String> = home.said("sew").into_iter().map(|hit| hit.3).collect();
    assert_eq!(found, ["sew", "sew one", "sewn", "sew two", "sew pie\nsew", "sewing", "all sewn"]);
}

#[test]
fn an_expression_is_looked_for_in_messages_and_a_bad_one_says_what_is_wrong() {
    let home = Home::with(&[("a", conversation())]);
    let regex = |text: &str| home.find(&of(Matcher::regex(text).unwrap())).len();
    assert_eq!((regex("(?i)THE ro+f"), regex("^Done$"), regex("roof is .m"), regex("x{3}")), (3, 1, 1, 0));
    assert!(Matcher::regex("(").unwrap_err().contains("unclosed group"));
    assert!(Matcher::regex("(?:a{1000}){1000}{1000}").is_err());
}

#[test]
fn what_the_agent_tells_again_is_found_once_and_turns_are_counted_on() {
    let again = Journal::new(STARTED + 100, "agent", "/work/a")
        .ask("session/load", json!({ "sessionId": "s", "cwd": "/work/a" }))
        .chunk("s", "user_message", "mend the roof")
        .say("s", "the roof leaks")
        .answer(Value::Null)
        .prompt("s", "roof once more")
        .end();
    let home = Home::with(&[("a", conversation()), ("b", again)]);
    let said = home.said("roof");
    assert_eq!(said.len(), 6);
    assert_eq!((said[0].1, said[0].3.as_str()), (3, "roof once more"));
    // What no other journal has is found where it was told.
    fs::remove_file(sessions::journals(home.0.path()).join("a.jsonl")).unwrap();
    let said = home.said("roof");
    assert_eq!(
        said.iter().map(|hit| (hit.1, hit.2)).collect::<Vec<_>>(),
        [(0, Role::User), (0, Role::Agent), (1, Role::User)]
    );
}

#[test]
fn sessions_that_talk_at_the_same_time_are_kept_apart() {
    let both = Journal::new(STARTED, "agent", "/work/a").open("x").open("y").prompt("x", "1").prompt("y", "2");
    let both = both.say("x", "needle in a ").say("y", "a stack of ").say("x", "haystack").say("y", "needles");
    let home = Home::with(&[("a", both)]);
    assert_eq!(home.said("in a hay").len(), 1);
    assert_eq!(home.said("of need").len(), 1);
    assert_eq!(home.said("in a a stack"), []);
}

/// There are agents that answer the call to load first, in the middle of a message.
#[test]
fn what_is_told_again_behind_the_answer_is_not_found_twice() {
    let first = Journal::new(STARTED, "agent", "/work/a").open("s").prompt("s", "the needle");
    let first = first.say("s", "a needle in hay").end();
    let load = json!({ "sessionId": "s", "cwd": "/work/a" });
    let mut later = Journal::new(STARTED + 100, "agent", "/work/a")
        .ask("session/load", load)
        .chunk("s", "user_message", "<context> of a need")
        .answer(json!({}));
    // Within the same second.
    later.t -= 1;
    later = later.chunk("s", "user_message", "le, the needle");
    later.t -= 1;
    later = later.say("s", "a needle in hay");
    later.t += 60;
    let later = later.say("s", "a needle by itself").prompt("s", "and a needle").end();
    let home = Home::with(&[("a", first), ("b", later)]);
    let found: Vec<String> = home.said("needle").into_iter().map(|hit| hit.3).collect();
    assert_eq!(found, ["a needle by itself", "and a needle", "the needle", "a needle in hay"]);
}

/// It comes once the next prompt was sent, or behind the answer to that; the agent may tell the prompt back.
#[test]
fn what_is_told_again_behind_the_next_prompt_is_not_found_twice() {
    let begins = || Journal::new(STARTED, "agent", "/work/a").open("s");
    let first = || {
        let turn = begins().prompt("s", "one needle").say("s", "a needle in hay").chunk("s", "agent_thought", "so");
        turn.end().prompt("s", "go on").say("s", "Done.").end()
    };
    let tells = |journal: Journal| {
        let one = journal.chunk("s", "user_message", "one ").chunk("s", "user_message", "needle");
        let one = one.say("s", "a needle ").say("s", "in hay").chunk("s", "agent_thought", "so");
        one.chunk("s", "user_message", "go on").say("s", "Done.")
    };
    let load = |journal: Journal| {
        let mut loaded = journal.ask("session/load", json!({ "sessionId": "s", "cwd": "/work/a" })).answer(json!({}));
        loaded.t += 60;
        loaded
    };
    let later = || load(Journal::new(STARTED + 1000, "agent", "/work/a"));
    for asked in ["three", "go on", "one needle"] {
        let echo = |journal: Journal| journal.chunk("s", "user_message", asked);
        let said = |journal: Journal| journal.say("s", "Done. Another needle").end();
        let middle = |journal: Journal| journal.prompt("s", asked);
        let all = [
            [("a", first()), ("b", said(tells(middle(later()))))],
            [("a", first()), ("b", said(echo(tells(middle(later())))))],
            [("a", first()), ("b", tells(said(middle(later()))))],
            // In one run its agent was started again.
            [("a", said(tells(middle(load(first()))))), ("x", Journal::new(STARTED, "agent", "/work/a"))],
            [("a", tells(said(middle(load(first()))))), ("x", Journal::new(STARTED, "agent", "/work/a"))],
        ];
        for (number, journals) in all.into_iter().enumerate() {
            let home = Home::with(&journals);
            let found = |what: &str| home.said(what).into_iter().map(|hit| hit.3).collect::<Vec<_>>();
            assert_eq!(found("in hay"), ["a needle in hay"], "{asked} {number}");
            let mut done = found("Done");
            done.sort();
            assert_eq!(done, ["Done.", "Done. Another needle"], "{asked} {number}");
            assert_eq!(found("Another"), ["Done. Another needle"], "{asked} {number}");
            let times = if asked == "three" { 1 } else { 2 };
            assert_eq!(found(if asked == "three" { "one needle" } else { asked }).len(), times, "{asked} {number}");
        }
    }
}

/// The call may be answered anywhere in a history, and what is asked next goes out anywhere behind that.
#[test]
fn a_history_that_is_cut_by_the_answer_and_by_the_next_prompt_is_not_found_twice() {
    let begins = || Journal::new(STARTED, "agent", "/work/a").open("s");
    let first = || {
        let turn = begins().prompt("s", "one needle").say("s", "a needle in hay").chunk("s", "agent_thought", "so");
        turn.end().prompt("s", "go on").say("s", "Done.").end()
    };
    let pieces = [
        ("user_message", "one "),
        ("user_message", "needle"),
        ("agent_message", "a nee"),
        ("agent_message", "dle in hay"),
        ("agent_thought", "so"),
        ("user_message", "go on"),
        ("agent_message", "Do"),
        ("agent_message", "ne."),
    ];
    let load = |journal: Journal| journal.ask("session/load", json!({ "sessionId": "s", "cwd": "/work/a" }));
    // A prompt waits until its end is told.
    let is_prompt = |at: usize| at > 0 && pieces[at - 1].0 == "user_message";
    for (answered, asked) in (0..=pieces.len()).flat_map(|from| (from..=pieces.len()).map(move |to| (from, to))) {
        if is_prompt(answered) {
            continue;
        }
        for (is_one_run, at_once) in [(false, false), (true, false), (false, true), (true, true)] {
            let tell = |journal: Journal, from: usize, to: usize| {
                pieces[from..to].iter().fold(journal, |mut journal, (kind, text)| {
                    journal.t -= u64::from(at_once);
                    journal.chunk("s", kind, text)
                })
            };
            let before = if is_one_run { first() } else { Journal::new(STARTED + 1000, "agent", "/work/a") };
            let journal = tell(load(before), 0, answered).answer(json!({}));
            let journal = tell(journal, answered, asked).prompt("s", "and three");
            let journal = tell(journal, asked, pieces.len()).say("s", "No, a needle").end();
            let home = Home::with(&[("a", if is_one_run { begins() } else { first() }), ("b", journal)]);
            for (text, want) in [
                ("need", &["No, a needle", "a needle in hay", "one needle"][..]),
                ("in hay", &["a needle in hay"]),
                ("one", &["Done.", "one needle"]),
                ("one need", &["one needle"]),
                ("Do", &["Done."]),
                ("ne.", &["Done."]),
                ("so", &["so"]),
                ("go on", &["go on"]),
                ("three", &["and three"]),
                ("No,", &["No, a needle"]),
            ] {
                let mut found: Vec<String> = home.said(text).into_iter().map(|hit| hit.3).collect();
                found.sort();
                assert_eq!(found, want, "{text}: answered at {answered}, asked at {asked}, {is_one_run} {at_once}");
            }
        }
    }
}

#[test]
fn a_call_that_is_told_again_under_another_name_and_in_part_is_found_once() {
    let call = |id: &str, title: &str, text: &str| {
        let content = json!([{ "type": "content", "content": { "type": "text", "text": text } }]);
        json!({ "sessionUpdate": "tool_call", "toolCallId": id, "title": title, "status": "completed", "content": content })
    };
    let first = Journal::new(STARTED, "agent", "/work/a").open("s").prompt("s", "sew it");
    let first = first.update("s", call("1/a", "Sew: a", "a needle\nand thread\ndone")).end();
    let again = Journal::new(STARTED + 100, "agent", "/work/a")
        .ask("session/load", json!({ "sessionId": "s", "cwd": "/work/a" }))
        .chunk("s", "user_message", "sew it")
        .update("s", call("2/a", "Sew: a", "a needle\nand thread"))
        .update("s", call("2/b", "Sew: a", "a needle\nand more"))
        .update("s", call("2/c", "Sew: c", "a needle"))
        .answer(Value::Null);
    let home = Home::with(&[("a", first), ("b", again)]);
    let said: Vec<String> = home.said("needle").into_iter().map(|hit| hit.3).collect();
    assert_eq!(said, ["Sew: a\na needle\nand more", "Sew: c\na needle", "Sew: a\na needle\nand thread\ndone"]);
}

/// While it runs a call shows its input, then what was printed; of one that failed some agents tell the input again.
#[test]
fn a_call_of_which_the_input_is_told_again_is_found_once() {
    let call = |id: &str, status: &str, text: &str| {
        let content = json!([{ "type": "content", "content": { "type": "text", "text": text } }]);
        let title = "Shell: thread a needle; exit 3";
        json!({ "sessionUpdate": "tool_call", "toolCallId": id, "title": title, "status": status, "content": content })
    };
    let first = Journal::new(STARTED, "agent", "/work/a").open("s").prompt("s", "sew it");
    let first = first.update("s", call("1/a", "failed", "thread a needle; exit 3\nno thread")).end();
    let input = |command: &str| json!({ "command": command }).to_string();
    let again = Journal::new(STARTED + 100, "agent", "/work/a")
        .ask("session/load", json!({ "sessionId": "s", "cwd": "/work/a" }))
        .chunk("s", "user_message", "sew it")
        .update("s", call("2/a", "failed", &input("thread a needle; exit 3")))
        .update("s", call("2/b", "failed", &input("thread another needle")))
        .answer(Value::Null);
    let home = Home::with(&[("a", first), ("b", again)]);
    let said: Vec<String> = home.said("needle").into_iter().map(|hit| hit.3).collect();
    let title = "Shell: thread a needle; exit 3";
    let other = format!("{title}\n{}", input("thread another needle"));
    assert_eq!(said, [other, format!("{title}\nthread a needle; exit 3\nno thread")]);
}

/// Its agent was started again in the same run, and told all before it answered.
#[test]
fn what_is_told_again_in_the_same_journal_is_found_once() {
    let first = Journal::new(STARTED, "agent", "/work/a").open("s").prompt("s", "one needle");
    let again = first.say("s", "a needle in hay").end();
    let again = again.ask("session/load", json!({ "sessionId": "s", "cwd": "/work/a" }));
    let again = again.chunk("s", "user_message", "one needle").say("s", "a needle in hay").answer(json!({}));
    let home = Home::with(&[("a", again.prompt("s", "another needle").end())]);
    let found: Vec<String> = home.said("needle").into_iter().map(|hit| hit.3).collect();
    assert_eq!(found, ["one needle", "a needle in hay", "another needle"]);
}

#[test]
fn what_is_told_again_to_another_command_line_of_the_agent_is_found_once() {
    let hello = |journal: Journal| {
        journal.ask("initialize", json!({})).answer(json!({ "protocolVersion": 1, "agentInfo": { "name": "a" } }))
    };
    let first = hello(Journal::new(STARTED, "agent", "/work/a")).open("s").prompt("s", "the needle");
    let again = hello(Journal::new(STARTED + 100, "agent --fast", "/work/a"))
        .ask("session/load", json!({ "sessionId": "s", "cwd": "/work/a" }))
        .chunk("s", "user_message", "the needle")
        .say("s", "a needle in hay")
        .answer(Value::Null)
        .prompt("s", "more of the needle")
        .end();
    let home = Home::with(&[("a", first.say("s", "a needle in hay").end()), ("b", again)]);
    let found: Vec<(u64, String)> = home.said("needle").into_iter().map(|hit| (hit.1, hit.3)).collect();
    let all = [(2, "more of the needle"), (1, "the needle"), (1, "a needle in hay")];
    assert_eq!(found, all.map(|(turn, text)| (turn, text.to_owned())));
}

/// The session went on elsewhere; each further load tells that again.
#[test]
fn what_only_the_agent_has_told_is_found_once() {
    let first =
        Journal::new(STARTED, "agent", "/work/a").open("s").prompt("s", "the first needle").say("s", "Yes").end();
    let load = |started: u64| {
        let call = json!({ "toolCallId": "t", "title": "sew", "rawInput": { "with": "needle" } });
        let mut told = json!({ "sessionUpdate": "tool_call" });
        call.as_object().unwrap().iter().for_each(|(name, value)| told[name] = value.clone());
        Journal::new(started, "agent", "/work/a")
            .ask("session/load", json!({ "sessionId": "s", "cwd": "/work/a" }))
            .chunk("s", "user_message", "the first needle")
            .say("s", "Yes")
            .chunk("s", "user_message", "a second one, a needle of elsewhere")
            .chunk("s", "agent_thought", "which needle")
            .say("s", "that needle")
            .update("s", told)
            .answer(Value::Null)
    };
    let home = Home::with(&[("a", first), ("b", load(STARTED + 100)), ("c", load(STARTED + 200).prompt("s", "end"))]);
    let found: Vec<String> = home.said("needle").into_iter().map(|hit| hit.3).collect();
    let elsewhere = ["a second one, a needle of elsewhere", "which needle", "that needle", "sew\nneedle"];
    assert_eq!(found, [&elsewhere[..], &["the first needle"]].concat());
    assert_eq!(home.said("elsewhere").len(), 1);
    assert_eq!(home.said("Yes").len(), 1);
}

/// Its agent tells a copy from the beginning, which is that of what it was made of.
#[test]
fn what_a_copy_begins_with_is_found_where_it_was_said() {
    let said = Journal::new(STARTED, "agent", "/work/a").open("s").prompt("s", "a needle").say("s", "in hay").end();
    let copy = |started: u64, of: &str, id: &str, more: &str| {
        let fork = Journal::new(STARTED + started, "agent", "/work/b")
            .ask("session/fork", json!({ "sessionId": of, "cwd": "/work/b" }))
            .answer(json!({ "sessionId": id }));
        let told = fork.ask("session/load", json!({ "sessionId": id, "cwd": "/work/b" }));
        told.chunk(id, "user_message", "a needle").say(id, "in hay").answer(Value::Null).prompt(id, more)
    };
    let loaded = Journal::new(STARTED + 300, "agent", "/work/b")
        .ask("session/load", json!({ "sessionId": "c", "cwd": "/work/b" }))
        .chunk("c", "user_message", "a needle")
        .say("c", "in hay")
        .chunk("c", "user_message", "a needle more")
        .answer(Value::Null)
        .prompt("c", "the end")
        .end();
    let home = Home::with(&[
        ("a", said),
        ("b", copy(100, "s", "c", "a needle more").end()),
        ("c", copy(200, "c", "d", "another needle").end()),
        ("d", loaded),
    ]);
    let found = || home.said("needle").into_iter().map(|hit| hit.3).collect::<Vec<_>>();
    assert_eq!(found(), ["another needle", "a needle more", "a needle"]);
    // Where that is gone, the copies have it, each once.
    fs::remove_file(sessions::journals(home.0.path()).join("a.jsonl")).unwrap();
    assert_eq!(found().iter().filter(|text| *text == "a needle").count(), 1, "{:?}", found());
}

#[test]
fn what_sub_agents_say_do_and_are_told_is_found_in_the_session_that_they_belong_to() {
    let kid = |more: Value| {
        let mut update = json!({ "sessionUpdate": "subagent_update", "sessionId": "kid" });
        more.as_object().unwrap().iter().for_each(|(name, value)| update[name] = value.clone());
        update
    };
    let message = json!({ "sessionUpdate": "session_message", "messageId": "m", "senderSessionId": "s",
        "recipientSessionId": "kid", "content": [{ "type": "text", "text": "bring a lychee" }] });
    let journal = Journal::new(STARTED, "agent", "/work/a")
        .open("s")
        .prompt("s", "fruit")
        .update("s", kid(json!({ "title": "Kid one", "state": { "state": "running" } })))
        .update("s", message)
        .say("kid", "I know the kum")
        .say("kid", "quat")
        .update("kid", json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": "peel a durian" }))
        .end()
        // Without being announced again.
        .prompt("s", "more")
        .say("kid", "and a papaya")
        .update("s", kid(json!({ "state": { "state": "idle" } })))
        .end();
    let home = Home::with(&[("a", journal)]);
    let all = "Kid one\nbring a lychee\nI know the kumquat";
    for (text, turn, want) in [
        ("Kid one", 1, all),
        ("lychee", 1, all),
        ("kumquat", 1, all),
        ("durian", 1, "peel a durian"),
        ("papaya", 2, "and a papaya"),
    ] {
        assert_eq!(home.said(text), [("s".to_owned(), turn, Role::Tool, want.to_owned())], "{text}");
    }
    let named = Query { tool: Some("agent kid one".into()), ..literal("papaya") };
    assert_eq!(home.find(&named).len(), 1);
}

#[test]
fn plans_notices_and_what_only_a_question_says_of_a_call_are_found() {
    let plan = |step: &str| json!({ "sessionUpdate": "plan", "entries": [{ "content": step, "priority": "high", "status": "pending" }] });
    let asked = json!({ "sessionId": "s", "options": [],
        "toolCall": { "toolCallId": "t", "title": "eat", "rawInput": { "what": "durian" } } });
    let asked = json!({ "id": 7, "method": "session/request_permission", "params": asked }).to_string();
    let journal = Journal::new(STARTED, "agent", "/work/a").open("s").prompt("s", "fruit");
    let journal = journal
        .update("s", plan("a rambutan"))
        .update("s", json!({ "sessionUpdate": "agent_message_chunk", "messageId": "plan ", "content": { "type": "text", "text": "a quince" } }))
        .update("s", plan("a lychee"))
        .frame("agent->client", &asked)
        .update("s", json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed" }))
        .update("s", json!({ "sessionUpdate": "unheard_of", "fruit": "kumquat" }))
        .end();
    let home = Home::with(&[("a", journal)]);
    assert_eq!(home.said("rambutan"), [], "the plan is another one now");
    for (text, role) in
        [("lychee", Role::Agent), ("quince", Role::Agent), ("durian", Role::Tool), ("kumquat", Role::Agent)]
    {
        let found: Vec<Role> = home.said(text).into_iter().map(|hit| hit.2).collect();
        assert_eq!(found, [role], "{text}");
    }
}

#[test]
fn much_that_is_found_comes_in_parts_and_in_order() {
    let long = "roof ".repeat(20_000);
    let many = |id: &str, started: u64| {
        let journal = Journal::new(started, "agent", "/work/a").open(id);
        (0..90).fold(journal, |journal, n| journal.prompt(id, &format!("{n} {long}")).end())
    };
    let home = Home::with(&[("1", many("old", STARTED)), ("2", many("new", STARTED + 10_000))]);
    let (mut all, mut parts) = (Vec::new(), 0);
    let problems = search(home.0.path(), &literal("roof"), |hits| {
        let bytes: usize = hits.iter().map(|hit| hit.text.len()).sum();
        assert!(bytes <= MAX_WAITING + long.len() + 10, "{bytes}");
        all.extend(hits.into_iter().map(|hit| (hit.session_id, hit.turn)));
        parts += 1;
        true
    });
    assert_eq!(problems.unwrap(), []);
    let want: Vec<(String, u64)> =
        ["new", "old"].iter().flat_map(|id| (1..=90).map(|n| ((*id).to_owned(), n))).collect();
    assert_eq!(all, want);
    assert!(parts >= 6, "{parts}");
}

#[test]
fn who_has_enough_is_given_no_more() {
    let journals: Vec<(String, Journal)> = (0..20).map(|n| (format!("{n:02}"), conversation())).collect();
    let named: Vec<(&str, Journal)> = journals.into_iter().map(|(n, j)| (&*Box::leak(n.into_boxed_str()), j)).collect();
    let home = Home::with(&named);
    let mut times = 0;
    search(home.0.path(), &literal("roof"), |_| {
        times += 1;
        false
    })
    .unwrap();
    assert_eq!(times, 1);
}

#[test]
fn what_is_shown_in_other_words_or_printed_in_pieces_is_found() {
    let link = json!({ "type": "resource_link", "name": "plan", "uri": "file:///tmp/plan.md" });
    let printed = |data: &str| {
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t",
            "_meta": { "terminal_output": { "terminal_id": "x", "data": data } } })
    };
    let journal = Journal::new(STARTED, "agent", "/work/a").open("s").prompt("s", "-");
    let journal = journal
        .update("s", json!({ "sessionUpdate": "agent_message_chunk", "content": link }))
        .update("s", json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": "Run" }))
        .update("s", printed("three nee"))
        .say("s", "Well")
        .update("s", printed("dles\n"))
        .end();
    let home = Home::with(&[("a", journal)]);
    let role = |query: Query| home.find(&query).into_iter().map(|hit| hit.role).collect::<Vec<_>>();
    for (text, want) in [("link plan", Role::Agent), ("tmp/plan.md", Role::Agent), ("three needles", Role::Tool)] {
        assert_eq!(role(literal(text)), [want], "{text}");
        assert_eq!(role(of(Matcher::regex(&format!("{text}.?")).unwrap())), [want], "{text}");
    }
    assert_eq!(role(of(Matcher::regex(r"e{2}d.{2}s").unwrap())), [Role::Tool], "without a word");
}

#[test]
fn what_a_terminal_of_version_2_printed_is_found() {
    // "one needle\nin pie", "ces\n", "alone in hay\n"
    let terminal = |id: &str, data: &str| json!({ "sessionUpdate": "terminal_update", "terminalId": id, "command": "cat hay", "output": { "data": data } });
    let more = json!({ "sessionUpdate": "terminal_output_chunk", "terminalId": "T", "data": "Y2VzCg==" });
    let shown = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "k", "title": "reads", "kind": "execute",
        "content": [{ "type": "terminal", "terminalId": "T" }] });
    let journal = Journal::new(STARTED, "agent", "/work/a").open("s").prompt("s", "go");
    let journal = journal.update("s", terminal("T", "b25lIG5lZWRsZQppbiBwaWU=")).update("s", more);
    let journal = journal.update("s", shown).update("s", terminal("U", "YWxvbmUgaW4gaGF5Cg==")).end();
    let home = Home::with(&[("a", journal)]);
    for (text, is_of) in [("needle", "reads"), ("pieces", "reads"), ("alone", "cat hay")] {
        let found = home.said(text);
        assert!(matches!(&found[..], [(_, 1, Role::Tool, said)] if said.contains(is_of)), "{text} {found:?}");
    }
}

/// A text as an agent may spell it: `how` decides for each letter.
fn spelt(text: &str, how: &[u8]) -> String {
    let mut out = String::from("\"");
    for (c, how) in text.chars().zip(how.iter().cycle()) {
        let short = match c {
            '"' => "\\\"",
            '\\' => "\\\\",
            '/' if how % 2 == 0 => "\\/",
            '\n' => "\\n",
            _ => "",
        };
        if !short.is_empty() && how % 3 > 0 {
            out.push_str(short);
        } else if !short.is_empty() || c.is_control() || how % 5 == 0 {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let unit = format!("\\u{unit:04X}");
                out.push_str(&unit);
            }
        } else {
            out.push(c);
        }
    }
    out.push('"');
    out
}

proptest! {
    #![proptest_config(crate::random(200))]
    #[test]
    fn what_was_said_is_found_however_it_is_spelt_and_cut(
        text in "[a-c\"\\\\/\\n é😀]{1,30}",
        cuts in proptest::collection::vec(0..31usize, 0..6),
        how in proptest::collection::vec(1..30u8, 1..40),
        (from, to) in (0..30usize, 1..31usize),
        sort in 0..4usize,
    ) {
        let chars: Vec<char> = text.chars().collect();
        let from = from % chars.len();
        let to = from + 1 + to % (chars.len() - from);
        let needle: String = chars[from..to].iter().collect();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(chars.len())).chain([0, chars.len()]).collect();
        cuts.sort_unstable();
        let mut journal = Journal::new(STARTED, "agent", "/work/a").open("s").prompt("s", "-");
        for (n, pair) in cuts.windows(2).enumerate() {
            let piece = spelt(&chars[pair[0]..pair[1]].iter().collect::<String>(), &how);
            let kind = if sort == 0 { "agent_thought_chunk" } else { "agent_message_chunk" };
            let id = if sort == 1 { "\"messageId\":\"m\"," } else { "" };
            let content = format!("\"content\":{{\"type\":\"text\",\"text\":{piece}}}");
            let update = format!("{{\"sessionUpdate\":\"{kind}\",{id}{content}}}");
            let blank = if sort == 2 && n % 2 == 0 { " " } else { "" };
            let frame = format!("{{\"method\":\"session/update\",\"params\":{{\"sessionId\":{blank}\"s\",\"update\":{update}}}}}");
            journal = journal.frame("agent->client", &frame);
        }
        let home = Home::with(&[("a", journal.end())]);
        let said = home.said(&needle);
        prop_assert_eq!(said.iter().filter(|hit| hit.3 == text).count(), 1, "{:?} in {:?}: {:?}", needle, text, said);
    }
}

proptest! {
    #![proptest_config(crate::random(150))]
    #[test]
    fn an_expression_finds_what_it_finds_when_everything_is_read(
        regex in clues::tests::regexes(),
        said in proptest::collection::vec((0..4usize, "[abkK12 \"\\\\/\n\té😀]{0,6}"), 0..12),
        how in proptest::collection::vec(1..30u8, 1..40),
    ) {
        let Ok(matcher) = Matcher::regex(&regex) else { return Ok(()) };
        let mut journal = Journal::new(STARTED, "agent", "/work/a").open("s").prompt("s", "-");
        for (sort, text) in said {
            let text = spelt(&text, &how);
            let update = match sort {
                0 => format!(r#""sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":{text}}}"#),
                1 => format!(r#""sessionUpdate":"tool_call","toolCallId":"t","title":{text},"rawInput":[{text}]"#),
                2 => format!(
                    r#""sessionUpdate":"tool_call_update","toolCallId":"t","_meta":{{"terminal_output":{{"terminal_id":"x","data":{text}}}}}"#
                ),
                _ => {
                    let prompt = format!(r#"{{"sessionId":"s","prompt":[{{"type":"text","text":{text}}}]}}"#);
                    journal = journal.end();
                    journal.calls += 1;
                    let id = journal.calls - 1;
                    let frame = format!(r#"{{"id":{id},"method":"session/prompt","params":{prompt}}}"#);
                    journal = journal.frame("client->agent", &frame);
                    continue;
                }
            };
            let frame = format!(r#"{{"method":"session/update","params":{{"sessionId":"s","update":{{{update}}}}}}}"#);
            journal = journal.frame("agent->client", &frame);
        }
        let home = Home::with(&[("a", journal.end())]);
        let quick = home.find(&of(matcher));
        let slow = home.find(&of(Matcher { clues: Clues::None, ..Matcher::regex(&regex).unwrap() }));
        prop_assert_eq!(quick, slow, "{}", regex);
    }
}

#[test]
fn what_was_run_and_written_through_the_client_is_found_once() {
    let shows = json!([{ "type": "terminal", "terminalId": "term-1" }]);
    let call = |id: &str, title: &str, content: Value| {
        let kind = if content[0]["type"] == "diff" { "edit" } else { "execute" };
        json!({ "sessionUpdate": "tool_call", "toolCallId": id, "title": title, "kind": kind, "content": content })
    };
    let diff =
        json!([{ "type": "diff", "path": "/work/a/tile.rs", "oldText": null, "newText": "let tile = \"red\";\n" }]);
    let journal = Journal::new(STARTED, "agent", "/work/a")
        .open("s")
        .prompt("s", "look")
        // Shown by a call, and by none.
        .runs(0, "term-1", "make roof")
        .update("s", call("t", "Make it", shows))
        .printed("term-1", "the roof is \"leaky\"\n")
        .runs(1, "term-2", "count nails")
        .printed("term-2", "seven nails\n")
        // One that ends in a later turn.
        .runs(2, "term-3", "sleep")
        .end()
        .prompt("s", "write")
        .printed("term-3", "woken\n")
        .update("s", call("w", "Write tile", diff))
        .writes(3, "/work/a/tile.rs", "let tile = \"red\";\n")
        .replies(3, "result", json!({}))
        .writes(4, "/work/a/beam.rs", "let beam = \"oak\";\n")
        .replies(4, "result", Value::Null)
        .writes(5, "/work/a/door.rs", "let door = \"lead\";\n")
        .replies(5, "error", json!({ "code": -32000, "message": "refused" }))
        .end();
    let home = Home::with(&[("a", journal)]);
    let once = |text: &str, turn: u64, whole: &str| {
        let hit = ("s".to_owned(), turn, Role::Tool, whole.to_owned());
        assert_eq!(home.said(text), [hit], "{text}");
    };
    once("is \"leaky\"", 1, "Make it\nmake roof --quick\nthe roof is \"leaky\"\n");
    once("make roof", 1, "Make it\nmake roof --quick\nthe roof is \"leaky\"\n");
    once("seven nails", 1, "count nails --quick\nseven nails\n");
    once("woken", 2, "woken\n");
    once("= \"red\"", 2, "Write tile\n/work/a/tile.rs\nlet tile = \"red\";\n");
    once("= \"oak\"", 2, "/work/a/beam.rs\nlet beam = \"oak\";\n");
    assert_eq!(home.said("= \"lead\""), [], "it was not written");
    // So are those that are looked for in another way.
    let regex = home.find(&of(Matcher::regex("n[a]ils\\n$").unwrap()));
    assert_eq!(regex.len(), 1);
    let file = |file: &str| Query { file: Some(file.into()), ..literal("let") };
    assert_eq!(["tile.rs", "beam.rs", "door.rs"].map(|name| home.find(&file(name)).len()), [1, 1, 0]);
    let tool = |tool: &str| Query { tool: Some(tool.into()), ..literal("") };
    assert_eq!(["write", "run"].map(|name| home.find(&tool(name)).len()), [2, 3]);
}
