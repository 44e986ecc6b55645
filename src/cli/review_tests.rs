use super::*;
use crate::model::changes::{HunkId, Totals, TurnName};
use crate::review::session::tests::Place;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;

fn session(id: &str, first_turn: u64) -> AgentSession {
    AgentSession::new(id, first_turn, "demo")
}

#[test]
fn turns_are_counted_from_the_beginning_of_the_session() {
    let all = [session("a", 1), session("b", 4), session("c", 9)];
    let begun = (1..=15).collect();
    let turn = |session: Option<&AgentSession>, wanted| {
        first_turn(Turns::new(&all, &begun), session, wanted, |_| Before::default(), |_, _| None)
            .map_err(|e| e.to_string())
    };
    for (session, wanted, turn_of_the_run) in [
        (Some(&all[0]), None, 0),
        (Some(&all[0]), Some(1), 1),
        (Some(&all[1]), None, 4),
        (Some(&all[1]), Some(1), 4),
        (Some(&all[1]), Some(5), 8),
        (Some(&all[2]), Some(7), 15),
        (None, None, 0),
        (None, Some(6), 6),
    ] {
        assert_eq!(turn(session, wanted), Ok(turn_of_the_run), "{session:?} {wanted:?}");
    }
    assert_eq!(turn(Some(&all[0]), Some(4)), Err("the session has no turn 4, only 3".into()));
    assert_eq!(turn(Some(&all[2]), Some(8)), Err("the session has no turn 8, only 7".into()));
    assert_eq!(turn(None, Some(u64::MAX)), Err(format!("the session has no turn {}, only 15", u64::MAX)));
    let turns = Turns::new(&all, &begun);
    assert_eq!(later(turns, Some(&all[0])), ["b", "c"]);
    assert_eq!(later(turns, Some(&all[2])), [""; 0]);
    assert_eq!(later(turns, None), [""; 0]);
    let all = [session("a", 1), session("b", 2), session("a", 3), session("b", 4)];
    assert_eq!(later(Turns::new(&all, &begun), all.first()), ["b"]);
}

#[test]
fn turns_of_a_session_that_goes_on_are_counted_on() {
    // The run counts further than the session does.
    let (all, begun) = ([session("a", 6)], [6, 7].into());
    let before = |_: &AgentSession| Before { turns: 4, runs: vec![("r1".into(), 0), ("r2".into(), 3)] };
    let elsewhere = |run: &str, at: u64| (run == "r2").then_some(at + 10);
    let turns = || Turns::new(&all, &begun);
    let turn = |wanted| first_turn(turns(), all.first(), Some(wanted), before, elsewhere).map_err(|e| e.to_string());
    assert_eq!([turn(5), turn(6)], [Ok(6), Ok(7)]);
    assert_eq!(turn(7), Err("the session has no turn 7, only 6".into()));
    for (wanted, more) in [(1, ", of which no changes are kept"), (4, ": acp-tui undo r2 --turn 11")] {
        assert_eq!(turn(wanted), Err(format!("turn {wanted} was in an earlier run of the session{more}")));
    }
    assert_eq!(first_turn(turns(), all.first(), None, before, elsewhere).ok(), Some(0));
    // Where the run was named, they are counted alike.
    assert_eq!(first_turn(turns(), None, Some(6), before, elsewhere).ok(), Some(7));
    assert_eq!(first_turn(turns(), None, None, before, elsewhere).ok(), Some(0));
    let (shared, begun) = ([session("a", 1), session("b", 2)], [1, 2].into());
    assert_eq!(first_turn(Turns::new(&shared, &begun), None, Some(2), before, elsewhere).ok(), Some(2));
}

#[test]
fn an_undo_of_a_session_takes_nothing_of_others_along() {
    let named = |id: &str, first_turn| AgentSession::new(id, first_turn, "agent");
    let mut place = Place::with(&[("a", b"1\n")]);
    place.turn(1, |p| p.client_writes("a", "2\n"));
    place.review.session(named("aside", 2)).unwrap();
    place.turn(2, |p| p.client_writes("b", "of the answer\n"));
    place.review.session(named("session-1", 3)).unwrap();
    place.turn(3, |p| p.client_writes("c", "more\n"));
    place.review.session(named("silent", 4)).unwrap();
    place.turn(4, |_| {});
    place.review.session(named("last", 5)).unwrap();
    place.turn(5, |p| p.client_writes("d", "last\n"));
    let mut own = |id: &str, turn| is_its_own(&mut place.review, Some(&named(id, 0)), turn).map_err(|e| e.to_string());
    let words = own("aside", 2).unwrap_err();
    assert!(
        words.contains("by last, session-1, which would") && words.contains("`acp-tui undo s --turn 2`"),
        "{words}"
    );
    let words = own("session-1", 0).unwrap_err();
    assert!(words.contains("by aside, last, which") && words.contains("`acp-tui undo s`"), "{words}");
    assert!(own("silent", 4).is_err() && own("last", 5).is_ok());
    assert!(is_its_own(&mut place.review, None, 0).is_ok(), "the run was named");
}

