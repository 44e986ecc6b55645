//! Journals and reviews become one list, also where only one of the two is there.

use super::*;
use crate::review::protocol::SessionInfo;

fn known(id: &str, stem: &str, updated: u64) -> Known {
    let review = review(stem, &[id], false);
    let journal = PathBuf::from(format!("/state/{stem}.jsonl"));
    Known {
        journals: vec![journal.clone()],
        journal,
        updated: Duration::from_secs(updated),
        turns: 1,
        ..of_review(&review, AgentSession::new(id, 1, "demo"))
    }
}

fn review(stem: &str, ids: &[&str], locked: bool) -> Listed {
    let session = |(n, id): (usize, &&str)| AgentSession::new(id, n as u64 + 1, "demo");
    Listed {
        dir: stem.into(),
        stem: stem.into(),
        head: Some(SessionInfo {
            stem: stem.into(),
            cwd: "/work".into(),
            command: "demo".into(),
            started: 5,
            private: Vec::new(),
            directories: Vec::new(),
        }),
        sessions: ids.iter().enumerate().map(session).collect(),
        is_nameless: false,
        started: 5,
        number: 0,
        locked,
    }
}

fn names(rows: &[Row]) -> Vec<(&str, usize)> {
    rows.iter().map(|row| (row.known.session_id.as_str(), row.reviews.len())).collect()
}

#[test]
fn what_a_side_question_has_changed_is_known_by_the_question() {
    let mut shared = review("7-0-1", &["a", "aside"], true);
    (shared.sessions[1].is_aside, shared.sessions[1].has_changed) = (true, true);
    let rows = || merged(vec![known("a", "7-0-1", 20)], vec![shared.clone()], &Forgotten::default());
    let asked = |stem: &str| {
        let (session_id, question) = ("aside".to_owned(), "why?".to_owned());
        let asides = [Asked { journal: format!("/state/{stem}.jsonl").into(), session_id, question }];
        let rows = with_questions(rows(), &asides);
        rows.into_iter().map(|row| (row.known.session_id, row.known.first_prompt)).collect::<Vec<_>>()
    };
    let all = |question: Option<&str>| vec![("a".into(), None), ("aside".into(), question.map(str::to_owned))];
    assert_eq!(asked("7-0-1"), all(Some("why?")));
    assert_eq!(asked("8-0-1"), all(None), "one of another run");
}

#[test]
fn a_run_of_which_nobody_knows_whose_it_is_is_of_its_journal_or_stands_alone() {
    let nameless = |stem: &str| Listed { is_nameless: true, ..review(stem, &[], false) };
    let rows = merged(vec![known("a", "7-0-1", 20)], vec![nameless("7-0-1"), nameless("6-0-0")], &Forgotten::default());
    assert_eq!(names(&rows), [("a", 1), ("6-0-0", 1)]);
    assert_eq!(rows[1].known.cwd, Path::new("/work"));
}

#[test]
fn a_conversation_has_the_reviews_of_its_run_and_what_has_no_journal_stands_alone() {
    let reviews = vec![
        review("7-0-1", &["a", "b"], false),
        review("7-0-1-2", &["b"], true),
        review("7-0-12", &["b"], false),
        Listed { head: None, sessions: Vec::new(), ..review("6-0-0", &[], false) },
    ];
    let mut empty = known("empty", "9-9-9", 1);
    empty.turns = 0;
    let rows = merged(vec![known("a", "7-0-1", 20), known("b", "7-0-1", 30), empty], reviews, &Forgotten::default());
    assert_eq!(names(&rows), [("b", 2), ("a", 1), ("b", 1), ("6-0-0", 1)]);
    assert_eq!(rows.iter().map(|row| row.known.state == State::Open).collect::<Vec<_>>(), [true, false, false, false]);
    assert_eq!(rows.iter().map(|row| row.is_damaged).collect::<Vec<_>>(), [false, false, false, true]);
    // The sums of what two have in common are said once.
    assert_eq!(rows.iter().map(|row| row.sums.len()).collect::<Vec<_>>(), [1, 1, 1, 1]);
    let sharing = |row: &Row, forgotten| sharers(row, &row.reviews[0], forgotten).join(" ");
    assert_eq!(sharing(&rows[0], &Forgotten::default()), "a");
    assert_eq!(rows[3].changes(), Err("cannot be read".to_owned()));
}

