//! Worktrees merged as decisions: taken back, done again, and beside what an agent has still to be decided.

use super::tests::Place;
use super::*;
use crate::host::process::Git;
use crate::host::worktrees::{self, Merge, Merged, Naming, Part, Side, Worktree};
use crate::model::changes::{HunkId, ReviewAction, Target};
use std::fs;

/// Eight numbered lines, some of them replaced.
fn text(changes: &[(usize, &str)]) -> String {
    super::tests::changed(&super::tests::lines(8), changes)
}

/// A repository with two files, and a worktree of it.
fn repository() -> (Place, Worktree) {
    let mut place = Place::empty();
    let git = Git::at(&place.at(""));
    place.write("a", &text(&[]));
    place.write("b", "b\n");
    for args in [&["init", "-q", "-b", "main"][..], &["add", "-A"], &["commit", "-q", "-m", "first"]] {
        git.run(&[&["-c", "user.name=x", "-c", "user.email=x@x"][..], args].concat()).unwrap();
    }
    place.begin();
    let state = place.at("").parent().unwrap().join("state");
    let made = worktrees::create(&state, &place.at(""), Naming::Exactly("w"), false).unwrap();
    (place, made.worktree)
}

fn merge(review: &mut ReviewSession, worktree: &Worktree) -> Merged {
    let merge = Merge::of(worktree, None).unwrap();
    let from = MergedFrom { tree: worktree.path.clone(), origin: worktree.origin.clone() };
    review.merge(merge, from, "merged w".to_owned(), |_, _| true).unwrap()
}

fn act(place: &mut Place, action: &ReviewAction) -> String {
    place.review.act(action).unwrap().words
}

#[test]
fn a_merge_is_taken_back_and_done_again_also_after_the_review_was_closed() {
    let (mut place, worktree) = repository();
    fs::write(worktree.path.join("a"), text(&[(2, "theirs")])).unwrap();
    fs::write(worktree.path.join("new"), "new\n").unwrap();
    fs::remove_file(worktree.path.join("b")).unwrap();
    let merged = merge(&mut place.review, &worktree);
    assert_eq!((merged.files.len(), merged.left.len()), (3, 0), "{merged:?}");
    assert_eq!(place.read("a"), text(&[(2, "theirs")]));
    let decision = place.review.newest_decision();
    assert!(matches!(decision, Some((words, Newest::Merge(files))) if words == "merged w" && files.len() == 3));
    // It is nobody's work that would have to be decided.
    assert_eq!(place.review.totals().unwrap(), Totals::default());
    let is_back =
        |place: &Place| (place.read("a"), place.at("b").exists(), place.at("new").exists()) == (text(&[]), true, false);
    assert_eq!(act(&mut place, &ReviewAction::Undo), "undone: merged w");
    assert!(is_back(&place));
    assert!(place.review.has_undone_merge());
    act(&mut place, &ReviewAction::Redo);
    assert!(!is_back(&place) && place.read("new") == "new\n");
    let dir = place.review.dir().to_owned();
    place.review.verify_invariants();
    drop(std::mem::replace(&mut place.review, Place::empty().review));
    place.review = ReviewSession::open(&dir).unwrap();
    act(&mut place, &ReviewAction::Undo);
    assert!(is_back(&place), "what is recorded is enough");
}

#[test]
fn what_the_agent_has_still_to_be_decided_stays_so_and_the_merge_is_not_the_agents() {
    let (mut place, worktree) = repository();
    place.turn(1, |place| place.tool_writes("a", &text(&[(8, "agent")])));
    fs::write(worktree.path.join("a"), text(&[(2, "theirs")])).unwrap();
    // In the middle of a turn, too.
    place.turn(2, |place| {
        merge(&mut place.review, &worktree);
        place.tool_writes("c", "c\n");
    });
    assert_eq!(place.read("a"), text(&[(2, "theirs"), (8, "agent")]));
    let pending = place.review.doc(Scope::Pending).unwrap();
    let hunks: Vec<_> =
        pending.files.iter().map(|file| (file.path.to_str().unwrap(), file.added, file.removed)).collect();
    assert_eq!(hunks, [("a", 1, 1), ("c", 1, 0)]);
    let session = place.review.doc(Scope::Session).unwrap();
    assert_eq!((session.totals.added, session.totals.removed), (2, 1));
    act(&mut place, &ReviewAction::Undo);
    assert_eq!(place.read("a"), text(&[(8, "agent")]));
    // What the agent does later in the same file is told apart from both.
    place.turn(3, |place| place.tool_writes("a", &text(&[(7, "agent too"), (8, "agent")])));
    let session = place.review.doc(Scope::Session).unwrap();
    assert_eq!((session.totals.added, session.totals.removed), (3, 2));
}

