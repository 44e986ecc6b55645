use super::*;
use crate::model::agent::Told;
use crate::model::changes::Totals;
use crate::model::draft::Sent;
use crate::model::event::{Cans, Listed};
use crate::store::drafts;
use crate::store::prompts::Prompts;
use crate::store::sessions::{Can, Figures, Known};
use serde_json::{Value, json};
use std::path::PathBuf;

const NOW: Duration = Duration::from_secs(1_000_000);

fn row(id: &str, stem: &str, ago: u64) -> Row {
    let updated = NOW.saturating_sub(Duration::from_secs(ago));
    let journal = PathBuf::from(format!("{stem}.jsonl"));
    let known = Known {
        session_id: id.into(),
        agent: "demo".into(),
        command: "demo --acp".into(),
        cwd: "/home/me/project".into(),
        branch: None,
        title: None,
        titled: None,
        first_prompt: Some("Mend\nthe \u{1b}[2Jroof".into()),
        last_prompt: None,
        created: updated,
        opened: updated,
        updated,
        turns: 2,
        asked: None,
        state: State::Ended,
        can: Can { load: true, delete: true, ..Can::default() },
        figures: Figures::default(),
        totals: None,
        own_totals: None,
        journals: vec![journal.clone()],
        journal,
        bytes: 2_500_000,
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
    Row::of_journal(known)
}

fn words(line: &str) -> Vec<&str> {
    line.split("  ").map(str::trim).filter(|word| !word.is_empty()).collect()
}

#[test]
fn one_row_for_each_conversation_with_its_changes_beside_it() {
    let totals = Totals { added: 12, removed: 3, files: 2, pending: 1 };
    let (first, mut open, mut broken) = (row("first", "9-0", 5), row("日本", "8-0", 90), row("last", "7-0", 7200));
    open.known.state = State::Open;
    open.known.title = Some("A title".into());
    // Its agent has the turns.
    (open.known.turns, open.known.is_older) = (0, true);
    broken.known.state = State::Interrupted;
    let rows = [
        (&first, Ok(Some(totals)), 2_500_000),
        (&open, Ok(None), 5),
        (&broken, Err("open in another acp-tui".to_owned()), 2000),
    ];
    let said = table(&rows, NOW, Some(Path::new("/home/me")), None);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(words(lines[0]), ["session", "used", "agent", "directory", "turns", "changes", "size", "about"]);
    let changes = "+12 −3 in 2 files · 1 to review";
    let about = "Mend the roof";
    assert_eq!(words(lines[1]), ["first", "just now", "demo", "~/project", "2", changes, "2.5 MB", about]);
    assert_eq!(words(lines[2]), ["日本", "open", "demo", "~/project", "5 B", "A title"]);
    let named = "7-0 (id `last`)";
    let why = "(open in another acp-tui)";
    assert_eq!(words(lines[3]), [named, "2 h ago, interrupted", "demo", "~/project", "2", why, "2 kB", about]);
    assert!(!said.contains('\u{1b}') && lines.last().unwrap().contains("--remove"), "{said:?}");
    // Columns stand below each other, wide characters too.
    let column = |line: &str, word: &str| str_width(&line[..line.find(word).unwrap()]);
    assert_eq!(column(lines[0], "used"), column(lines[2], "open"));
    assert_eq!(column(lines[0], "size"), column(lines[1], "2.5 MB"));
}

#[test]
fn rows_have_room_on_the_terminal_and_the_name_of_a_session_stays_whole() {
    let id = "0198c0de-1234-4567-89ab-0123456789ab";
    let mut long = row(id, "9-0", 7200);
    long.known.state = State::Interrupted;
    long.known.agent = "A long name of an agent".into();
    long.known.cwd = "/home/me/a/directory/that/is/far/below/project".into();
    long.known.title = Some("A long title of what it is about, with 日本 in it".into());
    let totals = Totals { added: 3360, removed: 120, files: 7, pending: 6 };
    let rows = [(&long, Ok(Some(totals)), 857_000), (&row("short", "8-0", 5), Ok(None), 5)];
    let home = Some(Path::new("/home/me"));
    let whole = table(&rows, NOW, home, None);
    assert_eq!(table(&rows, NOW, home, Some(400)), whole);
    for columns in 36..300 {
        let said = table(&rows, NOW, home, Some(columns));
        let (list, _) = said.split_once("\n\n").unwrap();
        assert!(list.lines().all(|line| str_width(line) <= columns), "{columns}:\n{said}");
        assert!(list.lines().nth(1).unwrap().starts_with(id), "{columns}:\n{said}");
        let starts: Vec<_> = list.lines().map(|line| words(line).len()).collect();
        assert_eq!(starts[0], starts[1], "{columns}:\n{said}");
    }
    assert!(table(&rows, NOW, home, Some(80)).lines().all(|line| str_width(line) <= 80));
    let wide = table(&rows, NOW, home, Some(160));
    let line = wide.lines().nth(1).unwrap();
    assert!(line.contains("below/project") && line.contains("A long title") && line.contains("857 kB"), "{wide}");
    // A terminal that has no room for the name has none for the rest.
    assert_eq!(table(&rows, NOW, home, Some(10)).lines().nth(1), Some(id));
}

#[test]
fn the_json_has_the_members_that_scripts_rely_on_whatever_is_known() {
    let totals = Totals { added: 12, removed: 3, files: 2, pending: 1 };
    let one = serde_json::to_value(Item::of(&row("one", "9-0", 0), &Ok(Some(totals)))).unwrap();
    let want = json!({
        "session_id": "one", "agent": "demo", "command": "demo --acp", "cwd": "/home/me/project", "branch": null,
        "title": null, "first_prompt": "Mend\nthe \u{1b}[2Jroof", "last_prompt": null,
        "created": "1970-01-12T13:46:40Z", "updated": "1970-01-12T13:46:40Z", "turns": 2, "state": "ended",
        "source": "ours", "can": ["load", "delete"],
        "thread": null, "changes": { "added": 12, "removed": 3, "files": 2, "pending": 1 }, "bytes": 2_500_000,
    });
    assert_eq!(one, want);
    let members = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let unknown = serde_json::to_value(Item::of(&row("one", "9-0", 0), &Err("locked".into()))).unwrap();
    assert_eq!((members(&unknown), &unknown["changes"]), (members(&want), &Value::Null));
}

#[test]
fn two_threads_write_the_list_that_one_would_write() {
    for count in 0..6 {
        let rows: Vec<Row> = (0..count).map(|at| row(&format!("{at}\u{202e}"), &format!("{at}-0-0"), at)).collect();
        let items: Vec<Item<'_>> = rows.iter().map(|row| Item::of(row, &row.changes())).collect();
        let sessions = serde_json::to_value(&items).unwrap();
        let text = document(&rows);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), json!({ "v": 2, "sessions": sessions }));
        let whole = |list: &str| format!("{{\n  \"v\": 2,\n  \"sessions\": {list}\n}}\n");
        assert_eq!(text, whole(json::text(&items).trim_end().replace('\n', "\n  ").as_str()));
    }
}