#[test]
fn a_name_is_an_id_a_stored_name_or_a_beginning_that_only_one_has() {
    let rows = || {
        merged(
            vec![known("abc-1", "7-0-1", 20), known("abc-2", "8-0-2", 30)],
            vec![review("6-0-3", &["z"], false)],
            &Forgotten::default(),
        )
    };
    let id = |name: &str| {
        find(rows(), name, &Origins::default()).map(|row| row.known.session_id).map_err(|error| error.to_string())
    };
    for (name, want) in
        [("abc-1", "abc-1"), ("7-0-1", "abc-1"), ("8", "abc-2"), ("z", "z"), ("6-0", "z"), ("last", "abc-2")]
    {
        assert_eq!(id(name).as_deref(), Ok(want), "{name}");
    }
    assert!(id("abc").unwrap_err().contains("abc-1, abc-2"));
    for none in ["", "x"] {
        assert!(id(none).unwrap_err().contains("sessions"), "{none}");
    }
    assert!(find(Vec::new(), "last", &Origins::default()).is_err());
}

#[test]
fn a_query_is_looked_for_in_all_that_is_known_word_by_word() {
    let mut known = known("abc-1", "7-0-1", 20);
    (known.title, known.last_prompt) = (Some("Mend the Roof".into()), Some("now the door".into()));
    for (query, want) in [("roof", true), ("door ROOF", true), ("demo /work", true), ("", true), ("roof cellar", false)]
    {
        assert_eq!(fits(&known, query), want, "{query}");
    }
}

/// What keeps a merge for undo stands where sessions do, and is none.
#[test]
fn a_merge_is_no_conversation() {
    let mut merge = review("8-0-1", &["merge-w1"], false);
    merge.sessions[0].agent = "worktrees".into();
    let rows = merged(vec![known("merge-a", "7-0-1", 3)], vec![merge], &Forgotten::default());
    assert_eq!(names(&rows), [("merge-w1", 1), ("merge-a", 0)]);
    assert_eq!(rows.iter().map(is_merge).collect::<Vec<_>>(), [true, false]);
    assert_eq!(find(rows, LAST, &Origins::default()).unwrap().known.session_id, "merge-a");
}

/// The run is known by the command of its first agent; the forgotten one is of the second.
#[test]
fn a_forgotten_session_of_the_second_agent_of_a_run_is_no_row_and_keeps_no_changes() {
    let state = tempfile::tempdir().unwrap();
    let mut shared = review("7-0-1", &["a", "b"], false);
    shared.sessions[1].agent = "second".into();
    let mut second = known("b", "7-0-1", 30);
    (second.agent, second.command) = ("second".into(), "second --acp".into());
    sessions::hide(state.path(), &[&second]).unwrap();
    let forgotten = sessions::hidden(state.path());
    let rows = merged(vec![known("a", "7-0-1", 20)], vec![shared], &forgotten);
    assert_eq!(names(&rows), [("a", 1)]);
    assert!(sharers(&rows[0], &rows[0].reviews[0], &forgotten).is_empty());
}

#[test]
fn a_conversation_in_which_nothing_was_said_stands_only_for_changes_that_are_no_others() {
    let dirs = tempfile::tempdir().unwrap();
    let kept = |stem: &str, ids: &[&str], ledger: &str| {
        let dir = dirs.path().join(stem);
        std::fs::create_dir(&dir).unwrap();
        std::fs::write(dir.join("ledger.jsonl"), ledger).unwrap();
        Listed { dir, ..review(stem, ids, false) }
    };
    let reviews = vec![
        kept("7-0-1", &["untouched"], ""),
        kept("8-0-1", &["changed"], "{}\n"),
        kept("9-0-1", &["said", "beside"], "{}\n"),
    ];
    let silent = |id: &str, stem: &str| Known { turns: 0, ..known(id, stem, 50) };
    let all = vec![
        silent("beside", "9-0-1"),
        silent("untouched", "7-0-1"),
        silent("changed", "8-0-1"),
        known("said", "9-0-1", 20),
    ];
    let rows = merged(all, reviews, &Forgotten::default());
    assert_eq!(names(&rows), [("changed", 1), ("said", 1)]);
    assert_eq!(rows[1].sums.len(), 1, "what is known of all is said with the one that is left");
}

/// Another process counts them: of what it has not told of each by itself the newest says the sums of all.
#[test]
fn what_is_told_of_a_run_that_is_open_stands_at_each_session_that_has_changed_something() {
    let sums = |files: u64| Totals { added: files, files, ..Totals::default() };
    let told = |id: &str, updated: u64, own: Option<u64>| {
        let own_totals = own.map(sums);
        Known { totals: Some(sums(5)), own_totals, ..known(id, "7-0-1", updated) }
    };
    let changes = |all: [Option<u64>; 3]| {
        let [c, b, a] = all;
        let all = vec![told("c", 30, c), told("b", 20, b), told("a", 10, a)];
        let rows = merged(all, vec![review("7-0-1", &["a", "b", "c"], true)], &Forgotten::default());
        rows.iter().map(|row| row.changes().unwrap().map(|totals| totals.files)).collect::<Vec<_>>()
    };
    assert_eq!(changes([Some(3), Some(0), Some(2)]), [Some(3), None, Some(2)]);
    assert_eq!(changes([None, None, None]), [Some(5), None, None]);
}