#[test]
fn a_hunk_or_a_line_is_a_part_of_its_own_whatever_else_was_changed() {
    let mut place = Place::with(&[("a", text(&[]).as_bytes())]);
    place.turn(1, |place| {
        place.tool_writes("a", &text(&[(1, "one"), (2, "two"), (8, "eight")]));
        place.tool_writes("new", "new\n");
    });
    for scope in [Scope::Session, Scope::Pending] {
        let doc = place.review.doc(scope).unwrap();
        let hunk = |file: usize, at: usize| doc.files[file].hunks[at].id;
        let mut part = |target: &Target| {
            let Part { path, was, is } = place.review.part(scope, target).unwrap();
            let text = |side: Option<Side>| side.map(|side| String::from_utf8(side.bytes).unwrap());
            (path.file_name().unwrap().to_str().unwrap().to_owned(), text(was), text(is))
        };
        let of_a = |is: &str| ("a".to_owned(), Some(text(&[])), Some(is.to_owned()));
        assert_eq!(part(&Target::Hunk("a".into(), hunk(0, 1))), of_a(&text(&[(8, "eight")])));
        assert_eq!(part(&Target::Hunk("a".into(), hunk(0, 0))), of_a(&text(&[(1, "one"), (2, "two")])));
        assert_eq!(part(&Target::Hunk("new".into(), hunk(1, 0))), ("new".to_owned(), None, Some("new\n".to_owned())));
        assert!(place.review.part(scope, &Target::Hunk("a".into(), HunkId(7))).is_err());
        assert!(place.review.part(scope, &Target::File("a".into())).is_err());
    }
}

#[test]
fn what_was_saved_since_stays_when_the_merge_is_taken_back() {
    let (mut place, worktree) = repository();
    fs::write(worktree.path.join("a"), text(&[(2, "theirs")])).unwrap();
    merge(&mut place.review, &worktree);
    place.write("a", &text(&[(2, "theirs"), (8, "mine")]));
    act(&mut place, &ReviewAction::Undo);
    assert_eq!(place.read("a"), text(&[(8, "mine")]));
    place.write("a", &text(&[(2, "mine, too"), (8, "mine")]));
    let refused = place.review.act(&ReviewAction::Redo).unwrap_err().to_string();
    assert!(refused.contains("these lines were changed since"), "{refused}");
    assert_eq!(place.read("a"), text(&[(2, "mine, too"), (8, "mine")]));
}

#[test]
fn a_merge_that_was_killed_can_be_taken_back_as_far_as_it_came() {
    let (mut place, worktree) = repository();
    for name in ["a", "c", "d"] {
        fs::write(worktree.path.join(name), "theirs\n").unwrap();
    }
    let merge = Merge::of(&worktree, None).unwrap();
    let from = MergedFrom { tree: worktree.path.clone(), origin: worktree.origin.clone() };
    let dir = place.review.dir().to_owned();
    // Killed after the first file: of what comes after the writes nothing is in the ledger.
    let ledger = dir.join(crate::review::dir::LEDGER);
    let mut before = Vec::new();
    place
        .review
        .merge(merge, from, "merged w".to_owned(), |done, _| {
            before = fs::read(&ledger).unwrap();
            done < 1
        })
        .unwrap();
    drop(std::mem::replace(&mut place.review, Place::empty().review));
    fs::write(&ledger, before).unwrap();
    place.review = ReviewSession::open(&dir).unwrap();
    assert_eq!((place.read("a").as_str(), place.at("c").exists()), ("theirs\n", false));
    // Not what was planned.
    assert_eq!(act(&mut place, &ReviewAction::Undo), "undone: merged w (1 of 3 were written)");
    assert_eq!(place.read("a"), text(&[]));
}

#[test]
fn what_was_saved_since_stays_where_no_session_has_looked_at_the_files() {
    let (mut place, worktree) = repository();
    // As `worktrees merge` makes one where no review of the origin is kept.
    let home = place.at("").parent().unwrap().join("reviews");
    let head = SessionInfo { stem: "9-9".into(), ..place.review.head().clone() };
    place.review = ReviewSession::create(&home, head).unwrap();
    for name in ["a", "b", "gone"] {
        fs::write(worktree.path.join(name), text(&[(2, "theirs")])).unwrap();
    }
    fs::remove_file(worktree.path.join("b")).unwrap();
    merge(&mut place.review, &worktree);
    let dir = place.review.dir().to_owned();
    drop(std::mem::replace(&mut place.review, Place::empty().review));
    place.write("a", &text(&[(2, "theirs"), (8, "mine")]));
    place.write("b", "made anew\n");
    place.review = ReviewSession::open(&dir).unwrap();
    act(&mut place, &ReviewAction::Undo);
    assert_eq!(place.read("a"), text(&[(8, "mine")]));
    assert_eq!((place.read("b").as_str(), place.at("gone").exists()), ("made anew\n", false));
    act(&mut place, &ReviewAction::Redo);
    assert_eq!(place.read("a"), text(&[(2, "theirs"), (8, "mine")]));
}