#[test]
fn a_session_that_cannot_be_named_by_its_id_stands_under_the_name_it_is_stored_by() {
    let long = "x".repeat(100_000);
    let ids = ["last", "all", "", "-y", "a\nb", &long, "plain"];
    let rows: Vec<Row> = ids.iter().enumerate().map(|(n, id)| row(id, &format!("{n}-0-0"), 0)).collect();
    let cells: Vec<_> = rows.iter().map(|row| (row, Ok(None), 0)).collect();
    let said = table(&cells, NOW, None, None);
    let names: Vec<&str> = said.lines().skip(1).take(ids.len()).map(|line| line.split("  ").next().unwrap()).collect();
    let shortened = format!("5-0-0 (id `{}…`)", &long[..47]);
    let want = [
        "0-0-0 (id `last`)",
        "1-0-0 (id `all`)",
        "2-0-0 (id ``)",
        "3-0-0 (id `-y`)",
        "4-0-0 (id `a⟨U+000A⟩b`)",
        &shortened,
        "plain",
    ];
    assert_eq!(names, want);
    // Nor does the name of an agent, or what it is about, make it wide.
    let mut odd = row("x", "9-0-0", 0);
    odd.known.agent = "\u{1b}]0;x\u{7}A".repeat(100_000);
    odd.known.title = Some("T".repeat(100_000));
    assert!(table(&[(&odd, Ok(None), 0)], NOW, None, None).lines().all(|line| str_width(line) < 250));
}

#[test]
fn where_there_is_nothing_it_says_what_to_do() {
    assert!(nothing(0, true, None).contains("begins one"));
    assert!(nothing(3, false, None).contains("`--all` lists 3"));
    assert!(nothing(3, false, Some("x")).contains("`--all`"));
    assert!(nothing(3, true, Some("x")).contains("acp-tui search"));
}