fn kept(dirs: &Path, stem: &str, sessions: Vec<AgentSession>, ledger: &str) -> Listed {
    let dir = dirs.join(stem);
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(dir.join("ledger.jsonl"), ledger).unwrap();
    Listed { dir, sessions, ..review(stem, &[], false) }
}

#[test]
fn what_has_no_journal_any_more_is_a_row_only_where_something_was_changed() {
    let dirs = tempfile::tempdir().unwrap();
    let one = |id| vec![AgentSession::new(id, 1, "demo")];
    let reviews = vec![
        kept(dirs.path(), "7-0-1", one("talked"), ""),
        kept(dirs.path(), "8-0-1", one("changed"), "{}\n"),
        Listed { locked: true, ..kept(dirs.path(), "9-0-1", one("open"), "") },
    ];
    let rows = merged(Vec::new(), reviews, &Forgotten::default());
    assert_eq!(names(&rows), [("changed", 1), ("open", 1)]);
}

#[test]
fn a_run_whose_journal_is_damaged_is_of_the_session_that_went_on_in_it_or_from_it() {
    let dirs = tempfile::tempdir().unwrap();
    let session = |goes_on| vec![AgentSession { goes_on, ..AgentSession::new("a", 1, "demo") }];
    let number = |number, listed: Listed| Listed { number, started: number, ..listed };
    let reviews = || {
        vec![
            number(3, kept(dirs.path(), "3-0-1", session(true), "{}\n")),
            number(2, kept(dirs.path(), "2-0-1", session(true), "{}\n")),
            number(1, kept(dirs.path(), "1-0-1", session(false), "{}\n")),
        ]
    };
    let reviews = reviews();
    let last = Known { is_older: true, created: Duration::from_secs(3), ..known("a", "3-0-1", 30) };
    let rows = merged(vec![last.clone()], reviews.clone(), &Forgotten::default());
    assert_eq!(names(&rows), [("a", 3)]);
    assert_eq!(rows[0].reviews.iter().map(|one| one.number).collect::<Vec<_>>(), [3, 2, 1]);
    assert_eq!(names(&merged(Vec::new(), reviews.clone(), &Forgotten::default())), [("a", 3)], "without any journal");
    let anew = Known { is_older: false, ..last.clone() };
    let rows = merged(vec![anew], vec![reviews[0].clone(), reviews[2].clone()], &Forgotten::default());
    assert_eq!(names(&rows), [("a", 1), ("a", 1)], "an agent may give an id again");
    let told = Known { journals: Vec::new(), is_listed: true, ..last.clone() };
    let rows = merged(vec![told], vec![reviews[2].clone()], &Forgotten::default());
    assert_eq!(names(&rows), [("a", 1)], "its agent has told of it");
    let imported = Known { is_imported: true, ..known("a", "imported-x", 30) };
    assert_eq!(merged(vec![imported], reviews, &Forgotten::default()).len(), 2);
}

#[test]
fn the_last_one_is_that_in_which_something_was_said() {
    let silent = Known { turns: 0, state: State::Open, ..known("silent", "9-0-1", 50) };
    let dir = tempfile::tempdir().unwrap();
    let open = Listed { locked: true, ..kept(dir.path(), "9-0-1", vec![AgentSession::new("silent", 1, "demo")], "") };
    let rows = merged(vec![known("said", "7-0-1", 20), silent], vec![open], &Forgotten::default());
    assert_eq!(names(&rows), [("silent", 1), ("said", 0)]);
    assert_eq!(find(rows, LAST, &Origins::default()).unwrap().known.session_id, "said");
}

