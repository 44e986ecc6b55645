use super::*;
use crate::review::protocol::{AgentSession, SessionInfo};

const NOW: u64 = 1_000_000;

fn row(stem: &str, ids: &[&str], started: u64, changes: Result<(Vec<u64>, Totals), String>) -> Row {
    let head = SessionInfo {
        stem: stem.into(),
        cwd: "/home/me/project".into(),
        command: "demo --acp".into(),
        started,
        private: Vec::new(),
    };
    let session =
        |(n, id): (usize, &&str)| AgentSession { id: (*id).into(), first_turn: n as u64 + 1, agent: "demo".into() };
    Row {
        listed: Listed {
            dir: stem.into(),
            stem: stem.into(),
            head: Some(head),
            sessions: ids.iter().enumerate().map(session).collect(),
            started,
            number: 0,
            locked: changes.as_ref().is_err_and(|why| why.contains("open")),
        },
        bytes: 2_500_000,
        changes,
    }
}

#[test]
fn one_row_for_each_session_the_newest_of_a_run_with_the_numbers() {
    let totals = Totals { added: 12, removed: 3, files: 2, pending: 1 };
    let broken = Row {
        listed: Listed { head: None, sessions: Vec::new(), ..row("7-bad", &[], NOW - 90, Ok((vec![], totals))).listed },
        ..row("7-bad", &[], NOW - 90, Err("cannot be read".into()))
    };
    let rows = [
        row("9-0", &["first", "second\u{1b}"], NOW - 5, Ok((vec![1, 3], totals))),
        broken,
        row("6-0", &["locked"], NOW - 7200, Err("open in another acp-tui".into())),
        row("5-0", &["日本"], NOW - 3 * 86_400, Ok((Vec::new(), Totals::default()))),
    ];
    let said = table(&rows, NOW, Some(Path::new("/home/me")));
    let lines: Vec<&str> = said.lines().collect();
    let words =
        |line: &str| line.split("  ").map(str::trim).filter(|w| !w.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(lines[0]), ["session", "begun", "agent", "directory", "turns", "changes", "size"]);
    let newest = words(lines[1]);
    assert_eq!(newest[0], "9-0 (id `second⟨U+001B⟩`)");
    assert_eq!(newest[1..], ["just now", "demo", "~/project", "2", "+12 −3 in 2 files · 1 to review", "2.5 MB"]);
    assert_eq!(words(lines[2]), ["first", "demo"]);
    assert_eq!(words(lines[3]), ["7-bad", "1 min ago", "(cannot be read)", "2.5 MB"]);
    assert_eq!(words(lines[4]), ["locked", "2 h ago", "demo", "~/project", "(open in another acp-tui)", "2.5 MB"]);
    assert_eq!(words(lines[5]), ["日本", "3 d ago", "demo", "~/project", "0", "no changes", "2.5 MB"]);
    assert!(!said.contains('\u{1b}') && lines.last().unwrap().contains("--remove"), "{said:?}");
    // Columns stand below each other, wide characters too.
    let column = |line: &str, word: &str| str_width(&line[..line.find(word).unwrap()]);
    assert_eq!(column(lines[0], "begun"), column(lines[5], "3 d ago"));
    assert_eq!(column(lines[0], "size"), column(lines[1], "2.5 MB"));
}

#[test]
fn the_json_has_the_same_members_whatever_is_known() {
    let totals = Totals { added: 12, removed: 3, files: 2, pending: 1 };
    let whole = value(&row("9-0", &["one", "two"], 5, Ok((vec![1, 3], totals))));
    assert_eq!(whole["sessions"][1]["session_id"], "two");
    assert_eq!((&whole["totals"]["pending"], &whole["turns"]), (&json!(1), &json!([1, 3])));
    assert_eq!((&whole["open"], &whole["problem"]), (&json!(false), &Value::Null));
    let locked = value(&row("9-0", &["one"], 5, Err("open in another acp-tui".into())));
    assert_eq!((&locked["open"], &locked["totals"], &locked["turns"]), (&json!(true), &Value::Null, &Value::Null));
    let members = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(members(&whole), members(&locked));
}

#[test]
fn a_session_that_cannot_be_named_by_its_id_stands_under_the_name_of_its_directory() {
    let long = "x".repeat(100_000);
    let none = || Ok((Vec::new(), Totals::default()));
    let ids = ["last", "all", "", "-y", "a\nb", &long, "plain"];
    let rows: Vec<Row> = ids.iter().enumerate().map(|(n, id)| row(&format!("{n}-0-0"), &[id], NOW, none())).collect();
    let said = table(&rows, NOW, None);
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
    assert!(said.lines().all(|line| str_width(line) < 200), "a line is too wide");
    // Nor does the name of an agent make it wide.
    let mut odd = row("9-0-0", &["x"], NOW, none());
    odd.listed.sessions[0].agent = "\u{1b}]0;x\u{7}A".repeat(100_000);
    assert!(table(&[odd], NOW, None).lines().all(|line| str_width(line) < 200));
}

#[test]
fn all_turns_count_also_those_that_changed_nothing() {
    let temp = tempfile::tempdir().unwrap();
    let (home, ws) = (temp.path().join("home"), temp.path().join("ws"));
    std::fs::create_dir(&ws).unwrap();
    let head = SessionInfo { stem: "s".into(), cwd: ws, command: "demo".into(), started: 0, private: Vec::new() };
    let mut tracker = ReviewSession::create(&home, head).unwrap();
    tracker.first_look().unwrap();
    for turn in 1..=3 {
        tracker.begin_turn(turn).unwrap();
        tracker.end_turn(turn).unwrap();
    }
    drop(tracker);
    let rows: Vec<Row> = archive::list(&home).into_iter().map(looked_up).collect();
    assert_eq!(rows[0].changes.as_ref().unwrap().0, [1, 2, 3]);
}