/// What was imported keeps its id, and so has that of ours once it has gone on here.
#[test]
fn an_imported_conversation_whose_id_is_ours_is_named_as_it_is_stored() {
    let (ours, mut imported) = (row("one", "9-0", 5), row("one", "imported-8-0", 90));
    imported.known.is_imported = true;
    let named = |rows: &[&Row]| {
        let rows: Vec<_> = rows.iter().map(|row| (*row, Ok(None), 5)).collect();
        let said = table(&rows, NOW, None, None);
        said.lines().skip(1).take(rows.len()).map(|line| words(line)[0].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(named(&[&ours, &imported]), ["one", "imported-8-0 (id `one`)"]);
    assert_eq!(named(&[&imported]), ["one"]);
}

/// Two agents of one run, as after a hand-over, and what their agents list of them later.
#[test]
fn after_all_was_removed_no_session_of_an_agents_own_list_comes_back() {
    let temp = tempfile::tempdir().unwrap();
    let (state, dir) = (temp.path(), sessions::journals(temp.path()));
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("7-0-1.jsonl"), of_two_agents()).unwrap();
    let review = archive::below(state).join("7-0-1");
    std::fs::create_dir_all(&review).unwrap();
    // Both have it: which sessions it had is not known.
    let head = json!({ "stem": "7-0-1", "cwd": "/work", "command": "one --acp", "started": 7 });
    std::fs::write(review.join("head.json"), head.to_string()).unwrap();
    let told = |command: &str, ids: &[&str]| {
        let listed = |id: &&str| Listed {
            id: (*id).into(),
            cwd: Some("/work".into()),
            additional: Vec::new(),
            title: Some("theirs".into()),
            updated: None,
        };
        let sessions = ids.iter().map(listed).collect();
        let (command, agent) = (command.to_owned(), String::new());
        sessions::remember(state, &Told { command, agent, can: Cans::default(), cwd: None, is_whole: true, sessions })
    };
    told("one --acp", &["elsewhere"]).unwrap();
    let ids = || sessions::list(state).unwrap().sessions.into_iter().map(|known| known.session_id).collect::<Vec<_>>();
    assert_eq!(ids().len(), 3, "{:?}", ids());
    assert_eq!(remove_all(state, true).unwrap_or(99), code::OK);
    told("one --acp", &["a", "elsewhere"]).unwrap();
    told("two --acp", &["b"]).unwrap();
    assert_eq!(ids(), Vec::<String>::new());
}

#[test]
fn what_was_asked_in_a_session_is_forgotten_with_it() {
    let temp = tempfile::tempdir().unwrap();
    let (state, dir) = (temp.path(), sessions::journals(temp.path()));
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("7-0-1.jsonl"), of_two_agents()).unwrap();
    let prompts = Prompts::new(drafts::dir(state));
    let asks = |text: &str| prompts.remember(&Sent { cwd: "/work".into(), text: text.into() }).unwrap();
    let asked = || prompts.list().unwrap().iter().map(|sent| sent.text.to_string()).collect::<Vec<_>>();
    asks("hello");
    asks("elsewhere");
    assert_eq!(remove(state, "a", true).unwrap_or(99), code::OK);
    assert_eq!(asked(), ["elsewhere"]);
    asks("hello");
    assert_eq!(remove_all(state, true).unwrap_or(99), code::OK);
    assert_eq!(asked(), [""; 0]);
}

#[test]
fn what_this_version_cannot_read_stays_when_all_is_removed() {
    let temp = tempfile::tempdir().unwrap();
    let (state, dir) = (temp.path(), sessions::journals(temp.path()));
    std::fs::create_dir_all(&dir).unwrap();
    let put = |name: &str, text: &str| std::fs::write(dir.join(name), text).unwrap();
    put("7-0-1.jsonl", &of_two_agents().replacen("\"v\":2", "\"v\":99", 1));
    put("7-0-2.jsonl", &["\0".repeat(4096), of_two_agents()].concat());
    put("7-0-3.jsonl", &of_two_agents());
    assert_eq!(remove_all(state, true).unwrap_or(99), code::OK);
    let there = |name: &str| dir.join(name).exists();
    assert_eq!(["7-0-1.jsonl", "7-0-2.jsonl", "7-0-3.jsonl"].map(there), [true, true, false]);
}

fn of_two_agents() -> String {
    let frame = |agent: u32, dir: &str, frame: Value| json!({ "t": 1, "dir": dir, "agent": agent, "frame": frame });
    let added = json!({ "AddAgent": { "command": "two --acp", "env": [], "cwd": "/work", "how": "New" } });
    let mut lines =
        vec![json!({ "v": 2, "ends": true, "started": 7, "cwd": "/work", "command": "one --acp", "codec": "acp-1" })];
    for (agent, id) in [(0, "a"), (1, "b")] {
        if agent == 1 {
            lines.push(json!({ "t": 1, "dir": "person", "at": "all", "intent": added }));
        }
        let new = json!({ "id": 0, "method": "session/new", "params": { "cwd": "/work" } });
        let prompt = json!({ "sessionId": id, "prompt": [{ "type": "text", "text": "hello" }] });
        lines.extend([
            frame(agent, "client->agent", new),
            frame(agent, "agent->client", json!({ "id": 0, "result": { "sessionId": id } })),
            frame(agent, "client->agent", json!({ "id": 1, "method": "session/prompt", "params": prompt })),
            frame(agent, "agent->client", json!({ "id": 1, "result": { "stopReason": "end_turn" } })),
        ]);
    }
    lines.push(json!({ "t": 2, "dir": "host", "end": true }));
    lines.iter().map(|line| line.to_string() + "\n").collect()
}

#[test]
fn when_all_goes_what_has_a_journal_in_common_with_one_that_is_open_stays() {
    let known = |id: &str, journals: &[&str]| {
        let mut row = row(id, journals.last().unwrap(), 0);
        row.known.journals = journals.iter().map(|stem| format!("{stem}.jsonl").into()).collect();
        row
    };
    let mut open = known("open", &["2", "4"]);
    open.known.state = State::Open;
    let rows = [
        open,
        known("other", &["5"]),
        known("s", &["1", "2"]),
        known("copy", &["2"]),
        known("older", &["0", "1"]),
        known("later", &["6"]),
    ];
    assert_eq!(staying(&rows), [true, false, true, true, true, false]);
}