/// The run began with one in which nothing was said; without the other there is nothing to be seen of it.
#[test]
fn with_the_only_conversation_of_a_run_goes_what_was_empty_in_it() {
    let temp = tempfile::tempdir().unwrap();
    let (state, journals) = (temp.path(), sessions::journals(temp.path()));
    let frame = |t: u32, dir: &str, frame: serde_json::Value| {
        serde_json::json!({ "t": t, "dir": dir, "at": { "agent": 0 }, "frame": frame }).to_string()
    };
    let asks = |t, id: u32, method: &str, params: serde_json::Value| {
        frame(t, "client->agent", serde_json::json!({ "id": id, "method": method, "params": params }))
    };
    let answers = |t, id: u32, result: serde_json::Value| {
        frame(t, "agent->client", serde_json::json!({ "id": id, "result": result }))
    };
    let head = serde_json::json!({
        "v": 2, "ends": true, "started": 7, "cwd": "/work", "command": "demo", "codec": "acp-1"
    });
    let cwd = serde_json::json!({ "cwd": "/work" });
    let said = serde_json::json!({ "sessionId": "copy", "prompt": [{ "type": "text", "text": "hello" }] });
    let lines = [
        head.to_string(),
        asks(1, 0, "session/new", cwd.clone()),
        answers(1, 0, serde_json::json!({ "sessionId": "empty" })),
        asks(2, 1, "session/new", cwd),
        answers(2, 1, serde_json::json!({ "sessionId": "copy" })),
        asks(3, 2, "session/prompt", said),
        answers(4, 2, serde_json::json!({ "stopReason": "end_turn" })),
        "{\"t\":4,\"dir\":\"host\",\"end\":true}".to_owned(),
    ];
    std::fs::create_dir_all(&journals).unwrap();
    std::fs::write(journals.join("7-0-1.jsonl"), lines.join("\n") + "\n").unwrap();
    let ids = ["empty", "copy"].map(|id| AgentSession::new(id, 1, "demo")).to_vec();
    let home = archive::below(state);
    std::fs::create_dir_all(&home).unwrap();
    let review = kept(&home, "7-0-1", ids, "");
    let rows = merged(sessions::list(state).unwrap().sessions, vec![review.clone()], &Forgotten::default());
    assert_eq!(names(&rows), [("copy", 1)]);
    remove(state, &rows[0]).unwrap();
    assert!(!review.dir.exists() && !journals.join("7-0-1.jsonl").exists());
    assert!(sessions::hidden(state).contains("demo", "demo", "empty"), "what its agent tells of it is left out too");
}

/// A journal in which a session of an earlier one goes on, and a copy is made of it beside it.
fn put_copies(journals: &Path) {
    let frame = |dir: &str, frame: serde_json::Value| serde_json::json!({ "t": 1, "dir": dir, "frame": frame });
    let call = |id: u32, method: &str, params: serde_json::Value, result: serde_json::Value| {
        let ask = serde_json::json!({ "id": id, "method": method, "params": params });
        [frame("client->agent", ask), frame("agent->client", serde_json::json!({ "id": id, "result": result }))]
    };
    let turn = |number: u32, id: &str| {
        let params = serde_json::json!({ "sessionId": id, "prompt": [{ "type": "text", "text": "hello" }] });
        call(number, "session/prompt", params, serde_json::json!({ "stopReason": "end_turn" }))
    };
    let of = |id: &str| serde_json::json!({ "sessionId": id, "cwd": "/work" });
    let put = |name: &str, started: u64, calls: Vec<[serde_json::Value; 2]>| {
        let head = serde_json::json!({
            "v": 2, "ends": true, "started": started, "cwd": "/work", "command": "demo", "codec": "acp-1"
        });
        let end = serde_json::json!({ "t": 1, "dir": "host", "end": true });
        let lines = std::iter::once(head).chain(calls.into_iter().flatten()).chain([end]);
        let text: String = lines.map(|line| line.to_string() + "\n").collect();
        std::fs::create_dir_all(journals).unwrap();
        std::fs::write(journals.join(name), text).unwrap();
    };
    put("7-0-1.jsonl", 7, vec![call(0, "session/new", of(""), of("s")), turn(1, "s")]);
    let second = vec![
        call(0, "session/resume", of("s"), serde_json::json!({})),
        call(1, "session/fork", of("s"), of("copy")),
        turn(2, "copy"),
        call(3, "session/fork", of("copy"), of("copy of it")),
        turn(4, "copy of it"),
    ];
    put("9-0-1.jsonl", 9, second);
    // Of one that was made later the journal has what it begins with.
    put("11-0-1.jsonl", 11, vec![call(0, "session/fork", of("s"), of("later")), turn(1, "later")]);
}

#[test]
fn what_copies_begin_with_goes_only_after_them() {
    let temp = tempfile::tempdir().unwrap();
    let (state, journals) = (temp.path(), sessions::journals(temp.path()));
    put_copies(&journals);
    let row = |id: &str| find_known(state, |known| known.session_id == id).unwrap();
    let why = remove(state, &row("s")).unwrap_err();
    assert!(why.contains("copy (“copy of hello”)") && !why.contains("later"), "{why}");
    let why = remove(state, &row("copy")).unwrap_err();
    assert!(why.contains("copy of it"), "{why}");
    assert_eq!(
        std::fs::read_dir(&journals).unwrap().filter(|one| one.as_ref().unwrap().path().extension().is_some()).count(),
        3
    );
    for id in ["copy of it", "copy", "s"] {
        remove(state, &row(id)).unwrap();
    }
    let left: Vec<String> = sessions::list(state).unwrap().sessions.into_iter().map(|known| known.session_id).collect();
    assert_eq!(left, ["later"]);
}
