//! What is exported says what was said and nothing else, for any text.

use super::entries::{Item, Part, Who};
use super::*;
use crate::store::sessions::Figures;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

fn known() -> Known {
    Known {
        session_id: "s-1".into(),
        agent: "A <b>gent".into(),
        command: "agent".into(),
        cwd: "/home/me/work".into(),
        branch: None,
        title: None,
        titled: None,
        first_prompt: None,
        last_prompt: None,
        created: Duration::from_secs(1_790_000_000),
        opened: Duration::from_secs(1_790_000_000),
        updated: Duration::ZERO,
        turns: 1,
        asked: None,
        state: sessions::State::Ended,
        can: sessions::Can::default(),
        figures: Figures::default(),
        totals: None,
        own_totals: None,
        journal: PathBuf::from("7-0-1.jsonl"),
        journals: Vec::new(),
        bytes: 0,
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
    }
}

fn shown(format: Format, title: &str, known: &Known, items: &[Item]) -> String {
    let mut document = Document::new(format);
    let head = document.head(title, known);
    let items: String = items.iter().map(|item| document.item(item)).collect();
    head + &items + document.end()
}

fn item(who: Who, title: &str, part: Part) -> Item {
    Item { who, at: Duration::from_secs(3), title: title.into(), parts: vec![part] }
}

fn prose(text: &str) -> Part {
    Part::Prose(text.into())
}

#[test]
fn markdown_has_each_entry_under_a_heading_and_no_text_gets_out_of_its_place() {
    let items = [
        item(Who::Person, "", prose("# not a heading <script>")),
        item(Who::Agent, "", prose("## You\n<img src=x> `<b>` <b>\nYou\n---\n```html\n<i>\n## You\n")),
        item(Who::Tool, "run `x` <b>", Part::Code("diff", "+a\n```\n# You".into())),
    ];
    let text = shown(Format::Markdown, "A [title](x) <b>", &known(), &items);
    let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("# ") || line.starts_with("## ")).collect();
    // The last two are inside of blocks.
    let want = ["# A \\[title\\](x) \\<b\\>", "## You", "## Agent", "## You", "## Tool: run \\`x\\` \\<b\\>", "# You"];
    assert_eq!(headings, want);
    assert!(text.contains("#### You\n&lt;img src=x> `<b>` &lt;b>\nYou\n\n---\n```html\n<i>\n## You\n```\n"), "{text}");
    assert!(text.contains("````diff\n+a\n```\n# You\n````\n"), "{text}");
    assert!(text.contains("\\# not a heading \\<script\\>  \n"), "{text}");
}

#[test]
fn no_markdown_of_an_agent_gets_out_of_its_place() {
    for evil in [
        "\\<script>alert(1)</script>",
        "<div>\n```\n</div>\n<script>",
        "- a\n  ```\n  x\n\n<script>",
        "> ```\n<script>",
        "    ```\n<script>\n    ```\n",
        "| a | b |\n|---|---|\n| `<script> | x` |",
        "- # high\n> # high\n\n# high\nhigh\n===\nhigh\n---\n",
        "> high\n> ---\n- high\n  ===\n",
        "~~~~\n<script>\n~~~\n## You",
        "- ```\n  code",
        "````\n```",
        "`<script>\n\n`",
        "![i](http://evil/x.png)",
        "![i][r] and ![r] and [![i](http://evil)](https://fine)\n\n[r]: http://evil/x.png",
        "[a](javascript:alert(1)) [b](JavaScript&colon;alert(1)) [c][r] [r]\n\n[r]: java&#10;script:alert(1)",
        "[a](data:text/html,x) [b](vscode:x) [c](file:///etc/passwd) <javascript:x>",
        "| a |\n|---|\n| ![i](http://evil) [a](javascript:x) |",
    ] {
        let text = shown(
            Format::Markdown,
            "t",
            &known(),
            &[item(Who::Agent, "", prose(evil)), item(Who::Person, "", prose("x"))],
        );
        for options in [pulldown_cmark::Options::empty(), pulldown_cmark::Options::ENABLE_TABLES] {
            let mut headings = Vec::new();
            for (event, range) in pulldown_cmark::Parser::new_ext(&text, options).into_offset_iter() {
                use pulldown_cmark::{Event, HeadingLevel, Tag};
                assert!(!matches!(event, Event::Html(_) | Event::InlineHtml(_)), "{evil:?}: {text}");
                assert!(!matches!(event, Event::Start(Tag::Image { .. })), "{evil:?}: {text}");
                if let Event::Start(Tag::Link { dest_url, .. }) = &event {
                    assert!(dest_url.starts_with("http"), "{evil:?}: {text}");
                }
                if matches!(event, Event::Start(Tag::Heading { level, .. }) if level <= HeadingLevel::H2) {
                    headings.push(text[range].trim_end().to_owned());
                }
            }
            assert_eq!(headings, ["# t", "## Agent", "## You"], "{evil:?}: {text}");
        }
    }
    let fine = "[a](https://b) [c](src/c.rs:3) [d](#e) `![i](http://evil)`\n";
    assert!(shown(Format::Markdown, "t", &known(), &[item(Who::Agent, "", prose(fine))]).contains(fine));
    let code = "- a\n  ```\n  if a < b\n  ```\n";
    assert!(shown(Format::Markdown, "t", &known(), &[item(Who::Agent, "", prose(code))]).contains(code));
}

