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
        ..of_review(&review, id.to_owned(), "demo".into())
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
    sessions::hide(state.path(), &second).unwrap();
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