#[test]
fn every_outcome_is_one_line_that_says_what_happened() {
    let one = |outcome| Rewound { path: "src/a.rs".into(), outcome, remark: None };
    for (outcome, did, would) in [
        (RewindOutcome::Restored, "restored src/a.rs", "would restore src/a.rs"),
        (RewindOutcome::Removed, "removed src/a.rs", "would remove src/a.rs"),
        (RewindOutcome::Merged, "merged src/a.rs (other changes stay)", "would merge src/a.rs (other changes stay)"),
        (
            RewindOutcome::Conflict,
            "left alone src/a.rs: these lines were changed since",
            "would leave alone src/a.rs: these lines were changed since",
        ),
    ] {
        assert_eq!(super::outcome(&one(outcome), Tense::Did), did);
        assert_eq!(super::outcome(&one(outcome), Tense::Would), would);
    }
    let remark = |outcome, remark: &str| Rewound { remark: Some(remark.to_owned()), ..one(outcome) };
    for (rewound, words) in [
        (remark(RewindOutcome::Restored, "owner 0 instead of 1000"), "restored src/a.rs (owner 0 instead of 1000)"),
        (remark(RewindOutcome::Failed, "changed meanwhile"), "left alone src/a.rs: changed meanwhile"),
    ] {
        assert_eq!(super::outcome(&rewound, Tense::Did), words);
    }
    // A name cannot forge a line or move the cursor.
    let odd = line(&super::outcome(
        &Rewound { path: "a\nremoved b\u{1b}[2J".into(), ..one(RewindOutcome::Failed) },
        Tense::Did,
    ));
    assert!(odd.matches('\n').count() == 1 && !odd.contains('\u{1b}'), "{odd:?}");
    // Nor do two files look the same.
    let names: [&[u8]; 7] =
        [b"x", b"\x1b]0;PWN\x07x", b"new line", b"new\nline", b"a\xff", b"a\xfe", "a\u{fffd}".as_bytes()];
    let said = names.map(|name| {
        let path = std::path::PathBuf::from(std::ffi::OsStr::from_bytes(name));
        line(&super::outcome(&Rewound { path, outcome: RewindOutcome::Removed, remark: None }, Tense::Would))
    });
    let apart: std::collections::BTreeSet<&String> = said.iter().collect();
    assert_eq!(apart.len(), names.len(), "{said:?}");
}

#[test]
fn the_list_names_files_and_hunks() {
    let hunk = HunkDoc {
        id: HunkId(1),
        state: HunkState::Pending,
        cause: Cause::Tool,
        entry: None,
        elsewhere: None,
        turn: 2,
        old_start: 3,
        new_start: 4,
        heading: "fn total()".into(),
        what: HunkKind::Lines,
        count: 1,
        added: 2,
        removed: 1,
        lines: Arc::default(),
        conflict: None,
    };
    let mode = HunkDoc {
        what: HunkKind::Mode(0o644, 0o755),
        state: HunkState::Accepted,
        cause: Cause::Unknown,
        turn: 0,
        added: 0,
        removed: 0,
        ..hunk.clone()
    };
    let file = FileDoc {
        path: "src/new\u{1b}.rs".into(),
        renamed_from: Some("src/old.rs".into()),
        change: FileChange::Renamed,
        added: 2,
        removed: 1,
        cause: Cause::Tool,
        hunks: vec![hunk, mode],
        note: Some("CRLF".into()),
        held: None,
    };
    let doc = ReviewDoc {
        files: vec![Arc::new(file)],
        totals: Totals { added: 2, removed: 1, files: 1, pending: 1 },
        names: [(2, TurnName { number: 6, session: None })].into(),
        uncovered: vec!["big.bin is too large".into()],
        ..ReviewDoc::default()
    };
    let said = listing(&doc, false);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], "+2 −1 in 1 file · 1 to review");
    assert!(lines[1].starts_with("renamed src/new") && lines[1].ends_with("(was src/old.rs)  +2 −1  CRLF"), "{said}");
    assert_eq!(lines[2], "  @@ -3 +4 @@  fn total()  +2 −1  to review, tool call, turn 6");
    assert_eq!(lines[3], "  mode 644 → 755  accepted, cause not known");
    assert_eq!(lines[4..], ["not covered: big.bin is too large"]);
    assert!(!said.contains('\u{1b}'), "{said:?}");
    assert_eq!(listing(&ReviewDoc::default(), false), "no changes\n");
    assert_eq!(listing(&ReviewDoc::default(), true), "no changes in this run of the session\n");
}

#[test]
fn what_another_run_wrote_is_named_and_is_a_fault_also_beside_what_was_taken_back() {
    let one = |path: &str, outcome, remark: Option<&str>| Rewound {
        path: path.into(),
        outcome,
        remark: remark.map(str::to_owned),
    };
    let beside = one("b", RewindOutcome::Beside, Some("another run of acp-tui wrote it too: 17-1"));
    let mut done = Done { rewound: vec![one("a", RewindOutcome::Restored, None)], ..Done::default() };
    assert_eq!(code_of(&done), code::OK);
    done.rewound.push(beside.clone());
    assert_eq!(code_of(&done), code::OWN_FAULT);
    assert_eq!(
        outcome(&beside, Tense::Did),
        "left alone b: another run of acp-tui wrote it too: 17-1; `acp-tui review` shows it, and x there takes it back"
    );
}