#[test]
fn html_has_every_text_escaped_and_fetches_nothing() {
    let evil = "</pre></style><script>alert('1')</script><img src=\"http://x\" onerror=x>&amp;";
    let items = [item(Who::Agent, evil, prose(evil)), item(Who::Tool, "t", Part::Code("", evil.into()))];
    let text = shown(Format::Html, evil, &known(), &items);
    for tag in ["<script", "<img", "</pre></style>", "onerror=x>", "A <b>"] {
        assert!(!text.contains(tag), "{tag}: {text}");
    }
    assert!(text.contains("&lt;script&gt;alert(&#39;1&#39;)") && text.contains("default-src 'none'"));
    assert_eq!(text.matches("<pre").count(), 2);
    let control = "a\u{1b}]0;x\u{7}\u{9b}31m\u{202e}b";
    let of = Known { session_id: control.into(), agent: control.into(), ..known() };
    let text = shown(Format::Html, control, &of, &[item(Who::Tool, control, prose(control))]);
    assert!(!text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{text:?}");
}

#[test]
fn a_cast_is_a_recording_of_a_terminal_in_the_order_of_time() {
    let mut items = vec![item(Who::Person, "", prose("a\nb")), item(Who::Agent, "", prose("c"))];
    items[1].at = Duration::from_secs(1);
    let text = shown(Format::Cast, "title", &known(), &items);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["version"], &lines[0]["timestamp"]), (&json!(2), &json!(1_790_000_000)));
    assert_eq!(lines[1][2], "\u{1b}[1mYou\u{1b}[0m \r\na\r\nb\r\n\r\n");
    assert_eq!((&lines[1][0], &lines[2][0]), (&json!(3.0), &json!(3.0)));
}

#[test]
fn what_looks_like_a_secret_is_left_out_and_the_rest_stays() {
    let redaction = Redaction::new(Some(Path::new("/home/me")), []);
    for secret in [
        "sk-abcdefghijklmnop1234",
        "ghp_0123456789abcdefABCD",
        "AKIAABCDEFGHIJKLMNOP",
        "eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl",
        "Authorization: Bearer abc.def-ghi_123",
        "API_KEY=hunter2hunter2",
        "\"password\": \"hunter2hunter2\"",
        "https://me:hunter2@host/x",
        "-----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----END RSA PRIVATE KEY-----",
    ] {
        let said = redaction.text(&format!("before {secret} after"));
        assert!(said.contains("[redacted]") && said.contains("before") && said.contains("after"), "{said}");
        assert!(!said.contains("hunter2") && !said.contains(secret), "{said}");
    }
    for plain in ["the token of my love", "a key: b", "risk-averse people skip tasks", "sk-short"] {
        assert_eq!(redaction.text(plain), plain);
    }
    assert_eq!(redaction.text("/home/me/work"), "~/work");
}

#[test]
fn a_file_is_never_written_over_and_is_the_owners() {
    use std::os::unix::fs::PermissionsExt as _;
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("f");
    let write = |file: &Path, text: &str| write_new(file, |to| Ok(to.write_all(text.as_bytes())?));
    write(&file, "one").unwrap();
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(write(&file, "two").unwrap_err().words().0.contains("not written over"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one");
    let refused = |below: &str| match write(&temp.path().join(below), "x") {
        Err(Fault::Asked(Usage(words))) => words,
        other => panic!("{other:?}"),
    };
    let gone = temp.path().join("gone");
    assert_eq!(
        refused("gone/f"),
        format!("there is no directory {}; make it first, or name another file", gone.display())
    );
    assert_eq!(refused("f/g"), format!("{} is no directory; name another file", file.display()));
    let full = write_new(&temp.path().join("full"), |_| Err(io::Error::from(io::ErrorKind::StorageFull).into()));
    assert_eq!(ended(full.map(|()| code::OK)), Ok(code::OWN_FAULT));
    assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 1, "nothing else stays");
}

#[test]
fn a_file_in_the_directory_of_an_open_session_is_told_from_others() {
    let temp = tempfile::tempdir().unwrap();
    let top = temp.path().canonicalize().unwrap();
    for dir in ["shop/src", "shop-2"] {
        std::fs::create_dir_all(top.join(dir)).unwrap();
        std::fs::write(top.join(dir).join("f"), "").unwrap();
    }
    let open = [top.join("shop")];
    assert_eq!(around(&open, &top.join("shop-2/../shop/src/f")), Some(open[0].as_path()));
    assert_eq!(around(&open, &top.join("shop-2/f")), None);
    assert_eq!(around(&[], &top.join("shop/src/f")), None);
}

#[test]
fn a_text_that_was_cut_says_how_much_is_missing() {
    use crate::model::entry::{Body, Entry, Message};
    use crate::model::ids::{EntryId, TurnId};
    let message = Message { text: "as far as it is known".into(), dropped: 3 << 20, ..Message::default() };
    let (body, at) = (Body::Agent(message), Duration::ZERO);
    let entry = Entry { id: EntryId(0), rev: 0, finished: true, turn: TurnId(1), at, body };
    let past = Past { entries: vec![entry], ..Past::default() };
    let parts: Vec<Part> = items(&past).flat_map(|item| item.parts).collect();
    let missing = Part::Prose(format!("… {} more are not kept", human::bytes(3 << 20)));
    assert_eq!(parts, [Part::Prose("as far as it is known".into()), missing]);
}

#[test]
fn a_call_says_what_it_says_on_the_screen() {
    use crate::model::entry::{Body, Entry};
    use crate::model::ids::{EntryId, TurnId};
    use crate::model::tool::{Mark, ToolCall, ToolStatus};
    let mut past = Past::default();
    let mut say = |id: &str, change: &dyn Fn(&mut ToolCall)| {
        let mut tool = ToolCall::new(id.into(), Duration::ZERO);
        tool.title = id.to_owned();
        change(&mut tool);
        let (body, at) = (Body::Tool(tool.into()), Duration::ZERO);
        past.entries.push(Entry { id: EntryId(0), rev: 0, finished: true, turn: TurnId(1), at, body });
    };
    say("kid/", &|tool| (tool.status, tool.mark) = (ToolStatus::InProgress, Some(Mark::Cancelled)));
    say("a", &|tool| (tool.parent, tool.refused, tool.mark) = (Some("kid/".into()), true, Some(Mark::NoFinalStatus)));
    say("b", &|tool| (tool.status, tool.allowed) = (ToolStatus::Completed, true));
    say("c", &|tool| (tool.status, tool.refused, tool.allowed) = (ToolStatus::Failed, true, true));
    say("d", &|tool| tool.mark = Some(Mark::AgentGone));
    let titles: Vec<String> = items(&past).map(|item| item.title).collect();
    let want = [
        "kid/ (cancelled)",
        "kid/: a (refused by you)",
        "b (completed, you allowed it)",
        "c (failed, refused by you)",
        "d (agent ended)",
    ];
    assert_eq!(titles, want);
}

#[test]
fn what_the_client_has_told_the_agent_is_not_in_the_persons_name() {
    use crate::model::entry::{Body, Entry, UserMessage, UserState};
    use crate::model::ids::{EntryId, TurnId};
    let mut past = Past::default();
    for (text, state) in [("do it", UserState::Sent), ("Refused", UserState::OfClient)] {
        let (text, links) = (text.into(), Vec::new());
        let body = Body::User(UserMessage { text, links, state, message_id: None, sent: None });
        let at = Duration::ZERO;
        past.entries.push(Entry { id: EntryId(0), rev: 0, finished: true, turn: TurnId(1), at, body });
    }
    let items: Vec<Item> = items(&past).collect();
    let text = shown(Format::Markdown, "t", &known(), &items);
    assert!(text.contains("## You\n\ndo it") && text.contains("## Client\n\nRefused"), "{text}");
}

/// Little of a file is held while it is read, and it need not be laid out as we do.
#[test]
fn an_export_is_taken_in_line_by_line() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("f");
    let take = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let taken = reading::of_export(&file, temp.path());
        taken.map(|taken| {
            let read =
                |one: reading::Taken| (one.name, std::fs::read_to_string(one.temp.into_inner().unwrap()).unwrap());
            taken.map(|all| all.into_iter().map(read).collect::<Vec<_>>())
        })
    };
    let text = r#"{"journals":[{"lines":[{"v":2,"started":1},{"a":
        [1, 2]},{"b":"x y"}],"name":"17-1"},{"name":"../x","lines":[{"v":2}]},{"lines":[],"name":"e"}],
        "other":{"deep":[1]},"kind":"acp-tui conversation","v":1}"#;
    let all = take(text).unwrap().unwrap();
    let head = r#"{"v":2,"started":1,"imported":true}"#;
    assert_eq!(all[0], ("imported-17-1.jsonl".into(), format!("{head}\n{{\"a\":[1,2]}}\n{{\"b\":\"x y\"}}\n")));
    assert!(all.len() == 2 && all[1].0.starts_with("imported-") && !all[1].0.contains('/'), "{all:?}");
    assert!(take(r#"{"dir":"agent->client","frame":{}}"#).unwrap().is_none(), "a recording");
    assert!(take("words").unwrap().is_none());
    let faults =
        [text.replace("\"v\":1}", "\"v\":2}"), text[..text.len() - 1].to_owned(), text.replace("{\"v\":2,", "1,{")];
    for fault in faults {
        assert!(matches!(take(&fault), Err(Fault::Asked(_))), "{fault}");
    }
    assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 1, "nothing stays");
}

/// A conversation of so many turns as the lines of its journal.
fn turns(count: u64, last: &str) -> Vec<Value> {
    let frame = |dir: &str, frame: Value| json!({ "t": 1, "dir": dir, "frame": frame });
    let mut lines = vec![
        json!({ "v": 2, "started": 1, "cwd": "/work", "command": "agent", "codec": "acp-1" }),
        frame("client->agent", json!({ "id": 0, "method": "session/new", "params": { "cwd": "/work" } })),
        frame("agent->client", json!({ "id": 0, "result": { "sessionId": "s" } })),
    ];
    for n in 1..=count {
        let said = if n == count { last } else { "go on" };
        let prompt = json!({ "sessionId": "s", "prompt": [{ "type": "text", "text": said }] });
        let chunk =
            json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": n.to_string() } });
        let answer = json!({ "sessionId": "s", "update": chunk });
        lines.push(frame("client->agent", json!({ "id": n, "method": "session/prompt", "params": prompt })));
        lines.push(frame("agent->client", json!({ "method": "session/update", "params": answer })));
        lines.push(frame("agent->client", json!({ "id": n, "result": { "stopReason": "end_turn" } })));
    }
    lines
}

struct Importing {
    state: tempfile::TempDir,
}

impl Importing {
    fn new() -> Self {
        Self { state: tempfile::tempdir().unwrap() }
    }

    fn import(&self, text: &str) -> Result<(), String> {
        let file = self.state.path().join("file");
        std::fs::write(&file, text).unwrap();
        import::take_in(self.state.path(), &file).map(drop).map_err(|fault| fault.words().0)
    }

    fn export(&self, name: &str, lines: &[Value]) -> Result<(), String> {
        let journals = json!([{ "name": name, "lines": lines }]);
        self.import(&json!({ "v": 1, "kind": "acp-tui conversation", "journals": journals }).to_string())
    }

    /// A recording has no more than the frames.
    fn recording(&self, lines: &[Value]) -> Result<(), String> {
        self.import(&lines[1..].iter().map(|line| line.to_string() + "\n").collect::<String>())
    }

    /// Where it comes from, turns, and what was asked last.
    fn listed(&self) -> Vec<(&'static str, u64, String)> {
        let all = sessions::list(self.state.path()).unwrap().sessions;
        all.into_iter().map(|known| (known.source(), known.turns, known.last_prompt.unwrap_or_default())).collect()
    }
}

#[test]
fn what_a_later_export_has_more_is_taken_in_once() {
    let lab = Importing::new();
    for (count, there) in [(1, 1), (3, 3), (3, 3), (2, 3), (4, 4)] {
        lab.export("7-0-1", &turns(count, "go on")).unwrap();
        assert_eq!(lab.listed(), [("imported", there, "go on".to_owned())], "after {count}");
    }
    // It has gone on in two ways: neither is given up for the other.
    let why = lab.export("7-0-1", &turns(4, "something else")).unwrap_err();
    assert!(why.contains("imported-7-0-1") && why.contains("--remove"), "{why}");
    assert_eq!(lab.listed(), [("imported", 4, "go on".to_owned())]);
}

/// A later run of the same conversation.
fn later(started: u64, asked: &str) -> Vec<Value> {
    let frame = |dir: &str, frame: Value| json!({ "t": 1, "dir": dir, "frame": frame });
    let load = json!({ "sessionId": "s", "cwd": "/work" });
    let prompt = json!({ "sessionId": "s", "prompt": [{ "type": "text", "text": asked }] });
    vec![
        json!({ "v": 2, "started": started, "cwd": "/work", "command": "agent", "codec": "acp-1" }),
        frame("client->agent", json!({ "id": 0, "method": "session/load", "params": load })),
        frame("agent->client", json!({ "id": 0, "result": null })),
        frame("client->agent", json!({ "id": 1, "method": "session/prompt", "params": prompt })),
        frame("agent->client", json!({ "id": 1, "result": { "stopReason": "end_turn" } })),
    ]
}

#[test]
fn what_went_on_in_two_ways_in_later_runs_is_not_put_together() {
    let lab = Importing::new();
    let export = |runs: &[(&str, Vec<Value>)]| {
        let journals: Vec<Value> = runs.iter().map(|(name, lines)| json!({ "name": name, "lines": lines })).collect();
        lab.import(&json!({ "v": 1, "kind": "acp-tui conversation", "journals": journals }).to_string())
    };
    let first = || ("7-0-1", turns(1, "begin"));
    export(&[first(), ("8-0-1", later(8, "here"))]).unwrap();
    let why = export(&[first(), ("9-0-1", later(9, "there"))]).unwrap_err();
    assert!(why.contains("went on in another way") && why.contains("--remove imported-8-0-1"), "{why}");
    assert_eq!(lab.listed(), [("imported", 2, "here".to_owned())]);
    // What goes on behind all of it does.
    export(&[first()]).unwrap();
    export(&[first(), ("8-0-1", later(8, "here")), ("9-0-1", later(9, "further"))]).unwrap();
    assert_eq!(lab.listed(), [("imported", 3, "further".to_owned())]);
}

#[test]
fn what_a_later_recording_has_more_is_taken_in_once() {
    let lab = Importing::new();
    for (count, there) in [(1, 1), (3, 3), (3, 3), (2, 3), (4, 4)] {
        lab.recording(&turns(count, "go on")).unwrap();
        assert_eq!(lab.listed(), [("imported", there, "go on".to_owned())], "after {count}");
    }
    // As many turns, which begin and end with the same words, and yet not the same.
    let mut other = turns(4, "go on");
    other[7]["frame"]["params"]["update"]["content"]["text"] = "another answer".into();
    lab.recording(&other).unwrap();
    assert_eq!(lab.listed().len(), 2, "{:?}", lab.listed());
}

#[test]
fn what_was_exported_from_ones_own_journal_comes_in_where_that_has_it_no_more() {
    let lab = Importing::new();
    let own = sessions::journals(lab.state.path()).join("7-0-1.jsonl");
    let put = |lines: &[Value]| {
        std::fs::create_dir_all(own.parent().unwrap()).unwrap();
        std::fs::write(&own, lines.iter().map(|line| line.to_string() + "\n").collect::<String>()).unwrap();
    };
    // Others are in the journal as well.
    let mut all = turns(2, "go on");
    all.insert(5, json!({ "t": 1, "dir": "agent->client", "frame": { "method": "session/update", "params": { "sessionId": "x" } } }));
    put(&all);
    lab.export("7-0-1", &turns(2, "go on")).unwrap();
    lab.export("7-0-1", &turns(1, "go on")).unwrap();
    lab.recording(&turns(2, "go on")).unwrap();
    assert_eq!(lab.listed(), [("ours", 2, "go on".to_owned())]);
    lab.export("7-0-1", &turns(3, "go on")).unwrap();
    let mut listed = lab.listed();
    listed.sort();
    assert_eq!(listed, [("imported", 3, "go on".to_owned()), ("ours", 2, "go on".to_owned())]);
}
